//! Records the endings of work and a person's decisions, and saves sessions as files.

use bevy::ecs::prelude::*;

use super::access::{LOGGED_CHARS, RoomAccess};
use super::activation::{Activation, RunNode};
use super::command::{KernelCommand, WorkDropped};
use super::core::Kernel;
use super::session::{self, SessionAbout, SessionWork};
use super::work_orders::WorkAnswer;
use crate::agent::Profiles;
use crate::base::text::truncate;
use crate::base::{ActivationKey, Author, Id, RunTag, Seq};
use crate::log::events::{self, Warning, WorkInput};
use crate::log::{EventDraft, EventLog};
use crate::mind::transcript::work_transcript;
use crate::mind::{Ending, WorkEnded};
use crate::schedule::{RoomDate, SimClock};
use crate::simulation::{ArrivedForWork, FailureCause, ThinkDone, ThinkOutcome, WorkRequestWithdrawn};
use crate::workspace::RoomStart;
use crate::workspace::vfs::{FileOperation, FileOrder, FileRights};

/// The prefix of the keys of orders that save sessions.
const SESSION_ORDERS: &str = "session/";

impl RoomAccess<'_, '_> {
    /// Records a person's decision, with the work that it is about.
    pub(super) fn record_command(&mut self, kernel: &Kernel, command: &KernelCommand) -> Seq {
        let about = match command {
            KernelCommand::Kill { activation } | KernelCommand::Decide { activation, .. } => {
                kernel.activation(*activation)
            }
            _ => None,
        };
        let draft = EventDraft::of(&events::Input::Work(logged(command, about)));
        self.log.write(match about {
            Some(one) => draft.agent(&one.agent).activation(&one.key.id()),
            None => draft,
        })
    }

    /// Finishes ended work: records the ending, frees the agent, stores the session and notifies the agents that wait
    /// for the work.
    pub(super) fn finish(&mut self, kernel: &mut Kernel, one: &Activation, ending: &Ending, because: Option<Seq>) {
        let used = self.request_queue.ledger().activation(&one.key.id());
        let (turns, calls, tokens, cost_usd) = (one.turn, used.calls, used.tokens, used.cost().known());
        let because = because.unwrap_or(one.cause);
        let cause = match ending.clone() {
            Ending::Completed { text } => {
                let text = truncate(&text, LOGGED_CHARS);
                self.record(one, because, &events::Complete { turns, calls, tokens, cost_usd, text })
            }
            Ending::Failed { why: what } => {
                let failed = events::WorkFailed { turns, calls, tokens, cost_usd, what };
                self.record(one, because, &events::Error::Work(failed))
            }
            Ending::Aborted { why: what, by_person } => {
                self.record(one, because, &events::Abort { turns, calls, tokens, cost_usd, what, by_person })
            }
        };
        let (activation, thread, agent) = (one.key, one.thread, one.agent.clone());
        self.work_answers.write(WorkAnswer::Ended { activation, thread, agent, ending: ending.clone(), cause });
        if let Some(agent) = one.agent_key {
            let name = self.agent(&one.agent).map_or_else(|| one.agent.clone(), |agent| agent.name.clone());
            let said = match kernel.is_part_of_more(one.thread) {
                true => Vec::new(),
                false => work_transcript(&one.messages_so_far(), &name),
            };
            self.work_over.write(WorkEnded {
                activation: one.key,
                agent,
                task: one.input.clone(),
                ending: ending.clone(),
                outputs: one.outputs.clone(),
                said,
                cause,
            });
            match one.activity {
                Some(activity) => {
                    let outcome = match ending {
                        Ending::Failed { why } => {
                            ThinkOutcome::Failed { why: why.clone(), cause: FailureCause::Content }
                        }
                        Ending::Completed { text } => ThinkOutcome::Said { text: text.clone() },
                        Ending::Aborted { why, .. } => ThinkOutcome::Nothing { why: why.clone() },
                    };
                    self.think_done.write(ThinkDone { agent, activity, think: None, outcome, cause });
                }
                None => {
                    self.work_requests_withdrawn.write(WorkRequestWithdrawn { agent, activation: one.key });
                }
            }
        }
        self.order_session_save(kernel, one, Some(ending));
        kernel.note_ended(one, ending);
        self.report_due(kernel, one.thread, cause);
    }

    /// Frees an agent that arrived for work that has ended meanwhile.
    pub(super) fn release(&mut self, ArrivedForWork { agent, activity, cause, .. }: ArrivedForWork) {
        let outcome = ThinkOutcome::Nothing { why: "the work had ended".to_owned() };
        self.think_done.write(ThinkDone { agent, activity, think: None, outcome, cause });
    }

    /// Saves the session of running work.
    pub(super) fn write_session(&mut self, kernel: &mut Kernel, key: ActivationKey) {
        if let Some(one) = kernel.activation(key).cloned() {
            let bytes = self.order_session_save(kernel, &one, None);
            kernel.note_written(key, bytes);
        }
    }

    /// Orders the session to be saved. Returns its size in bytes.
    fn order_session_save(&mut self, kernel: &Kernel, one: &Activation, ending: Option<&Ending>) -> u64 {
        let about = self.about(&one.profile);
        let (order, bytes) = session_order(kernel, one, ending, &about, (self.run(), self.clock.tick()));
        self.sessions.write(order);
        bytes
    }

    /// The information about the agent and the room in its session file.
    fn about(&self, profile: &str) -> SessionAbout<'_> {
        let scene = self.start.as_ref().map_or("", |start| start.scene.as_str());
        about(scene, &self.profiles, profile, self.now_secs())
    }

    /// Removes finished runs. Session files that say that an agent is sleeping are updated to say that its work has
    /// ended.
    pub(super) fn forget_finished_runs(&mut self, kernel: &mut Kernel) {
        for (key, thread) in kernel.forget_finished_runs() {
            self.write_resting(key, &thread, false);
        }
    }

    /// Saves the session of a thread without running work.
    pub(super) fn write_resting(&mut self, key: ActivationKey, thread: &RunNode, sleeps: bool) {
        let Some(work) = SessionWork::of_thread(key, thread, sleeps) else { return };
        let content = session::to_yaml(&self.about(&thread.profile), &work, Some(thread));
        let word = if sleeps { "rests" } else { "over" };
        let named = format!("{SESSION_ORDERS}{key}/{}/{}{word}", self.run(), self.clock.tick());
        let order = record_order(named, &thread.agent, (key, Seq(0)), Some(thread), content);
        self.sessions.write(order);
    }
}

/// Logs the work that was dropped when the room was opened.
pub(super) fn note_dropped(mut dropped: MessageReader<WorkDropped>, mut log: ResMut<EventLog>) {
    for work in dropped.read() {
        let WorkDropped { agent, what, remedy } = work.clone();
        let warning = Warning::new(what.clone()).with_remedy(remedy.clone());
        let cause = log.write(EventDraft::of(&events::Input::Dropped { agent, what, remedy }));
        // The warning names no agent, so that it is shown to a person.
        log.write(EventDraft::of(&warning).cause(cause));
    }
}

/// Converts a person's decision for the log, with the work that it is about.
fn logged(command: &KernelCommand, about: Option<&Activation>) -> WorkInput {
    let agent = about.map(|one| one.agent.clone());
    let task = about.map(|one| truncate(&one.input, LOGGED_CHARS));
    match command.clone() {
        KernelCommand::Pause => WorkInput::Pause,
        KernelCommand::Resume => WorkInput::Resume,
        KernelCommand::OneTurnEach => WorkInput::OneTurnEach,
        KernelCommand::Kill { activation } => WorkInput::Kill { activation, agent, task },
        KernelCommand::KillAgent { agent } => WorkInput::KillAgent { agent },
        KernelCommand::KillAll => WorkInput::KillAll,
        KernelCommand::Limits { concurrency, depth_at_most } => WorkInput::Limits { concurrency, depth_at_most },
        KernelCommand::Decide { activation, turn, call, allow, scope, because, answered_in, .. } => {
            let asked = about.and_then(Activation::question);
            let (tool, what) = asked.map(|(_, call, what)| (call.name.as_str().into(), what.to_owned())).unzip();
            let because = because.map(|because| truncate(&because, LOGGED_CHARS));
            WorkInput::Decide { activation, turn, call, allow, agent, task, tool, what, scope, because, answered_in }
        }
    }
}

fn session_order(
    kernel: &Kernel,
    one: &Activation,
    ending: Option<&Ending>,
    about: &SessionAbout<'_>,
    (run, tick): (RunTag, u64),
) -> (FileOrder, u64) {
    let thread = kernel.thread(one.thread);
    let parent = thread.and_then(|thread| kernel.thread(thread.parent?));
    let work = SessionWork::of(one, parent, ending, kernel.may_sleep(one.thread));
    let content = session::to_yaml(about, &work, thread);
    let bytes = content.len() as u64;
    let named = format!("{SESSION_ORDERS}{}/{run}/{tick}{}", one.key, ending.map_or("", Ending::as_str));
    let mut order = record_order(named, &one.agent, (one.thread, one.cause), thread, content);
    order.activation = Some(one.key.id());
    (order, bytes)
}

fn record_order(
    named: String,
    agent: &Id,
    (key, cause): (ActivationKey, Seq),
    thread: Option<&RunNode>,
    content: String,
) -> FileOrder {
    let (path, over) = (session::path(agent, key, thread), thread.and_then(|thread| thread.file.over));
    FileOrder {
        key: named.into(),
        author: Author::agent(agent),
        activation: Some(key.id()),
        operation: FileOperation::Record { path, content: content.into(), over },
        rights: FileRights::default(),
        cause,
        worktree: None,
    }
}

fn about<'a>(scene: &'a str, profiles: &'a Profiles, profile: &str, now_secs: Option<i64>) -> SessionAbout<'a> {
    let profile = profiles.get(profile);
    SessionAbout {
        scene,
        role: profile.and_then(|profile| profile.role.as_deref()),
        model: profile.and_then(|profile| profile.model.as_deref()),
        system_prompt: profile.map_or("", |profile| &profile.instructions),
        now_secs,
    }
}

impl Kernel {
    /// Stores how a piece of work ended, for its session file.
    fn note_ended(&mut self, one: &Activation, ending: &Ending) {
        let sleeps = self.may_sleep(one.thread);
        let parent = self.thread(one.thread).and_then(|thread| self.thread(thread.parent?));
        let ended = SessionWork::of(one, parent, Some(ending), sleeps).ended();
        if let Some(thread) = self.threads.get_mut(&one.thread) {
            thread.file.says_sleeping = sleeps && matches!(ending, Ending::Completed { .. });
            thread.file.last = Some(ended);
        }
    }
}

/// The orders that save the sessions of all unfinished work when the room is closed.
pub fn sessions_at_rest(world: &World) -> Vec<FileOrder> {
    let (kernel, clock) = (world.resource::<Kernel>(), world.resource::<SimClock>());
    let scene = world.get_resource::<RoomStart>().map_or("", |start| start.scene.as_str());
    let run = RunTag::of(world.resource::<EventLog>().run());
    let (profiles, date) = (world.resource::<Profiles>(), world.resource::<RoomDate>());
    let order = |one: &Activation| {
        let about = about(scene, profiles, &one.profile, date.secs(clock));
        session_order(kernel, one, None, &about, (run, clock.tick())).0
    };
    kernel.activations().map(order).collect()
}
