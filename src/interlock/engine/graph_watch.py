"""Takes up changes of the task graph while a run goes on.

1. A file that is still being written is left alone: it counts when it is the same at two looks.
2. One that cannot be accepted is reported once, and the run goes on with the last good one.
3. A task that was begun is not given up because its lines are gone: they may have been cut to be pasted. A
   person cancels it, or is asked at the next `interlock run`.
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
from interlock.plan import Graph, changes

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
        if digest in (self._settled, self._ledger.state.digest):
            return
        self._settled = digest
        try:
            graph = await self._source.graph(text)
            facts = changes(self._ledger.state, graph)
        except UserError as problem:
            first = str(problem).splitlines()[0]
            self._tell(f"{first}; the run continues with the last valid graph")
            return
        await self._take_up(graph, facts)

    async def _take_up(self, graph: Graph, facts: Sequence[Fact]) -> None:
        state = self._ledger.state
        begun = [fact for fact in facts if isinstance(fact, TaskRemoved) and state.tasks[fact.task].attempt]
        facts = [fact for fact in facts if fact not in begun]
        await self._ledger.append(facts, self._claim)
        self._tell(f"{graph.source} changed: {_counted(state, facts)}")
        for fact in begun:
            self._tell(
                f"{fact.task} has started and is no longer in {graph.source}; it continues. "
                f"To cancel it: interlock cancel {fact.task}"
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
