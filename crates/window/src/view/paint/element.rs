//! Paints elements with their content, and furniture.

use bevy::math::Vec2 as World;
use egui::{Color32, CornerRadius, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, pos2, vec2};

use super::batch::{Batch, Placement, lit, mixed};
use super::markdown_text::plain_text;
use super::tasks::{self, Looks};
use super::text_scaling;
use crate::base::hash::content_hash;
use crate::view::art::Sprite;
use crate::view::camera::Camera;
use crate::view::model::{ContentView, DecorView, ElementView, MailView, PinView};
use crate::view::recent_events::{PULSE_SECS, PulseKind};
use crate::view::theme::{BOOK_INK, CHALK, CHALK_TEXT, FLAG, Theme, WALL, element_colour, state_colour, word_colour};

/// Size of an element, in world units.
pub(super) const SIZE: World = crate::navigation::furniture::ELEMENT_SIZE;
/// Columns and rows of notes that fit on a pinboard.
const PINS: (usize, usize) = (5, 3);
/// Number of characters that fills a rulebook.
const FULL_BOOK_CHARS: usize = 1600;
/// Number of lines on the two pages of a rulebook.
const BOOK_LINES: usize = 16;

/// Offset of an element's corner from the corner of its canvas: drawings have a margin.
const AIR: Vec2 = vec2(10.0, 10.0);

/// Paints the shadow of a piece of furniture or an element.
pub(super) fn shadow(batch: &mut Batch, middle: World, size: World, camera: Camera, theme: Theme) {
    let foot = camera.to_screen(middle - World::new(-0.04 * size.x, 0.5 * size.y));
    let spread = vec2(size.x * 1.25, (size.x * 0.3).min(34.0)) * camera.zoom;
    batch.fill(Sprite::Shadow, Rect::from_center_size(foot, spread), theme.shadow);
}

/// Paints a wall seen from above and slightly from the front: its top, and its side below.
fn wall(batch: &mut Batch, rect: Rect, height: f32, light: Color32) {
    let whole = Placement::new(Pos2::ZERO, 1.0, Vec2::ZERO);
    let side = (height * 0.45).min(rect.height());
    let (top, side) = rect.split_top_bottom_at_y(rect.bottom() - side);
    batch.plain(side, &whole, lit(WALL[1], light));
    batch.plain(top, &whole, lit(WALL[0], light));
    let edge = Rect::from_min_max(top.left_bottom() - vec2(0.0, 1.0), top.right_bottom() + vec2(0.0, 1.0));
    batch.plain(edge, &whole, lit(WALL[2], light));
}

/// Maximum number of cases of a shelf.
const MAX_CASES: f32 = 40.0;

/// Paints furniture that stands on the floor.
pub(super) fn furniture(batch: &mut Batch, decor: &DecorView, camera: Camera, light: Color32, dark: bool) {
    let mut rect = camera.rect_to_screen(decor.position, decor.size);
    if decor.turned {
        // A rectangle with swapped sides mirrors the drawing.
        (rect.min.x, rect.max.x) = (rect.max.x, rect.min.x);
    }
    match &*decor.kind {
        "wall" => wall(batch, rect, decor.size.y * camera.zoom, light),
        "shelf" => {
            let cases = (decor.size.x / decor.size.y.max(1.0)).round().clamp(1.0, MAX_CASES) as usize;
            let wide = rect.width() / cases as f32;
            for index in 0..cases {
                let left = rect.left() + index as f32 * wide;
                let mut case = Rect::from_min_size(pos2(left, rect.top()), vec2(wide, rect.height()));
                // Mirror every second case, so that the books do not repeat side by side.
                if index % 2 == 1 {
                    (case.min.x, case.max.x) = (case.max.x, case.min.x);
                }
                batch.fill(Sprite::Shelf, case, light);
            }
        }
        "plant" => batch.fill(Sprite::Plant, rect, light),
        // A lit lamp is not darkened by the ambient light.
        "lamp" => batch.fill(Sprite::Lamp, rect, if dark { Color32::WHITE } else { light }),
        "workbench" => batch.fill(Sprite::Workbench, rect, light),
        "coffee" => batch.fill(Sprite::Coffee, rect, light),
        "bench" => batch.fill(Sprite::Bench, rect, light),
        "desk" => batch.fill(Sprite::Desk, rect, light),
        // Furniture of an unknown kind is drawn as a chest, so that it can be found and fixed.
        _ => batch.fill(Sprite::OtherElement, rect, light),
    }
}

/// Scale of an element while it reacts to being changed or read.
fn swell(pulse: Option<&(PulseKind, f64)>, now_secs: f64) -> f32 {
    let Some((kind, since)) = pulse else { return 1.0 };
    let share = ((now_secs - since) / PULSE_SECS).clamp(0.0, 1.0) as f32;
    let strength = if *kind == PulseKind::Changed { 0.07 } else { 0.035 };
    1.0 + strength * (share * 3.0 * std::f32::consts::PI).sin().max(0.0) * (1.0 - share)
}

/// Paints an element and the part of its content that consists of sprites.
pub(super) fn element(
    batch: &mut Batch,
    element: &ElementView,
    pulse: Option<&(PulseKind, f64)>,
    now_secs: f64,
    camera: Camera,
    light: Color32,
    looks: Looks<'_>,
) {
    let at = camera.to_screen(element.position);
    let canvas = Placement::new(at, camera.zoom * swell(pulse, now_secs), vec2(50.0, 40.0) + AIR);
    // Element coordinates: (0, 0) is the upper left corner, (100, 80) the lower right one.
    let place = canvas.moved(AIR);
    let fine = camera.zoom >= 0.3;
    let unread = unread(&element.content);
    if unread > 0 && &*element.kind == "inbox" {
        batch.draw(Sprite::InboxLetter, &canvas, light);
    }
    batch.draw(sprite_of(&element.kind), &canvas, tint(&element.kind, light));
    match (&*element.kind, &*element.content) {
        ("pinboard", ContentView::Pins(pins)) => notes(batch, pins, &place, light),
        ("messageboard", ContentView::Text(text)) if fine => chalk(batch, text, &place, camera.zoom, light),
        ("rulebook", ContentView::Text(text)) if fine => book_lines(batch, text, &place, light),
        (_, ContentView::Tasks(board)) => tasks::cards(batch, board, &place, (camera.zoom, looks), light),
        ("inbox", _) => {
            let flag = if unread > 0 { Sprite::InboxFlag } else { Sprite::InboxFlagDown };
            batch.draw(flag, &canvas, lit(FLAG, light));
        }
        _ => {}
    }
}

/// Paints an element of a kind without content.
pub(super) fn picture(batch: &mut Batch, kind: &str, middle: Pos2, zoom: f32, light: Color32) {
    let canvas = Placement::new(middle, zoom, vec2(50.0, 42.0) + AIR);
    batch.draw(sprite_of(kind), &canvas, tint(kind, light));
    if kind == "inbox" {
        batch.draw(Sprite::InboxFlagDown, &canvas, lit(FLAG, light));
    }
}

fn sprite_of(kind: &str) -> Sprite {
    match kind {
        "pinboard" => Sprite::Pinboard,
        "messageboard" => Sprite::MessageBoard,
        "inbox" => Sprite::Inbox,
        "rulebook" => Sprite::Rulebook,
        "taskboard" => Sprite::TaskBoard,
        _ => Sprite::OtherElement,
    }
}

/// The tint of an element; kinds without a drawing of their own are told apart by it.
fn tint(kind: &str, light: Color32) -> Color32 {
    match sprite_of(kind) {
        Sprite::OtherElement => lit(element_colour(kind), light),
        _ => light,
    }
}

fn unread(content: &ContentView) -> usize {
    let ContentView::Mail { items, .. } = content else { return 0 };
    items.iter().filter(|mail: &&MailView| !mail.read).count()
}

/// Paints the newest notes that fit on a pinboard, in the colours of their authors.
fn notes(batch: &mut Batch, pins: &[PinView], place: &Placement, light: Color32) {
    let fit = PINS.0 * PINS.1;
    for (index, pin) in pins[pins.len().saturating_sub(fit)..].iter().enumerate() {
        let (column, row) = (index % PINS.0, index / PINS.0);
        let hash = content_hash(pin.id.as_bytes());
        let jitter = vec2((hash % 7) as f32 - 3.0, (hash / 7 % 5) as f32 - 2.0) * 0.35;
        let corner = vec2(9.5 + 16.7 * column as f32, 9.5 + 17.0 * row as f32) + jitter;
        let tilt = ((hash / 64 % 9) as f32 - 4.0) * 0.035;
        let paper = mixed(word_colour(&pin.author), Color32::WHITE, 0.5);
        batch.draw(Sprite::Note, &place.moved(corner).rotated(vec2(7.0, 1.5), tilt), lit(paper, light));
    }
}

/// Paints chalk strokes that stand for text; when zoomed in, only for the text below the first line.
fn chalk(batch: &mut Batch, text: &str, place: &Placement, zoom: f32, light: Color32) {
    let lines = (text.len() / 40).min(4);
    // If the first line is legible, strokes begin below it.
    let first = if zoom >= LEGIBLE_ZOOM { 1 + usize::from(first_line(text).chars().count() > CHALK_CHARS) } else { 0 };
    for line in first..lines.max(usize::from(first == 0 && !text.trim().is_empty())) {
        let width = 74.0 - (content_hash(&[line as u8, text.len() as u8]) % 30) as f32;
        let rect = Rect::from_min_size(pos2(12.0, 14.5 + 10.0 * line as f32), vec2(width, 2.2));
        batch.plain(rect, place, lit(CHALK, light).gamma_multiply(0.55));
    }
}

/// Minimum zoom at which anything is written on elements.
pub(super) const WRITTEN_ZOOM: f32 = 0.3;

/// Minimum zoom at which the first line of a message board is legible.
const LEGIBLE_ZOOM: f32 = 0.75;

/// Number of chalk letters that fit on a line.
const CHALK_CHARS: usize = 15;

/// Number of lines searched for the first non-empty one of a board.
const LINES_READ: usize = 40;

fn first_line(text: &str) -> String {
    text.lines().take(LINES_READ).map(plain_text).find(|line| !line.is_empty()).unwrap_or_default()
}

/// Paints lines of writing; the longer the text, the fuller the book.
fn book_lines(batch: &mut Batch, text: &str, place: &Placement, light: Color32) {
    let ink = lit(BOOK_INK, light).gamma_multiply(0.75);
    for line in 0..book_fill(text) {
        let (page, row) = (line / (BOOK_LINES / 2), line % (BOOK_LINES / 2));
        let width = 30.0 - (content_hash(&[line as u8]) % 9) as f32;
        let top = 9.5 + 3.7 * row as f32;
        let left = if page == 0 { 14.0 - 0.3 * row as f32 } else { 56.0 + 0.3 * row as f32 };
        let heading = line == 0;
        let size = if heading { vec2(18.0, 2.0) } else { vec2(width, 1.2) };
        // Pages slope toward the fold.
        let slope = if page == 0 { 0.05 } else { -0.05 };
        let line = place.rotated(vec2(left, top), slope);
        batch.plain(Rect::from_min_size(pos2(left, top), size), &line, ink);
    }
}

/// Number of lines that are filled with writing.
fn book_fill(text: &str) -> usize {
    if text.trim().is_empty() {
        return 0;
    }
    (BOOK_LINES * text.len().min(FULL_BOOK_CHARS)).div_ceil(FULL_BOOK_CHARS).max(1)
}

/// Paints the parts of an element that are text or lines: a board's first line, the unread count, and highlights.
pub(super) fn writing(painter: &Painter, element: &ElementView, camera: Camera, theme: Theme) {
    let zoom = camera.zoom;
    let place = Placement::new(camera.to_screen(element.position), zoom, vec2(50.0, 40.0));
    match (&*element.kind, &*element.content) {
        ("messageboard", ContentView::Text(text)) if zoom >= LEGIBLE_ZOOM => {
            let galley = text_scaling::rows(painter, first_line(text), 9.5 * zoom, 78.0 / 9.5, 2, camera);
            galley.paint(painter, place.point(vec2(11.5, 10.5)), CHALK_TEXT);
        }
        (_, ContentView::Tasks(board)) => tasks::writing(painter, board, &place, camera),
        ("inbox", content) => {
            let unread = unread(content);
            if unread > 0 && zoom >= WRITTEN_ZOOM {
                count(painter, place.point(vec2(14.0, 8.0)), unread, camera, theme);
            }
        }
        ("pinboard", ContentView::Pins(pins)) if pins.len() > PINS.0 * PINS.1 && zoom >= 0.45 => {
            count(painter, place.point(vec2(96.0, 3.0)), pins.len(), camera, theme);
        }
        _ => {}
    }
}

/// Paints a round badge with a number.
fn count(painter: &Painter, at: Pos2, number: usize, camera: Camera, theme: Theme) {
    let size = (11.0 * camera.zoom.sqrt()).clamp(8.0, 16.0);
    let galley = text_scaling::line(painter, number.to_string(), size, camera);
    let badge = Rect::from_center_size(at, vec2((galley.size().x + 8.0).max(size + 6.0), size + 6.0));
    painter.rect_filled(badge, badge.height() / 2.0, theme.accent);
    let corner = badge.center() - galley.size() / 2.0;
    galley.paint(painter, corner, theme.on_accent);
}

/// Paints a ring that spreads around an element that was changed or read.
pub(super) fn glimmer(
    painter: &Painter,
    element: &ElementView,
    pulse: &(PulseKind, f64),
    now_secs: f64,
    camera: Camera,
    theme: Theme,
) {
    let colour = match pulse.0 {
        PulseKind::Changed => theme.accent,
        PulseKind::Read => state_colour(crate::simulation::State::Reading),
    };
    let share = ((now_secs - pulse.1) / PULSE_SECS) as f32;
    for delay in [0.0, 0.28] {
        let share = (share - delay) / (1.0 - delay);
        if (0.0..1.0).contains(&share) {
            let rect = camera.rect_to_screen(element.position, SIZE).expand((4.0 + 26.0 * share) * camera.zoom);
            let stroke = Stroke::new(
                (3.0 * (1.0 - share) * camera.zoom.clamp(0.4, 1.3)).max(0.5),
                colour.gamma_multiply(0.8 * (1.0 - share)),
            );
            let corners = CornerRadius::same((14.0 * camera.zoom).clamp(2.0, 60.0) as u8);
            painter.rect_stroke(rect, corners, stroke, StrokeKind::Outside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_texts_fill_more_lines_of_the_book() {
        assert_eq!(book_fill("  \n"), 0);
        assert_eq!(book_fill("One rule."), 1);
        assert!(book_fill(&"word ".repeat(80)) < book_fill(&"word ".repeat(200)));
        assert_eq!(book_fill(&"word ".repeat(5000)), BOOK_LINES);
    }

    #[test]
    fn an_element_at_rest_is_not_scaled() {
        assert_eq!(swell(None, 10.0), 1.0);
        assert!((swell(Some(&(PulseKind::Changed, 10.0)), 10.0 + PULSE_SECS) - 1.0).abs() < 1e-3);
        assert!(swell(Some(&(PulseKind::Changed, 10.0)), 10.2) > 1.02);
    }
}
