//! What is due between two times, each entry once, however often it was missed.

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use super::read::Heartbeat;
use super::trigger::Trigger;

/// How many missed times are counted; more are reported as this number.
const COUNTED_AT_MOST: u32 = 10_000;

/// Something that is due.
#[derive(Clone, PartialEq, Debug)]
pub struct Due {
    /// Which routine, counted from 0; nothing for the wake itself.
    pub routine: Option<usize>,
    /// When it was due last.
    pub at: Zoned,
    /// How often it was due before that and nobody did it. It is done once all the same.
    pub missed: u32,
}

/// What came due after `since`, up to and with `now`, in the order of the moments; the wake comes before routines of
/// the same moment. `began` is the moment that intervals are counted from.
pub fn due(heartbeat: &Heartbeat, since: &Zoned, now: &Zoned, began: Timestamp) -> Vec<Due> {
    let mut all: Vec<Due> = triggers(heartbeat)
        .filter_map(|(routine, trigger)| {
            let mut at = trigger.next_after(since, began).filter(|at| at <= now)?;
            let mut missed = 0;
            while let Some(next) = trigger.next_after(&at, began).filter(|next| next <= now) {
                if missed == COUNTED_AT_MOST {
                    break;
                }
                missed += 1;
                at = next;
            }
            Some(Due { routine, at, missed })
        })
        .collect();
    all.sort_by_key(|due| (due.at.timestamp(), due.routine));
    all
}

/// Like [`due`], by a clock that shows local time in seconds since 1970. If that clock is set forward, skipped times
/// are due at once; if it is set back, nothing is due until it shows a new time.
pub fn due_by_clock(heartbeat: &Heartbeat, since_secs: i64, now_secs: i64, began_secs: i64) -> Vec<Due> {
    let moment = |secs| Timestamp::from_second(secs).ok();
    match (moment(since_secs), moment(now_secs), moment(began_secs)) {
        (Some(since), Some(now), Some(began)) if since < now => {
            let shown = |moment: Timestamp| moment.to_zoned(TimeZone::UTC);
            due(heartbeat, &shown(since), &shown(now), began)
        }
        _ => Vec::new(),
    }
}

fn triggers(heartbeat: &Heartbeat) -> impl Iterator<Item = (Option<usize>, &Trigger)> {
    let routines = heartbeat.routines.iter().enumerate().map(|(index, routine)| (Some(index), &routine.trigger));
    heartbeat.wake.iter().map(|trigger| (None, trigger)).chain(routines)
}
