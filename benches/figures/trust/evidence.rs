//! The actual state, determined without the product: files, database rows, and what lies outside the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use agent_workshop::base::hash::content_hash;
use flate2::read::DeflateDecoder;
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

/// What is at a path; links are not followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Thing {
    /// A file with this length and hash.
    File(u64, u64),
    /// A link with this target.
    Link(PathBuf),
    /// A folder.
    Folder,
    /// A pipe, a socket or a device.
    Other,
}

/// Everything below a folder, by path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree(pub BTreeMap<String, Thing>);

impl Tree {
    /// The current state, except for these paths and everything below them.
    pub fn of(folder: &Path, without: &[&str]) -> Self {
        let mut things = BTreeMap::new();
        collect(folder, folder, without, &mut things);
        Self(things)
    }

    /// Describes the differences between this state and a later one.
    pub fn changes(&self, now: &Self) -> Vec<String> {
        let paths: BTreeSet<&String> = self.0.keys().chain(now.0.keys()).collect();
        let differs = |path: &&String| self.0.get(*path) != now.0.get(*path);
        let told = |path: &String| match (self.0.get(path), now.0.get(path)) {
            (None, _) => format!("{path} is new"),
            (_, None) => format!("{path} is gone"),
            _ => format!("{path} was changed"),
        };
        paths.into_iter().filter(differs).map(told).collect()
    }
}

fn collect(root: &Path, folder: &Path, without: &[&str], things: &mut BTreeMap<String, Thing>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let place = path.strip_prefix(root).expect("it is below").to_string_lossy().into_owned();
        if without.contains(&place.as_str()) {
            continue;
        }
        let Ok(metadata) = path.symlink_metadata() else { continue };
        let thing = if metadata.is_symlink() {
            Thing::Link(fs::read_link(&path).unwrap_or_default())
        } else if metadata.is_dir() {
            collect(root, &path, without, things);
            Thing::Folder
        } else if metadata.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            Thing::File(bytes.len() as u64, content_hash(&bytes))
        } else {
            Thing::Other
        };
        things.insert(place, thing);
    }
}

/// Copies a folder with all of its content.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("folders can be made");
    for entry in fs::read_dir(from).expect("it can be read").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy_folder(&from, &to);
        } else {
            fs::copy(&from, &to).expect("files can be copied");
        }
    }
}

/// The first file below this folder that contains these bytes, if any.
pub fn found_in_files(folder: &Path, bytes: &[u8]) -> Option<String> {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().ok()?);
        let found = if kind.is_dir() {
            found_in_files(&path, bytes)
        } else {
            let holds = kind.is_file() && fs::read(&path).is_ok_and(|content| contains(&content, bytes));
            holds.then(|| path.display().to_string())
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Whether `content` contains these bytes.
pub fn contains(content: &[u8], bytes: &[u8]) -> bool {
    bytes.is_empty() || content.windows(bytes.len()).any(|window| window == bytes)
}

/// The database of a workspace, read from a copy so that the original is not touched.
pub struct Records {
    connection: Connection,
    _copy: tempfile::TempDir,
}

impl Records {
    /// Opens the database of a workspace; `None` if there is none that can be opened.
    pub fn of(workspace: &Path) -> Option<Self> {
        let copy = tempfile::tempdir().ok()?;
        for name in ["workshop.db", "workshop.db-wal"] {
            let from = workspace.join(".workshop").join(name);
            if from.symlink_metadata().is_ok_and(|found| found.is_file()) {
                fs::copy(from, copy.path().join(name)).ok()?;
            }
        }
        let path = copy.path().join("workshop.db");
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).ok()?;
        Some(Self { connection, _copy: copy })
    }

    /// The result of SQLite's integrity check; `None` if the file is intact.
    pub fn damage(&self) -> Option<String> {
        let said = self.connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
        match said {
            Ok(said) if said == "ok" => None,
            Ok(said) => Some(said),
            Err(error) => Some(error.to_string()),
        }
    }

    /// Every event, by its number.
    pub fn events(&self) -> BTreeMap<u64, Event> {
        let mut events = BTreeMap::new();
        let statement = self.connection.prepare("SELECT seq, type, agent, data FROM events");
        let Ok(mut statement) = statement else { return events };
        let rows = statement.query_map([], |row| {
            let data: String = row.get(3)?;
            let event = Event {
                kind: row.get(1)?,
                agent: row.get(2)?,
                data: serde_json::from_str(&data).unwrap_or(Value::String(data)),
            };
            Ok((row.get::<_, i64>(0)?.cast_unsigned(), event))
        });
        events.extend(rows.into_iter().flatten().flatten());
        events
    }

    /// The text of every version of every file, with its path.
    pub fn versions(&self) -> Vec<(String, Vec<u8>)> {
        let sql = "SELECT files.path, packing, text FROM file_versions JOIN files ON files.number = file";
        let Ok(mut statement) = self.connection.prepare(sql) else { return Vec::new() };
        let rows = statement.query_map([], |row| {
            let (packing, packed): (i64, Vec<u8>) = (row.get(1)?, row.get(2)?);
            let mut text = Vec::new();
            let is_read = packing == 0 || DeflateDecoder::new(&packed[..]).read_to_end(&mut text).is_ok();
            Ok((row.get(0)?, if is_read && packing != 0 { text } else { packed }))
        });
        rows.into_iter().flatten().flatten().collect()
    }
}

/// A row of the log.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// Its type.
    pub kind: String,
    /// Its agent, if it has one.
    pub agent: Option<String>,
    /// Its data.
    pub data: Value,
}

impl Event {
    /// A line of the event stream, with its number.
    pub fn of_line(line: &str) -> Option<(u64, Self)> {
        let value: Value = serde_json::from_str(line).ok()?;
        let kind = value["type"].as_str()?.to_owned();
        let agent = value["agent"].as_str().map(str::to_owned);
        Some((value["seq"].as_u64()?, Self { kind, agent, data: value["data"].clone() }))
    }
}

/// All texts that a workspace stores: files, versions, and texts that could not be saved.
pub struct StoredTexts {
    versions: Vec<(String, Vec<u8>)>,
    workspace: PathBuf,
}

impl StoredTexts {
    /// Reads all texts that the workspace stores now.
    pub fn of(workspace: &Path) -> Self {
        let versions = Records::of(workspace).map(|records| records.versions()).unwrap_or_default();
        Self { versions, workspace: workspace.to_owned() }
    }

    /// Whether a person's text can still be recovered from anywhere.
    pub fn holds(&self, path: &str, text: &[u8]) -> bool {
        let in_file = fs::read(self.workspace.join(path)).is_ok_and(|content| contains(&content, text));
        in_file || self.is_version(text) || self.is_unsaved(text)
    }

    fn is_version(&self, text: &[u8]) -> bool {
        self.versions.iter().any(|(_, version)| contains(version, text))
    }

    fn is_unsaved(&self, text: &[u8]) -> bool {
        found_in_files(&self.workspace.join(".workshop/unsaved"), text).is_some()
    }
}
