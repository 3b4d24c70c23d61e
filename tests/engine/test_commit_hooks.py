"""A pre-commit hook does not run when a change lands, and that is said; through the real command."""

import pytest

from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow


def own_hook(scratch: Scratch) -> None:
    path = scratch.root / ".git" / "hooks" / "pre-commit"
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!/bin/sh\nexit 0\n")
    path.chmod(0o755)


def hooks_folder(scratch: Scratch) -> None:
    path = scratch.root / "tools" / "pre-commit"
    path.parent.mkdir()
    path.write_text("#!/bin/sh\nexit 0\n")
    path.chmod(0o755)
    scratch.git("config", "core.hooksPath", "tools")


def framework(scratch: Scratch) -> None:
    (scratch.root / ".pre-commit-config.yaml").write_text("repos: []\n")


def husky(scratch: Scratch) -> None:
    (scratch.root / ".husky").mkdir()
    (scratch.root / ".husky" / "pre-commit").write_text("npm test\n")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            own_hook,
            ".git/hooks/pre-commit is a pre-commit hook, which does not run when a change lands: copy",
        ),
        pytest.param(
            hooks_folder,
            "tools/pre-commit is a pre-commit hook, which does not run when a change lands: add `./tools",
            marks=pytest.mark.night,
        ),
        (framework, "add `pre-commit run --all-files` to `verify`"),
        pytest.param(husky, "add `sh .husky/pre-commit` to `verify`", marks=pytest.mark.night),
    ],
)
def test_a_hook_that_does_not_run_is_mentioned_at_the_first_run_and_by_doctor(
    scratch: Scratch, make: object, told: str
) -> None:
    assert callable(make)
    make(scratch)
    scratch.graph("  t: {goal: x}\n")
    assert told in scratch.interlock("run")
    assert "does not run when a change lands" not in scratch.interlock("run")
    assert "does not run when a change lands" in scratch.interlock("doctor", code=None)


def test_a_hook_that_a_check_runs_and_a_sample_are_not_mentioned(scratch: Scratch) -> None:
    hooks_folder(scratch)
    scratch.graph("  t: {goal: x}\n", verify="./tools/pre-commit")
    said = scratch.interlock("run")
    assert "1 done" in said
    assert "does not run when a change lands" not in said
