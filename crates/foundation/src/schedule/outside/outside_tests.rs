//! The contract of every way out of the world, tried with a bell that is rung somewhere else.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use bevy::app::App;
use bevy::ecs::message::{Message, Messages};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

use super::pending::PendingOrdersExt;
use super::*;
use crate::schedule::saved::{load_world, save_world, world_hash};
use crate::schedule::{self, InputJournal, RecordedInput};

/// A bell that is rung somewhere else.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Ring {
    number: u32,
    tone: String,
}

#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Rung {
    number: u32,
    heard: String,
    is_last: bool,
}

impl Input for Rung {
    const KIND: &'static str = "rung";
}

impl Order for Ring {
    const SECTION: &'static str = "bells";
    type Key = u32;
    type Answer = Rung;

    fn key(&self) -> u32 {
        self.number
    }

    fn ended_by(answer: &Rung) -> Option<u32> {
        answer.is_last.then_some(answer.number)
    }
}

/// What happened outside, seen by the test.
#[derive(Default)]
struct Tower {
    started: Vec<u32>,
    cancelled: Vec<u32>,
    reporters: Vec<Reporter<Bell>>,
    polls: u32,
    /// What the next poll finds.
    polled: Vec<(u32, (String, bool))>,
}

#[derive(Clone, Default)]
struct Bell(Arc<Mutex<Tower>>);

impl Bell {
    fn tower(&self) -> std::sync::MutexGuard<'_, Tower> {
        self.0.lock().expect("no test panics while it holds the tower")
    }

    fn report(&self, number: u32, heard: &str, is_last: bool) {
        let reporter = self.tower().reporters.iter().find(|reporter| *reporter.key() == number).cloned();
        if let Some(reporter) = reporter {
            reporter.report((heard.to_owned(), is_last));
        }
    }

    fn forget(&self, number: u32) {
        self.tower().reporters.retain(|reporter| *reporter.key() != number);
    }
}

impl Outside for Bell {
    const NAME: &'static str = "bell";
    const MAX_RUNNING: usize = 2;
    type Key = u32;
    type Order = Ring;
    type Report = (String, bool);
    type Answer = Rung;
    type World = Res<'static, PendingOrders<Ring>>;

    fn poll(&mut self, _: &mut WorldOf<'_, '_, Self>) -> Vec<(u32, (String, bool))> {
        let mut tower = self.tower();
        tower.polls += 1;
        std::mem::take(&mut tower.polled)
    }

    fn wanted(&mut self, pending: &mut WorldOf<'_, '_, Self>) -> Vec<u32> {
        pending.iter().map(Ring::key).collect()
    }

    fn order(&self, number: &u32, pending: &WorldOf<'_, '_, Self>) -> Result<Ring, Rung> {
        let order = pending.get(number).cloned();
        order.filter(|order| order.tone != "unreadable").ok_or_else(|| self.lost(number, "it cannot be read"))
    }

    fn interrupted(&mut self, number: &u32, order: &Ring) -> Option<Rung> {
        (order.tone == "loud").then(|| self.lost(number, "it may have rung"))
    }

    fn start(
        &mut self,
        number: &u32,
        order: Ring,
        _: &mut WorldOf<'_, '_, Self>,
        reporter: Reporter<Self>,
    ) -> Start<Rung> {
        if order.tone == "silent" {
            return Start::Ended(self.lost(number, "it makes no sound"));
        }
        let mut tower = self.tower();
        tower.started.push(*number);
        tower.reporters.push(reporter);
        Start::Started
    }

    fn cancel(&mut self, number: &u32, _: &mut WorldOf<'_, '_, Self>) {
        self.tower().cancelled.push(*number);
    }

    fn receive(&mut self, number: &u32, report: (String, bool), _: &mut WorldOf<'_, '_, Self>) -> Received<Rung> {
        let (heard, is_last) = report;
        Received::Answer(Rung { number: *number, heard, is_last })
    }

    fn lost(&self, number: &u32, why: &str) -> Rung {
        Rung { number: *number, heard: why.to_owned(), is_last: true }
    }

    fn is_final(answer: &Rung) -> bool {
        answer.is_last
    }

    fn addressed_to(number: &u32, answer: Rung) -> Rung {
        Rung { number: *number, ..answer }
    }
}

/// The answers that entered the world, each with its tick.
#[derive(Resource, Default, Clone, PartialEq, Debug)]
struct Heard(Vec<(u64, Rung)>);

fn note_answers(mut answers: MessageReader<Rung>, clock: Res<schedule::SimClock>, mut heard: ResMut<Heard>) {
    heard.0.extend(answers.read().map(|answer| (clock.tick(), answer.clone())));
}

struct BellWorld {
    app: App,
    bell: Bell,
}

impl BellWorld {
    fn new() -> Self {
        let (mut app, bell) = (App::new(), Bell::default());
        app.add_plugins(schedule::plugin).init_resource::<Heard>();
        app.add_orders::<Ring>().add_outside(bell.clone());
        app.add_systems(
            Tick,
            note_answers
                .in_set(schedule::InPhase(schedule::WorkshopSystems::Simulate, schedule::Layer::Mind))
                .after(CollectInputs),
        );
        Self { app, bell }
    }

    /// The world of a later process that opens what this one saved.
    fn reopened(&mut self) -> Self {
        let saved = save_world(self.app.world_mut()).expect("it is plain data");
        let mut next = Self::new();
        load_world(next.app.world_mut(), &saved).expect("it was just saved");
        next
    }

    fn ring(&mut self, number: u32, tone: &str) {
        let tone = tone.to_owned();
        self.app.world_mut().resource_mut::<Messages<Ring>>().write(Ring { number, tone });
    }

    fn withdraw(&mut self, number: u32) {
        self.app.world_mut().resource_mut::<PendingOrders<Ring>>().withdraw(|order| order.number == number);
    }

    fn tick(&mut self) {
        schedule::advance(self.app.world_mut());
    }

    fn started(&self) -> Vec<u32> {
        self.bell.tower().started.clone()
    }

    fn heard(&self) -> Vec<(u32, String)> {
        let heard = &self.app.world().resource::<Heard>().0;
        heard.iter().map(|(_, answer)| (answer.number, answer.heard.clone())).collect()
    }

    fn pending(&self) -> Vec<u32> {
        self.app.world().resource::<PendingOrders<Ring>>().iter().map(Ring::key).collect()
    }
}

fn heard(number: u32, text: &str) -> (u32, String) {
    (number, text.to_owned())
}

#[test]
fn an_order_is_carried_out_in_the_tick_after_the_one_that_issued_it_and_ends_with_its_final_answer() {
    let mut world = BellWorld::new();
    world.ring(1, "soft");
    world.tick();
    assert_eq!((world.started(), world.pending()), (vec![], vec![1]));
    world.tick();
    assert_eq!(world.started(), [1]);
    let running = running_orders(world.app.world());
    assert_eq!(running, [RunningOrder { outside: "bell", key: "1".into(), since_tick: 2 }]);
    assert!(awaits_real_time(world.app.world()));

    world.bell.report(1, "ding", false);
    assert!(has_arrived(world.app.world()));
    world.tick();
    assert_eq!((world.heard(), world.pending()), (vec![heard(1, "ding")], vec![1]), "it goes on after a first answer");
    world.bell.report(1, "dong", true);
    world.tick();
    world.bell.report(1, "again", true);
    world.bell.forget(1);
    world.tick();
    world.tick();
    assert_eq!(world.heard(), [heard(1, "ding"), heard(1, "dong")], "what is said after the final answer is dropped");
    assert_eq!((world.started(), world.pending()), (vec![1], vec![]));
    assert!(running_orders(world.app.world()).is_empty());
}

#[test]
fn the_next_tick_waits_until_the_log_has_the_order() {
    let mut world = BellWorld::new();
    let must_wait = |world: &BellWorld, is_logged: bool| must_wait_for_log(world.app.world(), || is_logged);
    assert!(!must_wait(&world, false), "nothing was issued");
    world.ring(1, "soft");
    world.tick();
    assert_eq!([false, true].map(|is_logged| must_wait(&world, is_logged)), [true, false]);
    world.app.world_mut().resource_mut::<InputJournal>().replay([]);
    assert!(!must_wait(&world, false), "a replay carries nothing out");
    world.app.world_mut().resource_mut::<InputJournal>().end_replay();
    world.tick();
    assert!(!must_wait(&world, false), "the order of an earlier tick is in the log");
}

#[test]
fn an_order_of_an_earlier_process_is_only_repeated_where_that_is_safe() {
    let mut world = BellWorld::new();
    for (number, tone) in [(1, "soft"), (2, "loud"), (3, "soft"), (4, "loud")] {
        world.ring(number, tone);
    }
    world.tick();
    let mut next = world.reopened();
    next.tick();
    assert_eq!(next.started(), [1, 3]);
    assert_eq!(next.heard(), [heard(2, "it may have rung"), heard(4, "it may have rung")]);
    assert_eq!(next.pending(), [1, 3]);
    next.ring(5, "loud");
    next.bell.report(1, "ding", true);
    next.tick();
    next.tick();
    assert_eq!(next.started(), [1, 3, 5], "an order of this process was not carried out before");
}

#[test]
fn what_is_no_longer_wanted_is_cancelled_once_and_stays_silent() {
    let mut world = BellWorld::new();
    world.ring(1, "soft");
    world.tick();
    world.tick();
    world.withdraw(1);
    world.bell.report(1, "ding", true);
    world.tick();
    world.bell.report(1, "dong", true);
    world.bell.forget(1);
    world.tick();
    world.tick();
    assert_eq!(world.bell.tower().cancelled, [1]);
    assert_eq!(world.heard(), []);
}

#[test]
fn an_order_whose_thread_ends_without_an_answer_is_answered() {
    let mut world = BellWorld::new();
    world.ring(1, "soft");
    world.tick();
    world.tick();
    world.bell.report(1, "ding", false);
    world.bell.forget(1);
    world.tick();
    assert_eq!(world.heard(), [heard(1, "ding"), heard(1, "it ended without an answer")]);
    assert_eq!(world.pending(), [] as [u32; 0]);
}

#[test]
fn orders_that_cannot_be_read_or_started_are_answered_at_once() {
    let mut world = BellWorld::new();
    world.ring(1, "unreadable");
    world.ring(2, "silent");
    for _ in 0..4 {
        world.tick();
    }
    assert_eq!(world.heard(), [heard(1, "it cannot be read"), heard(2, "it makes no sound")]);
    assert_eq!((world.started(), world.pending()), (vec![], vec![]));
}

#[test]
fn no_more_orders_run_at_once_than_the_outside_allows() {
    let mut world = BellWorld::new();
    for number in 1..=4 {
        world.ring(number, "soft");
    }
    world.tick();
    world.tick();
    assert_eq!(world.started(), [1, 2]);
    world.bell.report(2, "ding", true);
    world.tick();
    assert_eq!(world.started(), [1, 2, 3]);
}

/// The recorded inputs of a world in which one order was answered, and the hash of the world after them.
fn recorded() -> (Vec<RecordedInput>, u64) {
    let mut world = BellWorld::new();
    world.ring(1, "soft");
    world.tick();
    world.tick();
    world.bell.report(1, "ding", true);
    world.tick();
    let inputs = world.app.world_mut().resource_mut::<InputJournal>().take_recorded();
    (inputs, world_hash(world.app.world_mut()))
}

#[test]
fn a_replay_carries_nothing_out_and_has_the_same_answers() {
    let (inputs, hash) = recorded();
    let mut world = BellWorld::new();
    world.app.world_mut().resource_mut::<InputJournal>().replay(inputs);
    world.ring(1, "soft");
    for _ in 0..3 {
        world.tick();
    }
    assert_eq!((world.started(), world.heard()), (vec![], vec![heard(1, "ding")]));
    assert_eq!(world_hash(world.app.world_mut()), hash);
}

#[test]
fn what_arrives_during_a_replay_is_dropped() {
    let mut world = BellWorld::new();
    world.ring(1, "soft");
    world.tick();
    world.tick();
    world.app.world_mut().resource_mut::<InputJournal>().replay([]);
    world.bell.report(1, "ding", true);
    world.tick();
    assert_eq!((world.heard(), world.bell.tower().cancelled.clone()), (vec![], vec![1]));
}

#[test]
fn an_outside_is_polled_in_each_live_tick_and_what_it_finds_about_running_orders_is_an_answer() {
    let mut world = BellWorld::new();
    world.tick();
    assert_eq!(world.bell.tower().polls, 1, "there is no order");
    world.ring(1, "soft");
    world.tick();
    world.tick();
    let found = |number: u32, text: &str, is_last: bool| (number, (text.to_owned(), is_last));
    world.bell.tower().polled = vec![found(1, "ding", false), found(2, "of nobody", true)];
    world.tick();
    assert_eq!(world.heard(), [heard(1, "ding")]);
    // It lets go of the order together with its last report.
    world.bell.tower().polled = vec![found(1, "dong", true), found(1, "again", true)];
    world.bell.forget(1);
    world.tick();
    world.tick();
    assert_eq!(world.heard(), [heard(1, "ding"), heard(1, "dong")]);

    let polls = world.bell.tower().polls;
    world.app.world_mut().resource_mut::<InputJournal>().replay([]);
    world.tick();
    assert_eq!(world.bell.tower().polls, polls, "nothing is polled in a replay");
}

#[test]
fn notices_enter_as_inputs_and_are_dropped_in_a_replay() {
    let mut world = BellWorld::new();
    world.app.add_notices::<Rung>().add_notices::<Rung>();
    let sender = world.app.world().resource::<Notices<Rung>>().sender();
    let notice = |number: u32| Rung { number, heard: "unasked".to_owned(), is_last: false };
    sender.give(notice(1));
    assert!(has_arrived(world.app.world()));
    world.tick();
    assert_eq!(world.heard(), [heard(1, "unasked")]);
    world.app.world_mut().resource_mut::<InputJournal>().replay([]);
    sender.give(notice(2));
    world.tick();
    world.app.world_mut().resource_mut::<InputJournal>().end_replay();
    world.tick();
    assert_eq!(world.heard(), [heard(1, "unasked")]);
}

#[test]
fn a_notice_that_may_not_wait_is_refused_while_very_many_are_waiting() {
    let mut world = BellWorld::new();
    world.app.add_notices::<Rung>();
    let sender = world.app.world().resource::<Notices<Rung>>().sender();
    let notice = |number: u32| Rung { number, heard: "unasked".to_owned(), is_last: false };
    let given = (0..1_000).filter(|number| sender.try_give(notice(*number))).count();
    assert!((1..1_000).contains(&given), "{given} were given");
    world.tick();
    assert_eq!(world.heard().len(), given);
    assert!(sender.try_give(notice(1_000)), "there is room again");
}

#[test]
fn a_tape_plays_what_it_recorded_in_the_same_ticks_and_starts_nothing() {
    let mut world = BellWorld::new();
    world.app.insert_resource(Tape::recording());
    world.ring(1, "soft");
    world.ring(2, "high");
    world.tick();
    world.tick();
    world.bell.report(2, "hum", false);
    world.tick();
    world.bell.report(1, "ding", true);
    world.tick();
    world.bell.report(2, "dong", true);
    world.tick();
    let (lines, dropped) = world.app.world_mut().resource_mut::<Tape>().take_lines();
    assert_eq!((lines.len(), dropped), (2, 0));
    let first: serde_json::Value = serde_json::from_str(&lines[0]).expect("a line is JSON");
    let answer = json!({ "after_ticks": 2, "answer": { "number": 1, "heard": "ding", "is_last": true } });
    assert_eq!(first["answers"], json!([answer]));

    let mut player = BellWorld::new();
    player.app.insert_resource(Tape::playing(&lines.join("\n")).expect("it was just written"));
    // The tape knows the orders by what they are, and not the third one.
    player.ring(1, "soft");
    player.ring(2, "high");
    for _ in 0..5 {
        player.tick();
    }
    player.ring(3, "low");
    player.tick();
    player.tick();
    assert_eq!(player.started(), [] as [u32; 0]);
    let heard_of = |world: &BellWorld| world.app.world().resource::<Heard>().0.clone();
    assert_eq!(heard_of(&player)[..3], heard_of(&world));
    assert_eq!(player.heard()[3], heard(3, "the tape that is played does not contain it"));
}

#[test]
fn a_tape_that_cannot_be_read_names_its_line() {
    let good = json!({ "outside": "bell", "order": {}, "answers": [] });
    let error = Tape::playing(&format!("{good}\n\nnonsense")).expect_err("the third line is not JSON");
    assert_eq!(error.line, 3);
}

#[derive(Clone, Debug)]
enum Step {
    Ring(u32, &'static str),
    Withdraw(u32),
    Report(u32, bool),
    Forget(u32),
    Tick,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let number = 0..5_u32;
    let tones = prop::sample::select(vec!["soft", "loud", "silent", "unreadable"]);
    let step = prop_oneof![
        (number.clone(), tones).prop_map(|(number, tone)| Step::Ring(number, tone)),
        number.clone().prop_map(Step::Withdraw),
        (number.clone(), any::<bool>()).prop_map(|(number, is_last)| Step::Report(number, is_last)),
        number.prop_map(Step::Forget),
        Just(Step::Tick),
        Just(Step::Tick),
        Just(Step::Reopen),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    #[test]
    fn every_order_is_started_at_most_once_in_a_process_and_has_one_final_answer_or_was_withdrawn(steps in steps()) {
        let mut world = BellWorld::new();
        let (mut issued, mut withdrawn, mut finals) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for step in steps {
            match step {
                Step::Ring(number, tone) => {
                    if issued.insert(number) {
                        world.ring(number, tone);
                    }
                }
                Step::Withdraw(number) => {
                    if world.pending().contains(&number) {
                        withdrawn.insert(number);
                        world.withdraw(number);
                    }
                }
                Step::Report(number, is_last) => world.bell.report(number, "ding", is_last),
                Step::Forget(number) => world.bell.forget(number),
                Step::Tick => world.tick(),
                Step::Reopen => {
                    // Messages are not saved: an order that no tick has taken up was never issued.
                    world.tick();
                    finals.extend(take_finals(&mut world));
                    world = world.reopened();
                }
            }
            let started = world.started();
            prop_assert_eq!(started.iter().collect::<BTreeSet<_>>().len(), started.len());
            prop_assert!(running_orders(world.app.world()).len() <= Bell::MAX_RUNNING);
        }
        // Every thread gives up: whoever still waits is answered.
        for _ in 0..8 {
            world.tick();
            world.bell.tower().reporters.clear();
            world.tick();
        }
        finals.extend(take_finals(&mut world));
        prop_assert!(world.pending().is_empty());
        let answered: BTreeSet<u32> = finals.iter().copied().collect();
        prop_assert_eq!(answered.len(), finals.len(), "answered twice");
        prop_assert!(issued.difference(&answered).all(|number| withdrawn.contains(number)));
    }
}

fn take_finals(world: &mut BellWorld) -> Vec<u32> {
    let heard = std::mem::take(&mut world.app.world_mut().resource_mut::<Heard>().0);
    heard.into_iter().filter(|(_, answer)| answer.is_last).map(|(_, answer)| answer.number).collect()
}
