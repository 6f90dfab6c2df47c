//! Tools defined by agents' documents: each is only available to its own agent, and runs in its own engine on its own
//! thread. Its result enters as an input, so that a replay needs no engine.
//!
//! Its code accesses files and servers only through calls of its agent, each of which is checked, recorded and executed
//! like a call of the model: the code waits, a person may be asked, and a replay has the same calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::commands::BASH;
use super::document_calls::{CallReport, OpenCall};
use super::document_runtime::{DocumentRunner, DocumentSettings};
use super::executor::{ToolExecutor, ToolReporter};
use super::order::{CallAnswered, OrderKey, OrderReport, PendingToolOrders, ToolOrder};
use super::plan::Planned;
use super::tool::{Arguments, Tool};
use super::{Tools, commands};
use crate::agent::agent_file::folder_of_agent;
use crate::agent::{AgentProfile, ProfileChanged, Profiles};
use crate::base::hash::content_hash;
use crate::base::{Id, Problem};
use crate::document::ToolDefinition;
use crate::engine::{ProgramCache, ToolCall, ToolCode};
use crate::gate::{DeclaredTouch, Power, ToolScope, TouchKind};
use crate::gateway::GatewayEnvironment;
use crate::schedule::outside::{Received, Start};
use crate::schedule::{RoomDate, SimClock};
use crate::workspace::ProblemReport;

/// The executor of document tools.
pub const DOCUMENT_TOOLS: &str = "document_tools";

/// How many calls run in parallel; the others wait.
const CALLS_AT_ONCE: usize = 8;

/// The content of a call's order: everything that the engine needs, even if the document changes meanwhile.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct CallOrder {
    /// The path of the document.
    file: String,
    tool: String,
    code: String,
    /// The line of the document with the first line of the code, from 1.
    first_line: usize,
    arguments: Map<String, Value>,
}

/// The registered tools of a document.
#[derive(PartialEq)]
pub(super) struct Registered {
    file: String,
    tools: Vec<ToolDefinition>,
    /// Whether it requests a shell.
    has_shell: bool,
}

impl Registered {
    fn of(file: &str, profile: &AgentProfile) -> Self {
        let lists = |name: &str| profile.tools.iter().flatten().any(|tool| tool == name);
        let has_shell = folder_of_agent(file).is_some() && lists(BASH);
        Self { file: file.to_owned(), tools: profile.own_tools.clone(), has_shell }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name.as_str()).chain(self.has_shell.then_some(BASH))
    }
}

/// Keeps the registry in sync with the documents.
pub(super) fn register(
    profiles: Res<Profiles>,
    mut registry: ResMut<Tools>,
    mut changed: MessageReader<ProfileChanged>,
    mut reports: MessageWriter<ProblemReport>,
    mut known: Local<Option<BTreeMap<Id, Registered>>>,
) {
    let is_first = known.is_none();
    if changed.is_empty() && !is_first {
        return;
    }
    let known = known.get_or_insert_default();
    let mut ids: Vec<Id> = changed.read().map(|change| change.profile.clone()).collect();
    if is_first {
        ids.extend(profiles.iter().map(|(id, _)| id.clone()));
    }
    ids.sort();
    ids.dedup();
    for id in ids {
        let of = |profile: &AgentProfile| Registered::of(profiles.path(&id).unwrap_or_default(), profile);
        let now = profiles.get(&id).map(of).filter(|now| now.names().next().is_some());
        if known.get(&id) == now.as_ref() {
            continue;
        }
        let scope = ToolScope::Profile(id.clone());
        for name in known.remove(&id).iter().flat_map(Registered::names) {
            registry.remove(&scope, name);
        }
        let problems = now.as_ref().map(|now| add(&mut registry, &scope, now)).unwrap_or_default();
        reports.write(ProblemReport { source: format!("tools of {id}"), problems });
        known.extend(now.map(|now| (id, now)));
    }
}

/// Adds the tools of a document; returns the problems of tools that cannot be added.
fn add(registry: &mut Tools, scope: &ToolScope, document: &Registered) -> Vec<Problem> {
    if document.has_shell {
        let shell = commands::bash(folder_of_agent(&document.file).unwrap_or_default());
        // A tool of the document with the same name is then refused and reported.
        let _ = registry.register(shell.within(scope.clone()).with_power(Power::Run));
    }
    let added = document.tools.iter().filter_map(|definition| {
        let refusal = registry.register(tool(&document.file, definition, scope)).err()?;
        let remedy = format!("rename the tool {:?}", definition.name);
        let line = definition.code.first_line.checked_sub(1);
        Some(Problem::error(&document.file, refusal.to_string(), remedy).at_line(line))
    });
    added.collect()
}

/// The tool for a definition in a document.
fn tool(file: &str, definition: &ToolDefinition, scope: &ToolScope) -> Tool {
    let (file, own) = (file.to_owned(), definition.clone());
    let plan = move |arguments: &Arguments, _: &super::tool::Planning<'_>| {
        let order = CallOrder {
            file: file.clone(),
            tool: own.name.clone(),
            code: own.code.text.clone(),
            first_line: own.code.first_line,
            arguments: arguments.to_map(),
        };
        let order = serde_json::to_value(order).map_err(|error| format!("the call cannot be saved: {error}"))?;
        let touches = vec![DeclaredTouch::new(TouchKind::TOOL_RUN, &*own.name)];
        Ok(Planned::order(DOCUMENT_TOOLS, order, touches, ("using its tool", &own.name)))
    };
    Tool::new(&definition.name, &definition.description, definition.schema(), plan)
        .within(scope.clone())
        .by_default(Power::Reach)
}

/// A cache of the documents' parsed code. Not saved: it is parsed again when needed.
#[derive(Resource, Default)]
pub(super) struct ReadCode(pub(super) Arc<ProgramCache>);

/// Executes calls of documents' tools. Running calls are not saved: an order that still exists after a restart begins
/// again with the same random seed and makes the same requests, none of which is executed twice.
#[derive(Default)]
pub(super) struct DocumentCalls(BTreeMap<OrderKey, OpenCall>);

/// What calls are started with, and the answers to their requests.
#[derive(SystemParam)]
pub(super) struct CallSurroundings<'w, 's> {
    answered: MessageReader<'w, 's, CallAnswered>,
    clock: Res<'w, SimClock>,
    date: Res<'w, RoomDate>,
    code: Res<'w, ReadCode>,
    settings: Res<'w, DocumentSettings>,
    environment: Option<Res<'w, GatewayEnvironment>>,
}

impl ToolExecutor for DocumentCalls {
    const NAME: &'static str = DOCUMENT_TOOLS;
    const MAX_RUNNING: usize = CALLS_AT_ONCE;

    type Order = CallOrder;
    type Report = CallReport;
    type World = CallSurroundings<'static, 'static>;

    fn interrupted(&mut self, _: OrderKey, _: &CallOrder) -> Option<String> {
        None
    }

    fn start(
        &mut self,
        order: &ToolOrder,
        content: CallOrder,
        world: &mut CallSurroundings<'_, '_>,
        reporter: ToolReporter<Self>,
    ) -> Start<OrderReport> {
        let now_secs = world.date.secs(&world.clock).unwrap_or(0);
        let call = call_of(order.key, content, now_secs, &world.code.0);
        let folder = call.agent_dir.clone();
        let environment = world.environment.as_ref().map(|environment| &environment.0);
        let engine = DocumentRunner::new(&world.settings, environment).start(call);
        match OpenCall::follow(folder, engine, move |report| reporter.report(report)) {
            Ok(call) => {
                self.0.insert(order.key, call);
                Start::Started
            }
            Err(error) => Start::Ended(OrderReport::Failed { why: format!("no thread could be started: {error}") }),
        }
    }

    fn cancel(&mut self, key: OrderKey, _: &mut CallSurroundings<'_, '_>) {
        // Dropping it stops it.
        self.0.remove(&key);
    }

    fn receive(
        &mut self,
        key: OrderKey,
        report: CallReport,
        _: &mut CallSurroundings<'_, '_>,
    ) -> Received<OrderReport> {
        let report = self.0.get_mut(&key).and_then(|call| call.receive(report));
        report.map_or(Received::Nothing, Received::Answer)
    }

    fn is_awaited(&self, key: &OrderKey) -> bool {
        // Its code may be waiting for a person who decides about a call.
        self.0.get(key).is_some_and(|call| !call.waits_for_room())
    }

    fn attend(
        &mut self,
        _: &PendingToolOrders,
        running: &dyn Fn(&OrderKey) -> bool,
        world: &mut CallSurroundings<'_, '_>,
    ) {
        self.0.retain(|key, _| running(key));
        for CallAnswered { key, number, answer } in world.answered.read() {
            if let Some(call) = self.0.get_mut(key) {
                call.send_answer(*number, answer);
            }
        }
    }
}

/// The call that an order represents. Its random seed depends only on the key of the order.
fn call_of(key: OrderKey, order: CallOrder, now_secs: i64, programs: &Arc<ProgramCache>) -> ToolCall {
    let folder = folder_of_agent(&order.file).unwrap_or("agents").to_owned();
    ToolCall {
        code: ToolCode::Written { text: order.code.into(), programs: programs.clone() },
        file: order.file,
        first_line: order.first_line,
        arguments: order.arguments,
        agent_dir: folder.clone(),
        cwd: folder,
        seed: content_hash(key.to_string().as_bytes()),
        now_unix_ms: now_secs.saturating_mul(1000),
        limits: DocumentRunner::limits(),
    }
}

#[cfg(all(test, feature = "typescript"))]
#[path = "document_tools_tests.rs"]
mod tests;
