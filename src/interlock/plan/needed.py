"""Tells which checks the change of a task will need, and which folders could have checks of their own."""

import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from interlock.model.globs import overlap
from interlock.model.task import Task

_MANIFESTS = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})
_SHARED = ("pyproject.toml", "pytest.ini", "tox.ini", "setup.cfg", "conftest.py")
"""Files at the top that decide how pytest runs, wherever its tests are."""
_MOST_FOLDERS = 12
_PLAIN = ("python", "python3", "-m", "-q", "-v", "-qq", "uv", "run", "poetry")


@dataclass(frozen=True, slots=True)
class NeededChecks:
    """The checks of one task."""

    runs: tuple[str, ...]
    """Those that may see files that the task will probably edit, by its `touches`."""
    reused: tuple[str, ...]
    """The others: their results on main count."""


def needed_checks(task: Task) -> NeededChecks:
    commands = tuple(dict.fromkeys((*task.verify, *task.done_when)))
    runs = tuple(command for command in commands if _is_needed(task, command))
    return NeededChecks(runs, tuple(command for command in commands if command not in runs))


def _is_needed(task: Task, command: str) -> bool:
    inputs = task.inputs_of(command)
    if not inputs or not task.touches:
        return True
    return any(overlap(touched, glob) for touched in task.touches for glob in inputs)


def proposed_checks(tasks: Sequence[Task], files: Collection[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return a check with inputs for each folder that has tests of its own; none if there are fewer than two,
    or if a check has inputs already.

    Only for a plain call of pytest: what another command reads cannot be told from its words.
    """
    if any(task.inputs for task in tasks):
        return []
    commands = [command for task in tasks for command in task.verify]
    command = next((command for command in commands if _is_plain_pytest(command)), "")
    folders = _folders(files) if command else []
    if not 2 <= len(folders) <= _MOST_FOLDERS:
        return []
    shared = tuple(name for name in _SHARED if name in files)
    return [(f"{command} {folder}", (f"{folder}/**", *shared)) for folder in folders]


def _is_plain_pytest(command: str) -> bool:
    words = command.split()
    return "pytest" in words and all(word in (*_PLAIN, "pytest") for word in words)


def _folders(files: Collection[str]) -> list[str]:
    """The folders with tests: those of packages, else those at the top that have other code too."""
    packages = {path.rpartition("/")[0] for path in files if path.rpartition("/")[2] in _MANIFESTS}
    packages = {folder for folder in packages if folder and folder.count("/") < 2}
    tested = {folder for path in files if _is_test(path) for folder in _above(path)}
    found = sorted(packages & tested)
    if len(found) < 2:
        code = {path.partition("/")[0] for path in files if path.endswith(".py") and not _is_test(path)}
        found = sorted(folder for folder in code & tested if not folder.startswith("."))
    # A folder within another one is tested with it.
    found = [each for each in found if not any(each.startswith(f"{other}/") for other in found)]
    return [folder for folder in found if shlex.quote(folder) == folder]


def _above(path: str) -> Iterator[str]:
    while path := path.rpartition("/")[0]:
        yield path


def _is_test(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith("_test.py") or (name.startswith("test_") and name.endswith(".py"))
