//! The input of a layout: the nodes with their sizes, and the edges between them.

use egui::Vec2;

/// Vertical gap between nodes of one layer.
pub const NODE_GAP: f32 = 16.0;

/// The graph to lay out, with its nodes in order of appearance.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LayoutRequest {
    /// Identifies the graph that the node numbers belong to.
    pub beginning: u64,
    /// Agent number of each node.
    pub agents: Vec<usize>,
    /// Size of each node.
    pub sizes: Vec<Vec2>,
    /// Edges between nodes, as indices into `sizes`.
    pub links: Vec<(usize, usize)>,
}

impl LayoutRequest {
    /// Returns the edges between two different existing nodes.
    pub fn valid_links(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let count = self.sizes.len();
        self.links.iter().copied().filter(move |&(from, to)| from != to && from < count && to < count)
    }
}
