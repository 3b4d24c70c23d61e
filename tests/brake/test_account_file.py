"""What is known of a provider is shared by all processes of a user, and never in the way of a call (W11)."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interlock.proxy.brake.account import Account, Member
from interlock.proxy.brake.account_file import AccountFiles, file_name, look_up

NAME = "api.openai.com OPENAI_API_KEY"


def narrow(account: Account) -> None:
    account.throttle.limit.at_once = 5.0


def places(account: Account) -> int:
    return account.throttle.places


def test_what_one_process_finds_out_another_knows(tmp_path: Path) -> None:
    AccountFiles(tmp_path).change(NAME, narrow)
    program = (
        "import pathlib, sys; from interlock.proxy.brake.account_file import AccountFiles;"
        "files = AccountFiles(pathlib.Path(sys.argv[1]));"
        "print(files.change(sys.argv[2], lambda account: account.throttle.places))"
    )
    argv = [sys.executable, "-c", program, str(tmp_path), NAME]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "5\n"
    assert AccountFiles(tmp_path).change("another", places) == 2


def test_a_process_whose_clock_was_a_day_ahead_closes_a_provider_no_longer_than_it_meant_to(
    tmp_path: Path,
) -> None:
    now, day = 1_000_000.0, 86_400.0

    def close(account: Account) -> None:
        account.throttle.until = now + day + 60
        account.throttle.pace.next_start = now + day + 2

    AccountFiles(tmp_path, clock=lambda: now + day).change(NAME, close)
    later = AccountFiles(tmp_path, clock=lambda: now + 1)
    assert later.change(NAME, lambda account: account.throttle.wait_seconds(now + 1, 0)) == 60
    assert later.change(NAME, lambda account: account.throttle.pace.next_start) == now + 3


def test_only_the_user_can_read_it(tmp_path: Path) -> None:
    AccountFiles(tmp_path / "state" / "providers").change(NAME, narrow)
    file = tmp_path / "state" / "providers" / file_name(NAME)
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize("damage", [b"", b"\0" * 400, b'{"provider": "x"', b'{"provider": 3, "account": []}'])
def test_a_damaged_file_is_begun_anew_with_what_this_process_knows(tmp_path: Path, damage: bytes) -> None:
    account_files = AccountFiles(tmp_path)
    account_files.change(NAME, narrow)
    (tmp_path / file_name(NAME)).write_bytes(damage)
    assert account_files.change(NAME, places) == 5
    found = look_up(tmp_path, NAME)
    assert found
    assert found.throttle.places == 5


def test_a_file_that_stays_locked_holds_nobody_up_and_that_is_said(tmp_path: Path) -> None:
    said: list[str] = []
    account_files = AccountFiles(tmp_path, said.append)
    account_files.change(NAME, narrow)
    file = os.open(tmp_path / file_name(NAME), os.O_RDWR)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert account_files.change(NAME, places) == 5
        assert account_files.change(NAME, places) == 5
    finally:
        os.close(file)
    (text,) = said
    assert NAME in text


def test_a_folder_that_cannot_be_made_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    said: list[str] = []
    assert AccountFiles(tmp_path / "state" / "providers", said.append).change(NAME, places) == 2
    assert len(said) == 1


def test_a_link_in_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine")
    (tmp_path / file_name(NAME)).symlink_to(target)
    AccountFiles(tmp_path).change(NAME, narrow)
    assert target.read_text() == "mine"


def test_a_limit_that_the_log_knows_is_where_a_new_file_begins(tmp_path: Path) -> None:
    account_files = AccountFiles(tmp_path)
    account_files.expect(NAME, 9.0)
    assert account_files.change(NAME, places) == 9


def test_looking_at_an_account_takes_no_part_in_it(tmp_path: Path) -> None:
    assert look_up(tmp_path, NAME) is None
    AccountFiles(tmp_path).change(NAME, lambda account: account.report(1.0, "me", Member(2, 3)))
    found = look_up(tmp_path, NAME)
    assert found
    assert (found.under_way, found.waiting) == (2, 3)
