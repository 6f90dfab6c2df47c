//! The owner of a memory file, and the file's name: `ada.md`, or `shared.md` for shared memories.

use super::super::memory::Memory;
use crate::base::Id;
use crate::base::ids::USER;

/// The folder of memory files in a workspace.
pub const KNOWLEDGE_FOLDER: &str = "memory/knowledge";
/// The name of the file with shared memories.
pub const SHARED_FILE: &str = "shared.md";
const SHARED_STEM: &str = "shared";
const EXTENSION: &str = ".md";

/// The owner of a file of memories.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Owner {
    /// One agent, whose memories no other agent is ever shown.
    Agent(Id),
    /// All agents.
    Shared,
}

impl Owner {
    /// Returns the owner of the file that a memory belongs to.
    pub fn of(memory: &Memory) -> Self {
        if memory.shared { Self::Shared } else { Self::Agent(memory.agent.clone()) }
    }

    /// Returns the file name: the agent's id, in which characters that are not allowed in file names are written as `%`
    /// and bytes.
    pub fn file_name(&self) -> String {
        let Self::Agent(agent) = self else { return SHARED_FILE.to_owned() };
        let mut name = String::with_capacity(agent.len() + EXTENSION.len());
        // A name that equals the shared file on some file systems is escaped, too.
        let is_like_shared = agent.to_lowercase() == SHARED_STEM;
        for (at, character) in agent.char_indices() {
            let is_plain = character.is_alphanumeric() || "-_ ".contains(character) || (character == '.' && at > 0);
            if is_plain && !(is_like_shared && at == 0) {
                name.push(character);
            } else {
                let mut bytes = [0; 4];
                character.encode_utf8(&mut bytes).bytes().for_each(|byte| name.push_str(&format!("%{byte:02X}")));
            }
        }
        name + EXTENSION
    }

    /// Returns the owner of a file by its name; `None` if it has none.
    pub fn by_file_name(name: &str) -> Option<Self> {
        if name == SHARED_FILE {
            return Some(Self::Shared);
        }
        let stem = name.strip_suffix(EXTENSION).filter(|stem| !stem.is_empty() && !stem.starts_with('.'))?;
        let mut bytes = Vec::with_capacity(stem.len());
        let mut rest = stem.as_bytes();
        while let Some((first, after)) = rest.split_first() {
            let byte = (*first == b'%').then(|| after.get(..2)).flatten();
            let byte = byte.and_then(|digits| std::str::from_utf8(digits).ok());
            match byte.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                Some(byte) => {
                    bytes.push(byte);
                    rest = &after[2..];
                }
                None => {
                    bytes.push(*first);
                    rest = after;
                }
            }
        }
        String::from_utf8(bytes).ok().map(|agent| Self::Agent(agent.into()))
    }

    /// The owner of the file at a path of the workspace; `None` if it belongs to no one.
    pub fn by_place(path: &str) -> Option<Self> {
        let name = path.strip_prefix(KNOWLEDGE_FOLDER)?.strip_prefix('/')?;
        if name.contains('/') { None } else { Self::by_file_name(name) }
    }

    /// Returns the path in the workspace.
    pub fn place(&self) -> String {
        format!("{KNOWLEDGE_FOLDER}/{}", self.file_name())
    }

    /// Returns the defaults for a line that only has a text.
    pub(super) fn template(&self) -> Memory {
        let agent = match self {
            Self::Agent(agent) => agent.clone(),
            Self::Shared => USER.into(),
        };
        Memory { id: "".into(), shared: *self == Self::Shared, ..Memory::new(&agent, "", None) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_agent_has_the_shared_file_or_one_outside_of_the_folder() {
        for (agent, name) in [
            ("ada", "ada.md"),
            ("shared", "%73hared.md"),
            ("Shared", "%53hared.md"),
            ("../etc/passwd", "%2E.%2Fetc%2Fpasswd.md"),
            ("größe 1", "größe 1.md"),
            (".hidden", "%2Ehidden.md"),
        ] {
            assert_eq!(Owner::Agent(agent.into()).file_name(), name);
        }
        assert_eq!(Owner::by_file_name("notes.txt"), None);
        assert_eq!(Owner::by_file_name(".ada.md.workshop-writing"), None);
    }

    proptest! {
        #[test]
        fn an_owner_is_determined_by_the_file_name(agent in "\\PC{1,20}") {
            let owner = Owner::Agent(agent.as_str().into());
            prop_assert_eq!(Owner::by_file_name(&owner.file_name()), Some(owner));
        }
    }
}
