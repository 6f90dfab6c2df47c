//! The environment variables with keys and passwords. The system shows the environment with which a process was started
//! to other programs of the same user for as long as the process runs, so these variables are taken out of it: this
//! program starts itself once more without them and hands them over in memory. All code that wants one asks here.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::sync::{OnceLock, PoisonError, RwLock};

use super::process::USUAL_VARIABLES;
use super::redaction::Redactor;
use crate::base::secret_words::{SecretPlace, has_secret_ending, is_secret_word};

/// The variables that were taken out of the environment.
static TAKEN: OnceLock<BTreeMap<OsString, OsString>> = OnceLock::new();

/// The minimum length of a value in bytes that counts as a key because it looks random.
const MIN_RANDOM_BYTES: usize = 16;

/// The values of variables with keys and passwords that the definitions of servers and coding agents used.
static GIVEN: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// Remembers a value that a server or a coding agent gets, if it is a key or a password: no answer of a model shows it.
pub(super) fn note_given(name: &str, value: &str) {
    if is_given_in_private(name, value) {
        GIVEN.write().unwrap_or_else(PoisonError::into_inner).insert(value.to_owned());
    }
}

/// Returns the values that were remembered.
pub(super) fn given() -> Vec<String> {
    GIVEN.read().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
}

/// Whether a variable in a definition holds a key or a password: by its name, or because its value looks random. Other
/// values are settings, such as a region or a path, which an answer may be about.
fn is_given_in_private(name: &str, value: &str) -> bool {
    let is_random = || {
        value.len() >= MIN_RANDOM_BYTES
            && !value.starts_with(['/', '.', '~'])
            && !value.contains("://")
            && !value.contains(char::is_whitespace)
            && value.contains(|letter: char| letter.is_ascii_digit())
            && value.contains(char::is_alphabetic)
    };
    !USUAL_VARIABLES.contains(&name) && (is_private(name, value) || is_random())
}

/// Whether the last word of a name says that the value is a secret. A path or a number is none.
pub(super) fn is_named_secret(name: &str, value: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let last = lower.rsplit(['_', '-']).next().unwrap_or_default();
    is_secret_word(last, SecretPlace::Variable) && !value.starts_with(['/', '.', '~']) && !is_number(value)
}

fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Returns the value of a variable of the environment with which this program was first started.
pub fn variable(name: &str) -> Option<String> {
    let taken = TAKEN.get().and_then(|taken| taken.get(OsStr::new(name)).cloned());
    taken.or_else(|| std::env::var_os(name))?.into_string().ok()
}

/// Returns all variables of the environment with which this program was first started.
pub(super) fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().chain(TAKEN.get().cloned().unwrap_or_default())
}

/// Whether a variable holds a key or a password, judging by its name or value. Addresses of proxies are left: the
/// libraries that use them read them from the environment.
fn is_private(name: &str, value: &str) -> bool {
    let name = name.to_ascii_uppercase();
    if name.ends_with("_PROXY") || name.starts_with("WORKSHOP_") || USUAL_VARIABLES.contains(&name.as_str()) {
        return false;
    }
    let is_named_so = has_secret_ending(&name) || is_named_secret(&name, value);
    // A path is no key, even if a part of it looks like one.
    let looks_so = || !value.starts_with('/') && Redactor::default().redact_all(value) != value;
    !value.is_empty() && (is_named_so || looks_so())
}

/// Takes keys and passwords out of the environment with which this process shows itself to others, and keeps other
/// processes of the same user from reading its memory. Called first of all; may start this program once more in this
/// process. Where the system does not support that, everything stays as it is.
pub fn take_from_environment() {
    system::take_from_environment();
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::BTreeMap;
    use std::ffi::{OsStr, OsString};
    use std::fs::{self, File, OpenOptions};
    use std::io::{self, Read, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};

    use super::{TAKEN, is_private};

    /// The variable with the number of the file that holds the variables.
    const HANDED_OVER: &str = "WORKSHOP_PRIVATE_VARIABLES";
    /// The name of that file, which only exists in memory.
    const NAME: &str = "workshop-private-variables";

    pub(super) fn take_from_environment() {
        // If that is not permitted, the variables are out of the environment nevertheless.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        // The variable may be left from a workshop that started this process: then its file is none of ours, or closed.
        if let Some(variables) = std::env::var_os(HANDED_OVER).and_then(|number| received(&number).ok()) {
            // This is the only call in this process.
            let _ = TAKEN.set(variables);
            return;
        }
        let private: Vec<(OsString, OsString)> = std::env::vars_os()
            .filter(|(name, value)| is_private(&name.to_string_lossy(), &value.to_string_lossy()))
            .collect();
        if !private.is_empty() {
            // It only returns if this program could not be started again; then it continues as it is.
            let _ = start_again(&private);
        }
    }

    /// Starts this program once more in this process, without these variables. Returns why that is not possible.
    fn start_again(private: &[(OsString, OsString)]) -> io::Result<()> {
        let mut arguments = std::env::args_os();
        let mut command = Command::new(std::env::current_exe()?);
        if let Some(name) = arguments.next() {
            command.arg0(name);
        }
        command.args(arguments);
        let mut text = Vec::new();
        for (name, value) in private {
            command.env_remove(name);
            text.extend([name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat());
        }
        // Stays open in the program that replaces this one.
        let mut file = File::from(memfd_create(NAME, MemfdFlags::ALLOW_SEALING)?);
        file.write_all(&text)?;
        is_ours(&path_of(file.as_raw_fd()))?;
        command.env(HANDED_OVER, file.as_raw_fd().to_string());
        Err(command.exec())
    }

    /// Reads the variables that were handed over, and leaves nothing of them behind.
    fn received(number: &OsStr) -> io::Result<BTreeMap<OsString, OsString>> {
        let path = path_of(number.to_string_lossy().parse().map_err(io::Error::other)?);
        is_ours(&path)?;
        let mut file = OpenOptions::new().read(true).write(true).open(&path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        // Programs that are started here inherit the file: it is empty and stays so.
        file.set_len(0)?;
        fcntl_add_seals(&file, SealFlags::GROW | SealFlags::SHRINK | SealFlags::WRITE | SealFlags::SEAL)?;
        Ok(parsed(&text))
    }

    fn path_of(number: i32) -> String {
        format!("/proc/self/fd/{number}")
    }

    /// Checks that an open file is one in which this program hands over variables.
    fn is_ours(path: &str) -> io::Result<()> {
        let is_named_so = fs::read_link(path)?.to_string_lossy().starts_with(&format!("/memfd:{NAME}"));
        if is_named_so { Ok(()) } else { Err(io::ErrorKind::InvalidInput.into()) }
    }

    fn parsed(text: &[u8]) -> BTreeMap<OsString, OsString> {
        let owned = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let parts = text.split(|byte| *byte == 0).filter_map(|line| {
            let at = line.iter().position(|byte| *byte == b'=')?;
            Some((owned(&line[..at]), owned(&line[at + 1..])))
        });
        parts.collect()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn variables_are_read_as_they_were_written() {
            let read = parsed(b"A_KEY=one=two\0B_TOKEN=\xff\n\0\0odd");
            let odd = OsString::from_vec(vec![0xff, b'\n']);
            let expected: BTreeMap<OsString, OsString> =
                BTreeMap::from([("A_KEY".into(), "one=two".into()), ("B_TOKEN".into(), odd)]);
            assert_eq!(read, expected);
        }

        #[test]
        fn only_a_file_of_this_program_is_read() {
            let file = tempfile::tempfile().expect("a temporary file can be made");
            for number in [file.as_raw_fd().to_string().as_str(), "0", "999999", "-1", "x"] {
                assert!(received(OsStr::new(number)).is_err(), "{number}");
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn take_from_environment() {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_passwords_are_private_by_name_or_value() {
        for (name, value) in [
            ("OPENAI_API_KEY", "x"),
            ("SLACK_BOT_TOKEN", "x"),
            ("SLACK_WEBHOOK_URL", "https://example.org/x"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("PGPASSWORD", "x"),
            ("MYSQL_PWD", "x"),
            ("github_token", "x"),
            ("TOKEN", "x"),
            ("API-KEY", "x"),
            ("GITHUB_PAT", "x"),
            ("SESSION_COOKIE", "x"),
            ("REGISTRY_AUTH", "x"),
            ("DATABASE_URL", "postgres://ada:secret@localhost/db"),
            ("ODD", "sk-0123456789abcdef"),
        ] {
            assert!(is_private(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("PATH", "/usr/bin:/bin"),
            ("PWD", "/home/ada"),
            ("OLDPWD", "/home/ada"),
            ("HOME", "/home/ada"),
            ("DISPLAY", ":0"),
            ("XAUTHORITY", "/run/user/1000/xauth"),
            ("SSH_AUTH_SOCK", "/run/user/1000/agent"),
            ("OPENAI_BASE_URL", "https://example.org/v1"),
            ("PATH", "/opt/sk-0123456789abcdef/bin"),
            ("FONTS", "/nix/store/sk-0123456789abcdef"),
            ("HTTPS_PROXY", "http://ada:secret@proxy:3128"),
            ("OPENAI_API_KEY", ""),
            ("KEY", "/etc/keys/service-1.pem"),
        ] {
            assert!(!is_private(name, value), "{name}={value}");
        }
    }

    #[test]
    fn every_word_that_always_meant_a_secret_in_the_name_of_a_variable_still_does() {
        for word in [
            "APIKEY",
            "AUTH",
            "AUTHORIZATION",
            "COOKIE",
            "CREDENTIAL",
            "CREDENTIALS",
            "KEY",
            "PASSPHRASE",
            "PASSWORD",
            "PAT",
            "SECRET",
            "TOKEN",
        ] {
            assert!(is_named_secret(word, "x") && is_named_secret(&format!("OUR-{word}"), "x"), "{word}");
        }
        for ending in [
            "_KEY",
            "_TOKEN",
            "_SECRET",
            "_WEBHOOK_URL",
            "_CREDENTIALS",
            "_PASS",
            "_PWD",
            "PASSWORD",
            "PASSWD",
            "PASSPHRASE",
        ] {
            assert!(is_private(&format!("OUR{ending}"), "/even/a/path"), "{ending}");
        }
    }

    #[test]
    fn what_a_definition_uses_is_remembered_if_it_is_a_secret() {
        for (name, value) in [
            ("SEARCH_TOKEN", "open sesame now"),
            ("DB_PASSWORD", "correct horse"),
            ("MY_AUTH", "Bearer-abc"),
            ("ODD", "a4c1-99b2-canary-x"),
            ("DATABASE_URL", "postgres://ada:secret@localhost/db"),
        ] {
            assert!(is_given_in_private(name, value), "{name}={value}");
        }
        for (name, value) in [
            ("HOME", "/home/ada-lovelace-1815"),
            ("MONKEY", "production"),
            ("REGION", "eu-central-1"),
            ("STAGE", "production environment 2"),
            ("KEY", "/etc/keys/service-1.pem"),
            ("PORT", "8080"),
            ("SERVER", "https://example.org/v1/things"),
        ] {
            assert!(!is_given_in_private(name, value), "{name}={value}");
        }
        note_given("SEARCH_TOKEN", "remembered-value-of-a-test");
        note_given("STAGE", "forgotten value of a test");
        let given = given();
        assert!(given.iter().any(|value| value == "remembered-value-of-a-test"));
        assert!(!given.iter().any(|value| value == "forgotten value of a test"));
    }
}
