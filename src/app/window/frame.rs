//! One frame: time advances, the window is drawn, and the person's commands are executed.

use std::time::Duration;

use bevy::app::AppExit;
use bevy::ecs::message::{MessageReader, MessageWriter, Messages};
use bevy::ecs::prelude::*;
use bevy::window::{FileDragAndDrop, PrimaryWindow, RequestRedraw, Window, WindowCloseRequested, WindowMode};
use bevy::winit::{UpdateMode, WinitSettings};
use bevy_egui::{EguiContext, EguiFullOutput, EguiInput, PrimaryEguiContext};
use egui::{Context, Event, FullOutput, RawInput, ViewportId};

use super::command_handling::{self, Outcome};
use super::gpu_errors::DriverFailure;
use super::key_frames::WaitingKeys;
use super::open_room::OpenRoom;
use super::visibility::Hidden;
use super::window_services::WindowServices;
use crate::learning::KnowledgeBridge;
use crate::ui::commands::create;
use crate::ui::panes::pane::Pane;
use crate::ui::shell::Shell;
use crate::ui::state::{Appearance, AppearancePreferences, DropPlace, ThemeChoice};
use crate::ui::{Command, UiState};
use crate::view::art::Art;
use crate::view::extract::DetailRequest;
use crate::view::text::fonts;
use crate::view::text::post_layout::ShownText;
use crate::view::theme::Theme;

/// The interval between frames while something moves.
const MOVING_INTERVAL: Duration = Duration::from_millis(16);
/// The interval between two frames while nothing happens: short enough for the clock and for external input.
const IDLE_INTERVAL: Duration = Duration::from_millis(200);
/// The interval while the room is paused: only external input can change anything.
const PAUSED_INTERVAL: Duration = Duration::from_secs(1);
/// The interval while a requested operation is in progress.
const BUSY_INTERVAL: Duration = Duration::from_millis(100);
/// The minimum interval while another window has the focus.
const UNFOCUSED_INTERVAL: Duration = Duration::from_millis(33);
/// How long after the last input a person is assumed to be watching, in seconds.
const WATCHING_SECS: f64 = 4.0;

/// The window's state between frames.
pub struct Screen {
    /// The UI state.
    pub state: UiState,
    shell: Shell,
    art: Option<Art>,
    text: ShownText,
    dropped: Vec<std::path::PathBuf>,
    wants_to_quit: bool,
    /// Whether to close as soon as no work is running.
    quits_when_done: bool,
    /// Whether the window closes as soon as all files are saved.
    quits_when_saved: bool,
    close_requested: bool,
    pixels_per_point: f32,
    /// The theme that was requested at the start, until the person chooses another.
    requested_dark: Option<bool>,
    /// The person's theme setting at that time.
    initial_light: ThemeChoice,
    services: WindowServices,
    /// When the person last gave input, in seconds since the window opened.
    last_input_secs: f64,
    /// Time until the next frame, as requested by the last one.
    next_frame: Duration,
    modifiers: egui::Modifiers,
}

impl Screen {
    /// A new screen without saved state.
    pub fn new(dark: Option<bool>) -> Self {
        Self::with_services(dark, WindowServices::default())
    }

    /// A screen with the saved state of these services.
    pub fn with_services(dark: Option<bool>, services: WindowServices) -> Self {
        let mut state = UiState::default();
        state.appearance = Appearance::of(dark.unwrap_or(false));
        let mut shell = Shell::default();
        services.restore(&mut state, &mut shell.parts);
        Self {
            initial_light: state.appearance.look.light,
            requested_dark: dark,
            services,
            state,
            shell,
            art: None,
            text: ShownText::default(),
            dropped: Vec::new(),
            wants_to_quit: false,
            quits_when_done: false,
            quits_when_saved: false,
            close_requested: false,
            pixels_per_point: 1.0,
            last_input_secs: 0.0,
            next_frame: MOVING_INTERVAL,
            modifiers: egui::Modifiers::NONE,
        }
    }

    /// Adds a pane, with its commands.
    pub fn add_pane(&mut self, pane: Box<dyn Pane>) {
        self.shell.add_pane(pane);
    }

    /// Draws one frame, and executes the commands given in it.
    pub fn frame(&mut self, context: &Context, room: &mut OpenRoom, mut input: RawInput) -> FullOutput {
        // `bevy_egui` reports the held modifiers in every frame, and `egui` takes any event as a reason to repaint.
        let held = &mut self.modifiers;
        input.events.retain(|event| match event {
            Event::ModifiersChanged(now) => std::mem::replace(held, *now) != *now,
            _ => true,
        });
        self.apply_theme(context, room);
        self.state.time.now_secs = room.now_secs();
        // Before drawing: unsaved text of one workspace must not be saved in another.
        if command_handling::continue_pending(room, &mut self.state, &mut self.shell.parts) {
            self.services.move_to(room, &mut self.state, &mut self.shell.parts);
        }
        if !input.events.is_empty() || !self.dropped.is_empty() {
            self.last_input_secs = self.state.time.now_secs;
        }
        super::gpu_errors::note_shown();
        let looked_at = self.state.detail_targets();
        let wanted = DetailRequest {
            camera: &self.state.view.camera,
            things: &looked_at,
            overlay: self.state.view.debug_overlay,
            share: 1.0,
        };
        let mut model = room.model(&wanted);
        let is_watched = self.state.time.now_secs - self.last_input_secs < WATCHING_SECS;
        let is_lively = room.is_active || (is_watched && !model.paused);
        if is_lively {
            self.state.time.room_secs = self.state.time.now_secs;
        }
        self.services.before_frame(room, &model, &mut self.state, &mut self.shell.parts);
        let known = room.world().and_then(|world| world.get_resource::<KnowledgeBridge>()?.search());
        self.state.memories.search = known;
        self.state.jobs = room.running().chain(self.services.running()).collect();
        let mut commands = self.drops(context);
        if std::mem::take(&mut self.close_requested) {
            commands.push(Command::Quit);
        }
        let Some(art) = &self.art else { return FullOutput::default() };
        let (shell, state, recent) = (&mut self.shell, &mut self.state, &room.recent);
        let mut output = context.run_ui(input, |ui| commands.extend(shell.show(ui, &mut model, recent, art, state)));
        self.text.finish(context, &mut output);
        if let Some(wanted) = self.text.take_missing_characters() {
            self.services.find_fonts(wanted);
        }
        self.next_frame = match (is_lively, model.paused) {
            (true, _) => MOVING_INTERVAL,
            (false, true) => PAUSED_INTERVAL,
            (false, false) => IDLE_INTERVAL,
        };
        if !commands.is_empty() {
            self.next_frame = Duration::ZERO;
        }
        for command in commands {
            match command_handling::handle_command(room, &model, &mut self.state, &mut self.shell, command) {
                Outcome::Done => {}
                Outcome::Quit => self.wants_to_quit = true,
                Outcome::QuitWhenSaved => self.quits_when_saved = true,
                Outcome::QuitWhenDone(is_so) => self.quits_when_done = is_so,
                Outcome::Open(url) => context.open_url(egui::OpenUrl::new_tab(url)),
                Outcome::Service(command) => {
                    let window = (&mut self.state, &self.shell.parts);
                    self.services.perform(context, room, &model, window, *command);
                }
            }
        }
        self.quit_when_saved();
        if self.quits_when_done && model.work.pieces.is_empty() {
            self.wants_to_quit = true;
        }
        self.services.after_frame(&model, &self.state, &self.shell.parts);
        if self.services.is_busy() || room.file_cache.is_busy() {
            self.next_frame = self.next_frame.min(BUSY_INTERVAL);
        }
        let animates = output.viewport_output.get(&ViewportId::ROOT).map(|viewport| viewport.repaint_delay);
        self.next_frame = animates.map_or(self.next_frame, |delay| self.next_frame.min(delay.max(MOVING_INTERVAL)));
        room.reuse(model);
        output
    }

    /// Closes the window once all files are saved; it stays open if one could not be saved.
    fn quit_when_saved(&mut self) {
        let panes = &self.shell.parts.panes;
        if !self.quits_when_saved || panes.iter().any(|pane| pane.is_saving()) {
            return;
        }
        self.quits_when_saved = false;
        match panes.unsaved().as_slice() {
            [] => self.wants_to_quit = true,
            unsaved => {
                let text = format!("Not saved: {}. The window stays open.", unsaved.join(", "));
                self.state.notify(text, false);
            }
        }
    }

    /// Applies the theme, the text size, and drawings for the display's scale.
    fn apply_theme(&mut self, context: &Context, room: &mut OpenRoom) {
        let AppearancePreferences { light, text_size, calm, dates } = self.state.appearance.look;
        self.state.appearance.dates.language = dates;
        match self.requested_dark.filter(|dark| *dark == self.state.appearance.is_dark() && light == self.initial_light)
        {
            Some(_) => {}
            None => {
                self.requested_dark = None;
                let system_is_dark = context.system_theme().map(|system| system == egui::Theme::Dark);
                self.state.appearance.follow_light(system_is_dark);
            }
        }
        context.options_mut(|options| options.zoom_with_keyboard = false);
        context.set_zoom_factor(text_size);
        fonts::install(context);
        if let Some(found) = self.services.take_fonts() {
            self.text.add(context, found);
        }
        Theme::of(self.state.appearance.is_dark()).apply(context);
        context.all_styles_mut(|style| style.animation_time = if calm { 0.0 } else { 1.0 / 12.0 });
        let pixels_per_point = context.pixels_per_point();
        if self.art.is_none() || (self.pixels_per_point - pixels_per_point).abs() > 0.01 {
            let (art, problems) = Art::load(context, pixels_per_point);
            room.notices.extend(problems);
            self.art = Some(art);
            self.pixels_per_point = pixels_per_point;
        }
    }

    /// Files that were dropped from the desktop are imported at the drop position.
    fn drops(&mut self, context: &Context) -> Vec<Command> {
        if self.dropped.is_empty() {
            return Vec::new();
        }
        let camera = &self.state.view.camera;
        let pointer = context.input(|input| input.pointer.latest_pos());
        let pointer = pointer.filter(|pointer| camera.viewport.contains(*pointer));
        let over = context.input(|input| input.pointer.latest_pos());
        let panes = &self.shell.parts.panes;
        if let Some(folder) = over.and_then(|pointer| panes.iter().find_map(|pane| pane.drop_folder(pointer))) {
            let folder = Some(folder).filter(|folder| !folder.is_empty());
            return vec![Command::ImportFiles { paths: std::mem::take(&mut self.dropped), folder }];
        }
        let position = pointer.map_or(camera.middle, |pointer| camera.to_world(pointer));
        let place = DropPlace { position, exactly: context.input(|input| create::is_exact(input.modifiers)) };
        vec![Command::Import { paths: std::mem::take(&mut self.dropped), place }]
    }
}

/// Runs the ticks that are due.
pub(super) fn run_due_ticks(mut room: NonSendMut<OpenRoom>) {
    room.live();
}

/// Handles the close button of the window's frame like any other way to close it.
pub(super) fn take_close_request(mut requests: MessageReader<WindowCloseRequested>, mut screen: NonSendMut<Screen>) {
    screen.close_requested |= requests.read().count() > 0;
}

/// Records files that are dropped from the desktop, with the drop position.
pub(super) fn take_dropped_files(mut drops: MessageReader<FileDragAndDrop>, mut screen: NonSendMut<Screen>) {
    for drop in drops.read() {
        match drop {
            FileDragAndDrop::DroppedFile { path_buf, .. } => {
                screen.dropped.push(path_buf.clone());
                screen.state.transfer.hovering_files.clear();
            }
            FileDragAndDrop::HoveredFile { path_buf, .. } => {
                let name = path_buf.file_name().map(|name| name.to_string_lossy().into_owned());
                screen.state.transfer.hovering_files.extend(name);
            }
            FileDragAndDrop::HoveredFileCanceled { .. } => screen.state.transfer.hovering_files.clear(),
        }
    }
}

/// Records the size of the window, to restore it.
pub(super) fn note_size(windows: Query<&Window, With<PrimaryWindow>>, mut screen: NonSendMut<Screen>) {
    let Ok(window) = windows.single() else { return };
    // A maximized window says nothing about the preferred size.
    if window.mode == WindowMode::Windowed {
        screen.services.size = Some((window.width().round() as u32, window.height().round() as u32));
    }
}

/// Draws the window. The only system that runs `egui`.
pub(super) fn draw(
    mut contexts: Query<(&mut EguiContext, &mut EguiInput, &mut EguiFullOutput), With<PrimaryEguiContext>>,
    mut room: NonSendMut<OpenRoom>,
    mut screen: NonSendMut<Screen>,
) {
    let Ok((mut context, mut input, mut output)) = contexts.single_mut() else { return };
    let context = context.get_mut().clone();
    **output = Some(screen.frame(&context, &mut room, input.take()));
}

/// Sets the frame rate: high while something moves, low otherwise.
pub(super) fn set_frame_rate(
    screen: NonSend<Screen>,
    hidden: Res<Hidden>,
    keys: Res<WaitingKeys>,
    mut settings: ResMut<WinitSettings>,
    mut redraws: ResMut<Messages<RequestRedraw>>,
) {
    // `bevy_egui` requests the next frame at once even if `egui` wants one after a while, for instance for a caret.
    redraws.clear();
    let next_frame = if keys.are_waiting() { Duration::ZERO } else { screen.next_frame };
    let seldom = next_frame.max(UNFOCUSED_INTERVAL);
    // A minimised window may still be reported as focused.
    let focused = UpdateMode::reactive(if hidden.is_hidden() { seldom } else { next_frame });
    let unfocused = UpdateMode::reactive_low_power(seldom);
    if settings.focused_mode != focused || settings.unfocused_mode != unfocused {
        settings.focused_mode = focused;
        settings.unfocused_mode = unfocused;
    }
}

/// Exits when the person requested it.
pub(super) fn quit(screen: NonSend<Screen>, mut exit: MessageWriter<AppExit>) {
    if screen.wants_to_quit {
        exit.write(AppExit::Success);
    }
}

/// Saves the room when the window closes.
pub(super) fn close_room(
    mut exits: MessageReader<AppExit>,
    windows: Query<&Window, With<PrimaryWindow>>,
    driver_failure: Res<DriverFailure>,
    mut room: NonSendMut<OpenRoom>,
    mut screen: NonSendMut<Screen>,
) {
    if exits.read().count() > 0 || windows.is_empty() {
        let Screen { services, shell, .. } = &mut *screen;
        services.check_drafts(&shell.parts);
        services.close();
        room.close(if driver_failure.why().is_some() {
            "the graphics driver gave up"
        } else {
            "the window was closed"
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::app::room::OpenOptions;
    use crate::schedule::SimClock;
    use crate::ui::panes::editor::{Draft, Editors};
    use crate::view::model::RoomModel;
    use crate::workspace::starter;

    #[test]
    fn a_paused_room_draws_rarely() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        starter::init(folder.path()).expect("the starter kit can be written");
        let options = OpenOptions { folder: folder.path().to_owned(), ..OpenOptions::trusted() };
        let mut room = OpenRoom::open(options).expect("the starter scene opens");
        room.run_ticks(60);
        room.world().expect("it is open").resource_mut::<SimClock>().paused = true;
        let mut screen = Screen::new(Some(false));
        let context = Context::default();
        let mut rests = 0;
        for frame in 0..60 {
            room.live();
            room.recent.bubbles.clear();
            room.recent.pulses.clear();
            room.recent.reactions.clear();
            let size = egui::vec2(1280.0, 800.0);
            let input = RawInput {
                screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size)),
                time: Some(f64::from(frame) / 10.0),
                events: vec![Event::ModifiersChanged(egui::Modifiers::NONE)],
                ..RawInput::default()
            };
            let mut output = screen.frame(&context, &mut room, input);
            output.textures_delta.clear();
            rests = if screen.next_frame >= IDLE_INTERVAL { rests + 1 } else { 0 };
        }
        assert!(rests > 20, "it rested for {rests} frames: {:?}", context.repaint_causes());
        room.close("tested");
    }

    #[test]
    fn drafts_stay_in_their_workspace_when_another_is_opened() {
        let workspace = || {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            starter::init(folder.path()).expect("the starter kit can be written");
            folder
        };
        let (one, other) = (workspace(), workspace());
        let options = OpenOptions { folder: one.path().to_owned(), ..OpenOptions::trusted() };
        let mut room = OpenRoom::open(options).expect("the starter scene opens");
        let services = WindowServices::of(&mut room, None);
        let mut screen = Screen::with_services(Some(false), services);
        let draft =
            Draft { path: "agents/writer.md".into(), base: None, text: "mine".into(), applies_when_idle: false };
        screen.shell.parts.panes.get_mut::<Editors>().expect("every window has it").restore(vec![draft]);
        let model = RoomModel::default();
        let Outcome::Service(job) = command_handling::handle_command(
            &mut room,
            &model,
            &mut screen.state,
            &mut screen.shell,
            Command::OpenWorkspace(other.path().to_owned()),
        ) else {
            panic!("it is opened beside the frames")
        };
        let context = Context::default();
        screen.services.perform(&context, &mut room, &model, (&mut screen.state, &screen.shell.parts), *job);
        let began = Instant::now();
        while room.folder() != other.path() && began.elapsed() < Duration::from_secs(30) {
            room.live();
            let size = egui::vec2(1280.0, 800.0);
            let screen_rect = Some(egui::Rect::from_min_size(egui::Pos2::ZERO, size));
            let mut output = screen.frame(&context, &mut room, RawInput { screen_rect, ..RawInput::default() });
            output.textures_delta.clear();
        }
        assert_eq!(room.folder(), other.path());
        assert!(screen.shell.parts.panes.unsaved().is_empty());
        let drafts = |folder: &tempfile::TempDir| folder.path().join(".workshop/drafts.json").exists();
        assert!(drafts(&one) && !drafts(&other));
        room.close("tested");
    }
}
