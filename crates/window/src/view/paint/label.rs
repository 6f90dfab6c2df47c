//! Names and other labels: which are shown, so that none covers another, and how they look.

use egui::{Color32, CornerRadius, FontId, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, pos2, vec2};

use super::batch::mixed;
use crate::view::theme::Theme;

/// Side of a cell of the map of what is taken, in points.
const CELL: f32 = 6.0;
/// A letter is about this wide, in sizes of its type.
const LETTER_WIDTH: f32 = 0.55;

/// Which parts of a view something stands on already, in small squares: asking costs the same however much there is.
pub struct Taken {
    view: Rect,
    columns: usize,
    cells: Vec<bool>,
}

impl Taken {
    /// A view of which nothing is taken.
    pub fn new(view: Rect) -> Self {
        let columns = (view.width().max(0.0) / CELL).ceil() as usize + 1;
        let rows = (view.height().max(0.0) / CELL).ceil() as usize + 1;
        Self { view, columns, cells: vec![false; columns * rows] }
    }

    /// Takes a place, unless part of it is taken or nothing of it is in view.
    pub fn take(&mut self, rect: Rect) -> bool {
        let Some(cells) = self.cells_of(rect) else { return false };
        let free = self.is_free(rect);
        if free {
            self.mark(cells);
        }
        free
    }

    /// Whether nothing of a place is taken.
    pub fn is_free(&self, rect: Rect) -> bool {
        self.cells_of(rect).is_none_or(|[left, top, right, bottom]| {
            (top..=bottom)
                .all(|row| !self.cells[row * self.columns + left..=row * self.columns + right].contains(&true))
        })
    }

    /// How many cells of a place are taken.
    pub fn crowding(&self, rect: Rect) -> usize {
        let Some([left, top, right, bottom]) = self.cells_of(rect) else { return 0 };
        let row = |row: usize| &self.cells[row * self.columns + left..=row * self.columns + right];
        (top..=bottom).map(|at| row(at).iter().filter(|cell| **cell).count()).sum()
    }

    /// Takes a place in any case.
    pub fn claim(&mut self, rect: Rect) {
        if let Some(cells) = self.cells_of(rect) {
            self.mark(cells);
        }
    }

    fn mark(&mut self, [left, top, right, bottom]: [usize; 4]) {
        for row in top..=bottom {
            self.cells[row * self.columns + left..=row * self.columns + right].fill(true);
        }
    }

    fn cells_of(&self, rect: Rect) -> Option<[usize; 4]> {
        let inside = rect.intersect(self.view);
        if !inside.is_positive() {
            return None;
        }
        let cell = |point: Pos2| ((point - self.view.min) / CELL).floor();
        let (low, high) = (cell(inside.min), cell(inside.max));
        Some([low.x as usize, low.y as usize, high.x as usize, high.y as usize])
    }
}

/// A label that would like to be shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish<'a> {
    /// What it says.
    pub(super) text: &'a str,
    /// The middle of its upper edge.
    pub(super) top: Pos2,
    /// The size of its type, in points.
    pub(super) size: f32,
    /// Who comes first: 0 for what is selected or pointed at.
    pub(super) rank: u8,
    /// What else decides: the nearest to the pointer, or the first.
    pub(super) distance: f32,
    /// How it looks.
    pub(super) style: Style,
}

/// How a label looks.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Style {
    /// Of an agent.
    Name,
    /// Of an element.
    Element,
    /// On a rope of this colour.
    Rope(Color32),
    /// Of what is selected.
    Selected,
}

/// Those that can be shown without covering each other, the most wanted first. A name stands a little aside where it
/// would cover somebody's face, and is left out where it would cover one there as well; a rope's is left out at once.
pub(super) fn chosen<'a>(mut wishes: Vec<Wish<'a>>, taken: &mut Taken, faces: &Taken) -> Vec<Wish<'a>> {
    wishes.sort_by(|one, other| one.rank.cmp(&other.rank).then(one.distance.total_cmp(&other.distance)));
    wishes.retain_mut(|wish| {
        let rect = room_for(wish);
        let place = match wish.style {
            Style::Element => Some(rect),
            // Where it hangs it is clicked.
            Style::Rope(_) => Some(rect).filter(|rect| faces.is_free(*rect)),
            Style::Name | Style::Selected => places(rect).find(|place| faces.is_free(*place) && taken.is_free(*place)),
        };
        if wish.rank == 0 {
            let place = place.unwrap_or(rect);
            taken.claim(place);
            wish.top = place.center_top();
            return true;
        }
        let Some(place) = place.filter(|place| taken.take(*place)) else { return false };
        wish.top = place.center_top();
        true
    });
    wishes
}

/// Where a label can stand that would like to stand here, in the order of how well they look. Farther off it would be
/// taken for a neighbour's.
fn places(here: Rect) -> impl Iterator<Item = Rect> {
    let aside = 0.5 * here.width();
    let shifts = [(0.0, 0.0), (-aside, 0.0), (aside, 0.0), (0.0, 1.0)];
    shifts.into_iter().map(move |(x, lines)| here.translate(vec2(x, lines * here.height())))
}

/// About how much room a label takes; measuring all of them would cost more than showing the few that fit.
fn room_for(wish: &Wish) -> Rect {
    let letters = wish.text.chars().count().min(MAX_LETTERS) as f32;
    let size = vec2(letters * LETTER_WIDTH * wish.size + 10.0, wish.size + 6.0);
    Rect::from_center_size(wish.top + vec2(0.0, size.y / 2.0), size)
}

/// Longer labels are cut.
const MAX_LETTERS: usize = 28;

/// What a label says, without the line breaks that a file may have put into a name.
fn on_one_line(text: &str) -> String {
    let end = text.char_indices().nth(2 * MAX_LETTERS).map_or(text.len(), |(end, _)| end);
    text[..end].replace(char::is_control, " ")
}

/// Paints a label.
pub(super) fn paint(painter: &Painter, wish: &Wish, theme: Theme) {
    let (ground, ink, stroke) = match wish.style {
        // Grounds are opaque: the window blends half-transparent light colours to grey.
        Style::Name => (mixed(theme.bubble, theme.floor, 0.18), theme.bubble_text, None),
        Style::Element => (mixed(theme.panel, theme.floor, 0.12), theme.text, None),
        Style::Rope(colour) => (theme.bubble, theme.bubble_text, Some(colour)),
        Style::Selected => (theme.accent, theme.on_accent, None),
    };
    let mut job =
        egui::text::LayoutJob::simple_singleline(on_one_line(wish.text), FontId::proportional(wish.size), ink);
    job.wrap.max_width = MAX_LETTERS as f32 * LETTER_WIDTH * wish.size;
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    let galley = painter.layout_job(job);
    let size = galley.size() + vec2(10.0, 2.0);
    let rect = Rect::from_min_size(pos2(wish.top.x - size.x / 2.0, wish.top.y), size);
    let corners = CornerRadius::same((size.y / 2.0).min(8.0) as u8);
    painter.rect_filled(rect, corners, ground);
    if let Some(colour) = stroke {
        painter.rect_stroke(rect, corners, Stroke::new(1.0, colour), StrokeKind::Inside);
    }
    painter.galley(rect.min + Vec2::new(5.0, 1.0), galley, ink);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(text: &str, x: f32, rank: u8, distance: f32) -> Wish<'_> {
        Wish { text, top: pos2(x, 100.0), size: 12.0, rank, distance, style: Style::Name }
    }

    fn texts(wishes: Vec<Wish<'_>>) -> Vec<&str> {
        let view = Rect::from_min_size(Pos2::ZERO, vec2(400.0, 300.0));
        chosen(wishes, &mut Taken::new(view), &Taken::new(view)).into_iter().map(|wish| wish.text).collect()
    }

    #[test]
    fn a_name_stands_aside_of_a_face_and_is_left_out_in_a_crowd() {
        let view = Rect::from_min_size(Pos2::ZERO, vec2(400.0, 300.0));
        let mut faces = Taken::new(view);
        let shown = |faces: &Taken, rank| chosen(vec![wish("Ada", 100.0, rank, 0.0)], &mut Taken::new(view), faces);
        assert_eq!(shown(&faces, 2)[0].top, pos2(100.0, 100.0));
        let face = Rect::from_center_size(pos2(108.0, 109.0), vec2(12.0, 12.0));
        faces.claim(face);
        let aside = shown(&faces, 2);
        assert!(!room_for(&aside[0]).intersects(face), "{:?}", aside[0]);
        faces.claim(view);
        assert!(shown(&faces, 2).is_empty(), "everywhere are faces");
        assert_eq!(shown(&faces, 0)[0].top, pos2(100.0, 100.0), "what is selected is labelled in any case");
    }

    #[test]
    fn of_labels_in_one_place_the_nearest_to_the_pointer_is_shown() {
        assert_eq!(texts(vec![wish("far", 100.0, 2, 90.0), wish("near", 110.0, 2, 10.0)]), ["near"]);
        assert_eq!(texts(vec![wish("one", 50.0, 2, 90.0), wish("two", 250.0, 2, 10.0)]), ["two", "one"]);
    }

    #[test]
    fn what_is_selected_is_labelled_before_all_others() {
        assert_eq!(texts(vec![wish("near", 100.0, 2, 1.0), wish("selected", 110.0, 0, 500.0)]), ["selected"]);
    }

    #[test]
    fn names_of_several_lines_are_one_line() {
        assert_eq!(on_one_line("Ada\nof the\tarchive"), "Ada of the archive");
        assert_eq!(on_one_line(&"ß".repeat(200)).chars().count(), 2 * MAX_LETTERS);
    }

    #[test]
    fn labels_out_of_view_are_not_shown() {
        assert_eq!(texts(vec![wish("gone", 900.0, 2, 1.0)]), [""; 0]);
    }

    #[test]
    fn no_two_shown_labels_overlap_however_many_there_are() {
        let wishes: Vec<Wish> = (0..500)
            .map(|index| Wish {
                top: pos2((index * 37 % 400) as f32, (index * 91 % 300) as f32),
                ..wish("somebody", 0.0, 2, index as f32)
            })
            .collect();
        let mut taken = Taken::new(Rect::from_min_size(Pos2::ZERO, vec2(400.0, 300.0)));
        let shown = chosen(wishes, &mut taken, &Taken::new(Rect::from_min_size(Pos2::ZERO, vec2(400.0, 300.0))));
        assert!(shown.len() > 20);
        for (index, one) in shown.iter().enumerate() {
            for other in &shown[index + 1..] {
                assert!(!room_for(one).intersect(room_for(other)).is_positive());
            }
        }
    }
}
