"""Waits that a run does without, seen from outside: git processes, folders, the file of the log (P7)."""

import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch
from tests.run.tree import linux, until

pytestmark = [linux, pytest.mark.slow, pytest.mark.night]  # how it is done, not what it does

MAKE = 'echo x > "$INTERLOCK_TASK_ID.txt"'
WAL_HEADER, FRAME_HEADER = 32, 24


def test_a_landing_looks_only_at_the_files_that_it_changes(
    scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch.graph("  a: {goal: x}\n  b: {goal: x}\n", MAKE)
    said, program = scratch.root.parent / "said", scratch.root.parent / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$*" >> "{said}"\nexec {shutil.which("git")} "$@"\n')
    program.chmod(0o755)
    with monkeypatch.context() as before_it:
        before_it.setenv("PATH", str(program.parent), prepend=":")
        scratch.interlock("run")
    assert scratch.states() == {"a": "done", "b": "done"}
    lines = [line for line in said.read_text().splitlines() if " status --porcelain " in line]
    asked = sorted(line.rpartition(" -- ")[2] for line in lines if f"--work-tree={scratch.root} " in line)
    assert asked[-2:] == ["a.txt", "b.txt"]
    assert len(asked) == 3  # and once for all files, before the run begins


def test_all_starts_of_a_round_wait_for_the_disk_once(scratch: Scratch, gate: Path) -> None:
    """Each transaction of the log is a frame with a mark; those up to it show what it brought."""
    names = "abcdef"
    scratch.graph("".join(f"  {name}: {{goal: x}}\n" for name in names), f"{WAIT.format(gate=gate)}; {MAKE}")
    run = scratch.start("run", "--max-parallel", "6")
    for name in names:
        run.wait_for_line(f"{name}: implement started")
    starts = list(starts_after_each_transaction(scratch.root / ".git/interlock" / "log.db", scratch.gates))
    gate.touch()
    assert run.wait() == 0
    assert starts[0] == 0
    assert set(starts) == {0, 6}


def starts_after_each_transaction(log: Path, folder: Path) -> Iterator[int]:
    """How many starts a reader finds if the log ends there."""
    copy = folder / "log.db"
    written, data = Path(f"{log}-wal").read_bytes(), log.read_bytes()
    step = FRAME_HEADER + struct.unpack(">I", written[8:12])[0]
    for end in range(WAL_HEADER + step, len(written) + 1, step):
        (pages,) = struct.unpack(">I", written[end - step + 4 : end - step + 8])
        if pages:
            copy.write_bytes(data)
            Path(f"{copy}-wal").write_bytes(written[:end])
            with closing(sqlite3.connect(copy)) as db:
                yield db.execute("SELECT count(*) FROM facts WHERE kind = 'PhaseStarted'").fetchone()[0]


def test_what_is_no_longer_needed_is_deleted_while_the_run_goes_on_and_nobody_waits_for_it(
    scratch: Scratch, gate: Path
) -> None:
    agent = f'if test "$INTERLOCK_TASK_ID" = b; then {WAIT.format(gate=gate)}; fi; {MAKE}'
    scratch.graph("  a: {goal: x}\n  b: {goal: x}\n", agent)
    run = scratch.start("run", "--max-parallel", "2")
    run.wait_for_line("a: landed")
    run.wait_for_line("b: implement started")
    state = scratch.root / ".git/interlock"
    until(lambda: not (state / "workspaces" / "a").exists() and not [*(state / "trash").iterdir()])
    assert not run.has_ended
    gate.touch()
    assert run.wait() == 0
