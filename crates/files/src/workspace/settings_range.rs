//! The valid range of a number in the settings: given by its section, or derived from the unit at the end of its name.

use serde_json::{Map, Value};

/// The minimum and maximum of a setting.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range {
    /// The key in its section.
    pub key: &'static str,
    /// The minimum.
    pub least: f64,
    /// The maximum.
    pub most: f64,
}

impl Range {
    /// Creates the range of a setting.
    pub const fn of(key: &'static str, least: f64, most: f64) -> Self {
        Self { key, least, most }
    }
}

/// The default ranges by the unit at the end of the name (`_secs`: a week; `_units`: the edge of the world). No setting may be
/// negative.
const BY_UNIT: [Range; 4] = [
    Range::of("_secs", 0.0, 604_800.0),
    Range::of("_units", 0.0, 100_000.0),
    Range::of("_usd", 0.0, 1_000_000.0),
    Range::of("", 0.0, 1_000_000_000_000.0),
];

/// Returns the range of a setting, given those of its section.
pub(super) fn range_of(key: &str, ranges: &[Range]) -> (f64, f64) {
    let by_section = ranges.iter().find(|range| range.key == key);
    let by_unit = || BY_UNIT.iter().find(|range| key.ends_with(range.key));
    by_section.or_else(by_unit).map_or((0.0, f64::MAX), |range| (range.least, range.most))
}

/// Returns the first number that is out of its range, with the range.
pub(super) fn out_of_range(keys: &Map<String, Value>, ranges: &[Range]) -> Option<(String, String)> {
    keys.iter().find_map(|(key, value)| {
        let number = match value {
            Value::Number(number) => number.as_f64()?,
            // NaN and infinity are parsed as these strings.
            Value::String(word) if [".nan", ".inf", "-.inf"].contains(&word.as_str()) => f64::NAN,
            _ => return None,
        };
        let (least, most) = range_of(key, ranges);
        let is_within = (least..=most).contains(&number);
        (!is_within).then(|| (key.clone(), format!("{value} is not between {least} and {most}")))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_limited_by_their_section_or_their_unit() {
        let ranges = [Range::of("speed_units", 1.0, 2_000.0), Range::of("flag", -10.0, 0.0)];
        let found = |keys: Value| out_of_range(keys.as_object().expect("a mapping"), &ranges).map(|(key, _)| key);
        for good in [
            json!({ "speed_units": 1, "flag": -3, "pause_secs": 0.0, "name": "-50", "on": true, "cap": null }),
            json!({ "reach_units": 100_000, "calls": 1_000_000_000_000_u64, "cost_usd": 5.5 }),
        ] {
            assert_eq!(found(good.clone()), None, "{good}");
        }
        for (key, bad) in [
            ("speed_units", json!(-50)),
            ("speed_units", json!(0)),
            ("speed_units", json!(".inf")),
            ("flag", json!(1)),
            ("pause_secs", json!(-1)),
            ("pause_secs", json!(1e9)),
            ("reach_units", json!(1e30)),
            ("calls", json!(-1)),
            ("calls", json!(".nan")),
        ] {
            assert_eq!(found(json!({ key: bad })).as_deref(), Some(key));
        }
    }
}
