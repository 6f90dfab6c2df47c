//! Lists, adds and removes the relations of a memory. They are stored in the memory files, and each change can be
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

/// The maximum number of characters shown of a related memory.
const RELATED_CHARS: usize = 120;
/// The width of the drop-down list of relations, in points.
const CHOICE_POINTS: f32 = 118.0;

/// A relation that is being created.
#[derive(Clone, Debug)]
pub(super) struct Relating {
    from: Id,
    relation: Relation,
}

fn relation_words(relation: Relation) -> String {
    text_format::capitalised(&relation.as_str().replace('_', " "))
}

impl KnowledgePane {
    /// Lists the relations of a memory with buttons to remove them, and the memories that contradict it.
    pub(super) fn relations_ui(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        row: &MemoryRow,
        commands: &mut Vec<Command>,
    ) {
        let viewer = self.form.viewer();
        for edge in &row.memory.edges {
            let Some(other) = self.known.find(&edge.target).filter(|other| viewer.may_see(&other.owner)) else {
                continue;
            };
            let text_of_other = truncate(&one_line(&other.memory.content), RELATED_CHARS);
            let text = RichText::new(texts::related(&relation_words(edge.relation), &text_of_other));
            let text = if edge.relation == Relation::Contradicts { text.color(cx.theme.warn) } else { text.small() };
            let (_, remove) = widgets::beside_button(ui, text, |ui| {
                let button = ui.small_button(texts::REMOVE);
                let (from, relation) = (one_line(&row.memory.content), edge.relation.as_str().replace('_', " "));
                widgets::name(
                    &button,
                    texts::remove_relation(&truncate(&from, RELATED_CHARS), &relation, &text_of_other),
                );
                button
            });
            if remove.clicked() {
                let left = row.memory.edges.iter().filter(|one| *one != edge).cloned().collect();
                let changed = Memory { edges: left, ..row.memory.clone() };
                commands.extend(edits::replace(&self.known, row, &changed, cx));
            }
        }
        let is_own = |other: &MemoryRow| row.memory.edges.iter().any(|edge| edge.target == other.memory.id);
        let against =
            self.known.contradictions(&row.memory).filter(|other| viewer.may_see(&other.owner) && !is_own(other));
        for other in against {
            let text_of_other = truncate(&one_line(&other.memory.content), RELATED_CHARS);
            ui.label(RichText::new(texts::contradicts(&text_of_other)).color(cx.theme.warn));
        }
    }

    /// Draws the button that starts a relation from this memory, or completes it with this one.
    pub(super) fn relate_button(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (row, called): (&MemoryRow, &str),
        commands: &mut Vec<Command>,
    ) {
        let Some(Relating { from, relation }) = self.relating.clone() else {
            let button = ui.button(texts::RELATE);
            widgets::name(&button, texts::relate_memory(called));
            if button.clicked() {
                self.relating = Some(Relating { from: row.memory.id.clone(), relation: Relation::RelatesTo });
            }
            return;
        };
        let Some(source) = self.known.find(&from).filter(|source| source.memory.id != row.memory.id).cloned() else {
            return;
        };
        // A shared file must not refer to private memories.
        if source.owner == Owner::Shared && row.owner != Owner::Shared {
            return;
        }
        let button = widgets::primary(ui, true, texts::TO_THIS_ONE, cx.theme);
        widgets::name(&button, texts::relate_to_this(&relation_words(relation), called));
        if button.clicked() {
            let edge = Edge { relation, target: row.memory.id.clone(), weight: 1.0 };
            let mut edges: Vec<Edge> =
                source.memory.edges.iter().filter(|one| one.target != edge.target).cloned().collect();
            edges.push(edge);
            edges.sort_by(|one, other| one.target.cmp(&other.target));
            let changed = Memory { edges, ..source.memory.clone() };
            commands.extend(edits::replace(&self.known, &source, &changed, cx));
            self.relating = None;
        }
    }

    /// Draws the relation that is being created.
    pub(super) fn relating_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let source = self.relating.as_ref().and_then(|relating| self.known.find(&relating.from)).cloned();
        let (Some(source), Some(relating)) = (source, &mut self.relating) else {
            self.relating = None;
            return;
        };
        let mut is_cancelled = false;
        widgets::in_card(ui, cx.theme, |ui| {
            ui.label(truncate(&one_line(&source.memory.content), RELATED_CHARS));
            ui.horizontal_wrapped(|ui| {
                menu::drop_down(
                    ui,
                    texts::RELATION,
                    relation_words(relating.relation),
                    CHOICE_POINTS,
                    cx.theme,
                    |ui| {
                        for relation in Relation::ALL {
                            ui.selectable_value(&mut relating.relation, relation, relation_words(relation));
                        }
                    },
                );
                ui.label(widgets::small(texts::CHOOSE_THE_OTHER, cx.theme));
                is_cancelled = ui.button(texts::CANCEL).clicked();
            });
        });
        ui.add_space(SPACE[1]);
        if is_cancelled {
            self.relating = None;
        }
    }
}
