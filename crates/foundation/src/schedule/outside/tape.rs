//! Records what outsides answer, and plays it instead of them: a report of a fault that another computer can repeat, and
//! a test that needs neither a vendor nor a stand-in for one.
//!
//! A tape is a text of JSON lines, each with one order: the outside, the order itself, and its answers, each
//! with the number of ticks after the order was started. An order of the world is played from the first unused line with
//! the same outside and the same order, whatever its key is.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The maximum number of lines that wait to be written; the oldest are kept, and their number is reported.
const MAX_WAITING_LINES: usize = 65_536;

/// One order on a tape.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct TapeLine {
    outside: String,
    order: Value,
    answers: Vec<TapedAnswer>,
}

/// One answer on a tape.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct TapedAnswer {
    /// The ticks from the start of the order to its answer.
    after_ticks: u64,
    answer: Value,
}

/// A tape that records the outsides of a world, or plays instead of them.
#[derive(Resource, Debug)]
pub struct Tape(Mode);

#[derive(Debug)]
enum Mode {
    Record {
        /// The orders without a final answer, by outside and key, each with the tick of its start.
        begun: BTreeMap<(&'static str, String), (u64, TapeLine)>,
        lines: Vec<String>,
        dropped: u64,
    },
    Play {
        lines: Vec<TapeLine>,
    },
}

/// How an order is carried out while there is a tape.
pub(super) enum TapedOrder<Answer> {
    /// By its outside.
    Live,
    /// By the tape: its answers, each with the tick in which it is due.
    Played(Vec<(u64, Answer)>),
    /// The tape that is played has no such order, or an answer that cannot be read.
    Unknown,
}

/// A line of a tape that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line} of the tape cannot be read: {why}")]
pub struct TapeError {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub why: String,
}

impl Tape {
    /// Returns a tape that records.
    pub fn recording() -> Self {
        Self(Mode::Record { begun: BTreeMap::new(), lines: Vec::new(), dropped: 0 })
    }

    /// Returns a tape that plays these lines, as [`take_lines`](Self::take_lines) returned them.
    pub fn playing(text: &str) -> Result<Self, TapeError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(at, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| TapeError { line: at + 1, why: error.to_string() })
        };
        Ok(Self(Mode::Play { lines: lines.map(read).collect::<Result<_, _>>()? }))
    }

    /// Removes and returns the lines of orders that ended since the last call, and how many could not be kept.
    pub fn take_lines(&mut self) -> (Vec<String>, u64) {
        match &mut self.0 {
            Mode::Record { lines, dropped, .. } => (std::mem::take(lines), std::mem::take(dropped)),
            Mode::Play { .. } => (Vec::new(), 0),
        }
    }

    pub(super) fn begin<Answer: DeserializeOwned>(
        &mut self,
        outside: &'static str,
        key: &str,
        tick: u64,
        order: &impl Serialize,
    ) -> TapedOrder<Answer> {
        let order = serde_json::to_value(order).unwrap_or(Value::Null);
        match &mut self.0 {
            Mode::Record { begun, .. } => {
                let line = TapeLine { outside: outside.to_owned(), order, answers: Vec::new() };
                begun.insert((outside, key.to_owned()), (tick, line));
                TapedOrder::Live
            }
            Mode::Play { lines } => {
                let Some(at) = lines.iter().position(|line| line.outside == outside && line.order == order) else {
                    return TapedOrder::Unknown;
                };
                let answers = lines.remove(at).answers.into_iter();
                // An answer arrives in a tick after the one that started its order.
                let read = |TapedAnswer { after_ticks, answer }: TapedAnswer| {
                    Some((tick + after_ticks.max(1), serde_json::from_value(answer).ok()?))
                };
                answers.map(read).collect::<Option<Vec<_>>>().map_or(TapedOrder::Unknown, TapedOrder::Played)
            }
        }
    }

    pub(super) fn record_answer(
        &mut self,
        outside: &'static str,
        key: &str,
        tick: u64,
        answer: &impl Serialize,
        is_final: bool,
    ) {
        let Mode::Record { begun, .. } = &mut self.0 else { return };
        let Some((start, line)) = begun.get_mut(&(outside, key.to_owned())) else { return };
        let answer = serde_json::to_value(answer).unwrap_or(Value::Null);
        line.answers.push(TapedAnswer { after_ticks: tick.saturating_sub(*start), answer });
        if is_final {
            self.end(outside, key);
        }
    }

    /// Writes the line of an order that gets no more answers.
    pub(super) fn end(&mut self, outside: &'static str, key: &str) {
        let Mode::Record { begun, lines, dropped } = &mut self.0 else { return };
        let Some((_, line)) = begun.remove(&(outside, key.to_owned())) else { return };
        match serde_json::to_string(&line) {
            Ok(line) if lines.len() < MAX_WAITING_LINES => lines.push(line),
            _ => *dropped += 1,
        }
    }
}
