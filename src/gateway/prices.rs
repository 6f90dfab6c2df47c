//! What tokens cost, from the embedded list; in millionths of a dollar, rounded up, so that sums are exact.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::mind::Usage;

/// US dollars per million tokens, which is millionths of a dollar per token.
#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
pub struct Price {
    /// Of the prompt.
    pub input: f64,
    /// Of that part of the prompt that the provider had in its cache.
    pub cached: f64,
    /// Of the reply.
    pub output: f64,
}

const FREE: Price = Price { input: 0.0, cached: 0.0, output: 0.0 };
/// For a provider that has no list at all: dearer than any on the lists.
const UNKNOWN: Price = Price { input: 15.0, cached: 15.0, output: 75.0 };
/// Providers that cost nothing: they run here.
const FREE_PROVIDERS: [&str; 3] = ["offline", "scripted", "ollama"];

/// The embedded list.
#[derive(Deserialize)]
struct PriceList {
    #[serde(rename = "dated")]
    _dated: String,
    #[serde(flatten)]
    providers: BTreeMap<String, BTreeMap<String, Price>>,
}

static PRICES: LazyLock<PriceList> = LazyLock::new(|| {
    serde_yaml::from_str(include_str!("../../assets/prices.yaml")).expect("the embedded price list is tested")
});

/// What a model costs. Unknown models cost what the dearest known of their provider costs, never nothing.
pub fn price(provider: &str, model: &str) -> Price {
    if FREE_PROVIDERS.contains(&provider) {
        return FREE;
    }
    let Some(models) = PRICES.providers.get(provider) else { return UNKNOWN };
    let by_longest_prefix = models.iter().filter(|(name, _)| model.starts_with(name.as_str()));
    match by_longest_prefix.max_by_key(|(name, _)| name.len()) {
        Some((_, price)) => *price,
        None => models.values().fold(FREE, |dearest, price| Price {
            input: dearest.input.max(price.input),
            cached: dearest.cached.max(price.cached),
            output: dearest.output.max(price.output),
        }),
    }
}

impl Price {
    /// What this use costs, in millionths of a dollar, rounded up.
    pub fn cost_micro_usd(&self, usage: Usage) -> u64 {
        let cached = usage.cached_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        let cost = f64::from(fresh) * self.input
            + f64::from(cached) * self.cached
            + f64::from(usage.output_tokens) * self.output;
        cost.ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_price_is_a_sane_number() {
        assert!(PRICES.providers.values().map(BTreeMap::len).sum::<usize>() >= 12);
        for price in PRICES.providers.values().flat_map(BTreeMap::values) {
            for number in [price.input, price.cached, price.output] {
                assert!(number.is_finite() && number > 0.0 && number < 1000.0);
            }
            assert!(price.cached <= price.input);
        }
    }

    #[test]
    fn unknown_models_are_dear_and_local_ones_free() {
        assert_eq!(price("openai", "gpt-4o-mini-2024-07-18").input, 0.15);
        assert_eq!(price("openai", "surprise").output, 60.0);
        assert_eq!(price("nobody", "surprise"), UNKNOWN);
        assert_eq!(price("offline", "anything"), FREE);
    }

    #[test]
    fn cached_tokens_are_part_of_the_input() {
        let usage = Usage { input_tokens: 1000, cached_tokens: 400, output_tokens: 10 };
        let price = Price { input: 2.0, cached: 0.5, output: 10.0 };
        assert_eq!(price.cost_micro_usd(usage), 1200 + 200 + 100);
        let absurd = Usage { input_tokens: 1, cached_tokens: 900, output_tokens: 0 };
        assert_eq!(price.cost_micro_usd(absurd), 1);
    }
}
