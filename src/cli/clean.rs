//! `workshop clean [WORKSPACE]`: resets the workspace to its state before anybody worked in it.

use std::path::PathBuf;

use serde_json::json;

use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, output};
use crate::app::opening::state_folder;
use crate::workspace::cleaning::{Cleaned, Cleaning, complete_interrupted};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The workspace; defaults to the current folder
    workspace: Option<PathBuf>,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    /// Print the moved files and their new location as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn clean(arguments: &Arguments) -> CliResult {
    let folder = workspace_argument::workspace(arguments.workspace.as_deref(), IfMissing::Fail)?;
    let state = state_folder(&folder);
    if let Some(cleaned) = complete_interrupted(&folder, &state).map_err(CliError::failed)? {
        output::note(&format!("completed an interrupted cleaning; what it moved is in {}", cleaned.aside));
        report_left(&cleaned);
    }
    let plan = Cleaning::plan(&folder, &state).map_err(CliError::failed)?;
    let aside = if plan.is_empty() || !is_wanted(&plan, arguments.yes)? {
        None
    } else {
        let cleaned = plan.carry_out(&folder, &state).map_err(CliError::failed)?;
        report_left(&cleaned);
        Some(cleaned.aside)
    };
    for path in &plan.stays {
        output::note(&format!("kept {path}: agents changed it, and its earlier text is no longer stored"));
    }
    if arguments.json {
        let put_back: Vec<&str> = plan.put_back.iter().map(|(path, _)| path.as_str()).collect();
        output::json(&json!({
            "aside": aside, "files": plan.aside, "put_back": put_back, "stays": plan.stays,
        }))?;
    }
    match aside {
        Some(aside) => {
            let (count, back) = (plan.aside.len(), plan.put_back.len());
            output::note(&format!("moved {count} files to {aside}; restored {back} of them to their earlier text"));
            Ok(ExitStatus::Done)
        }
        None if plan.is_empty() => {
            output::note("nothing to clean");
            Ok(ExitStatus::Done)
        }
        None => Ok(ExitStatus::Waiting),
    }
}

fn report_left(cleaned: &Cleaned) {
    for path in &cleaned.left {
        output::note(&format!("left {path} alone: it was changed in the meantime"));
    }
}

/// Prints what would change, and asks for confirmation unless `yes` (`--yes`).
fn is_wanted(plan: &Cleaning, yes: bool) -> Result<bool, CliError> {
    if yes {
        return Ok(true);
    }
    let is_put_back = |path: &&String| plan.put_back.iter().any(|(back, _)| back == *path);
    for path in &plan.aside {
        let what = if is_put_back(&path) { "restore the text from before agents changed it" } else { "move aside" };
        output::note(&format!("{path}: {what}"));
    }
    if !output::is_interactive() {
        output::note("nothing was changed; confirm with: workshop clean --yes");
        return Ok(false);
    }
    output::confirm("Continue? Nothing is deleted. [y/N] ")
}
