//! Delivers channel messages to agents: to working agents on their next turn, to agents that have finished their part
//! by activating them again, and to agents without work by waking them for an interest.

use std::collections::BTreeSet;

use bevy::ecs::prelude::*;

use super::channels::{ChannelMessage, Channels, Delivered};
use super::result_text;
use super::settings::ChannelSettings;
use crate::agent::Roster;
use crate::base::{ActivationKey, Author, Id, Seq, Urgency};
use crate::kernel::{Kernel, KernelSettings, WorkNotice};
use crate::log::{EventDraft, EventLog, events};
use crate::simulation::{Interest, WakeAgent};

/// The reason in the log for waking an agent for a channel.
const REASON: &str = "channel";
/// The instruction for an agent without work that gets messages of a channel.
const ASK: &str = "You are subscribed to this channel. Read the new messages, and do what they ask of you in this \
    room, if anything; you will get them again when you work.";

/// Delivers waiting messages to agents that can receive them now. Runs after all systems that send messages, and before
/// work continues.
pub(super) fn deliver(
    mut channels: ResMut<Channels>,
    (kernel, roster): (Res<Kernel>, Res<Roster>),
    (settings, work_settings): (Res<ChannelSettings>, Res<KernelSettings>),
    mut log: ResMut<EventLog>,
    mut news: MessageWriter<WorkNotice>,
    mut wakes: MessageWriter<WakeAgent>,
) {
    if channels.is_quiet() {
        return;
    }
    channels.bypass_change_detection().forget_sessions(|thread| kernel.thread(thread).is_some());
    let mut woken = BTreeSet::new();
    for agent in channels.waiting() {
        if let Some(thread) = kernel.next_turn_of(&agent) {
            deliver_to(&mut channels, &settings, (&mut log, &mut news), (&agent, thread), false);
            continue;
        }
        if kernel.has_work(&agent) {
            // The limit of messages for its next turn is already reached.
            continue;
        }
        let calls = channels.calls(&agent);
        let Some((channel, last)) = calls.last() else { continue };
        let hops = calls.iter().map(|(_, message)| message.hops).max().unwrap_or_default();
        let session = channels.session_of(channel, &agent);
        // Work that begins in this tick may have taken the last free slot.
        let has_room = kernel.activations().count() + woken.len() < work_settings.max_activations as usize;
        let thread = kernel.may_be_woken(&agent, session, &work_settings).filter(|_| has_room);
        if let Some(thread) = thread {
            channels.note_hops(thread, hops + 1);
            deliver_to(&mut channels, &settings, (&mut log, &mut news), (&agent, thread), true);
            woken.insert(agent);
        } else if let Some(key) = roster.key(&agent) {
            let interest = interest(channel, &calls);
            wakes.write(WakeAgent { agent: key, interest, by: Author(last.by.clone()), cause: last.cause });
            channels.note_woken(&agent);
        }
    }
}

/// Delivers messages to an agent in one of its sessions, and logs it.
fn deliver_to(
    channels: &mut Channels,
    settings: &ChannelSettings,
    (log, news): (&mut EventLog, &mut MessageWriter<WorkNotice>),
    (agent, thread): (&Id, ActivationKey),
    woke: bool,
) {
    let delivered = channels.deliver(agent, settings);
    let mut cause = Seq(0);
    let mut from: Option<ChannelMessage> = None;
    for Delivered { channel, messages, .. } in &delivered {
        let (Some(first), Some(last)) = (messages.first(), messages.last()) else { continue };
        let event = events::Deliver {
            channel: channel.as_str().into(),
            first: first.number,
            last: last.number,
            messages: messages.len() as u64,
            woke,
        };
        cause = log.write(EventDraft::of(&event).agent(agent).cause(last.cause));
        from = Some(last.clone());
    }
    let Some(last) = from else { return };
    let text = result_text::news(&delivered);
    news.write(WorkNotice { thread, text, from: last.by, from_work: last.work, cause });
}

/// The interest that wakes an agent without work.
fn interest(channel: &str, calls: &[(&str, &ChannelMessage)]) -> Interest {
    let sentence = match calls.len() {
        1 => format!("there is a new message in channel {channel}"),
        many => format!("there are {many} new messages in its channels"),
    };
    let interest = Interest::new(REASON, sentence, Urgency::Mail, ASK);
    calls.iter().fold(interest, |interest, (channel, message)| {
        interest.quoting(message.by.clone(), format!("in channel {channel}: {}", message.text))
    })
}
