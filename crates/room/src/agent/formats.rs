//! The file formats that define agents. A new format adds one line to this list.

use super::agent_file::AgentFormat;
use super::{markdown, mdx_file, yaml_file};

/// All formats.
pub static FORMATS: &[&AgentFormat] = &[&markdown::FORMAT, &yaml_file::FORMAT, &mdx_file::FORMAT];

/// The format of the file at this path, if it defines an agent.
pub fn format_of(path: &str) -> Option<&'static AgentFormat> {
    FORMATS.iter().copied().find(|format| (format.matches)(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_agent_files_have_a_format() {
        assert!(format_of("agents/ada.md").is_some());
        assert!(format_of("agents/ada/skills/cook/SKILL.md").is_none());
        assert!(format_of("boards/rules.md").is_none());
        assert!(format_of("agents/.md").is_none());
        let in_folders =
            ["agents/planner-001.agent.yaml", "templates/planner-001.agent.yaml", "agents/team/x.AGENT.yml"];
        for path in in_folders.into_iter().chain(["agent.md", "agent.mdx", "ada.agent.yaml"]) {
            assert!(format_of(path).is_some(), "{path}");
        }
        for path in ["templates/ada.md", "agents/notes.yaml", "agents/.agent.yaml", "boards/x.agent.yaml", "AGENT.md"] {
            assert!(format_of(path).is_none(), "{path}");
        }
    }

    #[test]
    fn folders_and_other_extensions_are_included_and_documents_are_not() {
        for path in [
            "agents/team/two.md",
            "agents/categories/02-language/powershell-5.1-expert.md",
            "agents/plugins/web/agents/reviewer.MD",
            "agents/old.markdown",
            "agents/security.md",
            "agents/claude.md",
            "agents/readmes.md",
            "agents/licensed.md",
            "agents/heartbeat.md",
            "agents/ada/agent.mdx",
            "agents/ada.MDX",
        ] {
            assert!(format_of(path).is_some(), "{path}");
        }
        for path in [
            "agents/README.md",
            "agents/team/readme.md",
            "agents/README.zh.md",
            "agents/readme-cn.md",
            "agents/AGENTS.md",
            "agents/CLAUDE.md",
            "agents/x/CONTRIBUTING.md",
            "agents/LICENSE.md",
            "agents/CHANGELOG.md",
            "agents/x/SKILL.md",
            "agents/x/skills/pdf/forms.md",
            "agents/plugins/web/commands/deploy.md",
            "agents/.git/x.md",
            "agents//x.md",
            "agents/x.txt",
            "agents/LICENSE.txt",
            "agents/x",
            "agents/x/heartbeat.md",
            "agents/x/logs/2026-02-08.md",
            "agents/x/modules/custom.mdx",
        ] {
            assert!(format_of(path).is_none(), "{path}");
        }
    }
}
