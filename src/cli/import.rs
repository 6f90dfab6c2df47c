//! `workshop import PATH…`: imports existing agents, skills and rules into a workspace, after a summary.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, output};
use crate::app::importing::{self, Destination, Imported, Plan};
use crate::app::trust;
use crate::base::JobControl;
use crate::gateway::Environment;
use crate::gateway::aliases::MODELS;

/// The maximum number of waiting files that are named; the rest is counted.
const MAX_NAMED: usize = 5;

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
    note_waiting(&folder, &imported);
    let failed = imported.files.len() < plan.items.len();
    if failed {
        imported.problems.iter().for_each(|problem| output::note(&format!("problem: {problem}")));
    }
    Ok(if failed { ExitStatus::Failed } else { ExitStatus::Done })
}

/// Says which of the imported files have no effect yet, as far as they want to be allowed something. A workspace that is
/// not trusted says so itself.
fn note_waiting(folder: &Path, imported: &Imported) {
    let page = match trust::page_of(folder, &Environment::of_process()) {
        Ok(page) if page.trusted => page,
        Ok(_) => return,
        Err(problem) => return output::note(&format!("problem: {problem}")),
    };
    let paths = imported.paths();
    let is_imported = |place: &str| paths.contains(&place) || place == MODELS;
    let waiting: BTreeSet<&str> =
        page.new.iter().map(|widening| &*widening.place).filter(|place| is_imported(place)).collect();
    if !waiting.is_empty() {
        let named: Vec<&str> = waiting.iter().copied().take(MAX_NAMED).collect();
        let more = waiting.len() - named.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        output::note(&format!(
            "what these want to be allowed has no effect until you trust it: {}{more}; decide with: workshop trust {}",
            named.join(", "),
            folder.display()
        ));
    }
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
