//! Slash commands of coding agents, suggested wherever a task for one is typed: in the inspector, in the bar below the
//! room and in the palette. A slash command goes to the very start of the prompt.

use egui::Ui;

use crate::mind::OwnCommand;
use crate::ui::ViewerContext;

/// The maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 6;

/// Returns the commands whose names begin with the draft; none once the draft goes beyond a command name.
fn matching<'a>(commands: &'a [OwnCommand], draft: &str) -> Vec<&'a OwnCommand> {
    let Some(prefix) = draft.strip_prefix('/').filter(|prefix| !prefix.contains(char::is_whitespace)) else {
        return Vec::new();
    };
    let prefix = prefix.to_lowercase();
    let matches = commands.iter().filter(|command| command.name.to_lowercase().starts_with(&prefix));
    matches.take(MAX_SUGGESTIONS).collect()
}

/// Returns the slash commands that a coding agent announced last; empty for other agents.
pub fn known<'a>(cx: &ViewerContext<'a>, agent: &str) -> &'a [OwnCommand] {
    cx.recent.own_commands.get(agent).map_or(&[][..], Vec::as_slice)
}

/// Returns the text with which a task for this command begins.
pub fn task_prefix(command: &OwnCommand) -> String {
    format!("/{} ", command.name)
}

/// Whether there are suggestions for this draft.
pub fn has_suggestions(commands: &[OwnCommand], draft: &str) -> bool {
    !matching(commands, draft).is_empty()
}

/// Draws the suggestions; a clicked one replaces the draft. Returns whether one was clicked.
pub fn suggestions_ui(ui: &mut Ui, commands: &[OwnCommand], draft: &mut String) -> bool {
    let mut chosen = None;
    for command in matching(commands, draft) {
        if ui.button(format!("/{}", command.name)).on_hover_text(&command.about).clicked() {
            chosen = Some(task_prefix(command));
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
    fn commands_are_suggested_by_prefix_until_one_is_complete() {
        let commands =
            ["review", "Report", "test"].map(|name| OwnCommand { name: name.into(), ..OwnCommand::default() });
        let names = |draft: &str| matching(&commands, draft).iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        assert_eq!(names("/"), ["review", "Report", "test"]);
        assert_eq!(names("/re"), ["review", "Report"]);
        assert!(names("/review it").is_empty() && names("review").is_empty() && names("").is_empty());
    }
}
