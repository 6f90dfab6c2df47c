//! Message boards that show the messages of a channel. A scene sets the channel with `channel: NAME`.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::channels::{Channel, Channels};
use super::settings::ChannelSettings;
use crate::agent::{Agent, Roster};
use crate::base::text::{one_line, truncate};
use crate::base::{Author, Id};
use crate::element::{ElementEdit, Elements, TextAct};
use crate::schedule::{SimClock, ticks};
use crate::tools::collaboration::name;
use crate::workspace::{SceneEdit, SceneWrite};

/// The kind of element that shows channels.
const BOARD: &str = "messageboard";
/// The scene key that names the channel.
const CHANNEL: &str = "channel";
/// The maximum length of a message on a board, in characters.
const SHOWN_CHARS: usize = 160;

/// The channel of each message board, by the board's id. Written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BoardChannels(BTreeMap<Id, ShownChannel>);

/// The channel shown on one board.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct ShownChannel {
    channel: String,
    /// The number of the last message shown.
    last: u64,
    /// The board is not changed before this tick.
    not_before: u64,
}

impl BoardChannels {
    /// Each board with the name of its channel.
    pub fn iter(&self) -> impl Iterator<Item = (&Id, &str)> {
        self.0.iter().map(|(board, one)| (board, one.channel.as_str()))
    }

    /// Reads the channel of a board from its scene keys.
    fn set(&mut self, board: &Id, keys: &Map<String, Value>) {
        match keys.get(CHANNEL).and_then(Value::as_str).and_then(|channel| name(channel).ok()) {
            Some(channel) if self.0.get(board).is_none_or(|there| there.channel != channel) => {
                self.0.insert(board.clone(), ShownChannel { channel, last: 0, not_before: 0 });
            }
            Some(_) => {}
            None => drop(self.0.remove(board)),
        }
    }
}

/// Follows which boards show which channel, from edits of the scene by people and by the room.
pub(super) fn apply_scene_edits(
    mut shown: ResMut<BoardChannels>,
    mut edits: MessageReader<SceneEdit>,
    mut writes: MessageReader<SceneWrite>,
) {
    for write in writes.read() {
        match write {
            SceneWrite::AddElement { keys } if keys.get("kind").and_then(Value::as_str) == Some(BOARD) => {
                if let Some(id) = keys.get("id").and_then(Value::as_str) {
                    shown.set(&id.into(), keys);
                }
            }
            SceneWrite::Element { id, keys } if keys.contains_key(CHANNEL) => shown.set(id, keys),
            SceneWrite::RemoveElement { id } => drop(shown.0.remove(id)),
            _ => {}
        }
    }
    for edit in edits.read() {
        match edit {
            SceneEdit::Element { now, .. } if *now.kind == *BOARD => shown.set(&now.id, &now.keys),
            SceneEdit::Element { now, .. } => drop(shown.0.remove(&now.id)),
            SceneEdit::ElementGone { id, .. } => drop(shown.0.remove(id)),
            SceneEdit::Agent { .. }
            | SceneEdit::AgentGone { .. }
            | SceneEdit::Relationships(_)
            | SceneEdit::Decor(_) => {}
        }
    }
}

/// Shows new messages on the boards, limited in frequency.
pub(super) fn show(
    mut shown: ResMut<BoardChannels>,
    (channels, settings, clock): (Res<Channels>, Res<ChannelSettings>, Res<SimClock>),
    (elements, roster): (Res<Elements>, Res<Roster>),
    agents: Query<&Agent>,
    mut edits: MessageWriter<ElementEdit>,
) {
    let now = clock.tick();
    let is_due = |one: &ShownChannel| {
        now >= one.not_before && channels.get(&one.channel).is_some_and(|channel| channel.message_count() > one.last)
    };
    if !shown.0.values().any(is_due) {
        return;
    }
    let name_of = |id: &Id| {
        let agent = roster.key(id).and_then(|key| roster.entity(key)).and_then(|entity| agents.get(entity).ok());
        agent.map_or_else(|| id.clone(), |agent| agent.name.clone())
    };
    for (element, one) in shown.0.iter_mut().filter(|(_, one)| is_due(one)) {
        let Some(channel) = channels.get(&one.channel) else { continue };
        // Messages that have been dropped count as shown.
        (one.last, one.not_before) = (channel.message_count(), now + ticks(settings.board_secs));
        let Some(last) = channel.messages().next_back().filter(|_| elements.key(element).is_some()) else { continue };
        let text = text_of(&one.channel, channel, settings.max_shown_on_board, name_of);
        let (act, by, cause) = (TextAct::SetText { text }.into(), Author(last.by.clone()), Some(last.cause));
        edits.write(ElementEdit { element: element.clone(), act, by, cause });
    }
}

/// The text of a board.
fn text_of(name: &str, channel: &Channel, most: usize, name_of: impl Fn(&Id) -> Id) -> String {
    let from = channel.messages().len().saturating_sub(most);
    let lines = channel
        .messages()
        .skip(from)
        .map(|message| format!("{}: {}", name_of(&message.by), truncate(&one_line(&message.text), SHOWN_CHARS)));
    format!("#{name}\n\n{}", lines.collect::<Vec<_>>().join("\n"))
}
