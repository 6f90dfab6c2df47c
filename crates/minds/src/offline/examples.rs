//! Builders of example requests, as the room makes them, for the tests of the offline brain.

use crate::gateway::provider::ProviderRequest;
use crate::mind::compose::render;
use crate::mind::context::{
    Abilities, AgentIdentity, Colleague, CurrentRequest, LabelledText, Line, MailItem, MindContext, NearbyAgent,
    PinView, Remembered,
};
use crate::mind::{CallKind, Prompt, PromptMessage, PromptParts, Role};

/// The name and the instructions of an agent.
pub(super) const ADA: (&str, &str) = (
    "Ada",
    "Researcher who finds out what is known before anyone decides.\n\n\
You are curious and careful.\n\n## What you do\n\n- Find two independent sources for every claim.\n\
- Keep your notes where others can find them.\n\n## How you speak\n\nCurious and precise, in short sentences.\n\n\
- \"Where did we read that?\"\n- \"Good. Now the second source.\"\n\n## What you care about\n\n- Evidence, open questions, surveys.",
);

pub(super) const BRAM: (&str, &str) = (
    "Bram",
    "Writer who turns what the room knows into stories.\n\n\
## What you do\n\n- Write the first draft before the day is over.\n- Look for the person in every story.\n\n\
## How you speak\n\nWarm and unhurried.\n\n- \"Let me try that as an opening.\"",
);

pub(super) const RULES: &str =
    "# House rules\n\n- Cite the source of every claim.\n- Never print a rumour.\n- Answer mail on the day it comes.";

/// Builds the context of an agent; the flag says whether the prompt lists markers.
#[derive(Clone, Debug, Default)]
pub(super) struct TestContext(MindContext, bool);

impl TestContext {
    /// The context of an agent that knows the house rules.
    pub(super) fn by((name, instructions): (&str, &str)) -> Self {
        Self::without_rules((name, instructions)).rules(RULES)
    }

    pub(super) fn without_rules((name, instructions): (&str, &str)) -> Self {
        let who = AgentIdentity {
            name: name.into(),
            instructions: instructions.into(),
            share_workspace_info: true,
            share_user_info: true,
            ..AgentIdentity::default()
        };
        Self(MindContext { who, max_chars: 3_000_000, summary_tokens: 400, ..MindContext::default() }, false)
    }

    pub(super) fn rules(mut self, text: &str) -> Self {
        self.0.rulebooks.push(LabelledText { id: "rules".into(), label: "House rules".into(), text: text.into() });
        self
    }

    pub(super) fn near(mut self, name: &str, profile: &str, doing: &str) -> Self {
        self.0.place.people.push(NearbyAgent { name: name.into(), profile: profile.into(), doing: doing.into() });
        let description = doing.to_owned();
        self.0.desk.people.push(Colleague { name: name.into(), profile: profile.into(), description });
        self
    }

    /// Adds the list of markers, with these abilities.
    pub(super) fn offered(mut self, abilities: Abilities) -> Self {
        (self.0.abilities, self.1) = (abilities, true);
        self
    }

    pub(super) fn note(mut self, note: &str) -> Self {
        self.0.memory.notes.push(note.to_owned());
        self
    }

    pub(super) fn summary(mut self, summary: &str) -> Self {
        self.0.memory = Remembered { summary: summary.to_owned(), ..self.0.memory };
        self
    }

    pub(super) fn interaction(mut self, interaction: &str) -> Self {
        self.0.memory.interactions.push(interaction.to_owned());
        self
    }

    pub(super) fn feedback(mut self, remark: &str) -> Self {
        self.0.feedback.push(remark.to_owned());
        self
    }

    pub(super) fn board(mut self, label: &str, text: &str) -> Self {
        self.0.boards.push(LabelledText { id: label.into(), label: label.into(), text: text.into() });
        self
    }
}

/// The abilities for all markers, with two addressees.
pub(super) fn all_markers() -> Abilities {
    let (pinboards, addressees) = (vec!["Ideas".into()], vec!["Bram".into(), "Finn".into()]);
    Abilities { pinboards, addressees, has_inbox: true, markers: Vec::new() }
}

/// The request to read an element for the first time.
pub(super) fn read_request(label: &str, kind: &str, text: &str) -> CurrentRequest {
    CurrentRequest::Read { label: label.into(), kind: kind.into(), text: text.into(), new: None, pins: Vec::new() }
}

/// The request to read a pinboard with pins: id, author, supporters and text.
pub(super) fn pinboard(pins: &[(&str, &str, &[&str], &str)]) -> CurrentRequest {
    let line = |(id, by, up, text): &(&str, &str, &[&str], &str)| format!("{id} (by {by}, +{} −0): {text}", up.len());
    let pin = |(id, by, up, text): &(&str, &str, &[&str], &str)| PinView {
        id: (*id).into(),
        author: (*by).into(),
        text: (*text).to_owned(),
        up: up.iter().map(|voter| (*voter).into()).collect(),
        down: Vec::new(),
    };
    let text =
        if pins.is_empty() { "(no pins)".to_owned() } else { pins.iter().map(line).collect::<Vec<_>>().join("\n") };
    let pins = pins.iter().map(pin).collect();
    CurrentRequest::Read { label: "Ideas".into(), kind: "pinboard".into(), text, new: None, pins }
}

/// The request to read mail: id, sender, subject and text of each.
pub(super) fn inbox(mail: &[(&str, &str, &str, &str)]) -> CurrentRequest {
    let item = |(id, from, subject, text): &(&str, &str, &str, &str)| MailItem {
        id: (*id).into(),
        from: (*from).into(),
        subject: (*subject).to_owned(),
        text: (*text).to_owned(),
        read: false,
    };
    let mail = mail.iter().map(item).collect();
    CurrentRequest::ReadMail { label: "Ada's inbox".into(), kind: "inbox".into(), mail }
}

/// The request for a turn (of four) in a conversation, after the lines of name and text in `said`.
pub(super) fn talking(with: &str, topic: &str, said: &[(&str, &str)], turn: u32) -> CurrentRequest {
    let line = |(by, text): &(&str, &str)| Line { by: (*by).into(), text: (*text).to_owned(), by_person: false };
    CurrentRequest::Talk {
        with: vec![with.into()],
        topic: Some(topic.to_owned()).filter(|topic| !topic.is_empty()),
        earlier: Vec::new(),
        said: said.iter().map(line).collect(),
        turn,
        turns: 4,
    }
}

/// A request without a history.
pub(super) fn request_for(kind: CallKind, context: TestContext, current: CurrentRequest) -> ProviderRequest {
    let TestContext(mut context, has_markers) = context;
    if let CurrentRequest::ReadMail { mail, .. } = &current {
        context.mail.clone_from(mail);
    }
    context.moment = current;
    let mut prompt = render(&PromptParts::default(), &context);
    if !has_markers {
        prompt.system.retain(|part| &*part.origin.from != "abilities");
    }
    request_with_prompt(kind, prompt)
}

/// A task request whose only message is `words`.
pub(super) fn request(kind: CallKind, context: TestContext, words: &str) -> ProviderRequest {
    let mut request = request_for(kind, context, CurrentRequest::Work);
    request.prompt.asked = None;
    request.prompt.history = vec![PromptMessage::plain(Role::User, words)];
    request
}

/// A request with a prompt.
pub(super) fn request_with_prompt(kind: CallKind, prompt: Prompt) -> ProviderRequest {
    ProviderRequest {
        agent: "ada-1".into(),
        profile: "ada".into(),
        kind,
        model: "offline".into(),
        prompt,
        tools: Vec::new(),
        max_output_tokens: 800,
        stops: Vec::new(),
        said_before: Default::default(),
        seed: 7,
        script: None,
        work: None,
        agent_session: None,
        result_images: Default::default(),
    }
}

/// The request after a history of requests and replies.
pub(super) fn with_history(mut request: ProviderRequest, history: &[(&str, &str)]) -> ProviderRequest {
    let messages = history.iter().flat_map(|(request, reply)| {
        [(Role::User, *request), (Role::Assistant, *reply)].map(|(role, text)| PromptMessage::plain(role, text))
    });
    request.prompt.history = messages.chain(request.prompt.history).collect();
    request
}
