//! The lines between an agent and the protocol's connection: incoming lines are checked before they are admitted, and
//! no more are admitted than can be processed.

use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::{Sink, Stream, sink, stream};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Semaphore;

use super::super::peers::LimitedLines;

/// The maximum size of a message in bytes.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
/// The maximum number of updates that wait to be processed.
const UPDATES_AT_ONCE: usize = 256;
/// The maximum number of an agent's requests that wait for an answer, or for their answer to be written.
const REQUESTS_AT_ONCE: usize = 256;
/// The maximum number of lines that are not protocol messages: some programs print a greeting.
const MAX_GARBAGE_LINES: usize = 200;
/// The only notification of an agent that is processed.
pub(super) const UPDATE: &str = "session/update";

/// Whether this method is an update of a session.
pub(super) fn is_update(method: &str) -> bool {
    method == UPDATE
}

/// Counts the input of an agent that is being processed.
pub(super) struct Gauge {
    updates: Semaphore,
    requests: Semaphore,
    /// Whether a notification is accepted.
    hears: fn(&str) -> bool,
    garbage: AtomicUsize,
    /// Whether the agent writes something other than the protocol.
    pub(super) is_garbage: AtomicBool,
    /// Whether a line exceeded the maximum size.
    pub(super) is_over: Arc<AtomicBool>,
}

impl Gauge {
    /// Creates a gauge for a connection that accepts these notifications.
    pub(super) fn accepting(hears: fn(&str) -> bool) -> Arc<Self> {
        Arc::new(Self {
            updates: Semaphore::new(UPDATES_AT_ONCE),
            requests: Semaphore::new(REQUESTS_AT_ONCE),
            hears,
            garbage: AtomicUsize::new(0),
            is_garbage: AtomicBool::new(false),
            is_over: Arc::default(),
        })
    }

    /// Records that an update was processed.
    pub(super) fn update_done(&self) {
        self.updates.add_permits(1);
    }

    /// Whether a line is passed to the connection; waits until there is room for it.
    async fn admits(&self, line: &str) -> Result<bool> {
        let Ok(head) = serde_json::from_str::<Head>(line) else {
            if self.garbage.fetch_add(1, Ordering::Relaxed) >= MAX_GARBAGE_LINES {
                self.is_garbage.store(true, Ordering::Relaxed);
                return Err(Error::new(ErrorKind::InvalidData, "its output does not follow the protocol"));
            }
            return Ok(false);
        };
        let room = match (head.method.as_deref(), head.id) {
            (Some(_), Some(_)) => &self.requests,
            (Some(method), None) if (self.hears)(method) => &self.updates,
            (Some(_), None) => return Ok(false),
            (None, id) => return Ok(id.is_some()),
        };
        room.acquire().await.map_err(|_| Error::from(ErrorKind::BrokenPipe))?.forget();
        Ok(true)
    }

    /// Records that a line was written to the agent.
    fn wrote(&self, line: &str) {
        if serde_json::from_str::<Head>(line).is_ok_and(|head| head.method.is_none()) {
            self.request_done();
        }
    }

    /// Records that a request was answered, or never will be.
    pub(super) fn request_done(&self) {
        if self.requests.available_permits() < REQUESTS_AT_ONCE {
            self.requests.add_permits(1);
        }
    }
}

/// The fields that identify a message.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    id: Option<IgnoredAny>,
}

/// Returns the messages of an agent, one per line.
pub(super) fn incoming<R>(stdout: R, gauge: Arc<Gauge>) -> impl Stream<Item = Result<String>> + Send + 'static
where
    R: AsyncRead + Unpin + Send + 'static,
{
    let lines = BufReader::new(LimitedLines::new(stdout, MAX_MESSAGE_BYTES, gauge.is_over.clone()));
    stream::unfold((lines, gauge), |(mut lines, gauge)| async move {
        loop {
            let mut bytes = Vec::new();
            match lines.read_until(b'\n', &mut bytes).await {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Some((Err(error), (lines, gauge))),
            }
            let line = String::from_utf8_lossy(&bytes);
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            match gauge.admits(line).await {
                Ok(true) => return Some((Ok(line.to_owned()), (lines, gauge))),
                Ok(false) => {}
                Err(error) => return Some((Err(error), (lines, gauge))),
            }
        }
    })
}

/// Returns the sink of messages to an agent, one per line.
pub(super) fn outgoing<W>(stdin: W, gauge: Arc<Gauge>) -> impl Sink<String, Error = Error> + Send + 'static
where
    W: AsyncWrite + Unpin + Send + 'static,
{
    sink::unfold((stdin, gauge), |(mut stdin, gauge), line: String| async move {
        stdin.write_all(line.as_bytes()).await?;
        stdin.write_all(b"\n").await?;
        stdin.flush().await?;
        gauge.wrote(&line);
        Ok((stdin, gauge))
    })
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::*;

    fn read_all(text: &str) -> (Vec<String>, bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime can be made");
        let gauge = Gauge::accepting(is_update);
        let reader = std::io::Cursor::new(text.as_bytes().to_vec());
        let lines: Vec<Result<String>> = runtime.block_on(incoming(reader, gauge.clone()).collect());
        (lines.into_iter().flatten().collect(), gauge.is_garbage.load(Ordering::Relaxed))
    }

    #[test]
    fn only_protocol_messages_are_admitted() {
        let request = r#"{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{}}"#;
        let answer = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
        let update = r#"{"jsonrpc":"2.0","method":"session/update","params":{}}"#;
        let text = format!(
            "Welcome!\n\n[{request}]\n{request}\n  {answer}  \n{{\"method\":\"other/news\"}}\n{update}\n{{\"id\":"
        );
        assert_eq!(read_all(&text), (vec![request.to_owned(), answer.to_owned(), update.to_owned()], false));
    }

    #[test]
    fn an_agent_that_only_writes_garbage_is_disconnected() {
        let (lines, is_garbage) = read_all(&"hello there\n".repeat(MAX_GARBAGE_LINES + 10));
        assert!(lines.is_empty() && is_garbage);
    }
}
