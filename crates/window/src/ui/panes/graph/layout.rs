//! The layout of the graph: agents in layers from left to right, each to the right of the one that started it. Pure,
//! but slow: `layout_jobs` runs it in the background.

use std::collections::BTreeSet;

use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir, Ranker};
use egui::{Pos2, Vec2, pos2};

pub use super::layout_request::LayoutRequest;

use super::layout_request::NODE_GAP;
use super::packing::Packed;

/// Horizontal gap between layers.
const LAYER_GAP: f32 = 76.0;
/// Larger graphs are ranked with a faster algorithm.
const MAX_SIMPLEX_NODES: usize = 300;
/// Larger graphs are laid out as trees.
const MAX_LAYERED_NODES: usize = 2_500;

/// Returns the upper left corner of each node.
pub fn lay_out(request: &LayoutRequest) -> Vec<Pos2> {
    let packed = Packed::of(request);
    packed.unpack(&layered_or_tree(&packed.request))
}

/// Returns a simple tree layout. It is fast enough to run on the UI thread for nodes without a position.
pub fn lay_out_as_tree(request: &LayoutRequest) -> Vec<Pos2> {
    let packed = Packed::of(request);
    packed.unpack(&tree_layout(&packed.request))
}

fn layered_or_tree(request: &LayoutRequest) -> Vec<Pos2> {
    if request.sizes.len() > MAX_LAYERED_NODES {
        return tree_layout(request);
    }
    // A panic in the layout library must not leave the graph without a layout.
    let layered_layout = std::panic::catch_unwind(|| layered_layout(request)).ok().flatten();
    layered_layout.unwrap_or_else(|| {
        tracing::warn!("the graph of {} agents is laid out as a tree", request.sizes.len());
        tree_layout(request)
    })
}

fn layered_layout(request: &LayoutRequest) -> Option<Vec<Pos2>> {
    let options = GraphOptions { directed: true, multigraph: false, compound: false };
    let mut graph: Graph<NodeLabel, EdgeLabel> = Graph::with_options(options);
    for (number, size) in request.sizes.iter().enumerate() {
        let label = NodeLabel { width: f64::from(size.x), height: f64::from(size.y), ..NodeLabel::default() };
        graph.set_node(number.to_string(), Some(label));
    }
    for (from, to) in request.valid_links() {
        graph.set_edge(from.to_string(), to.to_string(), Some(EdgeLabel::default()), None);
    }
    let is_small = request.sizes.len() <= MAX_SIMPLEX_NODES;
    let options = LayoutOptions {
        rankdir: RankDir::LR,
        nodesep: f64::from(NODE_GAP),
        ranksep: f64::from(LAYER_GAP),
        // Otherwise the order of appearance is reversed.
        tie_keep_first: true,
        ranker: if is_small { Ranker::NetworkSimplex } else { Ranker::TightTree },
        ..LayoutOptions::default()
    };
    dagre::layout(&mut graph, Some(options));
    let corner = |(number, size): (usize, &Vec2)| {
        let node = graph.node(&number.to_string())?;
        let middle = pos2(node.x? as f32, node.y? as f32);
        middle.is_finite().then_some(middle - *size / 2.0)
    };
    request.sizes.iter().enumerate().map(corner).collect()
}

fn tree_layout(request: &LayoutRequest) -> Vec<Pos2> {
    let count = request.sizes.len();
    let (order, children, level) = tree_of(request);
    // Bottom-up: the height of each subtree.
    let mut heights: Vec<f32> = vec![0.0; count];
    for &number in order.iter().rev() {
        heights[number] = request.sizes[number].y.max(height_of(&children[number], &heights));
    }
    let mut widths: Vec<f32> = Vec::new();
    for (number, size) in request.sizes.iter().enumerate() {
        if widths.len() <= level[number] {
            widths.resize(level[number] + 1, 0.0);
        }
        widths[level[number]] = widths[level[number]].max(size.x);
    }
    let lefts: Vec<f32> =
        widths.iter().scan(0.0, |left, width| Some(std::mem::replace(left, *left + width + LAYER_GAP))).collect();
    let mut tops: Vec<f32> = vec![0.0; count];
    let mut next_top = 0.0;
    for &number in &order {
        if level[number] == 0 {
            tops[number] = next_top;
            next_top += heights[number] + NODE_GAP;
        }
        let below = height_of(&children[number], &heights);
        let mut top = tops[number] + (heights[number] - below) / 2.0;
        for &child in &children[number] {
            tops[child] = top;
            top += heights[child] + NODE_GAP;
        }
    }
    let corner = |number: usize| {
        let padding = (heights[number] - request.sizes[number].y) / 2.0;
        pos2(lefts[level[number]], tops[number] + padding)
    };
    (0..count).map(corner).collect()
}

fn height_of(children: &[usize], heights: &[f32]) -> f32 {
    let gaps = children.len().saturating_sub(1) as f32 * NODE_GAP;
    children.iter().map(|&child| heights[child]).sum::<f32>() + gaps
}

/// Returns a spanning forest of the graph: the nodes with parents first, the children of each node, and its depth.
fn tree_of(request: &LayoutRequest) -> (Vec<usize>, Vec<Vec<usize>>, Vec<usize>) {
    let count = request.sizes.len();
    let mut targets: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut has_source = vec![false; count];
    for (from, to) in request.valid_links() {
        targets[from].push(to);
        has_source[to] = true;
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
    let (mut order, mut level) = (Vec::with_capacity(count), vec![0; count]);
    let mut is_placed = vec![false; count];
    // Nodes without a parent come first; a cycle starts at the node that appeared first.
    let roots: BTreeSet<(bool, usize)> = (0..count).map(|number| (has_source[number], number)).collect();
    for (_, root) in roots {
        if std::mem::replace(&mut is_placed[root], true) {
            continue;
        }
        let mut next = order.len();
        order.push(root);
        while let Some(&number) = order.get(next) {
            for &to in &targets[number] {
                if !std::mem::replace(&mut is_placed[to], true) {
                    level[to] = level[number] + 1;
                    children[number].push(to);
                    order.push(to);
                }
            }
            next += 1;
        }
    }
    (order, children, level)
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
