//! `workshop task`: queries and changes task files, checks them, and formats their spacing.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};

use super::workspace_argument::{self, IfMissing};
use super::{CliError, CliResult, ExitStatus, output};
use crate::app::task_files::{TaskFiles, TaskFilesError};
use crate::app::workflows;
use crate::base::Severity;
use crate::workspace::task_files::issue::Issue;
use crate::workspace::task_files::lint::lint;
use crate::workspace::task_files::query::ast::{Insert, Select};
use crate::workspace::task_files::query::evaluate::{self, Row, Source};
use crate::workspace::task_files::query::execute::{self, Changes, OrderError};
use crate::workspace::task_files::query::{self, Query, show};
use crate::workspace::task_files::spacing::normalise;

/// The maximum length of a query on standard input, in bytes.
const MAX_QUERY_BYTES: u64 = 64 * 1024;

/// The text below the help of `workshop task`.
const EXAMPLES: &str = "\
Examples:
  workshop task \"SELECT id, title FROM tasks/*.task.md WHERE status = open AND stakeholders CONTAINS 'human'\"
  workshop task \"SELECT * FROM tasks/plan.task.md WHERE due < '2026-12-01' ORDER BY priority, due DESC LIMIT 10\"
  workshop task \"UPDATE tasks/plan.task.md SET status = completed, note = 'paid' WHERE id = 'task-002'\"
  workshop task \"INSERT INTO tasks/plan.task.md SET title = 'Call Sarah', priority = A, stakeholders = '@human'\"
  workshop task \"DELETE FROM tasks/plan.task.md WHERE status = skipped\"";

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    asking: QueryArguments,
}

#[derive(Args)]
struct QueryArguments {
    /// A SELECT, UPDATE, DELETE or INSERT query; - reads it from standard input
    #[arg(required = true)]
    query: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Allow UPDATE and DELETE without WHERE, for every task
    #[arg(long)]
    all: bool,
    /// Allow DELETE to remove subtasks, too
    #[arg(long)]
    with_children: bool,
    /// The workspace; defaults to the current folder
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table, for people
    Table,
    /// A JSON array, for programs
    Json,
    /// Markdown, as in a task file
    Markdown,
}

#[derive(Subcommand)]
enum Command {
    /// Check task files: print each problem with line, column and fix
    Lint(LintArguments),
    /// Normalize the spacing of a task file, and change nothing else
    Fmt(FormatArguments),
}

#[derive(Args)]
struct LintArguments {
    /// Task files, or globs
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The workspace; defaults to the current folder
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Print the problems as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct FormatArguments {
    /// The task file
    file: String,
    /// Only print what would change; exit with 1 if anything would
    #[arg(long)]
    check: bool,
    /// The workspace; defaults to the current folder
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

pub(super) fn task_files(arguments: &Arguments) -> CliResult {
    match &arguments.command {
        None => ask(&arguments.asking),
        Some(Command::Lint(linting)) => lint_files(linting),
        Some(Command::Fmt(spacing)) => format_spacing(spacing),
    }
}

fn open(named: Option<&Path>) -> Result<(PathBuf, TaskFiles), CliError> {
    let folder = workspace_argument::workspace(named, IfMissing::Fail)?;
    let files = TaskFiles::open(&folder);
    let files = files.map_err(|error| CliError::failed(format!("{}: {error}", folder.display())))?;
    Ok((folder, files))
}

/// Wrong file names are usage errors; I/O errors are failures.
fn cli_error(error: TaskFilesError) -> CliError {
    match error {
        TaskFilesError::Disk(_) | TaskFilesError::Conflict(_) => CliError::failed(error),
        TaskFilesError::Missing(_) | TaskFilesError::NoMatch(_) => CliError::usage(error).hint(
            "file names are relative to the workspace: tasks/plan.task.md, \
                tasks/*.task.md",
        ),
        error => CliError::usage(error),
    }
}

fn ask(asking: &QueryArguments) -> CliResult {
    let text = query_text(asking.query.as_deref().unwrap_or_default())?;
    let not_understood = |error| CliError::usage(format!("invalid query: {error}"));
    let query = query::parse(&text).map_err(not_understood)?;
    let format = if asking.json { Format::Json } else { asking.format };
    let (_, files) = open(asking.workspace.as_deref())?;
    let all_meant = |filter: bool, word: &str| {
        if filter || asking.all {
            return Ok(());
        }
        let error = CliError::usage(format!("{word} without WHERE affects every task"));
        Err(error.hint("add WHERE, or confirm with --all"))
    };
    match &query {
        Query::Select(select) => find(&files, select, format),
        Query::Update(update) => {
            all_meant(update.filter.is_some(), "UPDATE")?;
            let sources = files.read(&update.files).map_err(cli_error)?;
            let plan = |source: &Source| execute::update(std::slice::from_ref(source), update);
            change(&files, &sources, true, plan, format, "changed")
        }
        Query::Delete(delete) => {
            all_meant(delete.filter.is_some(), "DELETE")?;
            let sources = files.read(&delete.from).map_err(cli_error)?;
            let plan = |source: &Source| execute::delete(std::slice::from_ref(source), delete, asking.with_children);
            change(&files, &sources, true, plan, format, "deleted")
        }
        Query::Insert(insert) => add(&files, insert, format),
    }
}

fn query_text(given: &str) -> Result<String, CliError> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut text = String::new();
    let read = std::io::stdin().lock().take(MAX_QUERY_BYTES + 1).read_to_string(&mut text);
    read.map_err(|error| CliError::usage(format!("the query on standard input: {error}")))?;
    Ok(text)
}

fn find(files: &TaskFiles, select: &Select, format: Format) -> CliResult {
    let sources = files.read(&select.from).map_err(cli_error)?;
    let rows = evaluate::select(&sources, select);
    let chosen = select.columns.as_deref();
    if let Some(into) = &select.into {
        let text = format!("## TODO\n\n{}", show::markdown(&sources, &rows, chosen));
        files.write_new(into, &text).map_err(cli_error)?;
        output::note(&format!("wrote {} to {into}", counted(rows.len())));
        return Ok(ExitStatus::Done);
    }
    print(&sources, &rows, select, format)?;
    Ok(ExitStatus::Done)
}

fn print(sources: &[Source], rows: &[Row], select: &Select, format: Format) -> Result<(), CliError> {
    let chosen = select.columns.as_deref();
    match format {
        Format::Json => output::json(&show::json(sources, rows, chosen)),
        _ if rows.is_empty() => {
            output::note("no matching tasks");
            Ok(())
        }
        Format::Table => output::result(&show::table(sources, rows, chosen)),
        Format::Markdown => output::result(show::markdown(sources, rows, chosen).trim_end_matches('\n')),
    }
}

fn counted(count: usize) -> String {
    if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") }
}

fn add(files: &TaskFiles, insert: &Insert, format: Format) -> CliResult {
    let (source, is_there) = files.read_or_new(&insert.into).map_err(cli_error)?;
    let plan = |source: &Source| execute::insert(source, insert);
    change(files, &[source], is_there, plan, format, "added")
}

/// Executes a changing query, and prints what it changed.
fn change(
    files: &TaskFiles,
    sources: &[Source],
    is_there: bool,
    plan: impl Fn(&Source) -> Result<Changes, OrderError>,
    format: Format,
    word: &str,
) -> CliResult {
    let mut done: Vec<(String, Vec<String>)> = Vec::new();
    let mut refused: Vec<(String, String)> = Vec::new();
    let outcome = files.change(sources, is_there, plan, |source, changes| {
        let ids: Vec<String> = changes.done.into_iter().map(|(_, id)| id).collect();
        done.push((source.path.clone(), ids));
        refused.extend(changes.refused.into_iter().map(|(_, why)| (source.path.clone(), why.to_string())));
    });
    if let Err(error) = outcome.map_err(cli_error)? {
        return Err(CliError::failed(error).hint("nothing was changed"));
    }
    if format == Format::Json {
        let ids = done.iter().flat_map(|(file, ids)| ids.iter().map(move |id| json!({ "file": file, "id": id })));
        let refused = refused.iter().map(|(file, why)| json!({ "file": file, "why": why }));
        output::json(&json!({ word: ids.collect::<Vec<_>>(), "refused": refused.collect::<Vec<_>>() }))?;
    } else {
        print_changes(&done, word)?;
    }
    refused.iter().for_each(|(file, why)| output::note(&format!("error: {file}: {why}")));
    Ok(if refused.is_empty() { ExitStatus::Done } else { ExitStatus::Failed })
}

fn print_changes(done: &[(String, Vec<String>)], word: &str) -> Result<(), CliError> {
    let changed = done.iter().filter(|(_, ids)| !ids.is_empty());
    let lines: Vec<String> = changed
        .map(|(file, ids)| match ids.as_slice() {
            [id] => format!("{file}: {word} {id}"),
            ids => format!("{file}: {word} {}", counted(ids.len())),
        })
        .collect();
    if lines.is_empty() {
        output::note("nothing was changed: no task matches, or all already have these values");
        return Ok(());
    }
    output::result(&lines.join("\n"))
}

fn lint_files(linting: &LintArguments) -> CliResult {
    let (folder, files) = open(linting.workspace.as_deref())?;
    let mut sources: Vec<Source> = Vec::new();
    for file in &linting.files {
        for source in files.read(file).map_err(cli_error)? {
            if sources.iter().all(|one| one.path != source.path) {
                sources.push(source);
            }
        }
    }
    let agents: BTreeSet<String> =
        workflows::WorkspaceWorkflows::of(&folder).agents.iter().map(ToString::to_string).collect();
    let known = files.known(agents, &sources);
    let found: Vec<(&Source, Issue)> = sources
        .iter()
        .flat_map(|source| lint(&source.file, &known).into_iter().map(move |issue| (source, issue)))
        .collect();
    let has_errors = found.iter().any(|(_, issue)| issue.severity == Severity::Error);
    if linting.json {
        let issues: Vec<Value> = found.iter().map(|(source, issue)| to_json(source, issue)).collect();
        output::json(&json!({ "issues": issues }))?;
    } else if found.is_empty() {
        output::note("no problems");
    } else {
        let lines: Vec<String> = found.iter().map(|(source, issue)| line(source, issue)).collect();
        output::result(&lines.join("\n"))?;
    }
    Ok(if has_errors { ExitStatus::Failed } else { ExitStatus::Done })
}

/// `tasks/plan.task.md:4:7: error duplicate-id: 2 tasks have the id "a" (give each task a unique id)`
fn line(source: &Source, issue: &Issue) -> String {
    let (line, column) = source.file.position(issue.at);
    let (path, severity) = (&source.path, severity(issue));
    format!("{path}:{line}:{column}: {severity} {}: {} ({})", issue.code.as_str(), issue.what, issue.code.remedy())
}

fn severity(issue: &Issue) -> &'static str {
    match issue.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn to_json(source: &Source, issue: &Issue) -> Value {
    let (line, column) = source.file.position(issue.at);
    json!({
        "file": source.path,
        "line": line,
        "column": column,
        "severity": severity(issue),
        "code": issue.code.as_str(),
        "task": issue.task.map(|task| source.file.tasks[task].id.as_str()),
        "what": issue.what,
        "remedy": issue.code.remedy(),
    })
}

fn format_spacing(spacing: &FormatArguments) -> CliResult {
    let (_, files) = open(spacing.workspace.as_deref())?;
    for source in files.read(&spacing.file).map_err(cli_error)? {
        let spaced = normalise(&source.file);
        let path = &source.path;
        if spaced.lines.is_empty() {
            output::note(&format!("{path}: nothing to change"));
            continue;
        }
        let lines: Vec<String> = spaced.lines.iter().map(ToString::to_string).collect();
        let word = if lines.len() == 1 { "line" } else { "lines" };
        if spacing.check {
            output::result(&format!("{path}: would change {word} {}", lines.join(", ")))?;
            return Ok(ExitStatus::Failed);
        }
        files.replace(&source, &spaced.text).map_err(cli_error)?;
        output::result(&format!("{path}: changed {word} {}", lines.join(", ")))?;
    }
    Ok(ExitStatus::Done)
}
