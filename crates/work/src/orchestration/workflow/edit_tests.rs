//! Changes of a workflow in the graph, which leave the rest of the file as it is.

use super::super::definition::Assignee;
use super::super::format;
use super::*;

const TEXT: &str = "---
# A pipeline of ours.
name: Tea
colour: green
steps:
  # First we look.
  - id: look
    agent: ada
    prompt: \"Look at {topic}\"   # at all of it
    outputs: [found]

  - { id: write, agent: bram, prompt: \"{look.found}\", depends_on: [look] }
---

# Tea

Words of ours.
";

fn applied(text: &str, edit: &WorkflowEdit) -> String {
    let changed = apply(text, edit).unwrap_or_else(|why| panic!("{edit:?}: {why}"));
    for kept in
        ["# A pipeline of ours.\nname: Tea\ncolour: green\n", "  # First we look.\n", "\n# Tea\n\nWords of ours.\n"]
    {
        assert!(changed.contains(kept), "{kept} in {changed}");
    }
    let file = format::read("workflows/tea.md", &changed);
    assert!(file.is_usable(), "{:?} {changed}", file.problems);
    changed
}

fn add(doer: StepAssignee, after: Option<&str>) -> WorkflowEdit {
    WorkflowEdit::AddStep { doer, after: after.map(str::to_owned) }
}

#[test]
fn an_edit_changes_only_its_keys() {
    let step = "look".to_owned();
    let set = |key: &str, text: &str| WorkflowEdit::Set { step: "look".into(), key: key.into(), text: text.into() };
    let changed = applied(TEXT, &set("prompt", "Look again\nat {topic}\n"));
    assert!(changed.contains("Look again\n") && changed.contains("# at all of it"), "{changed}");
    let changed = applied(TEXT, &set("when", "{topic} == tea"));
    assert!(changed.contains("    outputs: [found]\n    when: "), "{changed}");
    assert!(applied(&changed, &set("when", "")).contains("outputs: [found]\n\n"), "and away again");
    let changed = applied(TEXT, &WorkflowEdit::Outputs { step, names: vec!["found".into(), "more".into()] });
    assert!(changed.contains("    outputs: [found, more]\n"), "{changed}");
    let changed = applied(TEXT, &add(StepAssignee::Agent("cleo".into()), None));
    assert!(changed.contains("id: cleo"), "{changed}");
    let changed = applied(&changed, &WorkflowEdit::Depend { step: "cleo".into(), on: "write".into() });
    let steps = format::read("workflows/tea.md", &changed).workflow.steps;
    assert_eq!(steps[2].depends_on, ["write"]);
    let changed = applied(&changed, &WorkflowEdit::RemoveStep { step: "write".into() });
    let steps = format::read("workflows/tea.md", &changed).workflow.steps;
    assert_eq!((steps.len(), steps[1].depends_on.len()), (2, 0), "{changed}");
    assert_eq!(apply(TEXT, &WorkflowEdit::Free { step: "look".into(), of: "write".into() }).as_deref(), Ok(TEXT));
}

#[test]
fn a_change_is_undone_exactly_unless_the_file_was_changed_since() {
    for edit in [
        WorkflowEdit::RemoveStep { step: "look".into() },
        WorkflowEdit::Outputs { step: "look".into(), names: Vec::new() },
        WorkflowEdit::Free { step: "write".into(), of: "look".into() },
    ] {
        let changed = apply(TEXT, &edit).expect("it can be changed");
        let back = inverse(TEXT, &changed);
        assert_eq!(apply(&changed, &back).as_deref(), Ok(TEXT), "{edit:?}");
        let why = apply(&format!("{changed}More words."), &back).expect_err("it is another text");
        assert!(why.contains("changed in the meantime"), "{why}");
    }
}

#[test]
fn invalid_edits_are_refused_with_a_reason() {
    let depend = |step: &str, on: &str| WorkflowEdit::Depend { step: step.into(), on: on.into() };
    for (edit, part) in [
        (
            depend("look", "write"),
            "\"write\" already waits for \"look\" (look → write): they would wait for each other",
        ),
        (depend("look", "look"), "wait for itself"),
        (depend("look", "nothing"), "no step"),
        (WorkflowEdit::RemoveStep { step: "nothing".into() }, "no step"),
        (WorkflowEdit::Outputs { step: "look".into(), names: vec!["a b".into()] }, "is not a valid output name"),
    ] {
        assert!(apply(TEXT, &edit).is_err_and(|why| why.contains(part)), "{edit:?}");
    }
    assert!(apply("# No front matter\n", &depend("a", "b")).is_err());
}

#[test]
fn windows_line_ends_and_unquoted_braces_are_supported() {
    let text = "---\r\nsteps:\r\n  - id: a\r\n    agent: x\r\n    prompt: go\r\n    outputs: [ok]\r\n    repeat_until: {a.ok} at most 2\r\n---\r\nBody\r\n";
    let edit = WorkflowEdit::Set { step: "a".into(), key: "prompt".into(), text: "stop".into() };
    let changed = apply(text, &edit).expect("it can be changed");
    assert!(changed.contains("    prompt: stop\r\n") && changed.ends_with("---\r\nBody\r\n"), "{changed}");
    assert!(changed.contains("repeat_until: \"{a.ok} at most 2\"\r\n"), "{changed}");
}

/// The file of a new workflow, as the window creates it.
const NEW: &str =
    "---\nname: \"Tea\"\ndescription: Says what it comes to.\ntrigger: manual\nsteps: []\n---\n\nWords.\n";

#[test]
fn a_workflow_can_be_created_by_edits_alone() {
    let agent = |id: &str| StepAssignee::Agent(id.into());
    let edits = [
        add(agent("ada"), None),
        add(agent("ada"), Some("ada")),
        add(StepAssignee::Person(AnswerKind::Approval), Some("ada-2")),
        add(StepAssignee::Person(AnswerKind::Form), None),
        WorkflowEdit::Rename { step: "ada".into(), to: "look".into() },
        WorkflowEdit::Depend { step: "form".into(), on: "look".into() },
        WorkflowEdit::RemoveStep { step: "form".into() },
    ];
    for text in [NEW.to_owned(), NEW.replace("steps: []", "steps:"), NEW.replace("steps: []\n", "")] {
        let mut changed = text;
        for edit in &edits {
            changed = apply(&changed, edit).unwrap_or_else(|why| panic!("{edit:?}: {why} {changed}"));
            let file = format::read("workflows/tea.md", &changed);
            assert!(file.is_usable(), "{:?} {changed}", file.problems);
        }
        assert!(changed.contains("steps:\n  - ") && changed.ends_with("---\n\nWords.\n"), "{changed}");
        let steps = format::read("workflows/tea.md", &changed).workflow.steps;
        let told: Vec<(&str, Vec<String>)> =
            steps.iter().map(|step| (step.id.as_str(), step.depends_on.clone())).collect();
        assert_eq!(
            told,
            [("look", vec![]), ("ada-2", vec!["look".to_owned()]), ("approval", vec!["ada-2".to_owned()])]
        );
    }
    assert!(apply(NEW, &add(agent("ada"), Some("nobody"))).is_err_and(|why| why.contains("no step")));
}

#[test]
fn references_follow_a_renamed_step() {
    let text = TEXT.replace(
        "prompt: \"{look.found}\", depends_on: [look]",
        "prompt: \"{look.found} {{look.found}} {onlook.found}\", when: \"{look.found} contains tea\", depends_on: [look]",
    );
    let renamed = WorkflowEdit::Rename { step: "look".into(), to: "search".into() };
    let changed = apply(&text, &renamed).expect("it can be renamed");
    let expected = text
        .replace("id: look", "id: search")
        .replace(" {look.found} contains", " {search.found} contains")
        .replace("\"{look.found} {{", "\"{search.found} {{")
        .replace("\"{look.found} contains", "\"{search.found} contains")
        .replace("[look]", "[search]");
    assert_eq!(changed, expected, "nothing else is another");
    let back = apply(&changed, &inverse(&text, &changed));
    assert_eq!(back.as_deref(), Ok(text.as_str()));
    for (to, part) in [("write", "already"), ("a b", "letters"), ("", "letters")] {
        let edit = WorkflowEdit::Rename { step: "look".into(), to: to.into() };
        assert!(apply(&text, &edit).is_err_and(|why| why.contains(part)), "{to}");
    }
}

#[test]
fn a_step_has_exactly_one_assignee_key() {
    let assign = |doer: StepAssignee| WorkflowEdit::Assign { step: "look".into(), doer };
    let of = |text: &str| format::read("workflows/tea.md", text).workflow.steps[0].doer.clone();
    let changed = applied(TEXT, &assign(StepAssignee::Person(AnswerKind::Form)));
    assert_eq!(of(&changed), Assignee::Person { wants: AnswerKind::Form });
    let changed = apply(&changed, &assign(StepAssignee::Workflow("chain".into()))).expect("it can be changed");
    let with = WorkflowEdit::With { step: "look".into(), variables: [("topic".into(), "{topic}".into())].into() };
    let changed = applied(&changed, &with);
    let Assignee::Workflow { workflow, with } = of(&changed) else { panic!("{changed}") };
    assert_eq!((workflow.as_str(), with["topic"].to_string().as_str()), ("chain", "{topic}"));
    let none = WorkflowEdit::With { step: "look".into(), variables: [("topic".into(), " ".into())].into() };
    assert!(!applied(&changed, &none).contains("with:"));
    let changed = applied(&changed, &assign(StepAssignee::Agent("ada".into())));
    assert!(!changed.contains("with:") && !changed.contains("workflow:"), "{changed}");
    assert!(changed.contains("# at all of it") && changed.contains("outputs: [found]"), "{changed}");
}

#[test]
fn numbers_are_written_as_numbers_and_invalid_values_are_kept_and_reported() {
    let set = |key: &str, text: &str| WorkflowEdit::Set { step: "look".into(), key: key.into(), text: text.into() };
    let changed = applied(TEXT, &set("retry", " 2 "));
    assert!(changed.contains("    retry: 2\n"), "{changed}");
    let changed = applied(&changed, &set("for_each", "{write.parts} at most 4"));
    let step = &format::read("workflows/tea.md", &changed).workflow.steps[0];
    assert_eq!(step.for_each.as_ref().map(ToString::to_string).as_deref(), Some("{write.parts} at most 4"));
    for (key, text) in [("retry", "often"), ("when", "{look.found} =="), ("repeat_until", "{look.found}")] {
        let changed = apply(TEXT, &set(key, text)).expect("it is written as it was typed");
        let file = format::read("workflows/tea.md", &changed);
        assert!(!file.is_usable(), "{changed}");
        assert_eq!(file.workflow.steps[0].unread.get(key).map(String::as_str), Some(text));
    }
}

#[test]
fn the_name_of_the_workflow_can_be_changed() {
    let set = |key: &str, text: &str| WorkflowEdit::SetOwn { key: key.into(), text: text.into() };
    let changed = apply(NEW, &set("name", "High tea")).expect("it can be changed");
    let changed = apply(&changed, &set("trigger", "every 10m")).expect("it can be changed");
    assert_eq!(changed, NEW.replace("\"Tea\"", "High tea").replace("manual", "every 10m"));
}

#[test]
fn recorded_edits_of_new_steps_can_be_loaded() {
    let edit: WorkflowEdit =
        serde_json::from_value(json!({ "edit": "add_step", "agent": "ada" })).expect("it should be valid");
    assert_eq!(edit, add(StepAssignee::Agent("ada".into()), None));
    for edit in [edit, add(StepAssignee::Person(AnswerKind::Form), Some("look"))] {
        let written = serde_json::to_value(&edit).expect("it can be written");
        assert_eq!(serde_json::from_value::<WorkflowEdit>(written).expect("it should be valid"), edit);
    }
}
