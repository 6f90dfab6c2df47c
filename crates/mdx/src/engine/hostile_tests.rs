//! Malicious or faulty code: each is ended within its limit, and sees nothing of the host.

use std::time::{Duration, Instant};

use serde_json::json;

use super::tests::call;
use super::*;

/// How long after its limit the end of a call may be reported: a tenth of a second on an otherwise idle machine, which
/// the large count assumes; elsewhere, other tests keep the processors busy.
fn late_at_most() -> Duration {
    if is_measuring() { Duration::from_millis(100) } else { Duration::from_secs(30) }
}

const RUN: Duration = Duration::from_millis(60);

fn limits() -> EngineLimits {
    EngineLimits { run: RUN, wait: Duration::from_millis(300), memory_bytes: 16 << 20, ..EngineLimits::default() }
}

/// How long the thread of an abandoned call may continue: every uninterruptible operation of the engine ends
/// eventually.
const STUCK_AFTER: Duration = Duration::from_secs(300);

fn nobody() -> HostAnswer {
    HostAnswer::Refused { reason: "nobody is there".to_owned() }
}

/// Runs the code. Returns the outcome, and the time until it was reported.
fn run(code: &str) -> Option<(CodeOutcome, Duration)> {
    let program = strip(code, 1 << 20).ok()?;
    let call = ToolCall {
        code: ToolCode::Ready(program.into()),
        limits: limits(),
        ..call("function execute() {}", json!({}))
    };
    let begun = Instant::now();
    let running = call.start();
    let has_ended = running.end();
    let outcome = running.wait(|_| nobody());
    let took = begun.elapsed();
    while !has_ended() {
        assert!(begun.elapsed() < STUCK_AFTER, "{code} runs for ever");
        std::thread::park_timeout(Duration::from_millis(1));
    }
    Some((outcome, took))
}

/// A body of `execute` that passes an unlimited number of arguments.
const SPREAD_WITHOUT_END: &str = "const o = { *[Symbol.iterator]() { for (;;) yield 1 } }; Math.max(...o)";

/// Bodies of `execute` that never end by themselves, each with the limit that ends them.
const ENDLESS: &[&str] = &[
    "for (;;);",
    "while (true) { Math.sqrt(2) }",
    "for (;;) { try { throw 1 } catch {} }",
    "for (;;) { try { (function f() { f() })() } catch {} }",
    "try { for (;;); } finally { for (;;); }",
    "try { for (;;); } catch { return 'caught' }",
    "await (async () => { for (;;) await null })()",
    "(function f() { Promise.resolve().then(f) })(); await new Promise(() => {})",
    "function f() { queueMicrotask(f); queueMicrotask(f) } f(); await new Promise(() => {})",
    "await new Promise(() => setInterval(() => {}, 0))",
    "await new Promise(() => { (function f() { setTimeout(f, 0) })() })",
    "/(a+)+$/.test('a'.repeat(40) + 'b')",
    "/^(([a-z])+.)+[A-Z]([a-z])+$/.test('a'.repeat(60))",
    "'x'.repeat(30).match(/(x*)*y/)",
    "'a'.repeat(50).replace(/(a|a)*$/g, 'b') + /(a|aa)+$/.exec('a'.repeat(60) + 'b')",
    "[3, 1, 2].sort(() => { for (;;); })",
    "const p = new Proxy({}, { get: (t, k, r) => r[k] }); for (;;) { try { p.x } catch {} }",
    "JSON.stringify({ toJSON() { for (;;); } })",
    "JSON.parse('[1]', () => { for (;;); })",
    "JSON.parse('[' + '1,'.repeat(1e5) + '1]', function () { for (;;); })",
    "`${{ toString() { for (;;); } }}`",
    "+{ valueOf() { for (;;); } }",
    "({ get x() { for (;;); } }).x",
    "return { toJSON() { for (;;); } }",
    "return { then() { for (;;); } }",
    "class E extends Error { get message() { for (;;); } } throw new E()",
    "class E extends Error { get stack() { for (;;); } } throw new E()",
    "function* f() { for (;;) yield 1 } for (const x of f()) ;",
    "function* f() { for (;;) yield 1 } f().drop(2 ** 50).next()",
    "function* f() { for (;;) yield 1 } new Set(f())",
    "eval('for (;;);')",
    "new Function('for (;;);')()",
    "label: for (;;) { continue label }",
    "for (;;) new Promise(() => { for (;;); })",
    "for (;;) (async function* () { for (;;); })().next()",
    "for (;;) { try { new Promise(() => { for (;;); }) } finally { continue } }",
    "for (;;) Promise.resolve({ get then() { for (;;); } })",
    "for (;;) Promise.all({ [Symbol.iterator]() { for (;;); } })",
    "for (;;) Promise.try(() => { for (;;); })",
    "for (;;) import({ toString() { for (;;); } })",
    "const f = () => new Promise(() => { f(); for (;;); }); for (;;) f()",
    "const keep = 'x'.repeat(6e6); for (;;) Promise.try(() => [1, 2, 3])",
    "const keep = []; for (;;) try { for (;;) keep.push(new Promise(() => { for (;;) keep.push({}) })) } catch {}",
    "let i = 0n; for (;;) i++",
    "with_(); function with_() { for (;;) new Date().toString() }",
    "for (;;) new Uint8Array(1e5)",
    "for (;;) 'abc'.repeat(1e4)",
    "const m = new Map(); m.set(1, 1); for (const [k] of m) { m.delete(k); m.set(k + 1, 1) }",
    "Date.now = () => 0; const end = Date.now() + 1; while (Date.now() < end);",
    "Reflect.ownKeys(new Proxy({}, { ownKeys() { for (;;); } }))",
    "new (class { static { for (;;); } })()",
    "await Promise.all([...Array(100)].map(async () => { for (;;) await 0 }))",
    "for await (const x of (async function* () { for (;;) yield 1 })()) ;",
    "setTimeout(() => { for (;;); }, 1); await new Promise((r) => setTimeout(r, 50))",
];

/// Operations during which the engine does not check its clock.
const IN_ONE_GO: &[&str] = &[
    "Array.from({ length: 1e9 }, () => 1)",
    "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
    "Array.prototype.includes.call({ length: 2 ** 53 - 1 }, 1)",
    "Array.prototype.lastIndexOf.call({ length: 2 ** 53 - 1 }, 1)",
    "Array.prototype.forEach.call({ length: 2 ** 53 - 1 }, () => {})",
    "Array.prototype.every.call({ length: 2 ** 53 - 1 }, () => true)",
    "Array.prototype.some.call({ length: 2 ** 53 - 1 }, () => false)",
    "Array.prototype.reduce.call({ length: 2 ** 53 - 1, 0: 1 }, () => 1)",
    "Array.prototype.reduceRight.call({ length: 2 ** 53 - 1 }, () => 1, 1)",
    "Array.prototype.filter.call({ length: 2 ** 53 - 1 }, () => true)",
    "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })",
    "Array.prototype.copyWithin.call({ length: 2 ** 53 - 1 }, 0, 1)",
    "Array.prototype.fill.call({ length: 2 ** 53 - 1 }, 1)",
    "Array.prototype.slice.call({ length: 2 ** 32 - 1 }, 0)",
    "Array.prototype.splice.call({ length: 2 ** 53 - 1 }, 0, 1)",
    "Array.prototype.shift.call({ length: 2 ** 53 - 1 })",
    "Array.prototype.unshift.call({ length: 2 ** 53 - 10 }, 1)",
    "Array.prototype.join.call({ length: 2 ** 53 - 1 }, '')",
    "Array.prototype.sort.call({ length: 2 ** 53 - 1 })",
    "Array.prototype.flat.call({ length: 2 ** 53 - 1 })",
    "Array.prototype.concat.call([], { length: 2 ** 53 - 1, [Symbol.isConcatSpreadable]: true })",
    "new Array(2 ** 32 - 1).indexOf(1)",
    "new Array(2 ** 32 - 1).forEach(() => {})",
    "new Array(2 ** 32 - 1).join('')",
    "new Array(2 ** 32 - 1).sort()",
    "new Array(2 ** 32 - 1).reverse()",
    "[].concat(new Array(2 ** 32 - 1))",
    "[new Array(2 ** 32 - 1)].flat()",
    "String(new Array(2 ** 32 - 1))",
    "`${new Array(2 ** 32 - 1)}`",
    "new Array(2 ** 32 - 1).toLocaleString()",
    "new Set(new Array(2 ** 32 - 1))",
    "new Set(Array.prototype.values.call({ length: 2 ** 53 - 1 }))",
    "const a = []; const i = a.values(); a.length = 2 ** 32 - 1; new Set(i)",
    "new Array(2 ** 32 - 1).values().drop(2 ** 32 - 2).next()",
    "new Array(2 ** 32 - 1).keys().some(() => false)",
    "[...new Set(new Array(2 ** 32 - 1).keys())]",
    "JSON.stringify({}, new Array(2 ** 32 - 1))",
    "JSON.stringify(new Array(2 ** 32 - 1))",
    "'a'.repeat(4e6).indexOf('a'.repeat(2e6) + 'b')",
    "'a'.repeat(4e6).lastIndexOf('b' + 'a'.repeat(2e6))",
    "'a'.repeat(4e6).includes('a'.repeat(2e6) + 'b')",
    "'a'.repeat(4e6).split('a'.repeat(2e6) + 'b')",
    "'a'.repeat(4e6).replaceAll('a'.repeat(2e6) + 'b', '')",
    "'a'.repeat(4e6).replace('a'.repeat(2e6) + 'b', '')",
    "Object.defineProperty([], 'length', { value: 2 ** 32 - 1 }).lastIndexOf(1)",
    "const a = []; a[2 ** 32 - 2] = 1; a.length = 0; a.indexOf(2)",
    "let n = 0; Array.prototype.indexOf.call({ get length() { return n++ ? 2 ** 53 - 1 : 1 } }, 1)",
    "const p = new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 53 - 1 : 0, has: () => true }); Array.prototype.indexOf.call(p, 1)",
    "Array.prototype.indexOf.call(new Proxy({ length: 2 ** 53 - 1 }, {}), 1)",
    "Array.prototype.indexOf.call(new Proxy([], { get: Reflect.get, has: Reflect.has }), 1)",
    "new Uint8Array({ length: 2 ** 32 })",
    "Array.from.call(function () { return new Proxy([], { defineProperty: Array.isArray }) }, { length: 2 ** 53 - 1 })",
    "Array.of.apply(null, { length: 60000 })",
    "Math.max.apply(null, { length: 2 ** 31 })",
    "'a'.padEnd(2 ** 29, 'b').normalize('NFD')",
    "Object.groupBy(new Array(2 ** 32 - 1).keys(), () => 1)",
    "new Array(2 ** 32 - 1).with(1, 1)",
    "new Array(2 ** 32 - 1).toSorted()",
    "new Array(2 ** 32 - 1).findLast(() => false)",
    "new Array(2 ** 32 - 1).at(-1); new Array(2 ** 32 - 1).entries().toArray()",
    "String.raw({ raw: { length: 2 ** 53 - 1 } })",
    "new Set([1]).isSubsetOf({ size: 2 ** 53, has: () => true, keys: () => Array.prototype.keys.call({ length: 2 ** 53 - 1 }) })",
    "new Set([1]).union({ size: 1, has: () => true, keys: () => Array.prototype.keys.call({ length: 2 ** 53 - 1 }) })",
    "new Set([1]).isSupersetOf({ size: 1, has: () => true, keys: () => new Array(2 ** 32 - 1).values() })",
    "new Uint8Array(1e7).sort((a, b) => 0)",
    "Iterator.from({ next: Function.prototype }).drop(2 ** 53 - 1).next()",
    "Iterator.from({ next: () => ({}) }).drop(2 ** 53 - 1).next()",
    "Iterator.from({ next: Object.prototype.valueOf, done: false }).drop(2 ** 50).next()",
    "new Set({ [Symbol.iterator]: Object.prototype.valueOf, next: Object.prototype.valueOf })",
];

/// Operations that keep the engine busy for seconds without checking its clock: numbers and texts as large as the
/// memory allows.
const SLOW: &[&str] = &[
    "let n = 3n; for (;;) n *= n + 1n",
    "(3n ** 600000n).toString()",
    "BigInt('9'.repeat(300000))",
    "(7n ** 300000n) % (3n ** 200000n)",
    "new Uint8Array(8e6).join(',')",
    "const s = 'ab'.repeat(3e6); for (;;) s.toUpperCase().localeCompare(s)",
    "(2n ** 900000n) * (2n ** 900000n) + 3n ** 600000n",
];

/// Code that needs unlimited memory or stack.
const GREEDY: &[&str] = &[
    "const a = []; for (;;) a.push(new Array(1000).fill(1))",
    "let s = 'x'; for (;;) s += s",
    "return 'x'.repeat(2 ** 28)",
    "new ArrayBuffer(2 ** 30)",
    "new Uint8Array(2 ** 31)",
    "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })",
    "let o = {}; for (;;) o = { o }",
    "let f = () => 1; for (;;) { const g = f; f = () => g() }",
    "JSON.parse('['.repeat(100000))",
    "JSON.parse('['.repeat(100000) + ']'.repeat(100000))",
    "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a",
    "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; structuredClone(a)",
    "(function f() { f() })()",
    "(function f() { [1].map(f) })()",
    "(function f() { new Proxy({}, { get: f }).x })()",
    "class A { constructor() { new A() } } new A()",
    "const o = { toString() { return `${o}` } }; `${o}`",
    "function* f() { yield* f() } [...f()]",
    "function* f() { yield* f() } for (const x of f()) ; for (;;);",
    "eval('('.repeat(1e5))",
    "eval('['.repeat(1e5) + ']'.repeat(1e5))",
    "new Function('return ' + '!'.repeat(1e5) + '1')()",
    "new Function('return ' + '1+'.repeat(1e5) + '1')()",
    "new RegExp('('.repeat(1e5) + ')'.repeat(1e5))",
    "new RegExp('(?:a{1000}){1000}')",
    "new RegExp('a{2147483647}').test('a')",
    "'x'.repeat(1e6).split('').map((x) => x.repeat(1e4)).join()",
    "Promise.all(new Array(1e7).fill(Promise.resolve()))",
    "for (let i = 0; i < 1e7; i++) setTimeout(() => {}, 1e6)",
    "for (;;) readFile('a')",
    "for (;;) console.log('x'.repeat(1000))",
    "Symbol('x'.repeat(1e7)).description.repeat(100)",
    "new Array(1e6).fill(1).sort(() => Math.random() - 0.5) && (() => { for (;;); })()",
    "const e = new Error('x'.repeat(5e6)); e.stack = e.message; throw e",
    "throw 'x'.repeat(5e6)",
    "throw { get message() { for (;;); }, get stack() { for (;;); } }",
    "throw null",
    "throw undefined",
    "return Symbol('x')",
    "return () => 1",
    "return new Proxy({}, { ownKeys() { throw 1 } })",
    "return Object.create(null)",
];

/// Attempts to see the host. Each returns `hidden` if there is nothing to see.
const CURIOUS: &[&str] = &[
    "return typeof process + typeof require + typeof std + typeof os + typeof Deno + typeof Bun === 'undefined'.repeat(6) ? 'hidden' : 'seen'",
    "return typeof native + typeof world + typeof scriptArgs + typeof print + typeof load + typeof gc === 'undefined'.repeat(6) ? 'hidden' : 'seen'",
    "return typeof WebAssembly + typeof SharedArrayBuffer === 'undefinedfunction' || typeof Worker === 'undefined' ? 'hidden' : 'seen'",
    "try { await import('/etc/passwd') } catch { return 'hidden' }",
    "try { await import('file:///etc/passwd') } catch { return 'hidden' }",
    "try { await import('std') } catch { return 'hidden' }",
    "try { await import('./../../etc/passwd') } catch { return 'hidden' }",
    "try { await readFile('/etc/passwd') } catch (error) { return error.message === 'nobody is there' ? 'hidden' : error.message }",
    "try { await fetch('file:///etc/passwd') } catch { return 'hidden' }",
    "const seen = new Error('x').stack; return /\\/(home|root|usr|work|tmp)\\//.test(seen) ? seen : 'hidden'",
    "try { null.x } catch (error) { return /\\/(home|root|usr|work|tmp)\\/|\\.rs/.test(error.stack + error.message) ? error.stack : 'hidden' }",
    "const names = Object.getOwnPropertyNames(globalThis).filter((n) => /native|rust|qjs|host/i.test(n)); return names.length ? names.join() : 'hidden'",
    "return setTimeout.constructor('return typeof native')() === 'undefined' ? 'hidden' : 'seen'",
    "return ctx.log.constructor('return this')() === globalThis || true ? 'hidden' : 'seen'",
    "try { new SharedArrayBuffer(8) && Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0) } catch { return 'hidden' }",
    "try { return console.log.caller === undefined ? 'hidden' : 'seen' } catch { return 'hidden' }",
];

fn in_execute(body: &str) -> String {
    format!("async function execute(params, ctx) {{ {body} }}")
}

#[track_caller]
fn ends_in_time(body: &str) -> Option<FailureKind> {
    let (outcome, took) = run(&in_execute(body)).unwrap_or_else(|| panic!("{body} cannot be read"));
    assert!(took < RUN + outcome.waited + late_at_most(), "{body} took {took:?}: {:?}", outcome.result);
    outcome.result.err().map(|failure| failure.kind)
}

#[test]
fn endless_code_is_stopped() {
    for body in ENDLESS {
        let kind = ends_in_time(body);
        // On a busy machine, its thread may notice the limit late, which `run` waits for.
        let is_ended = matches!(
            kind,
            Some(FailureKind::RunLimit | FailureKind::WaitLimit | FailureKind::Memory | FailureKind::GivenUp)
        );
        assert!(is_ended, "{body}: {kind:?}");
    }
}

#[test]
fn endless_arguments_are_refused_or_stopped() {
    // If there is enough time, the engine itself throws because of too many arguments before a limit is reached.
    assert!(ends_in_time(SPREAD_WITHOUT_END).is_some());
}

#[test]
fn uninterruptible_operations_return() {
    let given_up: Vec<&str> =
        IN_ONE_GO.iter().copied().filter(|body| ends_in_time(body) == Some(FailureKind::GivenUp)).collect();
    // On a busy machine, results may come late.
    assert!(given_up.is_empty() || !is_measuring(), "{}", given_up.join("\n"));
}

#[test]
fn memory_and_stack_have_limits() {
    for body in GREEDY {
        ends_in_time(body);
    }
}

/// The caller gets the result in time nevertheless; the thread ends a little later, which `run` waits for.
#[test]
fn long_uninterruptible_operations_are_abandoned_in_time() {
    for body in SLOW {
        ends_in_time(body);
    }
}

#[test]
fn nothing_of_the_host_is_visible() {
    for body in CURIOUS {
        let outcome = call(&in_execute(body), json!({})).start().wait(|_| nobody());
        assert_eq!(outcome.result.as_deref(), Ok("hidden"), "{body}");
    }
}

/// The variable for the number of generated snippets; a large number takes minutes, and measures times.
const MADE_UP: &str = "WORKSHOP_HOSTILE_SNIPPETS";

fn made_up() -> u64 {
    std::env::var(MADE_UP).ok().and_then(|count| count.parse().ok()).unwrap_or(200)
}

fn is_measuring() -> bool {
    std::env::var_os(MADE_UP).is_some()
}

/// Wrappers of harmful code, with `BODY` in its place.
const WRAPPINGS: &[&str] = &[
    "BODY",
    "try { BODY } catch (e) { throw e }",
    "try { BODY } catch { for (;;); }",
    "try { BODY } finally { BODY }",
    "for (let i = 0; i < 3; i++) { try { (() => { BODY })() } catch {} }",
    "(() => { BODY })()",
    "(function f(n) { if (n) f(n - 1); else { BODY } })(200)",
    "await (async () => { BODY })()",
    "await Promise.resolve().then(async () => { BODY })",
    "await Promise.race([new Promise(() => {}), (async () => { BODY })()])",
    "await Promise.allSettled([1, 2, 3].map(async () => { BODY }))",
    "await new Promise((done, fail) => setTimeout(async () => { try { BODY } catch (e) { fail(e) } }, 1))",
    "setInterval(() => { (async () => { BODY })() }, 1); BODY",
    "[2, 1].sort(() => { (async () => { BODY })(); return 0 }); BODY",
    "await JSON.parse('[1]', async () => { BODY })",
    "await ({ get x() { return (async () => { BODY })() } }).x",
    "await new Proxy({}, { get: (t, k) => k === 'then' ? undefined : (async () => { BODY })() }).x",
    "for await (const x of (async function* () { BODY; yield 1 })()) ;",
    "class A { static async run() { BODY } } await A.run()",
    "Object.prototype.toJSON = () => 1; Array.prototype.push = () => {}; BODY",
    "Promise.prototype.then = function () { return this }; BODY",
    "globalThis.Promise = undefined; BODY",
    "Object.freeze(globalThis); BODY",
    "Symbol.prototype.toString = () => { throw 1 }; Error.prototype.toString = () => { throw 2 }; BODY",
    "const waste = []; for (let i = 0; i < 20000; i++) waste.push({ i }); BODY",
    "const keep = 'x'.repeat(6e6); BODY; return keep",
    "label: { BODY; break label }",
    "switch (1) { default: { BODY } }",
];

#[test]
fn generated_harmful_code_ends_in_time() {
    let bodies: Vec<&str> = [ENDLESS, IN_ONE_GO, GREEDY, &[SPREAD_WITHOUT_END]].concat();
    let mut random = super::random::Random(20);
    let (mut late, mut given_up, mut unread, mut worst) = (Vec::new(), 0, 0, Duration::ZERO);
    let count = made_up();
    for _ in 0..count {
        let mut pick = |list: &[&'static str]| list[(random.next() % list.len() as u64) as usize];
        let (first, second) = (pick(&bodies), pick(&bodies));
        let inner = pick(WRAPPINGS).replace("BODY", first);
        let body = pick(WRAPPINGS).replace("BODY", if inner.len() % 3 == 0 { second } else { &inner });
        let Some((outcome, took)) = run(&in_execute(&body)) else {
            unread += 1;
            continue;
        };
        let waited = outcome.waited;
        let over = took.saturating_sub(RUN + waited);
        worst = worst.max(over);
        if over > late_at_most() {
            late.push(format!("{over:?} late: {body}: {:?}", outcome.result));
        }
        given_up += usize::from(outcome.result.is_err_and(|failure| failure.kind == FailureKind::GivenUp));
    }
    let told = format!("{count} snippets, {unread} not TypeScript, {given_up} given up, at most {worst:?} late");
    assert!(late.is_empty(), "{told}\n{}", late.join("\n"));
    println!("{told}");
}
