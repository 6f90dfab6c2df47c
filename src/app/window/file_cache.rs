//! The window's cache of files, versions, runs, sessions and prompts, read by a background thread, so that no frame
//! waits for the disk. Panes request what they need in every frame; entries that are not requested for a while are
//! dropped. Cached entries are only read again when the file service or the log reports a change.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::background_jobs::{BackgroundJobs, OnDrop};
use crate::app::opening::state_folder;
use crate::base::{Id, Seq};
use crate::kernel::session::SessionHead;
use crate::mind::Prompt;
use crate::store::{FileVersion, Reader, RunInfo, StoreError};
use crate::ui::state::file_texts::{FileTextRequest, FileTexts, Read, TextRead};
use crate::view::event_list::{EventList, EventRow};
use crate::workspace::vfs::records::record_heads;
use crate::workspace::vfs::{ChangeFeed, FileHistory, FileInfo};

/// Maximum number of queued reads; what does not fit is requested again in a later frame.
const MAX_REQUESTS: usize = 64;
/// Number of records of earlier runs that are loaded at the start.
const EARLIER_ROWS: usize = 20_000;
/// How long unused content is kept, in seconds.
const UNUSED_TTL_SECS: f64 = 30.0;
/// When a failed read is retried, in seconds.
const RETRY_SECS: f64 = 3.0;

/// Something to read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Request {
    Want(FileTextRequest),
    /// The records before this one.
    Earlier(Seq),
    /// All records of a run.
    Run(Id),
}

/// The content that was read.
enum Loaded {
    Files(Read<Arc<Vec<FileInfo>>>),
    Text(String, Read<Option<TextRead>>),
    Versions(String, Read<Arc<Vec<FileVersion>>>),
    Version((String, u64), Read<Option<Arc<str>>>),
    Runs(Read<Arc<Vec<RunInfo>>>),
    /// With the path of the session file, if there is one.
    Session(Id, Option<String>, Read<Option<Arc<str>>>),
    Prompt(Seq, Read<Option<Arc<Prompt>>>),
    Earlier(Read<Vec<Arc<EventRow>>>),
    Run(Id, Read<Vec<Arc<EventRow>>>),
}

/// The cache, and pending reads.
pub(super) struct FileCache {
    reads: BackgroundJobs<Request, (Request, Loaded)>,
    in_flight: BTreeSet<Request>,
    /// Results that arrived in [`FileCache::wait`].
    waiting: VecDeque<(Request, Loaded)>,
    /// When content was read, in seconds since the window opened.
    read_secs: BTreeMap<FileTextRequest, f64>,
    /// When content was last requested.
    wanted_secs: BTreeMap<FileTextRequest, f64>,
    /// Content that has changed since it was read.
    stale: BTreeSet<FileTextRequest>,
    /// Reads from the history or the log that failed.
    failed: BTreeSet<FileTextRequest>,
    /// Prompts that were not saved yet when they were read.
    unwritten: BTreeSet<Seq>,
    /// The paths of session files, by activation; `None` if there is no file yet.
    session_paths: BTreeMap<Id, Option<String>>,
    /// The file service reports changes here.
    feed: ChangeFeed,
    /// The state of the log when it was last checked.
    log: LogState,
}

/// How far the log has been written: the data of a record is saved a moment after the record is shown.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct LogState {
    /// The generation of the event list and the number of rows shown.
    pub(super) shown: (u64, u64),
    /// Whether all rows shown are on disk.
    pub(super) is_written: bool,
}

impl FileCache {
    /// Starts the thread for this workspace, whose file service reports changes through `feed`; `first` is the first
    /// record of the open run.
    pub(super) fn start(workspace: PathBuf, feed: ChangeFeed, first: Seq) -> io::Result<Self> {
        let mut sources = Sources::new(workspace);
        let read = move |request: Request| {
            let loaded = sources.load(&request);
            (request, loaded)
        };
        let mut cache = Self {
            reads: BackgroundJobs::start("file cache", MAX_REQUESTS, OnDrop::Discard, read)?,
            in_flight: BTreeSet::new(),
            waiting: VecDeque::new(),
            read_secs: BTreeMap::new(),
            wanted_secs: BTreeMap::new(),
            stale: BTreeSet::new(),
            failed: BTreeSet::new(),
            unwritten: BTreeSet::new(),
            session_paths: BTreeMap::new(),
            feed,
            log: LogState::default(),
        };
        cache.request(Request::Earlier(first));
        Ok(cache)
    }

    /// Whether a read is pending whose result must be shown.
    pub(super) fn is_busy(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Waits until everything that was requested has arrived, up to this long.
    pub(super) fn wait(&mut self, at_most: Duration) {
        let until = Instant::now() + at_most;
        while self.waiting.len() < self.in_flight.len() {
            let Some(loaded) = self.reads.next_until(until) else { break };
            self.waiting.push_back(loaded);
        }
    }

    /// Requests a whole run, which arrives with [`FileCache::update`].
    pub(super) fn want_run(&mut self, run: &Id) {
        self.request(Request::Run(run.clone()));
    }

    /// Once per frame: hands loaded content to panes, and reads what they request. Returns a run that was requested.
    pub(super) fn update(
        &mut self,
        texts: &mut FileTexts,
        book: &mut EventList,
        is_log_written: bool,
        now_secs: f64,
    ) -> Option<(Id, Read<EventList>)> {
        let run = self.receive(texts, book, now_secs);
        self.note_changed_files(texts);
        self.note_log(LogState { shown: (book.generation(), book.count()), is_written: is_log_written });
        // The list of providers is not a file; `WindowServices` refreshes it.
        for want in texts.take_requests().into_iter().filter(|want| {
            !matches!(
                want,
                FileTextRequest::Providers | FileTextRequest::ServerConsents | FileTextRequest::CodingAgents(_)
            )
        }) {
            let is_due = match self.read_secs.get(&want) {
                None => true,
                Some(read) => {
                    self.stale.contains(&want) || (self.failed.contains(&want) && now_secs - read >= RETRY_SECS)
                }
            };
            if is_due {
                self.request(Request::Want(want.clone()));
            }
            self.wanted_secs.insert(want, now_secs);
        }
        self.forget(texts, now_secs);
        run
    }

    fn request(&mut self, request: Request) {
        if self.in_flight.contains(&request) {
            return;
        }
        // If the queue is full, it is requested again in the next frame.
        if self.reads.push(request.clone()) {
            if let Request::Want(want) = &request {
                self.stale.remove(want);
            }
            self.in_flight.insert(request);
        }
    }

    fn receive(&mut self, texts: &mut FileTexts, book: &mut EventList, now_secs: f64) -> Option<(Id, Read<EventList>)> {
        let mut run = None;
        while let Some((request, loaded)) = self.waiting.pop_front().or_else(|| self.reads.try_next()) {
            self.in_flight.remove(&request);
            if let Request::Want(want) = request {
                if loaded.has_failed() {
                    self.failed.insert(want.clone());
                } else {
                    self.failed.remove(&want);
                }
                self.read_secs.insert(want, now_secs);
            }
            match loaded {
                Loaded::Files(files) => {
                    // An equal list keeps its allocation, so that comparisons are cheap.
                    let is_same = matches!((&texts.files, &files), (Some(Ok(old)), Ok(new)) if old == new);
                    if !is_same {
                        texts.files = Some(files);
                    }
                }
                Loaded::Text(path, text) => drop(texts.texts.insert(path, text)),
                Loaded::Versions(path, versions) => drop(texts.versions.insert(path, versions)),
                Loaded::Version(version, text) => drop(texts.version_texts.insert(version, text)),
                Loaded::Runs(runs) => texts.runs = Some(runs),
                Loaded::Session(activation, path, text) => {
                    self.session_paths.insert(activation.clone(), path);
                    texts.sessions.insert(activation, text);
                }
                Loaded::Prompt(call, prompt) => {
                    if matches!(prompt, Ok(None)) {
                        self.unwritten.insert(call);
                    } else {
                        self.unwritten.remove(&call);
                    }
                    texts.prompts.insert(call, prompt);
                }
                Loaded::Earlier(Ok(rows)) => book.put_before(rows),
                Loaded::Earlier(Err(why)) => tracing::warn!("earlier runs could not be loaded: {why}"),
                Loaded::Run(id, rows) => {
                    let book = rows.map(|rows| {
                        let mut book = EventList::default();
                        rows.into_iter().for_each(|row| book.push_row(row));
                        book
                    });
                    run = Some((id, book));
                }
            }
        }
        run
    }

    /// Content that the file service reports as changed is read again; the list of files is updated at once.
    fn note_changed_files(&mut self, texts: &mut FileTexts) {
        let changed = self.feed.take();
        if changed.is_incomplete {
            let files = |want: &&FileTextRequest| {
                !matches!(want, FileTextRequest::Version(..) | FileTextRequest::Runs | FileTextRequest::Prompt(_))
            };
            self.stale.extend(self.wanted_secs.keys().filter(files).cloned());
        }
        if changed.files.is_empty() {
            return;
        }
        // A pending list may have been read before the change.
        if self.in_flight.contains(&Request::Want(FileTextRequest::Files)) {
            self.stale.insert(FileTextRequest::Files);
        }
        for file in changed.files {
            let path = &file.info.path;
            let is_known = |text: &Read<Option<TextRead>>| {
                matches!(text, Ok(Some(text)) if file.hash == Some(text.hash))
                    && !self.in_flight.contains(&Request::Want(FileTextRequest::Text(path.clone())))
            };
            if !texts.texts.get(path).is_some_and(is_known) {
                self.note_stale(FileTextRequest::Text(path.clone()));
            }
            self.note_stale(FileTextRequest::Versions(path.clone()));
            if path.starts_with("sessions/") {
                let is_elsewhere =
                    |activation: &Id| matches!(self.session_paths.get(activation), Some(Some(at)) if at != path);
                let may_be_its = |want: &&FileTextRequest| matches!(want, FileTextRequest::Session(activation) if !is_elsewhere(activation));
                let sessions: Vec<FileTextRequest> = self.wanted_secs.keys().filter(may_be_its).cloned().collect();
                self.stale.extend(sessions);
            }
            if let Some(Ok(files)) = &mut texts.files {
                list(Arc::make_mut(files), file.info);
            }
        }
    }

    /// Marks content as stale if it was requested, and so may have been read.
    fn note_stale(&mut self, want: FileTextRequest) {
        if self.wanted_secs.contains_key(&want) {
            self.stale.insert(want);
        }
    }

    /// Prompts that were not stored yet are looked up again when the log has grown.
    fn note_log(&mut self, log: LogState) {
        if std::mem::replace(&mut self.log, log) != log {
            self.stale.extend(self.unwritten.iter().copied().map(FileTextRequest::Prompt));
        }
    }

    fn forget(&mut self, texts: &mut FileTexts, now_secs: f64) {
        let is_old = |last: &f64| now_secs - *last > UNUSED_TTL_SECS;
        if !self.wanted_secs.values().any(is_old) {
            return;
        }
        let old: Vec<FileTextRequest> =
            self.wanted_secs.iter().filter(|(_, last)| is_old(last)).map(|(want, _)| want.clone()).collect();
        for want in old {
            self.wanted_secs.remove(&want);
            self.read_secs.remove(&want);
            self.stale.remove(&want);
            self.failed.remove(&want);
            match want {
                FileTextRequest::Providers | FileTextRequest::ServerConsents | FileTextRequest::CodingAgents(_) => {}
                FileTextRequest::Files => texts.files = None,
                FileTextRequest::Text(path) => drop(texts.texts.remove(&path)),
                FileTextRequest::Versions(path) => drop(texts.versions.remove(&path)),
                FileTextRequest::Version(path, version) => drop(texts.version_texts.remove(&(path, version))),
                FileTextRequest::Runs => texts.runs = None,
                FileTextRequest::Session(activation) => {
                    self.session_paths.remove(&activation);
                    texts.sessions.remove(&activation);
                }
                FileTextRequest::Prompt(call) => {
                    self.unwritten.remove(&call);
                    texts.prompts.remove(&call);
                }
            }
        }
    }
}

/// Updates a list of files with one that changed.
fn list(files: &mut Vec<FileInfo>, file: FileInfo) {
    match files.binary_search_by(|other| other.path.cmp(&file.path)) {
        Ok(at) if file.is_listed() => files[at] = file,
        Ok(at) => drop(files.remove(at)),
        Err(at) if file.is_listed() => files.insert(at, file),
        Err(_) => {}
    }
}

impl Loaded {
    /// Whether the history or the log could not be read. Texts are read again when their file changes.
    fn has_failed(&self) -> bool {
        match self {
            Self::Files(read) => read.is_err(),
            Self::Versions(_, read) => read.is_err(),
            Self::Version(_, read) => read.is_err(),
            Self::Runs(read) => read.is_err(),
            Self::Prompt(_, read) => read.is_err(),
            Self::Text(..) | Self::Session(..) | Self::Earlier(_) | Self::Run(..) => false,
        }
    }
}

/// The sources of content, on the background thread.
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
                let rows = log.events_before(*first, EARLIER_ROWS).map_err(|error| error.to_string())?;
                Ok(rows.iter().map(|record| Arc::new(EventRow::of(record))).collect())
            })),
            Request::Run(run) => Loaded::Run(run.clone(), self.run(run)),
            Request::Want(want) => self.load_want(want),
        }
    }

    fn load_want(&mut self, want: &FileTextRequest) -> Loaded {
        match want.clone() {
            FileTextRequest::Providers
            | FileTextRequest::ServerConsents
            | FileTextRequest::CodingAgents(_)
            | FileTextRequest::Files => Loaded::Files(
                self.history().and_then(|files| files.files().map(Arc::new).map_err(|error| error.to_string())),
            ),
            FileTextRequest::Text(path) => {
                let text = self.history().and_then(|files| files.read_if_exists(&path));
                Loaded::Text(path, text.map(|text| text.map(TextRead::new)))
            }
            FileTextRequest::Versions(path) => {
                let versions =
                    self.history().and_then(|files| files.versions(&path).map_err(|error| error.to_string()));
                Loaded::Versions(path, versions.map(Arc::new))
            }
            FileTextRequest::Version(path, version) => {
                let text =
                    self.history().and_then(|files| files.text(&path, version).map_err(|error| error.to_string()));
                Loaded::Version((path, version), text.map(|text| text.map(Arc::from)))
            }
            FileTextRequest::Runs => {
                Loaded::Runs(self.log().and_then(|log| log.runs().map(Arc::new).map_err(|error| error.to_string())))
            }
            FileTextRequest::Session(activation) => {
                let path = session_file(&self.workspace, &activation);
                let text =
                    path.as_ref().map_or(Ok(None), |path| self.history().and_then(|files| files.read_if_exists(path)));
                Loaded::Session(activation, path, text.map(|text| text.map(Arc::from)))
            }
            FileTextRequest::Prompt(call) => Loaded::Prompt(call, self.prompt(call)),
        }
    }

    fn prompt(&mut self, call: Seq) -> Read<Option<Arc<Prompt>>> {
        let Some(text) = self.log()?.attachment(call).map_err(|error| error.to_string())? else { return Ok(None) };
        let prompt = serde_json::from_str(&text).map_err(|error| format!("the prompt could not be loaded: {error}"))?;
        Ok(Some(Arc::new(prompt)))
    }

    fn run(&mut self, run: &str) -> Read<Vec<Arc<EventRow>>> {
        let mut rows = VecDeque::new();
        self.log()?
            .for_each_event::<StoreError>(Some(run), |record| {
                if rows.len() >= crate::view::event_list::ROWS_KEPT {
                    rows.pop_front();
                }
                rows.push_back(Arc::new(EventRow::of(&record)));
                Ok(())
            })
            .map_err(|error| error.to_string())?;
        Ok(rows.into())
    }

    /// The file history; opening is retried after a failure.
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

/// The path of a piece of work's session file, if it exists: its thread's file, or its own, as older versions wrote it.
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

    use crate::workspace::vfs::{ChangedFile, FileKind};

    struct Reading {
        folder: tempfile::TempDir,
        cache: FileCache,
        feed: ChangeFeed,
        texts: FileTexts,
        book: EventList,
        now_secs: f64,
    }

    impl Reading {
        fn new(files: &[(&str, &[u8])]) -> Self {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            let feed = ChangeFeed::default();
            let cache = FileCache::start(folder.path().to_owned(), feed.clone(), Seq(1));
            let cache = cache.expect("a thread can be started");
            let (texts, book) = (FileTexts::default(), EventList::default());
            let reading = Self { folder, cache, feed, texts, book, now_secs: 0.0 };
            files.iter().for_each(|(path, bytes)| reading.write(path, bytes));
            reading
        }

        fn write(&self, path: &str, bytes: &[u8]) {
            let path = self.folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("folders can be made");
            std::fs::write(path, bytes).expect("files can be written");
        }

        fn tell(&self, path: &str, is_there: bool) {
            let path = path.to_owned();
            let kind = FileKind::Unknown;
            let info = FileInfo { path, kind, size: 6, modified_ms: 9, version: 0, is_there };
            self.feed.push(ChangedFile { info, hash: None });
        }

        fn frame(&mut self) {
            self.now_secs += 0.016;
            self.cache.update(&mut self.texts, &mut self.book, true, self.now_secs);
        }

        /// Runs frames until `look` returns something.
        fn until<T>(&mut self, look: impl Fn(&mut FileTexts) -> Option<T>) -> T {
            let began = Instant::now();
            loop {
                if let Some(found) = look(&mut self.texts) {
                    return found;
                }
                assert!(began.elapsed() < Duration::from_secs(20), "it never came");
                self.frame();
                std::thread::yield_now();
            }
        }

        /// Runs frames that request these files until nothing is pending. Returns their content.
        fn texts(&mut self, paths: &[&str]) -> Vec<String> {
            loop {
                for path in paths {
                    self.texts.text(path);
                }
                self.frame();
                if !self.cache.is_busy() {
                    break;
                }
                self.cache.wait(Duration::from_secs(20));
            }
            let text = |path: &&str| match self.texts.texts.get(*path) {
                Some(Ok(Some(read))) => read.text.to_string(),
                other => format!("{other:?}"),
            };
            paths.iter().map(text).collect()
        }
    }

    #[test]
    fn requests_are_answered_in_a_later_frame_and_missing_files_reported() {
        let mut reading = Reading::new(&[("notes/plan.md", b"tea"), ("odd.bin", &[0xff, 0xfe, 0x00])]);
        let text = reading.until(|texts| texts.text("notes/plan.md").cloned());
        assert_eq!(text, Ok(Some(TextRead::new("tea"))));
        assert_eq!(reading.until(|texts| texts.text("gone.md").cloned()), Ok(None));
        assert!(reading.until(|texts| texts.text("odd.bin").cloned()).is_err(), "it is no text");
        assert!(reading.until(|texts| texts.text("../outside").cloned()).is_err());
        let files = reading.until(|texts| Some(texts.files()).filter(|files| !files.is_empty()));
        assert!(files.iter().any(|file| file.path == "notes/plan.md"));
    }

    #[test]
    fn unrequested_content_is_dropped() {
        let mut reading = Reading::new(&[("plan.md", b"tea")]);
        reading.until(|texts| texts.text("plan.md").cloned()).expect("it can be read");
        reading.texts.take_requests();
        reading.now_secs += UNUSED_TTL_SECS * 2.0;
        // Requests are renewed per frame; a frame without one drops the content.
        reading.frame();
        assert!(reading.texts.texts.is_empty());
    }

    #[test]
    fn only_reported_changes_are_read_again() {
        let mut reading = Reading::new(&[("a.md", b"one"), ("b.md", b"one")]);
        assert_eq!(reading.texts(&["a.md", "b.md"]), ["one", "one"]);
        reading.write("a.md", b"two");
        reading.write("b.md", b"two");
        for _ in 0..5 {
            reading.now_secs += UNUSED_TTL_SECS / 2.0;
            assert_eq!(reading.texts(&["a.md", "b.md"]), ["one", "one"], "nobody told");
        }
        reading.tell("b.md", true);
        assert_eq!(reading.texts(&["a.md", "b.md"]), ["one", "two"]);
        reading.tell("c.md", true);
        assert_eq!(reading.texts(&["a.md", "b.md"]), ["one", "two"], "nobody wants it");
    }

    #[test]
    fn after_too_many_changes_all_shown_content_is_read_again() {
        let mut reading = Reading::new(&[("a.md", b"one"), ("b.md", b"one")]);
        assert_eq!(reading.texts(&["a.md", "b.md"]), ["one", "one"]);
        reading.write("a.md", b"two");
        reading.write("b.md", b"two");
        (0..10_000).for_each(|number| reading.tell(&format!("{number}.md"), true));
        assert_eq!(reading.texts(&["a.md", "b.md"]), ["two", "two"]);
    }

    #[test]
    fn the_file_list_is_updated_without_reading_the_folder() {
        let mut reading = Reading::new(&[("a.md", b"one"), ("c.md", b"one")]);
        reading.until(|texts| Some(texts.files()).filter(|files| files.len() == 2));
        std::fs::remove_dir_all(reading.folder.path()).expect("it can be removed");
        reading.tell("b.md", true);
        reading.tell("c.md", false);
        let listed =
            |texts: &mut FileTexts| texts.files().iter().map(|file| (file.path.clone(), file.size)).collect::<Vec<_>>();
        let wanted = [("a.md".to_owned(), 3), ("b.md".to_owned(), 6)];
        reading.until(|texts| Some(()).filter(|()| listed(texts) == wanted));
    }

    #[test]
    fn only_the_session_whose_record_changed_is_read_again() {
        let record = |activation: &str, text: &str| {
            format!("activation: {activation}\nagent: ada\nstatus: running\nmessages:\n- text: {text}\n")
        };
        let paths = ["sessions/ada.act-1.session.yaml", "sessions/ada.act-2.session.yaml"];
        let write = |reading: &Reading, text: &str| {
            reading.write(paths[0], record("act-1", text).as_bytes());
            reading.write(paths[1], record("act-2", text).as_bytes());
        };
        let mut reading = Reading::new(&[]);
        write(&reading, "one");
        let shows = |texts: &mut FileTexts, wanted: [&str; 2]| {
            let shown = |texts: &mut FileTexts, activation: &str, text: &str| match texts.session(&activation.into()) {
                Some(Ok(Some(session))) => session.contains(text),
                _ => false,
            };
            let first = shown(texts, "act-1", wanted[0]);
            shown(texts, "act-2", wanted[1]) && first
        };
        reading.until(|texts| Some(()).filter(|()| shows(texts, ["one", "one"])));
        write(&reading, "two");
        reading.tell(paths[1], true);
        reading.until(|texts| Some(()).filter(|()| shows(texts, ["one", "two"])));
        assert!(!reading.cache.is_busy() && reading.cache.stale.is_empty());
    }

    #[test]
    fn a_missing_prompt_is_retried_when_the_log_grows() {
        let mut reading = Reading::new(&[]);
        reading.cache.unwritten.insert(Seq(3));
        reading.frame();
        assert!(reading.cache.stale.contains(&FileTextRequest::Prompt(Seq(3))), "everything is written now");
        reading.cache.stale.clear();
        reading.frame();
        assert!(reading.cache.stale.is_empty(), "nothing happened since");
    }
}
