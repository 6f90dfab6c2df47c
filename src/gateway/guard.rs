//! The only place that names genai: asks, and lets nothing through that a server must not be trusted with.
//!
//! What genai 0.7.2 leaves open and this closes: it grows a vector to the index a server names and merges
//! calls that share one (own assembly, see [`super::assemble`]); a connection that closes early looks like
//! an end; an error does not end the stream; the status of a refused stream hides inside another error.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, StopReason, StreamEnd};
use genai::resolver::{AuthData, Endpoint};
use genai::webc::StreamTimeout;
use genai::{Client, ModelIden, ServiceTarget};
use tokio_util::sync::CancellationToken;

use super::assemble::{ArgumentStyle, Assembly, Piece};
use super::keys::Secret;
use super::provider::{AiProvider, DeltaSink, ErrorCause, ProviderError, ProviderRequest};
use super::retry::parse_retry_after;
use super::vendor::{Vendor, Wire, is_loopback};
use crate::mind::{Completion, Finish, Role, Usage};

/// How long a try may take.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Patience {
    /// Until there is a connection.
    pub connect: Duration,
    /// Until the next byte.
    pub stall: Duration,
}

/// A vendor, asked through genai.
pub struct GuardedProvider {
    wire: Wire,
    client: Client,
    target: ServiceTarget,
    patience: Patience,
}

impl GuardedProvider {
    /// Sets up to ask this vendor there, with this key.
    pub fn new(
        vendor: &Vendor,
        base_url: &str,
        key: Option<&Secret>,
        patience: Patience,
    ) -> Result<Self, ProviderError> {
        let key = match key {
            Some(key) => key.reveal(),
            None if vendor.needs_key(base_url) => return Err(ProviderError::new(ErrorCause::NoKey, "")),
            // Servers of one's own want some word there, any word.
            None => "none",
        };
        // A redirect would carry the key along to wherever it points.
        let mut http =
            reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).connect_timeout(patience.connect);
        if is_loopback(base_url) {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| ProviderError::new(ErrorCause::Connect, error))?;
        let client = Client::builder()
            .with_reqwest(http)
            .build()
            .map_err(|error| ProviderError::new(ErrorCause::Connect, error))?;
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(base_url),
            auth: AuthData::from_single(key),
            model: ModelIden::new(adapter(vendor.wire), ""),
        };
        Ok(Self { wire: vendor.wire, client, target, patience })
    }
}

fn adapter(wire: Wire) -> AdapterKind {
    match wire {
        Wire::Gemini => AdapterKind::Gemini,
        Wire::OpenAi => AdapterKind::OpenAI,
        Wire::Anthropic => AdapterKind::Anthropic,
        Wire::Ollama => AdapterKind::Ollama,
    }
}

fn style(wire: Wire) -> ArgumentStyle {
    match wire {
        Wire::OpenAi => ArgumentStyle::Pieces,
        Wire::Anthropic => ArgumentStyle::Cumulative,
        Wire::Gemini | Wire::Ollama => ArgumentStyle::Whole,
    }
}

impl AiProvider for GuardedProvider {
    fn complete(
        &self,
        request: ProviderRequest,
        sink: DeltaSink,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<Completion, ProviderError>> {
        let (client, wire, patience) = (self.client.clone(), self.wire, self.patience);
        let mut target = self.target.clone();
        target.model = ModelIden::new(adapter(wire), request.model.clone());
        Box::pin(async move {
            tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ProviderError::new(ErrorCause::Cancelled, "")),
                outcome = ask(client, target, wire, patience, request, sink) => outcome,
            }
        })
    }
}

async fn ask(
    client: Client,
    target: ServiceTarget,
    wire: Wire,
    patience: Patience,
    request: ProviderRequest,
    mut sink: DeltaSink,
) -> Result<Completion, ProviderError> {
    let options = ChatOptions::default()
        .with_max_tokens(request.max_output_tokens)
        .with_capture_usage(true)
        .with_capture_content(false)
        .with_capture_tool_calls(false)
        .with_stream_header_timeout(patience.stall)
        .with_stream_read_timeout(patience.stall);
    let chat = chat_request(request);
    let classify = |error| classify(error, patience);
    let response = client.exec_chat_stream(target, chat, Some(&options)).await.map_err(classify)?;
    let mut stream = response.stream;
    let mut text = String::new();
    let mut calls = Assembly::new(style(wire));
    // The first error ends the turn: what genai sends after one is not to be trusted.
    while let Some(event) = stream.next().await {
        match event.map_err(classify)? {
            ChatStreamEvent::Chunk(chunk) => {
                calls.count(chunk.content.len())?;
                text.push_str(&chunk.content);
                sink.push(&chunk.content);
            }
            ChatStreamEvent::ToolCallChunk(chunk) => {
                let call = chunk.tool_call;
                calls.add(Piece { id: call.call_id, name: call.fn_name, arguments: call.fn_arguments })?;
            }
            ChatStreamEvent::ReasoningChunk(chunk) | ChatStreamEvent::ThoughtSignatureChunk(chunk) => {
                calls.count(chunk.content.len())?;
            }
            ChatStreamEvent::Start | ChatStreamEvent::Heartbeat => {}
            ChatStreamEvent::End(end) => return completion(wire, text, calls, end),
        }
    }
    Err(ProviderError::new(ErrorCause::Cut, "the connection was closed before the end"))
}

fn chat_request(request: ProviderRequest) -> ChatRequest {
    let messages = request.messages.into_iter().map(|message| match message.role {
        Role::User => ChatMessage::user(message.text),
        Role::Assistant => ChatMessage::assistant(message.text),
        Role::Tool => ChatMessage::user(message.text),
    });
    let chat = ChatRequest::new(messages.collect());
    if request.system.is_empty() { chat } else { chat.with_system(request.system) }
}

fn completion(wire: Wire, text: String, calls: Assembly, end: StreamEnd) -> Result<Completion, ProviderError> {
    let reason = end.captured_stop_reason;
    // Gemini's and Ollama's streams are given an end by genai even when they were cut: without a reason.
    if reason.is_none() && matches!(wire, Wire::Gemini | Wire::Ollama) {
        return Err(ProviderError::new(ErrorCause::Cut, "the connection was closed before the end"));
    }
    let tool_calls = calls.finish();
    // Whether tools are called is decided by the calls that are there; the reason only tells of lost ones.
    if tool_calls.is_empty() && matches!(reason, Some(StopReason::ToolCall(_))) {
        return Err(ProviderError::new(ErrorCause::Garbage, "tool calls were announced and none could be read"));
    }
    let finish = match reason {
        _ if !tool_calls.is_empty() => Finish::ToolCalls,
        Some(StopReason::MaxTokens(_)) => Finish::Length,
        Some(StopReason::ContentFilter(_)) => Finish::Filtered,
        _ => Finish::Stop,
    };
    let tokens = |count: Option<i32>| count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
    let usage = end.captured_usage.unwrap_or_default();
    let usage = Usage {
        input_tokens: tokens(usage.prompt_tokens),
        cached_tokens: tokens(usage.prompt_tokens_details.and_then(|details| details.cached_tokens)),
        output_tokens: tokens(usage.completion_tokens),
    };
    Ok(Completion { text, tool_calls, usage, finish })
}

/// What an error of genai means, wherever it hides.
fn classify(error: genai::Error, patience: Patience) -> ProviderError {
    match error {
        genai::Error::WebStream { error, cause, .. } => {
            let error = match error.downcast::<genai::Error>() {
                Ok(inner) => return classify(*inner, patience),
                Err(error) => error,
            };
            if error.is::<StreamTimeout>() {
                let secs = u32::try_from(patience.stall.as_secs()).unwrap_or(u32::MAX);
                return ProviderError::new(ErrorCause::Stalled(secs), "");
            }
            match error.downcast::<reqwest::Error>() {
                Ok(error) => transport(*error, patience),
                Err(_) => ProviderError::new(ErrorCause::Garbage, cause),
            }
        }
        genai::Error::HttpError { status, body, headers, .. } => {
            let asked = headers.get("retry-after").and_then(|value| value.to_str().ok());
            let retry_after_secs = asked.and_then(|value| parse_retry_after(value, SystemTime::now()));
            ProviderError::new(ErrorCause::Status { status: status.as_u16(), retry_after_secs }, body)
        }
        genai::Error::ChatResponse { body, .. } => told_in_stream(&body),
        genai::Error::WebModelCall { webc_error: genai::webc::Error::Reqwest(error), .. } => transport(error, patience),
        error @ (genai::Error::RequiresApiKey { .. } | genai::Error::NoAuthData { .. }) => {
            ProviderError::new(ErrorCause::NoKey, error)
        }
        other => ProviderError::new(ErrorCause::Garbage, other),
    }
}

fn transport(error: reqwest::Error, patience: Patience) -> ProviderError {
    let cause = if error.is_timeout() && error.is_connect() {
        ErrorCause::Stalled(u32::try_from(patience.connect.as_secs()).unwrap_or(u32::MAX))
    } else if error.is_timeout() {
        ErrorCause::Stalled(u32::try_from(patience.stall.as_secs()).unwrap_or(u32::MAX))
    } else if error.is_body() || error.is_decode() {
        ErrorCause::Cut
    } else {
        ErrorCause::Connect
    };
    let mut detail = String::new();
    let mut source = error.source();
    while let Some(inner) = source {
        detail = inner.to_string();
        source = inner.source();
    }
    ProviderError::new(cause, detail)
}

/// An error that was sent where a piece of the answer should have been.
fn told_in_stream(body: &serde_json::Value) -> ProviderError {
    let code = body.get("code").and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    let code = code.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code));
    let text = body.to_string();
    let status = code.or_else(|| {
        let table = [("overloaded", 529), ("rate_limit", 429), ("authentication", 401), ("server_error", 500)];
        table.into_iter().find(|(word, _)| text.contains(word)).map(|(_, status)| status)
    });
    match status {
        Some(status) => ProviderError::new(ErrorCause::Status { status, retry_after_secs: None }, text),
        None => ProviderError::new(ErrorCause::Garbage, text),
    }
}
