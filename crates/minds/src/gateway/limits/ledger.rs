//! The ledger of model usage and limits: usage is reserved before each call and settled after it, per agent,
//! activation, kind of call, hour and run. Pure; time is passed in as minutes.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::budget::{Cap, LimitMeasure, Scope};
use super::exchanges::{ExchangeCounts, ExchangeKind, Exchanges};
use crate::base::{Id, RequestId};
use crate::mind::{CallKind, CapReached, Usage};

/// The number of minutes that an hourly limit covers.
const MINUTES: usize = 60;
/// The maximum number of activations that are remembered; the oldest is forgotten first.
const MAX_ACTIVATIONS: usize = 4_096;

/// An amount of usage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// The number of calls.
    pub calls: u64,
    /// The number of input and output tokens.
    pub tokens: u64,
    /// The known cost in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// The number of these tokens whose cost is unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced_tokens: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A cost that may be partly unknown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cost {
    /// This many US dollars.
    Known(f64),
    /// At least this many US dollars, because the cost of some tokens is unknown.
    AtLeast {
        /// The known cost in US dollars.
        usd: f64,
        /// The number of tokens whose cost is unknown.
        unpriced_tokens: u64,
    },
}

impl Cost {
    /// Returns the cost in US dollars if all of it is known.
    pub fn known(self) -> Option<f64> {
        match self {
            Self::Known(usd) => Some(usd),
            Self::AtLeast { .. } => None,
        }
    }
}

/// Formats the cost: "$0.12", "cost unknown", "at least $0.12".
impl std::fmt::Display for Cost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Known(usd) => write!(f, "${usd:.2}"),
            Self::AtLeast { usd, .. } if *usd <= 0.0 => f.write_str("cost unknown"),
            Self::AtLeast { usd, .. } => write!(f, "at least ${usd:.2}"),
        }
    }
}

impl Tally {
    /// Returns the known cost in US dollars.
    pub fn cost_usd(&self) -> f64 {
        self.cost_micro_usd as f64 / 1e6
    }

    /// Returns the cost, which may be partly unknown.
    pub fn cost(&self) -> Cost {
        let usd = self.cost_usd();
        match self.unpriced_tokens {
            0 => Cost::Known(usd),
            unpriced_tokens => Cost::AtLeast { usd, unpriced_tokens },
        }
    }

    /// Returns the sum.
    #[must_use]
    pub fn plus(mut self, other: Tally) -> Tally {
        self.add(other);
        self
    }

    fn add(&mut self, other: Tally) {
        self.calls = self.calls.saturating_add(other.calls);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(other.cost_micro_usd);
        self.unpriced_tokens = self.unpriced_tokens.saturating_add(other.unpriced_tokens);
    }

    fn of(&self, measure: LimitMeasure) -> u64 {
        match measure {
            LimitMeasure::Calls => self.calls,
            LimitMeasure::Tokens => self.tokens,
            LimitMeasure::UnpricedTokens => self.unpriced_tokens,
            LimitMeasure::Cost => self.cost_micro_usd,
        }
    }
}

/// The traffic with a provider in this run, and how much of it came from its cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Traffic {
    /// The number of calls.
    pub calls: u64,
    /// The number of input tokens, including those from the cache.
    pub tokens_in: u64,
    /// The number of input tokens that came from the provider's cache.
    pub cached_tokens: u64,
    /// The number of input tokens that the provider wrote to its cache, if that costs more.
    pub cache_written_tokens: u64,
    /// The number of output tokens.
    pub tokens_out: u64,
    /// The known cost in millionths of a dollar.
    pub cost_micro_usd: u64,
}

impl Traffic {
    fn add(&mut self, calls: u64, usage: Usage, cost_micro_usd: u64) {
        let more = |sum: &mut u64, tokens: u32| *sum = sum.saturating_add(tokens.into());
        more(&mut self.tokens_in, usage.input_tokens);
        more(&mut self.cached_tokens, usage.cached_tokens);
        more(&mut self.cache_written_tokens, usage.cache_written_tokens);
        more(&mut self.tokens_out, usage.output_tokens);
        self.calls = self.calls.saturating_add(calls);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(cost_micro_usd);
    }
}

/// The clock whose minutes count for a call: simulated time for simulated providers, real time for the others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetClock {
    /// Simulated time.
    Simulated,
    /// Real time.
    Outside,
}

/// The usage in each of the last 60 minutes, the current one first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Hour(VecDeque<Tally>);

impl Hour {
    fn add(&mut self, tally: Tally) {
        if self.0.is_empty() {
            self.0.push_front(Tally::default());
        }
        self.0[0].add(tally);
    }

    fn advance(&mut self) {
        if !self.0.is_empty() {
            self.0.push_front(Tally::default());
            self.0.truncate(MINUTES);
        }
        while self.0.back().is_some_and(|minute| *minute == Tally::default()) {
            self.0.pop_back();
        }
    }

    fn sum(&self, measure: LimitMeasure) -> u64 {
        self.0.iter().map(|minute| minute.of(measure)).fold(0, u64::saturating_add)
    }

    /// Returns the minutes until the oldest usage is an hour ago.
    fn minutes_until_less(&self) -> usize {
        MINUTES.saturating_sub(self.0.len()) + 1
    }
}

/// The usage of one agent, or of the whole room.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Account {
    run: Tally,
    simulated_hour: Hour,
    outside_hour: Hour,
}

impl Account {
    fn hour(&self, timekeeping: BudgetClock) -> &Hour {
        match timekeeping {
            BudgetClock::Simulated => &self.simulated_hour,
            BudgetClock::Outside => &self.outside_hour,
        }
    }

    fn hour_mut(&mut self, timekeeping: BudgetClock) -> &mut Hour {
        match timekeeping {
            BudgetClock::Simulated => &mut self.simulated_hour,
            BudgetClock::Outside => &mut self.outside_hour,
        }
    }

    fn add(&mut self, timekeeping: BudgetClock, tally: Tally) {
        self.run.add(tally);
        self.hour_mut(timekeeping).add(tally);
    }
}

/// The usage of each activation that is remembered.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Activations {
    used: BTreeMap<Id, Tally>,
    /// The activations, oldest first.
    order: VecDeque<Id>,
}

impl Activations {
    fn add(&mut self, activation: &Id, tally: Tally) {
        if let Some(used) = self.used.get_mut(activation) {
            used.add(tally);
            return;
        }
        if self.order.len() >= MAX_ACTIVATIONS
            && let Some(oldest) = self.order.pop_front()
        {
            self.used.remove(&oldest);
        }
        self.used.insert(activation.clone(), tally);
        self.order.push_back(activation.clone());
    }

    fn forget(&mut self, activation: &str) {
        if self.used.remove(activation).is_some() {
            self.order.retain(|known| **known != *activation);
        }
    }

    fn of(&self, activation: &str) -> Tally {
        self.used.get(activation).copied().unwrap_or_default()
    }
}

/// A planned call.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reservation {
    /// The agent that makes the request.
    pub agent: Id,
    /// The activation that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation: Option<Id>,
    /// The kind of call.
    pub kind: CallKind,
    /// The clock whose minutes count.
    pub timekeeping: BudgetClock,
    /// Whether the model is on this computer or its network.
    #[serde(default)]
    pub is_local: bool,
    /// The expected maximum usage.
    pub most: Tally,
}

impl Reservation {
    fn is_outside(&self) -> bool {
        self.timekeeping == BudgetClock::Outside && !self.is_local
    }
}

/// The decision of the ledger about a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// The usage is reserved.
    Reserved,
    /// The call may fit when a running one is settled.
    Wait,
    /// A limit is reached.
    Refused(Refusal),
}

/// The limit that prevents a call, and its numbers.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    /// The limit.
    pub cap: Cap,
    /// The id of the agent or activation that it applies to; `None` for the room.
    pub whose: Option<Id>,
    /// The usage so far.
    pub used: u64,
    /// The usage that the call asked for.
    pub asked: u64,
    /// The minutes until there is room, for hourly limits.
    pub wait_minutes: Option<usize>,
    /// The clock of these minutes.
    pub timekeeping: BudgetClock,
}

/// The ledger. All of it is saved.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    room: Account,
    outside: Tally,
    agents: BTreeMap<Id, Account>,
    kinds: BTreeMap<CallKind, Tally>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    providers: BTreeMap<String, Traffic>,
    activations: Activations,
    #[serde(skip_serializing_if = "Exchanges::is_empty")]
    exchanges: Exchanges,
    open: BTreeMap<RequestId, Reservation>,
}

impl Ledger {
    /// Reserves the maximum usage of a call, unless that would exceed a limit. A second reservation with the same id is
    /// ignored.
    pub fn reserve(&mut self, id: RequestId, call: Reservation, caps: &[Cap]) -> Verdict {
        if self.open.contains_key(&id) {
            return Verdict::Reserved;
        }
        let mut must_wait = false;
        for cap in caps {
            let used = self.used(cap, &call);
            let asked = call.most.of(cap.measure);
            if asked == 0 || !concerns(cap, &call) {
                continue;
            }
            if used.saturating_add(asked) > cap.limit {
                // A call that would exceed a limit is refused, with the limit, what was used and how to raise it.
                rule!("limits-refuse-calls");
                return Verdict::Refused(self.refusal(*cap, &call, used, asked));
            }
            must_wait |= used.saturating_add(self.reserved(cap, &call)).saturating_add(asked) > cap.limit;
        }
        if must_wait {
            return Verdict::Wait;
        }
        // The tokens and the cost that a call can have at most are reserved before it is sent.
        rule!("costs-are-reserved-before-a-call");
        self.open.insert(id, call);
        Verdict::Reserved
    }

    /// Replaces the reservation of a call by its actual usage; if that is unknown (`None`), the reserved usage counts.
    /// Returns the usage that was added; settling twice adds it only once.
    pub fn settle(&mut self, id: RequestId, used: Option<Tally>) -> Option<Tally> {
        let call = self.open.remove(&id)?;
        let used = used.unwrap_or(call.most);
        self.room.add(call.timekeeping, used);
        if call.is_outside() {
            self.outside.add(used);
        }
        self.agents.entry(call.agent).or_default().add(call.timekeeping, used);
        self.kinds.entry(call.kind).or_default().add(used);
        if let Some(activation) = &call.activation {
            self.activations.add(activation, used);
        }
        Some(used)
    }

    /// Adds usage that belongs to no agent.
    pub fn book(&mut self, timekeeping: BudgetClock, is_local: bool, used: Tally) {
        self.room.add(timekeeping, used);
        if timekeeping == BudgetClock::Outside && !is_local {
            self.outside.add(used);
        }
    }

    /// Returns the limit that a call would exceed now, without reserving anything.
    pub fn would_refuse(&self, call: &Reservation, caps: &[Cap]) -> Option<Refusal> {
        caps.iter().find_map(|cap| {
            let (used, asked) = (self.used(cap, call), call.most.of(cap.measure));
            let counts = asked > 0 && concerns(cap, call);
            let all = used.saturating_add(self.reserved(cap, call)).saturating_add(asked);
            (counts && all > cap.limit).then(|| self.refusal(*cap, call, used, asked))
        })
    }

    /// Returns how many attempts a request may have before a limit on calls is reached, including the reservations of
    /// others.
    pub fn attempts_left(&self, call: &Reservation, caps: &[Cap]) -> u64 {
        let counting = caps.iter().filter(|cap| cap.measure == LimitMeasure::Calls && concerns(cap, call));
        let left =
            counting.map(|cap| cap.limit.saturating_sub(self.used(cap, call)).saturating_sub(self.reserved(cap, call)));
        left.min().unwrap_or(u64::MAX)
    }

    /// Returns the usage of external providers in this run.
    pub fn outside(&self) -> Tally {
        self.outside
    }

    /// Removes the reservation of a call that was never sent.
    pub fn release(&mut self, id: RequestId) {
        self.open.remove(&id);
    }

    /// Returns the reservation of a call.
    pub fn reservation(&self, id: RequestId) -> Option<&Reservation> {
        self.open.get(&id)
    }

    /// Advances a clock by a minute: usage that is an hour old no longer counts for the hour.
    pub fn advance_minute(&mut self, timekeeping: BudgetClock) {
        self.room.hour_mut(timekeeping).advance();
        for account in self.agents.values_mut() {
            account.hour_mut(timekeeping).advance();
        }
    }

    /// Whether any usage of the last hour counts by this clock.
    pub fn counts_minutes(&self, timekeeping: BudgetClock) -> bool {
        !self.room.hour(timekeeping).0.is_empty()
    }

    /// Begins a new run: counts of the run start at zero. The last hour is kept, and so is the usage of each
    /// activation, because work continues where it was.
    pub fn start_run(&mut self) {
        self.room.run = Tally::default();
        self.outside = Tally::default();
        self.kinds.clear();
        self.providers.clear();
        self.exchanges.start_run();
        for account in self.agents.values_mut() {
            account.run = Tally::default();
        }
    }

    /// Returns the usage of the whole room in this run.
    pub fn run(&self) -> Tally {
        self.room.run
    }

    /// Returns the usage of an agent in this run.
    pub fn agent(&self, agent: &str) -> Tally {
        self.agents.get(agent).map_or_else(Tally::default, |account| account.run)
    }

    /// Returns the usage of an activation, across runs; zero if it was forgotten.
    pub fn activation(&self, activation: &Id) -> Tally {
        self.activations.of(activation)
    }

    /// Forgets the usage of a finished activation. Otherwise the oldest are forgotten when there are too many.
    pub fn forget_activation(&mut self, activation: &Id) {
        self.activations.forget(activation);
    }

    /// Returns the usage of each kind of call in this run.
    pub fn kinds(&self) -> &BTreeMap<CallKind, Tally> {
        &self.kinds
    }

    /// Records the traffic with a provider, in addition to the usage of the agent.
    pub fn note_traffic(&mut self, provider: &str, calls: u64, usage: Usage, cost_micro_usd: u64) {
        self.providers.entry(provider.to_owned()).or_default().add(calls, usage, cost_micro_usd);
    }

    /// Returns the traffic with each provider in this run.
    pub fn providers(&self) -> &BTreeMap<String, Traffic> {
        &self.providers
    }

    /// Records an exchange between agents, in a run of work if it was part of one.
    pub fn note_exchange(&mut self, run: Option<&Id>, kind: ExchangeKind) {
        self.exchanges.note(run, kind);
    }

    /// Returns the exchanges in this run.
    pub fn exchanges(&self) -> ExchangeCounts {
        self.exchanges.all()
    }

    /// Returns the exchanges in a run of work, named by its first activation; zero if it was forgotten.
    pub fn exchanges_of(&self, run: &str) -> ExchangeCounts {
        self.exchanges.of(run)
    }

    fn used(&self, cap: &Cap, call: &Reservation) -> u64 {
        let agent = self.agents.get(&call.agent);
        match cap.scope {
            Scope::Run => self.room.run.of(cap.measure),
            Scope::Outside => self.outside.of(cap.measure),
            Scope::Hour => self.room.hour(call.timekeeping).sum(cap.measure),
            Scope::AgentRun => agent.map_or(0, |account| account.run.of(cap.measure)),
            Scope::AgentHour => agent.map_or(0, |account| account.hour(call.timekeeping).sum(cap.measure)),
            Scope::Activation => {
                let used = call.activation.as_ref().map(|activation| self.activations.of(activation));
                used.map_or(0, |used| used.of(cap.measure))
            }
        }
    }

    fn reserved(&self, cap: &Cap, call: &Reservation) -> u64 {
        let counts = |open: &&Reservation| match cap.scope {
            Scope::Run => true,
            Scope::Outside => open.is_outside(),
            Scope::Hour => open.timekeeping == call.timekeeping,
            Scope::AgentRun => open.agent == call.agent,
            Scope::AgentHour => open.agent == call.agent && open.timekeeping == call.timekeeping,
            Scope::Activation => open.activation == call.activation,
        };
        self.open.values().filter(counts).map(|open| open.most.of(cap.measure)).fold(0, u64::saturating_add)
    }

    fn refusal(&self, cap: Cap, call: &Reservation, used: u64, asked: u64) -> Refusal {
        let whose = match cap.scope {
            Scope::AgentRun | Scope::AgentHour => Some(call.agent.clone()),
            Scope::Activation => call.activation.clone(),
            Scope::Run | Scope::Outside | Scope::Hour => None,
        };
        let hour = match cap.scope {
            Scope::Hour => Some(self.room.hour(call.timekeeping)),
            Scope::AgentHour => self.agents.get(&call.agent).map(|account| account.hour(call.timekeeping)),
            _ => None,
        };
        // A call that is larger than the limit itself never fits, however long one waits.
        let wait_minutes = hour.filter(|_| asked <= cap.limit).map(Hour::minutes_until_less);
        Refusal { cap, whose, used, asked, wait_minutes, timekeeping: call.timekeeping }
    }
}

/// Whether a limit applies to a call at all.
fn concerns(cap: &Cap, call: &Reservation) -> bool {
    match cap.scope {
        Scope::Outside => call.is_outside(),
        Scope::Activation => call.activation.is_some(),
        Scope::Run | Scope::Hour | Scope::AgentRun | Scope::AgentHour => true,
    }
}

impl Refusal {
    /// Describes the limit: "the limit of 20 calls an hour for ada-1 is reached (20 made)".
    pub fn description(&self) -> String {
        let amount = |number: u64| match self.cap.measure {
            LimitMeasure::Calls => format!("{number} calls"),
            LimitMeasure::Tokens => format!("{number} tokens"),
            LimitMeasure::UnpricedTokens => format!("{number} tokens of unknown cost"),
            LimitMeasure::Cost => format!("{:.4} dollars", number as f64 / 1e6),
        };
        let span = match self.cap.scope {
            Scope::Hour | Scope::AgentHour => "an hour",
            Scope::Outside => "of outside providers in a run",
            Scope::Run | Scope::AgentRun => "a run",
            Scope::Activation => "an activation",
        };
        let whose = self.whose.as_ref().map_or_else(|| "the room".to_owned(), |agent| agent.to_string());
        let by = match self.cap.measure {
            LimitMeasure::Calls => format!("{} made", self.used),
            _ => format!("{} used, {} asked for", amount(self.used), amount(self.asked)),
        };
        format!("the limit of {} {span} for {whose} is reached ({by})", amount(self.cap.limit))
    }

    /// Returns which limit is reached, for code that must end or delay the work that it applies to.
    pub fn reached(&self) -> CapReached {
        CapReached {
            name: self.cap.name.to_owned(),
            scope: self.cap.scope,
            limit: self.cap.limit,
            used: self.used,
            whose: self.whose.clone(),
            wait_minutes: self.wait_minutes.map(|minutes| u32::try_from(minutes).unwrap_or(u32::MAX)),
            waits_in_real_time: self.timekeeping == BudgetClock::Outside,
        }
    }

    /// Returns what to do: "raise budget.calls_per_agent_per_hour in settings.yaml or wait 12 minutes".
    pub fn remedy(&self) -> String {
        let raise = format!("raise budget.{} in settings.yaml", self.cap.name);
        match (self.wait_minutes, self.cap.scope) {
            (Some(minutes), _) => format!("{raise} or wait {minutes} minutes"),
            (None, Scope::Hour | Scope::AgentHour) => raise,
            (None, Scope::Activation) => format!("{raise} or split the request"),
            (None, _) => format!("{raise} or start a new run"),
        }
    }
}
