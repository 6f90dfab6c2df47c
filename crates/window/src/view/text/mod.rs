//! Text in every script: the program's own fonts, those of the system where a letter is missing, the order of scripts
//! that run from right to left, and emoji in colour.
//!
//! `egui` shapes letters and breaks lines. What it does not know is done once a frame to what it has laid out:
//! [`shown::ShownText`] finds letters that no font has, puts right-to-left words in order and paints emoji.

mod direction;
mod emoji;
pub mod fonts;
pub mod shown;
pub mod system_fonts;
#[cfg(test)]
mod tests;
