"""Settings about where a tested change goes. `Settings` has all the others."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class LandingSettings:
    """Where tested changes go."""

    land: Literal["branch", "push"] = "branch"
    """The place where tested changes land. `branch`: your branch, here. `push`: the branch that it follows on
    a remote, and your branch after that."""
