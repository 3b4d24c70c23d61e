"""The model's tools: run a command, and change a file.

The sandbox is the barrier. That `edit` stays below the workspace only keeps a model from mistakes.
"""

import json
import os
import re
import select
import signal
import subprocess
import time
from pathlib import Path

from .dialects import Call, Json, called
from .events import shorten, tell
from .model_client import TOKEN_VARIABLE

RESULT_CHARS = 12_000
KEPT_BYTES = 4 * RESULT_CHARS
"""Size of each end of a command's output. Its middle is never in memory."""

_TAGGED = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
_BLOCK = re.compile(r"^```(bash|sh|shell|edit)[ \t]*([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SWAP = re.compile(r"^<<<<<<<[^\n]*\n(.*?)^=======\n(.*?)^>>>>>>>", re.DOTALL | re.MULTILINE)


def _declared(name: str, about: str, **arguments: str) -> Json:
    properties = {key: {"type": "string", "description": text} for key, text in arguments.items()}
    schema = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"type": "function", "function": {"name": name, "description": about, "parameters": schema}}


TOOLS = (
    _declared("bash", "Run a command in a new shell and see its output.", command="the command"),
    _declared(
        "edit",
        "Replace a text in a file, or make a new file.",
        path="the file, below the current folder",
        old="the text to replace, which must occur exactly once; empty to make a new file",
        new="what to put there",
    ),
)

FENCED = """
To run a command, write a block that begins with ```bash and ends with ```; each block gets a new shell.
To change a file, write a block like this; the old text must occur exactly once in the file:
```edit path/to/file
<<<<<<< old
the text to replace
=======
the new text
>>>>>>> new
```
To make a new file, write such a block with only its content. You then get the result.
An answer without any block means that you are done."""
"""The same tools, told to a model that cannot call any."""


def written_calls(text: str, blocks: bool) -> list[Call]:
    """Calls that a model wrote into its text instead of making them."""
    calls: list[Call] = []
    for tagged in _TAGGED.findall(text):
        try:
            calls.append(called(f"written_{len(calls)}", json.loads(tagged)))
        except (ValueError, KeyError, TypeError, AttributeError):
            continue
    for word, path, body in _BLOCK.findall(text) if blocks else ():
        swaps = (_SWAP.findall(body) or [("", body)]) if word == "edit" else ()
        given = [{"path": path.strip(), "old": old, "new": new} for old, new in swaps] or [{"command": body}]
        name = "edit" if word == "edit" else "bash"
        calls += [Call(f"written_{len(calls) + n}", name, each) for n, each in enumerate(given)]
    return calls


def use(call: Call, command_seconds: float) -> tuple[bool, str]:
    """Carry a call out: did it work, and what the model is told of it."""
    wanted = {"bash": ("command",), "edit": ("path", "old", "new")}.get(call.name)
    if wanted is None:
        return False, f"there is no tool {call.name!r}; there are bash and edit"
    given = {"old": "", **call.arguments}
    words = [given[name] for name in wanted if isinstance(given.get(name), str)]
    if len(words) < len(wanted):
        return False, f"{call.name} needs {', '.join(wanted)} as JSON strings; it got {str(given)[:300]}"
    return edit(*words) if call.name == "edit" else bash(words[0], command_seconds)


def bash(command: str, seconds: float) -> tuple[bool, str]:
    """Run a command for a bounded time; what it leaves in the background goes on."""
    child = subprocess.Popen(
        ["bash", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={name: value for name, value in os.environ.items() if name != TOKEN_VARIABLE},
        start_new_session=True,
    )
    deadline = time.monotonic() + seconds
    output = _output(child, deadline)
    try:
        status = child.wait(max(0.0, deadline - time.monotonic()))
        end = f"exit status {status}"
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        status = child.wait()
        end = f"killed after {seconds:g} s"
    tell("command", text=command, exit_code=status)
    return status == 0, f"{shorten(output, RESULT_CHARS)}\n({end})"


def _output(child: "subprocess.Popen[bytes]", deadline: float) -> str:
    kept = b""
    if child.stdout is None:
        return ""
    with child.stdout as pipe:
        while (left := deadline - time.monotonic()) > 0:
            if select.select([pipe], [], [], min(left, 0.1))[0]:
                if not (chunk := os.read(pipe.fileno(), 65536)):
                    break
                kept += chunk
                if len(kept) > 4 * KEPT_BYTES:
                    kept = kept[:KEPT_BYTES] + kept[-KEPT_BYTES:]
            elif child.poll() is not None:
                break  # something that it left in the background holds the pipe
    return kept.decode(errors="replace")


def edit(path: str, old: str, new: str) -> tuple[bool, str]:
    """Replace in a file below the current folder, or make one."""
    root, place = Path.cwd().resolve(), Path(path).resolve()
    if not place.is_relative_to(root) or place.relative_to(root).parts[:1] in ((), (".git",)):
        return False, f"{path!r} is not a file of the repository; edit works below the current folder only"
    try:
        text = place.read_bytes().decode() if place.exists() else ""
        if old and text.count(old) != 1:
            return False, f"the old text occurs {text.count(old)} times in {path}, and should once"
        if text and not old:
            return False, f"{path} exists; give the text to replace as old"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes((text.replace(old, new) if old else new).encode())
    except (OSError, ValueError) as problem:
        return False, f"{path}: {problem}"
    tell("edit", path=str(place.relative_to(root)))
    return True, "done"
