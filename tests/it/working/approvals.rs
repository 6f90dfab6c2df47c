//! Approvals of calls by a person: the scope of a permission (this call, the task, or permanent) and comments on a
//! refusal.

use std::fs;

use agent_workshop::base::AllowScope;
use agent_workshop::kernel::{Kernel, KernelCommand};
use agent_workshop::workspace::KnownFiles;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::working::{SAFE, Studio, asked, spawn};

pub fn trials() -> Vec<Trial> {
    cases![
        a_permission_for_a_task_covers_its_later_calls_and_the_agents_it_starts,
        a_permission_for_a_task_survives_a_restart_and_ends_with_the_task,
        a_permanent_permission_is_saved_in_the_settings_and_revoked_there,
        calls_that_are_always_asked_about_can_only_be_allowed_once,
        a_comment_on_a_refusal_reaches_the_model_and_the_log,
    ]
}

fn write(path: &str) -> String {
    format!("{{ name: vfs_write, arguments: {{ path: {path}, content: x }} }}")
}

/// Returns a script whose lead makes these calls in its tasks, one per turn, and is woken `wakes` times after the first
/// task.
fn script(tasks: &[&[String]], wakes: usize) -> String {
    let done = "    - text: Done.\n";
    let turns = |calls: &&[String]| {
        let calls = calls.iter().map(|call| format!("    - tools: [ {call} ]\n"));
        calls.collect::<String>() + done
    };
    let mut turns: Vec<String> = tasks.iter().map(turns).collect();
    turns[0] += &done.repeat(wakes);
    let kid = write("artifacts/kid.md");
    format!("latency: 0.1\nagents:\n  kid:\n    - tools: [ {kid} ]\n    - text: Done.\n  lead:\n{}", turns.concat())
}

fn decide(studio: &mut Studio, allow: bool, scope: AllowScope, because: Option<&str>) {
    asked(studio);
    let approval = studio.world().resource::<Kernel>().approvals().next().expect("an approval is pending");
    studio.command(approval.answer(allow, scope, because.map(str::to_owned)));
}

fn questions(studio: &Studio) -> Vec<String> {
    let wants = |event: &Value| event["data"]["wants"].as_str().unwrap_or_default().to_owned();
    studio.all("approval_requested").into_iter().map(wants).collect()
}

fn a_permission_for_a_task_covers_its_later_calls_and_the_agents_it_starts() {
    let calls = [write("artifacts/a.md"), write("artifacts/b.md"), spawn("kid")];
    let mut studio = Studio::new(&script(&[&calls, &calls[..1]], 1), &[("agents/lead.md", SAFE)]);
    studio.task("lead", "Write them.");
    decide(&mut studio, true, AllowScope::Task, None);
    // A different kind of access needs another permission.
    decide(&mut studio, true, AllowScope::Once, None);
    studio.idle();
    for path in ["artifacts/a.md", "artifacts/b.md", "artifacts/kid.md"] {
        assert!(studio.exists(path), "{path}");
    }
    assert_eq!(questions(&studio), ["write artifacts/a.md", "create an agent: MISSION"]);
    let decided: Vec<Value> =
        studio.all("approval_decided").iter().map(|event| event["data"]["scope"].clone()).collect();
    let task = Value::from("task");
    assert_eq!(
        decided,
        [task.clone(), task.clone(), Value::Null, task],
        "the log contains the scope that allowed each call"
    );
    studio.task("lead", "Write them again.");
    asked(&mut studio);
    assert_eq!(questions(&studio).len(), 3, "another task needs another permission");
}

fn a_permission_for_a_task_survives_a_restart_and_ends_with_the_task() {
    let calls = [write("artifacts/a.md"), write("artifacts/b.md"), write("artifacts/c.md")];
    let mut studio = Studio::new(&script(&[&calls], 0), &[("agents/lead.md", SAFE)]);
    studio.task("lead", "Write them.");
    decide(&mut studio, true, AllowScope::Task, None);
    studio.until("the first was written", |studio| studio.exists("artifacts/a.md"));
    let root = studio.world().resource::<Kernel>().threads().next().expect("the work continues").0;
    let granted = vec![("lead".into(), "change files with vfs_write".to_owned())];
    assert_eq!(studio.world().resource::<Kernel>().granted_in(root), granted);
    studio.close();
    studio.open();
    assert_eq!(studio.world().resource::<Kernel>().granted_in(root), granted);
    studio.idle();
    assert!(studio.exists("artifacts/c.md"));
    assert_eq!(questions(&studio).len(), 1, "{:?}", questions(&studio));
    assert!(studio.world().resource::<Kernel>().granted_in(root).is_empty(), "the task is over");
}

fn a_permanent_permission_is_saved_in_the_settings_and_revoked_there() {
    let calls = [write("artifacts/a.md"), write("artifacts/b.md")];
    let settings = "# mine\ngate: { deny: ['secret/**'] }\n";
    let files = [("agents/lead.md", SAFE), ("settings.yaml", settings)];
    let mut studio = Studio::new(&script(&[&calls, &calls, &calls], 0), &files);
    studio.task("lead", "Write them.");
    decide(&mut studio, true, AllowScope::Always, None);
    decide(&mut studio, true, AllowScope::Once, None);
    studio.idle();
    assert_eq!(
        questions(&studio),
        ["write artifacts/a.md", "write artifacts/b.md"],
        "another file needs another permission"
    );
    let settings_text = studio.world().resource::<KnownFiles>().text("settings.yaml").map(str::to_owned);
    let written = settings_text.expect("the settings exist");
    assert!(written.starts_with("# mine\n") && written.contains("vfs_write(artifacts/a.md)"), "{written}");
    let change = studio.all("file_change").into_iter().find(|event| event["data"]["path"] == "settings.yaml");
    assert_eq!(change.map(|event| event["data"]["by"].clone()), Some("user".into()), "the change is the person's");
    studio.task("lead", "Write them again.");
    asked(&mut studio);
    assert_eq!(questions(&studio).len(), 3);
    assert_eq!(questions(&studio)[2], "write artifacts/b.md", "the allowed call is not asked about again");
    studio.close();
    assert_eq!(studio.read("settings.yaml"), written, "the permission is saved on disk");
    fs::write(studio.folder.path().join("settings.yaml"), settings).expect("the settings can be restored");
    studio.open();
    decide(&mut studio, false, AllowScope::Once, None);
    studio.idle();
    studio.task("lead", "Write them once more.");
    asked(&mut studio);
    assert_eq!(
        questions(&studio).last().map(String::as_str),
        Some("write artifacts/a.md"),
        "the call is asked about again"
    );
}

fn calls_that_are_always_asked_about_can_only_be_allowed_once() {
    let scene = "{ name: vfs_write, arguments: { path: scenes/other.yaml, content: 'name: Other' } }".to_owned();
    let calls = [scene.clone(), scene.replace("other", "third")];
    let mut studio = Studio::new(&script(&[&calls], 0), &[("agents/lead.md", SAFE)]);
    studio.task("lead", "Write them.");
    asked(&mut studio);
    let approval = studio.world().resource::<Kernel>().approvals().next().expect("an approval is pending");
    assert_eq!((approval.for_task.as_ref(), approval.always.len()), (None, 0));
    // Wider scopes are treated as a permission for this call.
    decide(&mut studio, true, AllowScope::Always, None);
    decide(&mut studio, true, AllowScope::Task, None);
    studio.idle();
    assert_eq!(questions(&studio).len(), 2);
    assert_eq!(studio.read("settings.yaml"), "");
}

fn a_comment_on_a_refusal_reaches_the_model_and_the_log() {
    let mut studio = Studio::new(&script(&[&[write("artifacts/a.md")]], 0), &[("agents/lead.md", SAFE)]);
    studio.task("lead", "Write it.");
    decide(&mut studio, false, AllowScope::Once, Some("Use drafts/ instead."));
    studio.idle();
    assert!(!studio.exists("artifacts/a.md"));
    let result = studio.all("tool_result")[0].clone();
    let result_text = result["data"]["text"].as_str().unwrap_or_default();
    assert!(result_text.contains("a person refused this, with this comment: Use drafts/ instead"), "{result_text}");
    let decided = studio.all("approval_decided")[0].clone();
    assert_eq!((&decided["data"]["why"], &result["cause"]), (&"Use drafts/ instead.".into(), &decided["seq"]));
    let input =
        studio.all("input").into_iter().find(|input| input["data"]["do"] == "decide").expect("the input is logged");
    assert_eq!((&input["data"]["because"], &decided["cause"]), (&"Use drafts/ instead.".into(), &input["seq"]));
    let resumed =
        studio.all("state").into_iter().find(|state| state["data"]["from"] == "waiting").expect("the agent resumes");
    assert_eq!(resumed["cause"], decided["seq"], "the decision is the cause of resuming: {resumed}");
    let sessions = fs::read_dir(studio.folder.path().join("sessions")).expect("the sessions folder exists");
    let texts: Vec<String> = sessions
        .map(|entry| fs::read_to_string(entry.expect("the entry is readable").path()).expect("the session is text"))
        .collect();
    assert!(
        texts.iter().any(|text| text.contains("Use drafts/ instead")),
        "the session contains the comment: {texts:?}"
    );
    let decide = r#"{"do":"decide","activation":7,"turn":1,"call":0,"allow":true}"#;
    let older: KernelCommand = serde_json::from_str(decide).expect("records of an older version can be read");
    assert_eq!(
        serde_json::to_string(&older).expect("the command can be serialized"),
        decide,
        "it is written back unchanged"
    );
}
