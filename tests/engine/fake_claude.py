#!/usr/bin/env python3
"""A stand-in for Claude Code: its words, its lines and its questions to the model, and a script for its mind.

If the task says `wait GATE`, it does so in a session that is not resumed. If it says `ask QUESTION`, it ends
with that and changes nothing, until a person has answered. If it says `tool COMMAND`, that runs as a tool
does: with a standard input and an output of its own.
"""

import http.client
import json
import os
import re
import select
import subprocess
import sys
from pathlib import Path


def tell(kind: str, **fields: object) -> None:
    sys.stdout.write(json.dumps({"type": kind} | fields) + "\n")
    sys.stdout.flush()


def said(option: str) -> str:
    return sys.argv[sys.argv.index(option) + 1] if option in sys.argv else ""


def ask() -> tuple[int, dict[str, int]]:
    """The status of one call of the model, and the tokens it cost."""
    server = http.client.HTTPConnection(os.environ["ANTHROPIC_BASE_URL"].removeprefix("http://"), timeout=30)
    asked = {"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": "hi"}]}
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"}
    server.request("POST", "/v1/messages", json.dumps(asked), headers)
    answer = server.getresponse()
    return answer.status, json.load(answer).get("usage", {})


def end(status: int, usage: dict[str, int], words: str) -> None:
    if status == 200:
        tell("result", subtype="success", is_error=False, result=words, usage=usage, num_turns=1)
        return
    failed = {"is_error": True, "api_error_status": status, "terminal_reason": "api_error"}
    tell("result", subtype="success", result=f"API Error: {status}", usage=usage, num_turns=1, **failed)


def main() -> None:
    heard = json.loads(sys.stdin.readline())
    prompt = heard["message"]["content"]
    session = said("--resume") or said("--session-id")
    if said("--resume") and not Path.home().joinpath("diary").exists():
        gone = {"is_error": True, "errors": [f"No conversation found with session ID: {session}"]}
        tell("result", subtype="error_during_execution", session_id=session, num_turns=0, **gone)
        sys.exit(1)
    tell("system", subtype="init", session_id=session, model="fake")
    tell("user", **heard, isReplay=True)
    gate = re.search(r"^wait (.+)$", prompt, re.MULTILINE)
    question = re.search(r"^ask (.+)$", prompt, re.MULTILINE)
    if tool := re.search(r"^tool (.+)$", prompt, re.MULTILINE):
        done = subprocess.run(
            ["sh", "-c", tool[1]], stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        Path("tool.txt").write_bytes(done.stdout + done.stderr)
    is_answered = "A person answered:" in prompt
    status, usage = ask()
    here = Path("resumed.txt" if said("--resume") else "made.txt")
    if status == 200 and (is_answered or not question):
        here.write_text(f"{session} {Path.home().joinpath('diary').exists()} {sorted(os.environ)}\n")
    Path.home().joinpath("diary").write_text(session)
    if gate and not said("--resume"):
        tell("assistant", message={"content": [{"type": "text", "text": "waiting"}]})
        while not Path(gate[1]).exists():
            select.select([], [], [], 0.05)
    end(status, usage, question[1] if question and not is_answered else "All done.")
    sys.stdin.read()
    sys.exit(status != 200)


main()
