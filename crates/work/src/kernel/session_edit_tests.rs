//! Tests that a person's edits to a session reach the agent, whatever the session is doing.

use proptest::prelude::*;

use super::super::tests::Bench;
use super::*;

const GIVEN: ActivationKey = ActivationKey::numbered(900);

fn taken(thread: ActivationKey, messages: Vec<SessionMessage>, written: usize) -> EditedSession {
    let session = SessionText { agent_id: "ada".into(), messages, written: Some(written), ..SessionText::default() };
    EditedSession {
        thread: Some(thread),
        path: None,
        agent: "ada".into(),
        profile: "ada".into(),
        session,
        ours: None,
        replaces: false,
        over: 7,
        by: "user".into(),
        cause: Seq(1),
    }
}

/// The current messages of the session.
fn said(kernel: &Kernel, key: ActivationKey) -> Vec<PromptMessage> {
    let thread = kernel.thread(key).expect("it is known");
    let live = thread.live.and_then(|live| kernel.activation(live));
    live.map_or_else(|| thread.messages.clone(), Activation::messages_so_far)
}

fn texts(kernel: &Kernel, key: ActivationKey) -> Vec<String> {
    said(kernel, key).into_iter().map(|one| one.text).collect()
}

fn file(kernel: &Kernel, key: ActivationKey) -> Vec<SessionMessage> {
    said(kernel, key).iter().map(file_message).collect()
}

fn add(mut messages: Vec<SessionMessage>, text: &str) -> Vec<SessionMessage> {
    messages.push(SessionMessage::from_text(MessageRole::User, text));
    messages
}

#[test]
fn a_message_to_an_idle_agent_wakes_it_in_its_session() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "Write");
    bench.say(key, "Done.", &[]);
    let edit = taken(key, add(file(&bench.kernel, key), "More"), 2);
    assert_eq!(bench.kernel.check_session_edit(&edit, &bench.settings), SessionEditTiming::Now);
    let (asked, is_behind) = bench.kernel.apply_session_edit(&edit, (GIVEN, 9, Seq(1)));
    assert_eq!((asked.as_deref(), is_behind), (Some("More"), false));
    assert_eq!(texts(&bench.kernel, key)[1..], ["Done.", "More"]);
    assert_eq!(bench.kernel.thread(key).map(|thread| (thread.live, thread.file.over)), Some((Some(GIVEN), Some(7))));
    // The same text again contains no change.
    assert_eq!(bench.kernel.check_session_edit(&edit, &bench.settings), SessionEditTiming::Nothing);
    // Guidance does not ask for a reply.
    let mut bench = Bench::new();
    let key = bench.start("ada", "Write");
    bench.say(key, "Done.", &[]);
    let mut messages = file(&bench.kernel, key);
    messages.push(SessionMessage::from_text(MessageRole::System, "Be brief."));
    let (asked, _) = bench.kernel.apply_session_edit(&taken(key, messages, 2), (GIVEN, 9, Seq(1)));
    assert_eq!((asked, texts(&bench.kernel, key).last().map(String::as_str)), (None, Some("Be brief.")));
}

#[test]
fn during_a_turn_changed_text_applies_and_reordering_waits() {
    let mut bench = Bench::new();
    let key = bench.start("ada", "Write");
    bench.tick();
    assert!(bench.kernel.running_turn(key).is_some_and(|why| why.contains("model is being asked")));
    let mut messages = file(&bench.kernel, key);
    messages[0].content = "Write in verse".into();
    let edit = taken(key, add(messages, "At once"), 1);
    assert_eq!(bench.kernel.check_session_edit(&edit, &bench.settings), SessionEditTiming::Now);
    bench.kernel.apply_session_edit(&edit, (GIVEN, 9, Seq(1)));
    let one = bench.kernel.activation(key).expect("it should continue");
    assert_eq!((one.messages[0].text.as_str(), one.mail.len()), ("Write in verse", 1));
    // A message inserted before the others waits until the turn is over.
    let mut put_in = file(&bench.kernel, key);
    put_in.insert(0, SessionMessage::from_text(MessageRole::User, "Before all"));
    let edit = taken(key, put_in, 2);
    assert_eq!(bench.kernel.check_session_edit(&edit, &bench.settings), SessionEditTiming::Later);
    bench.say(key, "", &["a.md"]);
    assert_eq!(
        bench.kernel.check_session_edit(&edit, &bench.settings),
        SessionEditTiming::Later,
        "its tools are at it"
    );
    assert!(bench.kernel.running_turn(key).is_some());
}

#[test]
fn every_call_is_followed_by_a_result_whatever_is_removed() {
    let call = ToolCall::new("c0", "vfs_read", serde_json::json!({}));
    let with = |answers: bool| {
        let mut all = vec![PromptMessage::calls("", vec![call.clone()]), PromptMessage::plain(Role::User, "More")];
        all.extend(answers.then(|| PromptMessage::result(&call, "late")));
        closed(all.into_iter().map(|one| (one, None)).collect())
    };
    let roles = |all: &[(PromptMessage, Option<usize>)]| all.iter().map(|(one, _)| one.role).collect::<Vec<_>>();
    assert_eq!(roles(&with(true)), [Role::Assistant, Role::Tool, Role::User]);
    assert_eq!(with(true)[1].0.text, "late");
    assert_eq!(roles(&with(false)), [Role::Assistant, Role::Tool, Role::User]);
    assert!(with(false)[1].0.text.contains("no longer known"));
}

fn talk() -> impl Strategy<Value = Vec<SessionMessage>> {
    let role = prop_oneof![Just(MessageRole::User), Just(MessageRole::Assistant), Just(MessageRole::System)];
    let message = (role, "[a-d]{1,3}").prop_map(|(role, text)| SessionMessage::from_text(role, text));
    proptest::collection::vec(message, 0..7)
}

proptest! {
    #[test]
    fn messages_written_by_a_person_are_never_lost(theirs in talk(), own in any::<bool>(), ended in any::<bool>(), calls in any::<bool>(), written in 0..4_usize) {
        let mut bench = Bench::new();
        let key = bench.start("ada", "Write");
        bench.tick();
        if calls {
            bench.say(key, "", &["a.md"]);
        } else if ended {
            bench.say(key, "Done.", &[]);
        }
        let before = file(&bench.kernel, key);
        let messages = if own { [before.clone(), theirs.clone()].concat() } else { theirs };
        let edit = taken(key, messages.clone(), written.min(before.len()));
        match bench.kernel.check_session_edit(&edit, &bench.settings) {
            SessionEditTiming::Now => {
                bench.kernel.apply_session_edit(&edit, (GIVEN, 9, Seq(1)));
                let said = texts(&bench.kernel, key);
                for one in &messages {
                    prop_assert!(said.contains(&one.content), "{} is lost in {:?}", one.content, said);
                }
                // Messages from the room that the person had not seen are kept too.
                for one in before.iter().skip(edit.session.written.unwrap_or(0)) {
                    prop_assert!(said.contains(&one.content), "{} is lost in {:?}", one.content, said);
                }
                let again = bench.kernel.check_session_edit(&edit, &bench.settings);
                prop_assert!(again != SessionEditTiming::Later || bench.kernel.running_turn(key).is_some());
            }
            SessionEditTiming::Later => prop_assert!(bench.kernel.running_turn(key).is_some(), "it waits for nothing else"),
            SessionEditTiming::Nothing => {
                let said = texts(&bench.kernel, key);
                prop_assert!(messages.iter().all(|one| said.contains(&one.content)), "{:?}", said);
            }
        }
    }
}
