//! Defines the parts of prompts. The provider of a part has its heading, position, share of the prompt, privacy and
//! content. The mind's own parts are the files in this folder; higher layers add theirs to [`PromptParts`].

pub(super) mod abilities;
mod boards;
mod environment;
mod feedback;
mod guide;
mod interactions;
mod kept_pins;
mod mail;
mod modules;
mod notes;
mod profile;
mod remembered;
mod rules;
mod skills;
mod summary;
mod surroundings;
mod work_environment;
mod writer;

pub(super) use mail::push_mail;
pub use remembered::REMEMBERED;
pub use writer::PartWriter;

use std::fmt;
use std::sync::{Arc, LazyLock};

use bevy::ecs::prelude::*;
use serde_json::Value;

use super::context::{AgentIdentity, CurrentRequest, MindContext};
use super::heading_guard::Headings;
use super::headings;
use super::prompt::PromptOrigin;
use crate::base::Id;

/// The id of the current request, which has no provider.
pub const CURRENT_REQUEST: &str = "moment";
/// The display name of the current request.
const MOMENT_LABEL: &str = "What it is asked now";

/// The position of a part in a prompt. Parts that rarely change come first, so that providers can use their caches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Slot {
    /// The system text: the same from one call to the next.
    System,
    /// Before the session: information that seldom changes.
    Known,
    /// After the session: information that sometimes changes. In work prompts, these parts come before the session and
    /// are sent once.
    Changing,
    /// After the session: information that changes with every call.
    Now,
}

/// The share of the prompt that a part may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    /// A part of the instructions, which share space that is allocated first.
    Orders,
    /// A fixed fraction of the whole prompt: `Whole(24)` is a 24th.
    Whole(usize),
    /// A fraction of the remaining space, allocated in the order of the prompt.
    Left(usize),
    /// Like [`Left`](Self::Left), but allocated before others of its kind, because someone is waiting for it.
    LeftFirst(usize),
}

/// Which agents get a part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Privacy {
    /// Every agent.
    Open,
    /// Agents whose profile shares the workspace: `shareWorkspaceInfo`.
    Workspace,
    /// Agents whose profile shares information about the person: `shareUserInfo`.
    Person,
}

impl Privacy {
    /// Whether an agent may see the part.
    pub fn allows(self, who: &AgentIdentity) -> bool {
        match self {
            Self::Open => true,
            Self::Workspace => who.share_workspace_info,
            Self::Person => who.share_user_info,
        }
    }
}

type Write = Arc<dyn Fn(&MindContext, &mut PartWriter) + Send + Sync>;
type LookUp = Arc<dyn Fn(&MindContext) -> Option<Value> + Send + Sync>;

/// The provider of one kind of part.
#[derive(Clone)]
pub struct PartProvider {
    /// The id, in records and for readers of prompts as data.
    pub id: Id,
    /// The display name: “Its notes”.
    pub label: Id,
    /// The heading: `## Your notes`.
    pub heading: String,
    /// Its position in the prompt.
    pub slot: Slot,
    /// The order within the slot; smaller ranks come first.
    pub rank: u32,
    /// The share of the prompt that it may take.
    pub share: Share,
    /// The agents that may see it.
    pub privacy: Privacy,
    moments: fn(&CurrentRequest) -> bool,
    write: Write,
    look_up: Option<LookUp>,
}

impl fmt::Debug for PartProvider {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, slot, rank, share, privacy, .. } = self;
        write!(out, "{id} at {slot:?} {rank}, {share:?}, {privacy:?}")
    }
}

impl PartProvider {
    /// Creates a provider whose content `write` produces. By default it is part of all prompts except those about the
    /// past (summaries, memories), for agents that share the workspace, at most a 24th of the prompt long, and last in
    /// its slot.
    pub fn new(
        (id, label, heading): (&str, &str, &str),
        slot: Slot,
        write: impl Fn(&MindContext, &mut PartWriter) + Send + Sync + 'static,
    ) -> Self {
        Self {
            id: id.into(),
            label: label.into(),
            heading: heading.to_owned(),
            slot,
            rank: u32::MAX,
            share: Share::Whole(24),
            privacy: Privacy::Workspace,
            moments: |moment| !moment.is_retrospective(),
            write: Arc::new(write),
            look_up: None,
        }
    }

    /// Makes the content looked up outside: `query` returns what to look up, or `None` for nothing. The prompt waits
    /// for the answer, the input `PartGathered`, whose text becomes the content.
    pub fn looked_up(
        names: (&str, &str, &str),
        slot: Slot,
        look_up: impl Fn(&MindContext) -> Option<Value> + Send + Sync + 'static,
    ) -> Self {
        let id: Id = names.0.into();
        let write = move |context: &MindContext, out: &mut PartWriter| {
            if let Some(text) = context.gathered.get(&id) {
                out.data(text.trim(), Vec::new());
            }
        };
        Self { look_up: Some(Arc::new(look_up)), ..Self::new(names, slot, write) }
    }

    /// Sets the formatter of the content that was looked up.
    pub(super) fn formatted_by(self, tell: fn(&str, &mut PartWriter)) -> Self {
        let id = self.id.clone();
        let write = move |context: &MindContext, out: &mut PartWriter| {
            if let Some(text) = context.gathered.get(&id) {
                tell(text, out);
            }
        };
        Self { write: Arc::new(write), ..self }
    }

    /// Sets the rank within the slot.
    pub fn ranked(self, rank: u32) -> Self {
        Self { rank, ..self }
    }

    /// Sets the share.
    pub fn with_share(self, share: Share) -> Self {
        Self { share, ..self }
    }

    /// Sets the privacy.
    pub fn with_privacy(self, privacy: Privacy) -> Self {
        Self { privacy, ..self }
    }

    /// Limits the part to the requests for which `moments` returns `true`.
    pub fn at(self, moments: fn(&CurrentRequest) -> bool) -> Self {
        Self { moments, ..self }
    }

    /// Returns the source of the text.
    pub fn origin(&self) -> PromptOrigin {
        let is_own = label_of(&self.id).is_some();
        // The names of the mind's own parts are fixed and need not be in every record.
        PromptOrigin { label: if is_own { Id::default() } else { self.label.clone() }, ..PromptOrigin::of(&self.id) }
    }

    /// Whether the part belongs into the prompt for a context.
    pub fn belongs(&self, context: &MindContext) -> bool {
        (self.moments)(&context.moment) && self.privacy.allows(&context.who)
    }

    /// Returns what to look up outside, if anything.
    pub(super) fn query(&self, context: &MindContext) -> Option<Value> {
        self.look_up.as_ref().filter(|_| self.belongs(context)).and_then(|look_up| look_up(context))
    }

    /// Writes the content of the part.
    pub(super) fn write(&self, context: &MindContext, out: &mut PartWriter) {
        (self.write)(context, out);
    }
}

/// The error that a part is already registered, with its id.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is already a part {0:?}; choose another id")]
pub struct DuplicatePart(Id);

/// The registry of all prompt parts, in the order of the prompt.
#[derive(Resource, Clone, Debug)]
pub struct PromptParts {
    providers: Vec<PartProvider>,
    /// The headings of all parts, and the other headings of a prompt.
    headings: Headings,
}

impl Default for PromptParts {
    fn default() -> Self {
        let mut parts = Self { providers: Vec::new(), headings: Headings::with([]) };
        for provider in own() {
            parts.insert(provider);
        }
        parts
    }
}

impl PromptParts {
    /// Registers a part.
    pub fn register(&mut self, provider: PartProvider) -> Result<(), DuplicatePart> {
        if &*provider.id == CURRENT_REQUEST || self.get(&provider.id).is_some() {
            return Err(DuplicatePart(provider.id));
        }
        self.insert(provider);
        self.note_headings();
        Ok(())
    }

    /// Removes a part; returns whether it was registered.
    pub fn remove(&mut self, id: &str) -> bool {
        let before = self.providers.len();
        self.providers.retain(|provider| &*provider.id != id);
        self.note_headings();
        self.providers.len() < before
    }

    /// Returns the part with an id.
    pub fn get(&self, id: &str) -> Option<&PartProvider> {
        self.providers.iter().find(|provider| &*provider.id == id)
    }

    /// Returns all parts in the order of the prompt.
    pub fn iter(&self) -> impl Iterator<Item = &PartProvider> {
        self.providers.iter()
    }

    /// Returns the headings of a prompt, which no inserted text may imitate.
    pub(super) fn headings(&self) -> &Headings {
        &self.headings
    }

    fn note_headings(&mut self) {
        // The frame around the rules is guarded where it is written.
        let added = self.providers.iter().map(|provider| provider.heading.as_str());
        self.headings = Headings::with(added.filter(|heading| *heading != headings::STANDING_OPEN));
    }

    fn insert(&mut self, provider: PartProvider) {
        let place = (provider.slot, provider.rank);
        let at = self.providers.partition_point(|other| (other.slot, other.rank) <= place);
        self.providers.insert(at, provider);
    }
}

/// Returns the mind's own parts.
fn own() -> Vec<PartProvider> {
    vec![
        rules::part(),
        guide::part(),
        abilities::part(),
        profile::part(),
        skills::part(),
        modules::part(),
        work_environment::part(),
        boards::part(),
        summary::part(),
        notes::part(),
        remembered::part(),
        interactions::part(),
        environment::part(),
        kept_pins::part(),
        mail::part(),
        surroundings::part(),
        feedback::part(),
    ]
}

/// Returns the display name of a source.
pub fn label(origin: &PromptOrigin) -> &str {
    match label_of(&origin.from) {
        Some(label) => label,
        None if origin.label.is_empty() => &origin.from,
        None => &origin.label,
    }
}

/// Returns the display name of one of the mind's own parts.
fn label_of(id: &str) -> Option<&'static str> {
    static LABELS: LazyLock<Vec<(Id, Id)>> =
        LazyLock::new(|| own().into_iter().map(|provider| (provider.id, provider.label)).collect());
    if id == CURRENT_REQUEST {
        return Some(MOMENT_LABEL);
    }
    LABELS.iter().find(|(own, _)| &**own == id).map(|(_, label)| &**label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(parts: &PromptParts) -> Vec<&str> {
        parts.iter().map(|provider| &*provider.id).collect()
    }

    #[test]
    fn a_part_is_registered_at_its_position_once_and_removed_again() {
        let mut parts = PromptParts::default();
        let before: Vec<String> = ids(&parts).into_iter().map(str::to_owned).collect();
        let own = |rank| PartProvider::new(("weather", "The weather", "## Weather"), Slot::Now, |_, _| {}).ranked(rank);
        parts.register(own(150)).unwrap();
        assert_eq!(ids(&parts)[ids(&parts).len() - 3..], ["surroundings", "weather", "feedback"]);
        assert_eq!(parts.register(own(1)), Err(DuplicatePart("weather".into())));
        let moment = PartProvider::new((CURRENT_REQUEST, "", ""), Slot::Now, |_, _| {});
        assert!(parts.register(moment).is_err(), "the moment is no part of anybody's");
        assert!(parts.remove("weather") && !parts.remove("weather"));
        assert_eq!(ids(&parts), before);
    }

    #[test]
    fn every_part_has_a_display_name() {
        for provider in own() {
            assert!(!provider.label.is_empty() && label(&provider.origin()) == &*provider.label);
        }
        assert_eq!(label(&PromptOrigin::of(CURRENT_REQUEST)), "What it is asked now");
        assert_eq!(label(&PromptOrigin::of("weather")), "weather");
        let weather = PartProvider::new(("weather", "The weather", "## Weather"), Slot::Now, |_, _| {});
        assert_eq!(label(&weather.origin()), "The weather");
    }
}
