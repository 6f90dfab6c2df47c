//! What the room hears at the end of a tick: thoughts that are over, elements that changed, news to tell.
//!
//! Heard in the tick in which it was said, so that nothing is under way between two ticks but what is saved.

use bevy::ecs::prelude::*;

use super::actions::read_later;
use super::activity::CompactionWanted;
use super::activity::{Explain, NewsHeard, Summons, SummonsWithdrawn, Think, ThinkDone, ThinkOutcome};
use super::body::{Body, BodyItem, Desk, Doing, News, PendingWork, ReadVersion, Sight};
use super::conversation::Conversations;
use super::interest::{PendingInterest, Place, WakeAgent};
use super::origin::Origin;
use super::queue::{Action, QueuedAction};
use super::state::StateEvent;
use super::steering::spot_beside;
use super::talks::{Talks, spoke};
use crate::agent::Agent;
use crate::base::spelling::Words;
use crate::base::text::truncate;
use crate::base::{AgentKey, Author, Id, Seq};
use crate::element::kind::kind;
use crate::element::{Element, ElementChange, ElementChanged, Elements, Held, Wake, owns};
use crate::log::EventDraft;
use crate::log::events::{self, ReadOutcome};
use crate::schedule::ticks;

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
            let mut table = (&mut desk, &mut bodies, &mut *talks, &mut *conversations);
            spoke(&mut table, conversation, thought.agent, &thought.outcome, thought.cause);
            continue;
        }
        body.life.awaited = None;
        let may_wait = matches!(body.life.doing, Doing::Reading { .. } | Doing::Attending { .. });
        if may_wait && thought.outcome == ThinkOutcome::PutOff {
            read_later(&mut desk, &mut body);
            continue;
        }
        let doing = std::mem::take(&mut body.life.doing);
        finish(&mut desk, &mut body, doing, &thought.outcome, thought.cause);
    }
}

/// Ends what an agent did, now that it has thought about it or need not.
pub(super) fn finish(desk: &mut Desk, body: &mut BodyItem, doing: Doing, outcome: &ThinkOutcome, cause: Seq) {
    let (how, said, why) = match outcome {
        ThinkOutcome::Said { text } | ThinkOutcome::Partly { text } | ThinkOutcome::Bye { text } => {
            (ReadOutcome::Read, Some(truncate(text, ANSWER_CHARS)).filter(|said| !said.is_empty()), None)
        }
        ThinkOutcome::Nothing { why } => (ReadOutcome::Nothing, None, Some(why)),
        ThinkOutcome::Failed { why, .. } => (ReadOutcome::Failed, None, Some(why)),
        ThinkOutcome::PutOff => (ReadOutcome::Nothing, None, None),
    };
    let now = desk.now();
    let again = match &doing {
        Doing::Reading { action, element, version, cause: asked, failures, .. } => {
            let (element, version) = (*element, *version);
            let seen = desk.space.sight(element).map(|sight| (sight.id.clone(), sight.label.clone()));
            let (id, label) = seen.unzip();
            let read = events::Read {
                element: id.clone(),
                label,
                version: Some(version),
                outcome: how,
                said,
                why: why.map(|why| why.clone().into()),
            };
            desk.write(body, cause, &read);
            if how != ReadOutcome::Failed && id.is_some() {
                if how == ReadOutcome::Read && body.life.version_read(element) != Some(version) {
                    body.life.heard = body.life.heard.newer(body.life.origin);
                }
                // Of what it saw in part only, an older version stands for what it knows.
                let is_part = matches!(outcome, ThinkOutcome::Partly { .. });
                let known = if is_part { version.checked_sub(1) } else { Some(version) };
                if let Some(version) = known {
                    body.life.read.insert(element, ReadVersion { version, tick: now });
                }
            }
            let again = QueuedAction { failures: failures + 1, ..QueuedAction::new(action.clone(), *asked) };
            Some((again, Some((element, version))))
        }
        Doing::Attending { pending, cause: asked, failures } => {
            if let Some(text) = said {
                desk.write(body, cause, &events::Message { by: None, text });
            }
            if how == ReadOutcome::Read {
                body.life.heard = body.life.heard.newer(pending.origin);
            }
            let action = Action::Attend(pending.clone());
            Some((QueuedAction { failures: failures + 1, ..QueuedAction::new(action, *asked) }, None))
        }
        // How work went is recorded by whoever keeps it.
        _ => None,
    };
    let ThinkOutcome::Failed { why, passing } = outcome else {
        body.life.given_up.clear();
        desk.shift(body, StateEvent::Done, cause);
        return;
    };
    if let Doing::Compacting { .. } = doing {
        // Whoever keeps the session says why, and asks for it again in time: nothing else waits for that.
        desk.shift(body, StateEvent::Done, cause);
        return;
    }
    let until = now + ticks(desk.minds.error_secs);
    if let Some((again, read)) = again {
        if *passing && again.failures <= desk.minds.retries_at_most {
            let doubled = desk.minds.retry_least_secs * (1_u32 << (again.failures - 1).min(16)) as f32;
            let retry_at = now + ticks(doubled.min(desk.minds.retry_most_secs));
            desk.enqueue_later(body, again.not_before(retry_at));
        } else {
            body.life.given_up.extend(read);
            desk.dropped(body, &again, "it failed");
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
    all: Query<(&Element, Option<&Held>)>,
) {
    for changed in changes.read() {
        let element = elements.entity(changed.element).and_then(|entity| all.get(entity).ok());
        let Some((element, held)) = element.filter(|_| !changed.change.is(ElementChange::REMOVED)) else {
            desk.changes.forget(changed.element);
            stop_walking_to(&mut desk, &mut bodies, changed);
            continue;
        };
        let origin = origin_of(&desk, &bodies, &changed.by, changed.cause);
        let hops_at_most = desk.minds.hops_at_most;
        if !changed.change.is(ElementChange::REARRANGED) {
            desk.changes.note(element.key, element.version, origin, hops_at_most);
        }
        if changed.change.is(ElementChange::REARRANGED) {
            follow(&mut desk, &mut bodies, element);
        }
        // The first sight of an element wakes nobody.
        if changed.change.is(ElementChange::ADDED) {
            continue;
        }
        let wake = kind(&element.kind).map_or(Wake::Nobody, |kind| kind.wakes(&changed.change));
        let item = changed.change.item().and_then(|id| held?.0.item(id));
        let change = Change { changed, element, wake, origin, author: item.map(|(author, _)| author) };
        let words = item.map(|(_, text)| Words::of(text));
        wake_readers(&mut desk, &mut bodies, &change, words.as_ref());
    }
}

/// Where something comes from: an agent's act from what it thought about last, everyone else's from outside.
fn origin_of(desk: &Desk, bodies: &Query<Body>, by: &Author, cause: Seq) -> Origin {
    let agent = desk.roster.key(&by.0).and_then(|key| desk.roster.entity(key));
    match agent.and_then(|entity| bodies.get(entity).ok()) {
        Some(body) => body.life.origin.handed_on(),
        None => Origin::outside(cause, desk.now()),
    }
}

/// Lets agents turn to what calls them.
pub(super) fn wake(mut desk: Desk, mut bodies: Query<Body>, mut wakes: MessageReader<WakeAgent>) {
    for wake in wakes.read() {
        let WakeAgent { agent, interest, by, cause } = wake;
        let origin = origin_of(&desk, &bodies, by, *cause);
        let Some(Ok(mut body)) = desk.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) else {
            let what = format!("nobody is there to be woken: {}", interest.why.sentence);
            desk.log.write(EventDraft::of(&events::Warning::new(what)).cause(*cause));
            continue;
        };
        let pending = PendingInterest { interest: interest.clone().bounded(), origin };
        let action = QueuedAction::new(Action::Attend(Box::new(pending)), *cause);
        if origin.hops > desk.minds.hops_at_most {
            desk.dropped(&mut body, &action, "agents have handed it on often enough");
            continue;
        }
        desk.enqueue_later(&mut body, action);
    }
}

/// A change, as those see it whom it may wake.
struct Change<'a> {
    changed: &'a ElementChanged,
    element: &'a Element,
    wake: Wake,
    origin: Origin,
    /// Who wrote the item that it is about, by id.
    author: Option<&'a Id>,
}

/// Whether a change wakes this agent, and whether urgently.
fn wakes(change: &Change, agent: &Agent, sight: &Sight) -> Option<bool> {
    let urgency = match change.wake {
        Wake::Nobody => return None,
        Wake::Everyone(urgency) => urgency,
        Wake::Owner(urgency) => owns(change.element.owner.as_ref(), agent).then_some(urgency)?,
        Wake::Author(urgency) => (change.author == Some(&agent.id)).then_some(urgency)?,
    };
    sight.may_be_read_by(agent).then_some(urgency.is_high())
}

/// When a change is to be read at the earliest: at once where it came from outside or concerns the reader, else when
/// its last look is long enough ago, so that changes collect.
fn not_before(desk: &Desk, body: &BodyItem, change: &Change, words: Option<&Words>) -> u64 {
    let concerns = matches!(change.wake, Wake::Owner(_) | Wake::Author(_))
        || words.is_some_and(|words| words.name(&body.agent.name) || words.name(&body.agent.id));
    match body.life.read.get(&change.element.key) {
        Some(read) if change.origin.hops > 0 && !concerns => read.tick + ticks(desk.minds.collect_secs),
        _ => 0,
    }
}

fn wake_readers(desk: &mut Desk, bodies: &mut Query<Body>, change: &Change, words: Option<&Words>) {
    let Change { changed, element, wake, origin, .. } = *change;
    if matches!(wake, Wake::Nobody) {
        return;
    }
    let was_handed_on_enough = origin.hops > desk.minds.hops_at_most;
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
        let Some(high) = wakes(change, body.agent, &sight).filter(|_| !was_handed_on_enough) else { continue };
        if body.life.version_read(element.key) != Some(element.version) {
            let due = if high { 0 } else { not_before(desk, &body, change, words) };
            let action = Action::ReadElement { element: element.key, high };
            desk.enqueue_later(&mut body, QueuedAction::new(action, changed.cause).not_before(due));
        }
    }
}

fn stop_walking_to(desk: &mut Desk, bodies: &mut Query<Body>, changed: &ElementChanged) {
    let everyone: Vec<_> = desk.roster.iter().map(|(_, entity)| entity).collect();
    for entity in everyone {
        let Ok(mut body) = bodies.get_mut(entity) else { continue };
        body.life.read.remove(&changed.element);
        body.life.told.remove(&changed.element);
        let Doing::Reading { action, element, cause, .. } = &body.life.doing else { continue };
        if *element == changed.element && body.life.awaited.is_none() {
            let read = QueuedAction::new(action.clone(), *cause);
            body.life.doing = Doing::Nothing;
            desk.dropped(&mut body, &read, "it is gone");
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
        if let Doing::Attending { pending, .. } = &body.life.doing
            && matches!(&pending.interest.moment.place, Some(Place::Element(id)) if *id == element.id)
            && walks
            && body.walk.course.moves()
        {
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
        let action = QueuedAction::new(Action::ApproachAgent { agent: to }, heard.cause);
        let origin = body.life.origin;
        if origin.hops >= desk.minds.hops_at_most {
            continue;
        }
        if body.life.news.is_some() {
            let (action, why) = (Some(action.action.word()), "it has something else to tell already".into());
            let dropped = events::ActionDropped { action, why, ..events::ActionDropped::default() };
            desk.write(&body, heard.cause, &dropped);
            continue;
        }
        body.life.news = Some(News {
            to,
            element: heard.element,
            version: heard.version,
            note: heard.note.clone(),
            cause: heard.cause,
            origin,
        });
        desk.enqueue(&mut body, action.action, heard.cause);
    }
}

/// The nearest agent that may hear it, has not read it, is not about to and was not told.
fn whom_to_tell(desk: &Desk, bodies: &Query<Body>, heard: &NewsHeard) -> Option<AgentKey> {
    let sight = desk.space.sight(heard.element)?;
    let from = desk.space.position(heard.agent)?;
    let near = desk.space.agents_within(from, desk.minds.tell_units);
    near.into_iter().filter(|agent| *agent != heard.agent).find(|agent| {
        desk.roster.entity(*agent).and_then(|entity| bodies.get(entity).ok()).is_some_and(|body| {
            let is_about_to = body.queue.0.holds_read_of(heard.element) || body.life.reads(heard.element);
            sight.may_be_read_by(body.agent) && !is_about_to && !body.life.knows(heard.element, heard.version)
        })
    })
}
