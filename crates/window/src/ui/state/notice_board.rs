//! Current problems, grouped for display, which of them were dismissed, and where each leads to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Place, texts};
use crate::base::hash::content_hash;
use crate::base::{Problem, Severity};
use crate::view::model::RoomModel;
use crate::view::pick::Thing;

/// What is wrong, sorted once whenever it changes: there may be thousands.
#[derive(Clone, Debug, Default)]
pub struct NoticeBoard {
    seen: Option<(Arc<Vec<Problem>>, Vec<Problem>)>,
    /// Errors first, then by place and line.
    all: Vec<Problem>,
    /// Their fingerprints, in the same order.
    marks: Vec<u64>,
    aside: BTreeSet<u64>,
    pub(in crate::ui) groups: Vec<Group>,
}

/// What is wrong at one place and was not put aside.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// Indices of the problems.
    pub problems: Vec<usize>,
}

impl NoticeBoard {
    /// Looks whether anything changed.
    pub fn update(&mut self, room: &RoomModel) {
        if let Some((problems, notices)) = &self.seen
            && Arc::ptr_eq(problems, &room.problems)
            && *notices == room.notices
        {
            return;
        }
        self.seen = Some((room.problems.clone(), room.notices.clone()));
        self.all = room.problems.iter().chain(&room.notices).cloned().collect();
        self.all.sort_by(|one, other| {
            let rank = |problem: &Problem| std::cmp::Reverse(problem.severity);
            (rank(one), file_or_place(one), one.line).cmp(&(rank(other), file_or_place(other), other.line))
        });
        self.marks = self.all.iter().map(|problem| content_hash(problem.to_string().as_bytes())).collect();
        // A fixed problem may return, and is reported again then.
        let marks: BTreeSet<u64> = self.marks.iter().copied().collect();
        self.aside.retain(|mark| marks.contains(mark));
        self.group();
    }

    fn group(&mut self) {
        let mut places: BTreeMap<(bool, String), Vec<usize>> = BTreeMap::new();
        for (index, problem) in self.all.iter().enumerate() {
            if !self.aside.contains(&self.marks[index]) {
                let key = (problem.severity != Severity::Error, file_or_place(problem).to_owned());
                places.entry(key).or_default().push(index);
            }
        }
        self.groups = places.into_values().map(|problems| Group { problems }).collect();
    }

    /// Everything that is wrong now, put aside or not.
    pub fn all(&self) -> &[Problem] {
        &self.all
    }

    /// How much of it was not put aside.
    pub fn open(&self) -> usize {
        self.groups.iter().map(|group| group.problems.len()).sum()
    }

    /// Puts these aside until they change.
    pub fn put_aside(&mut self, problems: &[usize]) {
        self.aside.extend(problems.iter().filter_map(|index| self.marks.get(*index)));
        self.group();
    }

    /// Puts everything aside.
    pub fn put_all_aside(&mut self) {
        self.aside.extend(&self.marks);
        self.group();
    }
}

/// What problems are grouped by.
pub(in crate::ui) fn file_or_place(problem: &Problem) -> &str {
    problem.place.split(',').next().unwrap_or(&problem.place).trim()
}

/// What a problem is about, if it can be gone to.
pub fn place_of(problem: &Problem) -> Option<Place> {
    let place = file_or_place(problem);
    if [".md", ".mdx", ".yaml", ".yml"].iter().any(|ending| place.ends_with(ending)) {
        return Some(Place::File(place.to_owned(), problem.line));
    }
    if let Some(id) = place.strip_prefix("element ") {
        return Some(Place::Thing(Thing::Element(id.trim_matches('"').into())));
    }
    if let Some(id) = place.strip_prefix("agent ") {
        return Some(Place::Thing(Thing::Agent(id.trim_matches('"').into())));
    }
    (place.starts_with("budget.") || place.starts_with("gateway.")).then(|| Place::Setting(place.to_owned()))
}

/// Where a problem is, with its line.
pub fn place_text(problem: &Problem) -> String {
    match problem.line {
        Some(line) => texts::place_in_file(&problem.place, line),
        None => problem.place.clone(),
    }
}
