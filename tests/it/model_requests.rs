//! Sends a request through the gateway's worker, as the world does, and collects all of its events.

use std::collections::BTreeMap;
use std::time::Duration;

use agent_workshop::base::{JobControl, RequestId};
use agent_workshop::gateway::LiveCall;
use agent_workshop::gateway::keys::Environment;
use agent_workshop::gateway::messages::{GatewayCommand, GatewayEvent};
use agent_workshop::gateway::provider::ProviderRequest;
use agent_workshop::gateway::provider_trial::{ProviderTrial, TrialResult};
use agent_workshop::gateway::settings::{Choice, GatewaySettings};
use agent_workshop::gateway::vendors::vendor;
use agent_workshop::gateway::worker::Worker;
use agent_workshop::mind::{CallKind, Completion, Effort, ModelFailure, Prompt, PromptMessage, ResultImages, Role};

use crate::hostile_server::Server;
use crate::workshop::{Setup, Workshop};

/// The API key that must never be revealed.
pub const KEY: &str = "sk-hostile-1234567890abcdef";

/// The result of a request and everything that the worker reported about it.
#[derive(Debug)]
pub struct Exchange {
    /// The reply, or the failure.
    pub outcome: Result<Completion, ModelFailure>,
    /// The streamed pieces of text, joined.
    pub live: String,
    /// The number of streamed pieces.
    pub pieces: usize,
    /// The tool calls that were announced before the reply.
    pub calls: Vec<LiveCall>,
    /// The recorded attempts and usage.
    pub effort: Effort,
}

impl Exchange {
    /// Returns the failure; panics if there is none, or if it contains the key.
    pub fn failure(self) -> ModelFailure {
        let failure = self.outcome.expect_err("this must fail");
        assert!(!format!("{failure:?}").contains(KEY), "a key leaked: {failure:?}");
        failure
    }

    /// Returns the reply; panics if there is none.
    pub fn reply(self) -> Completion {
        self.outcome.unwrap_or_else(|failure| panic!("this must work: {failure:?}"))
    }
}

/// Settings with short waits.
pub fn short_timeouts() -> GatewaySettings {
    GatewaySettings {
        stall_timeout_secs: 0.5,
        connect_timeout_secs: 1.0,
        total_timeout_secs: 10.0,
        retry_first_delay_secs: 0.02,
        ..GatewaySettings::default()
    }
}

/// Starts a worker with every key set and no addresses of vendors in its environment.
pub fn worker() -> Worker {
    worker_with([])
}

/// Starts a worker with every key set whose environment has this address of the vendor.
pub fn worker_at(provider: &str, base_url: &str) -> Worker {
    let vendor = vendor(provider).expect("the provider is a vendor");
    worker_with([(vendor.base_url_name, base_url.to_owned())])
}

fn worker_with(more: impl IntoIterator<Item = (&'static str, String)>) -> Worker {
    let names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"];
    let keys = names.map(|name| (name, KEY.to_owned()));
    let environment = Environment::new(keys.into_iter().chain(more), None);
    Worker::start(environment, BTreeMap::new()).expect("the thread can be started")
}

/// Returns the command that sends a request with this text.
pub fn command(id: u64, provider: &str, base_url: &str, words: &str, settings: &GatewaySettings) -> GatewayCommand {
    command_of(id, provider, base_url, request(words), settings)
}

/// Returns a request with this text.
pub fn request(words: &str) -> ProviderRequest {
    ProviderRequest {
        agent: "ada-1".to_owned(),
        profile: "ada".to_owned(),
        kind: CallKind::Task,
        model: "test-model".to_owned(),
        prompt: Prompt::of_messages("You are a test.", vec![PromptMessage::plain(Role::User, words)]),
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

/// Returns the command that sends a request.
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

/// Sends a text and waits for the reply.
pub fn ask(provider: &str, base_url: &str, words: &str, settings: &GatewaySettings) -> Exchange {
    let worker = worker_at(provider, base_url);
    worker.send(command(1, provider, base_url, words, settings)).expect("the queue has room");
    wait_for_reply(&worker)
}

/// Sends a request and waits for the reply.
pub fn ask_request(provider: &str, base_url: &str, request: ProviderRequest, settings: &GatewaySettings) -> Exchange {
    let worker = worker_at(provider, base_url);
    worker.send(command_of(1, provider, base_url, request, settings)).expect("the queue has room");
    wait_for_reply(&worker)
}

/// Waits for the end of the running request.
pub fn wait_for_reply(worker: &Worker) -> Exchange {
    let (mut live, mut pieces, mut calls) = (String::new(), 0, Vec::new());
    loop {
        match worker.next(Duration::from_secs(60)).expect("every request ends") {
            // Another attempt starts over.
            GatewayEvent::Started { .. } => {
                live.clear();
                calls.clear();
            }
            GatewayEvent::Calling { position, call, .. } => {
                assert!(position <= calls.len(), "calls start in order");
                if position < calls.len() { calls[position] = call } else { calls.push(call) }
            }
            GatewayEvent::Delta { text, .. } => {
                live.push_str(&text);
                pieces += 1;
            }
            GatewayEvent::Thought { .. } | GatewayEvent::PutBack(_) | GatewayEvent::TrustRead(_) => {}
            GatewayEvent::Finished { outcome, effort, .. } => return Exchange { outcome, live, pieces, calls, effort },
        }
    }
}

/// Opens a room whose settings have this address of the provider.
pub fn room_of(provider: &str, url: &str) -> Workshop {
    let settings = format!("gateway:\n  provider: {provider}\n  base_urls: {{ {provider}: \"{url}\" }}\n");
    Setup::scene("agents: []\n").file("settings.yaml", &settings).open()
}

/// Tests a provider like the window does.
pub fn try_provider(workshop: &Workshop, spec: &str) -> TrialResult {
    let trial = ProviderTrial::of(workshop.app.world(), spec).unwrap_or_else(|problem| panic!("{problem}"));
    trial.run(&JobControl::default())
}

impl Server {
    /// Sends a text with short time limits.
    pub fn ask(&self) -> Exchange {
        self.ask_with(&short_timeouts())
    }

    /// Sends a text with these settings.
    pub fn ask_with(&self, settings: &GatewaySettings) -> Exchange {
        ask("openai", &self.url, "hello", settings)
    }
}
