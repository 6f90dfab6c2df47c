//! Channels: their messages, subscribers, and what each has received. Pure.
//!
//! The messages of a channel are numbered without gaps. Each subscriber has the number of the message that it receives
//! next; what it receives, and what waits for it, only depends on that number and never on the time. So nothing is lost
//! or delivered twice, even if the process stops.

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
    /// Its number, from 1.
    pub number: u64,
    /// Who said it, by id.
    pub by: Id,
    /// The work in which it was said; none where a person said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<ActivationKey>,
    /// What.
    pub text: Arc<str>,
    /// How many messages led to it, one waking the agent that said the next.
    #[serde(default)]
    pub hops: u32,
    /// The tick in which it was said.
    pub tick: u64,
    /// The record of it.
    pub cause: Seq,
}

/// An agent's subscription to a channel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Subscription {
    /// The number of the message that it hears next.
    pub next: u64,
    /// The number of the message that it is woken for next, at the earliest.
    pub woken_for: u64,
    /// The session in which it began to listen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ActivationKey>,
}

/// A channel.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Channel {
    /// What is known of what was said, the oldest first.
    messages: VecDeque<ChannelMessage>,
    /// The total number of messages.
    said: u64,
    /// The number of characters of the known messages.
    chars: usize,
    subscribers: BTreeMap<Id, Subscription>,
    /// The number of deliveries.
    heard: u64,
    /// The number of refused messages.
    bounced: u64,
    /// Whether its messages were going in circles at the last one.
    goes_in_circles: bool,
}

/// A message to be published.
#[derive(Clone, PartialEq, Debug)]
pub struct NewMessage {
    /// Who says it, by id.
    pub by: Id,
    /// The work in which it is said.
    pub work: Option<ActivationKey>,
    /// What.
    pub text: String,
    /// How many messages led to it.
    pub hops: u32,
    /// The tick.
    pub tick: u64,
    /// The record that it comes from.
    pub cause: Seq,
}

/// Why a message was not published, or a subscription was refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ChannelRefusal {
    /// Too much waits for those who listen.
    #[error(
        "channel '{channel}' is full: {waiting} messages are waiting, longest for {slowest}; try again when they have \
         been received, or use another way"
    )]
    Full {
        /// Which.
        channel: String,
        /// The number of waiting messages.
        waiting: u64,
        /// The subscriber that has received the least.
        slowest: Id,
    },
    /// Messages led to each other too often.
    #[error(
        "channel '{channel}' goes in circles: {hops} messages led to this one, each waking the agent that sent the \
         next; it was not sent. Finish your part, or tell the agent that started you"
    )]
    Circle {
        /// Which.
        channel: String,
        /// The number of messages that led to it.
        hops: u32,
    },
    /// There are too many channels.
    #[error("there are already {most} channels; use one of them: {there}")]
    TooManyChannels {
        /// The limit.
        most: usize,
        /// Some of them.
        there: String,
    },
    /// Too many listen.
    #[error("channel '{channel}' already has {most} subscribers")]
    TooManySubscribers {
        /// The limit.
        most: usize,
        /// To which.
        channel: String,
    },
}

/// The messages of a channel that an agent receives.
#[derive(Clone, PartialEq, Debug)]
pub struct Delivered {
    /// Which.
    pub channel: String,
    /// What was said, the oldest first; never what the agent said itself.
    pub messages: Vec<ChannelMessage>,
    /// So many more wait for its next turn, those that it said itself included.
    pub left: u64,
}

/// All channels of a room. Written by this floor only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Channels {
    channels: BTreeMap<String, Channel>,
    /// How many messages led to the work of a session, where one woke it.
    hops: BTreeMap<ActivationKey, u32>,
}

impl Channel {
    /// What is known of what was said, the oldest first.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &ChannelMessage> + ExactSizeIterator {
        self.messages.iter()
    }

    /// So many messages were said in all.
    pub fn message_count(&self) -> u64 {
        self.said
    }

    /// The number of messages delivered and the number refused.
    pub fn counts(&self) -> (u64, u64) {
        (self.heard, self.bounced)
    }

    /// Who listens, and what each hears next.
    pub fn subscribers(&self) -> impl ExactSizeIterator<Item = (&Id, &Subscription)> {
        self.subscribers.iter()
    }

    /// Whether its messages went in circles when one was to be said last.
    pub fn goes_in_circles(&self) -> bool {
        self.goes_in_circles
    }

    /// So many messages wait for this subscriber, those among them that it said itself included.
    pub fn waits(&self, subscription: &Subscription) -> u64 {
        (self.said + 1).saturating_sub(subscription.next)
    }

    /// The number of the oldest message that some subscriber has not received.
    fn oldest_waiting(&self) -> Option<(u64, &Id)> {
        self.subscribers.iter().map(|(agent, one)| (one.next, agent)).min().filter(|(next, _)| *next <= self.said)
    }

    /// Forgets messages that everybody has received, beyond those that are kept for viewing; and more, if that makes
    /// room for a message of this many characters.
    fn make_room(&mut self, chars: usize, settings: &ChannelSettings) {
        let first_waiting = self.oldest_waiting().map_or(self.said + 1, |(next, _)| next);
        while let Some(oldest) = self.messages.front().filter(|oldest| oldest.number < first_waiting) {
            let heard = usize::try_from(first_waiting - oldest.number).unwrap_or(usize::MAX);
            let is_needed = chars > 0 && !self.has_room(chars, settings);
            if heard <= settings.history_at_most && !is_needed {
                break;
            }
            self.chars = self.chars.saturating_sub(oldest.text.chars().count());
            self.messages.pop_front();
        }
    }

    fn has_room(&self, chars: usize, settings: &ChannelSettings) -> bool {
        self.messages.len() < settings.messages_at_most && self.chars.saturating_add(chars) <= settings.chars_at_most
    }

    /// What is said from this number on.
    fn since(&self, number: u64) -> impl Iterator<Item = &ChannelMessage> {
        let first = self.messages.front().map_or(0, |oldest| oldest.number);
        let at = usize::try_from(number.saturating_sub(first)).unwrap_or(usize::MAX).min(self.messages.len());
        self.messages.range(at..)
    }
}

impl Channels {
    /// All of them, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Channel)> {
        self.channels.iter().map(|(name, channel)| (name.as_str(), channel))
    }

    /// The channel of this name.
    pub fn get(&self, name: &str) -> Option<&Channel> {
        self.channels.get(name)
    }

    fn make(&mut self, name: &str, settings: &ChannelSettings) -> Result<&mut Channel, ChannelRefusal> {
        if !self.channels.contains_key(name) && self.channels.len() >= settings.channels_at_most {
            // A channel without subscribers is removed: its messages were for nobody.
            let idle = self.channels.iter().filter(|(_, channel)| channel.subscribers.is_empty());
            let oldest = idle.min_by_key(|(_, channel)| channel.messages.back().map_or(0, |last| last.tick));
            match oldest.map(|(name, _)| name.clone()) {
                Some(idle) => self.channels.remove(&idle),
                None => {
                    let there = self.channels.keys().take(8).cloned().collect::<Vec<_>>().join(", ");
                    return Err(ChannelRefusal::TooManyChannels { most: settings.channels_at_most, there });
                }
            };
        }
        Ok(self.channels.entry(name.to_owned()).or_default())
    }

    /// Says something in a channel, which is made by that; returns its number.
    pub fn publish(&mut self, name: &str, new: NewMessage, settings: &ChannelSettings) -> Result<u64, ChannelRefusal> {
        let channel = self.make(name, settings)?;
        if new.hops > settings.hops_at_most {
            channel.bounced += 1;
            channel.goes_in_circles = true;
            return Err(ChannelRefusal::Circle { channel: name.to_owned(), hops: new.hops });
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

    /// Notes the record of a message.
    pub fn note_record(&mut self, name: &str, number: u64, record: Seq) {
        let channel = self.channels.get_mut(name);
        if let Some(message) = channel.and_then(|channel| channel.messages.iter_mut().rfind(|one| one.number == number))
        {
            message.cause = record;
        }
    }

    /// Lets an agent listen to a channel, from now on and to so many of the messages that are there. How many of those
    /// there were; none where it listens already.
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
        if channel.subscribers.len() >= settings.subscribers_at_most {
            return Err(ChannelRefusal::TooManySubscribers {
                most: settings.subscribers_at_most,
                channel: name.to_owned(),
            });
        }
        let before = channel.messages.len().min(earlier) as u64;
        let next = channel.said + 1 - before;
        channel.subscribers.insert(agent.clone(), Subscription { next, woken_for: next, thread });
        Ok(Some(before))
    }

    /// Lets an agent listen no more. Whether it did.
    pub fn unsubscribe(&mut self, name: &str, agent: &str, settings: &ChannelSettings) -> bool {
        let Some(channel) = self.channels.get_mut(name) else { return false };
        let did = channel.subscribers.remove(agent).is_some();
        channel.make_room(0, settings);
        did
    }

    /// An agent left the room: it listens to nothing. To what it did.
    pub fn leave(&mut self, agent: &str, settings: &ChannelSettings) -> Vec<String> {
        let its = self.channels.iter().filter(|(_, channel)| channel.subscribers.contains_key(agent));
        let its: Vec<String> = its.map(|(name, _)| name.clone()).collect();
        for name in &its {
            self.unsubscribe(name, agent, settings);
        }
        its
    }

    /// Whether anything waits for anybody.
    pub fn is_quiet(&self) -> bool {
        self.channels.values().all(|channel| channel.oldest_waiting().is_none())
    }

    /// The agents for whom something waits that others said, in order.
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

    /// The messages that an agent gets now: as many as one turn allows, oldest first. Marks them as heard.
    pub fn deliver(&mut self, agent: &str, settings: &ChannelSettings) -> Vec<Delivered> {
        let mut room = settings.told_per_turn;
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
                    if messages.len() == room {
                        break;
                    }
                    messages.push(message.clone());
                }
                after = message.number + 1;
            }
            room -= messages.len();
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

    /// What wakes an agent that has nothing to do: what others said since it was last woken, channel by channel.
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

    /// The session in which an agent began to listen to what calls it.
    pub fn session_of(&self, name: &str, agent: &str) -> Option<ActivationKey> {
        self.channels.get(name)?.subscribers.get(agent)?.thread
    }

    /// Notes that an agent was woken for every message up to now.
    pub fn note_woken(&mut self, agent: &str) {
        for channel in self.channels.values_mut() {
            let next = channel.said + 1;
            if let Some(one) = channel.subscribers.get_mut(agent) {
                one.woken_for = next;
            }
        }
    }

    /// How many messages led to what is said in a session.
    pub fn hops_of(&self, thread: ActivationKey) -> u32 {
        self.hops.get(&thread).copied().unwrap_or_default()
    }

    /// Notes how many messages led to what a session does from now on: those that woke it, and those before them. What
    /// a person says begins anew.
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
