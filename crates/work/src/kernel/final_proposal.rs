//! The end of work in an agent's worktree: its remaining changes are proposed, even if the model did not do so.

use serde_json::json;

use super::access::RoomAccess;
use super::core::Kernel;
use crate::base::ActivationKey;
use crate::gate::PROPOSE_CHANGES;
use crate::mind::{ToolCall, WorkReply};

impl RoomAccess<'_, '_> {
    /// A reply that concludes work whose agent changed something in its own copy, with the call that proposes the
    /// changes: one question to a person about all of them, and the person's answer is the result of the call.
    pub(super) fn with_proposal(&self, kernel: &Kernel, key: ActivationKey, mut reply: WorkReply) -> WorkReply {
        let concludes = reply.tool_calls.is_empty() && reply.cut_at_tokens.is_none() && !reply.text.trim().is_empty();
        let Some(one) = kernel.activation(key).filter(|one| concludes && one.mail.is_empty()) else { return reply };
        let Some(changes) = self.worktrees.changes(&one.agent) else { return reply };
        let can_be_merged = changes.files.iter().any(|file| file.left_out.is_none());
        let bounds = self.bounds_of(kernel, one);
        let may_propose = bounds.has_worktree() && bounds.tools().contains(PROPOSE_CHANGES);
        if can_be_merged && may_propose && one.proposed != Some(changes.hash) {
            let id = format!("propose-{}", one.turn);
            reply.tool_calls.push(ToolCall::new(&id, PROPOSE_CHANGES, json!({})));
        }
        reply
    }
}
