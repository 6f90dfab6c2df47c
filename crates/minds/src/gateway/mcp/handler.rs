//! Handles messages that an MCP server sends by itself: progress of calls, changed lists, and questions to a person or
//! a model.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    ErrorCode, FormElicitationCapability, Implementation, NumberOrString, ProgressNotificationParam, ProtocolVersion,
    RequestMetaObject, RequestParamsMeta, SamplingCapability,
};
// Sampling is to be removed from the protocol one day; until then there are servers that use it.
#[allow(deprecated)]
use rmcp::model::{CreateMessageRequestParams, CreateMessageResult, SamplingMessage};
use rmcp::service::{MaybeSendFuture, NotificationContext, RequestContext, RoleClient};
use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot};

use super::super::peers::plain;
use super::elicitation::McpReply;
use crate::base::Id;

/// The maximum length of a progress message in characters.
const MAX_PROGRESS_CHARS: usize = 200;
/// The protocol's error code for a request that was rejected by a person, or on their behalf.
const REJECTED: ErrorCode = ErrorCode(-1);

/// A progress message of a call.
pub(super) struct Progress {
    /// The id of the call.
    pub(super) id: Id,
    /// The message.
    pub(super) text: String,
}

/// The running calls, by the token with which the server reports their progress.
#[derive(Clone, Default)]
pub(super) struct Tokens(Arc<Mutex<HashMap<NumberOrString, Id>>>);

impl Tokens {
    /// Assigns this token to a call.
    pub(super) fn note(&self, token: NumberOrString, id: Id) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token, id);
    }

    /// Removes a call that has ended.
    pub(super) fn forget(&self, id: &Id) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, known| known != id);
    }

    fn of(&self, token: &NumberOrString) -> Option<Id> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }
}

/// Handles the messages of one server.
pub(super) struct Handler {
    /// The calls by token.
    pub(super) tokens: Tokens,
    /// The channel for progress messages, which are dropped if it is full.
    pub(super) progress: mpsc::Sender<Progress>,
    /// Notified when the server reports that one of its lists changed.
    pub(super) changed: Arc<Notify>,
    /// The channel for questions to a person or a model, which are declined if it is full.
    pub(super) asked: mpsc::Sender<ServerQuestion>,
    /// Whether the server may ask a model; only then sampling is announced.
    pub(super) may_sample: bool,
}

/// A question of a server, as it arrived.
pub(super) struct ServerQuestion {
    /// The call that it belongs to, if the server says so.
    pub(super) call: Option<Id>,
    /// The kind of question.
    pub(super) wants: Wants,
    /// The channel for the answer. It is dropped if an answer is no longer needed.
    pub(super) reply: oneshot::Sender<McpReply>,
}

/// A question of a server during a call.
pub(super) enum Wants {
    /// A question to a person.
    Person {
        /// The message.
        message: String,
        /// The schema of its form; `None` if something other than a form is requested.
        schema: Option<Value>,
    },
    /// A question to a model, with these parameters.
    Model(Value),
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(FormElicitationCapability::default()));
        capabilities.sampling = self.may_sample.then(SamplingCapability::default);
        let mut info =
            ClientConfig::new(capabilities, Implementation::new("agent-workshop", env!("CARGO_PKG_VERSION")));
        // Later revisions have another handshake.
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }

    fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> impl Future<Output = Result<ElicitResult, rmcp::ErrorData>> + MaybeSendFuture + '_ {
        let of_request = request.meta().and_then(RequestMetaObject::get_progress_token);
        let token = of_request.or_else(|| context.meta.get_progress_token());
        let (message, schema) = match request {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                (message, serde_json::to_value(requested_schema).ok())
            }
            ElicitRequestParams::UrlElicitationParams { message, .. } => (message, None),
            _ => (String::new(), None),
        };
        let (reply, answer) = oneshot::channel();
        let call = token.and_then(|token| self.tokens.of(&token.0));
        let wants = Wants::Person { message, schema };
        let is_asked = self.asked.try_send(ServerQuestion { call, wants, reply }).is_ok();
        async move {
            let action = match answer.await {
                Ok(McpReply::Given { content }) => {
                    let mut result = ElicitResult::new(ElicitationAction::Accept);
                    result.content = Some(Value::Object(content));
                    return Ok(result);
                }
                Ok(_) => ElicitationAction::Decline,
                // There are too many questions at once.
                Err(_) if !is_asked => ElicitationAction::Decline,
                Err(_) => ElicitationAction::Cancel,
            };
            Ok(ElicitResult::new(action))
        }
    }

    #[allow(deprecated)]
    fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> impl Future<Output = Result<CreateMessageResult, rmcp::ErrorData>> + MaybeSendFuture + '_ {
        let of_request = params.meta().and_then(RequestMetaObject::get_progress_token);
        let token = of_request.or_else(|| context.meta.get_progress_token());
        let call = token.and_then(|token| self.tokens.of(&token.0));
        let (reply, answer) = oneshot::channel();
        let wants = Wants::Model(serde_json::to_value(&params).unwrap_or_default());
        let is_asked = self.asked.try_send(ServerQuestion { call, wants, reply }).is_ok();
        let may_sample = self.may_sample;
        async move {
            let answer = tokio::select! {
                answer = answer => answer.ok(),
                // The server no longer waits for the answer.
                () = context.ct.cancelled() => None,
            };
            let why = match answer {
                Some(McpReply::Sampled { sampled }) => {
                    let said = CreateMessageResult::new(SamplingMessage::assistant_text(sampled.text), sampled.model);
                    return Ok(said.with_stop_reason(sampled.stop_reason));
                }
                Some(McpReply::Refused { why }) => why,
                _ if !is_asked => "too many requests at once".to_owned(),
                _ => "the call that this belongs to has ended".to_owned(),
            };
            let code = if may_sample { REJECTED } else { ErrorCode::METHOD_NOT_FOUND };
            Err(rmcp::ErrorData::new(code, why, None))
        }
    }

    fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + MaybeSendFuture + '_ {
        if let Some(id) = self.tokens.of(&params.progress_token.0) {
            let share = match params.total {
                Some(total) if total > 0.0 => format!("{:.0} %", (params.progress / total * 100.0).clamp(0.0, 100.0)),
                _ => format!("{}", params.progress),
            };
            let message = plain(params.message.as_deref().unwrap_or_default(), MAX_PROGRESS_CHARS);
            let text = if message.is_empty() { share } else { format!("{share}, {message}") };
            // Progress messages may be lost; the next one is more recent.
            let _ = self.progress.try_send(Progress { id, text });
        }
        std::future::ready(())
    }

    fn on_tool_list_changed(
        &self,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + MaybeSendFuture + '_ {
        self.changed.notify_one();
        std::future::ready(())
    }

    fn on_resource_list_changed(
        &self,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + MaybeSendFuture + '_ {
        self.changed.notify_one();
        std::future::ready(())
    }

    fn on_prompt_list_changed(
        &self,
        _: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + MaybeSendFuture + '_ {
        self.changed.notify_one();
        std::future::ready(())
    }
}
