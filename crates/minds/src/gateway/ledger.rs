//! The ledger of model usage and limits: reserved before each call and settled after it, per agent, activation, kind of
//! call, hour and run. Pure; time is passed in as minutes.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::budget::{Cap, Measure, Scope};
use super::exchanges::{ExchangeCounts, ExchangeKind, Exchanges};
use crate::base::{Id, RequestId};
use crate::mind::{CallKind, CapReached, Usage};

/// The minutes that an hourly budget covers.
const MINUTES: usize = 60;
/// Activations that are remembered; the one that began first is forgotten first.
const MOST_ACTIVATIONS: usize = 4_096;

/// An amount of usage.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Calls.
    pub calls: u64,
    /// Tokens in and out.
    pub tokens: u64,
    /// Millionths of a dollar, as far as they are known.
    pub cost_micro_usd: u64,
    /// Tokens among them that cost nobody knows what.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced_tokens: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A cost, as far as it is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cost {
    /// This many US dollars.
    Known(f64),
    /// This many US dollars, plus the unknown cost of these tokens.
    AtLeast {
        /// What is known.
        usd: f64,
        /// Tokens that cost nobody knows what.
        unpriced_tokens: u64,
    },
}

impl Cost {
    /// US dollars, where all of it is known.
    pub fn known(self) -> Option<f64> {
        match self {
            Self::Known(usd) => Some(usd),
            Self::AtLeast { .. } => None,
        }
    }
}

/// "$0.12", "cost unknown", "at least $0.12"
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
    /// The money in US dollars, as far as it is known.
    pub fn cost_usd(&self) -> f64 {
        self.cost_micro_usd as f64 / 1e6
    }

    /// The money, with whether all of it is known.
    pub fn cost(&self) -> Cost {
        let usd = self.cost_usd();
        match self.unpriced_tokens {
            0 => Cost::Known(usd),
            unpriced_tokens => Cost::AtLeast { usd, unpriced_tokens },
        }
    }

    /// Both together.
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

    fn of(&self, measure: Measure) -> u64 {
        match measure {
            Measure::Calls => self.calls,
            Measure::Tokens => self.tokens,
            Measure::UnpricedTokens => self.unpriced_tokens,
            Measure::Cost => self.cost_micro_usd,
        }
    }
}

/// The traffic with a provider in this run, and how much of it came from its cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Traffic {
    /// Calls.
    pub calls: u64,
    /// Tokens of prompts, those from the cache among them.
    pub tokens_in: u64,
    /// Tokens of prompts that came from the provider's cache.
    pub cached_tokens: u64,
    /// Tokens of prompts that the provider put into its cache, where that costs more.
    pub cache_written_tokens: u64,
    /// Tokens of replies.
    pub tokens_out: u64,
    /// Millionths of a dollar, as far as they are known.
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

/// Whose minutes count for a call: simulated providers use simulated time, the others real time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timekeeping {
    /// Minutes of the room.
    Simulated,
    /// Minutes of the world outside.
    Outside,
}

/// The last 60 minutes, the current one first.
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

    fn sum(&self, measure: Measure) -> u64 {
        self.0.iter().map(|minute| minute.of(measure)).fold(0, u64::saturating_add)
    }

    /// Minutes until the oldest use is an hour ago.
    fn minutes_until_less(&self) -> usize {
        MINUTES.saturating_sub(self.0.len()) + 1
    }
}

/// What one agent, or the whole room, has used.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct Account {
    run: Tally,
    simulated_hour: Hour,
    outside_hour: Hour,
}

impl Account {
    fn hour(&self, timekeeping: Timekeeping) -> &Hour {
        match timekeeping {
            Timekeeping::Simulated => &self.simulated_hour,
            Timekeeping::Outside => &self.outside_hour,
        }
    }

    fn hour_mut(&mut self, timekeeping: Timekeeping) -> &mut Hour {
        match timekeeping {
            Timekeeping::Simulated => &mut self.simulated_hour,
            Timekeeping::Outside => &mut self.outside_hour,
        }
    }

    fn add(&mut self, timekeeping: Timekeeping, tally: Tally) {
        self.run.add(tally);
        self.hour_mut(timekeeping).add(tally);
    }
}

/// What each activation has used, for as many as are remembered.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Activations {
    used: BTreeMap<Id, Tally>,
    /// In the order in which they began.
    order: VecDeque<Id>,
}

impl Activations {
    fn add(&mut self, activation: &Id, tally: Tally) {
        if let Some(used) = self.used.get_mut(activation) {
            used.add(tally);
            return;
        }
        if self.order.len() >= MOST_ACTIVATIONS
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

/// A planned call as the ledger sees it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reservation {
    /// Who asks.
    pub agent: Id,
    /// The piece of work that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation: Option<Id>,
    /// Why.
    pub kind: CallKind,
    /// Whose minutes count.
    pub timekeeping: Timekeeping,
    /// Whether it is answered on this computer or its network.
    #[serde(default)]
    pub is_local: bool,
    /// The most it is expected to use.
    pub most: Tally,
}

impl Reservation {
    fn is_outside(&self) -> bool {
        self.timekeeping == Timekeeping::Outside && !self.is_local
    }
}

/// The ledger's decision about a call.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// It is reserved.
    Reserved,
    /// It may fit when a running call is settled.
    Wait,
    /// A cap is reached.
    Refused(Refusal),
}

/// Which limit stopped a call, and by how much.
#[derive(Clone, PartialEq, Debug)]
pub struct Refusal {
    /// The cap.
    pub cap: Cap,
    /// Whose it is, if an agent's or an activation's: its id.
    pub whose: Option<Id>,
    /// What was used already.
    pub used: u64,
    /// What the call asked for.
    pub asked: u64,
    /// Minutes until there is room, for caps by the hour.
    pub wait_minutes: Option<usize>,
    /// By whose minutes.
    pub timekeeping: Timekeeping,
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
    /// Sets aside the most that a call may use, unless that breaks a cap. Reserving twice under one id
    /// keeps the first.
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
                return Verdict::Refused(self.refusal(*cap, &call, used, asked));
            }
            must_wait |= used.saturating_add(self.reserved(cap, &call)).saturating_add(asked) > cap.limit;
        }
        if must_wait {
            return Verdict::Wait;
        }
        self.open.insert(id, call);
        Verdict::Reserved
    }

    /// Books what a call really used: what was set aside where nothing better is known (`None`).
    /// Returns what was booked; settling twice books once.
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

    /// Books what was used for nobody in the room.
    pub fn book(&mut self, timekeeping: Timekeeping, is_local: bool, used: Tally) {
        self.room.add(timekeeping, used);
        if timekeeping == Timekeeping::Outside && !is_local {
            self.outside.add(used);
        }
    }

    /// The cap that a call would break now, if one; nothing is set aside.
    pub fn would_refuse(&self, call: &Reservation, caps: &[Cap]) -> Option<Refusal> {
        caps.iter().find_map(|cap| {
            let (used, asked) = (self.used(cap, call), call.most.of(cap.measure));
            let counts = asked > 0 && concerns(cap, call);
            let all = used.saturating_add(self.reserved(cap, call)).saturating_add(asked);
            (counts && all > cap.limit).then(|| self.refusal(*cap, call, used, asked))
        })
    }

    /// How often a question may be sent before a cap on calls is reached, counting what is set aside for others.
    pub fn attempts_left(&self, call: &Reservation, caps: &[Cap]) -> u64 {
        let counting = caps.iter().filter(|cap| cap.measure == Measure::Calls && concerns(cap, call));
        let left =
            counting.map(|cap| cap.limit.saturating_sub(self.used(cap, call)).saturating_sub(self.reserved(cap, call)));
        left.min().unwrap_or(u64::MAX)
    }

    /// What providers outside used in this run.
    pub fn outside(&self) -> Tally {
        self.outside
    }

    /// Gives back what was set aside for a call that was never sent.
    pub fn release(&mut self, id: RequestId) {
        self.open.remove(&id);
    }

    /// What was set aside for a call.
    pub fn reservation(&self, id: RequestId) -> Option<&Reservation> {
        self.open.get(&id)
    }

    /// A minute has passed: what is an hour old no longer counts for the hour.
    pub fn advance_minute(&mut self, timekeeping: Timekeeping) {
        self.room.hour_mut(timekeeping).advance();
        for account in self.agents.values_mut() {
            account.hour_mut(timekeeping).advance();
        }
    }

    /// Whether any use of the last hour counts by this time.
    pub fn counts_minutes(&self, timekeeping: Timekeeping) -> bool {
        !self.room.hour(timekeeping).0.is_empty()
    }

    /// A new run begins: what counts by the run begins at nothing; the last hour stays, and so does what each
    /// activation used, because work goes on where it was.
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

    /// What the whole room used in this run.
    pub fn run(&self) -> Tally {
        self.room.run
    }

    /// What an agent used in this run.
    pub fn agent(&self, agent: &str) -> Tally {
        self.agents.get(agent).map_or_else(Tally::default, |account| account.run)
    }

    /// What an activation used, in whichever runs; nothing if it was forgotten.
    pub fn activation(&self, activation: &Id) -> Tally {
        self.activations.of(activation)
    }

    /// Forgets what an activation used, because it is over. Without this the oldest of many are forgotten.
    pub fn forget_activation(&mut self, activation: &Id) {
        self.activations.forget(activation);
    }

    /// What each kind of call used in this run.
    pub fn kinds(&self) -> &BTreeMap<CallKind, Tally> {
        &self.kinds
    }

    /// Notes what was sent to a provider and what it said, beside what is booked for whoever asked.
    pub fn note_traffic(&mut self, provider: &str, calls: u64, usage: Usage, cost_micro_usd: u64) {
        self.providers.entry(provider.to_owned()).or_default().add(calls, usage, cost_micro_usd);
    }

    /// What each provider was sent and said in this run.
    pub fn providers(&self) -> &BTreeMap<String, Traffic> {
        &self.providers
    }

    /// Notes that agents exchanged something, in a run of work if it was in one.
    pub fn note_exchange(&mut self, run: Option<&Id>, kind: ExchangeKind) {
        self.exchanges.note(run, kind);
    }

    /// How much was exchanged in this run.
    pub fn exchanges(&self) -> ExchangeCounts {
        self.exchanges.all()
    }

    /// How much was exchanged in a run of work, named by the piece that began it; nothing if it was forgotten.
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
        // What alone is larger than the cap never fits, however long one waits.
        let wait_minutes = hour.filter(|_| asked <= cap.limit).map(Hour::minutes_until_less);
        Refusal { cap, whose, used, asked, wait_minutes, timekeeping: call.timekeeping }
    }
}

/// Whether a call counts for a cap at all.
fn concerns(cap: &Cap, call: &Reservation) -> bool {
    match cap.scope {
        Scope::Outside => call.is_outside(),
        Scope::Activation => call.activation.is_some(),
        Scope::Run | Scope::Hour | Scope::AgentRun | Scope::AgentHour => true,
    }
}

impl Refusal {
    /// "the limit of 20 calls an hour for ada-1 is reached (20 made)"
    pub fn what(&self) -> String {
        let amount = |number: u64| match self.cap.measure {
            Measure::Calls => format!("{number} calls"),
            Measure::Tokens => format!("{number} tokens"),
            Measure::UnpricedTokens => format!("{number} tokens of unknown cost"),
            Measure::Cost => format!("{:.4} dollars", number as f64 / 1e6),
        };
        let span = match self.cap.scope {
            Scope::Hour | Scope::AgentHour => "an hour",
            Scope::Outside => "of outside providers in a run",
            Scope::Run | Scope::AgentRun => "a run",
            Scope::Activation => "an activation",
        };
        let whose = self.whose.as_ref().map_or_else(|| "the room".to_owned(), |agent| agent.to_string());
        let by = match self.cap.measure {
            Measure::Calls => format!("{} made", self.used),
            _ => format!("{} used, {} asked for", amount(self.used), amount(self.asked)),
        };
        format!("the limit of {} {span} for {whose} is reached ({by})", amount(self.cap.limit))
    }

    /// What it is, for whoever must end or delay what the cap concerns.
    pub fn reached(&self) -> CapReached {
        CapReached {
            name: self.cap.name.to_owned(),
            scope: self.cap.scope,
            limit: self.cap.limit,
            used: self.used,
            whose: self.whose.clone(),
            wait_minutes: self.wait_minutes.map(|minutes| u32::try_from(minutes).unwrap_or(u32::MAX)),
            waits_in_real_time: self.timekeeping == Timekeeping::Outside,
        }
    }

    /// "raise budget.calls_per_agent_per_hour in settings.yaml or wait 12 minutes"
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
