"""Checks on main itself, in the real sandbox, before anything is built on it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from interlock.engine.preflight import try_checks
from interlock.engine.project import open_project
from interlock.model.outcome import CheckResult
from interlock.model.suite import SuiteResult, Unable
from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow


async def _tried(root: Path, commands: Sequence[str]) -> Sequence[CheckResult]:
    async with open_project(root) as project:
        return await try_checks(project, commands)


def test_a_check_is_tried_on_main_and_its_tests_are_read(scratch: Scratch) -> None:
    scratch.write(test_one__py="def test_good(): pass\ndef test_bad(): assert 0\n", scratch__txt="here\n")
    scratch.commit()
    scratch.write(scratch__txt="not committed\n")
    commands = ["pytset -q", "python -m pytest -q -p no:cacheprovider", "grep here scratch.txt"]
    typo, tests, words = asyncio.run(_tried(scratch.root, commands))
    assert (typo.unable, typo.about) == (Unable.PROGRAM, "pytset")
    assert tests.suite == SuiteResult(("test_one.py::test_good",), ("test_one.py::test_bad",), 1, 1)
    assert tests.unable is None and not tests.passed
    assert words.passed and words.suite is None
