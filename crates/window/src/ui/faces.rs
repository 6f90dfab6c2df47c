//! Portraits of agents in lists, so that an agent is recognised as the one in the room.

use egui::{Sense, Ui, vec2};

use super::ViewerContext;
use crate::view::paint;

/// Draws the portrait of an agent as a square of this side length, in points. An agent that is not in the room leaves
/// the square empty, so that names stay aligned.
pub fn face_ui(ui: &mut Ui, cx: &ViewerContext<'_>, agent: &str, side: f32) {
    let (rect, _) = ui.allocate_exact_size(vec2(side, side), Sense::hover());
    if let Some(agent) = cx.room.agent(agent).filter(|_| ui.is_rect_visible(rect)) {
        paint::portrait(ui.painter(), rect, &agent.look, cx.art);
    }
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::ui::panes::conversations::{self, ConversationsPane};
    use crate::ui::panes::shelf::{self, ShelfPane};
    use crate::ui::shell::parts::WindowParts;
    use crate::ui::testing::{PaneHarness, draw_inspector, drawings, stage_pane};
    use crate::ui::{Command, UiState};
    use crate::view::art::Art;
    use crate::view::pick::RoomObject;

    type Pane = fn(&mut Ui, &ViewerContext<'_>, &mut WindowParts) -> Vec<Command>;

    /// A pane with artwork and with both agents selected.
    fn pane(draw: Pane) -> Harness<'static, PaneHarness> {
        let mut window = stage_pane(UiState::default(), draw);
        let art = Art::load(&window.ctx, 1.0).0;
        window.state_mut().art = Some(art);
        let both = ["ada-1", "bram-1"].map(|id| RoomObject::Agent(id.into()));
        window.state_mut().state.selection.select(both);
        window.run_steps(4);
        window
    }

    #[test]
    fn every_listed_agent_has_a_portrait_beside_the_name() {
        let inspector: Pane = draw_inspector;
        let talks: Pane = |ui, cx, panes| conversations::sidebar_ui(ui, cx, panes.pane_mut::<ConversationsPane>());
        let shelf: Pane = |ui, cx, panes| shelf::shelf_ui(ui, cx, panes.pane_mut::<ShelfPane>());
        for (what, draw, rows) in [
            ("the inspector of several", inspector, ["Ada", "Bram"]),
            ("the shelf", shelf, ["Add Ada", "Add Bram"]),
            ("the conversations", talks, ["conversation-4", "conversation-3"]),
        ] {
            let window = pane(draw);
            let drawings = drawings(&window);
            for row in rows {
                let of_row = window.query_all_by_label_contains(row).next();
                let place = of_row.unwrap_or_else(|| panic!("{what} has no {row}")).rect();
                // The portrait is inside the row or to the left of the name.
                let near = place.expand2(vec2(40.0, 0.0));
                let has_face = drawings.iter().any(|drawing| near.contains(drawing.center()));
                assert!(has_face, "{what}: {row} at {place:?} among {drawings:?}");
            }
        }
    }

    #[test]
    fn an_agent_that_is_not_in_the_room_has_an_empty_portrait() {
        let mut window = stage_pane(UiState::default(), |ui, cx, _| {
            ui.horizontal(|ui| {
                face_ui(ui, cx, "nobody", 20.0);
                ui.label("Nobody");
            });
            ui.horizontal(|ui| {
                face_ui(ui, cx, "ada-1", 20.0);
                ui.label("Somebody");
            });
            Vec::new()
        });
        let art = Art::load(&window.ctx, 1.0).0;
        window.state_mut().art = Some(art);
        window.run_steps(2);
        assert_eq!(drawings(&window).len(), 1);
        let left = |label: &str| window.get_by_label(label).rect().left();
        assert_eq!(left("Nobody"), left("Somebody"));
    }
}
