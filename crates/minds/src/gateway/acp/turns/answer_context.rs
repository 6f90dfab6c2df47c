//! The context in which an agent's requests are answered.

use std::path::Path;

use super::terminals::{TerminalEnvironment, Terminals};
use crate::mind::ResultImages;

/// Everything that answers need besides the results of calls.
pub(in crate::gateway::acp) struct AnswerContext<'a> {
    /// The path of the workspace.
    pub(in crate::gateway::acp) workspace: &'a Path,
    /// The terminals of the session.
    pub(in crate::gateway) terminals: &'a Terminals,
    /// Creates the environment in which a program is started.
    pub(in crate::gateway::acp) terminal_environment: &'a (dyn Fn() -> TerminalEnvironment + Sync),
    /// The images in the results of calls.
    pub(in crate::gateway::acp) images: &'a ResultImages,
    /// Whether the agent accepts images.
    pub(in crate::gateway::acp) takes_images: bool,
}
