"""The pool's figures: as facts, in status, and for Prometheus (P3, A21)."""

import http.client
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from interlock.engine.slots import RoleSlots, Slots
from interlock.events.state import State
from interlock.events.state_parts import Provider
from interlock.model.pool import PoolFigures, missed
from interlock.ui.queries.metrics import MOST_LABELS, exposition
from tests.engine.scratch import WAIT, Scratch
from tests.ui import exposition_text
from tests.ui.exposition_text import Samples


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Scratch]:
    scratch = Scratch(tmp_path / "repository")
    yield scratch
    scratch.close()


@pytest.fixture
def port() -> Iterator[int]:
    """A port that is kept for the run: nobody else is given it, and who names it may still listen there."""
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", 0))
        yield int(keeper.getsockname()[1])


def ask(port: int, path: str = "/metrics", host: str = "") -> tuple[int, str, str]:
    """Status, type and text of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path, headers={"Host": host or f"127.0.0.1:{port}"})
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()
    finally:
        connection.close()


def scrape(port: int) -> Samples:
    status, kind, text = ask(port)
    assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
    return exposition_text.read(text)


@pytest.mark.slow
def test_a_run_serves_its_figures_while_it_goes_on_and_only_to_this_machine(
    scratch: Scratch, port: int
) -> None:
    gate = scratch.gates / "open"
    agent = f"{WAIT.format(gate=gate)}; echo x > $INTERLOCK_TASK_ID.txt"
    scratch.graph("  a: {goal: x, category: docs}\n  b: {goal: x}\n  c: {goal: x, needs: [a]}\n", agent)
    run = scratch.start("run", "--max-parallel", "1", "--metrics-port", str(port))
    run.wait_for_line("a: implement started")
    found = scrape(port)
    assert found["interlock_slots_in_use"]['role="all"'] == found["interlock_slots_limit"]['role="all"'] == 1
    assert found["interlock_queue_length"][""] == 1
    assert found["interlock_tasks"]['stage="running"'] == found["interlock_run_live"][""] == 1
    assert found["interlock_attempts_total"][""] == 1
    assert ask(port, "/")[0] == 404
    assert ask(port, host="rebound.example:80")[0] == 403
    with socket.create_connection(("127.0.0.1", port)) as garbage:
        garbage.sendall(b"GET / HTTP/1.1\r\nContent-Length: -3\r\n\r\n")
        assert b"400" in garbage.recv(64)
    assert "slots: 1 of 1 in use, 1 task ready to start" in scratch.interlock("status")
    gate.touch()
    assert run.wait() == 0
    assert "Traceback" not in run.output
    with pytest.raises(ConnectionRefusedError):
        ask(port)


@pytest.mark.slow
def test_while_a_run_goes_on_nothing_is_told_of_the_one_before(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: x}\n")
    scratch.interlock("run")
    gate = scratch.gates / "open"
    scratch.graph("  a: {goal: x}\n  b: {goal: x}\n", f"{WAIT.format(gate=gate)}; echo x > b.txt")
    run = scratch.start("run", "--max-parallel", "1")
    run.wait_for_line("b: implement started")
    [line] = [line for line in scratch.interlock("status").splitlines() if line.startswith("slots")]
    assert line == "slots: 1 of 1 in use, 0 tasks ready to start"
    gate.touch()
    assert run.wait() == 0


@pytest.mark.slow
def test_a_run_writes_its_figures_down_and_marks_what_misses_its_target(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: x}\n", "test $INTERLOCK_ATTEMPT = 2 && echo x > a.txt")
    scratch.interlock("run")
    (fact,) = (row["fact"]["figures"] for row in scratch.facts("PoolMeasured"))
    assert (fact["attempts"], fact["landed"], fact["retry_rate"], fact["conflicts"]) == (2, 1, 0.5, 0)
    assert 0 < fact["utilization"] <= 1
    assert 0 <= fact["idle_share"] <= 1
    pool = scratch.status()["pool"]
    assert pool["figures"] == fact
    assert "retry_rate" in pool["missed"]
    told = scratch.interlock("status")
    assert "last run: 2 attempts, each after " in told
    assert "50% retries (target: 5%)" in told


@pytest.mark.slow
def test_a_port_that_somebody_else_has_is_said_before_anything_starts(scratch: Scratch) -> None:
    scratch.graph("  a: {goal: x}\n")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = scratch.interlock("run", "--metrics-port", str(port), code=7)
    assert f"metrics cannot be served on port {port}" in said
    assert scratch.facts("RunStarted") == []


def test_labels_are_bounded_and_written_so_that_they_can_be_read() -> None:
    state = State()
    state.limits.brakes = {f"host{n}": Provider(2.0, None, 0.0, 0.0, calls=n) for n in range(MOST_LABELS + 5)}
    state.limits.brakes['a"b\\c\nd'] = Provider(1.0, None, 0.0, 1.0, calls=1_000)
    roles = {"critic": RoleSlots(1, 0, 1)}
    found = exposition_text.read(exposition(state, Slots(3, 1, 2, 0, roles), PoolFigures(), is_live=False))
    calls = found["interlock_provider_calls_total"]
    assert len(calls) == MOST_LABELS
    assert calls[r'provider="a\"b\\c\nd"'] == 1_000
    assert found["interlock_slots_free"] == {'role="all"': 2, 'role="critic"': 1}


def test_targets_are_missed_only_above_them() -> None:
    assert missed(PoolFigures(retry_rate=0.05, idle_share=0.1)) == ()
    assert missed(PoolFigures(retry_rate=0.06, conflicts=1)) == ("retry_rate", "conflicts")
