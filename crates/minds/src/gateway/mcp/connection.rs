//! One connection to an MCP server: initialization, its lists, calls, and the end.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::HeaderMap;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, GetPromptRequest, GetPromptRequestParams,
    PaginatedRequestParams, Prompt, ReadResourceRequest, ReadResourceRequestParams, Resource, ResourceTemplate,
    ServerResult,
};
use rmcp::service::{ClientInitializeError, Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Map, Value};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::answer::{Collector, McpAnswer};
use super::elicitation::McpReply;
use super::failure::{McpFailure, McpFault};
use super::handler::{Handler, Progress, ServerQuestion, Tokens};
use super::messages::McpRequest;
use super::offer::{self, ListedTool, MAX_LISTED, McpListed, McpOffer};
use super::redacted_transport::redacted;
use super::session_transport::{SessionTransport, UNKNOWN_SESSION_CODES};
use super::settings::McpTerms;
use super::sse::SseTransport;
use crate::agent::{McpServer, McpTransport};
use crate::base::Id;
use crate::gateway::keys::redaction::Redactor;
use crate::gateway::peers::LimitedLines;
use crate::gateway::peers::expanded;
use crate::gateway::peers::plain;
use crate::gateway::peers::process::{Place, Process, Words, start};
use crate::gateway::programs::sandbox::Level;
use crate::gateway::programs::sandbox::attribute_watch::WatchedProgram;
use crate::gateway::web::http_client;

/// The maximum size of a message in bytes.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// The maximum number of pages of a list that are read.
const MAX_PAGES: usize = 50;
/// The maximum number of tools that are examined, however many pages there are.
const TOOLS_LOOKED_AT: usize = 20_000;
/// How long a connection may take to close.
const CLOSE: Duration = Duration::from_millis(500);
/// The maximum number of progress messages that wait.
const PROGRESS_WAITING: usize = 64;
/// The maximum number of a server's questions that wait.
const QUESTIONS_WAITING: usize = 16;

/// A connected server.
pub(super) struct Connection {
    service: RunningService<RoleClient, Handler>,
    process: Option<Process>,
    tokens: Tokens,
    /// Whether a message exceeded the maximum size.
    is_over: Arc<AtomicBool>,
    redactor: Redactor,
    /// The progress messages of calls.
    pub(super) progress: mpsc::Receiver<Progress>,
    /// The server's questions to a person or a model.
    pub(super) asked: mpsc::Receiver<ServerQuestion>,
    /// Notified when its lists change.
    pub(super) changed: Arc<Notify>,
    /// Notified by a call whose failure suggests that the server has lost the session.
    pub(super) doubted: Arc<Notify>,
}

/// Starts or contacts a server and initializes the connection.
pub(super) async fn connect(server: &McpServer, terms: &McpTerms, place: &Place<'_>) -> Result<Connection, McpFailure> {
    let (progress_sender, progress) = mpsc::channel(PROGRESS_WAITING);
    let (asked_sender, asked) = mpsc::channel(QUESTIONS_WAITING);
    let (tokens, changed, is_over) = (Tokens::default(), Arc::new(Notify::new()), Arc::new(AtomicBool::new(false)));
    let handler = Handler {
        tokens: tokens.clone(),
        progress: progress_sender,
        changed: changed.clone(),
        asked: asked_sender,
        may_sample: server.sampling,
    };
    let connection = |service, process, redactor| Connection {
        service,
        process,
        tokens,
        is_over: is_over.clone(),
        redactor,
        progress,
        asked,
        changed,
        doubted: Arc::default(),
    };
    match &server.transport {
        stdio @ McpTransport::Stdio { .. } => {
            let started = start(stdio, place).await?;
            let redactor = Redactor::of(started.secrets.iter().map(String::as_str));
            let lines = LimitedLines::new(started.stdout, MAX_MESSAGE_BYTES, is_over.clone());
            let transport = redacted((lines, started.stdin), redactor.clone());
            let greeted = timeout(terms.connect, rmcp::serve_client(handler, transport)).await;
            match greeted {
                Ok(Ok(service)) => Ok(connection(service, Some(started.process), redactor)),
                Ok(Err(error)) => {
                    let words = started.process.last_words();
                    started.process.end(CLOSE).await;
                    Err(confined(not_initialized(&redactor, &error, &words), MissingAccess::of(stdio, place)))
                }
                Err(_) => {
                    let words = started.process.last_words();
                    started.process.end(CLOSE).await;
                    Err(confined(timeout_failure(&redactor, terms.connect, &words), MissingAccess::of(stdio, place)))
                }
            }
        }
        McpTransport::Http { url, headers } => {
            let HttpAccess { client, url, headers, redactor } = http_access(url, headers, terms, place)?;
            let transport = SessionTransport::new(redacted(streamable(client, url, headers), redactor.clone()));
            match timeout(terms.connect, rmcp::serve_client(handler, transport)).await {
                Ok(Ok(service)) => Ok(connection(service, None, redactor)),
                Ok(Err(error)) => Err(not_initialized(&redactor, &error, "")),
                Err(_) => Err(timeout_failure(&redactor, terms.connect, "")),
            }
        }
        McpTransport::Sse { url, headers } => {
            let HttpAccess { client, url, headers, redactor } = http_access(url, headers, terms, place)?;
            let opening = SseTransport::open(client, &url, headers, MAX_MESSAGE_BYTES, is_over.clone());
            let transport = match timeout(terms.connect, opening).await {
                Ok(Ok(transport)) => redacted(transport, redactor.clone()),
                Ok(Err(error)) => return Err(protocol_failure(&redactor, &error_text(&error), "")),
                Err(_) => return Err(timeout_failure(&redactor, terms.connect, "")),
            };
            match timeout(terms.connect, rmcp::serve_client(handler, transport)).await {
                Ok(Ok(service)) => Ok(connection(service, None, redactor)),
                Ok(Err(error)) => Err(not_initialized(&redactor, &error, "")),
                Err(_) => Err(timeout_failure(&redactor, terms.connect, "")),
            }
        }
    }
}

/// The access to a server at a URL.
struct HttpAccess {
    client: reqwest::Client,
    url: String,
    headers: HeaderMap,
    redactor: Redactor,
}

fn http_access(
    url: &str,
    headers: &std::collections::BTreeMap<String, String>,
    terms: &McpTerms,
    place: &Place<'_>,
) -> Result<HttpAccess, McpFailure> {
    let mut secrets = Vec::new();
    let mut put_in = |text: &str| expanded(text, &|name| (place.variable)(name), &mut secrets);
    let url = put_in(url)?;
    let mut sent = HeaderMap::new();
    for (name, value) in headers {
        let value = put_in(value)?;
        let pair = (name.parse::<reqwest::header::HeaderName>(), value.parse::<reqwest::header::HeaderValue>());
        let (Ok(name), Ok(mut value)) = pair else {
            let what = format!("the header {name} is invalid");
            return Err(McpFailure::new(McpFault::Setup, what, "fix its name and value"));
        };
        value.set_sensitive(true);
        sent.insert(name, value);
    }
    // The person allowed this server, not one that it redirects to.
    let client = http_client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(terms.connect)
        .pool_max_idle_per_host(0)
        .build()
        .map_err(|error| McpFailure::new(McpFault::Setup, format!("the network is not available: {error}"), ""))?;
    Ok(HttpAccess { client, url, headers: sent, redactor: Redactor::of(secrets.iter().map(String::as_str)) })
}

/// Creates a connection over streamable HTTP with a limited message size.
fn streamable(
    client: reqwest::Client,
    url: String,
    headers: HeaderMap,
) -> StreamableHttpClientTransport<reqwest::Client> {
    let headers = headers.into_iter().filter_map(|(name, value)| Some((name?, value))).collect();
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
    config.max_sse_event_size = MAX_MESSAGE_BYTES;
    config.max_json_response_size = MAX_MESSAGE_BYTES;
    StreamableHttpClientTransport::with_client(client, config)
}

fn not_initialized(redactor: &Redactor, error: &ClientInitializeError, words: &str) -> McpFailure {
    let text = if error.is_authorization_required() { "HTTP 401".to_owned() } else { error_text(error) };
    protocol_failure(redactor, &text, words)
}

/// Returns the failure of a connection, from its error and the server's own output.
fn protocol_failure(redactor: &Redactor, text: &str, words: &str) -> McpFailure {
    let text = redactor.redact_all(&plain(text, 600));
    if text.contains("HTTP 401") || text.contains("HTTP 403") {
        let remedy = "send its credentials in a header from a variable: headers_from_env: { Authorization: NAME }";
        return McpFailure::new(McpFault::Credentials, "authentication is required", remedy);
    }
    if ["HTTP 301", "HTTP 302", "HTTP 303", "HTTP 307", "HTTP 308"].iter().any(|status| text.contains(status)) {
        let what = "it redirects to an address that is not allowed";
        return McpFailure::new(McpFault::Setup, what, "use its final address");
    }
    let words = redactor.redact_all(words);
    let words = if words.is_empty() { String::new() } else { format!(" (it says: {words})") };
    let what = format!("it does not speak the protocol: {text}{words}");
    McpFailure::new(McpFault::Protocol, what, "check that the command or address is an MCP server")
}

/// Resources that a confined program may lack.
#[derive(Clone, Copy)]
struct MissingAccess {
    /// Files outside the workspace.
    files: bool,
    /// The network.
    network: bool,
}

impl MissingAccess {
    fn of(transport: &McpTransport, place: &Place<'_>) -> Self {
        let may_reach = matches!(transport, McpTransport::Stdio { network: true, .. });
        let is_kept_in = place.confinement.is_some_and(|confinement| confinement.level() != Level::None);
        Self { files: place.confinement.is_some(), network: is_kept_in && !may_reach }
    }
}

/// Adds to a failure what the confined program may lack.
fn confined(failure: McpFailure, lacks: MissingAccess) -> McpFailure {
    let mut remedy = match failure.fault {
        McpFault::Protocol if lacks.files => {
            "check that the command is an MCP server and needs no files outside the workspace, to which it is confined \
                (unconfined.yaml in your config folder lifts that)"
                .to_owned()
        }
        _ => failure.remedy.clone(),
    };
    if lacks.network {
        remedy = format!(
            "it runs without network: if it needs one, as npx and uvx do to download a server, add network: true to \
                its definition and allow it again; else {remedy}"
        );
    }
    McpFailure { remedy, ..failure }
}

/// Returns an error with its sources.
fn error_text(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(deeper) = source {
        let words = deeper.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        source = deeper.source();
    }
    text
}

fn timeout_failure(redactor: &Redactor, patience: Duration, words: &str) -> McpFailure {
    let words = redactor.redact_all(words);
    let words = if words.is_empty() { String::new() } else { format!("; it says: {words}") };
    let what = format!("it did not answer within {} s{words}", patience.as_secs_f32());
    McpFailure::new(McpFault::Timeout, what, "try it by hand, or raise mcp.connect_timeout_secs")
}

impl Connection {
    /// Returns the channel for calls, many of which can run at once.
    pub(super) fn line(&self) -> ServerChannel {
        ServerChannel {
            peer: self.service.peer().clone(),
            tokens: self.tokens.clone(),
            is_over: self.is_over.clone(),
            redactor: self.redactor.clone(),
            words: self.process.as_ref().map(Process::output).unwrap_or_default(),
            watched: self.process.as_ref().and_then(Process::watched),
            doubted: self.doubted.clone(),
        }
    }

    /// Whether the connection is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Returns why the connection is closed.
    pub(super) fn closed_failure(&self) -> McpFailure {
        disconnected(&self.is_over, &self.redactor, &self.last_words())
    }

    fn last_words(&self) -> String {
        self.process.as_ref().map(Process::last_words).unwrap_or_default()
    }

    /// Closes the connection. A server that was started here may take this long to exit.
    pub(super) async fn close(mut self, patience: Duration) {
        // A connection that does not close in time is dropped.
        let _ = self.service.close_with_timeout(CLOSE).await;
        drop(self.service);
        if let Some(process) = self.process {
            process.end(patience).await;
        }
    }
}

/// A paged list that is being read.
struct Pages<T> {
    all: Vec<T>,
    count: usize,
    cursor: Option<String>,
    is_over: bool,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { all: Vec::new(), count: 0, cursor: None, is_over: false }
    }
}

impl<T> Pages<T> {
    /// Returns the parameters of the next page, if there is one to read.
    fn next(&mut self) -> Option<PaginatedRequestParams> {
        let goes_on = !self.is_over && self.count < MAX_PAGES && self.all.len() < MAX_LISTED;
        self.count += 1;
        goes_on.then(|| PaginatedRequestParams::default().with_cursor(self.cursor.clone()))
    }

    /// Adds a page, and returns the cursor of the next one.
    fn take(&mut self, listed: Vec<T>, next: Option<String>) {
        self.all.extend(listed);
        self.all.truncate(MAX_LISTED);
        self.is_over = next.is_none() || next == self.cursor;
        self.cursor = next;
    }
}

fn disconnected(is_over: &AtomicBool, redactor: &Redactor, words: &str) -> McpFailure {
    if is_over.load(Ordering::Relaxed) {
        let what = format!("it sent more than {} MiB at once", MAX_MESSAGE_BYTES / (1024 * 1024));
        return McpFailure::new(McpFault::Protocol, what, "ask for less at once");
    }
    let words = redactor.redact_all(words);
    let words = if words.is_empty() { String::new() } else { format!("; it says: {words}") };
    McpFailure::new(McpFault::Gone, format!("the server ended{words}"), "")
}

fn failure(error: &ServiceError, is_over: &AtomicBool, redactor: &Redactor) -> McpFailure {
    match error {
        ServiceError::McpError(error) => {
            McpFailure::new(McpFault::Refused, redactor.redact_all(&plain(&error.message, 800)), "")
        }
        ServiceError::TransportClosed => disconnected(is_over, redactor, ""),
        // A request that could not be sent will not succeed later over the same connection: a restarted HTTP server no
        // longer knows the session.
        ServiceError::TransportSend(error) => {
            let what = redactor.redact_all(&plain(&error_text(error), 600));
            McpFailure::new(McpFault::Gone, format!("the server cannot be reached: {what}"), "")
        }
        other => {
            let what = redactor.redact_all(&plain(&error_text(other), 600));
            McpFailure::new(McpFault::Protocol, format!("cannot communicate with the server: {what}"), "")
        }
    }
}

/// The state of a running call.
#[derive(Default)]
pub(super) struct CallState {
    /// Notified when the server reports something about it, or a person or a model answers.
    pub(super) heard: Notify,
    /// The pending question to a person.
    question: Mutex<Option<OpenQuestion>>,
    /// The pending question to a model.
    sample: Mutex<Option<OpenQuestion>>,
    /// The number of questions to a model so far.
    samples: AtomicU32,
    /// Whether a refusal was reported.
    is_refusal_reported: AtomicBool,
}

/// A pending question: its number, and the channel for its answer.
type OpenQuestion = (u64, oneshot::Sender<McpReply>);

/// Whether the server is still waiting for the answer.
fn is_open(question: &Mutex<Option<OpenQuestion>>) -> bool {
    let question = question.lock().unwrap_or_else(PoisonError::into_inner);
    question.as_ref().is_some_and(|(_, sender)| !sender.is_closed())
}

impl CallState {
    /// Counts a question to a model: one at a time, and a limited number in total. The error says why this one is
    /// refused.
    pub(super) fn count_sample(&self, at_most: u32) -> Result<(), String> {
        if is_open(&self.sample) {
            return Err("the answer to another question is still to come".to_owned());
        }
        if self.samples.load(Ordering::Relaxed) >= at_most {
            return Err(format!("a model is asked at most {at_most} times in one call (mcp.samples_at_most)"));
        }
        self.samples.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Whether a refused question to a model must be reported to a person: once per tool call.
    pub(super) fn is_first_refusal(&self) -> bool {
        !self.is_refusal_reported.swap(true, Ordering::Relaxed)
    }

    /// Records a question to a model.
    pub(super) fn sample(&self, number: u64, reply: oneshot::Sender<McpReply>) {
        *self.sample.lock().unwrap_or_else(PoisonError::into_inner) = Some((number, reply));
        self.heard.notify_one();
    }

    /// Records a question to a person, which replaces an earlier one.
    pub(super) fn ask(&self, number: u64, reply: oneshot::Sender<McpReply>) {
        *self.question.lock().unwrap_or_else(PoisonError::into_inner) = Some((number, reply));
        self.heard.notify_one();
    }

    /// Answers the question with this number, if it is still pending.
    pub(super) fn answer(&self, number: u64, reply: McpReply) {
        let mut reply = Some(reply);
        for question in [&self.question, &self.sample] {
            let mut question = question.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, sender)) = question.take_if(|(asked, _)| *asked == number)
                && let Some(reply) = reply.take()
            {
                // The requester may be gone.
                let _ = sender.send(reply);
                self.heard.notify_one();
            }
        }
    }

    /// Whether the call waits for a person or a model rather than for the server.
    fn waits_for_answer(&self) -> bool {
        is_open(&self.question) || is_open(&self.sample)
    }
}

/// The channel to a server, for calls and for its lists; many requests can run at once.
#[derive(Clone)]
pub(super) struct ServerChannel {
    peer: Peer<RoleClient>,
    tokens: Tokens,
    is_over: Arc<AtomicBool>,
    redactor: Redactor,
    /// The server's output outside of the protocol.
    words: Words,
    /// The guarded files beside the server.
    watched: Option<Arc<WatchedProgram>>,
    doubted: Arc<Notify>,
}

impl ServerChannel {
    /// Reads everything that the server offers.
    pub(super) async fn offer(&self, terms: &McpTerms) -> Result<McpOffer, McpFailure> {
        match timeout(terms.connect, self.lists(terms)).await {
            Ok(offer) => offer,
            Err(_) => Err(timeout_failure(&self.redactor, terms.connect, &self.words.last())),
        }
    }

    async fn lists(&self, terms: &McpTerms) -> Result<McpOffer, McpFailure> {
        let peer = &self.peer;
        let info = peer.peer_info();
        let server = info.as_ref().and_then(|info| info.server_info.as_ref());
        let server = server.map(|server| format!("{} {}", plain(&server.name, 80), plain(&server.version, 40)));
        let has = |which: fn(&rmcp::model::ServerCapabilities) -> bool| {
            info.as_ref().is_some_and(|info| which(&info.capabilities))
        };
        let mut offer = McpOffer { server: server.unwrap_or_default(), ..McpOffer::default() };
        if has(|capabilities| capabilities.tools.is_some()) {
            let (listed, count) = self.tools(peer).await?;
            (offer.tools, offer.left_out) = offer::tools(listed, count, terms.tools_at_most);
        }
        if has(|capabilities| capabilities.resources.is_some()) {
            let listed = self.resources().await?.into_iter().map(|resource| McpListed {
                name: plain(&resource.uri, 400),
                description: plain(resource.description.as_deref().unwrap_or(&resource.name), 200),
                arguments: Vec::new(),
            });
            offer.resources = listed.collect();
            let listed = self.templates().await?.into_iter().map(|template| McpListed {
                name: plain(&template.uri_template, 400),
                description: plain(template.description.as_deref().unwrap_or(&template.name), 200),
                arguments: Vec::new(),
            });
            offer.templates = listed.collect();
        }
        if has(|capabilities| capabilities.prompts.is_some()) {
            let listed = self.prompts().await?.into_iter().map(|prompt| McpListed {
                name: plain(&prompt.name, 128),
                description: plain(prompt.description.as_deref().unwrap_or_default(), 200),
                arguments: prompt
                    .arguments
                    .into_iter()
                    .flatten()
                    .take(20)
                    .map(|argument| {
                        let mark = if argument.required == Some(true) { "*" } else { "" };
                        format!("{}{mark}", plain(&argument.name, 64))
                    })
                    .collect(),
            });
            offer.prompts = listed.collect();
        }
        Ok(offer)
    }

    async fn tools(&self, peer: &Peer<RoleClient>) -> Result<(Vec<ListedTool>, usize), McpFailure> {
        let mut listed = Vec::new();
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor.take());
            let result = peer.list_tools(Some(page)).await.map_err(|error| self.failure(&error))?;
            listed.extend(result.tools.into_iter().map(|tool| ListedTool {
                name: tool.name.to_string(),
                description: tool.description.as_deref().unwrap_or_default().to_owned(),
                schema: (*tool.input_schema).clone(),
                read_only: tool.annotations.as_ref().and_then(|hints| hints.read_only_hint),
                destructive: tool.annotations.as_ref().and_then(|hints| hints.destructive_hint),
            }));
            cursor = result.next_cursor;
            if cursor.is_none() || listed.len() > TOOLS_LOOKED_AT {
                break;
            }
        }
        let count = listed.len();
        Ok((listed, count))
    }

    /// Reads all pages of the resources, up to a limit.
    async fn resources(&self) -> Result<Vec<Resource>, McpFailure> {
        let mut pages = Pages::default();
        while let Some(page) = pages.next() {
            let result = self.peer.list_resources(Some(page)).await.map_err(|error| self.failure(&error))?;
            pages.take(result.resources, result.next_cursor);
        }
        Ok(pages.all)
    }

    /// Reads all pages of the resource templates, up to a limit. Many servers with resources do not support templates.
    async fn templates(&self) -> Result<Vec<ResourceTemplate>, McpFailure> {
        let mut pages = Pages::default();
        while let Some(page) = pages.next() {
            match self.peer.list_resource_templates(Some(page)).await {
                Ok(result) => pages.take(result.resource_templates, result.next_cursor),
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => break,
                Err(error) => return Err(self.failure(&error)),
            }
        }
        Ok(pages.all)
    }

    /// Reads all pages of the prompts, up to a limit.
    async fn prompts(&self) -> Result<Vec<Prompt>, McpFailure> {
        let mut pages = Pages::default();
        while let Some(page) = pages.next() {
            let result = self.peer.list_prompts(Some(page)).await.map_err(|error| self.failure(&error))?;
            pages.take(result.prompts, result.next_cursor);
        }
        Ok(pages.all)
    }

    fn failure(&self, error: &ServiceError) -> McpFailure {
        failure(error, &self.is_over, &self.redactor)
    }

    /// Returns the failure of a call, which may show that the server has lost the session.
    fn call_failure(&self, error: &ServiceError) -> McpFailure {
        let is_doubtful = match error {
            ServiceError::TransportSend(_) | ServiceError::TransportClosed => true,
            ServiceError::McpError(error) => UNKNOWN_SESSION_CODES.contains(&error.code.0),
            _ => false,
        };
        if is_doubtful {
            self.doubted.notify_one();
        }
        self.failure(error)
    }

    /// Makes a request. It continues as long as it is not cancelled and the server reports progress now and then, or
    /// waits for a person or a model.
    pub(super) async fn call(
        &self,
        id: &Id,
        request: McpRequest,
        terms: &McpTerms,
        under_way: &CallState,
        cancel: &CancellationToken,
    ) -> Result<McpAnswer, McpFailure> {
        let last = Instant::now() + terms.call_total;
        let request = client_request(request);
        let sending = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let mut handle = sending.await.map_err(|error| self.call_failure(&error))?;
        self.tokens.note(handle.progress_token.0.clone(), id.clone());
        let mut silent_at = Instant::now() + terms.call;
        let outcome = loop {
            tokio::select! {
                result = &mut handle.rx => break match result {
                    Ok(Ok(result)) => Self::answer(result, terms),
                    Ok(Err(error)) => Err(self.call_failure(&error)),
                    Err(_) => Err(disconnected(&self.is_over, &self.redactor, "")),
                },
                () = under_way.heard.notified() => silent_at = Instant::now() + terms.call,
                () = cancel.cancelled() => {
                    // If the server does not receive this, its late answer is ignored.
                    let _ = timeout(CLOSE, handle.cancel(Some("stopped".to_owned()))).await;
                    break Err(McpFailure::new(McpFault::Stopped, "the call was stopped", ""));
                }
                () = sleep_until(if under_way.waits_for_answer() { last } else { silent_at.min(last) }) => {
                    let _ = timeout(CLOSE, handle.cancel(Some("too late".to_owned()))).await;
                    let patience = if silent_at < last { terms.call } else { terms.call_total };
                    let what = format!("the server did not answer within {} s", patience.as_secs_f32());
                    break Err(McpFailure::new(McpFault::Timeout, what, "ask for less at once"));
                }
            }
        };
        self.tokens.forget(id);
        outcome
    }

    /// Puts back what the server changed of guarded files, after a call.
    pub(super) async fn compare_guarded_files(&self) {
        if let Some(watched) = &self.watched {
            watched.compare().await;
        }
    }

    fn answer(result: ServerResult, terms: &McpTerms) -> Result<McpAnswer, McpFailure> {
        let mut collector = Collector::new(terms.result_chars_at_most);
        match result {
            ServerResult::CallToolResult(result) => {
                let is_error = result.is_error == Some(true);
                result.content.iter().for_each(|block| collector.block(block));
                if let Some(data) = result.structured_content {
                    collector.data(data);
                }
                let answer = collector.done();
                return if is_error { Err(McpFailure::of_answer(answer)) } else { Ok(answer) };
            }
            ServerResult::ReadResourceResult(result) => {
                result.contents.iter().for_each(|contents| collector.contents(contents));
            }
            ServerResult::GetPromptResult(result) => {
                result.messages.iter().for_each(|message| collector.message(message));
            }
            _ => {
                let what = "the server's answer is not of the requested type";
                return Err(McpFailure::new(McpFault::Protocol, what, ""));
            }
        }
        Ok(collector.done())
    }
}

fn client_request(request: McpRequest) -> ClientRequest {
    let given = |arguments: Map<String, Value>| (!arguments.is_empty()).then_some(arguments);
    match request {
        McpRequest::Tool { name, arguments } => ClientRequest::CallToolRequest(CallToolRequest::new(
            CallToolRequestParams::new(name).with_arguments(arguments),
        )),
        McpRequest::Resource { uri } => {
            ClientRequest::ReadResourceRequest(ReadResourceRequest::new(ReadResourceRequestParams::new(uri)))
        }
        McpRequest::Prompt { name, arguments } => {
            let mut params = GetPromptRequestParams::new(name);
            params.arguments = given(arguments);
            ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_needs_the_network_gets_a_remedy() {
        let none = Redactor::of([]);
        let failures = || {
            [
                protocol_failure(&none, "it ended", "ENOTFOUND"),
                timeout_failure(&none, Duration::from_secs(10), "ENOTFOUND"),
            ]
        };
        for failure in failures() {
            let told = confined(failure.clone(), MissingAccess { files: true, network: true }).remedy;
            assert!(told.contains("network: true") && told.contains("npx"), "{told}");
            let told = confined(failure, MissingAccess { files: true, network: false }).remedy;
            assert!(!told.contains("network") && !told.is_empty(), "{told}");
        }
        let [ended, silent] =
            failures().map(|failure| confined(failure, MissingAccess { files: true, network: true }).remedy);
        assert!(ended.contains("outside the workspace") && silent.contains("mcp.connect_timeout_secs"));
    }

    #[test]
    fn lists_are_read_in_pages_up_to_a_limit() {
        let mut pages = Pages::default();
        for number in 0..3 {
            assert!(pages.next().is_some());
            pages.take(vec![number], (number < 2).then(|| number.to_string()));
        }
        assert!(pages.next().is_none());
        assert_eq!(pages.all, [0, 1, 2]);
        let mut same: Pages<u8> = Pages::default();
        let mut asked = 0;
        while same.next().is_some() {
            same.take(vec![1], Some("again".to_owned()));
            asked += 1;
        }
        assert_eq!(asked, 2, "the same page is not read again and again");
        let mut endless: Pages<u8> = Pages::default();
        let mut asked = 0;
        while endless.next().is_some() {
            endless.take(vec![], Some(asked.to_string()));
            asked += 1;
        }
        assert_eq!(asked, MAX_PAGES);
        let mut long: Pages<u8> = Pages::default();
        assert!(long.next().is_some());
        long.take(vec![1; 1_000], Some("more".to_owned()));
        assert_eq!((long.all.len(), long.next().is_some()), (MAX_LISTED, false));
    }
}
