//! What went wrong and how things went, as cards that can be put aside; and the hint of the first run. Nothing that
//! was put aside is lost: [`notice_list`](crate::ui::shell::notice_list) shows it again.

use egui::{Align2, Area, Id as WidgetId, Order, RichText, Ui};

use crate::base::Severity;
use crate::ui::shell::notice_card::{card, place_button};
use crate::ui::shell::provider_notices;
use crate::ui::state::notice_board::{Group, NoticeBoard, file_or_place, place_of, told_place};
use crate::ui::widgets;
use crate::ui::widgets::words::sentence;
use crate::ui::{Command, UiState};
use crate::view::model::RoomModel;
use crate::view::theme::{SPACE, Theme};

/// An outcome that went well goes away after so many seconds; one that did not stays until it is put aside.
const OUTCOME_SECS: f64 = 6.0;
/// So many places with problems are shown at once.
const SHOWN: usize = 3;
/// So many outcomes are shown at once, the newest.
const OUTCOMES_SHOWN: usize = 4;

/// Draws the notices over the room, at the lower right of what is free.
pub fn notices_ui(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState) -> Vec<Command> {
    let mut commands = Vec::new();
    let now = state.now_secs;
    state.outcomes.retain(|outcome| !outcome.good || now - outcome.born_secs < OUTCOME_SECS);
    let mut board = std::mem::take(&mut state.board);
    board.update(room);
    let cap = room.cap_reached.clone().filter(|cap| !state.put_aside_caps.contains(cap));
    let hint = !state.hint_closed;
    let has_fault = provider_notices::has_notice(room, state);
    if board.groups.is_empty()
        && state.outcomes.is_empty()
        && cap.is_none()
        && !hint
        && !has_fault
        && state.jobs.is_empty()
    {
        state.board = board;
        return commands;
    }
    let free = ui.available_rect_before_wrap();
    Area::new(WidgetId::new("notices"))
        .order(Order::Foreground)
        .pivot(Align2::RIGHT_BOTTOM)
        .fixed_pos(free.right_bottom() - egui::vec2(SPACE[3], SPACE[3]))
        .show(ui.ctx(), |ui| {
            widgets::dress(ui.style_mut(), theme);
            ui.set_width(340.0_f32.min(free.width() - 2.0 * SPACE[3]).max(200.0));
            if hint {
                first_run(ui, room, theme, state);
            }
            provider_notices::notices_ui(ui, room, theme, state);
            problems(ui, &mut board, room, theme, state, &mut commands);
            if let Some(cap) = cap {
                cap_card(ui, &cap, room, theme, state);
            }
            jobs(ui, theme, state);
            outcomes(ui, room, theme, state, &mut commands);
        });
    state.board = board;
    commands
}

fn problems(
    ui: &mut Ui,
    board: &mut NoticeBoard,
    room: &RoomModel,
    theme: &Theme,
    state: &mut UiState,
    commands: &mut Vec<Command>,
) {
    let mut aside = None;
    for group in board.groups.iter().take(SHOWN) {
        if group_card(ui, board, group, room, theme, state, commands) {
            aside = Some(group.problems.clone());
        }
    }
    if let Some(problems) = aside {
        board.put_aside(&problems);
    }
    let more: usize = board.groups.iter().skip(SHOWN).map(|group| group.problems.len()).sum();
    if more > 0 {
        widgets::window(theme).inner_margin(SPACE[1]).show(ui, |ui| {
            let text = format!("and {more} more problems");
            widgets::line(
                ui,
                |ui| {
                    ui.label(widgets::small(text, theme));
                },
                |ui| {
                    if ui.small_button("Put all aside").clicked() {
                        board.put_all_aside();
                    }
                    state.notices_open |= ui.small_button("Show all").clicked();
                },
            );
        });
    }
}

/// One place and what is wrong there. Whether it is to be put aside.
fn group_card(
    ui: &mut Ui,
    board: &NoticeBoard,
    group: &Group,
    room: &RoomModel,
    theme: &Theme,
    state: &mut UiState,
    commands: &mut Vec<Command>,
) -> bool {
    let Some(problem) = group.problems.first().map(|index| &board.all()[*index]) else { return false };
    let colour = if problem.severity == Severity::Error { theme.bad } else { theme.warn };
    let place = told_place(problem);
    let what = sentence(&problem.what);
    card(ui, (&place, &what), colour, theme, &format!("Put aside {place}"), |ui| {
        ui.add(egui::Label::new(widgets::soft(sentence(&problem.remedy), theme)).wrap());
        ui.horizontal(|ui| {
            if let Some(place) = place_of(problem) {
                place_button(ui, &place, room, state, commands);
            }
            if group.problems.len() > 1 {
                let more = ui.button(format!("{} more here", group.problems.len() - 1));
                widgets::name(&more, format!("Show all of {}", file_or_place(problem)));
                state.notices_open |= more.clicked();
            }
        });
    })
}

fn cap_card(ui: &mut Ui, cap: &str, room: &RoomModel, theme: &Theme, state: &mut UiState) {
    let setting = room.cap_name.as_ref().map(|name| format!("budget.{name}"));
    let title =
        setting.as_ref().map_or_else(|| "A cap was reached".to_owned(), |name| format!("Cap {name} was reached"));
    let closed = card(ui, (&title, &sentence(cap)), theme.warn, theme, "Put aside the cap", |ui| {
        ui.add(egui::Label::new(widgets::soft("Nobody asks a model until it is raised.", theme)).wrap());
        if ui.button("Change the cap").clicked() {
            state.show_settings(Some(setting.as_deref().unwrap_or("budget.cost_per_run_usd")));
        }
    });
    if closed {
        state.put_aside_caps.insert(cap.to_owned());
    }
}

/// Slow work that is under way: how far it is, and a way to give it up.
fn jobs(ui: &mut Ui, theme: &Theme, state: &UiState) {
    for job in &state.jobs {
        widgets::window(theme).inner_margin(SPACE[2]).show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            let says = |ui: &mut Ui| drop(ui.add(egui::Label::new(job.says()).truncate()));
            widgets::line(ui, says, |ui| {
                let Some(control) = &job.control else { return };
                let cancel = ui.small_button("Cancel");
                widgets::name(&cancel, format!("Cancel {}", job.name));
                if cancel.clicked() {
                    control.cancel();
                }
            });
        });
    }
}

fn outcomes(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState, commands: &mut Vec<Command>) {
    let mut gone = None;
    let shown = state.outcomes.clone();
    let skipped = shown.len().saturating_sub(OUTCOMES_SHOWN);
    for (index, outcome) in shown.iter().enumerate().skip(skipped) {
        let (title, colour) = if outcome.good { ("Done", theme.good) } else { ("That did not work", theme.bad) };
        let closed = card(ui, (title, &outcome.text), colour, theme, &format!("Put aside: {}", outcome.text), |ui| {
            if let Some(place) = &outcome.place {
                place_button(ui, place, room, state, commands);
            }
        });
        if closed {
            gone = Some(index);
        }
    }
    if let Some(index) = gone {
        state.outcomes.remove(index);
    }
    let next = state.outcomes.iter().filter(|outcome| outcome.good).map(|outcome| outcome.born_secs + OUTCOME_SECS);
    if let Some(next) = next.reduce(f64::min) {
        let wait = (next - state.now_secs).clamp(0.05, OUTCOME_SECS);
        ui.request_repaint_after(std::time::Duration::from_secs_f64(wait));
    }
}

fn first_run(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState) {
    let closed = card(ui, ("Welcome to the workshop", ""), theme.accent, theme, "Close the hint", |ui| {
        let steps: [&str; 4] = [
            if room.agents.is_empty() {
                "Drag an agent from the shelf into the room."
            } else {
                "Click an agent to see what it does and why."
            },
            "Double-click a board to read and change what stands on it.",
            "Answers come from the room itself until you choose a provider above: no network, no cost.",
            "Press ? for the keys, Space to pause.",
        ];
        for step in steps {
            ui.horizontal_top(|ui| {
                ui.label(RichText::new("•").color(theme.accent));
                ui.add(egui::Label::new(widgets::soft(step, theme)).wrap());
            });
        }
        if widgets::primary(ui, true, "Got it", theme).clicked() {
            state.hint_closed = true;
        }
    });
    state.hint_closed |= closed;
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::Problem;
    use crate::ui::state::Place;
    use crate::ui::testing::{Stage, sample_room, stage_in};
    use crate::view::pick::Thing;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn notices(problems: Vec<Problem>, hint_closed: bool) -> Harness<'static, Stage> {
        let room = RoomModel { problems: problems.into(), ..sample_room() };
        let state = UiState { hint_closed, ..UiState::default() };
        let mut window = stage_in(room, state, |ui, room, _, theme, state| notices_ui(ui, room, theme, state));
        window.run_steps(4);
        window
    }

    fn broken() -> Problem {
        Problem::error("agents/ada.md", "unknown key \"modle\"", "did you mean \"model\"?").at_line(Some(4))
    }

    fn click(window: &mut Harness<'static, Stage>, label: &str) {
        window.get_by_label(label).click();
        window.run_steps(3);
    }

    #[test]
    fn a_problem_says_what_where_and_what_to_do_and_opens_its_file() {
        let mut window = notices(vec![broken()], true);
        for shown in ["agents/ada.md, line 4", "Unknown key \"modle\".", "Did you mean \"model\"?"] {
            assert!(window.query_by_label(shown).is_some(), "{shown}");
        }
        click(&mut window, "Open file agents/ada.md");
        assert_eq!(window.state().commands, [Command::OpenFile("agents/ada.md".into(), Some(4))]);
    }

    #[test]
    fn what_is_put_aside_comes_back_only_after_it_was_mended() {
        let mut window = notices(vec![broken()], true);
        click(&mut window, "Put aside agents/ada.md, line 4");
        assert!(window.query_by_label("agents/ada.md, line 4").is_none());
        window.state_mut().room.problems = Arc::default();
        window.run_steps(2);
        window.state_mut().room.problems = vec![broken()].into();
        window.run_steps(3);
        assert!(window.query_by_label("agents/ada.md, line 4").is_some());
    }

    #[test]
    fn good_news_fades_and_bad_news_stays() {
        let mut window = notices(Vec::new(), true);
        window.state_mut().state.tell("gemini answered", true);
        window.state_mut().state.tell("openai has no key", false);
        window.run_steps(2);
        assert!(window.query_by_label("gemini answered").is_some());
        window.state_mut().state.now_secs = 60.0;
        window.run_steps(2);
        assert!(window.query_by_label("gemini answered").is_none());
        click(&mut window, "Put aside: openai has no key");
        assert!(window.state().state.outcomes.is_empty());
    }

    #[test]
    fn the_hint_goes_away_for_good() {
        let mut window = notices(Vec::new(), false);
        click(&mut window, "Got it");
        assert!(window.state().state.hint_closed);
        assert!(window.query_by_label("Welcome to the workshop").is_none());
    }

    #[test]
    fn a_place_is_a_file_a_setting_an_agent_or_an_element() {
        let place = |place: &str| place_of(&Problem::error(place, "x", "y"));
        assert_eq!(place("scenes/main.yaml, element rules"), Some(Place::File("scenes/main.yaml".into(), None)));
        assert_eq!(place("gateway.provider"), Some(Place::Setting("gateway.provider".into())));
        assert_eq!(place("agent ada-1"), Some(Place::Thing(Thing::Agent("ada-1".into()))));
        assert_eq!(place("element ideas"), Some(Place::Thing(Thing::Element("ideas".into()))));
        assert_eq!(place("history"), None);
    }

    #[test]
    fn a_notice_leads_to_what_it_is_about_if_that_is_there() {
        let here = Problem::warning("element ideas", "the file is gone", "restore it");
        let gone = Problem::warning("agent nobody", "it is gone", "look elsewhere");
        let mut window = notices(vec![here, gone], true);
        assert!(window.query_by_label("Show agent nobody").is_none());
        click(&mut window, "Show element ideas");
        assert_eq!(window.state().state.selected, [Thing::Element("ideas".into())].into());
    }

    #[test]
    fn problems_of_one_file_are_one_card() {
        let at = |line: usize| Problem::error("agents/ada.md", format!("slip {line}"), "mend it").at_line(Some(line));
        let mut window = notices((1..=40).map(at).collect(), true);
        assert!(window.query_by_label("agents/ada.md, line 1").is_some());
        assert!(window.query_by_label("agents/ada.md, line 2").is_none());
        click(&mut window, "Show all of agents/ada.md");
        assert!(window.state().state.notices_open);
        click(&mut window, "Put aside agents/ada.md, line 1");
        assert_eq!(window.state().state.board.open(), 0);
        assert_eq!(window.state().state.board.all().len(), 40, "nothing is lost");
    }

    #[test]
    fn thousands_of_problems_are_sorted_once() {
        let many: Vec<Problem> =
            (0..5_000).map(|number| Problem::warning(format!("agents/{number}.md"), "odd", "mend it")).collect();
        let room = RoomModel { problems: many.into(), ..sample_room() };
        let mut board = NoticeBoard::default();
        board.update(&room);
        assert_eq!((board.open(), board.groups.len()), (5_000, 5_000));
        board.put_all_aside();
        assert_eq!(board.open(), 0);
        let began = std::time::Instant::now();
        for _ in 0..1_000 {
            board.update(&room);
        }
        assert!(began.elapsed() < std::time::Duration::from_millis(500), "a thousand frames: {:?}", began.elapsed());
    }

    #[test]
    fn a_cap_is_named_and_leads_to_its_field() {
        let mut window = notices(Vec::new(), true);
        window.state_mut().room.cap_reached = Some("the cap of 5.0000 dollars a run for the room is reached".into());
        window.state_mut().room.cap_name = Some("cost_per_run_usd".into());
        window.run_steps(3);
        assert!(window.query_by_label("Cap budget.cost_per_run_usd was reached").is_some());
        click(&mut window, "Change the cap");
        let lead_to = window.state().state.settings.as_ref().and_then(|shown| shown.lead_to.as_deref());
        assert_eq!(lead_to, Some("budget.cost_per_run_usd"));
    }

    #[test]
    fn the_same_told_again_is_one_card_and_all_is_bounded() {
        let mut state = UiState::default();
        for number in 0..1_000 {
            state.tell("no such agent", false);
            state.tell(format!("no {number}"), false);
        }
        assert!(state.outcomes.len() <= 20 && state.told.len() <= 200);
        assert_eq!(state.outcomes.iter().filter(|outcome| outcome.text == "no such agent").count(), 1);
    }
}
