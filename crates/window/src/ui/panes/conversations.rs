//! The pane of conversations: which are running and which have ended, and the selected one, to read and to join.

mod texts;

use std::collections::{BTreeMap, BTreeSet};

use egui::{Align, CornerRadius, Frame, Layout, Margin, Rect, RichText, ScrollArea, Stroke, Ui, pos2, vec2};

use crate::base::{ConversationKey, Id};
use crate::simulation::ConversationCommand;
use crate::ui::Command;
use crate::ui::commands::{RoomAct, markdown};
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::view::model::{RoomModel, TalkView};
use crate::view::paint;
use crate::view::recent_events::Recent;
use crate::view::theme::{LINE, RADIUS, SPACE, Theme};

/// How many of the last messages are drawn; the log has the rest.
const SAID_SHOWN: usize = 60;
/// The width of the speaker's figure beside a message.
const FACE_POINTS: f32 = 30.0;
/// How many participants' faces are shown in the list, their left margin and their distance.
const FACES_SHOWN: usize = 3;
const FACES_LEFT: f32 = 10.0;
const FACES_STEP: f32 = 17.0;
/// The draft that holds what a new conversation is to be about.
const TOPIC: &str = "topic";

/// A conversation in the list, running or ended.
struct Entry<'a> {
    session: Id,
    participants: Vec<Id>,
    topic: &'a str,
    said: &'a [(Id, String)],
    running: Option<&'a TalkView>,
    ended: Option<&'a str>,
}

/// The name of a running conversation in the log.
fn session_of(key: ConversationKey) -> Id {
    format!("conversation-{key}").into()
}

/// Running ones first, then those that have ended, each newest first.
fn entries<'a>(room: &'a RoomModel, recent: &'a Recent) -> Vec<Entry<'a>> {
    let running = room.talks.iter().rev().map(|talk| Entry {
        session: session_of(talk.key),
        participants: talk.participants.iter().filter_map(|key| Some(room.agent_of(*key)?.id.clone())).collect(),
        topic: talk.topic.as_deref().unwrap_or_default(),
        said: &talk.said,
        running: Some(talk),
        ended: None,
    });
    let goes_on = |session: &Id| room.talks.iter().any(|talk| session_of(talk.key) == *session);
    let over = recent.talks.iter().rev().filter(|talk| !goes_on(&talk.session)).map(|talk| Entry {
        session: talk.session.clone(),
        participants: talk.participants.clone(),
        topic: &talk.topic,
        said: &talk.said,
        running: None,
        ended: Some(talk.ended.as_deref().unwrap_or_default()),
    });
    running.chain(over).collect()
}

/// Everyone who talks, by name.
fn names(room: &RoomModel, participants: &[Id]) -> String {
    let called: Vec<&str> = participants.iter().map(|id| room.called(id)).collect();
    texts::names(&called)
}

/// What the conversations keep between frames.
#[derive(Clone, Debug, Default)]
pub struct ConversationsPane {
    /// The conversation that is read, by its session in the log; the newest where absent.
    pub open: Option<Id>,
    /// Whom a person chose for a conversation that is to begin.
    talk_with: BTreeSet<Id>,
    /// What is being written, by the field.
    drafts: BTreeMap<String, String>,
}

/// Draws the conversations.
pub fn sidebar_ui(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut ConversationsPane) -> Vec<Command> {
    let ViewerContext { room, recent, theme, .. } = *cx;
    widgets::dress(ui.style_mut(), theme);
    let mut commands = Vec::new();
    let entries = entries(room, recent);
    if widgets::switch(ui, room.talk_on, texts::AGENTS_MAY_TALK, theme).clicked() {
        let act = RoomAct::Talk(ConversationCommand::Switch { on: !room.talk_on });
        commands.push(Command::Act(act, None));
    }
    start(ui, cx, own, &mut commands);
    if entries.is_empty() {
        widgets::empty(ui, Icon::Chat, texts::NO_CONVERSATIONS, texts::HOW_CONVERSATIONS_BEGIN, theme);
        return commands;
    }
    let chosen = own.open.as_ref().and_then(|open| entries.iter().position(|entry| entry.session == *open));
    let open = chosen.unwrap_or(0);
    list(ui, cx, &entries, open, own);
    ui.separator();
    conversation(ui, cx, &entries[open], own, &mut commands);
    commands
}

fn list(ui: &mut Ui, cx: &ViewerContext<'_>, entries: &[Entry], open: usize, own: &mut ConversationsPane) {
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
            let faces: Vec<_> = entry.participants.iter().filter_map(|id| room.agent(id)).take(FACES_SHOWN).collect();
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
                own.open = Some(entry.session.clone());
            }
        }
    });
}

fn conversation(
    ui: &mut Ui,
    cx: &ViewerContext<'_>,
    entry: &Entry,
    own: &mut ConversationsPane,
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
        ui.label(widgets::soft(texts::about(entry.topic), theme));
    }
    let foot = if entry.running.is_some() { 124.0 } else { 34.0 };
    let height = (ui.available_height() - foot).max(120.0);
    ScrollArea::vertical()
        .id_salt(&entry.session)
        .max_height(height)
        .auto_shrink([false, true])
        .stick_to_bottom(true)
        .show(ui, |ui| {
            let skipped = entry.said.len().saturating_sub(SAID_SHOWN);
            if skipped > 0 {
                ui.label(widgets::small(texts::earlier_turns(skipped), theme));
            }
            let first = entry.participants.first();
            for (index, (by, text)) in entry.said.iter().enumerate().skip(skipped) {
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
        (Some(talk), _) => speak(ui, talk, theme, &mut own.drafts, commands),
        (None, Some(why)) => drop(ui.label(widgets::small(texts::ended(why), theme))),
        (None, None) => {}
    }
}

/// One thing said, in a bubble on its speaker's side.
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

/// The person's own turn.
fn speak(
    ui: &mut Ui,
    talk: &TalkView,
    theme: &Theme,
    drafts: &mut BTreeMap<String, String>,
    commands: &mut Vec<Command>,
) {
    let draft = drafts.entry(format!("turn in {}", talk.key)).or_default();
    let field = widgets::area(ui, draft, texts::YOUR_TURN, texts::WRITE_A_MESSAGE, 2);
    // Enter sends, Shift and Enter begins a new line.
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

/// Lets a person choose who is to talk about what.
fn start(ui: &mut Ui, cx: &ViewerContext<'_>, own: &mut ConversationsPane, commands: &mut Vec<Command>) {
    let ViewerContext { room, theme, .. } = *cx;
    let title = RichText::new(texts::NEW_CONVERSATION).color(theme.accent);
    egui::CollapsingHeader::new(title).id_salt("start").show_unindented(ui, |ui| {
        if room.agents.len() < 2 {
            ui.label(widgets::soft(texts::NEEDS_TWO_AGENTS, theme));
            return;
        }
        own.talk_with.retain(|id| room.agent(id).is_some());
        ui.label(widgets::small(texts::CHOOSE_AGENTS, theme));
        ScrollArea::vertical().id_salt("who").max_height(110.0).auto_shrink([false, true]).show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                for agent in &room.agents {
                    let on = own.talk_with.contains(&agent.id);
                    let chip = ui.add(egui::Button::selectable(on, &*agent.name));
                    widgets::name(&chip, texts::with(&agent.name));
                    if chip.clicked() && !own.talk_with.remove(&agent.id) {
                        own.talk_with.insert(agent.id.clone());
                    }
                }
            });
        });
        let topic = own.drafts.entry(TOPIC.to_owned()).or_default();
        widgets::field(ui, topic, texts::TOPIC, texts::TOPIC);
        let topic = topic.trim().to_owned();
        let ready = own.talk_with.len() >= 2 && !topic.is_empty() && room.talk_on;
        if widgets::primary(ui, ready, texts::START_CONVERSATION, theme).clicked() {
            let participants = own.talk_with.iter().cloned().collect();
            let act = ConversationCommand::Start { participants, topic };
            commands.push(Command::Act(RoomAct::Talk(act), None));
            own.talk_with.clear();
            own.drafts.remove(TOPIC);
            own.open = None;
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
    use crate::ui::testing::{Stage, stage_pane};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    fn sidebar() -> Harness<'static, Stage> {
        let state = UiState::default();
        let mut window = stage_pane(state, |ui, cx, panes| sidebar_ui(ui, cx, &mut panes.conversations));
        window.run_steps(4);
        window
    }

    fn click(window: &mut Harness<'static, Stage>, label: &str) {
        window.get_by_label(label).click();
        window.run_steps(12);
    }

    fn talk(command: ConversationCommand) -> Command {
        Command::Act(RoomAct::Talk(command), None)
    }

    #[test]
    fn what_is_running_comes_first_and_is_listed_once() {
        let (room, recent) = (crate::ui::testing::sample_room(), crate::ui::testing::sample_recent());
        let sessions: Vec<Id> = entries(&room, &recent).into_iter().map(|entry| entry.session).collect();
        assert_eq!(sessions, ["conversation-4".into(), "conversation-3".into()]);
    }

    #[test]
    fn a_person_says_something_and_stops_the_conversation() {
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
        assert_eq!(window.state().panes.conversations.drafts["turn in 4"], "");
    }

    #[test]
    fn a_conversation_that_is_over_can_be_read_but_not_joined() {
        let mut window = sidebar();
        click(&mut window, "Conversation between Ada and Bram, conversation-3");
        assert!(window.query_by_label("Ended: all was said").is_some());
        assert!(window.query_by_label("Your turn").is_none());
    }

    #[test]
    fn two_agents_and_a_topic_make_a_conversation() {
        let mut window = sidebar();
        click(&mut window, "New conversation");
        click(&mut window, "With Ada");
        window.get_by_label("Topic").focus();
        window.run_steps(1);
        window.get_by_label("Topic").type_text("rain");
        window.run_steps(2);
        click(&mut window, "Start conversation");
        assert!(window.state().commands.is_empty(), "one agent alone does not talk");
        click(&mut window, "With Bram");
        click(&mut window, "Start conversation");
        let participants = vec!["ada-1".into(), "bram-1".into()];
        let start = ConversationCommand::Start { participants, topic: "rain".into() };
        assert_eq!(window.state().commands, [talk(start)]);
    }

    #[test]
    fn talk_is_switched_off_for_everyone() {
        let mut window = sidebar();
        click(&mut window, "Allow conversations");
        assert_eq!(window.state().commands, [talk(ConversationCommand::Switch { on: false })]);
    }
}
