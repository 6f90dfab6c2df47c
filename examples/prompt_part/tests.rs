//! What must hold for a part of prompts that another crate adds.

use std::sync::{Arc, Mutex};

use agent_workshop::agent::AgentCommand;
use agent_workshop::base::Seq;
use agent_workshop::gateway;
use agent_workshop::gateway::provider::{ProviderRequest, SimulatedAnswer, SimulatedProvider};
use agent_workshop::kernel::{Kernel, KernelCommand};
use agent_workshop::mind::parts;
use agent_workshop::mind::{Completion, Finish, GatherKey, PartGathered, PendingRequests, Usage};
use agent_workshop::schedule::InputJournal;
use agent_workshop::simulation::{TaskCommand, ThinkDone};
use bevy::ecs::message::Messages;
use example_prompt_part::{Answers, RECALL, add};
use serde_json::{Value, json};

use crate::workshop::{Setup, Workshop};

/// The number of ticks after which the text arrives.
const DELAY_TICKS: u64 = 7;

const SCENE: &str = "name: Test\nseed: 3\nelements:\n  - { id: rules, kind: rulebook, label: Rules, position: [0, 0], text: Be brief. }\nagents:\n  - { id: ada-1, profile: ada, position: [0, 60] }\n";

/// The requests that a model received.
type ReceivedRequests = Arc<Mutex<Vec<ProviderRequest>>>;

/// A model that records its requests.
struct RecordingModel(ReceivedRequests);

impl SimulatedProvider for RecordingModel {
    fn answer(&mut self, request: &ProviderRequest) -> SimulatedAnswer {
        self.0.lock().unwrap().push(request.clone());
        let (text, tool_calls, usage, finish) = ("Fine.".into(), Vec::new(), Usage::default(), Finish::Stop);
        let outcome = Ok(Completion { text, tool_calls, usage, finish, told: None });
        SimulatedAnswer { outcome, latency_secs: 0.1, script: None }
    }
}

/// Adds the part and a recording model to a room. Returns it with the requests that the model receives.
fn with_part(mut room: Workshop, answers: Answers) -> (Workshop, ReceivedRequests) {
    let received = ReceivedRequests::default();
    let requests = received.clone();
    gateway::add_simulated_provider(&mut room.app, "offline", move |_| Ok(Box::new(RecordingModel(requests.clone()))));
    add(&mut room.app, answers).expect("the word is free");
    (room, received)
}

fn setup(profile: &str) -> Setup {
    Setup::scene(SCENE)
        .profile("ada", &format!("---\nname: Ada\n{profile}---\nYou find things out.\n"))
        .provider("offline")
}

fn open_room(answers: Option<(u64, Result<&str, &str>)>) -> (Workshop, ReceivedRequests) {
    let answers = answers.map(|(after, outcome)| (after, outcome.map(str::to_owned).map_err(str::to_owned)));
    with_part(setup("").open(), Answers(answers))
}

/// Lets the agent read the rules, and runs until its prompt waits for the part.
fn run_until_waiting(room: &mut Workshop) -> GatherKey {
    room.advance(0.5);
    room.edit("scenes/test.yaml", &SCENE.replace("Be brief.", "Be kind."));
    run_until_ordered(room)
}

fn run_until_ordered(room: &mut Workshop) -> GatherKey {
    for _ in 0..600 {
        room.tick();
        if let Some(order) = room.world().resource::<PendingRequests>().orders_of(RECALL).next() {
            return order.key;
        }
    }
    panic!("the part is never requested");
}

/// Returns the prompt texts that the model received.
fn texts(received: &ReceivedRequests) -> Vec<String> {
    received.lock().unwrap().iter().map(|request| request.prompt.text()).collect()
}

fn warnings(room: &Workshop) -> Vec<&str> {
    room.events("warning").into_iter().filter_map(|event| event["data"]["what"].as_str()).collect()
}

/// Returns the left-out parts of the last prompt, with reasons.
fn left_out(received: &ReceivedRequests) -> Vec<String> {
    let received = received.lock().unwrap();
    let prompt = &received.last().expect("the model was called").prompt;
    prompt.left_out.iter().map(|left| format!("{}: {}", parts::label(&left.origin), left.why)).collect()
}

#[test]
fn a_prompt_waits_for_a_late_part_and_limits_it_to_its_share() {
    let (mut room, received) = open_room(Some((DELAY_TICKS, Ok("The lamps are in the cellar."))));
    let key = run_until_waiting(&mut room);
    let order = room.world().resource::<PendingRequests>().orders_of(RECALL).next().map(|order| order.query.clone());
    assert_eq!(order, Some(json!({ "who": "Ada" })));
    let since = room.now();
    room.tick();
    let saved = room.saved();
    assert!(saved["simulation"].to_string().contains("waiting for part of its prompt: What it recalls"), "{saved}");
    while received.lock().unwrap().is_empty() {
        assert_eq!(room.world().resource::<PendingRequests>().len(), 1, "{key:?} is pending");
        room.tick();
        assert!(room.now() < since + DELAY_TICKS + 10, "the model is never called");
    }
    assert!(room.now() >= since + DELAY_TICKS);
    let text = texts(&received).remove(0);
    let part = "\n\n## What you recall\n```text\nThe lamps are in the cellar.\n```\n\n## Where you are\n";
    assert!(text.contains(part), "{text}");
    let long = "word ".repeat(100);
    let (mut room, received) = open_room(Some((DELAY_TICKS, Ok(&long))));
    run_until_waiting(&mut room);
    room.until(10.0, "read", |_| true);
    let requests = received.lock().unwrap();
    let part = requests[0].prompt.parts_from(RECALL).next().expect("the prompt has the part");
    assert!(part.text.chars().count() <= 100 && part.body().contains("[… cut, "), "{}", part.text);
    assert_eq!(part.heading(), "## What you recall");
}

#[test]
fn an_agent_that_shares_nothing_gets_no_part() {
    let answers = Answers(Some((DELAY_TICKS, Ok("The lamps are in the cellar.".into()))));
    let (mut room, received) = with_part(setup("share_workspace_info: false\n").open(), answers);
    room.advance(0.5);
    room.edit("scenes/test.yaml", &SCENE.replace("Be brief.", "Be kind."));
    room.until(30.0, "read", |_| true);
    assert!(room.inputs.iter().all(|input| input.kind != "part_gathered"), "the part was not requested");
    assert!(texts(&received).iter().all(|text| text.contains("Be kind.") && !text.contains("recall")));
}

#[test]
fn a_refused_or_missing_part_is_left_out_with_a_warning() {
    for (answers, why) in [
        (Some((DELAY_TICKS, Err("its index is being built"))), "its index is being built"),
        (None, "there was no answer within 10 s"),
    ] {
        let (mut room, received) = open_room(answers);
        run_until_waiting(&mut room);
        room.until(20.0, "read", |_| true);
        assert!(!texts(&received)[0].contains("## What you recall"), "{}", texts(&received)[0]);
        assert_eq!(left_out(&received), [format!("What it recalls: {why}")]);
        let expected = format!("“What it recalls” was left out of a prompt: {why}");
        let warning = room.events("warning");
        let warning =
            warning.iter().find(|event| event["data"]["what"] == expected.as_str()).expect("a warning is logged");
        assert_eq!(warning["agent"], "ada-1");
        assert!(room.record(&warning["cause"]).is_some(), "the cause of the warning is in the log");
    }
}

#[test]
fn late_duplicate_and_unknown_parts_are_dropped_with_a_warning() {
    let (mut room, received) = open_room(None);
    let key = run_until_waiting(&mut room);
    let part_with_text = |text: &str| PartGathered { key: key.clone(), outcome: Ok(text.into()) };
    room.push(part_with_text("First."));
    room.push(part_with_text("Second."));
    room.until(10.0, "read", |_| true);
    assert!(texts(&received)[0].contains("First.") && !texts(&received)[0].contains("Second."));
    room.push(part_with_text("Late."));
    room.push(PartGathered { key: GatherKey { part: "other".into(), ..key.clone() }, outcome: Err("no".into()) });
    room.advance(1.0);
    let dropped = |part: &str| format!("“{part}” arrived for a prompt that is not waiting for it; it was dropped");
    assert_eq!(warnings(&room), [dropped(RECALL), dropped(RECALL), dropped("other")]);
    assert_eq!(received.lock().unwrap().len(), 1);
}

#[test]
fn a_reopened_room_continues_waiting_and_calls_the_model_once() {
    for ticks in [0, 3, DELAY_TICKS - 1] {
        let (mut room, before) = open_room(Some((DELAY_TICKS, Ok("The lamps are in the cellar."))));
        let key = run_until_waiting(&mut room);
        (0..ticks).for_each(|_| room.tick());
        let answers = room.world().resource::<Answers>().clone();
        let (mut again, received) = with_part(room.reopened(), answers);
        let pending = again.world().resource::<PendingRequests>().orders_of(RECALL).map(|order| order.key);
        assert_eq!(pending.collect::<Vec<_>>(), [key], "the same order with the same key");
        again.until(10.0, "read", |_| true);
        again.advance(2.0);
        assert!(before.lock().unwrap().is_empty());
        let texts = texts(&received);
        assert_eq!(texts.len(), 1, "after {ticks} ticks");
        assert!(texts[0].contains("The lamps are in the cellar."));
    }
}

#[test]
fn a_run_with_gathered_parts_replays_without_their_source() {
    let (mut live, _) = open_room(Some((DELAY_TICKS, Ok("The lamps are in the cellar."))));
    run_until_waiting(&mut live);
    live.until(10.0, "read", |_| true);
    let ticks = live.now();
    let mut again = Workshop::begin(live.start.clone(), Seq(1));
    again.world().resource_mut::<InputJournal>().replay(live.inputs.clone());
    let (mut again, _) = with_part(again, Answers(None));
    while again.now() < ticks {
        again.tick();
    }
    again.assert_same_world(&mut live);
    let events = |room: &Workshop| -> Vec<(Value, Value)> {
        room.log().iter().map(|event| (event["type"].clone(), event["data"].clone())).collect()
    };
    assert_eq!(events(&again), events(&live), "the replay logged different events");
}

#[test]
fn removing_a_waiting_agent_ends_its_request_without_a_model_call() {
    let (mut room, received) = open_room(None);
    run_until_waiting(&mut room);
    room.push(AgentCommand::Remove { agent: "ada-1".into() });
    let mut answered = 0;
    for _ in 0..600 {
        room.tick();
        answered += room.world().resource::<Messages<ThinkDone>>().iter_current_update_messages().count();
    }
    assert_eq!(answered, 1);
    assert!(received.lock().unwrap().is_empty() && room.world().resource::<PendingRequests>().is_empty());
}

#[test]
fn work_waits_for_parts_too_and_stopping_it_drops_them() {
    let task = || TaskCommand { agent: "ada-1".into(), text: "Find the lamps.".into() };
    let (mut room, received) = open_room(Some((DELAY_TICKS, Ok("The lamps are in the cellar."))));
    room.advance(0.5);
    room.push(task());
    run_until_ordered(&mut room);
    room.until(10.0, "complete", |_| true);
    let text = texts(&received).remove(0);
    let position = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is missing in {text}"));
    assert!(position("## What you recall") < position("Your task: Find the lamps."), "the part comes before the task");
    let (mut room, received) = open_room(None);
    room.advance(0.5);
    room.push(task());
    run_until_ordered(&mut room);
    let activation = room.world().resource::<Kernel>().activations().next().expect("work is in progress").key;
    room.push(KernelCommand::Kill { activation });
    room.until(10.0, "abort", |_| true);
    room.advance(15.0);
    assert!(room.world().resource::<PendingRequests>().is_empty() && received.lock().unwrap().is_empty());
}
