//! What happens where no window can be shown: the reason in words, what to do instead, and nothing lost.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use bevy::app::AppExit;
use bevy::ecs::prelude::*;
use bevy::render::error_handler::{RenderError, RenderErrorHandler, RenderErrorPolicy};
use thiserror::Error;

/// A window could not be shown, or ended by itself.
#[derive(Debug, Error)]
pub enum WindowError {
    /// There is no display, or it does not answer.
    #[error("no window can be opened on this display: {0}")]
    Display(String),
    /// There is nothing to draw with.
    #[error("there is no graphics driver to draw a window with")]
    Graphics,
    /// The graphics driver gave up while the window was open.
    #[error("the graphics driver gave up: {0}; the room was saved")]
    Driver(String),
}

impl WindowError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Display(_) => {
                "see that the display can be reached, let the room live in the terminal with: workshop run, or draw \
                 it with: workshop --screenshot room.png"
            }
            Self::Graphics => {
                "install a Vulkan or OpenGL driver (Mesa's works without a graphics card: mesa-vulkan-drivers on \
                 Debian), let the room live in the terminal with: workshop run, or draw it with: workshop \
                 --screenshot room.png"
            }
            Self::Driver(_) => "start the workshop again: it goes on where it was",
        }
    }
}

/// Whether a frame has been drawn: from then on a panic is a fault of ours and is told in full.
static SHOWN: AtomicBool = AtomicBool::new(false);
/// Why the driver gave up, if it did.
static GAVE_UP: Mutex<Option<String>> = Mutex::new(None);

/// Notes that the window is there.
pub(super) fn note_shown() {
    SHOWN.store(true, Ordering::Relaxed);
}

/// Builds and shows a window. Bevy panics where there is no display or nothing to draw with; that becomes an error.
pub(super) fn guarded(show: impl FnOnce() -> AppExit) -> Result<AppExit, WindowError> {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if SHOWN.load(Ordering::Relaxed) {
            before(info);
        }
    }));
    let outcome = catch_unwind(AssertUnwindSafe(show));
    drop(std::panic::take_hook());
    let gave_up = GAVE_UP.lock().ok().and_then(|mut why| why.take());
    match outcome {
        Ok(exit) if exit.is_error() => match gave_up {
            Some(why) => Err(WindowError::Driver(why)),
            None => Ok(exit),
        },
        Ok(exit) => Ok(exit),
        Err(panic) if SHOWN.load(Ordering::Relaxed) => std::panic::resume_unwind(panic),
        Err(panic) => Err(told(panic.as_ref())),
    }
}

fn told(panic: &(dyn Any + Send)) -> WindowError {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("for a reason it does not tell");
    if text.contains("find a GPU") || text.contains("adapter") {
        return WindowError::Graphics;
    }
    WindowError::Display(text.lines().next().unwrap_or_default().chars().take(200).collect())
}

/// Where the driver gives up (it was updated or reset, a card was unplugged), the window ends and the room is saved:
/// asking for another device leaves Bevy with a surface of the old one.
pub(super) fn render_errors() -> RenderErrorHandler {
    RenderErrorHandler(|error: &RenderError, window: &mut World, _: &mut World| {
        if let Ok(mut why) = GAVE_UP.lock() {
            *why = Some(format!("{:?} {}", error.ty, error.description.lines().next().unwrap_or_default()));
        }
        window.write_message(AppExit::error());
        RenderErrorPolicy::StopRendering
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bevy_says_before_it_gives_up_becomes_a_reason_and_a_remedy() {
        let panics: [(Box<dyn Any + Send>, &str); 3] = [
            (Box::new("Unable to find a GPU! Make sure you have installed required drivers!"), "no graphics driver"),
            (Box::new("Failed to build event loop: Os(X11 cannot be reached)".to_owned()), "X11 cannot be reached"),
            (Box::new(7_u8), "does not tell"),
        ];
        for (panic, wanted) in panics {
            let error = told(panic.as_ref());
            assert!(error.to_string().contains(wanted), "{error}");
            assert!(error.remedy().contains("workshop run"));
        }
    }
}
