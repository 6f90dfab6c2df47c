//! Files that the room writes on its own: if one cannot be written, a person is told once, it is retried, and nothing
//! is lost.

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
        whatever_cannot_be_written_is_reported_once_and_written_when_it_can_be,
        what_could_not_be_written_is_written_when_the_room_is_opened_again,
        a_folder_that_may_not_be_written_is_reported,
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

/// Every place where the room writes on its own, with the beginning of the file names there.
const PLACES: [(&str, &str); 4] =
    [("sessions", ""), ("sessions/workflows", "one."), ("artifacts", "one-"), ("memory/knowledge", "blackboard")];

/// The notes on files in a place.
fn told(studio: &Studio, place: &str) -> Vec<Value> {
    let is_there = |event: &&Value| {
        let path = event["data"]["place"].as_str().unwrap_or_default();
        path.strip_prefix(place).is_some_and(|rest| rest.strip_prefix('/').is_some_and(|name| !name.contains('/')))
    };
    let all = studio.all("error").into_iter().chain(studio.all("warning"));
    all.filter(is_there).cloned().collect()
}

fn is_written(studio: &Studio, (place, begin): (&str, &str)) -> bool {
    let files = fs::read_dir(studio.folder.path().join(place)).into_iter().flatten().flatten();
    let names = files.filter(|file| file.path().is_file()).map(|file| file.file_name().to_string_lossy().into_owned());
    names.into_iter().any(|name| name.starts_with(begin))
}

/// A file in the place of a folder, where nobody can write.
fn obstruct(studio: &Studio, place: &str) {
    let path = studio.folder.path().join(place);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "in the way").unwrap();
}

/// Work that writes to every place.
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

fn whatever_cannot_be_written_is_reported_once_and_written_when_it_can_be() {
    for (place, begin) in PLACES {
        let mut studio = Studio::new(SCRIPT, &FILES);
        obstruct(&studio, place);
        work(&mut studio);
        let problems = told(&studio, place);
        assert_eq!(problems.len(), 1, "{place}: {problems:#?}");
        let data = &problems[0]["data"];
        assert!(data["remedy"].as_str().is_some_and(|remedy| !remedy.is_empty()), "{place}: {data}");
        let is_listed = |studio: &mut Studio| {
            let problems = studio.world().resource::<Problems>();
            problems.iter().any(|problem| problem.place.starts_with(&format!("{place}/")))
        };
        assert!(is_listed(&mut studio), "{place}: it is listed as long as it is so");
        fs::remove_file(studio.folder.path().join(place)).unwrap();
        save_now(studio.world());
        studio.until("it is written", |studio| is_written(studio, (place, begin)));
        studio.until("it is no problem any more", |studio| !is_listed(studio));
        assert_eq!(told(&studio, place).len(), 1, "{place}: {:#?}", told(&studio, place));
    }
}

fn what_could_not_be_written_is_written_when_the_room_is_opened_again() {
    let mut studio = Studio::new(SCRIPT, &FILES);
    obstruct(&studio, "sessions");
    work(&mut studio);
    studio.close();
    fs::remove_file(studio.folder.path().join("sessions")).unwrap();
    studio.open();
    studio.until("both are written", |studio| is_written(studio, PLACES[0]) && is_written(studio, PLACES[1]));
    let again = |event: &&Value| event["data"]["what"].as_str().is_some_and(|what| what.contains("is writable again"));
    studio.until("it is told", |studio| studio.all("warning").iter().any(&again));
}

#[cfg(not(unix))]
fn a_folder_that_may_not_be_written_is_reported() {}

#[cfg(unix)]
fn a_folder_that_may_not_be_written_is_reported() {
    use std::os::unix::fs::{PermissionsExt, chown};
    let mut studio = Studio::new(SCRIPT, &FILES);
    studio.close();
    let folder = studio.folder.path();
    fs::write(folder.join("script.yaml"), SCRIPT).unwrap();
    fs::create_dir_all(folder.join("sessions")).unwrap();
    // The user that runs the program must be able to write everything else.
    give_to_reader(folder, &|path| chown(path, Some(crate::damage::READER), Some(crate::damage::READER)).is_ok());
    let allow = |mode| fs::set_permissions(folder.join("sessions"), fs::Permissions::from_mode(mode)).unwrap();
    let place = tempfile::tempdir().unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = place.path().join("workshop");
    fs::copy(env!("CARGO_BIN_EXE_workshop"), &program).unwrap();
    let run = |more: &[&str]| {
        let always = ["run", "--speed", "max", "--provider", "scripted:script.yaml"];
        crate::damage::output_of_a_reader(folder, &program, &[&always[..], more].concat())
    };
    allow(0o555);
    let (code, _, errors) = run(&["--agent", "lead", "--task", "Plan.", "--until", "idle"]);
    assert_eq!(code, Some(0), "the work itself is done: {errors}");
    assert!(errors.contains("sessions/") && errors.contains("could not be written"), "{errors}");
    allow(0o755);
    let (code, _, errors) = run(&["--for", "20s"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(fs::read_dir(folder.join("sessions")).unwrap().flatten().any(|file| file.path().is_file()), "{errors}");
}

/// Gives a folder and everything in it to another user, where possible.
#[cfg(unix)]
fn give_to_reader(path: &std::path::Path, give: &impl Fn(&std::path::Path) -> bool) {
    give(path);
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        give_to_reader(&entry.path(), give);
    }
}
