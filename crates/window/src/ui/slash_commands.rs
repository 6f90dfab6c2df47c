//! The slash commands of a coding agent, suggested wherever a task for it is typed: in the inspector, in the bar below
//! the room and in the palette. A task that is such a command is put before everything else in the prompt.

use egui::Ui;

use crate::mind::OwnCommand;
use crate::ui::ViewerContext;

/// Commands that are offered at once.
const OFFERED_AT_MOST: usize = 6;

/// The commands that begin with the present text. None once one is complete.
fn meant<'a>(commands: &'a [OwnCommand], draft: &str) -> Vec<&'a OwnCommand> {
    let Some(begun) = draft.strip_prefix('/').filter(|begun| !begun.contains(char::is_whitespace)) else {
        return Vec::new();
    };
    let begun = begun.to_lowercase();
    let fits = commands.iter().filter(|command| command.name.to_lowercase().starts_with(&begun));
    fits.take(OFFERED_AT_MOST).collect()
}

/// Those of an agent, as it told of them last; none where it is no coding agent, or told of none.
pub fn known<'a>(cx: &ViewerContext<'a>, agent: &str) -> &'a [OwnCommand] {
    cx.recent.own_commands.get(agent).map_or(&[][..], Vec::as_slice)
}

/// How a task begins that is this command.
pub fn begun(command: &OwnCommand) -> String {
    format!("/{} ", command.name)
}

/// Whether something is offered for what stands there so far.
pub fn are_offered(commands: &[OwnCommand], draft: &str) -> bool {
    !meant(commands, draft).is_empty()
}

/// Draws those that may be meant; one that is chosen is put into the draft. Whether one was.
pub fn suggestions_ui(ui: &mut Ui, commands: &[OwnCommand], draft: &mut String) -> bool {
    let mut chosen = None;
    for command in meant(commands, draft) {
        if ui.button(format!("/{}", command.name)).on_hover_text(&command.about).clicked() {
            chosen = Some(begun(command));
        }
    }
    let is_chosen = chosen.is_some();
    if let Some(chosen) = chosen {
        *draft = chosen;
    }
    is_chosen
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
