//! What can be seen in the window, each by itself: the room, files, texts, the graph with workflows, the log, what
//! agents have in common, and what is selected.

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

/// The panes that are added to every window, a line each.
pub fn added() -> Vec<Box<dyn Pane>> {
    vec![Box::new(blackboard::BlackboardPane::default()), Box::new(knowledge::KnowledgePane::default())]
}
