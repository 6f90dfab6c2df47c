//! The declaration of a tool for a model.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// The declaration of a tool for a model.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolDeclaration {
    /// The name of the tool.
    pub name: String,
    /// The description for the model.
    pub description: String,
    /// The JSON schema of its arguments, which are an object.
    pub parameters: ToolSchema,
}

impl ToolDeclaration {
    /// Returns the number of characters to send.
    pub fn chars(&self) -> usize {
        self.name.chars().count() + self.description.chars().count() + self.parameters.chars()
    }
}

/// The JSON schema of a tool's arguments. It is shared, because each request carries those of all tools, and its length
/// is counted once, because each request is estimated.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(from = "Value")]
pub struct ToolSchema(Arc<CountedSchema>);

#[derive(Clone, Debug)]
struct CountedSchema {
    schema: Value,
    chars: OnceLock<usize>,
}

impl PartialEq for CountedSchema {
    fn eq(&self, other: &Self) -> bool {
        self.schema == other.schema
    }
}

impl Eq for CountedSchema {}

impl ToolSchema {
    /// Returns the number of characters to send.
    pub fn chars(&self) -> usize {
        *self.0.chars.get_or_init(|| self.0.schema.to_string().chars().count())
    }

    /// Returns the schema; copies it if it is shared.
    pub fn into_value(self) -> Value {
        Arc::unwrap_or_clone(self.0).schema
    }
}

impl From<Value> for ToolSchema {
    fn from(schema: Value) -> Self {
        Self(Arc::new(CountedSchema { schema, chars: OnceLock::new() }))
    }
}

impl Deref for ToolSchema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0.schema
    }
}

impl Serialize for ToolSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.schema.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_declaration_is_as_long_as_what_is_sent() {
        let schema =
            json!({ "type": "object", "properties": { "path": { "type": "string", "description": "Wo? Übrig" } } });
        let tool = ToolDeclaration {
            name: "read".to_owned(),
            description: "Reads.".to_owned(),
            parameters: schema.clone().into(),
        };
        assert_eq!(tool.chars(), "read".len() + "Reads.".len() + schema.to_string().chars().count());
        let written = serde_json::to_value(&tool).expect("it is data");
        assert_eq!(written["parameters"], schema, "it is written as a plain schema");
        let read: ToolDeclaration = serde_json::from_value(written).expect("it was written");
        assert_eq!((&read, read.chars()), (&tool, tool.chars()));
        assert_eq!(read.parameters.into_value(), schema);
    }
}
