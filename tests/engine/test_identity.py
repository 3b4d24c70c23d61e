"""An incarnation is one start of one process, and never revives."""

import os
import subprocess
import sys

from interlock.engine.identity import described, is_dead, new_incarnation


def test_two_incarnations_of_one_process_differ_and_live() -> None:
    first, second = new_incarnation(), new_incarnation()
    assert first != second
    assert not is_dead(first)
    assert described(first).startswith(f"process {os.getpid()} on ")


def test_a_process_that_has_ended_is_known_to_be_dead() -> None:
    code = "from interlock.engine.identity import new_incarnation; print(new_incarnation())"
    gone = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert is_dead(gone)


def test_a_pid_that_was_given_to_another_process_is_not_mistaken_for_the_old_one() -> None:
    parts = new_incarnation().split("/")
    assert is_dead("/".join([*parts[:4], "1", parts[5]]))


def test_another_boot_of_this_machine_is_dead_and_another_machine_cannot_be_known() -> None:
    parts = new_incarnation().split("/")
    assert is_dead("/".join([parts[0], "otherboot", *parts[2:]]))
    assert not is_dead("/".join(["elsewhere", *parts[1:]]))
    assert not is_dead("/".join([*parts[:2], "othernamespace", *parts[3:]]))
    assert not is_dead("something else")
