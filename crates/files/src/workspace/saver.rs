//! Writing files: beside, synced, renamed, on a thread of its own. Never writes over what someone else wrote.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bevy::ecs::resource::Resource;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::disk::{Disk, News, SaveReport};
use super::files::FileContent;
use super::{layout, unsaved_copies};
use crate::base::Problem;
use crate::base::hash::content_hash;
use crate::safe_fs::{self, Folder, FoundKind, Placing};

/// How long writes are collected before they reach the disk, in wall-clock time.
const DEBOUNCE: Duration = Duration::from_millis(300);
/// How soon what could not be written is tried again.
const RETRY: Duration = Duration::from_millis(500);

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
    Stop(Sender<Vec<Problem>>),
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

    /// Writes what waits and stops; says what is not in its file and where it is kept instead.
    pub fn close(mut self) -> Vec<Problem> {
        self.stop()
    }

    /// Stops the thread once, and waits for it; says nothing where it was stopped before.
    fn stop(&mut self) -> Vec<Problem> {
        let Some(thread) = self.thread.take() else { return Vec::new() };
        let (reply, replied) = bounded(1);
        let is_told = self.wake.send(Wake::Stop(reply)).is_ok();
        if thread.join().is_err() {
            tracing::error!("the thread that saves files panicked; the last changes may not be on disk");
        }
        // The thread is over: what it had to say lies there, or nothing comes any more.
        if is_told { replied.try_recv().unwrap_or_default() } else { Vec::new() }
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        self.stop();
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
                Ok(Wake::Stop(reply)) => {
                    let kept = self.write_all_or_keep();
                    let _ = reply.send(kept);
                    return;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.write_all_or_keep();
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
                Ok(()) => drop(self.told.remove(&path)),
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

    /// The last chance: what cannot be written is kept where a person can find it.
    fn write_all_or_keep(&mut self) -> Vec<Problem> {
        let why: BTreeMap<String, Problem> =
            self.write_all().into_iter().map(|problem| (problem.place.clone(), problem)).collect();
        let root = self.disk.home().ok_or("its folder cannot be opened");
        let mut problems = Vec::new();
        for (path, order) in std::mem::take(&mut self.waiting) {
            let kept = root.as_ref().map_err(|error| error.to_string()).and_then(|root| {
                unsaved_copies::keep_text(root, &path, &order.text).map_err(|error| error.to_string())
            });
            let what = why.get(&path).map_or("could not be saved", |problem| &problem.what);
            let problem = match kept {
                Ok(kept) => Problem::warning(
                    &*path,
                    format!("{what}; the room closed, and its own version is kept as {kept}"),
                    "open the room again: its changes are joined with what stands in the file",
                ),
                Err(error) => Problem::error(
                    &*path,
                    format!(
                        "{what}; the room closed, and its own version could not be kept in {}: {error}",
                        unsaved_copies::PLACE
                    ),
                    "make room on the disk or let the folder be written, and open the room again",
                ),
            };
            tracing::warn!("{problem}");
            problems.push(problem);
        }
        problems
    }
}

enum NotSaved {
    /// Someone else's text stands there that the world has not taken in yet.
    Held,
    Failed(Problem),
}

fn write(disk: &Disk, path: &str, order: &SaveOrder) -> Result<(), NotSaved> {
    write_watched(disk, path, order, || {})
}

/// The same; a test does something when the new text is written and does not stand in its place yet.
fn write_watched(disk: &Disk, path: &str, order: &SaveOrder, written: impl FnOnce()) -> Result<(), NotSaved> {
    let failed = |what: String, remedy: &str| NotSaved::Failed(Problem::error(path, what, remedy));
    if !layout::matters(path) {
        return Err(failed("is no place for a file of a room".into(), "name a file like boards/rules.md"));
    }
    if !disk.is_in_place() {
        let what = format!("{} was moved or deleted while the room is open", disk.root().display());
        return Err(failed(what, "close the room, and open the workspace where it is now"));
    }
    let hash = content_hash(order.text.as_bytes());
    let mut ledger = disk.ledger();
    // Told while nobody else can look: what is found there later was made from this text, and comes after it.
    let saved = || {
        disk.tell(News::Saved(SaveReport { path: path.to_owned(), saved: Some(order.number), problem: None }));
        Ok(())
    };
    let there = match layout::read_file(disk.root(), path) {
        FileContent::Text(text) if text == order.text => {
            ledger.known.insert(path.to_owned(), hash);
            ledger.ours.insert(path.to_owned(), hash);
            return saved();
        }
        FileContent::Text(text) => {
            let there = Some(content_hash(text.as_bytes()));
            if there != order.over && there != ledger.ours.get(path).copied() {
                return Err(NotSaved::Held);
            }
            there
        }
        FileContent::Removed if order.over.is_none() => None,
        FileContent::Removed => return Err(NotSaved::Held),
        FileContent::Unusable { what, remedy } => {
            return Err(failed(format!("cannot be written over: it {what}"), &remedy));
        }
    };
    match put(disk, path, &order.text, there, written) {
        Ok(Placing::Placed) => {
            ledger.known.insert(path.to_owned(), hash);
            ledger.ours.insert(path.to_owned(), hash);
            saved()
        }
        Ok(Placing::Crossed) => Err(NotSaved::Held),
        Err(error) => {
            let remedy = "check that it and its folder may be written and that the disk is not full; it is tried again";
            Err(failed(format!("could not be saved: {error}"), remedy))
        }
    }
}

/// Puts a text in the place of the one that was looked at. A link stays a link; the file that it leads to changes.
fn put(disk: &Disk, path: &str, text: &str, over: Option<u64>, written: impl FnOnce()) -> io::Result<Placing> {
    let real = layout::real_place(disk.root(), path).map_err(|_| io::Error::other("it became a link meanwhile"))?;
    let root = Folder::open(disk.root())?;
    let folder = layout::folder_to_write(&root, &real)?;
    let (folder, name) = (folder.as_ref().unwrap_or(&root), layout::name_of(&real));
    let like = match folder.look(name) {
        Ok(found) if found.is_read_only => {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is marked read-only"));
        }
        Ok(found) if found.kind == FoundKind::File => Some(folder.open_file(name)?.0),
        _ => None,
    };
    let beside = safe_fs::name_beside(name);
    safe_fs::write_beside(folder, &beside, text.as_bytes(), like.as_ref())?;
    written();
    safe_fs::place(folder, &beside, name, over).inspect_err(|_| {
        // The error says enough; what is left over is cleared with the next start.
        let _ = folder.remove(&beside);
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

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
        let boards = Folder::open(&folder.path().join("boards")).expect("it is there");
        let beside = safe_fs::name_beside("rules.md");
        safe_fs::write_beside(&boards, &beside, b"half of the n", None).expect("it can be written");
        assert_eq!(on_disk(&folder), "old\n");
        let (files, problems) = layout::read_folder(folder.path());
        assert_eq!((files.len(), problems.len()), (1, 0));
        let saver = Saver::start(disk).expect("a thread can be started");
        saver.save(RULES, order("new\n", Some("old\n"), 1));
        assert_eq!(saver.flush(), []);
        assert!(boards.look(&beside).is_err() && on_disk(&folder) == "new\n");
    }

    #[test]
    fn a_save_between_the_look_and_the_rename_stays_and_both_are_joined() {
        let (folder, disk) = workspace("old\n");
        let full = folder.path().join(RULES);
        let in_place = || fs::write(&full, "theirs\n").expect("files can be written");
        let renamed = || {
            fs::write(folder.path().join("theirs"), "theirs\n").expect("files can be written");
            fs::rename(folder.path().join("theirs"), &full).expect("it can be renamed");
        };
        let gone = || fs::remove_file(&full).expect("it is there");
        let saves: [(&dyn Fn(), Option<&str>); 3] =
            [(&in_place, Some("theirs\n")), (&renamed, Some("theirs\n")), (&gone, None)];
        for (save, left) in saves {
            fs::write(&full, "old\n").expect("files can be written");
            let written = write_watched(&disk, RULES, &order("ours\n", Some("old\n"), 1), save);
            assert!(matches!(written, Err(NotSaved::Held)));
            assert_eq!(fs::read_to_string(&full).ok().as_deref(), left);
            assert_eq!(fs::read_dir(folder.path().join("boards")).expect("it is there").count(), left.iter().count());
        }
        // A new file that somebody else makes at the same moment.
        let new = folder.path().join("boards/new.md");
        let made = || fs::write(&new, "theirs\n").expect("files can be written");
        let written = write_watched(&disk, "boards/new.md", &order("ours\n", None, 1), made);
        assert!(matches!(written, Err(NotSaved::Held)));
        assert_eq!(fs::read_to_string(&new).expect("it is there"), "theirs\n");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_within_the_workspace_and_nowhere_else() {
        use std::os::unix::fs::symlink;
        let (folder, disk) = workspace("old\n");
        let elsewhere = tempfile::tempdir().expect("a temporary folder can be made");
        let far = elsewhere.path().join("far.md");
        for (path, text) in [(far.clone(), "old\n"), (folder.path().join("shared.md"), "old\n")] {
            fs::write(path, text).expect("files can be written");
        }
        fs::create_dir_all(folder.path().join(".git")).expect("folders can be made");
        fs::write(folder.path().join(".git/config"), "old\n").expect("files can be written");
        let board = |name: &str| folder.path().join("boards").join(name);
        symlink(&far, board("out.md")).expect("links can be made");
        symlink("../.git/config", board("hidden.md")).expect("links can be made");
        symlink("../nothing.md", board("dangling.md")).expect("links can be made");
        symlink("../shared.md", board("shared.md")).expect("links can be made");
        symlink(&far, board(".rules.md.workshop-writing")).expect("links can be made");
        let saver = Saver::start(disk).expect("a thread can be started");
        for name in ["out.md", "hidden.md", "dangling.md"] {
            saver.save(&format!("boards/{name}"), order("ours\n", Some("old\n"), 1));
        }
        assert_eq!(saver.flush().len(), 3);
        drop(saver);
        let (_, disk) = (0, Disk::new(folder.path(), &BTreeMap::new()));
        let saver = Saver::start(disk).expect("a thread can be started");
        saver.save("boards/shared.md", order("ours\n", Some("old\n"), 1));
        saver.save(RULES, order("ours\n", Some("old\n"), 1));
        assert_eq!(saver.flush(), []);
        assert!(board("shared.md").is_symlink() && !folder.path().join("nothing.md").exists());
        for (path, text) in [
            (far, "old\n"),
            (folder.path().join(".git/config"), "old\n"),
            (board("rules.md"), "ours\n"),
            (folder.path().join("shared.md"), "ours\n"),
        ] {
            assert_eq!(fs::read_to_string(&path).expect("it is there"), text, "{}", path.display());
        }
    }

    #[test]
    fn what_closing_cannot_write_is_told_as_it_is() {
        let (folder, disk) = workspace("old\n");
        let saver = Saver::start(disk.clone()).expect("a thread can be started");
        fs::write(folder.path().join(RULES), "theirs\n").expect("files can be written");
        saver.save(RULES, order("ours\n", Some("old\n"), 1));
        let told = saver.close();
        assert!(told[0].what.contains("someone else") && told[0].what.contains("unsaved/boards_rules.md"), "{told:?}");
        fs::write(folder.path().join(RULES), "old\n").expect("files can be written");
        let mut rights = fs::metadata(folder.path().join(RULES)).expect("it is there").permissions();
        rights.set_readonly(true);
        fs::set_permissions(folder.path().join(RULES), rights).expect("rights can be set");
        let saver = Saver::start(disk).expect("a thread can be started");
        saver.save(RULES, order("ours\n", Some("old\n"), 2));
        let told = saver.close();
        assert!(told[0].what.contains("read-only") && !told[0].what.contains("someone else"), "{told:?}");
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
