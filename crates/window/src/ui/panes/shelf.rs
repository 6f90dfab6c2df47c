//! The shelf: agents and elements that can be dragged into the room.

mod texts;

use egui::text::LayoutJob;
use egui::{Color32, CornerRadius, FontId, Sense, Stroke, Ui, vec2};

use crate::element::kinds::kinds;
use crate::ui::Command;
use crate::ui::commands::{WindowCommand, create};
use crate::ui::context::ViewerContext;
use crate::ui::panes::pane::Pane;
use crate::ui::panes::texts as titles;
use crate::ui::state::dock_place::{DockArea, DockPlace};
use crate::ui::state::tab;
use crate::ui::state::{Dialog, ShelfItem};
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::text_format::capitalised;
use crate::view::model::ProfileView;
use crate::view::paint;
use crate::view::text::fonts;
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE, Theme};

/// The state of the shelf.
#[derive(Clone, Debug, Default)]
pub struct ShelfPane {
    /// The search text.
    pub search: String,
}

impl Pane for ShelfPane {
    fn id(&self) -> &'static str {
        tab::SHELF
    }

    fn title(&self) -> &'static str {
        titles::SHELF
    }

    fn place(&self) -> DockPlace {
        DockPlace::always_in(DockArea::LeftBottom)
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        shelf_ui(ui, cx, self)
    }

    fn forget_workspace(&mut self) {
        *self = Self::default();
    }
}

/// Draws the shelf.
pub fn shelf_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut ShelfPane) -> Vec<Command> {
    let ViewerContext { room, art, theme, .. } = *cx;
    widgets::apply_style(ui.style_mut(), theme);
    let mut commands = Vec::new();
    ui.label(widgets::small(texts::HOW_TO_ADD, theme));
    widgets::field(ui, &mut pane.search, texts::SEARCH_THE_SHELF, texts::SEARCH);
    let search = pane.search.trim().to_lowercase();
    let matches = |words: &[&str]| words.iter().any(|word| word.to_lowercase().contains(&search));
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        widgets::section_with(ui, texts::AGENTS, theme, |ui| {
            let add = ui.small_button(texts::ADD_YOUR_OWN).on_hover_text(texts::ABOUT_CODING_AGENTS);
            widgets::name(&add, texts::ADD_CODING_AGENT);
            if add.clicked() {
                commands.push(WindowCommand::Ask(Dialog::AddCodingAgent).into());
            }
        });
        let profiles: Vec<&ProfileView> = room
            .profiles
            .iter()
            .filter(|profile| matches(&[&profile.name, &profile.description, &profile.id]))
            .collect();
        if room.profiles.is_empty() {
            widgets::empty(ui, Icon::Agent, texts::NO_AGENTS, texts::HOW_TO_MAKE_AGENTS, theme);
        }
        for profile in &profiles {
            let item = ShelfItem::Profile(profile.id.clone());
            let here = texts::here(profile.agents);
            let words = (profile.name.as_str(), profile.description.as_str(), here.as_str());
            if row(ui, &item, &texts::add(&profile.name), words, theme, &mut commands, |ui, rect| {
                paint::portrait(ui.painter(), rect, &profile.look, art);
            }) {
                commands.extend(create::add_agent(room, &profile.id, cx.ui.view.camera.middle, false));
            }
        }
        widgets::section(ui, texts::ELEMENTS, theme);
        let mut has_results = !profiles.is_empty();
        for kind in kinds().into_iter().filter(|kind| matches(&[kind.name, kind.purpose])) {
            has_results = true;
            let here = texts::here(room.elements.iter().filter(|element| &*element.kind == kind.word).count());
            let item = ShelfItem::Element(kind.word.into());
            let name = capitalised(kind.name);
            let words = (name.as_str(), kind.purpose, here.as_str());
            if row(ui, &item, &texts::add(kind.name), words, theme, &mut commands, |ui, rect| {
                paint::element_picture(ui.painter(), rect, kind.word, art);
            }) {
                commands.push(create::element_at(room, kind.word, cx.ui.view.camera.middle));
            }
        }
        if !has_results {
            widgets::empty(ui, Icon::Search, texts::NO_RESULTS, texts::TRY_A_SHORTER_SEARCH, theme);
        }
    });
    commands
}

/// Draws an item. Returns whether to add it without dragging.
fn row(
    ui: &mut Ui,
    item: &ShelfItem,
    name: &str,
    (title, about, here): (&str, &str, &str),
    theme: &Theme,
    commands: &mut Vec<Command>,
    picture: impl FnOnce(&Ui, egui::Rect),
) -> bool {
    let size = vec2(ui.available_width(), 62.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, name));
    if response.drag_started() {
        commands.push(WindowCommand::Drag(Some(item.clone())).into());
    }
    if ui.is_rect_visible(rect) {
        let share = if response.dragged() {
            0.16
        } else if response.hovered() {
            0.07
        } else {
            0.0
        };
        let painter = ui.painter();
        painter.rect(
            rect,
            CornerRadius::same(RADIUS[1]),
            widgets::mix(theme.card, theme.accent, share),
            Stroke::new(LINE[0], theme.line),
            egui::StrokeKind::Inside,
        );
        let shown = egui::Rect::from_min_size(rect.min + vec2(6.0, 5.0), vec2(44.0, rect.height() - 10.0));
        widgets::portrait_background(painter, shown, theme);
        picture(ui, shown.shrink(3.0));
        let words = egui::Rect::from_min_max(shown.right_top() + vec2(SPACE[1], 2.0), rect.max - vec2(SPACE[1], 4.0));
        row_words(ui, words, (title, about, here), theme);
    }
    let response = response.on_hover_cursor(egui::CursorIcon::Grab);
    // Clicks from the keyboard or a screen reader involve no mouse button.
    let by_key = response.clicked() && !ui.input(|input| input.pointer.any_released());
    response.double_clicked() || by_key
}

/// Draws the texts of an item: its title, the number in the room, and up to two lines of description.
fn row_words(ui: &Ui, rect: egui::Rect, (title, about, here): (&str, &str, &str), theme: &Theme) {
    let painter = ui.painter();
    let lay = |text: &str, font: FontId, colour: Color32, width: f32, rows: usize| {
        let mut job = LayoutJob::simple(text.to_owned(), font, colour, width);
        job.wrap.max_rows = rows;
        painter.layout_job(job)
    };
    let here = painter.layout_no_wrap(here.to_owned(), FontId::proportional(TYPE[0]), theme.text_soft);
    let room_for_title = rect.width() - here.size().x - SPACE[0];
    let title = lay(title, fonts::semibold(ui.ctx(), TYPE[1]), theme.text, room_for_title, 1);
    let below = rect.min + vec2(0.0, title.size().y + 1.0);
    let about = lay(about, FontId::proportional(TYPE[0]), theme.text_soft, rect.width(), 2);
    let aside = rect.right_top() + vec2(-here.size().x, 0.5 * (title.size().y - here.size().y));
    painter.galley(rect.min, title, theme.text);
    painter.galley(aside, here, theme.text_soft);
    painter.galley(below, about, theme.text_soft);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::AgentCommand;
    use crate::element::ElementCommand;
    use crate::ui::UiState;
    use crate::ui::commands::RoomAct;
    use crate::ui::testing::{PaneHarness, stage_pane};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn shelf() -> Harness<'static, PaneHarness> {
        stage_pane(UiState::default(), |ui, cx, panes| shelf_ui(ui, cx, panes.pane_mut::<ShelfPane>()))
    }

    #[test]
    fn dragging_an_item_starts_a_drag_in_the_window() {
        let mut window = shelf();
        window.run_steps(2);
        let middle = window.get_by_label("Add Bram").rect().center();
        window.drag_at(middle);
        window.run_steps(1);
        window.hover_at(middle + vec2(60.0, 40.0));
        window.run_steps(2);
        assert_eq!(window.state().state.transfer.dragging, Some(ShelfItem::Profile("bram".into())));
    }

    #[test]
    fn enter_adds_an_agent_in_the_middle_of_the_view() {
        let mut window = shelf();
        window.run_steps(2);
        window.get_by_label("Add Ada").focus();
        window.run_steps(1);
        window.key_press(egui::Key::Enter);
        window.run_steps(2);
        let [Command::Act(RoomAct::Agent(AgentCommand::Add { profile, position, .. }), Some(back))] =
            &window.state().commands[..]
        else {
            panic!("{:?}", window.state().commands);
        };
        assert_eq!((&**profile, position.y), ("ada", 320.0), "above the elements, as if it were dropped there");
        assert_eq!(*back, RoomAct::Agent(AgentCommand::Remove { agent: "ada-2".into() }));
    }

    #[test]
    fn the_search_filters_the_items() {
        let mut window = shelf();
        window.state_mut().parts.pane_mut::<ShelfPane>().search = "Vote".to_owned();
        window.run_steps(3);
        assert!(window.query_by_label("Add pinboard").is_some());
        assert!(window.query_by_label("Add Ada").is_none());
        assert!(window.query_by_label("Add rulebook").is_none());
    }

    #[test]
    fn adding_an_element_can_be_undone() {
        let stage = shelf();
        let room = &stage.state().room;
        let Command::Act(RoomAct::Element(ElementCommand::Add { keys }), Some(inverse)) =
            create::element_at(room, "pinboard", bevy::math::Vec2::new(4.0, 5.0))
        else {
            panic!("an element is added");
        };
        assert_eq!(keys["id"], "pinboard-1");
        assert_eq!(inverse, RoomAct::Element(ElementCommand::Remove { element: "pinboard-1".into() }));
    }
}
