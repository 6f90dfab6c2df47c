//! Detects files that a coding agent changes directly, not through the room. The file service notices a change but not
//! its author; while such an agent is answering, the change is logged as its action.
//!
//! The change is not attributed to the agent as its author, because a person may have saved at the same moment. The log
//! event only names every agent that may have made the change.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::base::Id;
use crate::log::narration::NarrationContext;
use crate::log::{EventData, EventDraft, EventKind, Word};
use crate::schedule::TICKS_PER_SEC;
use crate::workspace::vfs::OutsideChange;

/// The number of ticks after an answer in which a change is still attributed to it, because file notifications are
/// delayed.
const AFTERWARDS_TICKS: u64 = 2 * TICKS_PER_SEC;

/// A file was changed directly, not through the room, while a coding agent was at work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DirectFileChange {
    /// The path of the file.
    pub path: String,
    /// Its newest version; `None` if it is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Whether it was deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
    /// Other coding agents that were at work at the same time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Id>,
}

impl EventData for DirectFileChange {
    const KIND: EventKind = EventKind::Other(Word::Borrowed("own_change"));

    fn narrate(&self, context: &NarrationContext<'_>) -> String {
        let Self { path, gone, others, .. } = self;
        let act = if *gone { "deleted" } else { "changed" };
        let or = others.iter().map(|other| format!(" or {other}")).collect::<String>();
        format!("{}{or} {act} {path} by itself, not through the room", context.who())
    }
}

/// The coding agents that are at work, or were a moment ago.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::gateway) struct CodingAgentsAtWork(BTreeMap<Id, AtWork>);

/// The activation of an agent, and when it was last seen at work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct AtWork {
    activation: Option<Id>,
    seen_tick: u64,
}

impl CodingAgentsAtWork {
    /// Whether there are none.
    pub(in crate::gateway) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the agents that are answering now, and removes those that have not answered for a while.
    pub(in crate::gateway) fn note<'a>(&mut self, now: u64, at_work: impl Iterator<Item = (&'a Id, Option<&'a Id>)>) {
        for (agent, activation) in at_work {
            self.0.insert(agent.clone(), AtWork { activation: activation.cloned(), seen_tick: now });
        }
        self.0.retain(|_, at_work| now.saturating_sub(at_work.seen_tick) <= AFTERWARDS_TICKS);
    }

    /// Returns the log event for an external change, if one of these agents may have made it.
    pub(in crate::gateway) fn record(&self, change: &OutsideChange) -> Option<EventDraft> {
        // Changes that were made through this program have another author.
        if change.by.is_some() {
            return None;
        }
        let newest = self.0.iter().max_by_key(|(id, at_work)| (at_work.seen_tick, std::cmp::Reverse((*id).clone())));
        let (agent, AtWork { activation, .. }) = newest?;
        let event = DirectFileChange {
            path: change.path.clone(),
            version: Some(change.version).filter(|version| *version > 0),
            gone: change.is_gone,
            others: self.0.keys().filter(|other| *other != agent).cloned().collect(),
        };
        let draft = EventDraft::of(&event).agent(agent);
        Some(match activation {
            Some(activation) => draft.activation(activation),
            None => draft,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_work(agents: &[(&str, u64)]) -> CodingAgentsAtWork {
        let of = |(agent, seen_tick): &(&str, u64)| {
            (Id::from(*agent), AtWork { activation: Some("act-1".into()), seen_tick: *seen_tick })
        };
        CodingAgentsAtWork(agents.iter().map(of).collect())
    }

    fn change(by: Option<&str>) -> OutsideChange {
        OutsideChange {
            path: "artifacts/a.md".to_owned(),
            version: 3,
            is_gone: false,
            displaced_by: None,
            by: by.map(Id::from),
            program: None,
        }
    }

    fn event(at_work: &CodingAgentsAtWork, by: Option<&str>) -> Option<(Option<Id>, Vec<Id>)> {
        let draft = at_work.record(&change(by))?;
        let event: DirectFileChange = draft.read().expect("it should be valid");
        assert_eq!((event.path.as_str(), event.version), ("artifacts/a.md", Some(3)));
        Some((draft.agent.clone(), event.others))
    }

    #[test]
    fn a_direct_change_is_attributed_only_to_agents_at_work() {
        assert_eq!(event(&at_work(&[]), None), None);
        assert_eq!(event(&at_work(&[("lead", 5)]), None), Some((Some("lead".into()), vec![])));
        assert_eq!(event(&at_work(&[("lead", 5)]), Some("user")), None, "that was ordered in this program");
        let two = at_work(&[("ada", 5), ("lead", 9)]);
        assert_eq!(event(&two, None), Some((Some("lead".into()), vec!["ada".into()])), "it can have been either");
    }

    #[test]
    fn idle_agents_are_not_blamed_for_changes() {
        let mut agents = at_work(&[("ada", 5), ("lead", 9)]);
        agents.note(5 + AFTERWARDS_TICKS, std::iter::empty());
        assert_eq!(agents, at_work(&[("ada", 5), ("lead", 9)]));
        agents.note(6 + AFTERWARDS_TICKS, std::iter::empty());
        assert_eq!(agents, at_work(&[("lead", 9)]));
    }
}
