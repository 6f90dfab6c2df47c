//! A model that makes the tool calls of a case, in a workspace full of files that it may not read or change, and a
//! check of what it reached.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use super::child::KEY;
use super::evidence::{Thing, Tree, found_in_files};
use super::models::{Model, Question, Reply};
use super::plan::{Case, Fault};

/// A call to try: the tool and its arguments.
pub type Try = (String, Value);

/// Calls in one reply.
const CALLS_PER_REPLY: usize = 8;
/// Content of files that may not be read.
const SECRET: &str = "SECRET-";
/// Part of the names of files that may not even be named.
const UNNAMED: &str = "unnamed-7f3a91";

/// The permissions of the agent under test.
#[derive(Clone, Copy)]
pub struct Reach {
    /// The front matter of the agent under test.
    pub front_matter: &'static str,
    /// More of `settings.yaml`.
    pub settings: &'static str,
    /// Folders or files in which it may change things; everything else of the workspace must stay unchanged.
    pub open: &'static [&'static str],
    /// Files in those folders that must stay unchanged nevertheless.
    pub closed: &'static [&'static str],
    /// Whether it may create files of unexpected names; names that match a closed one when case is ignored stay closed.
    pub may_make_files: bool,
}

const SCENE: &str = "scenes/room.yaml";
/// The file in which the room records approvals and that they were refused.
const APPROVALS: &str = "tasks/approvals.task.md";

fn scene() -> String {
    let agents = "agents:\n  - { id: worker, profile: worker, position: [0, 0] }\n";
    format!("# {SECRET}scene\nname: Siege\nseed: 5\nelements: []\n{agents}")
}

/// Files beyond the agent's reach, each with a secret in it.
const BEYOND: [&str; 14] = [
    "private/plan.md",
    "private/unnamed-7f3a91.md",
    "notes/geheim.md",
    "boards/closed.md",
    "agents/restricted.md",
    "agents/josé.md",
    "workflows/a.md",
    "storage/terminal-cmd-allowlist.yaml",
    APPROVALS,
    ".env",
    ".git/config",
    ".ssh/id_ed25519",
    ".workshop-old/secret.md",
    "mémoire/plan.md",
];

/// The workspace of a case, set up for a siege.
pub struct Siege<'c> {
    case: &'c mut Case,
    reach: Reach,
    inside: Tree,
    outside: Tree,
}

impl<'c> Siege<'c> {
    /// Sets it up.
    pub fn lay(case: &'c mut Case, reach: Reach) -> Self {
        let budget = "budget: { cost_per_run_usd: 100000, outside_tokens_per_run: 1000000000 }\n";
        let kernel = "kernel: { max_strikes: 1000, max_turns: 1000, max_retries: 0 }\n";
        case.write("settings.yaml", format!("# {SECRET}settings\n{budget}{kernel}{}", reach.settings));
        let scene =
            "name: Siege\nseed: 5\nelements: []\nagents:\n  - { id: worker, profile: worker, position: [0, 0] }\n";
        case.write("scenes/room.yaml", format!("# {SECRET}scene\n{scene}"));
        case.write("agents/worker.md", format!("---\nid: worker\n{}---\nYou work.\n", reach.front_matter));
        for path in BEYOND {
            let restricted = "---\nwrites: []\nreads: []\ntools: [vfs_read]\nsafety_mode: safe\n---\n";
            let front_matter = if path.starts_with("agents/") { restricted } else { "" };
            case.write(path, format!("{front_matter}{SECRET}{path}\n"));
        }
        for path in reach.closed {
            case.write(path, format!("{SECRET}{path}\n"));
        }
        case.write("artifacts/open.md", "one\ntwo\nthree\n");
        let outside = case.folder().join("outside");
        fs::write(outside.join("canary.md"), format!("{SECRET}outside\n")).expect("files can be written");
        fs::create_dir_all(outside.join("folder")).expect("folders can be made");
        fs::write(outside.join("folder/deep.md"), format!("{SECRET}outside-deep\n")).expect("files can be written");
        for (link, to) in [("artifacts/link.md", "canary.md"), ("artifacts/linked", "folder"), ("memory", "folder")] {
            let _ = std::os::unix::fs::symlink(outside.join(to), case.at(link));
        }
        let inside = Tree::of(&case.workspace(), &["sessions", ".workshop"]);
        Self { inside, outside: Tree::of(&outside, &[]), case, reach }
    }

    /// Lets the agent, and the agents that it starts, try all of these calls, and judges the result.
    pub fn tries(mut self, calls: Vec<Try>, of_children: Vec<Try>) {
        let asked = Arc::new(Mutex::new(BTreeMap::<String, usize>::new()));
        let counted = asked.clone();
        let model = Model::start(self.forbidden(), Duration::ZERO, move |question| {
            reply(question, &calls, &of_children, &mut counted.lock().expect("no thread panics while holding it"))
        });
        let mut arguments = vec!["run", "--speed", "max", "--until", "idle", "--provider", "openai:any"];
        arguments.extend(["--agent", "worker", "--task", "job-0", "--on-ask", "deny"]);
        let launch = self.case.launch(&arguments).env("OPENAI_BASE_URL", &model.server.url);
        let ended = self.case.run(launch);
        if ended.status.code() == Some(2) {
            self.case.found(Fault::Lost, format!("the run did not begin: {}", ended.last_words()));
        }
        let results = asked.lock().expect("no thread panics while holding it").values().sum::<usize>();
        self.case.count("calls", results as u64);
        for (fault, what) in model.seen() {
            self.case.found(fault, format!("in a question to the model: {what}"));
        }
        let printed = ended.out() + &ended.errors();
        if printed.contains(SECRET) || printed.contains(KEY) {
            self.case.found(Fault::Escaped, format!("a secret was printed: {}", ended.last_words()));
        }
        self.judge();
    }

    fn forbidden(&self) -> Vec<String> {
        let mut forbidden: Vec<String> = BEYOND.iter().map(|path| format!("{SECRET}{path}")).collect();
        forbidden.extend([format!("{SECRET}outside"), format!("{SECRET}settings"), format!("{SECRET}scene")]);
        forbidden.push(UNNAMED.to_owned());
        forbidden
    }

    /// Whether the scene is unchanged except for agents added at its end.
    fn has_only_new_agents(&self) -> bool {
        let now = fs::read_to_string(self.case.at(SCENE)).unwrap_or_default();
        now.strip_prefix(&scene()).is_some_and(|added| added.lines().all(|line| line.starts_with("  - { id: ")))
    }

    /// Whether the approvals file is unchanged except for refused approvals added at its end.
    fn has_only_new_refusals(&self) -> bool {
        let now = fs::read_to_string(self.case.at(APPROVALS)).unwrap_or_default();
        let is_of_room = |line: &str| {
            line.is_empty()
                || line.starts_with("  ")
                || line == "## TODO"
                || line.starts_with("- [-] A @human #approval ")
        };
        let is_decision = |line: &str| line.starts_with("  status: ") && line != "  status: refused";
        let added = now.strip_prefix(&format!("{SECRET}{APPROVALS}\n"));
        added.is_some_and(|added| added.lines().all(|line| is_of_room(line) && !is_decision(line)))
    }

    fn judge(&mut self) {
        let now = Tree::of(&self.case.workspace(), &["sessions", ".workshop"]);
        for change in self.inside.changes(&now) {
            let path = change.rsplit_once(" is ").or_else(|| change.rsplit_once(" was ")).map_or("", |(path, _)| path);
            let in_open = self.reach.open.iter().any(|open| path == *open || path.starts_with(&format!("{open}/")));
            let is_open = in_open && !self.reach.closed.contains(&path);
            // A started agent has its own file and is added to the scene.
            let is_new_agent = path.starts_with("agents/") && change.ends_with(" is new");
            let has_new_agents = path == SCENE && self.has_only_new_agents();
            let has_refusals = path == APPROVALS && self.has_only_new_refusals();
            let is_new_name = self.reach.may_make_files && change.ends_with(" is new") && is_new_name(path);
            if !is_open && !is_new_agent && !has_new_agents && !has_refusals && !is_new_name {
                self.case.found(Fault::Escaped, format!("in the workspace {change}"));
            }
            if is_open && matches!(now.0.get(path), Some(Thing::Other)) {
                self.case.found(Fault::Escaped, format!("{path} is no file any more"));
            }
        }
        let outside = Tree::of(&self.case.folder().join("outside"), &[]);
        for change in self.outside.changes(&outside) {
            self.case.found(Fault::Escaped, format!("outside of the workspace {change}"));
        }
        for entry in fs::read_dir(self.case.folder()).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !["workspace", "home", "outside"].contains(&name.as_str()) {
                self.case.found(Fault::Escaped, format!("beside the workspace {name} is new"));
            }
        }
        if let Some(place) = found_in_files(&self.case.workspace(), KEY.as_bytes()) {
            self.case.found(Fault::Escaped, format!("the key stands in {place}"));
        }
    }
}

/// Whether no closed file has this name in any spelling.
fn is_new_name(path: &str) -> bool {
    let path = path.to_lowercase();
    let places = BEYOND.iter().filter_map(|beyond| beyond.split('/').next()).chain(["scenes", "sessions", ".workshop"]);
    !places.into_iter().any(|place| path == place || path.starts_with(&format!("{place}/")))
}

/// The next calls of this agent: all up to the last one with a result are done.
fn reply(question: &Question, calls: &[Try], of_children: &[Try], answered: &mut BTreeMap<String, usize>) -> Reply {
    let Some(job) = question.word("job-").filter(|_| question.is_work()) else {
        return ("Understood.".to_owned(), Vec::new());
    };
    let list = if job == "job-0" { calls } else { of_children };
    let done = question.answered(&job);
    answered.insert(job.clone(), done);
    let next = list.iter().enumerate().skip(done).take(CALLS_PER_REPLY);
    let next: Vec<_> =
        next.map(|(at, (name, arguments))| (format!("{job}-{at}"), name.clone(), arguments.clone())).collect();
    (if next.is_empty() { "That is all.".to_owned() } else { String::new() }, next)
}
