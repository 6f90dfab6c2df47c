//! The one integration binary. Every module lists its cases in `trials()`; a case whose outside tool is missing
//! counts as ignored and says which tool, so that nothing is skipped in silence.

mod asking;
mod bad_days;
mod cli;
mod determinism;
mod hostile;
mod hostile_server;
mod layering;
mod living;
mod llama;
mod peers;
#[cfg(feature = "window")]
mod screen;
mod standing_still;
#[cfg(feature = "window")]
mod studio;
mod vendor_tools;
mod vendors;
#[cfg(feature = "window")]
mod window;
mod working;
mod workshop;

use libtest_mimic::{Arguments, Trial};

/// The cases of a module, by the names of their functions.
#[macro_export]
macro_rules! cases {
    ($($case:ident),* $(,)?) => {{
        let module = module_path!().rsplit("::").next().unwrap_or_default();
        vec![$(libtest_mimic::Trial::test(format!("{module}::{}", stringify!($case)), || {
            $case();
            Ok(())
        })),*]
    }};
}

fn main() {
    let arguments = Arguments::from_args();
    let modules: [fn() -> Vec<Trial>; 10] = [
        layering::trials,
        living::trials,
        bad_days::trials,
        determinism::trials,
        standing_still::trials,
        working::trials,
        cli::trials,
        hostile::trials,
        vendors::trials,
        llama::trials,
    ];
    let trials = modules.into_iter().flat_map(|trials| trials());
    #[cfg(feature = "window")]
    let trials = trials.chain(window::trials()).chain(studio::trials());
    let trials = trials.collect();
    libtest_mimic::run(&arguments, trials).exit();
}
