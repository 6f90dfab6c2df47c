//! What a person can do in the window: one table of commands with their keys and menus, what each comes to, and what
//! takes it back.

mod command;
pub mod create;
pub mod file_targets;
pub mod job;
pub mod keys;
mod links;
pub mod listing;
pub mod table;
mod texts;
pub mod undo;

pub use command::{Command, FilesCommand, NoticeCommand, RoomAct, WindowCommand};
pub use links::markdown;
