//! The room on screen: a snapshot of its state, the camera, and how it is painted.
//!
//! Everything here is a function of plain data: [`model::RoomModel`] is read from the world once per frame,
//! [`camera::Camera`] is the view onto it, [`pick`] does hit testing, and [`paint`] draws with an `egui` painter.
//! Nothing here changes the room.

pub mod activity_text;
mod agent_cache;
pub mod areas;
pub mod art;
pub mod bubble;
pub mod camera;
pub mod chat;
pub mod collaboration;
pub mod counts;
pub mod dates;
mod details;
pub mod event_list;
pub mod event_text;
pub mod extract;
pub mod furniture;
pub mod interpolation;
pub mod model;
pub mod paint;
pub mod pick;
pub mod raster;
pub mod recent_events;
pub mod spread;
pub mod text;
pub mod theme;
pub mod who_knows;
pub mod work;
pub mod workflows;
