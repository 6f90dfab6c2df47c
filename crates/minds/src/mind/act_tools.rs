//! Declares the acts of an agent as functions for its model. Their list is that of the prompt (`parts::abilities`).

use serde_json::{Map, Value, json};

use super::context::MindContext;
use super::markers::BYE;
use super::parts::abilities::{board, called, function_name, names};
use super::prompts::{TEXTS, filled};
use super::tool_declaration::ToolDeclaration;
use crate::base::text::capitalised;

/// An argument of a function: its name, and the names that models give it instead.
pub(super) struct ActArgument {
    /// The name.
    pub(super) name: &'static str,
    /// The other names.
    pub(super) aliases: &'static [&'static str],
}

/// The text of an act.
const TEXT: ActArgument =
    ActArgument { name: "text", aliases: &["note", "content", "message", "body", "pin", "words", "say"] };
/// The id of a pin.
const PIN_ID: ActArgument = ActArgument { name: "id", aliases: &["pin", "pin_id", "text"] };
/// The id of a piece of mail.
const MAIL_ID: ActArgument = ActArgument { name: "id", aliases: &["mail", "mail_id", "message_id", "text"] };
/// The addressee of mail.
const TO: ActArgument = ActArgument { name: "to", aliases: &["name", "recipient", "agent", "addressee"] };
/// The text of mail.
const MAIL_TEXT: ActArgument = ActArgument { name: "text", aliases: &["message", "content", "body", "mail"] };

/// Returns the arguments of the function for an act, by the word of its marker.
pub(super) fn arguments_of(word: &str) -> &'static [ActArgument] {
    match word {
        "SEND" => &[TO, MAIL_TEXT],
        "DONE" => &[MAIL_ID],
        "REMOVE_PIN" | "VOTE_UP" | "VOTE_DOWN" | "KEEP_PIN" | "RELEASE_PIN" => &[PIN_ID],
        _ => &[TEXT],
    }
}

/// Returns the declarations of the acts that an agent can call, in the order of the prompt; none if it writes markers.
pub(super) fn declarations(context: &MindContext) -> Vec<ToolDeclaration> {
    called(context).iter().map(|word| declaration(word, context)).collect()
}

fn declaration(word: &str, context: &MindContext) -> ToolDeclaration {
    let arguments = arguments_of(word).iter().map(|argument| argument.name);
    let properties: Map<String, Value> =
        arguments.clone().map(|name| (name.to_owned(), json!({ "type": "string" }))).collect();
    let required: Vec<&str> = if word == BYE { Vec::new() } else { arguments.collect() };
    let parameters = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    ToolDeclaration {
        name: function_name(word),
        description: description(word, context),
        parameters: parameters.into(),
    }
}

fn description(word: &str, context: &MindContext) -> String {
    let texts = &TEXTS;
    let text = match word {
        "REMEMBER" => texts.function_remember,
        "PIN" => return filled(texts.function_pin, &[("board", &board(context))]),
        "VOTE_UP" => texts.function_vote_up,
        "VOTE_DOWN" => texts.function_vote_down,
        "REMOVE_PIN" => texts.function_remove_pin,
        "KEEP_PIN" => texts.function_keep_pin,
        "RELEASE_PIN" => texts.function_release_pin,
        "SEND" => return filled(texts.function_send, &[("names", &names(context))]),
        "DONE" => texts.function_done,
        BYE => texts.function_bye,
        // An act that a kind of element declares.
        _ => {
            let line = context.abilities.markers.iter().find(|line| line.word == word);
            return line.map_or_else(String::new, |line| format!("{}.", capitalised(&line.purpose)));
        }
    };
    text.to_owned()
}

#[cfg(test)]
#[path = "act_tools_tests.rs"]
mod tests;
