//! Keeps a new window no larger than its screen, whose size is only known once the window exists.

use bevy::ecs::prelude::*;
use bevy::math::Vec2;
use bevy::window::{
    Monitor, MonitorSelection, OnMonitor, PrimaryMonitor, PrimaryWindow, Window, WindowMode, WindowPosition,
};

/// The assumed size of a window's frame and the desktop's bars, in points: no system reports it.
const BARS: Vec2 = Vec2::new(16.0, 80.0);
/// Number of frames after which a window is assumed to be on the main screen if the system does not say which one it is
/// on.
const PATIENCE_FRAMES: u32 = 10;

/// Shrinks and centres a newly opened window if it is larger than its screen. A person may enlarge it afterwards.
pub(super) fn fit_to_screen(
    mut windows: Query<(&mut Window, Option<&OnMonitor>), With<PrimaryWindow>>,
    monitors: Query<(&Monitor, Has<PrimaryMonitor>)>,
    mut frames: Local<u32>,
    mut is_done: Local<bool>,
) {
    if *is_done {
        return;
    }
    let Ok((mut window, on)) = windows.single_mut() else { return };
    *frames += 1;
    let reported_monitor = on.and_then(|on| monitors.get(on.0).ok());
    let is_guessed = *frames > PATIENCE_FRAMES;
    let guessed = || monitors.iter().find(|(_, is_primary)| *is_primary).or_else(|| monitors.single().ok());
    let Some((monitor, _)) = reported_monitor.or_else(|| is_guessed.then(guessed).flatten()) else {
        // If no screen is known, the window stays as it is.
        *is_done = is_guessed;
        return;
    };
    *is_done = true;
    let screen = monitor.physical_size().as_vec2() / window.scale_factor();
    let fitting = fitting(Vec2::new(window.width(), window.height()), screen);
    if let Some(size) = fitting.filter(|_| window.mode == WindowMode::Windowed) {
        window.resolution.set(size.x, size.y);
        window.position = WindowPosition::Centered(MonitorSelection::Current);
    }
}

/// The size of a window that fits on a screen; `None` if it fits already.
fn fitting(size: Vec2, screen: Vec2) -> Option<Vec2> {
    let fits = size.min((screen - BARS).max(super::MIN_SIZE)).floor();
    (screen.min_element() > 0.0 && fits.cmplt(size.floor()).any()).then_some(fits)
}

#[cfg(test)]
mod tests {
    use bevy::app::{App, Update};
    use bevy::math::IVec2;

    use super::*;

    fn monitor(width: u32, height: u32) -> Monitor {
        Monitor {
            name: None,
            physical_width: width,
            physical_height: height,
            physical_position: IVec2::ZERO,
            refresh_rate_millihertz: None,
            scale_factor: 1.0,
            video_modes: Vec::new(),
        }
    }

    /// The size of a default window after some frames with these screens; `is_told`: the system reports that it is on
    /// the first one.
    fn size_beside(screens: &[(u32, u32)], is_told: bool, scale: f32) -> (f32, f32) {
        let mut app = App::new();
        app.add_systems(Update, fit_to_screen);
        let mut window = Window { resolution: super::super::DEFAULT_SIZE.into(), ..Window::default() };
        window.resolution.set_scale_factor_and_apply_to_physical_size(scale);
        let window = app.world_mut().spawn((window, PrimaryWindow)).id();
        let screens: Vec<Entity> =
            screens.iter().map(|(width, height)| app.world_mut().spawn(monitor(*width, *height)).id()).collect();
        if is_told {
            app.world_mut().entity_mut(window).insert(OnMonitor(screens[0]));
        }
        for _ in 0..PATIENCE_FRAMES + 2 {
            app.update();
        }
        let window = app.world().get::<Window>(window).expect("it stays");
        (window.width(), window.height())
    }

    #[test]
    fn a_window_opens_no_larger_than_a_small_screen() {
        assert_eq!(size_beside(&[(1_024, 768)], true, 1.0), (1_008.0, 688.0));
        assert_eq!(size_beside(&[(1_024, 768)], false, 1.0), (1_008.0, 688.0), "there is no other screen");
        assert_eq!(size_beside(&[(1_024, 768), (3_840, 2_160)], true, 1.0), (1_008.0, 688.0));
    }

    #[test]
    fn a_window_keeps_its_size_if_it_fits_or_no_screen_is_known() {
        let (width, height) = super::super::DEFAULT_SIZE;
        let usual = (width as f32, height as f32);
        assert_eq!(size_beside(&[(1_920, 1_080)], true, 1.0), usual);
        assert_eq!(size_beside(&[], false, 1.0), usual);
        assert_eq!(size_beside(&[(1_024, 768), (800, 600)], false, 1.0), usual, "nobody says which screen it is on");
    }

    #[test]
    fn the_fitting_size_is_in_points_and_never_zero() {
        let fits = size_beside(&[(2_048, 1_536)], true, 2.0);
        assert_eq!(fits, (1_008.0, 688.0), "of a screen with two pixels to the point");
        assert_eq!(fitting(Vec2::new(1_280.0, 800.0), Vec2::new(120.0, 90.0)), Some(super::super::MIN_SIZE));
        assert_eq!(fitting(Vec2::new(1_280.0, 800.0), Vec2::ZERO), None, "a screen of no size is none");
    }

    #[test]
    fn a_person_may_make_it_larger_afterwards() {
        let mut app = App::new();
        app.add_systems(Update, fit_to_screen);
        let screen = app.world_mut().spawn(monitor(1_024, 768)).id();
        let window = app.world_mut().spawn((Window::default(), PrimaryWindow, OnMonitor(screen))).id();
        app.update();
        app.world_mut().get_mut::<Window>(window).expect("it should exist").resolution.set(2_000.0, 900.0);
        app.update();
        assert_eq!(app.world().get::<Window>(window).expect("it stays").width(), 2_000.0);
    }
}
