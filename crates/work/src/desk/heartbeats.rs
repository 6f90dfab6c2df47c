//! Heartbeats: determines which entries of a `heartbeat.md` are due, and the message to the agent. Pure; the systems
//! are in `heartbeat_systems`.

use std::collections::BTreeMap;

use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};

use super::modules::path_of;
use crate::base::{ActivationKey, Id};
use crate::heartbeat::{ClockReading, Due, Heartbeat, Trigger, due_by_reading};
use crate::workspace::layout::HEARTBEAT_FILE;
use crate::workspace::trust::Widening;

/// The author of wake-ups in the log, and the prefix of the ids of their orders.
pub const BY_HEARTBEAT: &str = "heartbeat";
/// The path of the heartbeat file of the agent in this folder.
pub fn heartbeat_path(folder: &str) -> String {
    path_of(folder, HEARTBEAT_FILE)
}

/// The widening of a heartbeat: the times at which it wakes its agent. `None` if it never does.
pub fn heartbeat_widening(path: &str, heartbeat: &Heartbeat) -> Option<Widening> {
    let interval = heartbeat.wake.as_ref().map(|wake| match wake {
        Trigger::Every(every) => format!("every {}", humantime::format_duration(*every)),
        Trigger::Calendar(cron) => format!("at {}", cron.pattern.as_str()),
    });
    let times: Vec<String> =
        interval.into_iter().chain(heartbeat.routines.iter().map(|routine| routine.written.clone())).collect();
    let sentence = "wakes this agent, which then works without being told to";
    (!times.is_empty()).then(|| Widening::starting(path, times.join("; "), sentence))
}

/// The first sentence of the message to the agent.
const LEAD: &str = "Your heartbeat woke you.";

/// The state of an agent's heartbeat. All dates are simulated and in seconds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HeartbeatState {
    /// The date when the heartbeat was first seen, from which intervals are counted.
    pub began_secs: i64,
    /// The date up to which all due entries are done.
    pub done_secs: i64,
    /// The pending or running wake-up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Wake>,
    /// No wake-up is ordered before this tick.
    #[serde(default)]
    pub not_before: u64,
    /// The date at the last check.
    #[serde(default)]
    pub seen_secs: Option<i64>,
    /// The total time by which the date was set back since the heartbeat was first seen.
    #[serde(default)]
    pub set_back_secs: i64,
    /// Like `done_secs`, by a clock that is never set back.
    #[serde(default)]
    pub done_steady_secs: Option<i64>,
}

/// A pending or running wake-up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Wake {
    /// The id of its order.
    pub order: Id,
    /// The date up to which all due entries are done once it begins.
    pub until_secs: i64,
    /// The activation, once it has begun.
    pub work: Option<ActivationKey>,
    /// Like `until_secs`, by a clock that is never set back.
    #[serde(default)]
    pub until_steady_secs: Option<i64>,
}

/// The heartbeats of all agents, by agent. Part of the saved world.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Heartbeats {
    pub(super) beats: BTreeMap<Id, HeartbeatState>,
    pub(super) newest: u64,
}

impl Heartbeats {
    /// The due entries of an agent's heartbeat. There are none while its last wake-up is pending or running; entries
    /// that become due meanwhile are done once afterwards.
    pub fn due(&mut self, agent: &Id, heartbeat: &Heartbeat, now_secs: i64, tick: u64) -> Vec<Due> {
        let beat = self.beats.entry(agent.clone()).or_insert_with(|| HeartbeatState::new(now_secs));
        beat.note_date(now_secs);
        if beat.live.is_some() || tick < beat.not_before {
            return Vec::new();
        }
        let reading = ClockReading {
            now_secs,
            done_secs: beat.done_secs,
            passed_secs: beat.steady_secs(now_secs).saturating_sub(beat.done_steady_secs.unwrap_or(beat.done_secs)),
            set_back_secs: beat.set_back_secs,
            began_secs: beat.began_secs,
        };
        due_by_reading(heartbeat, reading)
    }

    /// The activations of running wake-ups.
    pub fn works(&self) -> impl Iterator<Item = ActivationKey> {
        self.beats.values().filter_map(|beat| beat.live.as_ref()?.work)
    }

    /// Records that a wake-up was ordered.
    pub fn ordered(&mut self, agent: &Id, order: Id, until_secs: i64) {
        if let Some(beat) = self.beats.get_mut(agent) {
            let until_steady_secs = Some(beat.steady_secs(until_secs));
            beat.live = Some(Wake { order, until_secs, work: None, until_steady_secs });
        }
    }

    /// Records that a wake-up has begun. Its entries count as done, however it ends.
    pub fn begun(&mut self, order: &Id, work: ActivationKey) {
        let Some(beat) = self.beats.values_mut().find(|beat| beat.is_of(order)) else { return };
        if let Some(wake) = &mut beat.live {
            wake.work = Some(work);
            beat.done_secs = beat.done_secs.max(wake.until_secs);
            beat.done_steady_secs = wake.until_steady_secs.or(beat.done_steady_secs);
        }
    }

    /// Records that a wake-up was refused. It is ordered again from the tick `again` on.
    pub fn refused(&mut self, order: &Id, again: u64) {
        if let Some(beat) = self.beats.values_mut().find(|beat| beat.is_of(order)) {
            (beat.live, beat.not_before) = (None, again);
        }
    }

    /// Records that an activation has ended.
    pub fn ended(&mut self, work: ActivationKey) {
        for beat in self.beats.values_mut() {
            beat.live.take_if(|wake| wake.work == Some(work));
        }
    }
}

impl HeartbeatState {
    fn new(now_secs: i64) -> Self {
        Self {
            began_secs: now_secs,
            done_secs: now_secs,
            live: None,
            not_before: 0,
            seen_secs: None,
            set_back_secs: 0,
            done_steady_secs: Some(now_secs),
        }
    }

    /// Detects that the date was set back, for example at the end of daylight saving time.
    fn note_date(&mut self, now_secs: i64) {
        let seen_secs = self.seen_secs.replace(now_secs).unwrap_or(now_secs);
        self.set_back_secs += seen_secs.saturating_sub(now_secs).max(0);
    }

    /// A date by a clock that is never set back.
    fn steady_secs(&self, secs: i64) -> i64 {
        secs.saturating_add(self.set_back_secs)
    }

    fn is_of(&self, order: &Id) -> bool {
        self.live.as_ref().is_some_and(|wake| wake.order == *order)
    }
}

/// The message to the agent. `when` is the date as text.
pub fn wake_message(heartbeat: &Heartbeat, due: &[Due], when: &str) -> String {
    let mut text = format!("{LEAD} It is {when}.");
    let mut list = |lead: &str, items: &mut dyn Iterator<Item = String>| {
        let items: Vec<String> = items.collect();
        if !items.is_empty() {
            text.push_str(&format!("\n\n{lead}\n{}", items.join("\n")));
        }
    };
    let bullet = |item: &String| format!("- {item}");
    list("First, to continue where you left off:", &mut heartbeat.context.iter().map(bullet));
    if due.iter().any(|due| due.routine.is_none()) {
        list("Every time you wake up:", &mut heartbeat.on_wake.iter().map(bullet));
    }
    let routine = |due: &Due| {
        let routine = heartbeat.routines.get(due.routine?)?;
        Some(format!("- {} ({}{})", routine.task, routine.written, missed(due.missed)))
    };
    list("Due now:", &mut due.iter().filter_map(routine));
    text.push_str("\n\nIf there is nothing to do, say so in one line.");
    text
}

/// A one-line summary of the message to an agent, for people.
pub fn summary(message: &str) -> String {
    let items = message.lines().filter_map(|line| line.strip_prefix("- "));
    let items: Vec<&str> = items.collect();
    if items.is_empty() { message.trim_start_matches(LEAD).trim().to_owned() } else { items.join("; ") }
}

fn missed(times: u32) -> String {
    match times {
        0 => String::new(),
        1 => "; missed once before: do it once".to_owned(),
        times => format!("; missed {times} times before: do it once"),
    }
}

/// The maximum number of times that one of these entries was missed, for the log.
pub fn total_missed(due: &[Due]) -> u32 {
    due.iter().map(|due| due.missed).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::RunTag;
    use crate::heartbeat::read;

    const MINUTE: i64 = 60;

    fn ada() -> Id {
        "ada".into()
    }

    #[test]
    fn each_wake_up_is_due_once_and_waits_for_the_previous_one() {
        let heartbeat = read("@every: 5m\n\n## On Wake\n\n- Look around\n");
        let (mut all, began) = (Heartbeats::default(), 1_000_000);
        let work = ActivationKey::new(1, RunTag::default());
        assert!(all.due(&ada(), &heartbeat, began, 0).is_empty());
        assert!(all.due(&ada(), &heartbeat, began + 4 * MINUTE, 0).is_empty());
        let now = began + 5 * MINUTE;
        assert_eq!(all.due(&ada(), &heartbeat, now, 0).len(), 1);
        all.ordered(&ada(), "heartbeat/1".into(), now);
        assert!(all.due(&ada(), &heartbeat, now + 30 * MINUTE, 0).is_empty(), "it is ordered");
        all.refused(&"heartbeat/1".into(), 300);
        assert!(all.due(&ada(), &heartbeat, now, 299).is_empty());
        assert_eq!(all.due(&ada(), &heartbeat, now, 300).len(), 1, "nobody took it: it is still due");
        all.ordered(&ada(), "heartbeat/2".into(), now);
        all.begun(&"heartbeat/2".into(), work);
        assert!(all.due(&ada(), &heartbeat, now + 30 * MINUTE, 300).is_empty(), "it is at it");
        all.ended(work);
        let due = all.due(&ada(), &heartbeat, now + 30 * MINUTE, 300);
        assert_eq!(due.iter().map(|due| due.missed).collect::<Vec<_>>(), [5], "done once");
    }

    #[test]
    fn setting_the_clock_back_keeps_intervals_and_does_not_repeat_a_time_of_day() {
        let heartbeat = read("@every: 15m\n\n## Routine Tasks\n\n- Every night at 2:30: Tidy up\n");
        let (mut all, two) = (Heartbeats::default(), 20_000 * 86_400 + 120 * MINUTE);
        assert!(all.due(&ada(), &heartbeat, two, 0).is_empty());
        let (mut wakes, mut nights) = (0, 0);
        for passed in 1..=120 {
            let minutes = if passed <= 60 { passed } else { passed - 60 };
            let now = two + minutes * MINUTE;
            let due = all.due(&ada(), &heartbeat, now, 0);
            if due.is_empty() {
                continue;
            }
            wakes += due.iter().filter(|due| due.routine.is_none()).count();
            nights += due.iter().filter(|due| due.routine.is_some()).count();
            let (order, work) = (format!("heartbeat/{passed}"), ActivationKey::new(passed as u64, RunTag::default()));
            all.ordered(&ada(), order.as_str().into(), now);
            all.begun(&order.as_str().into(), work);
            all.ended(work);
        }
        // The time of the step at which the date was set back is unknown and counts as zero.
        assert_eq!((wakes, nights), (7, 1));
    }

    #[test]
    fn a_wake_up_message_lists_its_reasons() {
        use crate::heartbeat::due_by_clock;
        let text = "@every: 1h\n\n## On Wake\n\n- Look around\n\n## Routine Tasks\n\n- Every morning at 09:00: Sum \
            up\n\n## Context Reconstruction\n\n- Read state/now.md\n";
        let heartbeat = read(text);
        let at_nine = due_by_clock(&heartbeat, 0, 9 * 3_600, 0);
        let told = wake_message(&heartbeat, &at_nine, "Thursday");
        for line in ["It is Thursday.", "- Read state/now.md", "- Look around", "- Sum up (Every morning at 09:00)"] {
            assert!(told.contains(line), "{line}: {told}");
        }
        assert_eq!(summary(&told), "Read state/now.md; Look around; Sum up (Every morning at 09:00)");
        let days_later = due_by_clock(&heartbeat, 0, 3 * 86_400 + 9 * 3_600, 0);
        assert!(wake_message(&heartbeat, &days_later, "Sunday").contains("missed 3 times before: do it once"));
        let only_routine = [Due { routine: Some(0), ..at_nine[0].clone() }];
        assert!(!wake_message(&heartbeat, &only_routine, "Thursday").contains("Look around"));
    }
}
