//! Executes and logs the operations of agents and people on channels and blackboards.

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use serde_json::Value;

use super::blackboard::{Blackboards, Change, Entry, WriteRefusal, same};
use super::board_archive::BoardArchive;
use super::channels::{Channel, ChannelRefusal, Channels, NewMessage};
use super::command::CollaborationCommand;
use super::result_text;
use super::settings::{BlackboardSettings, ChannelSettings};
use crate::agent::{AgentRemoved, Roster};
use crate::base::ids::USER;
use crate::base::text::truncate;
use crate::base::{ActivationKey, Id, Seq};
use crate::gateway::{ExchangeAccepted, ExchangeKind};
use crate::kernel::{Kernel, LOGGED_CHARS};
use crate::log::events::{self, Warning};
use crate::log::{EventData, EventDraft, EventLog};
use crate::schedule::SimClock;
use crate::tools::collaboration::{MAX_MESSAGE_CHARS, MAX_VALUE_CHARS, name, value_of};
use crate::tools::{
    COLLABORATION, CollaborationOrder, Condition, OrderOutcome, OrderReport, PendingToolOrders, ToolOrder, Work,
};

/// How many receivers of a message the log names.
const RECEIVERS_NAMED: usize = 8;

/// The system parameters of these operations.
#[derive(SystemParam)]
pub(super) struct CollaborationContext<'w> {
    clock: Res<'w, SimClock>,
    kernel: Res<'w, Kernel>,
    roster: Res<'w, Roster>,
    channels: ResMut<'w, Channels>,
    boards: ResMut<'w, Blackboards>,
    kept: Res<'w, BoardArchive>,
    channel_settings: Res<'w, ChannelSettings>,
    board_settings: Res<'w, BlackboardSettings>,
    log: ResMut<'w, EventLog>,
    exchanged: MessageWriter<'w, ExchangeAccepted>,
}

/// The initiator of an operation: a working agent, or a person.
#[derive(Clone, Copy)]
struct Initiator<'a> {
    agent: &'a Id,
    work: Option<ActivationKey>,
    cause: Option<Seq>,
}

impl Initiator<'_> {
    fn is_person(&self) -> bool {
        **self.agent == *USER
    }
}

/// Answers the tool orders of agents in the tick in which they arrive, each exactly once.
pub(super) fn answer(
    mut room: CollaborationContext,
    orders: Res<PendingToolOrders>,
    mut answers: MessageWriter<OrderOutcome>,
) {
    for order in orders.of(COLLABORATION) {
        let news = OrderReport::ended(room.execute(order));
        answers.write(OrderOutcome { key: order.key, news });
    }
}

/// Applies a person's commands, and unsubscribes agents that left.
pub(super) fn apply_commands(
    mut room: CollaborationContext,
    mut commands: MessageReader<CollaborationCommand>,
    mut removed: MessageReader<AgentRemoved>,
) {
    for gone in removed.read() {
        for channel in room.channels.leave(&gone.id, &room.channel_settings) {
            let ended = events::Subscribe { channel: channel.as_str().into(), ended: true, by: None };
            room.log.write(EventDraft::of(&ended).agent(&gone.id).cause(gone.cause));
        }
    }
    for command in commands.read() {
        if let Err(why) = room.apply_command(command) {
            // Without an agent, so that the person is notified.
            room.log.write(EventDraft::of(&Warning::new(why)));
        }
    }
}

impl CollaborationContext<'_> {
    fn record(&mut self, initiator: Initiator, event: &impl EventData) -> Seq {
        let draft = EventDraft::of(event);
        self.write_record(initiator, if initiator.is_person() { draft } else { draft.agent(initiator.agent) })
    }

    fn write_record(&mut self, initiator: Initiator, draft: EventDraft) -> Seq {
        let draft = draft.cause(initiator.cause);
        self.log.write(match initiator.work {
            Some(work) => draft.activation(&work.id()),
            None => draft,
        })
    }

    fn execute(&mut self, order: &ToolOrder) -> Result<String, String> {
        let Work::Order { order: order_data } = &order.plan.work else {
            return Err("this is not for channels".to_owned());
        };
        let order_data: CollaborationOrder =
            serde_json::from_value(order_data.clone()).map_err(|error| format!("it cannot be read: {error}"))?;
        let initiator = Initiator { agent: &order.agent, work: Some(order.key.activation), cause: Some(order.cause) };
        let thread = self.kernel.activation(order.key.activation).map(|one| one.thread);
        let run = thread.and_then(|thread| self.kernel.run_of(thread));
        match order_data {
            CollaborationOrder::Publish { channel, message } => {
                let hops = thread.map_or(0, |thread| self.channels.hops_of(thread));
                let number = self.publish(initiator, &channel, message, hops)?;
                let there = self.channels.get(&channel).ok_or("the channel no longer exists")?;
                Ok(result_text::published(&channel, number, there, initiator.agent))
            }
            CollaborationOrder::Subscribe { channel, earlier } => {
                let earlier = self.subscribe(initiator, (initiator.agent, &channel), (thread, earlier))?;
                let there = self.channels.get(&channel).ok_or("the channel no longer exists")?;
                Ok(result_text::subscribed(&channel, earlier, there))
            }
            CollaborationOrder::Unsubscribe { channel } => {
                let did = self.unsubscribe(initiator, (initiator.agent, &channel));
                Ok(result_text::unsubscribed(&channel, did))
            }
            CollaborationOrder::BlackboardWrite { key, value, only_if, shared } => {
                let run = run.ok_or_else(|| WriteRefusal::Over.to_string())?;
                // Shared entries stay shared until a person changes that in the pane.
                let shared = shared.then_some(true);
                self.write(initiator, run, (&key, value, only_if, shared))?;
                let entry = self.boards.get(run).and_then(|board| board.entries().find(|(name, _)| *name == key));
                Ok(entry.map_or_else(String::new, |(_, entry)| result_text::entry_written(&key, entry)))
            }
            CollaborationOrder::BlackboardRead { key, history } => {
                let board = run.and_then(|run| self.boards.get(run));
                let kept = self.kept.entries();
                Ok(match &key {
                    None => result_text::entries(board, kept),
                    Some(key) => match (board.and_then(|board| board.entry(key)), kept.get(key)) {
                        (Some(entry), kept) => result_text::entry(key, entry, history, kept),
                        (None, Some(kept)) => result_text::kept_entry(kept),
                        (None, None) => result_text::no_entry(key, board, kept),
                    },
                })
            }
        }
    }

    fn apply_command(&mut self, command: &CollaborationCommand) -> Result<(), String> {
        let user: Id = USER.into();
        let initiator = Initiator { agent: &user, work: None, cause: None };
        match command {
            CollaborationCommand::Publish { channel, message } => {
                let message = truncate(message.trim(), MAX_MESSAGE_CHARS);
                if message.is_empty() {
                    return Err("the message is empty".to_owned());
                }
                self.publish(initiator, &name(channel)?, message, 0).map(drop)
            }
            CollaborationCommand::Listen { channel, agent, listens: true } => {
                if self.roster.key(agent).is_none() {
                    return Err(format!("there is no agent {agent} in the room"));
                }
                self.subscribe(initiator, (agent, &name(channel)?), (None, 0)).map(drop)
            }
            CollaborationCommand::Listen { channel, agent, listens: false } => {
                let did = self.unsubscribe(initiator, (agent, &name(channel)?));
                if did { Ok(()) } else { Err(format!("{agent} does not listen to channel {channel}")) }
            }
            // Handled in `board_archive`.
            CollaborationCommand::WriteKept { .. } => Ok(()),
            CollaborationCommand::Write { run, key, value, shared, was } => {
                let key = name(key)?;
                let now = self.boards.get(*run).and_then(|board| board.entry(&key)).and_then(Entry::value);
                let is_unchanged = match (now, was) {
                    (None, None) => true,
                    (Some(now), Some(was)) => same(now, &value_of(was)),
                    _ => false,
                };
                if !is_unchanged {
                    return Err(format!("the entry {key:?} has changed in the meantime; check it again"));
                }
                if self.kernel.run_of(*run) != Some(*run) {
                    return Err(WriteRefusal::Over.to_string());
                }
                let value = match value {
                    None => Value::Null,
                    Some(text) if text.chars().count() > MAX_VALUE_CHARS => {
                        return Err(format!("a value has at most {MAX_VALUE_CHARS} characters"));
                    }
                    Some(text) => value_of(text),
                };
                self.write(initiator, *run, (&key, value, Condition::Anything, *shared))
            }
        }
    }

    fn publish(&mut self, initiator: Initiator, channel: &str, text: String, hops: u32) -> Result<u64, String> {
        let new = NewMessage {
            by: initiator.agent.clone(),
            work: initiator.work,
            text: text.clone(),
            hops,
            tick: self.clock.tick(),
            cause: initiator.cause.unwrap_or(Seq(0)),
        };
        let was_circling = self.channels.get(channel).is_some_and(Channel::is_looping);
        let settings = &*self.channel_settings;
        let number = self.channels.publish(channel, new, settings).map_err(|refusal| {
            if matches!(refusal, ChannelRefusal::Loop { .. }) && !was_circling {
                self.warn_of_circle(initiator, channel, hops);
            }
            refusal.to_string()
        })?;
        let receivers: Vec<Id> = self.channels.get(channel).map_or_else(Vec::new, |there| {
            there.subscribers().map(|(agent, _)| agent.clone()).filter(|agent| agent != initiator.agent).collect()
        });
        let said = events::Publish {
            channel: channel.into(),
            number,
            text: truncate(&text, LOGGED_CHARS),
            by: initiator.is_person().then(|| initiator.agent.clone()),
            subscribers: receivers.len() as u64,
            to: receivers.into_iter().take(RECEIVERS_NAMED).collect(),
        };
        let record = self.record(initiator, &said);
        self.channels.note_record(channel, number, record);
        let thread = initiator.work.and_then(|work| self.kernel.activation(work)).map(|one| one.thread);
        let run = thread.and_then(|thread| self.kernel.run_of(thread)).map(ActivationKey::id);
        self.exchanged.write(ExchangeAccepted { run, kind: ExchangeKind::Message });
        Ok(number)
    }

    /// Warns the person, once, about a message loop in a channel.
    fn warn_of_circle(&mut self, initiator: Initiator, channel: &str, hops: u32) {
        let what = format!(
            "agents answered each other in channel {channel} {hops} times in a row; the next message is rejected"
        );
        let remedy = "write in the channel to let them continue, or raise channels.max_hops in the settings";
        // Without an agent, so that the person is notified.
        self.log.write(EventDraft::of(&Warning::new(what).with_remedy(remedy)).cause(initiator.cause));
    }

    fn subscribe(
        &mut self,
        initiator: Initiator,
        (agent, channel): (&Id, &str),
        since: (Option<ActivationKey>, usize),
    ) -> Result<Option<u64>, String> {
        let settings = &*self.channel_settings;
        let earlier =
            self.channels.subscribe(channel, agent, since, settings).map_err(|refusal| refusal.to_string())?;
        if earlier.is_some() {
            self.log_subscription(initiator, agent, channel, false);
        }
        Ok(earlier)
    }

    fn unsubscribe(&mut self, initiator: Initiator, (agent, channel): (&Id, &str)) -> bool {
        let did = self.channels.unsubscribe(channel, agent, &self.channel_settings);
        if did {
            self.log_subscription(initiator, agent, channel, true);
        }
        did
    }

    fn log_subscription(&mut self, initiator: Initiator, agent: &Id, channel: &str, ended: bool) {
        let by = initiator.is_person().then(|| initiator.agent.clone());
        let event = events::Subscribe { channel: channel.into(), ended, by };
        self.write_record(initiator, EventDraft::of(&event).agent(agent));
    }

    fn write(
        &mut self,
        initiator: Initiator,
        run: ActivationKey,
        (key, value, only_if, shared): (&str, Value, Condition, Option<bool>),
    ) -> Result<(), String> {
        let (key, by, tick) = (key.to_owned(), initiator.agent.clone(), self.clock.tick());
        let said =
            Some(&value).filter(|value| !value.is_null()).map(|value| truncate(&value.to_string(), LOGGED_CHARS));
        let change = Change { key: key.clone(), value, only_if, shared, by, tick };
        let entry = self.boards.write(run, change, &self.board_settings).map_err(|why| why.to_string())?;
        let (version, shared) = (entry.now.version, entry.shared);
        let by = initiator.is_person().then(|| initiator.agent.clone());
        self.record(initiator, &events::Blackboard { run: run.id(), key, value: said, version, shared, by });
        self.exchanged.write(ExchangeAccepted { run: Some(run.id()), kind: ExchangeKind::Entry });
        Ok(())
    }
}
