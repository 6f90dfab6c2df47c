//! Log events with a coding agent's reports about itself: its own tool calls, and its plan. These are its own claims.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::log::narration::NarrationContext;
use crate::log::{EventData, EventKind, Word};
use crate::mind::{AgentOption, AgentToolCall, OwnCommand, PlanStep, RanInTerminal};

/// What a person is told if an agent could not write something.
const REFUSED_ACCESS: &str = ", and says that it failed, because the system did not let it write there: in its sandbox, it \
    can only write to existing folders of the workspace that are not guarded, such as artifacts. If it needs more, let it \
    write through the room, or install bubblewrap or switch the sandbox off (workshop doctor says which is used)";
/// The maximum number of files that are named in one line.
const MAX_NAMED: usize = 3;

/// A coding agent reports that it used one of its own tools.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AgentToolUsed {
    /// The tool call as the agent reports it.
    #[serde(flatten)]
    pub call: AgentToolCall,
}

impl EventData for AgentToolUsed {
    const KIND: EventKind = EventKind::Other(Word::Borrowed("own_tool"));

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let AgentToolCall { title, kind, status, paths, .. } = &self.call;
        let how = match status.as_str() {
            "completed" => "",
            "failed" if self.call.is_refused_access => REFUSED_ACCESS,
            "failed" => ", and says that it failed",
            _ => ", and does not say how that ended",
        };
        let title = if title.is_empty() { kind } else { title };
        let mut words = format!("{} used its own tool ({kind}): {title}", context.who());
        let others: Vec<&str> = paths.iter().map(String::as_str).filter(|path| !title.contains(path)).collect();
        if !others.is_empty() {
            let named = others.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
            // Writing into a string cannot fail.
            let _ = write!(words, " [{named}]");
        }
        match self.call.images {
            0 => {}
            1 => words += ", with an image",
            more => words += &format!(", with {more} images"),
        }
        words + how
    }
}

/// The room ran a program for a coding agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TerminalRan {
    /// The program, and how it ended.
    #[serde(flatten)]
    pub ran: RanInTerminal,
}

impl EventData for TerminalRan {
    const KIND: EventKind = EventKind::Other(Word::Borrowed("terminal"));

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let RanInTerminal { command, exit_code, end, secs, .. } = &self.ran;
        let how = match (exit_code, end.as_str()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, "timed_out") => "ended by the room, because it took too long".to_owned(),
            (None, "said_too_much") => "ended by the room, because it wrote too much".to_owned(),
            (None, "killed") => "killed".to_owned(),
            _ => "ended with the turn or by the agent".to_owned(),
        };
        format!("{} ran `{command}` in a terminal: {how}, after {secs:.1} s", context.who())
    }
}

/// A coding agent reports its options and their current values.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AgentOptionsReported {
    /// All options.
    pub options: Vec<AgentOption>,
}

impl EventData for AgentOptionsReported {
    const KIND: EventKind = EventKind::Other(Word::Borrowed("own_options"));

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let chosen = self.options.iter().map(|option| {
            let value = option.values.iter().find(|value| value.id == option.current);
            let name = value.map_or(option.current.as_str(), |value| &value.name);
            let asks_less = value.is_some_and(|value| value.asks_less);
            let note = if asks_less { ", in which it asks less often" } else { "" };
            format!("{} {name}{note}", option.name.to_lowercase())
        });
        format!("{} works with {}", context.who(), chosen.collect::<Vec<_>>().join(", "))
    }
}

/// A coding agent reports its commands.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OwnCommands {
    /// All commands.
    pub commands: Vec<OwnCommand>,
}

impl EventData for OwnCommands {
    const KIND: EventKind = EventKind::Other(Word::Borrowed("own_commands"));

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let named: Vec<String> = self.commands.iter().take(8).map(|command| format!("/{}", command.name)).collect();
        let more = match self.commands.len().saturating_sub(named.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{} knows the commands {}{more}", context.who(), named.join(", "))
    }
}

/// A coding agent reports its plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct AgentPlanReported {
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
}

impl EventData for AgentPlanReported {
    const KIND: EventKind = EventKind::Other(Word::Borrowed("own_plan"));

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let done = self.steps.iter().filter(|step| step.status == "completed").count();
        let steps = self.steps.iter().map(|step| match step.status.as_str() {
            "completed" => format!("{} (done)", step.text),
            "in_progress" => format!("{} (in progress)", step.text),
            _ => step.text.clone(),
        });
        let steps = steps.collect::<Vec<_>>().join("; ");
        format!("{} plans, {done} of {} done: {steps}", context.who(), self.steps.len())
    }
}
