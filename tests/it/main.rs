//! Tests that see the workshop from outside. A test that needs something this computer lacks is listed as ignored.

mod asking;
mod hostile;
mod hostile_server;
mod llama;
mod peers;
mod vendors;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = Vec::new();
    trials.extend(hostile::trials());
    trials.extend(vendors::trials());
    trials.extend(llama::trials());
    libtest_mimic::run(&arguments, trials).exit_code()
}
