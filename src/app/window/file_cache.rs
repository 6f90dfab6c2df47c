//! The window's cache of files, versions, runs, sessions and prompts, which a background thread reads, so that no
//! frame waits for the disk. Panes say what they want in every frame; what nobody wants for a while is forgotten, and
//! what has changed is read again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::background_jobs::{BackgroundJobs, OnDrop};
use crate::app::room::state_folder;
use crate::base::{Id, Seq};
use crate::kernel::session::SessionHead;
use crate::log::EventKind;
use crate::mind::Prompt;
use crate::store::{FileVersion, Reader, RunInfo, StoreError};
use crate::ui::library::{Library, Read, TextRead, Want};
use crate::view::book::{EventBook, EventRow};
use crate::workspace::vfs::records::record_heads;
use crate::workspace::vfs::{FileHistory, FileInfo};

/// Things to read that wait at most; what does not fit is asked for again in a later frame.
const REQUESTS_AT_MOST: usize = 64;
/// Records of earlier runs that are at hand from the start.
const EARLIER: usize = 20_000;
/// What nobody wanted for so long is forgotten, in seconds.
const FORGOTTEN_SECS: f64 = 30.0;
/// What may change without anybody telling is read again after so long, in seconds.
const AGAIN_SECS: f64 = 3.0;
/// Texts longer than this are only read again when somebody tells of a change.
const SMALL_BYTES: usize = 256 * 1024;

/// Something to read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Request {
    Want(Want),
    /// What happened before this record.
    Earlier(Seq),
    /// Everything that happened in a run.
    Run(Id),
}

/// What was read.
enum Loaded {
    Files(Read<Arc<Vec<FileInfo>>>),
    Text(String, Read<Option<TextRead>>),
    Versions(String, Read<Arc<Vec<FileVersion>>>),
    Version((String, u64), Read<Option<Arc<str>>>),
    Runs(Read<Arc<Vec<RunInfo>>>),
    Session(Id, Read<Option<Arc<str>>>),
    Prompt(Seq, Read<Option<Arc<Prompt>>>),
    Earlier(Read<Vec<Arc<EventRow>>>),
    Run(Id, Read<Vec<Arc<EventRow>>>),
}

/// The cache, and what is being read for it.
pub(super) struct FileCache {
    reads: BackgroundJobs<Request, (Request, Loaded)>,
    under_way: BTreeSet<Request>,
    /// What came while it was waited for.
    waiting: VecDeque<(Request, Loaded)>,
    /// When something was read, in seconds since the window opened.
    read_secs: BTreeMap<Want, f64>,
    /// When something was wanted last.
    wanted_secs: BTreeMap<Want, f64>,
    /// What has changed since it was read.
    stale: BTreeSet<Want>,
    /// Rows of the log that were looked at for changes: generation and number.
    seen: (u64, u64),
}

impl FileCache {
    /// Starts the thread for this workspace; `first` is the first record of the open run.
    pub(super) fn start(workspace: PathBuf, first: Seq) -> io::Result<Self> {
        let mut sources = Sources::new(workspace);
        let read = move |request: Request| {
            let loaded = sources.load(&request);
            (request, loaded)
        };
        let mut cache = Self {
            reads: BackgroundJobs::start("file cache", REQUESTS_AT_MOST, OnDrop::Discard, read)?,
            under_way: BTreeSet::new(),
            waiting: VecDeque::new(),
            read_secs: BTreeMap::new(),
            wanted_secs: BTreeMap::new(),
            stale: BTreeSet::new(),
            seen: (0, 0),
        };
        cache.request(Request::Earlier(first));
        Ok(cache)
    }

    /// Whether something is being read that will have to be shown.
    pub(super) fn is_busy(&self) -> bool {
        !self.under_way.is_empty()
    }

    /// Waits until everything that was asked for has come, at most so long.
    pub(super) fn wait(&mut self, at_most: Duration) {
        let until = Instant::now() + at_most;
        while self.waiting.len() < self.under_way.len() {
            let Some(loaded) = self.reads.next_until(until) else { break };
            self.waiting.push_back(loaded);
        }
    }

    /// Has a whole run read; it comes with [`FileCache::update`].
    pub(super) fn want_run(&mut self, run: &Id) {
        self.request(Request::Run(run.clone()));
    }

    /// Once a frame: puts what was read where panes look for it, and asks for what they want. A run that was asked
    /// for comes back.
    pub(super) fn update(
        &mut self,
        library: &mut Library,
        book: &mut EventBook,
        now_secs: f64,
    ) -> Option<(Id, Read<EventBook>)> {
        let run = self.receive(library, book, now_secs);
        self.look_for_changes(book);
        if std::mem::take(&mut library.files_are_stale) {
            self.stale.insert(Want::Files);
        }
        let wants = std::mem::take(&mut library.wants);
        for want in wants {
            let read = self.read_secs.get(&want).copied();
            let is_old = read.is_none_or(|read| now_secs - read >= AGAIN_SECS) && may_change_unseen(&want, library);
            if read.is_none() || is_old || self.stale.contains(&want) {
                self.request(Request::Want(want.clone()));
            }
            self.wanted_secs.insert(want, now_secs);
        }
        self.forget(library, now_secs);
        run
    }

    fn request(&mut self, request: Request) {
        if self.under_way.contains(&request) {
            return;
        }
        // Where too much waits, it is asked for again in the next frame.
        if self.reads.push(request.clone()) {
            if let Request::Want(want) = &request {
                self.stale.remove(want);
            }
            self.under_way.insert(request);
        }
    }

    fn receive(&mut self, library: &mut Library, book: &mut EventBook, now_secs: f64) -> Option<(Id, Read<EventBook>)> {
        let mut run = None;
        while let Some((request, loaded)) = self.waiting.pop_front().or_else(|| self.reads.try_next()) {
            self.under_way.remove(&request);
            if let Request::Want(want) = request {
                self.read_secs.insert(want, now_secs);
            }
            match loaded {
                Loaded::Files(files) => {
                    // A list that says the same is the same list to whoever compares.
                    let is_same = matches!((&library.files, &files), (Some(Ok(old)), Ok(new)) if old == new);
                    if !is_same {
                        library.files = Some(files);
                    }
                }
                Loaded::Text(path, text) => drop(library.texts.insert(path, text)),
                Loaded::Versions(path, versions) => drop(library.versions.insert(path, versions)),
                Loaded::Version(version, text) => drop(library.version_texts.insert(version, text)),
                Loaded::Runs(runs) => library.runs = Some(runs),
                Loaded::Session(activation, text) => drop(library.sessions.insert(activation, text)),
                Loaded::Prompt(call, prompt) => drop(library.prompts.insert(call, prompt)),
                Loaded::Earlier(Ok(rows)) => book.put_before(rows),
                Loaded::Earlier(Err(why)) => tracing::warn!("earlier runs cannot be read: {why}"),
                Loaded::Run(id, rows) => {
                    let book = rows.map(|rows| {
                        let mut book = EventBook::default();
                        rows.into_iter().for_each(|row| book.push_row(row));
                        book
                    });
                    run = Some((id, book));
                }
            }
        }
        run
    }

    /// What the log says has changed is to be read again.
    fn look_for_changes(&mut self, book: &EventBook) {
        let (generation, number) = self.seen;
        let from = if generation == book.generation() { number } else { book.first() };
        for (_, row) in book.since(from) {
            if row.kind != EventKind::FileChange {
                continue;
            }
            let value = row.value();
            let paths = [value["path"].as_str(), value["from"].as_str()];
            for path in paths.into_iter().flatten() {
                self.stale.insert(Want::Text(path.to_owned()));
                self.stale.insert(Want::Versions(path.to_owned()));
            }
            self.stale.insert(Want::Files);
        }
        self.seen = (book.generation(), book.count());
    }

    fn forget(&mut self, library: &mut Library, now_secs: f64) {
        let is_old = |last: &f64| now_secs - *last > FORGOTTEN_SECS;
        if !self.wanted_secs.values().any(is_old) {
            return;
        }
        let old: Vec<Want> =
            self.wanted_secs.iter().filter(|(_, last)| is_old(last)).map(|(want, _)| want.clone()).collect();
        for want in old {
            self.wanted_secs.remove(&want);
            self.read_secs.remove(&want);
            self.stale.remove(&want);
            match want {
                Want::Files => library.files = None,
                Want::Text(path) => drop(library.texts.remove(&path)),
                Want::Versions(path) => drop(library.versions.remove(&path)),
                Want::Version(path, version) => drop(library.version_texts.remove(&(path, version))),
                Want::Runs => library.runs = None,
                Want::Session(activation) => drop(library.sessions.remove(&activation)),
                Want::Prompt(call) => drop(library.prompts.remove(&call)),
            }
        }
    }
}

/// Whether something changes without a record in the log, or with one that comes late.
fn may_change_unseen(want: &Want, library: &Library) -> bool {
    match want {
        Want::Files | Want::Session(_) | Want::Runs => true,
        Want::Text(path) => match library.texts.get(path) {
            Some(Ok(Some(read))) => read.text.len() <= SMALL_BYTES,
            _ => true,
        },
        Want::Versions(_) => true,
        Want::Version(..) => false,
        // It is written a moment after the record of the call.
        Want::Prompt(call) => !matches!(library.prompts.get(call), Some(Ok(Some(_)))),
    }
}

/// Where things are read, on the background thread.
struct Sources {
    workspace: PathBuf,
    dir: PathBuf,
    history: Option<FileHistory>,
    log: Option<Reader>,
}

impl Sources {
    fn new(workspace: PathBuf) -> Self {
        let dir = state_folder(&workspace);
        Self { workspace, dir, history: None, log: None }
    }

    fn load(&mut self, request: &Request) -> Loaded {
        match request {
            Request::Earlier(first) => Loaded::Earlier(self.log().and_then(|log| {
                let rows = log.events_before(*first, EARLIER).map_err(|error| error.to_string())?;
                Ok(rows.iter().map(|record| Arc::new(EventRow::of(record))).collect())
            })),
            Request::Run(run) => Loaded::Run(run.clone(), self.run(run)),
            Request::Want(want) => self.load_want(want),
        }
    }

    fn load_want(&mut self, want: &Want) -> Loaded {
        match want.clone() {
            Want::Files => Loaded::Files(
                self.history().and_then(|files| files.files().map(Arc::new).map_err(|error| error.to_string())),
            ),
            Want::Text(path) => {
                let text = self.history().and_then(|files| files.look(&path));
                Loaded::Text(path, text.map(|text| text.map(TextRead::new)))
            }
            Want::Versions(path) => {
                let versions =
                    self.history().and_then(|files| files.versions(&path).map_err(|error| error.to_string()));
                Loaded::Versions(path, versions.map(Arc::new))
            }
            Want::Version(path, version) => {
                let text =
                    self.history().and_then(|files| files.text(&path, version).map_err(|error| error.to_string()));
                Loaded::Version((path, version), text.map(|text| text.map(Arc::from)))
            }
            Want::Runs => {
                Loaded::Runs(self.log().and_then(|log| log.runs().map(Arc::new).map_err(|error| error.to_string())))
            }
            Want::Session(activation) => {
                let text = session_file(&self.workspace, &activation)
                    .map_or(Ok(None), |path| self.history().and_then(|files| files.look(&path)));
                Loaded::Session(activation, text.map(|text| text.map(Arc::from)))
            }
            Want::Prompt(call) => Loaded::Prompt(call, self.prompt(call)),
        }
    }

    fn prompt(&mut self, call: Seq) -> Read<Option<Arc<Prompt>>> {
        let Some(text) = self.log()?.enclosure(call).map_err(|error| error.to_string())? else { return Ok(None) };
        let prompt = serde_json::from_str(&text).map_err(|error| format!("the prompt cannot be read: {error}"))?;
        Ok(Some(Arc::new(prompt)))
    }

    fn run(&mut self, run: &str) -> Read<Vec<Arc<EventRow>>> {
        let mut rows = VecDeque::new();
        self.log()?
            .for_each_event::<StoreError>(Some(run), |record| {
                if rows.len() >= crate::view::book::ROWS_KEPT {
                    rows.pop_front();
                }
                rows.push_back(Arc::new(EventRow::of(&record)));
                Ok(())
            })
            .map_err(|error| error.to_string())?;
        Ok(rows.into())
    }

    /// The files with their history; opened anew while there is none.
    fn history(&mut self) -> Read<&FileHistory> {
        let opened = match self.history.take().filter(FileHistory::has_versions) {
            Some(history) => history,
            None => FileHistory::open(&self.workspace, &self.dir).map_err(|error| error.to_string())?,
        };
        Ok(self.history.insert(opened))
    }

    fn log(&mut self) -> Read<&Reader> {
        let opened = match self.log.take() {
            Some(log) => log,
            None => Reader::open(&self.dir).map_err(|error| error.to_string())?,
        };
        Ok(self.log.insert(opened))
    }
}

/// The path of the session file of a piece of work, if there is one: that of its thread, or, where an older version
/// wrote it, its own.
fn session_file(workspace: &Path, activation: &str) -> Option<String> {
    let ending = format!(".{activation}.session.yaml");
    let heads = record_heads(workspace);
    let is_its = |head: &str| SessionHead::read(head).is_some_and(|head| head.holds(activation));
    let own = heads.iter().find(|record| record.path.ends_with(&ending));
    let record = own.or_else(|| heads.iter().find(|record| is_its(&record.head)));
    record.map(|record| record.path.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Reading {
        _folder: tempfile::TempDir,
        cache: FileCache,
        library: Library,
        book: EventBook,
        now_secs: f64,
    }

    impl Reading {
        fn new(files: &[(&str, &[u8])]) -> Self {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            for (path, bytes) in files {
                let path = folder.path().join(path);
                std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("folders can be made");
                std::fs::write(path, bytes).expect("files can be written");
            }
            let cache = FileCache::start(folder.path().to_owned(), Seq(1)).expect("a thread can be started");
            let (library, book) = (Library::default(), EventBook::default());
            Self { _folder: folder, cache, library, book, now_secs: 0.0 }
        }

        /// Frames go by until this is there.
        fn until<T>(&mut self, look: impl Fn(&mut Library) -> Option<T>) -> T {
            let began = Instant::now();
            loop {
                if let Some(found) = look(&mut self.library) {
                    return found;
                }
                assert!(began.elapsed() < Duration::from_secs(20), "it never came");
                self.now_secs += 0.016;
                self.cache.update(&mut self.library, &mut self.book, self.now_secs);
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn what_is_wanted_comes_in_a_later_frame_and_what_is_not_there_is_said() {
        let mut reading = Reading::new(&[("notes/plan.md", b"tea"), ("odd.bin", &[0xff, 0xfe, 0x00])]);
        let text = reading.until(|library| library.text("notes/plan.md").cloned());
        assert_eq!(text, Ok(Some(TextRead::new("tea"))));
        assert_eq!(reading.until(|library| library.text("gone.md").cloned()), Ok(None));
        assert!(reading.until(|library| library.text("odd.bin").cloned()).is_err(), "it is no text");
        assert!(reading.until(|library| library.text("../outside").cloned()).is_err());
        let files = reading.until(|library| Some(library.files()).filter(|files| !files.is_empty()));
        assert!(files.iter().any(|file| file.path == "notes/plan.md"));
    }

    #[test]
    fn what_nobody_wants_is_forgotten() {
        let mut reading = Reading::new(&[("plan.md", b"tea")]);
        reading.until(|library| library.text("plan.md").cloned()).expect("it can be read");
        reading.library.wants.clear();
        reading.now_secs += FORGOTTEN_SECS * 2.0;
        let now_secs = reading.now_secs;
        // The last want was said before; a frame without it forgets.
        reading.cache.update(&mut reading.library, &mut reading.book, now_secs);
        assert!(reading.library.texts.is_empty());
    }

    #[test]
    fn a_file_that_somebody_else_changed_is_read_again() {
        let mut reading = Reading::new(&[("plan.md", b"tea")]);
        reading.until(|library| library.text("plan.md").cloned()).expect("it can be read");
        std::fs::write(reading._folder.path().join("plan.md"), "coffee").expect("files can be written");
        reading.now_secs += AGAIN_SECS;
        let coffee = Ok(Some(TextRead::new("coffee")));
        reading.until(|library| library.text("plan.md").filter(|text| **text == coffee).cloned()).expect("it is there");
    }
}
