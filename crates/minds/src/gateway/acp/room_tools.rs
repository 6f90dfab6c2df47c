//! The room's own tools (boards, mail, the blackboard, other agents) in one session with an agent: which are offered,
//! and a call of one as a request.
//!
//! Access to files and commands is part of the protocol already; whoever starts the session decides which tools may be
//! called.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::answer_context::AnswerContext;
use crate::mind::{AgentImage, CallEnd, PromptMessage, ToolCall, ToolDeclaration};

/// What the server of the room's tools is called to the agent.
pub(super) const SERVER: &str = "workshop";

/// The tools that an agent is offered.
pub(super) struct OfferedTools {
    tools: Mutex<Vec<ToolDeclaration>>,
    /// How often they changed.
    changes: watch::Sender<u64>,
}

impl OfferedTools {
    /// These.
    pub(super) fn new(tools: Vec<ToolDeclaration>) -> Self {
        Self { tools: Mutex::new(tools), changes: watch::Sender::new(0) }
    }

    /// All of them, in the order in which every model gets them.
    pub(super) fn all(&self) -> Vec<ToolDeclaration> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on these.
    pub(super) fn set(&self, tools: &[ToolDeclaration]) {
        let mut offered = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        if *offered != tools {
            *offered = tools.to_vec();
            drop(offered);
            self.changes.send_modify(|changes| *changes = changes.wrapping_add(1));
        }
    }

    /// Hears of changes.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Whether these words are an agent's for one of them. Such a call is judged when it comes here.
    pub(super) fn is_named(&self, title: &str) -> bool {
        let offered = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        offered.iter().any(|tool| is_name(title, &tool.name))
    }
}

/// Whether this is how an agent calls a tool of the room's server: agents put the server's name before or behind it.
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

/// The result of a call, with images for an agent that accepts them; or why it failed.
pub(super) type RoomToolAnswer = Result<(String, Vec<AgentImage>), String>;

/// A call of one of the room's tools.
pub(super) struct RoomToolCall {
    name: String,
    arguments: Value,
    answer: oneshot::Sender<RoomToolAnswer>,
}

impl RoomToolCall {
    /// A call, and where its answer comes.
    pub(super) fn new(name: String, arguments: Value) -> (Self, oneshot::Receiver<RoomToolAnswer>) {
        let (answer, comes) = oneshot::channel();
        (Self { name, arguments, answer }, comes)
    }

    /// The call as any model makes it.
    pub(super) fn call(&self, id: String) -> ToolCall {
        ToolCall::new(id, self.name.clone(), self.arguments.clone())
    }

    /// Answers with the result. Returns a text for an agent that no longer waits for it.
    pub(super) fn answer(self, result: &PromptMessage, context: &AnswerContext<'_>) -> Option<String> {
        let is_done = result.end == Some(CallEnd::Done);
        let (words, images) = with_images(result, context);
        let untold = self.answer.send(if is_done { Ok((words, images)) } else { Err(words) }).err()?;
        let (Ok((words, _)) | Err(words)) = untold;
        Some(format!("The result of your call of {}, which you stopped waiting for: {words}", self.name))
    }

    /// Answers that it cannot be had, and why.
    pub(super) fn refuse(self, why: &str) {
        // The caller may have stopped waiting.
        let _ = self.answer.send(Err(format!("Error: {why}")));
    }

    /// Answers that nobody decides about it any more.
    pub(super) fn withdraw(self) {
        self.refuse("the room only accepts calls of its tools while it waits for your answer to a prompt");
    }
}

/// The result of a call, with its images if the agent accepts some, otherwise with a note on where they are stored.
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
    fn agents_name_tools_of_the_room_in_their_own_ways() {
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
    fn who_is_offered_the_same_is_not_told_that_it_changed() {
        let offered = OfferedTools::new(vec![tool("a")]);
        let changes = offered.changes();
        offered.set(&[tool("a")]);
        assert!(!changes.has_changed().expect("it is still offered"));
        offered.set(&[tool("a"), tool("b")]);
        assert!(changes.has_changed().expect("it is still offered"));
        assert_eq!(offered.all().len(), 2);
    }

    #[test]
    fn what_nobody_waits_for_any_more_is_reported_with_the_next_words() {
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
        let ground = &|| unreachable!("no program is started");
        AnswerContext { workspace: Path::new("/"), terminals, ground, images, takes_images }
    }

    #[test]
    fn images_go_to_who_takes_them_and_others_are_told_where_they_are() {
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
