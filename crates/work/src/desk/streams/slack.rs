//! The Slack messages that agents read.

use super::stream_reader::{self, IncomingMessage};
use crate::tools::SLACK_INBOX;
use crate::workspace::KnownFiles;
use crate::workspace::vfs::FileRights;

/// The maximum length of a result in characters.
const MAX_RESULT_CHARS: usize = 16_000;

/// The newest incoming messages, in the order of their arrival.
pub(in crate::desk) fn read(
    known: &KnownFiles,
    rights: &FileRights,
    channel: Option<&str>,
    from: Option<&str>,
    count: usize,
) -> Result<String, String> {
    if !rights.may_read(SLACK_INBOX) {
        return Err(format!("you may not read {SLACK_INBOX}"));
    }
    let Some(text) = known.text(SLACK_INBOX) else { return Ok("There are no messages from Slack.".to_owned()) };
    let bare = |name: &str| name.trim_start_matches(['#', '@']).to_lowercase();
    let is = |wanted: Option<&str>, said: Option<&str>| {
        wanted.is_none_or(|wanted| said.is_some_and(|said| bare(said) == bare(wanted)))
    };
    let is_meant = |one: &IncomingMessage| is(channel, one.channel.as_deref()) && is(from, Some(&one.from));
    let all: Vec<IncomingMessage> =
        text.lines().filter_map(|line| stream_reader::read(line.trim()).ok()).filter(is_meant).collect();
    let told: Vec<String> = all.iter().skip(all.len().saturating_sub(count)).map(message_line).collect();
    if told.is_empty() {
        return Ok("No messages match.".to_owned());
    }
    let text = told.join("\n");
    // If the text is too long, the newest messages are shown.
    let surplus = text.chars().count().saturating_sub(MAX_RESULT_CHARS);
    let cut: String = text.chars().skip(surplus).collect();
    Ok(if surplus > 0 { format!("… {cut}") } else { cut })
}

fn message_line(one: &IncomingMessage) -> String {
    let time = one.time.as_ref().map(|time| format!("[{time}] ")).unwrap_or_default();
    let channel = one.channel.as_ref().map(|channel| format!(" in {channel}")).unwrap_or_default();
    format!("{time}{}{channel}: {}", one.from, one.text)
}
