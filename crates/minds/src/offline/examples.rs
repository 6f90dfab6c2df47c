//! Example prompts in the form in which the room builds them, for the tests of the offline brain.

use crate::gateway::provider::ProviderRequest;
use crate::mind::compose::render;
use crate::mind::context::PinView;
use crate::mind::context::{
    Abilities, AgentIdentity, Colleague, CurrentRequest, LabelledText, Line, MailItem, MindContext, Near, Remembered,
};
use crate::mind::{CallKind, Prompt, PromptMessage, PromptParts, Role};

/// An agent: its name, and what its file says.
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

/// The context that an agent gets.
#[derive(Clone, Debug, Default)]
pub(super) struct Told(MindContext, bool);

impl Told {
    /// An agent that knows the house rules and its own identity.
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
        self.0.place.people.push(Near { name: name.into(), profile: profile.into(), doing: doing.into() });
        let description = doing.to_owned();
        self.0.desk.people.push(Colleague { name: name.into(), profile: profile.into(), description });
        self
    }

    /// Markers are spoken of: those for everyone, and these.
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

/// All markers, and two who can be sent mail.
pub(super) fn everything() -> Abilities {
    let (pinboards, addressees) = (vec!["Ideas".into()], vec!["Bram".into(), "Finn".into()]);
    Abilities { pinboards, addressees, has_inbox: true, markers: Vec::new() }
}

/// To read an element that is new to the reader.
pub(super) fn reading(label: &str, kind: &str, text: &str) -> CurrentRequest {
    CurrentRequest::Read { label: label.into(), kind: kind.into(), text: text.into(), new: None, pins: Vec::new() }
}

/// To read a pinboard with these pins: id, author, who voted for it, and text.
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

/// To read mail: id, sender, subject and text of each piece.
pub(super) fn inbox(mail: &[(&str, &str, &str, &str)]) -> CurrentRequest {
    let letter = |(id, from, subject, text): &(&str, &str, &str, &str)| MailItem {
        id: (*id).into(),
        from: (*from).into(),
        subject: (*subject).to_owned(),
        text: (*text).to_owned(),
        read: false,
    };
    let mail = mail.iter().map(letter).collect();
    CurrentRequest::ReadMail { label: "Ada's inbox".into(), kind: "inbox".into(), mail }
}

/// The context for a conversation with someone, after these utterances, in this turn of four.
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

/// A request without a history that asks this.
pub(super) fn asking(kind: CallKind, told: Told, moment: CurrentRequest) -> ProviderRequest {
    let Told(mut context, has_markers) = told;
    if let CurrentRequest::ReadMail { mail, .. } = &moment {
        context.mail.clone_from(mail);
    }
    context.moment = moment;
    let mut prompt = render(&PromptParts::default(), &context);
    if !has_markers {
        prompt.system.retain(|part| &*part.origin.from != "abilities");
    }
    of_prompt(kind, prompt)
}

/// A request whose last message is this, as at work.
pub(super) fn request(kind: CallKind, told: Told, words: &str) -> ProviderRequest {
    let mut asked = asking(kind, told, CurrentRequest::Work);
    asked.prompt.asked = None;
    asked.prompt.history = vec![PromptMessage::plain(Role::User, words)];
    asked
}

/// A request of this prompt.
pub(super) fn of_prompt(kind: CallKind, prompt: Prompt) -> ProviderRequest {
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

/// The same request after this history of questions and own replies.
pub(super) fn after(mut request: ProviderRequest, history: &[(&str, &str)]) -> ProviderRequest {
    let messages = history.iter().flat_map(|(asked, said)| {
        [(Role::User, *asked), (Role::Assistant, *said)].map(|(role, text)| PromptMessage::plain(role, text))
    });
    request.prompt.history = messages.chain(request.prompt.history).collect();
    request
}
