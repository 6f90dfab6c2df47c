//! The room end to end, with a mind that the tests play.

use std::collections::BTreeSet;

use bevy::ecs::message::{Message, MessageCursor, Messages};
use bevy::ecs::system::RunSystemOnce;
use bevy::math::Vec2;

use super::components::AgentQuery;
use super::context::SimContext;
use super::*;
use crate::agent::{Agent, Roster};
use crate::base::{ActivationKey, AgentKey, Author, Behaviour, ElementKey, Id, Seq};
use crate::element::{Element, ElementChange};
use crate::log::{EventData, EventLog, EventRecord, events};
use crate::schedule::{advance, saved, ticks};
use crate::workspace::{Relationship, SceneWrite};

/// A room and the mind that a test plays: it answers in the tick after a request.
pub(super) struct SimulatedRoom {
    pub app: App,
    asked: MessageCursor<ThinkDue>,
    pub answer: fn(&ThinkDue) -> Option<ThinkOutcome>,
    pub dues: Vec<ThinkDue>,
}

fn said(text: &str) -> Option<ThinkOutcome> {
    Some(ThinkOutcome::Said { text: text.to_owned() })
}

impl SimulatedRoom {
    pub fn new() -> Self {
        let mut app = App::empty();
        app.add_plugins((crate::schedule::plugin, plugin));
        Self::of(app)
    }

    /// A room with the lower layers: real elements, and agents that come and go.
    pub fn furnished() -> Self {
        let mut app = App::empty();
        app.add_plugins((crate::schedule::plugin, crate::agent::plugin, crate::element::plugin, plugin));
        Self::of(app)
    }

    fn of(app: App) -> Self {
        Self { app, asked: MessageCursor::default(), answer: |_| said("So it is."), dues: Vec::new() }
    }

    pub fn agent(&mut self, id: &str, at: (f32, f32), behaviour: Behaviour) -> AgentKey {
        let key = self.app.world().resource::<Roster>().next_key();
        let agent = Agent {
            key,
            id: id.into(),
            profile: format!("{id}-profile").into(),
            name: id.to_uppercase().into(),
            start: at.into(),
            start_behaviour: behaviour,
            added: Seq(1),
        };
        let entity = self.app.world_mut().spawn(agent).id();
        self.app.world_mut().resource_mut::<Roster>().insert(key, id.into(), entity);
        key
    }

    pub fn element(&mut self, id: &str, at: (f32, f32), owner: Option<&str>) -> ElementKey {
        let key = self.app.world().resource::<Elements>().next_key();
        let element = Element {
            key,
            id: id.into(),
            kind: "no such kind".into(),
            label: id.into(),
            position: at.into(),
            owner: owner.map(Id::from),
            file: None,
            version: 1,
        };
        let entity = self.app.world_mut().spawn(element).id();
        self.app.world_mut().resource_mut::<Elements>().insert(key, id.into(), entity);
        key
    }

    pub fn remove_element(&mut self, key: ElementKey, id: &str) {
        let entity = self.app.world().resource::<Elements>().entity(key).unwrap();
        self.app.world_mut().despawn(entity);
        self.app.world_mut().resource_mut::<Elements>().remove(key, id);
        let by = Author::user();
        self.say(ElementChanged {
            element: key,
            change: ElementChange::new(ElementChange::REMOVED),
            by,
            cause: Seq(1),
        });
    }

    pub fn say<M: Message>(&mut self, message: M) {
        self.app.world_mut().resource_mut::<Messages<M>>().write(message);
    }

    pub fn run(&mut self, ticks: u64) {
        for _ in 0..ticks {
            advance(self.app.world_mut());
            let asked: Vec<ThinkDue> =
                self.asked.read(self.app.world().resource::<Messages<ThinkDue>>()).cloned().collect();
            for due in asked {
                if let Some(outcome) = (self.answer)(&due) {
                    self.answer_to(&due, outcome);
                }
                self.dues.push(due);
            }
        }
    }

    pub fn answer_to(&mut self, due: &ThinkDue, outcome: ThinkOutcome) {
        let ThinkDue { agent, activity, think, cause, .. } = due.clone();
        self.say(ThinkDone { agent, activity, think: Some(think), outcome, cause });
    }

    pub fn get<C: Component + Clone>(&self, agent: AgentKey) -> C {
        let entity = self.app.world().resource::<Roster>().entity(agent).unwrap();
        self.app.world().get::<C>(entity).unwrap().clone()
    }

    pub fn state(&self, agent: AgentKey) -> State {
        self.get::<AgentState>(agent).0.state()
    }

    pub fn position(&self, agent: AgentKey) -> Vec2 {
        self.get::<Position>(agent).0
    }

    pub fn enqueue(&mut self, agent: AgentKey, action: Action) {
        let entity = self.app.world().resource::<Roster>().entity(agent).unwrap();
        self.app
            .world_mut()
            .run_system_once(move |mut sim: SimContext, mut bodies: Query<AgentQuery>| {
                sim.enqueue(&mut bodies.get_mut(entity).unwrap(), action.clone(), Seq(1));
            })
            .unwrap();
    }

    /// All events of this type in the log, oldest first.
    pub fn events<E: EventData>(&self) -> Vec<E> {
        self.app.world().resource::<EventLog>().unwritten().iter().filter_map(EventRecord::read).collect()
    }

    pub fn hash(&mut self) -> u64 {
        saved::world_hash(self.app.world_mut())
    }
}

pub fn read(element: ElementKey) -> Action {
    Action::ReadElement { element, high: true }
}

fn read_normally(element: ElementKey) -> Action {
    Action::ReadElement { element, high: false }
}

#[test]
fn urgent_reads_interrupt_other_reads() {
    for is_there in [false, true] {
        let mut room = SimulatedRoom::new();
        room.answer = |_| None;
        // Directly before it, if an agent reads.
        let place = if is_there { (0.0, 100.0) } else { (900.0, 0.0) };
        let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
        let (board, rules) = (room.element("board", place, None), room.element("rules", (300.0, 0.0), None));
        let glance = Action::ReadElement { element: board, high: false };
        room.enqueue(ada, glance.clone());
        room.run(3);
        assert_eq!(
            room.get::<Activity>(ada).awaited.is_some(),
            is_there,
            "a model is to be asked once it stands there"
        );
        let mut put_off = MessageCursor::default();
        room.enqueue(ada, read(rules));
        room.run(1);
        if is_there {
            let gives_way: Vec<ThinkPutOff> =
                put_off.read(room.app.world().resource::<Messages<ThinkPutOff>>()).copied().collect();
            assert_eq!(gives_way.iter().map(|it| it.agent).collect::<Vec<_>>(), [ada]);
            let due = room.dues[0].clone();
            room.answer_to(&due, ThinkOutcome::PutOff);
        }
        room.run(3);
        assert!(room.get::<Activity>(ada).reads(rules), "at hand: {is_there}");
        let queue = room.get::<Queue>(ada);
        assert_eq!(queue.0.iter().map(|next| (next.action.clone(), next.failures)).collect::<Vec<_>>(), [(glance, 0)]);
        assert_eq!(room.events::<events::Read>(), [], "nothing was read, nothing failed");
    }
}

#[test]
fn every_agent_reads_by_walking_there_whatever_its_behaviour() {
    for behaviour in [Behaviour::Stationary, Behaviour::Wander, Behaviour::Patrol] {
        let mut room = SimulatedRoom::new();
        let rules = room.element("rules", (500.0, 0.0), None);
        let ada = room.agent("ada", (0.0, 0.0), behaviour);
        room.answer = |_| None;
        room.run(1);
        room.enqueue(ada, read(rules));
        room.run(ticks(20.0));
        assert!(matches!(room.dues[..], [ThinkDue { think: Think::Read { .. }, .. }]), "{behaviour:?}");
        assert_eq!(room.state(ada), State::Reading);
        assert!(room.position(ada).distance(Vec2::new(500.0, 0.0)) <= 70.0);
        assert!(!is_idle(room.app.world_mut()));
        let due = room.dues[0].clone();
        room.answer_to(&due, ThinkOutcome::Said { text: String::new() });
        room.run(2);
        assert_eq!(room.state(ada), State::of(behaviour));
        assert_eq!(room.get::<Activity>(ada).version_read(rules), Some(1));
        assert_eq!(room.events::<events::Read>()[0].outcome, events::ReadOutcome::Read);
        if behaviour == Behaviour::Stationary {
            room.run(ticks(9.0));
            assert!(room.position(ada).length() <= 3.0, "home again");
        }
    }
}

#[test]
fn trap_nothing_overwrites_the_way_to_an_element() {
    let mut room = SimulatedRoom::new();
    let rules = room.element("rules", (2000.0, 0.0), None);
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Wander);
    room.answer = |_| None;
    room.enqueue(ada, read(rules));
    room.run(ticks(3.5));
    let mut last = room.position(ada).x;
    for _ in 0..ticks(18.0) {
        room.run(1);
        let now = room.position(ada).x;
        assert!(now > last);
        last = now;
    }
}

#[test]
fn trap_an_element_deleted_on_the_way_resumes_the_agent() {
    let mut room = SimulatedRoom::new();
    let rules = room.element("rules", (2000.0, 0.0), None);
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.enqueue(ada, read(rules));
    room.run(30);
    assert_eq!(room.state(ada), State::Reading);
    room.remove_element(rules, "rules");
    room.run(1);
    assert_eq!(room.state(ada), State::Idle);
    assert!(room.dues.is_empty());
    assert_eq!(room.events::<events::ActionDropped>()[0].why, "it no longer exists");
}

#[test]
fn trap_an_agent_never_reads_the_inbox_of_another() {
    let mut room = SimulatedRoom::new();
    let mail = room.element("mail", (100.0, 0.0), Some("ben"));
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.run(1);
    room.enqueue(ada, read(mail));
    room.run(ticks(200.0));
    assert!(room.dues.is_empty());
    assert_eq!(room.events::<events::ActionDropped>().len(), 1);
    let ben = room.agent("ben", (0.0, 100.0), Behaviour::Stationary);
    room.run(ticks(100.0));
    assert!(room.dues.iter().all(|due| due.agent == ben || matches!(due.think, Think::Turn { .. })));
    assert_eq!(room.get::<Activity>(ben).version_read(mail), Some(1), "its owner sought it out");
}

#[test]
fn several_agents_stand_around_one_element() {
    let mut room = SimulatedRoom::new();
    let rules = room.element("rules", (0.0, 0.0), None);
    let agents: Vec<AgentKey> =
        (0..5).map(|index| room.agent(&format!("a{index}"), (400.0, index as f32), Behaviour::Stationary)).collect();
    room.answer = |_| None;
    for agent in &agents {
        room.enqueue(*agent, read(rules));
    }
    room.run(ticks(15.0));
    assert_eq!(room.dues.len(), 5);
    let places: Vec<Vec2> = agents.iter().map(|agent| room.position(*agent)).collect();
    for (index, place) in places.iter().enumerate() {
        assert!(places[index + 1..].iter().all(|other| other.distance(*place) > 5.0), "{places:?}");
    }
}

#[test]
fn an_idle_agent_that_a_heartbeat_moved_goes_home() {
    let mut room = SimulatedRoom::new();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 1.0e5;
    room.element("rules", (200.0, 0.0), None);
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.answer = |_| None;
    let mut farthest = 0.0_f32;
    for _ in 0..ticks(16.0) {
        room.run(1);
        if room.state(ada) == State::Heartbeat {
            farthest = farthest.max(room.position(ada).x);
        }
        if farthest > 0.0 && room.state(ada) == State::Idle {
            break;
        }
    }
    assert!(farthest > 100.0, "{farthest}");
    room.run(ticks(3.0));
    assert!(room.position(ada).length() <= 3.0 || room.state(ada) == State::Reading);
}

#[test]
fn a_summoned_agent_comes_to_work_when_free_and_then_returns_to_its_behaviour() {
    let mut room = SimulatedRoom::new();
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Patrol);
    room.answer = |_| None;
    room.say(WorkRequested { agent: ada, activation: ActivationKey::numbered(7), from: None, at: None, cause: Seq(1) });
    room.run(2);
    assert_eq!(room.state(ada), State::Working);
    let messages = room.app.world().resource::<Messages<ArrivedForWork>>();
    let came = *messages.get_cursor().read(messages).next().expect("it came to work");
    assert_eq!((came.agent, came.activation), (ada, ActivationKey::numbered(7)));
    assert!(room.dues.is_empty(), "nobody else is to think about it");
    room.run(3);
    let explain = |why: &'static str, for_person| Explain {
        agent: ada,
        activity: came.activity,
        why: why.into(),
        for_person,
        cause: None,
    };
    room.say(explain("may it delete a file?", true));
    room.run(1);
    assert_eq!(room.state(ada), State::Waiting);
    room.say(explain("a person allowed it", false));
    room.run(1);
    assert_eq!(room.state(ada), State::Working);
    assert!(!is_idle(room.app.world_mut()));
    let (activity, outcome) = (came.activity, ThinkOutcome::Said { text: "Done.".into() });
    room.say(ThinkDone { agent: ada, activity, think: None, outcome, cause: Seq(1) });
    room.run(1);
    assert_eq!(room.state(ada), State::Patrolling);
    assert!(is_idle(room.app.world_mut()));
}

#[test]
fn a_summons_that_is_withdrawn_calls_nobody() {
    let mut room = SimulatedRoom::new();
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.say(WorkRequested { agent: ada, activation: ActivationKey::numbered(7), from: None, at: None, cause: Seq(1) });
    room.say(WorkRequestWithdrawn { agent: ada, activation: ActivationKey::numbered(7) });
    room.run(3);
    assert_eq!(room.state(ada), State::Idle);
}

#[test]
fn temporary_failures_are_retried_until_one_succeeds() {
    let mut room = SimulatedRoom::new();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 1.0e5;
    let rules = room.element("rules", (0.0, 100.0), None);
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.answer = |_| Some(ThinkOutcome::Failed { why: "no network".into(), cause: FailureCause::Passing });
    room.enqueue(ada, read(rules));
    room.run(3);
    assert_eq!(room.state(ada), State::Error);
    assert_eq!(room.get::<AgentState>(ada).0.why(), "no network");
    room.run(ticks(6.0));
    assert_ne!(room.state(ada), State::Error);
    assert_eq!(room.dues.len(), 1);
    room.run(ticks(80.0));
    assert_eq!(room.dues.len(), 4, "10, 20 and 40 seconds later");
    room.run(ticks(85.0 + 165.0 + 165.0));
    assert_eq!(room.dues.len(), 7, "80, 160 and 160 seconds later");
    assert_eq!(room.events::<events::ActionDropped>(), [], "it is never given up");
    room.answer = |_| said("Noted.");
    room.run(ticks(165.0));
    assert_eq!(room.get::<Activity>(ada).version_read(rules), Some(1));
}

#[test]
fn content_that_a_model_does_not_take_is_left_until_it_or_the_models_change() {
    let mut room = SimulatedRoom::new();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 5.0;
    let rules = room.element("rules", (0.0, 100.0), None);
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.answer = |_| Some(ThinkOutcome::Failed { why: "too long".into(), cause: FailureCause::Content });
    room.run(ticks(60.0));
    assert_eq!(room.dues.len(), 1, "a model that always refuses is not called forever");
    assert_eq!(room.events::<events::ActionDropped>()[0].why, "the model does not take it");
    room.answer = |_| said("Noted.");
    room.run(ticks(60.0));
    assert_eq!(room.dues.len(), 1);
    room.say(ModelsChanged {});
    room.run(ticks(20.0));
    assert_eq!(room.get::<Activity>(ada).version_read(rules), Some(1));
    assert!(room.get::<Activity>(ada).given_up.is_empty());
}

/// A room with three agents whose model cannot be called, and three texts that each of them is to read.
fn waiting_room() -> (SimulatedRoom, Vec<AgentKey>, Vec<ElementKey>) {
    let mut room = SimulatedRoom::new();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 5.0;
    let elements = ["rules", "news", "ideas"]
        .iter()
        .enumerate()
        .map(|(index, id)| room.element(id, (index as f32 * 300.0, 100.0), None));
    let elements: Vec<ElementKey> = elements.collect();
    let agents = ["ada", "ben", "cy"].iter().enumerate();
    let agents: Vec<AgentKey> =
        agents.map(|(index, id)| room.agent(id, (index as f32 * 60.0, 0.0), Behaviour::Stationary)).collect();
    room.run(1);
    for agent in &agents {
        let waits_because = Some("openai cannot be reached".to_owned());
        room.say(ModelAvailability { agent: *agent, waits_because });
    }
    room.run(1);
    (room, agents, elements)
}

#[test]
fn reading_waits_while_a_model_cannot_be_called_and_is_done_by_importance_when_it_can() {
    checks_rule!("failed-reads-are-taken-up-again");
    let (mut room, agents, elements) = waiting_room();
    for agent in &agents {
        room.enqueue(*agent, read_normally(elements[1]));
        room.enqueue(*agent, read_normally(elements[2]));
        room.enqueue(*agent, read(elements[0]));
    }
    room.run(ticks(600.0));
    assert_eq!(room.dues.len(), 0, "nobody asks, and nobody seeks more to ask about");
    assert!(is_idle(room.app.world_mut()), "nothing can happen until the model answers");
    assert_eq!(busy_counts(room.app.world_mut()).waiting_for_model, 9);
    let queued = room.events::<events::ActionQueued>();
    assert!(
        queued.iter().all(|queued| queued.why.as_deref().is_some_and(|why| why.contains("openai cannot be reached")))
    );
    // Whoever has the most important reading tries, one at a time; the others still wait.
    room.answer = |_| Some(ThinkOutcome::Failed { why: "still away".into(), cause: FailureCause::Model });
    for tries in 1..=3 {
        room.say(TryModel { agents: agents.clone(), at_most: 1 });
        room.run(ticks(30.0));
        assert_eq!(room.dues.len(), tries);
    }
    let tried: BTreeSet<AgentKey> = room.dues.iter().map(|due| due.agent).collect();
    assert_eq!(tried.len(), 3, "everyone tries in turn");
    let first = Think::Read { element: elements[0] };
    assert!(room.dues.iter().all(|due| due.think == first), "{:?}", room.dues);
    room.answer = |_| said("Noted.");
    for agent in &agents {
        room.say(ModelAvailability { agent: *agent, waits_because: None });
    }
    room.run(ticks(60.0));
    for agent in &agents {
        let of_agent = room.dues.iter().skip(3).filter(|due| due.agent == *agent).map(|due| due.think.clone());
        let order: Vec<Think> = of_agent.filter(|think| matches!(think, Think::Read { .. })).collect();
        let expected: Vec<Think> = elements.iter().map(|element| Think::Read { element: *element }).collect();
        assert_eq!(order, expected);
    }
}

#[test]
fn content_that_always_fails_does_not_keep_the_rest_from_being_tried() {
    let (mut room, agents, elements) = waiting_room();
    let ada = agents[0];
    room.enqueue(ada, read(elements[0]));
    room.enqueue(ada, read_normally(elements[1]));
    room.answer = |due| match due.think {
        Think::Read { element: ElementKey(0) } => {
            Some(ThinkOutcome::Failed { why: "the server broke".into(), cause: FailureCause::Model })
        }
        _ => said("Noted."),
    };
    for _ in 0..2 {
        room.say(TryModel { agents: agents.clone(), at_most: 1 });
        room.run(ticks(8.0));
    }
    assert_eq!(room.get::<Activity>(ada).version_read(elements[1]), Some(1));
}

#[test]
fn many_changes_while_a_model_cannot_be_called_are_all_read_later() {
    let (mut room, agents, _) = waiting_room();
    let boards: Vec<ElementKey> =
        (0..12).map(|index| room.element(&format!("board-{index}"), (index as f32 * 90.0, -200.0), None)).collect();
    room.app.world_mut().resource_mut::<AttentionSettings>().seek_secs = 1.0e5;
    room.run(2);
    for board in &boards {
        room.enqueue(agents[0], read_normally(*board));
    }
    assert_eq!(room.get::<Queue>(agents[0]).0.len(), 12, "none is refused");
    room.say(ModelAvailability { agent: agents[0], waits_because: None });
    room.run(ticks(300.0));
    assert!(boards.iter().all(|board| room.get::<Activity>(agents[0]).version_read(*board) == Some(1)));
}

pub fn talk(room: &mut SimulatedRoom, who: &[&str]) {
    let participants = who.iter().map(|id| Id::from(*id)).collect();
    room.say(ConversationCommand::Start { participants, topic: "the weather".into() });
}

#[test]
fn a_person_lets_two_talk_six_turns_and_they_cool_down() {
    let mut room = SimulatedRoom::new();
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Wander);
    let ben = room.agent("ben", (900.0, 0.0), Behaviour::Stationary);
    talk(&mut room, &["ada", "ben"]);
    room.run(ticks(15.0));
    let speakers: Vec<AgentKey> = room.dues.iter().map(|due| due.agent).collect();
    assert_eq!(speakers, [ada, ben, ada, ben, ada, ben]);
    let recorded: Vec<_> = room.events::<events::Message>().into_iter().filter_map(|message| message.id).collect();
    assert_eq!(room.events::<events::ConversationEnd>()[0].why, "everything was said");
    let kept = room.app.world().resource::<Conversations>().earlier(ben, ada);
    let kept: Vec<Id> = kept.iter().filter_map(|said| Some(said.id?.id())).collect();
    assert_eq!(kept.iter().collect::<BTreeSet<_>>().len(), 6, "each has an id of its own: {kept:?}");
    assert_eq!(recorded, kept, "which the log says as well");
    let cooled = room.events::<events::State>().iter().filter(|state| state.to == "cooldown").count();
    assert_eq!(cooled, 2);
    room.run(ticks(4.0));
    assert_eq!(room.state(ada), State::Wandering);
}

#[test]
fn a_goodbye_ends_a_talk_of_two_and_leaves_a_larger_one_to_the_others() {
    for (who, turns, messages) in [(vec!["ada", "ben"], 2, 2), (vec!["ada", "ben", "cy"], 6, 6)] {
        let mut room = SimulatedRoom::new();
        let keys = ["ada", "ben", "cy"].map(|id| room.agent(id, (0.0, 0.0), Behaviour::Stationary));
        room.answer = |due| match due.agent {
            AgentKey(1) => Some(ThinkOutcome::Bye { text: "See you.".into() }),
            _ => said("So it is."),
        };
        talk(&mut room, &who);
        room.run(ticks(3.0));
        assert_eq!((room.dues.len(), room.events::<events::Message>().len()), (turns, messages));
        assert_eq!(room.dues.iter().filter(|due| due.agent == keys[1]).count(), 1, "it is not asked again");
        let why = if who.len() == 2 { "BEN ended it" } else { "everything was said" };
        assert_eq!(room.events::<events::ConversationEnd>()[0].why, why);
        assert_eq!(room.app.world().resource::<Conversations>().earlier(keys[0], keys[1]).len(), messages);
    }
}

#[test]
fn two_agents_with_nothing_to_say_end_their_conversation() {
    let mut room = SimulatedRoom::new();
    room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.agent("ben", (50.0, 0.0), Behaviour::Stationary);
    room.answer = |_| said(" ");
    talk(&mut room, &["ada", "ben"]);
    room.run(ticks(3.0));
    assert_eq!((room.dues.len(), room.events::<events::Message>().len()), (2, 0));
    assert_eq!(room.events::<events::ConversationEnd>()[0].why, "nobody had anything to say");
}

#[test]
fn placing_an_agent_sets_its_home_with_one_input_and_one_scene_write() {
    for behaviour in [Behaviour::Stationary, Behaviour::Wander, Behaviour::Patrol] {
        let mut room = SimulatedRoom::new();
        let ada = room.agent("ada", (0.0, 0.0), behaviour);
        room.run(ticks(3.0));
        let mut writes = room.app.world().resource::<Messages<SceneWrite>>().get_cursor_current();
        let before = room.events::<events::Input>().len();
        room.say(AgentCommand::Place { agent: "ada".into(), position: Vec2::new(900.04, -7.0) });
        room.run(1);
        let place = Vec2::new(900.0, -7.0);
        assert!(room.get::<Position>(ada).0.distance(place) < 3.0, "{behaviour:?}");
        assert_eq!(room.get::<Home>(ada).0, place);
        assert_eq!(room.events::<events::Input>().len() - before, 1);
        let written: Vec<SceneWrite> =
            writes.read(room.app.world().resource::<Messages<SceneWrite>>()).cloned().collect();
        assert_eq!(written.len(), 1, "{written:?}");
        room.run(ticks(1.0));
        assert!(room.get::<Position>(ada).0.distance(place) < 80.0, "{behaviour:?}: it does not walk back");
    }
}

#[test]
fn trap_carried_out_of_reach_it_leaves_and_is_not_left_conversing() {
    let mut room = SimulatedRoom::new();
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Wander);
    let ben = room.agent("ben", (100.0, 0.0), Behaviour::Wander);
    room.answer = |_| None;
    talk(&mut room, &["ada", "ben"]);
    room.run(2);
    assert_eq!((room.state(ada), room.state(ben)), (State::Conversing, State::Conversing));
    room.say(AgentCommand::PickUp { agent: "ada".into() });
    room.say(AgentCommand::Carry { agent: "ada".into(), position: Vec2::new(900.0, 0.0) });
    room.run(1);
    assert_eq!((room.state(ada), room.state(ben)), (State::Dragged, State::Cooldown));
    room.say(AgentCommand::PutDown { agent: "ada".into() });
    room.run(1);
    assert_eq!(room.state(ada), State::Cooldown);
    assert_eq!(room.get::<Home>(ada).0, Vec2::new(900.0, 0.0));
    // The reply that was under way comes too late to matter.
    let due = room.dues[0].clone();
    room.answer_to(&due, ThinkOutcome::Said { text: "Hello?".into() });
    room.run(ticks(4.5));
    assert_eq!((room.state(ada), room.state(ben)), (State::Wandering, State::Wandering));
    assert!(room.events::<events::Message>().is_empty());
}

#[test]
fn at_most_three_talk_at_once_and_the_rest_waits() {
    let mut room = SimulatedRoom::new();
    room.answer = |_| None;
    for index in 0..10 {
        room.agent(&format!("a{index}"), (index as f32 * 70.0, 0.0), Behaviour::Stationary);
    }
    for pair in 0..5 {
        talk(&mut room, &[&format!("a{}", pair * 2), &format!("a{}", pair * 2 + 1)]);
    }
    room.run(3);
    assert_eq!(room.app.world().resource::<Conversations>().iter().count(), 3);
    let first = room.app.world().resource::<Conversations>().iter().next().unwrap().key;
    room.say(ConversationCommand::Stop { conversation: first });
    room.run(2);
    assert_eq!(room.app.world().resource::<Conversations>().iter().count(), 3);
    assert_eq!(room.events::<events::ConversationStart>().len(), 4);
    room.say(ConversationCommand::Switch { on: false });
    room.run(2);
    assert_eq!(room.app.world().resource::<Conversations>().iter().count(), 0);
    assert_eq!(room.events::<events::Warning>().len(), 1, "the fifth was refused");
}

#[test]
fn an_unchanged_room_costs_one_chat_a_pair_and_no_more() {
    let mut room = SimulatedRoom::new();
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    room.agent("ben", (50.0, 0.0), Behaviour::Stationary);
    room.run(ticks(600.0));
    assert_eq!(room.events::<events::ConversationStart>().len(), 1);
    assert_eq!(room.dues.len(), 4);
    let rules = room.element("rules", (0.0, 100.0), None);
    let by = Author::user();
    room.say(ElementChanged { element: rules, change: ElementChange::new(ElementChange::ADDED), by, cause: Seq(5) });
    room.run(1);
    room.enqueue(ada, read(rules));
    room.run(ticks(60.0));
    assert_eq!(room.events::<events::ConversationStart>().len(), 2, "one has learned something from elsewhere");
    room.run(ticks(600.0));
    assert_eq!(room.events::<events::ConversationStart>().len(), 2, "and now the other knows it");
}

#[test]
fn related_agents_talk_first_and_nobody_chats_at_once() {
    let mut room = SimulatedRoom::new();
    for (index, id) in ["ada", "ben", "cy"].into_iter().enumerate() {
        room.agent(id, (index as f32 * 60.0, 0.0), Behaviour::Stationary);
    }
    let tie = Relationship { from: "cy".into(), to: "ben".into(), label: "mentors".into() };
    room.say(SceneEdit::Relationships(vec![tie]));
    room.run(2);
    assert!(room.events::<events::ConversationStart>().is_empty());
    room.run(ticks(28.0));
    let start = &room.events::<events::ConversationStart>()[0];
    assert_eq!((&*start.kind, &*start.topic), ("relationship", ""), "a tie is no topic");
}

#[test]
fn an_agent_with_news_goes_and_tells_it_once() {
    let mut room = SimulatedRoom::new();
    let news = room.element("news", (0.0, 900.0), None);
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Stationary);
    let ben = room.agent("ben", (350.0, 0.0), Behaviour::Stationary);
    room.run(1);
    let heard = NewsNoted {
        agent: ada,
        element: news,
        version: 1,
        note: "the party is on Friday".into(),
        may_tell: true,
        cause: Seq(1),
    };
    room.say(heard.clone());
    room.run(2);
    assert_eq!(room.get::<AgentState>(ada).0.why(), "going to tell BEN about news");
    room.run(ticks(5.0));
    let start = &room.events::<events::ConversationStart>()[0];
    assert_eq!((&*start.kind, &*start.topic), ("tell", "the party is on Friday"));
    assert_eq!(room.get::<Activity>(ben).told.get(&news), Some(&1));
    room.run(ticks(20.0));
    room.say(heard);
    room.run(ticks(20.0));
    assert_eq!(room.events::<events::ConversationStart>().len(), 1);
}

#[test]
fn agents_that_pass_each_other_react() {
    let mut room = SimulatedRoom::new();
    for index in 0..20 {
        room.agent(&format!("a{index}"), ((index % 5) as f32 * 80.0, (index / 5) as f32 * 80.0), Behaviour::Wander);
    }
    room.say(ConversationCommand::Switch { on: false });
    let mut cursor = MessageCursor::<Reacted>::default();
    let mut seen = Vec::new();
    for _ in 0..ticks(40.0) {
        room.run(1);
        seen.extend(cursor.read(room.app.world().resource::<Messages<Reacted>>()).copied());
    }
    assert!((20..200).contains(&seen.len()), "{}", seen.len());
    assert!(room.events::<events::State>().is_empty(), "wandering is not news");
    let recorded = room.events::<events::Reaction>();
    assert_eq!(recorded.len(), seen.len(), "each is recorded once");
    assert!(recorded.iter().all(|reaction| reaction.to.is_some() && !reaction.emoji.is_empty()), "{recorded:?}");
}

fn busy_room() -> SimulatedRoom {
    let mut room = SimulatedRoom::new();
    room.answer = |due| (due.cause.0 % 3 != 0).then_some(ThinkOutcome::Said { text: "Yes.".into() });
    for (index, x) in [-300.0, 0.0, 300.0].into_iter().enumerate() {
        room.element(&format!("e{index}"), (x, 200.0), None);
    }
    let behaviours = [Behaviour::Stationary, Behaviour::Wander, Behaviour::Patrol];
    for index in 0..30 {
        let at = ((index % 6) as f32 * 90.0, (index / 6) as f32 * 90.0);
        room.agent(&format!("a{index}"), at, behaviours[index % 3]);
    }
    talk(&mut room, &["a0", "a29"]);
    room
}

#[test]
fn equal_starts_give_equal_worlds() {
    let (mut one, mut other) = (busy_room(), busy_room());
    for _ in 0..120 {
        one.run(30);
        other.run(30);
        assert_eq!(one.hash(), other.hash());
    }
}

#[test]
fn a_loaded_world_continues_as_the_saved_one_would_have() {
    let mut one = busy_room();
    one.run(ticks(31.0));
    // Without a mind from here on, so that no message of this test's own is under way.
    one.answer = |_| None;
    one.run(2);
    let saved_world = saved::save_world(one.app.world_mut()).unwrap();
    let next_seq = one.app.world().resource::<EventLog>().next_seq();
    let mut other = busy_room();
    other.answer = |_| None;
    other.run(2);
    saved::load_world(other.app.world_mut(), &saved_world).unwrap();
    other.app.world_mut().insert_resource(EventLog::new("r-1".into(), next_seq));
    assert_eq!(one.hash(), other.hash());
    for second in 0..120 {
        one.run(30);
        other.run(30);
        assert_eq!(one.hash(), other.hash(), "second {second}");
    }
}

#[test]
fn an_agent_that_leaves_ends_its_conversation_and_is_missed_by_nobody() {
    let mut room = SimulatedRoom::new();
    let ada = room.agent("ada", (0.0, 0.0), Behaviour::Wander);
    let ben = room.agent("ben", (50.0, 0.0), Behaviour::Wander);
    room.answer = |_| None;
    talk(&mut room, &["ada", "ben"]);
    room.run(2);
    let entity = room.app.world().resource::<Roster>().entity(ada).unwrap();
    room.app.world_mut().despawn(entity);
    room.app.world_mut().resource_mut::<Roster>().remove(ada, "ada");
    room.run(1);
    assert_eq!(room.state(ben), State::Cooldown);
    room.run(ticks(60.0));
    assert_eq!(room.state(ben), State::Wandering);
    assert_eq!(room.app.world().resource::<SpatialIndex>().agents_within(Vec2::ZERO, 1.0e6), [ben]);
}

#[test]
fn relationships_by_hand_are_written_and_end_with_their_agents() {
    let mut room = SimulatedRoom::new();
    for (index, id) in ["ada", "ben", "cy"].into_iter().enumerate() {
        room.agent(id, (index as f32 * 600.0, 0.0), Behaviour::Stationary);
    }
    let tie = |from: &str, to: &str| Relationship { from: from.into(), to: to.into(), label: "mentors".into() };
    let add = |relationship| RelationshipCommand::Add { relationship, at: None };
    room.say(add(tie("ada", "ben")));
    room.say(add(tie("ben", "cy")));
    room.say(add(tie("ben", "nobody")));
    room.run(1);
    assert_eq!(relationships(room.app.world()), [tie("ada", "ben"), tie("ben", "cy")]);
    assert_eq!(room.events::<events::Warning>().len(), 1);
    let key = room.app.world().resource::<Roster>().key("cy").expect("cy is here");
    room.app.world_mut().resource_mut::<Roster>().remove(key, "cy");
    room.say(AgentCommand::Remove { agent: "cy".into() });
    let mut writes = room.app.world().resource::<Messages<SceneWrite>>().get_cursor_current();
    room.run(1);
    let written: Vec<_> = writes.read(room.app.world().resource::<Messages<SceneWrite>>()).cloned().collect();
    assert_eq!(written, [SceneWrite::Relationships(vec![tie("ada", "ben")])]);
}
