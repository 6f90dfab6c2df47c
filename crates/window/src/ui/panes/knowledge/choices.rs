//! The search field and filters.

use egui::Ui;

use super::search::Since;
use super::{KnowledgePane, texts};
use crate::base::Id;
use crate::base::text::truncate;
use crate::knowledge::{MemoryKind, Owner};
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::{menu, text_format};
use crate::view::theme::SPACE;

/// The width of a filter's drop-down list, in points.
const CHOICE_POINTS: f32 = 118.0;
/// The width of the switch between list and graph, in points, with some margin.
const VIEW_SWITCH_POINTS: f32 = 130.0;
/// The maximum number of tags in the menu, in alphabetical order.
const MAX_TAGS: usize = 100;
/// The maximum number of characters shown of a tag.
const TAG_CHARS: usize = 24;

impl KnowledgePane {
    /// Draws the search field, the filters and the view switch.
    pub(super) fn filters_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        widgets::field(ui, &mut self.form.text, texts::SEARCH_MEMORIES, texts::HOW_SEARCH_WORKS);
        ui.add_space(SPACE[0]);
        ui.horizontal_wrapped(|ui| {
            self.owner_filter(ui, cx);
            self.kind_filter(ui, cx);
            self.tag_filter(ui, cx);
            menu::drop_down(ui, texts::TIME_RANGE, self.form.since.label(), CHOICE_POINTS, cx.theme, |ui| {
                for since in Since::ALL {
                    ui.selectable_value(&mut self.form.since, since, since.label());
                }
            });
            let as_what = [(texts::LIST, texts::SHOW_AS_LIST), (texts::GRAPH, texts::SHOW_AS_GRAPH)];
            let choices = as_what.map(|(word, says)| (word.to_owned(), says.to_owned()));
            // The segmented control does not wrap by itself.
            if ui.available_size_before_wrap().x < VIEW_SWITCH_POINTS {
                ui.end_row();
            }
            if let Some(chosen) = widgets::segments(ui, &choices, Some(usize::from(self.is_graph)), cx.theme) {
                self.is_graph = chosen == 1;
            }
        });
        ui.add_space(SPACE[1]);
    }

    fn owner_filter(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let whose = match (&self.form.viewer, self.form.is_shared) {
            (_, true) => texts::SHARED.to_owned(),
            (Some(agent), _) => texts::as_known_by(cx.room.called(agent)),
            (None, _) => texts::ALL_MEMORIES.to_owned(),
        };
        menu::drop_down(ui, texts::WHOSE_MEMORIES, whose, CHOICE_POINTS, cx.theme, |ui| {
            let mut choice = |ui: &mut Ui, label: &str, viewer: Option<Id>, is_shared: bool| {
                let chosen = self.form.viewer == viewer && self.form.is_shared == is_shared;
                if ui.selectable_label(chosen, label).clicked() {
                    (self.form.viewer, self.form.is_shared) = (viewer, is_shared);
                }
            };
            choice(ui, texts::ALL_MEMORIES, None, false);
            choice(ui, texts::SHARED, None, true);
            for owner in self.known.texts.keys() {
                let Owner::Agent(agent) = owner else { continue };
                choice(ui, &texts::as_known_by(cx.room.called(agent)), Some(agent.clone()), false);
            }
        });
    }

    fn kind_filter(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let kind =
            self.form.kind.map_or_else(|| texts::ALL_KINDS.to_owned(), |kind| text_format::capitalised(kind.as_str()));
        menu::drop_down(ui, texts::KINDS_OF_MEMORIES, kind, CHOICE_POINTS, cx.theme, |ui| {
            ui.selectable_value(&mut self.form.kind, None, texts::ALL_KINDS);
            for kind in MemoryKind::ALL {
                ui.selectable_value(&mut self.form.kind, Some(kind), text_format::capitalised(kind.as_str()));
            }
        });
    }

    fn tag_filter(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let known = self.known.clone();
        let chosen = self.form.tag.as_ref().map_or_else(|| texts::ALL_TAGS.to_owned(), |tag| truncate(tag, TAG_CHARS));
        menu::drop_down(ui, texts::TAGS_OF_MEMORIES, chosen, CHOICE_POINTS, cx.theme, |ui| {
            ui.selectable_value(&mut self.form.tag, None, texts::ALL_TAGS);
            for tag in known.tags().into_iter().take(MAX_TAGS) {
                ui.selectable_value(&mut self.form.tag, Some(tag.to_owned()), truncate(tag, TAG_CHARS));
            }
        });
    }
}
