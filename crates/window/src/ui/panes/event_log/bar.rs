//! The bar of the log: filters, following, how times are told, which run is shown, and the export.

use std::collections::BTreeSet;

use egui::{RichText, ScrollArea, Spinner, TextEdit, Ui};

use super::EventLogPane;
use super::filter::{Grade, Kinds};
use crate::base::Id;
use crate::store::RunInfo;
use crate::ui::Command;
use crate::ui::context::ViewerContext;
use crate::ui::state::file_texts::{Read, Want};
use crate::ui::widgets;
use crate::view::dates::Dates;
use crate::view::event_list::EventList;
use crate::view::event_text::{kind_words, thousands};
use crate::view::theme::{MENU, SPACE, Theme};

/// Lists in menus are so high at most.
const LIST_POINTS: f32 = 340.0;
const SEGMENTS_POINTS: f32 = 160.0;
const CHOICE_POINTS: f32 = 26.0;

/// Draws it.
pub(super) fn bar_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut EventLogPane, commands: &mut Vec<Command>) {
    let (book, theme) = (&cx.recent.book, cx.theme);
    ui.spacing_mut().button_padding = egui::vec2(8.0, 2.0);
    ui.spacing_mut().interact_size.y = 24.0;
    ui.horizontal_wrapped(|ui| {
        let search = TextEdit::singleline(&mut pane.filter.text).hint_text("Search").desired_width(110.0);
        let search = ui.add(search.margin(egui::Margin::symmetric(8, 3)).id_salt("event search"));
        widgets::name(&search, "Search the log");
        let known = &pane.known;
        let called = |id: &Id| known.names.called(id).to_owned();
        choose(ui, theme, ("Agent filter", "All agents"), &known.agents, &mut pane.filter.agent, called);
        kinds_menu(ui, theme, known.kinds, &mut pane.filter.kinds);
        choose(ui, theme, ("Tool filter", "All tools"), &known.tools, &mut pane.filter.tool, |id| id.to_string());
        grade_menu(ui, theme, &mut pane.filter.grade);
        if known.runs.len() > 1 || pane.filter.run.is_some() {
            choose(ui, theme, ("Run filter", "All runs"), &known.runs, &mut pane.filter.run, |id| id.to_string());
        }
        if !pane.filter.is_clear() && ui.button("Clear filters").clicked() {
            pane.filter = pane.filter.cleared();
        }
        count_ui(ui, book, theme, pane);
        if widgets::switch(ui, pane.filter.everything, "Show everything", theme)
            .on_hover_text("Also show states, heartbeats and planned actions")
            .clicked()
        {
            pane.filter.everything ^= true;
        }
        if widgets::switch(ui, !pane.list.is_held, "Follow", theme)
            .on_hover_text("Keeps the newest row in view")
            .clicked()
        {
            pane.list.is_held = !pane.list.is_held;
        }
        // What does not fit begins the next row: a frame does not wrap by itself.
        if ui.available_width() < SEGMENTS_POINTS {
            ui.end_row();
        }
        let choices =
            [("Simulated".to_owned(), "Simulated time".to_owned()), ("Clock".to_owned(), "Clock time".to_owned())];
        if let Some(index) = widgets::segments(ui, &choices, Some(usize::from(pane.by_clock)), theme) {
            pane.by_clock = index == 1;
        }
        runs_menu(ui, cx, pane, commands);
        let export = ui.button("Export JSON").on_hover_text("Writes the log of this run into the workspace's exports");
        if export.clicked() {
            commands.push(Command::ExportLog(None));
        }
    });
}

/// How many rows fit, and whether that is still being found out.
fn count_ui(ui: &mut Ui, book: &EventList, theme: &Theme, pane: &EventLogPane) {
    let total = thousands(book.count() - book.first());
    let hits = thousands(pane.sieve.len() as u64);
    if pane.sieve.is_done() {
        let folded = book.count() - book.first() - pane.sieve.len() as u64;
        let text = match (pane.filter.is_clear(), folded) {
            (false, _) => format!("{hits} of {total}"),
            (true, 0) => format!("{total} records"),
            (true, folded) => format!("{hits} records, {} folded", thousands(folded)),
        };
        ui.add(egui::Label::new(widgets::soft(text, theme)).extend());
    } else {
        ui.label(widgets::soft(format!("{hits} so far of {total}"), theme));
        let spinner = ui.add(Spinner::new().size(SPACE[2]).color(theme.accent));
        widgets::name(&spinner, "Still counting");
    }
}

/// A menu button with a caret; `on` tells it apart where it filters something.
fn menu(
    ui: &mut Ui,
    theme: &Theme,
    name: &str,
    shown: &str,
    on: bool,
    stays_open: bool,
    content: impl FnOnce(&mut Ui),
) {
    let shown = crate::base::text::truncate(shown, 28);
    let text = RichText::new(shown).color(if on { theme.accent } else { theme.text });
    if stays_open {
        widgets::menu::menu_button_that_stays(ui, text, name, MENU[1], theme, content);
    } else {
        widgets::menu::menu_button(ui, text, name, MENU[1], theme, content);
    }
}

/// A menu of one choice out of what occurs, or all. Only the choices on screen are drawn.
fn choose(
    ui: &mut Ui,
    theme: &Theme,
    (name, all): (&str, &str),
    ids: &BTreeSet<Id>,
    chosen: &mut Option<Id>,
    called: impl Fn(&Id) -> String,
) {
    let shown = chosen.as_ref().map_or_else(|| all.to_owned(), &called);
    let is_on = chosen.is_some();
    menu(ui, theme, name, &shown, is_on, false, |ui| {
        let ids: Vec<&Id> = ids.iter().collect();
        ui.spacing_mut().interact_size.y = CHOICE_POINTS;
        ui.spacing_mut().item_spacing.y = 0.0;
        if ui.selectable_label(chosen.is_none(), all).clicked() {
            *chosen = None;
        }
        ScrollArea::vertical().max_height(LIST_POINTS).show_rows(ui, CHOICE_POINTS, ids.len(), |ui, range| {
            for id in &ids[range] {
                if ui.selectable_label(chosen.as_ref() == Some(id), called(id)).clicked() {
                    *chosen = Some((*id).clone());
                }
            }
        });
    });
}

/// A menu of the kinds that occur, of which several can be chosen.
fn kinds_menu(ui: &mut Ui, theme: &Theme, occurring: Kinds, chosen: &mut Kinds) {
    let mut named = chosen.all();
    let shown = match (named.next(), named.count()) {
        (None, _) => "All types".to_owned(),
        (Some(kind), 0) => kind_words(kind),
        (Some(kind), more) => format!("{} and {more} more", kind_words(kind)),
    };
    let is_on = !chosen.is_empty();
    menu(ui, theme, "Type filter", &shown, is_on, true, |ui| {
        ScrollArea::vertical().max_height(LIST_POINTS).show(ui, |ui| {
            if ui.selectable_label(chosen.is_empty(), "All types").clicked() {
                *chosen = Kinds::default();
            }
            for kind in crate::log::EventKind::ALL_AND_OTHERS {
                let mut is_chosen = chosen.has(kind);
                if (occurring.has(kind) || is_chosen) && ui.checkbox(&mut is_chosen, kind_words(kind)).clicked() {
                    chosen.toggle(kind);
                }
            }
        });
    });
}

fn grade_menu(ui: &mut Ui, theme: &Theme, grade: &mut Grade) {
    let shown = Grade::ALL.iter().find(|(one, _)| one == grade).map_or("", |(_, words)| words);
    let is_on = *grade != Grade::default();
    menu(ui, theme, "Severity filter", shown, is_on, false, |ui| {
        for (one, words) in Grade::ALL {
            if ui.selectable_label(*grade == one, words).clicked() {
                *grade = one;
            }
        }
    });
}

/// A menu of the runs of the workspace, to see the log of an earlier one.
fn runs_menu(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut EventLogPane, commands: &mut Vec<Command>) {
    let (theme, state) = (cx.theme, cx.ui);
    let (now_ms, dates) = (state.time.now_ms(), state.appearance.dates.clone());
    let shown = match &pane.shown_run {
        None => "The open run".to_owned(),
        Some(id) => {
            state.texts.want(Want::Runs);
            let runs = state.texts.runs.as_ref().and_then(|runs| runs.as_ref().ok());
            let run = runs.and_then(|runs| runs.iter().find(|run| run.id == *id));
            run.map_or_else(|| id.to_string(), |run| format!("{}, {}", run.scene, dates.when(run.started_ms, now_ms)))
        }
    };
    let is_earlier = pane.shown_run.is_some();
    let mut choice = None;
    menu(ui, theme, "Run", &shown, is_earlier, false, |ui| {
        state.texts.want(Want::Runs);
        if ui.selectable_label(!is_earlier, "The open run").clicked() {
            choice = Some(None);
        }
        runs_ui(ui, theme, state.texts.runs.as_ref(), pane.shown_run.as_ref(), (&dates, now_ms), &mut choice);
    });
    if is_earlier && ui.button("Back to the open run").clicked() {
        choice = Some(None);
    }
    if let Some(run) = choice
        && run != pane.shown_run
    {
        pane.shown_run = run.clone();
        commands.push(Command::ShowRun(run));
    }
}

fn runs_ui(
    ui: &mut Ui,
    theme: &Theme,
    runs: Option<&Read<std::sync::Arc<Vec<RunInfo>>>>,
    shown: Option<&Id>,
    now: (&Dates, u64),
    choice: &mut Option<Option<Id>>,
) {
    let runs = match runs {
        None => {
            ui.label(widgets::small("Loading runs…", theme));
            return;
        }
        Some(Err(why)) => {
            ui.label(RichText::new(format!("Runs could not be loaded: {why}")).color(theme.bad));
            return;
        }
        Some(Ok(runs)) => runs,
    };
    if runs.is_empty() {
        ui.label(widgets::small("No earlier runs in this workspace.", theme));
    }
    ui.spacing_mut().interact_size.y = CHOICE_POINTS;
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical().max_height(LIST_POINTS).show_rows(ui, CHOICE_POINTS, runs.len(), |ui, range| {
        for run in &runs[range] {
            if ui.selectable_label(shown == Some(&run.id), run_words(run, now)).on_hover_text(&*run.id).clicked() {
                *choice = Some(Some(run.id.clone()));
            }
        }
    });
}

/// A run in a line: which scene, when, and how it ended.
fn run_words(run: &RunInfo, (dates, now_ms): (&Dates, u64)) -> String {
    let when = dates.when(run.started_ms, now_ms);
    let end = match &run.end {
        Some(end) => crate::base::text::truncate(&crate::base::text::one_line(&end.reason), 60),
        None => "not ended".to_owned(),
    };
    format!("{}, {when}: {end}", run.scene)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Seq;
    use crate::store::RunEnd;

    #[test]
    fn a_run_is_told_by_scene_time_and_end() {
        let end = RunEnd { time_ms: 0, reason: "the window was closed".into() };
        let run = |end| RunInfo {
            id: "r-1".into(),
            scene: "morning".into(),
            seed: 1,
            started_ms: 50_700_000,
            end,
            first_seq: Seq(1),
            first_tick: 0,
            last_tick: 9,
        };
        assert_eq!(
            run_words(&run(Some(end)), (&Dates::default(), 60_000_000)),
            "morning, today, 14:05: the window was closed"
        );
        assert_eq!(run_words(&run(None), (&Dates::default(), 150_000_000)), "morning, yesterday, 14:05: not ended");
    }
}
