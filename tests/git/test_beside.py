"""The layers of the checkout are kept for one process, beside those of others."""

import asyncio

import pytest

from interlock.git.beside import CheckoutLayers
from interlock.git.place import Place
from tests.git.world import World, run

pytestmark = pytest.mark.slow


async def _looked_and_gone(place: Place) -> bool:
    layers = CheckoutLayers(place)
    shown = await layers.look()
    is_there = shown.folder.is_dir()
    await layers.close()
    return is_there


async def _at_once(place: Place, count: int) -> list[bool]:
    return await asyncio.gather(*(_looked_and_gone(place) for _ in range(count)))


def test_processes_that_begin_at_once_do_not_remove_the_layers_of_each_other(world: World) -> None:
    place = world.place
    for _ in range(5):
        assert run(_at_once(place, 8)) == [True] * 8
    assert run(_looked_and_gone(place))
    assert list((place.state / "beside").iterdir()) == []  # the last one removes what the others have left
