//! The server through which an agent calls the room's tools: an MCP server for one session, on a local port.
//!
//! The agent starts this program as the server ([`mcp_forwarder`](super::mcp_forwarder)), which forwards the
//! messages. It uses standard input and output, because every agent must support such servers, and loopback, because
//! the agent can reach its vendor's host anyway, so that the sandbox needs no additional exception. Access requires a
//! secret that is created for this session and is only in the environment of that one program.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::v1::schema::{EnvVariable, McpServer, McpServerStdio};
use futures_util::future::ready;
use futures_util::{SinkExt, StreamExt};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, RxJsonRpcMessage, TxJsonRpcMessage, serve_server_with_ct};
use serde_json::Value;
use tokio::io::{AsyncReadExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{interval, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::mcp_forwarder::{FORWARDER_ARGUMENT, WORD_VARIABLE};
use super::requests::{OpenRequest, is_of_protocol};
use super::room_tools::{OfferedTools, RoomToolCall, SERVER};
use super::turn::Turn;
use crate::gateway::acp::transport::{Gauge, incoming, outgoing};
use crate::gateway::programs::sandbox::own_program;
use crate::gateway::web::local_proxy::random_secret;
use crate::mind::ToolDeclaration;

/// The maximum number of connections: an agent starts one, and may start another before it ends the first.
const MAX_CONNECTIONS: usize = 8;
/// How long a client may take to send the secret, and then to initialize.
const KNOCK: Duration = Duration::from_secs(10);
/// The interval at which the caller is notified that a call is still running, because a person may be asked about it.
const PROGRESS: Duration = Duration::from_secs(5);

/// An open tool server. Dropping it closes it and its connections.
pub(in crate::gateway::acp) struct ToolServer {
    address: SocketAddr,
    word: String,
    offered: Arc<OfferedTools>,
    _stop: DropGuard,
}

impl ToolServer {
    /// Opens a server for these tools, whose calls are part of this turn. Must be called within a runtime.
    pub(in crate::gateway::acp) fn open(offered: Arc<OfferedTools>, turn: Arc<Turn>) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let (address, word, stop) = (listener.local_addr()?, random_secret(), CancellationToken::new());
        let guest = ToolServerClient { word: word.clone(), offered: offered.clone(), turn, stop: stop.clone() };
        tokio::spawn(listen(listener, guest));
        Ok(Self { address, word, offered, _stop: stop.drop_guard() })
    }

    /// Returns the offered tools.
    pub(in crate::gateway::acp) fn offered(&self) -> &OfferedTools {
        &self.offered
    }

    /// Returns the server as announced to an agent; `None` if this program cannot be started as one.
    pub(in crate::gateway) fn server(&self) -> Option<McpServer> {
        let relay = McpServerStdio::new(SERVER, own_program()?)
            .args(vec![FORWARDER_ARGUMENT.to_owned(), self.address.to_string()])
            .env(vec![EnvVariable::new(WORD_VARIABLE, self.word.clone())]);
        Some(McpServer::Stdio(relay))
    }
}

/// A client of the tool server.
#[derive(Clone)]
struct ToolServerClient {
    word: String,
    offered: Arc<OfferedTools>,
    turn: Arc<Turn>,
    stop: CancellationToken,
}

async fn listen(listener: TcpListener, guest: ToolServerClient) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let place = tokio::select! {
            () = guest.stop.cancelled() => return,
            place = room.clone().acquire_owned() => place,
        };
        let accepted = tokio::select! {
            () = guest.stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else { return };
        let guest = guest.clone();
        tokio::spawn(async move {
            let _place = place;
            tokio::select! {
                () = guest.stop.cancelled() => {}
                () = guest.clone().serve_client(stream) => {}
            }
        });
    }
}

impl ToolServerClient {
    /// Serves one connection if it sends the right secret.
    async fn serve_client(self, mut stream: TcpStream) {
        // Small answers must arrive without delay.
        let _ = stream.set_nodelay(true);
        let mut said = vec![0; self.word.len() + 1];
        let knocked = timeout(KNOCK, stream.read_exact(&mut said)).await;
        if !matches!(knocked, Ok(Ok(_))) || said != format!("{}\n", self.word).into_bytes() {
            tracing::debug!("somebody tried to use the room's tools without the secret");
            return;
        }
        let (from, to) = stream.into_split();
        let gauge = Gauge::accepting(|_| true);
        let heard = gauge.clone();
        let lines = incoming(BufReader::new(from), gauge.clone());
        let messages =
            lines.scan((), |(), line| ready(line.ok())).filter_map(move |line| ready(message(&line, &heard)));
        let answers = outgoing(to, gauge).with(|answer: TxJsonRpcMessage<RoleServer>| {
            ready(serde_json::to_string(&answer).map_err(io::Error::other))
        });
        let server = RoomTools { offered: self.offered.clone(), turn: self.turn };
        let mut changes = self.offered.changes();
        let transport = (Box::pin(answers), Box::pin(messages));
        let Ok(Ok(served)) = timeout(KNOCK, serve_server_with_ct(server, transport, self.stop)).await else { return };
        let peer = served.peer().clone();
        let tell = async move {
            while changes.changed().await.is_ok() {
                // A client that has disconnected need not be notified.
                let _ = peer.notify_tool_list_changed().await;
            }
        };
        tokio::select! {
            _ = served.waiting() => {}
            () = tell => {}
        }
    }
}

/// Parses a message of the protocol.
fn message(line: &str, gauge: &Gauge) -> Option<RxJsonRpcMessage<RoleServer>> {
    let message = serde_json::from_str(line).ok();
    match &message {
        Some(RxJsonRpcMessage::<RoleServer>::Notification(_)) => gauge.update_done(),
        Some(_) => {}
        // The gauge counted a request that will never be answered.
        None => gauge.request_done(),
    }
    message
}

/// The handler of MCP requests.
struct RoomTools {
    offered: Arc<OfferedTools>,
    turn: Arc<Turn>,
}

impl ServerHandler for RoomTools {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(can)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
            .with_server_info(Implementation::new("agent-workshop", env!("CARGO_PKG_VERSION")))
            .with_instructions("The tools of the room in which you are hosted. The room decides about each call.")
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        ProtocolVersion::known_up_to(&ProtocolVersion::LATEST_WITH_INITIALIZE).into()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        Ok(ListToolsResult::with_all_items(self.offered.all().into_iter().map(as_tool).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        let name = request.name.into_owned();
        if is_of_protocol(&name) {
            let words = format!("Error: {name} is part of the Agent Client Protocol and cannot be called here.");
            return Ok(CallToolResult::error(vec![ContentBlock::text(words)]).into());
        }
        let (call, mut comes) = RoomToolCall::new(name, Value::Object(request.arguments.unwrap_or_default()));
        self.turn.ask(OpenRequest::Tool(call));
        let mut beat = interval(PROGRESS);
        let mut beats = 0.0;
        let said = loop {
            tokio::select! {
                said = &mut comes => break said,
                // If the agent does not wait any longer, the result is sent with the next prompt.
                () = context.ct.cancelled() => break Ok(Err("Error: you stopped waiting for this.".to_owned())),
                _ = beat.tick() => {
                    if let Some(token) = context.meta.get_progress_token() {
                        beats += 1.0;
                        // A client that has disconnected need not be notified.
                        let _ = context.peer.notify_progress(ProgressNotificationParam::new(token, beats)).await;
                    }
                }
            }
        };
        Ok(match said {
            Ok(Ok((words, images))) => {
                let images = images.into_iter().map(|image| ContentBlock::image(image.base64, image.media_type));
                CallToolResult::success([ContentBlock::text(words)].into_iter().chain(images).collect())
            }
            Ok(Err(words)) => CallToolResult::error(vec![ContentBlock::text(words)]),
            Err(_) => CallToolResult::error(vec![ContentBlock::text("Error: the session is over.")]),
        }
        .into())
    }
}

/// Converts a tool to the protocol's form.
fn as_tool(declaration: ToolDeclaration) -> Tool {
    let arguments = match declaration.parameters.into_value() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    Tool::new(declaration.name, declaration.description, Arc::new(arguments))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rmcp::ServiceExt;
    use rmcp::service::{RoleClient, RunningService};
    use serde_json::json;
    use tokio::io::AsyncWriteExt;

    use super::super::answer_context::AnswerContext;
    use super::*;
    use crate::mind::{AgentImage, PromptMessage, ResultImages};

    struct Open {
        door: ToolServer,
        turn: Arc<Turn>,
    }

    fn open() -> Open {
        let tool = |name: &str| ToolDeclaration {
            name: name.to_owned(),
            description: "Does it.".to_owned(),
            parameters: json!({ "type": "object", "properties": { "key": { "type": "string" } } }).into(),
        };
        let offered = Arc::new(OfferedTools::new(vec![tool("a"), tool("b")]));
        let turn = Arc::new(Turn::offering(Some(offered.clone())));
        Open { door: ToolServer::open(offered, turn.clone()).expect("loopback has a free port"), turn }
    }

    impl Open {
        async fn client(&self) -> RunningService<RoleClient, ()> {
            let mut stream = TcpStream::connect(self.door.address).await.expect("it listens");
            stream.write_all(format!("{}\n", self.door.word).as_bytes()).await.expect("it reads");
            ().serve(stream).await.expect("it says hello")
        }
    }

    fn within<T>(test: impl Future<Output = T>) -> T {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
        runtime.block_on(async { timeout(Duration::from_secs(20), test).await.expect("it ends") })
    }

    fn said(result: &CallToolResult) -> (bool, String) {
        let text = result.content.iter().filter_map(|part| part.as_text()).map(|text| text.text.clone()).collect();
        (result.is_error == Some(true), text)
    }

    #[test]
    fn a_call_in_a_turn_becomes_a_room_call_and_gets_its_result() {
        within(async {
            let open = open();
            let client = open.client().await;
            let listed = client.list_all_tools().await.expect("it lists");
            assert_eq!(listed.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>(), ["a", "b"]);
            open.turn.begin(false);
            let request = CallToolRequestParams::new("a")
                .with_arguments(json!({ "key": "k" }).as_object().cloned().expect("it should be valid"));
            let (turn, peer) = (open.turn.clone(), client.peer().clone());
            let answer = tokio::spawn(async move { peer.call_tool(request).await });
            let asked = loop {
                turn.changed.notified().await;
                if let Some(asked) = turn.take().asked.pop() {
                    break asked;
                }
            };
            let call = asked.call("c-1".to_owned(), Path::new("/"));
            assert_eq!((call.name.as_str(), &call.arguments), ("a", &json!({ "key": "k" })));
            let terminal_environment = || unreachable!("no program is started");
            let images = ResultImages {
                of_calls: [(
                    "c-1".to_owned(),
                    vec![AgentImage { media_type: "image/png".into(), base64: "aGk=".into() }],
                )]
                .into(),
                kept_in: String::new(),
            };
            let (terminals, workspace) = (&turn.terminals, Path::new("/"));
            let context = AnswerContext {
                workspace,
                terminals,
                terminal_environment: &terminal_environment,
                images: &images,
                takes_images: true,
            };
            let result =
                PromptMessage { end: Some(crate::mind::CallEnd::Done), ..PromptMessage::result(&call, "Done.") };
            assert_eq!(asked.answer(&result, &context), None);
            let result = answer.await.expect("it does not break").expect("it is answered");
            assert_eq!(said(&result), (false, "Done.".to_owned()));
            let image = result.content[1].as_image().expect("it should be valid");
            assert_eq!((image.mime_type.as_str(), image.data.as_str()), ("image/png", "aGk="));
        });
    }

    #[test]
    fn a_call_outside_of_a_turn_is_refused() {
        within(async {
            let open = open();
            let client = open.client().await;
            let result = client.call_tool(CallToolRequestParams::new("a")).await.expect("it is answered");
            let (is_error, words) = said(&result);
            assert!(is_error && words.contains("while it waits for your answer to a prompt"), "{words}");
        });
    }

    #[test]
    fn a_client_without_the_secret_gets_nothing() {
        within(async {
            let open = open();
            for knock in
                ["0".repeat(33), "GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".to_owned(), format!("{} ", open.door.word)]
            {
                let mut stream = TcpStream::connect(open.door.address).await.expect("it listens");
                stream.write_all(knock.as_bytes()).await.expect("it reads");
                let mut heard = Vec::new();
                // The connection may be cut off before everything was read.
                let _ = stream.read_to_end(&mut heard).await;
                assert!(heard.is_empty(), "{knock}");
            }
            assert_eq!(open.client().await.list_all_tools().await.expect("it lists").len(), 2);
        });
    }

    #[test]
    fn closing_the_server_ends_its_connections() {
        within(async {
            let open = open();
            let client = open.client().await;
            drop(open);
            client.waiting().await.expect("it does not break");
        });
    }
}
