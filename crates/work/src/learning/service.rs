//! The thread that has what is known: it looks up, takes in and writes, so that nothing in a tick waits for a disk or
//! for a text to be understood.

use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use super::answering::{self, Caller};
use super::files::{KnowledgeFiles, KnowledgeFilesError};
use super::lessons::{LessonAnswer, LessonAnswered};
use super::settings::KnowledgeSettings;
use crate::base::Id;
use crate::knowledge::Owner;
use crate::knowledge::consolidation::{Candidate, Decision};
use crate::memory::MemoryCounts;
use crate::mind::GatherKey;
use crate::tools::{KnowledgeOrder, OrderKey, ToolNews};
use crate::workspace::vfs::FileHandle;

/// Questions that wait in the service; more wait in the world.
const QUESTIONS_WAITING: usize = 256;

/// What is asked of the service.
#[derive(Clone, Debug)]
pub(super) enum Question {
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
}

impl Question {
    /// The answer where nobody can be asked.
    pub(super) fn refused(self, why: String) -> Option<Answer> {
        match self {
            Self::Recall { key, .. } => Some(Answer::Part(key, Err(why))),
            Self::Tool { key, .. } => Some(Answer::Tool(key, ToolNews::Failed { why })),
            Self::Compare { lesson: number, .. } | Self::TakeIn { lesson: number, .. } => {
                Some(Answer::Lesson(LessonAnswered { number, answer: LessonAnswer::Failed { why } }))
            }
            Self::Changed(_) => None,
        }
    }

    /// Whether there may be more memories, or fewer, once it is answered.
    fn may_change(&self) -> bool {
        matches!(self, Self::Tool { .. } | Self::TakeIn { .. } | Self::Changed(_))
    }
}

/// What the service says.
#[derive(Debug)]
pub(super) enum Answer {
    /// To a prompt: the text of its part, or why there is none.
    Part(GatherKey, Result<String, String>),
    /// To a call.
    Tool(OrderKey, ToolNews),
    /// To a lesson.
    Lesson(LessonAnswered),
    /// There are so many memories now.
    Counted(MemoryCounts),
}

/// Where the service finds what it has.
pub struct KnowledgeServiceOptions {
    /// The workspace.
    pub workspace: PathBuf,
    /// Where what can be made again is kept.
    pub state_folder: PathBuf,
    /// Who writes files.
    pub files: FileHandle,
    /// How many memories the room was told of.
    pub counted: MemoryCounts,
}

/// The thread, and the ways to it. Dropping it lets what is under way finish.
pub struct KnowledgeService {
    /// `None` only while dropping.
    questions: Option<Sender<Question>>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
}

impl KnowledgeService {
    /// Starts the thread. What is known is read once something is asked, so that a room in which nobody remembers
    /// anything does without.
    pub fn start(options: KnowledgeServiceOptions) -> std::io::Result<Self> {
        let (questions, asked) = bounded(QUESTIONS_WAITING);
        // Whoever asks takes the answers before it asks more.
        let (answer, answers) = bounded(2 * QUESTIONS_WAITING);
        let work = Work { counted: options.counted.clone(), options, opened: None, answer };
        let thread = std::thread::Builder::new().name("knowledge".into()).spawn(move || work.run(&asked))?;
        Ok(Self { questions: Some(questions), answers, thread: Some(thread) })
    }

    /// Asks something; gives it back where there is no room for it now.
    pub(super) fn ask(&self, question: Question) -> Result<(), Box<Question>> {
        let Some(questions) = &self.questions else { return Err(Box::new(question)) };
        questions.try_send(question).map_err(|refused| match refused {
            TrySendError::Full(question) | TrySendError::Disconnected(question) => Box::new(question),
        })
    }

    /// The next answer, if there is one.
    pub(super) fn try_next(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }

    /// The next answer, waiting for it at most so long.
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
            tracing::error!("the thread that has what is known panicked; what it was adding may not be on disk");
        }
    }
}

struct Work {
    options: KnowledgeServiceOptions,
    opened: Option<KnowledgeFiles>,
    /// What the room was told last.
    counted: MemoryCounts,
    answer: Sender<Answer>,
}

impl Work {
    fn run(mut self, asked: &Receiver<Question>) {
        for question in asked {
            let may_change = question.may_change();
            let is_heard = match question {
                Question::Recall { key, agent, about, now, settings, chars_at_most } => {
                    let recalled = self
                        .with(|files| Ok(answering::recall(files, &agent, &about, (now, &settings, chars_at_most))));
                    self.say(Answer::Part(key, recalled.map_err(|error| error.to_string())))
                }
                Question::Tool { key, caller, order } => {
                    let news = self.with(|files| Ok(answering::carry_out(files, &caller, &order)));
                    let news = news.unwrap_or_else(|error| ToolNews::Failed { why: error.to_string() });
                    self.say(Answer::Tool(key, news))
                }
                Question::Compare { lesson, agent, candidates } => {
                    let cases = self.with(|files| Ok(answering::compare(files, &agent, &candidates)));
                    self.say_of_lesson(lesson, cases.map(|cases| LessonAnswer::Compared { cases }))
                }
                Question::TakeIn { lesson, caller, decisions } => {
                    let taken = self.with(|files| answering::take_in(files, &caller, &decisions));
                    let answer = taken.map(|(told, contradictions)| LessonAnswer::TakenIn { told, contradictions });
                    self.say_of_lesson(lesson, answer)
                }
                Question::Changed(owner) => {
                    // What cannot be read is told when it is asked for.
                    let _is_other = self.with(|files| files.read_again(&owner));
                    true
                }
            };
            if !(is_heard && (!may_change || self.count())) {
                return;
            }
        }
    }

    /// Does something with what is known, which is read first.
    fn with<T>(
        &mut self,
        act: impl FnOnce(&mut KnowledgeFiles) -> Result<T, KnowledgeFilesError>,
    ) -> Result<T, KnowledgeFilesError> {
        let opened = match &mut self.opened {
            Some(opened) => opened,
            empty => {
                let KnowledgeServiceOptions { workspace, state_folder, files, .. } = &self.options;
                empty.insert(KnowledgeFiles::open_in_room(workspace, state_folder, files.clone())?)
            }
        };
        act(opened)
    }

    /// Says how many memories there are, where that is news.
    fn count(&mut self) -> bool {
        let Some(opened) = &self.opened else { return true };
        let counts = opened.counts();
        if counts == self.counted {
            return true;
        }
        self.counted = counts.clone();
        self.say(Answer::Counted(counts))
    }

    fn say_of_lesson(&self, number: u64, answer: Result<LessonAnswer, KnowledgeFilesError>) -> bool {
        let answer = answer.unwrap_or_else(|error| LessonAnswer::Failed { why: error.to_string() });
        self.say(Answer::Lesson(LessonAnswered { number, answer }))
    }

    /// Whether somebody still listens.
    fn say(&self, answer: Answer) -> bool {
        self.answer.send(answer).is_ok()
    }
}
