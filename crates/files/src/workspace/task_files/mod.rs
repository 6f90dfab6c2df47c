//! Task files (`*.task.md`): lossless reading, checks, task-by-task changes, and queries.
//!
//! A [`TaskFile`] contains the whole text and the position of every part of every task in it. Every change replaces
//! pieces of the text, so everything else stays byte for byte the same. A task with an error is never changed; others
//! in its file can be.
//!
//! Reading order: [`model`] (the data), `lines`, `head`, `keys` and `parse` (parsing), `quoting` and `value` (parsing
//! and writing single values), `ids` and `relations` (ids, parents and dependencies), [`lint`] (checks), [`edit`] and
//! [`spacing`] (changes of the text), [`task_edit`] (a change of one task, described as data), [`mod@carry_over`]
//! (merging two changes), [`columns`] (the columns of boards), [`permission`] (changes that only a person may make),
//! [`query`].

pub mod carry_over;
pub mod columns;
pub mod edit;
mod head;
mod ids;
pub mod issue;
mod keys;
mod lines;
pub mod lint;
pub mod model;
mod parse;
pub mod permission;
mod quoting;
mod relations;
pub mod render;
pub mod spacing;
mod splice;
pub mod task_edit;
pub mod value;

pub mod query;

#[cfg(test)]
mod edit_tests;
#[cfg(test)]
mod parse_tests;

pub use carry_over::carry_over;
pub use columns::Column;
pub use model::{Priority, Status, Task, TaskFile};
pub use parse::parse;
