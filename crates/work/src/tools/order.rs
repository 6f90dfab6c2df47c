//! Orders to the executors of tool calls, and their outcomes.
//!
//! A call allowed by the gate becomes one [`ToolOrder`]. An executor answers it with [`OrderOutcome`]s of the same key,
//! now or any number of ticks later: any number of progress reports, and one result at the end. External results enter
//! as inputs.
//!
//! An executor checks [`PendingToolOrders`] in each tick for orders that it has not started ([`PendingToolOrders::of`])
//! and stops cancelled ones; its running orders need not be saved, because the same orders are pending under the same
//! keys after a restart. It does nothing during a replay
//! ([`InputJournal::is_replaying`]). The tick after the one that issued an order waits until that is in the log
//! ([`must_wait`]), because an executor may change something outside.

use std::fmt;
use std::str::FromStr;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::Tools;
use super::plan::{FILES, ToolPlan};
use crate::base::hash::content_hash;
use crate::base::{ActivationKey, Id, RunTag, Seq};
use crate::gateway::SeenCode;
use crate::gateway::mcp::{McpElicitation, McpReply, McpSampling};
use crate::mind::ToolCall;
use crate::schedule::{Input, InputJournal, Section};
use crate::store::Store;
use crate::workspace::vfs::FileRights;

/// The permanent key of an order: the same after a crash, while another call that a model made in its place has another
/// key. It contains the run that issued it, so that a room continued elsewhere from the same moment does not mistake
/// orders executed there for its own. Written `act-7-3kq9x2mf/1/0/0123456789abcdef`, with the run appended if the work
/// was queued in an earlier one: `act-7-3kq9x2mf/1/0/0123456789abcdef/5dh0vb81`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct OrderKey {
    /// The activation.
    pub activation: ActivationKey,
    /// The turn of the activation.
    pub turn: u32,
    /// The call of the turn.
    pub call: usize,
    hash: u64,
    run: RunTag,
}

/// The error for a text that is not the key of a tool order.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0:?} is not the key of a tool call")]
pub struct InvalidOrderKey(String);

impl OrderKey {
    /// Creates the key of the order for a call in this turn and this run.
    pub fn new(run: RunTag, (activation, turn, call): (ActivationKey, u32, usize), asked: &ToolCall) -> Self {
        Self { activation, turn, call, hash: call_hash(asked), run }
    }

    /// The key of another order of the same call. Number 0 is the order itself.
    #[must_use]
    pub fn numbered(self, number: u32) -> Self {
        Self { hash: self.hash ^ u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15), ..self }
    }

    /// The key as the id used by files.
    pub fn id(&self) -> Id {
        self.to_string().into()
    }
}

/// The hash of a call.
pub fn call_hash(call: &ToolCall) -> u64 {
    content_hash(format!("{}\n{}", call.name, call.arguments).as_bytes())
}

impl fmt::Display for OrderKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{:016x}", self.activation, self.turn, self.call, self.hash)?;
        if self.run == self.activation.run() { Ok(()) } else { write!(f, "/{}", self.run) }
    }
}

impl FromStr for OrderKey {
    type Err = InvalidOrderKey;

    fn from_str(text: &str) -> Result<Self, InvalidOrderKey> {
        let parse = || {
            let mut parts = text.split('/');
            let activation = ActivationKey::parse(parts.next()?)?;
            let (turn, call) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            let hash = parts.next().filter(|hash| hash.len() == 16)?;
            let hash = u64::from_str_radix(hash, 16).ok()?;
            let run = match parts.next() {
                Some(run) => RunTag::parse(run).filter(|run| *run != activation.run())?,
                None => activation.run(),
            };
            parts.next().is_none().then_some(Self { activation, turn, call, hash, run })
        };
        parse().ok_or_else(|| InvalidOrderKey(text.chars().take(80).collect()))
    }
}

impl TryFrom<String> for OrderKey {
    type Error = InvalidOrderKey;

    fn try_from(text: String) -> Result<Self, InvalidOrderKey> {
        text.parse()
    }
}

impl From<OrderKey> for String {
    fn from(key: OrderKey) -> Self {
        key.to_string()
    }
}

/// A tool call to execute.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolOrder {
    /// The permanent key.
    pub key: OrderKey,
    /// The id of the calling agent.
    pub agent: Id,
    /// The agent's profile.
    pub profile: Id,
    /// The plan to execute.
    pub plan: ToolPlan,
    /// Which files of the workspace it may see and change.
    pub rights: FileRights,
    /// The log record of the call.
    pub cause: Seq,
    /// The agent in whose copy of the workspace it is executed, if not in the workspace itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Id>,
}

/// The outcome of an order. An input if the executor is outside the world.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OrderOutcome {
    /// The order.
    pub key: OrderKey,
    /// The report.
    pub news: OrderReport,
}

impl Input for OrderOutcome {
    const KIND: &'static str = "tool_outcome";
}

/// A report about an order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "news", rename_all = "snake_case")]
pub enum OrderReport {
    /// It is running.
    Progress {
        /// The progress in a few words.
        text: String,
    },
    /// The executor asks a person something before it continues.
    Asks {
        /// The question.
        question: Box<McpElicitation>,
    },
    /// The executor calls a model before it continues.
    Samples {
        /// The request.
        question: Box<McpSampling>,
    },
    /// The executing code requests a call of its agent, which is checked like any other and answered with
    /// [`CallAnswered`].
    Calls {
        /// The number of the call within the order.
        number: u64,
        /// The call.
        call: Box<ToolCall>,
    },
    /// It was not executed: these are the files that it would run. The gate decides again.
    Code {
        /// The contents of the files.
        code: SeenCode,
    },
    /// It was executed.
    Done {
        /// Its result.
        output: ToolOutput,
    },
    /// It was executed, and the executor reports that it failed.
    Refused {
        /// The output, which contains the reason.
        output: ToolOutput,
    },
    /// It was not executed, or not completely.
    Failed {
        /// The reason, for the model.
        why: String,
    },
    /// It was stopped.
    Aborted {
        /// The reason.
        why: String,
    },
}

impl OrderReport {
    /// The final report: done with this text, or failed for this reason.
    pub fn ended(result: Result<String, String>) -> Self {
        match result {
            Ok(text) => Self::Done { output: ToolOutput { text, ..ToolOutput::default() } },
            Err(why) => Self::Failed { why },
        }
    }

    /// The final report on a saved order whose plan this version cannot parse.
    pub(crate) fn unparseable() -> Self {
        Self::Failed { why: "the call can no longer be read".to_owned() }
    }

    /// Whether this is the final report.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Progress { .. } | Self::Asks { .. } | Self::Samples { .. } | Self::Calls { .. } => false,
            Self::Code { .. }
            | Self::Done { .. }
            | Self::Refused { .. }
            | Self::Failed { .. }
            | Self::Aborted { .. } => true,
        }
    }
}

/// The output of an order.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolOutput {
    /// The result as text, for the model.
    pub text: String,
    /// The same result as data; the model gets it if there is no text.
    pub data: Option<Value>,
    /// Images.
    pub images: Vec<ToolImage>,
    /// The paths of changed files of the workspace.
    pub changed: Vec<String>,
    /// The changes of the agent's copy that conflict with the workspace and so were not merged, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmerged: Vec<String>,
    /// Whether the executor did something other than requested, which the text describes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_otherwise: bool,
}

/// An image returned by a tool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolImage {
    /// The media type, such as `image/png`.
    pub media_type: String,
    /// The bytes in base64.
    pub base64: String,
}

/// The answer of a person or a model to a question of an order's executor.
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub struct OrderAnswered {
    /// The order.
    pub key: OrderKey,
    /// The number of the question.
    pub number: u64,
    /// The answer.
    pub reply: McpReply,
}

/// A call made by the code of an order has ended.
#[derive(Message, Clone, PartialEq, Debug)]
pub struct CallAnswered {
    /// The order.
    pub key: OrderKey,
    /// The number of the call.
    pub number: u64,
    /// The result.
    pub answer: CallAnswer,
}

/// The result of a call made by the code of an order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallAnswer {
    /// It was executed, with its whole text.
    Done(String),
    /// It was not executed as requested, with the reason.
    NotDone(String),
}

/// A piece of work is over, and its orders are cancelled.
#[derive(Message, Clone, Copy, PartialEq, Eq, Debug)]
pub struct ToolOrdersWithdrawn {
    /// The activation.
    pub activation: ActivationKey,
}

/// The orders without an answer, in the order in which they were issued. Saved with the room.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PendingToolOrders(Vec<ToolOrder>);

impl PendingToolOrders {
    /// The orders for an executor.
    pub fn of<'a>(&'a self, executor: &'a str) -> impl Iterator<Item = &'a ToolOrder> {
        self.0.iter().filter(move |order| *order.plan.executor == *executor)
    }

    /// The order with this key.
    pub fn get(&self, key: OrderKey) -> Option<&ToolOrder> {
        self.0.iter().find(|order| order.key == key)
    }
}

impl Section for PendingToolOrders {
    const NAME: &'static str = "tools";

    fn save(world: &mut World) -> Self {
        world.resource::<Self>().clone()
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self);
    }
}

/// Whether the latest tick issued an order that an executor starts in the next one. The file service waits for the log
/// itself. Not saved: orders that are pending when a room is opened are in the log.
#[derive(Resource, Default)]
pub(super) struct IssuedOrders(bool);

/// Whether the next tick must not run yet, because an executor would start an order whose tick is not in the log. If
/// the process were killed then, the room would issue the order again without knowing that it was executed. Never true
/// during a replay.
pub fn must_wait(world: &World) -> bool {
    world.resource::<IssuedOrders>().0
        && !world.resource::<InputJournal>().is_replaying()
        && !world.get_resource::<Store>().is_none_or(Store::has_written_all)
}

/// Adds the orders of this tick, and removes those of work that is over, except file orders, which are always executed.
pub(super) fn take_up(
    mut orders: MessageReader<ToolOrder>,
    mut withdrawn: MessageReader<ToolOrdersWithdrawn>,
    (mut under_way, mut issued): (ResMut<PendingToolOrders>, ResMut<IssuedOrders>),
) {
    let before = under_way.0.len();
    under_way.0.extend(orders.read().cloned());
    issued.0 = under_way.0[before..].iter().any(|order| *order.plan.executor != *FILES);
    for ToolOrdersWithdrawn { activation } in withdrawn.read() {
        under_way.0.retain(|order| order.key.activation != *activation || *order.plan.executor == *FILES);
    }
}

/// Answers orders whose executor no longer exists, and closes answered ones.
pub(super) fn close(
    mut outcomes: ParamSet<(MessageWriter<OrderOutcome>, MessageReader<OrderOutcome>)>,
    mut under_way: ResMut<PendingToolOrders>,
    tools: Res<Tools>,
) {
    let orphaned = under_way.0.iter().filter(|order| !tools.has_executor(&order.plan.executor));
    for order in orphaned {
        let why = format!("the tool {} is no longer available", order.plan.tool);
        outcomes.p0().write(OrderOutcome { key: order.key, news: OrderReport::Aborted { why } });
    }
    for outcome in outcomes.p1().read() {
        if outcome.news.is_final() {
            under_way.0.retain(|order| order.key != outcome.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::log::events::RunEnd;
    use crate::log::{EventDraft, EventLog};
    use crate::schedule::SimClock;
    use crate::store::{RunStart, record_now};
    use crate::tools::commands::COMMANDS;
    use crate::tools::plan::Planned;

    #[test]
    fn the_key_of_an_order_is_permanent() {
        let call = ToolCall::new("c", "vfs_write", json!({ "path": "a.md" }));
        let (older, run) = (ActivationKey::numbered(7), RunTag::of("r-1"));
        let hash = format!("{:016x}", content_hash(b"vfs_write\n{\"path\":\"a.md\"}"));
        let newer = ActivationKey::new(7, run);
        for (given_in, activation, text) in [
            (RunTag::default(), older, format!("act-7/1/0/{hash}")),
            (run, older, format!("act-7/1/0/{hash}/{run}")),
            (run, newer, format!("act-7-{run}/1/0/{hash}")),
            (RunTag::of("r-2"), newer, format!("act-7-{run}/1/0/{hash}/{}", RunTag::of("r-2"))),
        ] {
            let key = OrderKey::new(given_in, (activation, 1, 0), &call);
            assert_eq!((key.to_string(), text.parse()), (text, Ok(key)));
        }
        for odd in ["", "act-7", "act-7/1/0", "act-7/1/0/12", "session/act-7/9", "act-7/1/0/0123456789abcdef/1"] {
            assert!(odd.parse::<OrderKey>().is_err(), "{odd}");
        }
    }
    fn order(executor: &str) -> ToolOrder {
        let call = ToolCall::new("c", "look", json!({}));
        ToolOrder {
            key: OrderKey::new(RunTag::default(), (ActivationKey::numbered(7), 1, 0), &call),
            agent: "ada".into(),
            profile: "ada".into(),
            plan: Planned::order(executor, json!({}), Vec::new(), ("looking", "around")).of("look"),
            rights: FileRights::default(),
            cause: Seq(1),
            worktree: None,
        }
    }

    /// A world after a tick with these orders.
    fn world(orders: impl IntoIterator<Item = ToolOrder>) -> World {
        let mut world = World::new();
        world.insert_resource(EventLog::new("r-1".into(), Seq(1)));
        world.init_resource::<InputJournal>();
        world.init_resource::<SimClock>();
        world.init_resource::<PendingToolOrders>();
        world.init_resource::<IssuedOrders>();
        world.init_resource::<Messages<ToolOrder>>();
        world.init_resource::<Messages<ToolOrdersWithdrawn>>();
        world.resource_mut::<Messages<ToolOrder>>().write_batch(orders);
        world.run_system_cached(take_up).expect("it should run");
        world
    }

    /// A store in which a run has begun.
    fn store(folder: &Path) -> Store {
        let (mut store, _) = Store::open(folder).expect("it should open");
        let (id, scene, first_seq) = ("r-1".into(), "test".into(), Seq(1));
        store
            .start_run(RunStart { id, scene, seed: 1, first_seq, first_tick: 0, start: json!({}) })
            .expect("it can begin");
        store.flush().expect("it should be written");
        store
    }

    #[test]
    fn the_next_tick_waits_until_an_order_is_in_the_log() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mut world = world([order(COMMANDS)]);
        assert!(!must_wait(&world), "there is no log");
        world.insert_resource(store(folder.path()));
        assert!(!must_wait(&world), "everything is in the log");

        let (release, held) = crossbeam_channel::bounded::<()>(0);
        let is_held = world.resource_mut::<Store>().note_hash(0, move || {
            let _released = held.recv();
            0
        });
        assert!(is_held);
        world.resource_mut::<EventLog>().write(EventDraft::of(&RunEnd { why: "a test".to_owned() }));
        record_now(&mut world);
        assert!(must_wait(&world), "the log is not written");
        world.run_system_cached(take_up).expect("it should run");
        assert!(!must_wait(&world), "no order was issued in the tick after that");
        world.resource_mut::<IssuedOrders>().0 = true;
        world.resource_mut::<InputJournal>().replay([]);
        assert!(!must_wait(&world), "a replay executes nothing");
        world.resource_mut::<InputJournal>().end_replay();

        drop(release);
        world.resource_mut::<Store>().flush().expect("it should be written");
        assert!(!must_wait(&world));
    }

    #[test]
    fn the_file_service_waits_for_the_log_itself() {
        assert!(!world([order(FILES)]).resource::<IssuedOrders>().0);
        assert!(world([order(FILES), order(COMMANDS)]).resource::<IssuedOrders>().0);
    }
}
