//! The current state of the graph's agents in the room: their names and the state of their work.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{AgentNode, FileNode, Model, Status, YOU};
use super::texts;
use crate::base::{ActivationKey, Id};
use crate::ui::widgets::text_format::capitalised;
use crate::view::model::RoomModel;
use crate::view::work::PieceView;

/// Names and pieces of work, looked up by id.
pub struct Live<'a> {
    names: BTreeMap<&'a str, &'a str>,
    here: BTreeMap<&'a str, &'a Id>,
    looks: BTreeMap<&'a str, &'a str>,
    pieces: BTreeMap<ActivationKey, &'a PieceView>,
    /// Whether every piece of work that there is is among them.
    has_all_pieces: bool,
}

impl<'a> Live<'a> {
    /// Of this room.
    pub fn of(room: &'a RoomModel) -> Self {
        let profiles = room.profiles.iter().map(|profile| (&*profile.id, profile.name.as_str()));
        let agents = room.agents.iter().map(|agent| (&*agent.id, &*agent.name));
        let looks_of_profiles = room.profiles.iter().map(|profile| (&*profile.id, &*profile.look));
        let looks_of_agents = room.agents.iter().map(|agent| (&*agent.id, &*agent.look));
        let work = &room.work;
        Self {
            names: profiles.chain(agents).collect(),
            looks: looks_of_profiles.chain(looks_of_agents).collect(),
            here: room.agents.iter().map(|agent| (&*agent.id, &agent.id)).collect(),
            pieces: work.pieces.iter().map(|piece| (piece.activation, piece)).collect(),
            has_all_pieces: work.pieces.len() >= work.going_on + work.waiting,
        }
    }

    /// The id of an agent that is in the room.
    pub fn in_room(&self, id: &str) -> Option<&'a Id> {
        self.here.get(id).copied()
    }

    /// What the figure of an agent is drawn from, if it is known.
    pub fn look(&self, id: &str) -> Option<&'a str> {
        self.looks.get(id).copied()
    }

    /// What an agent is called; who is gone is called by its id.
    pub fn name(&self, id: &str) -> String {
        match id {
            "user" => texts::YOU.to_owned(),
            _ => self.names.get(id).map_or_else(|| capitalised(id), |name| (*name).to_owned()),
        }
    }

    /// What an agent is at.
    pub fn status(&self, node: &AgentNode) -> Status {
        let going_on =
            node.open.keys().filter_map(|key| self.pieces.get(key)).map(|piece| Status::of_stage(piece.stage));
        match going_on.max() {
            Some(status) => status,
            None if !node.open.is_empty() && self.has_all_pieces => Status::LeftOff,
            None => node.status,
        }
    }

    /// Who made a file, in words.
    pub fn made_by(&self, file: &FileNode) -> String {
        match file.creator.as_deref() {
            None => texts::ALREADY_THERE.to_owned(),
            Some("user") => texts::BY_YOU.to_owned(),
            Some(creator) => texts::made_by(&self.name(creator)),
        }
    }

    /// All about an agent in one line, for who cannot see it.
    pub fn agent_line(&self, model: &Model, agent: usize, folded: usize) -> String {
        let node = &model.agents[agent];
        let line = if agent == YOU {
            texts::you_in_one_line(&tasks_given(model))
        } else {
            let (name, status) = (self.name(&node.id), self.status(node).word());
            texts::agent_in_one_line(&name, status, node.tokens)
        };
        if folded > 0 { texts::with_finished(&line, folded) } else { line }
    }

    /// All about a file in one line.
    pub fn file_line(&self, file: &FileNode) -> String {
        texts::file_in_one_line(file_name(&file.path), &self.made_by(file), file.is_gone)
    }

    /// What a pointer that rests on an agent is told.
    pub fn agent_story(&self, model: &Model, agent: usize) -> String {
        let node = &model.agents[agent];
        let mut lines = vec![self.agent_line(model, agent, 0)];
        if agent != YOU {
            let starter = node.parent.map(|parent| self.name(&model.agents[parent].id));
            lines.push(texts::work_given(starter.as_deref(), node.depth, node.pieces));
        }
        if node.reads.len() + node.writes.len() > 0 {
            lines.push(texts::read_and_wrote(node.reads.len(), node.writes.len()));
        }
        if node.told > 0 {
            lines.push(texts::reported(node.told));
        }
        if agent != YOU && self.in_room(&node.id).is_none() {
            lines.push(texts::NO_LONGER_IN_ROOM.to_owned());
        }
        lines.join("\n")
    }

    /// What a pointer that rests on a file is told.
    pub fn file_story(&self, model: &Model, file: &FileNode) -> String {
        let names = |agents: &BTreeSet<usize>| {
            let shown: Vec<String> = agents.iter().take(6).map(|&agent| self.name(&model.agents[agent].id)).collect();
            let more = agents.len().saturating_sub(6);
            if more > 0 { texts::and_more_names(&shown.join(", "), more) } else { shown.join(", ") }
        };
        let mut lines = vec![file.path.to_string(), capitalised(&self.made_by(file))];
        if file.is_gone {
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

/// A file's name without its folders.
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `1 task`, `3 tasks`.
pub fn tasks_given(model: &Model) -> String {
    let given: u32 = model.started.range((YOU, 0)..=(YOU, usize::MAX)).map(|(_, pieces)| *pieces).sum();
    texts::tasks(given as usize)
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
    fn what_is_running_now_counts_more_than_what_the_log_has() {
        let mut room = sample_room();
        room.work.pieces = vec![piece(4, "queued"), piece(5, "needs you"), piece(6, "summoned by a new word")];
        room.work.waiting = 3;
        let live = Live::of(&room);
        for (open, logged, wanted) in [
            (&[4, 5][..], Status::Thinking, Status::AsksYou),
            (&[6], Status::Thinking, Status::Queued),
            (&[], Status::Done, Status::Done),
            (&[9], Status::Thinking, Status::LeftOff),
        ] {
            assert_eq!(live.status(&node(open, logged)), wanted, "{open:?}");
        }
        room.work.going_on = 500;
        let live = Live::of(&room);
        assert_eq!(live.status(&node(&[9], Status::Thinking)), Status::Thinking, "not every piece is listed");
    }

    #[test]
    fn names_are_those_of_the_room_and_ids_of_who_is_gone() {
        let room = sample_room();
        let live = Live::of(&room);
        for (id, name) in [("ada-1", "Ada"), ("bram", "Bram"), ("user", "You"), ("écrivain", "Écrivain"), ("", "")] {
            assert_eq!(live.name(id), name);
        }
    }
}
