//! Removes the values of a person's variables from everything that a server sends, before anything else sees it:
//! results with their data, lists, errors, progress and questions.

use std::borrow::Cow;

use rmcp::model::{ErrorData, JsonRpcError, JsonRpcMessage, RequestId};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::{IntoTransport, Transport};

use crate::gateway::keys::redaction::Redactor;

/// The parts of a message that contain texts of the server; the others belong to the protocol.
const PARTS: [&str; 3] = ["params", "result", "error"];

type Message = RxJsonRpcMessage<RoleClient>;

/// A transport that removes a person's secrets from incoming messages.
pub(super) struct RedactedTransport<T> {
    inner: T,
    redactor: Redactor,
}

/// Wraps a transport.
pub(super) fn redacted<T, E, A>(
    transport: T,
    redactor: Redactor,
) -> RedactedTransport<impl Transport<RoleClient, Error = E> + 'static>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    RedactedTransport { inner: transport.into_transport(), redactor }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for RedactedTransport<T> {
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
        loop {
            let message = self.inner.receive().await?;
            if let Some(message) = without_secrets(message, &self.redactor) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Removes the known secrets from a message. If that makes it invalid, it is dropped, and the requester who waits for
/// it gets an error instead.
fn without_secrets(message: Message, redactor: &Redactor) -> Option<Message> {
    if redactor.is_empty() {
        return Some(message);
    }
    let answers = match &message {
        JsonRpcMessage::Response(response) => Some(response.id.clone()),
        JsonRpcMessage::Error(error) => error.id.clone(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    };
    let Ok(mut value) = serde_json::to_value(&message) else { return unreadable(answers) };
    let mut is_changed = false;
    for part in PARTS {
        if let Some(said) = value.get_mut(part) {
            let clean = redactor.value(said.clone());
            is_changed |= clean != *said;
            *said = clean;
        }
    }
    if !is_changed {
        return Some(message);
    }
    serde_json::from_value(value).ok().or_else(|| unreadable(answers))
}

fn unreadable(answers: Option<RequestId>) -> Option<Message> {
    let what = "the server's answer cannot be read without the value of a variable that is kept secret";
    answers.map(|id| JsonRpcMessage::Error(JsonRpcError::new(Some(id), ErrorData::internal_error(what, None))))
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use serde_json::{Value, json};

    use super::super::test_transport::Received;
    use super::*;
    use crate::gateway::keys::redaction::REDACTED;

    const TOKEN: &str = "hush-hush-hush";

    /// Returns the messages that are received after redaction.
    fn heard(said: Vec<Value>) -> Vec<Value> {
        let mut transport = redacted(Received::new(said), Redactor::of([TOKEN]));
        let mut heard = Vec::new();
        while let Some(message) = transport.receive().now_or_never().flatten() {
            heard.push(serde_json::to_value(&message).expect("it is data"));
        }
        heard
    }

    fn answer(result: Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": 1, "result": result })
    }

    #[test]
    fn no_server_message_contains_a_secret() {
        let content = json!([{ "type": "text", "text": format!("It is {TOKEN}.") }]);
        let tool =
            json!({ "name": "add", "description": TOKEN, "inputSchema": { "type": "object", "default": TOKEN } });
        let asks = json!({ "message": TOKEN, "requestedSchema": {
            "type": "object", "properties": { "a": { "type": "string", "title": TOKEN } },
        } });
        let sampled =
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": TOKEN } }], "maxTokens": 1 });
        let notified = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "method": method, "params": params });
        let asked =
            |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params });
        let said = vec![
            answer(json!({ "content": content, "structuredContent": { "token": TOKEN, TOKEN: [TOKEN] } })),
            answer(json!({ "tools": [tool] })),
            json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -1, "message": TOKEN, "data": { "of": TOKEN } } }),
            notified("notifications/progress", json!({ "progressToken": 1, "progress": 1.0, "message": TOKEN })),
            asked("elicitation/create", asks),
            asked("sampling/createMessage", sampled),
        ];
        let heard = heard(said.clone());
        assert_eq!(heard.len(), said.len());
        for (heard, said) in heard.iter().zip(&said) {
            let text = heard.to_string();
            assert!(!text.contains(TOKEN) && text.contains(REDACTED), "{text}");
            assert_eq!((&heard["id"], &heard["method"]), (&said["id"], &said["method"]));
        }
        assert_eq!(heard[0]["result"]["structuredContent"], json!({ "token": REDACTED, REDACTED: [REDACTED] }));
    }

    #[test]
    fn an_answer_that_redaction_makes_invalid_is_an_error_and_never_shown() {
        // The secret equals a word of the protocol.
        let role = json!({ "messages": [{ "role": "assistant", "content": { "type": "text", "text": "hi" } }] });
        let mut transport = redacted(Received::new([answer(role)]), Redactor::of(["assistant"]));
        let message = transport.receive().now_or_never().flatten().expect("somebody waits for it");
        let text = serde_json::to_string(&message).expect("it is data");
        assert!(!text.contains("assistant"), "{text}");
    }
}
