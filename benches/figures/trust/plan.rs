//! The plan of a stress test (seed, scale and threads), its execution, and its findings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::chance::Chance;
use super::child::{Ended, Launch, Running};

/// The limit of resident memory for every process of the product.
pub const MAX_PEAK_KIB: u64 = 300 * 1024;

/// A kind of fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fault {
    /// Something that a person wrote, or that was acknowledged, is lost.
    Lost,
    /// Something was done or recorded twice.
    Doubled,
    /// Something outside was read, changed or revealed, or a permission was exceeded.
    Escaped,
    /// The process ended in a panic or by a signal of its own.
    Panicked,
    /// It did not end within its time limit.
    Hung,
    /// It used more memory than allowed.
    Memory,
    /// It failed without an error message that says what to do.
    Silent,
}

impl Fault {
    /// Every fault, in the order of the table.
    pub const ALL: [Self; 7] =
        [Self::Lost, Self::Doubled, Self::Escaped, Self::Panicked, Self::Hung, Self::Memory, Self::Silent];

    /// Its name in the table.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Doubled => "doubled",
            Self::Escaped => "escaped",
            Self::Panicked => "panicked",
            Self::Hung => "hung",
            Self::Memory => "memory",
            Self::Silent => "silent",
        }
    }
}

/// How a loop runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed of all randomness.
    pub seed: u64,
    /// The share of the full counts; 1 is all.
    pub scale: f64,
    /// Cases that run in parallel.
    pub threads: usize,
    /// Only these cases; all of them if empty.
    pub only: Vec<u64>,
    /// The folder in which the workspaces of findings are kept.
    pub keep: Option<PathBuf>,
    /// Whether findings are printed as soon as they are found.
    pub tells: bool,
}

impl Plan {
    /// From the environment: `WORKSHOP_TRUST_SEED`, `_SCALE`, `_THREADS` and `_KEEP`.
    pub fn of_environment(only: Vec<u64>) -> Result<Self, String> {
        Ok(Self {
            seed: variable("WORKSHOP_TRUST_SEED")?.unwrap_or(1),
            scale: variable("WORKSHOP_TRUST_SCALE")?.unwrap_or(1.0),
            threads: variable("WORKSHOP_TRUST_THREADS")?.unwrap_or(2),
            only,
            keep: folder_to_keep(),
            tells: true,
        })
    }

    /// Only these cases with seed 1, one after another.
    #[allow(dead_code, reason = "the quick cases of the integration tests use it")]
    pub fn quick(cases: impl IntoIterator<Item = u64>) -> Self {
        Self {
            seed: 1,
            scale: 1.0,
            threads: 2,
            only: cases.into_iter().collect(),
            keep: folder_to_keep(),
            tells: false,
        }
    }

    /// Runs the cases of a loop, from 0 up to a scaled count; each is independent.
    pub fn sweep(&self, name: &'static str, cases: u64, try_case: impl Fn(&mut Case) + Sync) -> Report {
        let count = (cases as f64 * self.scale).ceil().max(1.0) as u64;
        let numbers: Vec<u64> = if self.only.is_empty() { (0..count).collect() } else { self.only.clone() };
        let (next, report) = (AtomicU64::new(0), Mutex::new(Report::new(name, self.seed)));
        let began = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(|| {
                    while let Some(number) = numbers.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
                        let mut case = Case::new(self, name, *number);
                        try_case(&mut case);
                        let found = case.finish(self);
                        report.lock().expect("no case panics while it reports").join(found);
                    }
                });
            }
        });
        let mut report = report.into_inner().expect("no case panics while it reports");
        report.took = began.elapsed();
        report
    }
}

fn folder_to_keep() -> Option<PathBuf> {
    std::env::var_os("WORKSHOP_TRUST_KEEP").map(PathBuf::from)
}

fn variable<T: std::str::FromStr>(name: &str) -> Result<Option<T>, String> {
    let Ok(text) = std::env::var(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|_| format!("{name} is {text:?}, which is no number"))
}

/// A violation.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its kind.
    pub fault: Fault,
    /// Its case.
    pub case: u64,
    /// What was observed.
    pub what: String,
}

/// The result of a loop.
#[derive(Debug)]
pub struct Report {
    /// The name of the loop.
    pub name: &'static str,
    /// The seed.
    pub seed: u64,
    /// Counts of what was done.
    pub counts: BTreeMap<&'static str, u64>,
    /// The findings.
    pub findings: Vec<Finding>,
    /// The peak resident memory of any child process.
    pub peak_kib: u64,
    /// The longest run of any child process.
    pub longest: Duration,
    /// The duration of the whole loop.
    pub took: Duration,
}

impl Report {
    fn new(name: &'static str, seed: u64) -> Self {
        Self {
            name,
            seed,
            counts: BTreeMap::new(),
            findings: Vec::new(),
            peak_kib: 0,
            longest: Duration::ZERO,
            took: Duration::ZERO,
        }
    }

    fn join(&mut self, other: Self) {
        for (what, count) in other.counts {
            *self.counts.entry(what).or_default() += count;
        }
        self.findings.extend(other.findings);
        self.peak_kib = self.peak_kib.max(other.peak_kib);
        self.longest = self.longest.max(other.longest);
    }

    /// The number of findings of a kind.
    pub fn faults(&self, fault: Fault) -> usize {
        self.findings.iter().filter(|finding| finding.fault == fault).count()
    }

    /// Describes the counts of what was done.
    pub fn counts_text(&self) -> String {
        let counts: Vec<String> = self.counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
        counts.join(", ")
    }

    /// Panics with every finding.
    #[allow(dead_code, reason = "the quick cases of the integration tests use it")]
    pub fn assert_clean(&self) {
        let findings: BTreeSet<String> = self.findings.iter().map(|finding| self.repeat(finding)).collect();
        assert!(
            findings.is_empty(),
            "{}:\n{}",
            self.counts_text(),
            findings.into_iter().collect::<Vec<_>>().join("\n")
        );
    }

    fn repeat(&self, finding: &Finding) -> String {
        repeat(self.name, self.seed, finding)
    }
}

/// A finding, and how to reproduce it.
fn repeat(name: &str, seed: u64, finding: &Finding) -> String {
    let Finding { fault, case, what } = finding;
    format!(
        "{}: {what}\n  again with: WORKSHOP_TRUST_SEED={seed} cargo bench --bench figures -- trust {name} {case}",
        fault.as_str()
    )
}

/// One case: its randomness, its folder and its findings.
pub struct Case {
    /// Its number.
    pub number: u64,
    /// Its randomness.
    pub chance: Chance,
    name: &'static str,
    seed: u64,
    tells: bool,
    folder: tempfile::TempDir,
    report: Report,
}

impl Case {
    fn new(plan: &Plan, name: &'static str, number: u64) -> Self {
        let folder = tempfile::Builder::new().prefix("workshop-trust-").tempdir();
        let folder = folder.expect("a temporary folder can be made");
        for part in ["workspace", "home", "outside"] {
            std::fs::create_dir(folder.path().join(part)).expect("folders can be made");
        }
        Self {
            number,
            chance: Chance::new(plan.seed, name, number),
            name,
            seed: plan.seed,
            tells: plan.tells,
            folder,
            report: Report::new(name, plan.seed),
        }
    }

    /// The folder of the case, with a workspace, a home folder and an outside in it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The workspace of the case.
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// A file of the workspace.
    pub fn at(&self, path: &str) -> PathBuf {
        self.workspace().join(path)
    }

    /// Writes a file of the workspace, with its folders.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().expect("it should be in the workspace")).expect("folders can be made");
        std::fs::write(path, text).expect("files can be written");
    }

    /// The program with these arguments in this workspace.
    pub fn launch(&self, arguments: &[&str]) -> Launch {
        Launch::new(&self.workspace(), &self.folder.path().join("home"), arguments)
    }

    /// Runs the program to its end; reports panics, hangs and excessive memory.
    pub fn run(&mut self, launch: Launch) -> Ended {
        let running = launch.start();
        self.end(running)
    }

    /// Waits for the end of a process that was started.
    pub fn end(&mut self, running: Running) -> Ended {
        let ended = running.wait();
        self.judge(&ended);
        ended
    }

    /// Checks for panics, hangs and excessive memory.
    pub fn judge(&mut self, ended: &Ended) {
        self.report.peak_kib = self.report.peak_kib.max(ended.peak_kib);
        self.report.longest = self.report.longest.max(ended.took);
        if let Some(what) = ended.panic() {
            self.found(Fault::Panicked, format!("{}: {what}", ended.command));
        }
        if ended.timed_out {
            let what = format!("{} did not end within {:?}: {}", ended.command, ended.took, ended.last_words());
            self.found(Fault::Hung, what);
        }
        if ended.peak_kib > MAX_PEAK_KIB {
            self.found(Fault::Memory, format!("{} took {} MB", ended.command, ended.peak_kib / 1024));
        }
    }

    /// Records a finding.
    pub fn found(&mut self, fault: Fault, what: impl fmt::Display) {
        let finding = Finding { fault, case: self.number, what: what.to_string() };
        if self.tells {
            eprintln!("trust {}: {}", self.name, repeat(self.name, self.seed, &finding));
        }
        self.report.findings.push(finding);
    }

    /// Counts what was done.
    pub fn count(&mut self, what: &'static str, count: u64) {
        *self.report.counts.entry(what).or_default() += count;
    }

    fn finish(self, plan: &Plan) -> Report {
        if let Some(keep) = plan.keep.as_ref().filter(|_| !self.report.findings.is_empty()) {
            let to = keep.join(format!("{}-{}-{}", self.name, self.seed, self.number));
            let from = self.folder.keep();
            if std::fs::create_dir_all(keep).and_then(|()| std::fs::rename(&from, &to)).is_err() {
                eprintln!("the folder of case {} is {}", self.number, from.display());
            }
        }
        self.report
    }
}
