//! UI tests of agents: chats, past work and prompts; and of the readers of an element.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::base::{ActivationKey, Id, Seq};
use crate::kernel::KernelCommand;
use crate::log::events::{Activation, Complete, ModelCall};
use crate::log::{EventData, EventDraft, EventRecord};
use crate::mind::Prompt;
use crate::mind::{PromptMessage, PromptOrigin, PromptPart, Role, ToolCall};
use crate::ui::state::file_texts::FileTextRequest;
use crate::view::chat::{ChatView, LiveAnswer, WorkFacts, lines};
use crate::view::model::{AgentDetail, ElementReaders, KnownElement, ProfileFacts, ReaderView};
use crate::view::work::QuestionView;

fn record(seq: u64, event: &impl EventData) -> EventRecord {
    let draft = EventDraft::of(event).agent(&"ada-1".into()).activation(&"act-1".into());
    EventRecord { seq: Seq(seq), tick: seq, time_ms: 0, run: "r".into(), draft }
}

fn detail(window: &mut Harness<'static, PaneHarness>, change: impl FnOnce(&mut AgentDetail)) {
    let mut detail = (**window.state().room.agents[0].detail.as_ref().unwrap()).clone();
    change(&mut detail);
    window.state_mut().room.agents[0].detail = Some(detail.into());
    window.run_steps(3);
}

fn is_shown(window: &Harness<'static, PaneHarness>, label: &str) -> bool {
    window.query_all_by_label(label).next().is_some()
}

fn exchange() -> Vec<PromptMessage> {
    let read = ToolCall::new("c1", "vfs_read", json!({ "path": "artifacts/spec.md" }));
    vec![
        PromptMessage::plain(Role::User, "Write the plan"),
        PromptMessage::calls("First the specification.", vec![read.clone()]),
        PromptMessage::result(&read, "It is to be blue."),
    ]
}

fn at_work(question: Option<QuestionView>, live: Option<LiveAnswer>) -> ChatView {
    let work = WorkFacts {
        activation: ActivationKey::numbered(7),
        task: "Write the plan".into(),
        stage: "thinking",
        turn: 1,
        spent: Default::default(),
        question,
    };
    ChatView { work: Some(work), lines: lines(&exchange(), |_| None, &[]).into(), live }
}

#[test]
fn a_chat_shows_messages_tools_and_the_live_answer() {
    let mut window = inspect(&[ada()]);
    let calls = vec![("vfs_write".into(), "artifacts/plan.md".into())];
    let live = LiveAnswer { thought: "Shall I?".into(), text: "Now I".into(), calls };
    detail(&mut window, |detail| detail.chat = Some(at_work(None, Some(live))));
    let heading = "[vfs_read] artifacts/spec.md (17 characters)";
    for shown in
        ["First the specification.", heading, "Ada thinks", "Shall I?", "Now I", "[vfs_write] artifacts/plan.md …"]
    {
        assert!(is_shown(&window, shown), "{shown}");
    }
    assert!(!is_shown(&window, "It is to be blue."), "it is collapsed");
    click(&mut window, heading);
    assert!(is_shown(&window, "It is to be blue.") && is_shown(&window, "path: artifacts/spec.md"));
}

#[test]
fn approvals_are_decided_and_work_is_stopped_below_the_chat() {
    let mut window = inspect(&[ada()]);
    let question = crate::ui::testing::question(7, "ada-1", "delete notes.md");
    detail(&mut window, |detail| detail.chat = Some(at_work(Some(question), None)));
    // A new card ignores clicks for a moment.
    window.run_steps(40);
    for label in ["Allow Ada", "Refuse Ada", "Stop its work"] {
        click(&mut window, label);
    }
    let decide = |allow| KernelCommand::decide(ActivationKey::numbered(7), 2, 1, allow);
    let wanted = [decide(true), decide(false), KernelCommand::KillAgent { agent: "ada-1".into() }];
    assert_eq!(window.state().commands, wanted.map(|command| Command::Act(RoomAct::Work(command), None)));
}

#[test]
fn only_visible_lines_of_a_long_chat_are_laid_out() {
    let mut window = inspect(&[ada()]);
    let messages: Vec<PromptMessage> =
        (0..5_000).map(|number| PromptMessage::plain(Role::Assistant, format!("Word {number}.\n\n- a\n- b"))).collect();
    let chat = ChatView { lines: lines(&messages, |_| None, &[]).into(), ..ChatView::default() };
    detail(&mut window, |detail| detail.chat = Some(chat));
    window.run_steps(3);
    let drawn = window.state().parts.pane::<Inspector>().chat.drawn;
    assert!((3..40).contains(&drawn), "{drawn} lines were laid out");
    assert!(is_shown(&window, "Word 4999."), "the newest is visible");
    for _ in 0..3 {
        window.get_by_label("Earlier messages").click_accesskit();
        window.run_steps(3);
    }
    let drawn = window.state().parts.pane::<Inspector>().chat.drawn;
    assert!(drawn < 260, "{drawn} lines were laid out");
}

fn offline_call() -> ModelCall {
    let (kind, provider, model) = ("task".into(), "offline".into(), "offline".into());
    ModelCall { kind, provider, model, ..ModelCall::default() }
}

fn with_work(window: &mut Harness<'static, PaneHarness>) {
    let book = &mut window.state_mut().recent.book;
    book.push(&record(1, &Activation { task: "Write the plan".into(), ..Activation::default() }));
    book.push(&record(2, &Complete { turns: 3, tokens: 900, ..Complete::default() }));
    book.push(&record(3, &offline_call()));
    window.run_steps(3);
}

#[test]
fn tab_visits_the_chat_before_the_task_field() {
    let mut window = inspect(&[ada()]);
    detail(&mut window, |detail| detail.chat = Some(ChatView::default()));
    with_work(&mut window);
    are_as_read(&tab_stops(&mut window), &["Open its file", "Memory of the agent", "Earlier work", "Task"]);
}

#[test]
fn the_session_of_past_work_is_loaded_and_shown() {
    let mut window = inspect(&[ada()]);
    detail(&mut window, |detail| detail.chat = Some(ChatView::default()));
    assert!(is_shown(&window, "No messages yet"));
    with_work(&mut window);
    click(&mut window, "Earlier work");
    click(&mut window, "act-1 Write the plan");
    let act: Id = "act-1".into();
    assert!(window.state().state.texts.has_requests(&FileTextRequest::Session(act.clone())));
    assert!(is_shown(&window, "Loading session…"));
    let give = |window: &mut Harness<'static, PaneHarness>, read| {
        window.state_mut().state.texts.sessions.insert(act.clone(), read);
        window.run_steps(3);
    };
    give(&mut window, Err("the disk is gone".to_owned()));
    assert!(is_shown(&window, "the disk is gone"));
    give(&mut window, Ok(None));
    assert!(is_shown(&window, "No session"));
    give(&mut window, Ok(Some("no: [session".into())));
    assert!(is_shown(&window, "Session could not be loaded"));
    let yaml = "activation: act-1\nagent: ada-1\ntask: Write the plan\nstarted_by: user\nstatus: completed\nturns: 3\n\
                messages:\n- by: room\n  text: Write the plan\n- by: agent\n  text: It is written.\n";
    give(&mut window, Ok(Some(yaml.into())));
    assert!(is_shown(&window, "It is written.") && is_shown(&window, "completed, 3 turns, started by you"));
    click(&mut window, "Open the session's file");
    let path = "sessions/ada-1.act-1.session.yaml".to_owned();
    assert_eq!(window.state().commands, [Command::OpenFile(path, None)]);
    click(&mut window, "Back to now");
    assert!(is_shown(&window, "No messages yet"));
}

#[test]
fn a_finished_answer_is_shown_whole_however_long_it_is() {
    for count in [60, 400] {
        let part = |number: usize| format!("Part {number} of the report, see [a link](https://example.org/{number}).");
        let whole = (1..=count).map(part).collect::<Vec<_>>().join("\n\n");
        // The agent's own memory of its work, and the log, keep only the beginning.
        let remembered = crate::base::text::truncate(&whole, 2_000);
        let exchange =
            [PromptMessage::plain(Role::User, "Task: report"), PromptMessage::plain(Role::Assistant, &*remembered)];
        let mut window = inspect(&[ada()]);
        let chat = ChatView { lines: lines(&exchange, |_| None, &[]).into(), ..ChatView::default() };
        detail(&mut window, |detail| detail.chat = Some(chat));
        let book = &mut window.state_mut().recent.book;
        book.push(&record(1, &Activation { task: "Report".into(), ..Activation::default() }));
        book.push(&record(2, &Complete { turns: 1, text: remembered, ..Complete::default() }));
        window.run_steps(3);
        let act: Id = "act-1".into();
        assert!(window.state().state.texts.has_requests(&FileTextRequest::Session(act.clone())));
        let text = serde_json::to_string(&whole).expect("a text is JSON");
        let session = format!(
            "activation: act-1\nagent: ada-1\ntask: Report\nstarted_by: user\nstatus: completed\nturns: 1\n\
             messages:\n- by: room\n  text: Report\n- by: agent\n  text: {text}\n"
        );
        window.state_mut().state.texts.sessions.insert(act, Ok(Some(session.into())));
        window.run_steps(3);
        let all = format!("Show all {} characters", crate::view::chat::grouped(whole.chars().count()));
        if window.query_by_label(&all).is_some() {
            click(&mut window, &all);
        }
        let last = format!("Part {count} of the report");
        assert!(window.query_all_by_label_contains(&last).next().is_some(), "{last} is missing");
    }
}

#[test]
fn the_prompt_of_a_call_shows_its_sources_or_that_it_is_gone() {
    let mut window = inspect(&[ada()]);
    with_work(&mut window);
    click(&mut window, "Prompts of the agent");
    click(&mut window, "Call 3");
    assert!(window.state().state.texts.has_requests(&FileTextRequest::Prompt(Seq(3))));
    let give = |window: &mut Harness<'static, PaneHarness>, read| {
        window.state_mut().state.texts.prompts.insert(Seq(3), read);
        window.run_steps(3);
    };
    give(&mut window, Ok(None));
    assert!(is_shown(&window, "This prompt is no longer kept"));
    give(&mut window, Err("the log is locked".to_owned()));
    assert!(is_shown(&window, "the log is locked"));
    let part = PromptPart::new(PromptOrigin::of("notes"), "tea at four!");
    let prompt = Prompt { system: vec![part], history: exchange(), ..Prompt::default() };
    give(&mut window, Ok(Some(prompt.into())));
    for shown in ["Its notes, 3 tokens", "Its notes, 17 %", "task · offline"] {
        assert!(is_shown(&window, shown), "{shown}");
    }
    click(&mut window, "Back to all calls");
    assert!(is_shown(&window, "Call 3"));
}

#[test]
fn permissions_are_shown_in_words() {
    let mut window = inspect(&[ada()]);
    let facts = ProfileFacts {
        file: "agents/team/ada.md".into(),
        tools: vec!["vfs_read".into(), "vfs_write".into()],
        safety: "safe".into(),
        writes: Some(Vec::new()),
        ..ProfileFacts::default()
    };
    detail(&mut window, |detail| detail.profile = Some(facts.into()));
    click(&mut window, "Open its file");
    assert_eq!(window.state().commands, [Command::OpenFile("agents/team/ada.md".into(), None)]);
    click(&mut window, "About of the agent");
    for shown in ["vfs_read, vfs_write", "everything allowed here", "nothing", "from settings"] {
        assert!(is_shown(&window, shown), "{shown}");
    }
}

#[test]
fn readers_of_an_element_are_listed_with_their_versions() {
    let mut window = inspect(&[post()]);
    let reader = |name: &str, knows| ReaderView { agent: name.into(), name: name.into(), knows };
    let known = ElementReaders {
        version: 5,
        readers: vec![
            reader("Ada", KnownElement::Newest { read_tick: 1_500 }),
            reader("Bram", KnownElement::Older { version: 3, read_tick: 900 }),
            reader("Cleo", KnownElement::Nothing),
        ],
    };
    window.state_mut().room.known = BTreeMap::from([(Id::from("post"), known.into())]);
    window.run_steps(3);
    let told = [
        "1 of 3 is up to date",
        "up to date, opened it 10 s ago",
        "read version 3 of 5 30 s ago",
        "Cleo",
        "has not opened it",
        "From Bram, unread",
    ];
    for shown in told {
        assert!(is_shown(&window, shown), "{shown}");
    }
    window.state_mut().room.known.insert("post".into(), ElementReaders::default().into());
    window.run_steps(3);
    assert!(is_shown(&window, "No agent here may read it."));
}

#[test]
fn only_visible_rows_are_drawn() {
    let mut window = inspect(&[ada()]);
    let call = offline_call();
    for seq in 0..100_000 {
        let mut row = record(seq, &call);
        row.draft.agent = Some(format!("ada-{}", seq % 50).into());
        window.state_mut().recent.book.push(&row);
    }
    window.state_mut().room.agents.extend((2..1_000).map(|key| crate::ui::testing::agent(key, "other", "Other")));
    click(&mut window, "Prompts of the agent");
    window.run_steps(8);
    let pane = window.state().parts.pane::<Inspector>();
    assert!((5..60).contains(&pane.calls.drawn), "{} calls were drawn", pane.calls.drawn);
    assert_eq!(pane.log_index.agent("ada-1").map(|trail| trail.calls.len()), Some(1_000));
}
