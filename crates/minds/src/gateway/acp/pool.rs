//! The coding agents that are needed now: one process for each agent of the room, with one session for each piece of
//! work, and one beside it for whatever else it is asked.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::schema::{PromptResponse, StopReason};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::sync::Mutex as AsyncMutex;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::super::keys::{Environment, Keys};
use super::super::mcp::consent;
use super::super::programs::ProgramPlace;
use super::super::provider::{
    AgentFault, AiProvider, DeltaSink, ErrorCause, LivePiece, ProviderError, ProviderRequest,
};
use super::connection::{Connection, Place, allowed};
use super::known::agent_of;
use super::prompt::{news, results, rules_of, whole};
use super::requests::{AnswerContext, Asked};
use super::session::Session;
use super::settings::AcpTerms;
use super::terminals::Ground;
use super::turn::{Broken, News};
use crate::agent::McpServer;
use crate::base::{Id, text};
use crate::mind::{AgentTold, Completion, Finish, OwnCall, OwnValue, ToolCall, Usage};

/// How long all of them together have when everything ends.
const EXIT: Duration = Duration::from_millis(1_200);
/// How often it is looked whether a process is still needed and allowed.
const LOOK: Duration = Duration::from_millis(250);
/// What comes at once is answered at once: so long it is waited whether more is wanted.
const TOGETHER: Duration = Duration::from_millis(15);

/// All of them.
#[derive(Clone, Default)]
pub(in crate::gateway) struct AgentPool(Arc<Shared>);

#[derive(Default)]
struct Shared {
    processes: Mutex<HashMap<(String, Id), Slot<Arc<Connection>>>>,
    works: Mutex<HashMap<(String, Id), Slot<Conversation>>>,
}

/// Something of which there is one at a time.
type Slot<T> = Arc<AsyncMutex<Option<T>>>;

fn slot<T>(slots: &Mutex<HashMap<(String, Id), Slot<T>>>, key: (String, Id)) -> Slot<T> {
    slots.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default().clone()
}

/// A session for one piece of work.
pub(super) struct Conversation {
    pub(super) session: Session,
    pub(super) agent: Id,
    /// What the rules were when it was told of them, by hash.
    rules: u64,
    /// What the agent wants and has been given to the room's work, by the ids of the calls.
    wanted: Vec<(String, Asked)>,
    /// Calls that were given to the room's work.
    pub(super) calls: u64,
    /// What came in while the agent could not be told.
    untold: Vec<String>,
    /// Tokens that were reckoned with in its turn so far, before it tells what it used.
    reckoned: Usage,
    /// What it has told that it paid, in dollars.
    pub(super) paid_usd: f64,
    /// What its first prompt is, as long as it had none.
    first: Option<First>,
    /// The call by which a person is asked about this mode of the agent, before its first prompt.
    pub(super) asks_mode: Option<(String, OwnValue)>,
    /// What could not be gone on with, in words for a person who was not told yet.
    pub(super) lost: Option<String>,
}

/// What the first prompt of a session is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum First {
    /// Everything.
    Whole,
    /// What the agent has not answered yet: it has kept the rest.
    Resumed,
}

/// Asks the coding agents as a provider.
pub(in crate::gateway) struct AcpProvider {
    pool: AgentPool,
    terms: AcpTerms,
    place: Option<Place>,
    keys: Arc<Keys>,
}

impl AgentPool {
    /// The provider that asks them under these terms.
    pub(in crate::gateway) fn provider(
        &self,
        terms: &AcpTerms,
        environment: &Environment,
        keys: Arc<Keys>,
    ) -> AcpProvider {
        let workspace =
            environment.workspace().map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        let config = environment.config_folder().map(PathBuf::from);
        let place = workspace.map(|workspace| Place { workspace, config });
        AcpProvider { pool: self.clone(), terms: terms.clone(), place, keys }
    }

    /// A piece of work is over: its session is closed, and what it was at is stopped.
    pub(in crate::gateway) fn end_work(&self, handle: &Handle, work: &Id) {
        let ended: Vec<Slot<Conversation>> = {
            let mut works = self.0.works.lock().unwrap_or_else(PoisonError::into_inner);
            let keys: Vec<_> = works.keys().filter(|(_, of)| of == work).cloned().collect();
            keys.iter().filter_map(|key| works.remove(key)).collect()
        };
        for slot in ended {
            handle.spawn(async move {
                if let Some(conversation) = slot.lock().await.take() {
                    conversation.close(Duration::from_secs(5)).await;
                }
            });
        }
    }

    /// Ends all of them and waits for that, a bounded time. What is left then is killed.
    pub(in crate::gateway) fn shut_down(&self, handle: &Handle) {
        let slots: Vec<Slot<Arc<Connection>>> = {
            let mut processes = self.0.processes.lock().unwrap_or_else(PoisonError::into_inner);
            processes.drain().map(|(_, slot)| slot).collect()
        };
        self.0.works.lock().unwrap_or_else(PoisonError::into_inner).clear();
        handle.block_on(async {
            let end = slots.iter().map(|slot| async {
                if let Some(connection) = slot.lock().await.take() {
                    connection.shut().await;
                }
            });
            let _ = timeout(EXIT, futures_util::future::join_all(end)).await;
        });
    }

    /// The process of an agent of the room, started where there is none.
    async fn connection(
        &self,
        agent: &str,
        program: &McpServer,
        terms: &AcpTerms,
        place: &Place,
    ) -> Result<Arc<Connection>, ProviderError> {
        let key = (agent.to_owned(), program.key());
        let slot = slot(&self.0.processes, key);
        let mut kept = slot.lock().await;
        if let Err(refused) = allowed(program, place) {
            if let Some(connection) = kept.take() {
                connection.shut().await;
            }
            return Err(refused);
        }
        if let Some(connection) = kept.as_ref().filter(|connection| !connection.is_gone()) {
            return Ok(connection.clone());
        }
        let connection = Connection::open(program, terms, place).await?;
        *kept = Some(connection.clone());
        let watched = Watched { slot: slot.clone(), program: program.clone(), place: place.clone(), idle: terms.idle };
        tokio::spawn(watched.keep_watch(connection.clone()));
        Ok(connection)
    }
}

/// A process while it runs.
struct Watched {
    slot: Slot<Arc<Connection>>,
    program: McpServer,
    place: Place,
    idle: Duration,
}

impl Watched {
    /// Ends it when nobody has needed it for long, and when a person does not allow it any more.
    async fn keep_watch(self, connection: Arc<Connection>) {
        let config = self.place.config.as_deref();
        let mut stamp = consent::stamp(config);
        loop {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                () = connection.gone() => return,
            }
            let now = consent::stamp(config);
            if std::mem::replace(&mut stamp, now) != now && allowed(&self.program, &self.place).is_err() {
                connection.shut().await;
                return;
            }
            if !connection.is_idle(self.idle) {
                continue;
            }
            let mut kept = self.slot.lock().await;
            if connection.is_idle(self.idle) {
                *kept = None;
                drop(kept);
                connection.shut().await;
                return;
            }
        }
    }
}

impl AiProvider for AcpProvider {
    fn complete(
        &self,
        request: ProviderRequest,
        sink: DeltaSink,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<Completion, ProviderError>> {
        let (pool, terms, place) = (self.pool.clone(), self.terms.clone(), self.place.clone());
        let keys = self.keys.clone();
        async move {
            let Some(place) = place else {
                let what = "coding agents work in the folder of a workspace, and none is open";
                return Err(ProviderError::of_agent(
                    AgentFault::NotStarted,
                    what.to_owned(),
                    "open a workspace".to_owned(),
                ));
            };
            let program = agent_of(&request.model, &terms.agents)
                .map_err(|problem| ProviderError::of_agent(AgentFault::NotStarted, problem.what, problem.remedy))?;
            let (mut sink, asking) = (sink, Asking { pool, program, terms, place, keys, request, cancel });
            match asking.request.work.clone() {
                Some(work) => asking.work(work, &mut sink).await,
                None => asking.apart(&mut sink).await,
            }
        }
        .boxed()
    }
}

/// One question to an agent.
pub(super) struct Asking {
    pool: AgentPool,
    pub(super) program: McpServer,
    pub(super) terms: AcpTerms,
    place: Place,
    keys: Arc<Keys>,
    pub(super) request: ProviderRequest,
    pub(super) cancel: CancellationToken,
}

impl Asking {
    /// Asks about a piece of work, in its session.
    async fn work(self, work: Id, sink: &mut DeltaSink) -> Result<Completion, ProviderError> {
        let slot = slot(&self.pool.0.works, (self.request.agent.clone(), work));
        let mut kept = tokio::select! {
            kept = slot.lock() => kept,
            () = self.cancel.cancelled() => return Err(ProviderError::new(ErrorCause::Cancelled, "")),
        };
        let is_other = |conversation: &Conversation| conversation.agent != self.program.key();
        if kept.as_ref().is_some_and(is_other) {
            *kept = None;
        }
        let mut previous = self.request.agent_session.clone();
        // One that went while the room was at what it wanted says so once, and goes on then if it can.
        if let Some(conversation) = kept.take_if(|conversation| conversation.session.connection.is_gone()) {
            previous = Some(conversation.kept());
            if !conversation.wanted.is_empty() {
                return Err(conversation.session.connection.told(&Broken::Gone));
            }
        }
        if let Some(conversation) = kept.as_mut()
            && !conversation.has_stopped(self.terms.cancel).await
        {
            previous = Some(conversation.kept());
            *kept = None;
        }
        if kept.is_none() {
            *kept = Some(self.begin(previous).await?);
        }
        let Some(conversation) = kept.as_mut() else { return Err(ProviderError::new(ErrorCause::Panicked, "")) };
        conversation.session.offer_tools(&self.request.tools);
        let blocks = match conversation.first {
            None => conversation.go_on(&self),
            Some(first) => {
                if let Some(asks) = self.or_cancelled(conversation.enter_mode(&self)).await? {
                    return Ok(asks);
                }
                conversation.first = None;
                Some(conversation.first_prompt(first, &self))
            }
        };
        let sent_chars = match blocks {
            Some(blocks) => {
                let chars = blocks.iter().map(|block| block.chars().count()).sum();
                conversation.session.prompt(blocks, false);
                chars
            }
            None => 0,
        };
        conversation.session.turn.expect();
        let outcome = self.answer(&conversation.session, sink).await;
        match outcome {
            Ok(answered) => conversation.completion(answered, sent_chars, &self),
            Err(error) => {
                conversation.give_up(self.terms.cancel);
                Err(error)
            }
        }
    }

    /// What programs are started with that the room runs for the agent.
    fn ground(&self) -> Ground {
        Ground {
            place: ProgramPlace::in_folder(&self.place.workspace, self.place.config.as_deref()),
            settings: self.terms.programs.clone(),
            keys: self.keys.clone(),
        }
    }

    /// The agent's process.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, ProviderError> {
        self.pool.connection(&self.request.agent, &self.program, &self.terms, &self.place).await
    }

    /// Asks beside all work, in a session of its own: the prompt says everything, and what the agent wants is refused.
    async fn apart(self, sink: &mut DeltaSink) -> Result<Completion, ProviderError> {
        let opened = async {
            let session = self.connection().await?.session(&self.terms, None).await?;
            self.keep_careful(&session).await?;
            Ok(session)
        };
        let session = self.or_cancelled(opened).await?;
        let blocks = whole(&self.request.prompt, false);
        let sent_chars = blocks.iter().map(|block| block.chars().count()).sum();
        session.prompt(blocks, true);
        let outcome = self.answer(&session, sink).await;
        if outcome.is_err() {
            session.stop(self.terms.cancel);
        }
        let (told, paid) = session.turn.told(true);
        session.turn.rest();
        session.close().await;
        let answered = outcome?;
        let cost_micro_usd = paid.map(micro_usd);
        let response = answered.end.ok_or_else(|| ProviderError::new(ErrorCause::Cut, ""))?;
        let usage = usage_of(&response);
        let told = Some(Box::new(AgentTold { sent_chars, cost_micro_usd, ..told }));
        let finish = finish(&response, &self.program)?;
        Ok(Completion { text: answered.words, tool_calls: Vec::new(), usage, finish, told })
    }

    /// Hears the agent until it is done, or wants something of the room.
    async fn answer(&self, session: &Session, sink: &mut DeltaSink) -> Result<Answered, ProviderError> {
        let mut answered = Answered::default();
        let mut settled: Option<Instant> = None;
        loop {
            let News { words, thought, calls, asked, end, is_too_much, beyond } = session.turn.take();
            if !thought.is_empty() {
                sink.push(LivePiece::Thought(&thought));
            }
            if !words.is_empty() {
                sink.push(LivePiece::Text(&words));
                answered.words.push_str(&words);
            }
            for (position, call) in calls {
                let arguments = shown(&call);
                sink.push(LivePiece::Call { position, name: &call.title, arguments: &arguments });
            }
            if is_too_much {
                asked.into_iter().for_each(Asked::withdraw);
                return Err(ProviderError::new(ErrorCause::TooMuch, ""));
            }
            if let Some(mode) = beyond {
                asked.into_iter().chain(answered.asked).for_each(Asked::withdraw);
                return Err(self.went_beyond(&mode));
            }
            answered.asked.extend(asked);
            if let Some(end) = end {
                answered.end = Some(end.map_err(|broken| session.connection.told(&broken))?);
                return Ok(answered);
            }
            let until = session.turn.heard().unwrap_or_else(Instant::now) + self.terms.silence;
            if !answered.asked.is_empty() {
                settled.get_or_insert_with(|| Instant::now() + TOGETHER);
            }
            let settles = async {
                match settled {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    answered.asked.into_iter().for_each(Asked::withdraw);
                    return Err(ProviderError::new(ErrorCause::Cancelled, ""));
                }
                () = session.turn.changed.notified() => {}
                () = settles => return Ok(answered),
                () = sleep_until(until) => {
                    if session.turn.terminals.is_busy() {
                        // It waits for a program of the room, whose time is limited by itself.
                        session.turn.expect();
                        continue;
                    }
                    let secs = u32::try_from(self.terms.silence.as_secs()).unwrap_or(u32::MAX);
                    return Err(ProviderError::new(ErrorCause::Stalled(secs), ""));
                }
            }
        }
    }
}

/// What an agent answered so far.
#[derive(Default)]
struct Answered {
    words: String,
    asked: Vec<Asked>,
    end: Option<PromptResponse>,
}

impl Conversation {
    /// A session before its first prompt.
    pub(super) fn new(session: Session, asking: &Asking, first: First, lost: Option<String>, paid_usd: f64) -> Self {
        Self {
            session,
            agent: asking.program.key(),
            rules: rules_of(&asking.request.prompt),
            wanted: Vec::new(),
            calls: 0,
            untold: Vec::new(),
            reckoned: Usage::default(),
            paid_usd,
            first: Some(first),
            asks_mode: None,
            lost,
        }
    }

    /// What is sent with this question: nothing, where the agent only waits for what came of what it wanted.
    fn go_on(&mut self, asking: &Asking) -> Option<Vec<String>> {
        let request = &asking.request;
        if !self.wanted.is_empty() {
            let (results, others) = results(&request.prompt);
            let ground = || asking.ground();
            let turn = self.session.turn.clone();
            let context =
                AnswerContext { workspace: &asking.place.workspace, terminals: &turn.terminals, ground: &ground };
            for (id, asked) in self.wanted.drain(..) {
                let result = results.iter().find(|result| result.answers.as_deref() == Some(&id));
                match result {
                    Some(result) => self.untold.extend(asked.answer(result, &context)),
                    None => asked.refuse("the room has no answer to this any more"),
                }
            }
            self.untold.extend(others);
            if self.session.turn.is_open() {
                return None;
            }
        }
        let rules = rules_of(&request.prompt);
        let has_changed = std::mem::replace(&mut self.rules, rules) != rules;
        Some(news(&request.prompt, has_changed, std::mem::take(&mut self.untold)))
    }

    /// Waits until what the agent was told to stop has stopped; whether it can be asked again.
    async fn has_stopped(&mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience + Duration::from_secs(1);
        while self.wanted.is_empty() && self.session.turn.is_open() {
            tokio::select! {
                () = self.session.turn.changed.notified() => {}
                () = self.session.connection.gone() => return false,
                () = sleep_until(until) => return false,
            }
        }
        !self.session.connection.is_gone()
    }

    /// The agent's answer as the room's work takes it: done, or with calls of tools.
    fn completion(
        &mut self,
        answered: Answered,
        sent_chars: usize,
        asking: &Asking,
    ) -> Result<Completion, ProviderError> {
        let Answered { words, asked, end } = answered;
        let (mut told, paid) = self.session.turn.told(end.is_some());
        told.sent_chars = sent_chars;
        told.cost_micro_usd = paid.map(|paid| {
            let before = std::mem::replace(&mut self.paid_usd, paid);
            // One that was ended may count anew.
            micro_usd(if paid < before { paid } else { paid - before })
        });
        (told.session, told.lost) = (Some(self.kept()), self.lost.take());
        let said = text::tokens_of_chars(words.chars().count());
        let Some(response) = end else {
            let calls: Vec<ToolCall> = asked.into_iter().map(|asked| self.given(asked, asking)).collect();
            self.reckoned.input_tokens =
                self.reckoned.input_tokens.saturating_add(text::tokens_of_chars(told.sent_chars));
            self.reckoned.output_tokens = self.reckoned.output_tokens.saturating_add(said);
            return Ok(Completion {
                text: words,
                tool_calls: calls,
                usage: Usage::default(),
                finish: Finish::ToolCalls,
                told: Some(Box::new(told)),
            });
        };
        // It ended without waiting for what it wanted.
        asked.into_iter().for_each(Asked::withdraw);
        self.session.turn.rest();
        let reckoned = std::mem::take(&mut self.reckoned);
        let mut usage = usage_of(&response);
        usage.input_tokens = usage.input_tokens.saturating_sub(reckoned.input_tokens);
        usage.output_tokens = usage.output_tokens.saturating_sub(reckoned.output_tokens);
        usage.cached_tokens = usage.cached_tokens.min(usage.input_tokens);
        let finish = finish(&response, &asking.program)?;
        Ok(Completion { text: words, tool_calls: Vec::new(), usage, finish, told: Some(Box::new(told)) })
    }

    /// Something that the agent wants, as a call of the room's tools.
    fn given(&mut self, asked: Asked, asking: &Asking) -> ToolCall {
        self.calls += 1;
        let id = format!("acp-{}", self.calls);
        let call = asked.call(id.clone(), &asking.place.workspace);
        self.wanted.push((id, asked));
        call
    }

    /// Nobody waits for this answer any more.
    fn give_up(&mut self, patience: Duration) {
        self.wanted.drain(..).for_each(|(_, asked)| asked.withdraw());
        self.reckoned = Usage::default();
        self.session.stop(patience);
    }

    /// The work is over.
    async fn close(mut self, patience: Duration) {
        self.give_up(patience);
        self.session.close().await;
    }
}

/// The reply's end in the room's terms; an agent that stopped for a reason of its own failed.
fn finish(response: &PromptResponse, program: &McpServer) -> Result<Finish, ProviderError> {
    let stopped = |what: &str, remedy: &str| {
        let what = format!("{} stopped by itself: {what}", program.shown());
        Err(ProviderError::of_agent(AgentFault::Stopped, what, remedy.to_owned()))
    };
    match response.stop_reason {
        StopReason::EndTurn => Ok(Finish::Stop),
        StopReason::MaxTokens => Ok(Finish::Length),
        StopReason::Refusal => Ok(Finish::Filtered),
        StopReason::MaxTurnRequests => stopped(
            "it reached its own limit of requests in one turn",
            "give the task in smaller parts, or raise its limit",
        ),
        StopReason::Cancelled => stopped("it says that it was cancelled, and not by the room", "give the task again"),
        _ => stopped("it gives a reason that is not known here", "give the task again"),
    }
}

fn usage_of(response: &PromptResponse) -> Usage {
    let tokens = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let Some(usage) = &response.usage else { return Usage::default() };
    let cached = tokens(usage.cached_read_tokens.unwrap_or_default());
    let written = tokens(usage.cached_write_tokens.unwrap_or_default());
    Usage {
        input_tokens: tokens(usage.input_tokens).saturating_add(cached).saturating_add(written),
        cached_tokens: cached,
        cache_written_tokens: written,
        output_tokens: tokens(usage.output_tokens),
    }
}

fn micro_usd(usd: f64) -> u64 {
    (usd * 1_000_000.0).ceil() as u64
}

/// What the screen shows of a use of a tool of its own, as a call has it.
fn shown(call: &OwnCall) -> String {
    call.paths.first().map_or_else(|| "{}".to_owned(), |path| serde_json::json!({ "path": path }).to_string())
}
