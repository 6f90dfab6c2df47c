//! Workspaces whose history is damaged, missing or read-only: opening them takes limited time, reports what is lost and
//! what is kept, and uses whatever can be read.

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
        a_room_can_be_opened_despite_random_damage,
        readable_parts_of_a_damaged_history_are_used_and_reported,
        a_room_survives_the_deletion_of_its_history_while_open,
        unusable_scenes_are_reported,
        no_file_is_changed_before_its_input_is_logged,
        other_scenes_of_a_damaged_history_continue_too,
        doctor_reports_a_damaged_history_with_a_remedy,
        a_read_only_workspace_can_be_read_and_is_not_changed,
    ]
}

fn options(folder: &Path) -> OpenOptions {
    let provider = Some("offline".to_owned());
    OpenOptions { folder: folder.to_owned(), provider, ..OpenOptions::trusted() }
}

fn run(room: &mut Room, ticks: u64) {
    let world = room.app.world_mut();
    world.resource_mut::<SimClock>().speed = Speed::Max;
    let until = world.resource::<SimClock>().tick() + ticks;
    let began = std::time::Instant::now();
    while room.app.world().resource::<SimClock>().tick() < until {
        room.driver.step(room.app.world_mut());
        assert!(began.elapsed().as_secs() < 60, "the room does not advance: {:?}", room.lost());
    }
}

fn tick(room: &Room) -> u64 {
    room.app.world().resource::<SimClock>().tick()
}

/// Creates a workspace that has run for some ticks. If not `is_closed`, it is left as after a kill.
fn used_workspace(ticks: u64, is_closed: bool) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    starter::init(folder.path()).unwrap();
    let (mut room, problems) = Room::open(&options(folder.path())).unwrap();
    assert_eq!(problems, []);
    run(&mut room, ticks);
    if is_closed {
        room.close("done", |_| {}).unwrap();
    } else {
        // A copy of the open workspace is like one after a kill: its run has no end.
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

/// Returns the next number of a deterministic random sequence, so that every run damages the same places.
fn next_random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

fn problems_text(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn a_room_can_be_opened_despite_random_damage() {
    for is_closed in [true, false] {
        let whole = used_workspace(2_000, is_closed);
        for trial in 0..24_u64 {
            let mut seed = 0x9e37_79b9 + trial * 77 + u64::from(is_closed);
            let folder = tempfile::tempdir().unwrap();
            copy_folder(whole.path(), folder.path());
            let path = folder.path().join(".workshop/workshop.db");
            let mut bytes = fs::read(&path).unwrap();
            for _ in 0..1 + next_random(&mut seed) % 200 {
                let at = usize::try_from(next_random(&mut seed)).unwrap() % bytes.len();
                bytes[at] ^= 1 << (next_random(&mut seed) % 8);
            }
            fs::write(&path, bytes).unwrap();
            let began = std::time::Instant::now();
            let opened = Room::open(&options(folder.path()));
            let (mut room, problems) = opened.unwrap_or_else(|error| panic!("trial {trial}: {error}"));
            assert!(began.elapsed().as_secs() < 60, "trial {trial} took {:?}", began.elapsed());
            let reported = problems_text(&problems);
            assert!(!reported.contains("nothing in the workspace is lost"), "{reported}");
            if tick(&room) < 1_800 {
                assert!(!problems.is_empty(), "trial {trial} went back to tick {} without a problem", tick(&room));
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

/// Overwrites several pages in the middle of the database, because a single one may be unused.
fn damage_the_middle(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let (from, to) = (bytes.len() / 3 / 4_096 * 4_096, bytes.len() / 2 / 4_096 * 4_096);
    bytes[from..to].fill(0xa5);
    fs::write(path, bytes).unwrap();
}

fn readable_parts_of_a_damaged_history_are_used_and_reported() {
    let folder = used_workspace(2_000, true);
    let path = folder.path().join(".workshop/workshop.db");
    damage_the_middle(&path);
    let (room, problems) = Room::open(&options(folder.path())).unwrap();
    let reported = problems_text(&problems);
    assert!(reported.contains("set aside as workshop.db.broken-1"), "{reported}");
    assert!(reported.contains("were copied into a new history; the rest is lost"), "{reported}");
    assert!(
        reported.contains("continues from tick") || reported.contains("agents start from the scene file"),
        "{reported}"
    );
    assert!(folder.path().join(".workshop/workshop.db.broken-1").exists());
    let first = room.app.world().resource::<agent_workshop::log::EventLog>().next_seq().0;
    assert!(first > 100, "sequence numbers continue above those of the damaged history: {first}");
    room.close("done", |_| {}).unwrap();

    // If nothing is readable, the loss is reported.
    fs::write(&path, "no database at all, and longer than its header ".repeat(100)).unwrap();
    let (room, problems) = Room::open(&options(folder.path())).unwrap();
    let reported = problems_text(&problems);
    assert!(reported.contains("unfinished work are lost"), "{reported}");
    assert_eq!(tick(&room), 0);
    assert!(room.app.world().resource::<KnownFiles>().all().len() > 3, "the workspace's files are unchanged");
}

fn a_room_survives_the_deletion_of_its_history_while_open() {
    let folder = used_workspace(300, true);
    let (mut room, _) = Room::open(&options(folder.path())).unwrap();
    run(&mut room, 100);
    // The room may write there in the same moment.
    while fs::remove_dir_all(folder.path().join(".workshop")).is_err() {}
    let refused = Room::open(&options(folder.path())).err().expect("the workspace is still open in this room");
    assert!(refused.to_string().contains("already open"), "{refused}");
    run(&mut room, 100);
    assert!(Room::open(&options(folder.path())).is_err(), "the workspace stays locked");
    run(&mut room, 100);
    let (at, run_before) = (tick(&room), room.run.clone());
    room.close("done", |_| {}).unwrap();
    let reader = agent_workshop::store::Reader::open(&folder.path().join(".workshop")).unwrap();
    assert_eq!(reader.run(&run_before).unwrap().last_tick, at);
    assert_eq!(reader.runs().unwrap().len(), 2, "the history is complete");
    drop(reader);
    let (room, problems) = Room::open(&options(folder.path())).unwrap();
    assert_eq!((tick(&room), problems), (at, Vec::new()));
}

fn unusable_scenes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    starter::init(folder.path()).unwrap();
    let scene = folder.path().join(starter::STARTER_SCENE);
    fs::copy(&scene, folder.path().join("scenes/other.yaml")).unwrap();
    fs::remove_file(&scene).unwrap();
    fs::create_dir(&scene).unwrap();
    let open = |named: Option<&str>| {
        let options = OpenOptions { scene: named.map(str::to_owned), ..options(folder.path()) };
        Room::open(&options)
            .map(|(room, problems)| (room.scene.clone(), problems_text(&problems)))
            .map_err(|error| error.to_string())
    };
    for named in [Some("studio"), None] {
        let reported = open(named).unwrap_err();
        assert!(reported.contains("is a folder where a file should be"), "{named:?}: {reported}");
    }
    #[cfg(unix)]
    {
        fs::remove_dir(&scene).unwrap();
        std::os::unix::fs::symlink("nowhere.yaml", &scene).unwrap();
        let reported = open(Some("studio")).unwrap_err();
        assert!(reported.contains("is a broken link"), "{reported}");
        let reported = open(None).unwrap_err();
        assert!(reported.contains("is a broken link"), "another scene may permit what this one forbids: {reported}");
    }
}

fn no_file_is_changed_before_its_input_is_logged() {
    let folder = used_workspace(10, true);
    let (mut room, _) = Room::open(&options(folder.path())).unwrap();
    run(&mut room, 5);
    let connection = rusqlite::Connection::open(folder.path().join(".workshop/workshop.db")).unwrap();
    connection.execute_batch("ALTER TABLE inputs RENAME TO hidden").unwrap();
    let operation = FileOperation::Write { path: "notes/a.md".into(), content: "ordered".into() };
    let command = FileCommand { key: "by-hand".into(), operation };
    room.app.world_mut().resource_mut::<InputQueue<FileCommand>>().push(command);
    let file = folder.path().join("notes/a.md");
    for _ in 0..300 {
        room.driver.step(room.app.world_mut());
    }
    assert!(!file.exists(), "the file is not written before its command is recorded");
    connection.execute_batch("ALTER TABLE hidden RENAME TO inputs").unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !file.exists() {
        assert!(std::time::Instant::now() < until, "the command is not carried out once it is recorded");
        room.driver.step(room.app.world_mut());
    }
    room.close("done", |_| {}).unwrap();
}

fn other_scenes_of_a_damaged_history_continue_too() {
    let folder = used_workspace(400, true);
    let newsroom = OpenOptions { scene: Some("newsroom".into()), ..options(folder.path()) };
    let (mut room, _) = Room::open(&newsroom).unwrap();
    run(&mut room, 300);
    let at = tick(&room);
    room.close("done", |_| {}).unwrap();
    let path = folder.path().join(".workshop/workshop.db");
    // With the largest sequence number, everything can be read, but nothing can be added.
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("UPDATE numbers SET reserved = 9223372036854775807").unwrap();
    drop(connection);
    let (room, problems) = Room::open(&options(folder.path())).unwrap();
    assert!(problems_text(&problems).contains("all of it was readable"), "{}", problems_text(&problems));
    assert_eq!(tick(&room), 400);
    room.close("done", |_| {}).unwrap();
    let (room, problems) = Room::open(&newsroom).unwrap();
    assert_eq!((tick(&room), problems), (at, Vec::new()));
    room.close("done", |_| {}).unwrap();
    let runs = agent_workshop::store::Reader::open(&folder.path().join(".workshop")).unwrap().runs().unwrap();
    assert_eq!(runs.len(), 4, "earlier runs are kept");
    assert!(runs.iter().all(|run| run.end.is_some()), "{runs:?}");
}

fn doctor_reports_a_damaged_history_with_a_remedy() {
    let folder = used_workspace(600, true);
    let path = folder.path().join(".workshop/workshop.db");
    let doctor = || {
        let output = output(folder.path(), &["doctor"]);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    assert!(doctor().1.contains("history: 1 runs"), "{}", doctor().1);
    let whole = fs::read(&path).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("UPDATE events SET data = CAST(x'ff00fe' AS TEXT) WHERE seq % 2 = 0").unwrap();
    drop(connection);
    let (code, stdout) = doctor();
    assert!(code == Some(0) && stdout.contains("records of the event log are damaged"), "{code:?}: {stdout}");
    fs::write(&path, &whole).unwrap();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("UPDATE snapshots SET sections = '[]'").unwrap();
    drop(connection);
    let (code, stdout) = doctor();
    assert!(code == Some(1) && stdout.contains("the newest saved state of the room is damaged"), "{code:?}: {stdout}");
    fs::write(&path, &whole).unwrap();
    damage_the_middle(&path);
    let spoiled = fs::read(&path).unwrap();
    let (code, stdout) = doctor();
    assert_eq!(code, Some(1), "{stdout}");
    assert!(stdout.contains("damaged") && stdout.contains("fix: open the workspace"), "{stdout}");
    assert!(!stdout.contains("ok       history"), "{stdout}");
    assert_eq!(fs::read(&path).unwrap(), spoiled, "doctor changes nothing");
    succeed(folder.path(), &["run", "--ticks", "30", "--speed", "max"]);
    let (code, stdout) = doctor();
    assert!(code == Some(0) && stdout.contains("history: "), "{stdout}");
}

/// Reads every file below a folder, by path.
#[cfg(unix)]
fn read_all(folder: &Path) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut problems_text = std::collections::BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            problems_text.extend(read_all(&entry.path()));
        } else {
            problems_text.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    problems_text
}

/// Removes or restores the write permission for everything below a folder.
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

/// The id of a user who owns nothing.
#[cfg(unix)]
pub const READER: u32 = 65_534;

/// Runs the program in a folder that it may not write. If the tests run as root, which can write everywhere, it runs as
/// another user.
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
fn a_read_only_workspace_can_be_read_and_is_not_changed() {}

#[cfg(unix)]
fn a_read_only_workspace_can_be_read_and_is_not_changed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = used_workspace(300, true);
    // The program is in a folder that the other user can access.
    let program_folder = tempfile::tempdir().unwrap();
    let program = program_folder.path().join("workshop");
    fs::copy(env!("CARGO_BIN_EXE_workshop"), &program).unwrap();
    for folder in [program_folder.path(), folder.path()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let events = succeed(folder.path(), &["export", "--events", "-"]);
    for is_damaged in [false, true] {
        if is_damaged {
            damage_the_middle(&folder.path().join(".workshop/workshop.db"));
        }
        set_writable(folder.path(), false);
        let before = read_all(folder.path());
        let of_reader = |arguments: &[&str]| output_of_a_reader(folder.path(), &program, arguments);
        let (code, stdout, errors) = of_reader(&["doctor"]);
        if is_damaged {
            assert!(code == Some(1) && stdout.contains("damaged"), "{code:?}: {stdout}{errors}");
        } else {
            assert!(code == Some(0) && stdout.contains("history: 1 runs"), "{code:?}: {stdout}{errors}");
            let (code, exported, errors) = of_reader(&["export", "--events", "-"]);
            assert_eq!((code, json_lines(&exported)), (Some(0), json_lines(&events)), "{errors}");
        }
        let (code, _, errors) = of_reader(&["run", "--ticks", "30", "--speed", "max"]);
        assert_eq!(code, Some(1), "{errors}");
        assert!(errors.contains("Permission denied") && errors.contains(".workshop/ is writable"), "{errors}");
        assert_eq!(read_all(folder.path()), before, "nothing is changed");
        set_writable(folder.path(), true);
    }
}
