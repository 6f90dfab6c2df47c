//! Positions of the steps of a workflow: each in a column after its dependencies, and near them.

use std::collections::BTreeMap;

use egui::{Pos2, Rect, Vec2, pos2, vec2};

use crate::view::workflows::StepView;

/// The size of a card.
pub(super) const CARD: Vec2 = vec2(176.0, 62.0);
/// Gap between columns and between rows.
const GAP: Vec2 = vec2(64.0, 18.0);

/// The positions of the step cards, recomputed only when the dependencies change.
#[derive(Clone, PartialEq, Debug)]
pub struct StepPositions {
    /// The dependencies from which the positions were computed.
    dependencies: Vec<Vec<usize>>,
    /// Rectangles of the cards, in the order of the steps.
    pub(super) cards: Vec<Rect>,
    /// Bounds of all cards.
    pub(super) bounds: Rect,
}

impl Default for StepPositions {
    fn default() -> Self {
        Self { dependencies: Vec::new(), cards: Vec::new(), bounds: Rect::NOTHING }
    }
}

impl StepPositions {
    /// Updates the positions for these steps.
    pub(super) fn update(&mut self, steps: &[StepView]) {
        let is_same = self.dependencies.len() == steps.len()
            && self.dependencies.iter().zip(steps).all(|(dependencies, step)| *dependencies == step.before);
        if is_same {
            return;
        }
        self.dependencies = steps.iter().map(|step| step.before.clone()).collect();
        let grid_positions = grid_positions(steps);
        let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
        grid_positions.iter().for_each(|(column, _)| *rows.entry(*column).or_default() += 1);
        let corner = |(column, row): &(usize, usize)| -> Pos2 {
            // Columns are centered vertically.
            let half_rows = rows[column].saturating_sub(1) as f32 / 2.0;
            pos2(*column as f32 * (CARD.x + GAP.x), (*row as f32 - half_rows) * (CARD.y + GAP.y))
        };
        self.cards = grid_positions.iter().map(|place| Rect::from_min_size(corner(place), CARD)).collect();
        self.bounds = self.cards.iter().fold(Rect::NOTHING, |bounds, card| bounds.union(*card));
    }
}

/// Returns the column and row of each step. Steps in a cycle are placed in order of appearance.
pub(super) fn grid_positions(steps: &[StepView]) -> Vec<(usize, usize)> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); steps.len()];
    let mut remaining: Vec<usize> = vec![0; steps.len()];
    for (at, step) in steps.iter().enumerate() {
        for before in step.before.iter().filter(|before| **before != at && **before < steps.len()) {
            after[*before].push(at);
            remaining[at] += 1;
        }
    }
    let mut columns = vec![0_usize; steps.len()];
    let mut ready: Vec<usize> = (0..steps.len()).filter(|at| remaining[*at] == 0).collect();
    while let Some(at) = ready.pop() {
        for next in &after[at] {
            columns[*next] = columns[*next].max(columns[at] + 1);
            remaining[*next] -= 1;
            if remaining[*next] == 0 {
                ready.push(*next);
            }
        }
    }
    let mut by_column: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    columns.iter().enumerate().for_each(|(at, column)| by_column.entry(*column).or_default().push(at));
    let mut grid_positions = vec![(0, 0); steps.len()];
    for (column, mut members) in by_column {
        // Near their dependencies, so that few arrows cross.
        let preferred_row = |at: &usize| {
            let rows = steps[*at].before.iter().filter(|before| **before < steps.len() && columns[**before] < column);
            let (sum, count) = rows.fold((0, 0), |(sum, count), before| (sum + grid_positions[*before].1, count + 1));
            if count == 0 { 0.0 } else { sum as f32 / count as f32 }
        };
        let mut ranked: Vec<(f32, usize)> = members.iter().map(|at| (preferred_row(at), *at)).collect();
        ranked.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        members = ranked.into_iter().map(|(_, at)| at).collect();
        members.into_iter().enumerate().for_each(|(row, at)| grid_positions[at] = (column, row));
    }
    grid_positions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(before: &[&[usize]]) -> Vec<StepView> {
        before.iter().map(|before| StepView { before: before.to_vec(), ..StepView::default() }).collect()
    }

    #[test]
    fn steps_are_placed_to_the_right_of_their_dependencies() {
        let fan = steps(&[&[], &[0], &[0], &[1, 2], &[]]);
        assert_eq!(grid_positions(&fan), [(0, 0), (1, 0), (1, 1), (2, 0), (0, 1)]);
        assert_eq!(grid_positions(&steps(&[&[1], &[0]])).len(), 2);
        assert_eq!(
            grid_positions(&steps(&[&[], &[], &[1], &[0]])),
            [(0, 0), (0, 1), (1, 1), (1, 0)],
            "few arrows cross"
        );
    }

    #[test]
    fn positions_are_kept_while_the_dependencies_are_unchanged_and_a_long_chain_works() {
        let mut positions = StepPositions::default();
        let chain: Vec<StepView> = (0..20_000_usize)
            .map(|at| StepView { before: at.checked_sub(1).into_iter().collect(), ..StepView::default() })
            .collect();
        positions.update(&chain);
        assert_eq!(positions.cards.len(), chain.len());
        assert!(positions.cards.windows(2).all(|pair| pair[0].right() < pair[1].left()));
        let before = positions.clone();
        positions.update(&chain);
        assert_eq!(positions, before);
    }
}
