"""What is done at the same time ends together, too: a check does not run on when its result is void."""

import asyncio

import pytest

from interlock.engine.hands import both


def test_both_bring_what_they_made() -> None:
    async def made(value: int) -> int:
        await asyncio.sleep(0)
        return value

    assert asyncio.run(both(made(1), made(2))) == (1, 2)


@pytest.mark.parametrize("slow_first", [True, False])
def test_when_one_fails_nothing_of_the_other_goes_on_and_then_it_is_heard_of(slow_first: bool) -> None:
    told: list[str] = []

    async def check() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # as ending a process takes a moment
            told.append("ended")

    async def commit() -> None:
        await asyncio.sleep(0)
        raise OSError("the disk is full")

    async def story() -> None:
        with pytest.raises(OSError, match="full"):
            await (both(check(), commit()) if slow_first else both(commit(), check()))
        told.append("heard")

    asyncio.run(story())
    assert told == ["ended", "heard"]


def test_whoever_is_stopped_leaves_neither_of_both() -> None:
    told: list[str] = []

    async def wait(name: str) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            told.append(name)

    async def story() -> None:
        task = asyncio.create_task(both(wait("a"), wait("b")))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert sorted(told) == ["a", "b"]

    asyncio.run(story())
