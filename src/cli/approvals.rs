//! `workshop approvals`: lists and answers approvals of agents and workflows, whether or not the room is running.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::approval_prompts::{approval_details, approval_summary, fields, scopes};
use super::decision::{Decision, pending_suffix};
use super::waiting_steps;
use super::workflow::parse_pair;
use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, output};
use crate::app::approvals::{OpenApproval, OpenQuestions, OpenStep, open_questions};
use crate::app::opening::state_folder;
use crate::app::persons_clock::local_secs;
use crate::base::text::truncate;
use crate::base::visible_text::{sha256_of, visible_lines};
use crate::base::{AllowScope, TimeLimit};
use crate::workspace::answer_files::{self, Answer, AnswerError};

/// The maximum length of a comment to an agent, in characters.
const MAX_COMMENT_CHARS: usize = 2_000;

#[derive(Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List open approvals
    List(ListArguments),
    /// Show an approval in full
    Show(ShowArguments),
    /// Allow it: the agent or workflow continues, now or when the workspace is next opened
    Allow(AllowArguments),
    /// Refuse it: the agent continues without it; a workflow step fails, unless it says otherwise
    #[command(visible_alias = "deny")]
    Refuse(RefuseArguments),
}

#[derive(Args)]
struct ListArguments {
    /// The workspace; defaults to the current folder
    workspace: Option<PathBuf>,
    /// Print the approvals as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct ShowArguments {
    /// The id from the list, or an unambiguous prefix of it
    id: String,
    /// The workspace; defaults to the current folder
    workspace: Option<PathBuf>,
    /// Print the approval and its outcome as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct AllowArguments {
    #[command(flatten)]
    chosen: ShowArguments,
    /// Also allow everything of the same kind until this task ends, including for agents that it starts
    #[arg(long, conflicts_with = "always")]
    for_task: bool,
    /// Also allow everything of the same kind until this time, in every task: 2h, 18:00, "end of day" or
    /// 2026-01-31T18:00, by the room's clock
    #[arg(long, value_name = "TIME", conflicts_with_all = ["for_task", "pattern", "edited", "always"])]
    until: Option<TimeLimit>,
    /// Also allow every command that matches the pattern from `show`: writes a rule into
    /// storage/terminal-cmd-allowlist.yaml
    #[arg(long, conflicts_with_all = ["for_task", "always"])]
    pattern: bool,
    /// Also allow the command with sources that change later: writes the rule from `show` into
    /// storage/terminal-cmd-allowlist.yaml
    #[arg(long, conflicts_with_all = ["for_task", "pattern", "always"])]
    edited: bool,
    /// Allow it always: writes the rule from `show` into settings.yaml
    #[arg(long)]
    always: bool,
    /// A comment for the log
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
    /// A form field that a workflow or an MCP server asks for; asked on the terminal if missing
    #[arg(long = "field", value_name = "NAME=VALUE", value_parser = parse_pair)]
    fields: Vec<(String, String)>,
}

#[derive(Args)]
struct RefuseArguments {
    #[command(flatten)]
    chosen: ShowArguments,
    /// A comment for the agent
    #[arg(long, value_name = "TEXT")]
    because: Option<String>,
}

impl AllowArguments {
    fn scope(&self) -> AllowScope {
        match self.until {
            Some(limit) => AllowScope::Until(limit),
            None if self.always => AllowScope::Always,
            None if self.pattern => AllowScope::Pattern,
            None if self.edited => AllowScope::Edited,
            None if self.for_task => AllowScope::Task,
            None => AllowScope::Once,
        }
    }
}

pub(super) fn approvals(arguments: &Arguments) -> CliResult {
    match &arguments.command {
        Command::List(listing) => list(listing),
        Command::Show(chosen) => show(chosen),
        Command::Allow(allowing) => {
            let decision =
                Decision { allow: true, scope: allowing.scope(), because: comment(allowing.because.as_deref()) };
            answer(&allowing.chosen, decision, &allowing.fields)
        }
        Command::Refuse(refusing) => {
            let decision =
                Decision { allow: false, scope: AllowScope::Once, because: comment(refusing.because.as_deref()) };
            answer(&refusing.chosen, decision, &[])
        }
    }
}

fn comment(because: Option<&str>) -> Option<String> {
    because.map(|word| truncate(word.trim(), MAX_COMMENT_CHARS)).filter(|word| !word.is_empty())
}

/// The workspace and its open approvals.
fn open_workspace(named: Option<&Path>) -> Result<(PathBuf, OpenQuestions), CliError> {
    let folder = workspace_argument::workspace(named, IfMissing::Fail)?;
    let open = open_questions(&folder).map_err(|error| CliError::failed(&error).hint(error.remedy()))?;
    Ok((folder, open))
}

fn list(listing: &ListArguments) -> CliResult {
    let (_, OpenQuestions { approvals, steps }) = open_workspace(listing.workspace.as_deref())?;
    if listing.json {
        let steps: Vec<Value> = steps.iter().map(waiting_steps::to_json).collect();
        let approvals: Vec<Value> = approvals.iter().map(to_json).collect();
        output::json(&json!({ "approvals": approvals, "workflow_steps": steps }))?;
    } else if approvals.is_empty() && steps.is_empty() {
        output::note("no open approvals");
    } else {
        let lines: Vec<String> = approvals.iter().map(line).chain(steps.iter().map(waiting_steps::summary)).collect();
        output::result(&lines.join("\n"))?;
    }
    Ok(ExitStatus::Done)
}

fn show(chosen: &ShowArguments) -> CliResult {
    let (_, open) = open_workspace(chosen.workspace.as_deref())?;
    match choose(&open, &chosen.id)? {
        OpenQuestion::Step(step) if chosen.json => output::json(&waiting_steps::to_json(step))?,
        OpenQuestion::Step(step) => output::long_result(&waiting_steps::details(step))?,
        OpenQuestion::Agent(one) if chosen.json => output::json(&to_json(one))?,
        OpenQuestion::Agent(one) => {
            let risk = one.approval.risk.summary();
            let task = visible_lines(one.approval.task.trim()).collect::<Vec<_>>().join("\n        ");
            let mut lines = vec![line(one), format!("  task: {task}"), format!("  risk: {risk}")];
            lines.extend(Some(one.approval.secret_warning()).filter(|warning| !warning.is_empty()));
            lines.extend(scopes(&one.name, &one.approval));
            lines.extend(fields(&one.approval));
            lines.push(approval_details(&one.approval, &one.preview));
            output::long_result(&lines.join("\n"))?;
        }
    }
    Ok(ExitStatus::Done)
}

fn answer(chosen: &ShowArguments, decision: Decision, fields: &[(String, String)]) -> CliResult {
    let (folder, open) = open_workspace(chosen.workspace.as_deref())?;
    let (sentence, id, json) = match choose(&open, &chosen.id)? {
        OpenQuestion::Step(step) => {
            let given = waiting_steps::answer(step, &decision, fields)?;
            save_answer(&folder, &given)?;
            let answered = OpenStep { answer: Some(given), ..step.clone() };
            (step.question.sentence(), step.question.id.clone(), waiting_steps::to_json(&answered))
        }
        OpenQuestion::Agent(one) => {
            let is_for_server = one.approval.of_server.is_some();
            let filled: BTreeMap<String, String> = fields.iter().cloned().collect();
            if let Some(why) = one
                .approval
                .form_error(&one.approval.form_of(filled.clone()))
                .filter(|_| is_for_server && decision.allow)
            {
                let error = CliError::usage(format!("{}: {why}", one.approval.id));
                return Err(error.hint(format!(
                    "see the details with: workshop approvals show \
                    {}",
                    one.approval.id
                )));
            }
            if let Some((name, _)) = fields.first().filter(|_| !is_for_server) {
                let what = format!("{} is a yes-or-no approval and has no field {name:?}", one.approval.id);
                return Err(CliError::usage(what).hint("leave out --field"));
            }
            if !one.approval.may_reach(decision.scope) {
                let what = match decision.scope {
                    AllowScope::Pattern => format!("{} has no pattern to allow", one.approval.id),
                    AllowScope::Edited => format!("{} has no rule for edited sources to allow", one.approval.id),
                    _ => format!("{} can only be allowed once; it needs an approval each time", one.approval.id),
                };
                return Err(CliError::usage(what).hint("see your options with: workshop approvals show ID"));
            }
            let id = one.approval.id.to_string();
            let Decision { allow, scope, ref because } = decision;
            let scope = resolve_time(scope, &id)?;
            let because = because.clone();
            let given = Answer { id: id.clone(), scene: one.scene.clone(), allow, scope, because, fields: filled };
            save_answer(&folder, &given)?;
            let answered = OpenApproval { answer: Some(given), ..one.clone() };
            (one.approval.sentence(&one.name), id, to_json(&answered))
        }
    };
    let word = if decision.allow { format!("allowed{}", decision.scope.clause()) } else { "refused".to_owned() };
    if chosen.json {
        output::json(&json)?;
    } else {
        output::note(&format!(
            "{word}: {sentence} ({id})\na running room continues at once, a closed one when it is next opened"
        ));
    }
    Ok(ExitStatus::Done)
}

/// Converts a time of day to a date now, because the room may read the answer on another day. A time in the past is an
/// error.
fn resolve_time(scope: AllowScope, id: &str) -> Result<AllowScope, CliError> {
    let AllowScope::Until(limit) = scope else { return Ok(scope) };
    let date = limit.date(Some(local_secs()));
    let date = date.map_err(|why| CliError::usage(format!("{id} could not be answered: {why}")))?;
    Ok(AllowScope::Until(if matches!(limit, TimeLimit::OfDay(_)) { TimeLimit::At(date) } else { limit }))
}

fn save_answer(folder: &Path, given: &Answer) -> Result<(), CliError> {
    answer_files::store(&state_folder(folder), given).map_err(|error| match error {
        AnswerError::Answered(_) => CliError::usage(error).hint("only the first answer counts"),
        error => CliError::failed(error),
    })
}

/// An open approval of an agent, or a workflow step that waits for a person.
#[derive(Clone, Copy)]
enum OpenQuestion<'a> {
    Agent(&'a OpenApproval),
    Step(&'a OpenStep),
}

impl OpenQuestion<'_> {
    fn id(self) -> String {
        match self {
            Self::Agent(one) => one.approval.id.to_string(),
            Self::Step(step) => step.question.id.clone(),
        }
    }
}

/// Finds an open question by its id or an unambiguous prefix of it.
fn choose<'a>(open: &'a OpenQuestions, word: &str) -> Result<OpenQuestion<'a>, CliError> {
    let all = || open.approvals.iter().map(OpenQuestion::Agent).chain(open.steps.iter().map(OpenQuestion::Step));
    if let Some(exact) = all().find(|one| one.id() == word) {
        return Ok(exact);
    }
    let known = || match all().map(OpenQuestion::id).collect::<Vec<_>>() {
        ids if ids.is_empty() => "no open approvals".to_owned(),
        ids => format!("open approvals: {}", ids.join(", ")),
    };
    let mut begin = all().filter(|one| !word.is_empty() && one.id().starts_with(word));
    match (begin.next(), begin.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(CliError::usage(format!("{word:?} matches several approvals")).hint(known())),
        _ => Err(CliError::usage(format!("no open approval {word:?}; it may already be answered")).hint(known())),
    }
}

fn line(one: &OpenApproval) -> String {
    format!("{}{}", approval_summary(&one.name, &one.approval), pending_suffix(one.answer.as_ref()))
}

fn to_json(one: &OpenApproval) -> Value {
    let mut json = serde_json::to_value(&one.approval).unwrap_or_default();
    json["scene"] = one.scene.as_str().into();
    json["name"] = one.name.as_str().into();
    json["preview"] = serde_json::to_value(&one.preview).unwrap_or_default();
    json["preview_lines"] = serde_json::to_value(one.approval.lines(&one.preview)).unwrap_or_default();
    json["preview_text"] = (one.preview.main_text())
        .map(|text| json!({ "chars": text.chars().count(), "sha256": sha256_of(text) }))
        .into();
    json["answer"] = one.answer.as_ref().map(|answer| if answer.allow { "allow" } else { "refuse" }).into();
    json["answer_scope"] = one.answer.as_ref().map(|answer| json!(answer.scope)).into();
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ActivationKey;
    use crate::gate::Risk;
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
            pattern: None,
            edited: None,
            risk: Risk::default(),
            asked_before: 0,
            changed_files: Vec::new(),
            of_server: None,
        };
        let preview = Preview::Arguments { rows: Vec::new() };
        OpenApproval { scene: "scenes/studio.yaml".into(), name: "Lead".into(), approval, preview, answer: None }
    }

    #[test]
    fn a_beginning_is_enough_where_it_is_that_of_one() {
        let approvals = vec![open("7-1-0-abcd"), open("71-1-0-abcd"), open("8-1-0-abcd")];
        let open = OpenQuestions { approvals, ..OpenQuestions::default() };
        let chosen = |word: &str| choose(&open, word).map(OpenQuestion::id).ok();
        assert_eq!(chosen("8").as_deref(), Some("8-1-0-abcd"));
        assert_eq!(chosen("7-").as_deref(), Some("7-1-0-abcd"));
        assert_eq!((chosen("7"), chosen(""), chosen("9")), (None, None, None));
    }
}
