//! Reads new messages in channels: every message after the newest known one, oldest first, each once.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::api_client::{Api, Fault, trouble_of};
use super::messages::{SlackArrival, SlackPoll, SlackTrouble};
use super::names::{Names, next_page};
use super::wire::{PolledMessage, moment, plain};

/// The number of messages that are requested at once.
const MESSAGES_IN_A_PAGE: &str = "200";
/// The maximum number of pages of a channel that are read in one poll.
const MAX_PAGES: usize = 10;

/// Reads the new messages of these channels, each after the newest known message.
pub(super) async fn look(api: &Api, names: &Names, place: &str, channels: &BTreeMap<String, String>) -> SlackPoll {
    let mut look = SlackPoll::default();
    let own = match names.own(api).await {
        Ok(own) => own,
        Err(fault) => {
            look.troubles.push(trouble_of(&fault, place, ""));
            return look;
        }
    };
    for (channel, known) in channels {
        match look_into(api, names, channel, known, &own, &mut look).await {
            Ok(()) => {}
            Err(fault) => {
                look.troubles.push(trouble_of(&fault, place, channel));
                // A connection error affects the other channels as well.
                if matches!(fault, Fault::Http(_)) {
                    break;
                }
            }
        }
    }
    look
}

async fn look_into(
    api: &Api,
    names: &Names,
    channel: &str,
    known: &str,
    own: &(String, String),
    look: &mut SlackPoll,
) -> Result<(), Fault> {
    let id = names.channel(api, channel).await?;
    let oldest = if known.is_empty() { begin(api.terms.settings.first_look_back()) } else { known.to_owned() };
    let after = moment(&oldest).unwrap_or_default();
    let mut found: BTreeMap<(u64, u64), PolledMessage> = BTreeMap::new();
    let mut newest = moment(known).map(|at| (at, known.to_owned()));
    let (mut page, mut goes_back, mut is_whole) = (String::new(), false, false);
    for _ in 0..MAX_PAGES {
        let mut values = vec![
            ("channel", id.as_str()),
            ("oldest", oldest.as_str()),
            ("limit", MESSAGES_IN_A_PAGE),
            ("include_all_metadata", "true"),
        ];
        values.extend((!page.is_empty()).then_some(("cursor", page.as_str())));
        let answer = api.ask("conversations.history", &values).await?;
        for message in answer.get("messages").and_then(Value::as_array).into_iter().flatten() {
            let ts = message.get("ts").and_then(Value::as_str).unwrap_or_default();
            let Some(at) = moment(ts).filter(|at| *at > after) else { continue };
            goes_back |= newest.as_ref().is_some_and(|(newest, _)| at < *newest && !page.is_empty());
            if newest.as_ref().is_none_or(|(newest, _)| at > *newest) {
                newest = Some((at, ts.to_owned()));
            }
            found.extend(PolledMessage::read(message).map(|said| (at, said)));
        }
        match next_page(&answer) {
            Some(next) if next != page => page = next,
            _ => {
                is_whole = true;
                break;
            }
        }
    }
    if !is_whole && goes_back {
        // If the pages are in ascending order, the next poll continues with the rest; if they are in descending order,
        // the remaining pages, which are older, are skipped.
        look.troubles.push(SlackTrouble {
            what: format!("{channel} has more messages than are read at once; the oldest were skipped"),
            remedy: "check the channel for the skipped messages".to_owned(),
        });
    }
    for said in found.into_values() {
        let is_own = said.own.is_some()
            || said.user.as_ref().is_some_and(|user| *user == own.0)
            || said.bot.as_ref().is_some_and(|bot| !own.1.is_empty() && *bot == own.1);
        if is_own {
            continue;
        }
        let from = match (&said.user, &said.bot) {
            (Some(user), _) => names.name_of(api, user).await,
            (None, Some(bot)) => bot.clone(),
            (None, None) => "somebody".to_owned(),
        };
        let text = plain(&said.text, |id| names.known_name(id));
        if text.trim().is_empty() {
            continue;
        }
        look.arrived.push(SlackArrival { channel: channel.to_owned(), from, text, ts: said.ts, thread: said.thread });
    }
    look.seen.extend(newest.map(|(_, ts)| (channel.to_owned(), ts)));
    Ok(())
}

/// Returns the timestamp from which messages are read if none is known.
fn begin(back: Duration) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let from = now.saturating_sub(back);
    format!("{}.{:06}", from.as_secs(), from.subsec_micros())
}
