//! The starter kit: the agents and scenes of this repository, embedded in the binary and written by `init`.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use include_dir::{Dir, include_dir};

use crate::safe_fs;

static AGENTS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../agents");
static TEMPLATES: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../templates");
static SCENES: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../scenes");
static TASKS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../assets/tasks");

/// The scene that is opened by default.
pub const STARTER_SCENE: &str = "scenes/studio.yaml";

/// `settings.yaml` of a new workspace: comments with examples, so that everything has its default.
pub const STARTER_SETTINGS: &str = "\
# Settings of this workspace. Everything has a default; write only what you change.
# Never put keys or passwords here: providers read them from the environment.
# A scene may override any of this for itself, under its own `settings:`.
#
# Each part of the program has a section; for example:
#
# agents:        { spawn_above_elements: true }
# elements:      { max_pins_per_board: 50 }
# movement:      { speed_units: 80 }
# attention:     { seek_secs: 90 }
# conversations: { max_concurrent_conversations: 3 }
# memory:        { max_notes: 10 }
# mind:          { max_output_tokens: 400 }
# gateway:       { provider: offline }
# budget:        { cost_per_run_usd: 5.0 }
#
# A name that the program does not know is reported with a suggestion, and changes nothing.
";

const GITIGNORE: &str = ".workshop/\n";

/// The result of [`init`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Initialised {
    /// The paths of the written files relative to the folder, sorted.
    pub written: Vec<String>,
    /// The paths of existing files, which were left alone.
    pub kept: Vec<String>,
}

/// Why a folder could not be made a workspace.
#[derive(thiserror::Error, Debug)]
pub enum InitError {
    /// The path is a file.
    #[error("{0} is a file: name a folder or a new path")]
    IsFile(String),
    /// A file could not be written.
    #[error("{path} could not be written: {source}; check that the folder is writable and the disk is not full")]
    Write {
        /// The path of the file.
        path: String,
        /// The error of the system.
        source: std::io::Error,
    },
}

/// Returns the scenes, agents, agent templates and tasks of the kit, by path.
pub fn files() -> Vec<(String, &'static [u8])> {
    let mut files = Vec::new();
    collect(&AGENTS, "agents", &mut files);
    collect(&TEMPLATES, "templates", &mut files);
    collect(&SCENES, "scenes", &mut files);
    collect(&TASKS, "tasks", &mut files);
    files.sort();
    files
}

fn collect(folder: &Dir<'static>, prefix: &str, files: &mut Vec<(String, &'static [u8])>) {
    for file in folder.files() {
        if let Some(path) = file.path().to_str() {
            files.push((format!("{prefix}/{}", path.replace('\\', "/")), file.contents()));
        }
    }
    for inner in folder.dirs() {
        collect(inner, prefix, files);
    }
}

/// Returns the text of an empty scene.
pub fn empty_scene(name: &str) -> String {
    let name = serde_json::Value::from(name);
    format!("name: {name}\nseed: 1\nelements: []\nagents: []\nrelationships: []\n")
}

/// Writes the starter kit into a folder, which is created if necessary. Existing files are left alone. `settings.yaml`
/// is written last, so that a folder is a workspace only when it is complete.
pub fn init(folder: &Path) -> Result<Initialised, InitError> {
    make_folder(folder)?;
    let first = [(".gitignore".to_owned(), GITIGNORE.as_bytes())];
    let last = [(super::layout::SETTINGS_FILE.to_owned(), STARTER_SETTINGS.as_bytes())];
    write_all(folder, first.into_iter().chain(files()).chain(last))
}

/// Creates a folder, unless it exists.
fn make_folder(folder: &Path) -> Result<(), InitError> {
    if folder.exists() && !folder.is_dir() {
        return Err(InitError::IsFile(folder.display().to_string()));
    }
    fs::create_dir_all(folder).map_err(|source| InitError::Write { path: folder.display().to_string(), source })
}

/// Writes files into a folder, which is created if necessary. Existing files are left alone.
pub(super) fn write_all(
    folder: &Path,
    files: impl IntoIterator<Item = (String, &'static [u8])>,
) -> Result<Initialised, InitError> {
    make_folder(folder)?;
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |source| InitError::Write { path, source }
    };
    let mut done = Initialised::default();
    for (path, content) in files {
        match write_new(folder, &path, content) {
            Ok(true) => done.written.push(path),
            Ok(false) => done.kept.push(path),
            Err(source) => return Err(failed(&folder.join(&path))(source)),
        }
    }
    Ok(done)
}

/// The scene of an existing folder that was made a workspace.
pub const ADOPTED_SCENE: &str = "scenes/room.yaml";

/// Makes an existing folder a workspace by adding settings and one scene, and nothing else. Instructions for agents in
/// the folder are shown by a rulebook of that scene.
pub fn adopt(folder: &Path) -> Result<Initialised, InitError> {
    make_folder(folder)?;
    let name = folder.canonicalize().ok().and_then(|folder| Some(folder.file_name()?.to_str()?.to_owned()));
    let instructions =
        super::layout::INSTRUCTIONS.into_iter().find(|name| crate::safe_fs::open_regular(&folder.join(name)).is_ok());
    let scene = adopted_scene(name.as_deref().unwrap_or("Room"), instructions);
    let mut done = Initialised::default();
    for (path, content) in [(ADOPTED_SCENE, scene.as_str()), (super::layout::SETTINGS_FILE, STARTER_SETTINGS)] {
        let failed = |source| InitError::Write { path: folder.join(path).display().to_string(), source };
        let written = write_new(folder, path, content.as_bytes()).map_err(failed)?;
        if written { done.written.push(path.to_owned()) } else { done.kept.push(path.to_owned()) }
    }
    Ok(done)
}

fn adopted_scene(name: &str, instructions: Option<&str>) -> String {
    let name = serde_json::Value::from(name);
    let rulebook = instructions.map(|file| {
        format!("  - {{ id: instructions, kind: rulebook, label: Instructions, position: [0, 260], file: {file} }}\n")
    });
    format!(
        "name: {name}\nseed: 1\nelements:\n{}  - {{ id: ideas, kind: pinboard, label: Ideas, position: [0, 0] }}\nagents: \
         []\nrelationships: []\n",
        rulebook.unwrap_or_default()
    )
}

fn write_new(folder: &Path, path: &str, content: &[u8]) -> std::io::Result<bool> {
    match safe_fs::create_new(folder, path) {
        Ok(mut file) => file.write_all(content).and_then(|()| file.sync_all()).map(|()| true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{layout, scene_file, yaml};

    #[test]
    fn a_new_workspace_is_complete_and_valid() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let target = folder.path().join("deep/new");
        let done = init(&target).expect("it can be written");
        assert!(done.written.contains(&STARTER_SCENE.to_owned()) && done.kept.is_empty());
        let (files, problems) = layout::read_folder(&target);
        assert_eq!(problems, []);
        assert!(layout::is_workspace(&target));
        let (doc, problems) = scene_file::parse(STARTER_SCENE, &files[STARTER_SCENE]);
        assert!(doc.is_some_and(|doc| !doc.elements.is_empty() || !doc.agents.is_empty()));
        assert_eq!(problems, []);
        assert_eq!(yaml::parse(STARTER_SETTINGS), Ok(serde_json::Value::Null));
    }

    #[test]
    fn a_workspace_is_created_in_a_new_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let target = folder.path().join("deep/new");
        assert_eq!(adopt(&target).expect("it can be written").written, [ADOPTED_SCENE, "settings.yaml"]);
        let file = folder.path().join("file");
        fs::write(&file, "mine").expect("it can be written");
        assert!(matches!(adopt(&file), Err(InitError::IsFile(_))));
    }

    #[test]
    fn an_existing_folder_only_gets_settings_and_one_scene() {
        for instructions in [Some("AGENTS.md"), None] {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            fs::write(folder.path().join("README.md"), "mine").expect("it can be written");
            if let Some(name) = instructions {
                fs::write(folder.path().join(name), "# How we work\n").expect("it can be written");
            }
            let done = adopt(folder.path()).expect("it can be written");
            assert_eq!(done.written, [ADOPTED_SCENE, "settings.yaml"]);
            let (files, problems) = layout::read_folder(folder.path());
            assert_eq!(problems, []);
            let (doc, problems) = scene_file::parse(ADOPTED_SCENE, &files[ADOPTED_SCENE]);
            assert_eq!(problems, []);
            let shown: Vec<_> =
                doc.expect("it should be valid").elements.into_iter().filter_map(|element| element.file).collect();
            assert_eq!(shown, instructions.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(files.get("AGENTS.md").map(String::as_str), instructions.map(|_| "# How we work\n"));
            assert_eq!(adopt(folder.path()).expect("it can be read").written, [] as [&str; 0]);
        }
    }

    #[test]
    fn existing_files_are_left_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::write(folder.path().join("settings.yaml"), "mine: 1\n").expect("it can be written");
        let done = init(folder.path()).expect("it can be written");
        assert_eq!(done.kept, ["settings.yaml"]);
        assert_eq!(fs::read_to_string(folder.path().join("settings.yaml")).expect("it should exist"), "mine: 1\n");
        assert!(init(folder.path()).expect("it can be read").written.is_empty());
        let file = folder.path().join("settings.yaml");
        assert!(matches!(init(&file), Err(InitError::IsFile(_))));
        assert!(matches!(init(&file.join("below")), Err(InitError::Write { .. })));
    }
}
