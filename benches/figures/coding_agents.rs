//! The overhead of a coding agent in the workshop, compared in the same run with a minimal client of its protocol: the
//! delay until its text is visible, twenty agents in parallel and their memory, writing a file, and processes left over
//! after the agent or the room is killed.

mod bare;
mod hosted;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use agent_workshop::gateway::sandbox::set_supervisor;
use agent_workshop::schedule::Speed;

use self::bare::Bare;
use self::hosted::{Hosted, Place};
use super::measure::{Figure, Times, digits, resident_mib};

const PROMPTS: usize = 30;
/// The number of agents that are prompted in parallel.
pub const AGENTS: usize = 20;
const CHUNKS: usize = 300;
const SEEN: usize = 200;
/// The log keeps only the last 2,000 characters of a message, which limits this number.
const WRITES: usize = 60;
const KILLS: usize = 200;
/// The time limit of every wait.
pub const TIMEOUT: Duration = Duration::from_secs(120);
/// One frame at sixty per second.
const FRAME: Duration = Duration::from_micros(16_667);

/// Measures the overhead of coding agents.
pub fn hosted() -> Vec<Figure> {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("acp: there is no python3, so nothing is measured");
        return Vec::new();
    }
    set_supervisor(Path::new(env!("CARGO_BIN_EXE_workshop")));
    let mut figures = vec![first_chunks(), seen()];
    figures.extend(twenty());
    figures.extend(writes());
    figures.push(kills());
    figures
}

fn first_chunks() -> Figure {
    let mut hosted = Hosted::open(1, Speed::Max);
    let (script, folder) = (hosted.place.script.clone(), hosted.place.folder.clone());
    let mut bare = Bare::start(&script, &folder);
    // The first prompt starts the process, and afterwards the interpreter is warm.
    bare.first_chunk(&folder);
    hosted.first_chunk();
    let (mut direct, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..PROMPTS {
        direct.push(bare.first_chunk(&folder));
        ours.push(hosted.first_chunk());
    }
    Figure::over_bare("a prompt to a coding agent until its first chunk, beyond a minimal client", 5.0, direct, ours)
}

/// The times at which the agent sent each chunk, in nanoseconds since 1970, parsed from the chunks.
fn stamps(said: &str) -> Vec<u64> {
    // A chunk without a space after it may be incomplete.
    let whole = said.rfind(' ').map_or("", |end| &said[..end]);
    whole.split(' ').filter_map(|chunk| chunk.split_once(':')?.1.parse().ok()).collect()
}

fn seen() -> Figure {
    let mut room = Hosted::open(1, Speed::Times(1));
    // The agent's chunks are not in step with the frames.
    room.task(0, &format!("do:{SEEN} 0 41"));
    let (mut known, mut took, begun) = (0, Vec::new(), Instant::now());
    while took.len() < SEEN && room.said.is_empty() {
        assert!(begun.elapsed() < TIMEOUT, "{known} chunks were seen");
        let said = room.frame(FRAME);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        for stamp in stamps(&said).into_iter().skip(known) {
            known += 1;
            took.push(now.saturating_sub(Duration::from_nanos(stamp)));
        }
    }
    let (count, times) = (took.len(), Times::from_each(took));
    let limit = 2.0 * FRAME.as_secs_f64() * 1e3;
    Figure {
        what: format!(
            "a chunk of a coding agent until the end of the frame that shows it, {SEEN} chunks at 60 frames/s"
        ),
        limit: format!("{} ms, two frames", digits(limit)),
        measured: times.to_string(),
        against: format!("{count} of {SEEN} shown while it answered"),
        holds: Some(count == SEEN && times.longest() <= limit),
    }
}

/// The processes with `word` in their command line, as (pid, command line).
fn processes(word: &str) -> Vec<(String, String)> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = all.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        Some((entry.file_name().to_string_lossy().into_owned(), String::from_utf8_lossy(&line).replace('\0', " ")))
    });
    lines.filter(|(_, line)| line.contains(word)).collect()
}

/// The resident memory of the supervisor processes of these agents, in MiB.
fn watchers_mib(script: &Path) -> f64 {
    let all = processes(&script.display().to_string());
    all.iter().filter(|(_, line)| line.contains("__watch-over")).map(|(process, _)| resident_mib(process)).sum()
}

fn twenty() -> [Figure; 2] {
    let mut room = Hosted::open(AGENTS, Speed::Max);
    room.step();
    let before = resident_mib("self");
    (0..AGENTS).for_each(|agent| room.task(agent, &format!("do:{CHUNKS} 0 0")));
    let (mut most, script) = (0.0_f64, room.place.script.clone());
    room.until("twenty at once", |room| {
        most = most.max(resident_mib("self") - before + watchers_mib(&script));
        room.said.len() == AGENTS
    });
    let is_whole = |said: &&String| {
        let chunks: Vec<&str> = said.split_whitespace().collect();
        chunks.len() == CHUNKS && chunks.iter().enumerate().all(|(at, chunk)| chunk.parse() == Ok(at))
    };
    let whole = room.said.iter().filter(is_whole).count();
    let each = most / AGENTS as f64;
    [
        Figure {
            what: format!("coding agents at once, {CHUNKS} updates each, without a dropped update"),
            limit: format!("at least {AGENTS}"),
            measured: whole.to_string(),
            against: String::new(),
            holds: Some(whole == AGENTS),
        },
        Figure {
            what: "our own memory per coding agent".to_owned(),
            limit: "8 MiB".to_owned(),
            measured: format!("{} MiB", digits(each)),
            against: format!("{} MiB for {AGENTS}, including the processes that supervise them", digits(most)),
            holds: Some(each <= 8.0),
        },
    ]
}

/// The times in which the agent writes a file directly and through a room at this speed, measured in turn.
fn written(speed: Speed) -> (Vec<Duration>, Vec<Duration>) {
    let mut room = Hosted::open(1, speed);
    room.task(0, &format!("do:0 {WRITES} 0"));
    room.until("the writes", |room| !room.said.is_empty());
    let said = room.said.concat();
    let of = |name: &str| {
        let numbers = said.split_whitespace().filter_map(|word| word.strip_prefix(name)?.parse::<f64>().ok());
        numbers.map(|millis| Duration::from_secs_f64(millis / 1e3)).collect::<Vec<_>>()
    };
    let (own, ours) = (of("own="), of("ours="));
    assert_eq!((own.len(), ours.len()), (WRITES, WRITES), "{said}");
    (own, ours)
}

fn writes() -> [Figure; 2] {
    let (own, ours) = written(Speed::Max);
    let fast = Figure::over_bare(
        "a file that a coding agent writes through the room, beyond writing it directly",
        2.0,
        own,
        ours,
    );
    let (own, ours) = written(Speed::Times(1));
    let (own, ours) = (Times::from_each(own), Times::from_each(ours));
    let paced = Figure {
        what: "the same in a room at 1 ×, where requests and results wait for ticks".to_owned(),
        limit: String::new(),
        measured: format!("{} ms", digits(ours.median() - own.median())),
        against: format!("directly {own}; through the room {ours}"),
        holds: None,
    };
    [fast, paced]
}

/// Waits until a condition holds or the time limit is over. Returns whether it holds.
fn wait_until(mut condition: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(30);
    while !condition() {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

fn kills() -> Figure {
    let mut left = 0;
    for round in 0..KILLS {
        // Each round has a workspace of its own: killed work continues where it was when its workspace is opened again.
        let place = Place::new(1, "brood");
        let script = place.script.display().to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_workshop"));
        command.args(["run", "--scene", "hosted", "--agent", "a0", "--task", "Wait.", "--until", "idle"]);
        command.current_dir(&place.folder).env("WORKSHOP_CONFIG_DIR", place.config()).env("WORKSHOP_TRUST", "1");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut room = command.spawn().expect("it starts");
        assert!(
            wait_until(|| !processes(&format!("{script} child")).is_empty()),
            "round {round}: the agent does not start"
        );
        if round % 2 == 1 {
            // The benchmark kills the agent; parts of it may have ended by themselves.
            let agents = processes(&script).into_iter().map(|(process, _)| process);
            let _ = Command::new("kill").arg("-KILL").args(agents).stderr(Stdio::null()).status();
        }
        room.kill().expect("it runs");
        room.wait().expect("it was started");
        wait_until(|| processes(&script).is_empty());
        left += processes(&script).len();
    }
    Figure {
        what: format!("processes left after {KILLS} kills, half of them with the agent killed before the room"),
        limit: "0".to_owned(),
        measured: left.to_string(),
        against: String::new(),
        holds: Some(left == 0),
    }
}
