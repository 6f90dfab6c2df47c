//! What the panes of the studio keep between frames.

use std::sync::Arc;

use crate::base::Id;
use crate::ui::panes::editor::Editors;
use crate::ui::panes::event_log::EventLogPane;
use crate::ui::panes::explorer::Explorer;
use crate::ui::panes::graph::GraphPane;
use crate::ui::panes::inspector::Inspector;
use crate::ui::state::file_texts::Library;
use crate::view::recent::Recent;

/// The panes' own state, and what was read for them.
#[derive(Clone, Debug, Default)]
pub struct Studio {
    /// What has been read of files and of earlier runs.
    pub library: Library,
    /// The explorer.
    pub explorer: Explorer,
    /// Files that are open in tabs, with what was written into them and not saved.
    pub editors: Editors,
    /// The graph.
    pub graph: GraphPane,
    /// The event log.
    pub log: EventLogPane,
    /// An earlier run whose log is shown, and that log; that of the open room where absent.
    pub shown_run: Option<(Id, Arc<Recent>)>,
    /// The inspector.
    pub inspector: Inspector,
    /// The file that the inspector is about, where nothing in the room is selected.
    pub chosen_file: Option<String>,
    /// Files that are being given another path: the order, from where, and to where.
    pub renames: Vec<(Id, String, String)>,
    /// When the window was opened, in milliseconds since 1970: tells the names of its orders from those of others.
    pub born_ms: u64,
    /// Names given to orders so far: each is used once.
    pub orders_given: u64,
}
