//! Which commands a person has allowed or forbidden: the file `storage/terminal-cmd-allowlist.yaml`, and what it says of
//! a command. Pure.
//!
//! In reading order: a command taken apart into its words ([`words`]), programs that start others or do what somebody
//! writes into their options ([`programs`]), the file ([`rules`]), and the judgement ([`judge`]).
//!
//! A rule is judged on words, never on text. It allows only a program that is started as it is: nothing that needs a
//! shell, no program by another path, and none that would start a second one. What it forbids, it forbids wherever it
//! stands in a command.

pub mod programs;
pub mod rules;
pub mod words;

use serde::{Deserialize, Serialize};

pub use rules::CommandRules;
pub use words::Command;

use super::verdict::Verdict;
use crate::base::spelling::is_unseen;

/// The file of rules.
pub use crate::workspace::layout::ALLOWLIST_FILE;

/// What the rules say of a command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Judged {
    /// It may run, a person is asked, or it may not.
    pub verdict: Verdict,
    /// Why, as a clause about the command, without a full stop.
    pub why: String,
}

impl Judged {
    fn ask(why: impl Into<String>) -> Self {
        Self { verdict: Verdict::Ask, why: why.into() }
    }
}

/// What the rules say of a command line.
pub fn judge(line: &str, rules: &CommandRules) -> Judged {
    let command = Command::parse(line);
    if let Some(rule) = forbidden_by(line, &command, rules, 0) {
        return Judged { verdict: Verdict::Deny, why: format!("the rule {rule:?} of {ALLOWLIST_FILE} forbids it") };
    }
    if line.chars().any(|c| c != '\t' && (is_unseen(c) || c.is_control())) {
        return Judged::ask("it has a character that cannot be seen");
    }
    let words = match &command {
        Command::Plain(words) => words,
        Command::NeedsShell(why) => return Judged::ask(format!("it needs a shell: {why}")),
    };
    let Some(rule) = rules.allowing(words) else {
        return Judged::ask(match rules.asking(words) {
            Some(rule) => format!("the rule {rule:?} of {ALLOWLIST_FILE} asks"),
            None => format!("no rule of {ALLOWLIST_FILE} allows it"),
        });
    };
    if words.len() > 1 && rules.is_exact(rule, words) {
        return allowed(rule);
    }
    match programs::beyond(words, rule) {
        Some(why) => Judged::ask(format!("the rule {:?} does not cover it: {why}", words::written(rule))),
        None => allowed(rule),
    }
}

fn allowed(rule: &[String]) -> Judged {
    let why = format!("the rule {:?} of {ALLOWLIST_FILE} allows it", words::written(rule));
    Judged { verdict: Verdict::Allow, why }
}

/// So deep are commands within commands looked for.
const DEPTH_AT_MOST: usize = 4;

/// The rule that forbids a part of a command, wherever that part stands: between operators, in a substitution, behind a
/// program that starts others, or in a text that a shell would read.
fn forbidden_by(line: &str, command: &Command, rules: &CommandRules, depth: usize) -> Option<String> {
    if !rules.forbids_anything() || depth > DEPTH_AT_MOST {
        return None;
    }
    let parts: Vec<Vec<String>> = match command {
        Command::Plain(words) => vec![words.clone()],
        Command::NeedsShell(_) => words::parts(line),
    };
    parts.iter().find_map(|words| {
        let starts = programs::places_of_programs(words);
        let here = starts.into_iter().find_map(|at| rules.forbidding(&words[at..]));
        here.or_else(|| {
            // A word with blanks may be a command line of its own.
            let texts =
                words.iter().filter(|word| word.contains(char::is_whitespace) || word.contains([';', '|', '&']));
            texts.into_iter().find_map(|text| forbidden_by(text, &Command::NeedsShell("a text"), rules, depth + 1))
        })
    })
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
