//! `workshop` without a subcommand: opens the window, or takes a screenshot of it.

use std::path::PathBuf;
use std::time::Duration;

use bevy::math::Vec2;
use clap::Args;

use super::run::not_opened;
use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, output, trust};
use crate::app::room::OpenOptions;
use crate::app::trust::TrustChoice;
use crate::app::window::screenshot::{self, PictureOptions};
use crate::app::window::workspace_copy::WorkspaceCopy;
use crate::app::window::{self, OpenRoom, WindowOptions};
use crate::gateway::Environment;
use crate::schedule::TICKS_PER_SEC;
use crate::ui::commands::listing;
use crate::ui::commands::table::CommandTable;
use crate::ui::panes;
use crate::ui::state::dock::Tab;
use crate::view::camera::ZOOM;

/// The arguments without a subcommand.
#[derive(Args)]
#[group(id = "window")]
pub(super) struct Arguments {
    /// The workspace, created from the starter kit if missing; defaults to the current folder if it is one, else
    /// ./my-workshop
    workspace: Option<PathBuf>,
    /// The scene to open: its file name without .yaml
    #[arg(long)]
    scene: Option<String>,
    /// Override every agent's provider: offline, scripted:FILE, gemini, openai, anthropic, ollama
    #[arg(long)]
    provider: Option<String>,
    /// Start over from the scene file: forget where agents were and what they remember
    #[arg(long)]
    fresh: bool,
    /// Width and height of the window, in points; defaults to its last size, or 1280x800
    #[arg(long, value_parser = parse_size)]
    size: Option<(u32, u32)>,
    /// Use the dark theme
    #[arg(long, conflicts_with = "light")]
    dark: bool,
    /// Use the light theme
    #[arg(long)]
    light: bool,
    /// Write a screenshot to a PNG file instead of opening a window; needs no display
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// How long the room runs before the screenshot, in simulated time
    #[arg(long, default_value = "20s", value_parser = humantime::parse_duration, requires = "screenshot")]
    after: Duration,
    /// Pixels per point in the screenshot
    #[arg(long, default_value_t = 1.0, value_parser = parse_scale, requires = "screenshot")]
    scale: f32,
    /// Show each agent's queue, memories and costs
    #[arg(long)]
    details: bool,
    /// The center and zoom of the screenshot: X,Y,ZOOM; defaults to the whole room
    #[arg(long, value_name = "X,Y,ZOOM", value_parser = parse_look_at, requires = "screenshot", allow_hyphen_values = true)]
    look_at: Option<(f32, f32, f32)>,
    /// Select an agent or element in the screenshot, by id; repeatable
    #[arg(long, value_name = "ID", requires = "screenshot")]
    select: Vec<String>,
    /// Open an element in the screenshot, by id
    #[arg(long, value_name = "ID", requires = "screenshot")]
    open: Option<String>,
    /// Show a pane in the screenshot: files, shelf, graph, inspector, log, knowledge, or a file by its path
    #[arg(long, value_name = "PANE", requires = "screenshot", value_parser = parse_pane)]
    show: Vec<Tab>,
    /// Print every command of the window with its keys, and exit
    #[arg(long, conflicts_with = "screenshot")]
    help_keys: bool,
    /// Print the commands as JSON
    #[arg(long, requires = "help_keys")]
    json: bool,
    /// Show the conversations in the screenshot
    #[arg(long, requires = "screenshot")]
    talks: bool,
}

fn parse_look_at(text: &str) -> Result<(f32, f32, f32), String> {
    let numbers: Vec<f32> = text.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    let [x, y, zoom] = numbers[..] else { return Err("expected X,Y,ZOOM, such as 0,120,1.5".to_owned()) };
    if ZOOM.contains(&zoom) && x.is_finite() && y.is_finite() {
        return Ok((x, y, zoom));
    }
    Err(format!("the zoom must be between {} and {}", ZOOM.start(), ZOOM.end()))
}

fn parse_pane(text: &str) -> Result<Tab, String> {
    let panes = panes::standard();
    let ids = panes.iter().filter(|pane| !pane.has_items()).map(|pane| pane.id());
    match ids.clone().find(|id| *id == text) {
        Some(id) => Ok(Tab::named(id)),
        None if text.contains(['.', '/']) => Ok(Tab::file(text)),
        None => Err(format!("one of {}, or the path of a file", ids.collect::<Vec<_>>().join(", "))),
    }
}

fn parse_size(text: &str) -> Result<(u32, u32), String> {
    let parsed = text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match parsed {
        Some((width, height)) if (200..=8_000).contains(&width) && (200..=8_000).contains(&height) => {
            Ok((width, height))
        }
        Some(_) => Err("expected a size between 200x200 and 8000x8000".to_owned()),
        None => Err("expected WIDTHxHEIGHT, such as 1280x800".to_owned()),
    }
}

fn parse_scale(text: &str) -> Result<f32, String> {
    text.parse()
        .ok()
        .filter(|scale| (0.5..=4.0).contains(scale))
        .ok_or_else(|| "expected a number between 0.5 and 4".to_owned())
}

pub(super) fn open(arguments: &Arguments) -> CliResult {
    if arguments.help_keys {
        return help_keys(arguments.json);
    }
    let named = arguments.workspace.as_deref();
    let provider = arguments.provider.as_deref().map(super::shared_arguments::resolve_provider).transpose()?;
    // A given folder is created only for the window, where a person sees what opens.
    let if_missing = if arguments.screenshot.is_some() { IfMissing::CreateDefault } else { IfMissing::Create };
    if arguments.screenshot.is_none()
        && let Err(error) = check_display()
    {
        // Report a mistyped command or folder first: it is the more likely mistake.
        named.map_or(Ok(PathBuf::new()), |named| workspace_argument::workspace(Some(named), IfMissing::Fail))?;
        return Err(error);
    }
    let folder = workspace_argument::workspace(named, if_missing)?;
    // A screenshot runs the room for a while; in a copy, because it must not change the workspace.
    if arguments.screenshot.is_none() {
        trust::offer(&folder)?;
    }
    let trust = match arguments.screenshot {
        Some(_) => TrustChoice::Like(folder.clone()),
        None => TrustChoice::Person,
    };
    let copy = arguments.screenshot.as_ref().map(|_| WorkspaceCopy::of(&folder)).transpose();
    let copy = copy.map_err(CliError::failed)?;
    let options = OpenOptions {
        folder: copy.as_ref().map_or(folder, |copy| copy.folder().to_owned()),
        scene: arguments.scene.clone(),
        provider,
        fresh: arguments.fresh,
        watch: arguments.screenshot.is_none(),
        trust,
        ..OpenOptions::default()
    };
    let mut room = OpenRoom::open(options).map_err(|error| not_opened(&error))?;
    let dark = (arguments.dark || arguments.light).then_some(arguments.dark);
    let Some(file) = &arguments.screenshot else {
        let config_folder = Environment::of_process().config_folder().map(ToOwned::to_owned);
        let exit = window::run(room, &WindowOptions { size: arguments.size, dark, config_folder })
            .map_err(|error| CliError::failed(&error).hint(error.remedy()))?;
        return Ok(if exit.is_success() { ExitStatus::Done } else { ExitStatus::Failed });
    };
    room.run_ticks((arguments.after.as_secs_f64() * TICKS_PER_SEC as f64).round() as u64);
    let picture = PictureOptions {
        size: arguments.size.unwrap_or(window::DEFAULT_SIZE),
        pixels_per_point: arguments.scale,
        dark: dark.unwrap_or(false),
        overlay: arguments.details,
        look_at: arguments.look_at.map(|(x, y, zoom)| (Vec2::new(x, y), zoom)),
        selected: arguments.select.clone(),
        open: arguments.open.clone(),
        sidebar: arguments.talks,
        show: arguments.show.clone(),
    };
    let written = screenshot::write(&mut room, &picture, file);
    room.close("the screenshot was taken");
    written.map_err(CliError::failed)?;
    Ok(ExitStatus::Done)
}

/// Prints all window commands with their keys.
fn help_keys(as_json: bool) -> CliResult {
    let table = CommandTable::standard();
    if as_json {
        output::json(&listing::listed(table))?;
    } else {
        output::result(listing::as_text(table).trim_end())?;
    }
    Ok(ExitStatus::Done)
}

/// Fails if no display is available for a window.
fn check_display() -> Result<(), CliError> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(target_os = "linux") && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
        return Err(CliError::failed("no display is available for the window").hint(
            "run the room in the terminal with: workshop run, or take a screenshot with: workshop --screenshot \
                room.png",
        ));
    }
    Ok(())
}
