//! The running modules of an agent: their pending orders, their requests, and their last report.

use std::any::Any;
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
use crate::tools::document_calls::{MAX_LINES_TOLD, call_for, host_answer};
use crate::tools::{CallAnswer, OrderKey, OrderReport};

/// Refusals of requests that a module makes outside of a call, in a call, and in a call that was stopped.
const FILES_AND_SERVERS: &str = "a module can only access files and servers during a call of one of its tools";
const IN_A_CALL: &str =
    "its agent is waiting for this call: prompt it from the background, or return what it should know";
const STOPPED: &str = "the call was stopped";

/// The maximum time that work waits for the prompt text of a module: longer than code may run without a break, so that
/// only a module that waits for something itself is late.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// The maximum time that modules get for ending.
const END_WITHIN: Duration = Duration::from_secs(5);

/// The maximum length of a logged line in characters.
const MAX_LINE_CHARS: usize = 2_000;

/// A call of a tool of a module. Whoever gave it hears that it was lost if this is dropped before it is reported.
pub(super) struct HeldCall {
    key: OrderKey,
    _reporter: Box<dyn Any + Send + Sync>,
}

impl HeldCall {
    pub(super) fn new(key: OrderKey, reporter: impl Any + Send + Sync) -> Self {
        Self { key, _reporter: Box::new(reporter) }
    }
}

/// The purpose of an order to a module.
enum OrderPurpose {
    /// Starting its background work.
    Start,
    /// Getting its prompt text.
    PromptText,
    /// Getting its prompt text after this call, which may have changed it.
    TextAfterCall(OrderKey),
    /// A call of one of its tools, held until it is answered, and the number of lines reported as progress so far.
    Call(HeldCall, usize),
    /// A call whose result is no longer wanted.
    Withdrawn,
}

impl OrderPurpose {
    /// The call, if it is one whose result is wanted.
    fn call(&self) -> Option<OrderKey> {
        match self {
            Self::Call(call, _) => Some(call.key),
            Self::Start | Self::PromptText | Self::TextAfterCall(_) | Self::Withdrawn => None,
        }
    }
}

/// A call that has ended and is reported once its module has returned its prompt text, so that the next prompt has it.
struct EndedCall {
    module: String,
    result: Result<String, String>,
    until: Instant,
    /// Held until it is reported.
    _held: HeldCall,
}

/// The modules whose prompt texts a piece of work lacks.
#[derive(Default)]
pub(super) struct MissingTexts {
    /// Those that will answer.
    pub(super) awaited: Vec<String>,
    /// Those that cannot answer before the work continues, because they wait for it.
    pub(super) blocked: Vec<String>,
}

/// Work that waits for the prompt texts of modules.
#[derive(Default)]
struct PromptTextWait {
    /// The modules that are still to be asked: they are being loaded, or have too many orders.
    unasked: BTreeSet<String>,
    /// The modules that were asked, with the numbers of the orders.
    orders: BTreeSet<(String, u64)>,
    /// The modules that wait for this work.
    blocked: BTreeSet<String>,
}

/// The modules of one agent.
pub(super) struct OpenModules {
    profile: Id,
    /// The folder of the agent.
    folder: String,
    set: ModuleSet,
    /// The pending orders, by module and number.
    ordered: BTreeMap<(String, u64), OrderPurpose>,
    /// The requests that wait for an answer from the world, by call and number.
    open_requests: BTreeMap<(OrderKey, u64), (String, HostCall)>,
    /// The prompts that wait for an answer, by module and number.
    prompts: BTreeMap<(String, u64), HostCall>,
    prompt_text_waits: BTreeMap<ActivationKey, PromptTextWait>,
    ended_calls: BTreeMap<OrderKey, EndedCall>,
    /// What is reported the next time.
    unsent: Vec<ModuleOutput>,
    /// The prompt texts, by module.
    prompt_texts: BTreeMap<String, String>,
    log: BTreeMap<String, LogAllowance>,
    /// The time after which the room no longer waits for modules that are ending.
    ends_until: Option<Instant>,
    failed: BTreeMap<String, Problem>,
    /// The problems of files that could not be read.
    unreadable: Vec<Problem>,
    last_report: Option<ModulesReported>,
}

/// An output of modules to the world.
pub(super) enum ModuleOutput {
    Report(ModulesReported),
    Outcome(OrderKey, OrderReport),
}

impl OpenModules {
    /// Creates the modules of an agent from a loaded set.
    pub(super) fn new(profile: Id, folder: String, files: &ModuleFolder, set: ModuleSet) -> Self {
        let path = |file: &str| path_of(&folder, file);
        let told = files.problems.iter().map(|told| problem_of(&path(&told.path), &told.problem));
        let unreadable = told.collect();
        Self {
            profile,
            folder,
            set,
            ordered: BTreeMap::new(),
            open_requests: BTreeMap::new(),
            prompts: BTreeMap::new(),
            prompt_text_waits: BTreeMap::new(),
            ended_calls: BTreeMap::new(),
            unsent: Vec::new(),
            prompt_texts: BTreeMap::new(),
            log: BTreeMap::new(),
            ends_until: None,
            failed: BTreeMap::new(),
            unreadable,
            last_report: None,
        }
    }

    /// Whether any module has not described itself yet.
    pub(super) fn is_loading(&self) -> bool {
        self.set.states().any(|(file, state)| match state {
            ModuleState::Loading => true,
            ModuleState::Ready(_) => !self.prompt_texts.contains_key(file) && !self.failed.contains_key(file),
            ModuleState::LeftOut(_) => false,
        })
    }

    /// Ends the modules in reverse order. From now on, only their log lines and the results of ended calls are used.
    /// Returns the calls that get no result any more.
    pub(super) fn end(&mut self) -> Vec<OrderKey> {
        let ended = std::mem::take(&mut self.ended_calls).into_iter();
        self.unsent.extend(ended.map(|(key, call)| ModuleOutput::Outcome(key, OrderReport::ended(call.result))));
        self.set.end();
        self.ends_until = Some(Instant::now() + END_WITHIN);
        self.prompt_text_waits.clear();
        std::mem::take(&mut self.ordered).values().filter_map(OrderPurpose::call).collect()
    }

    /// Whether the modules have ended, or the time for ending has passed.
    pub(super) fn has_ended(&self) -> bool {
        self.set.has_ended() || self.ends_until.is_some_and(|until| Instant::now() > until)
    }

    /// Drops the result of a call and refuses its requests. The module goes on with it, because only the module itself
    /// could stop it.
    pub(super) fn withdraw(&mut self, key: OrderKey) {
        self.ended_calls.remove(&key);
        for what in self.ordered.values_mut().filter(|what| what.call() == Some(key)) {
            *what = OrderPurpose::Withdrawn;
        }
        for (_, (module, asked)) in self.open_requests.extract_if(.., |(call, _), _| *call == key) {
            self.set.answer(&module, &asked, HostAnswer::Refused { reason: STOPPED.to_owned() });
        }
    }

    /// Requests the prompt texts for a piece of work that begins, of modules that are being loaded as soon as they are.
    /// Returns the modules that have not answered yet.
    pub(super) fn missing_prompt_texts(&mut self, work: ActivationKey) -> MissingTexts {
        let mut wait = self.prompt_text_waits.remove(&work).unwrap_or_else(|| PromptTextWait {
            unasked: self.set.states().map(|(file, _)| file.to_owned()).collect(),
            ..PromptTextWait::default()
        });
        for file in std::mem::take(&mut wait.unasked) {
            let state = self.set.states().find(|(module, _)| *module == file).map(|(_, state)| state);
            let (is_loading, is_ready) =
                (matches!(state, Some(ModuleState::Loading)), matches!(state, Some(ModuleState::Ready(_))));
            if self.failed.contains_key(&file) || !(is_loading || is_ready) {
                continue;
            }
            if is_loading && self.prompts.keys().any(|(module, _)| *module == file) {
                wait.blocked.insert(file);
            } else if is_ready
                && let Some(number) = self.order(&file, ModuleCommand::SystemPrompt, OrderPurpose::PromptText)
            {
                wait.orders.insert((file, number));
            } else {
                wait.unasked.insert(file);
            }
        }
        wait.orders.retain(|order| self.ordered.contains_key(order));
        let (blocked, asked): (BTreeSet<_>, _) = wait.orders.into_iter().partition(|order| self.prompts_within(order));
        wait.orders = asked;
        wait.blocked.extend(blocked.into_iter().map(|(file, _)| file));
        let asked = wait.orders.iter().map(|(file, _)| file);
        let awaited = wait.unasked.iter().chain(asked).cloned().collect();
        let missing = MissingTexts { awaited, blocked: wait.blocked.iter().cloned().collect() };
        self.prompt_text_waits.insert(work, wait);
        missing
    }

    /// Whether an order waits for an answer of the agent.
    fn prompts_within(&self, (file, number): &(String, u64)) -> bool {
        self.prompts.iter().any(|((module, _), prompt)| module == file && prompt.order == *number)
    }

    /// Forgets the requests for this work.
    pub(super) fn drop_waits(&mut self, is_over: impl Fn(ActivationKey) -> bool) {
        self.prompt_text_waits.retain(|work, _| !is_over(*work));
    }

    /// Passes a tool call to its module. Returns `None` if the module is still loading. The error says why it cannot
    /// be called.
    pub(super) fn call(&mut self, call: &ModuleCall, held: HeldCall) -> Option<Result<(), String>> {
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
        self.ordered.insert((call.module.clone(), number), OrderPurpose::Call(held, 0));
        Some(Ok(()))
    }

    /// Sends a module the result of a call that it made.
    pub(super) fn send_answer(&mut self, key: OrderKey, number: u64, answer: &CallAnswer) {
        let Some((module, asked)) = self.open_requests.remove(&(key, number)) else { return };
        self.set.answer(&module, &asked, host_answer(&asked.request, answer));
    }

    /// Sends a module its agent's answer to a prompt.
    pub(super) fn answer_prompt(&mut self, module: &str, number: u64, answer: &Result<String, String>) {
        let Some(asked) = self.prompts.remove(&(module.to_owned(), number)) else { return };
        let answer = match answer {
            Ok(text) => HostAnswer::Text { text: text.clone() },
            Err(reason) => HostAnswer::Refused { reason: reason.clone() },
        };
        self.set.answer(module, &asked, answer);
    }

    /// Removes and returns the outputs of the modules.
    pub(super) fn take_messages(&mut self) -> Vec<ModuleOutput> {
        let mut outputs = std::mem::take(&mut self.unsent);
        for ModuleEvent { module, news } in self.set.poll() {
            match news {
                ModuleMessage::Loaded(Ok(_)) => {
                    self.order(&module, ModuleCommand::SystemPrompt, OrderPurpose::PromptText);
                }
                ModuleMessage::Loaded(Err(failure)) => self.mark_failed(&module, &failure.text),
                ModuleMessage::Done { order, result } => {
                    let what = self.ordered.remove(&(module.clone(), order));
                    self.finish_order(&module, what, result.map_err(|failure| failure.text), &mut outputs);
                }
                ModuleMessage::Asks(asked) => self.handle_request(&module, asked, &mut outputs),
                ModuleMessage::Logged { order, line } => outputs.extend(self.logged(module, order, line)),
                ModuleMessage::Ended(failure) => self.mark_failed(&module, &failure.text),
            }
        }
        if self.ends_until.is_none() {
            outputs.extend(self.changed_report().map(ModuleOutput::Report));
            self.report_overdue_calls(&mut outputs);
        }
        outputs
    }

    /// Handles a logged line: during a call it is reported as progress, otherwise it is logged within the module's
    /// allowance.
    fn logged(&mut self, module: String, order: u64, line: LogLine) -> Option<ModuleOutput> {
        if let Some(OrderPurpose::Call(call, lines)) = self.ordered.get_mut(&(module.clone(), order)) {
            *lines += 1;
            let is_reported = *lines <= MAX_LINES_TOLD;
            return is_reported.then(|| ModuleOutput::Outcome(call.key, OrderReport::Progress { text: line.text }));
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
        let line = ModuleLogged { module, level, text: truncate(&text, MAX_LINE_CHARS) };
        Some(ModuleOutput::Report(ModulesReported::Logged { profile: self.profile.clone(), line }))
    }

    fn finish_order(
        &mut self,
        module: &str,
        what: Option<OrderPurpose>,
        result: Result<String, String>,
        outputs: &mut Vec<ModuleOutput>,
    ) {
        match (what, result) {
            (Some(OrderPurpose::Call(call, _)), result) => {
                let key = call.key;
                self.open_requests.retain(|(call, _), _| *call != key);
                let until = Instant::now() + ANSWER_WITHIN;
                let ended = EndedCall { module: module.to_owned(), result, until, _held: call };
                self.ended_calls.insert(key, ended);
                let asked = self.order(module, ModuleCommand::SystemPrompt, OrderPurpose::TextAfterCall(key));
                if asked.is_none() {
                    self.report_call(key, outputs);
                }
            }
            (Some(OrderPurpose::Withdrawn), _) => {
                // The call may have changed its prompt text.
                self.order(module, ModuleCommand::SystemPrompt, OrderPurpose::PromptText);
            }
            (Some(OrderPurpose::TextAfterCall(key)), text) => {
                self.take_prompt_text(module, text);
                self.report_call(key, outputs);
            }
            (Some(OrderPurpose::PromptText), text) => self.take_prompt_text(module, text),
            (Some(OrderPurpose::Start), Err(why)) => self.mark_failed(module, &why),
            (Some(OrderPurpose::Start) | None, _) => {}
        }
    }

    fn take_prompt_text(&mut self, module: &str, text: Result<String, String>) {
        match text {
            // The background work is started only now, because it may prompt the agent, which must have the module's
            // tools by then.
            Ok(text) => {
                if self.prompt_texts.insert(module.to_owned(), text).is_none() {
                    self.order(module, ModuleCommand::Start, OrderPurpose::Start);
                }
            }
            Err(why) => self.mark_failed(module, &why),
        }
    }

    /// Reports a call that has ended, unless that was done.
    fn report_call(&mut self, key: OrderKey, outputs: &mut Vec<ModuleOutput>) {
        let ended = self.ended_calls.remove(&key);
        outputs.extend(ended.map(|ended| ModuleOutput::Outcome(key, OrderReport::ended(ended.result))));
    }

    /// Reports the calls whose modules take too long to return their prompt texts, and says so.
    fn report_overdue_calls(&mut self, outputs: &mut Vec<ModuleOutput>) {
        let now = Instant::now();
        let overdue = self.ended_calls.iter().filter(|(_, ended)| now > ended.until);
        for (key, module) in overdue.map(|(key, ended)| (*key, ended.module.clone())).collect::<Vec<_>>() {
            let (profile, modules) = (self.profile.clone(), vec![module]);
            outputs.push(ModuleOutput::Report(ModulesReported::Late { profile, modules }));
            self.report_call(key, outputs);
        }
    }

    fn handle_request(&mut self, module: &str, asked: HostCall, outputs: &mut Vec<ModuleOutput>) {
        let order = self.ordered.get(&(module.to_owned(), asked.order));
        let (call, is_withdrawn) = (order.and_then(OrderPurpose::call), matches!(order, Some(OrderPurpose::Withdrawn)));
        let refused = |reason: &str| HostAnswer::Refused { reason: reason.to_owned() };
        let answer = match (&asked.request, call) {
            _ if self.ends_until.is_some() => refused("the module is being stopped"),
            _ if is_withdrawn => refused(STOPPED),
            (HostRequest::Prompt { .. }, Some(_)) => refused(IN_A_CALL),
            (HostRequest::Prompt { message }, None) => {
                let (profile, module, number) = (self.profile.clone(), module.to_owned(), asked.id);
                let message = message.clone();
                outputs.push(ModuleOutput::Report(ModulesReported::Prompts {
                    profile,
                    module: module.clone(),
                    number,
                    message,
                }));
                self.prompts.insert((module, number), asked);
                return;
            }
            (_, None) => refused(FILES_AND_SERVERS),
            (request, Some(key)) => match call_for(&self.folder, request) {
                Ok((tool, arguments)) => {
                    let call = Box::new(crate::mind::ToolCall::new("", tool, arguments));
                    outputs.push(ModuleOutput::Outcome(key, OrderReport::Calls { number: asked.id, call }));
                    self.open_requests.insert((key, asked.id), (module.to_owned(), asked));
                    return;
                }
                Err(reason) => HostAnswer::Refused { reason },
            },
        };
        self.set.answer(module, &asked, answer);
    }

    fn order(&mut self, module: &str, order: ModuleCommand, what: OrderPurpose) -> Option<u64> {
        let number = self.set.order(module, order)?;
        self.ordered.insert((module.to_owned(), number), what);
        Some(number)
    }

    fn mark_failed(&mut self, module: &str, why: &str) {
        let path = path_of(&self.folder, module);
        let problem = Problem::error(path, format!("the module is ignored: {why}"), "fix it, and it is loaded again");
        self.failed.insert(module.to_owned(), problem);
    }

    /// A report of the modules' current descriptions, if they have changed. It covers the modules that have described
    /// themselves so far.
    fn changed_report(&mut self) -> Option<ModulesReported> {
        let gone = |(file, state): (&str, &ModuleState)| match state {
            ModuleState::LeftOut(failure) if !self.failed.contains_key(file) => {
                Some((file.to_owned(), failure.text.clone()))
            }
            _ => None,
        };
        let gone: Vec<(String, String)> = self.set.states().filter_map(gone).collect();
        for (file, why) in gone {
            self.mark_failed(&file, &why);
        }
        let mut modules = Vec::new();
        for (file, state) in self.set.states() {
            match state {
                ModuleState::Ready(described) if !self.failed.contains_key(file) => {
                    let Some(words) = self.prompt_texts.get(file) else { continue };
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
        if self.last_report.as_ref().map_or_else(|| is_nothing(&now), |told| *told == now) {
            return None;
        }
        self.last_report = Some(now.clone());
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
