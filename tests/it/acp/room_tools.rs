//! The room's own tools for coding agents: which ones are offered, how calls are approved, and which are never offered.

use agent_workshop::base::AllowScope;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::kills::has_relay;
use super::{TestWorkspace, command_line, completed_text, decide, is_gone, on_disk, wait_for_approval};
use crate::cases;
use crate::program::json_lines;
use crate::servers::{run_in, workspace_on_disk};
use crate::workshop::Workshop;

pub fn cases() -> Vec<Trial> {
    cases![
        an_agent_can_call_the_room_tools_that_its_file_lists,
        a_person_is_asked_once_for_each_call,
        a_refused_call_is_reported_and_the_turn_continues,
        a_call_that_the_agent_gave_up_on_still_completes,
        changing_an_agents_file_updates_its_tool_list,
        the_relay_needs_the_secret_of_its_session,
        a_run_with_calls_replays_without_the_agent,
        a_confined_agent_reaches_the_rooms_tools_and_its_relay_ends_with_it,
        images_of_server_tools_are_sent_to_agents_that_accept_images_and_linked_for_others,
    ]
}

const BOARD: &str = "blackboard_write, blackboard_read";
const ASKED: &str = "gate: { touches: { \"message.send\": ask } }\n";

fn write(value: &str) -> String {
    format!("do:toolcall blackboard_write {}", json!({ "key": "plan", "value": value }))
}

fn calls(room: &Workshop) -> Vec<&str> {
    room.events("tool_call").into_iter().filter_map(|call| call["data"]["tool"].as_str()).collect()
}

fn an_agent_can_call_the_room_tools_that_its_file_lists() {
    let workspace = TestWorkspace::new();
    let task = format!(
        "do:tools\n{}\ndo:toolcall blackboard_read {{\"key\": \"plan\"}}\ndo:toolcall blackboard_read {{\"key\": 7}}\n\
         do:toolcall spawn_agent {{}}\ndo:toolcall use_own_tool {{\"kind\": \"think\"}}",
        write("walls first")
    );
    let tools = format!("vfs_read, vfs_write, execute_command, {BOARD}");
    let mut room = workspace.allowed("good", "room_tools", &tools, "", &task);
    let text = completed_text(&mut room);
    for part in [
        "tools: blackboard_write, blackboard_read.",
        "called blackboard_write: ",
        "walls first",
        "called blackboard_read: There is no entry '7'",
        "refused spawn_agent: Error: you do not have the tool 'spawn_agent'",
        "refused use_own_tool: Error: use_own_tool is part of the Agent Client Protocol",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(calls(&room), ["blackboard_write", "blackboard_read", "blackboard_read", "spawn_agent"]);
    assert!(room.events("approval_requested").is_empty());
}

fn a_person_is_asked_once_for_each_call() {
    let workspace = TestWorkspace::new();
    let task = "do:toolask blackboard_write {\"key\": \"plan\", \"value\": \"walls\"}";
    let mut room = workspace.allowed("good", "room_tool_asked", "blackboard_write", ASKED, task);
    let question = wait_for_approval(&mut room);
    assert_eq!(question["data"]["tool"], "blackboard_write", "{question}");
    decide(&mut room, true, AllowScope::Once);
    let text = completed_text(&mut room);
    assert!(text.contains("may blackboard_write: yes") && text.contains("called blackboard_write: "), "{text}");
    assert_eq!((calls(&room), room.events("approval_requested").len()), (vec!["blackboard_write"], 1));
    assert!(room.events("own_tool").is_empty(), "it is not one of its own tools: {:?}", room.events("own_tool"));
}

fn a_refused_call_is_reported_and_the_turn_continues() {
    let workspace = TestWorkspace::new();
    let task = "do:toolcall blackboard_write {\"key\": \"plan\", \"value\": \"walls\"}\ndo:say afterwards";
    let mut room = workspace.allowed("good", "room_tool_refused", "blackboard_write", ASKED, task);
    wait_for_approval(&mut room);
    decide(&mut room, false, AllowScope::Once);
    let text = completed_text(&mut room);
    assert!(text.contains("refused blackboard_write: ") && text.contains("a person refused"), "{text}");
    assert!(text.contains("afterwards"), "{text}");
}

fn a_call_that_the_agent_gave_up_on_still_completes() {
    let workspace = TestWorkspace::new();
    // The turn has no text after the call, so the agent gets a reminder.
    let task = "do:toolgiveup blackboard_write {\"key\": \"plan\", \"value\": \"walls\"}\ndo:toolcall blackboard_write {\"key\": \"other\", \"value\": \"roof\"}";
    let mut room = workspace.allowed("good", "room_tool_left", "blackboard_write", ASKED, task);
    wait_for_approval(&mut room);
    decide(&mut room, true, AllowScope::Task);
    let text = completed_text(&mut room);
    assert!(text.contains("gave up") && text.contains("called blackboard_write: "), "{text}");
    assert_eq!(calls(&room), ["blackboard_write", "blackboard_write"], "the abandoned call is completed and logged");
}

fn changing_an_agents_file_updates_its_tool_list() {
    let workspace = TestWorkspace::new();
    let task = "do:tools\ndo:toolcall blackboard_write {\"key\": \"plan\", \"value\": \"walls\"}\ndo:toolnews";
    let mut room = workspace.allowed("good", "room_tools_new", "blackboard_write", ASKED, task);
    wait_for_approval(&mut room);
    let model = format!("acp:{}", command_line("good", "room_tools_new"));
    room.edit(
        "agents/lead.md",
        &format!("---\nid: lead\nmodel: {model:?}\ntools: [blackboard_write, vfs_list]\n---\nYou lead.\n"),
    );
    room.advance(1.0);
    decide(&mut room, true, AllowScope::Once);
    let text = completed_text(&mut room);
    assert!(text.contains("tools: blackboard_write.") && text.contains("now: vfs_list, blackboard_write."), "{text}");
}

fn the_relay_needs_the_secret_of_its_session() {
    let workspace = TestWorkspace::new();
    let mut room = workspace.allowed("good", "room_word", BOARD, "", "do:toolword\ndo:tools");
    let text = completed_text(&mut room);
    assert!(text.contains("with another word: None and ") && text.contains("the room did not answer"), "{text}");
    assert!(text.contains("tools: blackboard_write, blackboard_read."), "{text}");
}

fn a_run_with_calls_replays_without_the_agent() {
    let workspace = TestWorkspace::new();
    let mut live = workspace.allowed("good", "room_replayed", BOARD, "", &write("walls first"));
    completed_text(&mut live);
    let again = live.replayed();
    let values =
        |room: &Workshop| room.events("tool_call").iter().map(|call| call["data"].clone()).collect::<Vec<Value>>();
    assert_eq!((values(&again), values(&again).len()), (values(&live), 1));
    drop(live);
    assert!(is_gone("good", "room_replayed"), "the replay starts nothing");
}

fn a_confined_agent_reaches_the_rooms_tools_and_its_relay_ends_with_it() {
    let (_folder, config, workspace) = on_disk("good", "room_tools_confined", BOARD);
    let task = format!("do:tools\n{}", write("walls first"));
    let arguments = ["run", "--agent", "lead", "--task", &task, "--events", "-", "--until", "idle"];
    let (code, output) = run_in(&workspace, config.path(), &arguments);
    assert_eq!(code, Some(0), "{output}");
    let events: Vec<Value> = output.lines().filter(|line| line.starts_with('{')).flat_map(json_lines).collect();
    let done = events.iter().find(|event| event["type"] == "complete").expect("the work is completed");
    let text = done["data"]["text"].as_str().unwrap_or_default();
    assert!(
        text.contains("tools: blackboard_write, blackboard_read.") && text.contains("called blackboard_write: "),
        "{text}"
    );
    assert!(is_gone("good", "room_tools_confined"));
    assert!(!has_relay("room_tools_confined"), "the relay ends with the agent");
}

fn images_of_server_tools_are_sent_to_agents_that_accept_images_and_linked_for_others() {
    for (mode, expected) in [("sees", "<image>"), ("good", "[the image is kept in sessions/")] {
        let gate = "gate:\n  mcp: { \"mcp:odd:*\": allow }\n";
        let (_folder, config, workspace) = workspace_on_disk("kept", gate);
        let command_line = command_line(mode, "server_images");
        let lead = std::fs::read_to_string(workspace.join("agents/lead.md")).expect("the agent file exists");
        let lead = lead.replacen("---\n", &format!("---\nmodel: {:?}\n", format!("acp:{command_line}")), 1);
        std::fs::write(workspace.join("agents/lead.md"), lead).expect("the file can be written");
        let allowed = run_in(&workspace, config.path(), &["acp", "allow", &command_line, "--yes"]);
        assert_eq!(allowed.0, Some(0), "{}", allowed.1);
        let task = "do:tools\ndo:toolcall mcp__odd__picture {}";
        let arguments = ["run", "--agent", "lead", "--task", task, "--events", "-", "--until", "idle"];
        let (code, output) = run_in(&workspace, config.path(), &arguments);
        assert_eq!(code, Some(0), "{output}");
        let events: Vec<Value> = output.lines().filter(|line| line.starts_with('{')).flat_map(json_lines).collect();
        let done = events.iter().find(|event| event["type"] == "complete").expect("the work is completed");
        let text = done["data"]["text"].as_str().unwrap_or_default();
        assert!(text.contains("[image: image/png") && text.contains(expected), "{mode}: {text}");
        assert_eq!(text.contains("<image>"), mode == "sees", "{mode}: {text}");
        assert!(is_gone(mode, "server_images"));
    }
}
