//! What happens, as records: the kinds there are, and the log that systems write to.
//!
//! Every floor may write here; `store` takes the records at the end of each tick and keeps them.

pub mod event;
mod event_log;

pub use event::{EventDraft, EventKind, EventRecord};
pub use event_log::{EventLog, now_ms};
