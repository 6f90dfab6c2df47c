//! The latency of `workshop agent`: from the moment a server sends the first text until the program has printed it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Sender, bounded};

use super::measure::{Figure, Times};

const TALKS: usize = 15;
/// The delay between the head of the answer and its first text, as with a model that thinks first.
const THINKS: Duration = Duration::from_millis(300);

const DOCUMENT: &str =
    "---\nmodel: gpt-figures\nprovider: openai\n---\n# Agent: Figures\n\n## Purpose\n\nIs measured.\n";
const SETTINGS: &str = "gateway: { provider: openai, model: gpt-figures }\nknowledge: { learns_from_work: false }\n";

/// Measures the latency of the first text.
pub fn first_token() -> Vec<Figure> {
    let times: Vec<Duration> = (0..TALKS).map(|_| one_talk()).collect();
    vec![Figure::at_most_ms("delay of the first token through `workshop agent`", 5.0, &Times::from_each(times))]
}

fn one_talk() -> Duration {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for (path, text) in [("agent.mdx", DOCUMENT), ("settings.yaml", SETTINGS)] {
        fs::write(folder.path().join(path), text).expect("files can be written");
    }
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener.local_addr().expect("it has an address");
    let (sent_in, sent) = bounded(1);
    thread::spawn(move || listener.incoming().flatten().for_each(|stream| answer(stream, &sent_in)));
    let mut child = Command::new(env!("CARGO_BIN_EXE_workshop"))
        .args(["agent", ".", "--prompt", "How is it?", "--json"])
        .current_dir(folder.path())
        .env("WORKSHOP_TRUST", "1")
        .env("OPENAI_API_KEY", "sk-figures")
        .env("OPENAI_BASE_URL", format!("http://{address}/v1/"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let lines = BufReader::new(child.stdout.take().expect("it has an output")).lines();
    let seen = lines.map_while(Result::ok).find(|line| line.contains("message_update")).map(|_| Instant::now());
    let sent: Instant = sent.recv_timeout(Duration::from_secs(30)).expect("the words were sent");
    child.kill().expect("it can be ended");
    child.wait().expect("it can be waited for");
    seen.expect("the words were printed").saturating_duration_since(sent)
}

/// Answers one request as a stream, and reports when its first text was sent.
fn answer(mut stream: TcpStream, sent: &Sender<Instant>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
        head.push(byte[0]);
    }
    let said = String::from_utf8_lossy(&head).to_lowercase();
    let length = said.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    if stream.read_exact(&mut body).is_err() {
        return;
    }
    let piece = |delta: &str| {
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"gpt-figures\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}]}}\n\n"
        )
    };
    let begin = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_owned();
    let begun = stream
        .set_nodelay(true)
        .and_then(|()| stream.write_all((begin + &piece("{\"role\":\"assistant\",\"content\":\"\"}")).as_bytes()));
    thread::sleep(THINKS);
    let words = piece("{\"content\":\"It rains\"}");
    let now = Instant::now();
    if begun.and_then(|()| stream.write_all(words.as_bytes())).is_ok() {
        // The times of further requests are not needed.
        let _ = sent.try_send(now);
        thread::sleep(THINKS);
    }
}
