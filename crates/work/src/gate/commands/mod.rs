//! The rules for commands in `storage/terminal-cmd-allowlist.yaml`, and their verdict on a command. Pure.
//!
//! In reading order: a command split into words ([`words`]), the options and further words of programs that are known to
//! be harmless ([`known_programs`]), programs that start others or execute code ([`wrapper_programs`]), the file
//! ([`rules`]) with its expressions ([`deny_expressions`]), the verdict ([`judge`]), and the files whose content a
//! command runs ([`code_files`](mod@code_files)), and the rule with which it may also run changed sources
//! ([`edited_rule`]).
//!
//! Rules match words, never text. They only allow a program that is started directly: nothing that needs a shell, no
//! program by another path, and none that would start a second one. Beyond its own words, a rule covers only what is
//! known to be harmless. A denied command is denied anywhere in a command line.

pub mod code_files;
mod deny_expressions;
pub mod edited_rule;
mod known_programs;
pub mod rules;
pub mod wrapper_programs;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use code_files::{CommandCode, code_files, code_files_of_line};
pub use edited_rule::EditedRule;
pub use rules::CommandRules;
pub use words::Command;

pub use crate::text::shell_words as words;

use super::verdict::Verdict;
use crate::base::text_normalization::is_invisible;
use crate::workspace::{scene_patch, yaml};

/// The path of the file with the rules.
pub use crate::workspace::layout::ALLOWLIST_FILE;

/// The verdict of the rules on a command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CommandVerdict {
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, as a clause about the command without a full stop.
    pub why: String,
    /// Whether a rule requires approval, even if the workspace's settings allow all commands.
    #[serde(default)]
    pub is_required: bool,
}

impl CommandVerdict {
    fn ask(why: impl Into<String>) -> Self {
        Self { verdict: Verdict::Ask, why: why.into(), is_required: false }
    }
}

/// The verdict of the rules on a command line that runs in this folder of the workspace: empty for the top, `None` if it
/// is unknown.
pub fn judge(line: &str, folder: Option<&str>, rules: &CommandRules) -> CommandVerdict {
    let command = Command::parse(line);
    if let Some(rule) = forbidden_by(line, &command, rules, 0) {
        // What a rule forbids is forbidden anywhere in a command line.
        rule!("forbidden-commands-are-forbidden-anywhere");
        return CommandVerdict {
            verdict: Verdict::Deny,
            why: format!("the rule {rule:?} of {ALLOWLIST_FILE} forbids it"),
            is_required: true,
        };
    }
    if let Some(rule) = rules.unreadable_denial() {
        let why = format!("the rule {rule:?} of {ALLOWLIST_FILE} cannot be read and may forbid it");
        return CommandVerdict { is_required: true, ..CommandVerdict::ask(why) };
    }
    if line.chars().any(|c| c != '\t' && (is_invisible(c) || c.is_control())) {
        return CommandVerdict::ask("it has an invisible character");
    }
    let words = match &command {
        Command::Plain(words) => words,
        Command::NeedsShell(why) => {
            let parts = words::parts(line);
            let is_required = parts.iter().any(|words| rules.approval_rule(words).is_some());
            return CommandVerdict { is_required, ..CommandVerdict::ask(format!("it needs a shell: {why}")) };
        }
    };
    let Some(rule) = rules.allowing(words, folder) else {
        if let Some(rule) = rules.approval_rule(words) {
            let why = format!("the rule {rule:?} of {ALLOWLIST_FILE} requires approval");
            return CommandVerdict { is_required: true, ..CommandVerdict::ask(why) };
        }
        return CommandVerdict::ask(match rules.allowing_elsewhere(words) {
            Some((rule, holds_in)) => {
                // A rule for a command holds at the top of the workspace, or in the folder that it names.
                rule!("command-rules-hold-in-one-folder");
                let holds_in = if holds_in.is_empty() { "the top of the workspace" } else { holds_in };
                format!("the rule {:?} of {ALLOWLIST_FILE} holds in {holds_in} only", words::join(rule))
            }
            None => {
                // A command that no rule of the workspace allows needs your approval.
                rule!("commands-need-a-rule-or-approval");
                format!("no rule of {ALLOWLIST_FILE} allows it")
            }
        });
    };
    if words.len() > 1 && rules.is_exact(rule, words) {
        return allowed(rule);
    }
    match wrapper_programs::uncovered_reason(words, rule) {
        Some(why) => CommandVerdict::ask(format!("the rule {:?} does not cover it: {why}", words::join(rule))),
        None => allowed(rule),
    }
}

/// Whether the rules allow a command line in this folder also with sources that changed since a person last saw them.
pub fn runs_edited(line: &str, folder: &str, rules: &CommandRules) -> bool {
    let Command::Plain(words) = Command::parse(line) else { return false };
    judge(line, Some(folder), rules).verdict == Verdict::Allow && rules.runs_edited(&words, folder)
}

/// A command line with the folder in which it runs, as the target of a permission: a permission holds in one folder. The
/// line is one that [`words::join`] wrote, so that brackets outside of quotes are only those added here.
pub fn located(line: &str, folder: Option<&str>) -> String {
    match folder {
        Some("") => line.to_owned(),
        Some(folder) => format!("{line} (in {folder}/)"),
        None => format!("{line} (in an unknown folder)"),
    }
}

/// The command line and the folder of a [`located`] target; `None` if the folder is unknown.
pub fn line_and_folder(target: &str) -> Option<(&str, &str)> {
    if target.ends_with(" (in an unknown folder)") {
        return None;
    }
    let located = target.strip_suffix("/)").and_then(|located| located.rsplit_once(" (in "));
    Some(located.unwrap_or((target, "")))
}

/// A rule that covers this command and similar ones and may be offered to a person. It is a prefix of the command, and
/// `None` for commands that need a shell, start other programs or run given code.
pub fn pattern_for(line: &str) -> Option<String> {
    let Command::Plain(words) = Command::parse(line) else { return None };
    let pattern = words::join(wrapper_programs::pattern_of(&words)?);
    let (rules, problems) = CommandRules::parse(&with_rule("", &pattern).ok()?);
    let is_covered = problems.is_empty() && judge(line, Some(""), &rules).verdict == Verdict::Allow;
    is_covered.then_some(pattern)
}

/// Adds a rule that allows this pattern to the file, and keeps everything else in it, including comments. The error
/// says why that is impossible.
pub fn with_rule(text: &str, pattern: &str) -> Result<String, String> {
    with_entry(text, "", pattern, true.into())
}

/// Adds an entry for this pattern in a folder (empty for the top of the workspace), or replaces the value of the one that
/// has the same words. Keeps everything else in the file.
fn with_entry(text: &str, folder: &str, pattern: &str, value: Value) -> Result<String, String> {
    let old = yaml::parse(text).map_err(|error| format!("{ALLOWLIST_FILE} is invalid YAML: {}", error.what))?;
    let Value::Object(mut all) = (if old.is_null() { json!({}) } else { old.clone() }) else {
        return Err(format!("{ALLOWLIST_FILE} is not a list of commands"));
    };
    let nested = all.get("patterns").is_some_and(Value::is_object).then(|| "patterns".to_owned());
    let mut rules = &mut all;
    for key in nested.into_iter().chain((!folder.is_empty()).then(|| format!("{folder}/"))) {
        let Value::Object(below) = rules.entry(key).or_insert_with(|| json!({})) else {
            return Err(format!("{ALLOWLIST_FILE} is not a list of commands"));
        };
        rules = below;
    }
    let has_same_words = |key: &&String| match (Command::parse(key), Command::parse(pattern)) {
        (Command::Plain(words), Command::Plain(added)) => words == added,
        _ => false,
    };
    let key = rules.keys().find(has_same_words).cloned().unwrap_or_else(|| pattern.to_owned());
    rules.insert(key, value);
    let written = scene_patch::patch(text, &old, &Value::Object(all));
    let is_readable = CommandRules::parse(&written).0 != CommandRules::parse(text).0 || written == text;
    if is_readable { Ok(written) } else { Err(format!("{ALLOWLIST_FILE} has too many rules")) }
}

fn allowed(rule: &[String]) -> CommandVerdict {
    let why = format!("the rule {:?} of {ALLOWLIST_FILE} allows it", words::join(rule));
    CommandVerdict { verdict: Verdict::Allow, why, is_required: false }
}

/// The maximum depth of commands within commands that is searched for denied ones.
const MAX_DEPTH: usize = 4;

/// The rule that denies a part of a command, wherever it occurs: between operators, in a substitution, after a program
/// that starts others, or in a text that a shell would read.
fn forbidden_by(line: &str, command: &Command, rules: &CommandRules, depth: usize) -> Option<String> {
    if !rules.forbids_anything() || depth > MAX_DEPTH {
        return None;
    }
    if let Some(rule) = rules.expression_forbidding(line) {
        return Some(rule);
    }
    let parts: Vec<Vec<String>> = match command {
        Command::Plain(words) => vec![words.clone()],
        Command::NeedsShell(_) => words::parts(line),
    };
    parts.iter().find_map(|words| {
        let starts = wrapper_programs::program_positions(words);
        let here = starts.into_iter().find_map(|at| rules.forbidding(&words[at..]));
        here.or_else(|| {
            // A word with spaces may be a command line itself.
            let texts =
                words.iter().filter(|word| word.contains(char::is_whitespace) || word.contains([';', '|', '&']));
            texts.into_iter().find_map(|text| forbidden_by(text, &Command::NeedsShell("a text"), rules, depth + 1))
        })
    })
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
#[cfg(test)]
pub(in crate::gate) use tests::hostile_cases;
