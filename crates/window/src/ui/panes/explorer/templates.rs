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
    /// A note that agents share.
    Note,
    /// What a message board or a rulebook holds.
    Board,
    /// A list of tasks.
    Tasks,
    /// Steps for agents.
    Workflow,
    /// A room.
    Scene,
    /// Nothing at all.
    Empty,
}

impl Template {
    /// Every kind, in the order in which it is offered.
    pub const ALL: [Self; 7] =
        [Self::Agent, Self::Note, Self::Board, Self::Tasks, Self::Workflow, Self::Scene, Self::Empty];

    /// What it is called.
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

    /// What it is for.
    pub fn about(self) -> &'static str {
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

    /// The folder that such files belong into; absent where any will do.
    fn home(self) -> Option<&'static str> {
        match self {
            Self::Agent => Some("agents"),
            Self::Board => Some("boards"),
            Self::Tasks => Some("tasks"),
            Self::Workflow => Some("workflows"),
            Self::Scene => Some("scenes"),
            Self::Note | Self::Empty => None,
        }
    }

    /// What fits a folder that somebody wants a new file in.
    pub fn of_folder(folder: &str) -> Self {
        let first = folder.split('/').next().unwrap_or(folder);
        let home = Self::ALL.into_iter().find(|template| template.home() == Some(first));
        home.unwrap_or(if first.is_empty() { Self::Agent } else { Self::Note })
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Tasks => ".task.md",
            Self::Scene => ".yaml",
            _ => ".md",
        }
    }

    /// A path for such a file that nothing has yet, in this folder where such files may lie there.
    pub fn free_path(self, folder: &str, stem: &str, is_taken: impl Fn(&str) -> bool) -> String {
        let folder = match self.home() {
            Some(home) if folder.split('/').next() != Some(home) => home,
            // Agents in folders within agents are no agents.
            Some(home) if self == Self::Agent => home,
            None if folder.is_empty() && self == Self::Note => "memory",
            _ => folder,
        };
        let lead = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        free_path(&format!("{lead}{stem}{}", self.ending()), is_taken)
    }

    /// What it is called before it has a name of its own.
    pub fn first_stem(self) -> &'static str {
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

    /// The text of a new file at this path.
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

/// Quoted as JSON is, which YAML reads as well: names may hold what means something in YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// This path, or the first like it with a number that nothing has yet: `plan-2.md`.
pub fn free_path(path: &str, is_taken: impl Fn(&str) -> bool) -> String {
    unique_names::first_free(unique_names::alike(path), is_taken)
}

/// The same agent under another id, where its file says which one it has: two files of one id hide each other.
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
    fn a_new_agent_is_a_sound_agent() {
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
    fn new_files_come_to_lie_where_they_belong() {
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
            let path = template.free_path("", template.first_stem(), |_| false);
            assert!(WorkspacePath::new(&path).is_ok(), "{path}");
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            assert!(template.home().is_none() || Template::of_folder(folder) == template, "{path}");
        }
    }

    #[test]
    fn a_second_one_gets_a_number_before_its_ending() {
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
    fn a_second_agent_has_an_id_of_its_own() {
        let file = "---\nname: Ada\nid: ada\n---\nid: stays\n";
        assert_eq!(with_id(file, "agents/ada-2.md"), "---\nname: Ada\nid: \"ada-2\"\n---\nid: stays\n");
        for same in ["", "id: ada\n", "---\nid: ada\n", "---\nname: Ada\n---\nid: stays\n"] {
            assert_eq!(with_id(same, "agents/ada-2.md"), same);
        }
    }
}
