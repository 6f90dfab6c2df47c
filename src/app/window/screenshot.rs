//! A picture of the window, drawn on the processor: the same room, panels and all, with no display and no GPU.

use std::path::Path;

use egui::{ColorImage, Context, vec2};

use super::open_room::OpenRoom;
use crate::ui::UiState;
use crate::ui::shell::Shell;
use crate::view::art::Art;
use crate::view::raster::{PictureError, Rasteriser, write_png};
use crate::view::reading::Wanted;
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

/// The room as the window would show it in this state.
pub fn picture(room: &mut OpenRoom, options: &PictureOptions, state: &mut UiState) -> ColorImage {
    let context = Context::default();
    Theme::of(state.dark).apply(&context);
    context.set_pixels_per_point(options.pixels_per_point);
    let (art, problems) = Art::load(&context, options.pixels_per_point);
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
