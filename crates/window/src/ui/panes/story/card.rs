//! The card of a story entry: what happened, when and why, with links to the log, the file and the conversation.

use egui::{Label, RichText, Ui};

use super::story_model::Step;
use super::texts;
use crate::base::Seq;
use crate::ui::Command;
use crate::ui::commands::LogCommand;
use crate::ui::context::ViewerContext;
use crate::ui::panes::event_log::cause_chain;
use crate::ui::state::dock::Tab;
use crate::ui::widgets;
use crate::view::dates::simulated;
use crate::view::event_text::{Names, sentence};
use crate::view::theme::{MENU, SPACE, TYPE};

/// The maximum number of causes on the card; the log has all of them.
const MAX_CAUSES: usize = 4;
/// The maximum number of agents that are named.
const MAX_NAMES: usize = 8;

/// Draws the card.
pub(super) fn card_ui(ui: &mut Ui, cx: &ViewerContext<'_>, step: &Step, names: &Names, commands: &mut Vec<Command>) {
    let (theme, book, row) = (cx.theme, &cx.recent.book, &step.row);
    widgets::apply_style(ui.style_mut(), theme);
    ui.set_width(MENU[2]);
    ui.spacing_mut().item_spacing.y = SPACE[0];
    ui.add(Label::new(RichText::new(sentence(row, names)).size(TYPE[1])).wrap());
    ui.label(widgets::small(simulated(row.tick), theme));
    if step.actors.len() > 1 {
        let called: Vec<&str> = step.actors.iter().take(MAX_NAMES).map(|id| names.called(id)).collect();
        let more = step.actors.len().saturating_sub(MAX_NAMES);
        ui.add(Label::new(widgets::small(texts::who(&called.join(", "), more, !step.has_more()), theme)).wrap());
    }
    widgets::section(ui, texts::BECAUSE_OF, theme);
    let (causes, end) = cause_chain::causes(book, row, names);
    for cause in causes.iter().take(MAX_CAUSES) {
        let text = RichText::new(&cause.text).size(TYPE[0]).color(theme.accent);
        let link = ui.add(egui::Button::new(text).frame(false).wrap());
        widgets::name(&link, texts::because_of_record(cause.seq, &cause.text));
        if link.on_hover_text(texts::SHOW_CAUSE_TIP).clicked() {
            show_record(ui, cause.seq, commands);
        }
    }
    if causes.is_empty() {
        ui.label(widgets::small(cause_chain::chain_end_text(end), theme));
    }
    ui.add_space(SPACE[0]);
    ui.horizontal_wrapped(|ui| {
        if ui.button(texts::SHOW_IN_THE_LOG).clicked() {
            show_record(ui, row.seq, commands);
        }
        if let Some(path) = &row.path
            && ui.button(texts::SHOW_FILE).on_hover_text(&**path).clicked()
        {
            commands.push(Command::OpenFile(path.to_string(), None));
            ui.close();
        }
    });
}

/// Shows a record in the log of the current run.
fn show_record(ui: &Ui, seq: Seq, commands: &mut Vec<Command>) {
    commands.push(LogCommand::ShowRecord(seq).into());
    commands.push(Command::Show(Tab::LOG));
    ui.close();
}
