//! Packs agents that have the same parent and no children into columns, so that a hundred helpers become a grid instead
//! of an endless list.

use std::collections::{BTreeMap, BTreeSet};

use egui::{Pos2, Vec2, vec2};

use super::layout_request::{LayoutRequest, NODE_GAP};

/// Gap between columns, which arrows pass through.
const COLUMN_GAP: f32 = 40.0;
/// Target ratio of width to height of a packed group.
const ASPECT: f32 = 1.4;
/// Graphs of up to this many agents are small; long columns in them are fine.
const SMALL_GRAPH: usize = 40;
/// Largest group that is not packed, in small graphs and in others.
const MAX_UNPACKED: [usize; 2] = [12, 4];

/// A graph in which each group of agents is replaced by one block.
pub struct Packed {
    /// The layout request for the blocks.
    pub request: LayoutRequest,
    /// The agents in each block, with their offsets from its corner.
    members: Vec<Vec<(usize, Vec2)>>,
}

impl Packed {
    /// Packs the groups of a graph.
    pub fn of(request: &LayoutRequest) -> Self {
        let groups = groups(request);
        let group_of: BTreeMap<usize, usize> =
            groups.iter().flat_map(|(&parent, all)| all.iter().map(move |&number| (number, parent))).collect();
        let mut packed = Self { request: LayoutRequest::default(), members: Vec::new() };
        let mut block_of: Vec<usize> = Vec::with_capacity(request.sizes.len());
        let mut group_block: BTreeMap<usize, usize> = BTreeMap::new();
        for (number, &size) in request.sizes.iter().enumerate() {
            let next = packed.members.len();
            let at = match group_of.get(&number) {
                Some(&parent) => {
                    *group_block.entry(parent).or_insert_with(|| packed.pack_group(request, &groups[&parent]))
                }
                None => {
                    packed.request.sizes.push(size);
                    packed.members.push(vec![(number, Vec2::ZERO)]);
                    next
                }
            };
            block_of.push(at);
        }
        let mut seen = BTreeSet::new();
        let links = request.valid_links().map(|(from, to)| (block_of[from], block_of[to]));
        packed.request.links = links.filter(|link| seen.insert(*link)).collect();
        packed
    }

    /// Arranges a group in columns, each from top to bottom in order of appearance, and returns its block.
    fn pack_group(&mut self, request: &LayoutRequest, all: &[usize]) -> usize {
        let width = all.iter().map(|&number| request.sizes[number].x).fold(0.0, f32::max);
        let height: f32 = all.iter().map(|&number| request.sizes[number].y + NODE_GAP).sum();
        let columns = (ASPECT * height / (width + COLUMN_GAP).max(1.0)).sqrt().round();
        let rows = all.len().div_ceil((columns as usize).clamp(2, all.len()));
        let (mut size, mut members) = (Vec2::ZERO, Vec::with_capacity(all.len()));
        for (column, part) in all.chunks(rows).enumerate() {
            let mut place = vec2(column as f32 * (width + COLUMN_GAP), 0.0);
            for &number in part {
                members.push((number, place));
                size = size.max(place + vec2(width, request.sizes[number].y));
                place.y += request.sizes[number].y + NODE_GAP;
            }
        }
        self.request.sizes.push(size);
        self.members.push(members);
        self.members.len() - 1
    }

    /// Converts the corners of blocks into the corners of all agents.
    pub fn unpack(&self, corners: &[Pos2]) -> Vec<Pos2> {
        let count = self.members.iter().map(Vec::len).sum();
        let mut all = vec![Pos2::ZERO; count];
        for (corner, members) in corners.iter().zip(&self.members) {
            for &(number, offset) in members {
                all[number] = *corner + offset;
            }
        }
        all
    }
}

/// Returns the groups to pack, by parent: agents that have only this parent and no children.
fn groups(request: &LayoutRequest) -> BTreeMap<usize, Vec<usize>> {
    let count = request.sizes.len();
    let (mut parents, mut has_children) = (vec![Vec::new(); count], vec![false; count]);
    for (from, to) in request.valid_links() {
        parents[to].push(from);
        has_children[from] = true;
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, parents) in parents.iter().enumerate() {
        if let [parent] = parents[..]
            && !has_children[number]
        {
            groups.entry(parent).or_default().push(number);
        }
    }
    let max_unpacked = MAX_UNPACKED[usize::from(count > SMALL_GRAPH)];
    groups.retain(|_, all| all.len() > max_unpacked);
    groups
}
