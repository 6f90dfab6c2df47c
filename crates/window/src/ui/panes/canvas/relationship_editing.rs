//! Creates relationships with the mouse: the handle next to an agent, the line while dragging, and the label field.

use egui::{Align2, Area, CursorIcon, Id as WidgetId, Order, Painter, Pos2, TextEdit, Ui};

use super::drag::DragState;
use super::texts;
use crate::base::Id;
use crate::simulation::RelationshipCommand;
use crate::simulation::relationship_commands::{MAX_LABEL_CHARS, label_of};
use crate::ui::commands::{RoomAct, WindowCommand};
use crate::ui::state::{RelationshipNaming, RoomView};
use crate::ui::widgets;
use crate::ui::{Command, ViewerContext};
use crate::view::camera::Camera;
use crate::view::model::{AgentView, RoomModel};
use crate::view::paint::{self, handle_place};
use crate::view::pick::{RoomObject, hit_test};
use crate::workspace::Relationship;

/// Radius around a handle's center in which it can be grabbed.
const HANDLE_RADIUS_POINTS: f32 = 13.0;
/// With more agents selected than this, only the hovered agent has a handle.
const MAX_HANDLES: usize = 8;

/// The relationship handles of selected and hovered agents.
#[derive(Clone, Debug, Default)]
pub(super) struct Handles {
    hovered_agent: Option<Id>,
}

impl Handles {
    /// Updates the hovered agent. It keeps its handle while the pointer is on the handle.
    pub(super) fn update_hover(&mut self, pointer: Option<Pos2>, room: &RoomModel, view: &RoomView) {
        let stays = self.hovered_agent.as_ref().and_then(|id| room.agent(id)).is_some_and(|agent| {
            let place = handle_place(agent, view.camera);
            pointer.is_some_and(|pointer| pointer.distance(place) <= HANDLE_RADIUS_POINTS)
        });
        if !stays {
            self.hovered_agent = view.hovered.as_ref().and_then(RoomObject::agent).cloned();
        }
    }

    fn shown<'a>(&self, cx: &ViewerContext<'a>) -> Vec<&'a AgentView> {
        let (room, things) = (cx.room, cx.ui.selection.things());
        let selected: Vec<&Id> = things.iter().filter_map(RoomObject::agent).collect();
        let selected = if selected.len() <= MAX_HANDLES { selected } else { Vec::new() };
        let ids = selected.into_iter().chain(
            self.hovered_agent
                .as_ref()
                .filter(|id| !things.contains(&RoomObject::Agent((*id).clone())) || things.len() > MAX_HANDLES),
        );
        ids.filter_map(|id| room.agent(id)).collect()
    }

    /// Returns the agent whose handle is at `point`. Another figure there covers the handle's edge but not its center.
    pub(super) fn at(&self, point: Pos2, cx: &ViewerContext<'_>, camera: Camera) -> Option<Id> {
        let distance = |agent: &AgentView| point.distance(handle_place(agent, camera));
        let shown = self.shown(cx);
        let nearest = shown.into_iter().min_by(|one, other| distance(one).total_cmp(&distance(other)))?;
        let under = hit_test(cx.room, camera.to_world(point), camera.zoom);
        let is_free = under.is_none_or(|thing| thing.agent() == Some(&nearest.id));
        let reach = if is_free { HANDLE_RADIUS_POINTS } else { 0.6 * HANDLE_RADIUS_POINTS };
        (distance(nearest) <= reach).then(|| nearest.id.clone())
    }

    /// Paints the handles, the relationship being drawn, and the selected and hovered relationships.
    pub(super) fn paint(
        &self,
        painter: &Painter,
        (pointer, over_room): (Option<Pos2>, Option<Pos2>),
        cx: &ViewerContext<'_>,
        (drag, naming): (&DragState, Option<&RelationshipNaming>),
        view: &RoomView,
    ) {
        let (room, theme, camera) = (cx.room, cx.theme, view.camera);
        let at = |wanted: &Relationship| {
            room.relationships.iter().position(|tie| room.relationship(tie).as_ref() == Some(wanted))
        };
        if let Some(index) = cx.ui.selection.rope().and_then(at) {
            paint::chosen_tie(painter, room, camera, *theme, index, true);
        }
        if let (DragState::Idle, None, Some(pointer)) = (drag, &view.hovered, over_room)
            && let Some(index) = paint::relationship_at(room, camera, pointer)
        {
            paint::chosen_tie(painter, room, camera, *theme, index, false);
            painter.ctx().set_cursor_icon(CursorIcon::PointingHand);
        }
        let ends = match (drag, naming) {
            (DragState::Relating(from), _) => room.agent(from).zip(pointer).map(|(from, pointer)| {
                let place = camera.to_world(pointer);
                let to = hit_test(room, place, camera.zoom).and_then(|thing| room.agent(thing.agent()?));
                (from, to.map_or(place, |to| to.position))
            }),
            (_, Some(naming)) if naming.is_new => {
                let Relationship { from, to, .. } = &naming.relationship;
                room.agent(from).zip(room.agent(to)).map(|(from, to)| (from, to.position))
            }
            _ => None,
        };
        if let Some((from, to)) = ends {
            paint::dragged_rope(painter, camera, *theme, from.position, to);
        }
        if matches!(drag, DragState::Idle | DragState::Relating(_)) && camera.zoom > 0.2 {
            let hot = pointer.and_then(|pointer| self.at(pointer, cx, camera));
            for agent in self.shown(cx) {
                paint::handle(painter, handle_place(agent, camera), hot.as_ref() == Some(&agent.id), *theme);
            }
        }
    }
}

/// Shows the field for a relationship's label. Enter or a click elsewhere accepts, Escape cancels. Returns `naming`
/// while it is still being edited.
pub(super) fn naming_ui(
    ui: &Ui,
    cx: &ViewerContext<'_>,
    camera: Camera,
    naming: Option<RelationshipNaming>,
    commands: &mut Vec<Command>,
) -> Option<RelationshipNaming> {
    let (room, theme, mut naming) = (cx.room, cx.theme, naming?);
    let Relationship { from, to, .. } = &naming.relationship;
    let Some(middle) = paint::relationship_midpoint(room, camera, from, to) else {
        let notice = texts::AGENT_HAS_LEFT.to_owned();
        commands.push(WindowCommand::Tell(notice, false).into());
        return None;
    };
    let hint = texts::relationship_hint(room.called(from), room.called(to));
    let place = camera.viewport.shrink(40.0).clamp(middle);
    let (mut is_done, mut is_cancelled) = (false, false);
    Area::new(WidgetId::new("relationship label"))
        .order(Order::Foreground)
        .pivot(Align2::CENTER_CENTER)
        .fixed_pos(place)
        .show(ui.ctx(), |ui| {
            widgets::apply_style(ui.style_mut(), theme);
            widgets::window(theme).inner_margin(6.0).show(ui, |ui| {
                let field = TextEdit::singleline(&mut naming.label)
                    .char_limit(MAX_LABEL_CHARS)
                    .desired_width(190.0)
                    .hint_text(&hint);
                let field = ui.add(field);
                widgets::name(&field, texts::RELATIONSHIP_LABEL);
                if !naming.asked {
                    naming.asked = true;
                    field.request_focus();
                } else if field.lost_focus() {
                    is_cancelled = ui.input(|input| input.key_pressed(egui::Key::Escape));
                    is_done = true;
                }
            });
        });
    if !is_done {
        return Some(naming);
    }
    if is_cancelled {
        return None;
    }
    let label = label_of(&naming.label);
    let named = Relationship { label: label.clone(), ..naming.relationship.clone() };
    let command = if naming.is_new {
        RelationshipCommand::Add { relationship: named.clone(), at: None }
    } else {
        RelationshipCommand::Relabel { relationship: naming.relationship.clone(), label }
    };
    if naming.is_new || named != naming.relationship {
        commands.push(Command::Act(RoomAct::Relate(command), None));
    }
    commands.push(WindowCommand::SelectRope(named).into());
    None
}
