//! A saved room continues only if the person's own program began its runs or they accepted it, also in a workspace that
//! they trust: `.workshop/` can come from elsewhere like every other folder.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::program::Running;
use crate::restricted::{Foreign, GIVEN, RUN, count};

pub fn trials() -> Vec<Trial> {
    cases![
        a_room_that_a_pull_puts_into_a_trusted_workspace_is_not_continued,
        work_that_another_computer_began_waits_until_it_is_accepted,
        starting_over_discards_a_room_from_elsewhere_without_accepting_it,
        what_the_person_began_continues_however_they_opened_it,
        a_killed_room_is_opened_again_by_its_owner,
        a_workspace_that_was_trusted_before_runs_were_noted_continues_once,
        a_workspace_that_its_owner_moves_away_and_back_continues,
        what_was_saved_for_one_run_of_trust_waits_without_it,
        a_damaged_room_from_elsewhere_is_repaired_and_still_not_continued,
        a_damaged_room_of_the_person_is_opened,
        a_history_that_lost_its_runs_is_accepted_as_it_is_and_no_other_one,
    ]
}

const ON: [&str; 5] = ["run", "--until", "idle", "--speed", "max"];

/// A workspace that the person trusts.
fn trusted() -> Foreign {
    let mine = Foreign::new(&[]);
    let (code, out, errors) = mine.run(&["trust", "--yes"]);
    assert_eq!(code, 0, "{out}{errors}");
    mine
}

/// Begins work in the folder, and stops before it is done, as another person on another computer.
fn begin_elsewhere(folder: &Path) {
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = crate::program::workshop(folder, &[&GIVEN[..], &["--ticks", "5", "--trust"]].concat());
    command.env("WORKSHOP_CONFIG_DIR", elsewhere.path()).output().unwrap();
    assert!(folder.join(".workshop/workshop.db").exists());
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(from, to).unwrap();
        }
    }
}

/// A pull overwrites the saved room by one that another person began.
fn pull_room(mine: &Foreign) {
    let room = mine.path().join(".workshop");
    if room.exists() {
        fs::remove_dir_all(&room).unwrap();
    }
    begin_elsewhere(mine.path());
}

fn assert_refused(mine: &Foreign, arguments: &[&str]) {
    let (code, out, errors) = mine.run(&[arguments, &["--events", "-"]].concat());
    assert!(code == 4 && out.is_empty(), "{code}: {out}{errors}");
    assert!(errors.contains("saved work") && errors.contains("workshop trust"), "{errors}");
}

fn assert_opened(mine: &Foreign, arguments: &[&str]) {
    let (code, out, errors) = mine.run(arguments);
    assert!(code == 0 && !errors.contains("saved work"), "{arguments:?}: {code}: {out}{errors}");
}

fn a_room_that_a_pull_puts_into_a_trusted_workspace_is_not_continued() {
    for has_own in [false, true] {
        let mine = trusted();
        if has_own {
            assert_opened(&mine, &RUN);
        }
        pull_room(&mine);
        assert_refused(&mine, &RUN);
        assert!(!mine.made());
        let (code, out, _) = mine.run(&["trust"]);
        assert!(code == 4 && out.contains("New since") && out.contains("the saved room"), "{out}");
        assert!(!out.contains("gateway.provider"), "only what is new: {out}");
        let (_, out, _) = mine.run(&["doctor"]);
        assert!(out.contains("its saved room"), "{out}");
        assert_refused(&mine, &RUN);
        assert_eq!(mine.run(&["trust", "--yes"]).0, 0);
        assert_eq!(mine.run(&["trust"]).0, 0, "there is nothing to decide");
        assert_opened(&mine, &RUN);
        // It was accepted as it was: the next one waits again.
        pull_room(&mine);
        assert_refused(&mine, &RUN);
    }
}

fn work_that_another_computer_began_waits_until_it_is_accepted() {
    let mine = trusted();
    begin_elsewhere(mine.path());
    assert_refused(&mine, &ON);
    assert!(!mine.made());
    let (code, out, _) = mine.run(&["trust", "--json"]);
    let page: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &page["page"]["trusted"], &page["page"]["has_unknown_room"]), (4, &true.into(), &true.into()));
    assert_eq!(mine.run(&["trust", "--yes"]).0, 0);
    assert_opened(&mine, &ON);
    assert!(mine.made(), "what waited goes on");
}

fn starting_over_discards_a_room_from_elsewhere_without_accepting_it() {
    let mine = trusted();
    pull_room(&mine);
    let (code, events, errors) = mine.events(&[&RUN[..], &["--fresh"]].concat());
    assert_eq!((code, count(&events, "activation")), (0, 0), "{errors}");
    assert_refused(&mine, &RUN);
}

fn what_the_person_began_continues_however_they_opened_it() {
    let begun = [&GIVEN[..], &["--ticks", "5"]].concat();
    let mine = trusted();
    mine.run(&begun);
    assert_opened(&mine, &ON);
    assert!(mine.made());
    for trust in ["--trust", "WORKSHOP_TRUST"] {
        let mine = trusted();
        match trust {
            "--trust" => drop(mine.run(&[&begun[..], &["--trust"]].concat())),
            variable => drop(mine.command(&begun).env(variable, "1").output().unwrap()),
        }
        assert_opened(&mine, &ON);
        assert!(mine.made(), "{trust}");
        // In continuous integration, nothing but the variable is there.
        let mut command = mine.command(&RUN);
        command.env("WORKSHOP_TRUST", "1").env("WORKSHOP_CONFIG_DIR", mine.path().join("none"));
        assert_eq!(command.output().unwrap().status.code(), Some(0), "{trust}");
    }
}

fn a_killed_room_is_opened_again_by_its_owner() {
    let mine = trusted();
    for _ in 0..2 {
        let mut running = Running::of(mine.command(&["run", "--speed", "16", "--events", "-"]));
        running.wait_for("the room is open", |event| event["type"] == "run_start");
        running.kill();
    }
    assert_opened(&mine, &RUN);
}

/// The person's only file about a workspace.
fn trust_file(mine: &Foreign) -> PathBuf {
    let files = fs::read_dir(mine.config.path().join("trusted-workspaces")).unwrap().flatten();
    files.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|ending| ending == "yaml")).unwrap()
}

fn a_workspace_that_was_trusted_before_runs_were_noted_continues_once() {
    let mine = trusted();
    begin_elsewhere(mine.path());
    let file = trust_file(&mine);
    let text = fs::read_to_string(&file).unwrap();
    // The list of runs is the last entry.
    let (old, _) = text.split_once("trusted_runs:").unwrap();
    fs::write(&file, old).unwrap();
    assert_eq!(mine.run(&["trust"]).0, 0, "there is nothing to decide");
    assert_opened(&mine, &ON);
    assert!(fs::read_to_string(&file).unwrap().contains("trusted_runs:"));
    assert_opened(&mine, &RUN);
    begin_elsewhere(mine.path());
    assert_refused(&mine, &RUN);
}

fn a_workspace_that_its_owner_moves_away_and_back_continues() {
    let (mine, outer) = (Foreign::new(&[]), crate::program::folder());
    let (here, there) = (outer.path().join("here"), outer.path().join("there"));
    copy(mine.path(), &here);
    let run = |folder: &Path, arguments: &[&str]| {
        let done = mine.command(arguments).current_dir(folder).output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let short = ["run", "--for", "1s", "--speed", "max"];
    assert_eq!(run(&here, &["trust", "--yes"]).0, Some(0));
    assert_eq!(run(&here, &short).0, Some(0));
    fs::rename(&here, &there).unwrap();
    let (code, errors) = run(&there, &short);
    assert!(code == Some(4) && errors.contains("workshop trust"), "another path asks once: {errors}");
    assert_eq!(run(&there, &["trust", "--yes"]).0, Some(0));
    assert_eq!(run(&there, &short).0, Some(0));
    fs::rename(&there, &here).unwrap();
    let (code, errors) = run(&here, &short);
    assert_eq!(code, Some(0), "{errors}");
}

fn what_was_saved_for_one_run_of_trust_waits_without_it() {
    let mine = trusted();
    pull_room(&mine);
    assert_opened(&mine, &[&RUN[..], &["--trust"]].concat());
    assert_refused(&mine, &RUN);
}

/// Overwrites a part of the history of a saved room, from one share of its pages to another.
fn damage(mine: &Foreign, from: f64, to: f64) {
    const PAGE: usize = 4_096;
    let path = mine.path().join(".workshop/workshop.db");
    let mut bytes = fs::read(&path).unwrap();
    let page_at = |share: f64| ((bytes.len() / PAGE) as f64 * share) as usize * PAGE;
    let (from, to) = (page_at(from), page_at(to).max(page_at(from) + PAGE));
    bytes[from..to].fill(0xa5);
    fs::write(path, bytes).unwrap();
}

/// The parts of a history that are damaged in turn.
const DAMAGES: [(f64, f64); 4] = [(0.0, 0.0), (0.1, 0.3), (0.3, 0.5), (0.5, 0.9)];

fn a_damaged_room_from_elsewhere_is_repaired_and_still_not_continued() {
    for (from, to) in DAMAGES {
        let mine = trusted();
        pull_room(&mine);
        damage(&mine, from, to);
        for _ in 0..2 {
            let (_, events, errors) = mine.events(&RUN);
            assert_eq!(count(&events, "activation"), 0, "{from} to {to}: {errors}");
        }
        assert!(!mine.made(), "{from} to {to}");
    }
}

fn a_damaged_room_of_the_person_is_opened() {
    let mine = trusted();
    assert_opened(&mine, &RUN);
    damage(&mine, 0.0, 0.0);
    let (_, _, errors) = mine.run(&RUN);
    assert!(!errors.contains("saved work"), "{errors}");
    assert_opened(&mine, &RUN);
}

fn a_history_that_lost_its_runs_is_accepted_as_it_is_and_no_other_one() {
    let mine = trusted();
    for _ in 0..2 {
        pull_room(&mine);
        let history = rusqlite::Connection::open(mine.path().join(".workshop/workshop.db")).unwrap();
        history.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM runs").unwrap();
        history.close().unwrap();
        assert_refused(&mine, &RUN);
        assert_eq!(mine.run(&["trust", "--yes"]).0, 0);
        let (_, _, errors) = mine.run(&RUN);
        assert!(!errors.contains("saved work"), "{errors}");
    }
}
