//! One question to a vendor on the worker's runtime: waits its turn, tries, waits and tries again, and always ends.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::failure::{Place, failure};
use super::guard::GuardedProvider;
use super::keys::Keys;
use super::live::LiveCall;
use super::provider::{AiProvider, DeltaSink, ErrorCause, LivePiece, ProviderError, ProviderRequest};
use super::retry::Tries;
use super::settings::Choice;
use super::vendor::vendor;
use super::worker::{GatewayEvent, Terms, has_room};
use crate::base::RequestId;
use crate::mind::{Completion, ModelFailure};

/// Pieces of text are joined for so long before they are handed on.
const COALESCE: Duration = Duration::from_millis(30);

/// Everything that one question needs.
pub(super) struct Call {
    pub(super) id: RequestId,
    pub(super) request: ProviderRequest,
    pub(super) choice: Choice,
    pub(super) terms: Terms,
    pub(super) keys: Arc<Keys>,
    pub(super) key_file: String,
    pub(super) semaphore: Arc<Semaphore>,
    pub(super) cancel: CancellationToken,
    pub(super) events: Sender<GatewayEvent>,
}

/// Asks until there is an answer, or no sense in asking on.
pub(super) async fn answer(call: Call) -> Result<Completion, ModelFailure> {
    let mut tries = Tries::default();
    let total = call.terms.total;
    let outcome = tokio::select! {
        biased;
        () = call.cancel.cancelled() => Err(ProviderError::new(ErrorCause::Cancelled, "")),
        outcome = tokio::time::timeout(total, ask(&call, &mut tries)) => outcome.unwrap_or_else(|_| {
            let secs = u32::try_from(total.as_secs()).unwrap_or(u32::MAX);
            Err(ProviderError::new(ErrorCause::TooLong(secs), ""))
        }),
    };
    outcome.map_err(|error| {
        let place = Place {
            provider: &call.choice.provider,
            model: &call.choice.model,
            base_url: &call.terms.base_url,
            key_name: vendor(&call.choice.provider).and_then(|vendor| vendor.key_name),
            key_file: &call.key_file,
        };
        failure(&error, place, tries.made.max(1), &call.keys)
    })
}

async fn ask(call: &Call, tries: &mut Tries) -> Result<Completion, ProviderError> {
    let provider = provider(call)?;
    let _turn = call.semaphore.acquire().await.map_err(|_| ProviderError::new(ErrorCause::Cancelled, ""))?;
    loop {
        // What an earlier try showed is gone with it. Nobody listens any more when the world is gone already.
        let _ = call.events.try_send(GatewayEvent::Started { id: call.id });
        let error = match attempt(call, provider.as_ref()).await {
            Ok(completion) => {
                tries.made += 1;
                return Ok(completion);
            }
            Err(error) => error,
        };
        match call.terms.retry.after(error.cause, tries, chance()) {
            Some(wait_secs) => {
                tracing::debug!("{} failed ({:?}), trying again", call.choice.provider, error.cause);
                tokio::time::sleep(Duration::from_secs_f64(wait_secs)).await;
            }
            None => return Err(error),
        }
    }
}

fn provider(call: &Call) -> Result<Box<dyn AiProvider>, ProviderError> {
    let Some(vendor) = vendor(&call.choice.provider) else {
        return Err(ProviderError::new(ErrorCause::Panicked, "nobody knows this provider"));
    };
    let key = vendor.key_name.and_then(|name| call.keys.get(name));
    Ok(Box::new(GuardedProvider::new(vendor, &call.terms.base_url, key, call.terms.patience)?))
}

/// One try, in a task of its own so that a panic in it ends the try and not the gateway.
async fn attempt(call: &Call, provider: &dyn AiProvider) -> Result<Completion, ProviderError> {
    // Dropping the guard on any way out stops the task.
    let cancel = call.cancel.child_token();
    let _stop = cancel.clone().drop_guard();
    let sink = coalescing(call.id, call.events.clone());
    let task = tokio::spawn(provider.complete(call.request.clone(), sink, cancel));
    match task.await {
        Ok(outcome) => outcome,
        Err(error) if error.is_panic() => Err(ProviderError::new(ErrorCause::Panicked, "")),
        Err(_) => Err(ProviderError::new(ErrorCause::Cancelled, "")),
    }
}

/// Joins pieces; what finds no room waits for the next piece. The whole answer comes with the end anyway.
fn coalescing(id: RequestId, events: Sender<GatewayEvent>) -> DeltaSink {
    let mut pending = Pending::default();
    let mut last: Option<Instant> = None;
    DeltaSink::new(move |piece| {
        // That a tool is called is told at once: it may be all that comes for a long time.
        let begins_call = pending.take(piece);
        let due = begins_call || last.is_none_or(|last| last.elapsed() >= COALESCE);
        if due && !pending.is_empty() && has_room(&events) {
            last = Some(Instant::now());
            pending.send(id, &events);
        }
    })
}

/// What waits to be told.
#[derive(Default)]
struct Pending {
    text: String,
    /// Every call as it is known, and whether that was told.
    calls: Vec<(LiveCall, bool)>,
}

impl Pending {
    /// Takes a piece in; whether it begins a call.
    fn take(&mut self, piece: LivePiece<'_>) -> bool {
        match piece {
            LivePiece::Text(text) => self.text.push_str(text),
            LivePiece::Call { position, name, arguments } => {
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
        self.text.is_empty() && self.calls.iter().all(|(_, is_told)| *is_told)
    }

    fn send(&mut self, id: RequestId, events: &Sender<GatewayEvent>) {
        if !self.text.is_empty() {
            // Nobody listens any more when the world is gone already.
            let _ = events.try_send(GatewayEvent::Delta { id, text: std::mem::take(&mut self.text) });
        }
        for (position, (call, is_told)) in self.calls.iter_mut().enumerate().filter(|(_, (_, is_told))| !is_told) {
            *is_told =
                has_room(events) && events.try_send(GatewayEvent::Calling { id, position, call: call.clone() }).is_ok();
        }
    }
}

/// A number in 0..1 that nobody can foresee, to spread retries. Never reaches the world.
fn chance() -> f64 {
    (RandomState::new().build_hasher().finish() % 1000) as f64 / 1000.0
}
