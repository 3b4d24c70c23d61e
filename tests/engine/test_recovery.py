"""A log that was lost or restored is older than its repository: the next run works at the first try."""

from pathlib import Path

import pytest

from tests.engine.scratch import WAIT, Scratch

pytestmark = pytest.mark.slow

TASKS = "  a: {goal: x}\n  b: {goal: x}\n  c: {goal: x}\n"

NEW_EACH_TIME = 'date +%s%N > "$INTERLOCK_TASK_ID.txt"'
"""What the log no longer knows may be done once more."""


def _lose_log(scratch: Scratch) -> None:
    for path in (scratch.root / ".git" / "interlock").glob("log.db*"):
        path.unlink()


def test_a_restored_log_goes_on_above_the_fence_at_the_first_try(scratch: Scratch) -> None:
    scratch.graph(TASKS, NEW_EACH_TIME)
    scratch.interlock("run", "--only", "a")
    scratch.interlock("events", "--export", "../export")
    scratch.interlock("run", "--only", "b")
    scratch.interlock("run", "--only", "b")
    _lose_log(scratch)
    scratch.interlock("events", "--import", "../export")
    said = scratch.interlock("run")
    assert "the log is older than the repository" in said
    assert set(scratch.states().values()) == {"done"}
    assert "older" not in scratch.interlock("run"), "it is said once"
    scratch.interlock("events", "--verify")


def test_a_fence_or_a_port_beyond_all_limits_is_refused_in_words(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: x}\n")
    scratch.interlock("run")
    lineage = scratch.git("cat-file", "blob", "refs/interlock/fence").split()[1]
    for epoch in (str(2**63 - 1), "9" * 5000):
        (scratch.root.parent / "fence").write_text(f"{epoch} {lineage}\n")
        blob = scratch.git("hash-object", "-w", str(scratch.root.parent / "fence"))
        scratch.git("update-ref", "refs/interlock/fence", blob)
        said = scratch.interlock("run", code=7)
        assert "refs/interlock/fence" in said
    scratch.git("update-ref", "-d", "refs/interlock/fence")  # as the hint says
    scratch.interlock("run")
    scratch.interlock("replay", "9" * 5000, code=2)
    scratch.interlock("run", "--max-parallel", "9" * 5000, code=2)
    (scratch.root / "interlock.toml").write_text(f"metrics_port = {2**62}\n")
    assert "metrics" in scratch.interlock("run", code=7)


def test_after_the_loss_of_the_whole_log_the_next_run_works(scratch: Scratch) -> None:
    scratch.graph(TASKS, NEW_EACH_TIME)
    scratch.interlock("run", "--only", "a")
    scratch.interlock("run", "--only", "b")
    _lose_log(scratch)
    assert "the log is older than the repository" in scratch.interlock("run", "--only", "c")
    assert scratch.states()["c"] == "done"


def test_a_controller_that_is_alive_with_the_old_log_lands_nothing_more(
    scratch: Scratch, gate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = (
        f'if test "$INTERLOCK_TASK_ID" = a; then {WAIT.format(gate=gate)}; fi\necho x > $INTERLOCK_TASK_ID'
    )
    scratch.graph(TASKS, waits)
    old = scratch.start("run", "--only", "a")
    old.wait_for_line("a: implement started")
    monkeypatch.setenv("INTERLOCK_STORE", str(tmp_path / "new.db"))
    assert "the log is older than the repository" in scratch.interlock("run", "--only", "b")
    main = scratch.git("rev-parse", "main")
    gate.touch()
    assert old.wait() != 0, old.output
    assert scratch.git("rev-parse", "main") == main
