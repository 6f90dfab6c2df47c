//! Animates the graph: where each agent is drawn, between its old position and the one in the newest layout.

use egui::{Pos2, Rect, pos2, vec2};

use super::layout::lay_out_as_tree;
use super::layout_jobs::LaidOut;
use super::layout_request::{BESIDE, LayoutRequest};
use super::model::Model;
use super::visibility::{CARD, Shown};

/// The duration of a move to a new place.
const GLIDE_SECS: f64 = 0.35;

#[derive(Clone, Copy, PartialEq, Debug)]
struct Spot {
    from: Pos2,
    to: Pos2,
}

/// The upper left corners of agents, by number.
#[derive(Clone, Debug, Default)]
pub struct Places {
    spots: Vec<Option<Spot>>,
    since_secs: f64,
    /// How far everyone has come: from 0 to 1.
    share: f32,
    is_laid_out: bool,
}

impl Places {
    /// Moves on. Whether somebody is still on the way.
    pub fn glide(&mut self, now_secs: f64, is_still: bool) -> bool {
        let share = if is_still { 1.0 } else { ((now_secs - self.since_secs) / GLIDE_SECS).clamp(0.0, 1.0) as f32 };
        // Slow at both ends.
        self.share = share * share * (3.0 - 2.0 * share);
        share < 1.0
    }

    /// Where an agent stands now.
    pub fn corner(&self, agent: usize) -> Option<Pos2> {
        let spot = self.spots.get(agent).copied().flatten()?;
        Some(spot.from + (spot.to - spot.from) * self.share)
    }

    /// A layout came: everyone goes to the new place from where it stands now.
    pub fn follow(&mut self, laid_out: &LaidOut, now_secs: f64) {
        for agent in 0..self.spots.len() {
            let here = self.corner(agent);
            if let (Some(spot), Some(here)) = (&mut self.spots[agent], here) {
                spot.from = here;
            }
        }
        for (&agent, &to) in laid_out.request.agents.iter().zip(&*laid_out.corners) {
            let from = self.spot(agent).map_or(to, |spot| spot.from);
            self.put(agent, Spot { from, to });
        }
        self.is_laid_out = true;
        (self.since_secs, self.share) = (now_secs, 0.0);
    }

    /// Gives everyone a place who has none: all of them as in a tree where nobody has one, else beside and below
    /// whoever started them.
    pub fn fill(&mut self, model: &Model, shown: &Shown, request: &LayoutRequest) {
        if !self.is_laid_out {
            for (&agent, to) in request.agents.iter().zip(lay_out_as_tree(request)) {
                self.put(agent, Spot { from: to, to });
            }
            return;
        }
        for block in &shown.blocks {
            if self.spot(block.agent).is_none() {
                let to = self.beside(block.agent, model, shown);
                self.put(block.agent, Spot { from: to, to });
            }
        }
    }

    fn beside(&self, agent: usize, model: &Model, shown: &Shown) -> Pos2 {
        let bottom_of = |agent: usize| {
            let block = &shown.blocks[shown.block_of(agent)?];
            self.spot(block.agent).map(|spot| spot.to.y + block.size().y)
        };
        let parent = model.agents[agent].parent;
        match parent.and_then(|parent| Some((parent, self.spot(parent)?.to))) {
            Some((parent, corner)) => {
                let siblings = model.agents[parent].children.iter().filter_map(|&child| bottom_of(child));
                let top = siblings.fold(corner.y, |top, bottom| top.max(bottom + BESIDE));
                pos2(corner.x + CARD.x * 1.4, top)
            }
            None => {
                let lowest = shown.blocks.iter().filter_map(|block| bottom_of(block.agent)).fold(0.0, f32::max);
                pos2(0.0, lowest + BESIDE)
            }
        }
    }

    /// All that is shown, as it stands now.
    pub fn bounds(&self, shown: &Shown) -> Rect {
        let block =
            |block: &super::visibility::Block| Some(Rect::from_min_size(self.corner(block.agent)?, block.size()));
        shown.blocks.iter().filter_map(block).fold(Rect::NOTHING, Rect::union)
    }

    /// Where something stands that is so far from the corner of an agent.
    pub fn rect(&self, agent: usize, part: Rect) -> Option<Rect> {
        self.corner(agent).map(|corner| part.translate(vec2(corner.x, corner.y)))
    }

    fn spot(&self, agent: usize) -> Option<Spot> {
        self.spots.get(agent).copied().flatten()
    }

    fn put(&mut self, agent: usize, spot: Spot) {
        if self.spots.len() <= agent {
            self.spots.resize(agent + 1, None);
        }
        self.spots[agent] = Some(spot);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn laid_out(corners: &[(f32, f32)]) -> LaidOut {
        let request = LayoutRequest { agents: (0..corners.len()).collect(), ..LayoutRequest::default() };
        let corners = corners.iter().map(|&(x, y)| pos2(x, y)).collect();
        LaidOut { request: Arc::new(request), corners: Arc::new(corners) }
    }

    #[test]
    fn who_gets_another_place_goes_there_and_who_is_new_is_there() {
        let mut places = Places::default();
        places.follow(&laid_out(&[(0.0, 0.0)]), 1.0);
        places.glide(9.0, false);
        places.follow(&laid_out(&[(100.0, 0.0), (50.0, 50.0)]), 10.0);
        assert!(places.glide(10.0, false));
        assert_eq!(places.corner(0), Some(pos2(0.0, 0.0)));
        assert!(places.glide(10.0 + GLIDE_SECS / 2.0, false));
        assert_eq!(places.corner(0), Some(pos2(50.0, 0.0)));
        assert_eq!(places.corner(1), Some(pos2(50.0, 50.0)));
        assert!(!places.glide(11.0, false));
        assert_eq!(places.corner(0), Some(pos2(100.0, 0.0)));
        assert_eq!(places.corner(7), None);
    }

    #[test]
    fn nobody_glides_where_nothing_is_to_move() {
        let mut places = Places::default();
        places.follow(&laid_out(&[(0.0, 0.0)]), 1.0);
        places.follow(&laid_out(&[(100.0, 0.0)]), 2.0);
        assert!(!places.glide(2.0, true));
        assert_eq!(places.corner(0), Some(pos2(100.0, 0.0)));
    }
}
