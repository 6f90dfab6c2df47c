//! The driver of one outside: starts what is wanted, cancels what is not, and passes reports on as answers.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use bevy::ecs::prelude::*;
use bevy::ecs::system::StaticSystemParam;

use super::reporter::{Reports, Wakeup};
use super::tape::{Tape, TapedOrder};
use super::waiting::{Awaited, RunningOrder};
use super::{Outside, Received, Start, WorldOf};
use crate::schedule::{InputJournal, InputQueue, SimClock};

/// An outside with the orders that this process has started. Not saved: the orders are, by their owner.
#[derive(Resource)]
pub struct OutsideDriver<O: Outside> {
    outside: O,
    running: BTreeMap<O::Key, Running>,
    /// Orders with a final answer that their owner has not closed yet: never started again.
    answered: BTreeSet<O::Key>,
    has_looked: bool,
    reports: Reports<O>,
    /// Answers of a tape, by the tick in which they are due.
    taped: Vec<(u64, O::Key, O::Answer)>,
    /// Since when the clock has waited for an answer, if it does.
    waits_since: Option<Instant>,
}

/// A running order.
struct Running {
    since_tick: u64,
    /// Whether a tape plays its answers.
    is_played: bool,
}

impl<O: Outside> OutsideDriver<O> {
    pub(super) fn new(outside: O, wakeup: Wakeup) -> Self {
        let (running, answered, taped) = (BTreeMap::new(), BTreeSet::new(), Vec::new());
        let reports = Reports::new(wakeup);
        Self { outside, running, answered, has_looked: false, reports, taped, waits_since: None }
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
        self.running.iter().map(|(key, running)| RunningOrder {
            outside: O::NAME,
            key: key.to_string(),
            since_tick: running.since_tick,
        })
    }

    /// Drops everything: a replay carries nothing out.
    fn drop_all(&mut self, world: &mut WorldOf<'_, '_, O>) {
        for key in std::mem::take(&mut self.running).into_keys() {
            self.outside.cancel(&key, world);
        }
        drop(self.reports.take());
        (self.has_looked, self.answered, self.taped) = (false, BTreeSet::new(), Vec::new());
        self.waits_since = None;
    }

    /// Whether nothing is wanted, running or waiting to be received.
    fn is_at_rest(&self, wanted: &[O::Key]) -> bool {
        wanted.is_empty() && self.running.is_empty() && self.answered.is_empty() && !self.reports.has_any()
    }

    fn is_begun(&self, key: &O::Key) -> bool {
        self.running.contains_key(key) || self.answered.contains(key)
    }

    /// Whether the clock waits for the answer to a running order. The answers of a tape have their ticks.
    fn is_awaited(&mut self) -> bool {
        let Some(patience) = O::PATIENCE else { return false };
        if self.running.values().all(|running| running.is_played) {
            self.waits_since = None;
            return false;
        }
        self.waits_since.get_or_insert_with(Instant::now).elapsed() < patience
    }
}

/// The answers of one tick on their way into the world.
struct Answers<'a, O: Outside> {
    queue: &'a mut InputQueue<O::Answer>,
    tape: Option<&'a mut Tape>,
    /// The latest tick that has begun, in which orders are started.
    tick: u64,
    /// The tick that admits the answers.
    admitted_in: u64,
}

impl<O: Outside> Answers<'_, O> {
    fn push(&mut self, key: &O::Key, answer: O::Answer) {
        if let Some(tape) = &mut self.tape {
            tape.record_answer(O::NAME, &key.to_string(), self.admitted_in, &answer, O::is_final(&answer));
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
    if polled.is_empty() && driver.is_at_rest(&wanted) {
        driver.has_looked = true;
        return;
    }
    let (tape, tick) = (tape.as_deref_mut(), clock.tick());
    let mut answers = Answers::<O> { queue: &mut queue, tape, tick, admitted_in: tick };
    driver.cancel_unwanted(&wanted, &mut answers, &mut world);
    driver.receive(polled, &mut answers, &mut world);
    let running = &driver.running;
    driver.outside.attend(&|key| running.contains_key(key), &mut world);
    driver.start_wanted(wanted, &mut answers, &mut world);
}

/// Does between two ticks what [`execute`] does in the next one, for an outside with [`Outside::PATIENCE`]: orders of the
/// latest tick are started as soon as it is in the log, and what is answered by then is admitted by the next tick. Returns
/// what that tick has to wait for.
pub(super) fn execute_between_ticks<O: Outside>(
    In(is_logged): In<bool>,
    mut driver: ResMut<OutsideDriver<O>>,
    world: StaticSystemParam<O::World>,
    mut queue: ResMut<InputQueue<O::Answer>>,
    (journal, clock): (Res<InputJournal>, Res<SimClock>),
    mut tape: Option<ResMut<Tape>>,
) -> Awaited {
    let mut world = world.into_inner();
    let driver = driver.bypass_change_detection();
    if journal.is_replaying() {
        return Awaited::Nothing;
    }
    let polled = driver.outside.poll(&mut world);
    let wanted = driver.outside.wanted(&mut world);
    if polled.is_empty() && driver.is_at_rest(&wanted) {
        (driver.has_looked, driver.waits_since) = (true, None);
        return Awaited::Nothing;
    }
    let (tape, tick) = (tape.as_deref_mut(), clock.tick());
    let mut answers = Answers::<O> { queue: &mut queue, tape, tick, admitted_in: tick + 1 };
    driver.cancel_unwanted(&wanted, &mut answers, &mut world);
    driver.receive(polled, &mut answers, &mut world);
    let waits_for_log = !is_logged && wanted.iter().any(|key| !driver.is_begun(key));
    if is_logged {
        driver.start_wanted(wanted, &mut answers, &mut world);
    }
    match driver.is_awaited() {
        true => Awaited::Answer,
        false if waits_for_log => Awaited::Log,
        false => Awaited::Nothing,
    }
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
            self.waits_since = None;
            match self.outside.receive(&key, report, world) {
                Received::Nothing => {}
                Received::Answer(answer) => self.answer(&key, answer, answers),
                Received::Ended => self.end(&key, answers),
            }
        }
        for key in ended {
            if self.running.contains_key(&key) {
                self.waits_since = None;
                let answer = self.outside.lost(&key, "it ended without an answer");
                self.answer(&key, answer, answers);
            }
        }
        let tick = answers.admitted_in;
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
            if self.is_begun(&key) {
                continue;
            }
            // Orders from before this process are looked at even if there is no free place: they may have been carried
            // out, which only this look knows.
            if self.running.len() >= O::MAX_RUNNING && !is_first_look {
                return;
            }
            let (start, is_played) = self.start(&key, is_first_look, answers, world);
            match start {
                Start::Started => drop(self.running.insert(key, Running { since_tick: answers.tick, is_played })),
                Start::NotYet => {}
                Start::Ended(answer) => self.answer(&key, answer, answers),
            }
        }
    }

    /// Starts an order; also returns whether a tape plays its answers.
    fn start(
        &mut self,
        key: &O::Key,
        is_first_look: bool,
        answers: &mut Answers<'_, O>,
        world: &mut WorldOf<'_, '_, O>,
    ) -> (Start<O::Answer>, bool) {
        let order = match self.outside.order(key, world) {
            Ok(order) => order,
            Err(answer) => return (Start::Ended(answer), false),
        };
        if is_first_look && let Some(answer) = self.outside.interrupted(key, &order) {
            return (Start::Ended(answer), false);
        }
        if self.running.len() >= O::MAX_RUNNING {
            return (Start::NotYet, false);
        }
        if let Some(tape) = &mut answers.tape {
            match tape.begin(O::NAME, &key.to_string(), answers.tick, &order) {
                TapedOrder::Live => {}
                TapedOrder::Played(played) => {
                    let addressed = played.into_iter();
                    let addressed = addressed.map(|(due, answer)| (due, key.clone(), O::addressed_to(key, answer)));
                    self.taped.extend(addressed);
                    return (Start::Started, true);
                }
                TapedOrder::Unknown => {
                    let answer = self.outside.lost(key, "the tape that is played does not contain it");
                    return (Start::Ended(answer), true);
                }
            }
        }
        (self.outside.start(key, order, world, self.reports.reporter(key.clone())), false)
    }
}
