//! Races: a person saves boards, scenes and agents while the room writes the same file, at random times and timed to
//! the moment in which the room is about to replace it; and files turn into links and back.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::child::Running;
use super::evidence::{StoredTexts, Tree, contains};
use super::models::{Model, Question, Reply};
use super::plan::{Case, Fault, Plan, Report};

/// Rooms in the full loop.
const ROOMS: u64 = 40;
/// The duration of a race.
const RACE: Duration = Duration::from_secs(12);
/// The duration of an answer, which sets the rate of changes.
const LATENCY: Duration = Duration::from_millis(120);
/// The time within which a text that a person removed must be gone, while nobody else saves.
const SETTLED: Duration = Duration::from_millis(1500);
/// Texts in files outside of the workspace.
const SECRET: &str = "SECRET-outside";

/// The file that is raced for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Race {
    /// A board's file; agents pin to it.
    Board,
    /// The scene with a board's pins in it.
    Scene,
    /// An agent's file that another agent edits.
    Agent,
    /// A file of agents.
    Artifact,
    /// The files of agents and boards turn into links to the outside and back into files.
    Links,
}

const RACES: [Race; 5] = [Race::Board, Race::Scene, Race::Agent, Race::Artifact, Race::Links];

impl Race {
    fn path(self) -> &'static str {
        match self {
            Self::Board | Self::Links => "boards/pins.md",
            Self::Scene => "scenes/room.yaml",
            Self::Agent => "agents/bob.md",
            Self::Artifact => "artifacts/log.md",
        }
    }

    /// The tool call of an agent in a step.
    fn step(self, step: usize) -> (String, serde_json::Value) {
        // Alternates between two forms: a step that fails because the other form is there is repaired by the next one.
        let (old, new) = if step.is_multiple_of(2) { ("the end\n", "THE END\n") } else { ("THE END\n", "the end\n") };
        let edit = |path: &str| ("vfs_edit".to_owned(), json!({ "path": path, "old": old, "new": new }));
        match self {
            Self::Agent | Self::Artifact => edit(self.path()),
            Self::Links => match step % 4 {
                0 => ("vfs_read".to_owned(), json!({ "path": "artifacts/log.md" })),
                1 => ("vfs_write".to_owned(), json!({ "path": "artifacts/log.md", "content": format!("{step}\n") })),
                2 => ("vfs_search".to_owned(), json!({ "text": "SECRET" })),
                _ => ("vfs_read".to_owned(), json!({ "path": "boards/pins.md" })),
            },
            _ => ("vfs_list".to_owned(), json!({ "prefix": format!("{step}") })),
        }
    }
}

/// Runs the loop.
pub fn run(plan: &Plan) -> Report {
    plan.sweep("races", ROOMS, try_case)
}

fn try_case(case: &mut Case) {
    let race = RACES[case.number as usize % RACES.len()];
    lay_out(case, race);
    let forbidden = if race == Race::Links { vec![SECRET.to_owned()] } else { Vec::new() };
    let model = Model::start(forbidden, LATENCY, move |question| reply(race, question));
    let arguments = ["run", "--agent", "ada", "--task", "job-ada", "--speed", "max", "--provider", "openai:any"];
    let mut running = case.launch(&arguments).env("OPENAI_BASE_URL", &model.server.url).start();
    // The room is open and the work has begun.
    let began = Instant::now();
    while model.server.seen() < 2 && began.elapsed() < RACE && !running.is_over() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let saves =
        if race == Race::Links { swap_links(case, &mut running) } else { save_repeatedly(case, race, &mut running) };
    let ended = running.interrupt();
    case.judge(&ended);
    for (fault, what) in model.seen() {
        case.found(fault, format!("in a question to the model: {what}"));
    }
    if (ended.out() + &ended.errors()).contains(SECRET) {
        case.found(Fault::Escaped, "what lies outside was printed");
    }
    saves.judge(case, race);
}

fn lay_out(case: &Case, race: Race) {
    let kernel = "kernel: { max_strikes: 1000, max_turns: 1000 }\n";
    case.write("settings.yaml", format!("budget: {{ cost_per_run_usd: 100000 }}\n{kernel}"));
    let pins = match race {
        Race::Scene => "pins: [ { id: p0, text: the first, author: user } ]",
        _ => "file: boards/pins.md",
    };
    let agents = "agents:\n  - { id: ada, profile: ada, position: [60, 40] }\n";
    let board = format!("  - {{ id: pins, kind: pinboard, label: Pins, position: [0, 0], {pins} }}\n");
    case.write("scenes/room.yaml", format!("name: Race\nseed: 3\nelements:\n{board}{agents}"));
    case.write("agents/ada.md", "You are Ada.\n");
    case.write("agents/bob.md", "You are Bob.\n\nthe end\n");
    case.write("artifacts/log.md", "# Log\n\nthe end\n");
    case.write("boards/pins.md", "# Pins\n\n- the first\n");
    fs::write(case.folder().join("outside/canary.md"), format!("{SECRET}\n")).expect("files can be written");
}

fn reply(race: Race, question: &Question) -> Reply {
    if !question.is_work() {
        return ("Understood.".to_owned(), Vec::new());
    }
    let results = question.results();
    let (name, arguments) = race.step(results.len());
    (format!("[PIN: thought {}]", results.len()), vec![(format!("c-{}", results.len()), name, arguments)])
}

/// A person's changes in a race.
#[derive(Default)]
struct Saves {
    /// Texts that were saved, and not removed again by the person.
    saved: Vec<String>,
    /// Texts that the person removed.
    removed: u64,
    /// Removed texts that came back.
    back: Vec<String>,
    aimed: u64,
    swaps: u64,
}

impl Saves {
    fn judge(&self, case: &mut Case, race: Race) {
        case.count("saves by a person", self.saved.len() as u64);
        case.count("aimed saves", self.aimed);
        case.count("links swapped", self.swaps);
        let kept = StoredTexts::of(&case.workspace());
        let lost: Vec<&String> = self.saved.iter().filter(|text| !kept.holds(race.path(), text.as_bytes())).collect();
        if let Some(first) = lost.first() {
            let (lost, all) = (lost.len(), self.saved.len());
            let what = format!("{lost} of {all} saves of {} are nowhere, such as {first:?}", race.path());
            case.found(Fault::Lost, what);
        }
        case.count("removals by a person", self.removed);
        if let Some(first) = self.back.first() {
            let (back, all) = (self.back.len(), self.removed);
            let what = format!("{back} of {all} texts that a person took out of {} are back: {first:?}", race.path());
            case.found(Fault::Doubled, what);
        }
        if race == Race::Links
            && fs::read_to_string(case.folder().join("outside/canary.md")).ok() != Some(format!("{SECRET}\n"))
        {
            case.found(Fault::Escaped, "a file outside was written through a link");
        }
    }
}

/// Saves the file repeatedly: at random times, and whenever the room writes a temporary file next to it.
fn save_repeatedly(case: &mut Case, race: Race, running: &mut Running) -> Saves {
    let mut saves = Saves::default();
    let path = case.at(race.path());
    let until = Instant::now() + RACE;
    while Instant::now() < until && !running.is_over() {
        let is_aimed = case.chance.percent(50);
        if is_aimed {
            if !written_beside(&path, Duration::from_millis(900)) {
                continue;
            }
            saves.aimed += 1;
        } else {
            std::thread::sleep(case.chance.up_to(Duration::from_millis(500)));
        }
        let removed = save(case, race, &path, &mut saves);
        if let Some(removed) = removed {
            running.is_over_within(SETTLED);
            saves.removed += 1;
            let now = fs::read(&path).unwrap_or_default();
            saves.back.extend(contains(&now, removed.as_bytes()).then_some(removed));
        }
    }
    // The last save gets the time that the room needs to notice it.
    running.is_over_within(SETTLED);
    saves
}

/// Edits the current text as a person and replaces the whole file, as editors do. Returns the removed text.
fn save(case: &mut Case, race: Race, path: &Path, saves: &mut Saves) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let token = format!("person {:016x}", case.chance.bits());
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let takes_away = race == Race::Board && case.chance.percent(15);
    let removed = saves.saved.last().filter(|last| takes_away && text.contains(last.as_str())).cloned();
    if let Some(removed) = &removed {
        lines.retain(|line| !line.contains(removed));
        saves.saved.retain(|saved| saved != removed);
    }
    match race {
        Race::Board => lines.push(format!("- {token}")),
        Race::Scene => lines.insert(0, format!("# {token}")),
        _ => lines.insert(1, token.clone()),
    }
    let beside = case.folder().join("home/being-saved");
    let text = lines.join("\n") + "\n";
    fs::write(&beside, text).and_then(|()| fs::rename(&beside, path)).ok()?;
    saves.saved.push(token);
    removed
}

/// Waits for a new hidden file next to this one.
fn written_beside(path: &Path, patience: Duration) -> bool {
    let folder = path.parent().expect("a file lies in a folder");
    let hidden = || -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_hidden = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
        entries.filter(is_hidden).map(|entry| entry.path()).collect()
    };
    let (before, until) = (hidden(), Instant::now() + patience);
    while Instant::now() < until {
        if hidden().iter().any(|path| !before.contains(path)) {
            return true;
        }
    }
    false
}

/// Turns files into links to the outside and back, as fast as possible, while agents read and write them and an export
/// packs them.
fn swap_links(case: &mut Case, running: &mut Running) -> Saves {
    let (stop, swaps) = (AtomicBool::new(false), AtomicUsize::new(0));
    let canary = case.folder().join("outside/canary.md");
    let paths = [case.at("artifacts/log.md"), case.at("boards/pins.md"), case.at("agents/bob.md")];
    let home = case.folder().join("home");
    let mut zips = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for (number, path) in paths.iter().enumerate() {
                    let beside = home.join(format!("swapped-{number}"));
                    let linked = std::os::unix::fs::symlink(&canary, &beside).and_then(|()| fs::rename(&beside, path));
                    let filed = fs::write(&beside, "- a file again\n").and_then(|()| fs::rename(&beside, path));
                    swaps.fetch_add(usize::from(linked.is_ok() && filed.is_ok()), Ordering::Relaxed);
                }
            }
        });
        let until = Instant::now() + RACE;
        while Instant::now() < until && !running.is_over() {
            let zip = case.folder().join(format!("home/packed-{}.zip", zips.len()));
            let export = case.launch(&["export", "--zip", &zip.display().to_string()]);
            let ended = export.start().wait();
            case.judge(&ended);
            zips.push(zip);
        }
        stop.store(true, Ordering::Relaxed);
    });
    case.count("exports", zips.len() as u64);
    let told = zips.iter().filter(|zip| holds(zip, SECRET.as_bytes())).count();
    if told > 0 {
        case.found(Fault::Escaped, format!("{told} of {} exports hold what lies outside", zips.len()));
    }
    let outside = Tree::of(&case.folder().join("outside"), &[]);
    if outside.0.len() != 1 {
        case.found(Fault::Escaped, format!("outside there are {} files now", outside.0.len()));
    }
    Saves { swaps: swaps.into_inner() as u64, ..Saves::default() }
}

/// Whether the packed file contains this text after unpacking.
fn holds(zip: &Path, text: &[u8]) -> bool {
    let Some(mut archive) = fs::File::open(zip).ok().and_then(|file| zip::ZipArchive::new(file).ok()) else {
        return false;
    };
    (0..archive.len()).any(|number| {
        let mut content = Vec::new();
        let read = archive.by_index(number).map(|mut file| std::io::copy(&mut file, &mut content));
        read.is_ok_and(|read| read.is_ok()) && contains(&content, text)
    })
}
