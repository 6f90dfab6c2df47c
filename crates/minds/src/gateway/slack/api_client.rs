//! Requests to Slack: with the person's key, to Slack's address or the one that the person set, limited in time and
//! length, and retried by the common policy.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::messages::{BASE_URL, OWN_BASE_URL, SlackTerms, SlackTrouble};
use super::wire::Refusal;
use crate::gateway::keys::{Environment, Keys, SLACK_BOT_TOKEN, SLACK_WEBHOOK_URL, Secret};
use crate::gateway::providers::cooldowns::{Cooldowns, chance};
use crate::gateway::providers::provider::ErrorCause;
use crate::gateway::providers::retry::{Attempts, parse_retry_after};
use crate::gateway::web::http_client;
use crate::gateway::web::origin::{Origin, shown};

/// The maximum size of an answer in bytes.
const MAX_ANSWER_BYTES: usize = 8 * 1024 * 1024;
/// The maximum size of an error response in bytes.
const MAX_REFUSAL_BYTES: usize = 64 * 1024;
/// The name of Slack among the cooldowns.
const SLACK: &str = "slack";

/// Why a request failed.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Fault {
    /// An HTTP or connection error.
    Http(ErrorCause),
    /// Slack refused the request.
    Refused(Refusal),
}

impl Fault {
    /// Whether Slack certainly did not process the request, so that repeating it does not duplicate anything.
    pub(super) fn was_not_taken(&self) -> bool {
        match self {
            Self::Refused(_) => true,
            Self::Http(cause) => match cause {
                // A server with an internal error may have processed the request before.
                ErrorCause::Status { status, .. } => *status < 500,
                ErrorCause::Connect | ErrorCause::Refused | ErrorCause::NotAllowed | ErrorCause::NoKey => true,
                _ => false,
            },
        }
    }

    /// Returns what happened and what to do about it; `place` is the name of the server.
    pub(super) fn problem_and_remedy(&self, place: &str, channel: &str) -> (String, String) {
        let cause = match self {
            Self::Refused(refusal) => return refusal.problem_and_remedy(channel),
            Self::Http(cause) => *cause,
        };
        let see = "check the connection, and try again".to_owned();
        match cause {
            ErrorCause::Status { status: 429, retry_after_secs } => {
                let asked = retry_after_secs.map(|secs| format!(" ({secs:.0} s)")).unwrap_or_default();
                (format!("{place} is rate limiting messages{asked}"), "it is retried later".to_owned())
            }
            ErrorCause::Status { status: 300..=399, .. } => {
                let what = format!("{place} redirects to an address that is not allowed");
                (what, format!("fix {BASE_URL} or {SLACK_WEBHOOK_URL}"))
            }
            ErrorCause::Status { status: status @ (401 | 403), .. } => (
                format!("{place} answered {status}: the key was rejected"),
                format!("fix {SLACK_BOT_TOKEN} or {SLACK_WEBHOOK_URL}"),
            ),
            ErrorCause::Status { status, .. } if status >= 500 => {
                (format!("{place} answered {status}: server error"), "it is retried later".to_owned())
            }
            ErrorCause::Status { status, .. } => (format!("{place} answered {status}"), see),
            ErrorCause::Connect => (format!("{place} cannot be reached"), see),
            ErrorCause::Refused => (format!("nothing listens at {place}"), see),
            ErrorCause::Stalled(secs) | ErrorCause::TooLong(secs) => {
                (format!("{place} did not answer within {secs} s"), see)
            }
            ErrorCause::Cut => (format!("the answer of {place} ended in the middle"), see),
            ErrorCause::TooMuch => (format!("{place} sent a response that is too large for Slack"), see),
            ErrorCause::Garbage => {
                (format!("{place} sent a response that is not from Slack"), format!("check {BASE_URL}"))
            }
            ErrorCause::NoKey => {
                (format!("{SLACK_BOT_TOKEN} is not set"), "set it in the environment or in keys.env".to_owned())
            }
            ErrorCause::NotAllowed => {
                let what = format!("{place} is neither encrypted nor local, so no key is sent there");
                (what, format!("use an https:// address in {BASE_URL}"))
            }
            ErrorCause::Agent(_) | ErrorCause::Panicked | ErrorCause::Cancelled => {
                ("the workshop was stopped".to_owned(), "start it again".to_owned())
            }
        }
    }
}

/// The address of the API and its key.
#[derive(Clone)]
pub(super) struct Api {
    client: reqwest::Client,
    base: String,
    token: Secret,
    pub(super) terms: SlackTerms,
    rests: Cooldowns,
}

/// Whether a request with a key may be sent to a URL: encrypted, or on this computer.
fn may_go(url: &str) -> bool {
    Origin::of(url).is_some_and(|origin| origin.is_encrypted() || origin.is_loopback())
}

pub(super) fn trouble_of(fault: &Fault, place: &str, channel: &str) -> SlackTrouble {
    let (what, remedy) = fault.problem_and_remedy(place, channel);
    SlackTrouble { what, remedy }
}

fn client(terms: &SlackTerms, url: &str) -> Result<reqwest::Client, Fault> {
    let mut client = http_client::builder()
        // A redirect would send the key to another server.
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(terms.patience.connect)
        .timeout(terms.patience.stall)
        .pool_max_idle_per_host(0)
        // A megabyte of compressed data may expand to a gigabyte.
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd();
    if Origin::of(url).is_some_and(|origin| origin.is_loopback()) {
        client = client.no_proxy();
    }
    client.build().map_err(|_| Fault::Http(ErrorCause::Connect))
}

impl Api {
    /// Opens the Web API with the person's token.
    pub(super) fn open(
        environment: &Environment,
        keys: &Keys,
        terms: SlackTerms,
        rests: Cooldowns,
    ) -> Result<Self, Fault> {
        let token = keys.get(SLACK_BOT_TOKEN).ok_or(Fault::Http(ErrorCause::NoKey))?.clone();
        let base = Self::base(environment);
        if !may_go(&base) {
            return Err(Fault::Http(ErrorCause::NotAllowed));
        }
        Ok(Self { client: client(&terms, &base)?, base, token, terms, rests })
    }

    fn base(environment: &Environment) -> String {
        let base = environment.address_named(BASE_URL).unwrap_or(OWN_BASE_URL).trim();
        if base.ends_with('/') { base.to_owned() } else { format!("{base}/") }
    }

    /// Returns the name of the server for messages.
    pub(super) fn place(environment: &Environment) -> String {
        match Self::base(environment) {
            base if base == OWN_BASE_URL => "Slack".to_owned(),
            base => format!("Slack at {}", shown(&base)),
        }
    }

    /// Makes a request without side effects, with retries.
    pub(super) async fn ask(&self, method: &str, values: &[(&str, &str)]) -> Result<Map<String, Value>, Fault> {
        let mut tries = Attempts::default();
        loop {
            let error = match self.try_once(method, &Self::form(values), "application/x-www-form-urlencoded").await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            if !self.waits_after(&error, &mut tries).await {
                return Err(error);
            }
        }
    }

    fn form(values: &[(&str, &str)]) -> String {
        let url = reqwest::Url::parse_with_params("http://form.invalid/", values);
        url.ok().and_then(|url| url.query().map(str::to_owned)).unwrap_or_default()
    }

    /// Sends data with one attempt.
    pub(super) async fn post_once(&self, method: &str, body: &Value) -> Result<Map<String, Value>, Fault> {
        self.try_once(method, &body.to_string(), "application/json; charset=utf-8").await
    }

    async fn try_once(&self, method: &str, body: &str, kind: &str) -> Result<Map<String, Value>, Fault> {
        self.rests_first().await?;
        let request = self.client.post(format!("{}{method}", self.base)).header("content-type", kind);
        let request = request.bearer_auth(self.token.reveal()).body(body.to_owned());
        let answer = answer(request, self.terms.patience.stall).await?;
        let Ok(Value::Object(read)) = serde_json::from_slice::<Value>(&answer.body) else {
            return Err(Fault::Http(ErrorCause::Garbage));
        };
        match read.get("ok") {
            Some(Value::Bool(true)) => Ok(read),
            Some(Value::Bool(false)) => match Refusal::of(&read) {
                // Slack reports a rate limit here like the status 429.
                refusal if refusal.code == "ratelimited" => {
                    let retry_after_secs = answer.retry_after_secs;
                    Err(Fault::Http(ErrorCause::Status { status: 429, retry_after_secs }))
                }
                refusal => Err(Fault::Refused(refusal)),
            },
            _ => Err(Fault::Http(ErrorCause::Garbage)),
        }
    }

    /// Waits for the end of Slack's cooldown, within the maximum single wait.
    async fn rests_first(&self) -> Result<(), Fault> {
        rests_first(&self.rests, &self.terms).await
    }

    /// Waits after a failed attempt; `false` if there is no retry.
    pub(super) async fn waits_after(&self, fault: &Fault, tries: &mut Attempts) -> bool {
        waits_after(&self.rests, &self.terms, fault, tries).await
    }
}

async fn rests_first(rests: &Cooldowns, terms: &SlackTerms) -> Result<(), Fault> {
    let left = rests.remaining(SLACK, Instant::now()).as_secs_f64();
    if left > terms.retry.longest_delay_secs {
        return Err(Fault::Http(ErrorCause::Status { status: 429, retry_after_secs: Some(left) }));
    }
    tokio::time::sleep(Duration::from_secs_f64(left)).await;
    Ok(())
}

async fn waits_after(rests: &Cooldowns, terms: &SlackTerms, fault: &Fault, tries: &mut Attempts) -> bool {
    let Fault::Http(cause) = fault else { return false };
    let now = Instant::now();
    rests.note_refusal(SLACK, *cause, &terms.retry, now);
    let at_least_secs = rests.remaining(SLACK, now).as_secs_f64();
    let Some(wait_secs) = terms.retry.next_delay_secs(*cause, false, tries, (at_least_secs, chance())) else {
        return false;
    };
    tokio::time::sleep(Duration::from_secs_f64(wait_secs)).await;
    true
}

/// An incoming webhook, which posts to one channel and answers with a single word.
pub(super) struct Webhook {
    client: reqwest::Client,
    url: Secret,
    terms: SlackTerms,
    rests: Cooldowns,
}

impl Webhook {
    /// Opens the person's webhook.
    pub(super) fn open(keys: &Keys, terms: SlackTerms, rests: Cooldowns) -> Result<Self, Fault> {
        let url = keys.get(SLACK_WEBHOOK_URL).ok_or(Fault::Http(ErrorCause::NoKey))?.clone();
        if !may_go(url.reveal()) {
            return Err(Fault::Http(ErrorCause::NotAllowed));
        }
        Ok(Self { client: client(&terms, url.reveal())?, url, terms, rests })
    }

    /// Sends data with one attempt.
    pub(super) async fn post_once(&self, body: &Value) -> Result<(), Fault> {
        rests_first(&self.rests, &self.terms).await?;
        let request = self.client.post(self.url.reveal()).header("content-type", "application/json");
        let answer = answer(request.body(body.to_string()), self.terms.patience.stall).await;
        match answer {
            Ok(answer) if answer.body.trim_ascii() == b"ok" => Ok(()),
            Ok(_) => Err(Fault::Http(ErrorCause::Garbage)),
            Err(fault) => Err(fault),
        }
    }

    /// Waits after a failed attempt; `false` if there is no retry.
    pub(super) async fn waits_after(&self, fault: &Fault, tries: &mut Attempts) -> bool {
        waits_after(&self.rests, &self.terms, fault, tries).await
    }
}

/// A complete answer.
struct Answer {
    body: Vec<u8>,
    retry_after_secs: Option<f64>,
}

async fn answer(request: reqwest::RequestBuilder, patience: Duration) -> Result<Answer, Fault> {
    let lost = |error: &reqwest::Error| {
        let secs = u32::try_from(patience.as_secs().max(1)).unwrap_or(u32::MAX);
        Fault::Http(match error {
            // Without a connection, nothing was sent.
            error if error.is_connect() && is_refused(error) => ErrorCause::Refused,
            error if error.is_connect() => ErrorCause::Connect,
            error if error.is_timeout() => ErrorCause::Stalled(secs),
            _ => ErrorCause::Cut,
        })
    };
    let mut response = request.send().await.map_err(|error| lost(&error))?;
    let status = response.status();
    let asked = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
    let retry_after_secs = asked.and_then(|asked| parse_retry_after(asked, std::time::SystemTime::now()));
    let at_most = if status.is_success() { MAX_ANSWER_BYTES } else { MAX_REFUSAL_BYTES };
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > at_most => {
                return Err(Fault::Http(if status.is_success() {
                    ErrorCause::TooMuch
                } else {
                    status_of(status, None)
                }));
            }
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => break,
            Err(_) if !status.is_success() => break,
            Err(error) => return Err(lost(&error)),
        }
    }
    if status.is_success() {
        return Ok(Answer { body, retry_after_secs });
    }
    // A webhook refuses with a status and a single word.
    let word = std::str::from_utf8(&body).unwrap_or_default().trim();
    let is_word = (1..=60).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_word && status.is_client_error() && status.as_u16() != 429 {
        return Err(Fault::Refused(Refusal::of_webhook(word)));
    }
    Err(Fault::Http(status_of(status, retry_after_secs)))
}

fn status_of(status: reqwest::StatusCode, retry_after_secs: Option<f64>) -> ErrorCause {
    ErrorCause::Status { status: status.as_u16(), retry_after_secs }
}

fn is_refused(error: &reqwest::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionRefused) {
            return true;
        }
        source = cause.source();
    }
    false
}
