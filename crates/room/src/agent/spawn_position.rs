//! Where new agents are placed: above the elements, unless they are dropped at an exact position.

use bevy::math::Vec2;

/// The position of an agent that is dropped here: at least `margin` above the topmost element. Without a topmost
/// element or a margin it is the drop position.
pub fn spawn_place(dropped: Vec2, topmost: Option<f32>, margin: Option<f32>) -> Vec2 {
    let Some((topmost, margin)) = topmost.zip(margin) else { return dropped };
    // A new agent is placed above all elements of the room.
    rule!("new-agents-stand-above-the-elements");
    Vec2::new(dropped.x, dropped.y.max(topmost + margin))
}

/// Rounds a position to a tenth of a unit, as a person would write it.
pub fn tenths(place: Vec2) -> Vec2 {
    (place * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_dropped_among_or_below_the_elements_are_moved_above_them() {
        checks_rule!("new-agents-stand-above-the-elements");
        for (dropped, topmost, margin, y) in [
            (-40.0, Some(200.0), Some(120.0), 320.0),
            (319.9, Some(200.0), Some(120.0), 320.0),
            (900.0, Some(200.0), Some(120.0), 900.0),
            (-40.0, None, Some(120.0), -40.0),
            (-40.0, Some(200.0), None, -40.0),
        ] {
            assert_eq!(spawn_place(Vec2::new(7.0, dropped), topmost, margin), Vec2::new(7.0, y));
        }
    }

    #[test]
    fn positions_are_rounded_to_a_tenth() {
        assert_eq!(tenths(Vec2::new(1.26, -0.04)), Vec2::new(1.3, 0.0));
    }
}
