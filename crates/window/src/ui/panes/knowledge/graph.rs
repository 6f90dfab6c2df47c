//! The graph of related memories, laid out in the background.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use egui::{
    Align2, Color32, CornerRadius, FontId, Frame, Panel, Pos2, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui,
    UiBuilder, Vec2, WidgetInfo, WidgetType, vec2,
};

use super::search::{SearchForm, SearchHit};
use super::{KnowledgePane, WORD, texts};
use crate::base::Id;
use crate::base::text::{one_line, truncate};
use crate::knowledge::{Owner, Relation};
use crate::simulation::State;
use crate::ui::Command;
use crate::ui::context::ViewerContext;
use crate::ui::panes::graph::arrow::arrow;
use crate::ui::panes::graph::layout::LayoutRequest;
use crate::ui::panes::graph::layout_jobs::LayoutJobs;
use crate::ui::panes::graph::view::View;
use crate::ui::state::memories::MemoryRow;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::text_format;
use crate::view::theme::{LINE, RADIUS, SPACE, TYPE, Theme, state_colour};

/// The size of a card.
const CARD: Vec2 = vec2(206.0, 62.0);
/// The maximum number of characters per line and lines of text on a card.
const LINE_CHARS: usize = 31;
const TEXT_LINES: usize = 2;
/// The maximum number of memories in the graph; the newest are shown.
const MAX_MEMORIES: usize = 400;
/// The minimum zoom for text on cards and on arrows.
const WORDS_ZOOM: f32 = 0.45;
const ARROW_WORDS_ZOOM: f32 = 0.6;
/// The maximum height of the card of the selected memory, in points.
const SELECTED_POINTS: f32 = 190.0;

/// The memories of the graph and their relations.
#[derive(Clone, PartialEq, Debug, Default)]
struct GraphContent {
    ids: Vec<Id>,
    links: Vec<(usize, usize, Relation)>,
    /// The number of memories without a relation.
    left_out: usize,
}

/// The current content and its layout request. `of` is the input that they were computed from: the version of the
/// memories, the form and the search results.
#[derive(Clone, Debug)]
struct CurrentGraph {
    content: Arc<GraphContent>,
    request: Arc<LayoutRequest>,
    of: (u64, SearchForm, Vec<SearchHit>),
}

/// The state of the graph.
#[derive(Clone, Debug)]
pub(super) struct MemoryGraph {
    current: Option<CurrentGraph>,
    layouts: LayoutJobs,
    /// The content that was laid out last, with the upper left corner of each card.
    displayed: Option<(Arc<GraphContent>, Arc<Vec<Pos2>>)>,
    view: View,
    selected: Option<Id>,
}

impl Default for MemoryGraph {
    fn default() -> Self {
        Self { current: None, layouts: LayoutJobs::of(WORD), displayed: None, view: View::default(), selected: None }
    }
}

impl GraphContent {
    fn request(&self) -> LayoutRequest {
        LayoutRequest {
            beginning: 0,
            agents: (0..self.ids.len()).collect(),
            sizes: vec![CARD; self.ids.len()],
            links: self.links.iter().map(|(from, to, _)| (*from, *to)).collect(),
        }
    }
}

/// Returns the memories that are related to others among `rows`, with their relations.
fn related_memories<'a>(rows: impl Iterator<Item = &'a MemoryRow>) -> GraphContent {
    let rows: Vec<&MemoryRow> = rows.collect();
    let by_id: BTreeMap<&str, &MemoryRow> = rows.iter().map(|row| (&*row.memory.id, *row)).collect();
    let links = |row: &'a MemoryRow| {
        let edges = row.memory.edges.iter().filter(|edge| by_id.contains_key(&*edge.target));
        edges.map(|edge| (&row.memory.id, &edge.target, edge.relation)).collect::<Vec<_>>()
    };
    let all: Vec<(&Id, &Id, Relation)> = rows.iter().flat_map(|row| links(row)).collect();
    let related: BTreeSet<&Id> = all.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
    let is_related = |row: &&&MemoryRow| related.contains(&row.memory.id);
    let ids: Vec<Id> = rows.iter().filter(is_related).take(MAX_MEMORIES).map(|row| row.memory.id.clone()).collect();
    let place: BTreeMap<&Id, usize> = ids.iter().enumerate().map(|(place, id)| (id, place)).collect();
    let links = all.iter().filter_map(|(from, to, how)| Some((*place.get(from)?, *place.get(to)?, *how))).collect();
    GraphContent { left_out: rows.len() - ids.len(), links, ids }
}

impl KnowledgePane {
    /// Draws the graph, and below it the selected memory.
    pub(super) fn graph_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        let content = self.graph_content(cx);
        if content.ids.is_empty() {
            widgets::empty(ui, Icon::Graph, texts::NO_RELATIONS, texts::HOW_RELATIONS_COME, cx.theme);
            return;
        }
        if content.left_out > 0 {
            ui.label(widgets::small(texts::without_relation(content.left_out), cx.theme));
        }
        self.update_layout(commands);
        self.selected_ui(ui, cx, commands);
        self.draw_graph(ui, cx);
    }

    /// Returns the content of the graph, recomputed if the memories, the form or the search results changed.
    fn graph_content(&mut self, cx: &ViewerContext<'_>) -> Arc<GraphContent> {
        let found = if self.searched.is_some() { self.hits.as_slice() } else { &[] };
        let is_same = |(version, form, of): &(u64, SearchForm, Vec<SearchHit>)| {
            *version == self.known.version && *form == self.form && of.as_slice() == found
        };
        if let Some(current) = self.graph.current.as_ref().filter(|current| is_same(&current.of)) {
            return current.content.clone();
        }
        let is_found = |row: &MemoryRow| found.iter().any(|found| found.0.id == row.memory.id);
        let shown = self.known.memories.iter().filter(|row| match self.searched.is_some() {
            true => is_found(row),
            false => self.passes_filters(row, cx),
        });
        let content = Arc::new(related_memories(shown));
        let request = Arc::new(content.request());
        let of = (self.known.version, self.form.clone(), found.to_vec());
        self.graph.current = Some(CurrentGraph { content: content.clone(), request, of });
        content
    }

    /// Requests the layout of the current content and shows it once it is ready; the last one is shown until then.
    fn update_layout(&mut self, commands: &mut Vec<Command>) {
        let graph = &mut self.graph;
        let Some(current) = &graph.current else { return };
        if let Some(laid_out) = graph.layouts.newest().filter(|laid_out| *laid_out.request == *current.request) {
            graph.displayed = Some((current.content.clone(), laid_out.corners));
            return;
        }
        graph.layouts.forget_cancelled();
        commands.extend(graph.layouts.ask(&current.request).map(Command::Run));
    }

    /// Draws the selected memory with its commands.
    fn selected_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        let chosen = self.graph.selected.as_ref().and_then(|id| self.known.find(id)).cloned();
        let Some(row) = chosen else { return };
        Panel::bottom("the selected memory").frame(Frame::NONE).resizable(false).show_separator_line(false).show(
            ui,
            |ui| {
                widgets::apply_style(ui.style_mut(), cx.theme);
                ui.add_space(SPACE[1]);
                ScrollArea::vertical().max_height(SELECTED_POINTS).show(ui, |ui| {
                    widgets::in_card(ui, cx.theme, |ui| self.row_ui(ui, cx, &row, None, commands));
                });
            },
        );
    }

    fn draw_graph(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let Some((content, corners)) = self.graph.displayed.clone() else {
            ui.label(widgets::small(texts::LAYING_OUT, cx.theme));
            return;
        };
        let theme = cx.theme;
        let rect = ui.available_rect_before_wrap();
        let background = ui.allocate_rect(rect, Sense::click_and_drag());
        background.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, texts::MEMORIES_AND_RELATIONS));
        let view = &mut self.graph.view;
        view.rect = rect;
        view.pan_and_zoom(ui, &background);
        if !view.is_free {
            let card = |corner: &Pos2| Rect::from_min_size(*corner, CARD);
            view.fit(corners.iter().map(card).fold(Rect::NOTHING, Rect::union), 0.0);
        }
        let view = *view;
        let cards: Vec<Rect> =
            corners.iter().map(|corner| view.rect_to_screen(Rect::from_min_size(*corner, CARD))).collect();
        let mut inner = ui.new_child(UiBuilder::new().max_rect(rect));
        inner.set_clip_rect(rect.intersect(ui.clip_rect()));
        for (from, to, relation) in &content.links {
            relation_ui(&inner, (cards[*from], cards[*to]), *relation, view.zoom, theme);
        }
        let seen = inner.clip_rect();
        for (id, rect) in content.ids.iter().zip(&cards).filter(|(_, rect)| rect.intersects(seen)) {
            if let Some(row) = self.known.find(id).cloned() {
                self.card_ui(&mut inner, cx, (&row, *rect), view.zoom);
            }
        }
        if background.clicked() {
            self.graph.selected = None;
        }
    }

    fn card_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, (row, rect): (&MemoryRow, Rect), zoom: f32) {
        let theme = cx.theme;
        let (memory, is_selected) = (&row.memory, self.graph.selected.as_ref() == Some(&row.memory.id));
        let response = ui.interact(rect, ui.id().with(("memory", &memory.id)), Sense::click());
        let content = one_line(&memory.content);
        let says = texts::memory(&truncate(&content, 80));
        response.widget_info(|| WidgetInfo::selected(WidgetType::Button, true, is_selected, &says));
        let colour = if row.owner == Owner::Shared { theme.accent } else { state_colour(State::Working) };
        let painter = ui.painter();
        let corners = CornerRadius::same(RADIUS[1]);
        painter.rect_filled(rect, corners, theme.card);
        let strip = Rect::from_min_size(rect.min, vec2(4.0 * zoom, rect.height()));
        painter.rect_filled(strip, CornerRadius { nw: RADIUS[1], sw: RADIUS[1], ne: 0, se: 0 }, colour);
        let is_lit = is_selected || response.hovered() || response.has_focus();
        let stroke = Stroke::new(LINE[1], if is_lit { theme.accent } else { theme.line });
        painter.rect_stroke(rect, corners, stroke, StrokeKind::Inside);
        if zoom >= WORDS_ZOOM {
            let font = |size: f32| FontId::proportional((size * zoom * 2.0).round() / 2.0);
            let line = |row: f32, words: &str, size: f32, ink: Color32| {
                let place = rect.min + vec2(SPACE[1] + 4.0, SPACE[0] + row) * zoom;
                painter.text(place, Align2::LEFT_TOP, words, font(size), ink);
            };
            for (number, words) in wrap_for_card(&content).iter().enumerate() {
                line(number as f32 * (TYPE[0] + 4.0), words, TYPE[0], theme.text);
            }
            let whose = match &row.owner {
                Owner::Agent(agent) => cx.room.called(agent).to_owned(),
                Owner::Shared => texts::EVERYONE.to_owned(),
            };
            let about = format!("{} · {whose}", text_format::capitalised(memory.kind.as_str()));
            line(TEXT_LINES as f32 * (TYPE[0] + 4.0) + 2.0, &truncate(&about, LINE_CHARS), TYPE[0], theme.text_soft);
        }
        if response.clicked() {
            self.graph.selected = (!is_selected).then(|| memory.id.clone());
        }
        response.on_hover_text(content);
    }
}

/// Draws a relation as a labelled arrow; contradictions are highlighted.
fn relation_ui(ui: &Ui, (from, to): (Rect, Rect), relation: Relation, zoom: f32, theme: &Theme) {
    let is_contradiction = relation == Relation::Contradicts;
    let colour = if is_contradiction { theme.bad } else { theme.text_soft };
    let ends = if from.left() <= to.left() {
        (from.right_center(), to.left_center())
    } else {
        (from.left_center(), to.right_center())
    };
    let width = if is_contradiction { LINE[2] } else { LINE[1] };
    arrow(ui, ends, (CARD.x, zoom), Stroke::new(width, colour));
    if zoom >= ARROW_WORDS_ZOOM || is_contradiction {
        let font = FontId::proportional((TYPE[0] * zoom.max(0.8) * 2.0).round() / 2.0);
        let galley = ui.painter().layout_no_wrap(relation.as_str().replace('_', " "), font, colour);
        let place = Rect::from_center_size(ends.0.lerp(ends.1, 0.5), galley.size());
        ui.painter().rect_filled(place.expand(2.0), CornerRadius::same(RADIUS[0]), theme.panel);
        ui.painter().galley(place.min, galley, colour);
    }
}

/// Wraps the text of a memory into the lines of a card.
fn wrap_for_card(content: &str) -> Vec<String> {
    let mut lines: Vec<String> = vec![String::new()];
    for word in content.split(' ') {
        let is_last = lines.len() >= TEXT_LINES;
        let line = lines.last_mut().expect("there is always one");
        let length = line.chars().count() + usize::from(!line.is_empty()) + word.chars().count();
        if length <= LINE_CHARS || line.is_empty() {
            let gap = if line.is_empty() { "" } else { " " };
            *line = truncate(&format!("{line}{gap}{word}"), LINE_CHARS);
        } else if is_last {
            *line = truncate(&format!("{line} {word}"), LINE_CHARS);
            break;
        } else {
            lines.push(truncate(word, LINE_CHARS));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::state::memories::KnownMemories;

    #[test]
    fn only_related_memories_are_drawn() {
        let ada = "- One. <!-- k-1 supports=k-2:0.7 -->\n- Two. <!-- k-2 -->\n- Alone. <!-- k-3 contradicts=k-9 -->\n";
        let known = KnownMemories::of([(Owner::Agent("ada".into()), Arc::from(ada))]);
        let content = related_memories(known.memories.iter());
        assert_eq!(content.ids.iter().map(|id| &**id).collect::<Vec<_>>(), ["k-1", "k-2"]);
        assert_eq!(content.links, [(0, 1, Relation::Supports)]);
        assert_eq!(content.left_out, 1);
    }

    #[test]
    fn a_long_memory_fits_on_its_card() {
        for text in
            ["short", "a text of quite a few words that goes on and on until nobody reads it any more", &"x".repeat(99)]
        {
            let lines = wrap_for_card(text);
            assert!(
                lines.len() <= TEXT_LINES && lines.iter().all(|line| line.chars().count() <= LINE_CHARS),
                "{lines:?}"
            );
        }
    }
}
