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
mod registered;
pub mod shelf;
pub mod story;

use pane::Pane;
pub use registered::register;
use registered::registered;

/// Returns the self-contained panes that every window has, built-in ones first.
pub fn added() -> Vec<Box<dyn Pane>> {
    let built_in: [Box<dyn Pane>; 2] =
        [Box::new(blackboard::BlackboardPane::default()), Box::new(knowledge::KnowledgePane::default())];
    built_in.into_iter().chain(registered()).collect()
}
