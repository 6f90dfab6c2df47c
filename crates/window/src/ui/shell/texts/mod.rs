//! Interface texts of the shell, one file for each part of the window.

pub(super) mod coding_agent_dialog;
pub(super) mod dialogs;
pub(super) mod help;
pub(super) mod notices;
pub(super) mod palette;
pub(super) mod pane_area;
pub(super) mod provider;
pub(super) mod run_bar;
pub(super) mod settings;
pub(super) mod top_bar;
pub(super) mod trust_dialog;
