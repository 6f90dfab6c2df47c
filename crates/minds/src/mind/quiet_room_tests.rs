//! Tests that a room without outside input becomes idle, whatever its models answer.
//!
//! Hours take minutes here: all durations that determine how often agents read or talk are shortened by the same
//! factor.

use bevy::app::App;
use bevy::ecs::message::{Message, MessageCursor, Messages};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::MindSettings;
use super::request::{Completion, FailureKind, Finish, ModelFailure, ModelReply, ModelRequest, Usage};
use crate::agent::{Agent, Roster};
use crate::base::{AgentKey, Author, Behaviour, Seq};
use crate::element::{ElementAct, ElementCommand, ElementEdit, MailAct, PinAct, TextAct};
use crate::schedule::{InputQueue, SimClock, advance};
use crate::simulation::{AttentionSettings, ConversationSettings, ModelAvailability, MovementSettings, TryModel};

/// The factor by which all durations are shortened.
const FASTER: f32 = 100.0;
/// The ticks of a shortened hour.
const HOUR: u64 = 30 * 3_600 / FASTER as u64;
/// The ticks between two tries of a model that fails: five shortened minutes.
const TRY_INTERVAL: u64 = HOUR / 12;
/// The duration of a reply.
const LATENCY: u64 = 2;

type Answer = Box<dyn FnMut(&ModelRequest) -> Result<String, FailureKind>>;

/// A room in which a test answers every request of the mind.
struct QuietRoom {
    app: App,
    asked: MessageCursor<ModelRequest>,
    owed: Vec<(u64, ModelRequest)>,
    answer: Answer,
    /// When models were called.
    calls: Vec<u64>,
    /// The first line of the request.
    asked_about: Vec<String>,
    /// When models answered.
    answered: Vec<u64>,
    /// Whether the last call failed.
    is_away: bool,
    /// When an agent may try again.
    next_try: u64,
}

impl QuietRoom {
    fn new(agents: usize, behaviour: impl Fn(usize) -> Behaviour, answer: Answer) -> Self {
        let mut app = App::empty();
        app.add_plugins((
            crate::schedule::plugin,
            crate::agent::plugin,
            crate::element::plugin,
            crate::memory::plugin,
            crate::simulation::plugin,
            super::plugin,
        ));
        hasten(&mut app);
        let (asked, calls, asked_about) = (MessageCursor::default(), Vec::new(), Vec::new());
        let (owed, answered) = (Vec::new(), Vec::new());
        let mut room = Self { app, asked, owed, answer, calls, asked_about, answered, is_away: false, next_try: 0 };
        for index in 0..agents {
            room.agent(index, behaviour(index));
        }
        room.place("rules", "rulebook", json!({ "text": "Be kind." }));
        room.place("news", "messageboard", json!({ "text": "The bridge is closed." }));
        room.place("ideas", "pinboard", json!({ "pins": ["Tea at four", "A map"] }));
        for index in 0..agents {
            room.place(&format!("mail-{index}"), "inbox", json!({ "owner": format!("a{index}") }));
        }
        room
    }

    fn agent(&mut self, index: usize, behaviour: Behaviour) {
        let world = self.app.world_mut();
        let key = AgentKey(u32::try_from(index).expect("a small number"));
        let id: crate::base::Id = format!("a{index}").into();
        let agent = Agent {
            key,
            id: id.clone(),
            profile: "writer".into(),
            name: format!("Agent {index}").into(),
            start: bevy::math::Vec2::new(index as f32 * 60.0, 60.0),
            start_behaviour: behaviour,
            added: Seq(1),
        };
        let entity = world.spawn(agent).id();
        world.resource_mut::<Roster>().insert(key, id, entity);
    }

    fn place(&mut self, id: &str, kind: &str, rest: Value) {
        let mut keys = json!({ "id": id, "kind": kind, "position": [90, 0] });
        keys.as_object_mut().expect("a map").extend(rest.as_object().expect("a map").clone());
        self.say(ElementCommand::Add { keys: keys.as_object().expect("a map").clone() });
        self.run(1);
    }

    fn say<M: Message>(&mut self, message: M) {
        self.app.world_mut().resource_mut::<Messages<M>>().write(message);
    }

    fn edit(&mut self, element: &str, by: &str, act: ElementAct) {
        self.say(ElementEdit { element: element.into(), act, by: Author(by.into()), cause: None });
    }

    fn now(&self) -> u64 {
        self.app.world().resource::<SimClock>().tick()
    }

    fn run(&mut self, ticks: u64) {
        for _ in 0..ticks {
            let now = self.now();
            let due: Vec<_> = self.owed.extract_if(.., |(due, _)| *due <= now).collect();
            for (_, request) in due {
                let reply = reply_to(&request, (self.answer)(&request));
                self.answered.extend(reply.outcome.is_ok().then_some(now));
                self.report_availability(&reply);
                self.app.world_mut().resource_mut::<InputQueue<ModelReply>>().push(reply);
            }
            self.let_one_try();
            advance(self.app.world_mut());
            let asked: Vec<_> =
                self.asked.read(self.app.world().resource::<Messages<ModelRequest>>()).cloned().collect();
            let now = self.now();
            for request in asked {
                self.calls.push(now);
                let about = request.prompt.moment.lines().next().unwrap_or_default();
                self.asked_about.push(format!("{:?} {} {about}", request.kind, request.agent_id));
                self.owed.push((now + LATENCY, request));
            }
        }
    }

    fn agents(&self) -> Vec<AgentKey> {
        self.app.world().resource::<Roster>().iter().map(|(key, _)| key).collect()
    }

    /// Plays the part of the gateway: everyone waits after a failure, until a call succeeds.
    fn report_availability(&mut self, reply: &ModelReply) {
        let waits_because = reply.outcome.as_ref().err().map(|failure| failure.what.clone());
        if waits_because.is_some() != self.is_away {
            self.is_away = waits_because.is_some();
            self.next_try = self.now() + TRY_INTERVAL;
            for agent in self.agents() {
                self.say(ModelAvailability { agent, waits_because: waits_because.clone() });
            }
        }
    }

    /// Plays the part of the gateway: while the model fails, one agent tries it from time to time.
    fn let_one_try(&mut self) {
        if self.is_away && self.now() >= self.next_try {
            self.next_try = self.now() + TRY_INTERVAL;
            let agents = self.agents();
            self.say(TryModel { agents, at_most: 1 });
        }
    }

    /// The requests from a tick on.
    fn late(&self, from: u64) -> Vec<(u64, &str)> {
        let all = self.calls.iter().copied().zip(self.asked_about.iter().map(String::as_str));
        all.filter(|(tick, _)| *tick >= from).take(20).collect()
    }

    fn calls_within(&self, from: u64, to: u64) -> usize {
        count_within(&self.calls, from, to)
    }
}

fn count_within(ticks: &[u64], from: u64, to: u64) -> usize {
    ticks.iter().filter(|tick| (from..to).contains(*tick)).count()
}

/// Shortens every duration by the same factor.
fn hasten(app: &mut App) {
    let world = app.world_mut();
    let mut attention = world.resource_mut::<AttentionSettings>();
    let attention = &mut *attention;
    for secs in [
        &mut attention.min_heartbeat_secs,
        &mut attention.max_heartbeat_secs,
        &mut attention.seek_secs,
        &mut attention.seek_again_secs,
        &mut attention.collect_secs,
        &mut attention.tell_patience_secs,
        &mut attention.error_secs,
        &mut attention.min_retry_delay_secs,
        &mut attention.max_retry_delay_secs,
    ] {
        *secs /= FASTER;
    }
    let mut talk = world.resource_mut::<ConversationSettings>();
    talk.banter_per_hour *= FASTER as usize;
    let talk = &mut *talk;
    for secs in
        [&mut talk.pair_secs, &mut talk.check_secs, &mut talk.cooldown_secs, &mut talk.gather_secs, &mut talk.news_secs]
    {
        *secs /= FASTER;
    }
    let mut feet = world.resource_mut::<MovementSettings>();
    (feet.speed_units, feet.stroll_secs) = (2_000.0, feet.stroll_secs / FASTER);
    let mut mind = world.resource_mut::<MindSettings>();
    mind.min_compaction_retry_delay_secs /= FASTER;
    mind.max_compaction_retry_delay_secs /= FASTER;
}

fn reply_to(request: &ModelRequest, answer: Result<String, FailureKind>) -> ModelReply {
    let outcome = answer
        .map(|text| Completion {
            text,
            tool_calls: Vec::new(),
            usage: Usage::default(),
            finish: Finish::Stop,
            told: None,
        })
        .map_err(|kind| ModelFailure::new(kind, "p does not answer", "wait"));
    ModelReply {
        request: request.id,
        provider: "p".into(),
        model: "m".into(),
        duration_ms: 1,
        at_ms: None,
        effort: None,
        script: None,
        outcome,
    }
}

/// A behaviour of the model provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Manner {
    /// A different sentence with a different marker each time.
    Random,
    /// Always the same pin.
    OnePin,
    /// A different pin each time.
    Pins,
    /// The same mail, to everyone in turn.
    OneMail,
    /// A different mail each time.
    Mails,
    /// Votes on everything.
    Votes,
    /// Repeats its request.
    Echo,
    /// Notes something each time.
    Notes,
    /// Says nothing.
    Nothing,
    /// Nothing when asked to summarise; otherwise conversation and pins.
    NeverSumsUp,
    /// Fails each time with a transient error.
    Unavailable,
    /// Fails each time with a permanent error.
    KeyRefused,
    /// Fails three times out of four.
    FailsOften,
}

const MANNERS: [Manner; 13] = [
    Manner::Random,
    Manner::OnePin,
    Manner::Pins,
    Manner::OneMail,
    Manner::Mails,
    Manner::Votes,
    Manner::Echo,
    Manner::Notes,
    Manner::Nothing,
    Manner::NeverSumsUp,
    Manner::Unavailable,
    Manner::KeyRefused,
    Manner::FailsOften,
];

fn answers(manner: Manner, agents: usize, seed: u64) -> Answer {
    let mut count = seed;
    Box::new(move |request| {
        count += 1;
        let mixed = count.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
        let other = format!("Agent {}", mixed % agents as u64);
        let markers = [
            String::new(),
            format!("[PIN: thought {count}]"),
            format!("[SEND to {other}: letter {count}]"),
            format!("[VOTE_UP: p{}]", mixed % 9),
            format!("[VOTE_DOWN: p{}]", mixed % 7),
            format!("[REMEMBER: note {count}]"),
            format!("[REMOVE_PIN: p{}]", mixed % 12),
            "[BYE]".to_owned(),
        ];
        Ok(match manner {
            Manner::Random => format!("Sentence {count}.\n{}", markers[(mixed / 7 % 8) as usize]),
            Manner::OnePin => "So it is.\n[PIN: We should paint the door]".to_owned(),
            Manner::Pins => format!("So it is.\n[PIN: Agent {} should see thought {count}]", mixed % agents as u64),
            Manner::OneMail => format!("So it is.\n[SEND to {other}: Are you there?]"),
            Manner::Mails => format!("So it is.\n[SEND to {other}: letter {count}]"),
            Manner::Votes => format!("So it is.\n[VOTE_UP: p1] [VOTE_DOWN: p2] [PIN: thought {count}]"),
            Manner::Echo => request.prompt.moment.chars().take(1_600).collect(),
            Manner::Notes => format!("So it is.\n[REMEMBER: note {count}]"),
            Manner::Nothing => "Nothing.".to_owned(),
            Manner::NeverSumsUp if request.kind == super::CallKind::Compaction => "[PIN: a summary]".to_owned(),
            Manner::NeverSumsUp => format!("Sentence {count}.\n[PIN: thought {count}]"),
            Manner::Unavailable => return Err(FailureKind::Unavailable),
            Manner::KeyRefused => return Err(FailureKind::Unauthorised),
            Manner::FailsOften if !mixed.is_multiple_of(4) => return Err(FailureKind::Unavailable),
            Manner::FailsOften => format!("Sentence {count}.\n[PIN: thought {count}]"),
        })
    })
}

/// An action of a person.
#[derive(Clone, Copy, Debug)]
enum Outside {
    News,
    Rules,
    Pin,
    Mail(usize),
    Talk(usize, usize),
}

fn any_outside() -> impl Strategy<Value = Outside> {
    prop_oneof![
        Just(Outside::News),
        Just(Outside::Rules),
        Just(Outside::Pin),
        (0_usize..5).prop_map(Outside::Mail),
        (0_usize..5, 0_usize..5).prop_map(|(one, other)| Outside::Talk(one, other)),
    ]
}

fn act_from_outside(room: &mut QuietRoom, outside: Outside, number: usize, agents: usize) {
    let text = |what: &str| TextAct::SetText { text: format!("{what} {number}") }.into();
    match outside {
        Outside::News => room.edit("news", "user", text("News")),
        Outside::Rules => room.edit("rules", "user", text("Rule")),
        Outside::Pin => room.edit("ideas", "user", PinAct::AddPin { id: None, text: format!("Idea {number}") }.into()),
        Outside::Mail(to) => {
            let to = to % agents;
            let act = MailAct::AddMail {
                id: None,
                from: "user".into(),
                to: format!("a{to}").into(),
                subject: "Hello".into(),
                text: format!("Letter {number} from outside"),
                attachments: Vec::new(),
            }
            .into();
            room.edit(&format!("mail-{to}"), "user", act);
        }
        Outside::Talk(one, other) => {
            let participants = [one % agents, other % agents].map(|who| format!("a{who}").into()).to_vec();
            let topic = format!("topic {number}");
            room.say(crate::simulation::ConversationCommand::Start { participants, topic });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn without_outside_input_calls_stop_within_two_hours(
        agents in 2_usize..6,
        manner in prop::sample::select(&MANNERS[..]),
        behaviours in prop::collection::vec(0_usize..3, 6),
        before in prop::collection::vec((any_outside(), 0_u64..HOUR / 20), 0..12),
        seed in any::<u32>(),
    ) {
        let behaviour = |index: usize| [Behaviour::Stationary, Behaviour::Wander, Behaviour::Patrol][behaviours[index]];
        let mut room = QuietRoom::new(agents, behaviour, answers(manner, agents, u64::from(seed)));
        for (number, (outside, wait)) in before.into_iter().enumerate() {
            act_from_outside(&mut room, outside, number, agents);
            room.run(wait);
        }
        let quiet_from = room.now();
        let fails = matches!(manner, Manner::Unavailable | Manner::KeyRefused | Manner::FailsOften);
        // What a model does not answer waits for it. It is tried from time to time, and after each answer everyone may
        // ask once.
        let hours_at_most = if manner == Manner::FailsOften { 48 } else { 3 };
        let mut hours = Vec::new();
        for number in 0..hours_at_most {
            let (from, to) = (quiet_from + number * HOUR, quiet_from + (number + 1) * HOUR);
            room.run(HOUR);
            hours.push(room.calls_within(from, to));
            if fails && number > 1 {
                let answered = count_within(&room.answered, from.saturating_sub(LATENCY), to);
                // Agents walk before they ask, so that one more may fall into an hour.
                let most = (HOUR / TRY_INTERVAL) as usize + 1 + agents * answered;
                prop_assert!(hours.last() <= Some(&most), "{:?}: {:?} of {:?}: {:?}", manner, hours, most, room.late(from));
            }
            if hours.ends_with(&[0]) {
                break;
            }
        }
        if matches!(manner, Manner::Unavailable | Manner::KeyRefused) {
            return Ok(());
        }
        let rests_from = room.now();
        room.run(HOUR);
        let late = room.late(rests_from - HOUR);
        prop_assert!(hours.ends_with(&[0]) && room.calls_within(rests_from, rests_from + HOUR) == 0,
            "{:?}: {:?} calls an hour, the last {:?}", manner, hours, late);
    }
}

/// Fewer cases than usual, because each simulates three hours. `PROPTEST_CASES` overrides it.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(12)
}
