//! Extracts the room from the world, once per frame: the only place where the UI reads the ECS.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy::ecs::change_detection::{DetectChanges, Tick as ChangeTick};
use bevy::ecs::prelude::*;
use bevy::platform::collections::HashMap;

use super::agent_cache::AgentCache;
use super::collaboration::CollaborationView;
pub use super::details::DetailRequest;
use super::details::{DetailCache, provider_label};
use super::model::{
    AgentView, ContentView, DecorView, ElementView, MailView, PinView, ProfileView, RelationshipView, RoomModel,
    ServerView, SettingsView, TalkView, TasksView, look_of,
};
use super::work::WorkView;
use super::workflows::{WorkflowReader, WorkflowsView};
use crate::agent::{Agent, AgentSettings, Profiles, Roster};
use crate::base::paths::file_name;
use crate::base::{AgentKey, ElementKey, Id, Problem};
use crate::element::{Element, Elements, HeldContent, Mail};
use crate::gateway::mcp::configured_servers::ConfiguredServer;
use crate::gateway::{
    BudgetSettings, GatewayEnvironment, GatewaySettings, McpServers, ProviderFault, ProviderHealth, RequestQueue,
};
use crate::log::AddedEvents;
use crate::orchestration::workflow::{WorkflowRuns, Workflows};
use crate::orchestration::{Blackboards, BoardArchive, BoardChannels, Channels};
use crate::schedule::SimClock;
use crate::simulation::settings::ConversationSettings;
use crate::simulation::{Conversations, conversations_enabled, relationships};
use crate::tools::document_runtime::{DocumentRunner, DocumentSettings};
use crate::workspace::{KnownFiles, Problems, RoomStart, SceneState, SettingsSections, WorkspaceTrust};

/// State that the UI keeps between frames of one room.
#[derive(Default)]
pub struct RoomExtractor {
    agents_cache: AgentCache,
    details_cache: DetailCache,
    contents: BTreeMap<ElementKey, (ChangeTick, Arc<ContentView>)>,
    profiles: Shared<Vec<ProfileView>>,
    scenes: Shared<Vec<String>>,
    decor: Shared<Vec<DecorView>>,
    problems: Shared<Vec<Problem>>,
    files: Shared<Vec<String>>,
    faults: Shared<Vec<ProviderFault>>,
    servers: Shared<Vec<ServerView>>,
    together: Shared<CollaborationView, [ChangeTick; 4]>,
    workflows: Shared<WorkflowsView, [ChangeTick; 2]>,
    workflow_reader: WorkflowReader,
}

/// A value that is derived from the world, shared by all frames until `When` changes.
type Shared<T, When = ChangeTick> = Option<(When, Arc<T>)>;

/// Returns the cached value, or creates a new one if it changed.
fn shared<T, When: PartialEq>(known: &mut Shared<T, When>, changed: When, make: impl FnOnce() -> T) -> Arc<T> {
    match known {
        Some((seen, made)) if *seen == changed => made.clone(),
        _ => {
            let made = Arc::new(make());
            *known = Some((changed, made.clone()));
            made
        }
    }
}

impl RoomExtractor {
    /// The current state of the room.
    pub fn read(&mut self, world: &mut World, wanted: &DetailRequest) -> RoomModel {
        let clock = world.resource::<SimClock>().clone();
        self.agents_cache.update(world, clock.tick());
        let start = world.get_resource::<RoomStart>();
        let scene = start.map(|start| stem(&start.scene).to_owned()).unwrap_or_default();
        let questions = world.resource::<RequestQueue>();
        let provider_override = questions.provider_override().map(str::to_owned);
        let provider = world
            .resource::<GatewaySettings>()
            .choose(provider_override.as_deref(), None)
            .map_or_else(|problem| problem.what, |choice| provider_label(&choice.provider, &choice.model));
        let mut room = RoomModel {
            tick: clock.tick(),
            speed: Some(clock.speed),
            paused: clock.paused,
            scene,
            spent: questions.ledger().run(),
            model_requests: (questions.waiting(), questions.in_flight()),
            cap_reached: questions.run_cap_reached().map(str::to_owned),
            cap_name: questions.reached_cap().map(|cap| cap.name.clone()),
            settings: settings_view(world),
            servers: self.servers(world),
            provider,
            is_restricted: world.get_resource::<WorkspaceTrust>().is_some_and(WorkspaceTrust::is_restricted),
            talk_on: conversations_enabled(world),
            spawn_above: world.get_resource::<AgentSettings>().and_then(AgentSettings::spawn_margin),
            problems: self.problems(world),
            scenes: self.scenes(world),
            files: self.files(world),
            work: WorkView::read(world),
            collaboration: self.together(world),
            workflows: self.workflows(world),
            added_events: world.get_resource::<AddedEvents>().cloned().unwrap_or_default(),
            ..RoomModel::default()
        };
        room.elements = self.elements(world);
        room.known = self.details_cache.known(world, wanted.things);
        room.decor = self.decor(world);
        room.conversations = talks(world);
        let (agents, agents_changed) = self.agents_cache.read(world, wanted.share, &room);
        room.agents = agents;
        self.details_cache.update(world, wanted, &mut room);
        room.provider_faults = self.provider_faults(world);
        room.failing_agents = failing_agents(world, &room.provider_faults);
        room.relationships = ties(world);
        room.profiles = self.profiles(world, &room.agents, agents_changed);
        room
    }

    /// Takes back the agents of the previous frame so that their allocations are reused.
    pub fn reuse(&mut self, agents: Vec<AgentView>) {
        self.agents_cache.reuse(agents);
    }

    fn elements(&mut self, world: &World) -> Vec<ElementView> {
        let directory = world.resource::<Elements>();
        let contents = &mut self.contents;
        contents.retain(|key, _| directory.entity(*key).is_some());
        let read = directory.iter().filter_map(|(key, entity)| {
            let entity = world.get_entity(entity).ok()?;
            let (element, held) = (entity.get::<Element>()?, entity.get_ref::<HeldContent>()?);
            let changed = held.last_changed();
            let known = contents.get(&key).filter(|(seen, _)| *seen == changed).map(|(_, content)| content.clone());
            let content = known.unwrap_or_else(|| {
                let content = Arc::new(content_of(&held));
                contents.insert(key, (changed, content.clone()));
                content
            });
            Some(ElementView {
                key,
                id: element.id.clone(),
                kind: element.kind.clone(),
                label: element.label.clone(),
                position: element.position,
                owner: element.owner.clone(),
                file: element.file.clone(),
                content,
            })
        });
        read.collect()
    }

    fn decor(&mut self, world: &World) -> Arc<Vec<DecorView>> {
        let Some(scene) = world.get_resource_ref::<SceneState>() else { return Arc::default() };
        shared(&mut self.decor, scene.last_changed(), || DecorView::all_of(&scene.doc.root))
    }

    fn profiles(&mut self, world: &World, agents: &[AgentView], agents_changed: bool) -> Arc<Vec<ProfileView>> {
        let Some(profiles) = world.get_resource_ref::<Profiles>() else { return Arc::default() };
        // Recount agents per profile if agents came or left.
        if agents_changed {
            self.profiles = None;
        }
        shared(&mut self.profiles, profiles.last_changed(), || {
            let mut counts: HashMap<&Id, usize> = HashMap::default();
            for agent in agents {
                *counts.entry(&agent.profile).or_default() += 1;
            }
            let count = |id: &Id| counts.get(id).copied().unwrap_or(0);
            let views = profiles.iter().map(|(id, profile)| ProfileView {
                id: id.clone(),
                name: profile.name.clone(),
                description: profile.description.clone(),
                file: profiles.path(id).unwrap_or_default().to_owned(),
                look: look_of(profile),
                agents: count(id),
            });
            views.collect()
        })
    }

    fn problems(&mut self, world: &World) -> Arc<Vec<Problem>> {
        let Some(problems) = world.get_resource_ref::<Problems>() else { return Arc::default() };
        shared(&mut self.problems, problems.last_changed(), || problems.iter().cloned().collect())
    }

    fn provider_faults(&mut self, world: &World) -> Arc<Vec<ProviderFault>> {
        let Some(health) = world.get_resource_ref::<ProviderHealth>() else { return Arc::default() };
        shared(&mut self.faults, health.last_changed(), || health.faults())
    }

    fn servers(&mut self, world: &World) -> Arc<Vec<ServerView>> {
        let Some(servers) = world.get_resource_ref::<McpServers>() else { return Arc::default() };
        shared(&mut self.servers, servers.last_changed(), || {
            let view = |written: &ConfiguredServer| ServerView {
                written: written.clone(),
                standing: servers.status(&written.key).clone(),
            };
            servers.configured().iter().map(view).collect()
        })
    }

    fn workflows(&mut self, world: &World) -> Arc<WorkflowsView> {
        let (files, runs) = (world.get_resource_ref::<Workflows>(), world.get_resource_ref::<WorkflowRuns>());
        let (Some(files), Some(runs)) = (files, runs) else { return Arc::default() };
        let changed = [files.last_changed(), runs.last_changed()];
        let reader = &mut self.workflow_reader;
        shared(&mut self.workflows, changed, || reader.read(world))
    }

    fn together(&mut self, world: &World) -> Arc<CollaborationView> {
        let (channels, boards) = (world.get_resource_ref::<Channels>(), world.get_resource_ref::<Blackboards>());
        let (Some(channels), Some(boards)) = (channels, boards) else { return Arc::default() };
        let kept = world.get_resource_ref::<BoardArchive>().map_or_else(Default::default, |kept| kept.last_changed());
        let shown =
            world.get_resource_ref::<BoardChannels>().map_or_else(Default::default, |shown| shown.last_changed());
        let changed = [channels.last_changed(), boards.last_changed(), kept, shown];
        shared(&mut self.together, changed, || CollaborationView::read(world))
    }

    fn files(&mut self, world: &World) -> Arc<Vec<String>> {
        let Some(files) = world.get_resource_ref::<KnownFiles>() else { return Arc::default() };
        shared(&mut self.files, files.last_changed(), || files.all().keys().cloned().collect())
    }

    fn scenes(&mut self, world: &World) -> Arc<Vec<String>> {
        let Some(files) = world.get_resource_ref::<KnownFiles>() else { return Arc::default() };
        shared(&mut self.scenes, files.last_changed(), || {
            let paths = files.all().keys().filter(|path| path.starts_with("scenes/"));
            paths.map(|path| stem(path).to_owned()).collect()
        })
    }
}

/// The agents whose provider fails. Computed only if there are faults.
fn failing_agents(world: &World, faults: &[ProviderFault]) -> BTreeMap<AgentKey, usize> {
    if faults.is_empty() {
        return BTreeMap::new();
    }
    let (settings, profiles) = (world.resource::<GatewaySettings>(), world.resource::<Profiles>());
    let questions = world.resource::<RequestQueue>();
    let provider_override = questions.provider_override();
    let failing = world.resource::<Roster>().iter().filter_map(|(key, entity)| {
        let agent = world.get::<Agent>(entity)?;
        let model = profiles.get(&agent.profile).and_then(|profile| profile.model.as_deref());
        let choice = questions.choose(settings, model);
        let provider =
            choice.as_ref().map_or_else(|_| settings.provider_meant(provider_override), |choice| &choice.provider);
        let model = choice.as_ref().map_or(provider, |choice| &choice.model);
        let is_its =
            |fault: &ProviderFault| fault.provider == provider && fault.models.iter().any(|failing| failing == model);
        Some((key, faults.iter().position(is_its)?))
    });
    failing.collect()
}

fn settings_view(world: &World) -> SettingsView {
    let questions = world.resource::<RequestQueue>();
    let gateway = world.resource::<GatewaySettings>();
    SettingsView {
        provider: gateway.provider.clone(),
        model: gateway.model.clone(),
        provider_override: questions.persons_override().map(str::to_owned),
        budget: world.resource::<BudgetSettings>().clone(),
        max_concurrent_requests: gateway.max_concurrent_requests,
        conversations_at_once: world.resource::<ConversationSettings>().max_concurrent_conversations,
        document_runner: DocumentRunner::new(
            world.get_resource::<DocumentSettings>().unwrap_or(&DocumentSettings::default()),
            world.get_resource::<GatewayEnvironment>().map(|environment| &environment.0),
        ),
        outside: questions.ledger().outside(),
        of_scene: settings_of_scene(world),
    }
}

/// The settings that the scene overrides, as `section.key`.
fn settings_of_scene(world: &World) -> Vec<String> {
    let (scene, sections) = (world.get_resource::<SceneState>(), world.get_resource::<SettingsSections>());
    scene.zip(sections).map_or_else(Vec::new, |(scene, sections)| sections.names_in_scene(&scene.doc.settings))
}

fn talks(world: &World) -> Vec<TalkView> {
    let running = world.resource::<Conversations>().iter();
    running
        .map(|talk| TalkView {
            key: talk.key,
            kind: talk.kind,
            participants: talk.participants.clone(),
            speaker: talk.speaker,
            topic: talk.topic.clone(),
            said: talk.said.iter().map(|line| (line.by.0.clone(), line.text.clone())).collect(),
            turns: (talk.turns_taken, talk.turns_at_most),
        })
        .collect()
}

fn ties(world: &World) -> Vec<RelationshipView> {
    let roster = world.resource::<Roster>();
    let known = relationships(world).iter().filter_map(|tie| {
        Some(RelationshipView { from: roster.key(&tie.from)?, to: roster.key(&tie.to)?, label: tie.label.clone() })
    });
    known.collect()
}

fn content_of(held: &HeldContent) -> ContentView {
    if let Some(pins) = held.0.pins() {
        let pins = pins.iter().map(|pin| PinView {
            id: pin.id.clone(),
            text: pin.text.clone(),
            author: pin.author.0.clone(),
            time_secs: pin.time,
            up: pin.up.iter().cloned().collect(),
            down: pin.down.iter().cloned().collect(),
            comments: pin.comments.iter().map(|said| (said.author.0.clone(), said.text.clone())).collect(),
        });
        return ContentView::Pins(pins.collect());
    }
    if let Some((items, outbox)) = held.0.mail() {
        let mail = |mail: &Mail| MailView {
            id: mail.id.clone(),
            from: mail.from.clone(),
            to: mail.to.clone(),
            subject: mail.subject.clone(),
            text: mail.text.clone(),
            status: mail.status,
            read: mail.read.is_some(),
            sent_secs: mail.sent,
        };
        return ContentView::Mail {
            items: items.iter().map(mail).collect(),
            outbox: outbox.iter().map(mail).collect(),
        };
    }
    if let Some(tasks) = held.0.tasks() {
        return ContentView::Tasks(TasksView::of(tasks.clone()));
    }
    match held.0.text() {
        Some(text) => ContentView::Text(text.to_owned()),
        None => ContentView::Other(held.0.to_markdown()),
    }
}

fn stem(path: &str) -> &str {
    let file = file_name(path);
    file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use bevy::math::Vec2;
    use serde_json::Value;

    use super::*;
    use crate::workspace::starter;

    /// A rectangle of the floor: its centre and half its size.
    type Place = (Vec2, Vec2);

    fn apart((one, half): Place, (other, other_half): Place) -> bool {
        let gap = (one - other).abs() - half - other_half;
        gap.x >= 0.0 || gap.y >= 0.0
    }

    fn pairs(scene: &Value, list: &str, half: Vec2) -> Vec<Place> {
        let entries = scene[list].as_array().into_iter().flatten();
        let place = |entry: &Value| {
            let pair = entry["position"].as_array()?;
            Some((Vec2::new(pair[0].as_f64()? as f32, pair[1].as_f64()? as f32), half))
        };
        entries.map(|entry| place(entry).expect("everything in a starter scene has a place")).collect()
    }

    #[test]
    fn furniture_of_the_starter_scenes_blocks_no_one() {
        for (path, text) in starter::files().iter().filter(|(path, _)| path.starts_with("scenes/")) {
            let scene: Value = serde_yaml::from_slice(text).expect("starter scenes are YAML");
            let decor: Vec<DecorView> = DecorView::all_of(&scene);
            assert!(decor.len() > 5, "{path} is furnished");
            let standing = decor.iter().filter(|decor| !crate::view::furniture::is_flat(&decor.kind));
            let furniture: Vec<Place> = standing.map(|decor| (decor.position, decor.size / 2.0)).collect();
            let elements = pairs(&scene, "elements", Vec2::new(52.0, 46.0));
            // With a margin, so that agents at their homes are completely visible.
            let homes = pairs(&scene, "agents", Vec2::new(24.0, 40.0));
            for (index, thing) in furniture.iter().enumerate() {
                for other in furniture[index + 1..].iter().chain(&elements).chain(&homes) {
                    assert!(apart(*thing, *other), "{path}: {thing:?} stands in the way of {other:?}");
                }
            }
        }
    }

    #[test]
    fn unchanged_data_is_shared_by_all_frames() {
        let (mut known, now) = (None, ChangeTick::new(1));
        let first = shared(&mut known, now, || vec![1]);
        assert!(Arc::ptr_eq(&first, &shared(&mut known, now, || vec![2])));
        assert_eq!(*shared(&mut known, ChangeTick::new(2), || vec![3]), [3]);
    }
}
