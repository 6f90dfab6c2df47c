//! The room with no model in it: states, queues, walking, noticing and meeting. Asks the mind to think
//! through [`ThinkDue`] and hears back through [`ThinkDone`]; knows nothing of prompts, models or files.

pub mod activity;
pub mod body;
pub mod conversation;
pub mod state;

pub use activity::{
    ActivityId, CompactionWanted, Explain, NewsHeard, TaskCommand, Think, ThinkDone, ThinkDue, ThinkOutcome,
};
pub use body::{AgentState, Position};
pub use conversation::{
    Conversation, ConversationCommand, ConversationKind, ConversationOver, Conversations, Utterance,
};

use bevy::app::App;

/// Adds this floor to the room.
pub fn plugin(_app: &mut App) {}
