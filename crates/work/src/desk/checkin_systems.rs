//! The systems of planner check-ins: determine the open work and whether a check-in is due, and ask the planner in its
//! session.

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use serde::{Deserialize, Serialize};

use super::checkins::{self, CHECK_IN, CheckInFile, CheckInStep, OpenWork};
use super::settings::TaskSettings;
use super::task_cache::KnownTasks;
use crate::agent::{Agent, Profiles, Roster};
use crate::base::{ActivationKey, Id, Problem, RunTag, Seq};
use crate::kernel::{Kernel, KernelSettings, WorkAnswer, WorkNotice, WorkOrder, WorkTerms, WorkWanted};
use crate::log::EventLog;
use crate::schedule::{RoomDate, SimClock, TICKS_PER_SEC};
use crate::tools::PLANNER;
use crate::workspace::layout::CHECK_IN_FILE;
use crate::workspace::trust::StartsHeld;
use crate::workspace::{FileChanged, KnownFiles, ProblemReport, SceneWrite};

/// The name in the log, and the prefix of the ids of its orders.
const BY: &str = "check-in";
/// The delay in seconds before refused work is ordered again.
const RETRY_SECS: u64 = 10;
/// The source name of the reported problems.
const SOURCE: &str = "planner check-in";

/// The state of check-ins. Part of the saved world. Written by this module only.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckIns {
    /// The simulated date in seconds since which something is open.
    open_since_secs: Option<i64>,
    /// The session that is kept for check-ins.
    kept: Option<ActivationKey>,
    /// The check-in that is starting a session.
    ordered: Option<CheckInOrder>,
    newest: u64,
    /// The next check-in is not ordered before this tick.
    not_before: u64,
    #[serde(skip)]
    problems: Vec<Problem>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct CheckInOrder {
    order: Id,
    now_secs: i64,
    count: u64,
    reason: String,
}

impl CheckIns {
    /// Whether a check-in is about to start a session.
    pub fn is_asking(&self) -> bool {
        self.ordered.is_some()
    }
}

/// The system parameters of check-ins.
#[derive(SystemParam)]
pub(super) struct CheckInContext<'w, 's> {
    settings: Res<'w, TaskSettings>,
    kernel: Res<'w, Kernel>,
    kernel_settings: Res<'w, KernelSettings>,
    known: Res<'w, KnownFiles>,
    tasks: Res<'w, KnownTasks>,
    profiles: Res<'w, Profiles>,
    roster: Res<'w, Roster>,
    agents: Query<'w, 's, &'static Agent>,
    clock: Res<'w, SimClock>,
    date: Res<'w, RoomDate>,
    log: Res<'w, EventLog>,
    orders: MessageWriter<'w, WorkOrder>,
    notices: MessageWriter<'w, WorkNotice>,
    writes: MessageWriter<'w, SceneWrite>,
    reports: MessageWriter<'w, ProblemReport>,
}

/// Checks once a second, and whenever the file changes, whether a check-in is due.
pub(super) fn check_in(
    mut own: ResMut<CheckIns>,
    mut room: CheckInContext,
    mut changes: MessageReader<FileChanged>,
    held: StartsHeld,
    mut planner: Local<Option<Id>>,
) {
    let is_other = room.tasks.is_changed() | changes.read().any(|change| change.path == CHECK_IN_FILE);
    if room.roster.is_changed() || room.profiles.is_changed() {
        *planner = room.planner();
    }
    let now = room.clock.tick();
    let is_time = is_other || now.is_multiple_of(TICKS_PER_SEC);
    let holds = held.holds();
    if !is_time || holds || !room.settings.planner_checkins || own.ordered.is_some() || now < own.not_before {
        return;
    }
    let Some(planner) = planner.clone() else {
        room.report_missing_planner(own.bypass_change_detection());
        return;
    };
    let Some(now_secs) = room.date.secs(&room.clock) else { return };
    room.check(own.bypass_change_detection(), &planner, now_secs);
}

/// Records the session that was started for a check-in.
pub(super) fn apply_started_sessions(
    mut own: ResMut<CheckIns>,
    mut room: CheckInContext,
    mut work_answers: MessageReader<WorkAnswer>,
) {
    if own.ordered.is_none() {
        work_answers.clear();
        return;
    }
    for answer in work_answers.read() {
        let Some(order) = answer.order() else { continue };
        let Some(ordered) = own.ordered.take_if(|ordered| ordered.order == *order) else { continue };
        match answer {
            WorkAnswer::Begun { thread, .. } => {
                own.kept = Some(*thread);
                room.write(&ordered, room.kernel.session_id(*thread));
            }
            _ => own.not_before = room.clock.tick() + RETRY_SECS * TICKS_PER_SEC,
        }
    }
}

impl CheckInContext<'_, '_> {
    fn is_planner(&self, profile: &str) -> bool {
        self.profiles.get(profile).is_some_and(|profile| profile.role.as_deref() == Some(PLANNER))
    }

    /// The first planner in the room.
    fn planner(&self) -> Option<Id> {
        let mut here = self.roster.agents(&self.agents);
        here.find(|agent| self.is_planner(&agent.profile)).map(|agent| agent.id.clone())
    }

    fn check(&mut self, own: &mut CheckIns, planner: &Id, now_secs: i64) {
        let text = self.known.text(CHECK_IN_FILE).unwrap_or_default().to_owned();
        let has_file = self.known.text(CHECK_IN_FILE).is_some();
        let (file, problems) = match checkins::read(&text) {
            Ok((file, problems)) => (Some(file).filter(|_| has_file), problems),
            Err(problem) => (None, vec![problem]),
        };
        let is_broken = has_file && file.is_none();
        self.report(own, problems);
        let session = self.session(file.as_ref(), planner);
        let open = self.open_work(session);
        own.open_since_secs = match own.open_since_secs {
            _ if open.is_empty() => None,
            Some(since) if since <= now_secs => Some(since),
            _ => Some(now_secs),
        };
        if let Some(kept) = own.kept.take_if(|_| open.is_empty()) {
            self.orders.write(WorkOrder::Release { thread: kept });
        }
        if is_broken {
            return;
        }
        let count = file.as_ref().map_or(0, |file| file.count);
        match checkins::step(file.as_ref(), open, own.open_since_secs, now_secs) {
            CheckInStep::Wait => {}
            CheckInStep::Begin(reason) => {
                let named = session.and_then(|session| self.kernel.session_id(session)).map(file_name);
                let text = checkins::updated_text(&text, now_secs, &reason, None, named.as_deref());
                self.writes.write(SceneWrite::File { path: CHECK_IN_FILE.to_owned(), text });
            }
            CheckInStep::Ask(reason) => {
                own.newest += 1;
                let order = format!("{BY}/{}/{}", RunTag::of(self.log.run()), own.newest).into();
                let ordered = CheckInOrder { order, now_secs, count: count + 1, reason };
                let told = checkins::message(ordered.count, &ordered.reason, open);
                self.ask(own, planner, session, told, ordered);
            }
        }
    }

    /// Reports new problems of the file, and that earlier ones are solved.
    fn report(&mut self, own: &mut CheckIns, problems: Vec<Problem>) {
        if own.problems != problems {
            own.problems.clone_from(&problems);
            self.reports.write(ProblemReport { source: SOURCE.to_owned(), problems });
        }
    }

    /// Reports what is wrong with the file in a room without a planner: also that nobody checks in while tasks are open.
    fn report_missing_planner(&mut self, own: &mut CheckIns) {
        let has_agents = self.roster.iter().next().is_some();
        let Some(text) = self.known.text(CHECK_IN_FILE).filter(|_| has_agents) else {
            return self.report(own, Vec::new());
        };
        let mut problems = checkins::read(text).map_or_else(|problem| vec![problem], |(_, problems)| problems);
        if self.tasks.open_count() > 0 {
            let what = "tasks are open, but no agent in this scene has role: planner, so nobody checks in";
            let remedy = "add such an agent to the scene, or remove this file";
            problems.push(Problem::warning(CHECK_IN_FILE, what, remedy));
        }
        self.report(own, problems);
    }

    /// The open work, without the planner's own session.
    fn open_work(&self, own: Option<ActivationKey>) -> OpenWork {
        let others = self.kernel.activations().filter(|one| Some(one.thread) != own);
        OpenWork {
            sessions: others.count(),
            tasks: self.tasks.open_count(),
            questions: self.kernel.approvals().count(),
        }
    }

    /// The session for check-ins: the one named in the file, otherwise the planner's running or newest one.
    fn session(&self, file: Option<&CheckInFile>, planner: &Id) -> Option<ActivationKey> {
        let named = file.and_then(|file| self.kernel.session_named(file.session.as_deref()?));
        let is_usable = |key: &ActivationKey| {
            let thread = self.kernel.thread(*key);
            thread.is_some_and(|one| {
                !one.is_stopped && self.is_planner(&one.profile) && self.roster.key(&one.agent).is_some()
            })
        };
        let live = || self.kernel.next_work_of(planner).map(|one| one.thread);
        let rests = || self.kernel.may_be_woken(planner, None, &self.kernel_settings);
        named.filter(is_usable).or_else(live).or_else(rests)
    }

    fn ask(
        &mut self,
        own: &mut CheckIns,
        planner: &Id,
        session: Option<ActivationKey>,
        told: String,
        ordered: CheckInOrder,
    ) {
        let Some(thread) = session else {
            self.orders.write(WorkOrder::Begin(Box::new(WorkWanted {
                order: ordered.order.clone(),
                agent: planner.clone(),
                task: told,
                by: BY.into(),
                terms: WorkTerms { is_kept: true, ..WorkTerms::default() },
                cause: Seq(0),
            })));
            own.ordered = Some(ordered);
            return;
        };
        // A second check-in is not needed as long as the first one is unread.
        let live = self.kernel.thread(thread).and_then(|known| self.kernel.activation(known.live?));
        if live.is_some_and(|live| live.mail.iter().any(|text| text.starts_with(CHECK_IN))) {
            return;
        }
        self.notices.write(WorkNotice { thread, text: told, from: BY.into(), from_work: None, cause: Seq(0) });
        self.write(&ordered, self.kernel.session_id(thread));
    }

    fn write(&mut self, ordered: &CheckInOrder, session: Option<String>) {
        let text = self.known.text(CHECK_IN_FILE).unwrap_or_default();
        let session = session.map(file_name);
        let text =
            checkins::updated_text(text, ordered.now_secs, &ordered.reason, Some(ordered.count), session.as_deref());
        self.writes.write(SceneWrite::File { path: CHECK_IN_FILE.to_owned(), text });
    }
}

fn file_name(session_id: String) -> String {
    session_id + ".session.yaml"
}
