//! Writing files: beside, synced, renamed, on a thread of its own. Never writes over what someone else wrote.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bevy::ecs::resource::Resource;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::disk::{Disk, News, SaveReport};
use super::files::FileContent;
use super::layout;
use crate::base::Problem;
use crate::base::hash::content_hash;

/// How long writes are collected before they reach the disk, in wall-clock time.
const DEBOUNCE: Duration = Duration::from_millis(300);
/// How soon what could not be written is tried again.
const RETRY: Duration = Duration::from_millis(500);
/// Where the room's version goes when it closes while someone else's edit stands in the file.
const UNSAVED_FOLDER: &str = ".workshop/unsaved";

/// A text that is to stand in a file.
#[derive(Clone, PartialEq, Debug)]
pub struct SaveOrder {
    /// The whole text.
    pub text: String,
    /// The hash of the last text of someone else's that this one takes in; none if there was no file.
    pub over: Option<u64>,
    /// The number of the room's last change in it.
    pub number: u64,
}

/// The thread that writes. Dropping it writes what waits.
#[derive(Resource)]
pub struct Saver {
    disk: Arc<Disk>,
    /// The newest order for each path: bounded by the number of files.
    orders: Arc<Mutex<BTreeMap<String, SaveOrder>>>,
    wake: Sender<Wake>,
    thread: Option<JoinHandle<()>>,
}

enum Wake {
    Ordered,
    Flush(Sender<Vec<Problem>>),
    Stop,
}

impl Saver {
    /// Starts the thread.
    pub fn start(disk: Arc<Disk>) -> io::Result<Self> {
        let orders = Arc::default();
        let (wake, woken) = bounded(16);
        let mut work =
            Work { disk: disk.clone(), orders: Arc::clone(&orders), waiting: BTreeMap::new(), told: BTreeMap::new() };
        let thread = std::thread::Builder::new().name("saver".into()).spawn(move || work.run(&woken))?;
        Ok(Self { disk, orders, wake, thread: Some(thread) })
    }

    pub(super) fn disk(&self) -> &Disk {
        &self.disk
    }

    /// What it shares with the watcher.
    #[cfg(test)]
    pub(super) fn disk_shared(&self) -> Arc<Disk> {
        self.disk.clone()
    }

    /// Asks for a text to be written. Never waits.
    pub fn save(&self, path: &str, order: SaveOrder) {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), order);
        // Full means that the thread is awake already; it looks at the orders before it sleeps.
        let _ = self.wake.try_send(Wake::Ordered);
    }

    /// Waits until everything ordered is on disk, or says what is not and why.
    pub fn flush(&self) -> Vec<Problem> {
        let (reply, replied) = bounded(1);
        let gone =
            || vec![Problem::error("workspace", "the thread that saves files has stopped", "start the program again")];
        if self.wake.send(Wake::Flush(reply)).is_err() {
            return gone();
        }
        replied.recv().unwrap_or_else(|_| gone())
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        let _ = self.wake.send(Wake::Stop);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that saves files panicked; the last changes may not be on disk");
        }
    }
}

struct Work {
    disk: Arc<Disk>,
    orders: Arc<Mutex<BTreeMap<String, SaveOrder>>>,
    waiting: BTreeMap<String, SaveOrder>,
    /// The problem that the world was told last, by path.
    told: BTreeMap<String, Problem>,
}

impl Work {
    fn run(&mut self, woken: &Receiver<Wake>) {
        let mut due: Option<Instant> = None;
        loop {
            let wake = match due {
                Some(at) => woken.recv_deadline(at),
                None => woken.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match wake {
                Ok(Wake::Ordered) => due = due.or(Some(Instant::now() + DEBOUNCE)),
                Ok(Wake::Flush(reply)) => {
                    let problems = self.write_all();
                    due = (!self.waiting.is_empty()).then(|| Instant::now() + RETRY);
                    // Nobody waits any more if this fails; what is on disk is on disk.
                    let _ = reply.send(problems);
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.write_all();
                    due = (!self.waiting.is_empty()).then(|| Instant::now() + RETRY);
                }
                Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => {
                    self.write_all();
                    self.keep_unsaved();
                    return;
                }
            }
        }
    }

    /// Writes what can be written; says what is left.
    fn write_all(&mut self) -> Vec<Problem> {
        let orders = std::mem::take(&mut *self.orders.lock().unwrap_or_else(PoisonError::into_inner));
        self.waiting.extend(orders);
        let mut problems = Vec::new();
        for (path, order) in std::mem::take(&mut self.waiting) {
            match write(&self.disk, &path, &order) {
                Ok(()) => {
                    self.told.remove(&path);
                    self.disk.tell(News::Saved(SaveReport { path, saved: Some(order.number), problem: None }));
                }
                Err(NotSaved::Held) => {
                    let what = "someone else changed it at this moment";
                    problems.push(Problem::warning(&*path, what, "nothing to do: both changes will be joined"));
                    self.waiting.insert(path, order);
                }
                Err(NotSaved::Failed(problem)) => {
                    if self.told.insert(path.clone(), problem.clone()).as_ref() != Some(&problem) {
                        let report = SaveReport { path: path.clone(), saved: None, problem: Some(problem.clone()) };
                        self.disk.tell(News::Saved(report));
                    }
                    problems.push(problem);
                    self.waiting.insert(path, order);
                }
            }
        }
        problems
    }

    /// What cannot be joined any more is kept where a person can find it.
    fn keep_unsaved(&mut self) {
        for (path, order) in std::mem::take(&mut self.waiting) {
            let kept = self.disk.root().join(UNSAVED_FOLDER).join(path.replace('/', "_"));
            let written =
                fs::create_dir_all(self.disk.root().join(UNSAVED_FOLDER)).and_then(|()| replace(&kept, &order.text));
            match written {
                Ok(()) => tracing::warn!(
                    "{path} was changed by someone else while the room closed; its own version is {}",
                    kept.display()
                ),
                Err(error) => tracing::error!("{path} could not be saved, nor kept as {}: {error}", kept.display()),
            }
        }
    }
}

enum NotSaved {
    /// Someone else's text stands there that the world has not taken in yet.
    Held,
    Failed(Problem),
}

fn write(disk: &Disk, path: &str, order: &SaveOrder) -> Result<(), NotSaved> {
    let failed = |what: String, remedy: &str| NotSaved::Failed(Problem::error(path, what, remedy));
    if !layout::matters(path) {
        return Err(failed("is no place for a file of a room".into(), "name a file like boards/rules.md"));
    }
    let full = disk.root().join(path);
    let hash = content_hash(order.text.as_bytes());
    let mut ledger = disk.ledger();
    match layout::read_file(disk.root(), path) {
        FileContent::Text(text) if text == order.text => {
            ledger.known.insert(path.to_owned(), hash);
            ledger.ours.insert(path.to_owned(), hash);
            return Ok(());
        }
        FileContent::Text(text) => {
            let there = Some(content_hash(text.as_bytes()));
            if there != order.over && there != ledger.ours.get(path).copied() {
                return Err(NotSaved::Held);
            }
        }
        FileContent::Removed if order.over.is_none() => {}
        FileContent::Removed => return Err(NotSaved::Held),
        FileContent::Unusable { what, remedy } => {
            return Err(failed(format!("cannot be written over: it {what}"), &remedy));
        }
    }
    replace(&full, &order.text).map_err(|error| {
        let remedy = "check that it and its folder may be written and that the disk is not full; it is tried again";
        failed(format!("could not be saved: {error}"), remedy)
    })?;
    ledger.known.insert(path.to_owned(), hash);
    ledger.ours.insert(path.to_owned(), hash);
    Ok(())
}

/// Puts a text in the place of a file's: whoever reads it sees the old one or the new one, whole.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link; the file that it leads to changes.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let beside = write_beside(&path, text)?;
    fs::rename(&beside, &path)?;
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// The new text in a hidden file next to the old one, synced, with the old one's rights.
fn write_beside(path: &Path, text: &str) -> io::Result<PathBuf> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    let beside = path.with_file_name(format!(".{name}.saving"));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::create(&beside)?;
    if let Ok(metadata) = fs::metadata(path) {
        if metadata.permissions().readonly() {
            fs::remove_file(&beside)?;
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is marked read-only"));
        }
        file.set_permissions(metadata.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok(beside)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "boards/rules.md";

    fn workspace(text: &str) -> (tempfile::TempDir, Arc<Disk>) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir_all(folder.path().join("boards")).expect("folders can be made");
        fs::write(folder.path().join(RULES), text).expect("files can be written");
        let files = [(RULES.to_owned(), text.to_owned())].into();
        let disk = Disk::new(folder.path(), &files);
        (folder, disk)
    }

    fn order(text: &str, over: Option<&str>, number: u64) -> SaveOrder {
        SaveOrder { text: text.into(), over: over.map(|text| content_hash(text.as_bytes())), number }
    }

    fn on_disk(folder: &tempfile::TempDir) -> String {
        fs::read_to_string(folder.path().join(RULES)).expect("the file is there")
    }

    #[test]
    fn flushing_puts_the_newest_order_on_disk_and_says_so() {
        let (folder, disk) = workspace("old\n");
        let saver = Saver::start(disk.clone()).expect("a thread can be started");
        saver.save(RULES, order("one\n", Some("old\n"), 1));
        saver.save(RULES, order("two\n", Some("old\n"), 2));
        saver.save("boards/deep/new.md", order("new\n", None, 3));
        assert_eq!(saver.flush(), []);
        assert_eq!(on_disk(&folder), "two\n");
        assert_eq!(fs::read_to_string(folder.path().join("boards/deep/new.md")).expect("it was made"), "new\n");
        let saved =
            |path: &str, number| News::Saved(SaveReport { path: path.into(), saved: Some(number), problem: None });
        assert_eq!(disk.take_news(9), [saved("boards/deep/new.md", 3), saved(RULES, 2)]);
        // The room's own text may be written over, whatever the order was made from.
        saver.save(RULES, order("three\n", Some("old\n"), 4));
        assert_eq!(saver.flush(), []);
        assert_eq!(on_disk(&folder), "three\n");
    }

    #[test]
    fn what_someone_else_wrote_is_held_for_until_the_world_has_taken_it_in() {
        let (folder, disk) = workspace("old\n");
        let saver = Saver::start(disk).expect("a thread can be started");
        fs::write(folder.path().join(RULES), "theirs\n").expect("files can be written");
        saver.save(RULES, order("ours\n", Some("old\n"), 1));
        assert_eq!(saver.flush().len(), 1);
        assert_eq!(on_disk(&folder), "theirs\n");
        saver.save(RULES, order("theirs\nours\n", Some("theirs\n"), 2));
        assert_eq!(saver.flush(), []);
        assert_eq!(on_disk(&folder), "theirs\nours\n");
    }

    #[test]
    fn a_file_taken_away_is_not_put_back_unasked_and_closing_keeps_the_rooms_version() {
        let (folder, disk) = workspace("old\n");
        let saver = Saver::start(disk).expect("a thread can be started");
        fs::remove_file(folder.path().join(RULES)).expect("it is there");
        saver.save(RULES, order("ours\n", Some("old\n"), 1));
        drop(saver);
        assert!(!folder.path().join(RULES).exists());
        let kept = folder.path().join(".workshop/unsaved/boards_rules.md");
        assert_eq!(fs::read_to_string(kept).expect("it was kept"), "ours\n");
    }

    #[test]
    fn dropping_writes_what_waits() {
        let (folder, disk) = workspace("old\n");
        let saver = Saver::start(disk).expect("a thread can be started");
        saver.save(RULES, order("last\n", Some("old\n"), 1));
        drop(saver);
        assert_eq!(on_disk(&folder), "last\n");
    }

    #[test]
    fn a_kill_before_the_rename_leaves_the_old_file_whole() {
        let (folder, disk) = workspace("old\n");
        let beside = write_beside(&folder.path().join(RULES), "half of the n").expect("it can be written");
        assert_eq!(on_disk(&folder), "old\n");
        let (files, problems) = layout::read_folder(folder.path());
        assert_eq!((files.len(), problems.len()), (1, 0));
        let saver = Saver::start(disk).expect("a thread can be started");
        saver.save(RULES, order("new\n", Some("old\n"), 1));
        assert_eq!(saver.flush(), []);
        assert!(!beside.exists() && on_disk(&folder) == "new\n");
    }

    #[cfg(unix)]
    #[test]
    fn rights_are_kept_and_what_cannot_be_written_is_tried_again() {
        use std::os::unix::fs::PermissionsExt;
        let (folder, disk) = workspace("old\n");
        let path = folder.path().join(RULES);
        let allow = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("rights can be set");
        allow(0o444);
        let saver = Saver::start(disk.clone()).expect("a thread can be started");
        saver.save(RULES, order("new\n", Some("old\n"), 1));
        assert!(saver.flush()[0].what.contains("read-only"));
        assert!(matches!(&disk.take_news(9)[..], [News::Saved(SaveReport { problem: Some(_), .. })]));
        allow(0o640);
        assert_eq!(saver.flush(), []);
        assert_eq!(on_disk(&folder), "new\n");
        assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn nothing_is_written_outside_the_places_of_a_room() {
        let (folder, disk) = workspace("old\n");
        let saver = Saver::start(disk).expect("a thread can be started");
        saver.save("../evil.md", order("x", None, 1));
        assert_eq!(saver.flush().len(), 1);
        assert!(!folder.path().join("../evil.md").exists());
    }
}
