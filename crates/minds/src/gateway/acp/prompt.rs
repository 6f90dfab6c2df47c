//! The prompts for an agent: the rules, then its knowledge, then the request. The agent remembers earlier prompts, so
//! later ones contain only new content, and the rules again if they changed.

use crate::base::hash::content_hash;
use crate::mind::{Prompt, PromptMessage, Role, headings};

/// The text before everything else in the first prompt.
const HEAD: &str = "You are hosted in a room of agents and people. Below are the room's rules, which take precedence, \
    who you are in it, and what is known. Use your own tools. Your working folder is the room's folder. The room \
    decides whether you may read, write or do something there; if it refuses something, do not try to do it another \
    way.";
/// The note on the room's own tools, if any are offered.
const TOOLS: &str = "Besides your own tools, you have those of the room: the MCP server `workshop` offers them.";
/// The text before changed rules.
const AGAIN: &str = "The room's rules, or its information about you, have changed. From now on, this applies:";
/// The text before messages that are older than the agent's session.
const EARLIER: &str = "This was said and done earlier in this session, as far as it was kept; you do not remember it \
    yourself:";

/// The prefix of the ids of calls that ask a person about a mode: they are made by the room, not by the agent.
pub(super) const MODE_CALL: &str = "acp-mode";
/// The text before new messages for an agent that continues its own interrupted session.
const RESUMED: &str = "You, or the room, were stopped in the middle of this work, and you now continue in the same \
    session. You may already know what follows. What you were doing when you were stopped may be partly done, so \
    check first.";

/// Returns the hash of a prompt's system text, to detect changes.
pub(super) fn rules_of(prompt: &Prompt) -> u64 {
    content_hash(prompt.system_text().as_bytes())
}

/// Returns the whole prompt for a new session; with a note on the room's tools if they are offered.
pub(super) fn whole(prompt: &Prompt, has_tools: bool) -> Vec<String> {
    let prompt = &without_mode_calls(prompt);
    let tools = if has_tools { format!(" {TOOLS}") } else { String::new() };
    let mut blocks = vec![format!("{HEAD}{tools}\n\n{}", prompt.system_text())];
    let messages = prompt.messages();
    let asked = messages.len().saturating_sub(1);
    let (known, rest) = messages.split_at(usize::from(!prompt.known.is_empty()).min(asked));
    blocks.extend(known.iter().map(|message| message.text.clone()));
    let new = rest.iter().rposition(|message| message.role != Role::User).map_or(0, |at| at + 1);
    let (earlier, last) = rest.split_at(new);
    if !earlier.is_empty() {
        let told: Vec<String> = earlier.iter().map(message_text).collect();
        blocks.push(format!("{EARLIER}\n\n{}", told.join("\n\n")));
    }
    blocks.extend(last.iter().map(|message| message.text.clone()));
    filled(blocks)
}

/// Returns the prompt with the messages since the agent's last answer, and the rules if they changed.
pub(super) fn news(prompt: &Prompt, rules_changed: bool, unsent: Vec<String>) -> Vec<String> {
    let mut blocks = Vec::new();
    if rules_changed {
        blocks.push(format!("{AGAIN}\n\n{}", prompt.system_text()));
    }
    blocks.extend(unsent);
    let messages = prompt.messages();
    let spoke = messages.iter().rposition(|message| message.role == Role::Assistant);
    let new = spoke.map_or(usize::from(!prompt.known.is_empty()), |at| at + 1).min(messages.len());
    blocks.extend(messages[new..].iter().map(|message| match message.role {
        Role::User => message.text.clone(),
        _ => message_text(message),
    }));
    filled(blocks)
}

/// Returns the prompt for an agent that continues an interrupted session: the rules, and the messages that it has not
/// answered yet.
pub(super) fn resumed(prompt: &Prompt) -> Vec<String> {
    news(&without_mode_calls(prompt), true, vec![RESUMED.to_owned()])
}

/// Removes the room's own calls about modes.
fn without_mode_calls(prompt: &Prompt) -> Prompt {
    let mut prompt = prompt.clone();
    let is_mode = |id: &str| id.starts_with(MODE_CALL);
    prompt.history.retain(|message| {
        let asks = !message.tool_calls.is_empty() && message.tool_calls.iter().all(|call| is_mode(&call.id));
        !asks && !message.answers.as_deref().is_some_and(is_mode)
    });
    prompt
}

/// Returns the results of calls at the end of a prompt, and the other new messages there.
pub(super) fn results(prompt: &Prompt) -> (Vec<&PromptMessage>, Vec<String>) {
    let spoke = prompt.history.iter().rposition(|message| message.role == Role::Assistant);
    let new = &prompt.history[spoke.map_or(0, |at| at + 1)..];
    let (results, others): (Vec<_>, Vec<_>) = new.iter().partition(|message| message.role == Role::Tool);
    (results, others.into_iter().map(|message| message.text.clone()).collect())
}

/// Formats a message for an agent that was not present.
fn message_text(message: &PromptMessage) -> String {
    match message.role {
        Role::User => format!("The room: {}", message.text),
        Role::Tool => format!("The result of a call: {}", message.text),
        Role::Assistant => {
            let calls: String =
                message.tool_calls.iter().map(|call| format!("\n(called {} {})", call.name, call.arguments)).collect();
            format!("You: {}{calls}", message.text)
        }
    }
}

/// Moves one of the agent's own commands to the beginning if the task is one, because agents only recognise it there.
fn command_first(mut blocks: Vec<String>) -> Vec<String> {
    let found = blocks.iter().enumerate().rev().find_map(|(at, block)| Some((at, command_of(block)?.to_owned())));
    if let Some((at, command)) = found {
        blocks.remove(at);
        blocks.insert(0, command);
    }
    blocks
}

/// Returns the task if it is a command: `/NAME` and its arguments. A path is not a command.
fn command_of(block: &str) -> Option<&str> {
    let task = block.strip_prefix(headings::TASK)?.trim();
    let name = task.strip_prefix('/')?.split_whitespace().next()?;
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    is_name.then_some(task)
}

/// Replaces an empty prompt, because prompts must not be empty.
fn filled(blocks: Vec<String>) -> Vec<String> {
    let blocks: Vec<String> = blocks.into_iter().filter(|block| !block.trim().is_empty()).collect();
    if blocks.is_empty() { vec!["Go on.".to_owned()] } else { command_first(blocks) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::mind::ToolCall;

    fn user(words: &str) -> PromptMessage {
        PromptMessage::plain(Role::User, words)
    }

    #[test]
    fn the_rules_come_first_and_later_prompts_are_incremental() {
        let mut prompt = Prompt::of_messages("Rule 1.", vec![user("Write a page.")]);
        let blocks = whole(&prompt, false);
        assert!(blocks[0].ends_with("Rule 1.") && blocks[1] == "Write a page." && blocks.len() == 2, "{blocks:?}");
        prompt.history.push(PromptMessage::plain(Role::Assistant, "Done."));
        prompt.history.push(user("Not yet: it is too short."));
        assert_eq!(news(&prompt, false, Vec::new()), ["Not yet: it is too short."]);
        let again = news(&prompt, true, vec!["No.".to_owned()]);
        assert!(again[0].contains("Rule 1.") && again[1] == "No." && again.len() == 3, "{again:?}");
        let told = whole(&prompt, true);
        assert!(told[0].contains("MCP server `workshop`") && !blocks[0].contains("MCP server"), "{told:?}");
        assert!(told[1].contains("You: Done.") && told[2] == "Not yet: it is too short.", "{told:?}");
    }

    #[test]
    fn the_agents_own_commands_come_before_the_rules_but_paths_do_not() {
        let first = |task: &str| {
            whole(&Prompt::of_messages("Rule 1.", vec![user(&format!("Your task: {task}"))]), false)[0].clone()
        };
        assert_eq!(first("/review artifacts/a.md"), "/review artifacts/a.md");
        assert_eq!(first("/mcp:plan"), "/mcp:plan");
        for task in ["/etc/hosts is wrong", "Look at /review", "/"] {
            assert!(first(task).ends_with("Rule 1."), "{task}");
        }
    }

    #[test]
    fn results_are_separated_from_other_new_messages() {
        let call = ToolCall::new("c-1", "read_text", json!({ "path": "a.md" }));
        let history = vec![
            user("Read it."),
            PromptMessage::calls("", vec![call.clone()]),
            PromptMessage::result(&call, "{\"content\":\"x\"}"),
            user("By the way."),
        ];
        let prompt = Prompt::of_messages("", history);
        let (found, others) = results(&prompt);
        assert_eq!((found[0].answers.as_deref(), others), (Some("c-1"), vec!["By the way.".to_owned()]));
        assert_eq!(news(&Prompt::default(), false, Vec::new()), ["Go on."]);
    }
}
