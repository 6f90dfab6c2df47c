//! One piece of work of one agent, from the queue to its end: plain data.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::approval_question::CallQuestion;
use super::hand_over_result::{Given, Handed};
use super::message_notes::{Attached, MessageNote, ReplyNote};
use super::thread_file::ThreadFile;
use super::work_orders::WorkTerms;
use crate::base::hash::content_hash;
use crate::base::{ActivationKey, AgentKey, Id, Seq};
use crate::gate::Authority;
use crate::gateway::mcp::McpSampling;
use crate::mind::history_trimming::is_left_out;
use crate::mind::{CallEnd, Ending, PromptMessage, Role, ToolCall};
use crate::simulation::ActivityId;
use crate::tools::{CallAnswer, OrderKey, ToolPlan, call_hash};

/// Who set a piece of work going.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A person.
    Person,
    /// An agent that started this one.
    Spawn,
    /// An agent that was started by this one and has something to say, or others that it listens to.
    Signal,
    /// An agent that handed the task over.
    HandOver,
}

/// The questions of a server to models during one call.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Sampling {
    /// How many there were: names them.
    pub asked: u32,
    /// The question that has no answer yet.
    pub open: Option<Box<McpSampling>>,
    /// Whether a model was already asked it.
    pub is_sent: bool,
}

/// A tool call of the turn that goes on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Call {
    /// What the model asked for.
    pub call: ToolCall,
    /// How far it is.
    pub progress: CallProgress,
    /// Whether a person allowed it.
    #[serde(default)]
    pub is_allowed: bool,
    /// The record of it, once it was begun.
    #[serde(default)]
    pub record: Option<Seq>,
    /// Whether a file is another since it was carried out.
    #[serde(default)]
    pub has_changed: bool,
    /// Whether something outside of the work stopped it while it was carried out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_interrupted: bool,
    /// The order that it gave, once it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderKey>,
    /// What it comes to, from when it was begun until it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<ToolPlan>>,
    /// What a person is asked about it, from when that is asked until it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Box<CallQuestion>>,
    /// What the server that carries it out asks a model, once it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Box<Sampling>>,
    /// What its result holds beside words, from when it is answered until the turn is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<Box<Attached>>,
    /// What became of it, once it is answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<CallEnd>,
    /// For the code of which call it is made, where no model asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Box<ParentCall>>,
}

impl Call {
    /// Whether a person is asked something by the server that carries it out.
    pub(super) fn asks_for_server(&self) -> bool {
        self.question.as_ref().is_some_and(|question| question.of_server.is_some())
    }

    /// Whether it is in progress, including work that waits for a person.
    pub(super) fn is_carried_out(&self) -> bool {
        match self.progress {
            CallProgress::Running => true,
            CallProgress::Asked(_) => self.asks_for_server(),
            CallProgress::Pending | CallProgress::Answered(_) => false,
        }
    }

    /// A call whose turn has not come.
    pub(super) fn new(call: ToolCall) -> Self {
        Self {
            call,
            progress: CallProgress::Pending,
            is_allowed: false,
            record: None,
            has_changed: false,
            was_interrupted: false,
            order: None,
            plan: None,
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

/// For whose code a call is made.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ParentCall {
    /// Which call of the same turn.
    pub call: usize,
    /// Tells it from the others that this code wants made.
    pub number: u64,
    /// What it came to, once it is over; absent where that was too long to keep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<CallAnswer>,
}

/// How far a tool call is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallProgress {
    /// Its turn has not come.
    Pending,
    /// It is being carried out.
    Running,
    /// A person is asked whether it may happen; in words, why.
    Asked(String),
    /// It was answered with this text.
    Answered(String),
}

/// What a piece of work is at.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum Phase {
    /// It waits until its agent has nothing else to do for another piece of work.
    Queued,
    /// Its agent was called and comes as soon as it is free.
    Summoned,
    /// The agent is there; the next thing is to ask its model.
    Due,
    /// The model is asked.
    Asking,
    /// The tools that the model called are carried out, one after another.
    Calling {
        /// In the order of the reply.
        calls: Vec<Call>,
    },
}

/// Which of these calls is next or running.
pub(super) fn current(calls: &[Call]) -> Option<usize> {
    let is_open = |call: &&Call| !call.is_answered();
    let within = calls.iter().position(|call| call.within.is_some() && is_open(&call));
    within.or_else(|| calls.iter().position(|call| is_open(&call)))
}

/// How often one call may have the same result in a session, alternating with other results, and still count as
/// progress: a file that changes back and forth is not progress.
const SAME_RESULTS_AT_MOST: u32 = 3;

/// How many changed files of a piece of work are remembered.
const OUTPUTS_AT_MOST: usize = 200;

/// What a call has come to in a session, and how often.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallOutcome {
    /// The call, by hash.
    call: u64,
    /// Its result, by hash.
    answer: u64,
    /// How often it had that result.
    times: u32,
}

/// A piece of work that waits or goes on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Activation {
    /// Names it.
    pub key: ActivationKey,
    /// The agent that does it, by id; it may not be in the room yet.
    pub agent: Id,
    /// The profile that the agent runs.
    pub profile: Id,
    /// The number of the agent, once it is in the room.
    pub agent_key: Option<AgentKey>,
    /// The task, or the signal that woke it.
    pub input: String,
    /// Who set it going.
    pub origin: Origin,
    /// The session that it belongs to: the key of its first activation.
    pub thread: ActivationKey,
    /// Lower comes sooner.
    pub priority: i32,
    /// The tick in which it was queued.
    pub queued_tick: u64,
    /// The record that queued it.
    pub cause: Seq,
    /// What it is at.
    pub phase: Phase,
    /// Whether it has one of the places for work that goes on.
    pub has_slot: bool,
    /// The agent's activity, once the agent is there.
    pub activity: Option<ActivityId>,
    /// The session: everything that was said and done, oldest first.
    pub messages: Vec<PromptMessage>,
    /// Questions that were asked.
    pub turn: u32,
    /// Steps without progress, one after another.
    pub strikes: u32,
    /// Failures of the model that may pass, one after another.
    pub failures: u32,
    /// It does not ask before this tick.
    pub not_before: u64,
    /// The cap by the hour that it waits for, if one holds it back.
    #[serde(default)]
    pub cap_hold: Option<CapHold>,
    /// Whether a person held its agent back when work was last given out.
    #[serde(default)]
    pub is_held: bool,
    /// What its calls came to, the newest last: to get the same again and again is no progress.
    #[serde(default)]
    pub outcomes: Vec<CallOutcome>,
    /// How many of its replies were cut off at their limit, one after another.
    #[serde(default)]
    pub cuts: u32,
    /// What it said in them, for the last one to go on with.
    #[serde(default)]
    pub unfinished: String,
    /// Characters of its session that are sent, where its model refused more.
    #[serde(default)]
    pub session_chars_at_most: Option<usize>,
    /// Characters of its session that might be sent with its last question; 0 before the first.
    #[serde(default)]
    pub sent_chars_at_most: usize,
    /// What was booked for it when its model answered last, in millionths of a dollar and in tokens without a price.
    #[serde(default)]
    pub booked: (u64, u64),
    /// How often its model refused a question for its length, one after another.
    #[serde(default)]
    pub refused_lengths: u32,
    /// Whether its last question held images.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sends_images: bool,
    /// Whether its model refused a question with images: it is sent none any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_without_images: bool,
    /// What agents that it started told it and it has not been asked about.
    pub mail: VecDeque<String>,
    /// Whether it told the agent that started it anything.
    pub has_signalled: bool,
    /// Paths of files that it changed, in the order in which it first did.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// The changes of its agent's own copy that a person was asked about last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposed: Option<u64>,
    /// The reason for waiting that its agent was last told.
    pub told: String,
    /// Whether its session changed since it was written down.
    pub is_unwritten: bool,
    /// The tick in which its session was last written down; 0: never.
    #[serde(default)]
    pub written_tick: u64,
    /// How large its session was then.
    #[serde(default)]
    pub written_bytes: u64,
}

/// How long a cap by the hour leaves no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CapWait {
    /// Minutes until the oldest use is an hour ago.
    pub minutes: u32,
    /// Whether they are minutes of the world outside, not of the room.
    pub is_outside: bool,
}

/// A cap by the hour that leaves no room for a piece of work.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CapHold {
    /// Which cap, by what, and what lifts it.
    pub why: String,
    /// Minutes of the world outside that are still to pass; where the room's own count, the tick says it.
    pub outside_minutes: u32,
}

impl Activation {
    /// Notes a file that it changed.
    pub(super) fn note_output(&mut self, path: &str) {
        if self.outputs.len() < OUTPUTS_AT_MOST && !self.outputs.iter().any(|known| known == path) {
            self.outputs.push(path.to_owned());
        }
    }

    /// Records the result of a call. Returns whether it is progress: another result than the last time, a file that it
    /// changed, an interrupted call that is tried again, or a result that is no longer among the `chars_at_most` that
    /// are sent and whose placeholder asks for the call; unless that happened again and again.
    pub(super) fn note_outcome(&mut self, call: &Call, answer: &str, chars_at_most: usize) -> bool {
        let (call_hash, answer_hash) = (call_hash(&call.call), content_hash(answer.as_bytes()));
        let last = self.outcomes.iter().rfind(|one| one.call == call_hash).map(|one| one.answer);
        let known = self.outcomes.iter().position(|one| (one.call, one.answer) == (call_hash, answer_hash));
        let before = known.map_or(0, |at| self.outcomes.remove(at).times);
        let times = before.saturating_add(1);
        self.outcomes.push(CallOutcome { call: call_hash, answer: answer_hash, times });
        let is_another = before == 0 || call.has_changed || call.was_interrupted || last != Some(answer_hash);
        // Asked last: it goes through the whole session.
        let was_left_out = || is_left_out(&self.messages, chars_at_most, &call.call);
        times <= SAME_RESULTS_AT_MOST && (is_another || was_left_out())
    }

    /// The tool call that is next or under way; what the code of one wants made comes before that one goes on.
    pub fn current_call(&self) -> Option<(usize, &Call)> {
        let Phase::Calling { calls } = &self.phase else { return None };
        let index = current(calls)?;
        Some((index, &calls[index]))
    }

    /// The tool calls of the current turn that its model requested.
    fn asked_calls(&self) -> impl Iterator<Item = &Call> {
        let calls = match &self.phase {
            Phase::Calling { calls } => calls.as_slice(),
            _ => &[],
        };
        calls.iter().filter(|call| call.within.is_none())
    }

    /// The session as it would be if the work were stopped now: every call has an answer, and no mail is lost.
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

    /// The current session, with the tool results of the current turn and the messages that arrived.
    pub fn messages_so_far(&self) -> Vec<PromptMessage> {
        let mut messages = self.messages.clone();
        messages.extend(self.asked_calls().filter_map(|call| match &call.progress {
            CallProgress::Answered(text) => Some(PromptMessage::result(&call.call, text.clone()).ended(call.end)),
            _ => None,
        }));
        messages.extend(self.mail.iter().map(|text| PromptMessage::plain(Role::User, text.clone())));
        messages
    }

    /// What a person is asked about it, if one is.
    pub fn question(&self) -> Option<(usize, &ToolCall, &str)> {
        let (index, call) = self.current_call()?;
        match &call.progress {
            CallProgress::Asked(why) => Some((index, &call.call, why)),
            _ => None,
        }
    }

    /// Whether its agent is there, and the next thing is to ask its model.
    pub fn is_at_turn(&self) -> bool {
        self.phase == Phase::Due
    }

    /// Whether its agent is at it or on the way.
    pub fn has_begun(&self) -> bool {
        self.phase != Phase::Queued
    }

    /// Whether it could continue if it had a slot.
    pub(super) fn wants_slot(&self, now: u64) -> bool {
        match &self.phase {
            Phase::Due => now >= self.not_before && self.cap_hold.as_ref().is_none_or(|hold| hold.outside_minutes == 0),
            Phase::Calling { .. } => self.current_call().is_none_or(|(_, call)| call.progress == CallProgress::Pending),
            _ => false,
        }
    }
}

/// One agent's part in a run: it outlives its activations, so that a signal can wake it again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunNode {
    /// The agent, by id.
    pub agent: Id,
    /// The profile that it runs.
    pub profile: Id,
    /// The agent's own file name, as results speak of it.
    pub file_name: String,
    /// The thread of the agent that started it.
    pub parent: Option<ActivationKey>,
    /// The thread that a person started: the run.
    pub root: ActivationKey,
    /// The number of agents between it and the person.
    pub depth: u32,
    /// Agents that it started.
    pub children: u32,
    /// The activation that waits or goes on.
    pub live: Option<ActivationKey>,
    /// The session, while nothing is pending.
    pub messages: Vec<PromptMessage>,
    /// What is known of the session's messages beside their words, in the same order.
    #[serde(default)]
    pub notes: Vec<MessageNote>,
    /// What the model took for what it said last, until that is among the messages.
    #[serde(default)]
    pub unnoted: Option<ReplyNote>,
    /// What results hold beside words, by the places of their messages, until it is among the notes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unnoted_attached: BTreeMap<usize, Box<Attached>>,
    /// The pieces of work of it that are over, the oldest first.
    #[serde(default)]
    pub earlier: Vec<ActivationKey>,
    /// What those who started it may do: it may never do more.
    pub starters: Vec<Authority>,
    /// Whether a person stopped it: nothing that agents say wakes it again.
    #[serde(default)]
    pub is_stopped: bool,
    /// The report for the agent that started it, due once everything that this one started has ended.
    #[serde(default)]
    pub report: Option<Report>,
    /// What it is to give back, where its task was handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<Box<Handed>>,
    /// What whoever ordered it lends it.
    #[serde(default, skip_serializing_if = "WorkTerms::is_usual")]
    pub terms: WorkTerms,
    /// What is remembered of its session's file.
    #[serde(default, skip_serializing_if = "ThreadFile::is_usual")]
    pub file: ThreadFile,
}

/// How the last piece of work of a thread ended, for the agent that started it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The piece of work.
    pub activation: ActivationKey,
    /// The text of the report.
    pub words: String,
    /// What it came to, where its task was handed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
}

/// A piece of work that is over.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finished {
    /// Which.
    pub key: ActivationKey,
    /// The run that it belonged to.
    pub root: ActivationKey,
    /// Its agent.
    pub agent: Id,
    /// How it ended.
    pub ending: Ending,
}
