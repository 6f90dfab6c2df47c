//! The panes of the window. [`standard`] lists those that every window has; each is one value with its state, and is
//! registered by its [`Pane`](pane::Pane) alone.

pub mod blackboard;
pub mod canvas;
pub mod conversations;
pub mod diff;
pub mod editor;
pub mod event_log;
pub mod explorer;
pub mod graph;
pub mod inspector;
pub mod knowledge;
pub mod overlays;
pub mod pane;
mod registered;
pub mod room;
pub mod shelf;
pub mod story;
mod texts;

pub use registered::register;

use pane::{Pane, Panes};

use crate::ui::state::dock::Dock;

/// Returns the panes that every window has, built-in ones first. Those that share an area of the window stand there in
/// this order.
pub fn standard() -> Vec<Box<dyn Pane>> {
    let built_in: Vec<Box<dyn Pane>> = vec![
        Box::new(room::RoomPane::default()),
        Box::new(graph::GraphPane::default()),
        Box::new(explorer::Explorer::default()),
        Box::new(shelf::ShelfPane::default()),
        Box::new(inspector::Inspector::default()),
        Box::new(conversations::ConversationsPane::default()),
        Box::new(event_log::EventLogPane::default()),
        Box::new(editor::Editors::default()),
        Box::new(blackboard::BlackboardPane::default()),
        Box::new(knowledge::KnowledgePane::default()),
    ];
    built_in.into_iter().chain(registered::registered()).collect()
}

impl Default for Panes {
    fn default() -> Self {
        Self::of(standard())
    }
}

impl Default for Dock {
    /// The layout of the panes that every window has.
    fn default() -> Self {
        Self::of(Panes::default().docked().collect())
    }
}
