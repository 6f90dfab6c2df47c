//! Unfinished work: its session on disk is complete when the room closes, and no work is dropped silently.

use std::fs;
use std::path::PathBuf;

use agent_workshop::agent::Roster;
use agent_workshop::kernel::Kernel;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::working::{Studio, six_agents};

pub fn trials() -> Vec<Trial> {
    cases![
        a_room_that_was_killed_at_once_starts_from_its_scene,
        sessions_are_complete_when_the_room_is_closed,
        a_session_file_exists_as_soon_as_work_starts,
        a_room_that_continues_drops_no_work,
        without_the_state_folder_unfinished_work_is_reported_and_marked_once,
        a_fresh_start_reports_the_work_that_it_drops,
        work_of_another_scene_is_not_dropped,
        a_new_room_does_not_overwrite_sessions_of_an_old_one,
    ]
}

/// Reads all session files, sorted by path.
fn sessions(studio: &Studio) -> Vec<(PathBuf, Value)> {
    let folder = studio.folder.path().join("sessions");
    let entries = fs::read_dir(folder).map(|entries| entries.map(|entry| entry.unwrap().path()).collect());
    let mut paths: Vec<PathBuf> = entries.unwrap_or_default();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error} in {text}")))
    };
    paths.into_iter().map(read).collect()
}

fn count_with_status(studio: &Studio, status: &str) -> usize {
    sessions(studio).iter().filter(|(_, session)| session["metadata"]["work"] == status).count()
}

/// Opens a room and runs it until the middle of its work.
fn busy_studio() -> Studio {
    let mut studio = Studio::new(&six_agents(), &[]);
    studio.task("lead", "Write five things.");
    studio.until("an agent had written a file", |studio| studio.exists("artifacts/ada.md"));
    studio
}

fn sessions_are_complete_when_the_room_is_closed() {
    let mut studio = busy_studio();
    let live = studio.world().resource::<Kernel>().activations().count();
    assert!(live > 0);
    studio.close();
    let unfinished = count_with_status(&studio, "running") + count_with_status(&studio, "queued");
    assert_eq!(unfinished, live, "each unfinished activation has its session");
    // The session of an agent contains the result of every call.
    for (path, session) in
        sessions(&studio).into_iter().filter(|(_, session)| session["metadata"]["started_by"] == "lead")
    {
        let is_own = |event: &&&Value| event["activation"] == session["metadata"]["activation"];
        let answered = studio.all("tool_result").iter().filter(is_own).count();
        let messages = session["messages"].as_array().unwrap();
        let saved = messages.iter().filter(|message| message["role"] == "tool").count();
        assert_eq!(saved, answered, "every result is in {}", path.display());
    }
    let tasks: Vec<Value> =
        sessions(&studio).into_iter().map(|(_, session)| session["metadata"]["task"].clone()).collect();
    assert!(tasks.contains(&"Write ada.".into()), "{tasks:?}");
}

fn a_session_file_exists_as_soon_as_work_starts() {
    let mut studio = Studio::new(&six_agents(), &[]);
    studio.task("lead", "Write five things.");
    for _ in 0..3 {
        studio.tick();
    }
    assert_eq!(sessions(&studio).len(), 1, "the work leaves a trace even if the room is killed now");
}

fn a_room_that_continues_drops_no_work() {
    let mut studio = busy_studio();
    studio.close();
    assert_eq!(studio.open_with(false), []);
    studio.idle();
    assert_eq!(count_with_status(&studio, "dropped"), 0);
    for _ in 0..3 {
        studio.tick();
    }
    assert_eq!(count_with_status(&studio, "running"), 0, "the files say that all work is over");
}

fn assert_dropped(studio: &mut Studio, fresh: bool, why: &str) {
    let running = count_with_status(studio, "running") + count_with_status(studio, "queued");
    let problems = studio.open_with(fresh);
    assert_eq!(problems.len(), running, "{problems:?}");
    let all = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    for word in
        ["unfinished work was dropped: ", " on “Write ", "last active 20", why, "sessions/", "assign the task again"]
    {
        assert!(all.contains(word), "{word} in {all}");
    }
    studio.tick();
    studio.tick();
    let logged = studio.all("warning").iter().filter(|event| event["data"]["what"].to_string().contains(why)).count();
    assert_eq!(logged, running, "the drops are logged, too");
    assert!(studio.all("warning").iter().all(|event| event["cause"].is_u64()));
    assert_eq!(count_with_status(studio, "dropped"), running);
    assert!(studio.world().resource::<Kernel>().is_idle(), "dropped work does not start by itself");
}

fn without_the_state_folder_unfinished_work_is_reported_and_marked_once() {
    let mut studio = busy_studio();
    studio.close();
    fs::remove_dir_all(studio.folder.path().join(".workshop")).unwrap();
    assert_dropped(&mut studio, false, ".workshop/, which is missing or unusable");
    studio.close();
    fs::remove_dir_all(studio.folder.path().join(".workshop")).unwrap();
    assert_eq!(studio.open_with(false), [], "the drop is reported only once");
}

fn a_fresh_start_reports_the_work_that_it_drops() {
    let mut studio = busy_studio();
    studio.close();
    assert_dropped(&mut studio, true, "--fresh starts over from the scene file");
    studio.close();
    assert_eq!(studio.open_with(true), []);
}

fn work_of_another_scene_is_not_dropped() {
    let mut studio = busy_studio();
    studio.close();
    let running = count_with_status(&studio, "running");
    let scenes = studio.folder.path().join("scenes");
    fs::rename(scenes.join("test.yaml"), scenes.join("elsewhere.yaml")).unwrap();
    fs::write(scenes.join("test.yaml"), "name: Test\nelements: []\nagents: []\n").unwrap();
    for (path, _) in sessions(&studio) {
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("scene: scenes/test.yaml", "scene: scenes/elsewhere.yaml")).unwrap();
    }
    assert_eq!(studio.open_with(true), []);
    assert_eq!(count_with_status(&studio, "running"), running);
}

fn a_new_room_does_not_overwrite_sessions_of_an_old_one() {
    let mut studio = busy_studio();
    studio.close();
    let before: Vec<PathBuf> = sessions(&studio).into_iter().map(|(path, _)| path).collect();
    fs::remove_dir_all(studio.folder.path().join(".workshop")).unwrap();
    studio.open_with(false);
    studio.task("lead", "Write five other things.");
    studio.idle();
    let after = sessions(&studio);
    let of_before = after.iter().filter(|(path, _)| before.contains(path));
    assert!(of_before.clone().all(|(_, session)| session["metadata"]["task"] != "Write five other things."));
    assert!(after.len() > before.len());
}

fn a_room_that_was_killed_at_once_starts_from_its_scene() {
    let mut studio = Studio::new("default: [ { text: Noted. } ]\n", &[]);
    for _ in 0..2 {
        // The room is killed.
        studio.room = None;
        studio.open();
    }
    studio.tick();
    studio.tick();
    assert!(studio.world().resource::<Roster>().key("lead").is_some(), "{:#?}", studio.log_of_all());
}
