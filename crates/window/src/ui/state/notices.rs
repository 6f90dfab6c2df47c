//! Notices for the person: results of their actions, problems, and which of them were dismissed. Dismissed notices stay
//! in the list of all notices.

use std::collections::{BTreeSet, VecDeque};

use super::notice_board::NoticeBoard;
use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;

/// Seconds after which the notice of a success disappears; that of a failure stays until it is dismissed.
pub const OUTCOME_SECS: f64 = 6.0;
/// Seconds after which the notice disappears that nothing was done; it is a longer text.
const HINT_SECS: f64 = 15.0;
/// The maximum number of results in the list of all notices.
const MAX_HISTORY: usize = 200;
/// The maximum number of results that are not dismissed.
const MAX_OUTCOMES: usize = 20;

/// The result of something that the person did.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The result as a sentence.
    pub text: String,
    /// Whether it succeeded, or at least did not fail.
    pub good: bool,
    /// Whether nothing was done, and the text says why.
    pub is_hint: bool,
    /// The place that it links to.
    pub place: Option<NoticeTarget>,
    /// When it was shown, in seconds since the window opened.
    pub born_secs: f64,
}

impl Outcome {
    /// Returns when the notice disappears by itself, in seconds since the window opened, unless it reports a failure.
    pub fn gone_secs(&self) -> f64 {
        self.born_secs + if self.is_hint { HINT_SECS } else { OUTCOME_SECS }
    }
}

/// A place that a notice links to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NoticeTarget {
    /// A file of the workspace, and a line in it.
    File(String, Option<usize>),
    /// A setting, by section and key: `budget.calls_per_run`.
    Setting(String),
    /// An agent or an element.
    Thing(RoomObject),
}

/// The notices for the person.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    outcomes: Vec<Outcome>,
    history: VecDeque<Outcome>,
    board: NoticeBoard,
    dismissed_caps: BTreeSet<String>,
    dismissed_faults: BTreeSet<String>,
    /// Whether the first steps were completed or closed.
    pub is_hint_closed: bool,
}

impl Notices {
    /// Shows a result, at this time, with the place that it links to.
    pub fn notify(&mut self, text: impl Into<String>, good: bool, place: Option<NoticeTarget>, now_secs: f64) {
        self.add(Outcome { text: text.into(), good, is_hint: false, place, born_secs: now_secs });
    }

    /// Says that nothing was done, and why.
    pub fn hint(&mut self, text: impl Into<String>, now_secs: f64) {
        self.add(Outcome { text: text.into(), good: true, is_hint: true, place: None, born_secs: now_secs });
    }

    fn add(&mut self, outcome: Outcome) {
        // A repeated message renews its card.
        self.outcomes.retain(|other| (&other.text, &other.place) != (&outcome.text, &outcome.place));
        self.outcomes.push(outcome.clone());
        self.history.push_back(outcome);
        let surplus = self.outcomes.len().saturating_sub(MAX_OUTCOMES);
        self.outcomes.drain(..surplus);
        let surplus = self.history.len().saturating_sub(MAX_HISTORY);
        self.history.drain(..surplus);
    }

    /// Removes old successes and updates the problems; called before a frame is drawn.
    pub fn update(&mut self, room: &RoomModel, now_secs: f64) {
        self.outcomes.retain(|outcome| !outcome.good || now_secs < outcome.gone_secs());
        self.board.update(room);
    }

    /// Returns the results that were not dismissed, oldest first.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Returns the last results, dismissed or not, oldest first.
    pub fn recent(&self) -> &VecDeque<Outcome> {
        &self.history
    }

    /// Returns the current problems, sorted and grouped.
    pub fn board(&self) -> &NoticeBoard {
        &self.board
    }

    /// Dismisses a result.
    pub fn dismiss_outcome(&mut self, outcome: &Outcome) {
        self.outcomes.retain(|other| other != outcome);
    }

    /// Dismisses these problems, by their indices on the board, until they change.
    pub fn dismiss(&mut self, problems: &[usize]) {
        self.board.dismiss(problems);
    }

    /// Dismisses all problems.
    pub fn dismiss_all(&mut self) {
        self.board.dismiss_all();
    }

    /// Dismisses the notice that a cap was reached, by its text. Returns whether it was not dismissed before.
    pub fn dismiss_cap(&mut self, cap: impl Into<String>) -> bool {
        self.dismissed_caps.insert(cap.into())
    }

    /// Whether the notice of this cap was dismissed.
    pub fn is_cap_dismissed(&self, cap: &str) -> bool {
        self.dismissed_caps.contains(cap)
    }

    /// Dismisses a provider's failures; `known` are all current ones, and others are forgotten.
    pub fn dismiss_fault(&mut self, fault: &str, known: impl Iterator<Item = String>) {
        let known: BTreeSet<String> = known.collect();
        self.dismissed_faults.retain(|dismissed| known.contains(dismissed));
        self.dismissed_faults.insert(fault.to_owned());
    }

    /// Whether these failures of a provider were dismissed.
    pub fn is_fault_dismissed(&self, fault: &str) -> bool {
        self.dismissed_faults.contains(fault)
    }
}
