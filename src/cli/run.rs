//! `workshop run`: lets a room live without a window, until a time, a tick, or until nothing is left to do.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bevy::ecs::prelude::*;

use super::feed::Feed;
use super::task::Task;
use super::{Complaint, Ending, Outcome};
use crate::app::drive::{EventTap, Step};
use crate::app::room::{OpenOptions, Room};
use crate::base::{Problem, Severity};
use crate::gateway::Questions;
use crate::gateway::settings::GatewaySettings;
use crate::kernel::Kernel;
use crate::schedule::{SimClock, Speed, TICKS_PER_SEC};
use crate::simulation;
use crate::store::EventRecord;
use crate::workspace::Problems;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The workspace; the current folder if it is one, else ./my-workshop, made on first use
    workspace: Option<PathBuf>,
    /// The scene, by its file's name without .yaml
    #[arg(long)]
    scene: Option<String>,
    /// Who gets the task: an agent of the scene, or a profile, which is then dropped into it
    #[arg(long, requires = "task", value_name = "ID")]
    agent: Option<String>,
    /// What to do
    #[arg(long, requires = "agent", value_name = "TEXT")]
    task: Option<String>,
    /// Live for so much simulated time: 90s, 10m, 1h 30m
    #[arg(long = "for", value_name = "TIME", value_parser = humantime::parse_duration, conflicts_with_all = ["ticks", "until"])]
    for_time: Option<Duration>,
    /// Live for so many ticks of 1/30 s
    #[arg(long, conflicts_with = "until")]
    ticks: Option<u64>,
    /// Live until nobody has anything queued, asked or under way
    #[arg(long, value_parser = ["idle"])]
    until: Option<String>,
    /// Stands in for the scene's seed
    #[arg(long)]
    seed: Option<u64>,
    /// 1, 4, 16, or max
    #[arg(long, default_value = "1", value_parser = parse_speed)]
    speed: Speed,
    /// Stands in for every agent's provider: offline, scripted:FILE, gemini, openai, anthropic, ollama
    #[arg(long)]
    provider: Option<String>,
    /// Write every event as it happens, as JSON Lines: a file, or - for standard output
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,
    /// Write the scene as it is at the end
    #[arg(long, value_name = "FILE")]
    scene_out: Option<PathBuf>,
    /// Begin as the scene file says: forget where agents stood and what they remember
    #[arg(long)]
    fresh: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// `1`, `4`, `16` or `max`.
pub(super) fn parse_speed(word: &str) -> Result<Speed, String> {
    match word {
        "max" => Ok(Speed::Max),
        "1" | "4" | "16" => Ok(Speed::Times(word.parse().map_err(|_| "not a number".to_owned())?)),
        _ => Err("one of 1, 4, 16, max".to_owned()),
    }
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let provider = arguments.provider.as_deref().map(resolve_provider).transpose()?;
    let folder = super::workspace_folder(arguments.workspace.as_deref())?;
    let options = OpenOptions {
        folder,
        scene: arguments.scene.clone(),
        seed: arguments.seed,
        provider,
        fresh: arguments.fresh,
        watch: true,
    };
    let mut out = Output::open(arguments)?;
    let (mut room, problems) = Room::open(&options).map_err(Complaint::failed)?;
    let world = room.app.world_mut();
    world.resource_mut::<SimClock>().speed = arguments.speed;
    world.insert_resource(EventTap::default());
    out.problems(&problems);

    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = interrupted.clone();
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).map_err(Complaint::failed)?;

    let began = Instant::now();
    let first_tick = world.resource::<SimClock>().tick();
    let mut task = task_of(arguments);
    let stop = Stop::from(arguments, first_tick);
    let ending = loop {
        let world = room.app.world_mut();
        if interrupted.load(Ordering::Relaxed) {
            break Ending::Interrupted;
        }
        if stop.is_reached(world, task.as_ref()) {
            break task.as_ref().map_or(Ending::Done, |task| task.ending(world));
        }
        if world.resource::<Questions>().run_cap_reached().is_some() {
            break Ending::Limited;
        }
        if let Some(task) = &mut task {
            task.give(world)?;
        }
        if room.driver.step(world) == Step::Ticked {
            let events = world.resource_mut::<EventTap>().take();
            if let Some(task) = &mut task {
                task.watch(&events);
            }
            out.show(world, &events)?;
        }
    };
    finish(arguments, room, out, ending, first_tick, began)
}

fn finish(
    arguments: &Arguments,
    mut room: Room,
    mut out: Output,
    ending: Ending,
    first_tick: u64,
    began: Instant,
) -> Outcome {
    let world = room.app.world_mut();
    let reason = match ending {
        Ending::Limited => world.resource::<Questions>().run_cap_reached().unwrap_or_default().to_owned(),
        Ending::Interrupted => "interrupted".to_owned(),
        Ending::Failed => "the task failed".to_owned(),
        Ending::Done | Ending::BadUsage => "done".to_owned(),
    };
    let ticks = world.resource::<SimClock>().tick() - first_tick;
    let spent = world.resource::<Questions>().ledger().run();
    let problems: Vec<Problem> = world.resource::<Problems>().iter().cloned().collect();
    if let Some(file) = &arguments.scene_out {
        let start = world.resource::<crate::workspace::RoomStart>().scene.clone();
        let text = world.resource::<crate::workspace::KnownFiles>().text(&start).unwrap_or_default().to_owned();
        std::fs::write(file, text).map_err(|error| Complaint::failed(format!("{}: {error}", file.display())))?;
    }
    let run = room.run.clone();
    let unsaved = room.close(&reason, |events| out.write(events)).map_err(Complaint::failed)?;
    out.problems(&unsaved);
    out.finish()?;
    if arguments.json {
        let json = serde_json::json!({
            "run": run, "ticks": ticks, "simulated_secs": ticks as f64 / TICKS_PER_SEC as f64,
            "seconds": began.elapsed().as_secs_f64(), "ended": reason, "calls": spent.calls,
            "tokens": spent.tokens, "cost_usd": spent.cost_usd(), "problems": problems,
        });
        println!("{json}");
    } else if io::stderr().is_terminal() {
        eprintln!(
            "{run}: {:.0} simulated seconds in {:.1} s; {} model calls, {} tokens, ${:.2}",
            ticks as f64 / TICKS_PER_SEC as f64,
            began.elapsed().as_secs_f64(),
            spent.calls,
            spent.tokens,
            spent.cost_usd()
        );
    }
    if ending == Ending::Limited {
        eprintln!("stopped: {reason}");
    }
    Ok(ending)
}

/// A provider that there is; `scripted:FILE` with the file's path made absolute, so that it means the same from
/// anywhere.
pub(super) fn resolve_provider(provider: &str) -> Result<String, Complaint> {
    let Some(file) = provider.strip_prefix("scripted:") else {
        return match GatewaySettings::default().choose(Some(provider), None) {
            Ok(_) => Ok(provider.to_owned()),
            Err(problem) => Err(Complaint::usage(problem.what).hint(problem.remedy)),
        };
    };
    let path = std::fs::canonicalize(file).map_err(|error| Complaint::usage(format!("the script {file}: {error}")))?;
    Ok(format!("scripted:{}", path.display()))
}

/// The task that the command line gives.
fn task_of(arguments: &Arguments) -> Option<Task> {
    Some(Task::new(arguments.agent.as_deref()?, arguments.task.clone()?))
}

/// When to stop.
enum Stop {
    AtTick(u64),
    WhenIdle,
    AfterTask,
    Never,
}

impl Stop {
    fn from(arguments: &Arguments, first_tick: u64) -> Self {
        if let Some(time) = arguments.for_time {
            Self::AtTick(first_tick + (time.as_secs_f64() * TICKS_PER_SEC as f64).round() as u64)
        } else if let Some(ticks) = arguments.ticks {
            Self::AtTick(first_tick + ticks)
        } else if arguments.until.is_some() {
            Self::WhenIdle
        } else if arguments.task.is_some() {
            Self::AfterTask
        } else {
            Self::Never
        }
    }

    fn is_reached(&self, world: &mut World, task: Option<&Task>) -> bool {
        let tick = world.resource::<SimClock>().tick();
        match self {
            Self::AtTick(last) => tick >= *last,
            Self::WhenIdle => {
                task.is_none_or(|task| task.is_over(world))
                    && tick > 0
                    && world.resource::<EventTap>().has_ticked
                    && world.resource::<Kernel>().is_idle()
                    && simulation::is_idle(world)
            }
            Self::AfterTask => task.is_none_or(|task| task.is_over(world)),
            Self::Never => false,
        }
    }
}

/// Where the run is shown and written.
struct Output {
    events: Option<Box<dyn Write>>,
    feed: Feed,
}

impl Output {
    fn open(arguments: &Arguments) -> Result<Self, Complaint> {
        let events: Option<Box<dyn Write>> = match &arguments.events {
            None => None,
            Some(path) if path.as_os_str() == "-" => Some(Box::new(BufWriter::new(io::stdout()))),
            Some(path) => {
                let file = File::create(path);
                let file = file.map_err(|error| Complaint::failed(format!("{}: {error}", path.display())))?;
                Some(Box::new(BufWriter::new(file)))
            }
        };
        Ok(Self { events, feed: Feed::for_terminal() })
    }

    fn problems(&mut self, problems: &[Problem]) {
        for problem in problems {
            let word = if problem.severity == Severity::Error { "problem" } else { "note" };
            self.feed.print(&format!("{word}: {problem}"));
        }
    }

    fn show(&mut self, world: &mut World, events: &[EventRecord]) -> Result<(), Complaint> {
        self.write(events);
        self.feed.show(world, events);
        self.feed.status(world);
        Ok(())
    }

    fn write(&mut self, events: &[EventRecord]) {
        if let Some(out) = &mut self.events {
            for event in events {
                let written = serde_json::to_writer(&mut *out, event).map_err(io::Error::from);
                if let Err(error) = written.and_then(|()| out.write_all(b"\n")) {
                    eprintln!("error: the events could not be written: {error}");
                    self.events = None;
                    return;
                }
            }
            // Whoever reads along sees each tick at once; what could not be written shows with the next line.
            if !events.is_empty() {
                let _ = out.flush();
            }
        }
    }

    fn finish(mut self) -> Result<(), Complaint> {
        self.feed.finish();
        match self.events.as_mut().map(Write::flush) {
            Some(Err(error)) => Err(Complaint::failed(format!("the events could not be written: {error}"))),
            _ => Ok(()),
        }
    }
}
