//! Proposes the remaining changes of an agent's worktree at the end of its work if the model did not.

use serde_json::json;

use super::access::RoomAccess;
use super::core::Kernel;
use crate::base::ActivationKey;
use crate::gate::PROPOSE_CHANGES;
use crate::mind::{ToolCall, WorkReply};
use crate::workspace::vfs::ChangedInWorktree;

impl RoomAccess<'_, '_> {
    /// Adds a call that proposes the worktree's changes to a reply that concludes the work. A person decides about all
    /// changes at once, and the decision is the result of the call. Changes that cannot be shown to a person whole are not
    /// merged, and the work is not done.
    pub(super) fn with_proposal(&mut self, kernel: &mut Kernel, key: ActivationKey, mut reply: WorkReply) -> WorkReply {
        let concludes = reply.tool_calls.is_empty() && reply.cut_at_tokens.is_none() && !reply.text.trim().is_empty();
        let Some(one) = kernel.activation(key).filter(|one| concludes && one.mail.is_empty()) else { return reply };
        let Some(changes) = self.worktrees.changes(&one.agent) else { return reply };
        let can_be_merged = changes.files.iter().any(|file| file.left_out.is_none());
        let bounds = self.bounds_of(kernel, one);
        let may_propose = bounds.has_worktree() && bounds.tools().contains(PROPOSE_CHANGES);
        if can_be_merged && may_propose && one.proposed != Some(changes.hash) {
            let id = format!("propose-{}", one.turn);
            reply.tool_calls.push(ToolCall::new(&id, PROPOSE_CHANGES, json!({})));
        } else if may_propose {
            let too_long = changes.files.iter().filter(|file| file.is_too_long);
            let why = |file: &ChangedInWorktree| Some(format!("'{}': {}", file.path, file.left_out.as_ref()?));
            let too_long: Vec<String> = too_long.filter_map(why).collect();
            if !too_long.is_empty() {
                let one = one.clone();
                self.report_unmerged(&one, &too_long);
                kernel.note_unmerged(key, &too_long);
            }
        }
        reply
    }
}
