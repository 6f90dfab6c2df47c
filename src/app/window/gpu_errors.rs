//! Handles failures to show a window: the reason, what to do instead, and saving the room.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use bevy::app::{App, AppExit};
use bevy::ecs::prelude::*;
use bevy::render::error_handler::{RenderError, RenderErrorHandler, RenderErrorPolicy};
use bevy::render::render_resource::PollType;
use bevy::render::renderer::RenderDevice;
use bevy::render::{Render, RenderApp, RenderSystems};
use thiserror::Error;

/// Why a window could not be shown, or closed by itself.
#[derive(Debug, Error)]
pub enum WindowError {
    /// There is no display, or it does not respond.
    #[error("no window can be opened on this display: {0}")]
    Display(String),
    /// There is no graphics adapter.
    #[error("no graphics driver was found")]
    Graphics,
    /// The graphics driver failed while the window was open.
    #[error("the graphics driver failed: {0}; the room was saved")]
    Driver(String),
}

impl WindowError {
    /// What the person can do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Display(_) => {
                "check that the display is available, run the room in the terminal with: workshop run, or draw \
                 it with: workshop --screenshot room.png"
            }
            Self::Graphics => {
                "install a Vulkan or OpenGL driver (Mesa's works without a graphics card: mesa-vulkan-drivers on \
                 Debian), run the room in the terminal with: workshop run, or draw it with: workshop \
                 --screenshot room.png"
            }
            Self::Driver(_) => "restart the workshop: it continues where it stopped",
        }
    }
}

/// Whether a frame has been drawn. From then on, a panic is a bug of this program and is reported in full.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Why the graphics driver failed, if it did. Shared by the window's world and the code that shows the window.
#[derive(Resource, Clone, Default)]
pub(super) struct DriverFailure(Arc<Mutex<Option<String>>>);

impl DriverFailure {
    /// Records the first reason; later ones are consequences.
    fn note(&self, why: String) {
        if let Ok(mut known) = self.0.lock() {
            known.get_or_insert(why);
        }
    }

    /// Why the driver failed, if it did.
    pub(super) fn why(&self) -> Option<String> {
        self.0.lock().ok().and_then(|why| why.clone())
    }
}

/// Records that the window is shown.
pub(super) fn note_shown() {
    SHOWN.store(true, Ordering::Relaxed);
}

/// Creates and shows a window. Bevy panics without a display or a graphics device; that becomes an error.
pub(super) fn guarded(show: impl FnOnce(&DriverFailure) -> AppExit) -> Result<AppExit, WindowError> {
    let driver_failure = DriverFailure::default();
    let before = Arc::new(std::panic::take_hook());
    let (is_known, usual) = (driver_failure.clone(), Arc::clone(&before));
    std::panic::set_hook(Box::new(move |info| {
        // The rest of a lost device panics during teardown; the reason has already been reported.
        if SHOWN.load(Ordering::Relaxed) && is_known.why().is_none() {
            usual(info);
        }
    }));
    let outcome = catch_unwind(AssertUnwindSafe(|| show(&driver_failure)));
    std::panic::set_hook(Box::new(move |info| before(info)));
    match (driver_failure.why(), outcome) {
        (Some(why), _) => Err(WindowError::Driver(why)),
        (None, Ok(exit)) => Ok(exit),
        (None, Err(panic)) if SHOWN.load(Ordering::Relaxed) => std::panic::resume_unwind(panic),
        (None, Err(panic)) => Err(panic_error(panic.as_ref())),
    }
}

fn panic_error(panic: &(dyn Any + Send)) -> WindowError {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("for an unknown reason");
    if text.contains("find a GPU") || text.contains("adapter") {
        return WindowError::Graphics;
    }
    WindowError::Display(text.lines().next().unwrap_or_default().chars().take(200).collect())
}

/// If the driver fails (it was updated or reset, a card was unplugged), closes the window and saves the room: after
/// requesting another device, Bevy would be left with a surface of the old one.
pub(super) fn watch_driver(app: &mut App, driver_failure: &DriverFailure) {
    app.insert_resource(driver_failure.clone()).insert_resource(RenderErrorHandler(note_render_error));
    if let Some(render) = app.get_sub_app_mut(RenderApp) {
        render.add_systems(Render, ask_the_device.in_set(RenderSystems::Cleanup));
    }
}

/// Bevy calls this between two frames. The window closes in the next frame, as when a person closes it; an exit
/// requested here would come after the last system has run.
fn note_render_error(error: &RenderError, window: &mut World, _: &mut World) -> RenderErrorPolicy {
    let what = error.description.lines().next().unwrap_or_default();
    window.resource::<DriverFailure>().note(format!("{:?} {what}", error.ty).trim_end().to_owned());
    RenderErrorPolicy::StopRendering
}

/// Polls the device: a lost device only reports that when it is polled, and a failed frame does not poll it.
fn ask_the_device(device: Res<RenderDevice>) {
    // Whether the queue is empty does not matter.
    let _ = device.poll(PollType::Poll);
}

/// Closes the window once the driver has failed.
pub(super) fn exit_on_driver_failure(driver_failure: Res<DriverFailure>, mut exit: MessageWriter<AppExit>) {
    if driver_failure.why().is_some() {
        exit.write(AppExit::error());
    }
}

#[cfg(test)]
mod tests {
    use bevy::app::Last;
    use bevy::render::error_handler::ErrorType;

    use super::super::frame::{Screen, close_room};
    use super::super::open_room::OpenRoom;
    use super::*;
    use crate::app::room::OpenOptions;
    use crate::workspace::starter;

    /// Simulates a driver failure in the third frame.
    fn driver_gives_up(room: OpenRoom, driver_failure: &DriverFailure) -> AppExit {
        let mut app = App::new();
        app.insert_non_send(room).insert_non_send(Screen::new(None));
        watch_driver(&mut app, driver_failure);
        app.add_systems(Last, (exit_on_driver_failure, close_room).chain());
        app.world_mut().spawn((bevy::window::Window::default(), bevy::window::PrimaryWindow));
        for _ in 0..2 {
            app.update();
            assert_eq!(app.should_exit(), None);
            assert!(app.world_mut().non_send_mut::<OpenRoom>().world().is_some(), "the room is open");
        }
        let mut drawing = World::new();
        for description in ["reset by the kernel\nand more", "what follows from it"] {
            let error = RenderError { ty: ErrorType::DeviceLost, description: description.to_owned(), source: None };
            let policy = note_render_error(&error, app.world_mut(), &mut drawing);
            assert!(matches!(policy, RenderErrorPolicy::StopRendering));
        }
        app.update();
        assert!(app.world_mut().non_send_mut::<OpenRoom>().world().is_none(), "the room is saved and closed");
        let exit = app.should_exit().expect("the window ends");
        // Like the rest of a lost device during teardown.
        std::panic::panic_any(format!("a surface without a device: {exit:?}"));
    }

    #[test]
    fn a_driver_failure_saves_the_room_and_reports_the_first_reason() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        starter::init(folder.path()).expect("the starter kit can be written");
        let options = OpenOptions { folder: folder.path().to_owned(), ..OpenOptions::trusted() };
        let mut room = OpenRoom::open(options.clone()).expect("the starter scene opens");
        room.run_ticks(30);
        let ended = guarded(|driver_failure| driver_gives_up(room, driver_failure));
        let error = ended.expect_err("the program fails");
        assert_eq!(error.to_string(), "the graphics driver failed: DeviceLost reset by the kernel; the room was saved");
        assert!(error.remedy().contains("continues where it stopped"));
        let mut again = OpenRoom::open(options).expect("it opens again");
        let tick = again.world().expect("it is open").resource::<crate::schedule::SimClock>().tick();
        assert!(tick >= 30, "it goes on where it was, and not at {tick}");
        again.close("tested");
    }

    #[test]
    fn bevy_panics_become_errors_with_a_remedy() {
        let panics: [(Box<dyn Any + Send>, &str); 3] = [
            (Box::new("Unable to find a GPU! Make sure you have installed required drivers!"), "no graphics driver"),
            (Box::new("Failed to build event loop: Os(X11 cannot be reached)".to_owned()), "X11 cannot be reached"),
            (Box::new(7_u8), "for an unknown reason"),
        ];
        for (panic, wanted) in panics {
            let error = panic_error(panic.as_ref());
            assert!(error.to_string().contains(wanted), "{error}");
            assert!(error.remedy().contains("workshop run"));
        }
    }
}
