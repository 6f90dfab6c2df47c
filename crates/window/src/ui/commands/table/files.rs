//! Commands about files in the file list, and about an open file.

use egui::Key;

use super::info::{CommandContext, CommandInfo, KeyContext, Menu, UndoKind, ctrl, of, of_pane, plain, shift, window};
use crate::ui::commands::file_targets::{FileUse, FilesRow};
use crate::ui::commands::{CanvasCommand, Command, EditorCommand, FilesCommand, WindowCommand, create};
use crate::ui::state::FileDialogPurpose;
use crate::ui::state::dock::Tab;
use crate::view::pick::RoomObject;
use crate::workspace::layout::is_task_file;

/// Whether a command applies, or why not.
type Answer = Result<(), &'static str>;

fn is_file_open(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.ui.dock.front_file().is_some() { Ok(()) } else { Err("No file is open") }
}

fn explorer_command(command: FilesCommand) -> Vec<Command> {
    window(command)
}

fn is_file_selected(cx: &CommandContext<'_>) -> Answer {
    if cx.files.row == FilesRow::File { Ok(()) } else { Err("Select a file in Files first") }
}

fn is_changeable(cx: &CommandContext<'_>) -> Answer {
    if cx.files.is_record { Err("This is the program's own record and cannot be changed") } else { Ok(()) }
}

fn is_row_selected(cx: &CommandContext<'_>) -> Answer {
    if cx.files.path.is_empty() { Err("Select a file or folder in Files first") } else { Ok(()) }
}

fn can_be_renamed(cx: &CommandContext<'_>) -> Answer {
    match cx.files.row {
        FilesRow::File if cx.files.paths.len() > 1 => Err("Select one file; files are renamed one at a time"),
        FilesRow::File | FilesRow::Folder => is_changeable(cx),
        _ => Err("Select a file or folder in Files first"),
    }
}

fn can_be_duplicated(cx: &CommandContext<'_>) -> Answer {
    is_file_selected(cx).and_then(|()| is_changeable(cx))
}

fn can_be_deleted(cx: &CommandContext<'_>) -> Answer {
    match cx.files.row {
        FilesRow::File => is_changeable(cx),
        FilesRow::Folder if cx.files.paths.is_empty() => Err("This folder is empty"),
        FilesRow::Folder => is_changeable(cx),
        _ => Err("Select a file or folder in Files first"),
    }
}

fn can_be_restored(cx: &CommandContext<'_>) -> Answer {
    match cx.files.row {
        FilesRow::Gone => Ok(()),
        FilesRow::Bin if !cx.files.paths.is_empty() => Ok(()),
        _ => Err("Select a file in the bin first"),
    }
}

/// Returns the agent or element in the room that comes from the file.
fn thing_of_file(cx: &CommandContext<'_>) -> Option<RoomObject> {
    match &cx.files.used {
        FileUse::Agent { agent: Some(agent), .. } => Some(RoomObject::Agent(agent.clone())),
        FileUse::Element(Some(element)) => Some(RoomObject::Element(element.clone())),
        _ => None,
    }
}

fn is_in_room(cx: &CommandContext<'_>) -> Answer {
    if thing_of_file(cx).is_some() { Ok(()) } else { Err("Nothing in the room comes from this file") }
}

fn can_be_added(cx: &CommandContext<'_>) -> Answer {
    match &cx.files.used {
        FileUse::Agent { agent: None, .. } => Ok(()),
        FileUse::Agent { .. } => Err("This agent is already in the room"),
        _ => Err("This file defines no agent"),
    }
}

fn can_be_a_rulebook(cx: &CommandContext<'_>) -> Answer {
    match &cx.files.used {
        FileUse::Element(None) if is_task_file(&cx.files.path) => Err("This file holds tasks; add it as a task board"),
        FileUse::Element(None) => Ok(()),
        FileUse::Element(Some(_)) => Err("An element in the room already shows this file"),
        _ => Err("A rulebook cannot show this file"),
    }
}

fn can_be_a_task_board(cx: &CommandContext<'_>) -> Answer {
    match &cx.files.used {
        FileUse::Element(None) if is_task_file(&cx.files.path) => Ok(()),
        FileUse::Element(Some(_)) => Err("An element in the room already shows this file"),
        _ => Err("This file holds no tasks"),
    }
}

fn is_another_scene(cx: &CommandContext<'_>) -> Answer {
    match &cx.files.used {
        FileUse::Scene(stem) if *stem == cx.room.scene => Err("This scene is already open"),
        FileUse::Scene(_) => Ok(()),
        _ => Err("This file is not a scene"),
    }
}

fn show_in_room(cx: &CommandContext<'_>) -> Vec<Command> {
    let shown = thing_of_file(cx).into_iter();
    shown
        .flat_map(|thing| {
            [WindowCommand::Select(vec![thing]).into(), CanvasCommand::Frame.into(), Command::Show(Tab::ROOM)]
        })
        .collect()
}

fn add_to_room(cx: &CommandContext<'_>) -> Vec<Command> {
    match &cx.files.used {
        FileUse::Agent { profile, .. } => create::add_agent(cx.room, profile, cx.ui.view.camera.middle, false),
        _ => Vec::new(),
    }
}

fn add_as_rulebook(cx: &CommandContext<'_>) -> Vec<Command> {
    vec![create::rulebook_of(cx.room, &cx.files.path, cx.ui.view.camera.middle), Command::Show(Tab::ROOM)]
}

fn add_as_task_board(cx: &CommandContext<'_>) -> Vec<Command> {
    vec![create::task_board_of(cx.room, &cx.files.path, cx.ui.view.camera.middle), Command::Show(Tab::ROOM)]
}

fn import_here(cx: &CommandContext<'_>) -> Vec<Command> {
    let folder = Some(cx.files.folder.clone()).filter(|folder| !folder.is_empty());
    window(WindowCommand::Browse(FileDialogPurpose::ImportFiles(folder)))
}

fn rename(cx: &CommandContext<'_>) -> Vec<Command> {
    let path = cx.files.path.clone();
    explorer_command(if cx.files.row == FilesRow::Folder {
        FilesCommand::RenameFolder(path)
    } else {
        FilesCommand::Rename(path)
    })
}

/// The file commands, in the order of menus.
pub(super) const COMMANDS: &[CommandInfo] = &[
    of("file.close", "Close file", |_| window(EditorCommand::CloseFile(None)))
        .keys(KeyContext::Everywhere, &[ctrl(Key::W)])
        .only(is_file_open),
    of("files.find", "Find a file", |_| vec![Command::Show(Tab::FILES), FilesCommand::Find.into()])
        .keys(KeyContext::Everywhere, &[ctrl(Key::P)]),
    of("files.open", "Open the file", |cx| explorer_command(FilesCommand::Open(cx.files.paths.clone())))
        .keys(KeyContext::Files, &[plain(Key::Enter)])
        .menus(&[(Menu::File, "Open")])
        .only(is_file_selected)
        .not_in_palette(),
    of("files.open_outside", "Open file in another program", |cx| {
        cx.files.paths.iter().cloned().map(Command::OpenOutside).collect()
    })
    .menus(&[(Menu::File, "Open in another program")])
    .only(is_file_selected),
    of("files.restore", "Restore from the bin", |cx| explorer_command(FilesCommand::Restore(cx.files.paths.clone())))
        .menus(&[(Menu::GoneFile, "Restore"), (Menu::Bin, "Restore everything")])
        .only(can_be_restored)
        .undone(UndoKind::ByUndo),
    of("files.show_in_room", "Show the file's agent or element in the room", show_in_room)
        .menus(&[(Menu::AgentFile, "Show in the room"), (Menu::ElementFile, "Show in the room")])
        .only(is_in_room)
        .not_in_palette(),
    of("files.put_into_room", "Add the file's agent to the room", add_to_room)
        .menus(&[(Menu::AgentFile, "Add to the room")])
        .only(can_be_added)
        .undone(UndoKind::ByUndo)
        .not_in_palette(),
    of("files.put_as_rulebook", "Add the file to the room as a rulebook", add_as_rulebook)
        .menus(&[(Menu::ElementFile, "Add to the room as a rulebook")])
        .only(can_be_a_rulebook)
        .undone(UndoKind::ByUndo)
        .not_in_palette(),
    of("files.put_as_task_board", "Add the file to the room as a task board", add_as_task_board)
        .menus(&[(Menu::ElementFile, "Add to the room as a task board")])
        .only(can_be_a_task_board)
        .undone(UndoKind::ByUndo)
        .not_in_palette(),
    of("files.open_scene", "Open the file's scene", |cx| match &cx.files.used {
        FileUse::Scene(stem) => vec![Command::OpenScene(stem.clone())],
        _ => Vec::new(),
    })
    .menus(&[(Menu::SceneFile, "Open this scene")])
    .only(is_another_scene)
    .not_in_palette(),
    of("files.new", "New file", |cx| {
        let new = FilesCommand::New(cx.files.folder.clone());
        vec![Command::Show(Tab::FILES), new.into()]
    })
    .menus(&[(Menu::Files, "New file…"), (Menu::Folder, "New file here…"), (Menu::FilesGround, "New file…")])
    .undone(UndoKind::ByUndo),
    of("files.import", "Import files into folder", import_here)
        .menus(&[(Menu::Folder, "Import files here…"), (Menu::FilesGround, "Import files or a folder…")])
        .undone(UndoKind::ByUndo)
        .not_in_palette(),
    of("files.rename", "Rename file", rename)
        .keys(KeyContext::Files, &[plain(Key::F2)])
        .menus(&[(Menu::Files, "Rename…"), (Menu::Folder, "Rename folder…")])
        .only(can_be_renamed)
        .undone(UndoKind::ByUndo),
    of("files.duplicate", "Duplicate file", |cx| explorer_command(FilesCommand::Duplicate(cx.files.paths.clone())))
        .keys(KeyContext::Files, &[ctrl(Key::D)])
        .menus(&[(Menu::Files, "Duplicate")])
        .only(can_be_duplicated)
        .undone(UndoKind::ByUndo),
    of("files.copy_path", "Copy file path", |cx| {
        let files = cx.files;
        let paths = if files.row == FilesRow::File { files.paths.clone() } else { vec![files.path.clone()] };
        explorer_command(FilesCommand::CopyPaths(paths))
    })
    .menus(&[(Menu::Files, "Copy path"), (Menu::Folder, "Copy path"), (Menu::GoneFile, "Copy path")])
    .only(is_row_selected),
    of("files.delete", "Move file to the bin", |cx| explorer_command(FilesCommand::Delete(cx.files.paths.clone())))
        .keys(KeyContext::Files, &[plain(Key::Delete), plain(Key::Backspace)])
        .menus(&[(Menu::Files, "Delete"), (Menu::Folder, "Delete contents…")])
        .only(can_be_deleted)
        .undone(UndoKind::ByUndo)
        .deciding(),
    of("files.fold_all", "Collapse all folders", |_| explorer_command(FilesCommand::FoldAll(true)))
        .menus(&[(Menu::FilesGround, "Collapse all folders")]),
    of("files.unfold_all", "Expand all folders", |_| explorer_command(FilesCommand::FoldAll(false)))
        .menus(&[(Menu::FilesGround, "Expand all folders")]),
    of_pane("files.select_all", "Select every file", KeyContext::Files, &[ctrl(Key::A)]),
    of_pane("files.menu", "File menu", KeyContext::Files, &[shift(Key::F10)]),
    of_pane("editor.save", "Save file", KeyContext::Editor, &[ctrl(Key::S)]).undone(UndoKind::Irreversible),
    of_pane("editor.find", "Find", KeyContext::Editor, &[ctrl(Key::F)]),
    of_pane("editor.replace", "Find and replace", KeyContext::Editor, &[ctrl(Key::H)]),
    of_pane("finding.previous", "Previous match", KeyContext::Finding, &[shift(Key::Enter), shift(Key::F3)]),
    of_pane("finding.next", "Next match", KeyContext::Finding, &[plain(Key::Enter), plain(Key::F3)]),
    of_pane("finding.close", "Close search", KeyContext::Finding, &[plain(Key::Escape)]),
];
