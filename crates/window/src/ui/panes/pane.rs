//! The interface of a pane, and the panes of a window. The window knows no pane by its type: it draws what is registered,
//! and passes commands, keys and results of jobs on.

use std::any::Any;
use std::fmt;

use egui::{Id as WidgetId, Pos2, Ui};
use serde_json::Value;

use crate::base::hash::content_hash;
use crate::ui::commands::PaneCommand;
use crate::ui::commands::file_targets::FileTargets;
use crate::ui::commands::job::JobResult;
use crate::ui::commands::table::CommandInfo;
use crate::ui::context::{DrawContext, ViewerContext};
use crate::ui::state::RoomView;
use crate::ui::state::dock::Tab;
use crate::ui::state::dock_place::{DockPlace, DockedPane};
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;

/// Clones a pane, for screenshots of the window. Every pane that is `Clone` does it.
pub trait ClonePane {
    /// Clones the pane.
    fn boxed_clone(&self) -> Box<dyn Pane>;
}

impl<T: Pane + Clone> ClonePane for T {
    fn boxed_clone(&self) -> Box<dyn Pane> {
        Box::new(self.clone())
    }
}

/// A pane, which owns its state. Only its name and its title are required, and that it can be cloned.
pub trait Pane: Any + Send + ClonePane {
    /// Returns the permanent id of the pane, which appears in saved layouts and in the ids of its commands.
    fn id(&self) -> &'static str;

    /// Returns the title of its tab.
    fn title(&self) -> &'static str;

    /// Returns where it stands before the person moves it. By default it has a tab only while it is open.
    fn place(&self) -> DockPlace {
        DockPlace::WHILE_OPEN
    }

    /// Returns what the window draws behind it.
    fn background(&self) -> PaneBackground {
        PaneBackground::Panel
    }

    /// Whether each of its tabs shows an item, such as a file.
    fn has_items(&self) -> bool {
        false
    }

    /// Returns the title of the tab of an item.
    fn item_title(&self, item: &str) -> String {
        item.to_owned()
    }

    /// Returns the mark after the title of the tab of an item.
    fn item_mark(&self, item: &str) -> &'static str {
        let _ = item;
        ""
    }

    /// Returns the command that closes the tab of an item; `None` if the tab is only to be closed.
    fn close_item(&self, item: &str) -> Option<Command> {
        let _ = item;
        None
    }

    /// Returns its commands, which appear in the menus, the palette, the list of keys and `workshop --help-keys` like
    /// all others.
    fn commands(&self) -> Vec<CommandInfo> {
        Vec::new()
    }

    /// Draws the pane and returns the resulting commands.
    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        let _ = (ui, cx);
        Vec::new()
    }

    /// Draws the tab of an item, or the pane if it has no items. Only panes that have items, that need another pane or that
    /// move what is drawn in the room implement it instead of [`Pane::show`].
    fn show_tab(&mut self, ui: &mut Ui, item: Option<&str>, frame: &mut PaneFrame<'_, '_>) -> Vec<Command> {
        let _ = item;
        self.show(ui, &frame.context())
    }

    /// Draws the pane in short, for another pane that shows it.
    fn show_in_short(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        let _ = (ui, cx);
        Vec::new()
    }

    /// Follows the room and files in every frame, even while the pane is not drawn.
    fn update(&mut self, cx: &ViewerContext<'_>) -> Vec<Command> {
        let _ = cx;
        Vec::new()
    }

    /// Executes one of the commands that only this pane understands. Returns those that concern more than the window.
    fn apply(&mut self, command: &PaneCommand, window: &mut PaneWindow<'_>) -> Vec<Command> {
        let _ = (command, window);
        Vec::new()
    }

    /// Receives the result of a background job that the pane started, by the job's name.
    fn finish(&mut self, job: &str, result: JobResult) {
        let _ = (job, result);
    }

    /// Whether the pane handles a shortcut of the window itself while the widget `focused` has the keyboard focus.
    fn takes_key(&self, focused: Option<WidgetId>, command: &str) -> bool {
        let _ = (focused, command);
        false
    }

    /// Returns the widget whose keyboard focus the pane shows in its own way.
    fn focus_widget(&self) -> Option<WidgetId> {
        None
    }

    /// Whether a dialog of the pane waits for an answer.
    fn is_asking(&self) -> bool {
        false
    }

    /// Whether the person is in the middle of an interaction with the pane, so that the view must not move.
    fn is_busy(&self) -> bool {
        false
    }

    /// Cancels a drag, which leaves everything where it was. Returns whether there was one.
    fn cancel_drag(&mut self) -> bool {
        false
    }

    /// Closes a field that is being edited, without its changes. Returns whether there was one.
    fn cancel_editing(&mut self) -> bool {
        false
    }

    /// Returns the files that the commands of the palette apply to; `None` if the pane lists no files.
    fn file_targets(&self, room: &RoomModel) -> Option<FileTargets> {
        let _ = room;
        None
    }

    /// Returns the folder into which files of the computer are dropped at this point; `None` if the pane takes none there.
    fn drop_folder(&self, pointer: Pos2) -> Option<String> {
        let _ = pointer;
        None
    }

    /// Returns the paths of the files with unsaved changes.
    fn unsaved(&self) -> Vec<String> {
        Vec::new()
    }

    /// Whether a file is being saved.
    fn is_saving(&self) -> bool {
        false
    }

    /// Follows a file to its new path.
    fn rename_file(&mut self, from: &str, to: &str) {
        let _ = (from, to);
    }

    /// Returns what is saved about the pane with the layout of the window; `None` if nothing is.
    fn saved(&self) -> Option<Value> {
        None
    }

    /// Returns a number that changes whenever [`Pane::saved`] does. Panes that save much compute it in a cheaper way, because
    /// it is compared in every frame.
    fn saved_mark(&self) -> u64 {
        self.saved().map_or(0, |saved| content_hash(saved.to_string().as_bytes()))
    }

    /// Restores what was saved. Returns whether it was valid.
    fn restore(&mut self, saved: &Value) -> bool {
        let _ = saved;
        true
    }

    /// Forgets what belongs to the previous room, because another one is open.
    fn forget_room(&mut self) {}

    /// Forgets what belongs to the previous workspace, because another one is open.
    fn forget_workspace(&mut self) {}
}

/// What the window draws behind a pane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PaneBackground {
    /// The colour of panels, with a margin.
    Panel,
    /// The colour of panels, up to the edges.
    Edges,
    /// Nothing: the pane fills itself.
    Nothing,
}

/// What a frame lends to the pane that is drawn.
pub struct PaneFrame<'a, 'f> {
    /// The room. Only things that are being dragged are moved in it.
    pub room: &'f mut RoomModel,
    /// The view of the room, which counts from the next frame on.
    pub view: &'f mut RoomView,
    /// Everything else that panes are drawn from.
    pub draw: DrawContext<'a>,
    /// The other panes.
    pub others: &'f mut Panes,
}

impl PaneFrame<'_, '_> {
    /// Returns the context of a pane that only reads.
    pub fn context(&self) -> ViewerContext<'_> {
        self.draw.at(self.room)
    }
}

/// What a command of a pane may read and change.
pub struct PaneWindow<'a> {
    /// The room.
    pub room: &'a RoomModel,
    /// The state of the window.
    pub ui: &'a mut UiState,
}

/// The panes of a window, in the order in which they were added.
pub struct Panes(Vec<Box<dyn Pane>>);

impl Clone for Panes {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|pane| pane.boxed_clone()).collect())
    }
}

impl fmt::Debug for Panes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|pane| pane.id())).finish()
    }
}

impl Panes {
    /// The window with these panes.
    pub fn of(panes: Vec<Box<dyn Pane>>) -> Self {
        Self(panes)
    }

    /// Adds a pane, replacing one with the same id.
    pub fn add(&mut self, pane: Box<dyn Pane>) {
        self.0.retain(|other| other.id() != pane.id());
        self.0.push(pane);
    }

    /// Returns all panes.
    pub fn iter(&self) -> impl Iterator<Item = &(dyn Pane + 'static)> {
        self.0.iter().map(|pane| &**pane)
    }

    /// Returns all panes, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut (dyn Pane + 'static)> {
        self.0.iter_mut().map(|pane| &mut **pane)
    }

    /// Returns the pane with this id.
    pub fn find(&self, id: &str) -> Option<&(dyn Pane + 'static)> {
        self.iter().find(|pane| pane.id() == id)
    }

    /// Returns the pane with this id, to change it.
    pub fn find_mut(&mut self, id: &str) -> Option<&mut (dyn Pane + 'static)> {
        self.iter_mut().find(|pane| pane.id() == id)
    }

    /// Returns the pane of this type.
    pub fn get<T: Pane>(&self) -> Option<&T> {
        self.iter().find_map(|pane| {
            let pane: &dyn Any = pane;
            pane.downcast_ref()
        })
    }

    /// Returns the pane of this type, to change it.
    pub fn get_mut<T: Pane>(&mut self) -> Option<&mut T> {
        self.iter_mut().find_map(|pane| {
            let pane: &mut dyn Any = pane;
            pane.downcast_mut()
        })
    }

    /// Calls `act` with the pane with this id and all others. Returns `None` if there is no such pane.
    pub fn apart<T>(&mut self, id: &str, act: impl FnOnce(&mut (dyn Pane + 'static), &mut Self) -> T) -> Option<T> {
        let index = self.0.iter().position(|pane| pane.id() == id)?;
        let mut pane = self.0.remove(index);
        let result = act(&mut *pane, self);
        self.0.insert(index.min(self.0.len()), pane);
        Some(result)
    }

    /// Calls `act` with the pane of this type and all others. Returns `None` if there is no such pane.
    pub fn with_others<P: Pane, T>(&mut self, act: impl FnOnce(&mut P, &mut Self) -> T) -> Option<T> {
        let id = self.get::<P>()?.id();
        let result = self.apart(id, |pane, others| {
            let pane: &mut dyn Any = pane;
            pane.downcast_mut::<P>().map(|pane| act(pane, others))
        });
        result.flatten()
    }

    /// Returns the title of a tab; the name of its pane if there is no such pane.
    pub fn title(&self, tab: &Tab) -> String {
        match (self.find(tab.pane()), tab.item()) {
            (Some(pane), Some(item)) => pane.item_title(item),
            (Some(pane), None) => pane.title().to_owned(),
            (None, _) => tab.pane().to_owned(),
        }
    }

    /// Returns where each pane stands before the person moves it.
    pub fn docked(&self) -> impl Iterator<Item = DockedPane> {
        self.iter().map(|pane| DockedPane { id: pane.id(), place: pane.place() })
    }

    /// Draws a pane in short; nothing if there is no such pane.
    pub fn show_in_short(&mut self, id: &str, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        self.find_mut(id).map(|pane| pane.show_in_short(ui, cx)).unwrap_or_default()
    }

    /// Passes a command on to its pane. Returns the resulting commands that concern more than the window.
    pub fn apply(&mut self, command: &PaneCommand, window: &mut PaneWindow<'_>) -> Vec<Command> {
        self.find_mut(command.pane()).map(|pane| pane.apply(command, window)).unwrap_or_default()
    }

    /// Returns the paths of the files with unsaved changes.
    pub fn unsaved(&self) -> Vec<String> {
        self.iter().flat_map(|pane| pane.unsaved()).collect()
    }

    /// Whether a file has unsaved changes.
    pub fn is_unsaved(&self, path: &str) -> bool {
        self.unsaved().iter().any(|unsaved| unsaved == path)
    }
}
