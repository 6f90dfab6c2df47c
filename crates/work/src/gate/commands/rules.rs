//! The file `storage/terminal-cmd-allowlist.yaml`: patterns of commands, each allowed or forbidden. Pure.
//!
//! ```yaml
//! ls: true              # ls with any arguments
//! docker ps: true       # docker ps, and docker ps -a
//! npm run test:*: true  # * matches letters within one word, or one word
//! cargo test: edited    # allowed, also with sources that changed since
//! rm: false             # never
//! git push: ask         # needs approval, even if git is allowed
//! /\\s-o\\b/: false       # an expression forbids, or asks
//! web/:                 # in this folder; other rules hold at the top of the workspace
//!   npm test: true
//! ```

use std::cell::RefCell;
use std::rc::Rc;

use serde_yaml::Value;

use super::ALLOWLIST_FILE;
use super::deny_expressions::{DenyExpression, programs_meant};
use super::known_programs::name_of;
use super::words::{Command, join, parts};
use super::wrapper_programs::{covers_nothing, holds_everywhere};
use crate::base::Problem;
use crate::gate::servers::fits_pattern;
use crate::text::yaml;
use crate::workspace::WorkspaceTrust;
use crate::workspace::trust::{TRUST_REMEDY, Widening};
use crate::workspace::vfs::WorkspacePath;

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

/// The word for a rule that allows a command also with sources that changed.
pub(super) const EDITED: &str = "edited";

/// A rule for commands.
#[derive(Clone, PartialEq, Eq, Debug)]
struct CommandRule {
    words: Vec<String>,
    says: RuleEffect,
    /// The folder in which it allows a command; empty for the top of the workspace. Rules that forbid or require
    /// approval hold in every folder.
    folder: String,
    /// Whether a command that it allows may run sources that changed since a person last saw them.
    runs_edited: bool,
}

impl CommandRule {
    fn widening(&self) -> Widening {
        let rule = join(&self.words);
        let rule = if self.folder.is_empty() { rule } else { format!("{}/: {rule}", self.folder) };
        let (value, sources) =
            if self.runs_edited { (EDITED, ", and with sources that agents change") } else { ("true", "") };
        let sentence = format!("runs {rule:?}, with what the rule covers{sources}, without asking you");
        Widening::new(ALLOWLIST_FILE, rule, value, sentence)
    }
}

/// The rules of a workspace for commands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CommandRules {
    rules: Vec<CommandRule>,
    /// Whether the file cannot be read, so that it may forbid any command.
    is_unread: bool,
    /// Rules that are expressions, each with whether it forbids; otherwise it requires approval.
    expressions: Vec<(DenyExpression, bool)>,
    /// An unreadable rule that may have been meant to forbid any command.
    unreadable_denial: Option<String>,
}

thread_local! {
    /// The rules that were parsed last, with their text: every command is judged by the same file until it changes.
    static LAST_PARSED: RefCell<(String, Rc<CommandRules>)> = RefCell::default();
}

impl CommandRules {
    /// Returns the rules in this text, which is parsed only if it is not the last one.
    pub fn of(text: &str) -> Rc<Self> {
        LAST_PARSED.with_borrow_mut(|last| {
            if last.0 != text {
                *last = (text.to_owned(), Rc::new(Self::parse(text).0));
            }
            Rc::clone(&last.1)
        })
    }

    /// Parses the file; unreadable entries allow nothing and are reported.
    pub fn parse(text: &str) -> (Self, Vec<Problem>) {
        let mut rules = Self::default();
        if text.trim().is_empty() {
            return (rules, Vec::new());
        }
        let map = match yaml::from_str::<Value>(text) {
            Ok(Value::Mapping(map)) => map,
            Ok(Value::Null) => return (rules, Vec::new()),
            Ok(_) => {
                rules.is_unread = true;
                rules.add_readable_denials(text);
                let what = "it is not a list of commands; until then every command needs approval".to_owned();
                return (rules, vec![problem(what, "write one command per line, like: docker ps: true")]);
            }
            Err(error) => {
                // While the list of allowed commands cannot be read, every command needs your approval.
                rule!("unreadable-command-rules-allow-nothing");
                rules.is_unread = true;
                rules.add_readable_denials(text);
                let what = format!("it cannot be read: {error}; until then every command needs approval");
                let problem = problem(what, "write one command per line, like: docker ps: true");
                return (rules, vec![problem.at_line(error.line)]);
            }
        };
        let mut problems = Vec::new();
        // In some versions of the reference format, the patterns are below a key of their own.
        let nested = map.get("patterns").and_then(Value::as_mapping).cloned();
        rules.add_all(nested.unwrap_or(map), "", &mut problems);
        (rules, problems)
    }

    fn add_all(&mut self, map: serde_yaml::Mapping, folder: &str, problems: &mut Vec<Problem>) {
        for (pattern, says) in map {
            if self.rules.len() + self.expressions.len() >= MAX_RULES {
                problems.push(problem(format!("rules after the first {MAX_RULES} are ignored"), "remove some"));
                let what = "rules that are ignored".to_owned();
                self.unreadable_denial.get_or_insert(what);
                break;
            }
            let pattern = match &pattern {
                Value::String(text) => text.clone(),
                other => serde_yaml::to_string(other).unwrap_or_default().trim().to_owned(),
            };
            if let (Some(named), Value::Mapping(rules)) = (pattern.strip_suffix('/'), &says)
                && folder.is_empty()
                && effect_of(&says).is_none()
            {
                match WorkspacePath::new(named) {
                    Ok(named) => self.add_all(rules.clone(), named.as_str(), problems),
                    Err(why) => {
                        problems.push(problem(format!("the folder {pattern:?} cannot be used: {why}"), "write web/:"));
                        self.unreadable_denial.get_or_insert(pattern);
                    }
                }
                continue;
            }
            let runs_edited = is_edited(&says);
            let says = effect_of(&says);
            if says.is_none() {
                let what = format!("the rule {pattern:?} is neither true nor false");
                problems.push(problem(what, "write true, false, ask or edited"));
            }
            let before = self.rules.len();
            if let Some(problem) = self.add(&pattern, says.unwrap_or(RuleEffect::Ask), folder) {
                problems.push(problem);
            }
            self.rules[before..].iter_mut().for_each(|rule| rule.runs_edited = runs_edited);
        }
    }

    /// Adds a rule. Returns what is wrong with it.
    fn add(&mut self, pattern: &str, says: RuleEffect, folder: &str) -> Option<Problem> {
        let why = match (DenyExpression::parse(pattern), says) {
            (Some(_), RuleEffect::Allow) => {
                "an expression can only forbid (false) or require approval (ask)".to_owned()
            }
            (Some(Ok(expression)), _) => {
                self.expressions.push((expression, says == RuleEffect::Forbid));
                return None;
            }
            (Some(Err(why)), _) => why,
            (None, _) => match pattern_words(pattern, says) {
                Ok(words) => {
                    let is_void = says == RuleEffect::Allow && covers_nothing(&words);
                    self.rules.push(CommandRule { words, says, folder: folder.to_owned(), runs_edited: false });
                    let what = || format!("the rule {pattern:?} allows nothing, because it does not say which command");
                    return is_void.then(|| problem(what(), "write more words of the command, like: cargo test: true"));
                }
                Err(why) => why.to_owned(),
            },
        };
        if says != RuleEffect::Allow {
            self.add_as_strictly_as_meant(pattern, says);
        }
        Some(problem(format!("the rule {pattern:?} cannot be read: {why}"), "write plain words"))
    }

    /// Adds the widest rules that an unreadable one could mean: every program that it could name, or any command.
    fn add_as_strictly_as_meant(&mut self, pattern: &str, says: RuleEffect) {
        // A rule that forbids and cannot be read forbids every program that it could mean.
        rule!("unreadable-denials-deny-what-they-could-mean");
        let programs: Vec<String> = match DenyExpression::parse(pattern) {
            Some(_) => programs_meant(pattern).unwrap_or_default(),
            None => {
                let is_name = |name: &String| name.chars().any(char::is_alphanumeric);
                parts(pattern).into_iter().filter_map(|words| words.into_iter().find(is_name)).collect()
            }
        };
        if programs.is_empty() {
            self.unreadable_denial.get_or_insert(pattern.to_owned());
        }
        let rule = |program| CommandRule { words: vec![program], says, folder: String::new(), runs_edited: false };
        self.rules.extend(programs.into_iter().map(rule));
    }

    /// Adds the rules of an unreadable file that forbid something, as far as single lines can be read.
    fn add_readable_denials(&mut self, text: &str) {
        for line in text.lines().take(MAX_RULES) {
            let entry = yaml::from_str::<Value>(line.trim().trim_start_matches("- ")).ok();
            let entry = entry.as_ref().and_then(Value::as_mapping).and_then(|map| map.iter().next());
            if let Some((Value::String(pattern), says)) = entry
                && effect_of(says) == Some(RuleEffect::Forbid)
            {
                self.add(pattern, RuleEffect::Forbid, "");
            }
        }
    }

    /// An unreadable rule that may have been meant to forbid any command, so that each needs approval.
    pub fn unreadable_denial(&self) -> Option<&str> {
        self.unreadable_denial.as_deref()
    }

    /// Whether the file cannot be read, so that it may forbid any command.
    pub fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// What the rules want to be allowed: each rule that allows a command.
    pub fn widenings(&self) -> impl Iterator<Item = Widening> {
        let allowing = self.rules.iter().filter(|rule| rule.says == RuleEffect::Allow);
        allowing.map(CommandRule::widening)
    }

    /// The rules as far as the person trusts them: others that allow something ask instead.
    #[must_use]
    pub fn trusted(mut self, trust: &WorkspaceTrust) -> Self {
        if !trust.is_everything() {
            let untrusted = |rule: &&mut CommandRule| rule.says == RuleEffect::Allow && !trust.allows(&rule.widening());
            self.rules.iter_mut().filter(untrusted).for_each(|rule| rule.says = RuleEffect::Ask);
        }
        self
    }

    /// The problem with rules that allow nothing because the person has not trusted them. In a restricted workspace,
    /// that is said once for everything.
    pub fn untrusted_problem(&self, trust: &WorkspaceTrust) -> Option<Problem> {
        let untrusted: Vec<String> =
            self.widenings().filter(|widening| !trust.allows(widening)).map(|widening| widening.key).collect();
        let first = untrusted.first().filter(|_| !trust.is_restricted())?;
        let more = if untrusted.len() > 1 { format!(" and {} more rules", untrusted.len() - 1) } else { String::new() };
        let what = format!("{first:?}{more} asks until you trust it, because you have not seen it yet");
        Some(Problem::warning(ALLOWLIST_FILE, what, TRUST_REMEDY))
    }

    /// Whether any rule denies a command.
    pub fn forbids_anything(&self) -> bool {
        self.rules.iter().any(|rule| rule.says == RuleEffect::Forbid)
            || self.expressions.iter().any(|(_, forbids)| *forbids)
    }

    /// The expression that forbids a command, or a part of a command line, with this text.
    pub fn expression_forbidding(&self, command: &str) -> Option<String> {
        let mut forbidding = self.expressions.iter().filter(|(_, forbids)| *forbids).map(|(expression, _)| expression);
        forbidding.find(|expression| expression.matches(command)).map(|expression| expression.text().to_owned())
    }

    /// The expression that requires approval for a command.
    fn expression_asking(&self, words: &[String]) -> Option<String> {
        let command = words.join(" ");
        let mut asking = self.expressions.iter().filter(|(_, forbids)| !forbids).map(|(expression, _)| expression);
        asking.find(|expression| expression.matches(&command)).map(|expression| expression.text().to_owned())
    }

    /// The words of the longest rule that allows a command in a folder (`None` for an unknown one), or in any folder if
    /// its program only reads files. Returns `None` if a rule of at least the same length requires approval.
    pub fn allowing(&self, words: &[String], folder: Option<&str>) -> Option<&[String]> {
        let is_everywhere = holds_everywhere(words);
        let holds = |rule: &CommandRule| is_everywhere || folder == Some(rule.folder.as_str());
        let rule = self.longest(RuleEffect::Allow, words, holds)?;
        let asks =
            self.longest(RuleEffect::Ask, words, |_| true).is_some_and(|asking| asking.words.len() >= rule.words.len());
        (!asks && self.expression_asking(words).is_none()).then_some(&*rule.words)
    }

    /// Whether the rule that allows a command in a folder allows it also with sources that changed. Of several rules of
    /// the same length, each has to.
    pub fn runs_edited(&self, words: &[String], folder: &str) -> bool {
        let Some(longest) = self.allowing(words, Some(folder)).map(<[String]>::len) else { return false };
        let is_everywhere = holds_everywhere(words);
        let mut allowing = self.rules.iter().filter(|rule| {
            rule.says == RuleEffect::Allow
                && rule.words.len() == longest
                && covers(&rule.words, words)
                && (is_everywhere || rule.folder == folder)
        });
        allowing.all(|rule| rule.runs_edited)
    }

    /// The words of the longest rule that allows a command in another folder, and that folder.
    pub fn allowing_elsewhere(&self, words: &[String]) -> Option<(&[String], &str)> {
        let rule = self.longest(RuleEffect::Allow, words, |_| true)?;
        Some((rule.words.as_slice(), rule.folder.as_str()))
    }

    /// The words of each rule that allows commands, and the folder in which it holds.
    pub fn allowed(&self) -> impl Iterator<Item = (&[String], &str)> {
        let allowing = self.rules.iter().filter(|rule| rule.says == RuleEffect::Allow);
        allowing.map(|rule| (rule.words.as_slice(), rule.folder.as_str()))
    }

    /// The rule that requires approval for a command, as text.
    pub fn approval_rule(&self, words: &[String]) -> Option<String> {
        self.expression_asking(words)
            .or_else(|| self.longest(RuleEffect::Ask, words, |_| true).map(|rule| join(&rule.words)))
    }

    fn longest(
        &self,
        says: RuleEffect,
        words: &[String],
        holds: impl Fn(&CommandRule) -> bool,
    ) -> Option<&CommandRule> {
        let meant = self.rules.iter().filter(|rule| rule.says == says && covers(&rule.words, words) && holds(rule));
        meant.max_by_key(|rule| rule.words.len())
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
        let by_words = self.rules.iter().find(forbids).map(|rule| join(&rule.words));
        by_words
            .or_else(|| self.expression_forbidding(&words.join(" ")))
            .or_else(|| self.expression_forbidding(&named.join(" ")))
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
            Some(short) => {
                words[1..].contains(word)
                    || short.chars().filter(|letter| *letter != '*').all(|letter| letters.contains(letter))
            }
            None => words[1..].contains(word),
        }
    })
}

fn problem(what: String, remedy: &str) -> Problem {
    Problem::warning(ALLOWLIST_FILE, what, remedy)
}

/// What the value of an entry says. An entry may also be `{ approve: false, matchCommandLine: true }`.
fn effect_of(value: &Value) -> Option<RuleEffect> {
    match value {
        Value::Bool(true) => Some(RuleEffect::Allow),
        Value::Bool(false) => Some(RuleEffect::Forbid),
        Value::String(word) => match word.trim().to_lowercase().as_str() {
            "true" | "allow" | "yes" => Some(RuleEffect::Allow),
            "false" | "deny" | "no" | "never" => Some(RuleEffect::Forbid),
            "ask" => Some(RuleEffect::Ask),
            EDITED => Some(RuleEffect::Allow),
            _ => None,
        },
        Value::Mapping(map) => map.get("approve").filter(|approve| !approve.is_mapping()).and_then(effect_of),
        _ => None,
    }
}

/// Whether an entry allows a command also with sources that changed.
fn is_edited(value: &Value) -> bool {
    value.as_str().is_some_and(|word| word.trim().eq_ignore_ascii_case(EDITED))
}

/// Splits a pattern, which may contain `*`, into words.
fn pattern_words(pattern: &str, says: RuleEffect) -> Result<Vec<String>, &'static str> {
    const STAR: char = '\u{e000}';
    let without = pattern.replace('*', &STAR.to_string());
    match Command::parse(&without) {
        Command::Plain(words) if words.len() > MAX_WORDS => Err("it has too many words"),
        Command::Plain(words) if says == RuleEffect::Allow && words[0].contains(STAR) => {
            Err("its first word must be the name of a program")
        }
        Command::Plain(words) => Ok(words.into_iter().map(|word| word.replace(STAR, "*")).collect()),
        Command::NeedsShell(why) => Err(why),
    }
}

/// Whether a command begins with the words of a rule.
fn covers(rule: &[String], words: &[String]) -> bool {
    rule.len() <= words.len() && rule.iter().zip(words).all(|(pattern, word)| fits_pattern(pattern, word))
}
