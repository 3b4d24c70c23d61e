"""A repository on which real programs are let loose: in the real sandbox, through the real proxy."""

import asyncio
import json
import os
import select
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from interlock.engine.project import open_project
from interlock.events.record import Recorded
from tests.engine.scratch import Scratch

T = TypeVar("T")
Row = dict[str, Any]  # Any: a fact as parsed JSON
BOUND_SECONDS = 300.0
"""Only how long a failing test takes: programs that need ten seconds alone may share two cores with many."""
IGNORED = ".aider*\n"


@dataclass(frozen=True, slots=True)
class Job:
    """One task for one program."""

    goal: str
    agent: Mapping[str, object]
    """As it stands in the task graph."""


class Workshop(Scratch):
    """A scratch repository, and a person with programs on the PATH and a key in the environment."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        super().__init__(root)
        self.environ = dict(environ)

    @property
    def env(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
        return {**inherited, "INTERLOCK_TRUST_FOLDERS": str(self.root.parent), **self.environ}

    @property
    def name(self) -> str:
        """Tells the calls of this test's programs from those of another's."""
        return self.root.parent.name

    @property
    def state_dir(self) -> Path:
        return self.root / ".git/interlock"

    def plan(self, jobs: Mapping[str, Job], **defaults: object) -> None:
        """A committed task graph with an agent of its own for each task."""
        graph = {
            "version": 1,
            "defaults": {"timeout": "4m", **defaults},
            "agents": {name: job.agent for name, job in jobs.items()},
            "tasks": {name: {"goal": job.goal, "agent": name} for name, job in jobs.items()},
        }
        # JSON is YAML too.
        self.write(**{"task-graph__yaml": json.dumps(graph, indent=1), "__gitignore": IGNORED})
        self.commit("work to do")

    def until(self, found: Callable[[Sequence[Row]], T | None]) -> T:
        """Wait for facts; `found` gets all there are, whenever there are new ones."""
        return asyncio.run(self._until(found))

    async def _until(self, found: Callable[[Sequence[Row]], T | None]) -> T:
        rows: list[Row] = []
        try:
            async with asyncio.timeout(BOUND_SECONDS), open_project(self.root) as project:
                while (what := found(rows)) is None:
                    over = all(run.has_ended for run in self.started)
                    after = rows[-1]["seq"] if rows else 0
                    await project.store.wait(after, 1.0)
                    news = await project.store.read(after)
                    if over and not news:
                        raise TimeoutError
                    rows += [_row(row) for row in news]
                return what
        except TimeoutError:
            raise AssertionError(f"it never came:\n{self._told(rows)}") from None

    def _told(self, rows: Sequence[Row]) -> str:
        printed = [run.output for run in self.started if run.has_ended]
        return "\n".join([*(f"{row['kind']} {row['fact']}" for row in rows[-20:]), *printed])

    def log(self, task: str, attempt: int = 1) -> str:
        """What the agent printed."""
        return (self.state_dir / f"logs/{task}/{attempt}.log").read_text(errors="replace")

    def events(self, task: str, attempt: int = 1) -> list[Row]:
        """What the agent's session said, as Interlock understood it."""
        path = self.state_dir / f"logs/{task}/{attempt}.events.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]

    def holds(self, secret: str) -> list[str]:
        """The files below the repository in which a secret can be read; the object store too."""
        files = [path for path in self.root.rglob("*") if path.is_file() and not path.is_symlink()]
        return [str(path) for path in files if secret.encode() in path.read_bytes()]


def _row(row: Recorded) -> Row:
    return {"seq": row.seq, "kind": row.kind, "fact": json.loads(row.body)}


def first(kind: str, task: str, rows: Sequence[Row]) -> Row | None:
    """The first fact of a kind about a task."""
    return next(
        (row["fact"] for row in rows if row["kind"] == kind and row["fact"].get("task") == task), None
    )


def run_ended(rows: Sequence[Row]) -> Row | None:
    """That the loop is over."""
    return next((row["fact"] for row in rows if row["kind"] == "RunEnded"), None)


def wait_until(holds: Callable[[], object], what: str) -> float:
    """Look again and again until it holds; the seconds that took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() < began + BOUND_SECONDS, f"in vain: {what}"
        select.select([], [], [], 0.01)
    return time.monotonic() - began
