//! `workshop replay [WORKSPACE] RUN`: replays a past run from its recorded inputs, without a model.

use std::path::Path;
use std::time::{Duration, Instant};

use super::event_feed::Feed;
use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, output};
use crate::app::opening::state_folder;
use crate::app::replay::{Replayed, replay as play};
use crate::log::EventLog;
use crate::schedule::{SimClock, TICKS_PER_SEC};
use crate::store::Reader;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The workspace, which defaults to the current folder, and the run: its id, or `last`
    #[arg(num_args = 1..=2, required = true, value_names = ["WORKSPACE", "RUN"])]
    what: Vec<String>,
    /// Replay only up to this tick
    #[arg(long, value_name = "TICK")]
    to: Option<u64>,
    /// Compare the world with the recorded one, and fail if it differs
    #[arg(long)]
    verify: bool,
    /// 1, 4, 16, or max
    #[arg(long, default_value = "max", value_parser = super::run::parse_speed)]
    speed: crate::schedule::Speed,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn replay(arguments: &Arguments) -> CliResult {
    let (named, run) = match arguments.what.as_slice() {
        [run] => (None, run),
        [folder, run] => (Some(Path::new(folder)), run),
        _ => return Err(CliError::usage("expected one workspace and one run")),
    };
    let folder = workspace_argument::workspace(named, IfMissing::Fail)?;
    let reader = Reader::open(&state_folder(&folder)).map_err(CliError::failed)?;
    let mut feed = Feed::for_terminal();
    let began = Instant::now();
    let mut first_tick = None;
    let replayed = play(&reader, run, arguments.to, |world| {
        let tick = world.resource::<SimClock>().tick();
        let first = *first_tick.get_or_insert(tick);
        let events = world.resource_mut::<EventLog>().take();
        feed.show(world, &events);
        if let crate::schedule::Speed::Times(times) = arguments.speed {
            let due = Duration::from_secs_f64((tick - first) as f64 / (TICKS_PER_SEC * u64::from(times)) as f64);
            std::thread::sleep(due.saturating_sub(began.elapsed()));
        }
    })
    .map_err(CliError::failed)?;
    report(arguments, &replayed, began.elapsed())?;
    match replayed.differs_at {
        Some(_) if arguments.verify => Ok(ExitStatus::Failed),
        _ if arguments.verify && replayed.compared == 0 => {
            Err(CliError::failed("the run has no recorded hashes up to this tick to compare with"))
        }
        _ => Ok(ExitStatus::Done),
    }
}

fn report(arguments: &Arguments, replayed: &Replayed, took: Duration) -> Result<(), CliError> {
    let simulated = replayed.ticks as f64 / TICKS_PER_SEC as f64;
    if arguments.json {
        let json = serde_json::json!({
            "run": replayed.run, "tick": replayed.tick, "ticks": replayed.ticks, "compared": replayed.compared,
            "differs_at": replayed.differs_at, "hash": format!("{:016x}", replayed.hash),
            "seconds": took.as_secs_f64(), "times_real_time": simulated / took.as_secs_f64().max(1e-9),
        });
        return output::json(&json);
    }
    let played = format!(
        "{}: {} ticks ({simulated:.0} s) in {:.2} s, {:.0} × real time, world {:016x}",
        replayed.run,
        replayed.ticks,
        took.as_secs_f64(),
        simulated / took.as_secs_f64().max(1e-9),
        replayed.hash
    );
    let compared = match replayed.differs_at {
        Some(tick) => format!("differs from the recording at tick {tick}"),
        None => format!("{} recorded hashes compared, all equal", replayed.compared),
    };
    output::result(&format!("{played}\n{compared}"))
}
