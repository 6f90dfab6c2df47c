//! Keeps the room's own files in sync with the world: applies external changes, writes the room's changes, and merges
//! both if they overlap.

use bevy::ecs::message::{MessageCursor, Messages};
use bevy::ecs::prelude::*;

use super::accidental_edits::mistakes;
use super::files::{FileChanged, FileContent, FileWritten, KnownFiles, ReadFailure, RoomStart, UnreadableFiles};
use super::layout;
use super::problems::ProblemReport;
use super::scene::{SceneEdit, SceneWrite};
use super::scene_diff::diff;
use super::scene_file::{self, SceneDoc};
use super::scene_merge::merge;
use super::scene_patch;
use super::scene_state::SceneState;
use super::settings::SettingsSections;
use super::settings_file::apply_settings;
use super::settings_former::{SettingsText, follow_renames};
use super::settings_widenings::widenings_of_files;
use super::text_merge::merge_keeping_both;
use super::trust::{WaitingTexts, Widening, WorkspaceTrust};
use super::unsaved::{Target, Unsaved, rebase, target_of};
use super::vfs::{self, FileBridge, SaveOrder};
use super::yaml;
use super::yaml_syntax::line_of_key;
use crate::base::hash::content_hash;
use crate::base::{Author, Problem, Seq, Severity};
use crate::log::events::{self, FileChange, Warning};
use crate::log::{EventDraft, EventLog};
use crate::schedule::{RoomSeed, SimClock};

/// The size in bytes above which a scene's text is updated every [`LARGE_SCENE_TICKS`] instead of every tick.
const LARGE_SCENE_BYTES: usize = 256 * 1024;
/// Ten seconds of simulated time, in ticks.
const LARGE_SCENE_TICKS: u64 = 300;

/// Applies the room's start to the world, before the first tick (and after loading saved sections, if there are any). A
/// fresh room gets its whole scene as edits in the first tick.
pub fn begin(world: &mut World, start: RoomStart) {
    // On replay, the room uses the agent that the person opened in the recorded run.
    if let Some(named) = layout::agent_of_scene(&start.scene).filter(|_| !start.files.contains_key(&start.scene)) {
        layout::name_agent_at_top(named);
    }
    if let Some(trust) = start.trust {
        world.insert_resource(trust);
    }
    let text = start.files.get(&start.scene).cloned();
    let (doc, mut problems) =
        text.as_deref().map_or_else(Default::default, |text| scene_file::parse(&start.scene, text));
    // An agent folder needs no scene file.
    if text.is_none() && !layout::needs_no_file(&start.scene) {
        let others: Vec<&str> =
            start.files.keys().map(String::as_str).filter(|path| path.starts_with("scenes/")).collect();
        let remedy = match others.as_slice() {
            [] => "create one, or write the starter kit with \"workshop init\"".to_owned(),
            others => format!("use one of {}", others.join(", ")),
        };
        problems.push(Problem::error(&*start.scene, "there is no such scene", remedy));
    }
    // Settings are applied below; reporting them as well would look like an edit to a room that writes them.
    let is_agent = |path: &str| path.starts_with("agents/") || path.starts_with("templates/");
    let paths = start.files.keys().filter(|path| is_agent(path) || layout::is_agent_at_top(path));
    let mut messages: Vec<FileChanged> =
        paths.map(|path| FileChanged::new(path.clone(), FileContent::Text(start.files[path].clone()))).collect();
    if let Some(unreadable) = start.unreadable {
        let agents = unreadable.iter().filter(|(path, _)| is_agent(path) || layout::is_agent_at_top(path));
        messages.extend(agents.map(|(path, failure)| FileChanged::new(path, failure.clone().into_content())));
        world.insert_resource(unreadable);
    }
    // A continued room remembers the last readable version of its scene.
    let mistakes = match (&doc, &text) {
        (Some(doc), Some(text)) => mistakes_in(world, &start.scene, text, doc),
        _ => Vec::new(),
    };
    let doc = doc.filter(|_| mistakes.is_empty());
    let problems = mistakes.into_iter().chain(problems).collect();
    world.resource_mut::<KnownFiles>().0 = start.files;
    world.write_message_batch(messages);
    world.write_message(ProblemReport { source: start.scene.clone(), problems });
    let fresh = start.carried.is_none();
    if fresh {
        let seed = start.seed.or(doc.as_ref().and_then(|doc| doc.seed)).unwrap_or(0);
        world.resource_mut::<RoomSeed>().0 = seed;
        if let Some(doc) = &doc {
            world.write_message_batch(diff(None, doc));
        }
    }
    let mut scene = world.resource_mut::<SceneState>();
    scene.path = start.scene;
    scene.readable = doc.is_some();
    // A continued room whose scene cannot be read uses the last readable version.
    if let Some(doc) = doc {
        scene.doc = doc;
    }
    apply_settings(world);
}

/// Applies a changed file. If the room had also changed it, the message carries the merged text to everything that runs
/// later.
pub(super) fn apply_file_change(world: &mut World, change: &mut FileChanged) {
    let source = format!("reading {}", change.path);
    if let FileContent::Unusable { what, remedy } = &change.content {
        let failure = ReadFailure { what: what.clone(), remedy: remedy.clone() };
        world.write_message(ProblemReport { source, problems: vec![failure.problem(&change.path)] });
        note_readable(world, &change.path, Some(failure));
        return;
    }
    note_readable(world, &change.path, None);
    world.write_message(ProblemReport { source, problems: Vec::new() });
    let known = world.resource::<KnownFiles>().text(&change.path).map(str::to_owned);
    let theirs = match &change.content {
        FileContent::Text(text) => Some(text.clone()),
        _ => None,
    };
    if theirs == known && !world.resource::<Unsaved>().tracks(&change.path) {
        return;
    }
    let by = match change.by.is_user() {
        true if change.is_rooms => vfs::ROOM,
        true if !change.is_ordered => vfs::OUTSIDE,
        _ => &*change.by.0,
    };
    let mut draft = EventDraft::of(&FileChange {
        new: ((change.is_ordered || !change.by.is_user()) && known.is_none()).then_some(true),
        version: change.version,
        ..FileChange::new(&*change.path, by)
    });
    if !change.by.is_user() {
        draft = draft.agent(&change.by.0).cause(change.cause);
    }
    change.cause = Some(world.resource_mut::<EventLog>().write(draft));
    let texts = (theirs.as_deref(), known.as_deref());
    follow_trust(world, &change.path, texts, change.is_persons(), change.from.as_deref());
    join_text(world, change, theirs, known);
}

/// Records whether a file can be read, and applies the settings again if that changed for them.
fn note_readable(world: &mut World, path: &str, failure: Option<ReadFailure>) {
    let mut unreadable = world.resource_mut::<UnreadableFiles>();
    let is_other = unreadable.0.contains_key(path) != failure.is_some();
    match failure {
        Some(failure) => unreadable.0.insert(path.to_owned(), failure),
        None => unreadable.0.remove(path),
    };
    if is_other && path == layout::SETTINGS_FILE {
        apply_settings(world);
    }
}

/// Trusts the settings that a person added to a file in this program: nothing that was there before, nothing of a text
/// that waits for the person in another file or did so before it was replaced, and of a renamed file what was trusted
/// under its former path.
fn follow_trust(
    world: &mut World,
    path: &str,
    (new, old): (Option<&str>, Option<&str>),
    is_persons: bool,
    from: Option<&str>,
) {
    let has_settings = path == layout::SETTINGS_FILE || path.starts_with("scenes/");
    if !has_settings || !matches!(world.resource::<WorkspaceTrust>(), WorkspaceTrust::Parts { .. }) {
        return;
    }
    let before = widenings_in(world, path, old);
    let now = widenings_in(world, path, new);
    let trust = world.resource::<WorkspaceTrust>().clone();
    let hash = |text: &str| content_hash(text.as_bytes());
    if let Some(old) = old {
        world.resource_mut::<WaitingTexts>().note(hash(old), &before, &trust);
    }
    if let (Some(from), Some(_)) = (from, new) {
        let former = widenings_in(world, from, new);
        let trusted = former.into_iter().filter(|widening| trust.allows(widening));
        let moved = trusted.map(|widening| Widening { place: path.to_owned(), ..widening });
        world.resource_mut::<WorkspaceTrust>().add(moved);
    } else if let Some(new) = new.filter(|_| is_persons)
        && !world.resource::<WaitingTexts>().contains(hash(new), &trust)
    {
        // A scene that is saved under another name brings nothing that the person has not seen.
        let copied = if old.is_none() { waiting_elsewhere(world, path, &trust) } else { Vec::new() };
        let waits = |widening: &Widening| {
            let is_same = |other: &Widening| other.key == widening.key && other.value == widening.value;
            before.contains(widening) || copied.iter().any(is_same)
        };
        let added = now.into_iter().filter(|widening| !waits(widening));
        world.resource_mut::<WorkspaceTrust>().add(added);
    }
}

/// The widenings of the settings that a file would have with this text.
fn widenings_in(world: &World, path: &str, text: Option<&str>) -> Vec<Widening> {
    let settings = world.resource::<KnownFiles>().text(layout::SETTINGS_FILE).map(str::to_owned);
    let settings = settings.map(|text| (layout::SETTINGS_FILE.to_owned(), text));
    let edited = text.map(|text| (path.to_owned(), text.to_owned()));
    let files = settings.into_iter().chain(edited).collect();
    let mut found = widenings_of_files(&files, world.resource::<SettingsSections>());
    found.retain(|widening| text.is_some() && widening.place == path);
    found
}

/// The widenings of the settings of all other files that the person has not trusted.
fn waiting_elsewhere(world: &World, path: &str, trust: &WorkspaceTrust) -> Vec<Widening> {
    let mut found = widenings_of_files(world.resource::<KnownFiles>().all(), world.resource::<SettingsSections>());
    found.retain(|widening| widening.place != path && !trust.allows(widening));
    found
}

/// An order that wrote, deleted or renamed a file.
pub(super) struct WrittenByOrder<'a> {
    /// Who gave it.
    pub(super) by: &'a Author,
    /// Its log record.
    pub(super) cause: Option<Seq>,
    /// Whether it put back an earlier version, which the person need not have seen.
    pub(super) restores: bool,
    /// The former path, if it renamed the file.
    pub(super) from: Option<&'a str>,
}

/// Applies a file that was written or deleted by an order.
pub(super) fn apply_written_file(world: &mut World, path: &str, text: Option<String>, order: &WrittenByOrder) {
    let WrittenByOrder { by, cause, restores, from } = *order;
    note_readable(world, path, None);
    world.write_message(ProblemReport { source: format!("reading {path}"), problems: Vec::new() });
    let known = world.resource::<KnownFiles>().text(path).map(str::to_owned);
    if text == known && !world.resource::<Unsaved>().tracks(path) {
        return;
    }
    let content = text.clone().map_or(FileContent::Removed, FileContent::Text);
    let is_seen = !restores && (by.is_user() || vfs::is_agent(by));
    let from = from.map(str::to_owned);
    let mut change =
        FileChanged { by: by.clone(), cause, is_seen, is_copy: restores, from, ..FileChanged::new(path, content) };
    let texts = (text.as_deref(), known.as_deref());
    let former = change.from.as_deref().filter(|_| by.is_user());
    follow_trust(world, path, texts, change.is_persons(), former);
    join_text(world, &mut change, text, known);
    world.write_message(change);
}

/// Merges someone else's text with the room's own changes to the same file.
fn join_text(world: &mut World, change: &mut FileChanged, theirs: Option<String>, known: Option<String>) {
    let path = change.path.clone();
    world
        .resource_mut::<Unsaved>()
        .note_external_text(&path, theirs.as_deref().map(|text| content_hash(text.as_bytes())));
    if path == world.resource::<SceneState>().path {
        join_scene(world, change, theirs);
    } else {
        let base = world.resource_mut::<Unsaved>().take_base_of_file(&path);
        if path == layout::SETTINGS_FILE {
            let joined = join_settings(world, base, known, theirs);
            change.content = joined.clone().map_or(FileContent::Removed, FileContent::Text);
            know(world, &path, joined);
            apply_settings(world);
        } else {
            // The element that uses the file merges both versions item by item.
            change.base = base;
            know(world, &path, theirs);
        }
    }
    order(world, &path);
}

/// Merges settings that were chosen in the window with those that someone else wrote into the file meanwhile. The next
/// edit starts from the file on disk.
fn join_settings(
    world: &mut World,
    base: Option<String>,
    known: Option<String>,
    theirs: Option<String>,
) -> Option<String> {
    let (Some(base), Some(ours)) = (base, known) else { return theirs };
    let joined = match &theirs {
        Some(theirs) => merge_settings(world.resource::<SettingsSections>(), &base, &ours, theirs),
        // The room's choices survive if a person deleted the file.
        None => ours,
    };
    if theirs.as_ref() != Some(&joined) {
        let target = Target::File(layout::SETTINGS_FILE.to_owned());
        world.resource_mut::<Unsaved>().note_file(target, theirs.unwrap_or_default());
    }
    Some(joined)
}

/// Merges settings by key; line by line if one of the texts cannot be parsed.
fn merge_settings(sections: &SettingsSections, base: &str, ours: &str, theirs: &str) -> String {
    let read = [base, ours, theirs].map(|text| yaml::parse(text).ok());
    let [Some(base_keys), Some(our_keys), Some(their_keys)] = read else {
        return merge_keeping_both(base, ours, theirs);
    };
    let mut written = SettingsText { text: theirs.to_owned(), data: their_keys };
    let (base_keys, their_keys) = follow_renames(sections, base_keys, &our_keys, &mut written);
    scene_patch::patch(&written.text, &written.data, &merge(&base_keys, &our_keys, &their_keys))
}

pub(super) fn know(world: &mut World, path: &str, text: Option<String>) {
    let mut files = world.resource_mut::<KnownFiles>();
    match text {
        Some(text) => files.0.insert(path.to_owned(), text),
        None => files.0.remove(path),
    };
}

fn join_scene(world: &mut World, change: &FileChanged, theirs: Option<String>) {
    let path = change.path.as_str();
    fold(world);
    let Some(text) = theirs else {
        know(world, path, None);
        let problem = Problem::warning(
            path,
            "the file of this scene was deleted",
            "restore it, or continue: the next change in the room writes it again",
        );
        world.write_message(ProblemReport { source: path.to_owned(), problems: vec![problem] });
        return;
    };
    let (found, problems) = scene_file::parse(path, &text);
    let mistakes = found.as_ref().map_or_else(Vec::new, |found| mistakes_in(world, path, &text, found));
    let is_good = mistakes.is_empty();
    let problems = mistakes.into_iter().chain(problems).collect();
    world.write_message(ProblemReport { source: path.to_owned(), problems });
    let Some(theirs) = found.filter(|_| is_good) else {
        know(world, path, Some(text));
        world.resource_mut::<SceneState>().readable = false;
        return;
    };
    let ours = &world.resource::<SceneState>().doc;
    let joined = rebase(world.resource::<Unsaved>(), &ours.root, &theirs.root);
    let their_root = theirs.root.clone();
    let (text, now) = if joined == theirs.root {
        (text, theirs)
    } else {
        let patched = scene_patch::patch(&text, &theirs.root, &joined);
        (patched, SceneDoc::from_data(joined))
    };
    let edits = made_by(diff(Some(ours), &now), &change.by, change.cause);
    let settings_changed = ours.settings != now.settings;
    know(world, path, Some(text));
    world.resource_mut::<Unsaved>().rebased_scene(&their_root);
    let mut scene = world.resource_mut::<SceneState>();
    scene.doc = now;
    scene.readable = true;
    world.write_message_batch(edits);
    if settings_changed {
        apply_settings(world);
    }
}

/// Returns what a scene's new text would lose by mistake, as problems.
fn mistakes_in(world: &World, path: &str, text: &str, found: &SceneDoc) -> Vec<Problem> {
    let mistakes = mistakes(&world.resource::<SceneState>().doc.root, &found.root).into_iter();
    mistakes
        .map(|slip| {
            let keys: Vec<&str> = slip.path.iter().map(String::as_str).collect();
            let remedy = format!("{}; until then the last good version stays in use", slip.remedy);
            Problem::error(path, slip.what, remedy).at_line(line_of_key(text, &keys))
        })
        .collect()
}

/// Sets the author and log record of edits of elements.
fn made_by(mut edits: Vec<SceneEdit>, author: &Author, record: Option<Seq>) -> Vec<SceneEdit> {
    for edit in &mut edits {
        if let SceneEdit::Element { by, cause, .. } | SceneEdit::ElementGone { by, cause, .. } = edit {
            (*by, *cause) = (author.clone(), record);
        }
    }
    edits
}

/// Queues a save of the text that the world knows, if the room writes this file.
pub(super) fn order(world: &mut World, path: &str) {
    let unsaved = world.resource::<Unsaved>();
    let (Some(over), number) = (unsaved.over(path), unsaved.number()) else { return };
    let scene = world.resource::<SceneState>();
    if scene.path == path && !scene.readable {
        return;
    }
    let Some(text) = world.resource::<KnownFiles>().text(path) else { return };
    if let Some(files) = world.get_resource::<FileBridge>() {
        files.save(path, SaveOrder { text: text.to_owned(), over, number });
    }
}

/// Collects the room's writes of this tick and updates the texts.
pub(super) fn write_scene(world: &mut World, mut writes: Local<MessageCursor<SceneWrite>>) {
    let new: Vec<SceneWrite> = writes.read(world.resource::<Messages<SceneWrite>>()).cloned().collect();
    let scene = &world.resource::<SceneState>().path;
    let large = world.resource::<KnownFiles>().text(scene).is_some_and(|text| text.len() > LARGE_SCENE_BYTES);
    let now = !large || world.resource::<SimClock>().tick().is_multiple_of(LARGE_SCENE_TICKS);
    // Even if the scene is large, other files are written at once: other programs use them.
    let (files, of_scene): (Vec<SceneWrite>, Vec<SceneWrite>) =
        new.into_iter().partition(|write| matches!(write, SceneWrite::File { .. }));
    if !files.is_empty() {
        world.resource_mut::<Unsaved>().begin_change();
        fold_files(world, &files);
    }
    world.resource_mut::<SceneState>().waiting.extend(of_scene);
    if now {
        fold(world);
    }
}

/// Updates the texts and queues their saves, without waiting for the disk.
pub fn order_saves(world: &mut World) {
    fold(world);
}

/// Updates the texts and waits until they are on disk. Returns a problem for each that is not. Called between ticks
/// before the room is saved or closed.
pub fn save_now(world: &mut World) -> Vec<Problem> {
    fold(world);
    world.get_resource_mut::<FileBridge>().map(|mut files| files.flush()).unwrap_or_default()
}

/// Forgets which texts were saved, once the room is closed: content that a person removes from a file meanwhile must
/// not be restored when the room continues.
pub fn forget_saved(world: &mut World) {
    world.resource_mut::<Unsaved>().all_saved();
}

/// Applies pending writes to the data and the texts, and queues their saves.
fn fold(world: &mut World) {
    let writes = std::mem::take(&mut world.resource_mut::<SceneState>().waiting);
    if writes.is_empty() {
        return;
    }
    world.resource_mut::<Unsaved>().begin_change();
    fold_files(world, &writes);
    let scene = world.resource::<SceneState>();
    let (path, old, readable) = (scene.path.clone(), scene.doc.root.clone(), scene.readable);
    let mut new = old.clone();
    scene_patch::apply(&mut new, &writes);
    if new == old {
        return;
    }
    let known = world.resource::<KnownFiles>().text(&path).map(str::to_owned);
    let mut unsaved = world.resource_mut::<Unsaved>();
    unsaved.track(&path, known.as_deref());
    for target in writes.iter().filter_map(target_of) {
        unsaved.note(target, &old);
    }
    if readable {
        let text = scene_patch::patch(
            known.as_deref().unwrap_or(""),
            if known.is_some() { &old } else { &serde_json::Value::Null },
            &new,
        );
        know(world, &path, Some(text));
    }
    world.resource_mut::<SceneState>().doc = SceneDoc::from_data(new);
    order(world, &path);
}

fn fold_files(world: &mut World, writes: &[SceneWrite]) {
    for write in writes {
        if let SceneWrite::File { path, text } = write {
            fold_file(world, path, text);
        }
    }
}

fn fold_file(world: &mut World, path: &str, text: &str) {
    let known = world.resource::<KnownFiles>().text(path).map(str::to_owned);
    if known.as_deref() == Some(text) {
        return;
    }
    let source = format!("saving {path}");
    if !layout::is_room_file(path) && layout::element_file(path).as_deref() != Ok(path) {
        let problem = Problem::error(
            path,
            "is not a valid place for the content of an \
            element",
            layout::ELEMENT_FILE_REMEDY,
        );
        world.write_message(ProblemReport { source, problems: vec![problem] });
        return;
    }
    let mut unsaved = world.resource_mut::<Unsaved>();
    unsaved.track(path, known.as_deref());
    unsaved.note_file(Target::File(path.to_owned()), known.unwrap_or_default());
    know(world, path, Some(text.to_owned()));
    world.write_message(FileWritten { path: path.to_owned() });
    order(world, path);
}

/// Stores the current problems and logs the new ones.
pub(super) fn keep_problems(
    mut reports: MessageReader<ProblemReport>,
    mut problems: ResMut<super::Problems>,
    mut log: ResMut<EventLog>,
) {
    for report in reports.read() {
        let before = problems.0.remove(&report.source).unwrap_or_default();
        for problem in report.problems.iter().filter(|problem| !before.contains(problem)) {
            log.write(match problem.severity {
                Severity::Warning => EventDraft::of(&Warning::from(problem)),
                Severity::Error => EventDraft::of(&events::Error::Problem(Box::new(problem.into()))),
            });
        }
        if !report.problems.is_empty() {
            problems.0.insert(report.source.clone(), report.problems.clone());
        }
    }
}

#[cfg(test)]
#[path = "room_sync_tests.rs"]
mod tests;
