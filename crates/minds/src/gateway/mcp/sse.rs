//! The older HTTP transport of MCP: the server sends events over one stream that stays open, and receives POST requests
//! at an address of the same server that the first event names.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Response, StatusCode, Url};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::event_stream::{Event, EventParser, TooLong};

/// The maximum number of a server's messages that wait to be processed; further ones wait in the connection.
const MESSAGES_WAITING: usize = 64;
/// How long a server may take to accept a message.
const POST: Duration = Duration::from_secs(30);

/// Why this transport cannot be used with a server.
#[derive(Debug, thiserror::Error)]
pub(super) enum SseError {
    #[error("the request failed: {0}")]
    Request(#[from] reqwest::Error),
    /// Worded like the error of the streamable HTTP transport.
    #[error("HTTP {}", .0.as_u16())]
    Status(StatusCode),
    #[error("it answered with {0:?} instead of an event stream")]
    NoEvents(String),
    #[error("it does not say where to send messages")]
    NoEndpoint,
    #[error("it redirects messages to another server, which is not allowed")]
    Elsewhere,
    #[error("an event is too long")]
    TooLong,
    #[error("a message cannot be written: {0}")]
    Unwritable(#[from] serde_json::Error),
}

/// A connection to a server.
pub(super) struct SseTransport {
    client: Client,
    headers: HeaderMap,
    endpoint: Url,
    heard: mpsc::Receiver<RxJsonRpcMessage<RoleClient>>,
    listening: JoinHandle<()>,
}

/// The event stream of a server.
struct Stream {
    response: Response,
    parser: EventParser,
    waiting: std::collections::VecDeque<Event>,
}

impl Stream {
    /// Returns the next event; `None` at the end.
    async fn next(&mut self) -> Result<Option<Event>, SseError> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Ok(Some(event));
            }
            let Some(bytes) = self.response.chunk().await? else { return Ok(None) };
            self.waiting.extend(self.parser.push(&bytes).map_err(|TooLong| SseError::TooLong)?);
        }
    }
}

impl SseTransport {
    /// Opens the stream and waits until the server has said where messages are sent. `is_over` is set if a message
    /// exceeds the maximum size.
    pub(super) async fn open(
        client: Client,
        url: &str,
        headers: HeaderMap,
        bytes_at_most: usize,
        is_over: Arc<AtomicBool>,
    ) -> Result<Self, SseError> {
        let request = client.get(url).headers(headers.clone()).header(ACCEPT, "text/event-stream");
        let response = request.send().await?;
        if response.status() != StatusCode::OK {
            return Err(SseError::Status(response.status()));
        }
        let kind = response.headers().get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()));
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        if !kind.starts_with("text/event-stream") {
            return Err(SseError::NoEvents(kind.chars().take(100).collect()));
        }
        let base = response.url().clone();
        let mut stream = Stream { response, parser: EventParser::new(bytes_at_most), waiting: Default::default() };
        let endpoint = loop {
            match stream.next().await? {
                Some(Event { kind, data }) if kind == "endpoint" => break base.join(data.trim()),
                Some(_) => {}
                None => return Err(SseError::NoEndpoint),
            }
        };
        let endpoint = endpoint.map_err(|_| SseError::NoEndpoint)?;
        if endpoint.origin() != base.origin() {
            return Err(SseError::Elsewhere);
        }
        let (sender, heard) = mpsc::channel(MESSAGES_WAITING);
        let listening = tokio::spawn(listen(stream, sender, is_over));
        Ok(Self { client, headers, endpoint, heard, listening })
    }
}

/// Passes on the server's messages until the stream ends.
async fn listen(mut stream: Stream, sender: mpsc::Sender<RxJsonRpcMessage<RoleClient>>, is_over: Arc<AtomicBool>) {
    loop {
        match stream.next().await {
            Ok(Some(Event { kind, data })) if kind == "message" => match serde_json::from_str(&data) {
                Ok(message) => {
                    if sender.send(message).await.is_err() {
                        return;
                    }
                }
                Err(error) => tracing::debug!("an MCP server sent an invalid message: {error}"),
            },
            Ok(Some(_)) => {}
            Ok(None) => return,
            Err(error) => {
                is_over.store(matches!(error, SseError::TooLong), Ordering::Relaxed);
                return;
            }
        }
    }
}

impl Transport<RoleClient> for SseTransport {
    type Error = SseError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let request = self.client.post(self.endpoint.clone()).headers(self.headers.clone()).timeout(POST);
        async move {
            let body = serde_json::to_vec(&message)?;
            let response = request.header(CONTENT_TYPE, "application/json").body(body).send().await?;
            // The server's messages arrive over the stream; the body of this response is not read.
            if response.status().is_success() { Ok(()) } else { Err(SseError::Status(response.status())) }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        self.heard.recv().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.listening.abort();
        Ok(())
    }
}

impl Drop for SseTransport {
    fn drop(&mut self) {
        self.listening.abort();
    }
}
