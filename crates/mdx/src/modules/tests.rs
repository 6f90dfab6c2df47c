//! Modules as people write them, and the handling of harmful ones.

use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::engine::{EngineLimits, FailureKind, HostAnswer, HostRequest, ModuleCommand, ModuleMessage, ProgramCache};

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
    let folder = ModuleFolder::read(files.iter().copied(), &ProgramCache::default(), &limits());
    let options = ModuleOptions { agent_dir: "agents/ada".to_owned(), seed: 1, now_unix_ms: 0, limits: limits() };
    let set = ModuleSet::load(&folder, &options);
    (folder, set)
}

/// Follows the modules until this holds. Answers their requests, and returns everything that they said.
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
    let number = set.order(module, order).expect("it should exist");
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
fn a_class_with_its_imports_lives_as_long_as_its_agent() {
    let words = "export const greeting = (name: string, count: number): string => `Hello ${name}, ${count}`;";
    let (_, mut set) = set(&[("greeter.ts", CLASS), ("lib/words.ts", words), ("notes.md", "x"), ("types.d.ts", "x")]);
    let events = until(&mut set, |_, events| events.iter().any(|event| event.logged().is_some()));
    assert_eq!(events.iter().find_map(ModuleEvent::logged).unwrap().text, "hello from agents/ada");
    let (file, state) = set.states().next().unwrap();
    let ModuleState::Ready(description) = state else { panic!("{state:?}") };
    assert_eq!((file, &*description.name, &*description.tools[0].name), ("greeter.ts", "greeter", "greet"));
    assert!(set.states().count() == 1, "what is imported is no module");
    assert_eq!(result(&mut set, "greeter.ts", greet("Bram")).as_deref(), Ok("Hello Bram, 1"));
    assert_eq!(result(&mut set, "greeter.ts", greet("Cleo")).as_deref(), Ok("Hello Cleo, 2"));
    assert_eq!(result(&mut set, "greeter.ts", ModuleCommand::SystemPrompt).as_deref(), Ok("Greeted 2."));
    assert_eq!(result(&mut set, "greeter.ts", ModuleCommand::Start).as_deref(), Ok(""));
}

#[test]
fn classes_factories_and_objects_are_modules() {
    let factory = OBJECT.replace("export default {", "export default async () => ({").replace("};", "});");
    let (_, mut set) = set(&[("a.ts", OBJECT), ("b.ts", &factory)]);
    loaded(&mut set);
    for (file, state) in set.states() {
        assert!(matches!(state, ModuleState::Ready(_)), "{file}: {state:?}");
    }
}

#[test]
fn a_module_that_cannot_be_used_is_named_and_left_out() {
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
    assert_eq!(folder.problems[0].path, "h-syntax.ts");
    let told = |wanted: &str| {
        let (_, state) = set.states().find(|(file, _)| *file == wanted).unwrap();
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
        ("d-throws.ts", "Error: no\n    at initialize (d-throws.ts:2:"),
        ("f-never.ts", "the tool waits for a promise that never settles"),
        ("g-package.ts", "packages are not available"),
    ] {
        assert!(told(file).contains(what), "{file}: {}", told(file));
    }
}

#[test]
fn a_module_that_hangs_later_is_gone_and_the_others_continue() {
    let bad = CLASS.replace(
        "import { greeting } from './lib/words';\n",
        "const greeting = (name: string, n: number) => { if (name === 'x') for (;;); return name };\n",
    );
    let (_, mut set) = set(&[("bad.ts", &bad), ("good.ts", OBJECT)]);
    loaded(&mut set);
    assert_eq!(result(&mut set, "bad.ts", greet("a")).as_deref(), Ok("a"));
    // On a busy machine, its thread may notice its end late.
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
fn they_end_in_reverse_order() {
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
