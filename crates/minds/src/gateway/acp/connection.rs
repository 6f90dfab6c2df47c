//! The process of an agent with its connection: started, greeted, asked to open sessions, and ended.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::schema::{
    AuthMethod, CancelNotification, CloseSessionRequest, ContentBlock, InitializeResponse, LoadSessionRequest,
    NewSessionRequest, PromptRequest, ResumeSessionRequest, SessionConfigOptionValue, SessionId, SessionNotification,
    SetSessionConfigOptionRequest, SetSessionModeRequest, TextContent,
};
use agent_client_protocol::v1::{ConnectionTo, Dispatch, SentRequest};
use agent_client_protocol::{Agent, Client, Error, Handled, JsonRpcRequest, JsonRpcResponse, Lines};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::super::confine::Confinement;
use super::super::mcp::consent::{self, Consent};
use super::super::mcp::plain;
use super::super::mcp::process::{self, Process, Words};
use super::super::provider::{AgentFault, ErrorCause, ProviderError};
use super::PROVIDER;
use super::known::KnownAgent;
use super::options::{Choice, Offer};
use super::requests::{Asked, hello, is_of_terminal, serve_terminal};
use super::settings::AcpTerms;
use super::turn::{Broken, Turn};
use super::wire::{Gauge, UPDATE, incoming, outgoing};
use crate::agent::McpServer;

/// How long an agent has to end by itself once its input is closed.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long a session may take to close.
const CLOSE: Duration = Duration::from_secs(2);
/// The protocol's error for an agent to which nobody is logged in.
const LOGIN_NEEDED: i32 = -32_000;
/// How long its last words may take.
const LAST_WORDS: Duration = Duration::from_millis(50);
/// Characters of what an agent says of an error.
const ERROR_CHARS: usize = 400;

/// Where agents run.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The workspace.
    pub(super) workspace: PathBuf,
    /// Where the person keeps keys and what they allowed.
    pub(super) config: Option<PathBuf>,
}

/// A running agent.
pub(super) struct Connection {
    to: ConnectionTo<Agent>,
    agent: McpServer,
    offers_close: bool,
    offers_load: bool,
    offers_resume: bool,
    login: Vec<String>,
    turns: Turns,
    /// The turns whose prompts are not answered yet, by the numbers of those.
    prompts: Turns,
    process: Mutex<Option<Process>>,
    words: Words,
    gauge: Arc<Gauge>,
    end: CancellationToken,
    gone: CancellationToken,
    workspace: PathBuf,
    /// Sessions that are open.
    users: AtomicUsize,
    used: Mutex<Instant>,
}

/// The turns of its sessions, by the agent's names for those.
type Turns = Arc<Mutex<HashMap<String, Arc<Turn>>>>;

/// A session with an agent. Dropping it forgets it here; closing it tells the agent.
pub(super) struct Session {
    pub(super) connection: Arc<Connection>,
    pub(super) turn: Arc<Turn>,
    id: SessionId,
}

/// Whether a person has allowed exactly this agent in this workspace, and how they would.
pub(super) fn allowed(agent: &McpServer, place: &Place) -> Result<(), ProviderError> {
    let what = match consent::of(place.config.as_deref(), Some(&place.workspace), agent) {
        Consent::Given => return Ok(()),
        Consent::None => format!("the coding agent {} waits for you to allow it", agent.shown()),
        Consent::OfAnother => format!(
            "the coding agent, or a file that it runs, was changed since you allowed it, and waits for you to allow {}",
            agent.shown()
        ),
    };
    let name = agent.name.trim_start_matches(PROVIDER).trim_start_matches(':');
    let name = if name.contains([' ', '\'']) { format!("{name:?}") } else { name.to_owned() };
    let remedy = format!("if you trust it, run: workshop acp allow {name} --workspace {}", place.workspace.display());
    Err(ProviderError::of_agent(AgentFault::NotAllowed, what, remedy))
}

impl Connection {
    /// Starts an agent and greets it.
    pub(super) async fn open(agent: &McpServer, terms: &AcpTerms, place: &Place) -> Result<Arc<Self>, ProviderError> {
        allowed(agent, place)?;
        let opened = timeout(terms.start, Self::start(agent, terms, place)).await;
        opened.unwrap_or_else(|_| {
            let what =
                format!("{} said nothing for {:.0} s after it was started", agent.shown(), terms.start.as_secs_f64());
            let remedy = "see that this command line speaks the Agent Client Protocol, or raise acp.start_timeout_secs";
            Err(ProviderError::of_agent(AgentFault::NotStarted, what, remedy.to_owned()))
        })
    }

    async fn start(agent: &McpServer, terms: &AcpTerms, place: &Place) -> Result<Arc<Self>, ProviderError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let own = KnownAgent::of(agent).map(KnownAgent::own_places).unwrap_or_default();
        let started = process::start(
            &agent.transport,
            &process::Place {
                folder: &place.workspace,
                own: &own,
                hidden: place.config.as_deref(),
                confinement: terms.confined.then(Confinement::of_this_computer),
                variable: &variable,
            },
        );
        let started = started.map_err(|failure| {
            let known = KnownAgent::of(agent);
            let remedy = known.map_or(failure.remedy.clone(), |known| known.install.to_owned());
            ProviderError::of_agent(AgentFault::NotStarted, failure.what, remedy)
        })?;
        let (gauge, turns, prompts) = (Gauge::new(), Turns::default(), Turns::default());
        let (end, gone) = (CancellationToken::new(), CancellationToken::new());
        let words = started.process.words();
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
            login: Vec::new(),
            turns,
            prompts,
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
                this.login = auth_methods.iter().filter_map(login_words).collect();
                Ok(this.kept())
            }
            Err(broken) => {
                let error = this.told(&broken);
                this.shut().await;
                Err(error)
            }
        }
    }

    /// What the agent started is ended with it, also where nobody asks it anything any more.
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

    /// Opens a session.
    pub(super) async fn session(self: &Arc<Self>, terms: &AcpTerms) -> Result<Session, ProviderError> {
        self.touch();
        let request = NewSessionRequest::new(self.workspace.clone());
        let opened = match timeout(terms.start, self.ask(request)).await {
            Ok(opened) => opened.map_err(|broken| self.told(&broken))?,
            Err(_) => {
                let what = format!("{} opened no session for {:.0} s", self.agent.shown(), terms.start.as_secs_f64());
                let remedy = "try it outside of the room, or raise acp.start_timeout_secs";
                return Err(ProviderError::of_agent(AgentFault::NotStarted, what, remedy.to_owned()));
            }
        };
        Ok(self.begun(opened.session_id, Offer::of(opened.modes, opened.config_options)))
    }

    /// Goes on in a session that the agent has kept. The error says, in words for a person, why that cannot be. What the
    /// agent tells again of it meanwhile is about no session that is open, and is not heard.
    pub(super) async fn resume(self: &Arc<Self>, id: &str, terms: &AcpTerms) -> Result<Session, String> {
        self.touch();
        if self.turns().contains_key(id) {
            return Err("it is at that session already".to_owned());
        }
        let (session, folder) = (SessionId::new(id.to_owned()), self.workspace.clone());
        let resumed = async {
            match (self.offers_resume, self.offers_load) {
                (true, _) => {
                    let answer = self.ask(ResumeSessionRequest::new(session.clone(), folder)).await;
                    answer.map(|known| Offer::of(known.modes, known.config_options))
                }
                (false, true) => {
                    let answer = self.ask(LoadSessionRequest::new(session.clone(), folder)).await;
                    answer.map(|known| Offer::of(known.modes, known.config_options))
                }
                (false, false) => Err(Broken::Refused(0, "it keeps none".to_owned())),
            }
        };
        match timeout(terms.start, resumed).await {
            Ok(Ok(offer)) => Ok(self.begun(session.clone(), offer)),
            Ok(Err(Broken::Refused(_, words))) => Err(words),
            Ok(Err(Broken::Gone)) => Err("it ended".to_owned()),
            Err(_) => Err(format!("it said nothing for {:.0} s", terms.start.as_secs_f64())),
        }
    }

    fn begun(self: &Arc<Self>, id: SessionId, offer: Offer) -> Session {
        let turn = Arc::new(Turn::default());
        turn.offered(offer);
        self.turns().insert(id.to_string(), turn.clone());
        self.users.fetch_add(1, Ordering::Relaxed);
        Session { connection: self.clone(), turn, id }
    }

    /// Asks the agent something and waits for the answer.
    async fn ask<R: JsonRpcRequest>(&self, request: R) -> Result<R::Response, Broken>
    where
        R::Response: Send,
    {
        self.answer(self.to.send_request(request)).await
    }

    /// The answer to what was asked.
    async fn answer<T: JsonRpcResponse>(&self, sent: SentRequest<T>) -> Result<T, Broken> {
        tokio::select! {
            answer = sent.block_task() => match answer {
                Ok(answer) => Ok(answer),
                Err(error) => {
                    // One that ends is told by what was asked of it before it is known to be gone.
                    let _ = timeout(LAST_WORDS, self.gone.cancelled()).await;
                    Err(self.broken(error))
                }
            },
            () = self.gone.cancelled() => {
                // Its last words may come after its end.
                tokio::time::sleep(LAST_WORDS).await;
                Err(Broken::Gone)
            }
        }
    }

    fn broken(&self, error: Error) -> Broken {
        if self.is_gone() || agent_client_protocol::is_incoming_transport_closed(&error) {
            return Broken::Gone;
        }
        let data = error.data.as_ref().map(|data| match data {
            serde_json::Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        let words = data.map_or_else(|| error.message.clone(), |data| format!("{}: {data}", error.message));
        Broken::Refused(i32::from(error.code), plain(&words, ERROR_CHARS))
    }

    /// Whether the agent is gone.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.is_cancelled()
    }

    /// Waits until it is.
    pub(super) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// What went wrong, in words for a person.
    pub(super) fn told(&self, broken: &Broken) -> ProviderError {
        let name = self.agent.shown();
        match broken {
            Broken::Gone => ended(&self.agent, &self.words, &self.gauge),
            Broken::Refused(code, words) if *code == LOGIN_NEEDED || asks_for_login(words) => {
                let known = KnownAgent::of(&self.agent);
                let own = self.login.first().cloned();
                let how = known.map(|known| format!("run: {}", known.login)).or(own);
                let how = how.unwrap_or_else(|| format!("start {name} by itself and log in"));
                let remedy = format!("log in to it outside of the room, and give the task again: {how}");
                ProviderError::of_agent(
                    AgentFault::NeedsLogin,
                    format!("{name} wants you to log in first ({words})"),
                    remedy,
                )
            }
            Broken::Refused(_, words) => {
                let remedy = "see what it says; the same prompt may work in its own window";
                ProviderError::of_agent(
                    AgentFault::Refused,
                    format!("{name} answered with an error: {words}"),
                    remedy.to_owned(),
                )
            }
        }
    }

    /// Somebody needs it now.
    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Whether nobody has needed it for so long.
    pub(super) fn is_idle(&self, idle: Duration) -> bool {
        let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        self.users.load(Ordering::Relaxed) == 0 && used.elapsed() >= idle
    }

    /// Ends the agent and all that it started.
    pub(super) async fn shut(&self) {
        self.end.cancel();
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(process) = process {
            process.end(PATIENCE).await;
        }
        self.gone.cancel();
    }

    fn turns(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Turn>>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Sends a prompt; its answer comes to the turn.
    pub(super) fn prompt(&self, blocks: Vec<String>, apart: bool) {
        self.connection.touch();
        self.turn.begin(apart);
        let blocks = blocks.into_iter().map(|text| ContentBlock::Text(TextContent::new(text))).collect();
        let request = PromptRequest::new(self.id.clone(), blocks);
        let (connection, turn) = (self.connection.clone(), self.turn.clone());
        let sent = connection.to.send_request(request);
        let number = sent.id().to_string();
        connection.prompts.lock().unwrap_or_else(PoisonError::into_inner).insert(number.clone(), turn.clone());
        tokio::spawn(async move {
            let answer = connection.answer(sent).await;
            connection.prompts.lock().unwrap_or_else(PoisonError::into_inner).remove(&number);
            turn.end(answer);
        });
    }

    /// The agent's name for it.
    pub(super) fn id(&self) -> String {
        self.id.to_string()
    }

    /// Chooses something of what the agent lets be chosen.
    pub(super) async fn choose(&self, choice: Choice, terms: &AcpTerms) -> Result<(), ProviderError> {
        let (connection, id) = (&self.connection, self.id.clone());
        let chosen = async {
            match choice {
                Choice::Mode(mode) => connection.ask(SetSessionModeRequest::new(id, mode)).await.map(|_| None),
                Choice::Value(option, value) => {
                    let value = SessionConfigOptionValue::value_id(value);
                    let request = SetSessionConfigOptionRequest::new(id, option, value);
                    connection.ask(request).await.map(|answer| Some(answer.config_options))
                }
                Choice::Flag(option, is_on) => {
                    let request = SetSessionConfigOptionRequest::new(id, option, is_on);
                    connection.ask(request).await.map(|answer| Some(answer.config_options))
                }
            }
        };
        match timeout(terms.start, chosen).await {
            Ok(Ok(options)) => {
                if let Some(options) = options {
                    let mut offer = self.turn.offer();
                    offer.set_options(options);
                    self.turn.offered(offer);
                }
                Ok(())
            }
            Ok(Err(broken)) => Err(connection.told(&broken)),
            Err(_) => {
                let what = format!("{} did not take what was chosen for it", connection.agent.shown());
                let remedy = "take it out of acp.options, or raise acp.start_timeout_secs".to_owned();
                Err(ProviderError::of_agent(AgentFault::Refused, what, remedy))
            }
        }
    }

    /// Tells the agent to stop; one that does not within this time is ended.
    pub(super) fn stop(&self, patience: Duration) {
        if !self.turn.is_open() {
            return;
        }
        let number = self.turn.stop();
        // Where it cannot be told, it is gone.
        let _ = self.connection.to.send_notification(CancelNotification::new(self.id.clone()));
        let (connection, turn) = (self.connection.clone(), self.turn.clone());
        tokio::spawn(async move {
            let until = Instant::now() + patience;
            while turn.is_open_in(number) {
                tokio::select! {
                    () = turn.changed.notified() => {}
                    () = tokio::time::sleep_until(until) => {
                        tracing::debug!("a coding agent did not stop in time and is ended");
                        connection.shut().await;
                        return;
                    }
                }
            }
        });
    }

    /// Tells the agent that it is over, where it wants to know.
    pub(super) async fn close(self) {
        if self.connection.offers_close && !self.connection.is_gone() {
            let request = CloseSessionRequest::new(self.id.clone());
            // One that does not answer keeps what it has until it ends.
            let _ = timeout(CLOSE, self.connection.ask(request)).await;
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.connection.turns().remove(&*self.id.to_string());
        self.turn.terminals.end_all();
        self.connection.users.fetch_sub(1, Ordering::Relaxed);
        self.connection.touch();
    }
}

/// Serves a connection until it is ended here or the agent is gone; gives what speaks to it.
fn serve(
    transport: impl agent_client_protocol::ConnectTo<Client> + 'static,
    (turns, prompts, gauge, workspace): (Turns, Turns, Arc<Gauge>, PathBuf),
    (end, gone): (CancellationToken, CancellationToken),
) -> oneshot::Receiver<ConnectionTo<Agent>> {
    let (ready, to) = oneshot::channel();
    tokio::spawn(async move {
        // Whatever ends this, everybody who waits is told.
        let _gone = gone.drop_guard();
        let served = Client
            .v1()
            .name("workshop")
            .on_receive_dispatch(
                async move |message: Dispatch, _: ConnectionTo<Agent>| {
                    hear(message, (&turns, &prompts), &gauge, &workspace)
                },
                agent_client_protocol::on_receive_dispatch!(),
            )
            .connect_with(transport, async move |connection: ConnectionTo<Agent>| {
                // Whoever wanted it may have given up.
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

/// Takes in what an agent sends. Never waits.
fn hear(
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
            if let Some((session, asked)) = Asked::of(request, responder) {
                match turn(&session) {
                    Some(turn) => turn.ask(asked),
                    None => asked.refuse("there is no such session"),
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
                turn.seal();
            }
            return Ok(Handled::No { message: Dispatch::Response(result, router), retry: false });
        }
    }
    Ok(Handled::Yes)
}

/// Why an agent is gone, with the last of what it said beside the protocol.
fn ended(agent: &McpServer, words: &Words, gauge: &Gauge) -> ProviderError {
    let name = agent.shown();
    let (what, remedy) = if gauge.is_garbage.load(Ordering::Relaxed) {
        let what = format!("{name} does not speak the Agent Client Protocol: what it writes is something else");
        (what, "see its manual for how it is started so that it does")
    } else if gauge.is_over.load(Ordering::Relaxed) {
        (
            format!("{name} sent a message that is longer than any honest one, and was ended"),
            "try it outside of the room",
        )
    } else {
        let last = words.last();
        let said = if last.is_empty() { String::new() } else { format!("; it said: {last}") };
        (format!("{name} ended{said}"), "try it outside of the room, and give the task again")
    };
    ProviderError { remedy: remedy.to_owned(), ..ProviderError::new(ErrorCause::Agent(AgentFault::Ended), what) }
}

/// Agents tell in many ways that nobody is logged in.
fn asks_for_login(words: &str) -> bool {
    let words = words.to_lowercase();
    ["authentication required", "auth_required", "please log in", "/login", "not logged in", "unauthenticated"]
        .iter()
        .any(|sign| words.contains(sign))
}

/// How an agent says that one logs in to it.
fn login_words(method: &AuthMethod) -> Option<String> {
    let (name, description) = match method {
        AuthMethod::Agent(method) => (&method.name, &method.description),
        AuthMethod::Terminal(method) => (&method.name, &method.description),
        _ => return None,
    };
    let more = description.as_ref().map(|more| format!(" ({})", plain(more, 200))).unwrap_or_default();
    Some(format!("{}{more}", plain(name, 80)))
}
