//! Heartbeats: which entries of a `heartbeat.md` are due, and what an agent that wakes up is told. Pure; the systems
//! are in `heartbeat_systems`.

use std::collections::BTreeMap;

use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};

use crate::base::{ActivationKey, Id};
use crate::heartbeat::{Due, Heartbeat, due_by_clock};

/// The state of an agent's heartbeat.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Beat {
    /// When it was seen first, in seconds of the room's date: intervals are counted from then.
    pub began_secs: i64,
    /// Up to when everything is done that was due.
    pub done_secs: i64,
    /// Its last wake, until that is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<Wake>,
    /// No wake is ordered before this tick.
    #[serde(default)]
    pub not_before: u64,
}

/// A pending or running wake-up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Wake {
    /// Its order.
    pub order: Id,
    /// Up to when everything is done that was due, if it begins.
    pub until_secs: i64,
    /// The piece of work, once it has begun.
    pub work: Option<ActivationKey>,
}

/// The heartbeats of all agents, by agent. Part of the saved world.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Heartbeats {
    pub(super) beats: BTreeMap<Id, Beat>,
    pub(super) newest: u64,
}

impl Heartbeats {
    /// What is due of an agent's heartbeat at this date and tick. Where it is still at its last wake, that is waited
    /// for: what comes due meanwhile is done once, behind it.
    pub fn due(&mut self, agent: &Id, heartbeat: &Heartbeat, now_secs: i64, tick: u64) -> Vec<Due> {
        let new = || Beat { began_secs: now_secs, done_secs: now_secs, live: None, not_before: 0 };
        let beat = self.beats.entry(agent.clone()).or_insert_with(new);
        if beat.live.is_some() || tick < beat.not_before {
            return Vec::new();
        }
        due_by_clock(heartbeat, beat.done_secs, now_secs, beat.began_secs)
    }

    /// A wake was ordered.
    pub fn ordered(&mut self, agent: &Id, order: Id, until_secs: i64) {
        if let Some(beat) = self.beats.get_mut(agent) {
            beat.live = Some(Wake { order, until_secs, work: None });
        }
    }

    /// A wake has begun: what was due counts as done, whatever becomes of it.
    pub fn begun(&mut self, order: &Id, work: ActivationKey) {
        let Some(beat) = self.beats.values_mut().find(|beat| beat.is_of(order)) else { return };
        if let Some(wake) = &mut beat.live {
            wake.work = Some(work);
            beat.done_secs = wake.until_secs;
        }
    }

    /// Nobody took a wake: it is ordered again later.
    pub fn refused(&mut self, order: &Id, again: u64) {
        if let Some(beat) = self.beats.values_mut().find(|beat| beat.is_of(order)) {
            (beat.live, beat.not_before) = (None, again);
        }
    }

    /// A piece of work is over.
    pub fn ended(&mut self, work: ActivationKey) {
        for beat in self.beats.values_mut() {
            beat.live.take_if(|wake| wake.work == Some(work));
        }
    }
}

impl Beat {
    fn is_of(&self, order: &Id) -> bool {
        self.live.as_ref().is_some_and(|wake| wake.order == *order)
    }
}

/// The message to an agent that this wakes; `when` is the date in words.
pub fn words(heartbeat: &Heartbeat, due: &[Due], when: &str) -> String {
    let mut text = format!("Your heartbeat woke you. It is {when}.");
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

fn missed(times: u32) -> String {
    match times {
        0 => String::new(),
        1 => "; missed once before: do it once".to_owned(),
        times => format!("; missed {times} times before: do it once"),
    }
}

/// How often something was missed that is done once now, for whoever looks at the log.
pub fn missed_in_all(due: &[Due]) -> u32 {
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
    fn each_wake_is_due_once_and_waits_for_the_one_before() {
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
    fn whoever_wakes_is_told_what_for() {
        let text = "@every: 1h\n\n## On Wake\n\n- Look around\n\n## Routine Tasks\n\n- Every morning at 09:00: Sum \
            up\n\n## Context Reconstruction\n\n- Read state/now.md\n";
        let heartbeat = read(text);
        let at_nine = due_by_clock(&heartbeat, 0, 9 * 3_600, 0);
        let told = words(&heartbeat, &at_nine, "Thursday");
        for line in ["It is Thursday.", "- Read state/now.md", "- Look around", "- Sum up (Every morning at 09:00)"] {
            assert!(told.contains(line), "{line}: {told}");
        }
        let days_later = due_by_clock(&heartbeat, 0, 3 * 86_400 + 9 * 3_600, 0);
        assert!(words(&heartbeat, &days_later, "Sunday").contains("missed 3 times before: do it once"));
        let only_routine = [Due { routine: Some(0), ..at_nine[0].clone() }];
        assert!(!words(&heartbeat, &only_routine, "Thursday").contains("Look around"));
    }
}
