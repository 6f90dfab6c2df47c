//! Carries out the kernel's actions: calls agents to work, sends model requests, and orders the tool calls that the
//! gate allows.

use serde_json::{Map, Value};

use super::access::{LOGGED_CHARS, RoomAccess};
use super::activation::{Activation, Call};
use super::approval_question::CallQuestion;
use super::changed_code::{code_of, edited_rule};
use super::core::{Kernel, KernelAction, NoReply};
use super::message_notes::Attached;
use super::outbox::Outbox;
use super::server_question;
use super::spawning::{Child, refused_spawn};
use crate::base::ids::{GATE, USER};
use crate::base::text::{one_line, truncate};
use crate::base::{ActivationKey, AllowScope, Author, Id, Problem, Seq};
use crate::gate::commands::{self, ALLOWLIST_FILE};
use crate::gate::{AskRule, Bounds, CommandRules, Decision, TouchKind, decide};
use crate::gateway::CodeCheck;
use crate::gateway::command_code::hashes;
use crate::gateway::mcp::{McpElicitation, McpReply};
use crate::log::EventDraft;
use crate::log::events::{self, ApprovalDecided, Gate, Warning};
use crate::mind::{CallEnd, ResultImages, SessionRoom, SideRequestWithdrawn, ToolCall, WorkDue};
use crate::simulation::WorkRequested;
use crate::tools::{
    COMMANDS, CallAnswer, FILES, OrderAnswered, OrderKey, OrderOutcome, OrderReport, Planned, ToolImage, ToolOrder,
    ToolOrdersWithdrawn, ToolOutput, ToolPlan, Work, checking_code, describe_intent, is_look, looking_at_code,
    result_text,
};
use crate::workspace::trust::{TrustAdded, Widening};
use crate::workspace::vfs::worktrees::{FILES as COPY, WORKTREES};
use crate::workspace::vfs::{FileOperation, FileRights};
use crate::workspace::{ProblemReport, SceneWrite};

/// The error for a coding agent that would have to work in its own worktree.
const NO_COPY: &str = "a coding agent cannot work in its own worktree yet; remove `workspace: git` from its file and \
    from agents that start it, or give it another model";
/// The prefix of the source of problems with the changes of an agent's copy.
const UNMERGED_OF: &str = "not merged: ";
/// The maximum length in characters of a tool's progress text.
const PROGRESS_CHARS: usize = 200;

/// Identifies a tool call by its activation, turn and index.
pub(super) type CallAt = (ActivationKey, u32, usize);

impl RoomAccess<'_, '_> {
    /// Carries out an action of the kernel.
    pub(super) fn carry_out(&mut self, kernel: &mut Kernel, outbox: &mut Outbox, effect: KernelAction) {
        match effect {
            KernelAction::Summon { activation } => {
                let Some(one) = kernel.activation(activation) else { return };
                if let Some(agent) = one.agent_key {
                    let giver = kernel.giver(one.thread).and_then(|giver| self.roster.key(giver));
                    let at = kernel.terms(one.thread).and_then(|terms| terms.at.clone());
                    self.work_requests.write(WorkRequested { agent, activation, from: giver, at, cause: one.cause });
                }
            }
            KernelAction::Ask { activation, turn } => self.request_reply(kernel, activation, turn),
            KernelAction::Perform { activation, turn, index } => {
                self.perform(kernel, outbox, (activation, turn, index))
            }
            KernelAction::Sample { activation, turn, index } => {
                self.send_sample_request(kernel, (activation, turn, index))
            }
            KernelAction::EndSample { key } => {
                self.side_requests_withdrawn.write(SideRequestWithdrawn { key });
            }
            KernelAction::Warn { activation, what } => {
                if let Some(one) = kernel.activation(activation).cloned() {
                    self.record(&one, one.cause, &Warning::new(what));
                }
            }
            KernelAction::Release { activation, ending, cause } => {
                self.withdrawn.write(ToolOrdersWithdrawn { activation: activation.key });
                self.finish(kernel, &activation, &ending, cause);
            }
        }
    }

    fn request_reply(&mut self, kernel: &mut Kernel, key: ActivationKey, turn: u32) {
        let Some(one) = kernel.activation(key) else { return };
        let (Some(agent), Some(activity)) = (one.agent_key, one.activity) else { return };
        let bounds = self.bounds_of(kernel, one);
        let work_model = kernel.terms(one.thread).and_then(|terms| terms.model.as_deref());
        let has_own_tools = self.is_coding_agent(&one.profile, work_model);
        if has_own_tools && bounds.has_worktree() {
            let (now, settings) = (self.clock.tick(), self.settings.clone());
            kernel.failed(key, turn, NoReply::Lasting { why: NO_COPY.to_owned() }, now, &settings);
            return;
        }
        let tools = match has_own_tools {
            true => self.tools.declarations_to_coding_agent(self.caller(one), &bounds),
            false => self.tools.declarations(self.caller(one), &bounds),
        };
        let wanted =
            work_model.or_else(|| self.profiles.get(&one.profile).and_then(|profile| profile.model.as_deref()));
        let messages = match has_own_tools {
            true => one.messages.clone(),
            false => {
                kernel.sent_messages(one, self.gateway.takes_images(self.request_queue.provider_override(), wanted))
            }
        };
        let sends_images = messages.iter().any(|message| !message.images.is_empty());
        let most = self.settings.max_session_chars;
        let room = SessionRoom {
            chars_at_most: one.session_chars_at_most.map_or(most, |shorter| shorter.min(most)),
            window_tokens: self.gateway.window_tokens(self.request_queue.provider_override(), wanted),
            place: kernel.session_path(one),
        };
        self.due.write(WorkDue {
            activation: key,
            turn,
            agent,
            activity,
            messages,
            room,
            tools,
            has_own_tools,
            model: work_model.map(str::to_owned),
            tool_model: self.request_queue.tool_model(&self.gateway, wanted),
            agent_session: kernel.thread(one.thread).and_then(|thread| thread.file.agent_session.clone()),
            result_images: if has_own_tools { kernel.result_images(one) } else { ResultImages::default() },
            cause: one.cause,
        });
        kernel.note_images_sent(key, sends_images);
    }

    /// Carries out a tool call, or answers it with the reason why not.
    fn perform(&mut self, kernel: &mut Kernel, outbox: &mut Outbox, at: CallAt) {
        let (key, turn, index) = at;
        let Some(call) = kernel.running_call(key, turn, index).cloned() else { return };
        let Some(one) = kernel.activation(key).cloned() else { return };
        let bounds = self.bounds_for(kernel, &one, &call);
        let plan = match call.plan.clone() {
            Some(plan) => Ok(*plan),
            None => self.plan(&one, &call.call, &bounds),
        };
        let code = plan.as_ref().map(|plan| code_of(plan, &self.command_rules())).unwrap_or_default();
        let decision = plan.as_ref().ok().map(|plan| {
            let act = plan.act(&self.gate_context(), self.tools.names());
            let act = if bounds.has_worktree() && *plan.executor == *FILES { act.in_worktree() } else { act };
            kernel.with_changed_code(decide(&act, &bounds, &self.policy), &call, (plan, &code))
        });
        let record = call.record.unwrap_or_else(|| {
            let called = events::ToolCall {
                tool: call.call.name.as_str().into(),
                id: call.call.id.clone(),
                target: plan.as_ref().ok().map(|plan| plan.doing.target.clone()),
                turn,
                gate: decision.as_ref().map(gate_of),
                touches: plan.as_ref().map(ToolPlan::logged_touches).unwrap_or_default(),
                path: None,
            };
            self.record(&one, one.cause_of(&call), &called)
        });
        kernel.note_record(key, index, record);
        let plan = match plan {
            Ok(plan) => plan,
            Err(text) => return self.answer(kernel, at, &call.call, record, text, CallEnd::NotDone),
        };
        self.explain(&one, plan.doing.to_string(), false, record);
        kernel.keep_plan(at, &plan);
        if let Work::File { operation: FileOperation::MergeWorktree { hash }, .. } = &plan.work {
            kernel.note_proposed(key, *hash);
        }
        let now = self.now_secs();
        kernel.end_grants(now);
        let is_denied = matches!(decision, Some(Decision::Deny { .. }));
        if !is_denied && !code.is_empty() && must_look(&call, &plan) && self.tools.has_executor(COMMANDS) {
            let worktree = bounds.has_worktree().then(|| one.agent.clone());
            let look = looking_at_code(&plan, &code);
            return self.order(kernel, (&one, worktree), at, &call.call, look, bounds.file_rights(), record);
        }
        match decision {
            None | Some(Decision::Allow) => {}
            Some(Decision::Ask { .. }) if call.is_allowed => {}
            Some(Decision::Ask { why, rules }) => match kernel.granted(one.thread, &plan.tool, &rules, now) {
                Some(scope) => self.granted(&one, (&plan.tool, scope), record),
                None => return self.ask_person(kernel, at, &one, &plan, (why, rules), record),
            },
            Some(Decision::Deny { why }) => {
                let (tool, by) = (Id::from(&*plan.tool), GATE.into());
                let (decision, why) = (Some(Gate::Deny), why.clone());
                let denied = ApprovalDecided { decision, by, tool, why: Some(why.clone()), ..Default::default() };
                self.record(&one, record, &denied);
                return self.answer(kernel, at, &call.call, record, result_text::denied(&why), CallEnd::NotDone);
            }
        }
        if !self.tools.has_executor(&plan.executor) {
            return self.answer(kernel, at, &call.call, record, result_text::no_executor(&plan.tool), CallEnd::NotDone);
        }
        let plan = match call.code.as_deref() {
            None => plan,
            Some(seen) => {
                kernel.known_code.allow(seen);
                checking_code(plan, &CodeCheck { expected: Some(hashes(seen)), ..code })
            }
        };
        self.execute(kernel, outbox, (at, &one, &call.call), plan, bounds, record);
    }

    /// Asks a person to approve a call, and records the requested action and the rules that require approval.
    fn ask_person(
        &mut self,
        kernel: &mut Kernel,
        (key, turn, index): CallAt,
        one: &Activation,
        plan: &ToolPlan,
        (because, rules): (String, Vec<AskRule>),
        record: Seq,
    ) {
        let wants = describe_intent(plan, &self.gate_context());
        let (tool, what) = (Id::from(&*plan.tool), plan.doing.to_string());
        let why = because.clone();
        let requested = events::ApprovalRequested { tool, what, wants: wants.clone(), why, turn, call: index };
        let asked = self.record(one, record, &requested);
        let asked_before = kernel.running_call(key, turn, index).map_or(0, |call| call.looks.saturating_sub(1).into());
        let seen = kernel.running_call(key, turn, index).and_then(|call| call.code.as_deref());
        let changed_files = seen.map(|seen| kernel.known_code.changed_files(seen)).unwrap_or_default();
        let edited = edited_rule(plan, &rules, self.text(ALLOWLIST_FILE).unwrap_or_default());
        let question = CallQuestion { wants, because, rules, asked_before, changed_files, edited, of_server: None };
        self.explain(one, format!("waiting for a person: it wants to {}", question.text()), true, asked);
        kernel.ask_person(key, turn, index, question);
    }

    /// Records that a call needs no approval because a person already allowed it.
    fn granted(&mut self, one: &Activation, (tool, scope): (&str, AllowScope), record: Seq) {
        let (decision, by) = (Some(Gate::Allow), Author::user().0);
        self.record(one, record, &ApprovalDecided { decision, by, tool: tool.into(), scope, why: None });
    }

    /// Executes the kernel's own tools, and orders all other calls from their executors.
    fn execute(
        &mut self,
        kernel: &mut Kernel,
        outbox: &mut Outbox,
        (at, one, call): (CallAt, &Activation, &ToolCall),
        plan: ToolPlan,
        bounds: Bounds,
        record: Seq,
    ) {
        match &plan.work {
            Work::File { .. } | Work::Order { .. } => {
                let worktree = bounds.has_worktree().then(|| one.agent.clone());
                self.order(kernel, (one, worktree), at, call, plan, bounds.file_rights(), record)
            }
            Work::Spawn { path, content, task } => {
                let child = self.child_of(path, content);
                match kernel.may_spawn(at.0, &child, task, &self.settings) {
                    Ok(_) => {
                        let rights = bounds.spawn_rights(path);
                        let write = FileOperation::Write { path: path.clone(), content: content.clone() };
                        // An agent's file belongs to the room and not to a worktree.
                        let plan = Planned::files(write, None).of(&plan.tool);
                        self.order(kernel, (one, None), at, call, plan, rights, record);
                    }
                    Err(refusal) => {
                        let refused = result_text::spawned(path, &refused_spawn(&refusal));
                        self.answer(kernel, at, call, record, refused.words, refused.end);
                    }
                }
            }
            Work::Start { name, agent, task } => {
                // The name of the agent is the name of its profile by now.
                let path = self.profiles.path(name).unwrap_or_default().to_owned();
                let profile: Id = name.as_str().into();
                let agent = agent.clone().unwrap_or_else(|| profile.clone());
                let child = Child { path: &path, agent, profile, task, is_new: false };
                let started = self.spawn(kernel, outbox, one, child, bounds, record);
                self.answer(kernel, at, call, record, started.words, started.end);
            }
            Work::Signal { message, terms } => {
                let signalled = self.signal(kernel, one, (message, terms), record);
                self.answer(kernel, at, call, record, signalled.words, signalled.end);
            }
            Work::Delegate { name, agent, task, terms } => {
                let to = (agent.clone().unwrap_or_else(|| name.as_str().into()), name.as_str().into());
                let handed = self.hand_over(kernel, one, to, (task, terms), bounds, record);
                self.answer(kernel, at, call, record, handed.words, handed.end);
            }
        }
    }

    /// Parses a call into a plan. An agent to be started or delegated to is looked up here, so that the plan contains
    /// its profile and id. The error is the result text for the model.
    fn plan(&self, one: &Activation, call: &ToolCall, bounds: &Bounds) -> Result<ToolPlan, String> {
        let plan = self.tools.parse(call, self.caller(one), bounds)?;
        if let Work::File { operation: FileOperation::MergeWorktree { .. }, .. } = &plan.work {
            let changes = self.worktrees.changes(&one.agent).filter(|_| bounds.has_worktree());
            let shown = changes.filter(|changes| changes.files.iter().any(|file| file.left_out.is_none()));
            return shown
                .map(|changes| Planned::merge(changes).of(&plan.tool))
                .ok_or_else(|| result_text::nothing_to_propose(changes));
        }
        if let Work::Delegate { name, agent: None, task, terms } = &plan.work {
            let (agent, profile) = self.agent_in_room(one, name)?;
            let planned = Planned::delegate(profile.to_string(), Some(agent), task.clone(), terms.clone());
            return Ok(planned.of(&plan.tool));
        }
        let Work::Start { name, agent: None, task } = &plan.work else { return Ok(plan) };
        match self.agent_to_start(one, name) {
            None => Err(self.no_such_agent(one, name)),
            Some((agent, _)) if agent == one.agent => {
                Err(result_text::spawned(name, &result_text::Spawned::Itself).words)
            }
            Some((agent, profile)) => Ok(Planned::start(profile.to_string(), Some(agent), task.clone()).of(&plan.tool)),
        }
    }

    fn order(
        &mut self,
        kernel: &mut Kernel,
        (one, worktree): (&Activation, Option<Id>),
        at: CallAt,
        call: &ToolCall,
        plan: ToolPlan,
        rights: FileRights,
        cause: Seq,
    ) {
        let rights = self.privacy.within(rights, &one.agent, &one.profile);
        let is_look = is_look(&plan);
        let looks = kernel.running_call(at.0, at.1, at.2).map_or(0, |call| call.looks);
        let key = OrderKey::new(self.run(), at, call).numbered(2 * looks + u32::from(is_look));
        kernel.keep_order(key);
        self.orders.write(ToolOrder {
            key,
            agent: one.agent.clone(),
            profile: one.profile.clone(),
            plan,
            rights,
            cause,
            worktree,
        });
    }

    fn answer(&mut self, kernel: &mut Kernel, at: CallAt, call: &ToolCall, cause: Seq, text: String, end: CallEnd) {
        let (key, turn, index) = at;
        if let Some(one) = kernel.activation(key).cloned() {
            self.record(&one, cause, &tool_result(call, end != CallEnd::NotDone, truncate(&text, LOGGED_CHARS)));
        }
        if end != CallEnd::Done {
            self.answer_code(kernel, at, CallAnswer::NotDone(text.clone()));
        }
        kernel.answered((key, turn, index), (text, end), &self.settings);
    }

    /// Applies the outcome or the progress of an order to the tool call that placed it.
    pub(super) fn apply_outcome(&mut self, kernel: &mut Kernel, outbox: &mut Outbox, outcome: &OrderOutcome) {
        let OrderKey { activation: key, turn, call: index, .. } = outcome.key;
        let at = (key, turn, index);
        // If the work was stopped meanwhile, the outcome is recorded already and no longer needed.
        let Some(call) = kernel.waits_for(outcome.key).cloned() else { return };
        let Some(one) = kernel.activation(key).cloned() else { return };
        let bounds = self.bounds_for(kernel, &one, &call);
        let cause = call.record.unwrap_or(one.cause);
        // Rooms saved by older versions have no stored plans.
        let plan = match call.plan.clone() {
            Some(plan) => Ok(*plan),
            None => self.plan(&one, &call.call, &bounds),
        };
        let plan = match plan {
            Ok(plan) => plan,
            Err(text) => return self.answer(kernel, at, &call.call, cause, text, CallEnd::NotDone),
        };
        let (text, end) = match &outcome.news {
            OrderReport::Progress { text } => {
                let how_far =
                    truncate(&one_line(&text.chars().take(PROGRESS_CHARS * 4).collect::<String>()), PROGRESS_CHARS);
                return self.explain(&one, format!("{}: {how_far}", plan.doing), false, cause);
            }
            OrderReport::Asks { question } => {
                return self.ask_for_server(kernel, at, &one, &plan, question, cause);
            }
            OrderReport::Samples { question } => {
                return self.sample_for_server(kernel, (at, outcome.key), &one, &plan, question, cause);
            }
            OrderReport::Calls { number, call } => {
                return self.call_for_code(kernel, at, outcome.key, *number, call);
            }
            OrderReport::Code { code } => return kernel.note_code(at, code.clone()),
            OrderReport::Done { output } => {
                if !output.is_otherwise {
                    self.answer_code(kernel, at, CallAnswer::Done(output.text.clone()));
                }
                output.changed.iter().for_each(|path| kernel.note_change(at, path));
                let kept = attach(kernel, at, output);
                let end = if output.is_otherwise { CallEnd::Otherwise } else { CallEnd::Done };
                if matches!(&plan.work, Work::File { operation: FileOperation::MergeWorktree { .. }, .. }) {
                    kernel.note_unmerged(key, &[]);
                    self.report_unmerged(&one, &[]);
                }
                match &plan.work {
                    Work::Spawn { path, content, task } => {
                        let agent = self.child_of(path, content);
                        let child = Child { path, profile: agent.clone(), agent, task, is_new: true };
                        let started = self.spawn(kernel, outbox, &one, child, bounds, cause);
                        // The agent's file has been written in any case.
                        (started.words, if started.end == CallEnd::Done { end } else { CallEnd::Otherwise })
                    }
                    // The result texts of file tools are bounded already.
                    _ if *plan.executor == *FILES => (output.text.clone(), end),
                    _ => (result_text::output(output, &kept), end),
                }
            }
            OrderReport::Refused { output } => {
                output.changed.iter().for_each(|path| kernel.note_change(at, path));
                if !output.unmerged.is_empty() {
                    kernel.note_unmerged(key, &output.unmerged);
                    self.report_unmerged(&one, &output.unmerged);
                }
                let kept = attach(kernel, at, output);
                (result_text::error_output(output, &kept), CallEnd::NotDone)
            }
            OrderReport::Failed { why } => (result_text::error(why), CallEnd::NotDone),
            OrderReport::Aborted { why } => {
                kernel.note_interruption(at, self.run());
                (result_text::aborted(why), CallEnd::NotDone)
            }
        };
        self.answer(kernel, at, &call.call, cause, text, end);
    }

    /// Reports the changes of an agent's copy that a person has to merge, until they are merged.
    pub(super) fn report_unmerged(&mut self, one: &Activation, unmerged: &[String]) {
        let copy = format!(".workshop/{WORKTREES}/{}/{COPY}", one.agent);
        let problem = |why: &String| {
            let what = format!("changes of {} were not merged into the workspace: {why}", one.agent);
            let remedy = format!(
                "allow the next proposal to take the agent's version, or refuse it to keep yours; or compare the file \
                 with the one in {copy}, put into the workspace what you want to keep, and give the task again"
            );
            Problem::error(copy.as_str(), what, remedy)
        };
        let problems = unmerged.iter().map(problem).collect();
        self.problems.write(ProblemReport { source: format!("{UNMERGED_OF}{}", one.agent), problems });
    }

    /// Asks a person the question that the MCP server asks during a call.
    fn ask_for_server(
        &mut self,
        kernel: &mut Kernel,
        at: CallAt,
        one: &Activation,
        plan: &ToolPlan,
        asked: &McpElicitation,
        cause: Seq,
    ) {
        let (_, turn, call) = at;
        let server = plan.touches.iter().find(|touch| touch.kind == TouchKind::MCP_CALL);
        let server = server.map_or(&*plan.tool, |touch| touch.target.split('/').next().unwrap_or_default());
        let asked = McpElicitation { server: server.to_owned(), ..asked.clone() };
        let wants = server_question::wants(&asked);
        let because = format!("the server is waiting for it during {}", plan.doing);
        let (tool, what) = (Id::from(&*plan.tool), plan.doing.to_string());
        let requested =
            events::ApprovalRequested { tool, what, wants: wants.clone(), why: because.clone(), turn, call };
        let record = self.record(one, cause, &requested);
        let question = CallQuestion { wants, because, of_server: Some(Box::new(asked)), ..CallQuestion::default() };
        self.explain(one, format!("waiting for a person: it wants to {}", question.text()), true, record);
        kernel.ask_for_server(at, question);
    }

    /// Passes a person's answer on to the MCP server that asked for it during a call, and continues the call.
    fn decided_for_server(&mut self, kernel: &mut Kernel, at: CallAt, decision: &PersonDecision<'_>, cause: Seq) {
        let (key, turn, index) = at;
        let found = kernel.running_call(key, turn, index).cloned().zip(kernel.activation(key).cloned());
        let Some((call, one)) = found else { return };
        let asked = call.question.as_ref().and_then(|question| question.of_server.as_deref());
        let (Some(order), Some(asked)) = (call.order, asked) else { return };
        let reply = match decision.allow.then(|| asked.content(decision.form)) {
            None => McpReply::Declined,
            Some(Ok(content)) => McpReply::Given { content },
            Some(Err(why)) => {
                let what = format!("this answer does not match the MCP server's question: {why}");
                self.record(&one, cause, &Warning::new(what));
                return;
            }
        };
        let (allow, number) = (decision.allow, asked.number);
        kernel.answered_for_server(at);
        self.order_answers.write(OrderAnswered { key: order, number, reply });
        let verdict = Some(if allow { Gate::Allow } else { Gate::Deny });
        let (by, tool, why) = (decision.by.into(), call.call.name.as_str().into(), decision.because.map(str::to_owned));
        let decided = ApprovalDecided { decision: verdict, by, tool, why, scope: AllowScope::Once };
        let decided = self.record(&one, cause, &decided);
        let did = if allow { "answered the server" } else { "declined to answer the server" };
        self.explain(&one, format!("{} {did}", decision.who()), false, decided);
    }

    /// Applies a person's decision about a tool call.
    pub(super) fn decided(&mut self, kernel: &mut Kernel, at: CallAt, decision: PersonDecision<'_>, cause: Seq) {
        let (key, turn, index) = at;
        if kernel.running_call(key, turn, index).is_some_and(Call::asks_for_server) {
            return self.decided_for_server(kernel, at, &decision, cause);
        }
        let who = decision.who();
        let PersonDecision { allow, scope, because, by, .. } = decision;
        let because = because.map(|because| truncate(because.trim(), LOGGED_CHARS)).filter(|word| !word.is_empty());
        let asked = kernel.activation(key).and_then(|one| {
            let (_, call) = one.current_call()?;
            Some((one.clone(), call.clone(), one.approval()?))
        });
        // A permission that would expire at once is rejected, and the question stays open.
        let now = self.now_secs();
        let scope = match scope.dated(now) {
            Ok(scope) => scope,
            Err(why) if allow => {
                let what = format!("this answer was not accepted: {why}");
                self.log.write(EventDraft::of(&Warning::new(what)).cause(cause));
                return;
            }
            Err(_) => AllowScope::Once,
        };
        let refusal = (!allow).then(|| match by {
            USER => result_text::refused(because.as_deref()),
            _ => result_text::refused_by_option(),
        });
        if let (Some(text), Some(_)) = (&refusal, &asked) {
            self.answer_code(kernel, at, CallAnswer::NotDone(text.clone()));
        }
        if !kernel.decided((key, turn, index), refusal.clone(), &self.settings) {
            let what = "this approval is no longer open";
            self.log.write(EventDraft::of(&Warning::new(what)).cause(cause));
            return;
        }
        let Some((one, call, approval)) = asked else { return };
        let scope = if allow && approval.may_reach(scope) { scope } else { AllowScope::Once };
        let decision = Some(if allow { Gate::Allow } else { Gate::Deny });
        let (by, tool) = (by.into(), call.call.name.as_str().into());
        let decided = self.record(&one, cause, &ApprovalDecided { decision, by, tool, why: because.clone(), scope });
        let why = match (&refusal, &because) {
            (None, _) => format!("{who} allowed it"),
            (Some(_), None) => format!("{who} refused it"),
            (Some(_), Some(word)) => format!("{who} refused it: {word}"),
        };
        self.explain(&one, why, false, decided);
        if let Some(text) = refusal {
            self.record(&one, decided, &tool_result(&call.call, false, text));
        }
        let question = call.question.as_deref();
        match scope {
            AllowScope::Once => {}
            AllowScope::Task => {
                let rules = question.map_or(&[][..], |question| &question.rules);
                kernel.grant(one.thread, &call.call.name, rules);
            }
            AllowScope::Until(limit) => {
                let rules = question.map_or(&[][..], |question| &question.rules);
                if let (Some(now), Ok(until)) = (now, limit.date(now)) {
                    kernel.grant_until(&one.agent, &call.call.name, rules, (now, until));
                }
            }
            AllowScope::Pattern => {
                let pattern = approval.pattern.as_deref().unwrap_or_default();
                self.add_command_rule(pattern, |text| commands::with_rule(text, pattern), decided);
            }
            AllowScope::Edited => {
                if let Some(rule) = &approval.edited {
                    self.add_command_rule(&rule.command, |text| rule.added_to(text), decided);
                }
            }
            AllowScope::Always => {
                self.settings_edits.write(approval.permanent_permission_edit());
            }
        }
    }
}

impl RoomAccess<'_, '_> {
    /// Adds a rule for commands that a person allowed permanently.
    fn add_command_rule(&mut self, rule: &str, add: impl Fn(&str) -> Result<String, String>, cause: Seq) {
        let rules = match self.text(ALLOWLIST_FILE) {
            None if self.policy.are_command_rules_unread() => Err(format!("{ALLOWLIST_FILE} cannot be read")),
            text => add(text.unwrap_or_default()),
        };
        match rules {
            Ok(text) => {
                let old = CommandRules::parse(self.text(ALLOWLIST_FILE).unwrap_or_default()).0;
                let known: Vec<Widening> = old.widenings().collect();
                let new =
                    CommandRules::parse(&text).0.widenings().filter(|widening| !known.contains(widening)).collect();
                self.trusted.write(TrustAdded(new));
                self.file_writes.write(SceneWrite::File { path: ALLOWLIST_FILE.to_owned(), text });
            }
            Err(why) => {
                let what = format!("the rule {rule:?} was not saved, so you will be asked again: {why}");
                self.log.write(EventDraft::of(&Warning::new(what)).cause(cause));
            }
        }
    }
}

/// Whether the files that a call runs have to be looked at before the gate decides. Commands compare them once more when
/// they start; programs of coding agents do not, so that is done after a person has allowed them.
fn must_look(call: &Call, plan: &ToolPlan) -> bool {
    let is_compared_later = *plan.executor == *COMMANDS;
    call.code.is_none() || call.is_allowed && !call.is_code_current && !is_compared_later
}

/// A person's decision about a tool call.
pub(super) struct PersonDecision<'a> {
    /// Whether the call is allowed.
    pub(super) allow: bool,
    /// The scope of the permission.
    pub(super) scope: AllowScope,
    /// The person's comment.
    pub(super) because: Option<&'a str>,
    /// The values of the form that the person filled in.
    pub(super) form: &'a Map<String, Value>,
    /// Who decided: the person, or an option of a command.
    pub(super) by: &'static str,
}

impl PersonDecision<'_> {
    /// Who decided, for the reasons of an agent's state.
    fn who(&self) -> &'static str {
        if self.by == USER { "a person" } else { "the option --on-ask" }
    }
}

/// Attaches a tool's output other than text, as far as it fits. Returns the images that were kept.
fn attach(kernel: &mut Kernel, at: CallAt, output: &ToolOutput) -> Vec<ToolImage> {
    let attached = Attached::of(output, kernel.room_for_attached(at.0));
    let kept = attached.as_ref().map_or_else(Vec::new, |attached| attached.images.clone());
    kernel.attach(at, attached);
    kept
}

fn gate_of(decision: &Decision) -> Gate {
    match decision {
        Decision::Allow => Gate::Allow,
        Decision::Ask { .. } => Gate::Ask,
        Decision::Deny { .. } => Gate::Deny,
    }
}

fn tool_result(call: &ToolCall, ok: bool, text: String) -> events::ToolResult {
    events::ToolResult { tool: call.name.as_str().into(), id: call.id.clone(), ok, text }
}
