//! Token prices: from the person's `prices:`, otherwise from the embedded list; zero on this computer and its network;
//! unknown elsewhere. Costs are in millionths of a dollar, rounded up, so that sums are exact.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::gateway::providers::address::ServerOwner;
use crate::gateway::settings::Choice;
use crate::mind::Usage;
use crate::text::yaml;
use crate::workspace::SettingsSection;

/// A price in US dollars per million tokens, which is millionths of a dollar per token.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
pub struct Price {
    /// The price of input.
    pub input: f64,
    /// The price of input that the provider had in its cache.
    pub cached: f64,
    /// The price of output.
    pub output: f64,
}

/// The price of a model, if it is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rate {
    /// Free, because the model runs on this computer or network.
    Free,
    /// This price.
    Priced(Price),
    /// Unknown: its tokens are counted, and limited by number only.
    Unknown,
}

/// The section `prices`: prices of models by `provider:model`, or `provider:*` for all models of a provider.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PriceSettings(pub BTreeMap<String, OwnPrice>);

impl SettingsSection for PriceSettings {
    const NAME: &'static str = "prices";
}

/// A price in the settings, in US dollars per million tokens.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "WrittenPrice")]
pub struct OwnPrice {
    /// The price of input.
    pub input: f64,
    /// The price of output.
    pub output: f64,
    /// The price of input that the provider had in its cache; defaults to `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

/// A price in the settings before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPrice {
    #[serde(alias = "in")]
    input: f64,
    #[serde(alias = "out")]
    output: f64,
    cached: Option<f64>,
}

impl TryFrom<WrittenPrice> for OwnPrice {
    type Error = String;

    fn try_from(WrittenPrice { input, output, cached }: WrittenPrice) -> Result<Self, String> {
        for usd in [Some(input), Some(output), cached].into_iter().flatten() {
            if !(0.0..=MAX_USD_A_MILLION).contains(&usd) {
                return Err(format!(
                    "{usd} is not a valid price per million tokens; write dollars, or 0 if it is free"
                ));
            }
        }
        Ok(Self { input, output, cached })
    }
}

/// The surcharge of vendors that report cache writes (Anthropic, for five minutes), as a share of the price.
const MORE_TO_WRITE: f64 = 0.25;
/// The maximum price per million tokens; a higher number is a mistake.
const MAX_USD_A_MILLION: f64 = 100_000.0;

/// The embedded list.
#[derive(Deserialize)]
struct PriceList {
    dated: String,
    source: String,
    #[serde(flatten)]
    providers: BTreeMap<String, BTreeMap<String, Price>>,
}

static PRICES: LazyLock<PriceList> = LazyLock::new(|| {
    yaml::from_str(include_str!("../../../../../assets/prices.yaml")).expect("the embedded price list is tested")
});

/// The date and the source of the embedded list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct PriceSource {
    /// The date, such as `2026-01-15`.
    pub dated: &'static str,
    /// The source of the prices.
    pub source: &'static str,
}

/// Returns the date and the source of the embedded list.
pub fn price_source() -> PriceSource {
    let PriceList { dated, source, .. } = &*PRICES;
    PriceSource { dated, source }
}

impl std::fmt::Display for PriceSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "list prices of {}, from {}", self.dated, self.source)
    }
}

/// Returns the price of a choice at a server of this kind.
pub fn rate(choice: &Choice, site: ServerOwner, own: &PriceSettings) -> Rate {
    let Choice { provider, model } = choice;
    let names = [format!("{provider}:{model}"), format!("{provider}:*"), provider.clone()];
    if let Some(price) = names.iter().find_map(|name| own.0.get(name)) {
        let OwnPrice { input, output, cached } = *price;
        return Rate::Priced(Price { input, output, cached: cached.unwrap_or(input) });
    }
    if choice.is_simulated() || site == ServerOwner::Local {
        return Rate::Free;
    }
    // A vendor's price does not apply to models of the same name on other servers.
    if site == ServerOwner::Elsewhere {
        Rate::Unknown
    } else {
        listed(provider, model).map_or(Rate::Unknown, Rate::Priced)
    }
}

fn listed(provider: &str, model: &str) -> Option<Price> {
    let models = PRICES.providers.get(provider)?;
    let versions = models.iter().filter(|(name, _)| model.strip_prefix(name.as_str()).is_some_and(is_version));
    versions.max_by_key(|(name, _)| name.len()).map(|(_, price)| *price)
}

/// Whether the rest of a name is a version rather than part of another model's name: `-2024-08-06`, `-latest`.
pub(in crate::gateway) fn is_version(rest: &str) -> bool {
    let Some(words) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    words.split('-').all(|word| matches!(word, "latest" | "preview") || word.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Rate {
    /// Returns the cost in millionths of a dollar, rounded up, and the number of tokens whose cost is unknown.
    pub fn cost(&self, usage: Usage) -> (u64, u64) {
        match self {
            Self::Free => (0, 0),
            Self::Priced(price) => (price.cost_micro_usd(usage), 0),
            Self::Unknown => (0, u64::from(usage.input_tokens) + u64::from(usage.output_tokens)),
        }
    }
}

impl Price {
    /// Returns the cost in millionths of a dollar, rounded up.
    pub fn cost_micro_usd(&self, usage: Usage) -> u64 {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        let written = usage.cache_written_tokens.min(fresh);
        let cost = f64::from(fresh) * self.input
            + f64::from(written) * self.input * MORE_TO_WRITE
            + f64::from(cached) * self.cached
            + f64::from(usage.output_tokens) * self.output;
        cost.ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_price_is_plausible() {
        assert!(PRICES.providers.values().map(BTreeMap::len).sum::<usize>() >= 12);
        for price in PRICES.providers.values().flat_map(BTreeMap::values) {
            for number in [price.input, price.cached, price.output] {
                assert!(number.is_finite() && number > 0.0 && number < 1000.0);
            }
            assert!(price.cached <= price.input);
        }
    }

    fn rate_of(spec: &str, site: ServerOwner) -> Rate {
        let (provider, model) = spec.split_once(':').expect("the tests write provider:model");
        let own = serde_yaml::from_str(
            "openai:qwen3-8b: { in: 0.1, out: 0.4, cached: 0.02 }\nollama:*: { input: 0.01, output: 0.02 }",
        );
        let own: PriceSettings = own.expect("these are prices");
        rate(&Choice { provider: provider.into(), model: model.into() }, site, &own)
    }

    fn input(rate: Rate) -> Option<f64> {
        match rate {
            Rate::Priced(price) => Some(price.input),
            Rate::Free => Some(0.0),
            Rate::Unknown => None,
        }
    }

    #[test]
    fn known_models_have_prices_local_ones_are_free_and_others_unknown() {
        let table = [
            ("openai:gpt-4o-mini-2024-07-18", ServerOwner::Vendor, Some(0.15)),
            ("openai:gpt-4o-latest", ServerOwner::Vendor, Some(2.5)),
            ("openai:gpt-4o-ultra", ServerOwner::Vendor, None),
            ("openai:gpt-5-pro", ServerOwner::Vendor, None),
            ("openai:gpt-4o", ServerOwner::Elsewhere, None),
            ("openai:gpt-4o", ServerOwner::Local, Some(0.0)),
            ("openai:surprise", ServerOwner::Local, Some(0.0)),
            ("openai:qwen3-8b", ServerOwner::Local, Some(0.1)),
            ("openai:qwen3-8b", ServerOwner::Elsewhere, Some(0.1)),
            ("ollama:llama3:8b", ServerOwner::Local, Some(0.01)),
            ("offline:offline", ServerOwner::Vendor, Some(0.0)),
            ("nobody:surprise", ServerOwner::Vendor, None),
        ];
        for (spec, site, wanted) in table {
            assert_eq!(input(rate_of(spec, site)), wanted, "{spec} {site:?}");
        }
    }

    #[test]
    fn invalid_prices_are_refused() {
        for odd in ["{ in: -1, out: 1 }", "{ in: .nan, out: 1 }", "{ in: 1 }", "{ in: 1, out: 1, ut: 2 }", "3"] {
            assert!(serde_yaml::from_str::<OwnPrice>(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn the_list_has_a_date_and_a_source() {
        let source = price_source();
        assert_eq!(source.dated.len(), "2026-01-15".len());
        assert!(!source.source.is_empty());
    }

    #[test]
    fn cached_tokens_are_part_of_the_input() {
        let usage = Usage { input_tokens: 1000, cached_tokens: 400, output_tokens: 10, ..Usage::default() };
        let price = Price { input: 2.0, cached: 0.5, output: 10.0 };
        assert_eq!(price.cost_micro_usd(usage), 1200 + 200 + 100);
        let absurd = Usage { input_tokens: 1, cached_tokens: 900, cache_written_tokens: 900, output_tokens: 0 };
        assert_eq!(price.cost_micro_usd(absurd), 1);
    }
}
