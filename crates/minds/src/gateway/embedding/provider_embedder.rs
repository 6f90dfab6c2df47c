//! A provider's embedding model, called from a thread that may block.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use super::{EmbeddingAccess, EmbeddingMeter};
use crate::base::text;
use crate::gateway::keys::Keys;
use crate::gateway::providers::cooldowns::{LONGEST_REST_SECS, wait_asked};
use crate::gateway::providers::genai_client::GuardedProvider;
use crate::gateway::providers::provider::{ErrorCause, ProviderError};
use crate::gateway::worker::vendor_call::{describe_failure, vendor_client};
use crate::knowledge::{Embedder, Embedding, EmbeddingError, ModelId};
use crate::mind::Usage;

/// The maximum number of texts in one request.
const TEXTS_AT_ONCE: usize = 64;
/// The maximum length of a text in bytes; the rest is cut off. No embedding model reads more.
const MAX_BYTES: usize = 8 * 1024;
/// The number of embeddings that are cached: a text is often looked up first and then remembered.
const KEPT: usize = 256;
/// The text with which the dimension of a model's vectors is determined.
const PROBE: &str = "workshop";

/// A provider's embedding model. Every call blocks until the answer, at most for the request timeout.
pub struct ProviderEmbedder {
    access: EmbeddingAccess,
    keys: Keys,
    runtime: Runtime,
    dimensions: usize,
    meter: EmbeddingMeter,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    client: Option<GuardedProvider>,
    kept: VecDeque<(String, Embedding)>,
    /// After a failure: the end of the pause, the number of consecutive failures, and the reason.
    rest: Option<(Instant, u32, String)>,
}

impl ProviderEmbedder {
    /// Connects to a model. If no existing vectors show their dimension, a request determines it.
    pub fn open(
        access: EmbeddingAccess,
        dimensions: Option<usize>,
        meter: EmbeddingMeter,
    ) -> Result<Self, EmbeddingError> {
        let unavailable = |why: String| EmbeddingError::Unavailable { model: access.model.clone(), why };
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| unavailable(format!("it cannot be asked: {error}")))?;
        let (keys, _) = Keys::load(&access.environment);
        let mut embedder =
            Self { access, keys, runtime, dimensions: dimensions.unwrap_or(0), meter, state: Mutex::default() };
        if dimensions.is_none() {
            let probe = embedder.request(&[PROBE])?;
            embedder.dimensions = probe.first().map_or(0, Vec::len);
            // Checks that the vector is valid.
            embedder.checked(probe.first().map(Vec::as_slice).unwrap_or_default())?;
        }
        Ok(embedder)
    }

    fn checked(&self, numbers: &[f32]) -> Result<Embedding, EmbeddingError> {
        Embedding::new(&self.access.model, self.dimensions, numbers)
    }

    /// Makes one request, within the limits. Returns one vector per text.
    fn request(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let unavailable = |why: String| EmbeddingError::Unavailable { model: self.access.model.clone(), why };
        if let Some(why) = self.meter.refusal() {
            return Err(unavailable(why));
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((until, _, why)) = &state.rest
            && Instant::now() < *until
        {
            return Err(unavailable(why.clone()));
        }
        let began = Instant::now();
        let asked = self.ask(&mut state, texts);
        let failure = asked.as_ref().err().map(|error| {
            let EmbeddingAccess { choice, terms, environment, .. } = &self.access;
            let failure = describe_failure(error, (choice, terms), (environment, &self.keys), 1);
            format!("{}. What to do: {}", failure.what, failure.remedy)
        });
        let estimated = || texts.iter().map(|text| text::estimate_tokens(text)).sum();
        let usage = match &asked {
            Ok((_, told)) if told.input_tokens > 0 => *told,
            Ok(_) => Usage { input_tokens: estimated(), ..Usage::default() },
            Err(error) if was_answered(error) => Usage { input_tokens: estimated(), ..Usage::default() },
            Err(_) => Usage::default(),
        };
        self.meter.note(usage, began.elapsed(), failure.clone());
        match (asked, failure) {
            (Ok((vectors, _)), _) => {
                state.rest = None;
                Ok(vectors)
            }
            (Err(error), failure) => {
                let why = failure.unwrap_or_default();
                let before = state.rest.take().map_or(0, |(_, times, _)| times);
                let asked_secs = wait_asked(error.cause).flatten().unwrap_or(0.0).clamp(0.0, LONGEST_REST_SECS);
                let secs = self.access.terms.retry.cooldown_secs(before).max(asked_secs);
                state.rest = Some((Instant::now() + Duration::from_secs_f64(secs), before + 1, why.clone()));
                Err(unavailable(why))
            }
        }
    }

    fn ask(&self, state: &mut State, texts: &[&str]) -> Result<(Vec<Vec<f32>>, Usage), ProviderError> {
        let EmbeddingAccess { choice, terms, environment, .. } = &self.access;
        self.runtime.block_on(async {
            let client = match state.client.take() {
                Some(client) => client,
                None => vendor_client((choice, terms), (environment, &self.keys))?,
            };
            let wanted = texts.iter().map(|text| (*text).to_owned()).collect();
            let asked = tokio::time::timeout(terms.total, client.embed(&choice.model, wanted)).await;
            state.client = Some(client);
            let secs = u32::try_from(terms.total.as_secs()).unwrap_or(u32::MAX);
            let (vectors, usage) = asked.unwrap_or_else(|_| Err(ProviderError::new(ErrorCause::TooLong(secs), "")))?;
            if vectors.len() == texts.len() {
                return Ok((vectors, usage));
            }
            let what = format!("got {} vectors for {} texts", vectors.len(), texts.len());
            Err(ProviderError::new(ErrorCause::Garbage, what))
        })
    }

    fn kept(&self, text: &str) -> Option<Embedding> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.kept.iter().find(|(kept, _)| kept == text).map(|(_, embedding)| embedding.clone())
    }

    fn keep(&self, text: &str, embedding: &Embedding) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.kept.len() >= KEPT {
            state.kept.pop_front();
        }
        state.kept.push_back((text.to_owned(), embedding.clone()));
    }
}

/// Whether a request may have to be paid for although it had no result.
fn was_answered(error: &ProviderError) -> bool {
    matches!(error.cause, ErrorCause::Garbage | ErrorCause::Cut | ErrorCause::TooMuch | ErrorCause::TooLong(_))
}

impl Embedder for ProviderEmbedder {
    fn model(&self) -> &ModelId {
        &self.access.model
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, text: &str) -> Result<Embedding, EmbeddingError> {
        let one = self.embed_all(&[text]).into_iter().next();
        one.unwrap_or_else(|| Err(EmbeddingError::Zero { model: self.access.model.clone() }))
    }

    fn embed_all(&self, texts: &[&str]) -> Vec<Result<Embedding, EmbeddingError>> {
        let nothing = || EmbeddingError::Zero { model: self.access.model.clone() };
        let mut found: Vec<Option<Result<Embedding, EmbeddingError>>> = Vec::with_capacity(texts.len());
        let mut asked: Vec<(usize, &str)> = Vec::new();
        for (place, text) in texts.iter().enumerate() {
            let text = &text[..text.floor_char_boundary(MAX_BYTES)];
            found.push(if text.trim().is_empty() { Some(Err(nothing())) } else { self.kept(text).map(Ok) });
            if found[place].is_none() {
                asked.push((place, text));
            }
        }
        for some in asked.chunks(TEXTS_AT_ONCE) {
            let wanted: Vec<&str> = some.iter().map(|(_, text)| *text).collect();
            match self.request(&wanted) {
                Ok(vectors) => {
                    for ((place, text), numbers) in some.iter().zip(vectors) {
                        let checked = self.checked(&numbers);
                        if let Ok(embedding) = &checked {
                            self.keep(text, embedding);
                        }
                        found[*place] = Some(checked);
                    }
                }
                Err(error) => some.iter().for_each(|(place, _)| found[*place] = Some(Err(error.clone()))),
            }
        }
        found.into_iter().map(|one| one.unwrap_or_else(|| Err(nothing()))).collect()
    }

    fn is_quick(&self) -> bool {
        false
    }

    fn unavailable_reason(&self) -> Option<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.meter.refusal().or_else(|| state.rest.as_ref().map(|(_, _, why)| why.clone()))
    }
}
