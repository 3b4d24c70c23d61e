"""Trees whose files are all new: their times are not set under a mounted overlay."""

import asyncio
import os
from pathlib import Path

from interlock.git.trees import Pristine, Trees
from tests.git.world import World, git


def times(tree: Pristine) -> list[int]:
    return [path.stat().st_mtime_ns for path in sorted(tree.files.rglob("*")) if path.is_file()]


def age(tree: Pristine) -> list[int]:
    """Set all files to 1970; their times."""
    for path in tree.files.rglob("*"):
        os.utime(path, ns=(0, 0))
    return times(tree)


def test_a_tree_that_is_in_use_keeps_its_times_and_a_free_one_is_made_new(world: World) -> None:
    place, tree = world.place, git(world.root, "rev-parse", f"{world.main}^{{tree}}")

    async def story() -> None:
        ours, theirs = Trees(place, is_new=True), Trees(place, is_new=True)
        first = (await ours.near(tree, Path("a"))).pristine
        old = age(first)
        second = (await ours.near(tree, Path("b"))).pristine
        assert second != first and times(first) == old
        ours.release(Path("a"))
        ours.release(Path("b"))
        age(second)
        third = (await ours.near(tree, Path("c"))).pristine
        assert third == second and min(times(third)) > 0
        # Another process looks for the newest one, and must leave it as it is.
        old = age(third)
        fourth = (await theirs.near(tree, Path("d"))).pristine
        assert fourth != third and times(third) == old
        await theirs.close()
        await ours.close()
        assert (await ours.near(tree, Path("e"))).pristine == fourth
        await ours.close()

    asyncio.run(story())
