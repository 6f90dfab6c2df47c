//! What is wrong in a text while it is written: read by those who will read the file, after a pause in typing.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::agent::formats::format_of;
use crate::base::{Problem, Severity};
use crate::workspace::{scene_file, yaml};

/// A text is looked at once nothing was typed for so long.
const PAUSE_SECS: f64 = 0.3;
/// Larger texts are not looked at while they are written.
const MOST_BYTES: usize = 256 * 1024;

/// By whom a file is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reader {
    Agent,
    Scene,
    Yaml,
    Json,
}

fn reader(path: &str) -> Option<Reader> {
    if format_of(path).is_some() {
        return Some(Reader::Agent);
    }
    let ending = path.rsplit('/').next()?.rsplit_once('.')?.1.to_ascii_lowercase();
    match ending.as_str() {
        "yaml" | "yml" if path.starts_with("scenes/") => Some(Reader::Scene),
        "yaml" | "yml" => Some(Reader::Yaml),
        "json" => Some(Reader::Json),
        _ => None,
    }
}

/// What is wrong in one text.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// What is wrong, in order of lines.
    pub problems: Arc<Vec<Problem>>,
    /// How bad it is on each line, counted from 1.
    pub lines: Arc<BTreeMap<usize, Severity>>,
    /// Why the text was not looked at.
    pub not_done: Option<String>,
    done_for: Option<u64>,
    /// The text that was seen last, and since when.
    since: Option<(u64, f64)>,
}

impl Check {
    /// Looks at a text, if it changed and nothing is typed just now. In how many seconds to come again.
    pub fn look(&mut self, path: &str, text: &str, generation: u64, now_secs: f64) -> Option<f64> {
        let reader = reader(path)?;
        if self.done_for == Some(generation) {
            return None;
        }
        let since = match self.since {
            Some((of, since)) if of == generation => since,
            _ => {
                self.since = Some((generation, now_secs));
                now_secs
            }
        };
        let left = since + PAUSE_SECS - now_secs;
        if self.done_for.is_some() && left > 0.0 {
            return Some(left);
        }
        self.done_for = Some(generation);
        let is_large = text.len() > MOST_BYTES;
        self.not_done =
            is_large.then(|| "Too large to be checked while it is written; it is once it is saved".to_owned());
        let mut problems = if is_large { Vec::new() } else { problems(reader, path, text) };
        problems.sort_by_key(|problem| problem.line.unwrap_or(0));
        let mut lines = BTreeMap::new();
        for problem in &problems {
            let worst = lines.entry(problem.line.unwrap_or(1)).or_insert(problem.severity);
            *worst = (*worst).max(problem.severity);
        }
        self.problems = Arc::new(problems);
        self.lines = Arc::new(lines);
        None
    }
}

fn problems(reader: Reader, path: &str, text: &str) -> Vec<Problem> {
    // An empty file is one that is about to be written.
    if text.trim().is_empty() {
        return Vec::new();
    }
    match reader {
        Reader::Agent => format_of(path).map(|format| (format.read)(path, text).problems).unwrap_or_default(),
        Reader::Scene => scene_file::parse(path, text).1,
        Reader::Yaml => yaml::parse(text)
            .err()
            .into_iter()
            .map(|error| {
                let remedy = "mend that line; until then nothing of the file counts";
                Problem::error(path, format!("not usable as YAML: {}", error.what), remedy).at_line(error.line)
            })
            .collect(),
        Reader::Json => serde_json::from_str::<serde::de::IgnoredAny>(text)
            .err()
            .into_iter()
            .map(|error| {
                Problem::error(path, format!("not usable as JSON: {error}"), "mend that line")
                    .at_line(Some(error.line()))
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<Option<usize>> {
        let mut check = Check::default();
        assert_eq!(check.look(path, text, 1, 0.0), None);
        check.problems.iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn every_kind_of_file_is_read_by_those_who_use_it() {
        assert_eq!(lines("agents/ada.md", "---\nname: Ada\nmodle: hot\n---\nHi\n"), [Some(3)]);
        assert_eq!(lines("agents/ada.md", "---\nname: [\n---\nHi\n").len(), 1);
        assert_eq!(lines("scenes/a.yaml", "name: A\nelemnts: []\n"), [Some(2)]);
        assert_eq!(lines("settings.yaml", "a: 1\nb: [\n").len(), 1);
        assert_eq!(lines("data.json", "{\n\"a\": 1,\n}"), [Some(3)]);
        assert!(lines("notes/plan.md", "---\nname: [\n---\n").is_empty(), "nobody reads it");
        assert!(lines("agents/new.md", " \n").is_empty());
    }

    #[test]
    fn a_text_is_looked_at_when_typing_pauses_and_once() {
        let mut check = Check::default();
        check.look("a.json", "{}", 1, 10.0);
        assert!(check.problems.is_empty());
        assert!(check.look("a.json", "{", 2, 10.1).is_some_and(|secs| secs > 0.0));
        assert!(check.look("a.json", "{{", 3, 10.2).is_some(), "typing goes on");
        assert!(check.problems.is_empty());
        assert_eq!(check.look("a.json", "{{", 3, 11.0), None);
        assert_eq!(check.problems.len(), 1);
        check.look("a.json", "{}", 3, 12.0);
        assert_eq!(check.problems.len(), 1, "the same text is not read again");
    }

    #[test]
    fn what_is_too_large_is_said_so() {
        let mut check = Check::default();
        check.look("a.json", &"[".repeat(MOST_BYTES + 1), 1, 0.0);
        assert!(check.problems.is_empty());
        assert!(check.not_done.is_some());
    }
}
