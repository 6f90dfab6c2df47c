//! Unsaved changes of a step, and the edits of the workflow's file that they result in.

use std::collections::BTreeMap;

use crate::orchestration::workflow::edit::{StepAssignee, WorkflowEdit};
use crate::view::workflows::StepView;

/// What is being written into the fields of a step.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct StepDraft {
    /// The step when editing began, without its dependencies.
    of: StepView,
    pub(super) id: String,
    pub(super) doer: StepAssignee,
    pub(super) with: BTreeMap<String, String>,
    pub(super) prompt: String,
    pub(super) outputs: String,
    /// By key of the file: `when`, `retry`.
    pub(super) keys: BTreeMap<String, String>,
}

/// The step's own content: arrows to it are not edited here.
fn said(step: &StepView) -> StepView {
    StepView { before: Vec::new(), ..step.clone() }
}

impl StepDraft {
    /// A draft that says what the step says.
    pub(super) fn of(step: &StepView) -> Self {
        Self {
            of: said(step),
            id: step.id.clone(),
            doer: step.doer.clone(),
            with: step.with.clone(),
            prompt: step.prompt.clone(),
            outputs: step.outputs.join(", "),
            keys: step.keys.clone(),
        }
    }

    /// Whether it was begun from what this step says now.
    pub(super) fn is_of(&self, step: &StepView) -> bool {
        self.of == said(step)
    }

    /// Whether a step can be so.
    pub(super) fn is_whole(&self) -> bool {
        let is_named = match &self.doer {
            StepAssignee::Agent(name) | StepAssignee::Workflow(name) => !name.trim().is_empty(),
            StepAssignee::Person(_) => true,
        };
        is_named && !self.id.trim().is_empty()
    }

    /// What is to change. The step gets its new name last: the other changes know it by the old one.
    pub(super) fn changes(&self) -> Vec<WorkflowEdit> {
        let (step, of) = (&self.of.id, &self.of);
        let set = |key: &str, text: &str| WorkflowEdit::Set { step: step.clone(), key: key.into(), text: text.into() };
        let mut changes = Vec::new();
        let doer = match &self.doer {
            StepAssignee::Agent(agent) => StepAssignee::Agent(agent.trim().to_owned()),
            StepAssignee::Workflow(workflow) => StepAssignee::Workflow(workflow.trim().to_owned()),
            StepAssignee::Person(wants) => StepAssignee::Person(*wants),
        };
        let has_variables = matches!(doer, StepAssignee::Workflow(_));
        if doer != of.doer {
            changes.push(WorkflowEdit::Assign { step: step.clone(), doer });
        }
        let with: BTreeMap<String, String> =
            self.with.iter().filter(|(_, text)| !text.trim().is_empty()).map(|(k, v)| (k.clone(), v.clone())).collect();
        if has_variables && with != of.with {
            changes.push(WorkflowEdit::With { step: step.clone(), variables: with });
        }
        if self.prompt != of.prompt {
            changes.push(set("prompt", &self.prompt));
        }
        let names: Vec<String> =
            self.outputs.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        if names != of.outputs {
            changes.push(WorkflowEdit::Outputs { step: step.clone(), names });
        }
        for (key, text) in &self.keys {
            if text.trim() != of.keys.get(key).map_or("", String::as_str).trim() {
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
    use crate::orchestration::workflow::definition::PersonWants;

    fn step() -> StepView {
        let keys = [("retry".to_owned(), "2".to_owned())].into();
        StepView { id: "look".into(), doer: StepAssignee::Agent("ada".into()), keys, ..StepView::default() }
    }

    #[test]
    fn only_what_was_written_changes_and_the_name_comes_last() {
        let mut draft = StepDraft::of(&step());
        assert!(draft.changes().is_empty() && draft.is_whole());
        draft.id = " search ".into();
        draft.keys.insert("retry".into(), String::new());
        draft.keys.insert("model".into(), String::new());
        draft.doer = StepAssignee::Person(PersonWants::Approval);
        draft.with.insert("topic".into(), "tea".into());
        let of = || "look".to_owned();
        let expected = [
            WorkflowEdit::Assign { step: of(), doer: StepAssignee::Person(PersonWants::Approval) },
            WorkflowEdit::Set { step: of(), key: "retry".into(), text: String::new() },
            WorkflowEdit::Rename { step: of(), to: "search".into() },
        ];
        assert_eq!(draft.changes(), expected);
        draft.doer = StepAssignee::Agent(" ".into());
        assert!(!draft.is_whole());
    }

    #[test]
    fn an_arrow_that_is_drawn_meanwhile_leaves_what_was_written() {
        let draft = StepDraft { prompt: "More".into(), ..StepDraft::of(&step()) };
        assert!(draft.is_of(&StepView { before: vec![0], ..step() }));
        assert!(!draft.is_of(&StepView { prompt: "Other".into(), ..step() }));
    }
}
