//! The running modules of one agent: pending orders of each, their requests, and what they reported last.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::log_allowance::{Allowed, LogAllowance};
use super::{ModuleCall, ModuleLogged, ModulesReported, ReportedModule, ReportedTool, path_of};
use crate::agent::mdx_file::problem_of;
use crate::base::text::truncate;
use crate::base::{ActivationKey, Id, Problem};
use crate::engine::{HostAnswer, HostCall, HostRequest, LogLine, ModuleCommand, ModuleMessage};
use crate::modules::{ModuleEvent, ModuleFolder, ModuleSet, ModuleState};
use crate::tools::document_calls::{LINES_TOLD_AT_MOST, answer_for, call_for};
use crate::tools::{CallAnswer, OrderKey, ToolNews, ToolOutput};

/// The answer to a module that requests something outside of a call, or prompts its agent within one.
const FILES_AND_SERVERS: &str = "a module can only access files and servers during a call of one of its tools";
const IN_A_CALL: &str =
    "its agent is waiting for this call: prompt it from the background, or return what it should know";

/// How long work that begins waits for what modules add to its prompts, at most.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// How long modules that are being ended may take for it, at most.
const END_WITHIN: Duration = Duration::from_secs(5);

/// Longer lines of modules are cut.
const LINE_CHARS_AT_MOST: usize = 2_000;

/// What an order to a module is for.
enum For {
    /// Beginning its work in the background.
    Start,
    /// What it adds to prompts.
    Words,
    /// A call of one of its tools, and how many lines of it were told.
    Call(OrderKey, usize),
}

/// Work that waits for what modules add to its prompts.
struct Asking {
    /// The modules that were asked, each with the number of the order.
    asked: BTreeSet<(String, u64)>,
    until: Instant,
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
    asking: BTreeMap<ActivationKey, Asking>,
    words: BTreeMap<String, String>,
    log: BTreeMap<String, LogAllowance>,
    /// When they are given up, where they are being ended.
    ends_until: Option<Instant>,
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
        let told = files.problems.iter().map(|told| problem_of(&path(&told.path), &told.problem));
        let unreadable = told.collect();
        Self {
            profile,
            folder,
            set,
            ordered: BTreeMap::new(),
            asked: BTreeMap::new(),
            prompts: BTreeMap::new(),
            asking: BTreeMap::new(),
            words: BTreeMap::new(),
            log: BTreeMap::new(),
            ends_until: None,
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

    /// Ends them, the last one first. What they say meanwhile is logged, and nothing else.
    pub(super) fn end(&mut self) {
        self.set.end();
        self.ends_until = Some(Instant::now() + END_WITHIN);
        self.ordered.clear();
        self.asking.clear();
    }

    /// Whether they have ended, or take too long for it.
    pub(super) fn has_ended(&self) -> bool {
        self.set.has_ended() || self.ends_until.is_some_and(|until| Instant::now() > until)
    }

    /// Whether a call is with one of them.
    pub(super) fn has(&self, key: OrderKey) -> bool {
        self.ordered.values().any(|what| matches!(what, For::Call(call, _) if *call == key))
    }

    /// Asks them what they add to the prompts of a piece of work that begins. Those that are too busy to hear it are
    /// not waited for.
    pub(super) fn ask(&mut self, work: ActivationKey) {
        let is_there = |(file, state): (&str, &ModuleState)| {
            let is_there = matches!(state, ModuleState::Ready(_)) && !self.failed.contains_key(file);
            is_there.then(|| file.to_owned())
        };
        let there: Vec<String> = self.set.states().filter_map(is_there).collect();
        let asked = there.into_iter().filter_map(|file| {
            let number = self.order(&file, ModuleCommand::SystemPrompt, For::Words)?;
            Some((file, number))
        });
        let asked = asked.collect();
        self.asking.insert(work, Asking { asked, until: Instant::now() + ANSWER_WITHIN });
    }

    /// Whether they are being asked for a piece of work.
    pub(super) fn is_asking(&self, work: ActivationKey) -> bool {
        self.asking.contains_key(&work)
    }

    /// Has a tool called. `None` where its module is not there yet; the error says why it never will be.
    pub(super) fn call(&mut self, key: OrderKey, call: &ModuleCall) -> Option<Result<(), String>> {
        let state = self.set.states().find(|(file, _)| *file == call.module).map(|(_, state)| state);
        if let Some(problem) = self.failed.get(&call.module) {
            return Some(Err(problem.what.clone()));
        }
        match state {
            None => return Some(Err(format!("the module {} no longer exists", call.module))),
            Some(ModuleState::LeftOut(failure)) => return Some(Err(failure.text.clone())),
            Some(ModuleState::Loading) => return None,
            Some(ModuleState::Ready(_)) => {}
        }
        let order = ModuleCommand::Tool { name: call.tool.clone(), arguments: call.arguments.clone() };
        let number = self.set.order(&call.module, order)?;
        self.ordered.insert((call.module.clone(), number), For::Call(key, 0));
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
                ModuleMessage::Loaded(Ok(_)) => {
                    self.order(&module, ModuleCommand::SystemPrompt, For::Words);
                }
                ModuleMessage::Loaded(Err(failure)) => self.fails(&module, &failure.text),
                ModuleMessage::Done { order, result } => {
                    let what = self.ordered.remove(&(module.clone(), order));
                    self.done(&module, what, result.map_err(|failure| failure.text), &mut said);
                }
                ModuleMessage::Asks(asked) => self.asks(&module, asked, &mut said),
                ModuleMessage::Logged { order, line } => said.extend(self.logged(module, order, line)),
                ModuleMessage::Ended(failure) => self.fails(&module, &failure.text),
            }
        }
        if self.ends_until.is_none() {
            said.extend(self.news().map(Say::Heard));
            self.close_answered();
        }
        said
    }

    /// What becomes of a line: during a call it says how far that is, otherwise it is logged, as far as there is room.
    fn logged(&mut self, module: String, order: u64, line: LogLine) -> Option<Say> {
        if let Some(For::Call(key, told)) = self.ordered.get_mut(&(module.clone(), order)) {
            *told += 1;
            let is_told = *told <= LINES_TOLD_AT_MOST;
            return is_told.then(|| Say::Outcome(*key, ToolNews::Progress { text: line.text }));
        }
        let now = Instant::now();
        let allowance = self.log.entry(module.clone()).or_insert_with(|| LogAllowance::new(now));
        let LogLine { level, text } = match allowance.take(now) {
            Allowed::Yes => line,
            Allowed::FirstDropped => {
                let text = "it logs too much; some of its lines are dropped".to_owned();
                LogLine { level: "warning".to_owned(), text }
            }
            Allowed::Dropped => return None,
        };
        let line = ModuleLogged { module, level, text: truncate(&text, LINE_CHARS_AT_MOST) };
        Some(Say::Heard(ModulesReported::Logged { profile: self.profile.clone(), line }))
    }

    /// Forgets the work that need not wait any more.
    fn close_answered(&mut self) {
        if self.asking.is_empty() {
            return;
        }
        let now = Instant::now();
        let ordered = &self.ordered;
        let is_open = |one: &Asking| now < one.until && one.asked.iter().any(|asked| ordered.contains_key(asked));
        self.asking.retain(|_, one| is_open(one));
    }

    fn done(&mut self, module: &str, what: Option<For>, result: Result<String, String>, said: &mut Vec<Say>) {
        match (what, result) {
            (Some(For::Call(key, _)), result) => {
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
        let call = match self.ordered.get(&(module.to_owned(), asked.order)) {
            Some(For::Call(key, _)) => Some(*key),
            _ => None,
        };
        let refused = |reason: &str| HostAnswer::Refused { reason: reason.to_owned() };
        let answer = match (&asked.request, call) {
            _ if self.ends_until.is_some() => refused("the module is being stopped"),
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

    fn order(&mut self, module: &str, order: ModuleCommand, what: For) -> Option<u64> {
        let number = self.set.order(module, order)?;
        self.ordered.insert((module.to_owned(), number), what);
        Some(number)
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

fn described_tool(tool: &crate::engine::ModuleTool) -> ReportedTool {
    let parameters = match &tool.parameters {
        Value::Object(_) => tool.parameters.clone(),
        _ => Value::Object(Map::from_iter([("type".to_owned(), Value::from("object"))])),
    };
    ReportedTool { name: tool.name.clone(), description: tool.description.clone(), parameters }
}
