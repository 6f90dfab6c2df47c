//! What happens, as records: the kinds there are, what each says, the log that systems write to, and the words in which
//! a person reads it.
//!
//! Every floor may write here; `store` takes the records at the end of each tick and keeps them. An event is a struct
//! in a file of [`events`] with the words it is told in, and one line of the table there.

pub mod event;
mod event_log;
pub mod events;
pub mod narration;

pub use event::{EventDraft, EventJson, EventRecord};
pub use event_log::{EventLog, now_ms};
pub use events::{Event, EventData, EventKind, UnknownEvent, Word};
pub use narration::{AddedEvents, Names, Naming, Narration, Narrator};
