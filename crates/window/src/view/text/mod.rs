//! Text in every script: the bundled fonts, system fonts for missing letters, right-to-left reordering and colour
//! emoji.
//!
//! `egui` shapes letters and breaks lines. The rest is done once per frame to the laid-out text by
//! [`post_layout::ShownText`].

mod bidi;
mod emoji;
pub mod fonts;
pub mod post_layout;
pub mod system_fonts;
#[cfg(test)]
mod tests;
