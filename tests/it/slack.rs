//! Slack over its Web API and a webhook, with a mock server: messages are received once and sent once, whatever the
//! server does, and no requests are made without a key.

use std::fs;
use std::path::Path;
use std::process::{Output, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use agent_workshop::gateway::settings::GatewaySettings;
use agent_workshop::gateway::slack::{
    SlackCommand, SlackEvent, SlackMessage, SlackPoll, SlackPost, SlackSettings, SlackTerms,
};
use agent_workshop::gateway::{Environment, ExternalCalls, GatewayEnvironment, Network};
use bevy::ecs::system::SystemState;
use bevy::ecs::world::World;
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cases;
use crate::hostile_server::{Server, status};
use crate::program::{PATIENCE, json_lines, workshop};
use crate::slack_server::{FakeSlack, Wrong};

pub fn trials() -> Vec<Trial> {
    cases![
        a_message_is_sent_with_an_id_for_recognising_it,
        without_an_answer_the_history_is_checked_before_resending,
        errors_from_slack_are_reported_with_a_remedy,
        an_invalid_answer_never_causes_a_second_message,
        the_token_is_sent_only_to_slack_or_the_configured_address,
        a_webhook_posts_only_to_its_channel_and_never_twice,
        every_new_message_is_read_once_over_all_pages,
        problems_with_reading_a_channel_are_reported,
        a_pump_receives_messages_and_sends_an_approved_reply,
        messages_arrive_at_once_while_watching,
        a_kill_during_a_send_does_not_cause_a_second_message,
        doctor_reports_the_slack_connection_and_tests_it_without_sending,
    ]
}

const TOKEN: &str = "xoxb-very-secret-token";

fn environment(api: &str) -> Environment {
    Environment::new([("SLACK_BOT_TOKEN", TOKEN.to_owned()), ("SLACK_API_BASE_URL", api.to_owned())], None)
}

fn hasty() -> GatewaySettings {
    GatewaySettings { retry_first_delay_secs: 0.01, attempts: 3, ..GatewaySettings::default() }
}

fn terms(settings: &SlackSettings) -> Box<SlackTerms> {
    Box::new(SlackTerms::of(&hasty(), settings))
}

fn quick() -> SlackSettings {
    SlackSettings { timeout_secs: 0.5, interval_secs: 0.1, first_look_back_secs: 3e7, ..SlackSettings::default() }
}

/// A world that only calls Slack.
struct SlackAlone(Mutex<World>);

impl SlackAlone {
    fn new(environment: Environment) -> Self {
        let mut world = World::new();
        world.init_resource::<Network>();
        world.insert_resource(GatewayEnvironment(environment));
        Self(Mutex::new(world))
    }
}

fn request(slack: &SlackAlone, command: SlackCommand) -> SlackEvent {
    let (sender, answer) = std::sync::mpsc::channel();
    let call = {
        let mut world = slack.0.lock().expect("no test panics while it sends");
        let mut calls = SystemState::<ExternalCalls>::new(&mut world);
        let calls = calls.get(&world).expect("its resources are there");
        calls.ask_slack(command, move |event| drop(sender.send(event))).expect("threads can be started")
    };
    let event = answer.recv_timeout(PATIENCE).expect("there is an answer");
    drop(call);
    event
}

fn send_message(slack: &SlackAlone, channel: &str, text: &str, settings: &SlackSettings) -> SlackPost {
    let message = SlackMessage { channel: channel.to_owned(), text: text.to_owned(), thread: None };
    match request(slack, SlackCommand::Send { id: "act-1/1/0/00".into(), message, terms: terms(settings) }) {
        SlackEvent::Posted { post, .. } => post,
        other => panic!("{other:?}"),
    }
}

fn post(environment: Environment, channel: &str) -> SlackPost {
    send_message(&SlackAlone::new(environment), channel, "Redis is <down> & out", &quick())
}

fn look_at(slack: &SlackAlone, channels: &[(&str, &str)]) -> SlackPoll {
    let channels = channels.iter().map(|(name, ts)| ((*name).to_owned(), (*ts).to_owned())).collect();
    match request(slack, SlackCommand::Look { channels, terms: terms(&quick()) }) {
        SlackEvent::Looked(look) => *look,
        other => panic!("{other:?}"),
    }
}

fn a_message_is_sent_with_an_id_for_recognising_it() {
    let slack = FakeSlack::start();
    let SlackPost::Sent { ts, .. } = post(environment(&slack.api()), "#ops") else {
        panic!("the message was not sent")
    };
    assert_eq!(ts.as_deref(), Some("9000000000.000001"));
    let state = slack.state();
    assert_eq!(state.posted.len(), 1);
    let posted = &state.posted[0];
    assert_eq!(posted["text"], "Redis is &lt;down&gt; &amp; out", "the text is escaped and mentions nobody");
    assert_eq!(posted["metadata"]["event_payload"]["id"], "act-1/1/0/00");
    assert_eq!(posted["client_msg_id"].as_str().map(str::len), Some(36));
    assert_eq!(state.tokens, [TOKEN]);
    drop(state);
    assert!(matches!(post(environment(&slack.api()), "@Sarah"), SlackPost::Sent { .. }), "a user is found by name");
    assert_eq!(slack.state().posted[1]["channel"], "U0000SAR1");
}

fn without_an_answer_the_history_is_checked_before_resending() {
    for (wrong, posts) in [
        // The server has the message, so it is not sent again.
        (Wrong::TakesAndHangsUp, 1),
        (Wrong::TakesAndIsSilent, 1),
        (Wrong::Says(status("500 Internal Server Error", "", "")), 2),
    ] {
        let slack = FakeSlack::start();
        slack.wrong("chat.postMessage", wrong.clone());
        let post = post(environment(&slack.api()), "#ops");
        assert!(matches!(&post, SlackPost::Sent { ts: Some(_), .. }), "{wrong:?}: {post:?}");
        assert_eq!(slack.posts(), 1, "{wrong:?}: the message arrived once");
        assert_eq!(slack.count("chat.postMessage"), posts, "{wrong:?}");
    }
    // If the history cannot be read, the message is not sent again.
    let slack = FakeSlack::start();
    slack.wrong("chat.postMessage", Wrong::TakesAndHangsUp);
    let refusal = json!({ "ok": false, "error": "missing_scope", "needed": "channels:history" }).to_string();
    slack.wrong("conversations.history", Wrong::Says(status("200 OK", "content-type: application/json\r\n", &refusal)));
    let post = post(environment(&slack.api()), "#ops");
    assert!(matches!(&post, SlackPost::Unknown { .. }), "{post:?}");
    assert_eq!((slack.posts(), slack.count("chat.postMessage")), (1, 1));
}

fn errors_from_slack_are_reported_with_a_remedy() {
    let slack = FakeSlack::start();
    let refusal = |code: &str| {
        let body = json!({ "ok": false, "error": code }).to_string();
        Wrong::Says(status("200 OK", "content-type: application/json\r\n", &body))
    };
    for (code, what, remedy) in [
        ("invalid_auth", "rejected the token", "SLACK_BOT_TOKEN"),
        ("not_in_channel", "not a member of #ops", "/invite"),
        ("channel_not_found", "cannot see a channel", "fix the name"),
        ("surprise", "surprise", "documentation"),
    ] {
        slack.wrong("chat.postMessage", refusal(code));
        let SlackPost::NotSent { what: reported, remedy: reported_remedy } = post(environment(&slack.api()), "#ops")
        else {
            panic!("{code}: the message was sent")
        };
        assert!(reported.contains(what) && reported_remedy.contains(remedy), "{code}: {reported}; {reported_remedy}");
    }
    assert_eq!((slack.posts(), slack.count("chat.postMessage")), (0, 4), "permanent errors are not retried");
    // Transient failures are waited for and retried.
    slack.wrong("chat.postMessage", Wrong::Says(status("429 Too Many Requests", "retry-after: 1\r\n", "")));
    let begun = Instant::now();
    assert!(matches!(post(environment(&slack.api()), "#ops"), SlackPost::Sent { .. }));
    assert!(begun.elapsed() >= Duration::from_secs(1), "the retry delay is a second");
    slack.wrong("chat.postMessage", refusal("ratelimited"));
    assert!(matches!(post(environment(&slack.api()), "#ops"), SlackPost::Sent { .. }));
    slack.wrong("chat.postMessage", Wrong::Says(status("429 Too Many Requests", "retry-after: 3600\r\n", "")));
    let SlackPost::NotSent { what, .. } = post(environment(&slack.api()), "#ops") else {
        panic!("a delay of an hour is not waited for")
    };
    assert!(what.contains("rate limiting"), "{what}");
}

fn an_invalid_answer_never_causes_a_second_message() {
    let huge = status(
        "200 OK",
        "content-type: application/json\r\n",
        &format!("{{\"ok\":true,\"x\":\"{}\"}}", "x".repeat(9 << 20)),
    );
    let json_head = "content-type: application/json\r\n";
    for (name, answer) in [
        ("an empty answer", status("200 OK", json_head, "")),
        ("half an answer", b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"ok\":true,\"ts\":\"1".to_vec()),
        ("another shape", status("200 OK", json_head, "[1, 2]")),
        ("no ok", status("200 OK", json_head, "{\"ts\":\"1.5\"}")),
        ("an odd ok", status("200 OK", json_head, "{\"ok\":\"yes\"}")),
        ("a web page", status("200 OK", "content-type: text/html\r\n", "<html>Welcome</html>")),
        ("a huge answer", huge),
        ("no HTTP", b"hello\r\n\r\n".to_vec()),
    ] {
        let slack = FakeSlack::start();
        // The client cannot know whether the message arrived; here it did not, as the history shows.
        slack.wrong("chat.postMessage", Wrong::Says(answer));
        let post = post(environment(&slack.api()), "#ops");
        let posted = slack.posts();
        assert!(matches!(post, SlackPost::Unknown { .. } | SlackPost::Sent { .. }) && posted <= 1, "{name}: {post:?}");
    }
    let nobody = post(environment("http://127.0.0.1:9/"), "#ops");
    assert!(matches!(&nobody, SlackPost::NotSent { what, .. } if what.contains("nothing listens")), "{nobody:?}");
    let slack = FakeSlack::start();
    for _ in 0..3 {
        slack.wrong("chat.postMessage", Wrong::HangsUp);
    }
    let silent = post(environment(&slack.api()), "#ops");
    assert!(matches!(silent, SlackPost::Unknown { .. }), "{silent:?}");
}

fn the_token_is_sent_only_to_slack_or_the_configured_address() {
    let elsewhere = FakeSlack::start();
    let slack = FakeSlack::start();
    let redirect = status("307 Temporary Redirect", &format!("location: {}chat.postMessage\r\n", elsewhere.api()), "");
    slack.wrong("chat.postMessage", Wrong::Says(redirect));
    let SlackPost::NotSent { what, .. } = post(environment(&slack.api()), "#ops") else {
        panic!("the redirect was followed")
    };
    assert!(what.contains("redirects"), "{what}");
    assert!(elsewhere.asked() == 0);
    let SlackPost::NotSent { what, .. } = post(environment("http://slack.example/api/"), "#ops") else {
        panic!("the token was sent unencrypted")
    };
    assert!(what.contains("neither encrypted nor local"), "{what}");
    // The server's answers never reveal the key.
    let echo = json!({ "ok": false, "error": format!("bad {TOKEN}") }).to_string();
    slack.wrong("chat.postMessage", Wrong::Says(status("200 OK", "", &echo)));
    let post = format!("{:?}", post(environment(&slack.api()), "#ops"));
    assert!(post.contains("[redacted]") && !post.contains("very-secret"), "{post}");
}

fn a_webhook_posts_only_to_its_channel_and_never_twice() {
    let slack = FakeSlack::start();
    let hook = || Environment::new([("SLACK_WEBHOOK_URL", slack.webhook())], None);
    let of = |channel: Option<&str>| SlackSettings { webhook_channel: channel.map(str::to_owned), ..quick() };
    let sent = |to: &str, own: Option<&str>| send_message(&SlackAlone::new(hook()), to, "Hi <all>", &of(own));
    for (to, own) in [("#ops", None), ("#secret", Some("#ops"))] {
        assert!(matches!(sent(to, own), SlackPost::NotSent { .. }), "{to} {own:?}");
    }
    assert!(slack.asked() == 0);
    assert!(matches!(sent("ops", Some("#Ops")), SlackPost::Sent { ts: None, .. }));
    assert_eq!(slack.state().posted[0]["text"], "Hi &lt;all&gt;");
    // A webhook has no history: without an answer, nothing is sent again.
    slack.wrong("verysecret", Wrong::TakesAndHangsUp);
    assert!(matches!(sent("#ops", Some("#ops")), SlackPost::Unknown { .. }));
    assert_eq!((slack.posts(), slack.count("verysecret")), (2, 2));
    slack.wrong("verysecret", Wrong::Says(status("429 Too Many Requests", "retry-after: 0\r\n", "")));
    assert!(matches!(sent("#ops", Some("#ops")), SlackPost::Sent { .. }));
    slack.wrong("verysecret", Wrong::Says(status("404 Not Found", "", "no_service")));
    let SlackPost::NotSent { what, remedy } = sent("#ops", Some("#ops")) else {
        panic!("the deleted webhook accepted a message")
    };
    assert!(what.contains("webhook no longer exists") && remedy.contains("SLACK_WEBHOOK_URL"), "{what}; {remedy}");
}

fn every_new_message_is_read_once_over_all_pages() {
    let slack = FakeSlack::start();
    for number in 1..=5 {
        slack.say(&format!("8000000000.00000{number}"), "U0000SAR1", &format!("<@U0000SAR1> {number} &amp; more"));
    }
    let join = json!({ "ts": "8000000000.000006", "subtype": "channel_join", "text": "joined" });
    let own = json!({ "ts": "8000000000.000007", "user": "U0000BOT1", "text": "mine" });
    slack.state().messages.extend([join, own]);
    let alone = SlackAlone::new(environment(&slack.api()));
    let look = look_at(&alone, &[("#ops", "")]);
    let texts: Vec<&str> = look.arrived.iter().map(|arrival| arrival.text.as_str()).collect();
    let all: Vec<String> = (1..=5).map(|number| format!("@Sarah {number} & more")).collect();
    assert_eq!(texts, all.iter().map(String::as_str).collect::<Vec<_>>(), "{look:?}");
    assert!(look.arrived.iter().all(|arrival| arrival.from == "Sarah" && arrival.channel == "#ops"));
    assert!(slack.count("conversations.history") >= 3, "all pages were read");
    let seen = look.seen["#ops"].clone();
    assert_eq!(seen, "8000000000.000007");
    assert_eq!(look_at(&alone, &[("#ops", &seen)]).arrived, [], "no message is read twice");
    slack.say("8000000001.000000", "U0000SAR1", "new");
    let look = look_at(&alone, &[("#ops", &seen)]);
    assert_eq!(look.arrived.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["new"]);
    assert_eq!((slack.count("users.info"), slack.count("conversations.list")), (1, 1), "names are requested once");
}

fn problems_with_reading_a_channel_are_reported() {
    let slack = FakeSlack::start();
    slack.say("8000000000.000001", "U0000SAR1", "hi");
    let alone = SlackAlone::new(environment(&slack.api()));
    let look = look_at(&alone, &[("#nowhere", ""), ("#ops", "")]);
    assert_eq!((look.arrived.len(), look.troubles.len()), (1, 1), "the other channels are read: {look:?}");
    assert!(look.troubles[0].what.contains("#nowhere"), "{look:?}");
    slack.wrong("conversations.history", Wrong::HangsUp);
    let look = look_at(&alone, &[("#ops", "")]);
    assert!(look.arrived.is_empty() && look.troubles.len() == 1, "{look:?}");
    assert_eq!(look_at(&alone, &[("#ops", "")]).arrived.len(), 1, "the channel is read at the next attempt");
    for invalid in
        ["{\"ok\":true,\"messages\":\"none\"}", "{\"ok\":true,\"messages\":[1,null,{\"ts\":5}]}", "{\"ok\":true}"]
    {
        slack.wrong(
            "conversations.history",
            Wrong::Says(status("200 OK", "content-type: application/json\r\n", invalid)),
        );
        assert_eq!(look_at(&alone, &[("#ops", "")]), SlackPoll::default(), "{invalid}");
    }
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0], behaviour: stationary }\n";
const LEAD: &str = "---\nagent_type: planner\ntools: [slack_read, slack_send]\n---\nYou lead.\n";
const SCRIPT: &str = r##"
latency: 0.1
agents:
  lead:
    - when: { contains: "whether it was sent is unknown" }
      text: "I leave it."
    - when: { contains: "Is Redis up?" }
      tools: [ { name: slack_send, arguments: { channel: "#ops", text: "Redis is down.", thread_ts: "8000000000.000001" } } ]
default: [ { text: "Noted." } ]
"##;

fn room() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("settings.yaml", "slack: { channels: ['#ops'], interval_secs: 0.2 }\n"),
        ("scenes/test.yaml", SCENE),
        ("agents/lead.md", LEAD),
        ("script.yaml", SCRIPT),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn run(room: &Path, slack: &FakeSlack, arguments: &[&str]) -> Output {
    let mut command = workshop(room, arguments);
    command.env("SLACK_BOT_TOKEN", TOKEN).env("SLACK_API_BASE_URL", slack.api()).output().unwrap()
}

const PUMP: [&str; 6] = ["daemon", "--pump", "--provider", "scripted:script.yaml", "--events", "-"];

fn allow(room: &Path) {
    let file = room.join("tasks/approvals.task.md");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("#ops") && text.contains("Redis is down."), "the approval shows the whole text: {text}");
    fs::write(&file, text.replace("- [ ] A @human", "- [x] A @human")).unwrap();
}

fn a_pump_receives_messages_and_sends_an_approved_reply() {
    let slack = FakeSlack::start();
    let room = room();
    slack.say("8000000000.000001", "U0000SAR1", "Is Redis up?");
    let first = run(room.path(), &slack, &PUMP);
    let stderr = String::from_utf8_lossy(&first.stderr).into_owned();
    assert_eq!(first.status.code(), Some(4), "{stderr}");
    let inbox = fs::read_to_string(room.path().join("inbox/slack-messages.jsonl")).unwrap();
    let line: Value = serde_json::from_str(inbox.trim()).unwrap();
    assert_eq!(
        (&line["from"], &line["channel"], &line["text"]),
        (&json!("Sarah"), &json!("#ops"), &json!("Is Redis up?"))
    );
    assert!(slack.posts() == 0, "nobody has approved the reply");
    allow(room.path());
    let second = run(room.path(), &slack, &PUMP);
    let events = json_lines(&String::from_utf8_lossy(&second.stdout));
    assert!(events.iter().any(|event| event["type"] == "tool_result" && event["data"]["ok"] == true), "{events:#?}");
    assert_eq!(slack.posts(), 1);
    assert_eq!(slack.state().posted[0]["thread_ts"], "8000000000.000001");
    let outbox = fs::read_to_string(room.path().join("outbox/slack-messages.jsonl")).unwrap();
    let line: Value = serde_json::from_str(outbox.trim()).unwrap();
    assert_eq!((&line["state"], &line["ts"]), (&json!("sent"), &json!("9000000000.000001")));
    let before = (inbox, outbox);
    for _ in 0..3 {
        run(room.path(), &slack, &PUMP);
    }
    let read = |path: &str| fs::read_to_string(room.path().join(path)).unwrap();
    assert_eq!(
        (read("inbox/slack-messages.jsonl"), read("outbox/slack-messages.jsonl")),
        before,
        "nothing is received or sent twice"
    );
    assert_eq!(slack.posts(), 1);
    // Incoming messages are inputs: a replay makes no requests.
    let runs = events.iter().find_map(|event| event["run"].as_str().map(str::to_owned)).unwrap();
    let request_count = slack.asked();
    let replay = run(room.path(), &slack, &["replay", &runs, "--verify"]);
    assert!(replay.status.success(), "{}", String::from_utf8_lossy(&replay.stderr));
    assert_eq!(slack.asked(), request_count);
    // Without a key no requests are made.
    let quiet = workshop(room.path(), &PUMP).env("SLACK_API_BASE_URL", slack.api()).output().unwrap();
    assert_eq!((quiet.status.code(), slack.asked()), (Some(0), request_count));
}

fn messages_arrive_at_once_while_watching() {
    let slack = FakeSlack::start();
    let room = room();
    let mut command = workshop(room.path(), &["daemon", "--watch", "--provider", "scripted:script.yaml"]);
    command.env("SLACK_BOT_TOKEN", TOKEN).env("SLACK_API_BASE_URL", slack.api());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let wait_for = |what: &str, is_so: &dyn Fn() -> bool| {
        let until = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < until, "{what}");
            std::thread::yield_now();
        }
    };
    wait_for("the channel is polled", &|| slack.count("conversations.history") >= 2);
    let inbox = room.path().join("inbox/slack-messages.jsonl");
    let lines = || fs::read_to_string(&inbox).unwrap_or_default().lines().count();
    assert_eq!(lines(), 0);
    for (number, text) in ["Is Redis up?", "And Kafka?"].into_iter().enumerate() {
        slack.say(&format!("8000000000.00000{}", number + 1), "U0000SAR1", text);
        wait_for("the message arrives", &|| lines() == number + 1);
    }
    wait_for("the approval is requested", &|| {
        fs::read_to_string(room.path().join("tasks/approvals.task.md")).is_ok_and(|text| text.contains("#ops"))
    });
    child.kill().unwrap();
    child.wait().unwrap();
}

fn a_kill_during_a_send_does_not_cause_a_second_message() {
    let slack = FakeSlack::start();
    let room = room();
    slack.say("8000000000.000001", "U0000SAR1", "Is Redis up?");
    run(room.path(), &slack, &PUMP);
    allow(room.path());
    slack.wrong("chat.postMessage", Wrong::TakesAndIsSilent);
    let mut command = workshop(room.path(), &PUMP);
    command.env("SLACK_BOT_TOKEN", TOKEN).env("SLACK_API_BASE_URL", slack.api());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + PATIENCE;
    while slack.count("chat.postMessage") == 0 && Instant::now() < until {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let next = run(room.path(), &slack, &PUMP);
    let events = String::from_utf8_lossy(&next.stdout).into_owned();
    assert!(events.contains("whether it was sent is unknown"), "{events}");
    for _ in 0..3 {
        run(room.path(), &slack, &PUMP);
    }
    assert_eq!((slack.posts(), slack.count("chat.postMessage")), (1, 1), "the message is not sent again by itself");
    let outbox = fs::read_to_string(room.path().join("outbox/slack-messages.jsonl")).unwrap();
    let line: Value = serde_json::from_str(outbox.trim()).unwrap();
    assert_eq!(line["state"], "unknown");
}

fn doctor_reports_the_slack_connection_and_tests_it_without_sending() {
    let slack = FakeSlack::start();
    let room = room();
    let stdout = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let without = workshop(room.path(), &["doctor"]).output().unwrap();
    assert!(stdout(&without).contains("through files"), "{}", stdout(&without));
    // Several scenes: each is opened, which leaves time for a request.
    for copy in 1..=20 {
        fs::write(room.path().join(format!("scenes/test-{copy}.yaml")), SCENE).unwrap();
    }
    let with = run(room.path(), &slack, &["doctor"]);
    assert!(stdout(&with).contains("Web API"), "{}", stdout(&with));
    assert!(slack.state().calls.is_empty(), "{:?}", slack.state().calls);
    let tried = run(room.path(), &slack, &["doctor", "--slack"]);
    assert!(stdout(&tried).contains("workshop in the team Acme"), "{}", stdout(&tried));
    assert!(stdout(&tried).contains("#ops: it can be read"), "{}", stdout(&tried));
    let mut hook = workshop(room.path(), &["doctor", "--slack"]);
    let hook = hook.env("SLACK_WEBHOOK_URL", slack.webhook()).output().unwrap();
    assert!(stdout(&hook).contains("webhook") && !stdout(&hook).contains("verysecret"), "{}", stdout(&hook));
    assert!(slack.posts() == 0);
    let deleted = Server::saying(vec![status("404 Not Found", "", "no_service")]);
    let mut hook = workshop(room.path(), &["doctor", "--slack"]);
    let hook = hook.env("SLACK_WEBHOOK_URL", &deleted.url).output().unwrap();
    assert_eq!(hook.status.code(), Some(1), "{}", stdout(&hook));
}
