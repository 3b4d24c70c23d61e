"""A canary: main with one place broken on purpose. Checks that stay green on it do not test the change."""

from collections.abc import Sequence
from dataclasses import dataclass

from interlock.model.task import Tree

PLACES = 3
"""How many places are broken, one after the other, before it is said that the checks notice nothing: one
function may be untested."""


@dataclass(frozen=True, slots=True)
class Canary:
    """A tree that nothing refers to, with one place of it broken."""

    name: str
    """What is broken, as people name it: `shapes.area`."""
    path: str
    tree: Tree


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """What the checks of a project said of its canaries."""

    noticed: bool
    places: tuple[str, ...] = ()
    """What was broken, one after the other; if it was noticed, the last. Empty: there is nothing to break."""
    seconds: float = 0.0
    """How long the checks took to notice the last."""
    run: str = ""
    """The run that tried it; empty: none."""

    @property
    def is_blind(self) -> bool:
        """Were the checks seen to stay green on code that was broken."""
        return bool(self.places) and not self.noticed


def canary_key(commands: Sequence[str], environment: str) -> str:
    """Where the result of a project's checks in an environment is kept."""
    return "\n".join((environment, *commands))
