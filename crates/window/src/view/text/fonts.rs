//! The two font families bundled with the program: Inter for text and JetBrains Mono for code.
//!
//! The fallback order after them is `egui`'s fonts, for symbols, and then system fonts that were found for characters
//! which none of these contain.

use std::sync::{Arc, LazyLock};

use egui::{Context, FontData, FontDefinitions, FontFamily, FontId, Id};
use skrifa::{FontRef, MetadataProvider};

use super::system_fonts::FoundFont;

const TEXT: &str = "Inter";
const STRONG: &str = "Inter SemiBold";
const CODE: &str = "JetBrains Mono";

const FILES: [(&str, &[u8]); 3] = [
    (TEXT, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/fonts/Inter-Regular.otf"))),
    (STRONG, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/fonts/Inter-SemiBold.otf"))),
    (CODE, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/fonts/JetBrainsMono-Regular.ttf"))),
];

/// System fonts used as fallbacks behind the bundled ones.
#[derive(Clone, Default, Debug)]
pub struct Fallbacks {
    /// A colour emoji font. `egui` takes only the advance widths from it; `emoji` paints the pictures.
    pub emoji: Option<FoundFont>,
    /// Fonts for characters that no other font has, in fallback order.
    pub fonts: Vec<FoundFont>,
}

/// Builds the font definitions in fallback order: bundled, emoji, `egui`'s own, system.
fn definitions(fallbacks: &Fallbacks) -> FontDefinitions {
    let mut definitions = FontDefinitions::default();
    for (name, bytes) in FILES {
        definitions.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
    }
    for font in fallbacks.fonts.iter().chain(&fallbacks.emoji) {
        definitions.font_data.insert(font.name.clone(), font.data.clone());
    }
    let signs = |family: &FontFamily| definitions.families.get(family).cloned().unwrap_or_default();
    let (text, code) = (signs(&FontFamily::Proportional), signs(&FontFamily::Monospace));
    let chain = |first: &[&str], signs: &[String]| -> Vec<String> {
        let first =
            first.iter().map(|name| (*name).to_owned()).chain(fallbacks.emoji.iter().map(|font| font.name.clone()));
        first.chain(signs.iter().cloned()).chain(fallbacks.fonts.iter().map(|font| font.name.clone())).collect()
    };
    definitions.families = [
        (FontFamily::Proportional, chain(&[TEXT], &text)),
        (FontFamily::Name(STRONG.into()), chain(&[STRONG, TEXT], &text)),
        (FontFamily::Monospace, chain(&[CODE, TEXT], &code)),
    ]
    .into();
    definitions
}

/// Installs the bundled fonts in a context, effective from its next frame. Calling it again does nothing.
pub fn install(context: &Context) {
    if !are_installed(context) {
        install_with(context, &Fallbacks::default());
    }
}

/// Installs the bundled fonts with these fallbacks, effective from the next frame.
pub fn install_with(context: &Context, fallbacks: &Fallbacks) {
    context.set_fonts(definitions(fallbacks));
    context.data_mut(|data| {
        data.insert_temp(mark(), true);
        *data.get_temp_mut_or_default::<u32>(mark()) += 1;
    });
}

/// How often fonts were installed in a context. Measurements taken under an earlier count are stale.
pub fn times_installed(context: &Context) -> u32 {
    context.data(|data| data.get_temp(mark())).unwrap_or(0)
}

/// Whether a character is drawn as a colour emoji if the system has such a font: an emoji that the text fonts lack.
pub fn is_emoji(letter: char) -> bool {
    matches!(letter, '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}' | '\u{2934}'..='\u{2935}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
        && !is_letter(letter)
}

/// Whether one of the text fonts contains the character.
fn is_letter(letter: char) -> bool {
    static FONTS: LazyLock<Vec<FontRef<'static>>> =
        LazyLock::new(|| FILES.iter().filter_map(|(_, bytes)| FontRef::new(bytes).ok()).collect());
    FONTS.iter().any(|font| font.charmap().map(letter).is_some())
}

/// The semibold font, for names and headings. Falls back to the regular one if the bundled fonts are not installed,
/// because `egui` panics on an unknown family.
pub fn semibold(context: &Context, size: f32) -> FontId {
    FontId::new(size, strong_family(context))
}

/// The font family behind [`semibold`].
pub fn strong_family(context: &Context) -> FontFamily {
    if are_installed(context) { FontFamily::Name(STRONG.into()) } else { FontFamily::Proportional }
}

fn are_installed(context: &Context) -> bool {
    context.data(|data| data.get_temp(mark())).unwrap_or(false)
}

fn mark() -> Id {
    Id::new("the house's fonts")
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{Color32, RawInput};

    /// Runs one frame with the bundled fonts.
    fn with_fonts(mut ask: impl FnMut(&Context)) {
        let context = Context::default();
        install(&context);
        let mut output = context.run_ui(RawInput::default(), |ui| ask(ui.ctx()));
        output.textures_delta.clear();
    }

    fn width(context: &Context, text: &str, font: FontId) -> f32 {
        context.fonts_mut(|fonts| fonts.layout_no_wrap(text.to_owned(), font, Color32::WHITE).size().x)
    }

    #[test]
    fn text_headings_and_code_have_different_fonts() {
        with_fonts(|context| {
            let line = "The room, as it is";
            let text = width(context, line, FontId::proportional(14.0));
            let strong = width(context, line, semibold(context, 14.0));
            assert!(strong > text * 1.01, "the heavier cut is wider: {strong} and {text}");
            let code = |line: &str| width(context, line, FontId::monospace(14.0));
            assert!((code("iiii") - code("MMMM")).abs() < 0.5, "letters of code are equally wide");
        });
    }

    #[test]
    fn latin_greek_and_cyrillic_are_complete() {
        with_fonts(|context| {
            let letters = "Straße, Łódź, Œuvre, naïve, Ἀθῆναι Ωμέγα, Привіт, Ђурђевак, ₿ € – “”…";
            for font in [FontId::proportional(14.0), semibold(context, 14.0)] {
                assert!(context.fonts_mut(|fonts| fonts.has_glyphs(&font, letters)));
            }
            assert!(context.fonts_mut(|fonts| fonts.has_glyphs(&FontId::monospace(12.0), "fn main() → 'ß'")));
        });
    }

    #[test]
    fn missing_scripts_are_boxes_within_the_line() {
        with_fonts(|context| {
            for text in ["مرحبا بكم في الورشة", "ברוכים הבאים", "工作坊里的房间", "작업장의 방", "👩🏽‍🔧 👨‍👩‍👧‍👦"]
            {
                let long = text.repeat(40);
                let font = FontId::proportional(12.0);
                let galley = context.fonts_mut(|fonts| fonts.layout(long, font, Color32::WHITE, 180.0));
                assert!(galley.size().x <= 182.0, "{text} is {} wide", galley.size().x);
                assert!(galley.rows.len() > 1, "{text} wraps");
            }
        });
    }

    #[test]
    fn without_the_bundled_fonts_strong_text_is_regular() {
        let context = Context::default();
        assert_eq!(semibold(&context, 12.0), FontId::proportional(12.0));
    }
}
