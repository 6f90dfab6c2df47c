//! The history of each file, combined from the stored versions and the log, and the points to which an agent's work can
//! be undone: its activations. The versions contain the texts; only the log knows who deleted and renamed files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::super::vfs::{FileHistory, FileServiceError, is_agent};
use super::plan::{FileAction, FilePlan, FileTimeline, Outcome, TimelineEntry, UndoPlan, plan_file};
use crate::base::Author;
use crate::log::EventKind;
use crate::log::events::{Activation, FileChange};
use crate::store::{FileVersion, Reader, StoreError};

/// Changes that an agent made outside of an activation count as one point if they are at most this many milliseconds
/// apart.
const TOGETHER_MS: u64 = 10 * 60 * 1000;

/// An activation of an agent that changed files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RestorePoint {
    /// The activation; `None` if files were changed outside of one.
    pub activation: Option<String>,
    /// The task of the activation, if the log still contains it.
    pub task: Option<String>,
    /// The time of its first change, in milliseconds since 1970.
    pub first_ms: u64,
    /// The time of its last change, in milliseconds since 1970.
    pub last_ms: u64,
    /// The number of changes of each file, by the present path of the file.
    pub files: BTreeMap<String, usize>,
}

/// The restore points of an agent that changed files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AgentHistory {
    /// The id of the agent.
    pub agent: String,
    /// The activations, newest first.
    pub points: Vec<RestorePoint>,
}

/// The history of the files of a workspace.
pub struct AgentHistories {
    history: FileHistory,
    stories: Vec<FileTimeline>,
    tasks: BTreeMap<String, String>,
}

impl AgentHistories {
    /// Reads the histories, whether or not a room is open. `dir` is the `.workshop` folder of the workspace.
    pub fn read(root: &Path, dir: &Path) -> Result<Self, FileServiceError> {
        let history = FileHistory::open(root, dir)?;
        let (mut logged, tasks) = match Reader::open(dir) {
            Ok(reader) => of_log(&reader)?,
            Err(StoreError::NoHistory { .. }) => Default::default(),
            Err(error) => return Err(error.into()),
        };
        let mut stories = Vec::new();
        for path in history.known_paths()? {
            let versions = history.versions(&path)?;
            let acts = joined(logged.remove(&path).unwrap_or_default(), versions);
            stories.push(FileTimeline { path, entries: acts });
        }
        Ok(Self { history, stories, tasks })
    }

    /// Returns every agent that changed files, sorted by id.
    pub fn agents(&self) -> Vec<AgentHistory> {
        let by: BTreeSet<&str> =
            self.stories.iter().flat_map(|story| &story.entries).map(|act| act.by.as_str()).collect();
        by.into_iter()
            .filter(|by| is_agent(&Author((*by).into())))
            .map(|agent| AgentHistory { agent: agent.to_owned(), points: self.points(agent) })
            .collect()
    }

    /// Returns the restore points of an agent, newest first.
    pub fn points(&self, agent: &str) -> Vec<RestorePoint> {
        let mut acts: Vec<(&TimelineEntry, &str)> = Vec::new();
        for story in &self.stories {
            acts.extend(story.entries.iter().filter(|act| act.by == agent).map(|act| (act, story.path.as_str())));
        }
        acts.sort_by_key(|(act, path)| (act.time_ms, *path));
        let mut points: Vec<RestorePoint> = Vec::new();
        for (act, path) in acts {
            let is_of = |point: &RestorePoint| match &act.activation {
                Some(_) => point.activation == act.activation,
                None => point.activation.is_none() && act.time_ms <= point.last_ms.saturating_add(TOGETHER_MS),
            };
            let at = points.iter().rposition(is_of).unwrap_or_else(|| {
                let task = act.activation.as_ref().and_then(|activation| self.tasks.get(activation)).cloned();
                points.push(RestorePoint {
                    activation: act.activation.clone(),
                    task,
                    first_ms: act.time_ms,
                    last_ms: act.time_ms,
                    files: BTreeMap::new(),
                });
                points.len() - 1
            });
            points[at].last_ms = act.time_ms;
            *points[at].files.entry(path.to_owned()).or_default() += 1;
        }
        points.reverse();
        points
    }

    /// Plans to undo an agent's changes since a time, in milliseconds since 1970, inclusive.
    pub fn plan(&self, agent: &str, since_ms: u64) -> UndoPlan {
        let is_undone = |act: &TimelineEntry| act.by == agent && act.time_ms >= since_ms;
        let mut plan = UndoPlan { agent: agent.to_owned(), files: Vec::new() };
        for story in self.stories.iter().filter(|story| story.entries.iter().any(is_undone)) {
            let path = &story.path;
            let now = match self.history.read_if_exists(path) {
                Ok(now) => now,
                Err(why) => {
                    let outcome = Outcome::Unchanged { why: format!("'{path}' stays: {why}") };
                    plan.files.push(FilePlan { path: path.clone(), now: None, outcome });
                    continue;
                }
            };
            // A version that cannot be read counts as not stored.
            let text = |version| self.history.text(path, version).ok().flatten();
            // A path that cannot be examined counts as taken.
            let is_taken = |path: &str| !matches!(self.history.read_if_exists(path), Ok(None));
            plan.files.extend(plan_file(story, now.as_deref(), is_undone, text, is_taken));
        }
        plan
    }
}

type Logged = (BTreeMap<String, Vec<TimelineEntry>>, BTreeMap<String, String>);

/// Reads the history of each file from the log, by its present path, and the task of each activation.
fn of_log(reader: &Reader) -> Result<Logged, StoreError> {
    let (mut stories, mut tasks) = (BTreeMap::<String, Vec<TimelineEntry>>::new(), BTreeMap::new());
    reader.for_each_event_of(&[EventKind::FileChange, EventKind::Activation], |event| {
        if let Some(Activation { task, .. }) = event.read::<Activation>() {
            if let Some(activation) = &event.draft.activation {
                tasks.insert(activation.to_string(), task);
            }
            return;
        }
        let Some(change) = event.read::<FileChange>() else { return };
        let act = |deed| TimelineEntry {
            time_ms: event.time_ms,
            by: change.by.to_string(),
            activation: event.draft.activation.as_ref().map(ToString::to_string),
            action: deed,
        };
        let path = change.path.to_string();
        if change.gone {
            stories.entry(path).or_default().push(act(FileAction::Deleted));
        } else if let Some(from) = &change.from {
            // The file that had the new path before is another file, which no path refers to any more.
            let mut acts = stories.remove(&**from).unwrap_or_default();
            acts.push(act(FileAction::Renamed { from: from.to_string(), to: path.clone() }));
            stories.insert(path, acts);
        } else if let Some(version) = change.version {
            let is_new = change.new == Some(true);
            stories.entry(path).or_default().push(act(FileAction::Wrote { version, is_new }));
        }
    })?;
    Ok((stories, tasks))
}

/// Combines the log and the versions into one history; authors are taken from the versions. Versions that are not in
/// the log come before the next one that is; if there is none, they come before anything that happened later. The text
/// that a file had when it was deleted or renamed is stored at that moment, and is not in the log.
pub(super) fn joined(logged: Vec<TimelineEntry>, mut versions: Vec<FileVersion>) -> Vec<TimelineEntry> {
    let number_of = |act: &TimelineEntry| match act.action {
        FileAction::Wrote { version, .. } => Some(version),
        FileAction::Deleted | FileAction::Renamed { .. } => None,
    };
    let known: BTreeSet<u64> = logged.iter().filter_map(number_of).collect();
    versions.sort_by_key(|version| version.number);
    let mut versions = versions.into_iter().peekable();
    let mut acts = Vec::new();
    for act in logged {
        let FileAction::Wrote { version: number, is_new } = act.action else {
            let is_earlier = |version: &FileVersion| !known.contains(&version.number) && version.time_ms <= act.time_ms;
            while let Some(earlier) = versions.next_if(is_earlier) {
                acts.push(written(earlier, false));
            }
            acts.push(act);
            continue;
        };
        while let Some(earlier) = versions.next_if(|version| version.number < number) {
            acts.push(written(earlier, false));
        }
        match versions.next_if(|version| version.number == number) {
            Some(version) => acts.push(written(version, is_new)),
            // The text of this version is no longer stored. If it were left out, the version before it would seem to be
            // the text that was replaced.
            None => acts.push(act),
        }
    }
    acts.extend(versions.map(|version| written(version, false)));
    acts
}

fn written(version: FileVersion, is_new: bool) -> TimelineEntry {
    TimelineEntry {
        time_ms: version.time_ms,
        by: version.author,
        activation: version.activation,
        action: FileAction::Wrote { version: version.number, is_new },
    }
}
