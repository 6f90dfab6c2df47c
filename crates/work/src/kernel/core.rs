//! The kernel's state: the queued and running work, and the pending actions. It is pure: its methods take events and
//! the time in ticks and return actions, without access to the world, files or models.
//!
//! Slots are not counted separately: each running activation has a flag ([`Activation::has_slot`]), so a slot can be
//! neither lost nor assigned twice.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};

use super::activation::{Activation, CapWait, Finished, Origin, Phase, Report, RunNode};
use super::approval_question::{Grant, TimedGrant};
use super::command_code::KnownCode;
use super::hand_over_result::given;
use super::message_notes::{MAX_ATTACHED_BYTES, MessageNote, ReplyNote};
use super::settings::KernelSettings;
use super::thread_file::ThreadFile;
use super::work_orders::WorkTerms;
use crate::base::hash::content_hash;
use crate::base::{ActivationKey, AgentKey, Id, RunTag, Seq};
use crate::mind::{AgentSession, CapScope, Ending, PromptMessage, Role, task_words};
use crate::simulation::ActivityId;

/// The number of finished pieces of work that are kept for views.
const MAX_FINISHED: usize = 200;
/// Queue positions beyond this one are not shown to waiting agents.
const QUEUE_POSITIONS_SHOWN: usize = 20;
/// Session size in bytes per step of the save interval: a session of this size is saved half as often as a short one,
/// a session of twice this size a third as often.
const SESSION_BYTES_PER_WRITE: u64 = 64 * 1024;

/// An action that the kernel requests from the systems around it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum KernelAction {
    /// Calls an agent to its work as soon as it is free.
    Summon {
        /// The work that the agent is called to.
        activation: ActivationKey,
    },
    /// Sends a request to the model.
    Ask {
        /// The work that makes the request.
        activation: ActivationKey,
        /// The turn of the work that the request belongs to.
        turn: u32,
    },
    /// Carries out a tool call; the result is delivered with [`Kernel::answered`].
    Perform {
        /// The work that makes the call.
        activation: ActivationKey,
        /// The turn that the call belongs to.
        turn: u32,
        /// The index of the call in its turn.
        index: usize,
    },
    /// Sends a request to a model on behalf of the MCP server that executes a tool call.
    Sample {
        /// The work that makes the call.
        activation: ActivationKey,
        /// The turn that the call belongs to.
        turn: u32,
        /// The index of the call in its turn.
        index: usize,
    },
    /// Cancels a request to a model on behalf of an MCP server, because its call has ended.
    EndSample {
        /// The key of the request.
        key: Id,
    },
    /// Warns a person about a problem in running work.
    Warn {
        /// The work that has the problem.
        activation: ActivationKey,
        /// The warning text.
        what: String,
    },
    /// Ends a piece of work and frees its agent.
    Release {
        /// The work as it was when it ended.
        activation: Box<Activation>,
        /// How the work ended.
        ending: Ending,
        /// The log record of the person's action that ended the work, if a person ended it.
        #[serde(default)]
        cause: Option<Seq>,
    },
}

/// The reason why a model request returned no reply.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum NoReply {
    /// The provider reported too many requests, so all work waits.
    RateLimited {
        /// The waiting time in seconds, if the provider gave one.
        retry_after_secs: Option<f32>,
        /// The error message.
        why: String,
    },
    /// The provider asked for a pause. The gateway enforces it, so the request is repeated at once and waits there.
    Held {
        /// The error message.
        why: String,
    },
    /// A spending or usage cap refused the request.
    OverBudget {
        /// The scope whose usage the cap counts. Only work in this scope ends or waits.
        scope: CapScope,
        /// The waiting time, for hourly caps.
        wait: Option<CapWait>,
        /// A message with the cap, the usage that exceeded it, and how to lift it.
        why: String,
    },
    /// The request exceeds the model's context length.
    TooLong {
        /// The number of session characters that were sent.
        sent_chars: usize,
        /// The error message, with what to do.
        why: String,
    },
    /// The provider rejected the request as invalid.
    Rejected {
        /// The error message, with what to do.
        why: String,
    },
    /// A transient error: the same request may succeed later.
    Passing {
        /// The error message.
        why: String,
    },
    /// A permanent error that needs someone to intervene.
    Lasting {
        /// The error message, with what to do.
        why: String,
    },
}

/// The report on how work ended, for the agent that started it: always the final answer, unless the last signal was
/// the same text. `None` if a person stopped it.
fn report_words(ending: &Ending, last_signal: Option<&str>) -> Option<String> {
    match ending {
        Ending::Completed { text } if last_signal.is_some_and(|signal| signal.trim() == text.trim()) => {
            Some("finished: its last signal was its final answer".to_owned())
        }
        _ => ending.report_text(),
    }
}

/// Hashes a request for loop detection. The hash covers the agent's id and not the content of its file, so an agent
/// cannot escape detection by rewriting itself.
pub(super) fn request_hash(agent: &str, input: &str) -> u64 {
    content_hash(format!("{agent}\n{input}").as_bytes())
}

/// The state of all work. Its fields are written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    pub(super) activations: BTreeMap<ActivationKey, Activation>,
    pub(super) threads: BTreeMap<ActivationKey, RunNode>,
    /// Hashes of the requests made in each run, by root. The same request is never made twice in a run.
    pub(super) asked: BTreeMap<ActivationKey, BTreeSet<u64>>,
    /// Permissions that a person granted for a task, by the thread that asked.
    pub(super) grants: BTreeMap<ActivationKey, BTreeSet<Grant>>,
    /// Permissions that a person granted to an agent until a given time.
    pub(super) timed_grants: BTreeSet<TimedGrant>,
    /// The contents of the files that commands run.
    #[serde(default)]
    pub(super) known_code: KnownCode,
    /// Whether a person paused all work.
    pub(super) is_paused: bool,
    /// The activations that already had their turn, if single-step mode is on.
    #[serde(default)]
    pub(super) had_turn: Option<BTreeSet<ActivationKey>>,
    /// The message of the cap that stopped all work.
    pub(super) stopped_by: Option<String>,
    /// The tick until which no model is called because of a rate limit.
    pub(super) resume_tick: Option<u64>,
    /// The number of consecutive rate limit errors.
    pub(super) rate_limits: u32,
    /// The concurrency that a person set, which overrides the setting.
    pub(super) concurrency: Option<u32>,
    pub(super) depth_at_most: Option<u32>,
    /// A hash of the caps at the last check. Work that waits for a cap is retried when they change.
    pub(super) caps: u64,
    /// The highest activation number that was ever queued in this room.
    pub(super) newest: u64,
    pub(super) finished: VecDeque<Finished>,
    pub(super) outgoing: VecDeque<KernelAction>,
    /// Whether something happened since work was last scheduled.
    pub(super) is_unsettled: bool,
}

/// A piece of work to be queued.
#[derive(Clone, PartialEq, Debug)]
pub struct NewWork {
    /// The key of the work.
    pub key: ActivationKey,
    /// The id of the agent that does the work.
    pub agent: Id,
    /// The id of the profile that the agent uses.
    pub profile: Id,
    /// The file name of the profile as it appears in results, such as `researcher.md`.
    pub file_name: String,
    /// The task text.
    pub input: String,
    /// The priority; lower values are scheduled sooner.
    pub priority: i32,
    /// The tick at which the work is queued.
    pub now: u64,
    /// The log record that caused the work.
    pub cause: Seq,
}

impl RunNode {
    /// Creates the run node of an agent for a run that begins with this work.
    pub(super) fn of(work: &NewWork) -> Self {
        Self {
            agent: work.agent.clone(),
            profile: work.profile.clone(),
            file_name: work.file_name.clone(),
            parent: None,
            root: work.key,
            depth: 0,
            children: 0,
            live: Some(work.key),
            messages: Vec::new(),
            notes: Vec::new(),
            unnoted: None,
            unnoted_attached: BTreeMap::new(),
            earlier: Vec::new(),
            starters: Vec::new(),
            is_stopped: false,
            report: None,
            handed: None,
            terms: WorkTerms::default(),
            file: ThreadFile::default(),
        }
    }
}

impl Kernel {
    /// All queued and running work, in the order in which it was queued.
    pub fn activations(&self) -> impl Iterator<Item = &Activation> {
        self.activations.values()
    }

    /// The queued or running work with this key.
    pub fn activation(&self, key: ActivationKey) -> Option<&Activation> {
        self.activations.get(&key)
    }

    /// The run node with this key.
    pub fn thread(&self, key: ActivationKey) -> Option<&RunNode> {
        self.threads.get(&key)
    }

    /// All run nodes of unfinished runs.
    pub fn threads(&self) -> impl Iterator<Item = (ActivationKey, &RunNode)> {
        self.threads.iter().map(|(key, thread)| (*key, thread))
    }

    /// Finished work, oldest first.
    pub fn finished(&self) -> impl Iterator<Item = &Finished> {
        self.finished.iter()
    }

    /// The number of activations that have a slot.
    pub fn slots_in_use(&self) -> usize {
        self.activations.values().filter(|activation| activation.has_slot).count()
    }

    /// Whether a person paused all work.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// The message of the cap that stopped all work.
    pub fn stopped_by(&self) -> Option<&str> {
        self.stopped_by.as_deref()
    }

    /// The tick at which work continues after a rate limit.
    pub fn resume_tick(&self) -> Option<u64> {
        self.resume_tick
    }

    /// Whether no work is queued or running.
    pub fn is_idle(&self) -> bool {
        self.activations.is_empty()
    }

    /// The number of activations that may run at the same time.
    pub fn concurrency(&self, settings: &KernelSettings) -> u32 {
        self.concurrency.unwrap_or(settings.max_concurrent_activations).max(1)
    }

    /// The maximum depth to which agents may start agents.
    pub fn depth_at_most(&self, settings: &KernelSettings) -> u32 {
        self.depth_at_most.unwrap_or(settings.max_depth)
    }

    /// Queues work that a person requested, as a run of its own.
    pub fn start(&mut self, work: NewWork) {
        let thread = RunNode::of(&work);
        self.asked.entry(work.key).or_default().insert(request_hash(&work.agent, &work.input));
        self.threads.insert(work.key, thread);
        let key = work.key;
        self.queue(work, key, Origin::Person, Vec::new());
    }

    /// Returns the key for the next piece of work of this run. The caller must queue the work, or the same key is
    /// returned again.
    pub fn next_key(&self, run: RunTag) -> ActivationKey {
        ActivationKey::new(self.newest + 1, run)
    }

    /// Raises the activation counter above every known key, because rooms saved by older versions had no counter.
    pub(super) fn raise_counter(&mut self) {
        let finished = self.finished.iter().map(|one| one.key);
        let earlier = self.threads.values().flat_map(|thread| thread.earlier.iter().copied());
        let known = self.activations.keys().chain(self.threads.keys()).copied().chain(finished).chain(earlier);
        self.newest = known.map(ActivationKey::number).fold(self.newest, u64::max);
    }

    /// Sets the log record of the event that queued a piece of work.
    pub(super) fn note_queued(&mut self, key: ActivationKey, record: Seq) {
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.cause = record;
        }
    }

    pub(super) fn queue(
        &mut self,
        work: NewWork,
        thread: ActivationKey,
        origin: Origin,
        mut messages: Vec<PromptMessage>,
    ) {
        let words = if origin == Origin::Signal { work.input.clone() } else { task_words(&work.input) };
        messages.push(PromptMessage::plain(Role::User, words));
        self.queue_with(work, thread, origin, messages);
    }

    /// Queues work with a session that already contains the task.
    pub(super) fn queue_with(
        &mut self,
        work: NewWork,
        thread: ActivationKey,
        origin: Origin,
        messages: Vec<PromptMessage>,
    ) {
        let activation = Activation {
            key: work.key,
            agent: work.agent,
            profile: work.profile,
            agent_key: None,
            input: work.input,
            origin,
            thread,
            priority: work.priority,
            queued_tick: work.now,
            cause: work.cause,
            phase: Phase::Queued,
            has_slot: false,
            activity: None,
            messages,
            turn: 0,
            strikes: 0,
            failures: 0,
            not_before: 0,
            cap_hold: None,
            is_held: false,
            outcomes: Vec::new(),
            cuts: 0,
            unfinished: String::new(),
            session_chars_at_most: None,
            sent_chars_at_most: 0,
            booked: (0, 0),
            refused_lengths: 0,
            sends_images: false,
            is_without_images: false,
            mail: VecDeque::new(),
            last_signal: None,
            outputs: Vec::new(),
            proposed: None,
            unmerged: Vec::new(),
            told: String::new(),
            is_unwritten: true,
            written_tick: 0,
            written_bytes: 0,
        };
        self.newest = self.newest.max(activation.key.number());
        self.activations.insert(activation.key, activation);
        self.is_unsettled = true;
    }

    /// Records that an agent is in the room under this key.
    pub fn note_present(&mut self, agent: &Id, key: AgentKey) {
        for activation in self.activations.values_mut() {
            if activation.agent == *agent && activation.agent_key != Some(key) {
                activation.agent_key = Some(key);
                self.is_unsettled = true;
            }
        }
    }

    /// The agents with pending work that have not been seen in the room yet.
    pub fn awaited_agents(&self) -> BTreeSet<Id> {
        let absent = self.activations.values().filter(|activation| activation.agent_key.is_none());
        absent.map(|activation| activation.agent.clone()).collect()
    }

    /// Records that an agent has arrived to do its work.
    pub fn note_arrived(&mut self, key: ActivationKey, activity: ActivityId) {
        let Some(activation) = self.activations.get_mut(&key) else { return };
        if activation.phase == Phase::Summoned {
            activation.phase = Phase::Due;
            activation.activity = Some(activity);
            self.is_unsettled = true;
        }
    }

    /// Ends all work of an agent that left the room.
    pub fn remove_agent(&mut self, agent: AgentKey, cause: Option<Seq>) {
        let gone = self.activations.values().filter(|activation| activation.agent_key == Some(agent));
        for key in gone.map(|activation| activation.key).collect::<Vec<_>>() {
            self.end_because(key, Ending::Aborted { why: "the agent left the room".into(), by_person: true }, cause);
        }
    }

    /// Ends a piece of work. Unless a person stopped it, the agent that started it is notified once everything started
    /// by this work has ended too.
    pub(super) fn end(&mut self, key: ActivationKey, ending: Ending) -> bool {
        self.end_because(key, ending, None)
    }

    /// Like [`Self::end`], with the log record that caused it.
    pub(super) fn end_because(&mut self, key: ActivationKey, ending: Ending, cause: Option<Seq>) -> bool {
        let Some(mut activation) = self.activations.remove(&key) else { return false };
        activation.has_slot = false;
        activation.messages = activation.closed_messages();
        activation.mail.clear();
        if let Phase::Calling { .. } = activation.phase {
            // The results of its calls are in the session now.
            activation.phase = Phase::Due;
        }
        let root = self.threads.get(&activation.thread).map_or(key, |thread| thread.root);
        if let Some(thread) = self.threads.get_mut(&activation.thread) {
            thread.live = None;
            thread.earlier.push(key);
            thread.messages = activation.messages.clone();
            thread.is_stopped = matches!(ending, Ending::Aborted { by_person: true, .. });
            let words = report_words(&ending, activation.last_signal.as_deref()).filter(|_| thread.parent.is_some());
            thread.report = match &mut thread.handed {
                None => words.map(|words| Report { activation: key, words, given: None }),
                // The delegating agent receives a result however the work ended.
                Some(handed) => {
                    handed.turns = handed.turns.saturating_add(activation.turn);
                    Some(Report { activation: key, words: String::new(), given: Some(given(&ending)) })
                }
            };
        }
        let agent = activation.agent.clone();
        self.finished.push_back(Finished { key, root, agent, ending: ending.clone() });
        let surplus = self.finished.len().saturating_sub(MAX_FINISHED);
        self.finished.drain(..surplus);
        self.outgoing.push_back(KernelAction::Release { activation: Box::new(activation), ending, cause });
        self.is_unsettled = true;
        true
    }

    /// Removes runs without queued, running or kept work. Returns their nodes whose files say that the agent is
    /// sleeping, because those agents can no longer be woken.
    pub fn forget_finished_runs(&mut self) -> Vec<(ActivationKey, RunNode)> {
        let is_busy = |thread: &&RunNode| thread.live.is_some() || thread.terms.is_kept;
        let busy: BTreeSet<ActivationKey> = self.threads.values().filter(is_busy).map(|thread| thread.root).collect();
        let is_over = |thread: &RunNode| !busy.contains(&thread.root);
        let asleep = self.threads.iter().filter(|(_, thread)| is_over(thread) && thread.file.says_sleeping);
        let asleep = asleep.map(|(key, thread)| (*key, thread.clone())).collect();
        self.threads.retain(|_, thread| !is_over(thread));
        self.asked.retain(|root, _| busy.contains(root));
        self.grants.retain(|thread, _| self.threads.contains_key(thread));
        asleep
    }

    /// Whether the agent of a session can still be woken after its work has ended: either its run continues or the
    /// session is kept.
    pub(super) fn may_sleep(&self, key: ActivationKey) -> bool {
        let Some(thread) = self.threads.get(&key) else { return false };
        let others = self.threads.iter().filter(|(other, one)| **other != key && one.root == thread.root);
        let is_busy = |one: &RunNode| one.live.is_some() || one.terms.is_kept;
        thread.terms.is_kept || others.into_iter().any(|(_, one)| is_busy(one))
    }

    /// Records when each new message arrived, and the usage of the model's replies.
    pub fn note_messages(&mut self, now: u64, at_secs: Option<i64>) {
        for thread in self.threads.values_mut() {
            let live = thread.live.and_then(|live| self.activations.get(&live));
            let messages = live.map_or(&thread.messages, |one| &one.messages);
            for message in messages.iter().skip(thread.notes.len()) {
                let mut reply = if message.role == Role::Assistant { thread.unnoted.take() } else { None };
                let attached = thread.unnoted_attached.remove(&thread.notes.len());
                let attached = attached.or_else(|| reply.as_mut()?.attached.take());
                thread.notes.push(MessageNote { tick: now, at_secs, reply, attached });
            }
        }
    }

    /// Records the usage of a model reply. `booked` is the total booked for this work so far.
    pub(super) fn note_reply(&mut self, key: ActivationKey, reply: ReplyNote, booked: (u64, u64)) {
        let Some(activation) = self.activations.get_mut(&key) else { return };
        let before = std::mem::replace(&mut activation.booked, booked);
        let Some(thread) = self.threads.get_mut(&activation.thread) else { return };
        let reply = ReplyNote {
            cost_micro_usd: booked.0.saturating_sub(before.0),
            unpriced_tokens: booked.1.saturating_sub(before.1),
            ..reply
        };
        thread.unnoted = Some(thread.unnoted.take().map_or(reply.clone(), |earlier| earlier.plus(&reply)));
    }

    /// Records the session that a coding agent keeps for a piece of work. `None` leaves the recorded one unchanged.
    pub(super) fn note_agent_session(&mut self, key: ActivationKey, session: Option<&AgentSession>) {
        let thread = self.activations.get(&key).map(|one| one.thread);
        if let (Some(session), Some(thread)) = (session, thread.and_then(|thread| self.threads.get_mut(&thread))) {
            thread.file.agent_session = Some(session.clone());
        }
    }

    /// The number of bytes of attachments that the session of this work can still hold.
    pub(super) fn room_for_attached(&self, key: ActivationKey) -> usize {
        let thread = self.activation(key).and_then(|one| self.thread(one.thread));
        let noted = thread.into_iter().flat_map(|thread| thread.notes.iter().filter_map(|note| note.attached.as_ref()));
        MAX_ATTACHED_BYTES.saturating_sub(noted.map(|attached| attached.bytes()).sum())
    }

    /// Returns the sessions that are due to be saved, and marks them as saved. A session is saved at once the first
    /// time, then every `every` ticks, and less often the longer it is because it is always written whole.
    pub fn take_sessions_to_save(&mut self, now: u64, every: u64) -> Vec<ActivationKey> {
        let is_due = |one: &Activation| {
            let size = 1 + one.written_bytes / SESSION_BYTES_PER_WRITE;
            one.is_unwritten && (one.written_tick == 0 || now >= one.written_tick.saturating_add(every * size))
        };
        let due = self.activations.values_mut().filter(|one| is_due(one)).map(|one| {
            one.is_unwritten = false;
            one.written_tick = now;
            one.key
        });
        due.collect()
    }

    /// Records the size in bytes at which a session was saved.
    pub fn note_written(&mut self, key: ActivationKey, bytes: u64) {
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.written_bytes = bytes;
        }
    }

    /// Returns the reason why each ready piece of work is waiting, if it changed since it was last returned.
    pub fn take_wait_reasons(&mut self) -> Vec<(ActivationKey, String)> {
        let held_up = match (self.is_paused, &self.stopped_by, self.resume_tick) {
            (true, ..) => Some("all work is paused".to_owned()),
            (_, Some(why), _) => Some(format!("all work stopped: {why}")),
            (.., Some(_)) => Some("waiting for a rate limit".to_owned()),
            _ => None,
        };
        let waits =
            |one: &Activation| one.activity.is_some() && one.phase == Phase::Due && !one.has_slot && !one.is_held;
        let mut line: Vec<(i32, ActivationKey)> =
            self.activations.values().filter(|one| waits(one)).map(|one| (one.priority, one.key)).collect();
        line.sort_unstable();
        let all = line.len();
        let mut reasons = Vec::new();
        for (place, (_, key)) in line.into_iter().enumerate().take(QUEUE_POSITIONS_SHOWN) {
            let Some(activation) = self.activations.get_mut(&key) else { continue };
            let why = match &held_up {
                Some(why) => why.clone(),
                None if activation.cap_hold.is_some() => {
                    let why = activation.cap_hold.as_ref().map_or("", |hold| &hold.why);
                    format!("waiting for the hourly limit: {why}")
                }
                None if activation.not_before > 0 => "waiting to retry".to_owned(),
                None => format!("waiting for a free work slot, {} of {all}", place + 1),
            };
            if activation.told != why {
                activation.told.clone_from(&why);
                reasons.push((key, why));
            }
        }
        reasons
    }

    /// Records the log record of a tool call that has begun.
    pub fn note_record(&mut self, key: ActivationKey, index: usize, record: Seq) {
        let Some(activation) = self.activations.get_mut(&key) else { return };
        activation.told.clear();
        if let Phase::Calling { calls } = &mut activation.phase
            && let Some(call) = calls.get_mut(index)
        {
            call.record = Some(record);
        }
    }

    /// Removes and returns the pending actions that do not depend on the time, in order.
    pub fn take_actions(&mut self) -> Vec<KernelAction> {
        self.outgoing.drain(..).collect()
    }
}
