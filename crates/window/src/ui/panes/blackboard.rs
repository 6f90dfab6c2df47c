//! What agents that work together have in common: the blackboards of runs, to be read and edited with what stood there
//! before, and the channels with who listens and what was said last.

use std::collections::BTreeMap;

use egui::{RichText, ScrollArea, Ui};

use super::port::Pane;
use crate::base::{ActivationKey, Id};
use crate::orchestration::TogetherCommand;
use crate::schedule::TICKS_PER_SEC;
use crate::ui::Command;
use crate::ui::commands::RoomAct;
use crate::ui::commands::table::{CommandInfo, Menu};
use crate::ui::context::ViewerContext;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::ui::widgets::icons::Icon;
use crate::ui::widgets::words;
use crate::view::theme::{SPACE, Theme};
use crate::view::together::{BoardView, ChannelView, EntryView};

const WORD: &str = "blackboard";
/// A value is edited in so many lines.
const ROWS: usize = 3;

/// What the pane keeps between frames.
#[derive(Clone, Debug, Default)]
pub struct BlackboardPane {
    /// The entry that is edited, which version of it was seen, and what it is to say.
    editing: Option<(ActivationKey, String, Option<u64>, String)>,
    /// The name of an entry that is to be added, by run.
    new_key: BTreeMap<ActivationKey, String>,
    /// What is to be said, by channel.
    drafts: BTreeMap<String, String>,
}

impl Pane for BlackboardPane {
    fn word(&self) -> &'static str {
        WORD
    }

    fn title(&self) -> &'static str {
        "Blackboard"
    }

    fn commands(&self) -> Vec<CommandInfo> {
        vec![
            CommandInfo::new("blackboard.show", "Show blackboard and channels", |_| {
                vec![Command::Show(Tab::Pane(WORD.to_owned()))]
            })
            .menus(&[(Menu::Panes, "Blackboard")]),
        ]
    }

    fn show(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>) -> Vec<Command> {
        widgets::dress(ui.style_mut(), cx.theme);
        let together = &cx.room.together;
        let mut acts = Vec::new();
        if together.boards.is_empty() && together.channels.is_empty() {
            let how = "Agents at work write values here with blackboard_write, and speak in channels with publish.";
            widgets::empty(ui, Icon::Chat, "Nothing stands on the blackboard yet", how, cx.theme);
            return Vec::new();
        }
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            for board in &together.boards {
                self.board(ui, cx, board, &mut acts);
            }
            if !together.channels.is_empty() {
                widgets::section(ui, "Channels", cx.theme);
            }
            for channel in &together.channels {
                self.channel(ui, cx, channel, &mut acts);
            }
        });
        acts.into_iter().map(|act| Command::Act(RoomAct::Together(act), None)).collect()
    }

    fn boxed_clone(&self) -> Box<dyn Pane> {
        Box::new(self.clone())
    }
}

impl BlackboardPane {
    fn board(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, board: &BoardView, acts: &mut Vec<TogetherCommand>) {
        let theme = cx.theme;
        let whose = board.agent.as_ref().map_or("A run that is over", |agent| cx.room.called(agent));
        widgets::section(
            ui,
            &if board.task.is_empty() { whose.to_owned() } else { format!("{whose}: {}", board.task) },
            theme,
        );
        if board.is_over {
            ui.label(widgets::small("This run is over: its blackboard is only looked at.", theme));
        }
        for entry in &board.entries {
            widgets::in_card(ui, theme, |ui| self.entry(ui, cx, (board, entry), acts));
            ui.add_space(SPACE[0]);
        }
        if !board.is_over {
            let key = self.new_key.entry(board.run).or_default();
            let field = widgets::field(ui, key, &format!("New entry of {}", board.run), "A name, for a new entry");
            let name = key.trim().to_owned();
            if widgets::entered(ui, &field) && !name.is_empty() {
                key.clear();
                self.editing = Some((board.run, name, None, String::new()));
            }
            // Where there is such an entry, that is what is edited.
            let is_new = |key: &str| board.entries.iter().all(|entry| entry.key != key);
            if self
                .editing
                .as_ref()
                .is_some_and(|(run, key, seen, _)| *run == board.run && seen.is_none() && is_new(key))
            {
                widgets::in_card(ui, theme, |ui| {
                    let key = self.editing.as_ref().map(|(_, key, ..)| key.clone()).unwrap_or_default();
                    ui.label(RichText::new(&key).strong());
                    self.edit(ui, theme, board.run, &key, acts);
                });
            }
        }
        ui.add_space(SPACE[1]);
    }

    fn entry(
        &mut self,
        ui: &mut Ui,
        cx: &ViewerContext<'_>,
        (board, entry): (&BoardView, &EntryView),
        acts: &mut Vec<TogetherCommand>,
    ) {
        let theme = cx.theme;
        let write = |value: Option<String>, shared: Option<bool>| TogetherCommand::Write {
            run: board.run,
            key: entry.key.clone(),
            value,
            shared,
            seen: Some(entry.version),
        };
        let who = format!("{}, {}", cx.room.called(&entry.by), when(entry.tick));
        let key = entry.key.clone();
        widgets::line(ui, |ui| drop(ui.label(RichText::new(&key).strong())), |ui| ui.label(widgets::small(who, theme)));
        let is_edited = self.editing.as_ref().is_some_and(|(run, key, ..)| *run == board.run && *key == entry.key);
        if is_edited {
            self.edit(ui, theme, board.run, &entry.key, acts);
        } else {
            ui.label(&entry.value);
        }
        if !board.is_over {
            ui.horizontal(|ui| {
                let change = ui.button("Change");
                widgets::name(&change, format!("Change {}", entry.key));
                if !is_edited && change.clicked() {
                    self.editing = Some((board.run, entry.key.clone(), Some(entry.version), entry.value.clone()));
                }
                let take = ui.button("Take away");
                widgets::name(&take, format!("Take {} away", entry.key));
                if take.clicked() {
                    acts.push(write(None, None));
                }
                if widgets::switch(ui, entry.shared, &format!("Keep {} when the run ends", entry.key), theme).clicked()
                {
                    acts.push(write(Some(entry.value.clone()), Some(!entry.shared)));
                }
            });
        }
        if !entry.before.is_empty() {
            let title = words::count(entry.before.len(), "earlier value", "earlier values");
            let id = (board.run.number(), &entry.key, "before");
            egui::CollapsingHeader::new(widgets::small(title, theme)).id_salt(id).show(ui, |ui| {
                for (version, by, tick, value) in &entry.before {
                    let who = format!("version {version}, {}, {}", cx.room.called(by), when(*tick));
                    ui.label(widgets::small(who, theme));
                    ui.label(value);
                }
            });
        }
    }

    /// The field in which a value is edited, with what ends that.
    fn edit(&mut self, ui: &mut Ui, theme: &Theme, run: ActivationKey, key: &str, acts: &mut Vec<TogetherCommand>) {
        let Some((_, _, seen, text)) = &mut self.editing else { return };
        widgets::area(ui, text, &format!("What {key} says"), "JSON, or plain words", ROWS);
        let (seen, value) = (*seen, text.clone());
        ui.horizontal(|ui| {
            if widgets::primary(ui, !value.trim().is_empty(), "Write", theme).clicked() {
                let key = key.to_owned();
                acts.push(TogetherCommand::Write { run, key, value: Some(value), shared: None, seen });
                self.editing = None;
            }
            if ui.button("Cancel").clicked() {
                self.editing = None;
            }
        });
    }

    fn channel(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, channel: &ChannelView, acts: &mut Vec<TogetherCommand>) {
        let theme = cx.theme;
        widgets::in_card(ui, theme, |ui| {
            let (said, heard, bounced) = channel.counts;
            let mut counts = format!("{}, heard {heard} times", words::count(said as usize, "message", "messages"));
            if bounced > 0 {
                counts += &format!(", {bounced} refused because it was full");
            }
            let name = format!("#{}", channel.name);
            widgets::line(
                ui,
                |ui| drop(ui.label(RichText::new(name).strong())),
                |ui| ui.label(widgets::small(counts, theme)),
            );
            listeners(ui, cx, channel, acts);
            for (number, by, text) in &channel.messages {
                ui.label(widgets::small(format!("{number} · {}", cx.room.called(by)), theme));
                ui.label(text);
            }
            let draft = self.drafts.entry(channel.name.clone()).or_default();
            let field =
                widgets::field(ui, draft, &format!("Say in {}", channel.name), "Say something to those who listen");
            if widgets::entered(ui, &field) && !draft.trim().is_empty() {
                let message = std::mem::take(draft);
                acts.push(TogetherCommand::Publish { channel: channel.name.clone(), message });
            }
        });
        ui.add_space(SPACE[0]);
    }
}

/// Who listens to a channel, each with a way to let it listen no more.
fn listeners(ui: &mut Ui, cx: &ViewerContext<'_>, channel: &ChannelView, acts: &mut Vec<TogetherCommand>) {
    if channel.listeners.is_empty() {
        ui.label(widgets::small("Nobody listens.", cx.theme));
        return;
    }
    ui.horizontal_wrapped(|ui| {
        for (agent, waits) in &channel.listeners {
            let called = cx.room.called(agent);
            let waits = if *waits > 0 { format!(" ({waits} wait)") } else { String::new() };
            let ends = ui.button(format!("{called}{waits} ×")).on_hover_text("Let it listen no more");
            widgets::name(&ends, format!("Let {called} listen to {} no more", channel.name));
            if ends.clicked() {
                let (channel, agent): (String, Id) = (channel.name.clone(), agent.clone());
                acts.push(TogetherCommand::Listen { channel, agent, listens: false });
            }
        }
    });
}

/// When something was, in the room's time.
fn when(tick: u64) -> String {
    let secs = tick / TICKS_PER_SEC;
    format!("at {}:{:02}", secs / 60, secs % 60)
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable;

    use super::*;
    use crate::ui::UiState;
    use crate::ui::testing::{Stage, pane_of, sample_room};
    use crate::view::together::TogetherView;

    const RUN: ActivationKey = ActivationKey::numbered(7);

    fn stage() -> egui_kittest::Harness<'static, Stage> {
        let mut room = sample_room();
        let entry = EntryView {
            key: "plan".into(),
            value: "count".into(),
            by: "ada-1".into(),
            tick: 90,
            version: 2,
            before: vec![(1, "ada-1".into(), 30, "think".into())],
            ..EntryView::default()
        };
        let board = BoardView {
            run: RUN,
            task: "Plan the party".into(),
            agent: Some("ada-1".into()),
            is_over: false,
            entries: vec![entry],
        };
        let channel = ChannelView {
            name: "findings".into(),
            listeners: vec![("bram-1".into(), 2)],
            messages: vec![(1, "ada-1".into(), "12 chairs".into())],
            counts: (1, 0, 0),
        };
        room.together = TogetherView { channels: vec![channel], boards: vec![board] }.into();
        let pane = std::cell::RefCell::new(BlackboardPane::default());
        pane_of(Stage::new(room, UiState::default()), move |ui, cx, _| pane.borrow_mut().show(ui, cx))
    }

    fn asked(window: &egui_kittest::Harness<'static, Stage>) -> Vec<TogetherCommand> {
        let of = |command: &Command| match command {
            Command::Act(RoomAct::Together(command), None) => Some(command.clone()),
            _ => None,
        };
        window.state().commands.iter().filter_map(of).collect()
    }

    #[test]
    fn what_stands_there_is_seen_with_who_wrote_it_and_what_it_said_before() {
        let mut window = stage();
        window.run();
        for text in ["plan", "count", "#findings", "12 chairs"] {
            assert!(window.query_by_label(text).is_some(), "{text}");
        }
        window.get_by_label("1 earlier value").click();
        window.run();
        assert!(window.query_by_label("think").is_some());
    }

    #[test]
    fn a_person_writes_takes_away_says_and_ends_listening() {
        let mut window = stage();
        window.run();
        window.get_by_label("Change plan").click();
        window.run();
        window.get_by_label("What plan says").focus();
        window.run();
        window.get_by_label("What plan says").type_text(" twice");
        window.run();
        window.get_by_label("Write").click();
        window.run();
        window.get_by_label("Take plan away").click();
        window.run();
        window.get_by_label("Let Bram listen to findings no more").click();
        window.run();
        let told = asked(&window);
        let TogetherCommand::Write { run: RUN, value: Some(value), seen: Some(2), .. } = &told[0] else {
            panic!("{told:?}")
        };
        assert!(value.contains("twice"), "{value}");
        let gone = TogetherCommand::Write { run: RUN, key: "plan".into(), value: None, shared: None, seen: Some(2) };
        let ends = TogetherCommand::Listen { channel: "findings".into(), agent: "bram-1".into(), listens: false };
        assert_eq!(told[1..], [gone, ends]);
    }
}
