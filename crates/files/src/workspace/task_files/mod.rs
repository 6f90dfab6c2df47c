//! Task files (`*.task.md`): read without loss, checked, changed task by task, and asked questions.
//!
//! A [`TaskFile`] keeps the whole text and says of every task where in it each part stands. Every change is made of
//! pieces of text put in the place of others, so that whatever no change is about stays byte for byte as it was. A task
//! with an error is never written to; the others in its file are.
//!
//! Reading order: [`model`] (what a task is), `lines`, `head`, `keys` and `parse` (from text to it), `quoting` and
//! `value` (single values, both ways), `ids` and `relations` (what tasks are to each other), [`lint`], [`edit`] and
//! [`spacing`] (from it to text), [`mod@carry_over`] (one change and another joined), [`columns`] (as boards show them),
//! [`permission`] (what of it only a person changes), [`query`].

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
