//! Scales text over the room. While the view zooms, text is laid out at whole font sizes and scaled, so that letters do
//! not jump and few glyphs are rasterised; otherwise it is laid out at its exact size, and crisp. Layout is independent
//! of colour, so that fading does not lay text out again.

use std::sync::Arc;

use egui::emath::TSTransform;
use egui::epaint::TextShape;
use egui::epaint::text::Glyph;
use egui::text::LayoutJob;
use egui::{Align2, Color32, FontId, Galley, Painter, Pos2, Rect, Vec2};

use crate::view::camera::Camera;

/// Font size at which line breaks are determined, so that they are the same at every size.
const ROWS_AT: f32 = 16.0;
/// At rest, font sizes are rounded to this fraction of a point, which bounds the number of rasterised sizes.
const PARTS_OF_POINT: f32 = 4.0;

/// The font size of the layout, and the scale at which it is drawn.
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

/// Laid-out text, without its colour.
#[derive(Clone, Debug)]
pub(super) struct Lettering {
    galley: Arc<Galley>,
    scale: f32,
}

impl Lettering {
    /// The size at which it is drawn.
    pub(super) fn size(&self) -> Vec2 {
        self.galley.size() * self.scale
    }

    /// Paints the text with its top left corner at `at`.
    pub(super) fn paint(self, painter: &Painter, at: Pos2, colour: Color32) {
        if self.scale == 1.0 {
            painter.galley(at, self.galley, colour);
            return;
        }
        let mut shape = TextShape::new(Pos2::ZERO, self.galley, colour);
        shape.transform(TSTransform::new(at.to_vec2(), self.scale));
        for placed in &mut Arc::make_mut(&mut shape.galley).rows {
            // Right-to-left and emoji processing use the glyph positions.
            Arc::make_mut(&mut placed.row).glyphs.iter_mut().for_each(|glyph| scale(glyph, self.scale));
        }
        painter.add(shape);
    }
}

/// Scales the position and size of a glyph.
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

/// Lays out a line of text.
pub(super) fn line(painter: &Painter, text: impl Into<String>, size: f32, camera: Camera) -> Lettering {
    let fit = Fit::of(size, camera);
    let galley = painter.layout_no_wrap(text.into(), fit.font(), Color32::PLACEHOLDER);
    Lettering { galley, scale: fit.scale }
}

/// Lays out a line of text, truncated at a width.
pub(super) fn cut(painter: &Painter, text: String, size: f32, width: f32, camera: Camera) -> Lettering {
    let fit = Fit::of(size, camera);
    let mut job = LayoutJob::simple_singleline(text, fit.font(), Color32::PLACEHOLDER);
    job.wrap.max_width = width / fit.scale;
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    Lettering { galley: painter.layout_job(job), scale: fit.scale }
}

/// Lays out text in a maximum number of rows with the same line breaks at every size; a row is at most about
/// `width_per_point` times the font size wide.
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
    // If the line breaks cannot be read back, they are determined again at each size.
    let fit = Fit::of(size, camera);
    let width = fit.laid_out * width_per_point;
    let mut job = LayoutJob::simple(galley.text().to_owned(), fit.font(), Color32::PLACEHOLDER, width);
    job.wrap.max_rows = at_most;
    Lettering { galley: painter.layout_job(job), scale: fit.scale }
}

/// The text with the line breaks and the truncation of a layout. `None` if the glyphs of a row do not map to its
/// characters: right-to-left words, and characters of several glyphs.
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

/// Size of a line of text at a fixed font size.
pub(super) fn measure(painter: &Painter, text: &str, size: f32) -> Vec2 {
    painter.layout_no_wrap(text.to_owned(), FontId::proportional(size), Color32::PLACEHOLDER).size()
}

/// Paints a line of text.
pub(super) fn paint_line(
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

    /// Runs `draw` with a painter that has the bundled fonts.
    fn with_painter<T>(mut draw: impl FnMut(&Painter) -> T) -> T {
        let context = egui::Context::default();
        fonts::install(&context);
        // Fonts are available from the second frame on.
        context.run_ui(egui::RawInput::default(), |_| {}).textures_delta.clear();
        let mut came = None;
        context.run_ui(egui::RawInput::default(), |ui| came = Some(draw(ui.painter()))).textures_delta.clear();
        came.expect("a frame was drawn")
    }

    fn camera(is_zooming: bool) -> Camera {
        Camera { is_zooming, ..Camera::default() }
    }

    /// The font sizes in points at successive steps of the mouse wheel.
    fn sizes() -> impl Iterator<Item = f32> {
        std::iter::successors(Some(8.0), |size| Some(size * 1.013)).take_while(|size| *size < 30.0)
    }

    const TEXT: &str = "All of us look at the plans for the party and say what is missing";

    #[test]
    fn text_grows_evenly_and_keeps_its_rows_while_zooming() {
        with_painter(|painter| {
            let mut before: Option<(Vec2, Vec<String>)> = None;
            for size in sizes() {
                let lettering = rows(painter, TEXT.to_owned(), size, 8.0, 3, camera(true));
                let texts: Vec<String> = lettering.galley.rows.iter().map(|row| row.text()).collect();
                if let Some((other, same)) = before {
                    let grown = lettering.size() / other;
                    // Glyphs are scaled exactly; only advances are rounded at whole sizes.
                    assert!((0.97..1.05).contains(&grown.x), "{size}: {grown:?}");
                    assert_eq!(texts, same, "at {size}");
                }
                before = Some((lettering.size(), texts));
            }
        });
    }

    #[test]
    fn text_keeps_its_size_and_content_when_zooming_ends() {
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
    fn rows_keep_the_logical_order_of_text() {
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
    fn few_sizes_are_laid_out_while_zooming() {
        let mut laid_out: Vec<f32> = sizes().map(|size| Fit::of(size, camera(true)).laid_out).collect();
        laid_out.dedup();
        assert!(laid_out.len() <= 23 && laid_out.iter().all(|size| size.fract() == 0.0), "{laid_out:?}");
    }
}
