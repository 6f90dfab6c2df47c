//! `workshop approvals`: what agents ask a person, and the answer, whether the room is running or at rest.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::asking::{scopes, shown, told};
use super::place::{self, Absent};
use super::{Complaint, Ending, Outcome, output};
use crate::app::approvals::{OpenApproval, open_approvals};
use crate::app::opening::state_folder;
use crate::base::AllowScope;
use crate::base::text::truncate;
use crate::workspace::answers::{self, Answer, AnswerError};

/// A word to an agent is no longer, in characters.
const WORD_CHARS: usize = 2_000;

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
    Allow(Allowing),
    /// Refuse it: the agent is told and goes on without
    #[command(visible_alias = "deny")]
    Refuse(Refusing),
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

#[derive(Args)]
struct Allowing {
    #[command(flatten)]
    chosen: Chosen,
    /// And everything of the same kind until this task is over, also for agents that are started for it
    #[arg(long, conflicts_with = "always")]
    for_task: bool,
    /// And from now on: writes a rule into settings.yaml, as `show` says it
    #[arg(long)]
    always: bool,
    /// What you say of it; it stands in the log
    #[arg(long, value_name = "WORD")]
    because: Option<String>,
}

#[derive(Args)]
struct Refusing {
    #[command(flatten)]
    chosen: Chosen,
    /// What you say of it; the agent is told
    #[arg(long, value_name = "WORD")]
    because: Option<String>,
}

impl Allowing {
    fn scope(&self) -> AllowScope {
        match (self.for_task, self.always) {
            (_, true) => AllowScope::Always,
            (true, false) => AllowScope::Task,
            (false, false) => AllowScope::Once,
        }
    }
}

pub(super) fn approvals(arguments: &Arguments) -> Outcome {
    match &arguments.command {
        Command::List(listing) => list(listing),
        Command::Show(chosen) => show(chosen),
        Command::Allow(allowing) => answer(&allowing.chosen, true, allowing.scope(), allowing.because.as_deref()),
        Command::Refuse(refusing) => answer(&refusing.chosen, false, AllowScope::Once, refusing.because.as_deref()),
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
        let mut lines = vec![line(one), format!("  task: {}", one.approval.task)];
        lines.extend(scopes(&one.name, &one.approval));
        lines.push(shown(&one.approval, &one.preview));
        output::result(&lines.join("\n"))?;
    }
    Ok(Ending::Done)
}

fn answer(chosen: &Chosen, allow: bool, scope: AllowScope, because: Option<&str>) -> Outcome {
    let (folder, open) = look(chosen.workspace.as_deref())?;
    let one = choose(&open, &chosen.id)?;
    if !one.approval.may_reach(scope) {
        let what = format!("{} can be allowed only once: it is asked about each time", one.approval.id);
        return Err(Complaint::usage(what).hint("leave out --for-task and --always"));
    }
    let because = because.map(|word| truncate(word.trim(), WORD_CHARS)).filter(|word| !word.is_empty());
    let given = Answer { id: one.approval.id.to_string(), scene: one.scene.clone(), allow, scope, because };
    answers::keep(&state_folder(&folder), &given).map_err(|error| match error {
        AnswerError::Answered(_) => Complaint::usage(error).hint("the first answer counts"),
        error => Complaint::failed(error),
    })?;
    let word = match (allow, scope) {
        (false, _) => "refused",
        (true, AllowScope::Once) => "allowed",
        (true, AllowScope::Task) => "allowed for this task",
        (true, AllowScope::Always) => "allowed always",
    };
    if chosen.json {
        let answered = OpenApproval { answer: Some(given), ..one.clone() };
        output::json(&to_json(&answered))?;
    } else {
        output::note(&format!(
            "{word}: {} ({})\na room that is running goes on at once; one that is at rest when it is opened next",
            one.approval.sentence(&one.name),
            one.approval.id
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
    let answer = match one.answer.as_ref().map(|answer| answer.allow) {
        Some(true) => " (allowed, not taken in yet)",
        Some(false) => " (refused, not taken in yet)",
        None => "",
    };
    format!("{}{answer}", told(&one.name, &one.approval))
}

fn to_json(one: &OpenApproval) -> Value {
    let mut json = serde_json::to_value(&one.approval).unwrap_or_default();
    json["scene"] = one.scene.as_str().into();
    json["name"] = one.name.as_str().into();
    json["preview"] = serde_json::to_value(&one.preview).unwrap_or_default();
    json["answer"] = one.answer.as_ref().map(|answer| if answer.allow { "allow" } else { "refuse" }).into();
    json["answer_scope"] = one.answer.as_ref().map(|answer| json!(answer.scope)).into();
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ActivationKey;
    use crate::kernel::{Approval, ApprovalId};
    use crate::tools::Preview;

    fn open(id: &str) -> OpenApproval {
        let approval = Approval {
            id: ApprovalId::parse(id).expect("it has the shape"),
            activation: ActivationKey::numbered(7),
            turn: 1,
            call: 0,
            agent: "lead".into(),
            profile: "lead".into(),
            task: "Plan".into(),
            tool: "vfs_write".into(),
            arguments: json!({}),
            what: "write a.md".into(),
            wants: "write a.md".into(),
            because: String::new(),
            for_task: None,
            always: Vec::new(),
        };
        let preview = Preview::Arguments { rows: Vec::new() };
        OpenApproval { scene: "scenes/studio.yaml".into(), name: "Lead".into(), approval, preview, answer: None }
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
