//! The context in which an agent's requests are answered.

use std::path::Path;

use super::terminals::{TerminalEnvironment, Terminals};
use crate::mind::ResultImages;

/// Everything that answers need besides the results of calls.
pub(super) struct AnswerContext<'a> {
    /// The path of the workspace.
    pub(super) workspace: &'a Path,
    /// The terminals of the session.
    pub(super) terminals: &'a Terminals,
    /// Creates the environment in which a program is started.
    pub(super) terminal_environment: &'a (dyn Fn() -> TerminalEnvironment + Sync),
    /// The images in the results of calls.
    pub(super) images: &'a ResultImages,
    /// Whether the agent accepts images.
    pub(super) takes_images: bool,
}
