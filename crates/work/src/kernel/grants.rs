//! What a person allowed for a task: the same tool, the same kind of touch, under the same rule, until the work that
//! asked is over, and for whom it starts. Pure.

use std::collections::BTreeSet;

use super::core::Kernel;
use super::question::Grant;
use crate::base::{ActivationKey, Id};
use crate::gate::{AskRule, asking};

impl Kernel {
    /// A person allows what these rules ask about, for the task of this thread. Whether that can be allowed so far.
    pub(super) fn grant(&mut self, thread: ActivationKey, tool: &str, rules: &[AskRule]) -> bool {
        let Some(granted) = asking::for_task(rules) else { return false };
        let grants = granted.into_iter().map(|rule| Grant { tool: tool.to_owned(), rule });
        self.grants.entry(thread).or_default().extend(grants);
        true
    }

    /// Whether a person allowed all that these rules ask about, for the task of this thread or of one that led to it.
    pub fn is_granted(&self, thread: ActivationKey, tool: &str, rules: &[AskRule]) -> bool {
        let Some(wanted) = asking::for_task(rules) else { return false };
        let granted: Vec<&BTreeSet<Grant>> = self.line_of(thread).filter_map(|key| self.grants.get(&key)).collect();
        let is_granted = |rule: &AskRule| {
            granted.iter().any(|grants| grants.iter().any(|grant| grant.tool == tool && grant.rule == *rule))
        };
        wanted.iter().all(is_granted)
    }

    /// A thread, the one whose agent started it, and so on up to the one that a person started.
    pub(super) fn line_of(&self, thread: ActivationKey) -> impl Iterator<Item = ActivationKey> {
        std::iter::successors(Some(thread), |key| self.threads.get(key)?.parent)
    }

    /// What a person allowed for a run, in words, with whom it was allowed to: "ada: change files with vfs_write".
    pub fn granted_in(&self, root: ActivationKey) -> Vec<(Id, String)> {
        let mut told = Vec::new();
        for (key, grants) in &self.grants {
            let Some(thread) = self.threads.get(key).filter(|thread| thread.root == root) else { continue };
            let tools: BTreeSet<&str> = grants.iter().map(|grant| grant.tool.as_str()).collect();
            for tool in tools {
                let rules = grants.iter().filter(|grant| grant.tool == tool).map(|grant| &grant.rule);
                told.push((thread.agent.clone(), format!("{} with {tool}", asking::granted_words(rules))));
            }
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use crate::gate::{AskRule, AskSource, SafetyMode, TouchKind};

    fn asked(kind: TouchKind, target: &str) -> Vec<AskRule> {
        let source = AskSource::SafetyMode { mode: SafetyMode::Safe, is_own: true };
        vec![AskRule { source, kind, target: target.into() }]
    }

    #[test]
    fn what_is_allowed_for_a_task_holds_for_it_and_for_whom_it_starts_until_it_is_over() {
        let mut bench = Bench::new();
        let boss = bench.start("boss", "Plan");
        let other = bench.start("boss", "Plan more");
        let child = bench.spawn(boss, "kid", "dig").expect("it may");
        let write = |path: &str| asked(TouchKind::FILE_WRITE, path);
        assert!(!bench.kernel.is_granted(boss, "vfs_write", &write("a.md")));
        assert!(bench.kernel.grant(boss, "vfs_write", &write("a.md")));
        for thread in [boss, child] {
            assert!(bench.kernel.is_granted(thread, "vfs_write", &write("b.md")), "another file");
            assert!(!bench.kernel.is_granted(thread, "vfs_edit", &write("b.md")), "another tool");
            let delete = asked(TouchKind::FILE_DELETE, "a.md");
            assert!(!bench.kernel.is_granted(thread, "vfs_write", &delete), "another kind of touch");
        }
        assert!(!bench.kernel.is_granted(other, "vfs_write", &write("a.md")), "another task");
        assert_eq!(bench.kernel.granted_in(boss), [("boss".into(), "change files with vfs_write".to_owned())]);
        assert!(bench.kernel.granted_in(other).is_empty());
        bench.kernel.kill_all("a person", None);
        bench.kernel.forget_finished_runs();
        assert!(!bench.kernel.is_granted(boss, "vfs_write", &write("a.md")), "the task is over");
    }

    #[test]
    fn what_one_that_was_started_may_do_is_not_its_starters() {
        let mut bench = Bench::new();
        let boss = bench.start("boss", "Plan");
        let child = bench.spawn(boss, "kid", "dig").expect("it may");
        let write = asked(TouchKind::FILE_WRITE, "a.md");
        assert!(bench.kernel.grant(child, "vfs_write", &write));
        assert!(!bench.kernel.is_granted(boss, "vfs_write", &write));
        let text = serde_json::to_string(&bench.kernel).expect("the kernel can be saved");
        let again: crate::kernel::Kernel = serde_json::from_str(&text).expect("and read again");
        assert!(again.is_granted(child, "vfs_write", &write), "it is kept with the rest");
        let scene = AskRule { source: AskSource::EachTime { why: "x".into() }, ..write[0].clone() };
        assert!(!bench.kernel.grant(child, "vfs_write", &[scene]), "what is asked each time is allowed once");
    }
}
