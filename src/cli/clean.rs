//! `workshop clean [WORKSPACE]`: the workspace as it was before anybody worked in it, to begin once more.

use std::path::PathBuf;

use serde_json::json;

use super::place::{self, Absent};
use super::{Complaint, Ending, Outcome, output};
use crate::app::opening::state_folder;
use crate::workspace::cleaning::Cleaning;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The workspace, if not the current folder
    workspace: Option<PathBuf>,
    /// Do it without asking
    #[arg(long)]
    yes: bool,
    /// Print what is put aside and where as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn clean(arguments: &Arguments) -> Outcome {
    let folder = place::workspace(arguments.workspace.as_deref(), Absent::Refuse)?;
    let state = state_folder(&folder);
    let plan = Cleaning::plan(&folder, &state).map_err(Complaint::failed)?;
    let aside = if plan.is_nothing() || !is_wanted(&plan, arguments.yes)? {
        None
    } else {
        Some(plan.carry_out(&folder, &state).map_err(Complaint::failed)?)
    };
    for path in &plan.stays {
        output::note(&format!("{path} stays: agents wrote it, and its earlier text is not kept any more"));
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
            output::note(&format!("put {count} files aside, in {aside}; {back} of them stand as they were before"));
            Ok(Ending::Done)
        }
        None if plan.is_nothing() => {
            output::note("nobody has worked here; there is nothing to clean");
            Ok(Ending::Done)
        }
        None => Ok(Ending::Waiting),
    }
}

/// Whether the person wants it, who sees what it comes to.
fn is_wanted(plan: &Cleaning, is_said: bool) -> Result<bool, Complaint> {
    if is_said {
        return Ok(true);
    }
    let is_put_back = |path: &&String| plan.put_back.iter().any(|(back, _)| back == *path);
    for path in &plan.aside {
        let what = if is_put_back(&path) { "as it was before agents wrote it" } else { "put aside" };
        output::note(&format!("{path}: {what}"));
    }
    if !output::can_be_asked() {
        output::note("nothing was done; do it with: workshop clean --yes");
        return Ok(false);
    }
    output::confirm("Do this? Nothing is deleted. [y/N] ")
}
