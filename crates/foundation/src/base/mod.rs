//! Words that every room of the house shares: ids, problems, text, hashing. Knows no ECS and does no I/O.

pub mod backoff;
pub mod behaviour;
pub mod calendar;
pub mod globs;
pub mod hash;
pub mod ids;
pub mod job_control;
pub mod made_in_run;
pub mod numbered;
pub mod printable;
pub mod problem;
pub mod scope;
pub mod spelling;
pub mod text;
pub mod time_limit;
pub mod urgency;

pub use backoff::Backoff;
pub use behaviour::Behaviour;
pub use ids::{AgentKey, Author, ConversationKey, ElementKey, Id, RequestId, Seq, free_id, is_reserved};
pub use job_control::JobControl;
pub use made_in_run::{ActivationKey, MessageKey, RunTag};
pub use problem::{Problem, Severity};
pub use scope::{AllowScope, AnsweredIn};
pub use time_limit::{TimeLimit, TimeLimitError};
pub use urgency::Urgency;
