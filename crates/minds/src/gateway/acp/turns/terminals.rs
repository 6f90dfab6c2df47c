//! The programs that the room runs for an agent during a turn: started once exactly their command line is allowed, run
//! like any command of an agent, readable by the agent while they run, and ended with the turn.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use agent_client_protocol::v1::schema::{CreateTerminalRequest, TerminalExitStatus, TerminalOutputResponse};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::base::text;
use crate::gateway::keys::Keys;
use crate::gateway::programs::{LAST_WORDS, MAX_SAID, ProgramEnd, ProgramPlace, ProgramSettings, start};
use crate::mind::RanInTerminal;
use crate::text::shell_words::{Command, join};

/// The maximum number of terminals that an agent has not released.
const MAX_TERMINALS: usize = 16;
/// The maximum length of a program's output in the log, in characters.
const LOGGED_CHARS: usize = 2_000;

/// The terminals of one session with an agent.
#[derive(Default)]
pub(in crate::gateway::acp) struct Terminals {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: BTreeMap<String, Terminal>,
    /// Terminals that were released or left over and are not in the log yet.
    ended: Vec<Terminal>,
    count: u64,
}

/// A terminal.
#[derive(Clone)]
struct Terminal {
    line: String,
    begun: Instant,
    captured: Arc<Mutex<OutputTail>>,
    ended: watch::Receiver<Option<Ended>>,
    stop: CancellationToken,
    keys: Arc<Keys>,
    is_told: bool,
}

/// How a program ended, and its duration in seconds.
type Ended = (ProgramEnd, f64);

/// The environment in which a program is started.
pub(in crate::gateway::acp) struct TerminalEnvironment {
    /// The folders.
    pub(in crate::gateway::acp) place: ProgramPlace,
    /// The limits.
    pub(in crate::gateway) settings: ProgramSettings,
    /// The keys to remove from its output.
    pub(in crate::gateway::acp) keys: Arc<Keys>,
}

/// Returns the command line that an agent requests. If the program is a whole line, it is split as a shell would;
/// variables are set by `env`, so that they are visible. The error says what cannot be run.
pub(super) fn command_words(create: &CreateTerminalRequest) -> Result<Vec<String>, &'static str> {
    if create.command.trim().is_empty() {
        return Err("the command is empty");
    }
    let mut words = Vec::new();
    if !create.env.is_empty() {
        words.push("env".to_owned());
    }
    for variable in &create.env {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if variable.name.is_empty() || !variable.name.chars().all(is_name) {
            return Err("a variable has no name that can be set");
        }
        words.push(format!("{}={}", variable.name, variable.value));
    }
    match create.args.is_empty() {
        true => words.extend(Command::parse(create.command.trim()).started_as(create.command.trim())),
        false => {
            words.push(create.command.clone());
            words.extend(create.args.iter().cloned());
        }
    }
    if words.iter().any(|word| word.contains('\0')) {
        return Err("it contains a character that cannot be passed to a program");
    }
    Ok(words)
}

impl Terminals {
    /// Starts a program in a folder of the workspace. The error says why it could not be started.
    pub(super) fn create(
        &self,
        words: Vec<String>,
        folder: &str,
        bytes_at_most: Option<u64>,
        terminal_environment: TerminalEnvironment,
    ) -> Result<String, String> {
        let line = join(&words);
        if terminal_environment.keys.redact(&line) != line {
            return Err("the command contains one of the person's keys, so it is not run".to_owned());
        }
        let mut state = self.state();
        if state.open.len() >= MAX_TERMINALS {
            return Err(format!("there are already {MAX_TERMINALS} terminals; release those that you do not need"));
        }
        let (mut program, stdout, stderr) =
            start(words, (None, folder), &terminal_environment.settings, &terminal_environment.place)?;
        let most = terminal_environment.settings.output_chars_at_most.clamp(200, 1_000_000) as usize;
        let most = bytes_at_most.and_then(|bytes| usize::try_from(bytes).ok()).map_or(most, |bytes| bytes.min(most));
        let captured = Arc::new(Mutex::new(OutputTail::new(most)));
        let (stop, too_much) = (CancellationToken::new(), CancellationToken::new());
        let (tell, ended) = watch::channel(None);
        let out = tokio::spawn(listen(stdout, captured.clone(), too_much.clone()));
        let err = tokio::spawn(listen(stderr, captured.clone(), too_much.clone()));
        let (longest, stopped, heard) = (terminal_environment.settings.longest(), stop.clone(), captured.clone());
        let begun = Instant::now();
        tokio::spawn(async move {
            let how = program.ended(longest, &stopped, &too_much).await;
            let secs = begun.elapsed().as_secs_f64();
            for mut task in [out, err] {
                // A process that it left behind may keep the pipe open forever.
                if tokio::time::timeout(LAST_WORDS, &mut task).await.is_err() {
                    task.abort();
                }
            }
            let note = match &how {
                ProgramEnd::TimedOut => format!("[stopped by the room: it took longer than {} s]", longest.as_secs()),
                ProgramEnd::OutputLimitExceeded => "[stopped by the room: it wrote too much]".to_owned(),
                _ => String::new(),
            };
            if !note.is_empty() {
                lock(&heard).put(format!("\n{note}\n").as_bytes());
            }
            // The receivers may be gone.
            let _ = tell.send(Some((how, secs)));
        });
        state.count += 1;
        let id = format!("terminal-{}", state.count);
        let keys = terminal_environment.keys;
        state.open.insert(id.clone(), Terminal { line, begun, captured, ended, stop, keys, is_told: false });
        Ok(id)
    }

    /// Returns the output of a program, and how it ended if it has.
    pub(in crate::gateway::acp) fn output(&self, id: &str) -> Option<TerminalOutputResponse> {
        let terminal = self.state().open.get(id).cloned()?;
        let how = terminal.ended.borrow().clone();
        let (captured, is_cut) = lock(&terminal.captured).text(how.is_some());
        let answer = TerminalOutputResponse::new(terminal.keys.redact(&captured), is_cut);
        Some(answer.exit_status(how.as_ref().map(|(how, _)| status(how))))
    }

    /// Waits until a program has ended; `None` if there is no terminal with this id.
    pub(in crate::gateway::acp) fn wait(&self, id: &str) -> Option<impl Future<Output = TerminalExitStatus> + use<>> {
        let mut ended = self.state().open.get(id)?.ended.clone();
        Some(async move {
            let how = ended.wait_for(Option::is_some).await.ok().and_then(|how| how.clone());
            status(&how.map_or(ProgramEnd::Stopped, |(how, _)| how))
        })
    }

    /// Ends a program; its output can still be requested. Returns whether the terminal exists.
    pub(super) fn kill(&self, id: &str) -> bool {
        let state = self.state();
        let terminal = state.open.get(id);
        terminal.inspect(|terminal| terminal.stop.cancel()).is_some()
    }

    /// Ends a program and removes its terminal. Returns whether the terminal existed.
    pub(super) fn release(&self, id: &str) -> bool {
        let mut state = self.state();
        let terminal = state.open.remove(id);
        terminal.map(|terminal| state.put_aside(terminal)).is_some()
    }

    /// Ends all programs at the end of the turn.
    pub(in crate::gateway::acp) fn end_all(&self) {
        let mut state = self.state();
        for terminal in std::mem::take(&mut state.open).into_values() {
            state.put_aside(terminal);
        }
    }

    /// Whether any program is running, so that the agent may be silent.
    pub(in crate::gateway::acp) fn is_busy(&self) -> bool {
        self.state().open.values().any(|terminal| terminal.ended.borrow().is_none())
    }

    /// Returns the ended programs that were not reported yet; all remaining ones if `is_end`.
    pub(super) fn take_ended(&self, is_end: bool) -> Vec<RanInTerminal> {
        let mut state = self.state();
        let mut reports: Vec<RanInTerminal> = state.ended.drain(..).map(|terminal| terminal.report()).collect();
        for terminal in state.open.values_mut() {
            if !terminal.is_told && (is_end || terminal.ended.borrow().is_some()) {
                terminal.is_told = true;
                reports.push(terminal.report());
            }
        }
        reports
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Terminals {
    fn drop(&mut self) {
        self.end_all();
    }
}

impl State {
    fn put_aside(&mut self, terminal: Terminal) {
        terminal.stop.cancel();
        if !terminal.is_told && self.ended.len() < MAX_TERMINALS * 8 {
            self.ended.push(terminal);
        }
    }
}

impl Terminal {
    fn report(&self) -> RanInTerminal {
        let (how, secs) = self.ended.borrow().clone().unzip();
        let (captured, _) = lock(&self.captured).text(true);
        let tail = captured.chars().count().saturating_sub(LOGGED_CHARS);
        RanInTerminal {
            command: text::truncate(&self.line, LOGGED_CHARS),
            exit_code: match how {
                Some(ProgramEnd::Exited(code)) => Some(code),
                _ => None,
            },
            end: match how {
                Some(ProgramEnd::Exited(_)) => "exited",
                Some(ProgramEnd::TimedOut) => "timed_out",
                Some(ProgramEnd::OutputLimitExceeded) => "said_too_much",
                Some(ProgramEnd::Killed) => "killed",
                _ => "ended_by_the_room_or_the_agent",
            }
            .to_owned(),
            secs: secs.unwrap_or_else(|| self.begun.elapsed().as_secs_f64()),
            said: self.keys.redact(&captured.chars().skip(tail).collect::<String>()),
        }
    }
}

fn status(how: &ProgramEnd) -> TerminalExitStatus {
    match how {
        ProgramEnd::Exited(code) => TerminalExitStatus::new().exit_code(u32::try_from(*code).ok()),
        _ => TerminalExitStatus::new().signal("SIGKILL".to_owned()),
    }
}

async fn listen(mut from: impl AsyncRead + Unpin, captured: Arc<Mutex<OutputTail>>, too_much: CancellationToken) {
    let mut block = vec![0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut block).await {
        let mut captured = lock(&captured);
        captured.put(&block[..count]);
        if captured.total > MAX_SAID {
            too_much.cancel();
        }
    }
}

fn lock(captured: &Mutex<OutputTail>) -> MutexGuard<'_, OutputTail> {
    captured.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The end of a program's output.
struct OutputTail {
    bytes: VecDeque<u8>,
    most: usize,
    total: u64,
}

impl OutputTail {
    fn new(most: usize) -> Self {
        Self { bytes: VecDeque::new(), most, total: 0 }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        self.bytes.extend(&bytes[bytes.len().saturating_sub(self.most)..]);
        let more = self.bytes.len().saturating_sub(self.most);
        self.bytes.drain(..more);
    }

    /// Returns the output as text, and whether its beginning was dropped. An incomplete character at the beginning is
    /// left out, and one at the end as well, as long as its rest may still arrive.
    fn text(&self, is_all: bool) -> (String, bool) {
        let is_cut = self.total > self.bytes.len() as u64;
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        let mut rest = bytes.as_slice();
        if is_cut {
            let lost = rest.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
            rest = &rest[lost..];
        }
        if !is_all {
            let begun = (1..=rest.len().min(3)).find(|back| rest[rest.len() - back] & 0b1100_0000 != 0b1000_0000);
            let is_half = begun.filter(|back| {
                let first = rest[rest.len() - back];
                (first.leading_ones() as usize) > *back && first.leading_ones() >= 2
            });
            rest = &rest[..rest.len() - is_half.unwrap_or(0)];
        }
        (String::from_utf8_lossy(rest).into_owned(), is_cut)
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::EnvVariable;

    use super::*;

    fn words(create: &CreateTerminalRequest) -> Vec<String> {
        command_words(create).expect("it can be run")
    }

    #[test]
    fn long_output_loses_its_beginning_and_no_partial_characters_are_shown() {
        let mut captured = OutputTail::new(10);
        captured.put("ünïcödé".as_bytes());
        assert_eq!(captured.text(true), ("nïcödé".to_owned(), true), "the second half of ü is left out");
        let mut half = OutputTail::new(100);
        half.put(&"a€".as_bytes()[..3]);
        assert_eq!((half.text(false).0.as_str(), half.text(true).0.as_str()), ("a", "a\u{fffd}"));
        half.put(&"€".as_bytes()[2..]);
        assert_eq!(half.text(false), ("a€".to_owned(), false));
        let mut none = OutputTail::new(0);
        none.put(b"anything");
        assert_eq!(none.text(false), (String::new(), true));
        let mut large = OutputTail::new(10);
        (0..1_000).for_each(|_| large.put(&[b'x'; 5_000]));
        assert!(large.bytes.len() == 10 && large.total == 5_000_000);
    }

    #[test]
    fn command_lines_are_split_into_words_and_variables_are_visible() {
        let create = CreateTerminalRequest::new("s", "git").args(vec!["commit".into(), "-m".into(), "a b; c".into()]);
        assert_eq!(words(&create), ["git", "commit", "-m", "a b; c"]);
        assert_eq!(words(&CreateTerminalRequest::new("s", "ls -la 'a b'")), ["ls", "-la", "a b"]);
        assert_eq!(words(&CreateTerminalRequest::new("s", "ls | wc")), ["sh", "-c", "ls | wc"]);
        let create = create.env(vec![EnvVariable::new("GIT_DIR", "/x y")]);
        assert_eq!(words(&create)[..3], ["env", "GIT_DIR=/x y", "git"]);
        for odd in [EnvVariable::new("", "x"), EnvVariable::new("-i", "x"), EnvVariable::new("A=B", "x")] {
            assert!(command_words(&CreateTerminalRequest::new("s", "ls").env(vec![odd])).is_err());
        }
        assert!(command_words(&CreateTerminalRequest::new("s", " ")).is_err());
    }
}
