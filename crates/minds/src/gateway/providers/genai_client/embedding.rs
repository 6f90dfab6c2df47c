//! Requests embeddings from a vendor.

use genai::ModelIden;
use genai::embed::{EmbedOptions, EmbedRequest};

use crate::gateway::providers::genai_client::{GuardedProvider, adapter, as_seen, classify};
use crate::gateway::providers::provider::ProviderError;
use crate::mind::Usage;

impl GuardedProvider {
    /// Requests the vectors of texts, in order. Returns them with the usage. The caller must check their number and
    /// values.
    pub(in crate::gateway) async fn embed(
        &self,
        model: &str,
        texts: Vec<String>,
    ) -> Result<(Vec<Vec<f32>>, Usage), ProviderError> {
        let mut target = self.target.clone();
        target.model = ModelIden::new(adapter(self.wire), model.to_owned());
        let gauge = self.relay.as_ref().map(|relay| relay.gauge());
        if let Some(gauge) = &gauge {
            gauge.reset();
        }
        let options = EmbedOptions::new().with_capture_usage(true);
        // Not every server with Gemini's protocol accepts several texts at once.
        let request = match <[String; 1]>::try_from(texts) {
            Ok([text]) => EmbedRequest::new(text),
            Err(texts) => EmbedRequest::new_batch(texts),
        };
        let answered = self.client.exec_embed(target, request, Some(&options)).await;
        let answer = answered.map_err(|error| {
            let error = classify(error, self.patience);
            match &gauge {
                Some(gauge) => as_seen(error, gauge, self.is_here),
                None => error,
            }
        })?;
        let told = |count: Option<i32>| count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
        let usage = Usage { input_tokens: told(answer.usage.prompt_tokens), ..Usage::default() };
        let mut embeddings = answer.embeddings;
        // Servers may return the vectors in another order.
        embeddings.sort_by_key(|embedding| embedding.index);
        Ok((embeddings.into_iter().map(|embedding| embedding.vector).collect(), usage))
    }
}
