//! A way out of the world that is defined only in this crate: a doorbell that is rung over a socket. [`add`] is all that
//! a program calls.
//!
//! Whoever wants to ring writes a [`Ring`] as a message; it is part of the saved world from then on. The answer is a
//! message, too: [`Rung`]. Everything between the two is the driver's: it rings once, after the tick is in the log, and
//! never in a replay.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agent_workshop::schedule::Input;
use agent_workshop::schedule::outside::{
    Order, Outside, OutsideExt, PendingOrders, PendingOrdersExt, Received, Reporter, Start, WorldOf,
};
use bevy::app::App;
use bevy::ecs::message::Message;
use bevy::ecs::prelude::*;
use serde::{Deserialize, Serialize};

/// How long whoever is behind the door may take to connect, and to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The maximum length of an answer.
const MAX_ANSWER_BYTES: u64 = 1_000;

/// Adds the doorbell to a room.
pub fn add(app: &mut App, address: SocketAddr) {
    app.add_orders::<Ring>().add_outside(Doorbell { address, ringing: BTreeMap::new() });
}

/// An order to ring.
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ring {
    /// The number of the order, never used twice.
    pub number: u64,
    /// Who is at the door.
    pub name: String,
}

/// The answer to a [`Ring`].
#[derive(Message, Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Rung {
    /// The number of the order.
    pub number: u64,
    /// What was answered, or why nothing was.
    pub answer: Result<String, String>,
}

impl Input for Rung {
    const KIND: &'static str = "doorbell";
}

impl Order for Ring {
    const SECTION: &'static str = "doorbell";
    type Key = u64;
    type Answer = Rung;

    fn key(&self) -> u64 {
        self.number
    }

    fn ended_by(answer: &Rung) -> Option<u64> {
        Some(answer.number)
    }
}

/// The doorbell, with the lines of the orders that are being carried out, once they are open.
struct Doorbell {
    address: SocketAddr,
    ringing: BTreeMap<u64, Line>,
}

/// A line to whoever is behind the door, once it is open.
type Line = Arc<OnceLock<TcpStream>>;

/// Rings, and waits for the answer. The error says why there is none.
fn ring(address: SocketAddr, name: &str, line: &Line) -> Result<String, String> {
    let not_reached = |error: std::io::Error| format!("nobody can be reached at {address}: {error}");
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(not_reached)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(not_reached)?;
    // Whoever cancels the order hangs up.
    let _ = stream.try_clone().map(|own| line.set(own));
    writeln!(stream, "{name}").map_err(not_reached)?;
    let mut answer = String::new();
    let mut reader = BufReader::new(stream.take(MAX_ANSWER_BYTES));
    reader.read_line(&mut answer).map_err(|error| format!("nobody answered: {error}"))?;
    match answer.trim() {
        "" => Err("nobody answered".to_owned()),
        answer => Ok(answer.to_owned()),
    }
}

impl Outside for Doorbell {
    const NAME: &'static str = "doorbell";
    const MAX_RUNNING: usize = 4;

    type Key = u64;
    type Order = Ring;
    type Report = Result<String, String>;
    type Answer = Rung;
    type World = Res<'static, PendingOrders<Ring>>;

    fn wanted(&mut self, orders: &mut WorldOf<'_, '_, Self>) -> Vec<u64> {
        orders.iter().map(Ring::key).collect()
    }

    fn order(&self, number: &u64, orders: &WorldOf<'_, '_, Self>) -> Result<Ring, Rung> {
        orders.get(number).cloned().ok_or_else(|| self.lost(number, "there is no such order"))
    }

    fn interrupted(&mut self, number: &u64, _: &Ring) -> Option<Rung> {
        // It may have rung, and nobody wants to hear it twice.
        Some(self.lost(number, "the workshop was stopped while it rang"))
    }

    fn start(
        &mut self,
        number: &u64,
        order: Ring,
        _: &mut WorldOf<'_, '_, Self>,
        reporter: Reporter<Self>,
    ) -> Start<Rung> {
        let (address, line) = (self.address, Line::default());
        self.ringing.insert(*number, line.clone());
        let ringing = move || reporter.report(ring(address, &order.name, &line));
        match std::thread::Builder::new().name("doorbell".to_owned()).spawn(ringing) {
            Ok(_) => Start::Started,
            Err(error) => Start::Ended(self.lost(number, &format!("no thread can be started: {error}"))),
        }
    }

    fn cancel(&mut self, number: &u64, _: &mut WorldOf<'_, '_, Self>) {
        if let Some(stream) = self.ringing.remove(number).as_deref().and_then(OnceLock::get) {
            // It may have been closed at the other end.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn receive(
        &mut self,
        number: &u64,
        answer: Result<String, String>,
        _: &mut WorldOf<'_, '_, Self>,
    ) -> Received<Rung> {
        self.ringing.remove(number);
        Received::Answer(Rung { number: *number, answer })
    }

    fn lost(&self, number: &u64, why: &str) -> Rung {
        Rung { number: *number, answer: Err(why.to_owned()) }
    }

    fn is_final(_: &Rung) -> bool {
        true
    }

    fn addressed_to(number: &u64, answer: Rung) -> Rung {
        Rung { number: *number, ..answer }
    }
}
