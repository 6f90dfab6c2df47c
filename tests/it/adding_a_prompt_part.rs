//! Adds a prompt part that only this file knows: its text comes from outside, some ticks after it was requested.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use agent_workshop::agent::AgentCommand;
use agent_workshop::base::Seq;
use agent_workshop::gateway;
use agent_workshop::gateway::provider::{ProviderRequest, SimulatedAnswer, SimulatedProvider};
use agent_workshop::kernel::{Kernel, KernelCommand};
use agent_workshop::mind::parts;
use agent_workshop::mind::{
    Completion, Finish, GatherKey, PartGathered, PartProvider, PendingRequests, PromptParts, Share, Slot, Usage,
};
use agent_workshop::schedule::{Floor, InPhase, InputJournal, InputQueue, SimClock, Tick, WorkshopSystems};
use agent_workshop::simulation::{TaskCommand, ThinkDone};
use bevy::ecs::message::Messages;
use bevy::ecs::prelude::*;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        a_part_that_comes_later_is_waited_for_and_stands_under_its_heading_within_its_share,
        who_shares_nothing_is_not_told_and_nothing_is_asked_for_it,
        a_part_that_is_refused_or_does_not_come_is_left_out_and_that_is_said,
        what_comes_late_or_twice_or_to_nobody_is_dropped_and_said,
        a_room_closed_in_the_middle_continues_waiting_and_asks_once,
        a_run_with_gathered_parts_replays_without_whoever_gathers,
        who_leaves_meanwhile_is_answered_once_and_nobody_is_asked,
        work_is_gathered_for_like_anything_else_and_given_up_with_it,
    ]
}

const RECALL: &str = "recall";
/// The number of ticks after which the text arrives.
const LATER: u64 = 7;

const SCENE: &str = "name: Test\nseed: 3\nelements:\n  - { id: rules, kind: rulebook, label: Rules, position: [0, 0], text: Be brief. }\nagents:\n  - { id: ada-1, profile: ada, position: [0, 60] }\n";

/// The part: memories that match the agent's prompt, limited to a 960th of the prompt.
fn recall() -> PartProvider {
    let names = (RECALL, "What it recalls", "## What you recall");
    PartProvider::looked_up(names, Slot::Changing, |context| Some(json!({ "who": context.who.name })))
        .with_share(Share::Whole(960))
}

/// What the source answers, and after how many ticks; `None` where it never answers.
#[derive(Resource, Clone)]
struct Answers(Option<(u64, Result<String, String>)>);

fn gather(
    pending: Res<PendingRequests>,
    (clock, journal, answers): (Res<SimClock>, Res<InputJournal>, Res<Answers>),
    mut since: Local<BTreeMap<GatherKey, u64>>,
    mut door: ResMut<InputQueue<PartGathered>>,
) {
    if journal.is_replaying() {
        return;
    }
    let Some((after, outcome)) = &answers.0 else { return };
    for order in pending.orders_of(RECALL) {
        let begun = *since.entry(order.key.clone()).or_insert(clock.tick());
        if clock.tick() == begun + after {
            door.push(PartGathered { key: order.key, outcome: outcome.clone() });
        }
    }
}

/// The prompts that a model received.
type Exchange = Arc<Mutex<Vec<ProviderRequest>>>;

/// A model that records its prompts.
struct Listener(Exchange);

impl SimulatedProvider for Listener {
    fn answer(&mut self, request: &ProviderRequest) -> SimulatedAnswer {
        self.0.lock().unwrap().push(request.clone());
        let (text, tool_calls, usage, finish) = ("Fine.".into(), Vec::new(), Usage::default(), Finish::Stop);
        let outcome = Ok(Completion { text, tool_calls, usage, finish, told: None });
        SimulatedAnswer { outcome, latency_secs: 0.1, script: None }
    }
}

/// A room with the part, and the prompts of its model.
fn with(mut room: Workshop, answers: Answers) -> (Workshop, Exchange) {
    let asked = Exchange::default();
    let notes = asked.clone();
    gateway::add_simulated_provider(&mut room.app, "offline", move |_| Ok(Box::new(Listener(notes.clone()))));
    room.world().resource_mut::<PromptParts>().register(recall()).expect("the word should be free");
    room.world().insert_resource(answers);
    room.app.add_systems(Tick, gather.in_set(InPhase(WorkshopSystems::Dispatch, Floor::Mind)));
    (room, asked)
}

fn setup(profile: &str) -> Setup {
    Setup::scene(SCENE)
        .profile("ada", &format!("---\nname: Ada\n{profile}---\nYou find things out.\n"))
        .provider("offline")
}

fn opened(answers: Option<(u64, Result<&str, &str>)>) -> (Workshop, Exchange) {
    let answers = answers.map(|(after, outcome)| (after, outcome.map(str::to_owned).map_err(str::to_owned)));
    with(setup("").open(), Answers(answers))
}

/// Lets the agent read the rules, and runs until a prompt waits for its part.
fn waiting(room: &mut Workshop) -> GatherKey {
    room.advance(0.5);
    room.edit("scenes/test.yaml", &SCENE.replace("Be brief.", "Be kind."));
    until_ordered(room)
}

fn until_ordered(room: &mut Workshop) -> GatherKey {
    for _ in 0..600 {
        room.tick();
        if let Some(order) = room.world().resource::<PendingRequests>().orders_of(RECALL).next() {
            return order.key;
        }
    }
    panic!("nothing is asked for");
}

/// Every text that the model received.
fn texts(asked: &Exchange) -> Vec<String> {
    asked.lock().unwrap().iter().map(|request| request.prompt.text()).collect()
}

fn warnings(room: &Workshop) -> Vec<&str> {
    room.events("warning").into_iter().filter_map(|event| event["data"]["what"].as_str()).collect()
}

/// What the last prompt reports as left out.
fn left_out(asked: &Exchange) -> Vec<String> {
    let asked = asked.lock().unwrap();
    let prompt = &asked.last().expect("somebody was asked").prompt;
    prompt.left_out.iter().map(|left| format!("{}: {}", parts::label(&left.origin), left.why)).collect()
}

fn a_part_that_comes_later_is_waited_for_and_stands_under_its_heading_within_its_share() {
    let (mut room, asked) = opened(Some((LATER, Ok("The lamps are in the cellar."))));
    let key = waiting(&mut room);
    let order = room.world().resource::<PendingRequests>().orders_of(RECALL).next().map(|order| order.query.clone());
    assert_eq!(order, Some(json!({ "who": "Ada" })));
    let since = room.now();
    room.tick();
    let saved = room.saved();
    assert!(saved["simulation"].to_string().contains("waiting for part of its prompt: What it recalls"), "{saved}");
    while asked.lock().unwrap().is_empty() {
        assert_eq!(room.world().resource::<PendingRequests>().len(), 1, "{key:?} is under way");
        room.tick();
        assert!(room.now() < since + LATER + 10, "nobody is asked");
    }
    assert!(room.now() >= since + LATER);
    let text = texts(&asked).remove(0);
    let part = "\n\n## What you recall\n```text\nThe lamps are in the cellar.\n```\n\n## Where you are\n";
    assert!(text.contains(part), "{text}");
    let long = "word ".repeat(100);
    let (mut room, asked) = opened(Some((LATER, Ok(&long))));
    waiting(&mut room);
    room.until(10.0, "read", |_| true);
    let requests = asked.lock().unwrap();
    let part = requests[0].prompt.parts_from(RECALL).next().expect("it should exist");
    assert!(part.text.chars().count() <= 100 && part.body().contains("[… cut, "), "{}", part.text);
    assert_eq!(part.heading(), "## What you recall");
}

fn who_shares_nothing_is_not_told_and_nothing_is_asked_for_it() {
    let answers = Answers(Some((LATER, Ok("The lamps are in the cellar.".into()))));
    let (mut room, asked) = with(setup("share_workspace_info: false\n").open(), answers);
    room.advance(0.5);
    room.edit("scenes/test.yaml", &SCENE.replace("Be brief.", "Be kind."));
    room.until(30.0, "read", |_| true);
    assert!(room.inputs.iter().all(|input| input.kind != "part_gathered"), "nobody was asked for it");
    assert!(texts(&asked).iter().all(|text| text.contains("Be kind.") && !text.contains("recall")));
}

fn a_part_that_is_refused_or_does_not_come_is_left_out_and_that_is_said() {
    for (answers, why) in [
        (Some((LATER, Err("its index is being built"))), "its index is being built"),
        (None, "there was no answer within 10 s"),
    ] {
        let (mut room, asked) = opened(answers);
        waiting(&mut room);
        room.until(20.0, "read", |_| true);
        assert!(!texts(&asked)[0].contains("## What you recall"), "{}", texts(&asked)[0]);
        assert_eq!(left_out(&asked), [format!("What it recalls: {why}")]);
        let said = format!("“What it recalls” was left out of a prompt: {why}");
        let told = room.events("warning");
        let told = told.iter().find(|event| event["data"]["what"] == said.as_str()).expect("it is said");
        assert_eq!(told["agent"], "ada-1");
        assert!(room.record(&told["cause"]).is_some(), "it leads back to what was thought about");
    }
}

fn what_comes_late_or_twice_or_to_nobody_is_dropped_and_said() {
    let (mut room, asked) = opened(None);
    let key = waiting(&mut room);
    let says = |text: &str| PartGathered { key: key.clone(), outcome: Ok(text.into()) };
    room.push(says("First."));
    room.push(says("Second."));
    room.until(10.0, "read", |_| true);
    assert!(texts(&asked)[0].contains("First.") && !texts(&asked)[0].contains("Second."));
    room.push(says("Late."));
    room.push(PartGathered { key: GatherKey { part: "other".into(), ..key.clone() }, outcome: Err("no".into()) });
    room.advance(1.0);
    let dropped = |part: &str| format!("“{part}” arrived for a prompt that is not waiting for it; it was dropped");
    assert_eq!(warnings(&room), [dropped(RECALL), dropped(RECALL), dropped("other")]);
    assert_eq!(asked.lock().unwrap().len(), 1);
}

fn a_room_closed_in_the_middle_continues_waiting_and_asks_once() {
    for ticks in [0, 3, LATER - 1] {
        let (mut room, before) = opened(Some((LATER, Ok("The lamps are in the cellar."))));
        let key = waiting(&mut room);
        (0..ticks).for_each(|_| room.tick());
        let answers = room.world().resource::<Answers>().clone();
        let (mut again, asked) = with(room.reopened(), answers);
        let kept = again.world().resource::<PendingRequests>().orders_of(RECALL).map(|order| order.key);
        assert_eq!(kept.collect::<Vec<_>>(), [key], "the same order under the same name");
        again.until(10.0, "read", |_| true);
        again.advance(2.0);
        assert!(before.lock().unwrap().is_empty());
        let texts = texts(&asked);
        assert_eq!(texts.len(), 1, "after {ticks} ticks");
        assert!(texts[0].contains("The lamps are in the cellar."));
    }
}

fn a_run_with_gathered_parts_replays_without_whoever_gathers() {
    let (mut live, _) = opened(Some((LATER, Ok("The lamps are in the cellar."))));
    waiting(&mut live);
    live.until(10.0, "read", |_| true);
    let ticks = live.now();
    let mut again = Workshop::begin(live.start.clone(), Seq(1));
    again.world().resource_mut::<InputJournal>().replay(live.inputs.clone());
    let (mut again, _) = with(again, Answers(None));
    while again.now() < ticks {
        again.tick();
    }
    again.assert_same_world(&mut live);
    let told = |room: &Workshop| -> Vec<(Value, Value)> {
        room.log().iter().map(|event| (event["type"].clone(), event["data"].clone())).collect()
    };
    assert_eq!(told(&again), told(&live), "the replay told another story");
}

fn who_leaves_meanwhile_is_answered_once_and_nobody_is_asked() {
    let (mut room, asked) = opened(None);
    waiting(&mut room);
    room.push(AgentCommand::Remove { agent: "ada-1".into() });
    let mut answered = 0;
    for _ in 0..600 {
        room.tick();
        answered += room.world().resource::<Messages<ThinkDone>>().iter_current_update_messages().count();
    }
    assert_eq!(answered, 1);
    assert!(asked.lock().unwrap().is_empty() && room.world().resource::<PendingRequests>().is_empty());
}

fn work_is_gathered_for_like_anything_else_and_given_up_with_it() {
    let task = || TaskCommand { agent: "ada-1".into(), text: "Find the lamps.".into() };
    let (mut room, asked) = opened(Some((LATER, Ok("The lamps are in the cellar."))));
    room.advance(0.5);
    room.push(task());
    until_ordered(&mut room);
    room.until(10.0, "complete", |_| true);
    let text = texts(&asked).remove(0);
    let place = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} is missing in {text}"));
    assert!(place("## What you recall") < place("Your task: Find the lamps."), "what is known is told before the work");
    let (mut room, asked) = opened(None);
    room.advance(0.5);
    room.push(task());
    until_ordered(&mut room);
    let activation = room.world().resource::<Kernel>().activations().next().expect("it is at work").key;
    room.push(KernelCommand::Kill { activation });
    room.until(10.0, "abort", |_| true);
    room.advance(15.0);
    assert!(room.world().resource::<PendingRequests>().is_empty() && asked.lock().unwrap().is_empty());
}
