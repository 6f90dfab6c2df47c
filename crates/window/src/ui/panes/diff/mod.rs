//! Shows the difference of two texts line by line, side by side or in one column.

mod compare;
mod texts;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, CornerRadius, FontId, Id, Rect, ScrollArea, Sense, TextStyle, Ui, pos2, vec2};

use self::compare::{Comparison, Place, Row, SeenRow};
use crate::base::hash::content_hash;
use crate::ui::widgets;
use crate::view::theme::{MARK_RADIUS, SPACE, Theme};

/// How a difference is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DiffLook {
    /// Old on the left, new on the right.
    #[default]
    SideBySide,
    /// One under the other.
    Unified,
}

/// The height of a difference in an unlimited space, in points.
const USUAL_HEIGHT: f32 = 420.0;
/// Lines wrap after at least this many letters, however narrow the pane is.
const LEAST_COLUMNS: usize = 8;
/// How strongly lines and words that differ are coloured.
const LINE_TINT: f32 = 0.10;
const WORD_TINT: f32 = 0.30;

/// Draws how `old` became `new`. `name` tells this difference from others on screen.
pub fn diff_ui(ui: &mut Ui, name: &str, old: &str, new: &str, look: DiffLook, theme: &Theme) {
    let id = Id::new("difference").with(name);
    let mut kept = CachedComparison::recall(ui, id, old, new);
    if kept.made.is_same() {
        ui.label(widgets::soft(texts::NO_DIFFERENCES, theme));
        return;
    }
    let text = texts::changed_lines(kept.made.added, kept.made.gone);
    ui.label(widgets::small(text, theme));
    let sheet = DiffLayout::of(ui, &kept.made, look);
    let shown = kept.lay_out(&sheet, old, new);
    let room = ui.available_height();
    let height = if room.is_finite() && room < 4_000.0 { room.max(sheet.line * 4.0) } else { USUAL_HEIGHT };
    let area = ScrollArea::vertical().id_salt(("difference", name)).max_height(height).auto_shrink([false, true]);
    let mut unfold = None;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
        ui.spacing_mut().interact_size.y = sheet.line;
        area.show_rows(ui, sheet.line, shown.len(), |ui, rows| {
            for line in &shown[rows] {
                match *line {
                    Shown::Fold { first, count } => {
                        if fold_ui(ui, &sheet, first, count, theme) {
                            unfold = Some(first);
                        }
                    }
                    Shown::Piece { row, chunk, side } => {
                        piece_ui(ui, &sheet, (&kept.made, old, new), (row, chunk, side), theme);
                    }
                }
            }
        });
    });
    if let Some(first) = unfold {
        kept.unfolded.insert(first);
        kept.laid = None;
    }
    ui.data_mut(|data| data.insert_temp(id, kept));
}

/// What is remembered of a difference between frames.
#[derive(Clone)]
struct CachedComparison {
    of: (u64, u64),
    made: Arc<Comparison>,
    unfolded: BTreeSet<usize>,
    /// What is shown in which order, and the look and width that it was laid out for.
    laid: Option<(DiffLook, usize, Arc<Vec<Shown>>)>,
}

impl CachedComparison {
    /// The cached difference of these texts; compared again if they have changed.
    fn recall(ui: &Ui, id: Id, old: &str, new: &str) -> Self {
        let of = (content_hash(old.as_bytes()), content_hash(new.as_bytes()));
        let known = ui.data(|data| data.get_temp::<Self>(id)).filter(|known| known.of == of);
        known.unwrap_or_else(|| {
            let kept = Self { of, made: Arc::new(Comparison::of(old, new)), unfolded: BTreeSet::new(), laid: None };
            ui.data_mut(|data| data.insert_temp(id, kept.clone()));
            kept
        })
    }

    fn lay_out(&mut self, sheet: &DiffLayout, old: &str, new: &str) -> Arc<Vec<Shown>> {
        if let Some((look, columns, shown)) = &self.laid
            && (*look, *columns) == (sheet.look, sheet.columns)
        {
            return shown.clone();
        }
        let shown = Arc::new(lay_out(&self.made, &self.unfolded, (old, new), sheet.look, sheet.columns));
        self.laid = Some((sheet.look, sheet.columns, shown.clone()));
        shown
    }
}

/// Which side of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    /// Both versions side by side, or an unchanged part.
    Both,
    Old,
    New,
}

/// One line on screen: every one is of the same height, so that only those in sight are drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shown {
    /// A piece of a row, as long as there is room for.
    Piece { row: usize, chunk: usize, side: Side },
    /// A stretch that is alike.
    Fold { first: usize, count: usize },
}

/// Everything that is shown, in order: rows broken into pieces that fit.
fn lay_out(
    made: &Comparison,
    unfolded: &BTreeSet<usize>,
    (old, new): (&str, &str),
    look: DiffLook,
    columns: usize,
) -> Vec<Shown> {
    let mut shown = Vec::new();
    let old_chunks = |place: &Place| chunks(made.old_line(old, place.line), columns).count();
    let new_chunks = |place: &Place| chunks(made.new_line(new, place.line), columns).count();
    let push = |shown: &mut Vec<Shown>, row, side, count: usize| {
        shown.extend((0..count).map(|chunk| Shown::Piece { row, chunk, side }));
    };
    let seen = made.seen(unfolded);
    let mut at = 0;
    while let Some(next) = seen.get(at) {
        let row = match *next {
            SeenRow::Fold { first, count } => {
                shown.push(Shown::Fold { first, count });
                at += 1;
                continue;
            }
            SeenRow::Row(row) => row,
        };
        match (&made.rows[row], look) {
            (Row::Same(line, _), _) => {
                push(&mut shown, row, Side::Both, chunks(made.old_line(old, *line), columns).count());
                at += 1;
            }
            (Row::Changed(before, after), DiffLook::SideBySide) => {
                let count = before.as_ref().map_or(0, old_chunks).max(after.as_ref().map_or(0, new_chunks));
                push(&mut shown, row, Side::Both, count);
                at += 1;
            }
            // At each place, removed lines come before added ones.
            (Row::Changed(..), DiffLook::Unified) => {
                let run = made.rows[row..].iter().take_while(|row| matches!(row, Row::Changed(..))).count();
                for (side, rows) in [(Side::Old, row..row + run), (Side::New, row..row + run)] {
                    for index in rows {
                        let Row::Changed(before, after) = &made.rows[index] else { continue };
                        let place = if side == Side::Old { before } else { after };
                        let count = match place {
                            Some(place) if side == Side::Old => old_chunks(place),
                            Some(place) => new_chunks(place),
                            None => 0,
                        };
                        push(&mut shown, index, side, count);
                    }
                }
                at += run;
            }
        }
    }
    shown
}

/// How many letters a character is wide.
fn columns_of(character: char) -> usize {
    let is_wide = matches!(
        u32::from(character),
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f | 0xff00..=0xff60
            | 0x1_f300..=0x1_faff | 0x2_0000..=0x3_fffd
    );
    match character {
        '\t' => 4,
        _ if is_wide => 2,
        _ => 1,
    }
}

/// A line in pieces of at most this many letters, in bytes of the line, broken between words if that is not too early;
/// an empty line is one piece.
fn chunks(line: &str, columns: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let rest = &line[start..];
        let (mut used, mut word) = (0, 0);
        let mut end = line.len();
        for (at, character) in rest.char_indices() {
            used += columns_of(character);
            if used > columns {
                // A single character that is wider than the space is a piece of its own.
                let whole = at.max(character.len_utf8().min(rest.len()));
                end = start + if word * 3 > whole { word } else { whole };
                break;
            }
            if character == ' ' {
                word = at + 1;
            }
        }
        let chunk = start..end;
        start = end;
        is_over = end >= line.len();
        Some(chunk)
    })
}

/// How rows lie on screen.
struct DiffLayout {
    look: DiffLook,
    font: FontId,
    /// How high a line is.
    line: f32,
    /// How wide the numbers of lines are.
    gutter: f32,
    /// How wide a side is, numbers and sign and all.
    side: f32,
    /// Letters to a line.
    columns: usize,
}

impl DiffLayout {
    fn of(ui: &Ui, made: &Comparison, look: DiffLook) -> Self {
        let font = TextStyle::Monospace.resolve(ui.style());
        let (letter, line) = ui.fonts_mut(|fonts| (fonts.glyph_width(&font, '0'), fonts.row_height(&font)));
        let digits = made.longest().to_string().len().max(2);
        let gutter = letter * digits as f32 + SPACE[1];
        let width = ui.available_width();
        let (side, gutters) = match look {
            DiffLook::SideBySide => ((width - SPACE[0]) / 2.0, gutter),
            DiffLook::Unified => (width, gutter * 2.0),
        };
        let text = side - gutters - letter * 2.0 - SPACE[0];
        let columns = ((text / letter.max(1.0)).floor().max(0.0) as usize).max(LEAST_COLUMNS);
        Self { look, font, line: (line + 2.0).ceil(), gutter, side, columns }
    }
}

/// A stretch that is alike. Whether it was clicked.
fn fold_ui(ui: &mut Ui, sheet: &DiffLayout, first: usize, count: usize, theme: &Theme) -> bool {
    let text = texts::unchanged_lines(count);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), sheet.line), Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, &text));
    let share = if response.hovered() { 0.9 } else { 0.45 };
    ui.painter().rect_filled(rect, MARK_RADIUS, widgets::mix(theme.panel, theme.line, share));
    let galley = ui.painter().layout_no_wrap(text, sheet.font.clone(), theme.text);
    let at = pos2(rect.left() + sheet.gutter, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, theme.text);
    response.on_hover_text(texts::show_from_line(first + 1)).clicked()
}

/// One piece of one side, as it is drawn.
struct Cell<'a> {
    text: &'a str,
    marks: &'a [Range<usize>],
    chunk: usize,
    /// Line numbers, left to right; shown beside the first piece.
    numbers: [Option<usize>; 2],
    /// `+`, `-` or a blank, and its colour.
    sign: (&'static str, Option<Color32>),
    /// Whether the text ends with this line and without a line's end.
    is_bare: bool,
}

/// What a comparison is of: itself, the old and the new text.
type Texts<'a> = (&'a Comparison, &'a str, &'a str);

fn piece_ui(
    ui: &mut Ui,
    sheet: &DiffLayout,
    (made, old, new): Texts,
    (row, chunk, side): (usize, usize, Side),
    theme: &Theme,
) {
    let was = |place: &'_ Place| Cell {
        text: made.old_line(old, place.line),
        marks: &[],
        chunk,
        numbers: [Some(place.line), None],
        sign: ("-", Some(theme.bad)),
        is_bare: Comparison::bare_end(old, made.is_last(false, place.line)),
    };
    let is = |place: &'_ Place| Cell {
        text: made.new_line(new, place.line),
        marks: &[],
        chunk,
        numbers: [None, Some(place.line)],
        sign: ("+", Some(theme.good)),
        is_bare: Comparison::bare_end(new, made.is_last(true, place.line)),
    };
    let is_beside = sheet.look == DiffLook::SideBySide;
    ui.horizontal(|ui| match &made.rows[row] {
        Row::Same(before, after) => {
            let same = |numbers| Cell {
                text: made.old_line(old, *before),
                marks: &[],
                chunk,
                numbers,
                sign: (" ", None),
                is_bare: Comparison::bare_end(old, made.is_last(false, *before)),
            };
            if is_beside {
                cell_ui(ui, sheet, Some(same([Some(*before), None])), theme);
                ui.add_space(SPACE[0]);
                cell_ui(ui, sheet, Some(same([None, Some(*after)])), theme);
            } else {
                cell_ui(ui, sheet, Some(same([Some(*before), Some(*after)])), theme);
            }
        }
        Row::Changed(before, after) => {
            let before = before.as_ref().map(|place| Cell { marks: &place.marks, ..was(place) });
            let after = after.as_ref().map(|place| Cell { marks: &place.marks, ..is(place) });
            match side {
                Side::Old => cell_ui(ui, sheet, before, theme),
                Side::New => cell_ui(ui, sheet, after, theme),
                Side::Both => {
                    cell_ui(ui, sheet, before, theme);
                    ui.add_space(SPACE[0]);
                    cell_ui(ui, sheet, after, theme);
                }
            }
        }
    });
}

fn cell_ui(ui: &mut Ui, sheet: &DiffLayout, cell: Option<Cell>, theme: &Theme) {
    let (rect, response) = ui.allocate_exact_size(vec2(sheet.side, sheet.line), Sense::hover());
    let Some(cell) = cell else {
        ui.painter().rect_filled(rect, CornerRadius::ZERO, widgets::mix(theme.panel, theme.line, 0.25));
        return;
    };
    let Some(range) = chunks(cell.text, sheet.columns).nth(cell.chunk) else {
        // The other side has more pieces: the background continues.
        if let Some(colour) = cell.sign.1 {
            ui.painter().rect_filled(rect, CornerRadius::ZERO, widgets::mix(theme.panel, colour, LINE_TINT));
        }
        return;
    };
    let is_last_piece = range.end == cell.text.len();
    response.widget_info(|| {
        let label = format!("{} {}", cell.sign.0, &cell.text[range.clone()]);
        egui::WidgetInfo::labeled(egui::WidgetType::Label, true, label)
    });
    if !ui.is_rect_visible(rect) {
        return;
    }
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    if let Some(colour) = cell.sign.1 {
        painter.rect_filled(rect, CornerRadius::ZERO, widgets::mix(theme.panel, colour, LINE_TINT));
    }
    let write = |left: f32, text: String, colour: Color32| {
        let galley = painter.layout_no_wrap(text, sheet.font.clone(), colour);
        let width = galley.size().x;
        painter.galley(pos2(left, rect.center().y - galley.size().y / 2.0), galley, colour);
        left + width
    };
    let columns = if sheet.look == DiffLook::SideBySide { 1 } else { 2 };
    if cell.chunk == 0 {
        for (index, number) in cell.numbers.iter().enumerate() {
            let column = if columns == 1 { 0 } else { index };
            if let Some(number) = number {
                let left = rect.left() + sheet.gutter * column as f32 + 2.0;
                write(left, (number + 1).to_string(), theme.text_soft);
            }
        }
    }
    let mut left = rect.left() + sheet.gutter * columns as f32;
    if cell.chunk == 0 {
        write(left, cell.sign.0.to_owned(), cell.sign.1.unwrap_or(theme.text_soft));
    }
    left += painter.layout_no_wrap("+ ".to_owned(), sheet.font.clone(), theme.text).size().x;
    let job = job(&cell, range, sheet, theme);
    let galley = painter.layout_job(job);
    let at = pos2(left, rect.center().y - galley.size().y / 2.0);
    let end = left + galley.size().x;
    painter.galley(at, galley, theme.text);
    if cell.is_bare && is_last_piece {
        let note = Rect::from_min_max(pos2(end + 4.0, rect.top() + 2.0), pos2(end + 9.0, rect.bottom() - 3.0));
        painter.line_segment([note.left_top(), note.left_bottom()], (1.5, theme.warn));
        response.on_hover_text(texts::NO_NEWLINE_AT_END);
    }
}

/// A piece of a line with its changed words marked. Unprintable characters are shown as dots.
fn job(cell: &Cell, range: Range<usize>, sheet: &DiffLayout, theme: &Theme) -> LayoutJob {
    let mut job = LayoutJob::default();
    let plain = TextFormat::simple(sheet.font.clone(), theme.text);
    let marked = match cell.sign.1 {
        Some(colour) => TextFormat { background: widgets::mix(theme.panel, colour, WORD_TINT), ..plain.clone() },
        None => plain.clone(),
    };
    let visible = |text: &str| -> String {
        let visible = text.chars().map(|character| match character {
            '\t' => "    ".to_owned(),
            character if character.is_control() => "·".to_owned(),
            character => character.to_string(),
        });
        visible.collect()
    };
    let mut at = range.start;
    for mark in cell.marks {
        let (from, to) = (mark.start.clamp(at, range.end), mark.end.clamp(at, range.end));
        job.append(&visible(&cell.text[at..from]), 0.0, plain.clone());
        job.append(&visible(&cell.text[from..to]), 0.0, marked.clone());
        at = to;
    }
    job.append(&visible(&cell.text[at..range.end]), 0.0, plain);
    job
}

#[cfg(test)]
mod tests;
