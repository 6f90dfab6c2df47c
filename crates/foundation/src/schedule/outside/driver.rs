//! The driver of one outside: starts what is wanted, cancels what is not, and passes reports on as answers.

use std::collections::{BTreeMap, BTreeSet};

use bevy::ecs::prelude::*;
use bevy::ecs::system::StaticSystemParam;

use super::reporter::{Reports, Wakeup};
use super::tape::{Tape, TapedOrder};
use super::waiting::RunningOrder;
use super::{Outside, Received, Start, WorldOf};
use crate::schedule::{InputJournal, InputQueue, SimClock};

/// An outside with the orders that this process has started. Not saved: the orders are, by their owner.
#[derive(Resource)]
pub struct OutsideDriver<O: Outside> {
    outside: O,
    /// The running orders, each with the tick in which it was started.
    running: BTreeMap<O::Key, u64>,
    /// Orders with a final answer that their owner has not closed yet: never started again.
    answered: BTreeSet<O::Key>,
    has_looked: bool,
    reports: Reports<O>,
    /// Answers of a tape, by the tick in which they are due.
    taped: Vec<(u64, O::Key, O::Answer)>,
}

impl<O: Outside> OutsideDriver<O> {
    pub(super) fn new(outside: O, wakeup: Wakeup) -> Self {
        let (running, answered, taped) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        Self { outside, running, answered, has_looked: false, reports: Reports::new(wakeup), taped }
    }

    /// The outside.
    pub fn outside(&self) -> &O {
        &self.outside
    }

    /// The outside, to end what it runs when the world is closed.
    pub fn outside_mut(&mut self) -> &mut O {
        &mut self.outside
    }

    /// Whether an order is being carried out by this process.
    pub fn is_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// Whether the clock waits for an answer.
    pub(super) fn is_awaiting(&self) -> bool {
        self.running.keys().any(|key| self.outside.is_awaited(key))
    }

    pub(super) fn has_arrived(&self) -> bool {
        self.reports.has_any()
    }

    pub(super) fn running(&self) -> impl Iterator<Item = RunningOrder> {
        self.running.iter().map(|(key, tick)| RunningOrder {
            outside: O::NAME,
            key: key.to_string(),
            since_tick: *tick,
        })
    }

    /// Drops everything: a replay carries nothing out.
    fn drop_all(&mut self, world: &mut WorldOf<'_, '_, O>) {
        for key in std::mem::take(&mut self.running).into_keys() {
            self.outside.cancel(&key, world);
        }
        drop(self.reports.take());
        (self.has_looked, self.answered, self.taped) = (false, BTreeSet::new(), Vec::new());
    }
}

/// The answers of one tick on their way into the world.
struct Answers<'a, O: Outside> {
    queue: &'a mut InputQueue<O::Answer>,
    tape: Option<&'a mut Tape>,
    tick: u64,
}

impl<O: Outside> Answers<'_, O> {
    fn push(&mut self, key: &O::Key, answer: O::Answer) {
        if let Some(tape) = &mut self.tape {
            tape.record_answer(O::NAME, &key.to_string(), self.tick, &answer, O::is_final(&answer));
        }
        self.queue.push(answer);
    }
}

/// Cancels orders of an outside that are no longer wanted, receives its reports, and starts orders that were issued in an
/// earlier tick.
pub fn execute<O: Outside>(
    mut driver: ResMut<OutsideDriver<O>>,
    world: StaticSystemParam<O::World>,
    mut queue: ResMut<InputQueue<O::Answer>>,
    (journal, clock): (Res<InputJournal>, Res<SimClock>),
    mut tape: Option<ResMut<Tape>>,
) {
    let mut world = world.into_inner();
    let driver = driver.bypass_change_detection();
    if journal.is_replaying() {
        // A replay carries nothing out: it runs no code of an agent.
        rule!("a-replay-runs-no-code");
        driver.drop_all(&mut world);
        return;
    }
    let polled = driver.outside.poll(&mut world);
    let wanted = driver.outside.wanted(&mut world);
    let has_reports = !polled.is_empty() || driver.reports.has_any();
    if wanted.is_empty() && driver.running.is_empty() && driver.answered.is_empty() && !has_reports {
        driver.has_looked = true;
        return;
    }
    let tape = tape.as_deref_mut();
    let mut answers = Answers::<O> { queue: &mut queue, tape, tick: clock.tick() };
    driver.cancel_unwanted(&wanted, &mut answers, &mut world);
    driver.receive(polled, &mut answers, &mut world);
    let running = &driver.running;
    driver.outside.attend(&|key| running.contains_key(key), &mut world);
    driver.start_wanted(wanted, &mut answers, &mut world);
}

impl<O: Outside> OutsideDriver<O> {
    fn receive(
        &mut self,
        polled: Vec<(O::Key, O::Report)>,
        answers: &mut Answers<'_, O>,
        world: &mut WorldOf<'_, '_, O>,
    ) {
        let (arrived, ended) = self.reports.take();
        for (key, report) in polled.into_iter().chain(arrived) {
            // It was cancelled, or it reports after its final report.
            if !self.running.contains_key(&key) {
                continue;
            }
            match self.outside.receive(&key, report, world) {
                Received::Nothing => {}
                Received::Answer(answer) => self.answer(&key, answer, answers),
                Received::Ended => self.end(&key, answers),
            }
        }
        for key in ended {
            if self.running.contains_key(&key) {
                let answer = self.outside.lost(&key, "it ended without an answer");
                self.answer(&key, answer, answers);
            }
        }
        let tick = answers.tick;
        for (_, key, answer) in self.taped.extract_if(.., |(due, _, _)| *due <= tick).collect::<Vec<_>>() {
            if self.running.contains_key(&key) {
                self.answer(&key, answer, answers);
            }
        }
    }

    /// Ends an order of which the world needs nothing more.
    fn end(&mut self, key: &O::Key, answers: &mut Answers<'_, O>) {
        self.running.remove(key);
        self.answered.insert(key.clone());
        if let Some(tape) = &mut answers.tape {
            tape.end(O::NAME, &key.to_string());
        }
    }

    fn answer(&mut self, key: &O::Key, answer: O::Answer, answers: &mut Answers<'_, O>) {
        if O::is_final(&answer) {
            self.running.remove(key);
            self.answered.insert(key.clone());
        }
        answers.push(key, answer);
    }

    fn cancel_unwanted(&mut self, wanted: &[O::Key], answers: &mut Answers<'_, O>, world: &mut WorldOf<'_, '_, O>) {
        let wanted: BTreeSet<&O::Key> = wanted.iter().collect();
        for (key, _) in self.running.extract_if(.., |key, _| !wanted.contains(key)) {
            self.outside.cancel(&key, world);
            if let Some(tape) = &mut answers.tape {
                tape.end(O::NAME, &key.to_string());
            }
        }
        self.taped.retain(|(_, key, _)| wanted.contains(key));
        self.answered.retain(|key| wanted.contains(key));
    }

    fn start_wanted(&mut self, wanted: Vec<O::Key>, answers: &mut Answers<'_, O>, world: &mut WorldOf<'_, '_, O>) {
        let is_first_look = !std::mem::replace(&mut self.has_looked, true);
        for key in wanted {
            if self.running.contains_key(&key) || self.answered.contains(&key) {
                continue;
            }
            // Orders from before this process are looked at even if there is no free place: they may have been carried
            // out, which only this look knows.
            if self.running.len() >= O::MAX_RUNNING && !is_first_look {
                return;
            }
            match self.start(&key, is_first_look, answers, world) {
                Start::Started => drop(self.running.insert(key, answers.tick)),
                Start::NotYet => {}
                Start::Ended(answer) => self.answer(&key, answer, answers),
            }
        }
    }

    fn start(
        &mut self,
        key: &O::Key,
        is_first_look: bool,
        answers: &mut Answers<'_, O>,
        world: &mut WorldOf<'_, '_, O>,
    ) -> Start<O::Answer> {
        let order = match self.outside.order(key, world) {
            Ok(order) => order,
            Err(answer) => return Start::Ended(answer),
        };
        if is_first_look && let Some(answer) = self.outside.interrupted(key, &order) {
            return Start::Ended(answer);
        }
        if self.running.len() >= O::MAX_RUNNING {
            return Start::NotYet;
        }
        if let Some(tape) = &mut answers.tape {
            match tape.begin(O::NAME, &key.to_string(), answers.tick, &order) {
                TapedOrder::Live => {}
                TapedOrder::Played(played) => {
                    let addressed = played.into_iter();
                    let addressed = addressed.map(|(due, answer)| (due, key.clone(), O::addressed_to(key, answer)));
                    self.taped.extend(addressed);
                    return Start::Started;
                }
                TapedOrder::Unknown => {
                    return Start::Ended(self.outside.lost(key, "the tape that is played does not contain it"));
                }
            }
        }
        self.outside.start(key, order, world, self.reports.reporter(key.clone()))
    }
}
