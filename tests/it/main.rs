//! The only integration test binary. Every module lists its tests in `trials()`. A test whose external tool is missing
//! is ignored and the tool's name printed, so that no test is skipped silently.
#![expect(clippy::disallowed_methods, reason = "tests start the program, its peers and threads that play servers")]

#[cfg(feature = "window")]
mod acp;
mod acting_by_calls;
mod agent_command;
mod agent_modules;
#[cfg(unix)]
mod agent_terminal;
mod approving;
mod approving_by_file;
mod approving_until;
mod bad_days;
mod beside_commands;
#[cfg(unix)]
mod beside_rooms;
mod caching;
mod cli;
mod commands;
mod daemon;
mod damage;
mod determinism;
mod documentation;
mod documents;
mod embedding;
mod ending;
mod features;
#[cfg(feature = "window")]
mod frames;
mod going_on;
mod honest_endings;
mod hostile;
mod hostile_server;
mod hours_of_talk;
mod images;
mod importing;
mod interface_texts;
#[cfg(feature = "window")]
mod keys_reference;
mod knowledge;
mod layering;
mod learning;
mod living;
mod llama;
mod model_requests;
mod peers;
mod printing;
mod program;
mod prompting;
mod providers;
#[cfg(feature = "window")]
mod renaming;
mod restricted;
mod restricted_rooms;
mod rules_reference;
mod sampling;
mod sandbox_modes;
#[cfg(target_os = "linux")]
mod sandboxes;
#[cfg(feature = "window")]
mod screen;
#[cfg(feature = "window")]
mod seeing;
mod server_calls;
mod server_files;
mod server_peers;
mod server_trust;
mod servers;
mod servers_alone;
mod session_walk;
mod settings_names;
mod settings_reference;
mod slack;
mod slack_server;
mod slack_walk;
mod standing_still;
#[cfg(feature = "window")]
mod studio;
mod survival;
mod task_board;
mod tasks;
#[cfg(target_os = "linux")]
mod trust;
#[cfg(target_os = "linux")]
#[path = "../../benches/figures/trust/mod.rs"]
mod trust_loops;
mod undoing;
#[cfg(unix)]
mod unreadable;
mod vendor_tools;
mod vendors;
#[cfg(feature = "window")]
mod whole_window;
mod wild;
#[cfg(feature = "window")]
mod window;
mod workflows;
mod working;
mod workshop;
mod worktrees;

use libtest_mimic::{Arguments, Trial};

/// Lists tests of a module, named after their functions.
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
    if server_peers::is_conformance_client() {
        return;
    }
    let arguments = Arguments::from_args();
    let modules: &[fn() -> Vec<Trial>] = &[
        knowledge::trials,
        layering::trials,
        interface_texts::trials,
        learning::trials,
        settings_names::trials,
        settings_reference::trials,
        rules_reference::trials,
        living::trials,
        bad_days::trials,
        caching::trials,
        determinism::trials,
        documentation::trials,
        documents::trials,
        standing_still::trials,
        working::trials,
        workflows::trials,
        server_trust::trials,
        servers::trials,
        acp::trials,
        server_calls::trials,
        server_files::trials,
        server_peers::trials,
        sampling::trials,
        agent_command::trials,
        agent_modules::trials,
        #[cfg(unix)]
        agent_terminal::trials,
        #[cfg(unix)]
        beside_rooms::trials,
        cli::trials,
        commands::trials,
        #[cfg(target_os = "linux")]
        sandboxes::trials,
        daemon::trials,
        session_walk::trials,
        slack::trials,
        slack_walk::trials,
        damage::trials,
        approving::trials,
        approving_by_file::trials,
        approving_until::trials,
        hours_of_talk::trials,
        images::trials,
        importing::trials,
        embedding::trials,
        ending::trials,
        going_on::trials,
        printing::trials,
        survival::trials,
        tasks::trials,
        task_board::trials,
        undoing::trials,
        worktrees::trials,
        honest_endings::trials,
        hostile::trials,
        vendors::trials,
        llama::trials,
        prompting::trials,
        providers::trials,
        restricted::trials,
        restricted_rooms::trials,
    ];
    let trials = modules.iter().flat_map(|trials| trials());
    #[cfg(target_os = "linux")]
    let trials = trials.chain(trust::trials());
    #[cfg(unix)]
    let trials = trials.chain(unreadable::trials());
    #[cfg(feature = "window")]
    let trials = trials.chain(window::trials()).chain(studio::trials()).chain(frames::trials());
    #[cfg(feature = "window")]
    let trials = trials
        .chain(keys_reference::trials())
        .chain(acting_by_calls::trials())
        .chain(renaming::trials())
        .chain(seeing::trials());
    let trials = features::ignore_missing(trials.collect());
    libtest_mimic::run(&arguments, trials).exit();
}
