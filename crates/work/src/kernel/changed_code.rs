//! Decisions about calls whose command would run files of the workspace that changed.

use super::activation::{Call, CallProgress};
use super::core::Kernel;
use crate::base::ActivationKey;
use crate::gate::{Decision, ask_rules};
use crate::gateway::SeenCode;
use crate::tools::ToolPlan;

impl Kernel {
    /// The decision about a call whose command would run files that changed: each change needs approval, unless a person
    /// just allowed the call.
    pub(super) fn with_changed_code(&self, decision: Decision, call: &Call, plan: Option<&ToolPlan>) -> Decision {
        let Some((seen, plan)) = call.code.as_deref().zip(plan).filter(|_| !call.is_allowed) else { return decision };
        let target = plan.touches.first().map_or("", |touch| &touch.target);
        let changes = self.known_code.changes(seen, target);
        let mut rules = match decision {
            Decision::Deny { .. } => return decision,
            _ if changes.is_empty() => return decision,
            Decision::Allow => Vec::new(),
            Decision::Ask { rules, .. } => rules,
        };
        // The changes are shown whole, however many other reasons there are.
        let others = Some(ask_rules::because(&rules)).filter(|others| !others.is_empty());
        let why: Vec<String> = others.into_iter().chain(changes.iter().map(|rule| rule.source.because())).collect();
        rules.extend(changes);
        Decision::Ask { why: why.join(", and "), rules }
    }

    /// Applies a look at the files that a call would run, after which the gate decides about it again. A permission for
    /// exactly these files stays.
    pub(super) fn note_code(&mut self, (key, turn, index): (ActivationKey, u32, usize), seen: SeenCode) {
        self.known_code.note(&seen);
        let Some(call) = self.running_call_mut(key, turn, index) else { return };
        call.is_allowed &= call.code.as_deref() == Some(&seen);
        call.code = Some(Box::new(seen));
        call.looks += 1;
        (call.is_code_current, call.order) = (true, None);
        call.progress = CallProgress::Pending;
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.is_unwritten = true;
        }
        self.is_unsettled = true;
    }
}
