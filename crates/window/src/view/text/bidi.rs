//! Reorders right-to-left text after `egui` has laid it out from left to right.
//!
//! `egui` shapes each run of one font, so the letters of an Arabic or Hebrew word are already in order; the spaces
//! between words come from another font, so words are separate runs and lines break between the right ones. What
//! remains is the order of words, digits and punctuation in each line, by the Unicode bidirectional algorithm. The text
//! cursor still moves as if the text ran from left to right.

use std::ops::Range;
use std::sync::Arc;

use egui::epaint::text::{Glyph, PlacedRow, Row};
use egui::{Align, Galley};
use unicode_bidi::{BidiClass, BidiInfo, Level, bidi_class};

/// Whether a letter belongs to a right-to-left script.
fn is_right_to_left(letter: char) -> bool {
    letter >= '\u{590}' && matches!(bidi_class(letter), BidiClass::R | BidiClass::AL)
}

/// The text in visual order, or `None` if it already is.
pub(super) fn in_reading_order(galley: &Galley) -> Option<Galley> {
    let text = &galley.job.text;
    if !text.chars().any(is_right_to_left) {
        return None;
    }
    let mut ordered = galley.clone();
    let mut paragraphs = text.split('\n').map(base_level);
    let mut base = paragraphs.next().unwrap_or_else(Level::ltr);
    let is_block = galley.rows.len() > 1 && galley.job.halign == Align::LEFT;
    for placed in &mut ordered.rows {
        arrange(Arc::make_mut(&mut placed.row), base);
        if is_block && base.is_rtl() {
            placed.pos.x += (galley.rect.width() - placed.row.size.x).max(0.0);
        }
        if placed.ends_with_newline {
            base = paragraphs.next().unwrap_or_else(Level::ltr);
        }
    }
    let bounds = |placed: &PlacedRow| placed.row.visuals.mesh_bounds.translate(placed.pos.to_vec2());
    ordered.mesh_bounds = ordered.rows.iter().map(bounds).fold(galley.mesh_bounds, egui::Rect::union);
    Some(ordered)
}

/// The base direction of a paragraph: right-to-left if its first strong letter and most of its letters are. A sentence
/// that only begins with a right-to-left name stays left-to-right.
fn base_level(paragraph: &str) -> Level {
    let begins = BidiInfo::new(paragraph, None).paragraphs.first().map_or_else(Level::ltr, |first| first.level);
    let right = paragraph.chars().filter(|letter| is_right_to_left(*letter)).count();
    let left = paragraph.chars().filter(|letter| bidi_class(*letter) == BidiClass::L).count();
    if begins.is_rtl() && right >= left { begins } else { Level::ltr() }
}

/// A part of a line that keeps its inner order: a run of a right-to-left font, or one letter with its marks.
struct Piece {
    glyphs: Range<usize>,
    /// Its letters in logical order.
    text: String,
}

/// Moves the pieces of a line into visual order.
fn arrange(row: &mut Row, base: Level) {
    let pieces = pieces_of(&row.glyphs);
    let Some(start) = row.glyphs.first().map(|glyph| glyph.pos.x) else { return };
    let levels = levels_of(&pieces, base);
    let end = row.glyphs.iter().map(Glyph::max_x).fold(start, f32::max);
    let lefts: Vec<f32> = pieces.iter().map(|piece| row.glyphs[piece.glyphs.start].pos.x).chain([end]).collect();
    let mut left = start;
    for index in BidiInfo::reorder_visual(&levels) {
        let (shift, is_mirrored) = (left - lefts[index], levels[index].is_rtl());
        for glyph in pieces[index].glyphs.clone() {
            move_glyph(row, glyph, shift, is_mirrored);
        }
        left += lefts[index + 1] - lefts[index];
    }
    let bounds = &mut row.visuals.mesh_bounds;
    *bounds = bounds.union(row.visuals.mesh.calc_bounds());
}

/// The bidi level of each piece: even levels run from left to right, odd ones from right to left.
fn levels_of(pieces: &[Piece], base: Level) -> Vec<Level> {
    let line: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let info = BidiInfo::new(&line, Some(base));
    let of_bytes = info.paragraphs.first().map(|all| info.reordered_levels(all, 0..line.len())).unwrap_or_default();
    let starts = pieces.iter().scan(0, |next, piece| {
        let start = *next;
        *next += piece.text.len();
        Some(start)
    });
    starts.map(|start| of_bytes.get(start).copied().unwrap_or(base)).collect()
}

/// Splits a line into pieces. Letters of one font that were shaped together stay together.
fn pieces_of(glyphs: &[Glyph]) -> Vec<Piece> {
    let font = |glyph: &Glyph| (glyph.font_face_ascent.to_bits(), glyph.font_face_height.to_bits());
    let mut pieces: Vec<Piece> = Vec::new();
    for run in glyphs.chunk_by(|one, next| font(one) == font(next)) {
        let start = pieces.last().map_or(0, |piece| piece.glyphs.end);
        if run.iter().any(|glyph| is_right_to_left(glyph.chr)) {
            let letters = run.iter().rev().filter(|glyph| !is_filler(glyph)).map(|glyph| glyph.chr);
            pieces.push(Piece { glyphs: start..start + run.len(), text: letters.collect() });
            continue;
        }
        for (index, glyph) in run.iter().enumerate() {
            match pieces.last_mut().filter(|_| index > 0 && glyph.advance_width == 0.0) {
                Some(letter) => {
                    letter.glyphs.end += 1;
                    letter.text.push(glyph.chr);
                }
                None => {
                    pieces.push(Piece { glyphs: start + index..start + index + 1, text: glyph.chr.to_string() });
                }
            }
        }
    }
    pieces
}

/// Whether `egui` inserted this glyph only to have one glyph per character.
fn is_filler(glyph: &Glyph) -> bool {
    glyph.uv_rect.is_nothing() && glyph.advance_width == 0.0
}

/// Moves a glyph and its vertices. Mirrors brackets in right-to-left text.
fn move_glyph(row: &mut Row, index: usize, shift: f32, is_mirrored: bool) {
    let glyph = &mut row.glyphs[index];
    glyph.pos.x += shift;
    if glyph.uv_rect.is_nothing() {
        return;
    }
    let first = glyph.first_vertex as usize;
    let Some(corners) = row.visuals.mesh.vertices.get_mut(first..first + 4) else { return };
    let mirrors = is_mirrored && is_bracket(glyph.chr);
    let uv_rect = &mut glyph.uv_rect;
    let turned = glyph.advance_width - uv_rect.size.x - uv_rect.offset.x;
    let aside = if mirrors { turned - uv_rect.offset.x } else { 0.0 };
    for corner in corners.iter_mut() {
        corner.pos.x += shift + aside;
    }
    if mirrors {
        uv_rect.offset.x = turned;
        for (left, right) in [(0, 1), (2, 3)] {
            (corners[left].uv, corners[right].uv) = (corners[right].uv, corners[left].uv);
        }
    }
}

fn is_bracket(letter: char) -> bool {
    matches!(letter, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '«' | '»' | '‹' | '›' | '≤' | '≥')
}
