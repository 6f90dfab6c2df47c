//! `workshop agent`, a conversation with one agent: its output, the files that it writes, and how a conversation
//! continues.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use agent_workshop::gateway::sandbox::Level;
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cases;
use crate::program::{Running, json_lines, output, write};
use crate::sandbox_modes::{MODES, output_in};

pub fn trials() -> Vec<Trial> {
    cases![
        a_prompt_prints_only_the_answer_and_writes_only_its_own_files,
        events_are_in_order_with_matching_ids,
        the_history_continues_and_can_be_cleared,
        the_exit_code_tells_how_the_prompt_ended,
        a_pending_approval_continues_with_the_next_prompt,
        a_second_process_is_refused_while_a_session_is_open,
        a_skill_becomes_part_of_the_prompt,
        modules_provide_tools_that_report_progress,
        an_agent_of_a_workspace_keeps_its_history_there,
        a_single_file_is_an_agent_without_a_workspace,
        paths_in_skills_can_be_used_by_their_agent,
        binary_and_huge_results_are_summarized_by_size,
    ]
}

const DOCUMENT: &str = r#"# Agent: Weather Man

## Purpose

Tells the weather.

<Tool name="forecast" description="What comes in a city">
  <Param name="city" description="The city" />

```ts
async function execute(params: { city: string }): Promise<string> {
  return `rain in ${params.city}`;
}
```

</Tool>
"#;
const CALLING: &str = r#"
latency: 0.1
agents:
  weather-man:
    - tools: [ { name: forecast, arguments: { city: Ulm } } ]
    - text: It rains in Ulm.
"#;
const ANSWERING: &str = r#"
latency: 0.1
agents:
  weather-man:
    - { when: { contains: "two?" }, text: Second. }
    - { when: { contains: "three?" }, text: Third. }
    - { when: { contains: "four?" }, text: Fourth. }
    - text: First.
"#;

/// Creates a folder with an agent, and a script for its model beside it.
fn weather_folder(script: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "weather/agent.mdx", DOCUMENT);
    write(folder.path(), "script.yaml", script);
    folder
}

/// Runs `workshop agent` with the agent at this path. Returns the exit code, stdout and stderr.
fn talk(folder: &Path, path: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    ended_text(&output(folder, &[&["agent", path, "--provider", "scripted:script.yaml"], arguments].concat()))
}

/// Returns the exit code, stdout and stderr.
fn ended_text(ended: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (ended.status.code(), text(&ended.stdout), text(&ended.stderr))
}

fn answer(folder: &Path, path: &str, arguments: &[&str]) -> String {
    let (code, stdout, stderr) = talk(folder, path, arguments);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{stdout}");
    stdout
}

fn history(folder: &Path, path: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn contents(history: &[Value]) -> Vec<&str> {
    history.iter().map(|entry| entry["content"].as_str().unwrap()).collect()
}

const CLOCK: &str = r#"import { text } from "./parts/text";
export default class {
  describe() { return { name: "clock", description: "Says the time" }; }
  async initialize(ctx: any) { this.ctx = ctx; }
  tools() {
    return [{
      name: "time_in", description: "The time in a city", parameters: { type: "object", properties: { city: { type: "string" } } },
      execute: async (params: { city: string }) => { await this.ctx.log("looking"); return text(params.city); },
    }];
  }
  systemPrompt() { return "You know the time."; }
  async start() {}
  stop() {}
}
"#;
const ASKING_THE_CLOCK: &str = r#"
latency: 0.1
agents:
  weather-man:
    - tools: [ { name: time_in, arguments: { city: Ulm } } ]
    - text: It is noon.
"#;

fn modules_provide_tools_that_report_progress() {
    let folder = weather_folder(ASKING_THE_CLOCK);
    write(folder.path(), "weather/modules/clock.ts", CLOCK);
    write(folder.path(), "weather/modules/parts/text.ts", "export const text = (city: string) => `noon in ${city}`;\n");
    let printed = answer(folder.path(), "weather", &["--prompt", "How late is it?", "--json"]);
    let events = json_lines(&printed);
    let event_of_type = |wanted: &str| {
        let found = events.iter().find(|event| event["type"] == wanted);
        found.unwrap_or_else(|| panic!("{wanted}: {printed}")).clone()
    };
    let (start, update, end) = (
        event_of_type("tool_execution_start"),
        event_of_type("tool_execution_update"),
        event_of_type("tool_execution_end"),
    );
    assert_eq!((&update["toolCallId"], &update["partialResult"]), (&start["toolCallId"], &json!("looking")));
    assert_eq!((&end["result"], &end["isError"]), (&json!("noon in Ulm"), &json!(false)));
    let tools = answer(folder.path(), "weather", &["--prompt", "/tools"]);
    let names: Vec<&str> = tools.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for name in ["read_file", "write_file", "forecast", "time_in"] {
        assert!(names.contains(&name), "{name}: {tools}");
    }
    assert!(!names.contains(&"vfs_read"), "{tools}");
}

const MAIN: &str = "weather/sessions/main/history.json";

fn a_prompt_prints_only_the_answer_and_writes_only_its_own_files() {
    let folder = weather_folder(CALLING);
    assert_eq!(answer(folder.path(), "weather", &["--prompt", "How is it in Ulm?"]), "It rains in Ulm.\n");
    let history = history(folder.path(), MAIN);
    let roles: Vec<&str> = history.iter().map(|entry| entry["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert_eq!(contents(&history), ["How is it in Ulm?", "", "rain in Ulm", "It rains in Ulm."]);
    assert_eq!(history[1]["toolCalls"][0]["name"], "forecast");
    assert_eq!(history[1]["toolCalls"][0]["arguments"], json!({ "city": "Ulm" }));
    assert_eq!(history[2]["toolCallId"], history[1]["toolCalls"][0]["id"]);
    assert!(history.iter().all(|entry| entry["timestamp"].as_str().unwrap().ends_with('Z')), "{history:?}");
    let entries = fs::read_dir(folder.path().join("weather")).unwrap().flatten();
    let names: BTreeSet<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let wanted = [".workshop", "agent.mdx", "logs", "sessions", "state"];
    assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), wanted);
    assert_eq!(fs::read_to_string(folder.path().join("weather/agent.mdx")).unwrap(), DOCUMENT);
    let state = fs::read_to_string(folder.path().join("weather/state/agent-state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!((&state["agent"], &state["lastEnding"]), (&json!("weather-man"), &json!("done")));
    let log = fs::read_dir(folder.path().join("weather/logs")).unwrap().flatten().next().expect("at least one exists");
    let log = fs::read_to_string(log.path()).unwrap();
    assert!(log.contains("user: How is it in Ulm?") && log.contains("forecast answered: rain in Ulm"), "{log}");
}

fn events_are_in_order_with_matching_ids() {
    let folder = weather_folder(CALLING);
    let printed = answer(folder.path(), "weather/agent.mdx", &["--prompt", "How is it in Ulm?", "--json"]);
    let events = json_lines(&printed);
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let wanted = [
        "agent_start",
        "turn_start",
        "message_start",
        "message_end",
        "tool_execution_start",
        "tool_execution_end",
        "turn_end",
        "turn_start",
        "message_start",
        "message_update",
        "message_end",
        "turn_end",
        "agent_end",
    ];
    assert_eq!(types, wanted, "{printed}");
    let id = &events[3]["toolCalls"][0]["id"];
    assert_eq!((&events[4]["toolCallId"], &events[5]["toolCallId"]), (id, id));
    assert_eq!((&events[4]["name"], &events[4]["args"]), (&json!("forecast"), &json!({ "city": "Ulm" })));
    assert_eq!((&events[5]["result"], &events[5]["isError"]), (&json!("rain in Ulm"), &json!(false)));
    assert_eq!(events[9]["delta"], "It rains in Ulm.");
    assert_eq!((&events[12]["ended"], &events[12]["result"]), (&json!("done"), &json!("It rains in Ulm.")));
}

fn the_history_continues_and_can_be_cleared() {
    let folder = weather_folder(ANSWERING);
    let say = |words: &str| answer(folder.path(), "weather", &["--prompt", words]);
    assert_eq!((say("One?"), say("Two?")), ("First.\n".to_owned(), "Second.\n".to_owned()));
    assert_eq!(contents(&history(folder.path(), MAIN)), ["One?", "First.", "Two?", "Second."]);
    // The session file has the messages as the model gets them.
    let session = fs::read_to_string(folder.path().join("weather/sessions/weather-man.main.session.yaml")).unwrap();
    let session: Value = serde_yaml::from_str(&session).unwrap_or_else(|error| panic!("{error}: {session}"));
    assert_eq!(contents(session["messages"].as_array().unwrap()), ["One?", "First.", "Two?", "Second."]);
    let other = answer(folder.path(), "weather", &["--session", "work", "--prompt", "Three?"]);
    assert_eq!(other, "Third.\n");
    assert_eq!(contents(&history(folder.path(), "weather/sessions/work/history.json")), ["Three?", "Third."]);
    let listed = answer(folder.path(), "weather", &["--prompt", "/session"]);
    assert!(listed.contains("main  (current)\nwork"), "{listed}");
    assert!(say("/clear").contains("Cleared"));
    assert_eq!(history(folder.path(), MAIN), [] as [Value; 0]);
    assert_eq!(say("Four?"), "Fourth.\n");
    assert_eq!(contents(&history(folder.path(), MAIN)), ["Four?", "Fourth."]);
}

fn the_exit_code_tells_how_the_prompt_ended() {
    let failing = "agents:\n  weather-man:\n    - error: { status: 400, message: no such thing }\n";
    let folder = weather_folder(failing);
    let (code, stdout, stderr) = talk(folder.path(), "weather", &["--prompt", "Hello?"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("error: "), "{stderr}");
    for (path, expected) in [("nowhere", "nowhere"), (".", "agent.mdx"), ("script.yaml", "not an agent file")] {
        let (code, stdout, stderr) = talk(folder.path(), path, &["--prompt", "Hello?"]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{path}: {stderr}");
        assert!(stderr.contains(expected) && stderr.contains("hint: "), "{path}: {stderr}");
    }
    // Without a terminal, a prompt is required.
    assert_eq!(talk(folder.path(), "weather", &[]).0, Some(2));
    assert_eq!(talk(folder.path(), "weather", &["--session", "../x", "--prompt", "Hello?"]).0, Some(2));
    let (code, _, stderr) = talk(folder.path(), "weather", &["--prompt", "/skill:none"]);
    assert!(code == Some(2) && stderr.contains("there is no skill"), "{stderr}");
    let limited = weather_folder(CALLING);
    write(limited.path(), "weather/settings.yaml", "kernel: { max_turns: 1 }\n");
    let (code, stdout, stderr) = talk(limited.path(), "weather", &["--prompt", "How is it?"]);
    assert_eq!((code, stdout.as_str()), (Some(3), ""), "{stderr}");
    assert!(stderr.contains("stopped after 1 turns"), "{stderr}");
    assert_eq!(history(limited.path(), MAIN)[2]["content"], "rain in Ulm");
}

fn a_pending_approval_continues_with_the_next_prompt() {
    for level in MODES.iter().copied() {
        a_pending_approval_continues_in(level);
    }
}

fn a_pending_approval_continues_in(level: Level) {
    let script = "agents:\n  lead:\n    - tools: [ { name: execute_command, arguments: { command: touch artifacts/made } } ]\n    - text: It is made.\n    - text: Gladly.\n";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "lead/agent.md", "---\nid: lead\ntools: [execute_command]\n---\nYou lead.\n");
    write(folder.path(), "script.yaml", script);
    fs::create_dir(folder.path().join("lead/artifacts")).unwrap();
    let talk = |arguments: &[&str]| {
        let command = [&["agent", "lead", "--provider", "scripted:script.yaml"], arguments].concat();
        ended_text(&output_in(level, folder.path(), &command))
    };
    let (code, stdout, stderr) = talk(&["--prompt", "Make it."]);
    assert_eq!((code, stdout.as_str()), (Some(4), ""), "{stderr}");
    assert!(stderr.contains("touch artifacts/made") && stderr.contains("workshop approvals allow"), "{stderr}");
    assert!(stderr.contains("workshop agent lead --session main"), "{stderr}");
    let path = "lead/sessions/main/history.json";
    assert_eq!(history(folder.path(), path).len(), 2, "the call has no result yet");
    let (code, stdout, stderr) = talk(&["--prompt", "Thanks.", "--on-ask", "allow"]);
    assert_eq!((code, stdout.as_str()), (Some(0), "Gladly.\n"), "{stderr}");
    assert!(folder.path().join("lead/artifacts/made").exists(), "{}", level.word());
    let history = history(folder.path(), path);
    let roles: Vec<&str> = history.iter().map(|entry| entry["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user", "assistant"]);
    assert_eq!(history[2]["toolCallId"], history[1]["toolCalls"][0]["id"]);
    assert_eq!(history[3]["content"], "It is made.");
}

fn a_second_process_is_refused_while_a_session_is_open() {
    let folder = weather_folder(ANSWERING);
    let arguments = ["run", "weather", "--provider", "scripted:script.yaml", "--events", "-"];
    let mut first = Running::start(folder.path(), &arguments);
    first.wait_for("the room is open", |event| event["type"] == "run_start");
    let (code, stdout, stderr) = talk(folder.path(), "weather", &["--prompt", "One?"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("session main") && stderr.contains("already open"), "{stderr}");
    let (code, stdout, stderr) = talk(folder.path(), "weather", &["--prompt", "One?", "--json"]);
    let [end] = &json_lines(&stdout)[..] else { panic!("{stdout}{stderr}") };
    assert_eq!((code, &end["type"], &end["ended"]), (Some(1), &json!("agent_end"), &json!("failed")));
    assert!(!folder.path().join(MAIN).exists(), "no message was recorded");
    first.kill();
    let (code, stdout, stderr) = talk(folder.path(), "weather", &["--prompt", "One?"]);
    assert_eq!((code, stdout.as_str()), (Some(0), "First.\n"), "{stderr}");
}

fn a_skill_becomes_part_of_the_prompt() {
    let folder = weather_folder(ANSWERING);
    let skill = "---\nname: clouds\ndescription: How to read clouds\n---\n\nLook at {baseDir}/shapes.md first.\n";
    write(folder.path(), "weather/skills/clouds/SKILL.md", skill);
    assert_eq!(answer(folder.path(), "weather", &["--prompt", "/skills"]), "/skill:clouds  How to read clouds\n");
    assert_eq!(answer(folder.path(), "weather", &["--prompt", "/skill:clouds over Ulm"]), "First.\n");
    let history = history(folder.path(), MAIN);
    let asked = history[0]["content"].as_str().unwrap();
    assert!(asked.contains("Look at skills/clouds/shapes.md first.") && asked.contains("over Ulm"), "{asked}");
    let tools = answer(folder.path(), "weather", &["--prompt", "/tools"]);
    assert!(tools.contains("forecast  What comes in a city"), "{tools}");
}

fn an_agent_of_a_workspace_keeps_its_history_there() {
    let folder = tempfile::tempdir().unwrap();
    let scene = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: ada-1, profile: ada, position: [0, 0] }\n";
    write(folder.path(), "room/settings.yaml", "");
    write(folder.path(), "room/scenes/test.yaml", scene);
    write(folder.path(), "room/agents/ada.md", "---\nbehaviour: stationary\n---\nYou count.\n");
    write(
        folder.path(),
        "script.yaml",
        "agents:\n  ada:\n    - { when: { contains: go on }, text: Two. }\n    - text: One.\n",
    );
    assert_eq!(answer(folder.path(), "room/agents/ada.md", &["--prompt", "Count."]), "One.\n");
    assert_eq!(answer(folder.path(), "room/agents/ada.md", &["--prompt", "Go on."]), "Two.\n");
    let history = history(folder.path(), "room/sessions/ada/main/history.json");
    assert_eq!(contents(&history), ["Count.", "One.", "Go on.", "Two."]);
    assert_eq!(fs::read_to_string(folder.path().join("room/scenes/test.yaml")).unwrap(), scene);
}

fn a_single_file_is_an_agent_without_a_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let script = "agents:\n  helper:\n    - { when: { contains: go on }, text: Two. }\n    - text: One.\n  \
        counter:\n    - tools: [ { name: add, arguments: {} } ]\n    - text: Added.\n";
    write(folder.path(), "script.yaml", script);
    let helper = "---\nname: Helper\n---\nYou count.\n";
    write(folder.path(), "notes/helper.md", helper);
    write(folder.path(), "notes/README.md", "What lies here.\n");
    let counter = "# Agent: Counter\n\n## Purpose\n\nCounts.\n\n<Tool name=\"add\" description=\"Adds\">\n\n```ts\n\
        async function execute() { return await readFile('helper.md'); }\n```\n\n</Tool>\n";
    write(folder.path(), "notes/counter.mdx", counter);
    assert_eq!(answer(folder.path(), "notes/helper.md", &["--prompt", "Count."]), "One.\n");
    assert_eq!(answer(folder.path(), "notes/helper.md", &["--prompt", "Go on."]), "Two.\n");
    let of_helper = history(folder.path(), "notes/sessions/helper/main/history.json");
    assert_eq!(contents(&of_helper), ["Count.", "One.", "Go on.", "Two."]);
    // Another agent beside it has its own history and can read the folder.
    assert_eq!(answer(folder.path(), "notes/counter.mdx", &["--prompt", "Add."]), "Added.\n");
    let of_counter = history(folder.path(), "notes/sessions/counter/main/history.json");
    assert_eq!(of_counter[2]["content"].as_str().map(str::trim_end), Some(helper.trim_end()));
    for (name, text) in [("helper.md", helper), ("counter.mdx", counter)] {
        assert_eq!(fs::read_to_string(folder.path().join("notes").join(name)).unwrap(), text, "{name}");
    }
    let (code, _, stderr) = talk(folder.path(), "notes/README.md", &["--prompt", "Hello?"]);
    assert!(code == Some(2) && stderr.contains("not an agent file") && stderr.contains("hint: "), "{stderr}");
}

fn paths_in_skills_can_be_used_by_their_agent() {
    let folder = tempfile::tempdir().unwrap();
    let skill =
        |name: &str| format!("---\nname: {name}\ndescription: How to {name}\n---\n\nRead {{baseDir}}/more.md.\n");
    write(folder.path(), "room/settings.yaml", "");
    write(folder.path(), "room/scenes/test.yaml", "name: Test\nseed: 3\nelements: []\nagents: []\n");
    write(folder.path(), "room/agents/ada/agent.mdx", DOCUMENT);
    write(folder.path(), "room/agents/bo.md", "---\nname: Bo\n---\nYou cook.\n");
    write(folder.path(), "room/agents/ada/skills/clouds/SKILL.md", &skill("clouds"));
    write(folder.path(), "room/agents/ada/skills/clouds/more.md", "Clouds are white.\n");
    write(folder.path(), "room/skills/cook/SKILL.md", &skill("cook"));
    write(folder.path(), "room/skills/cook/more.md", "Soup is hot.\n");
    let tool = |agent: &str| if agent == "ada" { "read_file" } else { "vfs_read" };
    for (agent, path, skill, base, content) in [
        ("ada", "room/agents/ada", "clouds", "skills/clouds", "Clouds are white."),
        ("ada", "room/agents/ada", "cook", "../../skills/cook", "Soup is hot."),
        ("bo", "room/agents/bo.md", "cook", "skills/cook", "Soup is hot."),
    ] {
        let called = format!("    - tools: [ {{ name: {}, arguments: {{ path: {base}/more.md }} }} ]\n", tool(agent));
        let script = format!("latency: 0.1\nagents:\n  {agent}:\n{called}    - text: Read.\n");
        write(folder.path(), "script.yaml", &script);
        let session = format!("{agent}-{skill}");
        let prompt = format!("/skill:{skill} now");
        let arguments = ["--session", &session, "--prompt", &prompt];
        assert_eq!(answer(folder.path(), path, &arguments), "Read.\n", "{agent} {skill}");
        let sessions =
            if agent == "ada" { "room/agents/ada/sessions".to_owned() } else { format!("room/sessions/{agent}") };
        let history = history(folder.path(), &format!("{sessions}/{session}/history.json"));
        let asked = history[0]["content"].as_str().unwrap();
        assert!(asked.contains(&format!("Read {base}/more.md.")) && asked.ends_with("now"), "{asked}");
        assert!(history[2]["content"].as_str().unwrap().contains(content), "{agent} {skill}: {history:?}");
    }
}

fn binary_and_huge_results_are_summarized_by_size() {
    let tool = |name: &str, body: &str| {
        format!(
            "<Tool name=\"{name}\" description=\"Gives much\">\n\n```ts\nasync function execute() {{ {body} }}\n```\n\n</Tool>\n\n"
        )
    };
    let document = format!(
        "# Agent: Weather Man\n\n## Purpose\n\nTells the weather.\n\n{}{}{}",
        tool("picture", "return String.fromCharCode(0x89, 0x50, 0, 1, 2, 3);"),
        tool("bytes", "return new Uint8Array(300);"),
        tool("much", "return 'x'.repeat(50_000);"),
    );
    let script = "latency: 0.1\nagents:\n  weather-man:\n    - tools: [ { name: picture, arguments: {} }, { name: bytes, \
        arguments: {} }, { name: much, arguments: {} } ]\n    - text: There.\n";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "weather/agent.mdx", &document);
    write(folder.path(), "script.yaml", script);
    let printed = answer(folder.path(), "weather", &["--prompt", "Show me.", "--json"]);
    assert!(!printed.contains("\\u0000") && !printed.contains('\0'), "the output contains no null characters");
    let history = history(folder.path(), MAIN);
    let results: Vec<&str> = history
        .iter()
        .filter(|entry| entry["role"] == "tool")
        .map(|entry| entry["content"].as_str().unwrap())
        .collect();
    assert_eq!(results[..2], ["[7 bytes that are not text]", "[300 bytes that are not text]"]);
    assert!(results[2].ends_with("[… cut, 10000 more characters]"), "{}", results[2].len());
}
