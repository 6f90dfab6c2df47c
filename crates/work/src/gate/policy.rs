//! The section `gate` of `settings.yaml`: the rules of the workspace for allowing, denying, or requiring approval.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::allow_rules::AllowRule;
use super::servers;
use super::touch::TouchKind;
use super::verdict::Verdict;
use crate::base::text_normalization::folded;
use crate::base::{Problem, globs};
use crate::gateway::mcp::McpHints;
use crate::workspace::SettingsSection;
use crate::workspace::vfs::WorkspacePath;

/// The kinds of touch that have their own key in the settings.
pub static SETTING_KEYS: [(TouchKind, &str); 7] = [
    (TouchKind::FILE_READ, "file_read"),
    (TouchKind::FILE_WRITE, "file_write"),
    (TouchKind::FILE_DELETE, "file_delete"),
    (TouchKind::FILE_RENAME, "file_rename"),
    (TouchKind::PROFILE_WRITE, "profile_write"),
    (TouchKind::AGENT_SPAWN, "spawn"),
    (TouchKind::AGENT_SIGNAL, "signal"),
];

/// A verdict as a person writes it: `allow`, `ask` or `deny`. Any other word counts as `ask`, or as `deny` if it
/// resembles it, and is reported.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rule(pub String);

impl Rule {
    fn known(&self) -> Option<Verdict> {
        match self.0.trim().to_lowercase().as_str() {
            "allow" => Some(Verdict::Allow),
            "ask" => Some(Verdict::Ask),
            "deny" => Some(Verdict::Deny),
            _ => None,
        }
    }

    /// The verdict. An unknown word counts as `ask`, unless it is a misspelling or a synonym of `deny`.
    pub fn verdict(&self) -> Verdict {
        let word = self.0.trim().to_lowercase();
        let is_denial =
            matches!(word.as_str(), "no" | "never" | "none" | "off" | "false" | "block" | "forbid" | "refuse")
                || strsim::osa_distance(&word, "deny") <= 2 && strsim::osa_distance(&word, "ask") > 1
                || word.starts_with("deni");
        self.known().unwrap_or(if is_denial { Verdict::Deny } else { Verdict::Ask })
    }
}

/// The source of a verdict on a kind of touch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum VerdictSource {
    /// A rule in the settings.
    Setting {
        /// The key of the setting.
        key: String,
        /// The value of the setting.
        word: String,
    },
    /// The default.
    Unset {
        /// The reason for the default.
        why: &'static str,
    },
}

settings! {
    /// The workspace's policy. By default, everything runs without asking, and a person can stop it at any time.
    pub struct GatePolicy {
        /// Reading, listing and searching files.
        pub file_read: Rule = Rule("allow".to_owned());
        /// Writing a file, whole or in part.
        pub file_write: Rule = Rule("allow".to_owned());
        /// Deleting a file; its versions are kept.
        pub file_delete: Rule = Rule("allow".to_owned());
        /// Renaming or moving a file.
        pub file_rename: Rule = Rule("allow".to_owned());
        /// Writing an agent's file within the writer's own authority; more than that is always asked.
        pub profile_write: Rule = Rule("allow".to_owned());
        /// Starting another agent.
        pub spawn: Rule = Rule("allow".to_owned());
        /// Sending a message to the agent that started this one.
        pub signal: Rule = Rule("allow".to_owned());
        /// Globs of paths where writing, deleting and renaming need approval.
        pub ask: Vec<String> = Vec::new();
        /// Globs of paths where agents never write, delete or rename anything.
        pub deny: Vec<String> = Vec::new();
        /// Permanent permissions of agents, by profile id: `lead: ["vfs_write(artifacts/**)"]`, a tool with the targets
        /// that need no approval. They do not override a denial, or an approval that is required each time.
        pub allow: BTreeMap<String, Vec<String>> = BTreeMap::new();
        /// Rules for calls of MCP servers, such as `mcp:git:*: allow`, `mcp:git:push: ask` or `mcp:*:*(read-only):
        /// allow`, the last for tools that their servers describe as read-only (or destructive). The most specific rule
        /// applies.
        pub mcp: BTreeMap<String, Rule> = BTreeMap::new();
        /// Rules for further kinds of touch by name, such as `net.fetch: allow` or `process.run: deny`. Without a rule
        /// here, anything unknown or outside the workspace needs approval.
        pub touches: BTreeMap<String, Rule> = BTreeMap::new();
    }
    with {
        /// The minimum verdict on all changes, because a part of the settings could not be understood.
        #[serde(skip)]
        strictness: Strictness = Strictness::Unchanged;
        /// Whether the settings cannot be read, so that they may restrict anything.
        #[serde(skip)]
        is_unread: bool = false;
        /// Whether the person has not trusted the workspace.
        #[serde(skip)]
        pub(super) is_restricted: bool = false;
        /// Whether the rules for commands cannot be read, so that they may forbid any command.
        #[serde(skip)]
        pub(super) are_command_rules_unread: bool = false;
        /// The paths in the command lines of MCP servers. Writing there would change the program that is run.
        #[serde(skip)]
        pub(super) server_paths: BTreeSet<String> = BTreeSet::new();
        /// The files that commands would run which a rule allows. Writing there would change what is allowed.
        #[serde(skip)]
        pub(super) command_files: BTreeSet<String> = BTreeSet::new();
    }
}

/// The effect on all changes of settings that could not be understood.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Strictness {
    /// Everything was understood.
    #[default]
    Unchanged,
    /// Changes get at least this verdict.
    AtLeast(Verdict),
}

impl SettingsSection for GatePolicy {
    const NAME: &'static str = "gate";

    fn unread(&mut self) {
        self.is_unread = true;
    }

    fn not_understood(&mut self, key: &str, value: &Value) {
        let words = string_list(value);
        let is_list = value.is_array() || words.iter().any(|word| word.contains(['/', '*']));
        let own = SETTING_KEYS.iter().map(|(_, own)| *own).find(|own| *own == key || edit_distance(key, own) <= 2);
        let own = own.and_then(|own| self.rule_mut(own));
        match (own, words.as_slice()) {
            // An unreadable rule that would allow something has no effect.
            _ if edit_distance(key, "allow") <= 1 => {}
            // `deny: agents/**` and `dney: [agents/**]` count as deny lists, and so does a list with any unknown name.
            _ if edit_distance(key, "ask") <= 1 => self.ask.extend(words),
            (None, _) if is_list => {
                // A mistyped rule of the settings that protects files protects them as strictly as it could be meant.
                rule!("mistyped-protection-protects");
                self.deny.extend(words);
            }
            (Some(rule), [word]) => *rule = Rule(word.clone()),
            (Some(rule), _) => *rule = Rule("ask".to_owned()),
            (None, [word]) if edit_distance(key, "deny") > 1 => self.raise_strictness(Rule(word.clone()).verdict()),
            (None, []) if value.is_null() => {}
            (None, _) => self.raise_strictness(Verdict::Deny),
        }
    }
}

/// The edit distance between two words.
fn edit_distance(word: &str, other: &str) -> usize {
    strsim::osa_distance(&word.trim().to_lowercase(), other)
}

/// Flattens a value to a list of words.
fn string_list(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Bool(true) => vec!["allow".to_owned()],
        Value::Bool(false) => vec!["deny".to_owned()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(values) => values.iter().flat_map(string_list).collect(),
        Value::Object(keys) => keys.values().flat_map(string_list).collect(),
        Value::Null => Vec::new(),
    }
}

impl GatePolicy {
    fn raise_strictness(&mut self, verdict: Verdict) {
        let now = match self.strictness {
            Strictness::AtLeast(now) => now,
            Strictness::Unchanged => Verdict::Allow,
        };
        self.strictness = Strictness::AtLeast(now.max(verdict));
    }

    fn rule_mut(&mut self, key: &str) -> Option<&mut Rule> {
        match key {
            "file_read" => Some(&mut self.file_read),
            "file_write" => Some(&mut self.file_write),
            "file_delete" => Some(&mut self.file_delete),
            "file_rename" => Some(&mut self.file_rename),
            "profile_write" => Some(&mut self.profile_write),
            "spawn" => Some(&mut self.spawn),
            "signal" => Some(&mut self.signal),
            _ => None,
        }
    }

    /// The minimum verdict on a kind of touch, beyond its [rule](Self::verdict_and_source), because settings could not
    /// be understood.
    pub fn strictness(&self, kind: &TouchKind) -> Verdict {
        let of_unread = if self.is_unread {
            // While the settings cannot be read, you are asked before everything.
            rule!("unreadable-settings-ask-everything");
            Verdict::Ask
        } else {
            Verdict::Allow
        };
        match self.strictness {
            Strictness::AtLeast(verdict) if kind.defaults().changes => verdict.max(of_unread),
            _ => of_unread,
        }
    }

    /// The rule of a kind that has its own key in the settings.
    fn own_rule(&self, kind: &TouchKind) -> Option<(&'static str, &Rule)> {
        let (key, rule) = match kind.as_str() {
            "file.read" | "file.find" => ("file_read", &self.file_read),
            "file.write" => ("file_write", &self.file_write),
            "file.delete" => ("file_delete", &self.file_delete),
            "file.rename" => ("file_rename", &self.file_rename),
            "profile.write" => ("profile_write", &self.profile_write),
            "agent.spawn" | "agent.start" => ("spawn", &self.spawn),
            "agent.signal" => ("signal", &self.signal),
            _ => return None,
        };
        Some((key, rule))
    }

    /// The verdict on a kind of touch and its source: the strictest rule in the settings, otherwise the default.
    pub fn verdict_and_source(&self, kind: &TouchKind) -> (Verdict, VerdictSource) {
        let listed = self.touches.iter().filter(|(name, _)| TouchKind::new(name) == *kind);
        let said = self.own_rule(kind).into_iter().chain(listed.map(|(name, rule)| (name.as_str(), rule)));
        match said.max_by_key(|(_, rule)| rule.verdict()) {
            Some((key, rule)) => (rule.verdict(), VerdictSource::Setting { key: key.to_owned(), word: rule.0.clone() }),
            None => (kind.defaults().rule, VerdictSource::Unset { why: kind.defaults().why }),
        }
    }

    /// Whether a rule lets every agent reach outside the workspace without asking.
    pub fn frees_outside(&self) -> bool {
        let is_freed = |name: &String| {
            let kind = TouchKind::new(name);
            kind.defaults().rule != Verdict::Allow && self.verdict_and_source(&kind).0 == Verdict::Allow
        };
        self.touches.keys().any(is_freed) || self.mcp.values().any(|rule| rule.verdict() == Verdict::Allow)
    }

    /// The verdict on a call of an MCP server and its source: a rule of `mcp`, otherwise the rule for all such calls.
    pub fn ruling_of_call(&self, call: (&str, &str), hints: McpHints) -> (Verdict, VerdictSource) {
        let rules = self.mcp.iter().map(|(text, rule)| (text.as_str(), rule.verdict()));
        match servers::verdict(rules, call, hints) {
            Some((verdict, key)) => {
                let word = self.mcp.get(key).map(|rule| rule.0.clone()).unwrap_or_default();
                (verdict, VerdictSource::Setting { key: key.to_owned(), word })
            }
            None => self.verdict_and_source(&TouchKind::MCP_CALL),
        }
    }

    /// The verdict of the `ask` and `deny` lists on a change at this path, and the glob that matches. Matching ignores
    /// case, because many file systems do. An unreadable glob matches everything that it could mean.
    pub fn at_path(&self, path: &WorkspacePath) -> Option<(Verdict, &str)> {
        let folded = folded(path.as_str());
        let named =
            |list: &'_ [String]| list.iter().position(|text| globs::any_matches(&globs::expand_deny(text), &folded));
        if let Some(at) = named(&self.deny) {
            return Some((Verdict::Deny, &self.deny[at]));
        }
        named(&self.ask).map(|at| (Verdict::Ask, self.ask[at].as_str()))
    }

    /// Whether the rules for commands cannot be read, so that they may forbid any command.
    pub fn are_command_rules_unread(&self) -> bool {
        self.are_command_rules_unread
    }

    /// The permanent permissions of this profile, as rules.
    pub fn allowed_to(&self, profile: &str) -> Vec<String> {
        self.allow.get(profile).cloned().unwrap_or_default()
    }

    /// The problems of the policy.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let place = "settings.yaml";
        let own = SETTING_KEYS.iter().filter_map(|(kind, _)| self.own_rule(kind));
        let listed = self.touches.iter().chain(&self.mcp).map(|(name, rule)| (name.as_str(), rule));
        for text in self.mcp.keys().filter(|text| !servers::is_valid_rule(text)) {
            let what = format!("the rule {text:?} in \"mcp\" of \"gate\" cannot be read; it allows nothing");
            problems.push(Problem::warning(place, what, "write it like mcp:SERVER:TOOL or mcp:SERVER:*"));
        }
        for (key, rule) in own.chain(listed) {
            if rule.known().is_none() {
                let until = if rule.verdict() == Verdict::Deny {
                    "it is treated as deny"
                } else {
                    "a person is asked each \
                        time"
                };
                let what = format!("\"{}\" of \"gate\" cannot be {:?}; {until}", key, rule.0);
                problems.push(Problem::warning(place, what, "write allow, ask or deny"));
            }
        }
        if self.is_unread {
            let what =
                "the permissions in the settings could not be read; until then a person is asked before everything";
            problems.push(Problem::error(place, what, "fix the other problems listed for it"));
        }
        if let Strictness::AtLeast(verdict @ (Verdict::Ask | Verdict::Deny)) = self.strictness {
            let until = if verdict == Verdict::Deny {
                "nothing may be changed"
            } else {
                "a person is asked before every change"
            };
            let what = format!("the permissions in the settings could not be read; until then {until}");
            problems.push(Problem::error(place, what, "fix the other problems listed for it"));
        }
        for (key, list) in [("ask", &self.ask), ("deny", &self.deny)] {
            for text in list {
                if let Err(error) = globs::plain(text) {
                    let widest = globs::expand_deny(text).join(", ");
                    let widest = if widest.is_empty() { "nothing".to_owned() } else { widest };
                    let what = format!(
                        "the glob {text:?} in \"{key}\" of \"gate\" cannot be read: {error}; until then it names {widest}"
                    );
                    problems.push(Problem::error(place, what, "write it like agents/** or storage/*.yaml"));
                }
            }
        }
        for text in self.allow.values().flatten().filter(|text| AllowRule::parse(text).is_none()) {
            let what = format!("the rule {text:?} in \"allow\" of \"gate\" cannot be read; it allows nothing");
            problems.push(Problem::warning(
                place,
                what,
                "write a tool with what it may touch: vfs_write(artifacts/**)",
            ));
        }
        for text in self.allow.values().flatten() {
            if let Some(why) = AllowRule::parse(text).and_then(|rule| rule.why_void()) {
                let what = format!("the rule {text:?} in \"allow\" of \"gate\" never applies: {why}");
                problems.push(Problem::warning(place, what, "change or remove it"));
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(path: &str) -> WorkspacePath {
        WorkspacePath::new(path).unwrap_or_else(|refusal| panic!("{refusal}"))
    }

    #[test]
    fn the_default_policy_allows_everything() {
        let policy = GatePolicy::default();
        assert!(SETTING_KEYS.iter().all(|(kind, _)| policy.verdict_and_source(kind).0 == Verdict::Allow));
        assert_eq!(policy.at_path(&path("agents/ada.md")), None);
        assert!(policy.problems().is_empty());
    }

    #[test]
    fn every_kind_can_be_set_by_its_key() {
        for (kind, key) in &SETTING_KEYS {
            let policy: GatePolicy = serde_json::from_value(json!({ *key: "Deny" })).unwrap();
            assert_eq!(policy.verdict_and_source(kind).0, Verdict::Deny);
            let policy: GatePolicy = serde_json::from_value(json!({ "touches": { kind.as_str(): "deny" } })).unwrap();
            assert_eq!(policy.verdict_and_source(kind).0, Verdict::Deny, "the stricter of two rules counts");
        }
    }

    #[test]
    fn any_kind_can_have_a_rule_and_an_invalid_rule_asks_and_is_reported() {
        let rules = json!({ "touches": { "net.fetch": "allow", "Process.Run": "deny", "door.open": "alow" } });
        let policy: GatePolicy = serde_json::from_value(rules).unwrap();
        let said = |kind: &str| policy.verdict_and_source(&TouchKind::new(kind)).0;
        assert_eq!(
            ["net.fetch", "process.run", "door.open", "mcp.call", "door.close"].map(said),
            [Verdict::Allow, Verdict::Deny, Verdict::Ask, Verdict::Ask, Verdict::Ask]
        );
        assert_eq!(policy.problems().len(), 1);
    }

    #[test]
    fn an_unknown_verdict_asks_and_is_reported() {
        let policy: GatePolicy = serde_json::from_value(json!({ "spawn": "aks", "ask": ["[a"] })).unwrap();
        assert_eq!(policy.spawn.verdict(), Verdict::Ask);
        assert_eq!(policy.problems().len(), 2);
    }

    #[test]
    fn unreadable_settings_deny_everything_that_they_could_mean() {
        checks_rule!("mistyped-protection-protects");
        let policy_with = |key: &str, value: Value| {
            let mut policy: GatePolicy = serde_json::from_value(json!({})).unwrap();
            policy.not_understood(key, &value);
            policy
        };
        for (key, value) in [
            ("deny", json!("agents/**")),
            ("dney", json!(["agents/**"])),
            ("denied", json!(["agents/**"])),
            ("protect", json!(["agents/**"])),
        ] {
            let policy = policy_with(key, value);
            assert_eq!(policy.at_path(&path("agents/a.md")).map(|(verdict, _)| verdict), Some(Verdict::Deny), "{key}");
            assert_eq!(policy.at_path(&path("artifacts/a.md")), None, "{key}");
        }
        assert_eq!(policy_with("aks", json!(["a"])).at_path(&path("a")).unwrap().0, Verdict::Ask);
        for (key, value, class, verdict) in [
            ("file_wirte", json!("deny"), TouchKind::FILE_WRITE, Verdict::Deny),
            ("spawn", json!(false), TouchKind::AGENT_SPAWN, Verdict::Deny),
            ("spawn", json!({ "max": 3 }), TouchKind::AGENT_SPAWN, Verdict::Ask),
            ("file_write", json!("dney"), TouchKind::FILE_WRITE, Verdict::Deny),
        ] {
            assert_eq!(policy_with(key, value).verdict_and_source(&class).0, verdict, "{key}");
        }
        for (key, value, verdict) in [
            ("everything", json!("ask"), Verdict::Ask),
            ("everything", json!("never"), Verdict::Deny),
            ("everything", json!("allow"), Verdict::Allow),
            ("deny", json!(true), Verdict::Deny),
            ("", json!("deny"), Verdict::Deny),
        ] {
            let policy = policy_with(key, value);
            assert_eq!(policy.strictness(&TouchKind::FILE_WRITE), verdict, "{key}");
            assert_eq!(policy.strictness(&TouchKind::FILE_READ), Verdict::Allow, "{key}");
            assert_eq!(policy.problems().is_empty(), policy.strictness == Strictness::AtLeast(Verdict::Allow), "{key}");
        }
    }

    #[test]
    fn while_the_settings_are_unread_everything_is_asked() {
        checks_rule!("unreadable-settings-ask-everything");
        let mut unread: GatePolicy = serde_json::from_value(json!({ "file_delete": "deny" })).unwrap();
        unread.unread();
        for kind in [TouchKind::FILE_WRITE, TouchKind::FILE_READ, TouchKind::AGENT_SPAWN, TouchKind::AGENT_SIGNAL] {
            assert_eq!(unread.strictness(&kind), Verdict::Ask, "{kind:?}");
        }
        assert_eq!(unread.verdict_and_source(&TouchKind::FILE_DELETE).0, Verdict::Deny, "what is known still counts");
        assert!(unread.problems().iter().any(|problem| problem.what.contains("before everything")));
    }

    #[test]
    fn lists_ignore_case_and_the_stricter_one_applies() {
        let lists = json!({ "ask": ["Agents/**"], "deny": ["agents/boss.md", "secret/"] });
        let policy: GatePolicy = serde_json::from_value(lists).unwrap();
        assert_eq!(policy.at_path(&path("agents/x.md")), Some((Verdict::Ask, "Agents/**")));
        assert_eq!(policy.at_path(&path("agents/Boss.md")).unwrap().0, Verdict::Deny);
        assert_eq!(policy.at_path(&path("./Secret/a")).unwrap().0, Verdict::Deny);
        assert_eq!(policy.at_path(&path("artifacts/a.md")), None);
    }

    #[test]
    fn an_invalid_glob_denies_everything_that_it_could_mean_and_is_reported() {
        let policy: GatePolicy = serde_json::from_value(json!({ "deny": ["secret/[a-z]*", "docs/{a"] })).unwrap();
        for (given, verdict) in [
            ("secret/plan.md", Some(Verdict::Deny)),
            ("Secret/deep/plan.md", Some(Verdict::Deny)),
            ("docs/x.md", Some(Verdict::Deny)),
            ("artifacts/a.md", None),
        ] {
            assert_eq!(policy.at_path(&path(given)).map(|(verdict, _)| verdict), verdict, "{given}");
        }
        let problems = policy.problems();
        assert_eq!(problems.len(), 2);
        assert!(problems[0].what.contains("secret/**"), "{}", problems[0]);
    }
}
