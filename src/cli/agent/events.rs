//! The events of `workshop agent --json`, one JSON object per line.

use serde::Serialize;
use serde_json::Value;

use super::history::CalledTool;

/// The role of the agent's messages.
pub(super) const ASSISTANT: &str = "assistant";

/// An event while an agent answers.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum AgentEvent {
    /// The agent has started.
    AgentStart { agent: String, session: String },
    /// A model is called.
    TurnStart { turn: u32 },
    /// A message of the model begins.
    MessageStart { role: &'static str },
    /// More text of the message has arrived.
    MessageUpdate { delta: String },
    /// The message is complete.
    MessageEnd { role: &'static str, content: String, tool_calls: Vec<CalledTool> },
    /// A tool call starts.
    ToolExecutionStart { tool_call_id: String, name: String, args: Value },
    /// The progress of the call.
    ToolExecutionUpdate { tool_call_id: String, name: String, partial_result: String },
    /// The result of the call.
    ToolExecutionEnd { tool_call_id: String, name: String, result: String, is_error: bool },
    /// The message and its tool calls are done.
    TurnEnd { turn: u32 },
    /// The agent is done.
    AgentEnd { ended: &'static str, reason: String, result: Option<String> },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_have_the_names_of_the_reference_implementation() {
        let json = |event: AgentEvent| serde_json::to_value(event).expect("it is plain data");
        let (id, name) = ("call-1".to_owned(), "forecast".to_owned());
        let start = AgentEvent::ToolExecutionStart { tool_call_id: id.clone(), name: name.clone(), args: json!({}) };
        assert_eq!(
            json(start),
            json!({ "type": "tool_execution_start", "toolCallId": "call-1", "name": "forecast", "args": {} })
        );
        let update = AgentEvent::ToolExecutionUpdate {
            tool_call_id: id.clone(),
            name: name.clone(),
            partial_result: "half".into(),
        };
        assert_eq!(
            json(update),
            json!({ "type": "tool_execution_update", "toolCallId": "call-1", "name": "forecast", "partialResult": "half" })
        );
        let end = AgentEvent::ToolExecutionEnd { tool_call_id: id, name, result: "rain".into(), is_error: true };
        assert_eq!(
            json(end),
            json!({ "type": "tool_execution_end", "toolCallId": "call-1", "name": "forecast", "result": "rain", "isError": true })
        );
        assert_eq!(json(AgentEvent::TurnStart { turn: 1 }), json!({ "type": "turn_start", "turn": 1 }));
    }
}
