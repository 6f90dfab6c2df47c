//! The file `storage/terminal-cmd-allowlist.yaml`: patterns of commands, each allowed or forbidden. Pure.
//!
//! ```yaml
//! ls: true              # ls with any arguments
//! docker ps: true       # docker ps, and docker ps -a
//! npm run test:*: true  # * matches letters within one word, or one word
//! rm: false             # never
//! git push: ask         # needs approval, even if git is allowed
//! ```

use serde_yaml::Value;

use super::ALLOWLIST_FILE;
use super::words::{Command, join};
use super::wrapper_programs::name_of;
use crate::base::Problem;
use crate::gate::servers::fits_pattern;

/// The maximum number of rules in the file.
const MAX_RULES: usize = 2_000;
/// The maximum number of words in a rule.
const MAX_WORDS: usize = 40;

/// The effect of a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RuleEffect {
    Allow,
    Ask,
    Forbid,
}

/// A rule for commands.
#[derive(Clone, PartialEq, Eq, Debug)]
struct CommandRule {
    words: Vec<String>,
    says: RuleEffect,
}

/// The rules of a workspace for commands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CommandRules {
    rules: Vec<CommandRule>,
}

impl CommandRules {
    /// Parses the file; unreadable entries allow nothing and are reported.
    pub fn parse(text: &str) -> (Self, Vec<Problem>) {
        let mut rules = Self::default();
        if text.trim().is_empty() {
            return (rules, Vec::new());
        }
        let problem = |what: String, remedy: &str| Problem::warning(ALLOWLIST_FILE, what, remedy);
        let map = match serde_yaml::from_str::<Value>(text) {
            Ok(Value::Mapping(map)) => map,
            Ok(Value::Null) => return (rules, Vec::new()),
            Ok(_) => {
                let what = "it is not a list of commands; until then every command needs approval".to_owned();
                return (rules, vec![problem(what, "write one command per line, like: docker ps: true")]);
            }
            Err(error) => {
                let line = error.location().map(|place| place.line());
                let what = format!("it cannot be read: {error}; until then every command needs approval");
                return (rules, vec![problem(what, "write one command per line, like: docker ps: true").at_line(line)]);
            }
        };
        let mut problems = Vec::new();
        // In some versions of the reference format, the patterns are below a key of their own.
        let nested = map.get("patterns").and_then(Value::as_mapping).cloned();
        for (pattern, says) in nested.unwrap_or(map) {
            let pattern = match &pattern {
                Value::String(text) => text.clone(),
                other => serde_yaml::to_string(other).unwrap_or_default().trim().to_owned(),
            };
            let words = pattern_words(&pattern);
            let says = match &says {
                Value::Bool(true) => Some(RuleEffect::Allow),
                Value::Bool(false) => Some(RuleEffect::Forbid),
                Value::String(word) => match word.trim().to_lowercase().as_str() {
                    "true" | "allow" | "yes" => Some(RuleEffect::Allow),
                    "false" | "deny" | "no" | "never" => Some(RuleEffect::Forbid),
                    "ask" => Some(RuleEffect::Ask),
                    _ => None,
                },
                _ => None,
            };
            match (words, says) {
                _ if rules.rules.len() >= MAX_RULES => {
                    problems.push(problem(format!("rules after the first {MAX_RULES} are ignored"), "remove some"));
                    break;
                }
                (Ok(words), Some(says)) => rules.rules.push(CommandRule { words, says }),
                (Err(why), says) => {
                    problems.push(problem(format!("the rule {pattern:?} cannot be read: {why}"), "write plain words"));
                    // If the rule was meant to deny a command, all commands with its first word are denied.
                    if let (Some(RuleEffect::Forbid), Some(first)) = (
                        says,
                        pattern
                            .split(|c: char| !c.is_alphanumeric() && !"-_./".contains(c))
                            .find(|word| !word.is_empty()),
                    ) {
                        rules.rules.push(CommandRule { words: vec![first.to_owned()], says: RuleEffect::Forbid });
                    }
                }
                (Ok(words), None) => {
                    problems.push(problem(
                        format!("the rule {pattern:?} is neither true nor false"),
                        "write true, false or ask",
                    ));
                    rules.rules.push(CommandRule { words, says: RuleEffect::Ask });
                }
            }
        }
        (rules, problems)
    }

    /// Whether any rule denies a command.
    pub fn forbids_anything(&self) -> bool {
        self.rules.iter().any(|rule| rule.says == RuleEffect::Forbid)
    }

    /// The words of the longest rule that allows a command; `None` if a rule of at least the same length requires
    /// approval.
    pub fn allowing(&self, words: &[String]) -> Option<&[String]> {
        let rule = self.longest(RuleEffect::Allow, words)?;
        let asks = self.longest(RuleEffect::Ask, words).is_some_and(|asking| asking.len() >= rule.len());
        (!asks).then_some(rule)
    }

    /// The rule that requires approval for a command, as text.
    pub fn approval_rule(&self, words: &[String]) -> Option<String> {
        self.longest(RuleEffect::Ask, words).map(join)
    }

    fn longest(&self, says: RuleEffect, words: &[String]) -> Option<&[String]> {
        let meant = self.rules.iter().filter(|rule| rule.says == says && covers(&rule.words, words));
        meant.max_by_key(|rule| rule.words.len()).map(|rule| rule.words.as_slice())
    }

    /// The rule that denies a command with these words, as text. The path of the program is ignored.
    pub fn forbidding(&self, words: &[String]) -> Option<String> {
        let (program, rest) = words.split_first()?;
        let mut named = vec![name_of(program).to_lowercase()];
        named.extend(rest.iter().cloned());
        let forbids = |rule: &&CommandRule| {
            let mut folded = rule.words.clone();
            folded[0] = name_of(&folded[0]).to_lowercase();
            rule.says == RuleEffect::Forbid
                && (covers(&rule.words, words) || covers(&folded, &named) || covers_in_any_order(&folded, &named))
        };
        self.rules.iter().find(forbids).map(|rule| join(&rule.words))
    }

    /// Whether a rule is exactly this command, without a wildcard.
    pub fn is_exact(&self, rule: &[String], words: &[String]) -> bool {
        rule == words && !rule.iter().any(|word| word.contains('*'))
    }
}

/// Whether a rule covers a command with its options in any order. For example, `rm -rf` also covers `rm -r -f /` and
/// `rm -fr`.
fn covers_in_any_order(rule: &[String], words: &[String]) -> bool {
    let (Some(program), Some(given)) = (rule.first(), words.first()) else { return false };
    if program != given || rule.len() < 2 {
        return false;
    }
    let letters: String = words[1..]
        .iter()
        .filter(|word| word.starts_with('-') && !word.starts_with("--"))
        .map(|word| &word[1..])
        .collect();
    rule[1..].iter().all(|word| {
        match word.strip_prefix('-').filter(|rest| !rest.is_empty() && !rest.starts_with('-')) {
            Some(short) => words[1..].contains(word) || short.chars().all(|letter| letters.contains(letter)),
            None => words[1..].contains(word),
        }
    })
}

/// Splits a pattern, which may contain `*`, into words.
fn pattern_words(pattern: &str) -> Result<Vec<String>, &'static str> {
    const STAR: char = '\u{e000}';
    let without = pattern.replace('*', &STAR.to_string());
    match Command::parse(&without) {
        Command::Plain(words) if words.len() > MAX_WORDS => Err("it has too many words"),
        Command::Plain(words) if words[0].contains(STAR) => Err("its first word must be the name of a program"),
        Command::Plain(words) => Ok(words.into_iter().map(|word| word.replace(STAR, "*")).collect()),
        Command::NeedsShell(why) => Err(why),
    }
}

/// Whether a command begins with the words of a rule.
fn covers(rule: &[String], words: &[String]) -> bool {
    rule.len() <= words.len() && rule.iter().zip(words).all(|(pattern, word)| fits_pattern(pattern, word))
}
