"""Facts about a session do not grow with what its program prints."""

import asyncio
from dataclasses import replace

import pytest

from interlock.model.task import Commit
from interlock.run.conversation import NAMES_MOST
from interlock.run.executor import NO_NEWS
from tests.run.test_lent_accounts import Desk, desk
from tests.run.tree import linux

__all__ = ["desk"]
pytestmark = [linux, pytest.mark.slow]
PRINTS = """i=0; while [ $i -lt 500 ]; do i=$((i+1))
for again in 1 2; do echo "{\\"type\\":\\"thread.started\\",\\"thread_id\\":\\"n$i\\"}"; done; done"""


def test_a_program_that_names_its_session_without_end_is_heard_a_few_times(desk: Desk) -> None:
    names: list[str] = []

    async def opened(session: str, _sandbox: str, _base: Commit) -> None:
        names.append(session)

    listening = replace(NO_NEWS, opened=opened)
    report = asyncio.run(desk.executor.carry_out(desk.codex(PRINTS), listening))
    assert names == ["s", *(f"n{number}" for number in range(1, NAMES_MOST + 1))]
    assert report.session == "n500"
