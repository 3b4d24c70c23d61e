"""An agent program that calls tools as `calls.json` in its directory says, and waits at gates.

Run in the sandbox, where only the standard library is sure to be there. It writes the answers to a file.
"""

import json
import os
import select
import urllib.error
import urllib.request
from pathlib import Path

VERSION = "2025-06-18"


def call(url: str, token: str, method: str, params: object) -> object:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": VERSION,
    }
    asked = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - our own server
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return {"status": error.code}


def main() -> None:
    url, token = os.environ["INTERLOCK_MCP_URL"], os.environ["INTERLOCK_MCP_TOKEN"]
    plan = json.loads(Path("calls.json").read_text())[os.environ["INTERLOCK_TASK_ID"]]
    answers = []
    for step in plan:
        while "gate" in step and not Path(step["gate"]).exists():
            select.select([], [], [], 0.05)
        if "gate" in step:
            continue
        params = {"name": step["tool"], "arguments": step.get("arguments", {})}
        answers.append(call(url, step.get("token", token), step.get("method", "tools/call"), params))
    Path(f"{os.environ['INTERLOCK_TASK_ID']}.answers.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    main()
