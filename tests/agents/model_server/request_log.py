"""What the server has seen, per instance, so that a test can ask which credential arrived and how often."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """One request."""

    method: str
    path: str
    """Without the scenario in front."""
    scenario: str
    instance: str
    headers: Mapping[str, str]
    """Names in lower case."""
    query: Mapping[str, str]
    body: str
    protocol: str | None = None
    """None for the questions around the model: its name, its tags, a version."""
    step: int = 0
    fault: str | None = None
    beside_the_work: bool = False
    """A title or a summary, which reports no usage."""


class RequestLog:
    """In the order of arrival. Written on the server's thread, read from any."""

    def __init__(self) -> None:
        self._seen: list[Seen] = []
        self._changed = threading.Condition()  # re-entrant: questions may be asked inside one

    def add(self, seen: Seen) -> None:
        with self._changed:
            self._seen.append(seen)
            self._changed.notify_all()

    def of(self, instance: str) -> list[Seen]:
        with self._changed:
            return [seen for seen in self._seen if seen.instance == instance]

    def calls(self, instance: str) -> list[Seen]:
        """Only what asked the model to work: no questions around it, no titles."""
        return [seen for seen in self.of(instance) if seen.protocol and not seen.beside_the_work]

    def wait_for_calls(self, instance: str, count: int, seconds: float) -> list[Seen]:
        """Return once so many calls have come; a test that waits too long for them fails."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self.calls(instance)) >= count, seconds):
                raise TimeoutError(f"{instance} made {len(self.calls(instance))} calls, not {count}")
            return self.calls(instance)
