//! The icon of the program's window and task bar entry.

use bevy::ecs::prelude::*;
use bevy::ecs::system::NonSendMarker;
use bevy::window::PrimaryWindow;
use bevy::winit::WINIT_WINDOWS;
use winit::window::Icon;

use crate::view::art::picture_of;

/// The drawing that is also installed with the desktop entry.
const DRAWING: &str = include_str!("../../../assets/desktop/agent-workshop.svg");
/// Side of the icon in pixels; systems scale it down.
const PIXELS: u32 = 128;

/// Sets the icon of the window as soon as it exists. On systems that use only desktop entries, this has no effect.
pub(super) fn set_icon(
    windows: Query<Entity, With<PrimaryWindow>>,
    mut is_set: Local<bool>,
    // Windows can only be accessed on the main thread.
    _: NonSendMarker,
) {
    let Ok(window) = windows.single() else { return };
    if *is_set {
        return;
    }
    WINIT_WINDOWS.with_borrow(|windows| {
        if let Some(window) = windows.get_window(window) {
            *is_set = true;
            window.set_window_icon(icon());
        }
    });
}

fn icon() -> Option<Icon> {
    let pixels = picture_of(DRAWING, PIXELS)?;
    Icon::from_rgba(pixels, PIXELS, PIXELS).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_drawing_becomes_an_icon_with_clear_corners() {
        let pixels = picture_of(DRAWING, PIXELS).expect("the drawing can be read");
        assert_eq!(pixels.len(), (PIXELS * PIXELS * 4) as usize);
        assert_eq!(pixels[3], 0, "the corner is clear");
        let middle = ((PIXELS / 2 * PIXELS + PIXELS / 2) * 4) as usize;
        assert_eq!(pixels[middle + 3], 255);
        assert!(icon().is_some());
    }
}
