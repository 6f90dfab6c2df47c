//! `workshop allow-address`: lets a workspace call models at an address that is only set by its own settings.

use std::path::PathBuf;

use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, output};
use crate::gateway::Environment;
use crate::gateway::consent;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The address, such as `https://models.example.com`
    address: String,
    /// The workspace; defaults to the current folder
    workspace: Option<PathBuf>,
}

pub(super) fn allow(arguments: &Arguments) -> CliResult {
    let folder = workspace_argument::workspace(arguments.workspace.as_deref(), IfMissing::Fail)?;
    let environment = Environment::of_process();
    let (origin, file) = consent::allow(environment.config_folder(), &folder, &arguments.address)
        .map_err(|problem| CliError::failed(problem.what).hint(problem.remedy))?;
    let with = if origin.is_encrypted() || origin.is_loopback() { "with" } else { "without" };
    let (folder, file) = (folder.display(), file.display());
    output::result(&format!("{folder} may call models at {origin}, {with} your keys; saved in {file}"))?;
    Ok(ExitStatus::Done)
}
