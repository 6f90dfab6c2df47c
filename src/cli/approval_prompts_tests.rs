//! Tests of approvals on the terminal: the question, the replies, and everything that would happen.

use proptest::prelude::*;
use serde_json::json;

#[path = "../../benches/figures/trust/hostile_text.rs"]
mod hostile_text;

use super::*;
use crate::base::ActivationKey;
use crate::base::terminal_text::printable;
use crate::gate::Risk;
use crate::tools::preview_lines::texts_of_rows;
use hostile_text::hostile_text;

fn approval() -> Approval {
    Approval {
        id: ApprovalId::parse("7-1-0-abcd").expect("it has the shape"),
        activation: ActivationKey::numbered(7),
        turn: 1,
        call: 0,
        agent: "lead".into(),
        profile: "lead".into(),
        task: "Plan\na party".into(),
        tool: "vfs_write".into(),
        arguments: json!({}),
        what: "write artifacts/a.md, because its safety mode is safe".into(),
        wants: "write artifacts/a.md".into(),
        because: "its safety mode is safe".into(),
        for_task: Some("change files".into()),
        always: vec!["vfs_write(artifacts/a.md)".into()],
        pattern: None,
        edited: None,
        risk: Risk::default(),
        asked_before: 0,
        changed_files: Vec::new(),
        of_server: None,
    }
}

#[test]
fn replies_are_a_letter_or_a_word() {
    for (line, meant) in [
        ("y", Reply::Allow(AllowScope::Once, Map::new())),
        (" YES\n", Reply::Allow(AllowScope::Once, Map::new())),
        (
            "y branch=a long name force=yes",
            Reply::Allow(AllowScope::Once, parse_fields("branch=a long name force=yes").expect("fields")),
        ),
        ("t", Reply::Allow(AllowScope::Task, Map::new())),
        ("always", Reply::Allow(AllowScope::Always, Map::new())),
        ("u 2h", Reply::Allow(AllowScope::Until(TimeLimit::Secs(7_200)), Map::new())),
        ("until 18:00", Reply::Allow(AllowScope::Until(TimeLimit::OfDay(64_800)), Map::new())),
        ("until", Reply::Unclear),
        ("p", Reply::Allow(AllowScope::Pattern, Map::new())),
        ("e", Reply::Allow(AllowScope::Edited, Map::new())),
        ("n", Reply::Refuse(None)),
        ("no, use drafts/ instead", Reply::Refuse(Some("use drafts/ instead".into()))),
        ("show", Reply::Show),
    ] {
        assert_eq!(reply(line), meant, "{line:?}");
    }
    for line in ["", "yy", "ok", "y n", "a b", "\u{1b}[A"] {
        assert_eq!(reply(line), Reply::Unclear, "{line:?}");
    }
}

#[test]
fn the_question_shows_the_call_reason_task_and_scopes() {
    let text = question("Lead", &approval());
    for part in [
        "Lead wants to write artifacts/a.md\n",
        "Because its safety mode is safe.",
        "Plan a party",
        "Until this task ends, Lead and agents that it starts may change files with vfs_write",
        "gate.allow.lead: vfs_write(artifacts/a.md)",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let (path, old, new) = ("run.sh".to_owned(), "echo one\n".to_owned(), "echo two\n".to_owned());
    let changed = Approval { changed_files: vec![ChangedFile { path, old, new, is_cut: false }], ..approval() };
    let text = question("Lead", &changed);
    assert!(text.contains("run.sh: +1 \u{2212}1: -echo one +echo two"), "{text}");
    assert!(choices(&approval()).contains("[t]ask"));
    let once = Approval { for_task: None, always: Vec::new(), ..approval() };
    assert!(
        !choices(&once).contains("[t]ask") && !choices(&once).contains("[a]lways"),
        "what cannot be is not offered"
    );
}

#[test]
fn the_preview_is_whole_and_printable() {
    let long = (0..150).map(|line| format!("line {line}\u{1b}[2J")).collect::<Vec<_>>().join("\n");
    let shown = approval_details(&approval(), &Preview::Write { path: "artifacts/a.md".into(), text: long });
    assert!(shown.contains("text of artifacts/a.md") && shown.contains("+ line 149‹ESC›[2J"), "{shown}");
    assert_eq!(printable(&shown), shown, "it is printed as it is");
}

proptest! {
    /// Whatever an agent wants to run or to write: the terminal shows each of its characters, and JSON contains it.
    #[test]
    fn nothing_is_hidden_on_the_terminal(number in any::<u64>(), width in 40..200_usize) {
        let text = hostile_text(number);
        for preview in [
            Preview::Command { line: text.clone(), folder: None },
            Preview::Write { path: "a.md".into(), text: format!("a{text}") },
            Preview::Arguments { rows: vec![(text.clone(), text.clone())] },
        ] {
            let wanted = if let Preview::Write { text, .. } = &preview { text } else { &text };
            let details = details_in_rows(&approval(), &preview, width);
            prop_assert_eq!(printable(&details), details.as_str());
            let rows = details.lines().map(|row| row.strip_prefix(DETAILS_INDENT).unwrap_or(row));
            let texts = texts_of_rows(rows);
            let unix = wanted.replace("\r\n", "\n");
            prop_assert!(texts.contains(wanted) || texts.contains(&unix), "{:?} in {}", wanted, details);
        }
    }
}
