"""Finds the landed change that a change fails together with, from results that are known already.

Pure: it knows the results on each state of main, and neither State nor the repository.
"""

from collections.abc import Sequence


def suspects(before: Sequence[bool | None]) -> range | None:
    """Return the positions of the landings that made a check of a change red; None: nothing is known.

    `before` has the known result of the check for the change on main as it was before each landing, oldest
    first. On main after all of them it is red.
    """
    green = next((at for at in reversed(range(len(before))) if before[at]), None)
    if green is None:
        return None
    red = next((at for at in range(green + 1, len(before)) if before[at] is False), len(before))
    return range(green, red)
