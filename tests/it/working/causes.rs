//! Causes: in a busy room, every event names the event that caused it, except for root events.

use std::collections::BTreeMap;

use agent_workshop::agent::AgentCommand;
use agent_workshop::base::ConversationKey;
use agent_workshop::kernel::{Kernel, KernelCommand};
use agent_workshop::schedule::InputQueue;
use agent_workshop::simulation::{ConversationCommand, TaskCommand};
use agent_workshop::workspace::FileChanged;
use agent_workshop::workspace::files::FileContent;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::working::{Studio, spawn};

pub fn trials() -> Vec<Trial> {
    cases![every_event_of_a_busy_room_has_a_cause_or_is_a_root]
}

const SCENE: &str = "name: Test
seed: 5
elements:
  - { id: rules, kind: rulebook, label: House rules, position: [0, 0], text: Be brief. }
  - { id: ideas, kind: pinboard, label: Ideas, position: [-120, 0], pins: [] }
  - { id: mail, kind: inbox, owner: ada, position: [120, 0], items: [] }
agents:
  - { id: lead, profile: lead, position: [0, 120], behaviour: wander }
  - { id: ada, profile: ada, position: [60, 120], behaviour: stationary }
  - { id: ben, profile: ben, position: [120, 120], behaviour: patrol }
relationships:
  - { from: ada, to: ben, label: mentors }
";

/// Returns whether an event may have no cause: input from outside (a person, a file, a scene), opening or closing the
/// room, problems with files and settings, and the state of a provider.
fn is_root(event: &Value) -> bool {
    let data = &event["data"];
    match event["type"].as_str().unwrap_or_default() {
        "run_start" | "run_end" | "input" | "agent_added" | "provider" => true,
        "file_change" => event["agent"].is_null(),
        "element_changed" => data["by"] == "user" || data["change"] == "added",
        "activation" => data["by"] == "user",
        "warning" | "error" => event["agent"].is_null(),
        _ => false,
    }
}

fn push<T: agent_workshop::schedule::Input>(studio: &mut Studio, input: T) {
    studio.world().resource_mut::<InputQueue<T>>().push(input);
}

fn advance(studio: &mut Studio, secs: u64) {
    for _ in 0..secs * 30 {
        studio.tick();
    }
}

fn decide_next(studio: &mut Studio, allow: bool) {
    studio.until("a person was asked", |studio| {
        studio.world().resource::<Kernel>().activations().any(|one| one.question().is_some())
    });
    let kernel = studio.world().resource::<Kernel>();
    let one = kernel.activations().find(|one| one.question().is_some()).unwrap();
    let (activation, turn, call) = (one.key, one.turn, one.question().unwrap().0);
    studio.command(KernelCommand::decide(activation, turn, call, allow));
}

fn task(studio: &mut Studio, agent: &str, text: &str) {
    push(studio, TaskCommand { agent: agent.into(), text: text.into() });
    studio.tick();
}

fn every_event_of_a_busy_room_has_a_cause_or_is_a_root() {
    let write =
        |path: &str| format!("{{ tools: [ {{ name: vfs_write, arguments: {{ path: {path}, content: x }} }} ] }}");
    let script = format!(
        "latency: 0.3\nagents:\n  lead:\n    - {{ when: {{ kind: task }}, tools: [ {}, {} ] }}\n    - {{ when: {{ kind: task }}, text: I wait. }}\n  kid:\n    - {}\n    - text: Done.\n  ada:\n    - {{ when: {{ kind: task }}, tools: [ {{ name: vfs_write, arguments: {{ path: artifacts/a.md, content: x }} }} ] }}\n    - {{ when: {{ kind: task }}, tools: [ {{ name: vfs_write, arguments: {{ path: artifacts/b.md, content: x }} }} ] }}\n    - {{ when: {{ kind: task }}, error: {{ status: 429, retry_after: 2 }} }}\n    - {{ when: {{ kind: task }}, text: \"All done.\\n[PIN: done] [SEND to ben: look] [SEND to Nobody: x]\" }}\n    - {{ when: {{ kind: task }}, error: {{ status: 401 }} }}\ndefault: [ {{ text: \"Fine.\\n[REMEMBER: be brief] [PIN: brevity]\" }} ]\n",
        spawn("kid"),
        spawn("tot"),
        write("artifacts/kid.md"),
    );
    let safe = "---\nid: ada\nsafety_mode: safe\n---\nYou write.\n";
    let mut studio = Studio::new(
        &script,
        &[("scenes/test.yaml", SCENE), ("agents/ada.md", safe), ("agents/ben.md", "---\nid: ben\n---\nYou read.\n")],
    );
    advance(&mut studio, 20);
    let scene = FileContent::Text(SCENE.replace("Be brief.", "Be kind."));
    push(&mut studio, FileChanged::new("scenes/test.yaml", scene));
    advance(&mut studio, 20);
    let participants = vec!["ada".into(), "ben".into()];
    push(&mut studio, ConversationCommand::Start { participants, topic: "tea".into() });
    advance(&mut studio, 5);
    push(&mut studio, ConversationCommand::Stop { conversation: ConversationKey(0) });
    push(&mut studio, AgentCommand::PickUp { agent: "ben".into() });
    push(&mut studio, AgentCommand::PutDown { agent: "ben".into() });
    push(&mut studio, AgentCommand::Pause { agent: "nobody".into() });
    task(&mut studio, "ada", "Write both.");
    decide_next(&mut studio, false);
    decide_next(&mut studio, true);
    task(&mut studio, "lead", "Start them.");
    task(&mut studio, "ben", "Read.");
    advance(&mut studio, 20);
    task(&mut studio, "ada", "Fail.");
    advance(&mut studio, 20);
    task(&mut studio, "ben", "Be stopped.");
    studio.command(KernelCommand::KillAgent { agent: "ben".into() });
    push(&mut studio, AgentCommand::Remove { agent: "ben".into() });
    advance(&mut studio, 30);
    let mut uncaused: BTreeMap<String, &Value> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for event in studio.log_of_all() {
        *kinds.entry(event["type"].as_str().unwrap()).or_default() += 1;
        let cause = event["cause"].as_u64();
        assert!(
            cause.is_none_or(|cause| cause < event["seq"].as_u64().unwrap()),
            "the cause is later than its effect: {event}"
        );
        if cause.is_none() && !is_root(event) {
            uncaused.insert(format!("{} {}", event["type"], event["data"]), event);
        }
    }
    assert!(uncaused.is_empty(), "{uncaused:#?}");
    for kind in [
        "state",
        "action_queued",
        "read",
        "conversation_start",
        "message",
        "conversation_end",
        "memory",
        "activation",
        "spawn",
        "signal",
        "tool_call",
        "tool_result",
        "file_change",
        "approval_requested",
        "approval_decided",
        "model_call",
        "warning",
        "error",
        "abort",
        "complete",
        "input",
        "element_changed",
        "agent_removed",
    ] {
        assert!(kinds.contains_key(kind), "no {kind} event was logged: {kinds:?}");
    }
    let stopped = (*studio.all("abort").last().expect("ben was stopped")).clone();
    let by =
        studio.log_of_all().iter().find(|event| event["seq"] == stopped["cause"]).expect("the cause is in the log");
    assert_eq!((&by["type"], &by["data"]["do"]), (&"input".into(), &"kill_agent".into()), "{by}");
}
