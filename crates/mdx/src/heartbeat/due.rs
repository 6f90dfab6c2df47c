//! Computes the wakes and routines that are due between two times: each once, however often it was missed.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::read::Heartbeat;
use super::trigger::Trigger;

/// The maximum count of missed times; more are reported as this number.
const MAX_COUNTED: u32 = 10_000;

/// A wake or routine that is due.
#[derive(Clone, PartialEq, Debug)]
pub struct Due {
    /// The index of the routine; `None` for the wake itself.
    pub routine: Option<usize>,
    /// When it was last due.
    pub at: Zoned,
    /// How many earlier times were missed. The task is done only once for all of them.
    pub missed: u32,
}

/// Returns everything that became due after `since`, up to and including `now`, sorted by time; the wake comes before
/// routines of the same time. `began` is the time from which intervals are counted.
pub fn due(heartbeat: &Heartbeat, since: &Zoned, now: &Zoned, began: Timestamp) -> Vec<Due> {
    let of = |(routine, trigger): (Option<usize>, &Trigger)| due_of(trigger, routine, (since, now), began);
    in_order(triggers(heartbeat).filter_map(of))
}

fn due_of(trigger: &Trigger, routine: Option<usize>, (since, now): (&Zoned, &Zoned), began: Timestamp) -> Option<Due> {
    let mut at = trigger.next_after(since, began).filter(|at| at <= now)?;
    let mut missed = 0;
    while let Some(next) = trigger.next_after(&at, began).filter(|next| next <= now) {
        if missed == MAX_COUNTED {
            break;
        }
        // A heartbeat or routine whose time was missed several times is done once, and the missed times are counted.
        rule!("missed-times-are-due-once");
        missed += 1;
        at = next;
    }
    Some(Due { routine, at, missed })
}

fn in_order(due: impl Iterator<Item = Due>) -> Vec<Due> {
    let mut all: Vec<Due> = due.collect();
    all.sort_by_key(|due| (due.at.timestamp(), due.routine));
    all
}

/// A reading of a clock that shows local time, in seconds since 1970. Such a clock is set back at the end of
/// daylight-saving time, and an hour occurs twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockReading {
    /// The present time.
    pub now_secs: i64,
    /// The latest time at which everything due was done.
    pub done_secs: i64,
    /// The time that has passed since then.
    pub passed_secs: i64,
    /// The total time by which it was set back since intervals began.
    pub set_back_secs: i64,
    /// The time at which intervals began.
    pub began_secs: i64,
}

/// Like [`due_by_clock`], for a clock that may have been set back: intervals and hourly triggers continue; a trigger
/// for a certain hour is due only the first time that the hour occurs.
pub fn due_by_reading(heartbeat: &Heartbeat, clock: ClockReading) -> Vec<Due> {
    let ClockReading { now_secs, done_secs, passed_secs, set_back_secs, began_secs } = clock;
    let due = |(routine, trigger): (Option<usize>, &Trigger)| {
        // Intervals are counted by a clock that is never set back.
        let (since, now) = match trigger {
            Trigger::Every(_) => (now_secs + set_back_secs - passed_secs, now_secs + set_back_secs),
            Trigger::Calendar(_) if trigger.names_its_hour() => (done_secs, now_secs),
            Trigger::Calendar(_) => (now_secs - passed_secs, now_secs),
        };
        let (since, now) = (local_to_zoned(since)?, local_to_zoned(now)?);
        if since >= now {
            return None;
        }
        let mut due = due_of(trigger, routine, (&since, &now), Timestamp::from_second(began_secs).ok()?)?;
        if let Trigger::Every(_) = trigger {
            due.at = local_to_zoned(due.at.timestamp().as_second() - set_back_secs)?;
        }
        Some(due)
    };
    in_order(triggers(heartbeat).filter_map(due))
}

/// Converts a UTC time to local time, both in seconds since 1970, by the time zone of this computer, including
/// daylight-saving time.
pub fn utc_to_local(utc_secs: i64) -> i64 {
    utc_to_zone(utc_secs, TimeZone::system())
}

pub(super) fn utc_to_zone(utc_secs: i64, zone: TimeZone) -> i64 {
    let offset = Timestamp::from_second(utc_secs).map(|moment| zone.to_offset(moment).seconds());
    utc_secs.saturating_add(i64::from(offset.unwrap_or(0)))
}

/// Converts a local time in seconds since 1970 to a zoned time in UTC.
fn local_to_zoned(secs: i64) -> Option<Zoned> {
    Some(Timestamp::from_second(secs).ok()?.to_zoned(TimeZone::UTC))
}

/// Like [`due`], for a clock that shows local time in seconds since 1970. If that clock is set forward, skipped times
/// are due at once; if it is set back, triggers wait until it has passed the latest time that it showed before.
pub fn due_by_clock(heartbeat: &Heartbeat, since_secs: i64, now_secs: i64, began_secs: i64) -> Vec<Due> {
    let passed_secs = now_secs.saturating_sub(since_secs);
    due_by_reading(
        heartbeat,
        ClockReading { now_secs, done_secs: since_secs, passed_secs, set_back_secs: 0, began_secs },
    )
}

fn triggers(heartbeat: &Heartbeat) -> impl Iterator<Item = (Option<usize>, &Trigger)> {
    let routines = heartbeat.routines.iter().enumerate().map(|(index, routine)| (Some(index), &routine.trigger));
    heartbeat.wake.iter().map(|trigger| (None, trigger)).chain(routines)
}
