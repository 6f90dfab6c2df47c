//! A picture of the window, drawn on the processor: the same room, panels and all, with no display and no GPU.

use std::path::Path;

use egui::{ColorImage, Context, vec2};

use super::open_room::OpenRoom;
use crate::base::Problem;
use crate::ui::UiState;
use crate::ui::shell::Shell;
use crate::view::art::Art;
use crate::view::model::RoomModel;
use crate::view::raster::{PictureError, Rasteriser, write_png};
use crate::view::reading::Wanted;
use crate::view::recent::Recent;
use crate::view::theme::Theme;

/// Panels take a few frames to find their sizes.
const FRAMES: usize = 4;

/// How a picture is to look.
#[derive(Clone, Copy, Debug)]
pub struct PictureOptions {
    /// Width and height in points.
    pub size: (u32, u32),
    /// Pixels to a point.
    pub pixels_per_point: f32,
    /// Evening or day.
    pub dark: bool,
    /// Whether the debug overlay is on.
    pub overlay: bool,
}

/// Writes the room as the window would show it.
pub fn write(room: &mut OpenRoom, options: &PictureOptions, file: &Path) -> Result<(), PictureError> {
    let mut state = UiState { dark: options.dark, overlay: options.overlay, hint_closed: true, ..UiState::default() };
    write_png(&picture(room, options, &mut state), file)
}

/// The window as it was seen at one moment: everything that is needed to draw it again, on whatever thread.
pub struct Seen {
    model: RoomModel,
    recent: Recent,
    state: UiState,
    /// Which menus are open and how wide panels are.
    memory: egui::Memory,
    size: egui::Vec2,
    pixels_per_point: f32,
}

impl Seen {
    /// What is seen now.
    pub fn of(context: &Context, model: &RoomModel, recent: &Recent, state: &UiState) -> Self {
        Self {
            model: model.clone(),
            recent: recent.clone(),
            state: state.clone(),
            memory: context.memory(Clone::clone),
            size: context.content_rect().size(),
            pixels_per_point: context.pixels_per_point(),
        }
    }

    /// Draws it. Takes as long as it takes.
    pub fn picture(self) -> ColorImage {
        let Self { mut model, recent, mut state, memory, size, pixels_per_point } = self;
        let context = Context::default();
        context.memory_mut(|own| *own = memory);
        let (art, _) = lay_out(&context, state.dark, pixels_per_point);
        let mut shell = Shell::default();
        Rasteriser::default().picture_of(&context, size, pixels_per_point, FRAMES, |ui| {
            drop(shell.show(ui, &mut model, &recent, &art, &mut state));
        })
    }
}

/// Colours, scale and drawings for a picture.
fn lay_out(context: &Context, dark: bool, pixels_per_point: f32) -> (Art, Vec<Problem>) {
    Theme::of(dark).apply(context);
    context.set_pixels_per_point(pixels_per_point);
    Art::load(context, pixels_per_point)
}

/// The room as the window would show it in this state.
pub fn picture(room: &mut OpenRoom, options: &PictureOptions, state: &mut UiState) -> ColorImage {
    let context = Context::default();
    let (art, problems) = lay_out(&context, state.dark, options.pixels_per_point);
    room.notices.extend(problems);
    let mut shell = Shell::default();
    (state.now_secs, state.room_secs) = (room.now_secs(), room.now_secs());
    let size = vec2(options.size.0 as f32, options.size.1 as f32);
    Rasteriser::default().picture_of(&context, size, options.pixels_per_point, FRAMES, |ui| {
        let looked_at = state.looked_at();
        let wanted = Wanted { camera: &state.camera, things: &looked_at, overlay: state.overlay, share: 1.0 };
        let mut model = room.model(&wanted);
        // Nobody is there to click: what the panels ask for is not done.
        drop(shell.show(ui, &mut model, &room.recent, &art, state));
    })
}
