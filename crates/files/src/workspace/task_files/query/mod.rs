//! Queries on task files: `SELECT`, `UPDATE`, `DELETE` and `INSERT`.
//!
//! A [`Query`] is parsed completely before anything is evaluated; an invalid query is an error with its position, and
//! never means "all tasks". [`evaluate`] finds tasks in parsed files, [`execute`] computes their new texts, and
//! [`show`] prints results.

pub mod ast;
mod conditions;
pub mod evaluate;
pub mod execute;
mod input;
mod like;
mod parse;
mod set;
pub mod show;
mod words;

#[cfg(test)]
mod query_tests;

pub use ast::Query;
pub use input::QueryError;
pub use parse::parse;
