//! The window's incrementally updated view of agents equals, in every frame, the view of a window that reads the room
//! for the first time.

use std::collections::BTreeSet;

use agent_workshop::agent::AgentCommand;
use agent_workshop::app::room::OpenOptions;
use agent_workshop::app::window::OpenRoom;
use agent_workshop::schedule::InputQueue;
use agent_workshop::view::camera::Camera;
use agent_workshop::view::extract::{DetailRequest, RoomExtractor};
use agent_workshop::view::model::{AgentView, RoomModel};
use agent_workshop::view::pick::RoomObject;
use agent_workshop::workspace::starter;
use bevy::math::Vec2;
use libtest_mimic::Trial;

use crate::cases;

pub fn trials() -> Vec<Trial> {
    cases![incremental_views_of_agents_equal_fresh_ones]
}

/// Describes what is shown of each agent, except for its direction, which depends on its last steps.
fn descriptions(agents: &[AgentView]) -> Vec<String> {
    let describe = |agent: &AgentView| {
        let known = agent.detail.as_ref().map(|detail| (&detail.why, detail.queue.len(), detail.profile.is_some()));
        let AgentView { key, id, name, profile, look, position, posture, walks, state, .. } = agent;
        format!("{key} {id} {name} {profile} {look} {position} {posture:?} {walks} {state:?} {known:?}")
    };
    agents.iter().map(describe).collect()
}

fn incremental_views_of_agents_equal_fresh_ones() {
    let folder = tempfile::tempdir().unwrap();
    starter::init(folder.path()).unwrap();
    let provider = Some("offline".to_owned());
    let mut room =
        OpenRoom::open(OpenOptions { folder: folder.path().to_owned(), provider, ..OpenOptions::trusted() }).unwrap();
    let camera = Camera {
        viewport: egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(4000.0, 4000.0)),
        ..Camera::default()
    };
    let add = |profile: &str, id: &str| AgentCommand::Add {
        id: Some(id.into()),
        profile: profile.into(),
        position: Vec2::new(30.0, -300.0),
        behaviour: None,
        exactly: true,
    };
    room.run_ticks(2);
    let first = room.model(&DetailRequest { camera: &camera, things: &BTreeSet::new(), overlay: false, share: 1.0 });
    let [one, two] = [0, 1].map(|index| first.agents[index].id.clone());
    let profile = first.agents[0].profile.to_string();
    let has_correct_counts = |model: &RoomModel| {
        let of = |id: &str| model.agents.iter().filter(|agent| &*agent.profile == id).count();
        model.profiles.iter().all(|view| view.agents == of(&view.id))
    };
    room.reuse(first);
    let steps: [Option<AgentCommand>; 7] = [
        None,
        Some(add(&profile, "newcomer-a")),
        Some(AgentCommand::Remove { agent: one }),
        Some(add("editor", "newcomer-b")),
        Some(AgentCommand::Place { agent: two.clone(), position: Vec2::new(-200.0, -250.0) }),
        Some(AgentCommand::Remove { agent: "newcomer-b".into() }),
        None,
    ];
    let details = BTreeSet::from([RoomObject::Agent(two)]);
    for (number, step) in steps.into_iter().enumerate() {
        let world = room.world().unwrap();
        step.into_iter().for_each(|command| world.resource_mut::<InputQueue<AgentCommand>>().push(command));
        room.run_ticks(20);
        for overlay in [false, true] {
            let wanted = DetailRequest { camera: &camera, things: &details, overlay, share: 1.0 };
            let anew = RoomExtractor::default().read(room.world().unwrap(), &wanted);
            let model = room.model(&wanted);
            let again = RoomExtractor::default().read(room.world().unwrap(), &wanted);
            assert_eq!(descriptions(&anew.agents), descriptions(&again.agents), "reading the room changes nothing");
            assert_eq!(descriptions(&model.agents).len(), descriptions(&anew.agents).len(), "step {number}");
            assert!(has_correct_counts(&model), "step {number}: {:?}", model.profiles);
            let differ = descriptions(&model.agents)
                .into_iter()
                .zip(descriptions(&anew.agents))
                .find(|(own, fresh)| own != fresh);
            assert_eq!(differ, None, "step {number}, overlay {overlay}");
            room.reuse(model);
        }
    }
    room.close("looked at");
}
