// The engine checks its clock between steps of code, not inside of its own functions. Those that could run forever in
// one step are guarded here: lists longer than the guards accept do not fit into the memory of a tool.
(function (native) {
  "use strict";
  const { apply, ownKeys, getOwnPropertyDescriptor: described, defineProperty } = Reflect;
  const { isArray } = Array, { isView } = ArrayBuffer, { stringify } = JSON;
  const { isProxy } = native;
  const MAX_LENGTH = 4e6, MAX_COMPARISONS = 2e8;
  const replace = (object, name, value) => defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
  const tooLong = () => new RangeError("the list is too long");

  // Accepts only lists whose length cannot change between this check and the use by the engine.
  const check = (list) => {
    if (typeof list === "string" || isView(list)) return;
    if (list === null || list === undefined) return;
    if (isProxy(list)) throw new TypeError("a Proxy cannot be used as a list in a tool; copy it with a loop");
    const length = described(Object(list), "length");
    if (!length) {
      if (Object(list).length === undefined) return;
      throw new TypeError("an object that inherits its length cannot be used as a list in a tool");
    }
    if (!("value" in length)) throw new TypeError("an object that computes its length cannot be used as a list in a tool");
    if (typeof length.value === "object" || !(length.value <= MAX_LENGTH)) {
      if (length.value !== undefined) throw tooLong();
    }
  };

  const lists = Array.prototype;
  for (const name of ownKeys(lists)) {
    const original = described(lists, name).value;
    if (typeof original !== "function" || name === "constructor") continue;
    if (name === "toString" || name === "push" || name === "pop" || name === "at") continue;
    const guarded = { [name](...given) { check(this); return apply(original, this, given); } }[name];
    replace(lists, name, guarded);
  }
  replace(lists, Symbol.iterator, lists.values);

  // Nested lists are checked when they are reached.
  const spread = (into, list) => {
    check(list);
    for (let at = 0; at < list.length; at++) if (at in list) into[into.length] = list[at]; else into.length++;
    if (into.length > MAX_LENGTH) throw tooLong();
  };
  replace(lists, "concat", function concat(...given) {
    const all = [];
    for (let at = -1; at < given.length; at++) {
      const one = at < 0 ? this : given[at];
      const isList = typeof one === "object" && one !== null && (one[Symbol.isConcatSpreadable] ?? isArray(one));
      if (isList) spread(all, one); else all[all.length] = one;
    }
    return all;
  });
  const flatten = (into, list, depth) => {
    check(list);
    for (let at = 0; at < list.length; at++) {
      if (!(at in list)) continue;
      const one = list[at];
      if (depth > 0 && isArray(one)) flatten(into, one, depth - 1); else into[into.length] = one;
    }
    return into;
  };
  replace(lists, "flat", function flat(depth = 1) { return flatten([], this, Math.trunc(Number(depth)) || 0); });
  replace(lists, "flatMap", function flatMap(run, of) {
    check(this);
    const all = [];
    for (let at = 0; at < this.length; at++) {
      if (!(at in this)) continue;
      const one = apply(run, of, [this[at], at, this]);
      if (isArray(one)) spread(all, one); else all[all.length] = one;
    }
    return all;
  });
  const { from } = Array;
  replace(Array, "from", function from_(given, ...rest) {
    if (given !== null && given !== undefined && given[Symbol.iterator] === undefined) check(given);
    return apply(from, this, [given, ...rest]);
  });
  // A list may grow while it is iterated: every iteration is a step of code.
  const steps = Object.getPrototypeOf([].values());
  const { next } = steps;
  replace(steps, "next", function () { return apply(next, this, []); });

  replace(String, "raw", function raw(parts, ...values) {
    let text = "";
    for (let at = 0; at < parts.raw.length; at++) {
      text += parts.raw[at] + (at < values.length && at + 1 < parts.raw.length ? values[at] : "");
    }
    return text;
  });
  // Searching a long text in a long text compares each position with each.
  const isPattern = (value, by) => typeof value === "object" && value !== null && value[by] !== undefined;
  for (const [name, by] of [["indexOf"], ["lastIndexOf"], ["includes"], ["split", Symbol.split],
    ["replace", Symbol.replace], ["replaceAll", Symbol.replace]]) {
    const original = String.prototype[name];
    replace(String.prototype, name, { [name](wanted, ...rest) {
      if (this === null || this === undefined || (by && isPattern(wanted, by)) || (name === "split" && wanted === undefined)) {
        return apply(original, this, [wanted, ...rest]);
      }
      const text = String(this), part = String(wanted);
      if (text.length * part.length > MAX_COMPARISONS && text.length > part.length) {
        throw new RangeError("the texts are too long to search one for the other");
      }
      return apply(original, text, [part, ...rest]);
    } }[name]);
  }

  // Values to be written as JSON are checked when they are reached, after anything that may change them.
  replace(JSON, "stringify", function (value, change, space) {
    if (typeof value !== "object" || value === null) return stringify(value, change, space);
    const keys = isArray(change) ? (check(change), new Set(change.map(String))) : undefined;
    const run = typeof change === "function" ? change : undefined;
    return stringify(value, function (key, one) {
      if (keys && key !== "" && !isArray(this) && !keys.has(key)) return undefined;
      const kept = run ? apply(run, this, [key, one]) : one;
      if (typeof kept === "object" && isArray(kept)) {
        if (isProxy(kept)) check(kept);
        if (kept.length > MAX_LENGTH) throw tooLong();
      }
      return kept;
    }, space);
  });
})
