//! Files that contain an output of a workflow's step: they are read with the rights of the step's agent, because an
//! agent may have chosen the path.

use std::collections::BTreeMap;

use agent_workshop::orchestration::workflow::{RunStatus, WorkflowCommand, WorkflowRuns};
use agent_workshop::schedule::InputQueue;
use libtest_mimic::Trial;

use super::Studio;
use crate::cases;

pub fn trials() -> Vec<Trial> {
    cases![
        a_file_that_the_steps_agent_may_not_read_is_not_read_for_it,
        what_is_private_to_others_is_not_read_for_an_agent_without_limits,
        a_file_whose_reading_a_person_forbids_or_would_be_asked_about_is_not_read,
    ]
}

/// An agent names a file, whose content the next step gets.
const WORKFLOW: &str = "---
steps:
  - { id: name, agent: bo, prompt: Name a file., outputs: [path] }
  - id: take
    agent: bo
    prompt: Say done.
    outputs: [{ name: n, file: \"{name.path}\" }]
    depends_on: [name]
  - { id: use, agent: bo, prompt: \"got {take.n}\", depends_on: [take] }
---
";
const SECRET: &str = "the vault code is 4711";
const LIMITED: &str = "---\nreads: [artifacts/**]\n---\nYou are Bo.\n";
const UNLIMITED: &str = "You are Bo.\n";

/// Runs the workflow with an agent that names this path. Returns how the run ended, and everything that was passed on
/// and contains the secret.
fn run_naming(path: &str, profile: &str, settings: &str) -> (RunStatus, String) {
    let script = format!(
        "latency: 0.1\nagents:\n  bo:\n    - {{ when: {{ contains: Name a file }}, text: \"path: {path}\" }}\n    - {{ repeat: true, text: Done. }}\n"
    );
    let inbox = format!(
        "name: Mail\nelements:\n  - {{ id: mail, kind: inbox, owner: ada, position: [1, 1], items: [{{ id: m1, from: user, text: \"{SECRET}\" }}] }}\n"
    );
    let (settings, secret) = (format!("# {SECRET}\n{settings}"), format!("{SECRET}\n"));
    let approvals = format!("- [ ] Nothing to approve: {SECRET}\n");
    let files = [
        ("workflows/v.md", WORKFLOW),
        ("agents/bo.md", profile),
        ("settings.yaml", &settings),
        ("scenes/mail.yaml", &inbox),
        ("private/plan.md", &secret),
        ("secrets.env", &secret),
        ("memory/knowledge/ada.md", &secret),
        ("sessions/ada.act-1-abcdefgh.session.yaml", &secret),
        ("storage/keys.yaml", &secret),
        ("tasks/approvals.task.md", &approvals),
        ("artifacts/own.md", &secret),
    ];
    let mut studio = Studio::with_problems(&script, &files);
    let start = WorkflowCommand::Start { workflow: "v".into(), variables: BTreeMap::new() };
    studio.world().resource_mut::<InputQueue<WorkflowCommand>>().push(start);
    studio.until("the run ended", |studio| {
        studio.world().resource::<WorkflowRuns>().iter().last().is_some_and(|run| !run.is_running())
    });
    let run = studio.world().resource::<WorkflowRuns>().iter().last().expect("a run has started").clone();
    let run_text = serde_json::to_string(&run).expect("a run is plain data");
    let tasks = studio.all("activation").into_iter().map(ToString::to_string);
    let texts: Vec<String> = tasks.chain([run_text]).collect();
    let secrets: Vec<String> = texts.into_iter().filter(|text| text.contains("4711")).collect();
    (run.status, secrets.join("\n"))
}

fn assert_not_read(path: &str, profile: &str, settings: &str) {
    let (status, secrets) = run_naming(path, profile, settings);
    assert_eq!((status, secrets.as_str()), (RunStatus::Failed, ""), "{path} with {settings:?}");
}

fn a_file_that_the_steps_agent_may_not_read_is_not_read_for_it() {
    let (status, secrets) = run_naming("artifacts/own.md", LIMITED, "");
    assert!(status == RunStatus::Done && secrets.contains("4711"), "what it may read is read: {status:?}");
    for path in [
        "memory/knowledge/ada.md",
        "./memory/knowledge/ada.md",
        "private/plan.md",
        "secrets.env",
        "settings.yaml",
        "sessions/ada.act-1-abcdefgh.session.yaml",
        "storage/keys.yaml",
        "tasks/approvals.task.md",
        "scenes/mail.yaml",
    ] {
        assert_not_read(path, LIMITED, "");
    }
}

fn what_is_private_to_others_is_not_read_for_an_agent_without_limits() {
    for path in ["memory/knowledge/ada.md", "sessions/ada.act-1-abcdefgh.session.yaml", "scenes/mail.yaml"] {
        assert_not_read(path, UNLIMITED, "");
    }
}

fn a_file_whose_reading_a_person_forbids_or_would_be_asked_about_is_not_read() {
    for rule in ["deny", "ask"] {
        assert_not_read("artifacts/own.md", UNLIMITED, &format!("gate:\n  file_read: {rule}\n"));
    }
}
