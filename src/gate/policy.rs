//! What the workspace allows, asks about or forbids whoever acts: section `gate` of `settings.yaml`.

use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

use super::{globs, paths};
use crate::base::Problem;
use crate::workspace::SettingsSection;

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

/// A verdict as a person writes it: `allow`, `ask` or `deny`. Any other word counts as `ask` and is told.
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

    /// What it says.
    pub fn verdict(&self) -> Verdict {
        self.known().unwrap_or(Verdict::Ask)
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
        }
    }
}

impl SettingsSection for GatePolicy {
    const NAME: &'static str = "gate";
}

impl GatePolicy {
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
    /// lower case: on many disks they name the same file.
    pub fn at_path(&self, path: &str) -> Option<(Verdict, &str)> {
        let folded = paths::fold(path);
        let named = |list: &'_ [String]| {
            list.iter().position(|text| match globs::plain(&paths::fold_letters(text)) {
                Ok(globs) => globs::any_matches(&globs, &folded),
                Err(_) => false,
            })
        };
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
                let what =
                    format!("\"{}\" of \"gate\" cannot be {:?}; a person is asked each time", class.key(), rule.0);
                problems.push(Problem::warning(place, what, "write allow, ask or deny"));
            }
        }
        for (key, list) in [("ask", &self.ask), ("deny", &self.deny)] {
            for text in list {
                if let Err(error) = globs::plain(text) {
                    let what = format!("the glob {text:?} in \"{key}\" of \"gate\" names nothing: {error}");
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

    #[test]
    fn by_default_everything_runs_by_itself() {
        let policy = GatePolicy::default();
        assert!(ActClass::ALL.iter().all(|class| policy.rule(*class).verdict() == Verdict::Allow));
        assert_eq!(policy.at_path("agents/ada.md"), None);
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
    fn lists_hold_whatever_the_case_and_the_stricter_goes_first() {
        let lists = json!({ "ask": ["Agents/**"], "deny": ["agents/boss.md", "secret/"] });
        let policy: GatePolicy = serde_json::from_value(lists).unwrap();
        assert_eq!(policy.at_path("AGENTS/x.md"), Some((Verdict::Ask, "Agents/**")));
        assert_eq!(policy.at_path("agents/Boss.md").unwrap().0, Verdict::Deny);
        assert_eq!(policy.at_path("./Secret\\a").unwrap().0, Verdict::Deny);
        assert_eq!(policy.at_path("artifacts/a.md"), None);
    }
}
