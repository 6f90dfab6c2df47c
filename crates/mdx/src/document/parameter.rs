//! The parameters of a tool: its JSON schema, and whether the arguments of a call match it.

use serde_json::{Map, Value, json};

/// A parameter of a tool.
#[derive(Clone, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Parameter {
    /// Its name in `params`.
    pub name: String,
    /// What it is.
    pub kind: ParameterType,
    /// What it means, for the model; empty where nothing is said.
    pub description: String,
    /// Whether a call must give it.
    pub is_required: bool,
}

/// The type of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParameterType {
    /// A text.
    #[default]
    String,
    /// A number, whole or not.
    Number,
    /// True or false.
    Boolean,
}

impl ParameterType {
    /// What documents and schemas call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }

    /// The type of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::String, Self::Number, Self::Boolean].into_iter().find(|kind| kind.name() == name)
    }

    fn fits(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
        }
    }
}

/// The JSON schema of an object with these parameters; others are refused.
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

/// Why arguments are invalid, described for the model that sent them.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ArgumentError {
    /// They are no object.
    #[error("the arguments must be a JSON object, not {found}")]
    NotAnObject {
        /// What they are.
        found: &'static str,
    },
    /// A parameter that a call must give is not there.
    #[error("the parameter \"{name}\" is missing")]
    Missing {
        /// The parameter.
        name: String,
    },
    /// A parameter is of another type.
    #[error("the parameter \"{name}\" must be a {wanted}, not {found}")]
    WrongType {
        /// The parameter.
        name: String,
        /// What it must be.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// No parameter has this name.
    #[error("there is no parameter \"{name}\"; there are: {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names of all parameters.
        known: String,
    },
}

/// Whether the arguments of a call fit the parameters. A parameter that need not be given may be `null`, which counts
/// as not given; what comes back is what the tool is given.
pub fn check_arguments(parameters: &[Parameter], arguments: &Value) -> Result<Map<String, Value>, ArgumentError> {
    let none = Map::new();
    let given = match arguments {
        Value::Object(given) => given,
        Value::Null => &none,
        other => return Err(ArgumentError::NotAnObject { found: name_of(other) }),
    };
    if let Some(name) = given.keys().find(|name| parameters.iter().all(|parameter| parameter.name != **name)) {
        let known: Vec<&str> = parameters.iter().map(|parameter| &*parameter.name).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        return Err(ArgumentError::Unknown { name: name.clone(), known });
    }
    let mut checked = Map::new();
    for parameter in parameters {
        let name = || parameter.name.clone();
        match given.get(&parameter.name) {
            None | Some(Value::Null) if !parameter.is_required => {}
            None | Some(Value::Null) => return Err(ArgumentError::Missing { name: name() }),
            Some(value) if parameter.kind.fits(value) => {
                checked.insert(name(), value.clone());
            }
            Some(value) => {
                let wanted = parameter.kind.name();
                return Err(ArgumentError::WrongType { name: name(), wanted, found: name_of(value) });
            }
        }
    }
    Ok(checked)
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Vec<Parameter> {
        let parameter = |name: &str, kind, is_required| Parameter {
            name: name.to_owned(),
            kind,
            description: String::new(),
            is_required,
        };
        vec![parameter("city", ParameterType::String, true), parameter("days", ParameterType::Number, false)]
    }

    #[test]
    fn the_schema_says_types_and_what_must_be_given() {
        let mut parameters = parameters();
        parameters[0].description = "City name".to_owned();
        assert_eq!(
            parameters_schema(&parameters),
            json!({
                "type": "object",
                "properties": { "city": { "type": "string", "description": "City name" }, "days": { "type": "number" } },
                "required": ["city"],
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn arguments_that_do_not_fit_are_refused_in_words() {
        let parameters = parameters();
        let told = |arguments: Value| check_arguments(&parameters, &arguments).unwrap_err().to_string();
        assert_eq!(told(json!({})), "the parameter \"city\" is missing");
        assert_eq!(told(Value::Null), "the parameter \"city\" is missing");
        assert_eq!(told(json!({ "city": null })), "the parameter \"city\" is missing");
        assert_eq!(told(json!({ "city": 3 })), "the parameter \"city\" must be a string, not a number");
        assert_eq!(told(json!({ "city": "x", "days": "3" })), "the parameter \"days\" must be a number, not a string");
        assert_eq!(told(json!({ "city": "x", "day": 3 })), "there is no parameter \"day\"; there are: city, days");
        assert_eq!(told(json!(["x"])), "the arguments must be a JSON object, not a list");
    }

    #[test]
    fn what_need_not_be_given_may_be_null() {
        let checked = check_arguments(&parameters(), &json!({ "city": "x", "days": null })).unwrap();
        assert_eq!(Value::Object(checked), json!({ "city": "x" }));
    }
}
