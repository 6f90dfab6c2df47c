//! What is known of models: their names in agents' files ([`aliases`]), the size of their context (`context_windows`),
//! and whether they accept images (`image_models`) and call functions (`tool_models`).

pub mod aliases;
mod context_windows;
mod image_models;
pub(super) mod tool_models;
