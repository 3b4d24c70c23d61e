"""Scenarios: a script of operations, a fault, or both. The scenario's name travels in the base URL.

`basic`, `f429`, `hang` ...; `drop@1` has the fault at step 1 only and else is `basic`; `f429x2` fails twice.
A prompt may bring its own script: `<<<SCRIPT [{"op": "write", ...}] >>>`.
"""

import json
import re
from dataclasses import dataclass, replace

from tests.agents.model_server.conversation import Json

Script = tuple[Json, ...]

BASIC: Script = (
    {"op": "write", "path": "hello.txt", "content": "hello from the script\n"},
    {"op": "shell", "command": "echo ran > ran.txt && echo command-output"},
    {"op": "say", "text": "All done."},
)
LOOP: Script = ({"op": "shell", "command": "echo around"},)
SCRIPTS: dict[str, Script] = {
    "basic": BASIC,
    "loop": LOOP,
    "say": ({"op": "say", "text": "All done."},),
    "edit": (
        {"op": "write", "path": "hello.txt", "content": "hello from the script\n"},
        {"op": "edit", "path": "hello.txt", "old": "hello", "new": "goodbye"},
        {"op": "say", "text": "All done."},
    ),
    "failing": (
        {"op": "shell", "command": "echo broken >&2; exit 3"},
        {"op": "say", "text": "It failed."},
    ),
    "outside": (
        {"op": "write", "path": "/etc/interlock-was-here", "content": "out\n"},
        {"op": "say", "text": "All done."},
    ),
    "longrun": (
        {"op": "shell", "command": "tail -f /dev/null"},
        {"op": "say", "text": "All done."},
    ),
}
STATUSES = (400, 401, 403, 404, 429, 500, 503, 529)
FAULTS = frozenset(
    {"hang", "hangmid", "drop", "garbage", "empty", "slow"} | {f"f{code}" for code in STATUSES}
)

_SCENARIO = re.compile(rf"(?P<name>{'|'.join(sorted(FAULTS))})(?:x(?P<times>\d+))?(?:@(?P<step>\d+))?")
_INLINE = re.compile(r"<<<SCRIPT\s*(\[.*?\])\s*>>>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What one base URL stands for."""

    script: Script
    fault: str | None = None
    times: int | None = None
    """Only the first so many requests fail."""
    at_step: int | None = None
    """Only this step fails."""

    def fault_at(self, step: int, earlier_requests: int) -> str | None:
        if self.times is not None and earlier_requests >= self.times:
            return None
        if self.at_step is not None and step != self.at_step:
            return None
        return self.fault


def scenario(name: str, scripts: dict[str, Script]) -> Scenario:
    """Read a scenario's name; an unknown one is a mistake in the test and raises KeyError."""
    if name in scripts:
        return Scenario(scripts[name])
    found = _SCENARIO.fullmatch(name)
    if found is None:
        raise KeyError(name)
    times, step = found["times"], found["step"]
    return Scenario(
        BASIC, found["name"], times=int(times) if times else None, at_step=int(step) if step else None
    )


def with_inline_script(planned: Scenario, prompt: str) -> Scenario:
    """The prompt's own script, where it brings one, in place of the planned one."""
    found = _INLINE.search(prompt)
    return replace(planned, script=_parse(found.group(1))) if found else planned


def _parse(text: str) -> Script:
    try:
        return tuple(json.loads(text))
    except json.JSONDecodeError:
        # OpenCode hands the prompt on in quotes, with its own quotes escaped.
        return tuple(json.loads(text.replace('\\"', '"').replace("\\\\", "\\")))
