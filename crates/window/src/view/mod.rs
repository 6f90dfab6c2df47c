//! The room on screen: what it looks like at one moment, from where it is seen, and how it is painted.
//!
//! Everything here is a function of plain data: [`model::RoomModel`] is read from the world once a frame, a
//! [`camera::Camera`] says from where, [`pick`] says what stands under a point, and [`paint`] draws on an
//! `egui` painter. Nothing here changes the room.

pub mod art;
pub mod book;
pub mod bubble;
pub mod camera;
pub mod chat;
mod closer;
mod crowd;
pub mod dates;
pub mod doing;
pub mod furniture;
pub mod glide;
pub mod model;
pub mod paint;
pub mod pick;
pub mod raster;
pub mod reading;
pub mod recent;
pub mod sentence;
pub mod spread;
pub mod text;
pub mod theme;
pub mod together;
pub mod who_knows;
pub mod work;
pub mod workflows;
