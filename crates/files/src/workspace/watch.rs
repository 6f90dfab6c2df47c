//! Noticing what others do to the files: by the system's word and, as a net, by looking every two seconds.
//! Whatever the word says, a file is read again and its hash compared: renames, bursts and our own writes are
//! all one case.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use bevy::ecs::resource::Resource;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use notify_debouncer_full::notify::{RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, RecommendedCache, new_debouncer};

use super::answers::AnswerLook;
use super::disk::{Disk, News, fingerprint};
use super::files::{FileChanged, FileContent};
use super::layout;

/// How long the system's word is collected, in wall-clock time.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// How often everything is looked at.
const POLL: Duration = Duration::from_secs(2);
/// The same where the system gives no word.
const POLL_ALONE: Duration = Duration::from_millis(500);
/// How long a file must be empty or gone before it is believed: others truncate, or remove, and then write.
const SETTLE: Duration = Duration::from_millis(300);
/// How soon the first answer of a person is found, whose folder is not there yet to be listened to.
const ANSWERS_LOOK: Duration = Duration::from_millis(250);
/// Words that wait; beyond that, everything is looked at.
const MAX_WORDS: usize = 256;

/// The thread that looks. Dropping it stops it.
#[derive(Resource)]
pub struct Watcher {
    disk: Arc<Disk>,
    words: Sender<Word>,
    thread: Option<JoinHandle<()>>,
}

enum Word {
    /// Something happened to these.
    Paths(Vec<PathBuf>),
    /// Something happened; look at everything.
    Anything,
    Stop,
}

impl Watcher {
    /// Starts the thread, which at once finds what differs from the texts that `disk` was made with, and the answers of
    /// persons that lie there where it is to look for them.
    pub fn start(disk: Arc<Disk>, mut answers: Option<AnswerLook>) -> io::Result<Self> {
        let (words, heard) = bounded(MAX_WORDS);
        let debouncer = listen(words.clone());
        if let Some(answers) = &mut answers {
            answers.once();
        }
        let mut look = Look { answers, ..Look::new(disk.clone()) };
        let run = move || look.run(&heard, debouncer);
        let thread = std::thread::Builder::new().name("watcher".into()).spawn(run)?;
        Ok(Self { disk, words, thread: Some(thread) })
    }

    pub(super) fn disk(&self) -> &Disk {
        &self.disk
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.words.send(Word::Stop);
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread that watches files panicked");
        }
    }
}

type Ears = Debouncer<RecommendedWatcher, RecommendedCache>;

fn listen(words: Sender<Word>) -> Option<Ears> {
    let ears = new_debouncer(DEBOUNCE, None, move |result: DebounceEventResult| {
        let word = match result {
            Ok(events) => {
                let changes = events.iter().filter(|event| !event.kind.is_access());
                Word::Paths(changes.flat_map(|event| event.paths.iter().cloned()).collect())
            }
            Err(_) => Word::Anything,
        };
        // If it is full, the thread is behind, and its next look at everything finds this too.
        let _ = words.try_send(word);
    });
    ears.map_err(|error| tracing::warn!("files are watched by looking every {POLL_ALONE:?}: {error}")).ok()
}

/// When a file was last written, and its length.
type Stamp = (SystemTime, u64);

struct Look {
    disk: Arc<Disk>,
    /// Files as they were when last read, to spare reading them in vain.
    stamps: HashMap<String, Stamp>,
    /// Since when a file has been empty or gone.
    doubts: HashMap<String, Instant>,
    listening: HashSet<PathBuf>,
    answers: Option<AnswerLook>,
}

impl Look {
    fn new(disk: Arc<Disk>) -> Self {
        Self { disk, stamps: HashMap::new(), doubts: HashMap::new(), listening: HashSet::new(), answers: None }
    }

    fn run(&mut self, heard: &Receiver<Word>, mut ears: Option<Ears>) {
        self.turn_ears(&mut ears);
        self.everything();
        let mut next_poll = Instant::now();
        loop {
            let poll = if ears.is_some() { POLL } else { POLL_ALONE };
            next_poll = next_poll.max(Instant::now()).min(Instant::now() + poll);
            let deadline =
                self.doubts.values().map(|since| *since + SETTLE).min().map_or(next_poll, |at| at.min(next_poll));
            let looks_for_answers = self.looks_for_answers();
            let deadline = if looks_for_answers { deadline.min(Instant::now() + ANSWERS_LOOK) } else { deadline };
            match heard.recv_deadline(deadline) {
                Ok(Word::Paths(paths)) => self.at_paths(&paths, &mut ears),
                Ok(Word::Anything) => self.everything(),
                Ok(Word::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) if looks_for_answers => self.look_for_answers(&mut ears),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let settled: Vec<_> = self
                .doubts
                .iter()
                .filter(|(_, since)| since.elapsed() >= SETTLE)
                .map(|(path, _)| path.clone())
                .collect();
            for path in settled {
                self.file(&path);
            }
            if Instant::now() >= next_poll {
                self.turn_ears(&mut ears);
                self.everything();
                next_poll = Instant::now() + poll;
            }
        }
    }

    /// Listens to every folder that is there by now.
    fn turn_ears(&mut self, ears: &mut Option<Ears>) {
        let Some(listener) = ears else { return };
        let root = self.disk.root().to_owned();
        let folders = [(root.clone(), RecursiveMode::NonRecursive)]
            .into_iter()
            .chain(["scenes", "agents", "boards"].map(|folder| (root.join(folder), RecursiveMode::Recursive)))
            .chain(self.answers_folder().map(|folder| (folder, RecursiveMode::NonRecursive)));
        for (folder, mode) in folders {
            if !folder.is_dir() {
                self.listening.remove(&folder);
            } else if !self.listening.contains(&folder) {
                match listener.watch(&folder, mode) {
                    Ok(()) => {
                        self.listening.insert(folder);
                    }
                    Err(error) => {
                        tracing::warn!("{} is watched by looking every {POLL_ALONE:?}: {error}", folder.display());
                        *ears = None;
                        return;
                    }
                }
            }
        }
    }

    /// Where answers lie, once one does.
    fn answers_folder(&self) -> Option<PathBuf> {
        self.answers.as_ref()?.folder().map(Path::to_owned)
    }

    /// Whether answers may come in a folder that nobody listens to.
    fn looks_for_answers(&self) -> bool {
        self.answers.is_some() && self.answers_folder().is_none_or(|folder| !self.listening.contains(&folder))
    }

    fn look_for_answers(&mut self, ears: &mut Option<Ears>) {
        if let Some(answers) = &mut self.answers {
            answers.once();
        }
        if self.answers_folder().is_some() {
            self.turn_ears(ears);
        }
    }

    fn at_paths(&mut self, paths: &[PathBuf], ears: &mut Option<Ears>) {
        let mut unclear = false;
        for path in paths {
            if self.answers.as_mut().is_some_and(|answers| answers.is_about(path)) {
                continue;
            }
            match self.place(path) {
                Some(place) if layout::matters(&place) => self.file(&place),
                // Hidden files are ours or an editor's; anything else may be a folder that came or went.
                Some(place) if !place.rsplit('/').next().is_some_and(|name| name.starts_with('.')) => unclear = true,
                Some(_) => {}
                None => unclear = true,
            }
        }
        if unclear {
            self.turn_ears(ears);
            self.everything();
        }
    }

    fn place(&self, path: &Path) -> Option<String> {
        layout::relative(self.disk.root(), path)
    }

    /// Looks at every file that is or was there, and reads those whose stamp changed.
    fn everything(&mut self) {
        if !self.disk.is_in_place() {
            return;
        }
        if let Some(answers) = &mut self.answers {
            answers.once();
        }
        let (mut paths, _) = layout::list(self.disk.root());
        let there: HashSet<&String> = paths.iter().collect();
        let gone: Vec<String> = self.disk.ledger().known.keys().filter(|path| !there.contains(path)).cloned().collect();
        paths.extend(gone);
        for path in paths {
            let stamp = stamp(&self.disk.root().join(&path));
            if stamp.is_none() || stamp != self.stamps.get(&path).copied() || self.doubts.contains_key(&path) {
                self.file(&path);
            }
        }
    }

    /// Reads one file and tells the world if it is not as the world knows it.
    fn file(&mut self, path: &str) {
        if !self.disk.is_in_place() {
            self.doubts.remove(path);
            return;
        }
        let mut ledger = self.disk.ledger();
        match stamp(&self.disk.root().join(path)) {
            Some(stamp) => self.stamps.insert(path.to_owned(), stamp),
            None => self.stamps.remove(path),
        };
        let content = layout::read_file(self.disk.root(), path);
        let found = fingerprint(&content);
        if found == ledger.known.get(path).copied() {
            self.doubts.remove(path);
            return;
        }
        let doubtful = match &content {
            FileContent::Text(text) => text.is_empty(),
            content => *content == FileContent::Removed,
        };
        if doubtful {
            let since = *self.doubts.entry(path.to_owned()).or_insert_with(Instant::now);
            if since.elapsed() < SETTLE {
                return;
            }
        }
        self.doubts.remove(path);
        match found {
            Some(hash) => ledger.known.insert(path.to_owned(), hash),
            None => ledger.known.remove(path),
        };
        self.disk.tell(News::Changed(FileChanged::new(path, content)));
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::saver::{SaveOrder, Saver};
    use super::*;

    const ADA: &str = "agents/ada.md";

    fn workspace() -> (tempfile::TempDir, Arc<Disk>) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::create_dir_all(folder.path().join("agents")).expect("folders can be made");
        fs::write(folder.path().join("settings.yaml"), "").expect("files can be written");
        fs::write(folder.path().join(ADA), "one").expect("files can be written");
        let (files, _) = layout::read_folder(folder.path());
        (folder.path().canonicalize().map(|root| Disk::new(&root, &files)).map(|disk| (folder, disk)))
            .expect("it is there")
    }

    fn write(folder: &tempfile::TempDir, path: &str, text: &str) {
        fs::write(folder.path().join(path), text).expect("files can be written");
    }

    /// The next news, waiting for it at most ten seconds.
    fn next(disk: &Disk) -> News {
        let start = Instant::now();
        loop {
            if let Some(news) = disk.take_news(1).pop() {
                return news;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "no news came");
            std::thread::yield_now();
        }
    }

    fn text(path: &str, text: &str) -> News {
        News::Changed(FileChanged::new(path, FileContent::Text(text.into())))
    }

    fn removed(path: &str) -> News {
        News::Changed(FileChanged::new(path, FileContent::Removed))
    }

    #[test]
    fn looking_finds_edits_new_files_and_files_that_are_gone() {
        let (folder, disk) = workspace();
        let mut look = Look::new(disk.clone());
        look.everything();
        assert_eq!(disk.take_news(9), []);
        write(&folder, ADA, "edited while closed");
        write(&folder, "agents/bob.md", "new");
        write(&folder, "agents/.hidden.md", "no");
        look.everything();
        assert_eq!(disk.take_news(9), [text(ADA, "edited while closed"), text("agents/bob.md", "new")]);
        fs::remove_file(folder.path().join("agents/bob.md")).expect("it is there");
        look.everything();
        assert_eq!(disk.take_news(9), [], "what is gone is not believed at once");
        look.doubts
            .insert("agents/bob.md".into(), Instant::now().checked_sub(SETTLE).expect("the machine ran that long"));
        look.everything();
        assert_eq!(disk.take_news(9), [removed("agents/bob.md")]);
    }

    #[cfg(unix)]
    #[test]
    fn a_workspace_that_is_moved_as_a_whole_is_no_edit_and_nothing_is_made_in_its_place() {
        let (folder, _) = workspace();
        let (here, there) = (folder.path().join("here"), folder.path().join("there"));
        fs::create_dir_all(here.join("agents")).expect("folders can be made");
        fs::write(here.join(ADA), "one").expect("files can be written");
        let disk = Disk::new(&here, &layout::read_folder(&here).0);
        let mut look = Look::new(disk.clone());
        fs::rename(&here, &there).expect("it can be moved");
        for _ in 0..2 {
            look.everything();
            look.file(ADA);
        }
        assert_eq!(disk.take_news(9), []);
        let saver = Saver::start(disk).expect("a thread can be started");
        saver.save(ADA, SaveOrder { text: "ours".into(), over: None, number: 1 });
        let told = saver.close();
        assert!(told[0].what.contains("moved or deleted") && !here.exists(), "{told:?}");
        let kept = fs::read_to_string(there.join(".workshop/unsaved/agents_ada.md"));
        assert_eq!(kept.expect("it went along"), "ours");
    }

    #[test]
    fn a_file_that_is_being_written_is_not_taken_for_empty() {
        let (folder, disk) = workspace();
        let mut look = Look::new(disk.clone());
        write(&folder, ADA, "");
        look.file(ADA);
        assert_eq!(disk.take_news(9), []);
        write(&folder, ADA, "two");
        look.file(ADA);
        assert_eq!(disk.take_news(9), [text(ADA, "two")]);
        assert!(look.doubts.is_empty());
        write(&folder, ADA, "");
        look.doubts.insert(ADA.into(), Instant::now().checked_sub(SETTLE).expect("the machine ran that long"));
        look.file(ADA);
        assert_eq!(disk.take_news(9), [text(ADA, "")]);
    }

    #[test]
    fn our_own_writes_are_no_news() {
        let (_folder, disk) = workspace();
        let mut look = Look::new(disk.clone());
        let saver = Saver::start(disk.clone()).expect("a thread can be started");
        saver.save(ADA, SaveOrder { text: "ours".into(), over: None, number: 1 });
        assert_eq!(saver.flush(), []);
        look.everything();
        assert!(matches!(&disk.take_news(9)[..], [News::Saved(_)]));
    }

    #[test]
    fn the_thread_hears_of_renames_bursts_and_folders() {
        let (folder, disk) = workspace();
        let watcher = Watcher::start(disk.clone(), None).expect("a thread can be started");
        // As editors save: beside, then renamed over.
        write(&folder, "agents/.ada.md.tmp", "renamed");
        fs::rename(folder.path().join("agents/.ada.md.tmp"), folder.path().join(ADA)).expect("it can be renamed");
        assert_eq!(next(&disk), text(ADA, "renamed"));
        for round in 0..50 {
            write(&folder, ADA, &format!("burst {round}"));
        }
        let mut last = next(&disk);
        while last != text(ADA, "burst 49") {
            last = next(&disk);
        }
        fs::create_dir_all(folder.path().join("boards/team")).expect("folders can be made");
        write(&folder, "boards/team/a.md", "in a new folder");
        assert_eq!(next(&disk), text("boards/team/a.md", "in a new folder"));
        fs::remove_dir_all(folder.path().join("boards")).expect("it is there");
        assert_eq!(next(&disk), removed("boards/team/a.md"));
        write(&folder, "agents/latin.md", "x");
        assert_eq!(next(&disk), text("agents/latin.md", "x"));
        fs::write(folder.path().join("agents/latin.md"), [0xe9]).expect("files can be written");
        assert!(matches!(next(&disk), News::Changed(FileChanged { content: FileContent::Unusable { .. }, .. })));
        drop(watcher);
    }
}
