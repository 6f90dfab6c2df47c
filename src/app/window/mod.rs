//! The window: one open room, its clock, its drawing, and the person's input.
//!
//! The room has its own world, separate from the window's, so that opening another scene does not affect the window,
//! and nothing on screen can affect the room.

mod background_jobs;
mod command_handling;
pub mod display;
mod drafts;
mod file_cache;
mod file_job_queue;
mod file_jobs;
mod file_results;
mod file_work;
mod frame;
mod gpu_errors;
mod icon;
mod inverse_commands;
mod job_runner;
mod key_frames;
mod open_room;
mod provider_trials;
mod renames;
mod reversal;
mod room_commands;
mod screen_fit;
pub mod screenshot;
mod settings_commands;
#[cfg(test)]
mod tests;
mod texture_memory;
mod trust_decisions;
mod visibility;
mod window_jobs;
pub mod window_services;
pub mod window_state;
pub mod workspace_copy;
mod workspace_opening;

use std::path::PathBuf;

use bevy::DefaultPlugins;
use bevy::app::{App, AppExit, Last, PluginGroup, PostUpdate, PreStartup, PreUpdate, Update};
use bevy::ecs::prelude::*;
use bevy::input::InputSystems;
use bevy::math::Vec2;
use bevy::render::RenderPlugin;
use bevy::render::settings::{MemoryHints, WgpuSettings};
use bevy::window::{ExitCondition, PresentMode, Window, WindowPlugin};
use bevy_egui::{EguiPlugin, EguiPostUpdateSet, EguiStartupSet};

pub use frame::Screen;
pub use gpu_errors::WindowError;
pub use open_room::OpenRoom;
pub use window_services::WindowServices;

/// Options for opening the window.
#[derive(Clone, Debug)]
pub struct WindowOptions {
    /// Width and height in points; `None` restores the last size.
    pub size: Option<(u32, u32)>,
    /// Whether to use the dark theme in this run; `None` for the person's choice.
    pub dark: Option<bool>,
    /// The person's config folder; `None` saves no window state.
    pub config_folder: Option<PathBuf>,
}

/// Default size of the window, in points.
pub const DEFAULT_SIZE: (u32, u32) = (1280, 800);
/// Minimum size of the window, in points.
const MIN_SIZE: Vec2 = Vec2::splat(200.0);

/// Shows a room until the window is closed; everything is saved when this returns.
pub fn run(room: OpenRoom, options: &WindowOptions) -> Result<AppExit, WindowError> {
    gpu_errors::guarded(|driver_failure| show(room, options, driver_failure))
}

fn show(mut room: OpenRoom, options: &WindowOptions, driver_failure: &gpu_errors::DriverFailure) -> AppExit {
    let services = WindowServices::of(&mut room, options.config_folder.clone());
    let size = options.size.or(services.remembered().window).unwrap_or(DEFAULT_SIZE);
    let window = Window {
        title: format!("{} · Agent Workshop", room.workspace_name()),
        name: Some("agent-workshop".into()),
        resolution: size.into(),
        present_mode: PresentMode::AutoVsync,
        resize_constraints: bevy::window::WindowResizeConstraints {
            min_width: MIN_SIZE.x,
            min_height: MIN_SIZE.y,
            ..Default::default()
        },
        ..Window::default()
    };
    let plugins = DefaultPlugins.set(WindowPlugin {
        primary_window: Some(window),
        exit_condition: ExitCondition::OnPrimaryClosed,
        // While work is running, the person is asked first.
        close_when_requested: false,
        ..WindowPlugin::default()
    });
    // The room needs little GPU memory: allocate it in small blocks.
    let graphics = WgpuSettings { memory_hints: MemoryHints::MemoryUsage, ..WgpuSettings::default() };
    let plugins = plugins.set(RenderPlugin { render_creation: graphics.into(), ..RenderPlugin::default() });
    let mut app = App::new();
    app.add_plugins((plugins, EguiPlugin::default(), display::EguiDisplayPlugin));
    app.insert_non_send(room).insert_non_send(Screen::with_services(options.dark, services));
    gpu_errors::watch_driver(&mut app, driver_failure);
    app.add_systems(PreStartup, spawn_camera.before(EguiStartupSet::InitContexts));
    app.init_resource::<visibility::Hidden>()
        .add_systems(PreUpdate, (visibility::check, visibility::pause_cameras).chain());
    app.add_systems(PreUpdate, icon::set_icon);
    app.init_resource::<key_frames::WaitingKeys>()
        .add_systems(PreUpdate, key_frames::distribute_keys.before(InputSystems));
    // A requested size is kept as it is.
    if options.size.is_none() {
        app.add_systems(PreUpdate, screen_fit::fit_to_screen);
    }
    app.add_systems(
        Update,
        (frame::run_due_ticks, frame::take_dropped_files, frame::take_close_request, frame::note_size).chain(),
    );
    app.add_systems(PostUpdate, frame::draw.in_set(EguiPostUpdateSet::EndPass));
    app.add_systems(
        Last,
        (frame::set_frame_rate, frame::quit, gpu_errors::exit_on_driver_failure, frame::close_room).chain(),
    );
    app.run()
}

fn spawn_camera(mut commands: Commands) {
    commands.spawn(display::camera());
}
