//! Tests for the selection of tasks that become work, and for the notices about them.

use super::*;
use crate::workspace::task_files::parse;

fn files(texts: &[(&str, &str)]) -> TaskTexts {
    texts.iter().map(|(path, text)| ((*path).to_owned(), parse(*text))).collect()
}

fn agent_of(name: &str) -> Option<Id> {
    matches!(name, "ada" | "bram").then(|| name.into())
}

fn due(assignments: &mut TaskAssignments, texts: &[(&str, &str)]) -> Vec<String> {
    assignments
        .take_due(&files(texts), &agent_of, 100)
        .into_iter()
        .map(|assignment| format!("{} {}", assignment.agent, assignment.id))
        .collect()
}

const PLAN: &str = "tasks/plan.task.md";

#[test]
fn open_tasks_of_agents_are_due_once_their_dependencies_are_done() {
    checks_rule!("tasks-wait-for-their-dependencies");
    for (task, is_due) in [
        ("- [ ] @ada \"x\"", true),
        ("- [_] B @bram \"x\"", true),
        ("- [ ] @nobody @ada \"x\"", true),
        ("- [ ] @ada \"x\"\n  status: open", true),
        ("- [ ] @ada \"x\"\n  depends_on: done", true),
        ("- [x] @ada \"x\"", false),
        ("- [-] @ada \"x\"", false),
        ("- [ ] \"x\"", false),
        ("- [ ] @nobody \"x\"", false),
        ("- [ ] @human \"x\"", false),
        ("- [ ] @ada @human \"x\"", false),
        ("- [ ] @ada \"x\"\n  status: working", false),
        ("- [ ] @ada \"x\"\n  status: failed", false),
        ("- [ ] @ada \"x\"\n  approval_required: true", false),
        ("- [ ] @ada \"x\"\n  approval_required: true\n  approved: true", true),
        ("- [ ] @ada \"x\"\n  depends_on: later", false),
        ("- [ ] @ada \"x\"\n  depends_on: done, left", false),
        ("- [ ] @ada \"x\"\n  depends_on: nothing", false),
    ] {
        let text =
            format!("{task}\n- [x] \"Done\"\n  id: done\n- [-] \"Left\"\n  id: left\n- [ ] \"Later\"\n  id: later\n");
        let mut assignments = TaskAssignments::default();
        assert_eq!(!due(&mut assignments, &[(PLAN, &text)]).is_empty(), is_due, "{task}");
        assert_eq!(due(&mut assignments, &[(PLAN, &text)]), [] as [&str; 0], "once: {task}");
    }
    let mut assignments = TaskAssignments::default();
    assert_eq!(due(&mut assignments, &[(APPROVALS_FILE, "- [ ] @ada \"x\"\n")]), [] as [&str; 0]);
    let others =
        [("tasks/a.task.md", "- [ ] @ada \"x\"\n  depends_on: y\n"), ("tasks/b.task.md", "- [x] \"Y\"\n  id: y\n")];
    assert_eq!(due(&mut assignments, &others), ["ada x"], "another file counts");
}

#[test]
fn tasks_marked_as_taken_without_an_assignment_are_reported() {
    let text =
        "- [ ] @ada \"one\"\n- [ ] @ada \"two\"\n  status: working\n- [ ] @nobody \"three\"\n  status: working\n";
    let mut assignments = TaskAssignments::default();
    let orphans = |assignments: &TaskAssignments, text: &str| -> Vec<(usize, String)> {
        let files = files(&[(PLAN, text)]);
        assignments.orphans(&files, &agent_of).into_iter().map(|(_, line, task)| (line, task.id.clone())).collect()
    };
    assert_eq!(orphans(&assignments, text), [(2, "two".to_owned())]);
    assert_eq!(due(&mut assignments, &[(PLAN, text)]), ["ada one"]);
    let marked = text.replace("\"one\"\n", "\"one\"\n  status: working\n");
    assert_eq!(orphans(&assignments, &marked), [(3, "two".to_owned())], "the first is had");
}

#[test]
fn the_most_urgent_tasks_are_assigned_first_up_to_the_limit() {
    let text = "- [ ] @ada \"one\"\n- [ ] B @ada \"two\"\n- [ ] A @ada \"three\"\n";
    let mut assignments = TaskAssignments::default();
    let taken = assignments.take_due(&files(&[(PLAN, text)]), &agent_of, 2);
    assert_eq!(taken.iter().map(|assignment| assignment.id.as_str()).collect::<Vec<_>>(), ["three", "two"]);
    assert!(assignments.take_due(&files(&[(PLAN, text)]), &agent_of, 2).is_empty());
    assignments.apply_marked(1, Ok("three".into()), 0);
    assignments.conclude(1, &Outcome { status: "completed".into(), text: "Three.".into() });
    assignments.apply_closed(1, None);
    let rest = assignments.take_due(&files(&[(PLAN, "- [ ] @ada \"one\"\n- [ ] B @ada \"two\"\n")]), &agent_of, 2);
    assert_eq!(rest.len(), 1);
}

#[test]
fn a_blocked_assignment_is_retried_when_its_file_changes() {
    let text = "- [ ] @ada \"x\"\n";
    let mut assignments = TaskAssignments::default();
    assert_eq!(due(&mut assignments, &[(PLAN, text)]), ["ada x"]);
    assignments.apply_marked(1, Err("it is read-only".into()), content_hash(text.as_bytes()));
    assert_eq!(due(&mut assignments, &[(PLAN, text)]), [] as [&str; 0]);
    assert!(!assignments.is_at_work());
    assert_eq!(due(&mut assignments, &[(PLAN, "- [ ] @ada \"x\"\n- [ ] y\n")]), ["ada x"]);
}

#[test]
fn the_requester_of_a_task_is_notified_once_however_it_ends() {
    let task = |mark: &str, more: &str| {
        format!("- [{mark}] @human \"Say yes\"\n  id: yes\n  requesting_agent_session_id: planner.act-7\n{more}")
    };
    for (ended, words) in [
        (task("x", "  note: Yes, do.\n"), "is done:\nYes, do."),
        (task("-", ""), "will not be done."),
        (String::new(), "was removed from its file."),
    ] {
        let mut assignments = TaskAssignments::default();
        assignments.watch(&files(&[(PLAN, &task(" ", ""))]));
        assert_eq!(assignments.waiting_sessions(), BTreeSet::from(["planner.act-7"]));
        assert_eq!(assignments.take_notices(), []);
        assignments.watch(&files(&[(PLAN, &ended)]));
        assignments.watch(&files(&[(PLAN, &ended)]));
        let told = assignments.take_notices();
        assert_eq!(told.len(), 1, "{ended}");
        assert!(told[0].text == format!("Your task yes “Say yes” {words}"), "{}", told[0].text);
        assert!(assignments.waiting_sessions().is_empty());
    }
}

#[test]
fn the_requester_gets_the_conclusion_of_a_task_once() {
    let task = |mark: &str, more: &str| {
        format!("- [{mark}] @ada \"Count\"\n  id: count\n  requesting_agent_session_id: planner.act-7\n{more}")
    };
    let mut assignments = TaskAssignments::default();
    assignments.watch(&files(&[(PLAN, &task(" ", ""))]));
    assert_eq!(due(&mut assignments, &[(PLAN, &task(" ", ""))]), ["ada count"]);
    assignments.apply_marked(1, Ok("count".into()), 0);
    assignments.watch(&files(&[(PLAN, &task("x", "  status: working\n"))]));
    assert_eq!(assignments.take_notices(), [], "the agent marked it and goes on");
    assignments.conclude(1, &Outcome { status: "completed".into(), text: "Twelve.".into() });
    assignments.watch(&files(&[(PLAN, &task(" ", "  status: working\n"))]));
    assignments.apply_closed(1, None);
    assignments.watch(&files(&[(PLAN, &task("x", "  status: completed\n"))]));
    let told: Vec<String> = assignments.take_notices().into_iter().map(|told| told.text).collect();
    assert_eq!(told, ["Your task count “Count” was done by ada. Its result:\nTwelve."]);
    assert!(!assignments.is_at_work() && assignments.waiting_sessions().is_empty());
}

#[test]
fn a_task_message_includes_the_results_of_its_dependencies() {
    let text = "- [x] \"Find\"\n  id: find\n  conclusion: |\n    It is podman.\n- [ ] @ada \"Count\"\n  id: count\n  depends_on: find\n  description: |\n    All of them.\n";
    let mut assignments = TaskAssignments::default();
    let taken = assignments.take_due(&files(&[(PLAN, text)]), &agent_of, 1);
    let words = task_words(&files(&[(PLAN, text)]), &taken[0]).expect("it should exist");
    assert_eq!(
        words,
        "Count\n\nAll of them.\n\nDone before this: “Find” (find). Its result:\n```text\nIt is podman.\n```\n\nThis is task count in \
         tasks/plan.task.md. Your final answer is its result."
    );
}
