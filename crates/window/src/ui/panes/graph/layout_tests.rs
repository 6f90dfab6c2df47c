//! Tests of the layout: nodes never overlap, and their order is stable.

use egui::{Rect, vec2};
use proptest::prelude::*;

use super::*;

fn request(sizes: Vec<Vec2>, links: Vec<(usize, usize)>) -> LayoutRequest {
    LayoutRequest { beginning: 1, agents: (0..sizes.len()).collect(), sizes, links }
}

fn cards(count: usize, links: Vec<(usize, usize)>) -> LayoutRequest {
    let size = |number: usize| vec2(188.0, 52.0 + 26.0 * (number % 4) as f32);
    request((0..count).map(size).collect(), links)
}

/// Asserts that every node has a position and no two nodes overlap.
fn assert_no_overlap(request: &LayoutRequest, corners: &[Pos2]) {
    assert_eq!(corners.len(), request.sizes.len());
    let rects: Vec<Rect> =
        corners.iter().zip(&request.sizes).map(|(corner, size)| Rect::from_min_size(*corner, *size)).collect();
    assert!(rects.iter().all(|rect| rect.is_finite()));
    for (number, rect) in rects.iter().enumerate() {
        let over = rects[number + 1..].iter().position(|other| rect.shrink(0.5).intersects(other.shrink(0.5)));
        assert_eq!(over, None, "{number} of {}", rects.len());
    }
}

/// Deterministic pseudo-random numbers.
fn pseudo_random(count: usize) -> impl Iterator<Item = usize> {
    let mut state = 7_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    })
    .take(count)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn no_two_nodes_overlap_in_any_graph(
        count in 0_usize..40, links in prop::collection::vec((0_usize..44, 0_usize..44), 0..60),
    ) {
        let request = cards(count, links);
        for lay_out in [lay_out, lay_out_as_tree] {
            let corners = lay_out(&request);
            assert_no_overlap(&request, &corners);
            prop_assert_eq!(lay_out(&request), corners, "the same graph is laid out the same");
        }
    }
}

#[test]
fn cycles_and_self_loops_are_laid_out() {
    for links in [vec![(0, 0)], vec![(0, 1), (1, 0)], vec![(0, 1), (1, 2), (2, 0), (2, 2)], vec![(7, 9), (1, 7)]] {
        let request = cards(3, links);
        assert_no_overlap(&request, &lay_out(&request));
        assert_no_overlap(&request, &lay_out_as_tree(&request));
    }
}

#[test]
fn children_are_right_of_their_parent_in_order_of_appearance() {
    let request = cards(6, vec![(0, 1), (0, 2), (0, 3), (2, 4), (2, 5)]);
    for corners in [lay_out(&request), lay_out_as_tree(&request)] {
        for &(from, to) in &request.links {
            assert!(corners[to].x >= corners[from].x + request.sizes[from].x, "{from} started {to}");
        }
        assert!(corners[1].y < corners[2].y && corners[2].y < corners[3].y && corners[4].y < corners[5].y);
    }
}

#[test]
fn adding_children_keeps_the_order() {
    let before = lay_out(&cards(5, (1..5).map(|number| (0, number)).collect()));
    let after = lay_out(&cards(9, (1..9).map(|number| (0, number)).collect()));
    for pair in [1, 2, 3].map(|number| (number, number + 1)) {
        assert!(before[pair.0].y < before[pair.1].y && after[pair.0].y < after[pair.1].y, "{pair:?}");
    }
}

#[test]
fn only_large_groups_of_leaves_are_packed_into_columns() {
    let mut links: Vec<_> = (1..=60).map(|number| (0, number)).collect();
    links.extend([(60, 61), (61, 62), (61, 59)]);
    let request = cards(63, links);
    for corners in [lay_out(&request), lay_out_as_tree(&request)] {
        assert_no_overlap(&request, &corners);
        let bounds =
            corners.iter().fold(Rect::NOTHING, |all, corner| all.union(Rect::from_min_size(*corner, Vec2::ZERO)));
        assert!(bounds.height() < 2.0 * bounds.width(), "{bounds:?}");
        let columns: BTreeSet<i32> = (1..59).map(|number| corners[number].x as i32).collect();
        assert!(columns.len() > 2);
        // From top to bottom, then in the next column.
        for number in 1..58 {
            let (one, next) = (corners[number], corners[number + 1]);
            assert!(next.y > one.y && next.x == one.x || next.x > one.x, "{number}");
        }
    }
}

#[test]
fn a_thousand_nodes_do_not_overlap() {
    let mut links: Vec<_> =
        (1..1_000).zip(pseudo_random(1_000)).map(|(number, chance)| (chance % number, number)).collect();
    links.extend(pseudo_random(200).collect::<Vec<_>>().chunks(2).map(|pair| (pair[0] % 1_000, pair[1] % 1_000)));
    for links in [links, (1..1_000).map(|number| (0, number)).collect()] {
        let request = cards(1_000, links);
        assert_no_overlap(&request, &lay_out(&request));
    }
}

#[test]
fn huge_graphs_are_laid_out_as_trees() {
    let crowd = cards(12_000, (1..12_000).map(|number| (number - 1, number)).collect());
    let corners = lay_out(&crowd);
    assert_eq!(corners, lay_out_as_tree(&crowd));
    assert!(corners.iter().all(|corner| corner.is_finite()));
    assert!(corners.windows(2).all(|pair| pair[0].x < pair[1].x));
}
