//! Interface texts of the command palette.

pub(crate) const PALETTE: &str = "Palette";
pub(crate) const SEARCH_HINT: &str = "Search commands, files and scenes";
pub(crate) const NO_RESULTS: &str = "No results";

// Kinds of entries
pub(crate) const ELEMENT: &str = "Element";
pub(crate) const SCENE: &str = "Scene";
pub(crate) const WORKFLOW: &str = "Workflow";
pub(crate) const AGENT: &str = "Agent";
pub(crate) const FILE: &str = "File";

// Entries
pub(crate) fn new_element(kind: &str) -> String {
    format!("New {kind}")
}

pub(crate) fn open_scene(scene: &str) -> String {
    format!("Open scene {scene}")
}

pub(crate) fn run_workflow(name: &str) -> String {
    format!("Run workflow {name}")
}

pub(crate) fn open_element(label: &str) -> String {
    format!("Open {label}")
}

pub(crate) fn own_command(agent: &str, command: &str) -> String {
    format!("{agent}: /{command}")
}

pub(crate) fn new_agent(profile: &str) -> String {
    format!("New agent {profile}")
}

pub(crate) fn open_file(file: &str) -> String {
    format!("Open file {file}")
}

pub(crate) fn entry_name(words: &str) -> String {
    format!("Do: {words}")
}

pub(crate) fn does_not_apply(command: &str, why: &str) -> String {
    format!("{command}: {why}")
}
