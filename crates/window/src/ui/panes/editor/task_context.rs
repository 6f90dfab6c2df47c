//! The context of a task file in the editor: the agents that tasks can be assigned to, and the other task files that
//! they may depend on.

use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use crate::ui::context::ViewerContext;
use crate::ui::state::file_texts::TextRead;
use crate::workspace::task_files;
use crate::workspace::task_files::lint::{ENDING, LintContext};

/// With more task files than this, unknown task ids are not reported.
const MAX_FILES: usize = 50;

/// The context of a task file in this frame.
pub(super) struct TaskFileContext<'a> {
    agents: Vec<String>,
    /// The other task files, or `None` if they are not all loaded.
    others: Option<Vec<&'a TextRead>>,
}

impl<'a> TaskFileContext<'a> {
    /// Collects the context of the file at `path`.
    pub(super) fn of(path: &str, cx: &ViewerContext<'a>) -> Self {
        let profiles = cx.room.profiles.iter().map(|profile| profile.id.to_string());
        let agents = cx.room.agents.iter().map(|agent| agent.id.to_string()).chain(profiles);
        let is_other = |other: &&String| other.as_str() != path && other.ends_with(ENDING);
        let paths: Vec<&String> = cx.room.files.iter().filter(is_other).take(MAX_FILES + 1).collect();
        let texts = &cx.ui.texts;
        // Asking for each text also requests those that are not loaded.
        let read: Vec<Option<&TextRead>> = match paths.len() {
            0..=MAX_FILES => paths.into_iter().map(|path| texts.text(path)?.as_ref().ok()?.as_ref()).collect(),
            _ => vec![None],
        };
        Self { agents: agents.collect(), others: read.into_iter().collect() }
    }

    /// Returns a hash that changes whenever the context does.
    pub(super) fn revision(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let hashes = self.others.iter().map(|others| others.iter().map(|text| text.hash).collect::<Vec<u64>>());
        (&self.agents, hashes.collect::<Vec<_>>()).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the known agents and tasks, in the form that the linter takes.
    pub(super) fn known(&self) -> LintContext {
        let ids = self.others.as_ref().map(|others| {
            let tasks = others.iter().flat_map(|text| task_files::parse(&*text.text).tasks);
            tasks.map(|task| task.id).collect::<BTreeSet<String>>()
        });
        LintContext::of(self.agents.iter().cloned(), ids)
    }
}
