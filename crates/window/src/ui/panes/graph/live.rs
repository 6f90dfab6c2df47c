//! The current state of the graph's agents in the room: their names and the state of their work.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{AgentNode, FileNode, Model, Status, YOU};
use super::texts;
use crate::base::paths::file_name;
use crate::base::{ActivationKey, Id};
use crate::ui::widgets::text_format::capitalised;
use crate::view::model::RoomModel;
use crate::view::work::PieceView;

/// Names, looks and pieces of work in the room, by id.
pub struct Live<'a> {
    names: BTreeMap<&'a str, &'a str>,
    room_ids: BTreeMap<&'a str, &'a Id>,
    looks: BTreeMap<&'a str, &'a str>,
    pieces: BTreeMap<ActivationKey, &'a PieceView>,
    /// Whether `pieces` contains all current pieces of work; the room lists only some of them.
    has_all_pieces: bool,
}

impl<'a> Live<'a> {
    /// Indexes this room.
    pub fn of(room: &'a RoomModel) -> Self {
        let profiles = room.profiles.iter().map(|profile| (&*profile.id, profile.name.as_str()));
        let agents = room.agents.iter().map(|agent| (&*agent.id, &*agent.name));
        let profile_looks = room.profiles.iter().map(|profile| (&*profile.id, &*profile.look));
        let agent_looks = room.agents.iter().map(|agent| (&*agent.id, &*agent.look));
        let work = &room.work;
        Self {
            names: profiles.chain(agents).collect(),
            looks: profile_looks.chain(agent_looks).collect(),
            room_ids: room.agents.iter().map(|agent| (&*agent.id, &agent.id)).collect(),
            pieces: work.pieces.iter().map(|piece| (piece.activation, piece)).collect(),
            has_all_pieces: work.pieces.len() >= work.going_on + work.waiting,
        }
    }

    /// Returns the id of an agent if it is in the room.
    pub fn in_room(&self, id: &str) -> Option<&'a Id> {
        self.room_ids.get(id).copied()
    }

    /// Returns the look of an agent or profile, if known.
    pub fn look(&self, id: &str) -> Option<&'a str> {
        self.looks.get(id).copied()
    }

    /// Returns the display name of an agent. An agent that has left is called by its capitalised id.
    pub fn name(&self, id: &str) -> String {
        match id {
            "user" => crate::ui::texts::YOU.to_owned(),
            _ => self.names.get(id).map_or_else(|| capitalised(id), |name| (*name).to_owned()),
        }
    }

    /// Returns the current status of an agent: that of its work in the room, else the one recorded in the log.
    pub fn status(&self, node: &AgentNode) -> Status {
        let going_on =
            node.open.keys().filter_map(|key| self.pieces.get(key)).map(|piece| Status::of_stage(piece.stage));
        match going_on.max() {
            Some(status) => status,
            None if !node.open.is_empty() && self.has_all_pieces => Status::Interrupted,
            None => node.status,
        }
    }

    /// Returns who created a file, as text.
    pub fn made_by(&self, file: &FileNode) -> String {
        match file.creator.as_deref() {
            None => texts::ALREADY_THERE.to_owned(),
            Some("user") => texts::BY_YOU.to_owned(),
            Some(creator) => texts::made_by(&self.name(creator)),
        }
    }

    /// Returns the accessible label of an agent's card. `folded` is the number of finished agents collapsed into it.
    pub fn agent_label(&self, model: &Model, agent: usize, folded: usize) -> String {
        let node = &model.agents[agent];
        let label = if agent == YOU {
            texts::user_label(&tasks_given(model))
        } else {
            let (name, status) = (self.name(&node.id), self.status(node).label());
            texts::agent_label(&name, status, node.tokens)
        };
        if folded > 0 { texts::with_finished_count(&label, folded) } else { label }
    }

    /// Returns the accessible label of a file.
    pub fn file_label(&self, file: &FileNode) -> String {
        texts::file_label(file_name(&file.path), &self.made_by(file), file.is_deleted)
    }

    /// Returns the tooltip of an agent's card.
    pub fn agent_tooltip(&self, model: &Model, agent: usize) -> String {
        let node = &model.agents[agent];
        let mut lines = vec![self.agent_label(model, agent, 0)];
        if agent != YOU {
            let parent_name = node.parent.map(|parent| self.name(&model.agents[parent].id));
            lines.push(texts::starter_and_tasks(parent_name.as_deref(), node.depth, node.pieces));
        }
        if node.reads.len() + node.writes.len() > 0 {
            lines.push(texts::read_and_wrote(node.reads.len(), node.writes.len()));
        }
        if node.reports > 0 {
            lines.push(texts::reported(node.reports));
        }
        if agent != YOU && self.in_room(&node.id).is_none() {
            lines.push(texts::NO_LONGER_IN_ROOM.to_owned());
        }
        lines.join("\n")
    }

    /// Returns the tooltip of a file.
    pub fn file_tooltip(&self, model: &Model, file: &FileNode) -> String {
        let names = |agents: &BTreeSet<usize>| {
            let shown: Vec<String> = agents.iter().take(6).map(|&agent| self.name(&model.agents[agent].id)).collect();
            let more = agents.len().saturating_sub(6);
            if more > 0 { texts::and_more_names(&shown.join(", "), more) } else { shown.join(", ") }
        };
        let mut lines = vec![file.path.to_string(), capitalised(&self.made_by(file))];
        if file.is_deleted {
            lines.push(texts::DELETED.to_owned());
        }
        for (verb, agents) in [(texts::READ_BY, &file.readers), (texts::WRITTEN_BY, &file.writers)] {
            if !agents.is_empty() {
                lines.push(texts::verb_and_names(verb, &names(agents)));
            }
        }
        lines.join("\n")
    }
}

/// Returns the number of tasks that the user gave, such as `1 task` or `3 tasks`.
pub fn tasks_given(model: &Model) -> String {
    let count: u32 = model.started.range((YOU, 0)..=(YOU, usize::MAX)).map(|(_, pieces)| *pieces).sum();
    texts::tasks(count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::sample_room;

    fn piece(number: u64, stage: &'static str) -> PieceView {
        let activation = ActivationKey::numbered(number);
        let (agent, task) = ("ada-1".into(), String::new());
        PieceView { activation, agent, task, stage, turn: 1, depth: 0, tokens: 0, question: None }
    }

    fn node(open: &[u64], status: Status) -> AgentNode {
        AgentNode {
            open: open.iter().map(|&number| (ActivationKey::numbered(number), 0)).collect(),
            status,
            ..AgentNode::default()
        }
    }

    #[test]
    fn the_room_overrides_the_status_in_the_log() {
        let mut room = sample_room();
        room.work.pieces = vec![piece(4, "queued"), piece(5, "needs you"), piece(6, "summoned by a new word")];
        room.work.waiting = 3;
        let live = Live::of(&room);
        for (open, logged, wanted) in [
            (&[4, 5][..], Status::Thinking, Status::AsksYou),
            (&[6], Status::Thinking, Status::Queued),
            (&[], Status::Done, Status::Done),
            (&[9], Status::Thinking, Status::Interrupted),
        ] {
            assert_eq!(live.status(&node(open, logged)), wanted, "{open:?}");
        }
        room.work.going_on = 500;
        let live = Live::of(&room);
        assert_eq!(live.status(&node(&[9], Status::Thinking)), Status::Thinking, "not every piece is listed");
    }

    #[test]
    fn agents_have_their_name_in_the_room_or_else_their_id() {
        let room = sample_room();
        let live = Live::of(&room);
        for (id, name) in [("ada-1", "Ada"), ("bram", "Bram"), ("user", "You"), ("écrivain", "Écrivain"), ("", "")] {
            assert_eq!(live.name(id), name);
        }
    }
}
