//! The actions of one daemon step, for JSON output: which agent called which tool or ended its work, with what result,
//! and which files changed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::base::text::{one_line, truncate};
use crate::base::{Id, Seq};
use crate::log::EventRecord;
use crate::log::events::{
    Abort, Activation, ApprovalDecided, Complete, FileChange, Gate, ToolCall, ToolResult, enum_name,
};

/// The maximum number of listed actions.
const MAX_ACTIONS: usize = 1_000;
/// The maximum length of a result, in characters.
const RESULT_CHARS: usize = 400;

/// One action.
#[derive(Clone, PartialEq, Debug)]
struct ReportedAction {
    json: Value,
    /// The event record of the tool call, if it is one.
    call: Option<Seq>,
    /// The activation and the provider's call id, if it is a tool call.
    name: Option<(Option<Id>, String)>,
    files: Vec<String>,
}

/// The actions of a step, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct ActionLog {
    all: Vec<ReportedAction>,
    /// Files changed by calls of an earlier step whose results have not arrived yet, by the record of the call.
    changed: BTreeMap<Seq, Vec<String>>,
}

impl ActionLog {
    /// Records the actions among these events.
    pub(super) fn watch(&mut self, events: &[EventRecord]) {
        for event in events {
            self.note(event);
        }
    }

    fn note(&mut self, event: &EventRecord) {
        if let Some(call) = event.read::<ToolCall>() {
            let action = json!({
                "act": "tool", "agent": event.draft.agent, "tool": call.tool, "target": call.target,
                "gate": call.gate.map(enum_name),
            });
            let name = Some((event.draft.activation.clone(), call.id));
            self.push(ReportedAction { json: action, call: Some(event.seq), name, files: Vec::new() });
        } else if let Some(result) = event.read::<ToolResult>() {
            let name = (event.draft.activation.clone(), result.id);
            let at = self.all.iter().rposition(|action| action.name.as_ref() == Some(&name));
            let at = at.or_else(|| {
                // It was called in an earlier step and had to wait.
                let action = json!({ "act": "tool", "agent": event.draft.agent, "tool": result.tool });
                let call = event.draft.cause;
                let files = call.and_then(|call| self.changed.remove(&call)).unwrap_or_default();
                let is_new = self.push(ReportedAction { json: action, call, name: Some(name), files });
                is_new.then(|| self.all.len() - 1)
            });
            let Some(action) = at.and_then(|at| self.all.get_mut(at)) else { return };
            action.json["ok"] = result.ok.into();
            action.json["result"] = truncate(&one_line(&result.text), RESULT_CHARS).into();
        } else if let Some(change) = event.read::<FileChange>() {
            let Some(cause) = event.draft.cause else { return };
            let path = change.path.to_string();
            let files = match self.all.iter_mut().rev().find(|action| action.call == Some(cause)) {
                Some(action) => &mut action.files,
                None if self.changed.len() < MAX_ACTIONS => self.changed.entry(cause).or_default(),
                None => return,
            };
            if !files.contains(&path) {
                files.push(path);
            }
        } else if let Some(decided) = event.read::<ApprovalDecided>() {
            let is_allowed = decided.decision == Some(Gate::Allow);
            self.push_event(
                event,
                json!({ "act": "decided", "tool": decided.tool, "by": decided.by, "allowed": is_allowed }),
            );
        } else if let Some(started) = event.read::<Activation>() {
            let task = truncate(&one_line(&started.task), RESULT_CHARS);
            self.push_event(event, json!({ "act": "began", "task": task, "by": started.by }));
        } else if let Some(done) = event.read::<Complete>() {
            let text = truncate(&one_line(&done.text), RESULT_CHARS);
            self.push_event(event, json!({ "act": "completed", "ok": true, "result": text }));
        } else if let Some(ended) = event.read::<Abort>() {
            self.push_event(event, json!({ "act": "aborted", "ok": false, "result": ended.what }));
        }
    }

    fn push_event(&mut self, event: &EventRecord, mut json: Value) {
        json["agent"] = event.draft.agent.as_deref().into();
        self.push(ReportedAction { json, call: None, name: None, files: Vec::new() });
    }

    /// Adds an action. Returns `false` if the list is full.
    fn push(&mut self, action: ReportedAction) -> bool {
        let has_room = self.all.len() < MAX_ACTIONS;
        if has_room {
            self.all.push(action);
        }
        has_room
    }

    /// As JSON.
    pub(super) fn list(&self) -> Vec<Value> {
        let shown = |action: &ReportedAction| {
            let mut json = action.json.clone();
            if action.name.is_some() {
                json["files"] = action.files.clone().into();
            }
            json
        };
        self.all.iter().map(shown).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::EventDraft;
    use crate::log::events::EventData;

    fn record(seq: u64, event: &impl EventData, cause: Option<u64>) -> EventRecord {
        let draft = EventDraft::of(event).agent(&"lead".into()).activation(&"act-1".into());
        let draft = match cause {
            Some(cause) => draft.cause(Seq(cause)),
            None => draft,
        };
        EventRecord { seq: Seq(seq), tick: 1, time_ms: 0, run: "r-1".into(), draft }
    }

    #[test]
    fn a_call_is_listed_with_its_result_and_changed_files() {
        let call =
            ToolCall { tool: "vfs_write".into(), id: "c1".into(), target: Some("a.md".into()), ..ToolCall::default() };
        let result = ToolResult { tool: "vfs_write".into(), id: "c1".into(), ok: true, text: "Written.\nYes.".into() };
        let mut actions = ActionLog::default();
        actions.watch(&[
            record(4, &call, None),
            record(5, &FileChange::new("a.md", "lead"), Some(4)),
            record(6, &FileChange::new("b.md", "other"), Some(3)),
            record(7, &result, Some(4)),
        ]);
        let list = actions.list();
        assert_eq!(list.len(), 1);
        assert_eq!(list[0]["files"], json!(["a.md"]));
        assert_eq!(
            (&list[0]["agent"], &list[0]["ok"], &list[0]["result"]),
            (&json!("lead"), &json!(true), &json!("Written. Yes."))
        );
    }

    #[test]
    fn a_call_of_an_earlier_step_is_listed_in_the_step_of_its_result() {
        let result = ToolResult { tool: "vfs_write".into(), id: "c1".into(), ok: true, text: "Written.".into() };
        let mut actions = ActionLog::default();
        actions.watch(&[
            record(6, &FileChange::new("a.md", "lead"), Some(4)),
            record(7, &result, Some(4)),
            record(8, &Complete { text: "Done.".into(), ..Complete::default() }, None),
        ]);
        let kinds: Vec<Value> = actions.list().iter().map(|action| action["act"].clone()).collect();
        assert_eq!(kinds, ["tool", "completed"]);
    }
}
