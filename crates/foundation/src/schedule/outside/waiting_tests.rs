//! Outsides that answer quickly: their orders are started between ticks, and the clock waits for their answers.

use std::sync::{Arc, Mutex, MutexGuard};

use bevy::app::App;
use bevy::ecs::message::{Message, Messages};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::*;
use crate::schedule::outside::{
    Order, OutsideExt, PendingOrders, PendingOrdersExt, Received, Reporter, Start, Tape, WorldOf,
};
use crate::schedule::saved::{load_world, save_world};
use crate::schedule::{self, InPhase, Layer, SimClock, Tick, WorkshopSystems};

/// A call into a valley.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Call {
    number: u32,
}

#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Reply {
    number: u32,
    text: String,
}

impl Input for Reply {
    const KIND: &'static str = "reply";
}

impl Order for Call {
    const SECTION: &'static str = "calls";
    type Key = u32;
    type Answer = Reply;

    fn key(&self) -> u32 {
        self.number
    }

    fn ended_by(answer: &Reply) -> Option<u32> {
        Some(answer.number)
    }
}

/// The patience of an outside without one.
const NONE: u64 = u64::MAX;
const AN_HOUR: u64 = 3_600_000;

/// Replies when the test does. The clock waits this many milliseconds. Calls with the number 0 are refused.
struct Valley<const MILLIS: u64>(Arc<Mutex<Vec<Reporter<Self>>>>);

impl<const MILLIS: u64> Clone for Valley<MILLIS> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<const MILLIS: u64> Valley<MILLIS> {
    fn called(&self) -> MutexGuard<'_, Vec<Reporter<Self>>> {
        self.0.lock().expect("no test panics while it holds them")
    }
}

impl<const MILLIS: u64> Outside for Valley<MILLIS> {
    const NAME: &'static str = "valley";
    const MAX_RUNNING: usize = 2;
    const PATIENCE: Option<Duration> = if MILLIS == NONE { None } else { Some(Duration::from_millis(MILLIS)) };
    type Key = u32;
    type Order = Call;
    type Report = String;
    type Answer = Reply;
    type World = Res<'static, PendingOrders<Call>>;

    fn wanted(&mut self, pending: &mut WorldOf<'_, '_, Self>) -> Vec<u32> {
        pending.iter().map(Call::key).collect()
    }

    fn order(&self, number: &u32, pending: &WorldOf<'_, '_, Self>) -> Result<Call, Reply> {
        pending.get(number).cloned().ok_or_else(|| self.lost(number, "it is gone"))
    }

    fn interrupted(&mut self, _: &u32, _: &Call) -> Option<Reply> {
        None
    }

    fn start(
        &mut self,
        number: &u32,
        _: Call,
        _: &mut WorldOf<'_, '_, Self>,
        reporter: Reporter<Self>,
    ) -> Start<Reply> {
        if *number == 0 {
            return Start::Ended(self.lost(number, "refused"));
        }
        self.called().push(reporter);
        Start::Started
    }

    fn cancel(&mut self, _: &u32, _: &mut WorldOf<'_, '_, Self>) {}

    fn receive(&mut self, number: &u32, text: String, _: &mut WorldOf<'_, '_, Self>) -> Received<Reply> {
        Received::Answer(Reply { number: *number, text })
    }

    fn lost(&self, number: &u32, why: &str) -> Reply {
        Reply { number: *number, text: why.to_owned() }
    }

    fn is_final(_: &Reply) -> bool {
        true
    }

    fn addressed_to(number: &u32, answer: Reply) -> Reply {
        Reply { number: *number, ..answer }
    }
}

/// The answers that entered the world: the tick, the number and the text of each.
#[derive(Resource, Default)]
struct Admitted(Vec<(u64, u32, String)>);

fn note_answers(mut answers: MessageReader<Reply>, clock: Res<SimClock>, mut admitted: ResMut<Admitted>) {
    admitted.0.extend(answers.read().map(|answer| (clock.tick(), answer.number, answer.text.clone())));
}

struct ValleyWorld<const MILLIS: u64> {
    app: App,
    valley: Valley<MILLIS>,
}

impl<const MILLIS: u64> ValleyWorld<MILLIS> {
    fn new() -> Self {
        let (mut app, valley) = (App::new(), Valley::<MILLIS>(Arc::default()));
        app.add_plugins(schedule::plugin).init_resource::<Admitted>();
        app.add_orders::<Call>().add_outside(valley.clone());
        app.add_systems(Tick, note_answers.in_set(InPhase(WorkshopSystems::Simulate, Layer::Mind)));
        Self { app, valley }
    }

    fn call(&mut self, number: u32) {
        self.app.world_mut().resource_mut::<Messages<Call>>().write(Call { number });
    }

    fn tick(&mut self) {
        schedule::advance(self.app.world_mut());
    }

    fn must_wait(&mut self, is_logged: bool) -> bool {
        must_wait(self.app.world_mut(), is_logged)
    }

    fn started(&self) -> Vec<u32> {
        self.valley.called().iter().map(|reporter| *reporter.key()).collect()
    }

    fn reply(&self, number: u32) {
        let reporter = self.valley.called().iter().find(|reporter| *reporter.key() == number).cloned();
        reporter.expect("it was called").report("hello".to_owned());
    }

    fn admitted(&self) -> Vec<(u64, u32, String)> {
        self.app.world().resource::<Admitted>().0.clone()
    }
}

fn admitted(tick: u64, number: u32) -> (u64, u32, String) {
    (tick, number, "hello".to_owned())
}

#[test]
fn an_order_is_started_before_the_next_tick_once_the_log_is_written_and_that_tick_has_its_answer() {
    let mut world = ValleyWorld::<AN_HOUR>::new();
    assert!(!world.must_wait(false), "nothing was issued");
    world.call(1);
    world.tick();
    assert!(world.must_wait(false), "the tick is not in the log");
    assert_eq!(world.started(), [] as [u32; 0]);
    assert!(world.must_wait(true), "the answer is not there");
    assert!(world.must_wait(true));
    assert_eq!(world.started(), [1], "it is started once");
    world.reply(1);
    assert!(!world.must_wait(true));
    world.tick();
    assert!(!world.must_wait(false), "it is answered");
    world.tick();
    assert_eq!((world.admitted(), world.started()), (vec![admitted(2, 1)], vec![1]));
}

#[test]
fn the_clock_waits_no_longer_than_the_patience_and_a_late_answer_is_admitted_when_it_comes() {
    let mut world = ValleyWorld::<0>::new();
    world.call(1);
    world.tick();
    assert!(world.must_wait(false), "the log is waited for without a limit");
    assert!(!world.must_wait(true));
    assert_eq!(world.started(), [1]);
    world.tick();
    world.tick();
    world.reply(1);
    world.tick();
    assert_eq!((world.admitted(), world.started()), (vec![admitted(4, 1)], vec![1]));
}

#[test]
fn an_outside_without_patience_is_not_awaited_and_starts_its_orders_in_ticks() {
    let mut world = ValleyWorld::<NONE>::new();
    world.call(1);
    world.tick();
    assert!(!world.must_wait(false) && !world.must_wait(true));
    assert_eq!(world.started(), [] as [u32; 0]);
    world.tick();
    assert_eq!(world.started(), [1]);
    assert!(!world.must_wait(true));
}

#[test]
fn an_order_is_started_in_the_next_tick_if_nothing_was_done_between_the_ticks() {
    let mut world = ValleyWorld::<AN_HOUR>::new();
    world.call(1);
    world.tick();
    world.tick();
    assert_eq!(world.started(), [1]);
    assert!(world.must_wait(true), "its answer is awaited all the same");
    world.reply(1);
    world.tick();
    assert_eq!(world.admitted(), [admitted(3, 1)]);
}

#[test]
fn orders_of_an_earlier_process_are_started_before_the_first_tick() {
    let mut world = ValleyWorld::<AN_HOUR>::new();
    world.call(1);
    world.tick();
    let saved = save_world(world.app.world_mut()).expect("it is plain data");
    let mut next = ValleyWorld::<AN_HOUR>::new();
    load_world(next.app.world_mut(), &saved).expect("it was just saved");
    assert!(next.must_wait(true));
    assert_eq!(next.started(), [1]);
    next.reply(1);
    assert!(!next.must_wait(true));
    next.tick();
    assert_eq!(next.admitted(), [admitted(2, 1)]);
}

#[test]
fn what_is_withdrawn_or_refused_is_not_waited_for() {
    let mut world = ValleyWorld::<AN_HOUR>::new();
    world.call(0);
    world.call(1);
    world.tick();
    assert!(world.must_wait(true), "the other one is awaited");
    world.app.world_mut().resource_mut::<PendingOrders<Call>>().withdraw(|call| call.number == 1);
    assert!(!world.must_wait(true));
    world.reply(1);
    world.tick();
    assert_eq!(world.admitted(), [(2, 0, "refused".to_owned())]);
    // It is no more waited for if its thread gives up.
    world.call(2);
    world.tick();
    assert!(world.must_wait(true));
    world.valley.called().clear();
    assert!(!world.must_wait(true));
    world.tick();
    assert_eq!(world.admitted()[1], (4, 2, "it ended without an answer".to_owned()));
}

#[test]
fn a_replay_waits_for_nothing_and_starts_nothing() {
    let mut world = ValleyWorld::<AN_HOUR>::new();
    world.app.world_mut().resource_mut::<InputJournal>().replay([]);
    world.call(1);
    for _ in 0..3 {
        world.tick();
        assert!(!world.must_wait(false) && !world.must_wait(true));
    }
    assert_eq!(world.started(), [] as [u32; 0]);
}

#[test]
fn whoever_waits_for_an_answer_is_woken_by_it() {
    let mut world = ValleyWorld::<AN_HOUR>::new();
    world.call(1);
    world.tick();
    assert!(world.must_wait(true));
    world.reply(1);
    let began = Instant::now();
    wait(world.app.world(), Duration::from_millis(AN_HOUR));
    assert!(began.elapsed() < Duration::from_millis(AN_HOUR) && !world.must_wait(true));
}

#[test]
fn a_tape_plays_in_the_same_ticks_and_is_not_waited_for() {
    let mut world = ValleyWorld::<AN_HOUR>::new();
    world.app.insert_resource(Tape::recording());
    world.call(1);
    world.tick();
    assert!(world.must_wait(true));
    world.reply(1);
    assert!(!world.must_wait(true));
    world.tick();
    assert_eq!(world.admitted(), [admitted(2, 1)]);
    let (lines, _) = world.app.world_mut().resource_mut::<Tape>().take_lines();

    let mut player = ValleyWorld::<AN_HOUR>::new();
    player.app.insert_resource(Tape::playing(&lines.join("\n")).expect("it was just written"));
    player.call(1);
    player.tick();
    assert!(!player.must_wait(true));
    player.tick();
    assert_eq!((player.admitted(), player.started()), (vec![admitted(2, 1)], vec![]));
}

proptest! {
    #[test]
    fn with_enough_patience_every_answer_is_in_the_tick_after_its_order(
        ticks in prop::collection::vec((0..5_u32, 0..3_usize), 1..8),
        last_first in any::<bool>(),
    ) {
        let mut world = ValleyWorld::<AN_HOUR>::new();
        let (mut number, mut expected) = (0, Vec::new());
        for (tick, (calls, unlogged)) in (1..).zip(ticks) {
            for _ in 0..calls {
                number += 1;
                world.call(number);
                expected.push((tick + 1, number));
            }
            world.tick();
            for _ in 0..unlogged {
                prop_assert_eq!(world.must_wait(false), calls > 0);
            }
            while world.must_wait(true) {
                let mut called = std::mem::take(&mut *world.valley.called());
                prop_assert!((1..=2).contains(&called.len()), "{} run at once", called.len());
                let next = if last_first { called.pop() } else { Some(called.remove(0)) };
                world.valley.called().extend(called);
                next.expect("there is one").report("hello".to_owned());
            }
        }
        world.tick();
        let mut admitted: Vec<(u64, u32)> = world.admitted().iter().map(|(tick, number, _)| (*tick, *number)).collect();
        admitted.sort_unstable();
        prop_assert_eq!(admitted, expected);
    }
}
