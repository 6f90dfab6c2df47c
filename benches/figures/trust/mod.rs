//! Stress tests of the product: kills, corrupted files, hostile tool calls and servers, odd paths, and races. They
//! judge the product by the actual state afterwards, not by what it reports.
//!
//! `cargo bench --bench figures -- trust [LOOP…] [CASE…]` runs them with the built program and prints a table.
//! `WORKSHOP_TRUST_SEED` chooses other cases, `WORKSHOP_TRUST_SCALE` their number (1 is all of them),
//! `WORKSHOP_TRUST_THREADS` how many run in parallel, `WORKSHOP_TRUST_BINARY` the program, and `WORKSHOP_TRUST_KEEP` a
//! folder in which the workspaces of findings are kept. The integration tests run a few cases of each loop.

mod beside;
mod calls;
mod chance;
mod child;
mod cleaning;
mod commands;
mod evidence;
mod hostile_text;
mod kept_log;
mod kills;
mod misbehaviour;
mod models;
mod mutate;
mod mutations;
mod paths;
pub mod plan;
mod races;
mod restricted;
mod server_kills;
mod servers;
mod siege;
mod sights;
mod together;
mod wires;
mod work_kills;

use plan::{Fault, MAX_PEAK_KIB, Plan, Report};

/// A loop: its name and its function.
pub type Loop = (&'static str, fn(&Plan) -> Report);

/// Every loop.
pub const LOOPS: [Loop; 14] = [
    ("kills", kills::run),
    ("together", together::run),
    ("mutations", mutations::run),
    ("calls", calls::run),
    ("servers", servers::run),
    ("processes", server_kills::run),
    ("paths", paths::run),
    ("sights", sights::run),
    ("races", races::run),
    ("cleaning", cleaning::run),
    ("restricted", restricted::run),
    ("work", work_kills::run),
    ("beside", beside::run),
    ("commands", commands::run),
];

/// Runs the loops with these names, or all of them; numbers among the words select cases. Prints the table, and returns
/// `false` if anything was found.
#[allow(dead_code, reason = "the figures use it, the integration tests run loops one by one")]
pub fn run(words: &[String]) -> Result<bool, String> {
    let (numbers, names): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.parse::<u64>().is_ok());
    let unknown = names.iter().find(|name| !LOOPS.iter().any(|(known, _)| *known == name.as_str()));
    if let Some(name) = unknown {
        let known: Vec<&str> = LOOPS.iter().map(|(name, _)| *name).collect();
        return Err(format!("there is no loop {name:?}; there are: {}", known.join(", ")));
    }
    let plan = Plan::of_environment(numbers.iter().filter_map(|number| number.parse().ok()).collect())?;
    println!("Seed {}, scale {}.\n", plan.seed, plan.scale);
    let columns: Vec<&str> = Fault::ALL.iter().map(|fault| fault.as_str()).collect();
    println!("| loop | tried | {} | peak memory | longest process | in all |", columns.join(" | "));
    println!("|---|---|{}---|---|---|", "---|".repeat(columns.len()));
    let mut is_clean = true;
    for (name, run) in LOOPS {
        if names.is_empty() || names.iter().any(|wanted| *wanted == name) {
            let report = run(&plan);
            println!("{}", line(&report));
            is_clean &= report.findings.is_empty() && report.peak_kib <= MAX_PEAK_KIB;
        }
    }
    Ok(is_clean)
}

/// A row of the table.
fn line(report: &Report) -> String {
    let faults: Vec<String> = Fault::ALL.iter().map(|fault| report.faults(*fault).to_string()).collect();
    format!(
        "| {} | {} | {} | {} MB | {:.1} s | {:.0} s |",
        report.name,
        report.counts_text(),
        faults.join(" | "),
        report.peak_kib / 1024,
        report.longest.as_secs_f64(),
        report.took.as_secs_f64()
    )
}
