//! One request to a vendor on the worker's runtime: attempts, waits and retries. It always ends, and reports its usage.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use tokio_util::sync::CancellationToken;

use super::delta_stream::DeltaStream;
use super::failure::{CallTarget, failure};
use super::messages::GatewayEvent;
use crate::base::{RequestId, text};
use crate::gateway::acp::{self, AcpSettings, AgentPool};
use crate::gateway::keys::{Environment, Keys};
use crate::gateway::providers::address::{Address, Permission};
use crate::gateway::providers::cooldowns::{Cooldowns, chance, wait_asked};
use crate::gateway::providers::genai_client::GuardedProvider;
use crate::gateway::providers::provider::{AiProvider, ErrorCause, ProviderError, ProviderRequest, sum_of_usage};
use crate::gateway::providers::retry::Attempts;
use crate::gateway::settings::{Choice, Terms, how_to_allow, why_no_key};
use crate::gateway::vendors::vendor;
use crate::mind::{Completion, Effort, ModelFailure, ToolCall, Usage};

/// Everything that one request needs.
pub(in crate::gateway) struct Call {
    pub(in crate::gateway) id: RequestId,
    pub(in crate::gateway) request: ProviderRequest,
    pub(in crate::gateway) choice: Choice,
    pub(in crate::gateway) terms: Terms,
    pub(in crate::gateway) keys: Arc<Keys>,
    pub(in crate::gateway) environment: Environment,
    pub(in crate::gateway) cancel: CancellationToken,
    pub(in crate::gateway) rests: Cooldowns,
    pub(in crate::gateway) agents: AgentPool,
    pub(in crate::gateway) events: Sender<GatewayEvent>,
}

/// The state of a request.
#[derive(Default)]
struct AttemptState {
    tries: Attempts,
    /// Whether an attempt is running.
    is_trying: bool,
    /// The number of characters received in this attempt.
    said: Arc<AtomicUsize>,
    /// Whether anything was ever received.
    has_output: bool,
    /// The usage of attempts for which no provider reported any.
    estimated: Usage,
}

impl AttemptState {
    fn begin(&mut self) {
        self.is_trying = true;
        self.said.store(0, Ordering::Relaxed);
    }

    /// Counts the possible usage of the running attempt, which failed. Returns whether anything had arrived.
    fn lose(&mut self, request: &ProviderRequest, cause: ErrorCause) -> bool {
        if !std::mem::take(&mut self.is_trying) {
            return self.has_output;
        }
        let said = self.said.load(Ordering::Relaxed);
        self.estimated = sum_of_usage(self.estimated, lost(request, cause, said));
        self.has_output |= said > 0;
        self.has_output
    }
}

/// The possible usage of a failed attempt: the prompt and the received output, or the whole estimate if it is unknown
/// how far the model had come.
fn lost(request: &ProviderRequest, cause: ErrorCause, said_chars: usize) -> Usage {
    let input_tokens = request.estimated_input_tokens();
    let output_tokens = text::tokens_of_chars(said_chars);
    match cause {
        _ if said_chars > 0 => Usage { input_tokens, output_tokens, ..Usage::default() },
        // The server was not reached, or refused the request.
        ErrorCause::Status { .. }
        | ErrorCause::Connect
        | ErrorCause::Refused
        | ErrorCause::NoKey
        | ErrorCause::NotAllowed
        | ErrorCause::Agent(_)
        | ErrorCause::Panicked => Usage::default(),
        ErrorCause::Stalled(_)
        | ErrorCause::TooLong(_)
        | ErrorCause::Cut
        | ErrorCause::Garbage
        | ErrorCause::TooMuch
        | ErrorCause::Cancelled => request.most(),
    }
}

/// The usage of a complete answer whose provider reported none.
pub(super) fn estimated_usage(request: &ProviderRequest, completion: &Completion) -> Usage {
    let told = completion.usage;
    // A coding agent remembers earlier messages.
    let sent = completion.told.as_ref().map(|told| text::tokens_of_chars(told.sent_chars));
    let sent = sent.unwrap_or_else(|| request.estimated_input_tokens());
    let called: usize = completion.tool_calls.iter().map(ToolCall::chars).sum();
    let said = text::tokens_of_chars(completion.text.chars().count() + called);
    Usage {
        input_tokens: if told.input_tokens == 0 { sent } else { 0 },
        output_tokens: if told.output_tokens == 0 { said } else { 0 },
        ..Usage::default()
    }
}

/// Sends the request until there is an answer, or retrying is useless. Also returns the usage and attempts.
pub(in crate::gateway) async fn answer(call: Call) -> (Result<Completion, ModelFailure>, Effort) {
    let mut progress = AttemptState::default();
    let total = call.terms.total;
    let asked = tokio::select! {
        biased;
        () = call.cancel.cancelled() => Err(ProviderError::new(ErrorCause::Cancelled, "")),
        asked = tokio::time::timeout(total, ask(&call, &mut progress)) => asked.unwrap_or_else(|_| {
            let secs = u32::try_from(total.as_secs()).unwrap_or(u32::MAX);
            Err(ProviderError::new(ErrorCause::TooLong(secs), ""))
        }),
    };
    let outcome = asked.map_err(|error| {
        if progress.is_trying {
            progress.tries.made += 1;
        }
        let has_output = progress.lose(&call.request, error.cause);
        let failure = model_failure(&error, &call, progress.tries.made);
        // If all attempts were used, the server may still have asked for a longer pause than a request waits: the next
        // request, no matter which agent makes it, is held back until then.
        let may_try = progress.tries.made < call.terms.retry.attempts && !has_output;
        let waits = may_try && wait_asked(error.cause).is_some();
        ModelFailure { is_final: !waits, waits_in_real_time: true, ..failure }
    });
    if let Ok(completion) = &outcome {
        progress.estimated = sum_of_usage(progress.estimated, estimated_usage(&call.request, completion));
    }
    (outcome, Effort { attempts: progress.tries.made, estimated: progress.estimated })
}

/// Describes an error for a person.
fn model_failure(error: &ProviderError, call: &Call, tries: u32) -> ModelFailure {
    let Call { choice, terms, environment, keys, .. } = call;
    describe_failure(error, (choice, terms), (environment, keys), tries)
}

/// Describes for a person why a call of a provider failed.
pub(in crate::gateway) fn describe_failure(
    error: &ProviderError,
    (choice, terms): (&Choice, &Terms),
    (environment, keys): (&Environment, &Keys),
    tries: u32,
) -> ModelFailure {
    let vendor = vendor(&choice.provider);
    let address = vendor.map(|vendor| Address::of(vendor, terms.address.as_deref(), environment));
    let base_url = address.as_ref().map(Address::shown).unwrap_or_default();
    let key_name = vendor.and_then(|vendor| vendor.key_name);
    let has_key = key_name.is_some_and(|name| keys.get(name).is_some());
    let withheld = address
        .as_ref()
        .zip(vendor)
        .filter(|(address, vendor)| has_key && address.permission(vendor, environment) == Permission::WithoutKey);
    let key_file = environment.key_file().map_or_else(|| "keys.env".into(), |path| path.display().to_string());
    let place = CallTarget {
        provider: &choice.provider,
        model: &choice.model,
        base_url: &base_url,
        key_name,
        key_file: &key_file,
        withheld: withheld.map(|(address, _)| why_no_key(address)),
        how_to_allow: &how_to_allow(&base_url, environment),
    };
    failure(error, place, tries.max(1), keys)
}

async fn ask(call: &Call, progress: &mut AttemptState) -> Result<Completion, ProviderError> {
    let provider = provider(call)?;
    loop {
        // The screen discards the output of an earlier attempt. If the world is gone, the event has no receiver.
        let _ = call.events.try_send(GatewayEvent::Started { id: call.id });
        progress.begin();
        let error = match attempt(call, provider.as_ref(), progress.said.clone()).await {
            Ok(completion) => {
                progress.is_trying = false;
                progress.tries.made += 1;
                call.rests.note_answer(&call.choice.provider);
                return Ok(completion);
            }
            Err(error) => error,
        };
        let has_output = progress.lose(&call.request, error.cause);
        let (provider_name, now) = (&call.choice.provider, Instant::now());
        call.rests.note_refusal(provider_name, error.cause, &call.terms.retry, now);
        let at_least_secs = call.rests.remaining(provider_name, now).as_secs_f64();
        match call.terms.retry.next_delay_secs(error.cause, has_output, &mut progress.tries, (at_least_secs, chance()))
        {
            Some(wait_secs) => {
                tracing::debug!("{} failed ({:?}), trying again", call.choice.provider, error.cause);
                tokio::time::sleep(Duration::from_secs_f64(wait_secs)).await;
            }
            None => return Err(error),
        }
    }
}

fn provider(call: &Call) -> Result<Box<dyn AiProvider>, ProviderError> {
    if call.choice.provider == acp::PROVIDER {
        let terms = call.terms.acp.as_deref().cloned().unwrap_or_else(|| AcpSettings::default().terms());
        return Ok(Box::new(call.agents.provider(&terms, &call.environment, call.keys.clone())));
    }
    Ok(Box::new(vendor_client((&call.choice, &call.terms), (&call.environment, &call.keys))?))
}

/// Creates the client for a vendor, if it may be called, with the key that it may get. Must be called within a runtime.
pub(in crate::gateway) fn vendor_client(
    (choice, terms): (&Choice, &Terms),
    (environment, keys): (&Environment, &Keys),
) -> Result<GuardedProvider, ProviderError> {
    let Some(vendor) = vendor(&choice.provider) else {
        return Err(ProviderError::new(ErrorCause::Panicked, "unknown provider"));
    };
    let address = Address::of(vendor, terms.address.as_deref(), environment);
    let key = match address.permission(vendor, environment) {
        Permission::WithKey => vendor.key_name.and_then(|name| keys.get(name)),
        Permission::WithoutKey => None,
        Permission::Refused => return Err(ProviderError::new(ErrorCause::NotAllowed, "")),
    };
    GuardedProvider::new(vendor, &address.url, key, terms.patience)
}

/// Makes one attempt, in a task of its own so that a panic in it ends the attempt and not the gateway.
async fn attempt(call: &Call, provider: &dyn AiProvider, said: Arc<AtomicUsize>) -> Result<Completion, ProviderError> {
    // Dropping the guard on any way out stops the task.
    let cancel = call.cancel.child_token();
    let _stop = cancel.clone().drop_guard();
    let redactor = call.keys.redactor();
    let pieces = DeltaStream::of(call.id, call.events.clone());
    // The thoughts that a coding agent reports are meant for people; those of other models are only for their
    // providers.
    let with_thoughts = call.choice.provider == acp::PROVIDER;
    let sink = pieces.sink(redactor.clone(), with_thoughts, move |chars| {
        said.fetch_add(chars, Ordering::Relaxed);
    });
    let task = tokio::spawn(provider.complete(call.request.clone(), sink, cancel));
    let ended = tokio::select! {
        ended = task => ended,
        never = pieces.flush_when_due() => match never {},
    };
    match ended {
        Ok(outcome) => outcome.map(|completion| redactor.completion(completion)),
        Err(error) if error.is_panic() => Err(ProviderError::new(ErrorCause::Panicked, "")),
        Err(_) => Err(ProviderError::new(ErrorCause::Cancelled, "")),
    }
}
