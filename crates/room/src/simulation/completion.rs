//! Ends actions: they succeeded, failed and wait, or are replaced by something else.

use super::components::{ActivityKind, AgentQueryItem, ReadVersion};
use super::context::SimContext;
use super::mind_messages::{FailureCause, ThinkOutcome};
use super::queue::{Action, QueuedAction};
use super::state::StateEvent;
use crate::base::text::truncate;
use crate::base::{Backoff, Seq};
use crate::log::events::{self, ReadOutcome};
use crate::schedule::ticks;

/// The maximum length of an answer in the log, in characters.
const ANSWER_CHARS: usize = 2_000;

/// Puts an agent's current read, interest or compaction back into its queue.
pub(super) fn read_later(sim: &mut SimContext, body: &mut AgentQueryItem) {
    let cause = body.activity.state_record;
    let Some(again) = std::mem::take(&mut body.activity.doing).queued_again() else { return };
    sim.transition(body, StateEvent::Done, cause);
    sim.enqueue_again(body, again);
}

/// Ends an agent's activity after thinking, or if there was nothing to think about.
pub(super) fn finish(
    sim: &mut SimContext,
    body: &mut AgentQueryItem,
    doing: ActivityKind,
    outcome: &ThinkOutcome,
    cause: Seq,
) {
    let (how, said, why) = match outcome {
        ThinkOutcome::Said { text } | ThinkOutcome::Partly { text } | ThinkOutcome::Bye { text } => {
            (ReadOutcome::Read, Some(truncate(text, ANSWER_CHARS)).filter(|said| !said.is_empty()), None)
        }
        ThinkOutcome::Nothing { why } => (ReadOutcome::Nothing, None, Some(why)),
        ThinkOutcome::Failed { why, .. } => (ReadOutcome::Failed, None, Some(why)),
        ThinkOutcome::PutOff => (ReadOutcome::Nothing, None, None),
    };
    let now = sim.now();
    // Of everything else, the change of the state is the only record.
    let is_recorded = match &doing {
        ActivityKind::Attending { .. } => said.is_some(),
        ActivityKind::Compacting { .. } => false,
        _ => true,
    };
    let done = |sim: &mut SimContext, body: &mut AgentQueryItem| match is_recorded {
        true => sim.transition(body, StateEvent::Done, cause),
        false => sim.end_activity(body, cause),
    };
    let again = match &doing {
        ActivityKind::Reading { action, element, version, cause: asked, failures, .. } => {
            let (element, version) = (*element, *version);
            let seen = sim.space.sight(element).map(|sight| (sight.id.clone(), sight.label.clone()));
            let (id, label) = seen.unzip();
            let read = events::Read {
                element: id.clone(),
                label,
                version: Some(version),
                outcome: how,
                said,
                why: why.map(|why| why.clone().into()),
            };
            sim.write(body, cause, &read);
            if how != ReadOutcome::Failed && id.is_some() {
                if how == ReadOutcome::Read && body.activity.version_read(element) != Some(version) {
                    body.activity.heard = body.activity.heard.newer(body.activity.origin);
                }
                // For content that it saw only in part, the last fully known version counts.
                let is_part = matches!(outcome, ThinkOutcome::Partly { .. });
                let known = if is_part { version.checked_sub(1) } else { Some(version) };
                if let Some(version) = known {
                    body.activity.read.insert(element, ReadVersion { version, tick: now });
                }
            }
            let again = QueuedAction { failures: failures + 1, ..QueuedAction::new(action.clone(), *asked) };
            Some((again, Some((element, version))))
        }
        ActivityKind::Attending { pending, cause: asked, failures } => {
            if let Some(text) = said {
                let id = Some(sim.messages.issue(&sim.log).id());
                sim.write(body, cause, &events::Message { by: None, text, id });
            }
            if how == ReadOutcome::Read {
                body.activity.heard = body.activity.heard.newer(pending.origin);
            }
            let action = Action::Attend(pending.clone());
            Some((QueuedAction { failures: failures + 1, ..QueuedAction::new(action, *asked) }, None))
        }
        // The result of work is recorded by the layer that owns it.
        _ => None,
    };
    let ThinkOutcome::Failed { why, cause: failure } = outcome else {
        if let Some(wait) = &mut body.activity.model_wait {
            wait.tries = 0;
        }
        done(sim, body);
        return;
    };
    let tries_before = body.activity.model_wait.as_ref().map_or(0, |wait| wait.tries);
    if let ActivityKind::Compacting { cause: asked, failures } = doing {
        if *failure == FailureCause::Model {
            let again = QueuedAction { failures: failures + 1, ..QueuedAction::new(Action::CompactContext, asked) };
            retry_later(sim, body, again, tries_before);
        }
        // Otherwise, the owner of the session gives the reason, and requests it again in time. Nothing waits for it.
        done(sim, body);
        return;
    }
    let until = now + ticks(sim.attention.error_secs);
    if let Some((again, read)) = again {
        if *failure == FailureCause::Content && body.activity.model_wait.is_none() {
            body.activity.given_up.extend(read);
            sim.dropped(body, &again, "the model does not take it");
        } else {
            retry_later(sim, body, again, tries_before);
        }
    }
    sim.transition(body, StateEvent::Failed { why: why.clone().into(), until }, cause);
}

/// Puts a failed action back into the queue, later after each failure. If the agent only tried with it whether its
/// model answers again, it tries with something else next time, and the action is due as soon as the model answers.
fn retry_later(sim: &mut SimContext, body: &mut AgentQueryItem, again: QueuedAction, tries_before: u32) {
    let tried = tries_before > 0;
    let failures = if tried { again.failures.saturating_sub(1) } else { again.failures };
    let doublings = if tried { tries_before } else { failures.saturating_sub(1) };
    let backoff = Backoff::new(sim.attention.min_retry_delay_secs, sim.attention.max_retry_delay_secs);
    let wait_secs = backoff.wait_secs(doublings.min(sim.attention.max_retries));
    let retry_at = sim.now() + ticks(wait_secs as f32);
    sim.enqueue_again(body, QueuedAction { failures, tried, ..again }.not_before(retry_at));
}
