//! Modules of agents in the room: concurrent calls, reloading, shutdown, and errors in the background.

use agent_workshop::agent::Roster;
use agent_workshop::base::Severity;
use agent_workshop::kernel::KernelCommand;
use agent_workshop::mind::LastPrompt;
use agent_workshop::schedule::InputQueue;
use agent_workshop::workspace::files::FileContent;
use agent_workshop::workspace::{FileChanged, Problems};
use libtest_mimic::Trial;
use serde_json::json;

use crate::cases;
use crate::documents::{call, document, studio_with_calls};
use crate::program::succeed;
use crate::working::Studio;

pub fn trials() -> Vec<Trial> {
    cases![
        a_hanging_module_is_reported_and_its_calls_end,
        tools_can_be_called_while_start_waits_for_the_agent,
        module_output_and_background_errors_are_logged,
        prompt_text_is_requested_when_work_starts,
        work_waits_for_modules_that_are_being_loaded,
        work_that_continues_after_reopening_waits_for_them_too,
        the_prompt_after_a_call_has_the_text_that_the_call_changed,
        work_does_not_wait_for_a_module_that_waits_for_it,
        a_changed_module_is_stopped_and_reloaded,
        a_call_fails_if_its_module_is_reloaded,
        a_stopped_call_can_no_longer_call_tools,
        modules_stop_in_reverse_order_when_the_room_is_closed,
        a_module_can_import_only_from_its_agents_folder
    ]
}

/// Returns the code of a module that logs its lifecycle, with these bodies of its tool, `start` and `systemPrompt`.
fn module(name: &str, tool: &str, start: &str, prompt: &str) -> String {
    format!(
        "let context: any, asked = 0;
export default {{
  describe: () => ({{ name: '{name}', description: '' }}),
  async initialize(ctx: any) {{ context = ctx; await ctx.log('{name} is here'); }},
  tools: () => [{{ name: '{name}', description: 'Does it', parameters: {{ type: 'object', properties: {{}} }},
    execute: async () => {{ {tool} }} }}],
  systemPrompt: () => {{ {prompt} }},
  async start() {{ {start} }},
  async stop() {{ await null; await context.log('{name} stopped'); }},
}};
"
    )
}

fn path(name: &str) -> String {
    format!("agents/ada/modules/{name}.ts")
}

/// Opens a room in which Ada has these modules and calls these tools.
fn studio(calls: &[&str], modules: &[(&str, &str)]) -> Studio {
    let calls: Vec<String> = calls.iter().map(|name| call(name, &json!({}))).collect();
    let files: Vec<(String, &str)> = modules.iter().map(|(name, code)| (path(name), *code)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, code)| (path.as_str(), *code)).collect();
    studio_with_calls(&calls, &document("", "  return 1;"), &files)
}

fn logged(studio: &Studio) -> Vec<String> {
    let lines = studio.all("module_log").into_iter();
    lines.map(|line| line["data"]["text"].as_str().expect("the line has a text").to_owned()).collect()
}

fn has_logged(studio: &Studio, text: &str) -> bool {
    logged(studio).iter().any(|line| line == text)
}

fn problems(studio: &mut Studio) -> Vec<String> {
    let problems = studio.world().resource::<Problems>();
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    errors.map(|problem| format!("{}: {}", problem.place, problem.what)).collect()
}

fn change(studio: &mut Studio, name: &str, code: &str) {
    let change = FileChanged::new(path(name), FileContent::Text(code.to_owned()));
    studio.world().resource_mut::<InputQueue<FileChanged>>().push(change);
    studio.tick();
}

/// Returns the text that modules added to the last prompt.
fn prompt_text(studio: &mut Studio) -> String {
    let world = studio.world();
    let roster = world.resource::<Roster>();
    let entity = roster.key("ada").and_then(|key| roster.entity(key)).expect("the agent is in the room");
    let prompt = &world.get::<LastPrompt>(entity).expect("the agent has had a prompt").0;
    prompt.parts_from("modules").next().map(|part| part.text.clone()).unwrap_or_default()
}

fn assert_replays(studio: &mut Studio) {
    studio.close();
    std::fs::remove_dir_all(studio.folder.path().join("agents/ada/modules")).expect("the modules can be removed");
    let replayed = succeed(studio.folder.path(), &["replay", "last", "--verify"]);
    assert!(replayed.contains("all equal"), "{replayed}");
}

fn a_hanging_module_is_reported_and_its_calls_end() {
    let waits = "setTimeout(() => { for (;;); }, 10); await new Promise((done) => setTimeout(done, 600000));";
    let hangs = module("hangs", waits, "", "return ''");
    let good = module("good", "return 'good'", "", "return ''");
    let mut studio = studio(&["hangs", "good", "hangs"], &[("hangs", &hangs), ("good", &good)]);
    studio.until("both are loaded", |studio| logged(studio).len() == 2);
    studio.task("ada", "Go.");
    studio.idle();
    let results = studio.results();
    assert!(results[0].contains("5s"), "{results:#?}");
    assert_eq!(results[1], "good", "other modules work");
    assert!(results[2].contains("hangs"), "{results:#?}");
    let reported = problems(&mut studio);
    assert_eq!(reported.len(), 1, "{reported:#?}");
    assert!(reported[0].starts_with(&format!("{}: the module is ignored: ", path("hangs"))), "{reported:#?}");
}

fn tools_can_be_called_while_start_waits_for_the_agent() {
    let start = "await context.log('it said: ' + await context.prompt('Begin.'));";
    let code = module("waits", "return 'called'", start, "return ''");
    let mut studio = studio(&["waits"], &[("waits", &code)]);
    studio.until("the prompt was answered", |studio| has_logged(studio, "it said: Done."));
    assert_eq!(studio.results(), ["called"], "the tool was called in the meantime");
    let forever =
        module("forever", "return 'called'", "for (;;) await new Promise((next) => setTimeout(next, 5));", "return ''");
    let mut studio = self::studio(&["forever"], &[("forever", &forever)]);
    studio.until("the module is loaded", |studio| has_logged(studio, "forever is here"));
    studio.task("ada", "Go.");
    studio.idle();
    assert_eq!(studio.results(), ["called"]);
}

fn module_output_and_background_errors_are_logged() {
    let start = "await context.log('begins');\n  setTimeout(() => {\n    throw new Error('late');\n  }, 5);\n  \
                 setTimeout(() => console.warn('later'), 50);";
    let code = module("fails", "return 1", start, "return ''");
    let line = 1 + code.lines().position(|line| line.contains("'late'")).expect("the line exists");
    let mut studio = studio(&[], &[("fails", &code)]);
    studio.until("all is logged", |studio| logged(studio).len() >= 4);
    let lines = studio.all("module_log");
    let data: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["data"]["level"].as_str().unwrap_or(""), line["data"]["text"].as_str().unwrap_or("")))
        .collect();
    assert_eq!((data[0], data[1]), (("info", "fails is here"), ("info", "begins")));
    assert_eq!(data[2].0, "error");
    assert!(data[2].1.starts_with("uncaught Error: late\n"), "{data:#?}");
    assert!(data[2].1.contains(&format!("modules/fails.ts:{line}:")), "{data:#?}");
    assert_eq!(data[3], ("warning", "later"));
    assert!(lines.iter().all(|line| line["agent"] == "ada" && line["data"]["module"] == "modules/fails.ts"));
    assert_replays(&mut studio);
}

fn prompt_text_is_requested_when_work_starts() {
    let code = module("asked", "return 1", "", "return `Asked ${++asked} times.`");
    let mut studio = studio(&[], &[("asked", &code)]);
    studio.until("the module is loaded", |studio| has_logged(studio, "asked is here"));
    let mut texts = Vec::new();
    for _ in 0..3 {
        studio.task("ada", "Go.");
        studio.idle();
        texts.push(prompt_text(&mut studio));
    }
    // The text is requested once more when the module is loaded, for which the first work waits.
    for (text, times) in texts.iter().zip([2, 3, 4]) {
        assert!(text.contains(&format!("Asked {times} times.")), "{text}");
    }
    assert_replays(&mut studio);
}

/// A body of `systemPrompt` or `initialize` that waits a while.
const WAITS: &str = "await new Promise((done) => setTimeout(done, 300));";

/// Returns the code with a module whose loading takes a while.
fn slow_to_load(code: &str) -> String {
    code.replace("{ context = ctx;", &format!("{{ context = ctx; {WAITS}"))
}

/// Returns the warnings about texts that did not come in time.
fn late_texts(studio: &Studio) -> Vec<String> {
    let warnings = studio.all("warning").into_iter();
    let whats = warnings.filter_map(|warning| warning["data"]["what"].as_str());
    whats.filter(|what| what.contains("did not come in time")).map(str::to_owned).collect()
}

fn work_waits_for_modules_that_are_being_loaded() {
    let fast = module("fast", "return 1", "", "return 'The fast one.'");
    let slow = slow_to_load(&module("slow", "return 'called'", "", "return 'The slow one.'"));
    let cases: [&[&str]; 2] = [&[], &["slow"]];
    for calls in cases {
        // The work begins before any module has reported, and between the reports of both.
        for is_first_there in [false, true] {
            let mut studio = studio(calls, &[("fast", &fast), ("slow", &slow)]);
            if is_first_there {
                studio.until("the fast one is loaded", |studio| has_logged(studio, "fast is here"));
            }
            studio.task("ada", "Go.");
            studio.idle();
            let text = prompt_text(&mut studio);
            assert!(text.contains("The fast one.") && text.contains("The slow one."), "{text:?}");
            assert_eq!(studio.results(), vec!["called"; calls.len()]);
            assert_eq!(late_texts(&studio), Vec::<String>::new());
            assert_replays(&mut studio);
        }
    }
}

fn work_that_continues_after_reopening_waits_for_them_too() {
    let code = slow_to_load(&module("own", "return 'called'", "", "return 'The module is there.'"));
    let mut studio = studio(&["own", "own", "own"], &[("own", &code)]);
    studio.task("ada", "Go.");
    studio.until("its tool was called", |studio| !studio.all("tool_result").is_empty());
    studio.close();
    studio.open();
    studio.idle();
    let text = prompt_text(&mut studio);
    assert!(text.contains("The module is there."), "{text:?}");
    let results = studio.results();
    assert_eq!(results.last().map(String::as_str), Some("called"), "{results:#?}");
}

fn the_prompt_after_a_call_has_the_text_that_the_call_changed() {
    let code = module("counts", "asked += 1; return 'counted'", "", "return `Called ${asked} times.`");
    let mut studio = studio(&["counts", "counts"], &[("counts", &code)]);
    studio.task("ada", "Go.");
    studio.idle();
    assert_eq!(studio.results(), ["counted", "counted"]);
    let text = prompt_text(&mut studio);
    assert!(text.contains("Called 2 times."), "{text:?}");
    assert_eq!(late_texts(&studio), Vec::<String>::new());
    assert_replays(&mut studio);
}

fn work_does_not_wait_for_a_module_that_waits_for_it() {
    let code = module("asks", "return 1", "", "return 'It is there.'");
    let asks =
        code.replace("await ctx.log('asks is here');", "await ctx.log('it said: ' + await ctx.prompt('Begin.'));");
    assert_ne!(asks, code);
    let mut studio = studio(&[], &[("asks", &asks)]);
    studio.until("the prompt was answered", |studio| has_logged(studio, "it said: Done."));
    assert_eq!(late_texts(&studio).len(), 1, "that the text is missing is said");
    studio.task("ada", "Go.");
    studio.idle();
    assert!(prompt_text(&mut studio).contains("It is there."), "later work has it");
}

fn a_changed_module_is_stopped_and_reloaded() {
    let code = |answer: &str| module("live", &format!("return '{answer}'"), "", "return ''");
    let mut studio = studio(&["live"], &[("live", &code("before"))]);
    studio.until("the module is loaded", |studio| has_logged(studio, "live is here"));
    change(&mut studio, "live", &code("after"));
    let is_here = |studio: &Studio| logged(studio).iter().filter(|line| *line == "live is here").count();
    studio.until("the module was reloaded", |studio| has_logged(studio, "live stopped") && is_here(studio) == 2);
    studio.task("ada", "Go.");
    studio.idle();
    assert_eq!(studio.results(), ["after"]);
    change(&mut studio, "live", "export default {");
    studio.until("the problem is reported", |studio| !problems(studio).is_empty());
    change(&mut studio, "live", &code("again"));
    studio.until("the problem is gone", |studio| problems(studio).is_empty() && is_here(studio) == 3);
}

fn a_call_fails_if_its_module_is_reloaded() {
    let code = |tool: &str| module("slow", tool, "", "return ''");
    let waiting = code("await readFile('agent.mdx'); await new Promise((done) => setTimeout(done, 600000));");
    let mut studio = studio(&["slow"], &[("slow", &waiting)]);
    studio.until("the module is loaded", |studio| has_logged(studio, "slow is here"));
    studio.task("ada", "Go.");
    studio.until("the tool is called", |studio| studio.all("tool_call").len() == 2);
    change(&mut studio, "slow", &code("return 'new'"));
    studio.idle();
    let results = studio.results();
    let last = results.last().map(String::as_str).unwrap_or_default();
    assert!(last.contains("its module was reloaded during this call"), "{results:#?}");
}

fn a_stopped_call_can_no_longer_call_tools() {
    let reads = "for (;;) { try { await readFile('agent.mdx') } \
                 catch (error) { await context.log(error.message); return '' } }";
    let code = module("reads", reads, "", "return ''");
    let mut studio = studio(&["reads"], &[("reads", &code)]);
    studio.until("the module is loaded", |studio| has_logged(studio, "reads is here"));
    studio.task("ada", "Go.");
    studio.until("the tool is called", |studio| studio.all("tool_call").len() >= 2);
    studio.command(KernelCommand::KillAll);
    studio.until("its requests are refused", |studio| has_logged(studio, "the call was stopped"));
    assert_replays(&mut studio);
}

fn modules_stop_in_reverse_order_when_the_room_is_closed() {
    let code = |name: &str| module(name, "return 1", "", "return ''");
    let hangs = code("c").replace("await null; ", "await new Promise(() => {}); ");
    let mut studio = studio(&[], &[("a", &code("a")), ("b", &code("b")), ("c", &hangs)]);
    studio.until("all are loaded", |studio| logged(studio).len() == 3);
    let mut logged_texts = Vec::new();
    let room = studio.room.take().expect("the room is open");
    let last_events = |events: &[agent_workshop::log::EventRecord]| {
        let events = events.iter().map(|event| serde_json::to_value(event).expect("the event can be serialized"));
        logged_texts =
            events.filter(|event| event["type"] == "module_log").map(|event| event["data"]["text"].clone()).collect();
    };
    room.close("closed by the test", last_events).expect("the room can be closed");
    assert_eq!(logged_texts, ["b stopped", "a stopped"], "a module that never settles does not hold up the others");
    studio.open();
    replays_after_reopening(&mut studio);
}

fn replays_after_reopening(studio: &mut Studio) {
    studio.until("all are loaded again", |studio| logged(studio).len() >= 6);
    assert_replays(studio);
}

fn a_module_can_import_only_from_its_agents_folder() {
    let importing = |name: &str, from: &str| {
        format!("import {{ text }} from '{from}';\n{}", module(name, "return text()", "", "return ''"))
    };
    let text = "import { word } from '../words';\nexport const text = (): string => word();\n";
    let calls = [call("inside", &json!({})), call("shared", &json!({}))];
    let files = [
        (path("inside"), importing("inside", "../lib/text")),
        (path("shared"), importing("shared", "./helpers")),
        (path("helpers"), "export { text } from '../lib/text';\n".to_owned()),
        (path("outside"), importing("outside", "../../bob/text")),
        (path("state"), importing("state", "../state/text")),
        ("agents/ada/lib/text.ts".to_owned(), text.to_owned()),
        ("agents/ada/words.ts".to_owned(), "export const word = () => 'found';\n".to_owned()),
        ("agents/ada/state/text.ts".to_owned(), "export const text = () => 'state';\n".to_owned()),
        ("agents/bob/text.ts".to_owned(), "export const text = () => 'bob';\n".to_owned()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let mut studio = studio_with_calls(&calls, &document("", "  return 1;"), &files);
    studio.until("two are refused", |studio| problems(studio).len() == 2 && logged(studio).len() == 2);
    let reported = problems(&mut studio);
    for name in ["outside", "state"] {
        let is_it = |reported: &&String| {
            reported.starts_with(&path(name)) && reported.contains("there is no such file in the agent's")
        };
        assert_eq!(reported.iter().filter(is_it).count(), 1, "{name}: {reported:#?}");
    }
    studio.task("ada", "Go.");
    studio.idle();
    assert_eq!(studio.results(), ["found", "found"]);
}
