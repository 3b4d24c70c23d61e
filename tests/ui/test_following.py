"""Commands that stay: `events -f`, `status -w`, `logs -f`, `wait` see new facts, and Ctrl-C ends them."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from interlock.events.facts import Paused, RunEnded, RunStarted
from interlock.model.claim import CONTROLLER
from interlock.model.reason import Reason, Why
from interlock.ui.cli.exits import ExitCode
from tests.ui.conftest import Lab, task
from tests.warm import INTERLOCK, start_on_terminal

pytestmark = pytest.mark.slow


@contextmanager
def following(lab: Lab, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "interlock", *words],
        cwd=lab.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline()


def test_events_are_followed_until_ctrl_c(lab: Lab) -> None:
    lab.accept(task("a"))
    with following(lab, "events", "-f", "--json") as process:
        assert json.loads(line(process))["kind"] == "TaskAccepted"
        lab.write(Paused(None, "lunch"))
        assert json.loads(line(process))["fact"] == {
            "task": None,
            "why": "lunch",
            "losses": 0,
            "reason": None,
        }
        process.send_signal(signal.SIGINT)
        assert process.wait() == ExitCode.INTERRUPTED
        assert process.stderr
        assert "Traceback" not in process.stderr.read()


def test_the_status_is_watched_as_documents(lab: Lab) -> None:
    lab.accept(task("a"))
    with following(lab, "status", "-w", "--json") as process:
        assert json.loads(line(process))["paused"] is False
        lab.write(Paused())
        assert json.loads(line(process))["paused"] is True


def test_in_a_pipe_the_status_is_watched_as_documents_only(lab: Lab) -> None:
    lab.accept(task("a"))
    refused = lab.run("status", "-w")
    assert (refused.code, "interlock events -f" in refused.err) == (2, True)


def test_wait_ends_when_the_run_does(lab: Lab) -> None:
    lab.accept(task("a"))
    lab.take_charge(RunStarted("r", "h", 1, 3))
    with following(lab, "wait") as process:
        lab.write(RunEnded("r", Reason(Why.AT_REST)))
        lab.release(CONTROLLER)
        assert process.wait() == ExitCode.FAILED


def test_a_log_is_followed_to_the_end_of_its_attempt(lab: Lab) -> None:
    lab.accept(task("a"))
    lab.start("a")
    path = lab.root / ".git/interlock" / "logs" / "a" / "1.log"
    path.parent.mkdir(parents=True)
    path.write_text("one\n")
    with following(lab, "logs", "a", "-f") as process:
        assert line(process) == "one\n"
        with path.open("a") as file:
            file.write("two\n")
        assert line(process) == "two\n"
        assert lab.run("reset", "a").code == 0
        assert process.wait() == 0


def test_on_a_terminal_the_status_is_a_picture(lab: Lab) -> None:
    lab.accept(task("alpha"))
    env = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"}
    process, mine = start_on_terminal([*INTERLOCK, "status", "-w"], lab.root, env)
    try:
        assert _shows(mine, "alpha")
        lab.write(Paused(None, "lunch"))
        assert _shows(mine, "paused: lunch")
        process.send_signal(signal.SIGINT)
        while _shows(mine, "nothing more"):
            pass
        assert process.wait() == ExitCode.INTERRUPTED
    finally:
        process.kill()
        process.wait()
        os.close(mine)


def _shows(terminal: int, words: str) -> bool:
    """Read until these words appear; False when the other side is closed."""
    seen = ""
    while select.select([terminal], [], [], 60)[0]:
        try:
            seen += os.read(terminal, 65536).decode("utf-8", "replace")
        except OSError:
            return False
        if words in seen:
            return True
    return False
