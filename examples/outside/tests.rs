//! What must hold for a way out of the world that another crate adds.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use agent_workshop::schedule::outside::{PendingOrders, Tape, Wakeup, running_orders};
use agent_workshop::schedule::{Input, InputJournal, RecordedInput, SimClock};
use bevy::ecs::message::Messages;
use example_outside::{Ring, Rung, add};

use crate::workshop::{Setup, Workshop};

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents: []\n";
const PATIENCE: Duration = Duration::from_secs(20);

/// Somebody behind the door, who answers everybody. Returns the address, and the names of those who rang.
fn somebody() -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of this computer is free");
    let address = listener.local_addr().expect("it has an address");
    let (rang, names) = channel();
    let serve = move || {
        for stream in listener.incoming().flatten() {
            let mut name = String::new();
            let mut reader = BufReader::new(stream);
            // The test has ended if nobody listens any more.
            if reader.read_line(&mut name).is_err() || rang.send(name.trim().to_owned()).is_err() {
                return;
            }
            let _ = writeln!(reader.get_mut(), "Come in, {}!", name.trim());
        }
    };
    std::thread::Builder::new().name("door".to_owned()).spawn(serve).expect("a thread can be started");
    (address, names)
}

/// An address at which nobody is.
fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port is free")
}

fn room(address: SocketAddr) -> Workshop {
    let mut room = Setup::scene(SCENE).open();
    add(&mut room.app, address);
    room
}

fn ring(room: &mut Workshop, name: &str) {
    let order = Ring { number: 1, name: name.to_owned() };
    room.app.world_mut().resource_mut::<Messages<Ring>>().write(order);
}

/// Runs until the order is answered. Returns the answer.
fn answer(room: &mut Workshop) -> Result<String, String> {
    room.tick();
    let wakeup = room.world().resource::<Wakeup>().clone();
    let until = std::time::Instant::now() + PATIENCE;
    while std::time::Instant::now() < until {
        room.tick();
        let messages = room.app.world().resource::<Messages<Rung>>();
        if let Some(rung) = messages.get_cursor().read(messages).next() {
            return rung.answer.clone();
        }
        wakeup.wait(Duration::from_millis(50));
    }
    panic!("the order was never answered");
}

/// The answer as the journal has it that admitted it in the latest tick.
fn input_of(room: &mut Workshop, answer: &Result<String, String>) -> RecordedInput {
    let data = serde_json::to_string(&Rung { number: 1, answer: answer.clone() }).expect("it is plain data");
    RecordedInput { tick: room.world().resource::<SimClock>().tick(), kind: Rung::KIND.to_owned(), data }
}

#[test]
fn it_rings_once_and_the_answer_enters_the_room() {
    let (address, names) = somebody();
    let mut room = room(address);
    ring(&mut room, "Ada");
    assert_eq!(answer(&mut room), Ok("Come in, Ada!".to_owned()));
    assert!(room.world().resource::<PendingOrders<Ring>>().is_empty());
    (0..10).for_each(|_| room.tick());
    assert!(running_orders(room.world()).is_empty());
    assert_eq!(names.recv_timeout(PATIENCE).as_deref(), Ok("Ada"));
    assert!(names.try_recv().is_err(), "it rang twice");
}

#[test]
fn nobody_at_home_is_an_answer() {
    let mut room = room(nobody());
    ring(&mut room, "Ada");
    let why = answer(&mut room).expect_err("nobody is there");
    assert!(why.contains("nobody can be reached"), "{why}");
}

#[test]
fn a_replay_has_the_answer_and_does_not_ring() {
    let (address, names) = somebody();
    let mut recorded = room(address);
    ring(&mut recorded, "Ada");
    let heard = answer(&mut recorded);
    let input = input_of(&mut recorded, &heard);
    assert_eq!(names.recv_timeout(PATIENCE).as_deref(), Ok("Ada"));

    let mut replayed = room(address);
    replayed.app.world_mut().resource_mut::<InputJournal>().replay([input]);
    ring(&mut replayed, "Ada");
    assert_eq!(answer(&mut replayed), heard);
    assert!(names.try_recv().is_err(), "the replay rang");
}

#[test]
fn a_tape_answers_without_anybody_behind_the_door() {
    let (address, _names) = somebody();
    let mut recorded = room(address);
    recorded.app.insert_resource(Tape::recording());
    ring(&mut recorded, "Ada");
    let heard = answer(&mut recorded);
    let (lines, _) = recorded.app.world_mut().resource_mut::<Tape>().take_lines();

    let mut played = room(nobody());
    played.app.insert_resource(Tape::playing(&lines.join("\n")).expect("it was just recorded"));
    ring(&mut played, "Ada");
    assert_eq!(answer(&mut played), heard);
}
