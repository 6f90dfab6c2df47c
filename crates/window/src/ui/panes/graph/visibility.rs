//! Which parts of the graph are visible: agents may be collapsed into the one that started them, and files are listed
//! below an agent.

use std::collections::{BTreeMap, BTreeSet};

use egui::{Pos2, Rect, Vec2, pos2, vec2};

use super::layout::LayoutRequest;
use super::model::{Model, YOU};

/// Size of an agent's card.
pub const CARD: Vec2 = vec2(212.0, 52.0);
/// Size of a file's row.
pub const FILE: Vec2 = vec2(192.0, 22.0);
/// Gap between a card and its files, and between files.
const FILE_GAP: f32 = 4.0;
/// Maximum number of files shown below an agent, unless they are unfolded.
const MAX_FILES: usize = 6;

/// A node of the graph that can be hovered and selected.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Node {
    /// An agent, by index.
    Agent(usize),
    /// A file, by index.
    File(usize),
    /// The row that folds and unfolds the files of an agent.
    More(usize),
}

/// An agent's card with the rows below it.
#[derive(Clone, PartialEq, Debug)]
pub struct Block {
    /// Index of the agent.
    pub agent: usize,
    /// Files that are shown.
    pub files: Vec<usize>,
    /// Number of files that are folded away.
    pub more: usize,
    /// Whether the user unfolded the files, which would be folded otherwise.
    pub is_unfolded: bool,
    /// Number of finished agents that are collapsed into this one.
    pub folded: usize,
}

impl Block {
    fn rows(&self) -> usize {
        self.files.len() + usize::from(self.more > 0 || self.is_unfolded)
    }

    /// Returns the size of the card with its rows.
    pub fn size(&self) -> Vec2 {
        CARD + vec2(0.0, self.rows() as f32 * (FILE.y + FILE_GAP))
    }

    /// Returns all parts with their rectangles relative to the block's corner, the card first.
    pub fn parts(&self) -> impl Iterator<Item = (Node, Rect)> + '_ {
        let card = (Node::Agent(self.agent), Rect::from_min_size(Pos2::ZERO, CARD));
        let files = self.files.iter().map(|&file| Node::File(file));
        let more = (self.more > 0 || self.is_unfolded).then_some(Node::More(self.agent));
        let row = |(index, node): (usize, Node)| (node, Self::row(index));
        std::iter::once(card).chain(files.chain(more).enumerate().map(row))
    }

    /// Returns the rectangle of a row, relative to the block's corner.
    fn row(index: usize) -> Rect {
        let corner = pos2(CARD.x - FILE.x, CARD.y + FILE_GAP + index as f32 * (FILE.y + FILE_GAP));
        Rect::from_min_size(corner, FILE)
    }
}

/// A read or write of a file by an agent, as shown between two blocks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FileFlow {
    /// Index of the agent's block.
    pub agent_block: usize,
    /// Index of the block that shows the file.
    pub file_block: usize,
    /// Whether the file was written rather than read.
    pub is_write: bool,
    /// The file's row, or `None` if it is folded away and the card stands for it.
    row: Option<usize>,
}

impl FileFlow {
    /// Returns the rectangle of the file, relative to its block's corner.
    pub fn file_rect(&self) -> Rect {
        self.row.map_or(Rect::from_min_size(Pos2::ZERO, CARD), Block::row)
    }
}

/// The user's choice of what the graph shows.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ViewOptions {
    /// Whether finished agents are collapsed into their parents.
    pub collapses_finished: bool,
    /// Whether file reads and writes are shown for all agents.
    pub shows_flows: bool,
    /// Agents whose files are all shown.
    pub unfolded: BTreeSet<usize>,
}

/// The visible part of the graph.
#[derive(Clone, Debug, Default)]
pub struct VisibleGraph {
    /// Agents with their files, in order of appearance.
    pub blocks: Vec<Block>,
    /// Blocks whose agents started each other, as pairs of indices.
    pub links: Vec<(usize, usize)>,
    /// File reads and writes, if they are shown for all agents.
    pub flows: Vec<FileFlow>,
    /// For each agent, its block or that of the agent that it is collapsed into.
    block_of: Vec<Option<usize>>,
    /// For each visible file, its block and row.
    file_rows: BTreeMap<usize, (usize, Option<usize>)>,
}

impl VisibleGraph {
    /// Computes the visible part of the graph.
    pub fn of(model: &Model, options: &ViewOptions) -> Self {
        let representatives = representatives(model, options.collapses_finished);
        let starts = model.started.keys().any(|&(from, _)| from == YOU);
        let mut shown = Self { block_of: vec![None; model.agents.len()], ..Self::default() };
        for (agent, node) in model.agents.iter().enumerate() {
            if representatives[agent] != agent || (agent == YOU && !starts) {
                continue;
            }
            let is_long = node.files.len() > MAX_FILES;
            let is_unfolded = is_long && options.unfolded.contains(&agent);
            let count = if is_long && !is_unfolded { MAX_FILES - 1 } else { node.files.len() };
            let block = shown.blocks.len();
            shown.block_of[agent] = Some(block);
            for (row, &file) in node.files.iter().enumerate() {
                shown.file_rows.insert(file, (block, Some(row.min(count))));
            }
            let files = node.files[..count].to_vec();
            shown.blocks.push(Block { agent, files, more: node.files.len() - count, is_unfolded, folded: 0 });
        }
        for (agent, &representative) in
            representatives.iter().enumerate().filter(|(agent, representative)| agent != *representative)
        {
            let Some(block) = shown.block_of[representative] else { continue };
            shown.block_of[agent] = Some(block);
            shown.blocks[block].folded += 1;
            shown.file_rows.extend(model.agents[agent].files.iter().map(|&file| (file, (block, None))));
        }
        let ends = |&(from, to): &(usize, usize)| Some((shown.block_of[from]?, shown.block_of[to]?));
        let links: BTreeSet<_> = model.started.keys().filter_map(ends).filter(|(from, to)| from != to).collect();
        shown.links = links.into_iter().collect();
        // Sorted by the order in which the started agents appeared.
        shown.links.sort_by_key(|&(from, to)| (to, from));
        if options.shows_flows {
            shown.flows = shown.all_flows(model);
        }
        shown
    }

    /// Returns the block of an agent, or of the agent that it is collapsed into.
    pub fn block_of(&self, agent: usize) -> Option<usize> {
        self.block_of.get(agent).copied().flatten()
    }

    /// Returns a node's block, and its rectangle relative to the block's corner. A node that is folded away is
    /// represented by the node that it is folded into.
    pub fn place(&self, node: Node) -> Option<(usize, Rect)> {
        let card = Rect::from_min_size(Pos2::ZERO, CARD);
        match node {
            Node::Agent(agent) => Some((self.block_of(agent)?, card)),
            Node::File(file) => {
                let &(block, row) = self.file_rows.get(&file)?;
                Some((block, row.map_or(card, Block::row)))
            }
            Node::More(agent) => {
                let block = self.block_of(agent)?;
                let row = self.blocks[block].files.len();
                Some((block, Block::row(row)))
            }
        }
    }

    /// Returns the input for the layout of the visible blocks.
    pub fn request(&self, beginning: u64) -> LayoutRequest {
        let agents = self.blocks.iter().map(|block| block.agent).collect();
        let sizes = self.blocks.iter().map(Block::size).collect();
        LayoutRequest { beginning, agents, sizes, links: self.links.clone() }
    }

    /// Returns the reads and writes of all agents.
    fn all_flows(&self, model: &Model) -> Vec<FileFlow> {
        let mut flows: Vec<FileFlow> = Vec::new();
        for agent in 0..model.agents.len() {
            flows.extend(self.flows_of_agent(model, agent));
        }
        flows.sort_unstable();
        flows.dedup();
        flows
    }

    fn flows_of_agent(&self, model: &Model, agent: usize) -> impl Iterator<Item = FileFlow> {
        let node = &model.agents[agent];
        let read = node.reads.iter().map(|&file| (file, false));
        read.chain(node.writes.iter().map(|&file| (file, true)))
            .filter_map(move |(file, is_write)| self.flow(agent, file, is_write))
    }

    fn flow(&self, agent: usize, file: usize, is_write: bool) -> Option<FileFlow> {
        let &(file_block, row) = self.file_rows.get(&file)?;
        let agent_block = self.block_of(agent)?;
        // An agent's use of its own files is collapsed together with them.
        (row.is_some() || file_block != agent_block).then_some(FileFlow { agent_block, file_block, is_write, row })
    }

    /// Returns the reads and writes of an agent, or of a file.
    pub fn flows_of(&self, model: &Model, node: Node) -> Vec<FileFlow> {
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

/// Returns for each agent the one that represents it: itself, or the agent that it is collapsed into.
fn representatives(model: &Model, collapses_finished: bool) -> Vec<usize> {
    let agents = &model.agents;
    let mut representatives: Vec<usize> = (0..agents.len()).collect();
    if !collapses_finished {
        return representatives;
    }
    let order = parents_first(model);
    let mut subtree_finished: Vec<bool> = agents.iter().map(|agent| agent.is_finished()).collect();
    for &agent in order.iter().rev() {
        subtree_finished[agent] =
            subtree_finished[agent] && agents[agent].children.iter().all(|&child| subtree_finished[child]);
    }
    for &agent in &order {
        if let Some(parent) = agents[agent].parent.filter(|_| subtree_finished[agent]) {
            representatives[agent] = representatives[parent];
        }
    }
    representatives
}

/// Returns all agents, each after its parent.
fn parents_first(model: &Model) -> Vec<usize> {
    let mut order: Vec<usize> = (0..model.agents.len()).filter(|&agent| model.agents[agent].parent.is_none()).collect();
    let mut next = 0;
    while let Some(&agent) = order.get(next) {
        order.extend(&model.agents[agent].children);
        next += 1;
    }
    order
}
