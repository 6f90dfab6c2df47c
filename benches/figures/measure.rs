//! Timing by hand: warm up, repeat, and report the median and the range.

use std::fmt;
use std::time::{Duration, Instant};

/// The times of the repetitions of one measurement, in milliseconds.
#[derive(Clone, Debug)]
pub struct Times {
    sorted: Vec<f64>,
}

impl Times {
    /// Runs `what` a few times unmeasured and then `count` times measured.
    pub fn of(warm_up: usize, count: usize, mut what: impl FnMut()) -> Self {
        for _ in 0..warm_up {
            what();
        }
        Self::from_each((0..count).map(|_| timed(&mut what)))
    }

    /// Creates it from the time of each repetition.
    pub fn from_each(each: impl IntoIterator<Item = Duration>) -> Self {
        let mut sorted: Vec<f64> = each.into_iter().map(|took| took.as_secs_f64() * 1e3).collect();
        sorted.sort_by(f64::total_cmp);
        Self { sorted }
    }

    /// The median, in milliseconds.
    pub fn median(&self) -> f64 {
        self.sorted.get(self.sorted.len() / 2).copied().unwrap_or(f64::NAN)
    }
}

impl Times {
    /// The longest, in milliseconds.
    pub fn longest(&self) -> f64 {
        self.sorted.last().copied().unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Times {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let (least, most) = (self.sorted.first().unwrap_or(&f64::NAN), self.sorted.last().unwrap_or(&f64::NAN));
        write!(out, "{} ({}–{}) ms", digits(self.median()), digits(*least), digits(*most))
    }
}

/// Formats a number with three significant digits.
pub fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The time of a single run.
pub fn timed(what: impl FnOnce()) -> Duration {
    let began = Instant::now();
    what();
    began.elapsed()
}

/// One row of the table.
pub struct Figure {
    /// What is measured.
    pub what: String,
    /// The target with its unit: a maximum, or a minimum if it starts with "at least".
    pub limit: String,
    /// The measured value, with its unit.
    pub measured: String,
    /// The measured value of the comparison; empty if there is none.
    pub against: String,
    /// Whether the target is met; `None` if there is no target.
    pub holds: Option<bool>,
}

impl Figure {
    /// A time with a target in milliseconds.
    pub fn at_most_ms(what: impl Into<String>, limit: f64, times: &Times) -> Self {
        Self {
            what: what.into(),
            limit: format!("{} ms", digits(limit)),
            measured: times.to_string(),
            against: String::new(),
            holds: Some(times.median() <= limit),
        }
    }

    /// The overhead of the workshop over `bare`; both are measured in turn in the same run.
    pub fn over_bare(what: &str, limit_ms: f64, bare: Vec<Duration>, ours: Vec<Duration>) -> Self {
        let (bare, ours) = (Times::from_each(bare), Times::from_each(ours));
        let over_ms = ours.median() - bare.median();
        Self {
            what: what.to_owned(),
            limit: format!("{} ms", digits(limit_ms)),
            measured: format!("{} ms", digits(over_ms)),
            against: format!("directly {bare}; through the workshop {ours}"),
            holds: Some(over_ms <= limit_ms),
        }
    }

    /// The same row with a comparison.
    pub fn against(mut self, what: impl Into<String>) -> Self {
        self.against = what.into();
        self
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let holds = match self.holds {
            Some(true) => "ok",
            Some(false) => "missed",
            None => "",
        };
        write!(out, "| {} | {} | {} | {} | {holds} |", self.what, self.limit, self.measured, self.against)
    }
}

/// The resident memory of a process, in MiB.
pub fn resident_mib(process: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}
