//! Channels and blackboards as plain data for the screen.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde_json::Value;

use crate::base::text::{first_paragraph, one_line, truncate};
use crate::base::{ActivationKey, Id};
use crate::gateway::{ExchangeCounts, RequestQueue};
use crate::kernel::Kernel;
use crate::orchestration::blackboard::Written;
use crate::orchestration::{ArchivedEntry, Blackboards, BoardArchive, Channel, Channels, RunBoard, Shown};

/// Of a channel so many messages are shown, the newest.
const MESSAGES_SHOWN: usize = 20;
/// Of a message so many characters are shown.
const MESSAGE_CHARS: usize = 600;
/// Of what an entry said before so much is shown.
const BEFORE_CHARS: usize = 200;

/// Channels and blackboards.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CollaborationView {
    /// By name.
    pub channels: Vec<ChannelView>,
    /// Those of runs that go on first, each newest first.
    pub boards: Vec<BoardView>,
    /// What runs that are over left, the newest first.
    pub kept: Vec<KeptView>,
    /// Which message board shows which channel, by the board's id.
    pub shown: BTreeMap<Id, String>,
}

/// An entry that a run that is over left.
#[derive(Clone, PartialEq, Debug)]
pub struct KeptView {
    /// The entry.
    pub entry: ArchivedEntry,
    /// What it says, as a person edits it.
    pub value: String,
}

/// A channel.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChannelView {
    /// Its name.
    pub name: String,
    /// Who listens, by id, and how many messages wait for each.
    pub listeners: Vec<(Id, u64)>,
    /// What was said last, the oldest first: number, who, and what.
    pub messages: Vec<(u64, Id, String)>,
    /// So many messages were said in all, so often one was heard, and so many were refused.
    pub counts: (u64, u64, u64),
}

/// A blackboard.
#[derive(Clone, PartialEq, Debug)]
pub struct BoardView {
    /// The piece of work that began its run.
    pub run: ActivationKey,
    /// What that run is about, and whose it is; empty where that is not known any more.
    pub task: String,
    /// Who began it, by id.
    pub agent: Option<Id>,
    /// Whether its run is over.
    pub is_over: bool,
    /// By name.
    pub entries: Vec<EntryView>,
    /// How much the agents of its run exchanged.
    pub exchanged: ExchangeCounts,
}

/// An entry of a blackboard.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EntryView {
    /// Its name.
    pub key: String,
    /// What it says, as a person edits it.
    pub value: String,
    /// Who wrote it, by id.
    pub by: Id,
    /// The tick in which that was.
    pub tick: u64,
    /// Its version.
    pub version: u64,
    /// Whether it is kept when the run ends.
    pub shared: bool,
    /// What it said before, the newest first: the version, who wrote it, when, and what in short.
    pub before: Vec<(u64, Id, u64, String)>,
}

impl CollaborationView {
    /// Reads it out of the world.
    pub fn read(world: &World) -> Self {
        let channels = world.get_resource::<Channels>();
        let channels = channels.into_iter().flat_map(Channels::iter).map(|(name, channel)| channel_view(name, channel));
        let kept = world.get_resource::<BoardArchive>().into_iter().flat_map(|kept| kept.entries().iter().rev());
        let kept = kept.map(|entry| KeptView { entry: entry.clone(), value: edited(&entry.value) });
        let shown = world.get_resource::<Shown>().into_iter().flat_map(Shown::iter);
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
    let (heard, bounced) = channel.counts();
    ChannelView {
        name: name.to_owned(),
        listeners: channel.subscribers().map(|(agent, one)| (agent.clone(), channel.waits(one))).collect(),
        messages: channel
            .messages()
            .skip(from)
            .map(|message| (message.number, message.by.clone(), truncate(&message.text, MESSAGE_CHARS)))
            .collect(),
        counts: (channel.message_count(), heard, bounced),
    }
}

fn board_view(run: ActivationKey, board: &RunBoard, kernel: &Kernel) -> BoardView {
    let entries = board.entries().filter(|(_, entry)| entry.value().is_some()).map(|(key, entry)| {
        let before = |one: &Written| (one.version, one.by.clone(), one.tick, short(&one.value));
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

/// A value as a person edits it: words as they are, everything else as JSON.
fn edited(value: &Value) -> String {
    match value {
        Value::String(words) if serde_json::from_str::<Value>(words).is_err() => words.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
    }
}

fn short(value: &Value) -> String {
    if value.is_null() { "(removed)".to_owned() } else { truncate(&one_line(&edited(value)), BEFORE_CHARS) }
}
