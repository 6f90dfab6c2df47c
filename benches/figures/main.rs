//! Measures the performance targets of the workshop: `cargo bench --bench figures [-- PART OF A NAME]`.
//!
//! Prints one Markdown table. A time is the median of its repetitions, with minimum and maximum in parentheses; both
//! sides of a comparison are measured in turn in the same run. A missed target is reported but does not fail the run,
//! because machines differ. `-- trust` is separate: it measures nothing and fails if it finds anything.
#![expect(clippy::disallowed_methods, reason = "the figures start programs and threads that play servers")]

#[cfg(target_os = "linux")]
#[path = "../../tests/it/beside_commands.rs"]
mod beside_commands;
mod calm;
mod code;
mod coding_agents;
mod desk;
mod documents;
mod files;
#[cfg(feature = "window")]
mod frames;
#[cfg(target_os = "linux")]
#[path = "../../tests/it/hostile_server.rs"]
#[allow(dead_code, reason = "the integration tests use more of it")]
mod hostile_server;
mod knowledge;
mod measure;
mod minds;
#[cfg(feature = "window")]
mod panels;
mod processes;
mod programs;
mod rooms;
#[cfg(feature = "window")]
#[path = "../../tests/it/screen.rs"]
#[allow(dead_code)]
mod screen;
mod servers;
mod talking;
mod tasks;
mod ticks;
mod together;
#[cfg(target_os = "linux")]
mod trust;
#[path = "../../tests/it/wild.rs"]
mod wild;
#[cfg(feature = "window")]
mod window;
mod work;
mod workflows;

use measure::Figure;

type Group = (&'static str, fn() -> Vec<Figure>);

const GROUPS: &[Group] = &[
    ("ticks", ticks::crowds),
    ("floors", ticks::crowds_with_minds),
    ("edit", ticks::rulebook_edit),
    ("slots", ticks::rules_read_by_all),
    ("prompt", minds::prompt_built),
    ("reply", minds::reply_acted_on),
    ("idle", ticks::idle_agent),
    ("calm", calm::newsroom),
    ("process", processes::run_until_idle),
    ("log", processes::event_log),
    ("replay", processes::replay),
    ("files", files::ten_thousand),
    ("six agents", work::six_agents),
    ("thousand pieces", work::thousand_pieces),
    ("profiles", work::ten_thousand_profiles),
    ("wild agents", work::wild_collections),
    ("programs", programs::confined),
    ("code", code::looks),
    ("tasks", tasks::ten_thousand),
    ("desk", desk::decisions_and_pumps),
    ("channel", together::channel),
    ("workflow", workflows::thousand_steps),
    ("long workflow", workflows::ten_thousand_steps),
    ("mcp", servers::connect_and_call),
    ("acp", coding_agents::hosted),
    ("documents", documents::all),
    ("agent terminal", talking::first_token),
    ("knowledge tick", knowledge::tick),
    ("knowledge files", knowledge::files),
    #[cfg(feature = "window")]
    ("frames", frames::crowds),
    #[cfg(feature = "window")]
    ("glide", frames::glide),
    #[cfg(feature = "window")]
    ("panes", panels::panes),
    #[cfg(feature = "window")]
    ("graph layout", panels::graph_layout),
    #[cfg(feature = "window")]
    ("large file", panels::large_file),
    #[cfg(feature = "window")]
    ("window", window::whole),
];

fn main() {
    // Cargo passes options of its own, such as --bench.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    #[cfg(target_os = "linux")]
    if let Some(("trust", loops)) = wanted.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        match trust::run(loops) {
            Ok(true) => return,
            Ok(false) => std::process::exit(1),
            Err(what) => {
                eprintln!("{what}");
                std::process::exit(2);
            }
        }
    }
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|part| name.contains(part.as_str()));
    println!("| what | target | measured | compared with | |");
    println!("|---|---|---|---|---|");
    let mut measured = false;
    for (_, measure) in GROUPS.iter().filter(|(name, _)| is_wanted(name)) {
        measured = true;
        for figure in measure() {
            println!("{figure}");
        }
    }
    if !measured {
        let names: Vec<&str> = GROUPS.iter().map(|(name, _)| *name).collect();
        eprintln!("no figure has {wanted:?} in its name; available: {}", names.join(", "));
        std::process::exit(2);
    }
}
