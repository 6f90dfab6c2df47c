//! Interface texts of the undo history: what each action is called, as on a button, and why it cannot be undone if it
//! cannot.

use crate::agent::AgentCommand;
use crate::base::paths::file_name;
use crate::base::text::{one_line, truncate};
use crate::element::ElementCommand;
use crate::kernel::KernelCommand;
use crate::orchestration::CollaborationCommand;
use crate::orchestration::workflow::WorkflowCommand;
use crate::simulation::{ConversationCommand, RelationshipCommand};
use crate::ui::commands::RoomAct;
use crate::view::model::RoomModel;
use crate::workspace::DecorChange;
use crate::workspace::vfs::FileOperation;

/// The maximum number of characters of a name in a label.
const NAME_CHARS: usize = 40;

/// The label of actions that have none of their own.
pub(super) const LAST_CHANGE: &str = "The last change";

pub(super) fn and_others(first: &str, others: usize) -> String {
    match others {
        1 => format!("{first} and 1 more change"),
        many => format!("{first} and {many} more changes"),
    }
}

/// Returns the label of an action; `None` for a part of a drag, which is no action of its own.
pub(super) fn label_of(act: &RoomAct, room: &RoomModel) -> Option<String> {
    Some(match act {
        RoomAct::Agent(command) => return of_agent(command, room),
        RoomAct::Element(command) => of_element(command, room),
        RoomAct::Edit(edit) => format!("Edit {}", element(&edit.element, room)),
        RoomAct::Talk(ConversationCommand::Start { .. }) => "Start a conversation".to_owned(),
        RoomAct::Talk(ConversationCommand::Speak { .. }) => "Send a message".to_owned(),
        RoomAct::Talk(ConversationCommand::Stop { .. }) => "Stop a conversation".to_owned(),
        RoomAct::Talk(ConversationCommand::Switch { on: true }) => "Turn conversations on".to_owned(),
        RoomAct::Talk(ConversationCommand::Switch { on: false }) => "Turn conversations off".to_owned(),
        RoomAct::Task(task) => format!("Give {} a task", short(room.called(&task.agent))),
        RoomAct::Relate(command) => of_relationship(command, room),
        RoomAct::Furnish(command) => match &command.0 {
            DecorChange::Add { decor, .. } => format!("Add a {}", short(&decor.kind)),
            DecorChange::Change { now, .. } => format!("Change the {}", short(&now.kind)),
            DecorChange::Remove { decor } => format!("Remove the {}", short(&decor.kind)),
        },
        RoomAct::Work(command) => of_work(command, room),
        RoomAct::Together(CollaborationCommand::Publish { channel, .. }) => format!("Send to {}", short(channel)),
        RoomAct::Together(CollaborationCommand::Listen { channel, .. }) => {
            format!("Change who listens to {}", short(channel))
        }
        RoomAct::Together(CollaborationCommand::Write { key, .. } | CollaborationCommand::WriteKept { key, .. }) => {
            format!("Change the value {}", short(key))
        }
        RoomAct::Workflow(WorkflowCommand::Edit { path, .. }) => format!("Edit {}", short(path)),
        RoomAct::Workflow(WorkflowCommand::Start { workflow, .. }) => format!("Run {}", short(workflow)),
        RoomAct::Workflow(WorkflowCommand::Resume { .. }) => "Resume a workflow".to_owned(),
        RoomAct::Workflow(WorkflowCommand::Stop { .. }) => "Stop a workflow".to_owned(),
        RoomAct::Workflow(WorkflowCommand::Answer { step, .. }) => format!("Answer the step {}", short(step)),
        RoomAct::File(command) => of_file(&command.operation),
        RoomAct::Settings(edit) => format!("Change the settings of {}", short(&edit.section)),
    })
}

fn of_agent(command: &AgentCommand, room: &RoomModel) -> Option<String> {
    let name = |agent: &str| short(room.called(agent));
    Some(match command {
        AgentCommand::Add { profile, .. } => {
            let profile =
                room.profiles.iter().find(|known| known.id == *profile).map_or(&**profile, |known| known.name.as_str());
            format!("Add {}", short(profile))
        }
        AgentCommand::Remove { agent } => format!("Remove {}", name(agent)),
        AgentCommand::SetBehaviour { agent, .. } => format!("Change what {} does when idle", name(agent)),
        AgentCommand::SetHome { agent, .. } | AgentCommand::Place { agent, .. } => format!("Move {}", name(agent)),
        AgentCommand::Pause { agent } => format!("Pause {}", name(agent)),
        AgentCommand::Resume { agent } => format!("Resume {}", name(agent)),
        AgentCommand::PickUp { .. } | AgentCommand::Carry { .. } | AgentCommand::PutDown { .. } => return None,
    })
}

fn of_element(command: &ElementCommand, room: &RoomModel) -> String {
    match command {
        ElementCommand::Add { keys } => {
            let text = |key: &str| keys.get(key).and_then(|value| value.as_str());
            format!("Add {}", short(text("label").or(text("id")).or(text("kind")).unwrap_or("an element")))
        }
        ElementCommand::Remove { element: id } => format!("Remove {}", element(id, room)),
        ElementCommand::Move { element: id, .. } => format!("Move {}", element(id, room)),
        ElementCommand::Relabel { element: id, .. } => format!("Rename {}", element(id, room)),
        ElementCommand::SetOwner { element: id, .. } => format!("Change the owner of {}", element(id, room)),
        ElementCommand::SetChannel { element: id, .. } => format!("Change the channel of {}", element(id, room)),
    }
}

fn of_relationship(command: &RelationshipCommand, room: &RoomModel) -> String {
    let (verb, tie) = match command {
        RelationshipCommand::Add { relationship, .. } => ("Add", relationship),
        RelationshipCommand::Remove { relationship } => ("Remove", relationship),
        RelationshipCommand::Relabel { relationship, .. } => ("Rename", relationship),
    };
    let (from, to) = (short(room.called(&tie.from)), short(room.called(&tie.to)));
    format!("{verb} the relationship between {from} and {to}")
}

fn of_work(command: &KernelCommand, room: &RoomModel) -> String {
    match command {
        KernelCommand::Pause => "Pause work".to_owned(),
        KernelCommand::Resume => "Resume work".to_owned(),
        KernelCommand::OneTurnEach => "Let everyone take one turn".to_owned(),
        KernelCommand::Kill { .. } => "Stop a task".to_owned(),
        KernelCommand::KillAgent { agent } => format!("Stop the work of {}", short(room.called(agent))),
        KernelCommand::KillAll => "Stop all work".to_owned(),
        KernelCommand::Limits { .. } => "Change the limits of work".to_owned(),
        KernelCommand::Decide { allow: true, .. } => "Allow a request".to_owned(),
        KernelCommand::Decide { allow: false, .. } => "Refuse a request".to_owned(),
    }
}

fn of_file(operation: &FileOperation) -> String {
    match operation {
        FileOperation::Save { path, base: None, .. } => format!("Create {}", short(path)),
        FileOperation::Save { path, .. }
        | FileOperation::Write { path, .. }
        | FileOperation::Edit { path, .. }
        | FileOperation::EditWith { path, .. }
        | FileOperation::Append { path, .. }
        | FileOperation::Record { path, .. }
        | FileOperation::KeepRecord { path } => format!("Edit {}", short(path)),
        FileOperation::CreateFolder { path } => format!("Create the folder {}", short(path)),
        FileOperation::Delete { path } | FileOperation::DeleteUnchanged { path, .. } => {
            format!("Delete {}", short(path))
        }
        FileOperation::Rename { from, to } => format!("Rename {} to {}", short(from), short(file_name(to))),
        FileOperation::Restore { path, version } => format!("Restore version {version} of {}", short(path)),
        FileOperation::Read { path } | FileOperation::ReadLines { path, .. } => format!("Read {}", short(path)),
        FileOperation::List { .. } | FileOperation::Search { .. } => "Search the files".to_owned(),
        FileOperation::CommitWorktree { .. } | FileOperation::MergeWorktree { .. } => {
            "Merge an agent's changes".to_owned()
        }
    }
}

/// Returns why an action has no inverse.
pub fn why_irreversible(act: &RoomAct) -> &'static str {
    match act {
        RoomAct::Task(_) => "the agent already has it; stop its work instead",
        RoomAct::Talk(ConversationCommand::Stop { .. }) => "a conversation that has ended cannot continue",
        RoomAct::Talk(_) | RoomAct::Together(_) => "others may have read it already",
        RoomAct::Work(KernelCommand::Decide { .. }) => "the agent already has your answer",
        RoomAct::Work(KernelCommand::Kill { .. } | KernelCommand::KillAgent { .. } | KernelCommand::KillAll) => {
            "work that was stopped cannot continue; give the task again"
        }
        RoomAct::Work(_) => "the agents have already gone on with it",
        RoomAct::Workflow(WorkflowCommand::Answer { .. }) => "the workflow already has your answer",
        RoomAct::Workflow(_) => "the workflow has already gone on; stop or resume it instead",
        RoomAct::File(_) => "it is still being done; try again in a moment",
        _ => "the state before it is not known",
    }
}

fn element(id: &str, room: &RoomModel) -> String {
    short(room.element(id).map_or(id, |element| &*element.label))
}

fn short(name: &str) -> String {
    truncate(&one_line(name), NAME_CHARS)
}
