// Texts as bytes. UTF-8 is the only encoding.
(function (native, world) {
  "use strict";
  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(text = "") { return native.encode(String(text).toWellFormed()); }
    encodeInto(text, into) {
      const bytes = this.encode(text).subarray(0, into.length);
      into.set(bytes);
      return { read: world.decode(bytes).length, written: bytes.length };
    }
  }
  class TextDecoder {
    #isFatal;
    constructor(label = "utf-8", options = {}) {
      if (!/^utf-?8$/i.test(String(label).trim())) throw new RangeError(`the encoding ${label} is not available`);
      this.#isFatal = Boolean(options.fatal);
    }
    get encoding() { return "utf-8"; }
    decode(bytes = new Uint8Array()) {
      const view = ArrayBuffer.isView(bytes)
        ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes);
      const text = world.decode(view.slice()).replace(/^\uFEFF/, "");
      if (this.#isFatal && text.includes("\uFFFD")) throw new TypeError("the bytes are not UTF-8");
      return text;
    }
  }
  const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const btoa = (text) => {
    const parts = [];
    const code = (at) => {
      const code = text.charCodeAt(at);
      if (code > 255) throw new RangeError("btoa only accepts characters up to U+00FF");
      return code || 0;
    };
    text = String(text);
    for (let at = 0; at < text.length; at += 3) {
      const bits = (code(at) << 16) | (code(at + 1) << 8) | code(at + 2);
      const left = text.length - at;
      parts.push(LETTERS[bits >> 18], LETTERS[(bits >> 12) & 63],
        left > 1 ? LETTERS[(bits >> 6) & 63] : "=", left > 2 ? LETTERS[bits & 63] : "=");
    }
    return parts.join("");
  };
  const atob = (text) => {
    const clean = String(text).replace(/[\t\n\f\r ]/g, "").replace(/={1,2}$/, "");
    if (clean.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(clean)) throw new RangeError("the text is not base64");
    const parts = [];
    let bits = 0, count = 0;
    for (const letter of clean) {
      bits = ((bits << 6) | LETTERS.indexOf(letter)) & 0xffffff;
      count += 6;
      if (count >= 8) { count -= 8; parts.push(String.fromCharCode((bits >> count) & 255)); }
    }
    return parts.join("");
  };
  return { TextEncoder, TextDecoder, atob, btoa };
})
