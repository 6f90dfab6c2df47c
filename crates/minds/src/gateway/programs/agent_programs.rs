//! Programs that agents run: given as a list of words, never as a shell line; sandboxed where possible; limited in
//! time, memory, processes and output; and ended together with everything that they started.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio_util::sync::CancellationToken;

use super::code::code_references::is_data_name;
use super::code::command_code::{AgentFiles, CodeCheck, SeenCode};
use super::git_protection;
use super::process::{Group, find_program};
use super::sandbox::attribute_reports::PutBackListener;
use super::sandbox::attribute_watch::SupervisorReport;
use super::sandbox::program_access::hidden_in;
use super::sandbox::supervisor::PUT_BACK_VARIABLE;
use super::sandbox::{Confinement, Level, Limits, Rights};
use crate::base::{Id, text};
use crate::gateway::keys::Environment;
use crate::gateway::keys::private_variables::USUAL_VARIABLES;
use crate::workspace::SettingsSection;
use crate::workspace::vfs::{ChangedByProgram, ObservedProgram, ProgramObserver};

/// How long the remaining output of an ended program may take to arrive.
pub(in crate::gateway) const LAST_WORDS: Duration = Duration::from_millis(500);
/// The maximum length of a command in a report, in characters.
const MAX_SHOWN_CHARS: usize = 80;
/// How long a program may take to exit after a termination signal.
const END_ASKED: Duration = Duration::from_millis(300);
/// The maximum output of a program in bytes, after which it is killed.
pub(in crate::gateway) const MAX_SAID: u64 = 64 * 1024 * 1024;

settings! {
    /// How programs that agents start with `execute_command` are run.
    pub struct ProgramSettings {
        /// Seconds until a program is killed, unless the agent sets another time.
        pub timeout_secs: f64 = 120.0, in 1.0..=86_400.0;
        /// The maximum time in seconds that an agent may set.
        pub max_timeout_secs: f64 = 1_800.0, in 1.0..=86_400.0, once "timeout_secs_at_most";
        /// MiB of memory that it may use, with its child processes.
        pub max_memory_mib: u32 = 4_096, in 16.0..=1_048_576.0, once "memory_mb";
        /// MiB of each file that it may write.
        pub max_file_mib: u32 = 4_096, in 1.0..=1_048_576.0, once "file_mb_at_most";
        /// Processes that it may have at once.
        pub max_processes: u32 = 256, in 1.0..=10_000.0, once "processes_at_most";
        /// Characters of its output that the agent receives; the beginning and the end of longer output.
        pub max_output_chars: u32 = 20_000, in 200.0..=1_000_000.0, once "output_chars_at_most";
        /// Whether programs may use the network.
        pub network: bool = false;
    }
}

impl ProgramSettings {
    /// Returns the maximum duration of a program.
    pub(in crate::gateway) fn longest(&self) -> Duration {
        Duration::from_secs_f64(self.max_timeout_secs.clamp(1.0, 86_400.0))
    }
}

impl SettingsSection for ProgramSettings {
    const NAME: &'static str = "commands";
}

/// A program to run.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramOrder {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// The folder below the workspace that is used as the program's whole workspace: it cannot write outside of it.
    /// `None` for the workspace itself.
    pub root: Option<String>,
    /// The working folder, relative to the workspace; empty for the workspace itself.
    pub folder: String,
    /// The time limit in seconds, if the agent set one.
    pub timeout_secs: Option<f64>,
    /// The settings.
    pub settings: ProgramSettings,
    /// Observes which files of the workspace it changes; `None` if nobody needs to know.
    pub observer: Option<ProgramObserver>,
    /// What to do with the files that it runs.
    pub code: CodeCheck,
}

/// How a program ended.
#[derive(Clone, PartialEq, Debug)]
pub enum ProgramEnd {
    /// It exited with this code.
    Exited(i32),
    /// It was killed by something else.
    Killed,
    /// It exceeded its time limit.
    TimedOut,
    /// It exceeded its output limit.
    OutputLimitExceeded,
    /// It was stopped.
    Stopped,
    /// It could not be started, with the reason.
    NotStarted(String),
    /// It was not started, because only the contents of the files that it runs were wanted, or others are expected.
    Seen(SeenCode),
}

/// A program that has ended.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramEnded {
    /// How it ended.
    pub how: ProgramEnd,
    /// The duration in seconds.
    pub secs: f64,
    /// The standard output.
    pub stdout: String,
    /// The standard error output.
    pub stderr: String,
    /// The files of the workspace that it changed, if it was observed.
    pub changed: ChangedByProgram,
}

impl ProgramEnded {
    /// Creates the report of a program that could not be started.
    pub fn not_started(why: String) -> Self {
        Self {
            how: ProgramEnd::NotStarted(why),
            secs: 0.0,
            stdout: String::new(),
            stderr: String::new(),
            changed: ChangedByProgram::default(),
        }
    }

    /// Removes secrets from the output.
    pub(in crate::gateway) fn redact(&mut self, redacted: impl Fn(&str) -> String) {
        (self.stdout, self.stderr) = (redacted(&self.stdout), redacted(&self.stderr));
    }
}

/// The folders with which programs run.
pub(in crate::gateway) struct ProgramPlace {
    workspace: Option<PathBuf>,
    hidden: Option<PathBuf>,
    /// Receives what they change of guarded files.
    put_back: PutBackListener,
}

impl ProgramPlace {
    /// Uses this workspace, and hides this folder.
    pub(in crate::gateway) fn in_folder(workspace: &Path, hidden: Option<&Path>) -> Self {
        let put_back = PutBackListener::default();
        Self { workspace: Some(workspace.to_owned()), hidden: hidden.map(Path::to_owned), put_back }
    }

    /// Uses the workspace and the config folder of this environment.
    pub(in crate::gateway) fn of(environment: &Environment) -> Self {
        Self {
            workspace: environment.workspace().map(Path::to_owned),
            hidden: environment.config_folder().map(Path::to_owned),
            put_back: PutBackListener::default(),
        }
    }

    /// Passes what programs change of guarded files to this listener.
    pub(in crate::gateway) fn telling(self, put_back: PutBackListener) -> Self {
        Self { put_back, ..self }
    }
}

/// Runs a program to its end, and finds out what it changed.
pub(in crate::gateway) async fn run(
    mut order: ProgramOrder,
    place: ProgramPlace,
    cancel: CancellationToken,
) -> ProgramEnded {
    let observer = order.observer.clone();
    let observed = begin_observing(order.observer.take(), true).await;
    let begun = Instant::now();
    let ended = run_in(order, observer, place, cancel).await;
    let secs = begun.elapsed().as_secs_f64();
    let changed = end_observing(observed).await;
    match ended {
        Ok((how, stdout, stderr)) => ProgramEnded { how, secs, stdout, stderr, changed },
        Err(why) => ProgramEnded { changed, ..ProgramEnded::not_started(why) },
    }
}

/// Starts to attribute changes of files to the agent that runs a program.
pub(in crate::gateway) async fn begin_observing(
    observer: Option<ProgramObserver>,
    is_confined: bool,
) -> Option<ObservedProgram> {
    let mut observer = observer?;
    observer.owner.is_confined = is_confined && Confinement::of_this_computer().level() != Level::None;
    tokio::task::spawn_blocking(move || observer.begin()).await.ok().flatten()
}

/// Ends that after the program has ended. Returns what it changed.
pub(in crate::gateway) async fn end_observing(observed: Option<ObservedProgram>) -> ChangedByProgram {
    let Some(observed) = observed else { return ChangedByProgram::default() };
    tokio::task::spawn_blocking(move || observed.end()).await.unwrap_or_default()
}

/// The files that agents wrote, as the file service knows them. Nobody wrote any without it.
struct ObservedFiles<'a>(Option<&'a ProgramObserver>);

impl AgentFiles for ObservedFiles<'_> {
    fn writers(&self, paths: Vec<String>) -> BTreeMap<String, Id> {
        self.0.map(|files| files.agent_writers(paths)).unwrap_or_default()
    }

    fn all(&self) -> Vec<String> {
        self.0.map(|files| files.agent_files(|path| !is_data_name(path))).unwrap_or_default()
    }
}

type Ran = (ProgramEnd, String, String);

async fn run_in(
    order: ProgramOrder,
    observer: Option<ProgramObserver>,
    place: ProgramPlace,
    cancel: CancellationToken,
) -> Result<Ran, String> {
    let ProgramOrder { words, root, folder, timeout_secs, settings, code, .. } = order;
    if let Some(workspace) = place.workspace.clone().filter(|_| !code.is_empty()) {
        let copy = root.clone();
        let look = move || code.unexpected(&workspace, copy.as_deref(), &ObservedFiles(observer.as_ref()));
        let looked = tokio::task::spawn_blocking(look).await;
        if let Some(seen) = looked.map_err(|_| "the files that it runs cannot be read".to_owned())? {
            return Ok((ProgramEnd::Seen(seen), String::new(), String::new()));
        }
    }
    let (mut program, stdout, stderr) = start(words, (root, &folder), &settings, &place)?;
    let chars = settings.max_output_chars.clamp(200, 1_000_000) as usize;
    let too_much = CancellationToken::new();
    let said = tokio::spawn(listen(stdout, CappedOutput::new(chars), too_much.clone()));
    let complained = tokio::spawn(listen(stderr, CappedOutput::new(chars / 2), too_much.clone()));
    let most = settings.longest();
    let secs = timeout_secs.unwrap_or(settings.timeout_secs);
    let patience = if secs > 0.0 { Duration::from_secs_f64(secs).min(most) } else { most };
    let how = program.ended(patience, &cancel, &too_much).await;
    let said = last(said).await;
    let complained = last(complained).await;
    Ok((how, said, complained))
}

/// A running program. Its whole process group ends with it.
pub(in crate::gateway) struct RunningProgram {
    child: Child,
    group: Group,
    /// What its supervisor will say about guarded files.
    report: Option<SupervisorReport>,
}

impl RunningProgram {
    /// Waits until the program has ended. Ends it if it exceeds its time or output limit, or is cancelled.
    pub(in crate::gateway) async fn ended(
        &mut self,
        patience: Duration,
        stop: &CancellationToken,
        too_much: &CancellationToken,
    ) -> ProgramEnd {
        let how = tokio::select! {
            status = self.child.wait() => match status.map(|status| status.code()) {
                Ok(Some(code)) => ProgramEnd::Exited(code),
                _ => ProgramEnd::Killed,
            },
            () = tokio::time::sleep(patience) => ProgramEnd::TimedOut,
            () = stop.cancelled() => ProgramEnd::Stopped,
            () = too_much.cancelled() => ProgramEnd::OutputLimitExceeded,
        };
        if !matches!(how, ProgramEnd::Exited(_) | ProgramEnd::Killed) {
            self.group.ask_to_end();
            // If the program has not exited by then, it is killed with its group.
            let _ = tokio::time::timeout(END_ASKED, self.child.wait()).await;
        }
        self.group.kill();
        if let Some(report) = self.report.take() {
            report.tell();
        }
        how
    }
}

/// Starts a program in a folder of the workspace, sandboxed and with its limits. The error says why that is impossible.
pub(in crate::gateway) fn start(
    words: Vec<String>,
    (root, folder): (Option<String>, &str),
    settings: &ProgramSettings,
    place: &ProgramPlace,
) -> Result<(RunningProgram, ChildStdout, ChildStderr), String> {
    let workspace = place.workspace.clone().ok_or("there is no workspace to run it in")?;
    let confinement = Confinement::of_this_computer();
    let shown = format!("the command {:?}", text::truncate(&text::one_line(&words.join(" ")), MAX_SHOWN_CHARS));
    let report = Some(&workspace).filter(|_| confinement.has_to_put_back());
    let report = report.and_then(|workspace| SupervisorReport::expected(workspace, shown, place.put_back.clone()));
    let mut hidden: Vec<PathBuf> = place.hidden.iter().cloned().collect();
    // In a part of the workspace, the keys of the whole workspace are hidden, too.
    hidden.extend(root.iter().flat_map(|_| hidden_in(&workspace)));
    let workspace = root.map_or(workspace.clone(), |root| workspace.join(root));
    let workspace = workspace.canonicalize().map_err(|error| format!("the workspace cannot be opened: {error}"))?;
    let at = workspace.join(folder);
    let at = at.canonicalize().map_err(|error| format!("the folder {folder:?} cannot be opened: {error}"))?;
    if !at.starts_with(&workspace) || !at.is_dir() {
        return Err(format!("{folder:?} is not a folder in the workspace"));
    }
    let program = words.first().ok_or("it is empty")?;
    let program = find_program(program, &at).ok_or_else(|| format!("no program {program:?} is installed"))?;
    let mut all = vec![program.display().to_string()];
    all.extend(words.into_iter().skip(1));
    let limits = Limits {
        memory_bytes: u64::from(settings.max_memory_mib.clamp(16, 1_048_576)) * 1024 * 1024,
        processes: settings.max_processes.clamp(1, 10_000).into(),
        file_bytes: u64::from(settings.max_file_mib.clamp(1, 1_048_576)) * 1024 * 1024,
    };
    let rights = Rights {
        own: &[],
        folder: &workspace,
        new_entries: true,
        network: settings.network,
        hidden: &hidden,
        limits: Some(limits),
    };
    let (all, is_watched_over) = confinement.wrap(all, &rights);
    let mut start = Command::new(&all[0]);
    start.args(&all[1..]).current_dir(&at).env_clear().env("TERM", "dumb");
    let usual = USUAL_VARIABLES.iter().filter(|name| **name != "TERM");
    start.envs(usual.filter_map(|name| Some((*name, std::env::var_os(name)?))));
    start.envs(git_protection::variables());
    start.envs(report.as_ref().map(|report| (PUT_BACK_VARIABLE, report.file())));
    start.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    start.process_group(0);
    let mut child = start.spawn().map_err(|error| format!("{} cannot be started: {error}", program.display()))?;
    let mut group = Group::of(&child, is_watched_over);
    let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
        group.kill();
        return Err("it has no output".to_owned());
    };
    Ok((RunningProgram { child, group, report }, stdout, stderr))
}

/// Returns the kept output of a program; processes that it left behind may keep the pipe open forever.
async fn last(mut task: tokio::task::JoinHandle<Arc<Mutex<CappedOutput>>>) -> String {
    match tokio::time::timeout(LAST_WORDS, &mut task).await {
        Ok(Ok(kept)) => kept.lock().unwrap_or_else(PoisonError::into_inner).text(),
        _ => {
            task.abort();
            "(its output could not be read completely)".to_owned()
        }
    }
}

async fn listen(
    mut from: impl AsyncRead + Unpin,
    kept: CappedOutput,
    too_much: CancellationToken,
) -> Arc<Mutex<CappedOutput>> {
    let kept = Arc::new(Mutex::new(kept));
    let mut block = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut block).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.put(&block[..count]);
        if kept.total > MAX_SAID {
            too_much.cancel();
        }
    }
    kept
}

/// The beginning and the end of a program's output.
#[derive(Debug)]
struct CappedOutput {
    each: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl CappedOutput {
    /// Creates a buffer of this many characters, half of them for each end.
    fn new(chars: usize) -> Self {
        Self { each: chars / 2, head: Vec::new(), tail: VecDeque::new(), total: 0 }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.each.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend(&bytes[..room]);
        let rest = &bytes[room..];
        let rest = &rest[rest.len().saturating_sub(self.each)..];
        self.tail.extend(rest);
        let more = self.tail.len().saturating_sub(self.each);
        self.tail.drain(..more);
    }

    /// Returns the text for an agent, with the number of characters that were left out in between.
    fn text(&self) -> String {
        let left_out = self.total - (self.head.len() + self.tail.len()) as u64;
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        if left_out == 0 {
            let all: Vec<u8> = self.head.iter().copied().chain(tail).collect();
            return String::from_utf8_lossy(&all).into_owned();
        }
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&tail));
        format!("{head}\n[… {left_out} bytes are left out here …]\n{tail}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_keeps_both_ends() {
        let mut kept = CappedOutput::new(20);
        for block in ["0123456789", "abcdefghij", "klmnopqrst", "uvw"] {
            kept.put(block.as_bytes());
        }
        assert_eq!(kept.text(), "0123456789\n[… 13 bytes are left out here …]\nnopqrstuvw");
        let mut short = CappedOutput::new(20);
        short.put("ünï".as_bytes());
        short.put(b"!");
        assert_eq!(short.text(), "ünï!");
        let mut large = CappedOutput::new(10);
        (0..1_000).for_each(|_| large.put(&[b'x'; 5_000]));
        assert!(large.head.len() + large.tail.len() <= 10 && large.total == 5_000_000);
    }
}
