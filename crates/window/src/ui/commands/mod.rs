//! Everything that a person can do in the window: the command table with shortcuts, menus, effects and inverses.

pub mod act_labels;
mod command;
pub mod create;
pub mod file_targets;
pub mod job;
pub mod keyboard;
pub mod keys;
mod links;
pub mod listing;
mod pane_command;
pub mod table;
mod texts;
pub mod undo;

pub use command::{Command, NoticeCommand, RoomAct, WindowCommand};
pub use links::markdown;
pub use pane_command::{
    CanvasCommand, ConversationsCommand, EditorCommand, FilesCommand, GraphCommand, LogCommand, PaneCommand,
};
