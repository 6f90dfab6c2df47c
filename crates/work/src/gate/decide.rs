//! The decision: may this act happen, within these bounds, under this policy.

use serde::{Deserialize, Serialize};

use super::act::{Act, ProfileChange, Touch};
use super::authority::{Authority, Excess};
use super::bounds::Bounds;
use super::paths;
use super::policy::GatePolicy;
use super::touch::TouchKind;
use super::verdict::Verdict;
use crate::base::spelling::is_unseen;
use crate::base::{globs, text};
use crate::workspace::vfs::WorkspacePath;

/// No reason is longer, in characters: names and globs in it come from files.
const REASON_CHARS_AT_MOST: usize = 600;

/// What becomes of an act.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// It may happen.
    Allow,
    /// A person is asked first.
    Ask {
        /// Why, for the person: a sentence without a full stop.
        why: String,
    },
    /// It may not happen.
    Deny {
        /// Why, for whoever wanted it: a sentence without a full stop.
        why: String,
    },
}

/// Whether an act may happen. Everything that it touches is judged by the bounds, by their safety modes, by the
/// policy and by where it lies; the strictest verdict counts, with every reason for it.
pub fn decide(act: &Act, bounds: &Bounds, policy: &GatePolicy) -> Decision {
    let mut findings = Findings::default();
    if !bounds.tools().contains(act.tool.as_str()) {
        findings.add(Verdict::Deny, format!("the tool {} is not among those that may be used", act.tool));
    }
    if act.touches.is_empty() {
        findings.add(Verdict::Deny, "what it would touch is not known".to_owned());
    }
    for touch in &act.touches {
        judge_touch(touch, act, bounds, policy, &mut findings);
    }
    findings.decision()
}

/// Verdicts with their reasons.
#[derive(Default)]
struct Findings(Vec<(Verdict, Reason)>);

/// A reason, and which part of the act it is about where that is not said in it.
#[derive(PartialEq)]
struct Reason {
    doing: Option<String>,
    why: String,
}

impl Findings {
    fn add(&mut self, verdict: Verdict, why: String) {
        self.put(verdict, Reason { doing: None, why });
    }

    fn add_about(&mut self, verdict: Verdict, doing: String, why: String) {
        self.put(verdict, Reason { doing: Some(doing), why });
    }

    fn put(&mut self, verdict: Verdict, reason: Reason) {
        if verdict != Verdict::Allow && !self.0.iter().any(|(_, there)| *there == reason) {
            self.0.push((verdict, reason));
        }
    }

    fn decision(self) -> Decision {
        let Some(strictest) = self.0.iter().map(|(verdict, _)| *verdict).max() else { return Decision::Allow };
        let reasons: Vec<Reason> =
            self.0.into_iter().filter(|(verdict, _)| *verdict == strictest).map(|(_, reason)| reason).collect();
        // Whoever asks a person names the act: what is done is said again only where it is more than one thing.
        let is_one_thing = reasons.iter().all(|reason| reason.doing == reasons[0].doing);
        let is_said = strictest == Verdict::Deny || !is_one_thing;
        let whys: Vec<String> = reasons
            .into_iter()
            .map(|Reason { doing, why }| match doing {
                Some(doing) if is_said => format!("{doing}: {why}"),
                _ => why,
            })
            .collect();
        let why = text::truncate(&whys.join("; "), REASON_CHARS_AT_MOST);
        if strictest == Verdict::Deny { Decision::Deny { why } } else { Decision::Ask { why } }
    }
}

fn judge_touch(touch: &Touch, act: &Act, bounds: &Bounds, policy: &GatePolicy, findings: &mut Findings) {
    let mut class = |kind: &TouchKind, doing: &str| {
        let mut add = |verdict, why| findings.add_about(verdict, doing.to_owned(), why);
        let (verdict, why) = policy.ruling(kind);
        add(verdict, why);
        add(policy.strictness(kind), "the workspace's policy could not be understood as a whole".to_owned());
        let mode = bounds.safety();
        add(kind.mode_verdict(mode), format!("the safety mode is {}", mode.word()));
    };
    match touch {
        Touch::Look => class(&TouchKind::FILE_READ, "looking through files"),
        Touch::Read { path } => {
            class(&TouchKind::FILE_READ, &format!("reading {}", shown(path)));
            within(path, &bounds.file_rights().reads, "reading", findings);
        }
        Touch::Write { path } => {
            class(&TouchKind::FILE_WRITE, &format!("writing {}", shown(path)));
            judge_change(path, "writing", bounds, policy, findings);
            if paths::profile_place(path).is_some() && !judges_profile(act) {
                findings.add(Verdict::Deny, format!("what {} would say was not judged", shown(path)));
            }
        }
        Touch::Delete { path } => {
            class(&TouchKind::FILE_DELETE, &format!("deleting {}", shown(path)));
            judge_change(path, "deleting", bounds, policy, findings);
        }
        Touch::Rename { from, to } => {
            class(&TouchKind::FILE_RENAME, &format!("renaming {}", shown(from)));
            judge_change(from, "renaming", bounds, policy, findings);
            judge_change(to, "renaming to", bounds, policy, findings);
            if paths::profile_place(to).is_some() && !judges_profile(act) {
                findings.add(Verdict::Deny, format!("what {} would say was not judged", shown(to)));
            }
        }
        Touch::Spawn { path, is_taken } => {
            class(&TouchKind::AGENT_SPAWN, &format!("starting {}", shown(path)));
            judge_place(path, "starting", policy, findings);
            if *is_taken {
                let why = format!("{} is there already and says something else; take another filename", shown(path));
                findings.add(Verdict::Deny, why);
            }
        }
        Touch::Start { path, id, authority } => {
            class(&TouchKind::AGENT_SPAWN, &format!("starting {}", shown(path)));
            judge_place(path, "starting", policy, findings);
            judge_start(id, authority, bounds, findings);
        }
        Touch::Signal => class(&TouchKind::AGENT_SIGNAL, "telling its starter"),
        Touch::Profile(change) => {
            class(&TouchKind::PROFILE_WRITE, &format!("changing what the agent {:?} is", change.id));
            judge_profile(change, bounds, findings);
        }
        Touch::UnknownProfile { path, remedy } => {
            findings.add(Verdict::Deny, format!("{} says what an agent may do; {remedy}", shown(path)));
        }
        Touch::Other { kind, target } => class(kind, &format!("{} {}", kind.verb(), shown_text(target))),
        Touch::NoPath { why } => findings.add(Verdict::Deny, why.clone()),
        Touch::Forbidden => findings.add(Verdict::Deny, "this is not for tools".to_owned()),
    }
}

/// Whoever is started does no more than those who start it, whatever its file says. What it is told in its prompts,
/// and what it reaches beside the tools, is its own.
fn judge_start(id: &str, authority: &Authority, bounds: &Bounds, findings: &mut Findings) {
    let Err(excess) = bounds.allows(authority) else { return };
    let is_bounded = |excess: &Excess| match excess {
        Excess::Tool(_) | Excess::Reads(_) | Excess::Writes(_) | Excess::Safety(_) => true,
        Excess::McpServer(_) | Excess::Command(_) | Excess::SeesWorkspace | Excess::SeesUser => false,
    };
    let excess: Vec<Excess> = excess.into_iter().filter(|excess| !is_bounded(excess)).collect();
    if !excess.is_empty() {
        findings.add(Verdict::Ask, format!("{} has what its starter has not: {}", shown_text(id), listed(&excess)));
    }
}

fn judges_profile(act: &Act) -> bool {
    act.touches.iter().any(|touch| matches!(touch, Touch::Profile(_) | Touch::UnknownProfile { .. }))
}

fn judge_change(path: &WorkspacePath, doing: &str, bounds: &Bounds, policy: &GatePolicy, findings: &mut Findings) {
    within(path, &bounds.file_rights().writes, doing, findings);
    judge_place(path, doing, policy, findings);
}

/// Whether a path is named by every list.
fn within(path: &WorkspacePath, lists: &[Vec<String>], doing: &str, findings: &mut Findings) {
    for list in lists {
        if !globs::any_matches(list, path.as_str()) {
            let may = if list.is_empty() { "nothing".to_owned() } else { list.join(", ") };
            findings.add(Verdict::Deny, format!("{doing} {} is not allowed, only {may}", shown(path)));
        }
    }
}

/// What is said of a change because of where it lies.
fn judge_place(path: &WorkspacePath, doing: &str, policy: &GatePolicy, findings: &mut Findings) {
    if let Some((verdict, why)) = paths::guard(path) {
        findings.add_about(verdict, format!("{doing} {}", shown(path)), why.to_owned());
    }
    if let Some((verdict, glob)) = policy.at_path(path) {
        let key = if verdict == Verdict::Deny { "deny" } else { "ask" };
        let why = format!("the workspace's policy lists {glob} under {key}");
        findings.add_about(verdict, format!("{doing} {}", shown(path)), why);
    }
}

fn judge_profile(change: &ProfileChange, bounds: &Bounds, findings: &mut Findings) {
    if let Some(id) = &change.reserved_id {
        let why = format!("the id {id:?} stands for something else in the room; give the agent another id");
        findings.add(Verdict::Deny, why);
    }
    if let Some(holder) = &change.holder {
        let why = format!("the id {:?} belongs to '{}'; give the agent another id", change.id, shown_text(holder));
        findings.add(Verdict::Deny, why);
    }
    if change.holds_code {
        findings.add(Verdict::Ask, format!("{} holds code that would run", shown(&change.path)));
    }
    if let Err(excess) = bounds.allows(&change.authority) {
        let why = format!("{} would give more than its writer has: {}", shown(&change.path), listed(&excess));
        findings.add(Verdict::Ask, why);
    }
    // Who may do everything still raises nobody whom a person has restricted.
    if let Some(current) = &change.current
        && let Err(excess) = current.allows(&change.authority)
    {
        let why = format!("{} would give the agent more than it has: {}", shown(&change.path), listed(&excess));
        findings.add(Verdict::Ask, why);
    }
    if change.may_be_forgotten {
        let why = format!("so many agents' files went that it is not known any more what {:?} could do", change.id);
        findings.add(Verdict::Ask, why);
    }
    judge_model(change, bounds, findings);
}

/// Another model is another bill, and may be another company that reads what the agent reads.
fn judge_model(change: &ProfileChange, bounds: &Bounds, findings: &mut Findings) {
    let new = change.authority.model.as_deref();
    let (standing, whose) = match &change.current {
        Some(current) => (current.model.as_deref(), "it has"),
        None => (bounds.model(), "its writer has"),
    };
    if new != standing {
        let word = |model: Option<&str>| model.map_or("the workspace's own model".to_owned(), shown_text);
        let why = format!("{} would ask {}; {whose} {}", shown(&change.path), word(new), word(standing));
        findings.add(Verdict::Ask, why);
    }
}

fn listed(excess: &[Excess]) -> String {
    let (named, more) = excess.split_at(excess.len().min(8));
    let named: Vec<String> = named.iter().map(|excess| text::truncate(&excess.to_string(), 80)).collect();
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    format!("{}{more}", named.join(", "))
}

fn shown(path: &WorkspacePath) -> String {
    format!("'{}'", text::truncate(path.as_str(), 120))
}

fn shown_text(given: &str) -> String {
    let visible: String = given.chars().map(|c| if is_unseen(c) { '\u{fffd}' } else { c }).collect();
    text::truncate(&visible, 120)
}
