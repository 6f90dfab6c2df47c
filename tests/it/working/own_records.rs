//! Files that the room writes on its own: a failed write is reported once, retried, and nothing is lost.

use std::fs;

use agent_workshop::orchestration::workflow::WorkflowCommand;
use agent_workshop::schedule::InputQueue;
use agent_workshop::workspace::{Problems, save_now};
use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::working::Studio;

pub fn trials() -> Vec<Trial> {
    cases![
        a_failed_write_is_reported_once_and_retried_until_it_succeeds,
        failed_writes_are_made_up_for_when_the_room_is_reopened,
        a_read_only_folder_is_reported,
    ]
}

const SCRIPT: &str = "latency: 0.1
agents:
  lead:
    - tools: [ { name: blackboard_write, arguments: { key: plan, value: count, shared: true } } ]
    - text: Done.
    - text: Done again.
  writer:
    - text: Written.
default: [ { text: Noted. } ]
";

const FILES: [(&str, &str); 2] = [
    ("agents/writer.md", "You write.\n"),
    ("workflows/one.md", "---\nname: One\nsteps:\n  - { id: write, agent: writer, prompt: Write. }\n---\n"),
];

/// Every folder in which the room writes on its own, with a prefix of the file names there.
const OUTPUT_FOLDERS: [(&str, &str); 4] =
    [("sessions", ""), ("sessions/workflows", "one."), ("artifacts", "one-"), ("memory/knowledge", "blackboard")];

/// Returns the errors and warnings about files in a folder.
fn problem_events(studio: &Studio, folder: &str) -> Vec<Value> {
    let is_in_folder = |event: &&Value| {
        let path = event["data"]["place"].as_str().unwrap_or_default();
        path.strip_prefix(folder).is_some_and(|rest| rest.strip_prefix('/').is_some_and(|name| !name.contains('/')))
    };
    let all = studio.all("error").into_iter().chain(studio.all("warning"));
    all.filter(is_in_folder).cloned().collect()
}

fn is_written(studio: &Studio, (folder, prefix): (&str, &str)) -> bool {
    let files = fs::read_dir(studio.folder.path().join(folder)).into_iter().flatten().flatten();
    let names = files.filter(|file| file.path().is_file()).map(|file| file.file_name().to_string_lossy().into_owned());
    names.into_iter().any(|name| name.starts_with(prefix))
}

/// Puts a file in the place of a folder, so that nothing can be written there.
fn obstruct(studio: &Studio, folder: &str) {
    let path = studio.folder.path().join(folder);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "in the way").unwrap();
}

/// Starts work that writes to every folder, and waits for it.
fn work(studio: &mut Studio) {
    let start = WorkflowCommand::Start { workflow: "one".into(), variables: Default::default() };
    studio.world().resource_mut::<InputQueue<WorkflowCommand>>().push(start);
    studio.task("lead", "Plan.");
    studio.idle();
    for _ in 0..900 {
        studio.tick();
    }
    save_now(studio.world());
    studio.tick();
}

fn a_failed_write_is_reported_once_and_retried_until_it_succeeds() {
    for (folder, prefix) in OUTPUT_FOLDERS {
        let mut studio = Studio::new(SCRIPT, &FILES);
        obstruct(&studio, folder);
        work(&mut studio);
        let problems = problem_events(&studio, folder);
        assert_eq!(problems.len(), 1, "{folder}: {problems:#?}");
        let data = &problems[0]["data"];
        assert!(data["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{folder}: {data}");
        let is_listed = |studio: &mut Studio| {
            let problems = studio.world().resource::<Problems>();
            problems.iter().any(|problem| problem.place.starts_with(&format!("{folder}/")))
        };
        assert!(is_listed(&mut studio), "{folder}: the problem is listed while it lasts");
        fs::remove_file(studio.folder.path().join(folder)).unwrap();
        save_now(studio.world());
        studio.until("the file is written", |studio| is_written(studio, (folder, prefix)));
        studio.until("the problem is gone", |studio| !is_listed(studio));
        assert_eq!(problem_events(&studio, folder).len(), 1, "{folder}: {:#?}", problem_events(&studio, folder));
    }
}

fn failed_writes_are_made_up_for_when_the_room_is_reopened() {
    let mut studio = Studio::new(SCRIPT, &FILES);
    obstruct(&studio, "sessions");
    work(&mut studio);
    studio.close();
    fs::remove_file(studio.folder.path().join("sessions")).unwrap();
    studio.open();
    studio.until("both are written", |studio| {
        is_written(studio, OUTPUT_FOLDERS[0]) && is_written(studio, OUTPUT_FOLDERS[1])
    });
    let is_recovery =
        |event: &&Value| event["data"]["what"].as_str().is_some_and(|what| what.contains("is writable again"));
    studio.until("a warning is logged", |studio| studio.all("warning").iter().any(&is_recovery));
}

#[cfg(not(unix))]
fn a_read_only_folder_is_reported() {}

#[cfg(unix)]
fn a_read_only_folder_is_reported() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let mut studio = Studio::new(SCRIPT, &FILES);
    studio.close();
    let folder = studio.folder.path();
    fs::write(folder.join("script.yaml"), SCRIPT).unwrap();
    fs::create_dir_all(folder.join("sessions")).unwrap();
    // The user that runs the program must be able to write everything else.
    give_to_reader(folder, &|path| chown(path, Some(crate::damage::READER), Some(crate::damage::READER)).is_ok());
    let allow = |mode| fs::set_permissions(folder.join("sessions"), fs::Permissions::from_mode(mode)).unwrap();
    let program_folder = tempfile::tempdir().unwrap();
    fs::set_permissions(program_folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = program_folder.path().join("workshop");
    fs::copy(env!("CARGO_BIN_EXE_workshop"), &program).unwrap();
    let run = |more: &[&str]| {
        let always = ["run", "--speed", "max", "--provider", "scripted:script.yaml"];
        crate::damage::output_of_a_reader(folder, &program, &[&always[..], more].concat())
    };
    allow(0o555);
    let (code, _, errors) = run(&["--agent", "lead", "--task", "Plan.", "--until", "idle"]);
    assert_eq!(code, Some(0), "the work itself succeeds: {errors}");
    assert!(errors.contains("sessions/") && errors.contains("could not be written"), "{errors}");
    allow(0o755);
    let (code, _, errors) = run(&["--for", "20s"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(fs::read_dir(folder.join("sessions")).unwrap().flatten().any(|file| file.path().is_file()), "{errors}");
}

/// Changes the owner of a folder and everything in it, where possible.
#[cfg(unix)]
fn give_to_reader(path: &std::path::Path, give: &impl Fn(&std::path::Path) -> bool) {
    give(path);
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        give_to_reader(&entry.path(), give);
    }
}
