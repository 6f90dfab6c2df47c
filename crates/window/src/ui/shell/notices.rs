//! Problems and results as cards that can be dismissed; [`notice_list`](crate::ui::shell::notice_list) still lists
//! dismissed ones.
//!
//! `egui-notify` 0.23 (egui 0.36) is not used, because its toasts are captions drawn by a painter, with a close button
//! at most. They cannot hold a button, so nothing would open the file, setting, agent or element that a notice is
//! about, and screen readers and tests cannot see them. They expire after a time, while a problem here stays until it
//! is solved.

use egui::{Align2, Area, Id as WidgetId, Order, Ui};

use crate::base::Severity;
use crate::ui::commands::{NoticeCommand, WindowCommand};
use crate::ui::shell::notice_card::{card, place_button, trust_button};
use crate::ui::shell::provider_notices;
use crate::ui::shell::texts::notices as texts;
use crate::ui::state::Outcome;
use crate::ui::state::notice_board::{Group, file_or_place, place_of, place_text};
use crate::ui::state::notices::OUTCOME_SECS;
use crate::ui::widgets;
use crate::ui::widgets::text_format::sentence;
use crate::ui::{Command, ViewerContext};
use crate::view::theme::SPACE;
use crate::workspace::trust::TRUST_REMEDY;

/// The maximum number of problem cards.
const PROBLEMS_SHOWN: usize = 3;
/// The maximum number of result cards.
const OUTCOMES_SHOWN: usize = 4;

fn notice(command: NoticeCommand) -> Command {
    WindowCommand::Notice(command).into()
}

/// Draws the notices at the lower right of the free area.
pub fn notices_ui(ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
    let mut commands = Vec::new();
    let notices = &cx.ui.notices;
    let cap = cx.room.cap_reached.as_deref().filter(|cap| !notices.is_cap_dismissed(cap));
    let is_empty = notices.board().groups.is_empty()
        && notices.outcomes().is_empty()
        && cap.is_none()
        && !provider_notices::has_notice(cx)
        && cx.ui.jobs.is_empty();
    if is_empty {
        return commands;
    }
    let free = ui.available_rect_before_wrap();
    Area::new(WidgetId::new("notices"))
        .order(Order::Foreground)
        .pivot(Align2::RIGHT_BOTTOM)
        .fixed_pos(free.right_bottom() - egui::vec2(SPACE[3], SPACE[3]))
        .show(ui.ctx(), |ui| {
            widgets::apply_style(ui.style_mut(), cx.theme);
            ui.set_width(340.0_f32.min(free.width() - 2.0 * SPACE[3]).max(200.0));
            provider_notices::notices_ui(ui, cx, &mut commands);
            problems(ui, cx, &mut commands);
            if let Some(cap) = cap {
                cap_card(ui, cap, cx, &mut commands);
            }
            jobs(ui, cx);
            outcomes(ui, cx, &mut commands);
        });
    commands
}

fn problems(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let groups = &cx.ui.notices.board().groups;
    for group in groups.iter().take(PROBLEMS_SHOWN) {
        if group_card(ui, group, cx, commands) {
            commands.push(notice(NoticeCommand::PutAside(group.problems.clone())));
        }
    }
    let more: usize = groups.iter().skip(PROBLEMS_SHOWN).map(|group| group.problems.len()).sum();
    if more > 0 {
        widgets::window(cx.theme).inner_margin(SPACE[1]).show(ui, |ui| {
            let text = texts::more_problems(more);
            widgets::line(
                ui,
                "more problems",
                |ui| drop(ui.label(widgets::small(text, cx.theme))),
                |ui| {
                    if ui.small_button(texts::SHOW_ALL).clicked() {
                        commands.push(WindowCommand::ShowNotices.into());
                    }
                    if ui.small_button(texts::DISMISS_ALL).clicked() {
                        commands.push(notice(NoticeCommand::PutAllAside));
                    }
                },
            );
        });
    }
}

/// Draws the card of one place with its problems. Returns whether it is dismissed.
fn group_card(ui: &mut Ui, group: &Group, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) -> bool {
    let theme = cx.theme;
    let Some(problem) = group.problems.first().map(|index| &cx.ui.notices.board().all()[*index]) else { return false };
    let colour = if problem.severity == Severity::Error { theme.bad } else { theme.warn };
    let place = place_text(problem);
    let what = sentence(&problem.what);
    card(ui, (&place, &what), colour, theme, &texts::dismiss(&place), |ui| {
        ui.add(egui::Label::new(widgets::secondary_text(sentence(&problem.remedy), theme)).wrap());
        ui.horizontal(|ui| {
            if let Some(place) = place_of(problem) {
                place_button(ui, &place, cx.room, commands);
            }
            if is_about_trust(cx, group) {
                trust_button(ui, &place, commands);
            }
            if group.problems.len() > 1 {
                let more = ui.button(texts::more_here(group.problems.len() - 1));
                widgets::name(&more, texts::show_all_of(file_or_place(problem)));
                if more.clicked() {
                    commands.push(WindowCommand::ShowNotices.into());
                }
            }
        });
    })
}

/// Whether a problem of this place is solved by a decision about what the workspace wants.
fn is_about_trust(cx: &ViewerContext<'_>, group: &Group) -> bool {
    let all = cx.ui.notices.board().all();
    group.problems.iter().any(|index| all[*index].remedy == TRUST_REMEDY)
}

fn cap_card(ui: &mut Ui, cap: &str, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let setting = cx.room.cap_name.as_ref().map(|name| format!("budget.{name}"));
    let title =
        setting.as_ref().map_or_else(|| texts::A_LIMIT_WAS_REACHED.to_owned(), |name| texts::limit_was_reached(name));
    let closed = card(ui, (&title, &sentence(cap)), cx.theme.warn, cx.theme, texts::DISMISS_LIMIT, |ui| {
        ui.add(egui::Label::new(widgets::secondary_text(texts::LIMIT_ABOUT, cx.theme)).wrap());
        if ui.button(texts::CHANGE_LIMIT).clicked() {
            let setting = setting.clone().unwrap_or_else(|| "budget.cost_per_run_usd".to_owned());
            commands.push(WindowCommand::ShowSettings(Some(setting)).into());
        }
    });
    if closed {
        commands.push(notice(NoticeCommand::PutCapAside(cap.to_owned())));
    }
}

/// Draws the running jobs with their progress and a button to cancel each.
fn jobs(ui: &mut Ui, cx: &ViewerContext<'_>) {
    for job in &cx.ui.jobs {
        widgets::window(cx.theme).inner_margin(SPACE[2]).show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            let label = |ui: &mut Ui| drop(ui.add(egui::Label::new(job.status_text()).truncate()));
            widgets::line(ui, &job.name, label, |ui| {
                let Some(control) = &job.control else { return };
                let cancel = ui.small_button(texts::CANCEL);
                widgets::name(&cancel, texts::cancel_job(&job.name));
                if cancel.clicked() {
                    control.cancel();
                }
            });
        });
    }
}

fn outcomes(ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
    let (theme, shown) = (cx.theme, cx.ui.notices.outcomes());
    for outcome in shown.iter().skip(shown.len().saturating_sub(OUTCOMES_SHOWN)) {
        let (title, colour) = match outcome.good {
            true if outcome.is_hint => (texts::NOTHING_WAS_DONE, theme.warn),
            true => (texts::DONE, theme.good),
            false => (texts::SOMETHING_WENT_WRONG, theme.bad),
        };
        let closed = card(ui, (title, &outcome.text), colour, theme, &texts::dismiss_outcome(&outcome.text), |ui| {
            if let Some(place) = &outcome.place {
                place_button(ui, place, cx.room, commands);
            }
        });
        if closed {
            commands.push(notice(NoticeCommand::PutOutcomeAside(outcome.clone())));
        }
    }
    let next = shown.iter().filter(|outcome| outcome.good).map(Outcome::gone_secs);
    if let Some(next) = next.reduce(f64::min) {
        let wait = (next - cx.ui.time.now_secs).clamp(0.05, OUTCOME_SECS);
        ui.request_repaint_after(std::time::Duration::from_secs_f64(wait));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::Problem;
    use crate::ui::UiState;
    use crate::ui::shell::notice_list::notice_list_ui;
    use crate::ui::state::FrontPanel;
    use crate::ui::state::NoticeTarget;
    use crate::ui::state::notice_board::NoticeBoard;
    use crate::ui::testing::{PaneHarness, pane_of, sample_room};
    use crate::ui::testing_keyboard::{are_as_read, controls_have_names, tab_stops};
    use crate::view::model::RoomModel;
    use crate::view::pick::RoomObject;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn notices(problems: Vec<Problem>) -> Harness<'static, PaneHarness> {
        let room = RoomModel { problems: problems.into(), ..sample_room() };
        let mut window = pane_of(PaneHarness::new(room, UiState::default()), |ui, cx, _| notices_ui(ui, cx));
        window.run_steps(4);
        window
    }

    fn broken() -> Problem {
        Problem::error("agents/ada.md", "unknown key \"modle\"", "did you mean \"model\"?").at_line(Some(4))
    }

    fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
        window.get_by_label(label).click();
        window.run_steps(3);
    }

    #[test]
    fn a_problem_shows_what_where_and_what_to_do_and_opens_its_file() {
        let mut window = notices(vec![broken()]);
        for shown in ["agents/ada.md, line 4", "Unknown key \"modle\".", "Did you mean \"model\"?"] {
            assert!(window.query_by_label(shown).is_some(), "{shown}");
        }
        click(&mut window, "Open file agents/ada.md");
        assert_eq!(window.state().commands, [Command::OpenFile("agents/ada.md".into(), Some(4))]);
    }

    #[test]
    fn a_dismissed_problem_returns_only_after_it_was_fixed() {
        let mut window = notices(vec![broken()]);
        click(&mut window, "Dismiss agents/ada.md, line 4");
        assert!(window.query_by_label("agents/ada.md, line 4").is_none());
        window.state_mut().room.problems = Arc::default();
        window.run_steps(2);
        window.state_mut().room.problems = vec![broken()].into();
        window.run_steps(3);
        assert!(window.query_by_label("agents/ada.md, line 4").is_some());
    }

    #[test]
    fn successes_disappear_and_failures_stay() {
        let mut window = notices(Vec::new());
        window.state_mut().state.notify("gemini answered", true);
        window.state_mut().state.notify("openai has no key", false);
        window.run_steps(2);
        assert!(window.query_by_label("gemini answered").is_some());
        window.state_mut().state.time.now_secs = 60.0;
        window.run_steps(2);
        assert!(window.query_by_label("gemini answered").is_none());
        click(&mut window, "Dismiss: openai has no key");
        assert!(window.state().state.notices.outcomes().is_empty());
    }

    #[test]
    fn a_place_is_a_file_a_setting_an_agent_or_an_element() {
        let place = |place: &str| place_of(&Problem::error(place, "x", "y"));
        assert_eq!(place("scenes/main.yaml, element rules"), Some(NoticeTarget::File("scenes/main.yaml".into(), None)));
        assert_eq!(place("gateway.provider"), Some(NoticeTarget::Setting("gateway.provider".into())));
        assert_eq!(place("agent ada-1"), Some(NoticeTarget::Thing(RoomObject::Agent("ada-1".into()))));
        assert_eq!(place("element ideas"), Some(NoticeTarget::Thing(RoomObject::Element("ideas".into()))));
        assert_eq!(place("history"), None);
    }

    #[test]
    fn a_notice_opens_its_place_if_that_exists() {
        let existing = Problem::warning("element ideas", "the file is gone", "restore it");
        let missing = Problem::warning("agent nobody", "it is gone", "look elsewhere");
        let mut window = notices(vec![existing, missing]);
        assert!(window.query_by_label("Show agent nobody").is_none());
        click(&mut window, "Show element ideas");
        assert_eq!(*window.state().state.selection.things(), [RoomObject::Element("ideas".into())].into());
    }

    #[test]
    fn problems_of_one_file_are_one_card() {
        let at = |line: usize| Problem::error("agents/ada.md", format!("slip {line}"), "mend it").at_line(Some(line));
        let mut window = notices((1..=40).map(at).collect());
        assert!(window.query_by_label("agents/ada.md, line 1").is_some());
        assert!(window.query_by_label("agents/ada.md, line 2").is_none());
        click(&mut window, "Show all of agents/ada.md");
        assert!(window.state().state.front.is_open(FrontPanel::Notices));
        click(&mut window, "Dismiss agents/ada.md, line 1");
        assert_eq!(window.state().state.notices.board().open(), 0);
        assert_eq!(window.state().state.notices.board().all().len(), 40, "the list keeps them");
    }

    #[test]
    fn a_problem_that_a_decision_solves_opens_the_page_in_the_card_and_in_the_list() {
        let problems =
            || vec![Problem::warning("workspace", "this workspace is restricted until you trust it", TRUST_REMEDY)];
        let mut window = notices(problems());
        click(&mut window, "Show what it wants: workspace");
        assert_eq!(window.state().commands, [Command::ShowTrust(None)]);
        let room = RoomModel { problems: problems().into(), ..sample_room() };
        let mut state = UiState::default();
        state.front.open(FrontPanel::Notices);
        let mut window = pane_of(PaneHarness::new(room, state), |ui, cx, _| notice_list_ui(ui, cx));
        window.run_steps(3);
        click(&mut window, "Show what it wants: workspace");
        assert_eq!(window.state().commands, [Command::ShowTrust(None)]);
        assert!(!window.state().state.front.is_open(FrontPanel::Notices));
    }

    #[test]
    fn tab_follows_the_reading_order_of_the_notices() {
        let of = |number: usize| Problem::error(format!("agents/{number}.md"), "unknown key", "remove it");
        let mut window = notices((0..5).map(of).collect());
        let stops = tab_stops(&mut window);
        are_as_read(&stops, &["Dismiss agents/0.md", "Open file agents/0.md", "Show all", "Dismiss all"]);
        controls_have_names(&window);
    }

    #[test]
    fn thousands_of_problems_are_sorted_once() {
        let many: Vec<Problem> =
            (0..5_000).map(|number| Problem::warning(format!("agents/{number}.md"), "odd", "mend it")).collect();
        let room = RoomModel { problems: many.into(), ..sample_room() };
        let mut board = NoticeBoard::default();
        board.update(&room);
        assert_eq!((board.open(), board.groups.len()), (5_000, 5_000));
        board.dismiss_all();
        assert_eq!(board.open(), 0);
        let began = std::time::Instant::now();
        for _ in 0..1_000 {
            board.update(&room);
        }
        assert!(began.elapsed() < std::time::Duration::from_millis(500), "a thousand frames: {:?}", began.elapsed());
    }

    #[test]
    fn a_reached_cap_is_named_and_opens_its_setting() {
        let mut window = notices(Vec::new());
        window.state_mut().room.cap_reached = Some("the cap of 5.0000 dollars a run for the room is reached".into());
        window.state_mut().room.cap_name = Some("cost_per_run_usd".into());
        window.run_steps(3);
        assert!(window.query_by_label("Limit budget.cost_per_run_usd was reached").is_some());
        click(&mut window, "Change limit");
        assert!(window.state().state.front.is_open(FrontPanel::Settings));
        assert_eq!(window.state().parts.settings.scroll_target(), Some("budget.cost_per_run_usd"));
    }

    #[test]
    fn repeated_results_are_one_card_and_all_are_bounded() {
        let mut state = UiState::default();
        for number in 0..1_000 {
            state.notify("no such agent", false);
            state.notify(format!("no {number}"), false);
        }
        assert!(state.notices.outcomes().len() <= 20 && state.notices.recent().len() <= 200);
        assert_eq!(state.notices.outcomes().iter().filter(|outcome| outcome.text == "no such agent").count(), 1);
    }
}
