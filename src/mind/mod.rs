//! From the world to a prompt, from a reply to intents: what an agent is asked, and what becomes of its answer.

pub mod question;

pub use question::{
    CallKind, CancelRequest, Completion, FailureKind, Finish, ModelFailure, ModelReply, ModelRequest, Prompt,
    PromptMessage, PromptOrigin, PromptPart, Role, ToolCall, Usage,
};

use bevy::app::App;

/// Adds this floor to the room.
pub fn plugin(_app: &mut App) {}
