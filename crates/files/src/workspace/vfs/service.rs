//! The file service: the one thread that works with the files of a workspace. It executes and answers orders one at a
//! time, saves the room's changes, and notices external changes, so that none of these happen twice or interfere.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, SendError, Sender, TryRecvError, TrySendError, bounded, never, select};

use super::super::answer_files::AnswerWatcher;
use super::super::layout;
use super::change_feed::ChangeFeed;
use super::executor::{Executor, FileServiceError};
use super::external_edits::SETTLE;
use super::limits::FileLimits;
use super::order::{FileAnswer, FileFailure, FileOperation, FileOrder, FileOutcome};
use super::path::WorkspacePath;
use super::room_files::RoomFiles;
use super::running_programs::{ChangedByProgram, ProgramOwner};
use super::saving::{SaveOrder, SaveOrders, Saves, not_recorded};
use super::service_events::{ServiceEvent, ServiceEventQueue};
use super::user_changes::{NewFile, TextOrigin};
use super::watcher::{FileEvent, Watcher};
use super::worktrees::Worktrees;
use crate::base::{Author, Id, Problem};

/// The maximum number of orders in the service's queue; more wait in the world.
pub(super) const ORDERS_WAITING: usize = 256;
/// The maximum number of queued file system events; beyond that, everything is examined.
const EVENTS_WAITING: usize = 256;
/// The maximum number of records that could not be written while the room was closed and are reported individually.
const MAX_UNREPORTED: usize = 20;
/// How often the room's files are polled in addition to the system's events, in wall-clock time.
const POLL: Duration = Duration::from_secs(2);
/// The polling interval if the system does not report everything.
const POLL_ALONE: Duration = Duration::from_millis(500);
/// Every this many polls, all files are examined.
const POLLS_PER_FULL_LOOK: u32 = 10;
/// The delay before a flush is requested again if the queue was full.
const ASK_AGAIN: Duration = Duration::from_millis(1);
/// The interval at which a flush checks that the thread is still running.
const FLUSH_LIVENESS_INTERVAL: Duration = Duration::from_secs(1);
/// The polling interval for a person's first answer, while its folder does not exist and cannot be watched.
const ANSWER_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The options of a file service.
pub struct FileServiceOptions {
    /// The folder of the workspace.
    pub root: PathBuf,
    /// Its `.workshop` folder. The caller must hold it (see [`crate::store::Store`]).
    pub dir: PathBuf,
    /// The limits of the workspace.
    pub limits: FileLimits,
    /// The texts that the room starts from, of the files that it uses; `None` if there is no room.
    pub room: Option<BTreeMap<String, String>>,
    /// Whether to watch for external changes. Files that an order touches are compared in any case.
    pub watch: bool,
    /// The watcher for people's answers, if anyone waits for them.
    pub answers: Option<AnswerWatcher>,
    /// Files that the program itself writes into the workspace for a person (a log, a picture); they have no events and
    /// no versions.
    pub ignored: BTreeSet<String>,
}

impl FileServiceOptions {
    /// Returns options for a workspace without a room and without watching for external changes.
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            dir: root.join(".workshop"),
            limits: FileLimits::default(),
            room: None,
            watch: false,
            answers: None,
            ignored: BTreeSet::new(),
        }
    }
}

enum Command {
    Order(Box<FileOrder>),
    Limits(FileLimits),
    /// Examine these paths: someone else may have changed them.
    Look(Vec<String>),
    /// The room queued a save.
    Save,
    /// Write all earlier operations to disk; the reply lists those that failed.
    Flush(Sender<Vec<Problem>>),
    /// Create a file, unless it exists.
    Create {
        path: String,
        bytes: Vec<u8>,
        origin: TextOrigin,
        reply: Sender<io::Result<NewFile>>,
    },
    /// Perform a file operation from outside of the room, on someone's behalf.
    Change {
        author: Author,
        operation: FileOperation,
        reply: Sender<Result<FileAnswer, FileFailure>>,
    },
    /// The program itself is about to write this new file for the person.
    BeginExport(String),
    /// It has written the file, or could not.
    EndExport(String),
    /// A program of an agent is about to start; the reply is its number.
    BeginProgram {
        owner: ProgramOwner,
        reply: Sender<u64>,
    },
    /// A program has ended at this time, in nanoseconds since 1970; the reply says what it changed.
    EndProgram {
        number: u64,
        ended_ns: i64,
        reply: Sender<ChangedByProgram>,
    },
    /// No more changes belong to this program.
    ForgetProgram(u64),
    /// The reply says which agents wrote the present texts of these files.
    AgentWriters {
        paths: Vec<String>,
        reply: Sender<BTreeMap<String, Id>>,
    },
    /// Stop, after all earlier commands.
    Stop,
}

/// Access to the open files of a workspace for threads that work for the person and may block.
#[derive(Clone)]
pub struct FileHandle(Sender<Command>);

impl FileHandle {
    /// Creates a new file for the person.
    pub fn create(&self, path: &str, bytes: &[u8], origin: TextOrigin) -> io::Result<NewFile> {
        let (reply, replied) = bounded(1);
        let closed = || io::Error::other("the workspace was closed");
        let create = Command::Create { path: path.to_owned(), bytes: bytes.to_owned(), origin, reply };
        self.0.send(create).map_err(|_| closed())?;
        replied.recv().unwrap_or_else(|_| Err(closed()))
    }

    /// Deletes a file that was added, if it is unchanged since. The error says why it was not deleted.
    pub fn delete_added(&self, file: &NewFile) -> Result<(), String> {
        self.change(FileOperation::DeleteUnchanged { path: file.path.clone(), hash: file.hash }).map(drop)
    }

    /// Performs an operation for the person, and waits until it is done. The error says why it was not.
    pub fn change(&self, operation: FileOperation) -> Result<FileAnswer, String> {
        self.change_as(Author::user(), operation)
    }

    /// Like [`change`](Self::change), on behalf of `author`.
    pub fn change_as(&self, author: Author, operation: FileOperation) -> Result<FileAnswer, String> {
        let (reply, replied) = bounded(1);
        let closed = || "the workspace was closed".to_owned();
        self.0.send(Command::Change { author, operation, reply }).map_err(|_| closed())?;
        replied.recv().map_err(|_| closed())?.map_err(|failure| failure.what)
    }

    /// Writes a new file for the person with `write`, in the background and too large to be passed as a text. The file
    /// is the person's own, and not somebody else's.
    pub fn export<T>(&self, path: &str, write: impl FnOnce() -> T) -> T {
        // If sending fails, the workspace was closed, and nobody watches the file.
        let _ = self.0.send(Command::BeginExport(path.to_owned()));
        let written = write();
        let _ = self.0.send(Command::EndExport(path.to_owned()));
        written
    }

    /// Examines all files before a program of an agent starts. Returns the number of the program; `None` if the
    /// workspace was closed.
    pub(super) fn begin_program(&self, owner: ProgramOwner) -> Option<u64> {
        let (reply, replied) = bounded(1);
        self.0.send(Command::BeginProgram { owner, reply }).ok()?;
        replied.recv().ok()
    }

    /// Examines all files after a program has ended at this time, in nanoseconds since 1970.
    pub(super) fn end_program(&self, number: u64, ended_ns: i64) -> Option<ChangedByProgram> {
        let (reply, replied) = bounded(1);
        self.0.send(Command::EndProgram { number, ended_ns, reply }).ok()?;
        replied.recv().ok()
    }

    /// Returns the agents that wrote the present texts of these files, by path.
    pub(super) fn agent_writers(&self, paths: Vec<String>) -> Option<BTreeMap<String, Id>> {
        let (reply, replied) = bounded(1);
        self.0.send(Command::AgentWriters { paths, reply }).ok()?;
        replied.recv().ok()
    }

    /// Ends the attribution of changes to a program. Never waits long, because the thread takes its commands at once.
    pub(super) fn forget_program(&self, number: u64) {
        // If this fails, the workspace was closed.
        let _ = self.0.send(Command::ForgetProgram(number));
    }

    /// Waits until everything that the room ordered is on disk, and returns a problem for each text that is not.
    pub fn flush(&self) -> Vec<Problem> {
        let (reply, replied) = bounded(1);
        // If the room was closed meanwhile, everything was saved or reported.
        if self.0.send(Command::Flush(reply)).is_err() { Vec::new() } else { replied.recv().unwrap_or_default() }
    }
}

/// The open files of a workspace. Dropping it finishes accepted orders and saves pending changes.
pub struct FileService {
    /// `None` only while dropping.
    commands: Option<Sender<Command>>,
    answers: Receiver<FileOutcome>,
    saves: SaveOrders,
    news: ServiceEventQueue,
    feed: ChangeFeed,
    problems: Vec<Problem>,
    thread: Option<JoinHandle<Vec<Problem>>>,
}

impl FileService {
    /// Opens the history, completes interrupted changes, scans every folder, and starts the thread, which immediately
    /// looks for differences from the texts that the room starts from.
    pub fn open(options: FileServiceOptions) -> Result<Self, FileServiceError> {
        let mut files = Executor::open(&options.root, &options.dir, options.limits)?;
        let problems = std::mem::take(&mut files.problems);
        files.ignored = options.ignored;
        files.room = options.room.map(|texts| RoomFiles::new(&options.root, &texts, options.watch));
        let (commands, taken) = bounded(ORDERS_WAITING);
        // The bounded queue makes the service wait for a slow world.
        let (answer, answers) = bounded(ORDERS_WAITING);
        let (tell, events) = bounded(EVENTS_WAITING);
        let watcher = options.watch.then(|| Watcher::new(&options.root, tell));
        let mut persons = options.answers;
        if let Some(persons) = &mut persons {
            persons.once();
        }
        let (news, feed) = (files.news.clone(), files.feed.clone());
        let saves = Saves::default();
        let orders = saves.orders.clone();
        let now = Instant::now();
        let unreported = Vec::new();
        let worktrees = Worktrees::new(&options.dir);
        let (poll_at, answers_at) = (now, now);
        let mut work = ServiceState {
            files,
            worktrees,
            watcher,
            answer_watcher: persons,
            saves,
            answer,
            unreported,
            poll_at,
            polls: 0,
            answers_at,
        };
        let thread = std::thread::Builder::new().name("files".into()).spawn(move || work.run(&taken, events))?;
        Ok(Self { commands: Some(commands), answers, saves: orders, news, feed, problems, thread: Some(thread) })
    }

    /// The problems found with the files, to be shown to a person.
    pub fn take_problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.problems)
    }

    /// Queues an order; returns it if the queue is full.
    pub fn send(&self, order: FileOrder) -> Result<(), Box<FileOrder>> {
        let command = Command::Order(Box::new(order));
        self.try_send(command).map_err(|refused| match refused {
            Command::Order(order) => order,
            _ => unreachable!("a channel gives back what was sent"),
        })
    }

    /// Sets the limits; `false` if the queue is full.
    pub fn set_limits(&self, limits: FileLimits) -> bool {
        self.try_send(Command::Limits(limits)).is_ok()
    }

    /// Compares these files with their history, because someone else may have changed them. `false` if the queue is
    /// full.
    pub fn examine(&self, paths: Vec<String>) -> bool {
        self.try_send(Command::Look(paths)).is_ok()
    }

    /// Requests that one of the room's texts be saved shortly. Never waits.
    pub fn save(&self, path: &str, order: SaveOrder) {
        self.saves.queue(path, order);
        // A full queue means that the thread is awake; it checks for pending saves before it sleeps.
        let _ = self.try_send(Command::Save);
    }

    /// Waits until everything ordered is on disk, and returns a problem for each text that is not. Answers that arrive
    /// meanwhile are passed to `answered`.
    pub fn flush(&self, mut answered: impl FnMut(FileOutcome)) -> Vec<Problem> {
        let closed = || vec![Problem::error("workspace", "the file thread has stopped", "restart the program")];
        let Some(commands) = &self.commands else { return closed() };
        let (reply, replied) = bounded(1);
        let mut flush = Some(Command::Flush(reply));
        loop {
            if let Some(command) = flush.take() {
                match commands.try_send(command) {
                    Ok(()) => {}
                    Err(TrySendError::Full(command)) => flush = Some(command),
                    Err(TrySendError::Disconnected(_)) => return closed(),
                }
            }
            select! {
                recv(replied) -> problems => return problems.unwrap_or_else(|_| closed()),
                recv(self.answers) -> outcome => match outcome {
                    Ok(outcome) => answered(outcome),
                    Err(_) => return closed(),
                },
                // Only if the queue was full.
                default(if flush.is_some() { ASK_AGAIN } else { FLUSH_LIVENESS_INTERVAL }) => {}
            }
        }
    }

    /// Returns access to the files for threads that work for the person.
    pub fn handle(&self) -> Option<FileHandle> {
        self.commands.clone().map(FileHandle)
    }

    /// Completes all orders and stops. Returns a problem for each text that is not in its file, with the path where it
    /// is kept.
    pub fn close(mut self) -> Vec<Problem> {
        self.stop()
    }

    /// Stops the thread once, and waits for it; returns nothing if it was stopped before.
    fn stop(&mut self) -> Vec<Problem> {
        // No one receives answers any more, so the thread must not wait for room in their queue.
        self.answers = never();
        if let Some(commands) = self.commands.take() {
            // If this fails, the thread has ended, and joining it reports why.
            let _ = commands.send(Command::Stop);
        }
        let Some(thread) = self.thread.take() else { return Vec::new() };
        thread.join().unwrap_or_else(|_panic| {
            tracing::error!("the file thread panicked; the last changes may not be on disk");
            Vec::new()
        })
    }

    /// Returns the next answer, if there is one.
    pub fn try_next(&self) -> Option<FileOutcome> {
        self.answers.try_recv().ok()
    }

    /// Returns the next answer, waiting for it at most `timeout`.
    pub fn next(&self, timeout: Duration) -> Option<FileOutcome> {
        self.answers.recv_timeout(timeout).ok()
    }

    /// Removes and returns at most `most` events that the world has not received, oldest first.
    pub(in crate::workspace) fn take_events(&self, most: usize) -> Vec<ServiceEvent> {
        self.news.take(most)
    }

    /// Whether there are events that the world has not received.
    pub fn has_news(&self) -> bool {
        !self.news.is_empty()
    }

    /// The feed that tells a window which files changed.
    pub fn feed(&self) -> ChangeFeed {
        self.feed.clone()
    }

    /// Whether the thread has ended: nothing will be answered any more.
    pub fn is_dead(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn try_send(&self, command: Command) -> Result<(), Command> {
        let Some(commands) = &self.commands else { return Err(command) };
        commands.try_send(command).map_err(|refused| match refused {
            TrySendError::Full(command) | TrySendError::Disconnected(command) => command,
        })
    }
}

impl Drop for FileService {
    fn drop(&mut self) {
        self.stop();
    }
}

struct ServiceState {
    files: Executor,
    /// Agents' own copies of the workspace.
    worktrees: Worktrees,
    watcher: Option<Watcher>,
    /// The watcher for people's answers.
    answer_watcher: Option<AnswerWatcher>,
    saves: Saves,
    answer: Sender<FileOutcome>,
    /// Records that could not be written after the world stopped receiving answers.
    unreported: Vec<Problem>,
    poll_at: Instant,
    polls: u32,
    /// When answers are polled next.
    answers_at: Instant,
}

impl ServiceState {
    /// Runs until all senders of commands are gone. Returns a problem for each text that could not be saved.
    fn run(&mut self, commands: &Receiver<Command>, mut events: Receiver<FileEvent>) -> Vec<Problem> {
        if self.files.room.is_some() {
            self.files.keep_first_versions();
        }
        self.examine_room_files();
        self.plan_poll();
        loop {
            let mut is_busy = match commands.try_recv() {
                Ok(Command::Stop) | Err(TryRecvError::Disconnected) => break,
                Ok(command) => {
                    self.handle(command);
                    true
                }
                Err(TryRecvError::Empty) => false,
            };
            if let Ok(event) = events.try_recv() {
                self.handle_event(event, events.len() + 1 >= EVENTS_WAITING);
                is_busy = true;
            }
            self.run_due();
            self.files.report_changed();
            if is_busy || self.files.do_idle_task() {
                continue;
            }
            select! {
                recv(commands) -> command => match command {
                    Ok(Command::Stop) | Err(_) => break,
                    Ok(command) => self.handle(command),
                },
                recv(events) -> event => match event {
                    Ok(event) => self.handle_event(event, false),
                    // The watcher has ended: continue with orders and polling alone, instead of spinning here.
                    Err(_) => events = never(),
                },
                default(self.sleep_timeout()) => {}
            }
        }
        let mut problems = self.saves.write_all_or_keep(&mut self.files);
        problems.append(&mut self.unreported);
        problems
    }

    /// Returns how long the thread may sleep if there is no event.
    fn sleep_timeout(&self) -> Duration {
        let settled = self.files.unsettled.values().min().map(|since| *since + SETTLE);
        let poll = self.watcher.as_ref().map(|_| self.poll_at);
        let answers = self.looks_for_answers().then_some(self.answers_at);
        let until = [settled, poll, answers, self.saves.due, self.files.unfinished.due].into_iter().flatten().min();
        until.map_or(Duration::from_secs(3600), |until| until.saturating_duration_since(Instant::now()))
    }

    fn run_due(&mut self) {
        self.saves.write_due(&mut self.files);
        self.files.merge_late_writes();
        self.files.recheck_unsettled();
        if Instant::now() >= self.answers_at && self.looks_for_answers() {
            self.look_for_answers();
        }
        if self.watcher.is_some() && Instant::now() >= self.poll_at {
            self.polls += 1;
            if self.polls.is_multiple_of(POLLS_PER_FULL_LOOK) {
                self.examine_everything();
            } else {
                self.listen();
                self.examine_room_files();
            }
            self.plan_poll();
        }
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Order(order) => {
                if let FileOperation::EditWith { path, .. } = &order.operation
                    && let Ok(path) = WorkspacePath::new(path)
                {
                    self.saves.write_before_edit(&mut self.files, path.as_str());
                }
                let outcome = match &order.worktree {
                    Some(agent) => self.worktrees.carry_out(agent, &order, &mut self.files),
                    None => self.files.execute(&order),
                };
                // The receiver may be gone; the result is recorded under the order's key.
                if let Err(SendError(outcome)) = self.answer.send(outcome)
                    && let (Err(failure), FileOperation::Record { path, .. }) = (&outcome.result, &order.operation)
                    && self.unreported.len() < MAX_UNREPORTED
                {
                    self.unreported.push(not_recorded(path, failure));
                }
            }
            Command::Limits(limits) => self.files.set_limits(limits),
            Command::Look(paths) => paths.iter().for_each(|path| self.files.examine(path)),
            // Pending saves are written when they are due.
            Command::Save | Command::Stop => {}
            Command::Create { path, bytes, origin, reply } => {
                // If this fails, the requester is gone; the file is written anyway.
                let _ = reply.send(self.files.create(&path, &bytes, origin));
            }
            Command::Change { author, operation, reply } => {
                // As above: the change is done anyway.
                let _ = reply.send(self.files.change_beside_room(author, operation));
            }
            Command::BeginExport(path) => self.files.begin_export(&path),
            Command::EndExport(path) => self.files.end_export(&path),
            Command::BeginProgram { owner, reply } => {
                let number = self.files.begin_program(owner);
                self.listen();
                if reply.send(number).is_err() {
                    self.files.forget_program(number);
                }
            }
            Command::EndProgram { number, ended_ns, reply } => {
                // As above: the changes are recorded anyway.
                let _ = reply.send(self.files.end_program(number, ended_ns));
                self.listen();
            }
            Command::ForgetProgram(number) => self.files.forget_program(number),
            Command::AgentWriters { paths, reply } => {
                // If nobody waits any more, there is nothing to tell.
                let _ = reply.send(self.files.agent_writers(paths));
            }
            Command::Flush(reply) => {
                // As above: the saves are on disk anyway.
                let _ = reply.send(self.saves.write_all_settled(&mut self.files));
            }
        }
    }

    fn handle_event(&mut self, event: FileEvent, is_flooded: bool) {
        match event {
            FileEvent::Paths(paths) if !is_flooded => {
                let mut is_unclear = false;
                for path in &paths {
                    is_unclear |= !self.note_path_event(path);
                }
                if is_unclear {
                    self.files.refresh("");
                    self.listen();
                    self.examine_room_files();
                }
            }
            _ => self.examine_everything(),
        }
    }

    /// Examines a path that the system named; `false` if it is not a file, or was deleted.
    fn note_path_event(&mut self, full: &Path) -> bool {
        if self.answer_watcher.as_mut().is_some_and(|persons| persons.is_about(full)) {
            return true;
        }
        let root = self.files.root.path();
        let Some(path) = layout::relative(root, full).filter(|path| !path.is_empty()) else { return false };
        if path != layout::MCP_FILE && path.split('/').any(|part| part.starts_with('.')) {
            return true;
        }
        if self.files.is_missing_or_empty(&path) {
            // A folder was replaced, and all of its files were deleted.
            let is_file = self.files.index.get(&path).is_some();
            self.files.unsettled.entry(path).or_insert_with(Instant::now);
            return is_file;
        }
        self.files.unsettled.remove(&path);
        if full.is_dir() {
            return false;
        }
        self.files.examine(&path);
        true
    }

    fn examine_everything(&mut self) {
        self.files.examine_everything();
        self.listen();
        self.examine_room_files();
    }

    fn examine_room_files(&mut self) {
        self.files.examine_room_files();
        if let Some(persons) = &mut self.answer_watcher {
            persons.once();
        }
    }

    fn listen(&mut self) {
        let answers = self.answer_watcher.as_ref().and_then(AnswerWatcher::folder);
        if let Some(watcher) = &mut self.watcher {
            watcher.listen(answers);
        }
    }

    /// Whether answers may arrive in a folder that is not watched.
    fn looks_for_answers(&self) -> bool {
        let Some(persons) = &self.answer_watcher else { return false };
        !persons.folder().zip(self.watcher.as_ref()).is_some_and(|(folder, watcher)| watcher.listens_to(folder))
    }

    fn look_for_answers(&mut self) {
        if let Some(persons) = &mut self.answer_watcher {
            persons.once();
            if persons.folder().is_some() {
                self.listen();
            }
        }
        self.answers_at = Instant::now() + ANSWER_POLL_INTERVAL;
    }

    fn plan_poll(&mut self) {
        let is_covered = self.watcher.as_ref().is_some_and(Watcher::covers_everything);
        self.poll_at = Instant::now() + if is_covered { POLL } else { POLL_ALONE };
    }
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;
