//! The two families of type that come with the program: Inter for text, JetBrains Mono for code.
//!
//! Behind them stand the fonts of `egui`, for emoji and signs. What is missing: no font here holds Arabic, Hebrew,
//! the scripts of India or those of East Asia, of which each letter shows as a box, and text always runs from left to
//! right. Such text is kept, found and sent as it is; it cannot be read in the window.

use std::sync::Arc;

use egui::{Context, FontData, FontDefinitions, FontFamily, FontId, Id};

const TEXT: &str = "Inter";
const STRONG: &str = "Inter SemiBold";
const CODE: &str = "JetBrains Mono";

const FILES: [(&str, &[u8]); 3] = [
    (TEXT, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/fonts/Inter-Regular.otf"))),
    (STRONG, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/fonts/Inter-SemiBold.otf"))),
    (CODE, include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../assets/fonts/JetBrainsMono-Regular.ttf"))),
];

/// The house's fonts before those of `egui`.
fn definitions() -> FontDefinitions {
    let mut definitions = FontDefinitions::default();
    for (name, bytes) in FILES {
        definitions.font_data.insert(name.to_owned(), Arc::new(FontData::from_static(bytes)));
    }
    let fallbacks = |family: &FontFamily| definitions.families.get(family).cloned().unwrap_or_default();
    let (text, code) = (fallbacks(&FontFamily::Proportional), fallbacks(&FontFamily::Monospace));
    let before = |first: &[&str], rest: &[String]| -> Vec<String> {
        first.iter().map(|name| (*name).to_owned()).chain(rest.iter().cloned()).collect()
    };
    definitions.families = [
        (FontFamily::Proportional, before(&[TEXT], &text)),
        (FontFamily::Name(STRONG.into()), before(&[STRONG, TEXT], &text)),
        (FontFamily::Monospace, before(&[CODE, TEXT], &code)),
    ]
    .into();
    definitions
}

/// Gives a context the house's fonts, from its next frame on. Doing so twice does nothing.
pub fn install(context: &Context) {
    if !are_installed(context) {
        context.set_fonts(definitions());
        context.data_mut(|data| data.insert_temp(mark(), true));
    }
}

/// The heavier cut, for names and headings; the usual one in a context without the house's fonts, where asking for
/// the other would end the program.
pub fn strong(context: &Context, size: f32) -> FontId {
    FontId::new(size, strong_family(context))
}

/// The family of the heavier cut, as [`strong`] has it.
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

    /// Runs one frame with the house's fonts.
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
    fn text_headings_and_code_each_have_their_own_letters() {
        with_fonts(|context| {
            let line = "The room, as it is";
            let text = width(context, line, FontId::proportional(14.0));
            let strong = width(context, line, strong(context, 14.0));
            assert!(strong > text * 1.01, "the heavier cut is wider: {strong} and {text}");
            let code = |line: &str| width(context, line, FontId::monospace(14.0));
            assert!((code("iiii") - code("MMMM")).abs() < 0.5, "letters of code are equally wide");
        });
    }

    #[test]
    fn every_letter_of_latin_greek_and_cyrillic_is_there() {
        with_fonts(|context| {
            let letters = "Straße, Łódź, Œuvre, naïve, Ἀθῆναι Ωμέγα, Привіт, Ђурђевак, ₿ € – “”…";
            for font in [FontId::proportional(14.0), strong(context, 14.0)] {
                assert!(context.fonts_mut(|fonts| fonts.has_glyphs(&font, letters)));
            }
            assert!(context.fonts_mut(|fonts| fonts.has_glyphs(&FontId::monospace(12.0), "fn main() → 'ß'")));
        });
    }

    #[test]
    fn scripts_that_no_font_holds_are_boxes_that_stay_within_the_line() {
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
    fn without_the_fonts_the_usual_cut_stands_in() {
        let context = Context::default();
        assert_eq!(strong(&context, 12.0), FontId::proportional(12.0));
    }
}
