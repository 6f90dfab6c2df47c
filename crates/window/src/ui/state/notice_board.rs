//! The current problems, grouped for display, which of them were dismissed, and the place that each links to.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{NoticeTarget, texts};
use crate::base::hash::content_hash;
use crate::base::{Problem, Severity};
use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;

/// The current problems, sorted only when they change, because there may be thousands.
#[derive(Clone, Debug, Default)]
pub struct NoticeBoard {
    source: Option<(Arc<Vec<Problem>>, Vec<Problem>)>,
    /// All problems: errors first, then by place and line.
    all: Vec<Problem>,
    /// The hashes of the problems, in the same order.
    hashes: Vec<u64>,
    dismissed: BTreeSet<u64>,
    pub(in crate::ui) groups: Vec<Group>,
}

/// The problems at one place that were not dismissed.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// The indices of the problems.
    pub problems: Vec<usize>,
}

impl NoticeBoard {
    /// Updates to the problems of the room, if they changed.
    pub fn update(&mut self, room: &RoomModel) {
        if let Some((problems, notices)) = &self.source
            && Arc::ptr_eq(problems, &room.problems)
            && *notices == room.notices
        {
            return;
        }
        self.source = Some((room.problems.clone(), room.notices.clone()));
        self.all = room.problems.iter().chain(&room.notices).cloned().collect();
        self.all.sort_by(|one, other| {
            let rank = |problem: &Problem| std::cmp::Reverse(problem.severity);
            (rank(one), file_or_place(one), one.line).cmp(&(rank(other), file_or_place(other), other.line))
        });
        self.hashes = self.all.iter().map(|problem| content_hash(problem.to_string().as_bytes())).collect();
        // A fixed problem may return and is shown again then.
        let hashes: BTreeSet<u64> = self.hashes.iter().copied().collect();
        self.dismissed.retain(|hash| hashes.contains(hash));
        self.group();
    }

    fn group(&mut self) {
        let mut places: BTreeMap<(bool, String), Vec<usize>> = BTreeMap::new();
        for (index, problem) in self.all.iter().enumerate() {
            if !self.dismissed.contains(&self.hashes[index]) {
                let key = (problem.severity != Severity::Error, file_or_place(problem).to_owned());
                places.entry(key).or_default().push(index);
            }
        }
        self.groups = places.into_values().map(|problems| Group { problems }).collect();
    }

    /// Returns all current problems, including dismissed ones.
    pub fn all(&self) -> &[Problem] {
        &self.all
    }

    /// Returns the number of problems that were not dismissed.
    pub fn open(&self) -> usize {
        self.groups.iter().map(|group| group.problems.len()).sum()
    }

    /// Dismisses these problems until they change.
    pub fn dismiss(&mut self, problems: &[usize]) {
        self.dismissed.extend(problems.iter().filter_map(|index| self.hashes.get(*index)));
        self.group();
    }

    /// Dismisses all problems.
    pub fn dismiss_all(&mut self) {
        self.dismissed.extend(&self.hashes);
        self.group();
    }
}

/// Returns the file or place by which problems are grouped.
pub(in crate::ui) fn file_or_place(problem: &Problem) -> &str {
    problem.place.split(',').next().unwrap_or(&problem.place).trim()
}

/// Returns the place that a problem links to, if there is one.
pub fn place_of(problem: &Problem) -> Option<NoticeTarget> {
    let place = file_or_place(problem);
    if [".md", ".mdx", ".yaml", ".yml"].iter().any(|ending| place.ends_with(ending)) {
        return Some(NoticeTarget::File(place.to_owned(), problem.line));
    }
    if let Some(id) = place.strip_prefix("element ") {
        return Some(NoticeTarget::Thing(RoomObject::Element(id.trim_matches('"').into())));
    }
    if let Some(id) = place.strip_prefix("agent ") {
        return Some(NoticeTarget::Thing(RoomObject::Agent(id.trim_matches('"').into())));
    }
    (place.starts_with("budget.") || place.starts_with("gateway.")).then(|| NoticeTarget::Setting(place.to_owned()))
}

/// Returns the place of a problem, with its line.
pub fn place_text(problem: &Problem) -> String {
    match problem.line {
        Some(line) => texts::place_in_file(&problem.place, line),
        None => problem.place.clone(),
    }
}
