//! The section `gateway` of `settings.yaml`: provider, addresses, concurrency and timeouts.

use std::collections::BTreeMap;
use std::time::Duration;

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::acp::{self, AcpTerms};
use super::keys::Environment;
use super::vendors::{VENDORS, vendor};
use crate::base::{Problem, text};
use crate::gateway::providers::address::{Address, AddressSource, Permission, ServerOwner};
use crate::gateway::providers::genai_client::Timeouts;
use crate::gateway::providers::retry::RetryPolicy;
use crate::gateway::web::origin::Origin;
use crate::workspace::{Range, SettingsSection};

/// The providers that compute their answers locally, in simulated time.
pub const SIMULATED: [&str; 2] = ["offline", "scripted"];

/// How models are called.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct GatewaySettings {
    /// The provider, unless an agent or the command line sets another.
    pub provider: String,
    /// The model; defaults to the provider's own default.
    pub model: Option<String>,
    /// What model names in agents' files stand for: `{ sonnet: "openai:gpt-5" }`. If not listed, `sonnet`, `opus` and
    /// `haiku` stand for Anthropic models.
    pub models: BTreeMap<String, String>,
    /// The addresses of vendors, by name, unless `*_BASE_URL` is set; defaults to the vendor's own. An address outside
    /// this computer must be allowed by the person.
    pub base_urls: BTreeMap<String, String>,
    /// The context size of a model in tokens, by `provider:model`, or `provider:*` for all models of a provider;
    /// defaults to the built-in list.
    pub context_tokens: BTreeMap<String, u32>,
    /// Whether a model takes images, by `provider:model`, or `provider:*` for all models of a provider; defaults to the
    /// built-in list. Others are not sent any.
    pub images: BTreeMap<String, bool>,
    /// Concurrent requests per provider.
    pub max_concurrent: u32,
    /// Seconds within which a connection must be made.
    pub connect_timeout_secs: f64,
    /// Seconds within which the next byte must arrive.
    pub stall_timeout_secs: f64,
    /// Seconds within which an answer must be complete, including all retries and waits.
    pub total_timeout_secs: f64,
    /// Total attempts for temporary failures: 408, 429, 5xx, silence, no connection.
    pub attempts: u32,
    /// Seconds to wait after the first failure; doubles after each.
    pub retry_first_delay_secs: f64,
    /// Seconds of the longest single wait; a server that asks for more is not retried.
    pub retry_longest_delay_secs: f64,
    /// Seconds of all waits in total.
    pub retry_total_delay_secs: f64,
}

impl Default for GatewaySettings {
    fn default() -> Self {
        Self {
            provider: "offline".into(),
            model: None,
            models: BTreeMap::new(),
            base_urls: BTreeMap::new(),
            context_tokens: BTreeMap::new(),
            images: BTreeMap::new(),
            max_concurrent: 4,
            connect_timeout_secs: 10.0,
            stall_timeout_secs: 60.0,
            total_timeout_secs: 120.0,
            attempts: 4,
            retry_first_delay_secs: 1.0,
            retry_longest_delay_secs: 30.0,
            retry_total_delay_secs: 60.0,
        }
    }
}

impl SettingsSection for GatewaySettings {
    const NAME: &'static str = "gateway";
    const RANGES: &'static [Range] = &[Range::of("max_concurrent", 1.0, 1_000.0), Range::of("attempts", 1.0, 10.0)];
}

/// The provider addresses that the person set, by whose server they are. Known to the world because prices depend on
/// it.
pub type ServerOwners = BTreeMap<String, ServerOwner>;

/// Returns the owners of the servers that the person set.
pub fn sites_of_person(environment: &Environment) -> ServerOwners {
    let named = VENDORS.into_iter().filter_map(|vendor| {
        let url = environment.address_of_person(vendor)?;
        Some((vendor.name.to_owned(), ServerOwner::of(vendor, &vendor.complete_url(url))))
    });
    named.collect()
}

/// The chosen provider and model.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Choice {
    /// The name of the provider.
    pub provider: String,
    /// The provider's name of the model; for `scripted`, the path of the script.
    pub model: String,
}

impl Choice {
    /// Whether the answers are computed locally, in simulated time.
    pub fn is_simulated(&self) -> bool {
        SIMULATED.contains(&self.provider.as_str())
    }
}

/// How a request is to be handled.
#[derive(Clone, PartialEq, Debug)]
pub struct Terms {
    /// The vendor's address in the workspace's settings, if any. The person may have set another one.
    pub address: Option<String>,
    /// The timeouts of one attempt.
    pub patience: Timeouts,
    /// The time limit of the whole request.
    pub total: Duration,
    /// The retry policy.
    pub retry: RetryPolicy,
    /// The terms of a coding agent, if the request is for one.
    pub acp: Option<Box<AcpTerms>>,
}

impl Terms {
    /// Returns the terms for a coding agent, which has its own time limits.
    #[must_use]
    pub fn of_agent(self, acp: AcpTerms) -> Self {
        Self { total: acp.start * 2 + acp.turn, acp: Some(Box::new(acp)), ..self }
    }
}

/// Returns the duration if it is a valid number of seconds, otherwise the default.
fn sane(secs: f64, default: f64) -> Duration {
    let secs = if (0.0..=86_400.0).contains(&secs) { secs } else { default };
    Duration::from_secs_f64(secs)
}

impl GatewaySettings {
    /// Chooses the provider and model for a request: the command line's choice takes precedence over the agent's, and
    /// that over the workspace's. A model name without a provider is a model of the chosen provider.
    pub fn choose(&self, provider_override: Option<&str>, wanted: Option<&str>) -> Result<Choice, Problem> {
        let (wanted_provider, wanted_model) = wanted.map_or((None, None), split);
        let (provider, model) = match provider_override.map(split) {
            Some((provider, model)) => {
                let provider = provider.map(str::to_owned).or(model.map(str::to_owned)).unwrap_or_default();
                // The agent's model belongs to the provider that it names, not to the override.
                let model = provider_override.and_then(|name| split(name).0.and(model));
                let own = wanted_model.filter(|_| wanted_provider == Some(provider.as_str()));
                (provider, model.or(own))
            }
            None => match wanted_provider {
                Some(provider) => (provider.to_owned(), wanted_model),
                None => (self.provider.clone(), wanted_model),
            },
        };
        // `provider: "openai:gpt-x"` in the settings is accepted as well.
        let (provider, default_model) = match split(&provider) {
            (Some(name), model) => (name.to_owned(), model.map(str::to_owned)),
            _ => (provider, None),
        };
        if SIMULATED.contains(&provider.as_str()) {
            // A simulated provider has no models, but may have a script.
            let named = provider_override.is_some() || wanted_provider.is_some();
            let model = if named { model.map(str::to_owned) } else { None };
            let model = model.or(default_model).or_else(|| self.model.clone().filter(|_| provider == self.provider));
            return Ok(Choice { model: model.unwrap_or_else(|| provider.clone()), provider });
        }
        if provider == acp::PROVIDER {
            let model = model.map(str::to_owned).or(default_model);
            let model = model.or_else(|| self.model.clone().filter(|_| self.provider == acp::PROVIDER));
            return match model {
                Some(model) => Ok(Choice { provider, model }),
                None => Err(unnamed_agent()),
            };
        }
        let Some(vendor) = vendor(&provider) else { return Err(unknown_provider(&provider)) };
        let workspace_model = self.model.as_deref().filter(|_| provider == self.provider);
        let model = model.or(default_model.as_deref()).or(workspace_model).unwrap_or(vendor.model).to_owned();
        Ok(Choice { provider, model })
    }

    /// Returns the provider for agents that name none, whether or not it exists.
    pub fn provider_meant<'a>(&'a self, provider_override: Option<&'a str>) -> &'a str {
        let named = provider_override.unwrap_or(&self.provider);
        named.split(':').next().unwrap_or(named)
    }

    /// Returns the address of a vendor; `None` for other providers.
    pub fn address(&self, provider: &str, environment: &Environment) -> Option<Address> {
        Some(Address::of(vendor(provider)?, self.base_urls.get(provider).map(String::as_str), environment))
    }

    /// Returns the owner of a provider's server: of the address that the person set, otherwise of that in these
    /// settings.
    pub fn server_owner(&self, provider: &str, of_person: &ServerOwners) -> ServerOwner {
        // A coding agent calls its own model, and reports the cost, or it is unknown.
        if provider == acp::PROVIDER {
            return ServerOwner::Elsewhere;
        }
        let Some(vendor) = vendor(provider) else { return ServerOwner::Local };
        let of_workspace = || self.base_urls.get(provider).map(|url| url.trim()).filter(|url| !url.is_empty());
        let named = || ServerOwner::of(vendor, of_workspace().unwrap_or(vendor.base_url));
        of_person.get(provider).copied().unwrap_or_else(named)
    }

    /// Returns the terms for a provider.
    pub fn terms(&self, provider: &str) -> Terms {
        Terms {
            address: self.base_urls.get(provider).cloned(),
            patience: self.timeouts(),
            total: self.total_timeout(),
            retry: self.retry_policy(),
            acp: None,
        }
    }

    /// Returns the timeouts of one attempt.
    pub fn timeouts(&self) -> Timeouts {
        let default = Self::default();
        Timeouts {
            connect: sane(self.connect_timeout_secs, default.connect_timeout_secs),
            stall: sane(self.stall_timeout_secs, default.stall_timeout_secs),
        }
    }

    /// Returns the time limit of a whole request.
    pub fn total_timeout(&self) -> Duration {
        sane(self.total_timeout_secs, Self::default().total_timeout_secs)
    }

    /// Returns the retry policy.
    pub fn retry_policy(&self) -> RetryPolicy {
        let default = Self::default();
        RetryPolicy {
            attempts: self.attempts.clamp(1, 10),
            first_delay_secs: sane(self.retry_first_delay_secs, default.retry_first_delay_secs).as_secs_f64(),
            longest_delay_secs: sane(self.retry_longest_delay_secs, default.retry_longest_delay_secs).as_secs_f64(),
            total_delay_secs: sane(self.retry_total_delay_secs, default.retry_total_delay_secs).as_secs_f64(),
        }
    }
}

/// Splits `provider:model`, `provider` or `model` into the provider and the model, if they are named. A colon in a
/// model's own name (`llama3:8b`) is part of it.
pub(super) fn split(name: &str) -> (Option<&str>, Option<&str>) {
    let is_provider = |word: &str| SIMULATED.contains(&word) || word == acp::PROVIDER || vendor(word).is_some();
    let filled = |model: &'_ str| !model.trim().is_empty();
    match name.split_once(':') {
        Some((provider, model)) if is_provider(provider) => (Some(provider), Some(model).filter(|model| filled(model))),
        _ if is_provider(name) => (Some(name), None),
        _ => (None, Some(name).filter(|model| filled(model))),
    }
}

/// Parses the provider and model in a person's choice: `openai:gpt-x`, `offline` or `scripted:FILE`.
pub fn parse_spec(spec: &str) -> Result<(String, Option<String>), Problem> {
    match split(spec.trim()) {
        (Some(provider), model) => Ok((provider.to_owned(), model.map(str::to_owned))),
        (None, _) => Err(unknown_provider(spec.split(':').next().unwrap_or(spec))),
    }
}

fn unnamed_agent() -> Problem {
    let what = "acp needs the name of a coding agent";
    Problem::error("gateway.provider", what, "write acp:NAME, such as acp:claude, or acp:COMMAND LINE")
}

fn unknown_provider(name: &str) -> Problem {
    let known = || SIMULATED.into_iter().chain([acp::PROVIDER]).chain(VENDORS.into_iter().map(|vendor| vendor.name));
    let remedy = match text::nearest(name, known()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("use one of {}", known().collect::<Vec<_>>().join(", ")),
    };
    Problem::error("gateway.provider", format!("there is no provider {name:?}"), remedy)
}

/// Whether a provider can be called, for `workshop doctor`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProviderStatus {
    /// The name of the provider.
    pub name: String,
    /// Whether everything that it needs is configured. Nothing is sent to find out.
    pub ready: bool,
    /// The details.
    pub detail: String,
    /// What to do; empty if it is ready.
    pub remedy: String,
}

/// Returns the status of every provider. Sends nothing.
pub fn provider_status(settings: &GatewaySettings, environment: &Environment) -> Vec<ProviderStatus> {
    let (keys, _) = super::keys::Keys::load(environment);
    let ready = |name: &str, detail: String| ProviderStatus {
        name: name.to_owned(),
        ready: true,
        detail,
        remedy: String::new(),
    };
    let mut list = vec![
        ready("offline", "built in; needs no network and no key".into()),
        ready("scripted", "built in; plays a script: scripted:FILE".into()),
    ];
    for vendor in VENDORS {
        let address = Address::of(vendor, settings.base_urls.get(vendor.name).map(String::as_str), environment);
        let permission = address.permission(vendor, environment);
        let url = keys.redact(&address.shown());
        let key_name = vendor.key_name.unwrap_or_default();
        let has_key = keys.get(key_name).is_some();
        if permission == Permission::Refused {
            list.push(ProviderStatus {
                name: vendor.name.to_owned(),
                ready: false,
                detail: format!("not called: this workspace sets its address to {url}, and you have not allowed it"),
                remedy: how_to_allow(&url, environment),
            });
        } else if has_key && permission == Permission::WithKey {
            list.push(ready(vendor.name, format!("{key_name} is set; uses {url}")));
        } else if has_key {
            list.push(ready(vendor.name, format!("uses {url} without {key_name}, because {}", why_no_key(&address))));
        } else if !vendor.needs_key(&url) {
            list.push(ready(
                vendor.name,
                format!("no key needed at {url}; did not check whether a server is running there"),
            ));
        } else {
            let file = environment.key_file().map_or_else(|| "keys.env".into(), |path| path.display().to_string());
            list.push(ProviderStatus {
                name: vendor.name.to_owned(),
                ready: false,
                detail: format!("no key; would use {url}"),
                remedy: format!("set {key_name} in the environment or in {file}"),
            });
        }
    }
    list
}

/// Returns why an existing key is not sent.
pub(super) fn why_no_key(address: &Address) -> &'static str {
    match address.by {
        AddressSource::Workspace => "only this workspace sets this address",
        AddressSource::Person | AddressSource::Vendor => "this address is not encrypted",
    }
}

/// Describes how a person can allow an address that only the workspace sets.
pub(super) fn how_to_allow(url: &str, environment: &Environment) -> String {
    let origin = Origin::of(url).map_or_else(|| url.to_owned(), |origin| origin.to_string());
    match environment.workspace() {
        Some(folder) => format!(
            "if you trust it with this workspace, run: workshop allow-address {origin} {}; otherwise remove \
                gateway.base_urls from the settings",
            folder.display()
        ),
        None => format!("if you trust it, run: workshop allow-address {origin} WORKSPACE"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_precedes_the_agent_and_the_agent_the_workspace() {
        let offline = GatewaySettings::default();
        let gemini = GatewaySettings { provider: "gemini".into(), model: Some("g-x".into()), ..offline.clone() };
        let table = [
            (&offline, None, None, "offline/offline"),
            (&offline, None, Some("gpt-4o"), "offline/offline"),
            (&offline, None, Some("openai:gpt-4o"), "openai/gpt-4o"),
            (&offline, None, Some("openai"), "openai/gpt-4o-mini"),
            (&offline, None, Some("ollama:llama3:8b"), "ollama/llama3:8b"),
            (&gemini, None, None, "gemini/g-x"),
            (&gemini, None, Some("llama3:8b"), "gemini/llama3:8b"),
            (&gemini, Some("offline"), Some("openai:gpt-4o"), "offline/offline"),
            (&gemini, Some("scripted:demo.yaml"), Some("gpt-4o"), "scripted/demo.yaml"),
            (&offline, Some("openai"), Some("openai:gpt-5"), "openai/gpt-5"),
            (&offline, Some("openai:gpt-4.1"), Some("openai:gpt-5"), "openai/gpt-4.1"),
            (&offline, Some("gemini"), Some("gpt-5"), "gemini/gemini-2.5-flash"),
        ];
        for (settings, provider_override, wanted, choice) in table {
            let got = settings.choose(provider_override, wanted).unwrap();
            assert_eq!(format!("{}/{}", got.provider, got.model), choice, "{provider_override:?} {wanted:?}");
        }
        assert!(offline.choose(Some("gemni"), None).unwrap_err().remedy.contains("gemini"));
    }

    #[test]
    fn invalid_times_fall_back_to_defaults() {
        let settings = GatewaySettings { total_timeout_secs: f64::NAN, stall_timeout_secs: -5.0, ..Default::default() };
        assert_eq!(settings.total_timeout(), Duration::from_secs(120));
        assert_eq!(settings.timeouts().stall, Duration::from_secs(60));
    }

    #[test]
    fn an_address_set_only_by_the_workspace_must_be_allowed_first() {
        let environment = Environment::new([("OPENAI_API_KEY", "very-private-value".into())], None);
        let environment = environment.in_workspace(std::path::Path::new("/home/ada/room"));
        let at = |url: &str| {
            let base_urls = BTreeMap::from([("openai".to_owned(), url.to_owned())]);
            let settings = GatewaySettings { base_urls, ..GatewaySettings::default() };
            let status = provider_status(&settings, &environment).into_iter().find(|status| status.name == "openai");
            status.expect("it is a vendor")
        };
        let refused = at("https://user:pass@models.example/v1");
        assert!(!refused.ready && refused.detail.contains("its address to https://models.example/v1"), "{refused:?}");
        let command = "workshop allow-address https://models.example /home/ada/room";
        assert!(refused.remedy.contains(command), "{}", refused.remedy);
        let near = at("http://127.0.0.1:8080/v1");
        assert!(near.ready && near.detail.contains("without OPENAI_API_KEY"), "{near:?}");
        assert!(!format!("{refused:?}").contains("pass@"));
    }

    #[test]
    fn the_doctor_finds_keys_and_never_shows_them() {
        let environment = Environment::new([("GEMINI_API_KEY", "very-private-value".into())], None);
        let list = provider_status(&GatewaySettings::default(), &environment);
        let ready: Vec<_> = list.iter().filter(|status| status.ready).map(|status| status.name.as_str()).collect();
        assert_eq!(ready, ["offline", "scripted", "gemini", "ollama"]);
        assert!(!format!("{list:?}").contains("very-private"));
        assert!(list.iter().all(|status| status.ready || status.remedy.contains("_API_KEY")));
    }
}
