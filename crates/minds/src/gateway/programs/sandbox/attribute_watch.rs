//! Guarded files beside MCP servers and coding agents that the system cannot keep from changing rights, owners, times and
//! attributes of files: these are compared after each call or turn, and when such a program ends; what was changed is put
//! back, and a person is told. One comparison serves all programs of a workspace: which of them changed a file cannot be
//! known.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio::time::timeout;

use super::attribute_reports::{AttributeChange, AttributesPutBack, PutBackListener};
#[cfg(target_os = "linux")]
use super::guarded_attributes::{GuardedAttributes, MAX_FILES};
use super::sandbox_root::STATE_FOLDER;
use crate::safe_fs;

/// The maximum size of a supervisor's report, in bytes.
const MAX_REPORT_BYTES: u64 = 16 * 1024 * 1024;
/// How long a call, a turn or the end of a program waits for the comparison, which continues afterwards.
const PATIENCE: Duration = Duration::from_secs(5);

/// The report of the supervisor of a command about what it put back: a file that the command cannot write.
pub(in crate::gateway::programs) struct SupervisorReport {
    file: PathBuf,
    program: String,
    listener: PutBackListener,
}

impl SupervisorReport {
    /// Expects a report in this workspace; `None` if its folder for the state of rooms does not exist yet.
    pub(in crate::gateway) fn expected(workspace: &Path, program: String, listener: PutBackListener) -> Option<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let folder = Some(workspace.join(STATE_FOLDER)).filter(|folder| folder.is_dir())?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let file = folder.join(format!("put-back-{}-{number}", std::process::id()));
        // It may be left from a process with the same id that was killed.
        let _ = std::fs::remove_file(&file);
        Some(Self { file, program, listener })
    }

    /// Where the supervisor writes it.
    pub(in crate::gateway) fn file(&self) -> &Path {
        &self.file
    }

    /// Passes the report on, if there is one, after the command has ended.
    pub(in crate::gateway) fn tell(self) {
        let text = match safe_fs::read_text(&self.file, MAX_REPORT_BYTES) {
            Ok(None) => return,
            Ok(Some(text)) => text,
            Err(error) => return tracing::warn!("what was put back after {} is unknown: {error}", self.program),
        };
        let _ = std::fs::remove_file(&self.file);
        let Ok(changes) = serde_json::from_str::<Vec<AttributeChange>>(&text) else {
            return tracing::warn!("what was put back after {} is unknown: {text:?}", self.program);
        };
        self.listener.tell(AttributesPutBack::of(vec![self.program], changes, None));
    }
}

/// The guarded files of a workspace, and the programs that run beside them.
#[derive(Default)]
struct WatchedFiles {
    workspace: PathBuf,
    /// What they must be like; `None` while no such program runs.
    guarded: Option<GuardedAttributes>,
    programs: BTreeMap<u64, String>,
    /// When the last comparison began.
    compared_at: Option<Instant>,
    is_incompleteness_told: bool,
}

type SharedFiles = Arc<AsyncMutex<WatchedFiles>>;

/// Returns the files of a workspace that all of its programs share.
fn files_of(workspace: &Path) -> SharedFiles {
    static ALL: Mutex<BTreeMap<PathBuf, Weak<AsyncMutex<WatchedFiles>>>> = Mutex::new(BTreeMap::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(files) = all.get(workspace).and_then(Weak::upgrade) {
        return files;
    }
    all.retain(|_, files| files.strong_count() > 0);
    let files = WatchedFiles { workspace: workspace.to_owned(), ..WatchedFiles::default() };
    let files: SharedFiles = Arc::new(AsyncMutex::new(files));
    all.insert(workspace.to_owned(), Arc::downgrade(&files));
    files
}

impl WatchedFiles {
    /// Adds a program before it is started.
    fn add(&mut self, program: u64, name: String, listener: &PutBackListener) -> io::Result<()> {
        if self.guarded.is_some() {
            self.compare(listener);
        } else {
            self.guarded = Some(GuardedAttributes::of_running(&self.workspace)?);
        }
        self.programs.insert(program, name);
        Ok(())
    }

    /// Compares the files for the last time beside a program that has ended.
    fn remove(&mut self, program: u64, listener: &PutBackListener) {
        if !self.programs.contains_key(&program) {
            return;
        }
        self.compare(listener);
        self.programs.remove(&program);
        if self.programs.is_empty() {
            self.guarded = None;
        }
    }

    /// Compares the files with what they must be like, and puts back what differs.
    fn compare(&mut self, listener: &PutBackListener) {
        let Some(guarded) = &mut self.guarded else { return };
        self.compared_at = Some(Instant::now());
        let changes = match guarded.check() {
            Ok(changes) => changes,
            Err(error) => {
                let failure = Some(error.to_string());
                vec![AttributeChange { path: "the workspace".to_owned(), changed: String::new(), failure }]
            }
        };
        let is_news = !guarded.is_complete() && !std::mem::replace(&mut self.is_incompleteness_told, true);
        if !changes.is_empty() || is_news {
            let mut programs: Vec<String> = self.programs.values().cloned().collect();
            programs.sort();
            programs.dedup();
            let compared_only = is_news.then_some(MAX_FILES);
            listener.tell(AttributesPutBack::of(programs, changes, compared_only));
        }
    }
}

/// A running program that the system cannot keep from changing attributes of guarded files.
pub(in crate::gateway) struct WatchedProgram {
    files: SharedFiles,
    number: u64,
    listener: PutBackListener,
}

impl WatchedProgram {
    /// Reads what the guarded files must be like, before the program starts.
    pub(in crate::gateway) async fn begin(
        name: String,
        workspace: &Path,
        listener: PutBackListener,
    ) -> io::Result<Self> {
        let workspace = workspace.canonicalize()?;
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // From here on, it is removed again whatever happens.
        let this = Self { files: files_of(&workspace), number, listener };
        let locked = this.files.clone().lock_owned().await;
        let listener = this.listener.clone();
        in_background(locked, move |files| files.add(number, name, &listener)).await??;
        Ok(this)
    }

    /// Compares the files after a call or a turn. Calls that end meanwhile share the next comparison.
    pub(in crate::gateway) async fn compare(&self) {
        let ended_at = Instant::now();
        let comparison = async {
            let locked = self.files.clone().lock_owned().await;
            let listener = self.listener.clone();
            if locked.compared_at.is_none_or(|at| at < ended_at) {
                in_background(locked, move |files| files.compare(&listener)).await?;
            }
            Ok(())
        };
        self.report(timeout(PATIENCE, comparison).await);
    }

    /// Compares the files after the program has ended.
    pub(in crate::gateway) async fn end(&self) {
        let (number, listener) = (self.number, self.listener.clone());
        let comparison = async {
            let locked = self.files.clone().lock_owned().await;
            in_background(locked, move |files| files.remove(number, &listener)).await
        };
        self.report(timeout(PATIENCE, comparison).await);
    }

    fn report(&self, outcome: Result<io::Result<()>, tokio::time::error::Elapsed>) {
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!("guarded files could not be compared: {error}"),
            Err(_) => tracing::warn!("guarded files take more than {} s to be compared", PATIENCE.as_secs()),
        }
    }
}

/// Works with the files on a thread that may block.
async fn in_background<T: Send + 'static>(
    mut files: OwnedMutexGuard<WatchedFiles>,
    work: impl FnOnce(&mut WatchedFiles) -> T + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(move || work(&mut files)).await.map_err(io::Error::other)
}

impl Drop for WatchedProgram {
    fn drop(&mut self) {
        let (files, number, listener) = (self.files.clone(), self.number, self.listener.clone());
        // One that was ended in time is not there any more.
        if files.try_lock().is_ok_and(|files| !files.programs.contains_key(&number)) {
            return;
        }
        // The runtime may be shutting down, and would drop this unseen: a thread of its own outlives it.
        let end = move || files.blocking_lock().remove(number, &listener);
        if let Err(error) = std::thread::Builder::new().name("guarded files".into()).spawn(end) {
            tracing::warn!("guarded files could not be compared: {error}");
        }
    }
}

/// No other system has Landlock, so nothing is ever watched there.
#[cfg(not(target_os = "linux"))]
enum GuardedAttributes {}

#[cfg(not(target_os = "linux"))]
const MAX_FILES: usize = 0;

#[cfg(not(target_os = "linux"))]
impl GuardedAttributes {
    fn of_running(_: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn is_complete(&self) -> bool {
        match *self {}
    }

    fn check(&mut self) -> io::Result<Vec<AttributeChange>> {
        match *self {}
    }
}

#[cfg(all(test, target_os = "linux"))]
#[path = "attribute_watch_tests.rs"]
mod tests;
