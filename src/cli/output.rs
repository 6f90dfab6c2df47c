//! All output of the program. It replaces unsafe characters, keeps a status line at the bottom of the terminal, and
//! detects closed pipes.
//!
//! Results go to standard output, everything else to standard error. No other module prints.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::panic::PanicHookInfo;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use tracing_subscriber::fmt::MakeWriter;

use super::{CliError, CliResult};
use crate::base::terminal_text::{printable, printable_json, printable_line};
use crate::log::EventRecord;
use crate::store::export::write_line;

/// The number of columns of text that is not printed on a terminal.
const USUAL_WIDTH: usize = 120;
/// The minimum and maximum number of columns of text that is broken into rows.
const MIN_WIDTH: usize = 40;
const MAX_WIDTH: usize = 160;
/// Longer log messages are cut to this many characters.
const MAX_LOG_CHARS: usize = 8_000;

/// While a person types a line, output is printed above it, so that it stays intact.
static INPUT_LINE: Mutex<Option<InputLine>> = Mutex::new(None);

/// An incomplete line is printed once it is longer than this, in bytes.
const MAX_INCOMPLETE_BYTES: usize = 16 * 1024;

/// Prints complete lines above the line that a person is typing. Returns whether that worked.
pub(super) type PrintAbove = Box<dyn FnMut(String) -> bool + Send>;

/// A line that a person is typing.
struct InputLine {
    print: PrintAbove,
    /// The part of an incomplete line that has arrived.
    incomplete: String,
}

impl InputLine {
    fn add(&mut self, text: &str) {
        self.incomplete.push_str(text);
        let end = self.incomplete.rfind('\n').map(|end| end + 1);
        let end = end.or((self.incomplete.len() > MAX_INCOMPLETE_BYTES).then_some(self.incomplete.len()));
        if let Some(end) = end {
            let rest = self.incomplete.split_off(end);
            self.print(rest);
        }
    }

    /// Prints the buffered text, and keeps `rest` in the buffer.
    fn print(&mut self, rest: String) {
        let lines = std::mem::replace(&mut self.incomplete, rest);
        if !lines.is_empty() && !(self.print)(lines.clone()) {
            let _ = io::stderr().lock().write_all(lines.as_bytes());
        }
    }
}

/// Prints everything above the input line until [`end_input_line`] is called.
pub(super) fn begin_input_line(print: PrintAbove) {
    hide_status();
    *input_line() = Some(InputLine { print, incomplete: String::new() });
}

/// Ends what [`begin_input_line`] began, and prints what is still buffered.
pub(super) fn end_input_line() {
    if let Some(mut typed) = input_line().take() {
        typed.print(String::new());
    }
}

fn input_line() -> MutexGuard<'static, Option<InputLine>> {
    INPUT_LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints above the line that a person is typing. Returns `false` if there is none.
fn print_above(printable: &str) -> bool {
    let mut typed = input_line();
    typed.as_mut().map(|typed| typed.add(printable)).is_some()
}

/// The status line, if one is shown.
static STATUS: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn status() -> MutexGuard<'static, Option<ProgressBar>> {
    STATUS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints a result and a newline on standard output.
pub(super) fn result(text: &str) -> Result<(), CliError> {
    if print_above(&(printable(text).into_owned() + "\n")) {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let written = out.write_all(printable(text).as_bytes()).and_then(|()| out.write_all(b"\n"));
    written.and_then(|()| out.flush()).map_err(|error| write_error("standard output", &error))
}

/// Prints a result and a newline on standard output; in a pager, if that is a terminal which it does not fit.
pub(super) fn long_result(text: &str) -> Result<(), CliError> {
    let fits = |(rows, columns): (u16, u16)| {
        let rows_of = |line: &str| line.chars().count() / usize::from(columns).max(1) + 1;
        text.lines().map(rows_of).sum::<usize>() < usize::from(rows)
    };
    let size = console::Term::stdout().size_checked().filter(|_| io::stdout().is_terminal());
    match size {
        Some(size) if !fits(size) && page(&printable(text)) => Ok(()),
        _ => result(text),
    }
}

/// Shows a printable text in the program of `PAGER`, or `less`. Returns `false` if it could not be started.
#[expect(clippy::disallowed_methods, reason = "the person chose this program")]
fn page(printable: &str) -> bool {
    let wanted = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
    let mut pager = match &wanted {
        // A person may give options, as other programs allow.
        Some(line) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", line]);
            shell
        }
        None => Command::new("less"),
    };
    if std::env::var_os("LESS").is_none() {
        pager.env("LESS", "FRX");
    }
    let Ok(mut pager) = pager.env("LESSCHARSET", "utf-8").stdin(Stdio::piped()).spawn() else { return false };
    if let Some(mut input) = pager.stdin.take() {
        // A person may close the pager before the end.
        let _ = input.write_all(printable.as_bytes()).and_then(|()| input.write_all(b"\n"));
    }
    pager.wait().is_ok_and(|status| wanted.is_none() || status.success())
}

/// The number of columns for text on the terminal; a usual one if there is none.
pub(super) fn width() -> usize {
    let columns = console::Term::stderr().size_checked().map(|(_, columns)| usize::from(columns));
    columns.filter(|columns| *columns > 0).unwrap_or(USUAL_WIDTH).clamp(MIN_WIDTH, MAX_WIDTH)
}

/// Prints a part of a result as it arrives, without a newline.
pub(super) fn part(text: &str) -> Result<(), CliError> {
    if print_above(&printable(text)) {
        return Ok(());
    }
    hide_status();
    let mut out = io::stdout().lock();
    let written = out.write_all(printable(text).as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| write_error("standard output", &error))
}

/// Prints a part of a result as it arrives, as pairs of an ANSI style code (empty for plain text) and a text.
pub(super) fn styled_part<'a>(stretches: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(), CliError> {
    hide_status();
    let style = Style { plain: !is_styled() };
    let text: String = stretches.map(|(code, text)| style.wrap(code, &printable(text))).collect();
    if print_above(&text) {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| write_error("standard output", &error))
}

/// Prints a value on standard output, as JSON on one line.
pub(super) fn json(value: &impl Serialize) -> Result<(), CliError> {
    let json = serde_json::to_string(value).map_err(CliError::failed)?;
    result(&printable_json(&json))
}

/// Prints a message on standard error, above the status line. Write errors are ignored.
pub(super) fn note(text: &str) {
    note_lines(&printable(text));
}

/// Prints a line of the event feed: the time in faint text, and the name at the start of the sentence in bold.
pub(super) fn feed_line(when: &str, who: &str, what: &str) {
    let style = Style::of_terminal();
    let when = style.wrap("2", &printable_line(when));
    let what = match what.strip_prefix(who).filter(|_| !who.is_empty()) {
        Some(rest) => style.wrap("1", &printable_line(who)) + &printable_line(rest),
        None => printable_line(what),
    };
    note_lines(&format!("{when}  {what}"));
}

/// Prints a prompt on the terminal, without a newline.
pub(super) fn ask(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(printable(text).as_bytes()).and_then(|()| err.flush());
}

fn note_lines(printable: &str) {
    if print_above(&format!("{printable}\n")) {
        return;
    }
    match status().as_ref() {
        Some(bar) => bar.println(printable),
        None => {
            let mut err = io::stderr().lock();
            let _ = err.write_all(printable.as_bytes()).and_then(|()| err.write_all(b"\n"));
        }
    }
}

/// Whether standard error is a terminal.
pub(super) fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Whether a person can be asked: standard error and standard input are terminals.
pub(super) fn is_interactive() -> bool {
    io::stderr().is_terminal() && io::stdin().is_terminal()
}

/// Asks a yes-or-no question on the terminal. Anything but yes counts as no.
pub(super) fn confirm(question: &str) -> Result<bool, CliError> {
    ask(question);
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(CliError::failed)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Asks for a line of text on the terminal, until one is not empty.
pub(super) fn answer(question: &str) -> Result<String, CliError> {
    loop {
        ask(question);
        let mut line = String::new();
        if io::stdin().read_line(&mut line).map_err(CliError::failed)? == 0 {
            return Err(CliError::usage("the terminal was closed"));
        }
        if !line.trim().is_empty() {
            return Ok(line.trim().to_owned());
        }
    }
}

/// Shows `text` in the status line; does nothing if standard error is not a terminal.
pub(super) fn show_status(text: &str) {
    if !stderr_is_terminal() || input_line().is_some() {
        return;
    }
    let mut status = status();
    let bar = status.get_or_insert_with(|| {
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar
    });
    bar.set_message(printable_line(text));
}

/// Removes the status line.
pub(super) fn hide_status() {
    if let Some(bar) = status().take() {
        bar.finish_and_clear();
    }
}

/// ANSI styles. Plain if the user disabled colours, see <https://no-color.org>.
struct Style {
    plain: bool,
}

impl Style {
    fn of_terminal() -> Self {
        Self { plain: !stderr_is_terminal() || !has_styles() }
    }

    fn wrap(&self, code: &str, text: &str) -> String {
        if self.plain || code.is_empty() || text.is_empty() {
            text.to_owned()
        } else {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        }
    }
}

/// Whether the environment allows styles: `NO_COLOR` is not set, and `TERM` is not `dumb`.
fn has_styles() -> bool {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether standard output is printed with styles and colours.
pub(super) fn is_styled() -> bool {
    io::stdout().is_terminal() && has_styles()
}

/// Output for other programs: a file, or standard output if the path is `-`.
pub(super) struct Sink {
    name: String,
    out: BufWriter<Box<dyn Write>>,
}

impl Sink {
    /// Creates the file, or opens standard output.
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        if is_standard_output(path) {
            return Ok(Self { name: "standard output".into(), out: BufWriter::new(Box::new(io::stdout())) });
        }
        let name = path.display().to_string();
        let file = File::create(path).map_err(|error| write_error(&name, &error))?;
        Ok(Self { name, out: BufWriter::new(Box::new(file)) })
    }

    /// Writes events as JSON Lines and flushes them.
    pub(super) fn write(&mut self, events: &[EventRecord]) -> Result<(), CliError> {
        if events.is_empty() {
            return Ok(());
        }
        let written = events.iter().try_for_each(|event| write_line(&mut self.out, event));
        written.and_then(|()| self.out.flush()).map_err(|error| write_error(&self.name, &error))
    }

    /// The writer for bytes that are already printable. Convert its errors with [`Self::failed`].
    pub(super) fn writer(&mut self) -> &mut impl Write {
        &mut self.out
    }

    /// Converts an error of [`Self::writer`].
    pub(super) fn failed(&self, error: &io::Error) -> CliError {
        write_error(&self.name, error)
    }
}

/// Whether `path` is `-`, which means standard output.
pub(super) fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A closed pipe is not a failure; a full disk is one.
fn write_error(name: &str, error: &io::Error) -> CliError {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return CliError::reader_gone();
    }
    let failed = CliError::failed(format!("{name} could not be written: {error}"));
    if error.kind() == io::ErrorKind::StorageFull { failed.hint("free up disk space") } else { failed }
}

/// Prints why a command failed, if it did. Returns its exit status.
pub(super) fn finish(outcome: CliResult) -> super::ExitStatus {
    hide_status();
    match outcome {
        Ok(exit) => exit,
        Err(error) => {
            if let Some(what) = &error.what {
                note(&format!("error: {what}"));
            }
            if let Some(hint) = &error.hint {
                note(&format!("hint: {hint}"));
            }
            error.exit
        }
    }
}

/// Writes the program's log to standard error, with unsafe characters replaced.
pub(super) struct LogWriter;

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Self
    }
}

impl Write for LogWriter {
    fn write(&mut self, message: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(message);
        let short: String = text.trim_end().chars().take(MAX_LOG_CHARS).collect();
        note(&short);
        Ok(message.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The panic hook: prints the message and the location with unsafe characters replaced, which the default hook does
/// not.
pub(super) fn print_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or("for an unknown reason");
    let place = panic.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    let mut text = format!("internal error in thread {thread}: {message}{place}; please report it");
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        text.push_str(&format!("\n{trace}"));
    }
    // The lock of the status line may be held by the thread that panicked.
    let _ = writeln!(io::stderr(), "{}", printable(&text));
}

/// Returns standard output, for bytes that are relayed unchanged from another program.
pub fn raw_stdout() -> impl std::io::Write + Send + 'static {
    std::io::stdout()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::ExitStatus;

    #[test]
    fn only_whole_lines_are_printed_above_the_line_that_is_typed() {
        let (sender, printed) = crossbeam_channel::bounded(16);
        let print: PrintAbove = Box::new(move |lines| sender.send(lines).is_ok());
        let mut typed = InputLine { print, incomplete: String::new() };
        typed.add("It ");
        typed.add("rains.\nIt ");
        typed.add("snows.");
        assert_eq!(printed.try_iter().collect::<Vec<_>>(), ["It rains.\n"]);
        typed.print(String::new());
        assert_eq!(printed.try_iter().collect::<Vec<_>>(), ["It snows."]);
        typed.add(&"x".repeat(MAX_INCOMPLETE_BYTES + 1));
        assert_eq!(printed.try_iter().count(), 1, "what has no end is bounded");
    }

    #[test]
    fn a_reader_that_is_gone_ends_quietly_and_a_full_disk_says_so() {
        let gone = write_error("standard output", &io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((gone.exit, gone.what), (ExitStatus::ReaderGone, None));
        let full = write_error("events.jsonl", &io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.exit, ExitStatus::Failed);
        assert!(full.what.is_some_and(|what| what.contains("events.jsonl")) && full.hint.is_some());
    }
}
