//! The one integration binary. Every module lists its cases in `trials()`; a case whose outside tool is missing
//! counts as ignored and says which tool, so that nothing is skipped in silence.

mod bad_days;
mod cli;
mod determinism;
mod layering;
mod living;
mod workshop;

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
    let arguments = libtest_mimic::Arguments::from_args();
    let trials = [layering::trials(), living::trials(), cli::trials(), bad_days::trials(), determinism::trials()].into_iter().flatten().collect();
    libtest_mimic::run(&arguments, trials).exit();
}
