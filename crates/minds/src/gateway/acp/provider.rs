//! One request to a coding agent: sent in the session of its work or in a separate one, and followed until the agent is
//! done or requests something from the room.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::connection::{AgentPlace, Connection};
use super::conversation::{Answered, Conversation, SessionRequest};
use super::known_agents::agent_of;
use super::pool::AgentPool;
use super::prompt::whole;
use super::session::Session;
use super::settings::AcpTerms;
use super::stop_reason::{finish, micro_usd, usage_of};
use super::turns::agent_tool_calls::shown;
use super::turns::requests::OpenRequest;
use super::turns::terminals::TerminalEnvironment;
use super::turns::turn::{TurnError, TurnNews};
use crate::agent::McpServer;
use crate::base::Id;
use crate::gateway::keys::{Environment, Keys};
use crate::gateway::programs::ProgramPlace;
use crate::gateway::providers::provider::{
    AgentFault, AiProvider, DeltaSink, ErrorCause, ProviderError, ProviderRequest, StreamedPiece,
};
use crate::mind::{AgentReport, Completion};

/// How long to wait for further requests before a person is asked, so that they are asked about simultaneous ones
/// together. Requests that need no person never wait.
const TOGETHER: Duration = Duration::from_millis(15);

/// The provider that calls coding agents.
pub(in crate::gateway) struct AcpProvider {
    pool: AgentPool,
    terms: AcpTerms,
    place: Option<AgentPlace>,
    keys: Arc<Keys>,
}

impl AgentPool {
    /// Creates the provider with these terms.
    pub(in crate::gateway) fn provider(
        &self,
        terms: &AcpTerms,
        environment: &Environment,
        keys: Arc<Keys>,
    ) -> AcpProvider {
        let workspace =
            environment.workspace().map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        let config = environment.config_folder().map(PathBuf::from);
        let place = workspace.map(|workspace| AgentPlace { workspace, config, put_back: self.put_back() });
        AcpProvider { pool: self.clone(), terms: terms.clone(), place, keys }
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
                let what = "coding agents need an open workspace";
                return Err(ProviderError::of_agent(
                    AgentFault::NotStarted,
                    what.to_owned(),
                    "open a workspace".to_owned(),
                ));
            };
            let program = agent_of(&request.model, &terms.agents)
                .map_err(|problem| ProviderError::of_agent(AgentFault::NotStarted, problem.what, problem.remedy))?;
            let (mut sink, asking) = (sink, AgentRequest { pool, program, terms, place, keys, request, cancel });
            match asking.request.work.clone() {
                Some(work) => asking.work(work, &mut sink).await,
                None => asking.apart(&mut sink).await,
            }
        }
        .boxed()
    }
}

/// One request to an agent.
pub(super) struct AgentRequest {
    pool: AgentPool,
    pub(super) program: McpServer,
    pub(super) terms: AcpTerms,
    pub(super) place: AgentPlace,
    keys: Arc<Keys>,
    pub(super) request: ProviderRequest,
    pub(super) cancel: CancellationToken,
}

impl AgentRequest {
    /// Sends a request of an activation, in its session.
    async fn work(self, work: Id, sink: &mut DeltaSink) -> Result<Completion, ProviderError> {
        let terminal_environment = || self.terminal_environment();
        let slot = self.pool.conversation(&self.request.agent, work);
        let mut kept = tokio::select! {
            kept = slot.lock() => kept,
            () = self.cancel.cancelled() => return Err(ProviderError::new(ErrorCause::Cancelled, "")),
        };
        let is_other = |conversation: &Conversation| conversation.agent != self.program.key();
        if kept.as_ref().is_some_and(is_other) {
            *kept = None;
        }
        let mut previous = self.request.agent_session.clone();
        // If an agent ended while the room handled its request, that is reported once; then it continues if possible.
        if let Some(conversation) = kept.take_if(|conversation| conversation.session.connection.is_gone()) {
            previous = Some(conversation.kept());
            if !conversation.wanted.is_empty() {
                return Err(conversation.session.connection.provider_error(&TurnError::Gone));
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
            None => conversation.next_prompt(&self.question(&terminal_environment)),
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
        conversation.session.turn.reset_silence_timeout();
        let outcome = self.answer(&conversation.session, sink).await;
        match outcome {
            Ok(answered) => conversation.completion(answered, sent_chars, &self.question(&terminal_environment)),
            Err(error) => {
                conversation.give_up(self.terms.cancel);
                Err(error)
            }
        }
    }

    /// Returns the environment of programs that the room runs for the agent.
    pub(super) fn terminal_environment(&self) -> TerminalEnvironment {
        TerminalEnvironment {
            place: ProgramPlace::in_folder(&self.place.workspace, self.place.config.as_deref())
                .telling(self.place.put_back.clone()),
            settings: self.terms.programs.clone(),
            keys: self.keys.clone(),
        }
    }

    /// Returns the parts of the request that a session needs.
    fn question<'a>(
        &'a self,
        terminal_environment: &'a (dyn Fn() -> TerminalEnvironment + Sync),
    ) -> SessionRequest<'a> {
        SessionRequest {
            request: &self.request,
            program: &self.program,
            workspace: &self.place.workspace,
            terminal_environment,
        }
    }

    /// Returns the agent's process.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, ProviderError> {
        self.pool.connection(&self.request.agent, &self.program, &self.terms, &self.place).await
    }

    /// Sends a request outside of all activations, in a session of its own: the prompt contains everything, and the
    /// agent's requests are refused.
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
        let (told, paid) = session.turn.take_report(true);
        session.turn.go_idle();
        session.close().await;
        let answered = outcome?;
        let cost_micro_usd = paid.map(micro_usd);
        let response = answered.end.ok_or_else(|| ProviderError::new(ErrorCause::Cut, ""))?;
        let usage = usage_of(&response);
        let told = Some(Box::new(AgentReport { sent_chars, cost_micro_usd, ..told }));
        let finish = finish(&response, &self.program)?;
        Ok(Completion { text: answered.words, tool_calls: Vec::new(), usage, finish, told })
    }

    /// Follows the agent until it is done or requests something from the room.
    async fn answer(&self, session: &Session, sink: &mut DeltaSink) -> Result<Answered, ProviderError> {
        let mut answered = Answered::default();
        let mut settled: Option<Instant> = None;
        loop {
            let TurnNews { words, thought, calls, asked, end, is_too_much, beyond } = session.turn.take();
            if !thought.is_empty() {
                sink.push(StreamedPiece::Thought(&thought));
            }
            if !words.is_empty() {
                sink.push(StreamedPiece::Text(&words));
                answered.words.push_str(&words);
            }
            for (position, call) in calls {
                let arguments = shown(&call);
                sink.push(StreamedPiece::Call { position, name: &call.title, arguments: &arguments });
            }
            if is_too_much {
                asked.into_iter().for_each(OpenRequest::withdraw);
                return Err(ProviderError::new(ErrorCause::TooMuch, ""));
            }
            if let Some(mode) = beyond {
                asked.into_iter().chain(answered.asked).for_each(OpenRequest::withdraw);
                return Err(self.unallowed_mode_error(&mode));
            }
            answered.asked.extend(asked);
            if let Some(end) = end {
                answered.end = Some(end.map_err(|broken| session.connection.provider_error(&broken))?);
                return Ok(answered);
            }
            if answered.asked.iter().any(|asked| !asked.may_wait_for_a_person()) {
                return Ok(answered);
            }
            let until = session.turn.last_activity().unwrap_or_else(Instant::now) + self.terms.silence;
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
                    answered.asked.into_iter().for_each(OpenRequest::withdraw);
                    return Err(ProviderError::new(ErrorCause::Cancelled, ""));
                }
                () = session.turn.changed.notified() => {}
                () = settles => return Ok(answered),
                () = sleep_until(until) => {
                    if session.turn.terminals.is_busy() {
                        // The agent waits for a program of the room, whose time is limited separately.
                        session.turn.reset_silence_timeout();
                        continue;
                    }
                    let secs = u32::try_from(self.terms.silence.as_secs()).unwrap_or(u32::MAX);
                    return Err(ProviderError::new(ErrorCause::Stalled(secs), ""));
                }
            }
        }
    }
}
