// The globals of a tool, in addition to the language. `native` contains the functions of the engine, which only this
// code sees. The returned functions are called by the engine.
(function (native) {
  "use strict";
  const { stringify, parse } = JSON, { isView } = ArrayBuffer, Bytes = ArrayBuffer;
  const RealDate = Date;
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });

  // Larger parts are loaded when they are first used, or ahead of time.
  const parts = {};
  const part = (name) => parts[name] ??= native.part(name)(native, world);
  const lazy = (name, from) =>
    Object.defineProperty(globalThis, name, {
      get() { const value = part(from)[name]; define(name, value); return value; },
      set(value) { define(name, value); },
      enumerable: false, configurable: true,
    });

  const shown = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return String(value.stack ? `${value}\n${value.stack}` : value);
    if (typeof value === "object" && value !== null) {
      try { return stringify(value) ?? String(value); } catch { return Object.prototype.toString.call(value); }
    }
    return String(value);
  };
  const logger = (level) => (...values) => native.log(level, values.map(shown).join(" "));
  define("console", {
    log: logger("info"), info: logger("info"), debug: logger("debug"), trace: logger("debug"),
    warn: logger("warning"), error: logger("error"),
    assert(holds, ...values) { if (!holds) logger("error")("Assertion failed:", ...values); },
    dir: logger("info"), table: logger("info"), group: logger("info"), groupEnd() {}, time() {}, timeEnd() {}, timeLog() {},
  });

  // Requests to the host: each is a promise until the engine settles it.
  const waiting = new Map();
  const request = (asked) => new Promise((resolve, reject) => {
    waiting.set(native.request(stringify(asked)), { resolve, reject });
  });
  const text = (value, what) => {
    if (typeof value === "string") return value.toWellFormed();
    throw new TypeError(`${what} must be a string`);
  };
  const readFile = async (path) => (await request({ kind: "read_file", path: text(path, "the path") })).text;
  const writeFile = async (path, content) => {
    await request({ kind: "write_file", path: text(path, "the path"), content: text(content, "the content") });
  };
  define("readFile", readFile);
  define("writeFile", writeFile);

  // Timers. Their numbers start at 1.
  const timers = new Map();
  let lastTimer = 0;
  const timer = (again) => (run, delay, ...values) => {
    if (typeof run !== "function") throw new TypeError("a timer needs a function");
    const every = Math.min(Math.max(Number(delay) || 0, again ? 1 : 0), 2 ** 31 - 1);
    const id = ++lastTimer;
    timers.set(id, { run, values, every, again });
    native.timer(id, every);
    return id;
  };
  const stop = (id) => { timers.delete(id); };
  define("setTimeout", timer(false));
  define("setInterval", timer(true));
  define("clearTimeout", stop);
  define("clearInterval", stop);
  define("queueMicrotask", (run) => { Promise.resolve().then(run); });

  // Everything that would differ between runs is given by the caller.
  Math.random = () => native.random();
  const now = () => native.now();
  const WorldDate = function Date(...values) {
    if (!new.target) return new RealDate(now()).toString();
    return Reflect.construct(RealDate, values.length ? values : [now()], new.target);
  };
  WorldDate.prototype = RealDate.prototype;
  WorldDate.now = now;
  WorldDate.UTC = RealDate.UTC;
  WorldDate.parse = RealDate.parse;
  Object.defineProperty(RealDate.prototype, "constructor", { value: WorldDate, writable: true, configurable: true });
  define("Date", WorldDate);
  define("performance", { now: () => now() - native.begun(), get timeOrigin() { return native.begun(); } });
  define("crypto", {
    randomUUID: () => native.uuid(),
    getRandomValues(array) {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(native.random() * 256);
      return array;
    },
  });

  for (const name of ["URL", "URLSearchParams"]) lazy(name, "url");
  for (const name of ["TextEncoder", "TextDecoder", "atob", "btoa"]) lazy(name, "text");
  for (const name of ["fetch", "Headers", "Response", "Request"]) lazy(name, "fetch");
  define("structuredClone", (value) => value === undefined ? undefined : parse(stringify(value)));

  // UTF-8. Bytes are passed as characters, some thousand at a time.
  const { fromCharCode } = String;
  const decode = (bytes) => {
    const parts = [];
    for (let at = 0; at < bytes.length; at += 4096) parts.push(fromCharCode(...bytes.subarray(at, at + 4096)));
    return native.decode(parts.join(""));
  };
  const rendered = (value) => {
    if (value === undefined) return "";
    if (typeof value === "string") return value.toWellFormed();
    if (isView(value) || value instanceof Bytes) return `[${value.byteLength} bytes that are not text]`;
    if (typeof value === "object") return (stringify(value) ?? "").toWellFormed();
    return String(value).toWellFormed();
  };
  const world = { request, text, decode, rendered };
  const log = async (message) => { native.log("info", shown(message)); };

  const prompt = async (message) => (await request({ kind: "prompt", message: text(message, "the message") })).text;
  const context = (given) => ({ ...given, log, readFile, writeFile });
  return {
    context,
    async start(execute, params, given) {
      if (typeof execute !== "function") throw new TypeError("execute is not a function");
      return rendered(await execute(params, context(given)));
    },
    // Loads the larger parts before code needs them.
    readAhead() { for (const name of ["url", "text", "fetch"]) part(name); },
    settle(id, isFine, answer) {
      const promise = waiting.get(id);
      waiting.delete(id);
      if (promise) isFine ? promise.resolve(answer) : promise.reject(new Error(answer));
    },
    // Whether the timer continues, and if so after how many milliseconds it is due again.
    ring(id) {
      const timer = timers.get(id);
      if (!timer) return;
      if (timer.again) native.timer(id, timer.every); else timers.delete(id);
      timer.run(...timer.values);
    },
    isRunning: (id) => timers.has(id),
    describe(error) {
      if (!(error instanceof Error)) return [shown(error), ""];
      const named = String(error.name ?? "Error"), message = String(error.message ?? "");
      return [message ? `${named}: ${message}` : named, String(error.stack ?? "")];
    },
    // For modules.
    module: () => part("module"),
    moduleContext: (agentDir) => ({ agentDir, prompt, log }),
  };
})
