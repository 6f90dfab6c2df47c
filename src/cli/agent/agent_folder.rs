//! Finds the agent at a path, its workspace, and the folders of its chats.

use std::path::{Path, PathBuf};

use super::super::CliError;
use crate::agent::agent_file::{is_document, stem};
use crate::agent::formats::format_of;
use crate::workspace::layout::{agents_at_top, is_agent_at_top, is_workspace, name_agent_at_top, scene_of_named_agent};

/// The file names that make a folder an agent, in order of precedence.
const DOCUMENTS: [&str; 2] = ["agent.mdx", "agent.md"];

/// An agent's file and the workspace that it belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct AgentPlace {
    /// The workspace's folder; the agent's own folder if it belongs to no workspace.
    pub(super) workspace: PathBuf,
    /// The agent's file, relative to the workspace.
    pub(super) file: String,
}

impl AgentPlace {
    /// Finds the agent at a path: an agent file, or a folder with one.
    pub(super) fn of(path: &Path) -> Result<Self, CliError> {
        let shown = path.display();
        let full = path.canonicalize().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => CliError::usage(format!("no such file or folder: {shown}"))
                .hint("name an agent file, or a folder with an agent.mdx"),
            _ => CliError::usage(format!("{shown}: {error}")),
        })?;
        let document = if full.is_dir() { document_in(&full, path)? } else { full };
        // The nearest workspace in which the file is an agent.
        let folders = document.ancestors().skip(1).filter(|folder| is_workspace(folder));
        let found = folders.filter_map(|folder| Some((folder, path_in(folder, &document)?)));
        if let Some((folder, file)) = found.into_iter().find(|(_, file)| format_of(file).is_some()) {
            return Ok(Self { workspace: folder.to_owned(), file });
        }
        let alone = document.parent().and_then(|folder| Some((folder, path_in(folder, &document)?)));
        // In a workspace, only files in agent folders are agents; outside of any, the file that a person names is one.
        let is_outside = !document.ancestors().skip(1).any(is_workspace);
        let is_one =
            |file: &str| is_agent_at_top(file) || (is_outside && !is_document(stem(file)) && name_agent_at_top(file));
        match alone.filter(|(_, file)| is_one(file)) {
            Some((folder, file)) => Ok(Self { workspace: folder.to_owned(), file }),
            None => Err(CliError::usage(format!("{shown} is not an agent file of any workspace"))
                .hint("move it into agents/ of a workspace, or name a Markdown file outside of any, such as ada.md or ada.mdx")),
        }
    }

    /// Whether the file is an agent only because a person named it.
    fn is_named(&self) -> bool {
        !self.file.contains('/') && !DOCUMENTS.contains(&&*self.file) && !self.file.contains(".agent.")
    }

    /// The scene of the agent's own room, if it does not live in a scene of the workspace.
    pub(super) fn scene(&self) -> Option<String> {
        self.is_named().then(|| scene_of_named_agent(&self.file))
    }

    /// The agent's own folder, relative to the workspace (empty if it is the workspace itself). `None` if it has none:
    /// files that a person merely named may have other agents next to them.
    fn own_folder(&self) -> Option<&str> {
        match self.file.rsplit_once('/') {
            None => (!self.is_named()).then_some(""),
            Some((folder, name)) => (folder != "agents" && DOCUMENTS.contains(&name)).then_some(folder),
        }
    }

    /// The folders for the sessions, the last state and the daily logs of the agent with this id.
    pub(super) fn data_folders(&self, agent: &str) -> DataFolders {
        let folder = |name: &str| match self.own_folder() {
            Some("") => self.workspace.join(name),
            Some(own) => self.workspace.join(own).join(name),
            None => self.workspace.join(name).join(agent),
        };
        DataFolders { sessions: folder("sessions"), state: folder("state"), logs: folder("logs") }
    }
}

/// The folders with an agent's chat data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct DataFolders {
    pub(super) sessions: PathBuf,
    pub(super) state: PathBuf,
    pub(super) logs: PathBuf,
}

/// Finds the agent file in a folder.
fn document_in(folder: &Path, named: &Path) -> Result<PathBuf, CliError> {
    if let Some(name) = DOCUMENTS.into_iter().find(|name| folder.join(name).is_file()) {
        return Ok(folder.join(name));
    }
    let mut others: Vec<String> = agents_at_top(folder).collect();
    others.sort_unstable();
    match others.as_slice() {
        [one] => Ok(folder.join(one)),
        [] => Err(CliError::usage(format!("{} is not an agent: it has no agent.mdx", named.display()))
            .hint("create one, or name an agent file of a workspace, such as agents/ada.md")),
        several => Err(CliError::usage(format!("{} contains several agents", named.display()))
            .hint(format!("name one of their files: {}", several.join(", ")))),
    }
}

/// The path of `file` relative to `folder`, with `/` as the separator.
fn path_in(folder: &Path, file: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = file.strip_prefix(folder).ok()?.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::layout::agent_of_scene;

    fn write(folder: &Path, path: &str) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("it should have a parent folder")).expect("folders can be made");
        std::fs::write(path, "").expect("files can be written");
    }

    fn place(path: &Path) -> (String, String) {
        let place = AgentPlace::of(path).expect("it is an agent");
        let workspace = place.workspace.file_name().expect("it has a name").to_string_lossy().into_owned();
        (workspace, place.file)
    }

    #[test]
    fn an_agent_belongs_to_its_workspace_or_to_its_own_folder() {
        let folder = tempfile::tempdir().expect("there is room");
        for path in ["room/settings.yaml", "room/agents/ada.md", "room/agents/bo/agent.mdx", "room/notes/cy/agent.md"] {
            write(folder.path(), path);
        }
        let of = |path: &str| place(&folder.path().join(path));
        assert_eq!(of("room/agents/ada.md"), ("room".into(), "agents/ada.md".into()));
        assert_eq!(of("room/agents/bo"), ("room".into(), "agents/bo/agent.mdx".into()));
        assert_eq!(of("room/notes/cy"), ("cy".into(), "agent.md".into()));
        write(folder.path(), "room/notes/odd.md");
        write(folder.path(), "two/a.agent.yaml");
        assert_eq!(of("two"), ("two".into(), "a.agent.yaml".into()));
        write(folder.path(), "two/b.agent.yaml");
        for wrong in ["two", "room", "nowhere", "room/notes/odd.md"] {
            assert!(AgentPlace::of(&folder.path().join(wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_named_markdown_file_outside_of_any_workspace_is_an_agent() {
        let folder = tempfile::tempdir().expect("there is room");
        // Unique names, because named agents are registered for the whole process.
        for path in ["notes/named-alone.md", "notes/named-alone.mdx", "notes/README.md", "notes/named-alone.txt"] {
            write(folder.path(), path);
        }
        for name in ["named-alone.md", "named-alone.mdx"] {
            let named = AgentPlace::of(&folder.path().join("notes").join(name)).expect("it is an agent");
            assert_eq!(
                (named.workspace.file_name().and_then(|name| name.to_str()), &*named.file),
                (Some("notes"), name)
            );
            assert_eq!(
                named.data_folders("named").sessions,
                named.workspace.join("sessions/named"),
                "others may lie beside it"
            );
            assert!(format_of(name).is_some());
            let scene = named.scene().expect("it has a room of its own");
            assert_eq!(agent_of_scene(&scene), Some(name));
        }
        for name in ["README.md", "named-alone.txt"] {
            assert!(AgentPlace::of(&folder.path().join("notes").join(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn data_is_stored_in_the_agents_own_folder_if_it_has_one() {
        let of = |file: &str| AgentPlace { workspace: PathBuf::from("w"), file: file.to_owned() };
        assert_eq!(of("agent.mdx").data_folders("ada").sessions, Path::new("w/sessions"));
        assert_eq!(of("agents/ada/agent.mdx").data_folders("ada").logs, Path::new("w/agents/ada/logs"));
        assert_eq!(of("agents/ada.md").data_folders("ada").state, Path::new("w/state/ada"));
    }
}
