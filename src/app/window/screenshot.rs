//! Screenshots of the window, drawn on the CPU without a display or a GPU. The window's own renderer needs an adapter,
//! which a machine that runs the room from a command line often lacks, even in software; the rasteriser draws the same
//! triangles (reasons and measurements: `view::raster`).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use bevy::math::Vec2;
use egui::{ColorImage, Context, vec2};

use super::open_room::OpenRoom;
use crate::base::Problem;
use crate::log::now_ms;
use crate::ui::UiState;
use crate::ui::shell::Shell;
use crate::ui::shell::parts::WindowParts;
use crate::ui::state::Appearance;
use crate::ui::state::dock::Tab;
use crate::view::art::Art;
use crate::view::dates::Dates;
use crate::view::extract::DetailRequest;
use crate::view::model::RoomModel;
use crate::view::pick::RoomObject;
use crate::view::raster::{PictureError, Rasteriser, write_png};
use crate::view::recent_events::Recent;
use crate::view::text::fonts;
use crate::view::text::system_fonts::SystemFonts;
use crate::view::theme::Theme;

/// Number of frames until panels have found their sizes.
const FRAMES: usize = 8;

/// Maximum time that is waited for the content of panes.
const MAX_READ: Duration = Duration::from_secs(5);

/// The options of a screenshot.
#[derive(Clone, Debug)]
pub struct PictureOptions {
    /// Width and height in points.
    pub size: (u32, u32),
    /// Pixels per point.
    pub pixels_per_point: f32,
    /// Whether to use the dark theme.
    pub dark: bool,
    /// Whether the debug overlay is on.
    pub overlay: bool,
    /// The world position to centre, and the zoom; `None` for the whole room.
    pub look_at: Option<(Vec2, f32)>,
    /// The ids of selected agents and elements.
    pub selected: Vec<String>,
    /// The id of the element whose content is open.
    pub open: Option<String>,
    /// Whether to show the conversations in the sidebar.
    pub sidebar: bool,
    /// Panes and files to bring to the front, in this order.
    pub show: Vec<Tab>,
}

/// Writes a screenshot of the room.
pub fn write(room: &mut OpenRoom, options: &PictureOptions, file: &Path) -> Result<(), PictureError> {
    let mut state = state_of(room, options);
    write_png(&picture(room, options, &mut state), file)
}

/// The state of the window at one moment: everything needed to draw it again, on any thread.
pub struct WindowSnapshot {
    model: RoomModel,
    recent: Recent,
    state: UiState,
    parts: WindowParts,
    /// `egui`'s memory: open menus and panel sizes.
    memory: egui::Memory,
    size: egui::Vec2,
    pixels_per_point: f32,
}

impl WindowSnapshot {
    /// Captures the current state.
    pub fn of(context: &Context, model: &RoomModel, recent: &Recent, state: &UiState, parts: &WindowParts) -> Self {
        Self {
            model: model.clone(),
            recent: recent.clone(),
            state: state.clone(),
            parts: parts.clone(),
            memory: context.memory(Clone::clone),
            size: context.content_rect().size(),
            pixels_per_point: context.pixels_per_point(),
        }
    }

    /// Draws the screenshot, however long it takes.
    pub fn picture(self) -> ColorImage {
        let Self { mut model, recent, mut state, parts, memory, size, pixels_per_point } = self;
        let context = Context::default();
        context.memory_mut(|own| *own = memory);
        let (art, _) = lay_out(&context, state.appearance.is_dark(), pixels_per_point);
        let mut shell = Shell::of(parts);
        Rasteriser::with_fonts(SystemFonts::installed).picture_of(&context, size, pixels_per_point, FRAMES, |ui| {
            drop(shell.show(ui, &mut model, &recent, &art, &mut state));
        })
    }
}

/// Sets up the theme, scale and drawings of a screenshot.
fn lay_out(context: &Context, dark: bool, pixels_per_point: f32) -> (Art, Vec<Problem>) {
    fonts::install(context);
    Theme::of(dark).apply(context);
    // With few frames, nothing may be captured in the middle of an animation.
    context.all_styles_mut(|style| style.animation_time = f32::EPSILON);
    context.set_pixels_per_point(pixels_per_point);
    Art::load(context, pixels_per_point)
}

/// The UI state for a screenshot with these options.
fn state_of(room: &mut OpenRoom, options: &PictureOptions) -> UiState {
    let mut state = UiState::default();
    state.appearance = Appearance::of(options.dark);
    state.view.debug_overlay = options.overlay;
    state.notices.is_hint_closed = true;
    if options.sidebar {
        state.dock.show(&Tab::TALKS, |_| true);
    }
    if let Some(element) = &options.open {
        state.front.open_element(element.as_str().into());
    }
    for tab in &options.show {
        state.dock.show(tab, |_| true);
    }
    if let Some((middle, zoom)) = options.look_at {
        (state.view.camera.middle, state.view.camera.zoom, state.view.is_framed) = (middle, zoom, true);
    }
    let wanted = DetailRequest { camera: &state.view.camera, things: &BTreeSet::new(), overlay: false, share: 1.0 };
    let model = room.model(&wanted);
    let thing = |id: &String| {
        let is_agent = model.agent(id).is_some();
        if is_agent { RoomObject::Agent(id.as_str().into()) } else { RoomObject::Element(id.as_str().into()) }
    };
    state.selection.select(options.selected.iter().map(thing));
    state
}

/// Draws the room in this UI state.
pub fn picture(room: &mut OpenRoom, options: &PictureOptions, state: &mut UiState) -> ColorImage {
    let context = Context::default();
    let (art, problems) = lay_out(&context, state.appearance.is_dark(), options.pixels_per_point);
    room.notices.extend(problems);
    let mut shell = Shell::default();
    (state.time.now_secs, state.time.room_secs) = (room.now_secs(), room.now_secs());
    let size = vec2(options.size.0 as f32, options.size.1 as f32);
    state.appearance.dates = Dates::here(state.appearance.look.dates);
    state.time.born_ms = now_ms();
    Rasteriser::with_fonts(SystemFonts::installed).picture_of(&context, size, options.pixels_per_point, FRAMES, |ui| {
        serve(room, state);
        let looked_at = state.detail_targets();
        let wanted = DetailRequest {
            camera: &state.view.camera,
            things: &looked_at,
            overlay: state.view.debug_overlay,
            share: 1.0,
        };
        let mut model = room.model(&wanted);
        // Nobody clicks, so commands are discarded.
        drop(shell.show(ui, &mut model, &room.recent, &art, state));
    })
}

/// Loads the content that panes requested, waiting for it.
fn serve(room: &mut OpenRoom, state: &mut UiState) {
    let is_log_written = room.is_log_written();
    let OpenRoom { file_cache, recent, .. } = room;
    for _ in 0..2 {
        let _run = file_cache.update(&mut state.texts, &mut recent.book, is_log_written, state.time.now_secs);
        file_cache.wait(MAX_READ);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::app::room::OpenOptions;
    use crate::workspace::starter;

    fn options(size: (u32, u32), pixels_per_point: f32, dark: bool) -> PictureOptions {
        PictureOptions {
            size,
            pixels_per_point,
            dark,
            overlay: false,
            look_at: None,
            selected: Vec::new(),
            open: None,
            sidebar: false,
            show: Vec::new(),
        }
    }

    /// Named screenshots of typical window states.
    fn shots() -> Vec<(&'static str, PictureOptions)> {
        let usual = || options((1280, 800), 1.0, false);
        let evening = || options((1280, 800), 1.0, true);
        let agents = ["researcher-1", "writer-1", "designer-1"].map(str::to_owned).to_vec();
        vec![
            ("day", usual()),
            ("evening", evening()),
            ("agent", PictureOptions { selected: vec!["researcher-1".to_owned()], ..usual() }),
            ("several", PictureOptions { selected: [agents, vec!["ideas".to_owned()]].concat(), ..evening() }),
            ("element", PictureOptions { selected: vec!["ideas".to_owned()], ..usual() }),
            ("files", PictureOptions { show: vec![Tab::file("agents/orchestrator.md"), Tab::LOG], ..usual() }),
            ("graph", PictureOptions { show: vec![Tab::GRAPH], ..evening() }),
            ("talks", PictureOptions { sidebar: true, ..usual() }),
            ("pinboard", PictureOptions { open: Some("ideas".to_owned()), ..usual() }),
            ("board", PictureOptions { open: Some("news".to_owned()), ..evening() }),
            ("rules", PictureOptions { open: Some("rules".to_owned()), ..usual() }),
            ("inbox", PictureOptions { open: Some("ada-mail".to_owned()), ..evening() }),
            ("details", PictureOptions { overlay: true, ..usual() }),
            ("large", options((1920, 1080), 1.0, true)),
            ("tall", options((480, 800), 1.0, false)),
            ("tiny", options((200, 200), 1.0, true)),
            ("crisp", options((900, 600), 2.0, false)),
            ("close", PictureOptions { look_at: Some((Vec2::new(20.0, 190.0), 2.2)), ..usual() }),
            ("far", PictureOptions { look_at: Some((Vec2::ZERO, 0.2)), ..evening() }),
        ]
    }

    #[test]
    fn screenshots_show_the_window_as_configured() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        starter::init(folder.path()).expect("the starter kit can be written");
        let provider = Some("offline".to_owned());
        let open = OpenOptions { folder: folder.path().to_owned(), provider, fresh: true, ..OpenOptions::trusted() };
        let mut room = OpenRoom::open(open).expect("the starter scene opens");
        room.run_ticks(900);
        for (name, options) in shots() {
            let mut state = state_of(&mut room, &options);
            let picture = picture(&mut room, &options, &mut state);
            let wanted = [options.size.0, options.size.1].map(|side| (side as f32 * options.pixels_per_point) as usize);
            assert_eq!(picture.size, wanted, "{name}");
            let colours: HashSet<[u8; 4]> = picture.pixels.iter().map(|pixel| pixel.to_array()).collect();
            assert!(colours.len() > 300, "{name} shows only {} colours", colours.len());
            if let Ok(folder) = std::env::var("WORKSHOP_PICTURES") {
                let path = Path::new(&folder).join(format!("window-{name}.png"));
                write_png(&picture, &path).expect("the picture is kept");
            }
        }
        room.close("the pictures were drawn");
    }
}
