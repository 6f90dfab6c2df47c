// Runs one tool of a document in an installed runtime, with the globals of the embedded engine. A request of the tool
// to the outside is a line on standard output, and its answer a line on standard input.
import process from "node:process";

const write = process.stdout.write.bind(process.stdout);
const { stringify, parse } = JSON;
const say = (told) => { write(stringify(told) + "\n"); };
const wellFormed = (text) => text.toWellFormed?.() ?? text;

const shown = (value) => {
  if (typeof value === "string") return value;
  if (value instanceof Error) return String(value.stack ?? value);
  if (typeof value === "object" && value !== null) {
    try { return stringify(value) ?? String(value); } catch { return Object.prototype.toString.call(value); }
  }
  return String(value);
};
const logger = (level) => (...values) => say({ says: "log", level, text: wellFormed(values.map(shown).join(" ")) });
for (const name of ["log", "info", "dir", "table", "group"]) console[name] = logger("info");
for (const name of ["debug", "trace"]) console[name] = logger("debug");
console.warn = logger("warning");
console.error = logger("error");

const waiting = new Map();
let last = 0;
const request = (asked) => new Promise((resolve, reject) => {
  waiting.set(++last, { resolve, reject });
  say({ says: "asks", id: last, request: asked });
});
const text = (value, what) => {
  if (typeof value === "string") return wellFormed(value);
  throw new TypeError(`${what} must be a string`);
};
const readFile = async (path) => (await request({ kind: "read_file", path: text(path, "the path") })).text;
const writeFile = async (path, content) => {
  await request({ kind: "write_file", path: text(path, "the path"), content: text(content, "the content") });
};
const WITHOUT_BODY = [204, 205, 304];
const fetch = async (input, options) => {
  const asked = new Request(input, options);
  if (!/^https?:/.test(asked.url)) throw new TypeError(`fetch only supports http and https, not ${asked.url}`);
  const body = asked.body === null ? null : await asked.text();
  const answer = await request({ kind: "fetch", method: asked.method, url: asked.url, headers: [...asked.headers], body });
  const bytes = WITHOUT_BODY.includes(answer.status) ? null : new Uint8Array(answer.body);
  const response = new Response(bytes, { status: answer.status, headers: answer.headers });
  Object.defineProperty(response, "url", { value: answer.url });
  return response;
};
Object.assign(globalThis, { readFile, writeFile, fetch });

const rendered = (value) => {
  if (value === undefined) return "";
  if (typeof value === "string") return wellFormed(value);
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes that are not text]`;
  if (typeof value === "object") return wellFormed(stringify(value) ?? "");
  return wellFormed(String(value));
};
const describe = (error) => {
  if (!(error instanceof Error)) return [shown(error), ""];
  const named = String(error.name ?? "Error"), message = String(error.message ?? "");
  return [message ? `${named}: ${message}` : named, String(error.stack ?? "")].map(wellFormed);
};
const run = async ({ params, given }) => {
  const tool = await import(new URL("./tool.mjs", import.meta.url).href);
  const execute = tool.$execute ?? tool.execute ?? tool.default;
  if (typeof execute !== "function") return say({ says: "undefined" });
  const log = async (message) => { logger("info")(message); };
  say({ says: "done", text: rendered(await execute(params, { ...given, log, readFile, writeFile })) });
};
const hear = (told) => {
  if (told.begin) {
    run(told.begin).catch((error) => {
      const [message, stack] = describe(error);
      say({ says: "threw", message, stack });
    });
    return;
  }
  const { id, answer } = told.answer;
  const asked = waiting.get(id);
  waiting.delete(id);
  if (answer.kind === "refused") asked?.reject(new Error(answer.reason));
  else asked?.resolve(answer);
};

let begun = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (piece) => {
  const lines = (begun + piece).split("\n");
  begun = lines.pop();
  lines.forEach((line) => hear(parse(line)));
});
