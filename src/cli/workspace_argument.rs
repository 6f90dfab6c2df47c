//! Finds the workspace of a command, or creates it.
//!
//! A folder is a workspace if it has a `settings.yaml`. Without an argument, the current folder is used if it is one,
//! else `./my-workshop`, which `run` and the window create on first use. A given folder is made a workspace by `init`,
//! and by the window if it is empty; every other command fails if it is not one. Commands that do not open a window
//! also accept a folder that is an agent (has an `agent.mdx`).

use std::path::{Path, PathBuf};

use clap::Args;

use super::{CliError, output};
use crate::app::trust;
use crate::base::text::nearest;
use crate::gateway::Environment;
use crate::workspace::layout::{self, DEFAULT_FOLDER, SETTINGS_FILE, is_agent_folder, is_workspace};
use crate::workspace::starter::{self, ADOPTED_SCENE};

/// The workspace of a command, and its output format.
#[derive(Args)]
pub(super) struct InWorkspace {
    /// The workspace; defaults to the current folder
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// What a command does if there is no workspace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IfMissing {
    /// Fail.
    Fail,
    /// Create `./my-workshop` if no folder was given.
    CreateDefault,
    /// Create the given folder, too, if it is missing or empty. For the window, where a person sees what opens.
    Create,
}

/// Returns the workspace of a command, and creates it if `if_missing` allows that.
pub(super) fn workspace(named: Option<&Path>, if_missing: IfMissing) -> Result<PathBuf, CliError> {
    let folder = resolve_folder(named)?;
    // The window needs a scene, which an agent's folder has only once it is a workspace.
    let is_agent = named.is_some() && if_missing != IfMissing::Create && is_agent_folder(&folder);
    if is_workspace(&folder) || is_agent {
        return Ok(folder);
    }
    let may_create = match named {
        None => if_missing != IfMissing::Fail,
        Some(_) => if_missing == IfMissing::Create,
    };
    // `./my-workshop` may exist in part, after an interrupted creation; the starter kit never overwrites files.
    if !may_create {
        return Err(not_a_workspace(named, &folder));
    }
    if named.is_some() && !is_free(&folder) {
        return offer_to_adopt(folder.clone())?.ok_or_else(|| not_a_workspace(named, &folder));
    }
    if let Some(command) = named.and_then(command_like) {
        let hint = format!("did you mean the command: workshop {command}? for a folder of this name, use ./NAME");
        return Err(not_a_workspace(named, &folder).hint(hint));
    }
    let written = starter::init(&folder).map_err(CliError::failed)?.written;
    trust_created(&folder, &written);
    if output::stderr_is_terminal() {
        output::note(&format!("created a new workspace from the starter kit in {}", folder.display()));
    }
    Ok(folder)
}

/// Trusts a workspace that was just created. One with files from elsewhere stays restricted until the person decides.
pub(super) fn trust_created(folder: &Path, written: &[String]) {
    match trust::trust_created(folder, written, &Environment::of_process()) {
        Ok(true) => {}
        Ok(false) if written.is_empty() => {}
        Ok(false) => output::note(&format!(
            "{} has files from before, so it is restricted until you trust it: workshop trust {0}",
            folder.display()
        )),
        Err(problem) => output::note(&format!("the new workspace is not trusted yet: {problem}")),
    }
}

/// Turns a folder with other files into a workspace, if the person at the terminal agrees. It only gets settings and
/// one scene.
fn offer_to_adopt(folder: PathBuf) -> Result<Option<PathBuf>, CliError> {
    if !folder.is_dir() || !output::is_interactive() {
        return Ok(None);
    }
    let shown = folder.display();
    let question = format!(
        "{shown} is not a workspace yet. Make it one? This only writes {SETTINGS_FILE} and {ADOPTED_SCENE}. [y/N] "
    );
    if !output::confirm(&question)? {
        return Ok(None);
    }
    let written = starter::adopt(&folder).map_err(CliError::failed)?.written;
    trust_created(&folder, &written);
    output::note(&format!("import its agents with: workshop import --workspace {shown} {shown}"));
    Ok(Some(folder))
}

/// The folder of the argument or the default, whether or not it is a workspace.
pub(super) fn resolve_folder(named: Option<&Path>) -> Result<PathBuf, CliError> {
    let current = std::env::current_dir().map_err(|error| CliError::usage(format!("the current folder: {error}")))?;
    Ok(layout::find(named, &current))
}

/// Whether the folder is missing or empty.
fn is_free(folder: &Path) -> bool {
    match folder.symlink_metadata() {
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        Ok(_) => folder.read_dir().is_ok_and(|mut entries| entries.next().is_none()),
    }
}

fn not_a_workspace(named: Option<&Path>, folder: &Path) -> CliError {
    let shown = named.unwrap_or(folder).display();
    if !folder.exists() {
        let error = match named {
            Some(_) => CliError::usage(format!("no such folder: {shown}")),
            None => CliError::usage(format!("neither this folder nor {DEFAULT_FOLDER} is a workspace")),
        };
        return match named.and_then(command_like) {
            Some(command) => error.hint(format!("did you mean the command: workshop {command}?")),
            None => error.hint(format!("create a workspace with: workshop init {shown}")),
        };
    }
    if !folder.is_dir() {
        return CliError::usage(format!("{shown} is a file, but a workspace is a folder"));
    }
    CliError::usage(format!("{shown} is not a workspace: it has no settings.yaml"))
        .hint(format!("make it one with: workshop init {shown}; for settings and one scene only: init --bare {shown}"))
}

/// The subcommand that a mistyped workspace argument resembles.
fn command_like(named: &Path) -> Option<&'static str> {
    let word = named.to_str().filter(|word| !word.contains(['/', '\\', '.']))?;
    nearest(word, super::COMMANDS).filter(|command| *command != word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_command_is_recognized_and_a_path_is_not() {
        let like = |word: &str| command_like(Path::new(word));
        assert_eq!(like("docter"), Some("doctor"));
        assert_eq!(like("runn"), Some("run"));
        assert_eq!(like("aprovals"), Some("approvals"));
        assert_eq!((like("my-room"), like("./docter"), like("notes")), (None, None, None));
    }

    #[test]
    fn only_the_window_creates_a_given_folder_and_only_if_it_is_empty() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let named = folder.path().join("my-room");
        for if_missing in [IfMissing::Fail, IfMissing::CreateDefault] {
            assert!(workspace(Some(&named), if_missing).is_err() && !named.exists());
        }
        workspace(Some(&named), IfMissing::Create).expect("it can be made");
        assert!(is_workspace(&named));
        workspace(Some(&named), IfMissing::Fail).expect("it should be valid");
        let others = folder.path().join("notes");
        std::fs::create_dir(&others).expect("it can be made");
        std::fs::write(others.join("mine.txt"), "mine").expect("it can be written");
        assert!(workspace(Some(&others), IfMissing::Create).is_err() && !is_workspace(&others));
    }
}
