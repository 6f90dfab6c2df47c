//! Replies and requests that are too long, over a real connection, and the session files that result.

use std::fs;
use std::io::Write;
use std::sync::{Arc, Mutex};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::hostile_server::{Server, calls_event, end_event, status, stream_of, text_event};
use crate::program::workshop;
use crate::working::{Studio, six_agents};

pub fn trials() -> Vec<Trial> {
    cases![
        a_truncated_reply_is_continued_and_joined,
        only_complete_calls_of_a_truncated_reply_are_made,
        a_request_that_exceeds_the_context_is_shortened_and_retried,
        an_agent_has_one_session_file_per_run_with_times_models_tokens_and_costs,
        a_session_file_of_an_older_version_is_continued_in_the_threads_file,
    ]
}

/// Starts a server that sends these answers in order. Returns it with the requests that it receives.
fn server(answers: Vec<Vec<Vec<u8>>>) -> (Server, Arc<Mutex<Vec<String>>>) {
    let received = Arc::new(Mutex::new(Vec::new()));
    let log = received.clone();
    let server = Server::start(move |stream, request, number| {
        log.lock().unwrap().push(request.to_owned());
        for piece in answers.get(number).or(answers.last()).into_iter().flatten() {
            let _ = stream.write_all(piece);
        }
    });
    (server, received)
}

/// Runs a task of the lead in a workspace whose models are at this server. Returns the folder, exit code, stdout and
/// stderr.
fn task(server: &Server, words: &str) -> (tempfile::TempDir, Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("settings.yaml", "kernel: { max_strikes: 2 }\n"),
        ("scenes/test.yaml", super::SCENE),
        ("agents/lead.md", "---\nbehaviour: stationary\n---\nYou lead.\n"),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let arguments = ["run", ".", "--only", "lead", "--task", words, "--speed", "max", "--provider", "openai"];
    let output = workshop(folder.path(), &arguments).env("OPENAI_BASE_URL", &server.url).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (folder, output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn a_truncated_reply_is_continued_and_joined() {
    let (server, requests) = server(vec![
        stream_of(&[text_event("One sen"), end_event("length")]),
        stream_of(&[text_event("tence. And "), end_event("length")]),
        stream_of(&[text_event("more."), end_event("stop")]),
    ]);
    let (_folder, code, result, stderr) = task(&server, "Say it.");
    assert_eq!((code, result.as_str()), (Some(0), "One sentence. And more.\n"), "{stderr}");
    let requests = requests.lock().unwrap();
    assert_eq!(requests.len(), 3);
    assert!(requests[1].contains("cut off at the limit of 8192 tokens") && !requests[1].contains("Progress check"));
}

fn only_complete_calls_of_a_truncated_reply_are_made() {
    let call = |index: u32, arguments: &str| {
        let function = json!({ "name": "vfs_write", "arguments": arguments });
        calls_event(json!([{ "index": index, "id": format!("c{index}"), "type": "function", "function": function }]))
    };
    let whole = call(0, "{\"path\":\"artifacts/a.md\",\"content\":\"whole\"}");
    let half = call(1, "{\"path\":\"artifacts/b.md\",\"content\":\"half");
    let (server, requests) = server(vec![
        stream_of(&[whole, half, end_event("length")]),
        stream_of(&[text_event("I see."), end_event("stop")]),
    ]);
    let (folder, code, result, stderr) = task(&server, "Write both.");
    assert_eq!((code, result.as_str()), (Some(0), "I see.\n"), "{stderr}");
    assert_eq!(fs::read_to_string(folder.path().join("artifacts/a.md")).unwrap(), "whole");
    assert!(!folder.path().join("artifacts/b.md").exists());
    let requests = requests.lock().unwrap();
    assert!(
        requests[1].contains("in the middle of this call") && requests[1].contains("vfs_append"),
        "{}",
        requests[1]
    );
}

fn a_request_that_exceeds_the_context_is_shortened_and_retried() {
    let refusal = json!({ "error": { "message": "This model's maximum context length is 2048 tokens.",
        "type": "invalid_request_error", "code": "context_length_exceeded" } });
    let refuse = || vec![status("400 Bad Request", "content-type: application/json\r\n", &refusal.to_string())];
    let (server, requests) =
        server(vec![refuse(), refuse(), stream_of(&[text_event("Short enough."), end_event("stop")])]);
    let words = format!("Read this: {}", "many words, ".repeat(2_000));
    let (_folder, code, result, stderr) = task(&server, &words);
    assert_eq!((code, result.as_str()), (Some(0), "Short enough.\n"), "{stderr}");
    let lengths: Vec<usize> = requests.lock().unwrap().iter().map(String::len).collect();
    assert!(lengths[0] > lengths[1] + 8_000 && lengths[1] > lengths[2] + 4_000, "{lengths:?}");
    assert!(requests.lock().unwrap()[2].contains("characters are shown"), "the request mentions the omission");
}

fn sessions(studio: &Studio) -> Vec<(String, Value)> {
    let entries = fs::read_dir(studio.folder.path().join("sessions")).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<(String, Value)> = entries
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            (path.file_name().unwrap().to_str().unwrap().to_owned(), serde_yaml::from_str(&text).unwrap())
        })
        .collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

fn an_agent_has_one_session_file_per_run_with_times_models_tokens_and_costs() {
    let mut studio = Studio::new(&six_agents(), &[]);
    studio.task("lead", "Write five things.");
    studio.idle();
    for _ in 0..3 {
        studio.tick();
    }
    let sessions = sessions(&studio);
    assert_eq!(
        sessions.len(),
        6,
        "one session for each agent: {:?}",
        sessions.iter().map(|one| &one.0).collect::<Vec<_>>()
    );
    let (name, lead) = sessions.iter().find(|(_, session)| session["agent_id"] == "lead").unwrap();
    let thread = lead["metadata"]["thread"].as_str().unwrap();
    assert_eq!(*name, format!("lead.{thread}.session.yaml"));
    assert!(!lead["metadata"]["earlier"].as_array().unwrap().is_empty(), "the lead was woken: {lead}");
    assert_eq!(lead["status"], "completed");
    let messages = lead["messages"].as_array().unwrap();
    let signals = messages.iter().filter(|one| one["content"].to_string().contains("Signal from")).count();
    assert_eq!(signals, 10, "each signal and each final answer appears once");
    let times: Vec<f64> =
        messages.iter().map(|one| one["metadata"]["secs"].as_f64().expect("each message has a time")).collect();
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]) && times.last() > times.first(), "{times:?}");
    assert!(messages.iter().all(|one| one["timestamp"].as_str().is_some_and(|time| time.starts_with("20"))), "{lead}");
    let replies: Vec<&Value> =
        messages.iter().filter(|one| one["role"] == "assistant").map(|one| &one["metadata"]).collect();
    assert!(replies.len() >= 2);
    for reply in &replies {
        assert!(reply["model"].as_str().is_some_and(|model| model.starts_with("scripted:")), "{reply}");
        assert!(reply["tokens_in"].as_u64() > Some(0) && reply["tokens_out"].is_u64(), "{reply}");
        assert_eq!(reply["cost_usd"], 0.0, "{reply}");
    }
    let token_sum: u64 =
        replies.iter().map(|one| one["tokens_in"].as_u64().unwrap() + one["tokens_out"].as_u64().unwrap()).sum();
    assert_eq!(lead["metadata"]["tokens"].as_u64(), Some(token_sum));
}

fn a_session_file_of_an_older_version_is_continued_in_the_threads_file() {
    let mut studio = Studio::new(&six_agents(), &[]);
    studio.task("lead", "Write five things.");
    studio.until("the lead was woken", |studio| {
        let kernel = studio.world().resource::<agent_workshop::kernel::Kernel>();
        kernel.activations().any(|one| &*one.agent == "lead" && one.key != one.thread)
    });
    studio.close();
    let folder = studio.folder.path().join("sessions");
    let (name, lead) = sessions(&studio).into_iter().find(|(_, session)| session["agent_id"] == "lead").unwrap();
    let activation = lead["metadata"]["activation"].as_str().unwrap().to_owned();
    assert_ne!(lead["metadata"]["thread"], lead["metadata"]["activation"], "{lead}");
    // An older version wrote one file per activation.
    let old = folder.join(format!("lead.{activation}.session.yaml"));
    let text = format!(
        "activation: {activation}\nagent: lead\nprofile: lead\nscene: scenes/test.yaml\nstatus: running\ntask: Write five \
         things.\nstarted_by: user\nmessages:\n- by: room\n  text: Write five things.\n"
    );
    fs::write(&old, text).unwrap();
    assert_eq!(studio.open_with(false), [], "no work is dropped");
    let head = fs::read_to_string(&old).unwrap();
    assert!(head.contains("status: continued\n") && head.contains(&name), "{}", &head[..300.min(head.len())]);
    studio.idle();
    studio.close();
    fs::remove_dir_all(studio.folder.path().join(".workshop")).unwrap();
    assert_eq!(studio.open_with(false), [], "the work is not reported as unfinished later");
}
