//! What it costs to look at the code of a command before it starts, in folders of different sizes, compared with walking
//! the folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use agent_workshop::gateway::{CodeCheck, SourceFolder, SourceKind};

use super::measure::{Figure, Times, timed};

const SIZES: [usize; 3] = [1_000, 10_000, 50_000];
const FILES_PER_FOLDER: usize = 50;
/// The number of sources of the project in each folder.
const SOURCES: usize = 200;
const LOOKS: usize = 9;

/// Makes a folder with this many files, of which some are code.
fn folder_of(size: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
    };
    write("tools/build.sh", ". tools/lib.sh\n");
    write("tools/lib.sh", "echo one\n");
    write("tools/check.py", "import os\nimport helper\n");
    write("parts/helper.py", "print('one')\n");
    write("app/Cargo.toml", "[package]\nname = \"app\"\n");
    write(".git/config", "[core]\n\tbare = false\n");
    for number in 0..SOURCES {
        write(&format!("app/src/part_{number}.rs"), "fn one() {}\n");
    }
    for number in 0..size - SOURCES - 6 {
        write(&format!("notes/{}/note-{number}.md", number / FILES_PER_FOLDER), "a note\n");
    }
    folder
}

fn check(files: &[&str], sources: Option<SourceFolder>) -> CodeCheck {
    let files = files.iter().map(|path| (*path).to_owned()).collect();
    CodeCheck { files, sources: sources.into_iter().collect::<BTreeSet<_>>(), ..CodeCheck::default() }
}

/// Counts all files below a folder, the plainest way to walk it.
fn walk(folder: &Path) -> usize {
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("it can be read").flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            count += walk(&entry.path());
        } else {
            count += 1;
        }
    }
    count
}

/// Measures one look for commands that need different parts of the folder.
pub fn looks() -> Vec<Figure> {
    let rust = SourceFolder { folder: "app".to_owned(), kind: SourceKind::Rust };
    let commands = [
        ("git status", check(&[".git"], None), 1),
        ("sh tools/build.sh", check(&["tools/build.sh"], None), 2),
        ("python3 tools/check.py", check(&["tools/check.py"], None), 2),
        ("cargo test in app", check(&["app/Cargo.toml"], Some(rust)), SOURCES + 1),
    ];
    let mut figures = Vec::new();
    for size in SIZES {
        let folder = folder_of(size);
        for (command, check, found) in &commands {
            let (mut bare, mut ours) = (Vec::new(), Vec::new());
            for _ in 0..LOOKS {
                bare.push(timed(|| assert_eq!(walk(folder.path()), size)));
                ours.push(timed(|| {
                    let seen = check.look_once(folder.path());
                    assert_eq!(seen.len(), *found, "{command}: {:?}", seen.keys().take(5).collect::<Vec<_>>());
                }));
            }
            let ours = Times::from_each(ours);
            figures.push(Figure {
                what: format!("one look at the code of `{command}` among {size} files"),
                limit: String::new(),
                measured: ours.to_string(),
                against: format!("walking the folder: {}", Times::from_each(bare)),
                holds: None,
            });
        }
    }
    figures
}
