//! The entry point: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    agent_workshop::cli::main()
}
