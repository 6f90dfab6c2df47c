//! A channel as the pane shows it: who listens, what was said last, and a field to say something.

use egui::Ui;

use super::entries::title;
use super::{Acts, BlackboardPane};
use crate::base::Id;
use crate::orchestration::TogetherCommand;
use crate::ui::context::ViewerContext;
use crate::ui::widgets;
use crate::ui::widgets::words;
use crate::view::theme::SPACE;
use crate::view::together::ChannelView;

impl BlackboardPane {
    /// Shows a channel.
    pub(super) fn channel(&mut self, ui: &mut Ui, cx: &ViewerContext<'_>, channel: &ChannelView, acts: &mut Acts) {
        let theme = cx.theme;
        widgets::in_card(ui, theme, |ui| {
            let (said, delivered, bounced) = channel.counts;
            let mut counts =
                format!("{}, delivered {delivered} times", words::count(said as usize, "message", "messages"));
            if bounced > 0 {
                counts += &format!(", {bounced} refused because it was full");
            }
            let name = format!("#{}", channel.name);
            title(ui, &name);
            ui.label(widgets::small(counts, theme));
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
                acts.push((TogetherCommand::Publish { channel: channel.name.clone(), message }, None));
            }
        });
        ui.add_space(SPACE[0]);
    }
}

/// Who listens to a channel, each with a way to let it listen no more.
fn listeners(ui: &mut Ui, cx: &ViewerContext<'_>, channel: &ChannelView, acts: &mut Acts) {
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
                let back = TogetherCommand::Listen { channel: channel.clone(), agent: agent.clone(), listens: true };
                acts.push((TogetherCommand::Listen { channel, agent, listens: false }, Some(back)));
            }
        }
    });
}
