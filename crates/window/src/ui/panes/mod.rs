//! The panes of the window.

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
pub mod shelf;
pub mod story;

use pane::Pane;

/// Returns the self-contained panes that every window has.
pub fn added() -> Vec<Box<dyn Pane>> {
    vec![Box::new(blackboard::BlackboardPane::default()), Box::new(knowledge::KnowledgePane::default())]
}
