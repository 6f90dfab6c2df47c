//! The program's own records in `sessions/`: their names, and the status of the work that they record, for when no room
//! is open.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use super::super::files::FileContent;
use super::super::session_files::own_checksum::is_own;
use super::super::session_files::{is_older, is_session_file};
use super::path::WorkspacePath;
use super::resolve::{PathError, Root, beside_name};
use super::service_events::RecordChanged;
use super::session_texts::{MAX_SESSION_BYTES, reported_content};
use crate::base::ActivationKey;
use crate::base::text::slug;

/// The folder of the records.
pub(super) const RECORDS: &str = "sessions/";
/// The number of bytes that are read first: they contain the status of the work.
const STATUS_BYTES: u64 = 4 * 1024;
/// The number of bytes that are read for unfinished work: they contain the task, too.
const HEAD_BYTES: u64 = 192 * 1024;
/// The maximum size of a record in bytes.
const MAX_RECORD_BYTES: u64 = 64 * 1024 * 1024;

/// The beginning of a record.
#[derive(Clone, Debug)]
pub struct RecordHead {
    /// Its normalised path.
    pub path: String,
    /// Its text, or the beginning of a long one.
    pub head: String,
    /// When it was last written.
    pub modified: Option<SystemTime>,
}

/// Returns the prefix of the paths of an agent's records.
pub fn records_of(agent: &str) -> String {
    format!("{RECORDS}{}.", slug(agent))
}

/// Returns the prefixes of the paths of all session files in a workspace: one for each agent that has any. Links are not
/// followed.
pub fn session_owners(workspace: &Path) -> BTreeSet<String> {
    let Ok(root) = Root::open(workspace) else { return BTreeSet::new() };
    let Ok(folder) = root.folder().child(RECORDS.trim_end_matches('/')) else { return BTreeSet::new() };
    let names = folder.entries().unwrap_or_default().into_iter().map(|(name, _)| name);
    let sessions = names.filter(|name| is_session_file(&format!("{RECORDS}{name}")));
    sessions.filter_map(|name| Some(format!("{RECORDS}{}.", name.split_once('.')?.0))).collect()
}

/// Returns the status in the head of a record: the word after `status:`.
pub fn record_status(head: &str) -> Option<&str> {
    let of_work = head.lines().take_while(|line| !line.starts_with("messages:"));
    of_work.into_iter().find_map(|line| line.strip_prefix("status: ")).map(str::trim)
}

/// Whether work with this status is unfinished.
pub fn is_unfinished(status: &str) -> bool {
    // Session files say `active`; the other words are those of older session files and of workflow runs.
    matches!(status, "queued" | "running" | "waiting" | "active")
}

/// Returns the activation in the name of a record, such as `sessions/ada.act-7-3kq9x2mf.session.yaml`.
pub fn activation_of_record(path: &str) -> Option<ActivationKey> {
    let name = path.strip_suffix(".session.yaml")?;
    ActivationKey::parse(name.rsplit_once('.')?.1)
}

/// Returns the heads of all readable records in a workspace, sorted by name. Links are not followed.
pub fn record_heads(workspace: &Path) -> Vec<RecordHead> {
    let Ok(root) = Root::open(workspace) else { return Vec::new() };
    let Ok(folder) = root.folder().child(RECORDS.trim_end_matches('/')) else { return Vec::new() };
    let mut names: Vec<String> = folder.entries().unwrap_or_default().into_iter().map(|(name, _)| name).collect();
    names.retain(|name| is_session_file(&format!("{RECORDS}{name}")));
    names.sort_unstable();
    let heads = names.into_iter().filter_map(|name| {
        let path = WorkspacePath::new(&format!("{RECORDS}{name}")).ok()?;
        let (file, modified) = root.open_record(&path).ok()?;
        Some(RecordHead { head: head_of(file)?, path: path.as_str().to_owned(), modified })
    });
    heads.collect()
}

/// Returns the session files that a person edited or added while no room was open: those whose text was not written by
/// the room.
pub fn records_edited_while_closed(workspace: &Path) -> Vec<RecordChanged> {
    let Ok(root) = Root::open(workspace) else { return Vec::new() };
    let Ok(folder) = root.folder().child(RECORDS.trim_end_matches('/')) else { return Vec::new() };
    let entries = folder.entries().unwrap_or_default().into_iter();
    let mut paths: Vec<String> = entries.map(|(name, _)| format!("{RECORDS}{name}")).collect();
    paths.retain(|path| is_session_file(path));
    paths.sort_unstable();
    let changed = paths.into_iter().filter_map(|path| {
        let normal = WorkspacePath::new(&path).ok()?;
        let content = match root.read(&normal, MAX_SESSION_BYTES) {
            Ok((text, _)) if is_own(&text) || is_older(&text) => return None,
            Ok((text, _)) => reported_content(text),
            Err(PathError::Missing | PathError::IsFolder) => return None,
            Err(trouble) => FileContent::Unusable {
                what: trouble.message(&path),
                remedy: "replace it with a UTF-8 text, or remove the file".to_owned(),
            },
        };
        Some(RecordChanged::new(path, content))
    });
    changed.collect()
}

pub(super) fn head_of(mut file: File) -> Option<String> {
    let mut bytes = Vec::new();
    file.by_ref().take(STATUS_BYTES).read_to_end(&mut bytes).ok()?;
    let is_over = record_status(&String::from_utf8_lossy(&bytes)).is_some_and(|status| !is_unfinished(status));
    if !is_over {
        file.take(HEAD_BYTES - STATUS_BYTES).read_to_end(&mut bytes).ok()?;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Changes the text of a record while no room is open.
pub fn change_record(workspace: &Path, path: &str, change: impl FnOnce(&str) -> String) -> io::Result<()> {
    let odd = |why: String| io::Error::other(why);
    let normal = WorkspacePath::new(path).map_err(|refusal| odd(refusal.to_string()))?;
    let root = Root::open(workspace)?;
    let (text, _) = root.read(&normal, MAX_RECORD_BYTES).map_err(|trouble| odd(trouble.message(path)))?;
    let beside = beside_name(path);
    let written = root.write_temporary(&normal, &beside, &change(&text));
    written.and_then(|()| root.put_over(&normal, &beside)).map_err(|trouble| odd(trouble.message(path)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::base::RunTag;

    fn record(status: &str, task: &str) -> String {
        format!("activation: act-7\nagent: ada\nstatus: {status}\ntask: {task}\nmessages:\n- by: room\n  text: x\n")
    }

    #[test]
    fn the_status_of_a_record_is_not_confused_with_its_messages() {
        assert_eq!(record_status(&record("running", "x")), Some("running"));
        assert_eq!(record_status("agent: ada\nmessages:\nstatus: running\n"), None);
        assert_eq!(activation_of_record("sessions/ada.act-12.session.yaml"), Some(ActivationKey::numbered(12)));
        let newer = ActivationKey::new(12, RunTag::of("r-1"));
        assert_eq!(activation_of_record(&format!("sessions/ada.{newer}.session.yaml")), Some(newer));
        assert_eq!(activation_of_record("sessions/a.act-1.act-9.session.yaml"), Some(ActivationKey::numbered(9)));
        for other in ["sessions/notes.md", "sessions/ada.session.yaml", "sessions/ada.act-x.session.yaml"] {
            assert_eq!(activation_of_record(other), None, "{other}");
        }
    }

    #[test]
    fn records_are_found_and_changed_without_an_open_room() {
        let folder = tempfile::tempdir().expect("there is room");
        assert!(record_heads(folder.path()).is_empty());
        fs::create_dir(folder.path().join("sessions")).expect("there is room");
        let path = "sessions/ada.act-7.session.yaml";
        fs::write(folder.path().join(path), record("running", "x")).expect("there is room");
        fs::write(folder.path().join("sessions/notes.md"), "mine").expect("there is room");
        let heads = record_heads(folder.path());
        assert_eq!(heads.iter().map(|head| head.path.as_str()).collect::<Vec<_>>(), [path]);
        assert!(heads[0].modified.is_some());
        change_record(folder.path(), path, |text| text.replace("running", "dropped")).expect("it should exist");
        assert_eq!(record_status(&record_heads(folder.path())[0].head), Some("dropped"));
    }
}
