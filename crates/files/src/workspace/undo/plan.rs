//! Computes the effect of undoing some of the changes of a file. Pure: takes a history and texts, returns an outcome.
//!
//! A change is undone by a three-way merge: the text after it is the base, the text before it is one side, and the
//! current text is the other. So everything that others changed in the meantime is kept, and if both changed the same
//! lines, the whole file is left alone.

use std::borrow::Cow;

use super::super::text_merge::merge_files;

/// One action on a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileAction {
    /// The file got a new text.
    Wrote {
        /// The number of the version with the text.
        version: u64,
        /// Whether the file did not exist before.
        is_new: bool,
    },
    /// The file was deleted.
    Deleted,
    /// The file was renamed.
    Renamed {
        /// The previous path.
        from: String,
        /// The new path.
        to: String,
    },
}

/// One change of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimelineEntry {
    /// The time, in milliseconds since 1970.
    pub time_ms: u64,
    /// The author: an agent's id, `user`, `outside` or `room`.
    pub by: String,
    /// The activation, if it was part of one.
    pub activation: Option<String>,
    /// The action.
    pub action: FileAction,
}

/// Everything known about the history of one file, oldest first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FileTimeline {
    /// The present path of the file, or the last one if it was deleted.
    pub path: String,
    /// The actions, oldest first.
    pub entries: Vec<TimelineEntry>,
}

/// The outcome of undoing for a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The file gets this text, and its previous path if it was renamed.
    Write {
        /// The new text.
        text: String,
        /// The previous path, if it differs.
        to: Option<String>,
    },
    /// The file is deleted: the agent created it, and it was not changed since.
    Delete,
    /// The file is left alone.
    Unchanged {
        /// The reason, as a whole sentence.
        why: String,
    },
}

/// The effect of the undo on one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilePlan {
    /// The present path.
    pub path: String,
    /// The current text; `None` if there is no file.
    pub now: Option<String>,
    /// The outcome.
    pub outcome: Outcome,
}

impl FilePlan {
    /// Returns the text afterwards; `None` if there will be no file.
    pub fn after(&self) -> Option<&str> {
        match &self.outcome {
            Outcome::Write { text, .. } => Some(text),
            Outcome::Delete => None,
            Outcome::Unchanged { .. } => self.now.as_deref(),
        }
    }

    /// Returns the path of the file afterwards.
    pub fn path_after(&self) -> &str {
        match &self.outcome {
            Outcome::Write { to: Some(to), .. } => to,
            _ => &self.path,
        }
    }

    /// Whether the file changes.
    pub fn changes(&self) -> bool {
        !matches!(self.outcome, Outcome::Unchanged { .. })
    }
}

/// The effect of an undo on all files, sorted by path. Unaffected files are not included.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UndoPlan {
    /// The agent whose work is undone.
    pub agent: String,
    /// The files.
    pub files: Vec<FilePlan>,
}

impl UndoPlan {
    /// Whether no file changes.
    pub fn is_empty(&self) -> bool {
        !self.files.iter().any(FilePlan::changes)
    }
}

/// Why a text cannot be restored.
enum Obstacle {
    NotKept,
    Conflict,
    ChangedSince,
    DeletedSince,
    RecreatedSince,
}

impl Obstacle {
    fn message(&self, path: &str) -> String {
        match self {
            Self::NotKept => format!("'{path}' was not changed: its earlier text is no longer stored."),
            Self::Conflict => {
                format!("'{path}' was not changed: others have changed the same lines since; edit it by hand.")
            }
            Self::ChangedSince => format!("'{path}' was not changed: others have changed it since it was created."),
            Self::DeletedSince => format!("'{path}' was not restored: somebody else has deleted it since."),
            Self::RecreatedSince => format!(
                "'{path}' was not changed: somebody else created it again after it was \
                deleted."
            ),
        }
    }
}

/// Reverts a change from `before` to `after` in the current text `now`. `None` if both changed the same lines, if one
/// deleted the file and the other changed it, or if both created the file.
pub fn revert<'a>(
    after: Option<&'a str>,
    before: Option<&'a str>,
    now: Option<&'a str>,
) -> Option<Option<Cow<'a, str>>> {
    merge_files(after, before, now)
}

/// Plans to undo the actions of a file for which `is_undone` holds; `None` if there are none. `now` is the current
/// text, `text` returns the text of a version if it is stored, and `is_taken` says whether another file has a path.
pub fn plan_file(
    story: &FileTimeline,
    now: Option<&str>,
    is_undone: impl Fn(&TimelineEntry) -> bool,
    text: impl Fn(u64) -> Option<String>,
    is_taken: impl Fn(&str) -> bool,
) -> Option<FilePlan> {
    if !story.entries.iter().any(&is_undone) {
        return None;
    }
    let done = |outcome| {
        let (path, now) = (story.path.clone(), now.map(str::to_owned));
        Some(FilePlan { path, now, outcome })
    };
    let stays = |hindrance: Obstacle| done(Outcome::Unchanged { why: hindrance.message(&story.path) });
    let goal = match text_without(story, now, &is_undone, &text) {
        Ok(goal) => goal,
        Err(hindrance) => return stays(hindrance),
    };
    let to = path_without(story, &is_undone).filter(|to| *to != story.path);
    match (now, goal) {
        (None, None) => None,
        (Some(_), None) => done(Outcome::Delete),
        (now, Some(text)) => {
            if let Some(to) = &to
                && is_taken(to)
            {
                let path = &story.path;
                return done(Outcome::Unchanged {
                    why: format!("'{path}' was not renamed back to '{to}': another file has this name."),
                });
            }
            if to.is_none() && now == Some(text.as_str()) {
                return None;
            }
            done(Outcome::Write { text, to })
        }
    }
}

/// Returns the text that the file would have without these changes; `None` if there would be no file.
fn text_without(
    story: &FileTimeline,
    now: Option<&str>,
    is_undone: &impl Fn(&TimelineEntry) -> bool,
    text: &impl Fn(u64) -> Option<String>,
) -> Result<Option<String>, Obstacle> {
    let acts = &story.entries;
    let mut goal = now.map(str::to_owned);
    let mut end = acts.len();
    while let Some(last) = acts[..end].iter().rposition(is_undone) {
        let first = acts[..last].iter().rposition(|act| !is_undone(act)).map_or(0, |other| other + 1);
        end = first;
        let (after, before) = (state_after(acts, last, text), state_before(acts, first, text));
        let (State::Known(after), State::Known(before)) = (after, before) else {
            return Err(Obstacle::NotKept);
        };
        let reverted = revert(after.as_deref(), before.as_deref(), goal.as_deref());
        goal = match reverted {
            Some(text) => text.map(Cow::into_owned),
            None => {
                return Err(match (&after, &goal) {
                    // The agent created or changed the file, which was deleted anyway.
                    (_, None) if before.is_none() => continue,
                    (_, None) => Obstacle::DeletedSince,
                    (None, Some(_)) => Obstacle::RecreatedSince,
                    (Some(_), Some(_)) if before.is_none() => Obstacle::ChangedSince,
                    (Some(_), Some(_)) => {
                        // Undoing an agent's work leaves a file alone if others changed the same lines since.
                        rule!("undo-never-overwrites-others");
                        Obstacle::Conflict
                    }
                });
            }
        };
    }
    Ok(goal)
}

enum State {
    Known(Option<String>),
    NotKept,
}

fn kept(text: Option<String>) -> State {
    text.map_or(State::NotKept, |text| State::Known(Some(text)))
}

/// Returns the content of the file after the action at this index.
fn state_after(acts: &[TimelineEntry], at: usize, text: &impl Fn(u64) -> Option<String>) -> State {
    match &acts[at].action {
        FileAction::Wrote { version, .. } => kept(text(*version)),
        FileAction::Deleted => State::Known(None),
        FileAction::Renamed { .. } => state_before(acts, at, text),
    }
}

/// Returns the content of the file before the action at this index.
fn state_before(acts: &[TimelineEntry], at: usize, text: &impl Fn(u64) -> Option<String>) -> State {
    match acts[at].action {
        FileAction::Wrote { is_new: true, .. } | FileAction::Wrote { version: 1, .. } => State::Known(None),
        FileAction::Wrote { version, .. } if newest_before(acts, at) != Some(version - 1) => State::NotKept,
        _ if at > 0 => state_after(acts, at - 1, text),
        // The history does not reach that far back.
        _ => State::NotKept,
    }
}

/// Returns the number of the version before the action at this index, if the history contains one.
fn newest_before(acts: &[TimelineEntry], at: usize) -> Option<u64> {
    acts[..at].iter().rev().find_map(|act| match act.action {
        FileAction::Wrote { version, .. } => Some(version),
        _ => None,
    })
}

/// Returns the path that the file would have without these actions.
fn path_without(story: &FileTimeline, is_undone: &impl Fn(&TimelineEntry) -> bool) -> Option<String> {
    let mut path = story.path.as_str();
    for act in story.entries.iter().rev().filter(|act| is_undone(act)) {
        if let FileAction::Renamed { from, to } = &act.action
            && to == path
        {
            path = from;
        }
    }
    Some(path.to_owned())
}
