//! The systems of heartbeats: read the `heartbeat.md` files and order wake-ups from the kernel.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use super::heartbeats::{BY_HEARTBEAT, Heartbeats, heartbeat_path, heartbeat_widening, total_missed, wake_message};
use crate::agent::agent_file::folder_of_agent;
use crate::agent::mdx_file::problem_of;
use crate::agent::{Agent, Profiles, Roster};
use crate::base::{Id, RunTag, Seq};
use crate::heartbeat::{self, Heartbeat};
use crate::kernel::{WorkAnswer, WorkOrder, WorkTerms, WorkWanted};
use crate::log::events::Warning;
use crate::log::{EventDraft, EventLog};
use crate::schedule::{RoomDate, SimClock, TICKS_PER_SEC};
use crate::workspace::layout::HEARTBEAT_FILE;
use crate::workspace::trust::StartsHeld;
use crate::workspace::{FileChanged, KnownFiles, ProblemReport};

/// The delay in seconds before refused work is ordered again.
const RETRY_SECS: u64 = 10;

/// The system parameters of heartbeats.
#[derive(SystemParam)]
pub(super) struct HeartbeatContext<'w, 's> {
    known: Res<'w, KnownFiles>,
    profiles: Res<'w, Profiles>,
    roster: Res<'w, Roster>,
    agents: Query<'w, 's, &'static Agent>,
    clock: Res<'w, SimClock>,
    date: Res<'w, RoomDate>,
    log: ResMut<'w, EventLog>,
    orders: MessageWriter<'w, WorkOrder>,
    reports: MessageWriter<'w, ProblemReport>,
}

/// The known heartbeats by path, and the agents with their paths. Not saved.
#[derive(Default)]
pub(super) struct Read {
    files: BTreeMap<String, Heartbeat>,
    agents: Vec<(Id, String)>,
    has_looked: bool,
}

/// Checks once a second which heartbeats are due.
pub(super) fn start_due_heartbeats(
    mut own: ResMut<Heartbeats>,
    mut room: HeartbeatContext,
    mut changes: MessageReader<FileChanged>,
    held: StartsHeld,
    mut read: Local<Read>,
) {
    let is_first = !std::mem::replace(&mut read.has_looked, true);
    let is_heartbeat = |path: &str| path.rsplit('/').next() == Some(HEARTBEAT_FILE);
    // All changes have to be read, not only the first one.
    let has_changed = changes.read().filter(|change| is_heartbeat(&change.path)).count() > 0;
    if is_first || has_changed {
        room.read_files(&mut read);
    }
    if is_first || has_changed || room.roster.is_changed() || room.profiles.is_changed() {
        read.agents = room.agents_with(&read.files);
    }
    let holds = held.holds();
    if read.agents.is_empty() || holds || !room.clock.tick().is_multiple_of(TICKS_PER_SEC) {
        return;
    }
    let Some(now_secs) = room.date.secs(&room.clock) else { return };
    for (agent, path) in &read.agents {
        let is_trusted =
            |heartbeat: &&Heartbeat| heartbeat_widening(path, heartbeat).is_none_or(|wakes| held.allows(|| wakes));
        if let Some(heartbeat) = read.files.get(path).filter(is_trusted) {
            room.check(own.bypass_change_detection(), agent, heartbeat, now_secs);
        }
    }
}

/// Applies the kernel's answers about wake-ups.
pub(super) fn apply_work_answers(
    mut own: ResMut<Heartbeats>,
    clock: Res<SimClock>,
    mut work_answers: MessageReader<WorkAnswer>,
) {
    if own.beats.is_empty() {
        work_answers.clear();
        return;
    }
    let own = own.bypass_change_detection();
    for answer in work_answers.read() {
        match answer {
            WorkAnswer::Begun { order, activation, .. } => own.begun(order, *activation),
            WorkAnswer::Refused { order, .. } => own.refused(order, clock.tick() + RETRY_SECS * TICKS_PER_SEC),
            WorkAnswer::Ended { activation, .. } => own.ended(*activation),
        }
    }
}

impl HeartbeatContext<'_, '_> {
    /// Reads all heartbeat files and reports their problems.
    fn read_files(&mut self, read: &mut Read) {
        let before = std::mem::take(&mut read.files);
        let files = self.known.all().iter().filter(|(path, _)| path.starts_with("agents/") || *path == HEARTBEAT_FILE);
        for (path, text) in files.filter(|(path, _)| path.rsplit('/').next() == Some(HEARTBEAT_FILE)) {
            let heartbeat = heartbeat::read(text);
            let problems = heartbeat.problems.iter().map(|problem| problem_of(path, problem));
            self.reports.write(ProblemReport { source: path.clone(), problems: problems.collect() });
            read.files.insert(path.clone(), heartbeat);
        }
        for gone in before.keys().filter(|path| !read.files.contains_key(*path)) {
            self.reports.write(ProblemReport { source: gone.clone(), problems: Vec::new() });
        }
    }

    /// The agents in the room that have one of these files in their folder, with its path.
    fn agents_with(&self, files: &BTreeMap<String, Heartbeat>) -> Vec<(Id, String)> {
        if files.is_empty() {
            return Vec::new();
        }
        let here = self.roster.agents(&self.agents);
        let of = |agent: &Agent| {
            let folder = folder_of_agent(self.profiles.path(&agent.profile)?)?;
            let path = heartbeat_path(folder);
            files.contains_key(&path).then(|| (agent.id.clone(), path))
        };
        here.filter_map(of).collect()
    }

    fn check(&mut self, own: &mut Heartbeats, agent: &Id, heartbeat: &Heartbeat, now_secs: i64) {
        let due = own.due(agent, heartbeat, now_secs, self.clock.tick());
        if due.is_empty() {
            return;
        }
        own.newest += 1;
        let order: Id = format!("{BY_HEARTBEAT}/{}/{}", RunTag::of(self.log.run()), own.newest).into();
        let missed = total_missed(&due);
        let cause = match missed {
            0 => Seq(0),
            missed => {
                let times = if missed == 1 { "a heartbeat" } else { &format!("{missed} heartbeats") };
                let warning = Warning::new(format!("it missed {times} and now runs once"));
                self.log.write(EventDraft::of(&Warning { by: Some(BY_HEARTBEAT.into()), ..warning }).agent(agent))
            }
        };
        let when = self.date.in_words(&self.clock).unwrap_or_default();
        self.orders.write(WorkOrder::Begin(Box::new(WorkWanted {
            order: order.clone(),
            agent: agent.clone(),
            task: wake_message(heartbeat, &due, &when),
            by: BY_HEARTBEAT.into(),
            terms: WorkTerms::default(),
            cause,
        })));
        own.ordered(agent, order, now_secs);
    }
}
