//! Scales text over the room. While the view zooms, text is laid out at whole sizes and scaled to the one that it
//! should have, so that no letter jumps and few are drawn again; once the view rests, it is laid out at exactly that
//! size, and crisp. It is laid out without its colour, so that it need not be laid out again while it fades in and out.

use std::sync::Arc;

use egui::emath::TSTransform;
use egui::epaint::TextShape;
use egui::epaint::text::Glyph;
use egui::text::LayoutJob;
use egui::{Align2, Color32, FontId, Galley, Painter, Pos2, Rect, Vec2};

use crate::view::camera::Camera;

/// Where rows end is found out at this size, so that it is the same at every other.
const ROWS_AT: f32 = 16.0;
/// At rest, type is laid out at such parts of a point: how large all that was ever seen is stays within bounds.
const PARTS_OF_POINT: f32 = 4.0;

/// The size that type is laid out at, and how much larger or smaller it is drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Fit {
    laid_out: f32,
    scale: f32,
}

impl Fit {
    fn of(size: f32, camera: Camera) -> Self {
        if camera.is_zooming {
            let laid_out = size.round().max(1.0);
            Self { laid_out, scale: size / laid_out }
        } else {
            Self { laid_out: ((size * PARTS_OF_POINT).round() / PARTS_OF_POINT).max(1.0), scale: 1.0 }
        }
    }

    fn font(self) -> FontId {
        FontId::proportional(self.laid_out)
    }
}

/// Type that was laid out; its colour comes when it is painted.
#[derive(Clone, Debug)]
pub(super) struct Lettering {
    galley: Arc<Galley>,
    scale: f32,
}

impl Lettering {
    /// How large it is drawn.
    pub(super) fn size(&self) -> Vec2 {
        self.galley.size() * self.scale
    }

    /// Paints it, its upper left corner at this place.
    pub(super) fn paint(self, painter: &Painter, at: Pos2, colour: Color32) {
        if self.scale == 1.0 {
            painter.galley(at, self.galley, colour);
            return;
        }
        let mut shape = TextShape::new(Pos2::ZERO, self.galley, colour);
        shape.transform(TSTransform::new(at.to_vec2(), self.scale));
        for placed in &mut Arc::make_mut(&mut shape.galley).rows {
            // Words that are read from the right, and emoji, are put where the letters are.
            Arc::make_mut(&mut placed.row).glyphs.iter_mut().for_each(|glyph| scale(glyph, self.scale));
        }
        painter.add(shape);
    }
}

/// Scales what a letter knows of its place and its size.
fn scale(glyph: &mut Glyph, by: f32) {
    glyph.pos = Pos2::ZERO + glyph.pos.to_vec2() * by;
    (glyph.uv_rect.offset, glyph.uv_rect.size) = (glyph.uv_rect.offset * by, glyph.uv_rect.size * by);
    let lengths = [
        &mut glyph.advance_width,
        &mut glyph.line_height,
        &mut glyph.font_ascent,
        &mut glyph.font_height,
        &mut glyph.font_face_ascent,
        &mut glyph.font_face_height,
    ];
    lengths.into_iter().for_each(|length| *length *= by);
}

/// A line of text.
pub(super) fn line(painter: &Painter, text: impl Into<String>, size: f32, camera: Camera) -> Lettering {
    let fit = Fit::of(size, camera);
    let galley = painter.layout_no_wrap(text.into(), fit.font(), Color32::PLACEHOLDER);
    Lettering { galley, scale: fit.scale }
}

/// A line of text that is cut where it would be wider than this.
pub(super) fn cut(painter: &Painter, text: String, size: f32, width: f32, camera: Camera) -> Lettering {
    let fit = Fit::of(size, camera);
    let mut job = LayoutJob::simple_singleline(text, fit.font(), Color32::PLACEHOLDER);
    job.wrap.max_width = width / fit.scale;
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    Lettering { galley: painter.layout_job(job), scale: fit.scale }
}

/// Text in at most so many rows, the same at every size; a row is about `width_per_point` times the size wide at most.
pub(super) fn rows(
    painter: &Painter,
    text: String,
    size: f32,
    width_per_point: f32,
    at_most: usize,
    camera: Camera,
) -> Lettering {
    let width = ROWS_AT * width_per_point;
    let mut job = LayoutJob::simple(text, FontId::proportional(ROWS_AT), Color32::PLACEHOLDER, width);
    job.wrap.max_rows = at_most;
    let galley = painter.layout_job(job);
    if let Some(text) = in_rows(&galley) {
        return line(painter, text, size, camera);
    }
    // Where its rows cannot be told they are found anew at each size.
    let fit = Fit::of(size, camera);
    let width = fit.laid_out * width_per_point;
    let mut job = LayoutJob::simple(galley.text().to_owned(), fit.font(), Color32::PLACEHOLDER, width);
    job.wrap.max_rows = at_most;
    Lettering { galley: painter.layout_job(job), scale: fit.scale }
}

/// A text with line breaks where it was laid out in rows, and cut where it was cut. Nothing where the glyphs of a row do not
/// say which letters it has: in words that run from right to left, and where a letter is drawn in several parts.
pub(crate) fn in_rows(galley: &Galley) -> Option<String> {
    let mut letters = galley.text().chars();
    let mut text = String::with_capacity(galley.text().len() + galley.rows.len());
    for (index, row) in galley.rows.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        let is_cut = galley.elided && index + 1 == galley.rows.len();
        let count = row.glyphs.len().saturating_sub(usize::from(is_cut));
        let shown: String = letters.by_ref().take(count).collect();
        if !row.glyphs.iter().take(count).map(|glyph| glyph.chr).eq(shown.chars()) {
            return None;
        }
        text.push_str(shown.trim_end());
        if is_cut {
            text.push('…');
        } else if row.ends_with_newline {
            letters.next();
        }
    }
    Some(text)
}

/// How large a line of text is, laid out at a size once and for all.
pub(super) fn measure(painter: &Painter, text: &str, size: f32) -> Vec2 {
    painter.layout_no_wrap(text.to_owned(), FontId::proportional(size), Color32::PLACEHOLDER).size()
}

/// Paints a line of text at a place.
pub(super) fn word(
    painter: &Painter,
    (at, align): (Pos2, Align2),
    text: impl Into<String>,
    size: f32,
    colour: Color32,
    camera: Camera,
) {
    let lettering = line(painter, text, size, camera);
    let place: Rect = align.anchor_size(at, lettering.size());
    lettering.paint(painter, place.min, colour);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::text::fonts;

    /// What comes of a painter that knows the fonts of the window.
    fn with_painter<T>(mut draw: impl FnMut(&Painter) -> T) -> T {
        let context = egui::Context::default();
        fonts::install(&context);
        // Fonts are there from the second frame on.
        context.run_ui(egui::RawInput::default(), |_| {}).textures_delta.clear();
        let mut came = None;
        context.run_ui(egui::RawInput::default(), |ui| came = Some(draw(ui.painter()))).textures_delta.clear();
        came.expect("a frame was drawn")
    }

    fn camera(is_zooming: bool) -> Camera {
        Camera { is_zooming, ..Camera::default() }
    }

    /// Sizes in points that one turn of the wheel after another leads through.
    fn sizes() -> impl Iterator<Item = f32> {
        std::iter::successors(Some(8.0), |size| Some(size * 1.013)).take_while(|size| *size < 30.0)
    }

    const TEXT: &str = "All of us look at the plans for the party and say what is missing";

    #[test]
    fn while_the_view_comes_nearer_type_grows_evenly_and_keeps_its_rows() {
        with_painter(|painter| {
            let mut before: Option<(Vec2, Vec<String>)> = None;
            for size in sizes() {
                let lettering = rows(painter, TEXT.to_owned(), size, 8.0, 3, camera(true));
                let texts: Vec<String> = lettering.galley.rows.iter().map(|row| row.text()).collect();
                if let Some((other, same)) = before {
                    let grown = lettering.size() / other;
                    // Letters are as large as they should be; the advance of each is rounded at whole sizes.
                    assert!((0.97..1.05).contains(&grown.x), "{size}: {grown:?}");
                    assert_eq!(texts, same, "at {size}");
                }
                before = Some((lettering.size(), texts));
            }
        });
    }

    #[test]
    fn type_that_settles_is_as_large_as_it_was_on_its_way_and_says_the_same() {
        with_painter(|painter| {
            for size in sizes() {
                let [moving, still] =
                    [true, false].map(|moves| rows(painter, TEXT.to_owned(), size, 8.0, 3, camera(moves)));
                let jump = (moving.size() / still.size() - Vec2::splat(1.0)).abs();
                assert!(jump.x < 0.05 && jump.y < 0.12, "at {size} by {jump:?}");
                let fit = Fit::of(size, camera(true));
                assert!((fit.laid_out * fit.scale - size).abs() < 1e-4, "on its way it is exactly as large");
                assert_eq!(still.scale, 1.0, "it is crisp");
                assert_eq!(moving.galley.text(), still.galley.text());
                let word = "Missing";
                let [moving, still] =
                    [true, false].map(|moves| cut(painter, word.into(), size, 7.0 * size, camera(moves)));
                assert_eq!((moving.galley.elided, still.galley.elided), (false, false));
            }
        });
    }

    #[test]
    fn rows_hold_what_was_written_in_the_order_in_which_it_was() {
        with_painter(|painter| {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            for written in ["One two three four", "One\n\ntwo", ""] {
                let lettering = rows(painter, written.to_owned(), 12.0, 5.2, 9, camera(false));
                let text = lettering.galley.text();
                assert_eq!(words(text), words(written));
                assert!(written.is_empty() || text.contains('\n'), "{text} is wider than a row");
            }
            let cut = rows(painter, TEXT.to_owned(), 12.0, 5.2, 2, camera(false));
            assert!(cut.galley.text().ends_with('…') && cut.galley.rows.len() == 2, "{}", cut.galley.text());
        });
    }

    #[test]
    fn few_sizes_are_laid_out_on_the_way() {
        let mut laid_out: Vec<f32> = sizes().map(|size| Fit::of(size, camera(true)).laid_out).collect();
        laid_out.dedup();
        assert!(laid_out.len() <= 23 && laid_out.iter().all(|size| size.fract() == 0.0), "{laid_out:?}");
    }
}
