//! The layout of the graph: agents in layers from left to right, each to the right of the one that started it. Pure,
//! but slow: `layout_jobs` runs it in the background.

use std::collections::BTreeSet;

use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir, Ranker};
use egui::{Pos2, Vec2, pos2};

pub use super::layout_request::LayoutRequest;

use super::layout_request::BESIDE;
use super::packing::Packed;

/// Between layers.
const BETWEEN: f32 = 76.0;
/// Larger graphs are ranked in the way that is good enough.
const WELL_RANKED: usize = 300;
/// Larger graphs are laid out as trees.
const LAYERED: usize = 2_500;

/// The upper left corner of each.
pub fn lay_out(request: &LayoutRequest) -> Vec<Pos2> {
    let packed = Packed::of(request);
    packed.unpacked(&in_layers(&packed.request))
}

/// The same in one go over all, as a tree: what has no place yet gets one at once.
pub fn lay_out_as_tree(request: &LayoutRequest) -> Vec<Pos2> {
    let packed = Packed::of(request);
    packed.unpacked(&as_tree(&packed.request))
}

fn in_layers(request: &LayoutRequest) -> Vec<Pos2> {
    if request.sizes.len() > LAYERED {
        return as_tree(request);
    }
    // A layout that cannot be had is no reason to show none.
    let layered = std::panic::catch_unwind(|| layered(request)).ok().flatten();
    layered.unwrap_or_else(|| {
        tracing::warn!("the graph of {} agents is laid out as a tree", request.sizes.len());
        as_tree(request)
    })
}

fn layered(request: &LayoutRequest) -> Option<Vec<Pos2>> {
    let options = GraphOptions { directed: true, multigraph: false, compound: false };
    let mut graph: Graph<NodeLabel, EdgeLabel> = Graph::with_options(options);
    for (number, size) in request.sizes.iter().enumerate() {
        let label = NodeLabel { width: f64::from(size.x), height: f64::from(size.y), ..NodeLabel::default() };
        graph.set_node(number.to_string(), Some(label));
    }
    for (from, to) in request.sound_links() {
        graph.set_edge(from.to_string(), to.to_string(), Some(EdgeLabel::default()), None);
    }
    let is_small = request.sizes.len() <= WELL_RANKED;
    let options = LayoutOptions {
        rankdir: RankDir::LR,
        nodesep: f64::from(BESIDE),
        ranksep: f64::from(BETWEEN),
        // Otherwise the order of appearance is turned around.
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

fn as_tree(request: &LayoutRequest) -> Vec<Pos2> {
    let count = request.sizes.len();
    let (order, children, level) = tree_of(request);
    // From the leaves up: the space that everything below a node needs.
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
        widths.iter().scan(0.0, |left, width| Some(std::mem::replace(left, *left + width + BETWEEN))).collect();
    let mut tops: Vec<f32> = vec![0.0; count];
    let mut next_top = 0.0;
    for &number in &order {
        if level[number] == 0 {
            tops[number] = next_top;
            next_top += heights[number] + BESIDE;
        }
        let below = height_of(&children[number], &heights);
        let mut top = tops[number] + (heights[number] - below) / 2.0;
        for &child in &children[number] {
            tops[child] = top;
            top += heights[child] + BESIDE;
        }
    }
    let corner = |number: usize| {
        let air = (heights[number] - request.sizes[number].y) / 2.0;
        pos2(lefts[level[number]], tops[number] + air)
    };
    (0..count).map(corner).collect()
}

fn height_of(children: &[usize], heights: &[f32]) -> f32 {
    let gaps = children.len().saturating_sub(1) as f32 * BESIDE;
    children.iter().map(|&child| heights[child]).sum::<f32>() + gaps
}

/// A tree made from the arrows: every node after its parent, the children of each, and the depths.
fn tree_of(request: &LayoutRequest) -> (Vec<usize>, Vec<Vec<usize>>, Vec<usize>) {
    let count = request.sizes.len();
    let mut leads_to: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut is_led_to = vec![false; count];
    for (from, to) in request.sound_links() {
        leads_to[from].push(to);
        is_led_to[to] = true;
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); count];
    let (mut order, mut level) = (Vec::with_capacity(count), vec![0; count]);
    let mut is_placed = vec![false; count];
    // Nodes without a parent come first; cycles begin with the node that appeared first.
    let firsts: BTreeSet<(bool, usize)> = (0..count).map(|number| (is_led_to[number], number)).collect();
    for (_, first) in firsts {
        if std::mem::replace(&mut is_placed[first], true) {
            continue;
        }
        let mut next = order.len();
        order.push(first);
        while let Some(&number) = order.get(next) {
            for &to in &leads_to[number] {
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
