//! Misbehaving model servers in every vendor's wire format, each with its own room.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::child::KEY;
use super::evidence::found_in_files;
use super::misbehaviour::{self, ComesTo, Misbehaviour};
use super::plan::{Case, Fault, Plan, Report};
use super::wires::Wire;
use crate::hostile_server::Server;

/// Attempts per request, and retries per piece of work; they bound the number of connections.
const ATTEMPTS: usize = 2;
const RETRIES: usize = 1;
/// How long a room may wait at the request of a server before it is interrupted.
const WAIT_BEFORE_INTERRUPT: Duration = Duration::from_secs(6);
/// Requests of the piece of work.
const TURNS: usize = 3;

/// Runs the loop: every misbehaviour in every wire format.
pub fn run(plan: &Plan) -> Report {
    plan.sweep("servers", (misbehaviour::ALL.len() * Wire::ALL.len()) as u64, try_case)
}

fn settings() -> String {
    format!(
        "gateway:\n  stall_timeout_secs: 0.5\n  connect_timeout_secs: 1\n  total_timeout_secs: 3\n  max_attempts: \
         {ATTEMPTS}\n  min_retry_delay_secs: 0.05\nkernel:\n  max_retries: {RETRIES}\n  min_retry_delay_secs: 0.1\n  \
         rate_limit_secs: 0.1\n  max_turns: {TURNS}\n  max_strikes: 5\nbudget:\n  cost_per_run_usd: 100000\n"
    )
}

fn try_case(case: &mut Case) {
    // Consecutive numbers are different misbehaviours, so that a small scale covers many of them.
    let number = case.number as usize;
    let kinds = misbehaviour::ALL.len();
    let (wire, kind) = (Wire::ALL[(number + number / kinds) % Wire::ALL.len()], &misbehaviour::ALL[number % kinds]);
    case.write("settings.yaml", settings());
    let scene = "name: Servers\nseed: 2\nelements: []\nagents:\n  - { id: ada, profile: ada, position: [0, 0] }\n";
    case.write("scenes/room.yaml", scene);
    case.write("agents/ada.md", "You are Ada.\n");

    let stolen = Arc::new(AtomicUsize::new(0));
    let redirect_target = redirect_target(wire, &stolen);
    let (elsewhere, behave) = (redirect_target.url.clone(), kind.behave);
    let server = Server::start(move |stream, _, asked| {
        behave(&mut misbehaviour::Guest { stream, asked, wire, elsewhere: &elsewhere });
        hang_up(stream);
    });
    let (variable, url) = wire.base_url(&server);
    let provider = format!("{}:any", wire.provider());
    let arguments =
        ["run", "--agent", "ada", "--task", "Say hello.", "--speed", "max", "--json", "--provider", &provider];
    let launch = case.launch(&arguments).env(variable, url);
    let mut running = launch.start();
    let ended = match kind.comes_to {
        // It waits as the server asked, until it is interrupted.
        ComesTo::Waiting if !running.is_over_within(WAIT_BEFORE_INTERRUPT) => running.interrupt(),
        _ => running.wait(),
    };
    case.judge(&ended);
    case.count("servers", 1);
    case.count("connections", server.seen() as u64);

    let name = format!("{} over {}", kind.name, wire.provider());
    judge(case, &name, kind, server.seen(), &ended);
    if stolen.load(Ordering::SeqCst) > 0 {
        case.found(Fault::Escaped, format!("{name}: the key went to another server"));
    }
    for (place, text) in [("standard output", ended.out()), ("standard error", ended.errors())] {
        if text.contains(KEY) {
            case.found(Fault::Escaped, format!("{name}: the key stands in {place}"));
        }
        if let Some(control) = text.chars().find(|c| is_control(*c)) {
            case.found(Fault::Escaped, format!("{name}: {control:?} in {place}"));
        }
    }
    if let Some(place) = found_in_files(&case.workspace(), KEY.as_bytes()) {
        case.found(Fault::Escaped, format!("{name}: the key stands in {place}"));
    }
}

fn judge(case: &mut Case, name: &str, kind: &Misbehaviour, connections: usize, ended: &super::child::Ended) {
    let most = match kind.comes_to {
        ComesTo::Failure => Some(ATTEMPTS * (RETRIES + 1)),
        ComesTo::Answer => Some(ATTEMPTS * (RETRIES + 1) * TURNS),
        ComesTo::Waiting => None,
    };
    if let Some(most) = most.filter(|most| connections > *most) {
        case.found(Fault::Doubled, format!("{name}: one question made {connections} requests, {most} are allowed"));
    }
    if connections == 0 && !ended.timed_out {
        case.found(Fault::Lost, format!("{name}: nobody asked: {}", ended.last_words()));
    }
    let has_failed = kind.comes_to != ComesTo::Answer;
    if has_failed && !ended.timed_out && (ended.status.success() || ended.errors.is_empty()) {
        let code = ended.status.code();
        case.found(Fault::Silent, format!("{name}: ended with {code:?} and said {:?}", ended.last_words()));
    }
}

/// Characters that a terminal would execute instead of showing, or that reorder the shown text.
fn is_control(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}')
}

/// The target of redirects: answers correctly, and counts requests with an API key.
fn redirect_target(wire: Wire, stolen: &Arc<AtomicUsize>) -> Server {
    let stolen = stolen.clone();
    Server::start(move |stream, request, _| {
        stolen.fetch_add(usize::from(request.contains(KEY)), Ordering::SeqCst);
        let _ = stream.write_all(&wire.answer("Elsewhere.", &[]));
    })
}

/// Reads the rest of the request, so that closing the connection does not discard the answer.
fn hang_up(stream: &mut TcpStream) {
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
    let mut rest = [0; 4096];
    while stream.read(&mut rest).is_ok_and(|count| count > 0) {}
}
