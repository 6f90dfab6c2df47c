//! Limits on model usage: the section `budget` of `settings.yaml`. An absent limit does not limit anything.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::Problem;
use crate::base::text::nearest;
pub use crate::mind::CapScope as Scope;
use crate::workspace::SettingsSection;

/// The maximum amount in dollars; a higher number is a mistake.
const MAX_USD: f64 = 1_000_000.0;

/// Limits on calls, tokens and costs. An invalid or negative number allows nothing.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct BudgetSettings {
    /// Calls of the whole room in a run.
    pub calls_per_run: Option<u64>,
    /// Calls of the whole room in the last 60 minutes.
    pub calls_per_hour: Option<u64>,
    /// Calls of each agent in a run.
    pub calls_per_agent_per_run: Option<u64>,
    /// Calls of each agent in the last 60 minutes.
    pub calls_per_agent_per_hour: Option<u64>,
    /// Tokens of the whole room in a run, of every provider.
    pub tokens_per_run: Option<u64>,
    /// Tokens of the whole room in the last 60 minutes.
    pub tokens_per_hour: Option<u64>,
    /// Tokens of each agent in a run.
    pub tokens_per_agent_per_run: Option<u64>,
    /// Tokens of each agent in the last 60 minutes.
    pub tokens_per_agent_per_hour: Option<u64>,
    /// Calls of each activation, from start to end.
    pub calls_per_activation: Option<u64>,
    /// Tokens of each activation.
    pub tokens_per_activation: Option<u64>,
    /// Tokens in a run of external providers; `offline`, `scripted` and servers on this computer and its network do not
    /// count.
    pub outside_tokens_per_run: Option<u64>,
    /// Tokens in a run of models without a known price, which limits in dollars cannot cover.
    pub unpriced_tokens_per_run: Option<u64>,
    /// US dollars of the whole room in a run.
    pub cost_per_run_usd: Option<f64>,
    /// US dollars of the whole room in the last 60 minutes.
    pub cost_per_hour_usd: Option<f64>,
    /// US dollars of each agent in a run.
    pub cost_per_agent_per_run_usd: Option<f64>,
    /// US dollars of each agent in the last 60 minutes.
    pub cost_per_agent_per_hour_usd: Option<f64>,
    /// US dollars of each activation.
    pub cost_per_activation_usd: Option<f64>,
    /// Whether the settings cannot be read, so that nothing may be called.
    #[serde(skip)]
    pub(in crate::gateway) is_unread: bool,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Self {
            calls_per_run: None,
            calls_per_hour: None,
            calls_per_agent_per_run: None,
            calls_per_agent_per_hour: None,
            tokens_per_run: None,
            tokens_per_hour: None,
            tokens_per_agent_per_run: None,
            tokens_per_agent_per_hour: None,
            calls_per_activation: None,
            tokens_per_activation: None,
            outside_tokens_per_run: Some(2_000_000),
            unpriced_tokens_per_run: Some(2_000_000),
            cost_per_run_usd: Some(5.0),
            cost_per_hour_usd: None,
            cost_per_agent_per_run_usd: None,
            cost_per_agent_per_hour_usd: None,
            cost_per_activation_usd: None,
            is_unread: false,
        }
    }
}

impl SettingsSection for BudgetSettings {
    const NAME: &'static str = "budget";

    /// A limit that cannot be read allows nothing; so does a section that is no mapping.
    fn not_understood(&mut self, key: &str, value: &Value) {
        let Ok(Value::Object(mut limits)) = serde_json::to_value(&*self) else { return };
        let meant =
            if key.is_empty() { Some("calls_per_run") } else { nearest(key, limits.keys().map(String::as_str)) };
        let Some(meant) = meant.map(str::to_owned).filter(|_| !value.is_null()) else { return };
        // A number under a mistyped name is still a limit.
        let wanted = value.as_f64().filter(|number| *number >= 0.0 && !key.is_empty()).unwrap_or(0.0);
        let lower = limits.get(&meant).and_then(Value::as_f64).map_or(wanted, |present| present.min(wanted));
        let number = if meant.ends_with("_usd") { Value::from(lower) } else { Value::from(lower as u64) };
        limits.insert(meant, number);
        if let Ok(lowered) = serde_json::from_value::<Self>(limits.into()) {
            *self = Self { is_unread: self.is_unread, ..lowered };
        }
    }

    fn unread(&mut self) {
        self.is_unread = true;
        self.calls_per_run = Some(0);
    }
}

/// The quantity that a limit counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitMeasure {
    /// Calls.
    Calls,
    /// Input and output tokens.
    Tokens,
    /// Tokens of models without a known price.
    UnpricedTokens,
    /// The cost in millionths of a dollar.
    Cost,
}

/// One configured limit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cap {
    /// The key in `budget`.
    pub name: &'static str,
    /// The scope: whose usage the limit counts, and over which time.
    pub scope: Scope,
    /// The limited quantity.
    pub measure: LimitMeasure,
    /// The maximum.
    pub limit: u64,
}

impl BudgetSettings {
    /// Returns the configured limits, in a fixed order.
    pub fn caps(&self) -> Vec<Cap> {
        use LimitMeasure::{Calls, Tokens, UnpricedTokens};
        let counts = [
            ("calls_per_activation", Scope::Activation, Calls, self.calls_per_activation),
            ("calls_per_agent_per_hour", Scope::AgentHour, Calls, self.calls_per_agent_per_hour),
            ("calls_per_agent_per_run", Scope::AgentRun, Calls, self.calls_per_agent_per_run),
            ("calls_per_hour", Scope::Hour, Calls, self.calls_per_hour),
            ("calls_per_run", Scope::Run, Calls, self.calls_per_run),
            ("tokens_per_activation", Scope::Activation, Tokens, self.tokens_per_activation),
            ("tokens_per_agent_per_hour", Scope::AgentHour, Tokens, self.tokens_per_agent_per_hour),
            ("tokens_per_agent_per_run", Scope::AgentRun, Tokens, self.tokens_per_agent_per_run),
            ("tokens_per_hour", Scope::Hour, Tokens, self.tokens_per_hour),
            ("tokens_per_run", Scope::Run, Tokens, self.tokens_per_run),
            ("outside_tokens_per_run", Scope::Outside, Tokens, self.outside_tokens_per_run),
            ("unpriced_tokens_per_run", Scope::Run, UnpricedTokens, self.unpriced_tokens_per_run),
        ];
        let costs = self.costs().map(|(name, scope, usd)| (name, scope, LimitMeasure::Cost, usd.map(micro_usd)));
        let set = counts.into_iter().chain(costs);
        set.filter_map(|(name, scope, measure, limit)| Some(Cap { name, scope, measure, limit: limit? })).collect()
    }

    /// Returns the limits that apply to the room as a whole.
    pub fn caps_of_room(&self) -> Vec<Cap> {
        let is_of_one = |scope| matches!(scope, Scope::AgentRun | Scope::AgentHour | Scope::Activation);
        self.caps().into_iter().filter(|cap| !is_of_one(cap.scope)).collect()
    }

    fn costs(&self) -> [(&'static str, Scope, Option<f64>); 5] {
        [
            ("cost_per_activation_usd", Scope::Activation, self.cost_per_activation_usd),
            ("cost_per_agent_per_hour_usd", Scope::AgentHour, self.cost_per_agent_per_hour_usd),
            ("cost_per_agent_per_run_usd", Scope::AgentRun, self.cost_per_agent_per_run_usd),
            ("cost_per_hour_usd", Scope::Hour, self.cost_per_hour_usd),
            ("cost_per_run_usd", Scope::Run, self.cost_per_run_usd),
        ]
    }

    /// Returns the problems of invalid limits, which allow nothing until they are corrected.
    pub fn problems(&self) -> Vec<Problem> {
        let unread = self.is_unread.then(|| {
            let what = "the limits in the settings could not be read; until then no model is called";
            Problem::error("settings.yaml", what, "fix the other problems listed for it")
        });
        let absurd = self.costs().into_iter().filter(|(_, _, usd)| usd.is_some_and(|usd| !is_sane(usd)));
        absurd
            .map(|(name, _, _)| {
                let what = format!("budget.{name} is not a valid amount; paid calls are blocked");
                Problem::error(
                    "settings.yaml",
                    what,
                    format!(
                        "set budget.{name} to an amount from 0 to {MAX_USD} \
                    dollars"
                    ),
                )
            })
            .chain(unread)
            .collect()
    }
}

fn is_sane(usd: f64) -> bool {
    (0.0..=MAX_USD).contains(&usd)
}

fn micro_usd(usd: f64) -> u64 {
    if is_sane(usd) { (usd * 1e6).floor() as u64 } else { 0 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn invalid_amounts_allow_nothing_and_are_problems() {
        for usd in [f64::NAN, -1.0, f64::INFINITY, 1e300] {
            let settings = BudgetSettings { cost_per_run_usd: Some(usd), ..Default::default() };
            let cap = settings.caps().into_iter().find(|cap| cap.name == "cost_per_run_usd").unwrap();
            assert_eq!(cap.limit, 0, "{usd}");
            assert_eq!(settings.problems().len(), 1);
        }
        assert!(BudgetSettings::default().problems().is_empty());
    }

    #[test]
    fn a_limit_that_cannot_be_read_allows_nothing() {
        for (key, value, limit) in [
            ("calls_per_run", json!(-1), 0),
            ("calls_per_run", json!("ten"), 0),
            ("calls_per_rnu", json!(3), 3),
            ("calls_per_rnu", json!("x"), 0),
            ("", json!(5), 0),
        ] {
            let mut settings = BudgetSettings::default();
            settings.not_understood(key, &value);
            assert_eq!(settings.calls_per_run, Some(limit), "{key} {value}");
            assert_eq!(settings.cost_per_run_usd, BudgetSettings::default().cost_per_run_usd);
        }
        let mut settings = BudgetSettings::default();
        settings.not_understood("cost_per_run_usd", &json!([]));
        assert_eq!(settings.cost_per_run_usd, Some(0.0));
        settings.not_understood("something", &json!(1));
        assert_eq!(settings.calls_per_run, None, "an unknown word limits nothing");
    }

    #[test]
    fn while_the_settings_are_unread_nothing_may_be_called() {
        let mut settings = BudgetSettings::default();
        settings.unread();
        assert!(settings.caps().iter().any(|cap| cap.name == "calls_per_run" && cap.limit == 0));
        assert!(settings.problems()[0].what.contains("no model is called"));
    }

    #[test]
    fn negative_counts_are_refused_when_read() {
        assert!(serde_json::from_str::<BudgetSettings>(r#"{"calls_per_hour": -1}"#).is_err());
    }
}
