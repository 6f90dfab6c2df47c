//! Edits the relations of a memory: lists, adds and removes them. They are stored in the files, and each change can be
//! undone.

use egui::{RichText, Ui};

use super::{KnowledgePane, edits, texts};
use crate::base::Id;
use crate::base::text::{one_line, truncate};
use crate::knowledge::{Edge, Memory, Owner, Relation};
use crate::ui::Command;
use crate::ui::context::ViewerContext;
use crate::ui::state::memories::MemoryRow;
use crate::ui::widgets;
use crate::ui::widgets::{menu, text_format};
use crate::view::theme::SPACE;

/// Characters of a memory that another one is related to.
const RELATED_CHARS: usize = 120;
/// The width of the list of relations, in points.
const CHOICE_POINTS: f32 = 118.0;

/// A memory on its way to be related to another.
#[derive(Clone, Debug)]
pub(super) struct Relating {
    from: Id,
    how: Relation,
}

fn relation_words(relation: Relation) -> String {
    text_format::capitalised(&relation.word().replace('_', " "))
}

impl KnowledgePane {
    /// The relations of a memory: its own, which can be taken away, and that others contradict it.
    pub(super) fn relations_ui(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        row: &MemoryRow,
        commands: &mut Vec<Command>,
    ) {
        let viewer = self.wanted.viewer();
        for edge in &row.memory.edges {
            let Some(other) = self.known.find(&edge.target).filter(|other| viewer.may_see(&other.owner)) else {
                continue;
            };
            let said = truncate(&one_line(&other.memory.content), RELATED_CHARS);
            let text = RichText::new(texts::related(&relation_words(edge.relation), &said));
            let text = if edge.relation == Relation::Contradicts { text.color(cx.theme.warn) } else { text.small() };
            let (_, remove) = widgets::beside_button(ui, text, |ui| {
                let button = ui.small_button(texts::REMOVE);
                let (from, how) = (one_line(&row.memory.content), edge.relation.word().replace('_', " "));
                widgets::name(&button, texts::remove_relation(&truncate(&from, RELATED_CHARS), &how, &said));
                button
            });
            if remove.clicked() {
                let left = row.memory.edges.iter().filter(|one| *one != edge).cloned().collect();
                let changed = Memory { edges: left, ..row.memory.clone() };
                commands.extend(edits::change(&self.known, row, &changed, cx));
            }
        }
        let is_own = |other: &MemoryRow| row.memory.edges.iter().any(|edge| edge.target == other.memory.id);
        let against = self.known.against(&row.memory).filter(|other| viewer.may_see(&other.owner) && !is_own(other));
        for other in against {
            let said = truncate(&one_line(&other.memory.content), RELATED_CHARS);
            ui.label(RichText::new(texts::contradicts(&said)).color(cx.theme.warn));
        }
    }

    /// Begins to relate a memory, or ends it at this one.
    pub(super) fn relate_button(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (row, called): (&MemoryRow, &str),
        commands: &mut Vec<Command>,
    ) {
        let Some(Relating { from, how }) = self.relating.clone() else {
            let button = ui.button(texts::RELATE);
            widgets::name(&button, texts::relate_memory(called));
            if button.clicked() {
                self.relating = Some(Relating { from: row.memory.id.clone(), how: Relation::RelatesTo });
            }
            return;
        };
        let Some(source) = self.known.find(&from).filter(|source| source.memory.id != row.memory.id).cloned() else {
            return;
        };
        // A shared text must not name private memories.
        if source.owner == Owner::Shared && row.owner != Owner::Shared {
            return;
        }
        let button = widgets::primary(ui, true, texts::TO_THIS_ONE, cx.theme);
        widgets::name(&button, texts::relate_to_this(&relation_words(how), called));
        if button.clicked() {
            let edge = Edge { relation: how, target: row.memory.id.clone(), weight: 1.0 };
            let mut edges: Vec<Edge> =
                source.memory.edges.iter().filter(|one| one.target != edge.target).cloned().collect();
            edges.push(edge);
            edges.sort_by(|one, other| one.target.cmp(&other.target));
            let changed = Memory { edges, ..source.memory.clone() };
            commands.extend(edits::change(&self.known, &source, &changed, cx));
            self.relating = None;
        }
    }

    /// What is being related, and how.
    pub(super) fn relating_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let source = self.relating.as_ref().and_then(|relating| self.known.find(&relating.from)).cloned();
        let (Some(source), Some(relating)) = (source, &mut self.relating) else {
            self.relating = None;
            return;
        };
        let mut is_over = false;
        widgets::in_card(ui, cx.theme, |ui| {
            ui.label(truncate(&one_line(&source.memory.content), RELATED_CHARS));
            ui.horizontal_wrapped(|ui| {
                menu::drop_down(ui, texts::RELATION, relation_words(relating.how), CHOICE_POINTS, cx.theme, |ui| {
                    for relation in Relation::ALL {
                        ui.selectable_value(&mut relating.how, relation, relation_words(relation));
                    }
                });
                ui.label(widgets::small(texts::CHOOSE_THE_OTHER, cx.theme));
                is_over = ui.button(texts::CANCEL).clicked();
            });
        });
        ui.add_space(SPACE[1]);
        if is_over {
            self.relating = None;
        }
    }
}
