//! Which agent a path means, in which workspace it lives, and where its chats are stored.

use std::path::{Path, PathBuf};

use super::super::Complaint;
use crate::agent::agent_file::{is_document, stem};
use crate::agent::formats::format_of;
use crate::workspace::layout::{agents_at_top, is_agent_at_top, is_workspace, name_agent_at_top, scene_of_named_agent};

/// Documents that make a folder an agent, the one that counts first.
const DOCUMENTS: [&str; 2] = ["agent.mdx", "agent.md"];

/// An agent's file and the workspace that it belongs to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct AgentPlace {
    /// The workspace's folder; the agent's own where it belongs to none.
    pub(super) workspace: PathBuf,
    /// The agent's file in it.
    pub(super) file: String,
}

impl AgentPlace {
    /// The agent that a path means: its file, or the folder that it is.
    pub(super) fn of(path: &Path) -> Result<Self, Complaint> {
        let shown = path.display();
        let full = path.canonicalize().map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Complaint::usage(format!("no such file or folder: {shown}"))
                .hint("name an agent file, or a folder with an agent.mdx"),
            _ => Complaint::usage(format!("{shown}: {error}")),
        })?;
        let document = if full.is_dir() { document_in(&full, path)? } else { full };
        // The nearest workspace of which it is an agent.
        let folders = document.ancestors().skip(1).filter(|folder| is_workspace(folder));
        let found = folders.filter_map(|folder| Some((folder, path_in(folder, &document)?)));
        if let Some((folder, file)) = found.into_iter().find(|(_, file)| format_of(file).is_some()) {
            return Ok(Self { workspace: folder.to_owned(), file });
        }
        let alone = document.parent().and_then(|folder| Some((folder, path_in(folder, &document)?)));
        // A file in a workspace is an agent where agents are; anywhere else it is one because a person says so.
        let is_outside = !document.ancestors().skip(1).any(is_workspace);
        let is_one =
            |file: &str| is_agent_at_top(file) || (is_outside && !is_document(stem(file)) && name_agent_at_top(file));
        match alone.filter(|(_, file)| is_one(file)) {
            Some((folder, file)) => Ok(Self { workspace: folder.to_owned(), file }),
            None => Err(Complaint::usage(format!("{shown} is not an agent file of any workspace"))
                .hint("move it into agents/ of a workspace, or name a Markdown file outside of any, such as ada.md or ada.mdx")),
        }
    }

    /// Whether only a person's word makes the file an agent.
    fn is_named(&self) -> bool {
        !self.file.contains('/') && !DOCUMENTS.contains(&&*self.file) && !self.file.contains(".agent.")
    }

    /// The scene that its room has, where that is not the workspace's.
    pub(super) fn scene(&self) -> Option<String> {
        self.is_named().then(|| scene_of_named_agent(&self.file))
    }

    /// The agent's own folder in the workspace, if it has one: empty if that is the workspace itself. A file that only a
    /// person's word makes an agent has none, for others may lie beside it.
    fn own_folder(&self) -> Option<&str> {
        match self.file.rsplit_once('/') {
            None => (!self.is_named()).then_some(""),
            Some((folder, name)) => (folder != "agents" && DOCUMENTS.contains(&name)).then_some(folder),
        }
    }

    /// The folders where an agent of this id keeps its sessions, its last state, and its daily logs.
    pub(super) fn kept(&self, agent: &str) -> Kept {
        let folder = |name: &str| match self.own_folder() {
            Some("") => self.workspace.join(name),
            Some(own) => self.workspace.join(own).join(name),
            None => self.workspace.join(name).join(agent),
        };
        Kept { sessions: folder("sessions"), state: folder("state"), logs: folder("logs") }
    }
}

/// The folders with an agent's stored data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Kept {
    pub(super) sessions: PathBuf,
    pub(super) state: PathBuf,
    pub(super) logs: PathBuf,
}

/// The document that makes a folder an agent.
fn document_in(folder: &Path, named: &Path) -> Result<PathBuf, Complaint> {
    if let Some(name) = DOCUMENTS.into_iter().find(|name| folder.join(name).is_file()) {
        return Ok(folder.join(name));
    }
    let mut others: Vec<String> = agents_at_top(folder).collect();
    others.sort_unstable();
    match others.as_slice() {
        [one] => Ok(folder.join(one)),
        [] => Err(Complaint::usage(format!("{} is not an agent: it has no agent.mdx", named.display()))
            .hint("create one, or name an agent file of a workspace, such as agents/ada.md")),
        several => Err(Complaint::usage(format!("{} contains several agents", named.display()))
            .hint(format!("name one of their files: {}", several.join(", ")))),
    }
}

/// A path as the workspace has it, with `/` between its parts.
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
    fn an_agent_belongs_to_the_workspace_that_has_it_and_else_to_its_own_folder() {
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
    fn a_file_outside_of_any_workspace_is_an_agent_because_a_person_names_it() {
        let folder = tempfile::tempdir().expect("there is room");
        // Names of their own, because they count for the whole process.
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
                named.kept("named").sessions,
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
    fn what_is_kept_lies_in_the_folder_of_the_agent_if_it_has_one() {
        let of = |file: &str| AgentPlace { workspace: PathBuf::from("w"), file: file.to_owned() };
        assert_eq!(of("agent.mdx").kept("ada").sessions, Path::new("w/sessions"));
        assert_eq!(of("agents/ada/agent.mdx").kept("ada").logs, Path::new("w/agents/ada/logs"));
        assert_eq!(of("agents/ada.md").kept("ada").state, Path::new("w/state/ada"));
    }
}
