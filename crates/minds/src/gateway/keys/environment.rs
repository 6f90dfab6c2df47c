//! Keys of providers: from the environment first, then from the person's `keys.env`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use super::private_variables;
use super::redaction::{REDACTED, Redactor};
use crate::base::Problem;
use crate::gateway::trust::consent;
use crate::gateway::trust::personal_files::read_small;
use crate::gateway::vendors::VENDORS;
use crate::gateway::vendors::vendor::Vendor;
use crate::gateway::web::origin::Origin;

/// The name of the token of a Slack bot, which reads and writes over the Web API.
pub const SLACK_BOT_TOKEN: &str = "SLACK_BOT_TOKEN";
/// The name of the URL of a Slack webhook. Anyone who knows the URL can post, so it is stored like a key.
pub const SLACK_WEBHOOK_URL: &str = "SLACK_WEBHOOK_URL";
/// Keys whose names have other endings than those of model providers.
const OTHER_KEYS: [&str; 2] = [SLACK_BOT_TOKEN, SLACK_WEBHOOK_URL];

fn is_key(name: &str) -> bool {
    name.ends_with("_API_KEY") || OTHER_KEYS.contains(&name)
}

/// The variable that replaces the system's default folder for the person's configuration.
const CONFIG_FOLDER: &str = "WORKSHOP_CONFIG_DIR";

/// A text that is never displayed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text, for sending it to the server that it was issued by.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// The part of the process's environment that the gateway reads: variables, the person's config folder, and their
/// settings about addresses there.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    vars: BTreeMap<String, String>,
    config_dir: Option<PathBuf>,
    workspace: Option<PathBuf>,
    /// The addresses of vendors in `keys.env`.
    addresses: BTreeMap<String, String>,
    /// The names of the keys in `keys.env`.
    kept: BTreeSet<String>,
    /// The addresses that this workspace may call.
    allowed: Vec<Origin>,
}

/// Never shows values: some are keys.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.vars.keys().collect();
        f.debug_struct("Environment").field("names", &names).field("config_dir", &self.config_dir).finish()
    }
}

impl Environment {
    /// Reads the environment of this process: variables of keys, those ending in `_BASE_URL`, and the person's config
    /// folder.
    pub fn of_process() -> Self {
        let wanted = |name: &str| is_key(name) || name.ends_with("_BASE_URL");
        let vars = private_variables::variables()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, value)| wanted(name) && !value.trim().is_empty())
            .collect();
        let chosen = std::env::var_os(CONFIG_FOLDER).filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let config_dir = chosen.or_else(|| {
            let folders = directories::ProjectDirs::from("", "", "agent-workshop");
            folders.map(|folders| folders.config_dir().to_owned())
        });
        Self { vars, config_dir, ..Self::default() }.read_again()
    }

    /// Adds the addresses that are allowed for the open workspace.
    pub fn in_workspace(self, folder: &Path) -> Self {
        Self { workspace: Some(folder.to_owned()), ..self }.read_again()
    }

    /// Reads the person's files again. Their problems are reported where keys are loaded.
    pub(in crate::gateway) fn read_again(mut self) -> Self {
        let text = self.key_file().and_then(|file| read_small(&file).ok().flatten()).unwrap_or_default();
        let (entries, _) = parse_env(&text, Path::new(""));
        self.kept = entries.keys().filter(|name| is_key(name)).cloned().collect();
        let addresses = entries.into_iter().filter(|(name, _)| name.ends_with("_BASE_URL"));
        self.addresses = addresses.map(|(name, url)| (name, url.0)).collect();
        let files = self.config_dir.as_deref().zip(self.workspace.as_deref());
        self.allowed = files.map(|(config, workspace)| consent::load(config, workspace).0).unwrap_or_default();
        self
    }

    /// Returns the person's address of a vendor: from a variable, otherwise from `keys.env`.
    pub(in crate::gateway) fn address_of_person(&self, vendor: &Vendor) -> Option<&str> {
        self.address_named(vendor.base_url_name)
    }

    /// Returns the address that the person set under this name.
    pub(in crate::gateway) fn address_named(&self, name: &str) -> Option<&str> {
        self.var(name).or_else(|| self.addresses.get(name).map(String::as_str))
    }

    /// Whether the person has a key with this name, in a variable or in `keys.env`.
    pub(in crate::gateway) fn has_key(&self, name: &str) -> bool {
        self.vars.contains_key(name) || self.kept.contains(name)
    }

    /// Returns the vendors for which the person has a key. The world knows them because they decide which provider is
    /// called.
    pub fn vendors_with_key(&self) -> BTreeSet<String> {
        let has_key = |key: &&'static str| self.has_key(key);
        let named = VENDORS.into_iter().filter(|vendor| vendor.key_name.as_ref().is_some_and(has_key));
        named.map(|vendor| vendor.name.to_owned()).collect()
    }

    /// Whether the person allowed this workspace to call an address.
    pub(in crate::gateway) fn is_allowed(&self, origin: &Origin) -> bool {
        self.allowed.contains(origin)
    }

    /// Returns the folder of the open workspace.
    pub fn workspace(&self) -> Option<&Path> {
        self.workspace.as_deref()
    }

    /// Returns the folder of the person's configuration, outside of any workspace.
    pub fn config_folder(&self) -> Option<&Path> {
        self.config_dir.as_deref()
    }

    /// Creates an environment from given values.
    pub fn new(vars: impl IntoIterator<Item = (&'static str, String)>, config_dir: Option<PathBuf>) -> Self {
        let vars = vars.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { vars, config_dir, ..Self::default() }.read_again()
    }

    /// Returns the value of a variable, if it is set and not blank.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns the stamp of the person's files, by which changes are detected.
    pub(in crate::gateway) fn stamp(&self) -> FilesStamp {
        let stamp = |file: PathBuf| {
            let metadata = std::fs::metadata(file).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        };
        let allowed = self.config_dir.as_deref().map(consent::file);
        [self.key_file().and_then(stamp), allowed.and_then(stamp)]
    }

    /// Returns the path of the person's `keys.env`.
    pub fn key_file(&self) -> Option<PathBuf> {
        self.config_dir.as_ref().map(|folder| folder.join("keys.env"))
    }
}

/// The modification times and lengths of the person's files; `None` for missing files.
pub(in crate::gateway) type FilesStamp = [Option<(std::time::SystemTime, u64)>; 2];

/// The available keys, by the name of their variable.
#[derive(Clone, Default, Debug)]
pub struct Keys(BTreeMap<String, Secret>);

impl Keys {
    /// Loads keys from the environment and then from `keys.env`. Also returns the problems of that file.
    pub fn load(environment: &Environment) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut keys = BTreeMap::new();
        if let Some(path) = environment.key_file() {
            match read_small(&path) {
                Ok(None) => {}
                Ok(Some(content)) => {
                    problems.extend(check_mode(&path));
                    let (found, wrong) = parse_env(&content, &path);
                    keys = found;
                    keys.retain(|name, _| !name.ends_with("_BASE_URL"));
                    problems.extend(wrong);
                }
                Err(problem) => problems.push(problem),
            }
        }
        if let (Some(config), Some(workspace)) = (&environment.config_dir, &environment.workspace) {
            problems.extend(consent::load(config, workspace).1);
        }
        for (name, value) in &environment.vars {
            if is_key(name) {
                keys.insert(name.clone(), Secret::new(value.trim()));
            }
        }
        (Self(keys), problems)
    }

    /// Returns the key with this name.
    pub fn get(&self, name: &str) -> Option<&Secret> {
        self.0.get(name)
    }

    /// Returns a redactor that removes all keys from texts, and the secrets that servers and coding agents were given.
    pub fn redactor(&self) -> Redactor {
        let given = private_variables::given();
        Redactor::of(self.0.values().map(Secret::reveal).chain(given.iter().map(String::as_str)))
    }

    /// Removes all keys, and everything that looks like a key, from a text.
    pub fn redact(&self, text: &str) -> String {
        self.redactor().redact_all(text)
    }
}

/// Returns the problems with the person's keys: of their files, and of the environment of this process.
pub fn key_problems(environment: &Environment) -> Vec<Problem> {
    let mut problems = Keys::load(environment).1;
    problems.extend(private_variables::problems());
    problems
}

#[cfg(unix)]
fn check_mode(path: &Path) -> Option<Problem> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then(|| {
        let place = path.display().to_string();
        let remedy = format!("run: chmod 600 {place}");
        let who = if mode & 0o007 == 0 { "your group" } else { "everybody on this computer" };
        let what = if mode & 0o022 == 0 { "read" } else { "read or change" };
        Problem::warning(&place, format!("{who} can {what} your keys (mode {mode:o})"), remedy)
    })
}

#[cfg(not(unix))]
fn check_mode(_path: &Path) -> Option<Problem> {
    None
}

/// Parses lines of the form `NAME=value`, ignoring blank lines and `#` comments, and removing `export ` and quotes.
/// Problems never contain a value.
fn parse_env(content: &str, path: &Path) -> (BTreeMap<String, Secret>, Vec<Problem>) {
    let mut keys = BTreeMap::new();
    let mut problems = Vec::new();
    for (index, line) in content.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        match line.split_once('=') {
            Some((name, value)) if !name.trim().is_empty() => {
                let value = value.trim().trim_matches(['"', '\'']);
                if !value.is_empty() {
                    keys.insert(name.trim().to_owned(), Secret::new(value));
                }
            }
            _ => problems.push(
                Problem::warning(path.display().to_string(), "a line is not NAME=key", "write one NAME=key per line")
                    .at_line(Some(index + 1)),
            ),
        }
    }
    (keys, problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        let environment = Environment::new([("GEMINI_API_KEY", "very-private-value".into())], None);
        Keys::load(&environment).0
    }

    #[cfg(unix)]
    #[test]
    fn readable_or_irregular_key_files_are_problems_and_never_block() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.env");
        let problems = || Keys::load(&Environment::new([], Some(folder.path().to_owned()))).1;
        std::fs::write(&file, "OPENAI_API_KEY=from-file-1\n").unwrap();
        for (mode, words) in [
            (0o600, None),
            (0o400, None),
            (0o640, Some("your group can read your keys (mode 640)")),
            (0o644, Some("everybody on this computer can read your keys (mode 644)")),
            (0o666, Some("everybody on this computer can read or change your keys (mode 666)")),
        ] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            let told: Vec<String> = problems().into_iter().map(|problem| problem.what).collect();
            assert_eq!(told.first().map(String::as_str), words, "{mode:o}");
        }
        std::fs::remove_file(&file).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        assert!(problems()[0].what.contains("not a regular file"), "{:?}", problems());
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        assert!(problems()[0].what.contains("not a regular file"), "{:?}", problems());
    }

    #[test]
    fn debug_shows_no_value() {
        let environment = Environment::new([("GEMINI_API_KEY", "very-private-value".into())], None);
        assert!(!format!("{environment:?} {:?}", keys()).contains("very-private"));
    }

    #[test]
    fn the_environment_precedes_the_file_and_a_readable_file_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.env");
        std::fs::write(&file, "# mine\nexport OPENAI_API_KEY=\"from-file-1\"\nGEMINI_API_KEY=from-file-2\nnonsense\n")
            .unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        }
        let environment =
            Environment::new([("GEMINI_API_KEY", "from-environment".into())], Some(folder.path().to_owned()));
        let (keys, problems) = Keys::load(&environment);
        assert_eq!(keys.get("OPENAI_API_KEY").unwrap().reveal(), "from-file-1");
        assert_eq!(keys.get("GEMINI_API_KEY").unwrap().reveal(), "from-environment");
        assert!(problems.iter().any(|problem| problem.line == Some(4)));
        #[cfg(unix)]
        assert!(problems.iter().any(|problem| problem.remedy.contains("chmod 600")));
        assert!(problems.iter().all(|problem| !problem.to_string().contains("from-file")));
    }
}
