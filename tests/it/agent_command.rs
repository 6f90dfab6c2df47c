//! `workshop agent`, a conversation with one agent, with the real program: what it prints and stores, and how a
//! conversation continues.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use libtest_mimic::Trial;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cases;
use crate::program::{Running, json_lines, output, write};

pub fn trials() -> Vec<Trial> {
    cases![
        a_prompt_prints_the_answer_alone_and_a_folder_gets_nothing_else,
        events_come_in_order_with_linked_ids,
        the_history_continues_and_is_cleared,
        how_it_ends_is_said_by_the_exit_code,
        what_waits_for_a_person_continues_with_the_next_prompt,
        a_second_process_is_told_that_somebody_talks_already,
        a_skill_is_put_into_the_prompt,
        modules_of_a_folder_give_its_agent_tools_that_say_how_far_they_are,
        an_agent_of_a_workspace_is_talked_to_there,
        a_file_alone_is_an_agent_outside_of_any_workspace,
        skills_have_paths_that_their_agent_can_use,
        bytes_and_huge_answers_are_said_by_their_size,
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

/// A folder with an agent, and a script for its model beside it.
fn weather(script: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "weather/agent.mdx", DOCUMENT);
    write(folder.path(), "script.yaml", script);
    folder
}

/// Talks to the agent at this path. Returns the exit code and both outputs.
fn talk(folder: &Path, path: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let ended = output(folder, &[&["agent", path, "--provider", "scripted:script.yaml"], arguments].concat());
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (ended.status.code(), text(&ended.stdout), text(&ended.stderr))
}

fn answer(folder: &Path, path: &str, arguments: &[&str]) -> String {
    let (code, printed, told) = talk(folder, path, arguments);
    assert_eq!((code, told.as_str()), (Some(0), ""), "{printed}");
    printed
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

fn modules_of_a_folder_give_its_agent_tools_that_say_how_far_they_are() {
    let folder = weather(ASKING_THE_CLOCK);
    write(folder.path(), "weather/modules/clock.ts", CLOCK);
    write(folder.path(), "weather/modules/parts/text.ts", "export const text = (city: string) => `noon in ${city}`;\n");
    let printed = answer(folder.path(), "weather", &["--prompt", "How late is it?", "--json"]);
    let events = json_lines(&printed);
    let of_call = |wanted: &str| {
        let found = events.iter().find(|event| event["type"] == wanted);
        found.unwrap_or_else(|| panic!("{wanted}: {printed}")).clone()
    };
    let (start, update, end) =
        (of_call("tool_execution_start"), of_call("tool_execution_update"), of_call("tool_execution_end"));
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

fn a_prompt_prints_the_answer_alone_and_a_folder_gets_nothing_else() {
    let folder = weather(CALLING);
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

fn events_come_in_order_with_linked_ids() {
    let folder = weather(CALLING);
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

fn the_history_continues_and_is_cleared() {
    let folder = weather(ANSWERING);
    let say = |words: &str| answer(folder.path(), "weather", &["--prompt", words]);
    assert_eq!((say("One?"), say("Two?")), ("First.\n".to_owned(), "Second.\n".to_owned()));
    assert_eq!(contents(&history(folder.path(), MAIN)), ["One?", "First.", "Two?", "Second."]);
    // The prompts of the model.
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

fn how_it_ends_is_said_by_the_exit_code() {
    let failing = "agents:\n  weather-man:\n    - error: { status: 400, message: no such thing }\n";
    let folder = weather(failing);
    let (code, printed, told) = talk(folder.path(), "weather", &["--prompt", "Hello?"]);
    assert_eq!((code, printed.as_str()), (Some(1), ""), "{told}");
    assert!(told.contains("error: "), "{told}");
    for (path, said) in [("nowhere", "nowhere"), (".", "agent.mdx"), ("script.yaml", "not an agent file")] {
        let (code, printed, told) = talk(folder.path(), path, &["--prompt", "Hello?"]);
        assert_eq!((code, printed.as_str()), (Some(2), ""), "{path}: {told}");
        assert!(told.contains(said) && told.contains("hint: "), "{path}: {told}");
    }
    // Nobody can type where there is no terminal.
    assert_eq!(talk(folder.path(), "weather", &[]).0, Some(2));
    assert_eq!(talk(folder.path(), "weather", &["--session", "../x", "--prompt", "Hello?"]).0, Some(2));
    let (code, _, told) = talk(folder.path(), "weather", &["--prompt", "/skill:none"]);
    assert!(code == Some(2) && told.contains("there is no skill"), "{told}");
    let limited = weather(CALLING);
    write(limited.path(), "weather/settings.yaml", "kernel: { turns_at_most: 1 }\n");
    let (code, printed, told) = talk(limited.path(), "weather", &["--prompt", "How is it?"]);
    assert_eq!((code, printed.as_str()), (Some(3), ""), "{told}");
    assert!(told.contains("stopped after 1 turns"), "{told}");
    assert_eq!(history(limited.path(), MAIN)[2]["content"], "rain in Ulm");
}

fn what_waits_for_a_person_continues_with_the_next_prompt() {
    let script = "agents:\n  lead:\n    - tools: [ { name: execute_command, arguments: { command: touch made } } ]\n    - text: It is made.\n    - text: Gladly.\n";
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "lead/agent.md", "---\nid: lead\ntools: [execute_command]\n---\nYou lead.\n");
    write(folder.path(), "script.yaml", script);
    let (code, printed, told) = talk(folder.path(), "lead", &["--prompt", "Make it."]);
    assert_eq!((code, printed.as_str()), (Some(4), ""), "{told}");
    assert!(told.contains("touch made") && told.contains("workshop approvals allow"), "{told}");
    assert!(told.contains("workshop agent lead --session main"), "{told}");
    let path = "lead/sessions/main/history.json";
    assert_eq!(history(folder.path(), path).len(), 2, "the call has no result yet");
    let (code, printed, told) = talk(folder.path(), "lead", &["--prompt", "Thanks.", "--on-ask", "allow"]);
    assert_eq!((code, printed.as_str()), (Some(0), "Gladly.\n"), "{told}");
    assert!(folder.path().join("lead/made").exists());
    let history = history(folder.path(), path);
    let roles: Vec<&str> = history.iter().map(|entry| entry["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user", "assistant"]);
    assert_eq!(history[2]["toolCallId"], history[1]["toolCalls"][0]["id"]);
    assert_eq!(history[3]["content"], "It is made.");
}

fn a_second_process_is_told_that_somebody_talks_already() {
    let folder = weather(ANSWERING);
    let arguments = ["run", "weather", "--provider", "scripted:script.yaml", "--events", "-"];
    let mut first = Running::start(folder.path(), &arguments);
    first.wait_for("the room is open", |event| event["type"] == "run_start");
    let (code, printed, told) = talk(folder.path(), "weather", &["--prompt", "One?"]);
    assert_eq!((code, printed.as_str()), (Some(1), ""), "{told}");
    assert!(told.contains("session main") && told.contains("already open"), "{told}");
    let (code, printed, told) = talk(folder.path(), "weather", &["--prompt", "One?", "--json"]);
    let [end] = &json_lines(&printed)[..] else { panic!("{printed}{told}") };
    assert_eq!((code, &end["type"], &end["ended"]), (Some(1), &json!("agent_end"), &json!("failed")));
    assert!(!folder.path().join(MAIN).exists(), "nothing was said");
    first.kill();
    let (code, printed, told) = talk(folder.path(), "weather", &["--prompt", "One?"]);
    assert_eq!((code, printed.as_str()), (Some(0), "First.\n"), "{told}");
}

fn a_skill_is_put_into_the_prompt() {
    let folder = weather(ANSWERING);
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

fn an_agent_of_a_workspace_is_talked_to_there() {
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

fn a_file_alone_is_an_agent_outside_of_any_workspace() {
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
    // Another one beside it has a history of its own, and the folder is its own.
    assert_eq!(answer(folder.path(), "notes/counter.mdx", &["--prompt", "Add."]), "Added.\n");
    let of_counter = history(folder.path(), "notes/sessions/counter/main/history.json");
    assert_eq!(of_counter[2]["content"].as_str().map(str::trim_end), Some(helper.trim_end()));
    for (name, text) in [("helper.md", helper), ("counter.mdx", counter)] {
        assert_eq!(fs::read_to_string(folder.path().join("notes").join(name)).unwrap(), text, "{name}");
    }
    let (code, _, told) = talk(folder.path(), "notes/README.md", &["--prompt", "Hello?"]);
    assert!(code == Some(2) && told.contains("not an agent file") && told.contains("hint: "), "{told}");
}

fn skills_have_paths_that_their_agent_can_use() {
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
        let kept =
            if agent == "ada" { "room/agents/ada/sessions".to_owned() } else { format!("room/sessions/{agent}") };
        let history = history(folder.path(), &format!("{kept}/{session}/history.json"));
        let asked = history[0]["content"].as_str().unwrap();
        assert!(asked.contains(&format!("Read {base}/more.md.")) && asked.ends_with("now"), "{asked}");
        assert!(history[2]["content"].as_str().unwrap().contains(content), "{agent} {skill}: {history:?}");
    }
}

fn bytes_and_huge_answers_are_said_by_their_size() {
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
    assert!(!printed.contains("\\u0000") && !printed.contains('\0'), "no zeros");
    let history = history(folder.path(), MAIN);
    let results: Vec<&str> = history
        .iter()
        .filter(|entry| entry["role"] == "tool")
        .map(|entry| entry["content"].as_str().unwrap())
        .collect();
    assert_eq!(results[..2], ["[7 bytes that are not text]", "[300 bytes that are not text]"]);
    assert!(results[2].ends_with("[… cut, 10000 more characters]"), "{}", results[2].len());
}
