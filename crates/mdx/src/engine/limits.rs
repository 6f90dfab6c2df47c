//! The limits of a tool call.

use std::time::Duration;

/// The limits of one call. A call that reaches one ends with an error that names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EngineLimits {
    /// How long the code may run. Time that it waits for the host or for a timer does not count.
    pub run: Duration,
    /// How long it may wait, for the host (a person may be asked) and for timers, all of it together.
    pub wait: Duration,
    /// How much memory its values may take, in bytes.
    pub memory_bytes: usize,
    /// How deep its functions may call each other, in bytes of the engine's stack.
    pub stack_bytes: usize,
    /// How long its result may be, in bytes of UTF-8; the rest is cut and told.
    pub output_bytes: usize,
    /// How much it may log, in bytes of UTF-8; the rest is dropped and told.
    pub log_bytes: usize,
    /// How many requests it may make of the host in all.
    pub host_requests: usize,
    /// How long its code may be, in bytes of UTF-8.
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

/// How many requests may be untaken at once.
pub(super) const REQUESTS_AT_ONCE: usize = 64;

/// How many lines that a call logged may be unread while it runs. Later ones are told with its outcome.
pub(super) const LINES_AT_ONCE: usize = 64;

/// How many requests a module may make each time that it wakes up in the background.
pub(super) const REQUESTS_A_WAKE: usize = 16;

/// How many orders of a module wait at most.
pub(super) const ORDERS_AT_ONCE: usize = 16;

/// How long after its limit a call that does not stop by itself is given up.
pub(super) const GRACE: Duration = Duration::from_millis(75);
