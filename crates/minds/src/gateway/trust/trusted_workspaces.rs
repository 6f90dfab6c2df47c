//! Which workspaces a person trusts, and what in them: a small file for each in the config folder, never in the
//! workspace.
//!
//! A workspace is trusted with the widenings that the person saw ([`Widening`], by hash). Whatever is added later has no
//! effect until they look again. The file also lists the runs that this program began here, and those that the person
//! accepted: only their saved state is continued, because `.workshop/` may come from elsewhere like everything else.
//!
//! An open room follows the file, and adds to it what the person allows in the room (`trust_following`).

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::consent::name_of;
use super::personal_files::{Turn, read_small};
use crate::base::Problem;
use crate::text::yaml;
use crate::workspace::WorkspaceTrust;
use crate::workspace::trust::Widening;

/// The folder in the config folder.
const FOLDER: &str = "trusted-workspaces";
/// The ending of the files.
const ENDING: &str = "yaml";
/// The comment at the beginning of each file.
const HEAD: &str = "# What you trust of a workspace: workshop trust. Delete this file to be asked again.\n";
/// The number of newest runs in a saved room that must be known. Older ones were continued by these.
pub const MAX_RUNS: usize = 50;

/// What a person decided about a workspace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TrustedWorkspace {
    /// The path of the workspace, for the person who reads the file.
    path: String,
    /// Whether the workspace is trusted.
    pub is_trusted: bool,
    /// The hashes of the widenings that have an effect.
    pub parts: BTreeSet<String>,
    /// The runs that were begun on this computer while the workspace was not trusted, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runs: Vec<String>,
    /// The runs that were begun on this computer while the workspace was trusted, and those that the person accepted, the
    /// newest last. Older programs did not note them: without this list, the saved room is known that is there when the
    /// workspace is next opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    trusted_runs: Option<Vec<String>>,
}

impl TrustedWorkspace {
    /// What the room gets.
    pub fn trust(&self) -> WorkspaceTrust {
        match self.is_trusted {
            true => WorkspaceTrust::Parts { parts: self.parts.clone() },
            false => WorkspaceTrust::Nothing,
        }
    }

    /// The runs whose saved work continues; `None` if that of every run does.
    pub fn known_runs(&self) -> Option<&[String]> {
        if self.is_trusted { self.trusted_runs.as_deref() } else { Some(&self.runs) }
    }

    /// Adds a run that begins now. `history` is the newest runs in the saved room, the newest first.
    fn add_run(&mut self, run: &str, history: &[String]) {
        let runs = match self.is_trusted {
            true => self.trusted_runs.get_or_insert_with(|| oldest_first(history)),
            false => &mut self.runs,
        };
        runs.push(run.to_owned());
        keep_newest(runs, history);
    }

    /// Trusts it with these widenings, and everything that its runs saved. `history` is as for [`add_run`](Self::add_run).
    fn accept(&mut self, parts: BTreeSet<String>, history: &[String]) {
        // Another room may have begun a run since the person looked at the history.
        let noted = std::mem::take(&mut self.runs).into_iter().chain(self.trusted_runs.take().unwrap_or_default());
        let mut runs = oldest_first(history);
        for run in noted {
            if !runs.contains(&run) {
                runs.push(run);
            }
        }
        keep_newest(&mut runs, history);
        (self.is_trusted, self.parts, self.trusted_runs) = (true, parts, Some(runs));
    }
}

fn oldest_first(history: &[String]) -> Vec<String> {
    history.iter().rev().cloned().collect()
}

/// Keeps the runs that are in the history, and the newest of the others: they were never saved, or in a history that was
/// moved aside and may come back.
fn keep_newest(runs: &mut Vec<String>, history: &[String]) {
    let others = runs.iter().filter(|run| !history.contains(run)).count();
    let mut more = others.saturating_sub(MAX_RUNS);
    runs.retain(|run| {
        let is_dropped = more > 0 && !history.contains(run);
        more -= usize::from(is_dropped);
        !is_dropped
    });
}

/// Returns what the person decided about a workspace; nothing without a file. The problem says why it cannot be read,
/// and then nothing is trusted.
pub fn load(config_folder: Option<&Path>, workspace: &Path) -> Result<TrustedWorkspace, Problem> {
    let Some(config_folder) = config_folder else { return Ok(TrustedWorkspace::default()) };
    read(&file_of(config_folder, workspace))
}

fn read(file: &Path) -> Result<TrustedWorkspace, Problem> {
    let Some(text) = read_small(file)? else { return Ok(TrustedWorkspace::default()) };
    yaml::from_str(&text).map_err(|error| {
        let what = format!("cannot be read, so the workspace is not trusted: {error}");
        Problem::error(file.display().to_string(), what, "delete it, and decide again with: workshop trust")
    })
}

/// Returns the runs that were begun or accepted in all workspaces that the person trusts: one of these may have been
/// moved or copied.
pub fn runs_of_all(config_folder: Option<&Path>) -> BTreeSet<String> {
    let entries = config_folder.and_then(|folder| std::fs::read_dir(folder.join(FOLDER)).ok());
    let files = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let all = files.filter(|file| file.extension().is_some_and(|ending| ending == ENDING));
    // A file that cannot be read adds nothing.
    let trusted = all.filter_map(|file| read(&file).ok()).filter(|known| known.is_trusted);
    trusted.flat_map(|known| known.trusted_runs.unwrap_or_default()).collect()
}

/// Trusts a workspace with exactly these widenings, and with what was saved in it. `history` is the newest runs in the
/// saved room, the newest first. Returns the path of the file.
pub fn trust(
    config_folder: Option<&Path>,
    workspace: &Path,
    widenings: impl IntoIterator<Item = Widening>,
    history: &[String],
) -> Result<PathBuf, Problem> {
    let parts = widenings.into_iter().map(|widening| widening.hash()).collect();
    change(config_folder, workspace, |known| {
        // A file that cannot be read is replaced by the decision.
        let mut known = known.unwrap_or_default();
        known.accept(parts, history);
        Ok(Some(known))
    })
}

/// Trusts a workspace no longer. Returns the path of the file.
pub fn revoke(config_folder: Option<&Path>, workspace: &Path) -> Result<PathBuf, Problem> {
    change(config_folder, workspace, |_| Ok(Some(TrustedWorkspace::default())))
}

/// Notes that a run begins here. `history` is the newest runs in the saved room, the newest first.
pub fn note_run(
    config_folder: Option<&Path>,
    workspace: &Path,
    run: &str,
    history: &[String],
) -> Result<PathBuf, Problem> {
    let noted = change(config_folder, workspace, |known| {
        let mut known = known?;
        known.add_run(run, history);
        Ok(Some(known))
    });
    noted.map_err(|problem| {
        let what = format!("{}; the work of this run will wait for your trust once it is closed", problem.what);
        Problem { what, ..problem }
    })
}

/// Adds widenings, by hash, that the person allowed in the room, if the workspace is still trusted. Returns what is
/// trusted now.
pub(super) fn add_parts(
    config_folder: Option<&Path>,
    workspace: &Path,
    added: &BTreeSet<String>,
) -> Result<WorkspaceTrust, Problem> {
    let mut trust = WorkspaceTrust::Nothing;
    change(config_folder, workspace, |known| {
        let mut known = known?;
        let is_news = known.is_trusted && !added.is_subset(&known.parts);
        if is_news {
            known.parts.extend(added.iter().cloned());
        }
        trust = known.trust();
        Ok(is_news.then_some(known))
    })?;
    Ok(trust)
}

/// Changes the file about a workspace, while no other program does. Nothing is written if `change` returns nothing.
fn change(
    config_folder: Option<&Path>,
    workspace: &Path,
    change: impl FnOnce(Result<TrustedWorkspace, Problem>) -> Result<Option<TrustedWorkspace>, Problem>,
) -> Result<PathBuf, Problem> {
    let Some(config_folder) = config_folder else {
        let remedy = "set WORKSHOP_CONFIG_DIR to a folder that you own";
        return Err(Problem::error(FOLDER, "no folder for personal files was found on this computer", remedy));
    };
    let file = file_of(config_folder, workspace);
    let unkept = |error: &dyn Display| {
        let what = format!("cannot be written: {error}");
        Problem::error(file.display().to_string(), what, "check that the folder is writable")
    };
    let turn = Turn::take(&file).map_err(|error| unkept(&error))?;
    let Some(known) = change(read(&file))? else { return Ok(file) };
    let known = TrustedWorkspace { path: name_of(workspace), ..known };
    let text = serde_yaml::to_string(&known).map_err(|error| unkept(&error))?;
    turn.write(&format!("{HEAD}{text}")).map_err(|error| unkept(&error))?;
    Ok(file)
}

/// The file about a workspace, named after the hash of its path.
fn file_of(config_folder: &Path, workspace: &Path) -> PathBuf {
    let hash = blake3::hash(name_of(workspace).as_bytes()).to_hex();
    config_folder.join(FOLDER).join(format!("{}.{ENDING}", &hash[..32]))
}

/// The file about the open workspace, which the room follows and adds to. Absent if the person trusts everything for
/// this run, and on replay.
#[derive(Resource, Clone, PartialEq, Eq, Debug)]
pub struct TrustFile {
    config_folder: Option<PathBuf>,
    workspace: PathBuf,
    stamp: Option<(std::time::SystemTime, u64)>,
}

impl TrustFile {
    /// The file about a workspace, as it is now.
    pub fn of(config_folder: Option<&Path>, workspace: &Path) -> Self {
        let mut file =
            Self { config_folder: config_folder.map(Path::to_owned), workspace: workspace.to_owned(), stamp: None };
        file.stamp = file.stamp_now();
        file
    }

    /// The workspace that it is about.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Returns what is trusted, if the file has changed since this last looked. A file that cannot be read trusts nothing.
    pub(in crate::gateway) fn look(&mut self) -> Option<WorkspaceTrust> {
        let stamp = self.stamp_now();
        if stamp == self.stamp {
            return None;
        }
        self.stamp = stamp;
        let known = load(self.config_folder.as_deref(), &self.workspace).unwrap_or_else(|problem| {
            tracing::warn!("the workspace is restricted: {problem}");
            TrustedWorkspace::default()
        });
        Some(known.trust())
    }

    /// Adds widenings that the person allowed in the room. Returns what is trusted now; nothing if that is unknown.
    pub(in crate::gateway) fn add(&mut self, added: &BTreeSet<String>) -> Option<WorkspaceTrust> {
        match add_parts(self.config_folder.as_deref(), &self.workspace, added) {
            Ok(trust) => Some(trust),
            Err(problem) => {
                tracing::warn!("what you allowed in the room must be trusted again after it is closed: {problem}");
                None
            }
        }
    }

    fn stamp_now(&self) -> Option<(std::time::SystemTime, u64)> {
        let metadata = std::fs::metadata(file_of(self.config_folder.as_deref()?, &self.workspace)).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    }
}

#[cfg(test)]
#[path = "trusted_workspaces_tests.rs"]
mod tests;
