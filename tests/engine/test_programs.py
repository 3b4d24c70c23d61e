"""Another program asks how busy a run is, and waits for its end (W14)."""

import asyncio

import pytest

from interlock.engine.project import open_project
from tests.engine.scratch import Scratch

pytestmark = pytest.mark.slow

GIVE_UP_SECONDS = 60.0


def test_a_program_sees_the_free_slots_of_a_run_and_waits_until_it_rests(scratch: Scratch) -> None:
    """W14, P7: no agent ends before the gate opens, so all three work at the same time."""
    gate = scratch.gates / "gate"
    agent = f'while ! test -e "{gate}"; do sleep 0.05; done; echo x > "$INTERLOCK_TASK_ID.txt"'
    scratch.graph("  a: {goal: x}\n  b: {goal: x}\n  c: {goal: x}\n", agent)

    async def program() -> None:
        async with open_project(scratch.root) as project:
            assert not await project.is_running()
            assert await project.free_slots() == 0
            assert await project.wait_until_rest(0)
            run = scratch.start("run", "--max-parallel", "4")
            for name in ("a", "b", "c"):
                await asyncio.to_thread(run.wait_for_line, f"{name}: implement started")
            assert await project.is_running()
            assert await project.free_slots() == 1
            assert not await project.wait_until_rest(0)
            gate.touch()
            assert await project.wait_until_rest(GIVE_UP_SECONDS)
            assert await project.free_slots() == 0
            assert run.wait() == 0

    asyncio.run(program())
    assert scratch.states() == {"a": "done", "b": "done", "c": "done"}


def test_a_task_that_a_program_adds_is_worked_on_by_the_run_that_goes_on(scratch: Scratch) -> None:
    gate = scratch.gates / "gate"
    agent = f'while ! test -e "{gate}"; do sleep 0.05; done; echo x > "$INTERLOCK_TASK_ID.txt"'
    scratch.graph("  a: {goal: x}\n", agent)
    run = scratch.start("run")
    run.wait_for_line("a: implement started")
    scratch.graph("  a: {goal: x}\n  b: {goal: x}\n", agent)

    async def program() -> None:
        async with open_project(scratch.root) as project:
            state = await project.accept_graph(actor="a program")
            assert sorted(state.tasks) == ["a", "b"]

    asyncio.run(program())
    run.wait_for_line("b: implement started")
    gate.touch()
    assert run.wait() == 0
    assert scratch.states() == {"a": "done", "b": "done"}
