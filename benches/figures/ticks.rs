//! What a tick of a large room costs, and how soon agents notice what happens in it.

use std::hint::black_box;
use std::time::Instant;

use agent_workshop::agent::{Agent, Roster};
use agent_workshop::base::{Author, ElementKey};
use agent_workshop::element::{Element, ElementEdit, Elements, TextAct};
use agent_workshop::gateway::RequestQueue;
use agent_workshop::schedule::{self, InputQueue};
use agent_workshop::simulation::spatial_grid::{Entry, Grid};
use agent_workshop::simulation::{self, Activity, AgentState, Queue, State, Walk};
use bevy::ecs::prelude::*;
use bevy::ecs::schedule::SingleThreadedExecutor;
use bevy::math::Vec2;

use super::measure::{Figure, Times, digits, timed};
use super::rooms;

/// Ticks to run until everyone walks: strolls begin within three seconds.
const WARM_UP: usize = 120;

/// Agents, the target per tick in milliseconds, and how many ticks are measured.
const CROWDS: [(usize, f64, usize); 3] = [(1_000, 0.2, 900), (10_000, 2.0, 900), (100_000, 16.0, 300)];

/// Measures full ticks of crowds, in turn with ticks of the bare loop.
pub fn crowds() -> Vec<Figure> {
    CROWDS.into_iter().flat_map(|(agents, limit, ticks)| crowd(agents, limit, ticks)).collect()
}

fn crowd(agents: usize, limit: f64, ticks: usize) -> Vec<Figure> {
    let mut room = rooms::mindless_crowd(agents);
    let (mut bare, mut loops) = bare_loop(agents);
    for _ in 0..WARM_UP {
        schedule::advance(room.world_mut());
        loops.run(&mut bare);
    }
    let world = room.world_mut();
    let wandering =
        world.query::<&AgentState>().iter(world).filter(|state| state.0.state() == State::Wandering).count();
    assert!(wandering * 10 >= agents * 9, "only {wandering} of {agents} wander");
    // Measured in turn, so that both run under the same conditions.
    let pairs: Vec<_> =
        (0..ticks).map(|_| (timed(|| schedule::advance(world)), timed(|| loops.run(&mut bare)))).collect();
    let full = Times::from_each(pairs.iter().map(|pair| pair.0));
    let base = Times::from_each(pairs.iter().map(|pair| pair.1));
    let ratio = full.median() / base.median();
    let walking = world.query::<&Walk>().iter(world).filter(|walk| walk.course.moves()).count();
    vec![
        Figure::at_most_ms(format!("full tick, {agents} wandering agents"), limit, &full)
            .against(format!("{walking} walking at the end, the others between two strolls")),
        Figure {
            what: format!("the same compared with a bare bevy_ecs loop, {agents}"),
            limit: "4 ×".into(),
            measured: format!("{} ×", digits(ratio)),
            against: format!("bare {base}"),
            holds: Some(ratio <= 4.0),
        },
    ]
}

#[derive(Component)]
struct BarePosition(Vec2);

#[derive(Component)]
struct BareVelocity(Vec2);

#[derive(Component, Default)]
struct Neighbours(u32);

#[derive(Resource)]
struct BareSpace {
    points: Vec<Entry>,
    grid: Grid,
}

/// The minimum work of a room of that size: every agent moves and finds its neighbours in the same kind of grid.
fn bare_loop(agents: usize) -> (World, Schedule) {
    let mut world = World::new();
    for (index, place) in rooms::places(agents).into_iter().enumerate() {
        let angle = index as f32 * 2.4;
        world.spawn((BarePosition(place), BareVelocity(Vec2::from_angle(angle) * 80.0), Neighbours::default()));
    }
    world.insert_resource(BareSpace { points: Vec::new(), grid: Grid::new(80.0) });
    let mut schedule = Schedule::default();
    schedule.set_executor(SingleThreadedExecutor::new());
    schedule.add_systems((bare_sense, bare_move).chain());
    (world, schedule)
}

fn bare_sense(mut space: ResMut<BareSpace>, mut agents: Query<(&BarePosition, &mut Neighbours)>) {
    let BareSpace { points, grid } = &mut *space;
    points.clear();
    points.extend((0..).zip(&agents).map(|(key, (position, _))| Entry { position: position.0, key }));
    grid.rebuild(points);
    for (position, mut neighbours) in &mut agents {
        let mut count = 0;
        grid.within(position.0, 60.0, |_, _| count += 1);
        neighbours.0 = count;
    }
}

fn bare_move(mut agents: Query<(&mut BarePosition, &mut BareVelocity, &Neighbours)>) {
    for (mut position, mut velocity, neighbours) in &mut agents {
        position.0 += velocity.0 / 30.0;
        if neighbours.0 > 3 {
            velocity.0 = -velocity.0;
        }
    }
}

/// Measures full ticks of crowds with every layer.
pub fn crowds_with_minds() -> Vec<Figure> {
    CROWDS
        .into_iter()
        .map(|(agents, _, ticks)| {
            let mut room = rooms::crowd_with_minds(agents);
            rooms::run(room.world_mut(), WARM_UP as u64);
            let times = Times::from_each((0..ticks.min(300)).map(|_| {
                let world = room.world_mut();
                agent_workshop::gateway::wait_before_tick(world, std::time::Duration::from_secs(30));
                timed(|| schedule::advance(world))
            }));
            Figure {
                what: format!("tick with every layer (minds, memory, offline brain), {agents}"),
                limit: String::new(),
                measured: times.to_string(),
                against: String::new(),
                holds: None,
            }
        })
        .collect()
}

/// Measures how soon a hundred thousand agents notice new rules.
pub fn rulebook_edit() -> Vec<Figure> {
    let agents = 100_000;
    let mut room = rooms::mindless_crowd(agents);
    let world = room.world_mut();
    for _ in 0..10 {
        schedule::advance(world);
    }
    let rules = world.resource::<Elements>().key("e0").expect("the crowd has rules");
    let act = TextAct::SetText { text: "Keep to the right.".into() }.into();
    let edit = ElementEdit { element: "e0".into(), act, by: Author::user(), cause: None };
    world.resource_mut::<InputQueue<ElementEdit>>().push(edit);
    let began = Instant::now();
    let ticks = (1..=10)
        .find(|_| {
            schedule::advance(world);
            everyone_queues(world, rules)
        })
        .unwrap_or(u64::MAX);
    let took = began.elapsed().as_secs_f64() * 1e3;
    vec![Figure {
        what: format!("rulebook edit until the read is in all {agents} queues"),
        limit: "1 tick".into(),
        measured: format!("{ticks} tick of {} ms", digits(took)),
        against: String::new(),
        holds: Some(ticks <= 1),
    }]
}

/// The agents that all read new rules, with four slots at the provider.
const READERS: usize = 500;
/// The duration of one answer, and how many run in parallel.
const ANSWER_SECS: f64 = 2.5;
const SLOTS: f64 = 4.0;

/// Measures when the last of five hundred busy agents has read new rules.
pub fn rules_read_by_all() -> Vec<Figure> {
    let script = format!("latency: {ANSWER_SECS}\ndefault:\n  - text: I have seen it.\n");
    let mut room = rooms::crowd_answered_by(READERS, &rooms::scripted("rules", &script));
    let world = room.world_mut();
    rooms::run(world, 60 * schedule::TICKS_PER_SEC);
    let waiting = world.resource::<RequestQueue>().waiting();
    let rules = world.resource::<Elements>().key("e0").expect("the crowd has rules");
    let act = TextAct::SetText { text: "Keep to the right.".into() }.into();
    let edit = ElementEdit { element: "e0".into(), act, by: Author::user(), cause: None };
    world.resource_mut::<InputQueue<ElementEdit>>().push(edit);
    rooms::run(world, 2);
    let entity = world.resource::<Elements>().entity(rules).expect("it should exist");
    let version = world.get::<Element>(entity).expect("it should be valid").version;
    let limit_secs = 1.2 * READERS as f64 * ANSWER_SECS / SLOTS;
    let has_read = |life: &Activity| life.version_read(rules) == Some(version);
    let secs = (1..2 * limit_secs as u64).find(|_| {
        rooms::run(world, schedule::TICKS_PER_SEC);
        let mut lives = world.query_filtered::<&Activity, With<Agent>>();
        lives.iter(world).all(has_read)
    });
    vec![Figure {
        what: format!("rulebook edit until the last of {READERS} has read it, simulated"),
        limit: format!("{limit_secs:.0} s"),
        measured: secs.map_or_else(|| "not within twice that".into(), |secs| format!("{secs} s")),
        against: format!("{waiting} other requests were waiting for a slot at the edit"),
        holds: Some(secs.is_some_and(|secs| secs as f64 <= limit_secs)),
    }]
}

fn everyone_queues(world: &mut World, element: ElementKey) -> bool {
    let mut queues = world.query_filtered::<&Queue, With<Agent>>();
    let wanted = |queue: &Queue| queue.0.iter().any(|queued| queued.action.element() == Some(element));
    queues.iter(world).all(wanted)
}

/// Measures the model calls of a single agent in a room in which nothing happens.
pub fn idle_agent() -> Vec<Figure> {
    let mut room = rooms::one_agent();
    let world = room.world_mut();
    let mut calls = 0;
    let mut live = |world: &mut World, minutes: u64| {
        for _ in 0..minutes {
            rooms::run(world, 60 * schedule::TICKS_PER_SEC);
            calls += super::processes::count_events(world, "model_call");
        }
        std::mem::take(&mut calls)
    };
    let at_first = live(world, 10);
    let began = Instant::now();
    let later = live(world, 60);
    assert!(at_first > 0, "it never read anything");
    assert!(!world.resource::<Roster>().is_empty());
    black_box(simulation::is_idle(world));
    vec![Figure {
        what: "model calls per hour by an idle agent in an unchanged room".into(),
        limit: "0".into(),
        measured: format!("{later}"),
        against: format!(
            "{at_first} in the first 10 minutes; the hour took {} s",
            digits(began.elapsed().as_secs_f64())
        ),
        holds: Some(later == 0),
    }]
}
