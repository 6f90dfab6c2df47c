//! What the person is told: results of their actions, problems, and which of them were dismissed. Nothing that was
//! dismissed is lost.

use std::collections::{BTreeSet, VecDeque};

use super::notice_board::NoticeBoard;
use crate::view::model::RoomModel;
use crate::view::pick::Thing;

/// An outcome that went well goes away after so many seconds; one that did not stays until it is put aside.
pub const OUTCOME_SECS: f64 = 6.0;
/// How many outcomes are kept after they were dismissed.
const TOLD_KEPT: usize = 200;
/// How many outcomes wait to be dismissed.
const OUTCOMES_KEPT: usize = 20;

/// How something went that the person asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// What is to be said, as a sentence.
    pub text: String,
    /// Whether it went well.
    pub good: bool,
    /// Where it leads to.
    pub place: Option<Place>,
    /// When it was told, in seconds since the window opened.
    pub born_secs: f64,
}

/// Something that a notice leads to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// A file of the workspace, and a line of it.
    File(String, Option<usize>),
    /// A setting, by section and key: `budget.calls_per_run`.
    Setting(String),
    /// An agent or an element.
    Thing(Thing),
}

/// What the person is told.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    outcomes: Vec<Outcome>,
    told: VecDeque<Outcome>,
    board: NoticeBoard,
    caps_aside: BTreeSet<String>,
    faults_aside: BTreeSet<String>,
    /// Whether the first steps were taken or put away.
    pub is_hint_closed: bool,
}

impl Notices {
    /// Tells how something went, at this moment and with where it leads to.
    pub fn notify(&mut self, text: impl Into<String>, good: bool, place: Option<Place>, now_secs: f64) {
        let outcome = Outcome { text: text.into(), good, place, born_secs: now_secs };
        // A repeated message renews its card.
        self.outcomes.retain(|other| (&other.text, &other.place) != (&outcome.text, &outcome.place));
        self.outcomes.push(outcome.clone());
        self.told.push_back(outcome);
        let surplus = self.outcomes.len().saturating_sub(OUTCOMES_KEPT);
        self.outcomes.drain(..surplus);
        let surplus = self.told.len().saturating_sub(TOLD_KEPT);
        self.told.drain(..surplus);
    }

    /// Before a frame is drawn: good news that is old goes, and what is wrong now is looked at.
    pub fn update(&mut self, room: &RoomModel, now_secs: f64) {
        self.outcomes.retain(|outcome| !outcome.good || now_secs - outcome.born_secs < OUTCOME_SECS);
        self.board.update(room);
    }

    /// What became of things done lately and was not put aside, oldest first.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Everything that was told, oldest first, bounded.
    pub fn recent(&self) -> &VecDeque<Outcome> {
        &self.told
    }

    /// What is wrong, sorted for the eye.
    pub fn board(&self) -> &NoticeBoard {
        &self.board
    }

    /// Puts one outcome aside.
    pub fn put_outcome_aside(&mut self, outcome: &Outcome) {
        self.outcomes.retain(|other| other != outcome);
    }

    /// Puts these problems aside until they change, by their places on the board.
    pub fn put_aside(&mut self, problems: &[usize]) {
        self.board.put_aside(problems);
    }

    /// Puts every problem aside.
    pub fn put_all_aside(&mut self) {
        self.board.put_all_aside();
    }

    /// Puts a cap that was reached aside, as it reads. Whether it was not before.
    pub fn put_cap_aside(&mut self, cap: impl Into<String>) -> bool {
        self.caps_aside.insert(cap.into())
    }

    /// Whether this cap was put aside.
    pub fn is_cap_aside(&self, cap: &str) -> bool {
        self.caps_aside.contains(cap)
    }

    /// Puts a provider's failures aside; those that are over are forgotten.
    pub fn put_fault_aside(&mut self, fault: &str, known: impl Iterator<Item = String>) {
        let known: BTreeSet<String> = known.collect();
        self.faults_aside.retain(|aside| known.contains(aside));
        self.faults_aside.insert(fault.to_owned());
    }

    /// Whether these failures of a provider were put aside.
    pub fn is_fault_aside(&self, fault: &str) -> bool {
        self.faults_aside.contains(fault)
    }
}
