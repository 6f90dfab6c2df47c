//! The only module that knows tokio, HTTP and vendors: takes questions out, brings answers in.

pub mod anthropic;
pub mod assemble;
pub mod budget;
pub mod failure;
pub mod gemini;
pub mod guard;
pub mod keys;
pub mod ledger;
#[cfg(test)]
mod ledger_tests;
pub mod ollama;
pub mod openai;
mod outside;
pub mod prices;
pub mod provider;
pub mod retry;
pub mod settings;
pub mod vendor;
pub mod worker;

use bevy::app::App;

/// Adds this floor to the room.
pub fn plugin(_app: &mut App) {}
