"""A coding agent for measuring. `do:CHUNKS WRITES GAP_MS` in a prompt: so many chunks, so many milliseconds apart, each with the
time at which it left where they are apart; then so many files written through whoever hosts it, each beside one that it writes by itself.
`brood` as its argument: it starts a child and never answers."""

import json
import os
import re
import subprocess
import sys
import time

sessions = {}
if sys.argv[1:] == ["child"]:
    time.sleep(3600)


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def say(session, words):
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": words}}
    send({"method": "session/update", "params": {"sessionId": session, "update": update}})


def through_the_room(session, path, text):
    send({"id": "w", "method": "fs/write_text_file", "params": {"sessionId": session, "path": path, "content": text}})
    answer = json.loads(sys.stdin.readline())
    assert "result" in answer, answer


def by_itself(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".new", path)


def took(act, *arguments):
    begun = time.perf_counter()
    act(*arguments)
    return (time.perf_counter() - begun) * 1000


def answer(session, text):
    chunks, writes, gap = map(int, re.findall(r"do:(\d+) (\d+) (\d+)", text)[-1])
    for at in range(chunks):
        say(session, f"{at}:{time.time_ns()} " if gap else f"{at} ")
        time.sleep(gap / 1000)
    place = os.path.join(sessions[session], "artifacts")
    # What is said between two writes belongs to the turn before.
    took_each = ""
    for at in range(writes):
        own = took(by_itself, f"{place}/own.md", str(at))
        ours = took(through_the_room, session, f"{place}/ours.md", str(at))
        took_each += f"own={own:.3f} ours={ours:.3f} "
    if took_each:
        say(session, took_each)


for line in sys.stdin:
    asked = json.loads(line)
    number, method, params = asked.get("id"), asked.get("method"), asked.get("params", {})
    if number is None:
        continue
    if method == "initialize":
        send({"id": number, "result": {"protocolVersion": 1, "agentCapabilities": {}}})
    elif method == "session/new":
        name = f"s{len(sessions)}"
        sessions[name] = params["cwd"]
        send({"id": number, "result": {"sessionId": name}})
    elif method == "session/prompt":
        session = params["sessionId"]
        if sys.argv[1:2] == ["brood"]:
            subprocess.Popen([sys.executable, sys.argv[0], "child"])
            continue
        answer(session, "\n".join(block.get("text", "") for block in params["prompt"]))
        # What it said is looked at before the answer is over.
        time.sleep(0.2)
        send({"id": number, "result": {"stopReason": "end_turn"}})
    else:
        send({"id": number, "result": {}})
