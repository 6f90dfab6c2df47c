//! Runs conversations: proposals become conversations, turns pass from one participant to the next, and each ends with
//! a reason.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;

use super::actions::end_errand;
use super::components::{ActivityKind, AgentQuery, AgentQueryReadOnlyItem};
use super::context::SimContext;
use super::conversation::{Conversation, ConversationEnded, ConversationKind, Conversations, Utterance};
use super::conversation_rules::{self, Proposal, TurnResult, TurnState};
use super::conversation_state::ConversationState;
use super::mind_messages::{FailureCause, Think, ThinkDue, ThinkOutcome};
use super::provenance::Provenance;
use super::settings::ConversationSettings;
use super::state::{State, StateEvent};
use super::steering::{Course, WalkKind};
use crate::agent::Agent;
use crate::base::{AgentKey, Author, Backoff, ConversationKey, Id, Seq, Urgency};
use crate::log::EventDraft;
use crate::log::events::{self, enum_name};
use crate::navigation::slots;
use crate::schedule::ticks;

/// How many agents one check for a pair considers, and how many others near each.
const MAX_CANDIDATES: usize = 500;

/// The name of a conversation in the log.
pub fn session_of(conversation: ConversationKey) -> Id {
    format!("conversation-{conversation}").into()
}

/// Forgets the conversations of an agent that leaves.
pub(super) fn forget_departed(
    on: On<Remove, Agent>,
    agents: Query<&Agent>,
    mut state: ResMut<ConversationState>,
    mut conversations: ResMut<Conversations>,
) {
    if let Ok(agent) = agents.get(on.entity) {
        state.ledger.forget(agent.key);
        conversations.forget(agent.key);
    }
}

/// Everything that conversations access.
type ConversationContext<'a, 'd, 'w, 's> =
    (&'a mut SimContext<'d>, &'a mut Query<'w, 's, AgentQuery>, &'a mut ConversationState, &'a mut Conversations);

/// Starts, continues and ends conversations.
pub(super) fn run_conversations(
    mut sim: SimContext,
    mut bodies: Query<AgentQuery>,
    mut talks: ResMut<ConversationState>,
    mut conversations: ResMut<Conversations>,
    mut due: MessageWriter<ThinkDue>,
    mut over: MessageWriter<ConversationEnded>,
) {
    let enabled = sim.conversation.enabled;
    talks.bypass_change_detection().enabled = enabled;
    let mut table: ConversationContext = (&mut sim, &mut bodies, &mut talks, &mut conversations);
    let keys: Vec<ConversationKey> = table.3.running.keys().copied().collect();
    for key in keys {
        continue_conversation(&mut table, key, &mut due);
    }
    look_for_banter(&mut table);
    let mut index = 0;
    while index < table.2.waiting.len() && table.3.running.len() < table.0.conversation.max_concurrent_conversations {
        if !try_to_begin(&mut table, index) {
            index += 1;
        }
    }
    over.write_batch(talks.over.drain(..));
}

fn continue_conversation(table: &mut ConversationContext, key: ConversationKey, due: &mut MessageWriter<ThinkDue>) {
    if !table.2.switched_on() {
        let because = table.2.switch_record;
        end(table, key, "conversations were turned off", because);
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
    if body.activity.waits_for_model() {
        let why = body.activity.model_wait.as_ref().map(|wait| wait.why.clone()).unwrap_or_default();
        wait_for_model(table, key, speaker, &why);
        return;
    }
    if table.0.now() < turn.not_before {
        return;
    }
    if turn.waits > 0 {
        table.0.transition(&mut body, StateEvent::Explain("continuing the conversation".into()), turn.cause);
    }
    body.note_try();
    let activity = body.activity.next_activity();
    body.activity.awaited = Some(activity);
    body.activity.origin = turn.origin;
    turn.awaited = Some((speaker, activity));
    let urgency = match conversation.kind {
        ConversationKind::Task | ConversationKind::Tell => Urgency::Talk,
        ConversationKind::Relationship | ConversationKind::Chance => Urgency::Banter,
    };
    let think = Think::Turn { conversation: key };
    due.write(ThinkDue { agent: speaker, activity, think, urgency, cause: turn.cause });
}

/// Lets a conversation of a person wait until the speaker's model can be called. If one of its participants has
/// something to do that it could do now, the conversation begins again afterwards, so that it holds up nothing else.
/// Agents that talk without a person end their conversation, because one more call would fail as well.
fn wait_for_model(table: &mut ConversationContext, key: ConversationKey, speaker: AgentKey, why: &str) {
    let (sim, bodies, talks, conversations) = table;
    let (Some(conversation), Some(turn)) = (conversations.running.get(&key), talks.turns.get_mut(&key)) else {
        return;
    };
    if !conversation.is_of_person() {
        end(table, key, &format!("a model cannot be called: {why}"), None);
        return;
    }
    turn.waits = turn.waits.max(1);
    if anyone_has_something_to_do(sim, bodies, &conversation.participants) {
        let (participants, cause) = (conversation.participants.clone(), turn.cause);
        let (topic, origin) = (conversation.topic.clone().unwrap_or_default(), turn.origin);
        let id = talks.next_proposal();
        let again = Proposal {
            id,
            kind: ConversationKind::Task,
            participants,
            topic,
            news: None,
            deadline: None,
            cause,
            origin,
            continues: Some(key),
            unanswered: conversation.unanswered().to_vec(),
        };
        // It was let in before, so it is never refused.
        let accepted = conversation_rules::enqueue(&mut talks.waiting, again, usize::MAX);
        debug_assert!(accepted.is_ok(), "there is no limit");
        end(table, key, &format!("a model cannot be called, so they continue later: {why}"), None);
        return;
    }
    let Some(Ok(mut body)) = sim.roster.entity(speaker).map(|entity| bodies.get_mut(entity)) else { return };
    let why = format!("waits until its model can be called: {why}");
    if body.state.0.why() != why {
        sim.transition(&mut body, StateEvent::Explain(why.into()), turn.cause);
    }
}

/// Whether work or an action waits for one of these agents that it could begin now.
fn anyone_has_something_to_do(sim: &SimContext, bodies: &Query<AgentQuery>, agents: &[AgentKey]) -> bool {
    let now = sim.now();
    let mut present = agents.iter().filter_map(|agent| bodies.get(sim.roster.entity(*agent)?).ok());
    present.any(|body| body.has_something_to_do(now))
}

/// Removes participants that have left the room, were carried out of reach, or have been dragged by a person for too
/// long.
fn leave_if_away(table: &mut ConversationContext, key: ConversationKey) {
    let (sim, bodies, _, conversations) = table;
    let Some(conversation) = conversations.running.get(&key) else { return };
    let places: Vec<(AgentKey, Option<Vec2>)> =
        conversation.participants.iter().map(|agent| (*agent, sim.space.position(*agent))).collect();
    let (reach, now, patience) = (sim.conversation.reach_units, sim.now(), ticks(sim.conversation.held_secs));
    let is_away = |(agent, place): &(AgentKey, Option<Vec2>)| {
        let near = place.is_some_and(|place| {
            places.iter().any(|(other, at)| other != agent && at.is_some_and(|at| at.distance(place) <= reach))
        });
        let body = sim.roster.entity(*agent).and_then(|entity| bodies.get(entity).ok());
        let is_lost = body
            .is_some_and(|body| body.state.0.is_held() && now >= body.state.0.since_tick().saturating_add(patience));
        !near || is_lost
    };
    let away: Vec<AgentKey> = places.iter().filter(|one| is_away(one)).map(|(agent, _)| *agent).collect();
    for agent in away {
        leave(table, key, agent);
    }
}

/// Ends a conversation: its participants cool down, and their last utterances are kept for their next conversation.
pub(super) fn end(table: &mut ConversationContext, key: ConversationKey, why: &str, because: Option<Seq>) {
    let (sim, bodies, talks, conversations) = table;
    let Some(conversation) = conversations.running.remove(&key) else { return };
    let turn = talks.turns.remove(&key).unwrap_or_default();
    let now = sim.now();
    let ended = events::ConversationEnd { why: why.to_owned(), turns: Some(conversation.turns_taken) };
    let cause = sim.log.write(EventDraft::of(&ended).session(session_of(key)).cause(because.unwrap_or(turn.cause)));
    // An agent that left early took part as well; one that left the room does not count.
    let all = conversation.participants.iter().chain(&conversation.left).copied();
    let all: Vec<AgentKey> = all.filter(|agent| sim.roster.entity(*agent).is_some()).collect();
    mark_as_informed(sim, bodies, talks, &all, turn.origin);
    let limits = (sim.conversation.history_utterances, sim.conversation.history_pairs);
    for (index, one) in all.iter().enumerate() {
        for other in &all[index + 1..] {
            conversations.retain_recent((*one, *other), &conversation.said, limits);
        }
    }
    let until = now + ticks(sim.conversation.cooldown_secs);
    for agent in &conversation.participants {
        if let Some(Ok(mut body)) = sim.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) {
            body.activity.doing = ActivityKind::Nothing;
            body.activity.awaited = None;
            sim.transition(&mut body, StateEvent::ConversationEnded { until }, cause);
        }
    }
    talks.over.push(ConversationEnded { conversation, why: why.to_owned(), cause });
}

/// Marks the news that each participant knew as known to the others, and records that they talked.
fn mark_as_informed(
    sim: &SimContext,
    bodies: &mut Query<AgentQuery>,
    talks: &mut ConversationState,
    all: &[AgentKey],
    origin: Provenance,
) {
    let heard = |agent: &AgentKey| bodies.get(sim.roster.entity(*agent)?).ok().map(|body| body.activity.heard);
    let newest = all.iter().filter_map(heard).map(Provenance::passed_on).fold(origin, Provenance::newer);
    for agent in all {
        if let Some(Ok(mut body)) = sim.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) {
            body.activity.heard = body.activity.heard.newer(newest);
        }
    }
    talks.ledger.record_conversation(all, newest.root, sim.now());
}

/// Applies the result of a speaker's turn.
pub(super) fn apply_turn(
    table: &mut ConversationContext,
    key: ConversationKey,
    agent: AgentKey,
    outcome: &ThinkOutcome,
    cause: Seq,
) {
    let (sim, bodies, talks, conversations) = table;
    let (Some(conversation), Some(turn)) = (conversations.running.get_mut(&key), talks.turns.get_mut(&key)) else {
        return;
    };
    let Some(Ok(mut body)) = sim.roster.entity(agent).map(|entity| bodies.get_mut(entity)) else { return };
    body.activity.awaited = None;
    let cannot_be_called = matches!(outcome, ThinkOutcome::Failed { cause: FailureCause::Model, .. });
    if *outcome == ThinkOutcome::PutOff || (cannot_be_called && conversation.is_of_person()) {
        let backoff = Backoff::new(sim.attention.min_retry_delay_secs, sim.attention.max_retry_delay_secs);
        let wait_secs = backoff.wait_secs(turn.waits.min(sim.attention.max_retries));
        turn.wait_until(sim.now() + ticks(wait_secs as f32));
        return;
    }
    if let Some(wait) = body.activity.model_wait.as_mut().filter(|_| !cannot_be_called) {
        wait.tries = 0;
    }
    turn.cause = cause;
    let (said, taken) = match outcome {
        ThinkOutcome::Said { text } | ThinkOutcome::Bye { text } if !text.trim().is_empty() => {
            (Some(text), TurnResult::Said)
        }
        ThinkOutcome::Failed { .. } => (None, TurnResult::Failed),
        _ => (None, TurnResult::Silent),
    };
    if let Some(text) = said {
        let by = Author::agent(&body.agent.id);
        let id = sim.messages.issue(&sim.log);
        let message = events::Message { by: None, text: text.clone(), id: Some(id.id()) };
        turn.cause =
            sim.log.write(EventDraft::of(&message).agent(&body.agent.id).session(session_of(key)).cause(cause));
        conversation.said.push(Utterance { by, text: text.clone(), tick: sim.clock.tick(), id: Some(id) });
    }
    let says_bye = matches!(outcome, ThinkOutcome::Bye { .. });
    let name = body.agent.name.clone();
    match conversation_rules::turn_taken(conversation, turn, taken) {
        Some(why) => end(table, key, why, None),
        // Two agents cannot continue without a third; more continue among themselves.
        None if says_bye && conversation.participants.len() <= 2 => {
            end(table, key, &format!("{name} ended it"), None);
        }
        None if says_bye => leave(table, key, agent),
        None => {}
    }
}

/// Removes a participant that leaves a conversation before its end.
fn leave(table: &mut ConversationContext, key: ConversationKey, agent: AgentKey) {
    let (sim, bodies, talks, conversations) = table;
    let (Some(conversation), Some(turn)) = (conversations.running.get_mut(&key), talks.turns.get_mut(&key)) else {
        return;
    };
    conversation_rules::leave(conversation, turn, agent);
    if !conversation.said.is_empty() {
        conversation.left.push(agent);
    }
    if let Some(Ok(mut body)) = sim.roster.entity(agent).map(|entity| bodies.get_mut(entity)) {
        body.activity.doing = ActivityKind::Nothing;
        body.activity.awaited = None;
        let until = sim.now() + ticks(sim.conversation.cooldown_secs);
        sim.transition(&mut body, StateEvent::ConversationEnded { until }, conversation.started);
    }
}

/// The keys of the agents that one check considers.
fn looked_at(begin: u32, everyone: u32) -> impl Iterator<Item = u32> + Clone {
    let begin = if everyone <= MAX_CANDIDATES as u32 { 0 } else { begin };
    (begin..begin + everyone.min(MAX_CANDIDATES as u32)).map(move |agent| agent % everyone)
}

/// Looks for two agents that could have an unprompted conversation, at intervals.
fn look_for_banter(table: &mut ConversationContext) {
    let (sim, bodies, talks, conversations) = table;
    let now = sim.now();
    if talks.next_check == 0 {
        // No conversation begins before agents had time to look around.
        talks.next_check = now + ticks(sim.conversation.check_secs);
    }
    if now < talks.next_check {
        return;
    }
    talks.next_check = now + ticks(sim.conversation.check_secs);
    let busy = conversations.running.len() + talks.waiting.len() >= sim.conversation.max_concurrent_conversations;
    if busy || !talks.switched_on() || !talks.ledger.may_banter(now, &sim.conversation) {
        return;
    }
    let free = |agent: AgentKey| {
        bodies
            .get(sim.roster.entity(agent)?)
            .ok()
            .filter(|body| body.state.0.may_converse() && body.activity.model_wait.is_none())
            .map(|body| body.activity.heard)
    };
    // News that was passed on too often is not a topic.
    let hops_at_most = sim.attention.max_hops;
    let fits = |pair: (AgentKey, AgentKey)| {
        let (Some(one), Some(other)) = (free(pair.0), free(pair.1)) else { return false };
        let near = match (sim.space.position(pair.0), sim.space.position(pair.1)) {
            (Some(one), Some(other)) => one.distance(other) <= sim.conversation.reach_units,
            _ => false,
        };
        let heard = one.newer(other);
        near && heard.hops < hops_at_most && talks.ledger.may_pair_talk(pair, heard, now, &sim.conversation)
    };
    let mut related: Vec<(AgentKey, AgentKey)> = talks
        .ties
        .iter()
        .filter_map(|tie| Some((sim.roster.key(&tie.from)?, sim.roster.key(&tie.to)?)))
        .filter(|(from, to)| from != to)
        .map(|(from, to)| (from.min(to), from.max(to)))
        .collect();
    related.sort_unstable();
    let tie = talks.ledger.least_recent_pair(related.iter().copied().filter(|pair| fits(*pair)));
    let mut next_look = talks.next_look;
    let (kind, pair) = match tie {
        Some(pair) => (ConversationKind::Relationship, Some(pair)),
        None => {
            let near = |agent: AgentKey| {
                let around = if free(agent).is_some() { sim.space.position(agent) } else { None };
                let mut others =
                    around.map_or_else(Vec::new, |at| sim.space.agents_within(at, sim.conversation.reach_units));
                others.retain(|other| *other > agent);
                others.sort_unstable();
                others.into_iter().take(MAX_CANDIDATES).map(move |other| (agent, other))
            };
            let everyone = sim.roster.next_key().0;
            let round = looked_at(talks.next_look, everyone);
            let pairs = round.clone().flat_map(|agent| near(AgentKey(agent))).filter(|pair| fits(*pair));
            let pair = talks.ledger.least_recent_pair(pairs);
            // A small room is searched completely, from its first agent on; a large one in parts.
            next_look = round.last().map_or(0, |last| (last + 1) % everyone);
            (ConversationKind::Chance, pair)
        }
    };
    talks.next_look = next_look;
    let Some(pair) = pair else { return };
    let origin = [pair.0, pair.1].into_iter().filter_map(free).reduce(Provenance::newer).unwrap_or_default();
    // The element that one of them read last can be the topic.
    let last_read = |agent: AgentKey| {
        let body = bodies.get(sim.roster.entity(agent)?).ok()?;
        body.activity.read.iter().map(|(element, read)| (read.tick, *element)).max()
    };
    let topic = last_read(pair.0)
        .max(last_read(pair.1))
        .and_then(|(_, element)| sim.space.sight(element))
        .filter(|sight| !sight.is_private())
        .map_or_else(String::new, |sight| sight.label.to_string());
    let cause =
        sim.roster.entity(pair.1).and_then(|entity| bodies.get(entity).ok()).map_or(Seq(0), |body| body.agent.added);
    let proposal = Proposal {
        id: talks.next_proposal(),
        kind,
        participants: vec![pair.0, pair.1],
        topic,
        news: None,
        deadline: Some(now),
        cause,
        origin: origin.passed_on(),
        continues: None,
        unanswered: Vec::new(),
    };
    if conversation_rules::enqueue(&mut talks.waiting, proposal, sim.conversation.max_waiting_conversations).is_err() {
        tracing::debug!("two agents wanted to talk, but too many conversations are waiting to start");
    }
}

/// Begins a conversation, cancels it, or lets its participants approach. Returns whether it no longer waits.
fn try_to_begin(table: &mut ConversationContext, index: usize) -> bool {
    let (sim, bodies, talks, _) = table;
    let now = sim.now();
    let gather = ticks(sim.conversation.gather_secs);
    let proposal = &mut talks.waiting[index];
    let deadline = *proposal.deadline.get_or_insert(now + gather);
    let proposal = proposal.clone();
    let mut available = Vec::new();
    for agent in &proposal.participants {
        if let Some(Ok(body)) = sim.roster.entity(*agent).map(|entity| bodies.get(entity))
            // A talk that a person asked for begins anyway, and waits then.
            && (proposal.kind == ConversationKind::Task || body.activity.model_wait.is_none())
            && (body.state.0.may_converse() || may_be_stopped(talks, &body, &proposal))
        {
            available.push((*agent, body.position.0));
        }
    }
    let is_task = proposal.kind == ConversationKind::Task;
    if is_task && talks.switched_on() && waits_for_free_agents(sim, bodies, &proposal, available.len()) {
        talks.waiting[index].deadline = None;
        release(sim, bodies, &proposal, &[], proposal.cause);
        return false;
    }
    let here: Vec<AgentKey> = match available.first() {
        Some((_, anchor)) => available
            .iter()
            .filter(|(_, at)| at.distance(*anchor) <= sim.conversation.reach_units)
            .map(|(agent, _)| *agent)
            .collect(),
        None => Vec::new(),
    };
    let complete = here.len() == proposal.participants.len();
    if talks.switched_on() && here.len() >= 2 && (complete || (is_task && now >= deadline)) {
        talks.waiting.remove(index);
        begin(table, proposal, here);
        return true;
    }
    if now >= deadline || !talks.switched_on() {
        let why = if talks.switched_on() { "too few of them could meet" } else { "conversations are turned off" };
        talks.waiting.remove(index);
        refuse(sim, bodies, &proposal, why);
        return true;
    }
    if is_task && let Some((anchor, _)) = available.first().copied() {
        for (agent, _) in &available {
            let Some(Ok(mut body)) = sim.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) else { continue };
            if is_elsewhere(&body.activity.doing, &proposal) {
                end_errand(sim, &mut body, talks, &[]);
                sim.transition(&mut body, StateEvent::Done, proposal.cause);
            }
            if body.state.0.is_available() {
                body.activity.doing = ActivityKind::Gathering { proposal: proposal.id, to: anchor, tells: false };
                let why = if *agent == anchor { "waiting for the others" } else { "going to a conversation" };
                sim.transition(&mut body, StateEvent::SetOut { why: why.into() }, proposal.cause);
            }
        }
    }
    false
}

/// Whether a conversation that a person asked for, and that could not go on because the model of a participant cannot
/// be called, waits without a limit of time until all participants have done everything else.
fn waits_for_free_agents(sim: &SimContext, bodies: &Query<AgentQuery>, proposal: &Proposal, available: usize) -> bool {
    let entities = proposal.participants.iter().filter_map(|agent| sim.roster.entity(*agent));
    let present: Vec<_> = entities.filter_map(|entity| bodies.get(entity).ok()).collect();
    let waits = present.len() >= 2 && present.iter().any(|body| body.activity.waits_for_model());
    waits && (available < present.len() || anyone_has_something_to_do(sim, bodies, &proposal.participants))
}

/// Whether an agent is on its way to another conversation, or waits for one.
fn is_elsewhere(doing: &ActivityKind, proposal: &Proposal) -> bool {
    match doing {
        ActivityKind::Telling { .. } => true,
        ActivityKind::Gathering { proposal: id, .. } => *id != proposal.id,
        _ => false,
    }
}

/// Whether an agent that walks to another conversation, or waits for one, joins this one instead: two agents that want
/// to tell each other something begin at once, and no agent waits for one that is waiting itself. A conversation
/// started by a person takes precedence.
fn may_be_stopped(talks: &ConversationState, body: &AgentQueryReadOnlyItem, proposal: &Proposal) -> bool {
    let waits_for = |id: u32| talks.waiting.iter().find(|waiting| waiting.id == id);
    let is_free = match body.activity.doing {
        ActivityKind::Telling { .. } => true,
        ActivityKind::Gathering { proposal: id, .. } => {
            id == proposal.id || waits_for(id).is_none_or(|other| other.kind > ConversationKind::Task)
        }
        _ => false,
    };
    is_free && !body.state.0.is_held()
}

fn begin(table: &mut ConversationContext, proposal: Proposal, participants: Vec<AgentKey>) {
    let (sim, bodies, talks, conversations) = table;
    let now = sim.now();
    let key = ConversationKey(talks.next_conversation);
    talks.next_conversation += 1;
    let named = |agents: &[AgentKey], bodies: &Query<AgentQuery>| -> Vec<(Id, Id)> {
        agents
            .iter()
            .filter_map(|agent| bodies.get(sim.roster.entity(*agent)?).ok())
            .map(|body| (body.agent.id.clone(), body.agent.name.clone()))
            .collect()
    };
    let names = named(&participants, bodies);
    let start = events::ConversationStart {
        participants: names.iter().map(|(id, _)| id.clone()).collect(),
        kind: enum_name(proposal.kind),
        topic: proposal.topic.clone(),
    };
    let started = sim.log.write(EventDraft::of(&start).session(session_of(key)).cause(proposal.cause));
    release(sim, bodies, &proposal, &participants, started);
    // They now exchange the news that they came to tell.
    let mut told = Vec::from_iter(proposal.news);
    for (index, agent) in participants.iter().enumerate() {
        let Some(Ok(mut body)) = sim.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) else { continue };
        let others: Vec<&str> =
            names.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, (_, name))| &**name).collect();
        let why = format!("talking with {}", others.join(" and ")).into();
        told.extend(end_errand(sim, &mut body, talks, &participants));
        sim.transition(&mut body, StateEvent::ConversationStarted { why }, started);
        body.activity.doing = ActivityKind::Talking { conversation: key };
    }
    face_each_other(sim, bodies, &participants);
    for agent in &participants {
        let Some(Ok(mut body)) = sim.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) else { continue };
        body.activity.told.extend(told.iter().copied());
    }
    talks.ledger.record_start(proposal.kind, now, &sim.conversation);
    talks.ledger.record_conversation(&participants, Seq(0), now);
    let turns_at_most = turns_of(proposal.kind, &sim.conversation);
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
            said: proposal.unanswered,
            turns_taken: 0,
            turns_at_most,
            speaker: 0,
            started,
        },
    );
}

/// Sends the participants to places where they see each other and are visible.
fn face_each_other(sim: &mut SimContext, bodies: &mut Query<AgentQuery>, participants: &[AgentKey]) {
    let at: Vec<Vec2> = participants.iter().filter_map(|agent| sim.space.position(*agent)).collect();
    if at.len() != participants.len() {
        return;
    }
    let gap = sim.movement.standing_units - 1.0;
    let is_free = |place: Vec2| {
        let other = sim.space.agents.nearest(place, gap, |other| !participants.contains(&AgentKey(other)));
        other.is_none()
    };
    let places = slots::talk_places(&at, &sim.space.obstacles, is_free);
    let arrive = sim.movement.arrive_units;
    for (agent, place) in participants.iter().zip(places) {
        if let Some(Ok(mut body)) = sim.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) {
            sim.walk_to(&mut body, Course::to(WalkKind::ToPlace, place, arrive));
        }
    }
}

fn turns_of(kind: ConversationKind, settings: &ConversationSettings) -> u32 {
    if kind == ConversationKind::Task { settings.task_turns } else { settings.other_turns }
}

/// Releases agents that were on their way to a conversation that begins without them, or not at all.
fn release(sim: &mut SimContext, bodies: &mut Query<AgentQuery>, proposal: &Proposal, but: &[AgentKey], cause: Seq) {
    for agent in proposal.participants.iter().filter(|agent| !but.contains(agent)) {
        let Some(Ok(mut body)) = sim.roster.entity(*agent).map(|entity| bodies.get_mut(entity)) else { continue };
        if matches!(body.activity.doing, ActivityKind::Gathering { proposal: id, .. } if id == proposal.id) {
            body.activity.doing = ActivityKind::Nothing;
            sim.transition(&mut body, StateEvent::Done, cause);
        }
    }
}

/// Drops a proposal, and logs why.
pub(super) fn refuse(sim: &mut SimContext, bodies: &mut Query<AgentQuery>, proposal: &Proposal, why: &str) {
    let what = "a conversation did not start";
    let (kind, topic) = (Some(enum_name(proposal.kind)), Some(proposal.topic.clone()));
    let why: events::Word = why.to_owned().into();
    let draft = if proposal.kind == ConversationKind::Task {
        EventDraft::of(&events::Warning { kind, topic, why: Some(why), ..events::Warning::new(what) })
    } else {
        let what = Some(what.into());
        EventDraft::of(&events::ActionDropped { what, kind, topic, why, ..events::ActionDropped::default() })
    };
    let cause = sim.log.write(draft.cause(proposal.cause));
    release(sim, bodies, proposal, &[], cause);
}

/// Whether an agent in this state is free, or about to be.
pub(super) fn is_free_or_soon(state: State) -> bool {
    state.is_rest() || matches!(state, State::Heartbeat | State::Paused | State::Dragged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_room_is_searched_completely_and_a_large_one_in_parts() {
        assert_eq!(looked_at(0, 0).count(), 0);
        assert!(looked_at(3, 5).eq(0..5));
        let (mut seen, mut next) = (vec![0; 1200], 0);
        for _ in 0..12 {
            let round = looked_at(next, 1200);
            assert_eq!(round.clone().count(), MAX_CANDIDATES);
            for agent in round {
                seen[agent as usize] += 1;
                next = (agent + 1) % 1200;
            }
        }
        assert!(seen.iter().all(|times| *times == 5), "everyone gets the same chance");
    }
}
