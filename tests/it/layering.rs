//! The house keeps its floors: what the compiler cannot check about the structure of the source is checked here.

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;

use crate::cases;

/// Lowest first; a floor may name only floors before it.
const FLOORS: [&str; 17] = [
    "base",
    "safe_fs",
    "schedule",
    "store",
    "workspace",
    "agent",
    "element",
    "simulation",
    "memory",
    "mind",
    "gateway",
    "gate",
    "tools",
    "view",
    "ui",
    "app",
    "cli",
];

/// Words that only these floors may name.
const ONLY_IN: [(&str, &[&str]); 6] = [
    ("tokio", &["gateway"]),
    ("reqwest", &["gateway"]),
    ("genai", &["gateway"]),
    ("rusqlite", &["store"]),
    ("notify", &["workspace"]),
    // `app` puts the window together.
    ("egui", &["view", "ui", "app"]),
];

/// Words by which something is printed, and the one file that may: what is printed must be fit for a terminal.
const PRINTING: [&str; 7] = ["println!", "eprintln!", "print!(", "dbg!(", "io::stdout", "io::stderr", "ProgressBar"];
const PRINTER: &str = "src/cli/output.rs";

/// No file is longer.
const LINES_AT_MOST: usize = 800;

pub fn trials() -> Vec<Trial> {
    cases![
        floors_use_only_floors_below,
        the_room_knows_no_model_and_no_database,
        outside_crates_have_one_home,
        one_file_prints,
        every_file_says_what_it_is_for_and_is_of_readable_length
    ]
}

struct Source {
    path: PathBuf,
    floor: String,
    text: String,
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let inside = path.strip_prefix(&root).unwrap();
                let floor = inside.components().next().unwrap().as_os_str().to_string_lossy();
                let floor = floor.trim_end_matches(".rs").to_owned();
                sources.push(Source { text: fs::read_to_string(&path).unwrap(), path, floor });
            }
        }
    }
    assert!(sources.len() > 20, "the source was not found");
    sources
}

fn code_lines(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    let lines = source.text.lines().enumerate();
    lines.map(|(number, line)| (number + 1, line)).filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn rank(floor: &str) -> Option<usize> {
    FLOORS.iter().position(|name| *name == floor)
}

fn floors_use_only_floors_below() {
    let mut wrong = Vec::new();
    for source in sources() {
        let Some(own) = rank(&source.floor) else { continue };
        for (number, line) in code_lines(&source) {
            for named in line.split("crate::").skip(1) {
                let word: String = named.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if rank(&word).is_some_and(|other| other > own) {
                    wrong.push(format!("{}:{number}: {} names {word}", source.path.display(), source.floor));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "a floor names a floor above it:\n{}", wrong.join("\n"));
}

fn the_room_knows_no_model_and_no_database() {
    for source in sources().iter().filter(|source| source.floor == "simulation") {
        for (number, line) in code_lines(source) {
            for forbidden in ["crate::mind", "crate::gateway", "crate::memory"] {
                assert!(!line.contains(forbidden), "{}:{number} names {forbidden}", source.path.display());
            }
        }
    }
}

fn outside_crates_have_one_home() {
    for source in sources() {
        for (number, line) in code_lines(&source) {
            for (word, homes) in ONLY_IN {
                let named = line.contains(&format!("{word}::")) || line.contains(&format!("use {word}"));
                assert!(
                    !named || homes.contains(&&*source.floor),
                    "{}:{number} names {word}, at home in {}",
                    source.path.display(),
                    homes.join(", ")
                );
            }
        }
    }
}

fn one_file_prints() {
    let is_test = |path: &Path| path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"));
    for source in sources().iter().filter(|source| !source.path.ends_with(PRINTER) && !is_test(&source.path)) {
        for (number, line) in code_lines(source) {
            for word in PRINTING {
                assert!(
                    !line.contains(word),
                    "{}:{number} prints ({word}), which is {PRINTER}'s",
                    source.path.display()
                );
            }
        }
    }
}

fn every_file_says_what_it_is_for_and_is_of_readable_length() {
    for source in sources() {
        assert!(source.text.starts_with("//! "), "{} does not open with what it is for", source.path.display());
        let lines = source.text.lines().count();
        assert!(lines <= LINES_AT_MOST, "{} has {lines} lines", source.path.display());
    }
}
