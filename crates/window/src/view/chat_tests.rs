//! Tests of converting messages to chat lines.

use std::collections::VecDeque;

use serde_json::json;

use super::*;
use crate::base::Seq;
use crate::kernel::session::{SessionAbout, SessionWork};
use crate::kernel::{Ending, NewWork, Origin, session};

fn activation(messages: Vec<PromptMessage>) -> Activation {
    Activation {
        key: ActivationKey::numbered(12),
        agent: "ada-1".into(),
        profile: "ada".into(),
        agent_key: None,
        input: "Write the plan".to_owned(),
        origin: Origin::Person,
        thread: ActivationKey::numbered(12),
        priority: 0,
        queued_tick: 0,
        cause: Seq(12),
        phase: Phase::Due,
        has_slot: true,
        activity: None,
        messages,
        turn: 2,
        strikes: 0,
        failures: 0,
        not_before: 0,
        cap_hold: None,
        is_held: false,
        outcomes: Vec::new(),
        cuts: 0,
        unfinished: String::new(),
        session_chars_at_most: None,
        sent_chars_at_most: 0,
        booked: (0, 0),
        refused_lengths: 0,
        sends_images: false,
        is_without_images: false,
        mail: VecDeque::new(),
        last_signal: None,
        outputs: Vec::new(),
        proposed: None,
        unmerged: Vec::new(),
        told: String::new(),
        is_unwritten: false,
        written_tick: 0,
        written_bytes: 0,
    }
}

fn read_call() -> ToolCall {
    ToolCall::new("c1", "vfs_read", json!({ "path": "artifacts/spec.md" }))
}

fn write_call() -> ToolCall {
    ToolCall::new("c2", "vfs_write", json!({ "path": "artifacts/plan.md", "content": "# Plan\nTea: \"hot\"" }))
}

fn exchange() -> Vec<PromptMessage> {
    vec![
        PromptMessage::plain(Role::User, "Write the plan"),
        PromptMessage::calls("I look at the **specification**.", vec![read_call(), write_call()]),
        PromptMessage::result(&read_call(), "x".repeat(1_247)),
        PromptMessage::result(&write_call(), "Error: 'artifacts/plan.md' may not be written"),
        PromptMessage::plain(Role::Assistant, "Done: ✓"),
    ]
}

fn headings(lines: &[ChatLine]) -> Vec<String> {
    let told = lines.iter().map(|line| match line {
        ChatLine::Room(text) => format!("room: {text}"),
        ChatLine::Thought(text) => format!("thought: {text}"),
        ChatLine::Agent(text) => format!("agent: {text}"),
        ChatLine::Tool(tool) => tool.heading(),
    });
    told.collect()
}

#[test]
fn the_outcome_of_a_call_is_not_guessed_from_its_text() {
    let told = |text: &str, end| {
        let messages =
            [PromptMessage::calls("", vec![read_call()]), PromptMessage::result(&read_call(), text).ended(end)];
        headings(&lines(&messages, |_| None, &[])).remove(0)
    };
    assert!(told("Errors are listed below.", Some(CallEnd::Done)).ends_with("(24 characters)"));
    assert!(told("It may not be read.", Some(CallEnd::NotDone)).ends_with("(not done)"));
    assert!(told("It stood there already.", Some(CallEnd::Otherwise)).ends_with("(done differently)"));
}

#[test]
fn every_call_is_shown_with_its_answer() {
    let wanted = [
        "room: Write the plan",
        "agent: I look at the **specification**.",
        "[vfs_read] artifacts/spec.md (1,247 characters)",
        "[vfs_write] artifacts/plan.md (not done)",
        "agent: Done: ✓",
    ];
    assert_eq!(headings(&lines(&exchange(), |_| None, &[])), wanted);
}

#[test]
fn thoughts_come_before_answers() {
    let told = |number| (number == 1 || number == 4).then_some(if number == 1 { "Where is it?" } else { " " });
    let lines = headings(&lines(&exchange(), told, &[]));
    assert_eq!(lines[1..3], ["thought: Where is it?", "agent: I look at the **specification**."]);
    assert_eq!(lines.len(), 6, "thoughts of nothing are none: {lines:?}");
}

#[test]
fn a_saved_session_reads_like_the_live_one() {
    let ending = Ending::Completed { text: "Done: ✓".to_owned() };
    let about = SessionAbout { scene: "scenes/s.yaml", ..SessionAbout::default() };
    let work = activation(exchange());
    let yaml = session::to_yaml(&about, &SessionWork::of(&work, None, Some(&ending), false), None);
    let read = parse_session(&yaml).unwrap();
    assert_eq!(read.lines, lines(&exchange(), |_| None, &[]));
    assert_eq!((read.activation.as_str(), read.agent.as_str(), read.status.as_str()), ("act-12", "ada-1", "completed"));
    assert_eq!((read.task.as_str(), read.started_by.as_str(), read.turns), ("Write the plan", "user", 2));
    let failed = Ending::Failed { why: "no answer: \"429\"".to_owned() };
    let work = activation(Vec::new());
    let yaml = session::to_yaml(&about, &SessionWork::of(&work, None, Some(&failed), false), None);
    let read = parse_session(&yaml).unwrap();
    assert_eq!((read.status.as_str(), read.why.as_str(), read.lines.len()), ("failed", "no answer: \"429\"", 0));
}

#[test]
fn a_session_of_an_older_version_and_one_that_a_person_began_are_shown() {
    let older = "activation: act-3\nagent: ada\nstatus: completed\nturns: 1\nmessages:\n- by: room\n  text: Write\n\
                 - by: agent\n  calls:\n  - id: c1\n    tool: vfs_read\n    arguments:\n      path: a.md\n- by: tool\n  \
                 text: abc\n  answers: c1\n";
    let read = parse_session(older).unwrap();
    assert_eq!(headings(&read.lines), ["room: Write", "[vfs_read] a.md (3 characters)"]);
    let own = "session_id: talk\nagent_id: ada\nstatus: active\nmessages:\n  - role: user\n    content: Hello\n";
    let read = parse_session(own).unwrap();
    assert_eq!((read.session_id.as_str(), read.activation.as_str(), read.status.as_str()), ("talk", "", "active"));
    assert_eq!(headings(&read.lines), ["room: Hello"]);
    let broken = parse_session("session_id: talk\nagent_id: ada\nmessages:\n  - content: Hello\n").unwrap_err();
    assert!(broken.contains("line 4") && broken.contains("unknown role"), "{broken}");
}

#[test]
fn an_invalid_session_file_is_explained() {
    for text in ["", "[1, 2", "activation: act-1", "\u{0}\u{1}", "just words"] {
        let error = parse_session(text).unwrap_err();
        assert!(error.starts_with("The session file could not be read"), "{text:?}: {error}");
    }
    assert!(parse_session(&"#".repeat(MAX_FILE_BYTES + 1)).unwrap_err().contains("too long"));
}

#[test]
fn calls_without_answers_and_answers_without_calls_are_shown() {
    let messages = vec![
        PromptMessage::result(&ToolCall::new("c9", "gone", json!({})), "old"),
        PromptMessage::calls("", vec![read_call(), ToolCall::new("c3", "vfs_list", json!("no object"))]),
    ];
    let wanted = ["[a tool] c9 (3 characters)", "[vfs_read] artifacts/spec.md (no answer)", "[vfs_list] (no answer)"];
    assert_eq!(headings(&lines(&messages, |_| None, &[])), wanted);
}

#[test]
fn running_calls_show_their_progress() {
    let call = |call: ToolCall, progress| Call {
        call,
        progress,
        is_allowed: false,
        record: None,
        has_changed: false,
        interrupted_in: None,
        question: None,
        order: None,
        plan: None,
        code: None,
        is_code_current: false,
        looks: 0,
        sampling: None,
        attached: None,
        end: None,
        within: None,
    };
    let messages = vec![PromptMessage::calls("", vec![read_call(), write_call(), read_call()])];
    let calls = [
        call(read_call(), CallProgress::Answered("ä".to_owned())),
        call(write_call(), CallProgress::Asked("safe".to_owned())),
        call(read_call(), CallProgress::Pending),
    ];
    let wanted = [
        "[vfs_read] artifacts/spec.md (1 character)",
        "[vfs_write] artifacts/plan.md (needs you)",
        "[vfs_read] artifacts/spec.md (waits)",
    ];
    assert_eq!(headings(&lines(&messages, |_| None, &calls)), wanted);
}

#[test]
fn a_call_id_can_be_reused_in_a_later_turn() {
    let again = ToolCall::new("c1", "vfs_read", json!({ "path": "b.md" }));
    let messages = vec![
        PromptMessage::calls("", vec![read_call()]),
        PromptMessage::calls("", vec![again.clone()]),
        PromptMessage::result(&again, "four"),
    ];
    let wanted = ["[vfs_read] artifacts/spec.md (no answer)", "[vfs_read] b.md (4 characters)"];
    assert_eq!(headings(&lines(&messages, |_| None, &[])), wanted);
}

#[test]
fn long_results_are_truncated_but_counted_in_full() {
    let messages = [
        PromptMessage::calls(
            "ü".repeat(100_000),
            vec![ToolCall::new(
                "c1",
                "vfs_write",
                json!({ "path": "p/".repeat(5_000), "content": "y".repeat(500_000) }),
            )],
        ),
        PromptMessage::result(&read_call(), "z".repeat(2_000_000)),
    ];
    let lines = lines(&messages, |_| None, &[]);
    let [ChatLine::Agent(said), ChatLine::Tool(tool)] = lines.as_slice() else { panic!("{} lines", lines.len()) };
    assert_eq!(said.chars().count(), 100_000, "an answer is whole");
    assert!(tool.arguments.chars().count() <= TOOL_CHARS && tool.about.chars().count() <= ABOUT_CHARS);
    let ToolLineOutcome::Answered { text, chars, .. } = &tool.outcome else { panic!("it was answered") };
    assert_eq!((text.chars().count(), *chars), (TOOL_CHARS, 2_000_000));
    assert!(tool.heading().ends_with("(2,000,000 characters)"));
}

#[test]
fn lines_are_rebuilt_only_after_new_messages() {
    let mut world = World::new();
    world.init_resource::<Kernel>();
    world.init_resource::<LiveText>();
    world.init_resource::<RequestQueue>();
    let said = vec![PromptMessage::plain(Role::Assistant, "Noted.")];
    let entity = world.spawn(Session { messages: said, ..Session::default() }).id();
    let (mut chats, ada) = (Chats::default(), Id::from("ada-1"));
    let read = |world: &World, chats: &mut Chats| chats.read(world, world.entity(entity), &ada);
    let first = read(&world, &mut chats);
    assert_eq!((first.work.is_none(), headings(&first.lines)), (true, vec!["agent: Noted.".to_owned()]));
    assert!(Arc::ptr_eq(&first.lines, &read(&world, &mut chats).lines));
    world.increment_change_tick();
    let more = PromptMessage::plain(Role::Assistant, "And more.");
    world.get_mut::<Session>(entity).expect("it was spawned").messages.push(more);
    assert_eq!(read(&world, &mut chats).lines.len(), 2);
    let work = |key, input: &str| NewWork {
        key: ActivationKey::numbered(key),
        agent: "ada-1".into(),
        profile: "ada".into(),
        file_name: "ada.md".into(),
        input: input.to_owned(),
        priority: 0,
        now: 0,
        cause: Seq(key),
    };
    let mut kernel = world.resource_mut::<Kernel>();
    kernel.start(work(12, "Write the plan"));
    kernel.start(work(13, "Then rest"));
    let chat = read(&world, &mut chats);
    let facts = chat.work.expect("it has work");
    assert_eq!(
        (facts.activation, &*facts.task, facts.stage),
        (ActivationKey::numbered(12), "Write the plan", "queued")
    );
    assert!(chats.read(&world, world.entity(entity), &"bram-1".into()).work.is_none());
    chats.retain(&BTreeSet::new());
    assert!(chats.0.is_empty(), "nobody is looked at");
}
