//! Kills while agents work together: one hands over a task, posts in a channel and counts on the blackboard; the other
//! listens and shares what it found; and a file change starts a workflow. Everything that is done is done exactly once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::child::Launch;
use super::evidence::Event;
use super::kept_log::KeptLog;
use super::models::{Model, Question, Reply};
use super::plan::{Case, Fault, Plan, Report};

/// Kills in the full loop, approximately.
const KILLS: u64 = 240;
/// Kills in one case.
const KILLS_PER_CASE: u64 = 6;
/// How many messages the lead posts in the channel, and how far it counts.
const WORDS: usize = 8;
/// How many entries the listener shares.
const FOUND: usize = 4;
/// How many lines each step of the workflow adds.
const LINES: usize = 3;
/// The duration of an answer over the network.
const LATENCY: Duration = Duration::from_millis(80);
/// A kill happens within this time.
const KILLED_WITHIN: Duration = Duration::from_millis(700);

const SCENE: &str = "name: Together\nseed: 5\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n  - { id: ada, \
                     profile: ada, position: [60, 0] }\n  - { id: bea, profile: bea, position: [120, 0] }\n";
const WORKFLOW: &str = "---\nname: After\ntrigger: on change of artifacts/go.md\nsteps:\n  - { id: first, agent: bea, prompt: \
                        \"job-first\" }\n  - { id: second, agent: bea, prompt: \"job-second\", depends_on: [first] }\n---\n";
const SETTINGS: &str =
    "budget: { cost_per_run_usd: 100000 }\nkernel: { max_strikes: 50 }\nattention: { collect_secs: 5 }\n";

/// A call: the tool and its arguments.
type Call = (&'static str, Value);

/// Runs the loop.
pub fn run(plan: &Plan) -> Report {
    plan.sweep("together", KILLS / KILLS_PER_CASE, try_case)
}

/// All tool calls of a job, turn by turn.
fn work(job: &str) -> Vec<Vec<Call>> {
    match job {
        "job-lead" => {
            let mut turns = vec![vec![("delegate", json!({ "agent": "ada", "task": "job-ada" }))]];
            turns.extend((1..=WORDS).map(|number| {
                let count = match number {
                    1 => json!({ "key": "count", "value": "1", "is_new": true }),
                    _ => json!({ "key": "count", "value": number.to_string(), "expected": (number - 1).to_string() }),
                };
                let said = json!({ "channel": "news", "message": format!("word-{number}.") });
                vec![("publish", said), ("blackboard_write", count)]
            }));
            turns.push(vec![("vfs_write", json!({ "path": "artifacts/go.md", "content": "go\n" }))]);
            turns
        }
        "job-ada" => {
            let listen = vec![("subscribe", json!({ "channel": "news", "earlier": 1000 }))];
            let found = (1..=FOUND).map(|number| {
                let key = format!("found-{number}");
                vec![("blackboard_write", json!({ "key": key, "value": "x", "is_new": true, "shared": true }))]
            });
            std::iter::once(listen).chain(found).collect()
        }
        "job-first" | "job-second" => {
            let path = format!("artifacts/{job}.md");
            let begin = vec![("vfs_write", json!({ "path": path, "content": "the end\n" }))];
            let lines = (1..=LINES).map(|number| {
                let new = format!("{}\nthe end\n", line_of(job, number));
                vec![("vfs_edit", json!({ "path": path, "old": "the end\n", "new": new }))]
            });
            std::iter::once(begin).chain(lines).collect()
        }
        _ => Vec::new(),
    }
}

fn line_of(job: &str, number: usize) -> String {
    format!("{job} wrote line {number}")
}

/// Messages that models received twice.
type Doubled = Arc<Mutex<Vec<String>>>;

fn reply(question: &Question, doubled: &Doubled) -> Reply {
    if !question.is_work() {
        return ("Understood.".to_owned(), Vec::new());
    }
    let told_twice = (1..=WORDS).map(|number| format!("lead: word-{number}.")).filter(|word| question.said(word) > 1);
    doubled.lock().expect("no thread panics while holding it").extend(told_twice);
    let Some(job) = question.first_word("job-") else { return ("Noted.".to_owned(), Vec::new()) };
    let mut done = question.results().len();
    for (number, turn) in work(&job).into_iter().enumerate() {
        if done == 0 {
            let id = |at: usize| format!("{job}-{number}-{at}");
            let calls =
                turn.into_iter().enumerate().map(|(at, (name, arguments))| (id(at), name.to_owned(), arguments));
            return (format!("Part {number}."), calls.collect());
        }
        done = done.saturating_sub(turn.len());
    }
    ("All is done.".to_owned(), Vec::new())
}

/// A workspace that is killed, with its printed output and stored records.
struct Trial<'c> {
    case: &'c mut Case,
    model: Model,
    doubled: Doubled,
    log: KeptLog,
}

fn try_case(case: &mut Case) {
    case.write("settings.yaml", SETTINGS);
    case.write("scenes/room.yaml", SCENE);
    for agent in ["lead", "ada", "bea"] {
        case.write(&format!("agents/{agent}.md"), format!("You are the agent called {agent}.\n"));
    }
    case.write("workflows/after.md", WORKFLOW);
    let doubled = Doubled::default();
    let told = doubled.clone();
    let model = Model::start(Vec::new(), LATENCY, move |question| reply(question, &told));
    let mut trial = Trial { case, model, doubled, log: KeptLog::default() };
    for _ in 0..KILLS_PER_CASE {
        trial.run_and_kill();
    }
    trial.run_to_end();
    trial.judge();
}

impl Trial<'_> {
    fn launch(&self) -> Launch {
        let mut arguments = vec!["run", "--speed", "max", "--events", "-"];
        // A task that was not acknowledged is submitted again.
        if !self.log.has("activation") {
            arguments.extend(["--agent", "lead", "--task", "job-lead"]);
        }
        arguments.extend(["--until", "idle", "--provider", "openai:any"]);
        self.case.launch(&arguments).env("OPENAI_BASE_URL", &self.model.server.url)
    }

    fn run_and_kill(&mut self) {
        let mut running = self.launch().start();
        let wait = self.case.chance.up_to(KILLED_WITHIN);
        let is_over = running.is_over_within(wait);
        let ended = if is_over { running.wait() } else { running.kill() };
        self.case.count("kills", u64::from(!is_over));
        self.case.judge(&ended);
        self.log.compare(self.case, &ended.out(), !is_over);
    }

    fn run_to_end(&mut self) {
        let ended = self.case.run(self.launch());
        let (code, words) = (ended.status.code(), ended.last_words());
        self.log.compare(self.case, &ended.out(), false);
        if !ended.timed_out && code != Some(0) {
            self.case.found(Fault::Lost, format!("the last run ended with {code:?}: {words}"));
        }
    }

    /// Reports a finding if something was not done exactly as often as it must be.
    fn expect(&mut self, what: &str, count: usize, wanted: usize) {
        let fault = if count < wanted { Fault::Lost } else { Fault::Doubled };
        if count != wanted {
            self.case.found(fault, format!("{what}: {count} times and not {wanted}"));
        }
    }

    fn judge(&mut self) {
        self.judge_channel();
        self.judge_blackboard();
        self.judge_work();
        let doubled = std::mem::take(&mut *self.doubled.lock().expect("no thread panics while holding it"));
        for word in doubled {
            self.case.found(Fault::Doubled, format!("{word:?} was told twice in one session"));
        }
        for (fault, what) in self.model.seen() {
            self.case.found(fault, what);
        }
    }

    fn judge_channel(&mut self) {
        let number = |event: &Event, key: &str| event.data[key].as_u64().unwrap_or_default();
        let said: Vec<(u64, String)> = self
            .log
            .all("publish")
            .map(|event| (number(event, "number"), event.data["text"].as_str().unwrap_or_default().to_owned()))
            .collect();
        let delivered: Vec<[u64; 3]> =
            self.log.all("deliver").map(|event| ["first", "last", "messages"].map(|key| number(event, key))).collect();
        for at in 1..=WORDS {
            let word = format!("word-{at}.");
            self.expect(&format!("saying {word}"), said.iter().filter(|(_, text)| *text == word).count(), 1);
        }
        let numbers: Vec<u64> = said.iter().map(|(number, _)| *number).collect();
        if numbers != (1..=numbers.len() as u64).collect::<Vec<_>>() {
            self.case.found(Fault::Doubled, format!("the messages of the channel are numbered {numbers:?}"));
        }
        let mut next = 1;
        for [first, last, messages] in &delivered {
            if *first != next || last + 1 - first != *messages {
                let fault = if *first > next { Fault::Lost } else { Fault::Doubled };
                self.case.found(fault, format!("{delivered:?} was delivered"));
            }
            next = last + 1;
        }
        self.expect("being told a word", usize::try_from(next - 1).unwrap_or(usize::MAX), WORDS);
        self.case.count("messages", WORDS as u64);
    }

    fn judge_blackboard(&mut self) {
        let mut versions: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for event in self.log.all("blackboard") {
            let key = event.data["key"].as_str().unwrap_or_default().to_owned();
            versions.entry(key).or_default().push(event.data["version"].as_u64().unwrap_or_default());
        }
        let counted = versions.remove("count").unwrap_or_default();
        if counted != (1..=WORDS as u64).collect::<Vec<_>>() {
            let fault = if counted.len() < WORDS { Fault::Lost } else { Fault::Doubled };
            self.case.found(fault, format!("the count has the versions {counted:?}"));
        }
        let kept = std::fs::read_to_string(self.case.at("memory/knowledge/blackboard.yaml")).unwrap_or_default();
        for number in 1..=FOUND {
            let key = format!("found-{number}");
            self.expect(&format!("writing {key}"), versions.get(&key).map_or(0, Vec::len), 1);
            self.expect(&format!("keeping {key}"), kept.matches(&format!("key: {key}\n")).count(), 1);
        }
        let refused = self.log.all("tool_result").filter(|event| {
            let text = event.data["text"].as_str().unwrap_or_default();
            text.contains("not what you expected") || text.contains("goes in circles") || text.contains("is full")
        });
        let refused: Vec<String> = refused.map(|event| event.data.to_string()).collect();
        for what in refused {
            self.case.found(Fault::Doubled, format!("a call was refused, for it was done before: {what}"));
        }
        self.case.count("entries", (WORDS + FOUND) as u64);
    }

    fn judge_work(&mut self) {
        let begun =
            |agent: &str| self.log.all("activation").filter(|event| event.agent.as_deref() == Some(agent)).count();
        let (handed, runs) = (self.log.all("hand_over").count(), begun("bea"));
        self.expect("handing over", handed, 1);
        self.expect("beginning a step", runs, 2);
        let steps: Vec<(String, String)> = self
            .log
            .all("workflow_step")
            .map(|event| ["step", "to"].map(|key| event.data[key].as_str().unwrap_or_default().to_owned()).into())
            .collect();
        for step in ["first", "second"] {
            let done = steps.iter().filter(|(id, to)| id == step && to == "done").count();
            self.expect(&format!("doing step {step}"), done, 1);
            let job = format!("job-{step}");
            let text = std::fs::read_to_string(self.case.at(&format!("artifacts/{job}.md"))).unwrap_or_default();
            for number in 1..=LINES {
                let line = line_of(&job, number);
                self.expect(&line, text.matches(&format!("{line}\n")).count(), 1);
            }
        }
        let files = std::fs::read_dir(self.case.at("artifacts")).into_iter().flatten().flatten();
        let names: Vec<String> = files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
        let results = names.iter().filter(|name| name.starts_with("after-")).count();
        self.expect("what the workflow came to", results, 1);
        self.case.count("steps", 2);
    }
}
