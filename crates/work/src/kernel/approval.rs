//! Approval requests for tool calls, and work that cannot continue without a person. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::activation::{Activation, CallProgress, Phase};
use super::approval_question::CallQuestion;
use super::command::KernelCommand;
use super::command_code::ChangedFile;
use super::core::Kernel;
use crate::base::hash::content_hash;
use crate::base::{ActivationKey, AllowScope, AnswerPlace, Id, TimeLimit};
use crate::gate::commands::{ALLOWLIST_FILE, EditedRule};
use crate::gate::{GateContext, GatePolicy, Risk, RiskLevel, ask_rules};
use crate::gateway::mcp::{FormField, McpElicitation};
use crate::mind::ToolCall;
use crate::tools::{Preview, call_hash};
use crate::workspace::{SettingsEdit, SettingsSection};

/// The permanent id of a question to a person. It contains the activation, turn and call numbers and part of a hash of
/// the activation's id and the call, so that an answer is never applied to another call or another run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ApprovalId(String);

impl ApprovalId {
    /// Builds the id. `number` distinguishes the questions that an MCP server asks during a call; 0 is the question
    /// whether the call may be carried out.
    fn new(activation: ActivationKey, turn: u32, call: usize, asked: &ToolCall, number: u64) -> Self {
        let hash = call_hash(asked) ^ content_hash(activation.id().as_bytes());
        let hash = hash.wrapping_add(number.wrapping_mul(0x9e37_79b1));
        Self(format!("{}-{turn}-{call}-{:08x}", activation.number(), hash & 0xffff_ffff))
    }

    /// Parses an id that a person typed or that a file name contains.
    pub fn parse(word: &str) -> Option<Self> {
        let parts: Vec<&str> = word.split('-').collect();
        let [numbers @ .., hash] = parts.as_slice() else { return None };
        let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        // Older versions used four digits.
        let is_hash = matches!(hash.len(), 4 | 8) && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        (numbers.len() == 3 && numbers.iter().all(is_number) && word.len() <= 64 && is_hash)
            .then(|| Self(word.to_owned()))
    }

    /// The id in the form in which it is typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A request to a person to approve a tool call or to answer its MCP server.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Approval {
    /// The id of the request.
    pub id: ApprovalId,
    /// The activation that made the call.
    pub activation: ActivationKey,
    /// The turn of the activation.
    pub turn: u32,
    /// The index of the call in the turn.
    pub call: usize,
    /// The id of the agent.
    pub agent: Id,
    /// The id of the profile that the agent uses.
    pub profile: Id,
    /// The task of the work.
    pub task: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: serde_json::Value,
    /// The effects of the call, and why approval is needed.
    pub what: String,
    /// The action of the call, as a phrase to follow "wants to"; empty in requests of older versions.
    pub wants: String,
    /// Why approval is needed, as a clause about the agent.
    pub because: String,
    /// The actions that a permission for the task would cover, for the agent and the agents that it starts; `None` if
    /// that scope is not available.
    pub for_task: Option<String>,
    /// The rules that would be added to the settings for a permanent permission, if that scope is available.
    pub always: Vec<String>,
    /// The command pattern that would be added to the allow list, if that scope is available.
    pub pattern: Option<String>,
    /// The command rule that would let the call run changed sources without asking, if that scope is available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<EditedRule>,
    /// The risk of the call, and its reasons.
    pub risk: Risk,
    /// How often a question about the same call was asked before, because the files that its command runs changed.
    #[serde(skip)]
    pub asked_before: u64,
    /// The files that the call would run and that are not as they were when they were last allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<ChangedFile>,
    /// The question that an MCP server asks during a call, instead of the question whether the call may be carried
    /// out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_server: Option<Box<McpElicitation>>,
}

impl Approval {
    /// The key of the question in the kernel.
    pub fn key(&self) -> QuestionKey {
        (
            self.activation,
            self.turn,
            self.call,
            self.of_server.as_ref().map_or(self.asked_before, |question| question.number),
        )
    }

    /// The command for a decision about this call only.
    pub fn decide(&self, allow: bool) -> KernelCommand {
        self.answer(allow, AllowScope::Once, None)
    }

    /// The command for a decision with a scope and the person's comment.
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
            answered_in: AnswerPlace::Window,
        }
    }

    /// The command for an approval with form values, which have been validated.
    pub fn fill(&self, form: Map<String, Value>, because: Option<String>) -> KernelCommand {
        let (activation, turn, call) = (self.activation, self.turn, self.call);
        let answered_in = AnswerPlace::Window;
        let scope = AllowScope::Once;
        KernelCommand::Decide { activation, turn, call, allow: true, scope, because, form, answered_in }
    }

    /// Converts form values entered as text, by field, to a form.
    pub fn form_of(&self, fields: BTreeMap<String, String>) -> Map<String, Value> {
        fields.into_iter().map(|(field, value)| (field, value.into())).collect()
    }

    /// The form fields that an approval has to fill in; empty if there are none.
    pub fn fields(&self) -> &[FormField] {
        self.of_server.as_ref().map_or(&[], |question| &question.fields)
    }

    /// Returns why an approval with this form is invalid, or `None` if it is valid.
    pub fn form_error(&self, form: &Map<String, Value>) -> Option<String> {
        match &self.of_server {
            Some(question) => question.content(form).err(),
            None => (!form.is_empty()).then(|| "there is no form to fill in".to_owned()),
        }
    }

    /// The settings edit that makes a permanent permission.
    pub fn permanent_permission_edit(&self) -> SettingsEdit {
        SettingsEdit::add(GatePolicy::NAME, "allow", json!({ (&*self.profile): self.always }))
    }

    /// Whether this command decides this request.
    pub fn is_decided_by(&self, command: &KernelCommand) -> bool {
        matches!(command, KernelCommand::Decide { activation, turn, call, .. }
            if (*activation, *turn, *call) == (self.activation, self.turn, self.call))
    }

    /// One sentence that says who wants to do what.
    pub fn sentence(&self, name: &str) -> String {
        match self.wants.as_str() {
            "" => format!("{name} asks before {}", self.what),
            wants => format!("{name} wants to {wants}"),
        }
    }

    /// The reason for the request as a sentence; empty if unknown.
    pub fn reason(&self) -> String {
        if self.because.is_empty() { String::new() } else { format!("Because {}.", self.because) }
    }

    /// The risk without the reasons for which approval is needed, which [`Approval::because`] says.
    pub fn risk_summary(&self) -> String {
        let mut risk = self.risk.clone();
        risk.reasons.retain(|reason| !self.because.contains(reason.as_str()));
        risk.summary()
    }

    /// The risk as a sentence, and what to consider before answering an MCP server; empty if there is neither.
    pub fn warning(&self) -> String {
        let risk = match self.risk.level {
            RiskLevel::Low => String::new(),
            _ => format!("Risk {}.", self.risk_summary()),
        };
        let all = [risk, self.secret_warning()];
        all.into_iter().filter(|one| !one.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// The available scopes of a permission with their descriptions, starting with this call only.
    pub fn scopes(&self, name: &str) -> Vec<(AllowScope, String)> {
        let for_task = self.for_task.as_ref().map(|doing| {
            let description =
                format!("Until this task ends, {name} and agents that it starts may {doing} with {}", self.tool);
            (AllowScope::Task, description)
        });
        let limits = [(TimeLimit::HOUR, "For one hour"), (TimeLimit::DAY, "Until the end of the day")];
        let until = limits.into_iter().filter_map(|(limit, how_long)| {
            let doing = self.for_task.as_ref()?;
            let description = format!(
                "{how_long}, {name} and agents that it starts may {doing} with {}, in every \
                task",
                self.tool
            );
            Some((AllowScope::Until(limit), description))
        });
        let pattern = self.pattern.as_ref().map(|pattern| {
            let description = format!(
                "Every agent that may run commands may run {pattern:?} with files of the workspace and options \
                    that are known to be harmless. Adds to {ALLOWLIST_FILE}: {pattern}: true"
            );
            (AllowScope::Pattern, description)
        });
        let edited = self.edited.as_ref().map(|rule| (AllowScope::Edited, rule.description()));
        let always = (!self.always.is_empty()).then(|| {
            let rules = self.always.join(", ");
            (AllowScope::Always, format!("Adds to settings.yaml: gate.allow.{}: {rules}", self.profile))
        });
        let once = (AllowScope::Once, "Only this call".to_owned());
        std::iter::once(once).chain(for_task).chain(until).chain(pattern).chain(edited).chain(always).collect()
    }

    /// Whether the request can be allowed with this scope.
    pub fn may_reach(&self, scope: AllowScope) -> bool {
        match scope {
            AllowScope::Once => true,
            AllowScope::Task | AllowScope::Until(_) => self.for_task.is_some(),
            AllowScope::Pattern => self.pattern.is_some(),
            AllowScope::Edited => self.edited.is_some(),
            AllowScope::Always => !self.always.is_empty(),
        }
    }
}

/// The action that a person must take before work can continue.
#[derive(Clone, PartialEq, Debug)]
pub enum Hold {
    /// Answer a question.
    Approval(Box<Approval>),
    /// Resume an agent that a person paused.
    AgentPaused(Id),
}

impl Activation {
    /// The approval request that this work is waiting for.
    pub fn approval(&self) -> Option<Approval> {
        let (index, asked, what) = self.question()?;
        let question = self.current_call().and_then(|(_, call)| call.question.as_deref().cloned()).unwrap_or_default();
        let for_task = ask_rules::for_task(&question.rules);
        Some(Approval {
            id: ApprovalId::new(self.key, self.turn, index, asked, question.number()),
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
            always: ask_rules::permanent_rules(&asked.name, &question.rules).unwrap_or_default(),
            pattern: ask_rules::pattern(&question.rules),
            edited: question.edited,
            asked_before: question.asked_before,
            changed_files: question.changed_files,
            risk: Risk::of(&question.rules, question.of_server.is_some()),
            of_server: question.of_server,
        })
    }

    /// A preview of the call that waits for approval.
    pub fn preview(&self, context: &dyn GateContext) -> Option<Preview> {
        let (_, call) = self.current_call()?;
        let asked = &call.call;
        Some(match &call.plan {
            Some(plan) => Preview::of(plan, &asked.arguments, context),
            None => Preview::arguments(&asked.arguments),
        })
    }

    /// Whether a reply is outstanding from a model or from the executor of a call.
    pub(super) fn is_under_way(&self) -> bool {
        let runs = |call: &super::activation::Call| call.progress == CallProgress::Running;
        self.phase == Phase::Asking || self.current_call().is_some_and(|(_, call)| runs(call))
    }
}

/// Identifies a question: activation, turn, call, and the number of the MCP server's question, or 0.
pub type QuestionKey = (ActivationKey, u32, usize, u64);

impl Kernel {
    /// The keys of all open questions to a person, which is cheaper than building the approval requests.
    pub fn open_questions(&self) -> impl Iterator<Item = QuestionKey> {
        self.activations().filter_map(|one| {
            let (index, ..) = one.question()?;
            let question = one.current_call().and_then(|(_, call)| call.question.as_deref());
            let number = question.map_or(0, CallQuestion::number);
            Some((one.key, one.turn, index, number))
        })
    }

    /// The open approval requests, oldest first.
    pub fn approvals(&self) -> impl Iterator<Item = Approval> {
        self.activations().filter_map(Activation::approval)
    }

    /// Returns the actions that a person must take before any of the selected work can continue. The list is empty if
    /// some of that work can continue by itself, or if none is selected. Work that waits for other work of its agent is
    /// held by the same things as that work.
    pub fn held_by(&self, among: impl Fn(&Activation) -> bool, is_paused: impl Fn(&Id) -> bool) -> Vec<Hold> {
        let begun: BTreeMap<&Id, &Activation> =
            self.activations().filter(|one| one.has_begun()).map(|one| (&one.agent, one)).collect();
        let hold_of = |one: &Activation| match one.approval() {
            Some(approval) => Some(Hold::Approval(Box::new(approval))),
            None if is_paused(&one.agent) && !one.is_under_way() => Some(Hold::AgentPaused(one.agent.clone())),
            None => None,
        };
        let (mut holds, mut seen) = (Vec::new(), BTreeSet::new());
        for one in self.activations().filter(|one| among(one)) {
            let before = begun.get(&one.agent).copied().filter(|_| !one.has_begun()).unwrap_or(one);
            let Some(hold) = hold_of(before) else { return Vec::new() };
            if seen.insert(before.key) {
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

    /// Queues work for an agent and lets it make one tool call.
    fn calls(kernel: &mut Kernel, key: u64, agent: &str) {
        queue(kernel, key, agent);
        kernel.note_present(&agent.into(), AgentKey(key as u32));
        let settings = KernelSettings::default();
        kernel.step(1, &settings, |_| false);
        kernel.note_arrived(ActivationKey::numbered(key), ActivityId(1));
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
    fn approval_ids_are_unique_to_their_question() {
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
    fn work_is_held_only_if_none_of_it_can_continue_by_itself() {
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
    fn a_later_task_of_the_same_agent_is_held_by_the_same_approval() {
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
