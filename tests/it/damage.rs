//! A workspace whose history is damaged, missing or owned by someone else: opening ends soon, reports what happened and
//! what is kept, and whatever can be read is used.

use std::fs;
use std::path::Path;

use agent_workshop::app::room::{OpenOptions, Room};
use agent_workshop::base::Problem;
use agent_workshop::schedule::{InputQueue, SimClock, Speed};
use agent_workshop::workspace::vfs::{FileCommand, FileOperation};
use agent_workshop::workspace::{KnownFiles, starter};
use libtest_mimic::Trial;

use crate::cases;
use crate::program::{json_lines, output, succeed, workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        random_damage_never_keeps_a_room_closed,
        what_of_a_damaged_history_can_be_read_is_used_and_told,
        a_room_continues_where_it_was_after_its_history_was_deleted_under_it,
        scenes_that_cannot_be_used_are_reported,
        no_file_is_changed_by_what_the_log_does_not_know,
        another_scene_of_a_damaged_history_continues_where_it_was_too,
        doctor_says_that_a_damaged_history_is_damaged_and_what_to_do,
        a_workspace_that_may_not_be_written_is_read_and_left_as_it_is,
    ]
}

fn options(folder: &Path) -> OpenOptions {
    let provider = Some("offline".to_owned());
    OpenOptions { folder: folder.to_owned(), provider, ..OpenOptions::default() }
}

fn run(room: &mut Room, ticks: u64) {
    let world = room.app.world_mut();
    world.resource_mut::<SimClock>().speed = Speed::Max;
    let until = world.resource::<SimClock>().tick() + ticks;
    let began = std::time::Instant::now();
    while room.app.world().resource::<SimClock>().tick() < until {
        room.driver.step(room.app.world_mut());
        assert!(began.elapsed().as_secs() < 60, "the room stands still: {:?}", room.lost());
    }
}

fn tick(room: &Room) -> u64 {
    room.app.world().resource::<SimClock>().tick()
}

/// A workspace that has run for a while, with two snapshots and some ticks after them.
fn lived(ticks: u64, is_closed: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    starter::init(folder.path()).unwrap();
    let (mut room, problems) = Room::open(&options(folder.path())).unwrap();
    assert_eq!(problems, []);
    run(&mut room, ticks);
    if is_closed {
        room.close("done", |_| {}).unwrap();
    } else {
        // As after a kill: the run is not ended.
        let copy = tempfile::tempdir().unwrap();
        room.app.world_mut().resource_mut::<agent_workshop::store::Store>().flush().unwrap();
        copy_folder(folder.path(), copy.path());
        return copy;
    }
    folder
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A small random generator with a fixed seed, so that every run damages the same places.
fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

fn all(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn random_damage_never_keeps_a_room_closed() {
    for is_closed in [true, false] {
        let whole = lived(2_000, is_closed);
        for trial in 0..24_u64 {
            let mut seed = 0x9e37_79b9 + trial * 77 + u64::from(is_closed);
            let folder = tempfile::tempdir().unwrap();
            copy_folder(whole.path(), folder.path());
            let path = folder.path().join(".workshop/workshop.db");
            let mut bytes = fs::read(&path).unwrap();
            for _ in 0..1 + next(&mut seed) % 200 {
                let at = usize::try_from(next(&mut seed)).unwrap() % bytes.len();
                bytes[at] ^= 1 << (next(&mut seed) % 8);
            }
            fs::write(&path, bytes).unwrap();
            let began = std::time::Instant::now();
            let opened = Room::open(&options(folder.path()));
            let (mut room, problems) = opened.unwrap_or_else(|error| panic!("trial {trial}: {error}"));
            assert!(began.elapsed().as_secs() < 60, "trial {trial} took {:?}", began.elapsed());
            let told = all(&problems);
            assert!(!told.contains("nothing in the workspace is lost"), "{told}");
            if tick(&room) < 1_800 {
                assert!(!problems.is_empty(), "trial {trial} went back to tick {} without a word", tick(&room));
            }
            run(&mut room, 30);
            if let Err(error) = room.close("done", |_| {}) {
                panic!("trial {trial} could not be closed: {error}");
            }
            let (room, _) =
                Room::open(&options(folder.path())).unwrap_or_else(|error| panic!("trial {trial}: {error}"));
            room.close("done", |_| {}).unwrap();
        }
    }
}

/// Several pages in the middle, because a single one may be unused.
fn spoil_the_middle(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let (from, to) = (bytes.len() / 3 / 4_096 * 4_096, bytes.len() / 2 / 4_096 * 4_096);
    bytes[from..to].fill(0xa5);
    fs::write(path, bytes).unwrap();
}

fn what_of_a_damaged_history_can_be_read_is_used_and_told() {
    let folder = lived(2_000, true);
    let path = folder.path().join(".workshop/workshop.db");
    spoil_the_middle(&path);
    let (room, problems) = Room::open(&options(folder.path())).unwrap();
    let told = all(&problems);
    assert!(told.contains("set aside as workshop.db.broken-1"), "{told}");
    assert!(told.contains("were copied into a new history; the rest is lost"), "{told}");
    assert!(told.contains("continues from tick") || told.contains("agents start from the scene file"), "{told}");
    assert!(folder.path().join(".workshop/workshop.db.broken-1").exists());
    let first = room.app.world().resource::<agent_workshop::log::EventLog>().next_seq().0;
    assert!(first > 100, "numbers go on above those of the damaged history: {first}");
    room.close("done", |_| {}).unwrap();

    // All of it: what is lost is reported.
    fs::write(&path, "no database at all, and longer than its header ".repeat(100)).unwrap();
    let (room, problems) = Room::open(&options(folder.path())).unwrap();
    let told = all(&problems);
    assert!(told.contains("unfinished work are lost"), "{told}");
    assert_eq!(tick(&room), 0);
    assert!(room.app.world().resource::<KnownFiles>().all().len() > 3, "the files are what they were");
}

fn a_room_continues_where_it_was_after_its_history_was_deleted_under_it() {
    let folder = lived(300, true);
    let (mut room, _) = Room::open(&options(folder.path())).unwrap();
    run(&mut room, 100);
    fs::remove_dir_all(folder.path().join(".workshop")).unwrap();
    let refused = Room::open(&options(folder.path())).err().expect("the workspace is still open in this room");
    assert!(refused.to_string().contains("already open"), "{refused}");
    run(&mut room, 100);
    assert!(Room::open(&options(folder.path())).is_err(), "and stays so");
    run(&mut room, 100);
    let (at, run_before) = (tick(&room), room.run.clone());
    room.close("done", |_| {}).unwrap();
    let reader = agent_workshop::store::Reader::open(&folder.path().join(".workshop")).unwrap();
    assert_eq!(reader.run(&run_before).unwrap().last_tick, at);
    assert_eq!(reader.runs().unwrap().len(), 2, "nothing of the history is missing");
    drop(reader);
    let (room, problems) = Room::open(&options(folder.path())).unwrap();
    assert_eq!((tick(&room), problems), (at, Vec::new()));
}

fn scenes_that_cannot_be_used_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    starter::init(folder.path()).unwrap();
    let scene = folder.path().join(starter::STARTER_SCENE);
    fs::copy(&scene, folder.path().join("scenes/other.yaml")).unwrap();
    fs::remove_file(&scene).unwrap();
    fs::create_dir(&scene).unwrap();
    let open = |named: Option<&str>| {
        let options = OpenOptions { scene: named.map(str::to_owned), ..options(folder.path()) };
        Room::open(&options)
            .map(|(room, problems)| (room.scene.clone(), all(&problems)))
            .map_err(|error| error.to_string())
    };
    let told = open(Some("studio")).unwrap_err();
    assert!(told.contains("is a folder where a scene file should be"), "{told}");
    let (opened, told) = open(None).unwrap();
    assert!(
        opened != starter::STARTER_SCENE && told.contains("is a folder where a scene file should be"),
        "{opened}: {told}"
    );
    #[cfg(unix)]
    {
        fs::remove_dir(&scene).unwrap();
        std::os::unix::fs::symlink("nowhere.yaml", &scene).unwrap();
        let told = open(Some("studio")).unwrap_err();
        assert!(told.contains("is a broken link"), "{told}");
        assert!(open(None).unwrap().1.contains("is a broken link"));
    }
}

fn no_file_is_changed_by_what_the_log_does_not_know() {
    let folder = lived(10, true);
    let (mut room, _) = Room::open(&options(folder.path())).unwrap();
    run(&mut room, 5);
    let beside = rusqlite::Connection::open(folder.path().join(".workshop/workshop.db")).unwrap();
    beside.execute_batch("ALTER TABLE inputs RENAME TO hidden").unwrap();
    let operation = FileOperation::Write { path: "notes/a.md".into(), content: "ordered".into() };
    let command = FileCommand { key: "by-hand".into(), operation };
    room.app.world_mut().resource_mut::<InputQueue<FileCommand>>().push(command);
    let file = folder.path().join("notes/a.md");
    for _ in 0..300 {
        room.driver.step(room.app.world_mut());
    }
    assert!(!file.exists(), "the reply that asked for it would be forgotten");
    beside.execute_batch("ALTER TABLE hidden RENAME TO inputs").unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !file.exists() {
        assert!(std::time::Instant::now() < until, "what was ordered is done once it is recorded");
        room.driver.step(room.app.world_mut());
    }
    room.close("done", |_| {}).unwrap();
}

fn another_scene_of_a_damaged_history_continues_where_it_was_too() {
    let folder = lived(400, true);
    let newsroom = OpenOptions { scene: Some("newsroom".into()), ..options(folder.path()) };
    let (mut room, _) = Room::open(&newsroom).unwrap();
    run(&mut room, 300);
    let at = tick(&room);
    room.close("done", |_| {}).unwrap();
    let path = folder.path().join(".workshop/workshop.db");
    // A number that no workspace reaches: everything can be read, and nothing can be added.
    let beside = rusqlite::Connection::open(&path).unwrap();
    beside.execute_batch("UPDATE numbers SET reserved = 9223372036854775807").unwrap();
    drop(beside);
    let (room, problems) = Room::open(&options(folder.path())).unwrap();
    assert!(all(&problems).contains("all of it was readable"), "{}", all(&problems));
    assert_eq!(tick(&room), 400);
    room.close("done", |_| {}).unwrap();
    let (room, problems) = Room::open(&newsroom).unwrap();
    assert_eq!((tick(&room), problems), (at, Vec::new()));
    room.close("done", |_| {}).unwrap();
    let runs = agent_workshop::store::Reader::open(&folder.path().join(".workshop")).unwrap().runs().unwrap();
    assert_eq!(runs.len(), 4, "earlier runs are kept");
    assert!(runs.iter().all(|run| run.end.is_some()), "{runs:?}");
}

fn doctor_says_that_a_damaged_history_is_damaged_and_what_to_do() {
    let folder = lived(600, true);
    let path = folder.path().join(".workshop/workshop.db");
    let doctor = || {
        let output = output(folder.path(), &["doctor"]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert!(doctor().1.contains("history: 1 runs"), "{}", doctor().1);
    let whole = fs::read(&path).unwrap();
    let beside = rusqlite::Connection::open(&path).unwrap();
    beside.execute_batch("UPDATE events SET data = CAST(x'ff00fe' AS TEXT) WHERE seq % 2 = 0").unwrap();
    drop(beside);
    let (code, said) = doctor();
    assert!(code == Some(0) && said.contains("records of the event log are damaged"), "{code:?}: {said}");
    fs::write(&path, &whole).unwrap();
    let beside = rusqlite::Connection::open(&path).unwrap();
    beside.execute_batch("UPDATE snapshots SET sections = '[]'").unwrap();
    drop(beside);
    let (code, said) = doctor();
    assert!(code == Some(1) && said.contains("the newest saved state of the room is damaged"), "{code:?}: {said}");
    fs::write(&path, &whole).unwrap();
    spoil_the_middle(&path);
    let spoiled = fs::read(&path).unwrap();
    let (code, said) = doctor();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("damaged") && said.contains("fix: open the workspace"), "{said}");
    assert!(!said.contains("ok       history"), "{said}");
    assert_eq!(fs::read(&path).unwrap(), spoiled, "looking changes nothing");
    succeed(folder.path(), &["run", "--ticks", "30", "--speed", "max"]);
    let (code, said) = doctor();
    assert!(code == Some(0) && said.contains("history: "), "{said}");
}

/// Every file below a folder, with its text.
#[cfg(unix)]
fn everything_in(folder: &Path) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut all = std::collections::BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            all.extend(everything_in(&entry.path()));
        } else {
            all.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    all
}

/// Removes or restores the permission to write anything below a folder.
#[cfg(unix)]
fn set_writable(folder: &Path, is_writable: bool) {
    use std::os::unix::fs::PermissionsExt;
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => set_writable(&entry.path(), is_writable),
            false => set(&entry.path(), if is_writable { 0o644 } else { 0o444 }),
        }
    }
    set(folder, if is_writable { 0o755 } else { 0o555 });
}

/// A user who owns nothing.
#[cfg(unix)]
pub const READER: u32 = 65_534;

/// The program in a folder that it may not write, whoever runs the tests: root can write everywhere, so another user is
/// used then.
#[cfg(unix)]
pub fn output_of_a_reader(folder: &Path, program: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    let mut command = workshop(folder, arguments);
    command.env("HOME", folder).env("WORKSHOP_CONFIG_DIR", folder.join("no-such-folder"));
    if fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0) {
        let mut other = std::process::Command::new(program);
        other.current_dir(folder).args(arguments).stdin(std::process::Stdio::null()).env_clear();
        other.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        other.uid(READER).gid(READER);
        command = other;
    }
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[cfg(not(unix))]
fn a_workspace_that_may_not_be_written_is_read_and_left_as_it_is() {}

#[cfg(unix)]
fn a_workspace_that_may_not_be_written_is_read_and_left_as_it_is() {
    use std::os::unix::fs::PermissionsExt;
    let folder = lived(300, true);
    // A place that the other user can reach.
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("workshop");
    fs::copy(env!("CARGO_BIN_EXE_workshop"), &program).unwrap();
    for folder in [place.path(), folder.path()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let events = succeed(folder.path(), &["export", "--events", "-"]);
    for is_damaged in [false, true] {
        if is_damaged {
            spoil_the_middle(&folder.path().join(".workshop/workshop.db"));
        }
        set_writable(folder.path(), false);
        let before = everything_in(folder.path());
        let of_reader = |arguments: &[&str]| output_of_a_reader(folder.path(), &program, arguments);
        let (code, said, errors) = of_reader(&["doctor"]);
        if is_damaged {
            assert!(code == Some(1) && said.contains("damaged"), "{code:?}: {said}{errors}");
        } else {
            assert!(code == Some(0) && said.contains("history: 1 runs"), "{code:?}: {said}{errors}");
            let (code, exported, errors) = of_reader(&["export", "--events", "-"]);
            assert_eq!((code, json_lines(&exported)), (Some(0), json_lines(&events)), "{errors}");
        }
        let (code, _, errors) = of_reader(&["run", "--ticks", "30", "--speed", "max"]);
        assert_eq!(code, Some(1), "{errors}");
        assert!(errors.contains("Permission denied") && errors.contains(".workshop/ is writable"), "{errors}");
        assert_eq!(everything_in(folder.path()), before, "nothing is changed");
        set_writable(folder.path(), true);
    }
}
