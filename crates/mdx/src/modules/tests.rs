//! Modules as people write them, and the handling of harmful ones.

use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::engine::{
    EngineLimits, FailureKind, HostAnswer, HostCall, HostRequest, ModuleCommand, ModuleMessage, ProgramCache,
};

const CLASS: &str = "import { greeting } from './lib/words';\n\
interface Context { agentDir: string; prompt(message: string): Promise<any>; log(message: string): Promise<void> }\n\
export default class Greeter {\n\
  private ctx!: Context;\n\
  private greeted = 0;\n\
  describe() { return { name: 'greeter', description: 'Greets' }; }\n\
  async initialize(ctx: Context) { this.ctx = ctx; await ctx.log('hello from ' + ctx.agentDir); }\n\
  tools() { return [{ name: 'greet', description: 'Greets somebody', parameters: { type: 'object' },\n\
    execute: async (id: string, params: { name: string }) => ({ content: [{ type: 'text', text: greeting(params.name, ++this.greeted) }] }) }]; }\n\
  systemPrompt() { return `Greeted ${this.greeted}.`; }\n\
  async start() { await this.ctx.prompt('good morning'); }\n\
  stop() { this.ctx.log('bye'); }\n\
}\n";

const OBJECT: &str = "export default { describe: () => ({ name: 'plain', description: '' }), async initialize() {}, tools: () => [], systemPrompt: () => '', async start() {}, stop() {} };";

fn limits() -> EngineLimits {
    EngineLimits { run: Duration::from_secs(2), wait: Duration::from_secs(5), ..EngineLimits::default() }
}

fn set(files: &[(&str, &str)]) -> (ModuleFolder, ModuleSet) {
    set_in(files, &[])
}

/// Loads the files in `modules/`, and others of the agent's folder.
fn set_in(files: &[(&str, &str)], others: &[(&str, &str)]) -> (ModuleFolder, ModuleSet) {
    let own: Vec<(String, &str)> = files.iter().map(|(path, text)| (format!("modules/{path}"), *text)).collect();
    let own = own.iter().map(|(path, text)| (path.as_str(), *text));
    let other = |path: &str| others.iter().find(|(other, _)| *other == path).map(|(_, text)| (*text).to_owned());
    let folder = ModuleFolder::read(own, other, &ProgramCache::default(), &limits());
    let options = ModuleOptions { agent_dir: "agents/ada".to_owned(), seed: 1, now_unix_ms: 0, limits: limits() };
    let set = ModuleSet::load(&folder, &options);
    (folder, set)
}

/// Polls the modules until the condition holds. Answers their requests, and returns all their events.
fn until(set: &mut ModuleSet, holds: impl Fn(&ModuleSet, &[ModuleEvent]) -> bool) -> Vec<ModuleEvent> {
    let begun = Instant::now();
    let mut events = Vec::new();
    while begun.elapsed() < Duration::from_secs(120) {
        let new = set.poll();
        for event in &new {
            if let ModuleMessage::Asks(asked) = &event.news {
                let text = match &asked.request {
                    HostRequest::Prompt { message } => format!("heard {message}"),
                    other => panic!("{other:?}"),
                };
                set.answer(&event.module, asked, HostAnswer::Text { text });
            }
        }
        events.extend(new);
        if holds(set, &events) {
            return events;
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    panic!("it never came: {events:?}");
}

fn loaded(set: &mut ModuleSet) -> Vec<ModuleEvent> {
    until(set, |set, _| set.states().all(|(_, state)| *state != ModuleState::Loading))
}

fn result(set: &mut ModuleSet, module: &str, order: ModuleCommand) -> Result<String, FailureKind> {
    let number = set.order(&format!("modules/{module}"), order).expect("it is there");
    let is_it = |event: &ModuleEvent| matches!(event.news, ModuleMessage::Done { order, .. } if order == number);
    let events = until(set, |_, events| events.iter().any(is_it));
    match events.into_iter().find(is_it).unwrap().news {
        ModuleMessage::Done { result, .. } => result.map_err(|failure| failure.kind),
        _ => unreachable!(),
    }
}

fn greet(name: &str) -> ModuleCommand {
    let arguments = json!({ "name": name }).as_object().unwrap().clone();
    ModuleCommand::Tool { name: "greet".to_owned(), arguments }
}

#[test]
fn a_class_module_with_imports_lives_as_long_as_its_agent() {
    let words = "export const greeting = (name: string, count: number): string => `Hello ${name}, ${count}`;";
    let (_, mut set) = set(&[("greeter.ts", CLASS), ("lib/words.ts", words), ("notes.md", "x"), ("types.d.ts", "x")]);
    let events = until(&mut set, |_, events| events.iter().any(|event| event.logged().is_some()));
    assert_eq!(events.iter().find_map(ModuleEvent::logged).unwrap().text, "hello from agents/ada");
    let (file, state) = set.states().next().unwrap();
    let ModuleState::Ready(description) = state else { panic!("{state:?}") };
    assert_eq!((file, &*description.name, &*description.tools[0].name), ("modules/greeter.ts", "greeter", "greet"));
    assert!(set.states().count() == 1, "what is imported is no module");
    assert_eq!(result(&mut set, "greeter.ts", greet("Bram")).as_deref(), Ok("Hello Bram, 1"));
    assert_eq!(result(&mut set, "greeter.ts", greet("Cleo")).as_deref(), Ok("Hello Cleo, 2"));
    assert_eq!(result(&mut set, "greeter.ts", ModuleCommand::SystemPrompt).as_deref(), Ok("Greeted 2."));
    assert_eq!(result(&mut set, "greeter.ts", ModuleCommand::Start).as_deref(), Ok(""));
}

#[test]
fn classes_factories_and_objects_can_be_modules() {
    let factory = OBJECT.replace("export default {", "export default async () => ({").replace("};", "});");
    let (_, mut set) = set(&[("a.ts", OBJECT), ("b.ts", &factory)]);
    loaded(&mut set);
    for (file, state) in set.states() {
        assert!(matches!(state, ModuleState::Ready(_)), "{file}: {state:?}");
    }
}

#[test]
fn an_unusable_module_is_reported_and_ignored() {
    let without = |method: &str| OBJECT.replace(method, "other()");
    let (folder, mut set) = set(&[
        ("a-good.ts", OBJECT),
        ("b-none.ts", "export const x = 1;"),
        ("c-missing.ts", &without("stop()")),
        ("d-throws.ts", &OBJECT.replace("initialize() {}", "initialize() {\n throw new Error('no') }")),
        ("e-hangs.ts", &OBJECT.replace("initialize() {}", "initialize() { for (;;); }")),
        ("f-never.ts", &OBJECT.replace("initialize() {}", "initialize() { await new Promise(() => {}) }")),
        ("g-package.ts", &format!("import x from 'lodash';\n{OBJECT}")),
        ("h-syntax.ts", "export default {"),
        ("i-good.ts", OBJECT),
    ]);
    loaded(&mut set);
    assert_eq!(folder.problems.len(), 1);
    assert_eq!(folder.problems[0].path, "modules/h-syntax.ts");
    let told = |wanted: &str| {
        let (_, state) = set.states().find(|(file, _)| *file == format!("modules/{wanted}")).unwrap();
        match state {
            ModuleState::LeftOut(failure) => failure.text.clone(),
            state => format!("{state:?}"),
        }
    };
    assert!(told("a-good.ts").starts_with("Ready") && told("i-good.ts").starts_with("Ready"));
    let hangs = told("e-hangs.ts");
    assert!(hangs.contains("it ran for more than") || hangs.contains("was abandoned"), "{hangs}");
    for (file, what) in [
        ("b-none.ts", "the file has no default export"),
        ("c-missing.ts", "TypeError: the module has no stop()"),
        ("d-throws.ts", "Error: no\n    at initialize (modules/d-throws.ts:2:"),
        ("f-never.ts", "the tool waits for a promise that never settles"),
        ("g-package.ts", "packages are not available"),
    ] {
        assert!(told(file).contains(what), "{file}: {}", told(file));
    }
}

#[test]
fn a_module_that_hangs_is_ended_and_the_others_continue() {
    let bad = CLASS.replace(
        "import { greeting } from './lib/words';\n",
        "const greeting = (name: string, n: number) => { if (name === 'x') for (;;); return name };\n",
    );
    let (_, mut set) = set(&[("bad.ts", &bad), ("good.ts", OBJECT)]);
    loaded(&mut set);
    assert_eq!(result(&mut set, "bad.ts", greet("a")).as_deref(), Ok("a"));
    // On a busy machine, its thread may notice the limit late.
    let ended = result(&mut set, "bad.ts", greet("x"));
    assert!(matches!(ended, Err(FailureKind::RunLimit | FailureKind::GivenUp)), "{ended:?}");
    assert_eq!(result(&mut set, "good.ts", ModuleCommand::SystemPrompt).as_deref(), Ok(""));
}

#[test]
fn timers_continue_between_orders() {
    let ticking = "let n = 0; setInterval(() => { n++ }, 1);\n".to_owned()
        + &OBJECT.replace("systemPrompt: () => ''", "systemPrompt: () => String(n > 2)");
    let (_, mut set) = set(&[("a.ts", &ticking)]);
    loaded(&mut set);
    let begun = Instant::now();
    while result(&mut set, "a.ts", ModuleCommand::SystemPrompt).as_deref() != Ok("true") {
        assert!(begun.elapsed() < Duration::from_secs(120));
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

#[test]
fn modules_end_in_reverse_order() {
    let telling =
        |name: &str| OBJECT.replace("stop() {}", &format!("async stop() {{ await null; console.log('{name}') }}"));
    let (_, mut set) = set(&[("a.ts", &telling("a")), ("b.ts", &telling("b")), ("c.ts", "export default 3;")]);
    loaded(&mut set);
    set.end();
    let events =
        until(&mut set, |set, events| set.has_ended() && events.iter().filter_map(ModuleEvent::logged).count() == 2);
    let told: Vec<&str> = events.iter().filter_map(ModuleEvent::logged).map(|line| &*line.text).collect();
    assert_eq!(told, ["b", "a"]);
}

/// Returns the log messages, each with the order during which it was logged.
fn logged(events: &[ModuleEvent]) -> Vec<(u64, &str)> {
    let lines = events.iter().filter_map(|event| match &event.news {
        ModuleMessage::Logged { order, line } => Some((*order, &*line.text)),
        _ => None,
    });
    lines.collect()
}

fn with_tool(body: &str) -> String {
    let tool = format!("tools: () => [{{ name: 'greet', execute: async (params) => {{ {body} }} }}]");
    OBJECT.replace("tools: () => []", &tool)
}

#[test]
fn a_harmful_background_module_is_reported_and_ended() {
    let looping = format!("setTimeout(() => {{ for (;;); }}, 30);\n{OBJECT}");
    let heaping = format!(
        "const kept: any[] = [];\nsetInterval(() => {{ kept.push(new Array(100000).fill(1)); }}, 1);\n{OBJECT}"
    );
    let (_, mut set) = set(&[("a-loops.ts", &looping), ("b-heaps.ts", &heaping), ("c-good.ts", OBJECT)]);
    loaded(&mut set);
    until(&mut set, |set, _| set.states().filter(|(_, state)| matches!(state, ModuleState::LeftOut(_))).count() == 2);
    for (file, kinds) in [
        ("modules/a-loops.ts", &[FailureKind::RunLimit, FailureKind::GivenUp][..]),
        ("modules/b-heaps.ts", &[FailureKind::Memory][..]),
    ] {
        let state = set.states().find(|(known, _)| *known == file).map(|(_, state)| state.clone());
        let Some(ModuleState::LeftOut(failure)) = state else { panic!("{file}: {state:?}") };
        assert!(kinds.contains(&failure.kind), "{file}: {failure:?}");
        assert_eq!(set.order(file, ModuleCommand::SystemPrompt), None, "{file}");
    }
    assert_eq!(result(&mut set, "c-good.ts", ModuleCommand::SystemPrompt).as_deref(), Ok(""));
}

#[test]
fn open_orders_are_answered_when_a_module_ends() {
    let code = format!(
        "setTimeout(() => {{ for (;;); }}, 30);\n{}",
        with_tool("await new Promise((done) => setTimeout(done, 60000)); return 'never';")
    );
    let (_, mut set) = set(&[("a.ts", &code)]);
    loaded(&mut set);
    let ended = result(&mut set, "a.ts", greet("Bram"));
    assert!(matches!(ended, Err(FailureKind::RunLimit | FailureKind::GivenUp)), "{ended:?}");
}

#[test]
fn tools_can_be_called_while_background_work_continues() {
    for start in ["await new Promise(() => {})", "for (;;) await new Promise((done) => setTimeout(done, 5))"] {
        let code = with_tool("await null; return 'hello ' + params.name;")
            .replace("async start() {}", &format!("async start() {{ {start} }}"));
        let (_, mut set) = set(&[("a.ts", &code)]);
        loaded(&mut set);
        let started = set.order("modules/a.ts", ModuleCommand::Start).expect("it is there");
        assert_eq!(result(&mut set, "a.ts", greet("Bram")).as_deref(), Ok("hello Bram"), "{start}");
        assert_eq!(result(&mut set, "a.ts", greet("Cleo")).as_deref(), Ok("hello Cleo"), "{start}");
        let is_over = |event: &ModuleEvent| matches!(event.news, ModuleMessage::Done { order, .. } if order == started);
        assert!(!set.poll().iter().any(is_over), "{start}");
    }
}

#[test]
fn a_prompt_at_the_start_is_answered_while_the_agent_calls_the_tool() {
    let code =
        with_tool("return 'called';").replace("async initialize() {}, ", "async initialize(ctx) { this.ctx = ctx; }, ");
    let code = code.replace("async start() {}", "async start() { await this.ctx.log(await this.ctx.prompt('Go.')); }");
    let (_, mut set) = set(&[("a.ts", &code)]);
    loaded(&mut set);
    set.order("modules/a.ts", ModuleCommand::Start).expect("it is there");
    // The agent is at work because of the prompt, and calls the tool.
    let asked = asked_only(&mut set);
    let call = set.order("modules/a.ts", greet("Bram")).expect("it is there");
    let is_it = |event: &ModuleEvent| matches!(&event.news, ModuleMessage::Done { order, result } if *order == call && result.as_deref() == Ok("called"));
    until(&mut set, |_, events| events.iter().any(is_it));
    set.answer("modules/a.ts", &asked, HostAnswer::Text { text: "done".to_owned() });
    let events = until(&mut set, |_, events| !logged(events).is_empty());
    assert_eq!(logged(&events), [(0, "done")], "in the background");
}

/// Returns the next request, without answering it.
fn asked_only(set: &mut ModuleSet) -> HostCall {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(120) {
        for event in set.poll() {
            if let ModuleMessage::Asks(asked) = event.news {
                return asked;
            }
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    panic!("nothing was asked");
}

#[test]
fn requests_are_limited_per_call_and_per_wake() {
    let code = with_tool("for (let n = 0; n < 100; n++) await prompt('x'); return String(++calls);");
    let code = format!(
        "let prompt: any, calls = 0, ticks = 0;\nconst tick = async () => {{ await prompt('t'); if (++ticks < 300) setTimeout(tick, 0); }};\nsetTimeout(tick, 0);\n{}",
        code.replace("async initialize() {}", "async initialize(ctx) { prompt = ctx.prompt; }")
            .replace("systemPrompt: () => ''", "systemPrompt: () => String(ticks)")
    );
    let (_, mut set) = set(&[("a.ts", &code)]);
    loaded(&mut set);
    for calls in ["1", "2", "3", "4"] {
        assert_eq!(result(&mut set, "a.ts", greet("Bram")).as_deref(), Ok(calls), "each call has its own requests");
    }
    let begun = Instant::now();
    while result(&mut set, "a.ts", ModuleCommand::SystemPrompt).as_deref() != Ok("300") {
        assert!(begun.elapsed() < Duration::from_secs(120));
        std::thread::park_timeout(Duration::from_millis(2));
    }
    let greedy = with_tool("await Promise.all(Array.from({ length: 257 }, () => readFile('x'))); return 'no';");
    let (_, mut set) = self::set(&[("a.ts", &greedy)]);
    loaded(&mut set);
    assert_eq!(result_refusing(&mut set, greet("Bram")), Err(FailureKind::Threw));
}

/// Like `result`, but refuses every request.
fn result_refusing(set: &mut ModuleSet, order: ModuleCommand) -> Result<String, FailureKind> {
    let number = set.order("modules/a.ts", order).expect("it is there");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(120) {
        for event in set.poll() {
            match event.news {
                ModuleMessage::Asks(asked) => {
                    assert_eq!(asked.order, number, "it is known which call asks");
                    set.answer(&event.module, &asked, HostAnswer::Refused { reason: "no".to_owned() });
                }
                ModuleMessage::Done { order, result } if order == number => {
                    return result.map_err(|failure| failure.kind);
                }
                _ => {}
            }
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    panic!("it never came");
}

#[test]
fn open_requests_are_refused_when_their_call_ends() {
    let code = with_tool("readFile('x').catch((error) => { said = error.message; }); return 'done';");
    let code = format!("let said = '';\n{}", code.replace("systemPrompt: () => ''", "systemPrompt: () => said"));
    let (_, mut set) = set(&[("a.ts", &code)]);
    loaded(&mut set);
    let call = set.order("modules/a.ts", greet("Bram")).expect("it is there");
    let asked = asked_only(&mut set);
    assert_eq!(asked.order, call);
    let said = result(&mut set, "a.ts", ModuleCommand::SystemPrompt).expect("it answers");
    assert!(said.contains("the call in which this was requested is over"), "{said}");
}

#[test]
fn unhandled_errors_are_logged_with_their_lines() {
    let code = format!(
        "import {{ fail }} from './lib/fail';\nsetTimeout(() => {{\n  fail();\n}}, 1);\nsetTimeout(async () => {{\n  await null;\n  \
         throw new TypeError('late');\n}}, 20);\nasync function caught() {{ throw new Error('caught'); }}\n\
         const promise = caught();\npromise.catch(() => {{}});\n{OBJECT}"
    );
    let fail = "interface Unused { a: string }\n\nexport const fail = () => {\n  throw new Error('soon');\n};\n";
    let (_, mut set) = set(&[("a.ts", &code), ("lib/fail.ts", fail)]);
    let events = until(&mut set, |_, events| logged(events).len() >= 2);
    let told = logged(&events);
    assert!(told[0].1.starts_with("uncaught Error: soon\n    at fail (modules/lib/fail.ts:4:"), "{told:#?}");
    assert!(told[0].1.contains("(modules/a.ts:3:") || told[0].1.contains("at modules/a.ts:3:"), "{told:#?}");
    assert!(told[1].1.starts_with("uncaught TypeError: late\n    at <anonymous> (modules/a.ts:7:"), "{told:#?}");
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(matches!(set.states().next(), Some((_, ModuleState::Ready(_)))));
}

#[test]
fn exceptions_of_a_call_are_reported_once() {
    let (_, mut set) = set(&[("a.ts", &with_tool("await null; throw new Error('no');"))]);
    loaded(&mut set);
    let call = set.order("modules/a.ts", greet("Bram")).expect("it is there");
    let is_over = |event: &ModuleEvent| matches!(event.news, ModuleMessage::Done { order, .. } if order == call);
    let mut events = until(&mut set, |_, events| events.iter().any(is_over));
    result(&mut set, "a.ts", ModuleCommand::SystemPrompt).expect("it answers");
    events.extend(set.poll());
    assert_eq!(logged(&events), []);
}

#[test]
fn a_shared_file_is_no_module_and_an_unused_one_is_a_problem() {
    let using =
        format!("import {{ help }} from './helpers.js';\nimport type {{ T }} from './types';\nhelp();\n{OBJECT}");
    let (folder, mut set) = set(&[
        ("custom.ts", &using),
        ("helpers.ts", "export const help = () => 1;"),
        ("types.ts", "export interface T { a: string }"),
        ("lonely.ts", "export const help = () => 1;"),
        ("both.ts", OBJECT),
        ("uses-both.ts", &format!("import other from './both';\nother;\n{OBJECT}")),
    ]);
    loaded(&mut set);
    assert_eq!(folder.problems, []);
    let ready = |state: &ModuleState| matches!(state, ModuleState::Ready(_));
    let states: Vec<(&str, bool)> = set.states().map(|(file, state)| (file, ready(state))).collect();
    let wanted = ["both.ts", "custom.ts", "lonely.ts", "uses-both.ts"].map(|file| format!("modules/{file}"));
    let wanted: Vec<(&str, bool)> = wanted.iter().map(|file| (&**file, file != "modules/lonely.ts")).collect();
    assert_eq!(states, wanted);
}

#[test]
fn files_can_be_imported_from_the_agents_folder_but_not_from_outside() {
    let importing = |path: &str| format!("import {{ x }} from '{path}';\nx();\n{OBJECT}");
    let (folder, mut set) = set_in(
        &[
            ("a.ts", &importing("../lib/deep/x")),
            ("b.ts", &importing("../../other/x")),
            ("c.ts", &importing("../state/x")),
            ("d.ts", &importing("../broken")),
            ("e.ts", &importing("../throws")),
        ],
        &[
            ("lib/deep/x.ts", "export { x } from '../../x';"),
            ("x.ts", "export const x = () => 1;"),
            ("unused.ts", "export const"),
            ("state/x.ts", "export const x = () => 1;"),
            ("broken.ts", "export const\nx = ;"),
            ("throws.ts", "export const x = () => {\n  throw new Error('here');\n};"),
            ("../other/x.ts", "export const x = () => 1;"),
        ],
    );
    loaded(&mut set);
    assert_eq!(folder.problems.iter().map(|problem| &*problem.path).collect::<Vec<_>>(), ["broken.ts"]);
    let told: Vec<String> = set
        .states()
        .map(|(_, state)| match state {
            ModuleState::LeftOut(failure) => failure.text.clone(),
            _ => "ready".to_owned(),
        })
        .collect();
    assert_eq!(told[0], "ready");
    for text in &told[1..4] {
        assert!(text.contains("there is no such file in the agent's folder"), "{told:#?}");
    }
    assert!(told[4].starts_with("Error: here\n    at x (throws.ts:2:"), "{told:#?}");
}
