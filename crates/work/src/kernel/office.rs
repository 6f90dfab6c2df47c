//! Carrying out what the kernel says: calling agents to work, asking models, doing what tools want within what the
//! gate allows, and recording all of it.

use std::borrow::Cow;

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use serde_json::{Value, json};

use super::activation::{Activation, Thread, order_key};
use super::core::{Effect, Kernel};
use super::session;
use super::settings::KernelSettings;
use super::starting::{Child, refused_spawn};
use super::working::Outbox;
use crate::agent::{Agent, Profiles, Roster};
use crate::base::text::truncate;
use crate::base::{ActivationKey, Author, Id, Seq};
use crate::element::Privacy;
use crate::gate::{Authority, Bounds, Decision, GatePolicy, Room, decide};
use crate::gateway::{GatewaySettings, Questions};
use crate::log::{EventDraft, EventKind, EventLog};
use crate::mind::{SessionRoom, ToolCall, WorkDue, WorkOver};
use crate::schedule::SimClock;
use crate::simulation::{Explain, Position, Summons, SummonsWithdrawn, ThinkDone};
use crate::tools::{self, ToolPlan, Work, words};
use crate::workspace::vfs::{FileAnswer, FileDone, FileFailure, FileOperation, FileOrder, FileRights};
use crate::workspace::{KnownFiles, RoomStart};

/// The most characters of a result or an ending that stand in the log.
pub(super) const LOGGED_CHARS: usize = 2_000;

/// A tool call: of which work, in which turn, which one.
pub(super) type CallAt = (ActivationKey, u32, usize);

/// Everything in the room that work touches.
#[derive(SystemParam)]
pub(super) struct Office<'w, 's> {
    pub(super) clock: Res<'w, SimClock>,
    pub(super) settings: Res<'w, KernelSettings>,
    gateway: Res<'w, GatewaySettings>,
    pub(super) policy: Res<'w, GatePolicy>,
    pub(super) roster: Res<'w, Roster>,
    pub(super) profiles: Res<'w, Profiles>,
    pub(super) log: ResMut<'w, EventLog>,
    files: Res<'w, KnownFiles>,
    pub(super) questions: Res<'w, Questions>,
    pub(super) start: Option<Res<'w, RoomStart>>,
    privacy: Privacy<'w, 's>,
    pub(super) agents: Query<'w, 's, (&'static Agent, Option<&'static Position>)>,
    pub(super) orders: MessageWriter<'w, FileOrder>,
    summons: MessageWriter<'w, Summons>,
    pub(super) withdrawals: MessageWriter<'w, SummonsWithdrawn>,
    due: MessageWriter<'w, WorkDue>,
    pub(super) over: MessageWriter<'w, WorkOver>,
    pub(super) done: MessageWriter<'w, ThinkDone>,
    explain: MessageWriter<'w, Explain>,
}

impl Office<'_, '_> {
    /// An agent in the room.
    pub(super) fn agent(&self, id: &str) -> Option<&Agent> {
        let entity = self.roster.entity(self.roster.key(id)?)?;
        self.agents.get(entity).ok().map(|(agent, _)| agent)
    }

    /// The file of a profile, as results speak of it.
    pub(super) fn file_name(&self, profile: &str) -> String {
        self.profiles.path(profile).map_or_else(|| format!("{profile}.md"), |path| words::file_name(path).to_owned())
    }

    /// Writes the record of new work, which names it.
    pub(super) fn queued(&mut self, agent: &Id, data: Value, cause: Option<Seq>) -> (ActivationKey, Seq) {
        let key = ActivationKey(self.log.next_seq().0);
        let draft = EventDraft::new(EventKind::Activation, data).agent(agent).activation(&key.id()).cause(cause);
        (key, self.log.write(draft))
    }

    pub(super) fn record(
        &mut self,
        kind: EventKind,
        activation: &Activation,
        cause: impl Into<Option<Seq>>,
        data: Value,
    ) -> Seq {
        let draft = EventDraft::new(kind, data).agent(&activation.agent).activation(&activation.key.id());
        self.log.write(draft.cause(cause))
    }

    /// What work may do: what its agent may, and never more than those who started it.
    fn bounds(&self, profile: &str, thread: Option<&Thread>) -> Bounds {
        let own = match (self.profiles.path(profile), self.profiles.get(profile)) {
            (Some(path), Some(profile)) => tools::authority(path, profile).0,
            _ => Authority::least(),
        };
        Authority::chain(own, thread.into_iter().flat_map(|thread| thread.starters.iter().cloned()))
    }

    fn bounds_of(&self, kernel: &Kernel, activation: &Activation) -> Bounds {
        self.bounds(&activation.profile, kernel.thread(activation.thread))
    }

    /// What there is, for the gate to judge by.
    pub(super) fn surroundings(&self) -> Room<'_> {
        Room { files: &self.files, profiles: &self.profiles }
    }

    /// Does what the kernel says.
    pub(super) fn carry_out(&mut self, kernel: &mut Kernel, outbox: &mut Outbox, effect: Effect) {
        match effect {
            Effect::Summon { activation } => {
                let Some(one) = kernel.activation(activation) else { return };
                if let Some(agent) = one.agent_key {
                    self.summons.write(Summons { agent, activation, cause: one.cause });
                }
            }
            Effect::Ask { activation, turn } => self.ask(kernel, activation, turn),
            Effect::Perform { activation, turn, index } => self.perform(kernel, outbox, (activation, turn, index)),
            Effect::Warn { activation, what } => {
                if let Some(one) = kernel.activation(activation).cloned() {
                    self.record(EventKind::Warning, &one, one.cause, json!({ "what": what }));
                }
            }
            Effect::Release { activation, ending, cause } => self.over(kernel, &activation, &ending, cause),
        }
    }

    fn ask(&mut self, kernel: &Kernel, key: ActivationKey, turn: u32) {
        let Some(one) = kernel.activation(key) else { return };
        let (Some(agent), Some(activity)) = (one.agent_key, one.activity) else { return };
        let bounds = self.bounds_of(kernel, one);
        let wanted = self.profiles.get(&one.profile).and_then(|profile| profile.model.as_deref());
        let most = self.settings.session_chars_at_most;
        let room = SessionRoom {
            chars_at_most: one.session_chars_at_most.map_or(most, |shorter| shorter.min(most)),
            window_tokens: self.gateway.window_tokens(self.questions.stand_in(), wanted),
            place: session::path(one),
        };
        self.due.write(WorkDue {
            activation: key,
            turn,
            agent,
            activity,
            messages: one.messages.clone(),
            room,
            tools: tools::declarations(&bounds),
            cause: one.cause,
        });
    }

    fn explain(&mut self, activation: &Activation, why: String, for_person: bool, cause: Seq) {
        if let (Some(agent), Some(activity)) = (activation.agent_key, activation.activity) {
            self.explain.write(Explain { agent, activity, why: Cow::Owned(why), for_person, cause: Some(cause) });
        }
    }

    /// Tells agents why their work does not go on.
    pub(super) fn tell(&mut self, kernel: &mut Kernel) {
        for (key, why) in kernel.take_tellings() {
            if let Some(one) = kernel.activation(key) {
                self.explain(one, why, false, one.cause);
            }
        }
    }

    /// Carries out a tool call, or says why not.
    fn perform(&mut self, kernel: &mut Kernel, outbox: &mut Outbox, at: CallAt) {
        let (key, turn, index) = at;
        let Some(call) = kernel.running_call(key, turn, index).cloned() else { return };
        let Some(one) = kernel.activation(key).cloned() else { return };
        let bounds = self.bounds_of(kernel, &one);
        let (plan, agent) = self.with_agent(&one, tools::parse(&call.call, &bounds));
        let doing = plan.as_ref().ok().map(ToolPlan::doing);
        let decision = plan.as_ref().ok().map(|plan| {
            let act = plan.act(&self.surroundings());
            decide(&act, &bounds, &self.policy)
        });
        let record = call.record.unwrap_or_else(|| {
            let target = doing.as_ref().map(|(_, target)| target.as_str());
            let gate = decision.as_ref().map(word_of);
            let (tool, id) = (&call.call.name, &call.call.id);
            let data = json!({ "tool": tool, "id": id, "target": target, "turn": turn, "gate": gate });
            self.record(EventKind::ToolCall, &one, one.cause, data)
        });
        kernel.note_record(key, index, record);
        if let Some((verb, target)) = doing {
            self.explain(&one, format!("{verb} {target}"), false, record);
        }
        let plan = match plan {
            Ok(plan) => plan,
            Err(text) => return self.answer(kernel, at, &call.call, record, text, false),
        };
        match decision {
            None | Some(Decision::Allow) => {}
            Some(Decision::Ask { .. }) if call.is_allowed => {}
            Some(Decision::Ask { why }) => {
                let (verb, target) = plan.doing();
                let what = format!("{verb} {target}");
                let data = json!({ "tool": plan.tool, "what": what, "why": why, "turn": turn, "call": index });
                let asked = self.record(EventKind::ApprovalRequested, &one, record, data);
                self.explain(&one, format!("waiting for a person: {what} ({why})"), true, asked);
                kernel.ask_person(key, turn, index, format!("{what}: {why}"));
                return;
            }
            Some(Decision::Deny { why }) => {
                let data = json!({ "decision": "deny", "by": "gate", "tool": plan.tool, "why": why });
                self.record(EventKind::ApprovalDecided, &one, record, data);
                return self.answer(kernel, at, &call.call, record, words::denied(&why), false);
            }
        }
        match plan.work {
            Work::File { operation, .. } => self.order(&one, at, &call.call, operation, bounds.file_rights(), record),
            Work::Spawn { path, content, task } => {
                let child = self.child_of(&path, &content);
                match kernel.may_spawn(key, &child, &task, &self.settings) {
                    Ok(_) => {
                        let rights = bounds.spawn_rights(&path);
                        self.order(&one, at, &call.call, FileOperation::Write { path, content }, rights, record);
                    }
                    Err(refusal) => {
                        let text = words::spawned(&path, &refused_spawn(&refusal));
                        self.answer(kernel, at, &call.call, record, text, false);
                    }
                }
            }
            Work::Start { name, task } => {
                // Its name is its profile's now.
                let path = self.profiles.path(&name).unwrap_or_default().to_owned();
                let child = Child { path: &path, agent, profile: name.as_str().into(), task: &task, is_new: false };
                let text = self.spawn(kernel, outbox, &one, child, bounds, record);
                let is_done = !text.starts_with("Error");
                self.answer(kernel, at, &call.call, record, text, is_done);
            }
            Work::Signal { message } => {
                let text = self.signal(kernel, &one, &message, record);
                let is_done = !text.starts_with("Error");
                self.answer(kernel, at, &call.call, record, text, is_done);
            }
        }
    }

    /// A plan in which an agent that is to be started is named by its profile, and the agent's own id. The error is
    /// the result for the model.
    fn with_agent(&self, one: &Activation, plan: Result<ToolPlan, String>) -> (Result<ToolPlan, String>, Id) {
        let Ok(ToolPlan { tool, work: Work::Start { name, task } }) = plan else { return (plan, one.agent.clone()) };
        match self.startable(one, &name) {
            None => (Err(self.no_such_agent(one, &name)), one.agent.clone()),
            Some((agent, _)) if agent == one.agent => {
                (Err(words::spawned(&name, &words::Spawned::Itself)), one.agent.clone())
            }
            Some((agent, profile)) => {
                (Ok(ToolPlan { tool, work: Work::Start { name: profile.to_string(), task } }), agent)
            }
        }
    }

    fn order(
        &mut self,
        one: &Activation,
        (key, turn, index): CallAt,
        call: &ToolCall,
        operation: FileOperation,
        rights: FileRights,
        cause: Seq,
    ) {
        let rights = self.privacy.within(rights, &one.agent, &one.profile);
        self.orders.write(FileOrder {
            key: order_key(key, turn, index, call),
            author: Author::agent(&one.agent),
            activation: Some(key.id()),
            operation,
            rights,
            cause,
        });
    }

    fn answer(&mut self, kernel: &mut Kernel, at: CallAt, call: &ToolCall, cause: Seq, text: String, is_done: bool) {
        let (key, turn, index) = at;
        if let Some(one) = kernel.activation(key).cloned() {
            let shown = truncate(&text, LOGGED_CHARS);
            let data = json!({ "tool": call.name, "id": call.id, "ok": is_done, "text": shown });
            self.record(EventKind::ToolResult, &one, cause, data);
        }
        kernel.answered((key, turn, index), text, &self.settings);
    }

    /// How an order to files went that a tool call gave.
    pub(super) fn file_answered(
        &mut self,
        kernel: &mut Kernel,
        outbox: &mut Outbox,
        at: CallAt,
        result: &Result<FileAnswer, FileFailure>,
        kept_out: &[String],
    ) {
        let (key, turn, index) = at;
        // The work was stopped meanwhile: what was done is done and recorded, and nobody waits for it.
        let Some(call) = kernel.running_call(key, turn, index).cloned() else { return };
        let Some(one) = kernel.activation(key).cloned() else { return };
        let bounds = self.bounds_of(kernel, &one);
        let cause = call.record.unwrap_or(one.cause);
        if let Ok(FileAnswer::Changed { done, .. }) = result {
            let (FileDone::Written { path, .. } | FileDone::Deleted { path } | FileDone::Renamed { to: path, .. }) =
                done;
            kernel.note_change(at, path);
        }
        let text = match tools::parse(&call.call, &bounds) {
            Ok(ToolPlan { work: Work::Spawn { path, content, task }, .. }) => match result {
                Ok(_) => {
                    let agent = self.child_of(&path, &content);
                    let child = Child { path: &path, profile: agent.clone(), agent, task: &task, is_new: true };
                    self.spawn(kernel, outbox, &one, child, bounds, cause)
                }
                Err(failure) => words::spawned(&path, &words::Spawned::NotWritten(failure.clone())),
            },
            Ok(plan) => words::files(&plan, result) + &words::kept_out(kept_out),
            // Its own rights were narrowed while it was under way.
            Err(text) => text,
        };
        self.answer(kernel, at, &call.call, cause, text, result.is_ok());
    }

    /// A person decided about a tool call.
    pub(super) fn decided(&mut self, kernel: &mut Kernel, at: CallAt, allow: bool, cause: Seq) {
        let (key, turn, index) = at;
        let asked = kernel.activation(key).and_then(|one| Some((one.clone(), one.question()?.1.clone())));
        let refusal = (!allow).then(|| words::refused(None));
        if !kernel.decided((key, turn, index), refusal.clone(), &self.settings) {
            let what = "nobody waits for this decision any more";
            self.log.write(EventDraft::new(EventKind::Warning, json!({ "what": what })).cause(cause));
            return;
        }
        let Some((one, call)) = asked else { return };
        let decision = if allow { "allow" } else { "deny" };
        let data = json!({ "decision": decision, "by": "user", "tool": call.name });
        let decided = self.record(EventKind::ApprovalDecided, &one, cause, data);
        let why = if allow { "a person allowed it" } else { "a person refused it" };
        self.explain(&one, why.to_owned(), false, decided);
        if let Some(text) = refusal {
            let data = json!({ "tool": call.name, "id": call.id, "ok": false, "text": text });
            self.record(EventKind::ToolResult, &one, decided, data);
        }
    }
}

fn word_of(decision: &Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask { .. } => "ask",
        Decision::Deny { .. } => "deny",
    }
}
