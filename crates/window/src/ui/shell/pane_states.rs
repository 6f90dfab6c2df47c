//! The states of the panes and of parts of the shell between frames.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::Id;
use crate::ui::panes::canvas::Canvas;
use crate::ui::panes::conversations::ConversationsPane;
use crate::ui::panes::editor::Editors;
use crate::ui::panes::event_log::EventLogPane;
use crate::ui::panes::explorer::Explorer;
use crate::ui::panes::graph::GraphPane;
use crate::ui::panes::inspector::Inspector;
use crate::ui::panes::overlays::Overlays;
use crate::ui::panes::pane::AddedPanes;
use crate::ui::panes::shelf::ShelfPane;
use crate::ui::panes::story::StoryPane;
use crate::ui::shell::dialogs::Dialogs;
use crate::ui::shell::first_steps::FirstSteps;
use crate::ui::shell::palette::Palette;
use crate::ui::shell::provider::ProviderChoice;
use crate::ui::shell::run_bar::RunBar;
use crate::ui::shell::settings::SettingsPanel;
use crate::view::recent_events::Recent;

/// The state of every pane.
#[derive(Clone, Debug, Default)]
pub struct PaneStates {
    /// The room.
    pub canvas: Canvas,
    /// The shelf.
    pub shelf: ShelfPane,
    /// The explorer.
    pub explorer: Explorer,
    /// The open files with their unsaved changes.
    pub editors: Editors,
    /// The graph.
    pub graph: GraphPane,
    /// The story strip.
    pub story: StoryPane,
    /// The event log.
    pub log: EventLogPane,
    /// An earlier run whose log is shown, with that log; absent for the open room.
    pub shown_run: Option<(Id, Arc<Recent>)>,
    /// The inspector.
    pub inspector: Inspector,
    /// The conversations.
    pub conversations: ConversationsPane,
    /// The open element.
    pub overlays: Overlays,
    /// The added panes.
    pub added: AddedPanes,
    /// The command palette.
    pub palette: Palette,
    /// The bar below the room.
    pub run_bar: RunBar,
    /// The settings.
    pub settings: SettingsPanel,
    /// The choice of a provider, in the settings and in the top bar.
    pub provider: ProviderChoice,
    /// The modal dialogs.
    pub dialogs: Dialogs,
    /// The completed first steps.
    pub first_steps: FirstSteps,
}

impl PaneStates {
    /// Returns the paths of files with unsaved changes.
    pub fn unsaved(&self) -> BTreeSet<String> {
        self.editors.unsaved().into_iter().collect()
    }

    /// Forgets everything about the previous room, because another one is open.
    pub fn forget_room(&mut self) {
        self.shown_run = None;
        self.log.shown_run = None;
        self.story = StoryPane::default();
        self.conversations = ConversationsPane::default();
        self.overlays = Overlays::default();
        self.inspector.forget_room();
        self.canvas.forget_room();
        self.settings.forget_room();
        self.run_bar = RunBar::default();
        self.provider = ProviderChoice::default();
        self.dialogs.clear();
    }
}
