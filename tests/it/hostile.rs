//! Model servers that misbehave in every way, and how the gateway reacts.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use agent_workshop::gateway::settings::GatewaySettings;
use agent_workshop::mind::{FailureKind, Finish};
use libtest_mimic::Trial;
use serde_json::json;

use crate::hostile_server::{NOBODY, STREAM_HEAD, Server, calls_event, end_event, status, stream_of, text_event};
use crate::model_requests::{self, KEY, short_timeouts};

/// A plain answer works, is shown while it arrives, and reports its usage.
pub fn a_plain_answer() {
    let server = Server::saying(stream_of(&[text_event("Hel"), text_event("lo"), end_event("stop")]));
    let asked = server.ask();
    assert!("Hello".starts_with(&asked.live) && asked.pieces > 0);
    let reply = asked.reply();
    assert_eq!((reply.text.as_str(), reply.finish), ("Hello", Finish::Stop));
    assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (11, 5));
}

/// Status 401 is not retried, and the failure names the key to set.
pub fn status_401() {
    let server = Server::saying(vec![status("401 Unauthorized", "", "{\"error\":\"bad key\"}")]);
    let failure = server.ask().failure();
    assert_eq!((failure.kind, server.seen()), (FailureKind::Unauthorised, 1));
    assert!(failure.what.starts_with("openai answered 401 at http://127.0.0.1"), "{}", failure.what);
    assert!(failure.remedy.contains("OPENAI_API_KEY"));
}

/// Status 400, 403 and 404 are not retried.
pub fn other_refusals() {
    for (line, kind) in [
        ("400 Bad Request", FailureKind::Rejected),
        ("403 Forbidden", FailureKind::Unauthorised),
        ("404 Not Found", FailureKind::Rejected),
    ] {
        let server = Server::saying(vec![status(line, "", "no")]);
        assert_eq!(server.ask().failure().kind, kind);
        assert_eq!(server.seen(), 1, "{line}");
    }
}

/// A redirect is not followed, because the key would be sent along.
pub fn a_redirect() {
    let elsewhere = Server::saying(stream_of(&[text_event("stolen"), end_event("stop")]));
    let server =
        Server::saying(vec![status("307 Temporary Redirect", &format!("location: {}\r\n", elsewhere.url), "")]);
    let failure = server.ask().failure();
    assert_eq!((failure.kind, elsewhere.seen()), (FailureKind::Rejected, 0));
}

/// After status 429 with a retry delay of a second, the gateway waits and retries.
pub fn status_429_with_retry_after() {
    let server = Server::start(|stream, _, number| {
        let answer = if number == 0 {
            vec![status("429 Too Many Requests", "retry-after: 1\r\n", "slow down")]
        } else {
            stream_of(&[text_event("now"), end_event("stop")])
        };
        answer.iter().for_each(|piece| drop(stream.write_all(piece)));
    });
    let begun = Instant::now();
    assert_eq!(server.ask().reply().text, "now");
    assert!(begun.elapsed() >= Duration::from_secs(1), "the retry delay is a second");
    assert_eq!(server.seen(), 2);
}

/// Status 429 with a retry delay of an hour fails at once, and the remedy names the delay.
pub fn status_429_for_an_hour() {
    let server = Server::saying(vec![status("429 Too Many Requests", "retry-after: 3600\r\n", "")]);
    let failure = server.ask().failure();
    assert_eq!((failure.kind, server.seen()), (FailureKind::RateLimited, 1));
    assert!(failure.remedy.contains("60 minutes, until "), "{}", failure.remedy);
}

/// Status 500 is retried.
pub fn status_500_then_ok() {
    let server = Server::start(|stream, _, number| {
        let answer = if number < 2 {
            vec![status("500 Internal Server Error", "", "oops")]
        } else {
            stream_of(&[text_event("fine"), end_event("stop")])
        };
        answer.iter().for_each(|piece| drop(stream.write_all(piece)));
    });
    assert_eq!(server.ask().reply().text, "fine");
    assert_eq!(server.seen(), 3);
}

/// A permanent status 503 fails after four attempts.
pub fn permanent_status_503() {
    let server = Server::saying(vec![status("503 Service Unavailable", "", "")]);
    let failure = server.ask().failure();
    assert_eq!((failure.kind, server.seen()), (FailureKind::Unavailable, 4));
    assert!(failure.what.contains("tried 4 times"));
}

/// A server that accepts connections and hangs up counts as unavailable.
pub fn accept_and_close() {
    let server = Server::start(|_, _, _| {});
    let failure = server.ask().failure();
    assert_eq!((failure.kind, server.seen()), (FailureKind::Unavailable, 4));
}

/// An address at which nobody listens is unavailable, and the remedy names the setting.
pub fn nobody_listens() {
    let failure = model_requests::ask("openai", &format!("http://{NOBODY}/v1"), "hello", &short_timeouts()).failure();
    assert_eq!(failure.kind, FailureKind::Unavailable);
    assert!(failure.remedy.contains("gateway.base_urls.openai"));
}

/// Starts a server that sends `head` and then nothing more.
fn silent_after(head: String) -> Server {
    Server::start(move |stream, _, _| {
        drop(stream.write_all(head.as_bytes()));
        // Returns when the client gives up and hangs up.
        drop(stream.read(&mut [0]));
    })
}

/// Silence before any content times out and is retried, and every attempt is counted with its possible cost.
pub fn silence_before_an_answer_is_retried_and_each_attempt_counted() {
    for head in ["", STREAM_HEAD] {
        let server = silent_after(head.to_owned());
        let settings = GatewaySettings { max_attempts: 2, ..short_timeouts() };
        let asked = server.ask_with(&settings);
        let most = model_requests::request("hello").most();
        assert_eq!((asked.effort.attempts, server.seen()), (2, 2));
        assert_eq!(asked.effort.estimated.output_tokens, 2 * most.output_tokens, "the worst case is assumed");
        let failure = asked.failure();
        assert_eq!((failure.kind, failure.is_final), (FailureKind::TimedOut, true), "{failure:?}");
    }
}

/// Once part of an answer has arrived, it has been paid for: it is never requested again after silence or a hangup, and
/// what arrived is counted once.
pub fn a_started_answer_is_never_requested_again() {
    let thought = format!("data: {}\n\n", json!({ "choices": [{ "delta": { "reasoning_content": "Hm, hm." } }] }));
    let call = calls_event(json!([{ "index": 0, "id": "a", "function": { "name": "read", "arguments": "{\"pa" } }]));
    for start_of_answer in [text_event("I will tell you"), call, thought] {
        let start_of_answer = format!("{STREAM_HEAD}{start_of_answer}");
        let hangs_up = Server::saying(vec![start_of_answer.clone().into_bytes()]);
        for server in [silent_after(start_of_answer), hangs_up] {
            let asked = server.ask();
            assert_eq!((asked.effort.attempts, server.seen()), (1, 1));
            let estimated = asked.effort.estimated;
            assert!(estimated.input_tokens > 0 && (1..20).contains(&estimated.output_tokens), "{estimated:?}");
            let failure = asked.failure();
            assert!(failure.is_final && !failure.may_be_asked_again(), "{failure:?}");
        }
    }
}

/// The usage of an answer that reports none is estimated from what was sent and received.
pub fn an_answer_without_usage() {
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let server = Server::saying(stream_of(&[text_event(&"word ".repeat(40)), end.to_owned()]));
    let asked = server.ask();
    let estimated = asked.effort.estimated;
    assert_eq!(estimated.input_tokens, model_requests::request("hello").estimated_input_tokens());
    assert!((40..=60).contains(&estimated.output_tokens), "{estimated:?}");
    assert_eq!(asked.reply().usage.output_tokens, 0);
}

/// Returns the maximum size in bytes of the system's send buffer of a connection.
fn send_buffer_bytes() -> usize {
    let sizes = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_wmem").unwrap_or_default();
    sizes.split_whitespace().last().and_then(|most| most.parse().ok()).unwrap_or(4 << 20)
}

/// However much a server sends, no more is read than the limit for answers or error bodies.
pub fn bodies_without_an_end() {
    let block = vec![b'x'; 1 << 20];
    for head in [
        "HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\n\r\n",
        "HTTP/1.1 401 Unauthorized\r\ncontent-length: 999999999\r\nconnection: close\r\n\r\n",
        STREAM_HEAD,
    ] {
        for vendor in crate::vendors::VENDORS {
            let (block, sent) = (block.clone(), std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0)));
            let count = sent.clone();
            let server = Server::start(move |stream, _, _| {
                drop(stream.write_all(head.as_bytes()));
                // A server that is not stopped sends 200 megabytes.
                for _ in 0..200 {
                    if stream.write_all(&block).is_err() {
                        return;
                    }
                    count.fetch_add(block.len(), std::sync::atomic::Ordering::Relaxed);
                }
            });
            let settings = GatewaySettings { max_attempts: 1, stall_timeout_secs: 5.0, ..short_timeouts() };
            let failure = model_requests::ask(vendor, &server.url, "hello", &settings).failure();
            let sent = sent.load(std::sync::atomic::Ordering::Relaxed);
            let read_limit = if head == STREAM_HEAD { 16 << 20 } else { 64 << 10 };
            // Data that was sent but not read is in the system's buffers: a little on our side, the rest on the
            // server's.
            let bound = read_limit + (1 << 20) + send_buffer_bytes();
            assert!(sent <= bound, "{vendor}: {sent} bytes of {head:?}, {bound} may be sent");
            assert!(failure.what.len() < 1_000, "{failure:?}");
            match head {
                STREAM_HEAD => {
                    let ended = matches!(failure.kind, FailureKind::Malformed | FailureKind::TimedOut);
                    assert!(ended, "{vendor}: {failure:?}");
                }
                _ => assert!(failure.status.is_some(), "{vendor}: {failure:?}"),
            }
        }
    }
}

/// A key is sent to an address that the person configured, but not to one that only the workspace configured.
pub fn a_workspace_that_redirects_the_key() {
    let server = Server::start(|stream, request, _| {
        let answer = if request.contains(KEY) { "got it" } else { "no key" };
        stream_of(&[text_event(answer), end_event("stop")]).iter().for_each(|piece| drop(stream.write_all(piece)));
    });
    assert_eq!(server.ask().reply().text, "got it");
    let worker = model_requests::worker();
    worker
        .send(model_requests::command(1, "openai", &server.url, "hello", &short_timeouts()))
        .expect("the queue has room");
    assert_eq!(model_requests::wait_for_reply(&worker).reply().text, "no key");
    for url in ["https://models.example/v1", "http://192.0.2.1:1/v1"] {
        worker.send(model_requests::command(2, "openai", url, "hello", &short_timeouts())).expect("the queue has room");
        let asked = model_requests::wait_for_reply(&worker);
        assert_eq!(asked.effort.attempts, 0, "no request was sent");
        let failure = asked.failure();
        assert!(failure.what.contains("you have not allowed it"), "{failure:?}");
        assert!(failure.remedy.contains("workshop allow-address"), "{failure:?}");
    }
}

/// A server that sends a word now and then without end is cut off by the total time limit.
pub fn endless_dripping() {
    let server = Server::start(|stream, _, _| {
        drop(stream.write_all(STREAM_HEAD.as_bytes()));
        let pause = Duration::from_millis(50);
        stream.set_read_timeout(Some(pause)).expect("the timeout is valid");
        // Reading with a timeout is the pause: there is nothing to read.
        while stream.write_all(text_event("drip ").as_bytes()).is_ok() {
            drop(stream.read(&mut [0]));
        }
    });
    let settings = GatewaySettings { total_timeout_secs: 1.0, ..short_timeouts() };
    assert_eq!(server.ask_with(&settings).failure().kind, FailureKind::TimedOut);
    assert_eq!(server.seen(), 1);
}

/// Garbage instead of an answer is a failure.
pub fn garbage() {
    for body in ["<html>hello</html>", "data: {{{\n\n", "data: \u{0}\u{1}\n\n", ""] {
        let server = Server::saying(stream_of(&[body.to_owned()]));
        assert_eq!(server.ask().failure().kind, FailureKind::Malformed, "{body:?}");
    }
    let server = Server::saying(vec![b"\xff\xfe\x00 this is not HTTP\r\n\r\n".to_vec()]);
    assert_eq!(server.ask().failure().kind, FailureKind::Unavailable);
    let server = Server::saying(vec![STREAM_HEAD.as_bytes().to_vec(), b"data: \xff\xff\xff\n\n".to_vec()]);
    assert_eq!(server.ask().failure().kind, FailureKind::Malformed);
}

/// Half a stream, or a stream without its end, is a failure and not a short answer, and it is not requested again.
pub fn half_a_stream() {
    let half_event = text_event("a whole one") + "data: {\"choices\":[{\"del";
    let no_done = text_event("all said");
    for events in [half_event, no_done] {
        let server = Server::saying(stream_of(&[events]));
        let failure = server.ask().failure();
        assert_eq!((failure.kind, server.seen()), (FailureKind::Malformed, 1));
    }
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n";
    let server = Server::saying(vec![head.as_bytes().to_vec(), text_event("short").into_bytes()]);
    assert_eq!(server.ask().failure().kind, FailureKind::Malformed);
}

/// A piece of one megabyte exceeds the limit for answers.
pub fn a_piece_of_one_megabyte() {
    let server = Server::saying(stream_of(&[text_event(&"x".repeat(1 << 20)), text_event("more"), end_event("stop")]));
    let failure = server.ask().failure();
    assert_eq!((failure.kind, server.seen()), (FailureKind::Malformed, 1));
}

/// An index of thirty million needs no memory and no time.
pub fn a_huge_index() {
    let call = json!([{ "index": 30_000_000, "id": "c", "function": { "name": "read", "arguments": "{}" } }]);
    let server = Server::saying(stream_of(&[calls_event(call), end_event("tool_calls")]));
    let begun = Instant::now();
    let reply = server.ask().reply();
    assert_eq!((reply.tool_calls.len(), reply.finish), (1, Finish::ToolCalls));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

/// Two calls with the same index stay separate.
pub fn two_calls_with_index_0() {
    let call = |id: &str, path: &str| {
        let arguments = json!({ "path": path }).to_string();
        json!([{ "index": 0, "id": id, "function": { "name": "read", "arguments": arguments } }])
    };
    let events = [calls_event(call("a", "one")), calls_event(call("b", "two")), end_event("tool_calls")];
    let reply = Server::saying(stream_of(&events)).ask().reply();
    let paths: Vec<_> = reply.tool_calls.iter().map(|call| call.arguments["path"].clone()).collect();
    assert_eq!(paths, ["one", "two"]);
}

/// A call without an index is a failure, not an answer without calls.
pub fn a_call_without_an_index() {
    let call = json!([{ "id": "a", "function": { "name": "read", "arguments": "{}" } }]);
    let server = Server::saying(stream_of(&[calls_event(call), end_event("tool_calls")]));
    assert_eq!(server.ask().failure().kind, FailureKind::Malformed);
}

/// Missing arguments become an empty object, and calls count even if the answer finishes with "stop".
pub fn empty_arguments() {
    let call = json!([{ "index": 0, "id": "a", "function": { "name": "now", "arguments": "" } }]);
    let reply = Server::saying(stream_of(&[calls_event(call), end_event("stop")])).ask().reply();
    assert_eq!((&reply.tool_calls[0].arguments, reply.finish), (&json!({}), Finish::ToolCalls));
}

/// Too many calls in one answer are a failure.
pub fn a_thousand_calls() {
    let call = |index: usize| json!([{ "index": index, "id": format!("c{index}"), "function": { "name": "n", "arguments": "" } }]);
    let mut events: Vec<_> = (0..1000).map(|index| calls_event(call(index))).collect();
    events.push(end_event("tool_calls"));
    assert_eq!(Server::saying(stream_of(&events)).ask().failure().kind, FailureKind::Malformed);
}

/// The first error ends the answer, whatever follows.
pub fn invalid_json_and_then_more() {
    let events = [text_event("before"), "data: {oops\n\n".to_owned(), text_event("after"), end_event("stop")];
    let server = Server::saying(stream_of(&events));
    assert_eq!((server.ask().failure().kind, server.seen()), (FailureKind::Malformed, 1));
}

/// Characters may be split anywhere, and lines may end in any way.
pub fn split_characters_and_crlf() {
    let all = text_event("Grüße, 東京 🦀") + &end_event("stop");
    for all in [all.clone(), all.replace('\n', "\r\n")] {
        let mut pieces = vec![STREAM_HEAD.as_bytes().to_vec()];
        pieces.extend(all.as_bytes().iter().map(|byte| vec![*byte]));
        assert_eq!(Server::saying(pieces).ask().reply().text, "Grüße, 東京 🦀");
    }
}

/// The key is not revealed if a server echoes it in an error body or a stream.
pub fn echoing_the_key() {
    let echo = |line: &'static str| {
        Server::start(move |stream, request, _| {
            assert!(request.contains(KEY), "the key is sent to the configured address");
            drop(stream.write_all(&status(line, "", &format!("you said: {request}"))));
        })
    };
    for line in ["400 Bad Request", "401 Unauthorized", "500 Internal Server Error"] {
        echo(line).ask().failure();
    }
    let error_event = format!("data: {}\n\n", json!({ "error": { "message": format!("bad key {KEY}"), "code": 401 } }));
    let failure = Server::saying(stream_of(&[error_event])).ask().failure();
    assert_eq!(failure.kind, FailureKind::Unauthorised);
    Server::saying(stream_of(&[format!("data: {KEY}\n\n")])).ask().failure();
}

/// The key is redacted if a server echoes it in its answer, whole or in pieces: in text, in reasoning, and in the name,
/// id and arguments of a call. The rest of the answer is kept.
pub fn the_key_in_an_answer() {
    let words = format!("Your key is {KEY}, is it not?");
    let call = |id: &str, name: &str, arguments: &str| json!([{ "index": 0, "id": id, "function": { "name": name, "arguments": arguments } }]);
    let more = |arguments: &str| json!([{ "index": 0, "function": { "arguments": arguments } }]);
    let thought =
        |text: &str| format!("data: {}\n\n", json!({ "choices": [{ "delta": { "reasoning_content": text } }] }));
    let arguments = json!({ "path": format!("artifacts/{KEY}.md"), KEY: [KEY] }).to_string();
    let escaped = arguments.replace("hostile", "\\u0068ostile");
    let by_letter = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
    let whole =
        vec![thought(&words), text_event(&words), calls_event(call(KEY, KEY, &arguments)), end_event("tool_calls")];
    let mut pieces: Vec<String> = by_letter(&words).iter().map(|letter| thought(letter)).collect();
    pieces.extend(by_letter(&words).iter().map(|letter| text_event(letter)));
    pieces.push(calls_event(call(KEY, "vfs_write", "")));
    pieces.extend(by_letter(&escaped).iter().map(|letter| calls_event(more(letter))));
    pieces.push(end_event("tool_calls"));
    for events in [whole, pieces] {
        let server = Server::start(move |stream, _, _| {
            for piece in stream_of(&events) {
                drop(stream.write_all(&piece));
                // Lets the client see each piece separately.
                std::thread::yield_now();
            }
        });
        let asked = server.ask();
        let shown: Vec<_> = asked.calls.iter().map(|call| (call.clone(), call.argument("path"))).collect();
        assert!(!format!("{shown:?}").contains(KEY), "{shown:?}");
        assert!("Your key is [redacted], is it not?".starts_with(&asked.live), "{}", asked.live);
        let reply = asked.reply();
        assert_eq!(reply.text, "Your key is [redacted], is it not?");
        let call = &reply.tool_calls[0];
        assert_eq!(call.arguments, json!({ "path": "artifacts/[redacted].md", "[redacted]": ["[redacted]"] }));
        let all = serde_json::to_string(&reply).expect("the reply can be serialized");
        assert!(!all.contains(KEY), "{all}");
        assert!(call.reasoning.is_some(), "the reasoning is kept without the key");
    }
}

/// An error body that is compressed or binary is reported without its bytes.
pub fn binary_error_bodies() {
    let packed =
        [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0x4b, 0x2a, 0x4a, 0x4d, 0xcc, 0xce, 0x2c, 0x29, 0x2a, 0xcd, 0x2b, 0x1];
    for body in [packed.repeat(40), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02".to_vec(), vec![0; 3_000]] {
        let server = Server::start(move |stream, _, _| {
            let head = "HTTP/1.1 400 Bad Request\r\ncontent-encoding: gzip\r\nconnection: close\r\n";
            drop(stream.write_all(format!("{head}content-length: {}\r\n\r\n", body.len()).as_bytes()));
            drop(stream.write_all(&body));
        });
        let failure = server.ask().failure();
        assert_eq!(failure.kind, FailureKind::Rejected);
        assert!(failure.what.ends_with(": its value is not text"), "{}", failure.what);
    }
}

/// A line without an end is cut off by the total limit, however fast it comes.
pub fn an_endless_line() {
    let server = Server::start(|stream, _, _| {
        drop(stream.write_all(STREAM_HEAD.as_bytes()));
        let block = [b'x'; 65536];
        while stream.write_all(&block).is_ok() {}
    });
    let settings = GatewaySettings { total_timeout_secs: 1.0, ..short_timeouts() };
    let begun = Instant::now();
    assert!(server.ask_with(&settings).outcome.is_err());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// After a cancellation in the middle of an answer, the server sees the connection close, and the request ends exactly
/// once.
pub fn cancelled_in_the_middle() {
    let (hangup, hangups) = std::sync::mpsc::channel();
    let server = Server::start(move |stream, _, _| {
        drop(stream.write_all(STREAM_HEAD.as_bytes()));
        drop(stream.write_all(text_event("I will tell you all of it: ").as_bytes()));
        let hung_up = matches!(stream.read(&mut [0]), Ok(0) | Err(_));
        assert!(hangup.send(hung_up).is_ok(), "the test waits for the hangup");
    });
    let worker = model_requests::worker();
    let settings = GatewaySettings { stall_timeout_secs: 30.0, ..short_timeouts() };
    worker.send(model_requests::command(7, "openai", &server.url, "hello", &settings)).expect("the queue has room");
    let mut has_started = false;
    while !has_started {
        let event = worker.next(Duration::from_secs(30)).expect("the answer has started");
        has_started = matches!(event, agent_workshop::gateway::messages::GatewayEvent::Delta { .. });
    }
    let id = agent_workshop::base::RequestId(7);
    worker.send(agent_workshop::gateway::messages::GatewayCommand::Cancel { id }).expect("the queue has room");
    assert_eq!(model_requests::wait_for_reply(&worker).failure().kind, FailureKind::Cancelled);
    assert_eq!(hangups.recv_timeout(Duration::from_secs(10)), Ok(true));
}

/// Dropping the worker in the middle of an answer takes at most two seconds.
pub fn dropped_in_the_middle() {
    let server = Server::start(|stream, _, _| {
        drop(stream.write_all(STREAM_HEAD.as_bytes()));
        drop(stream.read(&mut [0]));
    });
    let worker = model_requests::worker();
    let settings = GatewaySettings { stall_timeout_secs: 30.0, total_timeout_secs: 60.0, ..short_timeouts() };
    worker.send(model_requests::command(1, "openai", &server.url, "hello", &settings)).expect("the queue has room");
    assert!(worker.next(Duration::from_secs(30)).is_some(), "the answer has started");
    let begun = Instant::now();
    drop(worker);
    assert!(begun.elapsed() < Duration::from_millis(2500), "{:?}", begun.elapsed());
}

/// Lists the tests of this file.
pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn()); 32] = [
        ("a_plain_answer", a_plain_answer),
        ("status_401", status_401),
        ("other_refusals", other_refusals),
        ("a_redirect", a_redirect),
        ("status_429_with_retry_after", status_429_with_retry_after),
        ("status_429_for_an_hour", status_429_for_an_hour),
        ("status_500_then_ok", status_500_then_ok),
        ("permanent_status_503", permanent_status_503),
        ("accept_and_close", accept_and_close),
        ("nobody_listens", nobody_listens),
        ("silence_before_an_answer", silence_before_an_answer_is_retried_and_each_attempt_counted),
        ("a_started_answer_is_never_requested_again", a_started_answer_is_never_requested_again),
        ("an_answer_without_usage", an_answer_without_usage),
        ("bodies_without_an_end", bodies_without_an_end),
        ("a_workspace_that_redirects_the_key", a_workspace_that_redirects_the_key),
        ("endless_dripping", endless_dripping),
        ("garbage", garbage),
        ("half_a_stream", half_a_stream),
        ("a_piece_of_one_megabyte", a_piece_of_one_megabyte),
        ("a_huge_index", a_huge_index),
        ("two_calls_with_index_0", two_calls_with_index_0),
        ("a_call_without_an_index", a_call_without_an_index),
        ("empty_arguments", empty_arguments),
        ("a_thousand_calls", a_thousand_calls),
        ("invalid_json_and_then_more", invalid_json_and_then_more),
        ("split_characters_and_crlf", split_characters_and_crlf),
        ("echoing_the_key", echoing_the_key),
        ("the_key_in_an_answer", the_key_in_an_answer),
        ("binary_error_bodies", binary_error_bodies),
        ("an_endless_line", an_endless_line),
        ("cancelled_in_the_middle", cancelled_in_the_middle),
        ("dropped_in_the_middle", dropped_in_the_middle),
    ];
    let named = |(name, test): (&str, fn())| {
        Trial::test(format!("hostile::{name}"), move || {
            test();
            Ok(())
        })
    };
    tests.into_iter().map(named).collect()
}
