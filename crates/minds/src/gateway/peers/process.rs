//! The process of an MCP server or a coding agent: started with little more than its definition, in its own process
//! group, which ends with it whatever happens.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::{SetupFailure, expanded, plain};
use crate::agent::McpTransport;
use crate::gateway::keys::private_variables::USUAL_VARIABLES;
use crate::gateway::programs::process::{Group, find_program};
use crate::gateway::programs::sandbox::attribute_reports::PutBackListener;
use crate::gateway::programs::sandbox::attribute_watch::WatchedProgram;
use crate::gateway::programs::sandbox::{Confinement, Level, Rights};

/// The number of bytes of a process's output outside of the protocol that are kept.
const STDERR_KEPT: usize = 4 * 1024;
/// The folder for new files of programs, relative to the workspace.
const OUTPUT_FOLDER: &str = "artifacts";
/// How long a process may take to exit after a termination signal.
const END_ASKED: Duration = Duration::from_millis(500);

/// A started process, before any message was exchanged.
pub(in crate::gateway) struct Started {
    /// The process.
    pub(in crate::gateway) process: Process,
    /// Its standard input.
    pub(in crate::gateway) stdin: ChildStdin,
    /// Its standard output.
    pub(in crate::gateway) stdout: ChildStdout,
    /// The values of substituted variables, which must not be shown.
    pub(in crate::gateway) secrets: Vec<String>,
}

/// A running process. Dropping it ends it and everything that it started.
pub(in crate::gateway) struct Process {
    child: Child,
    group: Group,
    words: Words,
    /// The guarded files beside it, if the system cannot keep it from changing their attributes.
    watched: Option<Arc<WatchedProgram>>,
}

/// The environment in which a process is started.
pub(in crate::gateway) struct Place<'a> {
    /// The program, as a person knows it.
    pub(in crate::gateway) name: String,
    /// Receives what it changed of guarded files.
    pub(in crate::gateway) put_back: PutBackListener,
    /// The path of the workspace.
    pub(in crate::gateway) folder: &'a Path,
    /// Folders and files outside of the workspace that it can use.
    pub(in crate::gateway) own: &'a [PathBuf],
    /// A folder that it cannot see.
    pub(in crate::gateway) hidden: Option<&'a Path>,
    /// The sandbox; `None` to run without one.
    pub(in crate::gateway) confinement: Option<&'a Confinement>,
    /// Returns the value of one of the person's environment variables.
    pub(in crate::gateway) variable: &'a (dyn Fn(&str) -> Option<String> + Sync),
}

/// Starts a process.
pub(in crate::gateway) async fn start(transport: &McpTransport, place: &Place<'_>) -> Result<Started, SetupFailure> {
    let McpTransport::Stdio { command, args, env, cwd, network } = transport else {
        return Err(SetupFailure::new("it cannot be started here", ""));
    };
    let mut secrets = Vec::new();
    let mut put_in = |text: &String| expanded(text, &|name| (place.variable)(name), &mut secrets);
    let program = put_in(command)?;
    let args = args.iter().map(&mut put_in).collect::<Result<Vec<_>, _>>()?;
    let variables =
        env.iter().map(|(name, value)| Ok((name.clone(), put_in(value)?))).collect::<Result<Vec<_>, SetupFailure>>()?;
    let folder = folder_of(place.folder, cwd.as_deref())?;
    let program = find_program(&program, &folder).ok_or_else(|| {
        let what = format!("no program {program:?} is installed");
        SetupFailure::new(what, format!("install {program}, or fix the command"))
    })?;
    let mut words = vec![program.display().to_string()];
    words.extend(args);
    let hidden: Vec<PathBuf> = place.hidden.map(Path::to_owned).into_iter().collect();
    // It may run for days, and new entries would only appear in the workspace afterwards.
    let rights = Rights {
        folder: place.folder,
        new_entries: false,
        network: *network,
        own: place.own,
        hidden: &hidden,
        limits: None,
    };
    let (words, is_watched_over) = match place.confinement {
        Some(confinement) => {
            make_output_folder(place.folder, confinement);
            confinement.wrap(words, &rights)
        }
        None => Confinement::none().wrap(words, &rights),
    };
    let watched = match place.confinement.filter(|confinement| confinement.has_to_put_back()) {
        Some(_) => Some(Arc::new(watched(place).await?)),
        None => None,
    };
    let mut start = Command::new(&words[0]);
    start.args(&words[1..]).current_dir(&folder).env_clear();
    start.envs(USUAL_VARIABLES.iter().filter_map(|name| Some((*name, std::env::var_os(name)?))));
    start.envs(variables);
    start.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    start.process_group(0);
    let mut child = start.spawn().map_err(|error| {
        let what = format!("{} cannot be started: {error}", program.display());
        SetupFailure::new(what, "check that it is installed and executable")
    })?;
    let group = Group::of(&child, is_watched_over);
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(SetupFailure::new("it has no input and output", ""));
    };
    let words = Words::default();
    // Ends with the process. The output is always read, so that the process never blocks.
    tokio::spawn(drain(stderr, words.clone()));
    Ok(Started { process: Process { child, group, words, watched }, stdin, stdout, secrets })
}

/// Begins to guard what the system cannot.
async fn watched(place: &Place<'_>) -> Result<WatchedProgram, SetupFailure> {
    let began = WatchedProgram::begin(place.name.clone(), place.folder, place.put_back.clone()).await;
    began.map_err(|error| {
        let what = format!("the guarded files of the workspace cannot be read: {error}");
        SetupFailure::new(what, "check that you can read the folder of the workspace")
    })
}

/// Creates the folder in which programs are told to put new files, if the sandbox does not let them create it. Without
/// it, such a program could not create anything in a new workspace.
fn make_output_folder(workspace: &Path, confinement: &Confinement) {
    if confinement.level() != Level::None
        && let Err(error) = std::fs::create_dir(workspace.join(OUTPUT_FOLDER))
        && error.kind() != ErrorKind::AlreadyExists
    {
        // The program is told what it cannot write when it tries.
        tracing::debug!("{OUTPUT_FOLDER} cannot be created: {error}");
    }
}

/// Returns the working folder: the workspace, or a folder relative to it unless the path is absolute.
fn folder_of(workspace: &Path, cwd: Option<&str>) -> Result<PathBuf, SetupFailure> {
    let folder = workspace.join(cwd.unwrap_or_default());
    folder.canonicalize().map_err(|error| {
        let what = format!("its folder {} cannot be opened: {error}", folder.display());
        SetupFailure::new(what, "create the folder, or fix cwd")
    })
}

async fn drain(mut stderr: impl AsyncRead + Unpin, words: Words) {
    let mut block = [0; 4096];
    while let Ok(count @ 1..) = stderr.read(&mut block).await {
        let mut captured = words.0.lock().unwrap_or_else(PoisonError::into_inner);
        captured.extend(&block[..count]);
        let more = captured.len().saturating_sub(STDERR_KEPT);
        captured.drain(..more);
    }
}

/// The process's output outside of the protocol, which can be read without the process handle.
#[derive(Clone, Default)]
pub(in crate::gateway) struct Words(Arc<Mutex<VecDeque<u8>>>);

impl Words {
    /// Returns the end of the output, on one line.
    pub(in crate::gateway) fn last(&self) -> String {
        let captured = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = captured.iter().copied().collect();
        drop(captured);
        let text = String::from_utf8_lossy(&bytes);
        let mut lines: Vec<&str> = text.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
        lines.reverse();
        plain(&lines.join(" / "), 400)
    }
}

impl Process {
    /// Returns the output outside of the protocol.
    pub(in crate::gateway) fn output(&self) -> Words {
        self.words.clone()
    }

    /// Returns the guarded files beside it, which have to be compared after what it does.
    pub(in crate::gateway) fn watched(&self) -> Option<Arc<WatchedProgram>> {
        self.watched.clone()
    }

    /// Returns the end of the output outside of the protocol, on one line.
    pub(in crate::gateway) fn last_words(&self) -> String {
        self.words.last()
    }

    /// Ends a process whose input is closed: it may exit by itself in time, and is killed otherwise.
    pub(in crate::gateway) async fn end(mut self, patience: Duration) {
        if timeout(patience, self.child.wait()).await.is_err() {
            self.group.ask_to_end();
            // If the process has not exited by then, it is killed with its group.
            let _ = timeout(END_ASKED, self.child.wait()).await;
        }
        self.group.kill();
        let _ = timeout(END_ASKED, self.child.wait()).await;
        if let Some(watched) = self.watched.take() {
            watched.end().await;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.group.kill();
    }
}
