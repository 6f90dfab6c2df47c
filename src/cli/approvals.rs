//! `workshop approvals`: what agents ask a person, and the answer, whether the room is running or at rest.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::asking::shown;
use super::place::{self, Absent};
use super::{Complaint, Ending, Outcome, output};
use crate::app::approvals::{OpenApproval, open_approvals};
use crate::app::opening::state_folder;
use crate::workspace::answers::{self, Answer, AnswerError};

#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the questions that nobody has answered
    List(Listing),
    /// Show everything that an agent asks for
    Show(Chosen),
    /// Allow it: the agent goes on, now or when the workspace is opened next
    Allow(Chosen),
    /// Refuse it: the agent is told and goes on without
    Refuse(Chosen),
}

#[derive(Args)]
struct Listing {
    /// The workspace, if not the current folder
    workspace: Option<PathBuf>,
    /// Print the questions as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct Chosen {
    /// Which, as the list names it; its beginning is enough
    id: String,
    /// The workspace, if not the current folder
    workspace: Option<PathBuf>,
    /// Print the question, and what became of it, as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn approvals(arguments: &Arguments) -> Outcome {
    match &arguments.command {
        Command::List(listing) => list(listing),
        Command::Show(chosen) => show(chosen),
        Command::Allow(chosen) => answer(chosen, true),
        Command::Refuse(chosen) => answer(chosen, false),
    }
}

/// The workspace, and what is asked in it.
fn look(named: Option<&Path>) -> Result<(PathBuf, Vec<OpenApproval>), Complaint> {
    let folder = place::workspace(named, Absent::Refuse)?;
    let open = open_approvals(&folder).map_err(|error| Complaint::failed(&error).hint(error.remedy()))?;
    Ok((folder, open))
}

fn list(listing: &Listing) -> Outcome {
    let (_, open) = look(listing.workspace.as_deref())?;
    if listing.json {
        output::json(&json!({ "approvals": open.iter().map(to_json).collect::<Vec<_>>() }))?;
    } else if open.is_empty() {
        output::note("nobody asks for anything");
    } else {
        output::result(&open.iter().map(line).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Ending::Done)
}

fn show(chosen: &Chosen) -> Outcome {
    let (_, open) = look(chosen.workspace.as_deref())?;
    let one = choose(&open, &chosen.id)?;
    if chosen.json {
        output::json(&to_json(one))?;
    } else {
        let task = format!("  task: {}", one.approval.task);
        output::result(&format!("{}\n{task}\n{}", line(one), shown(&one.approval)))?;
    }
    Ok(Ending::Done)
}

fn answer(chosen: &Chosen, allow: bool) -> Outcome {
    let (folder, open) = look(chosen.workspace.as_deref())?;
    let one = choose(&open, &chosen.id)?;
    let given = Answer { id: one.approval.id.to_string(), scene: one.scene.clone(), allow };
    answers::keep(&state_folder(&folder), &given).map_err(|error| match error {
        AnswerError::Answered(_) => Complaint::usage(error).hint("the first answer counts"),
        error => Complaint::failed(error),
    })?;
    let word = if allow { "allowed" } else { "refused" };
    if chosen.json {
        let answered = OpenApproval { answer: Some(allow), ..one.clone() };
        output::json(&to_json(&answered))?;
    } else {
        output::note(&format!(
            "{word}: {} ({})\na room that is running goes on at once; one that is at rest when it is opened next",
            one.approval.what, one.approval.id
        ));
    }
    Ok(Ending::Done)
}

/// The question that is meant: by its id, or by a beginning of it that is the beginning of no other.
fn choose<'a>(open: &'a [OpenApproval], word: &str) -> Result<&'a OpenApproval, Complaint> {
    let id = |one: &OpenApproval| one.approval.id.to_string();
    if let Some(exact) = open.iter().find(|one| id(one) == word) {
        return Ok(exact);
    }
    let mut begin = open.iter().filter(|one| !word.is_empty() && id(one).starts_with(word));
    match (begin.next(), begin.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(Complaint::usage(format!("{word:?} is the beginning of several")).hint(known(open))),
        _ => Err(Complaint::usage(format!("nobody asks for {word:?}, or it was decided")).hint(known(open))),
    }
}

fn known(open: &[OpenApproval]) -> String {
    match open {
        [] => "nobody asks for anything".to_owned(),
        _ => format!("open are: {}", open.iter().map(|one| one.approval.id.to_string()).collect::<Vec<_>>().join(", ")),
    }
}

fn line(one: &OpenApproval) -> String {
    let answer = match one.answer {
        Some(true) => " (allowed, not taken in yet)",
        Some(false) => " (refused, not taken in yet)",
        None => "",
    };
    let approval = &one.approval;
    format!("{}  {} ({}) asks: {}{answer}", approval.id, one.name, approval.agent, approval.what)
}

fn to_json(one: &OpenApproval) -> Value {
    let mut json = serde_json::to_value(&one.approval).unwrap_or_default();
    json["scene"] = one.scene.as_str().into();
    json["name"] = one.name.as_str().into();
    json["answer"] = one.answer.map(|allow| if allow { "allow" } else { "refuse" }).into();
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ActivationKey;
    use crate::kernel::{Approval, ApprovalId};

    fn open(id: &str) -> OpenApproval {
        let approval = Approval {
            id: ApprovalId::parse(id).expect("it has the shape"),
            activation: ActivationKey::numbered(7),
            turn: 1,
            call: 0,
            agent: "lead".into(),
            task: "Plan".into(),
            tool: "vfs_write".into(),
            arguments: json!({}),
            what: "writing a.md".into(),
        };
        OpenApproval { scene: "scenes/studio.yaml".into(), name: "Lead".into(), approval, answer: None }
    }

    #[test]
    fn a_beginning_is_enough_where_it_is_that_of_one() {
        let open = [open("7-1-0-abcd"), open("71-1-0-abcd"), open("8-1-0-abcd")];
        let chosen = |word: &str| choose(&open, word).map(|one| one.approval.id.to_string()).ok();
        assert_eq!(chosen("8").as_deref(), Some("8-1-0-abcd"));
        assert_eq!(chosen("7-").as_deref(), Some("7-1-0-abcd"));
        assert_eq!((chosen("7"), chosen(""), chosen("9")), (None, None, None));
    }
}
