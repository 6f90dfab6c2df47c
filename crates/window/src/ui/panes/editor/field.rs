//! The text field of the editor, with syntax highlighting, line numbers, search matches and the cursor position.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use egui::text::{ByteIndex, CCursor, CCursorRange, Galley, LayoutJob, LayoutSection, TextFormat};
use egui::widgets::text_edit::TextEditState;
use egui::{
    Align2, Color32, Event, FontFamily, FontId, Frame, Id, Key, Margin, Modifiers, Pos2, Rect, ScrollArea, Sense,
    Shape, Stroke, StrokeKind, TextBuffer, TextEdit, Ui, pos2, vec2,
};

use super::find::Find;
use super::highlight::Highlights;
use super::languages::{Language, grammars};
use super::tab::Tab;
use super::texts;
use super::token_style::TokenStyle;
use crate::base::Severity;
use crate::base::common_parts::{common_prefix, common_suffix};
use crate::ui::widgets;
use crate::view::theme::{LINE, MARK_RADIUS, SPACE, TYPE, Theme};

/// Inserted by the Tab key.
const INDENT: &str = "  ";
/// Interval in seconds at which to check whether the grammars are loaded.
const GRAMMARS_POLL_SECS: f32 = 0.05;

/// A position to move the cursor to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JumpTarget {
    /// Selects this line, counted from 1.
    Line(usize),
    /// Selects these bytes of the whole text.
    Bytes(Range<usize>),
}

/// The position of the cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CursorPlace {
    /// Line of the whole text, counted from 0.
    pub line: usize,
    /// Character in the line, counted from 0.
    pub column: usize,
    /// Byte in the whole text.
    pub byte: usize,
}

/// State of the field between frames.
#[derive(Clone, Debug)]
pub struct FieldView {
    /// Whether long lines are wrapped.
    pub wraps: bool,
    /// Where to move the cursor in the next frame.
    pub jump: Option<JumpTarget>,
    /// The position of the cursor.
    pub cursor: CursorPlace,
    /// The other end of the selection, as a byte of the whole text.
    pub anchor: usize,
    /// Whether the field has the keyboard focus.
    pub has_focus: bool,
    /// The syntax highlighting.
    pub highlights: Highlights,
    /// The rows drawn in the last frame, counted from 0 within the part.
    pub rows_drawn: Range<usize>,
    layout: LaidOutText,
    /// The part shown in the last frame: chunk generation, part index and number of parts.
    shown: Option<(u64, usize, usize)>,
    width: f32,
}

impl FieldView {
    /// Creates the state for the file at `path`.
    pub fn of(path: &str) -> Self {
        Self {
            wraps: true,
            jump: None,
            cursor: CursorPlace::default(),
            anchor: 0,
            has_focus: false,
            highlights: Highlights::of(Language::of(path)),
            rows_drawn: 0..0,
            layout: LaidOutText::default(),
            shown: None,
            width: 0.0,
        }
    }
}

/// Returns the widget id of the field.
pub fn field_id(path: &str) -> Id {
    Id::new(("editor field", path))
}

/// The input of the field besides the text.
pub struct FieldSetting<'a> {
    /// The path of the file.
    pub path: &'a str,
    /// The search whose matches are outlined.
    pub find: &'a Find,
    /// The severity of problems, by line counted from 1.
    pub problems: &'a BTreeMap<usize, Severity>,
    /// Shown while the text is empty.
    pub hint: &'a str,
    /// The theme of the window.
    pub theme: &'a Theme,
}

/// Draws the field. Returns whether the text was edited.
pub fn field_ui(ui: &mut Ui, tab: &mut Tab, view: &mut FieldView, setting: &FieldSetting<'_>) -> bool {
    update_highlighting(ui, tab, view);
    let id = field_id(setting.path);
    let jump = view.jump.take();
    let characters = jump.map(|jump| open_target(tab, &jump));
    let shown = (tab.chunk_generation, tab.chunks.number(), tab.chunks.count());
    if view.shown.replace(shown).is_some_and(|before| before != shown && before.2.max(shown.2) > 1) {
        // The undo history belongs to another part.
        if let Some(mut state) = TextEditState::load(ui.ctx(), id) {
            state.clear_undoer();
            state.store(ui.ctx(), id);
        }
    }
    if let Some(range) = &characters {
        let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
        let ends = CCursorRange::two(CCursor::new(range.start), CCursor::new(range.end));
        state.cursor.set_char_range(Some(ends));
        state.store(ui.ctx(), id);
        if !setting.find.is_open {
            ui.memory_mut(|memory| memory.request_focus(id));
        }
    }
    if ui.memory(|memory| memory.has_focus(id)) {
        indent_by_spaces(ui);
    }
    let gutter = gutter_width(ui, tab);
    let frame = Frame::new().fill(setting.theme.card).stroke(Stroke::new(LINE[0], setting.theme.line)).inner_margin(1);
    frame
        .show(ui, |ui| {
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing.x = 0.0;
                let (left, _) = ui.allocate_exact_size(vec2(gutter, ui.available_height()), Sense::hover());
                scroll_ui(ui, tab, view, setting, left, characters)
            })
            .inner
        })
        .inner
}

/// Continues highlighting for one frame.
fn update_highlighting(ui: &Ui, tab: &Tab, view: &mut FieldView) {
    view.highlights.set_text(&tab.text);
    if !view.highlights.is_highlighted() {
        return;
    }
    match grammars() {
        Some(set) => {
            if view.highlights.advance(set) {
                ui.ctx().request_repaint();
            }
        }
        None => ui.ctx().request_repaint_after_secs(GRAMMARS_POLL_SECS),
    }
}

/// Opens the part that contains the target. Returns the characters to select, relative to that part.
fn open_target(tab: &mut Tab, jump: &JumpTarget) -> Range<usize> {
    match jump {
        JumpTarget::Line(line) => {
            let line = line.saturating_sub(1).min(tab.chunks.lines() - 1);
            tab.chunks.open_line(&tab.text, line);
            tab.chunks.char_range_of_line(line)
        }
        JumpTarget::Bytes(range) => {
            tab.chunks.open_byte(&tab.text, range.start);
            let start = tab.chunks.start().byte;
            let characters = |byte: usize| {
                let within = byte.saturating_sub(start).min(tab.chunks.text.len());
                tab.chunks.text[..tab.chunks.text.floor_char_boundary(within)].chars().count()
            };
            characters(range.start)..characters(range.end)
        }
    }
}

/// Makes Tab insert spaces; egui would insert a tab character.
fn indent_by_spaces(ui: &Ui) {
    ui.input_mut(|input| {
        if input.consume_key(Modifiers::NONE, Key::Tab) {
            input.events.push(Event::Text(INDENT.to_owned()));
        }
    });
}

fn code_font() -> FontId {
    FontId::new(TYPE[1] - 1.0, FontFamily::Monospace)
}

fn gutter_width(ui: &Ui, tab: &Tab) -> f32 {
    let digits = tab.chunks.lines().to_string().len().max(3);
    let digit = ui.fonts_mut(|fonts| fonts.glyph_width(&code_font(), '0'));
    digits as f32 * digit + SPACE[3]
}

fn scroll_ui(
    ui: &mut Ui,
    tab: &mut Tab,
    view: &mut FieldView,
    setting: &FieldSetting<'_>,
    gutter: Rect,
    characters: Option<Range<usize>>,
) -> bool {
    let theme = setting.theme;
    let wraps = view.wraps;
    let height = ui.available_height();
    let scroll = ScrollArea::new([!wraps, true]).id_salt(("editor scroll", setting.path)).auto_shrink(false);
    let out = scroll.show(ui, |ui| {
        let marks = ui.painter().add(Shape::Noop);
        let spans = (!tab.chunks.text.is_empty()).then_some(&view.highlights);
        view.layout.refresh(tab, spans, theme);
        let layout = &mut view.layout;
        let mut layouter = |ui: &Ui, text: &dyn TextBuffer, width: f32| {
            let job = layout.job(text.as_str(), if wraps { width } else { f32::INFINITY }, theme);
            // Laid out in every frame, so that egui's cache keeps the unchanged paragraphs.
            ui.fonts_mut(|fonts| fonts.layout_job(job))
        };
        let width = if wraps { ui.available_width() } else { view.width.max(ui.available_width()) };
        let output = TextEdit::multiline(&mut tab.chunks.text)
            .id(field_id(setting.path))
            .font(code_font())
            .hint_text(setting.hint.to_owned())
            .frame(Frame::NONE)
            .background_color(Color32::TRANSPARENT)
            .margin(Margin::symmetric(SPACE[0] as i8, 2))
            .lock_focus(true)
            .desired_width(f32::INFINITY)
            .min_size(vec2(width, height))
            .layouter(&mut layouter)
            .show(ui);
        let response = &output.response.response;
        widgets::name(response, texts::text_of(setting.path));
        view.width = output.galley.size().x + SPACE[3];
        view.has_focus = response.has_focus();
        if let Some(range) = characters {
            let place = output.galley.pos_from_cursor(CCursor::new(range.start)).translate(output.galley_pos.to_vec2());
            // Centered vertically; horizontally scrolled no further than needed.
            let around = (height / 2.0 - place.height()).max(0.0);
            ui.scroll_to_rect(place.expand2(vec2(0.0, around)), None);
            update_cursor(tab, view, &CCursorRange::two(CCursor::new(range.start), CCursor::new(range.end)));
        } else if let Some(range) = &output.cursor_range {
            update_cursor(tab, view, range);
        }
        let changed = response.changed();
        (changed, marks, output.galley, output.galley_pos)
    });
    let (changed, marks, galley, at) = out.inner;
    let rows = visible_rows(&galley, at, out.inner_rect);
    let clip = gutter.with_min_y(out.inner_rect.top()).with_max_y(out.inner_rect.bottom());
    let numbers =
        LineNumbers { first_line: tab.chunks.start().line, cursor: view.cursor.line, problems: setting.problems };
    numbers.paint(&ui.painter_at(clip), clip, &galley, at, rows.clone(), theme);
    if setting.find.is_open && !changed {
        let rects = match_rects(tab, setting.find, &galley, at, rows.clone());
        let shape = |(rect, is_current): (Rect, bool)| {
            let stroke = Stroke::new(if is_current { LINE[2] } else { LINE[0] }, theme.accent);
            Shape::rect_stroke(rect.expand(1.0), MARK_RADIUS, stroke, StrokeKind::Outside)
        };
        let shapes: Vec<Shape> = rects.into_iter().map(shape).collect();
        ui.painter().with_clip_rect(out.inner_rect).set(marks, Shape::Vec(shapes));
    }
    view.rows_drawn = rows;
    if changed {
        let at = view.cursor.byte.saturating_sub(tab.chunks.start().byte).min(tab.chunks.text.len());
        let generation_before = tab.chunk_generation;
        tab.apply_field_edit(tab.chunks.text.floor_char_boundary(at));
        if tab.chunk_generation != generation_before {
            // The part grew too long and was split, so the cursor may be in another part now.
            view.jump = Some(JumpTarget::Bytes(view.cursor.byte..view.cursor.byte));
        }
        // The new text is highlighted in the next frame.
        ui.ctx().request_repaint();
    }
    changed
}

/// Updates the cursor position in the whole text.
fn update_cursor(tab: &Tab, view: &mut FieldView, range: &CCursorRange) {
    let text = tab.chunks.text.as_str();
    let start = tab.chunks.start();
    let byte_of = |cursor: CCursor| text.char_indices().nth(cursor.index.0).map_or(text.len(), |(byte, _)| byte);
    let byte = byte_of(range.primary);
    let before = &text[..byte];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    view.cursor = CursorPlace {
        line: start.line + super::chunks::count_lines(before),
        column: before[line_start..].chars().count(),
        byte: start.byte + byte,
    };
    view.anchor = start.byte + byte_of(range.secondary);
}

fn visible_rows(galley: &Galley, at: Pos2, viewport: Rect) -> Range<usize> {
    let first = galley.rows.partition_point(|row| at.y + row.max_y() < viewport.top());
    let end = galley.rows.partition_point(|row| at.y + row.min_y() <= viewport.bottom());
    first..end.max(first)
}

/// The line numbers next to the text.
struct LineNumbers<'a> {
    first_line: usize,
    cursor: usize,
    problems: &'a BTreeMap<usize, Severity>,
}

impl LineNumbers<'_> {
    fn paint(
        &self,
        painter: &egui::Painter,
        gutter: Rect,
        galley: &Galley,
        at: Pos2,
        rows: Range<usize>,
        theme: &Theme,
    ) {
        painter.vline(gutter.right() - 2.0, gutter.y_range(), Stroke::new(LINE[0], theme.line));
        let mut line = self.first_line + galley.rows[..rows.start].iter().filter(|row| row.ends_with_newline).count();
        for index in rows {
            let row = &galley.rows[index];
            let begins = index == 0 || galley.rows[index - 1].ends_with_newline;
            if begins {
                let place = pos2(gutter.right() - SPACE[1], at.y + row.pos.y);
                let severity = self.problems.get(&(line + 1));
                let colour = match severity {
                    Some(Severity::Error) => theme.bad,
                    Some(Severity::Warning) => theme.warn,
                    None if line == self.cursor => theme.text,
                    None => theme.text_soft,
                };
                painter.text(place, Align2::RIGHT_TOP, line + 1, code_font(), colour);
                if severity.is_some() {
                    let middle = pos2(gutter.left() + 4.0, at.y + row.rect().center().y);
                    painter.circle_filled(middle, 2.5, colour);
                }
            }
            line += usize::from(row.ends_with_newline);
        }
    }
}

/// Returns the rectangles of the visible matches on screen, and whether each is the current one.
fn match_rects(tab: &Tab, find: &Find, galley: &Galley, at: Pos2, rows: Range<usize>) -> Vec<(Rect, bool)> {
    let text = tab.chunks.text.as_str();
    let start = tab.chunks.start().byte;
    let skipped: usize = galley.rows[..rows.start].iter().map(|row| row.char_count_including_newline().0).sum();
    let mut byte = text.char_indices().nth(skipped).map_or(text.len(), |(byte, _)| byte);
    let mut rects = Vec::new();
    for row in &galley.rows[rows] {
        let count = row.char_count_including_newline().0;
        let rest = &text[byte..];
        let len = rest.char_indices().nth(count).map_or(rest.len(), |(byte, _)| byte);
        let (from, to) = (start + byte, start + byte + len);
        let first = find.matches.partition_point(|place| place.end <= from);
        for (index, place) in find.matches.iter().enumerate().skip(first).take_while(|(_, place)| place.start < to) {
            let x = |byte: usize| {
                let within = byte.clamp(from, to) - from;
                row.x_offset(egui::text::CharIndex(rest[..rest.floor_char_boundary(within)].chars().count()))
            };
            let corner = at + row.pos.to_vec2();
            let min = corner + vec2(x(place.start), 0.0);
            rects.push((
                Rect::from_min_max(min, corner + vec2(x(place.end), row.height())),
                find.current == Some(index),
            ));
        }
        byte += len;
    }
    rects
}

/// The text prepared for layout, rebuilt only when it changes.
#[derive(Clone, Debug, Default)]
struct LaidOutText {
    job: Arc<LayoutJob>,
    spans: Vec<(usize, TokenStyle)>,
    built_for: Option<(u64, u64, u64, usize, bool)>,
}

impl LaidOutText {
    /// Rebuilds the layout job if the text, the highlighting or the theme has changed.
    fn refresh(&mut self, tab: &Tab, highlights: Option<&Highlights>, theme: &Theme) {
        let colours = highlights.map_or(0, Highlights::generation);
        let now = (tab.generation, tab.chunk_generation, colours, tab.chunks.number(), theme.dark);
        if self.built_for == Some(now) {
            return;
        }
        self.built_for = Some(now);
        let text = tab.chunks.text.as_str();
        let start = tab.chunks.start();
        // A part that starts in the middle of a line belongs to a line too long to be highlighted.
        let starts_line = start.byte == 0 || tab.text.as_bytes()[start.byte - 1] == b'\n';
        self.spans = highlights
            .filter(|_| starts_line)
            .map_or_else(Vec::new, |highlights| highlights.spans(start.line, text.len()));
        self.build(text, theme);
    }

    /// Returns the layout job. Text typed in this frame takes the colour of its surroundings.
    fn job(&mut self, text: &str, width: f32, theme: &Theme) -> LayoutJob {
        if self.job.text != text {
            self.shift_spans(text);
            self.build(text, theme);
            self.built_for = None;
        }
        let mut job = (*self.job).clone();
        job.wrap.max_width = width;
        job
    }

    fn shift_spans(&mut self, new: &str) {
        let old = self.job.text.as_str();
        let same = common_prefix(old.as_bytes(), new.as_bytes());
        let same = old.floor_char_boundary(same).min(new.floor_char_boundary(same));
        let tail = common_suffix(&old.as_bytes()[same..], &new.as_bytes()[same..]);
        let (old_tail, new_tail) = (old.len() - tail, new.len() - tail);
        for (end, _) in &mut self.spans {
            if *end >= old_tail {
                *end = *end - old_tail + new_tail;
            } else if *end > same {
                *end = same;
            }
        }
        // A span may end in the middle of a character of the new text.
        self.spans.retain(|(end, _)| *end <= new.len() && new.is_char_boundary(*end));
    }

    fn build(&mut self, text: &str, theme: &Theme) {
        let mut sections = Vec::with_capacity(self.spans.len() + 1);
        let mut at = 0;
        let mut push = |end: usize, style: TokenStyle| {
            if end > at {
                sections.push(LayoutSection {
                    leading_space: 0.0,
                    byte_range: ByteIndex(at)..ByteIndex(end),
                    format: TextFormat::simple(code_font(), style.colour(theme)),
                });
                at = end;
            }
        };
        for (end, style) in &self.spans {
            push((*end).min(text.len()), *style);
        }
        push(text.len(), TokenStyle::Plain);
        if sections.is_empty() {
            sections.push(LayoutSection {
                leading_space: 0.0,
                byte_range: ByteIndex(0)..ByteIndex(0),
                format: TextFormat::simple(code_font(), theme.text),
            });
        }
        let mut job = LayoutJob { text: text.to_owned(), sections, ..LayoutJob::default() };
        job.keep_trailing_whitespace = true;
        job.break_on_newline = true;
        self.job = Arc::new(job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::theme::LIGHT;
    use proptest::prelude::*;

    fn ends(layout: &LaidOutText) -> Vec<(usize, Color32)> {
        layout.job.sections.iter().map(|section| (section.byte_range.end.0, section.format.color)).collect()
    }

    #[test]
    fn typed_text_takes_the_colour_of_its_surroundings() {
        let mut layout =
            LaidOutText { spans: vec![(3, TokenStyle::Key), (6, TokenStyle::String)], ..LaidOutText::default() };
        layout.build("abcdef", &LIGHT);
        layout.job("abcdXef", 100.0, &LIGHT);
        assert_eq!(ends(&layout), [(3, TokenStyle::Key.colour(&LIGHT)), (7, TokenStyle::String.colour(&LIGHT))]);
        layout.job("", 100.0, &LIGHT);
        assert_eq!(layout.job.sections.len(), 1);
    }

    proptest! {
        #[test]
        fn sections_cover_the_text_after_any_edit(old in "[aäb\n]{0,12}", new in "[aäc\n]{0,12}", cut in 0..12_usize) {
            let cut = old.floor_char_boundary(cut.min(old.len()));
            let mut layout = LaidOutText { spans: vec![(cut, TokenStyle::Key), (old.len(), TokenStyle::String)], ..LaidOutText::default() };
            layout.build(&old, &LIGHT);
            let job = layout.job(&new, 100.0, &LIGHT);
            let mut at = 0;
            for section in &job.sections {
                prop_assert_eq!(section.byte_range.start.0, at);
                prop_assert!(new.is_char_boundary(section.byte_range.end.0));
                at = section.byte_range.end.0;
            }
            prop_assert_eq!(at, new.len());
        }
    }
}
