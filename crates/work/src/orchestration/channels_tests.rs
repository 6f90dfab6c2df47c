//! Under any order of operations, with crashes in between, every message is delivered once and in order to every agent
//! who was subscribed when it was sent, and no channel exceeds its limits.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

fn settings() -> ChannelSettings {
    ChannelSettings { max_messages: 8, max_history: 3, max_messages_per_turn: 4, max_channels: 3, ..Default::default() }
}

fn message(by: &str, text: &str) -> NewMessage {
    NewMessage { by: by.into(), work: None, text: text.to_owned(), hops: 0, tick: 1, cause: Seq(1) }
}

fn listens(channels: &mut Channels, name: &str, agent: &str) {
    channels.subscribe(name, &agent.into(), (None, 0), &settings()).expect("there is room");
}

fn texts(delivered: &[Delivered]) -> Vec<&str> {
    delivered.iter().flat_map(|delivered| &delivered.messages).map(|message| &*message.text).collect()
}

#[test]
fn a_message_is_delivered_once_to_every_subscriber_but_its_sender() {
    checks_rule!("channels-reach-their-subscribers");
    let mut channels = Channels::default();
    for agent in ["ada", "bea"] {
        listens(&mut channels, "findings", agent);
    }
    channels.publish("findings", message("ada", "12 chairs"), &settings()).expect("there is room");
    assert_eq!(channels.waiting(), ["bea".into()]);
    assert!(channels.deliver("ada", &settings()).is_empty(), "it knows what it said");
    assert_eq!(texts(&channels.deliver("bea", &settings())), ["12 chairs"]);
    assert!(channels.deliver("bea", &settings()).is_empty() && channels.is_quiet());
    assert_eq!(channels.get("findings").expect("it should exist").counts(), (1, 0));
}

#[test]
fn a_later_subscriber_gets_as_many_earlier_messages_as_it_asks_for() {
    let mut channels = Channels::default();
    for number in 1..=5 {
        channels.publish("news", message("ada", &number.to_string()), &settings()).expect("there is room");
    }
    assert_eq!(channels.subscribe("news", &"bea".into(), (None, 2), &settings()), Ok(Some(2)));
    assert_eq!(channels.subscribe("news", &"bea".into(), (None, 2), &settings()), Ok(None), "it listens already");
    assert_eq!(texts(&channels.deliver("bea", &settings())), ["4", "5"]);
    assert_eq!(channels.subscribe("news", &"cy".into(), (None, 99), &settings()), Ok(Some(3)), "as far as it is known");
}

#[test]
fn a_full_channel_refuses_messages_and_names_the_slowest_subscriber() {
    let mut channels = Channels::default();
    listens(&mut channels, "news", "slow");
    for number in 0..8 {
        channels.publish("news", message("ada", &number.to_string()), &settings()).expect("there is room");
    }
    let bounce = channels.publish("news", message("ada", "one more"), &settings()).expect_err("it is full");
    assert_eq!(bounce, ChannelRefusal::Full { channel: "news".into(), waiting: 8, slowest: "slow".into() });
    assert!(bounce.to_string().contains("8 messages are waiting, longest for slow"));
    assert_eq!(texts(&channels.deliver("slow", &settings())), ["0", "1", "2", "3"], "as many as one turn may bring");
    assert_eq!(channels.publish("news", message("ada", "one more"), &settings()), Ok(9));
    assert_eq!(texts(&channels.deliver("slow", &settings())), ["4", "5", "6", "7"]);
    assert_eq!(texts(&channels.deliver("slow", &settings())), ["one more"]);
}

#[test]
fn a_channel_without_subscribers_makes_room_and_one_with_subscribers_does_not() {
    let mut channels = Channels::default();
    for name in ["a", "b", "c"] {
        channels.publish(name, message("ada", "x"), &settings()).expect("there is room");
    }
    listens(&mut channels, "d", "bea");
    assert_eq!(channels.iter().count(), 3, "one of them went");
    listens(&mut channels, "e", "bea");
    listens(&mut channels, "f", "bea");
    let bounce = channels.publish("g", message("ada", "x"), &settings()).expect_err("all have listeners");
    assert!(matches!(bounce, ChannelRefusal::TooManyChannels { most: 3, .. }));
}

#[test]
fn message_loops_are_refused_until_another_message_is_sent() {
    let mut channels = Channels::default();
    listens(&mut channels, "news", "bea");
    let most = settings().max_hops;
    let after = |hops| NewMessage { hops, ..message("ada", "far") };
    channels.publish("news", after(most), &settings()).expect("that often it may");
    assert_eq!(channels.calls("bea").len(), 1);
    for _ in 0..2 {
        let bounce = channels.publish("news", after(most + 1), &settings()).expect_err("it goes in circles");
        assert_eq!(bounce, ChannelRefusal::Loop { channel: "news".into(), hops: most + 1 });
        assert!(channels.get("news").expect("it should exist").is_looping());
    }
    assert_eq!(channels.get("news").expect("it should exist").counts(), (0, 2));
    channels.publish("news", message("ada", "near"), &settings()).expect("nothing led to it");
    assert!(!channels.get("news").expect("it should exist").is_looping());
    assert_eq!(channels.calls("bea").len(), 2);
    channels.note_woken("bea");
    assert!(channels.calls("bea").is_empty(), "once");
    assert_eq!(texts(&channels.deliver("bea", &settings())), ["far", "near"]);
}

#[derive(Clone, Debug)]
enum Operation {
    Publish(u8, u8),
    Subscribe(u8, u8, u8),
    Unsubscribe(u8, u8),
    Leave(u8),
    Deliver(u8),
    Save,
    Crash,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let operation = prop_oneof![
        8 => any::<(u8, u8)>().prop_map(|(channel, by)| Operation::Publish(channel, by)),
        3 => any::<(u8, u8, u8)>().prop_map(|(channel, by, earlier)| Operation::Subscribe(channel, by, earlier)),
        1 => any::<(u8, u8)>().prop_map(|(channel, by)| Operation::Unsubscribe(channel, by)),
        1 => any::<u8>().prop_map(Operation::Leave),
        6 => any::<u8>().prop_map(Operation::Deliver),
        2 => Just(Operation::Save),
        1 => Just(Operation::Crash),
    ];
    prop::collection::vec(operation, 1..150)
}

/// The expected state: what each subscriber of a channel has not read yet.
#[derive(Clone, Default)]
struct Model {
    expected: BTreeMap<(String, String), Vec<String>>,
    /// What the history of each channel may still contain, newest last.
    said: BTreeMap<String, Vec<(String, String)>>,
}

#[derive(Clone, Default)]
struct World {
    is: (Channels, Model),
    disk: (Channels, Model),
    said: u64,
}

impl World {
    fn apply(&mut self, operation: &Operation) {
        let settings = settings();
        let (channel, agent) = (|at: &u8| format!("c{}", at % 4), |at: &u8| format!("agent-{}", at % 5));
        let (channels, model) = &mut self.is;
        match operation {
            Operation::Publish(at, by) => {
                let (name, by) = (channel(at), agent(by));
                self.said += 1;
                let text = format!("m{}", self.said);
                let before: Vec<String> = channels.iter().map(|(name, _)| name.to_owned()).collect();
                match channels.publish(&name, message(&by, &text), &settings) {
                    Err(ChannelRefusal::Full { .. }) => {
                        let waits =
                            model.expected.iter().any(|((of, _), expected)| *of == name && !expected.is_empty());
                        let own = channels.get(&name).is_some_and(|channel| channel.oldest_waiting().is_some());
                        assert!(waits || own, "it is full of what somebody has still to hear");
                    }
                    Err(_) => assert_eq!(before.len(), settings.max_channels),
                    Ok(_) => {
                        for ((of, to), expected) in &mut model.expected {
                            if *of == name && *to != by {
                                expected.push(text.clone());
                            }
                        }
                        model.said.entry(name).or_default().push((by, text));
                    }
                }
                model.said.retain(|name, _| channels.get(name).is_some());
            }
            Operation::Subscribe(at, who, earlier) => {
                let (name, who) = (channel(at), agent(who));
                let earlier = usize::from(earlier % 4);
                if let Ok(Some(before)) = channels.subscribe(&name, &who.as_str().into(), (None, earlier), &settings) {
                    let said = model.said.entry(name.clone()).or_default();
                    let first = said.len() - usize::try_from(before).expect("it is small");
                    let expected = said[first..].iter().filter(|(by, _)| *by != who).map(|(_, text)| text.clone());
                    let expected: Vec<String> = expected.collect();
                    model.expected.insert((name, who), expected);
                }
                model.said.retain(|name, _| channels.get(name).is_some());
            }
            Operation::Unsubscribe(at, who) => {
                let (name, who) = (channel(at), agent(who));
                let did = channels.unsubscribe(&name, &who, &settings);
                assert_eq!(did, model.expected.remove(&(name, who)).is_some());
            }
            Operation::Leave(who) => {
                let who = agent(who);
                channels.leave(&who, &settings);
                model.expected.retain(|(_, to), _| *to != who);
            }
            Operation::Deliver(who) => {
                let who = agent(who);
                let delivered = channels.deliver(&who, &settings);
                let count: usize = delivered.iter().map(|delivered| delivered.messages.len()).sum();
                assert!(count <= settings.max_messages_per_turn);
                for Delivered { channel, messages, left } in delivered {
                    let expected = model.expected.get_mut(&(channel, who.clone())).expect("it listens");
                    let told: Vec<String> = messages.iter().map(|message| message.text.to_string()).collect();
                    let rest = expected.split_off(told.len().min(expected.len()));
                    assert_eq!(*expected, told, "in order, nothing left out, nothing twice");
                    *expected = rest;
                    assert!(expected.len() as u64 <= left);
                }
            }
            Operation::Save => self.disk = self.is.clone(),
            Operation::Crash => {
                let text = serde_json::to_string(&self.disk.0).expect("channels can be saved");
                let channels: Channels = serde_json::from_str(&text).expect("it should be readable again");
                assert_eq!(channels, self.disk.0);
                self.is = (channels, self.disk.1.clone());
            }
        }
    }

    fn check(&self) {
        let settings = settings();
        let (channels, model) = &self.is;
        assert!(channels.iter().count() <= settings.max_channels);
        for (name, channel) in channels.iter() {
            assert!(channel.messages.len() <= settings.max_messages, "{name}");
            let chars: usize = channel.messages().map(|message| message.text.chars().count()).sum();
            assert_eq!(chars, channel.chars);
            let numbers: Vec<u64> = channel.messages().map(|message| message.number).collect();
            assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "without a gap: {numbers:?}");
            assert_eq!(numbers.last().copied().unwrap_or(channel.said), channel.said);
        }
        let waiting: Vec<Id> = channels.waiting();
        for ((name, agent), expected) in &model.expected {
            let channel = channels.get(name).expect("who listens keeps it");
            assert!(channel.subscribers().any(|(who, _)| **who == **agent));
            assert!(expected.is_empty() || waiting.iter().any(|who| **who == **agent), "{agent} waits");
        }
    }
}

proptest! {
    #[test]
    fn no_message_is_lost_or_repeated_and_no_limit_is_exceeded(operations in operations()) {
        let mut world = World::default();
        for operation in &operations {
            world.apply(operation);
            world.check();
        }
        for agent in 0..5 {
            for _ in 0..20 {
                world.apply(&Operation::Deliver(agent));
            }
        }
        prop_assert!(world.is.1.expected.values().all(Vec::is_empty), "everybody hears everything in the end");
    }
}
