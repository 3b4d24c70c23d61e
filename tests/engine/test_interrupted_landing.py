"""A crash between "main moved" and "the checkout followed", seen through the real commands."""

import asyncio
import json
import subprocess
from collections.abc import Iterator

import pytest

from interlock.engine.engine import Engine
from interlock.engine.options import Options
from interlock.engine.project import open_project
from tests.engine.scratch import Scratch
from tests.tiers import rest_at_night

pytestmark = [pytest.mark.slow, pytest.mark.crash]


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scratch]:
    """A project whose one task has landed; each test leaves it so."""
    scratch = Scratch(tmp_path_factory.mktemp("landed") / "a repository")
    scratch.graph("  a: {goal: x}\n")
    scratch.interlock("run")
    yield scratch
    scratch.close()


def interrupt(scratch: Scratch) -> str:
    """Leave what a run leaves that is killed while git writes the files of a landing; the landed commit."""
    old, new = scratch.git("rev-parse", "main~1"), scratch.git("rev-parse", "main")
    state = scratch.root / ".git/interlock"
    journal = {"branch": "main", "old": old, "new": new, "trees": [str(scratch.root)]}
    (state / "checkout.json").write_text(json.dumps(journal))
    scratch.git("read-tree", old)
    (scratch.root / "a.txt").write_text("")  # opened, and not written yet
    return new


COMMANDS = [["status"], ["doctor"], ["plan"], ["workspace", "list"], ["run"]]


@pytest.mark.parametrize("command", rest_at_night(COMMANDS, by_day=[["status"], ["run"]]))
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


def test_a_move_that_is_interrupted_after_the_project_was_opened_is_finished_too(landed: Scratch) -> None:
    """A person answered a question meanwhile, or the clock was set: the other run died only then."""

    async def go_on() -> str:
        async with open_project(landed.root) as project:
            new = interrupt(landed)
            await Engine(project.env(), Options(environment="this machine", fetch_seconds=0)).run()
            return new

    assert landed.git("rev-parse", "main") == asyncio.run(go_on())
    assert landed.git("status", "--porcelain") == ""


def test_a_damaged_journal_is_no_internal_error(landed: Scratch) -> None:
    (landed.root / ".git/interlock/checkout.json").write_text("{")
    assert "was damaged" in landed.interlock("status")
    (landed.root / ".git/interlock/checkout.json").write_text('{"branch": 7}')
    assert "was damaged" in landed.interlock("run")


BOTH_WAYS = "echo new > one.txt; echo new > two.txt; echo new > added.txt; rm gone.txt"


@pytest.fixture
def taken_back(scratch: Scratch) -> Scratch:
    """A person did as git says after a crash: removed the lock, and committed half of a landing."""
    scratch.write(one__txt="old\n", two__txt="old\n", gone__txt="old\n", mine__txt="old\n")
    scratch.graph("  a: {goal: x}\n", BOTH_WAYS)
    scratch.interlock("run")
    old, new = scratch.git("rev-parse", "main~1"), scratch.git("rev-parse", "main")
    state = scratch.root / ".git/interlock"
    journal = {"branch": "main", "old": old, "new": new, "trees": [str(scratch.root)]}
    (state / "checkout.json").write_text(json.dumps(journal))
    scratch.git("read-tree", old)
    scratch.write(
        two__txt="old\n", gone__txt="old\n", mine__txt="mine\n"
    )  # one.txt and added.txt are written
    (scratch.root / ".git/index.lock").unlink(missing_ok=True)
    scratch.git("commit", "-qam", "wip")
    return scratch


def test_a_commit_that_takes_back_a_part_is_named_until_it_is_brought_back(taken_back: Scratch) -> None:
    """Nothing was said, because `one.txt` was still as it had landed."""
    wip, new = taken_back.git("rev-parse", "main"), taken_back.git("rev-parse", "main~1")
    for said in (taken_back.interlock("status"), taken_back.interlock("run")):
        assert f"commit {wip[:12]} on main reverts a part of what landed as {new[:12]}" in said
        assert "added.txt, gone.txt, two.txt" in said
        assert "one.txt" not in said.replace("gone.txt", "")
    command = taken_back.interlock("status").split("restore it: ")[1].splitlines()[0]
    subprocess.run(command, shell=True, cwd=taken_back.root, env=taken_back.env, check=True)  # noqa: S602 - as a person pastes it
    assert taken_back.git("diff", "--name-only", new, "main") == "mine.txt"
    assert taken_back.git("status", "--porcelain") == ""
    assert "reverts" not in taken_back.interlock("status")


def test_who_means_to_take_it_back_says_so_once(taken_back: Scratch) -> None:
    said = taken_back.interlock("status")
    new = taken_back.git("rev-parse", "main~1")
    assert f"git commit --allow-empty -m 'Without {new[:12]}'" in said
    taken_back.git("commit", "-q", "--allow-empty", "-m", f"Without {new[:12]}")
    assert "reverts" not in taken_back.interlock("status")


def test_an_uncommitted_edit_is_named_before_the_command_that_would_overwrite_it(taken_back: Scratch) -> None:
    taken_back.write(added__txt="new, and edited since\n")
    assert "First commit your edits of added.txt" in taken_back.interlock("status")
