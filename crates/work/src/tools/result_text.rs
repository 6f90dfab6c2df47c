//! The results of tools as text for the model. Content of files is data: it is truncated, and omissions are stated.

use std::borrow::Cow;

use super::order::{ToolImage, ToolOutput};
use super::plan::{Excerpt, Work, agent_file_name};
use crate::base::{Id, text};
use crate::mind::CallEnd;
use crate::workspace::vfs::{
    ChangedInWorktree, FileAnswer, FileFailure, FileOperation, FileResult, TextMatch, Unsearched, WorktreeChanges,
};

/// The maximum length of a file shown at once, in characters: about ten thousand tokens.
pub const MAX_READ_CHARS: usize = 40_000;
/// The maximum length of a file returned as data, in characters.
const MAX_DATA_CHARS: usize = 120_000;
/// The maximum length of lists of paths and matches, in characters.
pub const MAX_LIST_CHARS: usize = 12_000;
/// A text counts as binary if it has at least this number of unprintable characters, and at least one in `ODD_SHARE`.
const MIN_ODD_CHARS: usize = 8;
const ODD_SHARE: usize = 20;
/// How many images of a result are named one by one.
const MAX_IMAGES_NAMED: usize = 8;
/// How many agents are suggested if a name is unknown, besides the one with the most similar name.
const MAX_AGENTS_SUGGESTED: usize = 20;
/// The maximum length of reasons from elsewhere, in characters.
const MAX_REASON_CHARS: usize = 2_000;
/// The maximum length of shown paths, in characters.
const MAX_PATH_CHARS: usize = 400;

/// The result of a file order.
pub fn files(work: Option<&Work>, result: &Result<FileAnswer, FileFailure>) -> String {
    let answer = match result {
        Ok(answer) => answer,
        Err(failure) => return error(&failure.what),
    };
    let (operation, excerpt) = match work {
        Some(Work::File { operation, excerpt }) => (Some(operation), *excerpt),
        _ => (None, None),
    };
    match answer {
        FileAnswer::Text { content, .. } => match excerpt.filter(|excerpt| excerpt.as_data) {
            Some(excerpt) => data(content, excerpt),
            None => shown(content, excerpt),
        },
        FileAnswer::Listing { paths, more, prefixes } => {
            let prefix = match operation {
                Some(FileOperation::List { prefix }) => prefix.as_str(),
                _ => "",
            };
            listing(prefix, paths, *more, prefixes)
        }
        FileAnswer::Lines { content, next_line, count, .. } => {
            part(content, (*next_line, *count), excerpt.map_or(1, |excerpt| excerpt.first_line))
        }
        FileAnswer::Matches { matches, more, unsearched } => {
            found(operation, matches, *more) + &not_searched(unsearched)
        }
        FileAnswer::Changed { done, .. } => changed(operation, done),
        FileAnswer::Edited { done: Some(done), .. } => changed(operation, done),
        FileAnswer::Edited { done: None, .. } => "Unchanged: the file already has this content".to_owned(),
        FileAnswer::NotEdited { why, .. } => format!("Nothing was changed: {why}"),
        FileAnswer::Folder { path, is_new: true } => format!("Created the folder {}", quoted(path)),
        FileAnswer::Folder { path, .. } => format!("The folder {} already exists", quoted(path)),
        FileAnswer::Committed => "Committed.".to_owned(),
        FileAnswer::Merged { done, crossed, left_out } => merged(done, crossed, left_out),
        FileAnswer::Unchanged { path, .. } => format!("Unchanged: {} already has exactly this content", quoted(path)),
    }
}

/// The note that an element refused part of a changed file; empty if it refused nothing. The file is then written again
/// from the element.
pub fn refused_part(reasons: &[String]) -> String {
    if reasons.is_empty() {
        return String::new();
    }
    let reasons = text::truncate(&unbroken(&reasons.join("; ")), MAX_REASON_CHARS);
    format!("\nThis file belongs to an element of the room, which did not accept all of it: {reasons}. Read it again.")
}

/// The error for an agent that proposes changes without having made any that can be merged.
pub fn nothing_to_propose(changes: Option<&WorktreeChanges>) -> String {
    let left_out = |file: &ChangedInWorktree| Some(format!("{}: {}", quoted(&file.path), file.left_out.as_ref()?));
    let files: Vec<String> = changes.iter().flat_map(|changes| &changes.files).filter_map(left_out).collect();
    if files.is_empty() {
        return "Error: there are no changes in your copy to propose.".to_owned();
    }
    let files = text::truncate(&unbroken(&files.join("; ")), MAX_REASON_CHARS);
    format!("Error: nothing in your copy can be proposed. Never merged, and still only in your copy: {files}")
}

/// The result of a proposal that a person allowed.
fn merged(done: &[FileResult], crossed: &[String], left_out: &[String]) -> String {
    let files = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    let mut words = match (done.len(), crossed.len()) {
        (0, 0) => "Your copy had nothing new for the workspace.".to_owned(),
        (changed, 0) => format!("The person accepted your changes: {} of the workspace changed.", files(changed)),
        (0, _) => "Error: your changes were not merged, because they conflict with the workspace. The task is not \
                   done: a person has to decide which version is kept. Say so in your answer."
            .to_owned(),
        (changed, left) => format!(
            "Error: only a part of your changes was merged: {} of the workspace changed, but {} of your copy conflict \
             with the workspace. The task is not done: a person has to decide which version is kept. Say so in your \
             answer.",
            files(changed),
            files(left)
        ),
    };
    for (head, files) in [("Not merged", crossed), ("Never merged", left_out)] {
        if !files.is_empty() {
            let files = text::truncate(&unbroken(&files.join("; ")), MAX_REASON_CHARS);
            words.push_str(&format!("\n{head}, and still only in your copy: {files}"));
        }
    }
    words
}

fn changed(operation: Option<&FileOperation>, done: &FileResult) -> String {
    match done {
        FileResult::Written { path, chars, .. } => {
            let verb = match operation {
                Some(FileOperation::Edit { .. }) => "Edited",
                Some(FileOperation::Append { .. }) => {
                    return format!("Appended to {} ({chars} chars now)", quoted(path));
                }
                Some(FileOperation::Restore { .. }) => "Restored",
                _ => "Written to",
            };
            format!("{verb} {} ({chars} chars)", quoted(path))
        }
        FileResult::Deleted { path, .. } => format!("Deleted {}", quoted(path)),
        FileResult::Renamed { from, to, .. } => format!("Renamed {} to {}", quoted(from), quoted(to)),
    }
}

fn listing(prefix: &str, paths: &[String], more: usize, prefixes: &[String]) -> String {
    if paths.is_empty() && more == 0 {
        let folder = |prefix: &String| if prefix.ends_with('/') { prefix.clone() } else { format!("{prefix}/") };
        let folders: Vec<String> = prefixes.iter().map(folder).collect();
        let (folders, _) = list(&folders);
        return format!("No files match prefix {}. Existing prefixes: {folders}", quoted(prefix));
    }
    let (listed, unlisted) = list(paths);
    match unlisted + more {
        0 => listed,
        more => format!("{listed}\n[… cut, {more} more files; list with a longer prefix]"),
    }
}

/// Joins quoted paths up to the length limit; returns them and the number of remaining ones.
fn list(paths: &[String]) -> (String, usize) {
    let mut chars = 0;
    let mut named = Vec::new();
    for path in paths {
        let path = quoted(path);
        chars += path.chars().count() + 2;
        if chars > MAX_LIST_CHARS {
            break;
        }
        named.push(path);
    }
    (format!("[{}]", named.join(", ")), paths.len() - named.len())
}

fn found(operation: Option<&FileOperation>, matches: &[TextMatch], more: usize) -> String {
    if matches.is_empty() && more == 0 {
        return match operation {
            Some(FileOperation::Search { text: Some(text), glob: Some(glob) }) => {
                format!("Nothing found for {} in {}", quoted(text), quoted(glob))
            }
            Some(FileOperation::Search { text: Some(text), .. }) => format!("Nothing found for {}", quoted(text)),
            Some(FileOperation::Search { glob: Some(glob), .. }) => format!("No files match {}", quoted(glob)),
            _ => "Nothing found".to_owned(),
        };
    }
    let mut lines = String::new();
    let mut chars = 0;
    let mut left_out = more;
    for found in matches {
        let line = match found.line {
            0 => unbroken(&found.path),
            number => format!("{}:{number}: {}", unbroken(&found.path), unbroken(&found.text)),
        };
        chars += line.chars().count() + 1;
        if chars > MAX_LIST_CHARS || left_out > more {
            left_out += 1;
            continue;
        }
        lines += &line;
        lines.push('\n');
    }
    lines.truncate(lines.trim_end().len());
    if left_out > 0 {
        lines += &format!("\n[… cut, {left_out} more; search for something narrower]");
    }
    lines
}

/// A line with the files that a search skipped; empty if it skipped none.
fn not_searched(unsearched: &Unsearched) -> String {
    if unsearched.is_empty() {
        return String::new();
    }
    let reasons = [
        (unsearched.too_large, "too large; read in parts with from_line"),
        (unsearched.not_text, "not text"),
        (unsearched.unreadable, "cannot be read"),
    ];
    let reasons: Vec<String> =
        reasons.iter().filter(|(count, _)| *count > 0).map(|(count, why)| format!("{count} {why}")).collect();
    let mut words = String::new();
    if unsearched.count() > 0 {
        let (named, _) = list(&unsearched.named);
        let more = match unsearched.count().saturating_sub(unsearched.named.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let (count, reasons) = (unsearched.count(), reasons.join(", "));
        words += &format!("\n[not searched: {count} files ({reasons}): {named}{more}]");
    }
    if unsearched.has_unknown_folders {
        words += "\n[not searched: folders beyond those that the workspace tracks]";
    }
    words
}

/// A part of a large file, with how to read the rest.
fn part(content: &str, (next_line, count): (Option<usize>, Option<usize>), first_line: usize) -> String {
    match (next_line, count) {
        (None, Some(count)) if first_line > count => {
            format!("[the file has {count} lines; there is no line {first_line}]")
        }
        (None, _) => content.to_owned(),
        (Some(next), _) => {
            let line_break = if content.ends_with('\n') { "" } else { "\n" };
            format!("{content}{line_break}[… a large file; continue with from_line {next}]")
        }
    }
}

/// The requested lines as data: all of them, or an error if they are too long.
fn data(content: &str, excerpt: Excerpt) -> String {
    let lines = content.split_inclusive('\n').skip(excerpt.first_line.max(1) - 1);
    let wanted: String = lines.take(excerpt.lines.unwrap_or(usize::MAX)).collect();
    match wanted.chars().count() {
        chars if chars > MAX_DATA_CHARS => error(&format!(
            "this is {chars} characters, but at most {MAX_DATA_CHARS} can be returned at once; read it in parts, \
             using line and limit"
        )),
        _ => serde_json::json!({ "content": wanted }).to_string(),
    }
}

/// The requested lines up to the length limit, with how to read the rest.
fn shown(content: &str, excerpt: Option<Excerpt>) -> String {
    if content.is_empty() {
        return "[the file is empty]".to_owned();
    }
    let first_line = excerpt.map_or(1, |excerpt| excerpt.first_line.max(1));
    let last_line = excerpt.and_then(|excerpt| excerpt.lines).map(|lines| first_line.saturating_add(lines.max(1) - 1));
    let mut shown = String::new();
    let mut chars = 0;
    let mut next_line = None;
    let mut count = 0;
    for (index, line) in content.split_inclusive('\n').enumerate() {
        let number = index + 1;
        count = number;
        if number < first_line || next_line.is_some() {
            continue;
        }
        if last_line.is_some_and(|last| number > last) {
            next_line = Some(number);
            continue;
        }
        let line_chars = line.chars().count();
        if chars + line_chars > MAX_READ_CHARS {
            if chars == 0 {
                // A single line beyond the limit: only its beginning can be shown.
                shown.extend(line.chars().take(MAX_READ_CHARS));
                let rest = line_chars - MAX_READ_CHARS;
                shown += &format!("\n[… cut, {rest} more characters in this line]");
                chars = MAX_READ_CHARS;
                continue;
            }
            next_line = Some(number);
            continue;
        }
        shown += line;
        chars += line_chars;
    }
    if first_line > count {
        return format!("[the file has {count} lines; there is no line {first_line}]");
    }
    if let Some(next) = next_line {
        let before: usize = content.split_inclusive('\n').take(next - 1).map(str::len).sum();
        let rest = content[before..].chars().count();
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown += &format!("[… cut, {rest} more characters; continue with from_line {next}]");
    }
    shown
}

/// The outcome of a call: as text for the model, and as data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The text.
    pub words: String,
    /// How the call ended.
    pub end: CallEnd,
}

impl Outcome {
    fn of(words: String, is_done: bool) -> Self {
        Self { words, end: if is_done { CallEnd::Done } else { CallEnd::NotDone } }
    }

    /// An error with this message.
    pub fn error(what: &str) -> Self {
        Self::of(error(what), false)
    }
}

/// The agents to suggest if a name is unknown: first the one with the most similar name, even if it is `left_out`, then
/// up to [`MAX_AGENTS_SUGGESTED`] others without `left_out`.
pub fn suggested_agents<'a>(
    name: &str,
    agents: impl IntoIterator<Item = &'a Id>,
    left_out: Option<&str>,
) -> Vec<String> {
    let agents: Vec<&str> = agents.into_iter().map(|id| &**id).collect();
    let near = text::nearest(name, agents.iter().copied());
    let others = agents.into_iter().filter(|id| Some(*id) != near && Some(*id) != left_out);
    near.into_iter().chain(others.take(MAX_AGENTS_SUGGESTED)).map(str::to_owned).collect()
}

/// The outcome of starting another agent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Spawned {
    /// It has its file and its task.
    Activated {
        /// The number of starts between it and the first agent.
        depth: u32,
        /// The limit.
        depth_limit: u32,
        /// Whether the agent is new.
        is_new: bool,
    },
    /// There is no such agent.
    Unknown {
        /// Agents with similar names, the most similar first.
        there: Vec<String>,
    },
    /// The agent tried to start itself.
    Itself,
    /// It has its file and waits.
    Deferred {
        /// The reason, such as "token budget reached".
        why: String,
    },
    /// Starts are nested too deeply.
    TooDeep {
        /// The limit.
        depth_limit: u32,
    },
    /// This agent has started as many agents as it may.
    TooMany {
        /// The limit.
        fan_out_limit: u32,
    },
    /// The same agent was given the same task before.
    Again,
    /// Its file could not be written.
    NotWritten(FileFailure),
}

/// The result of starting another agent; `path` is its file.
pub fn spawned(path: &str, outcome: &Spawned) -> Outcome {
    let name = quoted(agent_file_name(path));
    let words = match outcome {
        Spawned::Activated { depth, depth_limit, is_new } => {
            let done = if *is_new { "Created and activated" } else { "Activated" };
            format!(
                "{done} {name} (depth {depth}/{depth_limit}). It reports to you automatically when its work is done; \
                 you can end your turn, and you will be activated again with its report."
            )
        }
        Spawned::Deferred { why } => {
            format!("Created {name}, but its activation is deferred: {}.", reason(why))
        }
        Spawned::Unknown { there } => {
            let there = match list(there) {
                _ if there.is_empty() => String::new(),
                (listed, _) => format!(" Available agents: {listed}."),
            };
            format!("Error: there is no agent {name}.{there} To create a new one, set 'content'.")
        }
        Spawned::Itself => format!("Error: {name} is you; do it yourself, or start another agent."),
        Spawned::TooDeep { depth_limit } => {
            format!("Error: depth limit {depth_limit}/{depth_limit}. Do this part yourself.")
        }
        Spawned::TooMany { fan_out_limit } => format!(
            "Error: fan-out limit {fan_out_limit}/{fan_out_limit}: you cannot start more agents. Do the rest \
             yourself, or end your turn until they report."
        ),
        Spawned::Again => format!("Error: loop: {name} was already given this task in this run."),
        Spawned::NotWritten(failure) => error(&failure.what),
    };
    let is_done = matches!(outcome, Spawned::Activated { .. } | Spawned::Deferred { .. });
    Outcome::of(words, is_done)
}

/// The outcome of handing a task over.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HandOverOutcome {
    /// It is queued as the agent's next work.
    Queued {
        /// Whether the agent has other work.
        is_busy: bool,
    },
    /// It waits because all work waits.
    Deferred {
        /// The reason.
        why: String,
    },
    /// There is no such agent in the room.
    Unknown {
        /// Agents with similar names, the most similar first.
        there: Vec<String>,
    },
    /// The agent tried to hand the task over to itself.
    Itself,
    /// A limit forbids it.
    Refused {
        /// The reason.
        why: String,
    },
}

/// The result of handing a task over; `agent` is the intended receiver.
pub fn hand_over_result(agent: &str, outcome: &HandOverOutcome) -> Outcome {
    let name = quoted(agent);
    let words = match outcome {
        HandOverOutcome::Queued { is_busy } => {
            let when = if *is_busy { "It has other work and will start this when it is free" } else { "It starts now" };
            format!(
                "Handed over to {name}. {when}, and you will receive the result automatically: you can end your turn, \
                 and you will be activated again with it."
            )
        }
        HandOverOutcome::Deferred { why } => format!("Handed over to {name}, but work is on hold: {}.", reason(why)),
        HandOverOutcome::Unknown { there } => {
            let there = match list(there) {
                _ if there.is_empty() => " Nobody else is in the room.".to_owned(),
                (listed, _) => format!(" Available agents: {listed}."),
            };
            format!("Error: there is no agent {name} in the room.{there}")
        }
        HandOverOutcome::Itself => format!("Error: {name} is you; do it yourself, or name somebody else."),
        HandOverOutcome::Refused { why } => {
            format!(
                "Error: this cannot be handed over to {name}: {}. Do it yourself, or find another way.",
                reason(why)
            )
        }
    };
    let is_done = matches!(outcome, HandOverOutcome::Queued { .. } | HandOverOutcome::Deferred { .. });
    Outcome::of(words, is_done)
}

/// The outcome of a signal to the parent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SignalOutcome {
    /// The parent is activated again with it.
    Sent,
    /// No agent started this one.
    NoParent,
    /// The message is kept, and the parent waits.
    Deferred {
        /// The reason, such as "token budget reached".
        why: String,
    },
    /// A person stopped the parent: the message is in the log and starts nothing.
    Kept,
    /// The parent got the same message before.
    Again,
}

/// The result of a signal; `parent` is the file of the parent's profile.
pub fn signalled(parent: &str, outcome: &SignalOutcome) -> Outcome {
    let name = quoted(agent_file_name(parent));
    let words = match outcome {
        SignalOutcome::Sent => format!("Message sent to parent {name}. Re-activating."),
        SignalOutcome::NoParent => "Error: no agent started you; there is nobody to signal.".to_owned(),
        SignalOutcome::Deferred { why } => {
            format!("Message sent to parent {name}, but its activation is deferred: {}.", reason(why))
        }
        SignalOutcome::Kept => {
            format!(
                "Message saved. A person stopped {name}, so it will not act on it; finish what you can by \
                yourself."
            )
        }
        SignalOutcome::Again => format!("Error: loop: you already told {name} exactly this in this piece of work."),
    };
    let is_done = matches!(outcome, SignalOutcome::Sent | SignalOutcome::Deferred { .. } | SignalOutcome::Kept);
    Outcome::of(words, is_done)
}

/// The result of an external tool: its text, else its data as JSON, truncated, and its images by name, with a note on
/// those that are not among the `kept` ones.
pub fn output(output: &ToolOutput, kept: &[ToolImage]) -> String {
    let text = match (output.text.trim().is_empty(), &output.data) {
        (true, Some(data)) => data.to_string(),
        _ => readable(&output.text).into_owned(),
    };
    let chars = text.chars().count();
    let mut shown: String = text.chars().take(MAX_READ_CHARS).collect();
    if chars > MAX_READ_CHARS {
        shown += &format!("\n[… cut, {} more characters]", chars - MAX_READ_CHARS);
    }
    for image in output.images.iter().take(MAX_IMAGES_NAMED) {
        let why = if kept.contains(image) { "" } else { "too large to be kept" };
        shown += &format!("\n{}", self::image(image, why));
    }
    match output.images.len().saturating_sub(MAX_IMAGES_NAMED) {
        0 => {}
        more => shown += &format!("\n[{more} more images]"),
    }
    if shown.trim().is_empty() { "Done.".to_owned() } else { shown.trim_start_matches('\n').to_owned() }
}

/// The readable form of a text: binary content is replaced by its size; readable text before it, as in a server's
/// answer, is kept.
pub fn readable(text: &str) -> Cow<'_, str> {
    if is_text(text) {
        return Cow::Borrowed(text);
    }
    let unreadable = |text: &str| format!("[{} bytes that are not text]", text.len());
    match text.split_once("\n\n") {
        Some((head, rest)) if is_text(head) => Cow::Owned(format!("{head}\n\n{}", unreadable(rest))),
        _ => Cow::Owned(unreadable(text)),
    }
}

/// Whether the content is text rather than binary data: it has no NUL and hardly any unprintable characters.
fn is_text(text: &str) -> bool {
    let is_odd =
        |c: &char| (c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{1b}')) || *c == char::REPLACEMENT_CHARACTER;
    let odd = text.chars().filter(is_odd).count();
    !text.contains('\0') && (odd < MIN_ODD_CHARS || odd * ODD_SHARE < text.chars().count())
}

/// The result of an external tool that reports a failure.
pub fn error_output(output: &ToolOutput, kept: &[ToolImage]) -> String {
    if output.text.trim().is_empty() && output.data.is_none() && output.images.is_empty() {
        return error("it failed without giving a reason.");
    }
    let said = self::output(output, kept);
    if said.starts_with("Error") { said } else { format!("Error: {said}") }
}

/// An image of a result by its kind and size, with a note.
pub fn image(image: &ToolImage, more: &str) -> String {
    // Four characters of base64 are three bytes.
    let kb = (image.base64.len() * 3 / 4).div_ceil(1024);
    let more = if more.is_empty() { String::new() } else { format!(", {more}") };
    format!("[image: {}, {kb} KB{more}]", reason(&image.media_type))
}

/// The error for a tool whose executor no longer exists.
pub fn no_executor(tool: &str) -> String {
    error(&format!("the tool {} is no longer available; continue without it", quoted(tool)))
}

/// The error for a call that its executor stopped.
pub fn aborted(why: &str) -> String {
    error(&format!("it was stopped: {}.", reason(why)))
}

/// The error for a call that the gate denied.
pub fn denied(why: &str) -> String {
    format!("Error: not allowed: {}.", reason(why))
}

/// The error for a call that a person refused, with their note.
pub fn refused(note: Option<&str>) -> String {
    match note.map(reason).filter(|note| !note.is_empty()) {
        Some(note) => format!("Error: a person refused this, with this comment: {note}. Follow it."),
        None => "Error: a person refused this. Do not try to do it in another way.".to_owned(),
    }
}

/// The error for a call that nobody decided about, because the command that runs the room refuses all questions.
pub fn refused_by_option() -> String {
    "Error: this needs the approval of a person, but nobody is asked in this run: its option --on-ask refuses every \
     question. Do not try to do it in another way."
        .to_owned()
}

/// An error with this message.
pub fn error(what: &str) -> String {
    let what = text::truncate(readable(what).trim(), MAX_REASON_CHARS);
    if what.starts_with("Error") { what } else { format!("Error: {what}") }
}

fn reason(why: &str) -> String {
    text::truncate(&unbroken(why.trim().trim_end_matches('.')), MAX_REASON_CHARS)
}

fn quoted(path: &str) -> String {
    format!("'{}'", text::truncate(&unbroken(path), MAX_PATH_CHARS).replace('\\', "\\\\").replace('\'', "\\'"))
}

/// The text in one line, so that a name cannot look like a separate line.
fn unbroken(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') { ' ' } else { c }).collect()
}

#[cfg(test)]
#[path = "result_text_tests.rs"]
mod tests;
