//! The first steps: a small card in the room with three steps, each ticked off when the person has done it, and an
//! arrow that points to where the next one is done.

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

/// The width of the card, in points.
const CARD_POINTS: f32 = 270.0;
/// The minimum size of the room's view for the card to be shown, in points.
const MIN_VIEW_POINTS: egui::Vec2 = egui::vec2(340.0, 260.0);

/// One of the first steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    /// Adding an agent to the room.
    Drop,
    /// Changing the rules.
    Rules,
    /// Showing the agents' thoughts.
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

/// The steps that the person has done.
#[derive(Clone, Debug, Default)]
pub struct FirstSteps {
    done: [bool; Step::ALL.len()],
}

impl FirstSteps {
    /// Ticks off the steps that a command completes.
    pub fn note(&mut self, command: &Command, room: &RoomModel) {
        match command {
            Command::Act(act, _) => self.note_act(act, room),
            Command::Acts(acts) => acts.iter().for_each(|(act, _)| self.note_act(act, room)),
            Command::Import { .. } => self.complete(Step::Drop),
            _ => {}
        }
    }

    /// Ticks off the steps that the state of the window completes.
    pub fn update(&mut self, state: &UiState) {
        if state.view.debug_overlay {
            self.complete(Step::Thoughts);
        }
    }

    fn note_act(&mut self, act: &RoomAct, room: &RoomModel) {
        match act {
            RoomAct::Agent(AgentCommand::Add { .. }) => self.complete(Step::Drop),
            RoomAct::Edit(edit) if is_rulebook(room, &edit.element) => self.complete(Step::Rules),
            _ => {}
        }
    }

    fn complete(&mut self, step: Step) {
        self.done[step as usize] = true;
    }

    fn is_done(&self, step: Step) -> bool {
        self.done[step as usize]
    }

    /// Returns the first step that is not done; changing the rules is skipped if there is no rulebook.
    fn next(&self, room: &RoomModel) -> Option<Step> {
        let is_possible = |step: Step| step != Step::Rules || rulebook(room).is_some();
        Step::ALL.into_iter().find(|step| !self.is_done(*step) && is_possible(*step))
    }
}

fn rulebook(room: &RoomModel) -> Option<&crate::view::model::ElementView> {
    room.elements.iter().find(|element| &*element.kind == "rulebook")
}

fn is_rulebook(room: &RoomModel, id: &str) -> bool {
    room.element(id).is_some_and(|element| &*element.kind == "rulebook")
}

/// Draws the card until the person closes it.
pub fn first_steps_ui(ui: &Ui, cx: &ViewerContext<'_>, own: &FirstSteps) -> Vec<Command> {
    let mut commands = Vec::new();
    let view = cx.ui.view.camera.viewport;
    let fits = view.width() >= MIN_VIEW_POINTS.x && view.height() >= MIN_VIEW_POINTS.y;
    // An open element, an open panel and a waiting approval take precedence.
    let is_approval_waiting = cx.ui.questions.front(cx.room).is_some();
    let is_hidden = cx.ui.front.element().is_some() || cx.ui.front.is_covered() || is_approval_waiting;
    if cx.ui.notices.is_hint_closed || !cx.ui.dock.is_visible(&Tab::ROOM) || !fits || is_hidden {
        return commands;
    }
    let next = own.next(cx.room);
    let id = WidgetId::new("first steps");
    let shown =
        Area::new(id).order(Order::Middle).fixed_pos(view.min + vec2(SPACE[3], SPACE[3])).show(ui.ctx(), |ui| {
            widgets::apply_style(ui.style_mut(), cx.theme);
            ui.set_width(CARD_POINTS);
            let mut is_read = false;
            let closed = card(ui, (texts::WELCOME, ""), cx.theme.accent, cx.theme, texts::CLOSE_THE_HINT, |ui| {
                Step::ALL
                    .into_iter()
                    .for_each(|step| step_ui(ui, step, own.is_done(step), next == Some(step), cx.theme));
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

/// Draws a step on the card: done, next (with instructions), or later.
fn step_ui(ui: &mut Ui, step: Step, is_done: bool, is_next: bool, theme: &Theme) {
    let [title, how] = step.title_and_help();
    let row = ui.horizontal_top(|ui| {
        let (rect, _) = ui.allocate_exact_size(vec2(16.0, 18.0), Sense::hover());
        if is_done {
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
            let colour = if is_done { theme.text_soft } else { theme.text };
            let title = RichText::new(title).size(TYPE[1]).color(colour);
            ui.add(egui::Label::new(if is_next { title.strong() } else { title }).wrap());
            if is_next {
                ui.add(egui::Label::new(widgets::small(how, theme)).wrap());
            }
        });
    });
    widgets::name(&row.response, texts::step_name(title, is_done));
}

/// Returns the screen position where a step is done.
fn place_of(step: Step, cx: &ViewerContext<'_>) -> Option<Pos2> {
    let view = cx.ui.view.camera.viewport;
    match step {
        Step::Drop => {
            let shelf = cx.ui.dock.rect(&Tab::SHELF).filter(|_| cx.ui.dock.is_visible(&Tab::SHELF))?;
            Some(Pos2::new(shelf.right() - SPACE[4], (shelf.top() + 90.0).min(shelf.bottom() - SPACE[3])))
        }
        Step::Rules => {
            let place = cx.ui.view.camera.to_screen(rulebook(cx.room)?.position);
            Some(view.shrink(SPACE[4]).clamp(place))
        }
        Step::Thoughts => Some(view.left_bottom() + vec2(76.0, -46.0)),
    }
}

/// Draws an arrow from the card to a position.
fn arrow(painter: &Painter, card: Rect, to: Pos2, theme: &Theme) {
    let from = card.clamp(to);
    let vector = to - from;
    if vector.length() < 2.0 * SPACE[3] {
        return;
    }
    let direction = vector.normalized();
    let (tip, foot) = (to - direction * SPACE[0], from + direction * SPACE[0]);
    for (width, colour) in [(6.0, theme.panel), (2.5, theme.accent)] {
        let stroke = Stroke::new(width, colour);
        painter.line_segment([foot, tip], stroke);
        for side in [direction.rot90(), -direction.rot90()] {
            painter.line_segment([tip, tip - direction * 9.0 + side * 5.0], stroke);
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
    use crate::ui::testing::{PaneHarness, asking_piece, pane_of, sample_room};

    fn card_of(state: UiState) -> Harness<'static, PaneHarness> {
        let mut window =
            pane_of(PaneHarness::new(sample_room(), state), |ui, cx, panes| first_steps_ui(ui, cx, &panes.first_steps));
        window.run_steps(4);
        window
    }

    fn ticked(window: &Harness<'static, PaneHarness>) -> [bool; 3] {
        Step::ALL.map(|step| window.query_by_label(&format!("Step: {}, done", step.title_and_help()[0])).is_some())
    }

    fn write(element: &str) -> Command {
        let act = TextAct::SetText { text: "Be kind".into() }.into();
        let edit = ElementEdit { element: element.into(), act, by: Author::user(), cause: None };
        Command::Act(RoomAct::Edit(edit), None)
    }

    #[test]
    fn each_step_is_ticked_off_when_done_in_any_order() {
        let add = AgentCommand::Add {
            id: None,
            profile: "ada".into(),
            position: bevy::math::Vec2::ZERO,
            behaviour: None,
            exactly: false,
        };
        let mut window = card_of(UiState::default());
        assert_eq!(ticked(&window), [false; 3]);
        let mut complete = |command: &Command| {
            let PaneHarness { parts, room, .. } = window.state_mut();
            parts.first_steps.note(command, room);
            window.run_steps(2);
            ticked(&window)
        };
        assert_eq!(complete(&write("news")), [false; 3], "a message board is no rulebook");
        assert_eq!(complete(&write("rules")), [false, true, false]);
        assert_eq!(complete(&Command::Act(RoomAct::Agent(add), None)), [true, true, false]);
        let PaneHarness { parts, state, .. } = window.state_mut();
        state.view.debug_overlay = true;
        parts.first_steps.update(state);
        window.run_steps(2);
        assert_eq!(ticked(&window), [true; 3]);
        window.get_by_label("Done").click();
        window.run_steps(3);
        assert!(window.state().state.notices.is_hint_closed);
    }

    #[test]
    fn the_card_can_be_closed_permanently_at_any_step() {
        for button in ["Got it", "Close the hint"] {
            let mut window = card_of(UiState::default());
            window.get_by_label(button).click();
            window.run_steps(3);
            assert!(window.state().state.notices.is_hint_closed, "{button}");
            assert!(window.query_by_label("Welcome to the workshop").is_none());
        }
    }

    #[test]
    fn a_waiting_approval_hides_the_card() {
        let mut window = card_of(UiState::default());
        window.state_mut().room.work.pieces = vec![asking_piece(7, "ada-1", "write notes.md")];
        window.run_steps(3);
        assert!(window.query_by_label("Welcome to the workshop").is_none());
        window.state_mut().room.work.pieces.clear();
        window.run_steps(3);
        assert!(window.query_by_label("Welcome to the workshop").is_some());
    }

    #[test]
    fn the_next_step_has_instructions_and_needs_a_rulebook_to_change_rules() {
        let steps = FirstSteps { done: [true, false, false] };
        let mut room = sample_room();
        assert_eq!(steps.next(&room), Some(Step::Rules));
        room.elements.clear();
        assert_eq!(steps.next(&room), Some(Step::Thoughts));
        let window = card_of(UiState::default());
        assert!(window.query_by_label(Step::Drop.title_and_help()[1]).is_some());
        assert!(window.query_by_label(Step::Rules.title_and_help()[1]).is_none());
    }
}
