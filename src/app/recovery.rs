//! Restores a room to its last recorded state from the best readable part of its history, and reports what was used,
//! what was not, and the consequences.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bevy::app::App;
use bevy::ecs::prelude::World;
use serde_json::Value;

use super::opening::{OpenError, state_folder};
use crate::base::{Problem, Seq};
use crate::schedule::{InputJournal, SimClock, TICKS_PER_SEC, saved};
use crate::store::{QuarantinedDatabase, Reader, ReopenFrom, Reopening, StoreError};
use crate::workspace::{KnownFiles, RoomStart};

/// The path to which problems are attributed.
const PLACE: &str = ".workshop/workshop.db";
/// Maximum number of ticks that are replayed: a room is saved far more often, so more than this means damage.
const MAX_TICKS: u64 = 100_000;

/// A saved world, and the files that it knew.
pub(super) struct SavedRoom {
    pub(super) sections: Value,
    pub(super) files: BTreeMap<String, String>,
}

/// Why a point in the history was not used.
enum Unusable {
    Store(StoreError),
    Json(serde_json::Error),
    TooFar { ticks: u64 },
    NotTrusted,
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Store(error) => error.fmt(out),
            Self::Json(error) => error.fmt(out),
            Self::NotTrusted => {
                out.write_str("its run was not begun here, and you have not trusted it: it stays in the file set aside")
            }
            Self::TooFar { ticks } => {
                write!(out, "it claims that {ticks} more ticks followed, but no room leaves so many unsaved")
            }
        }
    }
}

/// The last committed world, as far as the history can be read. The source may also be a copy of a damaged history that
/// was set aside, or that history itself. Only runs that are `trusted` are continued.
pub(super) fn recover(
    state_folder: &Path,
    aside: Option<&QuarantinedDatabase>,
    scene: &str,
    trusted: &dyn Fn(&str) -> bool,
) -> Result<(Option<SavedRoom>, Vec<Problem>), OpenError> {
    let reader = match aside {
        // A damaged history may not even open.
        Some(aside) if !aside.is_copied() => match Reader::open_quarantined(aside.path()) {
            Ok(reader) => reader,
            Err(error) => return Ok((None, vec![nothing_left(&error.to_string())])),
        },
        _ => Reader::open(state_folder)?,
    };
    let ways = match reader.recovery_points(scene) {
        Ok(ways) => ways,
        Err(error) if aside.is_some() => return Ok((None, vec![nothing_left(&error.to_string())])),
        Err(error) => return Err(error.into()),
    };
    let mut unusable: Vec<String> = Vec::new();
    for way in &ways {
        let read = reader.restore(way).map_err(Unusable::Store);
        let read = read.and_then(|saved| if trusted(&saved.run.id) { Ok(saved) } else { Err(Unusable::NotTrusted) });
        match read.and_then(|reopening| resume_run(&reader, reopening, scene)) {
            Ok((None, mut problems)) => {
                problems.extend(unusable.first().map(|why| nothing_left(why)));
                return Ok((None, problems));
            }
            Ok((Some(room), mut problems)) => {
                if let Some(first) = unusable.first() {
                    problems.insert(0, older_was_used(first, &room));
                } else if aside.is_some() {
                    problems.insert(0, was_used(&room));
                }
                return Ok((Some(room.saved), problems));
            }
            // The run's start may have been thinned out of the history; an earlier snapshot is as good.
            Err(Unusable::Store(StoreError::Thinned(_) | StoreError::UnknownRun(_))) if way.is_start() => {}
            Err(why) => {
                tracing::warn!("a point in the history could not be used: {why}");
                unusable.push(why.to_string());
            }
        }
    }
    let is_lost = aside.is_some_and(|aside| !aside.is_fully_salvaged());
    let problem = match unusable.first() {
        Some(why) => Some(nothing_left(why)),
        None => is_lost.then(|| nothing_left("none could be read from the history")),
    };
    Ok((None, problem.into_iter().collect()))
}

/// Visits every scene of a workspace that was ever opened, with its last committed world, whether or not it is running
/// elsewhere. Read-only, and no systems run.
pub(super) fn for_each_scene(workspace: &Path, mut each: impl FnMut(&str, &World)) -> Result<(), OpenError> {
    let state_folder = state_folder(workspace);
    let reader = match Reader::open(&state_folder) {
        Ok(reader) => reader,
        Err(StoreError::NoHistory { .. }) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    let scenes: BTreeSet<String> = reader.runs()?.into_iter().map(|run| run.scene).collect();
    drop(reader);
    for scene in scenes {
        if let Some(app) = last_committed_world(workspace, &scene)? {
            each(&scene, app.world());
        }
    }
    Ok(())
}

/// The last committed world of a scene, if there is one. Read-only, and no systems run.
pub(super) fn last_committed_world(workspace: &Path, scene: &str) -> Result<Option<App>, OpenError> {
    let Some(SavedRoom { sections, files }) = recover(&state_folder(workspace), None, scene, &|_| true)?.0 else {
        return Ok(None);
    };
    let start = RoomStart { scene: scene.to_owned(), files, carried: Some(sections), ..RoomStart::default() };
    Ok(Some(super::resume(start, "r-look".into(), Seq(1))?))
}

/// A restored room, and the tick it was restored to.
struct RestoredRoom {
    saved: SavedRoom,
    tick: u64,
    /// Number of recorded ticks that could not be restored.
    missing: u64,
}

/// Restores the room at the end of a run; `None` if the run ended before anything happened in a new room, which then
/// starts over.
fn resume_run(
    reader: &Reader,
    reopening: Reopening,
    scene: &str,
) -> Result<(Option<RestoredRoom>, Vec<Problem>), Unusable> {
    let Reopening { run, from, inputs, last_tick } = reopening;
    let missing = run.last_tick.saturating_sub(last_tick);
    let hashes = reader.hashes(&run.id).unwrap_or_default();
    let far = |tick: u64| Some(last_tick.saturating_sub(tick)).filter(|ticks| *ticks > MAX_TICKS);
    let app = match from {
        ReopenFrom::Snapshot(snapshot) => {
            let files: BTreeMap<String, String> = serde_json::from_value(snapshot.files).map_err(Unusable::Json)?;
            // A snapshot stays usable even if the records after it are implausible.
            let too_far = far(snapshot.tick);
            if snapshot.tick >= last_tick || too_far.is_some() {
                let saved = SavedRoom { sections: snapshot.sections, files };
                let missing = run.last_tick.saturating_sub(snapshot.tick).min(MAX_TICKS);
                let room = RestoredRoom { saved, tick: snapshot.tick, missing };
                let problems =
                    too_far.map_or_else(|| cut_off(room.tick, room.missing), |ticks| vec![not_played(&room, ticks)]);
                return Ok((Some(room), problems));
            }
            let carried = Some(snapshot.sections);
            let start = RoomStart { scene: scene.to_owned(), files, carried, ..RoomStart::default() };
            super::resume(start, run.id, snapshot.next_seq)
        }
        ReopenFrom::Start(start) => {
            if let Some(ticks) = far(run.first_tick) {
                return Err(Unusable::TooFar { ticks });
            }
            let start: RoomStart = serde_json::from_value(start).map_err(Unusable::Json)?;
            // Before the first tick the saved world contains nothing of the scene.
            if last_tick <= run.first_tick {
                let (tick, files) = (last_tick, start.files);
                let saved = start.carried.map(|sections| SavedRoom { sections, files });
                let problems = cut_off(tick, missing);
                return Ok((saved.map(|saved| RestoredRoom { saved, tick, missing }), problems));
            }
            super::begin(start, run.id, run.first_seq)
        }
    };
    let mut app = app.map_err(Unusable::Json)?;
    app.world_mut().resource_mut::<InputJournal>().replay(inputs);
    let differs_at = replay_to(&mut app, last_tick, &hashes);
    let world = app.world_mut();
    let sections = saved::save_world(world).map_err(Unusable::Json)?;
    let files = world.resource::<KnownFiles>().all().clone();
    let room = RestoredRoom { saved: SavedRoom { sections, files }, tick: last_tick, missing };
    let mut problems = cut_off(room.tick, room.missing);
    problems.extend(differs_at.map(|tick| {
        let what = format!("the replayed room differs from the recording from tick {tick} on");
        let remedy = "check the agents' positions and memories; if this happens again without a program update, \
         report it";
        Problem::warning(PLACE, what, remedy)
    }));
    Ok((Some(room), problems))
}

/// Replays to a tick. Returns the first tick at which the world's hash differs from the recorded one.
fn replay_to(app: &mut App, last_tick: u64, hashes: &BTreeMap<u64, u64>) -> Option<u64> {
    let world = app.world_mut();
    let mut differs_at = None;
    while world.resource::<SimClock>().tick() < last_tick {
        crate::schedule::advance(world);
        let tick = world.resource::<SimClock>().tick();
        if let Some(recorded) = hashes.get(&tick)
            && differs_at.is_none()
            && *recorded != saved::world_hash(world)
        {
            differs_at = Some(tick);
        }
    }
    differs_at
}

fn cut_off(tick: u64, missing: u64) -> Vec<Problem> {
    if missing == 0 {
        return Vec::new();
    }
    let what =
        format!("the history after tick {tick} is damaged: the last {} of the room are lost", simulated(missing));
    vec![Problem::error(PLACE, what, "check what agents did last; workspace files are not affected")]
}

fn not_played(room: &RestoredRoom, ticks: u64) -> Problem {
    let why = Unusable::TooFar { ticks };
    let what = format!("the history after tick {} is damaged ({why}): the room continues from that tick", room.tick);
    Problem::error(PLACE, what, "check what agents did last; workspace files are not affected")
}

fn simulated(ticks: u64) -> String {
    format!("{:.0} simulated seconds", ticks as f64 / TICKS_PER_SEC as f64)
}

fn older_was_used(why: &str, room: &RestoredRoom) -> Problem {
    let what = format!(
        "the newest saved state of the room is damaged ({why}); an older one was used, and the room continues \
         from tick {}",
        room.tick
    );
    let remedy = "check what agents did last: work started later is lost";
    Problem::error(PLACE, what, remedy)
}

fn was_used(room: &RestoredRoom) -> Problem {
    let what = format!("the room was restored from the damaged history and continues from tick {}", room.tick);
    let remedy = "check what agents did last; anything missing may be in the file that was set aside";
    Problem::warning(PLACE, what, remedy)
}

fn nothing_left(why: &str) -> Problem {
    let what = format!(
        "no saved state of the room can be read ({why}): agents start from the scene file; their positions, \
         memories and unfinished work are lost"
    );
    let remedy = "assign unfinished tasks again; workspace files, including sessions, are not affected";
    Problem::error(PLACE, what, remedy)
}
