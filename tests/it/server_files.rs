//! Files of the workspace beside MCP servers: guarded ones, whose rights and times a server cannot change for good, and the
//! code that a server loads.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use agent_workshop::agent::mcp_server;
use agent_workshop::gateway::mcp::McpFault;
use agent_workshop::gateway::sandbox::Level;
use agent_workshop::gateway::{
    AttributesPutBack, CodeCheck, ExternalCalls, GatewayEnvironment, Network, ProgramOrder, ProgramSettings,
};
use agent_workshop::schedule::outside::NoticesExt;
use agent_workshop::schedule::{self, InputJournal, RecordedInput};
use bevy::app::App;
use bevy::ecs::system::SystemState;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::peers::is_ignored;
use crate::program::PATIENCE;
use crate::sandbox_modes::{in_each_and_landlock_alone, is_landlock_alone};
use crate::servers::{TestWorkspace, is_gone, processes, results, room_with, script, script_of_a_call, tool};

pub fn trials() -> Vec<Trial> {
    let cases = cases![
        what_a_server_changes_of_guarded_files_is_prevented_or_put_back_and_told,
        a_person_in_the_room_is_told_what_was_put_back,
        what_a_command_changes_of_guarded_files_is_told_too,
        changed_code_that_a_server_loads_needs_permission_again_and_is_named,
    ];
    let missing = Command::new("python3").arg("--version").output().err().map(|_| "python3");
    let ignored = is_ignored("the tests of files beside MCP servers", missing);
    cases.into_iter().map(|case| case.with_ignored_flag(ignored)).collect()
}

/// The rights and the modification time of a file.
fn attributes(path: &Path) -> (u32, i64) {
    let found = std::fs::metadata(path).expect("it should exist");
    (found.mode() & 0o7777, found.mtime())
}

fn what_a_server_changes_of_guarded_files_is_prevented_or_put_back_and_told() {
    let name = "server_files::what_a_server_changes_of_guarded_files_is_prevented_or_put_back_and_told";
    in_each_and_landlock_alone(name, what_a_server_changes_in);
}

fn what_a_server_changes_in(level: Level) {
    let workspace = TestWorkspace::new();
    let at = |path: &str| workspace.folder.path().join(path);
    for path in ["agents", ".git"] {
        std::fs::create_dir(at(path)).expect("folders can be created");
    }
    let guarded = ["settings.yaml", "agents/ada.md", ".git/config"].map(at);
    let all = guarded.clone().into_iter().chain([at("artifacts/mine.md")]);
    all.for_each(|path| std::fs::write(path, "text").expect("files can be written"));
    let (mut client, _) = workspace.allowed("loosens").expect("the server should answer");
    let mut loosen = |path: &Path| {
        let mut told = Vec::new();
        let answer = client.call(tool("loosen", json!({ "path": path })), |text| told.push(text.to_owned()));
        (answer.expect("the server answers").text, told)
    };
    for path in guarded.iter().chain(&guarded) {
        let before = attributes(path);
        let (answer, told) = loosen(path);
        let is_done = answer == "loosened";
        assert_eq!(is_done, level == Level::None || is_landlock_alone(), "{level:?}: {answer}");
        assert_eq!(attributes(path) == before, level != Level::None, "{level:?}: {}", path.display());
        let shown = path.strip_prefix(workspace.folder.path()).expect("it is in the folder").display().to_string();
        let names = |text: &String| text.contains("the MCP server odd") && text.contains(&shown);
        assert_eq!(told.iter().any(names), is_done && is_landlock_alone(), "{level:?}: {told:?}");
        if level == Level::None {
            std::fs::write(path, "text").expect("files can be written");
        }
    }
    let (answer, told) = loosen(&at("artifacts/mine.md"));
    assert_eq!((&*answer, attributes(&at("artifacts/mine.md"))), ("loosened", (0o606, 1)), "{level:?}: {told:?}");
    assert!(told.is_empty(), "ordinary files are the server's to change: {told:?}");
    drop(client);
    assert!(is_gone("loosens"));
}

fn a_person_in_the_room_is_told_what_was_put_back() {
    in_each_and_landlock_alone("server_files::a_person_in_the_room_is_told_what_was_put_back", told_in_the_room);
}

fn told_in_the_room(level: Level) {
    let workspace = TestWorkspace::new();
    let settings = workspace.folder.path().join("settings.yaml");
    std::fs::write(&settings, "text").expect("files can be written");
    let before = attributes(&settings);
    let script = script_of_a_call("loosen", &format!("{{ path: {:?} }}", settings.display().to_string()));
    let mut room = room_with(&workspace, "loosens", "gate:\n  mcp: { \"mcp:odd:*(read-only)\": allow }\n", &script);
    room.until(60.0, "complete", |_| true);
    assert_eq!(attributes(&settings) == before, level != Level::None, "{level:?}: {:?}", results(&room));
    let is_told = |event: &&Value| {
        let text = event["data"].to_string();
        text.contains("the MCP server odd") && text.contains("the rights, the times of settings.yaml")
    };
    let told = room.events("warning").into_iter().filter(is_told).count();
    assert_eq!(told, usize::from(is_landlock_alone()), "{level:?}: {:?}", room.events("warning"));
    let again = room.replayed();
    assert_eq!(again.events("warning").into_iter().filter(is_told).count(), told, "it replays without the server");
    drop(room);
    assert!(is_gone("loosens"));
}

fn what_a_command_changes_of_guarded_files_is_told_too() {
    in_each_and_landlock_alone("server_files::what_a_command_changes_of_guarded_files_is_told_too", told_of_a_command);
}

fn told_of_a_command(level: Level) {
    let workspace = TestWorkspace::new();
    let settings = workspace.folder.path().join("settings.yaml");
    std::fs::write(&settings, "text").expect("files can be written");
    std::fs::create_dir(workspace.folder.path().join(".workshop")).expect("folders can be created");
    // An empty folder of this name is removed like those that only stand for something hidden.
    std::fs::write(workspace.folder.path().join(".workshop/workshop.db"), "").expect("files can be written");
    let before = attributes(&settings);
    let mut app = App::new();
    app.add_plugins(schedule::plugin).add_notices::<AttributesPutBack>();
    app.init_resource::<Network>();
    app.insert_resource(GatewayEnvironment(workspace.environment()));
    let mut run = |words: &[&str]| {
        let program = ProgramOrder {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            root: None,
            folder: String::new(),
            timeout_secs: None,
            settings: ProgramSettings::default(),
            observer: None,
            code: CodeCheck::default(),
        };
        let (done, ended) = std::sync::mpsc::channel();
        let mut calls = SystemState::<ExternalCalls>::new(app.world_mut());
        let calls = calls.get(app.world()).expect("its resources are there");
        let call = calls.run_program(program, move |ended| drop(done.send(ended))).expect("it can be started");
        ended.recv_timeout(PATIENCE).expect("the command ends");
        drop(call);
        schedule::advance(app.world_mut());
        let reports = app.world_mut().resource_mut::<InputJournal>().take_recorded();
        let report = |input: &RecordedInput| serde_json::from_str::<AttributesPutBack>(&input.data).ok();
        reports.iter().filter_map(report).map(|report| report.sentence()).collect::<Vec<_>>()
    };
    assert_eq!(run(&["true"]), [] as [&str; 0]);
    let told = run(&["chmod", "606", "settings.yaml"]);
    assert_eq!(attributes(&settings) == before, level != Level::None, "{level:?}");
    let names =
        |text: &String| text.contains("the command \"chmod 606 settings.yaml\"") && text.contains("the rights of");
    assert_eq!(told.iter().any(names), is_landlock_alone(), "{level:?}: {told:?}");
    let entries = std::fs::read_dir(workspace.folder.path().join(".workshop")).expect("it is there").flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    assert!(!names.any(|name| name.starts_with("put-back")), "the report is removed");
}

fn changed_code_that_a_server_loads_needs_permission_again_and_is_named() {
    let workspace = TestWorkspace::new();
    let at = |path: &str| workspace.folder.path().join(path);
    std::fs::copy(script(), at("artifacts/server.py")).expect("it can be copied");
    let server_text = std::fs::read_to_string(at("artifacts/server.py")).expect("it can be read");
    std::fs::write(at("artifacts/server.py"), format!("import helper\n{server_text}")).expect("it can be written");
    std::fs::write(at("artifacts/helper.py"), "ONE = 1\n").expect("it can be written");
    let command = json!({ "odd": { "command": "python3", "args": ["artifacts/server.py", "loaded"] } });
    let server = mcp_server::read(&command).defined().next().expect("a server is defined");
    workspace.allow(&server);
    let (client, _) = workspace.connect(server.clone()).expect("the server should answer");
    drop(client);
    std::fs::write(at("artifacts/data.json"), "{}").expect("it can be written");
    drop(workspace.connect(server.clone()).expect("data is not part of the permission"));
    std::fs::write(at("artifacts/helper.py"), "ONE = 2\n").expect("it can be written");
    let refused = workspace.connect(server.clone()).err().expect("its code has changed");
    assert_eq!(refused.fault, McpFault::NotAllowed, "{refused:?}");
    assert!(refused.what.contains("(artifacts/helper.py)"), "{refused:?}");
    workspace.allow(&server);
    drop(workspace.connect(server).expect("it is allowed again"));
    let until = Instant::now() + Duration::from_secs(5);
    while !processes("artifacts/server.py loaded").is_empty() && Instant::now() < until {
        std::thread::yield_now();
    }
}
