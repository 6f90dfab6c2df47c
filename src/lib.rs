//! Agent Workshop: agents, each defined by a file, that live in a room.

pub mod agent;
pub mod app;
pub mod base;
pub mod cli;
pub mod element;
pub mod gateway;
pub mod memory;
pub mod mind;
pub mod schedule;
pub mod simulation;
pub mod store;
pub mod workspace;
