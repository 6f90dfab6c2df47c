//! The context of a task file that is being edited: the agents that tasks can be assigned to, and the other task files
//! that they may depend on.

use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use crate::ui::context::ViewerContext;
use crate::ui::state::file_texts::TextRead;
use crate::workspace::task_files;
use crate::workspace::task_files::lint::{ENDING, Known};

/// With more task files than this, missing tasks are not reported.
const FILES_AT_MOST: usize = 50;

/// What is known in this frame.
pub(super) struct TasksBeside<'a> {
    agents: Vec<String>,
    /// The other task files; none while not all of them are read.
    others: Option<Vec<&'a TextRead>>,
}

impl<'a> TasksBeside<'a> {
    /// What there is beside this file.
    pub(super) fn of(path: &str, cx: &ViewerContext<'a>) -> Self {
        let profiles = cx.room.profiles.iter().map(|profile| profile.id.to_string());
        let agents = cx.room.agents.iter().map(|agent| agent.id.to_string()).chain(profiles);
        let is_other = |other: &&String| other.as_str() != path && other.ends_with(ENDING);
        let paths: Vec<&String> = cx.room.files.iter().filter(is_other).take(FILES_AT_MOST + 1).collect();
        let texts = &cx.ui.texts;
        // Each is asked for, whichever is missing.
        let read: Vec<Option<&TextRead>> = match paths.len() {
            0..=FILES_AT_MOST => paths.into_iter().map(|path| texts.text(path)?.as_ref().ok()?.as_ref()).collect(),
            _ => vec![None],
        };
        Self { agents: agents.collect(), others: read.into_iter().collect() }
    }

    /// Another number where something else is known.
    pub(super) fn mark(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let hashes = self.others.iter().map(|others| others.iter().map(|text| text.hash).collect::<Vec<u64>>());
        (&self.agents, hashes.collect::<Vec<_>>()).hash(&mut hasher);
        hasher.finish()
    }

    /// The same as it is asked of.
    pub(super) fn known(&self) -> Known {
        let ids = self.others.as_ref().map(|others| {
            let tasks = others.iter().flat_map(|text| task_files::parse(&*text.text).tasks);
            tasks.map(|task| task.id).collect::<BTreeSet<String>>()
        });
        Known::of(self.agents.iter().cloned(), ids)
    }
}
