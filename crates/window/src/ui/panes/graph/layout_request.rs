//! The input of a layout: the nodes with their sizes, and the edges between them.

use egui::Vec2;

/// Between neighbours of one layer.
pub const BESIDE: f32 = 16.0;

/// What is to be laid out, in order of appearance.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LayoutRequest {
    /// Tells the numbers of agents from those of other graphs.
    pub beginning: u64,
    /// Whose place each is.
    pub agents: Vec<usize>,
    /// How much room each takes.
    pub sizes: Vec<Vec2>,
    /// Arrows, from one to another.
    pub links: Vec<(usize, usize)>,
}

impl LayoutRequest {
    /// Arrows that lead from one that there is to another.
    pub fn sound_links(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let count = self.sizes.len();
        self.links.iter().copied().filter(move |&(from, to)| from != to && from < count && to < count)
    }
}
