//! One frame: time passes, the picture is drawn, and what a person did is done.

use std::time::Duration;

use bevy::app::AppExit;
use bevy::ecs::message::{MessageReader, MessageWriter};
use bevy::ecs::prelude::*;
use bevy::window::{FileDragAndDrop, PrimaryWindow, Window};
use bevy::winit::{UpdateMode, WinitSettings};
use bevy_egui::{EguiContext, EguiFullOutput, EguiInput, PrimaryEguiContext};

use super::open_room::OpenRoom;
use super::performing::{self, Outcome};
use crate::ui::shell::Shell;
use crate::ui::{Command, UiState};
use crate::view::art::Art;
use crate::view::reading::Wanted;
use crate::view::theme::Theme;

/// Between two frames while somebody moves.
const LIVELY: Duration = Duration::from_millis(16);
/// Between two frames while nobody does: often enough for the clock and for what comes from outside.
const QUIET: Duration = Duration::from_millis(120);

/// What the window keeps between frames.
pub struct Screen {
    pub state: UiState,
    shell: Shell,
    art: Option<Art>,
    dropped: Vec<std::path::PathBuf>,
    wants_to_quit: bool,
    pixels_per_point: f32,
    /// Whether the system's choice of day or evening was taken over, or a person chose.
    knows_system: bool,
}

impl Screen {
    /// A screen on which nothing was done yet.
    pub fn new(dark: Option<bool>) -> Self {
        let state = UiState { dark: dark.unwrap_or(false), ..UiState::default() };
        Self {
            state,
            shell: Shell::default(),
            art: None,
            dropped: Vec::new(),
            wants_to_quit: false,
            pixels_per_point: 1.0,
            knows_system: dark.is_some(),
        }
    }
}

/// Lets time pass.
pub(super) fn live(mut room: NonSendMut<OpenRoom>) {
    room.live();
}

/// Files that are dropped from the desktop are taken in where they were dropped.
pub(super) fn take_dropped_files(mut drops: MessageReader<FileDragAndDrop>, mut screen: NonSendMut<Screen>) {
    for drop in drops.read() {
        match drop {
            FileDragAndDrop::DroppedFile { path_buf, .. } => {
                screen.dropped.push(path_buf.clone());
                screen.state.hanging.clear();
            }
            FileDragAndDrop::HoveredFile { path_buf, .. } => {
                let name = path_buf.file_name().map(|name| name.to_string_lossy().into_owned());
                screen.state.hanging.extend(name);
            }
            FileDragAndDrop::HoveredFileCanceled { .. } => screen.state.hanging.clear(),
        }
    }
}

/// Draws the window and does what was asked for. The only system that runs `egui`.
pub(super) fn draw(
    mut contexts: Query<(&mut EguiContext, &mut EguiInput, &mut EguiFullOutput), With<PrimaryEguiContext>>,
    mut room: NonSendMut<OpenRoom>,
    mut screen: NonSendMut<Screen>,
) {
    let Ok((mut context, mut input, mut output)) = contexts.single_mut() else { return };
    let context = context.get_mut().clone();
    let screen = &mut *screen;
    if !screen.knows_system
        && let Some(system) = context.system_theme()
    {
        screen.knows_system = true;
        screen.state.dark = system == egui::Theme::Dark;
    }
    Theme::of(screen.state.dark).apply(&context);
    let pixels_per_point = context.pixels_per_point();
    if screen.art.is_none() || (screen.pixels_per_point - pixels_per_point).abs() > 0.01 {
        let (art, problems) = Art::load(&context, pixels_per_point);
        room.notices.extend(problems);
        screen.art = Some(art);
        screen.pixels_per_point = pixels_per_point;
    }
    screen.state.now_secs = room.now_secs();
    performing::go_on(&mut room, &mut screen.state);
    let looked_at = screen.state.looked_at();
    let wanted = Wanted { camera: &screen.state.camera, things: &looked_at, overlay: screen.state.overlay, share: 1.0 };
    let mut model = room.model(&wanted);
    let mut commands: Vec<Command> = Vec::new();
    if !screen.dropped.is_empty() {
        let camera = &screen.state.camera;
        let pointer = context.input(|input| input.pointer.latest_pos());
        let pointer = pointer.filter(|pointer| camera.viewport.contains(*pointer));
        let position = pointer.map_or(camera.middle, |pointer| camera.to_world(pointer));
        commands.push(Command::Import { paths: std::mem::take(&mut screen.dropped), position });
    }
    let (shell, state) = (&mut screen.shell, &mut screen.state);
    let Some(art) = &screen.art else { return };
    let recent = &room.recent;
    **output = Some(context.run_ui(input.take(), |ui| {
        commands.extend(shell.show(ui, &mut model, recent, art, state));
    }));
    for command in commands {
        match performing::perform(&mut room, &model, &mut screen.state, command) {
            Outcome::Done => {}
            Outcome::Quit => screen.wants_to_quit = true,
            Outcome::Open(url) => context.open_url(egui::OpenUrl::new_tab(url)),
        }
    }
}

/// Draws often while something moves and seldom while nothing does. What the interface itself animates is
/// asked for by `bevy_egui`.
pub(super) fn pace(room: NonSend<OpenRoom>, mut settings: ResMut<WinitSettings>) {
    let wait = if room.is_astir { LIVELY } else { QUIET };
    let (focused, unfocused) = (UpdateMode::reactive(wait), UpdateMode::reactive_low_power(wait.max(LIVELY * 2)));
    if settings.focused_mode != focused || settings.unfocused_mode != unfocused {
        settings.focused_mode = focused;
        settings.unfocused_mode = unfocused;
    }
}

/// Leaves when the person asked for it.
pub(super) fn quit(screen: NonSend<Screen>, mut exit: MessageWriter<AppExit>) {
    if screen.wants_to_quit {
        exit.write(AppExit::Success);
    }
}

/// Saves the room when the window closes.
pub(super) fn close_room(
    mut exits: MessageReader<AppExit>,
    windows: Query<&Window, With<PrimaryWindow>>,
    mut room: NonSendMut<OpenRoom>,
) {
    if exits.read().count() > 0 || windows.is_empty() {
        room.close("the window was closed");
    }
}
