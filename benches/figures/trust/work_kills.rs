//! Kills while agents follow a workflow, remember facts, and work in their own copies of the workspace: each step is
//! done once, each fact is kept once, and the changes of a copy are merged once, after one approval.

use std::time::Duration;

use serde_json::{Value, json};

use super::plan::{Case, Fault, Plan, Report};

/// Kills in the full loop, approximately.
const KILLS: u64 = 390;
/// Kills in one case, at most: work that is over is not killed.
const KILLS_PER_CASE: u64 = 5;
/// The longest wait before a kill; a whole case takes a few times as long.
const MAX_WAIT: Duration = Duration::from_millis(700);
/// The number of times a room is opened after its last kill until nothing waits any more.
const MAX_OPENED: usize = 4;

const SCENE: &str = "name: Work\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [60, 40], behaviour: stationary }\n";
/// Facts that have nothing in common, so that none is taken for another.
const FACTS: [&str; 6] = [
    "The bridge opens at noon.",
    "Redis listens on port 6379.",
    "Marta answers questions about invoices.",
    "Logs are kept for ninety days.",
    "The blue van has no spare wheel.",
    "Builds need eight gigabytes of memory.",
];
const STEPS: usize = 6;

/// The work of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Work {
    Workflow,
    Memory,
    Copy,
}

const WORKS: &[Work] = if cfg!(feature = "worktrees") {
    &[Work::Workflow, Work::Memory, Work::Copy]
} else {
    &[Work::Workflow, Work::Memory]
};

/// Runs the loop.
pub fn run(plan: &Plan) -> Report {
    plan.sweep("work", KILLS / KILLS_PER_CASE, try_case)
}

fn line(step: usize) -> String {
    format!("step {step} was done\n")
}

/// The turns of the agent, as a script.
fn script(work: Work) -> String {
    let call = |name: &str, arguments: Value| json!({ "when": { "kind": "task" }, "tools": [{ "name": name, "arguments": arguments }] });
    let says = |text: &str| json!({ "when": { "kind": "task" }, "text": text });
    let append = |step: usize| call("vfs_append", json!({ "path": "notes/log.md", "text": line(step) }));
    let turns: Vec<Value> = match work {
        Work::Workflow => (1..=STEPS).flat_map(|step| [append(step), says("It is done.")]).collect(),
        Work::Memory => {
            let learn = |fact: &&str| call("knowledge_contribute", json!({ "content": fact, "kind": "fact" }));
            FACTS.iter().map(learn).chain([says("All is known.")]).collect()
        }
        Work::Copy => (1..=STEPS).map(append).chain([says("It is written."), says("It is in.")]).collect(),
    };
    // JSON is valid YAML.
    json!({ "latency": 2.0, "agents": { "lead": turns }, "default": ["Understood."] }).to_string()
}

fn workflow() -> String {
    let steps = (1..=STEPS).map(|step| format!("  - id: s{step}\n    agent: lead\n    prompt: Do step {step}.\n"));
    format!("---\nname: Build\nsteps:\n{}---\n# Build\n", steps.collect::<String>())
}

fn try_case(case: &mut Case) {
    let work = WORKS[(case.number % WORKS.len() as u64) as usize];
    let copy = if work == Work::Copy { "workspace: git\n" } else { "" };
    case.write("settings.yaml", "kernel: { strikes_at_most: 500 }\n");
    case.write("scenes/room.yaml", SCENE);
    case.write("agents/lead.md", format!("---\nid: lead\nsafety_mode: auto\n{copy}---\nYou lead.\n"));
    case.write("workflows/build.md", workflow());
    case.write("notes/log.md", "");
    case.write("script.yaml", script(work));
    for _ in 0..KILLS_PER_CASE {
        let mut running = case.launch(&arguments(case, work)).start();
        let wait = case.chance.up_to(MAX_WAIT);
        let is_over = running.is_over_within(wait);
        let ended = if is_over { running.wait() } else { running.kill() };
        case.count("kills", u64::from(!is_over));
        case.judge(&ended);
        allow_all(case);
    }
    for _ in 0..MAX_OPENED {
        let ended = case.run(case.launch(&arguments(case, work)));
        match ended.status.code() {
            Some(0) => break,
            // Only the person can continue.
            Some(4) => allow_all(case),
            code => return case.found(Fault::Lost, format!("{work:?} ended with {code:?}: {}", ended.last_words())),
        }
    }
    judge(case, work);
}

/// Begins the work, or continues it if the room knows of it.
fn arguments(case: &Case, work: Work) -> Vec<&'static str> {
    let continued = ["run", "--until", "idle"];
    let begun: &[&'static str] = match work {
        _ if is_begun(case) => &continued,
        Work::Workflow => &["workflow", "run", "build"],
        _ => &["run", "--agent", "lead", "--task", "Do it.", "--until", "idle"],
    };
    let simulated = ["--provider", "scripted:script.yaml", "--speed", "16"];
    begun.iter().chain(&simulated).copied().collect()
}

/// Whether the room has acknowledged the work.
fn is_begun(case: &Case) -> bool {
    let history = case.at(".workshop/workshop.db");
    let Ok(history) = rusqlite::Connection::open_with_flags(history, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY) else {
        return false;
    };
    let begun =
        history.query_row("SELECT count(*) FROM events WHERE type IN ('activation', 'workflow_step')", [], |row| {
            row.get(0)
        });
    begun.is_ok_and(|count: i64| count > 0)
}

/// Allows everything that waits for the person.
fn allow_all(case: &mut Case) {
    let listed = case.run(case.launch(&["approvals", "list", "--json"]));
    let listed: Value = serde_json::from_str(&listed.out()).unwrap_or_default();
    for id in listed["approvals"].as_array().into_iter().flatten().filter_map(|one| one["id"].as_str()) {
        let allowed = case.run(case.launch(&["approvals", "allow", id]));
        // The answer before a kill may not have been read yet.
        if !allowed.status.success() && !allowed.errors().contains("was already answered: allowed") {
            case.found(Fault::Silent, format!("{id} could not be allowed: {}", allowed.last_words()));
        }
        case.count("approvals", 1);
    }
}

fn judge(case: &mut Case, work: Work) {
    let (path, wanted): (_, Vec<String>) = match work {
        Work::Memory => ("memory/knowledge/shared.md", FACTS.map(str::to_owned).to_vec()),
        Work::Workflow | Work::Copy => ("notes/log.md", (1..=STEPS).map(line).collect()),
    };
    let text = std::fs::read_to_string(case.at(path)).unwrap_or_default();
    for one in &wanted {
        match text.matches(one.as_str()).count() {
            1 => {}
            0 => case.found(Fault::Lost, format!("{work:?}: {one:?} is not in {path}: {text:?}")),
            count => case.found(Fault::Doubled, format!("{work:?}: {one:?} is {count} times in {path}")),
        }
    }
    case.count("steps of work", wanted.len() as u64);
}
