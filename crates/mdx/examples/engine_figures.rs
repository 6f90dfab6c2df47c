//! How long a tool takes: the first call of a document (types taken out, a runtime made, run) and the next ones, end to
//! end on a thread of their own. `cargo run --release -p workshop-mdx --example engine_figures`

use std::time::{Duration, Instant};

use serde_json::json;
use workshop_mdx::document::{self, AgentDocument, check_arguments};
use workshop_mdx::engine::{EngineLimits, HostAnswer, ProgramCache, ToolCall, ToolCode};

const DOCUMENT: &str = r#"# Agent: Figures

## Purpose

Is measured.

<Tool name="forecast" description="What the weather will be">
  <Param name="city" description="City name" />
  <Param name="days" type="number" required="false" description="How many days" />

```ts
interface Forecast { day: number; text: string }
async function execute(params: { city: string; days?: number }, ctx: any): Promise<string> {
  const url = new URL("https://example.com/api");
  url.searchParams.set("city", params.city);
  const answer = await fetch(url.href);
  const found: Forecast[] = await answer.json();
  await ctx.log(`found ${found.length}`);
  return found.slice(0, params.days ?? 3).map((one) => `${one.day}: ${one.text}`).join("\n");
}
```

</Tool>
"#;

fn main() {
    let document = document::parse(DOCUMENT);
    let rounds = 200;
    let first = median(rounds, || {
        let cache = ProgramCache::default();
        call(&document::parse(DOCUMENT), &cache)
    });
    let cache = ProgramCache::default();
    let warm = median(rounds, || call(&document, &cache));
    let read = median(rounds, || assert_eq!(document::parse(DOCUMENT).tools.len(), 1));
    println!("document read                            {read:>10.2?}");
    println!("first call (read, types out, run, fetch) {first:>10.2?}");
    println!("warm call (runtime, run, fetch)          {warm:>10.2?}");
    let large = DOCUMENT.repeat(2000);
    let begun = Instant::now();
    let tools = document::parse(&large).problems.len();
    println!("{:.1} MB of documents ({tools} problems)  {:>10.2?}", large.len() as f64 / 1e6, begun.elapsed());
}

fn call(document: &AgentDocument, cache: &ProgramCache) {
    let tool = &document.tools[0];
    let limits = EngineLimits::default();
    let arguments = check_arguments(&tool.parameters, &json!({ "city": "Zürich", "days": 2 })).expect("they fit");
    let call = ToolCall {
        code: ToolCode::Ready(cache.program(&tool.code.text, limits.code_bytes).expect("it is TypeScript")),
        file: "agent.mdx".to_owned(),
        first_line: tool.code.first_line,
        arguments,
        agent_dir: "agents/figures".to_owned(),
        cwd: "agents/figures".to_owned(),
        seed: 1,
        now_unix_ms: 1_700_000_000_000,
        limits,
    };
    let body = r#"[{"day":1,"text":"sun"},{"day":2,"text":"rain"},{"day":3,"text":"fog"}]"#;
    let outcome = call.start().wait(|_| HostAnswer::Response {
        status: 200,
        url: "https://example.com/api".to_owned(),
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        body: body.into(),
    });
    assert_eq!(outcome.result.as_deref(), Ok("1: sun\n2: rain"));
}

fn median(rounds: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..rounds)
        .map(|_| {
            let begun = Instant::now();
            run();
            begun.elapsed()
        })
        .collect();
    times.sort();
    times[rounds / 2]
}
