//! What modules log outside of calls of their tools, as records.

use serde::{Deserialize, Serialize};

use crate::log::narration::NarrationContext;
use crate::log::{EventData, EventKind, Word};

/// A module logged something, or failed where nobody waited for it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModuleLogged {
    /// Its file, by its path in the agent's folder.
    pub module: String,
    /// `debug`, `info`, `warning` or `error`.
    pub level: String,
    /// What it says.
    pub text: String,
}

impl EventData for ModuleLogged {
    const KIND: EventKind = EventKind::Other(Word::Borrowed("module_log"));

    fn narrate(&self, telling: &NarrationContext<'_>) -> String {
        let Self { module, level, text } = self;
        let did = if level == "error" { "reported an error" } else { "logged" };
        format!("{module} of {} {did}: {text}", telling.agent())
    }
}
