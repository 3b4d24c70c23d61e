"""Finds the user's repository, and says clearly what is wrong with it before anything starts."""

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from interlock.git.command import Git, Output, find_repository
from interlock.git.place import Place
from interlock.model.errors import EnvironmentProblem

OLDEST = (2, 38)
"""The first git with `merge-tree --write-tree`."""

_READ = (
    "user.name\n",
    "user.email\n",
    "core.",
    "extensions.",
    "init.defaultbranch\n",
    "commit.gpgsign",
    "rerere.enabled",
    "rerere.enabled",
    "branch.",
)


PATH_BYTES = 400
"""The longest path of a `.git` folder: SQLite opens no file whose path has over 500."""
_DATA = re.compile(
    r"(user|branch|url|http|safe|color|blame|mailmap)\..*|(remote|submodule)\..*\.(url|pushurl|fetch|push)"
    r"|core\.(worktree|excludesfile|hookspath)|commit\.template|init\.defaultbranch"
)
"""Settings of the person's git that name no program, or that are read elsewhere. Any other may name one."""


async def discover(path: Path, branch: str = "") -> Place:
    """The repository around `path`, with its protected branch: `branch`, or the one it most probably is."""
    if not path.is_dir():
        raise EnvironmentProblem(f"{path} is not a folder", "check the path")
    if re.search(r"\s", branch):
        raise EnvironmentProblem(f"{branch!r} cannot be the name of a branch", "git branch --list")
    version, answer = await asyncio.gather(
        find_repository(path, "version"),
        find_repository(path, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-toplevel"),
    )
    number = parse_version(version.line)
    common, work_tree = _folders(path, answer)
    user = Git(common, as_user=True)
    config, ignore_file, head = await asyncio.gather(
        find_repository(work_tree or path, "config", "-z", "--list", "--show-origin"),
        user.run("config", "--path", "core.excludesFile", ok=(0, 1)),
        _head(path),
    )
    if config.code:
        raise _not_found(path, config.err)
    entries = _entries(config, work_tree or path)
    settings = dict(_settings([entry for _, entry in entries]))
    heads = _Heads(
        branch,
        head,
        settings.get("init.defaultbranch", "main"),
        await _existing(user, branch, head, settings),
    )
    return Place(
        common_dir=common,
        work_tree=work_tree,
        branch=heads.protected(),
        head=head,
        version=number,
        settings=settings,
        started=tuple(_started(entries)),
        settings_files=tuple(dict.fromkeys(origin for origin, _ in entries)),
        excludes=_read(Path(ignore_file.line) if ignore_file.line else _usual_ignore_file())
        + _read(common / "info" / "exclude"),
    )


def parse_version(said: str) -> tuple[int, int]:
    """Major and minor number of `git version 2.39.5 (Apple Git-154)`; refuse one that is too old."""
    match = re.search(r"(\d+)\.(\d+)", said)
    if not match:
        raise EnvironmentProblem(f"`git version` printed no version: {said!r}", "install git 2.38 or newer")
    number = int(match[1]), int(match[2])
    if number < OLDEST:
        raise EnvironmentProblem(
            f"git {number[0]}.{number[1]} is too old: merging in memory came with git 2.38",
            "upgrade git (`brew install git`, or `apt install git` from a newer release), then try again",
        )
    return number


def _folders(path: Path, answer: Output) -> tuple[Path, Path | None]:
    lines = answer.out.decode("utf-8", "surrogateescape").splitlines()
    if not lines:
        raise _not_found(path, answer.err)
    if answer.code and "must be run in a work tree" not in answer.err:
        raise _not_found(path, answer.err)
    if len(lines) > 2:
        raise EnvironmentProblem(f"the path of {path} has a line break in it", "rename the folder")
    if any("\ud800" <= sign <= "\udfff" for sign in lines[0] + lines[-1]):
        raise EnvironmentProblem(f"the path of {path} is not UTF-8", "rename the folder")
    if len(os.fsencode(lines[0])) > PATH_BYTES:
        raise EnvironmentProblem(
            f"the path of {path} is longer than {PATH_BYTES} bytes", "move the repository"
        )
    return Path(lines[0]), Path(lines[1]) if len(lines) == 2 else None


def _not_found(path: Path, said: str) -> EnvironmentProblem:
    if "dubious ownership" in said:
        return EnvironmentProblem(
            f"{path} belongs to another user, so git does not trust it",
            f"git config --global --add safe.directory {path}",
        )
    if "not a git repository" in said:
        return EnvironmentProblem(f"{path} is not in a git repository", "git init")
    return EnvironmentProblem(f"git cannot use {path}: {said.strip()}", "git status")


async def _head(path: Path) -> str:
    said = await find_repository(path, "symbolic-ref", "-q", "HEAD")
    return said.line.removeprefix("refs/heads/")


async def _existing(user: Git, branch: str, head: str, settings: Mapping[str, str]) -> frozenset[str]:
    names = dict.fromkeys(
        n for n in (branch, head, "main", "master", settings.get("init.defaultbranch")) if n
    )
    found = await user.names(*(f"refs/heads/{name}^{{commit}}" for name in names))
    return frozenset(name for name, commit in zip(names, found, strict=True) if commit)


def _entries(config: Output, top: Path) -> list[tuple[str, str]]:
    """Return each setting after the file that it is in."""
    said = config.out.decode("utf-8", "surrogateescape").split("\0")
    return [
        (str(top / origin.removeprefix("file:")), entry)
        for origin, entry in zip(said[::2], said[1::2], strict=False)
    ]


def _settings(entries: Sequence[str]) -> list[tuple[str, str]]:
    """The harmless ones only: elsewhere in it are passwords and tokens."""
    pairs = (entry.partition("\n") for entry in entries if entry.startswith(_READ))
    # A key without a value means true.
    own = [(key, value if newline else "true") for key, newline, value in pairs]
    return own + [remote for remote in map(_remote, entries) if remote]


def _started(entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Commands that the person's git may start, and paths of more settings, whether they exist or not."""
    for origin, entry in entries:
        key, _, value = entry.partition("\n")
        if key.startswith("include"):
            yield str(Path(origin).parent / os.path.expanduser(value))  # noqa: PTH111 - `~name` of no user stays
        elif not _DATA.fullmatch(key):
            yield value
            if re.fullmatch(r"credential\b.*\.helper", key):
                yield f"git-credential-{value}"


def _remote(entry: str) -> tuple[str, str] | None:
    """The address of a remote on another machine, without a user's name and password."""
    key, _, url = entry.partition("\n")
    if re.fullmatch(r"remote\.[\w.-]+\.url", key):
        if match := re.fullmatch(r"(https?|ssh|git)://(?:[^/@]*@)?([\w.:-]+/[\w./~+-]+)", url):
            return key, f"{match[1]}://{match[2]}"
        if re.fullmatch(r"git@[\w.-]+:[\w./~+-]+", url):
            return key, url
    return None


def _usual_ignore_file() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "git" / "ignore"


def _read(path: Path) -> str:
    try:
        text = path.read_text(errors="surrogateescape")
    except OSError:
        return ""
    return text if text.endswith("\n") or not text else text + "\n"


@dataclass(frozen=True, slots=True)
class _Heads:
    """The branches that could be the protected one."""

    wanted: str
    current: str
    usual: str
    existing: frozenset[str]

    def protected(self) -> str:
        if self.wanted:
            if self.wanted in self.existing:
                return self.wanted
            raise self._missing(self.wanted)
        own = [self.current] if self.current in ("main", "master") else []
        for name in (*own, "main", "master", self.usual, self.current):
            if name in self.existing:
                return name
        raise self._missing(self.current)

    def _missing(self, name: str) -> EnvironmentProblem:
        if not name:
            return EnvironmentProblem(
                "HEAD is detached and there is no branch main or master", "git switch -c main"
            )
        if not self.existing and name == self.current:
            return EnvironmentProblem(
                "the repository has no commits yet", "git commit --allow-empty -m start"
            )
        return EnvironmentProblem(f"there is no branch {name!r}", f"git branch -- {name}")
