"""What goes wrong around the tasks must neither end the loop nor keep it from ending."""

import itertools
import os
import signal
import sqlite3
from pathlib import Path

import psutil
import psycopg
import pytest

from interlock.train.retry import held_seconds
from tests.engine.scratch import WAIT, Background, Scratch

pytestmark = pytest.mark.slow


def test_what_cannot_be_recovered_does_not_keep_the_task_or_the_loop(scratch: Scratch, gate: Path) -> None:
    """D10, W5: the agent wrecked its workspace, and then the whole run was killed."""
    wreck = 'rm -rf "$(git rev-parse --absolute-git-dir)"; echo wrecked; ' + WAIT.format(gate=gate)
    scratch.graph("  t: {goal: x}\n", f'if test "$INTERLOCK_ATTEMPT" = 1; then {wreck}; fi\necho x > x.txt')
    run = _at_work(scratch, "wrecked")
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    scratch.interlock("run")
    assert scratch.states() == {"t": "done"}
    assert len(scratch.facts("PhaseLost")) == 1


@pytest.mark.thorough
def test_with_a_log_that_cannot_be_written_the_second_ctrl_c_still_ends_everything(
    scratch: Scratch, gate: Path
) -> None:
    """The stop is a fact like any other, but it does not wait for the log."""
    scratch.graph("  t: {goal: x}\n", "echo at work\n" + WAIT.format(gate=gate))
    run = _at_work(scratch, "at work")
    log = sqlite3.connect(next((scratch.root / ".git/interlock").glob("*.db")))
    log.execute("BEGIN IMMEDIATE")
    run.interrupt()
    run.wait_for_line("Ctrl-C again")
    run.interrupt()
    run.wait_for_line("leaving")
    log.rollback()
    log.close()
    assert run.wait() == 130
    assert "t" in scratch.states()


def _is_agent(process: psutil.Process) -> bool:
    try:
        return "agent.sh" in process.cmdline()
    except psutil.Error:  # a git process of ours that has ended meanwhile
        return False


def test_with_a_log_that_cannot_be_written_the_second_ctrl_c_ends_agents_at_once(
    scratch: Scratch, gate: Path
) -> None:
    scratch.graph("  t: {goal: x}\n", "echo at work\n" + WAIT.format(gate=gate))
    run = _at_work(scratch, "at work")
    log = sqlite3.connect(next((scratch.root / ".git/interlock").glob("*.db")))
    log.execute("BEGIN IMMEDIATE")
    run.interrupt()
    run.wait_for_line("Ctrl-C again")
    below = psutil.Process(run.pid).children(recursive=True)
    agents = [each for each in below if _is_agent(each)]
    assert agents
    run.interrupt()
    psutil.wait_procs(agents, timeout=60)
    log.rollback()
    log.close()
    assert run.wait() == 130
    assert "leaving before" not in run.output


@pytest.mark.postgres
@pytest.mark.thorough
def test_a_second_signal_ends_a_run_whose_log_never_answers(
    scratch: Scratch, gate: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server hangs: it answers neither a query nor the wish to cancel it."""
    monkeypatch.setenv("INTERLOCK_STORE", postgres_url)
    scratch.graph("  t: {goal: x}\n", "echo at work\n" + WAIT.format(gate=gate))
    run = _at_work(scratch, "at work")
    with psycopg.connect(postgres_url) as db:
        asked = "SELECT pid FROM pg_stat_activity WHERE application_name = 'interlock'"
        servers = [pid for (pid,) in db.execute(asked).fetchall()]
    servers.append(psutil.Process(servers[0]).ppid())
    agents = psutil.Process(run.pid).children(recursive=True)
    for pid in servers:
        os.kill(pid, signal.SIGSTOP)
    try:
        os.kill(run.pid, signal.SIGTERM)
        run.wait_for_line("stopping the agents")
        os.kill(run.pid, signal.SIGTERM)
        assert run.wait() == 130
        _, alive = psutil.wait_procs(agents, timeout=10)
        assert alive == []
    finally:
        for pid in servers:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.thorough
def test_many_checks_may_each_take_their_time(scratch: Scratch) -> None:
    """The limit of a check is per command; only what goes on beyond all of them hangs."""
    scratch.graph(
        "  t: {goal: x, check_timeout: 3s}\n",
        verify=str([f"sleep 0.7; true {number}" for number in range(5)]),
    )
    (scratch.root / "interlock.toml").write_text('stale_after = "1s"\n')
    scratch.commit()
    scratch.interlock("run")
    assert scratch.states() == {"t": "done"}


def test_a_held_landing_names_what_is_in_the_way(scratch: Scratch, gate: Path) -> None:
    """W6: an untracked file of the person's is neither overwritten nor called an uncommitted change."""
    scratch.graph("  t: {goal: x}\n", "echo at work\n" + WAIT.format(gate=gate) + "\necho mine > new.txt")
    run = _at_work(scratch, "at work")
    (scratch.root / "new.txt").write_text("yours\n")
    gate.touch()
    run.wait_for_line("untracked files")
    assert (scratch.root / "new.txt").read_text() == "yours\n"
    (scratch.root / "new.txt").unlink()
    assert run.wait() == 0
    assert (scratch.root / "new.txt").read_text() == "mine\n"


@pytest.mark.parametrize("shortest", [0.5, 2.0])
def test_a_landing_that_is_held_up_for_a_day_does_not_fill_the_log(shortest: float) -> None:
    """It was looked at every five minutes for ever: 576 facts a day."""
    ends = list(itertools.accumulate(held_seconds(shortest, looks) for looks in range(200)))
    assert 2 * sum(end < 86_400 for end in ends) < 150
    assert sum(end < 3600 for end in ends) >= 15, "in the first hour somebody is there"


def _at_work(scratch: Scratch, sign: str) -> Background:
    """A run whose agent has said `sign`."""
    run = scratch.start("run")
    run.wait_for_line("implement started")
    scratch.start("logs", "t", "-f").wait_for_line(sign)
    return run
