//! The overlay of elements without a special one: their content and the commands of their kind.

use egui::{ScrollArea, Ui};
use serde_json::{Map, Value};

use super::{Overlays, edit, texts};
use crate::element::ElementAct;
use crate::element::kinds::kind;
use crate::ui::Command;
use crate::ui::commands::markdown;
use crate::ui::widgets;
use crate::view::model::ElementView;
use crate::view::theme::{SPACE, Theme};

/// The maximum number of characters laid out.
const TEXT_CHARS: usize = 20_000;
/// The height reserved for the commands below the text.
const ACTS_HEIGHT: f32 = 120.0;

pub(super) fn other_ui(
    ui: &mut Ui,
    element: &ElementView,
    text: &str,
    theme: &Theme,
    overlays: &mut Overlays,
    commands: &mut Vec<Command>,
) {
    let height = (ui.available_height() - ACTS_HEIGHT).max(80.0);
    ScrollArea::vertical().max_height(height).auto_shrink(false).show(ui, |ui| {
        if text.trim().is_empty() {
            ui.label(widgets::secondary_text(texts::EMPTY, theme));
        } else {
            widgets::long_text(ui, &element.id, text, TEXT_CHARS, |ui, text| markdown(ui, text, theme, commands));
        }
    });
    for act in kind(&element.kind).map_or(&[][..], |kind| kind.acts) {
        let Some(offer) = act.offer else { continue };
        let name = format!("{} on {}", act.word, element.id);
        ui.add_space(SPACE[0]);
        let draft = overlays.drafts.entry(name).or_default();
        widgets::field(ui, draft, offer.hint, offer.hint);
        let is_written = !draft.trim().is_empty();
        if widgets::primary(ui, is_written, offer.button, theme).clicked() && is_written {
            let arguments = Map::from_iter([(offer.argument.to_owned(), Value::from(draft.trim()))]);
            commands.push(Command::Act(edit(&element.id, ElementAct::new(act.word, arguments)), None));
            draft.clear();
        }
    }
}
