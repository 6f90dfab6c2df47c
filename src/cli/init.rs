//! `workshop init DIR`: writes the starter kit into a folder, without overwriting anything; or a starter workflow into
//! a workspace.

use std::path::{Path, PathBuf};

use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, output};
use crate::base::text::nearest;
use crate::workspace::{starter, workflow_templates};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The folder; it may exist. With --workflow, the workspace; defaults to the current folder
    #[arg(required_unless_present = "workflow")]
    dir: Option<PathBuf>,
    /// Write only settings and one scene, for a folder with its own files, such as a repository
    #[arg(long, conflicts_with = "workflow")]
    bare: bool,
    /// Add a starter workflow to a workspace: chain, fan-out, debate, review-loop
    #[arg(long, value_name = "NAME")]
    workflow: Option<String>,
}

pub(super) fn init(arguments: &Arguments) -> CliResult {
    let dir = arguments.dir.as_deref();
    match (&arguments.workflow, dir) {
        (Some(name), dir) => init_workflow(dir, name),
        (None, Some(dir)) => init_folder(dir, arguments.bare),
        (None, None) => Err(CliError::usage("no folder given").hint("try: workshop init my-workshop")),
    }
}

fn init_folder(dir: &Path, is_bare: bool) -> CliResult {
    let make = if is_bare { starter::adopt } else { starter::init };
    let written = make(dir).map_err(CliError::failed)?.written;
    workspace_argument::trust_created(dir, &written);
    let dir = dir.display();
    if written.is_empty() {
        output::note(&format!("{dir} is already complete; nothing was written"));
        return Ok(ExitStatus::Done);
    }
    output::result(&written.join("\n"))?;
    output::note(&format!("wrote {} files; now try: workshop run {dir} --for 10m", written.len()));
    Ok(ExitStatus::Done)
}

fn init_workflow(dir: Option<&Path>, name: &str) -> CliResult {
    let folder = workspace_argument::workspace(dir, IfMissing::Fail)?;
    let Some(template) = workflow_templates::find(name) else {
        let names: Vec<&str> = workflow_templates::all().iter().map(|template| template.name).collect();
        let error = CliError::usage(format!("no starter workflow is named {name:?}"));
        return Err(match nearest(name, names.iter().copied()) {
            Some(near) => error.hint(format!("did you mean {near:?}?")),
            None => error.hint(format!("available: {}", names.join(", "))),
        });
    };
    let done = workflow_templates::write(&folder, &template).map_err(CliError::failed)?;
    if !done.written.contains(&template.path()) {
        output::note(&format!("{} already exists; nothing was written", template.path()));
        return Ok(ExitStatus::Done);
    }
    output::result(&done.written.join("\n"))?;
    output::note(&format!("now try: workshop workflow run {name}"));
    Ok(ExitStatus::Done)
}
