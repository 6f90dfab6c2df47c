//! Whether to retry, and how long to wait first. Pure: the caller waits, in real or in simulated time.

use std::time::SystemTime;

use serde_json::Value;

use super::provider::{AgentFault, ErrorCause};
use crate::base::Backoff;

/// The retry policy.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RetryPolicy {
    /// The maximum number of attempts.
    pub attempts: u32,
    /// The wait after the first failure, in seconds; it doubles after each.
    pub first_delay_secs: f64,
    /// The maximum single wait in seconds; if a server asks for more, there is no retry.
    pub longest_delay_secs: f64,
    /// The maximum total of all waits in seconds.
    pub total_delay_secs: f64,
}

/// The attempts made for one request.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Attempts {
    /// The number of attempts so far.
    pub made: u32,
    /// The total wait in seconds so far.
    pub waited_secs: f64,
}

impl RetryPolicy {
    /// Counts a failed attempt and returns the seconds to wait before the next; `None` to give up. If part of an answer
    /// has arrived, it was paid for, and there is no retry. The wait is at least `at_least_secs`; `jitter` in 0..1
    /// spreads requests that failed together.
    pub fn next_delay_secs(
        &self,
        cause: ErrorCause,
        has_output: bool,
        tries: &mut Attempts,
        (at_least_secs, jitter): (f64, f64),
    ) -> Option<f64> {
        tries.made += 1;
        if has_output {
            // A request whose answer has started is never repeated, because it was paid for.
            rule!("started-answers-are-not-repeated");
            return None;
        }
        if !is_transient(cause) || tries.made >= self.attempts {
            return None;
        }
        let backoff = Backoff::new(self.first_delay_secs, self.longest_delay_secs);
        let backoff = backoff.spread_secs(tries.made - 1, jitter);
        let asked = match cause {
            ErrorCause::Status { retry_after_secs: Some(asked), .. } if asked.is_finite() => asked,
            _ => 0.0,
        };
        let delay = backoff.max(asked).max(at_least_secs);
        let too_long = delay > self.longest_delay_secs || tries.waited_secs + delay > self.total_delay_secs;
        if too_long || !delay.is_finite() {
            return None;
        }
        tries.waited_secs += delay;
        Some(delay.max(0.0))
    }

    /// Returns the cooldown in seconds of a provider that did not specify one, after this many previous refusals.
    pub fn cooldown_secs(&self, times_before: u32) -> f64 {
        Backoff::new(self.first_delay_secs, 2.0 * self.longest_delay_secs).wait_secs(times_before)
    }
}

/// Whether a retry may succeed.
fn is_transient(cause: ErrorCause) -> bool {
    match cause {
        ErrorCause::Status { status, .. } => matches!(status, 408 | 429 | 500..=599),
        ErrorCause::Connect | ErrorCause::Stalled(_) | ErrorCause::Agent(AgentFault::Ended) => true,
        // An answer that was cut off or invalid was paid for, and a retry would cost again.
        ErrorCause::TooLong(_)
        | ErrorCause::Cut
        // No server is running: on this computer, that is certain.
        | ErrorCause::Refused
        | ErrorCause::Garbage
        | ErrorCause::TooMuch
        | ErrorCause::NoKey
        | ErrorCause::NotAllowed
        | ErrorCause::Agent(_)
        | ErrorCause::Panicked
        | ErrorCause::Cancelled => false,
    }
}

/// Parses `Retry-After`, a number of seconds or an HTTP date, to seconds from now.
pub fn parse_retry_after(value: &str, now: SystemTime) -> Option<f64> {
    let value = value.trim();
    if let Ok(secs) = value.parse::<f64>() {
        return (secs.is_finite() && secs >= 0.0).then_some(secs);
    }
    let then = http_date_secs(value)?;
    let now = now.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs_f64();
    Some((then - now).max(0.0))
}

/// Returns the delay in seconds in the body of a refusal: Gemini has no header for it, but a `RetryInfo` with a
/// `retryDelay` such as `"34s"` (google.rpc, in protobuf's JSON form of a duration).
pub fn retry_delay_secs(body: &str) -> Option<f64> {
    let body: Value = serde_json::from_str(body).ok()?;
    // Gemini's streams answer with an array of one element.
    let error = body.get("error").or_else(|| body.get(0)?.get("error"))?;
    let delay = error.get("details")?.as_array()?.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let secs: f64 = delay.strip_suffix('s')?.parse().ok()?;
    (secs.is_finite() && secs >= 0.0).then_some(secs)
}

/// Parses a date such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110) to seconds since 1970.
fn http_date_secs(date: &str) -> Option<f64> {
    let mut words = date.split_whitespace().skip(1);
    let day: u64 = words.next()?.parse().ok()?;
    let month_name = words.next()?;
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = 1 + MONTHS.iter().position(|name| *name == month_name)?;
    let year: u64 = words.next()?.parse().ok()?;
    let time = words.next()?;
    let stamp = format!("{year:04}-{month:02}-{day:02}T{time}Z");
    let then = humantime::parse_rfc3339(&stamp).ok()?;
    Some(then.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const POLICY: RetryPolicy =
        RetryPolicy { attempts: 4, first_delay_secs: 1.0, longest_delay_secs: 30.0, total_delay_secs: 60.0 };

    fn status(status: u16, retry_after_secs: Option<f64>) -> ErrorCause {
        ErrorCause::Status { status, retry_after_secs }
    }

    #[test]
    fn permanent_errors_are_never_retried() {
        for code in [400, 401, 403, 404, 422] {
            assert_eq!(
                POLICY.next_delay_secs(status(code, None), false, &mut Attempts::default(), (0.0, 0.5)),
                None,
                "{code}"
            );
        }
        for cause in
            [ErrorCause::Refused, ErrorCause::Garbage, ErrorCause::NoKey, ErrorCause::Panicked, ErrorCause::Cancelled]
        {
            assert_eq!(POLICY.next_delay_secs(cause, false, &mut Attempts::default(), (0.0, 0.5)), None, "{cause:?}");
        }
    }

    #[test]
    fn a_request_whose_answer_has_started_is_never_repeated() {
        checks_rule!("started-answers-are-not-repeated");
        for cause in [status(503, None), ErrorCause::Connect] {
            assert_eq!(POLICY.next_delay_secs(cause, true, &mut Attempts::default(), (0.0, 0.5)), None, "{cause:?}");
            assert!(POLICY.next_delay_secs(cause, false, &mut Attempts::default(), (0.0, 0.5)).is_some(), "{cause:?}");
        }
    }

    #[test]
    fn waits_grow_and_stop_after_four_attempts() {
        let mut tries = Attempts::default();
        let waits: Vec<_> =
            std::iter::from_fn(|| POLICY.next_delay_secs(status(503, None), false, &mut tries, (0.0, 1.0)))
                .take(10)
                .collect();
        assert_eq!(waits, [1.0, 2.0, 4.0]);
        assert_eq!(tries, Attempts { made: 4, waited_secs: 7.0 });
    }

    #[test]
    fn jitter_is_between_half_and_full_delay() {
        for jitter in [0.0, 0.3, 1.0, 7.0, -2.0] {
            let delay =
                POLICY.next_delay_secs(ErrorCause::Connect, false, &mut Attempts::default(), (0.0, jitter)).unwrap();
            assert!((0.5..=1.0).contains(&delay), "{delay}");
        }
    }

    #[test]
    fn retry_after_is_honoured_unless_it_is_too_long() {
        assert_eq!(
            POLICY.next_delay_secs(status(429, Some(7.0)), false, &mut Attempts::default(), (0.0, 0.0)),
            Some(7.0)
        );
        assert_eq!(
            POLICY.next_delay_secs(status(429, Some(3600.0)), false, &mut Attempts::default(), (0.0, 0.0)),
            None
        );
        assert_eq!(POLICY.next_delay_secs(status(429, None), false, &mut Attempts::default(), (9.0, 0.0)), Some(9.0));
        assert_eq!(POLICY.next_delay_secs(status(500, None), false, &mut Attempts::default(), (31.0, 0.0)), None);
        let mut tries = Attempts { made: 1, waited_secs: 50.0 };
        assert_eq!(
            POLICY.next_delay_secs(status(429, Some(20.0)), false, &mut tries, (0.0, 0.0)),
            None,
            "the total is capped"
        );
    }

    #[test]
    fn the_delay_in_the_body_of_a_refusal_is_parsed() {
        let of_gemini = r#"{"error": {"code": 429, "details": [{"@type": "type.googleapis.com/google.rpc.Help"},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]}}"#;
        let table = [
            (of_gemini.to_owned(), Some(34.5)),
            (format!("[{of_gemini}]"), Some(34.5)),
            (of_gemini.replace("34.5s", "soon"), None),
            (of_gemini.replace("34.5s", "-3s"), None),
            ("{\"error\": \"slow down\"}".to_owned(), None),
            ("slow down".to_owned(), None),
        ];
        for (body, wanted) in table {
            assert_eq!(retry_delay_secs(&body), wanted, "{body}");
        }
    }

    #[test]
    fn seconds_and_dates_are_parsed() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_767);
        let table = [
            ("2", Some(2.0)),
            (" 1.5 ", Some(1.5)),
            ("-1", None),
            ("NaN", None),
            ("soon", None),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(10.0)),
            ("Sat, 05 Nov 1994 08:49:37 GMT", Some(0.0)),
        ];
        for (value, wanted) in table {
            assert_eq!(parse_retry_after(value, now), wanted, "{value}");
        }
    }
}
