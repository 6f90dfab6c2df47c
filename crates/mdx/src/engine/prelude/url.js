// URLs, as browsers parse them.
(function (native) {
  "use strict";
  const encode = (text) => encodeURIComponent(text.toWellFormed())
    .replace(/%20/g, "+").replace(/[!'()~]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());
  const decode = (text) => {
    const spaced = text.replaceAll("+", " ");
    try { return decodeURIComponent(spaced); } catch { return spaced; }
  };
  class URLSearchParams {
    #list = []; #changed;
    constructor(from = "", changed) {
      this.#changed = changed;
      if (typeof from === "object" && from !== null) {
        const pairs = Symbol.iterator in from ? from : Object.entries(from);
        for (const [name, value] of pairs) this.#list.push([String(name), String(value)]);
      } else {
        for (const piece of String(from).replace(/^\?/, "").split("&")) {
          if (!piece) continue;
          const at = piece.indexOf("=");
          this.#list.push(at < 0 ? [decode(piece), ""] : [decode(piece.slice(0, at)), decode(piece.slice(at + 1))]);
        }
      }
    }
    #told() { this.#changed?.(this.toString()); }
    get size() { return this.#list.length; }
    append(name, value) { this.#list.push([String(name), String(value)]); this.#told(); }
    delete(name) { this.#list = this.#list.filter(([key]) => key !== String(name)); this.#told(); }
    get(name) { return this.#list.find(([key]) => key === String(name))?.[1] ?? null; }
    getAll(name) { return this.#list.filter(([key]) => key === String(name)).map(([, value]) => value); }
    has(name) { return this.#list.some(([key]) => key === String(name)); }
    set(name, value) {
      const at = this.#list.findIndex(([key]) => key === String(name));
      const others = this.#list.filter(([key], place) => place === at || key !== String(name));
      if (at < 0) others.push([String(name), String(value)]);
      else others[others.findIndex(([key]) => key === String(name))] = [String(name), String(value)];
      this.#list = others;
      this.#told();
    }
    sort() { this.#list.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)); this.#told(); }
    forEach(run) { for (const [name, value] of this.#list) run(value, name, this); }
    keys() { return this.#list.map(([name]) => name)[Symbol.iterator](); }
    values() { return this.#list.map(([, value]) => value)[Symbol.iterator](); }
    entries() { return this.#list.map((pair) => [...pair])[Symbol.iterator](); }
    [Symbol.iterator]() { return this.entries(); }
    toString() { return this.#list.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&"); }
  }
  const PARTS = ["protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];
  class URL {
    #is; #params;
    constructor(address, base) {
      const read = native.url(String(address).toWellFormed(), base === undefined ? undefined : String(base).toWellFormed());
      if (!read) throw new TypeError(`"${address}" is not a valid address`);
      this.#is = JSON.parse(read);
    }
    static canParse(address, base) {
      return Boolean(native.url(String(address).toWellFormed(), base === undefined ? undefined : String(base).toWellFormed()));
    }
    static {
      for (const part of PARTS) {
        Object.defineProperty(this.prototype, part, {
          get() { return this.#is[part]; },
          set(value) {
            this.#is = JSON.parse(native.urlSet(this.#is.href, part, String(value).toWellFormed()));
            this.#params = undefined;
          },
          enumerable: true, configurable: true,
        });
      }
    }
    get href() { return this.#is.href; }
    set href(value) { this.#is = new URL(value).#is; this.#params = undefined; }
    get origin() { return this.#is.origin; }
    get searchParams() {
      return this.#params ??= new URLSearchParams(this.#is.search, (search) => {
        this.#is = JSON.parse(native.urlSet(this.#is.href, "search", search));
      });
    }
    toString() { return this.#is.href; }
    toJSON() { return this.#is.href; }
  }
  return { URL, URLSearchParams };
})
