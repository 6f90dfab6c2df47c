//! Agents that are folders with a document: their tools, skills, modules and heartbeats, under the room's permission
//! checks.

use agent_workshop::agent::Roster;
use agent_workshop::gateway::sandbox::Level;
use agent_workshop::kernel::KernelCommand;
use agent_workshop::mind::LastPrompt;
use agent_workshop::schedule::{InputQueue, TICKS_PER_SEC};
use agent_workshop::workspace::FileChanged;
use agent_workshop::workspace::files::FileContent;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::cases;
use crate::hostile_server::{Server, status};
use crate::program::{output, succeed};
use crate::sandbox_modes::in_each;
use crate::working::{Studio, asked};

pub fn trials() -> Vec<Trial> {
    cases![
        a_tool_reaches_files_and_servers_through_calls_of_its_agent,
        refused_and_denied_calls_throw_errors_in_the_code,
        a_tool_continues_after_the_room_is_reopened,
        a_tool_has_only_the_rights_of_its_agent,
        endless_code_is_ended_and_reported_to_the_agent,
        a_configured_runtime_runs_the_code_in_a_sandbox,
        the_agent_has_file_tools_with_paths_relative_to_its_folder,
        skills_are_listed_and_called_by_name,
        a_heartbeat_wakes_the_agent_and_replays,
        missed_heartbeats_are_made_up_for_once,
        a_module_provides_tools_and_prompt_text_and_prompts_the_agent,
        an_invalid_module_is_reported_and_skipped,
        a_syntax_error_is_reported_with_its_line_until_corrected
    ]
}

const SCENE: &str = "name: Test\nseed: 3\nelements: []\nagents:\n  - { id: ada, profile: ada, position: [0, 0] }\n";

/// Returns a document with one tool that has this code.
pub fn document(front: &str, code: &str) -> String {
    format!(
        "---\n{front}\n---\n# Agent: Ada\n\n## Purpose\n\nLooks after numbers.\n\n<Tool name=\"report\" description=\"Reports\">\n  \
         <Param name=\"about\" />\n\n```ts\nasync function execute(params: {{ about: string }}, ctx: any) {{\n{code}\n}}\n```\n</Tool>\n"
    )
}

pub fn call(name: &str, arguments: &Value) -> String {
    format!("{{ name: {name}, arguments: {arguments} }}")
}

/// Opens a room in which Ada has this document and calls its tool.
fn studio(document: &str, files: &[(&str, &str)]) -> Studio {
    studio_with_calls(&[call("report", &json!({ "about": "numbers" }))], document, files)
}

/// Opens a room in which Ada has this document and makes these calls one after another.
pub fn studio_with_calls(calls: &[String], document: &str, files: &[(&str, &str)]) -> Studio {
    let calls: String = calls.iter().map(|call| format!("    - tools: [ {call} ]\n")).collect();
    let script = format!("latency: 0.1\nagents:\n  ada:\n{calls}    - text: Done.\ndefault: [ {{ text: Noted. }} ]\n");
    let own = [("scenes/test.yaml", SCENE), ("agents/ada/agent.mdx", document)];
    let all: Vec<(&str, &str)> = own.iter().chain(files).copied().collect();
    Studio::new(&script, &all)
}

/// Returns the names of the called tools, in order.
fn tools(studio: &Studio) -> Vec<String> {
    let calls = studio.all("tool_call").into_iter();
    calls.map(|call| call["data"]["tool"].as_str().expect("the call has a tool").to_owned()).collect()
}

const REPORT: &str = "  const before: string = await ctx.readFile('state/before.txt');
  const answer = await fetch(`SERVER${params.about}`);
  const text = `${before.trim()} ${answer.status} ${await answer.text()}`;
  await ctx.writeFile('../../artifacts/report.md', text);
  return { about: params.about, text };";

fn number_server() -> Server {
    Server::start(|stream, request, _| {
        use std::io::Write;
        let first = request.lines().next().unwrap_or_default();
        let answer =
            if first.contains("numbers") { status("200 OK", "", "42") } else { status("404 Gone", "", "none") };
        let _ = stream.write_all(&answer);
    })
}

fn a_tool_reaches_files_and_servers_through_calls_of_its_agent() {
    let server = number_server();
    let code = REPORT.replace("SERVER", &server.url);
    let mut studio = studio(&document("", &code), &[("agents/ada/state/before.txt", "Seen:\n")]);
    studio.task("ada", "Report.");
    let (work, turn, index) = asked(&mut studio);
    assert_eq!(server.seen(), 0, "no request is sent before the approval");
    let wants = studio.all("approval_requested")[0]["data"]["wants"].to_string();
    assert!(wants.contains(&format!("{}numbers", server.url)), "{wants}");
    studio.command(KernelCommand::decide(work, turn, index, true));
    studio.idle();
    assert_eq!(studio.read("artifacts/report.md"), "Seen: 200 42");
    assert_eq!(tools(&studio), ["report", "read_text", "web_fetch", "vfs_write"]);
    let calls = studio.all("tool_call");
    assert!(calls[1..].iter().all(|call| call["cause"] == calls[0]["seq"]), "the tool's call is the cause: {calls:#?}");
    let results = studio.results();
    assert_eq!(results.last().map(String::as_str), Some("{\"about\":\"numbers\",\"text\":\"Seen: 200 42\"}"));
    let sessions = std::fs::read_dir(studio.folder.path().join("sessions")).expect("at least one exists");
    let session = sessions.flatten().map(|entry| std::fs::read_to_string(entry.path()).unwrap_or_default());
    let session: String = session.collect();
    assert!(!session.contains("web_fetch"), "calls by the code are not in the model's session: {session}");
    studio.close();
    drop(server);
    let replayed = succeed(studio.folder.path(), &["replay", "last", "--verify"]);
    assert!(replayed.contains("all equal"), "{replayed}");
}

fn refused_and_denied_calls_throw_errors_in_the_code() {
    let server = number_server();
    let code = format!(
        "  try {{ await fetch('{}a'); return 'asked'; }} catch (error) {{ return `no: ${{error.message}}`; }}",
        server.url
    );
    let mut refused = studio(&document("", &code), &[]);
    refused.task("ada", "Report.");
    let (work, turn, index) = asked(&mut refused);
    refused.command(KernelCommand::decide(work, turn, index, false));
    refused.idle();
    let result = refused.results().pop().expect("the call has a result");
    assert!(result.starts_with("no: ") && result.contains("a person refused this"), "{result}");
    let mut denied = studio(&document("", &code), &[("settings.yaml", "gate: { touches: { net.fetch: deny } }\n")]);
    denied.task("ada", "Report.");
    denied.idle();
    let result = denied.results().pop().expect("the call has a result");
    assert!(result.starts_with("no: not allowed"), "{result}");
    assert_eq!(server.seen(), 0);
}

fn a_tool_continues_after_the_room_is_reopened() {
    let server = number_server();
    let code = "  await ctx.writeFile('../../artifacts/first.md', 'one');\n  const answer = await fetch('SERVERnumbers');\n  await \
                ctx.writeFile('../../artifacts/second.md', await answer.text());\n  return 'both';";
    let mut studio = studio(&document("", &code.replace("SERVER", &server.url)), &[]);
    studio.task("ada", "Report.");
    asked(&mut studio);
    studio.close();
    studio.open();
    let (work, turn, index) = asked(&mut studio);
    studio.command(KernelCommand::decide(work, turn, index, true));
    studio.idle();
    assert_eq!((studio.read("artifacts/first.md"), studio.read("artifacts/second.md")), ("one".into(), "42".into()));
    let writes = studio.all("file_change").into_iter().filter(|change| change["data"]["path"] == "artifacts/first.md");
    assert_eq!(writes.count(), 1, "the file is written once");
    assert_eq!(studio.results().last().map(String::as_str), Some("both"));
}

fn a_tool_has_only_the_rights_of_its_agent() {
    let code = "  try { await ctx.writeFile('../../artifacts/a.md', 'x'); return 'written'; }\n  catch (error) { return `no: \
                ${error.message}`; }";
    let mut studio = studio(&document("tools: [vfs_read]", code), &[]);
    studio.task("ada", "Report.");
    studio.idle();
    let result = studio.results().pop().expect("the call has a result");
    assert!(result.starts_with("no: ") && !studio.exists("artifacts/a.md"), "{result}");
}

fn endless_code_is_ended_and_reported_to_the_agent() {
    let mut studio = studio(&document("", "  while (true) {}"), &[]);
    studio.task("ada", "Report.");
    studio.idle();
    let result = studio.results().pop().expect("the call has a result");
    assert!(result.contains("it ran for more than 5s"), "{result}");
    assert_eq!(studio.all("complete").len(), 1, "the agent continues");
}

fn a_configured_runtime_runs_the_code_in_a_sandbox() {
    in_each("documents::a_configured_runtime_runs_the_code_in_a_sandbox", a_configured_runtime_runs_in);
}

fn a_configured_runtime_runs_in(level: Level) {
    let code = "  const { readFileSync, writeFileSync } = await import('node:fs');\n\
        const tried = (act: () => void) => { try { act(); return 'done'; } catch { return 'refused'; } };\n\
        const read = tried(() => readFileSync(WORKSPACE + '/settings.yaml'));\n\
        const written = tried(() => writeFileSync(WORKSPACE + '/made.md', 'x'));\n\
        return `${params.about} ${read} ${written} ${await ctx.readFile('notes.md')}`;";
    let mut studio = studio(
        &document("", "  return 1;"),
        &[("agents/ada/notes.md", "noted"), ("settings.yaml", "documents: { runtime: node }\n")],
    );
    let code = code.replace("WORKSPACE", &format!("{:?}", studio.folder.path().display().to_string()));
    let change = FileChanged::new("agents/ada/agent.mdx", FileContent::Text(document("", &code)));
    studio.world().resource_mut::<InputQueue<FileChanged>>().push(change);
    studio.tick();
    studio.task("ada", "Report.");
    studio.idle();
    let result = studio.results().pop().expect("the call has a result");
    match level {
        // The program sees an empty folder in place of the workspace and may write there without effect.
        Level::Bubblewrap => assert!(result.starts_with("numbers refused ") && result.ends_with(" noted"), "{result}"),
        _ => assert!(result.contains("node cannot be sandboxed on this computer"), "{result}"),
    }
    assert!(!studio.exists("made.md"));
}

fn the_agent_has_file_tools_with_paths_relative_to_its_folder() {
    let calls = [
        call("write_file", &json!({ "path": "state/now.md", "content": "busy" })),
        call("read_file", &json!({ "path": "state/now.md" })),
    ];
    let mut studio = studio_with_calls(&calls, &document("", "  return 1;"), &[]);
    studio.task("ada", "Go.");
    studio.until("the first call was judged", |studio| !studio.all("tool_call").is_empty());
    for _ in 0..60 {
        studio.tick();
        let open = studio.world().resource::<agent_workshop::kernel::Kernel>().approvals().next();
        if let Some(approval) = open {
            studio.command(KernelCommand::decide(approval.activation, approval.turn, approval.call, true));
        }
    }
    studio.idle();
    assert_eq!(studio.read("agents/ada/state/now.md"), "busy");
    assert!(studio.results().iter().any(|result| result.contains("busy")), "{:#?}", studio.results());
}

const COOK: &str = "---\nname: cook\ndescription: How to cook eggs\n---\nRun {baseDir}/cook.sh for $ARGUMENTS.";

fn skills_are_listed_and_called_by_name() {
    let bake = COOK.replace("cook", "bake");
    let files = [("agents/ada/skills/cook/SKILL.md", COOK), ("skills/bake/SKILL.md", &*bake)];
    let mut studio = studio_with_calls(&[], &document("", "  return 1;"), &files);
    studio.task("ada", "/skill:cook two eggs");
    studio.idle();
    let world = studio.world();
    let roster = world.resource::<Roster>();
    let entity = roster.key("ada").and_then(|key| roster.entity(key)).expect("the agent is in the room");
    let prompt = &world.get::<LastPrompt>(entity).expect("the agent has had a prompt").0;
    let listed = prompt.parts_from("skills").next().map(|part| part.text.clone()).expect("the prompt lists the skills");
    for path in ["skills/cook/SKILL.md", "../../skills/bake/SKILL.md"] {
        assert!(listed.contains(&format!("<location>{path}</location>")), "{listed}");
    }
    let given = studio.all("prompt").last().map(ToString::to_string).unwrap_or_default();
    let session =
        std::fs::read_dir(studio.folder.path().join("sessions")).expect("at least one exists").flatten().next();
    let session = session.map(|entry| std::fs::read_to_string(entry.path()).unwrap_or_default()).unwrap_or(given);
    assert!(session.contains("Run skills/cook/cook.sh for two eggs."), "{session}");
    studio.task("ada", "/skill:boil eggs");
    studio.until("the problem is reported", |studio| !studio.all("warning").is_empty());
    let warning = studio.all("warning").last().map(ToString::to_string).unwrap_or_default();
    assert!(warning.contains("there is no skill \\\"boil\\\"; there are: cook, bake"), "{warning}");
}

const EVERY: &str =
    "@every: 10s\n\n## On Wake\n\n- Look at the numbers\n\n## Context Reconstruction\n\n- Read state/now.md\n";

/// Returns the tasks that were started by a heartbeat.
fn heartbeat_tasks(studio: &Studio) -> Vec<String> {
    let work = studio.all("activation").into_iter().filter(|work| work["data"]["by"] == "heartbeat");
    work.map(|work| work["data"]["task"].to_string()).collect()
}

fn a_heartbeat_wakes_the_agent_and_replays() {
    let mut studio = studio_with_calls(&[], &document("", "  return 1;"), &[("agents/ada/heartbeat.md", EVERY)]);
    for _ in 0..35 * TICKS_PER_SEC {
        studio.tick();
    }
    let woken = heartbeat_tasks(&studio);
    assert_eq!(woken.len(), 3, "{woken:#?}");
    assert!(woken[0].contains("- Read state/now.md") && woken[0].contains("- Look at the numbers"), "{woken:#?}");
    studio.close();
    let replayed = succeed(studio.folder.path(), &["replay", "last", "--verify"]);
    assert!(replayed.contains("all equal"), "{replayed}");
}

fn missed_heartbeats_are_made_up_for_once() {
    let mut studio = studio_with_calls(&[], &document("", "  return 1;"), &[("agents/ada/heartbeat.md", EVERY)]);
    for _ in 0..12 * TICKS_PER_SEC {
        studio.tick();
    }
    assert_eq!(heartbeat_tasks(&studio).len(), 1);
    studio.close();
    studio.open();
    for _ in 0..5 * TICKS_PER_SEC {
        studio.tick();
    }
    assert!(heartbeat_tasks(&studio).len() <= 2, "missed heartbeats count once: {:#?}", heartbeat_tasks(&studio));
}

const MODULE: &str = "import { add } from './parts/sums';
let calls = 0;
export default class {
  describe() { return { name: 'sums', description: 'Sums' }; }
  async initialize(ctx: any) { this.ctx = ctx; }
  tools() {
    return [{
      name: 'sum', description: 'Adds', parameters: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
      execute: async (params: { a: number }) => { calls += 1; return `${add(params.a, 1)} after ${calls}`; },
    }];
  }
  systemPrompt() { return `Sums were made ${calls} times.`; }
  async start() { this.ctx.prompt('Look at the sums.').then((answer: string) => this.ctx.log(answer)); }
  stop() {}
}
";

fn a_module_provides_tools_and_prompt_text_and_prompts_the_agent() {
    let files = [
        ("agents/ada/modules/sums.ts", MODULE),
        ("agents/ada/modules/parts/sums.ts", "export const add = (a: number, b: number): number => a + b;\n"),
    ];
    let sum = call("sum", &json!({ "a": 1 }));
    let mut studio = studio_with_calls(&[sum.clone(), sum], &document("", "  return 1;"), &files);
    studio.until("the module prompts the agent", |studio| {
        studio.all("activation").iter().any(|work| work["data"]["by"] == "module")
    });
    studio.idle();
    assert_eq!(studio.results(), ["2 after 1", "2 after 2"], "the module keeps its state between calls");
    studio.task("ada", "Again.");
    studio.idle();
    let world = studio.world();
    let roster = world.resource::<Roster>();
    let entity = roster.key("ada").and_then(|key| roster.entity(key)).expect("the agent is in the room");
    let prompt = &world.get::<LastPrompt>(entity).expect("the agent has had a prompt").0;
    let text =
        prompt.parts_from("modules").next().map(|part| part.text.clone()).expect("the prompt has text of modules");
    assert!(text.contains("Sums were made 2 times."), "{text}");
    studio.close();
    std::fs::remove_dir_all(studio.folder.path().join("agents/ada/modules")).expect("the modules can be removed");
    let replayed = succeed(studio.folder.path(), &["replay", "last", "--verify"]);
    assert!(replayed.contains("all equal"), "{replayed}");
}

fn a_syntax_error_is_reported_with_its_line_until_corrected() {
    let mut studio = studio(&document("", "  return params.about +;"), &[]);
    let line =
        1 + studio.read("agents/ada/agent.mdx").lines().position(|line| line.contains("+;")).expect("the line exists");
    let code_problems = |studio: &mut Studio| {
        let problems = studio.world().resource::<agent_workshop::workspace::Problems>();
        let of_code = problems.iter().filter(|problem| problem.what.contains("the code of the tool"));
        of_code.map(|problem| (problem.place.clone(), problem.line)).collect::<Vec<_>>()
    };
    studio.until("the problem is reported", |studio| !code_problems(studio).is_empty());
    assert_eq!(code_problems(&mut studio), [("agents/ada/agent.mdx".to_owned(), Some(line))]);
    studio.close();
    let replayed = succeed(studio.folder.path(), &["replay", "last", "--verify"]);
    assert!(replayed.contains("all equal"), "{replayed}");
    let doctor = output(studio.folder.path(), &["doctor"]);
    let doctor = String::from_utf8_lossy(&doctor.stdout);
    assert!(doctor.contains("the code of the tool \"report\""), "{doctor}");
    studio.open();
    studio.until("the problem is reported again", |studio| !code_problems(studio).is_empty());
    let correct = FileContent::Text(document("", "  return params.about;"));
    let change = FileChanged::new("agents/ada/agent.mdx", correct);
    studio.world().resource_mut::<InputQueue<FileChanged>>().push(change);
    studio.until("the problem is gone", |studio| code_problems(studio).is_empty());
}

fn an_invalid_module_is_reported_and_skipped() {
    let files = [
        (
            "agents/ada/modules/sums.ts",
            &*MODULE.replace("import { add } from './parts/sums';", "const add = (a: number, b: number) => a + b;"),
        ),
        ("agents/ada/modules/hangs.ts", "while (true) {}\nexport default {};\n"),
        ("agents/ada/modules/odd.ts", "export default { describe() { return 7; } };\n"),
        ("agents/ada/modules/far.ts", "import x from 'left-pad';\nexport default x;\n"),
    ];
    let mut studio = studio_with_calls(&[call("sum", &json!({ "a": 1 }))], &document("", "  return 1;"), &files);
    let problems = |studio: &mut Studio| {
        let problems = studio.world().resource::<agent_workshop::workspace::Problems>();
        problems.iter().map(|problem| format!("{}: {}", problem.place, problem.what)).collect::<Vec<_>>()
    };
    studio.until("all three are reported", |studio| problems(studio).len() >= 3);
    for file in ["hangs.ts", "odd.ts", "far.ts"] {
        let reported = problems(&mut studio);
        assert!(
            reported.iter().any(|problem| problem.starts_with(&format!("agents/ada/modules/{file}: "))),
            "{file}: {reported:#?}"
        );
    }
    studio.task("ada", "Sum.");
    studio.idle();
    assert!(studio.results().contains(&"2 after 1".to_owned()), "the valid module works: {:#?}", studio.results());
}
