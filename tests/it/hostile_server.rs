//! A server over raw sockets that sends arbitrary bytes, valid or not.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::json;

/// An address at which nobody listens. Its port is outside the ephemeral range; a recently freed port could be assigned
/// to the server of a concurrent test, which would then count foreign requests.
pub const NOBODY: &str = "127.0.0.1:1";

/// A server on a free port that answers every connection with a function.
pub struct Server {
    /// The base URL, including `/v1/`.
    pub url: String,
    seen: Arc<AtomicUsize>,
}

impl Server {
    /// Starts a server. `answer` gets the stream, the request and the number of earlier requests.
    pub fn start(answer: impl Fn(&mut TcpStream, &str, usize) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let url = format!("http://{}/v1/", listener.local_addr().expect("the listener is bound"));
        let seen = Arc::new(AtomicUsize::new(0));
        let (count, answer) = (seen.clone(), Arc::new(answer));
        // The thread waits in `accept` until the process ends.
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let number = count.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                thread::spawn(move || {
                    let mut stream = stream;
                    let request = read_request(&mut stream);
                    answer(&mut stream, &request, number);
                });
            }
        });
        Self { url, seen }
    }

    /// Starts a server that sends these pieces to every client and closes the connection.
    pub fn saying(pieces: Vec<Vec<u8>>) -> Self {
        Self::start(move |stream, _, _| {
            for piece in &pieces {
                if stream.write_all(piece).and_then(|()| stream.flush()).is_err() {
                    return;
                }
            }
        })
    }

    /// Returns the number of connections so far.
    pub fn seen(&self) -> usize {
        self.seen.load(Ordering::SeqCst)
    }
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return head;
    }
    head + &String::from_utf8_lossy(&body)
}

/// The response head of an event stream.
pub const STREAM_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// Returns a response with this status line, these headers and this body.
pub fn status(line: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {line}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}").into_bytes()
}

/// Returns an event with a piece of text.
pub fn text_event(text: &str) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }))
}

/// Returns an event with pieces of tool calls.
pub fn calls_event(calls: serde_json::Value) -> String {
    format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": { "tool_calls": calls } }] }))
}

/// Returns the last event, with a finish reason and usage.
pub fn end_event(reason: &str) -> String {
    let usage = json!({ "prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16 });
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }], "usage": usage });
    format!("data: {end}\n\ndata: [DONE]\n\n")
}

/// Returns a response that streams these events.
pub fn stream_of(events: &[String]) -> Vec<Vec<u8>> {
    let mut pieces = vec![STREAM_HEAD.as_bytes().to_vec()];
    pieces.extend(events.iter().map(|event| event.clone().into_bytes()));
    pieces
}
