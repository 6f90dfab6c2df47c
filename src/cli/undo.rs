//! `workshop undo AGENT`: lists the pieces of work in which an agent changed files, and undoes them from a chosen one
//! on, showing the diff first and keeping others' changes.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::workspace_argument::{self, Absent, InWorkspace};
use super::{Complaint, Ending, Outcome, output};
use crate::app::opening::state_folder;
use crate::base::text::{nearest, truncate};
use crate::workspace::undo::{
    AgentHistories, AgentHistory, FilePlan, Outcome as Fate, RestorePoint, SkippedFile, UndoPlan, apply_plan,
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

pub(super) fn undo(arguments: &Arguments) -> Outcome {
    let folder = workspace_argument::workspace(arguments.place.workspace.as_deref(), Absent::Refuse)?;
    let state = state_folder(&folder);
    if arguments.back {
        return back(&folder, &state, arguments);
    }
    let pasts = AgentHistories::read(&folder, &state).map_err(Complaint::failed)?;
    let Some(wanted) = &arguments.agent else {
        if arguments.to.is_some() || arguments.since.is_some() {
            return Err(Complaint::usage("no agent given").hint("name one with: workshop undo AGENT"));
        }
        return list_agents(&pasts.agents(), arguments.place.json);
    };
    let agents = pasts.agents();
    let past = chosen(&agents, wanted)?;
    let since_ms = match (&arguments.to, arguments.since) {
        (Some(point), _) => point_of(past, point)?.first_ms,
        (None, Some(time)) => ms(time),
        (None, None) => return list_points(past, arguments.place.json),
    };
    let plan = pasts.plan(&past.agent, since_ms);
    put_back(&folder, &state, &plan, arguments)
}

/// The agent that is meant: by its id, or by a beginning of it that is the beginning of no other.
fn chosen<'a>(agents: &'a [AgentHistory], wanted: &str) -> Result<&'a AgentHistory, Complaint> {
    if let Some(exact) = agents.iter().find(|past| past.agent == wanted) {
        return Ok(exact);
    }
    let mut begin = agents.iter().filter(|past| !wanted.is_empty() && past.agent.starts_with(wanted));
    if let (Some(one), None) = (begin.next(), begin.next()) {
        return Ok(one);
    }
    let ids = || agents.iter().map(|past| past.agent.as_str());
    let complaint = Complaint::usage(format!("no agent {wanted:?} has changed files here"));
    Err(match nearest(wanted, ids()) {
        Some(near) => complaint.hint(format!("did you mean: workshop undo {near}?")),
        None if agents.is_empty() => complaint.hint("no agent has changed files in this workspace yet"),
        None => complaint.hint(format!("these did: {}", ids().collect::<Vec<_>>().join(", "))),
    })
}

fn point_of<'a>(past: &'a AgentHistory, wanted: &str) -> Result<&'a RestorePoint, Complaint> {
    let by_id = past.points.iter().find(|point| point.activation.as_deref() == Some(wanted));
    let by_number = || past.points.get(wanted.parse::<usize>().ok()?.checked_sub(1)?);
    by_id.or_else(by_number).ok_or_else(|| {
        let complaint = Complaint::usage(format!("{} has no undo point {wanted:?}", past.agent));
        complaint.hint(format!("list them with: workshop undo {}", past.agent))
    })
}

fn list_agents(agents: &[AgentHistory], is_json: bool) -> Outcome {
    if is_json {
        output::json(&json!({ "agents": agents.iter().map(agent_json).collect::<Vec<_>>() }))?;
    } else if agents.is_empty() {
        output::note("no agent has changed files in this workspace yet");
    } else {
        let line = |past: &AgentHistory| {
            let (count, newest) = (past.points.len(), past.points.first().map_or(0, |point| point.last_ms));
            let pieces = if count == 1 { "piece of work" } else { "pieces of work" };
            format!("{}: {count} {pieces}, the last one at {}", past.agent, time_words(newest))
        };
        output::result(&agents.iter().map(line).collect::<Vec<_>>().join("\n"))?;
        output::note("list an agent's undo points with: workshop undo AGENT");
    }
    Ok(Ending::Done)
}

fn list_points(past: &AgentHistory, is_json: bool) -> Outcome {
    if is_json {
        output::json(&agent_json(past))?;
        return Ok(Ending::Done);
    }
    let line = |(index, point): (usize, &RestorePoint)| {
        let task = point.task.as_deref().unwrap_or("outside of any piece of work");
        let task = truncate(task.lines().next().unwrap_or_default(), TASK_CHARS);
        let number = index + 1;
        format!("{number:>3}  {}  {task}\n     {}", time_words(point.first_ms), files_words(point))
    };
    output::result(&past.points.iter().enumerate().map(line).collect::<Vec<_>>().join("\n"))?;
    output::note(&format!("undo back to one with: workshop undo {} --to NUMBER", past.agent));
    Ok(Ending::Done)
}

fn files_words(point: &RestorePoint) -> String {
    let mut words: Vec<String> = (point.files.iter().take(FILES_NAMED))
        .map(|(path, count)| if *count == 1 { path.clone() } else { format!("{path} ({count} changes)") })
        .collect();
    if point.files.len() > FILES_NAMED {
        words.push(format!("and {} more", point.files.len() - FILES_NAMED));
    }
    words.join(", ")
}

fn put_back(folder: &Path, state: &Path, plan: &UndoPlan, arguments: &Arguments) -> Outcome {
    let stays: Vec<&str> = (plan.files.iter())
        .filter_map(|file| match &file.outcome {
            Fate::Stays { why } => Some(why.as_str()),
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
        return Ok(if stays.is_empty() { Ending::Done } else { Ending::Failed });
    }
    let is_asked = !arguments.yes && !arguments.dry_run;
    if !is_json {
        for file in plan.files.iter().filter(|file| file.changes()) {
            output::result(shown(file).trim_end())?;
        }
    }
    stays.iter().for_each(|why| output::note(why));
    let is_wanted = match is_asked {
        true if !output::can_be_asked() => {
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
        return Ok(if arguments.dry_run { Ending::Done } else { Ending::Waiting });
    }
    let (undone, not_done) = apply_plan(folder, state, plan, None).map_err(Complaint::failed)?;
    print_skipped(&not_done);
    let count = undone.files.len() - not_done.len();
    if is_json {
        output::json(&plan_json(plan, Some(undone.number), &not_done))?;
    }
    output::note(&format!("restored {count} {}; revert that with: workshop undo --back", files(count)));
    Ok(if not_done.is_empty() { Ending::Done } else { Ending::Failed })
}

fn back(folder: &Path, state: &Path, arguments: &Arguments) -> Outcome {
    let Some(last) = last_undone(state) else {
        output::note("there is no undo to revert");
        return Ok(Ending::Done);
    };
    if arguments.dry_run {
        let paths: Vec<&str> = last.files.iter().map(|file| file.path.as_str()).collect();
        output::result(&paths.join("\n"))?;
        return Ok(Ending::Done);
    }
    let (undone, not_done) = revert_latest(folder, state).map_err(Complaint::failed)?;
    print_skipped(&not_done);
    let count = undone.files.len() - not_done.len();
    if arguments.place.json {
        output::json(&json!({ "number": undone.number, "agent": undone.agent, "not_done": not_done_json(&not_done) }))?;
    }
    output::note(&format!("reverted the undo: {count} {} are back to the version by {}", files(count), undone.agent));
    Ok(if not_done.is_empty() { Ending::Done } else { Ending::Failed })
}

fn print_skipped(not_done: &[SkippedFile]) {
    not_done.iter().for_each(|one| output::note(&one.why));
}

fn files(count: usize) -> &'static str {
    if count == 1 { "file" } else { "files" }
}

/// What becomes of a file, as a patch.
fn shown(file: &FilePlan) -> String {
    let diff = unified_diff((&file.path, file.path_after()), file.now.as_deref(), file.after());
    if file.path_after() == file.path {
        return diff;
    }
    format!("rename {} to {}\n{diff}", file.path, file.path_after())
}

fn agent_json(past: &AgentHistory) -> Value {
    let point = |(index, point): (usize, &RestorePoint)| {
        json!({
            "point": index + 1,
            "activation": point.activation,
            "task": point.task,
            "first": time_words(point.first_ms),
            "last": time_words(point.last_ms),
            "files": point.files,
        })
    };
    json!({ "agent": past.agent, "points": past.points.iter().enumerate().map(point).collect::<Vec<_>>() })
}

fn plan_json(plan: &UndoPlan, number: Option<u64>, not_done: &[SkippedFile]) -> Value {
    let file = |file: &FilePlan| {
        let (fate, why) = match &file.outcome {
            Fate::Put { .. } if file.now.is_none() => ("brought_back", None),
            Fate::Put { .. } => ("put_back", None),
            Fate::TakeAway => ("taken_away", None),
            Fate::Stays { why } => ("stays", Some(why)),
        };
        let diff = file.changes().then(|| shown(file));
        json!({ "path": file.path, "to": file.path_after(), "what": fate, "why": why, "diff": diff })
    };
    json!({
        "agent": plan.agent,
        "undone": number,
        "files": plan.files.iter().map(file).collect::<Vec<_>>(),
        "not_done": not_done_json(not_done),
    })
}

fn not_done_json(not_done: &[SkippedFile]) -> Vec<Value> {
    not_done.iter().map(|one| json!({ "path": one.path, "why": one.why })).collect()
}

fn time_words(ms: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(ms)).to_string()
}

fn ms(time: SystemTime) -> u64 {
    let since_1970 = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
}

/// How long ago, or when.
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

    fn past(agent: &str) -> AgentHistory {
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
    fn a_point_is_named_by_its_number_or_its_work() {
        let past = past("ada-1");
        let first = |word: &str| point_of(&past, word).map(|point| point.first_ms).ok();
        assert_eq!((first("1"), first("2"), first("act-1")), (Some(9), Some(1), Some(1)));
        assert_eq!((first("0"), first("3"), first("")), (None, None, None));
    }

    #[test]
    fn an_agent_is_named_by_the_beginning_of_its_id() {
        let agents = [past("ada-1"), past("bob-1"), past("bob-2")];
        let name = |word: &str| chosen(&agents, word).map(|past| past.agent.as_str()).ok();
        assert_eq!((name("ada"), name("bob-2"), name("bob"), name("")), (Some("ada-1"), Some("bob-2"), None, None));
    }

    #[test]
    fn a_time_is_an_age_or_a_date() {
        assert!(parse_time("2h").is_ok_and(|time| time < SystemTime::now()));
        assert_eq!(parse_time("1970-01-01 00:00:05").map(ms), Ok(5_000));
        assert!(parse_time("soon").is_err());
    }
}
