//! The knowledge thread: it searches, adds and writes, so that nothing in a tick waits for a disk or for an embedding.

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
use crate::tools::{KnowledgeOrder, OrderKey, ToolNews};
use crate::workspace::vfs::FileHandle;

/// Questions that wait in the service; more wait in the world.
const QUESTIONS_WAITING: usize = 256;
/// How many vectors are made in one go while there are no requests.
const CAUGHT_UP_AT_ONCE: usize = 16;
/// When embedding is retried after it failed for all texts.
const TRIED_AGAIN_AFTER: Duration = Duration::from_secs(5);
/// When the model of the settings is tried again after it could not be reached.
const WANTED_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// A request to the service.
#[derive(Clone, Debug)]
pub(super) enum ServiceRequest {
    /// What an agent is to be reminded of.
    Recall { key: GatherKey, agent: Id, about: String, now: i64, settings: KnowledgeSettings, chars_at_most: usize },
    /// A call of a tool.
    Tool { key: OrderKey, caller: Caller, order: KnowledgeOrder },
    /// What is known that is like what may be worth remembering.
    Compare { lesson: u64, agent: Id, candidates: Vec<Candidate> },
    /// What was decided about it is to be done.
    TakeIn { lesson: u64, caller: Caller, decisions: Vec<Decision> },
    /// A file may have changed.
    Changed(Owner),
    /// Another model is to say what texts mean.
    UseEmbedder(Box<EmbedderChoice>),
}

impl ServiceRequest {
    /// The answer where nobody can be asked.
    pub(super) fn refused(self, why: String) -> Option<Answer> {
        match self {
            Self::Recall { key, .. } => Some(Answer::Part(key, Err(why))),
            Self::Tool { key, .. } => Some(Answer::Tool(key, ToolNews::Failed { why })),
            Self::Compare { lesson: number, .. } | Self::TakeIn { lesson: number, .. } => {
                Some(Answer::Lesson(LessonAnswered { number, answer: LessonAnswer::Failed { why } }))
            }
            Self::Changed(_) | Self::UseEmbedder(_) => None,
        }
    }

    /// Whether there may be more memories, or fewer, once it is answered.
    fn may_change(&self) -> bool {
        matches!(self, Self::Tool { .. } | Self::TakeIn { .. } | Self::Changed(_))
    }
}

impl Input for EmbedderInUse {
    const KIND: &'static str = "embedder_in_use";
}

/// An answer of the service.
#[derive(Debug)]
pub(super) enum Answer {
    /// To a prompt: the text of its part, or why there is none.
    Part(GatherKey, Result<String, String>),
    /// To a call.
    Tool(OrderKey, ToolNews),
    /// To a lesson.
    Lesson(LessonAnswered),
    /// The present number of memories.
    Counted(MemoryCounts),
    /// This model says what texts mean.
    Embedder(EmbedderInUse),
}

/// The embedding model in use, as reported to the room: an input, and a resource with the latest one.
#[derive(Message, Resource, Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct EmbedderInUse {
    /// Its name.
    pub model: String,
    /// Why it is not the one that the settings name, or why that cannot be asked now; and what to do.
    pub trouble: Option<String>,
}

/// The options of the service.
pub struct KnowledgeServiceOptions {
    /// The workspace.
    pub workspace: PathBuf,
    /// Where what can be made again is kept.
    pub state_folder: PathBuf,
    /// Who writes files.
    pub files: FileHandle,
    /// The number of memories last reported to the room.
    pub counted: MemoryCounts,
}

/// The knowledge thread and its channels. Dropping it lets running requests finish.
pub struct KnowledgeService {
    /// `None` only while dropping.
    questions: Option<Sender<ServiceRequest>>,
    answers: Receiver<Answer>,
    search: MemorySearch,
    thread: Option<JoinHandle<()>>,
}

impl KnowledgeService {
    /// Starts the thread. What is known is read once something is asked, so that a room in which nobody remembers
    /// anything does without.
    pub fn start(options: KnowledgeServiceOptions) -> std::io::Result<Self> {
        let (questions, asked) = bounded(QUESTIONS_WAITING);
        // The caller takes the answers before it makes further requests.
        let (answer, answers) = bounded(2 * QUESTIONS_WAITING);
        let (search, searched) = searches();
        let work = ServiceState {
            counted: options.counted.clone(),
            options,
            opened: None,
            answer,
            wanted: EmbedderChoice::default(),
            wanted_again: None,
            in_use: None,
        };
        let thread = std::thread::Builder::new().name("knowledge".into()).spawn(move || work.run(&asked, searched))?;
        Ok(Self { questions: Some(questions), answers, search, thread: Some(thread) })
    }

    /// The way to search what is known from outside the world.
    pub fn search(&self) -> MemorySearch {
        self.search.clone()
    }

    /// Sends a request; returns it if there is no room for it now.
    pub(super) fn ask(&self, question: ServiceRequest) -> Result<(), Box<ServiceRequest>> {
        let Some(questions) = &self.questions else { return Err(Box::new(question)) };
        questions.try_send(question).map_err(|refused| match refused {
            TrySendError::Full(question) | TrySendError::Disconnected(question) => Box::new(question),
        })
    }

    /// The next answer, if there is one.
    pub(super) fn try_next(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }

    /// The next answer, waiting for it up to this long.
    pub(super) fn next(&self, timeout: Duration) -> Option<Answer> {
        self.answers.recv_timeout(timeout).ok()
    }

    /// Whether the thread is gone: nothing is answered any more.
    pub(super) fn is_dead(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for KnowledgeService {
    fn drop(&mut self) {
        self.questions = None;
        // Nobody takes answers any more: the thread must not wait for that.
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
    /// The last number that was reported to the room.
    counted: MemoryCounts,
    answer: Sender<Answer>,
    /// The model that is wanted.
    wanted: EmbedderChoice,
    /// When it is tried again, if it could not be used.
    wanted_again: Option<Instant>,
    /// The last model that was reported to the room.
    in_use: Option<EmbedderInUse>,
}

/// What comes next.
enum Next {
    Question(ServiceRequest),
    Search(Search),
    /// Nobody asks anything.
    Idle,
    /// Nobody will ask anything any more.
    Over,
}

impl ServiceState {
    fn run(mut self, asked: &Receiver<ServiceRequest>, mut searched: Receiver<Search>) {
        let mut rests = false;
        loop {
            let is_heard = match self.next(asked, &mut searched, rests) {
                Next::Over => return,
                Next::Idle => {
                    let made = self.opened.as_mut().map_or(Ok(0), |opened| opened.catch_up(CAUGHT_UP_AT_ONCE));
                    rests = made.as_ref().is_ok_and(|made| *made == 0) || made.is_err();
                    true
                }
                Next::Search(search) => {
                    let opened = self.open();
                    search.answer(opened.map(|opened| &*opened));
                    true
                }
                Next::Question(question) => {
                    rests = false;
                    self.try_wanted_again();
                    self.answer(question)
                }
            };
            if !(is_heard && self.report_embedder()) {
                return;
            }
        }
    }

    /// The next thing to do; making vectors if there are no requests.
    fn next(&self, asked: &Receiver<ServiceRequest>, searched: &mut Receiver<Search>, rests: bool) -> Next {
        let is_due = self.opened.as_ref().is_some_and(|opened| opened.known().due() > 0);
        let idle = match (is_due, rests) {
            (false, _) => never(),
            (true, true) => crossbeam_channel::after(TRIED_AGAIN_AFTER),
            (true, false) => crossbeam_channel::after(Duration::ZERO),
        };
        if let Ok(question) = asked.try_recv() {
            return Next::Question(question);
        }
        select! {
            recv(asked) -> question => question.map_or(Next::Over, Next::Question),
            recv(*searched) -> search => match search {
                Ok(search) => Next::Search(search),
                Err(_) => {
                    *searched = never();
                    Next::Idle
                }
            },
            recv(idle) -> _ => Next::Idle,
        }
    }

    /// Answers a question; whether somebody still listens.
    fn answer(&mut self, question: ServiceRequest) -> bool {
        let may_change = question.may_change();
        let is_heard = match question {
            ServiceRequest::Recall { key, agent, about, now, settings, chars_at_most } => {
                let recalled = self
                    .with(|files| Ok(knowledge_calls::recall(files, &agent, &about, (now, &settings, chars_at_most))));
                self.send(Answer::Part(key, recalled.map_err(|error| error.to_string())))
            }
            ServiceRequest::Tool { key, caller, order } => {
                let news = self.with(|files| Ok(knowledge_calls::carry_out(files, &caller, &order)));
                let news = news.unwrap_or_else(|error| ToolNews::Failed { why: error.to_string() });
                self.send(Answer::Tool(key, news))
            }
            ServiceRequest::Compare { lesson, agent, candidates } => {
                let cases = self.with(|files| Ok(knowledge_calls::compare(files, &agent, &candidates)));
                self.say_of_lesson(lesson, cases.map(|cases| LessonAnswer::Compared { cases }))
            }
            ServiceRequest::TakeIn { lesson, caller, decisions } => {
                let taken = self.with(|files| knowledge_calls::apply_decisions(files, &caller, &decisions));
                let answer = taken.map(|(told, contradictions)| LessonAnswer::TakenIn { told, contradictions });
                self.say_of_lesson(lesson, answer)
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
        is_heard && (!may_change || self.count())
    }

    /// Uses another model, now where something was read already, else when it is.
    fn use_embedder(&mut self, choice: EmbedderChoice) {
        self.wanted = choice;
        let Some(opened) = &mut self.opened else { return };
        if let Err(error) = opened.use_embedder(&self.wanted) {
            tracing::warn!("the other embedding model cannot be used: {error}");
        }
        self.note_whether_wanted();
    }

    fn note_whether_wanted(&mut self) {
        let is_other = self.opened.as_ref().is_some_and(|opened| opened.instead().is_some());
        // What the settings name wrongly stays wrong until they are changed.
        let may_come = is_other && !matches!(self.wanted.wanted(), WantedEmbedder::Unknown(_));
        self.wanted_again = may_come.then(|| Instant::now() + WANTED_AGAIN_AFTER);
    }

    fn try_wanted_again(&mut self) {
        if self.wanted_again.is_some_and(|due| Instant::now() >= due) {
            self.use_embedder(self.wanted.clone());
        }
    }

    /// Says which model is in use, where that is news.
    fn report_embedder(&mut self) -> bool {
        let Some(opened) = &self.opened else { return true };
        let embedder = opened.known().embedder();
        let trouble = opened.instead().map(str::to_owned).or_else(|| embedder.trouble());
        let in_use = EmbedderInUse { model: embedder.model().to_string(), trouble };
        if self.in_use.as_ref() == Some(&in_use) {
            return true;
        }
        self.in_use = Some(in_use.clone());
        self.send(Answer::Embedder(in_use))
    }

    /// What is known, which is read where it is not yet.
    fn open(&mut self) -> Result<&mut KnowledgeFiles, KnowledgeFilesError> {
        if self.opened.is_none() {
            let KnowledgeServiceOptions { workspace, state_folder, files, .. } = &self.options;
            let opened = KnowledgeFiles::open_in_room(workspace, state_folder, files.clone(), &self.wanted)?;
            self.opened = Some(opened);
            self.note_whether_wanted();
        }
        Ok(self.opened.as_mut().expect("it was opened above, or before"))
    }

    /// Does something with what is known, which is read first.
    fn with<T>(
        &mut self,
        act: impl FnOnce(&mut KnowledgeFiles) -> Result<T, KnowledgeFilesError>,
    ) -> Result<T, KnowledgeFilesError> {
        act(self.open()?)
    }

    /// Says how many memories there are, where that is news.
    fn count(&mut self) -> bool {
        let Some(opened) = &self.opened else { return true };
        let counts = opened.counts();
        if counts == self.counted {
            return true;
        }
        self.counted = counts.clone();
        self.send(Answer::Counted(counts))
    }

    fn say_of_lesson(&self, number: u64, answer: Result<LessonAnswer, KnowledgeFilesError>) -> bool {
        let answer = answer.unwrap_or_else(|error| LessonAnswer::Failed { why: error.to_string() });
        self.send(Answer::Lesson(LessonAnswered { number, answer }))
    }

    /// Whether somebody still listens.
    fn send(&self, answer: Answer) -> bool {
        self.answer.send(answer).is_ok()
    }
}
