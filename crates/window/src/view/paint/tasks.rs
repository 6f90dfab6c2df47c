//! Paints a task board in the room: columns for open, in progress, waiting for the person and done, with counts, the
//! first tasks as cards, and the faces of assigned agents.

use egui::{Color32, Painter, Pos2, Rect, Vec2, pos2, vec2};

use super::batch::{Batch, Placement, lit, mixed};
use super::{figure, text_scaling};
use crate::base::Id;
use crate::base::text::{one_line, truncate};
use crate::view::camera::Camera;
use crate::view::model::TasksView;
use crate::view::theme::{CARD_SHADOW, LIGHT, word_colour};
use crate::workspace::task_files::{Column, Priority, Task};

/// Left edge of the first column, width of a column, and distance between columns, in canvas units.
const LEFT: f32 = 7.0;
const WIDTH: f32 = 20.4;
const STEP: f32 = 21.9;
/// Top of the first card, height of a card, and distance between cards.
const TOP: f32 = 18.2;
const HEIGHT: f32 = 9.4;
const DOWN: f32 = 10.5;
/// Number of cards per column.
const CARDS: usize = 4;
/// Minimum zoom at which counts are legible.
const COUNTED_ZOOM: f32 = 0.5;
/// Minimum zoom at which the faces of assignees are painted.
const FACES_ZOOM: f32 = 0.45;
/// Minimum zoom at which titles are legible.
const TITLES_ZOOM: f32 = 2.2;
/// Font size of a title in canvas units, and the number of characters laid out.
const TITLE_SIZE: f32 = 3.2;
const TITLE_CHARS: usize = 48;
/// Radius of a face.
const FACE_RADIUS: f32 = 2.7;

/// Looks up the look of the agent that a name refers to; `None` if no such agent is in the room.
pub(super) type Looks<'a> = &'a dyn Fn(&str) -> Option<Id>;

/// The first tasks of a column and the total number. Finished tasks are listed newest first.
fn of_column(board: &TasksView, column: usize) -> (Vec<&Task>, usize) {
    let all = &board.columns[column];
    let task = |index: &usize| &board.file.tasks[*index];
    let is_done = Column::SHOWN[column] == Column::Done;
    let first = if is_done {
        all.iter().rev().take(CARDS).map(task).collect()
    } else {
        all.iter().take(CARDS).map(task).collect()
    };
    (first, all.len())
}

fn card(column: usize, row: usize) -> Rect {
    let corner = pos2(LEFT + STEP * column as f32 + 0.9, TOP + DOWN * row as f32);
    Rect::from_min_size(corner, vec2(WIDTH - 1.8, HEIGHT))
}

/// Colour of the mark at the edge of a card.
fn mark(task: &Task, column: Column) -> Color32 {
    match task.priority.as_ref().map(|(priority, _)| *priority) {
        _ if column.is_closed() => LIGHT.good,
        Some(Priority::A) => LIGHT.bad,
        Some(Priority::B) => LIGHT.warn,
        _ => LIGHT.text_soft,
    }
}

/// Paints the cards with the faces of their assignees.
pub(super) fn cards(
    batch: &mut Batch,
    board: &TasksView,
    place: &Placement,
    (zoom, looks): (f32, Looks<'_>),
    light: Color32,
) {
    for (index, column) in Column::SHOWN.into_iter().enumerate() {
        for (row, task) in of_column(board, index).0.into_iter().enumerate() {
            let rect = card(index, row);
            let name = task.stakeholders.first().map(|name| name.text.as_str());
            let tint = name.map_or(Color32::WHITE, |name| mixed(word_colour(name), Color32::WHITE, 0.82));
            let fill = if column.is_closed() { mixed(tint, LIGHT.line, 0.45) } else { tint };
            batch.plain(rect.translate(vec2(0.5, 0.8)), place, CARD_SHADOW);
            batch.plain(rect, place, lit(fill, light));
            batch.plain(rect.with_max_x(rect.left() + 1.3), place, lit(mark(task, column), light));
            let look = name.and_then(looks).filter(|_| zoom >= FACES_ZOOM);
            if let Some(look) = &look {
                let at = place.point(face(rect).to_vec2());
                figure::badge(batch, look, at, FACE_RADIUS * zoom, None);
            }
            // Strokes stand for the title until it is legible.
            if zoom < TITLES_ZOOM {
                let ink = lit(LIGHT.text, light).gamma_multiply(if column.is_closed() { 0.3 } else { 0.5 });
                let wide = rect.width() - if look.is_some() { 9.6 } else { 4.6 };
                let chars = task.title.text.chars().take(TITLE_CHARS).count() as f32;
                for line in 0..if chars > 14.0 { 2_u8 } else { 1 } {
                    let share = if line == 0 { (chars / 14.0).clamp(0.35, 1.0) } else { 0.6 };
                    let at = rect.min + vec2(2.9, 2.4 + 3.2 * f32::from(line));
                    batch.plain(Rect::from_min_size(at, vec2(wide * share, 1.3)), place, ink);
                }
            }
        }
    }
}

fn face(card: Rect) -> Pos2 {
    pos2(card.right() - FACE_RADIUS - 0.7, card.center().y)
}

/// Paints the counts, and the titles if they are legible.
pub(super) fn writing(painter: &Painter, board: &TasksView, place: &Placement, camera: Camera) {
    let zoom = camera.zoom;
    for (index, column) in Column::SHOWN.into_iter().enumerate() {
        let (first, count) = of_column(board, index);
        let head = vec2(LEFT + STEP * index as f32 + WIDTH / 2.0, 11.7);
        if zoom >= COUNTED_ZOOM {
            let text = if zoom >= TITLES_ZOOM { format!("{} {count}", column.name()) } else { count.to_string() };
            let size = if zoom >= TITLES_ZOOM { 3.2 } else { 7.0 };
            centred(painter, place.point(head), text, size * zoom, Color32::WHITE, camera);
        }
        if zoom < TITLES_ZOOM {
            continue;
        }
        for (row, task) in first.into_iter().enumerate() {
            let rect = card(index, row);
            let wide = rect.width() - if task.stakeholders.is_empty() { 3.6 } else { 8.8 };
            let title = truncate(&one_line(&task.title.text), TITLE_CHARS);
            let galley = text_scaling::rows(painter, title, TITLE_SIZE * zoom, wide / TITLE_SIZE, 2, camera);
            let top = rect.center().y - galley.size().y / zoom / 2.0;
            let ink = if column.is_closed() { LIGHT.text_soft } else { LIGHT.text };
            galley.paint(painter, place.point(vec2(rect.left() + 2.6, top)), ink);
        }
    }
}

fn centred(painter: &Painter, at: Pos2, text: String, size: f32, ink: Color32, camera: Camera) {
    let galley = text_scaling::line(painter, text, size, camera);
    let corner: Vec2 = galley.size() / 2.0;
    galley.paint(painter, at - corner, ink);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::task_files::parse;

    #[test]
    fn columns_have_their_tasks_and_counts() {
        let many: String = (0..9).map(|number| format!("- [x] done {number}\n")).collect();
        let file = parse(format!("- one\n- @human two\n- three\n  status: working\n- [-] four\n{many}"));
        let board = TasksView::of(file.into());
        assert_eq!([0, 1, 2, 3].map(|column| of_column(&board, column).1), [1, 1, 1, 10]);
        let (done, _) = of_column(&board, 3);
        assert_eq!((done.len(), done[0].title.text.as_str()), (CARDS, "done 8"));
    }

    #[test]
    fn cards_stay_on_the_board_and_never_overlap() {
        let board = Rect::from_min_max(pos2(5.5, 16.0), pos2(94.5, 62.5));
        let all: Vec<Rect> = (0..4).flat_map(|column| (0..CARDS).map(move |row| card(column, row))).collect();
        for (index, rect) in all.iter().enumerate() {
            assert!(board.contains_rect(*rect), "{rect:?}");
            assert!(all[index + 1..].iter().all(|other| !rect.intersects(*other)), "{rect:?}");
        }
    }
}
