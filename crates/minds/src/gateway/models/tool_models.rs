//! Whether the models of agents can call functions: known of vendors at their own addresses, and unknown elsewhere.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;

use crate::agent::Profiles;
use crate::gateway::acp;
use crate::gateway::providers::address::ServerOwner;
use crate::gateway::requests::request_queue::RequestQueue;
use crate::gateway::settings::GatewaySettings;
use crate::mind::spoken::OFFLINE;
use crate::mind::{ToolModel, ToolModels, ToolSupport};

impl RequestQueue {
    /// Returns the model for an agent whose file has this model name, or none, as far as calls of functions are
    /// concerned.
    pub fn tool_model(&self, settings: &GatewaySettings, wanted: Option<&str>) -> ToolModel {
        let Ok(choice) = self.choose(settings, wanted) else { return ToolModel::default() };
        let support = match choice.provider.as_str() {
            OFFLINE | acp::PROVIDER => ToolSupport::Never,
            _ if choice.is_simulated() => ToolSupport::Scripted,
            provider => match settings.server_owner(provider, &self.sites) {
                ServerOwner::Vendor => ToolSupport::Known,
                ServerOwner::Local | ServerOwner::Elsewhere => ToolSupport::Unknown,
            },
        };
        ToolModel { name: format!("{}:{}", choice.provider, choice.model), support }
    }
}

/// Tells the mind about the models of all profiles.
pub(in crate::gateway) fn note_tool_models(
    requests: Res<RequestQueue>,
    settings: Res<GatewaySettings>,
    profiles: Res<Profiles>,
    mut models: ResMut<ToolModels>,
) {
    if !(requests.is_changed() || settings.is_changed() || profiles.is_changed()) {
        return;
    }
    let named = profiles.iter().filter_map(|(_, profile)| profile.model.as_deref());
    let wanted = named.map(Some).chain([None]);
    let known: BTreeMap<String, ToolModel> =
        wanted.map(|wanted| (wanted.unwrap_or_default().to_owned(), requests.tool_model(&settings, wanted))).collect();
    models.set_if_neq(ToolModels::new(known));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vendors_at_their_own_addresses_can_call_functions_and_others_may_not() {
        let settings = |provider: &str, base_urls: &[(&str, &str)]| GatewaySettings {
            provider: provider.to_owned(),
            base_urls: base_urls.iter().map(|(name, url)| ((*name).to_owned(), (*url).to_owned())).collect(),
            ..GatewaySettings::default()
        };
        let table = [
            ("openai", &[][..], "openai:gpt-4o-mini", ToolSupport::Known),
            ("anthropic:claude-x", &[], "anthropic:claude-x", ToolSupport::Known),
            ("gemini:g-x", &[], "gemini:g-x", ToolSupport::Known),
            ("openai:q", &[("openai", "https://api.openai.com/v1/")], "openai:q", ToolSupport::Known),
            ("openai:q", &[("openai", "http://127.0.0.1:8080/v1")], "openai:q", ToolSupport::Unknown),
            ("openai:q", &[("openai", "https://router.example/v1")], "openai:q", ToolSupport::Unknown),
            ("ollama:llama3.2", &[], "ollama:llama3.2", ToolSupport::Unknown),
            ("scripted:demo.yaml", &[], "scripted:demo.yaml", ToolSupport::Scripted),
            ("offline", &[], "offline:offline", ToolSupport::Never),
            ("acp:claude", &[], "acp:claude", ToolSupport::Never),
            ("nobody", &[], "", ToolSupport::Never),
        ];
        for (provider, base_urls, name, support) in table {
            let model = RequestQueue::default().tool_model(&settings(provider, base_urls), None);
            assert_eq!(model, ToolModel { name: name.to_owned(), support }, "{provider} {base_urls:?}");
        }
        let of_person = RequestQueue {
            sites: BTreeMap::from([("openai".to_owned(), ServerOwner::Local)]),
            ..RequestQueue::default()
        };
        assert_eq!(of_person.tool_model(&settings("openai", &[]), None).support, ToolSupport::Unknown);
        let replaced = RequestQueue { provider_override: Some("offline".into()), ..RequestQueue::default() };
        assert_eq!(replaced.tool_model(&settings("openai", &[]), Some("openai:x")).support, ToolSupport::Never);
    }
}
