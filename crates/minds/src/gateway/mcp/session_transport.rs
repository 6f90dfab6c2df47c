//! Closes an HTTP connection when its server no longer knows the session. Some servers report that in an error without
//! a request id, so the affected request would wait until its time limit.

use std::borrow::Cow;

use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// The error codes for an unknown session, in addition to HTTP's own 404.
pub(super) const UNKNOWN_SESSION_CODES: [i32; 2] = [-32_000, -32_001];

type Message = RxJsonRpcMessage<RoleClient>;

/// A transport that ends when its session is unknown to the server.
pub(super) struct SessionTransport<T> {
    inner: T,
    /// Whether the server has answered before; an error before that does not concern a session.
    has_session: bool,
}

impl<T> SessionTransport<T> {
    /// Wraps an HTTP transport.
    pub(super) fn new(inner: T) -> Self {
        Self { inner, has_session: false }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for SessionTransport<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<Message> {
        let message = self.inner.receive().await?;
        match &message {
            JsonRpcMessage::Response(_) => self.has_session = true,
            JsonRpcMessage::Error(error)
                if self.has_session && error.id.is_none() && UNKNOWN_SESSION_CODES.contains(&error.error.code.0) =>
            {
                return None;
            }
            _ => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use serde_json::{Value, json};

    use super::super::test_transport::Received;
    use super::*;

    /// Returns how many of these messages are received before the connection ends.
    fn received(sent: &[Value]) -> usize {
        let mut transport = SessionTransport::new(Received::new(sent.iter().cloned()));
        std::iter::from_fn(|| transport.receive().now_or_never().flatten()).count()
    }

    #[test]
    fn an_unknown_session_error_without_a_request_closes_the_connection() {
        let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": {} });
        let error = |code: i32| json!({ "jsonrpc": "2.0", "error": { "code": code, "message": "No valid session" } });
        let of_a_request = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32_000, "message": "No." } });
        assert_eq!(received(&[answer.clone(), error(-32_000), answer.clone()]), 1);
        assert_eq!(received(&[answer.clone(), error(-32_001), answer.clone()]), 1);
        assert_eq!(received(&[answer.clone(), error(-32_700), answer.clone()]), 3, "it could not read something");
        assert_eq!(received(&[answer.clone(), of_a_request, answer.clone()]), 3, "whoever asked hears of it");
        assert_eq!(received(&[error(-32_000), answer]), 2, "there is no session yet");
    }
}
