//! What a room is furnished with: the entries under `decor` of a scene.

use bevy::math::Vec2;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::Id;

/// A piece of furniture, a rug or a light: something that is drawn and holds no information.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Decor {
    /// The word of its kind.
    pub kind: Id,
    /// The middle of the drawing; always finite.
    pub position: Vec2,
    /// Width and height of the drawing; always finite.
    pub size: Vec2,
}

impl Decor {
    /// One entry: a kind and a position at least. Without a size it has the usual one of its kind.
    pub fn of(entry: &Value) -> Option<Self> {
        let pair = |key: &str| {
            let [x, y] = entry.get(key)?.as_array()?.as_slice() else { return None };
            let pair = Vec2::new(x.as_f64()? as f32, y.as_f64()? as f32);
            pair.is_finite().then_some(pair)
        };
        let kind = entry.get("kind")?.as_str()?;
        let usual = match kind {
            "rug" => Vec2::new(360.0, 240.0),
            "workbench" => Vec2::new(180.0, 90.0),
            "shelf" => Vec2::new(160.0, 60.0),
            "window" => Vec2::new(220.0, 160.0),
            "bench" => Vec2::new(140.0, 60.0),
            "desk" => Vec2::new(110.0, 80.0),
            _ => Vec2::new(70.0, 80.0),
        };
        Some(Self { kind: kind.into(), position: pair("position")?, size: pair("size").unwrap_or(usual) })
    }

    /// All of a scene, in the order of its file; what is no entry is left out.
    pub fn all_of(scene: &Value) -> Vec<Self> {
        scene.get("decor").and_then(Value::as_array).into_iter().flatten().filter_map(Self::of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_size_it_has_the_usual_one_and_what_is_no_place_is_left_out() {
        let entry = |text: &str| Decor::of(&serde_yaml::from_str(text).expect("the entry is YAML"));
        assert_eq!(entry("{ kind: rug, position: [1, 2] }").map(|decor| decor.size), Some(Vec2::new(360.0, 240.0)));
        assert_eq!(entry("{ kind: rug }"), None);
        assert_eq!(entry("{ kind: rug, position: [.nan, 2] }"), None);
        assert_eq!(entry("{ position: [1, 2] }"), None);
    }
}
