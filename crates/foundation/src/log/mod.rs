//! The event log: the kinds of events, their data, the log that systems write to, and the text that describes each
//! event.
//!
//! Every layer may write events; `store` takes the records at the end of each tick and saves them. An event is a struct
//! in a file of [`events`], with the sentence that describes it, and one line in the table there.

pub mod event;
mod event_log;
pub mod events;
pub mod narration;

pub use event::{EventDraft, EventJson, EventRecord};
pub use event_log::{EventLog, now_ms};
pub use events::{Event, EventData, EventKind, UnknownEvent, Word};
pub use narration::{AddedEvents, Names, Naming, Narration, Narrator};
