"""A canary: main with one place broken on purpose. Checks that stay green on it do not test the change."""

from collections.abc import Sequence
from dataclasses import dataclass

from interlock.model.task import Tree

PLACES = 3
"""The number of places broken, one after the other, before the checks count as blind: one function may be
untested."""


@dataclass(frozen=True, slots=True)
class Canary:
    """A tree that nothing refers to, with one place of it broken."""

    name: str
    """The broken place, as people name it: `shapes.area`."""
    path: str
    tree: Tree
    calm: Tree | None = None
    """The same tree, but what is put into it never breaks anything: what is red on it too reads the text, and
    does not run it. None: the file cannot be read any more, so whatever reads it notices."""


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """The verdict of a project's checks on its canaries."""

    noticed: bool
    places: tuple[str, ...] = ()
    """The broken places, one after the other; if one was noticed, it is the last. Empty: nothing to break."""
    seconds: float = 0.0
    """The time the checks took to notice the last."""
    run: str = ""
    """The run that tried it; empty: none."""
    given_up: bool = False
    """Not all places were tried: the checks take too long for that."""
    by_build: bool = False
    """A break was noticed, but only by what reads the code: a compiler or a linter."""
    noticed_by: tuple[str, ...] = ()
    """The commands that noticed."""

    @property
    def is_blind(self) -> bool:
        """Tell if the checks were seen not to run code that was broken."""
        return bool(self.places) and not self.noticed

    @property
    def is_settled(self) -> bool:
        """Tell if another trial would say the same: a break was noticed. Where there was nothing to break,
        source code may have landed since.

        A result without the commands that noticed is of a version that a linter could satisfy.
        """
        return bool(self.noticed and self.noticed_by)

    @property
    def is_untried(self) -> bool:
        """Tell if nothing was broken: the checks take too long, or nothing was found to break."""
        return not self.places


def canary_key(commands: Sequence[str], environment: str) -> str:
    return "\n".join((environment, *commands))
