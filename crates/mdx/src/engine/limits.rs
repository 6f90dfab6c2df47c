//! The limits of a tool call.

use std::time::Duration;

/// The limits of one call. A call that reaches one ends with an error that names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EngineLimits {
    /// How long the code may run. Waiting for the host or for a timer does not count.
    pub run: Duration,
    /// How long it may wait for the host (a person may be asked) and for timers in total.
    pub wait: Duration,
    /// The maximum memory of its values in bytes.
    pub memory_bytes: usize,
    /// The maximum depth of function calls, in bytes of the engine's stack.
    pub stack_bytes: usize,
    /// The maximum size of its result in bytes of UTF-8; the rest is cut off, with a note.
    pub output_bytes: usize,
    /// The maximum size of its log in bytes of UTF-8; the rest is dropped, with a note.
    pub log_bytes: usize,
    /// The maximum number of requests to the host.
    pub host_requests: usize,
    /// The maximum size of its code in bytes of UTF-8.
    pub code_bytes: usize,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self {
            run: Duration::from_secs(5),
            wait: Duration::from_secs(10 * 60),
            memory_bytes: 32 << 20,
            stack_bytes: 512 << 10,
            output_bytes: 256 << 10,
            log_bytes: 64 << 10,
            host_requests: 256,
            code_bytes: 128 << 10,
        }
    }
}

/// The maximum number of requests that were not received yet.
pub(super) const REQUESTS_AT_ONCE: usize = 64;

/// The maximum number of unread log lines while a call runs. Later ones are only in its outcome.
pub(super) const LINES_AT_ONCE: usize = 64;

/// The maximum number of requests that a module may make each time it wakes up in the background.
pub(super) const REQUESTS_A_WAKE: usize = 16;

/// The maximum number of a module's pending orders.
pub(super) const ORDERS_AT_ONCE: usize = 16;

/// How long after its limit a call that does not stop by itself is abandoned.
pub(super) const GRACE: Duration = Duration::from_millis(75);
