//! The knowledge thread: it searches and writes memories, so that no tick waits for the disk or an embedding.

use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, never, select};
use serde::{Deserialize, Serialize};

use super::embedder::{EmbedderChoice, WantedEmbedder};
use super::files::{KnowledgeFiles, KnowledgeFilesError};
use super::knowledge_calls::{self, Caller};
use super::lessons::{LessonAnswer, LessonAnswered};
use super::search::{MemorySearch, Search, searches};
use super::settings::KnowledgeSettings;
use crate::base::Id;
use crate::knowledge::Owner;
use crate::knowledge::consolidation::{Candidate, Decision};
use crate::memory::MemoryCounts;
use crate::mind::GatherKey;
use crate::schedule::Input;
use crate::tools::{KnowledgeOrder, OrderKey, OrderReport};
use crate::workspace::vfs::FileHandle;

/// The maximum number of requests queued in the service; further ones wait in the world.
const MAX_REQUESTS: usize = 256;
/// How many missing vectors are computed at a time while there are no requests.
const VECTORS_PER_BATCH: usize = 16;
/// The delay before embedding is retried after it failed for all texts.
const EMBEDDING_RETRY_DELAY: Duration = Duration::from_secs(5);
/// The delay before the model in the settings is tried again after it could not be reached.
const MODEL_RETRY_DELAY: Duration = Duration::from_secs(60);

/// A request to the service.
#[derive(Clone, Debug)]
pub(super) enum ServiceRequest {
    /// Recalls memories for a prompt.
    Recall { key: GatherKey, agent: Id, about: String, now: i64, settings: KnowledgeSettings, chars_at_most: usize },
    /// Executes a tool call.
    Tool { key: OrderKey, caller: Caller, order: KnowledgeOrder },
    /// Finds memories similar to the candidates of a lesson.
    Compare { lesson: u64, agent: Id, candidates: Vec<Candidate> },
    /// Applies the decisions of a lesson.
    ApplyDecisions { lesson: u64, caller: Caller, decisions: Vec<Decision> },
    /// A file may have changed.
    Changed(Owner),
    /// Switches to another embedding model.
    UseEmbedder(Box<EmbedderChoice>),
}

impl ServiceRequest {
    /// The answer that fails with this reason; `None` for requests without an answer.
    pub(super) fn refused(self, why: String) -> Option<Answer> {
        match self {
            Self::Recall { key, .. } => Some(Answer::Part(key, Err(why))),
            Self::Tool { key, .. } => Some(Answer::Tool(key, OrderReport::Failed { why })),
            Self::Compare { lesson: number, .. } | Self::ApplyDecisions { lesson: number, .. } => {
                Some(Answer::Lesson(LessonAnswered { number, answer: LessonAnswer::Failed { why } }))
            }
            Self::Changed(_) | Self::UseEmbedder(_) => None,
        }
    }

    /// Whether the request may change the number of memories.
    fn may_change(&self) -> bool {
        matches!(self, Self::Tool { .. } | Self::ApplyDecisions { .. } | Self::Changed(_))
    }
}

impl Input for EmbedderInUse {
    const KIND: &'static str = "embedder_in_use";
}

/// An answer of the service.
#[derive(Debug)]
pub(super) enum Answer {
    /// To a prompt: the text of its part, or the reason why there is none.
    Part(GatherKey, Result<String, String>),
    /// To a tool call.
    Tool(OrderKey, OrderReport),
    /// To a lesson.
    Lesson(LessonAnswered),
    /// The new number of memories.
    Counted(MemoryCounts),
    /// The embedding model in use.
    Embedder(EmbedderInUse),
}

/// The embedding model in use, as reported to the room: an input, and a resource with the latest one.
#[derive(Message, Resource, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct EmbedderInUse {
    /// The name of the model.
    pub model: String,
    /// Why the model in the settings is not used or cannot be reached, and what to do.
    pub trouble: Option<String>,
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
}

/// The knowledge thread and its channels. Dropping it lets running requests finish.
pub struct KnowledgeService {
    /// `None` only while dropping.
    requests: Option<Sender<ServiceRequest>>,
    answers: Receiver<Answer>,
    search: MemorySearch,
    thread: Option<JoinHandle<()>>,
}

impl KnowledgeService {
    /// Starts the thread. Files are read with the first request, so a room that never uses memories does not read them.
    pub fn start(options: KnowledgeServiceOptions) -> std::io::Result<Self> {
        let (requests, received) = bounded(MAX_REQUESTS);
        // The caller receives all answers before it makes further requests.
        let (answer, answers) = bounded(2 * MAX_REQUESTS);
        let (search, searches_received) = searches();
        let work = ServiceState {
            counted: options.counted.clone(),
            options,
            opened: None,
            answer,
            wanted: EmbedderChoice::default(),
            retry_at: None,
            in_use: None,
        };
        let thread = std::thread::Builder::new()
            .name("knowledge".into())
            .spawn(move || work.run(&received, searches_received))?;
        Ok(Self { requests: Some(requests), answers, search, thread: Some(thread) })
    }

    /// Returns a handle for searching memories from outside the world.
    pub fn search(&self) -> MemorySearch {
        self.search.clone()
    }

    /// Sends a request; returns it if the queue is full.
    pub(super) fn ask(&self, request: ServiceRequest) -> Result<(), Box<ServiceRequest>> {
        let Some(requests) = &self.requests else { return Err(Box::new(request)) };
        requests.try_send(request).map_err(|refused| match refused {
            TrySendError::Full(request) | TrySendError::Disconnected(request) => Box::new(request),
        })
    }

    /// Returns the next answer, if there is one.
    pub(super) fn try_next(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }

    /// Waits for the next answer, at most `timeout`.
    pub(super) fn next(&self, timeout: Duration) -> Option<Answer> {
        self.answers.recv_timeout(timeout).ok()
    }

    /// Whether the thread has ended, so that there will be no more answers.
    pub(super) fn is_dead(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for KnowledgeService {
    fn drop(&mut self) {
        self.requests = None;
        // No one receives answers any more, so the thread must not block on sending one.
        self.answers = crossbeam_channel::never();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the knowledge thread panicked; what it was adding may not be on disk");
        }
    }
}

struct ServiceState {
    options: KnowledgeServiceOptions,
    opened: Option<KnowledgeFiles>,
    /// The number of memories last reported to the room.
    counted: MemoryCounts,
    answer: Sender<Answer>,
    /// The chosen embedding model.
    wanted: EmbedderChoice,
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
            let is_sent = match self.next(received, &mut searches_received, is_idle) {
                Next::Closed => return,
                Next::Idle => {
                    let made = self.opened.as_mut().map_or(Ok(0), |opened| opened.catch_up(VECTORS_PER_BATCH));
                    is_idle = made.as_ref().is_ok_and(|made| *made == 0) || made.is_err();
                    true
                }
                Next::Search(search) => {
                    let opened = self.open();
                    search.answer(opened.map(|opened| &*opened));
                    true
                }
                Next::Request(request) => {
                    is_idle = false;
                    self.retry_chosen_model();
                    self.answer(request)
                }
            };
            if !(is_sent && self.report_embedder()) {
                return;
            }
        }
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

    /// Answers a request; returns whether the answer could be sent.
    fn answer(&mut self, request: ServiceRequest) -> bool {
        let may_change = request.may_change();
        let is_sent = match request {
            ServiceRequest::Recall { key, agent, about, now, settings, chars_at_most } => {
                let recalled = self
                    .with(|files| Ok(knowledge_calls::recall(files, &agent, &about, (now, &settings, chars_at_most))));
                self.send(Answer::Part(key, recalled.map_err(|error| error.to_string())))
            }
            ServiceRequest::Tool { key, caller, order } => {
                let news = self.with(|files| Ok(knowledge_calls::execute(files, &caller, &order)));
                let news = news.unwrap_or_else(|error| OrderReport::Failed { why: error.to_string() });
                self.send(Answer::Tool(key, news))
            }
            ServiceRequest::Compare { lesson, agent, candidates } => {
                let cases = self.with(|files| Ok(knowledge_calls::compare(files, &agent, &candidates)));
                self.send_lesson_answer(lesson, cases.map(|cases| LessonAnswer::Compared { cases }))
            }
            ServiceRequest::ApplyDecisions { lesson, caller, decisions } => {
                let taken = self.with(|files| knowledge_calls::apply_decisions(files, &caller, &decisions));
                let answer = taken.map(|(told, contradictions)| LessonAnswer::TakenIn { told, contradictions });
                self.send_lesson_answer(lesson, answer)
            }
            ServiceRequest::Changed(owner) => {
                // Files that cannot be read are reported when they are needed.
                let _is_other = self.with(|files| files.read_again(&owner));
                true
            }
            ServiceRequest::UseEmbedder(choice) => {
                self.use_embedder(*choice);
                true
            }
        };
        is_sent && (!may_change || self.count())
    }

    /// Switches the model, or remembers the choice until the files are opened.
    fn use_embedder(&mut self, choice: EmbedderChoice) {
        self.wanted = choice;
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
            self.use_embedder(self.wanted.clone());
        }
    }

    /// Reports the model in use if it changed.
    fn report_embedder(&mut self) -> bool {
        let Some(opened) = &self.opened else { return true };
        let embedder = opened.known().embedder();
        let trouble = opened.fallback_reason().map(str::to_owned).or_else(|| embedder.unavailable_reason());
        let in_use = EmbedderInUse { model: embedder.model().to_string(), trouble };
        if self.in_use.as_ref() == Some(&in_use) {
            return true;
        }
        self.in_use = Some(in_use.clone());
        self.send(Answer::Embedder(in_use))
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

    /// Reports the number of memories if it changed.
    fn count(&mut self) -> bool {
        let Some(opened) = &self.opened else { return true };
        let counts = MemoryCounts { sessions: self.counted.sessions.clone(), ..opened.counts() };
        if counts == self.counted {
            return true;
        }
        self.counted = counts.clone();
        self.send(Answer::Counted(counts))
    }

    fn send_lesson_answer(&self, number: u64, answer: Result<LessonAnswer, KnowledgeFilesError>) -> bool {
        let answer = answer.unwrap_or_else(|error| LessonAnswer::Failed { why: error.to_string() });
        self.send(Answer::Lesson(LessonAnswered { number, answer }))
    }

    /// Sends an answer; returns whether the receiver still exists.
    fn send(&self, answer: Answer) -> bool {
        self.answer.send(answer).is_ok()
    }
}
