//! Executes file jobs in the background.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::file_jobs::{FileJob, FileJobDone};
use crate::app::importing::{self, Destination, NewFiles, Plan};
use crate::app::opening::state_folder;
use crate::base::{Id, JobControl, Problem, unique_names};
use crate::safe_fs;
use crate::store::{self, ExportError, Reader};
use crate::ui::state::{DropPlace, ImportQuestion, UndoQuestion};
use crate::workspace::archive::{self, ArchiveError};
use crate::workspace::undo;
use crate::workspace::vfs::{FileHistory, FileServiceError, NewFile, TextOrigin};

/// Maximum number of an agent's pieces of work that are listed, newest first.
const MAX_POINTS: usize = 100;
/// Maximum number of files left out of an archive that are named; the rest is counted.
const MAX_NAMED: usize = 10;

/// Runs a job, however long it takes.
pub(super) fn run(workspace: &Path, files: &dyn NewFiles, job: FileJob, control: &JobControl) -> FileJobDone {
    if control.is_cancelled() {
        return FileJobDone::Cancelled { label: job.label() };
    }
    let label = job.label();
    match job {
        FileJob::ImportDropped { paths, place, is_seen: false } if has_folder(&paths) => {
            FileJobDone::ImportFound(question(workspace, paths, None, Some(place)))
        }
        FileJob::Import { paths, folder, is_seen: false } if has_folder(&paths) => {
            FileJobDone::ImportFound(question(workspace, paths, folder, None))
        }
        FileJob::ImportDropped { paths, place, .. } => {
            let plan = importing::plan(workspace, &paths, Destination::Room);
            FileJobDone::DropImported { imported: importing::import_files(workspace, files, &plan, control), place }
        }
        FileJob::CreateAgent { name, text, place } => {
            let plan = Plan::of_agent(&name, text);
            FileJobDone::DropImported { imported: importing::import_files(workspace, files, &plan, control), place }
        }
        FileJob::Import { paths, folder, .. } => {
            let plan = importing::plan(workspace, &paths, destination(folder.as_deref()));
            FileJobDone::Imported(importing::import_files(workspace, files, &plan, control))
        }
        FileJob::UndoImport { files: made } => {
            let kept = reverse(&made, control, |file| take_back(files, file));
            FileJobDone::ImportUndone { count: made.len(), kept }
        }
        FileJob::RedoImport { files: made, acts } => {
            let kept = reverse(&made, control, |file| put_back(workspace, files, file));
            FileJobDone::RedoImport { count: made.len(), kept, acts }
        }
        FileJob::LookBack { agent, since_ms } => match looked_back(workspace, &agent, since_ms) {
            Ok(question) => FileJobDone::LookedBack(question),
            Err(error) => not_undone(&agent, &error.to_string()),
        },
        FileJob::UndoWork { plan } => {
            match undo::apply_plan(workspace, &state_folder(workspace), &plan, files.handle()) {
                Ok((undone, kept)) => work_undone(undone, kept, true),
                Err(error) => not_undone(&plan.agent, &error.to_string()),
            }
        }
        FileJob::ToggleUndo { number } => {
            match undo::toggle_undone(workspace, &state_folder(workspace), number, files.handle()) {
                Ok((undone, kept)) => work_undone(undone, kept, false),
                Err(error) => not_undone("files", &error.to_string()),
            }
        }
        FileJob::ExportLog { run, file, name } => {
            let file = file.unwrap_or_else(|| free_file(workspace, &name, "events.jsonl"));
            match exporting(workspace, files, &file, || export_log(workspace, &run, &file, control)) {
                Ok(count) => {
                    let what = format!("{count} event log records");
                    FileJobDone::Exported { file, what, left_out: Vec::new() }
                }
                Err(ExportError::Cancelled) => FileJobDone::Cancelled { label },
                Err(error) => not_exported(&file, &error.to_string()),
            }
        }
        FileJob::ExportZip { file, name } => {
            let unsaved = files.flush();
            let file = file.unwrap_or_else(|| free_file(workspace, &name, "zip"));
            let write = || archive::write_zip(workspace, &state_folder(workspace), &file, control);
            match exporting(workspace, files, &file, write) {
                Ok(archived) => {
                    let what = format!("The workspace with {} files", archived.files);
                    let unsaved = unsaved.iter().map(|problem| format!("the last changes of {}", problem.place));
                    let left_out = unsaved.chain(archived.left_out(MAX_NAMED)).collect();
                    FileJobDone::Exported { file, what, left_out }
                }
                Err(ArchiveError::Cancelled) => FileJobDone::Cancelled { label },
                Err(error) => not_exported(&file, &error.to_string()),
            }
        }
        FileJob::WriteScene { stem, text } => {
            let place = format!("scenes/{stem}.yaml");
            match files.create(&place, text.as_bytes(), TextOrigin::Person) {
                Ok(_) => FileJobDone::SceneWritten { stem },
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => FileJobDone::Failed(Problem::warning(
                    place,
                    "a scene with that name already exists",
                    "choose another name; the existing scene was not changed",
                )),
                Err(error) => FileJobDone::Failed(Problem::error(
                    place,
                    format!("it cannot be written: {error}"),
                    "check that the folder is writable and the disk is not full",
                )),
            }
        }
    }
}

/// The pieces of work in which an agent changed files, and what undoing from one of them on would do.
fn looked_back(workspace: &Path, agent: &Id, since_ms: Option<u64>) -> Result<UndoQuestion, FileServiceError> {
    let pasts = undo::AgentHistories::read(workspace, &state_folder(workspace))?;
    let points = pasts.points(agent).into_iter().take(MAX_POINTS).collect();
    let plan = since_ms.map(|since_ms| (since_ms, pasts.plan(agent, since_ms)));
    Ok(UndoQuestion { agent: agent.clone(), points, plan })
}

fn work_undone(undone: undo::UndoRecord, kept: Vec<undo::SkippedFile>, is_new: bool) -> FileJobDone {
    FileJobDone::WorkUndone { undone, kept: kept.into_iter().map(|one| one.why).collect(), is_new }
}

fn not_undone(agent: &str, why: &str) -> FileJobDone {
    let what = format!("its work could not be undone: {why}");
    FileJobDone::Failed(Problem::error(agent, what, "check that the folder is writable and the disk is not full"))
}

fn has_folder(paths: &[PathBuf]) -> bool {
    paths.iter().any(|path| path.is_dir())
}

fn destination(folder: Option<&str>) -> Destination<'_> {
    folder.map_or(Destination::ByKind, Destination::Folder)
}

/// Undoes or redoes an import file by file. Returns why some files were left unchanged.
fn reverse(made: &[NewFile], control: &JobControl, one: impl Fn(&NewFile) -> Result<(), String>) -> Vec<String> {
    let mut kept = Vec::new();
    for (done, file) in made.iter().enumerate() {
        control.set_done(done, made.len());
        let reversed = if control.is_cancelled() {
            Err(format!("'{}' was not changed: it was cancelled.", file.path))
        } else {
            one(file)
        };
        kept.extend(reversed.err());
    }
    kept
}

/// Deletes an imported file if it can be restored later.
fn take_back(files: &dyn NewFiles, file: &NewFile) -> Result<(), String> {
    if file.version.is_none() {
        return Err(format!("'{}' was kept: it has no version to restore it from.", file.path));
    }
    files.take_back(file)
}

/// Restores a deleted file unless another one has its path.
fn put_back(workspace: &Path, files: &dyn NewFiles, file: &NewFile) -> Result<(), String> {
    let path = &file.path;
    let history = FileHistory::open(workspace, &state_folder(workspace)).map_err(|error| error.to_string())?;
    let text = file.version.map_or(Ok(None), |version| history.text(path, version));
    let Some(text) = text.map_err(|error| error.to_string())? else { return Ok(()) };
    match files.create(path, text.as_bytes(), file.origin) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match history.read(path) {
            Ok(there) if there == text => Ok(()),
            _ => Err(format!("a new '{path}' exists already and was kept.")),
        },
        Err(error) => Err(format!("'{path}' cannot be written: {error}.")),
    }
}

/// The question that a person is asked before an import.
fn question(workspace: &Path, paths: Vec<PathBuf>, folder: Option<String>, place: Option<DropPlace>) -> ImportQuestion {
    let destination = if place.is_some() { Destination::Room } else { destination(folder.as_deref()) };
    let summary = importing::plan(workspace, &paths, destination).summary();
    ImportQuestion { paths, folder, place, summary }
}

fn not_exported(file: &Path, why: &str) -> FileJobDone {
    let what = format!("the export failed: {why}");
    let remedy = "check that the folder is writable and the disk is not full";
    FileJobDone::Failed(Problem::error(file.display().to_string(), what, remedy))
}

/// The path of a new export, with the first free number.
fn free_file(workspace: &Path, name: &str, ending: &str) -> PathBuf {
    let folder = workspace.join(archive::EXPORTS);
    let names = unique_names::numbered(name, &format!(".{ending}"), 1);
    folder.join(unique_names::first_free(names, |name| folder.join(name).exists()))
}

/// Writes an export; within an open workspace, it is the person's file.
fn exporting<T>(workspace: &Path, files: &dyn NewFiles, file: &Path, write: impl FnOnce() -> T) -> T {
    let place = file.strip_prefix(workspace).ok().and_then(Path::to_str).map(|place| place.replace('\\', "/"));
    match files.handle().zip(place) {
        Some((files, place)) => files.export(&place, write),
        None => write(),
    }
}

/// Writes the log into a new file. Within the workspace, symbolic links are not followed.
fn export_log(workspace: &Path, run: &str, file: &Path, control: &JobControl) -> Result<u64, ExportError> {
    let reader = Reader::open(&state_folder(workspace))?;
    let write = |file: &fs::File| store::export_events(&reader, Some(run), file, control);
    if let Some(path) = file.strip_prefix(workspace).ok().and_then(Path::to_str) {
        return safe_fs::write_new(workspace, path, write);
    }
    let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "its name is not valid text");
    let name = file.file_name().and_then(|name| name.to_str()).ok_or_else(no_name)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    safe_fs::write_new(folder, name, write)
}
