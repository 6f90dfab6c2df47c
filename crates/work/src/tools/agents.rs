//! The tools for other agents: starting and delegating to agents, and signalling the parent.

use serde_json::{Map, Value, json};

use super::files::{MAX_CONTENT_CHARS, object};
use super::hand_over::{Expected, Terms};
use super::plan::Planned;
use super::tool::{Arguments, Planning, Tool};
use crate::agent::formats::format_of;
use crate::gate::{Authority, Power, inherit};
use crate::log::events::TaskPriority;
use crate::workspace::vfs::WorkspacePath;

/// The maximum length of a task or message, in characters.
const MAX_TASK_CHARS: usize = 32 * 1024;
/// The maximum length of the name of an agent's file, in characters.
const MAX_FILENAME_CHARS: usize = 80;

/// The tool that starts another agent.
pub(super) fn spawn() -> Tool {
    Tool::new(
        "spawn_agent",
        "Start an agent with a task: an existing agent, by its name alone, or a new one, with the text of its file. \
         It works by itself and reports to you when all of its work is done. Do not wait for it or look for it: end \
         your turn, and you will be activated again with its report. A new agent's file is Markdown: front matter, \
         then the agent's instructions. All keys are optional; missing ones are inherited from you, and the agent can \
         never do more than you. For example:\n\
         ---\n\
         name: Researcher\n\
         description: Finds out what is known and writes it down.\n\
         tools: [vfs_read, vfs_list, vfs_write, signal_parent]\n\
         writes: [\"artifacts/**\"]\n\
         ---\n\
         # MISSION\n\
         You are a research specialist.\n\
         # INSTRUCTIONS\n\
         Write your findings to artifacts/research.md, then tell your parent with signal_parent.",
        object(
            json!({
                "filename": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_FILENAME_CHARS,
                    "description": "The agent's name; for a new agent, the name of its file in agents/, such as \
                        researcher.md.",
                },
                "content": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_CONTENT_CHARS,
                    "description": "For a new agent, the whole text of its file: front matter and instructions. Omit \
                        it for an existing agent.",
                },
                "task": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_TASK_CHARS,
                    "description": "What it should do now.",
                },
            }),
            &["filename", "task"],
        ),
        |arguments, planning| {
            let (name, task) = (arguments.text("filename"), arguments.text("task"));
            let content = match arguments.some_text("content") {
                None => None,
                Some(content) => {
                    let path = path_of(&name)?;
                    Some((new_agent(&path, &content, planning)?, path))
                }
            };
            if task.trim().is_empty() {
                return Err("'task' is empty; write what the agent should do".to_owned());
            }
            Ok(match content {
                None => Planned::start(name, None, task),
                Some((content, path)) => Planned::spawn(path, content, task),
            })
        },
    )
    .by_default(Power::Spawn)
    .also_called(&["Task", "Agent"])
    .with_argument_aliases(&[("name", "filename"), ("agent", "filename"), ("prompt", "task")])
}

/// The tool that sends a message to the agent that started this one.
pub(super) fn signal() -> Tool {
    Tool::new(
        "signal_parent",
        "Send a message to the agent that started you; it is activated again to read it. It receives your final \
         answer anyway when all of your work is done: only signal what it needs to know earlier.",
        {
            let message = json!({
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_TASK_CHARS,
                "description": "What it should know: results, where they are, what is open.",
            });
            object(with_terms(json!({ "message": message }), "it", MAX_TASK_CHARS), &["message"])
        },
        |arguments, _| {
            let message = arguments.text("message");
            if message.trim().is_empty() {
                return Err("'message' is empty".to_owned());
            }
            Ok(Planned::signal(message, terms(arguments)?))
        },
    )
    .by_default(Power::Signal)
    .with_json_arguments(&["expected_format"])
}

/// The tool that hands a task over to an agent in the room.
pub(super) fn delegate() -> Tool {
    Tool::new(
        "delegate",
        "Hand a task over to an agent in the room, by name. It starts the task when it is free, and you receive its \
         result automatically, in the format that you ask for. Do not wait for it or look for it: end your turn, and \
         you will be activated again with the result. To start an agent that is not in the room, use spawn_agent.",
        object(
            with_terms(
                json!({
                    "agent": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": MAX_FILENAME_CHARS,
                        "description": "The agent's name or id.",
                    },
                    "task": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": MAX_TASK_CHARS,
                        "description": "What it should do now.",
                    },
                }),
                "it",
                MAX_TASK_CHARS,
            ),
            &["agent", "task"],
        ),
        |arguments, _| {
            let (agent, task) = (arguments.text("agent"), arguments.text("task"));
            if task.trim().is_empty() {
                return Err("'task' is empty; write what the agent should do".to_owned());
            }
            Ok(Planned::delegate(agent, None, task, terms(arguments)?))
        },
    )
    .by_default(Power::Spawn)
    .with_argument_aliases(&[("name", "agent"), ("to", "agent"), ("prompt", "task"), ("deadline", "deadline_cycles")])
    .with_json_arguments(&["expected_format"])
}

/// Reads the terms from the arguments of a call. The error is a sentence for the model.
fn terms(arguments: &Arguments) -> Result<Terms, String> {
    let haste = match arguments.text("priority").as_str() {
        "high" => TaskPriority::High,
        "low" => TaskPriority::Low,
        _ => TaskPriority::Normal,
    };
    let expected = arguments.some_text("expected_format").filter(|given| !given.trim().is_empty());
    let expected = expected.map(|given| Expected::parse(&given)).transpose();
    Ok(Terms {
        context: arguments.text("context"),
        haste,
        deadline_turns: arguments.number("deadline_cycles").and_then(|turns| u32::try_from(turns).ok()),
        expected: expected.map_err(|why| format!("'expected_format': {why}"))?,
    })
}

/// Adds the arguments for terms to those of a tool. `who` is the receiver as named in their descriptions.
fn with_terms(mut properties: Value, who: &str, chars_at_most: usize) -> Value {
    let terms = json!({
        "context": {
            "type": "string",
            "maxLength": chars_at_most,
            "description": format!("What {who} should know but cannot see: findings, where they are, what was tried."),
        },
        "priority": { "type": "string", "maxLength": 10, "enum": ["high", "normal", "low"], "description": "The \
            urgency; default normal." },
        "deadline_cycles": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1_000,
            "description": format!("The number of turns in which {who} should be done."),
        },
        "expected_format": {
            "type": "string",
            "maxLength": 16_384,
            "description": "The format of the result: field names separated by commas, a JSON schema, or a \
                description.",
        },
    });
    let added: Map<String, Value> = terms.as_object().cloned().unwrap_or_default();
    if let Some(properties) = properties.as_object_mut() {
        properties.extend(added);
    }
    properties
}

/// The path of a new agent's file.
fn path_of(filename: &str) -> Result<String, String> {
    let name = filename.trim();
    let name = name.strip_prefix("./").unwrap_or(name);
    let name = name.strip_prefix("agents/").unwrap_or(name);
    let path = if name.contains('.') { format!("agents/{name}") } else { format!("agents/{name}.md") };
    // These characters have a meaning in globs, on disks or in terminals.
    let is_odd = |c: char| c.is_control() || "/\\*?[]{}!\"'<>|:".contains(c);
    let is_plain =
        !name.contains(is_odd) && !name.starts_with(['.', ' ', '-']) && !name.contains("..") && path.ends_with(".md");
    let path = WorkspacePath::new(&path).ok().filter(|path| is_plain && format_of(path.as_str()).is_some());
    path.map(|path| path.as_str().to_owned()).ok_or_else(|| {
        "'filename' should be a plain name ending in .md, without folders, such as researcher.md".to_owned()
    })
}

/// The complete text of a new agent's file.
fn new_agent(path: &str, content: &str, planning: &Planning<'_>) -> Result<String, String> {
    let Some(format) = format_of(path) else {
        return Err("'filename' is not a valid name for an agent's file".to_owned());
    };
    let file = (format.read)(path, content);
    if file.malformed {
        let what: Vec<String> = file
            .problems
            .iter()
            .map(|problem| match problem.line {
                Some(line) => format!("{} (line {line})", problem.what),
                None => problem.what.clone(),
            })
            .collect();
        return Err(format!("'content' has invalid front matter: {}", what.join("; ")));
    }
    let (asked, problems) = Authority::of(path, &file.profile, planning.names);
    if let Some(problem) = file.problems.iter().chain(&problems).next() {
        return Err(format!("'content' has an error in its front matter: {}; {}", problem.what, problem.remedy));
    }
    if let Some(tool) = asked.unknown_tools.first() {
        let remedy = planning.names.remedy(tool);
        return Err(format!("'content' has an error in its front matter: there is no tool {tool:?}; {remedy}"));
    }
    inherit(path, content, planning.bounds, planning.names).map_err(|error| format!("'content': {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_placed_in_the_agents_folder_or_refused() {
        for name in ["ada.md", "agents/ada.md", "./agents/ada.md", " ada ", "ada"] {
            assert_eq!(path_of(name).as_deref(), Ok("agents/ada.md"), "{name}");
        }
        let odd = ["", ".", "..", "../ada.md", "a/b.md", "agents/agents/a.md", "Agents/ada.md", "ada.MD", "ada.txt"];
        for name in
            odd.iter().chain(&[".ada.md", "a*.md", "a\\b.md", "a\nb.md", "a..md", "/ada.md", "ada.md/", "c:ada.md"])
        {
            assert!(path_of(name).is_err(), "{name:?}");
        }
    }
}
