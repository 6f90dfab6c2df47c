//! Places in the room: reading in rows and in queues, unreachable places, conversations face to face, seats and desks.

use bevy::ecs::message::Messages;
use bevy::math::Vec2;

use super::steering::Course;
use super::tests::{SimulatedRoom, read, talk};
use super::*;
use crate::base::{ActivationKey, AgentKey, Behaviour, ElementKey, Seq};
use crate::log::events;
use crate::navigation::furniture::element_footprint;
use crate::navigation::{BODY_UNITS, Use, slots};
use crate::schedule::ticks;
use crate::workspace::{Decor, DecorChange, SceneEdit, SceneWrite};

fn decor(kind: &str, at: (f32, f32), size: (f32, f32)) -> Decor {
    Decor { kind: kind.into(), position: at.into(), size: size.into(), turned: false }
}

fn furnish(room: &mut SimulatedRoom, all: Vec<Decor>) {
    room.say(SceneEdit::Decor(all));
    room.run(1);
}

fn nearest_two(room: &SimulatedRoom, agents: &[AgentKey]) -> f32 {
    let places: Vec<Vec2> = agents.iter().map(|agent| room.position(*agent)).collect();
    let pairs = places.iter().enumerate().flat_map(|(at, one)| places[at + 1..].iter().map(|two| one.distance(*two)));
    pairs.fold(f32::INFINITY, f32::min)
}

#[test]
fn an_idle_agent_reads_what_is_near_and_not_what_is_far() {
    checks_rule!("idle-agents-seek-information");
    let mut room = SimulatedRoom::new();
    let near = room.element("near", (0.0, 300.0), None);
    let far = room.element("far", (0.0, 2_000.0), None);
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.run(ticks(300.0));
    assert_eq!(room.get::<Activity>(ada).version_read(near), Some(1));
    assert_eq!(room.get::<Activity>(ada).version_read(far), None);
}

#[test]
fn a_desk_put_onto_an_agent_moves_it_aside_and_is_written_to_the_scene() {
    let mut room = SimulatedRoom::new();
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    furnish(&mut room, Vec::new());
    let desk = decor("desk", (0.0, 0.0), (110.0, 80.0));
    let mut writes = room.app.world().resource::<Messages<SceneWrite>>().get_cursor_current();
    let add = DecorChange::Add { decor: desk.clone(), at: None };
    room.say(FurnishCommand(add.clone()));
    room.say(FurnishCommand(DecorChange::Remove { decor: decor("plant", (0.0, 0.0), (70.0, 80.0)) }));
    room.run(1);
    let written: Vec<_> = writes.read(room.app.world().resource::<Messages<SceneWrite>>()).cloned().collect();
    assert_eq!(written, [SceneWrite::Decor(add)], "a plant that is not there is not taken out");
    assert_eq!(room.events::<events::Warning>().len(), 1);
    room.run(ticks(5.0));
    let place = room.position(ada);
    assert!(place.x.abs() > 55.0 || place.y.abs() > 40.0, "she steps out of the desk: {place}");
    room.say(FurnishCommand(DecorChange::Remove { decor: desk }));
    room.run(1);
    assert!(room.app.world().resource::<SpatialIndex>().seats.is_empty(), "nobody works at a desk that is gone");
}

#[test]
fn forty_readers_of_one_board_stand_in_rows_and_a_queue_and_all_get_to_read() {
    let mut room = SimulatedRoom::new();
    room.app.world_mut().resource_mut::<AttentionSettings>().heartbeat_units = 0.0;
    room.say(ConversationCommand::Switch { on: false });
    let board = room.element("board", (0.0, -600.0), None);
    let agents: Vec<AgentKey> = (0..40)
        .map(|index| {
            let at = ((index % 8) as f32 * 60.0 - 210.0, (index / 8) as f32 * 60.0);
            room.agent(&format!("a{index}"), at, Behaviour::Stationary)
        })
        .collect();
    room.answer = |_| None;
    room.run(1);
    for agent in &agents {
        room.enqueue(*agent, read(board));
    }
    room.run(ticks(25.0));
    let asked = |room: &SimulatedRoom| room.dues.iter().filter(|due| matches!(due.think, Think::Read { .. })).count();
    assert_eq!(asked(&room), 17, "two rows read");
    let waits =
        |agent: &&AgentKey| matches!(room.get::<Activity>(**agent).doing, ActivityKind::Reading { waits: true, .. });
    let waiting: Vec<AgentKey> = agents.iter().filter(waits).copied().collect();
    assert_eq!(waiting.len(), 23);
    assert_eq!(room.get::<AgentState>(waiting[0]).0.why(), "waiting for a place at board");
    assert!(nearest_two(&room, &agents) >= BODY_UNITS - 1.0, "{}", nearest_two(&room, &agents));
    for _ in 0..10 {
        for due in room.dues.clone() {
            room.answer_to(&due, ThinkOutcome::Said { text: String::new() });
        }
        room.run(ticks(15.0));
    }
    let seen = agents.iter().filter(|agent| room.get::<Activity>(**agent).version_read(board) == Some(1)).count();
    assert_eq!(seen, 40, "everyone had a turn");
    assert!(room.events::<events::ActionDropped>().is_empty());
}

#[test]
fn an_agent_that_waited_too_long_for_a_place_reads_from_where_it_stands() {
    let mut room = SimulatedRoom::new();
    room.say(ConversationCommand::Switch { on: false });
    let board = room.element("board", (0.0, -600.0), None);
    let agents: Vec<AgentKey> = (0..60)
        .map(|index| {
            let at = ((index % 10) as f32 * 60.0 - 270.0, (index / 10) as f32 * 60.0);
            room.agent(&format!("a{index}"), at, Behaviour::Stationary)
        })
        .collect();
    room.answer = |_| None;
    room.run(1);
    for agent in &agents {
        room.enqueue(*agent, read(board));
    }
    let patience_secs = room.app.world().resource::<AttentionSettings>().place_patience_secs;
    room.run(ticks(patience_secs + 2.0));
    let asked = |agent: &&AgentKey| room.get::<Activity>(**agent).awaited.is_some();
    assert_eq!(agents.iter().filter(asked).count(), 60, "nobody who has a place has left it");
    assert!(room.events::<events::ActionDropped>().is_empty());
}

#[test]
fn an_unreachable_board_is_not_read_and_the_log_says_why() {
    let mut room = SimulatedRoom::new();
    let board = room.element("board", (900.0, 0.0), None);
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    let walls = [((150.0, 0.0), (40.0, 400.0)), ((-150.0, 0.0), (40.0, 400.0))];
    let ends = [((0.0, 200.0), (400.0, 40.0)), ((0.0, -200.0), (400.0, 40.0))];
    furnish(&mut room, walls.into_iter().chain(ends).map(|(at, size)| decor("wall", at, size)).collect());
    room.enqueue(ada, read(board));
    room.run(3);
    assert_eq!(room.events::<events::ActionDropped>()[0].why, "it cannot be reached");
    assert_eq!(room.state(ada), State::Idle);
    // When a wall around it is built on its way, it gives up in time.
    furnish(&mut room, Vec::new());
    room.enqueue(ada, read(board));
    room.run(ticks(2.0));
    let at = room.position(ada);
    let around = [((150.0, 0.0), (40.0, 400.0)), ((-150.0, 0.0), (40.0, 400.0))].into_iter().chain(ends);
    furnish(&mut room, around.map(|((x, y), size)| decor("wall", (x + at.x, y + at.y), size)).collect());
    room.run(ticks(62.0));
    assert_eq!(room.events::<events::ActionDropped>()[1].why, "it could not get there");
    assert!(!room.get::<Activity>(ada).reads(board));
}

#[test]
fn agents_walk_around_a_shelf_and_step_out_of_one_put_onto_them() {
    let mut room = SimulatedRoom::new();
    let board = room.element("board", (600.0, 0.0), None);
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.answer = |_| None;
    let shelf = decor("shelf", (300.0, 0.0), (80.0, 300.0));
    furnish(&mut room, vec![shelf.clone()]);
    let footprint = crate::navigation::furniture::decor_footprint(&shelf).expect("it is in the way");
    room.enqueue(ada, read(board));
    for _ in 0..ticks(15.0) {
        room.run(1);
        assert!(!footprint.holds(room.position(ada)), "{}", room.position(ada));
    }
    assert_eq!(room.dues.len(), 1, "it came to the board");
    let at = room.position(ada);
    furnish(&mut room, vec![decor("shelf", (at.x, at.y), (80.0, 80.0))]);
    room.run(ticks(2.0));
    assert!(room.position(ada).distance(at) > 40.0, "it stepped aside");
}

#[test]
fn two_participants_face_each_other_four_form_a_circle_and_none_stands_in_a_board() {
    for who in [vec!["ada", "ben"], vec!["ada", "ben", "cy", "dov"]] {
        let mut room = SimulatedRoom::new();
        room.answer = |_| None;
        let board = Vec2::new(60.0, 0.0);
        room.element("board", board.into(), None);
        let all = ["ada", "ben", "cy", "dov"];
        let agents: Vec<AgentKey> = (0..all.len())
            .map(|index| room.agent(all[index], (index as f32 * 45.0, 70.0), Behaviour::Stationary))
            .collect();
        room.run(1);
        talk(&mut room, &who);
        room.run(ticks(5.0));
        let talking = &agents[..who.len()];
        let nearest = nearest_two(&room, talking);
        assert!((nearest - slots::TALK_UNITS).abs() < 8.0, "{who:?}: {nearest}");
        let places: Vec<Vec2> = talking.iter().map(|agent| room.position(*agent)).collect();
        let middle = places.iter().sum::<Vec2>() / places.len() as f32;
        if let [left, right] = places[..] {
            // Figures look to the left or to the right: side by side they face each other.
            assert!((left.y - right.y).abs() < 8.0 && left.x < right.x, "{places:?}");
        }
        let radii = places.iter().map(|place| place.distance(middle));
        let (least, most) = radii.fold((f32::MAX, 0.0_f32), |(least, most), one| (least.min(one), most.max(one)));
        assert!(most - least < 8.0, "they stand in a circle: {places:?}");
        let footprint = element_footprint(board).expect("it is in the way");
        assert!(talking.iter().all(|agent| !footprint.holds(room.position(*agent))));
        assert!(talking.iter().all(|agent| room.state(*agent) == State::Conversing));
    }
}

#[test]
fn idle_agents_use_the_furniture_without_model_calls_and_show_it() {
    let mut room = SimulatedRoom::new();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 1.0e5;
    let agents =
        [room.agent("ada", (0.0, 0.0), Behaviour::Stationary), room.agent("ben", (100.0, 0.0), Behaviour::Wander)];
    room.say(ConversationCommand::Switch { on: false });
    let bench = decor("bench", (-100.0, 200.0), (140.0, 60.0));
    furnish(
        &mut room,
        vec![bench, decor("coffee", (100.0, 200.0), (66.0, 77.0)), decor("desk", (300.0, 200.0), (110.0, 80.0))],
    );
    let mut seen = Vec::new();
    for _ in 0..ticks(1_200.0) {
        room.run(1);
        for agent in agents {
            let visit = room.get::<Activity>(agent).visit;
            if let Some(Visit { used_for, until: Some(_), .. }) = visit
                && !seen.contains(&(agent, used_for))
            {
                seen.push((agent, used_for));
                let state = room.get::<AgentState>(agent);
                assert_eq!(state.0.why(), used_for.doing());
                let expected =
                    if used_for == Use::Sit { (None, Some(Seated::OnBench)) } else { (Some(Held::Cup), None) };
                assert_eq!(hands_and_seat(&room, agent), expected);
            }
        }
    }
    for agent in agents {
        for used_for in [Use::Sit, Use::Coffee] {
            assert!(seen.contains(&(agent, used_for)), "{agent:?} {used_for:?}: {seen:?}");
        }
    }
    assert!(seen.iter().all(|(_, used_for)| *used_for != Use::Work), "desks are for work");
    assert!(room.dues.is_empty(), "nobody asked a model");
}

#[test]
fn a_working_agent_goes_to_a_free_desk_and_begins_at_once() {
    let mut room = SimulatedRoom::new();
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    let desk = decor("desk", (200.0, 200.0), (90.0, 80.0));
    furnish(&mut room, vec![desk]);
    room.say(WorkRequested { agent: ada, activation: ActivationKey::numbered(7), from: None, at: None, cause: Seq(1) });
    room.run(2);
    assert_eq!(room.state(ada), State::Working, "the work waits for nobody's feet");
    room.run(ticks(5.0));
    let at = room.get::<Activity>(ada).visit.expect("it has a desk").at;
    assert!(room.position(ada).distance(at) <= 3.0);
    assert_eq!(posture(&room, ada), Posture::Writing);
    assert_eq!(hands_and_seat(&room, ada), (Some(Held::Pen), Some(Seated::AtDesk)));
}

#[test]
fn agents_carry_tasks_to_their_desks_once_they_have_fetched_them() {
    let mut room = SimulatedRoom::new();
    room.say(ConversationCommand::Switch { on: false });
    let boss = room.agent("boss", (300.0, 0.0), Behaviour::Stationary);
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    furnish(&mut room, vec![decor("desk", (0.0, 300.0), (90.0, 80.0))]);
    room.say(WorkRequested {
        agent: ada,
        activation: ActivationKey::numbered(7),
        from: Some(boss),
        at: None,
        cause: Seq(1),
    });
    let mut seen: Vec<(Option<Held>, Option<Seated>)> = Vec::new();
    for _ in 0..ticks(20.0) {
        room.run(1);
        let now = hands_and_seat(&room, ada);
        if room.state(ada) == State::Working && seen.last() != Some(&now) {
            seen.push(now);
        }
    }
    let at_desk = (Some(Held::Pen), Some(Seated::AtDesk));
    assert_eq!(seen.first(), Some(&(None, None)), "it goes there with nothing: {seen:?}");
    assert!(seen.contains(&(Some(Held::Letter), None)), "it brings its task to the desk: {seen:?}");
    assert_eq!(seen.last(), Some(&at_desk), "{seen:?}");
}

#[test]
fn readers_hold_a_sheet_or_a_book() {
    let activity = Activity { doing: reading(false), ..Activity::default() };
    let held = |kind: Option<&str>| Held::of(Posture::Reading, State::Reading, &activity, kind);
    assert_eq!(held(Some("rulebook")), Some(Held::Book));
    for kind in [Some("pinboard"), Some("messageboard"), Some("inbox"), None] {
        assert_eq!(held(kind), Some(Held::Sheet), "{kind:?}");
    }
    let stands = Walk { key: AgentKey(0), course: Course::STAND };
    let waits = Activity { doing: reading(true), ..Activity::default() };
    let posture = Posture::of(State::Reading, &stands, &waits);
    assert_eq!((posture, Held::of(posture, State::Reading, &waits, Some("rulebook"))), (Posture::Standing, None));
    let visit = Visit { at: Vec2::ZERO, used_for: Use::Browse, until: Some(900) };
    let browses = Activity { visit: Some(visit), ..Activity::default() };
    let posture = Posture::of(State::Idle, &stands, &browses);
    assert_eq!(Held::of(posture, State::Idle, &browses, None), Some(Held::Book), "along the shelf");
}

#[test]
fn an_agent_with_news_carries_a_letter_until_it_talks() {
    let telling = Activity { doing: ActivityKind::Telling { to: AgentKey(1), cause: Seq(1) }, ..Activity::default() };
    let held = |posture, state| Held::of(posture, state, &telling, None);
    assert_eq!(held(Posture::Walking, State::Wandering), Some(Held::Letter));
    assert_eq!(held(Posture::Standing, State::Wandering), Some(Held::Letter), "it has come there");
    for state in [State::Dragged, State::Paused, State::Conversing] {
        assert_eq!(held(Posture::Standing, state), None, "{state:?}");
    }
}

#[test]
fn waiting_agents_stand_up_and_walking_agents_do_not_sit() {
    let visit = Visit { at: Vec2::ZERO, used_for: Use::Work, until: None };
    let works = Activity { visit: Some(visit), ..Activity::default() };
    let seated = |posture, state, here: f32| Seated::of(posture, state, &works, Vec2::new(here, 0.0));
    assert_eq!(seated(Posture::Writing, State::Working, 3.0), Some(Seated::AtDesk));
    assert_eq!(seated(Posture::Writing, State::Working, 40.0), None, "it works where it stands");
    assert_eq!(seated(Posture::Walking, State::Working, 3.0), None);
    assert_eq!(seated(Posture::RaisingHand, State::Waiting, 3.0), None);
}

fn reading(waits: bool) -> ActivityKind {
    ActivityKind::Reading {
        action: Action::ReadElement { element: ElementKey(0), high: false },
        element: ElementKey(0),
        spot: Vec2::ZERO,
        arrive: 3.0,
        waits,
        version: 1,
        cause: Seq(1),
        failures: 0,
    }
}

fn posture(room: &SimulatedRoom, agent: AgentKey) -> Posture {
    Posture::of(room.state(agent), &room.get::<Walk>(agent), &room.get::<Activity>(agent))
}

/// The object that an agent holds when it is not reading an element, and its seat.
fn hands_and_seat(room: &SimulatedRoom, agent: AgentKey) -> (Option<Held>, Option<Seated>) {
    let (state, posture, activity) = (room.state(agent), posture(room, agent), room.get::<Activity>(agent));
    let held = Held::of(posture, state, &activity, None);
    (held, Seated::of(posture, state, &activity, room.position(agent)))
}
