//! The first steps: three steps on a small card in the room, each ticked off when the person has done it, with an arrow
//! to the place of the next one.

use egui::{
    Area, CornerRadius, Id as WidgetId, LayerId, Order, Painter, Pos2, Rect, RichText, Sense, Stroke, Ui, vec2,
};

use crate::agent::AgentCommand;
use crate::ui::commands::{NoticeCommand, RoomAct, WindowCommand};
use crate::ui::shell::notice_card::card;
use crate::ui::shell::texts::help as texts;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::{Command, UiState, ViewerContext};
use crate::view::model::RoomModel;
use crate::view::theme::{LINE, MARK_RADIUS, SPACE, TYPE, Theme};

/// The width of the card.
const CARD_POINTS: f32 = 270.0;
/// Rooms that are shown smaller than this have no place for it.
const FITS_POINTS: egui::Vec2 = egui::vec2(340.0, 260.0);

/// A step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// Somebody was dropped into the room.
    Drop,
    /// The rules were changed.
    Rules,
    /// What everyone thinks was shown.
    Thoughts,
}

impl Step {
    const ALL: [Self; 3] = [Self::Drop, Self::Rules, Self::Thoughts];

    fn title_and_help(self) -> [&'static str; 2] {
        match self {
            Self::Drop => [texts::ADD_AN_AGENT, texts::ADD_AN_AGENT_HOW],
            Self::Rules => [texts::CHANGE_THE_RULES, texts::CHANGE_THE_RULES_HOW],
            Self::Thoughts => [texts::SHOW_THOUGHTS, texts::SHOW_THOUGHTS_HOW],
        }
    }
}

/// Which steps the person has taken.
#[derive(Clone, Debug, Default)]
pub struct FirstSteps {
    taken: [bool; Step::ALL.len()],
}

impl FirstSteps {
    /// Takes in what the person asked for.
    pub fn note(&mut self, command: &Command, room: &RoomModel) {
        match command {
            Command::Act(act, _) => self.note_act(act, room),
            Command::Acts(acts) => acts.iter().for_each(|(act, _)| self.note_act(act, room)),
            Command::Import { .. } => self.take(Step::Drop),
            _ => {}
        }
    }

    /// Takes in how the window is.
    pub fn look(&mut self, state: &UiState) {
        if state.view.debug_overlay {
            self.take(Step::Thoughts);
        }
    }

    fn note_act(&mut self, act: &RoomAct, room: &RoomModel) {
        match act {
            RoomAct::Agent(AgentCommand::Add { .. }) => self.take(Step::Drop),
            RoomAct::Edit(edit) if is_rulebook(room, &edit.element) => self.take(Step::Rules),
            _ => {}
        }
    }

    fn take(&mut self, step: Step) {
        self.taken[step as usize] = true;
    }

    fn has(&self, step: Step) -> bool {
        self.taken[step as usize]
    }

    /// The next step that was not taken; a rulebook cannot be changed where there is none.
    fn next(&self, room: &RoomModel) -> Option<Step> {
        let can = |step: Step| step != Step::Rules || rulebook(room).is_some();
        Step::ALL.into_iter().find(|step| !self.has(*step) && can(*step))
    }
}

fn rulebook(room: &RoomModel) -> Option<&crate::view::model::ElementView> {
    room.elements.iter().find(|element| &*element.kind == "rulebook")
}

fn is_rulebook(room: &RoomModel, id: &str) -> bool {
    room.element(id).is_some_and(|element| &*element.kind == "rulebook")
}

/// Draws the card, while there are steps to be taken and the person has not put it away.
pub fn first_steps_ui(ui: &Ui, cx: &ViewerContext<'_>, own: &FirstSteps) -> Vec<Command> {
    let mut commands = Vec::new();
    let view = cx.ui.view.camera.viewport;
    let has_place = view.width() >= FITS_POINTS.x && view.height() >= FITS_POINTS.y;
    // What is opened in the room has the room, and so has a question.
    let is_asked = cx.ui.questions.front(cx.room).is_some();
    let is_taken = cx.ui.front.element().is_some() || cx.ui.front.is_covered() || is_asked;
    if cx.ui.notices.is_hint_closed || !cx.ui.dock.is_seen(&Tab::Room) || !has_place || is_taken {
        return commands;
    }
    let next = own.next(cx.room);
    let id = WidgetId::new("first steps");
    let shown =
        Area::new(id).order(Order::Middle).fixed_pos(view.min + vec2(SPACE[3], SPACE[3])).show(ui.ctx(), |ui| {
            widgets::dress(ui.style_mut(), cx.theme);
            ui.set_width(CARD_POINTS);
            let mut is_read = false;
            let closed = card(ui, (texts::WELCOME, ""), cx.theme.accent, cx.theme, texts::CLOSE_THE_HINT, |ui| {
                Step::ALL.into_iter().for_each(|step| step_ui(ui, step, own.has(step), next == Some(step), cx.theme));
                ui.add(egui::Label::new(widgets::small(texts::NO_COST_YET, cx.theme)).wrap());
                let text = if next.is_none() { texts::DONE } else { texts::GOT_IT };
                is_read = widgets::primary(ui, true, text, cx.theme).on_hover_text(texts::DO_NOT_SHOW_AGAIN).clicked();
            });
            closed || is_read
        });
    if shown.inner {
        commands.push(WindowCommand::Notice(NoticeCommand::CloseHint).into());
    } else if let Some(place) = next.and_then(|step| place_of(step, cx)) {
        let layer = LayerId::new(Order::Middle, id.with("arrow"));
        arrow(&ui.ctx().layer_painter(layer), shown.response.rect, place, cx.theme);
    }
    commands
}

/// A step on the card: ticked, the next one with how it is done, or one that comes later.
fn step_ui(ui: &mut Ui, step: Step, is_taken: bool, is_next: bool, theme: &Theme) {
    let [title, how] = step.title_and_help();
    let row = ui.horizontal_top(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(16.0, 18.0), Sense::hover());
        if is_taken {
            Icon::Tick.paint(ui.painter(), rect.shrink(2.0), theme.good);
        } else {
            let stroke = Stroke::new(LINE[1], if is_next { theme.accent } else { theme.text_soft });
            ui.painter().rect_stroke(
                rect.shrink2(vec2(2.0, 3.0)),
                CornerRadius::same(MARK_RADIUS),
                stroke,
                egui::StrokeKind::Inside,
            );
        }
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            let colour = if is_taken { theme.text_soft } else { theme.text };
            let title = RichText::new(title).size(TYPE[1]).color(colour);
            ui.add(egui::Label::new(if is_next { title.strong() } else { title }).wrap());
            if is_next {
                ui.add(egui::Label::new(widgets::small(how, theme)).wrap());
            }
        });
    });
    widgets::name(&row.response, texts::step_name(title, is_taken));
}

/// Where a step is taken, on screen.
fn place_of(step: Step, cx: &ViewerContext<'_>) -> Option<Pos2> {
    let view = cx.ui.view.camera.viewport;
    match step {
        Step::Drop => {
            let shelf = cx.ui.dock.rect(&Tab::Shelf).filter(|_| cx.ui.dock.is_seen(&Tab::Shelf))?;
            Some(Pos2::new(shelf.right() - SPACE[4], (shelf.top() + 90.0).min(shelf.bottom() - SPACE[3])))
        }
        Step::Rules => {
            let place = cx.ui.view.camera.to_screen(rulebook(cx.room)?.position);
            Some(view.shrink(SPACE[4]).clamp(place))
        }
        Step::Thoughts => Some(view.left_bottom() + vec2(76.0, -46.0)),
    }
}

/// An arrow from the card to a place.
fn arrow(painter: &Painter, card: Rect, to: Pos2, theme: &Theme) {
    let from = card.clamp(to);
    let way = to - from;
    if way.length() < 2.0 * SPACE[3] {
        return;
    }
    let ahead = way.normalized();
    let (tip, foot) = (to - ahead * SPACE[0], from + ahead * SPACE[0]);
    for (width, colour) in [(6.0, theme.panel), (2.5, theme.accent)] {
        let stroke = Stroke::new(width, colour);
        painter.line_segment([foot, tip], stroke);
        for side in [ahead.rot90(), -ahead.rot90()] {
            painter.line_segment([tip, tip - ahead * 9.0 + side * 5.0], stroke);
        }
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::base::Author;
    use crate::element::{ElementEdit, TextAct};
    use crate::ui::testing::{Stage, asking_piece, pane_of, sample_room};

    fn card_of(state: UiState) -> Harness<'static, Stage> {
        let mut window =
            pane_of(Stage::new(sample_room(), state), |ui, cx, panes| first_steps_ui(ui, cx, &panes.first_steps));
        window.run_steps(4);
        window
    }

    fn ticked(window: &Harness<'static, Stage>) -> [bool; 3] {
        Step::ALL.map(|step| window.query_by_label(&format!("Step: {}, done", step.title_and_help()[0])).is_some())
    }

    fn write(element: &str) -> Command {
        let act = TextAct::SetText { text: "Be kind".into() }.into();
        let edit = ElementEdit { element: element.into(), act, by: Author::user(), cause: None };
        Command::Act(RoomAct::Edit(edit), None)
    }

    #[test]
    fn each_step_ticks_itself_off_when_it_is_taken_in_whatever_order() {
        let add = AgentCommand::Add {
            id: None,
            profile: "ada".into(),
            position: bevy::math::Vec2::ZERO,
            behaviour: None,
            exactly: false,
        };
        let mut window = card_of(UiState::default());
        assert_eq!(ticked(&window), [false; 3]);
        let mut take = |command: &Command| {
            let Stage { panes, room, .. } = window.state_mut();
            panes.first_steps.note(command, room);
            window.run_steps(2);
            ticked(&window)
        };
        assert_eq!(take(&write("news")), [false; 3], "a message board is no rulebook");
        assert_eq!(take(&write("rules")), [false, true, false]);
        assert_eq!(take(&Command::Act(RoomAct::Agent(add), None)), [true, true, false]);
        let Stage { panes, state, .. } = window.state_mut();
        state.view.debug_overlay = true;
        panes.first_steps.look(state);
        window.run_steps(2);
        assert_eq!(ticked(&window), [true; 3]);
        window.get_by_label("Done").click();
        window.run_steps(3);
        assert!(window.state().state.notices.is_hint_closed);
    }

    #[test]
    fn the_card_is_put_away_permanently_whatever_was_taken() {
        for button in ["Got it", "Close the hint"] {
            let mut window = card_of(UiState::default());
            window.get_by_label(button).click();
            window.run_steps(3);
            assert!(window.state().state.notices.is_hint_closed, "{button}");
            assert!(window.query_by_label("Welcome to the workshop").is_none());
        }
    }

    #[test]
    fn a_question_of_an_agent_comes_before_the_card() {
        let mut window = card_of(UiState::default());
        window.state_mut().room.work.pieces = vec![asking_piece(7, "ada-1", "write notes.md")];
        window.run_steps(3);
        assert!(window.query_by_label("Welcome to the workshop").is_none());
        window.state_mut().room.work.pieces.clear();
        window.run_steps(3);
        assert!(window.query_by_label("Welcome to the workshop").is_some());
    }

    #[test]
    fn the_next_step_says_how_and_a_room_without_rules_asks_for_none() {
        let steps = FirstSteps { taken: [true, false, false] };
        let mut room = sample_room();
        assert_eq!(steps.next(&room), Some(Step::Rules));
        room.elements.clear();
        assert_eq!(steps.next(&room), Some(Step::Thoughts));
        let window = card_of(UiState::default());
        assert!(window.query_by_label(Step::Drop.title_and_help()[1]).is_some());
        assert!(window.query_by_label(Step::Rules.title_and_help()[1]).is_none());
    }
}
