//! Tests whether Slack can be reached with the person's keys. Nothing is sent.

use serde_json::json;
use tokio::runtime::Builder;

use super::api_client::{Api, Fault, Webhook};
use super::messages::{SlackAccess, SlackSends, SlackTerms};
use super::names::Names;
use super::settings::SlackSettings;
use crate::base::Problem;
use crate::gateway::keys::{Environment, Keys};
use crate::gateway::providers::cooldowns::Cooldowns;
use crate::gateway::providers::retry::RetryPolicy;
use crate::gateway::settings::GatewaySettings;

/// Checks whether the keys work and the channels can be read. Returns the result of each check.
pub fn try_slack(
    environment: &Environment,
    gateway: &GatewaySettings,
    slack: &SlackSettings,
) -> Vec<(String, Result<String, Problem>)> {
    let (keys, _) = Keys::load(environment);
    let mut terms = SlackTerms::of(gateway, slack);
    terms.retry = RetryPolicy { attempts: 1, ..terms.retry };
    let place = Api::place(environment);
    let problem = |at: &str, channel: &str, fault: &Fault| {
        let (what, remedy) = fault.problem_and_remedy(&place, channel);
        Problem::error(at, keys.redact(&what), keys.redact(&remedy))
    };
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let problem = Problem::error("Slack", format!("no request can be sent: {error}"), "free some memory");
            return vec![("Slack".to_owned(), Err(problem))];
        }
    };
    match SlackAccess::of(environment).sends {
        SlackSends::Files => Vec::new(),
        SlackSends::Webhook => runtime.block_on(async {
            let what = "Slack webhook".to_owned();
            // A message without text is refused for that reason, but only by a webhook that exists.
            let tried = match Webhook::open(&keys, terms, Cooldowns::default()) {
                Ok(webhook) => webhook.post_once(&json!({})).await,
                Err(fault) => Err(fault),
            };
            let works =
                |code: &str| matches!(code, "no_text" | "invalid_payload" | "missing_text_or_fallback_or_attachments");
            let outcome = match tried {
                Ok(()) => Ok("it answers".to_owned()),
                Err(Fault::Refused(refusal)) if works(&refusal.code) => Ok("it answers".to_owned()),
                Err(fault) => Err(problem(&what, "", &fault)),
            };
            vec![(what, outcome)]
        }),
        SlackSends::WebApi => runtime.block_on(async {
            let what = "Slack Web API".to_owned();
            let api = match Api::open(environment, &keys, terms, Cooldowns::default()) {
                Ok(api) => api,
                Err(fault) => return vec![(what.clone(), Err(problem(&what, "", &fault)))],
            };
            let mut found = match api.ask("auth.test", &[]).await {
                Ok(answer) => {
                    let text = |key: &str| answer.get(key).and_then(|value| value.as_str()).unwrap_or("?").to_owned();
                    vec![(what, Ok(keys.redact(&format!("{} in the team {}", text("user"), text("team")))))]
                }
                Err(fault) => return vec![(what.clone(), Err(problem(&what, "", &fault)))],
            };
            let names = Names::default();
            for channel in slack.read_channels() {
                let what = format!("Slack channel {channel}");
                let read = match names.channel(&api, channel).await {
                    Ok(id) => api.ask("conversations.history", &[("channel", &id), ("limit", "1")]).await,
                    Err(fault) => Err(fault),
                };
                let outcome = match read {
                    Ok(_) => Ok("it can be read".to_owned()),
                    Err(fault) => Err(problem(&what, channel, &fault)),
                };
                found.push((what, outcome));
            }
            found
        }),
    }
}
