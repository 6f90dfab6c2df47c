//! Approvals of work, and work that cannot continue without a person. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::activation::{Activation, CallProgress, Phase};
use super::command::KernelCommand;
use super::core::Kernel;
use crate::base::hash::content_hash;
use crate::base::{ActivationKey, AllowScope, AnsweredIn, Id, TimeLimit};
use crate::gate::commands::ALLOWLIST_FILE;
use crate::gate::{GateContext, GatePolicy, Risk, RiskLevel, ask_rules};
use crate::gateway::mcp::{FormField, McpElicitation};
use crate::mind::ToolCall;
use crate::tools::{Preview, call_hash};
use crate::workspace::{SettingsEdit, SettingsSection};

/// Names one question to a person, for ever: of which work, in which turn, about which call of it, and a part of the
/// hash of the work's id and the call, so that an answer is never taken for one to another call or in another run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalId(String);

impl ApprovalId {
    /// `number` distinguishes the questions that a server asks during a call; 0 is whether the call may happen.
    fn new(activation: ActivationKey, turn: u32, call: usize, asked: &ToolCall, number: u64) -> Self {
        let hash = call_hash(asked) ^ content_hash(activation.id().as_bytes());
        let hash = hash.wrapping_add(number.wrapping_mul(0x9e37_79b1));
        Self(format!("{}-{turn}-{call}-{:08x}", activation.number(), hash & 0xffff_ffff))
    }

    /// The id that a person typed or a file is named by, if it has the shape of one.
    pub fn parse(word: &str) -> Option<Self> {
        let parts: Vec<&str> = word.split('-').collect();
        let [numbers @ .., hash] = parts.as_slice() else { return None };
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        // Older versions gave four.
        let is_hash = matches!(hash.len(), 4 | 8) && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (numbers.len() == 3 && numbers.iter().all(is_number) && word.len() <= 64 && is_hash)
            .then(|| Self(word.to_owned()))
    }

    /// As it is typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A question to a person about a tool call.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Approval {
    /// Names it.
    pub id: ApprovalId,
    /// Of which piece of work.
    pub activation: ActivationKey,
    /// In which turn of it.
    pub turn: u32,
    /// Which call of the turn.
    pub call: usize,
    /// Who wants it, by id.
    pub agent: Id,
    /// The profile that it runs.
    pub profile: Id,
    /// The task that it is for.
    pub task: String,
    /// The tool.
    pub tool: String,
    /// What it is to be called with.
    pub arguments: serde_json::Value,
    /// What would happen, and why that is asked.
    pub what: String,
    /// What its agent wants to do, so that it reads on behind "wants to"; empty where an older version asked.
    pub wants: String,
    /// Why that is asked, as a clause about the agent.
    pub because: String,
    /// What the agent, and whom it starts, might do until its task is over, where that can be allowed.
    pub for_task: Option<String>,
    /// The rules that would be written into the settings, where it can be allowed for good.
    pub always: Vec<String>,
    /// The rule for commands that would be written, where every command of a pattern can be allowed for good.
    pub pattern: Option<String>,
    /// How much may go wrong with it, and why.
    pub risk: Risk,
    /// What an MCP server asks in the middle of a call, where it is that and not whether the call may happen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_server: Option<Box<McpElicitation>>,
}

impl Approval {
    /// Which question of the kernel it is.
    pub fn key(&self) -> QuestionKey {
        (self.activation, self.turn, self.call, self.of_server.as_ref().map_or(0, |question| question.number))
    }

    /// The decision about this call alone, as it enters the room.
    pub fn decide(&self, allow: bool) -> KernelCommand {
        self.answer(allow, AllowScope::Once, None)
    }

    /// The decision as it enters the room: how far it reaches that it may, and what the person says of it.
    pub fn answer(&self, allow: bool, scope: AllowScope, because: Option<String>) -> KernelCommand {
        let scope = if allow { scope } else { AllowScope::Once };
        let (activation, turn, call) = (self.activation, self.turn, self.call);
        KernelCommand::Decide {
            activation,
            turn,
            call,
            allow,
            scope,
            because,
            form: Map::new(),
            answered_in: AnsweredIn::Window,
        }
    }

    /// The answer with what the person filled into the form, which has been looked through.
    pub fn fill(&self, form: Map<String, Value>, because: Option<String>) -> KernelCommand {
        let (activation, turn, call) = (self.activation, self.turn, self.call);
        let answered_in = AnsweredIn::Window;
        let scope = AllowScope::Once;
        KernelCommand::Decide { activation, turn, call, allow: true, scope, because, form, answered_in }
    }

    /// What a person filled in as text, by field, as a form.
    pub fn form_of(&self, fields: BTreeMap<String, String>) -> Map<String, Value> {
        fields.into_iter().map(|(field, value)| (field, value.into())).collect()
    }

    /// What a person fills in with a yes; nothing where a yes is all.
    pub fn fields(&self) -> &[FormField] {
        self.of_server.as_ref().map_or(&[], |question| &question.fields)
    }

    /// Why a yes with this filled in cannot be taken; nothing where it can.
    pub fn misfit(&self, form: &Map<String, Value>) -> Option<String> {
        match &self.of_server {
            Some(question) => question.content(form).err(),
            None => (!form.is_empty()).then(|| "there is no form to fill in".to_owned()),
        }
    }

    /// What is written into the settings where it is allowed for good.
    pub fn for_good(&self) -> SettingsEdit {
        SettingsEdit::add(GatePolicy::NAME, "allow", json!({ (&*self.profile): self.always }))
    }

    /// Whether this decides it.
    pub fn is_decided_by(&self, command: &KernelCommand) -> bool {
        matches!(command, KernelCommand::Decide { activation, turn, call, .. }
            if (*activation, *turn, *call) == (self.activation, self.turn, self.call))
    }

    /// Who wants what, in one sentence.
    pub fn sentence(&self, name: &str) -> String {
        match self.wants.as_str() {
            "" => format!("{name} asks before {}", self.what),
            wants => format!("{name} wants to {wants}"),
        }
    }

    /// Why that is asked, as a sentence; empty where it is not said.
    pub fn reason(&self) -> String {
        if self.because.is_empty() { String::new() } else { format!("Because {}.", self.because) }
    }

    /// How much may go wrong with it, as a sentence; empty where that is little.
    pub fn warning(&self) -> String {
        if self.risk.level == RiskLevel::Low { String::new() } else { format!("Risk {}.", self.risk.summary()) }
    }

    /// How far it may reach that this is allowed, with what that means, this once first.
    pub fn scopes(&self, name: &str) -> Vec<(AllowScope, String)> {
        let for_task = self.for_task.as_ref().map(|doing| {
            let told = format!("Until this task ends, {name} and agents that it starts may {doing} with {}", self.tool);
            (AllowScope::Task, told)
        });
        let limits = [(TimeLimit::HOUR, "For one hour"), (TimeLimit::DAY, "Until the end of the day")];
        let until = limits.into_iter().filter_map(|(limit, how_long)| {
            let doing = self.for_task.as_ref()?;
            let told = format!(
                "{how_long}, {name} and agents that it starts may {doing} with {}, in every \
                task",
                self.tool
            );
            Some((AllowScope::Until(limit), told))
        });
        let pattern = self.pattern.as_ref().map(|pattern| {
            let told = format!(
                "Every agent that may run commands may run {pattern:?} with any arguments that start no other \
                    program. Adds to {ALLOWLIST_FILE}: {pattern}: true"
            );
            (AllowScope::Pattern, told)
        });
        let always = (!self.always.is_empty()).then(|| {
            let rules = self.always.join(", ");
            (AllowScope::Always, format!("Adds to settings.yaml: gate.allow.{}: {rules}", self.profile))
        });
        let once = (AllowScope::Once, "Only this call".to_owned());
        std::iter::once(once).chain(for_task).chain(until).chain(pattern).chain(always).collect()
    }

    /// Whether this request can be allowed for this scope.
    pub fn may_reach(&self, scope: AllowScope) -> bool {
        match scope {
            AllowScope::Once => true,
            AllowScope::Task | AllowScope::Until(_) => self.for_task.is_some(),
            AllowScope::Pattern => self.pattern.is_some(),
            AllowScope::Always => !self.always.is_empty(),
        }
    }
}

/// What a person must do before work can go on.
#[derive(Clone, PartialEq, Debug)]
pub enum Hold {
    /// Answer a question.
    Approval(Box<Approval>),
    /// Resume an agent that a person paused.
    AgentPaused(Id),
}

impl Activation {
    /// What a person is asked about it, if one is.
    pub fn approval(&self) -> Option<Approval> {
        let (index, asked, what) = self.question()?;
        let question = self.current_call().and_then(|(_, call)| call.question.as_deref().cloned()).unwrap_or_default();
        let for_task = ask_rules::for_task(&question.rules);
        Some(Approval {
            id: ApprovalId::new(
                self.key,
                self.turn,
                index,
                asked,
                question.of_server.as_ref().map_or(0, |one| one.number),
            ),
            activation: self.key,
            turn: self.turn,
            call: index,
            agent: self.agent.clone(),
            profile: self.profile.clone(),
            task: self.input.clone(),
            tool: asked.name.clone(),
            arguments: asked.arguments.clone(),
            what: what.to_owned(),
            wants: question.wants,
            because: question.because,
            for_task: for_task.map(|granted| ask_rules::granted_words(&granted)),
            always: ask_rules::for_good(&asked.name, &question.rules).unwrap_or_default(),
            pattern: ask_rules::pattern(&question.rules),
            risk: Risk::of(&question.rules, question.of_server.is_some()),
            of_server: question.of_server,
        })
    }

    /// What would happen if that were allowed.
    pub fn preview(&self, there: &dyn GateContext) -> Option<Preview> {
        let (_, call) = self.current_call()?;
        let asked = &call.call;
        Some(match &call.plan {
            Some(plan) => Preview::of(plan, &asked.arguments, there),
            None => Preview::arguments(&asked.arguments),
        })
    }

    /// Whether an external reply is outstanding: from a model, or from the executor of a call.
    pub(super) fn is_under_way(&self) -> bool {
        let runs = |call: &super::activation::Call| call.progress == CallProgress::Running;
        self.phase == Phase::Asking || self.current_call().is_some_and(|(_, call)| runs(call))
    }
}

/// Which question of which piece of work: its turn, its call, and of those that a server asks during a call which one.
pub type QuestionKey = (ActivationKey, u32, usize, u64);

impl Kernel {
    /// Names every question to a person that is open, without what is asked: for whoever only has to know whether there
    /// are others than before.
    pub fn open_questions(&self) -> impl Iterator<Item = QuestionKey> {
        self.activations().filter_map(|one| {
            let (index, ..) = one.question()?;
            let question = one.current_call().and_then(|(_, call)| call.question.as_deref());
            let number = question.and_then(|question| question.of_server.as_ref()).map_or(0, |one| one.number);
            Some((one.key, one.turn, index, number))
        })
    }

    /// What a person is asked, the oldest first.
    pub fn approvals(&self) -> impl Iterator<Item = Approval> {
        self.activations().filter_map(Activation::approval)
    }

    /// What a person must do before any of these pieces of work can go on; nothing where one of them can go on by
    /// itself, and nothing where there are none. A piece that waits for another one of its agent is held by what
    /// holds that.
    pub fn held_by(&self, among: impl Fn(&Activation) -> bool, is_paused: impl Fn(&Id) -> bool) -> Vec<Hold> {
        let begun: BTreeMap<&Id, &Activation> =
            self.activations().filter(|one| one.has_begun()).map(|one| (&one.agent, one)).collect();
        let hold_of = |one: &Activation| match one.approval() {
            Some(approval) => Some(Hold::Approval(Box::new(approval))),
            None if is_paused(&one.agent) && !one.is_under_way() => Some(Hold::AgentPaused(one.agent.clone())),
            None => None,
        };
        let (mut holds, mut told) = (Vec::new(), BTreeSet::new());
        for one in self.activations().filter(|one| among(one)) {
            let before = begun.get(&one.agent).copied().filter(|_| !one.has_begun()).unwrap_or(one);
            let Some(hold) = hold_of(before) else { return Vec::new() };
            if told.insert(before.key) {
                holds.push(hold);
            }
        }
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::{AgentKey, Seq};
    use crate::kernel::{KernelSettings, NewWork};
    use crate::mind::WorkReply;
    use crate::simulation::ActivityId;

    /// A kernel in which this agent works at a task with this key, and has called a tool.
    fn calls(kernel: &mut Kernel, key: u64, agent: &str) {
        queue(kernel, key, agent);
        kernel.present(&agent.into(), AgentKey(key as u32));
        let settings = KernelSettings::default();
        kernel.step(1, &settings, |_| false);
        kernel.ready(ActivationKey::numbered(key), ActivityId(1));
        kernel.step(2, &settings, |_| false);
        let call = ToolCall::new("c", "vfs_write", json!({ "path": "artifacts/a.md" }));
        let reply = WorkReply { tool_calls: vec![call], ..WorkReply::default() };
        kernel.replied(ActivationKey::numbered(key), 1, reply, &settings);
        kernel.step(3, &settings, |_| false);
    }

    fn queue(kernel: &mut Kernel, key: u64, agent: &str) {
        kernel.start(NewWork {
            key: ActivationKey::numbered(key),
            agent: agent.into(),
            profile: agent.into(),
            file_name: format!("{agent}.md"),
            input: format!("task {key}"),
            priority: 0,
            now: 0,
            cause: Seq(1),
        });
    }

    fn nobody_paused(_: &Id) -> bool {
        false
    }

    #[test]
    fn an_answer_fits_one_question_only() {
        let mut kernel = Kernel::default();
        calls(&mut kernel, 7, "lead");
        assert!(kernel.approvals().next().is_none());
        assert!(kernel.ask_person(ActivationKey::numbered(7), 1, 0, "write artifacts/a.md".into()));
        let approval = kernel.approvals().next().expect("it should ask");
        assert_eq!((&*approval.agent, approval.task.as_str(), approval.tool.as_str()), ("lead", "task 7", "vfs_write"));
        assert_eq!(ApprovalId::parse(approval.id.as_str()), Some(approval.id.clone()));
        let other = ToolCall::new("c", "vfs_write", json!({ "path": "settings.yaml" }));
        assert_ne!(ApprovalId::new(ActivationKey::numbered(7), 1, 0, &other, 0), approval.id);
        for word in ["", "7", "7-1-0", "7-1-0-xyzw", "../7-1-0-abcd", "7-1-0-abcd/..", "-1-0-abcd", "7-1-0-ABCD"] {
            assert_eq!(ApprovalId::parse(word), None, "{word}");
        }
    }

    #[test]
    fn work_is_held_only_where_nothing_of_it_continues_by_itself() {
        let mut kernel = Kernel::default();
        calls(&mut kernel, 7, "lead");
        calls(&mut kernel, 8, "other");
        assert!(kernel.held_by(|_| true, nobody_paused).is_empty(), "both use a tool");
        kernel.ask_person(ActivationKey::numbered(7), 1, 0, "a".into());
        assert!(kernel.held_by(|_| true, nobody_paused).is_empty(), "one still does");
        assert_eq!(kernel.held_by(|one| one.key == ActivationKey::numbered(7), nobody_paused).len(), 1);
        kernel.ask_person(ActivationKey::numbered(8), 1, 0, "b".into());
        assert_eq!(kernel.held_by(|_| true, nobody_paused).len(), 2);
        assert!(kernel.held_by(|_| false, nobody_paused).is_empty());
    }

    #[test]
    fn a_later_task_of_the_same_agent_waits_for_the_same_answer() {
        let mut kernel = Kernel::default();
        calls(&mut kernel, 7, "lead");
        kernel.ask_person(ActivationKey::numbered(7), 1, 0, "a".into());
        queue(&mut kernel, 9, "lead");
        queue(&mut kernel, 10, "other");
        let held = kernel.held_by(|one| one.key == ActivationKey::numbered(9), nobody_paused);
        assert!(
            matches!(held.as_slice(), [Hold::Approval(approval)] if approval.activation == ActivationKey::numbered(7))
        );
        assert_eq!(kernel.held_by(|one| &*one.agent == "lead", nobody_paused).len(), 1, "it is said once");
        assert!(kernel.held_by(|one| one.key == ActivationKey::numbered(10), nobody_paused).is_empty());
        let paused = kernel.held_by(|one| one.key == ActivationKey::numbered(10), |agent| &**agent == "other");
        assert_eq!(paused, [Hold::AgentPaused("other".into())]);
    }
}
