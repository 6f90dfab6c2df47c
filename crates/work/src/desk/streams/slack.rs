//! What agents read of Slack's messages and send there: over files, which whoever is joined to Slack reads and writes.

use std::collections::BTreeSet;

use bevy::ecs::prelude::*;
use serde_json::json;

use super::reading::{self, Arrived};
use crate::base::Author;
use crate::base::ids::ROOM;
use crate::base::text::truncate;
use crate::tools::{
    DESK, DeskOrder, OrderKey, OrdersUnderWay, SLACK_INBOX, SLACK_OUTBOX, ToolNews, ToolOrder, ToolOutcome, ToolOutput,
};
use crate::workspace::KnownFiles;
use crate::workspace::vfs::{FileOperation, FileOrder, FileOutcome, FileRights};

/// What the names of its orders to files begin with.
const ORDERS: &str = "slack/";
/// What is read takes at most so many characters.
const RESULT_CHARS_AT_MOST: usize = 16_000;

/// The newest messages that came in, the newest last.
pub(in crate::desk) fn read(
    known: &KnownFiles,
    rights: &FileRights,
    channel: Option<&str>,
    from: Option<&str>,
    count: usize,
) -> Result<String, String> {
    if !rights.may_read(SLACK_INBOX) {
        return Err(format!("{SLACK_INBOX} is outside what you may read"));
    }
    let Some(text) = known.text(SLACK_INBOX) else { return Ok("Nothing came in from Slack.".to_owned()) };
    let bare = |name: &str| name.trim_start_matches(['#', '@']).to_lowercase();
    let is = |wanted: Option<&str>, said: Option<&str>| {
        wanted.is_none_or(|wanted| said.is_some_and(|said| bare(said) == bare(wanted)))
    };
    let is_meant = |one: &Arrived| is(channel, one.channel.as_deref()) && is(from, Some(&one.from));
    let all: Vec<Arrived> = text.lines().filter_map(|line| reading::read(line.trim()).ok()).filter(is_meant).collect();
    let told: Vec<String> = all.iter().skip(all.len().saturating_sub(count)).map(told).collect();
    if told.is_empty() {
        return Ok("No message is like that.".to_owned());
    }
    let text = told.join("\n");
    // Of many the newest are shown.
    let surplus = text.chars().count().saturating_sub(RESULT_CHARS_AT_MOST);
    let cut: String = text.chars().skip(surplus).collect();
    Ok(if surplus > 0 { format!("… {cut}") } else { cut })
}

fn told(one: &Arrived) -> String {
    let time = one.time.as_ref().map(|time| format!("[{time}] ")).unwrap_or_default();
    let channel = one.channel.as_ref().map(|channel| format!(" in {channel}")).unwrap_or_default();
    format!("{time}{}{channel}: {}", one.from, one.text)
}

/// Writes what is to be sent, each message once: an order to the files has the name of its call, and no name is carried
/// out twice.
pub(in crate::desk) fn carry_on(
    orders: Res<OrdersUnderWay>,
    mut outcomes: MessageReader<FileOutcome>,
    mut files: MessageWriter<FileOrder>,
    mut answers: MessageWriter<ToolOutcome>,
    mut sent: Local<BTreeSet<OrderKey>>,
) {
    for outcome in outcomes.read() {
        let Some(key) = outcome.key.strip_prefix(ORDERS).and_then(|key| key.parse::<OrderKey>().ok()) else { continue };
        sent.remove(&key);
        let news = match &outcome.result {
            Ok(_) => {
                let text = format!("Sent: it stands in {SLACK_OUTBOX}.");
                ToolNews::Done {
                    output: ToolOutput { text, changed: vec![SLACK_OUTBOX.to_owned()], ..ToolOutput::default() },
                }
            }
            Err(failure) => ToolNews::Failed { why: format!("it was not sent: {}", failure.what) },
        };
        answers.write(ToolOutcome { key, news });
    }
    sent.retain(|key| orders.get(*key).is_some());
    for order in orders.of(DESK) {
        let Ok(DeskOrder::SlackSend { channel, text, thread }) = DeskOrder::of(order) else { continue };
        if sent.insert(order.key) {
            let line = line_of(order, &channel, &text, thread.as_deref());
            files.write(FileOrder {
                key: format!("{ORDERS}{}", order.key).into(),
                author: Author(ROOM.into()),
                activation: Some(order.key.activation.id()),
                operation: FileOperation::Append { path: SLACK_OUTBOX.to_owned(), text: line },
                rights: FileRights::default(),
                cause: order.cause,
                worktree: None,
            });
        }
    }
}

/// A message as a line of the outbox. It says nothing that could be otherwise when it is ordered once more.
fn line_of(order: &ToolOrder, channel: &str, text: &str, thread: Option<&str>) -> String {
    let mut line =
        json!({ "id": order.key.to_string(), "channel": truncate(channel, 200), "text": text, "from": order.agent });
    if let Some(thread) = thread {
        line["thread_ts"] = thread.into();
    }
    format!("{line}\n")
}
