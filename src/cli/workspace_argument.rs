//! Which folder a command works on, and which commands create a workspace if there is none.
//!
//! A folder is a workspace if it has a `settings.yaml`. Without an argument, the current folder is used if it is one,
//! else `./my-workshop`, which `run` and the window create on first use. A given folder is made a workspace by `init`,
//! and by the window if it is empty; every other command reports that it is not a workspace. A folder that is an agent
//! by itself, as its `agent.mdx` says, is accepted by commands that do not open a window.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{Complaint, output};
use crate::base::text::nearest;
use crate::workspace::layout::{self, DEFAULT_FOLDER, SETTINGS_FILE, is_agent_folder, is_workspace};
use crate::workspace::starter::{self, ADOPTED_SCENE};

/// In which workspace a command works, and how it prints what comes of it.
#[derive(Args)]
pub(super) struct InWorkspace {
    /// The workspace; defaults to the current folder
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// What a command does without a workspace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Absent {
    /// It says so.
    Refuse,
    /// It makes `./my-workshop` where no folder given.
    MakeDefault,
    /// It creates the named folder, too, if nothing is there yet: a person sees what opens.
    Make,
}

/// The workspace that a command works on.
pub(super) fn workspace(named: Option<&Path>, absent: Absent) -> Result<PathBuf, Complaint> {
    let folder = meant(named)?;
    // The window draws a scene, which an agent's folder gets once it is a workspace.
    let is_agent = named.is_some() && absent != Absent::Make && is_agent_folder(&folder);
    if is_workspace(&folder) || is_agent {
        return Ok(folder);
    }
    let may_make = match named {
        None => absent != Absent::Refuse,
        Some(_) => absent == Absent::Make,
    };
    // The kit in the usual place may be there in part, where its making was cut off; it never overwrites.
    if !may_make {
        return Err(no_workspace(named, &folder));
    }
    if named.is_some() && !is_free(&folder) {
        return adopted(folder.clone())?.ok_or_else(|| no_workspace(named, &folder));
    }
    if let Some(command) = named.and_then(command_like) {
        let hint = format!("did you mean the command: workshop {command}? for a folder of this name, use ./NAME");
        return Err(no_workspace(named, &folder).hint(hint));
    }
    starter::init(&folder).map_err(Complaint::failed)?;
    if output::is_watched() {
        output::note(&format!("created a new workspace from the starter kit in {}", folder.display()));
    }
    Ok(folder)
}

/// Turns a folder with other files into a workspace, if the person at the terminal agrees: it gets its settings and one
/// scene, and everything else stays as it is.
fn adopted(folder: PathBuf) -> Result<Option<PathBuf>, Complaint> {
    if !folder.is_dir() || !output::can_be_asked() {
        return Ok(None);
    }
    let shown = folder.display();
    let question = format!(
        "{shown} is not a workspace yet. Make it one? This only writes {SETTINGS_FILE} and {ADOPTED_SCENE}. [y/N] "
    );
    if !output::confirm(&question)? {
        return Ok(None);
    }
    starter::adopt(&folder).map_err(Complaint::failed)?;
    output::note(&format!("import its agents with: workshop import --workspace {shown} {shown}"));
    Ok(Some(folder))
}

/// The folder that is meant, whether or not it is a workspace.
pub(super) fn meant(named: Option<&Path>) -> Result<PathBuf, Complaint> {
    let current = std::env::current_dir().map_err(|error| Complaint::usage(format!("the current folder: {error}")))?;
    Ok(layout::find(named, &current))
}

/// Whether nothing is lost if a workspace is written there: nothing exists, or an empty folder.
fn is_free(folder: &Path) -> bool {
    match folder.symlink_metadata() {
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        Ok(_) => folder.read_dir().is_ok_and(|mut entries| entries.next().is_none()),
    }
}

fn no_workspace(named: Option<&Path>, folder: &Path) -> Complaint {
    let shown = named.unwrap_or(folder).display();
    if !folder.exists() {
        let complaint = match named {
            Some(_) => Complaint::usage(format!("no such folder: {shown}")),
            None => Complaint::usage(format!("neither this folder nor {DEFAULT_FOLDER} is a workspace")),
        };
        return match named.and_then(command_like) {
            Some(command) => complaint.hint(format!("did you mean the command: workshop {command}?")),
            None => complaint.hint(format!("create a workspace with: workshop init {shown}")),
        };
    }
    if !folder.is_dir() {
        return Complaint::usage(format!("{shown} is a file, but a workspace is a folder"));
    }
    Complaint::usage(format!("{shown} is not a workspace: it has no settings.yaml"))
        .hint(format!("make it one with: workshop init {shown}; for settings and one scene only: init --bare {shown}"))
}

/// The command that was meant by a single word in the place of a folder.
fn command_like(named: &Path) -> Option<&'static str> {
    let word = named.to_str().filter(|word| !word.contains(['/', '\\', '.']))?;
    nearest(word, super::COMMANDS).filter(|command| *command != word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_command_is_known_and_a_path_is_none() {
        let like = |word: &str| command_like(Path::new(word));
        assert_eq!(like("docter"), Some("doctor"));
        assert_eq!(like("runn"), Some("run"));
        assert_eq!(like("aprovals"), Some("approvals"));
        assert_eq!((like("my-room"), like("./docter"), like("notes")), (None, None, None));
    }

    #[test]
    fn a_named_folder_is_made_where_a_person_sees_what_comes_up_and_nothing_is_there() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let named = folder.path().join("my-room");
        for absent in [Absent::Refuse, Absent::MakeDefault] {
            assert!(workspace(Some(&named), absent).is_err() && !named.exists());
        }
        workspace(Some(&named), Absent::Make).expect("it can be made");
        assert!(is_workspace(&named));
        workspace(Some(&named), Absent::Refuse).expect("it should be valid");
        let others = folder.path().join("notes");
        std::fs::create_dir(&others).expect("it can be made");
        std::fs::write(others.join("mine.txt"), "mine").expect("it can be written");
        assert!(workspace(Some(&others), Absent::Make).is_err() && !is_workspace(&others));
    }
}
