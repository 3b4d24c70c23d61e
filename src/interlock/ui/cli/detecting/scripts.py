"""Scripts that a project keeps for its people, and the commands of its CI workflows."""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import yaml

from interlock.ui.cli.detecting.detected import CheckFound, SetupFound
from interlock.ui.cli.detecting.layout import Layout, table
from interlock.ui.cli.detecting.python import in_environment

WORKFLOWS = ".github/workflows"
MOST_JOBS = 3
_TESTS = re.compile(
    r"\b(pytest|unittest|(npm|pnpm|yarn|bun)( run)? test|npm t|make( -\S+)* (test|check)"
    r"|go test|cargo test|scripts?/test\S*)\b"
)
_BUILDS = re.compile(
    r"\b(npm|pnpm|yarn|bun) (run )?build\b|^make( all| -j\S*)?$|\bsetup\.py build_ext\b|\./configure\b"
)
_UNUSABLE = re.compile(r"\$\{\{|\b(tox|nox|hatch|docker|sudo|apt-get|brew|curl|codecov)\b")
"""What only the CI's own machine can do."""


def script_checks(layout: Layout) -> Iterator[CheckFound]:
    for folder in ("scripts", "script", "bin"):
        for name in (f"{folder}/test", f"{folder}/test.sh"):
            if (path := layout.root / name).is_file():
                how = f"./{name}" if os.access(path, os.X_OK) else f"sh {name}"
                yield CheckFound(in_environment(layout, how), name)


def script_setup(layout: Layout) -> Iterator[SetupFound]:
    for name in ("scripts/install", "scripts/setup", "script/bootstrap", "script/setup"):
        if (path := layout.root / name).is_file() and os.access(path, os.X_OK):
            yield SetupFound((f"./{name}",), (name,), (), name)
            return


def workflow_checks(layout: Layout) -> Iterator[CheckFound]:
    """The first test of a few jobs, with the build before it."""
    yield from islice(_job_checks(layout), MOST_JOBS)


def _job_checks(layout: Layout) -> Iterator[CheckFound]:
    for name, lines in workflow_lines(layout):
        built: list[str] = []
        for line in lines:
            if _TESTS.search(line):
                yield CheckFound(" && ".join([*built, in_environment(layout, line)]), name)
                break
            if _BUILDS.search(line):
                built.append(line)


def builds_before_tests(layout: Layout) -> str:
    """The workflow that builds before it tests, or nothing."""
    return next((name for name, lines in workflow_lines(layout) if _is_build_first(lines)), "")


def workflow_lines(layout: Layout) -> Iterator[tuple[str, list[str]]]:
    """For each job of each workflow its commands in order, as far as they can be used here."""
    folder = layout.root / WORKFLOWS
    for path in sorted((*folder.glob("*.yml"), *folder.glob("*.yaml")), key=_rank):
        name = f"{WORKFLOWS}/{path.name}"
        try:
            said = yaml.safe_load(layout.text(name))
        except yaml.YAMLError:
            continue
        for job in table(said, "jobs").values():
            steps = job.get("steps") if isinstance(job, dict) else None
            yield name, [line for step in steps or () for line in _commands(step)]


def _rank(path: Path) -> tuple[bool, str]:
    """Workflows that are named for tests first."""
    return not re.search(r"test|\bci\b|main|build|check", path.stem), path.name


def _commands(step: object) -> Iterator[str]:
    said = step.get("run") if isinstance(step, dict) else None
    for line in said.replace("\\\n", " ").splitlines() if isinstance(said, str) else ():
        text = " ".join(line.split())
        if text and not text.startswith("#") and not _UNUSABLE.search(text):
            yield text


def _is_build_first(lines: list[str]) -> bool:
    tests = next((number for number, line in enumerate(lines) if _TESTS.search(line)), -1)
    return any(_BUILDS.search(line) for line in lines[: max(tests, 0)])
