"""Scripts that a project keeps for its people, and the commands of its CI workflows."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from os.path import normpath, relpath
from pathlib import Path

from interlock.ui.cli.detecting.detected import CheckFound, SetupFound
from interlock.ui.cli.detecting.ignoring import ignored_in_script
from interlock.ui.cli.detecting.layout import Layout, table
from interlock.ui.cli.detecting.python import activated, in_environment

Line = tuple[str, str]
"""A command, after the folder that it runs in."""
WORKFLOWS = ".github/workflows"
MOST_JOBS = 3
_TESTS = re.compile(
    r"\b(pytest|unittest|(npm|pnpm|yarn|bun)( run)? test|npm t|make( -\S+)* (test|check)"
    r"|go test|cargo test|scripts?/test\S*)\b"
)
_BUILDS = re.compile(
    r"\b(npm|pnpm|yarn|bun) (run )?build\b|^make( all| -j\S*)?$|\bsetup\.py build_ext\b|\./configure\b"
)
_TOOLS = re.compile(r"\b(ctest|meson test|cmake)\b")
"""Tools that build and test in a folder of their own."""
_UNUSABLE = re.compile(r"\$\{\{|\b(tox|nox|hatch|docker|sudo|apt-get|brew|curl|codecov)\b")
"""Lines that only run on the CI machine."""
_NO_TEST = re.compile(
    r"\b(pip[x\d]?|uv|poetry|conda|npm|pnpm|yarn|bun|go|cargo) (install|add|i|ci|sync)\b"
    r"|(^|&& )(echo|printf|grep|which)\b|\s--(version|help|collect-only|co)\b"
    r"|\bmake (.* )?(-[a-hj-z]*i[a-z]*|--ignore-errors)\b"
)
"""Lines that name a test program and do not run it, that install something, or that ignore errors."""
_LINTS = re.compile(
    r"\b((eslint|ox|style|py)?lint|prettier|tsc|type-?check|typing|mypy|pyright|ruff|flake8|black|clippy|fmt"
    r"|pre-commit|biome)\b|:types\b"
)
_SCRIPT = re.compile(r"(?:npm|pnpm|yarn|bun)(?: run)? ([\w:-]+)")
_PART_OF_MORE = re.compile(r"(if|then|elif|else|fi|for|while|until|do|done|case|esac)\b|[{}()]")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|\\.")
_OVERRULES = re.compile(r"['\";|]|(?<![&<>])&(?![&>])")
"""Signs after which another command may decide how the line ends, and quotes without an end."""
_LITERAL = re.compile(r"'[^']*'|\"[^\"$`]*\"|\\.")
_FOR_THE_SHELL = re.compile(r"[&<>$`*?~#]")


def script_checks(layout: Layout) -> Iterator[CheckFound]:
    for folder in ("scripts", "script", "bin"):
        for name in (f"{folder}/test", f"{folder}/test.sh"):
            if (path := layout.root / name).is_file():
                how = f"./{name}" if os.access(path, os.X_OK) else f"sh {name}"
                yield CheckFound(in_environment(layout, how), name, ignored_in_script(layout.text(name)))


def script_setup(layout: Layout) -> Iterator[SetupFound]:
    for name in ("scripts/install", "scripts/setup", "script/bootstrap", "script/setup"):
        if (path := layout.root / name).is_file() and os.access(path, os.X_OK):
            yield SetupFound((f"./{name}",), (name,), (), name)
            return


def workflow_checks(layout: Layout) -> Iterator[CheckFound]:
    """The first test of a few jobs, with the build before it."""
    yield from islice(_job_checks(layout), MOST_JOBS)


def _job_checks(layout: Layout) -> Iterator[CheckFound]:
    for name, steps in _jobs(layout):
        built: list[str] = []
        for step in steps:
            lines = _usable(layout, step)
            test = next((line for line in lines if _is_test(line) and not _is_overruled(line)), "")
            if test:
                said = [_whole(step)] if _whole(step) else [*filter(_BUILDS.search, lines), test]
                yield CheckFound(" && ".join([*built, *said[:-1], _typed(layout, said[-1])]), name)
                break
            built += filter(_BUILDS.search, lines)


def _whole(step: Sequence[Line]) -> str:
    """All lines of a step as one command: the last may be the one that fails. '' if one cannot be used."""
    here, parts = ".", list[str]()
    for folder, line in step:
        has_comment = re.search(r"(^| )#", _QUOTED.sub("", line))
        if _UNUSABLE.search(line) or _NO_TEST.search(line) or _is_overruled(line) or has_comment:
            return ""
        parts += [f"cd {relpath(folder, here)}"] * (folder != here) + [line]
        here = folder
    return " && ".join(parts)


def _is_overruled(line: str) -> bool:
    return bool(_PART_OF_MORE.match(line) or _OVERRULES.search(_QUOTED.sub("", line)))


def unchecked_lines(layout: Layout) -> Iterator[CheckFound]:
    """Yield linters and type checkers that the workflows run and that `scripts.test` does not."""
    scripts = table(layout.package, "scripts")
    for name, steps in _jobs(layout):
        for _, line in (each for step in steps for each in step):
            script = _SCRIPT.match(line)
            is_in_test = script and re.search(rf"\b{re.escape(script[1])}\b", str(scripts.get("test", "")))
            if _LINTS.search(line) and not _NO_TEST.search(line) and "${{" not in line and not is_in_test:
                yield CheckFound(line, name)


def _is_test(line: str) -> bool:
    return bool(_TESTS.search(line)) and not _NO_TEST.search(line)


def _typed(layout: Layout, line: str) -> str:
    """The line as it is where the shell has to read it: to quote its words anew would change what it does."""
    if _FOR_THE_SHELL.search(_LITERAL.sub("", line)):
        return activated(layout, line)
    return in_environment(layout, line)


def tests_otherwise(layout: Layout, command: str) -> bool:
    """True if the workflows run tests, but never with this command."""
    lines = [line for _, lines in workflow_lines(layout) for line in lines]
    by_tool = any(_TOOLS.search(line) for _, steps in _jobs(layout) for step in steps for _, line in step)
    tests = [line for line in lines if _is_test(line)]
    return bool(tests or by_tool) and not any(_runs(command, line) for line in tests)


def _runs(command: str, line: str) -> bool:
    """True if the line runs the command, with any options between its words."""
    words = r"(?: -\S+)* ".join(map(re.escape, command.split()))
    return re.search(rf"\b{words}(?![\w-])", line) is not None


def builds_before_tests(layout: Layout) -> str:
    return next((name for name, lines in workflow_lines(layout) if _is_build_first(lines)), "")


def workflow_lines(layout: Layout) -> Iterator[tuple[str, list[str]]]:
    """Yield the commands of each job of each workflow in order, as far as they can be used here.

    A folder that the checkout lacks is one that an earlier command makes: those are left out.
    """
    for name, steps in _jobs(layout):
        yield name, [line for step in steps for line in _usable(layout, step)]


def _usable(layout: Layout, step: Sequence[Line]) -> list[str]:
    usable = ((folder, line) for folder, line in step if not _UNUSABLE.search(f"{folder} {line}"))
    there = ((folder, line) for folder, line in usable if layout.has(folder))
    return [f"cd {folder} && {line}" if folder != "." else line for folder, line in there]


def _jobs(layout: Layout) -> Iterator[tuple[str, list[list[Line]]]]:
    """Yield the steps of each job of each workflow in order, but of no job for another repository."""
    folder = layout.root / WORKFLOWS
    for path in sorted((*folder.glob("*.yml"), *folder.glob("*.yaml")), key=_rank):
        name = f"{WORKFLOWS}/{path.name}"
        for job in table(layout.yaml(name), "jobs").values():
            steps = job.get("steps") if isinstance(job, dict) else None
            usual = table(job, "defaults", "run").get("working-directory", ".")
            if isinstance(steps, list) and not any(map(_takes_another_repository, steps)):
                yield name, [list(_commands(step, str(usual))) for step in steps]


def _takes_another_repository(step: object) -> bool:
    """True if a step checks out a repository by its name. An expression may well stand for this one."""
    uses = step.get("uses") if isinstance(step, dict) else None
    named = str(table(step, "with").get("repository") or "")
    return str(uses).startswith("actions/checkout") and bool(named) and "${{" not in named


def _rank(path: Path) -> tuple[bool, str]:
    """Workflows that are named for tests first."""
    return not re.search(r"test|\bci\b|main|build|check", path.stem), path.name


def _commands(step: object, usual: str) -> Iterator[Line]:
    """The lines of a step. One that may fail is not what the project is checked by."""
    may_fail = isinstance(step, dict) and step.get("continue-on-error") not in (None, False)
    said = step.get("run") if isinstance(step, dict) and not may_fail else None
    folder = str(step.get("working-directory", usual)) if isinstance(step, dict) else usual
    for line in said.replace("\\\n", " ").splitlines() if isinstance(said, str) else ():
        text = " ".join(line.split())
        if moved := re.fullmatch(r"(?:cd|pushd) (\S+)", text):
            folder = normpath(f"{folder}/{moved[1]}")
        elif text and not text.startswith("#"):
            yield normpath(folder), text


def _is_build_first(lines: list[str]) -> bool:
    tests = next((number for number, line in enumerate(lines) if _is_test(line)), -1)
    return any(_BUILDS.search(line) for line in lines[: max(tests, 0)])
