//! Elements: the things on the canvas that hold information. What each holds, what may be done to it,
//! and the news when it changes.
//!
//! A kind of element is one file that implements [`Content`] and one line in [`kind::KINDS`].

pub mod content;
pub mod directory;
pub mod kind;

pub use content::{Content, Element, ElementAct, ElementChange, ElementChanged, ElementEdit, ElementRefused, Held};
pub use directory::Elements;

use bevy::app::App;

/// Adds this floor to the room.
pub fn plugin(_app: &mut App) {}
