//! Approvals while a room runs without a window: asked on the terminal, answered by `--on-ask`, or reported on standard
//! error with the command that answers them.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bevy::ecs::prelude::*;
use clap::ValueEnum;
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use serde_json::{Map, Value};

use super::command_hints::CommandHints;
use super::output;
use super::problem_reporter::ProblemReporter;
use super::task_goal::{Task, held_work};
use crate::app::approvals::{has_answers, preview_of};
use crate::app::display_names::name_of;
use crate::base::text::{first_paragraph, truncate};
use crate::base::visible_text::visible;
use crate::base::{AllowScope, AnswerPlace, TimeLimit};
use crate::gate::PROPOSE_CHANGES;
use crate::gateway::mcp::{FieldKind, FormField};
use crate::kernel::{Approval, ApprovalId, ChangedFile, Hold, Kernel, KernelCommand};
use crate::log::{EventKind, EventRecord};
use crate::schedule::InputQueue;
use crate::tools::{Preview, REPLACES_WORKSPACE};

/// How long to wait for a line before checking for an interrupt or an answer from another terminal.
const LINE_TIMEOUT: Duration = Duration::from_millis(50);
/// A preview with at most this many rows is shown with the question; a longer one on request.
const ROWS_WITH_QUESTION: usize = 20;
/// The indent of the rows of a preview.
const DETAILS_INDENT: &str = "  ";
/// The maximum length of the task in a question, in characters.
const TASK_CHARS: usize = 500;

/// How approvals are handled without a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum OnAsk {
    /// Refuse it and continue
    Deny,
    /// Allow it and continue
    Allow,
    /// End the run once nothing can continue without an answer
    Stop,
}

/// How approvals are handled, given `--on-ask` and the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Policy {
    /// All are allowed (`true`) or refused (`false`).
    Decide(bool),
    /// They are asked on the terminal.
    Terminal,
    /// They are printed. With `ends`, the run ends when only an answer can continue it.
    Report { ends: bool },
}

/// A parsed reply to a prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Reply {
    /// Allow, with the form's values, if there is a form.
    Allow(AllowScope, Map<String, Value>),
    /// Refuse, with an optional comment for the agent.
    Refuse(Option<String>),
    Show,
    Unclear,
}

/// Prints a question on the terminal and reads a line; `None` if the person interrupts instead of answering.
pub(super) type LineReader = Box<dyn FnMut(&str) -> Option<String>>;

/// The source of a person's input lines.
enum Lines {
    /// Lines of standard input, from a background thread.
    Typed(Receiver<String>),
    /// A line editor that reads a line on request.
    Read(LineReader),
}

/// The result of waiting for a line.
enum NextLine {
    Typed(String),
    NotYet,
    /// The person pressed Ctrl-C.
    Stop,
    /// Standard input was closed.
    Gone,
}

impl Lines {
    /// Prints the choices, unless the line editor prints them itself.
    fn show(&self, choices: &str) {
        if let Self::Typed(_) = self {
            output::ask(choices);
        }
    }

    /// Discards lines that were typed before the question was asked.
    fn discard(&self) {
        if let Self::Typed(lines) = self {
            while lines.try_recv().is_ok() {}
        }
    }

    fn next(&mut self, choices: &str) -> NextLine {
        match self {
            Self::Typed(lines) => match lines.recv_timeout(LINE_TIMEOUT) {
                Ok(line) => NextLine::Typed(line),
                Err(RecvTimeoutError::Timeout) => NextLine::NotYet,
                Err(RecvTimeoutError::Disconnected) => NextLine::Gone,
            },
            Self::Read(read) => read(choices).map_or(NextLine::Stop, NextLine::Typed),
        }
    }
}

/// Handles the approvals of a run.
pub(super) struct ApprovalPrompts {
    policy: Policy,
    /// Whether the run ends by default when only a person could continue it.
    ends_when_held: bool,
    hints: CommandHints,
    /// The workspace's folder.
    folder: PathBuf,
    /// Approvals that were already printed or decided.
    known: BTreeSet<ApprovalId>,
    /// The approval that is shown on the terminal.
    on_terminal: Option<ApprovalId>,
    /// The person's input, if approvals are asked on the terminal.
    lines: Option<Lines>,
    has_checked: bool,
}

/// Whether an approval decides between an agent's version of a file and the one that the workspace has.
fn chooses_version(approval: &Approval) -> bool {
    approval.tool == PROPOSE_CHANGES && approval.wants.contains(REPLACES_WORKSPACE)
}

impl ApprovalPrompts {
    /// Uses `on_ask`, if given. Otherwise a person is asked if `on_terminal` and there is an interactive terminal.
    pub(super) fn new(
        (on_ask, on_terminal): (Option<OnAsk>, bool),
        ends_when_held: bool,
        hints: CommandHints,
        folder: PathBuf,
    ) -> Self {
        let policy = match on_ask {
            Some(OnAsk::Allow) => Policy::Decide(true),
            Some(OnAsk::Deny) => Policy::Decide(false),
            Some(OnAsk::Stop) => Policy::Report { ends: true },
            None if on_terminal && output::is_interactive() => Policy::Terminal,
            None => Policy::Report { ends: ends_when_held },
        };
        // Read from the start, so that lines typed before a question do not answer it.
        let lines = (policy == Policy::Terminal).then(|| Lines::Typed(typed_lines()));
        let known = BTreeSet::new();
        Self { policy, ends_when_held, hints, folder, known, on_terminal: None, lines, has_checked: false }
    }

    /// The same for a chat, which owns the terminal and reads answers with `read`.
    pub(super) fn in_chat(on_ask: Option<OnAsk>, read: LineReader, hints: CommandHints, folder: PathBuf) -> Self {
        let mut prompts = Self::new((on_ask, false), true, hints, folder);
        if on_ask.is_none() {
            (prompts.policy, prompts.lines) = (Policy::Terminal, Some(Lines::Read(read)));
        }
        prompts
    }

    /// Returns the reader of answers, so that the next chat can use it.
    pub(super) fn into_reader(self) -> Option<LineReader> {
        match self.lines {
            Some(Lines::Read(read)) => Some(read),
            _ => None,
        }
    }

    /// Whether the run ends when only a person could continue it.
    pub(super) fn ends_when_held(&self) -> bool {
        match self.policy {
            Policy::Report { ends } => ends,
            // A pause cannot be answered on the terminal.
            _ => self.ends_when_held,
        }
    }

    /// What holds the task's work (or all work, without a task) until a person acts; empty while an answer is pending.
    pub(super) fn holds(&self, world: &World, task: Option<&Task>) -> Vec<Hold> {
        let holds = held_work(world, task);
        let is_answered = |hold: &Hold| match (hold, self.policy) {
            (Hold::AgentPaused(_), _) => false,
            (Hold::Approval(_), Policy::Decide(_) | Policy::Terminal) => true,
            (Hold::Approval(approval), Policy::Report { .. }) => is_decided(world, approval),
        };
        if holds.iter().any(is_answered) { Vec::new() } else { holds }
    }

    /// Looks for new approvals after a tick with these events, and decides or reports them.
    pub(super) fn handle_new(&mut self, world: &mut World, events: &[EventRecord], reporter: &mut ProblemReporter) {
        let asked = events.iter().any(|event| event.draft.kind == EventKind::ApprovalRequested);
        if self.has_checked && !asked {
            return;
        }
        self.has_checked = true;
        if self.policy == Policy::Terminal {
            return;
        }
        for approval in world.resource::<Kernel>().approvals().collect::<Vec<_>>() {
            if !self.known.insert(approval.id.clone()) {
                continue;
            }
            let text = asks(world, &approval);
            let is_for_server = approval.of_server.is_some();
            match self.policy {
                // An MCP server does not wait until a person answers later.
                Policy::Report { ends: true } | Policy::Decide(_)
                    if is_for_server
                        && (self.policy != Policy::Decide(true) || approval.form_error(&Map::new()).is_some()) =>
                {
                    reporter.note(format!("declined, because nobody can answer here: {text}"));
                    decide(world, &approval, false, (AllowScope::Once, Map::new()), None, AnswerPlace::OnAsk);
                }
                Policy::Decide(true) if chooses_version(&approval) => {
                    let why = "refused by --on-ask, because only a person can choose which version is kept";
                    reporter.note(format!("{why}: {text}"));
                    decide(world, &approval, false, (AllowScope::Once, Map::new()), None, AnswerPlace::OnAsk);
                }
                Policy::Decide(allow) => {
                    reporter.note(format!("{} by --on-ask: {text}", if allow { "allowed" } else { "refused" }));
                    decide(world, &approval, allow, (AllowScope::Once, Map::new()), None, AnswerPlace::OnAsk);
                }
                // The command to answer is printed at the end of the run.
                Policy::Report { ends: true } => reporter.note(format!("note: {text}")),
                _ => reporter.note(format!("waiting: {text}; {}", self.hints.answer(&approval.id))),
            }
        }
    }

    /// Asks for the next approval, if they are asked on the terminal. Waits for a reply, an answer from another
    /// terminal, or an interrupt. The room does not advance meanwhile.
    pub(super) fn ask(&mut self, world: &mut World, interrupted: &AtomicBool) {
        if self.policy != Policy::Terminal || !self.has_checked {
            return;
        }
        let next = world.resource::<Kernel>().approvals().find(|one| !self.known.contains(&one.id));
        let (Some(approval), Some(lines)) = (next, &mut self.lines) else { return };
        output::hide_status();
        if self.on_terminal.as_ref() != Some(&approval.id) {
            self.on_terminal = Some(approval.id.clone());
            lines.discard();
            output::note(&question(&name_of(world, &approval.agent), &approval));
            let details = approval_details(&approval, &preview_of(world, &self.folder, &approval));
            match details.lines().count() {
                ..=ROWS_WITH_QUESTION => output::note(&details),
                rows => output::note(&format!("  Everything that would happen takes {rows} lines: answer s to see it")),
            }
            fields(&approval).iter().for_each(|field| output::note(field));
        }
        let choices = choices(&approval);
        lines.show(&choices);
        loop {
            if interrupted.load(Ordering::Relaxed) || has_answers(world) {
                output::note("");
                return;
            }
            match lines.next(&choices) {
                NextLine::Typed(line) => {
                    let (allow, scope, because) = match reply(&line) {
                        Reply::Allow(scope, form) if approval.may_reach(scope) => {
                            if let Some(why) = approval.form_error(&form) {
                                output::note(&format!("  {why}"));
                                lines.show(&choices);
                                continue;
                            }
                            (true, (scope, form), None)
                        }
                        Reply::Refuse(because) => (false, (AllowScope::Once, Map::new()), because),
                        Reply::Show => {
                            output::note(&approval_details(&approval, &preview_of(world, &self.folder, &approval)));
                            lines.show(&choices);
                            continue;
                        }
                        Reply::Allow(..) | Reply::Unclear => {
                            lines.show(&choices);
                            continue;
                        }
                    };
                    self.known.insert(approval.id.clone());
                    decide(world, &approval, allow, scope, because, AnswerPlace::Terminal);
                    return;
                }
                NextLine::NotYet => continue,
                NextLine::Stop => {
                    interrupted.store(true, Ordering::Relaxed);
                    return;
                }
                NextLine::Gone => {
                    // Standard input was closed, so nobody can answer.
                    self.policy = Policy::Report { ends: true };
                    output::note("");
                    return;
                }
            }
        }
    }

    /// The next approval to be asked on this terminal, with its summary.
    pub(super) fn next_question(&self, world: &World) -> Option<(ApprovalId, String)> {
        if self.policy != Policy::Terminal {
            return None;
        }
        let next = world.resource::<Kernel>().approvals().find(|one| !self.known.contains(&one.id))?;
        Some((next.id.clone(), asks(world, &next)))
    }

    /// The commands that answer the approvals from another terminal and continue the work.
    pub(super) fn how_to_answer(&self, holds: &[Hold]) -> String {
        let approvals = holds.iter().filter_map(|hold| match hold {
            Hold::Approval(approval) => Some(self.hints.answer(&approval.id)),
            Hold::AgentPaused(_) => None,
        });
        let mut hints: Vec<String> = approvals.collect();
        if !hints.is_empty() {
            hints.push(self.how_to_continue());
        }
        hints.join("; ")
    }

    /// The command that continues the work once a person has acted.
    pub(super) fn how_to_continue(&self) -> String {
        format!("then: {}", self.hints.continue_work())
    }
}

/// The lines of standard input, read by a thread, because reading blocks.
fn typed_lines() -> Receiver<String> {
    let (sender, lines) = bounded(16);
    let read = move || {
        for line in io::stdin().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    };
    if let Err(error) = std::thread::Builder::new().name("terminal".into()).spawn(read) {
        tracing::error!("cannot read from the terminal: {error}");
    }
    lines
}

fn decide(
    world: &mut World,
    approval: &Approval,
    allow: bool,
    (scope, form): (AllowScope, Map<String, Value>),
    because: Option<String>,
    place: AnswerPlace,
) {
    let command = match allow && approval.of_server.is_some() {
        true => approval.fill(form, because),
        false => approval.answer(allow, scope, because),
    };
    world.resource_mut::<InputQueue<KernelCommand>>().push(command.answered_in(place));
}

/// The form fields that an MCP server asks for, one per line.
pub(super) fn fields(approval: &Approval) -> Vec<String> {
    let field = |field: &FormField| {
        let kind = match &field.kind {
            FieldKind::Text { .. } => "a text".to_owned(),
            FieldKind::Number { whole: true, .. } => "a whole number".to_owned(),
            FieldKind::Number { .. } => "a number".to_owned(),
            FieldKind::Flag => "yes or no".to_owned(),
            FieldKind::Choice { choices } => {
                let all: Vec<_> = choices.iter().map(|(value, _)| visible(value)).collect();
                format!("one of {}", all.join(", "))
            }
        };
        let needed = if field.required { "" } else { ", or nothing" };
        let usual = field.usual.as_ref().map(|usual| format!(", default {}", visible(&usual.to_string())));
        let usual = usual.unwrap_or_default();
        let title = if field.title == field.name { String::new() } else { format!(" (“{}”)", field.title) };
        let about = if field.about.is_empty() { String::new() } else { format!(": {}", field.about) };
        format!("  {}={kind}{needed}{usual}{title}{about}", field.name)
    };
    approval.fields().iter().map(field).collect()
}

/// Whether an answer to the approval is already queued.
fn is_decided(world: &World, approval: &Approval) -> bool {
    world.resource::<InputQueue<KernelCommand>>().waiting().any(|command| approval.is_decided_by(command))
        || has_answers(world)
}

/// The prompt with the possible replies.
fn choices(approval: &Approval) -> String {
    let for_task = if approval.may_reach(AllowScope::Task) { ", for this [t]ask" } else { "" };
    let until = if approval.may_reach(AllowScope::Until(TimeLimit::HOUR)) { ", [u]ntil a time (u 2h)" } else { "" };
    let pattern = if approval.may_reach(AllowScope::Pattern) { ", the [p]attern" } else { "" };
    let edited = if approval.may_reach(AllowScope::Edited) { ", [e]dited sources too" } else { "" };
    let always = if approval.may_reach(AllowScope::Always) { ", [a]lways" } else { "" };
    if let Some(first) = approval.fields().first() {
        return format!("  [y]es with values (y {}=… ), [n]o or [s]how? ", first.name);
    }
    format!("  [y]es{for_task}{until}{pattern}{edited}{always}, [n]o (with an optional comment) or [s]how? ")
}

fn reply(line: &str) -> Reply {
    let line = line.trim();
    let (first, word) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = word.trim();
    match (first.trim_end_matches([',', ':']).to_lowercase().as_str(), word) {
        ("n" | "no", word) => Reply::Refuse((!word.is_empty()).then(|| word.to_owned())),
        ("y" | "yes", "") => Reply::Allow(AllowScope::Once, Map::new()),
        ("y" | "yes", given) => parse_fields(given).map_or(Reply::Unclear, |form| Reply::Allow(AllowScope::Once, form)),
        ("t" | "task", "") => Reply::Allow(AllowScope::Task, Map::new()),
        ("u" | "until", time) => {
            time.parse().map_or(Reply::Unclear, |limit| Reply::Allow(AllowScope::Until(limit), Map::new()))
        }
        ("p" | "pattern", "") => Reply::Allow(AllowScope::Pattern, Map::new()),
        ("e" | "edited", "") => Reply::Allow(AllowScope::Edited, Map::new()),
        ("a" | "always", "") => Reply::Allow(AllowScope::Always, Map::new()),
        ("s" | "show", "") => Reply::Show,
        _ => Reply::Unclear,
    }
}

/// Parses form fields after a yes: `branch=main depth=3`. A value extends to the next field.
fn parse_fields(text: &str) -> Option<Map<String, Value>> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for word in text.split_whitespace() {
        if let Some((field, value)) = word.split_once('=') {
            pairs.push((field.to_owned(), value.to_owned()));
        } else {
            let (_, value) = pairs.last_mut()?;
            *value = format!("{value} {word}");
        }
    }
    Some(pairs.into_iter().map(|(field, value)| (field, value.into())).collect())
}

/// The question on the terminal: who wants what, why it needs approval, for which task, and the possible scopes.
fn question(name: &str, approval: &Approval) -> String {
    let task = truncate(&visible(&first_paragraph(&approval.task)), TASK_CHARS);
    let mut lines = vec![approval.sentence(name)];
    let notes = [approval.reason(), approval.secret_warning()];
    lines.extend(notes.into_iter().filter(|note| !note.is_empty()).map(|note| format!("  {note}")));
    lines.extend(approval.changed_files.iter().filter_map(ChangedFile::summary).map(|file| format!("  {file}")));
    lines.push(format!("  For the task: {task}"));
    lines.extend(scopes(name, approval));
    lines.join("\n")
}

/// Describes each scope that is wider than this call, one per line.
pub(super) fn scopes(name: &str, approval: &Approval) -> Vec<String> {
    let text = approval.scopes(name).into_iter().filter_map(|(scope, text)| match scope {
        AllowScope::Once => None,
        AllowScope::Task => Some(format!("  For this task: {text}")),
        // Any time can be given; one line describes them all.
        AllowScope::Until(TimeLimit::DAY) => Some(format!("  Until a time: {text}")),
        AllowScope::Until(_) => None,
        AllowScope::Pattern => Some(format!("  The pattern: {text}")),
        AllowScope::Edited => Some(format!("  Edited sources too: {text}")),
        AllowScope::Always => Some(format!("  Always: {text}")),
    });
    text.collect()
}

/// Who wants what and why it needs approval, in one line.
pub(super) fn asks(world: &World, approval: &Approval) -> String {
    approval_summary(&name_of(world, &approval.agent), approval)
}

/// Same as [`asks`], with a given agent name.
pub(super) fn approval_summary(name: &str, approval: &Approval) -> String {
    let name = format!("{name} ({})", approval.agent);
    let because = match approval.because.as_str() {
        "" => String::new(),
        because => format!(", because {because}"),
    };
    format!("{}{because} [{}]", approval.sentence(&name), approval.id)
}

/// Everything that would happen, with every character visible, in rows that fit on the terminal.
pub(super) fn approval_details(approval: &Approval, preview: &Preview) -> String {
    details_in_rows(approval, preview, output::width())
}

fn details_in_rows(approval: &Approval, preview: &Preview, width: usize) -> String {
    let lines = approval.lines(preview);
    let rows = lines.iter().flat_map(|line| line.rows(width.saturating_sub(DETAILS_INDENT.len())));
    let tool = visible(&approval.tool).into_owned();
    let rows: Vec<String> = std::iter::once(tool).chain(rows).map(|row| format!("{DETAILS_INDENT}{row}")).collect();
    rows.join("\n")
}

#[cfg(test)]
#[path = "approval_prompts_tests.rs"]
mod tests;
