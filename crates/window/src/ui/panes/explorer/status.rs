//! The status of files: whether the agents of a profile are working, how their last work ended, the problems of a file,
//! and who deleted one. It is updated as the room changes, without going through everything again.

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

/// How it stands with the agents of a profile. What matters more is greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ProfileStatus {
    /// In the room without a task, whatever else it does there.
    Idle,
    /// The last work was stopped.
    Aborted,
    /// The last work failed.
    Failed,
    /// Its work waits for its turn.
    Waiting,
    /// At work.
    Running,
    /// A person must decide before work continues.
    AsksYou,
}

impl ProfileStatus {
    /// In a word or two.
    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => texts::IDLE,
            Self::Aborted => texts::STOPPED,
            Self::Failed => texts::FAILED,
            Self::Waiting => texts::WAITING,
            Self::Running => texts::RUNNING,
            Self::AsksYou => texts::ASKS_YOU,
        }
    }

    /// As a sentence.
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

    /// Its sign; a small ring where there is none.
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

    /// Its colour.
    pub fn colour(self, theme: &Theme) -> Color32 {
        match self {
            Self::Idle => theme.text_soft,
            // Yellow, as agents are that are held.
            Self::Aborted | Self::Failed => state_colour(crate::simulation::State::Dragged),
            Self::Waiting | Self::AsksYou => theme.warn,
            Self::Running => theme.good,
        }
    }
}

/// How a piece of work ended.
#[derive(Clone, PartialEq, Debug)]
struct Ending {
    number: u64,
    standing: Option<ProfileStatus>,
    what: String,
}

/// Who took a file away, and when.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeletedFile {
    /// Whoever did: an agent's id, `user`, `outside`.
    pub by: String,
    /// In milliseconds since 1970.
    pub time_ms: u64,
}

/// What is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FileProblems {
    /// The worst of it.
    pub severity: Severity,
    /// All of it, a line each.
    pub words: String,
}

/// What was learned so far.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    profiles: Arc<Vec<ProfileView>>,
    agents: usize,
    /// The profile of each agent in the room.
    profile_of: BTreeMap<Id, Id>,
    /// Agents of each profile.
    here: BTreeMap<Id, usize>,
    /// The profile that each file defines.
    profile_at: BTreeMap<String, Id>,
    problems: Arc<Vec<Problem>>,
    wrong: BTreeMap<String, FileProblems>,
    generation: u64,
    next: u64,
    /// How the last work of each agent ended.
    endings: BTreeMap<Id, Ending>,
    /// The newest ending of each profile that ended badly.
    ended: BTreeMap<Id, Ending>,
    taken: BTreeMap<String, DeletedFile>,
    /// Running work.
    at_work: BTreeMap<Id, ProfileStatus>,
}

impl Watch {
    /// Takes in what is new.
    pub fn follow(&mut self, room: &RoomModel, recent: &Recent) {
        let are_others = self.learn_agents(room);
        let ended = self.read_on(recent);
        if are_others || ended {
            self.sum_up_endings();
        }
        if !Arc::ptr_eq(&self.problems, &room.problems) {
            self.problems = room.problems.clone();
            self.wrong = wrong(&room.problems);
        }
        self.at_work.clear();
        for piece in &room.work.pieces {
            let profile = self.profile_of.get(&piece.agent).cloned();
            // One that came in while another one of its kind left.
            let Some(profile) = profile.or_else(|| Some(room.agent(&piece.agent)?.profile.clone())) else { continue };
            let standing = match (&piece.question, piece.stage) {
                (Some(_), _) => ProfileStatus::AsksYou,
                (None, "queued" | "called" | "waiting") => ProfileStatus::Waiting,
                (None, _) => ProfileStatus::Running,
            };
            let now = self.at_work.entry(profile).or_insert(standing);
            *now = standing.max(*now);
        }
    }

    /// How it stands with the agents of a profile; nothing where none is in the room.
    pub fn profile_status(&self, profile: &str) -> Option<ProfileStatus> {
        let at_work = self.at_work.get(profile).copied();
        at_work.or_else(|| {
            self.here.get(profile).filter(|count| **count > 0)?;
            let ended = self.ended.get(profile).and_then(|ending| ending.standing);
            Some(ended.unwrap_or(ProfileStatus::Idle))
        })
    }

    /// Why the last work of a profile's agents ended badly.
    pub fn why_ended(&self, profile: &str) -> Option<&str> {
        self.ended.get(profile).filter(|ending| ending.standing.is_some()).map(|ending| ending.what.as_str())
    }

    /// The profile that a file defines, if the room knows it.
    pub fn profile_of_file(&self, path: &str) -> Option<&Id> {
        self.profile_at.get(path)
    }

    /// An agent in the room of this profile.
    pub fn agent_of(&self, profile: &str) -> Option<&Id> {
        self.profile_of.iter().find(|(_, own)| &***own == profile).map(|(agent, _)| agent)
    }

    /// What is wrong with a file.
    pub fn wrong(&self, path: &str) -> Option<&FileProblems> {
        self.wrong.get(path)
    }

    /// Who took a file away, as far as the log at hand says.
    pub fn taken(&self, path: &str) -> Option<&DeletedFile> {
        self.taken.get(path)
    }

    /// The list of profiles is a new one whenever it or the number of agents of one of them changed.
    fn learn_agents(&mut self, room: &RoomModel) -> bool {
        if Arc::ptr_eq(&self.profiles, &room.profiles) && self.agents == room.agents.len() {
            return false;
        }
        (self.profiles, self.agents) = (room.profiles.clone(), room.agents.len());
        self.profile_of = room.agents.iter().map(|agent| (agent.id.clone(), agent.profile.clone())).collect();
        self.here = room.profiles.iter().map(|profile| (profile.id.clone(), 0)).collect();
        self.profile_at = room.profiles.iter().map(|profile| (profile.file.clone(), profile.id.clone())).collect();
        for agent in &room.agents {
            *self.here.entry(agent.profile.clone()).or_default() += 1;
        }
        true
    }

    fn read_on(&mut self, recent: &Recent) -> bool {
        let book = &recent.book;
        let is_another = book.generation() != self.generation || book.count() < self.next;
        if is_another {
            (self.generation, self.next) = (book.generation(), book.first());
            self.endings.clear();
            self.taken.clear();
        }
        let mut ended = is_another;
        for (number, row) in book.since(self.next) {
            ended |= self.note(number, row);
        }
        self.next = book.count();
        ended
    }

    /// Whether work ended.
    fn note(&mut self, number: u64, row: &EventRow) -> bool {
        match row.kind {
            EventKind::Complete | EventKind::Error | EventKind::Abort => {}
            EventKind::FileChange => {
                self.note_file(row);
                return false;
            }
            _ => return false,
        }
        // A failure outside of work (a remark, a greeting) says nothing about work.
        let (Some(agent), Some(_)) = (&row.agent, &row.activation) else { return false };
        let Some(end) = row.event().work_end() else { return false };
        let (standing, what) = match end.outcome {
            WorkOutcome::Completed => (None, String::new()),
            WorkOutcome::Failed => (Some(ProfileStatus::Failed), end.said),
            WorkOutcome::Aborted => (Some(ProfileStatus::Aborted), end.said),
        };
        self.endings.insert(agent.clone(), Ending { number, standing, what });
        true
    }

    fn note_file(&mut self, row: &EventRow) {
        match row.read::<FileChange>() {
            Some(change) if change.gone => {
                let taken = DeletedFile { by: change.by.to_string(), time_ms: row.time_ms };
                self.taken.insert(change.path.to_string(), taken);
            }
            Some(change) => drop(self.taken.remove(&*change.path)),
            None => {}
        }
    }

    fn sum_up_endings(&mut self) {
        self.ended.clear();
        for (agent, ending) in &self.endings {
            let Some(profile) = self.profile_of.get(agent) else { continue };
            let newest = self.ended.get(profile).map(|other| other.number);
            if newest.is_none_or(|newest| newest < ending.number) {
                self.ended.insert(profile.clone(), ending.clone());
            }
        }
    }
}

fn wrong(problems: &[Problem]) -> BTreeMap<String, FileProblems> {
    let mut wrong: BTreeMap<String, FileProblems> = BTreeMap::new();
    for problem in problems {
        let place = problem.place.split(',').next().unwrap_or(&problem.place).trim();
        let words = texts::problem(problem.line, &problem.what, &problem.remedy);
        match wrong.get_mut(place) {
            Some(known) => {
                known.severity = known.severity.max(problem.severity);
                known.words.push('\n');
                known.words.push_str(&words);
            }
            None => {
                wrong.insert(place.to_owned(), FileProblems { severity: problem.severity, words });
            }
        }
    }
    wrong
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
    fn an_agent_file_stands_as_its_agents_do() {
        let mut room = sample_room();
        let mut recent = Recent::default();
        let mut watch = Watch::default();
        watch.follow(&room, &recent);
        assert_eq!(watch.profile_status("ada"), Some(ProfileStatus::Idle));
        assert_eq!(watch.profile_status("bram"), None, "nobody of that kind is in the room");
        for (stage, asks, standing) in [
            ("queued", false, ProfileStatus::Waiting),
            ("called", false, ProfileStatus::Waiting),
            ("waiting", false, ProfileStatus::Waiting),
            ("thinking", false, ProfileStatus::Running),
            ("using a tool", false, ProfileStatus::Running),
            ("needs you", true, ProfileStatus::AsksYou),
        ] {
            room.work.pieces = vec![piece("ada-1", stage, asks), piece("bram-1", "queued", false)];
            watch.follow(&room, &recent);
            assert_eq!(watch.profile_status("ada"), Some(standing), "what matters more is told: {stage}");
        }
        room.work.pieces.clear();
        recent.book.push(&record(1, "ada-1", &failed("it broke")));
        watch.follow(&room, &recent);
        assert_eq!(
            (watch.profile_status("ada"), watch.why_ended("ada")),
            (Some(ProfileStatus::Failed), Some("it broke"))
        );
        recent.book.push(&record(2, "bram-1", &Abort { what: "a person stopped it".into(), ..Abort::default() }));
        watch.follow(&room, &recent);
        assert_eq!(
            watch.profile_status("ada"),
            Some(ProfileStatus::Aborted),
            "the newest of all agents of the profile"
        );
        recent.book.push(&record(3, "ada-1", &Complete::default()));
        watch.follow(&room, &recent);
        assert_eq!((watch.profile_status("ada"), watch.why_ended("ada")), (Some(ProfileStatus::Idle), None));
    }

    #[test]
    fn a_request_that_is_refused_is_not_the_end_of_the_work() {
        let (room, mut recent, mut watch) = (sample_room(), Recent::default(), Watch::default());
        let refused = RequestFailed { what: "no key".into(), ..RequestFailed::default() };
        recent.book.push(&record(1, "ada-1", &Error::Request(refused)));
        recent.book.push(&record(2, "ada-1", &Error::Problem(Warning::new("no YAML").into())));
        watch.follow(&room, &recent);
        assert_eq!((watch.profile_status("ada"), watch.why_ended("ada")), (Some(ProfileStatus::Idle), None));
        recent.book.push(&record(3, "ada-1", &failed("no answer")));
        watch.follow(&room, &recent);
        assert_eq!(
            (watch.profile_status("ada"), watch.why_ended("ada")),
            (Some(ProfileStatus::Failed), Some("no answer"))
        );
    }

    #[test]
    fn the_log_is_read_on_and_from_its_beginning_when_it_is_another_one() {
        let (room, mut recent, mut watch) = (sample_room(), Recent::default(), Watch::default());
        for seq in 0..1_000 {
            recent.book.push(&record(seq, "ada-1", &State::default()));
        }
        watch.follow(&room, &recent);
        assert_eq!(watch.next, 1_000);
        recent.book.push(&record(2_000, "ada-1", &failed("x")));
        watch.follow(&room, &recent);
        assert_eq!((watch.next, watch.profile_status("ada")), (1_001, Some(ProfileStatus::Failed)));
        recent.book.clear();
        watch.follow(&room, &recent);
        assert_eq!((watch.next, watch.profile_status("ada")), (0, Some(ProfileStatus::Idle)));
    }

    #[test]
    fn whoever_comes_into_the_room_is_known_and_whoever_leaves_is_not() {
        let (mut room, recent, mut watch) = (sample_room(), Recent::default(), Watch::default());
        watch.follow(&room, &recent);
        let mut bram = agent(2, "b-2", "B");
        bram.profile = "bram".into();
        room.agents.push(bram);
        watch.follow(&room, &recent);
        assert_eq!(
            (watch.profile_status("bram"), watch.agent_of("bram").map(|id| &**id)),
            (Some(ProfileStatus::Idle), Some("b-2"))
        );
        room.agents.clear();
        watch.follow(&room, &recent);
        assert_eq!((watch.profile_status("bram"), watch.profile_status("ada")), (None, None));
    }

    #[test]
    fn what_is_wrong_with_a_file_is_found_by_its_path() {
        let (mut room, recent, mut watch) = (sample_room(), Recent::default(), Watch::default());
        room.problems = Arc::new(vec![
            Problem::warning("agents/ada.md, front matter", "one", "mend it"),
            Problem::error("agents/ada.md", "two", "mend it").at_line(Some(3)),
        ]);
        watch.follow(&room, &recent);
        let wrong = watch.wrong("agents/ada.md").expect("something is wrong");
        assert_eq!(wrong.severity, Severity::Error);
        assert_eq!(wrong.words, "one (mend it)\nLine 3: two (mend it)");
        assert_eq!(watch.wrong("agents/bram.md"), None);
    }

    #[test]
    fn who_took_a_file_away_is_known_until_it_is_there_again() {
        let (room, mut recent, mut watch) = (sample_room(), Recent::default(), Watch::default());
        let gone = FileChange { gone: true, ..FileChange::new("a.md", "ada-1") };
        recent.book.push(&record(1, "ada-1", &gone));
        watch.follow(&room, &recent);
        assert_eq!(watch.taken("a.md"), Some(&DeletedFile { by: "ada-1".into(), time_ms: 5_000 }));
        recent.book.push(&record(2, "ada-1", &FileChange::new("a.md", "ada-1")));
        watch.follow(&room, &recent);
        assert_eq!(watch.taken("a.md"), None);
    }

    #[test]
    fn files_are_profiles_as_the_room_knows_them() {
        let (room, recent, mut watch) = (sample_room(), Recent::default(), Watch::default());
        watch.follow(&room, &recent);
        assert_eq!(watch.profile_of_file("agents/ada.md").map(|id| &**id), Some("ada"));
        for path in ["agents/nobody.md", "artifacts/ada.md", "agents/ada/skills/x.md", "ada.md", ""] {
            assert_eq!(watch.profile_of_file(path), None, "{path}");
        }
    }
}
