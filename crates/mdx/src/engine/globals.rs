//! The native functions behind the globals of a tool's code.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;
use rquickjs::function::Opt;
use rquickjs::{Ctx, Exception, Function, Object, Result, TypedArray, Value};
use serde_json::json;

use super::clock::Clock;
use super::failure::Source;
use super::host::{HostCall, HostRequest};
use super::limits::{EngineLimits, REQUESTS_A_WAKE};
use super::outcome::LogLine;
use super::random::Random;
use super::rejections::Rejections;

const GUARDS: &str = include_str!("prelude/guards.js");
const BASE: &str = include_str!("prelude/base.js");
const PARTS: [(&str, &str); 4] = [
    ("url", include_str!("prelude/url.js")),
    ("text", include_str!("prelude/text.js")),
    ("fetch", include_str!("prelude/fetch.js")),
    ("module", include_str!("prelude/module.js")),
];

/// The state that the native functions share with the thread that drives them.
pub(super) struct Shared {
    pub(super) clock: Clock,
    pub(super) limits: EngineLimits,
    pub(super) requests: Sender<HostCall>,
    pub(super) random: RefCell<Random>,
    pub(super) began_unix_ms: Cell<f64>,
    pub(super) log: RefCell<Log>,
    pub(super) timers: RefCell<Vec<Timer>>,
    /// Whether it is a module, whose code continues to run in the background.
    pub(super) is_module: Cell<bool>,
    /// The number of the module order for which code is running; 0 for a call of a tool, or in the background.
    pub(super) order: Cell<u64>,
    /// The number of the last request.
    pub(super) asked: Cell<u64>,
    /// The number of requests made for each order.
    pub(super) requests_of: RefCell<BTreeMap<u64, usize>>,
    /// The open requests, and the order that each was made for.
    pub(super) unanswered: RefCell<BTreeMap<u64, u64>>,
    pub(super) rejections: RefCell<Rejections>,
    /// The files whose lines are shown in errors.
    pub(super) sources: RefCell<Rc<[Source]>>,
    /// Whether background code was stopped because memory ran out.
    pub(super) is_out_of_memory: Cell<bool>,
}

/// A scheduled timer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Timer {
    pub(super) due: Instant,
    pub(super) id: u32,
    /// The order for which the code was running that set it.
    pub(super) order: u64,
}

/// The log, up to its limit.
#[derive(Default)]
pub(super) struct Log {
    lines: Vec<LogLine>,
    bytes: usize,
    is_full: bool,
    /// The reader of lines while the code runs: it gets the first ones, without a gap.
    reader: Option<Sender<LogLine>>,
}

impl Log {
    /// Creates a log whose lines are read while the code runs.
    pub(super) fn read_by(reader: Option<Sender<LogLine>>) -> Self {
        Self { reader, ..Self::default() }
    }

    pub(super) fn add(&mut self, level: String, mut text: String, bytes_at_most: usize) {
        if self.is_full {
            return;
        }
        let left = bytes_at_most.saturating_sub(self.bytes);
        if text.len() >= left {
            self.is_full = true;
            let end = (0..=left).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
            text.truncate(end);
            text.push_str("… (the rest of the log was dropped)");
        }
        // Even an empty line takes memory.
        self.bytes += text.len() + 16;
        let line = LogLine { level, text };
        // The code never waits for the reader; if it is too slow, it gets the remaining lines with the outcome.
        self.reader.take_if(|reader| reader.try_send(line.clone()).is_err());
        self.lines.push(line);
    }

    pub(super) fn take(&mut self) -> Vec<LogLine> {
        (self.bytes, self.is_full) = (0, false);
        std::mem::take(&mut self.lines)
    }
}

/// Creates the global objects. Returns the functions with which they are controlled.
pub(super) fn make<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>) -> Result<Object<'js>> {
    let native = native(ctx, shared)?;
    eval(ctx, GUARDS)?.call::<_, ()>((native.clone(),))?;
    eval(ctx, BASE)?.call((native,))
}

/// Evaluates code of the prelude, whose lines are never shown.
fn eval<'js>(ctx: &Ctx<'js>, code: &str) -> Result<Function<'js>> {
    let mut options = rquickjs::context::EvalOptions::default();
    options.filename = Some("native".to_owned());
    ctx.eval_with_options(code, options)
}

fn native<'js>(ctx: &Ctx<'js>, shared: &Rc<Shared>) -> Result<Object<'js>> {
    let native = Object::new(ctx.clone())?;
    let part = |ctx: Ctx<'js>, name: String| {
        let source = PARTS.iter().find(|(known, _)| *known == name).map(|(_, source)| *source);
        let source = source.ok_or_else(|| Exception::throw_type(&ctx, "there is no such part"))?;
        eval(&ctx, source)
    };
    native.set("part", Function::new(ctx.clone(), part)?)?;
    let of = shared.clone();
    let request = move |ctx: Ctx<'js>, asked: String| -> Result<f64> { of.request(&ctx, &asked) };
    native.set("request", Function::new(ctx.clone(), request)?)?;
    let of = shared.clone();
    let log = move |level: String, text: LossyString| {
        of.log.borrow_mut().add(level, text.0, of.limits.log_bytes);
    };
    native.set("log", Function::new(ctx.clone(), log)?)?;
    let of = shared.clone();
    let timer = move |id: u32, delay_ms: f64| {
        let due = Instant::now() + Duration::from_millis(delay_ms.max(0.0) as u64);
        of.timers.borrow_mut().push(Timer { due, id, order: of.order.get() });
    };
    native.set("timer", Function::new(ctx.clone(), timer)?)?;
    let of = shared.clone();
    native.set("random", Function::new(ctx.clone(), move || of.random.borrow_mut().fraction())?)?;
    let of = shared.clone();
    native.set("uuid", Function::new(ctx.clone(), move || of.random.borrow_mut().uuid())?)?;
    let of = shared.clone();
    let now = move || of.began_unix_ms.get() + of.clock.elapsed().as_millis() as f64;
    native.set("now", Function::new(ctx.clone(), now)?)?;
    let of = shared.clone();
    native.set("begun", Function::new(ctx.clone(), move || of.began_unix_ms.get())?)?;
    native.set("encode", Function::new(ctx.clone(), encode)?)?;
    native.set("decode", Function::new(ctx.clone(), decode)?)?;
    native.set("url", Function::new(ctx.clone(), |address: String, base: Opt<Value<'js>>| url(&address, base))?)?;
    native.set("urlSet", Function::new(ctx.clone(), set_url)?)?;
    native.set("isProxy", Function::new(ctx.clone(), |value: Value<'js>| value.is_proxy())?)?;
    Ok(native)
}

/// A string in which invalid Unicode is replaced.
struct LossyString(String);

impl<'js> rquickjs::FromJs<'js> for LossyString {
    fn from_js(_: &Ctx<'js>, value: Value<'js>) -> Result<Self> {
        let text = value.into_string().map(|text| text.to_string());
        Ok(Self(text.and_then(Result::ok).unwrap_or_else(|| "(a text that is not Unicode)".to_owned())))
    }
}

impl Shared {
    /// Begins a call with this seed and time.
    pub(super) fn begin(&self, seed: u64, now_unix_ms: i64) {
        self.random.replace(Random(seed));
        self.began_unix_ms.set(now_unix_ms as f64);
        self.clock.begin();
    }

    fn request(&self, ctx: &Ctx<'_>, asked: &str) -> Result<f64> {
        let refuse = |why: &str| Exception::throw_message(ctx, why);
        let request: HostRequest =
            serde_json::from_str(asked).map_err(|error| refuse(&format!("invalid request: {error}")))?;
        let order = self.order.get();
        let is_outside_calls = order == 0 && self.is_module.get();
        let made = self.requests_of.borrow().get(&order).copied().unwrap_or(0);
        if is_outside_calls && made >= REQUESTS_A_WAKE {
            let most = REQUESTS_A_WAKE;
            return Err(refuse(&format!("a module may make at most {most} requests at once in the background")));
        }
        let most = self.limits.host_requests;
        if made >= most {
            return Err(refuse(&format!("a tool may request at most {most} files and addresses per call")));
        }
        let id = self.asked.get() + 1;
        let is_full = self.unanswered.borrow().len() >= most;
        if is_full || self.requests.try_send(HostCall { id, order, request }).is_err() {
            return Err(refuse("too many requests at once; wait for some of them first"));
        }
        self.asked.set(id);
        self.requests_of.borrow_mut().insert(order, made + 1);
        self.unanswered.borrow_mut().insert(id, order);
        Ok(id as f64)
    }
}

fn encode<'js>(ctx: Ctx<'js>, text: String) -> Result<TypedArray<'js, u8>> {
    TypedArray::new(ctx, text.into_bytes())
}

/// Decodes UTF-8 from a string with one character per byte; invalid sequences are replaced.
fn decode(bytes: LossyString) -> String {
    let bytes: Vec<u8> = bytes.0.chars().map(|c| c as u32 as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn url(address: &str, base: Opt<Value<'_>>) -> Option<String> {
    let base = base.0.and_then(|base| base.into_string()).and_then(|base| base.to_string().ok());
    let url = match base {
        Some(base) => url::Url::parse(&base).ok()?.join(address).ok()?,
        None => url::Url::parse(address).ok()?,
    };
    Some(parts_of(&url))
}

fn parts_of(url: &url::Url) -> String {
    let marked = |mark: char, text: Option<&str>| match text {
        Some(text) if !text.is_empty() => format!("{mark}{text}"),
        _ => String::new(),
    };
    let port = url.port().map(|port| port.to_string()).unwrap_or_default();
    let hostname = url.host_str().unwrap_or_default();
    let host = if port.is_empty() { hostname.to_owned() } else { format!("{hostname}:{port}") };
    json!({
        "href": url.as_str(), "origin": url.origin().ascii_serialization(), "protocol": format!("{}:", url.scheme()),
        "username": url.username(), "password": url.password().unwrap_or_default(), "host": host,
        "hostname": hostname, "port": port, "pathname": url.path(),
        "search": marked('?', url.query()), "hash": marked('#', url.fragment()),
    })
    .to_string()
}

/// Returns the URL with one part changed; unchanged if the value is invalid for that part.
fn set_url(href: String, part: String, value: String) -> String {
    let Ok(mut url) = url::Url::parse(&href) else { return href };
    let plain = |mark: char| Some(value.strip_prefix(mark).unwrap_or(&value)).filter(|value| !value.is_empty());
    match &*part {
        "protocol" => drop(url.set_scheme(value.trim_end_matches(':'))),
        "username" => drop(url.set_username(&value)),
        "password" => drop(url.set_password(Some(&*value).filter(|value| !value.is_empty()))),
        "hostname" => drop(url.set_host(Some(&value))),
        "host" => {
            let (host, port) = value.rsplit_once(':').map_or((&*value, None), |(host, port)| (host, port.parse().ok()));
            if url.set_host(Some(host)).is_ok() && port.is_some() {
                let _ = url.set_port(port);
            }
        }
        "port" => drop(url.set_port(value.parse().ok())),
        "pathname" => url.set_path(&value),
        "search" => url.set_query(plain('?')),
        "hash" => url.set_fragment(plain('#')),
        _ => {}
    }
    parts_of(&url)
}
