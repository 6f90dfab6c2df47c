//! UI tests of differences.

use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use super::*;
use crate::ui::UiState;
use crate::ui::testing::{PaneHarness, stage_pane};
use crate::view::theme::{DARK, LIGHT, contrast};

fn difference(old: &str, new: &str, look: DiffLook) -> Harness<'static, PaneHarness> {
    let (old, new) = (old.to_owned(), new.to_owned());
    let mut window = stage_pane(UiState::default(), move |ui, cx, _| {
        diff_ui(ui, "test", &old, &new, look, cx.theme);
        Vec::new()
    });
    window.run_steps(3);
    window
}

fn lines_drawn(window: &Harness<'static, PaneHarness>) -> usize {
    let is_line = |label: &str| ["+ ", "- ", "  "].iter().any(|sign| label.starts_with(sign));
    window.query_all_by(|node| node.label().or_else(|| node.value()).is_some_and(|label| is_line(&label))).count()
}

#[test]
fn removed_and_added_lines_are_shown_in_both_looks() {
    for look in [DiffLook::SideBySide, DiffLook::Unified] {
        let window = difference("# Tea\nhot water\n", "# Tea\nhot milk\nsugar\n", look);
        for shown in ["- hot water", "+ hot milk", "+ sugar", "2 added, 1 removed"] {
            assert!(window.query_by_label(shown).is_some(), "{look:?}: {shown}");
        }
    }
    assert!(difference("a", "a", DiffLook::Unified).query_by_label("No differences").is_some());
    assert!(difference("", "", DiffLook::Unified).query_by_label("No differences").is_some());
}

#[test]
fn a_collapsed_section_expands_on_click() {
    let old: String = (0..40).map(|line| format!("line {line}\n")).collect();
    let mut window = difference(&old, &format!("{old}end\n"), DiffLook::Unified);
    assert!(window.query_by_label("  line 5").is_none());
    window.get_by_label("… 37 unchanged lines").click();
    window.run_steps(3);
    assert!(window.query_by_label("  line 5").is_some());
    assert!(window.query_by_label("… 37 unchanged lines").is_none());
}

#[test]
fn only_visible_lines_are_drawn() {
    let new: String = (0..100_000).map(|line| format!("line {line}\n")).collect();
    for look in [DiffLook::SideBySide, DiffLook::Unified] {
        let drawn = lines_drawn(&difference("", &new, look));
        assert!((20..400).contains(&drawn), "{look:?}: {drawn} lines");
    }
}

#[test]
fn control_characters_are_shown() {
    let odd = "\u{0}\u{1b}[31m\u{fffd}\t東京".repeat(3_000);
    for look in [DiffLook::SideBySide, DiffLook::Unified] {
        assert!(lines_drawn(&difference(&odd, &format!("{odd}\n🍵"), look)) > 2, "{look:?}");
    }
}

#[test]
fn long_lines_wrap() {
    let pieces = |line: &str, columns| chunks(line, columns).map(|range| line[range].to_owned()).collect::<Vec<_>>();
    assert_eq!(pieces("abcdefgh", 3), ["abc", "def", "gh"]);
    assert_eq!(pieces("", 3), [""]);
    assert_eq!(pieces("東京都", 3), ["東", "京", "都"]);
    assert_eq!(pieces("東", 1), ["東"], "text that never fits is still shown");
    assert_eq!(pieces("äöü", 2), ["äö", "ü"]);
    assert_eq!(pieces("hot water for tea", 8), ["hot ", "water ", "for tea"]);
    assert_eq!(pieces("a waterfall", 6), ["a wate", "rfall"], "no early break for a single letter");
}

#[test]
fn the_unified_look_shows_removed_lines_before_added_ones() {
    let comparison = Comparison::of("a\nb\n", "x\ny\n");
    let shown = display_lines(&comparison, &BTreeSet::new(), ("a\nb\n", "x\ny\n"), DiffLook::Unified, 80);
    let sides: Vec<(usize, Side)> = shown
        .iter()
        .filter_map(|shown| match shown {
            DisplayLine::Chunk { row, side, .. } => Some((*row, *side)),
            DisplayLine::Fold { .. } => None,
        })
        .collect();
    assert_eq!(sides, [(0, Side::Old), (1, Side::Old), (0, Side::New), (1, Side::New)]);
}

#[test]
fn text_is_legible_on_every_background() {
    for theme in [LIGHT, DARK] {
        for colour in [theme.good, theme.bad] {
            let line = widgets::mix(theme.panel, colour, LINE_TINT);
            for (what, ink, background) in [
                ("line", theme.text, line),
                ("number", theme.text_soft, line),
                ("word", theme.text, widgets::mix(theme.panel, colour, WORD_TINT)),
            ] {
                let contrast = contrast(ink, background);
                assert!(contrast >= 4.5, "{what}, dark={}: {contrast:.2}", theme.dark);
            }
        }
    }
}
