//! The decision of the gate about an act.

use serde::{Deserialize, Serialize};

use super::act::{Act, ProfileChange, Touch};
use super::ask_rules::{self, AskRule, AskSource};
use super::authority::{Authority, ExcessPermission};
use super::bounds::Bounds;
use super::commands::{ALLOWLIST_FILE, CommandVerdict, located};
use super::paths;
use super::policy::{GatePolicy, VerdictSource};
use super::safety::SafetyMode;
use super::servers::called;
use super::touch::TouchKind;
use super::verdict::Verdict;
use crate::base::text_normalization::is_invisible;
use crate::base::{globs, text};
use crate::gateway::mcp::McpHints;
use crate::workspace::vfs::WorkspacePath;

/// The maximum length of a reason in characters; names and globs in it come from files.
const MAX_REASON_CHARS: usize = 600;

/// The name of the tool that reads files.
const VFS_READ: &str = "vfs_read";

/// The decision about an act.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// The act is allowed.
    Allow,
    /// The act needs a person's approval.
    Ask {
        /// The reason for the person, as a clause about the agent without a full stop.
        why: String,
        /// The rules that require approval.
        rules: Vec<AskRule>,
    },
    /// The act is denied.
    Deny {
        /// The reason for the requester, as a sentence without a full stop.
        why: String,
    },
}

/// Decides about an act. Each touch is checked against the work's bounds and safety mode, the policy, and the protected
/// paths; the strictest verdict applies, with all reasons for it.
pub fn decide(act: &Act, bounds: &Bounds, policy: &GatePolicy) -> Decision {
    let mut findings = Findings::default();
    // Tools of MCP servers are granted by server and not listed as tools.
    let is_call = act.touches.iter().all(|touch| matches!(touch, Touch::Call { .. }));
    if !is_call && !bounds.tools().contains(act.tool.as_str()) {
        // An agent uses only tools that its file lists, and that everybody who started it may use.
        rule!("only-listed-tools-are-used");
        findings.deny(format!("the tool {} may not be used", act.tool));
    }
    if act.touches.is_empty() {
        findings.deny("it does not say what it touches".to_owned());
    }
    for touch in &act.touches {
        judge_touch(touch, act, bounds, policy, &mut findings);
    }
    findings.decision()
}

/// Decides about reading a file for work within these bounds outside of a tool call, so that no tool has to be permitted.
pub fn decide_reading(path: &WorkspacePath, bounds: &Bounds, policy: &GatePolicy) -> Decision {
    let touch = Touch::Read { path: path.clone() };
    let act = Act { tool: VFS_READ.to_owned(), touches: vec![touch.clone()] };
    let mut findings = Findings::default();
    judge_touch(&touch, &act, bounds, policy, &mut findings);
    findings.decision()
}

/// The verdicts collected so far.
#[derive(Default)]
struct Findings {
    /// The reasons for denying the act.
    denied: Vec<String>,
    /// The rules that require approval.
    asked: Vec<AskRule>,
}

impl Findings {
    /// Denies the act for this reason.
    fn deny(&mut self, why: String) {
        if !self.denied.contains(&why) {
            self.denied.push(why);
        }
    }

    /// Adds the verdict of a rule about a part of the act, which `doing` describes.
    fn add(&mut self, verdict: Verdict, doing: &str, rule: AskRule) {
        match verdict {
            Verdict::Allow => {}
            Verdict::Ask if self.asked.contains(&rule) => {}
            Verdict::Ask => self.asked.push(rule),
            Verdict::Deny => self.deny(format!("{doing}: {}", rule.source.because())),
        }
    }

    /// Requires approval that cannot be granted beyond this act.
    fn ask_each_time(&mut self, kind: TouchKind, target: &str, why: String) {
        self.add(Verdict::Ask, "", AskRule { source: AskSource::EachTime { why }, kind, target: target.to_owned() });
    }

    fn decision(self) -> Decision {
        if !self.denied.is_empty() {
            return Decision::Deny { why: text::truncate(&self.denied.join("; "), MAX_REASON_CHARS) };
        }
        if self.asked.is_empty() {
            return Decision::Allow;
        }
        Decision::Ask { why: ask_rules::because(&self.asked), rules: self.asked }
    }
}

fn judge_touch(touch: &Touch, act: &Act, bounds: &Bounds, policy: &GatePolicy, findings: &mut Findings) {
    let mut class = |kind: &TouchKind, doing: &str, target: &str| {
        class_rules(kind, (doing, target), act, bounds, policy, findings);
    };
    match touch {
        Touch::Look => class(&TouchKind::FILE_READ, "looking through files", ""),
        Touch::Read { path } => {
            class(&TouchKind::FILE_READ, &format!("reading {}", shown(path)), path.as_str());
            within(path, &bounds.file_rights().reads, "reading", findings);
        }
        Touch::Write { path } => {
            class(&TouchKind::FILE_WRITE, &format!("writing {}", shown(path)), path.as_str());
            judge_change((&TouchKind::FILE_WRITE, path), "writing", act, bounds, policy, findings);
            if paths::profile_place(path).is_some() && !checks_profile(act) {
                findings.deny(format!("the new content of {} was not checked", shown(path)));
            }
        }
        Touch::Delete { path } => {
            class(&TouchKind::FILE_DELETE, &format!("deleting {}", shown(path)), path.as_str());
            judge_change((&TouchKind::FILE_DELETE, path), "deleting", act, bounds, policy, findings);
            judge_removal(&TouchKind::FILE_DELETE, path, findings);
        }
        Touch::Rename { from, to } => {
            class(&TouchKind::FILE_RENAME, &format!("renaming {}", shown(from)), from.as_str());
            judge_change((&TouchKind::FILE_RENAME, from), "renaming", act, bounds, policy, findings);
            judge_change((&TouchKind::FILE_RENAME, to), "renaming to", act, bounds, policy, findings);
            judge_removal(&TouchKind::FILE_RENAME, from, findings);
            if paths::profile_place(to).is_some() && !checks_profile(act) {
                findings.deny(format!("the new content of {} was not checked", shown(to)));
            }
        }
        Touch::Spawn { path, is_taken } => {
            class(&TouchKind::AGENT_SPAWN, &format!("starting {}", shown(path)), path.as_str());
            judge_place((&TouchKind::AGENT_SPAWN, path), "starting", act, bounds, policy, findings);
            if *is_taken {
                let why = format!("{} already exists with other content; use another filename", shown(path));
                findings.deny(why);
            }
        }
        Touch::Start { path, id, authority } => {
            class(&TouchKind::AGENT_START, &format!("starting {}", shown(path)), path.as_str());
            judge_place((&TouchKind::AGENT_START, path), "starting", act, bounds, policy, findings);
            judge_start(id, (path, authority), bounds, findings);
        }
        Touch::Signal => class(&TouchKind::AGENT_SIGNAL, "reporting to the agent that started it", ""),
        Touch::Profile(change) => {
            let doing = format!("changing the agent {:?}", change.id);
            class(&TouchKind::PROFILE_WRITE, &doing, change.path.as_str());
            judge_profile(change, bounds, findings);
        }
        Touch::UnknownProfile { path, remedy } => {
            findings.deny(format!("{} defines what an agent may do; {remedy}", shown(path)));
        }
        Touch::Call { server, tool, key, hints } => {
            judge_call((server, tool), (key, *hints), act, bounds, policy, findings)
        }
        Touch::Command { line, folder, judged, is_kept_in } => {
            let target = located(line, folder.as_deref());
            judge_command((&target, judged, *is_kept_in), act, bounds, policy, findings)
        }
        Touch::Other { kind, target } if *kind == TouchKind::COPY_MERGE => {
            class(kind, "merging its changes", target);
            let why = "its changes go into the workspace".to_owned();
            findings.ask_each_time(kind.clone(), target, why);
        }
        Touch::Other { kind, target } => {
            class(kind, &format!("{} {}", kind.verb(), shown_text(target)), target);
            if *kind == TouchKind::SESSION_EDIT {
                // No earlier permission applies, because each edit has a different text.
                let why = "it changes what another agent continues from".to_owned();
                findings.ask_each_time(kind.clone(), target, why);
            }
        }
        Touch::NoPath { why } => findings.deny(why.clone()),
        Touch::Forbidden => findings.deny("tools cannot do this".to_owned()),
    }
}

/// In a workspace that the person has not trusted, no rule, mode or earlier permission allows a change.
fn ask_if_restricted(kind: &TouchKind, target: &str, policy: &GatePolicy, findings: &mut Findings) {
    if policy.is_restricted && kind.defaults().changes {
        // In a workspace from elsewhere that you have not trusted, you are asked before every change, each time.
        rule!("restricted-workspaces-ask-each-time");
        findings.ask_each_time(kind.clone(), target, "you have not trusted this workspace yet".to_owned());
    }
}

/// An agent that the person has not seen yet in a workspace that they trust reaches outside of it only with approval,
/// whatever the rules allow everybody. A permanent permission of this agent counts.
fn ask_if_unseen(kind: &TouchKind, (doing, target): (&str, &str), act: &Act, bounds: &Bounds, findings: &mut Findings) {
    let reaches_outside = kind.defaults().rule != Verdict::Allow;
    if bounds.is_unseen() && reaches_outside && !bounds.is_allowed(&act.tool, kind, target) {
        // An agent that came into a trusted workspace unseen reaches outside of it only with your approval.
        rule!("unseen-agents-ask-before-reaching-out");
        let why = "you have not seen yet that this agent reaches outside the workspace".to_owned();
        let source = AskSource::Unset { why };
        findings.add(Verdict::Ask, doing, AskRule { source, kind: kind.clone(), target: target.to_owned() });
    }
}

/// Applies the settings and the safety mode for a kind of touch, unless a person allowed it permanently.
fn class_rules(
    kind: &TouchKind,
    (doing, target): (&str, &str),
    act: &Act,
    bounds: &Bounds,
    policy: &GatePolicy,
    findings: &mut Findings,
) {
    ask_if_restricted(kind, target, policy, findings);
    ask_if_unseen(kind, (doing, target), act, bounds, findings);
    let is_allowed = bounds.is_allowed(&act.tool, kind, target);
    let mut add = |verdict: Verdict, source: AskSource| {
        if verdict == Verdict::Ask && is_allowed && !source.asks_each_time() {
            return;
        }
        findings.add(verdict, doing, AskRule { source, kind: kind.clone(), target: target.to_owned() });
    };
    let judged = if *kind == TouchKind::AGENT_START { &TouchKind::AGENT_SPAWN } else { kind };
    let (verdict, ruling) = policy.verdict_and_source(judged);
    let source = match ruling {
        VerdictSource::Setting { key, word } => AskSource::Setting { key, word },
        VerdictSource::Unset { why } => AskSource::Unset { why: why.to_owned() },
    };
    add(verdict, source);
    add(policy.strictness(judged), AskSource::NotUnderstood);
    let (mode, is_own) = (bounds.safety(), bounds.is_own_safety());
    add(judged.mode_verdict(mode), AskSource::SafetyMode { mode, is_own });
}

/// Checks a command, given with its folder. A person's rule for it counts as a permanent permission, except for agents in safe mode. Without
/// a sandbox, each command needs approval.
fn judge_command(
    (line, judged, is_kept_in): (&str, &CommandVerdict, bool),
    act: &Act,
    bounds: &Bounds,
    policy: &GatePolicy,
    findings: &mut Findings,
) {
    let (kind, doing) = (TouchKind::PROCESS_RUN, format!("running {}", shown_text(line)));
    if judged.verdict == Verdict::Deny {
        findings.deny(format!("{doing}: {}", judged.why));
    }
    ask_if_restricted(&kind, line, policy, findings);
    ask_if_unseen(&kind, (&doing, line), act, bounds, findings);
    if policy.are_command_rules_unread {
        let why = format!("{ALLOWLIST_FILE} cannot be read and may forbid it");
        findings.ask_each_time(kind.clone(), line, why);
    }
    if !is_kept_in {
        findings.ask_each_time(kind.clone(), line, "no sandbox is available on this computer".to_owned());
    }
    let (mode, is_own) = (bounds.safety(), bounds.is_own_safety());
    let is_ruled = judged.verdict == Verdict::Allow && mode != SafetyMode::Safe;
    let is_allowed = is_ruled || bounds.is_allowed(&act.tool, &kind, line);
    let mut add = |verdict: Verdict, source: AskSource| {
        if verdict != Verdict::Ask || !is_allowed {
            findings.add(verdict, &doing, AskRule { source, kind: kind.clone(), target: line.to_owned() });
        }
    };
    if judged.is_required && judged.verdict == Verdict::Ask {
        add(Verdict::Ask, AskSource::Unset { why: judged.why.clone() });
    }
    let (verdict, ruling) = policy.verdict_and_source(&kind);
    add(
        verdict,
        match ruling {
            VerdictSource::Setting { key, word } => AskSource::Setting { key, word },
            VerdictSource::Unset { .. } => AskSource::Unset { why: judged.why.clone() },
        },
    );
    add(policy.strictness(&kind), AskSource::NotUnderstood);
    add(kind.mode_verdict(mode), AskSource::SafetyMode { mode, is_own });
}

/// Checks a call of an MCP server.
fn judge_call(
    (server, tool): (&str, &str),
    (key, hints): (&str, McpHints),
    act: &Act,
    bounds: &Bounds,
    policy: &GatePolicy,
    findings: &mut Findings,
) {
    let target = called(server, tool);
    let doing = format!("calling {}", shown_text(&target));
    if !bounds.may_call(key, tool) {
        findings.deny(format!("{doing} is not allowed"));
    }
    let kind = TouchKind::MCP_CALL;
    ask_if_restricted(&kind, &target, policy, findings);
    ask_if_unseen(&kind, (&doing, &target), act, bounds, findings);
    let (verdict, ruling) = policy.ruling_of_call((server, tool), hints);
    let is_said = matches!(&ruling, VerdictSource::Setting { key, .. } if key.starts_with("mcp:"));
    let is_allowed = bounds.is_allowed(&act.tool, &kind, &target);
    let mut add = |verdict: Verdict, source: AskSource| {
        if verdict != Verdict::Ask || !is_allowed || source.asks_each_time() {
            findings.add(verdict, &doing, AskRule { source, kind: kind.clone(), target: target.clone() });
        }
    };
    add(
        verdict,
        match ruling {
            VerdictSource::Setting { key, word } => AskSource::Setting { key, word },
            VerdictSource::Unset { why } => AskSource::Unset { why: why.to_owned() },
        },
    );
    add(policy.strictness(&kind), AskSource::NotUnderstood);
    let (mode, is_own) = (bounds.safety(), bounds.is_own_safety());
    // A rule for this specific call takes precedence over the safety mode.
    if !(is_said && verdict == Verdict::Allow && mode != SafetyMode::Safe) {
        add(kind.mode_verdict(mode), AskSource::SafetyMode { mode, is_own });
    }
}

/// Checks the start of an existing agent. Its tools and files are bounded by the agents that start it, whatever its
/// file says; its prompts and its access to other programs are not.
fn judge_start(id: &str, (path, authority): (&WorkspacePath, &Authority), bounds: &Bounds, findings: &mut Findings) {
    let Err(excess) = bounds.allows(authority) else { return };
    let is_bounded = |excess: &ExcessPermission| match excess {
        ExcessPermission::Tool(_)
        | ExcessPermission::Reads(_)
        | ExcessPermission::Writes(_)
        | ExcessPermission::Safety(_) => true,
        ExcessPermission::McpServer(_)
        | ExcessPermission::Command(_)
        | ExcessPermission::SeesWorkspace
        | ExcessPermission::SeesUser => false,
    };
    let excess: Vec<ExcessPermission> = excess.into_iter().filter(|excess| !is_bounded(excess)).collect();
    if !excess.is_empty() {
        let why = format!("{} has more permissions than the agent that starts it: {}", shown_text(id), listed(&excess));
        findings.ask_each_time(TouchKind::AGENT_START, path.as_str(), why);
    }
}

fn checks_profile(act: &Act) -> bool {
    act.touches.iter().any(|touch| matches!(touch, Touch::Profile(_) | Touch::UnknownProfile { .. }))
}

fn judge_change(
    (kind, path): (&TouchKind, &WorkspacePath),
    doing: &str,
    act: &Act,
    bounds: &Bounds,
    policy: &GatePolicy,
    findings: &mut Findings,
) {
    within(path, &bounds.file_rights().writes, doing, findings);
    judge_place((kind, path), doing, act, bounds, policy, findings);
}

/// Requires approval for taking away the file of an agent, which is then without instructions.
fn judge_removal(kind: &TouchKind, path: &WorkspacePath, findings: &mut Findings) {
    if paths::profile_place(path).is_some() {
        findings.ask_each_time(kind.clone(), path.as_str(), format!("{} defines an agent", shown(path)));
    }
}

/// Denies access to a path that is not in every list.
fn within(path: &WorkspacePath, lists: &[Vec<String>], doing: &str, findings: &mut Findings) {
    for list in lists {
        if !globs::any_matches(list, path.as_str()) {
            // An agent reads and writes only where `reads:` and `writes:` of its file allow it.
            rule!("reads-and-writes-limit-every-path");
            let may = if list.is_empty() { "nothing".to_owned() } else { list.join(", ") };
            findings.deny(format!("{doing} {} is not allowed, only {may}", shown(path)));
        }
    }
}

/// Applies the rules for the place of a change.
fn judge_place(
    (kind, path): (&TouchKind, &WorkspacePath),
    doing: &str,
    act: &Act,
    bounds: &Bounds,
    policy: &GatePolicy,
    findings: &mut Findings,
) {
    let rule = |source| AskRule { source, kind: kind.clone(), target: path.as_str().to_owned() };
    let doing = format!("{doing} {}", shown(path));
    if let Some((verdict, why)) = paths::guard(path) {
        findings.add(verdict, &doing, rule(AskSource::EachTime { why: why.to_owned() }));
    }
    if policy.server_paths.contains(path.as_str()) {
        // An agent that writes a file which an MCP server's command runs needs approval each time.
        rule!("files-of-servers-are-asked");
        let why = "the command of an MCP server names this file and would run its content".to_owned();
        findings.add(Verdict::Ask, &doing, rule(AskSource::EachTime { why }));
    }
    if policy.command_files.contains(path.as_str()) {
        let why = "a command that a rule allows would run this file".to_owned();
        findings.add(Verdict::Ask, &doing, rule(AskSource::EachTime { why }));
    } else if bounds.runs_file(path.as_str()) {
        let why = "a command that waits for approval, or that a person allowed, would run this file".to_owned();
        findings.add(Verdict::Ask, &doing, rule(AskSource::EachTime { why }));
    }
    match policy.at_path(path) {
        Some((Verdict::Deny, glob)) => {
            findings.deny(format!("{doing}: the workspace's settings list {glob} under deny"))
        }
        Some((verdict, glob)) if !bounds.is_allowed(&act.tool, kind, path.as_str()) => {
            findings.add(verdict, &doing, rule(AskSource::Listed { glob: glob.to_owned() }));
        }
        _ => {}
    }
}

fn judge_profile(change: &ProfileChange, bounds: &Bounds, findings: &mut Findings) {
    let ask =
        |findings: &mut Findings, why| findings.ask_each_time(TouchKind::PROFILE_WRITE, change.path.as_str(), why);
    if let Some(id) = &change.reserved_id {
        let why = format!("the id {id:?} is already used in the room; give the agent another id");
        findings.deny(why);
    }
    if let Some(holder) = &change.holder {
        let why = format!("the id {:?} belongs to '{}'; give the agent another id", change.id, shown_text(holder));
        findings.deny(why);
    }
    if change.defines_servers {
        findings.deny(format!("{} adds or changes an MCP server, which only a person does", shown(&change.path)));
    }
    if change.names_coding_agent {
        let why =
            format!("{} sets one of your coding agents as its model, which has its own tools", shown(&change.path));
        ask(findings, why);
    }
    if change.changes_instructions {
        // An agent that changes what an agent is told to do needs approval each time, even for its own file.
        rule!("instructions-change-only-with-approval");
        ask(findings, format!("{} would change the instructions of the agent {:?}", shown(&change.path), change.id));
    }
    if let Some(folder) = &change.in_folder_of_agent {
        ask(findings, format!("{} is in the folder of an agent, {}", shown(&change.path), shown_text(folder)));
    }
    if change.holds_code {
        ask(findings, format!("{} contains code that would run", shown(&change.path)));
    }
    if let Err(excess) = bounds.allows(&change.authority) {
        // No agent gives another one more permissions than it has itself without your approval.
        rule!("agents-cannot-give-more-than-they-have");
        let why = format!(
            "{} would grant permissions that its writer does not have: {}",
            shown(&change.path),
            listed(&excess)
        );
        ask(findings, why);
    }
    // Even an unrestricted agent cannot raise the permissions of an agent that a person has restricted.
    if let Some(current) = &change.current
        && let Err(excess) = current.allows(&change.authority)
    {
        let why = format!(
            "{} would grant the agent permissions that it does not have: {}",
            shown(&change.path),
            listed(&excess)
        );
        ask(findings, why);
    }
    if change.would_inherit {
        // A new agent gets the private memories, sessions and mail of a former one only with your approval.
        rule!("former-memories-are-not-inherited");
        let id = shown_text(&change.id);
        ask(
            findings,
            format!(
                "there was another agent {id}, whose private memories and sessions, and mail, the new one would get"
            ),
        );
    }
    if change.may_be_forgotten {
        let why = format!("too many agent files were deleted to know what {:?} could do", change.id);
        ask(findings, why);
    }
    judge_model(change, bounds, findings);
}

/// Requires approval for another model, which may be billed differently and sends what the agent reads to another
/// provider.
fn judge_model(change: &ProfileChange, bounds: &Bounds, findings: &mut Findings) {
    let new = change.authority.model.as_deref();
    let (standing, whose) = match &change.current {
        Some(current) => (current.model.as_deref(), "it has"),
        None => (bounds.model(), "its writer has"),
    };
    if new != standing {
        let word = |model: Option<&str>| model.map_or("the workspace's own model".to_owned(), shown_text);
        let why = format!("{} would use {}; {whose} {}", shown(&change.path), word(new), word(standing));
        findings.ask_each_time(TouchKind::PROFILE_WRITE, change.path.as_str(), why);
    }
}

fn listed(excess: &[ExcessPermission]) -> String {
    let (named, more) = excess.split_at(excess.len().min(8));
    let named: Vec<String> = named.iter().map(|excess| text::truncate(&excess.to_string(), 80)).collect();
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    format!("{}{more}", named.join(", "))
}

fn shown(path: &WorkspacePath) -> String {
    format!("'{}'", text::truncate(path.as_str(), 120))
}

fn shown_text(given: &str) -> String {
    let visible: String = given.chars().map(|c| if is_invisible(c) { '\u{fffd}' } else { c }).collect();
    text::truncate(&visible, 120)
}
