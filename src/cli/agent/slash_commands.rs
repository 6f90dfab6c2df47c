//! Input that begins with a slash: commands about the chat, not messages to the agent.

use super::super::Complaint;
use super::history::{parse_session, sessions_in};
use super::skills;
use super::talk::{Talk, TalkOptions};
use crate::app::display_names::RoomNames;
use crate::base::text::{nearest, truncate};
use crate::gate::ToolScope;
use crate::gateway::RequestQueue;
use crate::gateway::settings::GatewaySettings;
use crate::tools::Tools;

/// The maximum length of a line, in characters.
const LINE_CHARS: usize = 100;

/// Every command, with what it does.
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

/// A person's input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PersonInput {
    /// Words to the agent.
    Words(String),
    /// A command, and the text after it.
    Command(&'static str, String),
    /// It looks like a command and is none.
    Unknown(String),
    Nothing,
}

/// What happens after a command.
pub(super) enum After {
    /// The conversation continues; show this text.
    Told(String),
    /// The conversation continues in another session or with another model.
    Reopen(Box<TalkOptions>),
    Leave,
}

/// What a line means.
pub(super) fn typed(line: &str) -> PersonInput {
    let line = line.trim();
    if line.is_empty() {
        return PersonInput::Nothing;
    }
    let (first, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    // A path is no command.
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
pub(super) fn unknown(word: &str) -> Complaint {
    let complaint = Complaint::usage(format!("there is no command {word}"));
    match nearest(word, COMMANDS.iter().map(|(command, _)| *command)) {
        Some(near) => complaint.hint(format!("did you mean {near}?")),
        None => complaint.hint("list them with /help"),
    }
}

/// Carries out a command.
pub(super) fn carry_out(talk: &mut Talk, command: &str, rest: &str) -> Result<After, Complaint> {
    Ok(After::Told(match command {
        "/quit" => return Ok(After::Leave),
        "/clear" => {
            talk.clear()?;
            format!("Cleared the session {}.", talk.options.session)
        }
        "/skills" => skills::listed(&talk.skills()),
        "/tools" => tools(talk),
        "/why" => why(talk),
        "/session" if rest.is_empty() => sessions(talk),
        "/session" => {
            let what = |wrong| Complaint::usage(format!("{rest:?} is not a valid session name: {wrong}"));
            let session = parse_session(rest).map_err(what)?;
            return Ok(After::Reopen(Box::new(TalkOptions { session, ..talk.options.clone() })));
        }
        "/model" if rest.is_empty() => model(talk),
        "/model" => {
            let model = Some(rest.to_owned());
            // A model name that includes a provider replaces the given provider.
            let provider = talk.options.provider.clone().filter(|_| !rest.contains(':'));
            return Ok(After::Reopen(Box::new(TalkOptions { provider, model, ..talk.options.clone() })));
        }
        _ => help(),
    }))
}

fn help() -> String {
    let lines = COMMANDS.iter().map(|(command, about)| format!("{command:<10} {about}"));
    let all: Vec<String> = lines.chain(["Ctrl-C stops an answer; press it twice to exit.".to_owned()]).collect();
    all.join("\n")
}

fn sessions(talk: &Talk) -> String {
    let current = &talk.options.session;
    let line = |name: String| if name == *current { format!("{name}  (current)") } else { name };
    let listed: Vec<String> = sessions_in(talk.sessions()).into_iter().map(line).collect();
    if listed.is_empty() { format!("{current}  (current; empty)") } else { listed.join("\n") }
}

fn model(talk: &Talk) -> String {
    let world = talk.world();
    let wanted = talk.profile().and_then(|profile| profile.model.as_deref());
    let choice = world.resource::<RequestQueue>().choose(world.resource::<GatewaySettings>(), wanted);
    match choice {
        Ok(choice) => format!("{}:{}", choice.provider, choice.model),
        Err(problem) => problem.to_string(),
    }
}

fn tools(talk: &Talk) -> String {
    let Some(profile) = talk.profile() else { return "The agent's file no longer exists.".to_owned() };
    let registry = talk.world().resource::<Tools>();
    let (authority, _) = registry.authority(&talk.options.place.file, profile);
    let is_its = |scope: &ToolScope| match scope {
        ToolScope::Profile(of) => of == talk.agent(),
        ToolScope::Everyone | ToolScope::Role(_) => true,
        ToolScope::Session(_) | ToolScope::Server { .. } | ToolScope::CodingAgent => false,
    };
    let tools = registry.iter().filter(|tool| is_its(&tool.scope) && authority.tools.contains(&tool.name));
    let line =
        |name: &str, about: &str| truncate(&format!("{name}  {}", crate::base::text::one_line(about)), LINE_CHARS);
    // With the names that its model sees.
    let name = |tool: &str| authority.called.get(tool).map_or_else(|| tool.to_owned(), String::clone);
    let mut lines: Vec<String> = tools.map(|tool| line(&name(&tool.name), &tool.description)).collect();
    lines.extend(authority.mcp_servers.iter().map(|server| line(server, "tools of an MCP server")));
    if lines.is_empty() { "It has no tools.".to_owned() } else { lines.join("\n") }
}

/// What happened while the last answer was made, in sentences.
fn why(talk: &Talk) -> String {
    let names = RoomNames(talk.world());
    let narrator = names.narrator();
    let of_agent = talk.records().filter(|record| record.draft.agent.as_ref() == Some(talk.runner()));
    let told = of_agent.map(|record| truncate(&crate::base::text::one_line(&narrator.sentence(record)), LINE_CHARS));
    let mut lines: Vec<String> = told.filter(|line| !line.is_empty()).collect();
    lines.dedup();
    if lines.is_empty() { "No prompts yet.".to_owned() } else { lines.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_words() {
        assert_eq!(typed("/session work"), PersonInput::Command("/session", "work".into()));
        assert_eq!(typed(" /exit "), PersonInput::Command("/quit", String::new()));
        assert_eq!(typed("/claer"), PersonInput::Unknown("/claer".into()));
        for words in ["/skill:cook soup", "/etc/hosts: what is it?", "What does / mean?", "/"] {
            assert_eq!(typed(words), PersonInput::Words(words.into()));
        }
        assert_eq!(typed("  "), PersonInput::Nothing);
        assert!(unknown("/claer").hint.is_some_and(|hint| hint.contains("/clear")));
    }
}
