//! Adds a tool that only this file knows: added while a room runs, and carried out many ticks later by its own
//! executor.

use std::collections::BTreeMap;

use agent_workshop::gate::{DeclaredTouch, TouchKind};
use agent_workshop::kernel::{Kernel, KernelCommand};
use agent_workshop::mind::ModelRequest;
use agent_workshop::schedule::{Floor, InPhase, InputJournal, InputQueue, SimClock, Tick, WorkshopSystems};
use agent_workshop::simulation::{AgentState, State, TaskCommand};
use agent_workshop::tools::{
    Arguments, OrderKey, PendingToolOrders, Planned, Planning, Tool, ToolNews, ToolOutcome, ToolOutput, ToolRefusal,
    Tools,
};
use agent_workshop::workspace::Problems;
use agent_workshop::{agent::Roster, base::Seq};
use bevy::ecs::message::Messages;
use bevy::ecs::prelude::*;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        a_tool_that_is_added_is_offered_judged_asked_about_shown_and_recorded_like_any_other,
        a_call_under_way_outlives_the_room_and_is_answered_once,
        two_runs_that_continue_from_one_moment_give_no_order_the_same_name,
        a_run_with_an_added_tool_replays_without_its_executor,
        a_call_whose_work_is_over_is_given_up_and_a_late_answer_is_nobodys,
        a_tool_is_there_for_those_that_it_was_added_for,
    ]
}

const WEATHER: &str = "weather";
/// The ticks after which the executor reports progress, and after which it is done.
const HALF_WAY: u64 = 10;
const DONE: u64 = 20;

/// The tool.
fn weather() -> Tool {
    let arguments = json!({
        "type": "object",
        "properties": { "city": { "type": "string", "minLength": 1, "description": "Where." } },
        "required": ["city"],
    });
    Tool::new(WEATHER, "Says what the weather is like.", arguments, plan)
}

fn plan(arguments: &Arguments, _: &Planning<'_>) -> Result<Planned, String> {
    let city = arguments.text("city");
    let touches = vec![DeclaredTouch::new(TouchKind::NET_FETCH, format!("weather.example/{city}"))];
    Ok(Planned::order(WEATHER, arguments.to_value(), touches, ("asking for the weather in", &city)))
}

/// Its executor: what it has begun is not saved.
fn carry_out(
    orders: Res<PendingToolOrders>,
    clock: Res<SimClock>,
    journal: Res<InputJournal>,
    mut begun: Local<BTreeMap<OrderKey, u64>>,
    mut outcomes: ResMut<InputQueue<ToolOutcome>>,
) {
    if journal.is_replaying() {
        return;
    }
    begun.retain(|key, _| orders.get(*key).is_some());
    for order in orders.of(WEATHER) {
        let since = *begun.entry(order.key).or_insert(clock.tick());
        let news = match clock.tick() - since {
            HALF_WAY => ToolNews::Progress { text: "half way".into() },
            DONE => {
                let data = Some(json!({ "celsius": 7 }));
                ToolNews::Done { output: ToolOutput { data, ..ToolOutput::default() } }
            }
            _ => continue,
        };
        outcomes.push(ToolOutcome { key: order.key, news });
    }
}

/// Adds both to a room.
fn add(room: &mut Workshop) {
    let mut tools = room.world().resource_mut::<Tools>();
    tools.register(weather()).expect("the name is free");
    tools.add_executor(WEATHER);
    room.app.add_systems(Tick, carry_out.in_set(InPhase(WorkshopSystems::Dispatch, Floor::Tools)));
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
const LEAD: &str = "---\nid: lead\ntools: [weather, vfs_read]\n---\nYou lead.\n";
const SCRIPT: &str = "latency: 0.1\nagents:\n  lead:\n    - tools: [ { name: weather, arguments: \"{\\\"city\\\": \\\"Oslo\\\"}\" } ]\n    - text: It is cool.\n";

/// The ticks after which the tool is added to a running room.
const ADDED_AFTER_SECS: f64 = 0.5;

fn begun(mut room: Workshop) -> Workshop {
    room.advance(ADDED_AFTER_SECS);
    add(&mut room);
    room
}

fn room() -> Workshop {
    let mut room = begun(Setup::scene(SCENE).profile("lead", LEAD).script(SCRIPT).open());
    room.push(TaskCommand { agent: "lead".into(), text: "What is the weather like?".into() });
    room
}

/// Runs until the person is asked about the call, and allows it.
fn allow(room: &mut Workshop) -> Value {
    let asked = room.until(10.0, "approval_requested", |_| true);
    let approval = room.world().resource::<Kernel>().approvals().next().expect("an approval is pending");
    room.push(approval.decide(true));
    asked
}

/// Runs until the executor has worked on the call for this long.
fn at_work(room: &mut Workshop, ticks: u64) {
    for _ in 0..300 {
        room.tick();
        if room.world().resource::<PendingToolOrders>().of(WEATHER).next().is_some() {
            (0..ticks).for_each(|_| room.tick());
            return;
        }
    }
    panic!("the order was never given");
}

fn why(room: &mut Workshop) -> (State, String) {
    let world = room.world();
    let roster = world.resource::<Roster>();
    let lead = roster.key("lead").and_then(|key| roster.entity(key)).expect("it should exist");
    let state = &world.get::<AgentState>(lead).expect("it has a state").0;
    (state.state(), state.why().to_owned())
}

fn results(room: &Workshop) -> Vec<&Value> {
    room.events("tool_result").into_iter().map(|event| &event["data"]).collect()
}

fn a_tool_that_is_added_is_offered_judged_asked_about_shown_and_recorded_like_any_other() {
    let mut room = Setup::scene(SCENE).profile("lead", LEAD).script(SCRIPT).open();
    room.advance(ADDED_AFTER_SECS);
    let problems = |room: &mut Workshop| room.world().resource::<Problems>().iter().map(ToString::to_string).collect();
    let before: Vec<String> = problems(&mut room);
    assert!(before.iter().any(|problem| problem.contains("not available: weather")), "{before:?}");
    add(&mut room);
    room.tick();
    let after: Vec<String> = problems(&mut room);
    assert!(after.is_empty(), "the tool is here now: {after:?}");
    room.push(TaskCommand { agent: "lead".into(), text: "What is the weather like?".into() });
    let mut offered = Vec::new();
    for _ in 0..300 {
        room.tick();
        let requests = room.world().resource::<Messages<ModelRequest>>();
        offered = requests.iter_current_update_messages().flat_map(|one| one.tools.clone()).collect();
        if !offered.is_empty() {
            break;
        }
    }
    let names: Vec<&str> = offered.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["vfs_read", "weather"], "in the order in which they were added");
    let asked = allow(&mut room);
    assert_eq!(asked["data"]["what"], "asking for the weather in Oslo");
    assert_eq!(asked["data"]["why"], "it reaches outside the workspace");
    assert_eq!(why(&mut room).0, State::Waiting);
    let call = room.events("tool_call")[0].clone();
    assert_eq!((&call["data"]["tool"], &call["data"]["target"]), (&json!("weather"), &json!("Oslo")));
    assert_eq!(call["data"]["gate"], "ask");
    at_work(&mut room, HALF_WAY + 2);
    assert_eq!(why(&mut room), (State::Working, "asking for the weather in Oslo: half way".to_owned()));
    room.until(10.0, "complete", |_| true);
    let answered = results(&room);
    assert_eq!(answered.len(), 1);
    assert_eq!((&answered[0]["ok"], &answered[0]["text"]), (&json!(true), &json!("{\"celsius\":7}")));
    assert!(room.world().resource::<PendingToolOrders>().of(WEATHER).next().is_none());
}

fn a_call_under_way_outlives_the_room_and_is_answered_once() {
    for ticks in [0, 3, HALF_WAY + 1, DONE - 1] {
        let mut room = room();
        allow(&mut room);
        at_work(&mut room, ticks);
        let name = room.world().resource::<PendingToolOrders>().of(WEATHER).next().expect("it is under way").key;
        let mut again = room.reopened();
        add(&mut again);
        let kept = again.world().resource::<PendingToolOrders>().of(WEATHER).map(|order| order.key);
        assert_eq!(kept.collect::<Vec<_>>(), [name], "the same order under the same name");
        again.until(10.0, "complete", |_| true);
        assert_eq!(results(&again).len(), 1, "after {ticks} ticks");
        assert_eq!(results(&again)[0]["ok"], true);
        assert!(again.events("approval_requested").is_empty(), "what was allowed is not asked again");
    }
    // If no executor exists any more, the failure says so.
    let mut room = room();
    allow(&mut room);
    at_work(&mut room, 3);
    let mut again = room.reopened();
    again.until(10.0, "complete", |_| true);
    assert!(results(&again)[0]["text"].as_str().unwrap().contains("no longer available"), "{:?}", results(&again));
}

fn two_runs_that_continue_from_one_moment_give_no_order_the_same_name() {
    let mut room = room();
    room.until(10.0, "approval_requested", |_| true);
    let [mut one, mut other] = ["r-one", "r-other"].map(|run| room.reopened_as(run));
    let [first, second] = [&mut one, &mut other].map(|room| {
        add(room);
        let approval = room.world().resource::<Kernel>().approvals().next().expect("it still asks");
        room.push(approval.decide(true));
        at_work(room, 0);
        let order = room.world().resource::<PendingToolOrders>().of(WEATHER).next().expect("it is given").key;
        room.until(10.0, "complete", |_| true);
        room.push(TaskCommand { agent: "lead".into(), text: "And now?".into() });
        let task = room.until(10.0, "activation", |event| event["data"]["task"] == "And now?");
        (order, task["activation"].as_str().expect("it names the work").to_owned())
    });
    assert_eq!((first.0.activation, first.0.turn, first.0.call), (second.0.activation, second.0.turn, second.0.call));
    assert_ne!(first.0, second.0, "the same call of the same work, allowed in two runs");
    assert_eq!(first.0.to_string().parse(), Ok(first.0));
    assert_ne!(first.1, second.1, "the same task, given in two runs");
}

fn a_run_with_an_added_tool_replays_without_its_executor() {
    let mut live = room();
    allow(&mut live);
    live.until(10.0, "complete", |_| true);
    let ticks = live.now();
    let mut again = Workshop::begin(live.start.clone(), Seq(1));
    again.world().resource_mut::<InputJournal>().replay(live.inputs.clone());
    let mut again = begun(again);
    while again.now() < ticks {
        again.tick();
    }
    again.assert_same_world(&mut live);
    assert_eq!(again.log().len(), live.log().len(), "the replay told another story");
    assert_eq!(results(&again), results(&live));
}

fn a_call_whose_work_is_over_is_given_up_and_a_late_answer_is_nobodys() {
    let mut room = room();
    allow(&mut room);
    at_work(&mut room, 3);
    let key = room.world().resource::<PendingToolOrders>().of(WEATHER).next().expect("it is under way").key;
    room.push(KernelCommand::Kill { activation: key.activation });
    room.until(10.0, "abort", |_| true);
    room.tick();
    assert!(room.world().resource::<PendingToolOrders>().get(key).is_none(), "its executor sees that it is gone");
    let output = ToolOutput { text: "late".into(), ..ToolOutput::default() };
    room.push(ToolOutcome { key, news: ToolNews::Done { output } });
    room.advance(2.0);
    assert!(results(&room).is_empty());
    assert!(room.world().resource::<Kernel>().is_idle());
}

fn a_tool_is_there_for_those_that_it_was_added_for() {
    use agent_workshop::agent::Profiles;
    use agent_workshop::gate::{Authority, ToolScope};
    use agent_workshop::tools::Caller;
    let mut tools = Tools::default();
    tools.register(weather().within(ToolScope::Profile("lead".into()))).unwrap();
    assert_eq!(tools.register(weather()), Err(ToolRefusal::Taken("weather".into())), "lead would have two");
    tools.register(weather().within(ToolScope::Profile("other".into()))).unwrap();
    let odd = Tool::new("a b", "x", json!({ "type": "object" }), plan);
    assert!(matches!(tools.register(odd), Err(ToolRefusal::Name(_))));
    let mut room = Setup::scene(SCENE).profile("lead", LEAD).profile("helper", LEAD).script(SCRIPT).open();
    room.tick();
    let profiles = room.world().resource::<Profiles>();
    let offered = |tools: &Tools, profile: &str| -> Vec<String> {
        let (own, _) = tools.authority("agents/x.md", profiles.get(profile).expect("it should exist"));
        let session = agent_workshop::base::ActivationKey::numbered(1);
        let told = tools.declarations(Caller { profile, session }, &Authority::chain(own, []));
        told.into_iter().map(|tool| tool.name).collect()
    };
    assert_eq!(offered(&tools, "lead"), ["weather"]);
    assert!(tools.remove(&ToolScope::Profile("lead".into()), WEATHER));
    assert!(offered(&tools, "lead").is_empty());
}
