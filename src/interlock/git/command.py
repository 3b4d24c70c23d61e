"""The only place that starts git.

1. Argument lists only, never a shell.
2. The git dir is always named; git never searches for one. The exception is `find_repository`.
3. The environment is built from nothing. Only `as_user` calls see the user's own configuration
   (credentials, filters, line endings), and only with the user's own git dir.
4. A child gets its own session: Ctrl-C in the terminal is for Interlock to interpret, and ssh finds no
   terminal to ask questions on.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Protocol

from interlock.git.errors import GitFailed
from interlock.model.errors import EnvironmentProblem

_GUARDS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.pager=cat",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "i18n.commitEncoding=UTF-8",
)
_OPTIONS = tuple(word for guard in _GUARDS for word in ("-c", guard))

_REPOSITORY_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_CEILING_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_DIR",
        "GIT_EXTERNAL_DIFF",
        "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
"""Set when Interlock is started from a git hook or alias; they would point git at another repository."""

_CHUNK_BYTES = 1 << 16
_ENDING_SECONDS = 2.0
"""SIGTERM lets git remove its lock files; after this long it is killed."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a git command left behind."""

    code: int
    out: bytes
    err: str
    cut: bool = False
    """It said more than was allowed and was stopped."""

    @property
    def line(self) -> str:
        """The output as one stripped text."""
        return self.out.decode("utf-8", "backslashreplace").strip()

    @property
    def items(self) -> tuple[str, ...]:
        """NUL-separated output as texts; bytes that are no UTF-8 are spelled out, so each can be stored."""
        return tuple(item.decode("utf-8", "backslashreplace") for item in self.out.split(b"\0") if item)


def user_environment() -> dict[str, str]:
    """The user's own environment, without what would redirect git, and without questions on the terminal."""
    kept = {name: value for name, value in os.environ.items() if name not in _REPOSITORY_VARIABLES}
    return kept | {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1"}


def sealed_environment() -> dict[str, str]:
    """Nothing of the user's but the search path."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "Interlock",
        "GIT_AUTHOR_EMAIL": "interlock@localhost",
        "GIT_COMMITTER_NAME": "Interlock",
        "GIT_COMMITTER_EMAIL": "interlock@localhost",
    }


class Names(Protocol):
    """Something that knows what names stand for."""

    async def names(self, revisions: Sequence[str]) -> list[str | None]: ...


@dataclass(frozen=True, slots=True)
class Git:
    """Git on one trusted git dir."""

    git_dir: Path
    work_tree: Path | None = None
    as_user: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    lookup: "Names | None" = None
    """Answers `names` without a process of its own for each question, while it is open."""

    def having(self, **variables: str) -> "Git":
        """The same git with more environment variables."""
        return replace(self, variables={**self.variables, **variables})

    async def run(
        self,
        *argv: str,
        feed: bytes | BinaryIO = b"",
        sink: BinaryIO | None = None,
        limit_bytes: int | None = None,
        ok: Collection[int] = (0,),
        timeout: float = 600.0,
    ) -> Output:
        """Run one git command; raise `GitFailed` unless its exit status is one of `ok`."""
        child = await start(self, *argv, feed=feed)
        output = await _finish(child, argv[0], feed, _Drain(sink or BytesIO(), limit_bytes), timeout)
        if output.code not in ok and not output.cut:
            raise GitFailed(argv[0], output.err)
        return output

    async def names(self, *revisions: str) -> list[str | None]:
        """The object each revision stands for, or nothing where there is none. One process at most."""
        if self.lookup is not None:
            return await self.lookup.names(revisions)
        feed = "".join(f"{revision}\n" for revision in revisions).encode()
        said = await self.run("cat-file", BATCH_CHECK, feed=feed)
        return [named(line) for line in said.line.splitlines()]


BATCH_CHECK = "--batch-check=%(objectname)"


def named(line: str) -> str | None:
    """What `cat-file` says of one revision: an object, or a sentence about why not."""
    return None if " " in line else line


async def start(
    git: Git, *argv: str, feed: bytes | BinaryIO | None = None, errors: int = asyncio.subprocess.PIPE
) -> asyncio.subprocess.Process:
    """Start one git command. Without a `feed` its input stays open for questions."""
    where = [f"--git-dir={git.git_dir}"]
    if git.work_tree:
        where.append(f"--work-tree={git.work_tree}")
    env = (user_environment() if git.as_user else sealed_environment()) | dict(git.variables)
    command = ("git", "--no-pager", *where, *_OPTIONS, *argv)
    return await _start(command, env, git.work_tree or git.git_dir, feed, errors)


async def find_repository(path: Path, *argv: str) -> Output:
    """Let git look for the repository around `path`, as the user would; any exit status."""
    child = await _start(("git", "-C", str(path), *argv), user_environment(), path, b"")
    return await _finish(child, argv[0], b"", _Drain(BytesIO(), None), 60.0)


class _Drain:
    """Takes a program's output up to a limit, then counts without keeping."""

    def __init__(self, sink: BinaryIO, limit_bytes: int | None) -> None:
        self.sink = sink
        self.limit_bytes = limit_bytes
        self.cut = False

    async def run(self, child: asyncio.subprocess.Process) -> None:
        assert child.stdout is not None  # noqa: S101 - started with a pipe, a few lines below
        taken = 0
        while chunk := await child.stdout.read(_CHUNK_BYTES):
            taken += len(chunk)
            if self.limit_bytes is not None and taken > self.limit_bytes:
                if not self.cut:
                    _signal(child, signal.SIGKILL)
                self.cut = True
            else:
                self.sink.write(chunk)


async def _start(
    command: Iterable[str],
    env: dict[str, str],
    directory: Path,
    feed: bytes | BinaryIO | None,
    errors: int = asyncio.subprocess.PIPE,
) -> asyncio.subprocess.Process:
    stdin = asyncio.subprocess.PIPE if feed is None or isinstance(feed, bytes) else feed
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL if feed == b"" else stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            env=env,
            cwd=directory,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        if not directory.is_dir():
            raise EnvironmentProblem(f"the folder {directory} is gone", "check the path") from error
        raise EnvironmentProblem(
            "git is not installed, or not on the PATH", "install git 2.38 or newer, then try again"
        ) from error
    except OSError as error:
        raise EnvironmentProblem(f"git cannot be started: {error.strerror}") from error


async def _finish(
    child: asyncio.subprocess.Process, name: str, feed: bytes | BinaryIO, drain: _Drain, timeout: float
) -> Output:
    assert child.stderr is not None  # noqa: S101 - started with a pipe, just above
    try:
        async with asyncio.timeout(timeout):
            _, err, _ = await asyncio.gather(drain.run(child), child.stderr.read(), _feed(child, feed))
            code = await child.wait()
    except TimeoutError as error:
        raise GitFailed(name, f"it was still running after {timeout:g} s and was stopped") from error
    finally:
        if child.returncode is None:
            await end(child)
    out = drain.sink.getvalue() if isinstance(drain.sink, BytesIO) else b""
    return Output(code, out, err.decode("utf-8", "backslashreplace"), drain.cut)


async def _feed(child: asyncio.subprocess.Process, feed: bytes | BinaryIO) -> None:
    if child.stdin is None or not isinstance(feed, bytes):
        return
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        child.stdin.write(feed)
        await child.stdin.drain()
    child.stdin.close()


async def end(child: asyncio.subprocess.Process) -> None:
    """Stop a git process, and let it remove its lock files first."""
    _signal(child, signal.SIGTERM)
    try:
        async with asyncio.timeout(_ENDING_SECONDS):
            await child.communicate()
    except TimeoutError:
        _signal(child, signal.SIGKILL)
        await child.communicate()


def _signal(child: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, number)
