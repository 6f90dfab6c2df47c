//! Conversations in the room: proposals become conversations, turns go round, and each ends with a reason.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use serde::{Deserialize, Serialize};

use super::actions::leave_errand;
use super::activity::{Think, ThinkDue, ThinkOutcome};
use super::body::{Body, BodyReadOnlyItem, Desk, Doing};
use super::conversation::{Conversation, ConversationEnded, ConversationKind, Conversations, Utterance};
use super::meeting::{self, Proposal, TalkLedger, TurnState, TurnTaken};
use super::origin::Origin;
use super::settings::ConversationSettings;
use super::state::{State, StateEvent};
use super::steering::Course;
use crate::base::{AgentKey, Author, ConversationKey, Id, Seq, Urgency};
use crate::log::EventDraft;
use crate::log::events::{self, word};
use crate::schedule::ticks;
use crate::workspace::Relationship;

/// What the room keeps about conversations beside [`Conversations`].
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Talks {
    pub waiting: Vec<Proposal>,
    pub turns: BTreeMap<ConversationKey, TurnState>,
    pub ledger: TalkLedger,
    pub ties: Vec<Relationship>,
    pub next_check: u64,
    /// With whom the next look for a pair begins, in a room too large to look at everyone.
    #[serde(default)]
    next_look: u32,
    next_proposal: u32,
    next_conversation: u32,
    /// What a person set the master switch to; the settings' choice where absent.
    pub switch: Option<bool>,
    /// The record of that.
    #[serde(default)]
    pub switch_record: Option<Seq>,
    /// What the settings say, as of this tick.
    enabled: bool,
    /// Whether everybody rests who is not at work.
    #[serde(default)]
    resting: bool,
    /// Ended and not told yet. Most end when the last turn is heard, at the end of a tick: the next tick tells
    /// it, and a world saved in between must not lose it.
    #[serde(default)]
    over: Vec<ConversationEnded>,
}

impl Talks {
    pub fn next_proposal(&mut self) -> u32 {
        self.next_proposal += 1;
        self.next_proposal
    }

    pub fn switched_on(&self) -> bool {
        self.switch.unwrap_or(self.enabled) && !self.resting
    }

    pub(super) fn set_resting(&mut self, resting: bool) {
        self.resting = resting;
    }
}

/// One check for a pair looks at so many agents at most, and at so many others near each.
const LOOK_AT_MOST: usize = 500;

/// The name of a conversation in the log.
pub(super) fn session_of(conversation: ConversationKey) -> Id {
    format!("conversation-{conversation}").into()
}

/// Everything that conversations touch.
type Table<'a, 'd, 'w, 's> = (&'a mut Desk<'d>, &'a mut Query<'w, 's, Body>, &'a mut Talks, &'a mut Conversations);

/// Lets conversations go on, begin and end.
pub(super) fn converse(
    mut desk: Desk,
    mut bodies: Query<Body>,
    mut talks: ResMut<Talks>,
    mut conversations: ResMut<Conversations>,
    mut due: MessageWriter<ThinkDue>,
    mut over: MessageWriter<ConversationEnded>,
) {
    let enabled = desk.talk.enabled;
    talks.bypass_change_detection().enabled = enabled;
    let mut table: Table = (&mut desk, &mut bodies, &mut talks, &mut conversations);
    let keys: Vec<ConversationKey> = table.3.running.keys().copied().collect();
    for key in keys {
        go_on(&mut table, key, &mut due);
    }
    look_for_banter(&mut table);
    let mut index = 0;
    while index < table.2.waiting.len() && table.3.running.len() < table.0.talk.max_concurrent_conversations {
        if !try_to_begin(&mut table, index) {
            index += 1;
        }
    }
    over.write_batch(talks.over.drain(..));
}

fn go_on(table: &mut Table, key: ConversationKey, due: &mut MessageWriter<ThinkDue>) {
    if !table.2.switched_on() {
        let because = table.2.switch_record;
        end(table, key, "talk among agents was switched off", because);
        return;
    }
    leave_if_away(table, key);
    let Some(conversation) = table.3.running.get(&key) else { return };
    if conversation.participants.len() < 2 {
        end(table, key, "nobody was left to talk to", None);
        return;
    }
    let Some(turn) = table.2.turns.get_mut(&key) else { return };
    let Some(speaker) = conversation.participants.get(conversation.speaker).copied() else { return };
    if turn.awaited.is_some() {
        return;
    }
    let Some(Ok(mut body)) = table.0.roster.entity(speaker).map(|entity| table.1.get_mut(entity)) else { return };
    if body.state.0.is_held() {
        return;
    }
    let activity = body.life.next_activity();
    body.life.awaited = Some(activity);
    body.life.origin = turn.origin;
    turn.awaited = Some((speaker, activity));
    let urgency = match conversation.kind {
        ConversationKind::Task | ConversationKind::Tell => Urgency::Talk,
        ConversationKind::Relationship | ConversationKind::Chance => Urgency::Banter,
    };
    let think = Think::Turn { conversation: key };
    due.write(ThinkDue { agent: speaker, activity, think, urgency, cause: turn.cause });
}

/// Takes out whoever has left the room, was carried out of reach, or is held by a person for too long to be waited
/// for.
fn leave_if_away(table: &mut Table, key: ConversationKey) {
    let (desk, bodies, _, conversations) = table;
    let Some(conversation) = conversations.running.get(&key) else { return };
    let places: Vec<(AgentKey, Option<Vec2>)> =
        conversation.participants.iter().map(|agent| (*agent, desk.space.position(*agent))).collect();
    let (reach, now, patience) = (desk.talk.reach_units, desk.now(), ticks(desk.talk.held_secs));
    let is_away = |(agent, place): &(AgentKey, Option<Vec2>)| {
        let near = place.is_some_and(|place| {
            places.iter().any(|(other, at)| other != agent && at.is_some_and(|at| at.distance(place) <= reach))
        });
        let body = desk.roster.entity(*agent).and_then(|entity| bodies.get(entity).ok());
        let is_lost = body
            .is_some_and(|body| body.state.0.is_held() && now >= body.state.0.since_tick().saturating_add(patience));
        !near || is_lost
    };
    let away: Vec<AgentKey> = places.iter().filter(|one| is_away(one)).map(|(agent, _)| *agent).collect();
    for agent in away {
        leave(table, key, agent);
    }
}

/// Ends a conversation: its participants cool down, and what they said is kept for the next time.
pub(super) fn end(table: &mut Table, key: ConversationKey, why: &str, because: Option<Seq>) {
    let (desk, bodies, talks, conversations) = table;
    let Some(conversation) = conversations.running.remove(&key) else { return };
    let turn = talks.turns.remove(&key).unwrap_or_default();
    let now = desk.now();
    let ended = events::ConversationEnd { why: why.to_owned(), turns: Some(conversation.turns_taken) };
    let cause = desk.log.write(EventDraft::of(&ended).session(session_of(key)).cause(because.unwrap_or(turn.cause)));
    // Whoever left early was there, too; whoever left the room is nobody's any more.
    let all = conversation.participants.iter().chain(&conversation.left).copied();
    let all: Vec<AgentKey> = all.filter(|agent| desk.roster.entity(*agent).is_some()).collect();
    hear(desk, bodies, talks, &all, turn.origin);
    let limits = (desk.talk.history_utterances, desk.talk.history_pairs);
    for (index, one) in all.iter().enumerate() {
        for other in &all[index + 1..] {
            conversations.keep((*one, *other), &conversation.said, limits);
        }
    }
    let until = now + ticks(desk.talk.cooldown_secs);
    for agent in &conversation.participants {
        if let Some(Ok(mut body)) = desk.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) {
            body.life.doing = Doing::Nothing;
            body.life.awaited = None;
            desk.shift(&mut body, StateEvent::ConversationEnded { until }, cause);
        }
    }
    talks.over.push(ConversationEnded { conversation, why: why.to_owned(), cause });
}

/// Those who talked know what each of them knew, and that they talked.
fn hear(desk: &Desk, bodies: &mut Query<Body>, talks: &mut Talks, all: &[AgentKey], origin: Origin) {
    let heard = |agent: &AgentKey| bodies.get(desk.roster.entity(*agent)?).ok().map(|body| body.life.heard);
    let newest = all.iter().filter_map(heard).map(Origin::handed_on).fold(origin, Origin::newer);
    for agent in all {
        if let Some(Ok(mut body)) = desk.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) {
            body.life.heard = body.life.heard.newer(newest);
        }
    }
    talks.ledger.talked(all, newest.root, desk.now());
}

/// Takes in what came of a speaker's turn.
pub(super) fn spoke(table: &mut Table, key: ConversationKey, agent: AgentKey, outcome: &ThinkOutcome, cause: Seq) {
    let (desk, bodies, talks, conversations) = table;
    let (Some(conversation), Some(turn)) = (conversations.running.get_mut(&key), talks.turns.get_mut(&key)) else {
        return;
    };
    let Some(Ok(mut body)) = desk.roster.entity(agent).map(|entity| bodies.get_mut(entity)) else { return };
    body.life.awaited = None;
    turn.cause = cause;
    let (said, taken) = match outcome {
        ThinkOutcome::Said { text } | ThinkOutcome::Bye { text } if !text.trim().is_empty() => {
            (Some(text), TurnTaken::Said)
        }
        ThinkOutcome::Failed { .. } => (None, TurnTaken::Failed),
        _ => (None, TurnTaken::Silent),
    };
    if let Some(text) = said {
        let by = Author::agent(&body.agent.id);
        let message = events::Message { by: None, text: text.clone() };
        turn.cause =
            desk.log.write(EventDraft::of(&message).agent(&body.agent.id).session(session_of(key)).cause(cause));
        conversation.said.push(Utterance { by, text: text.clone(), tick: desk.clock.tick() });
    }
    let says_bye = matches!(outcome, ThinkOutcome::Bye { .. });
    let name = body.agent.name.clone();
    match meeting::turn_taken(conversation, turn, taken) {
        Some(why) => end(table, key, why, None),
        // Two are alone without the one; more go on among themselves.
        None if says_bye && conversation.participants.len() <= 2 => {
            end(table, key, &format!("{name} ended it"), None);
        }
        None if says_bye => leave(table, key, agent),
        None => {}
    }
}

/// Lets an agent go that leaves a conversation before its end.
fn leave(table: &mut Table, key: ConversationKey, agent: AgentKey) {
    let (desk, bodies, talks, conversations) = table;
    let (Some(conversation), Some(turn)) = (conversations.running.get_mut(&key), talks.turns.get_mut(&key)) else {
        return;
    };
    meeting::leave(conversation, turn, agent);
    if !conversation.said.is_empty() {
        conversation.left.push(agent);
    }
    if let Some(Ok(mut body)) = desk.roster.entity(agent).map(|entity| bodies.get_mut(entity)) {
        body.life.doing = Doing::Nothing;
        body.life.awaited = None;
        let until = desk.now() + ticks(desk.talk.cooldown_secs);
        desk.shift(&mut body, StateEvent::ConversationEnded { until }, conversation.started);
    }
}

/// The agents, by key, of whom one check asks whether they could have a chat.
fn looked_at(begin: u32, everyone: u32) -> impl Iterator<Item = u32> + Clone {
    let begin = if everyone <= LOOK_AT_MOST as u32 { 0 } else { begin };
    (begin..begin + everyone.min(LOOK_AT_MOST as u32)).map(move |agent| agent % everyone)
}

/// Now and then, looks for two who could have a chat.
fn look_for_banter(table: &mut Table) {
    let (desk, bodies, talks, conversations) = table;
    let now = desk.now();
    if talks.next_check == 0 {
        // Nobody chats before anyone had time to look about.
        talks.next_check = now + ticks(desk.talk.check_secs);
    }
    if now < talks.next_check {
        return;
    }
    talks.next_check = now + ticks(desk.talk.check_secs);
    let busy = conversations.running.len() + talks.waiting.len() >= desk.talk.max_concurrent_conversations;
    if busy || !talks.switched_on() || !talks.ledger.may_banter(now, &desk.talk) {
        return;
    }
    let free = |agent: AgentKey| {
        bodies
            .get(desk.roster.entity(agent)?)
            .ok()
            .filter(|body| body.state.0.may_converse())
            .map(|body| body.life.heard)
    };
    // What was handed on often enough is nothing to talk about any more.
    let hops_at_most = desk.minds.hops_at_most;
    let fits = |pair: (AgentKey, AgentKey)| {
        let (Some(one), Some(other)) = (free(pair.0), free(pair.1)) else { return false };
        let near = match (desk.space.position(pair.0), desk.space.position(pair.1)) {
            (Some(one), Some(other)) => one.distance(other) <= desk.talk.reach_units,
            _ => false,
        };
        let heard = one.newer(other);
        near && heard.hops < hops_at_most && talks.ledger.fits(pair, heard, now, &desk.talk)
    };
    let mut related: Vec<(AgentKey, AgentKey)> = talks
        .ties
        .iter()
        .filter_map(|tie| Some((desk.roster.key(&tie.from)?, desk.roster.key(&tie.to)?)))
        .filter(|(from, to)| from != to)
        .map(|(from, to)| (from.min(to), from.max(to)))
        .collect();
    related.sort_unstable();
    let tie = talks.ledger.choose(related.iter().copied().filter(|pair| fits(*pair)));
    let mut next_look = talks.next_look;
    let (kind, pair) = match tie {
        Some(pair) => (ConversationKind::Relationship, Some(pair)),
        None => {
            let near = |agent: AgentKey| {
                let around = if free(agent).is_some() { desk.space.position(agent) } else { None };
                let mut others = around.map_or_else(Vec::new, |at| desk.space.agents_within(at, desk.talk.reach_units));
                others.retain(|other| *other > agent);
                others.sort_unstable();
                others.into_iter().take(LOOK_AT_MOST).map(move |other| (agent, other))
            };
            let everyone = desk.roster.next_key().0;
            let round = looked_at(talks.next_look, everyone);
            let pairs = round.clone().flat_map(|agent| near(AgentKey(agent))).filter(|pair| fits(*pair));
            let pair = talks.ledger.choose(pairs);
            // A small room is looked at whole, from its first agent on; a large one in turns.
            next_look = round.last().map_or(0, |last| (last + 1) % everyone);
            (ConversationKind::Chance, pair)
        }
    };
    talks.next_look = next_look;
    let Some(pair) = pair else { return };
    let origin = [pair.0, pair.1].into_iter().filter_map(free).reduce(Origin::newer).unwrap_or_default();
    // What one of them read last is something to talk about.
    let last_read = |agent: AgentKey| {
        let body = bodies.get(desk.roster.entity(agent)?).ok()?;
        body.life.read.iter().map(|(element, read)| (read.tick, *element)).max()
    };
    let topic = last_read(pair.0)
        .max(last_read(pair.1))
        .and_then(|(_, element)| desk.space.sight(element))
        .filter(|sight| !sight.is_private())
        .map_or_else(String::new, |sight| sight.label.to_string());
    let cause =
        desk.roster.entity(pair.1).and_then(|entity| bodies.get(entity).ok()).map_or(Seq(0), |body| body.agent.added);
    let proposal = Proposal {
        id: talks.next_proposal(),
        kind,
        participants: vec![pair.0, pair.1],
        topic,
        news: None,
        deadline: Some(now),
        cause,
        origin: origin.handed_on(),
    };
    if meeting::enqueue(&mut talks.waiting, proposal, desk.talk.waiting_at_most).is_err() {
        tracing::debug!("two might have talked, but too many conversations wait to begin");
    }
}

/// Begins a conversation, gives it up, or lets its participants come nearer. Whether it no longer waits.
fn try_to_begin(table: &mut Table, index: usize) -> bool {
    let (desk, bodies, talks, _) = table;
    let now = desk.now();
    let gather = ticks(desk.talk.gather_secs);
    let proposal = &mut talks.waiting[index];
    let deadline = *proposal.deadline.get_or_insert(now + gather);
    let proposal = proposal.clone();
    let mut available = Vec::new();
    for agent in &proposal.participants {
        if let Some(Ok(body)) = desk.roster.entity(*agent).map(|entity| bodies.get(entity))
            && (body.state.0.may_converse() || may_be_stopped(talks, &body, &proposal))
        {
            available.push((*agent, body.position.0));
        }
    }
    let here: Vec<AgentKey> = match available.first() {
        Some((_, anchor)) => available
            .iter()
            .filter(|(_, at)| at.distance(*anchor) <= desk.talk.reach_units)
            .map(|(agent, _)| *agent)
            .collect(),
        None => Vec::new(),
    };
    let complete = here.len() == proposal.participants.len();
    let is_task = proposal.kind == ConversationKind::Task;
    if talks.switched_on() && here.len() >= 2 && (complete || (is_task && now >= deadline)) {
        talks.waiting.remove(index);
        begin(table, proposal, here);
        return true;
    }
    if now >= deadline || !talks.switched_on() {
        let why = if talks.switched_on() { "too few could come together" } else { "talk among agents is switched off" };
        talks.waiting.remove(index);
        refuse(desk, bodies, &proposal, why);
        return true;
    }
    if is_task && let Some((anchor, _)) = available.first().copied() {
        for (agent, _) in &available {
            let Some(Ok(mut body)) = desk.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) else { continue };
            if is_elsewhere(&body.life.doing, &proposal) {
                leave_errand(desk, &mut body, talks, &[]);
                desk.shift(&mut body, StateEvent::Done, proposal.cause);
            }
            if body.state.0.is_at_leisure() {
                body.life.doing = Doing::Gathering { proposal: proposal.id, to: anchor };
                let why = if *agent == anchor { "waiting for the others" } else { "going to a conversation" };
                desk.shift(&mut body, StateEvent::SetOut { why: why.into() }, proposal.cause);
            }
        }
    }
    false
}

/// Whether an agent is on its way to a talk, or waits for one, that is not this one.
fn is_elsewhere(doing: &Doing, proposal: &Proposal) -> bool {
    match doing {
        Doing::Telling { .. } => true,
        Doing::Gathering { proposal: id, .. } => *id != proposal.id,
        _ => false,
    }
}

/// Whether an agent that is on its way to a talk, or waits for one, takes part in this one: two who want to tell each
/// other something begin at once, and nobody waits for somebody who waits. What a person wants goes first.
fn may_be_stopped(talks: &Talks, body: &BodyReadOnlyItem, proposal: &Proposal) -> bool {
    let waits_for = |id: u32| talks.waiting.iter().find(|waiting| waiting.id == id);
    let is_free = match body.life.doing {
        Doing::Telling { .. } => true,
        Doing::Gathering { proposal: id, .. } => {
            id == proposal.id || waits_for(id).is_none_or(|other| other.kind > ConversationKind::Task)
        }
        _ => false,
    };
    is_free && !body.state.0.is_held()
}

fn begin(table: &mut Table, proposal: Proposal, participants: Vec<AgentKey>) {
    let (desk, bodies, talks, conversations) = table;
    let now = desk.now();
    let key = ConversationKey(talks.next_conversation);
    talks.next_conversation += 1;
    let named = |agents: &[AgentKey], bodies: &Query<Body>| -> Vec<(Id, Id)> {
        agents
            .iter()
            .filter_map(|agent| bodies.get(desk.roster.entity(*agent)?).ok())
            .map(|body| (body.agent.id.clone(), body.agent.name.clone()))
            .collect()
    };
    let names = named(&participants, bodies);
    let start = events::ConversationStart {
        participants: names.iter().map(|(id, _)| id.clone()).collect(),
        kind: word(proposal.kind),
        topic: proposal.topic.clone(),
    };
    let started = desk.log.write(EventDraft::of(&start).session(session_of(key)).cause(proposal.cause));
    release(desk, bodies, &proposal, &participants, started);
    // What they came to tell each other they tell each other now.
    let mut told = Vec::from_iter(proposal.news);
    for (index, agent) in participants.iter().enumerate() {
        let Some(Ok(mut body)) = desk.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) else { continue };
        let others: Vec<&str> =
            names.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, (_, name))| &**name).collect();
        let why = format!("talking with {}", others.join(" and ")).into();
        told.extend(leave_errand(desk, &mut body, talks, &participants));
        desk.shift(&mut body, StateEvent::ConversationStarted { why }, started);
        body.life.doing = Doing::Talking { conversation: key };
        desk.go(&mut body, Course::STAND);
    }
    for agent in &participants {
        let Some(Ok(mut body)) = desk.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) else { continue };
        body.life.told.extend(told.iter().copied());
    }
    talks.ledger.began(proposal.kind, now, &desk.talk);
    talks.ledger.talked(&participants, Seq(0), now);
    let turns_at_most = turns_of(proposal.kind, &desk.talk);
    talks.turns.insert(key, TurnState { cause: started, origin: proposal.origin, ..TurnState::default() });
    let topic = Some(proposal.topic).filter(|topic| !topic.is_empty());
    conversations.running.insert(
        key,
        Conversation {
            key,
            kind: proposal.kind,
            participants,
            left: Vec::new(),
            topic,
            said: Vec::new(),
            turns_taken: 0,
            turns_at_most,
            speaker: 0,
            started,
        },
    );
}

fn turns_of(kind: ConversationKind, settings: &ConversationSettings) -> u32 {
    if kind == ConversationKind::Task { settings.task_turns } else { settings.other_turns }
}

/// Lets go of those who were on their way to a conversation that begins without them, or not at all.
fn release(desk: &mut Desk, bodies: &mut Query<Body>, proposal: &Proposal, but: &[AgentKey], cause: Seq) {
    for agent in proposal.participants.iter().filter(|agent| !but.contains(agent)) {
        let Some(Ok(mut body)) = desk.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) else { continue };
        if matches!(body.life.doing, Doing::Gathering { proposal: id, .. } if id == proposal.id) {
            body.life.doing = Doing::Nothing;
            desk.shift(&mut body, StateEvent::Done, cause);
        }
    }
}

fn refuse(desk: &mut Desk, bodies: &mut Query<Body>, proposal: &Proposal, why: &str) {
    let what = "a conversation did not begin";
    let (kind, topic) = (Some(word(proposal.kind)), Some(proposal.topic.clone()));
    let why: events::Word = why.to_owned().into();
    let draft = if proposal.kind == ConversationKind::Task {
        EventDraft::of(&events::Warning { kind, topic, why: Some(why), ..events::Warning::new(what) })
    } else {
        let what = Some(what.into());
        EventDraft::of(&events::ActionDropped { what, kind, topic, why, ..events::ActionDropped::default() })
    };
    let cause = desk.log.write(draft.cause(proposal.cause));
    release(desk, bodies, proposal, &[], cause);
}

/// Whether nobody talks, and nobody is about to.
pub(super) fn is_quiet(talks: &Talks, conversations: &Conversations) -> bool {
    talks.waiting.is_empty() && talks.over.is_empty() && conversations.running.is_empty()
}

/// Whether an agent in this state is about to be free or is free.
pub(super) fn rests(state: State) -> bool {
    state.is_rest() || matches!(state, State::Heartbeat | State::Paused | State::Dragged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_room_is_looked_at_whole_and_a_large_one_in_turns() {
        assert_eq!(looked_at(0, 0).count(), 0);
        assert!(looked_at(3, 5).eq(0..5));
        let (mut seen, mut next) = (vec![0; 1200], 0);
        for _ in 0..12 {
            let round = looked_at(next, 1200);
            assert_eq!(round.clone().count(), LOOK_AT_MOST);
            for agent in round {
                seen[agent as usize] += 1;
                next = (agent + 1) % 1200;
            }
        }
        assert!(seen.iter().all(|times| *times == 5), "everyone gets the same chance");
    }
}
