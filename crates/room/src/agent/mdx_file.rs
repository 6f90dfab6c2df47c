//! Reads an agent from a document with its own tools: `agents/NAME/agent.mdx`, or `agents/NAME.mdx` by itself.

use super::agent_file::{AgentFile, AgentFormat, claim_id, id_at_top, place_of_agent};
use super::markdown;
use crate::base::{Problem, text};
use crate::document::{self, AgentDocument, ToolDefinition};
use crate::engine::{EngineLimits, ProgramCache, check_tool};
use crate::source::{SourceProblem, SourceSeverity};

/// The format of `agents/**/*.mdx`; see [`place_of_agent`] for exceptions.
pub static FORMAT: AgentFormat = AgentFormat {
    matches: |path| {
        let ending = place_of_agent(path).and_then(|(_, name)| name.rsplit_once('.')).map(|(_, ending)| ending);
        ending.is_some_and(|ending| ending.eq_ignore_ascii_case("mdx"))
    },
    read,
};

/// The length of the description taken from an agent's purpose if it has none, in characters.
const DESCRIPTION_CHARS: usize = 300;

/// Parses the file; see [`AgentFile`]. Its front matter has the keys of every agent; its sections are its instructions
/// in the order of the format. If the front matter cannot be parsed, the agent has no tools, not even its own.
pub fn read(path: &str, text: &str) -> AgentFile {
    let mut document = document::parse(text);
    let mut file = markdown::read(path, text);
    let profile = &mut file.profile;
    if document.is_named {
        profile.name.clone_from(&document.name);
    } else {
        profile.name = markdown::name_of_path(path);
        document.name.clone_from(&profile.name);
    }
    if let Some(id) = id_at_top(path, &profile.name).filter(|_| !file.has_explicit_id && !file.malformed) {
        let (id, reserved) = claim_id(path, id);
        profile.id = id;
        file.problems.extend(reserved.map(|(_, problem)| problem));
    }
    profile.instructions = document::identity(&document);
    if profile.description.is_empty() {
        profile.description = purpose(&document);
    }
    if !file.malformed {
        // An agent that lists tools has its own in addition.
        if let Some(listed) = &mut profile.tools {
            listed.extend(document.tools.iter().map(|tool| tool.name.clone()));
        }
        profile.own_tools = document.tools;
    }
    // Problems of the front matter were already reported, with this program's keys.
    let of_front_matter = |problem: &SourceProblem| problem.what.starts_with("the front matter");
    let told = document.problems.iter().filter(|problem| !of_front_matter(problem));
    file.problems.extend(told.map(|problem| problem_of(path, problem)));
    file.problems.sort_by_key(|problem| (problem.line, problem.column));
    file
}

/// The problems in the code of a document's tools, each with its line. Parsing code takes milliseconds, so it must not
/// run on a drawing or ticking thread.
pub fn code_problems(path: &str, tools: &[ToolDefinition], programs: &ProgramCache) -> Vec<Problem> {
    let limits = EngineLimits::default();
    let found = tools.iter().filter_map(|tool| check_tool(tool, programs, &limits));
    found.map(|problem| problem_of(path, &problem)).collect()
}

fn purpose(document: &AgentDocument) -> String {
    let purpose = document.purpose.as_ref().map(|purpose| text::first_paragraph(&purpose.text));
    text::truncate(&purpose.unwrap_or_default(), DESCRIPTION_CHARS)
}

/// Converts a problem of a text to a problem of its file, with line and column.
pub fn problem_of(path: &str, problem: &SourceProblem) -> Problem {
    let (what, remedy) = (problem.what.clone(), problem.remedy.clone());
    let told = match problem.severity {
        SourceSeverity::Warning => Problem::warning(path, what, remedy),
        SourceSeverity::Error => Problem::error(path, what, remedy),
    };
    told.at_line(problem.line()).at_column(problem.at.map(|at| at.column))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Severity;

    const DOCUMENT: &str = "---\nmodel: sonnet\nreads: [artifacts/**]\n---\n# Agent: Weather Man\n\n## Personality\n\nDry.\n\n<Tool name=\"forecast\" description=\"What comes\">\n  <Param name=\"city\" />\n\n```ts\nasync function execute(params) { return params.city; }\n```\n</Tool>\n\n## Purpose\n\nTells the weather.\nIn one line.\n\nAnd more.\n";

    #[test]
    fn a_document_is_an_agent_like_any_other() {
        let file = read("agents/weather/agent.mdx", DOCUMENT);
        assert_eq!(file.problems, []);
        let profile = file.profile;
        assert_eq!((&*profile.id, &*profile.name), ("weather", "Weather Man"));
        assert_eq!(profile.description, "Tells the weather. In one line.");
        assert_eq!(profile.model.as_deref(), Some("sonnet"));
        assert_eq!(profile.reads.as_deref(), Some(&["artifacts/**".to_owned()][..]));
        assert_eq!(
            profile.instructions,
            "# Agent: Weather Man\n\n## Purpose\n\nTells the weather.\nIn one line.\n\nAnd more.\n\n## Personality\n\nDry."
        );
        assert_eq!((profile.tools, profile.own_tools.len()), (None, 1));
        assert_eq!(profile.own_tools[0].code.first_line, 15);
    }

    #[test]
    fn the_document_of_the_workspace_itself_is_an_agent_called_like_its_heading() {
        assert!((FORMAT.matches)("agent.mdx") && !(FORMAT.matches)("notes.mdx") && !(FORMAT.matches)("docs/agent.mdx"));
        let profile = read("agent.mdx", DOCUMENT).profile;
        assert_eq!((&*profile.id, &*profile.name), ("weather-man", "Weather Man"));
        assert_eq!(&*read("agent.mdx", "## Purpose\n\nP\n").profile.id, "agent");
        assert_eq!(&*read("agent.mdx", "---\nid: sun\n---\n# Agent: X\n\n## Purpose\n\nP\n").profile.id, "sun");
    }

    #[test]
    fn an_agent_that_lists_tools_also_has_its_own() {
        let text = DOCUMENT.replace("model: sonnet", "tools: [vfs_read]");
        let profile = read("agents/weather.mdx", &text).profile;
        assert_eq!(profile.tools.unwrap(), ["vfs_read", "forecast"]);
    }

    #[test]
    fn a_document_without_a_name_is_called_like_its_folder() {
        let file = read("agents/data-analyst/agent.mdx", "# Something\n\n## Purpose\n\nP\n");
        assert_eq!(file.profile.name, "Data Analyst");
        assert!(file.profile.instructions.starts_with("# Agent: Data Analyst\n"), "{}", file.profile.instructions);
        assert!(file.problems[0].what.contains("does not name the agent"), "{:?}", file.problems);
    }

    #[test]
    fn problems_of_a_document_have_lines_and_the_rest_works() {
        let text = DOCUMENT.replace("</Tool>", "</Tool>\n\n<Tool name=\"bad\" description=\"d\">\n</Tool>");
        let file = read("agents/weather/agent.mdx", &text);
        let [problem] = &file.problems[..] else { panic!("{:?}", file.problems) };
        assert_eq!((problem.line, problem.severity), (Some(19), Severity::Error));
        assert_eq!(file.profile.own_tools.len(), 1);
    }

    #[test]
    fn front_matter_that_cannot_be_read_leaves_no_tools_and_is_told_once() {
        let file = read("agents/weather/agent.mdx", &DOCUMENT.replace("reads: [artifacts/**]", "? x\n: ["));
        assert!(file.malformed && file.profile.own_tools.is_empty());
        assert_eq!(file.profile.tools.as_deref(), Some(&[][..]));
        assert_eq!(file.problems.len(), 1, "{:?}", file.problems);
        assert!(file.profile.instructions.contains("Tells the weather."));
    }
}
