//! What a person can do in the window: the commands, their keys, the palette, and what takes them back.

mod command;
pub mod keys;
pub mod palette;
pub mod undo;

pub use command::{Command, RoomAct};
