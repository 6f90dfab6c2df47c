//! Whether a model accepts images: by the person's settings, otherwise by the embedded list. A model that is not known
//! to accept images is not sent any.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::gateway::limits::prices::is_version;
use crate::gateway::settings::{Choice, GatewaySettings};
use crate::text::yaml;

/// The embedded list.
#[derive(Deserialize)]
struct ImageList {
    #[serde(rename = "dated")]
    _dated: String,
    #[serde(rename = "source")]
    _source: String,
    #[serde(flatten)]
    providers: BTreeMap<String, Vec<String>>,
}

static TAKERS: LazyLock<ImageList> = LazyLock::new(|| {
    yaml::from_str(include_str!("../../../../../assets/images.yaml")).expect("the embedded list is tested")
});

impl GatewaySettings {
    /// Whether the model for this name accepts images.
    pub fn takes_images(&self, provider_override: Option<&str>, wanted: Option<&str>) -> bool {
        let Ok(choice) = self.choose(provider_override, wanted) else { return false };
        let Choice { provider, model } = &choice;
        let names = [format!("{provider}:{model}"), format!("{provider}:*"), provider.clone()];
        let own = names.iter().find_map(|name| self.images.get(name)).copied();
        own.unwrap_or_else(|| is_listed(provider, model))
    }
}

fn is_listed(provider: &str, model: &str) -> bool {
    let is_one = |name: &String| model.strip_prefix(name.as_str()).is_some_and(is_version);
    TAKERS.providers.get(provider).is_some_and(|models| models.iter().any(is_one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_support_comes_from_the_list_or_the_settings() {
        let images = BTreeMap::from([
            ("ollama:llava:7b".to_owned(), true),
            ("openai:gpt-4o".to_owned(), false),
            ("scripted".to_owned(), true),
        ]);
        let settings = GatewaySettings { provider: "openai".into(), images, ..GatewaySettings::default() };
        let table = [
            (None, Some("gpt-4o"), false),
            (None, Some("gpt-4o-mini-2024-07-18"), true),
            (None, Some("gpt-4"), false),
            (None, Some("o3-mini"), false),
            (None, Some("surprise"), false),
            (None, Some("ollama:llava:7b"), true),
            (None, Some("ollama:llama3:8b"), false),
            (Some("anthropic:claude-sonnet-4-5"), Some("surprise"), true),
            (Some("offline"), Some("gpt-5"), false),
            (Some("scripted:replies.yaml"), None, true),
            (Some("nobody"), None, false),
        ];
        for (provider_override, wanted, takes) in table {
            assert_eq!(settings.takes_images(provider_override, wanted), takes, "{provider_override:?} {wanted:?}");
        }
        assert!(TAKERS.providers.values().map(Vec::len).sum::<usize>() >= 12);
    }
}
