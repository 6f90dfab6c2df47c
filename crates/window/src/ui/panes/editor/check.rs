//! Checks a text for problems after a pause in typing, with the same readers that load the file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::texts;
use crate::agent::agent_file::AgentFile;
use crate::agent::formats::format_of;
use crate::agent::mdx_file::code_problems;
use crate::base::{Problem, Severity};
use crate::engine::ProgramCache;
use crate::workspace::task_files::lint::{self, LintContext};
use crate::workspace::{scene_file, task_files, yaml};

/// How long typing must have stopped before a text is checked.
const PAUSE_SECS: f64 = 0.3;
/// Larger texts are not checked while typing.
const MAX_BYTES: usize = 256 * 1024;

/// The reader that loads a file.
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

/// The context of a text: tasks refer to agents, and to tasks in other files.
pub struct TaskContext<'a> {
    /// Changes whenever the context does.
    pub revision: u64,
    /// Returns the known agents and tasks.
    pub known: &'a dyn Fn() -> LintContext,
}

/// A context without agents and tasks.
pub const EMPTY_CONTEXT: TaskContext<'static> = TaskContext { revision: 0, known: &LintContext::default };

/// Whether the problems of a file depend on its context.
pub fn needs_context(path: &str) -> bool {
    reader(path) == Some(Reader::Tasks)
}

/// The problems of one text.
#[derive(Clone, Debug, Default)]
pub struct Check {
    /// The problems, sorted by line.
    pub problems: Arc<Vec<Problem>>,
    /// The highest severity on each line, counted from 1.
    pub lines: Arc<BTreeMap<usize, Severity>>,
    /// Why the text was not checked.
    pub skipped_reason: Option<String>,
    /// The generation of the checked text, and the revision of its context.
    checked: Option<(u64, u64)>,
    /// The generation of the latest text, and the time at which it was first seen.
    last_edit: Option<(u64, f64)>,
}

impl Check {
    /// Checks the text if it or its context has changed and typing has paused. Returns the seconds after which to call
    /// again.
    pub fn update(
        &mut self,
        path: &str,
        (text, generation): (&str, u64),
        context: &TaskContext<'_>,
        now_secs: f64,
    ) -> Option<f64> {
        let reader = reader(path)?;
        let key = (generation, context.revision);
        if self.checked == Some(key) {
            return None;
        }
        let since = match self.last_edit {
            Some((of, since)) if of == generation => since,
            _ => {
                self.last_edit = Some((generation, now_secs));
                now_secs
            }
        };
        let left = since + PAUSE_SECS - now_secs;
        if self.checked.is_some() && left > 0.0 {
            return Some(left);
        }
        self.checked = Some(key);
        let is_large = text.len() > MAX_BYTES;
        self.skipped_reason = is_large.then(|| texts::TOO_LARGE_TO_CHECK.to_owned());
        let mut problems = if is_large { Vec::new() } else { problems(reader, path, text, context) };
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

fn problems(reader: Reader, path: &str, text: &str, context: &TaskContext<'_>) -> Vec<Problem> {
    // A new file is still empty.
    if text.trim().is_empty() {
        return Vec::new();
    }
    match reader {
        Reader::Agent => {
            format_of(path).map(|format| agent_problems(path, (format.read)(path, text))).unwrap_or_default()
        }
        Reader::Scene => scene_file::parse(path, text).1,
        Reader::Tasks => lint::problems(path, &task_files::parse(text), &(context.known)()),
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

/// Returns the problems of an agent file, including those in the code of its tools.
fn agent_problems(path: &str, file: AgentFile) -> Vec<Problem> {
    let tool_problems = code_problems(path, &file.profile.own_tools, &ProgramCache::default());
    file.problems.into_iter().chain(tool_problems).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<Option<usize>> {
        let mut check = Check::default();
        assert_eq!(check.update(path, (text, 1), &EMPTY_CONTEXT, 0.0), None);
        check.problems.iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn every_kind_of_file_is_checked_by_its_reader() {
        assert_eq!(lines("agents/ada.md", "---\nname: Ada\nmodle: hot\n---\nHi\n"), [Some(3)]);
        assert_eq!(lines("agents/ada.md", "---\nname: [\n---\nHi\n").len(), 1);
        assert_eq!(lines("scenes/a.yaml", "name: A\nelemnts: []\n"), [Some(2)]);
        assert_eq!(lines("settings.yaml", "a: 1\nb: [\n").len(), 1);
        assert_eq!(lines("data.json", "{\n\"a\": 1,\n}"), [Some(3)]);
        assert_eq!(lines("tasks/plan.task.md", "## TODO\n\n- [ ] \"open\n- @nobody b\n"), [Some(3)]);
        assert!(lines("notes/plan.md", "---\nname: [\n---\n").is_empty(), "a note has no reader");
        assert!(lines("agents/new.md", " \n").is_empty());
    }

    #[cfg(feature = "typescript")]
    #[test]
    fn the_code_in_a_document_is_checked_too() {
        let document = "# Agent: Ada\n\n## Purpose\n\nP\n\n<Tool name=\"a\" description=\"d\">\n\n```ts\nasync function execute() \
                        {\n  return 1 +;\n}\n```\n</Tool>\n";
        assert_eq!(lines("agents/ada/agent.mdx", document), [Some(11)]);
    }

    #[test]
    fn a_text_is_checked_once_after_a_pause_in_typing() {
        let mut check = Check::default();
        check.update("a.json", ("{}", 1), &EMPTY_CONTEXT, 10.0);
        assert!(check.problems.is_empty());
        assert!(check.update("a.json", ("{", 2), &EMPTY_CONTEXT, 10.1).is_some_and(|secs| secs > 0.0));
        assert!(check.update("a.json", ("{{", 3), &EMPTY_CONTEXT, 10.2).is_some(), "typing goes on");
        assert!(check.problems.is_empty());
        assert_eq!(check.update("a.json", ("{{", 3), &EMPTY_CONTEXT, 11.0), None);
        assert_eq!(check.problems.len(), 1);
        check.update("a.json", ("{}", 3), &EMPTY_CONTEXT, 12.0);
        assert_eq!(check.problems.len(), 1, "the same generation is not checked again");
    }

    #[test]
    fn a_task_file_is_checked_again_when_its_context_changes() {
        let text = "- [ ] @ada Count\n  depends_on: far\n- [ ] \"open\n";
        let mut check = Check::default();
        check.update("tasks/a.task.md", (text, 1), &EMPTY_CONTEXT, 0.0);
        let messages: Vec<&str> = check.problems.iter().map(|problem| problem.what.as_str()).collect();
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].ends_with("(column 7, unclosed-quote)"), "{messages:?}");
        assert!(!check.problems[0].remedy.is_empty());
        let known = || LintContext::of(["bo".to_owned()], Some(["near".to_owned()].into()));
        check.update("tasks/a.task.md", (text, 1), &TaskContext { revision: 1, known: &known }, 1.0);
        assert_eq!(check.problems.len(), 3, "{:?}", check.problems);
        assert_eq!(check.lines.get(&1), Some(&Severity::Warning));
        let known = || LintContext::of(["Ada".to_owned()], Some(["far".to_owned()].into()));
        check.update("tasks/a.task.md", (text, 1), &TaskContext { revision: 2, known: &known }, 9.0);
        assert_eq!(check.problems.len(), 1, "{:?}", check.problems);
    }

    #[test]
    fn a_text_that_is_too_large_is_not_checked() {
        let mut check = Check::default();
        check.update("a.json", (&"[".repeat(MAX_BYTES + 1), 1), &EMPTY_CONTEXT, 0.0);
        assert!(check.problems.is_empty());
        assert!(check.skipped_reason.is_some());
    }
}
