//! What the room says at this moment about the agents of the graph: their names and what their work is at.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{AgentNode, FileNode, Model, Status, YOU};
use crate::base::{ActivationKey, Id};
use crate::ui::widgets::text_format;
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
            "user" => "You".to_owned(),
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
            None => "there before".to_owned(),
            Some("user") => "by you".to_owned(),
            Some(creator) => format!("by {}", self.name(creator)),
        }
    }

    /// All about an agent in one line, for who cannot see it.
    pub fn agent_line(&self, model: &Model, agent: usize, folded: usize) -> String {
        let node = &model.agents[agent];
        let line = if agent == YOU {
            format!("You, gave {}", tasks_given(model))
        } else {
            let (name, status) = (self.name(&node.id), self.status(node).word());
            format!("Agent {name}, {status}, {} tokens", text_format::compact(node.tokens))
        };
        if folded > 0 { format!("{line}, {folded} finished") } else { line }
    }

    /// All about a file in one line.
    pub fn file_line(&self, file: &FileNode) -> String {
        let gone = if file.is_gone { ", deleted" } else { "" };
        format!("File {}, {}{gone}", file_name(&file.path), self.made_by(file))
    }

    /// What a pointer that rests on an agent is told.
    pub fn agent_story(&self, model: &Model, agent: usize) -> String {
        let node = &model.agents[agent];
        let mut lines = vec![self.agent_line(model, agent, 0)];
        if agent != YOU {
            let by = node.parent.map(|parent| format!("Started by {}, ", self.name(&model.agents[parent].id)));
            let by = by.map_or_else(|| "Depth".to_owned(), |by| format!("{by}depth"));
            lines.push(format!("{by} {}, given work {}", node.depth, times(node.pieces)));
        }
        if node.reads.len() + node.writes.len() > 0 {
            let read = text_format::count(node.reads.len(), "file", "files");
            lines.push(format!("Read {read}, wrote {}", node.writes.len()));
        }
        if node.told > 0 {
            lines.push(format!("Reported to its starter {}", times(node.told)));
        }
        if agent != YOU && self.in_room(&node.id).is_none() {
            lines.push("No longer in the room".to_owned());
        }
        lines.join("\n")
    }

    /// What a pointer that rests on a file is told.
    pub fn file_story(&self, model: &Model, file: &FileNode) -> String {
        let names = |agents: &BTreeSet<usize>| {
            let shown: Vec<String> = agents.iter().take(6).map(|&agent| self.name(&model.agents[agent].id)).collect();
            let more = agents.len().saturating_sub(6);
            if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
        };
        let mut lines = vec![file.path.to_string(), capitalised(&self.made_by(file))];
        if file.is_gone {
            lines.push("Deleted".to_owned());
        }
        for (verb, agents) in [("Read by", &file.readers), ("Written by", &file.writers)] {
            if !agents.is_empty() {
                lines.push(format!("{verb} {}", names(agents)));
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
    text_format::count(given as usize, "task", "tasks")
}

fn times(number: u32) -> String {
    if number == 1 { "once".to_owned() } else { format!("{number} times") }
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
    fn what_goes_on_now_counts_more_than_what_the_log_has() {
        let mut room = sample_room();
        room.work.pieces = vec![piece(4, "queued"), piece(5, "asks you"), piece(6, "summoned by a new word")];
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
