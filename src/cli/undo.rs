//! `workshop undo AGENT`: lists the pieces of work in which an agent changed files, and undoes them from a chosen one
//! on, showing the diff first and keeping others' changes.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::workspace_argument::{self, IfMissing, InWorkspace};
use super::{CliError, CliResult, ExitStatus, output};
use crate::app::opening::state_folder;
use crate::base::text::{nearest, truncate};
use crate::workspace::cleaning::complete_before_opening;
use crate::workspace::undo::{
    AgentHistories, AgentHistory, FilePlan, Outcome as FileOutcome, RestorePoint, SkippedFile, UndoPlan, apply_plan,
    last_undone, revert_latest, unified_diff,
};

/// How many characters of a task are shown.
const TASK_CHARS: usize = 70;
/// How many files of a piece of work are named.
const FILES_NAMED: usize = 8;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The agent's id; without it, lists the agents that changed files
    agent: Option<String>,
    /// Undo back to this point: its number in the list (1 is the newest), or the id of the piece of work
    #[arg(long, value_name = "POINT", conflicts_with = "since")]
    to: Option<String>,
    /// Undo back to this time: how long ago (2h, 30m), or when (2026-11-24T14:00:00Z)
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<SystemTime>,
    /// Show what would change without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    /// Revert the last undo
    #[arg(long, conflicts_with_all = ["agent", "to", "since"])]
    back: bool,
    #[command(flatten)]
    place: InWorkspace,
}

pub(super) fn undo(arguments: &Arguments) -> CliResult {
    let folder = workspace_argument::workspace(arguments.place.workspace.as_deref(), IfMissing::Fail)?;
    let state = state_folder(&folder);
    if let Some(problem) = complete_before_opening(&folder, &state) {
        output::note(&problem.to_string());
    }
    if arguments.back {
        return revert_last(&folder, &state, arguments);
    }
    let histories = AgentHistories::read(&folder, &state).map_err(CliError::failed)?;
    let Some(wanted) = &arguments.agent else {
        if arguments.to.is_some() || arguments.since.is_some() {
            return Err(CliError::usage("no agent given").hint("name one with: workshop undo AGENT"));
        }
        return list_agents(&histories.agents(), arguments.place.json);
    };
    let agents = histories.agents();
    let history = find_agent(&agents, wanted)?;
    let since_ms = match (&arguments.to, arguments.since) {
        (Some(point), _) => find_point(history, point)?.first_ms,
        (None, Some(time)) => epoch_millis(time),
        (None, None) => return list_points(history, arguments.place.json),
    };
    let plan = histories.plan(&history.agent, since_ms);
    undo_plan(&folder, &state, &plan, arguments)
}

/// Finds an agent by its id or an unambiguous prefix of it.
fn find_agent<'a>(agents: &'a [AgentHistory], wanted: &str) -> Result<&'a AgentHistory, CliError> {
    if let Some(exact) = agents.iter().find(|history| history.agent == wanted) {
        return Ok(exact);
    }
    let mut begin = agents.iter().filter(|history| !wanted.is_empty() && history.agent.starts_with(wanted));
    if let (Some(one), None) = (begin.next(), begin.next()) {
        return Ok(one);
    }
    let ids = || agents.iter().map(|history| history.agent.as_str());
    let error = CliError::usage(format!("no agent {wanted:?} has changed files here"));
    Err(match nearest(wanted, ids()) {
        Some(near) => error.hint(format!("did you mean: workshop undo {near}?")),
        None if agents.is_empty() => error.hint("no agent has changed files in this workspace yet"),
        None => error.hint(format!("agents that did: {}", ids().collect::<Vec<_>>().join(", "))),
    })
}

fn find_point<'a>(history: &'a AgentHistory, wanted: &str) -> Result<&'a RestorePoint, CliError> {
    let by_id = history.points.iter().find(|point| point.activation.as_deref() == Some(wanted));
    let by_number = || history.points.get(wanted.parse::<usize>().ok()?.checked_sub(1)?);
    by_id.or_else(by_number).ok_or_else(|| {
        let error = CliError::usage(format!("{} has no undo point {wanted:?}", history.agent));
        error.hint(format!("list them with: workshop undo {}", history.agent))
    })
}

fn list_agents(agents: &[AgentHistory], is_json: bool) -> CliResult {
    if is_json {
        output::json(&json!({ "agents": agents.iter().map(agent_json).collect::<Vec<_>>() }))?;
    } else if agents.is_empty() {
        output::note("no agent has changed files in this workspace yet");
    } else {
        let line = |history: &AgentHistory| {
            let (count, newest) = (history.points.len(), history.points.first().map_or(0, |point| point.last_ms));
            let pieces = if count == 1 { "piece of work" } else { "pieces of work" };
            format!("{}: {count} {pieces}, the last one at {}", history.agent, format_time(newest))
        };
        output::result(&agents.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        output::note("list an agent's undo points with: workshop undo AGENT");
    }
    Ok(ExitStatus::Done)
}

fn list_points(history: &AgentHistory, is_json: bool) -> CliResult {
    if is_json {
        output::json(&agent_json(history))?;
        return Ok(ExitStatus::Done);
    }
    let line = |(index, point): (usize, &RestorePoint)| {
        let task = point.task.as_deref().unwrap_or("outside of any piece of work");
        let task = truncate(task.lines().next().unwrap_or_default(), TASK_CHARS);
        let number = index + 1;
        format!("{number:>3}  {}  {task}\n     {}", format_time(point.first_ms), format_files(point))
    };
    output::result(&history.points.iter().enumerate().map(line).collect::<Vec<_>>().join("\n"))?;
    output::note(&format!("undo back to one with: workshop undo {} --to NUMBER", history.agent));
    Ok(ExitStatus::Done)
}

fn format_files(point: &RestorePoint) -> String {
    let mut words: Vec<String> = (point.files.iter().take(FILES_NAMED))
        .map(|(path, count)| if *count == 1 { path.clone() } else { format!("{path} ({count} changes)") })
        .collect();
    if point.files.len() > FILES_NAMED {
        words.push(format!("and {} more", point.files.len() - FILES_NAMED));
    }
    words.join(", ")
}

fn undo_plan(folder: &Path, state: &Path, plan: &UndoPlan, arguments: &Arguments) -> CliResult {
    let stays: Vec<&str> = (plan.files.iter())
        .filter_map(|file| match &file.outcome {
            FileOutcome::Unchanged { why } => Some(why.as_str()),
            _ => None,
        })
        .collect();
    let is_json = arguments.place.json;
    if plan.is_empty() {
        stays.iter().for_each(|why| output::note(why));
        if is_json {
            output::json(&plan_json(plan, None, &[]))?;
        }
        output::note("nothing to undo");
        return Ok(if stays.is_empty() { ExitStatus::Done } else { ExitStatus::Failed });
    }
    let is_asked = !arguments.yes && !arguments.dry_run;
    if !is_json {
        for file in plan.files.iter().filter(|file| file.changes()) {
            output::result(file_diff(file).trim_end())?;
        }
    }
    stays.iter().for_each(|why| output::note(why));
    let is_wanted = match is_asked {
        true if !output::is_interactive() => {
            output::note("nothing was changed; confirm with --yes");
            false
        }
        true => output::confirm("Restore these files? Changes by others are kept, and you can revert this. [y/N] ")?,
        false => arguments.yes && !arguments.dry_run,
    };
    if !is_wanted {
        if is_json {
            output::json(&plan_json(plan, None, &[]))?;
        }
        return Ok(if arguments.dry_run { ExitStatus::Done } else { ExitStatus::Waiting });
    }
    let (undone, skipped) = apply_plan(folder, state, plan, None).map_err(CliError::failed)?;
    print_skipped(&skipped);
    let count = undone.files.len() - skipped.len();
    if is_json {
        output::json(&plan_json(plan, Some(undone.number), &skipped))?;
    }
    output::note(&format!("restored {count} {}; revert that with: workshop undo --back", files(count)));
    Ok(if skipped.is_empty() { ExitStatus::Done } else { ExitStatus::Failed })
}

fn revert_last(folder: &Path, state: &Path, arguments: &Arguments) -> CliResult {
    let Some(last) = last_undone(state) else {
        output::note("there is no undo to revert");
        return Ok(ExitStatus::Done);
    };
    if arguments.dry_run {
        let paths: Vec<&str> = last.files.iter().map(|file| file.path.as_str()).collect();
        output::result(&paths.join("\n"))?;
        return Ok(ExitStatus::Done);
    }
    let (undone, skipped) = revert_latest(folder, state).map_err(CliError::failed)?;
    print_skipped(&skipped);
    let count = undone.files.len() - skipped.len();
    if arguments.place.json {
        output::json(&json!({ "number": undone.number, "agent": undone.agent, "not_done": skipped_json(&skipped) }))?;
    }
    output::note(&format!("reverted the undo: {count} {} are back to the version by {}", files(count), undone.agent));
    Ok(if skipped.is_empty() { ExitStatus::Done } else { ExitStatus::Failed })
}

fn print_skipped(skipped: &[SkippedFile]) {
    skipped.iter().for_each(|one| output::note(&one.why));
}

fn files(count: usize) -> &'static str {
    if count == 1 { "file" } else { "files" }
}

/// The change to a file, as a unified diff.
fn file_diff(file: &FilePlan) -> String {
    let diff = unified_diff((&file.path, file.path_after()), file.now.as_deref(), file.after());
    if file.path_after() == file.path {
        return diff;
    }
    format!("rename {} to {}\n{diff}", file.path, file.path_after())
}

fn agent_json(history: &AgentHistory) -> Value {
    let point = |(index, point): (usize, &RestorePoint)| {
        json!({
            "point": index + 1,
            "activation": point.activation,
            "task": point.task,
            "first": format_time(point.first_ms),
            "last": format_time(point.last_ms),
            "files": point.files,
        })
    };
    json!({ "agent": history.agent, "points": history.points.iter().enumerate().map(point).collect::<Vec<_>>() })
}

fn plan_json(plan: &UndoPlan, number: Option<u64>, skipped: &[SkippedFile]) -> Value {
    let file = |file: &FilePlan| {
        let (fate, why) = match &file.outcome {
            FileOutcome::Write { .. } if file.now.is_none() => ("brought_back", None),
            FileOutcome::Write { .. } => ("put_back", None),
            FileOutcome::Delete => ("taken_away", None),
            FileOutcome::Unchanged { why } => ("stays", Some(why)),
        };
        let diff = file.changes().then(|| file_diff(file));
        json!({ "path": file.path, "to": file.path_after(), "what": fate, "why": why, "diff": diff })
    };
    json!({
        "agent": plan.agent,
        "undone": number,
        "files": plan.files.iter().map(file).collect::<Vec<_>>(),
        "not_done": skipped_json(skipped),
    })
}

fn skipped_json(skipped: &[SkippedFile]) -> Vec<Value> {
    skipped.iter().map(|one| json!({ "path": one.path, "why": one.why })).collect()
}

fn format_time(ms: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(ms)).to_string()
}

fn epoch_millis(time: SystemTime) -> u64 {
    let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
}

/// Parses an age (`2h`) or a time (`2026-11-24T14:00:00Z`).
fn parse_time(text: &str) -> Result<SystemTime, String> {
    if let Ok(ago) = humantime::parse_duration(text) {
        return Ok(SystemTime::now().checked_sub(ago).unwrap_or(UNIX_EPOCH));
    }
    let when = humantime::parse_rfc3339_weak(text.trim());
    when.map_err(|_| "use an age such as 2h, or a time such as 2026-11-24T14:00:00Z".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(agent: &str) -> AgentHistory {
        let point = |activation: &str, first_ms| RestorePoint {
            activation: Some(activation.into()),
            task: None,
            first_ms,
            last_ms: first_ms,
            files: [("a.md".to_owned(), 2)].into(),
        };
        AgentHistory { agent: agent.into(), points: vec![point("act-9", 9), point("act-1", 1)] }
    }

    #[test]
    fn an_undo_point_is_found_by_its_number_or_activation() {
        let history = history("ada-1");
        let first = |word: &str| find_point(&history, word).map(|point| point.first_ms).ok();
        assert_eq!((first("1"), first("2"), first("act-1")), (Some(9), Some(1), Some(1)));
        assert_eq!((first("0"), first("3"), first("")), (None, None, None));
    }

    #[test]
    fn an_agent_is_found_by_an_unambiguous_prefix_of_its_id() {
        let agents = [history("ada-1"), history("bob-1"), history("bob-2")];
        let name = |word: &str| find_agent(&agents, word).map(|history| history.agent.as_str()).ok();
        assert_eq!((name("ada"), name("bob-2"), name("bob"), name("")), (Some("ada-1"), Some("bob-2"), None, None));
    }

    #[test]
    fn a_time_is_an_age_or_a_date() {
        assert!(parse_time("2h").is_ok_and(|time| time < SystemTime::now()));
        assert_eq!(parse_time("1970-01-01 00:00:05").map(epoch_millis), Ok(5_000));
        assert!(parse_time("soon").is_err());
    }
}
