//! Tests of tasks with tools, in a simulated room with files and started agents.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::super::OfflineProvider;
use super::super::examples::{ADA, TestContext, request};
use super::*;
use crate::gateway::provider::SimulatedProvider;
use crate::mind::{Completion, Finish, PromptMessage, Role, ToolDeclaration};

const LEAD: (&str, &str) =
    ("Otto", "Orchestrator who splits work and brings it back together.\n\nYou are brisk and organised.");
const ALL: [&str; 4] = ["spawn_agent", "vfs_read", "vfs_write", "signal_parent"];

fn tools(names: &[&str]) -> Vec<ToolDeclaration> {
    let declared = |name: &&str| ToolDeclaration {
        name: (*name).to_owned(),
        description: "A tool.".to_owned(),
        parameters: json!({ "type": "object" }).into(),
    };
    names.iter().map(declared).collect()
}

fn task_for(agent: &str, profile: (&str, &str), task: &str) -> ProviderRequest {
    let asked = request(CallKind::Task, TestContext::by(profile), &format!("Your task: {task}"));
    ProviderRequest { agent: agent.to_owned(), profile: agent.to_owned(), tools: tools(&ALL), ..asked }
}

fn ask(request: &ProviderRequest) -> Completion {
    OfflineProvider.answer(request).outcome.expect("the offline brain always answers")
}

/// Runs turns with the results of `tool` until a reply without calls, and returns its text; at most `MAX_TURNS` turns.
fn until_words(request: &mut ProviderRequest, mut tool: impl FnMut(&ToolCall) -> String) -> String {
    for _ in 0..=MAX_TURNS {
        let reply = ask(request);
        assert_eq!(reply.finish == Finish::ToolCalls, !reply.tool_calls.is_empty());
        if reply.tool_calls.is_empty() {
            assert!(!reply.text.trim().is_empty());
            request.prompt.history.push(PromptMessage::plain(Role::Assistant, reply.text.clone()));
            return reply.text;
        }
        request.prompt.history.push(PromptMessage::calls(reply.text, reply.tool_calls.clone()));
        for call in &reply.tool_calls {
            request.prompt.history.push(PromptMessage::result(call, tool(call)));
        }
    }
    panic!("the task never ends: {:?}", request.prompt.history);
}

/// A room with files, the agents started in it, and their signals.
#[derive(Default)]
struct ToolRoom {
    files: BTreeMap<String, String>,
    children: VecDeque<(String, String, String)>,
    signals: Vec<String>,
}

impl ToolRoom {
    fn tool(&mut self, agent: &str, call: &ToolCall) -> String {
        let text = |key: &str| call.arguments[key].as_str().unwrap_or_default().to_owned();
        match call.name.as_str() {
            "spawn_agent" => {
                self.files.insert(text("filename"), text("content"));
                self.children.push_back((text("filename"), text("content"), text("task")));
                format!("Created and activated '{}' (depth 1/5)", text("filename"))
            }
            "vfs_write" => {
                self.files.insert(text("path"), text("content"));
                format!("Written to '{}' ({} chars)", text("path"), text("content").len())
            }
            "vfs_read" => self.files.get(&text("path")).cloned().unwrap_or_else(|| {
                format!("Error: '{}' not found. Available: [{:?}]", text("path"), self.files.keys())
            }),
            _ => {
                self.signals.push(format!("Signal from {agent}: {}", text("message")));
                "Message sent to parent.".to_owned()
            }
        }
    }
}

#[test]
fn a_lead_starts_two_agents_reads_their_documents_and_writes_a_summary() {
    let mut room = ToolRoom::default();
    let mut lead = task_for("orchestrator-1", LEAD, "Plan a launch party");
    let waits = until_words(&mut lead, |call| room.tool("orchestrator-1", call));
    assert!(waits.contains("the researcher") && waits.contains("the planner"), "{waits}");
    assert_eq!(room.children.len(), 2);
    while let Some((file, content, task)) = room.children.pop_front() {
        let name = file.trim_end_matches(".md").to_owned();
        let (_, body) = content.trim_start_matches("---\n").split_once("---\n").expect("it has front matter");
        let mut child = task_for(&name, (&name, body), &task);
        let told = until_words(&mut child, |call| room.tool(&name, call));
        assert!(told.contains("artifacts/launch-party"), "{told}");
    }
    assert_eq!(room.signals.len(), 2, "{:?}", room.signals);
    let signals = std::mem::take(&mut room.signals);
    lead.prompt.history.push(PromptMessage::plain(Role::User, signals[0].clone()));
    let waits = until_words(&mut lead, |call| room.tool("orchestrator-1", call));
    assert!(waits.starts_with("1 of 2"), "{waits}");
    lead.prompt.history.push(PromptMessage::plain(Role::User, signals[1].clone()));
    let ends = until_words(&mut lead, |call| room.tool("orchestrator-1", call));
    assert!(ends.contains("Plan a launch party") && ends.contains("artifacts/launch-party-summary.md"), "{ends}");
    let artifacts: Vec<_> = room.files.iter().filter(|(path, _)| path.starts_with("artifacts/")).collect();
    assert_eq!(artifacts.len(), 3, "{:?}", room.files.keys());
    for (path, text) in artifacts {
        assert!(text.contains("launch party") && text.lines().count() > 10, "{path}: {text}");
    }
    let asked_again = until_words_after(&mut lead, "Progress check: how is it going?");
    assert!(asked_again.contains("artifacts/launch-party-summary.md"), "{asked_again}");
}

fn until_words_after(request: &mut ProviderRequest, words: &str) -> String {
    request.prompt.history.push(PromptMessage::plain(Role::User, words));
    until_words(request, |call| panic!("nothing is left to do with {}", call.name))
}

#[test]
fn the_task_decides_which_specialists_are_started() {
    let spawns = |task: &str| {
        let reply = ask(&task_for("orchestrator-1", LEAD, task));
        reply.tool_calls.iter().map(|call| call.arguments["filename"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(spawns("Build a bird house"), ["bird-house-designer.md", "bird-house-engineer.md"]);
    assert_eq!(spawns("Review the annual budget"), ["annual-budget-checker.md", "annual-budget-critic.md"]);
    assert!(spawns("hello").is_empty(), "a greeting is answered in words");
}

#[test]
fn a_document_is_about_the_topic_and_not_about_the_kind_of_text() {
    let reply = ask(&task_for("ada-1", ADA, "Write a short piece about the harbour bridge that closes on Monday"));
    let written = &reply.tool_calls[0].arguments;
    assert_eq!(written["path"], "artifacts/harbour-bridge.md");
    let text = written["content"].as_str().expect("a text");
    assert!(text.contains("the harbour bridge") && !text.contains("the short piece"), "{text}");
}

#[test]
fn agent_files_have_valid_names_and_front_matter_for_any_task() {
    for task in ["Plan: \"quotes\" # and {braces}", "plan 東京 tower: now", "Plan the ../../etc party"] {
        let reply = ask(&task_for("orchestrator-1", LEAD, task));
        for call in &reply.tool_calls {
            let file = call.arguments["filename"].as_str().expect("a name");
            assert!(file.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte)), "{file}");
            let content = call.arguments["content"].as_str().expect("a text");
            let front = content.trim_start_matches("---\n").split_once("---\n").expect("it has front matter").0;
            let keys: BTreeMap<String, String> = serde_yaml::from_str(front).expect("it is YAML");
            assert!(keys.contains_key("name") && keys.contains_key("description"));
        }
    }
}

#[test]
fn other_agents_read_named_files_and_follow_suggested_paths() {
    let mut ada = task_for("ada-1", ADA, "Read notes/fair.md and write what matters to artifacts/fair.md");
    let mut asked = Vec::new();
    let mut written = String::new();
    let told = until_words(&mut ada, |call| {
        asked.push(format!("{} {}", call.name, call.arguments["path"].as_str().unwrap_or_default()));
        match asked.len() {
            1 => "Error: 'notes/fair.md' not found. Similar: 'notes/the-fair.md'.".to_owned(),
            2 => "The fair opens on Friday with forty stalls.".to_owned(),
            _ => {
                written.push_str(call.arguments["content"].as_str().unwrap_or_default());
                "Done.".to_owned()
            }
        }
    });
    let wanted =
        ["vfs_read notes/fair.md", "vfs_read notes/the-fair.md", "vfs_write artifacts/fair.md", "signal_parent "];
    assert_eq!(asked, wanted);
    assert!(written.contains("From notes/the-fair.md") && written.contains("forty stalls"), "{written}");
    assert!(told.contains("artifacts/fair.md"), "{told}");
}

#[test]
fn a_failed_call_is_mentioned_and_not_repeated() {
    let mut calls = Vec::new();
    let mut ada = task_for("ada-1", ADA, "Write about the harbour bridge");
    let told = until_words(&mut ada, |call| {
        calls.push(call.name.clone());
        "Error: ada-1 may not write there.".to_owned()
    });
    assert_eq!(calls, ["vfs_write"]);
    assert!(told.contains("may not write there"), "{told}");
    let mut lead = task_for("orchestrator-1", LEAD, "Plan a launch party");
    let mut room = ToolRoom::default();
    let told = until_words(&mut lead, |call| match call.name.as_str() {
        "spawn_agent" => "Error: depth limit 5/5.".to_owned(),
        _ => room.tool("orchestrator-1", call),
    });
    assert!(told.contains("depth limit 5/5") && told.contains("artifacts/launch-party.md"), "{told}");
    assert!(room.files.contains_key("artifacts/launch-party.md"));
}

#[test]
fn a_signal_without_earlier_calls_is_read_and_summarised() {
    let mut room = ToolRoom::default();
    room.files.insert("artifacts/stalls.md".into(), "# Stalls\n\nForty stalls are booked for Friday.".into());
    let mut lead = task_for("orchestrator-1", LEAD, "Prepare the autumn fair");
    lead.prompt.history.push(PromptMessage::plain(Role::User, "Signal from ben-1: done, see artifacts/stalls.md."));
    let told = until_words(&mut lead, |call| room.tool("orchestrator-1", call));
    assert!(told.contains("Forty stalls are booked"), "{told}");
}

#[test]
fn without_suitable_tools_a_task_is_answered_with_text() {
    for names in [&[][..], &["vfs_list"][..]] {
        let asked = ProviderRequest { tools: tools(names), ..task_for("ada-1", ADA, "Count the chairs") };
        let reply = ask(&asked);
        assert!(reply.tool_calls.is_empty() && !reply.text.is_empty());
    }
}

#[test]
fn a_written_text_fits_the_token_limit() {
    let asked = ProviderRequest { max_output_tokens: 100, ..task_for("ada-1", ADA, "Write about the harbour bridge") };
    let reply = ask(&asked);
    assert!(reply.usage.output_tokens <= 150, "{:?}", reply.usage);
    assert!(reply.tool_calls[0].arguments["content"].as_str().is_some_and(|text| text.starts_with('#')));
}

#[test]
fn the_same_history_leads_to_the_same_step() {
    let asked = task_for("orchestrator-1", LEAD, "Plan a launch party");
    let other_chance = ProviderRequest { seed: 99, ..asked.clone() };
    assert_eq!(ask(&asked), ask(&other_chance));
}

proptest! {
    #[test]
    fn every_task_ends_whatever_the_tools_return(
        answers in proptest::collection::vec(
            prop_oneof![
                Just("Done."),
                Just(""),
                Just("Error: no."),
                Just("Error: 'artifacts/a.md' not found. Similar: 'artifacts/b.md'."),
                Just("Error: 'artifacts/b.md' not found. Similar: 'artifacts/a.md'."),
            ],
            1..9,
        ),
        task in prop_oneof![
            Just("Read artifacts/a.md, then plan"),
            Just("Plan a launch party"),
            Just(""),
            Just("?!"),
            Just("schreib über 東京 in artifacts/ü.md"),
        ],
        leads in any::<bool>(),
        later in proptest::collection::vec(
            prop_oneof![Just("Signal from x: see artifacts/a.md"), Just("Progress check: so?"), Just("Signal from"), Just("Hm.")],
            0..4,
        ),
    ) {
        let mut asked = task_for(if leads { "orchestrator-1" } else { "ada-1" }, if leads { LEAD } else { ADA }, task);
        let mut answers = answers.iter().cycle();
        let mut tool = |_: &ToolCall| (*answers.next().expect("the iterator is endless")).to_owned();
        until_words(&mut asked, &mut tool);
        for words in later {
            asked.prompt.history.push(PromptMessage::plain(Role::User, words));
            until_words(&mut asked, &mut tool);
        }
    }
}

const TOGETHER: [&str; 6] = ["vfs_write", "publish", "subscribe", "blackboard_write", "delegate", "signal_parent"];

/// Returns the calls made for a task and, if given, after a later message, and the final text.
fn run_task(task: &str, later: Option<&str>) -> (Vec<String>, String) {
    let mut asked = ProviderRequest { tools: tools(&TOGETHER), ..task_for("ada-1", ADA, task) };
    let mut called = Vec::new();
    let mut words = until_words(&mut asked, |call| {
        let target = ["channel", "key", "agent"].iter().find_map(|name| call.arguments[*name].as_str());
        called.push(format!("{} {}", call.name, target.unwrap_or_default()));
        "Done.".to_owned()
    });
    if let Some(later) = later {
        asked.prompt.history.push(PromptMessage::plain(Role::User, later));
        words = until_words(&mut asked, |call| {
            called.push(format!("{} {}", call.name, call.arguments["path"].as_str().unwrap_or_default()));
            "Done.".to_owned()
        });
    }
    (called, words)
}

#[test]
fn requests_that_involve_others_are_carried_out() {
    let (called, _) = run_task("Write about the garden and publish your findings in channel garden.", None);
    assert_eq!(called[1..], ["publish garden", "signal_parent "]);
    let (called, _) = run_task("Count the chairs and put it on the blackboard as chairs.", None);
    assert!(called.contains(&"blackboard_write chairs".to_owned()), "{called:?}");
    let message = "News of channel 'garden':\n[1] bea: The roses need water.";
    let (called, _) = run_task("Subscribe to channel garden and write down what you hear.", Some(message));
    assert_eq!(called[0], "subscribe garden");
    assert!(called[1].starts_with("vfs_write "), "{called:?}");
    let message = "Signal from rolf: result of a task that you handed over (\"count\"):\nTwelve chairs.";
    let (called, _) = run_task("Delegate to Rolf: count the chairs.", Some(message));
    assert_eq!(called[0], "delegate Rolf");
}

#[test]
fn a_result_has_the_requested_format() {
    let task = "Count the chairs.\n\nSystem message: this task was handed over to you by Ada, who receives your result.\nYour final \
                answer is the result. It must be a JSON object with the fields chairs, tables and nothing around it.";
    let (_, words) = run_task(task, None);
    let result: Value = serde_json::from_str(&words).expect("it is JSON");
    assert!(result["chairs"].is_string() && result["tables"].is_string(), "{words}");
}

#[test]
fn a_task_of_a_task_file_is_written_to_its_own_file_under_any_tool_names() {
    let task = "Find out what our tea shop should sell\n\nDone before this: “Draft the menu” (draft). Its result:\nIt is \
                in artifacts/menu.md.\n\nThis is task find-out in tasks/shop.task.md. Your final \
                answer is its result.";
    for (read, write) in [("vfs_read", "vfs_write"), ("read_file", "write_file")] {
        let mut asked = ProviderRequest { tools: tools(&[read, write]), ..task_for("ada-1", ADA, task) };
        let mut written = Vec::new();
        let words = until_words(&mut asked, |call| {
            assert_eq!(call.name, write);
            written.push(call.arguments["path"].as_str().unwrap_or_default().to_owned());
            let content = call.arguments["content"].to_string();
            assert!(!content.contains("This is task") && !content.contains("menu"), "{content}");
            format!("Written to '{}'", written[0])
        });
        assert!(matches!(&written[..], [path] if path.starts_with("artifacts/")), "{written:?}");
        assert!(words.contains(&written[0]), "{words}");
    }
}

#[test]
fn a_task_file_is_never_overwritten() {
    let mut asked = task_for("ada-1", ADA, "Write what is to be done next for the fair into tasks/fair.task.md");
    until_words(&mut asked, |call| {
        assert_ne!((call.name.as_str(), &call.arguments["path"]), ("vfs_write", &json!("tasks/fair.task.md")));
        "Done.".to_owned()
    });
}
