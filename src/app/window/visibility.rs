//! Whether any part of the window is visible. The room continues behind other windows and when minimised; only drawing
//! stops.

use std::time::{Duration, Instant};

use bevy::camera::Camera;
use bevy::ecs::message::MessageReader;
use bevy::ecs::prelude::*;
use bevy::ecs::system::NonSendMarker;
use bevy::window::{PrimaryWindow, WindowOccluded};
use bevy::winit::WINIT_WINDOWS;

/// Whether the window is hidden.
#[derive(Resource, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Hidden {
    is_covered: bool,
    is_minimised: bool,
}

impl Hidden {
    /// Whether no part of the window is visible.
    pub(super) fn is_hidden(self) -> bool {
        self.is_covered || self.is_minimised
    }
}

/// Interval at which a minimised window is checked: there is no event for it, and each check is a call to the display
/// server.
const MINIMISED_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Checks whether the window is visible.
pub(super) fn check(
    mut occlusions: MessageReader<WindowOccluded>,
    windows: Query<Entity, With<PrimaryWindow>>,
    mut hidden: ResMut<Hidden>,
    mut asked: Local<Option<Instant>>,
    // Windows can only be accessed on the main thread.
    _: NonSendMarker,
) {
    let mut now = *hidden;
    let occlusion = occlusions.read().last();
    if let Some(message) = occlusion {
        now.is_covered = message.occluded;
    }
    if occlusion.is_some() || asked.is_none_or(|asked| asked.elapsed() >= MINIMISED_CHECK_INTERVAL) {
        now.is_minimised = windows.single().is_ok_and(is_minimised);
        *asked = Some(Instant::now());
    }
    if hidden.set_if_neq(now) {
        tracing::debug!("how much of the window is hidden: {now:?}");
    }
}

fn is_minimised(window: Entity) -> bool {
    WINIT_WINDOWS
        .with_borrow(|windows| windows.get_window(window).and_then(|window| window.is_minimized()) == Some(true))
}

/// Disables the cameras while the window is not visible.
pub(super) fn pause_cameras(hidden: Res<Hidden>, mut cameras: Query<&mut Camera>) {
    if hidden.is_changed() {
        for mut camera in &mut cameras {
            camera.is_active = !hidden.is_hidden();
        }
    }
}

#[cfg(test)]
mod tests {
    use bevy::app::{App, Update};

    use super::*;

    #[test]
    fn a_hidden_window_is_not_drawn() {
        let mut app = App::new();
        app.add_message::<WindowOccluded>().init_resource::<Hidden>();
        app.add_systems(Update, (check, pause_cameras).chain());
        let camera = app.world_mut().spawn(Camera::default()).id();
        let window = app.world_mut().spawn((bevy::window::Window::default(), PrimaryWindow)).id();
        for occluded in [false, true, true, false] {
            app.world_mut().write_message(WindowOccluded { window, occluded });
            app.update();
            app.update();
            let camera = app.world().get::<Camera>(camera).expect("it stays");
            assert_eq!(camera.is_active, !occluded);
        }
    }
}
