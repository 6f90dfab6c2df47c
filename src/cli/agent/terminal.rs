//! The terminal of a chat: an input line with history and completion, and the agent's streamed output.
//!
//! Lines are edited with rustyline. reedline can do more, but it depends on crossterm, mio and chrono, which change the
//! features of crates that the engine shares, and it handles signals itself. rustyline needs a few small crates, leaves
//! Ctrl-C to this program while an answer is streamed, and can print above a line that is being typed, which is needed
//! for agents that wake up while the prompt is open.

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, ExternalPrinter, Helper};

use super::super::approval_prompts::LineReader;
use super::super::{CliError, output};
use super::events::AgentEvent;
use super::markdown::{Look, MarkdownStream};
use crate::base::text::{one_line, truncate};

/// The maximum number of lines in the input history.
const MAX_HISTORY_LINES: usize = 1_000;
/// The maximum length of a call's arguments as shown, in characters.
const ARGUMENTS_CHARS: usize = 60;
/// The number of progress lines of a call that are printed; later ones only replace the status line.
const UPDATES_SHOWN: usize = 20;
/// The maximum length of a call's result as shown, in characters.
const RESULT_CHARS: usize = 100;

/// The result of waiting for a line.
pub(super) enum LineResult {
    Typed(String),
    /// Ctrl-C.
    Stop,
    /// Ctrl-D: no more lines come.
    End,
}

/// The input prompt. The line editor exists only while it waits for a line, because it captures Ctrl-C, which otherwise
/// stops the current answer.
pub(super) struct Terminal {
    /// The file of the input history.
    history_file: PathBuf,
}

/// The words that Tab completes at the start of a line: commands and skills.
#[derive(Clone)]
struct Completions(Vec<String>);

impl Completer for Completions {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let begun = &line[..at];
        let fits = |word: &&String| !begun.is_empty() && word.starts_with(begun);
        Ok((0, self.0.iter().filter(fits).cloned().collect()))
    }
}

impl Hinter for Completions {
    type Hint = String;
}

impl Highlighter for Completions {}

impl Validator for Completions {}

impl Helper for Completions {}

impl Terminal {
    /// Creates a terminal with this history file.
    pub(super) fn new(history_file: PathBuf) -> Self {
        Self { history_file }
    }

    /// Starts to read a line on a separate thread; Tab completes `words`. Until the line is entered, output is printed
    /// above it.
    pub(super) fn read(&self, words: Vec<String>) -> Result<TypedLine, CliError> {
        let history_file = self.history_file.clone();
        let (typed, line) = bounded(1);
        let (ready, begun) = bounded(1);
        let read = move || {
            let line = read_line(&history_file, Completions(words), &ready);
            let _ = typed.send(line);
        };
        let thread = std::thread::Builder::new().name("terminal".into()).spawn(read).map_err(CliError::failed)?;
        // If the editor cannot print above the line, output is printed as usual.
        if let Ok(Some(above)) = begun.recv() {
            output::begin_input_line(above);
        }
        Ok(TypedLine { line, thread: Some(thread) })
    }
}

/// Reads a line. First sends a printer that prints above it, if the editor has one.
fn read_line(
    history_file: &Path,
    words: Completions,
    ready: &Sender<Option<output::PrintAbove>>,
) -> Result<LineResult, CliError> {
    let mut editor = editor(history_file, words)?;
    let above = editor
        .create_external_printer()
        .ok()
        .map(|mut printer| -> output::PrintAbove { Box::new(move |lines| printer.print(lines).is_ok()) });
    let _ = ready.send(above);
    let line = read(&mut editor, "> ")?;
    let saved = matches!(line, LineResult::Typed(_)).then(|| editor.save_history(history_file));
    // Dropped first to avoid a deadlock: a thread that prints above the line may wait for the editor.
    drop(editor);
    if let Some(Err(error)) = saved {
        tracing::warn!("the input history could not be saved: {error}");
    }
    Ok(line)
}

fn editor(history_file: &Path, words: Completions) -> Result<Editor<Completions, FileHistory>, CliError> {
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true);
    let config = config.max_history_size(MAX_HISTORY_LINES).map_err(unreadable)?.build();
    let mut editor = Editor::<Completions, FileHistory>::with_config(config).map_err(unreadable)?;
    editor.set_helper(Some(words));
    if history_file.exists()
        && let Err(error) = editor.load_history(history_file)
    {
        tracing::warn!("the input history could not be read: {error}");
    }
    Ok(editor)
}

/// A line that a person is typing.
pub(super) struct TypedLine {
    line: Receiver<Result<LineResult, CliError>>,
    thread: Option<JoinHandle<()>>,
}

impl TypedLine {
    /// Returns the line once it is entered. The terminal is restored by then.
    pub(super) fn poll(&mut self) -> Option<Result<LineResult, CliError>> {
        let line = match self.line.try_recv() {
            Ok(line) => line,
            Err(crossbeam_channel::TryRecvError::Empty) => return None,
            Err(_) => Err(CliError::failed("the terminal can no longer be read")),
        };
        output::end_input_line();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        Some(line)
    }
}

/// A reader for answers to questions, which are not added to the input history.
pub(super) fn reader() -> LineReader {
    Box::new(|question| match read(&mut Editor::<(), FileHistory>::new().ok()?, question) {
        Ok(LineResult::Typed(line)) => Some(line),
        Ok(LineResult::Stop | LineResult::End) => None,
        Err(error) => {
            output::note(&error.what.unwrap_or_default());
            None
        }
    })
}

fn unreadable(error: ReadlineError) -> CliError {
    CliError::failed(format!("cannot read from the terminal: {error}"))
}

fn read<H: Helper>(editor: &mut Editor<H, FileHistory>, question: &str) -> Result<LineResult, CliError> {
    output::hide_status();
    match editor.readline(question) {
        Ok(line) => Ok(LineResult::Typed(line)),
        Err(ReadlineError::Interrupted) => Ok(LineResult::Stop),
        Err(ReadlineError::Eof) => Ok(LineResult::End),
        Err(error) => Err(unreadable(error)),
    }
}

/// Prints events: text on standard output as it arrives, and each call with its result as one line on standard error.
#[derive(Default)]
pub(super) struct Display {
    /// Whether the cursor is behind text, not at the start of a line.
    is_in_line: bool,
    /// The message that is arriving.
    words: MarkdownStream,
    /// The running calls: id, arguments, and the number of progress lines so far.
    running: Vec<(String, String, usize)>,
}

impl Display {
    /// Prints an event; text only if `with_words`.
    pub(super) fn show(&mut self, event: &AgentEvent, with_words: bool) -> Result<(), CliError> {
        match event {
            AgentEvent::MessageUpdate { delta } if with_words && output::is_styled() => {
                let shown = self.words.push(delta);
                self.print(&shown)?;
            }
            AgentEvent::MessageUpdate { delta } if with_words => {
                self.is_in_line = !delta.ends_with('\n');
                output::part(delta)?;
            }
            AgentEvent::MessageEnd { .. } | AgentEvent::AgentEnd { .. } => {
                let rest = self.words.end();
                self.print(&rest)?;
                self.end_line()?;
            }
            AgentEvent::ToolExecutionStart { tool_call_id, args, .. } => {
                let arguments = truncate(&one_line(&args.to_string()), ARGUMENTS_CHARS);
                self.running.push((tool_call_id.clone(), arguments, 0));
            }
            AgentEvent::ToolExecutionUpdate { tool_call_id, name, partial_result } => {
                let line = format!("  {name}: {}", truncate(&one_line(partial_result), RESULT_CHARS));
                let running = self.running.iter_mut().find(|(id, ..)| id == tool_call_id);
                let count = running.map_or(0, |(.., count)| std::mem::replace(count, count.saturating_add(1)));
                if count < UPDATES_SHOWN {
                    self.end_line()?;
                    output::note(&line);
                } else {
                    output::show_status(&line);
                }
            }
            AgentEvent::ToolExecutionEnd { tool_call_id, name, result, is_error } => {
                output::hide_status();
                self.end_line()?;
                let at = self.running.iter().position(|(id, ..)| id == tool_call_id);
                let arguments = at.map(|at| self.running.swap_remove(at).1).unwrap_or_default();
                output::note(&folded(name, &arguments, result, *is_error));
            }
            _ => {}
        }
        Ok(())
    }

    fn print(&mut self, shown: &[(Look, String)]) -> Result<(), CliError> {
        let Some((_, last)) = shown.last() else { return Ok(()) };
        self.is_in_line = !last.ends_with('\n');
        output::styled_part(shown.iter().map(|(look, text)| (code_of(*look), &**text)))
    }

    fn end_line(&mut self) -> Result<(), CliError> {
        if std::mem::replace(&mut self.is_in_line, false) { output::part("\n") } else { Ok(()) }
    }
}

/// The ANSI style code of a look.
fn code_of(look: Look) -> &'static str {
    match look {
        Look::Plain => "",
        Look::Strong | Look::Heading => "1",
        Look::Emphasised => "3",
        Look::Code => "36",
        Look::Faint => "2",
    }
}

/// A call and its result in one line.
fn folded(name: &str, arguments: &str, result: &str, is_error: bool) -> String {
    let mark = if is_error { "failed: " } else { "" };
    format!("  {name} {arguments} → {mark}{}", truncate(&one_line(result), RESULT_CHARS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_completed_at_the_start_of_a_line() {
        let words = Completions(["/help", "/history", "/skill:cook"].map(str::to_owned).into());
        let history = FileHistory::new();
        let complete = |line: &str| words.complete(line, line.len(), &Context::new(&history)).map(|found| found.1);
        assert_eq!(complete("/h").ok(), Some(vec!["/help".to_owned(), "/history".to_owned()]));
        assert_eq!(complete("/skill:c").ok(), Some(vec!["/skill:cook".to_owned()]));
        assert_eq!(complete("say /h").ok(), Some(Vec::new()));
    }

    #[test]
    fn a_call_is_shown_as_one_line() {
        let line = folded("forecast", "{\"city\":\"Ulm\"}", &"rain\n".repeat(100), false);
        assert!(line.starts_with("  forecast {\"city\":\"Ulm\"} → rain rain") && !line.contains('\n'), "{line}");
        assert!(line.chars().count() < 160);
        assert_eq!(folded("forecast", "{}", "no such city", true), "  forecast {} → failed: no such city");
    }
}
