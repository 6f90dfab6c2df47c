//! The learning steps of agents, one after the other: what was said and done, what may be worth remembering, what of
//! that is new, and what was added. Each step waits for an answer from outside under its own name, so that a room
//! stopped between two steps continues where it was and nothing is learned twice.
//!
//! If the first question fails, nothing is learned; if the second fails, all candidates are added. Both are reported.

use std::collections::VecDeque;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::base::{AgentKey, Id, Seq};
use crate::knowledge::Source;
use crate::knowledge::consolidation::{Act, Candidate, Case, Decision, decide, parse_candidates};
use crate::log::events::Knowledge;
use crate::mind::context::{CurrentRequest, Line};
use crate::mind::{FailureKind, ModelFailure};
use crate::schedule::{Input, Section};

/// Lessons that wait; of more the oldest is given up.
pub(super) const WAITING_AT_MOST: usize = 32;

/// Something from which an agent learns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Lesson {
    /// Names it within the room, for ever.
    pub number: u64,
    /// Who learns.
    pub agent: AgentKey,
    /// The same by id.
    pub id: Id,
    /// What was said and done.
    pub lines: Vec<Line>,
    /// Where that was.
    pub source: Source,
    /// When it was over, in seconds since 1970 of the room's date.
    pub at_secs: i64,
    /// The record of its end.
    pub cause: Seq,
    /// How far it is.
    pub stage: Stage,
}

/// The stage of a lesson.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "snake_case")]
pub enum Stage {
    /// The model is asked what is worth remembering.
    Extracting,
    /// What is like that is looked up.
    Comparing {
        /// What may be worth remembering.
        candidates: Vec<Candidate>,
    },
    /// The model is asked what to do with each.
    Weighing {
        /// With what is known that is like it.
        cases: Vec<Case>,
    },
    /// What is to be done is done.
    TakingIn {
        /// What, for each.
        decisions: Vec<Decision>,
        /// What was not as it should be.
        but: Option<String>,
    },
}

impl Stage {
    /// The word of the question that a model is asked in it, if one is.
    fn question(&self) -> Option<&'static str> {
        match self {
            Self::Extracting => Some("extract"),
            Self::Weighing { .. } => Some("weigh"),
            Self::Comparing { .. } | Self::TakingIn { .. } => None,
        }
    }
}

/// A question to a model for a lesson.
#[derive(Clone, PartialEq, Debug)]
pub struct LessonQuestion {
    /// Names the question.
    pub key: Id,
    /// About whom.
    pub agent: AgentKey,
    /// What.
    pub moment: CurrentRequest,
    /// The record that it comes from.
    pub cause: Seq,
}

/// The result of an order of a lesson. An input: memories are outside the world.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LessonAnswered {
    /// Of which lesson.
    pub number: u64,
    /// What.
    pub answer: LessonAnswer,
}

impl Input for LessonAnswered {
    const KIND: &'static str = "lesson_answered";
}

/// The result of such an order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum LessonAnswer {
    /// What may be worth remembering, with what is known that is like it.
    Compared {
        /// In the order of the candidates.
        cases: Vec<Case>,
    },
    /// What was to be done is done.
    TakenIn {
        /// Its events for the log.
        told: Vec<Knowledge>,
        /// What a person is to look at: memories that cannot both be true.
        contradictions: Vec<String>,
    },
    /// It could not be done.
    Failed {
        /// Why.
        why: String,
    },
}

/// How a lesson ended.
#[derive(Clone, PartialEq, Debug)]
pub struct LessonOver {
    /// Which.
    pub lesson: Lesson,
    /// What the log says of it, in order.
    pub told: Vec<Knowledge>,
    /// What a person is to look at.
    pub contradictions: Vec<String>,
}

/// All lessons. Saved with the room; written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Lessons {
    last_number: u64,
    /// The first one is being processed.
    queue: VecDeque<Lesson>,
    /// Whether the model was asked about the first.
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
    /// Whether there is nothing to learn from.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Those that wait or are under way, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Lesson> {
        self.queue.iter()
    }

    /// The one that is being processed.
    pub(super) fn first(&self) -> Option<&Lesson> {
        self.queue.front()
    }

    /// Adds something to learn from; returns what is dropped for it.
    pub(super) fn add(&mut self, lesson: Lesson) -> Option<Lesson> {
        self.last_number += 1;
        self.queue.push_back(Lesson { number: self.last_number, ..lesson });
        // The first one is being processed.
        if self.queue.len() > WAITING_AT_MOST { self.queue.remove(1) } else { None }
    }

    /// Drops what those who are gone were to learn from.
    pub(super) fn drop_of(&mut self, is_gone: impl Fn(AgentKey) -> bool) {
        if self.queue.front().is_some_and(|lesson| is_gone(lesson.agent)) {
            self.is_asked = false;
        }
        self.queue.retain(|lesson| !is_gone(lesson.agent));
    }

    /// What the model is to be asked now, once.
    pub(super) fn question(&mut self, today: &str) -> Option<LessonQuestion> {
        if self.is_asked {
            return None;
        }
        let lesson = self.queue.front()?;
        let step = lesson.stage.question()?;
        let moment = match &lesson.stage {
            Stage::Weighing { cases } => CurrentRequest::Weigh { cases: cases.clone() },
            _ => CurrentRequest::Learn { today: today.to_owned(), lines: lesson.lines.clone() },
        };
        self.is_asked = true;
        let key = format!("lesson-{}-{step}", lesson.number).into();
        Some(LessonQuestion { key, agent: lesson.agent, moment, cause: lesson.cause })
    }

    /// What a model answered. How the lesson ended, if it did.
    pub(super) fn replied(&mut self, key: &str, outcome: &Result<String, ModelFailure>) -> Option<LessonOver> {
        let lesson = self.queue.front_mut()?;
        let step = lesson.stage.question()?;
        if !self.is_asked || *key != *format!("lesson-{}-{step}", lesson.number) {
            return None;
        }
        self.is_asked = false;
        if outcome.as_ref().is_err_and(|failure| failure.kind == FailureKind::PutOff) {
            // It gave way to something more urgent, and is asked again.
            return None;
        }
        match std::mem::replace(&mut lesson.stage, Stage::Extracting) {
            Stage::Extracting => {
                let answer = outcome.as_ref().map_err(ModelFailure::sentence);
                let candidates = answer.and_then(|text| parse_candidates(text).map_err(|error| error.to_string()));
                match candidates {
                    Ok(candidates) if candidates.is_empty() => self.over(Vec::new(), Vec::new()),
                    Ok(candidates) => {
                        lesson.stage = Stage::Comparing { candidates };
                        None
                    }
                    Err(why) => self.over(vec![Knowledge::Failed { why }], Vec::new()),
                }
            }
            Stage::Weighing { cases } => {
                let (decisions, but) = match outcome {
                    Ok(text) => (decide(&cases, text), None),
                    Err(failure) => (decide(&cases, ""), Some(failure.sentence())),
                };
                // Each says for itself what was not as it should be.
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

    /// Applies the result of an operation on memories. Returns how the lesson ended, if it did.
    pub(super) fn answered(&mut self, answered: &LessonAnswered) -> Option<LessonOver> {
        let lesson = self.queue.front_mut().filter(|lesson| lesson.number == answered.number)?;
        match (&lesson.stage, &answered.answer) {
            (Stage::Comparing { .. }, LessonAnswer::Compared { cases }) => {
                if cases.iter().all(|case| case.similar.is_empty()) {
                    // There is nothing to weigh: all of it is new.
                    let add = |(case, of): (usize, &Case)| {
                        let act = Act::Add { candidate: of.candidate.clone(), edges: Vec::new() };
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
                let learned = summed(&told, decisions.len(), but.clone());
                told.extend(learned);
                self.over(told, contradictions.clone())
            }
            (Stage::Comparing { .. } | Stage::TakingIn { .. }, LessonAnswer::Failed { why }) => {
                self.over(vec![Knowledge::Failed { why: why.clone() }], Vec::new())
            }
            _ => None,
        }
    }

    fn over(&mut self, told: Vec<Knowledge>, contradictions: Vec<String>) -> Option<LessonOver> {
        self.is_asked = false;
        let lesson = self.queue.pop_front()?;
        Some(LessonOver { lesson, told, contradictions })
    }
}

/// The overall result of a lesson.
fn summed(told: &[Knowledge], decisions: usize, but: Option<String>) -> Option<Knowledge> {
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
