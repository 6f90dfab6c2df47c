//! Tests of all scripts against reference pictures that another program drew with the same fonts.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use egui::{Color32, ColorImage, Context, FontId, Galley, RawInput, Ui, pos2, vec2};

use super::bidi::in_reading_order;
use super::emoji::decode;
use super::fonts::{self, Fallbacks};
use super::post_layout::ShownText;
use super::system_fonts::{FoundFont, MissingCharacters, SystemFonts};
use crate::view::paint::{Labels, in_rows};
use crate::view::raster::{Rasteriser, write_png};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fonts");
/// Font size of the reference pictures, in points.
const TYPE_SIZE: f32 = 32.0;

/// Lines of text, each with the file of the picture that Pango drew of it.
const LINES: [(&str, &str); 5] = [
    ("arabic", "مرحبا بكم في الورشة (اليوم 12 مارس)، أهلا Workshop"),
    ("hebrew", "ברוכים הבאים (היום) 42"),
    ("devanagari", "कार्यशाला में आपका स्वागत है"),
    ("thai", "ยินดีต้อนรับสู่เวิร์กช็อป"),
    ("cjk", "工作坊里的房间こんにちは작업장"),
];

fn system_fonts() -> SystemFonts {
    SystemFonts::of_folder(Path::new(FOLDER), "zh_CN.UTF-8")
}

/// Draws a line of text, black on white.
fn picture(text: &str) -> ColorImage {
    let context = Context::default();
    fonts::install(&context);
    let show = |ui: &mut Ui| {
        let painter = ui.painter();
        painter.rect_filled(ui.ctx().content_rect(), 0.0, Color32::WHITE);
        let galley = painter.layout_no_wrap(text.to_owned(), FontId::proportional(TYPE_SIZE), Color32::BLACK);
        painter.galley(pos2(8.0, 8.0), galley, Color32::BLACK);
    };
    let picture = Rasteriser::with_fonts(system_fonts).picture_of(&context, vec2(760.0, 72.0), 1.0, 2, show);
    if let Ok(folder) = std::env::var("WORKSHOP_PICTURES") {
        let name: String = text.chars().filter(|letter| letter.is_alphanumeric()).take(6).collect();
        write_png(&picture, &Path::new(&folder).join(format!("text-{name}.png"))).expect("the picture is kept");
    }
    picture
}

fn reference(name: &str) -> ColorImage {
    let bytes = std::fs::read(Path::new(FOLDER).join(format!("{name}.png"))).expect("the picture is there");
    decode(&bytes).expect("it is a picture")
}

/// The amount of ink in each pixel column, from the first column with ink to the last.
fn ink(picture: &ColorImage) -> Vec<f32> {
    let [width, height] = picture.size;
    let darkness = |x: usize, y: usize| 255.0 - f32::from(picture.pixels[y * width + x].g());
    let columns: Vec<f32> = (0..width).map(|x| (0..height).map(|y| darkness(x, y)).sum()).collect();
    let has_ink = |column: &f32| *column > 60.0;
    let first = columns.iter().position(has_ink).expect("something is written");
    let last = columns.iter().rposition(has_ink).expect("something is written");
    // Blurred over neighbouring columns, because the two programs round glyph positions differently.
    (first..=last).map(|x| (x.saturating_sub(3)..(x + 4).min(width)).map(|near| columns[near]).sum()).collect()
}

/// Similarity of two lines: 1 if they are equal, about 0 if they are unrelated.
fn likeness(one: &[f32], other: &[f32]) -> f32 {
    // Stretched to the same length, since widths differ a little.
    let one: Vec<f32> = (0..other.len()).map(|at| one[at * one.len() / other.len()]).collect();
    let mean = |of: &[f32]| of.iter().sum::<f32>() / of.len() as f32;
    let (mean_one, mean_other) = (mean(&one), mean(other));
    let product = |a: &[f32], mean_a: f32, b: &[f32], mean_b: f32| -> f32 {
        a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum()
    };
    let variance = product(&one, mean_one, &one, mean_one) * product(other, mean_other, other, mean_other);
    product(&one, mean_one, other, mean_other) / variance.sqrt().max(f32::EPSILON)
}

#[test]
fn every_script_matches_the_reference_pictures() {
    for (name, text) in LINES {
        let (ours, theirs) = (ink(&picture(text)), ink(&reference(name)));
        let width = ours.len() as f32 / theirs.len() as f32;
        assert!((0.97..1.03).contains(&width), "{name} is {} wide, not {}", ours.len(), theirs.len());
        let like = likeness(&ours, &theirs);
        assert!(like > 0.9, "{name} is like the other picture by {like}");
        let mirrored: Vec<f32> = ours.iter().rev().copied().collect();
        assert!(likeness(&mirrored, &theirs) < 0.6, "{name} the other way round would not do");
    }
}

#[test]
fn a_system_font_is_loaded_once_for_all_contexts() {
    let wanted = MissingCharacters { letters: "工م".chars().collect(), emoji: true };
    let places = || -> Vec<*const u8> {
        let found = system_fonts().find(&wanted);
        let bytes = |font: &FoundFont| match &font.data.font {
            Cow::Borrowed(bytes) => bytes.as_ptr(),
            Cow::Owned(_) => panic!("{} is copied by every context", font.name),
        };
        found.fonts.iter().chain(&found.emoji).map(bytes).collect()
    };
    let first = places();
    assert!(first.len() > 2, "two scripts and emoji");
    assert_eq!(first, places());
}

/// Runs `ask` in a context with all fonts of the test folder.
fn with_all_fonts(mut ask: impl FnMut(&Context)) {
    let letters: BTreeSet<char> = LINES.iter().flat_map(|(_, text)| text.chars()).filter(|c| !c.is_ascii()).collect();
    let found = system_fonts().find(&MissingCharacters { letters, emoji: true });
    let context = Context::default();
    fonts::install_with(&context, &Fallbacks { emoji: found.emoji, fonts: found.fonts });
    let mut output = context.run_ui(RawInput::default(), |ui| ask(ui.ctx()));
    output.textures_delta.clear();
}

fn laid_out(context: &Context, text: &str, width: f32) -> Arc<Galley> {
    context.fonts_mut(|fonts| fonts.layout(text.to_owned(), FontId::proportional(14.0), Color32::BLACK, width))
}

/// The glyphs of a row, from left to right.
fn left_to_right(galley: &Galley, row: usize) -> String {
    let mut glyphs: Vec<(f32, char)> = galley.rows[row]
        .row
        .glyphs
        .iter()
        .filter(|glyph| glyph.advance_width > 0.0)
        .map(|g| (g.pos.x, g.chr))
        .collect();
    glyphs.sort_by(|one, other| one.0.total_cmp(&other.0));
    glyphs.into_iter().map(|(_, letter)| letter).collect()
}

/// The text of each row, from left to right.
fn read_rows(galley: &Galley) -> Vec<String> {
    let ordered = in_reading_order(galley).unwrap_or_else(|| galley.clone());
    (0..ordered.rows.len()).map(|row| left_to_right(&ordered, row).trim().to_owned()).collect()
}

#[test]
fn text_with_known_line_breaks_reads_like_text_laid_out_directly() {
    with_all_fonts(|context| {
        for (text, is_known) in [
            ("Ada says that the workshop is open, and so does Bram", true),
            ("工作坊里的房间こんにちは작업장", true),
            ("ברוכים הבאים אל הסדנה Workshop של היום (42), שלום לכם", false),
            ("مرحبا بكم في الورشة (اليوم 12 مارس)، أهلا Workshop وسهلا بكم", false),
            ("Ada says ברוכים הבאים אל הסדנה to all of you", false),
            ("ยินดีต้อนรับสู่เวิร์กช็อป नमस्ते कार्यशाला में आपका स्वागत है", false),
        ] {
            for width in [90.0, 140.0] {
                let at_once = laid_out(context, text, width);
                match in_rows(&at_once) {
                    Some(rows) => {
                        let later = laid_out(context, &rows, f32::INFINITY);
                        assert_eq!(read_rows(&later), read_rows(&at_once), "{text:?} at {width}: {rows:?}");
                    }
                    None => assert!(!is_known, "{text:?} at {width}"),
                }
            }
        }
    });
}

#[test]
fn words_digits_and_brackets_are_in_visual_order() {
    with_all_fonts(|context| {
        let shown = |text: &str| {
            let galley = laid_out(context, text, f32::INFINITY);
            left_to_right(&in_reading_order(&galley).expect("it has right-to-left letters"), 0)
        };
        assert_eq!(shown("ברוכים הבאים"), "םיאבה םיכורב");
        assert_eq!(shown("היום came into the room"), "םויה came into the room", "a name does not turn a sentence");
        assert_eq!(shown("ברוכים 42, הבאים"), "םיאבה ,42 םיכורב", "digits keep their order");
        assert_eq!(
            shown("Ada: ברוכים הבאים!"),
            "Ada: םיאבה םיכורב!",
            "a line that begins with Latin runs from the left"
        );
    });
}

#[test]
fn brackets_are_mirrored_in_right_to_left_text() {
    with_all_fonts(|context| {
        let galley = laid_out(context, "היום (היום)", f32::INFINITY);
        let ordered = in_reading_order(&galley).expect("it has right-to-left letters");
        let sides = |galley: &Galley| {
            let row = &galley.rows[0].row;
            let bracket = row.glyphs.iter().find(|glyph| glyph.chr == '(').expect("it is there");
            let corner = |at: u32| row.visuals.mesh.vertices[(bracket.first_vertex + at) as usize];
            (corner(0), corner(1))
        };
        let ((left, right), (new_left, new_right)) = (sides(&galley), sides(&ordered));
        assert_eq!((left.uv, right.uv), (new_right.uv, new_left.uv), "it is drawn the other way round");
        assert!(new_left.pos.x < new_right.pos.x);
        let row = &ordered.rows[0].row;
        let x_of = |letter| row.glyphs.iter().find(|glyph| glyph.chr == letter).map(|glyph| glyph.pos.x);
        assert!(x_of('(') > x_of(')'), "what opens stands to the right of what closes");
    });
}

#[test]
fn right_to_left_lines_break_after_the_first_words_and_end_at_the_left() {
    with_all_fonts(|context| {
        let galley = laid_out(context, "ברוכים הבאים היום הבאים ברוכים", 100.0);
        let ordered = in_reading_order(&galley).expect("it has right-to-left letters");
        assert!(ordered.rows.len() > 1, "it is wrapped");
        assert!(
            left_to_right(&ordered, 0).trim().ends_with("םיכורב"),
            "the first word stands at the right of the first line"
        );
        for placed in &ordered.rows {
            let end = placed.pos.x + placed.row.size.x;
            assert!((end - galley.rect.width()).abs() < 6.0, "lines end together at the right: {end}");
        }
        assert!(in_reading_order(&laid_out(context, "plain 中文 text", 100.0)).is_none(), "others stay as they are");
    });
}

#[test]
fn emoji_are_coloured_and_sequences_are_one_picture() {
    let colours = |picture: &ColorImage| picture.pixels.iter().filter(|p| p.r().abs_diff(p.b()) > 60).count();
    let fox = picture("Fox 🦊 done");
    assert!(colours(&fox) > 300, "the fox is orange: {}", colours(&fox));
    let (mechanic, one) = (ink(&picture("👩🏽‍🔧")).len(), ink(&picture("🦊")).len());
    assert!(mechanic.abs_diff(one) < 10, "several characters are one picture: {mechanic} and {one} wide");
    assert_eq!(colours(&picture("Fox done")), 0);
}

#[test]
fn each_missing_letter_is_searched_for_once() {
    let (context, mut shown) = (Context::default(), ShownText::default());
    fonts::install(&context);
    let mut show = |text: &str| {
        let mut output = context.run_ui(RawInput::default(), |ui| {
            ui.label(text);
        });
        shown.finish(&context, &mut output);
        output.textures_delta.clear();
        shown.take_missing_characters()
    };
    assert_eq!(show("Straße · Ωμέγα – “Привіт” … → ✓"), None);
    let wanted = show("工作 and 🦊").expect("nothing has these");
    assert_eq!(wanted, MissingCharacters { letters: ['工', '作', '🦊'].into(), emoji: true });
    assert_eq!(show("工作 and 🦊"), None, "they were asked for");
    assert_eq!(show("工作坊"), Some(MissingCharacters { letters: ['坊'].into(), emoji: false }));
}

#[test]
fn a_letter_that_no_font_has_is_searched_for_only_once() {
    let found = system_fonts().find(&MissingCharacters { letters: ['\u{1e900}', '工'].into(), emoji: false });
    assert_eq!(found.fonts.len(), 1, "{:?}", found.fonts.iter().map(|font| &font.name).collect::<Vec<_>>());
    assert!(found.emoji.is_none());
    let nowhere = SystemFonts::of_folder(Path::new("/nowhere"), "");
    assert!(nowhere.find(&MissingCharacters { letters: ['工'].into(), emoji: true }).fonts.is_empty());
}

#[test]
fn installing_fonts_invalidates_measurements() {
    let (context, mut labels) = (Context::default(), Labels::default());
    let mut measure = |fallbacks: &Fallbacks| {
        fonts::install_with(&context, fallbacks);
        let mut size = egui::Vec2::ZERO;
        let mut output = context.run_ui(RawInput::default(), |ui| {
            labels.begin_frame(ui.ctx());
            size = labels.measure(ui.painter(), "أهلا بكم");
        });
        output.textures_delta.clear();
        size
    };
    let letters = "أهلا بكم".chars().filter(|letter| *letter != ' ').collect();
    let found = system_fonts().find(&MissingCharacters { letters, emoji: false });
    let boxes = measure(&Fallbacks::default());
    let written = measure(&Fallbacks { emoji: None, fonts: found.fonts });
    assert!((written.x - boxes.x).abs() > 0.5, "{written} is as wide as {boxes}");
}

#[test]
fn texts_that_are_no_longer_shown_are_dropped_from_the_cache() {
    let (context, mut shown) = (Context::default(), ShownText::default());
    fonts::install(&context);
    for round in 0..20 {
        let mut output = context.run_ui(RawInput::default(), |ui| {
            ui.label(format!("Straße {round}"));
        });
        shown.finish(&context, &mut output);
        output.textures_delta.clear();
    }
    assert_eq!(shown.kept().count(), 1);
    assert_eq!(shown.kept().map(|galley| galley.job.text.clone()).next().as_deref(), Some("Straße 19"));
}
