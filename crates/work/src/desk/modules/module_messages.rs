//! Applies the reports of modules in the world: registers their tools for their agent, adds their texts to its
//! prompts, and turns their prompts into work.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use serde_json::Value;

use super::{
    MODULES, ModuleCall, ModuleLogged, ModulePrompt, ModulePrompts, ModulesReported, PromptAnswered, ReportedModule,
    ReportedTool, answer_of, path_of,
};
use crate::agent::agent_file::folder_of_agent;
use crate::agent::{Agent, Profiles, Roster};
use crate::base::{Id, Problem, RunTag, Seq};
use crate::gate::{DeclaredTouch, Power, ToolScope, TouchKind};
use crate::kernel::{WorkAnswer, WorkOrder, WorkTerms, WorkWanted};
use crate::log::events::Warning;
use crate::log::{EventDraft, EventLog};
use crate::mind::PromptAdditions;
use crate::tools::{Arguments, Planned, Tool, Tools};
use crate::workspace::ProblemReport;

/// The author of the work in the log, and the prefix of the ids of its orders.
const BY: &str = "module";

/// The known modules by profile. Not saved, because modules report again when a room is reopened.
#[derive(Resource, Default, Debug)]
pub(in crate::desk) struct KnownModules(BTreeMap<Id, Vec<ReportedModule>>);

impl KnownModules {
    /// Whether modules of a profile have reported that they work.
    pub(super) fn has(&self, profile: &Id) -> bool {
        self.0.get(profile).is_some_and(|modules| !modules.is_empty())
    }
}

/// Updates the tools and prompt texts of modules, and logs their lines.
pub(in crate::desk) fn apply_module_messages(
    mut module_reports: MessageReader<ModulesReported>,
    (mut registry, mut words): (ResMut<Tools>, ResMut<PromptAdditions>),
    (profiles, roster, agents): (Res<Profiles>, Res<Roster>, Query<&Agent>),
    mut log: ResMut<EventLog>,
    mut reports: MessageWriter<ProblemReport>,
    mut known: ResMut<KnownModules>,
) {
    for report in module_reports.read() {
        let (profile, modules, problems) = match report {
            ModulesReported::Are { profile, modules, problems } => (profile, modules, problems),
            ModulesReported::Asked { work } => {
                words.release(*work);
                continue;
            }
            ModulesReported::Late { profile, modules } => {
                let here = roster.agents(&agents);
                let agent = here.filter(|agent| agent.profile == *profile).map(|agent| &agent.id).min();
                log.write(late_draft(modules, agent));
                continue;
            }
            ModulesReported::Logged { profile, line } => {
                let here = roster.agents(&agents);
                let agent = here.filter(|agent| agent.profile == *profile).map(|agent| &agent.id).min();
                log.write(draft_of(line, agent));
                continue;
            }
            ModulesReported::Prompts { .. } => continue,
        };
        let known = &mut known.0;
        let scope = ToolScope::Profile(profile.clone());
        for tool in known.remove(profile).iter().flatten().flat_map(|module| &module.tools) {
            registry.remove(&scope, &tool.name);
        }
        let mut problems = problems.clone();
        for module in modules {
            let added = module.tools.iter().filter_map(|tool| {
                let refusal = registry.register(tool_of(profile, module, tool)).err()?;
                let remedy = format!("rename the tool {:?}", tool.name);
                let folder = profiles.path(profile).and_then(folder_of_agent).unwrap_or_default();
                Some(Problem::error(path_of(folder, &module.file), refusal.to_string(), remedy))
            });
            problems.extend(added.collect::<Vec<_>>());
        }
        let said: Vec<&str> =
            modules.iter().map(|module| module.words.trim()).filter(|words| !words.is_empty()).collect();
        words.set(profile, said.join("\n\n"));
        reports.write(ProblemReport { source: format!("modules of {profile}"), problems });
        known.insert(profile.clone(), modules.clone());
    }
}

/// The log event of a line, attributed to this agent.
pub(super) fn draft_of(line: &ModuleLogged, agent: Option<&Id>) -> EventDraft {
    let draft = EventDraft::of(line);
    match agent {
        Some(agent) => draft.agent(agent),
        None => draft,
    }
}

/// The log event of prompt texts that did not come in time.
fn late_draft(modules: &[String], agent: Option<&Id>) -> EventDraft {
    let named = modules.join(", ");
    let what = format!("the next prompt has no text of {named}, or an older one, because it did not come in time");
    let draft = EventDraft::of(&Warning::new(what));
    match agent {
        Some(agent) => draft.agent(agent),
        None => draft,
    }
}

/// Builds a tool of a module.
fn tool_of(profile: &Id, module: &ReportedModule, tool: &ReportedTool) -> Tool {
    let call = ModuleCall {
        profile: profile.clone(),
        module: module.file.clone(),
        tool: tool.name.clone(),
        arguments: serde_json::Map::new(),
    };
    let plan = move |arguments: &Arguments, _: &crate::tools::Planning<'_>| {
        let Value::Object(arguments) = arguments.to_value() else {
            return Err("its arguments are not an object".to_owned());
        };
        let order = serde_json::to_value(ModuleCall { arguments, ..call.clone() });
        let order = order.map_err(|error| format!("the call cannot be saved: {error}"))?;
        let touches = vec![DeclaredTouch::new(TouchKind::TOOL_RUN, &*call.tool)];
        Ok(Planned::order(MODULES, order, touches, ("using its tool", &call.tool)))
    };
    let scope = ToolScope::Profile(profile.clone());
    Tool::new(&tool.name, &tool.description, tool.parameters.clone(), plan).within(scope).by_default(Power::Reach)
}

/// Turns the prompts of modules into work for their agents.
pub(in crate::desk) fn follow_prompts(
    mut module_reports: MessageReader<ModulesReported>,
    mut prompts: ResMut<ModulePrompts>,
    (roster, agents, log): (Res<Roster>, Query<&Agent>, Res<EventLog>),
    mut orders: MessageWriter<WorkOrder>,
    mut answers: MessageWriter<PromptAnswered>,
) {
    for report in module_reports.read() {
        let ModulesReported::Prompts { profile, module, number, message } = report else { continue };
        let here = roster.agents(&agents);
        let Some(agent) = here.into_iter().find(|agent| agent.profile == *profile) else {
            let answer = Err("its agent is not in the room".to_owned());
            let (profile, module, number) = (profile.clone(), module.clone(), *number);
            answers.write(PromptAnswered { profile, module, number, answer });
            continue;
        };
        let order: Id = format!("{BY}/{}/{profile}/{module}/{number}", RunTag::of(log.run())).into();
        orders.write(WorkOrder::Begin(Box::new(WorkWanted {
            order: order.clone(),
            agent: agent.id.clone(),
            task: message.clone(),
            by: BY.into(),
            terms: WorkTerms::default(),
            cause: Seq(0),
        })));
        let prompt =
            ModulePrompt { order, profile: profile.clone(), module: module.clone(), number: *number, work: None };
        prompts.0.push(prompt);
    }
}

/// Passes the results of such work on to the modules.
pub(in crate::desk) fn apply_work_answers(
    mut work_answers: MessageReader<WorkAnswer>,
    mut prompts: ResMut<ModulePrompts>,
    mut answers: MessageWriter<PromptAnswered>,
) {
    if prompts.0.is_empty() {
        work_answers.clear();
        return;
    }
    let prompts = &mut prompts.bypass_change_detection().0;
    for work_answer in work_answers.read() {
        let (at, answer) = match work_answer {
            WorkAnswer::Begun { order, activation, .. } => {
                if let Some(prompt) = prompts.iter_mut().find(|prompt| prompt.order == *order) {
                    prompt.work = Some(*activation);
                }
                continue;
            }
            WorkAnswer::Refused { order, why } => {
                (prompts.iter().position(|prompt| prompt.order == *order), Err(why.clone()))
            }
            WorkAnswer::Ended { activation, ending, .. } => {
                (prompts.iter().position(|prompt| prompt.work == Some(*activation)), answer_of(ending))
            }
        };
        if let Some(at) = at {
            let ModulePrompt { profile, module, number, .. } = prompts.remove(at);
            answers.write(PromptAnswered { profile, module, number, answer });
        }
    }
}
