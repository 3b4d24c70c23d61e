#!/usr/bin/env python3
"""A stand-in for Claude Code that writes the files its task names, and asks its hooks before each of them.

The goal says `write PATH`, once for each file.
"""

import json
import re
import subprocess
import sys
from pathlib import Path


def tell(kind: str, **fields: object) -> None:
    sys.stdout.write(json.dumps({"type": kind} | fields) + "\n")
    sys.stdout.flush()


def said(option: str) -> str:
    return sys.argv[sys.argv.index(option) + 1] if option in sys.argv else ""


def objection(path: Path) -> str:
    """What the hooks that are about this tool say against it."""
    settings = json.loads(said("--settings") or "{}")
    for group in settings.get("hooks", {}).get("PreToolUse", []):
        if not re.fullmatch(group.get("matcher") or ".*", "Write"):
            continue
        asked = {"tool_name": "Write", "tool_input": {"file_path": str(path), "content": "x"}}
        told = json.dumps({"hook_event_name": "PreToolUse", **asked})
        for hook in group["hooks"]:
            words = ["/bin/sh", "-c", hook["command"]]
            done = subprocess.run(words, input=told, capture_output=True, text=True, check=False)
            if done.returncode == 2:
                return done.stderr.strip()
    return ""


def write(path: Path, number: int) -> None:
    call = f"call{number}"
    use = {"type": "tool_use", "id": call, "name": "Write", "input": {"file_path": str(path)}}
    tell("assistant", message={"id": call, "content": [use]})
    why = objection(path)
    if not why:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    result = {"type": "tool_result", "tool_use_id": call, "is_error": bool(why), "content": why or "ok"}
    tell("user", message={"content": [result]})


def main() -> None:
    heard = json.loads(sys.stdin.readline())
    tell("system", subtype="init", session_id=said("--session-id"), model="fake")
    tell("user", **heard, isReplay=True)
    for number, name in enumerate(re.findall(r"^write (\S+)$", heard["message"]["content"], re.MULTILINE)):
        write(Path.cwd() / name, number)
    tell("result", subtype="success", is_error=False, result="All done.", usage={}, num_turns=1)
    sys.stdin.read()


main()
