//! Kills at random moments: a working room is killed and reopened until the work is done. Every step of the work adds a
//! line to a file, so that the file shows steps that were done twice or never.

use std::time::Duration;

use serde_json::json;

use super::evidence::StoredTexts;
use super::kept_log::KeptLog;
use super::models::{Model, Question, Reply};
use super::plan::{Case, Fault, Plan, Report};

/// Kills in the full loop, approximately.
const KILLS: u64 = 320;
/// Kills in one case.
const KILLS_PER_CASE: u64 = 5;
/// Steps of work of each agent.
const STEPS: usize = 16;
/// The work of one agent: its log, and the agent that it starts.
const WORKERS: [(&str, Option<&str>); 2] = [("lead", Some("ada")), ("ada", None)];
/// The duration of an answer over the network.
const LATENCY: Duration = Duration::from_millis(100);

const SCENE: &str = "name: Kills\nseed: 3\nelements:\n  - { id: pins, kind: pinboard, label: Pins, position: [0, 0], \
                     file: boards/pins.md }\nagents:\n  - { id: lead, profile: lead, position: [60, 40] }\n";

/// Runs the loop.
pub fn run(plan: &Plan) -> Report {
    plan.sweep("kills", KILLS / KILLS_PER_CASE, try_case)
}

/// The tool call that an agent makes in a step: each adds its own line above the last one.
fn call(agent: &str, step: usize) -> (String, serde_json::Value) {
    if step == 0 {
        let arguments = json!({ "path": format!("artifacts/{agent}.md"), "content": "the end\n" });
        return ("vfs_write".to_owned(), arguments);
    }
    let new = format!("{agent} did step {step}\nthe end\n");
    let arguments = json!({ "path": format!("artifacts/{agent}.md"), "old": "the end\n", "new": new });
    ("vfs_edit".to_owned(), arguments)
}

fn spawn(child: &str) -> (String, serde_json::Value) {
    let content = format!("You are the agent called {child}.\n");
    let arguments = json!({ "filename": format!("{child}.md"), "content": content, "task": format!("job-{child}") });
    ("spawn_agent".to_owned(), arguments)
}

/// All tool calls of an agent, by turn; some turns have two.
fn work(agent: &str) -> Vec<Vec<(String, serde_json::Value)>> {
    let mut turns: Vec<Vec<_>> = Vec::new();
    for step in 0..=STEPS {
        match turns.last_mut() {
            Some(turn) if step % 3 == 2 => turn.push(call(agent, step)),
            _ => turns.push(vec![call(agent, step)]),
        }
    }
    let child = WORKERS.iter().find(|(name, _)| *name == agent).and_then(|(_, child)| *child);
    if let Some(child) = child {
        turns.insert(2, vec![spawn(child)]);
    }
    turns
}

fn reply(question: &Question) -> Reply {
    let Some(job) = question.word("job-").filter(|_| question.is_work()) else {
        return ("Understood.".to_owned(), Vec::new());
    };
    let agent = job.trim_start_matches("job-");
    let mut done = question.results().len();
    for (number, turn) in work(agent).into_iter().enumerate() {
        if done == 0 {
            let id = |at: usize| format!("{agent}-{number}-{at}");
            let calls = turn.into_iter().enumerate().map(|(at, (name, arguments))| (id(at), name, arguments));
            return (format!("Step {number}.\n[PIN: {agent} begins step {number}]"), calls.collect());
        }
        done = done.saturating_sub(turn.len());
    }
    ("All is done.".to_owned(), Vec::new())
}

/// The same work as a script.
fn script() -> String {
    let mut agents = serde_json::Map::new();
    for (agent, _) in WORKERS {
        let mut turns: Vec<serde_json::Value> = work(agent)
            .into_iter()
            .map(|turn| {
                let calls: Vec<_> =
                    turn.into_iter().map(|(name, arguments)| json!({ "name": name, "arguments": arguments })).collect();
                json!({ "tools": calls, "when": { "kind": "task" } })
            })
            .collect();
        turns.push(json!({ "text": "All is done.", "when": { "kind": "task" } }));
        agents.insert(agent.to_owned(), turns.into());
    }
    // JSON is valid YAML.
    json!({ "latency": 2.0, "agents": agents, "default": ["Understood."] }).to_string()
}

/// A workspace that is killed, its printed output, and the texts that a person saved in it.
struct Trial<'c> {
    case: &'c mut Case,
    model: Option<Model>,
    log: KeptLog,
    saved: Vec<(&'static str, String)>,
}

/// Without a delay for collecting the changes of a board: a finished room ends at once, however slow the machine is.
const SETTINGS: &str =
    "budget: { cost_per_run_usd: 100000 }\nkernel: { max_strikes: 50 }\nattention: { collect_secs: 5 }\n";

fn try_case(case: &mut Case) {
    case.write("settings.yaml", SETTINGS);
    case.write("scenes/room.yaml", SCENE);
    case.write("agents/lead.md", "You are the agent called lead.\n");
    case.write("boards/pins.md", "# Pins\n\n- the first\n");
    case.write("notes/person.md", "# Notes\n");
    case.write("script.yaml", script());
    let over_the_wire = case.number.is_multiple_of(2);
    let model = over_the_wire.then(|| Model::start(Vec::new(), LATENCY, reply));
    let mut trial = Trial { case, model, log: KeptLog::default(), saved: Vec::new() };
    for _ in 0..KILLS_PER_CASE {
        trial.run_and_kill();
    }
    trial.run_to_end();
    trial.judge();
}

impl Trial<'_> {
    /// Whether the task is already in the log: a task that was not acknowledged is submitted again.
    fn is_submitted(&self) -> bool {
        self.log.has("activation")
    }

    fn launch(&self) -> super::child::Launch {
        let mut arguments = vec!["run", "--speed", "max", "--events", "-"];
        if !self.is_submitted() {
            arguments.extend(["--agent", "lead", "--task", "job-lead"]);
        }
        arguments.extend(["--until", "idle", "--provider"]);
        match &self.model {
            Some(model) => {
                arguments.push("openai:any");
                self.case.launch(&arguments).env("OPENAI_BASE_URL", &model.server.url)
            }
            None => {
                // Simulated time passes as fast as the machine allows, but a kill must be able to hit it.
                let at = arguments.iter().position(|word| *word == "max").expect("it should exist");
                arguments[at] = "16";
                arguments.push("scripted:script.yaml");
                self.case.launch(&arguments)
            }
        }
    }

    fn run_and_kill(&mut self) {
        let mut running = self.launch().start();
        let longest = Duration::from_millis(if self.model.is_some() { 500 } else { 600 });
        let wait = self.case.chance.up_to(longest);
        if self.case.chance.percent(40) {
            self.person_saves();
        }
        let is_over = running.is_over_within(wait);
        let ended = if is_over { running.wait() } else { running.kill() };
        self.case.count("kills", u64::from(!is_over));
        self.case.judge(&ended);
        self.log.compare(self.case, &ended.out(), !is_over);
    }

    fn person_saves(&mut self) {
        let token = format!("person {:016x}", self.case.chance.bits());
        let path = *self.case.chance.one_of(&["boards/pins.md", "agents/lead.md", "notes/person.md"]);
        let text = std::fs::read_to_string(self.case.at(path)).unwrap_or_default();
        let line = if path.starts_with("boards/") { format!("- {token}\n") } else { format!("{token}\n") };
        self.case.write(path, text + &line);
        self.saved.push((path, token));
    }

    fn run_to_end(&mut self) {
        let ended = self.case.run(self.launch());
        let (code, words) = (ended.status.code(), ended.last_words());
        self.log.compare(self.case, &ended.out(), false);
        if !ended.timed_out && code != Some(0) {
            self.case.found(Fault::Lost, format!("the last run ended with {code:?}: {words}"));
        }
    }

    fn judge(&mut self) {
        for (agent, _) in WORKERS {
            let text = std::fs::read_to_string(self.case.at(&format!("artifacts/{agent}.md"))).unwrap_or_default();
            for step in 1..=STEPS {
                let line = format!("{agent} did step {step}\n");
                match text.matches(&line).count() {
                    1 => {}
                    0 => self.case.found(Fault::Lost, format!("step {step} of {agent} was never done: {text:?}")),
                    count => self.case.found(Fault::Doubled, format!("step {step} of {agent} was done {count} times")),
                }
            }
            self.case.count("steps of work", STEPS as u64);
        }
        let kept = StoredTexts::of(&self.case.workspace());
        for (path, token) in std::mem::take(&mut self.saved) {
            self.case.count("saves by a person", 1);
            if !kept.holds(path, token.as_bytes()) {
                self.case.found(Fault::Lost, format!("what a person saved in {path} is nowhere: {token}"));
            }
        }
        for (fault, what) in self.model.as_ref().map(Model::seen).unwrap_or_default() {
            self.case.found(fault, what);
        }
    }
}
