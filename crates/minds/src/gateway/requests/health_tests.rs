//! Reports on providers: once when they begin to fail, once when they work again, and never about failures that are not
//! theirs.

use proptest::prelude::*;

use crate::gateway::requests::health::*;
use crate::mind::{CapReached, CapScope};

fn at(tick: u64) -> AnswerTime {
    AnswerTime { tick, at_ms: Some(1_000 + tick) }
}

fn failure(kind: FailureKind) -> ModelFailure {
    ModelFailure::new(kind, format!("it failed: {kind:?}"), "do something")
}

fn fails(health: &mut ProviderHealth, tick: u64, model: &str, kind: FailureKind) -> Vec<HealthChange> {
    health.record_answer(at(tick), "openai", model, Err(&failure(kind)))
}

fn works(health: &mut ProviderHealth, tick: u64, model: &str) -> Vec<HealthChange> {
    health.record_answer(at(tick), "openai", model, Ok(()))
}

#[test]
fn every_kind_of_failure_is_reported_once_and_so_is_its_end() {
    use FailureKind::{Malformed, RateLimited, Rejected, TimedOut, Unauthorised, Unavailable};
    for kind in [Unauthorised, RateLimited, Unavailable, TimedOut, Malformed, Rejected] {
        let mut health = ProviderHealth::default();
        assert_eq!(health.state("openai"), HealthState::Unknown);
        let told: Vec<_> = (10..20).flat_map(|tick| fails(&mut health, tick, "m", kind)).collect();
        let [HealthChange::Fails(told)] = &told[..] else { panic!("{kind:?} is told once: {told:?}") };
        assert_eq!((told.kind, told.since_tick, told.since_ms), (kind, 10, Some(1_010)));
        let [fault] = &health.faults()[..] else { panic!("one fault") };
        assert_eq!((fault.failures, fault.remedy.as_str()), (10, "do something"));
        assert_eq!(health.fault("openai", "m").as_ref(), Some(fault));
        assert_eq!(health.state("openai"), HealthState::Failing);
        let ended = works(&mut health, 20, "m");
        assert_eq!(ended, [HealthChange::Ended { fault: fault.clone(), state: HealthState::Working }]);
        assert_eq!((health.faults(), health.state("openai")), (vec![], HealthState::Working));
        assert_eq!(works(&mut health, 21, "m"), [], "that it goes on working is no news");
        assert_eq!(health.changes(), 2);
    }
}

#[test]
fn another_model_of_the_provider_joins_the_fault_or_keeps_working() {
    let mut health = ProviderHealth::default();
    works(&mut health, 1, "good");
    assert_eq!(fails(&mut health, 2, "bad", FailureKind::Rejected).len(), 1);
    let whom = |health: &ProviderHealth| health.faults()[0].whom(health);
    assert_eq!(whom(&health), "openai (bad)");
    assert_eq!(works(&mut health, 3, "good"), [], "one that works says nothing about the other");
    assert_eq!((health.fault("openai", "good"), health.fault("openai", "bad").is_some()), (None, true));
    assert_eq!(fails(&mut health, 4, "worse", FailureKind::Rejected), [], "it is one fault of two models");
    assert_eq!(health.faults()[0].models, ["bad", "worse"]);
    assert_eq!(works(&mut health, 5, "worse"), [], "one of them still fails");
    assert_eq!(works(&mut health, 6, "bad").len(), 1);
}

#[test]
fn alternating_kinds_of_failure_are_reported_once_each() {
    let mut health = ProviderHealth::default();
    let told: usize = (0..50)
        .map(|tick| {
            let kind = if tick % 2 == 0 { FailureKind::TimedOut } else { FailureKind::Unavailable };
            fails(&mut health, tick, "m", kind).len()
        })
        .sum();
    assert_eq!(told, 2);
    assert_eq!((health.faults().len(), health.faults()[0].failures), (1, 50));
}

#[test]
fn failures_that_are_not_the_providers_are_not_counted() {
    let mut health = ProviderHealth::default();
    assert_eq!(fails(&mut health, 1, "m", FailureKind::Cancelled), []);
    let of = |scope| CapReached {
        name: "calls".into(),
        scope,
        limit: 1,
        used: 1,
        whose: None,
        wait_minutes: None,
        waits_in_real_time: false,
    };
    let mut capped = failure(FailureKind::OverBudget);
    use CapScope::{Activation, AgentHour, AgentRun, Hour, Outside, Run};
    for scope in [AgentRun, AgentHour, Activation, Hour, Run, Outside] {
        capped.cap = Some(Box::new(of(scope)));
        assert_eq!(health.record_answer(at(2), "openai", "m", Err(&capped)), [], "{scope:?} is our own limit");
    }
    assert_eq!((health.state("openai"), health.has_faults()), (HealthState::Unknown, false));
    let mut question = failure(FailureKind::Rejected);
    question.status = Some(400);
    let mut told = || health.record_answer(at(4), "other", "m", Err(&question)).len();
    assert_eq!([told(), told(), told()], [0, 1, 0], "one question may be odd, two in a row are not");
}

#[test]
fn a_provider_that_is_away_blocks_every_model_that_has_not_answered_since() {
    for (kind, is_of_all) in [
        (FailureKind::Unavailable, true),
        (FailureKind::Unauthorised, true),
        (FailureKind::Rejected, false),
        (FailureKind::RateLimited, false),
    ] {
        let mut health = ProviderHealth::default();
        works(&mut health, 1, "earlier");
        fails(&mut health, 2, "m", kind);
        let blocks = |health: &ProviderHealth, model: &str| health.blocking_fault("openai", model).is_some();
        assert!(blocks(&health, "m"), "{kind:?}");
        assert_eq!((blocks(&health, "new"), blocks(&health, "earlier")), (is_of_all, is_of_all), "{kind:?}");
        assert!(health.blocking_fault("other", "m").is_none());
        works(&mut health, 3, "earlier");
        assert!(blocks(&health, "m") && !blocks(&health, "earlier"), "{kind:?}");
    }
}

#[test]
fn a_fault_of_an_unused_model_expires() {
    let mut health = ProviderHealth::default();
    fails(&mut health, 1, "left", FailureKind::Unavailable);
    assert_eq!(works(&mut health, 100, "m"), []);
    let ended = works(&mut health, 1 + STALE_TICKS, "m");
    assert!(matches!(&ended[..], [HealthChange::Ended { state: HealthState::Unknown, .. }]), "nobody knows: {ended:?}");
}

#[test]
fn only_changed_settings_reset_faults() {
    let mut health = ProviderHealth::default();
    assert_eq!(health.found_under(1), []);
    fails(&mut health, 1, "m", FailureKind::Unauthorised);
    assert_eq!(health.found_under(1), []);
    let ended = health.found_under(2);
    assert!(matches!(&ended[..], [HealthChange::Ended { state: HealthState::Unknown, .. }]));
    assert_eq!(health.state("openai"), HealthState::Unknown);
}

proptest! {
    /// In any sequence of events, the reported beginnings and ends of failures add up to the current failures.
    #[test]
    fn reported_beginnings_and_ends_add_up(answers in proptest::collection::vec((0..3_usize, 0..6_usize), 0..80)) {
        use FailureKind::{RateLimited, Rejected, TimedOut, Unauthorised, Unavailable};
        let kinds = [Unauthorised, RateLimited, Unavailable, Rejected, TimedOut];
        let mut health = ProviderHealth::default();
        let mut told: std::collections::BTreeSet<String> = Default::default();
        for (tick, (model, outcome)) in answers.into_iter().enumerate() {
            let (tick, model) = (tick as u64, ["a", "b", "c"][model]);
            let changes = match kinds.get(outcome) {
                Some(kind) => fails(&mut health, tick, model, *kind),
                None => works(&mut health, tick, model),
            };
            prop_assert!(changes.len() <= 4);
            for change in changes {
                match change {
                    HealthChange::Fails(fault) => told.insert(format!("{:?}", fault.kind)),
                    HealthChange::Ended { fault, .. } => told.remove(&format!("{:?}", fault.kind)),
                };
            }
            for fault in health.faults() {
                prop_assert!(fault.failures > 0 && fault.since_tick <= tick && !fault.models.is_empty());
            }
            if health.faults().is_empty() {
                prop_assert!(["a", "b", "c"].iter().all(|model| health.fault("openai", model).is_none()));
            } else {
                prop_assert!(!told.is_empty(), "something fails and nothing was reported");
            }
        }
        let saved = serde_json::to_string(&health).unwrap();
        prop_assert_eq!(serde_json::from_str::<ProviderHealth>(&saved).unwrap(), health);
    }
}
