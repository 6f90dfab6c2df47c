//! Tests of which tasks become work, and of the notices about them.

use super::*;
use crate::workspace::task_files::parse;

fn files(texts: &[(&str, &str)]) -> TaskTexts {
    texts.iter().map(|(path, text)| ((*path).to_owned(), parse(*text))).collect()
}

fn agent_of(name: &str) -> Option<Id> {
    matches!(name, "ada" | "bram").then(|| name.into())
}

fn due(duties: &mut TaskAssignments, texts: &[(&str, &str)]) -> Vec<String> {
    duties
        .take_due(&files(texts), &agent_of, 100)
        .into_iter()
        .map(|duty| format!("{} {}", duty.agent, duty.id))
        .collect()
}

const PLAN: &str = "tasks/plan.task.md";

#[test]
fn a_task_is_due_when_it_is_open_and_an_agents_and_everything_before_it_is_done() {
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
        let mut duties = TaskAssignments::default();
        assert_eq!(!due(&mut duties, &[(PLAN, &text)]).is_empty(), is_due, "{task}");
        assert_eq!(due(&mut duties, &[(PLAN, &text)]), [] as [&str; 0], "once: {task}");
    }
    let mut duties = TaskAssignments::default();
    assert_eq!(due(&mut duties, &[(APPROVALS, "- [ ] @ada \"x\"\n")]), [] as [&str; 0]);
    let others =
        [("tasks/a.task.md", "- [ ] @ada \"x\"\n  depends_on: y\n"), ("tasks/b.task.md", "- [x] \"Y\"\n  id: y\n")];
    assert_eq!(due(&mut duties, &others), ["ada x"], "another file counts");
}

#[test]
fn a_task_that_says_it_is_worked_at_by_somebody_here_is_reported_where_nobody_has_it() {
    let text =
        "- [ ] @ada \"one\"\n- [ ] @ada \"two\"\n  status: working\n- [ ] @nobody \"three\"\n  status: working\n";
    let mut duties = TaskAssignments::default();
    let orphans = |duties: &TaskAssignments, text: &str| -> Vec<(usize, String)> {
        let files = files(&[(PLAN, text)]);
        duties.orphans(&files, &agent_of).into_iter().map(|(_, line, task)| (line, task.id.clone())).collect()
    };
    assert_eq!(orphans(&duties, text), [(2, "two".to_owned())]);
    assert_eq!(due(&mut duties, &[(PLAN, text)]), ["ada one"]);
    let marked = text.replace("\"one\"\n", "\"one\"\n  status: working\n");
    assert_eq!(orphans(&duties, &marked), [(3, "two".to_owned())], "the first is had");
}

#[test]
fn the_most_urgent_come_first_and_no_more_than_there_are_places() {
    let text = "- [ ] @ada \"one\"\n- [ ] B @ada \"two\"\n- [ ] A @ada \"three\"\n";
    let mut duties = TaskAssignments::default();
    let taken = duties.take_due(&files(&[(PLAN, text)]), &agent_of, 2);
    assert_eq!(taken.iter().map(|duty| duty.id.as_str()).collect::<Vec<_>>(), ["three", "two"]);
    assert!(duties.take_due(&files(&[(PLAN, text)]), &agent_of, 2).is_empty());
    duties.was_marked(1, Ok("three".into()), 0);
    duties.conclude(1, &Outcome { status: "completed".into(), text: "Three.".into() });
    duties.was_closed(1, None);
    let rest = duties.take_due(&files(&[(PLAN, "- [ ] @ada \"one\"\n- [ ] B @ada \"two\"\n")]), &agent_of, 2);
    assert_eq!(rest.len(), 1);
}

#[test]
fn a_file_that_cannot_be_changed_is_tried_again_when_it_is_another() {
    let text = "- [ ] @ada \"x\"\n";
    let mut duties = TaskAssignments::default();
    assert_eq!(due(&mut duties, &[(PLAN, text)]), ["ada x"]);
    duties.was_marked(1, Err("it is read-only".into()), content_hash(text.as_bytes()));
    assert_eq!(due(&mut duties, &[(PLAN, text)]), [] as [&str; 0]);
    assert!(!duties.is_at_work());
    assert_eq!(due(&mut duties, &[(PLAN, "- [ ] @ada \"x\"\n- [ ] y\n")]), ["ada x"]);
}

#[test]
fn whoever_asked_for_a_task_is_told_once_however_it_ends() {
    let task = |mark: &str, more: &str| {
        format!("- [{mark}] @human \"Say yes\"\n  id: yes\n  requesting_agent_session_id: planner.act-7\n{more}")
    };
    for (ended, words) in [
        (task("x", "  note: Yes, do.\n"), "is done:\nYes, do."),
        (task("-", ""), "will not be done."),
        (String::new(), "was removed from its file."),
    ] {
        let mut duties = TaskAssignments::default();
        duties.watch(&files(&[(PLAN, &task(" ", ""))]));
        assert_eq!(duties.awaited_in(), BTreeSet::from(["planner.act-7"]));
        assert_eq!(duties.take_notices(), []);
        duties.watch(&files(&[(PLAN, &ended)]));
        duties.watch(&files(&[(PLAN, &ended)]));
        let told = duties.take_notices();
        assert_eq!(told.len(), 1, "{ended}");
        assert!(told[0].text == format!("Your task yes “Say yes” {words}"), "{}", told[0].text);
        assert!(duties.awaited_in().is_empty());
    }
}

#[test]
fn the_conclusion_of_an_agent_is_told_once() {
    let task = |mark: &str, more: &str| {
        format!("- [{mark}] @ada \"Count\"\n  id: count\n  requesting_agent_session_id: planner.act-7\n{more}")
    };
    let mut duties = TaskAssignments::default();
    duties.watch(&files(&[(PLAN, &task(" ", ""))]));
    assert_eq!(due(&mut duties, &[(PLAN, &task(" ", ""))]), ["ada count"]);
    duties.was_marked(1, Ok("count".into()), 0);
    duties.watch(&files(&[(PLAN, &task("x", "  status: working\n"))]));
    assert_eq!(duties.take_notices(), [], "the agent marked it and goes on");
    duties.conclude(1, &Outcome { status: "completed".into(), text: "Twelve.".into() });
    duties.watch(&files(&[(PLAN, &task(" ", "  status: working\n"))]));
    duties.was_closed(1, None);
    duties.watch(&files(&[(PLAN, &task("x", "  status: completed\n"))]));
    let told: Vec<String> = duties.take_notices().into_iter().map(|told| told.text).collect();
    assert_eq!(told, ["Your task count “Count” was done by ada. Its result:\nTwelve."]);
    assert!(!duties.is_at_work() && duties.awaited_in().is_empty());
}

#[test]
fn an_agent_is_told_its_task_with_what_came_before() {
    let text = "- [x] \"Find\"\n  id: find\n  conclusion: |\n    It is podman.\n- [ ] @ada \"Count\"\n  id: count\n  depends_on: find\n  description: |\n    All of them.\n";
    let mut duties = TaskAssignments::default();
    let taken = duties.take_due(&files(&[(PLAN, text)]), &agent_of, 1);
    let words = task_words(&files(&[(PLAN, text)]), &taken[0]).expect("it should exist");
    assert_eq!(
        words,
        "Count\n\nAll of them.\n\nDone before this: “Find” (find). Its result:\nIt is podman.\n\nThis is task count in \
         tasks/plan.task.md. Your final answer is its result."
    );
}
