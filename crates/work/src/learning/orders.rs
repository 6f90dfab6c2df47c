//! What is asked of the knowledge service, as ways out of the world: memories for prompts, tool calls, and the steps of
//! lessons. All of it may be repeated: what is known already is not written twice.

use std::fmt;
use std::time::Duration;

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use serde::Serialize;

use super::bridge::KnowledgeBridge;
use super::knowledge_calls::Caller;
use super::lessons::{Lesson, LessonAnswer, LessonAnswered, Lessons, Stage};
use super::service::{MAX_REQUESTS, NotSent, ServiceRequest};
use super::settings::KnowledgeSettings;
use crate::agent::Roster;
use crate::base::Id;
use crate::knowledge::Source;
use crate::knowledge::consolidation::{Candidate, Decision};
use crate::log::EventLog;
use crate::mind::parts::REMEMBERED;
use crate::mind::{GatherKey, MindSettings, PartGathered, PendingRequests};
use crate::schedule::outside::{Outside, Received, Reporter, Start, WorldOf};
use crate::schedule::{RoomDate, SimClock};
use crate::tools::executor::{ExecutorWorld, ToolExecutor, ToolReporter};
use crate::tools::{KNOWLEDGE, KnowledgeOrder, OrderKey, OrderReport, ToolOrder};

/// How long the clock waits for an answer.
const PATIENCE: Option<Duration> = Some(Duration::from_millis(500));

/// Why nothing can be asked, and what to do.
const NO_SERVICE: &str = "memories cannot be read in this run; reopen the workspace to see why";

/// Sends a request, or ends it with this answer if there is no service.
fn send<T>(bridge: &KnowledgeBridge, request: ServiceRequest, refused: impl FnOnce(String) -> T) -> Start<T> {
    match bridge.ask(request) {
        Ok(()) => Start::Started,
        Err(NotSent::Full) => Start::NotYet,
        Err(NotSent::Ended) => Start::Ended(refused(NO_SERVICE.to_owned())),
    }
}

/// The memories for prompts.
pub(super) struct MemoryRecall;

/// What an agent is to remember for a prompt.
#[derive(Serialize)]
pub(super) struct RecallOrder {
    agent: Id,
    about: String,
}

/// What recalling reads of the world.
#[derive(SystemParam)]
pub(super) struct RecallWorld<'w> {
    pending: Res<'w, PendingRequests>,
    roster: Res<'w, Roster>,
    settings: Res<'w, KnowledgeSettings>,
    mind: Res<'w, MindSettings>,
    clock: Res<'w, SimClock>,
    date: Res<'w, RoomDate>,
    bridge: Res<'w, KnowledgeBridge>,
}

impl Outside for MemoryRecall {
    const NAME: &'static str = "recall";
    const MAX_RUNNING: usize = MAX_REQUESTS;
    const TAKES_REAL_TIME: bool = false;
    const PATIENCE: Option<Duration> = PATIENCE;

    type Key = GatherKey;
    type Order = RecallOrder;
    type Report = Result<String, String>;
    type Answer = PartGathered;
    type World = RecallWorld<'static>;

    fn wanted(&mut self, world: &mut WorldOf<'_, '_, Self>) -> Vec<GatherKey> {
        world.pending.orders_of(REMEMBERED).map(|order| order.key).collect()
    }

    fn order(&self, key: &GatherKey, world: &WorldOf<'_, '_, Self>) -> Result<RecallOrder, PartGathered> {
        let order = world.pending.order(key).and_then(|order| {
            let agent = world.roster.id(order.agent)?.clone();
            Some(RecallOrder { agent, about: order.query["about"].as_str()?.to_owned() })
        });
        order.ok_or_else(|| PartGathered { key: key.clone(), outcome: Err("the query cannot be read".to_owned()) })
    }

    fn interrupted(&mut self, _: &GatherKey, _: &RecallOrder) -> Option<PartGathered> {
        None
    }

    fn start(
        &mut self,
        key: &GatherKey,
        RecallOrder { agent, about }: RecallOrder,
        world: &mut WorldOf<'_, '_, Self>,
        reporter: Reporter<Self>,
    ) -> Start<PartGathered> {
        let now = world.date.secs(&world.clock).unwrap_or(0);
        let (settings, chars_at_most) = (world.settings.clone(), world.mind.max_prompt_chars);
        let reply = Box::new(move |recalled| reporter.report(recalled));
        let request = ServiceRequest::Recall { agent, about, now, settings, chars_at_most, reply };
        send(&world.bridge, request, |why| PartGathered { key: key.clone(), outcome: Err(why) })
    }

    fn cancel(&mut self, _: &GatherKey, _: &mut WorldOf<'_, '_, Self>) {}

    fn receive(
        &mut self,
        key: &GatherKey,
        outcome: Result<String, String>,
        _: &mut WorldOf<'_, '_, Self>,
    ) -> Received<PartGathered> {
        Received::Answer(PartGathered { key: key.clone(), outcome })
    }

    fn lost(&self, key: &GatherKey, why: &str) -> PartGathered {
        PartGathered { key: key.clone(), outcome: Err(format!("memories could not be recalled: {why}")) }
    }

    fn is_final(_: &PartGathered) -> bool {
        true
    }

    fn addressed_to(key: &GatherKey, answer: PartGathered) -> PartGathered {
        PartGathered { key: key.clone(), ..answer }
    }
}

/// The tool calls about memories.
pub(super) struct MemoryCalls;

/// What tool calls read of the world.
#[derive(SystemParam)]
pub(super) struct CallWorld<'w> {
    log: Res<'w, EventLog>,
    clock: Res<'w, SimClock>,
    date: Res<'w, RoomDate>,
    bridge: Res<'w, KnowledgeBridge>,
}

impl ToolExecutor for MemoryCalls {
    const NAME: &'static str = KNOWLEDGE;
    const MAX_RUNNING: usize = MAX_REQUESTS;
    const TAKES_REAL_TIME: bool = false;
    const PATIENCE: Option<Duration> = PATIENCE;

    type Order = KnowledgeOrder;
    type Report = OrderReport;
    type World = CallWorld<'static>;

    fn interrupted(&mut self, _: OrderKey, _: &KnowledgeOrder) -> Option<String> {
        None
    }

    fn start(
        &mut self,
        order: &ToolOrder,
        content: KnowledgeOrder,
        world: &mut ExecutorWorld<'_, '_, Self>,
        reporter: ToolReporter<Self>,
    ) -> Start<OrderReport> {
        let source = Source {
            run: Some(world.log.run().clone()),
            session: Some(order.key.activation.id()),
            record: Some(order.cause.0),
        };
        let now = world.date.secs(&world.clock).unwrap_or(0);
        let caller = Caller { agent: order.agent.clone(), call: order.key.id(), source, now };
        let reply = Box::new(move |report| reporter.report(report));
        let request = ServiceRequest::Tool { caller, order: content, reply };
        send(&world.bridge, request, |why| OrderReport::Failed { why })
    }

    fn cancel(&mut self, _: OrderKey, _: &mut ExecutorWorld<'_, '_, Self>) {}

    fn receive(
        &mut self,
        _: OrderKey,
        report: OrderReport,
        _: &mut ExecutorWorld<'_, '_, Self>,
    ) -> Received<OrderReport> {
        Received::Answer(report)
    }
}

/// The memory operations of lessons.
pub(super) struct LessonSteps;

/// A memory operation of a lesson.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct LessonStep {
    lesson: u64,
    step: MemoryStep,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum MemoryStep {
    Compare,
    Apply,
}

impl fmt::Display for LessonStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let step = match self.step {
            MemoryStep::Compare => "compare",
            MemoryStep::Apply => "apply",
        };
        write!(f, "{}/{step}", self.lesson)
    }
}

/// What is done with the memories of an agent in a lesson.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LessonOrder {
    Compare { agent: Id, candidates: Vec<Candidate> },
    Apply { agent: Id, decisions: Vec<Decision> },
}

impl LessonStep {
    /// The operation that a lesson waits for.
    fn of(lesson: &Lesson) -> Option<Self> {
        let step = match &lesson.stage {
            Stage::Comparing { .. } => MemoryStep::Compare,
            Stage::TakingIn { .. } => MemoryStep::Apply,
            Stage::Extracting | Stage::Weighing { .. } => return None,
        };
        Some(Self { lesson: lesson.number, step })
    }

    fn failed(self, why: String) -> LessonAnswered {
        LessonAnswered { number: self.lesson, answer: LessonAnswer::Failed { why } }
    }
}

impl LessonOrder {
    fn of(lesson: &Lesson) -> Option<Self> {
        let agent = lesson.id.clone();
        match &lesson.stage {
            Stage::Comparing { candidates } => Some(Self::Compare { agent, candidates: candidates.clone() }),
            Stage::TakingIn { decisions, .. } => Some(Self::Apply { agent, decisions: decisions.clone() }),
            Stage::Extracting | Stage::Weighing { .. } => None,
        }
    }
}

/// The lesson as the author of memories.
fn caller_of(lesson: &Lesson) -> Caller {
    let run = lesson.source.run.as_deref().unwrap_or_default();
    Caller {
        agent: lesson.id.clone(),
        call: format!("{run}/lesson-{}", lesson.number).into(),
        source: lesson.source.clone(),
        now: lesson.at_secs,
    }
}

/// What lessons read of the world.
#[derive(SystemParam)]
pub(super) struct LessonWorld<'w> {
    lessons: Res<'w, Lessons>,
    bridge: Res<'w, KnowledgeBridge>,
}

impl LessonWorld<'_> {
    /// The lesson that waits for this operation.
    fn lesson(&self, key: LessonStep) -> Option<&Lesson> {
        self.lessons.first().filter(|lesson| LessonStep::of(lesson) == Some(key))
    }
}

impl Outside for LessonSteps {
    const NAME: &'static str = "lessons";
    const MAX_RUNNING: usize = 1;
    const TAKES_REAL_TIME: bool = false;
    const PATIENCE: Option<Duration> = PATIENCE;

    type Key = LessonStep;
    type Order = LessonOrder;
    type Report = LessonAnswer;
    type Answer = LessonAnswered;
    type World = LessonWorld<'static>;

    fn wanted(&mut self, world: &mut WorldOf<'_, '_, Self>) -> Vec<LessonStep> {
        world.lessons.first().and_then(LessonStep::of).into_iter().collect()
    }

    fn order(&self, key: &LessonStep, world: &WorldOf<'_, '_, Self>) -> Result<LessonOrder, LessonAnswered> {
        let order = world.lesson(*key).and_then(LessonOrder::of);
        order.ok_or_else(|| key.failed("the lesson is at another step".to_owned()))
    }

    fn interrupted(&mut self, _: &LessonStep, _: &LessonOrder) -> Option<LessonAnswered> {
        None
    }

    fn start(
        &mut self,
        key: &LessonStep,
        order: LessonOrder,
        world: &mut WorldOf<'_, '_, Self>,
        reporter: Reporter<Self>,
    ) -> Start<LessonAnswered> {
        let Some(lesson) = world.lesson(*key) else { return Start::NotYet };
        let reply = Box::new(move |answer| reporter.report(answer));
        let request = match order {
            LessonOrder::Compare { agent, candidates } => ServiceRequest::Compare { agent, candidates, reply },
            LessonOrder::Apply { decisions, .. } => {
                ServiceRequest::ApplyDecisions { caller: caller_of(lesson), decisions, reply }
            }
        };
        send(&world.bridge, request, |why| key.failed(why))
    }

    fn cancel(&mut self, _: &LessonStep, _: &mut WorldOf<'_, '_, Self>) {}

    fn receive(
        &mut self,
        key: &LessonStep,
        answer: LessonAnswer,
        _: &mut WorldOf<'_, '_, Self>,
    ) -> Received<LessonAnswered> {
        Received::Answer(LessonAnswered { number: key.lesson, answer })
    }

    fn lost(&self, key: &LessonStep, why: &str) -> LessonAnswered {
        key.failed(format!("{why}; its outcome is unknown"))
    }

    fn is_final(_: &LessonAnswered) -> bool {
        true
    }

    fn addressed_to(key: &LessonStep, answer: LessonAnswered) -> LessonAnswered {
        LessonAnswered { number: key.lesson, ..answer }
    }
}

#[cfg(test)]
#[path = "orders_tests.rs"]
mod tests;
