//! The table of commands: one line for each, from which the keys, the menus, the palette, the keys dialog, tooltips and
//! `workshop --help-keys` are made.

use std::sync::LazyLock;

use bevy::math::Vec2;
use egui::{Key, KeyboardShortcut, Modifiers};

use super::{Command, FilesCommand, RoomAct, WindowCommand, create};
use crate::agent::AgentCommand;
use crate::base::{Behaviour, Id};
use crate::schedule::Speed;
use crate::simulation::{ConversationCommand, State};
use crate::ui::UiState;
use crate::ui::state::dock::Tab;
use crate::ui::state::{Dialog, Purpose};
use crate::view::model::{AgentView, RoomModel};
use crate::view::pick::Thing;

/// Zooming by one press of a key.
const ZOOM_STEP: f32 = 1.25;
/// Elements move so far by one press of an arrow.
const NUDGE_UNITS: f32 = 10.0;

/// Where the keys of a command work.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KeyContext {
    /// Everywhere.
    Everywhere,
    /// Unless a text is being written.
    NotWriting,
    /// In the room: unless another widget has the keyboard.
    Room,
    /// In the list of files.
    Files,
    /// In a file that is open.
    Editor,
    /// Over the graph.
    Graph,
}

impl KeyContext {
    /// As people read of it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Everywhere => "everywhere",
            Self::NotWriting => "unless you write",
            Self::Room => "in the room",
            Self::Files => "in the list of files",
            Self::Editor => "in an open file",
            Self::Graph => "over the graph",
        }
    }
}

/// A menu of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Menu {
    /// That of the workspace, in the bar at the top.
    Workspace,
    /// The list of workspaces to open, in the menu of the workspace.
    OpenWorkspace,
    /// That of the scene.
    Scene,
    /// The list of panes in the menu of the workspace.
    Panes,
    /// That of an agent, above what can be done with every thing.
    Agent,
    /// What an agent does while it has nothing to do, in its menu.
    WhenIdle,
    /// That of an element, above what can be done with every thing.
    Element,
    /// That of a thing in the room.
    Thing,
    /// That of a relationship.
    Rope,
    /// That of the floor.
    Floor,
}

/// How what a command did is taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undone {
    /// By "Undo".
    ByUndo,
    /// By the same command once more, or by its opposite.
    ByItsOpposite,
    /// Nothing has to be: it changes only what is seen.
    NothingToUndo,
    /// It cannot be; it is asked about first, or loses nothing.
    CannotBe,
}

impl Undone {
    /// As people read of it.
    pub fn words(self) -> &'static str {
        match self {
            Self::ByUndo => "by Undo",
            Self::ByItsOpposite => "by its opposite",
            Self::NothingToUndo => "nothing to undo",
            Self::CannotBe => "cannot be undone",
        }
    }
}

/// What tells whether a command can be given, and what it comes to.
#[derive(Clone, Copy)]
pub struct CommandContext<'a> {
    /// The room as it is now.
    pub room: &'a RoomModel,
    /// What is selected and open.
    pub ui: &'a UiState,
    /// The place of the room that a menu was opened on.
    pub at: Option<Vec2>,
}

/// Whether a command can be given now, or why not.
pub type Applies = fn(&CommandContext<'_>) -> Result<(), &'static str>;

/// One command.
#[derive(Clone, Copy, Debug)]
pub struct CommandInfo {
    /// Names it for ever: `room.pause`.
    pub id: &'static str,
    /// What it does, for people.
    pub name: &'static str,
    /// More about it, for tooltips; empty where the name says it all.
    pub about: &'static str,
    /// The keys that do it; the first is the one that menus show.
    pub keys: &'static [KeyboardShortcut],
    /// Where these work.
    pub context: KeyContext,
    /// The menus that have it, and what it is called in each.
    pub menus: &'static [(Menu, &'static str)],
    /// Whether the palette lists it.
    pub is_in_palette: bool,
    /// Whether it can be given now.
    pub applies: Applies,
    /// Whether what it chooses holds already, for one of several that exclude each other.
    pub holds: fn(&CommandContext<'_>) -> Option<bool>,
    /// How it is taken back.
    pub undone: Undone,
    /// What it comes to.
    pub make: fn(&CommandContext<'_>) -> Vec<Command>,
}

impl CommandInfo {
    /// A command that changes only what is seen, without keys and menus.
    pub const fn new(id: &'static str, name: &'static str, make: fn(&CommandContext<'_>) -> Vec<Command>) -> Self {
        Self {
            id,
            name,
            about: "",
            keys: &[],
            context: KeyContext::NotWriting,
            menus: &[],
            is_in_palette: true,
            applies: always,
            holds: |_| None,
            undone: Undone::NothingToUndo,
            make,
        }
    }

    /// With these keys, which work there.
    #[must_use]
    pub const fn keys(mut self, context: KeyContext, keys: &'static [KeyboardShortcut]) -> Self {
        (self.context, self.keys) = (context, keys);
        self
    }

    /// In these menus.
    #[must_use]
    pub const fn menus(mut self, menus: &'static [(Menu, &'static str)]) -> Self {
        self.menus = menus;
        self
    }

    /// Taken back like this.
    #[must_use]
    pub const fn undone(mut self, undone: Undone) -> Self {
        self.undone = undone;
        self
    }

    /// Only where this allows it.
    #[must_use]
    pub const fn only(mut self, applies: Applies) -> Self {
        self.applies = applies;
        self
    }

    /// One of several that exclude each other: whether it is the one that holds.
    #[must_use]
    pub const fn holds(mut self, holds: fn(&CommandContext<'_>) -> Option<bool>) -> Self {
        self.holds = holds;
        self
    }

    /// With more to say about it.
    #[must_use]
    pub const fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }

    /// Not in the palette: it is of use only where one is.
    #[must_use]
    pub const fn not_in_palette(mut self) -> Self {
        self.is_in_palette = false;
        self
    }

    /// What it comes to now; nothing where it does not apply.
    pub fn run(&self, cx: &CommandContext<'_>) -> Vec<Command> {
        if (self.applies)(cx).is_ok() { (self.make)(cx) } else { Vec::new() }
    }

    /// What it is called in a menu, if that has it.
    pub fn in_menu(&self, menu: Menu) -> Option<&'static str> {
        self.menus.iter().find(|(own, _)| *own == menu).map(|(_, label)| *label)
    }
}

/// Every command: those of the house, and those of panes that were added.
#[derive(Clone, Debug)]
pub struct CommandTable(Vec<CommandInfo>);

impl Default for CommandTable {
    fn default() -> Self {
        Self(COMMANDS.to_vec())
    }
}

impl CommandTable {
    /// The commands of the house.
    pub fn standard() -> &'static Self {
        static STANDARD: LazyLock<CommandTable> = LazyLock::new(CommandTable::default);
        &STANDARD
    }

    /// Adds commands.
    pub fn add(&mut self, commands: impl IntoIterator<Item = CommandInfo>) {
        self.0.extend(commands);
    }

    /// All of them, in order.
    pub fn all(&self) -> &[CommandInfo] {
        &self.0
    }

    /// The command of this id.
    pub fn find(&self, id: &str) -> Option<&CommandInfo> {
        self.0.iter().find(|command| command.id == id)
    }

    /// The commands of a menu, in order, with what each is called there.
    pub fn in_menu(&self, menu: Menu) -> impl Iterator<Item = (&CommandInfo, &'static str)> {
        self.0.iter().filter_map(move |command| Some((command, command.in_menu(menu)?)))
    }
}

fn always(_: &CommandContext<'_>) -> Result<(), &'static str> {
    Ok(())
}

fn something_selected(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.ui.selection.things().is_empty() { Err("Select something in the room first") } else { Ok(()) }
}

fn something_copied(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.ui.transfer.copied.is_empty() { Err("Copy something in the room first") } else { Ok(()) }
}

fn elements_selected(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if elements(cx).is_empty() { Err("Select an element first") } else { Ok(()) }
}

fn agents<'a>(cx: &CommandContext<'a>) -> impl Iterator<Item = &'a AgentView> {
    let CommandContext { room, ui, .. } = *cx;
    ui.selection.things().iter().filter_map(|thing| room.agent(thing.agent()?))
}

fn going_agent(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    match agents(cx).next() {
        None => Err("Select an agent first"),
        Some(_) if agents(cx).all(|agent| agent.state == State::Paused) => Err("It is paused already"),
        Some(_) => Ok(()),
    }
}

fn paused_agent(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if agents(cx).any(|agent| agent.state == State::Paused) { Ok(()) } else { Err("It is not paused") }
}

fn agent_selected(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if agents(cx).next().is_some() { Ok(()) } else { Err("Select an agent first") }
}

/// The same for every agent that is selected.
fn for_agents(
    cx: &CommandContext<'_>,
    act: impl Fn(&AgentView) -> (AgentCommand, Option<AgentCommand>),
) -> Vec<Command> {
    let act = |agent: &AgentView| {
        let (act, back) = act(agent);
        (RoomAct::Agent(act), back.map(RoomAct::Agent))
    };
    vec![Command::Acts(agents(cx).map(act).collect())]
}

fn behave(cx: &CommandContext<'_>, behaviour: Behaviour) -> Vec<Command> {
    for_agents(cx, |agent| {
        let set = |behaviour| AgentCommand::SetBehaviour { agent: agent.id.clone(), behaviour };
        (set(behaviour), agent.detail.as_ref().map(|detail| set(detail.behaviour)))
    })
}

fn behaves(cx: &CommandContext<'_>, behaviour: Behaviour) -> Option<bool> {
    Some(agents(cx).all(|agent| agent.detail.as_ref().is_some_and(|detail| detail.behaviour == behaviour)))
}

fn deletable(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.ui.selection.rope().is_some() { Ok(()) } else { something_selected(cx) }
}

fn one_selected(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.ui.selection.rope().is_some() || cx.ui.selection.things().len() == 1 {
        Ok(())
    } else {
        Err("Select one thing in the room first")
    }
}

fn a_file_in_front(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.ui.dock.front_file().is_some() { Ok(()) } else { Err("No file is in front") }
}

fn selected(cx: &CommandContext<'_>) -> Vec<Thing> {
    cx.ui.selection.things().iter().cloned().collect()
}

fn elements(cx: &CommandContext<'_>) -> Vec<Id> {
    cx.ui.selection.things().iter().filter_map(Thing::element).cloned().collect()
}

fn window(command: WindowCommand) -> Vec<Command> {
    vec![Command::Window(command)]
}

fn nudge(cx: &CommandContext<'_>, towards: Vec2) -> Vec<Command> {
    vec![Command::Nudge(elements(cx), NUDGE_UNITS * towards)]
}

fn delete(cx: &CommandContext<'_>) -> Vec<Command> {
    match cx.ui.selection.rope() {
        Some(rope) if cx.ui.selection.things().is_empty() => {
            vec![create::end_relationship(rope.clone()), WindowCommand::Select(Vec::new()).into()]
        }
        _ => vec![Command::Delete(selected(cx))],
    }
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn ctrl_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

const fn shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::SHIFT, key)
}

const fn of(id: &'static str, name: &'static str, make: fn(&CommandContext<'_>) -> Vec<Command>) -> CommandInfo {
    CommandInfo::new(id, name, make)
}

/// A command of a pane that acts itself while it has the keyboard; listed so that its keys are told and kept apart.
const fn of_pane(
    id: &'static str,
    name: &'static str,
    context: KeyContext,
    keys: &'static [KeyboardShortcut],
) -> CommandInfo {
    of(id, name, |_| Vec::new()).keys(context, keys).not_in_palette()
}

/// The commands of the house. Keys with more modifiers stand before those with fewer.
pub static COMMANDS: &[CommandInfo] = &[
    of("time.pause", "Pause or resume the room", |cx| vec![Command::SetPaused(!cx.room.paused)])
        .keys(KeyContext::Room, &[plain(Key::Space)])
        .undone(Undone::ByItsOpposite),
    of("time.speed_1", "Speed 1×", |_| vec![Command::SetSpeed(Speed::Times(1))])
        .keys(KeyContext::NotWriting, &[plain(Key::Num1)])
        .undone(Undone::ByItsOpposite),
    of("time.speed_4", "Speed 4×", |_| vec![Command::SetSpeed(Speed::Times(4))])
        .keys(KeyContext::NotWriting, &[plain(Key::Num2)])
        .undone(Undone::ByItsOpposite),
    of("time.speed_16", "Speed 16×", |_| vec![Command::SetSpeed(Speed::Times(16))])
        .keys(KeyContext::NotWriting, &[plain(Key::Num3)])
        .undone(Undone::ByItsOpposite),
    of("time.speed_max", "As fast as possible", |_| vec![Command::SetSpeed(Speed::Max)])
        .keys(KeyContext::NotWriting, &[plain(Key::Num4)])
        .undone(Undone::ByItsOpposite),
    of("room.zoom_in", "Zoom in", |_| window(WindowCommand::Zoom(ZOOM_STEP)))
        .keys(KeyContext::NotWriting, &[plain(Key::Plus), plain(Key::Equals)]),
    of("room.zoom_out", "Zoom out", |_| window(WindowCommand::Zoom(1.0 / ZOOM_STEP)))
        .keys(KeyContext::NotWriting, &[plain(Key::Minus)]),
    of("room.open", "Open what is selected", |_| window(WindowCommand::OpenSelected))
        .keys(KeyContext::Room, &[plain(Key::Enter)])
        .menus(&[(Menu::Element, "Open"), (Menu::Rope, "Rename")])
        .only(one_selected),
    of("agent.pause", "Pause the agent", |cx| {
        for_agents(cx, |agent| (AgentCommand::Pause { agent: agent.id.clone() }, None))
    })
    .menus(&[(Menu::Agent, "Pause")])
    .only(going_agent)
    .undone(Undone::ByItsOpposite),
    of("agent.resume", "Resume the agent", |cx| {
        for_agents(cx, |agent| (AgentCommand::Resume { agent: agent.id.clone() }, None))
    })
    .menus(&[(Menu::Agent, "Resume")])
    .only(paused_agent)
    .undone(Undone::ByItsOpposite),
    of("agent.stay", "When idle: stay in place", |cx| behave(cx, Behaviour::Stationary))
        .menus(&[(Menu::WhenIdle, "Stay in place")])
        .only(agent_selected)
        .holds(|cx| behaves(cx, Behaviour::Stationary))
        .undone(Undone::ByUndo),
    of("agent.wander", "When idle: wander about", |cx| behave(cx, Behaviour::Wander))
        .menus(&[(Menu::WhenIdle, "Wander about")])
        .only(agent_selected)
        .holds(|cx| behaves(cx, Behaviour::Wander))
        .undone(Undone::ByUndo),
    of("agent.patrol", "When idle: patrol", |cx| behave(cx, Behaviour::Patrol))
        .menus(&[(Menu::WhenIdle, "Patrol")])
        .only(agent_selected)
        .holds(|cx| behaves(cx, Behaviour::Patrol))
        .undone(Undone::ByUndo),
    of("room.frame", "Show the selection, or everything", |_| window(WindowCommand::Frame))
        .keys(KeyContext::Room, &[plain(Key::F)])
        .menus(&[(Menu::Thing, "Show")]),
    of("room.show_everything", "Show everything", |_| {
        vec![WindowCommand::Select(Vec::new()).into(), WindowCommand::Frame.into()]
    })
    .menus(&[(Menu::Floor, "Show everything")]),
    of("room.select_all", "Select everything", |_| window(WindowCommand::SelectAll))
        .keys(KeyContext::Room, &[ctrl(Key::A)]),
    of("room.duplicate", "Duplicate the selection", |cx| vec![Command::Duplicate(selected(cx))])
        .keys(KeyContext::Room, &[ctrl(Key::D)])
        .menus(&[(Menu::Thing, "Duplicate")])
        .only(something_selected)
        .undone(Undone::ByUndo),
    of("room.copy", "Copy the selection", |cx| vec![Command::Copy(selected(cx))])
        .keys(KeyContext::Room, &[ctrl(Key::C)])
        .menus(&[(Menu::Thing, "Copy")])
        .only(something_selected),
    of("room.delete", "Delete the selection", delete)
        .keys(KeyContext::Room, &[plain(Key::Delete), plain(Key::Backspace)])
        .menus(&[(Menu::Thing, "Delete"), (Menu::Rope, "Delete")])
        .only(deletable)
        .undone(Undone::ByUndo),
    of("room.paste", "Paste", |cx| vec![Command::Paste(cx.at.unwrap_or(cx.ui.view.camera.middle))])
        .keys(KeyContext::Room, &[ctrl(Key::V)])
        .menus(&[(Menu::Floor, "Paste")])
        .only(something_copied)
        .undone(Undone::ByUndo),
    of("edit.redo", "Redo", |_| vec![Command::Redo])
        .keys(KeyContext::NotWriting, &[ctrl_shift(Key::Z), ctrl(Key::Y)])
        .undone(Undone::ByUndo),
    of("edit.undo", "Undo", |_| vec![Command::Undo])
        .keys(KeyContext::NotWriting, &[ctrl(Key::Z)])
        .undone(Undone::ByItsOpposite),
    of("view.debug_overlay", "Debug overlay", |_| window(WindowCommand::ToggleDebugOverlay))
        .about("What everyone has queued, knows and costs")
        .keys(KeyContext::NotWriting, &[plain(Key::F3), plain(Key::Backtick)]),
    of("window.palette", "Command palette", |_| window(WindowCommand::TogglePalette))
        .keys(KeyContext::Everywhere, &[ctrl(Key::K)])
        .not_in_palette(),
    of("window.keys", "These keys", |_| window(WindowCommand::ToggleKeys))
        .keys(KeyContext::NotWriting, &[plain(Key::Questionmark), plain(Key::F1)]),
    of("pane.conversations", "Conversations", |_| window(WindowCommand::ToggleTab(Tab::Talks)))
        .keys(KeyContext::NotWriting, &[plain(Key::T)])
        .menus(&[(Menu::Panes, "Conversations")]),
    of("pane.files", "Files", |_| window(WindowCommand::ToggleTab(Tab::Files)))
        .keys(KeyContext::Everywhere, &[ctrl(Key::B)])
        .menus(&[(Menu::Panes, "Files")]),
    of("pane.log", "Event log", |_| window(WindowCommand::ToggleTab(Tab::Log)))
        .keys(KeyContext::Everywhere, &[ctrl(Key::J)])
        .menus(&[(Menu::Panes, "Event log")]),
    of("pane.graph", "Graph of who started whom", |_| vec![Command::Show(Tab::Graph)])
        .keys(KeyContext::Everywhere, &[ctrl_shift(Key::G)])
        .menus(&[(Menu::Panes, "Graph")]),
    of("pane.room", "The room", |_| vec![Command::Show(Tab::Room)])
        .keys(KeyContext::Everywhere, &[ctrl_shift(Key::R)])
        .menus(&[(Menu::Panes, "Room")]),
    of("pane.shelf", "Show shelf", |_| vec![Command::Show(Tab::Shelf)]).menus(&[(Menu::Panes, "Shelf")]),
    of("pane.inspector", "Show inspector", |_| vec![Command::Show(Tab::Inspector)])
        .menus(&[(Menu::Panes, "Inspector")]),
    of("pane.show_files", "Show files", |_| vec![Command::Show(Tab::Files)]),
    of("pane.show_conversations", "Show conversations", |_| vec![Command::Show(Tab::Talks)]),
    of("pane.show_log", "Show event log", |_| vec![Command::Show(Tab::Log)]),
    of("pane.reset", "Put all panes back where they were at first", |_| window(WindowCommand::ResetPanes))
        .menus(&[(Menu::Panes, "Put all panes back")])
        .undone(Undone::CannotBe),
    of("file.close", "Close the file in front", |_| window(WindowCommand::CloseFile(None)))
        .keys(KeyContext::Everywhere, &[ctrl(Key::W)])
        .only(a_file_in_front),
    of("room.menu", "Menu of what is selected", |_| window(WindowCommand::OpenMenu))
        .keys(KeyContext::Room, &[shift(Key::F10)])
        .not_in_palette(),
    of("room.previous", "The thing before in the room", |_| window(WindowCommand::SelectNext { forward: false }))
        .keys(KeyContext::Room, &[shift(Key::Tab)])
        .not_in_palette(),
    of("room.next", "The next thing in the room", |_| window(WindowCommand::SelectNext { forward: true }))
        .keys(KeyContext::Room, &[plain(Key::Tab)])
        .not_in_palette(),
    of("room.nudge_left", "Move elements to the left", |cx| nudge(cx, Vec2::NEG_X))
        .keys(KeyContext::Room, &[plain(Key::ArrowLeft)])
        .only(elements_selected)
        .undone(Undone::ByUndo),
    of("room.nudge_right", "Move elements to the right", |cx| nudge(cx, Vec2::X))
        .keys(KeyContext::Room, &[plain(Key::ArrowRight)])
        .only(elements_selected)
        .undone(Undone::ByUndo),
    of("room.nudge_up", "Move elements up", |cx| nudge(cx, Vec2::Y))
        .keys(KeyContext::Room, &[plain(Key::ArrowUp)])
        .only(elements_selected)
        .undone(Undone::ByUndo),
    of("room.nudge_down", "Move elements down", |cx| nudge(cx, Vec2::NEG_Y))
        .keys(KeyContext::Room, &[plain(Key::ArrowDown)])
        .only(elements_selected)
        .undone(Undone::ByUndo),
    of("window.settings", "Settings", |_| window(WindowCommand::ToggleSettings))
        .keys(KeyContext::Everywhere, &[ctrl(Key::Comma)]),
    of("view.larger_text", "Larger text", |_| window(WindowCommand::StepTextSize(1)))
        .keys(KeyContext::Everywhere, &[ctrl(Key::Plus), ctrl(Key::Equals)])
        .undone(Undone::ByItsOpposite),
    of("view.smaller_text", "Smaller text", |_| window(WindowCommand::StepTextSize(-1)))
        .keys(KeyContext::Everywhere, &[ctrl(Key::Minus)])
        .undone(Undone::ByItsOpposite),
    of("view.usual_text", "Usual text size", |_| window(WindowCommand::ResetTextSize))
        .keys(KeyContext::Everywhere, &[ctrl(Key::Num0)]),
    of("window.close", "Close the workshop", |_| vec![Command::Quit])
        .about("Everything is saved")
        .keys(KeyContext::Everywhere, &[ctrl(Key::Q)])
        .undone(Undone::CannotBe),
    of("window.escape", "Close what is open, then deselect", |_| window(WindowCommand::Escape))
        .keys(KeyContext::Everywhere, &[plain(Key::Escape)])
        .not_in_palette(),
    of("scene.new", "New scene", |_| window(WindowCommand::Ask(Dialog::NewScene)))
        .menus(&[(Menu::Scene, "New scene…")])
        .undone(Undone::CannotBe),
    of("scene.save_as", "Save scene as", |_| window(WindowCommand::Ask(Dialog::SaveSceneAs)))
        .menus(&[(Menu::Scene, "Save scene as…")])
        .undone(Undone::CannotBe),
    of("scene.restart", "Restart scene", |_| window(WindowCommand::Ask(Dialog::ResetScene)))
        .menus(&[(Menu::Scene, "Restart scene…")])
        .undone(Undone::CannotBe),
    of("window.picture", "Save a picture", |_| vec![Command::Screenshot(None)])
        .menus(&[(Menu::Scene, "Save a picture")])
        .undone(Undone::CannotBe),
    of("view.theme", "Light or dark theme", |_| window(WindowCommand::ToggleTheme)).undone(Undone::ByItsOpposite),
    of("window.notices", "Show notices", |_| window(WindowCommand::ShowNotices)),
    of("window.toggle_notices", "Show or hide notices", |_| window(WindowCommand::ToggleNotices)).not_in_palette(),
    of("settings.provider", "Choose provider and model", |_| window(WindowCommand::ShowSettings(None))),
    of("settings.caps", "Change limits", |_| {
        window(WindowCommand::ShowSettings(Some("budget.cost_per_run_usd".to_owned())))
    }),
    of("settings.talk", "Turn conversations on or off", |cx| {
        let act = RoomAct::Talk(ConversationCommand::Switch { on: !cx.room.talk_on });
        vec![Command::Act(act, None)]
    })
    .about("Whether agents may talk to each other. Off ends all conversations; tasks go on")
    .undone(Undone::ByItsOpposite),
    of("workspace.open", "Open another workspace", |_| window(WindowCommand::Browse(Purpose::OpenWorkspace)))
        .menus(&[(Menu::OpenWorkspace, "Choose a folder…")]),
    of("workspace.import_files", "Import files", |_| window(WindowCommand::Browse(Purpose::ImportFiles(None))))
        .menus(&[(Menu::Workspace, "Import files…")])
        .undone(Undone::ByUndo),
    of("workspace.import_folder", "Import a folder", |_| window(WindowCommand::Browse(Purpose::ImportFolder(None))))
        .menus(&[(Menu::Workspace, "Import a folder…")])
        .undone(Undone::ByUndo),
    of("workspace.export", "Export the workspace as a zip", |cx| {
        window(WindowCommand::Browse(Purpose::ExportZip(format!("{}.zip", cx.room.workspace))))
    })
    .menus(&[(Menu::Workspace, "Export the workspace…")])
    .undone(Undone::CannotBe),
    of("workspace.export_log", "Export the event log", |cx| {
        window(WindowCommand::Browse(Purpose::ExportLog(format!("{}.events.jsonl", cx.room.scene))))
    })
    .menus(&[(Menu::Workspace, "Export the event log…")])
    .undone(Undone::CannotBe),
    of("files.find", "Find a file", |_| {
        vec![Command::Show(Tab::Files), WindowCommand::Files(FilesCommand::Find).into()]
    })
    .keys(KeyContext::Everywhere, &[ctrl(Key::P)]),
    of("files.new", "New file", |_| vec![Command::Show(Tab::Files), WindowCommand::Files(FilesCommand::New).into()])
        .undone(Undone::ByUndo),
    of("files.rename", "Rename the file", |_| window(WindowCommand::Files(FilesCommand::Rename)))
        .keys(KeyContext::Files, &[plain(Key::F2)])
        .undone(Undone::ByUndo),
    of("files.duplicate", "Duplicate the file", |_| window(WindowCommand::Files(FilesCommand::Duplicate)))
        .keys(KeyContext::Files, &[ctrl(Key::D)])
        .undone(Undone::ByUndo),
    of("files.delete", "Put the file into the bin", |_| window(WindowCommand::Files(FilesCommand::Delete)))
        .keys(KeyContext::Files, &[plain(Key::Delete), plain(Key::Backspace)])
        .undone(Undone::ByUndo),
    of_pane("files.select_all", "Select every file", KeyContext::Files, &[ctrl(Key::A)]),
    of_pane("files.menu", "Menu of the file", KeyContext::Files, &[shift(Key::F10)]),
    of_pane("files.open", "Open the file", KeyContext::Files, &[plain(Key::Enter)]),
    of_pane("editor.save", "Save what you wrote", KeyContext::Editor, &[ctrl(Key::S)]).undone(Undone::CannotBe),
    of_pane("editor.find", "Find", KeyContext::Editor, &[ctrl(Key::F)]),
    of_pane("editor.replace", "Find and replace", KeyContext::Editor, &[ctrl(Key::H)]),
    of_pane("graph.fit", "Show all of the graph", KeyContext::Graph, &[plain(Key::F)]),
];

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn shown(keys: &KeyboardShortcut) -> String {
        format!("{keys:?}")
    }

    #[test]
    fn every_command_has_an_id_and_a_name_of_its_own() {
        let all = CommandTable::standard().all();
        let ids: BTreeSet<&str> = all.iter().map(|command| command.id).collect();
        let names: BTreeSet<&str> = all.iter().map(|command| command.name).collect();
        assert_eq!((ids.len(), names.len()), (all.len(), all.len()));
        for command in all {
            let is_named =
                command.id.split_once('.').is_some_and(|(group, word)| !group.is_empty() && !word.is_empty());
            assert!(is_named && command.name.starts_with(char::is_uppercase), "{command:?}");
            assert!(!command.name.ends_with('.') && !command.about.ends_with('.'), "{}", command.name);
        }
    }

    #[test]
    fn no_two_commands_share_keys_where_both_would_work() {
        // What works everywhere works in every other place too.
        let reach = |context| match context {
            KeyContext::Everywhere => vec![KeyContext::Room, KeyContext::Files, KeyContext::Editor, KeyContext::Graph],
            // Who looks through files or the graph writes nothing; a pane's own keys go before those of the window.
            KeyContext::NotWriting => vec![KeyContext::Room],
            one => vec![one],
        };
        let mut known: BTreeMap<(KeyContext, String), &str> = BTreeMap::new();
        for command in CommandTable::standard().all() {
            for keys in command.keys {
                for context in reach(command.context) {
                    let other = known.insert((context, shown(keys)), command.id);
                    assert_eq!(other, None, "{} and {other:?} share {keys:?}", command.id);
                }
            }
        }
    }

    #[test]
    fn keys_with_more_modifiers_stand_before_those_with_fewer() {
        let all = CommandTable::standard().all();
        for (at, command) in all.iter().enumerate() {
            for keys in command.keys.iter().filter(|keys| keys.modifiers.is_none()) {
                let later = all[at + 1..].iter().flat_map(|later| later.keys);
                let mut hidden = later.filter(|later| later.logical_key == keys.logical_key && later.modifiers.shift);
                assert_eq!(hidden.next(), None, "{} takes the keys of a later one", command.id);
            }
        }
    }
}
