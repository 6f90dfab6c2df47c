//! The process of an agent with its connection: starting, initializing, reading and ending it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::schema::{AuthMethod, InitializeResponse, SessionNotification};
use agent_client_protocol::v1::{ConnectionTo, Dispatch, SentRequest};
use agent_client_protocol::{Agent, Client, Error, Handled, JsonRpcRequest, JsonRpcResponse, Lines};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::PROVIDER;
use super::known_agents::KnownAgent;
use super::settings::AcpTerms;
use super::transport::{Gauge, UPDATE, incoming, is_update, outgoing};
use super::turns::requests::{OpenRequest, Request, hello, is_of_terminal, serve_terminal};
use super::turns::turn::{Turn, TurnError};
use crate::agent::McpServer;
use crate::gateway::keys::private_variables;
use crate::gateway::peers::consent::{self, Consent};
use crate::gateway::peers::plain;
use crate::gateway::peers::process::{self, Process, Words};
use crate::gateway::programs::sandbox::Confinement;
use crate::gateway::programs::sandbox::attribute_reports::PutBackListener;
use crate::gateway::programs::sandbox::attribute_watch::WatchedProgram;
use crate::gateway::programs::sandbox::unconfined::{self, SandboxedPrograms};
use crate::gateway::providers::provider::{AgentFault, ErrorCause, ProviderError};

/// How long an agent may take to exit after its input is closed.
const PATIENCE: Duration = Duration::from_millis(500);
/// The protocol's error code if a login is required.
const LOGIN_NEEDED: i32 = -32_000;
/// How long to wait for an agent's last output.
const LAST_WORDS: Duration = Duration::from_millis(50);
/// The maximum length of an agent's error message, in characters.
const ERROR_CHARS: usize = 400;

/// The folders with which agents run.
#[derive(Clone, Debug)]
pub(super) struct AgentPlace {
    /// The path of the workspace.
    pub(super) workspace: PathBuf,
    /// The folder of the person's keys and permissions.
    pub(super) config: Option<PathBuf>,
    /// Receives what they change of guarded files.
    pub(super) put_back: PutBackListener,
}

/// A running agent.
pub(super) struct Connection {
    pub(super) to: ConnectionTo<Agent>,
    pub(super) agent: McpServer,
    pub(super) offers_close: bool,
    pub(super) offers_load: bool,
    pub(super) offers_resume: bool,
    /// Whether it announces support for images.
    pub(super) takes_images: bool,
    login: Vec<String>,
    turns: Turns,
    /// The turns whose prompts have no answer yet, by the ids of the prompts.
    pub(super) prompts: Turns,
    process: Mutex<Option<Process>>,
    /// The guarded files beside the agent.
    watched: Option<Arc<WatchedProgram>>,
    words: Words,
    gauge: Arc<Gauge>,
    end: CancellationToken,
    gone: CancellationToken,
    pub(super) workspace: PathBuf,
    /// The number of open sessions.
    pub(super) users: AtomicUsize,
    used: Mutex<Instant>,
}

/// The turns by the agent's session ids.
type Turns = Arc<Mutex<HashMap<String, Arc<Turn>>>>;

/// Checks that a person has allowed exactly this agent in this workspace, without blocking: its code is read for that.
/// The error says how to allow it.
pub(super) async fn allowed(agent: &McpServer, place: &AgentPlace) -> Result<(), ProviderError> {
    let (asked, at) = (agent.clone(), place.clone());
    let looked = tokio::task::spawn_blocking(move || {
        let (config, folder) = (at.config.as_deref(), Some(&*at.workspace));
        let consent = consent::of(config, folder, &asked);
        let is_other = consent == Consent::OfAnother;
        (consent, if is_other { consent::changed_sentence(config, folder, &asked) } else { String::new() })
    });
    let (consent, changed) = looked.await.map_err(|error| {
        let what = format!("the files that {} runs cannot be read: {error}", agent.shown());
        ProviderError::of_agent(AgentFault::NotStarted, what, "try it again".to_owned())
    })?;
    let what = match consent {
        Consent::Given => return Ok(()),
        Consent::None => format!("the coding agent {} needs your permission", agent.shown()),
        Consent::OfAnother => format!("the coding agent, {changed}: {}", agent.shown()),
    };
    let name = agent.name.trim_start_matches(PROVIDER).trim_start_matches(':');
    let name = if name.contains([' ', '\'']) { format!("{name:?}") } else { name.to_owned() };
    let remedy = format!("if you trust it, run: workshop acp allow {name} --workspace {}", place.workspace.display());
    Err(ProviderError::of_agent(AgentFault::NotAllowed, what, remedy))
}

impl Connection {
    /// Starts and initializes an agent.
    pub(super) async fn open(
        agent: &McpServer,
        terms: &AcpTerms,
        place: &AgentPlace,
    ) -> Result<Arc<Self>, ProviderError> {
        allowed(agent, place).await?;
        let opened = timeout(terms.start, Self::start(agent, place)).await;
        opened.unwrap_or_else(|_| {
            let what =
                format!("{} did not respond within {:.0} s of starting", agent.shown(), terms.start.as_secs_f64());
            let remedy = "check that this command speaks the Agent Client Protocol, or raise acp.start_timeout_secs";
            Err(ProviderError::of_agent(AgentFault::NotStarted, what, remedy.to_owned()))
        })
    }

    async fn start(agent: &McpServer, place: &AgentPlace) -> Result<Arc<Self>, ProviderError> {
        let variable = |name: &str| private_variables::variable(name).filter(|value| !value.is_empty());
        let own = KnownAgent::of(agent).map(KnownAgent::own_places).unwrap_or_default();
        let (config, folder) = (place.config.as_deref(), Some(&*place.workspace));
        let is_unconfined = unconfined::of(config, folder, SandboxedPrograms::CodingAgents);
        let place_of_agent = process::Place {
            name: format!("the coding agent {}", agent.shown()),
            put_back: place.put_back.clone(),
            folder: &place.workspace,
            own: &own,
            hidden: place.config.as_deref(),
            confinement: (!is_unconfined).then(Confinement::of_this_computer),
            variable: &variable,
        };
        let started = process::start(&agent.transport, &place_of_agent).await;
        let started = started.map_err(|failure| {
            let known = KnownAgent::of(agent);
            let remedy = known.map_or(failure.remedy.clone(), |known| known.install.to_owned());
            ProviderError::of_agent(AgentFault::NotStarted, failure.what, remedy)
        })?;
        let (gauge, turns, prompts) = (Gauge::accepting(is_update), Turns::default(), Turns::default());
        let (end, gone) = (CancellationToken::new(), CancellationToken::new());
        let words = started.process.output();
        let transport =
            Lines::new(outgoing(started.stdin, gauge.clone()), Box::pin(incoming(started.stdout, gauge.clone())));
        let to = serve(
            transport,
            (turns.clone(), prompts.clone(), gauge.clone(), place.workspace.clone()),
            (end.clone(), gone.clone()),
        );
        let mut this = Self {
            to: match to.await {
                Ok(to) => to,
                Err(_) => return Err(ended(agent, &words, &gauge)),
            },
            agent: agent.clone(),
            offers_close: false,
            offers_load: false,
            offers_resume: false,
            takes_images: false,
            login: Vec::new(),
            turns,
            prompts,
            watched: started.process.watched(),
            process: Mutex::new(Some(started.process)),
            words,
            gauge,
            end,
            gone,
            workspace: place.workspace.clone(),
            users: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
        };
        match this.ask(hello()).await {
            Ok(InitializeResponse { agent_capabilities, auth_methods, .. }) => {
                this.offers_close = agent_capabilities.session_capabilities.close.is_some();
                this.offers_resume = agent_capabilities.session_capabilities.resume.is_some();
                this.offers_load = agent_capabilities.load_session;
                this.takes_images = agent_capabilities.prompt_capabilities.image;
                this.login = auth_methods.iter().filter_map(login_words).collect();
                Ok(this.kept())
            }
            Err(broken) => {
                let error = this.provider_error(&broken);
                this.shut().await;
                Err(error)
            }
        }
    }

    /// Watches the connection, so that the agent's processes end with it even if it is no longer used.
    fn kept(self) -> Arc<Self> {
        let this = Arc::new(self);
        let (gone, kept) = (this.gone.clone(), Arc::downgrade(&this));
        tokio::spawn(async move {
            gone.cancelled().await;
            if let Some(this) = kept.upgrade() {
                this.shut().await;
            }
        });
        this
    }

    /// Sends a request to the agent and waits for the answer.
    pub(super) async fn ask<R: JsonRpcRequest>(&self, request: R) -> Result<R::Response, TurnError>
    where
        R::Response: Send,
    {
        self.answer(self.to.send_request(request)).await
    }

    /// Waits for the answer to a request.
    pub(super) async fn answer<T: JsonRpcResponse>(&self, sent: SentRequest<T>) -> Result<T, TurnError> {
        tokio::select! {
            answer = sent.block_task() => match answer {
                Ok(answer) => Ok(answer),
                Err(error) => {
                    // When an agent ends, its pending requests fail before the connection is marked as closed.
                    let _ = timeout(LAST_WORDS, self.gone.cancelled()).await;
                    Err(self.broken(error))
                }
            },
            () = self.gone.cancelled() => {
                // Its last output may arrive after its end.
                tokio::time::sleep(LAST_WORDS).await;
                Err(TurnError::Gone)
            }
        }
    }

    fn broken(&self, error: Error) -> TurnError {
        if self.is_gone() || agent_client_protocol::is_incoming_transport_closed(&error) {
            return TurnError::Gone;
        }
        let data = error.data.as_ref().map(|data| match data {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let words = data.map_or_else(|| error.message.clone(), |data| format!("{}: {data}", error.message));
        TurnError::Refused(i32::from(error.code), plain(&words, ERROR_CHARS))
    }

    /// Whether the agent has ended.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Waits until the agent has ended.
    pub(super) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Describes what went wrong for a person.
    pub(super) fn provider_error(&self, broken: &TurnError) -> ProviderError {
        let name = self.agent.shown();
        match broken {
            TurnError::Gone => ended(&self.agent, &self.words, &self.gauge),
            TurnError::Refused(code, words) if *code == LOGIN_NEEDED || asks_for_login(words) => {
                let known = KnownAgent::of(&self.agent);
                let own = self.login.first().cloned();
                let how = known.map(|known| format!("run: {}", known.login)).or(own);
                let how = how.unwrap_or_else(|| format!("start {name} in a terminal and log in"));
                let remedy = format!("log in to it outside the room, then give the task again: {how}");
                ProviderError::of_agent(
                    AgentFault::NeedsLogin,
                    format!("{name} needs you to log in first ({words})"),
                    remedy,
                )
            }
            TurnError::Refused(_, words) => {
                let remedy = "check its message; the same prompt may work in its own window";
                ProviderError::of_agent(
                    AgentFault::Refused,
                    format!("{name} answered with an error: {words}"),
                    remedy.to_owned(),
                )
            }
        }
    }

    /// Puts back what the agent changed of guarded files, after a turn.
    pub(super) async fn compare_guarded_files(&self) {
        if let Some(watched) = &self.watched {
            watched.compare().await;
        }
    }

    /// Records that the agent is used now.
    pub(super) fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether the agent has not been used for this long.
    pub(super) fn is_idle(&self, idle: Duration) -> bool {
        let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        self.users.load(Ordering::Relaxed) == 0 && used.elapsed() >= idle
    }

    /// Ends the agent and all processes that it started.
    pub(super) async fn shut(&self) {
        self.end.cancel();
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(process) = process {
            process.end(PATIENCE).await;
        }
        self.gone.cancel();
    }

    pub(super) fn turns(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Turn>>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves a connection until it is closed here or the agent ends; returns the handle for sending to it.
fn serve(
    transport: impl agent_client_protocol::ConnectTo<Client> + 'static,
    (turns, prompts, gauge, workspace): (Turns, Turns, Arc<Gauge>, PathBuf),
    (end, gone): (CancellationToken, CancellationToken),
) -> oneshot::Receiver<ConnectionTo<Agent>> {
    let (ready, to) = oneshot::channel();
    tokio::spawn(async move {
        // However this ends, all waiting tasks are notified.
        let _gone = gone.drop_guard();
        let served = Client
            .v1()
            .name("workshop")
            .on_receive_dispatch(
                async move |message: Dispatch, _: ConnectionTo<Agent>| {
                    dispatch_incoming(message, (&turns, &prompts), &gauge, &workspace)
                },
                agent_client_protocol::on_receive_dispatch!(),
            )
            .connect_with(transport, async move |connection: ConnectionTo<Agent>| {
                // The requester may have given up.
                let _ = ready.send(connection.clone());
                tokio::select! {
                    () = end.cancelled() => {}
                    () = connection.incoming_closed() => {}
                }
                Ok(())
            });
        if let Err(error) = served.await {
            tracing::debug!("the connection to a coding agent ended: {}", error.message);
        }
    });
    to
}

/// Processes an incoming message of an agent. Never waits.
fn dispatch_incoming(
    message: Dispatch,
    (turns, prompts): (&Turns, &Turns),
    gauge: &Gauge,
    workspace: &Path,
) -> Result<Handled<Dispatch>, Error> {
    let turn = |session: &str| turns.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned();
    match message {
        Dispatch::Request(request, responder) if is_of_terminal(request.method()) => {
            let session = request.params().get("sessionId").and_then(serde_json::Value::as_str).unwrap_or_default();
            let turn = turn(session);
            serve_terminal(request, responder, turn.as_deref().map(|turn| &turn.terminals));
        }
        Dispatch::Request(request, responder) => {
            if let Some((session, request)) = Request::of(request, responder) {
                match turn(&session) {
                    Some(turn) => turn.request(request),
                    None => OpenRequest::Request(request).refuse("there is no such session"),
                }
            }
        }
        Dispatch::Notification(notification) if notification.method() == UPDATE => {
            gauge.update_done();
            let (_, params) = notification.into_parts();
            if let Ok(SessionNotification { session_id, update, .. }) = serde_json::from_value(params)
                && let Some(turn) = turn(&session_id.to_string())
            {
                turn.update(update, workspace);
            }
        }
        Dispatch::Notification(_) => {}
        Dispatch::Response(result, router) => {
            let prompts = prompts.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(turn) = prompts.get(&router.id().to_string()) {
                turn.note_answered();
            }
            return Ok(Handled::No { message: Dispatch::Response(result, router), retry: false });
        }
    }
    Ok(Handled::Yes)
}

/// Returns the error for an agent that has ended, with the end of its output outside of the protocol.
fn ended(agent: &McpServer, words: &Words, gauge: &Gauge) -> ProviderError {
    let name = agent.shown();
    let (what, remedy) = if gauge.is_garbage.load(Ordering::Relaxed) {
        let what = format!("{name} does not speak the Agent Client Protocol: its output is something else");
        (what, "see its manual for how to start it in this mode")
    } else if gauge.is_over.load(Ordering::Relaxed) {
        (format!("{name} sent a message that is too long, and was stopped"), "try it outside the room")
    } else {
        let last = words.last();
        let said = if last.is_empty() { String::new() } else { format!("; it said: {last}") };
        (format!("{name} ended{said}"), "try it outside the room, then give the task again")
    };
    ProviderError { remedy: remedy.to_owned(), ..ProviderError::new(ErrorCause::Agent(AgentFault::Ended), what) }
}

/// Whether an error message says that a login is required; agents report this in many ways.
fn asks_for_login(words: &str) -> bool {
    let words = words.to_lowercase();
    ["authentication required", "auth_required", "please log in", "/login", "not logged in", "unauthenticated"]
        .iter()
        .any(|sign| words.contains(sign))
}

/// Describes how to log in to an agent.
fn login_words(method: &AuthMethod) -> Option<String> {
    let (name, description) = match method {
        AuthMethod::Agent(method) => (&method.name, &method.description),
        AuthMethod::Terminal(method) => (&method.name, &method.description),
        _ => return None,
    };
    let more = description.as_ref().map(|more| format!(" ({})", plain(more, 200))).unwrap_or_default();
    Some(format!("{}{more}", plain(name, 80)))
}
