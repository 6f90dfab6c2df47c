//! Substitute providers, tests of providers, and budgets that change while a room runs.

use std::time::Duration;

use bevy::app::App;
use serde_json::json;

use super::request_queue::ReachedCap;
use crate::base::JobControl;
use crate::gateway::limits::ledger::Tally;
use crate::gateway::providers::provider::{ProviderRequest, SimulatedAnswer, SimulatedError, SimulatedProvider};
use crate::gateway::*;
use crate::log::EventLog;
use crate::mind::{Completion, FailureKind, Finish, Usage};
use crate::schedule::saved::world_hash;
use crate::schedule::{self, InputJournal};
use crate::workspace::SettingsSections;

/// Answers with its name after half a second, or with an error.
struct Named(&'static str, Option<u16>);

impl SimulatedProvider for Named {
    fn answer(&mut self, _: &ProviderRequest) -> SimulatedAnswer {
        let usage = Usage { input_tokens: 20, output_tokens: 5, ..Usage::default() };
        let completion =
            Completion { text: self.0.into(), tool_calls: vec![], usage, finish: Finish::Stop, told: None };
        let outcome = match self.1 {
            None => Ok(completion),
            Some(status) => Err(SimulatedError { status, retry_after_secs: None, message: "no".into() }),
        };
        SimulatedAnswer { outcome, latency_secs: 0.5, script: None }
    }
}

fn room(budget: BudgetSettings) -> App {
    let mut app = App::empty();
    app.add_plugins(schedule::plugin).init_resource::<EventLog>().init_resource::<SettingsSections>();
    app.insert_resource(GatewayEnvironment(Environment::default()));
    app.add_plugins(plugin);
    app.insert_resource(budget);
    add_simulated_provider(&mut app, "offline", |_| Ok(Box::new(Named("offline here", None))));
    add_simulated_provider(&mut app, "scripted", |_| Ok(Box::new(Named("", Some(429)))));
    app
}

fn tried(app: &App, spec: &str) -> provider_trial::TrialResult {
    let trial = ProviderTrial::of(app.world(), spec).expect("nothing forbids it");
    trial.run(&JobControl::default())
}

fn run_used(app: &App) -> Tally {
    app.world().resource::<RequestQueue>().ledger().run()
}

#[test]
fn a_trial_returns_an_answer_and_its_usage_enters_as_an_input() {
    let mut app = room(BudgetSettings::default());
    let tried = tried(&app, "offline");
    assert_eq!(tried.outcome.as_ref().map(|reply| reply.text.as_str()), Ok("offline here"));
    assert_eq!((tried.duration, tried.used.tokens), (Duration::from_millis(500), 25));
    schedule::advance(app.world_mut());
    assert_eq!(run_used(&app), Tally::default(), "the room knows nothing of it until it is told");
    tried.book(app.world_mut());
    schedule::advance(app.world_mut());
    assert_eq!((run_used(&app).calls, run_used(&app).tokens), (1, 25));
    let inputs = app.world_mut().resource_mut::<InputJournal>().take_recorded();
    let mut again = room(BudgetSettings::default());
    again.world_mut().resource_mut::<InputJournal>().replay(inputs);
    for _ in 0..2 {
        schedule::advance(again.world_mut());
    }
    assert_eq!(world_hash(app.world_mut()), world_hash(again.world_mut()));
}

#[test]
fn a_failed_trial_is_reported_at_once_with_a_remedy() {
    let app = room(BudgetSettings::default());
    let failure = tried(&app, "scripted:any").outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::RateLimited);
    assert!(!failure.what.contains("tried"), "a trial tries once: {}", failure.what);
    let no_key = tried(&app, "openai").outcome.unwrap_err();
    assert_eq!(no_key.kind, FailureKind::Unauthorised);
    assert!(no_key.remedy.contains("OPENAI_API_KEY"));
    assert!(ProviderTrial::of(app.world(), "nobody:x").is_err_and(|problem| problem.what.contains("nobody")));
}

#[test]
fn a_dead_port_is_reported_with_its_address() {
    let mut app = room(BudgetSettings::default());
    // Outside of the range from which ports are assigned, so that no server listens there.
    let port = 1;
    app.world_mut().resource_mut::<GatewaySettings>().base_urls =
        [("ollama".to_owned(), format!("http://127.0.0.1:{port}"))].into();
    let tried = tried(&app, "ollama:tiny");
    let failure = tried.outcome.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unavailable);
    assert!(
        failure.what.contains(&format!("127.0.0.1:{port}")) && failure.remedy.contains("start the server"),
        "{failure:?}"
    );
    assert_eq!(tried.used.tokens, 0, "nothing was asked, nothing is booked");
}

#[test]
fn a_running_trial_can_be_cancelled() {
    let mut app = room(BudgetSettings::default());
    // Accepts the connection and stays silent.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    app.world_mut().resource_mut::<GatewaySettings>().base_urls = [("ollama".to_owned(), url)].into();
    let trial = ProviderTrial::of(app.world(), "ollama:tiny").unwrap();
    let control = JobControl::default();
    let tried = std::thread::scope(|scope| {
        let asking = scope.spawn(|| trial.run(&control));
        let _connection = listener.accept().unwrap();
        control.cancel();
        asking.join().unwrap()
    });
    assert_eq!(tried.outcome.unwrap_err().kind, FailureKind::Cancelled);
}

#[test]
fn a_limit_of_the_run_applies_to_trials() {
    let app = room(BudgetSettings { tokens_per_run: Some(10), ..BudgetSettings::default() });
    let Err(problem) = ProviderTrial::of(app.world(), "offline") else { panic!("the cap was broken") };
    assert_eq!(problem.place, "budget.tokens_per_run");
    assert!(problem.what.contains("10 tokens") && problem.remedy.contains("tokens_per_run"), "{problem}");
}

#[test]
fn a_provider_override_can_be_changed_and_removed_and_replays() {
    let mut app = room(BudgetSettings::default());
    let provider_override = |app: &App| app.world().resource::<RequestQueue>().provider_override().map(str::to_owned);
    for provider in [Some("scripted:x".to_owned()), None, Some("offline".to_owned())] {
        app.world_mut()
            .resource_mut::<InputQueue<ProviderOverride>>()
            .push(ProviderOverride { provider: provider.clone() });
        schedule::advance(app.world_mut());
        assert_eq!(provider_override(&app), provider);
    }
    let inputs = app.world_mut().resource_mut::<InputJournal>().take_recorded();
    let mut again = room(BudgetSettings::default());
    again.world_mut().resource_mut::<InputJournal>().replay(inputs);
    for _ in 0..3 {
        schedule::advance(again.world_mut());
    }
    assert_eq!(world_hash(app.world_mut()), world_hash(again.world_mut()));
}

#[test]
fn a_raised_limit_is_no_longer_reached() {
    let mut app = room(BudgetSettings { tokens_per_run: Some(10), ..BudgetSettings::default() });
    let reached = ReachedCap { name: "tokens_per_run".into(), limit: 10 };
    let mut questions = app.world_mut().resource_mut::<RequestQueue>();
    (questions.reached, questions.run_cap_reached) = (Some(reached), Some("the cap of 10 tokens".into()));
    schedule::advance(app.world_mut());
    assert!(app.world().resource::<RequestQueue>().run_cap_reached().is_some());
    app.world_mut().resource_mut::<BudgetSettings>().tokens_per_run = Some(500);
    schedule::advance(app.world_mut());
    assert_eq!(app.world().resource::<RequestQueue>().run_cap_reached(), None);
    assert_eq!(app.world().resource::<RequestQueue>().reached_cap(), None);
    // Old worlds were saved without the name of the budget.
    let old: RequestQueue = serde_json::from_value(json!({ "run_cap_reached": "a cap" })).unwrap();
    assert_eq!((old.run_cap_reached(), old.reached_cap()), (Some("a cap"), None));
}
