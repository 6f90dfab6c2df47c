//! `workshop agent`: chats with one agent, in the terminal or with a single prompt.
//!
//! In reading order: which agent is meant ([`agent_folder`]), the earlier history ([`history`]), what else is recorded
//! ([`journal`]; how both are written, [`kept_files`]), the progress of an answer ([`progress`]) and its events ([`events`]), the chat itself ([`talk`]), a person's commands
//! ([`slash_commands`]), what the agent begins by itself meanwhile ([`wakes`]), and the terminal ([`terminal`], and its
//! Markdown, [`markdown`]).

mod agent_folder;
mod events;
mod history;
mod journal;
mod kept_files;
mod markdown;
mod progress;
mod skills;
mod slash_commands;
mod talk;
mod terminal;
mod wakes;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::approval_prompts::OnAsk;
use super::report::{Report, Verdict};
use super::run::watch_interrupts;
use super::{Complaint, Ending, Outcome, output, shared_arguments};
use crate::app::opening::state_folder;
use agent_folder::AgentPlace;
use events::AgentEvent;
use history::parse_session;
use slash_commands::{After, PersonInput};
use talk::{Talk, TalkOptions};
use terminal::{Display, LineResult, Terminal};

/// What the file is called, among what may be deleted, in which lines are remembered that a person typed.
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
    #[arg(long, value_name = "WHAT")]
    on_ask: Option<OnAsk>,
    /// Print events as JSON Lines instead of the answer: turns, streamed messages, tool calls and results
    #[arg(long, requires = "prompt")]
    json: bool,
}

pub(super) fn agent(arguments: &Arguments) -> Outcome {
    let place = AgentPlace::of(&arguments.path)?;
    let prompt = arguments.prompt.as_deref().map(shared_arguments::task_words).transpose()?;
    if prompt.is_none() && !output::can_be_asked() {
        let complaint = Complaint::usage("standard input is not a terminal, and there is no prompt");
        return Err(complaint.hint("use --prompt TEXT, or --prompt - to read standard input"));
    }
    let options = TalkOptions {
        place,
        named: arguments.path.clone(),
        session: arguments.session.clone(),
        provider: arguments.provider.clone(),
        model: arguments.model.clone(),
        on_ask: arguments.on_ask,
        looks_back: prompt.is_some(),
    };
    let interrupted = watch_interrupts()?;
    match prompt {
        Some(prompt) => say_once(options, &prompt, arguments.json, interrupted),
        None => talk_in_terminal(options, &interrupted),
    }
}

/// One prompt, and the end.
fn say_once(options: TalkOptions, prompt: &str, as_json: bool, interrupted: Arc<AtomicBool>) -> Outcome {
    let mut talk = match Talk::open(options, None, Arc::clone(&interrupted)) {
        Ok(talk) => talk,
        Err(complaint) => {
            if as_json {
                output::json(&end_because(&complaint))?;
            }
            return Err(complaint);
        }
    };
    let mut output_gone = None;
    let mut is_ended = false;
    let mut display = Display::default();
    let is_watched = output::is_watched();
    let mut show = |event: &AgentEvent| {
        is_ended = matches!(event, AgentEvent::AgentEnd { .. });
        let shown = match as_json {
            true => output::json(event),
            false if is_watched => display.show(event, false),
            false => Ok(()),
        };
        if let Err(complaint) = shown {
            output_gone.get_or_insert(complaint);
            interrupted.store(true, Ordering::Relaxed);
        }
    };
    let typed = slash_commands::typed(prompt);
    let is_command = matches!(typed, PersonInput::Command(..));
    let said = match typed {
        PersonInput::Words(words) => talk.send(&words, &mut show),
        PersonInput::Command(command, rest) => run_command(&mut talk, command, &rest, as_json),
        PersonInput::Unknown(word) => Err(slash_commands::unknown(&word)),
        PersonInput::Nothing => Ok(Verdict::done()),
    };
    let reason = said.as_ref().map_or("failed", |verdict| verdict.ending.as_str());
    talk.close(reason)?;
    if let Some(complaint) = output_gone {
        return Err(complaint);
    }
    if as_json && !is_ended && !(is_command && said.is_ok()) {
        // Readers of the events learn how it ended, even if it never began.
        let end = said.as_ref().map_or_else(end_because, |verdict| AgentEvent::AgentEnd {
            ended: verdict.ending.as_str(),
            reason: verdict.reason.clone(),
            result: verdict.result.clone(),
        });
        output::json(&end)?;
    }
    let verdict = said?;
    let ending = verdict.ending;
    print(verdict, as_json)?;
    Ok(ending)
}

/// The end of what failed, for a program that reads along.
fn end_because(complaint: &Complaint) -> AgentEvent {
    let reason = complaint.what.clone().unwrap_or_default();
    AgentEvent::AgentEnd { ended: complaint.ending.as_str(), reason, result: None }
}

/// Runs a command that was given instead of a prompt.
fn run_command(talk: &mut Talk, command: &str, rest: &str, as_json: bool) -> Result<Verdict, Complaint> {
    match slash_commands::carry_out(talk, command, rest)? {
        After::Told(text) if as_json => output::json(&json!({ "type": "command", "command": command, "text": text }))?,
        After::Told(text) => output::result(&text)?,
        After::Leave => {}
        After::Reopen(_) => {
            let complaint = Complaint::usage(format!("{command} cannot be used with --prompt"));
            return Err(complaint.hint("use --session ID or --model MODEL"));
        }
    }
    Ok(Verdict::done())
}

/// Prints the result of an answer; its words only if they are not shown yet.
fn print(verdict: Verdict, are_words_shown: bool) -> Result<(), Complaint> {
    let nothing = Complaint { ending: Ending::Done, what: None, hint: None };
    Report { verdict, ..Report::on(&nothing) }.print(false, true, are_words_shown)
}

/// A talk in the terminal, until the person leaves.
fn talk_in_terminal(options: TalkOptions, interrupted: &Arc<AtomicBool>) -> Outcome {
    let mut talk = Talk::open(options, Some(terminal::reader()), Arc::clone(interrupted))?;
    loop {
        let after = match talk_on(&mut talk, interrupted) {
            Ok(after) => after,
            Err(complaint) => {
                talk.close("failed")?;
                return Err(complaint);
            }
        };
        let Some(next) = after else {
            talk.close("left")?;
            return Ok(Ending::Done);
        };
        let before = talk.options.clone();
        let read = talk.close("reopened")?;
        talk = match Talk::open(next, read, Arc::clone(interrupted)) {
            Ok(talk) => talk,
            Err(complaint) => {
                print_complaint(&complaint);
                Talk::open(before, Some(terminal::reader()), Arc::clone(interrupted))?
            }
        };
    }
}

/// Talks until the person leaves, or wants to talk on otherwise.
fn talk_on(talk: &mut Talk, interrupted: &AtomicBool) -> Result<Option<TalkOptions>, Complaint> {
    let (name, session, messages) = (talk.name(), &talk.options.session, talk.messages());
    output::note(&format!("{name}, session {session}, {messages} messages; type /help for commands"));
    let terminal = Terminal::new(state_folder(&talk.options.place.workspace).join(LINES_FILE));
    let mut display = Display::default();
    let mut shown = Ok(());
    let mut show = |event: &AgentEvent| {
        if let Err(complaint) = display.show(event, true) {
            shown = Err(complaint);
        }
    };
    let mut stops = 0;
    if let Some(verdict) = talk.finish(&mut show)? {
        print(verdict, true)?;
    }
    loop {
        let mut typed = terminal.read(completions(talk))?;
        let line = match talk.live_until_typed(&mut typed, &mut show)? {
            LineResult::Typed(line) => line,
            LineResult::End => break,
            LineResult::Stop if talk.stop_wakes() => continue,
            LineResult::Stop if stops > 0 => break,
            LineResult::Stop => {
                stops += 1;
                output::note("press Ctrl-C again to exit");
                continue;
            }
        };
        stops = 0;
        interrupted.store(false, Ordering::Relaxed);
        talk.ask_questions();
        let said = match slash_commands::typed(&line) {
            PersonInput::Nothing => continue,
            PersonInput::Unknown(word) => Err(slash_commands::unknown(&word)),
            PersonInput::Words(words) => talk.send(&words, &mut show).map(Some),
            PersonInput::Command(command, rest) => match slash_commands::carry_out(talk, command, &rest) {
                Ok(After::Told(text)) => output::result(&text).map(|()| None),
                Ok(After::Reopen(options)) => return Ok(Some(*options)),
                Ok(After::Leave) => break,
                Err(complaint) => Err(complaint),
            },
        };
        match said {
            Ok(None) => {}
            Ok(Some(verdict)) => {
                // A second interrupt during an answer ends the conversation.
                stops = u32::from(verdict.ending == Ending::Interrupted);
                print(verdict, true)?;
            }
            Err(complaint) if complaint.ending == Ending::ReaderGone => return Err(complaint),
            Err(complaint) => print_complaint(&complaint),
        }
        if talk.is_left() {
            break;
        }
    }
    shown.map(|()| None)
}

/// What Tab completes: the commands, and the skills that the agent has now.
fn completions(talk: &Talk) -> Vec<String> {
    let commands = slash_commands::COMMANDS.iter().map(|(command, _)| (*command).to_owned());
    let skills = talk.skills().skills.into_iter().map(|skill| format!("/skill:{}", skill.name));
    commands.chain(skills).collect()
}

/// Prints an error; the conversation continues.
fn print_complaint(complaint: &Complaint) {
    if let Some(what) = &complaint.what {
        output::note(&format!("error: {what}"));
    }
    if let Some(hint) = &complaint.hint {
        output::note(&format!("hint: {hint}"));
    }
}
