//! Session files as text: parsed, updated and merged. Nothing that a person wrote is lost.

use proptest::prelude::*;

use super::own_checksum::{is_own, sealed};
use super::update::{brought_up_to_date, with_status};
use super::*;

/// A session as the room writes it, with these messages and the number of each.
fn ours(messages: &[(MessageRole, &str)], status: &str) -> String {
    let list: String = messages
        .iter()
        .map(|(role, text)| {
            format!("  - timestamp: 2026-01-02T03:04:05\n    role: {}\n    content: {text}\n", role.as_str())
        })
        .collect();
    sealed(format!(
        "session_id: ada.act-7\nagent_id: ada\nsystem_prompt: |\n  You help.\n  status: no\nupdated: {status}-time\n\
         status: {status}\nmetadata:\n  work: running\n  thread: act-7\n  activation: act-9\n  earlier:\n  - act-7\n  \
         task: Look\n  messages: {}\n  checksum: h0000000000000000\nmessages:\n{list}",
        messages.len()
    ))
}

const TALK: [(MessageRole, &str); 3] =
    [(MessageRole::User, "Look"), (MessageRole::Assistant, "I look"), (MessageRole::User, "And?")];

fn contents(text: &str) -> Vec<String> {
    parse(text).expect("it can be read").messages.into_iter().map(|one| one.content).collect()
}

#[test]
fn the_specified_format_is_parsed_with_roles_calls_and_results() {
    let text = "session_id: planner-001-abc123\nagent_id: planner-001\nagent_type: planner\nmodel: some\n\
                system_prompt: |\n  You plan.\ncreated: '2025-10-04T10:00:00Z'\nstatus: active\nmessages:\n  \
                - timestamp: '2025-10-04T10:05:23.000Z'\n    role: user\n    content: 'Is Redis running?'\n  \
                - role: assistant\n    content: |\n      I look.\n    tool_calls:\n      - id: call_123\n        \
                type: function\n        function:\n          name: create_task\n          arguments:\n            \
                file: a\n  - role: tool\n    name: create_task\n    content: |\n      {\"success\": true}\n    \
                tool_call_id: call_123\nmetadata: {}\n";
    let session = parse(text).expect("it should be valid");
    assert_eq!((session.session_id.as_deref(), session.agent_id.as_str()), (Some("planner-001-abc123"), "planner-001"));
    assert_eq!(session.lines, [Some(10), Some(13), Some(23)]);
    assert_eq!(session.messages[1].tool_calls[0].arguments, serde_json::json!({ "file": "a" }));
    assert_eq!(session.messages[2].tool_call_id.as_deref(), Some("call_123"));
    assert!(session.needs_reply() && session.written.is_none() && !is_own(text));
    let as_text = text.replace("arguments:\n            file: a", "arguments: '{\"file\": \"a\"}'");
    assert_eq!(parse(&as_text).map(|read| read.messages), Ok(session.messages));
    let crlf = text.replace('\n', "\r\n");
    assert_eq!(contents(&crlf), contents(text));
}

#[test]
fn errors_have_a_line_and_a_remedy() {
    let head = "agent_id: ada\nmessages:\n";
    let table = [
        ("messages: []\n".to_owned(), Some(1), "agent_id is missing"),
        ("just words".to_owned(), Some(1), "no keys"),
        (format!("{head}  - content: x\n"), Some(3), "unknown role"),
        (format!("{head}  - role: user\n    content: x\n  - role: boss\n    content: y\n"), Some(5), "\"boss\""),
        (format!("{head}  - role: tool\n    content: x\n"), Some(3), "without a call"),
        (format!("{head}  - role: tool\n    content: x\n    tool_call_id: c1\n"), Some(3), "no earlier message makes"),
        (format!("{head}  - role: user\n    content: \"x\n"), None, "invalid YAML"),
        ("agent_id: ada\nmessages: many\n".to_owned(), None, "not a list"),
        ("<<<<<<< mine\nagent_id: ada\n=======\n".to_owned(), None, "invalid YAML"),
    ];
    for (text, line, words) in table {
        let fault = parse(&text).expect_err(&text);
        assert!(fault.what.contains(words) && !fault.remedy.is_empty(), "{fault:?} of {text}");
        assert!(line.is_none() || fault.line == line, "{fault:?} of {text}");
    }
}

#[test]
fn the_room_recognises_its_own_text_and_every_edit_of_it() {
    let text = ours(&TALK, "active");
    assert!(is_own(&text) && is_own(&text.replace('\n', "\r\n")));
    for edited in [text.replace("And?", "And now?"), text.clone() + "\n", text.replace("h", "H")] {
        assert!(!is_own(&edited), "{edited}");
    }
    assert!(is_older("activation: act-1\nagent: ada\nmessages:\n- by: room\n") && !is_older(&text));
    let dropped = with_status(&text, "error", "dropped", "it is: gone");
    assert!(
        is_own(&dropped) && dropped.contains("\nstatus: error\n") && dropped.contains("  work: dropped\n"),
        "{dropped}"
    );
    assert!(dropped.contains("  why: \"it is: gone\"\n") && dropped.contains("  status: no\n"), "{dropped}");
    assert_eq!(contents(&dropped), contents(&text));
}

#[test]
fn appending_changes_only_the_end_and_a_few_lines_of_the_head() {
    let before = ours(&TALK[..2], "active");
    let after = brought_up_to_date(&before, &ours(&TALK, "sleeping"));
    assert!(is_own(&after) && contents(&after) == contents(&ours(&TALK, "sleeping")));
    let diff = similar::TextDiff::from_lines(before.as_str(), after.as_str());
    let gone: Vec<&str> = diff
        .iter_all_changes()
        .filter(|change| change.tag() == similar::ChangeTag::Delete)
        .map(|change| change.value().split(':').next().unwrap_or_default().trim())
        .collect();
    assert_eq!(gone, ["updated", "status", "messages", "checksum"]);
    assert!(after.ends_with("    role: user\n    content: And?\n"), "{after}");
}

#[test]
fn a_persons_text_is_preserved() {
    let own = "# My talk\nsession_id: talk # mine\nagent_id: ada\nmood: good\nmessages:\n- role: user\n  content: >-\n    \
               Look\n    here\n  note: kept\n# and below\nmetadata: {team: red}\n";
    let wanted = ours(&[(MessageRole::User, "Look here"), (MessageRole::Assistant, "I look")], "completed");
    let text = brought_up_to_date(own, &wanted);
    for kept in
        ["# My talk\nsession_id: talk # mine\n", "mood: good\n", "  content: >-\n    Look\n    here\n  note: kept\n"]
    {
        assert!(text.contains(kept), "{kept} in {text}");
    }
    assert!(text.contains("  team: red\n") && text.contains("# and below\n") && is_own(&text), "{text}");
    assert_eq!(contents(&text), ["Look here", "I look"]);
    let crlf = brought_up_to_date(&own.replace('\n', "\r\n"), &wanted);
    assert_eq!(crlf.matches("\r\n").count(), crlf.matches('\n').count());
    let again =
        ours(&[(MessageRole::User, "Look here"), (MessageRole::Assistant, "I look"), (MessageRole::User, "So?")], "x");
    let longer = brought_up_to_date(&text, &again);
    assert!(longer.contains("  note: kept\n") && contents(&longer).len() == 3, "{longer}");
}

fn message(role: MessageRole, text: &str) -> SessionMessage {
    SessionMessage::from_text(role, text)
}

#[test]
fn changes_of_both_sides_are_merged() {
    use MergedMessage::{Edited, Ours, Theirs};
    use MessageRole::{Assistant, User};
    let base = [message(User, "Look"), message(Assistant, "I look"), message(User, "And?"), message(Assistant, "Done")];
    let is = |theirs: &[SessionMessage], written| merge(&base, theirs, written);
    let added = is(&[&base[..2], &[message(User, "Stop")]].concat(), 2);
    assert_eq!((added.messages.len(), added.new, added.is_rebuilt), (4, vec![2], false), "the room went on meanwhile");
    let edited = is(&[base[0].clone(), message(Assistant, "I look closely"), base[2].clone(), base[3].clone()], 4);
    assert_eq!(edited.messages, [Ours(0), Edited { ours: 1, theirs: 1 }, Ours(2), Ours(3)]);
    assert!(edited.is_edited && !edited.is_rebuilt && edited.new.is_empty());
    let cut = is(&base[..3], 4);
    assert_eq!((cut.messages, cut.is_rebuilt), (vec![Ours(0), Ours(1), Ours(2)], true), "the answer was taken out");
    let stale = is(&base[..3], 3);
    assert_eq!((stale.messages.len(), stale.is_rebuilt), (4, false), "the person had not seen the answer");
    let put_in = is(&[base[0].clone(), message(User, "More"), base[1].clone(), base[2].clone(), base[3].clone()], 4);
    assert_eq!(put_in.messages, [Ours(0), Theirs(1), Ours(1), Ours(2), Ours(3)]);
    assert!(put_in.is_rebuilt);
    assert_eq!(is(&base, 4), Merged { messages: (0..4).map(Ours).collect(), ..Merged::default() });
    // Without the room's count, no message is removed or counts as changed.
    let unknown = is(&[message(User, "All new")], 0);
    assert_eq!((unknown.messages.len(), unknown.new), (4, vec![0]));
}

fn talk() -> impl Strategy<Value = Vec<SessionMessage>> {
    let role = prop_oneof![Just(MessageRole::User), Just(MessageRole::Assistant)];
    proptest::collection::vec((role, "[a-c]{1,2}").prop_map(|(role, text)| message(role, &text)), 0..8)
}

fn text_of(messages: &[SessionMessage]) -> String {
    let all: Vec<(MessageRole, &str)> = messages.iter().map(|one| (one.role, one.content.as_str())).collect();
    if all.is_empty() { ours(&all, "active").replace("messages:\n", "messages: []\n") } else { ours(&all, "active") }
}

proptest! {
    #[test]
    fn merging_loses_no_message_of_either_side(base in talk(), added in talk(), theirs in talk(), written in 0..9_usize) {
        let mine = [base.clone(), added].concat();
        let written = written.min(base.len());
        let merged = merge(&mine, &theirs, written);
        let taken: Vec<usize> = merged.messages.iter().filter_map(|one| match one {
            MergedMessage::Theirs(at) | MergedMessage::Edited { theirs: at, .. } => Some(*at),
            MergedMessage::Ours(_) => None,
        }).chain(merged.new.iter().copied()).collect();
        for (at, one) in theirs.iter().enumerate() {
            let is_same = merged.messages.iter().any(|merged| {
                matches!(merged, MergedMessage::Ours(ours) if mine[*ours].identity() == one.identity())
            });
            prop_assert!(is_same || taken.contains(&at), "theirs {} is lost in {:?}", at, merged);
        }
        // Messages that the person had not seen are kept in order.
        let newer: Vec<usize> = merged.messages.iter().filter_map(|one| match one {
            MergedMessage::Ours(at) if *at >= written => Some(*at),
            _ => None,
        }).collect();
        let all: Vec<usize> = (written..mine.len()).collect();
        prop_assert_eq!(newer, all);
    }

    #[test]
    fn an_updated_text_has_the_new_content_and_keeps_the_existing_one(before in talk(), after in talk(), note in "[a-z ]{0,8}") {
        let there = format!("# {note}\nmood: {note}x\n{}", text_of(&before));
        let wanted = text_of(&after);
        let text = brought_up_to_date(&there, &wanted);
        prop_assert_eq!(contents(&text), contents(&wanted));
        prop_assert!(is_own(&text), "{}", text);
        let kept = format!("# {note}\nmood: {note}x\n");
        prop_assert!(text.starts_with(&kept), "{}", text);
        prop_assert_eq!(brought_up_to_date(&text, &wanted), text);
    }

    #[test]
    fn no_text_causes_a_panic(text in "\\PC{0,60}", ours in "([a-z]{0,4}: ?|- |  |\n|messages:\n|metadata:\n  |#|'){0,20}") {
        for text in [&text, &ours] {
            let _ = parse(text);
            let _ = is_own(text);
            let _ = with_status(text, "error", "dropped", "x");
            let _ = brought_up_to_date(text, &super::tests::ours(&TALK, "active"));
        }
    }
}
