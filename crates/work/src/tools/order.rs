//! Orders to the executors of tool calls, and their outcomes.
//!
//! A call allowed by the gate becomes one [`ToolOrder`]. An executor answers it with [`OrderOutcome`]s of the same key,
//! now or any number of ticks later: any number of progress reports, and one result at the end. External results enter
//! as inputs.
//!
//! The pending orders are [`PendingToolOrders`], which are saved: the same orders are pending under the same keys after a
//! restart. An executor within the room answers its orders itself; one outside of it is a
//! [`ToolExecutor`](super::executor::ToolExecutor), which the driver of all outsides starts and cancels.

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
use crate::schedule::outside::IssuedOrders;
use crate::schedule::{Input, Section};
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

/// Adds the orders of this tick, and removes those of work that is over, except file orders, which are always executed.
pub(super) fn take_up(
    mut orders: MessageReader<ToolOrder>,
    mut withdrawn: MessageReader<ToolOrdersWithdrawn>,
    (mut under_way, mut issued): (ResMut<PendingToolOrders>, ResMut<IssuedOrders>),
) {
    let before = under_way.0.len();
    under_way.0.extend(orders.read().cloned());
    // The file service waits for the log itself.
    if under_way.0[before..].iter().any(|order| *order.plan.executor != *FILES) {
        issued.note();
    }
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
    use serde_json::json;

    use super::*;
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
        world.init_resource::<PendingToolOrders>();
        world.init_resource::<IssuedOrders>();
        world.init_resource::<Messages<ToolOrder>>();
        world.init_resource::<Messages<ToolOrdersWithdrawn>>();
        world.resource_mut::<Messages<ToolOrder>>().write_batch(orders);
        world.run_system_cached(take_up).expect("it should run");
        world
    }

    #[test]
    fn the_file_service_waits_for_the_log_itself() {
        assert!(!world([order(FILES)]).resource::<IssuedOrders>().any());
        assert!(world([order(FILES), order(COMMANDS)]).resource::<IssuedOrders>().any());
    }
}
