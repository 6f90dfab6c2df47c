//! Sends messages to Slack, each once: as a line of a file, or through the gateway if the person set up a key. Each
//! message that was sent, or may have been, is recorded in the outbox.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::ids::ROOM;
use crate::base::text::truncate;
use crate::base::{Author, Id, Seq};
use crate::gateway::slack::{
    SlackAccess, SlackCommand, SlackEvent, SlackMessage, SlackPost, SlackSends, SlackSettings, SlackTerms,
};
use crate::gateway::{ExternalCalls, GatewaySettings, RunningCall, SlackNews};
use crate::schedule::outside::{IssuedOrders, Outside, Received, Reporter, Start, WorldOf};
use crate::tools::{
    DESK, DeskOrder, OrderKey, OrderOutcome, OrderReport, PendingToolOrders, SLACK_OUTBOX, ToolOrder, ToolOutput,
};
use crate::workspace::vfs::{FileOperation, FileOrder, FileOutcome, FileRights, OwnedOrders, PendingFileOrders};

/// The beginning of the keys of its file orders.
const ORDERS: &str = "slack/";

/// Outgoing messages. Part of the saved world. Written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SlackSending {
    /// Messages that were passed to the gateway, by the order of their call.
    sending: BTreeMap<OrderKey, Sent>,
    /// Messages with known results that are not in the outbox yet.
    posted: BTreeMap<OrderKey, (Sent, SlackPost)>,
    /// Messages whose outbox lines are being written.
    #[serde(skip_serializing_if = "OwnedOrders::is_empty")]
    writing: OwnedOrders<OrderKey>,
}

/// An outgoing message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Sent {
    agent: Id,
    channel: String,
    text: String,
    thread: Option<String>,
    cause: Seq,
}

impl Sent {
    fn of(order: &ToolOrder) -> Option<Self> {
        let Ok(DeskOrder::SlackSend { channel, text, thread }) = DeskOrder::of(order) else { return None };
        Some(Self { agent: order.agent.clone(), channel, text, thread, cause: order.cause })
    }

    /// Formats the message as a line of the outbox. The line contains nothing that could differ if it is written
    /// again.
    fn line(&self, key: OrderKey, post: Option<&SlackPost>) -> String {
        let mut line = json!({
            "id": key.to_string(), "channel": truncate(&self.channel, 200), "text": self.text, "from": self.agent,
        });
        if let Some(thread) = &self.thread {
            line["thread_ts"] = thread.as_str().into();
        }
        match post {
            // The process that is connected to Slack sends it.
            None | Some(SlackPost::NotSent { .. }) => {}
            Some(SlackPost::Sent { ts, .. }) => {
                line["state"] = "sent".into();
                line["ts"] = ts.as_deref().map_or(Value::Null, Value::from);
            }
            Some(SlackPost::Unknown { .. }) => line["state"] = "unknown".into(),
        }
        format!("{line}\n")
    }
}

impl SlackSending {
    fn knows(&self, key: OrderKey) -> bool {
        self.sending.contains_key(&key) || self.posted.contains_key(&key) || self.is_being_written(key)
    }

    fn is_being_written(&self, key: OrderKey) -> bool {
        self.writing.owners().any(|owner| *owner == key)
    }

    /// Finds the messages whose lines were being written in a room that was saved without them.
    pub(in crate::desk) fn adopt(&mut self, under_way: &PendingFileOrders) {
        self.writing.adopt(under_way, |key| key.strip_prefix(ORDERS)?.parse().ok());
    }

    /// Orders the line of a message in the outbox.
    fn write_line(&mut self, key: OrderKey, sent: &Sent, post: Option<&SlackPost>) -> FileOrder {
        let order = FileOrder {
            key: format!("{ORDERS}{key}").into(),
            author: Author(ROOM.into()),
            activation: Some(key.activation.id()),
            operation: FileOperation::Append { path: SLACK_OUTBOX.to_owned(), text: sent.line(key, post) },
            rights: FileRights::default(),
            cause: sent.cause,
            worktree: None,
        };
        self.writing.add(&order, key);
        order
    }
}

/// Accepts messages to send, records their results in the outbox, and answers their calls. File orders have the key of
/// the call, and no key is executed twice.
pub(in crate::desk) fn advance_posts(
    mut all: ResMut<SlackSending>,
    (orders, access): (Res<PendingToolOrders>, Res<SlackAccess>),
    (mut news, mut outcomes): (MessageReader<SlackNews>, MessageReader<FileOutcome>),
    (mut files, mut answers): (MessageWriter<FileOrder>, MessageWriter<OrderOutcome>),
    mut issued: ResMut<IssuedOrders>,
) {
    let all = all.bypass_change_detection();
    // The orders of these calls are closed later in this tick.
    let mut answered: BTreeSet<OrderKey> = BTreeSet::new();
    let mut answer = |key: OrderKey, news: OrderReport| {
        answered.insert(key);
        answers.write(OrderOutcome { key, news });
    };
    for news in news.read() {
        let SlackNews::Posted { id, post } = news else { continue };
        let Ok(key) = id.parse::<OrderKey>() else { continue };
        let sent = all.sending.remove(&key).or_else(|| orders.get(key).and_then(Sent::of));
        let Some(sent) = sent.filter(|_| !all.posted.contains_key(&key)) else { continue };
        match post {
            SlackPost::NotSent { .. } => answer(key, post_result(post, Ok(()))),
            _ => drop(all.posted.insert(key, (sent, post.clone()))),
        }
    }
    for outcome in outcomes.read() {
        let Some(key) = all.writing.take(outcome) else { continue };
        let written = outcome.result.as_ref().map(drop).map_err(|failure| failure.what.as_str());
        let news = match (all.posted.remove(&key), written) {
            (Some((_, post)), written) => post_result(&post, written),
            (None, Ok(())) => done(format!("Saved in {SLACK_OUTBOX}, to be sent from there.")),
            (None, Err(why)) => OrderReport::Failed { why: format!("it was not sent: {why}") },
        };
        answer(key, news);
    }
    let posted = &all.posted;
    all.writing.retain(|key| posted.contains_key(key) || orders.get(*key).is_some());
    let is_new = |order: &&ToolOrder| !answered.contains(&order.key) && !all.knows(order.key);
    for order in orders.of(DESK).filter(is_new).collect::<Vec<_>>() {
        let Some(sent) = Sent::of(order) else { continue };
        if access.sends == SlackSends::Files {
            files.write(all.write_line(order.key, &sent, None));
        } else {
            all.sending.insert(order.key, sent);
            // It is sent in the next tick, which must know after a kill that it may have been.
            issued.note();
        }
    }
    let unwritten: Vec<OrderKey> = all.posted.keys().copied().filter(|key| !all.is_being_written(*key)).collect();
    for key in unwritten {
        let Some((sent, post)) = all.posted.get(&key).cloned() else { continue };
        files.write(all.write_line(key, &sent, Some(&post)));
    }
}

fn done(text: String) -> OrderReport {
    let changed = vec![SLACK_OUTBOX.to_owned()];
    OrderReport::Done { output: ToolOutput { text, changed, ..ToolOutput::default() } }
}

/// The result of a sent message for the agent. `written` is whether it was recorded in the outbox.
fn post_result(post: &SlackPost, written: Result<(), &str>) -> OrderReport {
    match post {
        SlackPost::Sent { ts, .. } => {
            let at = ts.as_ref().map(|ts| format!(", as {ts}")).unwrap_or_default();
            match written {
                Ok(()) => done(format!("Sent to Slack{at}; it is recorded in {SLACK_OUTBOX}.")),
                Err(why) => {
                    let text = format!("Sent to Slack{at}; it could not be recorded in {SLACK_OUTBOX}: {why}");
                    OrderReport::ended(Ok(text))
                }
            }
        }
        SlackPost::NotSent { what, remedy } => {
            OrderReport::Failed { why: format!("it was not sent: {what}; {remedy}") }
        }
        SlackPost::Unknown { what } => OrderReport::Aborted {
            why: format!("{what}; whether it was sent is unknown, and it is not sent again without asking"),
        },
    }
}

/// Passes outgoing messages to Slack. If an earlier process ended while it was sending messages, their results are
/// unknown, and they are not sent again unasked.
#[derive(Default)]
pub(in crate::desk) struct SlackPosts {
    running: BTreeMap<OrderKey, RunningCall>,
    /// Whether an earlier process may have sent what is pending.
    may_have_sent: bool,
}

fn posted(key: OrderKey, post: SlackPost) -> SlackNews {
    SlackNews::Posted { id: key.id(), post }
}

fn not_sent(what: String) -> SlackPost {
    SlackPost::NotSent { what, remedy: "free some memory or threads and try again".to_owned() }
}

impl Outside for SlackPosts {
    const NAME: &'static str = "Slack messages";
    const MAX_RUNNING: usize = usize::MAX;

    type Key = OrderKey;
    type Order = SlackMessage;
    type Report = SlackPost;
    type Answer = SlackNews;
    type World = (
        Res<'static, SlackSending>,
        Res<'static, SlackAccess>,
        Res<'static, GatewaySettings>,
        Res<'static, SlackSettings>,
        ExternalCalls<'static>,
    );

    fn wanted(&mut self, (all, access, ..): &mut WorldOf<'_, '_, Self>) -> Vec<OrderKey> {
        self.may_have_sent = access.may_have_sent();
        all.sending.keys().copied().collect()
    }

    fn order(&self, key: &OrderKey, (all, ..): &WorldOf<'_, '_, Self>) -> Result<SlackMessage, SlackNews> {
        let sent = all.sending.get(key).ok_or_else(|| self.lost(key, "the message is gone"))?;
        Ok(SlackMessage { channel: sent.channel.clone(), text: sent.text.clone(), thread: sent.thread.clone() })
    }

    fn interrupted(&mut self, key: &OrderKey, _: &SlackMessage) -> Option<SlackNews> {
        self.may_have_sent.then(|| self.lost(key, "the workshop was stopped while the message was being sent"))
    }

    fn start(
        &mut self,
        key: &OrderKey,
        message: SlackMessage,
        (_, _, gateway, settings, calls): &mut WorldOf<'_, '_, Self>,
        reporter: Reporter<Self>,
    ) -> Start<SlackNews> {
        let terms = Box::new(SlackTerms::of(gateway, settings));
        let command = SlackCommand::Send { id: key.id(), message, terms };
        let done = move |event| {
            if let SlackEvent::Posted { post, .. } = event {
                reporter.report(post);
            }
        };
        match calls.ask_slack(command, done) {
            Ok(call) => {
                self.running.insert(*key, call);
                Start::Started
            }
            Err(what) => Start::Ended(posted(*key, not_sent(what))),
        }
    }

    fn cancel(&mut self, key: &OrderKey, _: &mut WorldOf<'_, '_, Self>) {
        self.running.remove(key);
    }

    fn receive(&mut self, key: &OrderKey, post: SlackPost, _: &mut WorldOf<'_, '_, Self>) -> Received<SlackNews> {
        self.running.remove(key);
        Received::Answer(posted(*key, post))
    }

    fn lost(&self, key: &OrderKey, why: &str) -> SlackNews {
        posted(*key, SlackPost::Unknown { what: why.to_owned() })
    }

    fn is_final(_: &SlackNews) -> bool {
        true
    }

    fn addressed_to(key: &OrderKey, answer: SlackNews) -> SlackNews {
        match answer {
            SlackNews::Posted { post, .. } => posted(*key, post),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy::ecs::message::Messages;
    use bevy::ecs::system::RunSystemOnce;

    use super::*;
    use crate::base::{ActivationKey, RunTag};
    use crate::mind::ToolCall;
    use crate::tools::Planned;

    /// Whether a tick that accepts a message lets the next one wait for the log, while messages are sent this way.
    fn waits_for_log(sends: SlackSends) -> bool {
        let content = DeskOrder::SlackSend { channel: "#ops".into(), text: "Hi".into(), thread: None };
        let content = serde_json::to_value(content).expect("it is plain data");
        let order = ToolOrder {
            key: OrderKey::new(
                RunTag::default(),
                (ActivationKey::numbered(1), 1, 0),
                &ToolCall::new("c", "s", json!({})),
            ),
            agent: "ada".into(),
            profile: "ada".into(),
            plan: Planned::order(DESK, content, Vec::new(), ("sending", "something")).of("slack_send"),
            rights: FileRights::default(),
            cause: Seq(1),
            worktree: None,
        };
        let orders: PendingToolOrders = serde_json::from_value(json!([order])).expect("it is a list of orders");
        let mut world = World::new();
        world.insert_resource(orders);
        world.insert_resource(SlackAccess { sends, ..SlackAccess::default() });
        world.init_resource::<SlackSending>();
        world.init_resource::<IssuedOrders>();
        world.init_resource::<Messages<SlackNews>>();
        world.init_resource::<Messages<FileOutcome>>();
        world.init_resource::<Messages<FileOrder>>();
        world.init_resource::<Messages<OrderOutcome>>();
        world.run_system_once(advance_posts).expect("its resources are there");
        assert_eq!(world.resource::<SlackSending>().sending.len(), usize::from(sends != SlackSends::Files));
        world.resource::<IssuedOrders>().any()
    }

    #[test]
    fn a_message_is_sent_once_its_tick_is_in_the_log() {
        assert!(waits_for_log(SlackSends::WebApi));
        assert!(waits_for_log(SlackSends::Webhook));
        assert!(!waits_for_log(SlackSends::Files), "the file service waits for the log itself");
    }
}
