//! The environment variables with keys and passwords. The system shows the environment with which a process was started
//! to other programs of the same user for as long as the process runs, so these variables are taken out of it: this
//! program starts itself once more without them and hands them over in memory. All code that wants one asks here.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::sync::{OnceLock, PoisonError, RwLock};

use super::redaction::Redactor;
use crate::base::Problem;
use crate::base::secret_words::{SecretPlace, has_secret_ending, is_secret_word};

/// The environment variables of this process that every program gets; keys are not among them.
pub const USUAL_VARIABLES: [&str; 22] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "TMPDIR",
    "TZ",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "SYSTEMROOT",
    "PATHEXT",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "TEMP",
];

/// The variables that were taken out of the environment.
static TAKEN: OnceLock<BTreeMap<OsString, OsString>> = OnceLock::new();

/// The problems with taking them.
static PROBLEMS: OnceLock<Vec<Problem>> = OnceLock::new();

/// The minimum length of a value in bytes that counts as a key because it looks random.
const MIN_RANDOM_BYTES: usize = 16;

/// The values of variables with keys and passwords that the definitions of servers and coding agents used.
static GIVEN: RwLock<BTreeSet<String>> = RwLock::new(BTreeSet::new());

/// Remembers a value that a server or a coding agent gets, if it is a key or a password: no answer of a model shows it.
pub(in crate::gateway) fn note_given(name: &str, value: &str) {
    if is_given_in_private(name, value) {
        GIVEN.write().unwrap_or_else(PoisonError::into_inner).insert(value.to_owned());
    }
}

/// Returns the values that were remembered.
pub(in crate::gateway) fn given() -> Vec<String> {
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
pub(in crate::gateway) fn is_named_secret(name: &str, value: &str) -> bool {
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
pub(in crate::gateway) fn variables() -> impl Iterator<Item = (OsString, OsString)> {
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

/// Returns the problems with taking keys and passwords out of the environment: which of them were lost, or can still be
/// read by other programs.
pub fn problems() -> Vec<Problem> {
    PROBLEMS.get().cloned().unwrap_or_default()
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

    use super::{PROBLEMS, TAKEN, is_private};
    use crate::base::Problem;

    /// The variable with the number of the file that holds the variables, the id of this process and their names.
    const HANDED_OVER: &str = "WORKSHOP_PRIVATE_VARIABLES";
    /// The name of that file, which only exists in memory.
    const NAME: &str = "workshop-private-variables";

    pub(super) fn take_from_environment() {
        // If that is not permitted, the variables are out of the environment nevertheless.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
        let handed_over = std::env::var_os(HANDED_OVER).and_then(|text| HandedOver::parse(&text));
        // The variable may be left from a workshop that started this process.
        if let Some(handed_over) = handed_over.filter(|handed_over| handed_over.process == std::process::id()) {
            let (variables, problems) = handed_over.receive();
            // This is the only call in this process.
            let _ = TAKEN.set(variables);
            let _ = PROBLEMS.set(problems);
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
        let names = private.iter().map(|(name, _)| name.clone()).collect();
        let handed_over = HandedOver { number: file.as_raw_fd(), process: std::process::id(), names };
        command.env(HANDED_OVER, handed_over.text());
        Err(command.exec())
    }

    /// The variables that this program handed over to itself before it was started once more.
    struct HandedOver {
        /// The number of the open file.
        number: i32,
        /// The process, which stays the same.
        process: u32,
        /// The names of the variables.
        names: Vec<OsString>,
    }

    impl HandedOver {
        fn text(&self) -> OsString {
            let mut text = OsString::from(format!("{}:{}", self.number, self.process));
            for name in &self.names {
                // No name of a variable contains this sign.
                text.push("=");
                text.push(name);
            }
            text
        }

        fn parse(text: &OsStr) -> Option<Self> {
            let mut parts = text.as_bytes().split(|byte| *byte == b'=');
            let (number, process) = std::str::from_utf8(parts.next()?).ok()?.split_once(':')?;
            let names = parts.map(|name| OsStr::from_bytes(name).to_owned()).collect();
            Some(Self { number: number.parse().ok()?, process: process.parse().ok()?, names })
        }

        /// Reads the variables, and leaves nothing of them behind. Also returns the problems with that: without its
        /// keys, the program would use no model, or another one.
        fn receive(&self) -> (BTreeMap<OsString, OsString>, Vec<Problem>) {
            let mut problems = Vec::new();
            let (variables, failure) = match received(self.number) {
                Ok((variables, emptied)) => {
                    problems.extend(emptied.err().map(|error| left_behind(&error)));
                    (variables, None)
                }
                Err(error) => (BTreeMap::new(), Some(error)),
            };
            let lost: Vec<_> = self.names.iter().filter(|name| !variables.contains_key(*name)).collect();
            if !lost.is_empty() {
                let names: Vec<_> = lost.iter().map(|name| name.to_string_lossy()).collect();
                let why = failure.map_or_else(String::new, |error| format!(": {error}"));
                let what = format!(
                    "{} did not arrive when this program took keys out of its environment, so it works without \
                     them{why}",
                    names.join(", ")
                );
                let remedy = "start workshop again, or put the keys into keys.env in your config folder";
                problems.push(Problem::error("environment", what, remedy));
            }
            (variables, problems)
        }
    }

    /// The problem that the variables can still be read in the file that handed them over.
    fn left_behind(error: &io::Error) -> Problem {
        let what = format!("your keys from the environment can be read by programs that agents start: {error}");
        let remedy = "close workshop and start it again; put the keys into keys.env in your config folder";
        Problem::error("environment", what, remedy)
    }

    /// Reads the variables that were handed over, and then empties the file. Also returns whether that worked.
    fn received(number: i32) -> io::Result<(BTreeMap<OsString, OsString>, io::Result<()>)> {
        let path = path_of(number);
        is_ours(&path)?;
        let mut file = OpenOptions::new().read(true).write(true).open(&path)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        // Programs that are started here inherit the file: it is empty and stays so.
        let seals = SealFlags::GROW | SealFlags::SHRINK | SealFlags::WRITE | SealFlags::SEAL;
        let emptied = file.set_len(0).and_then(|()| Ok(fcntl_add_seals(&file, seals)?));
        Ok((parsed(&text), emptied))
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

        /// A file as one is handed over.
        fn memory_file(text: &[u8]) -> File {
            let mut file = File::from(memfd_create(NAME, MemfdFlags::ALLOW_SEALING).expect("memory files can be made"));
            file.write_all(text).expect("it can be written");
            file
        }

        fn handed_over(number: i32, names: &[&str]) -> HandedOver {
            let names = names.iter().map(OsString::from).collect();
            let text = HandedOver { number, process: std::process::id(), names }.text();
            HandedOver::parse(&text).expect("what is written can be read")
        }

        #[test]
        fn only_a_file_of_this_program_is_read() {
            let file = tempfile::tempfile().expect("a temporary file can be made");
            for number in [file.as_raw_fd(), 0, 999_999, -1] {
                assert!(received(number).is_err(), "{number}");
            }
            for odd in ["", "7", "x:1", "7:", ":7", "7:x=A", "=A"] {
                assert!(HandedOver::parse(OsStr::new(odd)).is_none(), "{odd}");
            }
        }

        #[test]
        fn variables_that_are_handed_over_arrive_and_leave_nothing_behind() {
            let file = memory_file(b"A_KEY=one=two\0B_TOKEN=three\0");
            let (variables, problems) = handed_over(file.as_raw_fd(), &["A_KEY", "B_TOKEN"]).receive();
            assert_eq!((variables.len(), problems), (2, Vec::new()));
            assert_eq!(variables.get(OsStr::new("A_KEY")), Some(&OsString::from("one=two")));
            assert_eq!(file.metadata().expect("it is open").len(), 0);
        }

        #[test]
        fn each_variable_that_is_lost_is_named_with_what_to_do() {
            let other = tempfile::tempfile().expect("a temporary file can be made");
            let (whole, half) = (memory_file(b""), memory_file(b"A_KEY=one\0B_TO"));
            let closed = 999_999;
            for (number, lost, kept) in [
                (closed, vec!["A_KEY", "B_TOKEN"], 0),
                (other.as_raw_fd(), vec!["A_KEY", "B_TOKEN"], 0),
                (whole.as_raw_fd(), vec!["A_KEY", "B_TOKEN"], 0),
                (half.as_raw_fd(), vec!["B_TOKEN"], 1),
            ] {
                let (variables, problems) = handed_over(number, &["A_KEY", "B_TOKEN"]).receive();
                assert_eq!((variables.len(), problems.len()), (kept, 1), "{problems:?}");
                let Problem { what, remedy, .. } = &problems[0];
                assert!(what.starts_with(&lost.join(", ")) && remedy.contains("keys.env"), "{what}; {remedy}");
            }
        }

        #[test]
        fn a_file_that_cannot_be_emptied_is_told_and_its_variables_are_kept() {
            let file = memory_file(b"A_KEY=one\0");
            fcntl_add_seals(&file, SealFlags::SHRINK).expect("it can be sealed");
            let (variables, problems) = handed_over(file.as_raw_fd(), &["A_KEY"]).receive();
            assert_eq!((variables.len(), problems.len()), (1, 1));
            assert!(problems[0].what.contains("can be read by programs"), "{}", problems[0].what);
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
