//! The conversations pane: a list of running and ended conversations, and the selected one to read and join.

mod texts;

use std::collections::{BTreeMap, BTreeSet};

use egui::{Align, CornerRadius, Frame, Layout, Margin, Rect, RichText, ScrollArea, Stroke, Ui, pos2, vec2};

use crate::base::{ConversationKey, Id};
use crate::simulation::ConversationCommand;
use crate::ui::Command;
use crate::ui::commands::{ConversationsCommand, PaneCommand, RoomAct, markdown};
use crate::ui::context::ViewerContext;
use crate::ui::panes::pane::{Pane, PaneWindow};
use crate::ui::panes::texts as titles;
use crate::ui::state::dock_place::{DockArea, DockPlace};
use crate::ui::state::tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::model::{RoomModel, TalkView};
use crate::view::paint;
use crate::view::recent_events::Recent;
use crate::view::theme::{LINE, RADIUS, SPACE, Theme};

/// The maximum number of messages drawn; the log has the rest.
const MAX_MESSAGES: usize = 60;
/// The width of the speaker's portrait beside a message.
const FACE_POINTS: f32 = 30.0;
/// The maximum number of portraits per list entry, their left margin and their distance.
const MAX_FACES: usize = 3;
const FACES_LEFT: f32 = 10.0;
const FACES_STEP: f32 = 17.0;
/// The key of the draft for the topic of a new conversation.
const TOPIC: &str = "topic";

/// A conversation in the list, running or ended.
struct Entry<'a> {
    session: Id,
    participants: Vec<Id>,
    topic: &'a str,
    messages: &'a [(Id, String)],
    running: Option<&'a TalkView>,
    ended: Option<&'a str>,
}

/// Returns the session id of a running conversation.
fn session_of(key: ConversationKey) -> Id {
    format!("conversation-{key}").into()
}

/// Returns the running conversations and then the ended ones, each newest first.
fn entries<'a>(room: &'a RoomModel, recent: &'a Recent) -> Vec<Entry<'a>> {
    let running = room.conversations.iter().rev().map(|talk| Entry {
        session: session_of(talk.key),
        participants: talk.participants.iter().filter_map(|key| Some(room.agent_of(*key)?.id.clone())).collect(),
        topic: talk.topic.as_deref().unwrap_or_default(),
        messages: &talk.said,
        running: Some(talk),
        ended: None,
    });
    let is_running = |session: &Id| room.conversations.iter().any(|talk| session_of(talk.key) == *session);
    let ended = recent.talks.iter().rev().filter(|talk| !is_running(&talk.session)).map(|talk| Entry {
        session: talk.session.clone(),
        participants: talk.participants.clone(),
        topic: &talk.topic,
        messages: &talk.said,
        running: None,
        ended: Some(talk.ended.as_deref().unwrap_or_default()),
    });
    running.chain(ended).collect()
}

/// Returns the names of the participants as a list in words.
fn names(room: &RoomModel, participants: &[Id]) -> String {
    let called: Vec<&str> = participants.iter().map(|id| room.called(id)).collect();
    texts::names(&called)
}

/// The state of the conversations pane.
#[derive(Clone, Debug, Default)]
pub struct ConversationsPane {
    /// The session id of the selected conversation; the newest if `None`.
    pub open: Option<Id>,
    /// The agents selected for a new conversation.
    talk_with: BTreeSet<Id>,
    /// Unsent texts, by field.
    drafts: BTreeMap<String, String>,
}

impl Pane for ConversationsPane {
    fn id(&self) -> &'static str {
        tab::TALKS
    }

    fn title(&self) -> &'static str {
        titles::CONVERSATIONS
    }

    fn place(&self) -> DockPlace {
        DockPlace { is_closed_at_first: true, ..DockPlace::always_in(DockArea::Right) }
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        sidebar_ui(ui, cx, self)
    }

    fn apply(&mut self, command: &PaneCommand, _: &mut PaneWindow<'_>) -> Vec<Command> {
        if let Some(ConversationsCommand::ShowConversation(session)) = command.get() {
            self.open = Some(session.clone());
        }
        Vec::new()
    }

    fn forget_room(&mut self) {
        *self = Self::default();
    }

    fn forget_workspace(&mut self) {
        *self = Self::default();
    }
}

/// Draws the conversations.
pub fn sidebar_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut ConversationsPane) -> Vec<Command> {
    let ViewerContext { room, recent, theme, .. } = *cx;
    widgets::apply_style(ui.style_mut(), theme);
    let mut commands = Vec::new();
    let entries = entries(room, recent);
    if widgets::switch(ui, room.talk_on, texts::AGENTS_MAY_TALK, theme).clicked() {
        let act = RoomAct::Talk(ConversationCommand::Switch { on: !room.talk_on });
        commands.push(Command::Act(act, None));
    }
    start_ui(ui, cx, pane, &mut commands);
    if entries.is_empty() {
        widgets::empty(ui, Icon::Chat, texts::NO_CONVERSATIONS, texts::HOW_CONVERSATIONS_BEGIN, theme);
        return commands;
    }
    let chosen = pane.open.as_ref().and_then(|open| entries.iter().position(|entry| entry.session == *open));
    let open = chosen.unwrap_or(0);
    list(ui, cx, &entries, open, pane);
    ui.separator();
    conversation(ui, cx, &entries[open], pane, &mut commands);
    commands
}

fn list(ui: &mut Ui, cx: &ViewerContext<'_>, entries: &[Entry], open: usize, pane: &mut ConversationsPane) {
    let ViewerContext { room, theme, art, .. } = *cx;
    ScrollArea::vertical().id_salt("talks").max_height(168.0).auto_shrink([false, true]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = SPACE[0];
        for (index, entry) in entries.iter().enumerate() {
            let who = names(room, &entry.participants);
            let mut line = egui::text::LayoutJob::default();
            let style = ui.style().clone();
            let append = |text: RichText, line: &mut egui::text::LayoutJob| {
                text.append_to(line, &style, egui::FontSelection::Default, Align::Center);
            };
            append(RichText::new(&who).color(theme.text), &mut line);
            let faces: Vec<_> = entry.participants.iter().filter_map(|id| room.agent(id)).take(MAX_FACES).collect();
            if let Some(first) = line.sections.first_mut() {
                first.leading_space = FACES_LEFT + faces.len() as f32 * FACES_STEP;
            }
            if !entry.topic.is_empty() {
                append(widgets::small(format!("  {}", entry.topic), theme), &mut line);
            }
            let button = egui::Button::selectable(index == open, line).truncate();
            let row = ui.add(button.min_size(egui::vec2(ui.available_width(), 28.0)));
            widgets::name(&row, texts::conversation_of(&who, &entry.session));
            if entry.running.is_some() {
                ui.painter().circle_filled(row.rect.left_center() + egui::vec2(10.0, 0.0), 3.5, theme.good);
            }
            for (index, agent) in faces.into_iter().enumerate() {
                let left = row.rect.left() + FACES_LEFT + SPACE[0] + index as f32 * FACES_STEP;
                let middle = pos2(left + FACES_STEP / 2.0, row.rect.center().y);
                paint::portrait(ui.painter(), Rect::from_center_size(middle, vec2(20.0, 20.0)), &agent.look, art);
            }
            if row.clicked() {
                pane.open = Some(entry.session.clone());
            }
        }
    });
}

fn conversation(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    entry: &Entry,
    pane: &mut ConversationsPane,
    commands: &mut Vec<Command>,
) {
    let ViewerContext { room, theme, .. } = *cx;
    ui.horizontal(|ui| {
        ui.label(widgets::heading(names(room, &entry.participants), theme));
        if let Some(talk) = entry.running {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if widgets::danger(ui, texts::STOP_CONVERSATION, theme).clicked() {
                    let act = RoomAct::Talk(ConversationCommand::Stop { conversation: talk.key });
                    commands.push(Command::Act(act, None));
                }
            });
        }
    });
    if !entry.topic.is_empty() {
        ui.label(widgets::secondary_text(texts::about(entry.topic), theme));
    }
    let foot = if entry.running.is_some() { 124.0 } else { 34.0 };
    let height = (ui.available_height() - foot).max(120.0);
    ScrollArea::vertical()
        .id_salt(&entry.session)
        .max_height(height)
        .auto_shrink([false, true])
        .stick_to_bottom(true)
        .show(ui, |ui| {
            let skipped = entry.messages.len().saturating_sub(MAX_MESSAGES);
            if skipped > 0 {
                ui.label(widgets::small(texts::earlier_turns(skipped), theme));
            }
            let first = entry.participants.first();
            for (index, (by, text)) in entry.messages.iter().enumerate().skip(skipped) {
                let side = if &**by == "user" || Some(by) != first { Align::Max } else { Align::Min };
                ui.push_id(index, |ui| bubble(ui, cx, (by, text), side, commands));
            }
            if let Some(talk) = entry.running {
                let speaker = talk.participants.get(talk.speaker).and_then(|key| room.agent_of(*key));
                if let Some(speaker) = speaker {
                    let (taken, most) = talk.turns;
                    ui.label(widgets::small(texts::speaks_next(&speaker.name, taken, most), theme));
                }
            }
        });
    match (entry.running, entry.ended) {
        (Some(talk), _) => turn_ui(ui, talk, theme, &mut pane.drafts, commands),
        (None, Some(why)) => drop(ui.label(widgets::small(texts::ended(why), theme))),
        (None, None) => {}
    }
}

/// Draws a message in a bubble on its speaker's side.
fn bubble(ui: &mut Ui, cx: &ViewerContext<'_>, (by, text): (&str, &str), side: Align, commands: &mut Vec<Command>) {
    let ViewerContext { room, art, theme, .. } = *cx;
    let face = FACE_POINTS + SPACE[1];
    let width = ((ui.available_width() - face) * 0.92).max(140.0);
    let left = ui.max_rect().left();
    let indent = if side == Align::Max { ui.available_width() - width - face } else { face };
    let top = ui.cursor().top();
    ui.horizontal_top(|ui| {
        ui.add_space(indent.max(0.0));
        ui.vertical(|ui| {
            ui.set_max_width(width);
            ui.spacing_mut().item_spacing.y = 3.0;
            let colour = if by == "user" { theme.accent } else { crate::view::theme::word_colour(by) };
            ui.label(widgets::small(room.called(by), theme));
            let corner = CornerRadius::same(RADIUS[2]);
            let corner =
                if side == Align::Max { CornerRadius { ne: 3, ..corner } } else { CornerRadius { nw: 3, ..corner } };
            Frame::new()
                .fill(widgets::mix(theme.bubble, colour, 0.08))
                .stroke(Stroke::new(LINE[0], widgets::mix(theme.line, colour, 0.35)))
                .corner_radius(corner)
                .inner_margin(Margin::symmetric(SPACE[2] as i8, SPACE[1] as i8))
                .show(ui, |ui| markdown(ui, text, theme, commands));
        });
    });
    if let Some(agent) = room.agent(by) {
        let x = if side == Align::Max { ui.max_rect().right() - FACE_POINTS } else { left };
        let rect = Rect::from_min_size(pos2(x, top + SPACE[3]), vec2(FACE_POINTS, FACE_POINTS * 1.3));
        paint::portrait(ui.painter(), rect, &agent.look, art);
    }
    ui.add_space(SPACE[0]);
}

/// Draws the field for the user's turn.
fn turn_ui(
    ui: &mut Ui,
    talk: &TalkView,
    theme: &Theme,
    drafts: &mut BTreeMap<String, String>,
    commands: &mut Vec<Command>,
) {
    let draft = drafts.entry(format!("turn in {}", talk.key)).or_default();
    let field = widgets::area(ui, draft, texts::YOUR_TURN, texts::WRITE_A_MESSAGE, 2);
    // Enter sends, Shift+Enter begins a new line.
    let entered = field.has_focus()
        && ui.input(|input| input.key_pressed(egui::Key::Enter) && !input.modifiers.shift && !input.modifiers.command);
    let text = draft.trim().to_owned();
    ui.horizontal(|ui| {
        let clicked = widgets::primary(ui, !text.is_empty(), texts::SEND, theme).clicked();
        if (clicked || entered) && !text.is_empty() {
            let act = ConversationCommand::Speak { conversation: talk.key, text: text.clone() };
            commands.push(Command::Act(RoomAct::Talk(act), None));
        }
        if clicked || entered {
            draft.clear();
        }
        ui.label(widgets::small(texts::ENTER_SENDS, theme));
    });
}

/// Draws the form for a new conversation.
fn start_ui(ui: &mut Ui, cx: &ViewerContext<'_>, pane: &mut ConversationsPane, commands: &mut Vec<Command>) {
    let ViewerContext { room, theme, .. } = *cx;
    let title = RichText::new(texts::NEW_CONVERSATION).color(theme.accent);
    egui::CollapsingHeader::new(title).id_salt("start").show_unindented(ui, |ui| {
        if room.agents.len() < 2 {
            ui.label(widgets::secondary_text(texts::NEEDS_TWO_AGENTS, theme));
            return;
        }
        pane.talk_with.retain(|id| room.agent(id).is_some());
        ui.label(widgets::small(texts::CHOOSE_AGENTS, theme));
        ScrollArea::vertical().id_salt("who").max_height(110.0).auto_shrink([false, true]).show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                for agent in &room.agents {
                    let on = pane.talk_with.contains(&agent.id);
                    let chip = ui.add(egui::Button::selectable(on, &*agent.name));
                    widgets::name(&chip, texts::with(&agent.name));
                    if chip.clicked() && !pane.talk_with.remove(&agent.id) {
                        pane.talk_with.insert(agent.id.clone());
                    }
                }
            });
        });
        let topic = pane.drafts.entry(TOPIC.to_owned()).or_default();
        widgets::field(ui, topic, texts::TOPIC, texts::TOPIC);
        let topic = topic.trim().to_owned();
        let ready = pane.talk_with.len() >= 2 && !topic.is_empty() && room.talk_on;
        if widgets::primary(ui, ready, texts::START_CONVERSATION, theme).clicked() {
            let participants = pane.talk_with.iter().cloned().collect();
            let act = ConversationCommand::Start { participants, topic };
            commands.push(Command::Act(RoomAct::Talk(act), None));
            pane.talk_with.clear();
            pane.drafts.remove(TOPIC);
            pane.open = None;
        }
        if !room.talk_on {
            ui.label(widgets::small(texts::CONVERSATIONS_ARE_OFF, theme));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::UiState;
    use crate::ui::testing::{PaneHarness, stage_pane};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn sidebar() -> Harness<'static, PaneHarness> {
        let state = UiState::default();
        let mut window = stage_pane(state, |ui, cx, panes| sidebar_ui(ui, cx, panes.pane_mut::<ConversationsPane>()));
        window.run_steps(4);
        window
    }

    fn click(window: &mut Harness<'static, PaneHarness>, label: &str) {
        window.get_by_label(label).click();
        window.run_steps(12);
    }

    fn talk(command: ConversationCommand) -> Command {
        Command::Act(RoomAct::Talk(command), None)
    }

    #[test]
    fn running_conversations_come_first_without_duplicates() {
        let (room, recent) = (crate::ui::testing::sample_room(), crate::ui::testing::sample_recent());
        let sessions: Vec<Id> = entries(&room, &recent).into_iter().map(|entry| entry.session).collect();
        assert_eq!(sessions, ["conversation-4".into(), "conversation-3".into()]);
    }

    #[test]
    fn the_user_can_speak_and_stop_a_conversation() {
        let mut window = sidebar();
        assert!(window.query_by_label("tea").is_some(), "bold words of the bubble");
        window.get_by_label("Your turn").focus();
        window.run_steps(1);
        window.get_by_label("Your turn").type_text("With milk?");
        window.run_steps(2);
        click(&mut window, "Send");
        click(&mut window, "Stop conversation");
        let conversation = ConversationKey(4);
        let said = talk(ConversationCommand::Speak { conversation, text: "With milk?".into() });
        assert_eq!(window.state().commands, [said, talk(ConversationCommand::Stop { conversation })]);
        assert_eq!(window.state().parts.pane::<ConversationsPane>().drafts["turn in 4"], "");
    }

    #[test]
    fn an_ended_conversation_is_read_only() {
        let mut window = sidebar();
        click(&mut window, "Conversation between Ada and Bram, conversation-3");
        assert!(window.query_by_label("Ended: all was said").is_some());
        assert!(window.query_by_label("Your turn").is_none());
    }

    #[test]
    fn a_new_conversation_needs_two_agents_and_a_topic() {
        let mut window = sidebar();
        click(&mut window, "New conversation");
        click(&mut window, "With Ada");
        window.get_by_label("Topic").focus();
        window.run_steps(1);
        window.get_by_label("Topic").type_text("rain");
        window.run_steps(2);
        click(&mut window, "Start conversation");
        assert!(window.state().commands.is_empty(), "one agent is not enough");
        click(&mut window, "With Bram");
        click(&mut window, "Start conversation");
        let participants = vec!["ada-1".into(), "bram-1".into()];
        let start = ConversationCommand::Start { participants, topic: "rain".into() };
        assert_eq!(window.state().commands, [talk(start)]);
    }

    #[test]
    fn conversations_can_be_turned_off() {
        let mut window = sidebar();
        click(&mut window, "Allow conversations");
        assert_eq!(window.state().commands, [talk(ConversationCommand::Switch { on: false })]);
    }
}
