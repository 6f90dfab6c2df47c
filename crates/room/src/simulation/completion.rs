//! Ends actions: they succeeded, failed and are retried, or are replaced by something else.

use super::components::{ActivityKind, AgentQueryItem, ReadVersion};
use super::context::SimContext;
use super::mind_messages::ThinkOutcome;
use super::queue::{Action, QueuedAction};
use super::state::StateEvent;
use crate::base::text::truncate;
use crate::base::{Backoff, Seq};
use crate::log::events::{self, ReadOutcome};
use crate::schedule::ticks;

/// The maximum length of an answer in the log, in characters.
const ANSWER_CHARS: usize = 2_000;

/// Puts an agent's current read or interest back into its queue.
pub(super) fn read_later(sim: &mut SimContext, body: &mut AgentQueryItem) {
    let cause = body.activity.state_record;
    let Some(again) = std::mem::take(&mut body.activity.doing).queued_again() else { return };
    sim.transition(body, StateEvent::Done, cause);
    sim.enqueue_later(body, again);
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
    let ThinkOutcome::Failed { why, passing } = outcome else {
        body.activity.given_up.clear();
        sim.transition(body, StateEvent::Done, cause);
        return;
    };
    if let ActivityKind::Compacting { .. } = doing {
        // The owner of the session gives the reason, and requests it again in time: nothing else waits for it.
        sim.transition(body, StateEvent::Done, cause);
        return;
    }
    let until = now + ticks(sim.attention.error_secs);
    if let Some((again, read)) = again {
        if *passing && again.failures <= sim.attention.retries_at_most {
            let backoff = Backoff::new(sim.attention.retry_least_secs, sim.attention.retry_most_secs);
            let retry_at = now + ticks(backoff.wait_secs(again.failures - 1) as f32);
            sim.enqueue_later(body, again.not_before(retry_at));
        } else {
            body.activity.given_up.extend(read);
            sim.dropped(body, &again, "it failed");
        }
    }
    sim.transition(body, StateEvent::Failed { why: why.clone().into(), until }, cause);
}
