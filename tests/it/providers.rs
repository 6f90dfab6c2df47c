//! Failing models, as reported at the end of an unattended run: once, with the reason and a remedy.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use serde_json::Value;

use crate::cases;
use crate::cli::{succeed, workshop};
use crate::hostile_server::{NOBODY, Server, calls_event, end_event, status, stream_of, text_event};

pub fn trials() -> Vec<Trial> {
    cases![
        a_failing_model_is_reported_once_with_reason_and_remedy,
        an_address_from_the_workspace_is_used_only_with_permission,
        caps_count_attempts_and_the_log_matches_the_totals,
        retry_delays_are_respected_at_every_speed,
        a_broken_server_gets_no_more_requests_than_the_attempts_of_one_call,
        a_failed_read_is_tried_less_and_less_often_and_the_room_continues_once_the_server_works,
        a_server_that_is_not_running_is_reported_at_once,
        requests_run_in_parallel_at_full_speed_too,
        cached_tokens_are_reported_by_provider,
        a_machine_without_certificate_authorities_reaches_servers,
    ]
}

/// Runs a room for ten seconds with a failing provider and one attempt per request.
fn run_room(folder: &Path, provider: &str, variables: &[(&str, &str)]) -> Output {
    succeed(folder, &["init", "."]);
    fs::write(folder.join("settings.yaml"), "gateway: { max_attempts: 1, stall_timeout_secs: 0.3 }\n").unwrap();
    let run = ["run", "--scene", "newsroom", "--provider", provider, "--for", "10s", "--speed", "max", "--json"];
    workshop(folder, &run).envs(variables.iter().copied()).output().unwrap()
}

fn stderr_and_result(output: &Output) -> (String, Value) {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let result = String::from_utf8_lossy(&output.stdout).into_owned();
    let result = result.lines().rev().find(|line| line.starts_with('{')).unwrap_or_else(|| panic!("{stderr}"));
    (stderr, serde_json::from_str(result).unwrap())
}

fn an_address_from_the_workspace_is_used_only_with_permission() {
    let (folder, config) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = folder.path();
    succeed(folder, &["init", "."]);
    fs::write(
        folder.join("settings.yaml"),
        "gateway: { provider: openai, base_urls: { openai: \"https://models.invalid/v1\" } }\n",
    )
    .unwrap();
    let run = |arguments: &[&str]| {
        let mut command = workshop(folder, arguments);
        command.env("WORKSHOP_CONFIG_DIR", config.path()).env("OPENAI_API_KEY", "sk-person-1234567890");
        command.output().unwrap()
    };
    let run_room = ["run", "--scene", "newsroom", "--for", "20s", "--speed", "max", "--json"];
    let (stderr, result) = stderr_and_result(&run(&run_room));
    assert!(stderr.contains("you have not allowed it") && stderr.contains("workshop allow-address"), "{stderr}");
    assert_eq!(result["calls"], 0, "no request was made: {result}");
    let doctor = |run: Output| String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(doctor(run(&["doctor"])).contains("allow-address https://models.invalid"));
    assert!(run(&["allow-address", "https://models.invalid/v1", "."]).status.success());
    let now = doctor(run(&["doctor"]));
    assert!(now.contains("OPENAI_API_KEY is set; uses https://models.invalid/v1/"), "{now}");
    assert!(!fs::read_dir(folder).unwrap().flatten().any(|entry| entry.file_name() == "allowed-addresses.yaml"));
}

/// Runs one task of one agent with this server and these settings. Returns stderr, the result and the logged events.
fn work_at(url: &str, settings: &str) -> (String, Value, Vec<Value>) {
    work_with(&[("OPENAI_BASE_URL", url)], settings)
}

/// Runs one task of one agent with these variables and settings. Returns stderr, the result and the logged events.
fn work_with(variables: &[(&str, &str)], settings: &str) -> (String, Value, Vec<Value>) {
    let (folder, config) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = folder.path();
    fs::create_dir_all(folder.join("scenes")).unwrap();
    fs::create_dir_all(folder.join("agents")).unwrap();
    fs::write(folder.join("settings.yaml"), settings).unwrap();
    fs::write(folder.join("agents/lead.md"), "You lead.\n").unwrap();
    let scene = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0] }\n";
    fs::write(folder.join("scenes/test.yaml"), scene).unwrap();
    let run = ["run", "--agent", "lead", "--task", "Say it.", "--provider", "openai", "--speed", "max", "--json"];
    let mut command = workshop(folder, &run);
    command
        .env("WORKSHOP_CONFIG_DIR", config.path())
        .env("OPENAI_API_KEY", "sk-1234567890")
        .envs(variables.iter().copied());
    let (stderr, result) = stderr_and_result(&command.output().unwrap());
    let events = succeed(folder, &["export", "--events", "-"]);
    (stderr, result, events.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn caps_count_attempts_and_the_log_matches_the_totals() {
    let silent = |head: &'static str| {
        Server::start(move |stream, _, _| {
            drop(std::io::Write::write_all(stream, head.as_bytes()));
            drop(std::io::Read::read(stream, &mut [0]));
        })
    };
    let started_answer = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n\
                 data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I will\"}}]}\n\n";
    for (server, requests) in [(silent(""), 2), (silent(started_answer), 1)] {
        let settings = "budget: { calls_per_run: 2 }\n\
                        gateway: { stall_timeout_secs: 0.3, min_retry_delay_secs: 0.02 }\n\
                        prices: { openai: { in: 1, out: 2 } }\n";
        let (stderr, result, events) = work_at(&server.url, settings);
        assert_eq!(server.seen(), requests, "{stderr}");
        assert_eq!(result["calls"].as_u64(), Some(requests as u64), "{result}");
        let calls = events.iter().filter(|event| event["type"] == "model_call").map(|event| &event["data"]);
        let (mut tokens, mut usd) = (0, 0.0);
        for call in calls {
            assert_eq!(call["estimated"], true, "{call}");
            tokens += call["tokens_in"].as_u64().unwrap() + call["tokens_out"].as_u64().unwrap();
            usd += call["cost_usd"].as_f64().unwrap();
        }
        assert_eq!(result["tokens"].as_u64(), Some(tokens), "{result}");
        assert!((result["cost_usd"].as_f64().unwrap() - usd).abs() < 1e-9 && usd > 0.0, "{result}");
    }
}

fn retry_delays_are_respected_at_every_speed() {
    let server = Server::start(|stream, _, number| {
        let answer = if number < 3 {
            vec![status("429 Too Many Requests", "retry-after: 1\r\n", "slow down")]
        } else {
            stream_of(&[text_event("Said."), end_event("stop")])
        };
        answer.iter().for_each(|piece| drop(std::io::Write::write_all(stream, piece)));
    });
    let began = Instant::now();
    let (stderr, result, _) = work_at(&server.url, "gateway: { max_attempts: 1 }\n");
    assert_eq!(server.seen(), 4, "{stderr}");
    assert!(
        began.elapsed() >= Duration::from_secs(3),
        "there are three retry delays of a second: {:?}",
        began.elapsed()
    );
    assert_eq!(result["provider_faults"], serde_json::json!([]), "{result}");
    assert_eq!(stderr.lines().filter(|line| line.contains("answered 429")).count(), 1, "{stderr}");
}

/// Retries are not nested: a transient failure is retried in one place only, and then the work fails.
fn a_broken_server_gets_no_more_requests_than_the_attempts_of_one_call() {
    for (line, requests) in [("503 Service Unavailable", 4), ("500 Internal Server Error", 4), ("404 Not Found", 1)] {
        let server = Server::saying(vec![status(line, "", "no")]);
        let (stderr, result, _) = work_at(&server.url, "gateway: { min_retry_delay_secs: 0.02 }\n");
        assert_eq!(server.seen(), requests, "{line}: {stderr}");
        assert_eq!(result["ended"], "failed", "{line}: {result}");
    }
}

/// The gateway makes a few attempts for a read, and the agent treats them as one failure.
fn a_failed_read_is_tried_less_and_less_often_and_the_room_continues_once_the_server_works() {
    let (folder, config) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = folder.path();
    fs::create_dir_all(folder.join("scenes")).unwrap();
    fs::create_dir_all(folder.join("agents")).unwrap();
    fs::write(folder.join("settings.yaml"), "gateway: { min_retry_delay_secs: 0.02 }\n").unwrap();
    fs::write(folder.join("agents/ada.md"), "---\nname: Ada\nbehaviour: stationary\n---\nYou read.\n").unwrap();
    let write_news = |text: &str| {
        let scene = format!(
            "name: Test\nseed: 3\nelements:\n  - {{ id: news, kind: messageboard, label: News, position: [60, 0], \
             text: {text} }}\nagents:\n  - {{ id: ada, profile: ada, position: [0, 0] }}\n"
        );
        fs::write(folder.join("scenes/test.yaml"), scene).unwrap();
    };
    let works = Arc::new(AtomicBool::new(false));
    let is_working = works.clone();
    let server = Server::start(move |stream, _, _| {
        let answer = match is_working.load(Ordering::SeqCst) {
            true => stream_of(&[text_event("Noted."), end_event("stop")]),
            false => vec![status("503 Service Unavailable", "", "no")],
        };
        answer.iter().for_each(|piece| drop(std::io::Write::write_all(stream, piece)));
    });
    let run_room = |time: &str| {
        let mut command = workshop(folder, &["run", "--provider", "openai", "--for", time, "--speed", "max", "--json"]);
        command
            .env("WORKSHOP_CONFIG_DIR", config.path())
            .env("OPENAI_BASE_URL", &server.url)
            .env("OPENAI_API_KEY", "sk-1234567890");
        stderr_and_result(&command.output().unwrap())
    };
    write_news("Rain.");
    let (stderr, result) = run_room("10m");
    // After 10, 20, 40, 80, 160 and 300 seconds, each with four attempts.
    let seen = server.seen();
    assert!((8..=28).contains(&seen), "it is tried less and less often, not {seen} times: {stderr} {result}");
    works.store(true, Ordering::SeqCst);
    write_news("Sun.");
    let (stderr, result) = run_room("2m");
    assert!(server.seen() > seen, "the changed element is read: {stderr} {result}");
    assert_eq!(result["provider_faults"], serde_json::json!([]), "{stderr} {result}");
}

fn a_server_that_is_not_running_is_reported_at_once() {
    let began = Instant::now();
    // With these delays, a second attempt would follow after two minutes.
    let settings =
        "gateway: { min_retry_delay_secs: 120, max_retry_delay_secs: 300, max_total_retry_delay_secs: 900 }\n";
    let (stderr, result, _) = work_at(&format!("http://{NOBODY}/v1"), settings);
    assert!(began.elapsed() < Duration::from_secs(45), "{:?}", began.elapsed());
    assert!(stderr.contains("openai is not running at http://127.0.0.1"), "{stderr}");
    assert!(stderr.contains("no server listens there") && stderr.contains("start the server"), "{stderr}");
    assert_eq!(result["calls"], 1, "{result}");
}

/// Three agents work in parallel and each waits a second for a model; the clock continues in the meantime.
fn requests_run_in_parallel_at_full_speed_too() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (in_flight, seen) = (now.clone(), most.clone());
    let server = Server::start(move |stream, request, _| {
        seen.fetch_max(in_flight.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let call = |number: usize| {
            let arguments = serde_json::json!({ "filename": format!("kid-{number}.md"),
                "content": format!("You are number {number}."), "task": format!("Say {number}.") });
            let function = serde_json::json!({ "name": "spawn_agent", "arguments": arguments.to_string() });
            serde_json::json!({ "index": number, "id": format!("c{number}"), "function": function })
        };
        let is_lead = request.contains("You lead.") && !request.contains("\"tool_calls\"");
        let answer = if is_lead {
            let calls = (0..3).map(call).collect();
            stream_of(&[calls_event(serde_json::Value::Array(calls)), end_event("tool_calls")])
        } else {
            // Reading with a timeout is a pause, because there is nothing to read.
            drop(stream.set_read_timeout(Some(Duration::from_secs(1))));
            drop(std::io::Read::read(stream, &mut [0]));
            stream_of(&[text_event("Said."), end_event("stop")])
        };
        // Counted as ended before the answer, because the client may send its next request at once.
        in_flight.fetch_sub(1, Ordering::SeqCst);
        answer.iter().for_each(|piece| drop(std::io::Write::write_all(stream, piece)));
    });
    let (stderr, result, _) = work_at(&server.url, "");
    assert_eq!(result["ended"], "done", "{stderr} {result}");
    // On a busy computer, the first of them ends so early that a request that follows is in flight as well.
    let most = most.load(Ordering::SeqCst);
    assert!(most >= 3, "all three requests are in flight at once, not {most}: {stderr}");
}

fn cached_tokens_are_reported_by_provider() {
    let server = Server::start(|stream, _, _| {
        let usage = serde_json::json!({ "prompt_tokens": 1_000, "completion_tokens": 5,
            "prompt_tokens_details": { "cached_tokens": 600 } });
        let delta =
            serde_json::json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }], "usage": usage });
        let end = format!("data: {delta}\n\ndata: [DONE]\n\n");
        let answer = stream_of(&[text_event("Said."), end]);
        answer.iter().for_each(|piece| drop(std::io::Write::write_all(stream, piece)));
    });
    let (_, result, _) = work_at(&server.url, "prices: { openai: { in: 1, cached: 0.5, out: 2 } }\n");
    let openai = &result["providers"]["openai"];
    let numbers =
        ["calls", "tokens_in", "cached_tokens", "tokens_out", "cost_micro_usd"].map(|key| openai[key].as_u64());
    assert_eq!(numbers, [Some(1), Some(1_000), Some(600), Some(5), Some(400 + 300 + 10)], "{result}");
}

fn a_failing_model_is_reported_once_with_reason_and_remedy() {
    let refusing = |line: &'static str| Server::saying(vec![status(line, "", "no")]);
    let nobody = format!("http://{NOBODY}/v1");
    let (bad_key, no_model, busy, broken) = (
        refusing("401 Unauthorized"),
        refusing("404 Not Found"),
        refusing("429 Too Many Requests"),
        refusing("503 Service Unavailable"),
    );
    let silent = Server::start(|stream, _, _| drop(std::io::Read::read(stream, &mut [0])));
    let cases: [(&str, Vec<(&str, &str)>, &str, &str); 7] = [
        ("openai", vec![], "there is no key for openai", "set OPENAI_API_KEY"),
        ("openai", vec![("OPENAI_BASE_URL", &bad_key.url)], "the key was rejected", "set OPENAI_API_KEY"),
        ("openai", vec![("OPENAI_BASE_URL", &nobody)], "no server listens there", "start the server"),
        ("openai:gpt-none", vec![("OPENAI_BASE_URL", &no_model.url)], "no model \"gpt-none\"", "has the model"),
        (
            "openai",
            vec![("OPENAI_BASE_URL", &busy.url)],
            "too many requests",
            "wait, lower gateway.max_concurrent_requests",
        ),
        ("openai", vec![("OPENAI_BASE_URL", &broken.url)], "answered 503", "try again later"),
        ("openai", vec![("OPENAI_BASE_URL", &silent.url)], "sent nothing", "gateway.total_timeout_secs"),
    ];
    for (provider, variables, why, remedy) in cases {
        let folder = tempfile::tempdir().unwrap();
        let config = tempfile::tempdir().unwrap();
        let config = config.path().display().to_string();
        let variables: Vec<_> = variables.into_iter().chain([("WORKSHOP_CONFIG_DIR", config.as_str())]).collect();
        let output = run_room(folder.path(), provider, &variables);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let problems: Vec<&str> = stderr.lines().filter(|line| line.starts_with("problem:")).collect();
        assert_eq!(problems.len(), 1, "{why}: {stderr}");
        assert!(problems[0].contains(why) && problems[0].contains(remedy), "{why}: {stderr}");
        let result = String::from_utf8_lossy(&output.stdout).into_owned();
        let result: Value = serde_json::from_str(result.lines().last().unwrap()).unwrap();
        let [fault] = &result["provider_faults"].as_array().unwrap()[..] else { panic!("{result}") };
        assert!(fault["what"].as_str().unwrap().contains(why), "{fault}");
        assert!(fault["failures"].as_u64().unwrap() >= 1 && fault["since_ms"].is_u64(), "{fault}");
    }
}

/// The variables of a machine like a minimal container: the system's folder of certificate authorities is empty.
fn without_authorities(folder: &Path) -> [(&str, String); 2] {
    let nothing = folder.join("none.pem");
    fs::write(&nothing, "").unwrap();
    [("SSL_CERT_FILE", nothing.to_string_lossy().into_owned()), ("SSL_CERT_DIR", folder.to_string_lossy().into_owned())]
}

fn a_machine_without_certificate_authorities_reaches_servers() {
    let folder = tempfile::tempdir().unwrap();
    let none = without_authorities(folder.path());
    let server = Server::start(|stream, _, _| {
        let answer = stream_of(&[text_event("Said."), end_event("stop")]);
        answer.iter().for_each(|piece| drop(std::io::Write::write_all(stream, piece)));
    });
    let mut variables = vec![("OPENAI_BASE_URL", server.url.as_str())];
    variables.extend(none.iter().map(|(name, value)| (*name, value.as_str())));
    let (stderr, result, _) = work_with(&variables, "gateway: { max_attempts: 1 }\n");
    assert_eq!((server.seen(), result["calls"].as_u64()), (1, Some(1)), "{stderr}");
    let doctor = workshop(folder.path(), &["doctor"]).envs(none).output().unwrap();
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(text.contains("no certificate authorities"), "{text}");
}
