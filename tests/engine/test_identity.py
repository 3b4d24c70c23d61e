"""An incarnation is one start of one process, and never revives."""

import os
import subprocess
import sys

from interlock.engine.identity import is_dead, is_same_boot, new_incarnation
from interlock.model.claim import described


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


def test_a_machine_with_the_same_name_is_not_mistaken_for_this_one() -> None:
    """Two machines on one Postgres: nobody takes over from a run that may be alive."""
    host, _, *rest = new_incarnation().split("/")
    name = host.partition("~")[0]
    assert not is_dead("/".join([f"{name}~0123456789ab", "otherboot", *rest]))
    assert described("/".join([f"{name}~0123456789ab", "otherboot", *rest])).endswith(f" on {name}")


def test_a_clock_that_was_set_right_is_not_a_new_boot() -> None:
    assert is_same_boot("t1700000000", "t1700000059")
    assert not is_same_boot("t1700000000", "t1700000060")
    assert not is_same_boot("4f1c0a2b", "4f1c0a2c")


def test_a_process_that_has_ended_is_dead_before_its_parent_asks_how() -> None:
    """A zombie keeps its pid, and the time that it started at."""
    code = "from interlock.engine.identity import new_incarnation; print(new_incarnation(), flush=True)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is not collected
        assert is_dead(name)
