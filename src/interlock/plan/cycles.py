"""Circles in the needs of tasks."""

from collections.abc import Mapping, Sequence


def cycles(needs: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Circles that share no task, each as the tasks along it, starting with the first in the file.

    What neither leads into a circle nor out of one is stripped off; from what is left, any walk along the
    needs comes back to where it was. Cutting one circle out may free more, so this is repeated until nothing
    is left.
    """
    left = _Left(_unordered(needs))
    found: list[list[str]] = []
    order = {id: number for number, id in enumerate(needs)}
    for start in needs:
        while start in left.needs:
            circle = left.walk(start)
            first = circle.index(min(circle, key=order.__getitem__))
            found.append(circle[first:] + circle[:first])
            left.remove(circle)
    return found


def _unordered(needs: Mapping[str, Sequence[str]]) -> Mapping[str, Sequence[str]]:
    """All but those whose needs stand above them, as most do: they are on no circle, and seen at a glance."""
    above: set[str] = set()
    left: dict[str, Sequence[str]] = {}
    for id, wanted in needs.items():
        if above.issuperset(wanted):
            above.add(id)
        else:
            left[id] = wanted
    return left


class _Left:
    """The tasks that may still be on a circle, in both directions, so that stripping is linear."""

    def __init__(self, needs: Mapping[str, Sequence[str]]) -> None:
        self.needs = {
            id: dict.fromkeys(need for need in wanted if need in needs and need != id)
            for id, wanted in needs.items()
        }
        self._needed_by: dict[str, dict[str, None]] = {id: {} for id in self.needs}
        for id, wanted in self.needs.items():
            for need in wanted:
                self._needed_by[need][id] = None
        self.remove([id for id in self.needs if self._is_loose(id)])

    def walk(self, start: str) -> list[str]:
        """Follow the first need of each until one comes again; from there on it is a circle."""
        seen: dict[str, int] = {}
        id = start
        while id not in seen:
            seen[id] = len(seen)
            id = next(iter(self.needs[id]))
        return list(seen)[seen[id] :]

    def remove(self, ids: list[str]) -> None:
        """Take these out, and with them everything that is then on no circle."""
        while ids:
            id = ids.pop()
            if id not in self.needs:
                continue
            wanted, wanting = self.needs.pop(id), self._needed_by.pop(id)
            for need in wanted:
                self._needed_by.get(need, {}).pop(id, None)
            for other in wanting:
                self.needs.get(other, {}).pop(id, None)
            ids.extend(
                other for other in (*wanted, *wanting) if other in self.needs and self._is_loose(other)
            )

    def _is_loose(self, id: str) -> bool:
        return not self.needs[id] or not self._needed_by[id]
