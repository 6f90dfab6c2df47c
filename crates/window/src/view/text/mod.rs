//! Text in every script: the program's own fonts, those of the system for missing letters, the order of right-to-left
//! scripts, and colour emoji.
//!
//! `egui` shapes letters and breaks lines. What it cannot do is done once per frame to the text that it has laid out:
//! [`post_layout::ShownText`] finds letters that no font has, reorders right-to-left words and paints emoji.

mod bidi;
mod emoji;
pub mod fonts;
pub mod post_layout;
pub mod system_fonts;
#[cfg(test)]
mod tests;
