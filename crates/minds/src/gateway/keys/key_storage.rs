//! Writes a key into the person's `keys.env`: one line changes, everything else is kept, and other users of the
//! computer cannot read the file.

use std::io;
use std::path::{Path, PathBuf};

use super::environment::{Environment, Secret};
use crate::base::Problem;
use crate::gateway::trust::personal_files::{MAX_FILE_BYTES, Turn};
use crate::safe_fs::read_text;

/// The maximum length of a key in bytes.
const MAX_KEY_BYTES: usize = 4_096;

/// Stores a key under this name, replacing an existing one. Returns the path of the file.
pub fn keep_key(environment: &Environment, name: &str, key: &Secret) -> Result<PathBuf, Problem> {
    let Some(file) = environment.key_file() else {
        let remedy = format!("set {name} in the environment");
        return Err(Problem::error("keys.env", "no folder for personal files was found on this computer", remedy));
    };
    let place = file.display().to_string();
    let key = key.reveal().trim();
    let is_odd = |c: char| c.is_control() || c.is_whitespace() || matches!(c, '"' | '\'');
    if key.is_empty() || key.len() > MAX_KEY_BYTES || key.contains(is_odd) {
        return Err(Problem::error(place, "that is not a key", "paste only the key, as the provider shows it"));
    }
    let written = Turn::take(&file).and_then(|turn| turn.write(&with(&read(&file)?, name, key)));
    written.map_err(|error| {
        let remedy = format!("check that the folder is writable, or set {name} in the environment");
        Problem::error(&place, format!("the key could not be saved: {error}"), remedy)
    })?;
    Ok(file)
}

fn read(file: &Path) -> io::Result<String> {
    Ok(read_text(file, MAX_FILE_BYTES)?.unwrap_or_default())
}

/// Returns the text with this key added or replaced.
fn with(text: &str, name: &str, key: &str) -> String {
    let is_its_line = |line: &&str| {
        let line = line.trim().strip_prefix("export ").unwrap_or(line.trim());
        line.split_once('=').is_some_and(|(other, _)| other.trim() == name)
    };
    let line = format!("{name}={key}");
    let mut lines: Vec<&str> = text.lines().collect();
    // If a name occurs twice, the last one counts.
    match lines.iter().rposition(is_its_line) {
        Some(at) => lines[at] = &line,
        None => lines.push(&line),
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::environment::Keys;
    use super::*;

    #[test]
    fn a_key_is_stored_privately_and_the_rest_of_the_file_is_kept() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let environment = Environment::new([], Some(folder.path().to_owned()));
        keep_key(&environment, "GEMINI_API_KEY", &Secret::new(" first-key-123 ")).expect("it can be kept");
        let file = folder.path().join("keys.env");
        fs::write(&file, "# mine\nexport GEMINI_API_KEY=\"old\"\nOPENAI_API_KEY=other-key\n")
            .expect("it can be written");
        keep_key(&environment, "GEMINI_API_KEY", &Secret::new("second-key-456")).expect("it can be kept");
        let text = fs::read_to_string(&file).expect("it should exist");
        assert_eq!(text, "# mine\nGEMINI_API_KEY=second-key-456\nOPENAI_API_KEY=other-key\n");
        let (keys, problems) = Keys::load(&environment);
        assert_eq!(keys.get("GEMINI_API_KEY").map(Secret::reveal), Some("second-key-456"));
        assert_eq!(problems, [], "others cannot read it");
    }

    #[test]
    fn invalid_keys_are_refused_and_never_shown() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let environment = Environment::new([], Some(folder.path().to_owned()));
        for odd in ["", "  ", "two words", "a\nOPENAI_API_KEY=b", "\"quoted\"", &"x".repeat(MAX_KEY_BYTES + 1)] {
            let refused = keep_key(&environment, "GEMINI_API_KEY", &Secret::new(odd)).expect_err("it is no key");
            assert!(odd.trim().is_empty() || !refused.to_string().contains(odd));
        }
        assert!(!folder.path().join("keys.env").exists());
        let nowhere = Environment::new([], None);
        assert!(keep_key(&nowhere, "GEMINI_API_KEY", &Secret::new("some-key-123")).is_err());
    }
}
