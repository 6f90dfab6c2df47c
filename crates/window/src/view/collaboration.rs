//! Channels and blackboards as plain data for the UI.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde_json::Value;

use crate::base::text::{first_paragraph, one_line, truncate};
use crate::base::{ActivationKey, Id};
use crate::gateway::{ExchangeCounts, RequestQueue};
use crate::kernel::Kernel;
use crate::orchestration::blackboard::EntryVersion;
use crate::orchestration::{ArchivedEntry, Blackboards, BoardArchive, BoardChannels, Channel, Channels, RunBoard};

/// Number of messages shown per channel, newest ones.
const MESSAGES_SHOWN: usize = 20;
/// Number of characters shown of an entry's earlier value.
const BEFORE_CHARS: usize = 200;

/// Channels and blackboards.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CollaborationView {
    /// The channels, sorted by name.
    pub channels: Vec<ChannelView>,
    /// The blackboards, those of running runs first, newest first.
    pub boards: Vec<BoardView>,
    /// Entries kept from ended runs, newest first.
    pub kept: Vec<ArchivedEntryView>,
    /// The channel shown on each message board, by element id.
    pub shown: BTreeMap<Id, String>,
}

/// An entry kept from an ended run.
#[derive(Clone, PartialEq, Debug)]
pub struct ArchivedEntryView {
    /// The archived entry.
    pub entry: ArchivedEntry,
    /// Its value as editable text.
    pub value: String,
}

/// A channel.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChannelView {
    /// The channel's name.
    pub name: String,
    /// The subscribers' ids, each with its number of unread messages.
    pub listeners: Vec<(Id, u64)>,
    /// The newest messages, oldest first: number, author id and text.
    pub messages: Vec<(u64, Id, String)>,
    /// Numbers of messages sent, delivered and rejected.
    pub counts: (u64, u64, u64),
}

/// The blackboard of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct BoardView {
    /// The activation that started the run.
    pub run: ActivationKey,
    /// The run's task; empty if it is no longer known.
    pub task: String,
    /// The id of the agent that started the run.
    pub agent: Option<Id>,
    /// Whether the run has ended.
    pub is_over: bool,
    /// The entries, sorted by name.
    pub entries: Vec<EntryView>,
    /// How much the agents of the run exchanged.
    pub exchanged: ExchangeCounts,
}

/// An entry of a blackboard.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EntryView {
    /// The entry's name.
    pub key: String,
    /// The value as editable text.
    pub value: String,
    /// The author's id.
    pub by: Id,
    /// The tick of the last write.
    pub tick: u64,
    /// The version number.
    pub version: u64,
    /// Whether the entry is kept when the run ends.
    pub shared: bool,
    /// Earlier values, newest first: version, author id, tick, and a shortened value.
    pub before: Vec<(u64, Id, u64, String)>,
}

impl CollaborationView {
    /// Reads channels and blackboards from the world.
    pub fn read(world: &World) -> Self {
        let channels = world.get_resource::<Channels>();
        let channels = channels.into_iter().flat_map(Channels::iter).map(|(name, channel)| channel_view(name, channel));
        let kept = world.get_resource::<BoardArchive>().into_iter().flat_map(|kept| kept.entries().iter().rev());
        let kept = kept.map(|entry| ArchivedEntryView { entry: entry.clone(), value: edited(&entry.value) });
        let shown = world.get_resource::<BoardChannels>().into_iter().flat_map(BoardChannels::iter);
        let shown = shown.map(|(board, channel)| (board.clone(), channel.to_owned())).collect();
        let mut all = Self { channels: channels.collect(), boards: Vec::new(), kept: kept.collect(), shown };
        let (Some(boards), Some(kernel)) = (world.get_resource::<Blackboards>(), world.get_resource::<Kernel>()) else {
            return all;
        };
        let exchanged = |run: ActivationKey| {
            let questions = world.get_resource::<RequestQueue>();
            questions.map(|questions| questions.ledger().exchanges_of(&run.id())).unwrap_or_default()
        };
        let boards =
            boards.iter().map(|(run, board)| BoardView { exchanged: exchanged(run), ..board_view(run, board, kernel) });
        all.boards = boards.collect();
        all.boards.retain(|board| !board.entries.is_empty());
        all.boards.sort_by_key(|board| (board.is_over, std::cmp::Reverse(board.run)));
        all
    }
}

fn channel_view(name: &str, channel: &Channel) -> ChannelView {
    let from = channel.messages().len().saturating_sub(MESSAGES_SHOWN);
    let (delivered, rejected) = channel.counts();
    ChannelView {
        name: name.to_owned(),
        listeners: channel.subscribers().map(|(agent, one)| (agent.clone(), channel.waits(one))).collect(),
        messages: channel
            .messages()
            .skip(from)
            .map(|message| (message.number, message.by.clone(), message.text.to_string()))
            .collect(),
        counts: (channel.message_count(), delivered, rejected),
    }
}

fn board_view(run: ActivationKey, board: &RunBoard, kernel: &Kernel) -> BoardView {
    let entries = board.entries().filter(|(_, entry)| entry.value().is_some()).map(|(key, entry)| {
        let before = |one: &EntryVersion| (one.version, one.by.clone(), one.tick, short(&one.value));
        EntryView {
            key: key.to_owned(),
            value: edited(&entry.now.value),
            by: entry.now.by.clone(),
            tick: entry.now.tick,
            version: entry.now.version,
            shared: entry.shared,
            before: entry.before.iter().rev().map(before).collect(),
        }
    });
    BoardView {
        run,
        task: kernel.task_of(run).map(|task| truncate(&first_paragraph(&task), BEFORE_CHARS)).unwrap_or_default(),
        agent: kernel.thread(run).map(|thread| thread.agent.clone()),
        is_over: board.ended().is_some(),
        entries: entries.collect(),
        exchanged: ExchangeCounts::default(),
    }
}

/// A value as editable text: strings unquoted unless that would be ambiguous, everything else as JSON.
fn edited(value: &Value) -> String {
    match value {
        Value::String(words) if serde_json::from_str::<Value>(words).is_err() => words.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
    }
}

fn short(value: &Value) -> String {
    if value.is_null() { "(removed)".to_owned() } else { truncate(&one_line(&edited(value)), BEFORE_CHARS) }
}
