//! Permissions that a person granted for a task or until a given time. They cover the same tool, kind of access and
//! rule, include agents that the agent starts, and end with the work or at the given time. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::approval_question::{Grant, TimedGrant};
use super::core::Kernel;
use crate::base::{ActivationKey, AllowScope, Id, TimeLimit};
use crate::gate::{AskRule, TouchKind, ask_rules, commands};

/// The maximum number of temporary permissions.
const MAX_TIMED_GRANTS: usize = 1_000;

impl Kernel {
    /// Grants the actions of these rules for the task of this thread. Returns false if they can only be allowed once.
    pub(super) fn grant(&mut self, thread: ActivationKey, tool: &str, rules: &[AskRule]) -> bool {
        let Some(granted) = ask_rules::for_task(rules) else { return false };
        let grants = granted.into_iter().map(|rule| Grant { tool: tool.to_owned(), rule });
        self.grants.entry(thread).or_default().extend(grants);
        true
    }

    /// Grants an agent the actions of these rules between two simulated dates, `now` and `until`, which count seconds
    /// from 1970. Returns false if the actions can only be allowed once.
    pub(super) fn grant_until(&mut self, agent: &Id, tool: &str, rules: &[AskRule], (now, until): (i64, i64)) -> bool {
        let Some(granted) = ask_rules::for_task(rules) else { return false };
        for rule in granted {
            let grant = Grant { tool: tool.to_owned(), rule };
            self.timed_grants.retain(|timed| timed.agent != *agent || timed.grant != grant);
            self.timed_grants.insert(TimedGrant { agent: agent.clone(), grant, from: now, until });
        }
        let surplus = self.timed_grants.len().saturating_sub(MAX_TIMED_GRANTS);
        for _ in 0..surplus {
            // A person is asked about dropped permissions again.
            self.timed_grants.pop_first();
        }
        true
    }

    /// Removes the temporary permissions that have expired at this simulated date.
    pub(super) fn end_grants(&mut self, now: Option<i64>) {
        if let Some(now) = now.filter(|now| self.timed_grants.iter().any(|timed| !timed.holds(*now))) {
            self.timed_grants.retain(|timed| timed.holds(now));
        }
    }

    /// Returns the scope of the permission that covers all of these rules: for the task of this thread or of a thread
    /// above it, or until a given time for an agent of one of these threads. `now` is the simulated date. Returns
    /// `None` if any rule is not covered.
    pub fn granted(
        &self,
        thread: ActivationKey,
        tool: &str,
        rules: &[AskRule],
        now: Option<i64>,
    ) -> Option<AllowScope> {
        let wanted = ask_rules::for_task(rules)?;
        let granted: Vec<&BTreeSet<Grant>> = self.ancestors(thread).filter_map(|key| self.grants.get(&key)).collect();
        let agents: BTreeSet<&Id> =
            self.ancestors(thread).filter_map(|key| self.threads.get(&key)).map(|thread| &thread.agent).collect();
        let mut until: Option<i64> = None;
        for rule in &wanted {
            let is_it = |grant: &Grant| grant.tool == tool && grant.rule == *rule;
            if granted.iter().any(|grants| grants.iter().any(is_it)) {
                continue;
            }
            let holds = |timed: &&TimedGrant| {
                is_it(&timed.grant) && agents.contains(&timed.agent) && now.is_some_and(|now| timed.holds(now))
            };
            let longest = self.timed_grants.iter().filter(holds).map(|timed| timed.until).max()?;
            until = Some(until.map_or(longest, |until| until.min(longest)));
        }
        Some(until.map_or(AllowScope::Task, |until| AllowScope::Until(TimeLimit::At(until))))
    }

    /// The files that commands would run which a person allowed for a task or a time, or is asked about.
    pub(super) fn command_files(&self) -> BTreeSet<String> {
        let granted = self.grants.values().flatten().chain(self.timed_grants.iter().map(|timed| &timed.grant));
        let asked = self.activations().filter_map(|one| one.current_call()?.1.question.as_deref());
        let rules = granted.map(|grant| &grant.rule).chain(asked.flat_map(|question| &question.rules));
        let commands = rules.filter(|rule| rule.kind == TouchKind::PROCESS_RUN);
        let located = commands.filter_map(|rule| commands::line_and_folder(&rule.target));
        located.flat_map(|(line, folder)| commands::code_files_of_line(line, folder)).collect()
    }

    /// The temporary permissions that have not expired at this simulated date: agent, description and end date.
    pub fn granted_until(&self, now: Option<i64>) -> Vec<(Id, String, i64)> {
        let holds = |timed: &&TimedGrant| now.is_some_and(|now| timed.holds(now));
        let mut described: BTreeMap<(&Id, &str, i64), Vec<&AskRule>> = BTreeMap::new();
        for timed in self.timed_grants.iter().filter(holds) {
            described.entry((&timed.agent, &timed.grant.tool, timed.until)).or_default().push(&timed.grant.rule);
        }
        let described = described.into_iter().map(|((agent, tool, until), rules)| {
            (agent.clone(), format!("{} with {tool}", ask_rules::granted_words(rules)), until)
        });
        described.collect()
    }

    /// The thread and all threads above it, up to the one that a person started.
    pub(super) fn ancestors(&self, thread: ActivationKey) -> impl Iterator<Item = ActivationKey> {
        std::iter::successors(Some(thread), |key| self.threads.get(key)?.parent)
    }

    /// The permissions for the tasks of a run: agent and description, such as "change files with `vfs_write`".
    pub fn granted_in(&self, root: ActivationKey) -> Vec<(Id, String)> {
        let mut described = Vec::new();
        for (key, grants) in &self.grants {
            let Some(thread) = self.threads.get(key).filter(|thread| thread.root == root) else { continue };
            let tools: BTreeSet<&str> = grants.iter().map(|grant| grant.tool.as_str()).collect();
            for tool in tools {
                let rules = grants.iter().filter(|grant| grant.tool == tool).map(|grant| &grant.rule);
                described.push((thread.agent.clone(), format!("{} with {tool}", ask_rules::granted_words(rules))));
            }
        }
        described
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::*;
    use crate::gate::{AskSource, SafetyMode};

    fn asked(kind: TouchKind, target: &str) -> Vec<AskRule> {
        let source = AskSource::SafetyMode { mode: SafetyMode::Safe, is_own: true };
        vec![AskRule { source, kind, target: target.into() }]
    }

    fn is_granted(kernel: &Kernel, thread: ActivationKey, tool: &str, rules: &[AskRule]) -> bool {
        kernel.granted(thread, tool, rules, None) == Some(AllowScope::Task)
    }

    #[test]
    fn temporary_permissions_apply_to_all_tasks_until_they_expire() {
        let mut bench = Bench::new();
        let boss = bench.start("boss", "Plan");
        let other = bench.start("boss", "Plan more");
        let child = bench.spawn(boss, "kid", "dig").expect("it should be permitted");
        let stranger = bench.start("stranger", "Look");
        let write = |path: &str| asked(TouchKind::FILE_WRITE, path);
        assert!(bench.kernel.grant_until(&"boss".into(), "vfs_write", &write("a.md"), (100, 200)));
        let granted = |kernel: &Kernel, thread, now| kernel.granted(thread, "vfs_write", &write("b.md"), now);
        let until = Some(AllowScope::Until(TimeLimit::At(200)));
        for thread in [boss, other, child] {
            assert_eq!(granted(&bench.kernel, thread, Some(199)), until);
            for over in [Some(200), Some(99), None] {
                assert_eq!(granted(&bench.kernel, thread, over), None, "{over:?}: a clock that was set back, too");
            }
        }
        assert_eq!(granted(&bench.kernel, stranger, Some(150)), None);
        let delete = asked(TouchKind::FILE_DELETE, "a.md");
        assert_eq!(bench.kernel.granted(boss, "vfs_write", &delete, Some(150)), None);
        let text = serde_json::to_string(&bench.kernel).expect("the kernel can be saved");
        let mut again: Kernel = serde_json::from_str(&text).expect("it should be readable again");
        assert_eq!(granted(&again, other, Some(150)), until, "it is kept with the rest");
        assert_eq!(again.granted_until(Some(150)), [("boss".into(), "change files with vfs_write".to_owned(), 200)]);
        assert!(again.granted_until(Some(200)).is_empty());
        again.end_grants(Some(200));
        assert_eq!(granted(&again, other, Some(150)), None, "it is gone, whatever the clock says later");
        let scene = AskRule { source: AskSource::EachTime { why: "x".into() }, ..delete[0].clone() };
        assert!(!again.grant_until(&"boss".into(), "vfs_write", &[scene], (100, 200)));
    }

    #[test]
    fn permissions_for_a_task_include_started_agents_and_end_with_the_task() {
        let mut bench = Bench::new();
        let boss = bench.start("boss", "Plan");
        let other = bench.start("boss", "Plan more");
        let child = bench.spawn(boss, "kid", "dig").expect("it should be permitted");
        let write = |path: &str| asked(TouchKind::FILE_WRITE, path);
        assert!(!is_granted(&bench.kernel, boss, "vfs_write", &write("a.md")));
        assert!(bench.kernel.grant(boss, "vfs_write", &write("a.md")));
        for thread in [boss, child] {
            assert!(is_granted(&bench.kernel, thread, "vfs_write", &write("b.md")), "another file");
            assert!(!is_granted(&bench.kernel, thread, "vfs_edit", &write("b.md")), "another tool");
            let delete = asked(TouchKind::FILE_DELETE, "a.md");
            assert!(!is_granted(&bench.kernel, thread, "vfs_write", &delete), "another kind of touch");
        }
        assert!(!is_granted(&bench.kernel, other, "vfs_write", &write("a.md")), "another task");
        assert_eq!(bench.kernel.granted_in(boss), [("boss".into(), "change files with vfs_write".to_owned())]);
        assert!(bench.kernel.granted_in(other).is_empty());
        bench.kernel.kill_all("a person", None);
        bench.kernel.forget_finished_runs();
        assert!(!is_granted(&bench.kernel, boss, "vfs_write", &write("a.md")), "the task is over");
    }

    #[test]
    fn permissions_of_a_child_do_not_apply_to_its_parent() {
        let mut bench = Bench::new();
        let boss = bench.start("boss", "Plan");
        let child = bench.spawn(boss, "kid", "dig").expect("it should be permitted");
        let write = asked(TouchKind::FILE_WRITE, "a.md");
        assert!(bench.kernel.grant(child, "vfs_write", &write));
        assert!(!is_granted(&bench.kernel, boss, "vfs_write", &write));
        let text = serde_json::to_string(&bench.kernel).expect("the kernel can be saved");
        let again: Kernel = serde_json::from_str(&text).expect("it should be readable again");
        assert!(is_granted(&again, child, "vfs_write", &write), "it is kept with the rest");
        let scene = AskRule { source: AskSource::EachTime { why: "x".into() }, ..write[0].clone() };
        assert!(!bench.kernel.grant(child, "vfs_write", &[scene]), "what is asked each time is allowed once");
    }
}
