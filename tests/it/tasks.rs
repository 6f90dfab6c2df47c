//! Task files on the command line: queried, changed, checked and formatted.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::cases;
use crate::program::{output, succeed, workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        tasks_are_queried_and_printed_in_three_formats,
        changing_one_task_leaves_every_other_byte_unchanged,
        line_endings_are_kept,
        an_invalid_query_changes_nothing,
        changing_all_tasks_needs_a_flag,
        tasks_are_added_and_deleted,
        a_task_with_an_error_is_not_changed_and_reported,
        paths_outside_the_workspace_and_changes_to_approvals_are_refused,
        lint_reports_problems_with_line_column_and_code,
        fmt_checks_and_fixes_spacing,
        results_are_written_to_a_new_file_and_queries_read_from_a_pipe,
        concurrent_commands_lose_nothing,
    ]
}

const PLAN: &str = "# Plan\n\n<!-- kept -->\n## todo\n\n- [x] A @ada #tea \"Buy tea\"\n  id: t1\n  odd key: kept\n\n- [_] B @human `Write: the card`\n  id: t2\n  depends_on: t1\n  note:   two  spaces\n  - [ ] Sign it\n\n## Notes\n- [ ] no task\n";

fn room() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("tasks")).unwrap();
    fs::create_dir_all(folder.path().join("agents")).unwrap();
    fs::write(folder.path().join("settings.yaml"), "").unwrap();
    fs::write(folder.path().join("agents/ada.md"), "---\nname: Ada\n---\nYou plan.\n").unwrap();
    fs::write(folder.path().join("tasks/plan.task.md"), PLAN).unwrap();
    folder
}

fn plan(room: &Path) -> String {
    fs::read_to_string(room.join("tasks/plan.task.md")).unwrap()
}

/// Runs a command that must not print to stdout. Returns its exit code and stderr.
fn run_refused(room: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let ended = output(room, arguments);
    assert!(ended.stdout.is_empty(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stdout));
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

fn tasks_are_queried_and_printed_in_three_formats() {
    let room = room();
    let query = "SELECT id, status, title FROM tasks/*.task.md WHERE status=open ORDER BY title DESC";
    let table = succeed(room.path(), &["task", query]);
    assert_eq!(
        table,
        "id       status  title\n-------  ------  ---------------\nt2       open    Write: the card\nsign-it  open    Sign it\n"
    );
    let json: Value = serde_json::from_str(&succeed(room.path(), &["task", query, "--json"])).unwrap();
    assert_eq!(json[0]["title"], "Write: the card");
    assert_eq!(
        json,
        serde_json::from_str::<Value>(&succeed(room.path(), &["task", query, "--format", "json"])).unwrap()
    );
    let all: Value =
        serde_json::from_str(&succeed(room.path(), &["task", "select * from tasks/plan.task.md", "--json"])).unwrap();
    assert_eq!(
        (&all[1]["depends_on"][0], &all[1]["line"], &all[2]["parent"]),
        (&"t1".into(), &10.into(), &"t2".into())
    );
    let markdown = succeed(room.path(), &["task", query, "--format", "markdown"]);
    assert_eq!(markdown, "- [ ] \"Write: the card\"\n  id: t2\n- [ ] \"Sign it\"\n");
    let none = output(room.path(), &["task", "SELECT * FROM tasks/plan.task.md WHERE id = nobody"]);
    assert!(none.status.success() && none.stdout.is_empty());
    assert_eq!(
        succeed(room.path(), &["task", "SELECT * FROM tasks/plan.task.md WHERE id = nobody", "--json"]).trim(),
        "[]"
    );
}

fn changing_one_task_leaves_every_other_byte_unchanged() {
    let room = room();
    let query = "UPDATE tasks/plan.task.md SET status = completed, note = 'signed' WHERE id = 't2'";
    assert_eq!(succeed(room.path(), &["task", query]), "tasks/plan.task.md: changed t2\n");
    assert_eq!(plan(room.path()), PLAN.replace("[_]", "[x]").replace("note:   two  spaces", "note: signed"));
    // A task without an id gets one with its first change.
    succeed(room.path(), &["task", "UPDATE tasks/plan.task.md SET priority = C WHERE title LIKE 'sign%'"]);
    assert!(plan(room.path()).contains("  - [ ] C Sign it\n    id: sign-it\n\n## Notes"));
    let again = output(room.path(), &["task", query]);
    assert!(again.status.success());
    assert_eq!(fs::read_dir(room.path().join("tasks")).unwrap().count(), 1, "no temporary file is left");
}

fn line_endings_are_kept() {
    let room = room();
    fs::write(room.path().join("tasks/plan.task.md"), PLAN.replace('\n', "\r\n")).unwrap();
    succeed(
        room.path(),
        &["task", "UPDATE tasks/plan.task.md SET status = skipped, why = \"one\\ntwo\" WHERE id = 't2'"],
    );
    let changed = PLAN.replace("[_]", "[-]").replace("  - [ ] Sign", "  why: |\n    one\n    two\n  - [ ] Sign");
    assert_eq!(plan(room.path()), changed.replace('\n', "\r\n"));
}

fn an_invalid_query_changes_nothing() {
    let room = room();
    for query in [
        "UPDATE tasks/plan.task.md SET status = completed WHER id = 't2'",
        "DELETE FROM tasks/plan.task.md WHERE",
        "DELETE FROM tasks/plan.task.md WHERE id = 't2",
        "UPDATE tasks/plan.task.md SET status = finished WHERE id = 't2'",
        "DROP tasks/plan.task.md",
        "",
    ] {
        let (code, output) = run_refused(room.path(), &["task", query, "--all"]);
        assert_eq!(code, Some(2), "{query}: {output}");
        assert!(output.contains("invalid query") && output.contains('^'), "{output}");
        assert_eq!(plan(room.path()), PLAN);
    }
    let (_, output) = run_refused(room.path(), &["task", "SELECT * FORM x"]);
    assert_eq!(output, "error: invalid query: expected FROM\n  SELECT * FORM x\n           ^\n");
}

fn changing_all_tasks_needs_a_flag() {
    let room = room();
    for query in ["UPDATE tasks/plan.task.md SET note = x", "DELETE FROM tasks/plan.task.md"] {
        let (code, output) = run_refused(room.path(), &["task", query]);
        assert_eq!(code, Some(2));
        assert!(output.contains("--all"), "{output}");
        assert_eq!(plan(room.path()), PLAN);
    }
    succeed(room.path(), &["task", "UPDATE tasks/plan.task.md SET note = x", "--all"]);
    assert_eq!(plan(room.path()).matches("note: x").count(), 3);
}

fn tasks_are_added_and_deleted() {
    let room = room();
    let added = succeed(
        room.path(),
        &[
            "task",
            "INSERT INTO tasks/plan.task.md SET title = 'Post it', stakeholders = '@human', parent = t2",
            "--json",
        ],
    );
    assert_eq!(added, "{\"added\":[{\"file\":\"tasks/plan.task.md\",\"id\":\"post-it\"}],\"refused\":[]}\n");
    let with = PLAN.replace("Sign it\n", "Sign it\n  - [ ] @human \"Post it\"\n    id: post-it\n");
    assert_eq!(plan(room.path()), with);
    let (code, output) = run_refused(room.path(), &["task", "DELETE FROM tasks/plan.task.md WHERE id = t2"]);
    assert!(code == Some(1) && output.contains("has subtasks"), "{output}");
    succeed(room.path(), &["task", "DELETE FROM tasks/plan.task.md WHERE id = post-it"]);
    assert_eq!(plan(room.path()), PLAN);
    succeed(room.path(), &["task", "DELETE FROM tasks/plan.task.md WHERE id = t2", "--with-children"]);
    assert!(!plan(room.path()).contains("Sign it") && plan(room.path()).contains("odd key: kept"));
    succeed(room.path(), &["task", "INSERT INTO tasks/new/list.task.md SET title = 'First'"]);
    let new = fs::read_to_string(room.path().join("tasks/new/list.task.md")).unwrap();
    assert_eq!(new, "## TODO\n\n- [ ] \"First\"\n  id: first\n");
}

fn a_task_with_an_error_is_not_changed_and_reported() {
    let room = room();
    let broken = PLAN.replace("\"Buy tea\"", "\"Buy tea");
    fs::write(room.path().join("tasks/plan.task.md"), &broken).unwrap();
    let ended = output(room.path(), &["task", "UPDATE tasks/plan.task.md SET status = skipped", "--all"]);
    let stderr = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("line 6: task \"t1\" cannot be changed"), "{stderr}");
    assert!(plan(room.path()).contains("- [x] A @ada #tea \"Buy tea\n") && plan(room.path()).contains("[-] B @human"));
}

fn paths_outside_the_workspace_and_changes_to_approvals_are_refused() {
    let room = room();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("far.task.md"), PLAN).unwrap();
    let approvals = "## TODO\n\n- [_] A @human #approval `Approve command: docker ps`\n  id: approval-1\n";
    fs::write(room.path().join("tasks/approvals.task.md"), approvals).unwrap();
    let far = outside.path().join("far.task.md");
    for file in [
        far.to_str().unwrap(),
        "../far.task.md",
        "settings.yaml",
        ".workshop/a.task.md",
        "tasks/none.task.md",
        "../*.task.md",
    ] {
        let (code, output) = run_refused(room.path(), &["task", &format!("SELECT * FROM '{file}'")]);
        assert_eq!(code, Some(2), "{file}: {output}");
    }
    assert!(
        succeed(room.path(), &["task", "SELECT * FROM tasks/*.task.md WHERE tags = approval"]).contains("approval-1")
    );
    for query in [
        "UPDATE tasks/*.task.md SET status = completed WHERE id = approval-1 OR id = t2",
        "INSERT INTO tasks/approvals.task.md SET title = 'x'",
        "SELECT * FROM tasks/plan.task.md INTO storage/a.task.md",
    ] {
        let (code, output) = run_refused(room.path(), &["task", query]);
        assert!(code == Some(2) && output.contains("only you change it"), "{output}");
    }
    assert_eq!(fs::read_to_string(room.path().join("tasks/approvals.task.md")).unwrap(), approvals);
    assert_eq!(plan(room.path()), PLAN, "if one file may not be written, none is changed");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&far, room.path().join("tasks/link.task.md")).unwrap();
        let (code, _) =
            run_refused(room.path(), &["task", "UPDATE tasks/link.task.md SET status = skipped WHERE id = t1"]);
        assert_eq!((code, fs::read_to_string(&far).unwrap().as_str()), (Some(1), PLAN));
    }
}

fn lint_reports_problems_with_line_column_and_code() {
    let room = room();
    let text = "- [ ] @ada @nobody \"a\"\n  id: one\n  depends_on: none\n- [ ] \"b\n  id: one\n";
    fs::write(room.path().join("tasks/bad.task.md"), text).unwrap();
    let ended = output(room.path(), &["task", "lint", "tasks/*.task.md"]);
    assert_eq!(ended.status.code(), Some(1));
    let stdout = String::from_utf8(ended.stdout).unwrap();
    let heads: Vec<&str> = stdout.lines().filter_map(|line| line.split(": ").nth(1)).collect();
    assert!(stdout.lines().all(|line| line.ends_with(')')), "each problem has a remedy: {stdout}");
    assert_eq!(
        heads,
        [
            "warning unknown-stakeholder",
            "error duplicate-id",
            "warning unknown-dependency",
            "error unclosed-quote",
            "error duplicate-id"
        ]
    );
    assert!(stdout.starts_with("tasks/bad.task.md:1:12: warning unknown-stakeholder"), "{stdout}");
    let json = output(room.path(), &["task", "lint", "tasks/bad.task.md", "--json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&json["issues"][3]["line"], &json["issues"][3]["column"]), (&4.into(), &7.into()));
    let sound = output(room.path(), &["task", "lint", "tasks/plan.task.md"]);
    assert!(sound.status.success() && sound.stdout.is_empty());
}

fn fmt_checks_and_fixes_spacing() {
    let room = room();
    let checked = output(room.path(), &["task", "fmt", "tasks/plan.task.md", "--check"]);
    assert_eq!(checked.status.code(), Some(1));
    assert_eq!(String::from_utf8(checked.stdout).unwrap(), "tasks/plan.task.md: would change line 13\n");
    assert_eq!(plan(room.path()), PLAN);
    succeed(room.path(), &["task", "fmt", "tasks/plan.task.md"]);
    assert_eq!(plan(room.path()), PLAN.replace("note:   two", "note: two"));
    assert!(output(room.path(), &["task", "fmt", "tasks/plan.task.md", "--check"]).status.success());
}

fn results_are_written_to_a_new_file_and_queries_read_from_a_pipe() {
    let room = room();
    let query = "SELECT * FROM tasks/plan.task.md WHERE status = open INTO tasks/open.task.md";
    succeed(room.path(), &["task", query]);
    let open = fs::read_to_string(room.path().join("tasks/open.task.md")).unwrap();
    assert_eq!(
        open,
        "## TODO\n\n- [ ] B @human \"Write: the card\"\n  id: t2\n  depends_on: t1\n  note: two  spaces\n- [ ] \"Sign it\"\n"
    );
    let (code, output) = run_refused(room.path(), &["task", query]);
    assert!(code == Some(2) && output.contains("already exists"), "{output}");
    let mut piped =
        workshop(room.path(), &["task", "-", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    piped.stdin.take().unwrap().write_all(b"SELECT id FROM tasks/plan.task.md LIMIT 1\n").unwrap();
    assert_eq!(piped.wait_with_output().unwrap().stdout, b"[{\"id\":\"t1\"}]\n");
}

fn concurrent_commands_lose_nothing() {
    let room = room();
    let children: Vec<_> = (0..6)
        .map(|number| {
            let query = format!("INSERT INTO tasks/plan.task.md SET title = 'Guest {number}'");
            workshop(room.path(), &["task", &query]).stdout(Stdio::null()).spawn().unwrap()
        })
        .collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let text = plan(room.path());
    for number in 0..6 {
        assert_eq!(text.matches(&format!("\"Guest {number}\"")).count(), 1, "{text}");
    }
}
