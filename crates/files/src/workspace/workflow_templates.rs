//! Workflow templates: embedded in the binary, and written into a workspace together with the starter-kit agents that
//! they use, if the workspace lacks them.

use std::path::Path;

use include_dir::{Dir, include_dir};

use super::starter::{self, InitError, Initialised};
use super::yaml;
use crate::base::paths::file_name;

static WORKFLOWS: Dir = include_dir!("$CARGO_MANIFEST_DIR/../../workflows");

/// A workflow template.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkflowTemplate {
    /// The name on the command line, such as `review-loop`.
    pub name: &'static str,
    /// The text of the workflow.
    pub text: &'static str,
}

impl WorkflowTemplate {
    /// Returns its path in a workspace.
    pub fn path(&self) -> String {
        format!("workflows/{}.md", self.name)
    }

    /// Returns a description in one line.
    pub fn description(&self) -> String {
        self.front().and_then(|front| Some(front.get("description")?.as_str()?.to_owned())).unwrap_or_default()
    }

    /// Returns the ids of the agents that the workflow uses.
    pub fn agents(&self) -> Vec<String> {
        let front = self.front().unwrap_or_default();
        let steps = front.get("steps").and_then(|steps| steps.as_array()).cloned().unwrap_or_default();
        let agents = steps.iter().filter_map(|step| Some(step.get("agent")?.as_str()?.to_owned()));
        let mut agents: Vec<String> = agents.collect();
        agents.sort_unstable();
        agents.dedup();
        agents
    }

    /// Returns the text for a file at this path. A second file gets another workflow name.
    pub fn text_at(&self, path: &str) -> String {
        let stem = file_name(path).trim_end_matches(".md");
        let number = stem.strip_prefix(self.name).and_then(|rest| rest.strip_prefix('-'));
        match (number, self.text.split_once("\nname: ").and_then(|(front, rest)| Some((front, rest.split_once('\n')?))))
        {
            (Some(number), Some((front, (name, rest)))) => format!("{front}\nname: {name} {number}\n{rest}"),
            _ => self.text.to_owned(),
        }
    }

    fn front(&self) -> Option<serde_json::Value> {
        let front = self.text.strip_prefix("---\n")?.split_once("\n---\n")?.0;
        yaml::parse(front).ok()
    }
}

/// Returns all templates, sorted by name.
pub fn all() -> Vec<WorkflowTemplate> {
    let files = WORKFLOWS.files().filter_map(|file| {
        let name = file.path().file_name()?.to_str()?.strip_suffix(".md")?;
        Some(WorkflowTemplate { name, text: file.contents_utf8()? })
    });
    let mut all: Vec<WorkflowTemplate> = files.collect();
    all.sort_by_key(|template| template.name);
    all
}

/// Returns the template with this name.
pub fn find(name: &str) -> Option<WorkflowTemplate> {
    all().into_iter().find(|template| template.name == name)
}

/// Returns the paths and texts of the starter-kit agents that a template uses.
pub fn agents(template: &WorkflowTemplate) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    files(template).into_iter().skip(1).map(|(path, bytes)| (path, text(bytes))).collect()
}

/// Returns the files of a template: itself, and the starter-kit agents that it uses.
pub fn files(template: &WorkflowTemplate) -> Vec<(String, &'static [u8])> {
    let agents: Vec<String> = template.agents().iter().map(|agent| format!("agents/{agent}.md")).collect();
    let kit = starter::files().into_iter().filter(|(path, _)| agents.contains(path));
    std::iter::once((template.path(), template.text.as_bytes())).chain(kit).collect()
}

/// Writes a template into a workspace. Existing files are left alone.
pub fn write(folder: &Path, template: &WorkflowTemplate) -> Result<Initialised, InitError> {
    starter::write_all(folder, files(template))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_template_is_written_with_the_agents_that_it_uses() {
        let names: Vec<&str> = all().iter().map(|template| template.name).collect();
        assert_eq!(names, ["chain", "debate", "fan-out", "review-loop"]);
        for template in all() {
            let folder = tempfile::tempdir().expect("there is room");
            let done = write(folder.path(), &template).expect("it can be written");
            assert_eq!(done.written.len(), 1 + template.agents().len(), "{}: {:?}", template.name, done.written);
            assert!(!template.description().is_empty());
            assert_eq!(template.text_at(&template.path()), template.text);
            let second = template.text_at(&format!("workflows/{}-2.md", template.name));
            assert_eq!(second.lines().filter(|line| line.starts_with("name: ") && line.ends_with(" 2")).count(), 1);
            assert_eq!(write(folder.path(), &template).expect("it can be read").written, [] as [&str; 0]);
        }
        assert!(find("chain").is_some() && find("nothing").is_none());
    }
}
