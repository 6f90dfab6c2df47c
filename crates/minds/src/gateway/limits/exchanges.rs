//! Counts the exchanges between agents (tasks handed over, signals, messages in channels, and changes of the
//! blackboard) in the ledger, for the whole room and for each run of work.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use bevy::ecs::message::Message;
use serde::{Deserialize, Serialize};

use crate::base::Id;

/// The maximum number of runs of work whose exchanges are remembered; the oldest is forgotten first.
const MAX_RUNS: usize = 1_024;

/// The kind of an exchange.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ExchangeKind {
    /// A task was handed over.
    HandOver,
    /// An agent sent a message to the agent that started it.
    Signal,
    /// A message was published in a channel.
    Message,
    /// An entry of the blackboard was changed.
    Entry,
}

/// Something was exchanged between agents, and accepted.
#[derive(Message, Clone, PartialEq, Eq, Debug)]
pub struct ExchangeAccepted {
    /// The activation that began the run of work; `None` if a person did it outside of any.
    pub run: Option<Id>,
    /// The kind of exchange.
    pub kind: ExchangeKind,
}

/// The numbers of exchanges.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ExchangeCounts {
    /// Tasks that were handed over.
    pub hand_overs: u64,
    /// Messages to the agent that started the sender.
    pub signals: u64,
    /// Messages in channels.
    pub messages: u64,
    /// Changes of the blackboard.
    pub entries: u64,
}

impl ExchangeCounts {
    /// Whether all counts are zero.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn add(&mut self, kind: ExchangeKind) {
        let count = match kind {
            ExchangeKind::HandOver => &mut self.hand_overs,
            ExchangeKind::Signal => &mut self.signals,
            ExchangeKind::Message => &mut self.messages,
            ExchangeKind::Entry => &mut self.entries,
        };
        *count = count.saturating_add(1);
    }
}

/// Formats the counts, such as "2 tasks handed over, 1 channel message"; empty if all are zero.
impl fmt::Display for ExchangeCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        for (count, one, many) in [
            (self.hand_overs, "task handed over", "tasks handed over"),
            (self.signals, "signal", "signals"),
            (self.messages, "channel message", "channel messages"),
            (self.entries, "blackboard change", "blackboard changes"),
        ] {
            if count > 0 {
                let comma = if std::mem::take(&mut is_first) { "" } else { ", " };
                write!(f, "{comma}{count} {}", if count == 1 { one } else { many })?;
            }
        }
        Ok(())
    }
}

/// The part of the ledger that counts exchanges.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Exchanges {
    /// The counts of this run of the room.
    all: ExchangeCounts,
    /// The counts of each run of work, across runs of the room.
    runs: BTreeMap<Id, ExchangeCounts>,
    /// The runs of work, oldest first.
    order: VecDeque<Id>,
}

impl Exchanges {
    pub(in crate::gateway) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(in crate::gateway) fn note(&mut self, run: Option<&Id>, kind: ExchangeKind) {
        self.all.add(kind);
        let Some(run) = run else { return };
        if let Some(counts) = self.runs.get_mut(run) {
            return counts.add(kind);
        }
        if self.order.len() >= MAX_RUNS
            && let Some(oldest) = self.order.pop_front()
        {
            self.runs.remove(&oldest);
        }
        self.order.push_back(run.clone());
        self.runs.entry(run.clone()).or_default().add(kind);
    }

    pub(in crate::gateway) fn all(&self) -> ExchangeCounts {
        self.all
    }

    pub(in crate::gateway) fn of(&self, run: &str) -> ExchangeCounts {
        self.runs.get(run).copied().unwrap_or_default()
    }

    pub(in crate::gateway) fn start_run(&mut self) {
        self.all = ExchangeCounts::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_are_counted_per_run_and_in_total() {
        let mut exchanges = Exchanges::default();
        let run = Id::from("act-1");
        exchanges.note(Some(&run), ExchangeKind::HandOver);
        exchanges.note(Some(&run), ExchangeKind::Entry);
        exchanges.note(Some(&run), ExchangeKind::Entry);
        exchanges.note(None, ExchangeKind::Message);
        assert_eq!(exchanges.of("act-1").to_string(), "1 task handed over, 2 blackboard changes");
        assert_eq!(exchanges.all(), ExchangeCounts { hand_overs: 1, signals: 0, messages: 1, entries: 2 });
        assert_eq!(ExchangeCounts::default().to_string(), "");
        let text = serde_json::to_string(&exchanges).expect("it can be saved");
        let mut again: Exchanges = serde_json::from_str(&text).expect("it should be readable again");
        assert_eq!(again, exchanges);
        again.start_run();
        assert!(again.all().is_empty() && again.of("act-1") == exchanges.of("act-1"), "work goes on where it was");
    }

    #[test]
    fn only_the_newest_runs_are_remembered() {
        let mut exchanges = Exchanges::default();
        for run in 0..MAX_RUNS + 10 {
            let run = Id::from(format!("act-{run}"));
            exchanges.note(Some(&run), ExchangeKind::Signal);
            exchanges.note(Some(&run), ExchangeKind::Signal);
        }
        assert_eq!((exchanges.runs.len(), exchanges.order.len()), (MAX_RUNS, MAX_RUNS));
        assert!(exchanges.of("act-9").is_empty() && exchanges.of("act-10").signals == 2);
        assert_eq!(exchanges.all().signals, 2 * (MAX_RUNS as u64 + 10));
    }
}
