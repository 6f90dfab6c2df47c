//! A single piece of work of one agent, from the queue to its end: plain data.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::approval_question::CallQuestion;
use super::hand_over_result::{DelegatedOutcome, DelegatedTask};
use super::message_notes::{Attached, MessageNote, ReplyNote};
use super::thread_file::ThreadFile;
use super::work_orders::WorkTerms;
use crate::base::{ActivationKey, AgentKey, Id, Seq};
use crate::gate::Authority;
use crate::gateway::SeenCode;
use crate::gateway::mcp::McpSampling;
use crate::mind::{CallEnd, Ending, PromptMessage, Role, ToolCall};
use crate::simulation::ActivityId;
use crate::tools::{CallAnswer, OrderKey, ToolPlan};

/// Who started a piece of work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A person.
    Person,
    /// An agent that started this one.
    Spawn,
    /// A signal from an agent that this one started, or from agents that it listens to.
    Signal,
    /// An agent that delegated the task.
    HandOver,
}

/// The requests that an MCP server makes to models during one call.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Sampling {
    /// The number of requests so far, from which their keys are built.
    pub asked: u32,
    /// The pending request.
    pub open: Option<Box<McpSampling>>,
    /// Whether the pending request was sent to a model.
    pub is_sent: bool,
}

/// A tool call of the current turn.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Call {
    /// The call as the model requested it.
    pub call: ToolCall,
    /// The progress of the call.
    pub progress: CallProgress,
    /// Whether a person allowed the call.
    #[serde(default)]
    pub is_allowed: bool,
    /// The log record of the call, once it has begun.
    #[serde(default)]
    pub record: Option<Seq>,
    /// Whether the call changed a file.
    #[serde(default)]
    pub has_changed: bool,
    /// The tag of the run in which something outside of the work interrupted the call. There, the same interruption is
    /// not progress again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interrupted_in: Option<String>,
    /// The key of the order that the call placed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderKey>,
    /// The plan of the call, while it is in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<ToolPlan>>,
    /// The contents of the files that the command of the call would run, once they were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Box<SeenCode>>,
    /// Whether they were looked at since a person last decided about the call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_code_current: bool,
    /// How often they were looked at.
    #[serde(default)]
    pub looks: u32,
    /// The question to a person about the call, while it is unanswered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Box<CallQuestion>>,
    /// The requests that the call's MCP server made to models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Box<Sampling>>,
    /// The result's content other than text, until the turn is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<Box<Attached>>,
    /// How the call ended, once it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<CallEnd>,
    /// The call whose code made this call, if it was not requested by a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Box<ParentCall>>,
}

impl Call {
    /// Whether the MCP server that executes the call is waiting for an answer from a person.
    pub(super) fn asks_for_server(&self) -> bool {
        self.question.as_ref().is_some_and(|question| question.of_server.is_some())
    }

    /// Whether the call is being executed, including calls whose MCP server waits for a person.
    pub(super) fn is_executing(&self) -> bool {
        match self.progress {
            CallProgress::Running => true,
            CallProgress::Asked(_) => self.asks_for_server(),
            CallProgress::Pending | CallProgress::Answered(_) => false,
        }
    }

    /// Creates a pending call.
    pub(super) fn new(call: ToolCall) -> Self {
        Self {
            call,
            progress: CallProgress::Pending,
            is_allowed: false,
            record: None,
            has_changed: false,
            interrupted_in: None,
            order: None,
            plan: None,
            code: None,
            is_code_current: false,
            looks: 0,
            question: None,
            sampling: None,
            attached: None,
            end: None,
            within: None,
        }
    }

    pub(super) fn is_answered(&self) -> bool {
        matches!(self.progress, CallProgress::Answered(_))
    }
}

/// The call whose code made a nested call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ParentCall {
    /// The index of the parent call in the same turn.
    pub call: usize,
    /// Distinguishes the nested calls of the same code.
    pub number: u64,
    /// The answer to the nested call, once it has ended; absent if it was too long to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<CallAnswer>,
}

/// The progress of a tool call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallProgress {
    /// Not started yet.
    Pending,
    /// Being executed.
    Running,
    /// Waiting for a person's approval; contains the reason.
    Asked(String),
    /// Answered with this text.
    Answered(String),
}

/// The phase of a piece of work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum Phase {
    /// Waiting until the agent has finished its other work.
    Queued,
    /// The agent was called and comes as soon as it is free.
    Summoned,
    /// The agent has arrived, and its model is called next.
    Due,
    /// The model is being called.
    Asking,
    /// The tool calls of the model's reply are carried out one after another.
    Calling {
        /// The calls in the order of the reply.
        calls: Vec<Call>,
    },
}

/// The index of the next or running call. Nested calls come before the call that made them.
pub(super) fn current(calls: &[Call]) -> Option<usize> {
    let is_open = |call: &&Call| !call.is_answered();
    let within = calls.iter().position(|call| call.within.is_some() && is_open(&call));
    within.or_else(|| calls.iter().position(|call| is_open(&call)))
}

/// The maximum number of changed files recorded for a piece of work.
const MAX_OUTPUTS: usize = 200;

/// The result of a call in a session, and how often the call returned it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallOutcome {
    /// Hash of the call.
    pub(super) call: u64,
    /// Hash of the result.
    pub(super) answer: u64,
    /// How often the call had this result.
    pub(super) times: u32,
}

/// A queued or running piece of work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Activation {
    /// The unique key of this work.
    pub key: ActivationKey,
    /// The id of the agent, which may not be in the room yet.
    pub agent: Id,
    /// The id of the profile that the agent uses.
    pub profile: Id,
    /// The key of the agent, once it is in the room.
    pub agent_key: Option<AgentKey>,
    /// The task, or the signal that woke the agent.
    pub input: String,
    /// Who started the work.
    pub origin: Origin,
    /// The session that the work belongs to, by the key of its first activation.
    pub thread: ActivationKey,
    /// The priority; lower values are scheduled sooner.
    pub priority: i32,
    /// The tick at which the work was queued.
    pub queued_tick: u64,
    /// The log record of its queueing.
    pub cause: Seq,
    /// The current phase.
    pub phase: Phase,
    /// Whether the work holds one of the slots for running work.
    pub has_slot: bool,
    /// The agent's activity, once the agent has arrived.
    pub activity: Option<ActivityId>,
    /// The messages of the session, oldest first.
    pub messages: Vec<PromptMessage>,
    /// The number of model requests so far.
    pub turn: u32,
    /// The number of consecutive steps without progress.
    pub strikes: u32,
    /// The number of consecutive transient failures of the model.
    pub failures: u32,
    /// The tick before which the model is not called again.
    pub not_before: u64,
    /// The hourly cap that the work is waiting for.
    #[serde(default)]
    pub cap_hold: Option<CapHold>,
    /// Whether a person had paused the agent when work was last scheduled.
    #[serde(default)]
    pub is_held: bool,
    /// The results of its calls, newest last, for detecting repetition without progress.
    #[serde(default)]
    pub outcomes: Vec<CallOutcome>,
    /// The number of consecutive replies that were cut off at their limit.
    #[serde(default)]
    pub cuts: u32,
    /// The text of those replies, which the next reply continues.
    #[serde(default)]
    pub unfinished: String,
    /// The maximum number of session characters to send, if the model rejected a longer request.
    #[serde(default)]
    pub session_chars_at_most: Option<usize>,
    /// The maximum number of session characters sent with the last request; 0 before the first.
    #[serde(default)]
    pub sent_chars_at_most: usize,
    /// The usage booked when the model last replied: cost in millionths of a dollar, and tokens without a price.
    #[serde(default)]
    pub booked: (u64, u64),
    /// The number of consecutive requests that exceeded the model's context length.
    #[serde(default)]
    pub refused_lengths: u32,
    /// Whether the last request contained images.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sends_images: bool,
    /// Whether the model rejected a request with images, so that no more images are sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_without_images: bool,
    /// Messages from agents that it started, which are not part of the session yet.
    pub mail: VecDeque<String>,
    /// The last message with which it signalled the agent that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_signal: Option<String>,
    /// The paths of the files that it changed, in the order of their first change.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// The hash of the worktree changes that a person was last asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<u64>,
    /// The changes of its worktree that could not be merged into the workspace, with reasons.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmerged: Vec<String>,
    /// The reason for waiting that was last shown for the agent.
    pub told: String,
    /// Whether the session changed since it was last saved.
    pub is_unwritten: bool,
    /// The tick at which the session was last saved; 0 if never.
    #[serde(default)]
    pub written_tick: u64,
    /// The size in bytes of the session when it was last saved.
    #[serde(default)]
    pub written_bytes: u64,
}

/// How long work must wait for an hourly cap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CapWait {
    /// The number of minutes until the oldest counted usage is more than an hour ago.
    pub minutes: u32,
    /// Whether these are minutes of real time instead of simulated time.
    pub is_outside: bool,
}

/// An hourly cap that blocks a piece of work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CapHold {
    /// A message with the cap, the usage that exceeded it, and how to lift it.
    pub why: String,
    /// The remaining minutes of real time; 0 for caps in simulated time, for which `not_before` applies.
    pub outside_minutes: u32,
}

impl Activation {
    /// Records a changed file.
    pub(super) fn note_output(&mut self, path: &str) {
        if self.outputs.len() < MAX_OUTPUTS && !self.outputs.iter().any(|known| known == path) {
            self.outputs.push(path.to_owned());
        }
    }

    /// The next or running tool call. Nested calls come before the call that made them.
    pub fn current_call(&self) -> Option<(usize, &Call)> {
        let Phase::Calling { calls } = &self.phase else { return None };
        let index = current(calls)?;
        Some((index, &calls[index]))
    }

    /// The tool calls of the current turn that the model requested.
    fn asked_calls(&self) -> impl Iterator<Item = &Call> {
        let calls = match &self.phase {
            Phase::Calling { calls } => calls.as_slice(),
            _ => &[],
        };
        calls.iter().filter(|call| call.within.is_none())
    }

    /// The session as it would be if the work were stopped now: every call has a result, and no message is lost.
    pub(super) fn closed_messages(&self) -> Vec<PromptMessage> {
        let mut messages = self.messages.clone();
        messages.extend(self.asked_calls().map(|call| {
            let text = match &call.progress {
                CallProgress::Answered(text) => text.clone(),
                CallProgress::Running => "The work was stopped during this call.".to_owned(),
                _ => "Not carried out: the work was stopped.".to_owned(),
            };
            PromptMessage::result(&call.call, text).ended(call.end)
        }));
        messages.extend(self.mail.iter().map(|text| PromptMessage::plain(Role::User, text.clone())));
        messages
    }

    /// The current session, with the results of the current turn and the messages that arrived.
    pub fn messages_so_far(&self) -> Vec<PromptMessage> {
        let mut messages = self.messages.clone();
        messages.extend(self.asked_calls().filter_map(|call| match &call.progress {
            CallProgress::Answered(text) => Some(PromptMessage::result(&call.call, text.clone()).ended(call.end)),
            _ => None,
        }));
        messages.extend(self.mail.iter().map(|text| PromptMessage::plain(Role::User, text.clone())));
        messages
    }

    /// The call that is waiting for a person's answer, with its index and the reason.
    pub fn question(&self) -> Option<(usize, &ToolCall, &str)> {
        let (index, call) = self.current_call()?;
        match &call.progress {
            CallProgress::Asked(why) => Some((index, &call.call, why)),
            _ => None,
        }
    }

    /// Whether the agent has arrived and its model is called next.
    pub fn is_at_turn(&self) -> bool {
        self.phase == Phase::Due
    }

    /// Whether the agent was called to the work.
    pub fn has_begun(&self) -> bool {
        self.phase != Phase::Queued
    }

    /// Whether the work could continue if it had a slot.
    pub(super) fn wants_slot(&self, now: u64) -> bool {
        match &self.phase {
            Phase::Due => now >= self.not_before && self.cap_hold.as_ref().is_none_or(|hold| hold.outside_minutes == 0),
            Phase::Calling { .. } => self.current_call().is_none_or(|(_, call)| call.progress == CallProgress::Pending),
            _ => false,
        }
    }
}

/// The node of one agent in a run. It outlives its activations, so that a signal can wake the agent again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunNode {
    /// The id of the agent.
    pub agent: Id,
    /// The id of the profile that the agent uses.
    pub profile: Id,
    /// The agent's file name as it appears in results.
    pub file_name: String,
    /// The thread of the agent that started this one.
    pub parent: Option<ActivationKey>,
    /// The thread that a person started, which identifies the run.
    pub root: ActivationKey,
    /// The number of agents between this one and the person.
    pub depth: u32,
    /// The number of agents that this one started.
    pub children: u32,
    /// The queued or running activation.
    pub live: Option<ActivationKey>,
    /// The session's messages, while no activation is pending.
    pub messages: Vec<PromptMessage>,
    /// Metadata of the session's messages, in the same order.
    #[serde(default)]
    pub notes: Vec<MessageNote>,
    /// Metadata of the model's last reply, until the reply is added to the messages.
    #[serde(default)]
    pub unnoted: Option<ReplyNote>,
    /// Results' content other than text, by message index, until it is added to the notes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unnoted_attached: BTreeMap<usize, Box<Attached>>,
    /// The ended activations of this thread, oldest first.
    #[serde(default)]
    pub earlier: Vec<ActivationKey>,
    /// The authority of all agents above this one, which it can never exceed.
    pub starters: Vec<Authority>,
    /// Whether a person stopped the agent, so that other agents cannot wake it.
    #[serde(default)]
    pub is_stopped: bool,
    /// The report to the agent that started this one, due once everything that this one started has ended.
    #[serde(default)]
    pub report: Option<Report>,
    /// The result that the agent owes, if its task was delegated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<Box<DelegatedTask>>,
    /// The terms under which the work was ordered.
    #[serde(default, skip_serializing_if = "WorkTerms::is_default")]
    pub terms: WorkTerms,
    /// Information about the session file.
    #[serde(default, skip_serializing_if = "ThreadFile::is_default")]
    pub file: ThreadFile,
}

/// A report on how the last activation of a thread ended, for the agent that started it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The activation that ended.
    pub activation: ActivationKey,
    /// The text of the report.
    pub words: String,
    /// The result, if the task was delegated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<DelegatedOutcome>,
}

/// An ended piece of work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finished {
    /// The key of the work.
    pub key: ActivationKey,
    /// The run that it belonged to.
    pub root: ActivationKey,
    /// The id of the agent.
    pub agent: Id,
    /// How it ended.
    pub ending: Ending,
}
