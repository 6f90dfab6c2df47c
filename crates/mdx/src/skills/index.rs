//! Indexes the skills of a folder from the paths and texts of its files.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::lenient_front_matter;
use crate::source::{LineIndex, Position, SourceProblem};

/// The maximum length of a skill's name, according to the format.
const MAX_NAME_CHARS: usize = 64;

/// The maximum length of a description according to the format; every agent's prompt contains it.
const MAX_DESCRIPTION_CHARS: usize = 1024;

/// A file of the folder that contains skills.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SkillFile<'a> {
    /// The path, with `/` between components.
    pub path: &'a str,
    /// The text; only needed for files called `SKILL.md`.
    pub text: Option<&'a str>,
}

/// A document with instructions for a certain kind of task.
#[derive(Clone, PartialEq, Debug)]
pub struct Skill {
    /// The name, which is unique in an index.
    pub name: String,
    /// When to use it, in one line.
    pub description: String,
    /// The path of its `SKILL.md`.
    pub path: String,
    /// The folder of its `SKILL.md`.
    pub base_dir: String,
    /// The instructions, with `{baseDir}` as written.
    pub body: String,
    /// The value of `license:`.
    pub license: Option<String>,
    /// The value of `compatibility:`.
    pub compatibility: Option<String>,
    /// The value of `allowed-tools:`; `None` if it is missing.
    pub allowed_tools: Option<Vec<String>>,
    /// The value of `metadata:`.
    pub metadata: Map<String, Value>,
    /// Whether a model may choose it by itself. Otherwise it is not listed in prompts, and only a person can use it, by
    /// name.
    pub is_for_models: bool,
    /// The paths of the other files in its folder: scripts, references, assets.
    pub files: Vec<String>,
}

/// A problem of a skill, and its file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SkillProblem {
    /// The path of the file.
    pub path: String,
    /// The problem.
    pub problem: SourceProblem,
}

/// The skills of a folder.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SkillIndex {
    /// The usable skills, sorted by path.
    pub skills: Vec<Skill>,
    /// The problems of the others.
    pub problems: Vec<SkillProblem>,
}

impl SkillIndex {
    /// Returns the skill with this name.
    pub fn find(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// Converts every path to one that an agent can use whose paths are relative to this folder: skills outside of it
    /// are reached with `..`. An empty folder changes nothing.
    pub fn seen_from(mut self, folder: &str) -> Self {
        if folder.is_empty() {
            return self;
        }
        for skill in &mut self.skills {
            for path in [&mut skill.path, &mut skill.base_dir].into_iter().chain(&mut skill.files) {
                *path = seen_from(path, folder);
            }
        }
        for problem in &mut self.problems {
            problem.path = seen_from(&problem.path, folder);
        }
        self
    }
}

/// Returns a path relative to a folder, both given relative to the same root.
fn seen_from(path: &str, folder: &str) -> String {
    let (path, folder): (Vec<&str>, Vec<&str>) = (path.split('/').collect(), folder.split('/').collect());
    let shared = path.iter().zip(&folder).take_while(|(one, other)| one == other).count();
    let seen: Vec<&str> =
        std::iter::repeat_n("..", folder.len() - shared).chain(path[shared..].iter().copied()).collect();
    if seen.is_empty() { ".".to_owned() } else { seen.join("/") }
}

/// Creates the index. Files may be in any order.
pub fn index<'a>(files: impl IntoIterator<Item = SkillFile<'a>>) -> SkillIndex {
    let files: BTreeMap<&str, Option<&str>> = files.into_iter().map(|file| (file.path, file.text)).collect();
    let mut index = SkillIndex::default();
    let folders: Vec<&str> = files.keys().filter(|path| is_skill(path)).map(|path| folder(path)).collect();
    for (path, text) in files.iter().filter(|(path, _)| is_skill(path)) {
        let mut reader = Reader { path, lines: LineIndex::new(text.unwrap_or_default()), index: &mut index };
        let skill = reader.read(text.unwrap_or_default());
        let Some(mut skill) = skill else { continue };
        if let Some(first) = index.find(&skill.name) {
            let what = format!("there is already a skill \"{}\" ({}); this one is ignored", skill.name, first.path);
            index.problem(path, SourceProblem::error(Position { line: 1, column: 1 }, what, "rename one of them"));
            continue;
        }
        let prefix = format!("{}/", skill.base_dir);
        // The files of a nested skill belong to that skill only.
        let belongs = |other: &&&str| {
            let owner = folders.iter().filter(|folder| is_below(other, folder)).max_by_key(|folder| folder.len());
            other.starts_with(&prefix) && **other != *path && owner.is_some_and(|owner| *owner == skill.base_dir)
        };
        skill.files = files.keys().filter(belongs).map(|path| (*path).to_owned()).collect();
        index.skills.push(skill);
    }
    index
}

fn is_skill(path: &str) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    name.eq_ignore_ascii_case("skill.md") && path.contains('/')
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

impl SkillIndex {
    fn problem(&mut self, path: &str, problem: SourceProblem) {
        self.problems.push(SkillProblem { path: path.to_owned(), problem });
    }
}

struct Reader<'a> {
    path: &'a str,
    lines: LineIndex,
    index: &'a mut SkillIndex,
}

impl Reader<'_> {
    fn warning(&mut self, line: usize, what: impl Into<String>, remedy: &str) {
        let problem = SourceProblem::warning(Position { line, column: 1 }, what, remedy);
        self.index.problem(self.path, problem);
    }

    fn read(&mut self, text: &str) -> Option<Skill> {
        let (keys, body, error) = lenient_front_matter::read(text);
        if let Some(error) = error {
            let remedy = "it is read line by line instead; put values that contain a colon in quotes";
            self.warning(error.line, error.what, remedy);
        }
        let text_of = |key: &str| match keys.get(key)? {
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let base_dir = folder(self.path).to_owned();
        let folder_name = base_dir.rsplit('/').next().unwrap_or_default().to_owned();
        let name = self.name(text_of("name"), &folder_name)?;
        let Some(description) = text_of("description").map(|text| one_line(&text)) else {
            let what = format!("the skill \"{name}\" has no description, so it is ignored");
            let at = Position { line: self.lines.line(0), column: 1 };
            let remedy = "add description: to its front matter, and say when to use it";
            self.index.problem(self.path, SourceProblem::error(at, what, remedy));
            return None;
        };
        if description.chars().count() > MAX_DESCRIPTION_CHARS {
            let what = format!("the description is longer than {MAX_DESCRIPTION_CHARS} characters");
            self.warning(1, what, "move details into the body: the description is part of every prompt");
        }
        let no_models = matches!(keys.get("disable-model-invocation"), Some(Value::Bool(true)));
        Some(Skill {
            name,
            description,
            path: self.path.to_owned(),
            base_dir,
            body: text[body].trim().replace("\r\n", "\n"),
            license: text_of("license"),
            compatibility: text_of("compatibility"),
            allowed_tools: keys.get("allowed-tools").or_else(|| keys.get("allowed_tools")).map(tools),
            metadata: keys.get("metadata").and_then(Value::as_object).cloned().unwrap_or_default(),
            is_for_models: !no_models,
            files: Vec::new(),
        })
    }

    /// Returns the name of the skill: the given one, otherwise that of its folder.
    fn name(&mut self, given: Option<String>, folder: &str) -> Option<String> {
        let Some(name) = given else {
            let what = "the skill has no name; its folder name is used";
            self.warning(1, what, "add name: to its front matter");
            return Some(folder.to_owned());
        };
        let is_plain = !name.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '/' | '\\'));
        if !is_plain || name.chars().count() > MAX_NAME_CHARS {
            let what = format!("\"{name}\" is not a valid skill name; its folder name is used");
            self.warning(1, what, "use lower-case letters, digits and -, at most 64");
            return Some(folder.to_owned());
        }
        if name != folder {
            let what = format!("the skill \"{name}\" is in a folder named \"{folder}\"");
            self.warning(1, what, "use the same name for both, as other products expect");
        }
        Some(name)
    }
}

/// Parses a list, or a text with spaces or commas between its entries. Text in parentheses belongs to its entry, as in
/// `Bash(git add:*)`.
fn tools(value: &Value) -> Vec<String> {
    match value {
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(|tool| tool.trim().to_owned()).collect(),
        Value::String(text) => {
            let mut tools = vec![String::new()];
            let mut depth = 0usize;
            for c in text.chars() {
                match c {
                    '(' => depth += 1,
                    ')' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                match tools.last_mut() {
                    Some(last) if depth > 0 || !(c == ',' || c.is_whitespace()) => last.push(c),
                    _ => tools.push(String::new()),
                }
            }
            tools.retain(|tool| !tool.is_empty());
            tools
        }
        _ => Vec::new(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<'a>(files: &[(&'a str, &'a str)]) -> SkillIndex {
        index(files.iter().map(|(path, text)| SkillFile { path, text: Some(text) }))
    }

    fn problem_texts(index: &SkillIndex) -> Vec<String> {
        index.problems.iter().map(|problem| problem.problem.what.clone()).collect()
    }

    #[test]
    fn the_example_skill_of_the_specification_is_parsed() {
        let index = of(&[
            (
                "skills/my-skill/SKILL.md",
                "---\nname: my-skill\ndescription: What this skill provides\n---\n\nDo {baseDir}/x.\n",
            ),
            ("skills/my-skill/scripts/run.py", ""),
            ("skills/other.md", "not a skill"),
        ]);
        assert_eq!(problem_texts(&index), [] as [&str; 0]);
        let skill = index.find("my-skill").unwrap();
        assert_eq!((&*skill.description, &*skill.base_dir), ("What this skill provides", "skills/my-skill"));
        assert_eq!(skill.body, "Do {baseDir}/x.");
        assert_eq!(skill.files, ["skills/my-skill/scripts/run.py"]);
        assert!(skill.is_for_models && skill.allowed_tools.is_none());
    }

    #[test]
    fn skills_of_other_products_work_unchanged() {
        let text = "---\r\nname: pdf\r\ndescription: >\r\n  Work with PDF files.\r\n  Use it for forms.\r\nlicense: Proprietary. See LICENSE.txt\r\nallowed-tools: Read, Bash(git add:*) Write\r\nmetadata:\r\n  author: someone\r\n  version: \"1.0\"\r\ndisable-model-invocation: true\r\n---\r\nBody\r\n";
        let index = of(&[("x/pdf/SKILL.md", text), ("x/pdf/LICENSE.txt", ""), ("x/pdf/references/forms.md", "")]);
        assert_eq!(problem_texts(&index), [] as [&str; 0]);
        let skill = &index.skills[0];
        assert_eq!(skill.description, "Work with PDF files. Use it for forms.");
        assert_eq!(skill.license.as_deref(), Some("Proprietary. See LICENSE.txt"));
        assert_eq!(skill.allowed_tools.as_ref().unwrap(), &["Read", "Bash(git add:*)", "Write"]);
        assert_eq!(skill.metadata["author"], "someone");
        assert!(!skill.is_for_models);
        assert_eq!(skill.files, ["x/pdf/LICENSE.txt", "x/pdf/references/forms.md"]);
    }

    #[test]
    fn a_colon_in_a_description_is_accepted() {
        let index = of(&[("s/a/SKILL.md", "---\nname: a\ndescription: Use when: the user asks\n  for more\n---\nB")]);
        assert_eq!(index.skills[0].description, "Use when: the user asks for more");
        assert_eq!(index.skills[0].body, "B");
        assert_eq!(index.problems.len(), 1);
    }

    #[test]
    fn invalid_skills_are_reported_and_the_others_work() {
        let index = of(&[
            ("s/a/SKILL.md", "---\nname: a\ndescription: First\n---\nB"),
            ("s/b/SKILL.md", "---\nname: a\ndescription: Second\n---\nB"),
            ("s/c/SKILL.md", "---\nname: c\n---\nB"),
            ("s/d/SKILL.md", "---\ndescription: D\n---\nB"),
            ("s/e/SKILL.md", "---\nname: E e\ndescription: E\n---\nB"),
        ]);
        let names: Vec<&str> = index.skills.iter().map(|skill| &*skill.name).collect();
        assert_eq!(names, ["a", "d", "e"]);
        for what in [
            "is in a folder named",
            "there is already a skill \"a\"",
            "has no description",
            "the skill has no name",
            "is not a valid skill name",
        ] {
            assert!(
                problem_texts(&index).iter().any(|problem| problem.contains(what)),
                "{what}: {:?}",
                problem_texts(&index)
            );
        }
    }

    #[test]
    fn paths_are_relative_to_a_folder() {
        for (path, folder, seen) in [
            ("agents/ada/skills/cook", "agents/ada", "skills/cook"),
            ("skills/cook/SKILL.md", "agents/ada", "../../skills/cook/SKILL.md"),
            ("agents/adam/skills/cook", "agents/ada", "../adam/skills/cook"),
            ("agents/ada", "agents/ada", "."),
        ] {
            assert_eq!(seen_from(path, folder), seen, "{path} from {folder}");
        }
        let index = of(&[("skills/a/SKILL.md", "---\nname: a\ndescription: A\n---\nB"), ("skills/a/run.sh", "")]);
        assert_eq!(index.clone().seen_from(""), index);
        let seen = index.seen_from("agents/ada");
        let skill = seen.find("a").unwrap();
        assert_eq!((&*skill.path, &*skill.base_dir), ("../../skills/a/SKILL.md", "../../skills/a"));
        assert_eq!(skill.files, ["../../skills/a/run.sh"]);
    }
}
