//! What agents in folders cost: a call of a document's tool compared with starting a program for each call, registering
//! a thousand folders, and the memory per module.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agent_workshop::app::room::{OpenOptions, Room};
use agent_workshop::document::{self, AgentDocument};
use agent_workshop::engine::{EngineLimits, HostAnswer, ModuleCommand, ProgramCache, ToolCall, ToolCode};
use agent_workshop::modules::{ModuleFolder, ModuleOptions, ModuleSet, ModuleState};
use agent_workshop::schedule;
use agent_workshop::tools::Tools;
use agent_workshop::tools::schema::Checker;
use serde_json::json;

use super::measure::{Figure, Times, digits, resident_mib, timed};

const CALLS: usize = 200;
/// The pause between two tool calls: shorter than the latency of any model.
const BETWEEN_CALLS: Duration = Duration::from_millis(20);
const FOLDERS: usize = 1_000;
const MODULES: usize = 50;

const DOCUMENT: &str = "# Agent: Figures\n\n## Purpose\n\nIs measured.\n\n<Tool name=\"forecast\" description=\"What comes\">\n  \
    <Param name=\"city\" />\n  <Param name=\"days\" type=\"number\" required=\"false\" />\n\n```ts\ninterface Forecast { day: number; \
    text: string }\nasync function execute(params: { city: string; days?: number }, ctx: any): Promise<string> {\n  const url = new \
    URL(\"https://example.com/api\");\n  url.searchParams.set(\"city\", params.city);\n  const answer = await fetch(url.href);\n  \
    const found: Forecast[] = await answer.json();\n  return found.slice(0, params.days ?? 3).map((one) => `${one.day}: \
    ${one.text}`).join(\"\\n\");\n}\n```\n\n</Tool>\n";
/// The same tool as a program of its own: it reads its parameters and answers like the tool's `fetch`.
const SCRIPT: &str = "const params = JSON.parse(process.argv[2]); const url = new URL('https://example.com/api'); \
    url.searchParams.set('city', params.city); const found = JSON.parse(process.argv[3]); \
    console.log(found.slice(0, params.days ?? 3).map((one) => `${one.day}: ${one.text}`).join('\\n'));";
const ANSWER: &str = r#"[{"day":1,"text":"sun"},{"day":2,"text":"rain"},{"day":3,"text":"fog"}]"#;
const MODULE: &str = "export default { describe: () => ({ name: 'm', description: 'm' }), async initialize() {}, tools: () => [{ name: \
    'one', description: 'one', parameters: { type: 'object', properties: {} }, execute: async () => 'one' }], systemPrompt: () => \
    'words', async start() {}, stop() {} };";

/// Measures document tools, folders and modules.
pub fn all() -> Vec<Figure> {
    let mut figures = calls();
    figures.push(folders());
    figures.push(module_memory());
    figures
}

fn calls() -> Vec<Figure> {
    let document = document::parse(DOCUMENT);
    let cache = Arc::new(ProgramCache::default());
    let checked = checker(&document);
    let at_once = Times::of(20, CALLS, || call(&document, &checked, &cache));
    // A model thinks between two calls of an agent; the next runtime is prepared in that time.
    let paused = (0..CALLS).map(|_| {
        std::thread::sleep(BETWEEN_CALLS);
        timed(|| call(&document, &checked, &cache))
    });
    let warm = Times::from_each(paused);
    let first = Times::of(5, CALLS, || {
        let document = document::parse(DOCUMENT);
        call(&document, &checker(&document), &Arc::new(ProgramCache::default()));
    });
    let against =
        started("node").map_or_else(|| "node is not here".to_owned(), |times| format!("node started: {times}"));
    let bun = started("bun").map(|times| format!("; bun started: {times}")).unwrap_or_default();
    let against = format!("{against}{bun}; calls without a pause: {at_once}");
    vec![
        Figure::at_most_ms("a call of a document's tool, end to end: a later one", 2.0, &warm).against(against),
        Figure::at_most_ms("the first call of a document's tool, including reading the document", 50.0, &first),
    ]
}

/// The validator of the tool's arguments, created once, as when tools are registered.
fn checker(document: &AgentDocument) -> Checker {
    Checker::new(document.tools[0].schema()).expect("the schema can be used")
}

fn call(document: &AgentDocument, checker: &Checker, programs: &Arc<ProgramCache>) {
    let tool = &document.tools[0];
    let arguments = checker.check(&json!({ "city": "Zürich", "days": 2 }), &[]).expect("they fit");
    let call = ToolCall {
        code: ToolCode::Written { text: tool.code.text.as_str().into(), programs: programs.clone() },
        file: "agent.mdx".to_owned(),
        first_line: tool.code.first_line,
        arguments,
        agent_dir: "agents/figures".to_owned(),
        cwd: "agents/figures".to_owned(),
        seed: 1,
        now_unix_ms: 1_700_000_000_000,
        limits: EngineLimits::default(),
    };
    let outcome = call.start().wait(|_| HostAnswer::Response {
        status: 200,
        url: "https://example.com/api".to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: ANSWER.into(),
    });
    assert_eq!(outcome.result.as_deref(), Ok("1: sun\n2: rain"));
}

/// The time of the same call as a program that is started each time; `None` if the program is not installed.
fn started(program: &str) -> Option<Times> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let script = folder.path().join("forecast.js");
    fs::write(&script, SCRIPT).expect("files can be written");
    let run = || {
        let mut command = Command::new(program);
        command.arg(&script).args([r#"{"city":"Zürich","days":2}"#, ANSWER]).stdin(Stdio::null()).stderr(Stdio::null());
        command.output().ok().filter(|output| output.stdout == b"1: sun\n2: rain\n")
    };
    run()?;
    Some(Times::of(2, 20, || drop(run())))
}

/// Measures the time from opening a workspace of folders until all of their tools are available.
fn folders() -> Figure {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let scene = "name: Many\nseed: 1\nelements: []\nagents: []\n";
    for (path, text) in [("settings.yaml", ""), ("scenes/many.yaml", scene)] {
        write(folder.path(), path, text);
    }
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    bare.extend((0..5).map(|_| opened(folder.path(), 0)));
    for number in 0..FOLDERS {
        write(folder.path(), &format!("agents/agent-{number}/agent.mdx"), DOCUMENT);
        let skill = "---\nname: cook\ndescription: How to cook\n---\nCook.";
        write(folder.path(), &format!("agents/agent-{number}/skills/cook/SKILL.md"), skill);
    }
    ours.extend((0..5).map(|_| opened(folder.path(), FOLDERS)));
    let times = Times::from_each(ours);
    Figure::at_most_ms(
        format!("loading and registering {FOLDERS} folders, each with a document, a tool and a skill"),
        2_000.0,
        &times,
    )
    .against(format!("the same room without any: {}", Times::from_each(bare)))
}

fn opened(folder: &std::path::Path, tools: usize) -> Duration {
    let options = OpenOptions {
        folder: folder.to_owned(),
        scene: Some("many".into()),
        provider: Some("offline".into()),
        fresh: true,
        ..OpenOptions::trusted()
    };
    let mut open = None;
    let took = timed(|| {
        let (mut room, _) = Room::open(&options).expect("the workspace can be opened");
        let own =
            |room: &Room| room.app.world().resource::<Tools>().iter().filter(|tool| tool.name == "forecast").count();
        let mut ticks = 0;
        while own(&room) < tools {
            schedule::advance(room.app.world_mut());
            ticks += 1;
            assert!(ticks < 1_000, "only {} of {tools} tools are there", own(&room));
        }
        open = Some(room);
    });
    if let Some(room) = open {
        room.close("measured", |_| {}).expect("the room can be closed");
    }
    took
}

fn write(folder: &std::path::Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("it should have a parent folder")).expect("folders can be made");
    fs::write(path, text).expect("files can be written");
}

/// Measures the memory per loaded module.
fn module_memory() -> Figure {
    let cache = ProgramCache::default();
    let limits = EngineLimits::default();
    let files: BTreeMap<String, &str> = (0..MODULES).map(|number| (format!("modules/m{number}.ts"), MODULE)).collect();
    let files = files.iter().map(|(path, text)| (path.as_str(), *text));
    let folder = ModuleFolder::read(files, |_| None, &cache, &limits);
    let options = ModuleOptions { agent_dir: "agents/a".to_owned(), seed: 1, now_unix_ms: 0, limits };
    let before = resident_mib("self");
    let mut set = ModuleSet::load(&folder, &options);
    while set.states().any(|(_, state)| !matches!(state, ModuleState::Ready(_))) {
        set.poll();
        std::thread::yield_now();
    }
    let names: Vec<String> = set.states().map(|(file, _)| file.to_owned()).collect();
    for name in &names {
        let order = ModuleCommand::Tool { name: "one".to_owned(), arguments: serde_json::Map::new() };
        set.order(name, order).expect("it should accept orders");
    }
    let each = (resident_mib("self") - before) / MODULES as f64;
    Figure {
        what: format!("memory per module, {MODULES} running"),
        limit: "3 MB".into(),
        measured: format!("{} MB", digits(each)),
        against: String::new(),
        holds: Some(each <= 3.0),
    }
}
