//! `workshop import PATH…`: imports existing agents, skills and rules into a workspace, after a summary.

use std::path::PathBuf;

use serde_json::json;

use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, output};
use crate::app::importing::{self, Destination, Imported, Plan};
use crate::base::JobControl;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Files, folders or repositories to import: agents/, ~/.claude/agents, a project with AGENTS.md
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The workspace; defaults to the current folder
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Only print what would be imported and what would not
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn import(arguments: &Arguments) -> CliResult {
    let folder = workspace_argument::workspace(arguments.workspace.as_deref(), IfMissing::Fail)?;
    if let Some(gone) = arguments.paths.iter().find(|path| path.symlink_metadata().is_err()) {
        return Err(CliError::usage(format!("{} does not exist", gone.display())));
    }
    let plan = importing::plan(&folder, &arguments.paths, Destination::ByKind);
    let shows_at_once = !arguments.json || !imports_at_once(arguments, &plan);
    if arguments.json {
        if shows_at_once {
            output::json(&plan_json(&plan, None))?;
        }
    } else {
        output::result(&plan.summary().join("\n"))?;
    }
    if arguments.dry_run {
        return Ok(ExitStatus::Done);
    }
    if plan.is_empty() {
        let what = if plan.items.is_empty() { "nothing was imported" } else { "everything is already there" };
        output::note(what);
        return Ok(if plan.items.is_empty() { ExitStatus::Failed } else { ExitStatus::Done });
    }
    if !arguments.yes && !confirmed(arguments)? {
        output::note("nothing was imported");
        return Ok(ExitStatus::Done);
    }
    let imported = importing::import_files(&folder, &folder, &plan, &JobControl::default());
    if arguments.json {
        output::json(&plan_json(&plan, Some(&imported)))?;
    } else {
        output::note(&format!("imported {} files into {}", imported.files.len(), folder.display()));
    }
    let failed = imported.files.len() < plan.items.len();
    if failed {
        imported.problems.iter().for_each(|problem| output::note(&format!("problem: {problem}")));
    }
    Ok(if failed { ExitStatus::Failed } else { ExitStatus::Done })
}

/// Whether files are written without asking for confirmation.
fn imports_at_once(arguments: &Arguments, plan: &Plan) -> bool {
    arguments.yes && !plan.is_empty()
}

/// Asks for confirmation; fails without a terminal.
fn confirmed(arguments: &Arguments) -> Result<bool, CliError> {
    if arguments.json || !output::is_interactive() {
        let error = CliError::usage("nothing was imported: cannot ask for confirmation without a terminal");
        return Err(error.hint("import without confirmation with --yes, or preview with --dry-run"));
    }
    output::confirm("Import these? [y/N] ")
}

fn plan_json(plan: &Plan, imported: Option<&Imported>) -> serde_json::Value {
    json!({
        "items": plan.items,
        "left_out": plan.left_out,
        "other_files": plan.beside,
        "notes": plan.notes,
        "imported": imported.map(Imported::paths),
    })
}
