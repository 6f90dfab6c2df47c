//! What an MCP server says by itself: progress of calls, that its lists changed, and questions, which are refused as
//! long as nobody here answers them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, Implementation,
    NumberOrString, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{MaybeSendFuture, NotificationContext, RequestContext, RoleClient};
use tokio::sync::{Notify, mpsc};

use super::offer::plain;
use crate::base::Id;

/// What is said of progress is no longer, in characters.
const PROGRESS_CHARS_AT_MOST: usize = 200;

/// Something that a server said about a call.
pub(super) struct Progress {
    /// Which call.
    pub(super) id: Id,
    /// How far it is.
    pub(super) text: String,
}

/// The calls under way, by the token under which the server tells how far they are.
#[derive(Clone, Default)]
pub(super) struct Tokens(Arc<Mutex<HashMap<NumberOrString, Id>>>);

impl Tokens {
    /// A call goes by this token from now on.
    pub(super) fn note(&self, token: NumberOrString, id: Id) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token, id);
    }

    /// A call is over.
    pub(super) fn forget(&self, id: &Id) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, known| known != id);
    }

    fn of(&self, token: &NumberOrString) -> Option<Id> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }
}

/// Listens to one server.
pub(super) struct Handler {
    /// Calls by token.
    pub(super) tokens: Tokens,
    /// Where progress goes; what finds no room is not told.
    pub(super) progress: mpsc::Sender<Progress>,
    /// Woken when the server says that a list of its changed.
    pub(super) changed: Arc<Notify>,
    /// Woken when the server asks a person something; it is told that nobody is there to answer.
    pub(super) asked: mpsc::Sender<String>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("agent-workshop", env!("CARGO_PKG_VERSION")),
        );
        // The revision after this one has no greeting of this kind any more.
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }

    fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> impl Future<Output = Result<ElicitResult, rmcp::ErrorData>> + MaybeSendFuture + '_ {
        let message = match request {
            ElicitRequestParams::FormElicitationParams { message, .. }
            | ElicitRequestParams::UrlElicitationParams { message, .. } => message,
            _ => String::new(),
        };
        // Where many are asked at once, some are only declined.
        let _ = self.asked.try_send(plain(&message, PROGRESS_CHARS_AT_MOST));
        std::future::ready(Ok(ElicitResult::new(ElicitationAction::Decline)))
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
            let message = plain(params.message.as_deref().unwrap_or_default(), PROGRESS_CHARS_AT_MOST);
            let text = if message.is_empty() { share } else { format!("{share}, {message}") };
            // Pieces of progress may be lost; the next says more.
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
