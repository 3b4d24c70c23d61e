"""A crash between "main moved" and "the checkout followed", seen through the real commands."""

import json

import pytest

from tests.engine.scratch import Scratch

pytestmark = [pytest.mark.slow, pytest.mark.crash]


@pytest.fixture
def landed(scratch: Scratch) -> Scratch:
    """A project whose one task has landed."""
    scratch.graph("  a: {goal: x}\n")
    scratch.interlock("run")
    return scratch


def interrupt(scratch: Scratch) -> str:
    """Leave what a run leaves that is killed while git writes the files of a landing; the landed commit."""
    old, new = scratch.git("rev-parse", "main~1"), scratch.git("rev-parse", "main")
    state = scratch.root / ".git/interlock"
    journal = {"branch": "main", "old": old, "new": new, "trees": [str(scratch.root)]}
    (state / "checkout.json").write_text(json.dumps(journal))
    scratch.git("read-tree", old)
    (scratch.root / "a.txt").write_text("")  # opened, and not written yet
    return new


@pytest.mark.parametrize("command", [["status"], ["doctor"], ["plan"], ["workspace", "list"], ["run"]])
def test_every_command_finishes_the_move_before_it_judges_the_checkout(
    landed: Scratch, command: list[str]
) -> None:
    """R1: the person was told to commit changes that were ours, and so took landed work back."""
    new = interrupt(landed)
    said = landed.interlock(*command, code=None)
    assert "uncommitted" not in said
    assert landed.git("status", "--porcelain") == ""
    assert (landed.root / "a.txt").read_text() == "a\n"
    assert landed.git("rev-parse", "main") == new


def test_a_damaged_journal_is_no_internal_error(landed: Scratch) -> None:
    (landed.root / ".git/interlock/checkout.json").write_text("{")
    assert "was damaged" in landed.interlock("status")
    (landed.root / ".git/interlock/checkout.json").write_text('{"branch": 7}')
    assert "was damaged" in landed.interlock("run")
