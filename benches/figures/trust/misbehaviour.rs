//! Misbehaviours of a server, one function each.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::child::KEY;
use super::wires::{Call, Wire};
use crate::hostile_server::status;

/// The maximum duration of a response: every client must have given up by then.
const LONGEST: Duration = Duration::from_secs(20);
/// A body that is too long to be read to its end.
const HUGE_BYTES: usize = 200 << 20;

/// A request to be answered wrongly.
pub struct Guest<'a> {
    /// The connection.
    pub stream: &'a mut TcpStream,
    /// The number of earlier requests.
    pub asked: usize,
    /// The wire format.
    pub wire: Wire,
    /// The address of another server.
    pub elsewhere: &'a str,
}

/// A way to misbehave.
pub struct Misbehaviour {
    /// A description.
    pub name: &'static str,
    /// The permitted outcomes.
    pub comes_to: ComesTo,
    /// The implementation.
    pub behave: fn(&mut Guest<'_>),
}

/// The permitted outcomes of a misbehaviour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ComesTo {
    /// The work fails.
    Failure,
    /// Part of it is a valid answer, so the work may continue.
    Answer,
    /// The work waits as the server asks, and reports that.
    Waiting,
}

const fn failing(name: &'static str, behave: fn(&mut Guest<'_>)) -> Misbehaviour {
    Misbehaviour { name, comes_to: ComesTo::Failure, behave }
}

const fn answering(name: &'static str, behave: fn(&mut Guest<'_>)) -> Misbehaviour {
    Misbehaviour { name, comes_to: ComesTo::Answer, behave }
}

const fn limiting(name: &'static str, behave: fn(&mut Guest<'_>)) -> Misbehaviour {
    Misbehaviour { name, comes_to: ComesTo::Waiting, behave }
}

/// All misbehaviours.
pub static ALL: [Misbehaviour; 42] = [
    failing("a huge body with 500", |guest| guest.huge("500 Internal Server Error")),
    failing("a huge body with 400", |guest| guest.huge("400 Bad Request")),
    failing("a huge body with 401", |guest| guest.huge("401 Unauthorized")),
    limiting("a huge body with 429", |guest| guest.huge("429 Too Many Requests")),
    failing("hanging up at once", |_| ()),
    failing("hanging up in the head", |guest| guest.say("HTTP/1.1 200 OK\r\ncontent-ty")),
    failing("hanging up in the stream", |guest| {
        let wire = guest.wire;
        guest.say(wire.head("") + &wire.begin() + &wire.text("Hal"));
    }),
    failing("hanging up in an event", |guest| {
        let (wire, text) = (guest.wire, guest.wire.text("Hello"));
        guest.say(wire.head("") + &wire.begin() + &text[..text.len() / 2]);
    }),
    failing("silence before the head", |guest| guest.wait()),
    failing("silence after the head", |guest| {
        guest.say(guest.wire.head(""));
        guest.wait();
    }),
    failing("silence after some words", |guest| {
        let wire = guest.wire;
        guest.say(wire.head("") + &wire.begin() + &wire.text("I begin"));
        guest.wait();
    }),
    failing("words without end", |guest| {
        guest.say(guest.wire.head("") + &guest.wire.begin());
        guest.forever(&guest.wire.text(&"word ".repeat(1_000)));
    }),
    failing("a word now and then for ever", |guest| {
        guest.say(guest.wire.head("") + &guest.wire.begin());
        guest.drip(&guest.wire.text("drip "));
    }),
    failing("a line without end", |guest| {
        guest.say(guest.wire.head("") + "data: {\"x\": \"");
        guest.forever(&"x".repeat(65_536));
    }),
    failing("comments without end", |guest| {
        guest.say(guest.wire.head(""));
        guest.forever(&": keep alive\n\n".repeat(1_000));
    }),
    failing("headers without end", |guest| {
        guest.say("HTTP/1.1 200 OK\r\n");
        guest.forever(&"x-header: and one more\r\n".repeat(1_000));
    }),
    failing("a header of a megabyte", |guest| {
        guest.say(format!("HTTP/1.1 200 OK\r\nx-long: {}\r\n\r\n", "x".repeat(1 << 20)));
    }),
    failing("further heads without end", |guest| guest.forever(&"HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000))),
    failing("a small body that unpacks to a huge one", |guest| guest.bomb("200 OK")),
    failing("an error that unpacks to a huge one", |guest| guest.bomb("500 Internal Server Error")),
    failing("bytes that are no UTF-8", |guest| {
        guest.say(guest.wire.head(""));
        guest.bytes(b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xfe\xc3\x28\"}}]}\n\n");
    }),
    failing("no HTTP", |guest| guest.bytes(b"\xff\xfe\x00\x00 hello, this is no HTTP at all\r\n\r\n")),
    failing("another protocol", |guest| {
        guest.say("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n");
    }),
    failing("no content", |guest| guest.say("HTTP/1.1 204 No Content\r\n\r\n")),
    failing("an empty answer", |guest| guest.say("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")),
    failing("a page for people", |guest| {
        let page = "<html><body>Sign in to the hotel's network</body></html>";
        guest.bytes(&status("200 OK", "content-type: text/html\r\n", page));
    }),
    failing("a redirect with 302", |guest| guest.redirect("302 Found")),
    failing("a redirect with 307", |guest| guest.redirect("307 Temporary Redirect")),
    failing("a redirect with 308", |guest| guest.redirect("308 Permanent Redirect")),
    failing("the key in an error", |guest| {
        let body = format!("{{\"error\": {{ \"message\": \"bad key {KEY}\" }} }}");
        guest.bytes(&status("401 Unauthorized", "content-type: application/json\r\n", &body));
    }),
    answering("the key in the answer", |guest| guest.bytes(&guest.wire.answer(&format!("Your key is {KEY}."), &[]))),
    failing("a length that is too long", |guest| {
        let wire = guest.wire;
        guest.say("HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n");
        guest.say(format!("content-type: {}\r\n\r\n", wire.content_type()) + &wire.begin() + &wire.text("short"));
    }),
    failing("a length that is no length", |guest| {
        guest.say("HTTP/1.1 200 OK\r\ncontent-length: -1\r\ncontent-length: 99999999999999999999\r\n\r\n{}");
    }),
    failing("chunks that lie", |guest| {
        guest.say(guest.wire.head("transfer-encoding: chunked\r\n") + "ffffffffffffffff\r\nshort\r\nzz\r\n");
    }),
    limiting("a wait of a hundred years", |guest| {
        guest.bytes(&status("429 Too Many Requests", "retry-after: 3155760000\r\n", "slow down"));
    }),
    failing("a wait that is no number", |guest| {
        guest.bytes(&status("503 Service Unavailable", "retry-after: -1e999\r\n", "later"));
    }),
    failing("JSON that is nested without end", |guest| {
        let deep = format!("{}{}", "{\"a\":[".repeat(100_000), "]}".repeat(100_000));
        guest.say(guest.wire.head("") + "data: " + &deep + "\n\n");
    }),
    answering("numbers of tokens that cannot be", |guest| {
        let wire = guest.wire;
        let end = wire.end_with_usage(false, &json!(-5), &json!(1e300));
        guest.say(wire.head("") + &wire.begin() + &wire.text("Hello.") + &end);
    }),
    answering("calls with one id", |guest| {
        let call = |path: &str| ("same".to_owned(), "vfs_list".to_owned(), json!({ "prefix": path }));
        let calls = [call("a"), call("b"), call("a")];
        guest.bytes(&guest.wire.answer("", &calls));
    }),
    answering("calls at places that cannot be", |guest| guest.odd_places()),
    answering("a thousand calls", |guest| {
        let call =
            |number: usize| (format!("c{number}"), "vfs_list".to_owned(), json!({ "prefix": format!("{number}") }));
        let calls: Vec<Call> = (0..1_000).map(call).collect();
        guest.bytes(&guest.wire.answer("", &calls));
    }),
    answering("what a terminal would carry out", |guest| {
        let text = "\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}]52;c;eA==\u{7}\u{9b}2J\u{202e}siht\u{0}";
        guest.bytes(&guest.wire.answer(text, &[]));
    }),
];

impl Guest<'_> {
    fn say(&mut self, text: impl AsRef<str>) {
        self.bytes(text.as_ref().as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        // Fails once the client has closed the connection.
        let _ = self.stream.write_all(bytes);
    }

    fn huge(&mut self, line: &str) {
        self.say(format!("HTTP/1.1 {line}\r\ncontent-type: application/json\r\ncontent-length: {HUGE_BYTES}\r\n\r\n"));
        self.say("{\"error\": \"");
        let block = vec![b'x'; 1 << 20];
        for _ in 0..HUGE_BYTES / block.len() {
            if self.stream.write_all(&block).is_err() {
                return;
            }
        }
    }

    fn forever(&mut self, piece: &str) {
        let until = Instant::now() + LONGEST;
        while self.stream.write_all(piece.as_bytes()).is_ok() && Instant::now() < until {}
    }

    fn drip(&mut self, piece: &str) {
        let _ = self.stream.set_read_timeout(Some(Duration::from_millis(50)));
        let until = Instant::now() + LONGEST;
        // Reading with a timeout is the pause: there is nothing to read.
        while self.stream.write_all(piece.as_bytes()).is_ok() && Instant::now() < until {
            let _ = self.stream.read(&mut [0]);
        }
    }

    fn wait(&mut self) {
        let _ = self.stream.set_read_timeout(Some(LONGEST));
        let _ = self.stream.read(&mut [0]);
    }

    fn bomb(&mut self, line: &str) {
        static PACKED: OnceLock<Vec<u8>> = OnceLock::new();
        let packed = PACKED.get_or_init(|| {
            let mut packed = GzEncoder::new(Vec::new(), Compression::best());
            let block = [b' '; 1 << 16];
            for _ in 0..HUGE_BYTES * 2 / block.len() {
                packed.write_all(&block).expect("writing to memory cannot fail");
            }
            packed.finish().expect("writing to memory cannot fail")
        });
        let kind = self.wire.content_type();
        self.say(format!("HTTP/1.1 {line}\r\ncontent-type: {kind}\r\ncontent-encoding: gzip\r\n"));
        self.say(format!("content-length: {}\r\n\r\n", packed.len()));
        self.bytes(packed);
    }

    fn redirect(&mut self, line: &str) {
        let to = format!("location: {}\r\n", self.elsewhere);
        self.bytes(&status(line, &to, ""));
    }

    /// Indices below zero and beyond any bound, in wire formats that have indices.
    fn odd_places(&mut self) {
        let wire = self.wire;
        let places = [json!(-1), json!(30_000_000), json!(u64::MAX), json!("one"), Value::Null];
        let place = &places[self.asked % places.len()];
        let said = match wire {
            Wire::OpenAi => {
                let function = json!({ "name": "vfs_list", "arguments": "{}" });
                let call = json!([{ "index": place, "id": "c", "function": function }]);
                wire.event(&json!({ "choices": [{ "index": place, "delta": { "tool_calls": call } }] }))
            }
            Wire::Anthropic => {
                let block = json!({ "type": "tool_use", "id": "c", "name": "vfs_list", "input": {} });
                wire.event(&json!({ "type": "content_block_start", "index": place, "content_block": block }))
            }
            Wire::Gemini => wire.event(&json!({ "candidates": [{ "index": place, "content": place }] })),
            Wire::Ollama => wire.event(&json!({ "message": { "role": "assistant", "tool_calls": place } })),
        };
        self.say(wire.head("") + &wire.begin() + &said + &wire.end(true));
    }
}
