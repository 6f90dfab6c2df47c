//! Type over the room. It is laid out at whole sizes and without its colour, so that nothing is laid out anew in every
//! frame while the view glides, or while a word comes and goes.

use std::sync::Arc;

use egui::text::LayoutJob;
use egui::{Align2, Color32, FontId, Galley, Painter, Pos2, Rect};

/// The font for type of about this size, in points.
pub(super) fn font(size: f32) -> FontId {
    FontId::proportional(size.round().max(1.0))
}

/// A line of text; its colour comes with [`Painter::galley`].
pub(super) fn line(painter: &Painter, text: impl Into<String>, size: f32) -> Arc<Galley> {
    painter.layout_no_wrap(text.into(), font(size), Color32::PLACEHOLDER)
}

/// Text in at most so many rows; no row is wider than `width_per_point` times the size that it is laid out at, which is
/// never larger than `size`.
pub(super) fn rows(painter: &Painter, text: String, size: f32, width_per_point: f32, at_most: usize) -> Arc<Galley> {
    let font = font(size.floor());
    let width = font.size * width_per_point;
    let mut job = LayoutJob::simple(text, font, Color32::PLACEHOLDER, width);
    job.wrap.max_rows = at_most;
    painter.layout_job(job)
}

/// Paints a line of text at a place. Where it stands.
pub(super) fn word(
    painter: &Painter,
    at: Pos2,
    align: Align2,
    text: impl Into<String>,
    size: f32,
    colour: Color32,
) -> Rect {
    let galley = line(painter, text, size);
    let place = align.anchor_size(at, galley.size());
    painter.galley(place.min, galley, colour);
    place
}
