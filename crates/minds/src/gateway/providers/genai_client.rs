//! The only code that uses genai: sends requests, and rejects answers that cannot be trusted.
//!
//! Gaps of genai 0.7.2 that are closed here: it grows a vector to the index that a server sends, and merges calls that
//! share an index (own assembly, see [`super::tool_call_assembly`]); a connection that closes early looks like an end;
//! an error does not end the stream; the status of a refused stream is hidden inside another error.

mod embedding;

use std::error::Error as _;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use genai::adapter::AdapterKind;
use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, ContentPart, CustomPart, MessageContent,
    ReasoningEffort, StopReason, StreamEnd, Tool, ToolCall, ToolName, ToolResponse,
};
use genai::resolver::{AuthData, Endpoint};
use genai::webc::StreamTimeout;
use genai::{Client, ModelIden, ServiceTarget};
use tokio_util::sync::CancellationToken;

use super::provider::{AiProvider, DeltaSink, ErrorCause, ProviderError, ProviderRequest, StreamedPiece};
use super::retry::{parse_retry_after, retry_delay_secs};
use super::tool_call_assembly::{ArgumentStyle, Assembly, Piece};
use super::vendor_history::{SentCall, Turn, stable_turns, turns};
use crate::gateway::keys::Secret;
use crate::gateway::vendors::reasoning_models::{accepts_stop_sequences, takes_effort};
use crate::gateway::vendors::vendor::{Vendor, WireFormat};
use crate::gateway::web::http_client;
use crate::gateway::web::local_proxy::{Gauge, LocalProxy, is_behind_proxy};
use crate::gateway::web::origin::is_loopback;
use crate::mind::{CallKind, Completion, Finish, ReasoningBlock, ToolDeclaration, Usage};

/// The timeouts of one attempt.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Timeouts {
    /// The time until the connection is established.
    pub connect: Duration,
    /// The time until the next byte.
    pub stall: Duration,
}

/// A vendor that is called through genai.
pub struct GuardedProvider {
    wire: WireFormat,
    client: Client,
    target: ServiceTarget,
    patience: Timeouts,
    relay: Option<Arc<LocalProxy>>,
    /// Whether its server is on this computer.
    is_here: bool,
}

impl GuardedProvider {
    /// Creates a client for a vendor at this address, with this key. Must be called within a runtime.
    pub fn new(
        vendor: &Vendor,
        base_url: &str,
        key: Option<&Secret>,
        patience: Timeouts,
    ) -> Result<Self, ProviderError> {
        let key = match key {
            Some(key) => key.reveal(),
            None if vendor.needs_key(base_url) => return Err(ProviderError::new(ErrorCause::NoKey, "")),
            // Local servers often require any non-empty key.
            None => "none",
        };
        // A redirect would send the key to another server.
        let mut http = http_client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(patience.connect)
            // A megabyte of compressed data may expand to a gigabyte.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd();
        let no_connection = |error: &dyn std::fmt::Display| ProviderError::new(ErrorCause::Connect, error);
        let relay = if !is_loopback(base_url) && is_behind_proxy() {
            http = http.retry(reqwest::retry::never());
            None
        } else {
            let relay = LocalProxy::start(patience.connect).map_err(|error| no_connection(&error))?;
            let gauge = relay.gauge();
            // This is the only place that sees the status before the body is read. It never causes a retry.
            let watch =
                reqwest::retry::for_host(AnyHost).no_budget().max_retries_per_request(0).classify_fn(move |answer| {
                    if answer.status().is_some_and(|status| !status.is_success()) {
                        gauge.note_error();
                    }
                    answer.success()
                });
            let proxy = relay.proxy().map_err(|error| no_connection(&error))?;
            // Each attempt has a connection and a byte count of its own.
            http = http.proxy(proxy).pool_max_idle_per_host(0).retry(watch);
            Some(Arc::new(relay))
        };
        let http = http.build().map_err(|error| no_connection(&error))?;
        let client = Client::builder()
            .with_reqwest(http)
            .build()
            .map_err(|error| ProviderError::new(ErrorCause::Connect, error))?;
        let target = ServiceTarget {
            endpoint: Endpoint::from_owned(base_url),
            auth: AuthData::from_single(key),
            model: ModelIden::new(adapter(vendor.wire), ""),
        };
        Ok(Self { wire: vendor.wire, client, target, patience, relay, is_here: is_loopback(base_url) })
    }
}

/// A pattern that matches every host.
struct AnyHost;

impl PartialEq<&str> for AnyHost {
    fn eq(&self, _: &&str) -> bool {
        true
    }
}

fn adapter(wire: WireFormat) -> AdapterKind {
    match wire {
        WireFormat::Gemini => AdapterKind::Gemini,
        WireFormat::OpenAi => AdapterKind::OpenAI,
        WireFormat::Anthropic => AdapterKind::Anthropic,
        WireFormat::Ollama => AdapterKind::Ollama,
    }
}

fn style(wire: WireFormat) -> ArgumentStyle {
    match wire {
        WireFormat::OpenAi => ArgumentStyle::Pieces,
        WireFormat::Anthropic => ArgumentStyle::Cumulative,
        WireFormat::Gemini | WireFormat::Ollama => ArgumentStyle::Whole,
    }
}

impl AiProvider for GuardedProvider {
    fn complete(
        &self,
        request: ProviderRequest,
        sink: DeltaSink,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<Completion, ProviderError>> {
        let (client, wire, patience, relay) = (self.client.clone(), self.wire, self.patience, self.relay.clone());
        let is_here = self.is_here;
        let mut target = self.target.clone();
        target.model = ModelIden::new(adapter(wire), request.model.clone());
        Box::pin(async move {
            let gauge = relay.as_ref().map(|relay| relay.gauge());
            if let Some(gauge) = &gauge {
                gauge.reset();
            }
            let outcome = tokio::select! {
                biased;
                () = cancel.cancelled() => Err(ProviderError::new(ErrorCause::Cancelled, "")),
                outcome = ask(client, target, wire, patience, request, sink) => outcome,
            };
            outcome.map_err(|error| match &gauge {
                Some(gauge) => as_seen(error, gauge, is_here),
                None => error,
            })
        })
    }
}

/// Adds to an error what the relay knows about its cause.
fn as_seen(error: ProviderError, gauge: &Gauge, is_here: bool) -> ProviderError {
    match error.cause {
        ErrorCause::Status { .. } if gauge.was_cut() => {
            ProviderError { detail: "its explanation is too long".to_owned(), ..error }
        }
        ErrorCause::Cut | ErrorCause::Connect | ErrorCause::Garbage if gauge.was_cut() => {
            let detail = "more than an answer takes on the way".to_owned();
            ProviderError::new(ErrorCause::TooMuch, detail)
        }
        ErrorCause::Connect => match gauge.no_connection() {
            Some((ErrorKind::ConnectionRefused, _)) if is_here => ProviderError::new(ErrorCause::Refused, ""),
            Some((_, detail)) => ProviderError { detail, ..error },
            None => error,
        },
        _ => error,
    }
}

async fn ask(
    client: Client,
    target: ServiceTarget,
    wire: WireFormat,
    patience: Timeouts,
    request: ProviderRequest,
    mut sink: DeltaSink,
) -> Result<Completion, ProviderError> {
    let mut options = ChatOptions::default()
        .with_max_tokens(request.max_output_tokens)
        .with_capture_usage(true)
        .with_capture_content(false)
        .with_capture_tool_calls(false)
        // Anthropic requires its thinking before tool calls to be sent back; it is not sent to other vendors.
        .with_capture_reasoning_content(wire == WireFormat::Anthropic)
        .with_stream_header_timeout(patience.stall)
        .with_stream_read_timeout(patience.stall);
    if !request.stops.is_empty() && accepts_stop_sequences(wire, &request.model) {
        options = options.with_stop_sequences(request.stops.clone());
    }
    // Messages in the room are short; an agent at work may use as much reasoning as its vendor allows.
    if request.kind != CallKind::Task && takes_effort(wire, &request.model) {
        options = options.with_reasoning_effort(ReasoningEffort::Low);
    }
    let chat = chat_request(request, wire);
    let classify = |error| classify(error, patience);
    let response = client.exec_chat_stream(target, chat, Some(&options)).await.map_err(classify)?;
    let mut stream = response.stream;
    let mut text = String::new();
    let mut thought = String::new();
    let mut calls = Assembly::new(style(wire));
    // The first error ends the answer: events that genai sends after it cannot be trusted.
    while let Some(event) = stream.next().await {
        match event.map_err(classify)? {
            ChatStreamEvent::Chunk(chunk) => {
                calls.count(chunk.content.len())?;
                text.push_str(&chunk.content);
                sink.push(StreamedPiece::Text(&chunk.content));
            }
            ChatStreamEvent::ToolCallChunk(chunk) => {
                let position = calls.add(piece(chunk.tool_call))?;
                if let Some((name, arguments)) = calls.so_far(position) {
                    sink.push(StreamedPiece::Call { position, name, arguments: &arguments });
                }
            }
            ChatStreamEvent::ReasoningChunk(chunk) => {
                calls.count(chunk.content.len())?;
                thought.push_str(&chunk.content);
                sink.push(StreamedPiece::Thought(&chunk.content));
            }
            ChatStreamEvent::ThoughtSignatureChunk(chunk) => calls.count(chunk.content.len())?,
            ChatStreamEvent::Start | ChatStreamEvent::Heartbeat => {}
            ChatStreamEvent::End(mut end) => {
                let blocks = reasoning(wire, thought, end.captured_content.take());
                return completion(wire, text, calls, (blocks, end));
            }
        }
    }
    Err(ProviderError::new(ErrorCause::Cut, "the connection was closed before the end"))
}

fn piece(call: ToolCall) -> Piece {
    let signature = call.thought_signatures.and_then(|signatures| signatures.into_iter().next());
    Piece { id: call.call_id, name: call.fn_name, arguments: call.fn_arguments, signature }
}

/// Returns the reasoning before the answer, if the vendor may require it to be sent back with tool calls.
fn reasoning(wire: WireFormat, thought: String, captured: Option<MessageContent>) -> Vec<ReasoningBlock> {
    match wire {
        WireFormat::Anthropic => {
            let mut blocks: Vec<ReasoningBlock> = Vec::new();
            for part in captured.into_iter().flatten() {
                match part {
                    ContentPart::ThoughtSignature(signature) => {
                        blocks.push(ReasoningBlock::Signed { text: Some(String::new()), signature });
                    }
                    // The text directly follows its signature.
                    ContentPart::ReasoningContent(words) => {
                        if let Some(ReasoningBlock::Signed { text, .. }) = blocks.last_mut() {
                            *text = Some(words);
                        }
                    }
                    ContentPart::Custom(part) => blocks.push(ReasoningBlock::Sealed { block: part.data }),
                    _ => {}
                }
            }
            blocks
        }
        // Some OpenAI-compatible vendors (DeepSeek, Kimi) require it; OpenAI itself never returns it here.
        WireFormat::OpenAi if !thought.is_empty() => vec![ReasoningBlock::Plain { text: thought }],
        // Gemini signs each call separately, and Ollama requires nothing.
        WireFormat::OpenAi | WireFormat::Gemini | WireFormat::Ollama => Vec::new(),
    }
}

/// Converts a request to genai's types. Anthropic caches everything before a marker; the others cache any unchanged
/// prefix.
fn chat_request(request: ProviderRequest, wire: WireFormat) -> ChatRequest {
    let is_marked = wire == WireFormat::Anthropic;
    let (system_text, stable) = (request.prompt.system_text(), request.prompt.stable_text().len());
    let mut system = if is_marked { marked_system(&system_text, stable) } else { Vec::new() };
    let is_all_stable = stable >= system_text.len();
    let messages = request.prompt.messages();
    let all = turns(messages.clone(), wire);
    // Content after a part that changes with every request is never found in a cache.
    let marked_turns = match is_marked && is_all_stable {
        true => stable_turns(&messages, request.prompt.stable_messages(), &all, wire),
        false => 0,
    };
    let has_system = !system.is_empty();
    let mut tools: Vec<Tool> = request.tools.into_iter().map(tool).collect();
    // Tools come before the system text, so its marker covers them, too.
    if let Some(last) = tools.last_mut().filter(|_| is_marked && !has_system) {
        last.cache_control = Some(CacheControl::Ephemeral);
    }
    system.extend(chat_messages(all, wire, marked_turns));
    let mut chat = ChatRequest::new(system);
    if !tools.is_empty() {
        chat = chat.with_tools(tools);
    }
    if system_text.is_empty() || has_system { chat } else { chat.with_system(system_text) }
}

/// Splits the system text in two, with a cache marker after the stable part; without a marker if there is no stable
/// part.
fn marked_system(system: &str, stable_bytes: usize) -> Vec<ChatMessage> {
    let (stable, fleeting) = system.split_at(system.floor_char_boundary(stable_bytes));
    if stable.is_empty() {
        return Vec::new();
    }
    let stable = ChatMessage::system(stable).with_options(CacheControl::Ephemeral);
    let fleeting = Some(fleeting.trim_start()).filter(|text| !text.is_empty()).map(ChatMessage::system);
    [stable].into_iter().chain(fleeting).collect()
}

/// Converts turns to genai's messages, with a marker after the first `marked_turns`.
fn chat_messages(turns: Vec<Turn>, wire: WireFormat, marked_turns: usize) -> Vec<ChatMessage> {
    let mut messages = Vec::with_capacity(turns.len());
    for (index, turn) in turns.into_iter().enumerate() {
        match turn {
            Turn::User(text) => messages.push(ChatMessage::user(text)),
            Turn::Shown { text, images } => {
                let images = images.into_iter();
                let images = images.map(|image| ContentPart::from_binary_base64(image.media_type, image.base64, None));
                let parts: Vec<ContentPart> = [ContentPart::Text(text)].into_iter().chain(images).collect();
                messages.push(ChatMessage::user(MessageContent::from_parts(parts)));
            }
            Turn::Assistant { text, calls } => messages.push(ChatMessage::assistant(said(text, calls))),
            Turn::Results(results) => {
                let responses = results
                    .into_iter()
                    .map(|result| ToolResponse::new(result.id, result.text).with_fn_name(result.name));
                match wire {
                    // For this vendor, genai sends only one result per message.
                    WireFormat::Ollama => messages.extend(responses.map(ChatMessage::from)),
                    _ => messages.push(ChatMessage::from(responses.collect::<Vec<_>>())),
                }
            }
        }
        if let Some(last) = messages.last_mut().filter(|_| index + 1 == marked_turns) {
            last.options = Some(CacheControl::Ephemeral.into());
        }
    }
    messages
}

/// Converts a tool declaration; always a custom tool, even if it has the name of a vendor's built-in tool.
fn tool(declaration: ToolDeclaration) -> Tool {
    let schema = match declaration.parameters.into_value() {
        schema @ serde_json::Value::Object(_) => schema,
        _ => serde_json::json!({ "type": "object", "properties": {} }),
    };
    Tool::new(ToolName::Custom(declaration.name)).with_description(declaration.description).with_schema(schema)
}

/// Converts an agent's message and tool calls, with the data that its vendor requires to be sent back.
fn said(text: String, calls: Vec<SentCall>) -> MessageContent {
    let mut before = Vec::new();
    let mut called = Vec::new();
    for call in calls {
        let mut signatures = Vec::new();
        for block in call.reasoning.into_iter().flat_map(|reasoning| reasoning.blocks) {
            match block {
                ReasoningBlock::Signed { text: None, signature } => signatures.push(signature),
                ReasoningBlock::Signed { text: Some(text), signature } => {
                    before.push(ContentPart::ThoughtSignature(signature));
                    before.push(ContentPart::ReasoningContent(text));
                }
                ReasoningBlock::Sealed { block } => {
                    before.push(ContentPart::Custom(CustomPart { model_iden: None, data: block }));
                }
                ReasoningBlock::Plain { text } => before.push(ContentPart::ReasoningContent(text)),
            }
        }
        called.push(ContentPart::ToolCall(ToolCall {
            call_id: call.id,
            fn_name: call.name,
            fn_arguments: call.arguments,
            thought_signatures: (!signatures.is_empty()).then_some(signatures),
        }));
    }
    // No vendor accepts empty text.
    let words = (!text.trim().is_empty()).then_some(ContentPart::Text(text));
    MessageContent::from_parts(before.into_iter().chain(words).chain(called).collect::<Vec<_>>())
}

fn completion(
    wire: WireFormat,
    text: String,
    calls: Assembly,
    (blocks, end): (Vec<ReasoningBlock>, StreamEnd),
) -> Result<Completion, ProviderError> {
    let reason = end.captured_stop_reason;
    // For Gemini and Ollama, genai ends the stream without a reason even if it was interrupted.
    if reason.is_none() && matches!(wire, WireFormat::Gemini | WireFormat::Ollama) {
        return Err(ProviderError::new(ErrorCause::Cut, "the connection was closed before the end"));
    }
    let tool_calls = calls.finish(wire, blocks);
    // The calls themselves decide whether tools are called; the reason only indicates that calls were lost.
    if tool_calls.is_empty() && matches!(reason, Some(StopReason::ToolCall(_))) {
        return Err(ProviderError::new(ErrorCause::Garbage, "none of its tool calls could be read"));
    }
    let finish = match reason {
        // If a reply was cut off, its last call may be incomplete.
        Some(StopReason::MaxTokens(_)) => Finish::Length,
        _ if !tool_calls.is_empty() => Finish::ToolCalls,
        Some(StopReason::ContentFilter(_)) => Finish::Filtered,
        _ => Finish::Stop,
    };
    let tokens = |count: Option<i32>| count.and_then(|count| u32::try_from(count).ok()).unwrap_or(0);
    let usage = end.captured_usage.unwrap_or_default();
    let details = usage.prompt_tokens_details;
    let usage = Usage {
        input_tokens: tokens(usage.prompt_tokens),
        cached_tokens: tokens(details.as_ref().and_then(|details| details.cached_tokens)),
        cache_written_tokens: tokens(details.as_ref().and_then(|details| details.cache_creation_tokens)),
        output_tokens: tokens(usage.completion_tokens),
    };
    Ok(Completion { text, tool_calls, usage, finish, told: None })
}

/// Classifies an error of genai, however deeply it is nested.
fn classify(error: genai::Error, patience: Timeouts) -> ProviderError {
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
            let told = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
            let in_millis = || told("retry-after-ms")?.trim().parse::<f64>().ok().map(|millis| millis / 1000.0);
            let in_header = told("retry-after").and_then(|value| parse_retry_after(value, SystemTime::now()));
            let in_millis = in_millis().filter(|secs| secs.is_finite() && *secs >= 0.0);
            let retry_after_secs = in_millis.or(in_header).or_else(|| retry_delay_secs(&body));
            ProviderError::new(ErrorCause::Status { status: status.as_u16(), retry_after_secs }, body)
        }
        genai::Error::ChatResponse { body, .. } => stream_failure(&body),
        genai::Error::WebModelCall { webc_error: genai::webc::Error::Reqwest(error), .. } => transport(error, patience),
        error @ (genai::Error::RequiresApiKey { .. } | genai::Error::NoAuthData { .. }) => {
            ProviderError::new(ErrorCause::NoKey, error)
        }
        other => ProviderError::new(ErrorCause::Garbage, other),
    }
}

fn transport(error: reqwest::Error, patience: Timeouts) -> ProviderError {
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

/// Returns the error that a server sent in place of a piece of the answer.
fn stream_failure(body: &serde_json::Value) -> ProviderError {
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
