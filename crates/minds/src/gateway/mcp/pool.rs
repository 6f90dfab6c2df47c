//! The MCP servers in use: each is connected once for all users, reconnected when the connection is lost, and ended
//! when it is no longer needed.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::connection::{CallState, Connection, ServerChannel, connect};
use super::elicitation::{McpElicitation, McpReply};
use super::failure::{McpFailure, McpFault};
use super::handler::{ServerQuestion, Wants};
use super::messages::{McpCommand, McpEvent, McpRequest, McpStatus};
use super::offer::McpOffer;
use super::pace::{Pace, SETTLE};
use super::sampling::McpSampling;
use super::settings::McpTerms;
use crate::agent::{McpServer, McpTransport};
use crate::base::Id;
use crate::base::backoff::Backoff;
use crate::gateway::keys::Environment;
use crate::gateway::keys::private_variables;
use crate::gateway::peers::consent::{self, Consent};
use crate::gateway::peers::plain;
use crate::gateway::peers::process::Place;
use crate::gateway::programs::sandbox::Confinement;
use crate::gateway::programs::sandbox::attribute_reports::PutBackListener;
use crate::gateway::programs::sandbox::unconfined::{self, SandboxedPrograms};
use crate::gateway::programs::{begin_observing, end_observing};
use crate::workspace::vfs::ProgramObserver;

/// The maximum number of calls that wait for one server.
const ORDERS: usize = 256;
/// How long a server that is no longer needed may take to exit.
const EXIT_TIMEOUT: Duration = Duration::from_millis(1_500);
/// How long a server may take to exit at shutdown.
const PATIENCE_AT_EXIT: Duration = Duration::from_millis(250);
/// How long all servers together may take to exit at shutdown.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1_200);
/// The interval at which it is checked whether a server is still connected, or was allowed meanwhile.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// The duration after which a connection counts as successful.
const STABLE_AFTER: Duration = Duration::from_secs(60);

/// Receives the pool's events. It may be called from any of the pool's threads.
pub type EmitEvent = Arc<dyn Fn(McpEvent) + Send + Sync>;

/// The folders with which servers run, and the person's permissions.
#[derive(Clone, Debug, Default)]
struct ServerPlace {
    workspace: Option<PathBuf>,
    config: Option<PathBuf>,
    put_back: PutBackListener,
}

/// The pool of MCP servers.
pub struct Pool {
    handle: Handle,
    says: EmitEvent,
    place: ServerPlace,
    servers: BTreeMap<Id, PooledServer>,
    ending: Vec<JoinHandle<()>>,
    calls: Calls,
    exit: CancellationToken,
}

/// The cancellation tokens of the running calls.
type Calls = Arc<Mutex<HashMap<Id, CancellationToken>>>;

/// The running calls of a connection.
type CallsUnderWay = Arc<Mutex<BTreeMap<Id, Arc<CallState>>>>;

fn call_of(under_way: &CallsUnderWay, id: &Id) -> Option<Arc<CallState>> {
    under_way.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
}

/// A server that is in use.
struct PooledServer {
    orders: mpsc::Sender<Order>,
    end: CancellationToken,
    task: JoinHandle<()>,
}

/// A command to a server's task.
enum Order {
    Call(Call),
    /// The answer of a person or a model.
    Answer {
        id: Id,
        number: u64,
        reply: McpReply,
    },
    /// Retry the connection with these terms.
    Again(Box<McpTerms>),
}

/// A request to a server.
struct Call {
    id: Id,
    request: McpRequest,
    observer: Option<Box<ProgramObserver>>,
    cancel: CancellationToken,
}

impl Pool {
    /// Creates a pool without servers. Its events are passed to `says`, and what its servers change of guarded files to
    /// `put_back`.
    pub fn new(handle: Handle, environment: &Environment, says: EmitEvent, put_back: PutBackListener) -> Self {
        let place = ServerPlace {
            put_back,
            workspace: environment.workspace().map(Path::to_owned),
            config: environment.config_folder().map(Path::to_owned),
        };
        let exit = CancellationToken::new();
        let (servers, ending, calls) = (BTreeMap::new(), Vec::new(), Calls::default());
        Self { handle, says, place, servers, ending, calls, exit }
    }

    /// Executes a command without waiting.
    pub fn execute(&mut self, command: McpCommand) {
        match command {
            McpCommand::Connect { server, terms } => self.connect(*server, terms),
            McpCommand::Release { key } => {
                if let Some(kept) = self.servers.remove(&key) {
                    kept.end.cancel();
                    self.ending.retain(|task| !task.is_finished());
                    self.ending.push(kept.task);
                }
            }
            McpCommand::Call { id, key, request, observer } => {
                if let Err(failure) = self.call(id.clone(), &key, *request, observer) {
                    (self.says)(McpEvent::Done { id, outcome: Err(failure) });
                }
            }
            McpCommand::Answer { id, key, number, reply } => {
                if let Some(kept) = self.servers.get(&key) {
                    // If the queue is full, the question stays open until the call's time limit.
                    let _ = kept.orders.try_send(Order::Answer { id, number, reply });
                }
            }
            McpCommand::Cancel { id } => {
                let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(cancel) = calls.get(&id) {
                    cancel.cancel();
                }
            }
        }
    }

    fn connect(&mut self, server: McpServer, terms: Box<McpTerms>) {
        let key = server.key();
        if let Some(kept) = self.servers.get(&key).filter(|kept| !kept.task.is_finished()) {
            // If the queue is full, the task is busy connecting already.
            let _ = kept.orders.try_send(Order::Again(terms));
            return;
        }
        let (orders, received) = mpsc::channel(ORDERS);
        let end = self.exit.child_token();
        let keeper = ServerTask {
            key: key.clone(),
            server,
            terms: Arc::from(terms),
            place: self.place.clone(),
            says: self.says.clone(),
            calls: self.calls.clone(),
            orders: received,
            end: end.clone(),
            exit: self.exit.clone(),
            reported: None,
        };
        let task = self.handle.spawn(keeper.keep());
        self.servers.insert(key, PooledServer { orders, end, task });
    }

    /// Makes a request to a server, without waiting. Its result is an event, unless it cannot be made, for the returned
    /// reason.
    pub(in crate::gateway) fn call(
        &mut self,
        id: Id,
        key: &Id,
        request: McpRequest,
        observer: Option<Box<ProgramObserver>>,
    ) -> Result<(), McpFailure> {
        let cancel = self.exit.child_token();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), cancel.clone());
        let call = Call { id: id.clone(), request, observer, cancel };
        let gone = "the server is not connected";
        let failure = match self.servers.get(key) {
            Some(kept) => match kept.orders.try_send(Order::Call(call)) {
                Ok(()) => return Ok(()),
                Err(mpsc::error::TrySendError::Full(_)) => "too many calls are waiting for this server",
                Err(mpsc::error::TrySendError::Closed(_)) => gone,
            },
            None => gone,
        };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        Err(McpFailure::new(McpFault::Gone, failure, ""))
    }

    /// Ends all servers and waits for that, for a bounded time, after which they are killed.
    pub fn shut_down(mut self) {
        self.exit.cancel();
        let tasks: Vec<JoinHandle<()>> = std::mem::take(&mut self.servers)
            .into_values()
            .map(|kept| kept.task)
            .chain(self.ending.drain(..))
            .collect();
        self.handle.clone().block_on(async {
            let all = async {
                for task in tasks {
                    // A task that panicked has dropped its process, which ended it.
                    let _ = task.await;
                }
            };
            let _ = timeout(SHUTDOWN_TIMEOUT, all).await;
        });
    }
}

/// Reads the offer of a server after a delay.
async fn offer_soon(line: ServerChannel, terms: Arc<McpTerms>, wait: Duration) -> Result<McpOffer, McpFailure> {
    sleep(wait).await;
    line.offer(&terms).await
}

/// Returns the call that a question belongs to (the named one, otherwise the first running one), and the number of
/// candidates.
fn meant(named: Option<&Id>, under_way: &CallsUnderWay) -> (Option<(Id, Arc<CallState>)>, usize) {
    let calls = under_way.lock().unwrap_or_else(PoisonError::into_inner);
    let of_name = named.and_then(|id| calls.get_key_value(id));
    let is_named = of_name.is_some();
    let first = of_name.or_else(|| calls.iter().next()).map(|(id, call)| (id.clone(), call.clone()));
    (first, if is_named { 1 } else { calls.len() })
}

/// Waits for the optional future; never returns if there is none.
async fn next_of<T>(of: &mut Option<BoxFuture<'_, T>>) -> T {
    match of {
        Some(of) => of.await,
        None => std::future::pending().await,
    }
}

/// Reports the result of a call.
fn done(calls: &Calls, says: &EmitEvent, id: Id, outcome: Result<super::answer::McpAnswer, McpFailure>) {
    calls.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    says(McpEvent::Done { id, outcome });
}

/// The task that keeps one server connected.
struct ServerTask {
    key: Id,
    server: McpServer,
    terms: Arc<McpTerms>,
    place: ServerPlace,
    says: EmitEvent,
    calls: Calls,
    orders: mpsc::Receiver<Order>,
    end: CancellationToken,
    exit: CancellationToken,
    /// The last reported status.
    reported: Option<McpStatus>,
}

impl ServerTask {
    async fn keep(mut self) {
        let end = self.end.clone();
        let backoff = Backoff::new(1.0, 60.0);
        let mut failures = 0;
        loop {
            let connected = tokio::select! {
                connected = self.connected() => connected,
                () = end.cancelled() => break,
            };
            let failure = match connected {
                Ok((connection, offer)) => {
                    let since = Instant::now();
                    self.emit(McpStatus::Ready { offer: Box::new(offer) });
                    let Some(failure) = self.serve(connection).await else { break };
                    if since.elapsed() > STABLE_AFTER {
                        failures = 0;
                    }
                    failure
                }
                Err(failure) => failure,
            };
            let tries_again = !failure.fault.needs_person();
            self.emit(McpStatus::Failed { failure: failure.clone(), tries_again });
            let wait = tries_again.then(|| Duration::from_secs_f64(backoff.wait_secs(failures)));
            failures = failures.saturating_add(1);
            if !self.rest(&failure, wait).await {
                break;
            }
        }
        // All waiting requesters get a failure.
        self.orders.close();
        while let Some(order) = self.orders.recv().await {
            if let Order::Call(call) = order {
                self.refuse(call, McpFailure::new(McpFault::Gone, "the server was stopped", ""));
            }
        }
    }

    /// Waits until a person has allowed the server, connects it, and reads its offer.
    async fn connected(&self) -> Result<(Connection, McpOffer), McpFailure> {
        self.allowed().await?;
        let confinement = (!self.is_unconfined()).then(Confinement::of_this_computer);
        let workspace = self.place.workspace.clone().unwrap_or_else(|| PathBuf::from("."));
        let variable = |name: &str| private_variables::variable(name).filter(|value| !value.is_empty());
        let hidden = self.place.config.as_deref();
        let place = Place {
            name: format!("the MCP server {}", self.server.label()),
            put_back: self.place.put_back.clone(),
            folder: &workspace,
            own: &[],
            hidden,
            confinement,
            variable: &variable,
        };
        let connection = connect(&self.server, &self.terms, &place).await?;
        match connection.line().offer(&self.terms).await {
            Ok(offer) => Ok((connection, offer)),
            Err(failure) => {
                let failure = if connection.is_closed() { connection.closed_failure() } else { failure };
                connection.close(PATIENCE_AT_EXIT).await;
                Err(failure)
            }
        }
    }

    /// Checks that a person has allowed exactly this server, without blocking: its code is read for that.
    async fn allowed(&self) -> Result<(), McpFailure> {
        let (place, server) = (self.place.clone(), self.server.clone());
        let looked = tokio::task::spawn_blocking(move || {
            let (config, folder) = (place.config.as_deref(), place.workspace.as_deref());
            let consent = consent::of(config, folder, &server);
            let is_other = consent == Consent::OfAnother;
            (consent, if is_other { consent::changed_sentence(config, folder, &server) } else { String::new() })
        });
        let (consent, changed) = looked.await.map_err(|error| {
            McpFailure::new(McpFault::Setup, format!("the files that it runs cannot be read: {error}"), "")
        })?;
        let label = self.server.label();
        let shown = self.server.shown();
        let what = match consent {
            Consent::Given => return Ok(()),
            Consent::None => format!("{shown} needs your permission"),
            Consent::OfAnother => format!("it, {changed}: {shown}"),
        };
        let folder = self
            .place
            .workspace
            .as_ref()
            .map(|folder| format!(" --workspace {}", folder.display()))
            .unwrap_or_default();
        let remedy = format!("if you trust it, run: workshop mcp allow {label}{folder}");
        Err(McpFailure::new(McpFault::NotAllowed, what, remedy))
    }

    fn emit(&mut self, news: McpStatus) {
        if self.reported.as_ref() != Some(&news) {
            self.reported = Some(news.clone());
            (self.says)(McpEvent::Standing { key: self.key.clone(), news });
        }
    }

    fn refuse(&self, call: Call, failure: McpFailure) {
        done(&self.calls, &self.says, call.id, Err(failure));
    }

    /// Serves requests to the server until the connection is lost; `None` if it was ended here.
    async fn serve(&mut self, mut connection: Connection) -> Option<McpFailure> {
        let end = self.end.clone();
        let under_way = CallsUnderWay::default();
        let mut questions = 0;
        let changed = connection.changed.clone();
        let mut look = interval(CHECK_INTERVAL);
        let mut stamp = consent::stamp(self.place.config.as_deref());
        let (mut offering, mut is_changed_again) = (None, false);
        let (mut pace, begun) = (Pace::default(), Instant::now());
        let (doubted, mut is_doubted) = (connection.doubted.clone(), false);
        let failure = loop {
            tokio::select! {
                () = end.cancelled() => break None,
                order = self.orders.recv() => match order {
                    None => break None,
                    Some(Order::Again(terms)) => {
                        self.terms = Arc::from(terms);
                        // The requester waits for an answer, whether or not it is the same as before.
                        self.reported = None;
                        offering = Some(offer_soon(connection.line(), self.terms.clone(), SETTLE).boxed());
                    }
                    Some(Order::Call(call)) => self.begin(&connection, call, &under_way),
                    Some(Order::Answer { id, number, reply }) => {
                        if let Some(call) = call_of(&under_way, &id) {
                            call.answer(number, reply);
                        }
                    }
                },
                Some(progress) = connection.progress.recv() => {
                    if let Some(call) = call_of(&under_way, &progress.id) {
                        call.heard.notify_one();
                        (self.says)(McpEvent::Progress { id: progress.id, text: progress.text });
                    }
                }
                () = doubted.notified() => {
                    // Reading the lists shows whether the server is still there.
                    if connection.is_closed() {
                        break Some(connection.closed_failure());
                    }
                    is_doubted = true;
                    offering = Some(offer_soon(connection.line(), self.terms.clone(), SETTLE).boxed());
                }
                Some(asked) = connection.asked.recv() => {
                    questions += 1;
                    let ServerQuestion { call, wants, reply } = asked;
                    match wants {
                        Wants::Person { message, schema } => {
                            self.ask(call, (message, schema), (questions, reply), &under_way);
                        }
                        Wants::Model(asked) => self.sample(call, &asked, (questions, reply), &under_way),
                    }
                }
                () = changed.notified() => {
                    // One listing at a time, in parallel to everything else.
                    match &offering {
                        None => {
                            let wait = pace.wait(begun.elapsed());
                            offering = Some(offer_soon(connection.line(), self.terms.clone(), wait).boxed());
                        }
                        Some(_) => is_changed_again = true,
                    }
                }
                offer = next_of(&mut offering) => {
                    offering = None;
                    if std::mem::take(&mut is_changed_again) {
                        changed.notify_one();
                    }
                    match offer {
                        Ok(offer) => {
                            is_doubted = false;
                            let offer = McpOffer { is_restless: pace.is_slowed(), ..offer };
                            self.emit(McpStatus::Ready { offer: Box::new(offer) });
                        }
                        Err(_) if connection.is_closed() => break Some(connection.closed_failure()),
                        Err(failure) if is_doubted || self.reported.is_none() => break Some(failure),
                        Err(failure) if failure.fault == McpFault::Gone => break Some(failure),
                        Err(failure) => tracing::warn!("{}: {}", self.server.label(), failure.sentence()),
                    }
                }
                _ = look.tick() => {
                    if connection.is_closed() {
                        break Some(connection.closed_failure());
                    }
                    let now = consent::stamp(self.place.config.as_deref());
                    if std::mem::replace(&mut stamp, now) != now
                        && let Err(failure) = self.allowed().await
                    {
                        break Some(failure);
                    }
                }
            }
        };
        let patience = if self.exit.is_cancelled() { PATIENCE_AT_EXIT } else { EXIT_TIMEOUT };
        connection.close(patience).await;
        failure
    }

    /// Whether the person switched off the sandbox of servers.
    fn is_unconfined(&self) -> bool {
        let (config, folder) = (self.place.config.as_deref(), self.place.workspace.as_deref());
        unconfined::of(config, folder, SandboxedPrograms::McpServers)
    }

    /// Starts a call, in parallel to the others.
    fn begin(&self, connection: &Connection, call: Call, under_way: &CallsUnderWay) {
        let this = Arc::new(CallState::default());
        under_way.lock().unwrap_or_else(PoisonError::into_inner).insert(call.id.clone(), this.clone());
        let (line, terms, under_way) = (connection.line(), self.terms.clone(), under_way.clone());
        let (calls, says) = (self.calls.clone(), self.says.clone());
        let is_local = matches!(self.server.transport, McpTransport::Stdio { .. });
        let is_confined = !self.is_unconfined();
        tokio::spawn(async move {
            let Call { id, request, observer, cancel } = call;
            let observed = begin_observing(observer.filter(|_| is_local).map(|observer| *observer), is_confined).await;
            let outcome = line.call(&id, request, &terms, &this, &cancel).await;
            line.compare_guarded_files().await;
            end_observing(observed).await;
            under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            done(&calls, &says, id, outcome);
        });
    }

    /// Passes a question on to a person, for the call that the server names, or otherwise for the only running one. If
    /// several are running, it is asked with the first, and says that the server did not name one. A question that
    /// cannot be answered is declined, and that is reported.
    fn ask(
        &self,
        named: Option<Id>,
        (message, schema): (String, Option<Value>),
        (number, reply): (u64, oneshot::Sender<McpReply>),
        under_way: &CallsUnderWay,
    ) {
        let (first, count) = meant(named.as_ref(), under_way);
        let message = match count {
            0 | 1 => message,
            several => format!("(The server does not say for which of {several} calls it asks.) {message}"),
        };
        let question = match &schema {
            Some(schema) => McpElicitation::of(number, &message, schema),
            None => Err("it wants more than a form".to_owned()),
        };
        match (first, question) {
            (Some((id, call)), Ok(question)) => {
                call.ask(number, reply);
                (self.says)(McpEvent::Asks { id, question: Box::new(question) });
            }
            (Some((id, _)), Err(why)) => {
                let _ = reply.send(McpReply::Declined);
                let question = plain(&message, 200);
                let text = format!("the server's question to you was declined, because {why}: {question}");
                (self.says)(McpEvent::Progress { id, text });
            }
            // The call is no longer running.
            (None, _) => drop(reply.send(McpReply::Declined)),
        }
    }

    /// Passes a question on to the model of the agent that made the call: the one that the server names, otherwise the
    /// only running one. With several, it would be unclear which agent pays.
    fn sample(
        &self,
        named: Option<Id>,
        asked: &Value,
        (number, reply): (u64, oneshot::Sender<McpReply>),
        under_way: &CallsUnderWay,
    ) {
        let (first, count) = meant(named.as_ref(), under_way);
        let Some((id, call)) = first else {
            let why = "a model can only be asked during a tool call, and none is running".to_owned();
            return drop(reply.send(McpReply::Refused { why }));
        };
        let taken = match McpSampling::of(number, asked) {
            _ if !self.server.sampling => {
                Err("servers may ask models only where a person allows it, with sampling: true".to_owned())
            }
            _ if count > 1 => Err(format!("it does not say for which of {count} calls it asks")),
            Err(why) => Err(why),
            Ok(question) => call.count_sample(self.terms.samples_at_most).map(|()| question),
        };
        match taken {
            Ok(question) => {
                call.sample(number, reply);
                (self.says)(McpEvent::Samples { id, question: Box::new(question) });
            }
            Err(why) => {
                if call.is_first_refusal() {
                    let text = format!("the server's question to a model was refused, because {why}");
                    (self.says)(McpEvent::Progress { id, text });
                }
                drop(reply.send(McpReply::Refused { why }));
            }
        }
    }

    /// Waits before the next attempt: for this long, or until a person has done something. `false` if the server was
    /// ended.
    async fn rest(&mut self, failure: &McpFailure, wait: Option<Duration>) -> bool {
        let end = self.end.clone();
        let until = wait.map(|wait| Instant::now() + wait);
        let stamp = consent::stamp(self.place.config.as_deref());
        let mut look = interval(CHECK_INTERVAL);
        loop {
            tokio::select! {
                () = end.cancelled() => return false,
                order = self.orders.recv() => match order {
                    None => return false,
                    Some(Order::Again(terms)) => {
                        self.terms = Arc::from(terms);
                        self.reported = None;
                        return true;
                    }
                    Some(Order::Call(call)) => self.refuse(call, failure.clone()),
                    // The requester is gone.
                    Some(Order::Answer { .. }) => {}
                },
                _ = look.tick() => {
                    let is_changed = failure.fault == McpFault::NotAllowed
                        && consent::stamp(self.place.config.as_deref()) != stamp;
                    if is_changed || until.is_some_and(|until| Instant::now() >= until) {
                        return true;
                    }
                }
            }
        }
    }
}
