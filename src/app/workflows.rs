//! The workflows of a workspace and their runs, read while no room is open.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::agent::Profiles;
use crate::base::{Id, Problem};
use crate::orchestration::workflow::RunKey;
use crate::orchestration::workflow::check::{WorkflowContext, check};
use crate::orchestration::workflow::format::{self, WorkflowFile};
use crate::orchestration::workflow::run_record::{self, RECORDS, RunRecord};
use crate::workspace::files::FileContent;
use crate::workspace::layout::read_folder;
use crate::workspace::scene_file;

/// Larger run files are not read, in bytes.
const MAX_RECORD_BYTES: u64 = 64 * 1024 * 1024;
/// Number of bytes at the start of a file that contain its status.
const HEAD_BYTES: u64 = 4 * 1024;
/// Maximum number of listed runs, newest first.
const MAX_RUNS: usize = 1_000;

/// The workflows of a workspace, with the agents that their steps may name.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceWorkflows {
    /// The workflows, by path.
    pub workflows: BTreeMap<String, WorkflowFile>,
    /// The ids of agents and profiles.
    pub agents: BTreeSet<Id>,
}

impl WorkspaceWorkflows {
    /// Reads the workflows of a workspace.
    pub fn of(workspace: &Path) -> Self {
        let (files, _) = read_folder(workspace);
        let workflows = files.iter().filter(|(path, _)| format::is_workflow(path));
        let workflows = workflows.map(|(path, text)| (path.clone(), format::read(path, text))).collect();
        let texts: BTreeMap<&str, FileContent> =
            files.iter().map(|(path, text)| (path.as_str(), FileContent::Text(text.clone()))).collect();
        let profiles = Profiles::of_files(texts.iter().map(|(path, content)| (*path, content)));
        let scenes = files.iter().filter(|(path, _)| path.starts_with("scenes/"));
        let in_scenes = scenes.filter_map(|(path, text)| scene_file::parse(path, text).0);
        let agents = in_scenes.flat_map(|scene| scene.agents.into_iter().map(|agent| agent.id));
        let agents = agents.chain(profiles.ids().cloned()).collect();
        Self { workflows, agents }
    }

    /// The context that a workflow is checked against.
    pub fn check_context(&self) -> WorkflowContext<'_> {
        WorkflowContext { agents: Some(&self.agents), workflows: &self.workflows }
    }

    /// All problems of a workflow.
    pub fn problems(&self, file: &WorkflowFile) -> Vec<Problem> {
        file.problems.iter().cloned().chain(check(&file.workflow, self.check_context())).collect()
    }
}

/// A run, from the head of its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunHead {
    /// Identifies the run.
    pub key: RunKey,
    /// The path of its file.
    pub path: PathBuf,
    /// The name of the workflow.
    pub name: String,
    /// The status.
    pub status: String,
}

/// The runs of a workspace, newest first.
pub fn runs(workspace: &Path) -> Vec<RunHead> {
    let folder = workspace.join(RECORDS);
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut found: Vec<(std::time::SystemTime, RunHead)> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| {
            let path = entry.path();
            let key = run_record::run_of_path(&path.to_string_lossy())?;
            let head = text_of(&path, HEAD_BYTES)?;
            let value = |key: &str| {
                let line = head.lines().take_while(|line| !line.starts_with("steps:"));
                let found = line.into_iter().find_map(|line| line.strip_prefix(&format!("{key}: ")))?;
                Some(found.trim().trim_matches('"').to_owned())
            };
            let (name, status) = (value("workflow")?, value("status")?);
            let changed = entry.metadata().and_then(|data| data.modified()).unwrap_or(std::time::UNIX_EPOCH);
            Some((changed, RunHead { key, path, name, status }))
        })
        .collect();
    found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| other.1.key.cmp(&one.1.key)));
    found.into_iter().map(|(_, head)| head).take(MAX_RUNS).collect()
}

/// Reads the file of a run, and returns its text as well. The error is a sentence for the person.
pub fn run(head: &RunHead) -> Result<(RunRecord, String), String> {
    let text = text_of(&head.path, MAX_RECORD_BYTES).ok_or("it cannot be read")?;
    run_record::from_yaml(&text).map(|record| (record, text))
}

fn text_of(path: &Path, most: u64) -> Option<String> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
