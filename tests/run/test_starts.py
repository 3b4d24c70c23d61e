"""Imports let agents start first, but not for ever (P4)."""

import asyncio

from interlock.run.starts import Starts


def test_an_import_waits_for_those_that_are_about_to_start() -> None:
    async def scenario() -> list[str]:
        starts, seen = Starts(), list[str]()
        starts.begin("a")
        starts.begin("b")

        async def imported() -> None:
            await starts.let_go_first()
            seen.append("imported")

        importing = asyncio.create_task(imported())
        for name in ("a", "b"):
            await asyncio.sleep(0)
            starts.over(name)
            seen.append(f"{name} started")
        await importing
        return seen

    assert asyncio.run(scenario()) == ["a started", "b started", "imported"]


def test_an_import_that_finds_nobody_or_waits_too_long_goes_on() -> None:
    async def scenario() -> None:
        starts = Starts(patience_seconds=0.01)
        await starts.let_go_first()
        starts.foresee(1)
        starts.begin("stuck")
        await starts.let_go_first()

    asyncio.run(scenario())
