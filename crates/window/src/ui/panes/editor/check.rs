//! Checks a text while it is edited, after a pause in typing, with the same readers that will load the file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::texts;
use crate::agent::agent_file::AgentFile;
use crate::agent::formats::format_of;
use crate::agent::mdx_file::code_problems;
use crate::base::{Problem, Severity};
use crate::engine::ProgramCache;
use crate::workspace::task_files::lint::{self, Known};
use crate::workspace::{scene_file, task_files, yaml};

/// How long typing must have stopped before a text is checked.
const PAUSE_SECS: f64 = 0.3;
/// Larger texts are not looked at while they are written.
const MOST_BYTES: usize = 256 * 1024;

/// By whom a file is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reader {
    Agent,
    Scene,
    Tasks,
    Yaml,
    Json,
}

fn reader(path: &str) -> Option<Reader> {
    if format_of(path).is_some() {
        return Some(Reader::Agent);
    }
    if path.ends_with(lint::ENDING) {
        return Some(Reader::Tasks);
    }
    let ending = path.rsplit('/').next()?.rsplit_once('.')?.1.to_ascii_lowercase();
    match ending.as_str() {
        "yaml" | "yml" if path.starts_with("scenes/") => Some(Reader::Scene),
        "yaml" | "yml" => Some(Reader::Yaml),
        "json" => Some(Reader::Json),
        _ => None,
    }
}

/// What there is beside a text: tasks name agents and each other across files.
pub struct TaskContext<'a> {
    /// Another number where something else is known.
    pub mark: u64,
    /// Who and what there is.
    pub known: &'a dyn Fn() -> Known,
}

/// Nothing is known.
pub const NOTHING_BESIDE: TaskContext<'static> = TaskContext { mark: 0, known: &Known::default };

/// Whether what stands beside it decides what is wrong with a file.
pub fn needs_known(path: &str) -> bool {
    reader(path) == Some(Reader::Tasks)
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
    /// The text that was looked at, and what was known beside it.
    done_for: Option<(u64, u64)>,
    /// The text that was seen last, and since when.
    since: Option<(u64, f64)>,
}

impl Check {
    /// Looks at a text, if it changed and nothing is typed just now. In how many seconds to come again.
    pub fn look(
        &mut self,
        path: &str,
        (text, generation): (&str, u64),
        beside: &TaskContext<'_>,
        now_secs: f64,
    ) -> Option<f64> {
        let reader = reader(path)?;
        let wanted = (generation, beside.mark);
        if self.done_for == Some(wanted) {
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
        self.done_for = Some(wanted);
        let is_large = text.len() > MOST_BYTES;
        self.not_done = is_large.then(|| texts::TOO_LARGE_TO_CHECK.to_owned());
        let mut problems = if is_large { Vec::new() } else { problems(reader, path, text, beside) };
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

fn problems(reader: Reader, path: &str, text: &str, beside: &TaskContext<'_>) -> Vec<Problem> {
    // An empty file is one that is about to be written.
    if text.trim().is_empty() {
        return Vec::new();
    }
    match reader {
        Reader::Agent => {
            format_of(path).map(|format| agent_problems(path, (format.read)(path, text))).unwrap_or_default()
        }
        Reader::Scene => scene_file::parse(path, text).1,
        Reader::Tasks => lint::problems(path, &task_files::parse(text), &(beside.known)()),
        Reader::Yaml => yaml::parse(text)
            .err()
            .into_iter()
            .map(|error| {
                let what = texts::not_yaml(&error.what);
                Problem::error(path, what, texts::FIX_THAT_LINE_OF_YAML).at_line(error.line)
            })
            .collect(),
        Reader::Json => serde_json::from_str::<serde::de::IgnoredAny>(text)
            .err()
            .into_iter()
            .map(|error| {
                let what = texts::not_json(&error.to_string());
                Problem::error(path, what, texts::FIX_THAT_LINE).at_line(Some(error.line()))
            })
            .collect(),
    }
}

/// What is wrong with an agent's file, the code of its own tools as well.
fn agent_problems(path: &str, file: AgentFile) -> Vec<Problem> {
    let of_code = code_problems(path, &file.profile.own_tools, &ProgramCache::default());
    file.problems.into_iter().chain(of_code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<Option<usize>> {
        let mut check = Check::default();
        assert_eq!(check.look(path, (text, 1), &NOTHING_BESIDE, 0.0), None);
        check.problems.iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn every_kind_of_file_is_read_by_those_who_use_it() {
        assert_eq!(lines("agents/ada.md", "---\nname: Ada\nmodle: hot\n---\nHi\n"), [Some(3)]);
        assert_eq!(lines("agents/ada.md", "---\nname: [\n---\nHi\n").len(), 1);
        let document = "# Agent: Ada\n\n## Purpose\n\nP\n\n<Tool name=\"a\" description=\"d\">\n\n```ts\nasync function execute() \
                        {\n  return 1 +;\n}\n```\n</Tool>\n";
        assert_eq!(lines("agents/ada/agent.mdx", document), [Some(11)], "its code is read, too");
        assert_eq!(lines("scenes/a.yaml", "name: A\nelemnts: []\n"), [Some(2)]);
        assert_eq!(lines("settings.yaml", "a: 1\nb: [\n").len(), 1);
        assert_eq!(lines("data.json", "{\n\"a\": 1,\n}"), [Some(3)]);
        assert_eq!(lines("tasks/plan.task.md", "## TODO\n\n- [ ] \"open\n- @nobody b\n"), [Some(3)]);
        assert!(lines("notes/plan.md", "---\nname: [\n---\n").is_empty(), "nobody reads it");
        assert!(lines("agents/new.md", " \n").is_empty());
    }

    #[test]
    fn a_text_is_looked_at_when_typing_pauses_and_once() {
        let mut check = Check::default();
        check.look("a.json", ("{}", 1), &NOTHING_BESIDE, 10.0);
        assert!(check.problems.is_empty());
        assert!(check.look("a.json", ("{", 2), &NOTHING_BESIDE, 10.1).is_some_and(|secs| secs > 0.0));
        assert!(check.look("a.json", ("{{", 3), &NOTHING_BESIDE, 10.2).is_some(), "typing goes on");
        assert!(check.problems.is_empty());
        assert_eq!(check.look("a.json", ("{{", 3), &NOTHING_BESIDE, 11.0), None);
        assert_eq!(check.problems.len(), 1);
        check.look("a.json", ("{}", 3), &NOTHING_BESIDE, 12.0);
        assert_eq!(check.problems.len(), 1, "the same text is not read again");
    }

    #[test]
    fn a_task_file_is_looked_at_again_when_others_come_to_be_known() {
        let text = "- [ ] @ada Count\n  depends_on: far\n- [ ] \"open\n";
        let mut check = Check::default();
        check.look("tasks/a.task.md", (text, 1), &NOTHING_BESIDE, 0.0);
        let told: Vec<&str> = check.problems.iter().map(|problem| problem.what.as_str()).collect();
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].ends_with("(column 7, unclosed-quote)"), "{told:?}");
        assert!(!check.problems[0].remedy.is_empty());
        let known = || Known::of(["bo".to_owned()], Some(["near".to_owned()].into()));
        check.look("tasks/a.task.md", (text, 1), &TaskContext { mark: 1, known: &known }, 1.0);
        assert_eq!(check.problems.len(), 3, "{:?}", check.problems);
        assert_eq!(check.lines.get(&1), Some(&Severity::Warning));
        let known = || Known::of(["Ada".to_owned()], Some(["far".to_owned()].into()));
        check.look("tasks/a.task.md", (text, 1), &TaskContext { mark: 2, known: &known }, 9.0);
        assert_eq!(check.problems.len(), 1, "{:?}", check.problems);
    }

    #[test]
    fn what_is_too_large_is_said_so() {
        let mut check = Check::default();
        check.look("a.json", (&"[".repeat(MOST_BYTES + 1), 1), &NOTHING_BESIDE, 0.0);
        assert!(check.problems.is_empty());
        assert!(check.not_done.is_some());
    }
}
