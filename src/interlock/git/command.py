"""The only place that starts git.

1. Argument lists only, never a shell.
2. The git dir is always named; git never searches for one. The exception is `find_repository`.
3. The environment is built from nothing. Only `as_user` calls see the user's own configuration
   (credentials, filters, line endings), and only with the user's own git dir.
4. A child gets its own session: Ctrl-C in the terminal is for Interlock to interpret, and ssh finds no
   terminal to ask questions on. An unhurried one gets a process group instead: it asks no questions.
5. A child ends with this process. It has a limit on its memory unless it works for the user, and one that
   reads what an agent made (`untrusted`) has limits on its time and its output too.
"""

import asyncio
import contextlib
import functools
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Collection, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

from interlock.git import bounds
from interlock.git.child import Child, Drain, as_file, held
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
LONG_AGO = {"GIT_AUTHOR_DATE": "@0 +0000", "GIT_COMMITTER_DATE": "@0 +0000"}
"""For commits that no branch gets: the same input gives the same object."""

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

_T = TypeVar("_T")
_UNHURRIED = 10
"""Niceness between the usual 0 and the 19 of background work."""
_ENDING_SECONDS = 2.0
"""SIGTERM lets git remove its lock files; after this long it is killed."""


@dataclass(frozen=True, slots=True)
class Output:
    """The result of a git command."""

    code: int
    out: bytes
    err: str
    cut: bool = False
    """True if it was stopped because it printed more than allowed."""

    @property
    def line(self) -> str:
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
    """Return an environment that has nothing of the user's but the search path."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": "/nonexistent",
        "LC_ALL": "C",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_GRAFT_FILE": "/nonexistent",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "Interlock",
        "GIT_AUTHOR_EMAIL": "interlock@localhost",
        "GIT_COMMITTER_NAME": "Interlock",
        "GIT_COMMITTER_EMAIL": "interlock@localhost",
    }


class Difference(NamedTuple):
    """A path that differs between two trees."""

    old_mode: str
    mode: str
    """File mode as git writes it; `000000`: the path is gone."""
    old: str
    new: str
    """Object ids; zeros where there is none."""
    status: str
    """A, D, M or T; R with a number, if renames were asked for."""
    path: bytes

    @property
    def name(self) -> str:
        """The path as facts have it."""
        return self.path.decode("utf-8", "backslashreplace")

    @property
    def is_gone(self) -> bool:
        return self.mode == "000000"

    @property
    def index_line(self) -> bytes:
        """The new state in the words of `update-index -z --index-info`."""
        return f"{self.mode} {self.new}\t".encode() + self.path + b"\0"


@dataclass(frozen=True, slots=True)
class Git:
    """Git on one trusted git dir."""

    git_dir: Path
    work_tree: Path | None = None
    as_user: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    unhurried: bool = False
    """Others go first when there is more to do than the machine has processors."""
    untrusted: bool = False
    """True if it reads what an agent made: rule 5. More than that is refused with `RejectedObjects`."""
    keeps: tuple[int, ...] = ()
    """Descriptors that its processes keep open: a lock is held until they have ended, too."""

    def having(self, **variables: str) -> "Git":
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
        most = bounds.OUTPUT_BYTES if self.untrusted and limit_bytes is None else limit_bytes
        process = _spawn(self, argv, feed)
        output = await finish(process, argv[0], Drain(sink or BytesIO(), most), timeout)
        if self.untrusted:
            _refuse_excess(argv[0], output, said_too_much=output.cut and limit_bytes is None)
        if output.code not in ok and not output.cut:
            raise GitFailed(argv[0], output.err)
        return output

    def run_now(self, *argv: str) -> bytes:
        """Wait here for one short git command, and return its output; for callers outside of a loop."""
        process = _spawn(self, argv, b"")
        out, err = process.communicate()
        if process.returncode:
            raise GitFailed(argv[0], err.decode(errors="replace"))
        return out

    async def names(self, *revisions: str) -> list[str | None]:
        """Resolve each revision to an object, or None if there is none. Starts one process at most, and one
        for each revision with a line feed."""
        plain = [revision for revision in revisions if "\n" not in revision]
        feed = os.fsencode("".join(f"{revision}\n" for revision in plain))  # a path may be no UTF-8
        said = await self.run("cat-file", "--batch-check=%(objectname)", feed=feed)
        # Each line is an object id, or a sentence that repeats the name and says why there is none.
        answers = (None if b" " in line else line.decode() for line in said.out.split(b"\n")[:-1])
        found = dict(zip(plain, answers, strict=True))
        for odd in {*revisions} - found.keys():
            words = ("-q", "--verify", "--end-of-options", odd.replace("\0", "\n"))  # no argument holds a NUL
            found[odd] = (await self.run("rev-parse", *words, ok=(0, 1, 128))).line or None
        return [found[revision] for revision in revisions]

    async def objects(
        self, names: Sequence[str], limit_bytes: int | None = None
    ) -> list[tuple[bytes, bytes]]:
        """The kind and the content of each object; both are empty for a name without one. No name may have a
        line feed. The list is empty if git prints more than `limit_bytes`; no more is read then."""
        feed = os.fsencode("".join(f"{name}\n" for name in names))
        if not names:
            return []
        said = await self.run("cat-file", "--batch", feed=feed, limit_bytes=limit_bytes)
        if said.cut:
            return []
        out, found, at = said.out, [], 0
        for _ in names:
            end = out.index(b"\n", at)
            words, at = out[at:end].split(), end + 1
            if len(words) != 3 or not words[2].isdigit():
                found.append((b"", b""))  # the name again, and why there is none
                continue
            size = int(words[2])
            found.append((words[1], out[at : at + size]))
            at += size + 1
        return found

    async def ignored(self, paths: Iterable[bytes]) -> list[bytes]:
        """List those of these paths that the ignore rules of the work tree and of the user exclude."""
        words = ("check-ignore", "--no-index", "-z", "--stdin")
        said = await self.run(*words, feed=nul_ended(paths), ok=(0, 1))
        return [path for path in said.out.split(b"\0") if path]

    async def changes(self, old: str, new: str, renames: str = "--no-renames") -> list[Difference]:
        """List the paths that differ between two commits or trees."""
        said = await self.run("diff-tree", "-r", "-z", "--raw", renames, old, new)
        words, found = iter(said.out.split(b"\0")[:-1]), []
        for word in words:
            old_mode, mode, before, after, status = word.decode().removeprefix(":").split(" ")
            path = next(words)
            if status.startswith("R"):
                path = next(words)  # of the two paths the second is new
            found.append(Difference(old_mode, mode, before, after, status, path))
        return found


def nul_ended(paths: Iterable[bytes]) -> bytes:
    """Paths as the input of a git command with `-z`."""
    return b"".join(path + b"\0" for path in paths)


def _invocation(git: Git, argv: Sequence[str]) -> tuple[Sequence[str], dict[str, str], Path]:
    """The command line, the environment and the folder of one git command."""
    where = [f"--git-dir={git.git_dir}"]
    if git.work_tree:
        where.append(f"--work-tree={git.work_tree}")
    env = (user_environment() if git.as_user else sealed_environment()) | dict(git.variables)
    return ("git", "--no-pager", *where, *_OPTIONS, *argv), env, git.work_tree or git.git_dir


def _limits(git: Git) -> dict[int, int]:
    """Rule 5. RLIMIT_DATA and not RLIMIT_AS: packs are mapped, and may be larger than all memory."""
    if git.as_user:
        return {}
    time = {resource.RLIMIT_CPU: bounds.CPU_SECONDS} if git.untrusted else {}
    return {resource.RLIMIT_DATA: bounds.MEMORY_BYTES, **time}


def _refuse_excess(name: str, output: Output, *, said_too_much: bool) -> None:
    if said_too_much:
        raise bounds.too_large(f"git {name} prints too much about it", f"{bounds.OUTPUT_BYTES >> 20} MiB")
    if output.code == -signal.SIGXCPU:
        raise bounds.too_large(f"git {name} takes too much CPU time on it", f"{bounds.CPU_SECONDS} s")
    if output.code and "out of memory" in output.err.lower():
        raise bounds.too_large(f"git {name} runs out of memory on it", f"{bounds.MEMORY_BYTES >> 20} MiB")


async def run_beside(words: Sequence[str], directory: Path, limit_bytes: int, **variables: str) -> Output:
    """Run another program of the user's that works on the repository, as the user would; any exit status."""
    env = user_environment() | variables
    process = _popen(words, env, directory, subprocess.DEVNULL, Git(directory, as_user=True))
    return await finish(process, words[0], Drain(BytesIO(), limit_bytes), 120.0)


async def find_repository(path: Path, *argv: str) -> Output:
    """Let git look for the repository around `path`, as the user would; any exit status."""
    process = _popen(("git", *argv), user_environment(), path, subprocess.DEVNULL, Git(path, as_user=True))
    return await finish(process, argv[0], Drain(BytesIO(), None), 60.0)


def _spawn(git: Git, argv: Sequence[str], feed: bytes | BinaryIO) -> subprocess.Popen[bytes]:
    with as_file(feed) as stdin:
        return _popen(*_invocation(git, argv), stdin, git)


def _popen(
    command: Sequence[str], env: dict[str, str], directory: Path, stdin: int | BinaryIO, git: Git
) -> subprocess.Popen[bytes]:
    with _explained(directory, command[0]), held(_limits(git)) as (files, hold):
        process = subprocess.Popen(
            command,
            executable=_program(env.get("PATH", os.defpath), command[0]),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=env,
            cwd=directory,
            pass_fds=(*git.keeps, *files),
            # Linux shares the processors out by session, and niceness counts only within one.
            start_new_session=not git.unhurried,
            process_group=0 if git.unhurried else None,
        )
        hold(process.pid)
    if git.unhurried:
        with contextlib.suppress(OSError):  # it is over already
            os.setpriority(os.PRIO_PROCESS, process.pid, _UNHURRIED)
    return process


@functools.cache
def _program(path: str, name: str) -> str:
    """Return the path of a program, searched once: a child would try all the wrong folders first."""
    return shutil.which(name, path=path) or name


@contextlib.contextmanager
def _explained(directory: Path, program: str) -> Iterator[None]:
    """Turn the reason why a program could not be started into a message."""
    try:
        yield
    except FileNotFoundError as error:
        _program.cache_clear()  # it may have moved
        if not directory.is_dir():
            raise EnvironmentProblem(f"the folder {directory} is gone", "check the path") from error
        raise EnvironmentProblem(
            "git is not installed, or not on the PATH", "install git 2.38 or newer, then try again"
        ) from error
    except OSError as error:
        raise EnvironmentProblem(f"{program} cannot be started: {error.strerror}") from error


async def finish(process: subprocess.Popen[bytes], name: str, drain: Drain, seconds: float) -> Output:
    """Wait for a program that was started with pipes, and end it when its time is over."""
    child = Child(process, drain)
    try:
        async with asyncio.timeout(seconds):
            code = await child.ended()
    except TimeoutError as error:
        raise GitFailed(name, f"stopped after {seconds:g} s, its time limit") from error
    finally:
        try:
            if process.returncode is None:
                await to_the_end(_stop(child))
        finally:
            child.close()
    return Output(code, drain.kept, child.errors, drain.cut)


async def _stop(child: Child) -> None:
    child.signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(_ENDING_SECONDS):
            await child.ended()
    except TimeoutError:
        child.signal(signal.SIGKILL)
        await child.gone()  # what left its process group may keep the pipes open for ever


async def to_the_end(work: Coroutine[Any, Any, _T]) -> _T:  # Any: what a coroutine yields to its loop
    """Finish `work` first, then let the cancellation go on, however often the caller is cancelled."""
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as ended:
            cancelled = ended
    if cancelled is not None and task.exception() is None:
        raise cancelled
    return task.result()
