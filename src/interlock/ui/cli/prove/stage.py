"""A scratch repository in which the real command is run."""

import asyncio
import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import uuid
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from interlock.engine.identity import is_dead, new_incarnation
from interlock.engine.project import Project, open_project
from interlock.engine.settings import Settings
from interlock.events.facts import Fact
from interlock.events.record import Recorded
from interlock.git.scratch import start_repository
from interlock.process.survivors import MARK, end_marked
from interlock.ui.cli.exits import ExitCode
from interlock.ui.reading import all_rows

quoted = partial(json.dumps, ensure_ascii=False)
"""A text as TOML and YAML write it: as JSON does."""
PREFIX = "interlock-prove-"
OWNER = "owner.json"


@dataclass(frozen=True, slots=True)
class Scratch:
    """One folder, and the processes that belong to it."""

    folder: Path
    mark: str

    def close(self, keep: bool) -> None:
        """All processes here have ended; the files may be worth a look."""
        end_marked(self.mark)
        if keep:
            (self.folder / OWNER).unlink(missing_ok=True)
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


def new_scratch() -> Scratch:
    scratch = Scratch(Path(tempfile.mkdtemp(prefix=PREFIX)), f"prove-{uuid.uuid4().hex}")
    (scratch.folder / OWNER).write_text(json.dumps({"owner": new_incarnation(), "mark": scratch.mark}))
    return scratch


def close_left() -> None:
    """Remove the folders of processes that died."""
    for note in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{OWNER}"):
        if scratch := _left(note):
            scratch.close(keep=False)


def _left(note: Path) -> Scratch | None:
    try:
        if note.stat().st_uid != os.getuid():
            return None  # the folder for temporary files is everybody's
        match json.loads(note.read_text()):
            case {"owner": str(owner), "mark": str(mark)} if mark and is_dead(owner):
                return Scratch(note.parent, mark)
    except (OSError, ValueError):
        pass  # its owner is about to write it, or to remove it
    return None


PATIENCE_SECONDS = 90.0
"""The longest a proof waits for one thing to happen."""
LOOK_SECONDS = 0.05
QUIET = "fetch = false\nhost_brake = false\n"
"""Neither a network nor a machine that is short of something has a say in what is to be proven."""
STOPS = 40
"""Times that a process is stopped and woken again, until it is not in the middle of a write."""
WRITE_SECONDS = 1.0

SomeFact = TypeVar("SomeFact", bound=Fact)


@dataclass(frozen=True, slots=True)
class Seen:
    """An observation, and the facts that show it."""

    text: str
    rows: tuple[Recorded, ...] = ()


class NotSeen(Exception):
    """A mechanism did not do what it is there for, or not in time."""


def need(condition: object, what: str) -> None:
    if not condition:
        raise NotSeen(what)


@dataclass
class ProofRepository:
    """One repository, and the commands that are run in it."""

    folder: Path
    settings: Settings
    mark: str
    """Mark by which its processes are recognized, even if this one is killed."""
    started: list[asyncio.subprocess.Process] = field(default_factory=list)

    @property
    def root(self) -> Path:
        return self.folder / "repository"

    @property
    def _config(self) -> Path:
        return self.folder / "config"

    async def make(
        self, agent: str, tasks: Mapping[str, str], defaults: str = "", files: Mapping[str, str] | None = None
    ) -> None:
        """A repository with a task graph: one agent, and the fields of each task."""
        listed = "".join(f"  {name}: {{{fields}}}\n" for name, fields in tasks.items())
        common = f"version: 1\ndefaults: {{agent: a{defaults}}}\nagents: {{a: {agent}}}\n"
        await self.write({"task-graph.yaml": f"{common}tasks:\n{listed}", **(files or {})})

    async def write(self, files: Mapping[str, str]) -> None:
        """A repository with these files, committed, and the user's own settings beside it."""
        self.root.mkdir(parents=True)
        for name, text in {"interlock.toml": QUIET, **files}.items():
            (self.root / name).write_text(text)
        # As the user's own settings: what a repository says of the sandbox would need an agreement.
        own = self._config / "interlock" / "config.toml"
        own.parent.mkdir(parents=True)
        lines = (*_sandbox_lines(self.settings), f"trust_folders = [{quoted(str(self.folder))}]")
        own.write_text("".join(f"{line}\n" for line in lines))
        await start_repository(self.root, "A place to prove things in")

    async def begin(self, *words: str) -> asyncio.subprocess.Process:
        argv = (sys.executable, "-m", "interlock", "--project", str(self.root), *words)
        with (self.folder / f"{words[0]}-{len(self.started)}.txt").open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=self._environment(),
                start_new_session=True,
            )
        self.started.append(process)
        return process

    async def run(self, *words: str) -> int:
        return await self.ended(await self.begin(*words))

    async def land(self, *options: str, problem: str = "the run did not land everything") -> None:
        need(await self.run("run", *options, "--no-input") == ExitCode.OK, problem)

    async def ended(self, process: asyncio.subprocess.Process) -> int:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await process.wait()
        except TimeoutError:
            raise NotSeen(f"the command did not end in {PATIENCE_SECONDS:.0f} s") from None

    async def rows(self) -> list[Recorded]:
        async with self.project() as project:
            return [row async for row in all_rows(project.store)]

    def project(self) -> AbstractAsyncContextManager[Project]:
        return open_project(self.root, {"store": "", "branch": "main"})

    async def facts(self, kind: type[SomeFact]) -> list[tuple[Recorded, SomeFact]]:
        return [(row, fact) for row in await self.rows() if isinstance(fact := row.fact, kind)]

    async def until(self, what: str, seen: Callable[[list[Recorded]], bool]) -> list[Recorded]:
        for _ in range(int(PATIENCE_SECONDS / LOOK_SECONDS)):
            rows = await self.rows()
            if seen(rows):
                return rows
            if all(process.returncode is not None for process in self.started):
                raise NotSeen(f"{what} was not seen, and the command has ended")
            await asyncio.sleep(LOOK_SECONDS)
        raise NotSeen(f"{what} was not seen in {PATIENCE_SECONDS:.0f} s")

    async def pause(self, process: asyncio.subprocess.Process) -> None:
        """Stop a process, but not in the middle of a write: it would keep all others from writing."""
        async with self.project() as project:
            for _ in range(STOPS):
                process.send_signal(signal.SIGSTOP)
                try:
                    async with asyncio.timeout(WRITE_SECONDS):
                        await project.store.append([], "proof")
                    return
                except TimeoutError:
                    process.send_signal(signal.SIGCONT)
                    await asyncio.sleep(LOOK_SECONDS)
        raise NotSeen("the command could not be stopped outside of a write")

    async def clear(self) -> None:
        for process in self.started:
            if process.returncode is None:
                for number in (signal.SIGCONT, signal.SIGTERM):
                    process.send_signal(number)
                try:
                    await asyncio.wait_for(process.wait(), 10.0)
                except TimeoutError:
                    process.kill()
                    await process.wait()

    def _environment(self) -> dict[str, str]:
        """The user's, without what would make this another project than the one that was written."""
        own = {
            "XDG_CONFIG_HOME": str(self._config),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "NO_COLOR": "1",
            MARK: self.mark,
        }
        kept = {name: value for name, value in os.environ.items() if not name.startswith("INTERLOCK_")}
        return kept | own


def _sandbox_lines(settings: Settings) -> list[str]:
    """The user's sandbox settings, because these are to be proven."""
    words = ", ".join(map(quoted, settings.toolchains))
    image = [f"container_image = {quoted(settings.container_image)}"] if settings.container_image else []
    return [f"sandbox = {quoted(settings.sandbox)}", f"toolchains = [{words}]", *image]


def shell(script: str) -> str:
    """An agent that is a few lines of shell, as the graph has it."""
    quoted = script.replace("'", "''")
    return f"{{use: command, run: [sh, -c, '{quoted}']}}"


def word(path: Path) -> str:
    return shlex.quote(str(path))
