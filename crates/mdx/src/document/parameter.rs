//! The parameters of a tool and their JSON schema. The caller of a tool checks arguments against it.

use serde_json::{Map, Value, json};

/// A parameter of a tool.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Parameter {
    /// The name in `params`.
    pub name: String,
    /// The type.
    pub kind: ParameterType,
    /// The description for the model; may be empty.
    pub description: String,
    /// Whether a call must contain it.
    pub is_required: bool,
}

/// The type of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParameterType {
    /// A string.
    #[default]
    String,
    /// A number, integer or not.
    Number,
    /// A boolean.
    Boolean,
}

impl ParameterType {
    /// Returns the name of the type in documents and schemas.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    /// Parses the name of a type.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::String, Self::Number, Self::Boolean].into_iter().find(|kind| kind.name() == name)
    }
}

/// Returns the JSON schema of an object with these parameters, and no others.
pub fn parameters_schema(parameters: &[Parameter]) -> Value {
    let property = |parameter: &Parameter| {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!(parameter.kind.name()));
        if !parameter.description.is_empty() {
            schema.insert("description".to_owned(), json!(parameter.description));
        }
        (parameter.name.clone(), Value::Object(schema))
    };
    let required: Vec<&str> =
        parameters.iter().filter(|parameter| parameter.is_required).map(|parameter| &*parameter.name).collect();
    json!({
        "type": "object",
        "properties": parameters.iter().map(property).collect::<Map<String, Value>>(),
        "required": required,
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_types_and_required_parameters() {
        let parameter = |name: &str, kind, description: &str, is_required| Parameter {
            name: name.to_owned(),
            kind,
            description: description.to_owned(),
            is_required,
        };
        let city = parameter("city", ParameterType::String, "City name", true);
        let days = parameter("days", ParameterType::Number, "", false);
        assert_eq!(
            parameters_schema(&[city, days]),
            json!({
                "type": "object",
                "properties": { "city": { "type": "string", "description": "City name" }, "days": { "type": "number" } },
                "required": ["city"],
                "additionalProperties": false,
            })
        );
    }
}
