//! The tool with which an agent provides the outputs of its step. Agents have it while they work on a step; profiles do
//! not list it.

use serde_json::json;

use super::step_prompt::GIVE_OUTPUT;
use crate::gate::{DeclaredTouch, TouchKind};
use crate::tools::{Planned, Tool};

/// The maximum length of an output name, in characters.
const MAX_NAME_CHARS: usize = 80;

/// The tool.
pub(super) fn tool() -> Tool {
    Tool::new(
        GIVE_OUTPUT,
        "Give an output of your workflow step, by name: a text, a list, or yes or no, as your task says. Give every \
         output before you conclude; giving one again replaces it.",
        json!({
            "type": "object",
            "properties": {
                "name": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_NAME_CHARS,
                    "description": "The output's name, as given in your task.",
                },
                "value": {
                    "type": ["string", "array", "boolean", "number", "object"],
                    "description": "The value of the output.",
                },
            },
            "required": ["name", "value"],
        }),
        |arguments, _| {
            let name = arguments.text("name");
            let touches = vec![DeclaredTouch::new(TouchKind::AGENT_SIGNAL, "")];
            Ok(Planned::order(GIVE_OUTPUT, arguments.to_value(), touches, ("giving", &name)))
        },
    )
}
