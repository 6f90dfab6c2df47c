//! Collaboration of agents: channel messages are delivered once, a run shares values on its blackboard, and delegated
//! tasks return their results.

use agent_workshop::agent::Roster;
use agent_workshop::gateway::RequestQueue;
use agent_workshop::kernel::Kernel;
use agent_workshop::orchestration::{ArchivedEntry, Blackboards, BoardArchive, Channels, CollaborationCommand};
use agent_workshop::schedule::InputQueue;
use agent_workshop::simulation::{Position, State, TaskCommand};
use agent_workshop::workspace::save_now;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::working::Studio;
use crate::workshop::{Setup, Workshop};

pub fn trials() -> Vec<Trial> {
    cases![
        a_finished_subscriber_is_woken_by_a_message,
        an_idle_subscriber_is_called_and_gets_the_message_with_its_next_work,
        messages_are_delivered_once_across_a_restart,
        publishing_to_a_full_channel_is_refused_with_the_reason,
        a_conflicting_write_is_reported_and_shared_entries_are_kept,
        shared_entries_are_read_by_later_runs_and_edited_by_a_person,
        shared_entries_survive_a_kill_before_they_are_written,
        an_endless_exchange_is_stopped_and_a_person_is_warned,
        a_person_writes_to_the_blackboard_and_publishes_in_channels,
        a_delegated_task_returns_its_result_in_the_requested_format,
        a_delegated_task_returns_once_even_if_the_room_is_killed,
        delegating_to_a_waiting_agent_an_unknown_one_or_oneself_is_refused,
        exchanges_are_counted_per_run_and_in_total,
        a_message_board_shows_its_channel,
        a_run_in_which_agents_work_together_replays,
    ]
}

/// The file of the entries that runs have shared.
const ARCHIVE: &str = "memory/knowledge/blackboard.yaml";

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: lead, profile: lead, position: [0, 0], behaviour: stationary }\n  - { id: writer, profile: writer, position: [90, 0], behaviour: stationary }\n  - { id: researcher, profile: researcher, position: [300, 0], behaviour: stationary }\n";

const FILES: [(&str, &str); 3] = [
    ("scenes/test.yaml", SCENE),
    ("agents/writer.md", "---\nname: Wanda\n---\nYou write.\n"),
    ("agents/researcher.md", "---\nname: Rolf\n---\nYou find out.\n"),
];

fn call(name: &str, arguments: Value) -> String {
    format!("{{ name: {name}, arguments: {arguments} }}")
}

fn start(name: &str, task: &str) -> String {
    call("spawn_agent", json!({ "filename": name, "task": task }))
}

fn studio(script: &str) -> Studio {
    Studio::new(script, &FILES)
}

fn with_files(script: &str, files: &[(&str, &str)]) -> Studio {
    let all: Vec<(&str, &str)> = FILES.iter().chain(files).copied().collect();
    Studio::new(script, &all)
}

fn push(studio: &mut Studio, command: CollaborationCommand) {
    studio.world().resource_mut::<InputQueue<CollaborationCommand>>().push(command);
    studio.tick();
}

/// Writes the room's changes to disk.
fn save(studio: &mut Studio) {
    studio.tick();
    let problems = save_now(studio.world());
    assert!(problems.is_empty(), "{problems:?}");
}

fn events_of<'a>(studio: &'a Studio, kind: &str, agent: &str) -> Vec<&'a Value> {
    studio.all(kind).into_iter().filter(|event| event["agent"] == agent).collect()
}

/// Returns a script whose lead starts both; the writer subscribes and ends its turn before the researcher publishes.
fn findings_script() -> String {
    format!(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ {}, {} ]\n    - text: I wait.\n  writer:\n    - tools: [ {} ]\n    - text: I listen.\n    - text: Written.\n  researcher:\n    - tools: [ {} ]\n      text: I look.\n    - tools: [ {} ]\n    - text: Found.\n      latency: 1.0\ndefault: [ {{ text: Noted. }} ]\n",
        start("writer", "Write down what is found."),
        start("researcher", "Count the chairs."),
        call("subscribe", json!({ "channel": "findings" })),
        call("blackboard_read", json!({})),
        call("publish", json!({ "channel": "#Findings", "message": "12 chairs" })),
    )
}

fn a_finished_subscriber_is_woken_by_a_message() {
    let mut studio = studio(&findings_script());
    studio.task("lead", "Count.");
    studio.idle();
    let log = studio.log();
    assert_eq!((studio.all("publish").len(), studio.all("subscribe").len()), (1, 1), "{log:#?}");
    let publication = studio.all("publish")[0];
    assert_eq!((&publication["data"]["to"], &publication["data"]["subscribers"]), (&json!(["writer"]), &json!(1)));
    let deliveries = events_of(&studio, "deliver", "writer");
    assert_eq!(deliveries.len(), 1, "{log:#?}");
    assert_eq!((&deliveries[0]["data"]["messages"], &deliveries[0]["data"]["woke"]), (&json!(1), &json!(true)));
    assert_eq!(deliveries[0]["cause"], publication["seq"], "the publication is the cause of the delivery");
    assert!(events_of(&studio, "complete", "writer").iter().any(|end| end["data"]["text"] == "Written."), "{log:#?}");
    assert!(studio.results().iter().any(|text| text.starts_with("You are now subscribed to 'findings'.")));
    assert!(
        studio
            .results()
            .contains(&"Published in 'findings' (message 1): 1 agent receives it on its next turn.".to_owned()),
        "{:#?}",
        studio.results()
    );
    let session = std::fs::read_dir(studio.folder.path().join("sessions")).unwrap();
    let texts = session.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let mentions: usize = texts.map(|text| text.matches("[1] researcher: 12 chairs").count()).sum();
    assert!(mentions >= 1, "the message is in the writer's session");
}

fn an_idle_subscriber_is_called_and_gets_the_message_with_its_next_work() {
    let script = format!(
        "latency: 0.1\nagents:\n  writer:\n    - tools: [ {} ]\n    - text: I listen.\n    - text: Aha.\n    - text: Written.\n  researcher:\n    - tools: [ {} ]\n    - text: Found.\ndefault: [ {{ text: Noted. }} ]\n",
        call("subscribe", json!({ "channel": "findings" })),
        call("publish", json!({ "channel": "findings", "message": "12 chairs" })),
    );
    let mut studio = studio(&script);
    studio.task("writer", "Listen.");
    studio.idle();
    studio.task("researcher", "Count.");
    studio.idle();
    assert!(events_of(&studio, "deliver", "writer").is_empty(), "there is no session to deliver to");
    studio.until("the writer turns to the channel", |studio| {
        events_of(studio, "action_queued", "writer").iter().any(|event| event["data"]["action"] == "channel")
    });
    for _ in 0..300 {
        studio.tick();
    }
    let calls =
        events_of(&studio, "action_queued", "writer").iter().filter(|one| one["data"]["action"] == "channel").count();
    assert_eq!(calls, 1, "the writer is called once");
    studio.task("writer", "Write.");
    studio.until("the message is delivered", |studio| !events_of(studio, "deliver", "writer").is_empty());
    studio.idle();
    assert_eq!(events_of(&studio, "deliver", "writer").len(), 1, "the message is delivered once");
}

fn messages_are_delivered_once_across_a_restart() {
    for ticks in [0, 1, 2, 3, 5, 8, 13, 21, 34, 40] {
        let mut studio = studio(&findings_script());
        studio.task("lead", "Count.");
        studio.until("the writer listens", |studio| !studio.all("subscribe").is_empty());
        for _ in 0..ticks {
            studio.tick();
        }
        studio.close();
        studio.open();
        studio.idle();
        let delivered: u64 =
            events_of(&studio, "deliver", "writer").iter().filter_map(|one| one["data"]["messages"].as_u64()).sum();
        assert_eq!((studio.all("publish").len(), delivered), (1, 1), "{ticks} ticks: {:#?}", studio.log());
    }
}

fn publishing_to_a_full_channel_is_refused_with_the_reason() {
    let say = |number: u32| call("publish", json!({ "channel": "findings", "message": format!("chair {number}") }));
    let script = format!(
        "latency: 0.1\nagents:\n  researcher:\n    - tools: [ {}, {}, {} ]\n    - text: Two of three.\ndefault: [ {{ text: Noted. }} ]\n",
        say(1),
        say(2),
        say(3)
    );
    let mut studio = with_files(&script, &[("settings.yaml", "channels: { max_messages: 2 }\n")]);
    let listens = CollaborationCommand::Listen { channel: "findings".into(), agent: "writer".into(), listens: true };
    push(&mut studio, listens);
    studio.task("researcher", "Count.");
    studio.idle();
    let results = studio.results();
    assert!(
        results[2].contains("channel 'findings' is full: 2 messages are waiting, longest for writer"),
        "{results:#?}"
    );
    let channels = studio.world().resource::<Channels>();
    assert_eq!(channels.get("findings").unwrap().counts(), (0, 1), "the refused message is counted");
}

fn a_conflicting_write_is_reported_and_shared_entries_are_kept() {
    let script = format!(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ {}, {}, {} ]\n    - tools: [ {}, {} ]\n    - text: I wait.\n  writer:\n    - tools: [ {}, {} ]\n    - text: Done.\n",
        call("blackboard_write", json!({ "key": "plan", "value": { "chairs": 12 }, "is_new": true, "shared": true })),
        call("blackboard_write", json!({ "key": "draft", "value": "x" })),
        start("writer", "Look at the plan."),
        call("blackboard_write", json!({ "key": "plan", "value": "other", "expected": { "chairs": 99 } })),
        call("blackboard_read", json!({})),
        call("blackboard_read", json!({ "key": "plan", "history": true })),
        call("blackboard_write", json!({ "key": "plan", "value": { "chairs": 13 }, "expected": { "chairs": 12 } })),
    );
    let mut studio = studio(&script);
    studio.task("lead", "Plan.");
    let run = {
        let kernel = studio.world().resource::<Kernel>();
        kernel.threads().next().unwrap().1.root
    };
    studio.idle();
    let results = studio.results();
    assert!(
        results.iter().any(|text| text.contains("is now {\"chairs\":12} (version 1, written by lead)")
            || text.contains("is now {\"chairs\":13} (version 2, written by writer)")),
        "{results:#?}"
    );
    assert!(results.iter().any(|text| text.starts_with("'plan' (version 1, by lead")), "{results:#?}");
    assert_eq!(studio.all("blackboard").len(), 3);
    save(&mut studio);
    let archive = studio.read(ARCHIVE);
    assert!(archive.contains("key: plan") && archive.contains("chairs: 13") && !archive.contains("draft"), "{archive}");
    let board = studio.world().resource::<Blackboards>().get(run).unwrap();
    assert!(board.ended().is_some(), "the blackboard is kept after the run");
}

fn shared_entries_are_read_by_later_runs_and_edited_by_a_person() {
    let read = |key: &str| call("blackboard_read", json!({ "key": key }));
    // A room that is reopened without work starts its script over, so each turn is chosen by its task.
    let turn = |task: &str, calls: &[String]| {
        format!("    - {{ when: {{ contains: {task} }}, repeat: true, tools: [ {} ] }}\n", calls.join(", "))
    };
    let turns = [
        turn(
            "Begin",
            &[
                call("blackboard_write", json!({ "key": "plan", "value": { "chairs": 12 }, "shared": true })),
                call("blackboard_write", json!({ "key": "draft", "value": "x" })),
            ],
        ),
        turn("Look", &[call("blackboard_read", json!({})), read("draft")]),
        turn("Read", &[read("plan")]),
    ];
    let script = format!("latency: 0.1\nagents:\n  lead:\n{}default: [ {{ text: Noted. }} ]\n", turns.concat());
    let mut studio = studio(&script);
    studio.task("lead", "Begin.");
    let run = studio.world().resource::<Kernel>().threads().next().unwrap().1.root;
    studio.idle();
    let next_task = |studio: &mut Studio, task: &str| {
        let before = studio.results().len();
        studio.task("lead", task);
        studio.until("the work has started", |studio| !studio.world().resource::<Kernel>().is_idle());
        studio.idle();
        studio.results().split_off(before)
    };
    // The next run of the same room.
    let results = next_task(&mut studio, "Look.");
    assert!(
        results[0].contains("blackboard of this run is empty") && results[0].contains("From earlier runs"),
        "{results:#?}"
    );
    assert!(
        results[0].contains(&format!("'plan' (by lead in {run}, 0:0")) && !results[0].contains("draft"),
        "{results:#?}"
    );
    assert!(results[1].starts_with("There is no entry 'draft'"), "entries that were not shared are gone: {results:#?}");
    // After a restart in which a person changed the file.
    studio.close();
    let text = studio.read(ARCHIVE);
    std::fs::write(studio.folder.path().join(ARCHIVE), text.replace("chairs: 12", "chairs: 14")).unwrap();
    studio.open();
    let results = next_task(&mut studio, "Read.");
    assert!(results[0].contains(&format!("From an earlier run, there is 'plan' (by lead in {run}")), "{results:#?}");
    assert!(results[0].contains("{\"chairs\":14}"), "{results:#?}");
    // A person deletes it, and restores it.
    let entry: ArchivedEntry = studio.world().resource::<BoardArchive>().entries().get("plan").unwrap().clone();
    let keep = |now: Option<&ArchivedEntry>, was: Option<&ArchivedEntry>| CollaborationCommand::WriteKept {
        key: "plan".into(),
        now: now.cloned().map(Box::new),
        was: was.cloned().map(Box::new),
    };
    push(&mut studio, keep(None, Some(&entry)));
    save(&mut studio);
    assert!(!studio.read(ARCHIVE).contains("plan"));
    push(&mut studio, keep(Some(&entry), None));
    save(&mut studio);
    assert!(studio.read(ARCHIVE).contains("chairs: 14"));
    // A file that cannot be read is reported and not overwritten.
    std::fs::write(studio.folder.path().join(ARCHIVE), "entries: [\n").unwrap();
    studio.close();
    studio.open();
    studio.until("the error is logged", |studio| {
        studio.all("error").iter().any(|event| event["data"]["place"].as_str() == Some(ARCHIVE))
    });
    let results = next_task(&mut studio, "Read again.");
    assert!(results[0].contains("{\"chairs\":14}"), "the last valid version is used: {results:#?}");
    save(&mut studio);
    assert_eq!(studio.read(ARCHIVE), "entries: [\n");
}

fn shared_entries_survive_a_kill_before_they_are_written() {
    let share = call("blackboard_write", json!({ "key": "plan", "value": { "chairs": 12 }, "shared": true }));
    let script = format!("latency: 0.1\nagents:\n  lead:\n    - tools: [ {share} ]\ndefault: [ {{ text: Noted. }} ]\n");
    let mut studio = studio(&script);
    studio.task("lead", "Begin.");
    studio.idle();
    // Killed before the file was written.
    studio.room = None;
    let file = studio.folder.path().join(ARCHIVE);
    if file.exists() {
        std::fs::remove_file(&file).unwrap();
    }
    studio.open();
    studio.tick();
    studio.tick();
    save(&mut studio);
    assert!(studio.read(ARCHIVE).contains("chairs: 12"));
    // A file that a person deletes while the room is closed stays deleted.
    studio.close();
    std::fs::remove_file(&file).unwrap();
    studio.open();
    studio.tick();
    studio.tick();
    save(&mut studio);
    assert!(studio.world().resource::<BoardArchive>().entries().get("plan").is_none());
    assert!(!studio.exists(ARCHIVE));
}

fn an_endless_exchange_is_stopped_and_a_person_is_warned() {
    let say = |words: &str| call("publish", json!({ "channel": "chat", "message": words }));
    let mut script = String::from("latency: 0.1\nagents:\n");
    for (agent, own, begin, other) in [
        ("writer", "ping", "user: Begin", "researcher: pong"),
        ("researcher", "pong", "nothing of this kind", "writer: ping"),
    ] {
        let listen = call("subscribe", json!({ "channel": "chat" }));
        script += &format!("  {agent}:\n    - tools: [ {listen} ]\n    - text: I listen.\n");
        for trigger in [begin, other] {
            script +=
                &format!("    - {{ when: {{ contains: \"{trigger}\" }}, repeat: true, tools: [ {} ] }}\n", say(own));
        }
    }
    script += &format!(
        "  lead:\n    - tools: [ {}, {} ]\n    - text: I wait.\ndefault: [ {{ text: Noted. }} ]\n",
        start("writer", "Chat."),
        start("researcher", "Chat too.")
    );
    let mut studio = studio(&script);
    studio.task("lead", "Let them chat.");
    studio.until("both listen", |studio| studio.all("subscribe").len() == 2);
    push(&mut studio, CollaborationCommand::Publish { channel: "chat".into(), message: "Begin.".into() });
    studio.idle();
    let settings = agent_workshop::orchestration::ChannelSettings::default();
    let message_count = studio.all("publish").len();
    assert!(message_count > settings.max_hops as usize && message_count < 40, "{message_count} messages");
    let refused = studio.results().iter().filter(|text| text.contains("goes in circles")).count();
    assert!(refused > 0, "{:#?}", studio.results());
    let warned =
        studio.all("warning").iter().filter(|event| event["data"]["what"].to_string().contains("channel chat")).count();
    assert_eq!(warned, 1, "{:#?}", studio.log());
    // A person's message resets the hop count.
    let delivery_count = |studio: &Studio| studio.all("deliver").len();
    let before = delivery_count(&studio);
    push(&mut studio, CollaborationCommand::Publish { channel: "chat".into(), message: "Again.".into() });
    for _ in 0..300 {
        studio.tick();
    }
    assert!(delivery_count(&studio) >= before, "{:#?}", studio.log());
}

fn a_person_writes_to_the_blackboard_and_publishes_in_channels() {
    let script = format!(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ {}, {} ]\n    - tools: [ {} ]\n      latency: 3\n    - text: Done.\n",
        call("subscribe", json!({ "channel": "words" })),
        call("blackboard_write", json!({ "key": "plan", "value": 1 })),
        call("blackboard_read", json!({ "key": "plan" })),
    );
    let mut studio = studio(&script);
    studio.task("lead", "Plan.");
    studio.until("the lead has written", |studio| !studio.all("blackboard").is_empty());
    let run = studio.world().resource::<Kernel>().threads().next().unwrap().1.root;
    let write = |was: &str, value: &str| CollaborationCommand::Write {
        run,
        key: "plan".into(),
        value: Some(value.to_owned()),
        shared: None,
        was: Some(was.to_owned()),
    };
    push(&mut studio, write("7", "3"));
    assert!(studio.log().iter().any(|line| line.contains("has changed in the meantime")), "{:#?}", studio.log());
    push(&mut studio, write("1", "{\"chairs\": 2}"));
    push(&mut studio, CollaborationCommand::Publish { channel: "words".into(), message: "Hurry.".into() });
    studio.idle();
    assert!(studio.results().iter().any(|text| text.contains("{\"chairs\":2}")), "{:#?}", studio.results());
    assert_eq!(events_of(&studio, "deliver", "lead").len(), 1);
    assert_eq!(studio.all("publish")[0]["data"]["by"], "user");
}

fn delegation_script(answers: &str) -> String {
    format!(
        "latency: 0.2\nagents:\n  lead:\n    - tools: [ {} ]\n    - text: I wait.\n    - text: Done.\n  researcher:\n{answers}default: [ {{ text: Noted. }} ]\n",
        call(
            "delegate",
            json!({ "agent": "Rolf", "task": "Count the chairs.", "context": "The hall is open.", "priority": "high",
                    "deadline_cycles": 6, "expected_format": "chairs, tables" })
        )
    )
}

fn a_delegated_task_returns_its_result_in_the_requested_format() {
    let answers = "    - text: Twelve and three.\n      latency: 8\n    - text: '{\"chairs\": 12, \"tables\": 3}'\n";
    let mut studio = studio(&delegation_script(answers));
    let position = |studio: &mut Studio, agent: &str| {
        let world = studio.world();
        let roster = world.resource::<Roster>();
        let entity = roster.key(agent).and_then(|key| roster.entity(key)).unwrap();
        world.get::<Position>(entity).unwrap().0
    };
    studio.tick();
    let before = position(&mut studio, "researcher").distance(position(&mut studio, "lead"));
    studio.task("lead", "Count.");
    studio.until("the researcher works", |studio| studio.state("researcher") == State::Working);
    for _ in 0..200 {
        studio.tick();
    }
    let after = position(&mut studio, "researcher").distance(position(&mut studio, "lead"));
    assert!(after < 80.0 && before > 250.0, "the agent walks to the delegating agent: {before}, then {after}");
    studio.idle();
    let log = studio.log();
    let handed = events_of(&studio, "hand_over", "lead");
    assert_eq!((handed.len(), &handed[0]["data"]["to"]), (1, &json!("researcher")), "{log:#?}");
    assert_eq!((&handed[0]["data"]["deadline_turns"], &handed[0]["data"]["priority"]), (&json!(6), &json!("high")));
    let back = events_of(&studio, "hand_back", "researcher");
    assert_eq!(back.len(), 1, "{log:#?}");
    assert_eq!(
        (&back[0]["data"]["ok"], &back[0]["data"]["result"]),
        (&json!(true), &json!("{\"chairs\":12,\"tables\":3}"))
    );
    assert!(log.iter().any(|line| line.contains("its result was sent back")), "{log:#?}");
    let signals = events_of(&studio, "signal", "researcher");
    assert!(
        signals[0]["data"]["message"].as_str().unwrap().starts_with("result of a task that you handed over"),
        "{signals:#?}"
    );
    assert!(studio.results()[0].starts_with("Handed over to 'researcher'. It starts now"), "{:#?}", studio.results());
}

fn a_delegated_task_returns_once_even_if_the_room_is_killed() {
    let answers = "    - text: Twelve and three.\n    - text: '{\"chairs\": 12, \"tables\": 3}'\n";
    let mut setup = Setup::scene(SCENE).script(&delegation_script(answers));
    for (path, text) in FILES.iter().skip(1) {
        setup = setup.file(path, text);
    }
    let mut room: Workshop = setup.profile("lead", "You lead.\n").open();
    room.push(TaskCommand { agent: "lead".into(), text: "Count.".into() });
    room.tick();
    let run = room.world().resource::<Kernel>().threads().next().unwrap().1.root;
    let mut events: Vec<Value> = Vec::new();
    for _ in 0..6_000 {
        room.tick();
        events.extend(room.log().iter().cloned());
        // The next room continues from the saved state of this one.
        room = room.reopened();
        if room.world().resource::<Kernel>().is_idle() {
            break;
        }
    }
    assert!(room.world().resource::<Kernel>().is_idle(), "the work does not end: {events:#?}");
    let events_of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    assert_eq!(
        (events_of("hand_over").len(), events_of("hand_back").len(), events_of("signal").len()),
        (1, 1, 1),
        "{events:#?}"
    );
    let back = events_of("hand_back")[0];
    let result = &back["data"]["result"];
    assert_eq!((&back["data"]["ok"], result), (&json!(true), &json!("{\"chairs\":12,\"tables\":3}")));
    let counted = room.world().resource::<RequestQueue>().ledger().exchanges_of(&run.id());
    assert_eq!(counted.to_string(), "1 task handed over", "the task is counted once");
}

fn delegating_to_a_waiting_agent_an_unknown_one_or_oneself_is_refused() {
    let delegate = |agent: &str| call("delegate", json!({ "agent": agent, "task": "Do it." }));
    let answers = format!(
        "    - tools: [ {}, {}, {} ]\n    - text: Nobody can.\n",
        delegate("lead"),
        delegate("ralf"),
        delegate("Rolf")
    );
    let mut studio = studio(&delegation_script(&answers));
    studio.task("lead", "Count.");
    studio.idle();
    let results = studio.results();
    assert!(results[1].contains("this would create a loop: lead → researcher → lead"), "{results:#?}");
    assert!(results[2].starts_with("Error: there is no agent 'ralf' in the room. Available agents: ["), "{results:#?}");
    assert!(results[3].starts_with("Error: 'Rolf' is you"), "{results:#?}");
    let back = events_of(&studio, "hand_back", "researcher");
    assert_eq!(back[0]["data"]["ok"], false, "plain text is not the requested format");
    assert!(back[0]["data"]["result"].as_str().unwrap().contains("it contains no JSON"), "{back:#?}");
}

fn exchanges_are_counted_per_run_and_in_total() {
    let script = format!(
        "latency: 0.1\nagents:\n  lead:\n    - tools: [ {}, {}, {}, {} ]\n    - {{ text: I wait., repeat: true }}\n  researcher:\n    - tools: [ {} ]\n    - text: Twelve.\ndefault: [ {{ text: Noted. }} ]\n",
        call("publish", json!({ "channel": "words", "message": "We count." })),
        call("blackboard_write", json!({ "key": "plan", "value": "count", "is_new": true })),
        call("blackboard_write", json!({ "key": "plan", "value": "rest", "is_new": true })),
        call("delegate", json!({ "agent": "Rolf", "task": "Count the chairs." })),
        call("signal_parent", json!({ "message": "I begin." })),
    );
    let mut studio = studio(&script);
    studio.task("lead", "Count.");
    let run = studio.world().resource::<Kernel>().threads().next().unwrap().1.root;
    studio.idle();
    let counted = |studio: &mut Studio| {
        let ledger = studio.world().resource::<RequestQueue>().ledger();
        (ledger.exchanges_of(&run.id()).to_string(), ledger.exchanges().to_string())
    };
    let of_run = "1 task handed over, 1 signal, 1 channel message, 1 blackboard change";
    assert_eq!(counted(&mut studio), (of_run.into(), of_run.into()), "refused exchanges are not counted");
    // A person's message outside of any run counts only in total.
    push(&mut studio, CollaborationCommand::Publish { channel: "words".into(), message: "Thanks.".into() });
    studio.idle();
    assert_eq!(counted(&mut studio), (of_run.into(), of_run.replace("1 channel message", "2 channel messages")));
}

fn a_message_board_shows_its_channel() {
    let scene = "name: Test\nseed: 3\nelements:\n  - { id: news, kind: messageboard, label: News, position: [0, 300], channel: findings }\nagents:\n  - { id: researcher, profile: researcher, position: [0, 0], behaviour: stationary }\n";
    let script = format!(
        "latency: 0.1\nagents:\n  researcher:\n    - tools: [ {} ]\n    - text: Found.\ndefault: [ {{ text: Noted. }} ]\n",
        call("publish", json!({ "channel": "findings", "message": "12 chairs" })),
    );
    let mut studio = with_files(&script, &[("scenes/test.yaml", scene)]);
    studio.task("researcher", "Count.");
    studio.until("the board changed", |studio| {
        studio
            .all("element_changed")
            .iter()
            .any(|one| one["data"]["element"] == "news" && one["data"]["change"] == "text_set")
    });
    studio.idle();
    studio.close();
    let scene = studio.read("scenes/test.yaml");
    assert!(scene.contains("#findings") && scene.contains("Rolf: 12 chairs"), "{scene}");
}

fn a_run_in_which_agents_work_together_replays() {
    let mut setup = Setup::scene(SCENE).script(&findings_script());
    for (path, text) in FILES.iter().skip(1) {
        setup = setup.file(path, text);
    }
    let mut live: Workshop = setup.profile("lead", "You lead.\n").open();
    live.push(TaskCommand { agent: "lead".into(), text: "Count.".into() });
    live.until(30.0, "deliver", |_| true);
    live.push(CollaborationCommand::Publish { channel: "findings".into(), message: "13 chairs".into() });
    live.advance(10.0);
    live.replayed();
}
