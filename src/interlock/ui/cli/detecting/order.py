"""The order in which a project's files are believed: its own words first, conventions last."""

import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path

from interlock.ui.cli.detecting.detected import CheckFound, Detected, SetupFound
from interlock.ui.cli.detecting.layout import Layout
from interlock.ui.cli.detecting.native import (
    autotools_setup,
    cargo_checks,
    cmake_checks,
    go_checks,
    make_checks,
    meson_checks,
)
from interlock.ui.cli.detecting.node import build_command, node_checks, node_setup, tests_what_is_built
from interlock.ui.cli.detecting.python import environment_of, in_environment, pytest_checks, python_setup
from interlock.ui.cli.detecting.scripts import (
    builds_before_tests,
    script_checks,
    script_setup,
    tests_otherwise,
    unchecked_lines,
    workflow_checks,
)
from interlock.ui.cli.detecting.tox import tox_checks

MOST_UNCHECKED = 4


def detect(root: Path, environ: Mapping[str, str] = os.environ) -> Detected:
    layout = Layout(root, environ)
    found = [setup for find in _SETUPS for setup in find(layout)]
    named = [setup for setup in found if setup.makes] or found
    checks = list(_once(check for find in _CHECKS for check in find(layout)))
    return Detected(
        tuple(_compared(layout, setup) for setup in named),
        tuple(check for check in checks if not check.ignores),
        tuple(check for check in checks if check.ignores),
        tuple(islice(_once(unchecked_lines(layout)), MOST_UNCHECKED)),
    )


def _once(checks: Iterable[CheckFound]) -> Iterator[CheckFound]:
    seen: set[str] = set()
    for check in checks:
        if check.command not in seen:
            seen.add(check.command)
            yield check


def _compared(layout: Layout, setup: SetupFound) -> SetupFound:
    absent = tuple(name for name in setup.makes if not layout.has(name))
    words = [word for word in setup.run[0].split() if "=" not in word]
    is_here = "/" in words[0] or layout.is_on_path(words[0])
    return dataclasses.replace(setup, absent=absent, needs="" if is_here else words[0])


def _node(layout: Layout) -> Iterator[CheckFound]:
    """Yield the checks of a Node project, with the build first where the CI or the script needs it."""
    build = build_command(layout)
    why = builds_before_tests(layout) or ("scripts.build" if tests_what_is_built(layout) else "")
    for check in node_checks(layout):
        if why and build:
            yield CheckFound(f"{build} && {check.command}", f"{check.source}, {why}", check.ignores)
        yield check


def _make(layout: Layout, is_other: bool = False) -> Iterator[CheckFound]:
    """The targets that the CI tests with, or the others, which may be less than the whole.

    In the project's environment, if it has one: recipes say `python`.
    """
    for check in make_checks(layout):
        if tests_otherwise(layout, check.command) == is_other:
            command = in_environment(layout, check.command) if environment_of(layout) else check.command
            yield dataclasses.replace(check, command=command)


_CHECKS: tuple[Callable[[Layout], Iterator[CheckFound]], ...] = (
    _node,
    tox_checks,
    _make,
    cmake_checks,
    meson_checks,
    go_checks,
    cargo_checks,
    script_checks,
    workflow_checks,
    pytest_checks,
    partial(_make, is_other=True),
)
_SETUPS: tuple[Callable[[Layout], Iterator[SetupFound]], ...] = (
    python_setup,
    node_setup,
    autotools_setup,
    script_setup,
)
