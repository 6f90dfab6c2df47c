//! The running modules of one agent: pending orders of each, their requests, and what they reported last.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{FOLDER, ModuleCall, ModulesReported, ReportedModule, ReportedTool};
use crate::base::{Id, Problem};
use crate::engine::{HostAnswer, HostCall, HostRequest, ModuleCommand, ModuleMessage};
use crate::modules::{ModuleEvent, ModuleFolder, ModuleSet, ModuleState};
use crate::source::SourceSeverity;
use crate::tools::document_calls::{answer_for, call_for};
use crate::tools::{CallAnswer, OrderKey, ToolNews, ToolOutput};

/// The answer to a module that requests something outside of a call, or prompts its agent within one.
const FILES_AND_SERVERS: &str = "a module can only access files and servers during a call of one of its tools";
const IN_A_CALL: &str =
    "its agent is waiting for this call: prompt it from the background, or return what it should know";

/// What an order to a module is for.
enum For {
    /// Beginning its work in the background.
    Start,
    /// What it adds to prompts.
    Words,
    /// A call of one of its tools.
    Call(OrderKey),
}

/// The modules of one agent.
pub(super) struct OpenModules {
    profile: Id,
    /// The folder that is the agent.
    folder: String,
    set: ModuleSet,
    /// What was ordered, by module and number.
    ordered: BTreeMap<(String, u64), For>,
    /// What waits for an answer from the world: by the call that it belongs to and its number.
    asked: BTreeMap<(OrderKey, u64), (String, HostCall)>,
    /// Prompts that wait for their answers, by module and number.
    prompts: BTreeMap<(String, u64), HostCall>,
    words: BTreeMap<String, String>,
    failed: BTreeMap<String, Problem>,
    /// What is wrong with files that could not be read.
    unreadable: Vec<Problem>,
    told: Option<ModulesReported>,
}

/// A message to the world.
pub(super) enum Say {
    Heard(ModulesReported),
    Outcome(OrderKey, ToolNews),
}

impl OpenModules {
    /// These, of files that were read.
    pub(super) fn new(profile: Id, folder: String, files: &ModuleFolder, set: ModuleSet) -> Self {
        let path = |file: &str| path_of(&folder, file);
        let told = files.problems.iter().map(|told| {
            let (what, remedy) = (told.problem.what.clone(), told.problem.remedy.clone());
            let problem = match told.problem.severity {
                SourceSeverity::Warning => Problem::warning(path(&told.path), what, remedy),
                SourceSeverity::Error => Problem::error(path(&told.path), what, remedy),
            };
            problem.at_line(told.problem.line())
        });
        let unreadable = told.collect();
        Self {
            profile,
            folder,
            set,
            ordered: BTreeMap::new(),
            asked: BTreeMap::new(),
            prompts: BTreeMap::new(),
            words: BTreeMap::new(),
            failed: BTreeMap::new(),
            unreadable,
            told: None,
        }
    }

    /// Whether one of them has not described itself yet.
    pub(super) fn is_loading(&self) -> bool {
        self.set.states().any(|(file, state)| match state {
            ModuleState::Loading => true,
            ModuleState::Ready(_) => !self.words.contains_key(file) && !self.failed.contains_key(file),
            ModuleState::LeftOut(_) => false,
        })
    }

    /// Ends them, the last one first.
    pub(super) fn into_ending(mut self) -> ModuleSet {
        self.set.end();
        self.set
    }

    /// Whether a call is with one of them.
    pub(super) fn has(&self, key: OrderKey) -> bool {
        self.ordered.values().any(|what| matches!(what, For::Call(call) if *call == key))
    }

    /// Has a tool called. `None` where its module is not there yet; the error says why it never will be.
    pub(super) fn call(&mut self, key: OrderKey, call: &ModuleCall) -> Option<Result<(), String>> {
        let state = self.set.states().find(|(file, _)| *file == call.module).map(|(_, state)| state);
        match state {
            None => return Some(Err(format!("the module {} no longer exists", call.module))),
            Some(ModuleState::LeftOut(failure)) => return Some(Err(failure.text.clone())),
            Some(ModuleState::Loading) => return None,
            Some(ModuleState::Ready(_)) => {}
        }
        let order = ModuleCommand::Tool { name: call.tool.clone(), arguments: call.arguments.clone() };
        let number = self.set.order(&call.module, order)?;
        self.ordered.insert((call.module.clone(), number), For::Call(key));
        Some(Ok(()))
    }

    /// Sends a module the result of a call that it made.
    pub(super) fn send_answer(&mut self, key: OrderKey, number: u64, answer: &CallAnswer) {
        let Some((module, asked)) = self.asked.remove(&(key, number)) else { return };
        let answer = match answer {
            CallAnswer::NotDone(why) => HostAnswer::Refused { reason: why.trim_start_matches("Error: ").to_owned() },
            CallAnswer::Done(text) => answer_for(&asked.request, text),
        };
        self.set.answer(&module, &asked, answer);
    }

    /// Tells a module what its agent said.
    pub(super) fn answer_prompt(&mut self, module: &str, number: u64, answer: &Result<String, String>) {
        let Some(asked) = self.prompts.remove(&(module.to_owned(), number)) else { return };
        let answer = match answer {
            Ok(text) => HostAnswer::Text { text: text.clone() },
            Err(reason) => HostAnswer::Refused { reason: reason.clone() },
        };
        self.set.answer(module, &asked, answer);
    }

    /// What they have to say.
    pub(super) fn take_messages(&mut self) -> Vec<Say> {
        let mut said = Vec::new();
        for ModuleEvent { module, news } in self.set.poll() {
            match news {
                ModuleMessage::Loaded(Ok(_)) => self.order(&module, ModuleCommand::SystemPrompt, For::Words),
                ModuleMessage::Loaded(Err(failure)) => self.fails(&module, &failure.text),
                ModuleMessage::Done { order, result } => {
                    let what = self.ordered.remove(&(module.clone(), order));
                    self.done(&module, what, result.map_err(|failure| failure.text), &mut said);
                }
                ModuleMessage::Asks(asked) => self.asks(&module, asked, &mut said),
                ModuleMessage::Logged(line) => {
                    if let Some(key) = self.call_of(&module) {
                        said.push(Say::Outcome(key, ToolNews::Progress { text: line.text }));
                    }
                }
            }
        }
        said.extend(self.news().map(Say::Heard));
        said
    }

    fn done(&mut self, module: &str, what: Option<For>, result: Result<String, String>, said: &mut Vec<Say>) {
        match (what, result) {
            (Some(For::Call(key)), result) => {
                self.asked.retain(|(call, _), _| *call != key);
                said.push(Say::Outcome(
                    key,
                    match result {
                        Ok(text) => ToolNews::Done { output: ToolOutput { text, ..ToolOutput::default() } },
                        Err(why) => ToolNews::Failed { why },
                    },
                ));
                // What it adds to prompts may be otherwise now.
                self.order(module, ModuleCommand::SystemPrompt, For::Words);
            }
            (Some(For::Words), Ok(words)) => {
                // Its work in the background may prompt its agent, which is to have its tools by then.
                if self.words.insert(module.to_owned(), words).is_none() {
                    self.order(module, ModuleCommand::Start, For::Start);
                }
            }
            (Some(For::Start | For::Words), Err(why)) => self.fails(module, &why),
            (Some(For::Start) | None, _) => {}
        }
    }

    fn asks(&mut self, module: &str, asked: HostCall, said: &mut Vec<Say>) {
        let call = self.call_of(module);
        let refused = |reason: &str| HostAnswer::Refused { reason: reason.to_owned() };
        let answer = match (&asked.request, call) {
            (HostRequest::Prompt { .. }, Some(_)) => refused(IN_A_CALL),
            (HostRequest::Prompt { message }, None) => {
                let (profile, module, number) = (self.profile.clone(), module.to_owned(), asked.id);
                let message = message.clone();
                said.push(Say::Heard(ModulesReported::Prompts { profile, module: module.clone(), number, message }));
                self.prompts.insert((module, number), asked);
                return;
            }
            (_, None) => refused(FILES_AND_SERVERS),
            (request, Some(key)) => match call_for(&self.folder, request) {
                Ok((tool, arguments)) => {
                    let call = Box::new(crate::mind::ToolCall::new("", tool, arguments));
                    said.push(Say::Outcome(key, ToolNews::Calls { number: asked.id, call }));
                    self.asked.insert((key, asked.id), (module.to_owned(), asked));
                    return;
                }
                Err(reason) => HostAnswer::Refused { reason },
            },
        };
        self.set.answer(module, &asked, answer);
    }

    fn order(&mut self, module: &str, order: ModuleCommand, what: For) {
        if let Some(number) = self.set.order(module, order) {
            self.ordered.insert((module.to_owned(), number), what);
        }
    }

    /// The call that a module is executing.
    fn call_of(&self, module: &str) -> Option<OrderKey> {
        let mut own = self.ordered.iter().filter(|((file, _), _)| file == module);
        own.find_map(|(_, what)| if let For::Call(key) = what { Some(*key) } else { None })
    }

    fn fails(&mut self, module: &str, why: &str) {
        let path = path_of(&self.folder, module);
        let problem = Problem::error(path, format!("the module is ignored: {why}"), "fix it to have it loaded again");
        self.failed.insert(module.to_owned(), problem);
    }

    /// Their present descriptions, if they have changed: of those that have reported, whatever the others do.
    fn news(&mut self) -> Option<ModulesReported> {
        let gone = |(file, state): (&str, &ModuleState)| match state {
            ModuleState::LeftOut(failure) if !self.failed.contains_key(file) => {
                Some((file.to_owned(), failure.text.clone()))
            }
            _ => None,
        };
        let gone: Vec<(String, String)> = self.set.states().filter_map(gone).collect();
        for (file, why) in gone {
            self.fails(&file, &why);
        }
        let mut modules = Vec::new();
        for (file, state) in self.set.states() {
            match state {
                ModuleState::Ready(described) if !self.failed.contains_key(file) => {
                    let Some(words) = self.words.get(file) else { continue };
                    modules.push(ReportedModule {
                        file: file.to_owned(),
                        name: described.name.clone(),
                        tools: described.tools.iter().map(described_tool).collect(),
                        words: words.clone(),
                    });
                }
                _ => {}
            }
        }
        let problems = self.unreadable.iter().chain(self.failed.values()).cloned().collect();
        let now = ModulesReported::Are { profile: self.profile.clone(), modules, problems };
        let is_nothing = |news: &ModulesReported| matches!(news, ModulesReported::Are { modules, problems, .. } if modules.is_empty() && problems.is_empty());
        if self.told.as_ref().map_or_else(|| is_nothing(&now), |told| *told == now) {
            return None;
        }
        self.told = Some(now.clone());
        Some(now)
    }
}

/// The path of a module's file in the workspace, by the folder that is its agent: empty where that is the workspace.
fn path_of(folder: &str, file: &str) -> String {
    if folder.is_empty() { format!("{FOLDER}{file}") } else { format!("{folder}/{FOLDER}{file}") }
}

fn described_tool(tool: &crate::engine::ModuleTool) -> ReportedTool {
    let parameters = match &tool.parameters {
        Value::Object(_) => tool.parameters.clone(),
        _ => Value::Object(Map::from_iter([("type".to_owned(), Value::from("object"))])),
    };
    ReportedTool { name: tool.name.clone(), description: tool.description.clone(), parameters }
}
