//! Interface texts of the top bar.

use std::fmt::Display;

use crate::ui::widgets::text_format::count;

// The workspace
pub(crate) const WORKSPACE_MENU: &str = "Workspace menu";
pub(crate) const OPEN_ANOTHER_WORKSPACE: &str = "Open another workspace";
pub(crate) const PANES: &str = "Panes";

// The scene
pub(crate) const SCENE_MENU: &str = "Scene menu";
pub(crate) const NO_SCENE: &str = "No scene";
pub(crate) const SCENES_OF_THIS_WORKSPACE: &str = "Scenes of this workspace";

pub(crate) fn open_scene(scene: &str) -> String {
    format!("Open scene {scene}")
}

// Time
pub(crate) const PAUSE_THE_ROOM: &str = "Pause the room";
pub(crate) const RESUME_THE_ROOM: &str = "Resume the room";

pub(crate) fn speed_name(speed: &str) -> String {
    format!("Speed {speed}")
}

// Usage so far
pub(crate) const LIMIT_REACHED: &str = "Limit reached";

pub(crate) fn usage(
    why_quiet: Option<&str>,
    calls: &str,
    (waiting, under_way): (usize, usize),
    prices: impl Display,
) -> String {
    let why = why_quiet.map(|why| format!("{why}\n")).unwrap_or_default();
    let under_way = count(under_way, "call in progress", "calls in progress");
    format!(
        "{why}{calls} in this run\n{under_way}, {waiting} waiting\nCost by {prices}\n\
         Click for limits and providers"
    )
}

// The provider
pub(crate) const PROVIDER_MENU: &str = "Provider menu";
pub(crate) const PROVIDER_ABOUT: &str = "Answers for everyone unless an agent's file says otherwise";

pub(crate) fn for_everyone(provider: &str) -> String {
    format!("for everyone: {provider}")
}

// The buttons at the right
pub(crate) const CONVERSATIONS_ON: &str = "Conversations on";
pub(crate) const LIGHT_THEME: &str = "Light theme";
pub(crate) const DARK_THEME: &str = "Dark theme";
pub(crate) const KEYS: &str = "Keys";
pub(crate) const CONVERSATIONS: &str = "Conversations";
pub(crate) const SETTINGS: &str = "Settings";

pub(crate) fn notices(open: usize) -> String {
    if open == 0 { "Notices".to_owned() } else { format!("Notices: {open} open") }
}
