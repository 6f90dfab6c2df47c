//! Appends new messages in Slack's channels to `inbox/slack-messages.jsonl`, each once. From there they are handled
//! like any stream.

use std::collections::{BTreeMap, VecDeque};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::base::ids::ROOM;
use crate::base::text::truncate;
use crate::base::{Author, Id, Problem, RunTag, Seq};
use crate::gateway::slack::{
    SlackAccess, SlackArrival, SlackCommand, SlackEvent, SlackPoll, SlackSettings, SlackTerms, SlackTrouble, is_newer,
};
use crate::gateway::{ExternalCalls, GatewaySettings, RunningCall, SlackNews};
use crate::log::EventLog;
use crate::schedule::outside::{Outside, OutsideDriver, Received, Reporter, Start, WorldOf};
use crate::schedule::{SimClock, TICKS_PER_SEC};
use crate::tools::SLACK_INBOX;
use crate::workspace::layout::SETTINGS_FILE;
use crate::workspace::vfs::{FileOperation, FileOrder, FileOutcome, FileRights, PendingFileOrders};
use crate::workspace::{KnownFiles, ProblemReport};

/// The beginning of the keys of its file orders.
const ORDERS: &str = "slack-in/";
/// The source name of the reported problems.
const SOURCE: &str = "Slack";
/// The maximum number of batches that wait for the file before polling is paused.
const MAX_BATCHES: usize = 8;
/// The delay in seconds before a failed write is retried.
const RETRY_SECS: u64 = 10;
/// The maximum size of a line in bytes, below the size at which streams skip lines.
const MAX_LINE_BYTES: usize = 60 * 1024;

/// The state of Slack's channels. Part of the saved world. Written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SlackChannels {
    /// The timestamp of the newest received message, by channel.
    seen: BTreeMap<String, String>,
    /// The batches that are not in the file yet, oldest first.
    bringing: VecDeque<Batch>,
    number: u64,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Batch {
    key: Id,
    text: String,
    tries: u32,
    not_before: u64,
    #[serde(skip)]
    is_sent: bool,
}

impl Batch {
    fn name(&self) -> Id {
        format!("{}/{}", self.key, self.tries).into()
    }
}

impl SlackChannels {
    /// Whether a batch will be written without any other event. `now` is the current tick.
    pub fn has_pending_batch(&self, now: u64) -> bool {
        self.bringing.front().is_some_and(|batch| now >= batch.not_before)
    }

    /// Queues the new messages of a poll for the end of the file.
    fn take(&mut self, look: &SlackPoll, run: &Id, file: &str) {
        let mut text = String::new();
        for arrival in &look.arrived {
            let is_new = self.seen.get(&arrival.channel).is_none_or(|seen| is_newer(&arrival.ts, seen));
            if is_new {
                text.push_str(&line_of(arrival));
            }
        }
        for (channel, ts) in &look.seen {
            if self.seen.get(channel).is_none_or(|seen| is_newer(ts, seen)) {
                self.seen.insert(channel.clone(), ts.clone());
            }
        }
        if text.is_empty() {
            return;
        }
        // If the last line of the file is incomplete, new lines must not be joined to it.
        if !file.is_empty() && !file.ends_with('\n') && self.bringing.is_empty() {
            text.insert(0, '\n');
        }
        self.number += 1;
        let key = format!("{ORDERS}{}/{}", RunTag::of(run), self.number).into();
        self.bringing.push_back(Batch { key, text, tries: 0, not_before: 0, is_sent: false });
    }
}

/// Formats a message as a line of the stream.
fn line_of(arrival: &SlackArrival) -> String {
    let SlackArrival { channel, from, text, ts, thread } = arrival;
    let mut chars = 16_000;
    loop {
        let mut line = json!({ "from": from, "channel": channel, "text": truncate(text, chars), "ts": ts });
        if let Some(thread) = thread {
            line["thread_ts"] = thread.as_str().into();
        }
        let line = format!("{line}\n");
        if line.len() <= MAX_LINE_BYTES || chars < 100 {
            return line;
        }
        chars /= 2;
    }
}

/// Receives the results of polls, and appends them to the file, one batch after another.
pub(in crate::desk) fn append_new_messages(
    mut all: ResMut<SlackChannels>,
    (known, log, clock, under_way): (Res<KnownFiles>, Res<EventLog>, Res<SimClock>, Res<PendingFileOrders>),
    (mut news, mut outcomes): (MessageReader<SlackNews>, MessageReader<FileOutcome>),
    (mut files, mut reports): (MessageWriter<FileOrder>, MessageWriter<ProblemReport>),
) {
    let all = all.bypass_change_detection();
    for news in news.read() {
        let SlackNews::Looked { look } = news else { continue };
        all.take(look, log.run(), known.text(SLACK_INBOX).unwrap_or_default());
        let problems =
            look.troubles.iter().map(|trouble| Problem::warning(SETTINGS_FILE, &*trouble.what, &*trouble.remedy));
        reports.write(ProblemReport { source: SOURCE.to_owned(), problems: problems.collect() });
    }
    for outcome in outcomes.read() {
        let Some(batch) = all.bringing.front_mut().filter(|batch| batch.name() == outcome.key) else { continue };
        let mut problems = Vec::new();
        match &outcome.result {
            Ok(_) => drop(all.bringing.pop_front()),
            Err(failure) => {
                batch.tries += 1;
                batch.not_before = clock.tick() + RETRY_SECS * TICKS_PER_SEC;
                batch.is_sent = false;
                let what = format!("messages from Slack are waiting, because they cannot be written: {}", failure.what);
                problems.push(Problem::warning(SLACK_INBOX, what, "free up space; this is retried"));
            }
        }
        reports.write(ProblemReport { source: SLACK_INBOX.to_owned(), problems });
    }
    let now = clock.tick();
    let Some(batch) = all.bringing.front_mut().filter(|batch| !batch.is_sent && now >= batch.not_before) else {
        return;
    };
    batch.is_sent = true;
    let key = batch.name();
    if under_way.iter().any(|order| order.key == key) {
        return;
    }
    files.write(FileOrder {
        key,
        author: Author(ROOM.into()),
        activation: None,
        operation: FileOperation::Append { path: SLACK_INBOX.to_owned(), text: batch.text.clone() },
        rights: FileRights::default(),
        cause: Seq(0),
        worktree: None,
    });
}

/// Reads the channels again as soon as the previous reading has been processed; the gateway keeps the interval of the
/// settings.
#[derive(Default)]
pub(in crate::desk) struct SlackPolls {
    /// The number of the running reading, or of the next one.
    number: u64,
    running: Option<RunningCall>,
    /// Whether the first reading since the room was opened has ended.
    has_looked: bool,
    /// The last reported problems.
    reported: Vec<SlackTrouble>,
}

/// Whether the first reading of Slack's channels since the room was opened is still to come. A run without a window does
/// not end before that.
pub fn awaits_first_poll(world: &World) -> bool {
    let reads = world.resource::<SlackAccess>().reads && !world.resource::<SlackSettings>().read_channels().is_empty();
    reads && world.get_resource::<OutsideDriver<SlackPolls>>().is_some_and(|polls| !polls.outside().has_looked)
}

impl Outside for SlackPolls {
    const NAME: &'static str = "Slack channels";
    const MAX_RUNNING: usize = 1;

    type Key = u64;
    /// The timestamp of the newest known message, by channel.
    type Order = BTreeMap<String, String>;
    type Report = Box<SlackPoll>;
    type Answer = SlackNews;
    type World = (
        Res<'static, SlackChannels>,
        Res<'static, SlackAccess>,
        Res<'static, GatewaySettings>,
        Res<'static, SlackSettings>,
        ExternalCalls<'static>,
    );

    fn wanted(&mut self, (all, access, _, settings, _): &mut WorldOf<'_, '_, Self>) -> Vec<u64> {
        let has_channels = access.reads && !settings.read_channels().is_empty();
        let has_room = self.running.is_some() || all.bringing.len() < MAX_BATCHES;
        if has_channels && has_room { vec![self.number] } else { Vec::new() }
    }

    fn order(&self, _: &u64, (all, _, _, settings, _): &WorldOf<'_, '_, Self>) -> Result<Self::Order, SlackNews> {
        let seen = |channel: &str| all.seen.get(channel).cloned().unwrap_or_default();
        Ok(settings.read_channels().into_iter().map(|channel| (channel.to_owned(), seen(channel))).collect())
    }

    fn interrupted(&mut self, _: &u64, _: &Self::Order) -> Option<SlackNews> {
        // Reading changes nothing.
        None
    }

    fn start(
        &mut self,
        _: &u64,
        channels: Self::Order,
        (_, _, gateway, settings, calls): &mut WorldOf<'_, '_, Self>,
        reporter: Reporter<Self>,
    ) -> Start<SlackNews> {
        let terms = Box::new(SlackTerms::of(gateway, settings));
        let done = move |event| {
            if let SlackEvent::Looked(look) = event {
                reporter.report(look);
            }
        };
        match calls.ask_slack(SlackCommand::Look { channels, terms }, done) {
            Ok(call) => {
                self.running = Some(call);
                Start::Started
            }
            Err(what) => {
                tracing::warn!("Slack is not read: {what}");
                self.has_looked = true;
                Start::NotYet
            }
        }
    }

    fn cancel(&mut self, _: &u64, _: &mut WorldOf<'_, '_, Self>) {
        self.end();
    }

    fn receive(&mut self, _: &u64, look: Box<SlackPoll>, _: &mut WorldOf<'_, '_, Self>) -> Received<SlackNews> {
        self.end();
        let is_new = !look.arrived.is_empty() || !look.seen.is_empty() || look.troubles != self.reported;
        self.reported.clone_from(&look.troubles);
        if is_new { Received::Answer(SlackNews::Looked { look }) } else { Received::Ended }
    }

    fn lost(&self, _: &u64, why: &str) -> SlackNews {
        let trouble = SlackTrouble { what: format!("Slack was not read: {why}"), remedy: "it is retried".to_owned() };
        SlackNews::Looked { look: Box::new(SlackPoll { troubles: vec![trouble], ..SlackPoll::default() }) }
    }

    fn is_final(_: &SlackNews) -> bool {
        true
    }

    fn addressed_to(_: &u64, answer: SlackNews) -> SlackNews {
        answer
    }

    fn is_awaited(&self, _: &u64) -> bool {
        !self.has_looked
    }
}

impl SlackPolls {
    fn end(&mut self) {
        self.running = None;
        self.has_looked = true;
        self.number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::stream_reader;
    use super::*;

    fn arrival(ts: &str, text: &str) -> SlackArrival {
        SlackArrival {
            channel: "#ops".to_owned(),
            from: "Sarah".to_owned(),
            text: text.to_owned(),
            ts: ts.to_owned(),
            thread: None,
        }
    }

    fn look(arrived: &[(&str, &str)]) -> SlackPoll {
        let newest = arrived.last().map(|(ts, _)| ("#ops".to_owned(), (*ts).to_owned()));
        SlackPoll {
            arrived: arrived.iter().map(|(ts, text)| arrival(ts, text)).collect(),
            seen: newest.into_iter().collect(),
            troubles: Vec::new(),
        }
    }

    #[test]
    fn each_message_is_appended_once_however_often_it_is_polled() {
        let mut channels = SlackChannels::default();
        let run: Id = "r-1".into();
        channels.take(&look(&[("1.5", "one"), ("2.5", "two")]), &run, "");
        channels.take(&look(&[("2.5", "two"), ("10.5", "three")]), &run, "");
        channels.take(&look(&[("1.5", "one")]), &run, "");
        let lines: Vec<String> =
            channels.bringing.iter().flat_map(|batch| batch.text.lines()).map(str::to_owned).collect();
        let said: Vec<String> =
            lines.iter().map(|line| stream_reader::read(line).expect("it is a message").text).collect();
        assert_eq!(said, ["one", "two", "three"]);
        assert_eq!(channels.seen["#ops"], "10.5");
        let names: std::collections::BTreeSet<Id> = channels.bringing.iter().map(Batch::name).collect();
        assert_eq!(names.len(), 2, "each batch has a name of its own");
    }

    #[test]
    fn messages_start_on_a_new_line_and_never_exceed_the_line_limit() {
        let mut channels = SlackChannels::default();
        channels.take(&look(&[("1.5", "one")]), &"r-1".into(), "{\"text\":\"half");
        assert!(channels.bringing[0].text.starts_with('\n'));
        for text in ["\u{1}".repeat(20_000), "ü".repeat(40_000), "\u{1f600}".repeat(20_000)] {
            let line = line_of(&arrival("1.5", &text));
            assert!(stream_reader::read(line.trim()).is_ok(), "{} bytes", line.len());
        }
    }
}
