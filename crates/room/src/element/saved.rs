//! The saved state of the elements.

use std::collections::BTreeMap;

use bevy::ecs::prelude::*;
use bevy::ecs::system::RunSystemOnce;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::content::{Element, HeldContent};
use super::directory::HeldBack;
use super::directory::{Departed, Elements};
use super::editing::set_readers;
use super::kinds::kind;
use super::lifecycle::insert_entity;
use super::message_ids::MessageCount;
use super::problem_reports::Reported;
use super::recent_changes::RecentChanges;
use crate::base::{ElementKey, Problem};
use crate::schedule::Section;
use crate::workspace::ProblemReport;
use crate::workspace::layout::element_file;

/// A saved element.
#[derive(Serialize, Deserialize)]
struct ElementSaved {
    element: Element,
    content: Map<String, Value>,
}

/// The saved elements with their content, in order of key.
#[derive(Serialize, Deserialize)]
pub(super) struct ElementsSaved {
    next_key: ElementKey,
    elements: Vec<ElementSaved>,
    problems: BTreeMap<String, Vec<Problem>>,
    #[serde(default)]
    held_back: HeldBack,
    #[serde(default)]
    departed: Departed,
    #[serde(default)]
    recent: RecentChanges,
    #[serde(default)]
    messages: MessageCount,
}

impl Section for ElementsSaved {
    const NAME: &'static str = "elements";

    fn save(world: &mut World) -> Self {
        let directory = world.resource::<Elements>();
        let elements = directory.iter().filter_map(|(_, entity)| {
            let (element, held) = (world.get::<Element>(entity)?.clone(), world.get::<HeldContent>(entity)?);
            Some(ElementSaved { element, content: held.0.to_saved() })
        });
        let problems = world.resource::<Reported>().0.clone();
        let held_back = world.resource::<HeldBack>().clone();
        let departed = world.resource::<Departed>().clone();
        let recent = world.resource::<RecentChanges>().clone();
        let (next_key, elements) = (directory.next_key(), elements.collect());
        let messages = world.resource::<MessageCount>().clone();
        Self { next_key, elements, problems, held_back, departed, recent, messages }
    }

    fn load(self, world: &mut World) {
        let present: Vec<Entity> = world.resource::<Elements>().iter().map(|(_, entity)| entity).collect();
        for entity in present {
            world.despawn(entity);
        }
        world.insert_resource(Elements::default());
        for ElementSaved { mut element, content } in self.elements {
            // The path may have been valid in the version that saved the room.
            element.file = element.file.and_then(|file| element_file(&file).ok());
            match kind(&element.kind) {
                Some(kind) => {
                    // Saved content was parsed before, so its problems are not reported again.
                    let (content, _) = (kind.from_scene)(&content, "");
                    let _entity = insert_entity(world, element, content);
                }
                None => tracing::error!("the saved element {} has an unknown kind {}", element.id, element.kind),
            }
        }
        world.resource_mut::<Elements>().count_on_from(self.next_key);
        for (source, problems) in self.problems.clone() {
            world.write_message(ProblemReport { source, problems });
        }
        world.insert_resource(Reported(self.problems));
        world.insert_resource(self.held_back);
        world.insert_resource(self.departed);
        world.insert_resource(self.recent);
        world.insert_resource(self.messages);
        if let Err(error) = world.run_system_once(set_readers) {
            tracing::error!("the owners of inboxes could not be found: {error}");
        }
    }
}
