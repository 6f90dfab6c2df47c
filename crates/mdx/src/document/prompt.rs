//! The parts of the system prompt that come from an agent's folder, in the reference's order: identity, skills, what
//! modules add, hints about tools.

use super::model::{AgentDocument, Section};

/// What a part of the prompt is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum PromptPart {
    /// Who the agent is.
    Identity,
    /// Which skills it can read.
    Skills,
    /// What a module adds.
    Module,
    /// Which tools it has.
    ToolHints,
}

/// A part of the prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PromptSection {
    /// What it is.
    pub part: PromptPart,
    /// The text, in Markdown or XML.
    pub text: String,
}

/// What a model is told about a tool besides its schema.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolHint {
    /// The name that a model calls it by.
    pub name: String,
    /// What it does.
    pub description: String,
}

/// Who the agent is, as its document says: name, purpose, capabilities, constraints, personality, and then every other
/// section in the document's order.
pub fn identity(document: &AgentDocument) -> String {
    let mut parts = vec![format!("# Agent: {}", document.name)];
    if !document.introduction.is_empty() {
        parts.push(document.introduction.clone());
    }
    let known = [
        ("Purpose", &document.purpose),
        ("Capabilities", &document.capabilities),
        ("Constraints", &document.constraints),
        ("Personality", &document.personality),
    ];
    let known = known.into_iter().filter_map(|(title, section)| Some((title, section.as_ref()?)));
    let other = document.other_sections.iter().map(|section| (&*section.title, section));
    parts.extend(known.chain(other).filter_map(|(title, section)| rendered(title, section)));
    parts.join("\n\n")
}

fn rendered(title: &str, section: &Section) -> Option<String> {
    (!section.text.is_empty()).then(|| format!("## {title}\n\n{}", section.text))
}

/// The whole of it. Parts that say nothing are left out.
pub fn system_prompt(
    document: &AgentDocument,
    skills: &str,
    modules: &[String],
    tools: &[ToolHint],
) -> Vec<PromptSection> {
    let section = |part, text: &str| PromptSection { part, text: text.trim().to_owned() };
    let hint = |tool: &ToolHint| format!("- {}: {}", tool.name, tool.description);
    let hints = tools.iter().map(hint).collect::<Vec<_>>().join("\n");
    let hints = if hints.is_empty() { hints } else { format!("## Tools\n\n{hints}") };
    std::iter::once(section(PromptPart::Identity, &identity(document)))
        .chain([section(PromptPart::Skills, skills)])
        .chain(modules.iter().map(|text| section(PromptPart::Module, text)))
        .chain([section(PromptPart::ToolHints, &hints)])
        .filter(|section| !section.text.is_empty())
        .collect()
}
