//! Blackboards: concurrent writes to the same entry are detected, and nothing exceeds its limits.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;

const RUN: ActivationKey = ActivationKey::numbered(1);

fn settings() -> BlackboardSettings {
    BlackboardSettings { max_entries: 4, max_history: 3, max_ended: 2, max_kept: 3 }
}

fn change(key: &str, value: Value, only_if: Condition) -> Change {
    Change { key: key.to_owned(), value, only_if, shared: None, by: "ada".into(), tick: 1 }
}

fn write(boards: &mut Blackboards, key: &str, value: Value, only_if: Condition) -> Result<u64, WriteRefusal> {
    boards.write(RUN, change(key, value, only_if), &settings()).map(|entry| entry.now.version)
}

fn expects(value: Value) -> Condition {
    Condition::Value { value }
}

#[test]
fn of_two_writers_that_expect_the_same_value_the_second_is_refused() {
    let mut boards = Blackboards::default();
    assert_eq!(write(&mut boards, "plan", json!({ "a": 1 }), Condition::Absent), Ok(1));
    assert_eq!(write(&mut boards, "plan", json!(2), expects(json!({ "a": 1.0 }))), Ok(2), "a number is a number");
    let late = write(&mut boards, "plan", json!(3), expects(json!({ "a": 1 }))).expect_err("it is another");
    assert_eq!(late, WriteRefusal::Other { key: "plan".into(), value: "2".into(), version: 2, by: "ada".into() });
    assert!(write(&mut boards, "plan", json!(3), Condition::Absent).is_err());
    assert_eq!(
        write(&mut boards, "other", json!(3), expects(json!(1))),
        Err(WriteRefusal::Nothing { key: "other".into() })
    );
    assert_eq!(boards.get(RUN).and_then(|board| board.entry("plan")?.value()), Some(&json!(2)));
}

#[test]
fn a_removed_entry_has_no_value_but_keeps_its_history() {
    let mut boards = Blackboards::default();
    write(&mut boards, "plan", json!(1), Condition::Anything).expect("there is room");
    assert_eq!(write(&mut boards, "plan", Value::Null, expects(json!(1))), Ok(2));
    let board = boards.get(RUN).expect("it should exist");
    assert!(board.entry("plan").is_none());
    let before = board.entries().next().map(|(_, entry)| entry.before.len());
    assert_eq!(before, Some(1));
    assert!(write(&mut boards, "plan", Value::Null, Condition::Anything).is_err(), "there is nothing to take away");
    assert_eq!(write(&mut boards, "plan", json!(2), Condition::Absent), Ok(3));
}

#[test]
fn shared_entries_are_available_when_the_run_ends_and_nothing_can_be_written_afterwards() {
    let mut boards = Blackboards::default();
    let shared = Change { shared: Some(true), ..change("found", json!("12 chairs"), Condition::Anything) };
    boards.write(RUN, shared, &settings()).expect("there is room");
    write(&mut boards, "draft", json!("x"), Condition::Anything).expect("there is room");
    assert!(boards.end_runs(|_| true, 5, &settings()).is_empty());
    assert_eq!(boards.end_runs(|_| false, 5, &settings()), [RUN]);
    assert!(boards.end_runs(|_| false, 6, &settings()).is_empty(), "once");
    let kept: Vec<&str> = boards.get(RUN).expect("it can be looked at").shared().map(|(key, _)| key).collect();
    assert_eq!(kept, ["found"]);
    assert_eq!(write(&mut boards, "late", json!(1), Condition::Anything), Err(WriteRefusal::Over));
}

#[derive(Clone, Debug)]
enum Act {
    Write(u8, u8, u8, Option<Option<u8>>),
    Take(u8, u8),
    End(u8),
    Save,
    Crash,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let condition = prop_oneof![Just(None), Just(Some(None)), (0..4_u8).prop_map(|value| Some(Some(value)))];
    let act = prop_oneof![
        8 => (any::<u8>(), any::<u8>(), 0..4_u8, condition).prop_map(|(run, key, value, if_)| Act::Write(run, key, value, if_)),
        2 => any::<(u8, u8)>().prop_map(|(run, key)| Act::Take(run, key)),
        1 => any::<u8>().prop_map(Act::End),
        2 => Just(Act::Save),
        1 => Just(Act::Crash),
    ];
    prop::collection::vec(act, 1..120)
}

/// The content of the blackboard of each running run.
type Model = BTreeMap<u64, BTreeMap<String, u8>>;

proptest! {
    #[test]
    fn a_blackboard_contains_the_last_write_whose_condition_held(acts in acts()) {
        let settings = settings();
        let (mut boards, mut model) = (Blackboards::default(), Model::new());
        let mut disk = (boards.clone(), model.clone());
        let mut next_run = 3_u64;
        let mut runs = vec![0_u64, 1, 2];
        for (tick, act) in acts.iter().enumerate() {
            match act {
                Act::Write(run, key, value, only_if) => {
                    let (run, key) = (runs[usize::from(*run) % runs.len()], format!("k{}", key % 6));
                    let there = model.get(&run).and_then(|board| board.get(&key)).copied();
                    let (only_if, holds) = match only_if {
                        None => (Condition::Anything, true),
                        Some(None) => (Condition::Absent, there.is_none()),
                        Some(Some(expected)) => (expects(json!(expected)), there == Some(*expected)),
                    };
                    let change = Change { tick: tick as u64, ..change(&key, json!(value), only_if) };
                    let written = boards.write(ActivationKey::numbered(run), change, &settings).map(|_| ());
                    match written {
                        Ok(()) => {
                            prop_assert!(holds);
                            model.entry(run).or_default().insert(key, *value);
                        }
                        Err(WriteRefusal::TooMany { .. }) => {
                            prop_assert_eq!(model.get(&run).map_or(0, BTreeMap::len), settings.max_entries);
                        }
                        Err(_) => prop_assert!(!holds),
                    }
                }
                Act::Take(run, key) => {
                    let (run, key) = (runs[usize::from(*run) % runs.len()], format!("k{}", key % 6));
                    let taken = change(&key, Value::Null, Condition::Anything);
                    let did = boards.write(ActivationKey::numbered(run), taken, &settings).is_ok();
                    prop_assert_eq!(did, model.entry(run).or_default().remove(&key).is_some());
                }
                Act::End(at) => {
                    let over = runs.remove(usize::from(*at) % runs.len());
                    runs.push(next_run);
                    next_run += 1;
                    boards.end_runs(|run| run.number() != over, tick as u64, &settings);
                    model.remove(&over);
                }
                Act::Save => disk = (boards.clone(), model.clone()),
                Act::Crash => {
                    let text = serde_json::to_string(&disk.0).expect("blackboards can be saved");
                    boards = serde_json::from_str(&text).expect("it should be readable again");
                    prop_assert_eq!(&boards, &disk.0);
                    model = disk.1.clone();
                    runs = (next_run..next_run + 3).collect();
                    next_run += 3;
                    boards.end_runs(|_| false, tick as u64, &settings);
                    model.clear();
                }
            }
            prop_assert!(boards.iter().filter(|(_, board)| board.ended().is_some()).count() <= settings.max_ended.max(3));
            for (run, board) in boards.iter().filter(|(_, board)| board.ended().is_none()) {
                let says: BTreeMap<String, u8> = board
                    .entries()
                    .filter_map(|(key, entry)| Some((key.to_owned(), entry.value()?.as_u64()? as u8)))
                    .collect();
                prop_assert_eq!(says, model.get(&run.number()).cloned().unwrap_or_default());
                prop_assert!(board.entries().len() <= settings.max_entries);
                prop_assert!(board.entries().all(|(_, entry)| entry.before.len() <= settings.max_history));
            }
        }
    }
}
