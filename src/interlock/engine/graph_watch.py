"""Takes up changes of the task graph while a run goes on, as `plan/difference.py` decides.

1. A file that is still being written is left alone: it counts when it is the same at two looks.
2. One that cannot be accepted is reported once, and the run goes on with the last good one.
"""

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from typing import Protocol

from interlock.engine.ledger import Ledger, Tell
from interlock.events.facts import Fact, TaskAccepted, TaskRemoved
from interlock.events.state import State
from interlock.model.claim import Claim
from interlock.model.errors import UserError
from interlock.model.task import TaskId
from interlock.plan import Graph, changes_during_run

EVERY_SECONDS = 1.0


class GraphSource(Protocol):
    """The file that the plan is in."""

    async def text(self) -> bytes | None:
        """Return the content of the file now; None if there is nothing to read."""
        ...

    async def graph(self, text: bytes) -> Graph:
        """The graph that a text describes. Raises `UserError` if it cannot be accepted."""
        ...


class GraphWatch:
    """Looks at the file again and again, and writes down what changed."""

    def __init__(self, source: GraphSource, ledger: Ledger, claim: Claim, tell: Tell) -> None:
        self._source = source
        self._ledger = ledger
        self._claim = claim
        self._tell = tell
        self._last = b""
        """The text at the look before."""
        self._settled = ""
        """The digest of the text that was dealt with last, good or bad."""

    async def watch(self) -> None:
        """Look at the file until cancelled."""
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Take up what changed, if it is whole."""
        text = await self._source.text()
        last, self._last = self._last, text or b""
        if not text or text != last:
            return
        digest = sha256(text).hexdigest()
        if digest in (self._settled, self._ledger.state.graph.digest):
            return
        self._settled = digest
        try:
            graph = await self._source.graph(text)
            facts, kept = changes_during_run(self._ledger.state, graph)
        except UserError as problem:
            first, *rest = str(problem).splitlines()
            if first.endswith(":"):
                first = f"{first} {', '.join(line.strip() for line in rest)}"
            self._tell(f"{first}; the run continues with the last valid graph")
            return
        counted = _counted(self._ledger.state, facts)
        await self._ledger.append(facts, self._claim)
        self._tell(f"{graph.source} changed: {counted}")
        for task in kept:
            self._tell(
                f"{task} has started and is no longer in {graph.source}; it continues. "
                f"To cancel it: interlock cancel {task}"
            )


def _counted(state: State, facts: Sequence[Fact]) -> str:
    accepted = [fact.task.id for fact in facts if isinstance(fact, TaskAccepted)]
    groups: dict[str, list[TaskId]] = {
        "new": [name for name in accepted if not state.knows(name)],
        "changed": [name for name in accepted if state.knows(name)],
        "removed": [fact.task for fact in facts if isinstance(fact, TaskRemoved)],
    }
    said = [
        f"{word}: {', '.join(names[:5])}" + (" ..." if len(names) > 5 else "")
        for word, names in groups.items()
        if names
    ]
    return "; ".join(said) or "the tasks are the same"
