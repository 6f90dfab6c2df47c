//! Tracks the status of files: whether the agents of a profile are working, how their last task ended, the problems of
//! a file, and who deleted it. Updated incrementally.

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::Color32;

use super::texts;
use crate::base::{Id, Problem, Severity};
use crate::log::EventKind;
use crate::log::events::{FileChange, WorkOutcome};
use crate::ui::widgets::icons::Icon;
use crate::view::event_list::EventRow;
use crate::view::model::{ProfileView, RoomModel};
use crate::view::recent_events::Recent;
use crate::view::theme::{Theme, state_colour};

/// The combined status of a profile's agents. More important states compare greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ProfileStatus {
    /// In the room without a task, whatever else the agent does there.
    Idle,
    /// The last task was stopped.
    Aborted,
    /// The last task failed.
    Failed,
    /// A task is waiting for its turn.
    Waiting,
    /// A task is running.
    Running,
    /// A task is waiting for a decision of the user.
    AsksYou,
}

impl ProfileStatus {
    /// Returns a label of one or two words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Idle => texts::IDLE,
            Self::Aborted => texts::STOPPED,
            Self::Failed => texts::FAILED,
            Self::Waiting => texts::WAITING,
            Self::Running => texts::RUNNING,
            Self::AsksYou => texts::ASKS_YOU,
        }
    }

    /// Returns a full sentence for tooltips.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Idle => texts::IS_IDLE,
            Self::Aborted => texts::WAS_STOPPED,
            Self::Failed => texts::HAS_FAILED,
            Self::Waiting => texts::IS_WAITING,
            Self::Running => texts::IS_RUNNING,
            Self::AsksYou => texts::IS_ASKING_YOU,
        }
    }

    /// Returns the icon; `None` is drawn as a small ring.
    pub fn icon(self) -> Option<Icon> {
        match self {
            Self::Idle => None,
            Self::Aborted => Some(Icon::Stop),
            Self::Failed => Some(Icon::Cross),
            Self::Waiting => Some(Icon::Pause),
            Self::Running => Some(Icon::Play),
            Self::AsksYou => Some(Icon::Question),
        }
    }

    /// Returns the colour of the icon.
    pub fn colour(self, theme: &Theme) -> Color32 {
        match self {
            Self::Idle => theme.text_soft,
            // Yellow, like agents that are being dragged.
            Self::Aborted | Self::Failed => state_colour(crate::simulation::State::Dragged),
            Self::Waiting | Self::AsksYou => theme.warn,
            Self::Running => theme.good,
        }
    }
}

/// How a task ended.
#[derive(Clone, PartialEq, Debug)]
struct Ending {
    number: u64,
    status: Option<ProfileStatus>,
    what: String,
}

/// Who deleted a file, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deletion {
    /// An agent's id, `user` or `outside`.
    pub by: String,
    /// Milliseconds since the Unix epoch.
    pub time_ms: u64,
}

/// The problems of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileProblems {
    /// The highest severity among them.
    pub severity: Severity,
    /// All problems, one per line.
    pub words: String,
}

/// The status of all files and profiles, updated from the room and the log.
#[derive(Clone, Debug, Default)]
pub struct StatusTracker {
    profiles: Arc<Vec<ProfileView>>,
    agents: usize,
    /// The profile of each agent in the room.
    profile_of: BTreeMap<Id, Id>,
    /// The number of agents of each profile.
    agent_counts: BTreeMap<Id, usize>,
    /// The profile that each file defines, by path.
    profile_by_file: BTreeMap<String, Id>,
    problems: Arc<Vec<Problem>>,
    problems_by_file: BTreeMap<String, FileProblems>,
    generation: u64,
    next_event: u64,
    /// How the last task of each agent ended.
    endings: BTreeMap<Id, Ending>,
    /// The most recent of `endings` per profile.
    last_ending_of_profile: BTreeMap<Id, Ending>,
    deletions: BTreeMap<String, Deletion>,
    /// The status of profiles with open tasks.
    working: BTreeMap<Id, ProfileStatus>,
}

impl StatusTracker {
    /// Updates the status from the room and from new events in the log.
    pub fn update(&mut self, room: &RoomModel, recent: &Recent) {
        let agents_changed = self.update_agents(room);
        let ended = self.read_new_events(recent);
        if agents_changed || ended {
            self.update_last_endings();
        }
        if !Arc::ptr_eq(&self.problems, &room.problems) {
            self.problems = room.problems.clone();
            self.problems_by_file = problems_by_file(&room.problems);
        }
        self.working.clear();
        for piece in &room.work.pieces {
            let profile = self.profile_of.get(&piece.agent).cloned();
            // The index misses an agent that joined in the same moment as another one left.
            let Some(profile) = profile.or_else(|| Some(room.agent(&piece.agent)?.profile.clone())) else { continue };
            let status = match (&piece.question, piece.stage) {
                (Some(_), _) => ProfileStatus::AsksYou,
                (None, "queued" | "called" | "waiting") => ProfileStatus::Waiting,
                (None, _) => ProfileStatus::Running,
            };
            let now = self.working.entry(profile).or_insert(status);
            *now = status.max(*now);
        }
    }

    /// Returns the status of a profile's agents; `None` if none is in the room.
    pub fn profile_status(&self, profile: &str) -> Option<ProfileStatus> {
        let at_work = self.working.get(profile).copied();
        at_work.or_else(|| {
            self.agent_counts.get(profile).filter(|count| **count > 0)?;
            let ended = self.last_ending_of_profile.get(profile).and_then(|ending| ending.status);
            Some(ended.unwrap_or(ProfileStatus::Idle))
        })
    }

    /// Returns why the last task of a profile's agents failed or was stopped.
    pub fn failure_reason(&self, profile: &str) -> Option<&str> {
        self.last_ending_of_profile
            .get(profile)
            .filter(|ending| ending.status.is_some())
            .map(|ending| ending.what.as_str())
    }

    /// Returns the profile that a file defines.
    pub fn profile_of_file(&self, path: &str) -> Option<&Id> {
        self.profile_by_file.get(path)
    }

    /// Returns an agent of this profile in the room.
    pub fn agent_of(&self, profile: &str) -> Option<&Id> {
        self.profile_of.iter().find(|(_, own)| &***own == profile).map(|(agent, _)| agent)
    }

    /// The problems of a file.
    pub fn problems_of(&self, path: &str) -> Option<&FileProblems> {
        self.problems_by_file.get(path)
    }

    /// Returns who deleted a file, if the loaded part of the log says so.
    pub fn deletion(&self, path: &str) -> Option<&Deletion> {
        self.deletions.get(path)
    }

    /// Rebuilds the index of agents if it is outdated and returns whether it was. The room replaces its list of
    /// profiles whenever a profile or its number of agents changes.
    fn update_agents(&mut self, room: &RoomModel) -> bool {
        if Arc::ptr_eq(&self.profiles, &room.profiles) && self.agents == room.agents.len() {
            return false;
        }
        (self.profiles, self.agents) = (room.profiles.clone(), room.agents.len());
        self.profile_of = room.agents.iter().map(|agent| (agent.id.clone(), agent.profile.clone())).collect();
        self.agent_counts = room.profiles.iter().map(|profile| (profile.id.clone(), 0)).collect();
        self.profile_by_file = room.profiles.iter().map(|profile| (profile.file.clone(), profile.id.clone())).collect();
        for agent in &room.agents {
            *self.agent_counts.entry(agent.profile.clone()).or_default() += 1;
        }
        true
    }

    fn read_new_events(&mut self, recent: &Recent) -> bool {
        let book = &recent.book;
        let was_replaced = book.generation() != self.generation || book.count() < self.next_event;
        if was_replaced {
            (self.generation, self.next_event) = (book.generation(), book.first());
            self.endings.clear();
            self.deletions.clear();
        }
        let mut ended = was_replaced;
        for (number, row) in book.since(self.next_event) {
            ended |= self.apply_event(number, row);
        }
        self.next_event = book.count();
        ended
    }

    /// Applies an event. Returns whether it ended a task.
    fn apply_event(&mut self, number: u64, row: &EventRow) -> bool {
        match row.kind {
            EventKind::Complete | EventKind::Error | EventKind::Abort => {}
            EventKind::FileChange => {
                self.apply_file_change(row);
                return false;
            }
            _ => return false,
        }
        // Errors outside of tasks, such as in a greeting, do not count as failed tasks.
        let (Some(agent), Some(_)) = (&row.agent, &row.activation) else { return false };
        let Some(end) = row.event().work_end() else { return false };
        let (status, what) = match end.outcome {
            WorkOutcome::Completed => (None, String::new()),
            WorkOutcome::Failed => (Some(ProfileStatus::Failed), end.said),
            WorkOutcome::Aborted => (Some(ProfileStatus::Aborted), end.said),
        };
        self.endings.insert(agent.clone(), Ending { number, status, what });
        true
    }

    fn apply_file_change(&mut self, row: &EventRow) {
        match row.read::<FileChange>() {
            Some(change) if change.gone => {
                let deletion = Deletion { by: change.by.to_string(), time_ms: row.time_ms };
                self.deletions.insert(change.path.to_string(), deletion);
            }
            Some(change) => drop(self.deletions.remove(&*change.path)),
            None => {}
        }
    }

    fn update_last_endings(&mut self) {
        self.last_ending_of_profile.clear();
        for (agent, ending) in &self.endings {
            let Some(profile) = self.profile_of.get(agent) else { continue };
            let newest = self.last_ending_of_profile.get(profile).map(|other| other.number);
            if newest.is_none_or(|newest| newest < ending.number) {
                self.last_ending_of_profile.insert(profile.clone(), ending.clone());
            }
        }
    }
}

fn problems_by_file(problems: &[Problem]) -> BTreeMap<String, FileProblems> {
    let mut by_file: BTreeMap<String, FileProblems> = BTreeMap::new();
    for problem in problems {
        let place = problem.place.split(',').next().unwrap_or(&problem.place).trim();
        let words = texts::problem(problem.line, &problem.what, &problem.remedy);
        match by_file.get_mut(place) {
            Some(known) => {
                known.severity = known.severity.max(problem.severity);
                known.words.push('\n');
                known.words.push_str(&words);
            }
            None => {
                by_file.insert(place.to_owned(), FileProblems { severity: problem.severity, words });
            }
        }
    }
    by_file
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{ActivationKey, Seq};
    use crate::log::events::{Abort, Complete, Error, RequestFailed, State, Warning, WorkFailed};
    use crate::log::{EventData, EventDraft, EventRecord};
    use crate::ui::testing::{agent, question, sample_room};
    use crate::view::work::PieceView;

    fn failed(what: &str) -> Error {
        Error::Work(WorkFailed { what: what.into(), ..WorkFailed::default() })
    }

    fn record(seq: u64, agent: &str, event: &impl EventData) -> EventRecord {
        let mut draft = EventDraft::of(event);
        draft.agent = Some(agent.into());
        draft.activation = Some("act-1".into());
        EventRecord { seq: Seq(seq), tick: seq, time_ms: 5_000, run: "r".into(), draft }
    }

    fn piece(agent: &str, stage: &'static str, asks: bool) -> PieceView {
        let question = asks.then(|| question(7, agent, "delete notes.md"));
        let (activation, task) = (ActivationKey::numbered(7), "count".to_owned());
        PieceView { activation, agent: agent.into(), task, stage, turn: 1, depth: 0, tokens: 0, question }
    }

    #[test]
    fn an_agent_file_shows_the_status_of_its_agents() {
        let mut room = sample_room();
        let mut recent = Recent::default();
        let mut tracker = StatusTracker::default();
        tracker.update(&room, &recent);
        assert_eq!(tracker.profile_status("ada"), Some(ProfileStatus::Idle));
        assert_eq!(tracker.profile_status("bram"), None, "no such agent is in the room");
        for (stage, asks, status) in [
            ("queued", false, ProfileStatus::Waiting),
            ("called", false, ProfileStatus::Waiting),
            ("waiting", false, ProfileStatus::Waiting),
            ("thinking", false, ProfileStatus::Running),
            ("using a tool", false, ProfileStatus::Running),
            ("needs you", true, ProfileStatus::AsksYou),
        ] {
            room.work.pieces = vec![piece("ada-1", stage, asks), piece("bram-1", "queued", false)];
            tracker.update(&room, &recent);
            assert_eq!(tracker.profile_status("ada"), Some(status), "the most important status is shown: {stage}");
        }
        room.work.pieces.clear();
        recent.book.push(&record(1, "ada-1", &failed("it broke")));
        tracker.update(&room, &recent);
        assert_eq!(
            (tracker.profile_status("ada"), tracker.failure_reason("ada")),
            (Some(ProfileStatus::Failed), Some("it broke"))
        );
        recent.book.push(&record(2, "bram-1", &Abort { what: "a person stopped it".into(), ..Abort::default() }));
        tracker.update(&room, &recent);
        assert_eq!(
            tracker.profile_status("ada"),
            Some(ProfileStatus::Aborted),
            "the latest ending among the agents of the profile counts"
        );
        recent.book.push(&record(3, "ada-1", &Complete::default()));
        tracker.update(&room, &recent);
        assert_eq!((tracker.profile_status("ada"), tracker.failure_reason("ada")), (Some(ProfileStatus::Idle), None));
    }

    #[test]
    fn a_failed_request_does_not_count_as_a_failed_task() {
        let (room, mut recent, mut tracker) = (sample_room(), Recent::default(), StatusTracker::default());
        let refused = RequestFailed { what: "no key".into(), ..RequestFailed::default() };
        recent.book.push(&record(1, "ada-1", &Error::Request(refused)));
        recent.book.push(&record(2, "ada-1", &Error::Problem(Warning::new("no YAML").into())));
        tracker.update(&room, &recent);
        assert_eq!((tracker.profile_status("ada"), tracker.failure_reason("ada")), (Some(ProfileStatus::Idle), None));
        recent.book.push(&record(3, "ada-1", &failed("no answer")));
        tracker.update(&room, &recent);
        assert_eq!(
            (tracker.profile_status("ada"), tracker.failure_reason("ada")),
            (Some(ProfileStatus::Failed), Some("no answer"))
        );
    }

    #[test]
    fn the_log_is_read_incrementally_and_again_after_it_was_replaced() {
        let (room, mut recent, mut tracker) = (sample_room(), Recent::default(), StatusTracker::default());
        for seq in 0..1_000 {
            recent.book.push(&record(seq, "ada-1", &State::default()));
        }
        tracker.update(&room, &recent);
        assert_eq!(tracker.next_event, 1_000);
        recent.book.push(&record(2_000, "ada-1", &failed("x")));
        tracker.update(&room, &recent);
        assert_eq!((tracker.next_event, tracker.profile_status("ada")), (1_001, Some(ProfileStatus::Failed)));
        recent.book.clear();
        tracker.update(&room, &recent);
        assert_eq!((tracker.next_event, tracker.profile_status("ada")), (0, Some(ProfileStatus::Idle)));
    }

    #[test]
    fn agents_are_tracked_while_they_are_in_the_room() {
        let (mut room, recent, mut tracker) = (sample_room(), Recent::default(), StatusTracker::default());
        tracker.update(&room, &recent);
        let mut bram = agent(2, "b-2", "B");
        bram.profile = "bram".into();
        room.agents.push(bram);
        tracker.update(&room, &recent);
        assert_eq!(
            (tracker.profile_status("bram"), tracker.agent_of("bram").map(|id| &**id)),
            (Some(ProfileStatus::Idle), Some("b-2"))
        );
        room.agents.clear();
        tracker.update(&room, &recent);
        assert_eq!((tracker.profile_status("bram"), tracker.profile_status("ada")), (None, None));
    }

    #[test]
    fn problems_are_found_by_path() {
        let (mut room, recent, mut tracker) = (sample_room(), Recent::default(), StatusTracker::default());
        room.problems = Arc::new(vec![
            Problem::warning("agents/ada.md, front matter", "one", "mend it"),
            Problem::error("agents/ada.md", "two", "mend it").at_line(Some(3)),
        ]);
        tracker.update(&room, &recent);
        let problems = tracker.problems_of("agents/ada.md").expect("something is wrong");
        assert_eq!(problems.severity, Severity::Error);
        assert_eq!(problems.words, "one (mend it)\nLine 3: two (mend it)");
        assert_eq!(tracker.problems_of("agents/bram.md"), None);
    }

    #[test]
    fn a_deletion_is_known_until_the_file_exists_again() {
        let (room, mut recent, mut tracker) = (sample_room(), Recent::default(), StatusTracker::default());
        let gone = FileChange { gone: true, ..FileChange::new("a.md", "ada-1") };
        recent.book.push(&record(1, "ada-1", &gone));
        tracker.update(&room, &recent);
        assert_eq!(tracker.deletion("a.md"), Some(&Deletion { by: "ada-1".into(), time_ms: 5_000 }));
        recent.book.push(&record(2, "ada-1", &FileChange::new("a.md", "ada-1")));
        tracker.update(&room, &recent);
        assert_eq!(tracker.deletion("a.md"), None);
    }

    #[test]
    fn files_map_to_the_profiles_of_the_room() {
        let (room, recent, mut tracker) = (sample_room(), Recent::default(), StatusTracker::default());
        tracker.update(&room, &recent);
        assert_eq!(tracker.profile_of_file("agents/ada.md").map(|id| &**id), Some("ada"));
        for path in ["agents/nobody.md", "artifacts/ada.md", "agents/ada/skills/x.md", "ada.md", ""] {
            assert_eq!(tracker.profile_of_file(path), None, "{path}");
        }
    }
}
