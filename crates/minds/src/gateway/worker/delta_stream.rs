//! The streamed pieces of an answer on their way to the screen: with keys removed, batched briefly, and delivered even
//! if nothing more arrives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use tokio::sync::Notify;

use super::live_replies::LiveCall;
use super::messages::{GatewayEvent, has_room};
use crate::base::RequestId;
use crate::gateway::keys::redaction::{RedactedStream, Redactor};
use crate::gateway::providers::provider::{DeltaSink, StreamedPiece};

/// How long pieces of text are collected before they are passed on: together with the drawing frame, a piece is visible
/// within two frames at sixty per second.
const COALESCE: Duration = Duration::from_millis(15);

/// The sink of one answer's streamed pieces.
#[derive(Clone)]
pub(super) struct DeltaStream(Arc<Shared>);

struct Shared {
    id: RequestId,
    events: Sender<GatewayEvent>,
    pending: Mutex<Pending>,
    /// Notified when a piece is pending that no later piece may follow for a long time.
    waits: Notify,
}

impl DeltaStream {
    /// Creates the stream of the answer to this request.
    pub(in crate::gateway) fn of(id: RequestId, events: Sender<GatewayEvent>) -> Self {
        let (pending, waits) = (Mutex::default(), Notify::new());
        Self(Arc::new(Shared { id, events, pending, waits }))
    }

    /// Receives the pieces of an answer from a provider. A model's thoughts are passed on only if `with_thoughts` is
    /// set; `count` gets the number of characters of each piece.
    pub(in crate::gateway) fn sink(
        &self,
        redactor: Redactor,
        with_thoughts: bool,
        mut count: impl FnMut(usize) + Send + 'static,
    ) -> DeltaSink {
        let pieces = self.clone();
        let (mut words, mut thoughts) = (RedactedStream::new(redactor.clone()), RedactedStream::new(redactor.clone()));
        let mut calls: Vec<usize> = Vec::new();
        DeltaSink::new(move |piece| match piece {
            StreamedPiece::Text(text) => {
                count(text.chars().count());
                pieces.take(StreamedPiece::Text(&words.push(text)));
            }
            StreamedPiece::Thought(text) => {
                count(text.chars().count());
                if with_thoughts {
                    pieces.take(StreamedPiece::Thought(&thoughts.push(text)));
                }
            }
            StreamedPiece::Call { position, name, arguments } => {
                calls.resize(calls.len().max(position + 1), 0);
                let chars = name.chars().count() + arguments.chars().count();
                count(chars.saturating_sub(std::mem::replace(&mut calls[position], chars)));
                let arguments = redactor.json_so_far(LiveCall::kept(arguments));
                pieces.take(StreamedPiece::Call {
                    position,
                    name: &redactor.redact_known(name),
                    arguments: &arguments,
                });
            }
        })
    }

    /// Passes on pending pieces when they are due. Never returns.
    pub(super) async fn flush_when_due(&self) -> std::convert::Infallible {
        loop {
            self.0.waits.notified().await;
            tokio::time::sleep(COALESCE).await;
            self.send();
        }
    }

    fn take(&self, piece: StreamedPiece<'_>) {
        let mut pending = self.pending();
        // A tool call is announced at once: nothing else may arrive for a long time.
        let begins_call = pending.take(piece);
        let is_due = begins_call || pending.sent.is_none_or(|sent| sent.elapsed() >= COALESCE);
        drop(pending);
        match is_due {
            true => self.send(),
            false => self.0.waits.notify_one(),
        }
    }

    /// Passes on the pending pieces. If the queue is full, they stay pending; the complete answer contains them anyway.
    fn send(&self) {
        let mut pending = self.pending();
        if pending.is_empty() {
            return;
        }
        if has_room(&self.0.events) {
            pending.sent = Some(Instant::now());
            pending.send(self.0.id, &self.0.events);
        }
        if !pending.is_empty() {
            self.0.waits.notify_one();
        }
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Text that waits to be passed on.
#[derive(Default)]
struct Pending {
    text: String,
    thought: String,
    /// Every known call, and whether it was announced.
    calls: Vec<(LiveCall, bool)>,
    /// When something was last passed on.
    sent: Option<Instant>,
}

impl Pending {
    /// Adds a piece. Returns whether it begins a call.
    fn take(&mut self, piece: StreamedPiece<'_>) -> bool {
        match piece {
            StreamedPiece::Text(text) => self.text.push_str(text),
            StreamedPiece::Thought(text) => self.thought.push_str(text),
            StreamedPiece::Call { position, name, arguments } => {
                let call = LiveCall::new(name, arguments);
                match self.calls.get_mut(position) {
                    Some((known, _)) if *known == call => {}
                    Some(known) => *known = (call, false),
                    None => {
                        self.calls.push((call, false));
                        return true;
                    }
                }
            }
        }
        false
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && self.thought.is_empty() && self.calls.iter().all(|(_, is_told)| *is_told)
    }

    fn send(&mut self, id: RequestId, events: &Sender<GatewayEvent>) {
        // If the world is gone, the events have no receiver.
        if !self.thought.is_empty() {
            let _ = events.try_send(GatewayEvent::Thought { id, text: std::mem::take(&mut self.thought) });
        }
        if !self.text.is_empty() {
            let _ = events.try_send(GatewayEvent::Delta { id, text: std::mem::take(&mut self.text) });
        }
        for (position, (call, is_told)) in self.calls.iter_mut().enumerate().filter(|(_, (_, is_told))| !is_told) {
            *is_told =
                has_room(events) && events.try_send(GatewayEvent::Calling { id, position, call: call.clone() }).is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: RequestId = RequestId(7);

    fn told(events: &crossbeam_channel::Receiver<GatewayEvent>) -> Vec<String> {
        let word = |event| match event {
            GatewayEvent::Delta { text, .. } => text,
            GatewayEvent::Thought { text, .. } => format!("({text})"),
            GatewayEvent::Calling { call, .. } => format!("[{}]", call.name),
            other => format!("{other:?}"),
        };
        events.try_iter().map(word).collect()
    }

    #[test]
    fn the_last_piece_is_delivered_without_a_successor() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime can be made");
        let (to, events) = crossbeam_channel::unbounded();
        let pieces = DeltaStream::of(ID, to);
        let mut sink = pieces.sink(Redactor::default(), true, |_| {});
        let mut all = Vec::new();
        runtime.block_on(async {
            sink.push(StreamedPiece::Text("first "));
            sink.push(StreamedPiece::Thought("well"));
            sink.push(StreamedPiece::Text("and last"));
            let comes = async {
                while all.len() < 3 {
                    all.extend(told(&events));
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                never = pieces.flush_when_due() => match never {},
                () = comes => {}
            }
        });
        assert_eq!(all, ["first ", "(well)", "and last"]);
    }

    #[test]
    fn calls_are_announced_at_once_and_thoughts_only_on_request() {
        let (to, events) = crossbeam_channel::unbounded();
        let pieces = DeltaStream::of(ID, to);
        let counted = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let of_sink = counted.clone();
        let mut sink = pieces.sink(Redactor::of(["secret-key"]), false, move |chars| {
            of_sink.fetch_add(chars, std::sync::atomic::Ordering::Relaxed);
        });
        sink.push(StreamedPiece::Thought("hidden"));
        assert!(told(&events).is_empty());
        sink.push(StreamedPiece::Text("see secret-key."));
        sink.push(StreamedPiece::Call { position: 0, name: "vfs_read", arguments: "{}" });
        assert_eq!(told(&events), ["see [redacted].", "[vfs_read]"]);
        assert_eq!(counted.load(std::sync::atomic::Ordering::Relaxed), 6 + 15 + 10, "what is hidden is paid for");
    }
}
