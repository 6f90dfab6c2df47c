//! What agents of a workspace ask a person, whether their room is running or at rest, and the way of an answer that
//! was given without a window: from its file through the door, as the decision that a window would send.

use std::path::Path;

use bevy::ecs::prelude::*;

use super::naming::name_of;
use super::opening::{OpenError, state_folder};
use super::recovery::look_at_each;
use crate::kernel::{Approval, Kernel, KernelCommand, preview};
use crate::schedule::Door;
use crate::tools::Preview;
use crate::workspace::vfs::WorkspacePath;
use crate::workspace::{Answer, AnswerBox, answers};

/// Of a larger file nothing is shown beside what is to be written.
const BYTES_SHOWN_AT_MOST: u64 = 1024 * 1024;

/// A question to a person that nobody has decided about, as it was last acknowledged.
#[derive(Clone, PartialEq, Debug)]
pub struct OpenApproval {
    /// The scene in which it is asked: its file.
    pub scene: String,
    /// What the agent is called.
    pub name: String,
    /// The question.
    pub approval: Approval,
    /// What would happen.
    pub preview: Preview,
    /// The answer that was given and that the room has not taken in yet.
    pub answer: Option<Answer>,
}

/// Every question of a workspace that is open, scene by scene. Nothing is changed, and the rooms may be running.
pub fn open_approvals(workspace: &Path) -> Result<Vec<OpenApproval>, OpenError> {
    let answers = answers::kept(&state_folder(workspace));
    let mut open = Vec::new();
    look_at_each(workspace, |scene, world| {
        open.extend(world.resource::<Kernel>().approvals().map(|approval| OpenApproval {
            scene: scene.to_owned(),
            name: name_of(world, &approval.agent),
            answer: answers.get(approval.id.as_str()).cloned(),
            preview: preview_of(world, workspace, &approval),
            approval,
        }));
    })?;
    Ok(open)
}

/// What would happen if this were allowed, with what stands in the file that it changes now.
pub fn preview_of(world: &World, workspace: &Path, approval: &Approval) -> Preview {
    let preview = preview(world, approval.activation).unwrap_or_else(|| Preview::arguments(&approval.arguments));
    let now = preview.unknown_file().and_then(|path| text_now(workspace, path));
    match now {
        Some(now) => preview.knowing(&now),
        None => preview,
    }
}

/// The text of a file of the workspace as it is on disk; nothing where there is none that could be shown.
fn text_now(workspace: &Path, path: &str) -> Option<String> {
    let path = WorkspacePath::new(path).ok()?;
    let mut folder = workspace.to_owned();
    for part in path.as_str().split('/') {
        folder.push(part);
        // A link may lead anywhere.
        if folder.symlink_metadata().ok()?.is_symlink() {
            return None;
        }
    }
    let is_shown = folder.metadata().is_ok_and(|data| data.is_file() && data.len() <= BYTES_SHOWN_AT_MOST);
    if is_shown { std::fs::read_to_string(folder).ok() } else { None }
}

/// Whether an answer waits to be taken in.
pub fn has_answers(world: &World) -> bool {
    world.get_resource::<AnswerBox>().is_some_and(AnswerBox::has_news)
}

/// Moves answers from their files to the door. One to a question that nobody asks any more was decided elsewhere.
pub(super) fn collect_answers(
    answers: Option<ResMut<AnswerBox>>,
    kernel: Res<Kernel>,
    mut door: ResMut<Door<KernelCommand>>,
) {
    let Some(mut answers) = answers.filter(|answers| answers.has_news()) else { return };
    for answer in answers.take() {
        match kernel.approvals().find(|approval| approval.id.as_str() == answer.id) {
            Some(approval) => door.push(approval.answer(answer.allow, answer.scope, answer.because)),
            None => tracing::info!("the answer to {} is not needed any more", answer.id),
        }
    }
}
