//! Animates the graph: interpolates each agent between its previous position and the one in the newest layout.

use egui::{Pos2, Rect, pos2, vec2};

use super::layout::lay_out_as_tree;
use super::layout_jobs::FinishedLayout;
use super::layout_request::{LayoutRequest, NODE_GAP};
use super::model::Model;
use super::visibility::{CARD, VisibleGraph};

/// Duration of the animation to a new position.
const MOVE_SECS: f64 = 0.35;

#[derive(Clone, Copy, PartialEq, Debug)]
struct Motion {
    from: Pos2,
    to: Pos2,
}

/// The upper left corners of agents in the graph, by agent index.
#[derive(Clone, Debug, Default)]
pub struct Positions {
    motions: Vec<Option<Motion>>,
    start_secs: f64,
    /// Eased progress of the animation, from 0 to 1.
    progress: f32,
    is_laid_out: bool,
}

impl Positions {
    /// Advances the animation and returns whether it is still running. With `is_still` it ends at once.
    pub fn advance(&mut self, now_secs: f64, is_still: bool) -> bool {
        let progress = if is_still { 1.0 } else { ((now_secs - self.start_secs) / MOVE_SECS).clamp(0.0, 1.0) as f32 };
        // Smoothstep easing.
        self.progress = progress * progress * (3.0 - 2.0 * progress);
        progress < 1.0
    }

    /// Returns the current upper left corner of an agent.
    pub fn corner(&self, agent: usize) -> Option<Pos2> {
        let motion = self.motions.get(agent).copied().flatten()?;
        Some(motion.from + (motion.to - motion.from) * self.progress)
    }

    /// Animates all agents from their current position to the one in a new layout.
    pub fn apply_layout(&mut self, laid_out: &FinishedLayout, now_secs: f64) {
        for agent in 0..self.motions.len() {
            let here = self.corner(agent);
            if let (Some(motion), Some(here)) = (&mut self.motions[agent], here) {
                motion.from = here;
            }
        }
        for (&agent, &to) in laid_out.request.agents.iter().zip(&*laid_out.corners) {
            let from = self.motion(agent).map_or(to, |motion| motion.from);
            self.set_motion(agent, Motion { from, to });
        }
        self.is_laid_out = true;
        (self.start_secs, self.progress) = (now_secs, 0.0);
    }

    /// Places agents that have no position yet. Before the first layout all agents are laid out as a tree; later, new
    /// agents are placed to the right of their parent, below its other children.
    pub fn place_new(&mut self, model: &Model, shown: &VisibleGraph, request: &LayoutRequest) {
        if !self.is_laid_out {
            for (&agent, to) in request.agents.iter().zip(lay_out_as_tree(request)) {
                self.set_motion(agent, Motion { from: to, to });
            }
            return;
        }
        for block in &shown.blocks {
            if self.motion(block.agent).is_none() {
                let to = self.free_position(block.agent, model, shown);
                self.set_motion(block.agent, Motion { from: to, to });
            }
        }
    }

    fn free_position(&self, agent: usize, model: &Model, shown: &VisibleGraph) -> Pos2 {
        let bottom_of = |agent: usize| {
            let block = &shown.blocks[shown.block_of(agent)?];
            self.motion(block.agent).map(|motion| motion.to.y + block.size().y)
        };
        let parent = model.agents[agent].parent;
        match parent.and_then(|parent| Some((parent, self.motion(parent)?.to))) {
            Some((parent, corner)) => {
                let siblings = model.agents[parent].children.iter().filter_map(|&child| bottom_of(child));
                let top = siblings.fold(corner.y, |top, bottom| top.max(bottom + NODE_GAP));
                pos2(corner.x + CARD.x * 1.4, top)
            }
            None => {
                let lowest = shown.blocks.iter().filter_map(|block| bottom_of(block.agent)).fold(0.0, f32::max);
                pos2(0.0, lowest + NODE_GAP)
            }
        }
    }

    /// Returns the bounds of everything visible at its current position.
    pub fn bounds(&self, shown: &VisibleGraph) -> Rect {
        let block =
            |block: &super::visibility::Block| Some(Rect::from_min_size(self.corner(block.agent)?, block.size()));
        shown.blocks.iter().filter_map(block).fold(Rect::NOTHING, Rect::union)
    }

    /// Returns the current rectangle of `part`, which is relative to the agent's corner.
    pub fn rect(&self, agent: usize, part: Rect) -> Option<Rect> {
        self.corner(agent).map(|corner| part.translate(vec2(corner.x, corner.y)))
    }

    fn motion(&self, agent: usize) -> Option<Motion> {
        self.motions.get(agent).copied().flatten()
    }

    fn set_motion(&mut self, agent: usize, motion: Motion) {
        if self.motions.len() <= agent {
            self.motions.resize(agent + 1, None);
        }
        self.motions[agent] = Some(motion);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn laid_out(corners: &[(f32, f32)]) -> FinishedLayout {
        let request = LayoutRequest { agents: (0..corners.len()).collect(), ..LayoutRequest::default() };
        let corners = corners.iter().map(|&(x, y)| pos2(x, y)).collect();
        FinishedLayout { request: Arc::new(request), corners: Arc::new(corners) }
    }

    #[test]
    fn moved_agents_animate_and_new_agents_appear_in_place() {
        let mut positions = Positions::default();
        positions.apply_layout(&laid_out(&[(0.0, 0.0)]), 1.0);
        positions.advance(9.0, false);
        positions.apply_layout(&laid_out(&[(100.0, 0.0), (50.0, 50.0)]), 10.0);
        assert!(positions.advance(10.0, false));
        assert_eq!(positions.corner(0), Some(pos2(0.0, 0.0)));
        assert!(positions.advance(10.0 + MOVE_SECS / 2.0, false));
        assert_eq!(positions.corner(0), Some(pos2(50.0, 0.0)));
        assert_eq!(positions.corner(1), Some(pos2(50.0, 50.0)));
        assert!(!positions.advance(11.0, false));
        assert_eq!(positions.corner(0), Some(pos2(100.0, 0.0)));
        assert_eq!(positions.corner(7), None);
    }

    #[test]
    fn without_animation_agents_jump_to_their_new_position() {
        let mut positions = Positions::default();
        positions.apply_layout(&laid_out(&[(0.0, 0.0)]), 1.0);
        positions.apply_layout(&laid_out(&[(100.0, 0.0)]), 2.0);
        assert!(!positions.advance(2.0, true));
        assert_eq!(positions.corner(0), Some(pos2(100.0, 0.0)));
    }
}
