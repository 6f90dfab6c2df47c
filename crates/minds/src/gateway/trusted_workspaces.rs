//! Which workspaces a person trusts, and what in them: a small file for each in the config folder, never in the
//! workspace.
//!
//! A workspace is trusted with the widenings that the person saw ([`Widening`], by hash). Whatever is added later has no
//! effect until they look again. For a workspace that is not trusted, the file lists the runs that were begun on this
//! computer: only their saved state is continued.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::consent::name_of;
use super::personal_files::{read_small, write_private};
use crate::base::Problem;
use crate::schedule::{InputJournal, InputQueue, SimClock, TICKS_PER_SEC};
use crate::text::yaml;
use crate::workspace::WorkspaceTrust;
use crate::workspace::trust::{TrustChanged, Widening};

/// The folder in the config folder.
const FOLDER: &str = "trusted-workspaces";
/// The comment at the beginning of each file.
const HEAD: &str = "# What you trust of a workspace: workshop trust. Delete this file to be asked again.\n";
/// The maximum number of runs that are known of a workspace that is not trusted.
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
    pub runs: Vec<String>,
}

impl TrustedWorkspace {
    /// What the room gets.
    pub fn trust(&self) -> WorkspaceTrust {
        match self.is_trusted {
            true => WorkspaceTrust::Parts { parts: self.parts.clone() },
            false => WorkspaceTrust::Nothing,
        }
    }
}

/// Returns what the person decided about a workspace; nothing without a file. The problem says why it cannot be read,
/// and then nothing is trusted.
pub fn load(config_folder: Option<&Path>, workspace: &Path) -> Result<TrustedWorkspace, Problem> {
    let Some(config_folder) = config_folder else { return Ok(TrustedWorkspace::default()) };
    let file = file_of(config_folder, workspace);
    let Some(text) = read_small(&file)? else { return Ok(TrustedWorkspace::default()) };
    yaml::from_str(&text).map_err(|error| {
        let what = format!("cannot be read, so the workspace is not trusted: {error}");
        Problem::error(file.display().to_string(), what, "delete it, and decide again with: workshop trust")
    })
}

/// Trusts a workspace with exactly these widenings. Returns the path of the file.
pub fn trust(
    config_folder: Option<&Path>,
    workspace: &Path,
    widenings: impl IntoIterator<Item = Widening>,
) -> Result<PathBuf, Problem> {
    let parts = widenings.into_iter().map(|widening| widening.hash()).collect();
    save(config_folder, workspace, &TrustedWorkspace { is_trusted: true, parts, ..TrustedWorkspace::default() })
}

/// Trusts a workspace no longer. Returns the path of the file.
pub fn revoke(config_folder: Option<&Path>, workspace: &Path) -> Result<PathBuf, Problem> {
    save(config_folder, workspace, &TrustedWorkspace::default())
}

/// Notes that a run was begun here in a workspace that is not trusted.
pub fn note_run(config_folder: Option<&Path>, workspace: &Path, run: &str) -> Result<PathBuf, Problem> {
    let mut known = load(config_folder, workspace)?;
    known.runs.push(run.to_owned());
    let more = known.runs.len().saturating_sub(MAX_RUNS);
    known.runs.drain(..more);
    save(config_folder, workspace, &known)
}

fn save(config_folder: Option<&Path>, workspace: &Path, known: &TrustedWorkspace) -> Result<PathBuf, Problem> {
    let Some(config_folder) = config_folder else {
        let remedy = "set WORKSHOP_CONFIG_DIR to a folder that you own";
        return Err(Problem::error(FOLDER, "no folder for personal files was found on this computer", remedy));
    };
    let file = file_of(config_folder, workspace);
    let known = TrustedWorkspace { path: name_of(workspace), ..known.clone() };
    let unkept = |error: &dyn std::fmt::Display| {
        let what = format!("cannot be written: {error}");
        Problem::error(file.display().to_string(), what, "check that the folder is writable")
    };
    let text = serde_yaml::to_string(&known).map_err(|error| unkept(&error))?;
    write_private(&file, &format!("{HEAD}{text}")).map_err(|error| unkept(&error))?;
    Ok(file)
}

/// The file about a workspace, named after the hash of its path.
fn file_of(config_folder: &Path, workspace: &Path) -> PathBuf {
    let hash = blake3::hash(name_of(workspace).as_bytes()).to_hex();
    config_folder.join(FOLDER).join(format!("{}.yaml", &hash[..32]))
}

/// The file about the open workspace, which the room follows and adds to. Absent if the person trusts everything for
/// this run, and on replay.
#[derive(Resource, Clone, Debug)]
pub struct TrustFile {
    config_folder: Option<PathBuf>,
    workspace: PathBuf,
    stamp: Option<(std::time::SystemTime, u64)>,
}

impl TrustFile {
    /// The file about a workspace.
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

    fn stamp_now(&self) -> Option<(std::time::SystemTime, u64)> {
        let metadata = std::fs::metadata(file_of(self.config_folder.as_deref()?, &self.workspace)).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    }
}

/// Once a second, passes the person's decisions in the file to the room. Saves what the room added to them.
pub(super) fn follow_trust_file(
    file: Option<ResMut<TrustFile>>,
    trust: Option<Res<WorkspaceTrust>>,
    journal: Res<InputJournal>,
    clock: Res<SimClock>,
    mut inputs: ResMut<InputQueue<TrustChanged>>,
    mut saved: Local<Option<WorkspaceTrust>>,
) {
    let (Some(mut file), Some(trust)) = (file, trust) else { return };
    if journal.is_replaying() {
        return;
    }
    let (config, workspace) = (file.config_folder.clone(), file.workspace.clone());
    // What is added in the room is only ever more of a trusted workspace.
    if let WorkspaceTrust::Parts { parts } = &*trust
        && saved.as_ref().is_some_and(|saved| *saved != *trust)
        && let Ok(mut known) = load(config.as_deref(), &workspace)
        && known.is_trusted
        && !parts.is_subset(&known.parts)
    {
        known.parts.extend(parts.iter().cloned());
        if let Err(problem) = save(config.as_deref(), &workspace, &known) {
            tracing::warn!("what you allowed in the room must be trusted again after it is closed: {problem}");
        }
        file.stamp = file.stamp_now();
    }
    *saved = Some(trust.clone());
    if !clock.tick().is_multiple_of(TICKS_PER_SEC) {
        return;
    }
    let stamp = file.stamp_now();
    if stamp != file.stamp {
        file.stamp = stamp;
        let known = load(config.as_deref(), &workspace).unwrap_or_else(|problem| {
            tracing::warn!("the workspace is restricted: {problem}");
            TrustedWorkspace::default()
        });
        let now = known.trust();
        if now != *trust {
            inputs.push(TrustChanged(now));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn widening(value: &str) -> Widening {
        Widening::new("settings.yaml", "commands.network", value, "")
    }

    #[test]
    fn a_workspace_is_trusted_by_path_and_content_until_that_is_revoked() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let (mine, other) = (config.path().join("mine"), config.path().join("other"));
        let config = Some(config.path());
        let of = |workspace: &Path| load(config, workspace).expect("it can be read").trust();
        assert_eq!(of(&mine), WorkspaceTrust::Nothing);
        trust(config, &mine, [widening("true")]).expect("it can be saved");
        assert!(of(&mine).allows(&widening("true")) && !of(&mine).allows(&widening("yes")));
        assert_eq!(of(&other), WorkspaceTrust::Nothing);
        revoke(config, &mine).expect("it can be saved");
        assert_eq!(of(&mine), WorkspaceTrust::Nothing);
    }

    #[test]
    fn an_unreadable_file_trusts_nothing_and_says_so() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let mine = config.path().join("mine");
        let file = trust(Some(config.path()), &mine, []).expect("it can be saved");
        std::fs::write(file, "[ broken").expect("it can be written");
        let problem = load(Some(config.path()), &mine).expect_err("it cannot be read");
        assert!(problem.what.contains("not trusted"), "{problem}");
        assert_eq!(load(None, &mine).map(|known| known.trust()), Ok(WorkspaceTrust::Nothing));
    }

    #[test]
    fn only_the_newest_runs_are_kept() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let mine = config.path().join("mine");
        for run in 0..60 {
            note_run(Some(config.path()), &mine, &format!("r-{run}")).expect("it can be saved");
        }
        let known = load(Some(config.path()), &mine).expect("it can be read");
        assert_eq!((known.runs.len(), known.runs.last().map(String::as_str)), (MAX_RUNS, Some("r-59")));
        assert!(known.trust().is_restricted());
    }
}
