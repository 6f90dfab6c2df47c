//! A session with an agent: opening or resuming it, prompting, cancelling and closing it.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::schema::{
    CancelNotification, CloseSessionRequest, ContentBlock, LoadSessionRequest, McpServer, NewSessionRequest,
    PromptRequest, ResumeSessionRequest, SessionConfigOptionValue, SessionId, SetSessionConfigOptionRequest,
    SetSessionModeRequest, TextContent,
};
use tokio::time::{Instant, timeout};

use super::connection::Connection;
use super::options::{Choice, Offer};
use super::settings::AcpTerms;
use super::turns::room_tools::OfferedTools;
use super::turns::tool_server::ToolServer;
use super::turns::turn::{Turn, TurnError};
use crate::gateway::providers::provider::{AgentFault, ProviderError};
use crate::mind::ToolDeclaration;

/// How long a session may take to close.
const CLOSE: Duration = Duration::from_secs(2);

/// A session with an agent. Dropping it only forgets it here; closing it notifies the agent.
pub(super) struct Session {
    pub(super) connection: Arc<Connection>,
    pub(super) turn: Arc<Turn>,
    id: SessionId,
    door: Option<ToolServer>,
}

/// The parts of a new session: its turn, and the server of the room's tools.
struct Beginning {
    turn: Arc<Turn>,
    door: Option<ToolServer>,
}

impl Beginning {
    /// Creates the parts with these tools of the room; `None` for a session without access to anything.
    fn with(tools: Option<&[ToolDeclaration]>) -> Self {
        let offered = tools.map(|tools| Arc::new(OfferedTools::new(tools.to_vec())));
        let turn = Arc::new(Turn::offering(offered.clone()));
        let door = offered.map(|offered| ToolServer::open(offered, turn.clone()));
        let door = door.and_then(|door| {
            door.inspect_err(|error| tracing::warn!("a coding agent has none of the room's tools: {error}")).ok()
        });
        Self { turn, door }
    }

    /// Returns the MCP servers to announce to the agent.
    fn servers(&self) -> Vec<McpServer> {
        self.door.iter().filter_map(ToolServer::server).collect()
    }
}

impl Connection {
    /// Opens a session in which these tools of the room are offered.
    pub(super) async fn session(
        self: &Arc<Self>,
        terms: &AcpTerms,
        tools: Option<&[ToolDeclaration]>,
    ) -> Result<Session, ProviderError> {
        self.touch();
        let beginning = Beginning::with(tools);
        let request = NewSessionRequest::new(self.workspace.clone()).mcp_servers(beginning.servers());
        let opened = match timeout(terms.start, self.ask(request)).await {
            Ok(opened) => opened.map_err(|broken| self.provider_error(&broken))?,
            Err(_) => {
                let what = format!(
                    "{} did not open a session within {:.0} \
                    s",
                    self.agent.shown(),
                    terms.start.as_secs_f64()
                );
                let remedy = "try it outside the room, or raise acp.start_timeout_secs";
                return Err(ProviderError::of_agent(AgentFault::NotStarted, what, remedy.to_owned()));
            }
        };
        Ok(self.begun(opened.session_id, Offer::of(opened.modes, opened.config_options), beginning))
    }

    /// Continues a session that the agent has stored. The error says, for a person, why that is impossible. Updates
    /// that the agent repeats meanwhile belong to no open session and are ignored.
    pub(super) async fn resume(
        self: &Arc<Self>,
        id: &str,
        terms: &AcpTerms,
        tools: &[ToolDeclaration],
    ) -> Result<Session, String> {
        self.touch();
        if self.turns().contains_key(id) {
            return Err("it already has that session open".to_owned());
        }
        let (session, folder) = (SessionId::new(id.to_owned()), self.workspace.clone());
        let beginning = Beginning::with(Some(tools));
        let servers = beginning.servers();
        let resumed = async {
            match (self.offers_resume, self.offers_load) {
                (true, _) => {
                    let answer =
                        self.ask(ResumeSessionRequest::new(session.clone(), folder).mcp_servers(servers)).await;
                    answer.map(|known| Offer::of(known.modes, known.config_options))
                }
                (false, true) => {
                    let answer = self.ask(LoadSessionRequest::new(session.clone(), folder).mcp_servers(servers)).await;
                    answer.map(|known| Offer::of(known.modes, known.config_options))
                }
                (false, false) => Err(TurnError::Refused(0, "it keeps none".to_owned())),
            }
        };
        match timeout(terms.start, resumed).await {
            Ok(Ok(offer)) => Ok(self.begun(session.clone(), offer, beginning)),
            Ok(Err(TurnError::Refused(_, words))) => Err(words),
            Ok(Err(TurnError::Gone)) => Err("it ended".to_owned()),
            Err(_) => Err(format!("it said nothing for {:.0} s", terms.start.as_secs_f64())),
        }
    }

    fn begun(self: &Arc<Self>, id: SessionId, offer: Offer, beginning: Beginning) -> Session {
        let Beginning { turn, door } = beginning;
        turn.offered(offer);
        self.turns().insert(id.to_string(), turn.clone());
        self.users.fetch_add(1, Ordering::Relaxed);
        Session { connection: self.clone(), turn, id, door }
    }
}

impl Session {
    /// Sends a prompt; its answer arrives in the turn.
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
            connection.compare_guarded_files().await;
            turn.end(answer);
        });
    }

    /// Replaces the offered tools of the room; the agent is notified if they changed.
    pub(super) fn offer_tools(&self, tools: &[ToolDeclaration]) {
        if let Some(door) = &self.door {
            door.offered().set(tools);
        }
    }

    /// Whether any tools of the room are offered.
    pub(super) fn offers_tools(&self) -> bool {
        self.door.as_ref().is_some_and(|door| door.server().is_some() && !door.offered().all().is_empty())
    }

    /// Returns the agent's id of the session.
    pub(super) fn id(&self) -> String {
        self.id.to_string()
    }

    /// Sets one of the agent's options.
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
            Ok(Err(broken)) => Err(connection.provider_error(&broken)),
            Err(_) => {
                let what = format!("{} did not accept its options", connection.agent.shown());
                let remedy = "remove them from acp.options, or raise acp.start_timeout_secs".to_owned();
                Err(ProviderError::of_agent(AgentFault::Refused, what, remedy))
            }
        }
    }

    /// Tells the agent to stop. If it does not within this time, it is killed.
    pub(super) fn stop(&self, patience: Duration) {
        if !self.turn.is_open() {
            return;
        }
        let number = self.turn.stop();
        // If sending fails, the agent has ended.
        let _ = self.connection.to.send_notification(CancelNotification::new(self.id.clone()));
        let (connection, turn) = (self.connection.clone(), self.turn.clone());
        tokio::spawn(async move {
            let until = Instant::now() + patience;
            while turn.is_open_in(number) {
                tokio::select! {
                    () = turn.changed.notified() => {}
                    () = tokio::time::sleep_until(until) => {
                        tracing::debug!("a coding agent did not stop in time and was killed");
                        connection.shut().await;
                        return;
                    }
                }
            }
        });
    }

    /// Closes the session, if the agent supports that.
    pub(super) async fn close(self) {
        if self.connection.offers_close && !self.connection.is_gone() {
            let request = CloseSessionRequest::new(self.id.clone());
            // An agent that does not answer keeps the session until it ends.
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
