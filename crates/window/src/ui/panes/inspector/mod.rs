//! The inspector: shows the selected agent, element or file, and the commands for it.

mod about;
mod agent;
mod agent_plan;
mod calls;
mod chat;
mod element;
mod file;
mod knowledge;
mod log_index;
mod past_sessions;
mod prompt;
mod readers;
mod texts;
mod whole_answers;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use self::element::holds;

use egui::{Label, RichText, Sense, Ui, vec2};

use self::agent::AgentTab;
pub use self::agent::has_room_for_question;
use self::calls::CallsPane;
use self::chat::ChatPane;
use self::file::FilePane;
use self::log_index::LogIndex;
use self::past_sessions::PastSessionsPane;
use crate::ui::Command;
use crate::ui::context::ViewerContext;
use crate::ui::menus::command_tip;
use crate::ui::panes::pane::{Pane, PaneFrame, Panes};
use crate::ui::panes::texts as titles;
use crate::ui::state::dock::Tab;
use crate::ui::state::dock_place::{DockArea, DockPlace};
use crate::ui::state::tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::text_format;
use crate::view::model::RoomModel;
use crate::view::paint;
use crate::view::pick::RoomObject;
use crate::view::theme::{SPACE, Theme};

/// The state of the inspector.
#[derive(Clone, Debug, Default)]
pub struct Inspector {
    /// The selected tab of an agent.
    tab: AgentTab,
    /// The work, calls and readers found in the log.
    log_index: Arc<LogIndex>,
    chat: ChatPane,
    earlier: PastSessionsPane,
    calls: CallsPane,
    file: FilePane,
    /// Unsaved texts, by field.
    drafts: BTreeMap<String, String>,
}

impl Pane for Inspector {
    fn id(&self) -> &'static str {
        tab::INSPECTOR
    }

    fn title(&self) -> &'static str {
        titles::INSPECTOR
    }

    fn place(&self) -> DockPlace {
        DockPlace { follows_selection: true, ..DockPlace::always_in(DockArea::Right) }
    }

    fn show_tab(&mut self, ui: &mut Ui, _: Option<&str>, frame: &mut PaneFrame<'_, '_>) -> Vec<Command> {
        let PaneFrame { room, draw, others, .. } = frame;
        inspector_ui(ui, &draw.at(room), self, others)
    }

    /// Discards unsaved texts.
    fn forget_room(&mut self) {
        self.drafts.clear();
    }

    fn forget_workspace(&mut self) {
        *self = Self::default();
    }
}

/// Draws the inspector; the newest records of the log if nothing is selected.
pub fn inspector_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut Inspector, others: &mut Panes) -> Vec<Command> {
    let ViewerContext { room, theme, .. } = *cx;
    widgets::apply_style(ui.style_mut(), theme);
    let mut commands = Vec::new();
    if Arc::make_mut(&mut pane.log_index).update(&cx.recent.book) {
        ui.ctx().request_repaint();
    }
    let selected: Vec<RoomObject> = cx.ui.selection.things().iter().cloned().collect();
    match selected.as_slice() {
        [] => match cx.ui.selection.file() {
            Some(path) => file::file_card(ui, cx, path, pane, &mut commands),
            // The log is visible already.
            None if cx.ui.dock.is_visible(&Tab::LOG) => {
                widgets::empty(ui, Icon::Agent, texts::NOTHING_IS_SELECTED, texts::SELECT_SOMETHING, theme);
            }
            None => commands.extend(others.show_in_short(tab::LOG, ui, cx)),
        },
        [RoomObject::Agent(id)] => match room.agent(id) {
            Some(agent) => agent::agent_card(ui, cx, agent, pane, &mut commands),
            None => missing_ui(ui, id, theme),
        },
        [RoomObject::Element(id)] => match room.element(id) {
            Some(element) => scrolled(ui, |ui| {
                element::element_card(ui, cx, element, &mut pane.drafts, &mut commands);
                ui.add_space(SPACE[3]);
                duplicate_and_delete_ui(ui, cx, &selected, &mut commands);
            }),
            None => missing_ui(ui, id, theme),
        },
        several => scrolled(ui, |ui| multi_selection_ui(ui, cx, several, &mut commands)),
    }
    commands
}

/// Draws the placeholder for a selected agent or element that no longer exists.
fn missing_ui(ui: &mut Ui, id: &str, theme: &Theme) {
    widgets::empty(ui, Icon::Agent, &texts::has_left(id), texts::SELECT_SOMETHING_ELSE, theme);
}

fn scrolled(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, content);
}

fn multi_selection_ui(ui: &mut Ui, cx: &ViewerContext<'_>, things: &[RoomObject], commands: &mut Vec<Command>) {
    let ViewerContext { room, art, theme, .. } = *cx;
    ui.label(widgets::heading(texts::things(things.len()), theme));
    let agents = things.iter().filter(|thing| thing.agent().is_some()).count();
    ui.label(widgets::secondary_text(texts::agents_and_elements(agents, things.len() - agents), theme));
    widgets::in_card(ui, theme, |ui| {
        const SHOWN: usize = 40;
        for thing in things.iter().take(SHOWN) {
            ui.horizontal(|ui| {
                let (rect, _) = ui.allocate_exact_size(egui::vec2(28.0, 28.0), egui::Sense::hover());
                let label = match thing {
                    RoomObject::Agent(id) => room.agent(id).map(|agent| {
                        paint::portrait(ui.painter(), rect, &agent.look, art);
                        agent.name.clone()
                    }),
                    RoomObject::Element(id) => room.element(id).map(|element| {
                        paint::element_picture(ui.painter(), rect, &element.kind, art);
                        element.label.clone()
                    }),
                };
                let label = label.unwrap_or_else(|| thing.id().clone());
                ui.add(egui::Label::new(&*label).truncate());
            });
        }
        if things.len() > SHOWN {
            ui.label(widgets::small(texts::and_more(things.len() - SHOWN), theme));
        }
    });
    duplicate_and_delete_ui(ui, cx, things, commands);
}

/// Draws the buttons to duplicate and delete the selection.
fn duplicate_and_delete_ui(ui: &mut Ui, cx: &ViewerContext<'_>, things: &[RoomObject], commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        if command_tip(ui.button(texts::DUPLICATE), cx, "room.duplicate").clicked() {
            commands.push(Command::Duplicate(things.to_vec()));
        }
        if command_tip(widgets::danger(ui, texts::DELETE, cx.theme), cx, "room.delete").clicked() {
            commands.push(Command::Delete(things.to_vec()));
        }
    });
}

/// Returns how long ago a tick was, in words.
fn ago(room: &RoomModel, tick: u64) -> String {
    texts::ago(&text_format::since(room, tick))
}

/// Draws a collapsible section; `name` is its accessible name.
fn collapsible(
    ui: &mut Ui,
    salt: impl egui::AsIdSalt,
    line: RichText,
    name: &str,
    theme: &Theme,
    body: impl FnOnce(&mut Ui),
) {
    let id = ui.make_persistent_id(salt);
    let mut open = egui::collapsing_header::CollapsingState::load_with_default_open(ui.ctx(), id, false);
    let row = |ui: &mut Ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        let row = ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = SPACE[0] + 2.0;
            let (icon_rect, _) = ui.allocate_exact_size(vec2(9.0, 16.0), Sense::hover());
            let icon = if open.is_open() { Icon::Down } else { Icon::Play };
            icon.paint(ui.painter(), icon_rect.shrink2(vec2(0.0, 3.5)), theme.text_soft);
            ui.add(Label::new(line).wrap().selectable(false).sense(Sense::click()))
        });
        row.inner
    };
    let row = ui.scope(row).inner;
    let is_open = open.is_open();
    row.widget_info(|| egui::WidgetInfo::selected(egui::WidgetType::CollapsingHeader, true, is_open, name));
    if row.clicked() {
        open.toggle(ui);
    }
    let is_open = open.is_open();
    open.store(ui.ctx());
    if is_open {
        ui.scope(body);
    }
}

/// Draws a label and its value on one line.
fn fact(ui: &mut Ui, key: &str, value: &str, theme: &Theme) {
    ui.scope(|ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.horizontal_top(|ui| {
            let width = 84.0;
            let (rect, _) = ui.allocate_exact_size(vec2(width, 18.0), Sense::hover());
            let mut cell = ui.new_child(egui::UiBuilder::new().max_rect(rect));
            cell.label(widgets::secondary_text(key, theme));
            ui.add(Label::new(value).wrap());
        });
    });
}

#[cfg(test)]
mod tests;
