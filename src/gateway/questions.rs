//! The questions that the gateway has taken on: those that wait, those under way, and the books. All of it is saved.

use std::collections::{BTreeMap, VecDeque};

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::ledger::{Ledger, Reservation, Tally, Timekeeping};
use super::line::Line;
use super::prices::price;
use super::provider::ProviderRequest;
use super::settings::Choice;
use crate::base::{AgentKey, RequestId};
use crate::mind::{Completion, FailureKind, ModelFailure, ModelReply, ModelRequest, Usage};
use crate::schedule::Section;
use crate::simulation::ActivityId;

/// Places further back than this are not counted out: telling everyone of every step would be work for nothing.
const PLACES_TOLD: usize = 20;

/// A question that waits for a free slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Waiting {
    /// The question.
    pub request: ModelRequest,
    /// Who will answer it.
    pub choice: Choice,
    /// The place in the queue that its agent was told last; 0: none yet.
    pub told_place: usize,
}

/// A question that was sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InFlight {
    /// The question.
    pub request: ModelRequest,
    /// Who answers it.
    pub choice: Choice,
    /// The tick in which it was sent.
    pub sent_tick: u64,
}

/// Why an agent waits, told with the next tick: what is written at the end of a tick would not be saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Telling {
    /// Who.
    pub agent: AgentKey,
    /// In which of its activities.
    pub activity: ActivityId,
    /// In words.
    pub why: String,
}

/// A cap that stopped a question, as it was then.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReachedCap {
    /// The field of `budget` that sets it.
    pub name: String,
    /// So much and no more: calls, tokens, or millionths of a dollar.
    pub limit: u64,
}

/// Every question between its asking and its answer, and what answers have cost. Written by this module only.
#[derive(Resource, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Questions {
    /// Those that wait, by provider, first come first.
    pub(super) waiting: BTreeMap<String, VecDeque<Waiting>>,
    /// Those under way.
    pub(super) in_flight: BTreeMap<RequestId, InFlight>,
    /// Answers that were made here, for the next tick.
    pub(super) refused: Vec<ModelReply>,
    /// What agents are told with the next tick.
    pub(super) tellings: Vec<Telling>,
    /// The books.
    pub(super) ledger: Ledger,
    /// The cap of the run that stopped a question last, in words.
    pub(super) run_cap_reached: Option<String>,
    /// Which one that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reached: Option<ReachedCap>,
    /// Who answers in place of everyone's own choice in this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stand_in: Option<String>,
}

impl Questions {
    /// What was used so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How many wait for a free slot.
    pub fn waiting(&self) -> usize {
        self.waiting.values().map(VecDeque::len).sum()
    }

    /// How many are under way.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// The cap of the run that stopped a question, in words: nothing more will be asked in this run.
    pub fn run_cap_reached(&self) -> Option<&str> {
        self.run_cap_reached.as_deref()
    }

    /// Which cap that is.
    pub fn reached_cap(&self) -> Option<&ReachedCap> {
        self.reached.as_ref()
    }

    /// Who answers in place of everyone's own choice in this run, if somebody does.
    pub fn stand_in(&self) -> Option<&str> {
        self.stand_in.as_deref()
    }

    pub(super) fn under_way_at(&self, provider: &str) -> usize {
        self.in_flight.values().filter(|question| question.choice.provider == provider).count()
    }

    /// Forgets a question, wherever it is, and says whether it was under way.
    pub(super) fn forget(&mut self, id: RequestId) -> Option<InFlight> {
        for queue in self.waiting.values_mut() {
            queue.retain(|waiting| waiting.request.id != id);
        }
        self.in_flight.remove(&id)
    }

    /// Answers a question without asking anyone, with the next tick.
    pub(super) fn refuse(&mut self, request: &ModelRequest, choice: Option<&Choice>, failure: ModelFailure) {
        let (provider, model) =
            choice.map_or_else(Default::default, |choice| (choice.provider.clone(), choice.model.clone()));
        self.refused.push(ModelReply { request: request.id, provider, model, duration_ms: 0, outcome: Err(failure) });
    }

    /// Tells agents where they stand, if that changed.
    pub(super) fn tell_places(&mut self) {
        for queue in self.waiting.values_mut() {
            let all = queue.len();
            for (index, waiting) in queue.iter_mut().enumerate() {
                let place = (index + 1).min(PLACES_TOLD + 1);
                if waiting.told_place == place {
                    // Nobody behind one who did not move has moved, but for those who came just now.
                    continue;
                }
                waiting.told_place = place;
                let why = if place > PLACES_TOLD {
                    format!("waiting for a free model slot, {all} are waiting")
                } else {
                    format!("waiting for a free model slot, {} of {all}", ordinal(place))
                };
                let (agent, activity) = (waiting.request.agent, waiting.request.activity);
                self.tellings.push(Telling { agent, activity, why });
            }
        }
    }
}

/// `1st`, `2nd`, `11th`.
fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// The most that a question is expected to use.
pub(super) fn reservation(request: &ModelRequest, choice: &Choice, sent: &ProviderRequest) -> Reservation {
    let usage = Usage {
        input_tokens: sent.estimated_input_tokens(),
        cached_tokens: 0,
        output_tokens: request.max_output_tokens,
    };
    let timekeeping = if choice.is_simulated() { Timekeeping::Simulated } else { Timekeeping::Outside };
    Reservation {
        agent: request.agent_id.clone(),
        activation: request.activation.clone(),
        kind: request.kind,
        timekeeping,
        most: tally(choice, usage),
    }
}

pub(super) fn tally(choice: &Choice, usage: Usage) -> Tally {
    let tokens = u64::from(usage.input_tokens) + u64::from(usage.output_tokens);
    Tally { calls: 1, tokens, cost_micro_usd: price(&choice.provider, &choice.model).cost_micro_usd(usage) }
}

/// What an answer used; `None`: nobody knows, so it counts as what was set aside.
pub(super) fn used(choice: &Choice, outcome: &Result<Completion, ModelFailure>) -> Option<Tally> {
    let nothing = Tally { calls: 1, ..Tally::default() };
    match outcome {
        Ok(completion) => {
            let usage = completion.usage;
            let said_something = !completion.text.is_empty() || !completion.tool_calls.is_empty();
            let says_nothing = usage.input_tokens == 0 || (usage.output_tokens == 0 && said_something);
            (!says_nothing).then(|| tally(choice, usage))
        }
        // What stopped in the middle was paid for, but for what was only simulated.
        Err(failure) => match failure.kind {
            FailureKind::TimedOut | FailureKind::Malformed | FailureKind::Cancelled if !choice.is_simulated() => None,
            _ => Some(nothing),
        },
    }
}

/// The gateway's part of the saved world.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct GatewaySaved(Questions);

impl Section for GatewaySaved {
    const NAME: &'static str = "gateway";

    fn save(world: &mut World) -> Self {
        Self(world.resource::<Questions>().clone())
    }

    /// What was under way is asked again: the line knows of nothing that was sent.
    fn load(self, world: &mut World) {
        *world.resource_mut::<Line>() = Line::default();
        *world.resource_mut::<Questions>() = self.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_in_words() {
        let words: Vec<_> = [1, 2, 3, 4, 11, 12, 13, 21, 102].into_iter().map(ordinal).collect();
        assert_eq!(words, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd"]);
    }

    #[test]
    fn usage_that_says_nothing_counts_as_what_was_set_aside() {
        let choice = |provider: &str| Choice { provider: provider.into(), model: "gpt-4o".into() };
        let reply =
            |usage| Completion { text: "hm".into(), tool_calls: vec![], usage, finish: crate::mind::Finish::Stop };
        let full = Usage { input_tokens: 1_000_000, cached_tokens: 0, output_tokens: 10 };
        assert_eq!(used(&choice("openai"), &Ok(reply(Usage::default()))), None);
        assert_eq!(used(&choice("openai"), &Ok(reply(full))).map(|tally| tally.cost_micro_usd), Some(2_500_100));
        assert_eq!(used(&choice("offline"), &Ok(reply(full))).map(|tally| tally.cost_micro_usd), Some(0));
        let failed = |kind| Err(ModelFailure::new(kind, "", ""));
        assert_eq!(used(&choice("openai"), &failed(FailureKind::Malformed)), None);
        assert_eq!(used(&choice("openai"), &failed(FailureKind::Unauthorised)).map(|tally| tally.tokens), Some(0));
    }
}
