//! Details that are only read when they are shown: of inspected agents, and of the readers of an element.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bevy::ecs::change_detection::{DetectChanges, Tick as ChangeTick};
use bevy::ecs::prelude::*;
use bevy::platform::collections::HashSet;

use super::camera::Camera;
use super::chat::Chats;
use super::model::{AgentDetail, AgentView, ElementReaders, KnownElement, ProfileFacts, ReaderView, RoomModel};
use super::pick::RoomObject;
use crate::agent::{Agent, Profiles, Roster};
use crate::base::text::truncate;
use crate::base::{AgentKey, ElementKey, Id};
use crate::element::kinds::kind;
use crate::element::{Element, Elements, owns};
use crate::gateway::{GatewaySettings, LiveText, RequestQueue};
use crate::kernel::Kernel;
use crate::memory::Memory;
use crate::mind::{LastPrompt, Session};
use crate::schedule::SimClock;
use crate::simulation::{Action, Activity, AgentState, Home, Queue};
use crate::tools::Tools;

/// Maximum number of visible agents with details while the overlay is on.
const MAX_DETAILED: usize = 120;

/// Maximum number of elements whose readers are looked up at once: the selected or hovered ones, not a whole box
/// selection.
const ELEMENTS_KNOWN: usize = 2;
/// Interval at which readers are looked up while the element does not change, in ticks.
const KNOWN_TICKS: u64 = 15;
/// The maximum length of the reason why a queued action waits, in characters.
const WAIT_CHARS: usize = 200;

/// The things whose details are to be read.
pub struct DetailRequest<'a> {
    /// The camera.
    pub camera: &'a Camera,
    /// Everything that is selected or hovered.
    pub things: &'a BTreeSet<RoomObject>,
    /// Whether the overlay is on, which shows details of all visible agents.
    pub overlay: bool,
    /// The share of the time from the last tick to the next that has passed, from 0 to 1.
    pub share: f32,
}

/// Details kept between frames.
#[derive(Default)]
pub(super) struct DetailCache {
    chats: Chats,
    profiles: Option<(ChangeTick, BTreeMap<Id, Arc<ProfileFacts>>)>,
    known: BTreeMap<Id, (ReadersVersion, Arc<ElementReaders>)>,
}

/// When readers were looked up: version of the element, time in units of `KNOWN_TICKS`, and number of agents.
type ReadersVersion = (u32, u64, usize);

type Parts<'a> = (&'a Agent, &'a AgentState, &'a Queue, &'a Activity, &'a Home);

impl DetailCache {
    /// Reads details of selected and hovered agents, and with the overlay on of the visible agents nearest to the
    /// centre.
    pub(super) fn update(&mut self, world: &World, wanted: &DetailRequest, room: &mut RoomModel) {
        let roster = world.resource::<Roster>();
        let close: BTreeSet<&Id> = wanted.things.iter().filter_map(RoomObject::agent).collect();
        self.chats.retain(&close);
        let close: HashSet<AgentKey> = close.into_iter().filter_map(|id| roster.key(id)).collect();
        let (low, high) = wanted.camera.visible(0.0);
        let is_seen = |agent: &AgentView| agent.position.cmpge(low).all() && agent.position.cmple(high).all();
        let mut chosen: Vec<(bool, f32, usize)> = Vec::new();
        for (index, agent) in room.agents.iter().enumerate() {
            let is_close = close.contains(&agent.key);
            if is_close || (wanted.overlay && is_seen(agent)) {
                chosen.push((!is_close, agent.position.distance_squared(wanted.camera.middle), index));
            }
        }
        let at_most = close.len() + MAX_DETAILED;
        if chosen.len() > at_most {
            let order = |one: &(bool, f32, usize), other: &(bool, f32, usize)| {
                one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(one.2.cmp(&other.2))
            };
            chosen.select_nth_unstable_by(at_most, order);
            chosen.truncate(at_most);
        }
        for (is_far, _, index) in chosen {
            let Some(entity) = roster.entity(room.agents[index].key).and_then(|entity| world.get_entity(entity).ok())
            else {
                continue;
            };
            if let Ok(parts) = entity.get_components::<(&Agent, &AgentState, &Queue, &Activity, &Home)>() {
                let detail = self.detail(world, entity, parts, room, !is_far);
                room.agents[index].detail = Some(Arc::new(detail));
            }
        }
    }

    /// The details of an agent; chat and profile only if it is selected or hovered (`is_close`).
    fn detail(
        &mut self,
        world: &World,
        entity: EntityRef,
        parts: Parts,
        room: &RoomModel,
        is_close: bool,
    ) -> AgentDetail {
        let (agent, ..) = parts;
        let detail = detail(world, entity, parts, room);
        if !is_close {
            return detail;
        }
        let chat = Some(self.chats.read(world, entity, &agent.id));
        AgentDetail { chat, profile: self.profile(world, &agent.profile), ..detail }
    }

    fn profile(&mut self, world: &World, id: &Id) -> Option<Arc<ProfileFacts>> {
        let profiles = world.get_resource_ref::<Profiles>()?;
        let now = profiles.last_changed();
        if self.profiles.as_ref().is_none_or(|(made, _)| *made != now) {
            self.profiles = Some((now, BTreeMap::new()));
        }
        let (_, known) = self.profiles.as_mut()?;
        if let Some(facts) = known.get(id) {
            return Some(facts.clone());
        }
        let facts = Arc::new(profile_facts(world.resource::<Tools>(), &profiles, id)?);
        known.insert(id.clone(), facts.clone());
        Some(facts)
    }

    /// The readers of the elements among these things, by element id.
    pub(super) fn known(&mut self, world: &World, things: &BTreeSet<RoomObject>) -> BTreeMap<Id, Arc<ElementReaders>> {
        let ids: Vec<&Id> = things
            .iter()
            .filter_map(|thing| match thing {
                RoomObject::Element(id) => Some(id),
                RoomObject::Agent(_) => None,
            })
            .collect();
        self.known.retain(|id, _| ids.contains(&id));
        if ids.len() > ELEMENTS_KNOWN {
            return BTreeMap::new();
        }
        let elements = world.resource::<Elements>();
        let agents = world.resource::<Roster>().len();
        let time = world.resource::<SimClock>().tick() / KNOWN_TICKS;
        for id in ids {
            let element = elements.key(id).and_then(|key| elements.entity(key));
            let Some(element) = element.and_then(|entity| world.get::<Element>(entity)) else { continue };
            let moment = (element.version, time, agents);
            if self.known.get(id).is_none_or(|(of, _)| *of != moment) {
                self.known.insert(id.clone(), (moment, Arc::new(known_by(world, element))));
            }
        }
        self.known.iter().map(|(id, (_, known))| (id.clone(), known.clone())).collect()
    }
}

fn profile_facts(tools: &Tools, profiles: &Profiles, id: &Id) -> Option<ProfileFacts> {
    let profile = profiles.get(id)?;
    let file = profiles.path(id).map_or_else(|| format!("agents/{id}.md"), str::to_owned);
    let (authority, _) = tools.authority(&file, profile);
    Some(ProfileFacts {
        file,
        description: profile.description.clone(),
        model: profile.model.clone().unwrap_or_default(),
        tools: authority.tools.into_iter().collect(),
        safety: authority.safety.as_str().to_owned(),
        reads: authority.reads,
        writes: authority.writes,
    })
}

fn known_by(world: &World, element: &Element) -> ElementReaders {
    let is_private = kind(&element.kind).is_some_and(|kind| kind.private);
    let is_owner = |agent: &Agent| owns(element.owner.as_ref(), agent);
    let agents = world.resource::<Roster>().iter().filter_map(|(_, entity)| {
        let entity = world.get_entity(entity).ok()?;
        let agent = entity.get::<Agent>()?;
        let seen = entity.get::<Memory>().and_then(|memory| memory.environment_state.get(&element.key));
        if is_private && seen.is_none() && !is_owner(agent) {
            return None;
        }
        Some((agent.id.clone(), agent.name.clone(), seen.map(|seen| (seen.version, seen.last_read))))
    });
    readers(element.version, agents)
}

/// Groups agents by the version they know: the newest, an older one, or none. The tuple in `agents` is id, name, and
/// the version and tick of the last reading.
fn readers(version: u32, agents: impl IntoIterator<Item = (Id, Id, Option<(u32, u64)>)>) -> ElementReaders {
    let knows = |seen| match seen {
        None => KnownElement::Nothing,
        Some((seen, read_tick)) if seen == version => KnownElement::Newest { read_tick },
        Some((version, read_tick)) => KnownElement::Older { version, read_tick },
    };
    let readers = agents.into_iter().map(|(agent, name, seen)| ReaderView { agent, name, knows: knows(seen) });
    let mut readers: Vec<ReaderView> = readers.collect();
    let rank = |knows| match knows {
        KnownElement::Newest { .. } => 0,
        KnownElement::Older { .. } => 1,
        KnownElement::Nothing => 2,
    };
    readers.sort_by(|one, other| {
        (rank(one.knows), &one.name, &one.agent).cmp(&(rank(other.knows), &other.name, &other.agent))
    });
    ElementReaders { version, readers }
}

fn detail(world: &World, entity: EntityRef, parts: Parts, room: &RoomModel) -> AgentDetail {
    let (agent, state, queue, activity, home) = parts;
    let profile = world.resource::<Profiles>().get(&agent.profile);
    let model = profile.and_then(|profile| profile.model.as_deref());
    let answered_by = world.resource::<RequestQueue>().choose(world.resource::<GatewaySettings>(), model);
    let session = entity.get::<Session>();
    let live = world.resource::<LiveText>();
    AgentDetail {
        why: state.0.why().to_owned(),
        behaviour: activity.behaviour,
        home: home.0,
        queue: queue.0.iter().map(|queued| queued_label(&queued.action, activity, world, room)).collect(),
        tasks: tasks_of(world, &agent.id),
        memory: entity.get::<Memory>().cloned().unwrap_or_default(),
        session: session.map_or((0, 0), |session| (session.turns as usize, session.tokens())),
        spent: world.resource::<RequestQueue>().ledger().agent(&agent.id),
        last_prompt: entity.get::<LastPrompt>().map(|last| last.0.clone()).filter(|prompt| !prompt.system.is_empty()),
        live_text: live.iter().find(|(id, _)| **id == agent.id).map(|(_, text)| text.to_owned()),
        answered_by: answered_by
            .map_or_else(|problem| problem.what, |choice| provider_label(&choice.provider, &choice.model)),
        chat: None,
        profile: None,
    }
}

/// The tasks that wait for an agent, oldest first.
fn tasks_of(world: &World, agent: &Id) -> Vec<String> {
    let Some(kernel) = world.get_resource::<Kernel>() else { return Vec::new() };
    let waiting = kernel.activations().filter(|one| one.agent == *agent && one.activity.is_none());
    waiting.map(|one| one.input.clone()).collect()
}

pub(super) fn provider_label(provider: &str, model: &str) -> String {
    if provider == model { provider.to_owned() } else { format!("{provider} · {model}") }
}

/// A queued action, with the reason if it waits until a model can be called.
fn queued_label(action: &Action, activity: &Activity, world: &World, room: &RoomModel) -> String {
    let label = action_label(action, world, room);
    match activity.wait_of(action) {
        Some(why) => format!("{label} (waits for its model: {})", truncate(why, WAIT_CHARS)),
        None => label,
    }
}

fn action_label(action: &Action, world: &World, room: &RoomModel) -> String {
    let label = |key: ElementKey| room.element_of(key).map_or("a deleted item", |element| &*element.label);
    match action {
        Action::CompactContext => "sum up what it knows".to_owned(),
        Action::ReadElement { element, high: true } => format!("read {} (soon)", label(*element)),
        Action::ReadElement { element, high: false } => format!("read {}", label(*element)),
        Action::SeekInfo { element } => format!("look at {}", label(*element)),
        Action::Attend(pending) => format!("turn to {}: {}", pending.interest.why.word, pending.interest.why.sentence),
        Action::ApproachAgent { agent } => {
            let roster = world.resource::<Roster>();
            let name =
                roster.entity(*agent).and_then(|entity| world.get::<Agent>(entity)).map(|agent| agent.name.clone());
            format!("go and tell {}", name.as_deref().unwrap_or("someone who left"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_are_sorted_by_the_version_they_know() {
        let agent = |name: &str, seen| (Id::from(name), Id::from(name), seen);
        let known = readers(
            3,
            [
                agent("zoe", Some((3, 40))),
                agent("ada", None),
                agent("bram", Some((2, 90))),
                agent("cleo", Some((3, 7))),
            ],
        );
        let actual: Vec<(&str, KnownElement)> =
            known.readers.iter().map(|reader| (&*reader.name, reader.knows)).collect();
        let wanted = [
            ("cleo", KnownElement::Newest { read_tick: 7 }),
            ("zoe", KnownElement::Newest { read_tick: 40 }),
            ("bram", KnownElement::Older { version: 2, read_tick: 90 }),
            ("ada", KnownElement::Nothing),
        ];
        assert_eq!(actual, wanted);
        assert_eq!(known.counts(), [2, 1, 1]);
        assert_eq!(readers(0, []).counts(), [0; 3]);
    }
}
