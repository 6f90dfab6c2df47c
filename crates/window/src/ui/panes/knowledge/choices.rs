//! The fields by which memories are found and chosen.

use egui::Ui;

use super::KnowledgePane;
use super::search::Since;
use crate::base::Id;
use crate::base::text::truncate;
use crate::knowledge::{MemoryKind, Owner};
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::{menu, text_format};
use crate::view::theme::SPACE;

/// The width of the lists by which memories are chosen, in points.
const CHOICE_POINTS: f32 = 118.0;
/// So many tags can be chosen from; of more the first in the alphabet.
const TAGS_SHOWN: usize = 100;
/// Characters of a tag.
const TAG_CHARS: usize = 24;

impl KnowledgePane {
    /// Draws them.
    pub(super) fn choices(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        widgets::field(ui, &mut self.wanted.text, "Search memories", "Search by meaning and by word");
        ui.add_space(SPACE[0]);
        ui.horizontal_wrapped(|ui| {
            self.whose(ui, cx);
            self.kind(ui, cx);
            self.tag(ui, cx);
            menu::drop_down(ui, "Time range", self.wanted.since.words(), CHOICE_POINTS, cx.theme, |ui| {
                for since in Since::ALL {
                    ui.selectable_value(&mut self.wanted.since, since, since.words());
                }
            });
            let as_what = [("List", "Show memories as a list"), ("Graph", "Show memories with their relations")];
            let choices = as_what.map(|(word, says)| (word.to_owned(), says.to_owned()));
            if let Some(chosen) = widgets::segments(ui, &choices, Some(usize::from(self.is_graph)), cx.theme) {
                self.is_graph = chosen == 1;
            }
        });
        ui.add_space(SPACE[1]);
    }

    fn whose(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let whose = match (&self.wanted.viewer, self.wanted.is_shared) {
            (_, true) => "Shared".to_owned(),
            (Some(agent), _) => format!("As {} knows it", cx.room.called(agent)),
            (None, _) => "All memories".to_owned(),
        };
        menu::drop_down(ui, "Whose memories", whose, CHOICE_POINTS, cx.theme, |ui| {
            let mut choice = |ui: &mut Ui, label: &str, viewer: Option<Id>, is_shared: bool| {
                let chosen = self.wanted.viewer == viewer && self.wanted.is_shared == is_shared;
                if ui.selectable_label(chosen, label).clicked() {
                    (self.wanted.viewer, self.wanted.is_shared) = (viewer, is_shared);
                }
            };
            choice(ui, "All memories", None, false);
            choice(ui, "Shared", None, true);
            for owner in self.known.texts.keys() {
                let Owner::Agent(agent) = owner else { continue };
                choice(ui, &format!("As {} knows it", cx.room.called(agent)), Some(agent.clone()), false);
            }
        });
    }

    fn kind(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let kind =
            self.wanted.kind.map_or_else(|| "All kinds".to_owned(), |kind| text_format::capitalised(kind.word()));
        menu::drop_down(ui, "Kinds of memories", kind, CHOICE_POINTS, cx.theme, |ui| {
            ui.selectable_value(&mut self.wanted.kind, None, "All kinds");
            for kind in MemoryKind::ALL {
                ui.selectable_value(&mut self.wanted.kind, Some(kind), text_format::capitalised(kind.word()));
            }
        });
    }

    fn tag(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let known = self.known.clone();
        let chosen = self.wanted.tag.as_ref().map_or_else(|| "All tags".to_owned(), |tag| truncate(tag, TAG_CHARS));
        menu::drop_down(ui, "Tags of memories", chosen, CHOICE_POINTS, cx.theme, |ui| {
            ui.selectable_value(&mut self.wanted.tag, None, "All tags");
            for tag in known.tags().into_iter().take(TAGS_SHOWN) {
                ui.selectable_value(&mut self.wanted.tag, Some(tag.to_owned()), truncate(tag, TAG_CHARS));
            }
        });
    }
}
