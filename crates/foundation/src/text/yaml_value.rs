//! Parses YAML into plain data, with a limit on alias expansion: an alias bomb is rejected before it fills the memory.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The factor of the text's size in the size limit of the data. Without aliases, data is hardly larger than its text.
const TIMES_THE_TEXT: usize = 4;
/// The constant part of the size limit of the data, in bytes.
const ALWAYS_BYTES: usize = 1024 * 1024;

/// The error of a text whose aliases exceed the limit.
const TOO_MUCH: &str = "its aliases (*name) expand to too much; use fewer";
/// The parser's own error for the same.
const PARSER_LIMIT: &str = "repetition limit exceeded";

/// Parses a text. Merge keys are resolved, tags dropped, and keys converted to strings.
pub(super) fn read(text: &str) -> Result<Value, serde_yaml::Error> {
    let left = Cell::new(text.len().saturating_mul(TIMES_THE_TEXT).saturating_add(ALWAYS_BYTES));
    let read = Plain { left: &left }.deserialize(serde_yaml::Deserializer::from_str(text));
    // The parser has a limit of its own, which may be reached first.
    read.map_err(|error| if error.to_string().contains(PARSER_LIMIT) { Error::custom(TOO_MUCH) } else { error })
}

/// Fails if the aliases of a text expand to too much; other errors are left to the reader of the data.
pub(super) fn check_aliases(text: &str) -> Result<(), serde_yaml::Error> {
    match read(text) {
        Err(error) if error.to_string().contains(TOO_MUCH) => Err(error),
        _ => Ok(()),
    }
}

/// Deserialises any value into plain data within the remaining budget.
#[derive(Clone, Copy)]
struct Plain<'a> {
    left: &'a Cell<usize>,
}

impl Plain<'_> {
    fn take<E: Error>(self, bytes: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(bytes + 1);
        let too_much = || E::custom(TOO_MUCH);
        self.left.set(left.ok_or_else(too_much)?);
        Ok(())
    }

    fn one<E: Error>(self, value: impl Into<Value>) -> Result<Value, E> {
        self.take(0)?;
        Ok(value.into())
    }
}

impl<'de> DeserializeSeed<'de> for Plain<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Plain<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any YAML value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        self.one(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        self.one(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        self.one(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // JSON has no NaN and infinity; they are kept as strings.
        let word = if value.is_nan() {
            ".nan"
        } else if value > 0.0 {
            ".inf"
        } else {
            "-.inf"
        };
        self.one(Number::from_f64(value).map_or_else(|| Value::from(word), Value::Number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.take(value.len())?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        self.one(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        self.one(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.take(0)?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        self.take(0)?;
        let mut map = Map::new();
        while let Some(key) = pairs.next_key_seed(self)? {
            let key = match key {
                Value::String(text) => text,
                other => other.to_string(),
            };
            let value = pairs.next_value_seed(self)?;
            if map.contains_key(&key) {
                return Err(A::Error::custom(format!("duplicate entry with key {key:?}")));
            }
            map.insert(key, value);
        }
        merged(map).map(Value::Object)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, tagged: A) -> Result<Value, A::Error> {
        let (_tag, value) = tagged.variant::<String>()?;
        value.newtype_variant_seed(self)
    }
}

/// Merges the mappings under the key `<<` into a mapping, whose own keys take precedence.
fn merged<E: Error>(mut map: Map<String, Value>) -> Result<Map<String, Value>, E> {
    let others = match map.shift_remove("<<") {
        None => return Ok(map),
        Some(Value::Array(others)) => others,
        Some(other) => vec![other],
    };
    for other in others {
        let Value::Object(other) = other else {
            return Err(E::custom("the key << refers to something that is not a mapping"));
        };
        for (key, value) in other {
            map.entry(key).or_insert(value);
        }
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn aliases_merge_keys_tags_and_odd_keys_become_plain_data() {
        let text = "base: &b { x: 1, y: 2 }\none: { <<: *b, y: 3 }\ntwo: { <<: [*b, { z: 4 }] }\n1: !tag word\n~: ~\n\
                    f: [1.5, .nan, -.inf, 18446744073709551615]\n";
        assert_eq!(
            read(text).expect("it is YAML"),
            json!({ "base": { "x": 1, "y": 2 }, "one": { "y": 3, "x": 1 }, "two": { "x": 1, "y": 2, "z": 4 },
                    "1": "word", "null": null, "f": [1.5, ".nan", "-.inf", u64::MAX] })
        );
        assert!(read("a: 1\na: 2\n").expect_err("a key stands twice").to_string().contains("duplicate"));
        assert!(read("a: { <<: 7 }\n").is_err());
    }

    #[test]
    fn alias_expansion_is_limited() {
        let long = format!("x: &a \"{}\"\ny: [{}]\n", "z".repeat(300_000), "*a, ".repeat(10_000));
        let many = format!("x: &a [{}]\ny: [{}]\n", "1, ".repeat(3_000), "*a, ".repeat(3_000));
        for text in [long, many] {
            let error = read(&text).expect_err("it is too much").to_string();
            assert!(error.contains("aliases") || error.contains("repetition"), "{error}");
        }
        let honest = format!("x: &a {{ text: \"{}\" }}\ny: [{}]\n", "z".repeat(1_000), "*a, ".repeat(500));
        assert_eq!(read(&honest).expect("that is bearable")["y"].as_array().map(Vec::len), Some(500));
        let plain = format!("- [{}]\n", "1,".repeat(500_000));
        assert_eq!(
            read(&plain).expect("without aliases nothing is refused")[0].as_array().map(Vec::len),
            Some(500_000)
        );
    }
}
