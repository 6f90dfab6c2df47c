//! Agents are added and removed, wait for their files, and survive a restart.

use bevy::app::App;
use bevy::ecs::message::Messages;
use bevy::math::Vec2;
use serde_json::Map;

use super::*;
use crate::log::EventLog;
use crate::schedule::saved::{load_world, save_world, world_hash};
use crate::schedule::{InputQueue, advance};
use crate::workspace::AgentEntry;

fn room() -> App {
    let mut app = App::new();
    crate::schedule::plugin(&mut app);
    app.init_resource::<EventLog>();
    plugin(&mut app);
    app
}

fn file(app: &mut App, path: &str, content: Option<&str>) {
    let content = content.map_or(FileContent::Removed, |text| FileContent::Text(text.into()));
    app.world_mut().write_message(FileChanged::new(path, content));
}

fn entry(id: &str, profile: &str, position: Option<Vec2>) -> AgentEntry {
    AgentEntry { id: id.into(), profile: profile.into(), position, behaviour: None, keys: Map::new(), line: Some(7) }
}

fn scene(app: &mut App, now: AgentEntry, before: Option<AgentEntry>) {
    app.world_mut().write_message(SceneEdit::Agent { now, before });
}

fn drop_agent(app: &mut App, id: Option<&str>, position: Vec2, exactly: bool) {
    let command =
        AgentCommand::Add { id: id.map(Into::into), profile: "ada".into(), position, behaviour: None, exactly };
    app.world_mut().resource_mut::<InputQueue<AgentCommand>>().push(command);
}

fn agent(app: &App, id: &str) -> Option<Agent> {
    let roster = app.world().resource::<Roster>();
    app.world().get::<Agent>(roster.entity(roster.key(id)?)?).cloned()
}

fn written_messages<M: Message + Clone>(app: &App) -> Vec<M> {
    let messages = app.world().resource::<Messages<M>>();
    messages.get_cursor().read(messages).cloned().collect()
}

#[test]
fn dropped_agents_are_lifted_above_the_elements_and_named_apart() {
    let mut app = room();
    file(&mut app, "agents/ada.md", Some("# Ada"));
    app.world_mut().write_message(TopElementHeight { top: Some(200.0) });
    advance(app.world_mut());
    drop_agent(&mut app, None, Vec2::new(5.0, 0.0), false);
    drop_agent(&mut app, None, Vec2::new(5.0, 0.0), true);
    drop_agent(&mut app, Some("ada-1"), Vec2::new(5.0, 900.0), false);
    drop_agent(&mut app, None, Vec2::new(f32::NAN, 0.0), false);
    advance(app.world_mut());
    let places: Vec<_> = ["ada-1", "ada-2", "ada-1-2"].iter().map(|id| agent(&app, id).unwrap().start.y).collect();
    assert_eq!(places, [320.0, 0.0, 900.0]);
    let names: Vec<_> = ["ada-1", "ada-2", "ada-1-2"].iter().map(|id| agent(&app, id).unwrap().name).collect();
    assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["Ada", "Ada 2", "Ada 3"]);
    assert_eq!(app.world().resource::<Roster>().len(), 3);
    assert_eq!(written_messages::<SceneWrite>(&app).len(), 3);
    assert!(written_messages::<ProblemReport>(&app).iter().any(|report| !report.problems.is_empty()));
}

#[test]
fn an_entry_waits_for_its_profile() {
    let mut app = room();
    file(&mut app, "agents/ada.md", Some("# Ada"));
    scene(&mut app, entry("a-1", "adda", Some(Vec2::ZERO)), None);
    scene(&mut app, entry("a-2", "ada", None), None);
    advance(app.world_mut());
    let reports = written_messages::<ProblemReport>(&app);
    let problem = &reports.iter().find(|report| report.source == "agent a-1").unwrap().problems[0];
    assert!(problem.remedy.contains("\"ada\"") && problem.line == Some(7), "{problem}");
    assert!(agent(&app, "a-1").is_none() && agent(&app, "a-2").is_some());
    file(&mut app, "agents/adda.md", Some("# Adda"));
    advance(app.world_mut());
    assert_eq!(agent(&app, "a-1").unwrap().start, Vec2::ZERO);
}

#[test]
fn a_changed_entry_moves_and_reprofiles_the_same_agent() {
    let mut app = room();
    file(&mut app, "agents/ada.md", Some("# Ada"));
    file(&mut app, "agents/bea.md", Some("# Bea"));
    let before = entry("x", "ada", Some(Vec2::ZERO));
    scene(&mut app, before.clone(), None);
    advance(app.world_mut());
    let key = agent(&app, "x").unwrap().key;
    let now = AgentEntry { behaviour: Some(crate::base::Behaviour::Patrol), ..entry("x", "bea", Some(Vec2::ONE)) };
    scene(&mut app, now, Some(before));
    advance(app.world_mut());
    let after = agent(&app, "x").unwrap();
    assert_eq!((after.key, &*after.profile, &*after.name), (key, "bea", "Bea"));
    let commands = written_messages::<AgentCommand>(&app);
    assert!(commands.contains(&AgentCommand::SetHome { agent: "x".into(), position: Vec2::ONE, by: None }));
    assert_eq!(commands.len(), 1);
    let follows = written_messages::<BehaviourFollows>(&app);
    assert!(follows.iter().any(|follows| follows.agent == key && follows.behaviour == crate::base::Behaviour::Patrol));
    app.world_mut().write_message(SceneEdit::AgentGone { id: "x".into() });
    advance(app.world_mut());
    assert!(app.world().resource::<Roster>().is_empty());
    assert_eq!(written_messages::<AgentRemoved>(&app).len(), 1);
}

#[test]
fn agents_follow_a_renamed_file_and_outlive_a_removed_one() {
    let mut app = room();
    file(&mut app, "agents/ada.md", Some("You count."));
    scene(&mut app, entry("x", "ada", None), None);
    advance(app.world_mut());
    file(&mut app, "agents/ada.md", None);
    advance(app.world_mut());
    let reports = written_messages::<ProblemReport>(&app);
    assert!(reports.iter().flat_map(|report| &report.problems).any(|problem| problem.what.contains("agents x still")));
    assert_eq!(&*app.world().resource::<Profiles>().get("ada").unwrap().instructions, "You count.");
    file(&mut app, "agents/bea.md", Some("You count."));
    advance(app.world_mut());
    let after = agent(&app, "x").unwrap();
    assert_eq!((&*after.profile, &*after.name), ("bea", "Bea"));
    assert!(written_messages::<SceneWrite>(&app).iter().any(|write| matches!(write, SceneWrite::Agent { .. })));
    assert!(app.world().resource::<Profiles>().get("ada").is_none());
}

#[test]
fn a_loaded_room_continues_as_the_saved_one() {
    let mut app = room();
    file(&mut app, "agents/ada.md", Some("# Ada"));
    advance(app.world_mut());
    for _ in 0..3 {
        drop_agent(&mut app, None, Vec2::ZERO, false);
    }
    scene(&mut app, entry("z", "nobody", None), None);
    advance(app.world_mut());
    app.world_mut().resource_mut::<InputQueue<AgentCommand>>().push(AgentCommand::Remove { agent: "ada-3".into() });
    advance(app.world_mut());
    let saved = save_world(app.world_mut()).unwrap();
    let mut other = room();
    load_world(other.world_mut(), &saved).unwrap();
    other.world_mut().insert_resource(EventLog::new("r".into(), app.world().resource::<EventLog>().next_seq()));
    assert_eq!(world_hash(app.world_mut()), world_hash(other.world_mut()));
    assert!(written_messages::<AgentAdded>(&other).is_empty());
    for app in [&mut app, &mut other] {
        drop_agent(app, None, Vec2::ZERO, false);
        advance(app.world_mut());
    }
    assert_eq!(agent(&other, "ada-4").unwrap().key, agent(&app, "ada-4").unwrap().key);
    assert_eq!(world_hash(app.world_mut()), world_hash(other.world_mut()));
}

#[test]
fn a_returning_agent_gets_its_name_back_and_nobody_else_does() {
    let mut app = room();
    file(&mut app, "agents/ada.md", Some("# Ada"));
    advance(app.world_mut());
    let name = |app: &App, id: &str| agent(app, id).unwrap().name.to_string();
    for id in ["ada-1", "ada-2", "ada-3"] {
        drop_agent(&mut app, Some(id), Vec2::ZERO, true);
    }
    advance(app.world_mut());
    for gone in ["ada-1", "ada-3"] {
        app.world_mut().resource_mut::<InputQueue<AgentCommand>>().push(AgentCommand::Remove { agent: gone.into() });
    }
    advance(app.world_mut());
    // A newcomer, and the room when it is opened the next day.
    drop_agent(&mut app, Some("ada-4"), Vec2::ZERO, true);
    advance(app.world_mut());
    let saved = save_world(app.world_mut()).unwrap();
    let mut next_day = room();
    load_world(next_day.world_mut(), &saved).unwrap();
    for app in [&mut app, &mut next_day] {
        for back in ["ada-3", "ada-1"] {
            drop_agent(app, Some(back), Vec2::ZERO, true);
        }
        advance(app.world_mut());
        let names: Vec<String> = ["ada-1", "ada-2", "ada-3", "ada-4"].iter().map(|id| name(app, id)).collect();
        assert_eq!(names, ["Ada", "Ada 2", "Ada 3", "Ada 4"]);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test measures a tick from outside")]
fn a_hundred_thousand_agents_can_be_added_at_once() {
    let mut app = room();
    file(&mut app, "agents/ada.md", Some("# Ada"));
    advance(app.world_mut());
    for _ in 0..100_000 {
        drop_agent(&mut app, None, Vec2::ZERO, false);
    }
    let start = std::time::Instant::now();
    advance(app.world_mut());
    let took = start.elapsed();
    assert_eq!(app.world().resource::<Roster>().len(), 100_000);
    assert_eq!(&*agent(&app, "ada-100000").unwrap().name, "Ada 100000");
    // A busy machine takes several times as long as an idle one; quadratic work takes minutes.
    assert!(took.as_secs() < 10, "{took:?}");
    println!("100,000 agents in {took:?}");
}

#[test]
fn a_behaviour_written_into_an_agents_file_counts_at_once_unless_the_scene_says_another() {
    let mut app = room();
    file(&mut app, "agents/ada.md", Some("---\nbehaviour: wander\n---\nYou are Ada."));
    app.init_resource::<crate::workspace::SceneState>();
    let stated = AgentEntry { behaviour: Some(crate::base::Behaviour::Stationary), ..entry("stated", "ada", None) };
    app.world_mut().resource_mut::<crate::workspace::SceneState>().doc.agents = vec![stated.clone()];
    scene(&mut app, entry("free", "ada", None), None);
    scene(&mut app, stated, None);
    advance(app.world_mut());
    file(&mut app, "agents/ada.md", Some("---\nbehaviour: patrol\n---\nYou are Ada."));
    advance(app.world_mut());
    let follows = written_messages::<BehaviourFollows>(&app);
    let free = agent(&app, "free").unwrap().key;
    let last: Vec<_> = follows.iter().map(|follows| (follows.agent, follows.behaviour)).collect();
    assert_eq!(last.last(), Some(&(free, crate::base::Behaviour::Patrol)));
    assert!(last.iter().all(|(agent, _)| *agent == free), "{last:?}");
    assert!(written_messages::<SceneWrite>(&app).is_empty(), "the scene did not say it and is not changed");
}

#[test]
fn an_agent_of_a_folder_is_named_by_either_id_and_makes_way_without_changing() {
    let mut app = room();
    file(&mut app, "agents/team/two.md", Some("You are of the team."));
    scene(&mut app, entry("x", "team-two", None), None);
    advance(app.world_mut());
    assert_eq!(&*agent(&app, "x").unwrap().profile, "two");
    file(&mut app, "agents/two.md", Some("You are alone."));
    advance(app.world_mut());
    assert_eq!(&*agent(&app, "x").unwrap().profile, "team-two");
    let profiles = app.world().resource::<Profiles>();
    assert_eq!(profiles.get("team-two").unwrap().instructions, "You are of the team.");
    let reports = written_messages::<ProblemReport>(&app);
    let notes: Vec<_> = reports.iter().flat_map(|report| &report.problems).collect();
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].place == "agents/team/two.md" && notes[0].what.contains("\"team-two\""), "{notes:?}");
}
