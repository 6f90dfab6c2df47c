//! The pending approvals of a workspace's agents and workflows, whether or not its room is running, and how an answer
//! given without a window reaches the room: from a file into the room's inbox, as the same decision that a window would
//! send.

use std::collections::BTreeMap;
use std::path::Path;

use bevy::ecs::prelude::*;

use super::display_names::name_of;
use super::opening::{OpenError, state_folder};
use super::recovery::for_each_scene;
use crate::base::AnswerPlace;
use crate::kernel::{Approval, Kernel, KernelCommand, preview};
use crate::orchestration::workflow::{PersonAnswer, PersonQuestion, WorkflowCommand, WorkflowRuns, WorkflowSettings};
use crate::schedule::InputQueue;
use crate::tools::Preview;
use crate::workspace::vfs::WorkspacePath;
use crate::workspace::{Answer, AnswerFolder, answer_files};

/// Larger files are not previewed, in bytes.
const MAX_BYTES_SHOWN: u64 = 1024 * 1024;

/// An open approval, as last saved.
#[derive(Clone, PartialEq, Debug)]
pub struct OpenApproval {
    /// The scene file.
    pub scene: String,
    /// The agent's display name.
    pub name: String,
    /// The approval.
    pub approval: Approval,
    /// The expected effect.
    pub preview: Preview,
    /// An answer that the room has not processed yet.
    pub answer: Option<Answer>,
}

/// A workflow step that waits for a person, as last saved.
#[derive(Clone, PartialEq, Debug)]
pub struct OpenStep {
    /// The scene file of the room in which the workflow runs.
    pub scene: String,
    /// The question.
    pub question: PersonQuestion,
    /// Maximum length of each filled-in field, in characters.
    pub chars_at_most: usize,
    /// An answer that the room has not processed yet.
    pub answer: Option<Answer>,
}

/// Everything in a workspace that waits for a person.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OpenQuestions {
    /// Pending approvals of agents.
    pub approvals: Vec<OpenApproval>,
    /// Workflow steps that wait for a person.
    pub steps: Vec<OpenStep>,
}

/// Every pending question of a workspace, scene by scene. Read-only; the rooms may be running.
pub fn open_questions(workspace: &Path) -> Result<OpenQuestions, OpenError> {
    let answers = answer_files::pending(&state_folder(workspace));
    let mut open = OpenQuestions::default();
    for_each_scene(workspace, |scene, world| {
        let chars_at_most = world.resource::<WorkflowSettings>().max_output_chars;
        open.steps.extend(world.resource::<WorkflowRuns>().questions().map(|question| OpenStep {
            scene: scene.to_owned(),
            chars_at_most,
            answer: answers.get(&question.id).cloned(),
            question,
        }));
        open.approvals.extend(world.resource::<Kernel>().approvals().map(|approval| OpenApproval {
            scene: scene.to_owned(),
            name: name_of(world, &approval.agent),
            answer: answers.get(approval.id.as_str()).cloned(),
            preview: preview_of(world, workspace, &approval),
            approval,
        }));
    })?;
    Ok(open)
}

/// The expected effect of granting an approval, computed from the file's current content.
pub fn preview_of(world: &World, workspace: &Path, approval: &Approval) -> Preview {
    let preview = preview(world, approval.activation).unwrap_or_else(|| Preview::arguments(&approval.arguments));
    let now = preview.unknown_file().and_then(|path| text_now(workspace, path));
    match now {
        Some(now) => preview.with_current_text(&now),
        None => preview,
    }
}

/// The text of a workspace file on disk; `None` if it cannot be shown.
fn text_now(workspace: &Path, path: &str) -> Option<String> {
    let path = WorkspacePath::new(path).ok()?;
    let mut folder = workspace.to_owned();
    for part in path.as_str().split('/') {
        folder.push(part);
        // A symbolic link may lead outside the workspace.
        if folder.symlink_metadata().ok()?.is_symlink() {
            return None;
        }
    }
    let is_shown = folder.metadata().is_ok_and(|data| data.is_file() && data.len() <= MAX_BYTES_SHOWN);
    if is_shown { std::fs::read_to_string(folder).ok() } else { None }
}

/// Whether answers are waiting to be processed.
pub fn has_answers(world: &World) -> bool {
    world.get_resource::<AnswerFolder>().is_some_and(AnswerFolder::has_news)
}

/// Moves answers from their files into the room's inbox. An answer to a question that is no longer pending is
/// discarded.
pub(super) fn collect_answers(
    answers: Option<ResMut<AnswerFolder>>,
    kernel: Res<Kernel>,
    mut queue: ResMut<InputQueue<KernelCommand>>,
    (runs, mut workflows): (Res<WorkflowRuns>, ResMut<InputQueue<WorkflowCommand>>),
) {
    let Some(mut answers) = answers.filter(|answers| answers.has_news()) else { return };
    for answer in answers.take_pending() {
        if let Some(approval) = kernel.approvals().find(|approval| approval.id.as_str() == answer.id) {
            let command = match answer.allow && approval.of_server.is_some() {
                true => approval.fill(approval.form_of(answer.fields), answer.because),
                false => approval.answer(answer.allow, answer.scope, answer.because),
            };
            queue.push(command.answered_in(AnswerPlace::Terminal));
        } else if let Some(question) = runs.questions().find(|question| question.id == answer.id) {
            let answer = person_answer(answer.allow, answer.because, answer.fields);
            workflows.push(WorkflowCommand::Answer { run: question.run, step: question.step, answer });
        } else {
            tracing::info!("the answer to {} is no longer needed", answer.id);
        }
    }
}

/// Converts a person's input for a workflow step to the workflow's answer type.
pub fn person_answer(allow: bool, because: Option<String>, fields: BTreeMap<String, String>) -> PersonAnswer {
    PersonAnswer { approved: Some(allow), comment: because.unwrap_or_default(), fields }
}
