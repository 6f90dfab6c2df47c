//! The initial texts of new files.

use super::texts;
use crate::agent::agent_file;
use crate::base::unique_names;
use crate::workspace::starter;

/// A kind of new file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Template {
    /// An agent.
    #[default]
    Agent,
    /// A shared note.
    Note,
    /// The text of a message board or a rulebook.
    Board,
    /// A list of tasks.
    Tasks,
    /// A workflow.
    Workflow,
    /// A scene.
    Scene,
    /// An empty file.
    Empty,
}

impl Template {
    /// All kinds in display order.
    pub const ALL: [Self; 7] =
        [Self::Agent, Self::Note, Self::Board, Self::Tasks, Self::Workflow, Self::Scene, Self::Empty];

    /// Returns the display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => texts::AGENT,
            Self::Note => texts::NOTE,
            Self::Board => texts::BOARD_TEXT,
            Self::Tasks => texts::TASK_LIST,
            Self::Workflow => texts::WORKFLOW,
            Self::Scene => texts::SCENE,
            Self::Empty => texts::EMPTY,
        }
    }

    /// Returns a description.
    pub fn description(self) -> &'static str {
        match self {
            Self::Agent => texts::ABOUT_AGENT,
            Self::Note => texts::ABOUT_NOTE,
            Self::Board => texts::ABOUT_BOARD_TEXT,
            Self::Tasks => texts::ABOUT_TASK_LIST,
            Self::Workflow => texts::ABOUT_WORKFLOW,
            Self::Scene => texts::ABOUT_SCENE,
            Self::Empty => texts::ABOUT_EMPTY,
        }
    }

    /// Returns the top-level folder for such files; `None` if any folder will do.
    fn default_folder(self) -> Option<&'static str> {
        match self {
            Self::Agent => Some("agents"),
            Self::Board => Some("boards"),
            Self::Tasks => Some("tasks"),
            Self::Workflow => Some("workflows"),
            Self::Scene => Some("scenes"),
            Self::Note | Self::Empty => None,
        }
    }

    /// Returns the default kind for a new file in `folder`.
    pub fn of_folder(folder: &str) -> Self {
        let first = folder.split('/').next().unwrap_or(folder);
        let default_folder = Self::ALL.into_iter().find(|template| template.default_folder() == Some(first));
        default_folder.unwrap_or(if first.is_empty() { Self::Agent } else { Self::Note })
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Tasks => ".task.md",
            Self::Scene => ".yaml",
            _ => ".md",
        }
    }

    /// Returns an unused path for a file of this kind, in `folder` if such files are allowed there.
    pub fn free_path(self, folder: &str, stem: &str, is_taken: impl Fn(&str) -> bool) -> String {
        let folder = match self.default_folder() {
            Some(default_folder) if folder.split('/').next() != Some(default_folder) => default_folder,
            // Files in subfolders of `agents/` do not define agents.
            Some(default_folder) if self == Self::Agent => default_folder,
            None if folder.is_empty() && self == Self::Note => "memory",
            _ => folder,
        };
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        free_path(&format!("{prefix}{stem}{}", self.extension()), is_taken)
    }

    /// Returns the default file name without extension.
    pub fn default_stem(self) -> &'static str {
        match self {
            Self::Agent => "new-agent",
            Self::Note => "note",
            Self::Board => "board",
            Self::Tasks => "tasks",
            Self::Workflow => "new-workflow",
            Self::Scene => "new-scene",
            Self::Empty => "new-file",
        }
    }

    /// Returns the initial text of a new file at `path`.
    pub fn text(self, path: &str) -> String {
        let stem = agent_file::stem(path);
        let title = agent_file::title(stem);
        let title = if title.is_empty() { texts::UNTITLED.to_owned() } else { title };
        match self {
            Self::Agent => texts::agent_file(&quoted(&agent_file::id_of_path(path)), &quoted(&title)),
            Self::Note | Self::Board => texts::titled_file(&title),
            Self::Tasks => texts::task_file(&title),
            Self::Workflow => texts::workflow_file(&quoted(&title)),
            Self::Scene => starter::empty_scene(&title),
            Self::Empty => String::new(),
        }
    }
}

/// Quotes a text as JSON, which is valid YAML: names may contain characters with a meaning in YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns `path`, or the first unused path with a number appended: `plan-2.md`.
pub fn free_path(path: &str, is_taken: impl Fn(&str) -> bool) -> String {
    unique_names::first_free(unique_names::candidates(path), is_taken)
}

/// Replaces the id in an agent file's front matter: two files with the same id would hide each other.
pub fn with_id(file: &str, path: &str) -> String {
    let mut lines: Vec<&str> = file.split_inclusive('\n').collect();
    let is_rule = |line: &str| line.trim_end() == "---";
    if !lines.first().is_some_and(|line| is_rule(line)) {
        return file.to_owned();
    }
    let Some(end) = lines.iter().skip(1).position(|line| is_rule(line)) else { return file.to_owned() };
    let Some(at) = lines.iter().take(end + 1).position(|line| line.starts_with("id:")) else { return file.to_owned() };
    let line = format!("id: {}\n", quoted(&agent_file::id_of_path(path)));
    lines[at] = &line;
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{scene_file, vfs::WorkspacePath};

    #[test]
    fn a_new_agent_file_has_no_problems() {
        for path in ["agents/data-analyst.md", "agents/o'neil: \"x\".md", "agents/überprüfer.md", "agents/***.md"] {
            let text = Template::Agent.text(path);
            let format = crate::agent::formats::format_of("agents/data-analyst.md").expect("it is an agent file");
            let file = (format.read)("agents/data-analyst.md", &text);
            assert!(file.problems.is_empty() && !file.malformed, "{path}: {:?}", file.problems);
            assert_eq!(file.profile.id.as_ref(), agent_file::id_of_path(path));
        }
        assert!(Template::Agent.text("agents/data-analyst.md").contains("name: \"Data Analyst\""));
    }

    #[test]
    fn a_new_scene_can_be_opened() {
        let (scene, problems) = scene_file::parse("scenes/a.yaml", &Template::Scene.text("scenes/night: shift.yaml"));
        assert!(scene.is_some() && problems.is_empty(), "{problems:?}");
    }

    #[test]
    fn new_files_are_created_in_the_right_folder() {
        for (template, folder, path) in [
            (Template::Agent, "", "agents/x.md"),
            (Template::Agent, "artifacts/deep", "agents/x.md"),
            (Template::Agent, "agents/team", "agents/x.md"),
            (Template::Board, "boards/house", "boards/house/x.md"),
            (Template::Note, "", "memory/x.md"),
            (Template::Note, "artifacts/deep", "artifacts/deep/x.md"),
            (Template::Empty, "", "x.md"),
            (Template::Tasks, "agents", "tasks/x.task.md"),
            (Template::Scene, "scenes", "scenes/x.yaml"),
        ] {
            assert_eq!(template.free_path(folder, "x", |_| false), path);
        }
        for template in Template::ALL {
            let path = template.free_path("", template.default_stem(), |_| false);
            assert!(WorkspacePath::new(&path).is_ok(), "{path}");
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            assert!(template.default_folder().is_none() || Template::of_folder(folder) == template, "{path}");
        }
    }

    #[test]
    fn a_taken_path_gets_a_number_before_its_extension() {
        for (path, taken, free) in [
            ("a/plan.md", 1, "a/plan-2.md"),
            ("a/plan.md", 3, "a/plan-4.md"),
            ("tasks/week.task.md", 1, "tasks/week-2.task.md"),
            ("v1.2/notes", 1, "v1.2/notes-2"),
            (".gitignore", 1, ".gitignore-2"),
            ("ж.md", 1, "ж-2.md"),
        ] {
            let count = std::cell::Cell::new(0);
            let is_taken = |_: &str| {
                count.set(count.get() + 1);
                count.get() <= taken
            };
            assert_eq!(free_path(path, is_taken), free);
        }
    }

    #[test]
    fn a_copied_agent_gets_its_own_id() {
        let file = "---\nname: Ada\nid: ada\n---\nid: stays\n";
        assert_eq!(with_id(file, "agents/ada-2.md"), "---\nname: Ada\nid: \"ada-2\"\n---\nid: stays\n");
        for same in ["", "id: ada\n", "---\nid: ada\n", "---\nname: Ada\n---\nid: stays\n"] {
            assert_eq!(with_id(same, "agents/ada-2.md"), same);
        }
    }
}
