//! What the workspace allows, asks about or forbids whoever acts: section `gate` of `settings.yaml`.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::globs;
use crate::base::Problem;
use crate::base::spelling::folded;
use crate::workspace::SettingsSection;
use crate::workspace::vfs::WorkspacePath;

/// What is said of an act, mildest first; of several the strictest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It may happen.
    Allow,
    /// A person is asked first.
    Ask,
    /// It may not happen.
    Deny,
}

/// The kinds of act that are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActClass {
    /// Reading, listing and searching files.
    FileRead,
    /// Writing a file, whole or in part.
    FileWrite,
    /// Deleting a file.
    FileDelete,
    /// Giving a file another path.
    FileRename,
    /// Changing what an agent is.
    ProfileWrite,
    /// Starting another agent.
    Spawn,
    /// Telling the agent that started this one something.
    Signal,
}

impl ActClass {
    /// Every class.
    pub const ALL: [Self; 7] = [
        Self::FileRead,
        Self::FileWrite,
        Self::FileDelete,
        Self::FileRename,
        Self::ProfileWrite,
        Self::Spawn,
        Self::Signal,
    ];

    /// Its key in the settings.
    pub fn key(self) -> &'static str {
        match self {
            Self::FileRead => "file_read",
            Self::FileWrite => "file_write",
            Self::FileDelete => "file_delete",
            Self::FileRename => "file_rename",
            Self::ProfileWrite => "profile_write",
            Self::Spawn => "spawn",
            Self::Signal => "signal",
        }
    }
}

/// A verdict as a person writes it: `allow`, `ask` or `deny`. Any other word counts as `ask`, or as `deny` where it is
/// near to that, and is told.
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

    /// What it says: what is not known is asked, unless it is a slip of `deny` or another word for it.
    pub fn verdict(&self) -> Verdict {
        let word = self.0.trim().to_lowercase();
        let is_denial =
            matches!(word.as_str(), "no" | "never" | "none" | "off" | "false" | "block" | "forbid" | "refuse")
                || strsim::osa_distance(&word, "deny") <= 2 && strsim::osa_distance(&word, "ask") > 1
                || word.starts_with("deni");
        self.known().unwrap_or(if is_denial { Verdict::Deny } else { Verdict::Ask })
    }
}

/// The workspace's policy. As it stands by default everything runs by itself and a person can stop it at any
/// time, which is the reference's approval mode.
#[derive(Resource, Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct GatePolicy {
    /// Reading, listing and searching files.
    pub file_read: Rule,
    /// Writing a file, whole or in part.
    pub file_write: Rule,
    /// Deleting a file; its versions stay.
    pub file_delete: Rule,
    /// Giving a file another path.
    pub file_rename: Rule,
    /// Writing an agent's file within the writer's own authority; more than that is always asked.
    pub profile_write: Rule,
    /// Starting another agent.
    pub spawn: Rule,
    /// Telling the agent that started this one something.
    pub signal: Rule,
    /// Globs of paths at which a person is asked before anything is written, deleted or renamed.
    pub ask: Vec<String>,
    /// Globs of paths at which agents never write, delete or rename anything.
    pub deny: Vec<String>,
    /// What is said of everything that changes something, because a part of the settings could not be understood.
    #[serde(skip, default = "nothing")]
    strictness: Strictness,
}

/// What could not be understood in the settings, and what follows for everything that changes something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Strictness {
    /// No settings were read yet.
    Unread,
    /// Nothing: they were read.
    Nothing,
    /// So much.
    AtLeast(Verdict),
}

fn nothing() -> Strictness {
    Strictness::Nothing
}

impl Default for GatePolicy {
    fn default() -> Self {
        let allow = || Rule("allow".to_owned());
        Self {
            file_read: allow(),
            file_write: allow(),
            file_delete: allow(),
            file_rename: allow(),
            profile_write: allow(),
            spawn: allow(),
            signal: allow(),
            ask: Vec::new(),
            deny: Vec::new(),
            strictness: Strictness::Unread,
        }
    }
}

impl SettingsSection for GatePolicy {
    const NAME: &'static str = "gate";

    fn not_understood(&mut self, unusable: Option<(&str, &Value)>) {
        let Some((key, value)) = unusable else {
            // The last settings stay; where there are none, nobody knows what they would have said.
            if self.strictness == Strictness::Unread {
                self.strictness = Strictness::AtLeast(Verdict::Ask);
            }
            return;
        };
        let words = words_of(value);
        let is_list = value.is_array() || words.iter().any(|word| word.contains(['/', '*']));
        let class = ActClass::ALL.into_iter().find(|class| class.key() == key || slips(key, class.key()) <= 2);
        match (class, words.as_slice()) {
            // `deny: agents/**`, and `dney: [agents/**]`; a list of any other name may be a list of what is forbidden.
            _ if slips(key, "ask") <= 1 => self.ask.extend(words),
            (None, _) if is_list => self.deny.extend(words),
            (Some(class), [word]) => *self.rule_mut(class) = Rule(word.clone()),
            (Some(class), _) => *self.rule_mut(class) = Rule("ask".to_owned()),
            (None, [word]) if slips(key, "deny") > 1 => self.be_stricter(Rule(word.clone()).verdict()),
            (None, []) if value.is_null() => {}
            (None, _) => self.be_stricter(Verdict::Deny),
        }
    }
}

/// How many letters two words differ.
fn slips(word: &str, other: &str) -> usize {
    strsim::osa_distance(&word.trim().to_lowercase(), other)
}

/// What stands somewhere, as words.
fn words_of(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Bool(true) => vec!["allow".to_owned()],
        Value::Bool(false) => vec!["deny".to_owned()],
        Value::Number(number) => vec![number.to_string()],
        Value::Array(values) => values.iter().flat_map(words_of).collect(),
        Value::Object(keys) => keys.values().flat_map(words_of).collect(),
        Value::Null => Vec::new(),
    }
}

impl GatePolicy {
    fn be_stricter(&mut self, verdict: Verdict) {
        let now = match self.strictness {
            Strictness::AtLeast(now) => now,
            Strictness::Unread | Strictness::Nothing => Verdict::Allow,
        };
        self.strictness = Strictness::AtLeast(now.max(verdict));
    }

    fn rule_mut(&mut self, class: ActClass) -> &mut Rule {
        match class {
            ActClass::FileRead => &mut self.file_read,
            ActClass::FileWrite => &mut self.file_write,
            ActClass::FileDelete => &mut self.file_delete,
            ActClass::FileRename => &mut self.file_rename,
            ActClass::ProfileWrite => &mut self.profile_write,
            ActClass::Spawn => &mut self.spawn,
            ActClass::Signal => &mut self.signal,
        }
    }

    /// What is said of a kind of act, beyond its [rule](Self::rule), because settings could not be understood.
    pub fn strictness(&self, class: ActClass) -> Verdict {
        let changes = !matches!(class, ActClass::FileRead | ActClass::Signal);
        match self.strictness {
            Strictness::AtLeast(verdict) if changes => verdict,
            _ => Verdict::Allow,
        }
    }

    /// The rule for a kind of act.
    pub fn rule(&self, class: ActClass) -> &Rule {
        match class {
            ActClass::FileRead => &self.file_read,
            ActClass::FileWrite => &self.file_write,
            ActClass::FileDelete => &self.file_delete,
            ActClass::FileRename => &self.file_rename,
            ActClass::ProfileWrite => &self.profile_write,
            ActClass::Spawn => &self.spawn,
            ActClass::Signal => &self.signal,
        }
    }

    /// What the two lists say of a change at a path, with the glob that says it. Letters count alike in upper and
    /// lower case: on many disks they name the same file. A glob that cannot be read names all that it could mean.
    pub fn at_path(&self, path: &WorkspacePath) -> Option<(Verdict, &str)> {
        let folded = folded(path.as_str());
        let named = |list: &'_ [String]| list.iter().position(|text| globs::any_matches(&globs::limit(text), &folded));
        if let Some(at) = named(&self.deny) {
            return Some((Verdict::Deny, &self.deny[at]));
        }
        named(&self.ask).map(|at| (Verdict::Ask, self.ask[at].as_str()))
    }

    /// What is wrong with it.
    pub fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        let place = "settings.yaml";
        for class in ActClass::ALL {
            let rule = self.rule(class);
            if rule.known().is_none() {
                let until =
                    if rule.verdict() == Verdict::Deny { "it counts as deny" } else { "a person is asked each time" };
                let what = format!("\"{}\" of \"gate\" cannot be {:?}; {until}", class.key(), rule.0);
                problems.push(Problem::warning(place, what, "write allow, ask or deny"));
            }
        }
        if let Strictness::AtLeast(verdict @ (Verdict::Ask | Verdict::Deny)) = self.strictness {
            let until = if verdict == Verdict::Deny {
                "nothing may be changed"
            } else {
                "a person is asked before every change"
            };
            let what = format!("what the settings allow agents to do could not be understood; until then {until}");
            problems.push(Problem::error(place, what, "correct what is named of it among the problems"));
        }
        for (key, list) in [("ask", &self.ask), ("deny", &self.deny)] {
            for text in list {
                if let Err(error) = globs::plain(text) {
                    let widest = globs::limit(text).join(", ");
                    let widest = if widest.is_empty() { "nothing".to_owned() } else { widest };
                    let what = format!(
                        "the glob {text:?} in \"{key}\" of \"gate\" cannot be read: {error}; until then it names {widest}"
                    );
                    problems.push(Problem::error(place, what, "write it like agents/** or storage/*.yaml"));
                }
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
    fn by_default_everything_runs_by_itself() {
        let policy = GatePolicy::default();
        assert!(ActClass::ALL.iter().all(|class| policy.rule(*class).verdict() == Verdict::Allow));
        assert_eq!(policy.at_path(&path("agents/ada.md")), None);
        assert!(policy.problems().is_empty());
    }

    #[test]
    fn every_class_has_the_key_that_a_person_writes() {
        for class in ActClass::ALL {
            let policy: GatePolicy = serde_json::from_value(json!({ class.key(): "Deny" })).unwrap();
            assert_eq!(policy.rule(class).verdict(), Verdict::Deny);
        }
    }

    #[test]
    fn a_word_that_is_not_known_asks_and_is_told() {
        let policy: GatePolicy = serde_json::from_value(json!({ "spawn": "aks", "ask": ["[a"] })).unwrap();
        assert_eq!(policy.spawn.verdict(), Verdict::Ask);
        assert_eq!(policy.problems().len(), 2);
    }

    #[test]
    fn settings_that_cannot_be_understood_forbid_as_much_as_they_could_mean() {
        let heard = |key: &str, value: Value| {
            let mut policy: GatePolicy = serde_json::from_value(json!({})).unwrap();
            policy.not_understood(Some((key, &value)));
            policy
        };
        for (key, value) in [
            ("deny", json!("agents/**")),
            ("dney", json!(["agents/**"])),
            ("denied", json!(["agents/**"])),
            ("protect", json!(["agents/**"])),
        ] {
            let policy = heard(key, value);
            assert_eq!(policy.at_path(&path("agents/a.md")).map(|(verdict, _)| verdict), Some(Verdict::Deny), "{key}");
            assert_eq!(policy.at_path(&path("artifacts/a.md")), None, "{key}");
        }
        assert_eq!(heard("aks", json!(["a"])).at_path(&path("a")).unwrap().0, Verdict::Ask);
        for (key, value, class, verdict) in [
            ("file_wirte", json!("deny"), ActClass::FileWrite, Verdict::Deny),
            ("spawn", json!(false), ActClass::Spawn, Verdict::Deny),
            ("spawn", json!({ "max": 3 }), ActClass::Spawn, Verdict::Ask),
            ("file_write", json!("dney"), ActClass::FileWrite, Verdict::Deny),
        ] {
            assert_eq!(heard(key, value).rule(class).verdict(), verdict, "{key}");
        }
        for (key, value, verdict) in [
            ("everything", json!("ask"), Verdict::Ask),
            ("everything", json!("never"), Verdict::Deny),
            ("everything", json!("allow"), Verdict::Allow),
            ("deny", json!(true), Verdict::Deny),
            ("", json!("deny"), Verdict::Deny),
        ] {
            let policy = heard(key, value);
            assert_eq!(policy.strictness(ActClass::FileWrite), verdict, "{key}");
            assert_eq!(policy.strictness(ActClass::FileRead), Verdict::Allow, "{key}");
            assert_eq!(policy.problems().is_empty(), policy.strictness == Strictness::AtLeast(Verdict::Allow), "{key}");
        }
    }

    #[test]
    fn a_settings_file_that_was_never_read_has_a_person_asked_and_a_later_slip_changes_nothing() {
        let mut unread = GatePolicy::default();
        unread.not_understood(None);
        assert_eq!(unread.strictness(ActClass::FileWrite), Verdict::Ask);
        let mut read: GatePolicy = serde_json::from_value(json!({ "file_write": "allow" })).unwrap();
        read.not_understood(None);
        assert_eq!(read.strictness(ActClass::FileWrite), Verdict::Allow);
    }

    #[test]
    fn lists_hold_whatever_the_case_and_the_stricter_goes_first() {
        let lists = json!({ "ask": ["Agents/**"], "deny": ["agents/boss.md", "secret/"] });
        let policy: GatePolicy = serde_json::from_value(lists).unwrap();
        assert_eq!(policy.at_path(&path("agents/x.md")), Some((Verdict::Ask, "Agents/**")));
        assert_eq!(policy.at_path(&path("agents/Boss.md")).unwrap().0, Verdict::Deny);
        assert_eq!(policy.at_path(&path("./Secret/a")).unwrap().0, Verdict::Deny);
        assert_eq!(policy.at_path(&path("artifacts/a.md")), None);
    }

    #[test]
    fn a_glob_that_cannot_be_read_forbids_all_that_it_could_mean_and_is_told() {
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
