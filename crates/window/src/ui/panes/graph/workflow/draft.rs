//! Unsaved changes of a step, and the file edits that they result in.

use std::collections::BTreeMap;

use crate::orchestration::workflow::edit::{StepAssignee, WorkflowEdit};
use crate::view::workflows::StepView;

/// The form values of a step.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct StepDraft {
    /// The step when editing began, without its dependencies.
    original: StepView,
    pub(super) id: String,
    pub(super) doer: StepAssignee,
    pub(super) with: BTreeMap<String, String>,
    pub(super) prompt: String,
    pub(super) outputs: String,
    /// Other keys of the step in the file, such as `when` and `retry`.
    pub(super) keys: BTreeMap<String, String>,
}

/// Returns the step without its dependencies, which are edited as arrows.
fn without_dependencies(step: &StepView) -> StepView {
    StepView { before: Vec::new(), ..step.clone() }
}

impl StepDraft {
    /// Creates a draft with the values of a step.
    pub(super) fn of(step: &StepView) -> Self {
        Self {
            original: without_dependencies(step),
            id: step.id.clone(),
            doer: step.doer.clone(),
            with: step.with.clone(),
            prompt: step.prompt.clone(),
            outputs: step.outputs.join(", "),
            keys: step.keys.clone(),
        }
    }

    /// Whether the draft was created from this version of the step.
    pub(super) fn is_based_on(&self, step: &StepView) -> bool {
        self.original == without_dependencies(step)
    }

    /// Whether all required values are filled in.
    pub(super) fn is_complete(&self) -> bool {
        let is_named = match &self.doer {
            StepAssignee::Agent(name) | StepAssignee::Workflow(name) => !name.trim().is_empty(),
            StepAssignee::Person(_) => true,
        };
        is_named && !self.id.trim().is_empty()
    }

    /// Returns the edits to save. The rename comes last, because the other edits refer to the old name.
    pub(super) fn changes(&self) -> Vec<WorkflowEdit> {
        let (step, original) = (&self.original.id, &self.original);
        let set = |key: &str, text: &str| WorkflowEdit::Set { step: step.clone(), key: key.into(), text: text.into() };
        let mut changes = Vec::new();
        let doer = match &self.doer {
            StepAssignee::Agent(agent) => StepAssignee::Agent(agent.trim().to_owned()),
            StepAssignee::Workflow(workflow) => StepAssignee::Workflow(workflow.trim().to_owned()),
            StepAssignee::Person(wants) => StepAssignee::Person(*wants),
        };
        let is_workflow = matches!(doer, StepAssignee::Workflow(_));
        if doer != original.doer {
            changes.push(WorkflowEdit::Assign { step: step.clone(), doer });
        }
        let with: BTreeMap<String, String> =
            self.with.iter().filter(|(_, text)| !text.trim().is_empty()).map(|(k, v)| (k.clone(), v.clone())).collect();
        if is_workflow && with != original.with {
            changes.push(WorkflowEdit::With { step: step.clone(), variables: with });
        }
        if self.prompt != original.prompt {
            changes.push(set("prompt", &self.prompt));
        }
        let names: Vec<String> =
            self.outputs.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        if names != original.outputs {
            changes.push(WorkflowEdit::Outputs { step: step.clone(), names });
        }
        for (key, text) in &self.keys {
            if text.trim() != original.keys.get(key).map_or("", String::as_str).trim() {
                changes.push(set(key, text.trim()));
            }
        }
        let to = self.id.trim();
        if to != step {
            changes.push(WorkflowEdit::Rename { step: step.clone(), to: to.to_owned() });
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orchestration::workflow::definition::AnswerKind;

    fn step() -> StepView {
        let keys = [("retry".to_owned(), "2".to_owned())].into();
        StepView { id: "look".into(), doer: StepAssignee::Agent("ada".into()), keys, ..StepView::default() }
    }

    #[test]
    fn only_edited_values_change_and_the_rename_comes_last() {
        let mut draft = StepDraft::of(&step());
        assert!(draft.changes().is_empty() && draft.is_complete());
        draft.id = " search ".into();
        draft.keys.insert("retry".into(), String::new());
        draft.keys.insert("model".into(), String::new());
        draft.doer = StepAssignee::Person(AnswerKind::Approval);
        draft.with.insert("topic".into(), "tea".into());
        let of = || "look".to_owned();
        let expected = [
            WorkflowEdit::Assign { step: of(), doer: StepAssignee::Person(AnswerKind::Approval) },
            WorkflowEdit::Set { step: of(), key: "retry".into(), text: String::new() },
            WorkflowEdit::Rename { step: of(), to: "search".into() },
        ];
        assert_eq!(draft.changes(), expected);
        draft.doer = StepAssignee::Agent(" ".into());
        assert!(!draft.is_complete());
    }

    #[test]
    fn adding_a_dependency_keeps_the_draft() {
        let draft = StepDraft { prompt: "More".into(), ..StepDraft::of(&step()) };
        assert!(draft.is_based_on(&StepView { before: vec![0], ..step() }));
        assert!(!draft.is_based_on(&StepView { prompt: "Other".into(), ..step() }));
    }
}
