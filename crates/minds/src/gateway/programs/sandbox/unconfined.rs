//! Which programs a person wants to run without a sandbox: a small file in the config folder, never in a workspace.
//!
//! ```yaml
//! /home/me/my-workshop: [mcp]        # its MCP servers
//! /home/me/other: [mcp, acp]         # and its coding agents
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use crate::base::Problem;
use crate::gateway::keys::Environment;
use crate::gateway::trust::consent::name_of;
use crate::gateway::trust::personal_files::read_small;
use crate::text::yaml;

/// The name of the file in the config folder.
pub const UNCONFINED_FILE: &str = "unconfined.yaml";

/// The programs that usually run in a sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SandboxedPrograms {
    /// MCP servers.
    McpServers,
    /// Coding agents.
    CodingAgents,
}

impl SandboxedPrograms {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::McpServers, Self::CodingAgents];

    /// The word in the file, and the section of the settings.
    fn word(self) -> &'static str {
        match self {
            Self::McpServers => "mcp",
            Self::CodingAgents => "acp",
        }
    }

    /// The programs, for a person.
    fn name(self) -> &'static str {
        match self {
            Self::McpServers => "MCP servers",
            Self::CodingAgents => "coding agents",
        }
    }
}

/// Whether the person wants these programs of the open workspace to run without a sandbox.
pub fn is_unconfined(environment: &Environment, programs: SandboxedPrograms) -> bool {
    of(environment.config_folder(), environment.workspace(), programs)
}

/// A sentence for the person if these programs of the open workspace run without a sandbox.
pub fn unconfined_sentence(environment: &Environment, programs: SandboxedPrograms) -> Option<String> {
    let file = environment.config_folder()?.join(UNCONFINED_FILE);
    is_unconfined(environment, programs).then(|| {
        let name = programs.name();
        format!("{name} of this workspace are not sandboxed, because you say so in {}", file.display())
    })
}

/// What a person must know when the workspace is opened: programs without a sandbox, and a file that cannot be read.
pub fn unconfined_problems(environment: &Environment) -> Vec<Problem> {
    let Some(file) = environment.config_folder().map(|folder| folder.join(UNCONFINED_FILE)) else { return Vec::new() };
    let unreadable = read(&file).err();
    let sentences = SandboxedPrograms::ALL.into_iter().filter_map(|one| unconfined_sentence(environment, one));
    let remedy = "remove this workspace there to use the sandbox again";
    let warnings = sentences.map(|what| Problem::warning(file.display().to_string(), what, remedy));
    unreadable.into_iter().chain(warnings).collect()
}

/// The problems of settings that try to switch a sandbox off, which only the person can.
pub(in crate::gateway) fn problems_of_settings(is_mcp_confined: bool, is_acp_confined: bool) -> Vec<Problem> {
    let is_off = [(SandboxedPrograms::McpServers, is_mcp_confined), (SandboxedPrograms::CodingAgents, is_acp_confined)];
    let is_off = is_off.into_iter().filter(|(_, confined)| !confined);
    is_off
        .map(|(programs, _)| {
            let (word, name) = (programs.word(), programs.name());
            let what =
                format!("{word}.confined: false has no effect: a workspace cannot switch the sandbox of {name} off");
            let remedy = format!(
                "remove it; to switch it off yourself, add a line to {UNCONFINED_FILE} in your config folder: \
                 /path/of/the/workspace: [{word}]"
            );
            Problem::warning("settings.yaml", what, remedy)
        })
        .collect()
}

/// Whether the person wants these programs of a workspace to run without a sandbox. An unreadable file changes nothing.
pub(in crate::gateway) fn of(
    config_folder: Option<&Path>,
    workspace: Option<&Path>,
    programs: SandboxedPrograms,
) -> bool {
    let (Some(config_folder), Some(workspace)) = (config_folder, workspace) else { return false };
    let Ok(all) = read(&config_folder.join(UNCONFINED_FILE)) else { return false };
    let of_workspace = all.get(&name_of(workspace)).map_or(&[][..], Vec::as_slice);
    of_workspace.iter().any(|word| word == programs.word())
}

fn read(file: &Path) -> Result<BTreeMap<String, Vec<String>>, Problem> {
    let Some(text) = read_small(file)? else { return Ok(BTreeMap::new()) };
    let parsed: Result<Option<BTreeMap<String, Vec<String>>>, _> = yaml::from_str(&text);
    parsed.map(Option::unwrap_or_default).map_err(|error| {
        let what = format!("is not a list of programs by workspace, so all are sandboxed: {error}");
        Problem::error(file.display().to_string(), what, "write lines like /path/of/the/workspace: [mcp]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_persons_file_switches_a_sandbox_off_and_for_one_workspace_only() {
        let config = tempfile::tempdir().expect("a temporary folder can be made");
        let (mine, other) = (config.path().join("mine"), config.path().join("other"));
        let is_off = |workspace: &Path, programs| of(Some(config.path()), Some(workspace), programs);
        let write = |text: &str| std::fs::write(config.path().join(UNCONFINED_FILE), text).expect("it can be written");
        assert!(!is_off(&mine, SandboxedPrograms::McpServers));
        write(&format!("{}: [mcp]\n", mine.display()));
        assert!(is_off(&mine, SandboxedPrograms::McpServers));
        assert!(!is_off(&mine, SandboxedPrograms::CodingAgents) && !is_off(&other, SandboxedPrograms::McpServers));
        let environment = Environment::new([], Some(config.path().to_owned())).in_workspace(&mine);
        let problems = unconfined_problems(&environment);
        assert!(problems.len() == 1 && problems[0].what.contains("MCP servers of this workspace are not sandboxed"));
        write("[ broken");
        assert!(!is_off(&mine, SandboxedPrograms::McpServers));
        assert!(unconfined_problems(&environment)[0].what.contains("so all are sandboxed"));
    }

    #[test]
    fn a_workspace_that_switches_a_sandbox_off_gets_a_problem_with_the_remedy() {
        assert!(problems_of_settings(true, true).is_empty());
        let problems = problems_of_settings(false, false);
        assert_eq!(problems.len(), 2);
        assert!(problems.iter().all(|problem| problem.remedy.contains(UNCONFINED_FILE)));
    }
}
