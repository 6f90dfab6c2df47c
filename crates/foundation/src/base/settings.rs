//! One place per setting: `settings!` declares a field with its default, its range, its description and its former
//! names. Reading settings from files is up to the workspace.

use serde_json::{Map, Value};

/// The minimum and the maximum of a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct NumberRange {
    /// The minimum.
    pub min: f64,
    /// The maximum.
    pub max: f64,
}

/// A name that a setting had in an earlier version. It is still read.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FormerName {
    /// The name.
    pub name: &'static str,
    /// What a number under this name is multiplied by, if its unit has changed.
    pub factor: Option<f64>,
}

impl FormerName {
    /// Converts a value written under this name to the present unit.
    pub fn present_value(&self, value: &Value) -> Value {
        match (self.factor, value.as_f64()) {
            (Some(factor), Some(number)) => {
                let number = number * factor;
                let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
                if is_whole { Value::from(number as i64) } else { Value::from(number) }
            }
            _ => value.clone(),
        }
    }
}

/// What is known of a setting beside its type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SettingKey {
    /// The key in its section, which is also the name of the field.
    pub name: &'static str,
    /// The description, by line.
    pub doc: &'static [&'static str],
    /// The range, of a number.
    pub range: Option<NumberRange>,
    /// The names of earlier versions.
    pub former: &'static [FormerName],
}

/// The settings of one section, as `settings!` describes them. A section with any names has no keys.
pub trait DescribedSettings {
    /// The description of the section, by line.
    const DOC: &'static [&'static str] = &[];
    /// Every setting, in order.
    const KEYS: &'static [SettingKey] = &[];
}

/// Joins the lines of a description.
pub fn joined(doc: &[&str]) -> String {
    doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// Returns the setting with this name or former name; and that former name, if it is one.
pub fn find_setting(keys: &'static [SettingKey], name: &str) -> Option<(&'static SettingKey, Option<FormerName>)> {
    let present = keys.iter().find(|key| key.name == name).map(|key| (key, None));
    present.or_else(|| {
        keys.iter().find_map(|key| {
            let former = key.former.iter().find(|former| former.name == name)?;
            Some((key, Some(*former)))
        })
    })
}

/// Returns the first number that is out of its range, with the reason.
pub fn out_of_range(values: &Map<String, Value>, keys: &[SettingKey]) -> Option<(String, String)> {
    values.iter().find_map(|(name, value)| {
        let number = match value {
            Value::Number(number) => number.as_f64()?,
            // NaN and infinity are parsed as these strings.
            Value::String(word) if [".nan", ".inf", "-.inf"].contains(&word.as_str()) => f64::NAN,
            _ => return None,
        };
        let NumberRange { min, max } = keys.iter().find(|key| key.name == name)?.range?;
        let is_within = (min..=max).contains(&number);
        (!is_within).then(|| (name.clone(), format!("{value} is not between {min} and {max}")))
    })
}

/// Declares the settings of a section: a struct whose fields all have defaults, and what is known of each.
///
/// ```ignore
/// settings! {
///     /// When work is stopped.
///     pub struct KernelSettings {
///         /// The maximum number of model calls in one piece of work.
///         pub max_turns: u32 = 50, in 1.0..=10_000.0, once "turns_at_most";
///     }
/// }
/// ```
///
/// A number has a range. `once` is a former name, which is read for ever; with `* FACTOR` if its unit was another one.
/// Further fields, which are not settings, follow in `with { … }`.
#[macro_export]
macro_rules! settings {
    (@range) => { None };
    (@range $min:literal $max:literal) => { Some($crate::base::settings::NumberRange { min: $min, max: $max }) };
    (@factor) => { None };
    (@factor $factor:literal) => { Some($factor) };
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derived:ident),+)])?
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field_vis:vis $field:ident: $kind:ty = $default:expr
                    $(, in $min:literal ..= $max:literal)?
                    $(, once $former:literal $(* $factor:literal)?)*;
            )*
        }
        $(with {
            $($(#[$other_meta:meta])* $other_vis:vis $other:ident: $other_kind:ty = $other_default:expr;)*
        })?
    ) => {
        $(#[doc = $about])+
        #[derive(::bevy::ecs::resource::Resource, Clone, PartialEq, Debug, ::serde::Serialize, ::serde::Deserialize)]
        $(#[derive($($derived),+)])?
        #[serde(default)]
        $vis struct $name {
            $($(#[doc = $doc])+ $field_vis $field: $kind,)*
            $($($(#[$other_meta])* $other_vis $other: $other_kind,)*)?
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* $($($other: $other_default,)*)? }
            }
        }

        impl $crate::base::settings::DescribedSettings for $name {
            const DOC: &'static [&'static str] = &[$($about),+];
            const KEYS: &'static [$crate::base::settings::SettingKey] = &[$(
                $crate::base::settings::SettingKey {
                    name: stringify!($field),
                    doc: &[$($doc),+],
                    range: $crate::settings!(@range $($min $max)?),
                    former: &[$(
                        $crate::base::settings::FormerName {
                            name: $former,
                            factor: $crate::settings!(@factor $($factor)?),
                        }
                    ),*],
                }
            ),*];
        }
    };
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    settings! {
        /// How something
        /// moves.
        #[derive(Copy)]
        struct Moves {
            /// How fast it moves.
            speed_units: f32 = 80.0, in 1.0..=2_000.0;
            /// The level of its flag.
            flag: i64 = -1, in -10.0..=0.0;
            /// How large it may be, in MiB.
            max_size_mib: f64 = 1.0, in 0.0..=64.0, once "size_kib_at_most" * 0.0009765625, once "size";
            /// Whether it moves.
            is_on: bool = true;
        }
        with {
            /// How often it moved.
            #[serde(skip)]
            count: u32 = 3;
        }
    }

    #[test]
    fn a_setting_is_declared_once_with_all_that_is_known_of_it() {
        let moves = Moves::default();
        assert_eq!((moves.speed_units, moves.flag, moves.max_size_mib, moves.is_on), (80.0, -1, 1.0, true));
        assert_eq!(moves.count, 3);
        assert_eq!(joined(Moves::DOC), "How something moves.");
        let names: Vec<&str> = Moves::KEYS.iter().map(|key| key.name).collect();
        assert_eq!(names, ["speed_units", "flag", "max_size_mib", "is_on"]);
        assert_eq!(Moves::KEYS[0].range, Some(NumberRange { min: 1.0, max: 2_000.0 }));
        assert_eq!((joined(Moves::KEYS[3].doc), Moves::KEYS[3].range), ("Whether it moves.".to_owned(), None));
        let written = serde_json::to_value(moves).expect("it is plain data");
        assert_eq!(written, json!({ "speed_units": 80.0, "flag": -1, "max_size_mib": 1.0, "is_on": true }));
    }

    #[test]
    fn a_former_name_is_found_and_its_unit_converted() {
        let found = |name| find_setting(Moves::KEYS, name).map(|(key, former)| (key.name, former.map(|one| one.name)));
        assert_eq!(found("max_size_mib"), Some(("max_size_mib", None)));
        assert_eq!(found("size_kib_at_most"), Some(("max_size_mib", Some("size_kib_at_most"))));
        assert_eq!(found("size"), Some(("max_size_mib", Some("size"))));
        assert_eq!(found("sizes"), None);
        let [in_kib, plain] = Moves::KEYS[2].former else { panic!("it has two former names") };
        assert_eq!(in_kib.present_value(&json!(2048)), json!(2));
        assert_eq!(in_kib.present_value(&json!(1)), json!(0.0009765625));
        assert_eq!(in_kib.present_value(&json!("many")), json!("many"));
        assert_eq!(plain.present_value(&json!(2048)), json!(2048));
    }

    #[test]
    fn numbers_are_limited_by_their_range() {
        let found =
            |values: Value| out_of_range(values.as_object().expect("a mapping"), Moves::KEYS).map(|(key, _)| key);
        for good in [
            json!({ "speed_units": 1, "flag": -3, "max_size_mib": 0.0, "is_on": true }),
            json!({ "speed_units": null, "flag": "-50", "unknown": 1e30 }),
        ] {
            assert_eq!(found(good.clone()), None, "{good}");
        }
        for (key, bad) in [
            ("speed_units", json!(-50)),
            ("speed_units", json!(0)),
            ("speed_units", json!(".inf")),
            ("flag", json!(1)),
            ("max_size_mib", json!(65)),
            ("max_size_mib", json!(".nan")),
        ] {
            assert_eq!(found(json!({ key: bad })).as_deref(), Some(key));
        }
    }
}
