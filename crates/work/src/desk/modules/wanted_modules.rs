//! Which modules should be running: those of the agents in the room whose code the person trusts. It follows from the
//! world alone, so that work waits for them also before they have reported, and in a replay.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;

use crate::agent::agent_file::folder_of_agent;
use crate::agent::{Agent, Profiles, Roster};
use crate::base::Id;
use crate::base::hash::content_hash;
use crate::base::visible_text::sha256_of;
use crate::modules::{is_code, may_be_imported};
use crate::workspace::trust::Widening;
use crate::workspace::{KnownFiles, WorkspaceTrust};

/// The folder with the modules.
pub(super) const FOLDER: &str = "modules/";

/// The module files of the agent in this folder, with their paths relative to the folder.
pub fn module_files<'a>(known: &'a KnownFiles, folder: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    code_files(known, folder).filter(|(path, _)| path.starts_with(FOLDER))
}

/// The known code files of the agent in this folder, with their paths relative to the folder.
fn code_files<'a>(known: &'a KnownFiles, folder: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    // If the folder is the workspace itself, it contains many files that do not belong to the agent.
    let (start, below) = match folder {
        "" => (FOLDER.to_owned(), String::new()),
        folder => (format!("{folder}/"), format!("{folder}/")),
    };
    let files = known.all().range(start.clone()..).map(|(path, text)| (path.as_str(), text.as_str()));
    let files = files.take_while(move |(path, _)| path.starts_with(&*start));
    let files = files.filter_map(move |(path, text)| Some((path.strip_prefix(&*below)?, text)));
    files.filter(|(path, _)| path.ends_with(".ts"))
}

/// The widening of a file with code that modules can run or import: exactly this text. `None` for other files.
pub fn code_widening(path: &str, text: &str) -> Option<Widening> {
    if !is_code(path) {
        return None;
    }
    let lines = text.lines().count();
    let value = format!("{lines} {} of code, SHA-256 {}", if lines == 1 { "line" } else { "lines" }, sha256_of(text));
    Some(Widening::starting(path, value, "is code of this agent, which its modules run while it is in the room"))
}

/// The workspace path of a file in an agent's folder, which is empty if it is the workspace itself.
pub(in crate::desk) fn path_of(folder: &str, file: &str) -> String {
    if folder.is_empty() { file.to_owned() } else { format!("{folder}/{file}") }
}

/// Whether the person trusts this text of a file with code.
pub(super) fn is_code_trusted(trust: &WorkspaceTrust, path: &str, text: &str) -> bool {
    trust.is_everything() || code_widening(path, text).is_none_or(|code| trust.allows(&code))
}

/// The parts of the room that decide which modules should be running.
#[derive(SystemParam)]
pub(in crate::desk) struct ModuleSources<'w, 's> {
    pub(super) known: Option<Res<'w, KnownFiles>>,
    pub(super) profiles: Res<'w, Profiles>,
    pub(super) roster: Res<'w, Roster>,
    agents: Query<'w, 's, &'static Agent>,
    pub(super) trust: Option<Res<'w, WorkspaceTrust>>,
}

/// The modules of an agent that should be running.
pub(super) struct Wanted {
    /// The folder of the agent.
    pub(super) home: String,
    /// The module files with their paths relative to the folder.
    pub(super) files: Vec<(String, String)>,
    /// The hash of all known code in the folder, because modules may import it.
    pub(super) hash: u64,
}

impl ModuleSources<'_, '_> {
    /// The modules of the agents in the room, by profile.
    pub(super) fn wanted(&self) -> BTreeMap<Id, Wanted> {
        let Some(known) = &self.known else { return BTreeMap::new() };
        let here = self.roster.agents(&self.agents);
        let profiles: BTreeSet<&Id> = here.map(|agent| &agent.profile).collect();
        let of = |profile: &Id| {
            let folder = self.folder_with_modules(profile)?;
            let files = module_files(known, folder).map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
            let code = code_files(known, folder).flat_map(|(path, text)| [path, "\0", text, "\0"]);
            let hash = content_hash(code.collect::<String>().as_bytes());
            Some((profile.clone(), Wanted { home: folder.to_owned(), files, hash }))
        };
        profiles.into_iter().filter_map(of).collect()
    }

    /// Whether the file that defines this profile is known, as it is soon after a room was opened.
    pub(super) fn has_profile(&self, profile: &Id) -> bool {
        self.profiles.path(profile).is_some()
    }

    /// The folder of the agents with this profile, if it has modules that may run.
    pub(super) fn folder_with_modules(&self, profile: &Id) -> Option<&str> {
        // The code of a workspace that is not trusted does not run by itself.
        if self.trust.as_ref().is_some_and(|trust| trust.is_restricted()) {
            return None;
        }
        let known = self.known.as_ref()?;
        let folder = folder_of_agent(self.profiles.path(profile)?)?;
        // All of the code is trusted, or none of it runs: modules import each other.
        let is_trusted = |(file, text): (&str, &str)| match &self.trust {
            Some(trust) => {
                let is_loaded = file.starts_with(FOLDER) || may_be_imported(file);
                !is_loaded || is_code_trusted(trust, &path_of(folder, file), text)
            }
            None => true,
        };
        let has_modules = module_files(known, folder).next().is_some();
        (has_modules && code_files(known, folder).all(is_trusted)).then_some(folder)
    }
}
