//! Tests of the approvals file: which marks count as answers, and the text that is written.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::base::{ActivationKey, TimeLimit};
use crate::gate::Risk;
use crate::kernel::{Approval, ApprovalId};
use crate::tools::Preview;

const SCENE: &str = "scenes/studio.yaml";

fn asked(id: &str, text: &str) -> QuestionTask {
    let approval = Approval {
        id: ApprovalId::parse(id).expect("it has the shape"),
        activation: ActivationKey::numbered(7),
        turn: 1,
        call: 0,
        agent: "lead".into(),
        profile: "lead".into(),
        task: "Plan\nthe party".into(),
        tool: "vfs_write".into(),
        arguments: json!({}),
        what: "write a.md".into(),
        wants: "write a.md".into(),
        because: "its safety mode is safe".into(),
        for_task: Some("change files".into()),
        always: vec!["vfs_write(a.md)".into()],
        pattern: None,
        edited: None,
        risk: Risk::default(),
        asked_before: 0,
        changed_files: Vec::new(),
        of_server: None,
    };
    let preview = Preview::Write { path: "a.md".into(), text: text.into() };
    QuestionTask::by_agent(&approval, &preview, "Lead", SCENE, Some("2026-11-22T14:05:09".into()))
}

fn written(all: &[&QuestionTask]) -> String {
    let renewed = bring_up_to_date("", all.iter().copied(), std::iter::empty());
    assert_eq!(renewed.problems, []);
    renewed.text
}

fn read_of(text: &str, all: &[&QuestionTask]) -> ParsedAnswers {
    read(text, &all.iter().map(|one| (one.id.clone(), *one)).collect(), SCENE)
}

/// Puts this mark on the task of a question.
fn marked(text: &str, id: &str, mark: &str) -> String {
    let file = task_files::parse(text);
    let task = file.tasks.iter().find(|task| task.id == id).expect("it is asked");
    let span = task.status_span.clone().expect("it has a mark");
    format!("{}{mark}{}", &text[..span.start], &text[span.end..])
}

fn decided(outcome: Outcome) -> Decided {
    Decided {
        outcome,
        scope: AllowScope::Once,
        because: None,
        answered_in: Some(AnswerPlace::Window),
        time: Some("2026-11-22T14:06:00".into()),
    }
}

#[test]
fn a_question_is_written_as_a_task_that_a_person_can_mark() {
    let one = asked("7-1-0-abcd", "first line\n\n  second --> line\n- [x] not a task\n");
    let text = written(&[&one]);
    for line in [
        "- [ ] A @human #approval \"Lead wants to write a.md\"",
        "  id: 7-1-0-abcd",
        "  status: pending",
        "  approval_type: file_write",
        "  agent: lead",
        "  task: Plan the party",
        "  why: its safety mode is safe",
        "      + first line",
        "      + - [x] not a task",
        "  created: 2026-11-22T14:05:09",
    ] {
        assert!(text.lines().any(|found| found == line), "{line:?} in:\n{text}");
    }
    assert_eq!(task_files::parse(&*text).issues, []);
    assert_eq!(read_of(&text, &[&one]).ticked, [], "nobody has answered");
    assert_eq!(written(&[&one]), bring_up_to_date(&text, [&one].into_iter(), std::iter::empty()).text, "it is settled");
}

#[test]
fn a_mark_that_is_not_read_is_named_and_decides_nothing() {
    let one = asked("7-1-0-abcd", "x");
    let text = written(&[&one]);
    for mark in ["[ x ]", "[x ]", "[ x]", "[]", "[✓]", "[y]", "[ - ]"] {
        for end in ["\n", "\r\n"] {
            let parsed = read_of(&marked(&text, &one.id, mark).replace('\n', end), &[&one]);
            assert_eq!(parsed.ticked, [], "{mark}");
            let [problem] = &parsed.problems[..] else { panic!("{mark}: {parsed:?}") };
            let expected = format!("{mark} is not a mark, so \"7-1-0-abcd\" is not answered");
            assert_eq!(problem.what, expected);
            let line = text.lines().position(|line| line.starts_with("- [ ]")).map(|at| at + 1);
            assert_eq!(problem.line, line, "{mark}");
        }
    }
    let open = read_of(&text, &[&one]);
    assert_eq!((open.ticked, open.problems), (Vec::new(), Vec::new()), "nobody has answered");
}

#[test]
fn a_task_that_is_not_read_as_one_is_named_and_not_written_again() {
    let one = asked("7-1-0-abcd", "x");
    let text = written(&[&one]);
    for head in ["-[x] ", "* [x] ", "[x] ", "1. [x] "] {
        let damaged = text.replacen("- [ ] ", head, 1);
        assert_ne!(damaged, text);
        let parsed = read_of(&damaged, &[&one]);
        assert_eq!(parsed.ticked, [], "{head}");
        let [problem] = &parsed.problems[..] else { panic!("{head}: {parsed:?}") };
        assert!(problem.what.contains("7-1-0-abcd") && problem.line.is_some(), "{head}: {problem:?}");
        let renewed = bring_up_to_date(&damaged, [&one].into_iter(), std::iter::empty());
        assert_eq!(renewed.text, damaged, "{head}");
    }
}

#[test]
fn a_mark_is_a_decision_with_an_optional_scope_and_comment() {
    checks_rule!("a-mark-in-the-file-answers");
    let one = asked("7-1-0-abcd", "x");
    let text = written(&[&one]);
    for (mark, allow) in [("[x]", true), ("[X]", true), ("x", true), ("[-]", false), ("-", false)] {
        let [ticked] = &read_of(&marked(&text, &one.id, mark), &[&one]).ticked[..] else { panic!("{mark}") };
        assert_eq!((ticked.allow, ticked.scope, &ticked.because), (allow, AllowScope::Once, &None), "{mark}");
    }
    let more = marked(&text, &one.id, "[x]")
        .replace("  status: pending\n", "  status: pending\n  for: task\n  because: \"go on\"\n");
    for more in [more.clone(), more.replace('\n', "\r\n"), more.replace("for: task\n", "for: task   \n")] {
        let parsed = read_of(&more, &[&one]);
        let [ticked] = &parsed.ticked[..] else { panic!("{parsed:?}") };
        assert_eq!((ticked.scope, ticked.because.as_deref()), (AllowScope::Task, Some("go on")));
    }
    for (words, scope) in [
        ("once", AllowScope::Once),
        ("always", AllowScope::Always),
        ("pattern", AllowScope::Pattern),
        ("edited", AllowScope::Edited),
        ("until 18:00", AllowScope::Until(TimeLimit::OfDay(64_800))),
        ("until 2026-11-22T18:00", AllowScope::Until(TimeLimit::At(1_795_370_400))),
        ("2h", AllowScope::Until(TimeLimit::Secs(7_200))),
    ] {
        let parsed = read_of(&more.replace("for: task\n", &format!("for: {words}\n")), &[&one]);
        let [ticked] = &parsed.ticked[..] else { panic!("{words}: {parsed:?}") };
        assert_eq!(ticked.scope, scope, "{words}");
    }
    let odd = read_of(&more.replace("for: task\n", "for: ever\n"), &[&one]);
    assert!(odd.ticked.is_empty() && odd.problems[0].what.contains("ever"), "{odd:?}");
}

#[test]
fn marks_on_edited_or_unknown_questions_are_rejected() {
    checks_rule!("marks-on-edited-approvals-are-ignored");
    let (one, two) = (asked("7-1-0-abcd", "one"), asked("8-1-0-abcd", "two"));
    let text = marked(&written(&[&one, &two]), &one.id, "[x]");
    let refused = |text: &str, told: &str| {
        let parsed = read_of(text, &[&one, &two]);
        assert_eq!(parsed.ticked, [], "{text}");
        assert!(
            parsed.problems.iter().any(|problem| problem.what.contains(told) && problem.line.is_some()),
            "{parsed:?}"
        );
    };
    refused(&text.replace("+ one", "+ anything else"), "description");
    refused(&text.replacen("Lead wants to write a.md", "Lead wants to wave", 1), "title");
    refused(&text.replacen("agent: lead", "agent: other", 1), "agent");
    refused(&text.replacen("risk: low", "risk: none", 1), "risk");
    refused(&text.replacen("  id: 7-1-0-abcd", "  id: 9-1-0-abcd", 1), "no longer open");
    refused(&text.replacen("  id: 8-1-0-abcd", "  id: 7-1-0-abcd", 1), "two tasks have the id");
    refused(&text.replacen("  status: pending", "  status: pending\n  status: pending", 1), "duplicate");
    let merged = format!("<<<<<<< ours\n{text}=======\n{text}>>>>>>> theirs\n");
    refused(&merged, "merge");
    assert!(!read_of(&merged, &[&one, &two]).is_usable, "nothing is written between such marks");
    for cut in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
        // A partly written file, as an editor may leave it for a moment: complete tasks count.
        let ids: Vec<String> = read_of(&text[..cut], &[&one, &two]).ticked.into_iter().map(|one| one.id).collect();
        assert!(ids.is_empty() || (ids == ["7-1-0-abcd"] && text[..cut].contains("+ one")), "{cut}: {ids:?}");
    }
}

#[test]
fn questions_of_other_rooms_and_a_persons_own_tasks_are_left_alone() {
    let one = asked("7-1-0-abcd", "one");
    let other = written(&[&one]).replace(SCENE, "scenes/other.yaml");
    let own = format!("{}- [x] buy milk\n  until: friday\n", marked(&other, &one.id, "[x]"));
    let parsed = read_of(&own, &[]);
    assert_eq!((parsed.ticked.len(), parsed.problems.len()), (0, 0));
    assert_eq!(withdraw(own.clone(), SCENE, |_| false), own);
    assert_eq!(withdraw(other.clone(), SCENE, |_| false), other, "it is the other room's to say so");
    let withdrawn = withdraw(other, "scenes/other.yaml", |_| false);
    assert!(withdrawn.contains("- [-] A @human") && withdrawn.contains("status: withdrawn"), "{withdrawn}");
}

#[test]
fn a_decision_is_written_once_and_nothing_else_changes() {
    let (one, two) = (asked("7-1-0-abcd", "one"), asked("8-1-0-abcd", "two"));
    let text = written(&[&one, &two]).replace("## TODO", "Mine.\n\n## TODO").replace('\n', "\r\n");
    let refused = Decided { because: Some("not now: later".into()), ..decided(Outcome::Refused) };
    let renewed = bring_up_to_date(&text, [&two].into_iter(), [(&one, &refused, false)].into_iter()).text;
    for line in
        ["- [-] A @human #approval \"Lead", "  status: refused\r\n", "  decided_in: window\r\n", "not now: later"]
    {
        assert!(renewed.contains(line), "{line} in {renewed}");
    }
    let rest = |text: &str| text[text.find("8-1-0-abcd").expect("it should exist")..].to_owned();
    assert_eq!(rest(&renewed), rest(&text));
    let again = bring_up_to_date(&renewed, [&two].into_iter(), [(&one, &decided(Outcome::Approved), true)].into_iter());
    assert_eq!(again.text, renewed, "the first decision stays");
    let removed = bring_up_to_date("", std::iter::empty(), [(&one, &refused, false)].into_iter());
    assert_eq!(removed.text, "", "what a person takes out stays out");
    let added = bring_up_to_date("", std::iter::empty(), [(&one, &refused, true)].into_iter());
    assert!(added.text.contains("status: refused") && added.problems.is_empty(), "what was never there is written");
}

#[test]
fn the_oldest_decisions_are_removed_from_a_long_file() {
    let long = format!("{}\n", "a long line ".repeat(30)).repeat(140);
    let all: Vec<QuestionTask> = (0..20).map(|number| asked(&format!("{number}-1-0-abcd"), &long)).collect();
    let mut text = String::new();
    for one in &all {
        let yes = decided(Outcome::Approved);
        text = bring_up_to_date(&text, std::iter::empty(), [(one, &yes, true)].into_iter()).text;
        assert!(text.len() <= MAX_BYTES);
    }
    assert!(!text.contains("id: 0-1-0-abcd") && text.contains("id: 19-1-0-abcd"));
    assert_eq!(task_files::parse(&*text).issues, []);
}

/// An edit of a text: removes a piece at one place and inserts another there.
fn edits() -> impl Strategy<Value = Vec<(usize, usize, String)>> {
    let piece = prop_oneof![
        Just("[x]".to_owned()),
        Just("[-]".to_owned()),
        Just("- [x] ".to_owned()),
        Just("\n".to_owned()),
        Just("  ".to_owned()),
        Just("  id: 7-1-0-abcd\n".to_owned()),
        Just("<<<<<<< ours\n".to_owned()),
        Just("\"".to_owned()),
        "[a-z:|#@ \\[\\]_-]{0,12}",
    ];
    prop::collection::vec((any::<prop::sample::Index>(), 0..40usize, piece), 1..6)
        .prop_map(|edits| edits.into_iter().map(|(at, cut, piece)| (at.index(4_000), cut, piece)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Whatever is done to the file, an answer counts only for the exact question, and only if it is marked.
    #[test]
    fn no_edit_can_answer_a_question_that_was_not_asked(edits in edits(), ticked in any::<bool>()) {
        let (one, two) = (asked("7-1-0-abcd", "rm -r one\nand more"), asked("8-1-0-abcd", "two"));
        let mut text = written(&[&one, &two]);
        if ticked {
            text = marked(&text, &one.id, "[x]");
        }
        for (at, cut, piece) in edits {
            let chars: Vec<char> = text.chars().collect();
            let at = at.min(chars.len());
            let end = (at + cut).min(chars.len());
            text = chars[..at].iter().copied().chain(piece.chars()).chain(chars[end..].iter().copied()).collect();
        }
        for found in read_of(&text, &[&one, &two]).ticked {
            let question = if found.id == one.id { &one } else { &two };
            let description = &question.fields.last().expect("it is described").1;
            for line in description.lines() {
                prop_assert!(text.contains(line.trim_end()), "{line:?} is gone from\n{text}");
            }
            prop_assert!(text.contains(&question.title));
            let mark = if found.allow { ["[x]", " x "] } else { ["[-]", " - "] };
            prop_assert!(mark.iter().any(|mark| text.contains(mark)), "{found:?} in\n{text}");
        }
    }

    /// Updating a file keeps everything that a person wrote in it, and a second update changes nothing.
    #[test]
    fn text_written_by_a_person_is_kept(before in "[a-zA-Z#\\[\\]x:\\- \n]{0,200}") {
        let one = asked("7-1-0-abcd", "one");
        let renewed = bring_up_to_date(&before, [&one].into_iter(), std::iter::empty()).text;
        for line in before.lines().filter(|line| !line.trim().is_empty()) {
            prop_assert!(renewed.lines().any(|found| found == line), "{line:?} is gone from\n{renewed}");
        }
        let again = bring_up_to_date(&renewed, [&one].into_iter(), std::iter::empty()).text;
        prop_assert_eq!(again, renewed);
    }
}
