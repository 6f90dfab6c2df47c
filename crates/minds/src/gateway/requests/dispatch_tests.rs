//! The gateway in a small room: order, slots, budgets, retries, saving, replay and cancellation.

use std::time::Duration;

use bevy::app::App;
use bevy::ecs::message::Messages;
use bevy::ecs::prelude::*;

use super::request_queue::InFlight;
use crate::base::{AgentKey, Id, RequestId, Seq};
use crate::gateway::providers::provider::{ProviderRequest, SimulatedAnswer, SimulatedError, SimulatedProvider};
use crate::gateway::slack::{SlackCommand, SlackEvent, SlackPoll, SlackTerms};
use crate::gateway::worker::messages::GatewayEvent;
use crate::gateway::*;
use crate::log::events::{Budget, ModelCall, Provider};
use crate::log::{EventData, EventKind, EventLog, EventRecord};
use crate::mind::{
    CallKind, Completion, Effort, FailureKind, Finish, Prompt, PromptMessage, ToolCall, ToolDeclaration, Usage,
};
use crate::schedule::saved::{load_world, save_world, world_hash};
use crate::schedule::{self, RecordedInput};
use crate::simulation::{ActivityId, Urgency};

/// Repeats the last message after as many tenths of a second as its seed; returns an error if the message says so.
struct Echo {
    errors_left: u32,
}

impl SimulatedProvider for Echo {
    fn answer(&mut self, request: &ProviderRequest) -> SimulatedAnswer {
        let words = request.prompt.messages().last().map(|message| message.text.clone()).unwrap_or_default();
        assert!(words != "break", "told to break");
        let latency_secs = request.seed as f32 / 10.0;
        if words == "fail for ever" || words == "fail once" && self.errors_left > 0 {
            self.errors_left = self.errors_left.saturating_sub(1);
            let error = SimulatedError { status: 429, retry_after_secs: Some(2.0), message: "slow down".into() };
            return SimulatedAnswer { outcome: Err(error), latency_secs, script: None };
        }
        let usage = Usage { input_tokens: 7, output_tokens: 3, ..Usage::default() };
        let completion = Completion { text: words, tool_calls: vec![], usage, finish: Finish::Stop, told: None };
        SimulatedAnswer { outcome: Ok(completion), latency_secs, script: None }
    }
}

/// The received answers: in which tick, to which request, and which.
#[derive(Resource, Default)]
struct ReceivedReplies(Vec<(u64, u64, Result<String, FailureKind>)>);

fn hear(
    mut replies: bevy::ecs::message::MessageReader<ModelReply>,
    mut heard: ResMut<ReceivedReplies>,
    clock: Res<SimClock>,
) {
    for reply in replies.read() {
        let outcome = reply.outcome.clone();
        let outcome = outcome.map(|completion| completion.text).map_err(|failure| failure.kind);
        heard.0.push((clock.tick(), reply.request.0, outcome));
    }
}

fn room() -> App {
    let mut app = App::empty();
    app.add_plugins(schedule::plugin).init_resource::<EventLog>().init_resource::<ReceivedReplies>();
    app.insert_resource(GatewayEnvironment(Environment::default()));
    app.add_input::<ModelReply>();
    app.add_plugins(plugin);
    add_simulated_provider(&mut app, "offline", |_| Ok(Box::new(Echo { errors_left: 1 })));
    app.edit_schedule(Tick, |schedule| {
        let ambiguity_detection = bevy::ecs::schedule::LogLevel::Error;
        schedule.set_build_settings(bevy::ecs::schedule::ScheduleBuildSettings {
            ambiguity_detection,
            ..Default::default()
        });
    });
    app.add_systems(Tick, hear.in_set(InPhase(WorkshopSystems::Ingest, Layer::Mind)));
    app
}

fn question(id: u64, agent: &str, seed: u64, words: &str) -> ModelRequest {
    ModelRequest {
        id: RequestId(id),
        agent: AgentKey(u32::try_from(id).unwrap()),
        agent_id: agent.into(),
        profile: "tester".into(),
        activity: ActivityId(1),
        kind: CallKind::Task,
        urgency: Urgency::Read,
        model: None,
        prompt: Prompt { moment: words.into(), ..Prompt::default() },
        tools: Vec::new(),
        activation: None,
        agent_session: None,
        result_images: Default::default(),
        max_output_tokens: 100,
        stops: Vec::new(),
        spoken_before: 0,
        seed,
        cause: Seq(1),
    }
}

fn ask(app: &mut App, request: ModelRequest) {
    app.world_mut().resource_mut::<Messages<ModelRequest>>().write(request);
}

fn tick(app: &mut App, times: u64) {
    for _ in 0..times {
        assert!(wait_before_tick(app.world_mut(), Duration::from_secs(10)), "the worker must answer");
        schedule::advance(app.world_mut());
    }
}

fn heard(app: &App) -> Vec<(u64, u64, Result<String, FailureKind>)> {
    app.world().resource::<ReceivedReplies>().0.clone()
}

fn said(tick: u64, id: u64, words: &str) -> (u64, u64, Result<String, FailureKind>) {
    (tick, id, Ok(words.to_owned()))
}

#[test]
fn answers_arrive_after_their_latency() {
    let mut app = room();
    ask(&mut app, question(1, "a", 10, "slow"));
    ask(&mut app, question(2, "b", 5, "fast"));
    ask(&mut app, question(3, "c", 5, "as fast"));
    tick(&mut app, 60);
    // Requested in tick 1; a tenth of a second is three ticks.
    assert_eq!(heard(&app), [said(16, 2, "fast"), said(16, 3, "as fast"), said(31, 1, "slow")]);
    let calls = app.world().resource::<EventLog>().unwritten();
    assert_eq!(calls.iter().filter(|record| record.draft.kind == EventKind::ModelCall).count(), 3);
    assert_eq!(app.world().resource::<RequestQueue>().ledger().run().tokens, 30);
    assert_eq!(app.world().resource::<RequestQueue>().in_flight(), 0);
}

#[test]
fn slots_are_limited_and_waiting_agents_learn_their_position() {
    let mut app = room();
    app.world_mut().resource_mut::<GatewaySettings>().max_concurrent = 1;
    for id in 1..=3 {
        ask(&mut app, question(id, "a", 10, "hello"));
    }
    tick(&mut app, 1);
    assert_eq!(app.world().resource::<RequestQueue>().in_flight(), 1);
    tick(&mut app, 1);
    let notices: Vec<_> =
        app.world_mut().resource_mut::<Messages<Explain>>().drain().map(|notice| notice.why).collect();
    assert_eq!(
        notices,
        ["asking offline", "waiting for a free model slot, 1st of 2", "waiting for a free model slot, 2nd of 2"]
    );
    tick(&mut app, 10);
    assert_eq!(app.world_mut().resource_mut::<Messages<Explain>>().drain().count(), 0, "not reported every tick");
    tick(&mut app, 100);
    assert_eq!(heard(&app), [said(31, 1, "hello"), said(61, 2, "hello"), said(91, 3, "hello")]);
}

#[test]
fn slots_are_assigned_by_urgency_and_arrival_and_reported_positions_are_true() {
    let mut app = room();
    app.world_mut().resource_mut::<GatewaySettings>().max_concurrent = 1;
    let asks = [
        (1, Urgency::Read),
        (2, Urgency::Banter),
        (3, Urgency::Read),
        (4, Urgency::Seek),
        (5, Urgency::Talk),
        (6, Urgency::Rule),
        (7, Urgency::Mail),
        (8, Urgency::Task),
        (9, Urgency::Rule),
    ];
    for (id, urgency) in asks {
        ask(&mut app, ModelRequest { urgency, ..question(id, "a", 10, "hello") });
        // Each is requested a tick after the previous one: the first is running when the others arrive.
        tick(&mut app, 1);
    }
    tick(&mut app, 1);
    let notices: Vec<_> = app.world_mut().resource_mut::<Messages<Explain>>().drain().collect();
    let last_of =
        |agent: u32| notices.iter().rev().find(|notice| notice.agent == AgentKey(agent)).map(|notice| &*notice.why);
    assert_eq!(last_of(9), Some("waiting for a free model slot, 3rd of 8"));
    assert_eq!(last_of(2), Some("waiting for a free model slot, 8th of 8"), "it was 1st when it came");
    tick(&mut app, 400);
    let answered: Vec<u64> = heard(&app).into_iter().map(|(_, id, _)| id).collect();
    assert_eq!(answered, [1, 8, 6, 9, 7, 5, 3, 4, 2]);
}

#[test]
fn waiting_requests_can_be_postponed_and_running_ones_continue() {
    let mut app = room();
    app.world_mut().resource_mut::<GatewaySettings>().max_concurrent = 1;
    for id in 1..=3 {
        ask(&mut app, question(id, "a", 10, "hello"));
    }
    tick(&mut app, 2);
    for request in [1, 2].map(RequestId) {
        app.world_mut().resource_mut::<Messages<PutOffRequest>>().write(PutOffRequest { request });
    }
    tick(&mut app, 100);
    assert_eq!(heard(&app), [(4, 2, Err(FailureKind::PutOff)), said(31, 1, "hello"), said(61, 3, "hello")]);
    let health = app.world().resource::<ProviderHealth>();
    assert!(health.fault("offline", "offline").is_none(), "it says nothing about the provider");
    assert_eq!(app.world().resource::<RequestQueue>().ledger().run().calls, 2, "what was not asked is not counted");
}

#[test]
fn nothing_waits_forever_behind_more_urgent_requests() {
    let mut app = room();
    app.world_mut().resource_mut::<GatewaySettings>().max_concurrent = 1;
    ask(&mut app, ModelRequest { urgency: Urgency::Seek, ..question(1_000_000, "a", 10, "me, too") });
    // Something more urgent is requested every second, and every answer takes a second.
    let reads = 60 * 20;
    for id in 1..=reads {
        ask(&mut app, ModelRequest { urgency: Urgency::Read, ..question(id, "b", 10, "hello") });
        tick(&mut app, 30);
    }
    let waited = heard(&app).into_iter().find(|(_, id, _)| *id == 1_000_000).map(|(tick, ..)| tick / 30);
    assert!(waited.is_some_and(|secs| (500..=700).contains(&secs)), "it waited {waited:?} s");
}

#[test]
fn a_limit_refuses_with_a_message_and_a_record() {
    let mut app = room();
    app.world_mut().resource_mut::<BudgetSettings>().calls_per_agent_per_hour = Some(1);
    ask(&mut app, question(1, "ada-1", 1, "one"));
    tick(&mut app, 10);
    ask(&mut app, question(2, "ada-1", 1, "two"));
    tick(&mut app, 3);
    assert_eq!(heard(&app), [said(4, 1, "one"), (12, 2, Err(FailureKind::OverBudget))]);
    let questions = app.world().resource::<RequestQueue>();
    assert_eq!(questions.run_cap_reached(), None, "the cap of one agent does not stop the run");
    let budget = logged::<Budget>(&app).pop().expect("the budget should be reported");
    assert_eq!((&*budget.cap, budget.is_refusal()), ("calls_per_agent_per_hour", true));
    assert!(budget.remedy.contains("budget.calls_per_agent_per_hour"), "{}", budget.remedy);
    tick(&mut app, 60 * 1800);
    ask(&mut app, question(3, "ada-1", 1, "three"));
    tick(&mut app, 10);
    assert_eq!(heard(&app).last().unwrap().2, Ok("three".into()), "an hour later it may ask again");
}

#[test]
fn a_call_is_reported_and_counted_for_its_activation() {
    let mut app = room();
    app.world_mut().resource_mut::<BudgetSettings>().calls_per_activation = Some(1);
    let part_of = |id: u64, activation: &str| ModelRequest {
        activation: Some(activation.into()),
        ..question(id, "ada-1", 1, "hello")
    };
    for request in [part_of(1, "act-1"), part_of(2, "act-2"), part_of(3, "act-2"), question(4, "ada-1", 1, "hello")] {
        ask(&mut app, request);
        tick(&mut app, 10);
    }
    let refused = heard(&app).into_iter().filter(|(_, _, outcome)| outcome.is_err());
    assert_eq!(refused.map(|(_, id, outcome)| (id, outcome)).collect::<Vec<_>>(), [(3, Err(FailureKind::OverBudget))]);
    let questions = app.world().resource::<RequestQueue>();
    assert_eq!(questions.ledger().activation(&"act-2".into()).tokens, 10);
    assert_eq!(questions.run_cap_reached(), None, "others may go on");
    let log = app.world().resource::<EventLog>().unwritten();
    let of = |kind| log.iter().filter(move |record| record.draft.kind == kind).map(|record| &record.draft);
    let calls: Vec<_> = of(EventKind::ModelCall).map(|draft| draft.activation.clone()).collect();
    assert_eq!(calls, [Some("act-1".into()), Some("act-2".into()), None]);
    let budget = of(EventKind::Budget).next().expect("the budget should be reported");
    assert_eq!(budget.activation, Some("act-2".into()));
    let budget = logged::<Budget>(&app).pop().expect("the budget should be reported");
    assert!(
        budget.what.contains("the limit of 1 calls an activation for act-2 is reached (1 made)"),
        "{}",
        budget.what
    );
}

#[test]
fn a_lasting_rate_limit_reports_the_requested_wait() {
    let mut app = room();
    ask(&mut app, question(1, "a", 1, "fail for ever"));
    tick(&mut app, 600);
    assert_eq!(
        heard(&app).into_iter().map(|(_, _, outcome)| outcome).collect::<Vec<_>>(),
        [Err(FailureKind::RateLimited)]
    );
    let failed = logged::<ModelCall>(&app).pop().and_then(|call| call.error).expect("the call should be reported");
    assert_eq!(failed.retry_after_secs, Some(2.0));
}

#[test]
fn tools_calls_and_results_are_part_of_the_reservation() {
    let plain = question(1, "a", 1, "hello");
    let call = ToolCall::new("c-1", "vfs_read", serde_json::json!({ "path": "x".repeat(400) }));
    let mut history = plain.clone();
    history.prompt.history =
        vec![PromptMessage::calls("", vec![call.clone()]), PromptMessage::result(&call, "y".repeat(400))];
    let mut tools = plain.clone();
    let parameters = serde_json::json!({ "type": "object", "description": "z".repeat(400) });
    tools.tools =
        vec![ToolDeclaration { name: "vfs_read".into(), description: "w".repeat(400), parameters: parameters.into() }];
    let estimated = |request: &ModelRequest| ProviderRequest::new(request, "m").estimated_input_tokens();
    for more in [history, tools] {
        assert!(estimated(&more) >= estimated(&plain) + 200, "{} {}", estimated(&more), estimated(&plain));
    }
}

#[test]
fn temporary_errors_are_retried_in_simulated_time() {
    let mut app = room();
    ask(&mut app, question(1, "a", 10, "fail once"));
    tick(&mut app, 200);
    // One second, two seconds of waiting, one second.
    assert_eq!(heard(&app), [said(121, 1, "fail once")]);
}

#[test]
fn timeouts_and_panics_are_failures() {
    let mut app = room();
    app.world_mut().resource_mut::<GatewaySettings>().total_timeout_secs = 2.0;
    ask(&mut app, question(1, "a", 1000, "late"));
    ask(&mut app, question(2, "b", 1, "break"));
    ask(&mut app, question(3, "b", 1, "still here"));
    tick(&mut app, 70);
    assert_eq!(
        heard(&app),
        [(2, 2, Err(FailureKind::Malformed)), said(4, 3, "still here"), (61, 1, Err(FailureKind::TimedOut))]
    );
}

#[test]
fn every_attempt_counts_as_a_call_and_the_log_agrees_with_the_ledger() {
    let mut app = room();
    app.world_mut().resource_mut::<BudgetSettings>().calls_per_run = Some(3);
    ask(&mut app, question(1, "a", 1, "hello"));
    tick(&mut app, 10);
    ask(&mut app, question(2, "a", 1, "fail for ever"));
    tick(&mut app, 300);
    ask(&mut app, question(3, "a", 1, "hello"));
    tick(&mut app, 10);
    let outcomes: Vec<_> = heard(&app).into_iter().map(|(_, _, outcome)| outcome).collect();
    assert_eq!(outcomes, [Ok("hello".into()), Err(FailureKind::RateLimited), Err(FailureKind::OverBudget)]);
    let run = app.world().resource::<RequestQueue>().ledger().run();
    assert_eq!(run.calls, 3, "one answer, and two of the four attempts that settings allow");
    let calls = logged::<ModelCall>(&app);
    assert_eq!(calls[1].attempts, Some(2));
    let tokens = calls.iter().map(|call| call.tokens_in.unwrap_or(0) + call.tokens_out.unwrap_or(0)).sum::<u64>();
    assert_eq!(tokens, run.tokens);
}

/// A room that sends no requests to external providers: their events are replayed.
fn room_of_openai(base_url: Option<&str>, prices: &str) -> App {
    let mut app = room();
    let mut settings = GatewaySettings { provider: "openai:gpt-4o".into(), ..GatewaySettings::default() };
    settings.base_urls.extend(base_url.map(|url| ("openai".to_owned(), url.to_owned())));
    app.insert_resource(settings).insert_resource(serde_yaml::from_str::<PriceSettings>(prices).unwrap());
    // A replayed room sends no requests.
    app.world_mut().resource_mut::<InputJournal>().replay([]);
    app
}

/// Returns the cost of an answer with a thousand input and a hundred output tokens, in the ledger and in the log.
fn cost_of_an_answer(base_url: Option<&str>, prices: &str) -> (crate::gateway::limits::ledger::Tally, Option<f64>) {
    let mut app = room_of_openai(base_url, prices);
    ask(&mut app, question(1, "a", 1, "hello"));
    schedule::advance(app.world_mut());
    let usage = Usage { input_tokens: 1_000, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 100 };
    let completion = Completion { text: "hi".into(), tool_calls: vec![], usage, finish: Finish::Stop, told: None };
    let reply = ModelReply {
        request: RequestId(1),
        provider: "openai".into(),
        model: "gpt-4o".into(),
        duration_ms: 1,
        at_ms: None,
        effort: Some(Effort { attempts: 1, estimated: Usage::default() }),
        script: None,
        outcome: Ok(completion),
    };
    let tick = app.world().resource::<SimClock>().tick() + 1;
    let data = serde_json::to_string(&reply).unwrap();
    let input = RecordedInput { tick, kind: <ModelReply as crate::schedule::Input>::KIND.to_owned(), data };
    app.world_mut().resource_mut::<InputJournal>().replay([input]);
    schedule::advance(app.world_mut());
    let call = logged::<ModelCall>(&app).pop().expect("the call should be reported");
    (
        app.world().resource::<RequestQueue>().ledger().run(),
        call.cost_usd.expect("the cost is told, or that it is unknown"),
    )
}

#[test]
fn local_models_are_free_and_unpriced_ones_have_unknown_cost() {
    let table = [
        (None, "{}", 3_500, 0, Some(0.0035)),
        (Some("http://127.0.0.1:8080"), "{}", 0, 0, Some(0.0)),
        (Some("http://192.168.7.7:8080"), "{}", 0, 0, Some(0.0)),
        (Some("http://127.0.0.1:8080"), "openai:gpt-4o: { in: 1, out: 10 }", 2_000, 0, Some(0.002)),
        (Some("https://router.example"), "{}", 0, 1_100, None),
        (Some("https://router.example"), "openai:gpt-4o: { in: 1, out: 10 }", 2_000, 0, Some(0.002)),
    ];
    for (base_url, prices, micro_usd, unpriced, said) in table {
        let (booked, cost) = cost_of_an_answer(base_url, prices);
        assert_eq!((booked.cost_micro_usd, booked.unpriced_tokens), (micro_usd, unpriced), "{base_url:?} {prices}");
        assert_eq!(cost, said, "{base_url:?} {prices}");
        assert_eq!((booked.calls, booked.tokens), (1, 1_100));
    }
}

#[test]
fn unpriced_models_are_limited_by_tokens() {
    let mut app = room_of_openai(Some("https://router.example"), "{}");
    let mut budget = app.world_mut().resource_mut::<BudgetSettings>();
    (budget.outside_tokens_per_run, budget.unpriced_tokens_per_run) = (None, Some(10));
    ask(&mut app, question(1, "a", 1, "hello"));
    schedule::advance(app.world_mut());
    schedule::advance(app.world_mut());
    let reached = app.world().resource::<RequestQueue>().reached_cap().expect("a cap in dollars cannot see it");
    assert_eq!(reached.name, "unpriced_tokens_per_run");
}

#[test]
fn changed_slots_apply_at_once() {
    let mut app = room();
    app.world_mut().resource_mut::<GatewaySettings>().max_concurrent = 1;
    for id in 1..=6 {
        ask(&mut app, question(id, "a", 20, "hello"));
    }
    tick(&mut app, 1);
    let under_way = |app: &App| app.world().resource::<RequestQueue>().in_flight();
    assert_eq!(under_way(&app), 1);
    app.world_mut().resource_mut::<GatewaySettings>().max_concurrent = 4;
    tick(&mut app, 1);
    assert_eq!(under_way(&app), 4);
    app.world_mut().resource_mut::<GatewaySettings>().max_concurrent = 2;
    tick(&mut app, 65);
    assert_eq!(under_way(&app), 2, "those under way are answered, and no more than two go on");
}

#[test]
fn an_unknown_provider_is_refused_at_once() {
    let mut app = room();
    app.world_mut().resource_mut::<GatewaySettings>().provider = "gemni".into();
    ask(&mut app, question(1, "a", 1, "hello"));
    tick(&mut app, 3);
    assert_eq!(heard(&app), [(2, 1, Err(FailureKind::Rejected))]);
}

#[test]
fn a_withdrawn_request_is_never_answered() {
    let mut app = room();
    app.world_mut().resource_mut::<GatewaySettings>().max_concurrent = 1;
    for id in 1..=3 {
        ask(&mut app, question(id, "a", 10, "hello"));
    }
    tick(&mut app, 5);
    for id in [1, 3] {
        app.world_mut().resource_mut::<Messages<CancelRequest>>().write(CancelRequest { request: RequestId(id) });
    }
    tick(&mut app, 80);
    assert_eq!(heard(&app), [said(36, 2, "hello")]);
}

/// Makes requests by a fixed plan, so that two rooms can be compared tick by tick.
fn live(app: &mut App, from: u64, to: u64) -> Vec<u64> {
    (from..=to)
        .map(|tick_now| {
            if tick_now % 7 == 0 {
                ask(app, question(tick_now, ["a", "b"][(tick_now % 2) as usize], tick_now % 23, "hello"));
            }
            tick(app, 1);
            world_hash(app.world_mut())
        })
        .collect()
}

#[test]
fn the_same_requests_and_a_replay_produce_the_same_world() {
    checks_rule!("a-replay-asks-no-model");
    let mut first = room();
    let hashes = live(&mut first, 1, 300);
    let inputs: Vec<RecordedInput> = first.world_mut().resource_mut::<InputJournal>().take_recorded();
    assert!(inputs.len() > 30);
    assert_eq!(live(&mut room(), 1, 300), hashes);
    let mut replay = room();
    // A replay sends no requests: a provider that got one would fail the test.
    add_simulated_provider(&mut replay, "offline", |_| panic!("nobody is asked on replay"));
    replay.world_mut().resource_mut::<InputJournal>().replay(inputs);
    assert_eq!(live(&mut replay, 1, 300), hashes);
}

#[test]
fn a_loaded_world_continues_like_the_saved_one() {
    for pause in [7, 8, 50, 123] {
        let mut first = room();
        live(&mut first, 1, pause);
        let saved = save_world(first.world_mut()).unwrap();
        let mut second = room();
        load_world(second.world_mut(), &saved).unwrap();
        assert_eq!(live(&mut second, pause + 1, 200), live(&mut first, pause + 1, 200), "paused at {pause}");
    }
}

/// Returns every event of this type, oldest first.
fn logged<E: EventData>(app: &App) -> Vec<E> {
    app.world().resource::<EventLog>().unwritten().iter().filter_map(EventRecord::read).collect()
}

/// Returns the reports on providers: their state and message.
fn provider_reports(app: &App) -> Vec<(String, String)> {
    logged::<Provider>(app).into_iter().map(|provider| (provider.state.into_owned(), provider.what)).collect()
}

#[test]
fn a_failing_provider_is_reported_once_and_its_recovery_once() {
    let mut app = room();
    app.world_mut().resource_mut::<GatewaySettings>().attempts = 1;
    for id in 1..=5 {
        ask(&mut app, question(id, "a", 1, "fail for ever"));
        tick(&mut app, 10);
    }
    let health = app.world().resource::<ProviderHealth>();
    let fault = health.fault("offline", "offline").expect("it fails");
    assert_eq!((fault.kind, fault.failures, fault.since_tick), (FailureKind::RateLimited, 5, 4));
    let hash = world_hash(app.world_mut());
    ask(&mut app, question(6, "a", 1, "hello"));
    tick(&mut app, 10);
    assert_ne!(world_hash(app.world_mut()), hash, "it is part of the world");
    let reports = provider_reports(&app);
    assert_eq!(reports[0], ("failing".into(), "offline answered 429 (too many requests): slow down".into()));
    assert_eq!(reports[1..], [("working".into(), "offline works again after 5 failures".into())]);
}

#[test]
fn missing_keys_and_unknown_providers_are_retried_when_settings_or_keys_change() {
    let mut app = room();
    let asks = |app: &mut App, id: u64, provider: &str| {
        app.world_mut().resource_mut::<GatewaySettings>().provider = provider.into();
        ask(app, question(id, "a", 1, "hello"));
        app.world_mut().resource_mut::<SimClock>().speed = Speed::Max;
        tick(app, 3);
        app.world().resource::<ProviderHealth>().state(provider)
    };
    assert_eq!(asks(&mut app, 1, "gemini"), HealthState::Failing);
    app.world_mut().resource_mut::<crate::schedule::InputQueue<AccessChanged>>().push(AccessChanged {});
    tick(&mut app, 1);
    assert_eq!(app.world().resource::<ProviderHealth>().state("gemini"), HealthState::Unknown);
    assert_eq!(asks(&mut app, 2, "gemini"), HealthState::Failing);
    assert_eq!(asks(&mut app, 3, "gemni"), HealthState::Failing);
    let health = app.world().resource::<ProviderHealth>();
    assert_eq!(health.state("gemini"), HealthState::Unknown, "the settings are others now");
    assert!(health.faults()[0].what.contains("there is no provider \"gemni\""), "{:?}", health.faults());
    let states: Vec<_> = provider_reports(&app).into_iter().map(|(state, _)| state).collect();
    assert_eq!(states, ["failing", "unknown", "failing", "unknown", "failing"]);
}

#[test]
fn a_reached_limit_is_not_a_fault_of_the_provider() {
    let mut app = room();
    app.world_mut().resource_mut::<BudgetSettings>().calls_per_hour = Some(1);
    for id in 1..=4 {
        ask(&mut app, question(id, "a", 1, "hello"));
        tick(&mut app, 6);
    }
    let health = app.world().resource::<ProviderHealth>();
    assert_eq!((health.faults(), health.state("offline")), (vec![], HealthState::Working));
    assert_eq!(provider_reports(&app), []);
    let acts = |app: &App| logged::<Budget>(app).into_iter().map(|budget| budget.act.into_owned()).collect::<Vec<_>>();
    assert_eq!(acts(&app), ["refused"; 3]);
    app.world_mut().resource_mut::<BudgetSettings>().calls_per_hour = Some(9);
    tick(&mut app, 2);
    assert_eq!(acts(&app)[3..], ["freed"], "and it is said when what waited continues");
}

#[test]
fn a_missing_key_is_named() {
    let mut app = room();
    let mut request = question(1, "a", 1, "hello");
    request.model = Some("gemini".into());
    ask(&mut app, request);
    app.world_mut().resource_mut::<SimClock>().speed = Speed::Max;
    tick(&mut app, 3);
    assert_eq!(heard(&app), [(2, 1, Err(FailureKind::Unauthorised))]);
    let log = app.world().resource::<EventLog>().unwritten().to_vec();
    assert!(log[0].event().remedy().contains("set GEMINI_API_KEY in the environment"));
    assert_eq!(log[0].draft.agent, Some(Id::from("a")));
}

/// Lets one event of each kind of the worker arrive.
fn let_everything_arrive(world: &mut World) {
    world.resource_scope(|world, mut bridge: Mut<WorkerBridge>| {
        let mut live = world.resource_mut::<LiveText>();
        let put_back =
            AttributesPutBack { programs: vec!["tar".into()], changes: vec![], more: 1, compared_only: None };
        bridge.receive(GatewayEvent::PutBack(put_back), &mut live);
        let choice = settings::Choice { provider: "openai".into(), model: "gpt-5".into() };
        bridge.fail(&InFlight { request: question(7, "a", 1, "hi"), choice, sent_tick: 0, attempts: 1 });
    });
}

/// Collects every kind of event of the worker. Returns which kinds the room has received.
fn collect_everything(world: &mut World) -> Vec<&'static str> {
    let expected = "its resources are there";
    world.run_system_cached(worker_events::collect::<dispatch::ModelReplies>).expect(expected);
    world.run_system_cached(worker_events::collect::<AttributesPutBack>).expect(expected);
    let received = [
        ("reply", !world.resource::<InputQueue<ModelReply>>().is_empty()),
        ("attributes", !world.resource::<InputQueue<AttributesPutBack>>().is_empty()),
    ];
    received.into_iter().filter(|(_, is_received)| *is_received).map(|(kind, _)| kind).collect()
}

#[test]
fn a_replay_drains_and_drops_whatever_the_worker_sends() {
    let mut app = room();
    let world = app.world_mut();
    let_everything_arrive(world);
    let all = ["reply", "attributes"];
    assert_eq!(collect_everything(world), all, "a live room receives everything");
    let mut app = room();
    let world = app.world_mut();
    world.resource_mut::<InputJournal>().replay([]);
    let_everything_arrive(world);
    assert_eq!(collect_everything(world), [""; 0], "nothing counts");
    world.resource_mut::<InputJournal>().end_replay();
    assert_eq!(collect_everything(world), [""; 0], "and nothing is left for later");
}
