//! The room's own tools (boards, mail, the blackboard, other agents) in one session with an agent: which are offered,
//! and a call of one as a request.
//!
//! Access to files and commands is already part of the protocol; the code that opens the session decides which tools
//! may be called.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::answer_context::AnswerContext;
use crate::mind::{AgentImage, CallEnd, PromptMessage, ToolCall, ToolDeclaration};

/// The name of the MCP server of the room's tools.
pub(super) const SERVER: &str = "workshop";

/// The tools that are offered to an agent.
pub(in crate::gateway::acp) struct OfferedTools {
    tools: Mutex<Vec<ToolDeclaration>>,
    /// The number of changes so far.
    changes: watch::Sender<u64>,
}

impl OfferedTools {
    /// Creates the set with these tools.
    pub(in crate::gateway::acp) fn new(tools: Vec<ToolDeclaration>) -> Self {
        Self { tools: Mutex::new(tools), changes: watch::Sender::new(0) }
    }

    /// Returns all tools, in the same order as for every model.
    pub(in crate::gateway) fn all(&self) -> Vec<ToolDeclaration> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the tools.
    pub(in crate::gateway::acp) fn set(&self, tools: &[ToolDeclaration]) {
        let mut offered = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if *offered != tools {
            *offered = tools.to_vec();
            drop(offered);
            self.changes.send_modify(|changes| *changes = changes.wrapping_add(1));
        }
    }

    /// Returns a receiver that is notified of changes.
    pub(in crate::gateway) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Whether a title names one of these tools, as agents write it. Such a call is checked when it arrives.
    pub(in crate::gateway::acp) fn is_named(&self, title: &str) -> bool {
        let offered = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        offered.iter().any(|tool| is_name(title, &tool.name))
    }
}

/// Whether a title is an agent's name for a tool of the room's server: agents put the name of the server before or
/// after it.
fn is_name(title: &str, tool: &str) -> bool {
    let title = title.trim();
    [
        format!("mcp__{SERVER}__{tool}"),
        format!("mcp_{SERVER}_{tool}"),
        format!("{SERVER}/{tool}"),
        format!("{tool} ({SERVER} MCP Server)"),
    ]
    .iter()
    .any(|name| name == title)
}

/// The result of a call, with images for an agent that accepts them; the error says why it failed.
pub(super) type RoomToolAnswer = Result<(String, Vec<AgentImage>), String>;

/// A call of one of the room's tools.
pub(in crate::gateway::acp) struct RoomToolCall {
    name: String,
    arguments: Value,
    answer: oneshot::Sender<RoomToolAnswer>,
}

impl RoomToolCall {
    /// Creates a call, and the receiver of its answer.
    pub(in crate::gateway::acp) fn new(name: String, arguments: Value) -> (Self, oneshot::Receiver<RoomToolAnswer>) {
        let (answer, comes) = oneshot::channel();
        (Self { name, arguments, answer }, comes)
    }

    /// Converts it to a tool call as any model makes it.
    pub(in crate::gateway) fn call(&self, id: String) -> ToolCall {
        ToolCall::new(id, self.name.clone(), self.arguments.clone())
    }

    /// Answers with the result. Returns a text for the next prompt if the agent no longer waits for the answer.
    pub(in crate::gateway) fn answer(self, result: &PromptMessage, context: &AnswerContext<'_>) -> Option<String> {
        let is_done = result.end == Some(CallEnd::Done);
        let (words, images) = with_images(result, context);
        let unsent = self.answer.send(if is_done { Ok((words, images)) } else { Err(words) }).err()?;
        let (Ok((words, _)) | Err(words)) = unsent;
        Some(format!("The result of your call of {}, which you stopped waiting for: {words}", self.name))
    }

    /// Refuses the call, with the reason.
    pub(in crate::gateway::acp) fn refuse(self, why: &str) {
        // The caller may have stopped waiting.
        let _ = self.answer.send(Err(format!("Error: {why}")));
    }

    /// Answers that the call will not be decided any more.
    pub(in crate::gateway::acp) fn withdraw(self) {
        self.refuse("the room only accepts calls of its tools while it waits for your answer to a prompt");
    }
}

/// Returns the result of a call, with its images if the agent accepts them, otherwise with a note on where they are
/// stored.
fn with_images(result: &PromptMessage, context: &AnswerContext<'_>) -> (String, Vec<AgentImage>) {
    let all = result.answers.as_ref().and_then(|call| context.images.of_calls.get(call)).map_or(&[][..], Vec::as_slice);
    if all.is_empty() || context.takes_images {
        return (result.text.clone(), all.to_vec());
    }
    let which = if all.len() == 1 { "the image is".to_owned() } else { format!("the {} images are", all.len()) };
    (format!("{}\n[{which} kept in {}, in base64]", result.text, context.images.kept_in), Vec::new())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::super::terminals::Terminals;
    use super::*;
    use crate::mind::ResultImages;

    fn tool(name: &str) -> ToolDeclaration {
        ToolDeclaration { name: name.to_owned(), description: String::new(), parameters: json!({}).into() }
    }

    #[test]
    fn agents_names_for_room_tools_are_recognised() {
        let offered = OfferedTools::new(vec![tool("blackboard_read")]);
        for title in [
            "mcp__workshop__blackboard_read",
            "mcp_workshop_blackboard_read",
            "workshop/blackboard_read",
            "blackboard_read (workshop MCP Server)",
        ] {
            assert!(offered.is_named(title), "{title}");
        }
        for title in ["blackboard_read", "mcp__other__blackboard_read", "mcp__workshop__vfs_delete", "rm -r /"] {
            assert!(!offered.is_named(title), "{title}");
        }
    }

    #[test]
    fn unchanged_tools_are_not_reported_as_changed() {
        let offered = OfferedTools::new(vec![tool("a")]);
        let changes = offered.changes();
        offered.set(&[tool("a")]);
        assert!(!changes.has_changed().expect("it is still offered"));
        offered.set(&[tool("a"), tool("b")]);
        assert!(changes.has_changed().expect("it is still offered"));
        assert_eq!(offered.all().len(), 2);
    }

    #[test]
    fn results_without_a_waiting_caller_are_returned_for_the_next_prompt() {
        let (call, comes) = RoomToolCall::new("blackboard_write".to_owned(), json!({ "key": "a" }));
        let made = call.call("c-1".to_owned());
        assert_eq!((made.name.as_str(), &made.arguments), ("blackboard_write", &json!({ "key": "a" })));
        drop(comes);
        let images = ResultImages::default();
        let told =
            call.answer(&PromptMessage::result(&made, "Written."), &context(&images, &Terminals::default(), true));
        assert!(told.is_some_and(|told| told.contains("blackboard_write") && told.ends_with("Written.")));
    }

    fn context<'a>(images: &'a ResultImages, terminals: &'a Terminals, takes_images: bool) -> AnswerContext<'a> {
        let terminal_environment = &|| unreachable!("no program is started");
        AnswerContext { workspace: Path::new("/"), terminals, terminal_environment, images, takes_images }
    }

    #[test]
    fn images_are_sent_to_agents_that_accept_them_and_described_to_others() {
        let image = AgentImage { media_type: "image/png".into(), base64: "aGk=".into() };
        let of_calls = [("c-1".to_owned(), vec![image.clone()])].into();
        let images = ResultImages { of_calls, kept_in: "sessions/a.session.yaml".into() };
        for (takes_images, wanted) in [
            (true, ("[an image (image/png)]".to_owned(), vec![image])),
            (
                false,
                (
                    "[an image (image/png)]\n[the image is kept in sessions/a.session.yaml, in base64]".to_owned(),
                    vec![],
                ),
            ),
        ] {
            let (call, mut comes) = RoomToolCall::new("mcp__shop__show".to_owned(), json!({}));
            let made = call.call("c-1".to_owned());
            let result = PromptMessage::result(&made, "[an image (image/png)]").ended(Some(CallEnd::Done));
            assert_eq!(call.answer(&result, &context(&images, &Terminals::default(), takes_images)), None);
            assert_eq!(comes.try_recv().expect("it should exist"), Ok(wanted));
        }
    }
}
