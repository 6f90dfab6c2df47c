//! What the graph shows: which agents are collapsed into the one that started them, and where files are placed.

use std::collections::{BTreeMap, BTreeSet};

use egui::{Pos2, Rect, Vec2, pos2, vec2};

use super::layout::LayoutRequest;
use super::model::{Model, YOU};

/// The size of an agent's card.
pub const CARD: Vec2 = vec2(212.0, 52.0);
/// The size of a file.
pub const FILE: Vec2 = vec2(192.0, 22.0);
/// Between a card and its files, and between them.
const FILE_GAP: f32 = 4.0;
/// How many files are shown with an agent, unless it is expanded.
const FILES_SHOWN: usize = 6;

/// Something that can be pointed at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// An agent, by number.
    Agent(usize),
    /// A file, by number.
    File(usize),
    /// What folds and unfolds the files of an agent.
    More(usize),
}

/// An agent with its files.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// The agent.
    pub agent: usize,
    /// Files that stand below it.
    pub files: Vec<usize>,
    /// Files that are folded away.
    pub more: usize,
    /// Whether files would be folded away if they were not wanted.
    pub is_unfolded: bool,
    /// Agents that are finished and folded into it.
    pub folded: usize,
}

impl Block {
    fn rows(&self) -> usize {
        self.files.len() + usize::from(self.more > 0 || self.is_unfolded)
    }

    /// How much room it takes.
    pub fn size(&self) -> Vec2 {
        CARD + vec2(0.0, self.rows() as f32 * (FILE.y + FILE_GAP))
    }

    /// Everything in it, each with its place from the block's corner; the card comes first.
    pub fn parts(&self) -> impl Iterator<Item = (Node, Rect)> + '_ {
        let card = (Node::Agent(self.agent), Rect::from_min_size(Pos2::ZERO, CARD));
        let files = self.files.iter().map(|&file| Node::File(file));
        let more = (self.more > 0 || self.is_unfolded).then_some(Node::More(self.agent));
        let row = |(index, node): (usize, Node)| (node, Self::row(index));
        std::iter::once(card).chain(files.chain(more).enumerate().map(row))
    }

    /// The place of a row, from the block's corner.
    fn row(index: usize) -> Rect {
        let corner = pos2(CARD.x - FILE.x, CARD.y + FILE_GAP + index as f32 * (FILE.y + FILE_GAP));
        Rect::from_min_size(corner, FILE)
    }
}

/// That an agent read or wrote a file, between the places where they are shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Flow {
    /// The block of the agent.
    pub agent_block: usize,
    /// The block where the file stands.
    pub file_block: usize,
    /// Whether it was written; it was read otherwise.
    pub is_write: bool,
    /// The file's row; the card where the file is folded away.
    row: Option<usize>,
}

impl Flow {
    /// Where the file is, from its block's corner.
    pub fn file_place(&self) -> Rect {
        self.row.map_or(Rect::from_min_size(Pos2::ZERO, CARD), Block::row)
    }
}

/// How a person wants it shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ShownAs {
    /// Agents that are finished are folded.
    pub collapses_finished: bool,
    /// Who read and wrote what is shown for everyone.
    pub shows_flows: bool,
    /// Agents all of whose files are shown.
    pub unfolded: BTreeSet<usize>,
}

/// What is shown.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Agents and their files, in order of appearance.
    pub blocks: Vec<Block>,
    /// Who started whom, by block.
    pub links: Vec<(usize, usize)>,
    /// Who read and wrote what, where that is to be shown for everyone; by blocks.
    pub flows: Vec<Flow>,
    /// The block of each agent: its own, or that of the one that it is folded into.
    block_of: Vec<Option<usize>>,
    /// The block and the row of each visible file.
    file_at: BTreeMap<usize, (usize, Option<usize>)>,
}

impl Shown {
    /// Of everything that is known, what is to be shown.
    pub fn of(model: &Model, shown_as: &ShownAs) -> Self {
        let stands_for = stand_ins(model, shown_as.collapses_finished);
        let starts = model.started.keys().any(|&(from, _)| from == YOU);
        let mut shown = Self { block_of: vec![None; model.agents.len()], ..Self::default() };
        for (agent, node) in model.agents.iter().enumerate() {
            if stands_for[agent] != agent || (agent == YOU && !starts) {
                continue;
            }
            let is_long = node.files.len() > FILES_SHOWN;
            let is_unfolded = is_long && shown_as.unfolded.contains(&agent);
            let count = if is_long && !is_unfolded { FILES_SHOWN - 1 } else { node.files.len() };
            let block = shown.blocks.len();
            shown.block_of[agent] = Some(block);
            for (row, &file) in node.files.iter().enumerate() {
                shown.file_at.insert(file, (block, Some(row.min(count))));
            }
            let files = node.files[..count].to_vec();
            shown.blocks.push(Block { agent, files, more: node.files.len() - count, is_unfolded, folded: 0 });
        }
        for (agent, &stand_in) in stands_for.iter().enumerate().filter(|(agent, stand_in)| agent != *stand_in) {
            let Some(block) = shown.block_of[stand_in] else { continue };
            shown.block_of[agent] = Some(block);
            shown.blocks[block].folded += 1;
            shown.file_at.extend(model.agents[agent].files.iter().map(|&file| (file, (block, None))));
        }
        let ends = |&(from, to): &(usize, usize)| Some((shown.block_of[from]?, shown.block_of[to]?));
        let links: BTreeSet<_> = model.started.keys().filter_map(ends).filter(|(from, to)| from != to).collect();
        shown.links = links.into_iter().collect();
        // In the order in which those who were started appeared.
        shown.links.sort_by_key(|&(from, to)| (to, from));
        if shown_as.shows_flows {
            shown.flows = shown.all_flows(model);
        }
        shown
    }

    /// The block that an agent stands in, itself or folded.
    pub fn block_of(&self, agent: usize) -> Option<usize> {
        self.block_of.get(agent).copied().flatten()
    }

    /// In which block something stands, and where from the block's corner. What is folded away stands where it is
    /// folded to.
    pub fn place(&self, node: Node) -> Option<(usize, Rect)> {
        let card = Rect::from_min_size(Pos2::ZERO, CARD);
        match node {
            Node::Agent(agent) => Some((self.block_of(agent)?, card)),
            Node::File(file) => {
                let &(block, row) = self.file_at.get(&file)?;
                Some((block, row.map_or(card, Block::row)))
            }
            Node::More(agent) => {
                let block = self.block_of(agent)?;
                let row = self.blocks[block].files.len();
                Some((block, Block::row(row)))
            }
        }
    }

    /// What has to be known to lay it out.
    pub fn request(&self, beginning: u64) -> LayoutRequest {
        let agents = self.blocks.iter().map(|block| block.agent).collect();
        let sizes = self.blocks.iter().map(Block::size).collect();
        LayoutRequest { beginning, agents, sizes, links: self.links.clone() }
    }

    /// Who read and wrote what, where it is shown.
    fn all_flows(&self, model: &Model) -> Vec<Flow> {
        let mut flows: Vec<Flow> = Vec::new();
        for agent in 0..model.agents.len() {
            flows.extend(self.flows_of_agent(model, agent));
        }
        flows.sort_unstable();
        flows.dedup();
        flows
    }

    fn flows_of_agent(&self, model: &Model, agent: usize) -> impl Iterator<Item = Flow> {
        let node = &model.agents[agent];
        let read = node.reads.iter().map(|&file| (file, false));
        read.chain(node.writes.iter().map(|&file| (file, true)))
            .filter_map(move |(file, is_write)| self.flow(agent, file, is_write))
    }

    fn flow(&self, agent: usize, file: usize, is_write: bool) -> Option<Flow> {
        let &(file_block, row) = self.file_at.get(&file)?;
        let agent_block = self.block_of(agent)?;
        // What somebody who is folded away did with its own files is folded away too.
        (row.is_some() || file_block != agent_block).then_some(Flow { agent_block, file_block, is_write, row })
    }

    /// What one agent read and wrote, or who read and wrote one file.
    pub fn flows_of(&self, model: &Model, node: Node) -> Vec<Flow> {
        match node {
            Node::Agent(agent) if agent < model.agents.len() => self.flows_of_agent(model, agent).collect(),
            Node::File(number) => {
                let Some(file) = model.files.get(number) else { return Vec::new() };
                let read = file.readers.iter().map(|&agent| (agent, false));
                let wrote = file.writers.iter().map(|&agent| (agent, true));
                read.chain(wrote).filter_map(|(agent, is_write)| self.flow(agent, number, is_write)).collect()
            }
            Node::Agent(_) | Node::More(_) => Vec::new(),
        }
    }
}

/// For each agent the one that stands for it: itself, unless it is folded.
fn stand_ins(model: &Model, collapses_finished: bool) -> Vec<usize> {
    let agents = &model.agents;
    let mut stand_ins: Vec<usize> = (0..agents.len()).collect();
    if !collapses_finished {
        return stand_ins;
    }
    let order = from_the_top(model);
    let mut is_over: Vec<bool> = agents.iter().map(|agent| agent.is_finished()).collect();
    for &agent in order.iter().rev() {
        is_over[agent] = is_over[agent] && agents[agent].children.iter().all(|&child| is_over[child]);
    }
    for &agent in &order {
        if let Some(parent) = agents[agent].parent.filter(|_| is_over[agent]) {
            stand_ins[agent] = stand_ins[parent];
        }
    }
    stand_ins
}

/// Every agent after the one that started it.
fn from_the_top(model: &Model) -> Vec<usize> {
    let mut order: Vec<usize> = (0..model.agents.len()).filter(|&agent| model.agents[agent].parent.is_none()).collect();
    let mut next = 0;
    while let Some(&agent) = order.get(next) {
        order.extend(&model.agents[agent].children);
        next += 1;
    }
    order
}
