//! Snapshot of all work for the UI: queued and running work, which agent started which, and pending approvals.

use std::collections::BTreeSet;

use bevy::ecs::prelude::*;

use super::counts::need_you;
use crate::agent::Roster;
use crate::base::{ActivationKey, AgentKey, Id};
use crate::gateway::{self, RequestQueue};
use crate::kernel::{Activation, Approval, CallProgress, Kernel, KernelSettings, Phase, preview};
use crate::schedule::{SimClock, TICKS_PER_SEC};
use crate::tools::Preview;

/// Maximum number of pieces of work that are listed.
const SHOWN: usize = 200;
/// Stage of a queued task whose agent awaits approval for an earlier task.
const WAITS_FOR_ANSWER: &str = "waits for your answer to its earlier task";

/// Snapshot of the kernel's work.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct WorkView {
    /// Number of running pieces.
    pub going_on: usize,
    /// Number of waiting pieces.
    pub waiting: usize,
    /// Whether a person paused work.
    pub is_paused: bool,
    /// The sentence about the cap that stopped work.
    pub stopped_by: Option<String>,
    /// Seconds of simulated time until a rate limit ends.
    pub resumes_in_secs: Option<f32>,
    /// Maximum number of pieces that run at once.
    pub concurrency: u32,
    /// Maximum depth to which agents may start other agents.
    pub depth_at_most: u32,
    /// The first pieces, in queue order.
    pub pieces: Vec<PieceView>,
    /// Pairs of parent and child agents, of runs that have not ended.
    pub threads: Vec<(AgentKey, AgentKey)>,
}

/// One piece of work.
#[derive(Clone, PartialEq, Debug)]
pub struct PieceView {
    /// Identifies the piece.
    pub activation: ActivationKey,
    /// The id of its agent.
    pub agent: Id,
    /// The task text.
    pub task: String,
    /// Its progress in a word, such as “thinking”.
    pub stage: &'static str,
    /// Number of model requests so far.
    pub turn: u32,
    /// Depth below the piece that a person or event started.
    pub depth: u32,
    /// Number of tokens used.
    pub tokens: u64,
    /// The pending approval.
    pub question: Option<QuestionView>,
}

/// An approval that a person must give before work continues.
#[derive(Clone, PartialEq, Debug)]
pub struct QuestionView {
    /// The tool call and the scopes that can be granted.
    pub approval: Approval,
    /// The expected effect of the call, as far as it can be computed.
    pub preview: Preview,
}

impl QuestionView {
    /// The pending approval of a piece of work.
    pub fn read(world: &World, one: &Activation) -> Option<Self> {
        let approval = one.approval()?;
        let preview = preview(world, one.key).unwrap_or_else(|| Preview::arguments(&approval.arguments));
        Some(Self { approval, preview })
    }
}

impl WorkView {
    /// Reads all work from the world.
    pub fn read(world: &World) -> Self {
        let (Some(kernel), Some(settings)) = (world.get_resource::<Kernel>(), world.get_resource::<KernelSettings>())
        else {
            return Self::default();
        };
        let now = world.resource::<SimClock>().tick();
        let going_on = kernel.slots_in_use();
        let all = kernel.activations().count();
        let asking: BTreeSet<&Id> = kernel
            .approvals()
            .map(|approval| approval.activation)
            .filter_map(|key| Some(&kernel.activation(key)?.agent))
            .collect();
        let piece = |one: &Activation| {
            let ledger = world.resource::<RequestQueue>().ledger();
            PieceView {
                activation: one.key,
                agent: one.agent.clone(),
                task: one.input.clone(),
                stage: if !one.has_begun() && asking.contains(&one.agent) { WAITS_FOR_ANSWER } else { stage(one) },
                turn: one.turn,
                depth: kernel.thread(one.thread).map_or(0, |thread| thread.depth),
                tokens: ledger.activation(&one.key.id()).tokens,
                question: QuestionView::read(world, one),
            }
        };
        let in_room = kernel.resume_tick().map(|tick| tick.saturating_sub(now) as f32 / TICKS_PER_SEC as f32);
        let outside = gateway::longest_cooldown(world);
        Self {
            going_on,
            waiting: all - going_on,
            is_paused: kernel.is_paused(),
            stopped_by: kernel.stopped_by().map(str::to_owned),
            resumes_in_secs: in_room.or((!outside.is_zero() && all > 0).then_some(outside.as_secs_f32())),
            concurrency: kernel.concurrency(settings),
            depth_at_most: kernel.depth_at_most(settings),
            pieces: kernel.activations().take(SHOWN).map(piece).collect(),
            threads: threads(kernel, world.resource::<Roster>()),
        }
    }

    /// Whether a person paused work or a cap stopped it, so that only a person can resume it. A rate limit does not
    /// count.
    pub fn needs_resume(&self) -> bool {
        self.is_paused || self.stopped_by.is_some()
    }

    /// The pending approvals, oldest first.
    pub fn questions(&self) -> impl Iterator<Item = (&PieceView, &QuestionView)> {
        self.pieces.iter().filter_map(|piece| Some((piece, piece.question.as_ref()?)))
    }

    /// A one-sentence summary.
    pub fn sentence(&self) -> String {
        let held_up = match (self.is_paused, &self.stopped_by, self.resumes_in_secs) {
            (true, ..) => Some("work is paused".to_owned()),
            (_, Some(why), _) => Some(format!("stopped: {why}")),
            (.., Some(secs)) => Some(format!("rate limited, {secs:.0} s to go")),
            _ => None,
        };
        let counts = match (self.going_on, self.waiting) {
            (0, 0) => "No one is working".to_owned(),
            (going_on, 0) => format!("{going_on} working"),
            (going_on, waiting) => format!("{going_on} working, {waiting} waiting"),
        };
        let asked = self.questions().count();
        let asked = match asked {
            0 => String::new(),
            count => format!(" · {}", need_you(count)),
        };
        match held_up {
            Some(why) => format!("{counts}{asked} · {why}"),
            None => format!("{counts}{asked}"),
        }
    }
}

/// The progress of a piece of work in a word, such as “thinking”.
pub(super) fn stage(one: &Activation) -> &'static str {
    match &one.phase {
        Phase::Queued => "queued",
        Phase::Summoned => "called",
        Phase::Due if !one.has_slot => "waiting",
        Phase::Due | Phase::Asking => "thinking",
        Phase::Calling { calls } if calls.iter().any(|call| matches!(call.progress, CallProgress::Asked(_))) => {
            "needs you"
        }
        Phase::Calling { .. } => "using a tool",
    }
}

fn threads(kernel: &Kernel, roster: &Roster) -> Vec<(AgentKey, AgentKey)> {
    let started = kernel.threads().filter_map(|(_, thread)| {
        let parent = kernel.thread(thread.parent?)?;
        Some((roster.key(&parent.agent)?, roster.key(&thread.agent)?))
    });
    let mut pairs: Vec<_> = started.filter(|(parent, child)| parent != child).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::base::Seq;
    use crate::kernel::NewWork;
    use crate::mind::{ToolCall, WorkReply};
    use crate::simulation::ActivityId;

    fn queue(kernel: &mut Kernel, key: u64, agent: &str) {
        kernel.start(NewWork {
            key: ActivationKey::numbered(key),
            agent: agent.into(),
            profile: agent.into(),
            file_name: format!("{agent}.md"),
            input: "a task".into(),
            priority: 0,
            now: 0,
            cause: Seq(1),
        });
    }

    #[test]
    fn a_task_blocked_by_an_earlier_approval_says_so() {
        let (mut kernel, settings) = (Kernel::default(), KernelSettings::default());
        queue(&mut kernel, 1, "lead");
        kernel.note_present(&"lead".into(), AgentKey(1));
        kernel.step(1, &settings, |_| false);
        kernel.note_arrived(ActivationKey::numbered(1), ActivityId(1));
        kernel.step(2, &settings, |_| false);
        let call = ToolCall::new("c", "vfs_write", json!({ "path": "a.md" }));
        let reply = WorkReply { tool_calls: vec![call], ..WorkReply::default() };
        kernel.replied(ActivationKey::numbered(1), 1, reply, &settings);
        kernel.step(3, &settings, |_| false);
        assert!(kernel.ask_person(ActivationKey::numbered(1), 1, 0, "write a.md".into()));
        queue(&mut kernel, 2, "lead");
        queue(&mut kernel, 3, "other");
        let mut world = World::new();
        world.insert_resource(kernel);
        world.insert_resource(settings);
        world.init_resource::<SimClock>();
        world.init_resource::<RequestQueue>();
        world.init_resource::<Roster>();
        let stages: Vec<&str> = WorkView::read(&world).pieces.iter().map(|piece| piece.stage).collect();
        assert_eq!(stages, ["needs you", WAITS_FOR_ANSWER, "queued"]);
    }
}
