//! Sessions as files that people edit: adding messages, creating sessions and correcting earlier text; and edits by a
//! planner with a person's approval. Nothing that anybody wrote is lost.

use std::fs;

use agent_workshop::desk::CheckIns;
use agent_workshop::kernel::{Kernel, KernelCommand};
use agent_workshop::schedule::{InputQueue, RoomDate, RoomOpened};
use agent_workshop::workspace::files::FileContent;
use agent_workshop::workspace::session_files::own_checksum::is_own;
use agent_workshop::workspace::vfs::{FileCommand, FileHistory, FileOperation, RecordChanged};
use agent_workshop::workspace::{FileChanged, Problems, save_now};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::working::{Studio, asked};

pub fn trials() -> Vec<Trial> {
    cases![
        a_session_file_has_the_documented_format_and_the_current_status,
        a_message_added_by_a_person_is_answered_in_that_session,
        a_session_of_an_earlier_run_continues_from_its_file,
        a_session_file_created_by_a_person_starts_a_session,
        a_persons_edit_applies_from_the_next_model_call,
        removed_and_inserted_messages_apply_at_the_end_of_the_turn,
        nothing_is_lost_if_a_person_and_the_room_write_at_once,
        a_broken_session_file_is_reported_left_alone_and_used_once_fixed,
        a_session_without_an_agent_is_reported_until_the_agent_exists,
        unedited_sessions_are_left_alone,
        a_run_with_an_edited_session_replays,
        a_planner_edits_a_session_with_approval_and_the_old_text_is_kept,
        a_session_is_not_edited_during_a_turn,
        a_planner_checks_in_while_tasks_are_open,
        check_ins_survive_clock_changes_and_edited_or_broken_files,
    ]
}

const PLANNER: &str =
    "---\nagent_type: planner\ntools: [list_active_sessions, read_session, edit_session]\n---\nYou lead.\n";
const WRITER: &str = "---\nname: Wanda\ntools: [read_file]\n---\nYou write.\n";
const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0], behaviour: stationary }\n  - { id: writer, profile: writer, position: [90, 0], behaviour: stationary }\n";

fn studio(script: &str) -> Studio {
    studio_with(script, &[])
}

fn studio_with(script: &str, files: &[(&str, &str)]) -> Studio {
    let settings = "tasks: { planner_checkins: false }\n";
    let own = [
        ("settings.yaml", settings),
        ("scenes/test.yaml", SCENE),
        ("agents/lead.md", PLANNER),
        ("agents/writer.md", WRITER),
    ];
    let all: Vec<(&str, &str)> = own.iter().chain(files).copied().collect();
    Studio::new(script, &all)
}

fn ticks(studio: &mut Studio, count: usize) {
    (0..count).for_each(|_| studio.tick());
}

/// Returns the path of the agent's session file, the last by name if there are several.
fn path_of(studio: &Studio, agent: &str) -> String {
    let entries = fs::read_dir(studio.folder.path().join("sessions")).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut own: Vec<String> = names.filter(|name| name.starts_with(&format!("{agent}."))).collect();
    own.sort();
    format!("sessions/{}", own.last().expect("the agent has a session"))
}

fn session(studio: &Studio, path: &str) -> Value {
    serde_yaml::from_str(&studio.read(path)).unwrap_or_else(|error| panic!("{error}: {}", studio.read(path)))
}

fn contents(session: &Value) -> Vec<&str> {
    session["messages"].as_array().unwrap().iter().map(|one| one["content"].as_str().unwrap()).collect()
}

/// Saves a file as a person with an editor, while the room runs.
fn save(studio: &mut Studio, path: &str, text: &str) {
    fs::create_dir_all(studio.folder.path().join("sessions")).unwrap();
    let full = studio.folder.path().join(path);
    // The file service reports a change together with the text that the room had written.
    let ours = fs::read_to_string(&full).ok().filter(|text| is_own(text));
    fs::write(full, text).unwrap();
    let change = RecordChanged { ours, ..RecordChanged::new(path, FileContent::Text(text.to_owned())) };
    studio.world().resource_mut::<InputQueue<RecordChanged>>().push(change);
}

fn add_message(text: &str, words: &str) -> String {
    format!("{text}  - role: user\n    content: {words}\n")
}

fn count_completions(studio: &Studio, text: &str) -> usize {
    studio.all("complete").iter().filter(|end| end["data"]["text"] == text).count()
}

fn problems(studio: &mut Studio) -> String {
    let all = studio.world().resource::<Problems>();
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

const TALK: &str = "latency: 0.1\nagents:\n  writer:\n    - text: First.\n    - text: Second.\n    - text: Third.\n    - text: Fourth.\ndefault: [ { text: Noted. } ]\n";

fn a_session_file_has_the_documented_format_and_the_current_status() {
    let script = "latency: 1.0\nagents:\n  writer:\n    - tools: [ { name: read_file, arguments: { path: notes.md } } ]\n    - text: \"One line.\\nAnother.\\n\"\n    - error: { status: 400 }\n";
    let mut studio = studio_with(script, &[("notes.md", "Twelve chairs.\n")]);
    studio.task("writer", "Look.");
    studio.until("the session is written", |studio| studio.exists("sessions"));
    ticks(&mut studio, 5);
    let path = path_of(&studio, "writer");
    assert_eq!(session(&studio, &path)["status"], "active");
    studio.idle();
    ticks(&mut studio, 3);
    let text = studio.read(&path);
    let read = session(&studio, &path);
    let keys: Vec<&String> = read.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["session_id", "agent_id", "system_prompt", "created", "updated", "status", "metadata", "messages"]
    );
    assert_eq!(format!("sessions/{}.session.yaml", read["session_id"].as_str().unwrap()), path);
    assert_eq!((&read["status"], &read["system_prompt"]), (&json!("completed"), &json!("You write.")));
    let messages = read["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|one| one["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    let call = &messages[1]["tool_calls"][0];
    assert_eq!((&call["type"], &call["function"]["name"]), (&json!("function"), &json!("read_file")));
    assert_eq!(call["function"]["arguments"], json!({ "path": "notes.md" }));
    assert_eq!((&messages[2]["tool_call_id"], &messages[2]["name"]), (&call["id"], &json!("read_file")));
    assert!(
        text.contains("    content: |-\n      One line.\n      Another.\n"),
        "text of several lines is a block: {text}"
    );
    save(&mut studio, &path, &add_message(&text, "And now?"));
    ticks(&mut studio, 3);
    studio.idle();
    ticks(&mut studio, 3);
    let failed = session(&studio, &path);
    assert_eq!((&failed["status"], &failed["metadata"]["work"]), (&json!("error"), &json!("failed")));
    assert!(failed["metadata"]["why"].is_string());
}

fn a_message_added_by_a_person_is_answered_in_that_session() {
    let mut studio = studio(TALK);
    studio.task("writer", "Write.");
    studio.idle();
    ticks(&mut studio, 3);
    let path = path_of(&studio, "writer");
    let before = add_message(&studio.read(&path), "'And # then?' # mine");
    save(&mut studio, &path, &before);
    ticks(&mut studio, 3);
    studio.idle();
    ticks(&mut studio, 3);
    let read = session(&studio, &path);
    assert_eq!(contents(&read)[1..], ["First.", "And # then?", "Second."], "{}", studio.read(&path));
    assert_eq!((&read["status"], studio.all("activation").len()), (&json!("completed"), 2));
    let woken = studio.all("activation")[1]["data"].clone();
    assert_eq!((&woken["task"], &woken["by"]), (&json!("And # then?"), &json!("user")));
    // The changed file is the cause of the activation.
    let cause = studio.all("activation")[1]["cause"].clone();
    let changed = studio.all("file_change").into_iter().find(|event| event["seq"] == cause).unwrap().clone();
    assert_eq!(changed["data"]["path"], *path);
    // Earlier text is unchanged, except for the lines that the room keeps up to date.
    let after = studio.read(&path);
    let is_updated = |line: &&str| {
        [
            "updated:",
            "status:",
            "  work:",
            "  activation:",
            "  earlier:",
            "  - act-",
            "  task:",
            "  turns:",
            "  tokens:",
            "  messages:",
            "  checksum:",
        ]
        .iter()
        .any(|key| line.starts_with(key))
    };
    for line in before.lines().filter(|line| !is_updated(line)) {
        assert!(after.lines().any(|other| other == line), "{line} in {after}");
    }
    // A further message is answered; saving the same text again has no effect.
    let text = add_message(&after, "More?");
    save(&mut studio, &path, &text);
    ticks(&mut studio, 3);
    studio.idle();
    ticks(&mut studio, 3);
    assert_eq!(count_completions(&studio, "Third."), 1);
    save(&mut studio, &path, &text);
    ticks(&mut studio, 60);
    assert_eq!(studio.all("activation").len(), 3, "{:#?}", studio.log());
    assert!(studio.read(&path).contains("content: Third."), "saving an outdated text removes nothing");
    // A person stopped the work and now continues it.
    let text = add_message(&studio.read(&path), "And on?");
    save(&mut studio, &path, &text);
    studio.tick();
    studio.command(KernelCommand::KillAgent { agent: "writer".into() });
    studio.idle();
    ticks(&mut studio, 3);
    assert_eq!(session(&studio, &path)["status"], "sleeping");
    let text = add_message(&studio.read(&path), "Go on.");
    save(&mut studio, &path, &text);
    ticks(&mut studio, 3);
    studio.idle();
    assert_eq!(count_completions(&studio, "Fourth."), 1, "{:#?}", studio.log());
}

fn a_session_of_an_earlier_run_continues_from_its_file() {
    for is_forgotten in [false, true] {
        let mut studio = studio(TALK);
        studio.task("writer", "Write.");
        studio.idle();
        ticks(&mut studio, 3);
        studio.close();
        let path = path_of(&studio, "writer");
        if is_forgotten {
            fs::remove_dir_all(studio.folder.path().join(".workshop")).unwrap();
        }
        // With the line endings of another system, as some editors write them.
        let text = add_message(&studio.read(&path), "And then?").replace('\n', "\r\n");
        fs::write(studio.folder.path().join(&path), &text).unwrap();
        studio.open_with(false);
        ticks(&mut studio, 3);
        studio.idle();
        ticks(&mut studio, 3);
        let read = session(&studio, &path);
        assert_eq!(contents(&read).len(), 4, "{}", studio.read(&path));
        assert_eq!(contents(&read)[2], "And then?");
        assert!(contents(&read)[0].contains("Write."), "the session has its context");
        let ends = studio.read(&path);
        assert_eq!(ends.matches("\r\n").count(), ends.matches('\n').count());
        assert_eq!(read["metadata"]["earlier"].as_array().map(Vec::len), Some(1), "{read}");
        assert_eq!(fs::read_dir(studio.folder.path().join("sessions")).unwrap().count(), 1);
    }
}

fn a_session_file_created_by_a_person_starts_a_session() {
    let own = "# Mine\nsession_id: planner-001-abc123\nagent_id: writer\nsystem_prompt: |\n  You are you.\nstatus: active\nmessages:\n- role: user\n  content: Hello?\nmetadata: { mood: good }\n";
    let mut studio = studio(TALK);
    let path = "sessions/planner-001-abc123.session.yaml";
    save(&mut studio, path, own);
    ticks(&mut studio, 3);
    let id = studio.world().resource::<Kernel>().threads().map(|(key, _)| key).next().expect("the session has started");
    assert_eq!(studio.world().resource::<Kernel>().session_id(id).as_deref(), Some("planner-001-abc123"));
    studio.idle();
    ticks(&mut studio, 3);
    let text = studio.read(path);
    assert!(
        text.starts_with(
            "# Mine\nsession_id: planner-001-abc123\nagent_id: writer\nsystem_prompt: |\n  You are you.\n"
        )
    );
    assert!(text.contains("- role: user\n  content: Hello?\n") && text.contains("mood: good"), "{text}");
    let read = session(&studio, path);
    assert_eq!((contents(&read), &read["status"]), (vec!["Hello?", "First."], &json!("completed")));
    // Created while the room is closed, for an agent that exists only as a profile.
    studio.close();
    fs::write(studio.folder.path().join("agents/cook.md"), "---\nname: Carl\ntools: []\n---\nYou cook.\n").unwrap();
    let other = "agent_id: cook\nmessages:\n  - role: user\n    content: Hungry.\n";
    fs::write(studio.folder.path().join("sessions/kitchen.session.yaml"), other).unwrap();
    studio.open();
    ticks(&mut studio, 3);
    studio.idle();
    ticks(&mut studio, 3);
    assert_eq!(contents(&session(&studio, "sessions/kitchen.session.yaml")), ["Hungry.", "Noted."]);
    let text = studio.read(path);
    let more = text.replace("\nmetadata:", "\n- role: user\n  content: Once more?\nmetadata:");
    assert_ne!(more, text);
    save(&mut studio, path, &more);
    ticks(&mut studio, 3);
    studio.idle();
    ticks(&mut studio, 3);
    assert_eq!(contents(&session(&studio, path)), ["Hello?", "First.", "Once more?", "First."]);
}

fn a_persons_edit_applies_from_the_next_model_call() {
    let script = "latency: 1.0\nagents:\n  writer:\n    - tools: [ { name: read_file, arguments: { path: notes.md } } ]\ndefault: [ { text: Noted. } ]\n";
    let mut studio = studio_with(script, &[("notes.md", "red chairs\n")]);
    studio.task("writer", "Which?");
    studio.until("the session is written", |studio| studio.exists("sessions"));
    ticks(&mut studio, 6);
    let path = path_of(&studio, "writer");
    let text = studio.read(&path).replace("Which?", "Which? Say blue.");
    // During a model call: the edit is part of the next request.
    save(&mut studio, &path, &text);
    studio.until("the file was read", |studio| !studio.results().is_empty());
    let one =
        studio.world().resource::<Kernel>().activations().next().expect("the work continues").messages[0].text.clone();
    assert!(one.contains("Say blue."), "{one}");
    studio.idle();
    ticks(&mut studio, 3);
    let read = session(&studio, &path);
    assert!(contents(&read)[0].contains("Say blue.") && contents(&read).len() == 4, "{}", studio.read(&path));
    assert_eq!(studio.all("activation").len(), 1);
}

fn removed_and_inserted_messages_apply_at_the_end_of_the_turn() {
    let script = "latency: 2.0\nagents:\n  writer:\n    - text: First.\n      latency: 0.1\n    - text: Second.\n    - text: Third.\n";
    let mut studio = studio(script);
    studio.task("writer", "Write.");
    studio.idle();
    ticks(&mut studio, 3);
    let path = path_of(&studio, "writer");
    // A message whose answer is removed is answered again.
    let text = studio.read(&path);
    let (before, _) = text
        .split_once("  - timestamp: ")
        .map(|(head, rest)| {
            let (first, rest) = rest.split_once("  - timestamp: ").unwrap();
            (format!("{head}  - timestamp: {first}"), rest)
        })
        .unwrap();
    save(&mut studio, &path, &before);
    ticks(&mut studio, 20);
    let now = session(&studio, &path);
    assert_eq!((contents(&now).len(), &now["status"]), (1, &json!("active")));
    // During that turn, another message is inserted before it.
    let put_in =
        studio.read(&path).replacen("messages:\n  -", "messages:\n  - role: user\n    content: Be brief.\n  -", 1);
    save(&mut studio, &path, &put_in);
    ticks(&mut studio, 10);
    assert_eq!(studio.read(&path), put_in, "the edit waits, and the file is not changed");
    studio.idle();
    ticks(&mut studio, 30);
    let read = session(&studio, &path);
    assert_eq!(contents(&read).len(), 3, "{}\n{:#?}", studio.read(&path), studio.log());
    assert_eq!((contents(&read)[0], contents(&read)[2]), ("Be brief.", "Second."));
    assert!(!studio.exists(&path.replace(".session.yaml", ".room-copy.yaml")), "the copy is merged and removed");
}

fn nothing_is_lost_if_a_person_and_the_room_write_at_once() {
    for delay in [0, 3, 10, 25, 40, 70] {
        let script = "latency: 1.0\nagents:\n  writer:\n    - tools: [ { name: read_file, arguments: { path: a.md } } ]\n    - text: First.\n    - text: Second.\n    - text: Third.\n";
        let mut studio = studio_with(script, &[("a.md", "x\n")]);
        studio.task("writer", "Write.");
        studio.until("the session is written", |studio| studio.exists("sessions"));
        ticks(&mut studio, 3);
        let path = path_of(&studio, "writer");
        // The editor shows an old text while the room continues to write.
        let old = studio.read(&path);
        ticks(&mut studio, delay);
        save(&mut studio, &path, &add_message(&old, "Mind the gap."));
        ticks(&mut studio, 3);
        studio.idle();
        ticks(&mut studio, 12);
        let text = studio.read(&path);
        let read = session(&studio, &path);
        let all = contents(&read);
        assert_eq!(all.iter().filter(|one| **one == "Mind the gap.").count(), 1, "{delay}: {text}");
        assert!(all[0].contains("Write.") && all.contains(&"First."), "{delay}: {text}");
        let roles: Vec<&str> =
            read["messages"].as_array().unwrap().iter().map(|one| one["role"].as_str().unwrap()).collect();
        assert_eq!(roles.last(), Some(&"assistant"), "{delay}: {text}");
        let called = roles.iter().position(|role| *role == "tool").unwrap();
        assert_eq!(roles[called - 1], "assistant", "{delay}: a result follows its call: {text}");
        assert_eq!(read["metadata"]["messages"], all.len());
    }
}

fn a_broken_session_file_is_reported_left_alone_and_used_once_fixed() {
    let script =
        "latency: 1.0\nagents:\n  writer:\n    - text: First.\n    - text: Second.\n  lead: [ { text: Fine. } ]\n";
    let mut studio = studio(script);
    studio.task("writer", "Write.");
    studio.until("the session is written", |studio| studio.exists("sessions"));
    ticks(&mut studio, 3);
    let path = path_of(&studio, "writer");
    let broken = add_message(&studio.read(&path), "\"half a quote");
    save(&mut studio, &path, &broken);
    studio.task("lead", "Lead.");
    studio.idle();
    ticks(&mut studio, 3);
    let problems_text = problems(&mut studio);
    assert!(
        problems_text.contains(&path)
            && problems_text.contains("invalid YAML")
            && problems_text.contains("room-copy.yaml"),
        "{problems_text}"
    );
    assert_eq!(studio.read(&path), broken, "the broken file is not changed");
    let copy = path.replace(".session.yaml", ".room-copy.yaml");
    assert!(studio.read(&copy).contains("content: First."), "messages of the meantime are not lost");
    assert_eq!(session(&studio, &path_of(&studio, "lead"))["status"], "completed", "other sessions continue");
    let mended = broken.replace("\"half a quote", "A whole one");
    save(&mut studio, &path, &mended);
    ticks(&mut studio, 3);
    studio.idle();
    ticks(&mut studio, 3);
    let read = session(&studio, &path);
    assert_eq!(contents(&read).last(), Some(&"Second."), "{}", studio.read(&path));
    assert!(contents(&read).contains(&"A whole one"), "{}", studio.read(&path));
    assert_eq!(problems(&mut studio), "");
    for (text, words) in [
        ("<<<<<<< mine\nagent_id: writer\n", "invalid YAML"),
        ("agent_id: writer\nmessages:\n  - content: x\n", "odd.session.yaml:3: message 1 has an unknown role"),
        ("\0\u{1}", "invalid YAML"),
    ] {
        save(&mut studio, "sessions/odd.session.yaml", text);
        ticks(&mut studio, 3);
        assert!(problems(&mut studio).contains(words), "{words} in {}", problems(&mut studio));
        assert_eq!(studio.read("sessions/odd.session.yaml"), text);
    }
    let removal = RecordChanged::new("sessions/odd.session.yaml", FileContent::Removed);
    studio.world().resource_mut::<InputQueue<RecordChanged>>().push(removal);
    ticks(&mut studio, 2);
    assert_eq!(problems(&mut studio), "");
}

fn a_session_without_an_agent_is_reported_until_the_agent_exists() {
    let mut studio = studio(TALK);
    let path = "sessions/talk.session.yaml";
    save(&mut studio, path, "agent_id: cook\nmessages:\n  - role: user\n    content: Hungry.\n");
    ticks(&mut studio, 20);
    assert!(problems(&mut studio).contains("there is no agent \"cook\""), "{}", problems(&mut studio));
    let profile = FileChanged::new("agents/cook.md", FileContent::Text("You cook.\n".into()));
    studio.world().resource_mut::<InputQueue<FileChanged>>().push(profile);
    ticks(&mut studio, 20);
    studio.idle();
    ticks(&mut studio, 3);
    assert_eq!(contents(&session(&studio, path)), ["Hungry.", "Noted."]);
    assert_eq!(problems(&mut studio), "");
    let wrong = studio.read(path).replace("agent_id: cook", "agent_id: writer") + "  - role: user\n    content: x\n";
    save(&mut studio, path, &wrong);
    ticks(&mut studio, 3);
    studio.idle();
    assert_eq!(
        count_completions(&studio, "First."),
        1,
        "a finished session continues with the agent that its file names"
    );
}

fn unedited_sessions_are_left_alone() {
    let mut studio = studio(TALK);
    studio.task("writer", "Write.");
    studio.idle();
    ticks(&mut studio, 3);
    let path = path_of(&studio, "writer");
    let text = studio.read(&path);
    let older = "activation: act-3\nagent: writer\nscene: scenes/test.yaml\nstatus: completed\ntask: x\nmessages:\n- by: room\n  text: Write\n";
    fs::write(studio.folder.path().join("sessions/writer.act-3.session.yaml"), older).unwrap();
    for is_forgotten in [false, true] {
        studio.close();
        if is_forgotten {
            fs::remove_dir_all(studio.folder.path().join(".workshop")).unwrap();
        }
        studio.open();
        ticks(&mut studio, 10);
        assert!(studio.world().resource::<Kernel>().is_idle());
    }
    assert_eq!((studio.read(&path), studio.all("activation").len()), (text, 1));
    assert_eq!(studio.read("sessions/writer.act-3.session.yaml"), older);
}

fn a_run_with_an_edited_session_replays() {
    let mut studio = studio(TALK);
    studio.task("writer", "Write.");
    studio.idle();
    ticks(&mut studio, 3);
    let path = path_of(&studio, "writer");
    let text = add_message(&studio.read(&path), "And then?");
    save(&mut studio, &path, &text);
    ticks(&mut studio, 3);
    studio.idle();
    ticks(&mut studio, 320);
    let run = studio.room.as_ref().unwrap().run.clone();
    studio.close();
    crate::cli::succeed(studio.folder.path(), &["replay", ".", &run, "--verify"]);
}

fn edit_script(studio: &str, arguments: Value) -> String {
    format!(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ {{ name: edit_session, arguments: {arguments} }} ]\n    - text: Done.\n    - tools: [ {{ name: edit_session, arguments: {arguments} }} ]\n    - text: Done.\n{studio}"
    )
}

fn a_planner_edits_a_session_with_approval_and_the_old_text_is_kept() {
    let content = "agent_id: writer\nmessages:\n  - role: user\n    content: Begin anew, in verse.\n";
    let writer = "  writer:\n    - text: Prose.\n    - text: Verse.\ndefault: [ { text: Noted. } ]\n";
    let mut studio = studio(&edit_script(writer, json!({ "session": "writer", "content": content })));
    // A session that others may wake is kept, because its key is still in use.
    studio.task("writer", "Write.");
    let thread = studio.world().resource::<Kernel>().threads().next().unwrap().0;
    let keep = agent_workshop::kernel::WorkOrder::Keep { thread };
    studio.world().write_message(keep);
    studio.idle();
    ticks(&mut studio, 3);
    let path = path_of(&studio, "writer");
    let old = studio.read(&path);
    assert_eq!(session(&studio, &path)["status"], "sleeping", "{old}");
    studio.task("lead", "Mend it.");
    let (activation, turn, call) = asked(&mut studio);
    let approval = studio.world().resource::<Kernel>().approvals().next().unwrap();
    assert!(approval.what.contains("replace the content of the session writer"), "{}", approval.what);
    assert!(approval.for_task.is_none() && approval.always.is_empty(), "only this call can be allowed");
    assert_eq!(studio.read(&path), old, "nothing is changed before the approval");
    studio.command(KernelCommand::decide(activation, turn, call, true));
    studio.idle();
    ticks(&mut studio, 6);
    let read = session(&studio, &path);
    assert_eq!(contents(&read), ["Begin anew, in verse.", "Verse."], "{}", studio.read(&path));
    let results = studio.results();
    assert!(results[0].contains("now has 1 message.") && results[0].contains("kept as version 1"), "{results:#?}");
    let history = FileHistory::open(studio.folder.path(), &studio.folder.path().join(".workshop")).unwrap();
    assert_eq!(history.text(&path, 1).unwrap().as_deref(), Some(old.as_str()));
    drop(history);
    // A person restores the old version; the planner's text becomes a version, too.
    let back = FileOperation::Restore { path: path.clone(), version: 1 };
    studio.world().resource_mut::<InputQueue<FileCommand>>().push(FileCommand { key: "back".into(), operation: back });
    ticks(&mut studio, 12);
    assert_eq!(contents(&session(&studio, &path))[1..], ["Prose."], "{}", studio.read(&path));
    let thread = studio.world().resource::<Kernel>().thread(thread).unwrap();
    assert_eq!(thread.messages.last().map(|one| one.text.as_str()), Some("Prose."));
    let history = FileHistory::open(studio.folder.path(), &studio.folder.path().join(".workshop")).unwrap();
    assert!(history.text(&path, 2).unwrap().is_some_and(|text| text.contains("Verse.")));
    drop(history);
    // The next call needs another approval; a refused call is not made.
    studio.task("lead", "Mend it again.");
    let (activation, turn, call) = asked(&mut studio);
    studio.command(KernelCommand::decide(activation, turn, call, false));
    studio.idle();
    assert_eq!(contents(&session(&studio, &path))[1..], ["Prose."]);
}

fn a_session_is_not_edited_during_a_turn() {
    let writer = "  writer:\n    - text: Prose.\n      latency: 4.0\n    - text: Verse.\n";
    let mut studio = studio(&edit_script(writer, json!({ "session": "writer", "guidance": "In verse." })));
    studio.task("writer", "Write.");
    ticks(&mut studio, 10);
    studio.task("lead", "Guide her.");
    let (activation, turn, call) = asked(&mut studio);
    studio.command(KernelCommand::decide(activation, turn, call, true));
    studio.until("the call has a result", |studio| !studio.results().is_empty());
    let result = studio.results()[0].clone();
    assert!(result.contains("a turn of writer.act-") && result.contains("try again when it is over"), "{result}");
    studio.idle();
    assert_eq!(count_completions(&studio, "Verse."), 0);
}

/// Advances the room's clock by this many seconds at once.
fn advance_clock(studio: &mut Studio, secs: i64) {
    let date = *studio.world().resource::<RoomDate>();
    let now = date.secs(studio.world().resource()).unwrap();
    studio.world().resource_mut::<InputQueue<RoomOpened>>().push(RoomOpened { local_secs: now + secs });
    ticks(studio, 62);
}

const CHECK_IN: &str = "storage/planner-checkin.yaml";

/// Saves the room's files. Returns the text of the check-in file.
fn check_in_file(studio: &mut Studio) -> String {
    assert_eq!(save_now(studio.world()), []);
    studio.read(CHECK_IN)
}

fn count_check_ins(studio: &Studio) -> usize {
    let is_check_in = |event: &&Value| event["data"]["by"] == "check-in";
    studio.all("activation").iter().copied().filter(is_check_in).count()
}

fn check_in_studio() -> Studio {
    let script = "latency: 0.1\nagents:\n  writer: [ { text: Hm., latency: 3000 } ]\ndefault: [ { text: Noted. } ]\n";
    studio_with(script, &[("settings.yaml", "")])
}

fn a_planner_checks_in_while_tasks_are_open() {
    let mut studio = check_in_studio();
    ticks(&mut studio, 40);
    let check_in: Value = serde_yaml::from_str(&check_in_file(&mut studio)).unwrap();
    assert_eq!((&check_in["interval_seconds"], &check_in["checkin_count"]), (&json!(60), &json!(0)));
    assert!(check_in["last_checkin"].as_str().unwrap().starts_with("20") && check_in["last_reason"].is_string());
    // Without open tasks there is no check-in, and the file does not change.
    let text = check_in_file(&mut studio);
    advance_clock(&mut studio, 10_000);
    assert_eq!(check_in_file(&mut studio), text);
    assert_eq!(studio.all("model_call").len(), 0);
    fs::create_dir_all(studio.folder.path().join("tasks")).unwrap();
    let task = FileChanged::new("tasks/work.task.md", FileContent::Text("- [ ] @human Decide\n".into()));
    studio.world().resource_mut::<InputQueue<FileChanged>>().push(task);
    ticks(&mut studio, 40);
    assert_eq!(count_check_ins(&studio), 0, "the interval has just started");
    advance_clock(&mut studio, 65);
    assert_eq!(count_check_ins(&studio), 1, "{:#?}", studio.log());
    studio.idle();
    ticks(&mut studio, 40);
    let check_in: Value = serde_yaml::from_str(&check_in_file(&mut studio)).unwrap();
    assert_eq!(check_in["checkin_count"], 1);
    assert!(
        check_in["last_reason"].as_str().unwrap().ends_with("s since last check-in (threshold: 60s)"),
        "{check_in}"
    );
    let path = format!("sessions/{}", check_in["planner_session"].as_str().unwrap());
    let read = session(&studio, &path);
    assert_eq!(read["agent_type"], "planner");
    assert!(contents(&read)[0].contains("Check-in with running agents to ensure progress"), "{read}");
    assert!(contents(&read)[0].contains("Check-in 1: ") && contents(&read)[0].contains("1 open task."), "{read}");
    // The next check-in is in the same session; a person changes the interval and adds a comment.
    let own = check_in_file(&mut studio).replace("interval_seconds: 60", "interval_seconds: 200 # seldom\nteam: red");
    fs::write(studio.folder.path().join(CHECK_IN), &own).unwrap();
    let change = FileChanged::new(CHECK_IN, FileContent::Text(own));
    studio.world().resource_mut::<InputQueue<FileChanged>>().push(change);
    advance_clock(&mut studio, 100);
    assert_eq!(count_check_ins(&studio), 1);
    advance_clock(&mut studio, 110);
    assert_eq!(count_check_ins(&studio), 2, "{}", check_in_file(&mut studio));
    studio.idle();
    ticks(&mut studio, 40);
    assert_eq!(contents(&session(&studio, &path)).len(), 4);
    let text = check_in_file(&mut studio);
    assert!(
        text.contains("interval_seconds: 200 # seldom\nteam: red\n") && text.contains("checkin_count: 2\n"),
        "{text}"
    );
    let status = session(&studio, &path)["status"].clone();
    assert_eq!(status, "sleeping");
    let done = FileChanged::new("tasks/work.task.md", FileContent::Text("- [x] @human Decide\n".into()));
    studio.world().resource_mut::<InputQueue<FileChanged>>().push(done);
    advance_clock(&mut studio, 1_000);
    ticks(&mut studio, 10);
    assert_eq!((count_check_ins(&studio), &session(&studio, &path)["status"]), (2, &json!("completed")));
}

fn check_ins_survive_clock_changes_and_edited_or_broken_files() {
    let mut studio = check_in_studio();
    studio.task("writer", "Write.");
    ticks(&mut studio, 40);
    advance_clock(&mut studio, 61);
    assert_eq!(count_check_ins(&studio), 1, "{:#?}", studio.log());
    // The clock is set back: the interval starts over.
    advance_clock(&mut studio, -5_000);
    assert!(check_in_file(&mut studio).contains("the clock was set back"), "{}", check_in_file(&mut studio));
    assert_eq!(count_check_ins(&studio), 1);
    advance_clock(&mut studio, 61);
    assert_eq!(count_check_ins(&studio), 2);
    // The file is deleted: the counter starts over.
    check_in_file(&mut studio);
    fs::remove_file(studio.folder.path().join(CHECK_IN)).unwrap();
    studio.world().resource_mut::<InputQueue<FileChanged>>().push(FileChanged::new(CHECK_IN, FileContent::Removed));
    ticks(&mut studio, 62);
    assert!(check_in_file(&mut studio).contains("checkin_count: 0\n"), "{}", check_in_file(&mut studio));
    // The session does not exist: another is used, and the file names it.
    let own = check_in_file(&mut studio).replace("planner_session:", "planner_session: gone.session.yaml #");
    fs::write(studio.folder.path().join(CHECK_IN), &own).unwrap();
    studio.world().resource_mut::<InputQueue<FileChanged>>().push(FileChanged::new(CHECK_IN, FileContent::Text(own)));
    advance_clock(&mut studio, 61);
    studio.tick();
    let text = check_in_file(&mut studio);
    assert!(text.contains("planner_session: lead.act-") && text.contains("checkin_count: 1\n"), "{text}");
    // A file that cannot be read is reported and left alone.
    let broken = "interval_seconds: [60\n";
    fs::write(studio.folder.path().join(CHECK_IN), broken).unwrap();
    studio
        .world()
        .resource_mut::<InputQueue<FileChanged>>()
        .push(FileChanged::new(CHECK_IN, FileContent::Text(broken.into())));
    advance_clock(&mut studio, 500);
    assert!(problems(&mut studio).contains("storage/planner-checkin.yaml"), "{}", problems(&mut studio));
    assert_eq!(check_in_file(&mut studio), broken);
    assert_eq!(count_check_ins(&studio), 3);
    assert!(!studio.world().resource::<CheckIns>().is_asking());
    // Without a planner, there is no check-in.
    let mut alone = Studio::new(TALK, &[("agents/lead.md", "You lead.\n")]);
    ticks(&mut alone, 70);
    assert!(!alone.exists("storage"));
    assert!(!problems(&mut alone).contains(CHECK_IN));
    // A file that expects one is reported, with all that is wrong with it.
    let planned = [
        ("agents/lead.md", "You lead.\n"),
        (CHECK_IN, "interval_seconds: often\n"),
        ("tasks/plan.task.md", "- [ ] @human Water the plants\n"),
    ];
    let mut expecting = Studio::new(TALK, &planned);
    ticks(&mut expecting, 70);
    let told = problems(&mut expecting);
    assert!(told.contains("interval_seconds is") && told.contains("nobody checks in"), "{told}");
    assert_eq!(count_check_ins(&expecting), 0);
}
