//! `workshop trust`: shows what a workspace wants to be allowed and what would start by itself, and trusts it.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, output};
use crate::app::trust::{is_trusted_by_variable, page_of};
use crate::base::Problem;
use crate::gateway::{Environment, trusted_workspaces};

#[derive(Args)]
pub(super) struct Arguments {
    /// The workspace; defaults to the current folder
    workspace: Option<PathBuf>,
    /// Trust it without asking for confirmation
    #[arg(long, conflicts_with = "revoke")]
    yes: bool,
    /// Trust it no longer
    #[arg(long)]
    revoke: bool,
    /// Print the page as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn trust(arguments: &Arguments) -> CliResult {
    let folder = workspace_argument::workspace(arguments.workspace.as_deref(), IfMissing::Fail)?;
    let folder = folder.canonicalize().unwrap_or(folder);
    let environment = Environment::of_process();
    if arguments.revoke {
        return revoke(arguments, &folder, &environment);
    }
    let page = page_of(&folder, &environment).map_err(failed)?;
    if page.is_settled() {
        if arguments.json {
            output::json(&json!({ "page": page, "trusted": true }))?;
        } else {
            output::result(&format!("you trust {}; {}", folder.display(), page.lines().join("\n")))?;
        }
        return Ok(ExitStatus::Done);
    }
    if !arguments.json {
        output::result(&format!("{}\n\n{}", folder.display(), page.lines().join("\n")))?;
    }
    let is_agreed = arguments.yes || (output::is_interactive() && output::confirm("\nTrust this workspace? [y/N] ")?);
    let file = is_agreed.then(|| page.accept(environment.config_folder()).map_err(failed)).transpose()?;
    if arguments.json {
        output::json(&json!({ "page": page, "trusted": is_agreed }))?;
    } else if let Some(file) = &file {
        output::note(&format!("trusted with exactly this; saved in {}", file.display()));
    } else {
        output::note(
            "not trusted: agents ask before everything, and nothing starts by itself. Trust it with: workshop trust --yes",
        );
    }
    Ok(if is_agreed { ExitStatus::Done } else { ExitStatus::Waiting })
}

/// Asks a person at a terminal once whether they trust a workspace that is about to be opened. If they do not, it is
/// opened restricted.
pub(super) fn offer(folder: &Path) -> Result<(), CliError> {
    if !output::is_interactive() || is_trusted_by_variable() {
        return Ok(());
    }
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let environment = Environment::of_process();
    let page = page_of(&folder, &environment).map_err(failed)?;
    let question = match (page.trusted, page.has_unknown_room) {
        (true, false) => return Ok(()),
        (true, true) => "Trust this, too? Otherwise the saved room is not opened. [y/N] ",
        (false, _) => "Trust this workspace? Otherwise agents ask before everything. [y/N] ",
    };
    let whole = if page.trusted { "all of " } else { "" };
    output::note(&format!("You have not trusted {whole}{} yet.\n{}\n", folder.display(), page.lines().join("\n")));
    if output::confirm(question)? {
        page.accept(environment.config_folder()).map_err(failed)?;
    }
    Ok(())
}

fn revoke(arguments: &Arguments, folder: &Path, environment: &Environment) -> CliResult {
    trusted_workspaces::revoke(environment.config_folder(), folder).map_err(failed)?;
    if arguments.json {
        output::json(&json!({ "trusted": false }))?;
    } else {
        output::result(&format!("{} is not trusted any more", folder.display()))?;
    }
    Ok(ExitStatus::Done)
}

fn failed(problem: Problem) -> CliError {
    CliError::failed(format!("{}: {}", problem.place, problem.what)).hint(problem.remedy)
}
