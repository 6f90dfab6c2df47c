//! The knowledge thread: it searches and writes memories, so that no tick waits for the disk or an embedding.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, never, select};
use serde::{Deserialize, Serialize};

use super::embedder::{EmbedderChoice, WantedEmbedder};
use super::files::{KnowledgeFiles, KnowledgeFilesError};
use super::knowledge_calls::{self, Caller};
use super::lessons::LessonAnswer;
use super::search::{MemorySearch, Search, searches};
use super::settings::KnowledgeSettings;
use crate::base::Id;
use crate::gateway::embedding::EmbeddingUsed;
use crate::knowledge::Owner;
use crate::knowledge::consolidation::{Candidate, Decision};
use crate::memory::{MemoriesCounted, MemoryCounts};
use crate::schedule::Input;
use crate::schedule::outside::{NoticeSender, Notices};
use crate::tools::{KnowledgeOrder, OrderReport};
use crate::workspace::vfs::FileHandle;

/// The maximum number of requests queued in the service; further ones wait in the world.
pub(super) const MAX_REQUESTS: usize = 256;
/// How many missing vectors are computed at a time while there are no requests.
const VECTORS_PER_BATCH: usize = 16;
/// The delay before embedding is retried after it failed for all texts.
const EMBEDDING_RETRY_DELAY: Duration = Duration::from_secs(5);
/// The delay before the model in the settings is tried again after it could not be reached.
const MODEL_RETRY_DELAY: Duration = Duration::from_secs(60);

/// Receives the answer to a request, on the knowledge thread. Dropped without having been called if there is none.
pub(super) type Reply<T> = Box<dyn FnOnce(T) + Send>;

/// A request to the service.
pub(super) enum ServiceRequest {
    /// Recalls memories for a prompt; the answer is the text of its part, or the reason why there is none.
    Recall {
        agent: Id,
        about: String,
        now: i64,
        settings: KnowledgeSettings,
        chars_at_most: usize,
        reply: Reply<Result<String, String>>,
    },
    /// Executes a tool call.
    Tool { caller: Caller, order: KnowledgeOrder, reply: Reply<OrderReport> },
    /// Finds memories similar to the candidates of a lesson.
    Compare { agent: Id, candidates: Vec<Candidate>, reply: Reply<LessonAnswer> },
    /// Applies the decisions of a lesson.
    ApplyDecisions { caller: Caller, decisions: Vec<Decision>, reply: Reply<LessonAnswer> },
    /// There are [`Instructions`].
    Instructions,
}

/// Why a request was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NotSent {
    /// The queue is full.
    Full,
    /// The thread has ended, or there is none.
    Ended,
}

/// What the thread does before its next request.
#[derive(Default)]
struct Instructions {
    /// Reads the files of these owners again, because they may have changed.
    changed: BTreeSet<Owner>,
    /// Switches to this embedding model.
    embedder: Option<EmbedderChoice>,
    /// Ends: the service was dropped.
    is_closed: bool,
}

/// The instructions, shared by the world and the thread.
#[derive(Clone, Default)]
struct SharedInstructions(Arc<Mutex<Instructions>>);

impl SharedInstructions {
    fn add(&self, add: impl FnOnce(&mut Instructions)) {
        add(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn take(&self) -> Instructions {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Input for EmbedderInUse {
    const KIND: &'static str = "embedder_in_use";
}

/// The embedding model in use, as reported to the room: an input, and a resource with the latest one.
#[derive(Message, Resource, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct EmbedderInUse {
    /// The name of the model.
    pub model: String,
    /// Why the model in the settings is not used or cannot be reached, and what to do.
    pub trouble: Option<String>,
}

/// What the service says to the room unasked.
#[derive(Clone)]
pub struct KnowledgeNotices {
    counted: NoticeSender<MemoriesCounted>,
    embedder: NoticeSender<EmbedderInUse>,
    used: NoticeSender<EmbeddingUsed>,
}

impl KnowledgeNotices {
    /// Returns the notices of a room.
    pub fn of(world: &World) -> Self {
        Self {
            counted: world.resource::<Notices<MemoriesCounted>>().sender(),
            embedder: world.resource::<Notices<EmbedderInUse>>().sender(),
            used: world.resource::<Notices<EmbeddingUsed>>().sender(),
        }
    }
}

/// The options of the service.
pub struct KnowledgeServiceOptions {
    /// The workspace folder.
    pub workspace: PathBuf,
    /// The folder for the database, which can be rebuilt.
    pub state_folder: PathBuf,
    /// The file service that writes files.
    pub files: FileHandle,
    /// The number of memories last reported to the room.
    pub counted: MemoryCounts,
    /// Where the service reports to the room unasked.
    pub notices: KnowledgeNotices,
}

/// The knowledge thread and its channels. Dropping it lets the running request finish.
pub struct KnowledgeService {
    /// `None` only while dropping.
    requests: Option<Sender<ServiceRequest>>,
    instructions: SharedInstructions,
    notices: KnowledgeNotices,
    search: MemorySearch,
    thread: Option<JoinHandle<()>>,
}

impl KnowledgeService {
    /// Starts the thread. Files are read with the first request, so a room that never uses memories does not read them.
    pub fn start(options: KnowledgeServiceOptions) -> std::io::Result<Self> {
        let (requests, received) = bounded(MAX_REQUESTS);
        let (search, searches_received) = searches();
        let (instructions, notices) = (SharedInstructions::default(), options.notices.clone());
        let work = ServiceState {
            counted: options.counted.clone(),
            options,
            instructions: instructions.clone(),
            opened: None,
            is_count_due: false,
            wanted: EmbedderChoice::default(),
            replaced: Vec::new(),
            retry_at: None,
            in_use: None,
        };
        let thread = std::thread::Builder::new()
            .name("knowledge".into())
            .spawn(move || work.run(&received, searches_received))?;
        Ok(Self { requests: Some(requests), instructions, notices, search, thread: Some(thread) })
    }

    /// Returns a handle for searching memories from outside the world.
    pub fn search(&self) -> MemorySearch {
        self.search.clone()
    }

    /// Sends a request. It is carried out after the instructions that were given before it.
    pub(super) fn ask(&self, request: ServiceRequest) -> Result<(), NotSent> {
        let requests = self.requests.as_ref().ok_or(NotSent::Ended)?;
        requests.try_send(request).map_err(|refused| match refused {
            TrySendError::Full(_) => NotSent::Full,
            TrySendError::Disconnected(_) => NotSent::Ended,
        })
    }

    /// Whether the thread has ended, so that nothing more is answered.
    pub(super) fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Lets the memory file of this owner be read again.
    pub(super) fn read_again(&self, owner: Owner) {
        self.instruct(|instructions| {
            instructions.changed.insert(owner);
        });
    }

    /// Switches to another embedding model.
    pub(super) fn use_embedder(&self, choice: EmbedderChoice) {
        self.instruct(|instructions| instructions.embedder = Some(choice));
    }

    fn instruct(&self, add: impl FnOnce(&mut Instructions)) {
        self.instructions.add(add);
        // If the queue is full, the thread finds them before its next request.
        let _ = self.ask(ServiceRequest::Instructions);
    }

    /// Reports the usage of this model since the last time to the room.
    pub(super) fn report_usage(&self, choice: &EmbedderChoice) {
        // What could not be reported is reported later.
        let _is_reported = choice.report_usage(&self.notices.used);
    }
}

impl Drop for KnowledgeService {
    fn drop(&mut self) {
        self.instructions.add(|instructions| instructions.is_closed = true);
        self.requests = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the knowledge thread panicked; what it was adding may not be on disk");
        }
    }
}

struct ServiceState {
    options: KnowledgeServiceOptions,
    instructions: SharedInstructions,
    opened: Option<KnowledgeFiles>,
    /// The number of memories last reported to the room.
    counted: MemoryCounts,
    /// Whether the number may be another one since then.
    is_count_due: bool,
    /// The chosen embedding model.
    wanted: EmbedderChoice,
    /// Earlier choices whose usage was not reported to the room yet.
    replaced: Vec<EmbedderChoice>,
    /// When the chosen model is tried again, if it could not be used.
    retry_at: Option<Instant>,
    /// The embedding model last reported to the room.
    in_use: Option<EmbedderInUse>,
}

/// The next thing for the thread to do.
enum Next {
    Request(ServiceRequest),
    Search(Search),
    /// There is no request: compute missing vectors.
    Idle,
    /// All senders are gone.
    Closed,
}

impl ServiceState {
    fn run(mut self, received: &Receiver<ServiceRequest>, mut searches_received: Receiver<Search>) {
        let mut is_idle = false;
        loop {
            let next = self.next(received, &mut searches_received, is_idle);
            if self.follow_instructions() {
                return;
            }
            match next {
                Next::Closed => return,
                Next::Idle => {
                    let made = self.opened.as_mut().map_or(Ok(0), |opened| opened.catch_up(VECTORS_PER_BATCH));
                    is_idle = made.as_ref().is_ok_and(|made| *made == 0) || made.is_err();
                }
                Next::Search(search) => {
                    let opened = self.open();
                    search.answer(opened.map(|opened| &*opened));
                }
                Next::Request(request) => {
                    is_idle = false;
                    self.retry_chosen_model();
                    self.answer(request);
                }
            }
            self.give_notices();
        }
    }

    /// Follows the instructions; returns whether the service was dropped.
    fn follow_instructions(&mut self) -> bool {
        let Instructions { changed, embedder, is_closed } = self.instructions.take();
        if is_closed {
            return true;
        }
        if let Some(choice) = embedder {
            let replaced = std::mem::replace(&mut self.wanted, choice);
            self.replaced.push(replaced);
            self.use_wanted_embedder();
        }
        for owner in changed {
            // Files that cannot be read are reported when they are needed.
            let _is_other = self.with(|files| files.read_again(&owner));
            self.is_count_due = true;
        }
        false
    }

    /// Waits for the next request or search, or for the time to compute missing vectors.
    fn next(
        &self,
        received: &Receiver<ServiceRequest>,
        searches_received: &mut Receiver<Search>,
        is_idle: bool,
    ) -> Next {
        let is_due = self.opened.as_ref().is_some_and(|opened| opened.known().due() > 0);
        let idle = match (is_due, is_idle) {
            (false, _) => never(),
            (true, true) => crossbeam_channel::after(EMBEDDING_RETRY_DELAY),
            (true, false) => crossbeam_channel::after(Duration::ZERO),
        };
        if let Ok(request) = received.try_recv() {
            return Next::Request(request);
        }
        select! {
            recv(received) -> request => request.map_or(Next::Closed, Next::Request),
            recv(*searches_received) -> search => match search {
                Ok(search) => Next::Search(search),
                Err(_) => {
                    *searches_received = never();
                    Next::Idle
                }
            },
            recv(idle) -> _ => Next::Idle,
        }
    }

    /// Answers a request. The notices about it come before its answer, so that the tick that has the answer has them.
    fn answer(&mut self, request: ServiceRequest) {
        match request {
            ServiceRequest::Recall { agent, about, now, settings, chars_at_most, reply } => {
                let recalled = self
                    .with(|files| Ok(knowledge_calls::recall(files, &agent, &about, (now, &settings, chars_at_most))));
                self.give_notices();
                reply(recalled.map_err(|error| error.to_string()));
            }
            ServiceRequest::Tool { caller, order, reply } => {
                let report = self.with(|files| Ok(knowledge_calls::execute(files, &caller, &order)));
                self.is_count_due = true;
                self.give_notices();
                reply(report.unwrap_or_else(|error| OrderReport::Failed { why: error.to_string() }));
            }
            ServiceRequest::Compare { agent, candidates, reply } => {
                let cases = self.with(|files| Ok(knowledge_calls::compare(files, &agent, &candidates)));
                self.give_notices();
                reply(lesson_answer(cases.map(|cases| LessonAnswer::Compared { cases })));
            }
            ServiceRequest::ApplyDecisions { caller, decisions, reply } => {
                let taken = self.with(|files| knowledge_calls::apply_decisions(files, &caller, &decisions));
                let answer = taken.map(|(told, contradictions)| LessonAnswer::TakenIn { told, contradictions });
                self.is_count_due = true;
                self.give_notices();
                reply(lesson_answer(answer));
            }
            // They were followed before.
            ServiceRequest::Instructions => {}
        }
    }

    /// Switches to the chosen model, unless the files are not opened yet.
    fn use_wanted_embedder(&mut self) {
        let Some(opened) = &mut self.opened else { return };
        if let Err(error) = opened.use_embedder(&self.wanted) {
            tracing::warn!("the other embedding model cannot be used: {error}");
        }
        self.schedule_retry();
    }

    fn schedule_retry(&mut self) {
        let is_other = self.opened.as_ref().is_some_and(|opened| opened.fallback_reason().is_some());
        // If the setting itself is invalid, retrying is useless until it is changed.
        let may_come = is_other && !matches!(self.wanted.wanted(), WantedEmbedder::Unknown(_));
        self.retry_at = may_come.then(|| Instant::now() + MODEL_RETRY_DELAY);
    }

    fn retry_chosen_model(&mut self) {
        if self.retry_at.is_some_and(|due| Instant::now() >= due) {
            self.use_wanted_embedder();
        }
    }

    /// Reports to the room what is new: the number of memories, the model in use, and what it cost. Never waits for the
    /// room; what it has no place for is reported later.
    fn give_notices(&mut self) {
        if self.is_count_due {
            self.is_count_due = !self.give_count();
        }
        self.give_embedder();
        let used = &self.options.notices.used;
        self.replaced.retain(|choice| !choice.report_usage(used));
        let _is_reported = self.wanted.report_usage(used);
    }

    /// Reports the model in use if it changed.
    fn give_embedder(&mut self) {
        let Some(opened) = &self.opened else { return };
        let embedder = opened.known().embedder();
        let trouble = opened.fallback_reason().map(str::to_owned).or_else(|| embedder.unavailable_reason());
        let in_use = EmbedderInUse { model: embedder.model().to_string(), trouble };
        if self.in_use.as_ref() != Some(&in_use) && self.options.notices.embedder.try_give(in_use.clone()) {
            self.in_use = Some(in_use);
        }
    }

    /// Reports the number of memories if it changed; returns whether the room has the right one.
    fn give_count(&mut self) -> bool {
        let Some(opened) = &self.opened else { return true };
        let counts = MemoryCounts { sessions: self.counted.sessions.clone(), ..opened.counts() };
        if counts == self.counted {
            return true;
        }
        let is_given = self.options.notices.counted.try_give(MemoriesCounted(counts.clone()));
        if is_given {
            self.counted = counts;
        }
        is_given
    }

    /// Returns the memory files, opening them first if needed.
    fn open(&mut self) -> Result<&mut KnowledgeFiles, KnowledgeFilesError> {
        if self.opened.is_none() {
            let KnowledgeServiceOptions { workspace, state_folder, files, .. } = &self.options;
            let opened = KnowledgeFiles::open_in_room(workspace, state_folder, files.clone(), &self.wanted)?;
            self.opened = Some(opened);
            self.schedule_retry();
        }
        Ok(self.opened.as_mut().expect("it was opened above, or before"))
    }

    /// Calls `act` with the memory files, opening them first if needed.
    fn with<T>(
        &mut self,
        act: impl FnOnce(&mut KnowledgeFiles) -> Result<T, KnowledgeFilesError>,
    ) -> Result<T, KnowledgeFilesError> {
        act(self.open()?)
    }
}

fn lesson_answer(answer: Result<LessonAnswer, KnowledgeFilesError>) -> LessonAnswer {
    answer.unwrap_or_else(|error| LessonAnswer::Failed { why: error.to_string() })
}
