//! Starting or continuing an agent's session for an activation: options from the settings are set first, and a mode in
//! which it asks less often is only entered once a person has allowed it.

use serde_json::json;

use super::PROVIDER;
use super::connection::Connection;
use super::conversation::{Conversation, First};
use super::options::{MODE, Offer};
use super::prompt::{MODE_CALL, results, resumed, whole};
use super::provider::AgentRequest;
use super::session::Session;
use super::turns::requests::OWN_TOOL;
use super::turns::turn::TurnError;
use crate::gateway::providers::provider::{AgentFault, ErrorCause, ProviderError};
use crate::mind::{AgentOptionValue, AgentReport, AgentSession, CallEnd, Completion, Finish, ToolCall, Usage};

impl AgentRequest {
    /// Opens the session of an activation: the stored one if the agent can continue it, otherwise a new one.
    pub(super) async fn begin(&self, previous: Option<AgentSession>) -> Result<Conversation, ProviderError> {
        let begun = async {
            let connection = self.connection().await?;
            let previous = previous.filter(|session| session.agent == self.program.key());
            let (session, first, lost) = self.session_of(&connection, previous.as_ref()).await?;
            self.choose_options(&session).await?;
            // A continued session also continues its cost.
            let paid = previous.filter(|_| first == First::Resumed).map_or(0, |session| session.paid_micro_usd);
            Ok(Conversation::new(session, (&self.program, &self.request), first, lost, paid as f64 / 1e6))
        };
        self.or_cancelled(begun).await
    }

    async fn session_of(
        &self,
        connection: &std::sync::Arc<Connection>,
        previous: Option<&AgentSession>,
    ) -> Result<(Session, First, Option<String>), ProviderError> {
        let Some(previous) = previous else {
            return Ok((connection.session(&self.terms, Some(&self.request.tools)).await?, First::Whole, None));
        };
        match connection.resume(&previous.id, &self.terms, &self.request.tools).await {
            Ok(session) => Ok((session, First::Resumed, None)),
            Err(_) if connection.is_gone() => Err(connection.provider_error(&TurnError::Gone)),
            Err(why) => {
                let lost = format!(
                    "{} could not resume its session ({why}): it starts a new one with the earlier messages and \
                        actions; anything else it knew is lost",
                    self.program.shown()
                );
                Ok((connection.session(&self.terms, Some(&self.request.tools)).await?, First::Whole, Some(lost)))
            }
        }
    }

    /// Waits for a future, unless the request is cancelled.
    pub(super) async fn or_cancelled<T>(
        &self,
        done: impl Future<Output = Result<T, ProviderError>>,
    ) -> Result<T, ProviderError> {
        tokio::select! {
            done = done => done,
            () = self.cancel.cancelled() => Err(ProviderError::new(ErrorCause::Cancelled, "")),
        }
    }

    /// Returns the options of this agent in the settings.
    fn chosen(&self) -> impl Iterator<Item = (&str, &str)> {
        let name = self.program.name.trim_start_matches(PROVIDER).trim_start_matches(':');
        let chosen = self.terms.options.get(name);
        chosen.into_iter().flatten().map(|(option, value)| (option.as_str(), value.as_str()))
    }

    fn cannot_be_chosen(&self, what: &str) -> ProviderError {
        let what = format!("acp.options for {} cannot be applied: {what}", self.program.shown());
        ProviderError::of_agent(AgentFault::Refused, what, "fix acp.options in settings.yaml".to_owned())
    }

    /// Sets all options except the mode.
    async fn choose_options(&self, session: &Session) -> Result<(), ProviderError> {
        for (option, value) in self.chosen().filter(|(option, _)| *option != MODE) {
            let choice = session.turn.offer().choice(option, value).map_err(|what| self.cannot_be_chosen(&what))?;
            session.choose(choice, &self.terms).await?;
        }
        Ok(())
    }

    /// Returns the mode in which the agent is to work: the one of the settings, otherwise its own default.
    fn mode(&self, offer: &Offer) -> Result<Option<AgentOptionValue>, ProviderError> {
        match self.chosen().find(|(option, _)| *option == MODE) {
            None => Ok(offer.mode()),
            Some((_, wanted)) => match offer.mode_named(wanted) {
                Some(mode) => Ok(Some(mode)),
                None => {
                    let what = offer.choice(MODE, wanted).err().unwrap_or_else(|| format!("it has no mode {wanted:?}"));
                    Err(self.cannot_be_chosen(&what))
                }
            },
        }
    }

    async fn put_in_mode(&self, session: &Session, mode: &AgentOptionValue) -> Result<(), ProviderError> {
        let offer = session.turn.offer();
        if offer.mode().is_none_or(|current| current.id != mode.id) {
            let choice = offer.choice(MODE, &mode.id).map_err(|what| self.cannot_be_chosen(&what))?;
            session.choose(choice, &self.terms).await?;
        }
        session.turn.put_in_mode(mode);
        Ok(())
    }

    /// Puts an agent that is called outside of an activation into a mode in which it asks as often as possible, because
    /// no person can be asked there.
    pub(super) async fn keep_careful(&self, session: &Session) -> Result<(), ProviderError> {
        self.choose_options(session).await?;
        let offer = session.turn.offer();
        let wanted = self.mode(&offer)?;
        match wanted.clone().filter(|mode| !mode.asks_less).or_else(|| offer.careful_mode()) {
            Some(mode) => self.put_in_mode(session, &mode).await,
            None => wanted.map_or(Ok(()), |mode| Err(self.refused_mode(&mode))),
        }
    }

    fn refused_mode(&self, mode: &AgentOptionValue) -> ProviderError {
        let what = format!(
            "{} only works in its mode “{}”, which asks less often and is not allowed",
            self.program.shown(),
            mode.name
        );
        let remedy = "make it ask in its own settings, or allow this mode when you are asked";
        ProviderError::of_agent(AgentFault::Refused, what, remedy.to_owned())
    }

    /// Returns the error for an agent that switched on its own to a mode in which it asks less often.
    pub(super) fn unallowed_mode_error(&self, mode: &AgentOptionValue) -> ProviderError {
        let what = format!(
            "{} switched by itself to its mode “{}”, which asks less often, and was stopped",
            self.program.shown(),
            mode.name
        );
        let remedy = "choose this mode in acp.options to be asked about it, or prevent the switch in its settings";
        ProviderError::of_agent(AgentFault::Refused, what, remedy.to_owned())
    }
}

impl Conversation {
    /// Puts the agent into its mode before its first prompt. If it asks less often in that mode, returns the call by
    /// which a person is asked first; their answer arrives with the next request.
    pub(super) async fn enter_mode(&mut self, asking: &AgentRequest) -> Result<Option<Completion>, ProviderError> {
        if let Some((id, mode)) = self.asks_mode.take() {
            let (results, _) = results(&asking.request.prompt);
            let is_its =
                |end: Option<CallEnd>, answers: Option<&str>| answers == Some(&*id) && end == Some(CallEnd::Done);
            let is_allowed = results.iter().any(|result| is_its(result.end, result.answers.as_deref()));
            let mode = match is_allowed {
                true => mode,
                false => self.session.turn.offer().careful_mode().ok_or_else(|| asking.refused_mode(&mode))?,
            };
            asking.put_in_mode(&self.session, &mode).await?;
            return Ok(None);
        }
        let Some(mode) = asking.mode(&self.session.turn.offer())? else { return Ok(None) };
        if !mode.asks_less {
            asking.put_in_mode(&self.session, &mode).await?;
            return Ok(None);
        }
        self.calls += 1;
        let id = format!("{MODE_CALL}-{}", self.calls);
        let title = format!("Work in its mode “{}”, which asks less often before it acts", mode.name);
        let call = ToolCall::new(id.clone(), OWN_TOOL, json!({ "title": title, "kind": "switch_mode" }));
        self.asks_mode = Some((id, mode));
        let told = AgentReport {
            session: Some(self.kept()),
            lost: self.lost.take(),
            options: self.session.turn.offer().own_options(),
            ..AgentReport::default()
        };
        Ok(Some(Completion {
            text: String::new(),
            tool_calls: vec![call],
            usage: Usage::default(),
            finish: Finish::ToolCalls,
            told: Some(Box::new(told)),
        }))
    }

    /// Returns the first prompt of this session.
    pub(super) fn first_prompt(&self, first: First, asking: &AgentRequest) -> Vec<String> {
        match first {
            First::Whole => whole(&asking.request.prompt, self.session.offers_tools()),
            First::Resumed => resumed(&asking.request.prompt),
        }
    }

    /// Returns the reference by which the session can be continued.
    pub(super) fn kept(&self) -> AgentSession {
        AgentSession {
            agent: self.agent.clone(),
            id: self.session.id(),
            paid_micro_usd: (self.paid_usd * 1_000_000.0).ceil() as u64,
        }
    }
}
