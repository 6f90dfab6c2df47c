// A module: the default export of its file becomes an object with every method, and its tools are called by name.
(function (native, world) {
  "use strict";
  const METHODS = ["describe", "initialize", "tools", "systemPrompt", "start", "stop"];
  const isClass = (given) => typeof given === "function" && /^class\b/.test(Function.prototype.toString.call(given));
  let module, tools = [];
  const text = (value, what) => {
    if (typeof value === "string") return value.toWellFormed();
    throw new TypeError(`${what} must be a string`);
  };
  const told = (tool) => {
    if (typeof tool !== "object" || tool === null) throw new TypeError("tools() must return a list of tools");
    const name = text(tool.name, "the name of a tool");
    if (typeof tool.execute !== "function") throw new TypeError(`the tool "${name}" has no function execute`);
    const description = text(tool.description ?? "", `the description of the tool "${name}"`);
    return { name, description, parameters: tool.parameters ?? { type: "object", properties: {} } };
  };
  return {
    async load(given, context) {
      module = isClass(given) ? new given() : typeof given === "function" ? await given() : given;
      if (typeof module !== "object" || module === null) throw new TypeError("the file has no default export");
      const missing = METHODS.filter((method) => typeof module[method] !== "function");
      if (missing.length) throw new TypeError(`the module has no ${missing.map((name) => `${name}()`).join(", ")}`);
      const said = module.describe() ?? {};
      const name = text(said.name, "the name in describe()");
      const description = text(said.description ?? "", "the description in describe()");
      await module.initialize(context);
      const list = module.tools() ?? [];
      if (!Array.isArray(list)) throw new TypeError("tools() must return a list of tools");
      const described = list.map(told);
      tools = [...list];
      return JSON.stringify({ name, description, tools: described });
    },
    systemPrompt: () => text(module.systemPrompt() ?? "", "what systemPrompt() returns"),
    async start() { await module.start(); return ""; },
    async stop() { await module.stop(); return ""; },
    // A tool gets its parameters; one that takes two arguments gets the number of the call first, as in other agent
    // loops.
    async tool(call, name, params) {
      const tool = tools.find((tool) => tool.name === name);
      if (!tool) throw new ReferenceError(`the module has no tool "${name}"`);
      const result = await (tool.execute.length >= 2 ? tool.execute(call, params, undefined, () => {}) : tool.execute(params));
      if (Array.isArray(result?.content)) {
        return result.content.filter((part) => part?.type === "text").map((part) => String(part.text)).join("\n").toWellFormed();
      }
      return world.rendered(result);
    },
  };
})
