//! What the window remembers about a workspace: its layout, what is open, and the view of each scene. It belongs to the
//! person, so it is stored in the person's config folder, one readable file per workspace; the layout also applies to
//! workspaces that were never opened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy::math::Vec2;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::base::hash::content_hash;
use crate::base::{Problem, text};
use crate::safe_fs::{read_text, replace_text};
use crate::ui::UiState;
use crate::ui::panes::{self, pane::Panes};
use crate::ui::shell::parts::WindowParts;
use crate::ui::state::AppearancePreferences;
use crate::ui::state::dock::Dock;
use crate::view::camera::{Camera, ZOOM};
use crate::workspace::{scene_patch, yaml};

/// The folder of the state files, one per workspace.
const FOLDER: &str = "workspaces";
/// The file of the person's look, which new workspaces start with.
const PERSON_FILE: &str = "window.yaml";
/// Maximum number of recent workspaces offered.
const WORKSPACES_OFFERED: usize = 12;
/// Larger files are rejected as invalid, in bytes.
const MAX_BYTES: u64 = 256 * 1024;
/// Maximum number of scenes whose view is saved; the least recently viewed are dropped first.
const SCENES_KEPT: usize = 100;
const HEADER: &str = "# The state of the window in this workspace. Delete this file to start with the defaults.\n";
const PERSON_HEADER: &str = "# How the window looks in workspaces that have not been opened before.\n";

/// Everything that is saved about a workspace's window.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SavedWindowState {
    /// Width and height of the window, in points.
    pub window: Option<(u32, u32)>,
    /// The appearance.
    pub look: AppearancePreferences,
    /// The arrangement of the panes.
    pub dock: Dock,
    /// What each pane saves, by its id.
    pub panes: SavedPanes,
    /// Recently given tasks, newest first.
    pub tasks: Vec<String>,
    /// Whether the debug overlay is on.
    pub overlay: bool,
    /// Whether the story strip is collapsed.
    pub story_folded: bool,
    /// Whether the introduction was completed or dismissed.
    pub hint_closed: bool,
    /// The view of each scene, by file stem, most recently viewed last.
    pub views: Vec<(String, View)>,
}

/// What each pane saves, by its id.
#[derive(Clone, PartialEq, Debug)]
pub struct SavedPanes(BTreeMap<&'static str, SavedPane>);

impl Default for SavedPanes {
    /// What the panes of every window save before a person changes anything.
    fn default() -> Self {
        let panes = panes::standard();
        Self(panes.iter().filter_map(|pane| Some((pane.id(), pane.saved()?.into()))).collect())
    }
}

impl SavedPanes {
    /// Reads what each pane saved. Those whose value is invalid are added to `odd`.
    fn read(root: &Map<String, Value>, odd: &mut Vec<&'static str>) -> Self {
        let mut read = Self::default();
        for mut pane in panes::standard().into_iter().filter(|pane| pane.saved().is_some()) {
            match root.get(pane.id()) {
                Some(saved) if pane.restore(saved) => read.put(pane.id(), pane.saved(), None),
                Some(_) => odd.push(pane.id()),
                None => {}
            }
        }
        read
    }

    /// Records the current state of each pane that changed.
    fn note(&mut self, panes: &Panes) {
        for pane in panes.iter() {
            let mark = Some(pane.saved_mark());
            if self.0.get(pane.id()).is_none_or(|saved| saved.mark != mark) {
                self.put(pane.id(), pane.saved(), mark);
            }
        }
    }

    fn put(&mut self, id: &'static str, value: Option<Value>, mark: Option<u64>) {
        let Some(value) = value else { return };
        match self.0.get_mut(id) {
            // The value stays shared with what was written, so that comparing them is cheap.
            Some(saved) if *saved.value == value => saved.mark = mark,
            _ => drop(self.0.insert(id, SavedPane { value: Arc::new(value), mark })),
        }
    }
}

/// What a pane saves.
#[derive(Clone, Debug)]
struct SavedPane {
    value: Arc<Value>,
    /// The mark of the pane's state, if the value is of this window.
    mark: Option<u64>,
}

impl PartialEq for SavedPane {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl From<Value> for SavedPane {
    fn from(value: Value) -> Self {
        Self { value: Arc::new(value), mark: None }
    }
}

/// The saved view of a scene.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct View {
    /// The centre of the view.
    pub middle: [f32; 2],
    /// Points per world unit.
    pub zoom: f32,
}

/// The path and content of a workspace's state file.
#[derive(Clone, Debug)]
pub struct WindowStateFile {
    folder: PathBuf,
    path: PathBuf,
    workspace: String,
    text: String,
    /// Whether the existing file is unusable; it is set aside before writing.
    is_unusable: bool,
}

impl WindowStateFile {
    /// Opens the state file of this workspace in this config folder. Invalid values are reported and replaced by
    /// defaults.
    pub fn open(config_folder: &Path, workspace: &Path) -> (Self, SavedWindowState, Vec<Problem>) {
        let whole = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
        let named = whole.display().to_string();
        let name = whole.file_name().map(|name| text::slug(&name.to_string_lossy())).unwrap_or_default();
        let short = text::truncate(&name, 40).replace('…', "");
        let file = format!("{short}-{:016x}.yaml", content_hash(named.as_bytes()));
        let mut memory = Self {
            folder: config_folder.to_owned(),
            path: config_folder.join(FOLDER).join(file),
            workspace: named,
            text: String::new(),
            is_unusable: false,
        };
        let mut problems = Vec::new();
        let remembered = match memory.read() {
            Ok(Some(root)) => remembered_of(&root, &memory.place(), &mut problems),
            Ok(None) => {
                // A person who has had a workspace before has already seen the introduction.
                let hint_closed = config_folder.join(PERSON_FILE).exists();
                SavedWindowState { look: look_of_person(config_folder), hint_closed, ..SavedWindowState::default() }
            }
            Err(what) => {
                memory.is_unusable = true;
                let remedy = "fix or delete it; it is set aside at the next save";
                problems.push(Problem::warning(
                    memory.place(),
                    format!("{what}, so the saved window state is not used"),
                    remedy,
                ));
                SavedWindowState { look: look_of_person(config_folder), ..SavedWindowState::default() }
            }
        };
        (memory, remembered, problems)
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }

    /// The content of the file; `None` if there is no file.
    fn read(&mut self) -> Result<Option<Map<String, Value>>, String> {
        let Some(text) = read_small(&self.path)? else { return Ok(None) };
        let root = match yaml::parse(&text) {
            Ok(Value::Object(root)) => root,
            Ok(Value::Null) => Map::new(),
            Ok(_) => return Err("it is not a list of keys".to_owned()),
            Err(error) => return Err(format!("it is not valid YAML: {}", error.what)),
        };
        if let Some(other) = root.get("workspace").and_then(Value::as_str)
            && other != self.workspace
        {
            return Err(format!("it belongs to another workspace, {other}"));
        }
        self.text = text;
        Ok(Some(root))
    }

    /// Saves the state atomically. Keys unknown to this version and a person's comments are kept. Blocks on the disk.
    pub fn write(&mut self, remembered: &SavedWindowState) -> Result<(), Problem> {
        let failed = |place: String, error: std::io::Error| {
            let what = format!("the window state cannot be saved: {error}");
            Problem::warning(place, what, "check that the folder is writable and the disk is not full")
        };
        if self.is_unusable {
            let aside = self.path.with_extension("yaml.unusable");
            std::fs::rename(&self.path, aside).map_err(|error| failed(self.place(), error))?;
            self.is_unusable = false;
        }
        let data = data_of(remembered, &self.workspace);
        let text = with(&self.text, HEADER, data);
        if text != self.text {
            replace_text(&self.path, &text).map_err(|error| failed(self.place(), error))?;
            self.text = text;
        }
        let person = self.folder.join(PERSON_FILE);
        let known = read_small(&person).ok().flatten().unwrap_or_default();
        let look = [("look".to_owned(), json!(remembered.look))].into_iter().collect();
        let text = with(&known, PERSON_HEADER, look);
        if text != known {
            replace_text(&person, &text).map_err(|error| failed(person.display().to_string(), error))?;
        }
        Ok(())
    }
}

/// Recently opened workspaces, newest first, without `but` and those that no longer exist.
pub fn known_workspaces(config_folder: &Path, but: &Path) -> Vec<PathBuf> {
    let but = but.canonicalize().unwrap_or_else(|_| but.to_owned());
    let entries = std::fs::read_dir(config_folder.join(FOLDER)).into_iter().flatten().flatten();
    let mut known: Vec<(std::time::SystemTime, PathBuf)> = entries
        .filter_map(|entry| {
            let text = read_small(&entry.path()).ok().flatten()?;
            let folder = PathBuf::from(yaml::parse(&text).ok()?["workspace"].as_str()?);
            let when = entry.metadata().and_then(|metadata| metadata.modified()).ok()?;
            (folder != but && crate::workspace::layout::is_workspace(&folder)).then_some((when, folder))
        })
        .collect();
    known.sort_by(|one, other| other.cmp(one));
    known.into_iter().map(|(_, folder)| folder).take(WORKSPACES_OFFERED).collect()
}

/// The text of a small file; `None` if it does not exist.
fn read_small(path: &Path) -> Result<Option<String>, String> {
    read_text(path, MAX_BYTES).map_err(|error| format!("it could not be read: {error}"))
}

/// The look that the person last chose in any workspace, or the default.
fn look_of_person(config_folder: &Path) -> AppearancePreferences {
    let text = read_small(&config_folder.join(PERSON_FILE)).ok().flatten().unwrap_or_default();
    let root = yaml::parse(&text).unwrap_or_default();
    sane_look(serde_json::from_value(root["look"].clone()).unwrap_or_default())
}

/// A text with these keys replaced, and everything else unchanged.
fn with(text: &str, header: &str, keys: Map<String, Value>) -> String {
    let old = yaml::parse(text).ok().filter(Value::is_object).unwrap_or(Value::Null);
    let Some(known) = old.as_object() else {
        return format!("{header}{}", yaml::document(&Value::Object(keys)));
    };
    let mut root = known.clone();
    root.extend(keys);
    scene_patch::patch(text, &old, &Value::Object(root))
}

/// Converts to a JSON number without the extra digits of `f32` to `f64` conversion.
fn number(value: f32) -> Value {
    let rounded = (f64::from(value) * 100.0).round() / 100.0;
    if rounded.fract() == 0.0 { json!(rounded as i64) } else { json!(rounded) }
}

fn data_of(remembered: &SavedWindowState, workspace: &str) -> Map<String, Value> {
    let SavedWindowState { window, look, dock, panes, tasks, overlay, story_folded, hint_closed, views } = remembered;
    let view = |view: &View| json!({ "middle": view.middle.map(number), "zoom": number(view.zoom) });
    let scenes: Map<String, Value> = views.iter().map(|(scene, seen)| (scene.clone(), view(seen))).collect();
    let mut data = Map::new();
    let mut put = |key: &str, value: Value| data.insert(key.to_owned(), value);
    put("workspace", json!(workspace));
    if let Some((width, height)) = window {
        put("window", json!([width, height]));
    }
    let size = number(look.text_size);
    put("look", json!({ "light": look.light, "text_size": size, "calm": look.calm, "dates": look.dates }));
    put("panes", dock.to_value());
    for (id, saved) in &panes.0 {
        put(id, Value::clone(&saved.value));
    }
    put("tasks", json!(tasks));
    put("debug_overlay", json!(overlay));
    put("story_folded", json!(story_folded));
    put("hint_closed", json!(hint_closed));
    put("scenes", Value::Object(scenes));
    data
}

/// The values of the keys; invalid ones are reported and replaced by defaults.
fn remembered_of(root: &Map<String, Value>, place: &str, problems: &mut Vec<Problem>) -> SavedWindowState {
    let mut odd = Vec::new();
    let window: Option<[u32; 2]> = key(root, "window", &mut odd);
    let window = window.filter(|size| size.iter().all(|side| (200..=8_000).contains(side)));
    let look = key(root, "look", &mut odd).unwrap_or_default();
    let dock = root.get("panes").map(|panes| Dock::from_value(panes).ok_or(()));
    if dock == Some(Err(())) {
        odd.push("panes");
    }
    let views: BTreeMap<String, Value> = key(root, "scenes", &mut odd).unwrap_or_default();
    // The map is sorted by key; the order of recent views is the order in the file.
    let order = root.get("scenes").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let views = order.filter_map(|scene| {
        let view: View = serde_json::from_value(views.get(scene)?.clone()).ok()?;
        let is_sane = view.middle.iter().all(|side| side.is_finite()) && view.zoom.is_finite();
        is_sane.then(|| (scene.clone(), View { zoom: view.zoom.clamp(*ZOOM.start(), *ZOOM.end()), ..view }))
    });
    let remembered = SavedWindowState {
        window: window.map(|[width, height]| (width, height)),
        look: sane_look(look),
        dock: dock.and_then(Result::ok).unwrap_or_default(),
        panes: SavedPanes::read(root, &mut odd),
        tasks: key(root, "tasks", &mut odd).unwrap_or_default(),
        overlay: key(root, "debug_overlay", &mut odd).unwrap_or_default(),
        story_folded: key(root, "story_folded", &mut odd).unwrap_or_default(),
        hint_closed: key(root, "hint_closed", &mut odd).unwrap_or_default(),
        views: views.take(SCENES_KEPT).collect(),
    };
    if !odd.is_empty() {
        let what = format!("{} is invalid; the default is used", odd.join(", "));
        problems.push(Problem::warning(place, what, "correct or remove it"));
    }
    remembered
}

fn key<T: DeserializeOwned>(root: &Map<String, Value>, name: &'static str, odd: &mut Vec<&'static str>) -> Option<T> {
    let value = root.get(name)?;
    let read = serde_json::from_value(value.clone()).ok();
    if read.is_none() {
        odd.push(name);
    }
    read
}

fn sane_look(mut look: AppearancePreferences) -> AppearancePreferences {
    look.set_text_size(look.text_size);
    look
}

impl SavedWindowState {
    /// Restores the window as it was left.
    pub fn restore(&self, state: &mut UiState, parts: &mut WindowParts) {
        state.appearance.look = self.look;
        state.dock = self.dock.clone();
        for pane in parts.panes.iter_mut() {
            // What is invalid was reported when the file was read.
            if let Some(saved) = self.panes.0.get(pane.id()) {
                pane.restore(&saved.value);
            }
        }
        state.recents.restore_tasks(&self.tasks);
        state.view.debug_overlay = self.overlay;
        state.view.is_story_folded = self.story_folded;
        state.notices.is_hint_closed = self.hint_closed;
    }

    /// Restores the saved view of a scene that was just opened, if there is one.
    pub fn restore_view(&self, scene: &str, state: &mut UiState) {
        if state.view.is_framed {
            return;
        }
        if let Some((_, view)) = self.views.iter().find(|(known, _)| known == scene) {
            let viewport = state.view.camera.viewport;
            state.view.camera =
                Camera { middle: Vec2::from_array(view.middle), zoom: view.zoom, viewport, ..Camera::default() };
            state.view.is_framed = true;
        }
    }

    /// Records the current state of the window.
    pub fn note(&mut self, scene: &str, size: Option<(u32, u32)>, state: &UiState, parts: &WindowParts) {
        self.window = size.or(self.window);
        self.look = state.appearance.look;
        if self.dock != state.dock {
            self.dock = state.dock.clone();
        }
        self.panes.note(&parts.panes);
        self.tasks = state.recents.tasks().to_vec();
        self.overlay = state.view.debug_overlay;
        self.story_folded = state.view.is_story_folded;
        self.hint_closed = state.notices.is_hint_closed;
        if !state.view.is_framed || scene.is_empty() {
            return;
        }
        let view = View { middle: state.view.camera.middle.to_array(), zoom: state.view.camera.zoom };
        if self.views.last().is_some_and(|(known, seen)| known == scene && *seen == view) {
            return;
        }
        self.views.retain(|(known, _)| known != scene);
        self.views.push((scene.to_owned(), view));
        let surplus = self.views.len().saturating_sub(SCENES_KEPT);
        self.views.drain(..surplus);
    }
}

#[cfg(test)]
#[path = "window_state_tests.rs"]
mod tests;
