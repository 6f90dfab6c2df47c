//! Modules of folder agents: TypeScript files in `modules/` that give an agent tools, prompt text and background work.
//!
//! Modules run outside the world, each in its own engine ([`agent_modules`]). Their descriptions, tool results, log
//! lines and prompts to the agent enter as inputs, so that a replay has these without running any code
//! ([`module_messages`]). During a call, they can access files and servers through calls of their agent. Work waits at
//! its beginning until the modules were asked for their prompt texts ([`module_words`]).

mod agent_modules;
mod log_allowance;
mod module_events;
mod module_messages;
mod module_runner;
mod module_words;

pub use module_events::ModuleLogged;
pub(super) use module_messages::{KnownModules, apply_module_messages, apply_work_answers, follow_prompts};
pub(super) use module_runner::add_runner;
pub use module_runner::stop_all;
pub(super) use module_words::wait_for_prompt_texts;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::visible_text::sha256_of;
use crate::base::{ActivationKey, Id, Problem};
use crate::mind::Ending;
use crate::modules::is_code;
use crate::schedule::Input;
use crate::workspace::KnownFiles;
use crate::workspace::trust::Widening;

/// The executor of the modules' tools.
pub const MODULES: &str = "modules";
/// The folder with the modules.
const FOLDER: &str = "modules/";

/// The module files of the agent in this folder, with their paths relative to the folder.
pub fn module_files<'a>(known: &'a KnownFiles, folder: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    code_files(known, folder).filter(|(path, _)| path.starts_with(FOLDER))
}

/// The known code files of the agent in this folder, with their paths relative to the folder.
fn code_files<'a>(known: &'a KnownFiles, folder: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    // If the folder is the workspace itself, it contains many files that do not belong to the agent.
    let (start, below) = match folder {
        "" => (FOLDER.to_owned(), String::new()),
        folder => (format!("{folder}/"), format!("{folder}/")),
    };
    let files = known.all().range(start.clone()..).map(|(path, text)| (path.as_str(), text.as_str()));
    let files = files.take_while(move |(path, _)| path.starts_with(&*start));
    let files = files.filter_map(move |(path, text)| Some((path.strip_prefix(&*below)?, text)));
    files.filter(|(path, _)| path.ends_with(".ts"))
}

/// The widening of a file with code that modules can run or import: exactly this text. `None` for other files.
pub fn code_widening(path: &str, text: &str) -> Option<Widening> {
    if !is_code(path) {
        return None;
    }
    let lines = text.lines().count();
    let value = format!("{lines} {} of code, SHA-256 {}", if lines == 1 { "line" } else { "lines" }, sha256_of(text));
    Some(Widening::starting(path, value, "is code of this agent, which its modules run while it is in the room"))
}

/// The workspace path of a file in an agent's folder, which is empty if it is the workspace itself.
pub(in crate::desk) fn path_of(folder: &str, file: &str) -> String {
    if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") }
}

/// A report of an agent's modules. An input of the room.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "news", rename_all = "snake_case")]
pub enum ModulesReported {
    /// The descriptions of all modules.
    Are {
        /// The id of the profile.
        profile: Id,
        /// The working modules.
        modules: Vec<ReportedModule>,
        /// The problems of the other modules.
        problems: Vec<Problem>,
    },
    /// A module prompts its agent.
    Prompts {
        /// The id of the profile.
        profile: Id,
        /// The file of the module.
        module: String,
        /// The number of the prompt, unique for the module.
        number: u64,
        /// The text of the prompt.
        message: String,
    },
    /// A module logged a line outside of calls of its tools.
    Logged {
        /// The id of the profile.
        profile: Id,
        /// The line.
        line: ModuleLogged,
    },
    /// Work can continue, because the modules have returned their prompt texts or are too busy.
    Asked {
        /// The key of the work.
        work: ActivationKey,
    },
}

impl Input for ModulesReported {
    const KIND: &'static str = "modules";
}

/// A module as it describes itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportedModule {
    /// The path of its file in the agent's folder.
    pub file: String,
    /// The name of the module.
    pub name: String,
    /// The tools of the module.
    pub tools: Vec<ReportedTool>,
    /// The text that it adds to the prompts of its agent.
    pub words: String,
}

/// A tool of a module.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportedTool {
    /// The name by which models call it.
    pub name: String,
    /// The description for models.
    pub description: String,
    /// The schema of its arguments.
    pub parameters: Value,
}

/// A call of a module's tool, as stored in its order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct ModuleCall {
    profile: Id,
    module: String,
    tool: String,
    arguments: Map<String, Value>,
}

/// The prompts of modules whose work has not ended. Part of the saved world: the answer to a prompt from before the
/// room was closed is dropped.
#[derive(Resource, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModulePrompts(Vec<ModulePrompt>);

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct ModulePrompt {
    order: Id,
    profile: Id,
    module: String,
    number: u64,
    work: Option<ActivationKey>,
}

/// Whether modules of agents in the room are being loaded, for code that wants to wait for them.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ModulesLoading(pub bool);

/// An agent's answer to a module's prompt. Not saved, because no module of another process waits for it.
#[derive(Message, Clone, PartialEq, Debug)]
pub(super) struct PromptAnswered {
    profile: Id,
    module: String,
    number: u64,
    answer: Result<String, String>,
}

/// The final text of a piece of work, or why there is none.
fn answer_of(ending: &Ending) -> Result<String, String> {
    match ending {
        Ending::Completed { text } => Ok(text.clone()),
        Ending::Failed { why } | Ending::Aborted { why, .. } => Err(why.clone()),
    }
}
