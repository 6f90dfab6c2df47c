//! The registry of all tools in a room, and how a call becomes a plan.
//!
//! The registry is a resource that all layers fill: built-in tools when the room is created, others while it runs.
//! External tools (of a server, for example) are registered by a system that received them as an input, so that a
//! replay has them in the same tick. A built-in tool is one function in its family's file and one line in [`builtin`].

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use bevy::ecs::prelude::Resource;
use thiserror::Error;

use super::plan::{AGENTS, FILES, ToolPlan};
use super::schema::{self, Checker};
use super::tool::{Planning, Tool};
use super::{agents, coding_agent_tools, collaboration, commands, desk, document_tools, files, knowledge, slack, web};
use crate::agent::AgentProfile;
use crate::base::{ActivationKey, Id, Problem, text};
use crate::gate::{Authority, Bounds, ToolNames, ToolScope};
use crate::mind::{ToolCall, ToolDeclaration};

/// The maximum length of a tool's name.
const MAX_NAME_CHARS: usize = 64;
/// The maximum number of tools.
const MAX_TOOLS: usize = 20_000;

/// The built-in tools, in the order in which they are declared to models.
fn built_in_tools() -> Vec<Tool> {
    vec![
        files::read(),
        files::write(),
        files::append(),
        files::edit(),
        files::list(),
        files::search(),
        files::rename(),
        files::delete(),
        agents::spawn(),
        agents::signal(),
        agents::delegate(),
        collaboration::publish(),
        collaboration::subscribe(),
        collaboration::unsubscribe(),
        collaboration::blackboard_write(),
        collaboration::blackboard_read(),
        knowledge::query(),
        knowledge::contribute(),
        files::create_directory(),
        desk::query_tasks(),
        desk::create_task(),
        desk::update_task(),
        desk::send_message(),
        desk::list_active_sessions(),
        desk::read_session(),
        desk::edit_session(),
        slack::slack_read(),
        slack::slack_send(),
        commands::execute_command(),
        web::web_fetch(),
        files::propose_changes(),
        coding_agent_tools::read_text(),
        coding_agent_tools::use_own_tool(),
        coding_agent_tools::open_terminal(),
    ]
}

/// Tools whose paths are relative to the agent's folder, for agents that are a folder.
const PATHS_FROM_FOLDER: [&str; 2] = ["vfs_read", "vfs_write"];

/// The executors of the built-in tools.
const EXECUTORS: [&str; 6] =
    [FILES, AGENTS, commands::COMMANDS, document_tools::DOCUMENT_TOOLS, coding_agent_tools::OWN_TOOLS, web::WEB];

/// The registry of built-in tools only, for use without an open room.
pub fn builtin() -> &'static Tools {
    static BUILTIN: LazyLock<Tools> = LazyLock::new(|| {
        let mut tools = Tools { executors: EXECUTORS.map(Id::from).into(), ..Tools::default() };
        for tool in built_in_tools() {
            // A test ensures that none is refused.
            drop(tools.register(tool));
        }
        tools
    });
    &BUILTIN
}

/// Why a tool cannot be registered.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ToolRefusal {
    /// Providers would not accept the name.
    #[error("{0:?} is not a valid tool name: use letters, digits, _ and -, at most {MAX_NAME_CHARS}")]
    Name(String),
    /// The name is already taken by a tool that the same agent may have.
    #[error("there is already a tool {0:?}")]
    Taken(String),
    /// The schema of its arguments is invalid.
    #[error("the arguments of the tool {0:?} cannot be checked: {1}")]
    Schema(String, String),
    /// There are too many tools.
    #[error("there are already {MAX_TOOLS} tools; {0:?} was not added")]
    TooMany(String),
}

/// The caller of a tool, for tools that are not available to everyone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caller<'a> {
    /// The profile of the agent.
    pub profile: &'a str,
    /// The session of its work.
    pub session: ActivationKey,
}

/// A tool with the checker of its arguments.
#[derive(Debug)]
struct Registered {
    tool: Tool,
    checker: Checker,
}

/// The registered tools and their executors.
#[derive(Resource, Clone, Debug, Default)]
pub struct Tools {
    /// The tools in the order of registration. They are declared to models in this order, so that a provider's prompt
    /// cache stays valid.
    tools: Vec<Arc<Registered>>,
    names: ToolNames,
    executors: BTreeSet<Id>,
}

impl Tools {
    /// Adds a tool. No agent may have two tools whose names are equal, ignoring case.
    pub fn register(&mut self, tool: Tool) -> Result<(), ToolRefusal> {
        let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        if tool.name.is_empty() || tool.name.len() > MAX_NAME_CHARS || !is_plain(&tool.name) {
            return Err(ToolRefusal::Name(text::truncate(&text::one_line(&tool.name), MAX_NAME_CHARS)));
        }
        let others = self.names.0.iter().filter(|other| other.scope.overlaps(&tool.scope)).cloned().collect();
        let others = ToolNames(others, std::collections::BTreeMap::new());
        if std::iter::once(&tool.name).chain(&tool.aliases).any(|name| others.resolve(name).is_some()) {
            return Err(ToolRefusal::Taken(tool.name));
        }
        if self.tools.len() >= MAX_TOOLS {
            return Err(ToolRefusal::TooMany(tool.name));
        }
        let checker = Checker::new(tool.parameters.clone());
        let checker = checker.map_err(|why| ToolRefusal::Schema(tool.name.clone(), why))?;
        self.names.0.push(tool.named());
        self.tools.push(Arc::new(Registered { tool, checker }));
        Ok(())
    }

    /// Removes a tool; returns whether there was one. Running calls continue.
    pub fn remove(&mut self, scope: &ToolScope, name: &str) -> bool {
        let before = self.tools.len();
        self.tools.retain(|one| one.tool.name != name || one.tool.scope != *scope);
        self.names.0.retain(|tool| tool.name != name || tool.scope != *scope);
        self.tools.len() < before
    }

    /// All tools, in the order in which they were registered.
    pub fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().map(|one| &one.tool)
    }

    /// Registers this executor as available while the room is open.
    pub fn add_executor(&mut self, executor: &str) {
        self.executors.insert(executor.into());
    }

    /// Whether this executor is available.
    pub fn has_executor(&self, executor: &str) -> bool {
        self.executors.contains(executor)
    }

    /// Sets the MCP servers of the workspace: their keys by name.
    pub(super) fn set_servers(&mut self, servers: std::collections::BTreeMap<String, Id>) {
        self.names.1 = servers;
    }

    /// The names of all tools, as profiles may list them.
    pub fn names(&self) -> &ToolNames {
        &self.names
    }

    /// The authority of a profile, and the problems of entries without effect; `place` is its file.
    pub fn authority(&self, place: &str, profile: &AgentProfile) -> (Authority, Vec<Problem>) {
        Authority::of(place, profile, &self.names)
    }

    /// The tools that may be called within these bounds, in order.
    fn of<'a>(&'a self, caller: Caller<'a>, bounds: &'a Bounds) -> impl Iterator<Item = &'a Registered> {
        let own = bounds.tools();
        let is_its = move |tool: &Tool| match &tool.scope {
            ToolScope::Server { key, tool } => bounds.may_call(key, tool),
            _ if !own.contains(tool.name.as_str()) => false,
            ToolScope::Everyone | ToolScope::Role(_) | ToolScope::CodingAgent => true,
            ToolScope::Profile(profile) => **profile == *caller.profile,
            ToolScope::Session(session) => *session == caller.session,
        };
        self.tools.iter().map(|one| &**one).filter(move |one| is_its(&one.tool))
    }

    /// The declarations of the tools permitted within these bounds, always in the same order.
    pub fn declarations(&self, caller: Caller<'_>, bounds: &Bounds) -> Vec<ToolDeclaration> {
        let declared = |one: &Registered| {
            let mut declared = one.tool.declaration(bounds.called(&one.tool.name));
            let folder = bounds.folder_for(&one.tool.name);
            if !folder.is_empty() && PATHS_FROM_FOLDER.contains(&&*one.tool.name) {
                declared.description += &format!(" Paths begin at your own folder, {folder}.");
            }
            declared
        };
        self.of(caller, bounds).map(declared).collect()
    }

    /// The declarations for a coding agent, which has the other tools through its own protocol.
    pub fn declarations_to_coding_agent(&self, caller: Caller<'_>, bounds: &Bounds) -> Vec<ToolDeclaration> {
        let offered = self.of(caller, bounds).filter(|one| !coding_agent_tools::has_by_protocol(&one.tool.name));
        offered.map(|one| one.tool.declaration(bounds.called(&one.tool.name))).collect()
    }

    /// Parses a model's call within these bounds. The error is the result for the model, with advice on how to correct
    /// the call.
    pub fn parse(&self, call: &ToolCall, caller: Caller<'_>, bounds: &Bounds) -> Result<ToolPlan, String> {
        let name = call.name.trim();
        let Some(Registered { tool, checker }) = self.find(name, caller, bounds) else {
            return Err(self.no_tool(name, caller, bounds));
        };
        let planning = Planning { bounds, names: &self.names };
        tool.planned(checker, &call.arguments, &planning)
            .map(|planned| planned.of(&tool.name))
            .map_err(|what| format!("Error: {name}: {what}. Its arguments: {}.", schema::summary(checker.schema())))
    }

    /// The tool with this name, or offered under this name.
    fn find<'a>(&'a self, name: &str, caller: Caller<'a>, bounds: &'a Bounds) -> Option<&'a Registered> {
        let is_it = |one: &&Registered| one.tool.name == name || bounds.called(&one.tool.name) == name;
        self.of(caller, bounds).find(is_it)
    }

    fn no_tool(&self, name: &str, caller: Caller<'_>, bounds: &Bounds) -> String {
        // Models never call the tools behind a coding agent's requests.
        let own = self.of(caller, bounds).filter(|one| one.tool.scope != ToolScope::CodingAgent);
        let listed: Vec<&str> = own.map(|one| bounds.called(&one.tool.name)).collect();
        let yours = match listed.as_slice() {
            [] => "You have no tools.".to_owned(),
            tools => format!("Your tools: {}.", tools.join(", ")),
        };
        let names = self.names.of_profile(caller.profile, None);
        if names.0.iter().any(|tool| tool.name == name) {
            return format!("Error: you do not have the tool '{name}'. {yours}");
        }
        let meant = names.resolve(name).map(|tool| bounds.called(tool)).filter(|tool| listed.contains(tool));
        let meant = meant.or_else(|| text::nearest(name, listed.iter().copied()));
        let meant = meant.map(|tool| format!(" Did you mean '{tool}'?")).unwrap_or_default();
        let name = text::truncate(&text::one_line(name), 60);
        format!("Error: there is no tool '{name}'.{meant} {yours}")
    }
}
