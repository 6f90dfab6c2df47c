//! The graph of memories and their relations, laid out in the background: whose each is, what supports it, and what
//! contradicts it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use egui::{
    Align2, Color32, CornerRadius, FontId, Frame, Panel, Pos2, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui,
    UiBuilder, Vec2, WidgetInfo, WidgetType, vec2,
};

use super::search::{Found, Wanted};
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
/// Characters of a line on a card, and lines of a memory.
const LINE_CHARS: usize = 31;
const TEXT_LINES: usize = 2;
/// How many memories are drawn, newest first.
const DRAWN_AT_MOST: usize = 400;
/// From this zoom on cards have words, and from this one arrows have.
const WORDS_ZOOM: f32 = 0.45;
const ARROW_WORDS_ZOOM: f32 = 0.6;
/// The maximum height of the card of a chosen memory, in points.
const CHOSEN_POINTS: f32 = 190.0;

/// What is drawn: which memories, and how they are related.
#[derive(Clone, PartialEq, Debug, Default)]
struct Drawn {
    ids: Vec<Id>,
    links: Vec<(usize, usize, Relation)>,
    /// Memories that are related to none of the others.
    left_out: usize,
}

/// What is to be drawn, the layout for it, and what it was made from: the files, the filter, and the search results.
#[derive(Clone, Debug)]
struct Due {
    drawn: Arc<Drawn>,
    request: Arc<LayoutRequest>,
    of: (u64, Wanted, Vec<Found>),
}

/// What the graph keeps between frames.
#[derive(Clone, Debug)]
pub(super) struct MemoryGraph {
    due: Option<Due>,
    layouts: LayoutJobs,
    /// What is seen: the last that was laid out, with the upper left corner of each.
    seen: Option<(Arc<Drawn>, Arc<Vec<Pos2>>)>,
    view: View,
    chosen: Option<Id>,
}

impl Default for MemoryGraph {
    fn default() -> Self {
        Self { due: None, layouts: LayoutJobs::of(WORD), seen: None, view: View::default(), chosen: None }
    }
}

impl Drawn {
    fn request(&self) -> LayoutRequest {
        LayoutRequest {
            beginning: 0,
            agents: (0..self.ids.len()).collect(),
            sizes: vec![CARD; self.ids.len()],
            links: self.links.iter().map(|(from, to, _)| (*from, *to)).collect(),
        }
    }
}

/// The memories among these that are related to one another.
fn drawn<'a>(rows: impl Iterator<Item = &'a MemoryRow>) -> Drawn {
    let rows: Vec<&MemoryRow> = rows.collect();
    let by_id: BTreeMap<&str, &MemoryRow> = rows.iter().map(|row| (&*row.memory.id, *row)).collect();
    let links = |row: &'a MemoryRow| {
        let edges = row.memory.edges.iter().filter(|edge| by_id.contains_key(&*edge.target));
        edges.map(|edge| (&row.memory.id, &edge.target, edge.relation)).collect::<Vec<_>>()
    };
    let all: Vec<(&Id, &Id, Relation)> = rows.iter().flat_map(|row| links(row)).collect();
    let related: BTreeSet<&Id> = all.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
    let is_related = |row: &&&MemoryRow| related.contains(&row.memory.id);
    let ids: Vec<Id> = rows.iter().filter(is_related).take(DRAWN_AT_MOST).map(|row| row.memory.id.clone()).collect();
    let place: BTreeMap<&Id, usize> = ids.iter().enumerate().map(|(place, id)| (id, place)).collect();
    let links = all.iter().filter_map(|(from, to, how)| Some((*place.get(from)?, *place.get(to)?, *how))).collect();
    Drawn { left_out: rows.len() - ids.len(), links, ids }
}

impl KnowledgePane {
    /// Draws the graph, and below it the memory that was chosen.
    pub(super) fn graph_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        let drawn = self.drawn(cx);
        if drawn.ids.is_empty() {
            widgets::empty(ui, Icon::Graph, texts::NO_RELATIONS, texts::HOW_RELATIONS_COME, cx.theme);
            return;
        }
        if drawn.left_out > 0 {
            ui.label(widgets::small(texts::without_relation(drawn.left_out), cx.theme));
        }
        self.lay_out(commands);
        self.chosen_ui(ui, cx, commands);
        self.draw(ui, cx);
    }

    /// What is to be drawn; made again if the files, the filter or the search results change.
    fn drawn(&mut self, cx: &ViewerContext<'_>) -> Arc<Drawn> {
        let found = if self.searched.is_some() { self.found.as_slice() } else { &[] };
        let is_same = |(version, wanted, of): &(u64, Wanted, Vec<Found>)| {
            *version == self.known.version && *wanted == self.wanted && of.as_slice() == found
        };
        if let Some(due) = self.graph.due.as_ref().filter(|due| is_same(&due.of)) {
            return due.drawn.clone();
        }
        let is_found = |row: &MemoryRow| found.iter().any(|found| found.0.id == row.memory.id);
        let shown = self.known.memories.iter().filter(|row| match self.searched.is_some() {
            true => is_found(row),
            false => self.is_chosen(row, cx),
        });
        let drawn = Arc::new(drawn(shown));
        let request = Arc::new(drawn.request());
        let of = (self.known.version, self.wanted.clone(), found.to_vec());
        self.graph.due = Some(Due { drawn: drawn.clone(), request, of });
        drawn
    }

    /// Asks for the layout that is due, and takes it once it is there; until then the last one is seen.
    fn lay_out(&mut self, commands: &mut Vec<Command>) {
        let graph = &mut self.graph;
        let Some(due) = &graph.due else { return };
        if let Some(laid_out) = graph.layouts.newest().filter(|laid_out| *laid_out.request == *due.request) {
            graph.seen = Some((due.drawn.clone(), laid_out.corners));
            return;
        }
        graph.layouts.forget_cancelled();
        commands.extend(graph.layouts.ask(&due.request).map(Command::Run));
    }

    /// The memory that was chosen, with what can be done about it.
    fn chosen_ui(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, commands: &mut Vec<Command>) {
        let chosen = self.graph.chosen.as_ref().and_then(|id| self.known.find(id)).cloned();
        let Some(row) = chosen else { return };
        Panel::bottom("the selected memory").frame(Frame::NONE).resizable(false).show_separator_line(false).show(
            ui,
            |ui| {
                widgets::dress(ui.style_mut(), cx.theme);
                ui.add_space(SPACE[1]);
                ScrollArea::vertical().max_height(CHOSEN_POINTS).show(ui, |ui| {
                    widgets::in_card(ui, cx.theme, |ui| self.row(ui, cx, &row, None, commands));
                });
            },
        );
    }

    fn draw(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) {
        let Some((drawn, corners)) = self.graph.seen.clone() else {
            ui.label(widgets::small(texts::LAYING_OUT, cx.theme));
            return;
        };
        let theme = cx.theme;
        let rect = ui.available_rect_before_wrap();
        let ground = ui.allocate_rect(rect, Sense::click_and_drag());
        ground.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, texts::MEMORIES_AND_RELATIONS));
        let view = &mut self.graph.view;
        view.rect = rect;
        view.look_around(ui, &ground);
        if !view.is_free {
            let card = |corner: &Pos2| Rect::from_min_size(*corner, CARD);
            view.fit(corners.iter().map(card).fold(Rect::NOTHING, Rect::union), 0.0);
        }
        let view = *view;
        let cards: Vec<Rect> =
            corners.iter().map(|corner| view.rect_to_screen(Rect::from_min_size(*corner, CARD))).collect();
        let mut inner = ui.new_child(UiBuilder::new().max_rect(rect));
        inner.set_clip_rect(rect.intersect(ui.clip_rect()));
        for (from, to, relation) in &drawn.links {
            relation_ui(&inner, (cards[*from], cards[*to]), *relation, view.zoom, theme);
        }
        let seen = inner.clip_rect();
        for (id, rect) in drawn.ids.iter().zip(&cards).filter(|(_, rect)| rect.intersects(seen)) {
            if let Some(row) = self.known.find(id).cloned() {
                self.card(&mut inner, cx, (&row, *rect), view.zoom);
            }
        }
        if ground.clicked() {
            self.graph.chosen = None;
        }
    }

    fn card(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, (row, rect): (&MemoryRow, Rect), zoom: f32) {
        let theme = cx.theme;
        let (memory, is_chosen) = (&row.memory, self.graph.chosen.as_ref() == Some(&row.memory.id));
        let response = ui.interact(rect, ui.id().with(("memory", &memory.id)), Sense::click());
        let content = one_line(&memory.content);
        let says = texts::memory(&truncate(&content, 80));
        response.widget_info(|| WidgetInfo::selected(WidgetType::Button, true, is_chosen, &says));
        let colour = if row.owner == Owner::Shared { theme.accent } else { state_colour(State::Working) };
        let painter = ui.painter();
        let corners = CornerRadius::same(RADIUS[1]);
        painter.rect_filled(rect, corners, theme.card);
        let strip = Rect::from_min_size(rect.min, vec2(4.0 * zoom, rect.height()));
        painter.rect_filled(strip, CornerRadius { nw: RADIUS[1], sw: RADIUS[1], ne: 0, se: 0 }, colour);
        let is_lit = is_chosen || response.hovered() || response.has_focus();
        let stroke = Stroke::new(LINE[1], if is_lit { theme.accent } else { theme.line });
        painter.rect_stroke(rect, corners, stroke, StrokeKind::Inside);
        if zoom >= WORDS_ZOOM {
            let font = |size: f32| FontId::proportional((size * zoom * 2.0).round() / 2.0);
            let line = |row: f32, words: &str, size: f32, ink: Color32| {
                let place = rect.min + vec2(SPACE[1] + 4.0, SPACE[0] + row) * zoom;
                painter.text(place, Align2::LEFT_TOP, words, font(size), ink);
            };
            for (number, words) in in_lines(&content).iter().enumerate() {
                line(number as f32 * (TYPE[0] + 4.0), words, TYPE[0], theme.text);
            }
            let whose = match &row.owner {
                Owner::Agent(agent) => cx.room.called(agent).to_owned(),
                Owner::Shared => texts::EVERYONE.to_owned(),
            };
            let about = format!("{} · {whose}", text_format::capitalised(memory.kind.word()));
            line(TEXT_LINES as f32 * (TYPE[0] + 4.0) + 2.0, &truncate(&about, LINE_CHARS), TYPE[0], theme.text_soft);
        }
        if response.clicked() {
            self.graph.chosen = (!is_chosen).then(|| memory.id.clone());
        }
        response.on_hover_text(content);
    }
}

/// A relation: an arrow with its word; a contradiction is highlighted.
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
        let galley = ui.painter().layout_no_wrap(relation.word().replace('_', " "), font, colour);
        let place = Rect::from_center_size(ends.0.lerp(ends.1, 0.5), galley.size());
        ui.painter().rect_filled(place.expand(2.0), CornerRadius::same(RADIUS[0]), theme.panel);
        ui.painter().galley(place.min, galley, colour);
    }
}

/// The text of a memory in the lines of a card.
fn in_lines(content: &str) -> Vec<String> {
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
    fn only_memories_that_are_related_are_drawn() {
        let ada = "- One. <!-- k-1 supports=k-2:0.7 -->\n- Two. <!-- k-2 -->\n- Alone. <!-- k-3 contradicts=k-9 -->\n";
        let known = KnownMemories::of([(Owner::Agent("ada".into()), Arc::from(ada))]);
        let drawn = drawn(known.memories.iter());
        assert_eq!(drawn.ids.iter().map(|id| &**id).collect::<Vec<_>>(), ["k-1", "k-2"]);
        assert_eq!(drawn.links, [(0, 1, Relation::Supports)]);
        assert_eq!(drawn.left_out, 1);
    }

    #[test]
    fn a_long_memory_fits_on_its_card() {
        for text in
            ["short", "a text of quite a few words that goes on and on until nobody reads it any more", &"x".repeat(99)]
        {
            let lines = in_lines(text);
            assert!(
                lines.len() <= TEXT_LINES && lines.iter().all(|line| line.chars().count() <= LINE_CHARS),
                "{lines:?}"
            );
        }
    }
}
