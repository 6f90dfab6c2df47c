//! Jobs with files that no frame waits for: imports, drops, new scenes and exports. What came of them is handled by a
//! later frame.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::background_jobs::{BackgroundJobs, OnDrop, SHOWN_AFTER};
use crate::app::importing::{self, Destination, Imported, NewFiles};
use crate::app::opening::state_folder;
use crate::base::{JobControl, Problem, numbered};
use crate::safe_fs;
use crate::store::{self, ExportError, Reader};
use crate::ui::commands::RoomAct;
use crate::ui::state::jobs::RunningJob;
use crate::ui::state::{DropPlace, ImportQuestion};
use crate::workspace::archive::{self, ArchiveError};
use crate::workspace::vfs::{FileHistory, NewFile};

/// Jobs that are under way at most.
const WAITING_AT_MOST: usize = 8;
/// Of what an archive leaves out so much is named; the rest is counted.
const NAMED_AT_MOST: usize = 10;

/// A job with files.
#[derive(Clone, PartialEq, Debug)]
pub enum FileJob {
    /// Copies agent files and scenes into the workspace, never over what is there.
    TakeIn {
        /// What was dropped: files or folders.
        paths: Vec<PathBuf>,
        /// Where in the room.
        place: DropPlace,
        /// Whether the person has seen what is in the folders among them.
        is_seen: bool,
    },
    /// Writes a scene, unless one of that name is there.
    WriteScene {
        /// The stem of its file.
        stem: String,
        /// Its text.
        text: String,
    },
    /// Copies files and folders into the workspace, never over what is there.
    Import {
        /// From where.
        paths: Vec<PathBuf>,
        /// Into which folder of the workspace; by what each is where absent.
        folder: Option<String>,
        /// Whether the person has seen what is in the folders among them.
        is_seen: bool,
    },
    /// Takes files away that an import brought, unless somebody changed them since.
    TakeBack {
        /// Which.
        files: Vec<NewFile>,
    },
    /// Writes such files again.
    PutBack {
        /// Which.
        files: Vec<NewFile>,
        /// What is to be done in the room afterwards.
        acts: Vec<RoomAct>,
    },
    /// Writes the log of a run.
    ExportLog {
        /// Which run.
        run: String,
        /// Into this file, which must be new; into a new one among the exports where absent.
        file: Option<PathBuf>,
        /// What a new file is called, before its number.
        name: String,
    },
    /// Writes the whole workspace as a zip.
    ExportZip {
        /// Into this file, which must be new; into a new one among the exports where absent.
        file: Option<PathBuf>,
        /// What a new file is called, before its number.
        name: String,
    },
}

impl FileJob {
    /// What is being done, for the person who waits.
    fn label(&self) -> String {
        match self {
            Self::TakeIn { paths, .. } if paths.len() == 1 => "Taking in what was dropped".to_owned(),
            Self::TakeIn { paths, .. } => format!("Taking in {} things that were dropped", paths.len()),
            Self::WriteScene { stem, .. } => format!("Writing the scene {stem}"),
            Self::Import { .. } => "Importing files".to_owned(),
            Self::TakeBack { .. } => "Undoing an import".to_owned(),
            Self::PutBack { .. } => "Redoing an import".to_owned(),
            Self::ExportLog { .. } => "Exporting the event log".to_owned(),
            Self::ExportZip { .. } => "Exporting the workspace".to_owned(),
        }
    }
}

/// What came of a job.
#[derive(Clone, PartialEq, Debug)]
pub enum FileJobDone {
    /// Files were looked through; what could be used is in the workspace now.
    TakenIn {
        /// What there was.
        imported: Imported,
        /// Where in the room it was dropped.
        place: DropPlace,
    },
    /// A scene was written.
    SceneWritten {
        /// The stem of its file.
        stem: String,
    },
    /// A folder is to be imported: the person sees first what would come in.
    ImportFound(ImportQuestion),
    /// Files were copied into the workspace.
    Imported(Imported),
    /// What an import brought was taken away.
    TakenBack {
        /// So many files were to be.
        count: usize,
        /// Why some were not, a sentence each.
        kept: Vec<String>,
    },
    /// It was written again.
    PutBack {
        /// So many files were to be.
        count: usize,
        /// Why some were not, a sentence each.
        kept: Vec<String>,
        /// What is to be done in the room now.
        acts: Vec<RoomAct>,
    },
    /// A log or a workspace was exported.
    Exported {
        /// Where to.
        file: PathBuf,
        /// What, in words.
        what: String,
        /// What stayed behind, in words; empty where nothing did.
        left_out: Vec<String>,
    },
    /// It could not be done.
    Failed(Problem),
    /// It was cancelled before anything came of it.
    Cancelled {
        /// What was being done.
        label: String,
    },
}

/// A job that was ordered and has not come back.
struct UnderWay {
    job: FileJob,
    control: JobControl,
    since: Instant,
}

/// The thread that does work with files. Dropping it finishes what was begun.
pub struct FileJobs {
    jobs: BackgroundJobs<(FileJob, JobControl), FileJobDone>,
    /// Oldest first.
    under_way: Vec<UnderWay>,
}

impl FileJobs {
    /// Starts the thread, for this workspace, whose new files are written by way of `files`.
    pub fn start(workspace: PathBuf, files: impl NewFiles + Send + 'static) -> io::Result<Self> {
        let run = move |(job, control): (FileJob, JobControl)| run(&workspace, &files, job, &control);
        let jobs = BackgroundJobs::start("file jobs", WAITING_AT_MOST, OnDrop::Finish, run)?;
        Ok(Self { jobs, under_way: Vec::new() })
    }

    /// Orders something; asking for the same again while it is under way does nothing. Refuses where too much waits.
    pub fn order(&mut self, job: FileJob) -> Result<(), Problem> {
        if self.under_way.iter().any(|other| other.job == job && !other.control.is_cancelled()) {
            return Ok(());
        }
        let control = JobControl::default();
        if self.under_way.len() >= WAITING_AT_MOST || !self.jobs.push((job.clone(), control.clone())) {
            let what = format!("{} things are being done with files already", self.under_way.len());
            return Err(Problem::warning("files", what, "do this again in a moment"));
        }
        self.under_way.push(UnderWay { job, control, since: Instant::now() });
        Ok(())
    }

    /// What came back since the last call. Never waits.
    pub fn take_finished(&mut self) -> Vec<FileJobDone> {
        let finished: Vec<FileJobDone> = std::iter::from_fn(|| self.jobs.try_next()).collect();
        // They come back in the order in which they were given.
        self.under_way.drain(..finished.len().min(self.under_way.len()));
        finished
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// What takes long enough to be shown.
    pub fn shown(&self) -> impl Iterator<Item = RunningJob> {
        let shown = self.under_way.iter().filter(|under_way| under_way.since.elapsed() >= SHOWN_AFTER);
        shown.map(|UnderWay { job, control, .. }| RunningJob { name: job.label(), control: Some(control.clone()) })
    }

    /// Waits until everything has come back, for tests.
    #[cfg(test)]
    pub fn wait(&mut self) -> Vec<FileJobDone> {
        let until = Instant::now() + std::time::Duration::from_secs(60);
        std::mem::take(&mut self.under_way).iter().filter_map(|_| self.jobs.next_until(until)).collect()
    }
}

fn run(workspace: &Path, files: &dyn NewFiles, job: FileJob, control: &JobControl) -> FileJobDone {
    if control.is_cancelled() {
        return FileJobDone::Cancelled { label: job.label() };
    }
    let label = job.label();
    match job {
        FileJob::TakeIn { paths, place, is_seen: false } if has_folder(&paths) => {
            FileJobDone::ImportFound(question(workspace, paths, None, Some(place)))
        }
        FileJob::Import { paths, folder, is_seen: false } if has_folder(&paths) => {
            FileJobDone::ImportFound(question(workspace, paths, folder, None))
        }
        FileJob::TakeIn { paths, place, .. } => {
            let plan = importing::plan(workspace, &paths, Destination::Room);
            FileJobDone::TakenIn { imported: importing::carry_out(workspace, files, &plan, control), place }
        }
        FileJob::Import { paths, folder, .. } => {
            let plan = importing::plan(workspace, &paths, destination(folder.as_deref()));
            FileJobDone::Imported(importing::carry_out(workspace, files, &plan, control))
        }
        FileJob::TakeBack { files: made } => {
            let kept = reverse(&made, control, |file| take_back(files, file));
            FileJobDone::TakenBack { count: made.len(), kept }
        }
        FileJob::PutBack { files: made, acts } => {
            let kept = reverse(&made, control, |file| put_back(workspace, files, file));
            FileJobDone::PutBack { count: made.len(), kept, acts }
        }
        FileJob::ExportLog { run, file, name } => {
            let file = file.unwrap_or_else(|| free_file(workspace, &name, "events.jsonl"));
            match export_log(workspace, &run, &file, control) {
                Ok(count) => {
                    let what = format!("{count} records of the event log");
                    FileJobDone::Exported { file, what, left_out: Vec::new() }
                }
                Err(ExportError::Cancelled) => FileJobDone::Cancelled { label },
                Err(error) => not_exported(&file, &error.to_string()),
            }
        }
        FileJob::ExportZip { file, name } => {
            let unsaved = files.flush();
            let file = file.unwrap_or_else(|| free_file(workspace, &name, "zip"));
            match archive::write_zip(workspace, &state_folder(workspace), &file, control) {
                Ok(archived) => {
                    let what = format!("The workspace with {} files", archived.files);
                    let unsaved = unsaved.iter().map(|problem| format!("the last changes of {}", problem.place));
                    let left_out = unsaved.chain(archived.left_out(NAMED_AT_MOST)).collect();
                    FileJobDone::Exported { file, what, left_out }
                }
                Err(ArchiveError::Cancelled) => FileJobDone::Cancelled { label },
                Err(error) => not_exported(&file, &error.to_string()),
            }
        }
        FileJob::WriteScene { stem, text } => {
            let place = format!("scenes/{stem}.yaml");
            match files.create(&place, text.as_bytes()) {
                Ok(_) => FileJobDone::SceneWritten { stem },
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => FileJobDone::Failed(Problem::warning(
                    place,
                    "there is a scene of that name",
                    "choose another name; the scene that is there stays as it is",
                )),
                Err(error) => FileJobDone::Failed(Problem::error(
                    place,
                    format!("it cannot be written: {error}"),
                    "see that the folder may be written to and that the disk is not full",
                )),
            }
        }
    }
}

fn has_folder(paths: &[PathBuf]) -> bool {
    paths.iter().any(|path| path.is_dir())
}

fn destination(folder: Option<&str>) -> Destination<'_> {
    folder.map_or(Destination::ByKind, Destination::Folder)
}

/// Undoes or redoes an import file by file; why some stay as they are.
fn reverse(made: &[NewFile], control: &JobControl, one: impl Fn(&NewFile) -> Result<(), String>) -> Vec<String> {
    let mut kept = Vec::new();
    for (done, file) in made.iter().enumerate() {
        control.set_done(done, made.len());
        let reversed = if control.is_cancelled() {
            Err(format!("'{}' stays as it is: it was cancelled.", file.path))
        } else {
            one(file)
        };
        kept.extend(reversed.err());
    }
    kept
}

/// Takes a file away that came in, as long as it can be put back.
fn take_back(files: &dyn NewFiles, file: &NewFile) -> Result<(), String> {
    if file.version.is_none() {
        return Err(format!("'{}' stays: it has no version from which it could be put back.", file.path));
    }
    files.take_back(file)
}

/// Writes a file again that was taken away, unless there is another by now.
fn put_back(workspace: &Path, files: &dyn NewFiles, file: &NewFile) -> Result<(), String> {
    let path = &file.path;
    let history = FileHistory::open(workspace, &state_folder(workspace)).map_err(|error| error.to_string())?;
    let text = file.version.map_or(Ok(None), |version| history.text(path, version));
    let Some(text) = text.map_err(|error| error.to_string())? else { return Ok(()) };
    match files.create(path, text.as_bytes()) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match history.read(path) {
            Ok(there) if there == text => Ok(()),
            _ => Err(format!("there is another '{path}' by now, which stays.")),
        },
        Err(error) => Err(format!("'{path}' cannot be written: {error}.")),
    }
}

/// What the person is asked before files come in.
fn question(workspace: &Path, paths: Vec<PathBuf>, folder: Option<String>, place: Option<DropPlace>) -> ImportQuestion {
    let destination = if place.is_some() { Destination::Room } else { destination(folder.as_deref()) };
    let summary = importing::plan(workspace, &paths, destination).summary();
    ImportQuestion { paths, folder, place, summary }
}

fn not_exported(file: &Path, why: &str) -> FileJobDone {
    let what = format!("the export failed: {why}");
    let remedy = "see that the folder may be written to and that the disk is not full";
    FileJobDone::Failed(Problem::error(file.display().to_string(), what, remedy))
}

/// The first file among the exports whose number is free.
fn free_file(workspace: &Path, name: &str, ending: &str) -> PathBuf {
    let folder = workspace.join(archive::EXPORTS);
    let names = numbered::numbered(name, &format!(".{ending}"), 1);
    folder.join(numbered::first_free(names, |name| folder.join(name).exists()))
}

/// Writes the log into a new file: behind no link in the workspace, wherever the person says elsewhere.
fn export_log(workspace: &Path, run: &str, file: &Path, control: &JobControl) -> Result<u64, ExportError> {
    let reader = Reader::open(&state_folder(workspace))?;
    let write = |file: &fs::File| store::export_events(&reader, Some(run), file, control);
    if let Some(path) = file.strip_prefix(workspace).ok().and_then(Path::to_str) {
        return safe_fs::write_new(workspace, path, write);
    }
    let no_name = || io::Error::new(io::ErrorKind::InvalidInput, "it has no name that is text");
    let name = file.file_name().and_then(|name| name.to_str()).ok_or_else(no_name)?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    safe_fs::write_new(folder, name, write)
}

#[cfg(test)]
mod tests {
    use bevy::math::Vec2;

    use super::*;

    fn run_now(workspace: &Path, job: FileJob) -> FileJobDone {
        run(workspace, &workspace.to_owned(), job, &JobControl::default())
    }

    #[test]
    fn what_is_cancelled_before_it_begins_does_nothing() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let control = JobControl::default();
        control.cancel();
        let done = run(folder.path(), &folder.path().to_owned(), scene("new"), &control);
        assert_eq!(done, FileJobDone::Cancelled { label: "Writing the scene new".into() });
        assert!(!folder.path().join("scenes").exists());
    }

    fn scene(stem: &str) -> FileJob {
        FileJob::WriteScene { stem: stem.into(), text: "name: New\n".into() }
    }

    #[test]
    fn a_scene_is_written_once_and_never_over_another() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut jobs =
            FileJobs::start(folder.path().to_owned(), folder.path().to_owned()).expect("a thread can be started");
        jobs.order(scene("new")).expect("there is room");
        jobs.order(scene("new")).expect("asking twice is no fault");
        let finished = jobs.wait();
        assert_eq!(finished, [FileJobDone::SceneWritten { stem: "new".into() }], "the second click did nothing");
        fs::write(folder.path().join("scenes/new.yaml"), "mine").expect("files can be written");
        jobs.order(scene("new")).expect("there is room");
        let finished = jobs.wait();
        assert!(matches!(&finished[..], [FileJobDone::Failed(problem)] if problem.what.contains("of that name")));
        assert_eq!(fs::read_to_string(folder.path().join("scenes/new.yaml")).expect("it is there"), "mine");
    }

    #[test]
    fn a_folder_comes_in_only_after_the_person_has_seen_what_is_in_it() {
        let (workspace, from) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let pack = from.path().join("pack");
        fs::create_dir(&pack).expect("folders can be made");
        let text = "---\nname: zoe\ndescription: Reviews\n---\nYou are Zoe.";
        fs::write(pack.join("zoe.md"), text).expect("files can be written");
        let import = |is_seen| FileJob::Import { paths: vec![pack.clone()], folder: None, is_seen };
        let FileJobDone::ImportFound(question) = run_now(workspace.path(), import(false)) else {
            panic!("it is asked")
        };
        assert!(question.summary[0].starts_with("1 agent into agents/"), "{:?}", question.summary);
        assert!(!workspace.path().join("agents").exists());
        let FileJobDone::Imported(imported) = run_now(workspace.path(), import(true)) else { panic!("it comes in") };
        assert_eq!(imported.paths(), ["agents/pack/zoe.md"]);
        let drop = FileJob::TakeIn {
            paths: vec![pack],
            place: DropPlace { position: Vec2::ZERO, exactly: false },
            is_seen: false,
        };
        assert!(matches!(run_now(workspace.path(), drop), FileJobDone::ImportFound(_)));
    }

    #[test]
    fn what_cannot_be_written_is_told() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::write(folder.path().join("scenes"), "a file where a folder should be").expect("files can be written");
        let mut jobs =
            FileJobs::start(folder.path().to_owned(), folder.path().to_owned()).expect("a thread can be started");
        jobs.order(scene("new")).expect("there is room");
        let finished = jobs.wait();
        assert!(matches!(&finished[..], [FileJobDone::Failed(problem)] if problem.what.contains("cannot be written")));
    }

    #[test]
    fn the_line_is_bounded() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut jobs =
            FileJobs::start(folder.path().to_owned(), folder.path().to_owned()).expect("a thread can be started");
        let refused = (0..2 * WAITING_AT_MOST).filter(|number| jobs.order(scene(&number.to_string())).is_err());
        assert_eq!(refused.count(), WAITING_AT_MOST, "what came back is not taken yet");
        jobs.wait();
        jobs.order(scene("later")).expect("there is room again");
    }
}
