//! Slack's formats: responses of the Web API and of webhooks, times, and its markup. Pure.

use serde_json::{Map, Value};

use super::super::keys::{SLACK_BOT_TOKEN, SLACK_WEBHOOK_URL};

/// The event type in the metadata of messages sent from here.
pub(super) const EVENT_TYPE: &str = "agent_workshop_message";
/// The maximum length of an incoming message, in characters.
const MAX_TEXT_CHARS: usize = 16_000;

/// Why a request failed, as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refusal {
    /// Slack's error code, such as `channel_not_found`.
    pub(super) code: String,
    /// The missing permission, if Slack names it.
    pub(super) needed: Option<String>,
}

impl Refusal {
    /// Parses an answer that is not `ok`.
    pub(super) fn of(answer: &Map<String, Value>) -> Self {
        let text = |key: &str| answer.get(key).and_then(Value::as_str).map(short);
        Self { code: text("error").unwrap_or_else(|| "no reason given".to_owned()), needed: text("needed") }
    }

    /// Parses the answer of a webhook, which is a single word.
    pub(super) fn of_webhook(body: &str) -> Self {
        Self { code: short(body.trim()), needed: None }
    }

    /// Returns the meaning of the error and what to do about it; `channel` is the requested channel.
    pub(super) fn problem_and_remedy(&self, channel: &str) -> (String, String) {
        let code = &self.code;
        let (meaning, remedy) = match code.as_str() {
            "channel_not_found" => (
                format!("the bot cannot see a channel {channel:?} in Slack"),
                "fix the name, or invite the bot: /invite @BOT in that channel".to_owned(),
            ),
            "not_in_channel" => {
                (format!("the bot is not a member of {channel}"), format!("invite it: write /invite @BOT in {channel}"))
            }
            "is_archived" => {
                (format!("{channel} is archived"), "restore it in Slack, or use another channel".to_owned())
            }
            "invalid_auth" | "not_authed" | "account_inactive" | "token_revoked" | "token_expired" => (
                "Slack rejected the token".to_owned(),
                format!("put the bot's token (xoxb-…) into {SLACK_BOT_TOKEN}, in the environment or in keys.env"),
            ),
            "missing_scope" | "no_permission" => {
                let needed = self.needed.as_deref().unwrap_or("chat:write, channels:history and channels:read");
                (
                    "the bot may not do that".to_owned(),
                    format!("give it the scope {needed} in Slack's settings of the app, and install the app again"),
                )
            }
            "ratelimited" | "rate_limited" | "message_limit_exceeded" => {
                ("Slack is rate limiting messages".to_owned(), "wait a little and try again".to_owned())
            }
            "msg_too_long" | "no_text" | "invalid_payload" => {
                ("Slack rejected this text".to_owned(), "send a shorter one".to_owned())
            }
            "restricted_action" | "posting_to_general_channel_denied" | "action_prohibited" | "ekm_access_denied" => (
                format!("the team's rules do not allow the bot to post to {channel}"),
                "ask an administrator of the team".to_owned(),
            ),
            "thread_not_found" => {
                ("there is no such thread".to_owned(), "use the ts of the message that you answer".to_owned())
            }
            "no_service" | "no_team" | "no_active_hooks" | "invalid_token" | "user_not_found" => (
                "the Slack webhook no longer exists".to_owned(),
                format!("create a new one in Slack and put its address into {SLACK_WEBHOOK_URL}"),
            ),
            "unknown_user" => (format!("Slack has no user {channel:?}"), "fix the name".to_owned()),
            _ => ("Slack rejected it".to_owned(), "look up this error in Slack's documentation".to_owned()),
        };
        (format!("{meaning} ({code})"), remedy)
    }
}

fn short(text: &str) -> String {
    crate::base::text::truncate(&crate::base::text::one_line(text), 200)
}

/// A Slack timestamp in comparable form: seconds and the digits after the point.
pub(super) fn moment(ts: &str) -> Option<(u64, u64)> {
    let (secs, rest) = ts.split_once('.').unwrap_or((ts, "0"));
    let is_number = |text: &str| (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(secs) || !is_number(rest) {
        return None;
    }
    let micros = format!("{rest:0<6}");
    Some((secs.parse().ok()?, micros.get(..6)?.parse().ok()?))
}

/// Whether the first timestamp is newer than the second; false for an invalid timestamp.
pub fn is_newer(ts: &str, than: &str) -> bool {
    moment(ts).is_some_and(|at| moment(than).is_none_or(|than| at > than))
}

/// A relevant message of a channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PolledMessage {
    pub(super) ts: String,
    /// The id of the author, if it is a person.
    pub(super) user: Option<String>,
    /// The name of the bot, if the author is one.
    pub(super) bot: Option<String>,
    pub(super) text: String,
    pub(super) thread: Option<String>,
    /// The id of the message if it was sent from here.
    pub(super) own: Option<String>,
}

/// The subtypes of messages written by a person or a bot; others are about joins, topics and the like.
const WRITTEN: [&str; 4] = ["bot_message", "file_share", "thread_broadcast", "me_message"];

impl PolledMessage {
    /// Parses a message; `None` if it is invalid, or a notice by Slack itself.
    pub(super) fn read(message: &Value) -> Option<Self> {
        let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let ts = text(message, "ts").filter(|ts| moment(ts).is_some())?;
        if text(message, "subtype").is_some_and(|kind| !WRITTEN.contains(&kind.as_str())) {
            return None;
        }
        let metadata = message.get("metadata").filter(|metadata| metadata["event_type"] == EVENT_TYPE);
        let own = metadata.and_then(|metadata| text(&metadata["event_payload"], "id"));
        let profile = message.get("bot_profile").unwrap_or(&Value::Null);
        let said = text(message, "text").unwrap_or_default();
        Some(Self {
            thread: text(message, "thread_ts").filter(|thread| *thread != ts && moment(thread).is_some()),
            user: text(message, "user"),
            bot: text(message, "username").or_else(|| text(profile, "name")).or_else(|| text(message, "bot_id")),
            text: crate::base::text::truncate(&said, MAX_TEXT_CHARS),
            own,
            ts,
        })
    }
}

/// Escapes a text so that Slack shows it verbatim: nothing in it becomes a mention or a link.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Converts Slack's markup to plain text; `name` resolves ids.
pub(super) fn plain(text: &str, name: impl Fn(&str) -> Option<String>) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find('<') {
        plain.push_str(&rest[..begin]);
        let inside = &rest[begin + 1..];
        let Some(end) = inside.find('>') else {
            rest = &rest[begin..];
            break;
        };
        let (target, label) =
            inside[..end].split_once('|').map_or((&inside[..end], None), |(to, label)| (to, Some(label)));
        match target.split_at_checked(1) {
            Some(("@", id)) => {
                plain.push('@');
                plain.push_str(&label.map(str::to_owned).or_else(|| name(id)).unwrap_or_else(|| id.to_owned()));
            }
            Some(("#", id)) => {
                plain.push('#');
                plain.push_str(label.unwrap_or(id));
            }
            Some(("!", word)) => {
                plain.push('@');
                plain.push_str(label.unwrap_or(word).trim_start_matches('@'));
            }
            _ => match label.filter(|label| *label != target) {
                Some(label) => plain.push_str(&format!("{label} ({target})")),
                None => plain.push_str(target),
            },
        }
        rest = &inside[end + 1..];
    }
    plain.push_str(rest);
    plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Returns the id by which Slack recognises a repetition: a UUID derived from the message's id here.
pub(super) fn client_message_id(id: &str) -> String {
    let hash = blake3::hash(id.as_bytes()).to_hex();
    let hash = hash.as_str();
    format!("{}-{}-4{}-8{}-{}", &hash[..8], &hash[8..12], &hash[13..16], &hash[17..20], &hash[20..32])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn timestamps_are_compared_as_numbers_and_invalid_ones_rejected() {
        assert!(moment("1700000000.000100") < moment("1700000000.000200"));
        assert!(moment("999999999.5") < moment("1700000000"));
        for odd in ["", ".", "1.", "x.1", "-1.0", "1e9", "1.1.1", "99999999999999999999.1", "１.０"] {
            assert_eq!(moment(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn sent_text_mentions_nobody_and_received_markup_becomes_plain_text() {
        for text in ["<!channel> all", "a < b && c > d", "<@U1> <https://x|y>", "plain"] {
            assert!(!escaped(text).contains('<'), "{text}");
            assert_eq!(plain(&escaped(text), |_| None), text, "there and back");
        }
        let name = |id: &str| (id == "U1").then(|| "Sarah".to_owned());
        let table = [
            ("<@U1> and <@U2>", "@Sarah and @U2"),
            ("<#C1|ops> &amp; <#C2>", "#ops & #C2"),
            ("<!here> <!subteam^S1|@team>", "@here @team"),
            (
                "<https://a.example/x|the page>, <https://b.example>",
                "the page (https://a.example/x), https://b.example",
            ),
            ("broken <@U1", "broken <@U1"),
            ("<>", ""),
            ("ü&lt;ö", "ü<ö"),
        ];
        for (text, wanted) in table {
            assert_eq!(plain(text, name), wanted, "{text}");
        }
    }

    #[test]
    fn only_written_messages_are_parsed() {
        let read = |message: Value| PolledMessage::read(&message);
        let said =
            read(json!({ "ts": "1.5", "user": "U1", "text": "hi", "thread_ts": "1.2" })).expect("it should be valid");
        assert_eq!((said.user.as_deref(), said.thread.as_deref(), said.own), (Some("U1"), Some("1.2"), None));
        assert_eq!(read(json!({ "ts": "1.5", "thread_ts": "1.5", "text": "head" })).and_then(|said| said.thread), None);
        for odd in [
            json!({ "ts": "1.5", "subtype": "channel_join", "text": "joined" }),
            json!({ "text": "no time" }),
            json!({ "ts": "soon", "text": "odd time" }),
            json!("text"),
            json!(null),
        ] {
            assert_eq!(read(odd.clone()), None, "{odd}");
        }
        let own = json!({ "ts": "1.5", "text": "x", "metadata": { "event_type": EVENT_TYPE, "event_payload": { "id": "a" } } });
        assert_eq!(read(own).and_then(|said| said.own).as_deref(), Some("a"));
        let bot = json!({ "ts": "1.5", "subtype": "bot_message", "username": "ci", "text": "built" });
        assert_eq!(read(bot).and_then(|said| said.bot).as_deref(), Some("ci"));
    }

    #[test]
    fn known_refusals_are_explained_and_unknown_ones_quoted() {
        let usual =
            ["channel_not_found", "not_in_channel", "invalid_auth", "missing_scope", "ratelimited", "is_archived"];
        let words: std::collections::BTreeSet<String> =
            usual.iter().map(|code| Refusal::of_webhook(code).problem_and_remedy("#ops").1).collect();
        assert_eq!(words.len(), usual.len());
        let answer = json!({ "ok": false, "error": "missing_scope", "needed": "users:read" });
        assert!(
            Refusal::of(answer.as_object().expect("it should be")).problem_and_remedy("#ops").1.contains("users:read")
        );
        assert!(Refusal::of_webhook("strange\nthing").problem_and_remedy("#ops").0.contains("strange thing"));
        assert_eq!(Refusal::of(&Map::new()).code, "no reason given");
    }

    #[test]
    fn a_message_has_a_stable_id() {
        let id = client_message_id("act-1/1/0/00");
        assert_eq!((id.len(), client_message_id("act-1/1/0/00") == id), (36, true));
        assert_ne!(client_message_id("act-1/1/0/01"), id);
    }
}
