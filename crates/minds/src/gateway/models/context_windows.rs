//! The context size of a model in tokens: from the person's settings, otherwise from the embedded list.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::gateway::limits::prices::is_version;
use crate::gateway::settings::{Choice, GatewaySettings};
use crate::text::yaml;

/// The embedded list.
#[derive(Deserialize)]
struct WindowList {
    #[serde(rename = "dated")]
    _dated: String,
    #[serde(rename = "source")]
    _source: String,
    #[serde(flatten)]
    providers: BTreeMap<String, BTreeMap<String, u32>>,
}

static WINDOWS: LazyLock<WindowList> = LazyLock::new(|| {
    yaml::from_str(include_str!("../../../../../assets/windows.yaml")).expect("the embedded list is tested")
});

impl GatewaySettings {
    /// Returns the number of input and output tokens of the model for this name, if it is known.
    pub fn window_tokens(&self, provider_override: Option<&str>, wanted: Option<&str>) -> Option<u32> {
        let choice = self.choose(provider_override, wanted).ok()?;
        let Choice { provider, model } = &choice;
        let names = [format!("{provider}:{model}"), format!("{provider}:*"), provider.clone()];
        let own = names.iter().find_map(|name| self.context_tokens.get(name)).copied();
        own.or_else(|| listed(provider, model)).filter(|tokens| *tokens > 0)
    }
}

fn listed(provider: &str, model: &str) -> Option<u32> {
    let models = WINDOWS.providers.get(provider)?;
    let versions = models.iter().filter(|(name, _)| model.strip_prefix(name.as_str()).is_some_and(is_version));
    versions.max_by_key(|(name, _)| name.len()).map(|(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_comes_from_the_settings_or_the_list_or_is_unknown() {
        let context_tokens = BTreeMap::from([("openai:qwen3-8b".into(), 32_768), ("ollama:*".into(), 8_192)]);
        let settings = GatewaySettings { provider: "openai".into(), context_tokens, ..GatewaySettings::default() };
        let table = [
            (None, Some("gpt-4o-2024-08-06"), Some(128_000)),
            (None, Some("qwen3-8b"), Some(32_768)),
            (None, Some("surprise"), None),
            (None, Some("ollama:llama3:8b"), Some(8_192)),
            (Some("anthropic:claude-sonnet-4-5"), Some("gpt-4o"), Some(200_000)),
            (Some("anthropic:claude-next"), None, None),
            (Some("offline"), Some("gpt-4o"), None),
            (Some("nobody"), None, None),
        ];
        for (provider_override, wanted, tokens) in table {
            assert_eq!(settings.window_tokens(provider_override, wanted), tokens, "{provider_override:?} {wanted:?}");
        }
    }

    #[test]
    fn every_listed_window_is_plausible() {
        assert!(
            WINDOWS.providers.values().flat_map(BTreeMap::values).all(|tokens| (1_000..10_000_000).contains(tokens))
        );
        assert!(WINDOWS.providers.values().map(BTreeMap::len).sum::<usize>() >= 12);
    }
}
