//! Packs the agents that one agent started and that started none themselves into columns: a hundred helpers become a
//! grid instead of an endless list.

use std::collections::{BTreeMap, BTreeSet};

use egui::{Pos2, Vec2, vec2};

use super::layout_request::{BESIDE, LayoutRequest};

/// Between columns; arrows go through there.
const COLUMN_GAP: f32 = 40.0;
/// How much wider than high a crowd is to be.
const ASPECT: f32 = 1.4;
/// Up to this many agents a graph is small, and long lists in it are fine.
const SMALL: usize = 40;
/// The number of agents from which they are arranged in columns: in small graphs, and in others.
const CROWD: [usize; 2] = [12, 4];

/// A graph in which every crowd is one.
pub struct Packed {
    /// What is to be laid out.
    pub request: LayoutRequest,
    /// The members of each block, and their offsets from its corner.
    members: Vec<Vec<(usize, Vec2)>>,
}

impl Packed {
    /// Packs the crowds of a graph.
    pub fn of(request: &LayoutRequest) -> Self {
        let crowds = crowds(request);
        let crowd_of: BTreeMap<usize, usize> =
            crowds.iter().flat_map(|(&starter, all)| all.iter().map(move |&number| (number, starter))).collect();
        let mut packed = Self { request: LayoutRequest::default(), members: Vec::new() };
        let mut stands_in: Vec<usize> = Vec::with_capacity(request.sizes.len());
        let mut crowd_at: BTreeMap<usize, usize> = BTreeMap::new();
        for (number, &size) in request.sizes.iter().enumerate() {
            let next = packed.members.len();
            let at = match crowd_of.get(&number) {
                Some(&starter) => {
                    *crowd_at.entry(starter).or_insert_with(|| packed.put_crowd(request, &crowds[&starter]))
                }
                None => {
                    packed.request.sizes.push(size);
                    packed.members.push(vec![(number, Vec2::ZERO)]);
                    next
                }
            };
            stands_in.push(at);
        }
        let mut seen = BTreeSet::new();
        let links = request.sound_links().map(|(from, to)| (stands_in[from], stands_in[to]));
        packed.request.links = links.filter(|link| seen.insert(*link)).collect();
        packed
    }

    /// Puts a crowd into columns, each from top to bottom in the order of appearance.
    fn put_crowd(&mut self, request: &LayoutRequest, all: &[usize]) -> usize {
        let width = all.iter().map(|&number| request.sizes[number].x).fold(0.0, f32::max);
        let height: f32 = all.iter().map(|&number| request.sizes[number].y + BESIDE).sum();
        let columns = (ASPECT * height / (width + COLUMN_GAP).max(1.0)).sqrt().round();
        let rows = all.len().div_ceil((columns as usize).clamp(2, all.len()));
        let (mut size, mut members) = (Vec2::ZERO, Vec::with_capacity(all.len()));
        for (column, part) in all.chunks(rows).enumerate() {
            let mut place = vec2(column as f32 * (width + COLUMN_GAP), 0.0);
            for &number in part {
                members.push((number, place));
                size = size.max(place + vec2(width, request.sizes[number].y));
                place.y += request.sizes[number].y + BESIDE;
            }
        }
        self.request.sizes.push(size);
        self.members.push(members);
        self.members.len() - 1
    }

    /// The corners of all, out of the corners of those that were laid out.
    pub fn unpacked(&self, corners: &[Pos2]) -> Vec<Pos2> {
        let count = self.members.iter().map(Vec::len).sum();
        let mut all = vec![Pos2::ZERO; count];
        for (corner, members) in corners.iter().zip(&self.members) {
            for &(number, way) in members {
                all[number] = *corner + way;
            }
        }
        all
    }
}

/// The agents that are one of many started by the same agent, and started nobody themselves, by their starter; in
/// order.
fn crowds(request: &LayoutRequest) -> BTreeMap<usize, Vec<usize>> {
    let count = request.sizes.len();
    let (mut starters, mut starts) = (vec![Vec::new(); count], vec![false; count]);
    for (from, to) in request.sound_links() {
        starters[to].push(from);
        starts[from] = true;
    }
    let mut crowds: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, starters) in starters.iter().enumerate() {
        if let [starter] = starters[..]
            && !starts[number]
        {
            crowds.entry(starter).or_default().push(number);
        }
    }
    let most = CROWD[usize::from(count > SMALL)];
    crowds.retain(|_, all| all.len() > most);
    crowds
}
