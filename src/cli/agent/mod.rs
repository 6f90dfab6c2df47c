//! `workshop agent`: chats with one agent, in the terminal or with a single prompt.
//!
//! In reading order: finding the agent ([`agent_folder`]), the session's history ([`history`]), the log and the last
//! state ([`journal`]), how both are written ([`data_files`]), following an answer ([`progress`]) and its events
//! ([`events`]), the chat itself ([`chat`]), slash commands ([`slash_commands`]), work that the agent starts on its own
//! ([`wakes`]), and the terminal ([`terminal`]) with its Markdown ([`markdown`]).

mod agent_folder;
mod chat;
mod data_files;
mod events;
mod history;
mod journal;
mod markdown;
mod progress;
mod skills;
mod slash_commands;
mod terminal;
mod wakes;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::approval_prompts::OnAsk;
use super::report::{Report, Verdict};
use super::run::watch_interrupts;
use super::{CliError, CliResult, ExitStatus, output, shared_arguments};
use crate::app::opening::state_folder;
use agent_folder::AgentPlace;
use chat::{Chat, ChatOptions};
use events::AgentEvent;
use history::parse_session;
use slash_commands::{After, PersonInput};
use terminal::{Display, LineResult, Terminal};

/// The file with the input history, in the folder for data that may be deleted.
const LINES_FILE: &str = "talk-lines.txt";

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// An agent's file, or a folder with an agent.mdx
    #[arg(value_name = "FILE_OR_DIR")]
    path: PathBuf,
    /// Send this prompt, print only the answer, and exit; - reads standard input, @FILE a file
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// The session to continue: letters, digits, -, _ and .
    #[arg(long, value_name = "ID", default_value = "main", value_parser = parse_session)]
    session: String,
    /// Override the agent's provider: offline, scripted:FILE, gemini, openai, anthropic, ollama
    #[arg(long)]
    provider: Option<String>,
    /// Override the agent's model: a model of the provider, or PROVIDER:MODEL
    #[arg(long)]
    model: Option<String>,
    /// How to handle approvals; by default asks on the terminal, or stops if there is none
    #[arg(long, value_name = "ACTION")]
    on_ask: Option<OnAsk>,
    /// Print events as JSON Lines instead of the answer: turns, streamed messages, tool calls and results
    #[arg(long, requires = "prompt")]
    json: bool,
}

pub(super) fn agent(arguments: &Arguments) -> CliResult {
    let place = AgentPlace::of(&arguments.path)?;
    let prompt = arguments.prompt.as_deref().map(shared_arguments::task_text).transpose()?;
    if prompt.is_none() && !output::is_interactive() {
        let error = CliError::usage("standard input is not a terminal, and there is no prompt");
        return Err(error.hint("use --prompt TEXT, or --prompt - to read standard input"));
    }
    let options = ChatOptions {
        place,
        named: arguments.path.clone(),
        session: arguments.session.clone(),
        provider: arguments.provider.clone(),
        model: arguments.model.clone(),
        on_ask: arguments.on_ask,
        is_single_prompt: prompt.is_some(),
    };
    let interrupted = watch_interrupts()?;
    match prompt {
        Some(prompt) => send_prompt(options, &prompt, arguments.json, interrupted),
        None => chat_in_terminal(options, &interrupted),
    }
}

/// Sends one prompt, prints the answer and exits.
fn send_prompt(options: ChatOptions, prompt: &str, as_json: bool, interrupted: Arc<AtomicBool>) -> CliResult {
    let mut chat = match Chat::open(options, None, Arc::clone(&interrupted)) {
        Ok(chat) => chat,
        Err(error) => {
            if as_json {
                output::json(&end_because(&error))?;
            }
            return Err(error);
        }
    };
    let mut output_gone = None;
    let mut is_ended = false;
    let mut display = Display::default();
    let stderr_is_terminal = output::stderr_is_terminal();
    let mut show = |event: &AgentEvent| {
        is_ended = matches!(event, AgentEvent::AgentEnd { .. });
        let shown = match as_json {
            true => output::json(event),
            false if stderr_is_terminal => display.show(event, false),
            false => Ok(()),
        };
        if let Err(error) = shown {
            output_gone.get_or_insert(error);
            interrupted.store(true, Ordering::Relaxed);
        }
    };
    let typed = slash_commands::parse(prompt);
    let is_command = matches!(typed, PersonInput::Command(..));
    let outcome = match typed {
        PersonInput::Words(words) => chat.send(&words, &mut show),
        PersonInput::Command(command, rest) => run_command(&mut chat, command, &rest, as_json),
        PersonInput::Unknown(word) => Err(slash_commands::unknown(&word)),
        PersonInput::Nothing => Ok(Verdict::done()),
    };
    let reason = outcome.as_ref().map_or("failed", |verdict| verdict.exit.word());
    chat.close(reason)?;
    if let Some(error) = output_gone {
        return Err(error);
    }
    if as_json && !is_ended && !(is_command && outcome.is_ok()) {
        // The last event is always `agent_end`, even if the work never started.
        let end = outcome.as_ref().map_or_else(end_because, |verdict| AgentEvent::AgentEnd {
            ended: verdict.exit.word(),
            reason: verdict.reason.clone(),
            result: verdict.result.clone(),
        });
        output::json(&end)?;
    }
    let verdict = outcome?;
    let exit = verdict.exit;
    print(verdict, as_json)?;
    Ok(exit)
}

/// The `agent_end` event for an error.
fn end_because(error: &CliError) -> AgentEvent {
    let reason = error.what.clone().unwrap_or_default();
    AgentEvent::AgentEnd { ended: error.exit.word(), reason, result: None }
}

/// Runs a slash command that was given with `--prompt`.
fn run_command(chat: &mut Chat, command: &str, rest: &str, as_json: bool) -> Result<Verdict, CliError> {
    match slash_commands::run(chat, command, rest)? {
        After::Print(text) if as_json => output::json(&json!({ "type": "command", "command": command, "text": text }))?,
        After::Print(text) => output::result(&text)?,
        After::Leave => {}
        After::Reopen(_) => {
            let error = CliError::usage(format!("{command} cannot be used with --prompt"));
            return Err(error.hint("use --session ID or --model MODEL"));
        }
    }
    Ok(Verdict::done())
}

/// Prints the result of an answer, unless its text was already printed.
fn print(verdict: Verdict, are_words_shown: bool) -> Result<(), CliError> {
    let nothing = CliError { exit: ExitStatus::Done, what: None, hint: None };
    Report { verdict, ..Report::of_error(&nothing) }.print(false, true, are_words_shown)
}

/// Chats in the terminal until the person leaves.
fn chat_in_terminal(options: ChatOptions, interrupted: &Arc<AtomicBool>) -> CliResult {
    let mut chat = Chat::open(options, Some(terminal::reader()), Arc::clone(interrupted))?;
    loop {
        let after = match chat_until_switch(&mut chat, interrupted) {
            Ok(after) => after,
            Err(error) => {
                chat.close("failed")?;
                return Err(error);
            }
        };
        let Some(next) = after else {
            chat.close("left")?;
            return Ok(ExitStatus::Done);
        };
        let before = chat.options.clone();
        let read = chat.close("reopened")?;
        chat = match Chat::open(next, read, Arc::clone(interrupted)) {
            Ok(chat) => chat,
            Err(error) => {
                print_error(&error);
                Chat::open(before, Some(terminal::reader()), Arc::clone(interrupted))?
            }
        };
    }
}

/// Chats until the person leaves (`None`) or switches to another session or model (the new options).
fn chat_until_switch(chat: &mut Chat, interrupted: &AtomicBool) -> Result<Option<ChatOptions>, CliError> {
    let (name, session, messages) = (chat.name(), &chat.options.session, chat.messages());
    output::note(&format!("{name}, session {session}, {messages} messages; type /help for commands"));
    let terminal = Terminal::new(state_folder(&chat.options.place.workspace).join(LINES_FILE));
    let mut display = Display::default();
    let mut shown = Ok(());
    let mut show = |event: &AgentEvent| {
        if let Err(error) = display.show(event, true) {
            shown = Err(error);
        }
    };
    let mut stops = 0;
    if let Some(verdict) = chat.finish(&mut show)? {
        print(verdict, true)?;
    }
    loop {
        let mut typed = terminal.read(completions(chat))?;
        let line = match chat.run_until_typed(&mut typed, &mut show)? {
            LineResult::Typed(line) => line,
            LineResult::End => break,
            LineResult::Stop if chat.abort_wakes() => continue,
            LineResult::Stop if stops > 0 => break,
            LineResult::Stop => {
                stops += 1;
                output::note("press Ctrl-C again to exit");
                continue;
            }
        };
        stops = 0;
        interrupted.store(false, Ordering::Relaxed);
        chat.ask_questions();
        let outcome = match slash_commands::parse(&line) {
            PersonInput::Nothing => continue,
            PersonInput::Unknown(word) => Err(slash_commands::unknown(&word)),
            PersonInput::Words(words) => chat.send(&words, &mut show).map(Some),
            PersonInput::Command(command, rest) => match slash_commands::run(chat, command, &rest) {
                Ok(After::Print(text)) => output::result(&text).map(|()| None),
                Ok(After::Reopen(options)) => return Ok(Some(*options)),
                Ok(After::Leave) => break,
                Err(error) => Err(error),
            },
        };
        match outcome {
            Ok(None) => {}
            Ok(Some(verdict)) => {
                // A second interrupt during an answer ends the chat.
                stops = u32::from(verdict.exit == ExitStatus::Interrupted);
                print(verdict, true)?;
            }
            Err(error) if error.exit == ExitStatus::ReaderGone => return Err(error),
            Err(error) => print_error(&error),
        }
        if chat.has_left() {
            break;
        }
    }
    shown.map(|()| None)
}

/// The completions of Tab: the commands, and the agent's current skills.
fn completions(chat: &Chat) -> Vec<String> {
    let commands = slash_commands::COMMANDS.iter().map(|(command, _)| (*command).to_owned());
    let skills = chat.skills().skills.into_iter().map(|skill| format!("/skill:{}", skill.name));
    commands.chain(skills).collect()
}

/// Prints an error; the chat continues.
fn print_error(error: &CliError) {
    if let Some(what) = &error.what {
        output::note(&format!("error: {what}"));
    }
    if let Some(hint) = &error.hint {
        output::note(&format!("hint: {hint}"));
    }
}
