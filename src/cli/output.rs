//! All output of the program: unsafe characters are replaced, a status line stays at the bottom of a terminal, and a
//! closed output is noticed.
//!
//! Results go to standard output, everything else to standard error. No other file of the program prints.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::panic::PanicHookInfo;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use tracing_subscriber::fmt::MakeWriter;

use super::{Complaint, Outcome};
use crate::base::terminal_text::{printable, printable_json, printable_line};
use crate::log::EventRecord;
use crate::store::export::write_line;

/// What may be written of a message of the log that is longer.
const LOG_CHARS: usize = 8_000;

/// Where lines are printed while a person types one: above it, so that it stays whole.
static TYPED_LINE: Mutex<Option<TypedLine>> = Mutex::new(None);

/// A begun line that has no end yet is printed when it is longer than this, in bytes.
const BEGUN_BYTES: usize = 16 * 1024;

/// Prints whole lines above the line that a person types; tells whether it could.
pub(super) type PrintAbove = Box<dyn FnMut(String) -> bool + Send>;

/// A line that a person is typing.
struct TypedLine {
    print: PrintAbove,
    /// The beginning of a line whose end is not there yet.
    begun: String,
}

impl TypedLine {
    fn add(&mut self, text: &str) {
        self.begun.push_str(text);
        let end = self.begun.rfind('\n').map(|end| end + 1);
        let end = end.or((self.begun.len() > BEGUN_BYTES).then_some(self.begun.len()));
        if let Some(end) = end {
            let rest = self.begun.split_off(end);
            self.print(rest);
        }
    }

    /// Prints what was begun, except for this.
    fn print(&mut self, rest: String) {
        let lines = std::mem::replace(&mut self.begun, rest);
        if !lines.is_empty() && !(self.print)(lines.clone()) {
            let _ = io::stderr().lock().write_all(lines.as_bytes());
        }
    }
}

/// A person types a line from now on: everything is printed above it.
pub(super) fn begin_typed_line(print: PrintAbove) {
    hide_status();
    *typed_line() = Some(TypedLine { print, begun: String::new() });
}

/// The line is typed.
pub(super) fn end_typed_line() {
    if let Some(mut typed) = typed_line().take() {
        typed.print(String::new());
    }
}

fn typed_line() -> MutexGuard<'static, Option<TypedLine>> {
    TYPED_LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints above the line that a person types; tells whether there is one.
fn printed_above(printable: &str) -> bool {
    let mut typed = typed_line();
    typed.as_mut().map(|typed| typed.add(printable)).is_some()
}

/// The status line, while there is one.
static STATUS: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn status() -> MutexGuard<'static, Option<ProgressBar>> {
    STATUS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Prints a result on standard output: one line, or several.
pub(super) fn result(text: &str) -> Result<(), Complaint> {
    if printed_above(&(printable(text).into_owned() + "\n")) {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let written = out.write_all(printable(text).as_bytes()).and_then(|()| out.write_all(b"\n"));
    written.and_then(|()| out.flush()).map_err(|error| unwritable("standard output", &error))
}

/// Prints a part of a result as it comes; the cursor stays behind it.
pub(super) fn part(text: &str) -> Result<(), Complaint> {
    if printed_above(&printable(text)) {
        return Ok(());
    }
    hide_status();
    let mut out = io::stdout().lock();
    let written = out.write_all(printable(text).as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| unwritable("standard output", &error))
}

/// Prints a part of a result as it comes, each stretch with the code that a terminal shows it by; an empty code is
/// none.
pub(super) fn styled_part<'a>(stretches: impl Iterator<Item = (&'a str, &'a str)>) -> Result<(), Complaint> {
    hide_status();
    let style = Style { plain: !is_styled() };
    let text: String = stretches.map(|(code, text)| style.wrap(code, &printable(text))).collect();
    if printed_above(&text) {
        return Ok(());
    }
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| unwritable("standard output", &error))
}

/// Prints a value on standard output, as JSON on one line.
pub(super) fn json(value: &impl Serialize) -> Result<(), Complaint> {
    let json = serde_json::to_string(value).map_err(Complaint::failed)?;
    result(&printable_json(&json))
}

/// Prints what a person should know on standard error, above the status line. Whether that can be read is not the
/// command's concern.
pub(super) fn note(text: &str) {
    note_lines(&printable(text));
}

/// A line of the feed: what happened, the time faint and the name at the head of the sentence bold where colours are
/// shown.
pub(super) fn feed_line(when: &str, who: &str, what: &str) {
    let style = Style::of_terminal();
    let when = style.wrap("2", &printable_line(when));
    let what = match what.strip_prefix(who).filter(|_| !who.is_empty()) {
        Some(rest) => style.wrap("1", &printable_line(who)) + &printable_line(rest),
        None => printable_line(what),
    };
    note_lines(&format!("{when}  {what}"));
}

/// Asks something on the terminal: the cursor stays behind the text.
pub(super) fn ask(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(printable(text).as_bytes()).and_then(|()| err.flush());
}

fn note_lines(printable: &str) {
    if printed_above(&format!("{printable}\n")) {
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

/// Whether a person sees what is printed on standard error.
pub(super) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Whether a person sees questions and can answer.
pub(super) fn can_be_asked() -> bool {
    io::stderr().is_terminal() && io::stdin().is_terminal()
}

/// Asks a question on the terminal that is answered with yes or no; anything but yes is no.
pub(super) fn confirm(question: &str) -> Result<bool, Complaint> {
    ask(question);
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(Complaint::failed)?;
    Ok(matches!(line.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Asks for a text on the terminal: a line that says something.
pub(super) fn answer(question: &str) -> Result<String, Complaint> {
    loop {
        ask(question);
        let mut line = String::new();
        if io::stdin().read_line(&mut line).map_err(Complaint::failed)? == 0 {
            return Err(Complaint::usage("the terminal was closed"));
        }
        if !line.trim().is_empty() {
            return Ok(line.trim().to_owned());
        }
    }
}

/// Shows this at the bottom of the terminal from now on; has no effect if standard error is not a terminal.
pub(super) fn show_status(text: &str) {
    if !is_watched() || typed_line().is_some() {
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

/// Takes the status line away.
pub(super) fn hide_status() {
    if let Some(bar) = status().take() {
        bar.finish_and_clear();
    }
}

/// How terminals show weight. Plain where a person asked for no colours, as <https://no-color.org> has it.
struct Style {
    plain: bool,
}

impl Style {
    fn of_terminal() -> Self {
        Self { plain: !is_watched() || !has_styles() }
    }

    fn wrap(&self, code: &str, text: &str) -> String {
        if self.plain || code.is_empty() || text.is_empty() {
            text.to_owned()
        } else {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        }
    }
}

/// Whether terminals show weight and colour here.
fn has_styles() -> bool {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !is_refused && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Whether standard output is printed with styles and colours.
pub(super) fn is_styled() -> bool {
    io::stdout().is_terminal() && has_styles()
}

/// Where a command writes lines for other programs: a file, or standard output where it is called `-`.
pub(super) struct Sink {
    name: String,
    out: BufWriter<Box<dyn Write>>,
}

impl Sink {
    /// Opens it.
    pub(super) fn open(path: &Path) -> Result<Self, Complaint> {
        if is_standard_output(path) {
            return Ok(Self { name: "standard output".into(), out: BufWriter::new(Box::new(io::stdout())) });
        }
        let name = path.display().to_string();
        let file = File::create(path).map_err(|error| unwritable(&name, &error))?;
        Ok(Self { name, out: BufWriter::new(Box::new(file)) })
    }

    /// Writes events, one per line, and flushes them so that readers have all of them when this returns.
    pub(super) fn write(&mut self, events: &[EventRecord]) -> Result<(), Complaint> {
        if events.is_empty() {
            return Ok(());
        }
        let written = events.iter().try_for_each(|event| write_line(&mut self.out, event));
        written.and_then(|()| self.out.flush()).map_err(|error| unwritable(&self.name, &error))
    }

    /// Where bytes go that are fit for printing as they are; see [`Self::failed`] for what becomes of an error.
    pub(super) fn writer(&mut self) -> &mut impl Write {
        &mut self.out
    }

    /// The complaint about an error of [`Self::writer`].
    pub(super) fn failed(&self, error: &io::Error) -> Complaint {
        unwritable(&self.name, error)
    }
}

/// Whether this names standard output.
pub(super) fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// A reader that has read enough is no failure; a disk that is full is one.
fn unwritable(name: &str, error: &io::Error) -> Complaint {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Complaint::reader_gone();
    }
    let complaint = Complaint::failed(format!("{name} could not be written: {error}"));
    if error.kind() == io::ErrorKind::StorageFull { complaint.hint("free up disk space") } else { complaint }
}

/// Prints why a command failed. Returns its exit status.
pub(super) fn ending_of(outcome: Outcome) -> super::Ending {
    hide_status();
    match outcome {
        Ok(ending) => ending,
        Err(complaint) => {
            if let Some(what) = &complaint.what {
                note(&format!("error: {what}"));
            }
            if let Some(hint) = &complaint.hint {
                note(&format!("hint: {hint}"));
            }
            complaint.ending
        }
    }
}

/// Where the program's own log goes: standard error, made printable.
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
        let short: String = text.trim_end().chars().take(LOG_CHARS).collect();
        note(&short);
        Ok(message.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Says what a fault of the program is and where, in place of the usual words, which are printed as they are.
pub(super) fn print_panic(panic: &PanicHookInfo<'_>) {
    let told = panic.payload_as_str().unwrap_or("for an unknown reason");
    let place = panic.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    let mut text = format!("internal error in thread {thread}: {told}{place}; please report it");
    let trace = Backtrace::capture();
    if trace.status() == BacktraceStatus::Captured {
        text.push_str(&format!("\n{trace}"));
    }
    // The lock of the status line may be held by the thread that panicked.
    let _ = writeln!(io::stderr(), "{}", printable(&text));
}

/// Where bytes go that are another program's words.
pub fn bytes() -> impl std::io::Write + Send + 'static {
    std::io::stdout()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Ending;

    #[test]
    fn only_whole_lines_are_printed_above_the_line_that_is_typed() {
        let (sender, printed) = crossbeam_channel::bounded(16);
        let print: PrintAbove = Box::new(move |lines| sender.send(lines).is_ok());
        let mut typed = TypedLine { print, begun: String::new() };
        typed.add("It ");
        typed.add("rains.\nIt ");
        typed.add("snows.");
        assert_eq!(printed.try_iter().collect::<Vec<_>>(), ["It rains.\n"]);
        typed.print(String::new());
        assert_eq!(printed.try_iter().collect::<Vec<_>>(), ["It snows."]);
        typed.add(&"x".repeat(BEGUN_BYTES + 1));
        assert_eq!(printed.try_iter().count(), 1, "what has no end is bounded");
    }

    #[test]
    fn a_reader_that_is_gone_ends_quietly_and_a_full_disk_says_so() {
        let gone = unwritable("standard output", &io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((gone.ending, gone.what), (Ending::ReaderGone, None));
        let full = unwritable("events.jsonl", &io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.ending, Ending::Failed);
        assert!(full.what.is_some_and(|what| what.contains("events.jsonl")) && full.hint.is_some());
    }
}
