//! The thread that has the files: takes orders one after the other, answers each, and looks at what others did
//! whenever nobody asks.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TryRecvError, TrySendError, bounded, never, select};

use super::super::disk::Disk;
use super::super::layout;
use super::desk::{Desk, DeskError};
use super::ears::Ears;
use super::limits::FileLimits;
use super::order::{FileOrder, FileOutcome};
use super::outside::OutsideChange;
use crate::base::Problem;

/// Orders that wait at the desk; more wait in the world.
pub(super) const ORDERS_WAITING: usize = 256;
/// Words of the system that wait; beyond that, everything is looked at.
pub(super) const WORDS_WAITING: usize = 256;
/// How long a file must be empty or gone before it is believed: others truncate, or remove, and then write.
const SETTLE: Duration = Duration::from_millis(300);
/// How often every file is looked at, as a net under the system's word, in wall-clock time.
const POLL: Duration = Duration::from_secs(20);
/// The same where the system gives no word.
const POLL_ALONE: Duration = Duration::from_secs(3);

/// Which files a desk has.
#[derive(Clone, Debug)]
pub struct DeskPlace {
    /// The workspace's folder.
    pub root: PathBuf,
    /// Its `.workshop` folder, which whoever opens a desk must hold (see [`crate::store::Store`]).
    pub dir: PathBuf,
    /// How much the workspace may hold.
    pub limits: FileLimits,
    /// What the room's saver and watcher share, where there are any.
    pub disk: Option<Arc<Disk>>,
    /// Whether to notice what others do as it happens. What an order touches is compared in any case.
    pub watch: bool,
    /// Files in the workspace that the program itself writes for a person (a log, a picture): no news, no versions.
    pub ignored: BTreeSet<String>,
}

enum Command {
    Order(Box<FileOrder>),
    Limits(FileLimits),
    /// Someone else may have changed these.
    Look(Vec<String>),
}

/// Something happened to files.
pub(super) enum Word {
    Paths(Vec<PathBuf>),
    /// It is not known to which.
    Anything,
}

/// What others did and the world has not heard of: the newest of each file, so bounded by their number.
type News = Arc<Mutex<VecDeque<OutsideChange>>>;

/// The open files of a workspace. Dropping it finishes the orders that it has taken.
pub struct FileDesk {
    /// `None` only while dropping.
    commands: Option<Sender<Command>>,
    answers: Receiver<FileOutcome>,
    news: News,
    problems: Vec<Problem>,
    thread: Option<JoinHandle<()>>,
}

impl FileDesk {
    /// Opens the history, finishes what an earlier process had begun, looks at every folder, and starts the thread.
    pub fn open(place: DeskPlace) -> Result<Self, DeskError> {
        let mut desk = Desk::open(&place.root, &place.dir, place.limits, place.disk)?;
        let problems = std::mem::take(&mut desk.problems);
        desk.ignored = place.ignored;
        let (commands, taken) = bounded(ORDERS_WAITING);
        // The desk waits for the world where it is behind.
        let (answer, answers) = bounded(ORDERS_WAITING);
        let (words, heard) = bounded(WORDS_WAITING);
        let news = News::default();
        let ears = place.watch.then(|| Ears::new(&place.root, words));
        let mut work =
            Work { desk, ears, doubts: BTreeMap::new(), news: news.clone(), answer, poll_at: Instant::now() };
        let thread = std::thread::Builder::new().name("files".into()).spawn(move || work.run(&taken, &heard))?;
        Ok(Self { commands: Some(commands), answers, news, problems, thread: Some(thread) })
    }

    /// What a person must be told of how the files were found.
    pub fn take_problems(&mut self) -> Vec<Problem> {
        std::mem::take(&mut self.problems)
    }

    /// Hands over an order; gives it back if there is no room for it now.
    pub fn send(&self, order: FileOrder) -> Result<(), Box<FileOrder>> {
        let command = Command::Order(Box::new(order));
        self.try_send(command).map_err(|refused| match refused {
            Command::Order(order) => order,
            Command::Limits(_) | Command::Look(_) => unreachable!("a channel gives back what was sent"),
        })
    }

    /// The limits are others now; `false` if that could not be said.
    pub fn set_limits(&self, limits: FileLimits) -> bool {
        self.try_send(Command::Limits(limits)).is_ok()
    }

    /// Compares these files with their history: someone else may have changed them. `false` if there is no room for
    /// it now.
    pub fn look(&self, paths: Vec<String>) -> bool {
        self.try_send(Command::Look(paths)).is_ok()
    }

    /// The next answer, if there is one.
    pub fn try_next(&self) -> Option<FileOutcome> {
        self.answers.try_recv().ok()
    }

    /// The next answer, waiting for it at most so long.
    pub fn next(&self, timeout: Duration) -> Option<FileOutcome> {
        self.answers.recv_timeout(timeout).ok()
    }

    /// Takes at most so many of the things that others did, oldest first.
    pub fn take_news(&self, most: usize) -> Vec<OutsideChange> {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        let count = news.len().min(most);
        news.drain(..count).collect()
    }

    /// Whether others did something that the world has not heard of.
    pub fn has_news(&self) -> bool {
        !self.news.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Whether the thread is gone: nothing is answered any more.
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

impl Drop for FileDesk {
    fn drop(&mut self) {
        self.commands = None;
        // Nobody takes answers any more: the desk must not wait for that.
        self.answers = never();
        if let Some(Err(_panic)) = self.thread.take().map(JoinHandle::join) {
            tracing::error!("the thread that has the files panicked");
        }
    }
}

struct Work {
    desk: Desk,
    ears: Option<Ears>,
    /// Since when a file has been empty or gone.
    doubts: BTreeMap<String, Instant>,
    news: News,
    answer: Sender<FileOutcome>,
    poll_at: Instant,
}

impl Work {
    fn run(&mut self, commands: &Receiver<Command>, words: &Receiver<Word>) {
        self.plan_poll();
        loop {
            match commands.try_recv() {
                Ok(command) => {
                    self.obey(command);
                    continue;
                }
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => {}
            }
            let is_busy = self.desk.do_later();
            self.tell();
            if is_busy {
                continue;
            }
            select! {
                recv(commands) -> command => match command {
                    Ok(command) => self.obey(command),
                    Err(_) => return,
                },
                recv(words) -> word => match word {
                    Ok(word) => self.hear(word, words.is_full()),
                    // Nobody listens: orders and polling alone, without turning round and round here.
                    Err(_) => self.wait_for(commands),
                },
                default(self.patience()) => {}
            }
            self.settle_doubts();
            if self.ears.is_some() && Instant::now() >= self.poll_at {
                self.look_at_everything();
            }
        }
    }

    fn wait_for(&mut self, commands: &Receiver<Command>) {
        if let Ok(command) = commands.recv_timeout(self.patience()) {
            self.obey(command);
        }
    }

    /// How long there is nothing to do unless someone says so.
    fn patience(&self) -> Duration {
        let settled = self.doubts.values().min().map(|since| *since + SETTLE);
        let poll = self.ears.as_ref().map(|_| self.poll_at);
        let until = settled.into_iter().chain(poll).min();
        until.map_or(Duration::from_secs(3600), |until| until.saturating_duration_since(Instant::now()))
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Order(order) => {
                let outcome = self.desk.carry_out(&order);
                // Nobody may listen any more; what was done is recorded under the order's key.
                let _ = self.answer.send(outcome);
            }
            Command::Limits(limits) => self.desk.set_limits(limits),
            Command::Look(paths) => paths.iter().for_each(|path| self.desk.look(path)),
        }
    }

    fn hear(&mut self, word: Word, is_flooded: bool) {
        match word {
            Word::Paths(paths) if !is_flooded => {
                let mut unclear = false;
                for path in &paths {
                    unclear |= !self.hear_of(path);
                }
                if unclear {
                    self.desk.refresh("");
                    self.turn_ears();
                }
            }
            _ => self.look_at_everything(),
        }
    }

    /// Looks at a file that the system named; `false` if it is no file, or gone.
    fn hear_of(&mut self, full: &Path) -> bool {
        let root = self.desk.root.path();
        let Some(path) = layout::relative(root, full).filter(|path| !path.is_empty()) else { return false };
        if path.split('/').any(|part| part.starts_with('.')) {
            return true;
        }
        if self.desk.is_doubtful(&path) {
            // What was a folder is gone with all that was in it.
            let is_file = self.desk.index.get(&path).is_some();
            self.doubts.entry(path).or_insert_with(Instant::now);
            return is_file;
        }
        self.doubts.remove(&path);
        if full.is_dir() {
            return false;
        }
        self.desk.look(&path);
        true
    }

    fn settle_doubts(&mut self) {
        let is_settled = |since: &Instant| since.elapsed() >= SETTLE;
        let settled: Vec<String> =
            self.doubts.iter().filter(|(_, since)| is_settled(since)).map(|(path, _)| path.clone()).collect();
        for path in settled {
            self.doubts.remove(&path);
            self.desk.look(&path);
        }
    }

    fn look_at_everything(&mut self) {
        self.desk.look_at_everything();
        self.turn_ears();
        self.plan_poll();
    }

    fn turn_ears(&mut self) {
        if let Some(ears) = &mut self.ears {
            ears.turn();
        }
    }

    fn plan_poll(&mut self) {
        let hears = self.ears.as_ref().is_some_and(Ears::hears);
        self.poll_at = Instant::now() + if hears { POLL } else { POLL_ALONE };
    }

    /// Leaves for the world what others did.
    fn tell(&mut self) {
        if self.desk.news.is_empty() {
            return;
        }
        let newer: Vec<OutsideChange> = self.desk.news.drain(..).collect();
        let mut paths = BTreeSet::new();
        // Of several about one file the newest is told.
        let mut newest: Vec<OutsideChange> =
            newer.into_iter().rev().filter(|change| paths.insert(change.path.clone())).collect();
        newest.reverse();
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        news.retain(|other| !paths.contains(&other.path));
        news.extend(newest);
    }
}

#[cfg(test)]
#[path = "thread_tests.rs"]
mod tests;
