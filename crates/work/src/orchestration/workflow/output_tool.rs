//! The tool with which an agent gives what its step must give. Lent to whoever works at a step; nobody lists it.

use serde_json::json;

use super::step_prompt::GIVE_OUTPUT;
use crate::gate::{DeclaredTouch, TouchKind};
use crate::tools::{Planned, Tool};

/// No name is longer, in characters.
const NAME_CHARS_AT_MOST: usize = 80;

/// The tool.
pub(super) fn tool() -> Tool {
    Tool::new(
        GIVE_OUTPUT,
        "Give an output of the step that you work at, by its name: a text, a list, or yes or no, as your task says. \
         Give each of them before you conclude; what you give again replaces what you gave.",
        json!({
            "type": "object",
            "properties": {
                "name": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": NAME_CHARS_AT_MOST,
                    "description": "The output's name, as your task has it.",
                },
                "value": {
                    "type": ["string", "array", "boolean", "number", "object"],
                    "description": "What it is.",
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
