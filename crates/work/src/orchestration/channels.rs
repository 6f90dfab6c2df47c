//! Channels: their messages, their subscribers, and the messages that each subscriber has received. Pure.
//!
//! The messages of a channel are numbered without gaps. For each subscriber, the number of the next message to deliver
//! is stored; which messages it receives, and which are waiting for it, depends only on that number and never on the
//! time. So no message is lost or delivered twice, even if the process stops.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::settings::ChannelSettings;
use crate::base::{ActivationKey, Id, Seq};

/// A message in a channel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ChannelMessage {
    /// The number, from 1.
    pub number: u64,
    /// The id of the sender.
    pub by: Id,
    /// The activation that sent it; `None` for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<ActivationKey>,
    /// The text.
    pub text: Arc<str>,
    /// The length of the chain of messages that led to it, each waking the sender of the next.
    #[serde(default)]
    pub hops: u32,
    /// The tick in which it was sent.
    pub tick: u64,
    /// Its log record.
    pub cause: Seq,
}

/// An agent's subscription to a channel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Subscription {
    /// The number of the next message to deliver.
    pub next: u64,
    /// The number of the first message for which the agent may still be woken.
    pub woken_for: u64,
    /// The session that subscribed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ActivationKey>,
}

/// A channel.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Channel {
    /// The messages that are kept, the oldest first.
    messages: VecDeque<ChannelMessage>,
    /// The total number of messages, including dropped ones.
    said: u64,
    /// The number of characters of the kept messages.
    chars: usize,
    subscribers: BTreeMap<Id, Subscription>,
    /// The number of deliveries.
    heard: u64,
    /// The number of refused messages.
    bounced: u64,
    /// Whether the last message was refused as part of a loop.
    goes_in_circles: bool,
}

/// A message to be published.
#[derive(Clone, PartialEq, Debug)]
pub struct NewMessage {
    /// The id of the sender.
    pub by: Id,
    /// The activation that sends it.
    pub work: Option<ActivationKey>,
    /// The text.
    pub text: String,
    /// The length of the chain of messages that led to it.
    pub hops: u32,
    /// The current tick.
    pub tick: u64,
    /// The log record that caused it.
    pub cause: Seq,
}

/// Why a message was not published, or a subscription was refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ChannelRefusal {
    /// Too many messages are waiting for subscribers.
    #[error(
        "channel '{channel}' is full: {waiting} messages are waiting, longest for {slowest}; try again when they have \
         been received, or use another way"
    )]
    Full {
        /// The channel.
        channel: String,
        /// The number of waiting messages.
        waiting: u64,
        /// The subscriber that has received the least.
        slowest: Id,
    },
    /// The chain of messages that led to this one is too long.
    #[error(
        "channel '{channel}' goes in circles: {hops} messages led to this one, each waking the agent that sent the \
         next; it was not sent. Finish your part, or tell the agent that started you"
    )]
    Loop {
        /// The channel.
        channel: String,
        /// The length of the chain.
        hops: u32,
    },
    /// There are too many channels.
    #[error("there are already {most} channels; use one of them: {there}")]
    TooManyChannels {
        /// The limit.
        most: usize,
        /// The names of some of them.
        there: String,
    },
    /// The channel has too many subscribers.
    #[error("channel '{channel}' already has {most} subscribers")]
    TooManySubscribers {
        /// The limit.
        most: usize,
        /// The channel.
        channel: String,
    },
}

/// The messages of a channel that an agent receives.
#[derive(Clone, PartialEq, Debug)]
pub struct Delivered {
    /// The channel.
    pub channel: String,
    /// The messages, the oldest first, without the agent's own.
    pub messages: Vec<ChannelMessage>,
    /// The number of messages that wait for its next turn, including its own.
    pub left: u64,
}

/// All channels of a room. Written by this layer only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Channels {
    channels: BTreeMap<String, Channel>,
    /// The length of the message chain that led to the work of a session, if a message woke it.
    hops: BTreeMap<ActivationKey, u32>,
}

impl Channel {
    /// The kept messages, the oldest first.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &ChannelMessage> + ExactSizeIterator {
        self.messages.iter()
    }

    /// The total number of messages sent.
    pub fn message_count(&self) -> u64 {
        self.said
    }

    /// The number of messages delivered and the number refused.
    pub fn counts(&self) -> (u64, u64) {
        (self.heard, self.bounced)
    }

    /// All subscribers with their subscriptions.
    pub fn subscribers(&self) -> impl ExactSizeIterator<Item = (&Id, &Subscription)> {
        self.subscribers.iter()
    }

    /// Whether the last message was refused as part of a loop.
    pub fn is_looping(&self) -> bool {
        self.goes_in_circles
    }

    /// The number of messages that wait for this subscriber, including its own.
    pub fn waits(&self, subscription: &Subscription) -> u64 {
        (self.said + 1).saturating_sub(subscription.next)
    }

    /// The number of the oldest message that some subscriber has not received, with that subscriber.
    fn oldest_waiting(&self) -> Option<(u64, &Id)> {
        self.subscribers.iter().map(|(agent, one)| (one.next, agent)).min().filter(|(next, _)| *next <= self.said)
    }

    /// Drops messages that all subscribers have received, beyond the history limit; and more if needed to make room for
    /// a message of `chars` characters.
    fn make_room(&mut self, chars: usize, settings: &ChannelSettings) {
        let first_waiting = self.oldest_waiting().map_or(self.said + 1, |(next, _)| next);
        while let Some(oldest) = self.messages.front().filter(|oldest| oldest.number < first_waiting) {
            let heard = usize::try_from(first_waiting - oldest.number).unwrap_or(usize::MAX);
            let is_needed = chars > 0 && !self.has_room(chars, settings);
            if heard <= settings.max_history && !is_needed {
                break;
            }
            self.chars = self.chars.saturating_sub(oldest.text.chars().count());
            self.messages.pop_front();
        }
    }

    fn has_room(&self, chars: usize, settings: &ChannelSettings) -> bool {
        self.messages.len() < settings.max_messages && self.chars.saturating_add(chars) <= settings.max_chars
    }

    /// The messages from this number on.
    fn since(&self, number: u64) -> impl Iterator<Item = &ChannelMessage> {
        let first = self.messages.front().map_or(0, |oldest| oldest.number);
        let at = usize::try_from(number.saturating_sub(first)).unwrap_or(usize::MAX).min(self.messages.len());
        self.messages.range(at..)
    }
}

impl Channels {
    /// All channels, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Channel)> {
        self.channels.iter().map(|(name, channel)| (name.as_str(), channel))
    }

    /// The channel with this name.
    pub fn get(&self, name: &str) -> Option<&Channel> {
        self.channels.get(name)
    }

    fn make(&mut self, name: &str, settings: &ChannelSettings) -> Result<&mut Channel, ChannelRefusal> {
        if !self.channels.contains_key(name) && self.channels.len() >= settings.max_channels {
            // The channel without subscribers that has been idle longest is removed.
            let idle = self.channels.iter().filter(|(_, channel)| channel.subscribers.is_empty());
            let oldest = idle.min_by_key(|(_, channel)| channel.messages.back().map_or(0, |last| last.tick));
            match oldest.map(|(name, _)| name.clone()) {
                Some(idle) => self.channels.remove(&idle),
                None => {
                    let there = self.channels.keys().take(8).cloned().collect::<Vec<_>>().join(", ");
                    return Err(ChannelRefusal::TooManyChannels { most: settings.max_channels, there });
                }
            };
        }
        Ok(self.channels.entry(name.to_owned()).or_default())
    }

    /// Publishes a message, creating the channel if needed; returns the number of the message.
    pub fn publish(&mut self, name: &str, new: NewMessage, settings: &ChannelSettings) -> Result<u64, ChannelRefusal> {
        let channel = self.make(name, settings)?;
        if new.hops > settings.max_hops {
            channel.bounced += 1;
            channel.goes_in_circles = true;
            return Err(ChannelRefusal::Loop { channel: name.to_owned(), hops: new.hops });
        }
        let chars = new.text.chars().count();
        channel.make_room(chars, settings);
        // A message that alone exceeds the limit is accepted if nothing else waits.
        if !channel.has_room(chars, settings)
            && let Some((next, slowest)) = channel.oldest_waiting()
        {
            let (waiting, slowest) = (channel.said + 1 - next, slowest.clone());
            channel.bounced += 1;
            return Err(ChannelRefusal::Full { channel: name.to_owned(), waiting, slowest });
        }
        channel.goes_in_circles = false;
        channel.said += 1;
        channel.chars += chars;
        let (number, NewMessage { by, work, text, hops, tick, cause }) = (channel.said, new);
        // An agent that has received everything so far need not receive its own message.
        if let Some(own) = channel.subscribers.get_mut(&by).filter(|own| own.next == number) {
            own.next = number + 1;
        }
        channel.messages.push_back(ChannelMessage { number, by, work, text: text.into(), hops, tick, cause });
        Ok(number)
    }

    /// Stores the log record of a message.
    pub fn note_record(&mut self, name: &str, number: u64, record: Seq) {
        let channel = self.channels.get_mut(name);
        if let Some(message) = channel.and_then(|channel| channel.messages.iter_mut().rfind(|one| one.number == number))
        {
            message.cause = record;
        }
    }

    /// Subscribes an agent, starting with up to `earlier` existing messages. Returns how many of them there were;
    /// `None` if it was already subscribed.
    pub fn subscribe(
        &mut self,
        name: &str,
        agent: &Id,
        (thread, earlier): (Option<ActivationKey>, usize),
        settings: &ChannelSettings,
    ) -> Result<Option<u64>, ChannelRefusal> {
        let channel = self.make(name, settings)?;
        if let Some(there) = channel.subscribers.get_mut(agent) {
            there.thread = thread.or(there.thread);
            return Ok(None);
        }
        if channel.subscribers.len() >= settings.max_subscribers {
            return Err(ChannelRefusal::TooManySubscribers {
                most: settings.max_subscribers,
                channel: name.to_owned(),
            });
        }
        let before = channel.messages.len().min(earlier) as u64;
        let next = channel.said + 1 - before;
        channel.subscribers.insert(agent.clone(), Subscription { next, woken_for: next, thread });
        Ok(Some(before))
    }

    /// Unsubscribes an agent; returns whether it was subscribed.
    pub fn unsubscribe(&mut self, name: &str, agent: &str, settings: &ChannelSettings) -> bool {
        let Some(channel) = self.channels.get_mut(name) else { return false };
        let did = channel.subscribers.remove(agent).is_some();
        channel.make_room(0, settings);
        did
    }

    /// Unsubscribes an agent that left the room from all channels; returns their names.
    pub fn leave(&mut self, agent: &str, settings: &ChannelSettings) -> Vec<String> {
        let names = self.channels.iter().filter(|(_, channel)| channel.subscribers.contains_key(agent));
        let names: Vec<String> = names.map(|(name, _)| name.clone()).collect();
        for name in &names {
            self.unsubscribe(name, agent, settings);
        }
        names
    }

    /// Whether no messages are waiting.
    pub fn is_quiet(&self) -> bool {
        self.channels.values().all(|channel| channel.oldest_waiting().is_none())
    }

    /// The agents for whom messages by others are waiting, sorted.
    pub fn waiting(&self) -> Vec<Id> {
        let mut agents: Vec<&Id> = Vec::new();
        for channel in self.channels.values().filter(|channel| channel.oldest_waiting().is_some()) {
            let waits = |(agent, one): &(&Id, &Subscription)| {
                one.next <= channel.said && channel.since(one.next).any(|message| message.by != **agent)
            };
            agents.extend(channel.subscribers.iter().filter(waits).map(|(agent, _)| agent));
        }
        agents.sort_unstable();
        agents.dedup();
        agents.into_iter().cloned().collect()
    }

    /// Delivers the messages that an agent receives in this turn, oldest first, up to the limit per turn.
    pub fn deliver(&mut self, agent: &str, settings: &ChannelSettings) -> Vec<Delivered> {
        let mut remaining = settings.max_messages_per_turn;
        let mut all = Vec::new();
        for (name, channel) in &mut self.channels {
            let Some(next) = channel.subscribers.get(agent).map(|one| one.next).filter(|next| *next <= channel.said)
            else {
                continue;
            };
            let mut messages = Vec::new();
            let mut after = next;
            for message in channel.since(next) {
                if *message.by != *agent {
                    if messages.len() == remaining {
                        break;
                    }
                    // What is published in a channel reaches each subscriber once, with its next turn.
                    rule!("channels-reach-their-subscribers");
                    messages.push(message.clone());
                }
                after = message.number + 1;
            }
            remaining -= messages.len();
            let left = channel.said + 1 - after;
            if let Some(one) = channel.subscribers.get_mut(agent) {
                one.next = after;
                one.woken_for = one.woken_for.max(after);
            }
            channel.heard += messages.len() as u64;
            channel.make_room(0, settings);
            if !messages.is_empty() {
                all.push(Delivered { channel: name.clone(), messages, left });
            }
        }
        all
    }

    /// The messages by others that may wake an idle agent, by channel: those sent since it was last woken.
    pub fn calls(&self, agent: &str) -> Vec<(&str, &ChannelMessage)> {
        let mut calls = Vec::new();
        for (name, channel) in &self.channels {
            let Some(one) = channel.subscribers.get(agent) else { continue };
            let from = one.next.max(one.woken_for);
            let wakes = |message: &&ChannelMessage| *message.by != *agent;
            calls.extend(channel.since(from).filter(wakes).map(|message| (name.as_str(), message)));
        }
        calls
    }

    /// The session in which an agent subscribed to a channel.
    pub fn session_of(&self, name: &str, agent: &str) -> Option<ActivationKey> {
        self.channels.get(name)?.subscribers.get(agent)?.thread
    }

    /// Records that an agent was woken for all messages up to now.
    pub fn note_woken(&mut self, agent: &str) {
        for channel in self.channels.values_mut() {
            let next = channel.said + 1;
            if let Some(one) = channel.subscribers.get_mut(agent) {
                one.woken_for = next;
            }
        }
    }

    /// The length of the message chain that led to the work of a session.
    pub fn hops_of(&self, thread: ActivationKey) -> u32 {
        self.hops.get(&thread).copied().unwrap_or_default()
    }

    /// Sets the length of the message chain that led to the work of a session from now on. A person's message starts a
    /// new chain.
    pub fn note_hops(&mut self, thread: ActivationKey, hops: u32) {
        self.hops.insert(thread, hops);
    }

    /// Forgets sessions that are over.
    pub fn forget_sessions(&mut self, is_known: impl Fn(ActivationKey) -> bool) {
        self.hops.retain(|thread, _| is_known(*thread));
    }
}

#[cfg(test)]
#[path = "channels_tests.rs"]
mod tests;
