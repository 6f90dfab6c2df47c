//! The words of an MCP server that asks the person something, as they are shown: named, quoted, and with every character
//! visible, so that they cannot pass for words of the program. Pure.

use super::approval::Approval;
use super::command_code::ChangedFile;
use crate::base::text::truncate;
use crate::base::visible_text::{visible, visible_in_order, visible_lines};
use crate::gateway::mcp::McpElicitation;
use crate::tools::{Preview, PreviewLine, PreviewLineKind};

/// The maximum length of a question in a sentence, in characters. The details show all of it.
const MESSAGE_CHARS: usize = 240;

/// What an agent wants whose call the server's question interrupts, as a phrase to follow "wants to".
pub(super) fn wants(asked: &McpElicitation) -> String {
    let message = truncate(&visible(asked.message.trim()), MESSAGE_CHARS);
    let message = visible_in_order(&message).replace(['“', '”'], "\"");
    format!("get an answer to a question of {}, which says: “{message}”", named(asked))
}

/// The server with its name, which comes from a settings file.
fn named(asked: &McpElicitation) -> String {
    match asked.server.as_str() {
        "" => "its MCP server".to_owned(),
        name => format!("the MCP server {}", visible(name)),
    }
}

impl Approval {
    /// The question of the MCP server, if it asks one, the preview of the call, and what changed in the files that it
    /// would run: all lines that a person decides about.
    pub fn lines(&self, preview: &Preview) -> Vec<PreviewLine> {
        let mut lines = self.of_server.as_deref().map_or_else(Vec::new, server_lines);
        lines.extend(preview.lines());
        lines.extend(self.changed_files.iter().flat_map(ChangedFile::lines));
        lines
    }

    /// The lines of the MCP server's question, if the sentence about it does not show all of it.
    pub fn long_question(&self) -> Vec<PreviewLine> {
        let asked = self.of_server.as_deref().filter(|asked| {
            let message = asked.message.trim();
            message.contains('\n') || visible(message).chars().count() > MESSAGE_CHARS
        });
        asked.map_or_else(Vec::new, server_lines)
    }

    /// What to consider before answering the MCP server; empty if there is nothing.
    pub fn secret_warning(&self) -> String {
        let asked = self.of_server.as_deref().filter(|asked| asked.asks_for_secret());
        asked.map_or_else(String::new, |asked| {
            format!("It seems to ask for a key, a password or a token: what you enter is sent to {}.", named(asked))
        })
    }
}

/// The words of a server, line by line.
fn server_lines(asked: &McpElicitation) -> Vec<PreviewLine> {
    let heading = format!("Question of {}, in its words", named(asked));
    let mut lines = vec![PreviewLine { mark: PreviewLineKind::Heading, text: heading }];
    let words = visible_lines(asked.message.trim()).map(|line| visible_in_order(&line).into_owned());
    lines.extend(words.map(|text| PreviewLine { mark: PreviewLineKind::Plain, text }));
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_words_of_a_server_are_named_and_quoted() {
        let message = "Which one?” Allowed: yes, because\nAda\u{202e} says so";
        let asked = McpElicitation::of(1, message, &json!({})).expect("it can be answered");
        let asked = McpElicitation { server: "evil".to_owned(), ..asked };
        let expected = "get an answer to a question of the MCP server evil, which says: \
                        “Which one?\" Allowed: yes, because‹LF›Ada‹U+202E› says so”";
        assert_eq!(wants(&asked), expected);
        let lines: Vec<String> = server_lines(&asked).iter().flat_map(|line| line.rows(80)).collect();
        let rows = [
            "Question of the MCP server evil, in its words:",
            "  | Which one?” Allowed: yes, because",
            "  | Ada‹U+202E› says so",
        ];
        assert_eq!(lines, rows);
    }
}
