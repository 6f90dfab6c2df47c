//! Basic types used everywhere: ids, problems, text, hashing. No ECS and no I/O.

#[macro_use]
pub mod rule_marks;

pub mod allow_scope;
pub mod backoff;
pub mod behaviour;
pub mod calendar;
pub mod common_parts;
pub mod globs;
pub mod hash;
pub mod ids;
pub mod job_control;
pub mod paths;
pub mod problem;
pub mod run_ids;
pub mod secret_words;
pub mod settings;
pub mod terminal_text;
pub mod text;
pub mod text_normalization;
pub mod time_limit;
pub mod unique_names;
pub mod urgency;
pub mod visible_text;

pub use allow_scope::{AllowScope, AnswerPlace};
pub use backoff::Backoff;
pub use behaviour::Behaviour;
pub use ids::{AgentKey, Author, ConversationKey, ElementKey, Id, RequestId, Seq, free_id, is_reserved};
pub use job_control::JobControl;
pub use problem::{Problem, Severity};
pub use run_ids::{ActivationKey, MessageKey, RunTag};
pub use time_limit::{TimeLimit, TimeLimitError};
pub use urgency::Urgency;
