//! Tasks in files are started exactly once, even across restarts, and their results are reported to whoever requested
//! them.

use std::fs;

use agent_workshop::desk::TaskAssignments;
use agent_workshop::learning::Lessons;
use agent_workshop::schedule::InputQueue;
use agent_workshop::workspace::FileChanged;
use agent_workshop::workspace::files::FileContent;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::working::Studio;

pub fn trials() -> Vec<Trial> {
    cases![
        a_task_written_by_an_agent_is_done_by_another_and_the_result_is_reported,
        a_task_written_by_a_person_starts_when_its_dependencies_are_done,
        a_task_is_done_once_even_if_the_room_is_closed_or_killed,
        renaming_a_task_does_not_restart_it_and_tasks_for_people_wait,
        failed_work_is_reported_and_restarts_only_on_a_persons_request,
        a_result_is_written_once_its_file_can_be_written_again,
        messages_between_agents_are_stopped_after_the_hop_limit,
        a_plain_answer_to_a_message_reaches_its_sender_once,
        only_a_planner_sees_the_sessions_of_others,
        agents_in_yaml_files_work_like_others,
        reopening_a_finished_workspace_starts_no_work,
    ]
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0], behaviour: stationary }\n  - { id: writer, profile: writer, position: [90, 0], behaviour: stationary }\n";
const LEAD: &str = "---\nagent_type: planner\ntools: [create_task, query_tasks, update_task, send_message, list_active_sessions, read_session]\n---\nYou lead.\n";
const WRITER: &str = "---\nname: Wanda\ntools: [update_task, query_tasks, send_message, read_file]\n---\nYou write.\n";
const WORK: &str = "tasks/work.task.md";

fn call(name: &str, arguments: Value) -> String {
    format!("{{ name: {name}, arguments: {arguments} }}")
}

fn studio(script: &str, files: &[(&str, &str)]) -> Studio {
    let own = [("scenes/test.yaml", SCENE), ("agents/lead.md", LEAD), ("agents/writer.md", WRITER)];
    let all: Vec<(&str, &str)> = own.iter().chain(files).copied().collect();
    Studio::new(script, &all)
}

/// Saves a file as a person with an editor does.
fn edit(studio: &mut Studio, path: &str, text: &str) {
    let full = studio.folder.path().join(path);
    fs::create_dir_all(full.parent().unwrap()).unwrap();
    fs::write(full, text).unwrap();
    let change = FileChanged::new(path, FileContent::Text(text.to_owned()));
    studio.world().resource_mut::<InputQueue<FileChanged>>().push(change);
    studio.tick();
}

/// Runs until no task is in progress or about to start.
fn run_until_settled(studio: &mut Studio) {
    for _ in 0..3 {
        studio.tick();
    }
    studio.until("no task is in progress", |studio| !studio.world().resource::<TaskAssignments>().is_at_work());
    studio.idle();
    studio.until("all lessons were processed", |studio| studio.world().resource::<Lessons>().is_empty());
}

fn activations(studio: &Studio, agent: &str) -> usize {
    studio.all("activation").iter().filter(|event| event["agent"] == agent).count()
}

fn counting() -> String {
    format!(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ {} ]\n    - text: I wait.\n    - text: Twelve it is.\n  writer:\n    - tools: [ {} ]\n    - text: There are twelve chairs.\ndefault: [ {{ text: Noted. }} ]\n",
        call(
            "create_task",
            json!({ "title": "Count the chairs", "assignee": "@writer", "description": "In all rooms." })
        ),
        call("update_task", json!({ "id": "count-the-chairs", "status": "completed" })),
    )
}

fn a_task_written_by_an_agent_is_done_by_another_and_the_result_is_reported() {
    let mut studio = studio(&counting(), &[]);
    studio.task("lead", "How many chairs are there?");
    studio.until("the lead received the result", |studio| {
        studio.all("complete").iter().any(|end| end["agent"] == "lead" && end["data"]["text"] == "Twelve it is.")
    });
    run_until_settled(&mut studio);
    let file = studio.read(WORK);
    for line in [
        "- [x] @writer \"Count the chairs\"\n",
        "  id: count-the-chairs\n",
        "  created_by: lead\n",
        "  requesting_agent_session_id: lead.act-",
        "  status: completed\n",
        "  conclusion: There are twelve chairs.\n",
        "  description: In all rooms.\n",
    ] {
        assert!(file.contains(line), "{line} is missing in\n{file}");
    }
    assert!(file.contains("  assigned: 20") && file.contains("  completed: 20"), "{file}");
    assert_eq!((activations(&studio, "lead"), activations(&studio, "writer")), (2, 1), "{:#?}", studio.log());
    let result_activation =
        studio.all("activation").into_iter().rfind(|event| event["agent"] == "lead").unwrap()["data"].clone();
    let words =
        "Your task count-the-chairs “Count the chairs” was done by writer. Its result:\nThere are twelve chairs.";
    assert_eq!((&result_activation["task"], &result_activation["by"]), (&json!(words), &json!("writer")));
    let task = studio.all("activation").into_iter().find(|event| event["agent"] == "writer").unwrap();
    assert_eq!(task["data"]["by"], "tasks");
    let changed = studio.all("file_change").into_iter().find(|event| event["seq"] == task["cause"]);
    assert_eq!(changed.unwrap()["data"]["path"], WORK, "the task file is the cause of the activation");
    assert_eq!(studio.results()[0], "Written: task count-the-chairs “Count the chairs” in tasks/work.task.md.");
}

fn a_task_written_by_a_person_starts_when_its_dependencies_are_done() {
    let text = "# Plan\r\n\r\n## TODO\r\n\r\n- [ ] @writer Second\r\n  depends_on: first\r\n- [ ] @human First\r\n  id: first\r\n";
    let mut studio = studio("default: [ { text: Done that. } ]\n", &[]);
    edit(&mut studio, "tasks/plan.task.md", text);
    run_until_settled(&mut studio);
    assert_eq!(activations(&studio, "writer"), 0);
    assert_eq!(studio.read("tasks/plan.task.md"), text, "a waiting task is not changed");
    edit(&mut studio, "tasks/plan.task.md", &text.replace("[ ] @human", "[x] @human"));
    run_until_settled(&mut studio);
    assert_eq!(activations(&studio, "writer"), 1);
    let done = studio.read("tasks/plan.task.md");
    assert!(done.contains("- [x] @writer Second\r\n  depends_on: first\r\n  id: second\r\n"), "{done}");
    assert!(done.contains("  conclusion: Done that.\r\n") && done.ends_with("- [x] @human First\r\n  id: first\r\n"));
}

fn a_task_is_done_once_even_if_the_room_is_closed_or_killed() {
    for ticks in [0_usize, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 26] {
        let mut studio = studio(&counting(), &[]);
        studio.task("lead", "How many chairs are there?");
        for _ in 0..ticks {
            studio.tick();
        }
        if ticks % 2 == 0 {
            studio.close();
        } else {
            studio.room = None;
        }
        studio.open();
        for _ in 0..3 {
            studio.tick();
        }
        run_until_settled(&mut studio);
        let file = studio.read(WORK);
        assert_eq!(file.matches("- [").count(), 1, "{ticks} ticks:\n{file}");
        assert!(file.contains("- [x]") && file.contains("status: completed"), "{ticks} ticks:\n{file}");
        let ends = studio.all("complete");
        let ends = ends.iter().filter(|end| end["data"]["text"] == "There are twelve chairs.").count();
        assert_eq!(ends, 1, "{ticks} ticks: {:#?}", studio.log());
        let result_activations = studio.all("activation");
        let result_activations = result_activations
            .iter()
            .filter(|event| event["agent"] == "lead" && event["data"]["by"] == "writer")
            .count();
        assert_eq!(result_activations, 1, "{ticks} ticks: {:#?}", studio.log());
    }
}

fn renaming_a_task_does_not_restart_it_and_tasks_for_people_wait() {
    let mut studio = studio("latency: 1.0\ndefault: [ { text: Done that. } ]\n", &[]);
    edit(&mut studio, WORK, "- [ ] @writer Count\n- [ ] @human Decide\n- [ ] @nobody Rest\n");
    studio.until("the task has started", |studio| activations(studio, "writer") == 1);
    let now = studio.read(WORK).replace("Count", "Count all of them");
    edit(&mut studio, WORK, &now);
    run_until_settled(&mut studio);
    assert_eq!((activations(&studio, "writer"), studio.all("activation").len()), (1, 1), "{:#?}", studio.log());
    let file = studio.read(WORK);
    assert!(file.contains("- [x] @writer Count all of them\n  id: count\n"), "{file}");
    assert!(file.contains("- [ ] @human Decide\n") && file.contains("- [ ] @nobody Rest\n"), "{file}");
    edit(&mut studio, WORK, &file.replace("Count all", "Count really all"));
    run_until_settled(&mut studio);
    assert_eq!(activations(&studio, "writer"), 1);
}

fn failed_work_is_reported_and_restarts_only_on_a_persons_request() {
    let script = "latency: 0.1\nagents:\n  writer:\n    - error: { status: 400 }\n    - text: Now it works.\ndefault: [ { text: Noted. } ]\n";
    let mut studio = studio(script, &[]);
    edit(&mut studio, WORK, "- [ ] @writer Count\n");
    run_until_settled(&mut studio);
    let file = studio.read(WORK);
    assert!(file.starts_with("- [ ] @writer Count\n") && file.contains("  status: failed\n  why: "), "{file}");
    assert_eq!(activations(&studio, "writer"), 1);
    edit(&mut studio, WORK, &file.replace("  status: failed\n", ""));
    run_until_settled(&mut studio);
    assert_eq!(activations(&studio, "writer"), 2);
    assert!(studio.read(WORK).contains("  conclusion: Now it works.\n"), "{}", studio.read(WORK));
}

fn a_result_is_written_once_its_file_can_be_written_again() {
    let mut studio = studio("latency: 1.0\ndefault: [ { text: Done that. } ]\n", &[]);
    edit(&mut studio, WORK, "- [ ] @writer Count\n");
    studio.until("the task has started", |studio| activations(studio, "writer") == 1);
    let text = studio.read(WORK);
    let full = studio.folder.path().join(WORK);
    fs::remove_file(&full).unwrap();
    fs::create_dir(&full).unwrap();
    studio.until("the work has ended", |studio| !studio.all("complete").is_empty());
    for _ in 0..60 {
        studio.tick();
    }
    assert!(studio.world().resource::<TaskAssignments>().is_at_work(), "the result waits for its file");
    fs::remove_dir(&full).unwrap();
    fs::write(&full, text).unwrap();
    run_until_settled(&mut studio);
    let file = studio.read(WORK);
    assert!(file.starts_with("- [x] @writer Count\n") && file.contains("  conclusion: Done that.\n"), "{file}");
    assert_eq!(activations(&studio, "writer"), 1, "it is done once");
}

fn messages_between_agents_are_stopped_after_the_hop_limit() {
    let write = |to: &str| call("send_message", json!({ "to": to, "message": "And you?" }));
    let turns = |to: &str| format!("    - tools: [ {} ]\n    - text: I wrote.\n", write(to)).repeat(12);
    let script = format!(
        "latency: 0.1\nagents:\n  lead:\n{}  writer:\n{}default: [ {{ text: Noted. }} ]\n",
        turns("Wanda"),
        turns("lead")
    );
    let mut studio = studio(&script, &[("settings.yaml", "tasks: { message_hops_at_most: 4 }\n")]);
    studio.task("lead", "Ask the writer.");
    studio.idle();
    let results = studio.results();
    assert_eq!(results[0], "Sent. Wanda is activated for it.");
    assert_eq!(results.iter().filter(|text| text.starts_with("Sent.")).count(), 4, "{results:#?}");
    assert!(results[4].contains("answered each other 4 times in a row"), "{results:#?}");
    let first = studio.all("activation").into_iter().find(|event| event["agent"] == "writer").unwrap()["data"].clone();
    assert_eq!((&first["task"], &first["by"]), (&json!("Message from Lead (lead):\nAnd you?"), &json!("lead")));
}

/// The texts of all messages in the session files of the lead.
fn texts_of_lead(studio: &Studio) -> Vec<String> {
    let files = fs::read_dir(studio.folder.path().join("sessions")).unwrap().map(|entry| entry.unwrap());
    let of_lead = files.filter(|entry| entry.file_name().to_string_lossy().starts_with("lead."));
    let messages = of_lead.flat_map(|entry| {
        let session: Value = serde_yaml::from_str(&fs::read_to_string(entry.path()).unwrap()).unwrap();
        session["messages"].as_array().cloned().unwrap_or_default()
    });
    messages.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

fn a_plain_answer_to_a_message_reaches_its_sender_once() {
    let ask = call("send_message", json!({ "to": "Wanda", "message": "Which port?" }));
    // The sender rests, or is still at work, when the answer arrives.
    let later = call("query_tasks", json!({ "query": "SELECT * FROM tasks/*.task.md" }));
    for (turns, latency) in [(String::new(), 0.1), (format!("    - tools: [ {later} ]\n      latency: 3.0\n"), 0.1)] {
        let script = format!(
            "latency: {latency}\nagents:\n  lead:\n    - tools: [ {ask} ]\n{turns}    - text: I asked.\n    - text: Thank you very much.\n  writer:\n    - text: Redis listens on 6379.\n    - text: You are welcome.\ndefault: [ {{ text: Noted. }} ]\n",
        );
        let mut studio = studio(&script, &[(WORK, "- [ ] @human Nothing\n")]);
        studio.task("lead", "Find the port.");
        studio.idle();
        run_until_settled(&mut studio);
        studio.idle();
        let asked: Vec<String> = studio
            .all("activation")
            .iter()
            .filter(|event| event["agent"] == "writer")
            .map(|event| event["data"]["task"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(asked, ["Message from Lead (lead):\nWhich port?"], "an answer to an answer is not sent back");
        // The file of the session is written a few seconds later.
        for _ in 0..900 {
            if texts_of_lead(&studio).iter().any(|text| text.contains("Answer from")) {
                break;
            }
            studio.tick();
        }
        run_until_settled(&mut studio);
        let contents = texts_of_lead(&studio);
        let answers = contents.iter().filter(|text| text.contains("Answer from Wanda (writer):")).count();
        assert_eq!(answers, 1, "{contents:#?}");
        assert!(contents.iter().any(|text| text.contains("Redis listens on 6379.")), "{contents:#?}");
    }
}

fn only_a_planner_sees_the_sessions_of_others() {
    let script = format!(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ {} ]\n    - tools: [ {} ]\n    - text: It gets on.\n  writer:\n    - tools: [ {} ]\n    - text: I write.\n      latency: 3.0\ndefault: [ {{ text: Noted. }} ]\n",
        call("list_active_sessions", json!({})),
        call("read_session", json!({ "session": "writer" })),
        call("list_active_sessions", json!({})),
    );
    let mut studio = studio(&script, &[]);
    studio.task("writer", "Write a book.");
    studio.until("the writer is at work", |studio| !studio.all("tool_result").is_empty());
    studio.task("lead", "Look after them.");
    studio.idle();
    let results = studio.results();
    assert!(results[0].contains("there is no tool 'list_active_sessions'"), "{results:#?}");
    assert!(results[1].starts_with("writer.act-") && results[1].contains("(writer): active"), "{results:#?}");
    assert!(results[1].contains("Write a book."), "{results:#?}");
    assert!(results[2].contains("user: ") && results[2].contains("calls list_active_sessions"), "{results:#?}");
}

fn agents_in_yaml_files_work_like_others() {
    let yaml = "agent_id: clerk-001\nagent_type: executor\nsystem_prompt: |\n  You file things.\ntools:\n  - write_file\nmetadata:\n  name: Carl\n";
    let script = format!(
        "latency: 0.1\nagents:\n  clerk-001:\n    - tools: [ {}, {} ]\n    - text: Filed.\ndefault: [ {{ text: Noted. }} ]\n",
        call("write_file", json!({ "path": "artifacts/a.md", "content": "# A" })),
        call("read_file", json!({ "path": "artifacts/a.md" })),
    );
    let mut studio = studio(&script, &[("templates/clerk.agent.yaml", yaml)]);
    edit(&mut studio, WORK, "- [ ] A @clerk-001 \"File it\"\n");
    run_until_settled(&mut studio);
    assert_eq!(studio.read("artifacts/a.md"), "# A");
    assert!(
        studio.results()[1].contains("there is no tool 'read_file'. Your tools: write_file."),
        "{:#?}",
        studio.results()
    );
    assert!(studio.read(WORK).contains("  conclusion: Filed.\n"));
    // Its rights follow the current version of its file.
    edit(&mut studio, "templates/clerk.agent.yaml", &yaml.replace("write_file", "list_directory"));
    let more = studio.read(WORK) + "- [ ] @clerk-001 \"File it again\"\n";
    edit(&mut studio, WORK, &more);
    run_until_settled(&mut studio);
    assert_eq!(activations(&studio, "clerk-001"), 2);
}

fn reopening_a_finished_workspace_starts_no_work() {
    let mut studio = studio(&counting(), &[]);
    studio.task("lead", "How many chairs are there?");
    studio.idle();
    run_until_settled(&mut studio);
    let (file, calls) = (studio.read(WORK), studio.all("model_call").len());
    for _ in 0..3 {
        studio.close();
        studio.open();
        run_until_settled(&mut studio);
    }
    assert_eq!((studio.read(WORK), studio.all("model_call").len()), (file, calls));
}
