//! The commands that a coding agent knows, offered where it is told what to do, as soon as that begins with a stroke.

use egui::Ui;

use crate::mind::OwnCommand;
use crate::ui::widgets;
use crate::view::theme::Theme;

/// Commands that are offered at once.
const OFFERED_AT_MOST: usize = 6;

/// The commands that may be meant by what stands there so far: those that begin so. None once one is written out.
fn meant<'a>(commands: &'a [OwnCommand], draft: &str) -> Vec<&'a OwnCommand> {
    let Some(begun) = draft.strip_prefix('/').filter(|begun| !begun.contains(char::is_whitespace)) else {
        return Vec::new();
    };
    let begun = begun.to_lowercase();
    let fits = commands.iter().filter(|command| command.name.to_lowercase().starts_with(&begun));
    fits.take(OFFERED_AT_MOST).collect()
}

/// Draws them; one that is chosen is put into the draft.
pub(super) fn suggestions_ui(ui: &mut Ui, commands: &[OwnCommand], draft: &mut String, theme: &Theme) {
    if draft.is_empty() && !commands.is_empty() {
        ui.label(widgets::small("It knows commands of its own: begin with /", theme));
    }
    let mut chosen = None;
    for command in meant(commands, draft) {
        let label = format!("/{}", command.name);
        let button = ui.button(&label).on_hover_text(&command.about);
        if button.clicked() {
            chosen = Some(format!("{label} "));
        }
    }
    if let Some(chosen) = chosen {
        *draft = chosen;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_offered_by_how_they_begin_until_one_is_written_out() {
        let commands =
            ["review", "Report", "test"].map(|name| OwnCommand { name: name.into(), ..OwnCommand::default() });
        let names = |draft: &str| meant(&commands, draft).iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        assert_eq!(names("/"), ["review", "Report", "test"]);
        assert_eq!(names("/re"), ["review", "Report"]);
        assert!(names("/review it").is_empty() && names("review").is_empty() && names("").is_empty());
    }
}
