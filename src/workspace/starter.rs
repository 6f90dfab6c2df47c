//! The starter kit: the repository's own agents and scenes, carried in the binary and written out by `init`.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use include_dir::{Dir, include_dir};

use crate::safe_fs;

static AGENTS: Dir = include_dir!("$CARGO_MANIFEST_DIR/agents");
static SCENES: Dir = include_dir!("$CARGO_MANIFEST_DIR/scenes");

/// The scene that is opened when none is named.
pub const STARTER_SCENE: &str = "scenes/studio.yaml";

/// `settings.yaml` of a new workspace: everything at its default, the sections named.
pub const STARTER_SETTINGS: &str = "\
# Settings of this workspace. Everything has a default; write only what you change.
# Keys and passwords never stand here: providers read them from the environment.
# A scene may override any of this for itself, under its own `settings:`.
#
# Each part of the program has a section; for example:
#
# agents:        { spawn_above_elements: true }
# elements:      { pins_per_board: 50 }
# movement:      { speed_units: 80 }
# attention:     { seek_secs: 90 }
# conversations: { max_concurrent_conversations: 3 }
# memory:        { notes_at_most: 10 }
# mind:          { max_output_tokens: 400 }
# gateway:       { provider: offline }
# budget:        { cost_per_run_usd: 5.0 }
#
# A name that the program does not know is reported with a suggestion, and changes nothing.
";

const GITIGNORE: &str = ".workshop/\n";

/// What [`init`] did.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Initialised {
    /// Written, relative to the folder, in order.
    pub written: Vec<String>,
    /// There already and left as they are.
    pub kept: Vec<String>,
}

/// Why a folder could not be made a workspace.
#[derive(thiserror::Error, Debug)]
pub enum InitError {
    /// There is a file of that name.
    #[error("{0} is a file: name a folder, or a path at which nothing is yet")]
    IsFile(String),
    /// Something could not be written.
    #[error("{path} could not be written: {source}; check that the folder may be written and the disk is not full")]
    Write {
        /// What.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

/// The scenes and agents of the kit, by path.
pub fn files() -> Vec<(String, &'static [u8])> {
    let mut files = Vec::new();
    collect(&AGENTS, "agents", &mut files);
    collect(&SCENES, "scenes", &mut files);
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

/// Writes the starter kit into a folder, which is made if it is not there. Never touches a file that is.
/// The text of a scene in which nothing stands yet.
pub fn empty_scene(name: &str) -> String {
    let name = serde_json::Value::from(name);
    format!("name: {name}\nseed: 1\nelements: []\nagents: []\nrelationships: []\n")
}

/// `settings.yaml` is written last, so that a folder is a workspace only when it is complete.
pub fn init(folder: &Path) -> Result<Initialised, InitError> {
    if folder.exists() && !folder.is_dir() {
        return Err(InitError::IsFile(folder.display().to_string()));
    }
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |source| InitError::Write { path, source }
    };
    fs::create_dir_all(folder).map_err(failed(folder))?;
    let mut done = Initialised::default();
    let first = [(".gitignore".to_owned(), GITIGNORE.as_bytes())];
    let last = [(super::layout::SETTINGS_FILE.to_owned(), STARTER_SETTINGS.as_bytes())];
    for (path, content) in first.into_iter().chain(files()).chain(last) {
        match write_new(folder, &path, content) {
            Ok(true) => done.written.push(path),
            Ok(false) => done.kept.push(path),
            Err(source) => return Err(failed(&folder.join(&path))(source)),
        }
    }
    Ok(done)
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
    fn a_new_workspace_is_complete_and_sound() {
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
    fn what_is_there_is_left_alone() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::write(folder.path().join("settings.yaml"), "mine: 1\n").expect("it can be written");
        let done = init(folder.path()).expect("it can be written");
        assert_eq!(done.kept, ["settings.yaml"]);
        assert_eq!(fs::read_to_string(folder.path().join("settings.yaml")).expect("it is there"), "mine: 1\n");
        assert!(init(folder.path()).expect("it can be read").written.is_empty());
        let file = folder.path().join("settings.yaml");
        assert!(matches!(init(&file), Err(InitError::IsFile(_))));
        assert!(matches!(init(&file.join("below")), Err(InitError::Write { .. })));
    }
}
