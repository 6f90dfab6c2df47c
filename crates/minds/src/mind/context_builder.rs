//! Collects everything that an agent knows and perceives in the world into a [`MindContext`].

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use bevy::ecs::system::SystemParam;
use bevy::math::Vec2;

use super::context::{
    Abilities, AgentIdentity, Colleague, CurrentRequest, KeptPin, LabelledText, Line, MailItem, MarkerLine,
    MindContext, NearbyAgent, NewItem, Remembered, Surroundings, WorkEnvironment,
};
use super::feedback::Feedback;
use super::intent::{Addressee, BoardInReach, MarkedElement, SeenMail, Situation};
use super::parts::PromptParts;
use super::pins_and_mail::{open_mail, pins};
use super::prompt_additions::PromptAdditions;
use super::session::Session;
use super::settings::MindSettings;
use super::tool_models::{ToolModel, ToolModels};
use super::untrusted_text::PERSON;
use super::untrusted_text::name;
use crate::agent::agent_file::folder_of_agent;
use crate::agent::{Agent, AgentProfile, KnownSkills, Profiles, Roster};
use crate::base::text::one_line;
use crate::base::{AgentKey, Author, ElementKey, Id};
use crate::element::kinds::kind;
use crate::element::{Element, Elements, HeldContent, ItemNews, Kind, Reader, RecentChanges, owns};
use crate::memory::{Memory, MemoryCounts, MemorySettings};
use crate::schedule::{RoomDate, SimClock};
use crate::simulation::{AgentState, Conversation, Conversations, Interest, Position, SpatialIndex, State, Utterance};

/// Positions in the spatial index are those at the beginning of a tick; no agent walks farther than this in one tick.
const MAX_STEP_UNITS: f32 = 30.0;

/// The tools that can read skill files, by the names offered to agents.
const FILE_READING_TOOLS: [&str; 3] = ["vfs_read", "read_file", "Read"];

/// All data in the room that the mind reads.
#[derive(SystemParam)]
pub(super) struct RoomParams<'w, 's> {
    pub(super) roster: Res<'w, Roster>,
    pub(super) elements: Res<'w, Elements>,
    profiles: Option<Res<'w, Profiles>>,
    skills: Option<Res<'w, KnownSkills>>,
    added: Option<Res<'w, PromptAdditions>>,
    pub(super) conversations: Res<'w, Conversations>,
    pub(super) clock: Res<'w, SimClock>,
    date: Res<'w, RoomDate>,
    pub(super) settings: Res<'w, MindSettings>,
    memory_settings: Res<'w, MemorySettings>,
    counts: Res<'w, MemoryCounts>,
    agents: Query<'w, 's, (&'static Agent, &'static Memory)>,
    space: Option<Res<'w, SpatialIndex>>,
    bodies: Query<'w, 's, (Option<&'static Position>, Option<&'static AgentState>), With<Agent>>,
    held: Query<'w, 's, (&'static Element, &'static HeldContent)>,
    recent: Option<Res<'w, RecentChanges>>,
    tool_models: Option<Res<'w, ToolModels>>,
    pub(super) parts: Res<'w, PromptParts>,
}

impl RoomParams<'_, '_> {
    /// Returns an agent and its memory.
    pub(super) fn agent(&self, key: AgentKey) -> Option<(&Agent, &Memory)> {
        self.agents.get(self.roster.entity(key)?).ok()
    }

    /// Returns an element and its content.
    pub(super) fn element(&self, key: ElementKey) -> Option<(&Element, &HeldContent)> {
        self.held.get(self.elements.entity(key)?).ok()
    }

    /// Returns all elements with their content.
    pub(super) fn all_elements(&self) -> impl Iterator<Item = (&Element, &HeldContent)> {
        self.elements.iter().filter_map(|(_, entity)| self.held.get(entity).ok())
    }

    /// Returns the profile of an agent.
    pub(super) fn profile(&self, agent: &Agent) -> Option<&AgentProfile> {
        self.profiles.as_ref().and_then(|profiles| profiles.get(&agent.profile))
    }

    /// Returns an agent's model, as far as calls of functions are concerned.
    pub(super) fn tool_model(&self, agent: &Agent) -> ToolModel {
        let wanted = self.profile(agent).and_then(|profile| profile.model.as_deref());
        self.tool_models.as_ref().map(|models| models.of(wanted)).unwrap_or_default()
    }

    /// Returns all profiles.
    pub(super) fn profiles(&self) -> impl Iterator<Item = (&Id, &AgentProfile)> {
        self.profiles.iter().flat_map(|profiles| profiles.iter())
    }

    /// Returns the path of the file that defines a profile.
    pub(super) fn profile_path(&self, id: &str) -> Option<&str> {
        self.profiles.as_ref()?.path(id)
    }

    /// Whether an agent's prompts contain the contents of the boards.
    pub(super) fn shares_workspace(&self, agent: &Agent) -> bool {
        self.profile(agent).is_none_or(|profile| profile.share_workspace_info)
    }

    /// Returns an author's name as used in prompts.
    pub(super) fn name_of(&self, author: &str) -> Id {
        let agent = self.roster.key(author).and_then(|key| self.agent(key));
        match agent {
            Some((agent, _)) => display_name(agent),
            None if Author(author.into()).is_user() => PERSON.into(),
            None => author.into(),
        }
    }

    /// Returns the text of an element as an agent sees it.
    pub(super) fn text_for(&self, agent: &Agent, held: &HeldContent) -> String {
        held.0.prompt_text(&Reader { id: &agent.id, called: &|author| self.plain_name_of(author) })
    }

    /// Returns the summary of an element for an agent's memory.
    pub(super) fn summary_for(&self, agent: &Agent, held: &HeldContent, max_chars: usize) -> String {
        held.0.summary(&Reader { id: &agent.id, called: &|author| self.plain_name_of(author) }, max_chars)
    }

    /// Returns an author's name for use within a line, with nothing in it that could end the name or the line.
    fn plain_name_of(&self, author: &str) -> Id {
        name(&self.name_of(author)).as_ref().into()
    }

    /// Returns the names of the other participants of a conversation.
    pub(super) fn others_in(&self, conversation: &Conversation, me: AgentKey) -> Vec<Id> {
        let others = conversation.participants.iter().filter(|other| **other != me);
        others.filter_map(|other| Some(display_name(self.agent(*other)?.0))).collect()
    }

    /// Returns the names of all other agents in the room.
    pub(super) fn names_beside(&self, agent: &Agent) -> Vec<Id> {
        let others = self.roster.iter().filter(|(key, _)| *key != agent.key);
        others.filter_map(|(_, entity)| Some(display_name(self.agents.get(entity).ok()?.0))).collect()
    }

    /// Collects the context for a request.
    pub(super) fn context(
        &self,
        agent: &Agent,
        session: &Session,
        feedback: &Feedback,
        moment: CurrentRequest,
    ) -> MindContext {
        let memory = self.agent(agent.key).map(|(_, memory)| memory);
        let here = self.position(agent);
        let reading = match &moment {
            CurrentRequest::Read { label, .. } => Some(label.clone()),
            _ => None,
        };
        let texts = |wanted: fn(&str) -> bool| {
            self.all_elements().filter(move |(element, _)| wanted(&element.kind)).map(|(element, held)| LabelledText {
                id: element.id.clone(),
                label: element.label.clone(),
                text: self.text_for(agent, held),
            })
        };
        MindContext {
            rulebooks: texts(is_rulebook).collect(),
            who: self.who(agent),
            place: self.surroundings(agent, here),
            abilities: self.abilities(agent),
            calls_acts: false,
            desk: WorkEnvironment::default(),
            memory: memory.map(|memory| self.remembered(agent, memory, reading.as_ref())).unwrap_or_default(),
            kept_pins: memory.map(|memory| self.kept_pins(memory)).unwrap_or_default(),
            boards: texts(is_board).filter(|board| Some(&board.label) != reading.as_ref()).collect(),
            mail: self.mail(agent),
            feedback: feedback.lines().to_vec(),
            gathered: BTreeMap::new(),
            history: session.messages.clone(),
            moment,
            max_chars: self.settings.max_prompt_chars,
            summary_tokens: self.memory_settings.max_summary_tokens,
        }
    }

    fn body(&self, agent: &Agent) -> Option<(Option<&Position>, Option<&AgentState>)> {
        self.bodies.get(self.roster.entity(agent.key)?).ok()
    }

    /// Returns an agent's position, or its start position before it has one.
    fn position(&self, agent: &Agent) -> Vec2 {
        self.body(agent).and_then(|(position, _)| position).map_or(agent.start, |position| position.0)
    }

    /// Returns an agent's activity as others see it.
    fn activity_text(&self, agent: &Agent) -> String {
        let Some(state) = self.body(agent).and_then(|(_, state)| state) else { return String::new() };
        let words = match state.0.state() {
            State::Idle | State::Cooldown => "resting",
            State::Wandering => "walking around",
            State::Patrolling => "patrolling",
            State::Conversing => return self.talking(agent),
            State::Dragged => "being carried",
            State::Heartbeat => "looking around",
            State::Reading => "reading",
            State::Working => "busy with a task",
            State::Waiting => "waiting for a decision",
            State::Paused => "paused",
            State::Error => "stuck",
        };
        words.to_owned()
    }

    fn talking(&self, agent: &Agent) -> String {
        let with = self.conversations.iter().find(|one| one.participants.contains(&agent.key));
        let others = with.map(|conversation| self.others_in(conversation, agent.key)).unwrap_or_default();
        let names: Vec<_> = others.iter().map(|other| name(other)).collect();
        if names.is_empty() { "talking".to_owned() } else { format!("talking with {}", names.join(", ")) }
    }

    /// Returns the environment of a working agent.
    pub(super) fn work_environment(&self, agent: &Agent, tools: Vec<String>) -> WorkEnvironment {
        let others = self.roster.iter().filter(|(key, _)| *key != agent.key).take(self.settings.max_near * 2);
        let colleague = |(_, entity)| {
            let (other, _) = self.agents.get(entity).ok()?;
            let description = self.profile(other).map(|profile| profile.description.clone()).unwrap_or_default();
            Some(Colleague { name: display_name(other), profile: other.profile.clone(), description })
        };
        let skills = self.skills_of(agent, &tools);
        let modules = self.added.as_deref().map(|added| added.of(&agent.profile).to_owned()).unwrap_or_default();
        WorkEnvironment {
            tools,
            people: others.filter_map(colleague).collect(),
            skills,
            modules,
            ..WorkEnvironment::default()
        }
    }

    /// Returns the list of skills for an agent's prompt; empty if none of its tools can read files.
    fn skills_of(&self, agent: &Agent, tools: &[String]) -> String {
        let read = tools.iter().find(|tool| FILE_READING_TOOLS.contains(&tool.as_str()));
        let found = self.skills.as_deref().zip(read).zip(self.profiles.as_deref());
        let listed = found.and_then(|((skills, read), profiles)| {
            let path = profiles.path(&agent.profile)?;
            // For tools other than the workshop's own, paths are relative to the agent's folder.
            let folder = folder_of_agent(path).filter(|_| *read != FILE_READING_TOOLS[0]).unwrap_or_default();
            Some(skills.listing(path, profiles.get(&agent.profile)?, (read, folder)))
        });
        listed.unwrap_or_default()
    }

    fn who(&self, agent: &Agent) -> AgentIdentity {
        let profile = self.profile(agent);
        AgentIdentity {
            name: agent.name.clone(),
            description: profile.map(|profile| profile.description.clone()).unwrap_or_default(),
            instructions: profile.map(|profile| profile.instructions.clone()).unwrap_or_default(),
            share_workspace_info: self.shares_workspace(agent),
            share_user_info: profile.is_some_and(|profile| profile.share_user_info),
            person: self.settings.person.clone(),
        }
    }

    fn surroundings(&self, agent: &Agent, here: Vec2) -> Surroundings {
        let in_sight = |place: Vec2| {
            let distance = here.distance(place);
            (distance <= self.settings.near_units).then_some(distance)
        };
        let at_most = self.settings.max_near;
        let mut people: Vec<(f32, &Agent)> = self
            .agents_near(agent, here, self.settings.near_units)
            .into_iter()
            .filter_map(|other| self.agent(other))
            .filter_map(|(other, _)| Some((in_sight(self.position(other))?, other)))
            .collect();
        people.sort_by(|(a, one), (b, other)| a.total_cmp(b).then(one.key.cmp(&other.key)));
        let mut things: Vec<(f32, &Element)> =
            self.all_elements().filter_map(|(element, _)| Some((in_sight(element.position)?, element))).collect();
        things.sort_by(|(a, one), (b, other)| a.total_cmp(b).then(one.key.cmp(&other.key)));
        let at = things.first().filter(|(distance, _)| *distance <= self.settings.at_units);
        let describe = |(_, other): &(f32, &Agent)| NearbyAgent {
            name: display_name(other),
            profile: other.profile.clone(),
            doing: self.activity_text(other).to_owned(),
        };
        Surroundings {
            at: at.map(|(_, element)| element.label.clone()),
            people: people.iter().take(at_most).map(describe).collect(),
            things: things.iter().take(at_most).map(|(_, element)| element.label.clone()).collect(),
            time: self.date.in_words(&self.clock).unwrap_or_default(),
        }
    }

    /// Returns the other agents that may be within `radius`, a superset found without visiting the whole room.
    fn agents_near(&self, agent: &Agent, here: Vec2, radius: f32) -> Vec<AgentKey> {
        let mut others: Vec<AgentKey> = match &self.space {
            Some(space) => space.agents_within(here, radius + MAX_STEP_UNITS),
            None => self.roster.iter().map(|(key, _)| key).collect(),
        };
        others.retain(|other| *other != agent.key);
        others
    }

    /// Returns an agent's abilities. They do not depend on its position, so that this part of its prompts seldom
    /// changes.
    fn abilities(&self, agent: &Agent) -> Abilities {
        let pinboards = self.all_elements().filter(|(_, held)| held.0.pins().is_some());
        let pinboards = pinboards.map(|(element, _)| element.label.clone()).take(self.settings.max_near);
        let inboxes = self.first_inboxes();
        // Without inboxes there is no need to visit the agents.
        let everyone = self.roster.iter().take(if inboxes.is_empty() { 0 } else { usize::MAX });
        let others = everyone.filter(|(key, _)| *key != agent.key);
        let others = others.filter_map(|(_, entity)| self.agents.get(entity).ok());
        let reachable = others.filter(|(other, _)| first_inbox_of(&inboxes, other).is_some());
        let addressees = reachable.map(|(other, _)| display_name(other)).take(self.settings.max_near * 2).collect();
        let mut markers: Vec<MarkerLine> = Vec::new();
        for (element, _) in self.all_elements().filter(|(element, _)| !self.is_closed_to(element, agent)) {
            for (_, marker) in kind(&element.kind).into_iter().flat_map(Kind::markers) {
                let line = MarkerLine { word: marker.word.into(), purpose: marker.purpose.into() };
                if !markers.contains(&line) {
                    markers.push(line);
                }
            }
        }
        let has_inbox = first_inbox_of(&inboxes, agent).is_some();
        Abilities { pinboards: pinboards.collect(), addressees, has_inbox, markers }
    }

    /// Returns the first inbox of each owner, whether agent or profile.
    fn first_inboxes(&self) -> BTreeMap<&Id, &Element> {
        let mut inboxes = BTreeMap::new();
        for (element, _) in self.all_elements().filter(|(element, _)| is_private(&element.kind)) {
            if let Some(owner) = &element.owner {
                inboxes.entry(owner).or_insert(element);
            }
        }
        inboxes
    }

    /// Whether an agent may not read an element.
    pub(super) fn is_closed_to(&self, element: &Element, agent: &Agent) -> bool {
        is_private(&element.kind) && !owns(element.owner.as_ref(), agent)
    }

    /// Returns the inboxes of an agent.
    pub(super) fn inboxes_of(&self, agent: &Agent) -> impl Iterator<Item = (&Element, &HeldContent)> {
        self.all_elements().filter(move |(element, _)| is_private(&element.kind) && owns(element.owner.as_ref(), agent))
    }

    fn mail(&self, agent: &Agent) -> Vec<MailItem> {
        let mut mail: Vec<MailItem> = self.inboxes_of(agent).flat_map(|(_, held)| open_mail(&*held.0)).collect();
        for item in &mut mail {
            item.from = self.name_of(&item.from);
        }
        // Unread mail comes first, the oldest first; then the rest, the newest first.
        let (mut unread, read): (Vec<_>, Vec<_>) = mail.into_iter().partition(|item| !item.read);
        unread.extend(read.into_iter().rev());
        unread
    }

    /// Returns an agent's memory slots for a prompt; `reading` is the label of the element that is being read.
    fn remembered(&self, agent: &Agent, memory: &Memory, reading: Option<&Id>) -> Remembered {
        let seen = memory.environment_state.iter().filter_map(|(key, seen)| {
            let (element, _) = self.element(*key)?;
            // Rules, message boards and mail have parts of their own, and the element being read is in the prompt in
            // full.
            let is_told = is_rulebook(&element.kind) || is_private(&element.kind) || is_board(&element.kind);
            (!is_told && Some(&element.label) != reading).then(|| (element.label.clone(), seen.summary.clone()))
        });
        Remembered {
            summary: memory.context_summary.clone(),
            notes: memory.workspace_notes.clone(),
            interactions: memory.recent_interactions.clone(),
            seen: seen.collect(),
            recallable: self.counts.of(&agent.id),
        }
    }

    fn kept_pins(&self, memory: &Memory) -> Vec<KeptPin> {
        let kept = memory.kept_pins.iter().filter_map(|(key, id)| {
            let (element, held) = self.element(*key)?;
            let pin = pins(&*held.0).into_iter().find(|pin| pin.id == *id)?;
            Some(KeptPin {
                id: pin.id,
                board: element.label.clone(),
                author: self.name_of(&pin.author),
                text: pin.text,
            })
        });
        kept.collect()
    }

    /// Returns the situation in which an agent's intents are carried out. `shown` is the unread mail in its prompt, by
    /// inbox.
    pub(super) fn situation(&self, agent: &Agent, memory: &Memory, shown: &[(Id, Vec<Id>)]) -> Situation {
        let here = self.position(agent);
        let mut boards: Vec<(&Element, &HeldContent)> =
            self.all_elements().filter(|(_, held)| held.0.pins().is_some()).collect();
        boards.sort_by(|(one, _), (other, _)| by_distance(here, one, other));
        let boards = boards.into_iter().map(|(element, held)| BoardInReach {
            key: element.key,
            id: element.id.clone(),
            pins: pins(&*held.0).into_iter().map(|pin| pin.id).collect(),
        });
        let inboxes = self.first_inboxes();
        let everyone = self.roster.iter().filter_map(|(_, entity)| self.agents.get(entity).ok());
        let addressees = everyone.map(|(other, _)| Addressee {
            id: other.id.clone(),
            name: display_name(other),
            profile: other.profile.clone(),
            inbox: first_inbox_of(&inboxes, other).map(|inbox| inbox.id.clone()),
        });
        Situation {
            agent: agent.id.clone(),
            boards: boards.collect(),
            addressees: addressees.collect(),
            kept: memory.kept_pins.clone(),
            marked: self.marked(agent, here),
            mail: self.seen_mail(agent, shown),
            in_talk: false,
        }
    }

    /// Returns the elements that an agent can act on by markers of their kinds, nearest first.
    fn marked(&self, agent: &Agent, here: Vec2) -> Vec<MarkedElement> {
        let mut open: Vec<&Element> = self.all_elements().map(|(element, _)| element).collect();
        open.retain(|element| !self.is_closed_to(element, agent));
        open.sort_by(|one, other| by_distance(here, one, other));
        let marked = open.into_iter().flat_map(|element| {
            let markers = kind(&element.kind).into_iter().flat_map(Kind::markers);
            markers.map(|(act, marker)| MarkedElement { id: element.id.clone(), act, marker })
        });
        marked.collect()
    }

    fn seen_mail(&self, agent: &Agent, shown: &[(Id, Vec<Id>)]) -> Vec<SeenMail> {
        let mut seen = Vec::new();
        for (element, held) in self.inboxes_of(agent) {
            let now = shown.iter().find(|(inbox, _)| *inbox == element.id).map_or(&[][..], |(_, ids)| ids);
            let mail = open_mail(&*held.0).into_iter().filter(|item| item.read || now.contains(&item.id));
            seen.extend(mail.map(|item| SeenMail { inbox: element.id.clone(), id: item.id, from: item.from }));
        }
        seen
    }

    /// Returns the request to read an element.
    pub(super) fn read_request(&self, agent: &Agent, element: &Element, held: &HeldContent) -> CurrentRequest {
        let kind = kind_name(&element.kind);
        if is_private(&element.kind) {
            return CurrentRequest::ReadMail { label: element.label.clone(), kind, mail: Vec::new() };
        }
        let text = self.text_for(agent, held);
        let news = self.news(agent, element, held);
        let new = news.as_ref().and_then(|news| new_item_lines(&text, news));
        let is_told = |id: &Id| new.is_none() || news.iter().flatten().any(|item| item.id == *id);
        let mut pins = pins(&*held.0);
        pins.retain(|pin| is_told(&pin.id));
        for pin in pins.iter_mut().filter(|pin| pin.author != agent.id) {
            pin.author = self.name_of(&pin.author);
        }
        CurrentRequest::Read { label: element.label.clone(), kind, text, new, pins }
    }

    /// Returns the changes of others to an element since an agent last read it; `None` if the whole element counts as
    /// new.
    pub(super) fn news(&self, agent: &Agent, element: &Element, held: &HeldContent) -> Option<Vec<NewItem>> {
        let (_, memory) = self.agent(agent.key)?;
        let seen = memory.environment_state.get(&element.key)?.version;
        let changes = self.recent.as_ref()?.since(element.key, seen)?;
        let mut news: Vec<NewItem> = Vec::new();
        for change in changes.filter(|change| change.by.0 != agent.id) {
            // A change without an item concerns the whole text.
            let id = change.change.item()?;
            let declared = kind(&element.kind).and_then(|kind| kind.change(&change.change));
            let Some(what) = declared.and_then(|change| change.news) else { continue };
            let was_new = news.iter().any(|item| item.id == *id && item.change == ItemNews::Added);
            if what == ItemNews::Removed {
                news.retain(|item| item.id != *id);
            }
            // Items added and removed in the meantime are skipped, and later changes to a new item are part of it.
            if was_new {
                continue;
            }
            let text = held.0.item(id).map(|(_, text)| text.to_owned()).unwrap_or_default();
            let item = NewItem { id: id.clone(), change: what, by: self.name_of(&change.by.0), text };
            if !news.contains(&item) {
                news.push(item);
            }
        }
        Some(news)
    }

    /// Returns the request for a turn in a conversation.
    pub(super) fn talk_request(&self, agent: &Agent, conversation: &Conversation) -> CurrentRequest {
        let lines = |said: &[Utterance]| said.iter().map(|utterance| self.line(utterance)).collect();
        let earlier = match conversation.participants.iter().find(|other| **other != agent.key) {
            Some(other) if conversation.participants.len() == 2 => self.conversations.earlier(agent.key, *other),
            _ => &[],
        };
        CurrentRequest::Talk {
            with: self.others_in(conversation, agent.key),
            topic: conversation.topic.clone(),
            earlier: lines(earlier),
            said: lines(&conversation.said),
            turn: conversation.turns_taken + 1,
            turns: conversation.turns_at_most,
        }
    }

    /// Returns the request that tells the agent why it was woken.
    pub(super) fn woken_request(&self, interest: &Interest) -> CurrentRequest {
        let quotes = interest.moment.quotes.iter().map(|quote| {
            let by_person = Author(quote.by.clone()).is_user();
            Line { by: self.name_of(&quote.by), text: quote.text.clone(), by_person }
        });
        CurrentRequest::Woken {
            why: interest.why.sentence.clone(),
            ask: interest.moment.ask.clone(),
            quotes: quotes.collect(),
            left_out: interest.moment.quotes_left_out,
        }
    }

    fn line(&self, utterance: &Utterance) -> Line {
        let Author(by) = &utterance.by;
        Line { by: self.name_of(by), text: utterance.text.clone(), by_person: utterance.by.is_user() }
    }
}

/// Returns the context of the next work request of an agent, to inspect its prompt without calling a model. `None` if
/// there is no such agent.
pub fn context_at_work(world: &mut World, agent: AgentKey) -> Option<MindContext> {
    world.run_system_cached_with(context_of, agent).ok().flatten()
}

fn context_of(In(agent): In<AgentKey>, room: RoomParams, minds: Query<(&Session, &Feedback)>) -> Option<MindContext> {
    let (session, feedback) = minds.get(room.roster.entity(agent)?).ok()?;
    Some(room.context(room.agent(agent)?.0, session, feedback, CurrentRequest::Work))
}

/// Returns the lines of the new or changed items in an element's text; `None` if there are none.
fn new_item_lines(text: &str, news: &[NewItem]) -> Option<String> {
    let heads: Vec<String> = news.iter().map(|item| format!("{} (", one_line(&item.id))).collect();
    let mut is_new = false;
    let lines = text.lines().filter(|line| {
        // The further lines of an item are indented.
        if !line.starts_with(' ') {
            is_new = heads.iter().any(|head| line.starts_with(head.as_str()));
        }
        is_new
    });
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|new| !new.is_empty())
}

/// Returns an agent's name in prompts, with a suffix if it could be mistaken for the person or the room.
fn display_name(agent: &Agent) -> Id {
    let reserved = ["user", "the user", "person", "the person", "human", "you", "room", "system", "assistant", "tool"];
    let folded = one_line(&agent.name).to_lowercase();
    if reserved.contains(&folded.as_str()) { format!("{} (an agent)", agent.name).into() } else { agent.name.clone() }
}

fn first_inbox_of<'a>(inboxes: &BTreeMap<&Id, &'a Element>, agent: &Agent) -> Option<&'a Element> {
    let of = |owner: &Id| inboxes.get(owner).copied();
    // The first of the agent's own and its profile's inboxes.
    of(&agent.id).into_iter().chain(of(&agent.profile)).min_by_key(|inbox| inbox.key)
}

fn by_distance(here: Vec2, one: &Element, other: &Element) -> std::cmp::Ordering {
    let distance = |element: &Element| here.distance_squared(element.position);
    distance(one).total_cmp(&distance(other)).then(one.key.cmp(&other.key))
}

pub(super) fn is_rulebook(word: &str) -> bool {
    kind(word).is_some_and(|kind| kind.standing_instructions)
}

pub(super) fn is_private(word: &str) -> bool {
    kind(word).is_some_and(|kind| kind.private)
}

fn is_board(word: &str) -> bool {
    kind(word).is_some_and(|kind| kind.in_every_prompt)
}

fn kind_name(word: &str) -> String {
    match kind(word) {
        Some(kind) => kind.name.to_owned(),
        None => word.to_owned(),
    }
}
