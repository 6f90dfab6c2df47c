//! The code of the workspace that a call would run, and decisions about calls whose code changed.

use super::activation::{Call, CallProgress};
use super::core::Kernel;
use crate::base::ActivationKey;
use crate::gate::commands::{self, ALLOWLIST_FILE, CommandCode, EditedRule};
use crate::gate::{AskRule, AskSource, CommandRules, Decision, TouchEffect, TouchKind, ask_rules};
use crate::gateway::{CodeCheck, SeenCode};
use crate::tools::{COMMANDS, OWN_TOOLS, ToolPlan};

/// The code that a call would run: of a command, a terminal of a coding agent, or a program that such an agent asks to run
/// itself.
pub(super) fn code_of(plan: &ToolPlan, rules: &CommandRules) -> CodeCheck {
    let runs = [COMMANDS, OWN_TOOLS].contains(&&*plan.executor);
    let commands = plan.touches.iter().filter(|touch| runs && touch.kind == TouchKind::PROCESS_RUN);
    let mut check = CodeCheck::default();
    let mut may_all_change = true;
    for touch in commands {
        if let TouchEffect::RunsIn { folder } = &touch.becomes {
            let code = CommandCode::of_line(&touch.target, folder);
            check.files.extend(code.files);
            check.sources.extend(code.sources);
            check.unnamed.extend(code.gaps.into_iter().map(str::to_owned));
            check.folder.clone_from(folder);
            may_all_change &= commands::runs_edited(&touch.target, folder, rules);
        }
    }
    check.runs_edited = may_all_change && !check.is_empty();
    check
}

/// The reason that a rule for sources that changed would remove.
fn edited_reason() -> AskSource {
    let why = format!("a rule with `edited` in {ALLOWLIST_FILE} would run changed sources without asking");
    AskSource::EachTime { why }
}

/// The rule with which a call that only needs approval because its code changed would run changed sources without
/// asking. `allowlist` is the file with the rules for commands.
pub(super) fn edited_rule(plan: &ToolPlan, rules: &[AskRule], allowlist: &str) -> Option<EditedRule> {
    let reason = edited_reason();
    rules.iter().find(|rule| rule.source == reason)?;
    let mut commands = plan.touches.iter().filter(|touch| touch.kind == TouchKind::PROCESS_RUN);
    let (touch, None) = (commands.next()?, commands.next()) else { return None };
    match &touch.becomes {
        TouchEffect::RunsIn { folder } => EditedRule::for_command(&touch.target, folder, allowlist),
        _ => None,
    }
}

impl Kernel {
    /// The decision about a call whose command would run this code, some of which changed: each change needs approval,
    /// unless a person just allowed the call.
    pub(super) fn with_changed_code(
        &self,
        decision: Decision,
        call: &Call,
        (plan, code): (&ToolPlan, &CodeCheck),
    ) -> Decision {
        let Some(seen) = call.code.as_deref().filter(|_| !call.is_allowed) else { return decision };
        let target = plan.touches.first().map_or("", |touch| &touch.target);
        let mut changes = self.known_code.changes(seen, target);
        if !changes.is_empty() && decision == Decision::Allow && !code.sources.is_empty() {
            changes.push(AskRule { source: edited_reason(), kind: TouchKind::PROCESS_RUN, target: target.to_owned() });
        }
        let mut rules = match decision {
            Decision::Deny { .. } => return decision,
            _ if changes.is_empty() => return decision,
            Decision::Allow => Vec::new(),
            Decision::Ask { rules, .. } => rules,
        };
        // The changes are shown whole, however many other reasons there are.
        let others = Some(ask_rules::because(&rules)).filter(|others| !others.is_empty());
        let why: Vec<String> = others.into_iter().chain(changes.iter().map(|rule| rule.source.because())).collect();
        rules.extend(changes);
        Decision::Ask { why: why.join(", and "), rules }
    }

    /// Applies a look at the files that a call would run, after which the gate decides about it again. A permission for
    /// exactly these files stays.
    pub(super) fn note_code(&mut self, (key, turn, index): (ActivationKey, u32, usize), seen: SeenCode) {
        self.known_code.note(&seen);
        let Some(call) = self.running_call_mut(key, turn, index) else { return };
        call.is_allowed &= call.code.as_deref() == Some(&seen);
        call.code = Some(Box::new(seen));
        call.looks += 1;
        (call.is_code_current, call.order) = (true, None);
        call.progress = CallProgress::Pending;
        if let Some(activation) = self.activations.get_mut(&key) {
            activation.is_unwritten = true;
        }
        self.is_unsettled = true;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gate::DeclaredTouch;
    use crate::gateway::{SourceFolder, SourceKind};
    use crate::tools::Planned;

    fn check(line: &str, folder: &str, rules: &str) -> CodeCheck {
        let touches = vec![DeclaredTouch::command(line, folder)];
        let plan = Planned::order(COMMANDS, json!({}), touches, ("running", line)).of("execute_command");
        let (rules, problems) = CommandRules::parse(rules);
        assert_eq!(problems, [], "{line}");
        code_of(&plan, &rules)
    }

    #[test]
    fn a_command_runs_the_sources_of_its_tool() {
        let found = check("cargo test", "web", "");
        assert!(found.files.contains("web/Cargo.toml") && !found.runs_edited);
        assert_eq!(found.sources, [SourceFolder { folder: "web".to_owned(), kind: SourceKind::Rust }].into());
        assert_eq!(check("ls src", "", ""), CodeCheck::default());
        let many: Vec<String> = (0..300).map(|number| format!("{number}.sh")).collect();
        assert_eq!(check(&format!("own {}", many.join(" ")), "", "").unnamed, ["it names too many files"]);
    }

    #[test]
    fn only_a_rule_that_says_so_covers_sources_that_changed() {
        for (rules, runs_edited) in [
            ("", false),
            ("cargo test: true\n", false),
            ("cargo test: edited\n", true),
            ("cargo test: edited\ncargo test --all: true\n", false),
            ("cargo test: true\ncargo test --all: edited\n", true),
            ("cargo test: edited\ncargo test --all: ask\n", false),
            ("cargo test: edited\ncargo: false\n", false),
            ("web/:\n  cargo test: edited\n", false),
            ("cargo build: edited\n", false),
        ] {
            assert_eq!(check("cargo test --all", "", rules).runs_edited, runs_edited, "{rules}");
        }
        assert!(check("cargo test", "web", "web/:\n  cargo test: edited\n").runs_edited);
        assert!(!check("sh -c 'cargo test; ./x.sh'", "", "cargo test: edited\n").runs_edited);
    }

    #[test]
    fn a_rule_for_changed_sources_is_offered_only_where_it_would_be_enough() {
        let plan = |lines: &[&str]| {
            let touches = lines.iter().map(|line| DeclaredTouch::command(*line, "")).collect();
            Planned::order(COMMANDS, json!({}), touches, ("running", lines[0])).of("execute_command")
        };
        let rule = |source| AskRule { source, kind: TouchKind::PROCESS_RUN, target: "cargo test".to_owned() };
        let changed = rule(AskSource::EachTime { why: "src/lib.rs changed".to_owned() });
        let offered = |lines: &[&str], rules: &[AskRule]| edited_rule(&plan(lines), rules, "cargo test: true\n");
        let both = [changed.clone(), rule(edited_reason())];
        let expected = EditedRule { command: "cargo test".to_owned(), folder: String::new() };
        assert_eq!(offered(&["cargo test"], &both), Some(expected));
        assert_eq!(offered(&["cargo test"], &[changed]), None, "another rule asks as well");
        assert_eq!(offered(&["cargo test", "cargo build"], &both), None, "one rule is not enough");
        assert_eq!(offered(&["cargo test; ls"], &both), None, "no rule covers a shell");
    }
}
