//! Commands about the window: panes, scenes, settings, and the workspace as a whole.

use egui::Key;

use super::info::{CommandInfo, KeyContext, Menu, UndoKind, ctrl, ctrl_shift, of, of_pane, plain, window};
use crate::simulation::ConversationCommand;
use crate::ui::commands::{Command, RoomAct, WindowCommand};
use crate::ui::state::dock::Tab;
use crate::ui::state::{Dialog, FileDialogPurpose};

/// The window commands, in the order of menus.
pub(super) const COMMANDS: &[CommandInfo] = &[
    of("view.debug_overlay", "Debug overlay", |_| window(WindowCommand::ToggleDebugOverlay))
        .description("What everyone has queued, knows and costs")
        .keys(KeyContext::NotWriting, &[plain(Key::F3), plain(Key::Backtick)]),
    of("view.story", "Story strip", |_| window(WindowCommand::ToggleStory))
        .description("Recent key events and what they led to")
        .menus(&[(Menu::Panes, "Story strip")])
        .checked(|cx| Some(!cx.ui.view.is_story_folded)),
    of("window.palette", "Command palette", |_| window(WindowCommand::TogglePalette))
        .keys(KeyContext::Everywhere, &[ctrl(Key::K)])
        .not_in_palette(),
    of("window.keys", "Keyboard shortcuts", |_| window(WindowCommand::ToggleKeys))
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
    of("pane.graph", "Graph of which agent started which", |_| vec![Command::Show(Tab::Graph)])
        .keys(KeyContext::Everywhere, &[ctrl_shift(Key::G)])
        .menus(&[(Menu::Panes, "Graph")]),
    of("pane.room", "The room", |_| vec![Command::Show(Tab::Room), WindowCommand::FocusRoom.into()])
        .description("Shows the room and gives it the keys")
        .keys(KeyContext::Everywhere, &[ctrl_shift(Key::R)])
        .menus(&[(Menu::Panes, "Room")]),
    of("pane.shelf", "Show shelf", |_| vec![Command::Show(Tab::Shelf)]).menus(&[(Menu::Panes, "Shelf")]),
    of("pane.inspector", "Show inspector", |_| vec![Command::Show(Tab::Inspector)])
        .menus(&[(Menu::Panes, "Inspector")]),
    of("pane.show_files", "Show files", |_| vec![Command::Show(Tab::Files)]),
    of("pane.show_conversations", "Show conversations", |_| vec![Command::Show(Tab::Talks)]),
    of("pane.show_log", "Show event log", |_| vec![Command::Show(Tab::Log)]),
    of("pane.reset", "Reset pane layout", |_| window(WindowCommand::ResetPanes))
        .menus(&[(Menu::Panes, "Reset panes")])
        .undone(UndoKind::Irreversible),
    of("window.settings", "Settings", |_| window(WindowCommand::ToggleSettings))
        .keys(KeyContext::Everywhere, &[ctrl(Key::Comma)]),
    of("view.larger_text", "Larger text", |_| window(WindowCommand::StepTextSize(1)))
        .keys(KeyContext::Everywhere, &[ctrl(Key::Plus), ctrl(Key::Equals)])
        .undone(UndoKind::ByItsOpposite),
    of("view.smaller_text", "Smaller text", |_| window(WindowCommand::StepTextSize(-1)))
        .keys(KeyContext::Everywhere, &[ctrl(Key::Minus)])
        .undone(UndoKind::ByItsOpposite),
    of("view.usual_text", "Default text size", |_| window(WindowCommand::ResetTextSize))
        .keys(KeyContext::Everywhere, &[ctrl(Key::Num0)]),
    of("window.close", "Close the workshop", |_| vec![Command::Quit])
        .description("Everything is saved")
        .keys(KeyContext::Everywhere, &[ctrl(Key::Q)])
        .undone(UndoKind::Irreversible),
    of("window.escape", "Close what is open, then deselect", |_| window(WindowCommand::Escape))
        .keys(KeyContext::Everywhere, &[plain(Key::Escape)])
        .not_in_palette(),
    of("agent.add_own", "Add your coding agent", |_| window(WindowCommand::Ask(Dialog::AddCodingAgent)))
        .menus(&[(Menu::Floor, "Add your coding agent…")])
        .undone(UndoKind::Irreversible),
    of("scene.new", "New scene", |_| window(WindowCommand::Ask(Dialog::NewScene)))
        .menus(&[(Menu::Scene, "New scene…")])
        .undone(UndoKind::Irreversible),
    of("scene.save_as", "Save scene as", |_| window(WindowCommand::Ask(Dialog::SaveSceneAs)))
        .menus(&[(Menu::Scene, "Save scene as…")])
        .undone(UndoKind::Irreversible),
    of("scene.restart", "Restart scene", |_| window(WindowCommand::Ask(Dialog::ResetScene)))
        .menus(&[(Menu::Scene, "Restart scene…")])
        .undone(UndoKind::Irreversible),
    of("window.picture", "Save a picture", |_| vec![Command::Screenshot(None)])
        .menus(&[(Menu::Scene, "Save a picture")])
        .undone(UndoKind::Irreversible),
    of("view.theme", "Light or dark theme", |_| window(WindowCommand::ToggleTheme)).undone(UndoKind::ByItsOpposite),
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
    .description("Whether agents may talk to each other. Off ends all conversations; tasks continue.")
    .undone(UndoKind::ByItsOpposite),
    of_pane("graph.fit", "Fit graph to view", KeyContext::Graph, &[plain(Key::F)]),
    of("workspace.open", "Open another workspace", |_| window(WindowCommand::Browse(FileDialogPurpose::OpenWorkspace)))
        .menus(&[(Menu::OpenWorkspace, "Choose a folder…")]),
    of("workspace.trust", "Trust or restrict this workspace", |_| vec![Command::ShowTrust(None)])
        .description("What it wants to be allowed and what would start by itself")
        .menus(&[(Menu::Workspace, "Trust this workspace…")])
        .undone(UndoKind::Irreversible),
    of("workspace.import_files", "Import files", |_| {
        window(WindowCommand::Browse(FileDialogPurpose::ImportFiles(None)))
    })
    .menus(&[(Menu::Workspace, "Import files…")])
    .undone(UndoKind::ByUndo),
    of("workspace.import_folder", "Import a folder", |_| {
        window(WindowCommand::Browse(FileDialogPurpose::ImportFolder(None)))
    })
    .menus(&[(Menu::Workspace, "Import a folder…")])
    .undone(UndoKind::ByUndo),
    of("workspace.export", "Export the workspace as a zip", |cx| {
        window(WindowCommand::Browse(FileDialogPurpose::ExportZip(format!("{}.zip", cx.room.workspace))))
    })
    .menus(&[(Menu::Workspace, "Export the workspace…")])
    .undone(UndoKind::Irreversible),
    of("workspace.export_log", "Export the event log", |cx| {
        window(WindowCommand::Browse(FileDialogPurpose::ExportLog(format!("{}.events.jsonl", cx.room.scene))))
    })
    .menus(&[(Menu::Workspace, "Export the event log…")])
    .undone(UndoKind::Irreversible),
];
