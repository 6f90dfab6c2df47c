//! The clerk of the window: a thread that does what takes too long for a frame, one thing after the other. Writes
//! down what is to be remembered, looks which providers are set up, and draws pictures of the window.

use std::path::PathBuf;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use super::remembering::{MemoryFile, Remembered};
use super::screenshot::Seen;
use super::steering::picture_file;
use crate::base::Problem;
use crate::gateway::key_keeping::keep_key;
use crate::gateway::keys::Secret;
use crate::gateway::{Environment, GatewaySettings, ProviderStatus, provider_status};
use crate::ui::editor::Draft;
use crate::view::raster::write_png;

/// Jobs that wait at most.
const JOBS: usize = 8;
/// News that wait at most: at least one for each job and one for the job under way.
const NEWS: usize = 64;

/// Something to do.
pub(super) enum Job {
    /// Write this down.
    Remember(Box<Remembered>),
    /// Keep what was written into files and not saved.
    Drafts {
        /// In this file.
        file: PathBuf,
        /// All of it.
        drafts: Vec<Draft>,
    },
    /// Look which providers are set up.
    Providers {
        /// Where they are asked.
        settings: Box<GatewaySettings>,
        /// Where their keys are.
        environment: Environment,
    },
    /// Keep a key to a provider.
    Key {
        /// Under the name of its variable.
        name: &'static str,
        /// The key.
        key: Secret,
        /// Where the person's files are.
        environment: Environment,
    },
    /// Draw the window.
    Picture {
        /// As it was seen.
        seen: Box<Seen>,
        /// Into this file; into a new one in the folder where absent.
        file: Option<PathBuf>,
        /// The folder of pictures.
        folder: PathBuf,
        /// What a new file is called, before its number.
        name: String,
    },
}

/// What came of it.
pub(super) enum News {
    /// Which providers are set up.
    Providers(Vec<ProviderStatus>),
    /// A key was kept in this file, or could not be.
    Key(&'static str, Result<PathBuf, Problem>),
    /// Something could not be written down.
    NotRemembered(Problem),
    /// A picture lies there, or could not be drawn.
    Picture(Result<PathBuf, String>),
}

/// The window's end of the thread. Dropping it does what waits and ends the thread.
pub(super) struct Clerk {
    jobs: Option<Sender<Job>>,
    news: Receiver<News>,
    thread: Option<JoinHandle<()>>,
}

impl Clerk {
    /// Starts the thread. Where that fails, nothing is remembered and every job is refused.
    pub(super) fn start(file: Option<MemoryFile>) -> Self {
        let (jobs, waiting) = bounded(JOBS);
        let (tell, news) = bounded(NEWS);
        let thread = std::thread::Builder::new().name("clerk".into()).spawn(move || work(file, &waiting, &tell));
        if let Err(error) = &thread {
            tracing::warn!("the window's clerk cannot be started: {error}");
        }
        let jobs = thread.is_ok().then_some(jobs);
        Self { jobs, news, thread: thread.ok() }
    }

    /// Gives it something to do, without waiting; whether it took it.
    pub(super) fn give(&self, job: Job) -> bool {
        let Some(jobs) = &self.jobs else { return false };
        match jobs.try_send(job) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => false,
            Err(TrySendError::Disconnected(_)) => {
                tracing::warn!("the window's clerk is gone");
                false
            }
        }
    }

    /// Gives it the last thing to do, waiting until there is room. For when the window closes.
    pub(super) fn give_last(&self, job: Job) {
        if let Some(jobs) = &self.jobs
            && jobs.send(job).is_err()
        {
            tracing::warn!("the window's clerk is gone; how the window was left is not remembered");
        }
    }

    /// What came of something, if anything is new.
    pub(super) fn news(&self) -> Option<News> {
        self.news.try_recv().ok()
    }
}

impl Drop for Clerk {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the window's clerk panicked; how the window was left may not be remembered");
        }
    }
}

fn work(mut file: Option<MemoryFile>, jobs: &Receiver<Job>, tell: &Sender<News>) {
    while let Ok(job) = jobs.recv() {
        let news = match job {
            Job::Remember(remembered) => match file.as_mut().map(|file| file.write(&remembered)) {
                Some(Err(problem)) => {
                    tracing::warn!("{problem}");
                    Some(News::NotRemembered(problem))
                }
                Some(Ok(())) | None => None,
            },
            Job::Drafts { file, drafts } => match super::drafts::write(&file, &drafts) {
                Ok(()) => None,
                Err(error) => {
                    let what = format!("what you wrote and did not save cannot be kept: {error}");
                    let remedy = "save it, or see that the folder may be written to";
                    Some(News::NotRemembered(Problem::warning(file.display().to_string(), what, remedy)))
                }
            },
            Job::Key { name, key, environment } => Some(News::Key(name, keep_key(&environment, name, &key))),
            Job::Providers { settings, environment } => Some(News::Providers(provider_status(&settings, &environment))),
            Job::Picture { seen, file, folder, name } => {
                let file = file.unwrap_or_else(|| picture_file(&folder, &name));
                Some(News::Picture(draw(*seen, file)))
            }
        };
        if let Some(news) = news {
            // Full, or nobody listens any more: news of the window are worth no waiting.
            let _ = tell.try_send(news);
        }
    }
}

fn draw(seen: Seen, file: PathBuf) -> Result<PathBuf, String> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    write_png(&seen.picture(), &file).map_err(|error| error.to_string())?;
    Ok(file)
}
