//! The content of the workspace files that a command runs. It is looked at before a person is asked, and compared at the
//! moment in which the command starts, so that a permission never covers other code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The number of bytes from which a file is identified by its first part and its length.
const MAX_HASHED_BYTES: u64 = 256 * 1024 * 1024;
/// The number of bytes of a file that are kept to show what changed.
const MAX_TEXT_BYTES: usize = 8 * 1024;

/// The content of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SeenFile {
    /// The hash of the content.
    pub hash: String,
    /// The beginning of the content as text.
    pub text: String,
}

/// The contents of files by path; `None` for a file that does not exist or cannot be read.
pub type SeenCode = BTreeMap<String, Option<SeenFile>>;

/// What to do with the files that a command runs, before it starts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CodeCheck {
    /// The paths of the files; if there are none, the command just starts.
    pub files: BTreeSet<String>,
    /// The hashes with which it may start; `None` to report the contents instead of starting it.
    pub expected: Option<BTreeMap<String, Option<String>>>,
}

/// Returns the hashes of these contents.
pub fn hashes(seen: &SeenCode) -> BTreeMap<String, Option<String>> {
    let hash = |file: &Option<SeenFile>| file.as_ref().map(|file| file.hash.clone());
    seen.iter().map(|(path, file)| (path.clone(), hash(file))).collect()
}

impl CodeCheck {
    /// Looks at the files in this folder. Returns their contents unless they are the expected ones.
    pub(super) fn unexpected(&self, root: &Path) -> Option<SeenCode> {
        if self.files.is_empty() {
            return None;
        }
        let seen: SeenCode = self.files.iter().map(|path| (path.clone(), look(&root.join(path)))).collect();
        (self.expected.as_ref() != Some(&hashes(&seen))).then_some(seen)
    }
}

/// Reads a file. Links are followed, because their target is what runs.
fn look(place: &Path) -> Option<SeenFile> {
    let place = place.canonicalize().ok()?;
    let metadata = place.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let mut file = File::open(place).ok()?.take(MAX_HASHED_BYTES);
    let (mut hasher, mut kept) = (blake3::Hasher::new(), Vec::new());
    let mut block = vec![0; 64 * 1024];
    loop {
        let count = file.read(&mut block).ok()?;
        if count == 0 {
            break;
        }
        hasher.update(&block[..count]);
        kept.extend(&block[..count.min(MAX_TEXT_BYTES - kept.len())]);
    }
    hasher.update(&metadata.len().to_le_bytes());
    let text = String::from_utf8_lossy(&kept).into_owned();
    Some(SeenFile { hash: hasher.finalize().to_hex().to_string(), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_starts_only_with_the_expected_code() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let write = |text: &str| std::fs::write(folder.path().join("run.sh"), text).expect("it can be written");
        let mut check = CodeCheck { files: ["run.sh".to_owned(), "none.sh".to_owned()].into(), expected: None };
        write("echo one");
        let seen = check.unexpected(folder.path()).expect("nothing is expected yet");
        assert_eq!(seen["run.sh"].as_ref().map(|file| &*file.text), Some("echo one"));
        assert_eq!(seen["none.sh"], None);
        check.expected = Some(hashes(&seen));
        assert_eq!(check.unexpected(folder.path()), None);
        write("echo two");
        assert!(check.unexpected(folder.path()).is_some_and(|now| now["run.sh"] != seen["run.sh"]));
        write("echo one");
        std::fs::write(folder.path().join("none.sh"), "x").expect("it can be written");
        assert!(check.unexpected(folder.path()).is_some(), "a new file may be run instead");
        assert_eq!(CodeCheck::default().unexpected(folder.path()), None);
    }
}
