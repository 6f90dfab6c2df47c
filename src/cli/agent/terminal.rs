//! The terminal of a chat: an input line with history and completion, and the agent's streamed output.
//!
//! The line is edited by rustyline. reedline can do the same and more, but it brings crossterm, mio and chrono, which
//! change how crates are built that the engine shares, and it takes signals for itself. rustyline needs a few small
//! crates, leaves Ctrl-C to this program while an answer is made, and prints above a line that is being typed, which is
//! what an agent that wakes up at the prompt needs.

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
use super::super::{Complaint, output};
use super::events::AgentEvent;
use super::markdown::{Look, MarkdownStream};
use crate::base::text::{one_line, truncate};

/// Lines that are remembered.
const LINES_REMEMBERED: usize = 1_000;
/// The maximum length of a call's arguments as shown, in characters.
const ARGUMENTS_CHARS: usize = 60;
/// So many lines of what a call says while it runs are shown; later ones only until the next.
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

/// Where a person types. The line editor is there while it waits for a line and not between: it takes Ctrl-C for
/// itself, which stops an answer while one is made.
pub(super) struct Terminal {
    /// The file of the lines that were typed before.
    remembered: PathBuf,
}

/// The words that Tab completes at the beginning of a line: commands and skills.
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
    /// One that remembers lines in a file.
    pub(super) fn new(remembered: PathBuf) -> Self {
        Self { remembered }
    }

    /// Begins to read a line in which these words are completed, on a thread of its own. Until it is typed, everything
    /// is printed above it.
    pub(super) fn read(&self, words: Vec<String>) -> Result<TypedLine, Complaint> {
        let remembered = self.remembered.clone();
        let (typed, line) = bounded(1);
        let (ready, begun) = bounded(1);
        let read = move || {
            let line = read_line(&remembered, Completions(words), &ready);
            let _ = typed.send(line);
        };
        let thread = std::thread::Builder::new().name("terminal".into()).spawn(read).map_err(Complaint::failed)?;
        // Where nothing can be printed above, it is printed as it comes.
        if let Ok(Some(above)) = begun.recv() {
            output::begin_typed_line(above);
        }
        Ok(TypedLine { line, thread: Some(thread) })
    }
}

/// Reads a line, and first tells what prints above it, if anything does.
fn read_line(
    remembered: &Path,
    words: Completions,
    ready: &Sender<Option<output::PrintAbove>>,
) -> Result<LineResult, Complaint> {
    let mut editor = editor(remembered, words)?;
    let above = editor
        .create_external_printer()
        .ok()
        .map(|mut printer| -> output::PrintAbove { Box::new(move |lines| printer.print(lines).is_ok()) });
    let _ = ready.send(above);
    let line = read(&mut editor, "> ")?;
    let saved = matches!(line, LineResult::Typed(_)).then(|| editor.save_history(remembered));
    // Whoever prints above the line may wait for the editor, and this would wait for them.
    drop(editor);
    if let Some(Err(error)) = saved {
        tracing::warn!("the input history could not be saved: {error}");
    }
    Ok(line)
}

fn editor(remembered: &Path, words: Completions) -> Result<Editor<Completions, FileHistory>, Complaint> {
    let config = Config::builder().completion_type(CompletionType::List).auto_add_history(true);
    let config = config.max_history_size(LINES_REMEMBERED).map_err(unreadable)?.build();
    let mut editor = Editor::<Completions, FileHistory>::with_config(config).map_err(unreadable)?;
    editor.set_helper(Some(words));
    if remembered.exists()
        && let Err(error) = editor.load_history(remembered)
    {
        tracing::warn!("the input history could not be read: {error}");
    }
    Ok(editor)
}

/// A line that is being typed.
pub(super) struct TypedLine {
    line: Receiver<Result<LineResult, Complaint>>,
    thread: Option<JoinHandle<()>>,
}

impl TypedLine {
    /// The line, once it is typed. The terminal is as it was before then.
    pub(super) fn poll(&mut self) -> Option<Result<LineResult, Complaint>> {
        let line = match self.line.try_recv() {
            Ok(line) => line,
            Err(crossbeam_channel::TryRecvError::Empty) => return None,
            Err(_) => Err(Complaint::failed("the terminal can no longer be read")),
        };
        output::end_typed_line();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        Some(line)
    }
}

/// Reads answers to questions, which nothing remembers.
pub(super) fn reader() -> LineReader {
    Box::new(|question| match read(&mut Editor::<(), FileHistory>::new().ok()?, question) {
        Ok(LineResult::Typed(line)) => Some(line),
        Ok(LineResult::Stop | LineResult::End) => None,
        Err(complaint) => {
            output::note(&complaint.what.unwrap_or_default());
            None
        }
    })
}

fn unreadable(error: ReadlineError) -> Complaint {
    Complaint::failed(format!("cannot read from the terminal: {error}"))
}

fn read<H: Helper>(editor: &mut Editor<H, FileHistory>, question: &str) -> Result<LineResult, Complaint> {
    output::hide_status();
    match editor.readline(question) {
        Ok(line) => Ok(LineResult::Typed(line)),
        Err(ReadlineError::Interrupted) => Ok(LineResult::Stop),
        Err(ReadlineError::Eof) => Ok(LineResult::End),
        Err(error) => Err(unreadable(error)),
    }
}

/// Prints events: words on standard output as they arrive, and each call with its result in one line on standard error.
#[derive(Default)]
pub(super) struct Display {
    /// Whether the cursor is behind words.
    is_in_line: bool,
    /// The words that are coming.
    words: MarkdownStream,
    /// The arguments of the running calls, by their ids, and how many lines each has said.
    running: Vec<(String, String, usize)>,
}

impl Display {
    /// Shows an event, words only where `with_words`.
    pub(super) fn show(&mut self, event: &AgentEvent, with_words: bool) -> Result<(), Complaint> {
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
                let said = format!("  {name}: {}", truncate(&one_line(partial_result), RESULT_CHARS));
                let running = self.running.iter_mut().find(|(id, ..)| id == tool_call_id);
                let count = running.map_or(0, |(.., count)| std::mem::replace(count, count.saturating_add(1)));
                if count < UPDATES_SHOWN {
                    self.end_line()?;
                    output::note(&said);
                } else {
                    output::show_status(&said);
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

    fn print(&mut self, shown: &[(Look, String)]) -> Result<(), Complaint> {
        let Some((_, last)) = shown.last() else { return Ok(()) };
        self.is_in_line = !last.ends_with('\n');
        output::styled_part(shown.iter().map(|(look, text)| (code_of(*look), &**text)))
    }

    fn end_line(&mut self) -> Result<(), Complaint> {
        if std::mem::replace(&mut self.is_in_line, false) { output::part("\n") } else { Ok(()) }
    }
}

/// The code that a terminal shows a look by.
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
    fn what_was_begun_is_completed_at_the_beginning_of_a_line() {
        let words = Completions(["/help", "/history", "/skill:cook"].map(str::to_owned).into());
        let history = FileHistory::new();
        let complete = |line: &str| words.complete(line, line.len(), &Context::new(&history)).map(|found| found.1);
        assert_eq!(complete("/h").ok(), Some(vec!["/help".to_owned(), "/history".to_owned()]));
        assert_eq!(complete("/skill:c").ok(), Some(vec!["/skill:cook".to_owned()]));
        assert_eq!(complete("say /h").ok(), Some(Vec::new()));
    }

    #[test]
    fn a_call_is_one_line_however_much_it_says() {
        let line = folded("forecast", "{\"city\":\"Ulm\"}", &"rain\n".repeat(100), false);
        assert!(line.starts_with("  forecast {\"city\":\"Ulm\"} → rain rain") && !line.contains('\n'), "{line}");
        assert!(line.chars().count() < 160);
        assert_eq!(folded("forecast", "{}", "no such city", true), "  forecast {} → failed: no such city");
    }
}
