//! Log events of lines that modules log outside of calls of their tools.

use serde::{Deserialize, Serialize};

use crate::log::narration::NarrationContext;
use crate::log::{EventData, EventKind, Word};

/// A line that a module logged, or an error that no call was waiting for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ModuleLogged {
    /// The path of the module's file in the agent's folder.
    pub module: String,
    /// The level: `debug`, `info`, `warning` or `error`.
    pub level: String,
    /// The text of the line.
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
