"""A mock coding agent that speaks the Agent Client Protocol over stdio. Its argument selects how it behaves: correctly,
or in one of the ways in which agents misbehave. The prompt contains what the agent does in a turn, one action per line:
`read PATH`, `write PATH TEXT`, `run COMMAND`, `edit PATH`, `say WORDS`, `tool TITLE`, `plan`, `die`, `dieonce`, `mode`,
`commands`, `switch MODE`, `think WORDS`, `picture`, `selfwrite PATH TEXT`, actions for terminals that start with `term`,
and actions for the tools of the given servers: `tools`, `toolcall NAME JSON`, `toolask NAME JSON`,
`toolgiveup NAME JSON`, `toolword`, `toolnews`."""

import json
import os
import subprocess
import sys
import threading
import time

MODE = sys.argv[1]
if sys.argv[3:] == ["child"]:
    time.sleep(3600)
lock = threading.Lock()
answers = {}
arrived = threading.Condition()
numbers = iter(range(1, 1_000_000))
cancelled = {}
sessions = {}
said = {}
has_asked = set()
loaded = set()
modes = {}
models = {}
servers = {}
clients = {}


def send(message):
    with lock:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def raw(text):
    with lock:
        sys.stdout.write(text)
        sys.stdout.flush()


def ask(method, params):
    has_asked.add(params["sessionId"])
    number = f"a{next(numbers)}"
    send({"id": number, "method": method, "params": params})
    with arrived:
        while number not in answers:
            arrived.wait()
        return answers.pop(number)


def update(session, **what):
    send({"method": "session/update", "params": {"sessionId": session, "update": what}})


def say(session, words):
    said.setdefault(session, []).append(words)
    update(session, sessionUpdate="agent_message_chunk", content={"type": "text", "text": words})


class Server:
    """A client of the MCP server that a session was given."""

    def __init__(self, given, word=None):
        environment = {**os.environ, "ODD_CASE": sys.argv[2], **{one["name"]: word or one["value"] for one in given["env"]}}
        self.process = subprocess.Popen([given["command"], *given["args"]], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.arrived = threading.Condition()
        self.answers = {}
        self.news = []
        self.is_over = False
        self.numbers = iter(range(1, 1_000_000))
        threading.Thread(target=self.hear, daemon=True).start()

    def hear(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.arrived:
                if "method" in message:
                    self.news.append(message["method"])
                else:
                    self.answers[message["id"]] = message
                self.arrived.notify_all()
        with self.arrived:
            self.is_over = True
            self.arrived.notify_all()

    def tell(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def begin(self, method, params):
        number = next(self.numbers)
        self.tell({"id": number, "method": method, "params": params})
        return number

    def wait(self, number):
        with self.arrived:
            while number not in self.answers and not self.is_over:
                self.arrived.wait()
            return self.answers.pop(number, None)

    def ask(self, method, params):
        return self.wait(self.begin(method, params))

    def hello(self):
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "odd", "version": "1"}}
        answer = self.ask("initialize", about)
        if answer:
            self.tell({"method": "notifications/initialized"})
        return answer

    def listed(self):
        return ", ".join(tool["name"] for tool in self.ask("tools/list", {})["result"]["tools"])

    def called(self, name, arguments):
        result = self.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        text = "".join(part.get("text", f"<{part['type']}>") for part in result["content"])
        return f"{'refused' if result.get('isError') else 'called'} {name}: {text}\n"


def with_tools(session, word, rest):
    if not servers[session]:
        say(session, "no server\n")
        return
    if word == "toolword":
        other = Server(servers[session][0], "0" * 32)
        has_asked.add(session)
        say(session, f"with another word: {other.hello()} and {other.process.stderr.read().strip()}\n")
        return
    if session not in clients:
        clients[session] = Server(servers[session][0])
        clients[session].hello()
    server = clients[session]
    has_asked.add(session)
    name, _, arguments = rest.partition(" ")
    arguments = json.loads(arguments or "{}")
    if word == "tools":
        say(session, f"tools: {server.listed()}.\n")
    elif word == "toolcall":
        say(session, server.called(name, arguments))
    elif word == "toolask":
        title = f"mcp__{servers[session][0]['name']}__{name}"
        update(session, sessionUpdate="tool_call", toolCallId=name, title=title, kind="other")
        chosen = permission(session, title, "other", rawInput=arguments)
        say(session, f"may {name}: {chosen}\n")
        say(session, server.called(name, arguments))
        update(session, sessionUpdate="tool_call_update", toolCallId=name, status="completed")
    elif word == "toolgiveup":
        number = server.begin("tools/call", {"name": name, "arguments": arguments})
        time.sleep(0.3)
        server.tell({"method": "notifications/cancelled", "params": {"requestId": number}})
        say(session, "gave up\n")
    elif word == "toolnews":
        with server.arrived:
            while "notifications/tools/list_changed" not in server.news:
                server.arrived.wait()
        say(session, f"now: {server.listed()}.\n")


def options():
    if MODE == "greedy":
        return [{"optionId": "all", "name": "Always", "kind": "allow_always"}]
    return [
        {"optionId": "all", "name": "Always", "kind": "allow_always"},
        {"optionId": "yes", "name": "Once", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]


def permission(session, title, kind, **more):
    call = {"toolCallId": title, "title": title, "kind": kind, **more}
    answer = ask("session/request_permission", {"sessionId": session, "toolCall": call, "options": options()})
    return answer.get("result", {}).get("outcome", {}).get("optionId", "cancelled")


def terminal(session, command, args=(), **more):
    """Opens a terminal. Returns its id, or reports why there is none."""
    params = {"sessionId": session, "command": command, "args": list(args), **more}
    answer = ask("terminal/create", params)
    if "result" not in answer:
        say(session, f"no terminal for {command}: {answer['error']['message']}\n")
        return None
    return answer["result"]["terminalId"]


def of_terminal(session, what, name):
    return ask(f"terminal/{what}", {"sessionId": session, "terminalId": name})


def in_terminal(session, word, rest):
    here = sessions[session]
    words = rest.split(" ")
    if word == "term":
        name = terminal(session, words[0], words[1:], cwd=here)
        if name:
            code = of_terminal(session, "wait_for_exit", name)["result"]
            out = of_terminal(session, "output", name)["result"]
            of_terminal(session, "release", name)
            say(session, f"term {rest}: {code.get('exitCode')} {out['output'].strip()!r} {out['truncated']}\n")
    elif word == "termline":
        name = terminal(session, rest, env=[{"name": "ODD", "value": "a b"}])
        if name:
            of_terminal(session, "wait_for_exit", name)
            say(session, f"line: {of_terminal(session, 'output', name)['result']['output'].strip()}\n")
    elif word == "termlimit":
        name = terminal(session, "printf", ["ab\u00fccd\u00fc"], outputByteLimit=5)
        if name:
            of_terminal(session, "wait_for_exit", name)
            out = of_terminal(session, "output", name)["result"]
            say(session, f"limit: {out['output']} {out['truncated']} {out.get('exitStatus', {}).get('exitCode')}\n")
    elif word == "termkill":
        name = terminal(session, words[0], words[1:])
        if name:
            before = of_terminal(session, "output", name)["result"].get("exitStatus")
            of_terminal(session, "kill", name)
            status = of_terminal(session, "wait_for_exit", name)["result"]
            still = "result" in of_terminal(session, "output", name)
            say(session, f"killed: {before} {status.get('exitCode')} {status.get('signal')} {still}\n")
    elif word == "termodd":
        name = terminal(session, "true")
        first, second = of_terminal(session, "release", name), of_terminal(session, "release", name)
        unknown = [of_terminal(session, what, "nobody") for what in ("output", "wait_for_exit", "kill", "release")]
        said = [answer.get("error", {}).get("message", "done") for answer in [first, second, *unknown]]
        say(session, f"odd: {'; '.join(said)}\n")
    elif word == "termin":
        folder, _, command = rest.partition(" ")
        name = terminal(session, command, cwd=os.path.join(here, folder))
        if name:
            of_terminal(session, "wait_for_exit", name)
            say(session, f"in {folder}: {of_terminal(session, 'output', name)['result']['output'].strip()}\n")
    elif word == "termleave":
        if terminal(session, words[0], words[1:]):
            say(session, "left running\n")
    elif word == "termmany":
        names = [terminal(session, "sleep", ["5432"]) for _ in range(18)]
        say(session, f"many: {sum(name is not None for name in names)}\n")


def act(session, line):
    word, _, rest = line.partition(" ")
    here = sessions[session]
    if word == "read":
        answer = ask("fs/read_text_file", {"sessionId": session, "path": os.path.join(here, rest)})
        if "result" in answer:
            say(session, f"read {rest}: {answer['result']['content']!r}\n")
        else:
            say(session, f"not read {rest}: {answer['error']['message']}\n")
    elif word == "write":
        path, _, text = rest.partition(" ")
        answer = ask("fs/write_text_file", {"sessionId": session, "path": os.path.join(here, path), "content": text})
        said = f"wrote {path}\n" if "result" in answer else f"not written {path}: {answer['error']['message']}\n"
        say(session, said)
    elif word == "run":
        chosen = permission(session, f"Run {rest}", "execute", rawInput={"command": rest})
        if chosen == "yes":
            out = subprocess.run(rest, shell=True, capture_output=True, text=True, cwd=here).stdout.strip()
            say(session, f"ran {rest}: {out}\n")
        else:
            say(session, f"did not run {rest}: {chosen}\n")
    elif word == "edit":
        chosen = permission(session, f"Edit {rest}", "edit", locations=[{"path": os.path.join(here, rest)}])
        say(session, f"edit {rest}: {chosen}\n")
    elif word == "say":
        say(session, rest + "\n")
    elif word in ("tools", "toolcall", "toolask", "toolgiveup", "toolword", "toolnews"):
        with_tools(session, word, rest)
    elif word == "tool":
        call = {"toolCallId": rest, "title": rest, "kind": "search", "locations": [{"path": os.path.join(here, "a.md")}]}
        update(session, sessionUpdate="tool_call", **call)
        update(session, sessionUpdate="tool_call_update", toolCallId=rest, status="completed")
    elif word == "think":
        update(session, sessionUpdate="agent_thought_chunk", content={"type": "text", "text": rest + "\n"})
    elif word == "picture":
        image = {"type": "image", "mimeType": "image/png", "data": "aGk="}
        update(session, sessionUpdate="agent_message_chunk", content=image)
        call = {"toolCallId": "shot", "title": "Take a screenshot", "kind": "other", "status": "completed"}
        update(session, sessionUpdate="tool_call", **call, content=[{"type": "content", "content": image}])
    elif word == "plan":
        entries = [{"content": "Look", "priority": "high", "status": "completed"},
                   {"content": "Write", "priority": "high", "status": "pending"}]
        update(session, sessionUpdate="plan", entries=entries)
    elif word == "selfwrite":
        path, _, text = rest.partition(" ")
        with open(os.path.join(here, path), "w") as file:
            file.write(text)
        # The turn continues for a while after the change.
        time.sleep(2)
        say(session, f"wrote {path} by itself\n")
    elif word == "both":
        threads = [threading.Thread(target=act, args=(session, f"read {path}")) for path in rest.split()]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    elif word.startswith("term"):
        in_terminal(session, word, rest)
    elif word == "wait":
        cancelled[session].wait()
        say(session, "stopped\n")
    elif word == "commands":
        known = [{"name": "review", "description": "Looks at what changed"}, {"name": "test", "description": "Tests"}]
        update(session, sessionUpdate="available_commands_update", availableCommands=known)
    elif word == "mode":
        say(session, f"mode: {modes.get(session)} model: {models.get(session)}\n")
    elif word == "switch":
        update(session, sessionUpdate="current_mode_update", currentModeId=rest)
        cancelled[session].wait()
    elif word == "dieonce" and session not in loaded:
        os._exit(3)
    elif word == "die":
        print("out of luck", file=sys.stderr, flush=True)
        os._exit(3)


def lines_of(prompt):
    text = "\n".join(block.get("text", "") for block in prompt)
    return [line.split("do:", 1)[1].strip() for line in text.splitlines() if "do:" in line]


def turn(number, params):
    session = params["sessionId"]
    cancelled[session] = threading.Event()
    said[session] = []
    log = os.environ.get("ODD_LOG")
    if log:
        with open(log, "a") as file:
            file.write(json.dumps(params["prompt"]) + "\n")
    if MODE == "mute":
        return
    if MODE == "garbage":
        raw("not JSON at all\n[1, 2]\n{\"half\": \n\x00\xff\n")
        send({"method": "never/heard", "params": {}})
        send({"id": "odd", "method": "terminal/create", "params": {"sessionId": session, "command": "rm"}})
        send({"id": 999_999, "result": {}})
    if MODE == "endless":
        while True:
            raw("x" * 1_000_000)
    if MODE == "babble":
        while True:
            raw("hello there\n")
    if MODE == "flood":
        for _ in range(3_000):
            say(session, "x" * 1_000)
    if MODE == "loud":
        for _ in range(2_000):
            print("x" * 1_000, file=sys.stderr)
    if MODE == "nolimit":
        send({"id": number, "result": {"stopReason": "max_turn_requests"}})
        return
    if MODE == "stranger":
        answer = ask("fs/read_text_file", {"sessionId": "nobody", "path": "/etc/passwd"})
        say(session, f"stranger: {answer['error']['message']}\n")
    if MODE == "stubborn":
        say(session, "I go on and on.")
        while True:
            time.sleep(60)
    lines = lines_of(params["prompt"])
    if session in loaded:
        say(session, f"resumed {session}: ")
    for line in lines:
        act(session, line)
    if not lines:
        say(session, "Hello from a coding agent.")
    if session in has_asked:
        # Text from before a question is in separate messages, so all of it is repeated here.
        say(session, "All: " + "".join(said[session]))
    if MODE == "paid":
        update(session, sessionUpdate="usage_update", used=1234, size=200_000, cost={"amount": 0.25, "currency": "USD"})
    result = {"stopReason": "cancelled" if cancelled[session].is_set() else "end_turn"}
    if MODE == "paid":
        result["usage"] = {"totalTokens": 1100, "inputTokens": 1000, "outputTokens": 100}
    send({"id": number, "result": result})
    if MODE == "late":
        say(session, "LATE WORDS")
        permission(session, "Too late", "execute", rawInput={"command": "touch late.txt"})


def model_option(session):
    options = [{"value": "big", "name": "Big"}, {"value": "small", "name": "Small"}]
    return {"id": "llm", "name": "Model", "category": "model", "type": "select",
            "currentValue": models.get(session, "big"), "options": options}


def offered_with(session):
    """Returns the options that the agent offers."""
    if MODE not in ("modes", "reckless"):
        return {}
    available = [{"id": "default", "name": "Default"}, {"id": "plan", "name": "Plan"},
                 {"id": "bypassPermissions", "name": "Bypass Permissions"}]
    modes[session] = "default" if MODE == "modes" else "bypassPermissions"
    if MODE == "reckless":
        available = available[2:]
    return {"modes": {"currentModeId": modes[session], "availableModes": available},
            "configOptions": [model_option(session)]}


def serve(message):
    number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method is None:
        with arrived:
            answers[number] = message
            arrived.notify_all()
    elif method == "initialize":
        if MODE == "version":
            send({"id": number, "result": {"protocolVersion": 7}})
            return
        if MODE == "gone":
            print("no such model", file=sys.stderr, flush=True)
            os._exit(1)
        offered = params.get("clientCapabilities", {})
        assert offered.get("terminal"), "terminals are offered"
        send({"id": number, "result": {
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": MODE in ("keeps", "forgets"),
                "promptCapabilities": {"image": MODE == "sees"},
                "sessionCapabilities": {"close": {}, **({"resume": {}} if MODE == "resumes" else {})},
            },
            "authMethods": [{"id": "login", "name": "Log in", "description": "Run: odd login"}],
            "agentInfo": {"name": "odd", "version": "1"},
        }})
    elif method == "session/new":
        if MODE == "login":
            send({"id": number, "error": {"code": -32000, "message": "Authentication required"}})
            return
        session = f"s{os.getpid()}-{len(sessions) + 1}"
        sessions[session] = params["cwd"]
        servers[session] = params.get("mcpServers", [])
        if MODE == "brood":
            subprocess.Popen([sys.executable, sys.argv[0], *sys.argv[1:3], "child"])
        if MODE == "family":
            subprocess.Popen(["sleep", "12345"])
        send({"id": number, "result": {"sessionId": session, **offered_with(session)}})
    elif method in ("session/load", "session/resume"):
        session = params["sessionId"]
        if MODE == "forgets":
            send({"id": number, "error": {"code": -32002, "message": "no such session is kept"}})
            return
        sessions[session] = params["cwd"]
        servers[session] = params.get("mcpServers", [])
        loaded.add(session)
        if method == "session/load":
            say(session, "REPLAYED WORDS")
            update(session, sessionUpdate="tool_call", toolCallId="old", title="REPLAYED TOOL", kind="read")
        send({"id": number, "result": {}})
    elif method == "session/set_mode":
        modes[params["sessionId"]] = params["modeId"]
        update(params["sessionId"], sessionUpdate="current_mode_update", currentModeId=params["modeId"])
        send({"id": number, "result": {}})
    elif method == "session/set_config_option":
        models[params["sessionId"]] = params["value"]
        send({"id": number, "result": {"configOptions": [model_option(params["sessionId"])]}})
    elif method == "session/prompt":
        threading.Thread(target=turn, args=(number, params), daemon=True).start()
    elif method == "session/cancel":
        if MODE not in ("stubborn", "mute"):
            cancelled[params["sessionId"]].set()
    elif method == "session/close":
        send({"id": number, "result": {}})
    elif number is not None:
        send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


for line in sys.stdin:
    serve(json.loads(line))
if MODE == "stubborn":
    while True:
        time.sleep(60)
