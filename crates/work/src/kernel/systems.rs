//! The kernel's systems, which pass events to the kernel and carry out its actions.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;

use super::access::RoomAccess;
use super::activation::CapWait;
use super::command::KernelCommand;
use super::core::{Kernel, KernelAction, NewWork, NoReply};
use super::dispatch::PersonDecision;
use super::message_notes::{Attached, ReplyNote};
use super::outbox::Outbox;
use super::server_readiness::ServersNeeded;
use super::settings::KernelSettings;
use super::work_notices::WorkNotice;
use crate::agent::{AgentCommand, AgentRemoved};
use crate::base::Author;
use crate::base::hash::content_hash;
use crate::gateway::{BudgetSettings, MinutePassed, RequestQueue};
use crate::log::EventDraft;
use crate::log::events::{self, Warning};
use crate::mind::{AgentImage, CapScope, FailureKind, ModelFailure, ReplyUsage, SideRequestReplied, WorkReplied};
use crate::schedule::{RoomPaused, ticks};
use crate::simulation::{AgentState, ArrivedForWork, State, TaskCommand};
use crate::tools::{OrderOutcome, ToolImage, ToolOutput};

/// The maximum interval for saving sessions, in seconds.
const MAX_SESSION_WRITE_SECS: f32 = 3_600.0;
/// The maximum number of scheduling rounds per tick. Calls that need no external reply follow each other at once.
const ROUNDS: usize = 16;

/// Passes external input to the kernel: tasks, decisions, replies of models, and outcomes of tool orders.
pub(super) fn ingest(
    mut room: RoomAccess,
    mut kernel: ResMut<Kernel>,
    mut outbox: ResMut<Outbox>,
    mut tasks: MessageReader<TaskCommand>,
    mut commands: MessageReader<KernelCommand>,
    mut replies: MessageReader<WorkReplied>,
    mut outcomes: MessageReader<OrderOutcome>,
    mut side_replies: MessageReader<SideRequestReplied>,
    (mut removed, mut minutes): (MessageReader<AgentRemoved>, MessageReader<MinutePassed>),
) {
    for removal in removed.read() {
        kernel.remove_agent(removal.agent, Some(removal.cause));
    }
    for MinutePassed {} in minutes.read() {
        kernel.minute_passed();
    }
    for task in tasks.read() {
        start_task(&mut room, &mut kernel, &mut outbox, task);
    }
    for command in commands.read() {
        apply_command(&mut room, &mut kernel, command);
    }
    let now = room.clock.tick();
    for reply in replies.read() {
        kernel.note_sent(reply.activation, reply.turn, reply.sent_chars_at_most);
        if let Some(taken) = &reply.taken {
            let used = room.request_queue.ledger().activation(&reply.activation.id());
            kernel.note_agent_session(reply.activation, taken.agent_session.as_ref());
            let room_bytes = kernel.room_for_attached(reply.activation);
            kernel.note_reply(
                reply.activation,
                note_of(taken, room_bytes),
                (used.cost_micro_usd, used.unpriced_tokens),
            );
        }
        match &reply.outcome {
            Ok(answer) => {
                let answer = room.with_proposal(&mut kernel, reply.activation, answer.clone());
                kernel.replied(reply.activation, reply.turn, answer, &room.settings);
            }
            Err(failure) => {
                let failure = no_reply(failure, reply.sent_chars);
                kernel.failed(reply.activation, reply.turn, failure, now, &room.settings);
            }
        }
    }
    for reply in side_replies.read() {
        room.apply_sample_reply(&mut kernel, reply);
    }
    for outcome in outcomes.read() {
        room.apply_outcome(&mut kernel, &mut outbox, outcome);
    }
    kernel.note_messages(now, room.now_secs());
}

/// Creates the note of a reply. `room_bytes` is the remaining attachment capacity of the session.
fn note_of(taken: &ReplyUsage, room_bytes: usize) -> ReplyNote {
    let image = |image: &AgentImage| ToolImage { media_type: image.media_type.clone(), base64: image.base64.clone() };
    let images = taken.images.iter().map(image).collect();
    ReplyNote {
        thought: taken.thought.clone(),
        attached: Attached::of(&ToolOutput { images, ..ToolOutput::default() }, room_bytes),
        model: format!("{}:{}", taken.provider, taken.model),
        at_ms: taken.at_ms,
        tokens_in: taken.usage.input_tokens.into(),
        cached_tokens: taken.usage.cached_tokens.into(),
        tokens_out: taken.usage.output_tokens.into(),
        ..ReplyNote::default()
    }
}

fn no_reply(failure: &ModelFailure, sent_chars: usize) -> NoReply {
    let why = failure.sentence();
    match failure.kind {
        _ if failure.is_too_long => NoReply::TooLong { sent_chars, why },
        FailureKind::RateLimited if failure.waits_in_real_time => NoReply::Held { why },
        FailureKind::RateLimited => NoReply::RateLimited { retry_after_secs: failure.retry_after_secs, why },
        FailureKind::OverBudget => {
            let cap = failure.cap.as_deref();
            // Without a named cap, the room's cap is meant.
            let scope = cap.map_or(CapScope::Run, |cap| cap.scope);
            let wait =
                cap.and_then(|cap| Some(CapWait { minutes: cap.wait_minutes?, is_outside: cap.waits_in_real_time }));
            NoReply::OverBudget { scope, wait, why }
        }
        FailureKind::Rejected if matches!(failure.status, Some(400 | 413 | 415 | 422)) => NoReply::Rejected { why },
        _ if failure.may_be_asked_again() && failure.waits_in_real_time => NoReply::Held { why },
        _ if failure.may_be_asked_again() => NoReply::Passing { why },
        _ => NoReply::Lasting { why },
    }
}

/// Queues a person's task. If no agent uses the profile, an agent is added to the room.
fn start_task(room: &mut RoomAccess, kernel: &mut Kernel, outbox: &mut Outbox, task: &TaskCommand) {
    let known = room.agent(&task.agent).map(|agent| agent.profile.clone());
    let is_defined = room.profiles.is_defined(&task.agent);
    let Some(profile) = known.clone().or_else(|| is_defined.then(|| task.agent.clone())) else {
        let what = format!("no such agent or profile: {}", task.agent);
        let remedy = "use the id of an agent in the room, or of an agent file";
        room.log.write(EventDraft::of(&Warning::new(what).with_remedy(remedy)));
        return;
    };
    let input = match room.expand_skill(&profile, &task.text) {
        Ok(input) => input,
        Err(why) => {
            let what = format!("the task for {} was rejected: {why}", task.agent);
            room.log.write(EventDraft::of(&Warning::new(what).with_remedy("fix the name after /skill:")));
            return;
        }
    };
    if kernel.activations().count() >= room.settings.max_activations as usize {
        let most = room.settings.max_activations;
        let what = format!("the task for {} was rejected: {most} pieces of work are already waiting", task.agent);
        let remedy = "wait until one is done, or raise kernel.max_activations";
        // The warning names no agent, so that it is shown to the person who gave the task.
        room.log.write(EventDraft::of(&Warning::new(what).with_remedy(remedy)));
        return;
    }
    if known.is_none() {
        outbox.agents.push(AgentCommand::Add {
            id: Some(task.agent.clone()),
            profile: profile.clone(),
            position: Vec2::ZERO,
            behaviour: None,
            exactly: false,
        });
    }
    let given = events::Activation {
        task: task.text.clone(),
        by: Author::user().0,
        depth: Some(0),
        profile: Some(profile.clone()),
        ..events::Activation::default()
    };
    let key = kernel.next_key(room.run());
    let cause = room.record_queued(key, &task.agent, &given, None);
    let asks = kernel.approvals().find(|approval| approval.agent == task.agent);
    if let Some(approval) = asks {
        let what = format!(
            "the new task waits until a person has answered an earlier question: it wants to {}",
            approval.what
        );
        let draft = EventDraft::of(&Warning { approval: Some(approval.id.to_string().into()), ..Warning::new(what) });
        room.log.write(draft.agent(&task.agent).activation(&key.id()).cause(cause));
    }
    kernel.start(NewWork {
        key,
        agent: task.agent.clone(),
        file_name: room.file_name(&profile),
        profile,
        input,
        priority: 0,
        now: room.clock.tick(),
        cause,
    });
}

fn apply_command(room: &mut RoomAccess, kernel: &mut Kernel, command: &KernelCommand) {
    const BY: &str = "a person stopped it";
    let cause = room.record_command(kernel, command);
    match command {
        KernelCommand::Pause => kernel.set_paused(true),
        KernelCommand::Resume => {
            kernel.set_paused(false);
            // Retrying would only exceed the cap again.
            if let Some(why) = kernel.stopped_by() {
                let warning = Warning::new(format!("work stays stopped: {why}"));
                room.log.write(EventDraft::of(&warning).cause(cause));
            }
        }
        KernelCommand::OneTurnEach => kernel.enable_single_step(),
        KernelCommand::Kill { activation } => {
            kernel.kill(*activation, BY, Some(cause));
        }
        KernelCommand::KillAgent { agent } => kernel.kill_agent(agent, BY, Some(cause)),
        KernelCommand::KillAll => kernel.kill_all("a person stopped all work", Some(cause)),
        KernelCommand::Limits { concurrency, depth_at_most } => kernel.set_limits(*concurrency, *depth_at_most),
        KernelCommand::Decide { activation, turn, call, allow, scope, because, form, answered_in } => {
            let (because, by) = (because.as_deref(), answered_in.decided_by());
            let decided = PersonDecision { allow: *allow, scope: *scope, because, form, by };
            room.decided(kernel, (*activation, *turn, *call), decided, cause);
        }
    }
}

/// Lets work continue if the budget that stopped it has changed, or a new run has begun.
pub(super) fn watch_caps(mut kernel: ResMut<Kernel>, budget: Res<BudgetSettings>, request_queue: Res<RequestQueue>) {
    if budget.is_changed() {
        let caps = serde_json::to_string(&*budget).unwrap_or_default();
        kernel.note_caps(content_hash(caps.as_bytes()));
    }
    if kernel.stopped_by().is_some() && request_queue.run_cap_reached().is_none() {
        kernel.resume_capped_work();
    }
}

/// Schedules work and carries out the kernel's actions.
pub(super) fn run_kernel(
    mut room: RoomAccess,
    (mut kernel, mut outbox): (ResMut<Kernel>, ResMut<Outbox>),
    (mut arrivals, mut notices): (MessageReader<ArrivedForWork>, MessageReader<WorkNotice>),
    states: Query<&AgentState>,
    standstill: Option<Res<RoomPaused>>,
    mut needed: Local<ServersNeeded>,
) {
    for arrival in arrivals.read() {
        if kernel.activation(arrival.activation).is_some() {
            kernel.note_arrived(arrival.activation, arrival.activity);
        } else {
            // The work ended before the agent arrived.
            room.release(*arrival);
        }
    }
    for notice in notices.read() {
        room.deliver_notice(&mut kernel, notice);
    }
    for agent in kernel.awaited_agents() {
        if let Some(key) = room.roster.key(&agent) {
            kernel.note_present(&agent, key);
        }
    }
    let mut waiting = room.servers_needed(&kernel, &mut needed);
    waiting.extend(room.agents_with_old_additions(&kernel));
    let goes_on = standstill.is_none_or(|standstill| !standstill.holds());
    let now = room.clock.tick();
    let settings: KernelSettings = (*room.settings).clone();
    let mut has_ended = false;
    for _ in 0..ROUNDS {
        let mut effects = kernel.take_actions();
        if goes_on {
            let roster = &room.roster;
            let is_held = |agent| {
                let state = roster.entity(agent).and_then(|entity| states.get(entity).ok());
                waiting.contains(&agent) || state.is_some_and(|state| state.0.state() == State::Paused)
            };
            effects.extend(kernel.step(now, &settings, is_held));
        }
        if effects.is_empty() {
            break;
        }
        // Sessions are saved below with these notes.
        kernel.note_messages(now, room.now_secs());
        for effect in effects {
            has_ended |= matches!(effect, KernelAction::Release { .. });
            room.carry_out(&mut kernel, &mut outbox, effect);
        }
    }
    kernel.note_messages(now, room.now_secs());
    room.explain_waits(&mut kernel);
    let every = ticks(settings.session_write_secs.clamp(0.0, MAX_SESSION_WRITE_SECS));
    for key in kernel.take_sessions_to_save(now, every.max(1)) {
        room.write_session(&mut kernel, key);
    }
    if has_ended {
        room.forget_finished_runs(&mut kernel);
    }
}
