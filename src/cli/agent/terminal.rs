//! The terminal of a talk: a line with history and completion, and what an agent says and does as it comes.

use std::borrow::Cow;
use std::path::PathBuf;

use reedline::{
    ColumnarMenu, DefaultCompleter, Emacs, FileBackedHistory, KeyCode, KeyModifiers, MenuBuilder, Prompt,
    PromptEditMode, PromptHistorySearch, Reedline, ReedlineEvent, ReedlineMenu, Signal, default_emacs_keybindings,
};

use super::super::asking::LineReader;
use super::super::{Complaint, output};
use super::events::AgentEvent;
use crate::base::text::{one_line, truncate};

/// Lines that are remembered.
const LINES_REMEMBERED: usize = 1_000;
/// The menu of what completes a word.
const MENU: &str = "completion";
/// What may stand in a word that is completed, besides letters and digits.
const WORD_MARKS: [char; 5] = ['/', ':', '-', '_', '.'];
/// Arguments of a call are shown up to so many characters, …
const ARGUMENTS_CHARS: usize = 60;
/// … and what it came to.
const RESULT_CHARS: usize = 100;

/// What came of waiting for a line.
pub(super) enum Line {
    Typed(String),
    /// Ctrl-C.
    Stop,
    /// Ctrl-D: no more lines come.
    End,
}

/// Where a person types.
pub(super) struct Terminal {
    editor: Reedline,
}

impl Terminal {
    /// One that remembers lines in a file and completes these words.
    pub(super) fn open(remembered: PathBuf, words: Vec<String>) -> Self {
        let mut completer = DefaultCompleter::with_inclusions(&WORD_MARKS);
        completer.insert(words);
        let mut keys = default_emacs_keybindings();
        let complete = vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext];
        keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, ReedlineEvent::UntilFound(complete));
        let menu = Box::new(ColumnarMenu::default().with_name(MENU));
        let editor = Reedline::create()
            .with_completer(Box::new(completer))
            .with_menu(ReedlineMenu::EngineCompleter(menu))
            .with_edit_mode(Box::new(Emacs::new(keys)));
        let editor = match FileBackedHistory::with_file(LINES_REMEMBERED, remembered) {
            Ok(lines) => editor.with_history(Box::new(lines)),
            Err(error) => {
                tracing::warn!("lines that were typed are not remembered: {error}");
                editor
            }
        };
        Self { editor }
    }

    /// Waits for a line.
    pub(super) fn read(&mut self) -> Result<Line, Complaint> {
        read(&mut self.editor, "> ")
    }
}

/// Reads answers to questions, which nothing remembers.
pub(super) fn reader() -> LineReader {
    let mut editor = Reedline::create();
    Box::new(move |question| match read(&mut editor, question) {
        Ok(Line::Typed(line)) => Some(line),
        Ok(Line::Stop | Line::End) => None,
        Err(complaint) => {
            output::note(&complaint.what.unwrap_or_default());
            None
        }
    })
}

fn read(editor: &mut Reedline, question: &str) -> Result<Line, Complaint> {
    output::hide_status();
    let unreadable = |error: std::io::Error| Complaint::failed(format!("the terminal cannot be read: {error}"));
    Ok(match editor.read_line(&Question(question.to_owned())).map_err(unreadable)? {
        Signal::Success(line) => Line::Typed(line),
        Signal::CtrlD => Line::End,
        _ => Line::Stop,
    })
}

/// What stands before the line.
struct Question(String);

impl Prompt for Question {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed(". ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("(search: {}) ", search.term))
    }
}

/// Shows what happens: words as they come, on standard output, and each call with what it came to in one line beside it.
#[derive(Default)]
pub(super) struct Display {
    /// Whether the cursor stands behind words.
    is_in_line: bool,
    /// The arguments of the calls that go on, by their ids.
    arguments: Vec<(String, String)>,
}

impl Display {
    /// Shows an event, words only where `with_words`.
    pub(super) fn show(&mut self, event: &AgentEvent, with_words: bool) -> Result<(), Complaint> {
        match event {
            AgentEvent::MessageUpdate { delta } if with_words => {
                self.is_in_line = !delta.ends_with('\n');
                output::part(delta)?;
            }
            AgentEvent::MessageEnd { .. } | AgentEvent::AgentEnd { .. } => self.end_line()?,
            AgentEvent::ToolExecutionStart { tool_call_id, args, .. } => {
                self.arguments.push((tool_call_id.clone(), truncate(&one_line(&args.to_string()), ARGUMENTS_CHARS)));
            }
            AgentEvent::ToolExecutionEnd { tool_call_id, name, result, is_error } => {
                self.end_line()?;
                let at = self.arguments.iter().position(|(id, _)| id == tool_call_id);
                let arguments = at.map(|at| self.arguments.swap_remove(at).1).unwrap_or_default();
                output::note(&folded(name, &arguments, result, *is_error));
            }
            _ => {}
        }
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), Complaint> {
        if std::mem::replace(&mut self.is_in_line, false) { output::part("\n") } else { Ok(()) }
    }
}

/// A call and what it came to, in one line.
fn folded(name: &str, arguments: &str, result: &str, is_error: bool) -> String {
    let mark = if is_error { "failed: " } else { "" };
    format!("  {name} {arguments} → {mark}{}", truncate(&one_line(result), RESULT_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_one_line_however_much_it_says() {
        let line = folded("forecast", "{\"city\":\"Ulm\"}", &"rain\n".repeat(100), false);
        assert!(line.starts_with("  forecast {\"city\":\"Ulm\"} → rain rain") && !line.contains('\n'), "{line}");
        assert!(line.chars().count() < 160);
        assert_eq!(folded("forecast", "{}", "no such city", true), "  forecast {} → failed: no such city");
    }
}
