//! Modules of agents in folders: TypeScript files in `modules/` that give an agent tools, prompt text and background
//! work.
//!
//! They run outside the world, each in its own engine ([`agent_modules`]); their descriptions, the results of their
//! tools, what they log and their prompts to the agent enter as inputs, so that a replay has these without running any
//! code ([`module_messages`]). During a call, they can access files and servers through calls of their agent. When work
//! begins, it waits until they were asked what they add to its prompts ([`module_words`]).

mod agent_modules;
mod log_allowance;
mod module_events;
mod module_messages;
mod module_runner;
mod module_words;

pub use module_events::ModuleLogged;
pub(super) use module_messages::{KnownModules, apply_module_messages, apply_work_answers, follow_prompts};
pub use module_runner::stop_all;
pub(super) use module_runner::{RunningModules, run};
pub(super) use module_words::ask_for_words;

use bevy::ecs::message::Message;
use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::{ActivationKey, Id, Problem};
use crate::mind::Ending;
use crate::schedule::Input;
use crate::workspace::KnownFiles;

/// Who carries out calls of their tools.
pub const MODULES: &str = "modules";
/// The folder in which they lie.
const FOLDER: &str = "modules/";

/// The files of the modules of an agent that is this folder, each by its path in it.
pub fn module_files<'a>(known: &'a KnownFiles, folder: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    code_files(known, folder).filter(|(path, _)| path.starts_with(FOLDER))
}

/// The files of code of an agent that is this folder, as far as a room knows them, each by its path in it.
fn code_files<'a>(known: &'a KnownFiles, folder: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    // A folder that is the workspace contains much that is not the agent's.
    let (start, below) = match folder {
        "" => (FOLDER.to_owned(), String::new()),
        folder => (format!("{folder}/"), format!("{folder}/")),
    };
    let files = known.all().range(start.clone()..).map(|(path, text)| (path.as_str(), text.as_str()));
    let files = files.take_while(move |(path, _)| path.starts_with(&*start));
    let files = files.filter_map(move |(path, text)| Some((path.strip_prefix(&*below)?, text)));
    files.filter(|(path, _)| path.ends_with(".ts"))
}

/// The path of a module's file in the workspace, by the folder that is its agent: empty where that is the workspace.
pub(in crate::desk) fn path_of(folder: &str, file: &str) -> String {
    if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") }
}

/// Something that the modules of an agent say. An input.
#[derive(Message, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "news", rename_all = "snake_case")]
pub enum ModulesReported {
    /// What they are now, all of them.
    Are {
        /// The profile in whose folder they lie.
        profile: Id,
        /// Those that are there.
        modules: Vec<ReportedModule>,
        /// Why others are left out.
        problems: Vec<Problem>,
    },
    /// One of them prompts its agent.
    Prompts {
        /// The profile in whose folder it lies.
        profile: Id,
        /// The module, by its file.
        module: String,
        /// Tells it from its other prompts.
        number: u64,
        /// What it says.
        message: String,
    },
    /// One of them logged something outside of calls of its tools.
    Logged {
        /// The profile in whose folder it lies.
        profile: Id,
        /// What.
        line: ModuleLogged,
    },
    /// A piece of work goes on: they were asked what they add to its prompts, and have answered or are too busy.
    Asked {
        /// Which.
        work: ActivationKey,
    },
}

impl Input for ModulesReported {
    const KIND: &'static str = "modules";
}

/// A module, as it says of itself.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportedModule {
    /// Its file, by its path in the agent's folder.
    pub file: String,
    /// What it is called.
    pub name: String,
    /// Its tools.
    pub tools: Vec<ReportedTool>,
    /// What it adds to the prompts of its agent.
    pub words: String,
}

/// A tool of a module.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportedTool {
    /// What a model calls it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The schema of its arguments.
    pub parameters: Value,
}

/// A call of such a tool, as its order says it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct ModuleCall {
    profile: Id,
    module: String,
    tool: String,
    arguments: Map<String, Value>,
}

/// Prompts of modules whose work is not over, by order. Part of the saved world: the answer to one that was asked
/// before the room was closed goes to nobody.
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

/// Whether modules of agents in the room are being loaded, outside of the world: for whoever wants to wait for them.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ModulesLoading(pub bool);

/// An agent's answer to a module that prompted it. Not saved: nobody waits for it in another process.
#[derive(Message, Clone, PartialEq, Debug)]
pub(super) struct PromptAnswered {
    profile: Id,
    module: String,
    number: u64,
    answer: Result<String, String>,
}

/// The last words of a piece of work, or why there are none.
fn answer_of(ending: &Ending) -> Result<String, String> {
    match ending {
        Ending::Completed { text } => Ok(text.clone()),
        Ending::Failed { why } | Ending::Aborted { why, .. } => Err(why.clone()),
    }
}
