//! A transport for tests that has already received its messages.

use std::collections::VecDeque;

use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;

/// A transport that has already received these messages, and drops what is sent.
pub(super) struct Received(VecDeque<Value>);

impl Received {
    pub(super) fn new(messages: impl IntoIterator<Item = Value>) -> Self {
        Self(messages.into_iter().collect())
    }
}

impl Transport<RoleClient> for Received {
    type Error = std::io::Error;

    fn send(
        &mut self,
        _: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        std::future::ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.0.pop_front().map(|next| serde_json::from_value(next).expect("it is a message"))
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}
