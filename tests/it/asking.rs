//! Asks one question through the gateway's worker, as the world does, and collects everything it says.

use std::collections::BTreeMap;
use std::time::Duration;

use agent_workshop::base::{JobControl, RequestId};
use agent_workshop::gateway::LiveCall;
use agent_workshop::gateway::keys::Environment;
use agent_workshop::gateway::messages::{GatewayCommand, GatewayEvent};
use agent_workshop::gateway::provider::ProviderRequest;
use agent_workshop::gateway::provider_trial::{ProviderTrial, Tried};
use agent_workshop::gateway::settings::{Choice, GatewaySettings};
use agent_workshop::gateway::vendors::vendor;
use agent_workshop::gateway::worker::Worker;
use agent_workshop::mind::{CallKind, Completion, Effort, ModelFailure, Prompt, PromptMessage, ResultImages, Role};

use crate::hostile_server::Server;
use crate::workshop::{Setup, Workshop};

/// The key that must never be seen again.
pub const KEY: &str = "sk-hostile-1234567890abcdef";

/// What a question came to.
#[derive(Debug)]
pub struct Asked {
    /// The answer.
    pub outcome: Result<Completion, ModelFailure>,
    /// The pieces of text that came before it, joined.
    pub live: String,
    /// How many pieces.
    pub pieces: usize,
    /// The tools that were seen being called before it, as far as that was told.
    pub calls: Vec<LiveCall>,
    /// What it took.
    pub effort: Effort,
}

impl Asked {
    /// The failure, which must be one and must hold no key.
    pub fn failure(self) -> ModelFailure {
        let failure = self.outcome.expect_err("this must fail");
        assert!(!format!("{failure:?}").contains(KEY), "a key leaked: {failure:?}");
        failure
    }

    /// The reply, which must be one.
    pub fn reply(self) -> Completion {
        self.outcome.unwrap_or_else(|failure| panic!("this must work: {failure:?}"))
    }
}

/// Settings with short waits.
pub fn hasty() -> GatewaySettings {
    GatewaySettings {
        stall_timeout_secs: 0.5,
        connect_timeout_secs: 1.0,
        total_timeout_secs: 10.0,
        retry_first_delay_secs: 0.02,
        ..GatewaySettings::default()
    }
}

/// A worker with every key set. Where vendors are asked, only the workspace says.
pub fn worker() -> Worker {
    worker_with([])
}

/// A worker with every key set, of a person who wants this vendor asked at this place.
pub fn worker_at(provider: &str, base_url: &str) -> Worker {
    let vendor = vendor(provider).expect("the tests know only vendors");
    worker_with([(vendor.base_url_name, base_url.to_owned())])
}

fn worker_with(more: impl IntoIterator<Item = (&'static str, String)>) -> Worker {
    let names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
    let keys = names.map(|name| (name, KEY.to_owned()));
    let environment = Environment::new(keys.into_iter().chain(more), None);
    Worker::start(environment, BTreeMap::new()).expect("a thread can be started")
}

/// The command that asks this.
pub fn command(id: u64, provider: &str, base_url: &str, words: &str, settings: &GatewaySettings) -> GatewayCommand {
    command_of(id, provider, base_url, request(words), settings)
}

/// The question that says this.
pub fn request(words: &str) -> ProviderRequest {
    ProviderRequest {
        agent: "ada-1".to_owned(),
        profile: "ada".to_owned(),
        kind: CallKind::Task,
        model: "test-model".to_owned(),
        prompt: Prompt::of_messages("You are a test.", vec![PromptMessage::words(Role::User, words)]),
        tools: Vec::new(),
        max_output_tokens: 64,
        stops: Vec::new(),
        said_before: Default::default(),
        seed: 1,
        script: None,
        work: None,
        agent_session: None,
        result_images: ResultImages::default(),
    }
}

/// The command that asks a question.
pub fn command_of(
    id: u64,
    provider: &str,
    base_url: &str,
    request: ProviderRequest,
    settings: &GatewaySettings,
) -> GatewayCommand {
    let settings =
        GatewaySettings { base_urls: BTreeMap::from([(provider.to_owned(), base_url.to_owned())]), ..settings.clone() };
    let choice = Choice { provider: provider.to_owned(), model: request.model.clone() };
    let terms = settings.terms(provider);
    GatewayCommand::Complete { id: RequestId(id), request: Box::new(request), choice, terms: Box::new(terms) }
}

/// Asks and waits for the answer.
pub fn ask(provider: &str, base_url: &str, words: &str, settings: &GatewaySettings) -> Asked {
    let worker = worker_at(provider, base_url);
    worker.send(command(1, provider, base_url, words, settings)).expect("there is room for one question");
    hear(&worker)
}

/// Asks a question and waits for the answer.
pub fn ask_this(provider: &str, base_url: &str, request: ProviderRequest, settings: &GatewaySettings) -> Asked {
    let worker = worker_at(provider, base_url);
    worker.send(command_of(1, provider, base_url, request, settings)).expect("there is room for one question");
    hear(&worker)
}

/// Waits for the answer to the question that is under way.
pub fn hear(worker: &Worker) -> Asked {
    let (mut live, mut pieces, mut calls) = (String::new(), 0, Vec::new());
    loop {
        match worker.next(Duration::from_secs(60)).expect("every question gets its answer") {
            // A further try begins at nothing.
            GatewayEvent::Started { .. } => {
                live.clear();
                calls.clear();
            }
            GatewayEvent::Calling { position, call, .. } => {
                assert!(position <= calls.len(), "calls begin in order");
                if position < calls.len() { calls[position] = call } else { calls.push(call) }
            }
            GatewayEvent::Delta { text, .. } => {
                live.push_str(&text);
                pieces += 1;
            }
            GatewayEvent::Thought { .. }
            | GatewayEvent::AccessChanged { .. }
            | GatewayEvent::Mcp(_)
            | GatewayEvent::Program(_)
            | GatewayEvent::Web(_)
            | GatewayEvent::Slack(_) => {}
            GatewayEvent::Finished { outcome, effort, .. } => return Asked { outcome, live, pieces, calls, effort },
        }
    }
}

/// A room whose settings say that this provider is asked there.
pub fn room_of(provider: &str, url: &str) -> Workshop {
    let settings = format!("gateway:\n  provider: {provider}\n  base_urls: {{ {provider}: \"{url}\" }}\n");
    Setup::scene("agents: []\n").file("settings.yaml", &settings).open()
}

/// Tries a provider out, as the window does.
pub fn try_out(workshop: &Workshop, spec: &str) -> Tried {
    let trial = ProviderTrial::of(workshop.app.world(), spec).unwrap_or_else(|problem| panic!("{problem}"));
    trial.run(&JobControl::default())
}

impl Server {
    /// Asks it something, in haste.
    pub fn ask(&self) -> Asked {
        self.ask_with(&hasty())
    }

    /// Asks it something, with these settings.
    pub fn ask_with(&self, settings: &GatewaySettings) -> Asked {
        ask("openai", &self.url, "hello", settings)
    }
}
