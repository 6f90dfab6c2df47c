//! Prompts as the room renders them, for the tests of the offline brain.

use crate::gateway::provider::ProviderRequest;
use crate::mind::{CallKind, PromptMessage, Role};

pub(super) const ADA: &str = "You are Ada.\n\nResearcher who finds out what is known before anyone decides.\n\n\
You are curious and careful.\n\n## What you do\n\n- Find two independent sources for every claim.\n\
- Keep your notes where others can find them.\n\n## How you speak\n\nCurious and precise, in short sentences.\n\n\
- \"Where did we read that?\"\n- \"Good. Now the second source.\"\n\n## What you care about\n\n- Evidence, open questions, surveys.";

pub(super) const BRAM: &str = "You are Bram.\n\nWriter who turns what the room knows into stories.\n\n\
## What you do\n\n- Write the first draft before the day is over.\n- Look for the person in every story.\n\n\
## How you speak\n\nWarm and unhurried.\n\n- \"Let me try that as an opening.\"";

pub(super) const RULES: &str = "=== Standing Instructions ===\n# House rules\n\n- Cite the source of every claim.\n\
- Never print a rumour.\n- Answer mail on the day it comes.\n=== End Standing Instructions ===";

/// A system text with the house rules, a profile and more parts.
pub(super) fn system(profile: &str, parts: &[&str]) -> String {
    let mut all = vec![RULES.to_owned(), format!("## Who you are\n{profile}")];
    all.extend(parts.iter().map(|part| (*part).to_owned()));
    all.join("\n\n")
}

/// A request without a history.
pub(super) fn request(kind: CallKind, system: &str, moment: &str) -> ProviderRequest {
    ProviderRequest {
        agent: "ada-1".into(),
        profile: "ada".into(),
        kind,
        model: "offline".into(),
        prompt: crate::mind::Prompt::of_messages(system, vec![PromptMessage::words(Role::User, moment)]),
        tools: Vec::new(),
        max_output_tokens: 800,
        stops: Vec::new(),
        seed: 7,
        script: None,
    }
}

/// The same request after this history of questions and own replies.
pub(super) fn after(mut request: ProviderRequest, history: &[(&str, &str)]) -> ProviderRequest {
    let messages = history.iter().flat_map(|(asked, said)| {
        [(Role::User, *asked), (Role::Assistant, *said)].map(|(role, text)| PromptMessage::words(role, text))
    });
    request.prompt.history = messages.chain(request.prompt.history).collect();
    request
}
