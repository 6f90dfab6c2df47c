//! Slash commands: input that controls the chat instead of being sent to the agent.

use super::super::CliError;
use super::chat::{Chat, ChatOptions};
use super::history::{parse_session, sessions_in};
use super::skills;
use crate::app::display_names::RoomNames;
use crate::base::text::{nearest, truncate};
use crate::gate::ToolScope;
use crate::gateway::RequestQueue;
use crate::gateway::settings::GatewaySettings;
use crate::tools::Tools;

/// The maximum length of a line, in characters.
const LINE_CHARS: usize = 100;

/// Every command with its help text.
pub(super) const COMMANDS: [(&str, &str); 8] = [
    ("/help", "show this help"),
    ("/clear", "clear this session"),
    ("/skills", "list the agent's skills; run one with /skill:NAME TEXT"),
    ("/tools", "list the agent's tools"),
    ("/session", "list sessions, or switch to another one: /session ID"),
    ("/model", "show the model, or switch to another one: /model MODEL"),
    ("/why", "show what led to the last answer"),
    ("/quit", "leave"),
];

/// A parsed input line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PersonInput {
    /// A message to the agent.
    Words(String),
    /// A command and its argument text.
    Command(&'static str, String),
    /// A word that looks like a command but is unknown.
    Unknown(String),
    Nothing,
}

/// The effect of a command on the chat.
pub(super) enum After {
    /// The chat continues; print this text.
    Print(String),
    /// The chat continues in another session or with another model.
    Reopen(Box<ChatOptions>),
    Leave,
}

/// Parses an input line.
pub(super) fn parse(line: &str) -> PersonInput {
    let line = line.trim();
    if line.is_empty() {
        return PersonInput::Nothing;
    }
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    // A path such as `/etc/hosts` is not a command.
    let is_command = first.strip_prefix('/').is_some_and(|word| {
        !word.is_empty() && word.chars().all(|character| character.is_ascii_lowercase() || character == '-')
    });
    if !is_command {
        return PersonInput::Words(line.to_owned());
    }
    let known = COMMANDS.iter().find(|(command, _)| *command == first || (*command == "/quit" && first == "/exit"));
    match known {
        Some((command, _)) => PersonInput::Command(command, rest.trim().to_owned()),
        None => PersonInput::Unknown(first.to_owned()),
    }
}

/// The error for an unknown command.
pub(super) fn unknown(word: &str) -> CliError {
    let error = CliError::usage(format!("unknown command {word}"));
    match nearest(word, COMMANDS.iter().map(|(command, _)| *command)) {
        Some(near) => error.hint(format!("did you mean {near}?")),
        None => error.hint("list all commands with /help"),
    }
}

/// Runs a command.
pub(super) fn run(chat: &mut Chat, command: &str, rest: &str) -> Result<After, CliError> {
    Ok(After::Print(match command {
        "/quit" => return Ok(After::Leave),
        "/clear" => {
            chat.clear()?;
            format!("Cleared the session {}.", chat.options.session)
        }
        "/skills" => skills::list(&chat.skills()),
        "/tools" => tools(chat),
        "/why" => why(chat),
        "/session" if rest.is_empty() => sessions(chat),
        "/session" => {
            let what = |wrong| CliError::usage(format!("{rest:?} is not a valid session name: {wrong}"));
            let session = parse_session(rest).map_err(what)?;
            return Ok(After::Reopen(Box::new(ChatOptions { session, ..chat.options.clone() })));
        }
        "/model" if rest.is_empty() => model(chat),
        "/model" => {
            let model = Some(rest.to_owned());
            // A model name that includes a provider replaces the given provider.
            let provider = chat.options.provider.clone().filter(|_| !rest.contains(':'));
            return Ok(After::Reopen(Box::new(ChatOptions { provider, model, ..chat.options.clone() })));
        }
        _ => help(),
    }))
}

fn help() -> String {
    let lines = COMMANDS.iter().map(|(command, about)| format!("{command:<10} {about}"));
    let all: Vec<String> = lines.chain(["Ctrl-C stops an answer; press it twice to exit.".to_owned()]).collect();
    all.join("\n")
}

fn sessions(chat: &Chat) -> String {
    let current = &chat.options.session;
    let line = |name: String| if name == *current { format!("{name}  (current)") } else { name };
    let listed: Vec<String> = sessions_in(chat.sessions()).into_iter().map(line).collect();
    if listed.is_empty() { format!("{current}  (current; empty)") } else { listed.join("\n") }
}

fn model(chat: &Chat) -> String {
    let world = chat.world();
    let wanted = chat.profile().and_then(|profile| profile.model.as_deref());
    let choice = world.resource::<RequestQueue>().choose(world.resource::<GatewaySettings>(), wanted);
    match choice {
        Ok(choice) => format!("{}:{}", choice.provider, choice.model),
        Err(problem) => problem.to_string(),
    }
}

fn tools(chat: &Chat) -> String {
    let Some(profile) = chat.profile() else { return "The agent's file no longer exists.".to_owned() };
    let registry = chat.world().resource::<Tools>();
    let (authority, _) = registry.authority(&chat.options.place.file, profile);
    let is_its = |scope: &ToolScope| match scope {
        ToolScope::Profile(of) => of == chat.agent(),
        ToolScope::Everyone | ToolScope::Role(_) => true,
        ToolScope::Session(_) | ToolScope::Server { .. } | ToolScope::CodingAgent => false,
    };
    let tools = registry.iter().filter(|tool| is_its(&tool.scope) && authority.tools.contains(&tool.name));
    let line =
        |name: &str, about: &str| truncate(&format!("{name}  {}", crate::base::text::one_line(about)), LINE_CHARS);
    // Tools are listed by the names that the agent's model sees.
    let name = |tool: &str| authority.called.get(tool).map_or_else(|| tool.to_owned(), String::clone);
    let mut lines: Vec<String> = tools.map(|tool| line(&name(&tool.name), &tool.description)).collect();
    lines.extend(authority.mcp_servers.iter().map(|server| line(server, "tools of an MCP server")));
    if lines.is_empty() { "It has no tools.".to_owned() } else { lines.join("\n") }
}

/// Describes the events that led to the last answer, one per line.
fn why(chat: &Chat) -> String {
    let names = RoomNames(chat.world());
    let narrator = names.narrator();
    let of_agent = chat.records().filter(|record| record.draft.agent.as_ref() == Some(chat.runner()));
    let sentences =
        of_agent.map(|record| truncate(&crate::base::text::one_line(&narrator.sentence(record)), LINE_CHARS));
    let mut lines: Vec<String> = sentences.filter(|line| !line.is_empty()).collect();
    lines.dedup();
    if lines.is_empty() { "No prompts yet.".to_owned() } else { lines.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_distinguished_from_messages() {
        assert_eq!(parse("/session work"), PersonInput::Command("/session", "work".into()));
        assert_eq!(parse(" /exit "), PersonInput::Command("/quit", String::new()));
        assert_eq!(parse("/claer"), PersonInput::Unknown("/claer".into()));
        for words in ["/skill:cook soup", "/etc/hosts: what is it?", "What does / mean?", "/"] {
            assert_eq!(parse(words), PersonInput::Words(words.into()));
        }
        assert_eq!(parse("  "), PersonInput::Nothing);
        assert!(unknown("/claer").hint.is_some_and(|hint| hint.contains("/clear")));
    }
}
