// `fetch` and its request and response types.
(function (native, world) {
  "use strict";
  const pairs = (headers) => {
    if (!headers) return [];
    if (headers instanceof Headers) return [...headers];
    return Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  };
  class Headers {
    #all = new Map();
    constructor(headers) { for (const [name, value] of pairs(headers)) this.append(name, value); }
    append(name, value) {
      const key = String(name).toLowerCase();
      this.#all.set(key, this.#all.has(key) ? `${this.#all.get(key)}, ${value}` : String(value).trim());
    }
    set(name, value) { this.#all.set(String(name).toLowerCase(), String(value).trim()); }
    get(name) { return this.#all.get(String(name).toLowerCase()) ?? null; }
    has(name) { return this.#all.has(String(name).toLowerCase()); }
    delete(name) { this.#all.delete(String(name).toLowerCase()); }
    forEach(run) { for (const [name, value] of this.#all) run(value, name, this); }
    keys() { return this.#all.keys(); }
    values() { return this.#all.values(); }
    entries() { return this.#all.entries(); }
    [Symbol.iterator]() { return this.#all.entries(); }
  }
  class Response {
    #bytes; #isUsed = false;
    constructor(body, options = {}) {
      this.#bytes = body instanceof Uint8Array ? body : native.encode(String(body ?? ""));
      this.status = options.status ?? 200;
      this.statusText = options.statusText ?? "";
      this.headers = new Headers(options.headers);
      this.url = options.url ?? "";
      this.redirected = false;
      this.type = "basic";
    }
    get ok() { return this.status >= 200 && this.status < 300; }
    get bodyUsed() { return this.#isUsed; }
    #take() {
      if (this.#isUsed) throw new TypeError("the body has already been read");
      this.#isUsed = true;
      return this.#bytes;
    }
    async text() { return world.decode(this.#take()); }
    async json() { return JSON.parse(world.decode(this.#take())); }
    async arrayBuffer() { return this.#take().slice().buffer; }
    async bytes() { return this.#take().slice(); }
    async blob() { throw new TypeError("blob() is not available in a tool; use arrayBuffer()"); }
    async formData() { throw new TypeError("formData() is not available in a tool; use text()"); }
    clone() {
      if (this.#isUsed) throw new TypeError("the body has already been read");
      return new Response(this.#bytes, { status: this.status, headers: this.headers, url: this.url });
    }
    static json(value, options = {}) {
      return new Response(JSON.stringify(value), { headers: { "content-type": "application/json" }, ...options });
    }
  }
  class Request {
    constructor(input, options = {}) {
      const from = input instanceof Request ? input : { url: String(input) };
      this.url = new URL(from.url).href;
      this.method = String(options.method ?? from.method ?? "GET").toUpperCase();
      this.headers = new Headers(options.headers ?? from.headers);
      this.body = options.body ?? from.body ?? null;
    }
  }
  const sent = (body, headers) => {
    if (body === null || body === undefined) return null;
    if (typeof body === "string") return body.toWellFormed();
    if (body instanceof URLSearchParams) {
      if (!headers.has("content-type")) headers.set("content-type", "application/x-www-form-urlencoded;charset=UTF-8");
      return body.toString();
    }
    throw new TypeError("the body of fetch must be a string or URLSearchParams; use JSON.stringify for objects");
  };
  const fetch = async (input, options = {}) => {
    const asked = new Request(input, options);
    if (!/^https?:/.test(asked.url)) throw new TypeError(`fetch only supports http and https, not ${asked.url}`);
    const body = sent(asked.body, asked.headers);
    const request = { kind: "fetch", method: asked.method, url: asked.url, headers: [...asked.headers], body };
    const answer = await world.request(request);
    return new Response(answer.body, answer);
  };
  return { fetch, Headers, Response, Request };
})
