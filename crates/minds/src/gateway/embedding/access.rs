//! Which embedding model is called, at which address, on what terms and at what price.

use std::time::Duration;

use crate::base::Problem;
use crate::gateway::keys::Environment;
use crate::gateway::limits::prices::{PriceSettings, Rate, rate};
use crate::gateway::providers::address::{Address, ServerOwner};
use crate::gateway::settings::{Choice, GatewaySettings, Terms, parse_spec, sites_of_person};
use crate::gateway::vendors::vendor;
use crate::gateway::vendors::vendor::WireFormat;
use crate::knowledge::ModelId;

/// The setting for the model, for problems.
const PLACE: &str = "settings.yaml: knowledge.embedder";
/// The time limit of a request, after which the recall continues without it.
const MAX_ANSWER: Duration = Duration::from_secs(20);

/// Everything that is needed to call an embedding model.
#[derive(Clone, PartialEq)]
pub struct EmbeddingAccess {
    pub(super) choice: Choice,
    pub(super) terms: Terms,
    pub(super) environment: Environment,
    pub(super) rate: Rate,
    pub(super) site: ServerOwner,
    pub(super) model: ModelId,
}

impl EmbeddingAccess {
    /// Returns the access to a model as the settings name it: `openai:text-embedding-3-small`,
    /// `gemini:gemini-embedding-001`, `ollama:all-minilm`.
    pub fn of(
        spec: &str,
        settings: &GatewaySettings,
        prices: &PriceSettings,
        environment: Environment,
    ) -> Result<Self, Problem> {
        let remedy = "write PROVIDER:MODEL, such as ollama:all-minilm, or built-in";
        let wrong = |what: String| Problem::error(PLACE, what, remedy);
        let (provider, model) = parse_spec(spec).map_err(|problem| wrong(problem.what))?;
        let model = model.ok_or_else(|| wrong(format!("{provider} has several models, but none is given")))?;
        let known = vendor(&provider).filter(|vendor| vendor.wire != WireFormat::Anthropic);
        let known = known.ok_or_else(|| wrong(format!("{provider} has no embedding models")))?;
        let choice = Choice { provider, model };
        let terms = Terms { total: settings.total_timeout().min(MAX_ANSWER), ..settings.terms(&choice.provider) };
        let site = settings.server_owner(&choice.provider, &sites_of_person(&environment));
        let rate = rate(&choice, site, prices);
        // Another server with the vendor's protocol may have a different model of the same name.
        let address = Address::of(known, terms.address.as_deref(), &environment);
        let name = format!("{}:{}", choice.provider, choice.model);
        let model = if ServerOwner::of(known, &address.url) == ServerOwner::Vendor {
            ModelId(name.into())
        } else {
            ModelId(format!("{name} at {}", address.shown()).into())
        };
        Ok(Self { choice, terms, environment, rate, site, model })
    }

    /// Returns the id of the model, which includes the address if that is not the vendor's own.
    pub fn model(&self) -> &ModelId {
        &self.model
    }

    /// Returns the provider and the model.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Whether the model is on this computer or its network.
    pub fn is_local(&self) -> bool {
        self.site == ServerOwner::Local
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(spec: &str) -> Result<EmbeddingAccess, Problem> {
        EmbeddingAccess::of(spec, &GatewaySettings::default(), &PriceSettings::default(), Environment::default())
    }

    #[test]
    fn only_vendors_with_embedding_models_are_accepted() {
        for (spec, model) in [
            ("openai:text-embedding-3-small", "openai:text-embedding-3-small"),
            ("ollama:all-minilm", "ollama:all-minilm at http://localhost:11434/"),
            ("gemini:gemini-embedding-001", "gemini:gemini-embedding-001"),
        ] {
            assert_eq!(&*access(spec).unwrap_or_else(|problem| panic!("{problem}")).model().0, model);
        }
        for spec in ["anthropic:claude", "openai", "offline", "nobody:x", "acp:claude", ""] {
            let problem = access(spec).err().unwrap_or_else(|| panic!("{spec} cannot be asked"));
            assert!(problem.remedy.contains("built-in"), "{spec}: {problem}");
        }
    }

    #[test]
    fn the_same_name_at_another_address_is_another_model() {
        let mut settings = GatewaySettings::default();
        settings.base_urls.insert("openai".to_owned(), "http://127.0.0.1:9/v1".to_owned());
        let of = |settings: &GatewaySettings| {
            EmbeddingAccess::of("openai:m", settings, &PriceSettings::default(), Environment::default())
        };
        let (here, there) = (of(&settings), of(&GatewaySettings::default()));
        assert_ne!(here.map(|one| one.model), there.map(|one| one.model));
    }
}
