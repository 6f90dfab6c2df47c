//! The fields by which memories are searched and filtered.

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

/// The width of the lists by which memories are chosen, in points.
const CHOICE_POINTS: f32 = 118.0;
/// The width of the choice between list and graph, in points, with some to spare.
const AS_WHAT_POINTS: f32 = 130.0;
/// How many tags can be chosen from, in alphabetical order.
const TAGS_SHOWN: usize = 100;
/// Characters of a tag.
const TAG_CHARS: usize = 24;

impl KnowledgePane {
    /// Draws them.
    pub(super) fn choices(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        widgets::field(ui, &mut self.wanted.text, texts::SEARCH_MEMORIES, texts::HOW_SEARCH_WORKS);
        ui.add_space(SPACE[0]);
        ui.horizontal_wrapped(|ui| {
            self.whose(ui, cx);
            self.kind(ui, cx);
            self.tag(ui, cx);
            menu::drop_down(ui, texts::TIME_RANGE, self.wanted.since.label(), CHOICE_POINTS, cx.theme, |ui| {
                for since in Since::ALL {
                    ui.selectable_value(&mut self.wanted.since, since, since.label());
                }
            });
            let as_what = [(texts::LIST, texts::SHOW_AS_LIST), (texts::GRAPH, texts::SHOW_AS_GRAPH)];
            let choices = as_what.map(|(word, says)| (word.to_owned(), says.to_owned()));
            // A frame does not wrap by itself.
            if ui.available_size_before_wrap().x < AS_WHAT_POINTS {
                ui.end_row();
            }
            if let Some(chosen) = widgets::segments(ui, &choices, Some(usize::from(self.is_graph)), cx.theme) {
                self.is_graph = chosen == 1;
            }
        });
        ui.add_space(SPACE[1]);
    }

    fn whose(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let whose = match (&self.wanted.viewer, self.wanted.is_shared) {
            (_, true) => texts::SHARED.to_owned(),
            (Some(agent), _) => texts::as_known_by(cx.room.called(agent)),
            (None, _) => texts::ALL_MEMORIES.to_owned(),
        };
        menu::drop_down(ui, texts::WHOSE_MEMORIES, whose, CHOICE_POINTS, cx.theme, |ui| {
            let mut choice = |ui: &mut Ui, label: &str, viewer: Option<Id>, is_shared: bool| {
                let chosen = self.wanted.viewer == viewer && self.wanted.is_shared == is_shared;
                if ui.selectable_label(chosen, label).clicked() {
                    (self.wanted.viewer, self.wanted.is_shared) = (viewer, is_shared);
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

    fn kind(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let kind =
            self.wanted.kind.map_or_else(|| texts::ALL_KINDS.to_owned(), |kind| text_format::capitalised(kind.word()));
        menu::drop_down(ui, texts::KINDS_OF_MEMORIES, kind, CHOICE_POINTS, cx.theme, |ui| {
            ui.selectable_value(&mut self.wanted.kind, None, texts::ALL_KINDS);
            for kind in MemoryKind::ALL {
                ui.selectable_value(&mut self.wanted.kind, Some(kind), text_format::capitalised(kind.word()));
            }
        });
    }

    fn tag(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let known = self.known.clone();
        let chosen =
            self.wanted.tag.as_ref().map_or_else(|| texts::ALL_TAGS.to_owned(), |tag| truncate(tag, TAG_CHARS));
        menu::drop_down(ui, texts::TAGS_OF_MEMORIES, chosen, CHOICE_POINTS, cx.theme, |ui| {
            ui.selectable_value(&mut self.wanted.tag, None, texts::ALL_TAGS);
            for tag in known.tags().into_iter().take(TAGS_SHOWN) {
                ui.selectable_value(&mut self.wanted.tag, Some(tag.to_owned()), truncate(tag, TAG_CHARS));
            }
        });
    }
}
