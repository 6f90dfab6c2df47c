//! Events while an agent answers, which programs read line by line.

use serde::Serialize;
use serde_json::Value;

use super::history::CalledTool;

/// The role of a message that is reported as it arrives.
pub(super) const ASSISTANT: &str = "assistant";

/// Something that happened.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(super) enum AgentEvent {
    /// The agent has started.
    AgentStart { agent: String, session: String },
    /// A model is asked.
    TurnStart { turn: u32 },
    /// Its answer begins.
    MessageStart { role: &'static str },
    /// More of it has arrived.
    MessageUpdate { delta: String },
    /// All of it is there.
    MessageEnd { role: &'static str, content: String, tool_calls: Vec<CalledTool> },
    /// A tool is being called.
    ToolExecutionStart { tool_call_id: String, name: String, args: Value },
    /// How far the call is.
    ToolExecutionUpdate { tool_call_id: String, name: String, partial_result: String },
    /// The result of the call.
    ToolExecutionEnd { tool_call_id: String, name: String, result: String, is_error: bool },
    /// The answer and everything that it called are done.
    TurnEnd { turn: u32 },
    /// The agent is done.
    AgentEnd { ended: &'static str, reason: String, result: Option<String> },
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_called_as_the_reference_calls_them() {
        let told = |event: AgentEvent| serde_json::to_value(event).expect("it is plain data");
        let (id, name) = ("call-1".to_owned(), "forecast".to_owned());
        let start = AgentEvent::ToolExecutionStart { tool_call_id: id.clone(), name: name.clone(), args: json!({}) };
        assert_eq!(
            told(start),
            json!({ "type": "tool_execution_start", "toolCallId": "call-1", "name": "forecast", "args": {} })
        );
        let update = AgentEvent::ToolExecutionUpdate {
            tool_call_id: id.clone(),
            name: name.clone(),
            partial_result: "half".into(),
        };
        assert_eq!(
            told(update),
            json!({ "type": "tool_execution_update", "toolCallId": "call-1", "name": "forecast", "partialResult": "half" })
        );
        let end = AgentEvent::ToolExecutionEnd { tool_call_id: id, name, result: "rain".into(), is_error: true };
        assert_eq!(
            told(end),
            json!({ "type": "tool_execution_end", "toolCallId": "call-1", "name": "forecast", "result": "rain", "isError": true })
        );
        assert_eq!(told(AgentEvent::TurnStart { turn: 1 }), json!({ "type": "turn_start", "turn": 1 }));
    }
}
