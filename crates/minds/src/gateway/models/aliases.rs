//! Model names in agents' files that are mapped to others: `sonnet` is resolved by `gateway.models`, and `inherit` is
//! the workspace's own model. Pure, except for the one notice to the person.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::message::{MessageReader, MessageWriter};
use bevy::ecs::prelude::*;

use crate::agent::markdown::leaves_model_open;
use crate::agent::{ProfileChanged, Profiles};
use crate::base::Problem;
use crate::gateway::acp;
use crate::gateway::limits::prices::{PriceSettings, Rate, rate};
use crate::gateway::providers::address::ServerOwner;
use crate::gateway::requests::dispatch::AddressesConfigured;
use crate::gateway::requests::request_queue::RequestQueue;
use crate::gateway::settings::{Choice, GatewaySettings, SIMULATED, split};
use crate::gateway::vendors::vendor;
use crate::workspace::trust::Widening;
use crate::workspace::{ProblemReport, WorkspaceTrust};

/// The default meanings of names that occur in many agents' files. They apply unless the settings define the names, and
/// only if vendors' models are used: in a workspace that uses none, a name in a file never causes a request.
pub const USUAL_NAMES: [(&str, &str); 3] = [
    ("haiku", "anthropic:claude-haiku-4-5"),
    ("opus", "anthropic:claude-opus-4-5"),
    ("sonnet", "anthropic:claude-sonnet-4-5"),
];

/// The maximum number of names, agents or models that a notice lists.
const MAX_NAMED: usize = 5;

/// The meaning of a model name in an agent's file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResolvedModel<'a> {
    /// This model; `None` for the workspace's own.
    Model(Option<&'a str>),
    /// A model of this vendor, which has no key, so the workspace's own model is used.
    NoKey(&'a str),
}

impl GatewaySettings {
    /// Resolves the model name in an agent's file. `may_ask` says whether a vendor can be called.
    pub fn resolve<'a>(&'a self, wanted: Option<&'a str>, may_ask: impl Fn(&str) -> bool) -> ResolvedModel<'a> {
        let Some(name) = wanted.map(str::trim).filter(|name| !leaves_model_open(name)) else {
            return ResolvedModel::Model(None);
        };
        let own = self.models.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, model)| &**model);
        let workspace = split(&self.provider).0.unwrap_or(&self.provider);
        let usual = || {
            let usual = USUAL_NAMES.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            usual.filter(|_| !SIMULATED.contains(&workspace)).map(|(_, model)| model)
        };
        let Some(model) = own.or_else(usual) else { return ResolvedModel::Model(Some(name)) };
        match split(model).0 {
            _ if leaves_model_open(model) => ResolvedModel::Model(None),
            Some(provider) if provider != workspace && !SIMULATED.contains(&provider) && !may_ask(provider) => {
                ResolvedModel::NoKey(provider)
            }
            _ => ResolvedModel::Model(Some(model)),
        }
    }

    /// The model that a name in a file stands for if that [does more than to answer](does_more_than_answer) and the name
    /// does not say so: an alias, a model name that the workspace's own provider takes for a coding agent. `None` if the
    /// workspace's own model is meant, which answers for every agent.
    pub fn acting_model(&self, provider_override: Option<&str>, named: &str) -> Option<String> {
        let ResolvedModel::Model(wanted) = self.resolve(Some(named), |_| true) else { return None };
        if wanted == Some(named.trim()) && does_more_than_answer(named) {
            return None;
        }
        let meant = self.choose(provider_override, wanted).ok().filter(|meant| acts(&meant.provider))?;
        let is_own = self.choose(provider_override, None).is_ok_and(|own| own == meant);
        (!is_own).then(|| format!("{}:{}", meant.provider, meant.model))
    }
}

/// The place of the widening of a model, which may be named in several files.
pub const MODELS: &str = "agents and workflows";

/// Whether a model that a file names is not used, because the person has not trusted it: any in a restricted workspace,
/// and in a trusted one those that [do more than to answer](does_more_than_answer).
pub fn is_model_held(trust: &WorkspaceTrust, model: &str) -> bool {
    trust.is_restricted() || (does_more_than_answer(model) && !trust.allows(&model_widening(model)))
}

/// Whether a model is a script of the workspace, or a coding agent, which acts with tools of its own. Other models can
/// only cost what the budget allows, with keys and addresses that the person has allowed.
pub fn does_more_than_answer(model: &str) -> bool {
    let provider = split(model.trim()).0.unwrap_or(model.trim());
    acts(provider)
}

/// Whether the models of a provider do more than to answer.
fn acts(provider: &str) -> bool {
    provider == "scripted" || provider == acp::PROVIDER
}

/// The widening of a file that names a model. It is the same in every file, so that agents can pass on their model.
pub fn model_widening(model: &str) -> Widening {
    let sentence = "calls this model, with your key where it has one";
    Widening::new(MODELS, "model", model.trim(), sentence)
}

impl RequestQueue {
    /// Whether a vendor can be called, as far as keys are concerned.
    fn may_ask(&self, settings: &GatewaySettings, provider: &str) -> bool {
        let needs_key = vendor(provider).is_some_and(|vendor| vendor.key_name.is_some());
        !needs_key
            || self.keyed.contains(provider)
            || settings.server_owner(provider, &self.sites) == ServerOwner::Local
    }

    /// Whether a model that a file names is not used, because the person has not trusted it, or what it stands for.
    fn holds(&self, settings: &GatewaySettings, named: &str) -> bool {
        let meant = || settings.acting_model(self.provider_override(), named);
        is_model_held(&self.trust, named) || meant().is_some_and(|meant| is_model_held(&self.trust, &meant))
    }

    /// Whether this model name means a coding agent.
    pub fn asks_coding_agent(&self, settings: &GatewaySettings, wanted: Option<&str>) -> bool {
        self.choose(settings, wanted).is_ok_and(|choice| choice.provider == acp::PROVIDER)
    }

    /// Returns the provider and model for an agent whose file has this model name, or none.
    pub fn choose(&self, settings: &GatewaySettings, wanted: Option<&str>) -> Result<Choice, Problem> {
        let wanted = wanted.filter(|model| !self.holds(settings, model));
        let wanted = match settings.resolve(wanted, |provider| self.may_ask(settings, provider)) {
            ResolvedModel::Model(model) => model,
            ResolvedModel::NoKey(_) => None,
        };
        settings.choose(self.provider_override(), wanted)
    }
}

/// Reports in one notice which agents use the workspace's model because the vendor of their own model has no key.
pub(in crate::gateway) fn warn_of_missing_key(
    mut changed: MessageReader<ProfileChanged>,
    mut named: MessageReader<AddressesConfigured>,
    profiles: Option<Res<Profiles>>,
    settings: Res<GatewaySettings>,
    questions: Res<RequestQueue>,
    mut reports: MessageWriter<ProblemReport>,
) {
    let news = changed.read().count() + named.read().count();
    if let Some(profiles) = profiles
        && (news > 0 || settings.is_changed())
    {
        let problems = without_key(&profiles, &settings, &questions).into_iter().collect();
        reports.write(ProblemReport { source: "models of agents".to_owned(), problems });
    }
}

fn without_key(profiles: &Profiles, settings: &GatewaySettings, questions: &RequestQueue) -> Option<Problem> {
    if questions.provider_override().is_some() {
        return None;
    }
    let may_ask = |provider: &str| questions.may_ask(settings, provider);
    let (mut names, mut vendors) = (BTreeMap::<&str, usize>::new(), BTreeSet::<&str>::new());
    for (_, profile) in profiles.iter() {
        if let (Some(name), ResolvedModel::NoKey(vendor)) =
            (profile.model.as_deref(), settings.resolve(profile.model.as_deref(), may_ask))
        {
            *names.entry(name).or_default() += 1;
            vendors.insert(vendor);
        }
    }
    let agents: usize = names.values().sum();
    let vendors: Vec<&str> = vendors.into_iter().collect();
    let key = vendor(vendors.first()?)?.key_name?;
    let ask = if agents == 1 { "1 agent asks" } else { &*format!("{agents} agents ask") };
    let what = format!(
        "{ask} for {} of {}, which has no key; the workspace's model is used instead",
        counted(&names),
        vendors.join(" and ")
    );
    let remedy =
        format!("set {key}, or map the name in settings.yaml: gateway: {{ models: {{ NAME: PROVIDER:MODEL }} }}");
    Some(Problem::warning("agents", what, remedy))
}

/// Returns names with their counts, the most frequent first: `opus (3), sonnet (2)`.
fn counted(names: &BTreeMap<&str, usize>) -> String {
    let mut names: Vec<_> = names.iter().collect();
    names.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), **name));
    let more = names.len().saturating_sub(MAX_NAMED);
    let named: Vec<String> = names.iter().take(MAX_NAMED).map(|(name, count)| format!("{name} ({count})")).collect();
    if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") }
}

/// Returns a notice for each model that agents name and no vendor is known to have. For diagnosis only: a vendor may
/// have a model that is newer than the list.
pub fn unknown_models(world: &World) -> Vec<Problem> {
    let (Some(profiles), Some(settings), Some(prices), Some(questions)) = (
        world.get_resource::<Profiles>(),
        world.get_resource::<GatewaySettings>(),
        world.get_resource::<PriceSettings>(),
        world.get_resource::<RequestQueue>(),
    ) else {
        return Vec::new();
    };
    let mut unknown: BTreeMap<String, Vec<(&str, Option<usize>)>> = BTreeMap::new();
    for (id, profile) in profiles.iter() {
        let Some(name) = profile.model.as_deref() else { continue };
        let place = (profiles.path(id).unwrap_or_default(), profile.lines.of("model"));
        let Ok(choice) = questions.choose(settings, Some(name)) else { continue };
        let site = settings.server_owner(&choice.provider, &questions.sites);
        let is_asked_for = choice.model == name || name.ends_with(&format!(":{}", choice.model));
        if is_asked_for && site == ServerOwner::Vendor && rate(&choice, site, prices) == Rate::Unknown {
            let what = format!("{} has no known model {:?}", choice.provider, choice.model);
            unknown.entry(what).or_default().push(place);
        }
    }
    let problem = |(what, places): (String, Vec<(&str, Option<usize>)>)| {
        let (place, line) = places[0];
        let more = match places.len() - 1 {
            0 => String::new(),
            more => format!("; {more} more name it"),
        };
        let remedy = "check its name; remove model: to use the workspace's model, or map the name in gateway.models";
        Problem::warning(place, format!("{what}{more}"), remedy).at_line(line)
    };
    unknown.into_iter().map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(provider: &str, models: &[(&str, &str)]) -> GatewaySettings {
        let models = models.iter().map(|(name, model)| ((*name).to_owned(), (*model).to_owned())).collect();
        GatewaySettings { provider: provider.into(), models, ..GatewaySettings::default() }
    }

    fn with_keys(vendors: &[&str]) -> RequestQueue {
        RequestQueue { keyed: vendors.iter().map(|vendor| (*vendor).to_owned()).collect(), ..RequestQueue::default() }
    }

    #[test]
    fn a_model_that_acts_by_itself_waits_until_the_person_has_seen_it() {
        let mut trust = WorkspaceTrust::Parts { parts: BTreeSet::new() };
        for model in ["acp:claude", " acp:claude ", "acp", "acp:/bin/sh -c true", "scripted:script.yaml"] {
            assert!(is_model_held(&trust, model), "{model}");
            assert!(!is_model_held(&WorkspaceTrust::Everything, model), "{model}");
        }
        for model in ["openai:gpt-5", "sonnet", "ollama:qwen", "offline"] {
            assert!(!is_model_held(&trust, model) && is_model_held(&WorkspaceTrust::Nothing, model), "{model}");
        }
        trust.add([model_widening("acp:claude")]);
        assert!(!is_model_held(&trust, "acp:claude") && is_model_held(&trust, "acp:gemini"));
    }

    #[test]
    fn whatever_name_means_a_coding_agent_waits_until_the_person_has_seen_it() {
        let aliases = [
            ("Coder", "acp:claude"),
            ("bare", "acp"),
            ("spaced", " acp:claude"),
            ("twice", "coder"),
            ("acp:claude", "acp:other"),
            ("plan", "scripted:script.yaml"),
            ("fast", "openai:gpt-5"),
            ("mine", "inherit"),
        ];
        let of = |provider: &str, model: Option<&str>| GatewaySettings {
            model: model.map(str::to_owned),
            ..settings(provider, &aliases)
        };
        let (vendor, agent) = (of("openai", None), of("acp", Some("gemini")));
        let named = of("acp:gemini", None);
        // A name, the settings, and what answers before and after the person has trusted what it stands for.
        let (own, coder, acp) = ("openai/gpt-4o-mini", "acp/claude", "acp/gemini");
        for (name, settings, before, trusts, after) in [
            // A name that says what it is stands for something else.
            ("acp:claude", &vendor, own, "acp:claude", own),
            ("Coder", &vendor, own, "acp:claude", coder),
            (" coder ", &vendor, own, "acp:claude", coder),
            ("CODER", &vendor, own, "acp:claude", coder),
            ("plan", &vendor, own, "scripted:script.yaml", "scripted/script.yaml"),
            // An alias is resolved once: what it names is then a model of the workspace's own provider.
            ("twice", &vendor, "openai/coder", "openai:coder", "openai/coder"),
            ("twice", &agent, acp, "acp:coder", "acp/coder"),
            ("spaced", &agent, acp, "acp: acp:claude", "acp/ acp:claude"),
            ("Coder", &agent, acp, "acp:claude", coder),
            // Where the workspace's own provider is a coding agent, every other name is a command line of one.
            ("/bin/sh -c true", &agent, acp, "acp:/bin/sh -c true", "acp//bin/sh -c true"),
            ("/bin/sh -c true", &named, acp, "acp:/bin/sh -c true", "acp//bin/sh -c true"),
            ("ACP:claude", &named, acp, "acp:other", "acp/other"),
            ("ACP:aider", &named, acp, "acp:ACP:aider", "acp/ACP:aider"),
            ("gemini-pro", &agent, acp, "acp:gemini-pro", "acp/gemini-pro"),
            // The workspace's own model answers for all agents, by whichever name.
            ("", &agent, acp, "acp:gemini", acp),
            ("inherit", &agent, acp, "acp:gemini", acp),
            ("Default", &named, acp, "acp:gemini", acp),
            ("mine", &agent, acp, "acp:gemini", acp),
            ("bare", &agent, acp, "acp:gemini", acp),
            // What only answers is not held.
            ("fast", &vendor, "openai/gpt-5", "openai:gpt-5", "openai/gpt-5"),
            ("fast", &agent, "openai/gpt-5", "openai:gpt-5", "openai/gpt-5"),
            ("gpt-5", &vendor, "openai/gpt-5", "openai:gpt-5", "openai/gpt-5"),
        ] {
            let mut queue =
                RequestQueue { trust: WorkspaceTrust::Parts { parts: BTreeSet::new() }, ..with_keys(&["openai"]) };
            let answers = |queue: &RequestQueue| {
                let choice = queue.choose(settings, Some(name)).expect("something answers");
                format!("{}/{}", choice.provider, choice.model)
            };
            assert_eq!(answers(&queue), before, "{name:?} before");
            let is_agent = before.starts_with("acp/");
            assert_eq!(queue.asks_coding_agent(settings, Some(name)), is_agent, "{name:?} before");
            queue.trust.add([model_widening(trusts)]);
            assert_eq!(answers(&queue), after, "{name:?} after");
            queue.trust = WorkspaceTrust::Nothing;
            assert!(!queue.asks_coding_agent(&vendor, Some(name)), "{name:?} in a restricted workspace");
        }
    }

    #[test]
    fn a_name_that_hides_a_coding_agent_stands_for_it_on_the_page() {
        let with_alias = settings("openai", &[("coder", "acp:claude"), ("acp:claude", "acp:other")]);
        for (provider, named, stands_for) in [
            ("openai", "Coder", Some("acp:claude")),
            ("openai", "acp:gemini", None),
            ("openai", "acp:claude", Some("acp:other")),
            ("openai", "gpt-5", None),
            ("openai", "inherit", None),
            ("acp:gemini", "npx other", Some("acp:npx other")),
            ("acp:gemini", "gemini", None),
        ] {
            let settings = GatewaySettings { provider: provider.into(), ..with_alias.clone() };
            assert_eq!(settings.acting_model(None, named).as_deref(), stands_for, "{provider} {named}");
        }
        assert_eq!(with_alias.acting_model(Some("offline"), "coder"), None, "the person's word on the command line");
    }

    #[test]
    fn names_are_resolved_by_settings_and_then_by_defaults() {
        let own = [("Fast", "ollama:qwen"), ("sonnet", "gpt-5"), ("mine", "inherit"), ("far", "gemini:g")];
        for (provider, keys, models, wanted, choice) in [
            ("openai", &["anthropic"][..], &[][..], Some("sonnet"), "anthropic/claude-sonnet-4-5"),
            ("openai", &["anthropic"], &[], Some(" Opus "), "anthropic/claude-opus-4-5"),
            ("openai", &[], &[], Some("sonnet"), "openai/gpt-4o-mini"),
            ("openai", &["anthropic"], &[], Some("inherit"), "openai/gpt-4o-mini"),
            ("openai", &["anthropic"], &[], Some(""), "openai/gpt-4o-mini"),
            ("openai", &[], &[], Some("gpt-5"), "openai/gpt-5"),
            ("openai", &[], &[], Some("anthropic:claude-x"), "anthropic/claude-x"),
            ("anthropic", &[], &[], Some("haiku"), "anthropic/claude-haiku-4-5"),
            ("openai", &[], &own, Some("fast"), "ollama/qwen"),
            ("openai", &["anthropic"], &own, Some("sonnet"), "openai/gpt-5"),
            ("openai", &[], &own, Some("mine"), "openai/gpt-4o-mini"),
            ("openai", &[], &own, Some("far"), "openai/gpt-4o-mini"),
            ("openai", &["gemini"], &own, Some("far"), "gemini/g"),
            // A workspace without external providers does not get one through an imported file; only through its own
            // settings.
            ("offline", &["anthropic"], &[], Some("sonnet"), "offline/offline"),
            ("offline", &["gemini"], &own, Some("far"), "gemini/g"),
        ] {
            let got = with_keys(keys).choose(&settings(provider, models), wanted).unwrap();
            assert_eq!(format!("{}/{}", got.provider, got.model), choice, "{provider} {wanted:?}");
        }
    }

    #[test]
    fn a_local_server_needs_no_key() {
        let base_urls = BTreeMap::from([("anthropic".to_owned(), "http://127.0.0.1:9/v1".to_owned())]);
        let local = GatewaySettings { base_urls, ..settings("openai", &[]) };
        assert_eq!(RequestQueue::default().choose(&local, Some("sonnet")).unwrap().provider, "anthropic");
    }

    #[test]
    fn one_notice_names_all_agents_whose_vendor_has_no_key() {
        let mut world = World::new();
        let file = |model: &str| crate::workspace::files::FileContent::Text(format!("---\nmodel: {model}\n---\nHi"));
        let files: Vec<_> =
            (0..40).map(|n| (format!("agents/a{n}.md"), file(if n % 4 == 0 { "opus" } else { "sonnet" }))).collect();
        let profiles = Profiles::of_files(files.iter().map(|(path, content)| (path.as_str(), content)));
        let note = without_key(&profiles, &settings("openai", &[]), &RequestQueue::default()).unwrap();
        assert!(note.what.starts_with("40 agents ask for sonnet (30), opus (10) of anthropic"), "{note}");
        assert!(note.remedy.contains("ANTHROPIC_API_KEY"));
        assert_eq!(without_key(&profiles, &settings("openai", &[]), &with_keys(&["anthropic"])), None);
        assert_eq!(without_key(&profiles, &settings("offline", &[]), &RequestQueue::default()), None);
        let files = [("agents/odd.md", file("gpt-99")), ("agents/good.md", file("gpt-5"))];
        let profiles = Profiles::of_files(files.iter().map(|(path, content)| (*path, content)));
        world.insert_resource(profiles);
        world.insert_resource(settings("openai", &[]));
        world.insert_resource(PriceSettings::default());
        world.insert_resource(with_keys(&["anthropic"]));
        let unknown = unknown_models(&world);
        assert_eq!(unknown.len(), 1, "{unknown:?}");
        assert_eq!((unknown[0].place.as_str(), unknown[0].line), ("agents/odd.md", Some(2)));
    }
}
