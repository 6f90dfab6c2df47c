//! The ledger, with tables and with every order of events.

use proptest::prelude::*;

use super::budget::{BudgetSettings, Cap};
use super::ledger::{BudgetClock, Ledger, Reservation, Tally, Verdict};
use crate::base::RequestId;
use crate::mind::CallKind;

fn call(agent: &str, tokens: u64) -> Reservation {
    let most = Tally { calls: 1, tokens, cost_micro_usd: tokens, ..Tally::default() };
    Reservation {
        agent: agent.into(),
        activation: None,
        kind: CallKind::Read,
        timekeeping: BudgetClock::Simulated,
        is_local: false,
        most,
    }
}

fn call_in(activation: &str, agent: &str, tokens: u64) -> Reservation {
    Reservation { activation: Some(activation.into()), ..call(agent, tokens) }
}

fn hourly(calls: u64) -> Vec<Cap> {
    BudgetSettings { calls_per_agent_per_hour: Some(calls), ..Default::default() }.caps()
}

#[test]
fn a_reached_limit_is_described() {
    checks_rule!("limits-refuse-calls");
    let caps = hourly(20);
    let mut ledger = Ledger::default();
    for id in 0..20 {
        assert_eq!(ledger.reserve(RequestId(id), call("ada-1", 10), &caps), Verdict::Reserved);
        ledger.settle(RequestId(id), None);
    }
    let Verdict::Refused(refusal) = ledger.reserve(RequestId(20), call("ada-1", 10), &caps) else {
        panic!("the 21st call must be refused");
    };
    assert_eq!(refusal.description(), "the limit of 20 calls an hour for ada-1 is reached (20 made)");
    assert_eq!(refusal.remedy(), "raise budget.calls_per_agent_per_hour in settings.yaml or wait 60 minutes");
    assert_eq!(ledger.reserve(RequestId(21), call("ben-1", 10), &caps), Verdict::Reserved, "others may go on");
    for _ in 0..60 {
        ledger.advance_minute(BudgetClock::Outside);
    }
    assert!(matches!(ledger.reserve(RequestId(22), call("ada-1", 10), &caps), Verdict::Refused(_)));
    for _ in 0..60 {
        ledger.advance_minute(BudgetClock::Simulated);
    }
    assert_eq!(ledger.reserve(RequestId(23), call("ada-1", 10), &caps), Verdict::Reserved);
}

#[test]
fn a_call_waits_for_running_ones_instead_of_being_refused() {
    checks_rule!("costs-are-reserved-before-a-call");
    let caps = BudgetSettings { tokens_per_run: Some(100), ..Default::default() }.caps();
    let mut ledger = Ledger::default();
    assert_eq!(ledger.reserve(RequestId(1), call("a", 80), &caps), Verdict::Reserved);
    assert_eq!(ledger.reserve(RequestId(2), call("b", 80), &caps), Verdict::Wait);
    ledger.settle(RequestId(1), Some(Tally { calls: 1, tokens: 5, cost_micro_usd: 0, ..Tally::default() }));
    assert_eq!(ledger.reserve(RequestId(2), call("b", 80), &caps), Verdict::Reserved);
}

#[test]
fn missing_usage_is_settled_as_reserved_and_only_once() {
    let mut ledger = Ledger::default();
    ledger.reserve(RequestId(1), call("a", 80), &[]);
    assert_eq!(ledger.settle(RequestId(1), None).map(|used| used.tokens), Some(80));
    assert_eq!(ledger.settle(RequestId(1), None), None);
    assert_eq!((ledger.run().tokens, ledger.agent("a").calls), (80, 1));
    assert_eq!(ledger.kinds()[&CallKind::Read].calls, 1);
}

#[test]
fn a_new_run_forgets_the_run_but_not_the_hour() {
    let mut ledger = Ledger::default();
    ledger.reserve(RequestId(1), call("a", 80), &[]);
    ledger.settle(RequestId(1), None);
    ledger.start_run();
    assert_eq!(ledger.run(), Tally::default());
    assert!(matches!(ledger.reserve(RequestId(2), call("a", 1), &hourly(1)), Verdict::Refused(_)));
}

#[test]
fn an_activation_has_its_own_usage_and_limits_for_all_agents() {
    let caps = BudgetSettings { calls_per_activation: Some(2), ..Default::default() }.caps();
    let mut ledger = Ledger::default();
    for (id, agent) in [(1, "ada-1"), (2, "ben-1")] {
        assert_eq!(ledger.reserve(RequestId(id), call_in("act-9", agent, 10), &caps), Verdict::Reserved);
    }
    assert_eq!(ledger.reserve(RequestId(3), call_in("act-9", "ada-1", 10), &caps), Verdict::Wait);
    ledger.settle(RequestId(1), Some(Tally { calls: 1, tokens: 4, cost_micro_usd: 3, ..Tally::default() }));
    ledger.settle(RequestId(2), None);
    assert_eq!(
        ledger.activation(&"act-9".into()),
        Tally { calls: 2, tokens: 14, cost_micro_usd: 13, ..Tally::default() }
    );
    let Verdict::Refused(refusal) = ledger.reserve(RequestId(3), call_in("act-9", "ada-1", 10), &caps) else {
        panic!("the third call must be refused");
    };
    assert_eq!(refusal.description(), "the limit of 2 calls an activation for act-9 is reached (2 made)");
    assert_eq!(refusal.remedy(), "raise budget.calls_per_activation in settings.yaml or split the request");
    assert_eq!(ledger.reserve(RequestId(4), call_in("act-10", "ada-1", 10), &caps), Verdict::Reserved);
    assert_eq!(ledger.reserve(RequestId(5), call("ada-1", 10), &caps), Verdict::Reserved, "this is no activation's");
    ledger.start_run();
    assert_eq!(ledger.activation(&"act-9".into()).calls, 2, "work continues where it was");
    ledger.forget_activation(&"act-9".into());
    assert_eq!(ledger.activation(&"act-9".into()), Tally::default());
}

#[test]
fn a_limited_number_of_activations_is_remembered() {
    let mut ledger = Ledger::default();
    for number in 0..10_000 {
        ledger.reserve(RequestId(number), call_in(&format!("act-{number}"), "ada-1", 1), &[]);
        ledger.settle(RequestId(number), None);
    }
    let remembered = (0..10_000).filter(|number| ledger.activation(&format!("act-{number}").into()).calls > 0);
    assert_eq!(remembered.collect::<Vec<_>>(), (10_000 - 4_096..10_000).collect::<Vec<_>>());
    assert_eq!(ledger.run().calls, 10_000);
}

#[derive(Clone, Debug)]
enum Step {
    Reserve { agent: u8, tokens: u64 },
    Settle { which: usize, share: Option<u64> },
    Release { which: usize },
    Minute,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..3u8, 0..60u64).prop_map(|(agent, tokens)| Step::Reserve { agent, tokens }),
        2 => (0..40usize, proptest::option::of(0..=100u64)).prop_map(|(which, share)| Step::Settle { which, share }),
        1 => (0..40usize).prop_map(|which| Step::Release { which }),
        1 => Just(Step::Minute),
    ];
    proptest::collection::vec(step, 0..120)
}

proptest! {
    #[test]
    fn no_order_of_events_exceeds_a_limit_or_leaks_a_reservation(steps in steps()) {
        let settings = BudgetSettings {
            calls_per_run: Some(30),
            tokens_per_agent_per_run: Some(200),
            tokens_per_run: Some(400),
            cost_per_run_usd: Some(0.0003),
            ..Default::default()
        };
        let caps = settings.caps();
        let mut ledger = Ledger::default();
        let mut open: Vec<(RequestId, u64)> = Vec::new();
        let mut booked = 0;
        for (index, step) in steps.into_iter().enumerate() {
            match step {
                Step::Reserve { agent, tokens } => {
                    let id = RequestId(index as u64);
                    if ledger.reserve(id, call(&format!("agent-{agent}"), tokens), &caps) == Verdict::Reserved {
                        open.push((id, tokens));
                    }
                }
                Step::Settle { which, share } if !open.is_empty() => {
                    let (id, most) = open.remove(which % open.len());
                    // In this test, a provider never uses more than was reserved; anything beyond that would be its own
                    // fault.
                    let used = share.map(|share| {
                        let tokens = most * share / 100;
                        Tally { calls: 1, tokens, cost_micro_usd: tokens, ..Tally::default() }
                    });
                    booked += used.map_or(most, |used| used.tokens);
                    ledger.settle(id, used);
                }
                Step::Release { which } if !open.is_empty() => {
                    let (id, _) = open.remove(which % open.len());
                    ledger.release(id);
                    prop_assert!(ledger.reservation(id).is_none());
                }
                Step::Minute => ledger.advance_minute(BudgetClock::Simulated),
                _ => {}
            }
            let reserved: u64 = open.iter().map(|(_, tokens)| tokens).sum();
            prop_assert_eq!(ledger.run().tokens, booked);
            prop_assert!(booked + reserved <= 300, "the lowest cap is the one of cost");
            prop_assert!(ledger.run().calls + open.len() as u64 <= 30);
            for agent in 0..3 {
                let used = ledger.agent(&format!("agent-{agent}")).tokens;
                prop_assert!(used <= 200);
            }
            for (id, _) in &open {
                prop_assert!(ledger.reservation(*id).is_some());
            }
        }
    }
}
