//! The toolbar of the log: filters, follow switch, time format, run selection and export.

use std::collections::BTreeSet;

use egui::{RichText, ScrollArea, Spinner, Ui};

use super::filter::{KindSet, SeverityFilter};
use super::{EventLogPane, texts};
use crate::base::Id;
use crate::store::RunInfo;
use crate::ui::Command;
use crate::ui::context::ViewerContext;
use crate::ui::state::file_texts::{FileTextRequest, Read};
use crate::ui::widgets;
use crate::view::dates::Dates;
use crate::view::event_list::EventList;
use crate::view::event_text::kind_words;
use crate::view::theme::{MENU, SPACE, Theme};

/// The maximum height of lists in menus.
const LIST_POINTS: f32 = 340.0;
const SEGMENTS_POINTS: f32 = 160.0;
const CHOICE_POINTS: f32 = 26.0;

/// Draws the toolbar.
pub(super) fn bar_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut EventLogPane, commands: &mut Vec<Command>) {
    let (book, theme) = (&cx.recent.book, cx.theme);
    ui.spacing_mut().button_padding = egui::vec2(8.0, 2.0);
    ui.spacing_mut().interact_size.y = 24.0;
    ui.horizontal_wrapped(|ui| {
        let search = widgets::text_line(&mut pane.filter.text).hint_text(texts::SEARCH).desired_width(110.0);
        let search = ui.add(search.margin(egui::Margin::symmetric(8, 3)).id_salt("event search"));
        widgets::name(&search, texts::SEARCH_THE_LOG);
        let facets = &pane.facets;
        let called = |id: &Id| facets.names.called(id).to_owned();
        choice_menu(
            ui,
            theme,
            (texts::AGENT_FILTER, texts::ALL_AGENTS),
            &facets.agents,
            &mut pane.filter.agent,
            called,
        );
        kinds_menu(ui, theme, facets.kinds, &mut pane.filter.kinds);
        choice_menu(ui, theme, (texts::TOOL_FILTER, texts::ALL_TOOLS), &facets.tools, &mut pane.filter.tool, |id| {
            id.to_string()
        });
        severity_menu(ui, theme, &mut pane.filter.severity);
        if facets.runs.len() > 1 || pane.filter.run.is_some() {
            choice_menu(ui, theme, (texts::RUN_FILTER, texts::ALL_RUNS), &facets.runs, &mut pane.filter.run, |id| {
                id.to_string()
            });
        }
        if !pane.filter.is_unfiltered() && ui.button(texts::CLEAR_FILTERS).clicked() {
            pane.filter = pane.filter.cleared();
        }
        count_ui(ui, book, theme, pane);
        if widgets::switch(ui, pane.filter.everything, texts::SHOW_EVERYTHING, theme)
            .on_hover_text(texts::SHOW_EVERYTHING_HINT)
            .clicked()
        {
            pane.filter.everything ^= true;
        }
        if widgets::switch(ui, !pane.list.is_paused, texts::FOLLOW, theme).on_hover_text(texts::FOLLOW_HINT).clicked() {
            pane.list.is_paused = !pane.list.is_paused;
        }
        // The segmented control does not wrap by itself, so it starts a new row if it does not fit.
        if ui.available_width() < SEGMENTS_POINTS {
            ui.end_row();
        }
        let choices = [
            (texts::SIMULATED.to_owned(), texts::SIMULATED_TIME.to_owned()),
            (texts::CLOCK.to_owned(), texts::CLOCK_TIME.to_owned()),
        ];
        if let Some(index) = widgets::segments(ui, &choices, Some(usize::from(pane.by_clock)), theme) {
            pane.by_clock = index == 1;
        }
        runs_menu(ui, cx, pane, commands);
        let export = ui.button(texts::EXPORT_JSON).on_hover_text(texts::EXPORT_HINT);
        if export.clicked() {
            commands.push(Command::ExportLog(None));
        }
    });
}

/// Draws the number of matching records and a spinner while the scan is running.
fn count_ui(ui: &mut Ui, book: &EventList, theme: &Theme, pane: &EventLogPane) {
    let total = book.count() - book.first();
    let hits = pane.scan.len() as u64;
    if pane.scan.is_done() {
        let text = match (pane.filter.is_unfiltered(), total - hits) {
            (false, _) => texts::hits_of(hits, total),
            (true, 0) => texts::records(total),
            (true, folded) => texts::records_and_folded(hits, folded),
        };
        ui.add(egui::Label::new(widgets::secondary_text(text, theme)).extend());
    } else {
        ui.label(widgets::secondary_text(texts::hits_so_far(hits, total), theme));
        let spinner = ui.add(Spinner::new().size(SPACE[2]).color(theme.accent));
        widgets::name(&spinner, texts::STILL_COUNTING);
    }
}

/// A menu button; `on` highlights it when its filter is set.
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

/// A menu for one of the occurring values, or all. Only visible entries are drawn.
fn choice_menu(
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

/// A menu for any number of the occurring kinds.
fn kinds_menu(ui: &mut Ui, theme: &Theme, occurring: KindSet, chosen: &mut KindSet) {
    let mut named = chosen.all();
    let shown = match (named.next(), named.count()) {
        (None, _) => texts::ALL_TYPES.to_owned(),
        (Some(kind), 0) => kind_words(kind),
        (Some(kind), more) => texts::kind_and_more(&kind_words(kind), more),
    };
    let is_on = !chosen.is_empty();
    menu(ui, theme, texts::TYPE_FILTER, &shown, is_on, true, |ui| {
        ScrollArea::vertical().max_height(LIST_POINTS).show(ui, |ui| {
            if ui.selectable_label(chosen.is_empty(), texts::ALL_TYPES).clicked() {
                *chosen = KindSet::default();
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

fn severity_menu(ui: &mut Ui, theme: &Theme, severity: &mut SeverityFilter) {
    let shown = SeverityFilter::ALL.iter().find(|(one, _)| one == severity).map_or("", |(_, words)| words);
    let is_on = *severity != SeverityFilter::default();
    menu(ui, theme, texts::SEVERITY_FILTER, shown, is_on, false, |ui| {
        for (one, words) in SeverityFilter::ALL {
            if ui.selectable_label(*severity == one, words).clicked() {
                *severity = one;
            }
        }
    });
}

/// A menu of the runs of the workspace, to show the log of an earlier one.
fn runs_menu(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut EventLogPane, commands: &mut Vec<Command>) {
    let (theme, state) = (cx.theme, cx.ui);
    let (now_ms, dates) = (state.time.now_ms(), state.appearance.dates.clone());
    let shown = match &pane.shown_run {
        None => texts::THE_OPEN_RUN.to_owned(),
        Some(id) => {
            state.texts.want(FileTextRequest::Runs);
            let runs = state.texts.runs.as_ref().and_then(|runs| runs.as_ref().ok());
            let run = runs.and_then(|runs| runs.iter().find(|run| run.id == *id));
            run.map_or_else(
                || id.to_string(),
                |run| texts::scene_and_time(&run.scene, &dates.when(run.started_ms, now_ms)),
            )
        }
    };
    let is_earlier = pane.shown_run.is_some();
    let mut choice = None;
    menu(ui, theme, texts::RUN, &shown, is_earlier, false, |ui| {
        state.texts.want(FileTextRequest::Runs);
        if ui.selectable_label(!is_earlier, texts::THE_OPEN_RUN).clicked() {
            choice = Some(None);
        }
        runs_ui(ui, theme, state.texts.runs.as_ref(), pane.shown_run.as_ref(), (&dates, now_ms), &mut choice);
    });
    if is_earlier && ui.button(texts::BACK_TO_THE_OPEN_RUN).clicked() {
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
            ui.label(widgets::small(texts::LOADING_RUNS, theme));
            return;
        }
        Some(Err(why)) => {
            ui.label(RichText::new(texts::runs_not_loaded(why)).color(theme.bad));
            return;
        }
        Some(Ok(runs)) => runs,
    };
    if runs.is_empty() {
        ui.label(widgets::small(texts::NO_EARLIER_RUNS, theme));
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

/// Returns a run as a line: its scene, start and end.
fn run_words(run: &RunInfo, (dates, now_ms): (&Dates, u64)) -> String {
    let when = dates.when(run.started_ms, now_ms);
    let end = match &run.end {
        Some(end) => crate::base::text::truncate(&crate::base::text::one_line(&end.reason), 60),
        None => texts::NOT_ENDED.to_owned(),
    };
    texts::run_in_a_line(&run.scene, &when, &end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Seq;
    use crate::store::RunEnd;

    #[test]
    fn a_run_is_described_by_scene_time_and_end() {
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
