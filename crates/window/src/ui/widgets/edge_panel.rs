//! A resizable panel at the edge of a pane, drawn after the content beside it: Tab visits widgets in the order in which
//! they are drawn, and so in reading order.

use std::ops::RangeInclusive;

use egui::containers::panel::PanelState;
use egui::{Frame, Id, Margin, Panel, Ui, UiBuilder};

use super::focus;
use crate::view::theme::SPACE;

/// The edge of a pane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    /// The right edge.
    Right,
    /// The bottom edge.
    Bottom,
}

/// A resizable panel. Sizes are in points.
#[derive(Clone, PartialEq, Debug)]
pub struct EdgePanel {
    /// The name, unique among all panels.
    pub name: &'static str,
    /// The edge of the pane.
    pub edge: Edge,
    /// The default size.
    pub points: f32,
    /// The range of sizes.
    pub range: RangeInclusive<f32>,
}

impl EdgePanel {
    /// Returns the `Ui` for the rest of the pane, to be drawn first. The size of the panel is that of the previous
    /// frame.
    pub fn remaining_ui(&self, ui: &mut Ui) -> Ui {
        let whole = ui.available_rect_before_wrap();
        let size = self.size(ui).clamp(0.0, self.along(whole.size()).max(0.0));
        let left = match self.edge {
            Edge::Right => whole.with_max_x(whole.right() - size),
            Edge::Bottom => whole.with_max_y(whole.bottom() - size),
        };
        ui.new_child(UiBuilder::new().id_salt(("beside", self.name)).max_rect(left))
    }

    /// Draws the panel; if its size has changed, the frame is laid out again.
    pub fn show<R>(&self, ui: &mut Ui, content: impl FnOnce(&mut Ui) -> R) -> R {
        let previous = self.size(ui);
        let panel = match self.edge {
            Edge::Right => Panel::right(self.name),
            Edge::Bottom => Panel::bottom(self.name),
        };
        let panel = panel.default_size(self.points).size_range(self.range.clone());
        let frame = Frame::NONE.inner_margin(Margin::same(SPACE[0] as i8));
        let shown = panel.resizable(!focus::is_moving(ui.ctx())).frame(frame).show(ui, content);
        let size = self.along(shown.response.rect.size());
        ui.data_mut(|data| data.insert_temp(self.id(), size));
        if (size - previous).abs() > 0.5 {
            ui.ctx().request_discard("a panel has another size");
        }
        shown.inner
    }

    fn id(&self) -> Id {
        Id::new(("size of the panel", self.name))
    }

    fn size(&self, ui: &Ui) -> f32 {
        let drawn = ui.data(|data| data.get_temp::<f32>(self.id()));
        let stored = || PanelState::load(ui.ctx(), Id::new(self.name)).map(|panel| self.along(panel.size()));
        let size = drawn.or_else(stored).unwrap_or(self.points);
        size.max(*self.range.start()).min(*self.range.end())
    }

    fn along(&self, size: egui::Vec2) -> f32 {
        match self.edge {
            Edge::Right => size.x,
            Edge::Bottom => size.y,
        }
    }
}

#[cfg(test)]
mod tests {
    use egui::{Rect, vec2};
    use egui_kittest::Harness;

    use super::*;

    /// The rectangles beside the panel and of its content in the last frame.
    type Parts = [Option<Rect>; 2];

    fn pane(edge: Edge) -> Harness<'static, Parts> {
        let app = move |ui: &mut Ui, parts: &mut Parts| {
            let panel = EdgePanel { name: "tested", edge, points: 120.0, range: 80.0..=200.0 };
            let beside = panel.remaining_ui(ui);
            parts[0] = Some(beside.max_rect());
            parts[1] = Some(panel.show(ui, |ui| {
                ui.take_available_space();
                ui.min_rect()
            }));
        };
        Harness::builder().with_size(vec2(500.0, 400.0)).build_ui_state(app, Parts::default())
    }

    #[test]
    fn the_rest_of_the_pane_ends_where_the_panel_begins() {
        for edge in [Edge::Right, Edge::Bottom] {
            let mut window = pane(edge);
            window.run_steps(3);
            let [Some(beside), Some(panel)] = *window.state() else { panic!("both were drawn") };
            let (end, begins) = match edge {
                Edge::Right => (beside.right(), panel.left()),
                Edge::Bottom => (beside.bottom(), panel.top()),
            };
            assert!(begins >= end && begins - end < 12.0, "{edge:?}: {beside:?}, {panel:?}");
        }
    }
}
