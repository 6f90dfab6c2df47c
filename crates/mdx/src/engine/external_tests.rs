//! Tools in installed runtimes behave like those in the embedded engine. Cases for runtimes that are not installed pass
//! without testing anything.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Map;

use super::*;
use crate::engine::{ProgramCache, ToolCode};

fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|place| place.is_file())
}

/// Returns the installed runtimes, each with a folder of its own.
fn runtimes() -> Vec<ExternalRuntime> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let all = [("node", vec![]), ("bun", vec!["run"]), ("deno", vec!["run", "--no-prompt", "--allow-read=."])];
    let here = all.into_iter().filter_map(|(name, rest)| {
        let program = found(name)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let words = [program.into_os_string()].into_iter().chain(rest.into_iter().map(OsString::from));
        let words = words.chain([RUNNER_FILE.into()]).collect();
        let variables = std::env::var_os("PATH").map(|path| ("PATH".into(), path)).into_iter().collect();
        let folder = std::env::temp_dir().join(format!("workshop-external-{}-{number}", std::process::id()));
        Some(ExternalRuntime { name: name.to_owned(), words, variables, folder, end: |_| {} })
    });
    here.collect()
}

fn found_as(runtime: &ExternalRuntime) -> impl FnOnce() -> Result<ExternalRuntime, String> + Send + 'static {
    let runtime = runtime.clone();
    move || Ok(runtime)
}

fn call(body: &str) -> ToolCall {
    let text = format!("interface Odd {{ a: number }}\n{body}");
    ToolCall {
        code: ToolCode::Written { text: text.into(), programs: Arc::new(ProgramCache::default()) },
        file: "agents/ada/agent.mdx".to_owned(),
        first_line: 11,
        arguments: Map::from_iter([("a".to_owned(), json!(2)), ("text".to_owned(), json!("é漢"))]),
        agent_dir: "agents/ada".to_owned(),
        cwd: "agents/ada".to_owned(),
        seed: 1,
        now_unix_ms: 0,
        limits: EngineLimits::default(),
    }
}

fn host(asked: HostCall) -> HostAnswer {
    match asked.request {
        HostRequest::ReadFile { path } => HostAnswer::Text { text: format!("text of {path}") },
        HostRequest::WriteFile { path, .. } if path == "secret" => {
            HostAnswer::Refused { reason: "not there".to_owned() }
        }
        HostRequest::WriteFile { .. } => HostAnswer::Done,
        HostRequest::Fetch { method, url, headers, body } => HostAnswer::Response {
            status: 201,
            url,
            headers: vec![("x-was".to_owned(), format!("{method} {}", headers.len()))],
            body: body.unwrap_or_default().into_bytes(),
        },
        HostRequest::Prompt { .. } => HostAnswer::Refused { reason: "no".to_owned() },
    }
}

/// Returns the results of a call in each installed runtime and in the embedded engine.
fn everywhere(body: &str) -> Vec<(String, CodeOutcome)> {
    let outside = runtimes().into_iter().map(|runtime| (runtime.name.clone(), call(body).start_in(found_as(&runtime))));
    let embedded = ("the embedded engine".to_owned(), call(body).start());
    outside.chain([embedded]).map(|(name, running)| (name, running.wait(host))).collect()
}

fn all_give(body: &str, wanted: &str) {
    for (name, outcome) in everywhere(body) {
        assert_eq!(outcome.result.as_deref(), Ok(wanted), "{name}: {body}");
    }
}

#[test]
fn results_parameters_and_context_match_the_embedded_engine() {
    all_give("async function execute(params: { a: number }) { return params.a + 1; }", "3");
    all_give("async function execute(params: any) { return { text: params.text }; }", "{\"text\":\"é漢\"}");
    all_give("const execute = (params: any, ctx: any) => `${ctx.agentDir} ${ctx.cwd}`;", "agents/ada agents/ada");
    all_give("export default async () => undefined;", "");
    for (name, outcome) in
        everywhere("async function execute(p: any, ctx: any) { await ctx.log('one'); console.warn(2); }")
    {
        let log: Vec<(&str, &str)> = outcome.log.iter().map(|line| (&*line.level, &*line.text)).collect();
        assert_eq!(log, [("info", "one"), ("warning", "2")], "{name}");
    }
}

#[test]
fn files_and_web_requests_go_through_the_caller() {
    all_give("const execute = async (p: any, ctx: any) => await ctx.readFile('a.md');", "text of a.md");
    all_give(
        "const execute = async () => { const answer = await fetch('https://a.org/x', { method: 'post', headers: { 'x-b': '1' }, body: 'sent' });\n\
         return `${answer.status} ${answer.url} ${answer.headers.get('x-was')?.split(' ')[0]} ${await answer.text()}`; };",
        "201 https://a.org/x POST sent",
    );
    all_give(
        "const execute = async () => { try { await writeFile('secret', 'x'); } catch (error) { return (error as Error).message; } };",
        "not there",
    );
}

#[test]
fn failures_have_lines_of_the_document() {
    for (name, outcome) in everywhere("async function execute() {\n  throw new RangeError('too small');\n}") {
        let failure = outcome.result.expect_err("it threw");
        assert_eq!(failure.line, Some(13), "{name}: {failure}");
        assert!(failure.text.starts_with("RangeError: too small\n    at "), "{name}: {failure}");
        assert!(failure.text.contains("agents/ada/agent.mdx:13"), "{name}: {failure}");
    }
    for (name, outcome) in everywhere("const nothing = 1;") {
        assert_eq!(outcome.result.map_err(|failure| failure.text), Err(NO_EXECUTE.to_owned()), "{name}");
    }
}

#[test]
fn a_stopped_call_kills_its_processes_and_deletes_its_folder() {
    static ENDED: AtomicU32 = AtomicU32::new(0);
    for runtime in runtimes() {
        let runtime = ExternalRuntime { end: |id| ENDED.store(id, Ordering::SeqCst), ..runtime };
        let folder = runtime.folder.clone();
        let running = call("async function execute() { for (;;) {} }").start_in(found_as(&runtime));
        running.cancel();
        let failure = running.wait(host).result.expect_err("it was stopped");
        assert_eq!(failure.kind, FailureKind::Cancelled, "{}", runtime.name);
        assert!(!folder.exists(), "{}", folder.display());
        let process = ENDED.swap(0, Ordering::SeqCst);
        assert!(process != 0 && !std::path::Path::new(&format!("/proc/{process}")).exists(), "{}", runtime.name);
    }
}

#[test]
fn foreign_output_is_ignored_and_a_failed_start_is_reported() {
    for runtime in runtimes().into_iter().filter(|runtime| runtime.name == "node") {
        let body = "import process from 'node:process';\nasync function execute() { process.stdout.write('odd\\n'); return 'fine'; }";
        assert_eq!(call(body).start_in(found_as(&runtime)).wait(host).result.as_deref(), Ok("fine"));
        let ends = "import process from 'node:process';\nasync function execute() { process.stderr.write('gone'); process.exit(3); }";
        let failure = call(ends).start_in(found_as(&runtime)).wait(host).result.expect_err("there is no result");
        assert!(failure.text.starts_with("node ended without a result"), "{failure}");
    }
    let folder = std::env::temp_dir().join(format!("workshop-external-{}-none", std::process::id()));
    let (name, words) = ("node".to_owned(), vec!["/nowhere/node".into()]);
    let runtime = ExternalRuntime { name, words, variables: Vec::new(), folder, end: |_| {} };
    let failure = call("").start_in(found_as(&runtime)).wait(host).result.expect_err("it is not there");
    assert!(failure.text.starts_with("node could not be started: "), "{failure}");
}
