//! What the room hears at the end of a tick: thoughts that are over, elements that changed, news to tell.
//!
//! Heard in the tick in which it was said, so that nothing is under way between two ticks but what is saved.

use bevy::ecs::prelude::*;
use serde_json::json;

use super::activity::CompactionWanted;
use super::activity::{Explain, NewsHeard, Summons, SummonsWithdrawn, Think, ThinkDone, ThinkOutcome};
use super::body::{Body, BodyItem, Desk, Doing, News, PendingWork, ReadVersion, Sight, Timer};
use super::conversation::Conversations;
use super::queue::{Action, QueuedAction};
use super::state::StateEvent;
use super::steering::spot_beside;
use super::talks::{Talks, spoke};
use crate::agent::Agent;
use crate::base::text::truncate;
use crate::base::{AgentKey, Seq};
use crate::element::kind::{Urgency, Wake, kind};
use crate::element::{Element, ElementChange, ElementChanged, Elements};
use crate::schedule::ticks;
use crate::store::EventKind;

/// The most characters of an answer that stand in the log.
const ANSWER_CHARS: usize = 2_000;

/// Takes in why agents wait, and what became of their thinking.
pub(super) fn hear_thoughts(
    mut desk: Desk,
    mut bodies: Query<Body>,
    mut talks: ResMut<Talks>,
    mut conversations: ResMut<Conversations>,
    mut explained: MessageReader<Explain>,
    mut done: MessageReader<ThinkDone>,
) {
    for explain in explained.read() {
        let Some(Ok(mut body)) = desk.roster.entity(explain.agent).map(|entity| bodies.get_mut(entity)) else {
            continue;
        };
        if body.life.awaited == Some(explain.activity) {
            let event = if explain.for_person {
                StateEvent::MustWait { why: explain.why.clone() }
            } else {
                StateEvent::Explain(explain.why.clone())
            };
            desk.shift(&mut body, event, explain.cause);
        }
    }
    for thought in done.read() {
        let Some(Ok(mut body)) = desk.roster.entity(thought.agent).map(|entity| bodies.get_mut(entity)) else {
            continue;
        };
        // Too late: the agent has gone on to something else.
        if body.life.awaited != Some(thought.activity) {
            continue;
        }
        if let Think::Turn { conversation } = thought.think {
            let said = match &thought.outcome {
                ThinkOutcome::Said { text } => Ok(text.as_str()),
                ThinkOutcome::Nothing { .. } => Ok(""),
                ThinkOutcome::Failed { why, .. } => Err(why.as_str()),
            };
            let mut table = (&mut desk, &mut bodies, &mut *talks, &mut *conversations);
            spoke(&mut table, conversation, thought.agent, said, thought.cause);
            continue;
        }
        body.life.awaited = None;
        let doing = std::mem::take(&mut body.life.doing);
        finish(&mut desk, &mut body, doing, &thought.outcome, thought.cause);
    }
}

fn finish(desk: &mut Desk, body: &mut BodyItem, doing: Doing, outcome: &ThinkOutcome, cause: Seq) {
    let (word, said, why) = match outcome {
        ThinkOutcome::Said { text } => ("read", Some(truncate(text, ANSWER_CHARS)), None),
        ThinkOutcome::Nothing { why } => ("nothing", None, Some(why)),
        ThinkOutcome::Failed { why, .. } => ("failed", None, Some(why)),
    };
    let now = desk.now();
    let again = match doing {
        Doing::Reading { action, element, version, cause: asked, .. } => {
            let seen = desk.space.sight(element).map(|sight| (sight.id.clone(), sight.label.clone()));
            let (id, label) = seen.unzip();
            let data = json!({
                "element": id, "label": label, "version": version, "outcome": word, "said": said, "why": why,
            });
            desk.write(EventKind::Read, body, cause, data);
            if word != "failed" && id.is_some() {
                if word == "read" && body.life.version_read(element) != Some(version) {
                    body.life.learned_at = now;
                }
                body.life.read.insert(element, ReadVersion { version, tick: now });
            }
            Some(QueuedAction { action, cause: asked })
        }
        Doing::Compacting { cause: asked } => Some(QueuedAction { action: Action::CompactContext, cause: asked }),
        // How work went is recorded by whoever keeps it.
        _ => None,
    };
    let ThinkOutcome::Failed { why, passing } = outcome else {
        body.life.failures = 0;
        desk.shift(body, StateEvent::Done, cause);
        return;
    };
    let until = now + ticks(desk.minds.error_secs);
    if let Some(again) = again {
        body.life.failures += 1;
        if *passing && body.life.failures <= desk.minds.retries_at_most {
            let doubled = desk.minds.retry_least_secs * (1_u32 << (body.life.failures - 1).min(16)) as f32;
            body.life.retry_at = now + ticks(doubled.min(desk.minds.retry_most_secs));
            let retry_at = body.life.retry_at;
            desk.set(body, Timer::Retry, retry_at);
            desk.enqueue(body, again.action, again.cause);
        } else {
            body.life.failures = 0;
            desk.dropped(body, again, "it failed");
        }
    }
    desk.shift(body, StateEvent::Failed { why: why.clone().into(), until }, cause);
}

/// Tells agents that work waits for them, or does so no more.
pub(super) fn hear_summons(
    mut desk: Desk,
    mut bodies: Query<Body>,
    mut summons: MessageReader<Summons>,
    mut withdrawn: MessageReader<SummonsWithdrawn>,
) {
    for summons in summons.read() {
        let Some(Ok(mut body)) = desk.roster.entity(summons.agent).map(|entity| bodies.get_mut(entity)) else {
            continue;
        };
        body.life.work.push_back(PendingWork { activation: summons.activation, cause: summons.cause });
        desk.wake(&body);
    }
    for gone in withdrawn.read() {
        if let Some(Ok(mut body)) = desk.roster.entity(gone.agent).map(|entity| bodies.get_mut(entity)) {
            body.life.work.retain(|work| work.activation != gone.activation);
        }
    }
}

/// Lets changes of elements wake whom they concern.
pub(super) fn watch(
    mut desk: Desk,
    mut bodies: Query<Body>,
    mut changes: MessageReader<ElementChanged>,
    elements: Res<Elements>,
    all: Query<&Element>,
) {
    for changed in changes.read() {
        let element = elements.entity(changed.element).and_then(|entity| all.get(entity).ok());
        let Some(element) = element.filter(|_| changed.change != ElementChange::Removed) else {
            stop_walking_to(&mut desk, &mut bodies, changed);
            continue;
        };
        if changed.change == ElementChange::Rearranged {
            follow(&mut desk, &mut bodies, element);
        }
        // The first sight of an element wakes nobody.
        if changed.change == ElementChange::Added {
            continue;
        }
        let wake = kind(&element.kind).map_or(Wake::Nobody, |kind| (kind.wakes)(&changed.change));
        wake_readers(&mut desk, &mut bodies, element, wake, changed);
    }
}

/// Whether a change wakes this agent, and whether urgently.
fn wakes(wake: Wake, agent: &Agent, sight: &Sight, element: &Element) -> Option<bool> {
    let urgency = match wake {
        Wake::Nobody => return None,
        Wake::Everyone(urgency) => urgency,
        Wake::Owner(urgency) => {
            let owner = element.owner.as_ref()?;
            (*owner == agent.id || *owner == agent.profile).then_some(urgency)?
        }
    };
    sight.may_be_read_by(agent).then_some(urgency == Urgency::High)
}

fn wake_readers(desk: &mut Desk, bodies: &mut Query<Body>, element: &Element, wake: Wake, changed: &ElementChanged) {
    if matches!(wake, Wake::Nobody) {
        return;
    }
    let sight = Sight::of(element);
    let everyone: Vec<_> = desk.roster.iter().map(|(_, entity)| entity).collect();
    for entity in everyone {
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        if changed.by.0 == body.agent.id {
            // Whoever changed it knows what it did, if it knew what stood there before.
            if let Some(read) = body.life.read.get_mut(&element.key)
                && read.version + 1 == element.version
            {
                read.version = element.version;
            }
            continue;
        }
        let Some(high) = wakes(wake, body.agent, &sight, element) else { continue };
        if body.life.version_read(element.key) != Some(element.version) {
            desk.enqueue(&mut body, Action::ReadElement { element: element.key, high }, changed.cause);
        }
    }
}

fn stop_walking_to(desk: &mut Desk, bodies: &mut Query<Body>, changed: &ElementChanged) {
    let everyone: Vec<_> = desk.roster.iter().map(|(_, entity)| entity).collect();
    for entity in everyone {
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        body.life.read.remove(&changed.element);
        body.life.told.remove(&changed.element);
        let Doing::Reading { action, element, cause, .. } = body.life.doing else { continue };
        if element == changed.element && body.life.awaited.is_none() {
            body.life.doing = Doing::Nothing;
            desk.dropped(&mut body, QueuedAction { action, cause }, "it is gone");
            desk.shift(&mut body, StateEvent::Done, changed.cause);
        }
    }
}

/// Sends those who walk to an element to where it stands now.
fn follow(desk: &mut Desk, bodies: &mut Query<Body>, element: &Element) {
    let reach = desk.feet.reading_reach_units;
    let everyone: Vec<_> = desk.roster.iter().map(|(_, entity)| entity).collect();
    for entity in everyone {
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        let (from, key) = (body.position.0, body.agent.key.0);
        let walks = body.life.awaited.is_none();
        if let Doing::Reading { element: wanted, ref mut spot, ref mut arrive, .. } = body.life.doing
            && wanted == element.key
            && walks
        {
            (*spot, *arrive) = spot_beside(element.position, from, key, reach);
            desk.settle(&mut body);
        }
    }
}

/// Takes in who has something to tell, and whose session is to be summed up.
pub(super) fn hear_wishes(
    mut desk: Desk,
    mut bodies: Query<Body>,
    mut news: MessageReader<NewsHeard>,
    mut compactions: MessageReader<CompactionWanted>,
    talks: Res<Talks>,
) {
    for wanted in compactions.read() {
        if let Some(Ok(mut body)) = desk.roster.entity(wanted.agent).map(|entity| bodies.get_mut(entity)) {
            desk.enqueue(&mut body, Action::CompactContext, wanted.cause);
        }
    }
    for heard in news.read().filter(|heard| heard.may_tell) {
        if !talks.switched_on() {
            continue;
        }
        let Some(to) = whom_to_tell(&desk, &bodies, heard) else { continue };
        let Some(Ok(mut body)) = desk.roster.entity(heard.agent).map(|entity| bodies.get_mut(entity)) else { continue };
        let action = QueuedAction { action: Action::ApproachAgent { agent: to }, cause: heard.cause };
        if body.life.news.is_some() {
            let data = json!({ "action": action.action.word(), "why": "it has something else to tell already" });
            desk.write(EventKind::ActionDropped, &body, heard.cause, data);
            continue;
        }
        body.life.news = Some(News {
            to,
            element: heard.element,
            version: heard.version,
            note: heard.note.clone(),
            cause: heard.cause,
        });
        desk.enqueue(&mut body, action.action, heard.cause);
    }
}

/// The nearest agent that may hear it, has not read it and was not told.
fn whom_to_tell(desk: &Desk, bodies: &Query<Body>, heard: &NewsHeard) -> Option<AgentKey> {
    let sight = desk.space.sight(heard.element)?;
    let from = desk.space.position(heard.agent)?;
    let near = desk.space.agents_within(from, desk.minds.tell_units);
    near.into_iter().filter(|agent| *agent != heard.agent).find(|agent| {
        desk.roster.entity(*agent).and_then(|entity| bodies.get(entity).ok()).is_some_and(|body| {
            let known = body.life.version_read(heard.element).max(body.life.told.get(&heard.element).copied());
            sight.may_be_read_by(body.agent) && known.is_none_or(|known| known < heard.version)
        })
    })
}
