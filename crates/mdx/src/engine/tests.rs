//! The contract of tools: their arguments, their results and their errors.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::*;

pub(super) fn limits() -> EngineLimits {
    EngineLimits { run: Duration::from_secs(10), wait: Duration::from_secs(60), ..EngineLimits::default() }
}

pub(super) fn call(code: &str, arguments: Value) -> ToolCall {
    let arguments = match arguments {
        Value::Object(arguments) => arguments,
        _ => Map::new(),
    };
    let program = strip(code, 1 << 20).unwrap_or_else(|error| panic!("{error} at {:?}: {code}", error.line));
    ToolCall {
        code: ToolCode::Ready(Arc::new(program)),
        file: "agent.mdx".to_owned(),
        first_line: 10,
        arguments,
        agent_dir: "agents/ada".to_owned(),
        cwd: "agents/ada".to_owned(),
        seed: 7,
        now_unix_ms: 1_700_000_000_000,
        limits: limits(),
    }
}

fn nobody(asked: HostCall) -> HostAnswer {
    HostAnswer::Refused { reason: format!("nobody answers {:?}", asked.request) }
}

fn outcome(code: &str) -> CodeOutcome {
    call(code, json!({})).start().wait(nobody)
}

/// Returns the result of this body of `execute`.
fn returned(body: &str) -> String {
    let outcome = outcome(&format!("async function execute(params, ctx) {{ {body} }}"));
    outcome.result.unwrap_or_else(|failure| panic!("{body}: {failure:?}"))
}

fn failure(code: &str) -> ToolFailure {
    outcome(code).result.expect_err(code)
}

#[test]
fn a_tool_gets_its_parameters_and_context() {
    let code = "interface P { city: string; days?: number }\n\
        async function execute(params: P, ctx: any): Promise<string> {\n\
        await ctx.log(`asked for ${params.city}`);\n\
        return `${params.city} ${params.days ?? 1} ${ctx.agentDir} ${ctx.cwd}`;\n}";
    let outcome = call(code, json!({ "city": "Zürich" })).start().wait(nobody);
    assert_eq!(outcome.result.as_deref(), Ok("Zürich 1 agents/ada agents/ada"));
    assert_eq!(outcome.log, [LogLine { level: "info".to_owned(), text: "asked for Zürich".to_owned() }]);
}

#[test]
fn execute_can_be_defined_in_every_usual_way() {
    for code in [
        "async function execute() { return 'x' }",
        "function execute() { return 'x' }",
        "const execute = async () => 'x'",
        "export async function execute() { return 'x' }",
        "export default async function execute() { return 'x' }",
        "export default async () => 'x'",
        "const run = async () => 'x'; export { run as execute };",
        "enum Word { X = 'x' }\nasync function execute() { return Word.X }",
        "class A { constructor(private readonly word: string) {} say() { return this.word } }\nconst execute = () => new A('x').say()",
    ] {
        assert_eq!(outcome(code).result.as_deref(), Ok("x"), "{code}");
    }
    let failure = failure("const run = 1;");
    assert_eq!(failure.kind, FailureKind::Code);
}

#[test]
fn results_become_text() {
    for (body, text) in [
        ("return 'as it is';", "as it is"),
        ("return { a: [1, null], b: 'ü' };", r#"{"a":[1,null],"b":"ü"}"#),
        ("return [1, 2];", "[1,2]"),
        ("", ""),
        ("return undefined;", ""),
        ("return null;", "null"),
        ("return 3.5;", "3.5"),
        ("return true;", "true"),
        ("return 10n;", "10"),
        ("return new Date(0);", r#""1970-01-01T00:00:00.000Z""#),
        ("return Promise.resolve('later');", "later"),
        ("return 'half \\uD800';", "half \u{fffd}"),
    ] {
        assert_eq!(returned(body), text, "{body}");
    }
}

#[test]
fn unhandled_errors_are_logged_with_the_line_of_the_document() {
    let outcome = outcome(
        "async function execute() {\n  setTimeout(() => {\n    throw new Error('soon');\n  }, 0);\n  Promise.reject(new \
         TypeError('never looked at'));\n  const looked = Promise.reject(new Error('looked at'));\n  await new \
         Promise((done) => setTimeout(done, 5));\n  looked.catch(() => {});\n  try { await later(); } catch {}\n  return \
         'done';\n}\nasync function later() { throw new Error('caught'); }",
    );
    assert_eq!(outcome.result.as_deref(), Ok("done"));
    let told: Vec<&str> = outcome.log.iter().map(|line| &*line.text).collect();
    assert!(told.iter().all(|line| line.starts_with("uncaught ")), "{told:#?}");
    let lines = told.iter().map(|line| line.lines().next().unwrap()).collect::<Vec<_>>();
    // A promise that got a handler later was unhandled when it was rejected.
    assert_eq!(lines, ["uncaught TypeError: never looked at", "uncaught Error: looked at", "uncaught Error: soon"]);
    assert!(told[0].contains("(agent.mdx:14:") && told[2].contains("(agent.mdx:12:"), "{told:#?}");
    assert!(outcome.log.iter().all(|line| line.level == "error"));
    let failing = self::outcome("async function execute() { await null; throw new Error('told'); }");
    assert_eq!(failing.log, [], "whoever called it is told");
}

#[test]
fn exceptions_are_returned_with_the_line_of_the_document() {
    let failure =
        failure("const a: number = 1;\n\nasync function execute() {\n  await null;\n  throw new TypeError('no');\n}");
    assert_eq!(failure.kind, FailureKind::Threw);
    assert_eq!(failure.line, Some(14));
    assert!(failure.text.starts_with("TypeError: no\n    at execute (agent.mdx:14:"), "{}", failure.text);
    // The same for code that had to be generated again.
    let failure =
        self::failure("enum E {\n  A,\n  B,\n}\ninterface I {\n  a: string;\n}\nfunction execute() {\n  null.x;\n}");
    assert_eq!(failure.line, Some(18), "{}", failure.text);
    let failure = self::failure("throw new Error('at once')");
    assert_eq!((failure.line, failure.kind), (Some(10), FailureKind::Threw));
    for (code, text) in [
        ("function execute() { throw 'a text' }", "a text"),
        ("function execute() { throw { code: 3 } }", r#"{"code":3}"#),
        ("function execute() { return Promise.reject(new RangeError('r')) }", "RangeError: r"),
        ("function execute() { const a = {}; a.a = a; return a }", "TypeError: circular reference"),
        ("function execute() { throw { get message() { throw 1 }, toString() { throw 2 } } }", "[object Object]"),
    ] {
        assert!(self::failure(code).text.starts_with(text), "{code}: {}", self::failure(code).text);
    }
}

#[test]
fn invalid_code_is_reported_with_its_line() {
    let error = strip("const a = 1;\nasync function execute( {\n}", 1000).unwrap_err();
    assert!(matches!(error.line, Some(2 | 3)), "{error:?}");
    let failure = unreadable(&error, "agents/ada/agent.mdx", 40);
    assert!(failure.text.starts_with("SyntaxError: "), "{}", failure.text);
    assert!(failure.text.contains("agents/ada/agent.mdx:4"), "{}", failure.text);
    assert!(strip(&"a".repeat(101), 100).unwrap_err().what.contains("at most 100"));
}

#[test]
fn code_can_be_parsed_on_the_thread_of_the_call() {
    let programs = Arc::new(ProgramCache::default());
    let written = |text: &str| {
        let code = ToolCode::Written { text: text.into(), programs: programs.clone() };
        ToolCall { code, ..call("", json!({})) }.start().wait(nobody).result
    };
    assert_eq!(written("const execute = (): string => 'x'").as_deref(), Ok("x"));
    let failure = written("\nconst execute = (").unwrap_err();
    assert_eq!((failure.kind, failure.line), (FailureKind::Code, Some(11)), "{failure:?}");
}

#[test]
fn features_of_other_runtimes_get_a_hint() {
    for (body, hint) in [
        ("return process.env.HOME", "Node is not available"),
        ("return require('fs')", "Node is not available"),
        ("return Bun.file('x')", "this runtime is not available"),
        ("return Deno.readTextFile('x')", "this runtime is not available"),
        ("return (await import('lodash')).x", "packages are not available"),
        ("return (await import('./x.ts')).x", "a tool cannot import files"),
    ] {
        let failure = failure(&format!("async function execute() {{ {body} }}"));
        assert!(failure.text.contains(hint), "{body}: {}", failure.text);
    }
    let failure = failure("import fs from 'node:fs';\nfunction execute() {}");
    assert!(failure.text.contains("packages are not available"), "{}", failure.text);
    assert_eq!(returned("return typeof process + typeof require + typeof std + typeof os"), "undefined".repeat(4));
}

#[test]
fn the_globals_behave_like_in_a_browser() {
    for (body, text) in [
        (
            "const u = new URL('/a?b=1&b=2#c', 'https://user@example.com:8080/x'); return [u.href, u.host, u.pathname, u.searchParams.getAll('b').join()].join(' ')",
            "https://user@example.com:8080/a?b=1&b=2#c example.com:8080 /a 1,2",
        ),
        (
            "const u = new URL('https://a.b/'); u.searchParams.set('q', 'ü &'); u.hash = 'x'; return u.toString()",
            "https://a.b/?q=%C3%BC+%26#x",
        ),
        ("return String(new URLSearchParams({ a: '1 2', b: 'x' }))", "a=1+2&b=x"),
        ("return [URL.canParse('x'), URL.canParse('https://x')]", "[false,true]"),
        ("return [...new TextEncoder().encode('ü€')]", "[195,188,226,130,172]"),
        ("return new TextDecoder().decode(new Uint8Array([195, 188]))", "ü"),
        ("return btoa('hello') + atob('aGVsbG8=')", "aGVsbG8=hello"),
        ("return structuredClone({ a: [1] })", r#"{"a":[1]}"#),
        ("return Date.now() >= 1_700_000_000_000 && Date.now() < 1_700_000_010_000", "true"),
        (
            "return new Date().getUTCFullYear() + ' ' + (new Date() instanceof Date) + ' ' + new Date(0).toISOString()",
            "2023 true 1970-01-01T00:00:00.000Z",
        ),
        (
            "return /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())",
            "true",
        ),
        (
            "const seen = []; setTimeout(() => seen.push('b'), 5); setTimeout((x) => seen.push(x), 1, 'a'); await new Promise((done) => setTimeout(done, 10)); return seen",
            r#"["a","b"]"#,
        ),
        (
            "let n = 0; await new Promise((done) => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); done() } }, 1) }); return n",
            "3",
        ),
        (
            "let n = 0; clearTimeout(setTimeout(() => n++, 0)); await new Promise((done) => setTimeout(done, 3)); return n",
            "0",
        ),
        ("return new Response('{\"a\":1}', { status: 201 }).json()", r#"{"a":1}"#),
    ] {
        assert_eq!(returned(body), text, "{body}");
    }
}

#[test]
fn the_same_seed_produces_the_same_call() {
    let body = "return [Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(4)).join()]";
    assert_eq!(returned(body), returned(body));
}

#[test]
fn the_console_is_logged() {
    let outcome = outcome(
        "function execute() { console.log('a', 1, { b: 2 }); console.error(new Error('x').message); console.warn(); }",
    );
    let lines: Vec<(&str, &str)> = outcome.log.iter().map(|line| (&*line.level, &*line.text)).collect();
    assert_eq!(lines, [("info", "a 1 {\"b\":2}"), ("error", "x"), ("warning", "")]);
}

#[test]
fn the_host_answers_web_and_file_requests() {
    let code = "async function execute(params, ctx) {\n\
        const answer = await fetch('https://example.com/a', { method: 'post', headers: { 'X-A': '1' }, body: 'sent' });\n\
        await ctx.writeFile('notes.md', 'written');\n\
        const both = await Promise.all([readFile('notes.md'), ctx.readFile('other.md')]);\n\
        return [answer.ok, answer.status, answer.headers.get('Content-Type'), await answer.text(), ...both];\n}";
    let mut asked = Vec::new();
    let outcome = call(code, json!({})).start().wait(|call| {
        asked.push(call.request.clone());
        match call.request {
            HostRequest::Fetch { url, .. } => HostAnswer::Response {
                status: 404,
                url,
                headers: vec![("content-type".to_owned(), "text/plain".to_owned())],
                body: "größe".into(),
            },
            HostRequest::ReadFile { path } => HostAnswer::Text { text: format!("text of {path}") },
            _ => HostAnswer::Done,
        }
    });
    assert_eq!(
        outcome.result.as_deref(),
        Ok(r#"[false,404,"text/plain","größe","text of notes.md","text of other.md"]"#)
    );
    assert_eq!(
        asked[0],
        HostRequest::Fetch {
            method: "POST".to_owned(),
            url: "https://example.com/a".to_owned(),
            headers: vec![("x-a".to_owned(), "1".to_owned())],
            body: Some("sent".to_owned()),
        }
    );
    assert_eq!(asked[1], HostRequest::WriteFile { path: "notes.md".to_owned(), content: "written".to_owned() });
}

#[test]
fn one_thread_follows_a_call_while_another_answers_and_stops_it() {
    let follow = |mut running: RunningCall| {
        let (events_in, events) = crossbeam_channel::unbounded();
        let following = move || {
            while let Some(event) = running.next_event() {
                events_in.send(event).expect("the test receives all events");
            }
        };
        std::thread::Builder::new().spawn(following).expect("a thread can be started");
        events
    };
    // It logs more than is passed on while it runs.
    let code = "async function execute() { for (let i = 0; i < 200; i++) console.log(i); return await readFile('x') }";
    let running = call(code, json!({})).start();
    let (handle, events) = (running.handle(), follow(running));
    let asked = events.iter().find_map(|event| match event {
        CallEvent::Asks(asked) => Some(asked.id),
        _ => None,
    });
    handle.answer(asked.expect("it asks"), HostAnswer::Text { text: "read".to_owned() });
    // The iteration ends, because there is no event after the outcome.
    let Some(CallEvent::Finished(outcome)) = events.iter().last() else { panic!("it has an outcome") };
    assert_eq!((outcome.result.as_deref(), outcome.log.len()), (Ok("read"), 200));

    let running = call("async function execute() { return await readFile('x') }", json!({})).start();
    let (handle, events) = (running.handle(), follow(running));
    assert!(matches!(events.recv(), Ok(CallEvent::Asks(_))));
    drop(handle);
    let Some(CallEvent::Finished(outcome)) = events.iter().last() else { panic!("it has an outcome") };
    assert_eq!(outcome.result.unwrap_err().kind, FailureKind::Cancelled);
}

#[test]
fn a_refusal_is_an_error_that_code_can_catch() {
    let code = "async function execute() { try { await fetch('https://x.y') } catch (error) { return error.message } }";
    let outcome = call(code, json!({})).start().wait(|_| HostAnswer::Refused { reason: "not allowed".to_owned() });
    assert_eq!(outcome.result.as_deref(), Ok("not allowed"));
    let uncaught = call("const execute = () => fetch('https://x.y')", json!({})).start();
    let outcome = uncaught.wait(|_| HostAnswer::Refused { reason: "not allowed".to_owned() });
    assert_eq!(outcome.result.unwrap_err().text.lines().next(), Some("Error: not allowed"));
    for (body, text) in [
        ("await fetch('file:///etc/passwd')", "TypeError: fetch only supports http and https"),
        ("await fetch('/relative')", "TypeError: \"/relative\" is not a valid address"),
        ("await fetch('https://x.y', { body: {} })", "TypeError: the body of fetch must be a string"),
        ("await readFile(3)", "TypeError: the path must be a string"),
    ] {
        assert!(failure(&format!("async function execute() {{ {body} }}")).text.starts_with(text), "{body}");
    }
}

#[test]
fn waiting_for_the_host_is_not_running() {
    let limits = EngineLimits { run: Duration::from_secs(1), ..limits() };
    let call = ToolCall { limits, ..call("const execute = async () => (await readFile('a')).length", json!({})) };
    let outcome = call.start().wait(|_| {
        std::thread::park_timeout(Duration::from_millis(1200));
        HostAnswer::Text { text: "four".to_owned() }
    });
    assert_eq!(outcome.result.as_deref(), Ok("4"));
    assert!(outcome.waited >= Duration::from_millis(1100) && outcome.ran < Duration::from_secs(1), "{outcome:?}");
}

#[test]
fn waiting_has_a_limit_of_its_own() {
    let limits = EngineLimits { wait: Duration::from_millis(50), ..limits() };
    for body in ["await readFile('a')", "await new Promise((done) => setTimeout(done, 50000))"] {
        let call = ToolCall { limits, ..call(&format!("async function execute() {{ {body} }}"), json!({})) };
        let mut running = call.start();
        let begun = Instant::now();
        let outcome = loop {
            match running.poll() {
                Some(CallEvent::Finished(outcome)) => break outcome,
                _ => std::thread::park_timeout(Duration::from_millis(1)),
            }
        };
        assert_eq!(outcome.result.unwrap_err().kind, FailureKind::WaitLimit, "{body}");
        assert!(begun.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn a_promise_that_cannot_settle_is_reported_at_once() {
    let begun = Instant::now();
    assert_eq!(failure("const execute = () => new Promise(() => {})").kind, FailureKind::NeverSettles);
    assert_eq!(failure("await new Promise(() => {}); function execute() {}").kind, FailureKind::NeverSettles);
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn any_call_can_be_cancelled_at_once() {
    for code in [
        "function execute() { for (;;); }",
        "const execute = () => readFile('a')",
        "const execute = () => new Promise((done) => setTimeout(done, 9000))",
    ] {
        let limits = EngineLimits { run: Duration::from_secs(30), ..limits() };
        let mut running = ToolCall { limits, ..call(code, json!({})) }.start();
        std::thread::park_timeout(Duration::from_millis(20));
        running.cancel();
        let begun = Instant::now();
        let outcome = loop {
            match running.poll() {
                Some(CallEvent::Finished(outcome)) => break outcome,
                _ => std::thread::yield_now(),
            }
        };
        assert_eq!(outcome.result.unwrap_err().kind, FailureKind::Cancelled, "{code}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{code}");
    }
}

#[test]
fn overlong_results_are_shortened_with_a_note() {
    let limits = EngineLimits { output_bytes: 11, log_bytes: 40, host_requests: 2, ..limits() };
    let bounded =
        |body: &str| ToolCall { limits, ..call(&format!("async function execute() {{ {body} }}"), json!({})) };
    let outcome = bounded("return 'ü'.repeat(100)").start().wait(nobody);
    assert_eq!(outcome.result.as_deref(), Ok("üüüüü\n… (cut: the result is 200 bytes long, 10 are shown)"));
    let outcome = bounded("for (let i = 0; i < 100; i++) console.log('0123456789')").start().wait(nobody);
    assert_eq!(outcome.log.len(), 3);
    assert!(outcome.log[2].text.ends_with("(the rest of the log was dropped)"), "{:?}", outcome.log);
    let body = "for (let i = 0; i < 9; i++) await readFile('a').catch((e) => { if (e.message.includes('at most 2')) throw e })";
    let mut asked = 0;
    let outcome = bounded(body).start().wait(|call| {
        asked += 1;
        nobody(call)
    });
    assert!(outcome.result.unwrap_err().text.contains("at most 2 files and addresses"), "the third is refused");
    assert_eq!(asked, 2);
}

#[test]
fn log_lines_are_sent_while_code_runs_and_again_with_the_outcome() {
    let code = "async function execute() { console.log('one'); await readFile('a').catch(() => {}); \
        for (let i = 0; i < 500; i++) console.log('two'); }";
    let mut running = call(code, json!({})).start();
    let (mut told, mut told_before_the_answer) = (Vec::new(), 0);
    let outcome = loop {
        match running.poll() {
            Some(CallEvent::Logged(line)) => told.push(line),
            Some(CallEvent::Asks(asked)) => {
                told_before_the_answer = told.len();
                running.answer(asked.id, nobody(asked));
            }
            Some(CallEvent::Finished(outcome)) => break outcome,
            None => std::thread::yield_now(),
        }
    };
    assert_eq!((told_before_the_answer, &*told[0].text), (1, "one"));
    assert_eq!(outcome.log.len(), 501);
    assert_eq!(told, outcome.log[..told.len()], "none is left out in between");
}

#[test]
fn byte_arrays_are_shown_by_their_size() {
    for value in ["new Uint8Array(300)", "new Uint8Array(300).buffer", "new DataView(new ArrayBuffer(300))"] {
        let told = outcome(&format!("async function execute() {{ return {value}; }}")).result;
        assert_eq!(told.as_deref(), Ok("[300 bytes that are not text]"), "{value}");
    }
    let told = outcome("async function execute() { return { list: [1, 2] }; }").result;
    assert_eq!(told.as_deref(), Ok(r#"{"list":[1,2]}"#));
}

#[test]
fn calls_know_nothing_of_each_other() {
    let code = "globalThis.n = (globalThis.n ?? 0) + 1; Array.prototype.x = 1; const execute = () => globalThis.n";
    assert_eq!(outcome(code).result.as_deref(), Ok("1"));
    assert_eq!(outcome(code).result.as_deref(), Ok("1"));
    let counts: BTreeMap<String, usize> = (0..8)
        .map(|_| call(code, json!({})).start())
        .collect::<Vec<_>>()
        .into_iter()
        .map(|running| running.wait(nobody).result.unwrap())
        .fold(BTreeMap::new(), |mut counts, text| {
            *counts.entry(text).or_default() += 1;
            counts
        });
    assert_eq!(counts, BTreeMap::from([("1".to_owned(), 8)]));
}
