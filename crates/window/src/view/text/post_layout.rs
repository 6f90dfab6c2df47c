//! Post-processes all text of a frame after `egui` has laid it out: notes missing characters, reorders right-to-left
//! text and paints emoji.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use egui::epaint::TextShape;
use egui::{Context, FontId, FullOutput, Galley, Shape};

use super::bidi;
use super::emoji::{Emoji, Spot};
use super::fonts::{self, Fallbacks};
use super::system_fonts::{FontSearchResult, MissingCharacters};

/// Maximum number of characters that are searched for, so that a file with all of Unicode does not cause endless
/// searches.
const MAX_LETTERS: usize = 20_000;
/// Maximum number of system fonts in use.
const MAX_FONTS: usize = 48;

/// The text that a context shows.
#[derive(Default)]
pub struct ShownText {
    fallbacks: Fallbacks,
    emoji: Emoji,
    galleys: HashMap<usize, CachedGalley>,
    /// Characters that some loaded font contains.
    known: BTreeSet<char>,
    /// Characters that were already searched for.
    asked: BTreeSet<char>,
    asked_for_emoji: bool,
    wanted: MissingCharacters,
    frame: u64,
}

/// A galley as `egui` laid it out, and as it is shown. Keeping the original alive keeps its address from being reused.
struct CachedGalley {
    laid_out: Arc<Galley>,
    ordered: Option<Arc<Galley>>,
    emoji: Vec<Spot>,
    shown: u64,
}

impl ShownText {
    /// Processes the text of a frame; call before tessellation.
    pub fn finish(&mut self, context: &Context, output: &mut FullOutput) {
        self.frame += 1;
        self.emoji.next_frame();
        for clipped in &mut output.shapes {
            self.finish_shape(context, &mut clipped.shape);
        }
        let frame = self.frame;
        self.galleys.retain(|_, kept| kept.shown == frame);
        // Upload the pictures that were just rendered in the same frame.
        output.textures_delta.append(context.tex_manager().write().take_delta());
    }

    /// The characters shown since the last call that no font contains. Each is returned once.
    pub fn take_missing_characters(&mut self) -> Option<MissingCharacters> {
        let wanted = std::mem::take(&mut self.wanted);
        (wanted != MissingCharacters::default()).then_some(wanted)
    }

    /// Uses these fonts from the next frame on.
    pub fn add(&mut self, context: &Context, found: FontSearchResult) {
        let FontSearchResult { fonts, emoji } = found;
        let is_new = |name: &str, there: &Fallbacks| !there.fonts.iter().any(|font| font.name == name);
        let before = self.fallbacks.fonts.len();
        for font in fonts {
            if self.fallbacks.fonts.len() < MAX_FONTS && is_new(&font.name, &self.fallbacks) {
                self.fallbacks.fonts.push(font);
            }
        }
        let has_emoji = emoji.is_some();
        if let Some(font) = emoji {
            self.emoji.set_font(font.data.clone());
            self.fallbacks.emoji = Some(font);
        }
        if has_emoji || self.fallbacks.fonts.len() > before {
            fonts::install_with(context, &self.fallbacks);
            self.galleys.clear();
            self.known.clear();
            context.request_repaint();
        }
    }

    fn finish_shape(&mut self, context: &Context, shape: &mut Shape) {
        match shape {
            Shape::Vec(shapes) => shapes.iter_mut().for_each(|shape| self.finish_shape(context, shape)),
            Shape::Text(text) if !text.galley.job.text.is_ascii() => {
                let emoji = self.finish_text(context, text);
                if !emoji.is_empty() {
                    let text = std::mem::replace(shape, Shape::Noop);
                    *shape = Shape::Vec(std::iter::once(text).chain(emoji).collect());
                }
            }
            _ => {}
        }
    }

    fn finish_text(&mut self, context: &Context, text: &mut TextShape) -> Vec<Shape> {
        let address = Arc::as_ptr(&text.galley).addr();
        if !self.galleys.get(&address).is_some_and(|kept| Arc::ptr_eq(&kept.laid_out, &text.galley)) {
            let kept = self.process_galley(context, &text.galley);
            self.galleys.insert(address, kept);
        }
        let Some(kept) = self.galleys.get_mut(&address) else { return Vec::new() };
        kept.shown = self.frame;
        if let Some(ordered) = &kept.ordered {
            text.galley = ordered.clone();
        }
        if kept.emoji.is_empty() || text.angle != 0.0 {
            Vec::new()
        } else {
            self.emoji.shapes(context, text, &kept.emoji)
        }
    }

    fn process_galley(&mut self, context: &Context, galley: &Arc<Galley>) -> CachedGalley {
        self.note_unknown(context, &galley.job.text);
        let ordered = bidi::in_reading_order(galley).map(Arc::new);
        let emoji = self.emoji.spots(ordered.as_ref().unwrap_or(galley), fonts::is_emoji);
        CachedGalley { laid_out: galley.clone(), ordered, emoji, shown: self.frame }
    }

    /// Records the characters of a text that no font contains.
    fn note_unknown(&mut self, context: &Context, text: &str) {
        let usual = FontId::proportional(12.0);
        for letter in text.chars().filter(|letter| !letter.is_ascii() && !is_invisible(*letter)) {
            if self.known.contains(&letter) || self.asked.contains(&letter) || self.asked.len() >= MAX_LETTERS {
                continue;
            }
            if fonts::is_emoji(letter) && !self.emoji.has_font() && !self.asked_for_emoji {
                (self.asked_for_emoji, self.wanted.emoji) = (true, true);
            }
            if context.fonts_mut(|fonts| fonts.has_glyph(&usual, letter)) {
                self.known.insert(letter);
            } else {
                self.asked.insert(letter);
                self.wanted.letters.insert(letter);
            }
        }
    }

    /// Number of texts cached from the last frame.
    #[cfg(test)]
    pub(super) fn kept(&self) -> impl Iterator<Item = &Galley> {
        self.galleys.values().map(|kept| kept.ordered.as_deref().unwrap_or(&kept.laid_out))
    }
}

/// Whether a character is invisible by itself (joiner, variation selector) or in a private use area.
fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || letter.is_whitespace()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{10ffff}')
}
