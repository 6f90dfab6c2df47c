//! Places the steps of a workflow: each in a column after those that it depends on, and near them.

use std::collections::BTreeMap;

use egui::{Pos2, Rect, Vec2, pos2, vec2};

use crate::view::workflows::StepView;

/// The size of a card.
pub(super) const CARD: Vec2 = vec2(176.0, 62.0);
/// Between columns and rows.
const GAP: Vec2 = vec2(64.0, 18.0);

/// The cards of a workflow, placed again only where its arrows are others.
#[derive(Clone, PartialEq, Debug)]
pub struct Placed {
    /// The arrows that they were placed for.
    of: Vec<Vec<usize>>,
    /// The cards, in the order of the steps.
    pub(super) cards: Vec<Rect>,
    /// All of them.
    pub(super) bounds: Rect,
}

impl Default for Placed {
    fn default() -> Self {
        Self { of: Vec::new(), cards: Vec::new(), bounds: Rect::NOTHING }
    }
}

impl Placed {
    /// Places these steps.
    pub(super) fn update(&mut self, steps: &[StepView]) {
        let is_same = self.of.len() == steps.len() && self.of.iter().zip(steps).all(|(of, step)| *of == step.before);
        if is_same {
            return;
        }
        self.of = steps.iter().map(|step| step.before.clone()).collect();
        let places = places(steps);
        let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
        places.iter().for_each(|(column, _)| *rows.entry(*column).or_default() += 1);
        let corner = |(column, row): &(usize, usize)| -> Pos2 {
            // The columns are aligned at their middles.
            let up = rows[column].saturating_sub(1) as f32 / 2.0;
            pos2(*column as f32 * (CARD.x + GAP.x), (*row as f32 - up) * (CARD.y + GAP.y))
        };
        self.cards = places.iter().map(|place| Rect::from_min_size(corner(place), CARD)).collect();
        self.bounds = self.cards.iter().fold(Rect::NOTHING, |bounds, card| bounds.union(*card));
    }
}

/// Column and row of each step. Steps in a cycle are placed in the order of their appearance.
pub(super) fn places(steps: &[StepView]) -> Vec<(usize, usize)> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    let mut left: Vec<usize> = vec![0; steps.len()];
    for (at, step) in steps.iter().enumerate() {
        for before in step.before.iter().filter(|before| **before != at && **before < steps.len()) {
            after[*before].push(at);
            left[at] += 1;
        }
    }
    let mut columns = vec![0_usize; steps.len()];
    let mut due: Vec<usize> = (0..steps.len()).filter(|at| left[*at] == 0).collect();
    while let Some(at) = due.pop() {
        for next in &after[at] {
            columns[*next] = columns[*next].max(columns[at] + 1);
            left[*next] -= 1;
            if left[*next] == 0 {
                due.push(*next);
            }
        }
    }
    let mut by_column: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    columns.iter().enumerate().for_each(|(at, column)| by_column.entry(*column).or_default().push(at));
    let mut places = vec![(0, 0); steps.len()];
    for (column, mut members) in by_column {
        // Near their predecessors, so that few arrows cross each other.
        let beside = |at: &usize| {
            let rows = steps[*at].before.iter().filter(|before| **before < steps.len() && columns[**before] < column);
            let (sum, count) = rows.fold((0, 0), |(sum, count), before| (sum + places[*before].1, count + 1));
            if count == 0 { 0.0 } else { sum as f32 / count as f32 }
        };
        let mut wanted: Vec<(f32, usize)> = members.iter().map(|at| (beside(at), *at)).collect();
        wanted.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        members = wanted.into_iter().map(|(_, at)| at).collect();
        members.into_iter().enumerate().for_each(|(row, at)| places[at] = (column, row));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(before: &[&[usize]]) -> Vec<StepView> {
        before.iter().map(|before| StepView { before: before.to_vec(), ..StepView::default() }).collect()
    }

    #[test]
    fn steps_stand_to_the_right_of_what_comes_before_them() {
        let fan = steps(&[&[], &[0], &[0], &[1, 2], &[]]);
        assert_eq!(places(&fan), [(0, 0), (1, 0), (1, 1), (2, 0), (0, 1)]);
        assert_eq!(places(&steps(&[&[1], &[0]])).len(), 2);
        assert_eq!(places(&steps(&[&[], &[], &[1], &[0]])), [(0, 0), (0, 1), (1, 1), (1, 0)], "few arrows cross");
    }

    #[test]
    fn they_are_placed_again_only_where_arrows_are_others_and_a_long_chain_is_no_trouble() {
        let mut placed = Placed::default();
        let chain: Vec<StepView> = (0..20_000_usize)
            .map(|at| StepView { before: at.checked_sub(1).into_iter().collect(), ..StepView::default() })
            .collect();
        placed.update(&chain);
        assert_eq!(placed.cards.len(), chain.len());
        assert!(placed.cards.windows(2).all(|pair| pair[0].right() < pair[1].left()));
        let before = placed.clone();
        placed.update(&chain);
        assert_eq!(placed, before);
    }
}
