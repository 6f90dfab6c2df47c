//! What agents of a workspace ask a person, whether their room is running or at rest, and the way of an answer that
//! was given without a window: from its file through the door, as the decision that a window would send.

use std::path::Path;

use bevy::ecs::prelude::*;

use super::naming::name_of;
use super::opening::{OpenError, state_folder};
use super::recovery::look_at_each;
use crate::kernel::{Approval, Kernel, KernelCommand};
use crate::schedule::Door;
use crate::workspace::{AnswerBox, answers};

/// A question to a person that nobody has decided about, as it was last acknowledged.
#[derive(Clone, PartialEq, Debug)]
pub struct OpenApproval {
    /// The scene in which it is asked: its file.
    pub scene: String,
    /// What the agent is called.
    pub name: String,
    /// The question.
    pub approval: Approval,
    /// The answer that was given and that the room has not taken in yet.
    pub answer: Option<bool>,
}

/// Every question of a workspace that is open, scene by scene. Nothing is changed, and the rooms may be running.
pub fn open_approvals(workspace: &Path) -> Result<Vec<OpenApproval>, OpenError> {
    let answers = answers::kept(&state_folder(workspace));
    let mut open = Vec::new();
    look_at_each(workspace, |scene, world| {
        open.extend(world.resource::<Kernel>().approvals().map(|approval| OpenApproval {
            scene: scene.to_owned(),
            name: name_of(world, &approval.agent),
            answer: answers.get(approval.id.as_str()).map(|answer| answer.allow),
            approval,
        }));
    })?;
    Ok(open)
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
            Some(approval) => door.push(approval.decide(answer.allow)),
            None => tracing::info!("the answer to {} is not needed any more", answer.id),
        }
    }
}
