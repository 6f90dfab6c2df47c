//! The kernel itself: which work waits, which runs, and what to do next. Pure: it takes events and the time in ticks
//! and returns what to do; it knows no world, no files and no models.
//!
//! Slots are not counted: they are the activations that have one ([`Activation::has_slot`]), so none can be lost or
//! assigned twice.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};

use super::activation::{Activation, CapWait, Finished, Origin, Phase, Report, RunNode};
use super::approval_question::{Grant, TimedGrant};
use super::hand_over_result::given;
use super::message_notes::{ATTACHED_BYTES_AT_MOST, MessageNote, ReplyNote};
use super::settings::KernelSettings;
use super::thread_file::ThreadFile;
use super::work_orders::WorkTerms;
use crate::base::hash::content_hash;
use crate::base::{ActivationKey, AgentKey, Id, RunTag, Seq};
use crate::mind::{AgentSession, CapScope, Ending, PromptMessage, Role, task_words};
use crate::simulation::ActivityId;

/// How many ended pieces of work are remembered, for views.
const FINISHED_KNOWN: usize = 200;
/// Places further back than this are not counted out to those who wait.
const PLACES_TOLD: usize = 20;
/// A session of this many bytes is written half as often as a short one, one of twice as many a third as often.
const SESSION_BYTES_PER_WRITE: u64 = 64 * 1024;

/// Something that the world is to do for the kernel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum KernelAction {
    /// The agent is to come to work as soon as it is at leisure.
    Summon {
        /// To which.
        activation: ActivationKey,
    },
    /// The model is to be asked.
    Ask {
        /// For which.
        activation: ActivationKey,
        /// Which question of it.
        turn: u32,
    },
    /// A tool call is to be carried out, and answered with [`Kernel::answered`].
    Perform {
        /// For which.
        activation: ActivationKey,
        /// In which turn.
        turn: u32,
        /// Which call of that turn.
        index: usize,
    },
    /// A model is to be called for the server that executes a tool call.
    Sample {
        /// For which.
        activation: ActivationKey,
        /// In which turn.
        turn: u32,
        /// Which call of that turn.
        index: usize,
    },
    /// Nobody waits any more for what a model was asked for a server.
    EndSample {
        /// The name of the question.
        key: Id,
    },
    /// Something that a person should know about running work.
    Warn {
        /// Of which.
        activation: ActivationKey,
        /// What.
        what: String,
    },
    /// A piece of work has ended: the agent is free, and is not called for it any more.
    Release {
        /// What it was, as it was.
        activation: Box<Activation>,
        /// How it ended.
        ending: Ending,
        /// The record of what a person did, where that ended it.
        #[serde(default)]
        cause: Option<Seq>,
    },
}

/// Why a model did not answer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum NoReply {
    /// Too many requests: everything waits this many seconds, if the provider gives a number.
    RateLimited {
        /// As the provider says.
        retry_after_secs: Option<f32>,
        /// In words.
        why: String,
    },
    /// The provider asks for a pause, which the gateway ensures: the request is made again at once, and waits there.
    Held {
        /// In words.
        why: String,
    },
    /// A cap refused the question.
    OverBudget {
        /// Whose use the cap counts: that alone ends or waits.
        scope: CapScope,
        /// For caps by the hour: how long.
        wait: Option<CapWait>,
        /// Which, by what, and what lifts it.
        why: String,
    },
    /// The question is longer than the model takes.
    TooLong {
        /// Characters of the session that were sent.
        sent_chars: usize,
        /// In words, and what to do.
        why: String,
    },
    /// The provider does not take this question.
    Rejected {
        /// In words, and what to do.
        why: String,
    },
    /// The same may work later.
    Passing {
        /// In words.
        why: String,
    },
    /// It stays unable to work until someone intervenes.
    Lasting {
        /// What, and what to do.
        why: String,
    },
}

/// The key of a request for loop detection: the agent's id, not its file's content, so that an agent that rewrites
/// itself does not escape.
pub(super) fn asking(agent: &str, input: &str) -> u64 {
    content_hash(format!("{agent}\n{input}").as_bytes())
}

/// All work: what waits, what runs and how it is related. Written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    pub(super) activations: BTreeMap<ActivationKey, Activation>,
    pub(super) threads: BTreeMap<ActivationKey, RunNode>,
    /// What was asked of whom in each run, by hash: nobody is asked the same twice.
    pub(super) asked: BTreeMap<ActivationKey, BTreeSet<u64>>,
    /// What a person allowed for a task, by the thread that asked.
    pub(super) grants: BTreeMap<ActivationKey, BTreeSet<Grant>>,
    /// What a person allowed an agent until a time.
    pub(super) timed_grants: BTreeSet<TimedGrant>,
    /// Whether a person paused all work.
    pub(super) is_paused: bool,
    /// If work proceeds by one turn each: the pieces that had theirs.
    #[serde(default)]
    pub(super) had_turn: Option<BTreeSet<ActivationKey>>,
    /// The cap that stopped all work, in words.
    pub(super) stopped_by: Option<String>,
    /// Until this tick no model is called, because of a rate limit.
    pub(super) resume_tick: Option<u64>,
    /// Rate limits, one after another.
    pub(super) rate_limits: u32,
    /// Numbers that a person set, which override the settings.
    pub(super) concurrency: Option<u32>,
    pub(super) depth_at_most: Option<u32>,
    /// The caps as of the last look, by hash: work that waits for one is tried again when they change.
    pub(super) caps: u64,
    /// The number of the newest piece of work that was ever queued here.
    pub(super) newest: u64,
    pub(super) finished: VecDeque<Finished>,
    pub(super) outgoing: VecDeque<KernelAction>,
    /// Whether something happened since work was last given out.
    pub(super) is_unsettled: bool,
}

/// A piece of work to be queued.
#[derive(Clone, PartialEq, Debug)]
pub struct NewWork {
    /// Names it.
    pub key: ActivationKey,
    /// For whom, by id.
    pub agent: Id,
    /// The profile that it runs.
    pub profile: Id,
    /// As results speak of it: `researcher.md`.
    pub file_name: String,
    /// The task.
    pub input: String,
    /// Lower comes sooner.
    pub priority: i32,
    /// The tick in which it is queued.
    pub now: u64,
    /// The record that it comes from.
    pub cause: Seq,
}

impl RunNode {
    /// The part of an agent in a run that begins with this work.
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
    /// Everything that waits or goes on, in the order in which it was queued.
    pub fn activations(&self) -> impl Iterator<Item = &Activation> {
        self.activations.values()
    }

    /// A piece of work that waits or goes on.
    pub fn activation(&self, key: ActivationKey) -> Option<&Activation> {
        self.activations.get(&key)
    }

    /// One agent's part in a run.
    pub fn thread(&self, key: ActivationKey) -> Option<&RunNode> {
        self.threads.get(&key)
    }

    /// All parts of all runs that are not over.
    pub fn threads(&self) -> impl Iterator<Item = (ActivationKey, &RunNode)> {
        self.threads.iter().map(|(key, thread)| (*key, thread))
    }

    /// What is over, the newest last.
    pub fn finished(&self) -> impl Iterator<Item = &Finished> {
        self.finished.iter()
    }

    /// The pieces of work that go on.
    pub fn going_on(&self) -> usize {
        self.activations.values().filter(|activation| activation.has_slot).count()
    }

    /// Whether a person paused all work.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// The cap that stopped all work, in words.
    pub fn stopped_by(&self) -> Option<&str> {
        self.stopped_by.as_deref()
    }

    /// The tick at which work goes on after a rate limit.
    pub fn resume_tick(&self) -> Option<u64> {
        self.resume_tick
    }

    /// Whether nothing waits and nothing goes on.
    pub fn is_idle(&self) -> bool {
        self.activations.is_empty()
    }

    /// How many pieces of work may go on at once.
    pub fn concurrency(&self, settings: &KernelSettings) -> u32 {
        self.concurrency.unwrap_or(settings.concurrency).max(1)
    }

    /// How deep agents may start agents.
    pub fn depth_at_most(&self, settings: &KernelSettings) -> u32 {
        self.depth_at_most.unwrap_or(settings.depth_at_most)
    }

    /// Queues what a person wants done: a run of its own.
    pub fn start(&mut self, work: NewWork) {
        let thread = RunNode::of(&work);
        self.asked.entry(work.key).or_default().insert(asking(&work.agent, &work.input));
        self.threads.insert(work.key, thread);
        let key = work.key;
        self.queue(work, key, Origin::Person, Vec::new());
    }

    /// The key for the next piece of work of this run. The caller must queue the work, or the same key is returned
    /// again.
    pub fn next_key(&self, run: RunTag) -> ActivationKey {
        ActivationKey::new(self.newest + 1, run)
    }

    /// Counts on above every piece of work that is known: a room that an older version saved did not count.
    pub(super) fn count_on(&mut self) {
        let finished = self.finished.iter().map(|one| one.key);
        let earlier = self.threads.values().flat_map(|thread| thread.earlier.iter().copied());
        let known = self.activations.keys().chain(self.threads.keys()).copied().chain(finished).chain(earlier);
        self.newest = known.map(ActivationKey::number).fold(self.newest, u64::max);
    }

    /// The record that says that a piece of work was queued.
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

    /// The same with a session that contains the task already.
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
            has_signalled: false,
            outputs: Vec::new(),
            proposed: None,
            told: String::new(),
            is_unwritten: true,
            written_tick: 0,
            written_bytes: 0,
        };
        self.newest = self.newest.max(activation.key.number());
        self.activations.insert(activation.key, activation);
        self.is_unsettled = true;
    }

    /// An agent is in the room under this number, or was there all along.
    pub fn present(&mut self, agent: &Id, key: AgentKey) {
        for activation in self.activations.values_mut() {
            if activation.agent == *agent && activation.agent_key != Some(key) {
                activation.agent_key = Some(key);
                self.is_unsettled = true;
            }
        }
    }

    /// The agents that work waits for and that were not seen in the room yet.
    pub fn awaited_agents(&self) -> BTreeSet<Id> {
        let absent = self.activations.values().filter(|activation| activation.agent_key.is_none());
        absent.map(|activation| activation.agent.clone()).collect()
    }

    /// The agent came to work.
    pub fn ready(&mut self, key: ActivationKey, activity: ActivityId) {
        let Some(activation) = self.activations.get_mut(&key) else { return };
        if activation.phase == Phase::Summoned {
            activation.phase = Phase::Due;
            activation.activity = Some(activity);
            self.is_unsettled = true;
        }
    }

    /// An agent left the room: its work ends.
    pub fn left(&mut self, agent: AgentKey, cause: Option<Seq>) {
        let gone = self.activations.values().filter(|activation| activation.agent_key == Some(agent));
        for key in gone.map(|activation| activation.key).collect::<Vec<_>>() {
            self.end_because(key, Ending::Aborted { why: "the agent left the room".into(), by_person: true }, cause);
        }
    }

    /// Ends a piece of work. The agent that started it is notified once everything that it started has ended, unless a
    /// person stopped it.
    pub(super) fn end(&mut self, key: ActivationKey, ending: Ending) -> bool {
        self.end_because(key, ending, None)
    }

    /// The same, because of this record.
    pub(super) fn end_because(&mut self, key: ActivationKey, ending: Ending, cause: Option<Seq>) -> bool {
        let Some(mut activation) = self.activations.remove(&key) else { return false };
        activation.has_slot = false;
        activation.messages = activation.closed_messages();
        activation.mail.clear();
        if let Phase::Calling { .. } = activation.phase {
            // The session has the answers of its calls now.
            activation.phase = Phase::Due;
        }
        let root = self.threads.get(&activation.thread).map_or(key, |thread| thread.root);
        if let Some(thread) = self.threads.get_mut(&activation.thread) {
            thread.live = None;
            thread.earlier.push(key);
            thread.messages = activation.messages.clone();
            thread.is_stopped = matches!(ending, Ending::Aborted { by_person: true, .. });
            let words = ending.report_words().filter(|_| thread.parent.is_some() && !activation.has_signalled);
            thread.report = match &mut thread.handed {
                None => words.map(|words| Report { activation: key, words, given: None }),
                // The agent that handed it over is told however it ended.
                Some(handed) => {
                    handed.turns = handed.turns.saturating_add(activation.turn);
                    Some(Report { activation: key, words: String::new(), given: Some(given(&ending)) })
                }
            };
        }
        let agent = activation.agent.clone();
        self.finished.push_back(Finished { key, root, agent, ending: ending.clone() });
        let surplus = self.finished.len().saturating_sub(FINISHED_KNOWN);
        self.finished.drain(..surplus);
        self.outgoing.push_back(KernelAction::Release { activation: Box::new(activation), ending, cause });
        self.is_unsettled = true;
        true
    }

    /// Forgets runs in which nothing waits or goes on, and of which nothing is kept. Gives back those parts of them
    /// whose files say that their agents sleep: nobody wakes them any more.
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

    /// Whether the agent of a session can still be woken after its work has ended: its run continues, or the session is
    /// kept.
    pub(super) fn may_sleep(&self, key: ActivationKey) -> bool {
        let Some(thread) = self.threads.get(&key) else { return false };
        let others = self.threads.iter().filter(|(other, one)| **other != key && one.root == thread.root);
        let is_busy = |one: &RunNode| one.live.is_some() || one.terms.is_kept;
        thread.terms.is_kept || others.into_iter().any(|(_, one)| is_busy(one))
    }

    /// Notes when messages came that came since the last look, and what the model took for its own.
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

    /// Records the usage of a model's answer to a piece of work. `booked` is everything booked for it before.
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

    /// Records the session that a coding agent keeps for a piece of work; without one, the known one stays.
    pub(super) fn note_agent_session(&mut self, key: ActivationKey, session: Option<&AgentSession>) {
        let thread = self.activations.get(&key).map(|one| one.thread);
        if let (Some(session), Some(thread)) = (session, thread.and_then(|thread| self.threads.get_mut(&thread))) {
            thread.file.agent_session = Some(session.clone());
        }
    }

    /// How much more of results beside their text the session of this piece of work may contain, in bytes.
    pub(super) fn room_for_attached(&self, key: ActivationKey) -> usize {
        let thread = self.activation(key).and_then(|one| self.thread(one.thread));
        let noted = thread.into_iter().flat_map(|thread| thread.notes.iter().filter_map(|note| note.attached.as_ref()));
        ATTACHED_BYTES_AT_MOST.saturating_sub(noted.map(|attached| attached.bytes()).sum())
    }

    /// The sessions that are to be written down now; they count as written down. The first time at once, then
    /// every so many ticks and, because each is written whole, the more seldom the longer it is.
    pub fn take_unwritten(&mut self, now: u64, every: u64) -> Vec<ActivationKey> {
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

    /// Notes how long a session was when it was written down.
    pub fn note_written(&mut self, key: ActivationKey, bytes: u64) {
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.written_bytes = bytes;
        }
    }

    /// The reasons why ready work is waiting, for agents that were last told another reason. Marks them as told.
    pub fn take_tellings(&mut self) -> Vec<(ActivationKey, String)> {
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
        let mut tellings = Vec::new();
        for (place, (_, key)) in line.into_iter().enumerate().take(PLACES_TOLD) {
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
                tellings.push((key, why));
            }
        }
        tellings
    }

    /// Notes the record of a tool call that was begun.
    pub fn note_record(&mut self, key: ActivationKey, index: usize, record: Seq) {
        let Some(activation) = self.activations.get_mut(&key) else { return };
        activation.told.clear();
        if let Phase::Calling { calls } = &mut activation.phase
            && let Some(call) = calls.get_mut(index)
        {
            call.record = Some(record);
        }
    }

    /// What is to be done that does not depend on the time: in order, once.
    pub fn take_effects(&mut self) -> Vec<KernelAction> {
        self.outgoing.drain(..).collect()
    }
}
