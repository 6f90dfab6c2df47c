//! Outages, keys, limits and providers that come and go: reading waits, and afterwards everybody has read everything.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::time::Duration;

use bevy::app::App;
use bevy::ecs::message::{Message, Messages};
use proptest::prelude::*;
use serde_json::json;

use crate::agent::{Agent, Roster};
use crate::base::{AgentKey, Author, Behaviour, Id, Seq};
use crate::element::{Element, ElementAct, ElementCommand, ElementEdit, Elements, MailAct, PinAct, TextAct, owns};
use crate::gateway::providers::provider::{ProviderRequest, SimulatedAnswer, SimulatedError, SimulatedProvider};
use crate::gateway::*;
use crate::mind::{Completion, Finish, Usage};
use crate::schedule::saved::{load_world, save_world};
use crate::schedule::{self, InputQueue, ticks};
use crate::simulation::{Activity, AttentionSettings, ConversationSettings, Queue};

/// A provider that answers with this status as long as it is away.
#[derive(Clone, Default)]
struct Server {
    /// The status of its answers; 0 if it answers well.
    status: Arc<AtomicU16>,
    calls: Arc<AtomicUsize>,
}

/// The text that the provider refuses for its content.
const REFUSED_TEXT: &str = "the forbidden word";

impl SimulatedProvider for Server {
    fn answer(&mut self, request: &ProviderRequest) -> SimulatedAnswer {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let is_refused = request.prompt.messages().iter().any(|message| message.text.contains(REFUSED_TEXT));
        let status = match self.status.load(Ordering::SeqCst) {
            0 if is_refused => 400,
            status => status,
        };
        let usage = Usage { input_tokens: 7, output_tokens: 3, ..Usage::default() };
        let text = format!("I see, for the {}th time.", request.seed);
        let completion = Completion { text, tool_calls: vec![], usage, finish: Finish::Stop, told: None };
        let error = SimulatedError { status, retry_after_secs: None, message: "not now".into() };
        let outcome = if status == 0 { Ok(completion) } else { Err(error) };
        SimulatedAnswer { outcome, latency_secs: 0.1, script: None }
    }
}

/// A room whose models are at one server, which the test switches off and on.
struct RoomWithServer {
    app: App,
    server: Server,
}

impl RoomWithServer {
    fn new(agents: usize) -> Self {
        let mut room = Self::empty(Server::default());
        for index in 0..agents {
            let id: Id = format!("a{index}").into();
            let key = AgentKey(u32::try_from(index).expect("a small number"));
            let agent = Agent {
                key,
                id: id.clone(),
                profile: "reader".into(),
                name: format!("Agent {index}").into(),
                start: bevy::math::Vec2::new(index as f32 * 60.0, 60.0),
                start_behaviour: [Behaviour::Stationary, Behaviour::Wander, Behaviour::Patrol][index % 3],
                added: Seq(1),
            };
            let entity = room.app.world_mut().spawn(agent).id();
            room.app.world_mut().resource_mut::<Roster>().insert(key, id, entity);
        }
        room.place(json!({ "id": "rules", "kind": "rulebook", "position": [0, 0], "text": "Be kind." }));
        room.place(json!({ "id": "news", "kind": "messageboard", "position": [120, 0], "text": "Nothing new." }));
        room.place(json!({ "id": "ideas", "kind": "pinboard", "position": [240, 0], "pins": [] }));
        for index in 0..agents {
            let (id, owner) = (format!("mail-{index}"), format!("a{index}"));
            room.place(json!({ "id": id, "kind": "inbox", "position": [-120, index * 90], "owner": owner }));
        }
        // Everyone has looked at everything before a test begins.
        room.run(60.0);
        room
    }

    /// A room without anything in it, whose durations are short.
    fn empty(server: Server) -> Self {
        let mut app = App::empty();
        app.insert_resource(GatewayEnvironment(Environment::default()));
        app.add_plugins((
            schedule::plugin,
            crate::agent::plugin,
            crate::element::plugin,
            crate::memory::plugin,
            crate::simulation::plugin,
            crate::mind::plugin,
            plugin,
        ));
        for name in ["offline", "scripted"] {
            // The other provider is never away.
            let server = if name == "offline" { server.clone() } else { Server::default() };
            add_simulated_provider(&mut app, name, move |_| Ok(Box::new(server.clone())));
        }
        let world = app.world_mut();
        world.resource_mut::<GatewaySettings>().attempts = 1;
        world.resource_mut::<ConversationSettings>().enabled = false;
        let mut attention = world.resource_mut::<AttentionSettings>();
        (attention.retry_least_secs, attention.retry_most_secs) = (1.0, 4.0);
        (attention.seek_secs, attention.error_secs) = (3.0, 0.5);
        world.resource_mut::<crate::simulation::MovementSettings>().speed_units = 2_000.0;
        Self { app, server }
    }

    fn say<M: Message>(&mut self, message: M) {
        self.app.world_mut().resource_mut::<Messages<M>>().write(message);
    }

    fn place(&mut self, keys: serde_json::Value) {
        self.say(ElementCommand::Add { keys: keys.as_object().expect("a map").clone() });
        self.run(0.1);
    }

    fn edit(&mut self, element: &str, act: ElementAct) {
        self.say(ElementEdit { element: element.into(), act, by: Author::user(), cause: None });
    }

    fn mail(&mut self, to: usize, text: &str) {
        let act = MailAct::AddMail {
            id: None,
            from: "user".into(),
            to: format!("a{to}").into(),
            subject: "Hello".into(),
            text: text.to_owned(),
            attachments: Vec::new(),
        };
        self.edit(&format!("mail-{to}"), act.into());
    }

    fn run(&mut self, secs: f32) {
        for _ in 0..ticks(secs) {
            assert!(wait_before_tick(self.app.world_mut(), Duration::from_secs(10)), "the worker must answer");
            schedule::advance(self.app.world_mut());
        }
    }

    fn set_status(&mut self, status: u16) {
        self.server.status.store(status, Ordering::SeqCst);
    }

    fn calls(&self) -> usize {
        self.server.calls.load(Ordering::SeqCst)
    }

    /// Who has not read what, although they may.
    fn unread(&mut self) -> Vec<String> {
        let world = self.app.world_mut();
        let elements: Vec<Element> = {
            let mut all = world.query::<&Element>();
            world.resource::<Elements>().iter().filter_map(|(_, entity)| all.get(world, entity).ok().cloned()).collect()
        };
        let mut unread = Vec::new();
        let mut agents = world.query::<(&Agent, &Activity)>();
        for (agent, activity) in agents.iter(world) {
            let may_read = |element: &&Element| element.owner.is_none() || owns(element.owner.as_ref(), agent);
            for element in elements.iter().filter(may_read) {
                let read = activity.version_read(element.key);
                if read != Some(element.version) {
                    unread.push(format!("{}: {} {read:?} of {}", agent.id, element.id, element.version));
                }
            }
        }
        unread
    }

    /// The reasons why agents wait.
    fn waits(&mut self) -> Vec<String> {
        let world = self.app.world_mut();
        let mut agents = world.query::<(&Activity, &Queue)>();
        agents.iter(world).filter_map(|(activity, _)| Some(activity.model_wait.as_ref()?.why.clone())).collect()
    }

    /// Closes the room, and opens it again for a new run.
    fn reopen(&mut self) {
        let saved = save_world(self.app.world_mut()).expect("it should be saved");
        let mut room = Self::empty(self.server.clone());
        load_world(room.app.world_mut(), &saved).expect("it should load");
        start_run(room.app.world_mut());
        self.app = room.app;
    }

    fn push<I: crate::schedule::Input>(&mut self, input: I) {
        self.app.world_mut().resource_mut::<InputQueue<I>>().push(input);
    }
}

/// How a failure ends.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Cure {
    /// The server answers again.
    ServerAnswers,
    /// A person enters a key.
    KeyEntered,
    /// The room is closed and opened again, and the server answers.
    Reopened,
    /// A person chooses another provider while this one is still away.
    OtherProvider,
}

#[test]
fn one_letter_is_read_after_every_failure_and_every_cure() {
    checks_rule!("one-request-tries-a-failing-provider");
    // An error of the server, none reached, too many requests, a wrong key, no payment, no model, a timeout.
    for status in [500, 503, 429, 401, 403, 402, 404, 408] {
        for cure in [Cure::ServerAnswers, Cure::KeyEntered, Cure::Reopened, Cure::OtherProvider] {
            let what = format!("{status}, {cure:?}");
            let mut room = RoomWithServer::new(1);
            assert_eq!(room.unread(), [""; 0], "{what}: it begins with everything read");
            room.set_status(status);
            let before = room.calls();
            room.mail(0, "The train leaves at four.");
            room.run(60.0);
            assert_eq!(room.unread().len(), 1, "{what}");
            assert_eq!(room.waits().len(), 1, "{what}: the agent says why it waits");
            // It is tried from time to time: after 1, 2, 4, 4, … seconds, or 1, 2, 4, 8, … if a key or a model is refused.
            let most = if matches!(status, 500 | 503 | 429 | 408) { 22 } else { 7 };
            assert!(room.calls() - before <= most, "{what}: {} calls", room.calls() - before);
            let (calls, cured) = (room.calls(), cure != Cure::OtherProvider);
            room.set_status(if cured { 0 } else { status });
            match cure {
                Cure::ServerAnswers => {}
                Cure::KeyEntered => room.push(AccessChanged {}),
                Cure::Reopened => room.reopen(),
                Cure::OtherProvider => room.push(ProviderOverride { provider: Some("scripted".into()) }),
            }
            room.run(if cure == Cure::ServerAnswers { 60.0 } else { 10.0 });
            assert_eq!((room.unread(), room.waits()), (vec![], vec![]), "{what}");
            assert!(cured || room.calls() == calls, "{what}: the provider that is away is left alone");
        }
    }
}

#[test]
fn a_missing_key_is_waited_for() {
    let mut room = RoomWithServer::new(2);
    room.app.world_mut().resource_mut::<GatewaySettings>().provider = "gemini".into();
    // At this speed, the room waits for the answers of vendors.
    room.app.world_mut().resource_mut::<SimClock>().speed = Speed::Max;
    room.edit("rules", TextAct::SetText { text: "Be brief.".into() }.into());
    room.run(5.0);
    let waits = room.waits();
    assert!(waits.len() == 2 && waits.iter().all(|why| why.contains("GEMINI_API_KEY")), "{waits:?}");
    room.app.world_mut().resource_mut::<GatewaySettings>().provider = "offline".into();
    room.run(10.0);
    assert_eq!((room.unread(), room.waits()), (vec![], vec![]));
}

/// How a limit ends.
#[derive(Clone, Copy, PartialEq, Debug)]
enum CapCure {
    /// An hour passes.
    HourPasses,
    /// The person raises it.
    Raised,
    /// The room is closed and opened again, which starts the counts of the run from zero.
    Reopened,
}

#[test]
fn reading_waits_for_a_limit_and_continues_when_it_has_room() {
    type Set = fn(&mut BudgetSettings, Option<u64>);
    let limits: [(&str, Set, &[CapCure]); 4] = [
        ("calls_per_hour", |budget, limit| budget.calls_per_hour = limit, &[CapCure::HourPasses, CapCure::Raised]),
        (
            "calls_per_agent_per_hour",
            |budget, limit| budget.calls_per_agent_per_hour = limit,
            &[CapCure::HourPasses, CapCure::Raised],
        ),
        ("calls_per_run", |budget, limit| budget.calls_per_run = limit, &[CapCure::Reopened, CapCure::Raised]),
        (
            "calls_per_agent_per_run",
            |budget, limit| budget.calls_per_agent_per_run = limit,
            &[CapCure::Reopened, CapCure::Raised],
        ),
    ];
    for (name, set, cures) in limits {
        for cure in cures {
            let what = format!("{name}, {cure:?}");
            let mut room = RoomWithServer::new(2);
            // As much as was used already, so that nothing more fits.
            let ledger = room.app.world().resource::<RequestQueue>().ledger();
            let limit = match name.contains("agent") {
                true => ledger.agent("a0").calls.min(ledger.agent("a1").calls),
                false => ledger.run().calls,
            };
            assert!(limit >= 2, "each agent has read something");
            set(&mut room.app.world_mut().resource_mut::<BudgetSettings>(), Some(limit));
            let calls = room.calls();
            room.edit("rules", TextAct::SetText { text: "Be brief.".into() }.into());
            room.mail(1, "The train leaves at four.");
            room.run(30.0);
            assert_eq!((room.unread().len(), room.calls()), (3, calls), "{what}: {:?}", room.unread());
            assert!(room.waits().iter().all(|why| why.contains(name)), "{what}: {:?}", room.waits());
            assert_eq!(room.app.world().resource::<ProviderHealth>().state("offline"), HealthState::Working, "{what}");
            match cure {
                CapCure::HourPasses => {
                    for _ in 0..60 {
                        let mut questions = room.app.world_mut().resource_mut::<RequestQueue>();
                        questions.ledger.advance_minute(ledger::BudgetClock::Simulated);
                    }
                }
                CapCure::Raised => set(&mut room.app.world_mut().resource_mut::<BudgetSettings>(), Some(99)),
                CapCure::Reopened => {
                    room.reopen();
                    set(&mut room.app.world_mut().resource_mut::<BudgetSettings>(), Some(limit));
                }
            }
            room.run(40.0);
            assert_eq!((room.unread(), room.waits()), (vec![], vec![]), "{what}");
        }
    }
}

#[test]
fn a_limit_with_a_little_room_lets_the_most_important_reading_through() {
    let mut room = RoomWithServer::new(3);
    let used = room.app.world().resource::<RequestQueue>().ledger().run().calls;
    room.app.world_mut().resource_mut::<BudgetSettings>().calls_per_run = Some(used);
    room.edit("ideas", PinAct::AddPin { id: None, text: "Tea at four".into() }.into());
    room.run(10.0);
    assert_eq!(room.unread().len(), 3);
    room.mail(2, "The train leaves at four.");
    room.run(2.0);
    room.app.world_mut().resource_mut::<BudgetSettings>().calls_per_run = Some(used + 1);
    room.run(40.0);
    let unread = room.unread();
    assert!(unread.len() == 3 && unread.iter().all(|one| one.contains("ideas")), "the letter was first: {unread:?}");
    room.app.world_mut().resource_mut::<BudgetSettings>().calls_per_run = Some(used + 9);
    room.run(40.0);
    assert_eq!((room.unread(), room.waits()), (vec![], vec![]));
}

#[test]
fn content_that_a_vendor_refuses_is_left_and_the_rest_is_read() {
    let mut room = RoomWithServer::new(1);
    room.mail(0, REFUSED_TEXT);
    room.run(5.0);
    let calls = room.calls();
    room.run(60.0);
    assert_eq!((room.unread().len(), room.calls()), (1, calls), "it is not asked about again and again");
    assert_eq!(room.waits(), [""; 0], "nothing waits for it");
}

#[test]
fn an_old_room_that_gave_up_reading_reads_again() {
    let mut room = RoomWithServer::new(1);
    let (element, version) = {
        let world = room.app.world_mut();
        let mut all = world.query::<&Element>();
        let element = all.iter(world).find(|element| &*element.id == "rules").expect("there are rules");
        (element.key, element.version)
    };
    let world = room.app.world_mut();
    let mut activities = world.query::<&mut Activity>();
    let mut activity = activities.single_mut(world).expect("one agent");
    activity.read.remove(&element);
    activity.given_up.insert(element, version);
    room.run(30.0);
    assert_eq!(room.unread().len(), 1);
    room.reopen();
    room.run(10.0);
    assert_eq!(room.unread(), [""; 0]);
}

#[test]
fn requests_that_were_waiting_when_the_provider_failed_are_not_sent() {
    let mut room = RoomWithServer::new(4);
    room.app.world_mut().resource_mut::<GatewaySettings>().max_concurrent = 1;
    room.set_status(503);
    let before = room.calls();
    room.edit("rules", TextAct::SetText { text: "Be brief.".into() }.into());
    room.run(0.9);
    assert_eq!(room.calls() - before, 1, "the first failure is known to everyone");
    assert_eq!(room.waits().len(), 4);
}

/// One stretch of time: what the provider answers, what a person does in it, and how long it lasts.
type Stretch = (u16, u8, u8);

fn any_stretch() -> impl Strategy<Value = Stretch> {
    let status = prop_oneof![2 => Just(0), 1 => prop::sample::select(&[500_u16, 503, 429, 401, 404, 408][..])];
    (status, 0_u8..7, 1_u8..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn after_any_outages_everybody_has_read_everything(
        agents in 1_usize..5,
        stretches in prop::collection::vec(any_stretch(), 1..8),
        is_reopened in any::<bool>(),
    ) {
        let mut room = RoomWithServer::new(agents);
        for (number, (status, act, secs)) in stretches.iter().enumerate() {
            room.set_status(*status);
            match act {
                0 => room.edit("rules", TextAct::SetText { text: format!("Rule {number}") }.into()),
                1 => room.edit("news", TextAct::SetText { text: format!("News {number}") }.into()),
                2 => room.edit("ideas", PinAct::AddPin { id: None, text: format!("Idea {number}") }.into()),
                3 => room.mail(number % agents, &format!("Letter {number}")),
                4 => {
                    let limit = room.app.world().resource::<RequestQueue>().ledger().run().calls + 1;
                    room.app.world_mut().resource_mut::<BudgetSettings>().calls_per_run = Some(limit);
                }
                5 => room.app.world_mut().resource_mut::<BudgetSettings>().calls_per_run = None,
                _ => {}
            }
            room.run(f32::from(*secs));
        }
        room.set_status(0);
        if is_reopened {
            room.reopen();
        }
        room.app.world_mut().resource_mut::<BudgetSettings>().calls_per_run = None;
        room.run(90.0);
        prop_assert_eq!((room.unread(), room.waits()), (vec![], vec![]));
    }
}

/// Fewer cases than usual, because each simulates minutes. `PROPTEST_CASES` overrides it.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24)
}
