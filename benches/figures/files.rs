//! The file service: opening ten thousand files, and single tool calls among them, compared with the same operations
//! directly on the file system.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_workshop::base::{Author, Seq};
use agent_workshop::workspace::vfs::{
    FileAnswer, FileOperation, FileOrder, FileOutcome, FileRights, FileService, FileServiceOptions,
};

use super::measure::{Figure, Times};

const FILES: usize = 10_000;
const FOLDERS: usize = 100;
/// The size of a file, about that of a note or a draft.
const TEXT_BYTES: usize = 2000;
const TIMEOUT: Duration = Duration::from_secs(60);

struct FileBench {
    folder: tempfile::TempDir,
    desk: FileService,
    orders: u64,
}

fn path(number: usize) -> String {
    format!("artifacts/f{:02}/note-{number}.md", number % FOLDERS)
}

fn text(number: usize) -> String {
    let line = format!("line of note {number}, as any other\n");
    line.repeat(TEXT_BYTES / line.len() + 1)
}

fn open(folder: &Path) -> FileService {
    FileService::open(FileServiceOptions::new(folder)).expect("the workspace can be opened")
}

impl FileBench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        for number in 0..FOLDERS {
            fs::create_dir_all(folder.path().join(path(number)).parent().expect("it should have one"))
                .expect("it can be made");
        }
        for number in 0..FILES {
            fs::write(folder.path().join(path(number)), text(number)).expect("files can be written");
        }
        // File systems have coarse timestamps: a file that was written a moment ago may still change unnoticed, so it
        // is not cached.
        std::thread::sleep(Duration::from_millis(2500));
        let desk = open(folder.path());
        Self { folder, desk, orders: 0 }
    }

    fn order(&mut self, operation: FileOperation) -> FileOutcome {
        self.orders += 1;
        let order = FileOrder {
            key: format!("order-{}", self.orders).into(),
            author: Author("ada".into()),
            activation: None,
            operation,
            rights: FileRights {
                reads: vec![vec!["**".into()]],
                writes: vec![vec!["artifacts/**".into()]],
                ..FileRights::default()
            },
            cause: Seq(1),
            worktree: None,
        };
        assert!(self.desk.send(order).is_ok(), "there is room");
        self.desk.next(TIMEOUT).expect("it is answered")
    }

    fn at(&self, number: usize) -> PathBuf {
        self.folder.path().join(path(number))
    }
}

/// Measures opening, reading, writing, listing and searching among ten thousand files.
pub fn ten_thousand() -> Vec<Figure> {
    let mut bench = FileBench::new();
    let mut figures = vec![opening(&bench), reading(&mut bench)];
    figures.extend(writing(&mut bench));
    figures.extend([listing(&mut bench), missing(&mut bench), searching(&mut bench)]);
    figures
}

fn opening(bench: &FileBench) -> Figure {
    // A second file service for the same folder; nobody writes to it meanwhile.
    let times = Times::of(1, 10, || drop(open(bench.folder.path())));
    let bare = Times::of(1, 10, || assert_eq!(walk(bench.folder.path()).len(), FILES));
    Figure::at_most_ms(format!("opening {FILES} files"), 1000.0, &times)
        .against(format!("only walking the folders: {bare}"))
}

fn walk(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("it can be read").flatten() {
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        let metadata = entry.metadata().expect("it should exist");
        if metadata.is_dir() {
            files.extend(walk(&entry.path()));
        } else {
            files.push((entry.path(), metadata.len()));
        }
    }
    files
}

fn reading(bench: &mut FileBench) -> Figure {
    let mut number = 0;
    let bare = Times::of(20, 500, || {
        number += 7;
        drop(fs::read_to_string(bench.at(number % FILES)).expect("it should exist"));
    });
    let times = Times::of(20, 500, || {
        number += 7;
        let outcome = bench.order(FileOperation::Read { path: path(number % FILES) });
        assert!(matches!(outcome.result, Ok(FileAnswer::Text { .. })), "{outcome:?}");
    });
    Figure::at_most_ms(format!("one read among {FILES} files"), 1.0, &times).against(format!("read: {bare}"))
}

fn writing(bench: &mut FileBench) -> [Figure; 2] {
    let mut number = 0;
    let mut next = |step: usize| {
        number += step;
        (number % FILES, format!("{}{number}\n", text(number)))
    };
    let whole = |path: &Path, text: &str, is_synced: bool| {
        let beside = path.with_extension("beside");
        let mut file = File::create(&beside).expect("it can be made");
        file.write_all(text.as_bytes()).expect("it can be written");
        if is_synced {
            file.sync_all().expect("it can be synced");
        }
        fs::rename(&beside, path).expect("it can be renamed");
        if is_synced {
            File::open(path.parent().expect("it should have one"))
                .and_then(|folder| folder.sync_all())
                .expect("it can be synced");
        }
    };
    let mut bare = |is_synced: bool| {
        Times::of(5, 100, || {
            let (number, text) = next(13);
            whole(&bench.at(number), &text, is_synced);
        })
    };
    let (synced, unsynced) = (bare(true), bare(false));
    // The first write to a file also keeps its previous text; most writes are like the second one.
    for round in 0..2 {
        for number in 0..105 {
            let content = format!("{round} {}", text(number));
            bench.order(FileOperation::Write { path: path(number), content });
        }
    }
    let mut number = 0;
    let times = Times::of(5, 100, || {
        number += 1;
        let content = format!("{}once more {number}\n", text(number));
        let outcome = bench.order(FileOperation::Write { path: path(number), content });
        assert!(matches!(outcome.result, Ok(FileAnswer::Changed { .. })), "{outcome:?}");
    });
    let apart = (times.median() - synced.median() + unsynced.median()).max(0.0);
    let rest = Figure {
        what: "the same without the time that the plain write waits for the disk".into(),
        limit: "1 ms".into(),
        measured: format!("{apart:.3} ms"),
        against: format!("write, rename: {unsynced}"),
        holds: Some(apart <= 1.0),
    };
    let write = Figure {
        what: format!("one write among {FILES} files, with its version on disk"),
        limit: String::new(),
        measured: times.to_string(),
        against: format!("write, sync, rename, sync: {synced}"),
        holds: None,
    };
    [write, rest]
}

fn listing(bench: &mut FileBench) -> Figure {
    let mut number = 0;
    let bare = Times::of(5, 200, || {
        number += 1;
        let folder = bench.at(number);
        assert!(
            fs::read_dir(folder.parent().expect("it should have one")).expect("it should exist").count()
                >= FILES / FOLDERS
        );
    });
    let times = Times::of(5, 200, || {
        number += 1;
        let prefix = format!("artifacts/f{:02}/", number % FOLDERS);
        let outcome = bench.order(FileOperation::List { prefix });
        assert!(matches!(outcome.result, Ok(FileAnswer::Listing { .. })), "{outcome:?}");
    });
    Figure::at_most_ms(format!("listing one folder of {FOLDERS} among {FILES} files"), 1.0, &times)
        .against(format!("reading the folder: {bare}"))
}

fn missing(bench: &mut FileBench) -> Figure {
    let times = Times::of(5, 100, || {
        let outcome = bench.order(FileOperation::Read { path: "notes/note-77.md".into() });
        assert!(outcome.result.is_err(), "{outcome:?}");
    });
    Figure {
        what: format!("reading a missing file among {FILES}, with similar names suggested"),
        limit: String::new(),
        measured: times.to_string(),
        against: String::new(),
        holds: None,
    }
}

fn searching(bench: &mut FileBench) -> Figure {
    let bare = Times::of(1, 5, || {
        let found = walk(bench.folder.path())
            .into_iter()
            .filter(|(path, _)| fs::read_to_string(path).is_ok_and(|text| text.to_lowercase().contains("note 4711,")))
            .count();
        assert_eq!(found, 1);
    });
    let times = Times::of(1, 10, || {
        let outcome = bench.order(FileOperation::Search { text: Some("Note 4711,".into()), glob: None });
        assert!(matches!(&outcome.result, Ok(FileAnswer::Matches { matches, .. }) if !matches.is_empty()));
    });
    Figure {
        what: format!("full-text search in all {FILES} files"),
        limit: String::new(),
        measured: times.to_string(),
        against: format!("reading and searching all: {bare}"),
        holds: None,
    }
}
