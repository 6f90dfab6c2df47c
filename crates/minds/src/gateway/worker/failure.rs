//! Provider failures, described for a person: the kind, what and where, and what to do. Never contains keys.

use std::time::{Duration, SystemTime};

use crate::gateway::acp;
use crate::gateway::keys::Keys;
use crate::gateway::keys::redaction::quote;
use crate::gateway::providers::provider::{AgentFault, ErrorCause, ProviderError};
use crate::mind::{FailureKind, ModelFailure};

/// The maximum pause in seconds; longer ones are shortened to this.
const LONGEST_WAIT_SECS: f64 = 86_400.0;

/// The length of a pause in seconds from which its end is named.
const NAMED_END_SECS: f64 = 60.0;

/// The target of a call, as far as a person must know it to fix the problem.
#[derive(Clone, Copy, Debug)]
pub struct CallTarget<'a> {
    /// The name of the provider.
    pub provider: &'a str,
    /// The name of the model.
    pub model: &'a str,
    /// The base URL; empty for a simulated provider.
    pub base_url: &'a str,
    /// The variable for its key, if it needs one.
    pub key_name: Option<&'a str>,
    /// The path of the file for keys.
    pub key_file: &'a str,
    /// Why its existing key was not sent.
    pub withheld: Option<&'a str>,
    /// How the person can allow an address that only the workspace sets.
    pub how_to_allow: &'a str,
}

/// Describes an error for a person, after this many attempts.
pub fn failure(error: &ProviderError, place: CallTarget<'_>, tries: u32, keys: &Keys) -> ModelFailure {
    let (kind, what) = what(error, place);
    let mut what = keys.redact(&what);
    let detail = quote(&error.detail, &keys.redactor());
    if what.is_empty() {
        what = keys.redact(&error.detail);
    } else if !detail.is_empty() {
        what = format!("{what}: {detail}");
    }
    if tries > 1 {
        what = format!("{what} (tried {tries} times)");
    }
    let asked = match error.cause {
        ErrorCause::Status { retry_after_secs, .. } => retry_after_secs.filter(|secs| secs.is_finite()),
        _ => None,
    };
    let retry_after_secs = asked.map(|secs| secs.clamp(0.0, LONGEST_WAIT_SECS) as f32);
    let status = match error.cause {
        ErrorCause::Status { status, .. } => Some(status),
        _ => None,
    };
    let is_too_long = kind == FailureKind::Rejected && names_length(error);
    ModelFailure { retry_after_secs, status, is_too_long, ..ModelFailure::new(kind, what, remedy(error, kind, place)) }
}

/// Whether a server says that the request is too long for its model; the wording differs between servers.
fn names_length(error: &ProviderError) -> bool {
    const WORDS: [&str; 10] = [
        "context_length_exceeded",
        "maximum context length",
        "context length exceeded",
        "available context size",
        "exceeds the context",
        "context window",
        "prompt is too long",
        "input is too long",
        "maximum number of tokens",
        "too many tokens",
    ];
    let is_refusal = matches!(error.cause, ErrorCause::Status { status: 400 | 413 | 422, .. });
    let detail = error.detail.to_lowercase();
    let is_named = matches!(error.cause, ErrorCause::Status { status: 413, .. })
        || WORDS.iter().any(|words| detail.contains(words));
    is_refusal && is_named
}

fn what(error: &ProviderError, place: CallTarget<'_>) -> (FailureKind, String) {
    let provider = place.provider;
    let at = if place.base_url.is_empty() { String::new() } else { format!(" at {}", place.base_url) };
    match error.cause {
        ErrorCause::Status { status, .. } => {
            let kind = if names_bad_key(error) { FailureKind::Unauthorised } else { kind_of_status(status) };
            let meaning = meaning(kind, status, place).map(|words| format!(" ({words})")).unwrap_or_default();
            (kind, format!("{provider} answered {status}{at}{meaning}"))
        }
        ErrorCause::Connect => (FailureKind::Unavailable, format!("{provider} cannot be reached{at}")),
        ErrorCause::Refused => {
            (FailureKind::Unavailable, format!("{provider} is not running{at}: no server listens there"))
        }
        ErrorCause::Stalled(secs) => (FailureKind::TimedOut, format!("{provider} sent nothing for {secs} s{at}")),
        ErrorCause::TooLong(secs) => (FailureKind::TimedOut, format!("{provider} did not finish within {secs} s{at}")),
        ErrorCause::Cut => (FailureKind::Malformed, format!("the answer of {provider} was cut off{at}")),
        ErrorCause::Garbage => (FailureKind::Malformed, format!("the answer of {provider} could not be read{at}")),
        ErrorCause::TooMuch => (FailureKind::Malformed, format!("{provider} sent a response that is too large{at}")),
        ErrorCause::NoKey => (FailureKind::Unauthorised, format!("there is no key for {provider}")),
        ErrorCause::NotAllowed => {
            let why = "this workspace sets this address, and you have not allowed it";
            (FailureKind::Rejected, format!("{provider} was not called{at}: {why}"))
        }
        // The error's own message is complete.
        ErrorCause::Agent(fault) => (kind_of_agent(fault), String::new()),
        ErrorCause::Panicked => (FailureKind::Malformed, format!("the code that calls {provider} crashed")),
        ErrorCause::Cancelled => (FailureKind::Cancelled, format!("the request to {provider} was cancelled")),
    }
}

/// Returns the kind of failure of a coding agent.
fn kind_of_agent(fault: AgentFault) -> FailureKind {
    match fault {
        AgentFault::NeedsLogin => FailureKind::Unauthorised,
        AgentFault::Ended => FailureKind::Unavailable,
        AgentFault::NotAllowed | AgentFault::NotStarted | AgentFault::Refused | AgentFault::Stopped => {
            FailureKind::Rejected
        }
    }
}

/// Returns the meaning of a status, if it has only one.
fn meaning(kind: FailureKind, status: u16, place: CallTarget<'_>) -> Option<String> {
    Some(match (kind, status) {
        (FailureKind::Unauthorised, _) if place.withheld.is_some() => "a key is required".to_owned(),
        (FailureKind::Unauthorised, _) if place.key_name.is_some() => "the key was rejected".to_owned(),
        (FailureKind::Unauthorised, _) => "authentication is required".to_owned(),
        (_, 402) => "payment is required".to_owned(),
        (_, 404) => format!("no model {:?}, or nothing at this address", place.model),
        (FailureKind::RateLimited, _) => "too many requests".to_owned(),
        (FailureKind::Unavailable, _) => "server error".to_owned(),
        _ => return None,
    })
}

/// Whether a server rejects the key: Gemini answers 400 where others answer 401.
fn names_bad_key(error: &ProviderError) -> bool {
    let said = |words: &str| error.detail.contains(words);
    matches!(error.cause, ErrorCause::Status { status: 400, .. })
        && (said("API_KEY_INVALID") || said("API key not valid"))
}

/// Returns the kind of failure for a status.
pub fn kind_of_status(status: u16) -> FailureKind {
    match status {
        401 | 403 => FailureKind::Unauthorised,
        429 => FailureKind::RateLimited,
        408 => FailureKind::TimedOut,
        500..=599 => FailureKind::Unavailable,
        _ => FailureKind::Rejected,
    }
}

fn remedy(error: &ProviderError, kind: FailureKind, place: CallTarget<'_>) -> String {
    let provider = place.provider;
    match (kind, error.cause) {
        _ if !error.remedy.is_empty() => error.remedy.clone(),
        (FailureKind::TimedOut, ErrorCause::Stalled(_)) if provider == acp::PROVIDER => {
            "give the task again, or raise acp.silence_timeout_secs".to_owned()
        }
        (FailureKind::TimedOut, _) if provider == acp::PROVIDER => {
            "give the task in smaller parts, or raise acp.turn_timeout_secs".to_owned()
        }
        (_, ErrorCause::NotAllowed) => place.how_to_allow.to_owned(),
        (FailureKind::Unauthorised, _) if place.withheld.is_some() => {
            let (why, name) = (place.withheld.unwrap_or_default(), place.key_name.unwrap_or_default());
            format!("{name} was not sent, because {why}; {}", place.how_to_allow)
        }
        (FailureKind::Unauthorised, _) => match place.key_name {
            Some(name) => format!("set {name} in the environment or in {}", place.key_file),
            None => format!("check what {provider} requires"),
        },
        (
            FailureKind::RateLimited | FailureKind::Unavailable,
            ErrorCause::Status { retry_after_secs: Some(secs), .. },
        ) if secs.is_finite() => wait_text(place, secs.clamp(0.0, LONGEST_WAIT_SECS)),
        (FailureKind::RateLimited, _) => {
            format!("wait, lower gateway.max_concurrent, or use a larger plan of {provider}")
        }
        (FailureKind::Rejected, ErrorCause::Status { status: 402, .. }) => {
            format!("check your account at {provider}, or use another provider")
        }
        (FailureKind::Rejected, ErrorCause::Status { status: 404, .. }) => {
            format!(
                "check that {provider} has the model {:?} and that gateway.base_urls.{provider} is right",
                place.model
            )
        }
        (FailureKind::Rejected, ErrorCause::Status { status: 300..400, .. }) => {
            format!("set gateway.base_urls.{provider} to the redirect target; redirects are not followed with a key")
        }
        (FailureKind::Rejected, _) if names_length(error) => format!(
            "split the task, lower kernel.session_chars_at_most, or set the limit of {:?} in gateway.context_tokens",
            place.model
        ),
        (FailureKind::Rejected, _) => format!("check the model {:?} and its limits for {provider}", place.model),
        (FailureKind::Unavailable, ErrorCause::Refused) => {
            format!("start the server, or set gateway.base_urls.{provider} to where it runs")
        }
        (FailureKind::Unavailable, ErrorCause::Connect) => {
            format!("check the network and gateway.base_urls.{provider}, and that the server runs")
        }
        (FailureKind::TimedOut, _) => "try again, or raise gateway.total_timeout_secs".to_owned(),
        (FailureKind::Malformed, ErrorCause::Panicked) => "this is a bug: please report it".to_owned(),
        (FailureKind::Cancelled, _) => "try again if you still need it".to_owned(),
        _ => format!("try again later; if this persists, check the status page of {provider}"),
    }
}

/// What a person is told about a pause that a provider asks for. A simulated provider has no time of day.
fn wait_text(place: CallTarget<'_>, secs: f64) -> String {
    let (provider, duration) = (place.provider, duration_text(secs));
    let end = SystemTime::now().checked_add(Duration::from_secs_f64(secs));
    match end.filter(|_| secs >= NAMED_END_SECS && !place.base_url.is_empty()) {
        Some(end) => {
            let end = humantime::format_rfc3339_seconds(end).to_string();
            let (date, time) = end.split_once('T').unwrap_or((&end, ""));
            let time = time.get(..5).unwrap_or(time);
            format!(
                "{provider} asks to wait {duration}, until {date} {time} UTC; the work waits and then continues by \
                 itself; to continue sooner, use another provider"
            )
        }
        None => format!("{provider} asks to wait {duration}; send fewer requests, or use another provider"),
    }
}

/// Formats a duration in seconds.
fn duration_text(secs: f64) -> String {
    match secs {
        secs if secs < 120.0 => format!("{secs:.0} s"),
        secs if secs < 7200.0 => format!("{:.0} minutes", secs / 60.0),
        secs => format!("{:.0} hours", secs / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::keys::Environment;

    const PLACE: CallTarget<'_> = CallTarget {
        provider: "gemini",
        model: "gemini-x",
        base_url: "http://127.0.0.1:1/",
        key_name: Some("GEMINI_API_KEY"),
        key_file: "keys.env",
        withheld: None,
        how_to_allow: "run: workshop allow-address",
    };

    fn every_cause() -> Vec<ErrorCause> {
        let statuses = [301, 400, 401, 403, 404, 408, 418, 429, 500, 503];
        let mut causes: Vec<_> = statuses
            .into_iter()
            .map(|status| ErrorCause::Status { status, retry_after_secs: (status == 429).then_some(3600.0) })
            .collect();
        causes.extend([
            ErrorCause::Connect,
            ErrorCause::Refused,
            ErrorCause::Stalled(3),
            ErrorCause::TooLong(9),
            ErrorCause::Cut,
        ]);
        causes.extend([ErrorCause::Garbage, ErrorCause::TooMuch, ErrorCause::NoKey, ErrorCause::Panicked]);
        causes.extend([ErrorCause::Cancelled, ErrorCause::NotAllowed]);
        causes
    }

    #[test]
    fn no_cause_leaks_a_key_and_each_has_a_remedy() {
        let (keys, _) = Keys::load(&Environment::new([("GEMINI_API_KEY", "private-12345".into())], None));
        for cause in every_cause() {
            let error = ProviderError::new(cause, "header x-goog-api-key: private-12345 and sk-abcdefgh12345");
            let place = CallTarget { base_url: "http://h/?key=private-12345", ..PLACE };
            let failure = failure(&error, place, 2, &keys);
            let all = format!("{failure:?}");
            assert!(!all.contains("private-12345") && !all.contains("sk-abcdefgh"), "{all}");
            assert!(!failure.remedy.is_empty());
        }
    }

    #[test]
    fn the_requested_wait_is_passed_on_within_limits() {
        let waits = [(Some(7.5), Some(7.5)), (None, None), (Some(1e30), Some(86_400.0)), (Some(f64::NAN), None)];
        for (asked, carried) in waits {
            let error = ProviderError::new(ErrorCause::Status { status: 429, retry_after_secs: asked }, "");
            let failure = failure(&error, PLACE, 4, &Keys::default());
            assert_eq!((failure.kind, failure.retry_after_secs), (FailureKind::RateLimited, carried));
        }
    }

    #[test]
    fn a_long_pause_says_when_it_ends() {
        let remedy = |status, secs, place| {
            let error = ProviderError::new(ErrorCause::Status { status, retry_after_secs: Some(secs) }, "");
            failure(&error, place, 1, &Keys::default()).remedy
        };
        for (status, secs, duration) in
            [(429, 86_400.0, "24 hours"), (503, 7_200.0, "2 hours"), (429, 1e12, "24 hours")]
        {
            let text = remedy(status, secs, PLACE);
            let until = text.split_once(&format!("asks to wait {duration}, until ")).map(|(_, until)| until);
            let time = until.and_then(|until| until.get(..16)).unwrap_or_default().replacen(' ', "T", 1);
            let end = humantime::parse_rfc3339(&format!("{time}:00Z")).expect("it is a date");
            let left = end.duration_since(SystemTime::now()).expect("it is to come").as_secs_f64();
            assert!((left - secs.min(86_400.0)).abs() < 120.0, "{text}");
            assert!(text.contains("the work waits and then continues by itself"), "{text}");
        }
        assert!(!remedy(429, 5.0, PLACE).contains("until"));
        assert!(!remedy(429, 86_400.0, CallTarget { base_url: "", ..PLACE }).contains("until"), "it is simulated");
    }

    #[test]
    fn a_bad_key_is_recognised_with_any_status() {
        let body = r#"{"error": {"code": 400, "message": "API key not valid. Please pass a valid API key."}}"#;
        let error = ProviderError::new(ErrorCause::Status { status: 400, retry_after_secs: None }, body);
        assert_eq!(failure(&error, PLACE, 1, &Keys::default()).kind, FailureKind::Unauthorised);
        let other = ProviderError::new(ErrorCause::Status { status: 400, retry_after_secs: None }, "no such parameter");
        assert_eq!(failure(&other, PLACE, 1, &Keys::default()).kind, FailureKind::Rejected);
    }

    #[test]
    fn an_overlong_request_is_recognised_in_each_vendors_wording() {
        let said = |status, body: &str| {
            let error = ProviderError::new(ErrorCause::Status { status, retry_after_secs: None }, body);
            failure(&error, PLACE, 1, &Keys::default())
        };
        for body in [
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 10000 tokens.",
            r#"{"error":{"code":"context_length_exceeded"}}"#,
            "prompt is too long: 210000 tokens > 200000 maximum",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "the request exceeds the available context size (4096 tokens). try increasing the context size",
        ] {
            let failure = said(400, body);
            assert!(failure.is_too_long && failure.kind == FailureKind::Rejected, "{body}");
            assert!(failure.remedy.contains("kernel.session_chars_at_most"), "{}", failure.remedy);
        }
        assert!(said(413, "").is_too_long);
        for (status, body) in [(400, "no such parameter"), (429, "too many tokens a minute"), (500, "context window")] {
            assert!(!said(status, body).is_too_long, "{status} {body}");
        }
    }

    #[test]
    fn failures_name_the_provider_the_status_and_the_address() {
        let error = ProviderError::new(ErrorCause::Status { status: 401, retry_after_secs: None }, "");
        let failure = failure(&error, PLACE, 1, &Keys::default());
        assert_eq!(failure.kind, FailureKind::Unauthorised);
        assert_eq!(failure.what, "gemini answered 401 at http://127.0.0.1:1/ (the key was rejected)");
        assert_eq!(failure.remedy, "set GEMINI_API_KEY in the environment or in keys.env");
    }
}
