//! The card of the selected record: its full data, causes and effects.

use std::sync::Arc;

use egui::{Label, RichText, ScrollArea, Ui};

use super::cause_chain::{self, ChainEnd, Effects, Link};
use super::style::{kind_colour, severity_icon};
use super::{EventLogPane, texts};
use crate::base::Seq;
use crate::log::Event;
use crate::log::events::Error;
use crate::ui::Command;
use crate::ui::commands::{ConversationsCommand, WindowCommand};
use crate::ui::context::ViewerContext;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::dates::{Dates, simulated};
use crate::view::event_list::{EventList, EventRow};
use crate::view::event_text::{Names, kind_words, sentence, thousands};
use crate::view::pick::RoomObject;
use crate::view::theme::{SPACE, TYPE, Theme};

/// The maximum number of characters of the data that are shown; copying takes all of the data.
const DATA_CHARS: usize = 6_000;
/// The width of the column with field names.
const FIELD_POINTS: f32 = 84.0;
/// The prefix of session ids of conversations.
const CONVERSATION: &str = "conversation-";

/// The card of a record, computed once per selection.
#[derive(Clone, Debug)]
pub(super) struct Card {
    seq: Seq,
    /// The generation of the event list and the version of the names that the card is based on.
    of: (u64, u64),
    /// `None` if the record is not loaded.
    content: Option<Arc<CardContent>>,
    effects: Effects,
}

/// The part of a card that never changes.
#[derive(Debug)]
struct CardContent {
    row: Arc<EventRow>,
    text: String,
    data: String,
    left_out_chars: usize,
    causes: Vec<Link>,
    end: ChainEnd,
}

impl Card {
    /// Creates the card of a record.
    pub(super) fn of(book: &EventList, seq: Seq, names: &Names) -> Self {
        let content = book.find(seq).map(|row| {
            let (data, left_out_chars) = readable(row);
            let (causes, end) = cause_chain::causes(book, row, names);
            Arc::new(CardContent { row: row.clone(), text: sentence(row, names), data, left_out_chars, causes, end })
        });
        let mut card = Self { seq, of: (book.generation(), names.version()), content, effects: Effects::of(book, seq) };
        card.update(book, names);
        card
    }

    /// Whether the card is still valid for this record.
    pub(super) fn is_current(&self, seq: Seq, book: &EventList, names: &Names) -> bool {
        // A missing record may have been loaded since.
        let is_complete = self.content.is_some() || book.number_of(seq).is_none();
        self.seq == seq && self.of == (book.generation(), names.version()) && is_complete
    }

    /// Looks for effects among new rows.
    pub(super) fn update(&mut self, book: &EventList, names: &Names) {
        if self.content.is_some() {
            self.effects.update(book, self.seq, names);
        }
    }
}

/// Returns the formatted data, cut to `DATA_CHARS`, and the number of characters left out.
fn readable(row: &EventRow) -> (String, usize) {
    let pretty = row.data.pretty();
    match pretty.char_indices().nth(DATA_CHARS) {
        Some((end, _)) => (pretty[..end].to_owned(), pretty[end..].chars().count()),
        None => (pretty, 0),
    }
}

/// Returns the record as in the exported log, pretty-printed.
pub(super) fn as_json(row: &EventRow) -> String {
    let value = serde_json::to_value(row.record());
    value.and_then(|value| serde_json::to_string_pretty(&value)).unwrap_or_else(|_| row.data.pretty())
}

/// Draws the card.
pub(super) fn card_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut EventLogPane, card: &Card) -> Vec<Command> {
    let theme = cx.theme;
    let mut commands = Vec::new();
    widgets::in_card(ui, theme, |ui| {
        header_ui(ui, theme, pane, card);
        ScrollArea::vertical().id_salt("event card").auto_shrink([false, true]).show(ui, |ui| {
            let Some(content) = &card.content else {
                widgets::empty(ui, Icon::Search, texts::NOT_AVAILABLE, texts::NOT_AVAILABLE_HINT, theme);
                return;
            };
            hidden_ui(ui, theme, pane, card.seq);
            ui.add(Label::new(RichText::new(&content.text).size(TYPE[1])).wrap());
            buttons_ui(ui, cx, &content.row, &mut commands);
            causes_ui(ui, theme, pane, content);
            effects_ui(ui, theme, pane, &card.effects);
            fields_ui(ui, theme, &cx.ui.appearance.dates, &pane.facets.names, &content.row);
            data_ui(ui, theme, content);
        });
    });
    commands
}

fn header_ui(ui: &mut Ui, theme: &Theme, pane: &mut EventLogPane, card: &Card) {
    widgets::line(
        ui,
        "head",
        |ui| {
            ui.label(widgets::heading(texts::record(card.seq), theme));
            if let Some(content) = &card.content {
                let kind = &content.row.kind;
                widgets::badge(ui, &kind_words(kind), kind_colour(kind, theme), theme);
            }
        },
        |ui| {
            if widgets::icon_button(ui, Icon::Cross, texts::CLOSE_CARD, false, theme).clicked() {
                pane.is_card_closed = true;
            }
        },
    );
}

/// If the filter hides the record, says so and offers to show it.
fn hidden_ui(ui: &mut Ui, theme: &Theme, pane: &mut EventLogPane, seq: Seq) {
    let is_listed =
        pane.card_number.is_none_or(|number| !pane.scan.has_scanned(number) || pane.scan.index(number).is_some());
    if is_listed {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        let is_folded = pane.filter.is_unfiltered();
        let why = if is_folded { texts::IS_COLLAPSED } else { texts::IS_FILTERED_OUT };
        ui.label(RichText::new(why).color(theme.warn));
        let clear = ui.button(texts::SHOW_RECORD);
        widgets::name(&clear, texts::SHOW_RECORD_NAME);
        if clear.clicked() {
            let content = pane.card.as_ref().and_then(|card| card.content.as_ref());
            let is_routine = content.is_some_and(|content| super::filter::is_routine(&content.row.kind));
            pane.filter = super::Filter { everything: pane.filter.everything || is_routine, ..pane.filter.cleared() };
            pane.select_and_reveal(seq);
        }
    });
}

fn buttons_ui(ui: &mut Ui, cx: &ViewerContext<'_>, row: &EventRow, commands: &mut Vec<Command>) {
    let (room, theme) = (cx.room, cx.theme);
    ui.horizontal_wrapped(|ui| {
        if let Some(agent) = &row.agent {
            let is_here = room.agent(agent).is_some();
            let show = ui.add_enabled(is_here, egui::Button::new(texts::SHOW_AGENT));
            if show.on_disabled_hover_text(texts::AGENT_IS_GONE).clicked() {
                commands.push(WindowCommand::Select(vec![RoomObject::Agent(agent.clone())]).into());
            }
        }
        if let Some(path) = file_of(row)
            && ui.button(texts::SHOW_FILE).on_hover_text(&path).clicked()
        {
            commands.push(Command::OpenFile(path, None));
        }
        if let Some(session) = row.session.as_ref().filter(|session| session.starts_with(CONVERSATION))
            && ui.button(texts::SHOW_CONVERSATION).clicked()
        {
            commands.push(ConversationsCommand::ShowConversation(session.clone()).into());
            commands.push(Command::Show(Tab::TALKS));
        }
        if ui.button(texts::COPY_AS_JSON).on_hover_text(texts::COPY_AS_JSON_HINT).clicked() {
            ui.ctx().copy_text(as_json(row));
            commands.push(WindowCommand::Tell(texts::record_copied(row.seq), true).into());
        }
    });
    if let Some(severity) = row.severity {
        let (icon, colour, words) = severity_icon(severity, theme);
        ui.horizontal(|ui| {
            let (rect, _) = ui.allocate_exact_size(egui::vec2(14.0, 14.0), egui::Sense::hover());
            icon.paint(ui.painter(), rect, colour);
            ui.label(RichText::new(words).color(colour));
        });
    }
}

/// Returns the file that a record is about; for problems, the place if it is a file.
fn file_of(row: &EventRow) -> Option<String> {
    if let Some(path) = &row.path {
        return Some(path.to_string());
    }
    row.severity?;
    let place = match row.event() {
        Event::Warning(warning) => warning.place,
        Event::Error(Error::Problem(problem)) => problem.place,
        _ => None,
    };
    let is_file =
        |place: &String| [".md", ".mdx", ".yaml", ".yml", ".json"].iter().any(|ending| place.ends_with(ending));
    place.filter(is_file)
}

fn fields_ui(ui: &mut Ui, theme: &Theme, dates: &Dates, names: &Names, row: &EventRow) {
    let time = texts::both_times(&simulated(row.tick), &dates.full(row.time_ms));
    let agent = row.agent.as_ref().map(|agent| match names.called(agent) {
        name if *name == **agent => agent.to_string(),
        name => texts::name_and_id(name, agent),
    });
    let plain = |id: &Option<crate::base::Id>| id.as_ref().map(|id| id.to_string());
    let fields = [
        (texts::TIME, Some(time)),
        (texts::TICK, Some(thousands(row.tick))),
        (texts::RUN, Some(row.run.to_string())),
        (texts::AGENT, agent),
        (texts::WORK, plain(&row.activation)),
        (texts::SESSION, plain(&row.session)),
        (texts::TOOL, plain(&row.tool)),
        (texts::FILE, plain(&row.path)),
    ];
    widgets::section(ui, texts::FIELDS, theme);
    ui.spacing_mut().item_spacing.y = 2.0;
    for (name, value) in fields.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        ui.horizontal_top(|ui| {
            ui.allocate_ui(egui::vec2(FIELD_POINTS, 16.0), |ui| {
                ui.set_min_width(FIELD_POINTS);
                ui.label(widgets::small(name, theme));
            });
            ui.add(Label::new(RichText::new(value).size(TYPE[0])).wrap());
        });
    }
    ui.spacing_mut().item_spacing.y = SPACE[1];
}

fn causes_ui(ui: &mut Ui, theme: &Theme, pane: &mut EventLogPane, content: &CardContent) {
    widgets::section(ui, texts::BECAUSE_OF, theme);
    for (depth, cause) in content.causes.iter().enumerate() {
        link_ui(ui, theme, pane, cause, texts::BECAUSE_OF, depth.min(6) as f32 * SPACE[1]);
    }
    match content.end {
        ChainEnd::Beginning if !content.causes.is_empty() => {}
        ChainEnd::More(seq) => {
            if ui.link(texts::AND_FURTHER_BACK).on_hover_text(texts::goes_to_record(seq)).clicked() {
                pane.select_and_reveal(seq);
            }
        }
        end => drop(ui.label(widgets::small(cause_chain::chain_end_text(end), theme))),
    }
}

fn effects_ui(ui: &mut Ui, theme: &Theme, pane: &mut EventLogPane, effects: &Effects) {
    widgets::section(ui, texts::CONSEQUENCES, theme);
    for effect in &effects.links {
        link_ui(ui, theme, pane, effect, texts::LED_TO, 0.0);
    }
    match effects.count - effects.links.len() {
        0 if effects.count == 0 => drop(ui.label(widgets::small(texts::NOTHING_SO_FAR, theme))),
        0 => {}
        more => drop(ui.label(widgets::small(texts::and_more(more as u64), theme))),
    }
}

/// Draws a link to a record.
fn link_ui(ui: &mut Ui, theme: &Theme, pane: &mut EventLogPane, link: &Link, relation: &str, indent: f32) {
    let content = |ui: &mut Ui| {
        ui.add_space(indent);
        let (rect, _) = ui.allocate_exact_size(egui::vec2(12.0, 18.0), egui::Sense::hover());
        match link.severity {
            Some(severity) => {
                let (icon, colour, _) = severity_icon(severity, theme);
                icon.paint(ui.painter(), rect.shrink2(egui::vec2(0.0, 3.0)), colour);
            }
            None => {
                ui.painter().circle_filled(rect.center(), 3.5, kind_colour(&link.kind, theme));
            }
        }
        let text = RichText::new(&link.text).size(TYPE[0]).color(theme.accent);
        let response = ui.add(egui::Button::new(text).frame(false).truncate());
        widgets::name(&response, texts::link_name(relation, link.seq, &link.text));
        let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
        response.on_hover_text(texts::link_hint(&kind_words(&link.kind), link.seq)).clicked()
    };
    let row = |ui: &mut Ui| {
        ui.spacing_mut().interact_size.y = 18.0;
        ui.spacing_mut().button_padding.y = 1.0;
        ui.horizontal(content).inner
    };
    if ui.scope(row).inner {
        pane.select_and_reveal(link.seq);
    }
}

fn data_ui(ui: &mut Ui, theme: &Theme, content: &CardContent) {
    widgets::section(ui, texts::DATA, theme);
    let text = RichText::new(&content.data).monospace().size(TYPE[0]);
    ui.add(Label::new(text).wrap());
    if content.left_out_chars > 0 {
        ui.label(widgets::small(texts::more_characters(content.left_out_chars as u64), theme));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::EventKind;
    use crate::log::events::{FileChange, Message, UnknownEvent, Warning};
    use crate::ui::panes::event_log::tests::row;
    use serde_json::{Value, json};

    #[test]
    fn a_copied_record_equals_the_exported_one() {
        let mut row = row(7, FileChange::new("a.md", "ada-1"));
        (row.agent, row.cause) = (Some("ada-1".into()), Some(Seq(3)));
        let copied: Value = serde_json::from_str(&as_json(&row)).expect("it is JSON");
        let expected = json!({
            "seq": 7, "tick": 210, "time": "2026-01-01T00:00:07.000Z", "run": "r-1", "type": "file_change",
            "agent": "ada-1", "cause": 3, "data": { "path": "a.md", "by": "ada-1" },
        });
        assert_eq!(copied, expected);
    }

    #[test]
    fn huge_data_is_cut_at_a_character_boundary() {
        let long = row(1, Message { by: None, text: "ü".repeat(10_000), id: None });
        let (data, left_out) = readable(&long);
        assert_eq!(data.chars().count(), DATA_CHARS);
        assert_eq!(left_out, 10_000 + "{\n  \"text\": \"\"\n}".len() - DATA_CHARS);
        let odd = row(2, Event::Unknown(UnknownEvent::new(EventKind::Message, [1])));
        assert_eq!(readable(&odd), ("[\n  1\n]".to_owned(), 0));
    }

    #[test]
    fn a_problem_links_to_its_file() {
        let problem = |place: &str| {
            file_of(&row(1, Error::Problem(Warning { place: Some(place.into()), ..Warning::new("x") }.into())))
        };
        assert_eq!(problem("agents/ada.md").as_deref(), Some("agents/ada.md"));
        assert_eq!(problem("agent ada-1"), None);
        let written = row(1, FileChange::new("artifacts/plan.md", "ada-1"));
        assert_eq!(file_of(&written).as_deref(), Some("artifacts/plan.md"));
    }
}
