"""What an attempt leaves that was cut off: its work is archived, and its processes end (W5, D10)."""

import asyncio
import os
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from interlock.model.errors import EnvironmentProblem
from interlock.model.task import AttemptKey, TaskId
from interlock.process import LocalProcesses
from interlock.process.survivors import end_survivors, take_note
from interlock.run.launch_context import PID_FILE
from tests.run.desk import FIRST, TASK, Desk
from tests.run.tree import DAEMON, Marked, children, driver, linux, marked

pytestmark = [linux, pytest.mark.slow]


def cancelled_when_up(desk: Desk, here: Marked, after: Callable[[], Awaitable[object]]) -> None:
    async def scenario() -> None:
        order = desk.order(
            f'echo half > file; {DAEMON} touch "$UP.ready"; while :; do sleep 600; done', agent_env=here.env
        )
        running = asyncio.create_task(desk.executor.carry_out(order))
        await asyncio.to_thread(here.wait_until, Path(here.env["UP"] + ".ready").exists)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await after()

    asyncio.run(scenario())


def test_what_a_cancelled_attempt_wrote_is_archived_by_recover_and_only_once(
    desk: Desk, tmp_path: Path
) -> None:
    here = marked(tmp_path)
    refs: list[str] = []

    async def recover() -> None:
        assert here.alive() == []
        refs.extend(
            [
                await desk.executor.recover(FIRST),
                await desk.executor.recover(FIRST),
            ]
        )

    cancelled_when_up(desk, here, recover)
    assert desk.git("show", f"{refs[0]}:file") == "half"
    assert refs[1] == ""
    assert desk.left() is None


def test_recovering_what_never_was_gives_nothing(desk: Desk) -> None:
    assert asyncio.run(desk.executor.recover(AttemptKey(TaskId("other"), 7))) == ""


@pytest.mark.crash
def test_survivors_of_an_attempt_end_before_it_is_archived(desk: Desk, tmp_path: Path) -> None:
    """Supervisors end with their engine; should one not, whoever recovers ends it."""
    here = marked(tmp_path)

    async def scenario() -> str:
        workspace = await desk.workspaces.open(TASK, 1, desk.base)
        engine = driver("", str(here.folder), here.mark, "0", "while :; do sleep 600; done")
        await asyncio.to_thread(here.wait_until, lambda: (here.folder / "pid").exists() and here.alive())
        (here.folder / "pid").rename(workspace.home / PID_FILE)
        ref = await desk.executor.recover(FIRST)
        assert here.alive() == []
        engine.communicate()
        return ref

    assert asyncio.run(scenario())


def test_a_process_that_only_has_the_same_number_is_left_alone(tmp_path: Path) -> None:
    stranger = subprocess.Popen(["sleep", "600"])
    try:
        note = tmp_path / "pid"
        take_note(note, stranger.pid, "mark")
        note.write_text(note.read_text().replace("/", "/9"))
        end_survivors(note)
        assert stranger.poll() is None
        assert not note.exists()
    finally:
        stranger.kill()
        stranger.wait()


def test_a_process_that_only_has_to_be_reaped_is_not_waited_for(tmp_path: Path) -> None:
    """Its parent may be stopped."""
    ended = subprocess.Popen(["true"])
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
    note = tmp_path / "pid"
    take_note(note, ended.pid, "mark")
    end_survivors(note)
    assert not note.exists()
    assert ended.wait() == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"pid": 1}',
        "[]",
        '{"pid": 2, "started": "", "mark": null}',
        '{"pid": 2, "started": "", "mark": ""}',
        '{"pid": "self", "started": "", "mark": "x"}',
    ],
)
def test_a_half_written_note_is_thrown_away(tmp_path: Path, text: str) -> None:
    note = tmp_path / "pid"
    note.write_text(text)
    end_survivors(note)
    assert not note.exists()


def test_a_note_that_cannot_be_taken_ends_the_program(tmp_path: Path) -> None:
    here, others = marked(tmp_path), children()
    command = replace(here.command("sleep 600"), pid_file=str(tmp_path / "missing" / "pid"))
    with pytest.raises(EnvironmentProblem, match="cannot write"):
        asyncio.run(LocalProcesses().run(command))
    here.wait_until(lambda: not here.alive())
    assert children() <= others
