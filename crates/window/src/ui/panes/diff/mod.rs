//! Shows the difference of two texts line by line, side by side or unified.

mod compare;
mod texts;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, CornerRadius, FontId, Id, Rect, ScrollArea, Sense, TextStyle, Ui, pos2, vec2};

use self::compare::{ChangedLine, Comparison, Row, VisibleRow};
use crate::base::hash::content_hash;
use crate::ui::widgets;
use crate::view::theme::{MARK_RADIUS, SPACE, Theme};

/// The layout of a difference.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DiffLook {
    /// The old text on the left, the new one on the right.
    #[default]
    SideBySide,
    /// Both in one column.
    Unified,
}

/// The height if the available height is unlimited, in points.
const DEFAULT_HEIGHT: f32 = 420.0;
/// The minimum number of columns before a line wraps, however narrow the pane is.
const MIN_COLUMNS: usize = 8;
/// The strength of the background colour of changed lines and words.
const LINE_TINT: f32 = 0.10;
const WORD_TINT: f32 = 0.30;

/// Draws the difference of `old` and `new`. `name` identifies it among others on screen.
pub fn diff_ui(ui: &mut Ui, name: &str, old: &str, new: &str, look: DiffLook, theme: &Theme) {
    let id = Id::new("difference").with(name);
    let mut cached = CachedComparison::load(ui, id, old, new);
    if cached.comparison.is_same() {
        ui.label(widgets::secondary_text(texts::NO_DIFFERENCES, theme));
        return;
    }
    let text = texts::changed_lines(cached.comparison.added, cached.comparison.removed);
    ui.label(widgets::small(text, theme));
    let layout = DiffLayout::of(ui, &cached.comparison, look);
    let shown = cached.display_lines(&layout, old, new);
    let room = ui.available_height();
    let height = if room.is_finite() && room < 4_000.0 { room.max(layout.line * 4.0) } else { DEFAULT_HEIGHT };
    let area = ScrollArea::vertical().id_salt(("difference", name)).max_height(height).auto_shrink([false, true]);
    let mut unfold = None;
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
        ui.spacing_mut().interact_size.y = layout.line;
        area.show_rows(ui, layout.line, shown.len(), |ui, rows| {
            for line in &shown[rows] {
                match *line {
                    DisplayLine::Fold { first, count } => {
                        if fold_ui(ui, &layout, first, count, theme) {
                            unfold = Some(first);
                        }
                    }
                    DisplayLine::Chunk { row, chunk, side } => {
                        chunk_ui(ui, &layout, (&cached.comparison, old, new), (row, chunk, side), theme);
                    }
                }
            }
        });
    });
    if let Some(first) = unfold {
        cached.unfolded.insert(first);
        cached.lines = None;
    }
    ui.data_mut(|data| data.insert_temp(id, cached));
}

/// The state of a difference between frames.
#[derive(Clone)]
struct CachedComparison {
    of: (u64, u64),
    comparison: Arc<Comparison>,
    unfolded: BTreeSet<usize>,
    /// The display lines, with the look and number of columns that they were computed for.
    lines: Option<(DiffLook, usize, Arc<Vec<DisplayLine>>)>,
}

impl CachedComparison {
    /// Returns the cached comparison of these texts; compares them again if they have changed.
    fn load(ui: &Ui, id: Id, old: &str, new: &str) -> Self {
        let of = (content_hash(old.as_bytes()), content_hash(new.as_bytes()));
        let known = ui.data(|data| data.get_temp::<Self>(id)).filter(|known| known.of == of);
        known.unwrap_or_else(|| {
            let cached =
                Self { of, comparison: Arc::new(Comparison::of(old, new)), unfolded: BTreeSet::new(), lines: None };
            ui.data_mut(|data| data.insert_temp(id, cached.clone()));
            cached
        })
    }

    fn display_lines(&mut self, layout: &DiffLayout, old: &str, new: &str) -> Arc<Vec<DisplayLine>> {
        if let Some((look, columns, shown)) = &self.lines
            && (*look, *columns) == (layout.look, layout.columns)
        {
            return shown.clone();
        }
        let shown = Arc::new(display_lines(&self.comparison, &self.unfolded, (old, new), layout.look, layout.columns));
        self.lines = Some((layout.look, layout.columns, shown.clone()));
        shown
    }
}

/// A side of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    /// Both texts side by side, or an unchanged line.
    Both,
    Old,
    New,
}

/// A line on screen. All have the same height, so that only visible ones need to be drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum DisplayLine {
    /// A chunk of a row, at most as long as the width allows.
    Chunk { row: usize, chunk: usize, side: Side },
    /// A collapsed section of unchanged lines.
    Fold { first: usize, count: usize },
}

/// Returns all display lines: rows broken into chunks that fit the columns.
fn display_lines(
    comparison: &Comparison,
    unfolded: &BTreeSet<usize>,
    (old, new): (&str, &str),
    look: DiffLook,
    columns: usize,
) -> Vec<DisplayLine> {
    let mut shown = Vec::new();
    let old_chunks = |place: &ChangedLine| chunks(comparison.old_line(old, place.line), columns).count();
    let new_chunks = |place: &ChangedLine| chunks(comparison.new_line(new, place.line), columns).count();
    let push = |shown: &mut Vec<DisplayLine>, row, side, count: usize| {
        shown.extend((0..count).map(|chunk| DisplayLine::Chunk { row, chunk, side }));
    };
    let visible = comparison.visible_rows(unfolded);
    let mut at = 0;
    while let Some(next) = visible.get(at) {
        let row = match *next {
            VisibleRow::Fold { first, count } => {
                shown.push(DisplayLine::Fold { first, count });
                at += 1;
                continue;
            }
            VisibleRow::Row(row) => row,
        };
        match (&comparison.rows[row], look) {
            (Row::Same(line, _), _) => {
                push(&mut shown, row, Side::Both, chunks(comparison.old_line(old, *line), columns).count());
                at += 1;
            }
            (Row::Changed(before, after), DiffLook::SideBySide) => {
                let count = before.as_ref().map_or(0, old_chunks).max(after.as_ref().map_or(0, new_chunks));
                push(&mut shown, row, Side::Both, count);
                at += 1;
            }
            // In each changed section, removed lines come before added ones.
            (Row::Changed(..), DiffLook::Unified) => {
                let run = comparison.rows[row..].iter().take_while(|row| matches!(row, Row::Changed(..))).count();
                for (side, rows) in [(Side::Old, row..row + run), (Side::New, row..row + run)] {
                    for index in rows {
                        let Row::Changed(before, after) = &comparison.rows[index] else { continue };
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

/// Returns the width of a character in columns.
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

/// Splits a line into byte ranges of at most `columns` columns, between words unless that would be too early. An empty
/// line is one chunk.
fn chunks(line: &str, columns: usize) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    let mut is_done = false;
    std::iter::from_fn(move || {
        if is_done {
            return None;
        }
        let rest = &line[start..];
        let (mut used, mut word) = (0, 0);
        let mut end = line.len();
        for (at, character) in rest.char_indices() {
            used += columns_of(character);
            if used > columns {
                // A single character that is wider than the limit is a chunk by itself.
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
        is_done = end >= line.len();
        Some(chunk)
    })
}

/// The measurements of a difference on screen.
struct DiffLayout {
    look: DiffLook,
    font: FontId,
    /// The height of a line.
    line: f32,
    /// The width of a line number.
    gutter: f32,
    /// The width of a side, including numbers and sign.
    side: f32,
    /// The number of columns for text.
    columns: usize,
}

impl DiffLayout {
    fn of(ui: &Ui, comparison: &Comparison, look: DiffLook) -> Self {
        let font = TextStyle::Monospace.resolve(ui.style());
        let (letter, line) = ui.fonts_mut(|fonts| (fonts.glyph_width(&font, '0'), fonts.row_height(&font)));
        let digits = comparison.max_line_count().to_string().len().max(2);
        let gutter = letter * digits as f32 + SPACE[1];
        let width = ui.available_width();
        let (side, gutters) = match look {
            DiffLook::SideBySide => ((width - SPACE[0]) / 2.0, gutter),
            DiffLook::Unified => (width, gutter * 2.0),
        };
        let text = side - gutters - letter * 2.0 - SPACE[0];
        let columns = ((text / letter.max(1.0)).floor().max(0.0) as usize).max(MIN_COLUMNS);
        Self { look, font, line: (line + 2.0).ceil(), gutter, side, columns }
    }
}

/// Draws a collapsed section of unchanged lines. Returns whether it was clicked.
fn fold_ui(ui: &mut Ui, layout: &DiffLayout, first: usize, count: usize, theme: &Theme) -> bool {
    let text = texts::unchanged_lines(count);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), layout.line), Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, &text));
    let share = if response.hovered() { 0.9 } else { 0.45 };
    ui.painter().rect_filled(rect, MARK_RADIUS, widgets::mix(theme.panel, theme.line, share));
    let galley = ui.painter().layout_no_wrap(text, layout.font.clone(), theme.text);
    let at = pos2(rect.left() + layout.gutter, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, theme.text);
    response.on_hover_text(texts::show_from_line(first + 1)).clicked()
}

/// A chunk of one side, ready to be drawn.
struct Cell<'a> {
    text: &'a str,
    marks: &'a [Range<usize>],
    chunk: usize,
    /// Line numbers from left to right, shown beside the first chunk.
    numbers: [Option<usize>; 2],
    /// `+`, `-` or a space, with its colour.
    sign: (&'static str, Option<Color32>),
    /// Whether this is the last line and lacks a newline.
    lacks_newline: bool,
}

/// A comparison with the old and the new text.
type Texts<'a> = (&'a Comparison, &'a str, &'a str);

fn chunk_ui(
    ui: &mut Ui,
    layout: &DiffLayout,
    (comparison, old, new): Texts,
    (row, chunk, side): (usize, usize, Side),
    theme: &Theme,
) {
    let was = |place: &'_ ChangedLine| Cell {
        text: comparison.old_line(old, place.line),
        marks: &[],
        chunk,
        numbers: [Some(place.line), None],
        sign: ("-", Some(theme.bad)),
        lacks_newline: Comparison::lacks_newline(old, comparison.is_last(false, place.line)),
    };
    let is = |place: &'_ ChangedLine| Cell {
        text: comparison.new_line(new, place.line),
        marks: &[],
        chunk,
        numbers: [None, Some(place.line)],
        sign: ("+", Some(theme.good)),
        lacks_newline: Comparison::lacks_newline(new, comparison.is_last(true, place.line)),
    };
    let is_beside = layout.look == DiffLook::SideBySide;
    ui.horizontal(|ui| match &comparison.rows[row] {
        Row::Same(before, after) => {
            let same = |numbers| Cell {
                text: comparison.old_line(old, *before),
                marks: &[],
                chunk,
                numbers,
                sign: (" ", None),
                lacks_newline: Comparison::lacks_newline(old, comparison.is_last(false, *before)),
            };
            if is_beside {
                cell_ui(ui, layout, Some(same([Some(*before), None])), theme);
                ui.add_space(SPACE[0]);
                cell_ui(ui, layout, Some(same([None, Some(*after)])), theme);
            } else {
                cell_ui(ui, layout, Some(same([Some(*before), Some(*after)])), theme);
            }
        }
        Row::Changed(before, after) => {
            let before = before.as_ref().map(|place| Cell { marks: &place.marks, ..was(place) });
            let after = after.as_ref().map(|place| Cell { marks: &place.marks, ..is(place) });
            match side {
                Side::Old => cell_ui(ui, layout, before, theme),
                Side::New => cell_ui(ui, layout, after, theme),
                Side::Both => {
                    cell_ui(ui, layout, before, theme);
                    ui.add_space(SPACE[0]);
                    cell_ui(ui, layout, after, theme);
                }
            }
        }
    });
}

fn cell_ui(ui: &mut Ui, layout: &DiffLayout, cell: Option<Cell>, theme: &Theme) {
    let (rect, response) = ui.allocate_exact_size(vec2(layout.side, layout.line), Sense::hover());
    let Some(cell) = cell else {
        ui.painter().rect_filled(rect, CornerRadius::ZERO, widgets::mix(theme.panel, theme.line, 0.25));
        return;
    };
    let Some(range) = chunks(cell.text, layout.columns).nth(cell.chunk) else {
        // The other side has more chunks, so the background continues.
        if let Some(colour) = cell.sign.1 {
            ui.painter().rect_filled(rect, CornerRadius::ZERO, widgets::mix(theme.panel, colour, LINE_TINT));
        }
        return;
    };
    let is_last_chunk = range.end == cell.text.len();
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
        let galley = painter.layout_no_wrap(text, layout.font.clone(), colour);
        let width = galley.size().x;
        painter.galley(pos2(left, rect.center().y - galley.size().y / 2.0), galley, colour);
        left + width
    };
    let columns = if layout.look == DiffLook::SideBySide { 1 } else { 2 };
    if cell.chunk == 0 {
        for (index, number) in cell.numbers.iter().enumerate() {
            let column = if columns == 1 { 0 } else { index };
            if let Some(number) = number {
                let left = rect.left() + layout.gutter * column as f32 + 2.0;
                write(left, (number + 1).to_string(), theme.text_soft);
            }
        }
    }
    let mut left = rect.left() + layout.gutter * columns as f32;
    if cell.chunk == 0 {
        write(left, cell.sign.0.to_owned(), cell.sign.1.unwrap_or(theme.text_soft));
    }
    left += painter.layout_no_wrap("+ ".to_owned(), layout.font.clone(), theme.text).size().x;
    let job = line_job(&cell, range, layout, theme);
    let galley = painter.layout_job(job);
    let at = pos2(left, rect.center().y - galley.size().y / 2.0);
    let end = left + galley.size().x;
    painter.galley(at, galley, theme.text);
    if cell.lacks_newline && is_last_chunk {
        let note = Rect::from_min_max(pos2(end + 4.0, rect.top() + 2.0), pos2(end + 9.0, rect.bottom() - 3.0));
        painter.line_segment([note.left_top(), note.left_bottom()], (1.5, theme.warn));
        response.on_hover_text(texts::NO_NEWLINE_AT_END);
    }
}

/// Lays out a chunk of a line with its changed words marked. Control characters are shown as dots.
fn line_job(cell: &Cell, range: Range<usize>, layout: &DiffLayout, theme: &Theme) -> LayoutJob {
    let mut job = LayoutJob::default();
    let plain = TextFormat::simple(layout.font.clone(), theme.text);
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
