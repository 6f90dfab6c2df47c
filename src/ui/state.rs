//! What the window remembers between frames that is no part of the room: selection, what is open, toggles.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::Id;
use crate::view::camera::Camera;
use crate::view::pick::Thing;

/// The window's own state.
#[derive(Clone, Debug, Default)]
pub struct UiState {
    /// From where the room is seen.
    pub camera: Camera,
    /// What is selected.
    pub selected: BTreeSet<Thing>,
    /// What the pointer is over.
    pub hovered: Option<Thing>,
    /// The element whose overlay is open.
    pub open_element: Option<Id>,
    /// Texts that are being written, by the field they stand in; not yet part of the room.
    pub drafts: BTreeMap<String, String>,
    /// Whether the debug overlay is on.
    pub overlay: bool,
    /// Whether the conversation sidebar is open.
    pub sidebar: bool,
    /// The conversation that is read, by its session in the log; the newest where absent.
    pub open_talk: Option<Id>,
    /// Whether the keys are shown.
    pub help: bool,
    /// What is typed into the command palette, while it is open.
    pub palette: Option<String>,
    /// Whether the first-run hint was closed.
    pub hint_closed: bool,
    /// Seconds of real time since the window opened.
    pub now_secs: f64,
}
