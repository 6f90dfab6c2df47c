//! Approvals while a room runs without a window: asked on the terminal, answered as the command line says, or reported
//! on standard error with how to answer from elsewhere.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bevy::ecs::prelude::*;
use clap::ValueEnum;
use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use serde_json::{Map, Value};

use super::command_hints::Commands;
use super::output;
use super::problem_reporter::Reporter;
use super::task_goal::{Task, held_work};
use crate::app::approvals::{has_answers, preview_of};
use crate::app::display_names::name_of;
use crate::base::text::truncate;
use crate::base::{AllowScope, AnswerPlace, TimeLimit};
use crate::gateway::mcp::{FieldKind, FormField};
use crate::kernel::{Approval, ApprovalId, Hold, Kernel, KernelCommand};
use crate::log::{EventKind, EventRecord};
use crate::schedule::InputQueue;
use crate::tools::{Preview, PreviewLine};

/// How long one wait for a line lasts before the caller looks around.
const WAIT: Duration = Duration::from_millis(50);
/// How many lines of the preview are shown.
const LINES_SHOWN: usize = 100;
/// How many characters of a line are shown.
const LINE_CHARS: usize = 500;

/// What happens to questions to a person without a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(super) enum OnAsk {
    /// Refuse it and continue
    Deny,
    /// Allow it and continue
    Allow,
    /// End the run once nothing can continue without an answer
    Stop,
}

/// What is done about questions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Policy {
    /// They are decided so.
    Decide(bool),
    /// They are asked on the terminal.
    Terminal,
    /// Questions are printed; the run ends when only answers can continue it, or it continues.
    Tell { ends: bool },
}

/// What a person typed.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Reply {
    /// With the values of the form, if there is one.
    Allow(AllowScope, Map<String, Value>),
    /// With a word to the agent, if there is one.
    Refuse(Option<String>),
    Show,
    Unclear,
}

/// Reads a line behind a question on the terminal; nothing where the person wants to stop instead of answering.
pub(super) type LineReader = Box<dyn FnMut(&str) -> Option<String>>;

/// From where the lines of a person come.
enum Lines {
    /// They come as they are typed.
    Typed(Receiver<String>),
    /// The reader of the terminal reads a line on request.
    Read(LineReader),
}

/// The result of waiting for a line.
enum NextLine {
    Typed(String),
    NotYet,
    /// The person wants to stop.
    Stop,
    /// Nobody can type any more.
    Gone,
}

impl Lines {
    /// Shows what can be typed.
    fn show(&self, choices: &str) {
        if let Self::Typed(_) = self {
            output::ask(choices);
        }
    }

    /// Forgets what was typed before there was a question.
    fn forget(&self) {
        if let Self::Typed(lines) = self {
            while lines.try_recv().is_ok() {}
        }
    }

    fn next(&mut self, choices: &str) -> NextLine {
        match self {
            Self::Typed(lines) => match lines.recv_timeout(WAIT) {
                Ok(line) => NextLine::Typed(line),
                Err(RecvTimeoutError::Timeout) => NextLine::NotYet,
                Err(RecvTimeoutError::Disconnected) => NextLine::Gone,
            },
            Self::Read(read) => read(choices).map_or(NextLine::Stop, NextLine::Typed),
        }
    }
}

/// The questions of a run.
pub(super) struct Asking {
    policy: Policy,
    /// Whether the run ends when only a person could bring it on, where the command line does not say.
    ends_when_held: bool,
    commands: Commands,
    /// The workspace's folder.
    folder: PathBuf,
    /// Questions that were printed, or decided here.
    known: BTreeSet<ApprovalId>,
    /// The question that is on the terminal.
    on_terminal: Option<ApprovalId>,
    /// What is typed, where a person is asked here.
    lines: Option<Lines>,
    has_looked: bool,
}

impl Asking {
    /// As given on the command line; a person at a terminal is asked there, if possible.
    pub(super) fn new(
        (on_ask, on_terminal): (Option<OnAsk>, bool),
        ends_when_held: bool,
        commands: Commands,
        folder: PathBuf,
    ) -> Self {
        let policy = match on_ask {
            Some(OnAsk::Allow) => Policy::Decide(true),
            Some(OnAsk::Deny) => Policy::Decide(false),
            Some(OnAsk::Stop) => Policy::Tell { ends: true },
            None if on_terminal && output::can_be_asked() => Policy::Terminal,
            None => Policy::Tell { ends: ends_when_held },
        };
        // Read from the beginning, so that what was typed before a question is no answer to it.
        let lines = (policy == Policy::Terminal).then(|| Lines::Typed(typed_lines()));
        let known = BTreeSet::new();
        Self { policy, ends_when_held, commands, folder, known, on_terminal: None, lines, has_looked: false }
    }

    /// The same where somebody else has the terminal, who reads answers for it.
    pub(super) fn in_talk(on_ask: Option<OnAsk>, read: LineReader, commands: Commands, folder: PathBuf) -> Self {
        let mut asking = Self::new((on_ask, false), true, commands, folder);
        if on_ask.is_none() {
            (asking.policy, asking.lines) = (Policy::Terminal, Some(Lines::Read(read)));
        }
        asking
    }

    /// Returns the reader of answers, for the next question.
    pub(super) fn into_reader(self) -> Option<LineReader> {
        match self.lines {
            Some(Lines::Read(read)) => Some(read),
            _ => None,
        }
    }

    /// Whether the run ends when only a person could bring it on.
    pub(super) fn ends_when_held(&self) -> bool {
        match self.policy {
            Policy::Tell { ends } => ends,
            // A pause cannot be answered: it is no question.
            _ => self.ends_when_held,
        }
    }

    /// What a person must do before the task's work, or any work, can continue; nothing while an answer is on its way.
    pub(super) fn holds(&self, world: &World, task: Option<&Task>) -> Vec<Hold> {
        let holds = held_work(world, task);
        let is_answered = |hold: &Hold| match (hold, self.policy) {
            (Hold::AgentPaused(_), _) => false,
            (Hold::Approval(_), Policy::Decide(_) | Policy::Terminal) => true,
            (Hold::Approval(approval), Policy::Tell { .. }) => is_decided(world, approval),
        };
        if holds.iter().any(is_answered) { Vec::new() } else { holds }
    }

    /// Looks for new questions after a tick in which this happened, and does about them what is to be done.
    pub(super) fn look(&mut self, world: &mut World, events: &[EventRecord], reporter: &mut Reporter) {
        let asked = events.iter().any(|event| event.draft.kind == EventKind::ApprovalRequested);
        if self.has_looked && !asked {
            return;
        }
        self.has_looked = true;
        if self.policy == Policy::Terminal {
            return;
        }
        for approval in world.resource::<Kernel>().approvals().collect::<Vec<_>>() {
            if !self.known.insert(approval.id.clone()) {
                continue;
            }
            let told = asks(world, &approval);
            let is_for_server = approval.of_server.is_some();
            match self.policy {
                // The server continues without an answer, and would have ended before a person answers.
                Policy::Tell { ends: true } | Policy::Decide(_)
                    if is_for_server
                        && (self.policy != Policy::Decide(true) || approval.form_error(&Map::new()).is_some()) =>
                {
                    reporter.note(format!("declined, because nobody can answer here: {told}"));
                    decide(world, &approval, false, (AllowScope::Once, Map::new()), None);
                }
                Policy::Decide(allow) => {
                    reporter.note(format!("{} by --on-ask: {told}", if allow { "allowed" } else { "refused" }));
                    decide(world, &approval, allow, (AllowScope::Once, Map::new()), None);
                }
                // How to answer is said when the run ends, which is when the answer counts.
                Policy::Tell { ends: true } => reporter.note(format!("note: {told}")),
                _ => reporter.note(format!("waiting: {told}; {}", self.commands.answer(&approval.id))),
            }
        }
    }

    /// Asks the next question on the terminal, if that is the mode, and waits for the answer, for an answer from
    /// elsewhere, or for an interrupt. The room is paused meanwhile.
    pub(super) fn ask(&mut self, world: &mut World, interrupted: &AtomicBool) {
        if self.policy != Policy::Terminal || !self.has_looked {
            return;
        }
        let next = world.resource::<Kernel>().approvals().find(|one| !self.known.contains(&one.id));
        let (Some(approval), Some(lines)) = (next, &mut self.lines) else { return };
        output::hide_status();
        if self.on_terminal.as_ref() != Some(&approval.id) {
            self.on_terminal = Some(approval.id.clone());
            lines.forget();
            output::note(&question(&name_of(world, &approval.agent), &approval));
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
                    decide(world, &approval, allow, scope, because);
                    return;
                }
                NextLine::NotYet => continue,
                NextLine::Stop => {
                    interrupted.store(true, Ordering::Relaxed);
                    return;
                }
                NextLine::Gone => {
                    // Nobody can type any more.
                    self.policy = Policy::Tell { ends: true };
                    output::note("");
                    return;
                }
            }
        }
    }

    /// The next question that is to be asked on this terminal and was not yet, with what it is about.
    pub(super) fn next_question(&self, world: &World) -> Option<(ApprovalId, String)> {
        if self.policy != Policy::Terminal {
            return None;
        }
        let next = world.resource::<Kernel>().approvals().find(|one| !self.known.contains(&one.id))?;
        Some((next.id.clone(), asks(world, &next)))
    }

    /// How a person answers from elsewhere.
    pub(super) fn how_to_answer(&self, holds: &[Hold]) -> String {
        let approvals = holds.iter().filter_map(|hold| match hold {
            Hold::Approval(approval) => Some(self.commands.answer(&approval.id)),
            Hold::AgentPaused(_) => None,
        });
        let mut commands: Vec<String> = approvals.collect();
        if !commands.is_empty() {
            commands.push(format!("then: {}", self.commands.run_on()));
        }
        commands.join("; ")
    }
}

/// Lines that a person types. A thread waits for them, because nothing else can.
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
) {
    let command = match allow && approval.of_server.is_some() {
        true => approval.fill(form, because),
        false => approval.answer(allow, scope, because),
    };
    world.resource_mut::<InputQueue<KernelCommand>>().push(command.answered_in(AnswerPlace::Terminal));
}

/// The fields of what a server asks, one a line.
pub(super) fn fields(approval: &Approval) -> Vec<String> {
    let field = |field: &FormField| {
        let kind = match &field.kind {
            FieldKind::Text { .. } => "a text".to_owned(),
            FieldKind::Number { whole: true, .. } => "a whole number".to_owned(),
            FieldKind::Number { .. } => "a number".to_owned(),
            FieldKind::Flag => "yes or no".to_owned(),
            FieldKind::Choice { choices } => {
                let all: Vec<&str> = choices.iter().map(|(value, _)| value.as_str()).collect();
                format!("one of {}", all.join(", "))
            }
        };
        let needed = if field.required { "" } else { ", or nothing" };
        let usual = field.usual.as_ref().map(|usual| format!(", default {usual}")).unwrap_or_default();
        let about = if field.about.is_empty() { String::new() } else { format!(": {}", field.about) };
        format!("  {}={kind}{needed}{usual}{about}", field.name)
    };
    approval.fields().iter().map(field).collect()
}

/// Whether the answer is in the inbox already.
fn is_decided(world: &World, approval: &Approval) -> bool {
    world.resource::<InputQueue<KernelCommand>>().waiting().any(|command| approval.is_decided_by(command))
        || has_answers(world)
}

/// What can be typed.
fn choices(approval: &Approval) -> String {
    let for_task = if approval.may_reach(AllowScope::Task) { ", for this [t]ask" } else { "" };
    let until = if approval.may_reach(AllowScope::Until(TimeLimit::HOUR)) { ", [u]ntil a time (u 2h)" } else { "" };
    let pattern = if approval.may_reach(AllowScope::Pattern) { ", the [p]attern" } else { "" };
    let always = if approval.may_reach(AllowScope::Always) { ", [a]lways" } else { "" };
    if let Some(first) = approval.fields().first() {
        return format!("  [y]es with values (y {}=… ), [n]o or [s]how? ", first.name);
    }
    format!("  [y]es{for_task}{until}{pattern}{always}, [n]o (with an optional comment) or [s]how? ")
}

fn reply(line: &str) -> Reply {
    let line = line.trim();
    let (first, word) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = word.trim();
    match (first.trim_end_matches([',', ':']).to_lowercase().as_str(), word) {
        ("n" | "no", word) => Reply::Refuse((!word.is_empty()).then(|| word.to_owned())),
        ("y" | "yes", "") => Reply::Allow(AllowScope::Once, Map::new()),
        ("y" | "yes", given) => filled_in(given).map_or(Reply::Unclear, |form| Reply::Allow(AllowScope::Once, form)),
        ("t" | "task", "") => Reply::Allow(AllowScope::Task, Map::new()),
        ("u" | "until", time) => {
            time.parse().map_or(Reply::Unclear, |limit| Reply::Allow(AllowScope::Until(limit), Map::new()))
        }
        ("p" | "pattern", "") => Reply::Allow(AllowScope::Pattern, Map::new()),
        ("a" | "always", "") => Reply::Allow(AllowScope::Always, Map::new()),
        ("s" | "show", "") => Reply::Show,
        _ => Reply::Unclear,
    }
}

/// The fields typed after a yes: `branch=main depth=3`; a value continues until the next field.
fn filled_in(text: &str) -> Option<Map<String, Value>> {
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

/// The question on a terminal: who wants what, why that is asked, for which task, and how far an answer may reach.
fn question(name: &str, approval: &Approval) -> String {
    let task = truncate(&crate::base::text::first_paragraph(&approval.task), LINE_CHARS);
    let mut lines = vec![approval.sentence(name)];
    let reason = approval.reason();
    lines.extend((!reason.is_empty()).then(|| format!("  {reason}")));
    lines.push(format!("  For the task: {task}"));
    lines.extend(scopes(name, approval));
    lines.join("\n")
}

/// What it means to allow more than this call, line by line.
pub(super) fn scopes(name: &str, approval: &Approval) -> Vec<String> {
    let told = approval.scopes(name).into_iter().filter_map(|(scope, told)| match scope {
        AllowScope::Once => None,
        AllowScope::Task => Some(format!("  For this task: {told}")),
        // Any time can be given; one says what that means.
        AllowScope::Until(TimeLimit::DAY) => Some(format!("  Until a time: {told}")),
        AllowScope::Until(_) => None,
        AllowScope::Pattern => Some(format!("  The pattern: {told}")),
        AllowScope::Always => Some(format!("  Always: {told}")),
    });
    told.collect()
}

/// Who wants what and why that is asked, in one line.
pub(super) fn asks(world: &World, approval: &Approval) -> String {
    approval_summary(&name_of(world, &approval.agent), approval)
}

/// The same for a caller that knows the agent's name.
pub(super) fn approval_summary(name: &str, approval: &Approval) -> String {
    let name = format!("{name} ({})", approval.agent);
    let because = match approval.because.as_str() {
        "" => String::new(),
        because => format!(", because {because}"),
    };
    format!("{}{because} [{}]", approval.sentence(&name), approval.id)
}

/// Everything that would happen, as a person reads it.
pub(super) fn approval_details(approval: &Approval, preview: &Preview) -> String {
    let lines = preview.lines();
    let mut shown = vec![format!("  {}", approval.tool)];
    shown.extend(lines.iter().take(LINES_SHOWN).map(|line| {
        let line = PreviewLine { mark: line.mark, text: truncate(&line.text, LINE_CHARS) };
        format!("  {}", line.marked())
    }));
    if lines.len() > LINES_SHOWN {
        shown.push(format!("    … {} more lines", lines.len() - LINES_SHOWN));
    }
    shown.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::ActivationKey;
    use crate::base::terminal_text::printable;
    use crate::gate::Risk;

    fn approval() -> Approval {
        Approval {
            id: ApprovalId::parse("7-1-0-abcd").expect("it has the shape"),
            activation: ActivationKey::numbered(7),
            turn: 1,
            call: 0,
            agent: "lead".into(),
            profile: "lead".into(),
            task: "Plan\na party".into(),
            tool: "vfs_write".into(),
            arguments: json!({}),
            what: "write artifacts/a.md, because its safety mode is safe".into(),
            wants: "write artifacts/a.md".into(),
            because: "its safety mode is safe".into(),
            for_task: Some("change files".into()),
            always: vec!["vfs_write(artifacts/a.md)".into()],
            pattern: None,
            risk: Risk::default(),
            of_server: None,
        }
    }

    #[test]
    fn a_person_answers_in_a_letter_or_a_word_and_nothing_else_counts() {
        for (line, meant) in [
            ("y", Reply::Allow(AllowScope::Once, Map::new())),
            (" YES\n", Reply::Allow(AllowScope::Once, Map::new())),
            (
                "y branch=a long name force=yes",
                Reply::Allow(AllowScope::Once, filled_in("branch=a long name force=yes").expect("fields")),
            ),
            ("t", Reply::Allow(AllowScope::Task, Map::new())),
            ("always", Reply::Allow(AllowScope::Always, Map::new())),
            ("u 2h", Reply::Allow(AllowScope::Until(TimeLimit::Secs(7_200)), Map::new())),
            ("until 18:00", Reply::Allow(AllowScope::Until(TimeLimit::OfDay(64_800)), Map::new())),
            ("until", Reply::Unclear),
            ("p", Reply::Allow(AllowScope::Pattern, Map::new())),
            ("n", Reply::Refuse(None)),
            ("no, use drafts/ instead", Reply::Refuse(Some("use drafts/ instead".into()))),
            ("show", Reply::Show),
        ] {
            assert_eq!(reply(line), meant, "{line:?}");
        }
        for line in ["", "yy", "ok", "y n", "a b", "\u{1b}[A"] {
            assert_eq!(reply(line), Reply::Unclear, "{line:?}");
        }
    }

    #[test]
    fn the_question_says_who_wants_what_why_for_which_task_and_how_far_an_answer_reaches() {
        let told = question("Lead", &approval());
        for part in [
            "Lead wants to write artifacts/a.md\n",
            "Because its safety mode is safe.",
            "Plan a party",
            "Until this task ends, Lead and agents that it starts may change files with vfs_write",
            "gate.allow.lead: vfs_write(artifacts/a.md)",
        ] {
            assert!(told.contains(part), "{part} in {told}");
        }
        assert!(choices(&approval()).contains("[t]ask"));
        let once = Approval { for_task: None, always: Vec::new(), ..approval() };
        assert!(
            !choices(&once).contains("[t]ask") && !choices(&once).contains("[a]lways"),
            "what cannot be is not offered"
        );
    }

    #[test]
    fn everything_that_would_happen_can_be_shown_within_bounds() {
        let long = (0..150).map(|line| format!("line {line}\u{1b}[2J")).collect::<Vec<_>>().join("\n");
        let shown = approval_details(&approval(), &Preview::Write { path: "artifacts/a.md".into(), text: long });
        assert!(
            shown.contains("text of artifacts/a.md:") && shown.contains("+ line 98") && shown.contains("51 more lines"),
            "{shown}"
        );
        assert!(!printable(&shown).contains('\u{1b}'));
    }
}
