//! The runtime for the code of documents: the built-in engine, or a runtime on this computer chosen in the settings. An
//! external runtime is sandboxed: its code reaches files and servers only through calls of its agent.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::{EngineLimits, ExternalRuntime, RUNNER_FILE, RunningCall, ToolCall};
use crate::gateway::sandbox::{Confinement, Level, Limits, Rights};
use crate::gateway::{Environment, USUAL_VARIABLES, end_group, found_program};
use crate::workspace::SettingsSection;

/// The limits of a runtime's process: more than any of the runtimes needs to start.
const LIMITS: Limits = Limits { memory_bytes: 4 << 30, processes: 64, file_bytes: 1 << 20 };

/// How long code may wait in total; most of it may be waiting for a person's answer.
const A_PERSON_ANSWERS_WITHIN: Duration = Duration::from_secs(60 * 60);

settings! {
    /// The runtime of the tools that agents' documents define.
    #[derive(Copy, Eq)]
    pub struct DocumentSettings {
        /// `built_in`, or `node`, `bun` or `deno`: a runtime on this computer, which is started for each call.
        pub runtime: Runtime = Runtime::BuiltIn;
    }
}

/// The runtime of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Runtime {
    /// The built-in engine.
    #[default]
    BuiltIn,
    /// Node.js.
    Node,
    /// Bun.
    Bun,
    /// Deno.
    Deno,
}

impl SettingsSection for DocumentSettings {
    const NAME: &'static str = "documents";
}

/// Starts the code of documents in the runtime from the settings, with the same limits for every caller.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DocumentRunner {
    runtime: Runtime,
    /// The folders hidden from an external runtime.
    hidden: Vec<PathBuf>,
}

impl DocumentRunner {
    /// Creates the runner for a room with these settings.
    pub fn new(settings: &DocumentSettings, environment: Option<&Environment>) -> Self {
        let hidden = match (settings.runtime, environment) {
            (Runtime::BuiltIn, _) | (_, None) => Vec::new(),
            (_, Some(environment)) => {
                let folders = [environment.workspace(), environment.config_folder()];
                folders.into_iter().flatten().map(Path::to_owned).collect()
            }
        };
        Self { runtime: settings.runtime, hidden }
    }

    /// The limits of a call.
    pub fn limits() -> EngineLimits {
        EngineLimits { wait: A_PERSON_ANSWERS_WITHIN, ..EngineLimits::default() }
    }

    /// Starts a call without blocking: an external runtime is searched for on the call's own thread.
    pub fn start(&self, call: ToolCall) -> RunningCall {
        let Self { runtime, hidden } = self.clone();
        match runtime {
            Runtime::BuiltIn => call.start(),
            runtime => call.start_in(move || runtime.find(&hidden)),
        }
    }
}

impl Runtime {
    fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "the built-in engine",
            Self::Node => "node",
            Self::Bun => "bun",
            Self::Deno => "deno",
        }
    }

    /// The command line arguments before the file to execute.
    fn words(self, folder: &Path) -> Vec<OsString> {
        match self {
            Self::BuiltIn | Self::Node => Vec::new(),
            Self::Bun => ["run", "--no-install"].map(OsString::from).into(),
            Self::Deno => {
                let mut read = OsString::from("--allow-read=");
                read.push(folder);
                let words = ["run", "--no-prompt", "--no-config", "--no-remote", "--no-npm"].map(OsString::from);
                words.into_iter().chain([read]).collect()
            }
        }
    }

    /// Prepares the command for one call. Searches the disk, so it must not run on the ticking thread. The error says
    /// to the agent why it is not possible.
    fn find(self, hidden: &[PathBuf]) -> Result<ExternalRuntime, String> {
        let confinement = Confinement::of_this_computer();
        // The other runtimes can read everything that the person can read, unless it is hidden.
        if confinement.level() != Level::Bubblewrap && self != Self::Deno {
            return Err(format!(
                "{0} cannot be sandboxed on this computer, so it runs no tools; a person can install bubblewrap, or \
                 choose another runtime in settings.yaml (documents.runtime)",
                self.name()
            ));
        }
        let program = found_program(self.name(), Path::new("/")).ok_or_else(|| {
            format!(
                "{} is not installed on this computer; a person can install it, or choose another runtime in \
                 settings.yaml (documents.runtime)",
                self.name()
            )
        })?;
        let folder = folder_of_call()?;
        let first = vec![program.display().to_string()];
        let hidden: Vec<PathBuf> = hidden.iter().map(|folder| real(folder)).collect();
        let rights = Rights {
            folder: &folder,
            new_entries: false,
            network: false,
            own: &[],
            hidden: &hidden,
            limits: Some(LIMITS),
        };
        let (mut words, is_watched_over) = confinement.wrap(first, &rights);
        words.extend(self.words(&folder));
        words.push(RUNNER_FILE.into());
        let usual = USUAL_VARIABLES.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
        let own = [("DENO_DIR", "/tmp/deno"), ("DENO_NO_UPDATE_CHECK", "1"), ("NO_COLOR", "1")];
        let variables = usual.chain(own.map(|(name, value)| (name.into(), value.into()))).collect();
        let end = if is_watched_over { |id| end_group(id, true) } else { |id| end_group(id, false) };
        Ok(ExternalRuntime { name: self.name().to_owned(), words, variables, folder, end })
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Creates a folder for the files of one call, under a name that nothing has, whoever left files there.
fn folder_of_call() -> Result<PathBuf, String> {
    let all = real(&std::env::temp_dir());
    let made = tempfile::Builder::new().prefix("workshop-tool-").tempdir_in(&all);
    let made = made.map_err(|error| format!("no folder for its files can be created in {}: {error}", all.display()))?;
    // The runtime deletes it when the call has ended.
    Ok(made.keep())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_external_runtime_sees_neither_the_workspace_nor_personal_files() {
        let environment =
            Environment::new([], Some("/home/ada/.config".into())).in_workspace(Path::new("/home/ada/room"));
        let runner = |runtime| DocumentRunner::new(&DocumentSettings { runtime }, Some(&environment));
        assert_eq!(runner(Runtime::BuiltIn), DocumentRunner::default());
        let hidden = runner(Runtime::Node).hidden;
        assert_eq!(hidden, [Path::new("/home/ada/room"), Path::new("/home/ada/.config")]);
        assert!(DocumentRunner::limits().wait > EngineLimits::default().wait, "a person may be asked");
    }
}
