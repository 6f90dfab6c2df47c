//! What answers to an agent's requests need besides the results of the room's calls.

use std::path::Path;

use super::terminals::{Ground, Terminals};
use crate::mind::ResultImages;

/// What answers need besides the results of calls.
pub(super) struct AnswerContext<'a> {
    /// The workspace.
    pub(super) workspace: &'a Path,
    /// The terminals of the session.
    pub(super) terminals: &'a Terminals,
    /// What a program is started with.
    pub(super) ground: &'a (dyn Fn() -> Ground + Sync),
    /// Images in the results of calls.
    pub(super) images: &'a ResultImages,
    /// Whether the agent takes images.
    pub(super) takes_images: bool,
}
