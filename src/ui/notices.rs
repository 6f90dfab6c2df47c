//! What went wrong and how things went, as cards that can be put aside; and the hint of the first run.

use egui::{Align2, Area, Id as WidgetId, Order, RichText, Ui};

use super::icons::Icon;
use super::{Command, UiState, kit};
use crate::base::{Problem, Severity};
use crate::view::model::RoomModel;
use crate::view::theme::{SPACE, TYPE, Theme};

/// An outcome that went well goes away after so many seconds; one that did not stays until it is put aside.
const OUTCOME_SECS: f64 = 6.0;
/// So many problems are shown at once.
const SHOWN: usize = 3;

/// Draws the notices over the room, at the lower right of what is free.
pub fn notices_ui(ui: &mut Ui, room: &RoomModel, theme: &Theme, state: &mut UiState) -> Vec<Command> {
    let mut commands = Vec::new();
    let now = state.now_secs;
    state.outcomes.retain(|outcome| !outcome.good || now - outcome.born_secs < OUTCOME_SECS);
    // What was mended may go wrong again, and is told again then.
    state.put_aside.retain(|words| room.problems.iter().any(|problem| problem.to_string() == *words));
    let cap = room.cap_reached.clone().filter(|cap| !state.put_aside_caps.contains(cap));
    let problems: Vec<&Problem> =
        room.problems.iter().filter(|problem| !state.put_aside.contains(&problem.to_string())).collect();
    let hint = !state.hint_closed;
    if problems.is_empty() && state.outcomes.is_empty() && cap.is_none() && !hint {
        return commands;
    }
    let free = ui.available_rect_before_wrap();
    Area::new(WidgetId::new("notices"))
        .order(Order::Foreground)
        .pivot(Align2::RIGHT_BOTTOM)
        .fixed_pos(free.right_bottom() - egui::vec2(SPACE[3], SPACE[3]))
        .show(ui.ctx(), |ui| {
            kit::dress(ui.style_mut(), theme);
            ui.set_width(340.0_f32.min(free.width() - 2.0 * SPACE[3]).max(200.0));
            if hint {
                first_run(ui, room, theme, state);
            }
            for problem in problems.iter().take(SHOWN) {
                problem_card(ui, problem, theme, state, &mut commands);
            }
            if problems.len() > SHOWN {
                kit::window(theme).inner_margin(SPACE[1]).show(ui, |ui| {
                    let text = format!("and {} more problems", problems.len() - SHOWN);
                    kit::line(
                        ui,
                        |ui| {
                            ui.label(kit::small(text, theme));
                        },
                        |ui| {
                            if ui.small_button("Put all aside").clicked() {
                                state.put_aside.extend(problems.iter().map(ToString::to_string));
                            }
                        },
                    );
                });
            }
            if let Some(cap) = cap {
                let closed = card(ui, ("A cap was reached", &cap), theme.warn, theme, "Put aside the cap", |_| {});
                if closed {
                    state.put_aside_caps.insert(cap);
                }
            }
            outcomes(ui, theme, state, &mut commands);
        });
    commands
}

/// A notice with a coloured edge. Whether it is to be put aside.
fn card(
    ui: &mut Ui,
    (title, text): (&str, &str),
    colour: egui::Color32,
    theme: &Theme,
    close: &str,
    more: impl FnOnce(&mut Ui),
) -> bool {
    let mut closed = false;
    let shown = kit::window(theme).inner_margin(SPACE[2]).show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = SPACE[0];
        kit::line(
            ui,
            |ui| {
                ui.add(egui::Label::new(RichText::new(title).size(TYPE[1]).color(colour)).truncate());
            },
            |ui| closed = kit::icon_button(ui, Icon::Cross, close, false, theme).clicked(),
        );
        if !text.is_empty() {
            ui.add(egui::Label::new(text).wrap());
        }
        more(ui);
    });
    let rect = shown.response.rect;
    let edge =
        egui::Rect::from_min_size(rect.left_top() + egui::vec2(1.0, 10.0), egui::vec2(3.0, rect.height() - 20.0));
    ui.painter().rect_filled(edge, 2.0, colour);
    closed
}

/// A text as a sentence: with a capital and a full stop.
pub fn sentence(text: &str) -> String {
    let mut sentence = super::shelf::capitalised(text.trim());
    if !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
    sentence
}

/// The file that a problem is about, if its place names one.
fn file_of(problem: &Problem) -> Option<String> {
    let path = problem.place.split(',').next()?.trim();
    let is_file = [".md", ".mdx", ".yaml", ".yml"].iter().any(|ending| path.ends_with(ending));
    is_file.then(|| path.to_owned())
}

fn problem_card(ui: &mut Ui, problem: &Problem, theme: &Theme, state: &mut UiState, commands: &mut Vec<Command>) {
    let colour = if problem.severity == Severity::Error { theme.bad } else { theme.warn };
    let place = match problem.line {
        Some(line) => format!("{}, line {line}", problem.place),
        None => problem.place.clone(),
    };
    let what = sentence(&problem.what);
    let closed = card(ui, (&place, &what), colour, theme, &format!("Put aside {place}"), |ui| {
        ui.add(egui::Label::new(kit::soft(sentence(&problem.remedy), theme)).wrap());
        if let Some(file) = file_of(problem) {
            let button = ui.button("Open file");
            kit::name(&button, format!("Open file {file}"));
            if button.clicked() {
                commands.push(Command::OpenFile(file));
            }
        }
    });
    if closed {
        state.put_aside.insert(problem.to_string());
    }
}

fn outcomes(ui: &mut Ui, theme: &Theme, state: &mut UiState, commands: &mut Vec<Command>) {
    let mut gone = None;
    for (index, outcome) in state.outcomes.iter().enumerate() {
        let (title, colour) = if outcome.good { ("Done", theme.good) } else { ("That did not work", theme.bad) };
        let closed = card(ui, (title, &outcome.text), colour, theme, &format!("Put aside: {}", outcome.text), |ui| {
            if let Some(file) = &outcome.file
                && ui.button("Open file").clicked()
            {
                commands.push(Command::OpenFile(file.clone()));
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
                ui.add(egui::Label::new(kit::soft(step, theme)).wrap());
            });
        }
        if kit::primary(ui, true, "Got it", theme).clicked() {
            state.hint_closed = true;
        }
    });
    state.hint_closed |= closed;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::{Stage, sample_room, stage_in};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn notices(problems: Vec<Problem>, hint_closed: bool) -> Harness<'static, Stage> {
        let room = RoomModel { problems, ..sample_room() };
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
        assert_eq!(window.state().commands, [Command::OpenFile("agents/ada.md".into())]);
    }

    #[test]
    fn what_is_put_aside_comes_back_only_after_it_was_mended() {
        let mut window = notices(vec![broken()], true);
        click(&mut window, "Put aside agents/ada.md, line 4");
        assert!(window.query_by_label("agents/ada.md, line 4").is_none());
        window.state_mut().room.problems.clear();
        window.run_steps(2);
        window.state_mut().room.problems.push(broken());
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
    fn a_scene_s_place_is_a_file_and_a_setting_s_is_none() {
        let place = |place: &str| file_of(&Problem::error(place, "x", "y"));
        assert_eq!(place("scenes/main.yaml, element rules").as_deref(), Some("scenes/main.yaml"));
        assert_eq!(place("gateway.provider"), None);
    }
}
