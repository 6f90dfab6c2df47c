//! The lessons of agents, processed one after the other: extract candidates from a transcript, compare them with known
//! memories, decide which of them are new, and save those. Each step waits for an external answer under its own key, so
//! a room that was stopped between two steps continues there, and nothing is learned twice.
//!
//! If the extraction fails, nothing is learned; if the decision fails, all candidates are added. Both are reported.

use std::collections::VecDeque;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::{AgentKey, Id, Seq};
use crate::knowledge::Source;
use crate::knowledge::consolidation::{
    Candidate, CandidateAction, Case, Decision, ParsedCandidates, decide, parse_candidates,
};
use crate::log::events::Knowledge;
use crate::mind::context::{CurrentRequest, Line};
use crate::mind::{FailureKind, ModelFailure};
use crate::schedule::{Input, Section};

/// The maximum number of waiting lessons; beyond it, the oldest is dropped.
pub(super) const MAX_WAITING: usize = 32;

/// Work or a conversation that an agent learns from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Lesson {
    /// A number that is unique in the room.
    pub number: u64,
    /// The agent that learns.
    pub agent: AgentKey,
    /// The agent's id.
    pub id: Id,
    /// The transcript.
    pub lines: Vec<Line>,
    /// The source of the memories: the session or conversation.
    pub source: Source,
    /// When it ended, in seconds since 1970 of the room's date.
    pub at_secs: i64,
    /// The log record of its end.
    pub cause: Seq,
    /// The current stage.
    pub stage: Stage,
    /// What could not be used of the model's answer, to be reported with the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// The stage of a lesson.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Stage {
    /// The model is asked for facts worth remembering.
    Extracting,
    /// Similar memories are looked up.
    Comparing {
        /// The facts that may be worth remembering.
        candidates: Vec<Candidate>,
    },
    /// The model is asked what to do with each candidate.
    Weighing {
        /// The candidates with similar memories.
        cases: Vec<Case>,
    },
    /// The decisions are applied.
    TakingIn {
        /// One decision for each candidate.
        decisions: Vec<Decision>,
        /// A problem to report with the result.
        but: Option<String>,
    },
}

impl Stage {
    /// The name of the model request in this stage, if it has one.
    fn question(&self) -> Option<&'static str> {
        match self {
            Self::Extracting => Some("extract"),
            Self::Weighing { .. } => Some("weigh"),
            Self::Comparing { .. } | Self::TakingIn { .. } => None,
        }
    }
}

/// A model request for a lesson.
#[derive(Clone, PartialEq, Debug)]
pub struct LessonQuestion {
    /// The key of the request.
    pub key: Id,
    /// The agent that learns.
    pub agent: AgentKey,
    /// The content of the request.
    pub request: CurrentRequest,
    /// The log record that caused it.
    pub cause: Seq,
}

/// The result of a memory operation for a lesson. An input, because memories are outside the world.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LessonAnswered {
    /// The number of the lesson.
    pub number: u64,
    /// The result.
    pub answer: LessonAnswer,
}

impl Input for LessonAnswered {
    const KIND: &'static str = "lesson_answered";
}

/// The result of a memory operation.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum LessonAnswer {
    /// The candidates with similar memories.
    Compared {
        /// In the order of the candidates.
        cases: Vec<Case>,
    },
    /// The decisions were applied.
    TakenIn {
        /// The events for the log.
        told: Vec<Knowledge>,
        /// Memories that contradict each other, for a person to check.
        contradictions: Vec<String>,
    },
    /// The operation failed.
    Failed {
        /// The reason.
        why: String,
    },
}

/// A finished lesson.
#[derive(Clone, PartialEq, Debug)]
pub struct FinishedLesson {
    /// The lesson.
    pub lesson: Lesson,
    /// Its log events, in order.
    pub told: Vec<Knowledge>,
    /// Contradictions for a person to check.
    pub contradictions: Vec<String>,
}

/// All lessons. Saved with the room; written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Lessons {
    last_number: u64,
    /// The first one is being processed.
    queue: VecDeque<Lesson>,
    /// Whether the model request of the first one was made.
    is_asked: bool,
}

impl Section for Lessons {
    const NAME: &'static str = "lessons";

    fn save(world: &mut World) -> Self {
        world.resource::<Self>().clone()
    }

    fn load(self, world: &mut World) {
        world.insert_resource(self);
    }
}

impl Lessons {
    /// Whether no lesson is waiting or in progress.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// All lessons, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Lesson> {
        self.queue.iter()
    }

    /// The lesson in progress.
    pub(super) fn first(&self) -> Option<&Lesson> {
        self.queue.front()
    }

    /// Adds a lesson; returns the one that is dropped for it, if any.
    pub(super) fn add(&mut self, lesson: Lesson) -> Option<Lesson> {
        self.last_number += 1;
        self.queue.push_back(Lesson { number: self.last_number, ..lesson });
        // The first one is in progress and is not dropped.
        if self.queue.len() > MAX_WAITING { self.queue.remove(1) } else { None }
    }

    /// Drops the lessons of agents that are gone.
    pub(super) fn drop_of(&mut self, is_gone: impl Fn(AgentKey) -> bool) {
        if self.queue.front().is_some_and(|lesson| is_gone(lesson.agent)) {
            self.is_asked = false;
        }
        self.queue.retain(|lesson| !is_gone(lesson.agent));
    }

    /// Returns the model request that is due, once.
    pub(super) fn question(&mut self, today: &str) -> Option<LessonQuestion> {
        if self.is_asked {
            return None;
        }
        let lesson = self.queue.front()?;
        let step = lesson.stage.question()?;
        let request = match &lesson.stage {
            Stage::Weighing { cases } => CurrentRequest::Weigh { cases: cases.clone() },
            _ => CurrentRequest::Learn { today: today.to_owned(), lines: lesson.lines.clone() },
        };
        self.is_asked = true;
        let key = format!("lesson-{}-{step}", lesson.number).into();
        Some(LessonQuestion { key, agent: lesson.agent, request, cause: lesson.cause })
    }

    /// Applies a model reply. Returns the finished lesson, if it ended.
    pub(super) fn replied(&mut self, key: &str, outcome: &Result<String, ModelFailure>) -> Option<FinishedLesson> {
        let lesson = self.queue.front_mut()?;
        let step = lesson.stage.question()?;
        if !self.is_asked || *key != *format!("lesson-{}-{step}", lesson.number) {
            return None;
        }
        self.is_asked = false;
        if outcome.as_ref().is_err_and(|failure| failure.kind == FailureKind::PutOff) {
            // It was postponed in favour of more urgent requests, and is made again.
            return None;
        }
        match std::mem::replace(&mut lesson.stage, Stage::Extracting) {
            Stage::Extracting => {
                let answer = outcome.as_ref().map_err(ModelFailure::sentence);
                let candidates = answer.and_then(|text| parse_candidates(text).map_err(|error| error.to_string()));
                match candidates {
                    Ok(parsed) if parsed.candidates.is_empty() => self.finish(Vec::new(), Vec::new()),
                    Ok(ParsedCandidates { candidates, left_out }) => {
                        lesson.left_out = left_out;
                        lesson.stage = Stage::Comparing { candidates };
                        None
                    }
                    Err(why) => self.finish(vec![Knowledge::Failed { why }], Vec::new()),
                }
            }
            Stage::Weighing { cases } => {
                let (decisions, but) = match outcome {
                    Ok(text) => (decide(&cases, text), None),
                    Err(failure) => (decide(&cases, ""), Some(failure.sentence())),
                };
                // Each decision carries its own problem to report.
                let odd = decisions.iter().find_map(|decision| decision.told.clone());
                lesson.stage = Stage::TakingIn { decisions, but: but.or(odd) };
                None
            }
            other => {
                lesson.stage = other;
                None
            }
        }
    }

    /// Applies the result of a memory operation. Returns the finished lesson, if it ended.
    pub(super) fn answered(&mut self, answered: &LessonAnswered) -> Option<FinishedLesson> {
        let lesson = self.queue.front_mut().filter(|lesson| lesson.number == answered.number)?;
        match (&lesson.stage, &answered.answer) {
            (Stage::Comparing { .. }, LessonAnswer::Compared { cases }) => {
                if cases.iter().all(|case| case.similar.is_empty()) {
                    // No memory is similar: all candidates are new.
                    let add = |(case, of): (usize, &Case)| {
                        let act = CandidateAction::Add { candidate: of.candidate.clone(), edges: Vec::new() };
                        Decision { case, act, told: None }
                    };
                    let decisions = cases.iter().enumerate().map(add).collect();
                    lesson.stage = Stage::TakingIn { decisions, but: None };
                } else {
                    lesson.stage = Stage::Weighing { cases: cases.clone() };
                }
                None
            }
            (Stage::TakingIn { decisions, but }, LessonAnswer::TakenIn { told, contradictions }) => {
                let mut told = told.clone();
                let but = [lesson.left_out.clone(), but.clone()].into_iter().flatten();
                let but = but.reduce(|one, other| format!("{one}; {other}"));
                let learned = summary(&told, decisions.len(), but);
                told.extend(learned);
                self.finish(told, contradictions.clone())
            }
            (Stage::Comparing { .. } | Stage::TakingIn { .. }, LessonAnswer::Failed { why }) => {
                self.finish(vec![Knowledge::Failed { why: why.clone() }], Vec::new())
            }
            _ => None,
        }
    }

    fn finish(&mut self, told: Vec<Knowledge>, contradictions: Vec<String>) -> Option<FinishedLesson> {
        self.is_asked = false;
        let lesson = self.queue.pop_front()?;
        Some(FinishedLesson { lesson, told, contradictions })
    }
}

/// Summarizes the result of a lesson.
fn summary(told: &[Knowledge], decisions: usize, but: Option<String>) -> Option<Knowledge> {
    let count = |is_it: fn(&Knowledge) -> bool| told.iter().filter(|one| is_it(one)).count() as u64;
    let added = count(|one| matches!(one, Knowledge::Added { .. }));
    let updated = count(|one| matches!(one, Knowledge::Updated { .. }));
    let forgotten = count(|one| matches!(one, Knowledge::Forgotten { .. }));
    let passed_over = (decisions as u64).saturating_sub(added + updated + forgotten);
    (decisions > 0).then_some(Knowledge::Learned { added, updated, forgotten, passed_over, but })
}

#[cfg(test)]
#[path = "lessons_tests.rs"]
mod tests;
