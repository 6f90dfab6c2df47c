//! The log of a workspace that is killed and reopened: records that were stored or printed once must not change.

use std::collections::BTreeMap;

use super::evidence::{Event, Records};
use super::plan::{Case, Fault};

/// The records that were stored and printed so far.
#[derive(Default)]
pub struct KeptLog {
    printed: BTreeMap<u64, Event>,
    kept: BTreeMap<u64, Event>,
}

impl KeptLog {
    /// Whether there is a record of this type.
    pub fn has(&self, kind: &str) -> bool {
        self.all(kind).next().is_some()
    }

    /// The records of this type, in order.
    pub fn all<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Event> {
        self.kept.values().filter(move |event| event.kind == kind)
    }

    /// Compares the records that were printed and stored before with those that are stored now.
    pub fn compare(&mut self, case: &mut Case, printed: &str, was_killed: bool) {
        let workspace = case.workspace();
        let records = Records::of(&workspace);
        if let Some(damage) = records.as_ref().and_then(Records::damage) {
            case.found(Fault::Lost, format!("the database is damaged: {damage}"));
        }
        let now = records.map(|records| records.events()).unwrap_or_default();
        let mut wrong = Vec::new();
        for (seq, event) in &self.kept {
            if now.get(seq) != Some(event) {
                wrong.push((Fault::Lost, format!("record {seq} was in the database and is not any more")));
            }
        }
        let newest = now.keys().next_back().copied().unwrap_or(0);
        for (seq, event) in printed.lines().filter_map(Event::of_line) {
            if self.printed.get(&seq).is_some_and(|before| *before != event) {
                wrong.push((Fault::Doubled, format!("number {seq} was printed for two records")));
            }
            if !now.contains_key(&seq) && (seq < newest || !was_killed) {
                wrong.push((Fault::Lost, format!("record {seq} was printed, and later ones are kept, but not it")));
            }
            if now.get(&seq).is_some_and(|kept| *kept != event) {
                wrong.push((Fault::Doubled, format!("number {seq} is kept for another record than was printed")));
            }
            self.printed.insert(seq, event);
        }
        for (seq, event) in &self.printed {
            if now.get(seq).is_some_and(|kept| kept != event) {
                wrong.push((Fault::Doubled, format!("number {seq} was given again")));
            }
        }
        wrong.dedup_by(|one, other| one.0 == other.0);
        wrong.into_iter().for_each(|(fault, what)| case.found(fault, what));
        self.kept = now;
    }
}
