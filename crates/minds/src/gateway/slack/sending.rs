//! Sends a message once: if there was no answer, Slack is asked whether it has the message before it is sent again; if
//! that cannot be determined, it is not sent again.

use serde_json::{Value, json};

use super::api_client::{Api, Fault, Webhook};
use super::messages::{SlackMessage, SlackPost, SlackSends, SlackTerms};
use super::names::Names;
use super::wire::{EVENT_TYPE, PolledMessage, client_message_id, escaped};
use crate::gateway::keys::{Environment, Keys};
use crate::gateway::providers::cooldowns::Cooldowns;
use crate::gateway::providers::provider::ErrorCause;
use crate::gateway::providers::retry::Attempts;

/// The context of sending a message.
pub(super) struct Sending<'a> {
    pub(super) environment: &'a Environment,
    pub(super) keys: &'a Keys,
    pub(super) terms: SlackTerms,
    pub(super) rests: Cooldowns,
    pub(super) names: Names,
}

impl Sending<'_> {
    /// Sends a message with this id, by the best available connection.
    pub(super) async fn send(self, id: &str, message: &SlackMessage) -> SlackPost {
        let place = Api::place(self.environment);
        match Api::open(self.environment, self.keys, self.terms.clone(), self.rests.clone()) {
            Ok(api) => send_over_api(&api, &self.names, &place, id, message).await,
            Err(Fault::Http(ErrorCause::NoKey)) => self.send_over_webhook(message).await,
            Err(fault) => not_sent(&fault, &place, &message.channel),
        }
    }

    async fn send_over_webhook(self, message: &SlackMessage) -> SlackPost {
        let place = "Slack's webhook";
        let bare = |name: &str| name.trim().trim_start_matches('#').to_lowercase();
        match self.terms.settings.webhook_channel.as_deref().map(bare).filter(|own| !own.is_empty()) {
            Some(own) if own == bare(&message.channel) => {}
            Some(own) => {
                return SlackPost::NotSent {
                    what: format!("the webhook only posts to #{own}, not to {}", message.channel),
                    remedy: format!("send it to #{own}, or set up a bot token, which reaches other channels"),
                };
            }
            None => {
                return SlackPost::NotSent {
                    what: "the webhook's channel is not set, so the message might go elsewhere".to_owned(),
                    remedy: "add to settings.yaml: slack: { webhook_channel: \"#NAME\" }".to_owned(),
                };
            }
        }
        let webhook = match Webhook::open(self.keys, self.terms, self.rests) {
            Ok(webhook) => webhook,
            Err(fault) => return not_sent(&fault, place, &message.channel),
        };
        let mut body = json!({ "text": escaped(&message.text) });
        if let Some(thread) = &message.thread {
            body["thread_ts"] = thread.as_str().into();
        }
        let mut tries = Attempts::default();
        loop {
            let fault = match webhook.post_once(&body).await {
                Ok(()) => return SlackPost::Sent { ts: None, via: SlackSends::Webhook },
                Err(fault) => fault,
            };
            if !fault.was_not_taken() {
                // A webhook cannot be asked whether it has the message.
                return unknown(&fault, place, &message.channel);
            }
            if !webhook.waits_after(&fault, &mut tries).await {
                return not_sent(&fault, place, &message.channel);
            }
        }
    }
}

async fn send_over_api(api: &Api, names: &Names, place: &str, id: &str, message: &SlackMessage) -> SlackPost {
    let channel = match message.channel.strip_prefix('@') {
        // A person can only be addressed by id.
        Some(person) => match names.person(api, person).await {
            Ok(id) => id,
            Err(fault) => return not_sent(&fault, place, &message.channel),
        },
        None => message.channel.clone(),
    };
    let mut body = json!({
        "channel": channel,
        "text": escaped(&message.text),
        "client_msg_id": client_message_id(id),
        "metadata": { "event_type": EVENT_TYPE, "event_payload": { "id": id } },
    });
    if let Some(thread) = &message.thread {
        body["thread_ts"] = thread.as_str().into();
    }
    let sent = |ts: Option<String>| SlackPost::Sent { ts, via: SlackSends::WebApi };
    let mut tries = Attempts::default();
    loop {
        let fault = match api.post_once("chat.postMessage", &body).await {
            Ok(answer) => return sent(answer.get("ts").and_then(Value::as_str).map(str::to_owned)),
            Err(fault) => fault,
        };
        let goes_on = api.waits_after(&fault, &mut tries).await;
        if fault.was_not_taken() {
            if goes_on {
                continue;
            }
            return not_sent(&fault, place, &message.channel);
        }
        match found(api, names, &channel, id, message.thread.as_deref()).await {
            Ok(Some(ts)) => return sent(Some(ts)),
            Ok(None) if goes_on => {}
            Ok(None) | Err(_) => return unknown(&fault, place, &message.channel),
        }
    }
}

/// Returns the timestamp of a message that was sent with this id, if Slack has it.
async fn found(
    api: &Api,
    names: &Names,
    channel: &str,
    id: &str,
    thread: Option<&str>,
) -> Result<Option<String>, Fault> {
    let channel = names.channel(api, channel).await?;
    let mut values = vec![("channel", channel.as_str()), ("limit", "100"), ("include_all_metadata", "true")];
    let method = match thread {
        Some(thread) => {
            values.push(("ts", thread));
            "conversations.replies"
        }
        None => "conversations.history",
    };
    let answer = api.ask(method, &values).await?;
    let messages = answer.get("messages").and_then(Value::as_array).into_iter().flatten();
    Ok(messages.filter_map(PolledMessage::read).find(|said| said.own.as_deref() == Some(id)).map(|said| said.ts))
}

fn not_sent(fault: &Fault, place: &str, channel: &str) -> SlackPost {
    let (what, remedy) = fault.problem_and_remedy(place, channel);
    SlackPost::NotSent { what, remedy }
}

fn unknown(fault: &Fault, place: &str, channel: &str) -> SlackPost {
    SlackPost::Unknown { what: fault.problem_and_remedy(place, channel).0 }
}
