//! Files that protect something and cannot be read at all protect as strictly as they could have been meant.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use agent_workshop::app::room::{OpenOptions, Room};
use agent_workshop::gate::{GatePolicy, TouchKind, Verdict};
use agent_workshop::gateway::BudgetSettings;
use agent_workshop::kernel::Kernel;
use agent_workshop::workspace::{Problems, UnreadableFiles};
use libtest_mimic::Trial;

use crate::cases;
use crate::working::Studio;

pub fn trials() -> Vec<Trial> {
    cases![
        unreadable_settings_allow_nothing_unasked_and_call_no_model,
        settings_that_become_readable_apply_at_once,
        settings_that_become_unreadable_keep_their_last_rules,
        settings_that_became_unreadable_while_the_room_was_closed_keep_their_last_rules,
        unreadable_rules_for_commands_ask_each_time,
        an_unreadable_scene_is_not_replaced_by_another,
        an_unreadable_agent_gets_no_rights,
    ]
}

/// The ways in which a file cannot be read.
const WAYS: [&str; 8] = ["latin-1", "nul and latin-1", "large", "rights", "folder", "pipe", "broken link", "link out"];

/// Makes a file unreadable in this way. Returns whether that is possible here: root can read everything.
fn make_unreadable(path: &Path, way: &str) -> bool {
    let text = fs::read(path).unwrap_or_default();
    let _ = fs::remove_file(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match way {
        "latin-1" => fs::write(path, [b"# R\xe9glages\n".as_slice(), &text].concat()).unwrap(),
        "nul and latin-1" => fs::write(path, [text.as_slice(), b"\0\xff\n"].concat()).unwrap(),
        "large" => fs::write(path, [text.as_slice(), &vec![b'\n'; 10 * 1024 * 1024]].concat()).unwrap(),
        "rights" => {
            fs::write(path, &text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        }
        "folder" => fs::create_dir(path).unwrap(),
        "pipe" => {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        }
        "broken link" => symlink("nowhere.yaml", path).unwrap(),
        _ => symlink("/etc/hostname", path).unwrap(),
    }
    way != "rights" || fs::read(path).is_err()
}

/// A lead that writes, deletes and says that it is done.
const SCRIPT: &str = "agents:\n  lead:\n    - tools:\n        - { name: vfs_write, arguments: { path: secret/s.md, content: x } }\n        - { name: vfs_delete, arguments: { path: boards/kept.md } }\n    - text: Done.\ndefault: [ { text: Fine. } ]\n";
const RULES: &str = "gate: { deny: ['secret/**'], file_delete: ask }\nbudget: { calls_per_run: 50 }\n";

/// A closed workspace with rules, without a history.
fn closed(files: &[(&str, &str)]) -> Studio {
    let all = [("settings.yaml", RULES), ("boards/kept.md", "kept")];
    let mut studio = Studio::new(SCRIPT, &all.iter().chain(files).copied().collect::<Vec<_>>());
    studio.close();
    fs::remove_dir_all(studio.folder.path().join(".workshop")).unwrap();
    studio
}

fn ticks(studio: &mut Studio, ticks: u32) {
    for _ in 0..ticks {
        studio.tick();
    }
}

fn all_problems(studio: &mut Studio) -> String {
    let problems = studio.world().resource::<Problems>().iter().map(ToString::to_string);
    problems.collect::<Vec<_>>().join("\n")
}

fn unreadable_settings_allow_nothing_unasked_and_call_no_model() {
    for way in WAYS {
        let mut studio = closed(&[]);
        if !make_unreadable(&studio.folder.path().join("settings.yaml"), way) {
            continue;
        }
        let problems = studio.open_with(false);
        assert!(problems.iter().any(|problem| problem.place == "settings.yaml"), "{way}: {problems:?}");
        studio.task("lead", "Write it.");
        ticks(&mut studio, 200);
        assert!(
            studio.all("model_call").is_empty() && studio.all("tool_call").is_empty(),
            "{way}: {:#?}",
            studio.log()
        );
        assert!(!studio.exists("secret/s.md") && studio.exists("boards/kept.md"), "{way}");
        let told = all_problems(&mut studio);
        assert!(told.contains("before everything") && told.contains("no model is called"), "{way}: {told}");
        let policy = studio.world().resource::<GatePolicy>();
        assert_eq!(policy.strictness(&TouchKind::FILE_DELETE), Verdict::Ask, "{way}");
        // A room that is killed and opened again is as strict.
        drop(studio.room.take());
        studio.open_with(false);
        ticks(&mut studio, 100);
        assert!(studio.all("model_call").is_empty() && !studio.exists("secret/s.md"), "{way}");
    }
}

fn settings_that_become_readable_apply_at_once() {
    let mut studio = closed(&[]);
    let file = studio.folder.path().join("settings.yaml");
    assert!(make_unreadable(&file, "latin-1"));
    studio.open_watching();
    fs::write(&file, RULES).unwrap();
    studio.until("the settings are read", |studio| studio.world().resource::<UnreadableFiles>().is_empty());
    studio.tick();
    let policy = studio.world().resource::<GatePolicy>().clone();
    assert_eq!(policy.strictness(&TouchKind::FILE_WRITE), Verdict::Allow);
    assert_eq!(policy.verdict_and_source(&TouchKind::FILE_DELETE).0, Verdict::Ask);
    assert_eq!(studio.world().resource::<BudgetSettings>().calls_per_run, Some(50));
    let told = all_problems(&mut studio);
    assert!(told.is_empty(), "{told}");
}

/// Checks that the rules of [`RULES`] apply: the lead may not write, and is asked before it deletes.
fn rules_apply(studio: &mut Studio, way: &str) {
    studio.task("lead", "Write it.");
    studio.until("a question", |studio| studio.world().resource::<Kernel>().approvals().next().is_some());
    assert!(!studio.exists("secret/s.md") && studio.exists("boards/kept.md"), "{way}: {:#?}", studio.log());
    assert_eq!(studio.world().resource::<BudgetSettings>().calls_per_run, Some(50), "{way}");
}

fn settings_that_become_unreadable_keep_their_last_rules() {
    for way in WAYS {
        let mut studio = closed(&[]);
        studio.open_watching();
        ticks(&mut studio, 3);
        if !make_unreadable(&studio.folder.path().join("settings.yaml"), way) {
            continue;
        }
        studio.until("the problem", |studio| !studio.world().resource::<UnreadableFiles>().is_empty());
        studio.tick();
        assert!(all_problems(&mut studio).contains("settings.yaml"), "{way}");
        rules_apply(&mut studio, way);
    }
}

fn settings_that_became_unreadable_while_the_room_was_closed_keep_their_last_rules() {
    for way in WAYS {
        let mut studio = closed(&[]);
        studio.open();
        ticks(&mut studio, 3);
        studio.close();
        if !make_unreadable(&studio.folder.path().join("settings.yaml"), way) {
            continue;
        }
        let problems = studio.open_with(false);
        assert!(problems.iter().any(|problem| problem.place == "settings.yaml"), "{way}: {problems:?}");
        rules_apply(&mut studio, way);
    }
}

fn unreadable_rules_for_commands_ask_each_time() {
    let script =
        "agents:\n  lead:\n    - tools: [ { name: execute_command, arguments: { command: ls } } ]\n    - text: Done.\n";
    let files = [
        ("settings.yaml", "gate: { touches: { process.run: allow }, allow: { lead: ['execute_command(ls)'] } }\n"),
        ("storage/terminal-cmd-allowlist.yaml", "rm: false\n"),
        ("agents/lead.md", "---\ntools: [execute_command]\n---\nYou lead.\n"),
    ];
    for way in WAYS {
        let mut studio = Studio::new(script, &files);
        studio.close();
        fs::remove_dir_all(studio.folder.path().join(".workshop")).unwrap();
        if !make_unreadable(&studio.folder.path().join(files[1].0), way) {
            continue;
        }
        studio.open_with(false);
        studio.task("lead", "List it.");
        studio.until("a question", |studio| studio.world().resource::<Kernel>().approvals().next().is_some());
        let approval = studio.world().resource::<Kernel>().approvals().next().unwrap();
        assert!(approval.for_task.is_none(), "{way}: it is asked each time");
        assert!(all_problems(&mut studio).contains("terminal-cmd-allowlist"), "{way}");
    }
}

fn an_unreadable_scene_is_not_replaced_by_another() {
    for way in WAYS {
        let folder = tempfile::tempdir().unwrap();
        let scene = "name: Test\nelements: []\nagents: []\n";
        for (path, text) in [("settings.yaml", ""), ("scenes/studio.yaml", scene), ("scenes/other.yaml", scene)] {
            crate::program::write(folder.path(), path, text);
        }
        if !make_unreadable(&folder.path().join("scenes/studio.yaml"), way) {
            continue;
        }
        let options = OpenOptions { folder: folder.path().to_owned(), ..OpenOptions::trusted() };
        let error = Room::open(&options).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains("scenes/studio.yaml"), "{way}: {error}");
    }
}

fn an_unreadable_agent_gets_no_rights() {
    for way in WAYS {
        let lead = "---\ntools: [vfs_read]\n---\nYou lead.\n";
        let mut studio = closed(&[("settings.yaml", ""), ("agents/lead.md", lead)]);
        if !make_unreadable(&studio.folder.path().join("agents/lead.md"), way) {
            continue;
        }
        let problems = studio.open_with(false);
        assert!(problems.iter().any(|problem| problem.place == "agents/lead.md"), "{way}: {problems:?}");
        ticks(&mut studio, 5);
        studio
            .world()
            .resource_mut::<agent_workshop::schedule::InputQueue<_>>()
            .push(agent_workshop::simulation::TaskCommand { agent: "lead".into(), text: "Write it.".into() });
        ticks(&mut studio, 200);
        assert!(!studio.exists("secret/s.md") && studio.exists("boards/kept.md"), "{way}: {:#?}", studio.log());
    }
}
