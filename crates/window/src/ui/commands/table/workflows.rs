//! Commands about workflows: the one selected in the file list, or all.

use super::info::{CommandContext, CommandInfo, Menu, UndoKind, of, window};
use crate::ui::commands::file_targets::{FileUse, FilesRow};
use crate::ui::commands::{Command, FilesCommand, GraphCommand, WindowCommand};
use crate::ui::state::dock::Tab;
use crate::ui::widgets::text_format;
use crate::view::workflows::WorkflowView;

/// Returns the workflow whose file is selected.
fn chosen<'a>(cx: &CommandContext<'a>) -> Option<&'a WorkflowView> {
    let is_one = cx.files.row == FilesRow::File && cx.files.used == FileUse::Workflow;
    cx.room.workflows.files.iter().find(|file| is_one && file.path == cx.files.path)
}

fn any_exist(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    if cx.room.workflows.files.is_empty() { Err("There are no workflows yet") } else { Ok(()) }
}

fn can_run(cx: &CommandContext<'_>) -> Result<(), &'static str> {
    match chosen(cx) {
        Some(file) if !file.problems.is_empty() => Err("It cannot run: its file has an error; see Check"),
        Some(_) => Ok(()),
        None => any_exist(cx),
    }
}

fn show(cx: &CommandContext<'_>, runs: bool) -> Vec<Command> {
    let path = chosen(cx).map(|file| file.path.clone());
    vec![Command::Show(Tab::GRAPH), GraphCommand::ShowWorkflow { path, runs }.into()]
}

/// Reports the problems of the selected workflow, or of all.
fn check(cx: &CommandContext<'_>) -> Vec<Command> {
    let all = || match chosen(cx) {
        Some(file) => std::slice::from_ref(file),
        None => &cx.room.workflows.files[..],
    };
    let mut problems = all().iter().flat_map(|file| &file.problems);
    let message = match (problems.next(), problems.count(), all()) {
        (None, _, [file]) => return window(WindowCommand::Tell(format!("{} can run.", file.name), true)),
        (None, _, all) => {
            let count = text_format::count(all.len(), "workflow", "workflows");
            return window(WindowCommand::Tell(format!("No problems in the {count}."), true));
        }
        (Some(first), 0, _) => first.clone(),
        (Some(first), more, _) => format!("{first} (and {} more)", text_format::count(more, "problem", "problems")),
    };
    window(WindowCommand::Tell(message, false))
}

fn new(template: &'static str) -> Vec<Command> {
    vec![Command::Show(Tab::FILES), FilesCommand::NewWorkflow(template).into()]
}

/// The workflow commands, in the order of menus.
pub(super) const COMMANDS: &[CommandInfo] = &[
    of("workflows.show", "Show and run workflows", |cx| show(cx, false))
        .menus(&[(Menu::Panes, "Workflows"), (Menu::WorkflowFile, "Open in graph")]),
    of("workflows.run", "Run a workflow", |cx| show(cx, true))
        .menus(&[(Menu::WorkflowFile, "Run…")])
        .only(can_run)
        .undone(UndoKind::Irreversible),
    of("workflows.check", "Check workflows", check).menus(&[(Menu::WorkflowFile, "Check")]).only(any_exist),
    of("workflows.new", "New workflow", |_| vec![Command::Show(Tab::FILES), FilesCommand::NewEmptyWorkflow.into()])
        .description("An empty workflow; draw its steps in the graph")
        .menus(&[(Menu::NewWorkflow, "Empty")])
        .undone(UndoKind::ByUndo),
    of("workflows.new_chain", "New workflow: chain", |_| new("chain"))
        .description("One agent after another")
        .menus(&[(Menu::NewWorkflow, "Chain")])
        .undone(UndoKind::ByUndo),
    of("workflows.new_fan_out", "New workflow: fan-out", |_| new("fan-out"))
        .description("Agents work on parts in parallel; one combines them")
        .menus(&[(Menu::NewWorkflow, "Fan-out")])
        .undone(UndoKind::ByUndo),
    of("workflows.new_debate", "New workflow: debate", |_| new("debate"))
        .description("Two agents argue and a third judges")
        .menus(&[(Menu::NewWorkflow, "Debate")])
        .undone(UndoKind::ByUndo),
    of("workflows.new_review_loop", "New workflow: review loop", |_| new("review-loop"))
        .description("An author and a reviewer work until it is approved")
        .menus(&[(Menu::NewWorkflow, "Review loop")])
        .undone(UndoKind::ByUndo),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::workflow_templates;

    #[test]
    fn every_template_has_a_command() {
        let commands: Vec<String> = COMMANDS
            .iter()
            .filter_map(|command| command.id.strip_prefix("workflows.new_"))
            .map(|name| name.replace('_', "-"))
            .collect();
        let mut sorted: Vec<&str> = commands.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        let templates: Vec<&str> = workflow_templates::all().iter().map(|template| template.name).collect();
        assert_eq!(sorted, templates);
    }
}
