//! Questions to task files, and orders to change them: `SELECT`, `UPDATE`, `DELETE` and `INSERT`.
//!
//! A [`Query`](ast::Query) is read whole before anything is looked at; what is not understood is an error that says
//! where, and never means "all tasks". [`evaluate`] answers over files that are read already, [`execute`] says what
//! their texts are to be, [`show`] prints what was found.

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
