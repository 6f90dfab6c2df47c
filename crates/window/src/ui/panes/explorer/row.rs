//! Draws one row of the tree: indentation, icon, name and status.

use std::borrow::Cow;

use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, CornerRadius, FontId, Galley, Painter, Rect, Stroke, StrokeKind, Ui, pos2, vec2};
use std::sync::Arc;

use super::status::ProfileStatus;
use super::{icons, texts};
use crate::base::Severity;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::text::fonts;
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE, Theme};
use crate::workspace::vfs::FileKind;

/// Height of a row.
pub const ROW_POINTS: f32 = 24.0;
/// Indentation per level of depth.
const INDENT_POINTS: f32 = 14.0;
const NARROW_INDENT_POINTS: f32 = 9.0;
/// The depth at which indentation stops growing, to leave space for the names.
const MAX_INDENTS: usize = 10;
/// The minimum row width for labels beside the icons; tooltips always have the words.
const MIN_LABELED_ROW_POINTS: f32 = 230.0;
/// Minimum width of a name.
const MIN_NAME_POINTS: f32 = 60.0;

/// The icon at the start of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum RowIcon {
    /// A folder; `true` when expanded.
    Folder(bool),
    /// A file of this kind.
    File(FileKind),
    /// The bin; `true` when expanded.
    Bin(bool),
}

/// Everything that is needed to paint a row.
pub(super) struct RowLook<'a> {
    pub(super) icon: RowIcon,
    pub(super) depth: usize,
    pub(super) name: &'a str,
    /// The lower-case search terms to underline in the name.
    pub(super) marked: &'a [String],
    pub(super) is_chosen: bool,
    /// Whether the row has keyboard focus.
    pub(super) is_active: bool,
    pub(super) is_hovered: bool,
    /// Whether dragged files would be dropped on this row.
    pub(super) is_drop_target: bool,
    pub(super) is_deleted: bool,
    pub(super) is_changed: bool,
    pub(super) is_unsaved: bool,
    pub(super) status: Option<ProfileStatus>,
    pub(super) severity: Option<Severity>,
    /// A short note at the right end, such as a file count.
    pub(super) aside: Option<Cow<'a, str>>,
    /// Width at the right end that is reserved for a button.
    pub(super) reserved_points: f32,
}

/// Paints a row.
pub(super) fn paint_row(ui: &Ui, rect: Rect, look: &RowLook<'_>, theme: &Theme) {
    let painter = ui.painter();
    paint_background(painter, rect, look, theme);
    let step = if rect.width() < MIN_LABELED_ROW_POINTS { NARROW_INDENT_POINTS } else { INDENT_POINTS };
    let indent = step * look.depth.min(MAX_INDENTS) as f32;
    let disclosure = Rect::from_center_size(pos2(rect.left() + 10.0 + indent, rect.center().y), vec2(8.0, 8.0));
    let icon_rect = Rect::from_center_size(disclosure.center() + vec2(16.0, 0.0), vec2(13.0, 13.0));
    match look.icon {
        RowIcon::Folder(is_open) => {
            icons::paint_disclosure_triangle(painter, disclosure, is_open, theme.text_soft);
            Icon::Folder.paint(painter, icon_rect, theme.accent);
        }
        RowIcon::Bin(is_open) => {
            icons::paint_disclosure_triangle(painter, disclosure, is_open, theme.text_soft);
            Icon::Bin.paint(painter, icon_rect, theme.text_soft);
        }
        RowIcon::File(kind) => {
            let colour = if look.is_deleted { theme.text_soft } else { icons::kind_colour(kind, theme) };
            icons::paint_kind(painter, icon_rect, kind, colour);
        }
    }
    let left = icon_rect.right() + 7.0;
    let right = paint_asides(painter, rect, left + MIN_NAME_POINTS, look, theme);
    let name = lay_name(ui, look, (right - left).max(20.0), theme);
    let place = pos2(left, rect.center().y - name.size().y / 2.0);
    painter.galley(place, name, theme.text);
}

fn paint_background(painter: &Painter, rect: Rect, look: &RowLook<'_>, theme: &Theme) {
    let share: f32 = if look.is_chosen { 0.18 } else { 0.0 } + if look.is_hovered { 0.07 } else { 0.0 };
    let rounding = CornerRadius::same(RADIUS[0]);
    if share > 0.0 || look.is_drop_target {
        painter.rect_filled(rect, rounding, widgets::mix(theme.panel, theme.accent, share.max(0.12)));
    }
    if look.is_active || look.is_drop_target {
        painter.rect_stroke(rect, rounding, theme.focus_ring(), StrokeKind::Inside);
    }
}

/// Paints the status marks from the right end towards `left` as far as they fit. Returns their left edge.
fn paint_asides(painter: &Painter, rect: Rect, left: f32, look: &RowLook<'_>, theme: &Theme) -> f32 {
    let mut right = rect.right() - 6.0 - look.reserved_points;
    let has_words = rect.width() >= MIN_LABELED_ROW_POINTS;
    let small = |text: &str, colour: Color32| painter.layout_no_wrap(text.to_owned(), font(), colour);
    let soft = if look.is_chosen { theme.text } else { theme.text_soft };
    let put = |galley: Arc<Galley>, right: &mut f32| {
        let size = galley.size();
        if *right - size.x >= left {
            painter.galley(pos2(*right - size.x, rect.center().y - size.y / 2.0), galley, theme.text);
            *right -= size.x + 4.0;
        }
    };
    if let Some(status) = look.status {
        if has_words {
            put(small(status.label(), soft), &mut right);
        }
        paint_status(painter, pos2(right - 5.0, rect.center().y), status, theme);
        right -= 10.0 + SPACE[0];
    }
    if let Some(severity) = look.severity {
        let (word, colour) = match severity {
            Severity::Error => (texts::ERROR, theme.bad),
            Severity::Warning => (texts::CHECK_IT, theme.warn),
        };
        if has_words {
            put(small(word, soft), &mut right);
        }
        let place = Rect::from_center_size(pos2(right - 6.0, rect.center().y), vec2(12.0, 12.0));
        Icon::Warning.paint(painter, place, colour);
        right -= 12.0 + SPACE[0];
    }
    if look.is_unsaved {
        put(small(if has_words { texts::UNSAVED } else { "•" }, theme.text), &mut right);
    }
    if look.is_changed {
        painter.circle_filled(pos2(right - 4.0, rect.center().y), 3.5, theme.accent);
        right -= 8.0 + SPACE[0];
    }
    if let Some(aside) = look.aside.as_deref().filter(|_| has_words) {
        put(small(aside, soft), &mut right);
    }
    right
}

fn font() -> FontId {
    FontId::proportional(TYPE[0])
}

fn paint_status(painter: &Painter, middle: egui::Pos2, status: ProfileStatus, theme: &Theme) {
    let colour = status.colour(theme);
    match status.icon() {
        Some(icon) => icon.paint(painter, Rect::from_center_size(middle, vec2(10.0, 10.0)), colour),
        None => {
            painter.circle_stroke(middle, 3.5, Stroke::new(LINE[1], colour));
        }
    }
}

/// Lays out the name on one line of at most `width`, with the search terms underlined.
fn lay_name(ui: &Ui, look: &RowLook<'_>, width: f32, theme: &Theme) -> Arc<Galley> {
    let font = if look.is_changed { fonts::semibold(ui.ctx(), TYPE[1]) } else { FontId::proportional(TYPE[1]) };
    let colour = if look.is_deleted { theme.text_soft } else { theme.text };
    let mut job = LayoutJob::default();
    let mut from = 0;
    for (begin, end) in marks(look.name, look.marked) {
        let plain = TextFormat::simple(font.clone(), colour);
        let marked = TextFormat { underline: Stroke::new(LINE[1], theme.accent), ..plain.clone() };
        job.append(&look.name[from..begin], 0.0, plain);
        job.append(&look.name[begin..end], 0.0, marked);
        from = end;
    }
    job.append(&look.name[from..], 0.0, TextFormat::simple(font, colour));
    job.wrap.max_width = width;
    job.wrap.max_rows = 1;
    job.wrap.break_anywhere = true;
    ui.painter().layout_job(job)
}

/// Returns the byte ranges of the search terms in a name, sorted and without overlap.
fn marks(name: &str, words: &[String]) -> Vec<(usize, usize)> {
    let lower = name.to_lowercase();
    // Lower-casing can change the length of a text; positions would then not carry over to the name.
    if words.is_empty() || lower.len() != name.len() {
        return Vec::new();
    }
    let mut ranges: Vec<(usize, usize)> =
        words.iter().filter_map(|word| lower.find(word.as_str()).map(|at| (at, at + word.len()))).collect();
    ranges.sort_unstable();
    let mut last = 0;
    ranges.retain(|(begin, end)| {
        let is_apart = *begin >= last && name.is_char_boundary(*begin) && name.is_char_boundary(*end);
        last = if is_apart { *end } else { last };
        is_apart
    });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_search_term_is_marked_once_and_on_character_boundaries() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for (name, search_terms, marked) in [
            ("Plan.md", &["plan"][..], vec![(0, 4)]),
            ("plan of plans", &["plan", "of"], vec![(0, 4), (5, 7)]),
            ("abc", &["ab", "bc"], vec![(0, 2)]),
            ("abc", &["x"], vec![]),
            ("äöü.md", &["ö"], vec![(2, 4)]),
            ("İstanbul", &["stan"], vec![]),
            ("", &["a"], vec![]),
        ] {
            assert_eq!(marks(name, &words(search_terms)), marked, "{name}");
        }
    }
}
