//! The queue of file jobs, which run in the background. Their results are handled by a later frame.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use super::background_jobs::{BackgroundJobs, OnDrop, SHOWN_AFTER};
use super::file_jobs::{FileJob, FileJobDone};
use super::file_work::run;
use crate::app::importing::NewFiles;
use crate::base::{JobControl, Problem};
use crate::ui::state::jobs::RunningJob;

/// The maximum number of unfinished jobs.
const MAX_WAITING: usize = 8;

/// A job whose result has not arrived.
struct QueuedJob {
    job: FileJob,
    control: JobControl,
    since: Instant,
}

/// The thread for file jobs. Dropping it finishes started jobs.
pub struct FileJobs {
    jobs: BackgroundJobs<(FileJob, JobControl), FileJobDone>,
    /// Unfinished jobs, oldest first.
    under_way: Vec<QueuedJob>,
}

impl FileJobs {
    /// Starts the thread for this workspace; `files` writes new files.
    pub fn start(workspace: PathBuf, files: impl NewFiles + Send + 'static) -> io::Result<Self> {
        let run = move |(job, control): (FileJob, JobControl)| run(&workspace, &files, job, &control);
        let jobs = BackgroundJobs::start("file jobs", MAX_WAITING, OnDrop::Finish, run)?;
        Ok(Self { jobs, under_way: Vec::new() })
    }

    /// Queues a job; does nothing if the same one is pending. Fails if the queue is full.
    pub fn order(&mut self, job: FileJob) -> Result<(), Problem> {
        if self.under_way.iter().any(|other| other.job == job && !other.control.is_cancelled()) {
            return Ok(());
        }
        let control = JobControl::default();
        if self.under_way.len() >= MAX_WAITING || !self.jobs.push((job.clone(), control.clone())) {
            let what = format!("{} file operations are already running", self.under_way.len());
            return Err(Problem::warning("files", what, "try again in a moment"));
        }
        self.under_way.push(QueuedJob { job, control, since: Instant::now() });
        Ok(())
    }

    /// The results since the last call. Never waits.
    pub fn take_finished(&mut self) -> Vec<FileJobDone> {
        let finished: Vec<FileJobDone> = std::iter::from_fn(|| self.jobs.try_next()).collect();
        // Results arrive in queue order.
        self.under_way.drain(..finished.len().min(self.under_way.len()));
        finished
    }

    /// Whether no job is pending.
    pub fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Jobs that run long enough to be shown.
    pub fn shown(&self) -> impl Iterator<Item = RunningJob> {
        let shown = self.under_way.iter().filter(|under_way| under_way.since.elapsed() >= SHOWN_AFTER);
        shown.map(|QueuedJob { job, control, .. }| RunningJob { name: job.label(), control: Some(control.clone()) })
    }

    /// Waits for all results.
    #[cfg(test)]
    pub fn wait(&mut self) -> Vec<FileJobDone> {
        let until = Instant::now() + std::time::Duration::from_secs(60);
        std::mem::take(&mut self.under_way).iter().filter_map(|_| self.jobs.next_until(until)).collect()
    }
}

#[cfg(test)]
mod tests {
    use bevy::math::Vec2;

    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::ui::state::DropPlace;

    fn run_now(workspace: &Path, job: FileJob) -> FileJobDone {
        run(workspace, &workspace.to_owned(), job, &JobControl::default())
    }

    #[test]
    fn a_job_cancelled_before_it_starts_has_no_effect() {
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
    fn a_new_scene_never_overwrites_another() {
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
        assert!(matches!(&finished[..], [FileJobDone::Failed(problem)] if problem.what.contains("with that name")));
        assert_eq!(fs::read_to_string(folder.path().join("scenes/new.yaml")).expect("it should exist"), "mine");
    }

    #[test]
    fn a_folder_is_imported_only_after_confirmation() {
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
        let drop = FileJob::ImportDropped {
            paths: vec![pack],
            place: DropPlace { position: Vec2::ZERO, exactly: false },
            is_seen: false,
        };
        assert!(matches!(run_now(workspace.path(), drop), FileJobDone::ImportFound(_)));
    }

    #[test]
    fn write_errors_are_reported() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::write(folder.path().join("scenes"), "a file where a folder should be").expect("files can be written");
        let mut jobs =
            FileJobs::start(folder.path().to_owned(), folder.path().to_owned()).expect("a thread can be started");
        jobs.order(scene("new")).expect("there is room");
        let finished = jobs.wait();
        assert!(matches!(&finished[..], [FileJobDone::Failed(problem)] if problem.what.contains("cannot be written")));
    }

    #[test]
    fn the_queue_is_bounded() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut jobs =
            FileJobs::start(folder.path().to_owned(), folder.path().to_owned()).expect("a thread can be started");
        let refused = (0..2 * MAX_WAITING).filter(|number| jobs.order(scene(&number.to_string())).is_err());
        assert_eq!(refused.count(), MAX_WAITING, "what came back is not taken yet");
        jobs.wait();
        jobs.order(scene("later")).expect("there is room again");
    }
}
