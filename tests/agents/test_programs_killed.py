"""kill -9 of an agent, of its supervisor, of the loop: nothing runs on, and no work is lost (A2, D10)."""

import functools
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil
import pytest

from interlock.process.survivors import MARK, Note, read_note
from interlock.run.launch_context import PID_FILE
from tests.agents.model_server import RunningModel
from tests.agents.programs import Driven, script
from tests.agents.workshop import Job, Row, Workshop, first, wait_until
from tests.engine.scratch import Background

pytestmark = [pytest.mark.agents, pytest.mark.slow, pytest.mark.crash]

KEPT, LATER = "kept.txt", "later.txt"
WRITE_AND_STAY = (
    {"op": "write", "path": KEPT, "content": "written before the end\n"},
    {"op": "shell", "command": "touch started && tail -f started"},
    {"op": "say", "text": "All done."},
)
GO_ON = (
    {"op": "shell", "command": f"echo written after it > {LATER}"},
    {"op": "say", "text": "All done."},
)
WITHOUT_TOOLS = (
    {"op": "write", "path": LATER, "content": "written after it\n"},
    {"op": "say", "text": "All done."},
)


class Victim(StrEnum):
    """Who is killed."""

    AGENT = "agent"
    SUPERVISOR = "supervisor"
    LOOP = "loop"


@dataclass(frozen=True, slots=True)
class Tree:
    """The processes of one attempt, as they were."""

    note: Note
    processes: list[psutil.Process]

    @property
    def supervisor(self) -> psutil.Process:
        return next(one for one in self.processes if _runs_supervisor(one))

    @property
    def agent(self) -> psutil.Process:
        """The outermost process that has the environment of the sandbox."""
        return next(one for one in self.processes if _is_inside(one))

    def left(self) -> list[str]:
        """Of them, and of whatever carries their mark, those that still run."""
        known = [one for one in self.processes if _is_alive(one)]
        marked = [one for one in psutil.process_iter() if _carries(one, self.note.mark)]
        return [_named(one) for one in (*known, *marked)]


def _runs_supervisor(process: psutil.Process) -> bool:
    try:
        return "python" in process.name() and any("import supervisor" in word for word in process.cmdline())
    except psutil.NoSuchProcess:  # what a program starts comes and goes
        return False


def _is_inside(process: psutil.Process) -> bool:
    try:
        return "INTERLOCK_TASK_ID" in process.environ()
    except psutil.NoSuchProcess:  # likewise
        return False


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _carries(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(MARK) == mark and _is_alive(process)
    except psutil.Error:
        return False


def _named(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {' '.join(process.cmdline())[:100]}"
    except psutil.Error:
        return str(process.pid)


@pytest.fixture
def at_work(program: Driven, workshop: Workshop, model: RunningModel) -> Iterator[Background]:
    """A run whose agent has written something and is in the middle of a long command.

    The one program without commands is in the middle of a call of its model instead.
    """
    model.add_script(workshop.name, WRITE_AND_STAY)
    scenario, goal = workshop.name, "Make two files."
    if not program.has_tools:
        scenario, goal = "hangx1", f"{goal} {script(*WITHOUT_TOOLS)}"
    workshop.plan({"work": Job(goal, program.agent(model.url(scenario, workshop.name)))})
    run = workshop.start("run")
    if program.has_tools:
        wait_until((attempt_folder(workshop) / "tree/started").exists, "the long command")
        wait_until(lambda: program.has_saved(workshop.state_dir / "homes/work/1"), "the saved session")
    else:
        model.wait_for_calls(workshop.name, 1, seconds=120)
    yield run


def attempt_folder(workshop: Workshop) -> Path:
    return workshop.state_dir / "workspaces/work/1"


def tree_of(workshop: Workshop) -> Tree:
    note = read_note(attempt_folder(workshop) / PID_FILE)
    assert note is not None
    outermost = psutil.Process(note.pid)
    return Tree(note, [outermost, *outermost.children(recursive=True)])


def kill(victim: Victim, tree: Tree, run: Background) -> None:
    pids = {Victim.AGENT: tree.agent.pid, Victim.SUPERVISOR: tree.supervisor.pid, Victim.LOOP: run.pid}
    os.kill(pids[victim], signal.SIGKILL)


@pytest.mark.parametrize("victim", list(Victim))
def test_nothing_of_it_is_left_and_its_work_is_not_lost(
    program: Driven,
    victim: Victim,
    workshop: Workshop,
    model: RunningModel,
    at_work: Background,
    figure: Callable[[str], None],
) -> None:
    tree = tree_of(workshop)
    model.add_script(workshop.name, GO_ON)
    kill(victim, tree, at_work)
    seconds = wait_until(lambda: not tree.left(), f"the end of {tree.left()}")
    if victim is Victim.LOOP:
        at_work.wait()
        workshop.start("run")
    workshop.until(functools.partial(first, "Landed", "work"))

    assert workshop.git("show", f"main:{LATER}") == "written after it"
    what = kept(program, victim, workshop) if program.has_tools else "nothing had been written"
    figure(f"{program.name}: {victim} killed, 0 processes left after {seconds:.2f} s, {what}")


def kept(program: Driven, victim: Victim, workshop: Workshop) -> str:
    """How the work of the attempt that was killed is still there."""
    archived = [ref for row in workshop.facts() if (ref := _archived(row))]
    assert archived
    assert workshop.git("show", f"{archived[0]}:{KEPT}") == "written before the end"
    sessions = [row["fact"]["session"] for row in workshop.facts("SessionOpened")]
    if victim is Victim.AGENT or not program.can_resume:
        return "work archived"
    assert len(set(sessions[-2:])) == 1, sessions
    assert workshop.git("show", f"main:{KEPT}") == "written before the end"
    return "session resumed"


def _archived(row: Row) -> str:
    ref: str = row["fact"].get("archived", "")
    return ref if row["kind"] in ("PhaseFailed", "PhaseLost", "PhaseDeferred") else ""
