"""An agent that prints without end: all of it is kept, and the run's memory does not grow with it."""

import os
import re
import select
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.scratch import Scratch

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc"),
]

GIVE_UP_SECONDS = 300
GROWTH_BYTES = 16 << 20
"""Far less than the shortest output here, and more than the rest of a run needs."""

AGENT = """\
echo ready > "{asked}"; read _ < "{gate}"
yes "a line like any other, of some length, as agents print them" | head -c {size}
echo; echo the last line
echo printed > "{asked}"; read _ < "{gate}"
echo x > x.txt
"""


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    made = Scratch(tmp_path / "repository")
    yield made
    made.close()
    shutil.rmtree(made.root / ".git/interlock" / "logs")  # pytest keeps the folders of its last three runs


@pytest.mark.parametrize(
    "size", [32 << 20, pytest.param(10**9, marks=pytest.mark.night)], ids=["32 MB", "1 GB"]
)
@pytest.mark.thorough
def test_memory_does_not_grow_with_what_an_agent_prints(scratch: Scratch, size: int) -> None:
    gate, asked = scratch.gates / "gate", scratch.gates / "asked"
    os.mkfifo(gate)
    os.mkfifo(asked)
    scratch.graph("  t: {goal: x, timeout: 300s}\n", AGENT.format(gate=gate, asked=asked, size=size))
    announced = os.open(asked, os.O_RDWR)  # a writer of our own, so that the pipe never ends
    run = scratch.start("run")
    _wait_for(announced, "ready")
    before = _family(run.pid)
    gate.write_text("go\n")
    _wait_for(announced, "printed")
    grown = {pid: _peak(pid) - peak for pid, peak in before.items()}
    assert max(grown.values()) < GROWTH_BYTES, grown
    gate.write_text("go\n")
    assert run.wait() == 0
    os.close(announced)
    assert (scratch.root / ".git/interlock" / "logs" / "t" / "1.log").stat().st_size > size
    assert scratch.interlock("logs", "t", "--tail", "1").startswith("the last line\n")
    assert scratch.states() == {"t": "done"}


def _wait_for(pipe: int, word: str) -> None:
    """Until the agent has said it, outside its output."""
    assert select.select([pipe], [], [], GIVE_UP_SECONDS)[0], f"the agent never said {word}"
    assert os.read(pipe, 100).decode().strip() == word


def _family(pid: int) -> dict[int, int]:
    """The peaks of a process and of the helpers it has: all that run Interlock's own code."""
    below = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for listed in below for child in listed.read_text().split()]
    found = {pid: _peak(pid)}
    for child in children:
        found |= _family(child) if "python" in Path(f"/proc/{child}/comm").read_text() else {}
    return found


def _peak(pid: int) -> int:
    """The most memory that a process has had, in bytes."""
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    assert found, status
    return int(found[1]) * 1024
