//! The cost of the whole window: the real program on an in-memory display with software rendering, measured from
//! outside. If a required program is missing, its name is printed and the rest is measured.

use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use agent_workshop::workspace::starter;

use super::frames;
use super::measure::{Figure, Times, digits};
use super::screen::{Display, missing, until};

const SIZE: (u32, u32) = (1280, 800);
/// The time until all resources are loaded and every agent is moving.
const SETTLE_TIME: Duration = Duration::from_secs(10);
/// The polling interval for a starting program, long enough not to compete with it for the processor.
const POLL_INTERVAL: Duration = Duration::from_millis(40);
/// How long a paused window is measured.
const PAUSED_TIME: Duration = Duration::from_secs(12);
/// The clock ticks of `/proc` per second.
const CLOCK_TICKS: f64 = 100.0;
/// Threads and libraries of the software renderer, which a graphics card would replace.
const SOFTWARE_THREADS: [&str; 2] = ["llvmpipe", "lavapipe"];
const SOFTWARE_LIBRARIES: [&str; 3] = ["libvulkan_lvp", "libLLVM", "libgallium"];

/// Measures the window as a whole.
pub fn whole() -> Vec<Figure> {
    let mut figures = vec![size()];
    match missing() {
        Some(missing) => figures.push(Figure {
            what: "start, memory and processor use of the window".into(),
            limit: String::new(),
            measured: format!("not measured: {missing} is missing"),
            against: String::new(),
            holds: None,
        }),
        None => figures.extend([start(), memory(), paused()]),
    }
    figures
}

fn size() -> Figure {
    let bytes = std::fs::metadata(env!("CARGO_BIN_EXE_workshop")).map_or(0, |file| file.len());
    at_most("the program", "MB", 75.0, bytes as f64 / 1e6)
}

fn at_most(what: &str, unit: &str, limit: f64, measured: f64) -> Figure {
    Figure {
        what: what.into(),
        limit: format!("{} {unit}", digits(limit)),
        measured: format!("{} {unit}", digits(measured)),
        against: String::new(),
        holds: Some(measured <= limit),
    }
}

/// The program with its window on a display; dropping it ends it.
struct Running {
    child: Child,
    /// The maximum time from its start until something is visible.
    seen: Duration,
}

impl Running {
    fn start(display: &Display, workspace: &Path) -> Self {
        let mut command = display.command(env!("CARGO_BIN_EXE_workshop"));
        command.arg(workspace).args(["--light", "--size", "1280x800", "--provider", "offline"]);
        let began = Instant::now();
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        while !display.is_lit_in_the_middle() {
            assert!(began.elapsed() < Duration::from_secs(60), "nothing was seen in a minute");
            sleep(POLL_INTERVAL);
        }
        Self { child, seen: began.elapsed() }
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{name}", self.child.id())).unwrap_or_default()
    }

    /// The processor time of its own threads in seconds, without those of the software renderer.
    fn used_secs(&self) -> f64 {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).into_iter().flatten().flatten();
        threads
            .filter_map(|thread| std::fs::read_to_string(thread.path().join("stat")).ok())
            .filter_map(|stat| {
                // A thread's name may contain anything; the numbers follow the last bracket.
                let (head, tail) = stat.rsplit_once(')')?;
                let is_own = !SOFTWARE_THREADS.iter().any(|name| head.contains(name));
                let number = |index: usize| tail.split_whitespace().nth(index)?.parse::<f64>().ok();
                is_own.then_some((number(11)? + number(12)?) / CLOCK_TICKS)
            })
            .sum()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The program may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn on_a_display(measure: impl FnOnce(&Display, &Path) -> Figure) -> Figure {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let display = Display::start(SIZE, &folder.path().join("display"));
    let workspace = folder.path().join("workspace");
    std::fs::create_dir_all(&workspace).expect("a folder can be made");
    measure(&display, &workspace)
}

/// Measures the time from the start of the process until a picture of the display shows the studio.
fn start() -> Figure {
    on_a_display(|display, workspace| {
        starter::init(workspace).expect("the starter kit can be written");
        drop(Running::start(display, workspace));
        let times = Times::from_each((0..5).map(|_| Running::start(display, workspace).seen));
        let what = "start until the studio is visible";
        Figure::at_most_ms(what, 1_000.0, &times).against("software rendering")
    })
}

fn memory() -> Figure {
    on_a_display(|display, workspace| {
        frames::write_crowd(workspace, 100, 1.0).expect("the crowd can be written");
        let running = Running::start(display, workspace);
        sleep(SETTLE_TIME);
        let megabytes = |line: &str| {
            line.split_whitespace().nth(1).and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
        };
        let all = running.file("status").lines().find(|line| line.starts_with("VmRSS")).map_or(0.0, megabytes);
        let mut is_software = false;
        let mut software = 0.0;
        for line in running.file("smaps").lines() {
            if line.starts_with("Rss:") && is_software {
                software += megabytes(line);
            } else if line.contains('-') && !line.contains("kB") {
                is_software = SOFTWARE_LIBRARIES.iter().any(|library| line.contains(library));
            }
        }
        at_most("memory with 100 agents, without the software renderer's libraries", "MB", 150.0, all - software)
            .against(format!("{} MB with the software renderer's libraries", digits(all)))
    })
}

fn paused() -> Figure {
    on_a_display(|display, workspace| {
        starter::init(workspace).expect("the starter kit can be written");
        let running = Running::start(display, workspace);
        display.focus("Agent Workshop");
        let log = |word: &str| {
            let mut command = display.command(env!("CARGO_BIN_EXE_workshop"));
            let done = command.arg("export").arg(workspace).args(["--events", "-"]).output();
            done.is_ok_and(|done| String::from_utf8_lossy(&done.stdout).contains(word))
        };
        until("somebody to do something", || log("\"type\":\"state\""));
        display.keys("space");
        sleep(SETTLE_TIME);
        let before = running.used_secs();
        sleep(PAUSED_TIME);
        let share = 100.0 * (running.used_secs() - before) / PAUSED_TIME.as_secs_f64();
        at_most("processor, paused", "% of a core", 2.0, share).against("without the software renderer's threads")
    })
}
