//! Modules of folder agents: TypeScript files in `modules/` that give an agent tools, prompt text and background work.
//!
//! Modules run outside the world, each in its own engine ([`agent_modules`]). Their descriptions, tool results, log
//! lines and prompts to the agent enter as inputs, so that a replay has these without running any code
//! ([`module_messages`]). During a call, they can access files and servers through calls of their agent. Work waits at
//! its beginning until the modules that its agent should have ([`wanted_modules`]) are loaded and have returned their
//! prompt texts ([`module_words`]).

mod agent_modules;
mod log_allowance;
mod module_events;
mod module_messages;
mod module_runner;
mod module_words;
mod wanted_modules;

pub use module_events::ModuleLogged;
pub(super) use module_messages::{KnownModules, apply_module_messages, apply_work_answers, follow_prompts};
pub(super) use module_runner::add_runner;
pub use module_runner::stop_all;
pub(super) use module_words::wait_for_prompt_texts;
pub(in crate::desk) use wanted_modules::path_of;
pub use wanted_modules::{code_widening, module_files};

use bevy::ecs::message::Message;
use bevy::ecs::prelude::Resource;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::base::{ActivationKey, Id, Problem};
use crate::mind::Ending;
use crate::schedule::Input;

/// The executor of the modules' tools.
pub const MODULES: &str = "modules";
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
    /// Work can continue, because the modules have returned their prompt texts or took too long.
    Asked {
        /// The key of the work.
        work: ActivationKey,
    },
    /// Modules took too long to return their prompt texts: the next prompt has none of theirs, or an older one.
    Late {
        /// The id of the profile.
        profile: Id,
        /// The files of the modules, or the folder of all.
        modules: Vec<String>,
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
