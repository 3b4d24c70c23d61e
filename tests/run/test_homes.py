"""The homes of agents: kept for a session that goes on, and nothing written outside of them (D10, D11)."""

from pathlib import Path

import pytest

from interlock.model.errors import EnvironmentProblem
from interlock.model.task import TaskId
from interlock.run.homes import Homes

A = TaskId("a")


def test_an_attempt_that_goes_on_has_the_home_of_the_one_before(tmp_path: Path) -> None:
    homes = Homes(tmp_path)
    homes.write(homes.open(A, 1), {".claude/history": "said"})
    assert (homes.open(A, 2, before=1) / ".claude/history").read_text() == "said"
    assert list(homes.open(A, 3).iterdir()) == []


def test_a_home_stays_where_it_is_however_often_its_session_goes_on(tmp_path: Path) -> None:
    """Trap: codex looks for a session where its own notes say that it was, and not where its home is now."""
    homes = Homes(tmp_path)
    first = homes.open(A, 1)
    assert [homes.open(A, 2, before=1), homes.open(A, 3, before=2)] == [first, first]
    homes.forget(A, 3)
    assert list(first.parent.iterdir()) == []


def test_homes_are_gone_when_an_attempt_came_home_and_later_ones_stay(tmp_path: Path) -> None:
    homes = Homes(tmp_path)
    for attempt in (1, 2, 3):
        homes.open(A, attempt)
    homes.forget(A, 2)
    assert [homes.path(A, attempt).exists() for attempt in (1, 2, 3)] == [False, False, True]


def test_a_link_that_an_earlier_session_left_leads_nowhere(tmp_path: Path) -> None:
    """D11: what an agent left in its home must not make the host write elsewhere."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text("mine")
    homes = Homes(tmp_path / "state")
    home = homes.open(A, 1)
    (home / "settings.json").symlink_to(outside / "settings.json")
    homes.write(home, {"settings.json": "theirs"})
    (home / ".claude").symlink_to(outside)
    with pytest.raises(EnvironmentProblem):
        homes.write(home, {".claude/settings.json": "theirs"})
    assert (outside / "settings.json").read_text() == "mine"


def test_an_account_is_copied_and_not_shared(tmp_path: Path) -> None:
    user = tmp_path / "user"
    (user / ".codex").mkdir(parents=True)
    (user / ".codex/auth.json").write_text("mine")
    homes = Homes(tmp_path / "state")
    home = homes.open(A, 1)
    homes.lend(home, (".codex/auth.json", ".not-there"), user)
    (home / ".codex/auth.json").write_text("changed")
    assert (user / ".codex/auth.json").read_text() == "mine"


def test_an_account_is_not_copied_over_what_a_link_leads_to(tmp_path: Path) -> None:
    """D11: a session that goes on finds the home of one that may have planted links in it."""
    (tmp_path / "user").mkdir()
    (tmp_path / "user/auth.json").write_text("account")
    (tmp_path / "diary").write_text("mine")
    homes = Homes(tmp_path / "state")
    home = homes.open(A, 1)
    (home / "auth.json").symlink_to(tmp_path / "diary")
    homes.lend(home, ("auth.json",), tmp_path / "user")
    assert ((tmp_path / "diary").read_text(), (home / "auth.json").read_text()) == ("mine", "account")


def test_what_a_program_left_is_read_only_if_it_is_a_small_plain_file(tmp_path: Path) -> None:
    homes = Homes(tmp_path)
    home = homes.open(A, 1)
    (home / "usage.json").write_text("{}")
    (home / "link.json").symlink_to("/etc/passwd")
    (home / "large.json").write_text("x" * 100)
    assert homes.left(home, ("usage.json", "link.json", "large.json", "none.json"), limit_bytes=50) == ["{}"]


def test_what_a_program_left_is_not_read_where_a_link_leads(tmp_path: Path) -> None:
    """D11: a folder that is a link would make the host read another's file into the log."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/usage.json").write_text("secret")
    homes = Homes(tmp_path / "state")
    home = homes.open(A, 1)
    (home / "out").symlink_to(tmp_path / "outside")
    (home / "round").symlink_to(home / "round")
    (home / "usage.json").write_text("{}")
    assert homes.left(home, ("out/usage.json", "round/usage.json", "usage.json")) == ["{}"]


def test_an_account_is_taken_back_and_only_the_account(tmp_path: Path) -> None:
    """D11: what a session leaves for the next one is not a copy of somebody's account."""
    user = tmp_path / "user"
    (user / ".codex").mkdir(parents=True)
    (user / ".codex/auth.json").write_text("mine")
    homes = Homes(tmp_path / "state")
    homes.lend(homes.open(A, 1), (".codex/auth.json",), user)
    home = homes.open(A, 2, before=1)
    homes.lend(home, (".codex/auth.json",), user)
    (home / ".codex/history").write_text("said")
    homes.take_back(A, 2)
    assert [path.name for path in home.rglob("*")] == [".codex", "history"]
    assert [path.name for path in sorted(home.parent.iterdir())] == ["1", "2"]


def test_taking_an_account_back_follows_no_link(tmp_path: Path) -> None:
    user = tmp_path / "user"
    (user / ".codex").mkdir(parents=True)
    (user / ".codex/auth.json").write_text("mine")
    homes = Homes(tmp_path / "state")
    home = homes.open(A, 1)
    homes.lend(home, (".codex/auth.json",), user)
    (home / ".codex/auth.json").unlink()
    (home / ".codex").rmdir()
    (home / ".codex").symlink_to(user / ".codex")
    homes.take_back(A, 1)
    assert (user / ".codex/auth.json").read_text() == "mine"
