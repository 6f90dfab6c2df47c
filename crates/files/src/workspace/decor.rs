//! The furniture of a room: the entries under `decor` in a scene.

use bevy::math::Vec2;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::Id;

/// A piece of furniture, a rug or a light: it is drawn and has no function.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Decor {
    /// The name of its kind.
    pub kind: Id,
    /// The centre of the drawing; always finite.
    pub position: Vec2,
    /// The width and height of the drawing; always finite.
    pub size: Vec2,
    /// Whether the drawing is mirrored, such as a desk with its drawers on the other side.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub turned: bool,
}

/// The minimum and maximum length of a side, in world units.
pub const DECOR_SIDE: [f32; 2] = [20.0, 4000.0];
/// The maximum number of pieces that can be added interactively; a file may contain more.
pub const MAX_DECOR: usize = 1_000;

/// A change of a room's furniture.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum DecorChange {
    /// Adds a piece.
    Add {
        /// The new piece.
        decor: Decor,
        /// Its index in the list, which is the drawing order; `None` for the end.
        at: Option<usize>,
    },
    /// Moves, turns or resizes a piece.
    Change {
        /// The present piece.
        was: Decor,
        /// The changed piece.
        now: Decor,
    },
    /// Removes a piece.
    Remove {
        /// The piece to remove.
        decor: Decor,
    },
}

impl DecorChange {
    /// Applies the change to a list of pieces. The error says why it cannot be applied. Of several identical pieces,
    /// the first one changes.
    pub fn apply(&self, all: &mut Vec<Decor>) -> Result<(), String> {
        let find = |all: &[Decor], decor: &Decor| {
            let place = all.iter().position(|other| other == decor);
            place.ok_or_else(|| format!("the {} is no longer there", decor.kind))
        };
        match self {
            Self::Add { decor, at } => {
                decor.check()?;
                if all.len() >= MAX_DECOR {
                    return Err(format!("the room already has {MAX_DECOR} pieces of furniture, which is the limit"));
                }
                all.insert(at.unwrap_or(all.len()).min(all.len()), decor.clone());
            }
            Self::Change { was, now } => {
                now.check()?;
                let place = find(all, was)?;
                all[place] = now.clone();
            }
            Self::Remove { decor } => drop(all.remove(find(all, decor)?)),
        }
        Ok(())
    }

    /// Returns the change that reverts this one, given the pieces before it.
    pub fn inverse(&self, before: &[Decor]) -> Option<Self> {
        Some(match self.clone() {
            Self::Add { decor, .. } => Self::Remove { decor },
            Self::Change { was, now } => Self::Change { was: now, now: was },
            Self::Remove { decor } => {
                let at = before.iter().position(|other| *other == decor)?;
                Self::Add { decor, at: Some(at) }
            }
        })
    }

    /// Applies the change to a scene's data, preserving other entries and unknown keys.
    pub(super) fn write(&self, scene: &mut Value) {
        if !scene.get("decor").is_some_and(Value::is_array) {
            let Self::Add { .. } = self else { return };
            scene["decor"] = json!([]);
        }
        let Some(entries) = scene.get_mut("decor").and_then(Value::as_array_mut) else { return };
        let find = |entries: &[Value], decor: &Decor| {
            entries.iter().position(|entry| Decor::of(entry).is_some_and(|other| other == *decor))
        };
        match self {
            Self::Add { decor, at } => {
                let mut known = (0..entries.len()).filter(|index| Decor::of(&entries[*index]).is_some());
                let place = at.and_then(|at| known.nth(at)).unwrap_or(entries.len());
                let mut entry = Map::new();
                decor.write(&mut entry);
                entries.insert(place, Value::Object(entry));
            }
            Self::Change { was, now } => {
                let Some(place) = find(entries, was) else { return };
                if let Some(entry) = entries[place].as_object_mut() {
                    now.write(entry);
                }
            }
            Self::Remove { decor } => {
                if let Some(place) = find(entries, decor) {
                    entries.remove(place);
                }
            }
        }
    }
}

impl Decor {
    /// Parses an entry, which needs at least a kind and a position. Without a size, the default of its kind is used.
    pub fn of(entry: &Value) -> Option<Self> {
        let pair = |key: &str| {
            let [x, y] = entry.get(key)?.as_array()?.as_slice() else { return None };
            let pair = Vec2::new(x.as_f64()? as f32, y.as_f64()? as f32);
            pair.is_finite().then_some(pair)
        };
        let kind = entry.get("kind")?.as_str()?;
        let size = pair("size").unwrap_or_else(|| Self::usual_size(kind));
        let turned = entry.get("turned").and_then(Value::as_bool).unwrap_or(false);
        Some(Self { kind: kind.into(), position: pair("position")?, size, turned })
    }

    /// Returns the default size of a kind.
    pub fn usual_size(kind: &str) -> Vec2 {
        match kind {
            "rug" => Vec2::new(360.0, 240.0),
            "tiles" | "stone" | "carpet" => Vec2::new(480.0, 320.0),
            "workbench" => Vec2::new(180.0, 90.0),
            "shelf" => Vec2::new(160.0, 60.0),
            "window" => Vec2::new(220.0, 160.0),
            "bench" => Vec2::new(140.0, 60.0),
            "desk" => Vec2::new(110.0, 80.0),
            "wall" => Vec2::new(240.0, 40.0),
            _ => Vec2::new(70.0, 80.0),
        }
    }

    fn check(&self) -> Result<(), String> {
        let [least, most] = DECOR_SIDE;
        let fits = |side: f32| (least..=most).contains(&side);
        if self.kind.trim().is_empty() {
            return Err("furniture needs a kind".to_owned());
        }
        if !self.position.is_finite() || !fits(self.size.x) || !fits(self.size.y) {
            return Err(format!("a {} must be {least} to {most} wide and high, at a finite position", self.kind));
        }
        Ok(())
    }

    /// Writes the piece into its entry, omitting default values.
    fn write(&self, entry: &mut Map<String, Value>) {
        let pair = |pair: Vec2| json!([number(pair.x), number(pair.y)]);
        entry.insert("kind".to_owned(), json!(self.kind));
        entry.insert("position".to_owned(), pair(self.position));
        if self.size != Self::usual_size(&self.kind) || entry.contains_key("size") {
            entry.insert("size".to_owned(), pair(self.size));
        }
        if self.turned {
            entry.insert("turned".to_owned(), json!(true));
        } else {
            entry.shift_remove("turned");
        }
    }

    /// Returns all pieces of a scene in file order, skipping invalid entries.
    pub fn all_of(scene: &Value) -> Vec<Self> {
        scene.get("decor").and_then(Value::as_array).into_iter().flatten().filter_map(Self::of).collect()
    }
}

/// Returns the number without unnecessary decimals, as a person would write it.
fn number(number: f32) -> Value {
    if number.fract() == 0.0 {
        json!(number as i64)
    } else {
        number.to_string().parse().map_or(Value::Null, |exact: f64| json!(exact))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::scene_patch::patch;

    const SCENE: &str = "name: A # ours\ndecor:\n  - { kind: rug, position: [0, 0], note: grandmother's } # warm\n  \
                         - 7\n  - { kind: lamp, position: [40, 50], size: [60, 90] }\n";

    fn scene() -> Value {
        serde_yaml::from_str(SCENE).expect("it is YAML")
    }

    /// Returns the scene's text after these changes, each checked against the list.
    fn written(changes: &[DecorChange]) -> String {
        let (before, mut after) = (scene(), scene());
        let mut list = Decor::all_of(&before);
        for change in changes {
            change.apply(&mut list).expect("it can be done");
            change.write(&mut after);
        }
        assert_eq!(Decor::all_of(&after), list, "the file says what the room has");
        patch(SCENE, &before, &after)
    }

    #[test]
    fn a_change_only_affects_its_entry_and_reverting_it_restores_the_file() {
        let list = Decor::all_of(&scene());
        let moved = Decor { position: Vec2::new(120.0, -40.5), turned: true, ..list[1].clone() };
        let desk = Decor {
            kind: "desk".into(),
            position: Vec2::new(8.0, 9.0),
            size: Decor::usual_size("desk"),
            turned: false,
        };
        let changes = [
            (DecorChange::Change { was: list[1].clone(), now: moved }, "position: [120, -40.5]"),
            (DecorChange::Remove { decor: list[0].clone() }, "- 7"),
            (DecorChange::Add { decor: desk, at: None }, "{ kind: desk, position: [8, 9] }"),
        ];
        for (change, shown) in changes {
            let text = written(std::slice::from_ref(&change));
            assert!(text.contains(shown) && text.contains("name: A # ours"), "{text}");
            let back = change.inverse(&list).expect("it should be undoable");
            let restored: Value = serde_yaml::from_str(&written(&[change.clone(), back])).expect("it is YAML");
            assert_eq!(Decor::all_of(&restored), list, "{change:?}");
        }
        let text = written(&[DecorChange::Change {
            was: list[0].clone(),
            now: Decor { position: Vec2::new(10.0, 0.0), ..list[0].clone() },
        }]);
        assert!(text.contains("note: grandmother's") && text.contains("# warm"), "{text}");
    }

    #[test]
    fn impossible_changes_are_refused_and_change_nothing() {
        let mut list = Decor::all_of(&scene());
        let before = list.clone();
        let gone = Decor { position: Vec2::new(1.0, 1.0), ..list[0].clone() };
        let endless = Decor { size: Vec2::new(f32::INFINITY, 10.0), ..list[0].clone() };
        let nowhere = Decor { position: Vec2::NAN, ..list[0].clone() };
        for change in [
            DecorChange::Remove { decor: gone.clone() },
            DecorChange::Change { was: gone, now: list[0].clone() },
            DecorChange::Add { decor: endless, at: None },
            DecorChange::Change { was: list[0].clone(), now: nowhere },
        ] {
            assert!(change.apply(&mut list).is_err(), "{change:?}");
        }
        assert_eq!(list, before);
    }

    #[test]
    fn the_default_size_is_used_and_invalid_positions_are_left_out() {
        let entry = |text: &str| Decor::of(&serde_yaml::from_str(text).expect("the entry is YAML"));
        assert_eq!(entry("{ kind: rug, position: [1, 2] }").map(|decor| decor.size), Some(Vec2::new(360.0, 240.0)));
        assert_eq!(entry("{ kind: rug }"), None);
        assert_eq!(entry("{ kind: rug, position: [.nan, 2] }"), None);
        assert_eq!(entry("{ position: [1, 2] }"), None);
    }
}
