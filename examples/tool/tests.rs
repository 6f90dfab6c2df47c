//! What must hold for a tool that another crate adds.

use agent_workshop::agent::{Profiles, Roster};
use agent_workshop::base::{ActivationKey, Seq};
use agent_workshop::gate::{Authority, ToolScope};
use agent_workshop::kernel::{Kernel, KernelCommand};
use agent_workshop::mind::ModelRequest;
use agent_workshop::schedule::InputJournal;
use agent_workshop::simulation::{AgentState, State, TaskCommand};
use agent_workshop::tools::{
    Caller, OrderOutcome, OrderReport, PendingToolOrders, Tool, ToolOutput, ToolRefusal, Tools,
};
use agent_workshop::workspace::Problems;
use bevy::ecs::message::Messages;
use example_tool::{DONE_TICKS, HALF_WAY_TICKS, WEATHER, add, weather};
use serde_json::{Value, json};

use crate::workshop::{Setup, Workshop};

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
const LEAD: &str = "---\nid: lead\ntools: [weather, vfs_read]\n---\nYou lead.\n";
const SCRIPT: &str = "latency: 0.1\nagents:\n  lead:\n    - tools: [ { name: weather, arguments: \"{\\\"city\\\": \\\"Oslo\\\"}\" } ]\n    - text: It is cool.\n";

/// The simulated seconds after which the tool is added to a running room.
const ADDED_AFTER_SECS: f64 = 0.5;

fn with_tool(mut room: Workshop) -> Workshop {
    room.advance(ADDED_AFTER_SECS);
    add(&mut room.app).expect("the name is free");
    room
}

fn room() -> Workshop {
    let mut room = with_tool(Setup::scene(SCENE).profile("lead", LEAD).script(SCRIPT).open());
    room.push(TaskCommand { agent: "lead".into(), text: "What is the weather like?".into() });
    room
}

/// Runs until the call needs approval, and allows it. Returns the approval request.
fn allow(room: &mut Workshop) -> Value {
    let asked = room.until(10.0, "approval_requested", |_| true);
    let approval = room.world().resource::<Kernel>().approvals().next().expect("an approval is pending");
    room.push(approval.decide(true));
    asked
}

/// Runs until the executor has worked on the call for this many ticks.
fn run_until_executing(room: &mut Workshop, ticks: u64) {
    for _ in 0..300 {
        room.tick();
        if room.world().resource::<PendingToolOrders>().of(WEATHER).next().is_some() {
            (0..ticks).for_each(|_| room.tick());
            return;
        }
    }
    panic!("the order is never given");
}

fn state_of_lead(room: &mut Workshop) -> (State, String) {
    let world = room.world();
    let roster = world.resource::<Roster>();
    let lead = roster.key("lead").and_then(|key| roster.entity(key)).expect("the agent is in the room");
    let state = &world.get::<AgentState>(lead).expect("the agent has a state").0;
    (state.state(), state.why().to_owned())
}

fn results(room: &Workshop) -> Vec<&Value> {
    room.events("tool_result").into_iter().map(|event| &event["data"]).collect()
}

#[test]
fn an_added_tool_is_offered_approved_shown_and_logged_like_others() {
    let mut room = Setup::scene(SCENE).profile("lead", LEAD).script(SCRIPT).open();
    room.advance(ADDED_AFTER_SECS);
    let problems = |room: &mut Workshop| room.world().resource::<Problems>().iter().map(ToString::to_string).collect();
    let before: Vec<String> = problems(&mut room);
    assert!(before.iter().any(|problem| problem.contains("not available: weather")), "{before:?}");
    add(&mut room.app).expect("the name is free");
    room.tick();
    let after: Vec<String> = problems(&mut room);
    assert!(after.is_empty(), "the tool is available now: {after:?}");
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
    assert_eq!(names, ["vfs_read", "weather"], "tools are offered in the order of registration");
    let asked = allow(&mut room);
    assert_eq!(asked["data"]["what"], "asking for the weather in Oslo");
    assert_eq!(asked["data"]["why"], "it reaches outside the workspace");
    assert_eq!(state_of_lead(&mut room).0, State::Waiting);
    let call = room.events("tool_call")[0].clone();
    assert_eq!((&call["data"]["tool"], &call["data"]["target"]), (&json!("weather"), &json!("Oslo")));
    assert_eq!(call["data"]["gate"], "ask");
    run_until_executing(&mut room, HALF_WAY_TICKS + 2);
    assert_eq!(state_of_lead(&mut room), (State::Working, "asking for the weather in Oslo: half way".to_owned()));
    room.until(10.0, "complete", |_| true);
    let answered = results(&room);
    assert_eq!(answered.len(), 1);
    assert_eq!((&answered[0]["ok"], &answered[0]["text"]), (&json!(true), &json!("{\"celsius\":7}")));
    assert!(room.world().resource::<PendingToolOrders>().of(WEATHER).next().is_none());
}

#[test]
fn a_pending_call_survives_a_restart_and_ends_once() {
    for ticks in [0, 3, HALF_WAY_TICKS + 1, DONE_TICKS - 1] {
        let mut room = room();
        allow(&mut room);
        run_until_executing(&mut room, ticks);
        let key = room.world().resource::<PendingToolOrders>().of(WEATHER).next().expect("an order is pending").key;
        let mut again = room.reopened();
        add(&mut again.app).expect("the name is free");
        let pending = again.world().resource::<PendingToolOrders>().of(WEATHER).map(|order| order.key);
        assert_eq!(pending.collect::<Vec<_>>(), [key], "the same order with the same key");
        again.until(10.0, "complete", |_| true);
        assert_eq!(results(&again).len(), 1, "after {ticks} ticks");
        assert_eq!(results(&again)[0]["ok"], true);
        assert!(again.events("approval_requested").is_empty(), "the call needs no second approval");
    }
    // Without an executor, the call fails with the reason.
    let mut room = room();
    allow(&mut room);
    run_until_executing(&mut room, 3);
    let mut again = room.reopened();
    again.until(10.0, "complete", |_| true);
    assert!(results(&again)[0]["text"].as_str().unwrap().contains("no longer available"), "{:?}", results(&again));
}

#[test]
fn two_runs_continued_from_one_state_have_distinct_order_keys() {
    let mut room = room();
    room.until(10.0, "approval_requested", |_| true);
    let [mut one, mut other] = ["r-one", "r-other"].map(|run| room.reopened_as(run));
    let [first, second] = [&mut one, &mut other].map(|room| {
        add(&mut room.app).expect("the name is free");
        let approval = room.world().resource::<Kernel>().approvals().next().expect("the approval is still pending");
        room.push(approval.decide(true));
        run_until_executing(room, 0);
        let order = room.world().resource::<PendingToolOrders>().of(WEATHER).next().expect("an order is pending").key;
        room.until(10.0, "complete", |_| true);
        room.push(TaskCommand { agent: "lead".into(), text: "And now?".into() });
        let task = room.until(10.0, "activation", |event| event["data"]["task"] == "And now?");
        (order, task["activation"].as_str().expect("the event names its activation").to_owned())
    });
    assert_eq!((first.0.activation, first.0.turn, first.0.call), (second.0.activation, second.0.turn, second.0.call));
    assert_ne!(first.0, second.0, "the keys differ by run for the same call");
    assert_eq!(first.0.to_string().parse(), Ok(first.0));
    assert_ne!(first.1, second.1, "the activations differ by run for the same task");
}

#[test]
fn a_run_with_an_added_tool_replays_without_its_executor() {
    let mut live = room();
    allow(&mut live);
    live.until(10.0, "complete", |_| true);
    let ticks = live.now();
    let mut again = Workshop::begin(live.start.clone(), Seq(1));
    again.world().resource_mut::<InputJournal>().replay(live.inputs.clone());
    let mut again = with_tool(again);
    while again.now() < ticks {
        again.tick();
    }
    again.assert_same_world(&mut live);
    assert_eq!(again.log().len(), live.log().len(), "the replay logged different events");
    assert_eq!(results(&again), results(&live));
}

#[test]
fn a_call_of_stopped_work_is_dropped_and_a_late_result_ignored() {
    let mut room = room();
    allow(&mut room);
    run_until_executing(&mut room, 3);
    let key = room.world().resource::<PendingToolOrders>().of(WEATHER).next().expect("an order is pending").key;
    room.push(KernelCommand::Kill { activation: key.activation });
    room.until(10.0, "abort", |_| true);
    room.tick();
    assert!(room.world().resource::<PendingToolOrders>().get(key).is_none(), "the order is removed");
    let output = ToolOutput { text: "late".into(), ..ToolOutput::default() };
    room.push(OrderOutcome { key, news: OrderReport::Done { output } });
    room.advance(2.0);
    assert!(results(&room).is_empty());
    assert!(room.world().resource::<Kernel>().is_idle());
}

#[test]
fn a_scoped_tool_is_offered_only_in_its_scope() {
    let mut tools = Tools::default();
    tools.register(weather().within(ToolScope::Profile("lead".into()))).unwrap();
    assert_eq!(
        tools.register(weather()),
        Err(ToolRefusal::Taken("weather".into())),
        "the name is taken in a narrower scope"
    );
    tools.register(weather().within(ToolScope::Profile("other".into()))).unwrap();
    let invalid = Tool::new("a b", "x", json!({ "type": "object" }), |_, _| Err("it is never called".to_owned()));
    assert!(matches!(tools.register(invalid), Err(ToolRefusal::Name(_))));
    let mut room = Setup::scene(SCENE).profile("lead", LEAD).profile("helper", LEAD).script(SCRIPT).open();
    room.tick();
    let profiles = room.world().resource::<Profiles>();
    let offered = |tools: &Tools, profile: &str| -> Vec<String> {
        let (own, _) = tools.authority("agents/x.md", profiles.get(profile).expect("the profile exists"));
        let session = ActivationKey::numbered(1);
        let offered_tools = tools.declarations(Caller { profile, session }, &Authority::chain(own, []));
        offered_tools.into_iter().map(|tool| tool.name).collect()
    };
    assert_eq!(offered(&tools, "lead"), ["weather"]);
    assert!(tools.remove(&ToolScope::Profile("lead".into()), WEATHER));
    assert!(offered(&tools, "lead").is_empty());
}
