//! The identity of an agent as text for the prompt: the sections of its document in the order of the specification. The
//! mind builds the prompt itself.

use super::model::{AgentDocument, Section};

/// Returns the agent's identity: name, purpose, capabilities, constraints, personality, and then all other sections in
/// document order.
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
