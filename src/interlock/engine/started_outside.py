"""Files of a repository that would be started or imported outside the sandbox, without an act of a person.

Settings of the user name some, and Interlock, git and Python find others in a folder of the repository that
is on PATH or among Python's own. They are named whether they exist or not: an agent could add them.
"""

import contextlib
import importlib.machinery
import itertools
import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

_BETWEEN_WORDS = re.compile(r"[\s;|&()<>{}\[\]`'\"$=,:!]+")
_GOES_TO = ("cd", "pushd", "-C")
_INTERPRETER = re.compile(
    r"(.*/)?((ba|da|z|k|fi)?sh|python[\d.]*|node|perl|ruby|php|deno|bun|tsx|awk|source|\.)"
)
HOST_PROGRAMS = (
    *("bash", "bwrap", "docker", "du", "env", "gh", "git", "glab", "git-lfs", "gpg", "gpgsm", "mount"),
    *("notify-send", "osascript", "podman", "python", "python3", "rm", "setpriv", "sh", "ssh"),
    *("ssh-keygen", "systemctl", "systemd-run", "umount", "unshare"),
)
"""Programs that Interlock and git start outside the sandbox, found on the user's PATH."""
EARLY_MODULES = (
    *("abc", "codecs", "collections", "contextlib", "encodings", "functools", "genericpath"),
    *("importlib", "io", "os", "pkgutil", "posixpath", "runpy", "site", "sitecustomize"),
    *("stat", "types", "typing", "usercustomize", "warnings"),
)
"""Modules that Python imports before the command can keep those of a repository out."""


def started_outside(root: Path, environ: Mapping[str, str], commands: Iterable[str]) -> Iterator[str]:
    """Yield paths that may be of the repository. `commands` are those of the user's settings."""
    on_path = _folders_in(root, environ.get("PATH", "").split(os.pathsep))
    for command in commands:
        yield from _paths_in(command, on_path)
    for name in HOST_PROGRAMS:
        yield from (f"{folder}/{name}" for folder in on_path)
        if found := shutil.which(name, path=environ.get("PATH")):
            yield found  # a link to it may lead into the repository
    named = (*environ.get("PYTHONPATH", "").split(os.pathsep), *sys.path)
    ends = (*importlib.machinery.all_suffixes(), "/__init__.py")
    for folder in _folders_in(root, filter(None, named)):
        yield from (f"{folder}/{name}{end}" for name in EARLY_MODULES for end in ends)


def _paths_in(command: str, on_path: Sequence[str]) -> Iterator[str]:
    """Yield each part of a shell command that may be the path of a file.

    A name without a folder is one only behind an interpreter: others are found on PATH.
    """
    words = [*filter(None, _BETWEEN_WORDS.split(command))]
    pairs = [*itertools.pairwise(words)]
    folders = [*on_path, *(after for before, after in pairs if before in _GOES_TO)]
    modules = [Path(*after.split(".")) for before, after in pairs if before == "-m"]
    runs_scripts = any(_INTERPRETER.fullmatch(word) for word in words)
    with contextlib.suppress(ValueError):  # no words of a shell
        words += shlex.split(command)
    for module in modules:
        packages = (module, *(folder for folder in module.parents if folder != Path()))
        words += [f"{module}.py", f"{module}/__main__.py", *(f"{each}/__init__.py" for each in packages)]
    for word in (command, *words):
        plain = word.lstrip("/")
        yield from (f"{folder}/{plain}" for folder in folders)
        if "/" in word or runs_scripts:
            yield from (os.path.expanduser(word), plain)  # noqa: PTH111 - `~name` of no user stays as it is


def _folders_in(root: Path, paths: Iterable[str]) -> list[str]:
    """Return the folders of the repository among some, by either name."""
    bases = (root, Path(os.path.realpath(root)))
    both = ((os.path.normpath(root / path), os.path.realpath(root / path)) for path in paths)
    found = (path for pair in both for path in pair if any(map(Path(path).is_relative_to, bases)))
    return list(dict.fromkeys(found))
