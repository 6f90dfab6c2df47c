//! The chat between an agent and its model, with tool calls, as display lines: of running work, of the conversation
//! session of an agent without work, and of finished work from its session file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bevy::ecs::change_detection::{DetectChanges, Tick as ChangeTick};
use bevy::ecs::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use super::work::{QuestionView, stage};
use crate::base::text::{one_line, truncate};
use crate::base::{ActivationKey, Id};
use crate::gateway::ledger::Tally;
use crate::gateway::{LiveText, RequestQueue};
use crate::kernel::{Activation, Call, CallProgress, Kernel, Phase, prompt_message};
use crate::mind::{CallEnd, PromptMessage, Role, Session, ToolCall};
use crate::workspace::{session_files, yaml};

/// Of longer texts, the beginning is shown at first.
pub const SHOWN_CHARS: usize = 8_000;
/// Longer arguments and results of tool calls are truncated; the session file has them whole.
const TOOL_CHARS: usize = 100_000;
/// Maximum length of a call's subject, in characters.
const ABOUT_CHARS: usize = 80;
/// Argument names that contain the subject of a call, most specific first.
const ABOUT_KEYS: [&str; 9] = ["path", "file_path", "filename", "from", "prefix", "text", "glob", "message", "task"];
/// Larger session files are not parsed, in bytes.
const MAX_FILE_BYTES: usize = 8_000_000;

/// One line of a chat.
#[derive(Clone, PartialEq, Debug)]
pub enum ChatLine {
    /// Input to the agent: a task, mail or a nudge.
    Room(String),
    /// The model's thoughts before an answer, which no other agent sees.
    Thought(String),
    /// The model's answer.
    Agent(String),
    /// A tool call.
    Tool(ToolLine),
}

/// A tool call with its outcome.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolLine {
    /// The name of the tool.
    pub name: String,
    /// The subject of the call, usually a path. May be empty.
    pub about: String,
    /// All arguments as text.
    pub arguments: String,
    /// The outcome.
    pub outcome: ToolLineOutcome,
}

/// The outcome of a tool call.
#[derive(Clone, PartialEq, Debug)]
pub enum ToolLineOutcome {
    /// It is queued.
    Waiting,
    /// It is running.
    Running,
    /// It waits for a person's approval, for this reason.
    Asked(String),
    /// It returned a result to the model.
    Answered {
        /// The result; a very long one is truncated.
        text: String,
        /// Number of characters of the whole result.
        chars: usize,
        /// How the call ended; `None` in sessions of older versions, which only have the text.
        end: Option<CallEnd>,
    },
    /// No result is known.
    Unanswered,
}

impl ToolLine {
    /// The collapsed line: `[vfs_read] artifacts/spec.md (1,247 characters)`.
    pub fn heading(&self) -> String {
        let about = if self.about.is_empty() { String::new() } else { format!(" {}", self.about) };
        let outcome = match &self.outcome {
            ToolLineOutcome::Waiting => "waits".to_owned(),
            ToolLineOutcome::Running => "in progress".to_owned(),
            ToolLineOutcome::Asked(_) => "needs you".to_owned(),
            ToolLineOutcome::Answered { .. } if self.has_failed() => "not done".to_owned(),
            ToolLineOutcome::Answered { end: Some(CallEnd::Otherwise), .. } => "done differently".to_owned(),
            ToolLineOutcome::Answered { chars: 1, .. } => "1 character".to_owned(),
            ToolLineOutcome::Answered { chars, .. } => format!("{} characters", grouped(*chars)),
            ToolLineOutcome::Unanswered => "no answer".to_owned(),
        };
        format!("[{}]{about} ({outcome})", self.name)
    }

    /// Whether the call failed or was denied.
    pub fn has_failed(&self) -> bool {
        match &self.outcome {
            ToolLineOutcome::Answered { end: Some(end), .. } => *end == CallEnd::NotDone,
            ToolLineOutcome::Answered { end: None, text, .. } => text.starts_with("Error"),
            _ => false,
        }
    }
}

/// A number with thousands separators: `1,247`.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Converts messages to lines, each call with its result. `thought` returns the thoughts of the message with an index;
/// `calls` are the unfinished calls of the last message.
pub fn lines<'a>(
    messages: &[PromptMessage],
    thought: impl Fn(usize) -> Option<&'a str>,
    calls: &[Call],
) -> Vec<ChatLine> {
    let mut lines = Vec::with_capacity(messages.len());
    // Calls of the agent's last message without a result: the call id, and the index of its line.
    let mut open: Vec<(&str, usize)> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        match message.role {
            Role::User => lines.push(ChatLine::Room(message.text.clone())),
            Role::Assistant => {
                let thought = thought(number).filter(|thought| !thought.trim().is_empty());
                lines.extend(thought.map(|thought| ChatLine::Thought(thought.to_owned())));
                if !message.text.trim().is_empty() {
                    lines.push(ChatLine::Agent(message.text.clone()));
                }
                open.clear();
                for call in &message.tool_calls {
                    open.push((&call.id, lines.len()));
                    lines.push(ChatLine::Tool(tool_line(call)));
                }
            }
            Role::Tool => {
                let answers = message.answers.as_deref().unwrap_or_default();
                let outcome = answered_outcome(&message.text, message.end);
                let called = open.iter().position(|(id, _)| *id == answers);
                match called.map(|at| open.remove(at).1).and_then(|at| lines.get_mut(at)) {
                    Some(ChatLine::Tool(line)) => line.outcome = outcome,
                    _ => lines.push(ChatLine::Tool(unmatched_result(answers, outcome))),
                }
            }
        }
    }
    for (number, (call, (_, at))) in calls.iter().zip(open).enumerate() {
        if let Some(ChatLine::Tool(line)) = lines.get_mut(at) {
            line.outcome = match &call.progress {
                CallProgress::Pending => ToolLineOutcome::Waiting,
                CallProgress::Running => nested_approval(calls, number).unwrap_or(ToolLineOutcome::Running),
                CallProgress::Asked(why) => ToolLineOutcome::Asked(why.clone()),
                CallProgress::Answered(text) => answered_outcome(text, call.end),
            };
        }
    }
    lines
}

/// The approval that is pending for a nested call made by this call's code.
fn nested_approval(calls: &[Call], number: usize) -> Option<ToolLineOutcome> {
    let mut own = calls.iter().filter(|call| call.within.as_ref().is_some_and(|within| within.call == number));
    own.find_map(|call| {
        if let CallProgress::Asked(why) = &call.progress { Some(ToolLineOutcome::Asked(why.clone())) } else { None }
    })
}

fn answered_outcome(text: &str, end: Option<CallEnd>) -> ToolLineOutcome {
    ToolLineOutcome::Answered { text: truncate(text, TOOL_CHARS), chars: text.chars().count(), end }
}

/// A result whose call is unknown.
fn unmatched_result(answers: &str, outcome: ToolLineOutcome) -> ToolLine {
    ToolLine { name: "a tool".to_owned(), about: truncate(answers, ABOUT_CHARS), arguments: String::new(), outcome }
}

fn tool_line(call: &ToolCall) -> ToolLine {
    let about = ABOUT_KEYS.iter().find_map(|key| call.arguments.get(key)?.as_str());
    let outcome = ToolLineOutcome::Unanswered;
    ToolLine { name: call.name.clone(), about: short(about), arguments: format_arguments(&call.arguments), outcome }
}

fn short(about: Option<&str>) -> String {
    // The argument may be a whole text; only its start is needed.
    let start: String = about.unwrap_or_default().chars().take(ABOUT_CHARS * 4).collect();
    truncate(&one_line(&start), ABOUT_CHARS)
}

/// Arguments as readable text: one per line, strings unquoted.
fn format_arguments(arguments: &Value) -> String {
    let text = match arguments {
        Value::Object(map) => {
            let lines = map.iter().map(|(key, value)| match value {
                Value::String(text) => format!("{key}: {}", truncate(text, TOOL_CHARS)),
                other => format!("{key}: {other}"),
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    truncate(&text, TOOL_CHARS)
}

/// The chat between an agent and its model.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ChatView {
    /// The current piece of work; `None` if the agent only reads and talks.
    pub work: Option<WorkFacts>,
    /// All completed lines.
    pub lines: Arc<Vec<ChatLine>>,
    /// The answer that is being streamed.
    pub live: Option<LiveAnswer>,
}

/// Facts about a running piece of work.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkFacts {
    /// Identifies the piece.
    pub activation: ActivationKey,
    /// The task.
    pub task: Arc<str>,
    /// Its progress in a word, such as “thinking”.
    pub stage: &'static str,
    /// Number of model requests so far.
    pub turn: u32,
    /// Usage so far.
    pub spent: Tally,
    /// The pending approval.
    pub question: Option<QuestionView>,
}

/// An answer that is being streamed.
#[derive(Clone, PartialEq, Debug)]
pub struct LiveAnswer {
    /// The thoughts that a coding agent has reported so far.
    pub thought: Arc<str>,
    /// The text so far.
    pub text: Arc<str>,
    /// The tool calls so far: name and subject.
    pub calls: Vec<(String, String)>,
}

/// The cached lines of an agent's chat, and their source.
struct CachedChat {
    of: Source,
    lines: Arc<Vec<ChatLine>>,
    task: Arc<str>,
    live: (Arc<str>, Arc<str>),
}

/// The input of cached chat lines; the lines are reused while it stays equal.
#[derive(PartialEq, Debug)]
enum Source {
    Work { activation: ActivationKey, turn: u32, messages: usize, progress: Vec<u8> },
    Exchange(Option<ChangeTick>),
}

/// Cached chats of the agents that are inspected.
#[derive(Default)]
pub struct Chats(BTreeMap<Id, CachedChat>);

impl Chats {
    /// Drops the chats of agents that are no longer inspected.
    pub fn retain(&mut self, looked_at: &BTreeSet<&Id>) {
        self.0.retain(|agent, _| looked_at.contains(agent));
    }

    /// The chat of an agent.
    pub fn read(&mut self, world: &World, entity: EntityRef, agent: &Id) -> ChatView {
        let kernel = world.get_resource::<Kernel>();
        let work = kernel.and_then(|kernel| current(kernel, agent));
        let source = source_of(work, entity);
        if self.0.get(agent).is_none_or(|known| known.of != source) {
            let lines = match work {
                Some(work) => {
                    let thread = kernel.and_then(|kernel| kernel.thread(work.thread));
                    let reply = |number: usize| thread?.notes.get(number)?.reply.as_ref();
                    lines(&work.messages, |number| reply(number).map(|reply| reply.thought.as_str()), calls_of(work))
                }
                None => {
                    entity.get::<Session>().map_or_else(Vec::new, |session| lines(&session.messages, |_| None, &[]))
                }
            };
            let task = work.map_or("", |work| &work.input).into();
            let live = self.0.remove(agent).map_or_else(|| ("".into(), "".into()), |known| known.live);
            self.0.insert(agent.clone(), CachedChat { of: source, lines: lines.into(), task, live });
        }
        let Some(known) = self.0.get_mut(agent) else { return ChatView::default() };
        let live = live_answer(world.resource::<LiveText>(), agent, &mut known.live);
        let facts = work.map(|work| WorkFacts {
            activation: work.key,
            task: known.task.clone(),
            stage: stage(work),
            turn: work.turn,
            spent: world.resource::<RequestQueue>().ledger().activation(&work.key.id()),
            question: QuestionView::read(world, work),
        });
        ChatView { work: facts, lines: known.lines.clone(), live }
    }
}

/// The agent's running piece of work, otherwise the one that has waited longest.
fn current<'a>(kernel: &'a Kernel, agent: &Id) -> Option<&'a Activation> {
    let mut own = kernel.activations().filter(|one| one.agent == *agent);
    let first = own.next()?;
    if first.has_begun() { Some(first) } else { own.find(|one| one.has_begun()).or(Some(first)) }
}

fn calls_of(work: &Activation) -> &[Call] {
    match &work.phase {
        Phase::Calling { calls } => calls,
        _ => &[],
    }
}

fn source_of(work: Option<&Activation>, entity: EntityRef) -> Source {
    let Some(work) = work else {
        return Source::Exchange(entity.get_ref::<Session>().map(|session| session.last_changed()));
    };
    let progress = calls_of(work).iter().map(|call| match call.progress {
        CallProgress::Pending => 0,
        CallProgress::Running => 1,
        CallProgress::Asked(_) => 2,
        CallProgress::Answered(_) => 3,
    });
    Source::Work { activation: work.key, turn: work.turn, messages: work.messages.len(), progress: progress.collect() }
}

fn live_answer(live: &LiveText, agent: &Id, known: &mut (Arc<str>, Arc<str>)) -> Option<LiveAnswer> {
    let (_, text) = live.iter().find(|(id, _)| *id == agent)?;
    let (known, known_thought) = known;
    for (known, now) in [(&mut *known, text), (&mut *known_thought, live.reasoning(agent))] {
        if **known != *now {
            *known = now.into();
        }
    }
    let calls = live.iter_calls().find(|(id, _)| *id == agent).map_or(&[][..], |(_, calls)| calls);
    let about = |call: &crate::gateway::LiveCall| ABOUT_KEYS.iter().find_map(|key| call.argument(key));
    let calls = calls.iter().map(|call| (call.name.clone(), short(about(call).as_deref()))).collect();
    Some(LiveAnswer { thought: known_thought.clone(), text: known.clone(), calls })
}

/// A parsed session file.
#[derive(Clone, PartialEq, Debug)]
pub struct SessionRead {
    /// The activation's id: `act-12`.
    pub activation: String,
    /// The session's id, after which its file is named; empty in files of older versions.
    pub session_id: String,
    /// The id of the session's thread; empty in files of older versions.
    pub thread: String,
    /// The agent's id.
    pub agent: String,
    /// The task.
    pub task: String,
    /// Who started it.
    pub started_by: String,
    /// `completed`, `failed`, `aborted`, `running`, …
    pub status: String,
    /// The reason for the status.
    pub why: String,
    /// Number of model requests.
    pub turns: u32,
    /// The messages as lines.
    pub lines: Vec<ChatLine>,
}

/// The displayed fields of a session file: at the top level in older versions, otherwise below `metadata`.
#[derive(Deserialize)]
struct SessionFile {
    activation: String,
    #[serde(default)]
    thread: String,
    agent: String,
    #[serde(default)]
    task: String,
    #[serde(default)]
    started_by: String,
    #[serde(default)]
    status: String,
    #[serde(default)]
    why: Option<String>,
    #[serde(default)]
    turns: u32,
    #[serde(default)]
    messages: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    by: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    calls: Vec<CallLine>,
    #[serde(default)]
    answers: Option<String>,
}

#[derive(Deserialize)]
struct CallLine {
    id: String,
    tool: String,
    #[serde(default)]
    arguments: Value,
}

/// Parses a session file. The error is a sentence for the person.
pub fn parse_session(text: &str) -> Result<SessionRead, String> {
    if text.len() > MAX_FILE_BYTES {
        return Err(format!("The session file is too long to show here: {} bytes.", grouped(text.len())));
    }
    let unreadable = |why: String| format!("The session file could not be read: {why}. Open the file to see its text.");
    let data = yaml::parse(text).map_err(|error| unreadable(error.what))?;
    if data.get("session_id").is_some() || data.get("agent_id").is_some() {
        return parse_current(text, &data).map_err(unreadable);
    }
    let file: SessionFile = serde_json::from_value(data).map_err(|error| unreadable(error.to_string()))?;
    let messages: Vec<PromptMessage> = file.messages.into_iter().map(message).collect();
    Ok(SessionRead {
        activation: file.activation,
        session_id: String::new(),
        thread: file.thread,
        agent: file.agent,
        task: file.task,
        started_by: file.started_by,
        status: file.status,
        why: file.why.unwrap_or_default(),
        turns: file.turns,
        lines: lines(&messages, |_| None, &[]),
    })
}

/// Parses a file in the current format. A session that a person began has no work yet.
fn parse_current(text: &str, data: &Value) -> Result<SessionRead, String> {
    let session = session_files::parse(text).map_err(|fault| match fault.line {
        Some(line) => format!("line {line}: {fault}"),
        None => fault.to_string(),
    })?;
    let word = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let metadata = |key: &str| data.get("metadata").and_then(|metadata| metadata.get(key));
    let work = word(metadata("work"));
    let messages: Vec<PromptMessage> = session.messages.iter().map(prompt_message).collect();
    let thought = |number: usize| data.get("messages")?.get(number)?.get("metadata")?.get("thoughts")?.as_str();
    Ok(SessionRead {
        activation: word(metadata("activation")),
        session_id: session.session_id.unwrap_or_default(),
        thread: word(metadata("thread")),
        agent: session.agent_id,
        task: word(metadata("task")),
        started_by: word(metadata("started_by")),
        status: if work.is_empty() { word(data.get("status")) } else { work },
        why: word(metadata("why")),
        turns: metadata("turns").and_then(Value::as_u64).and_then(|turns| turns.try_into().ok()).unwrap_or(0),
        lines: lines(&messages, thought, &[]),
    })
}

fn message(line: Line) -> PromptMessage {
    let role = match line.by.as_str() {
        "agent" => Role::Assistant,
        "tool" => Role::Tool,
        // Everything else comes from the room.
        _ => Role::User,
    };
    let calls = line.calls.into_iter().map(|call| ToolCall::new(call.id, call.tool, call.arguments));
    PromptMessage { tool_calls: calls.collect(), answers: line.answers, ..PromptMessage::plain(role, line.text) }
}

#[cfg(test)]
#[path = "chat_tests.rs"]
mod tests;
