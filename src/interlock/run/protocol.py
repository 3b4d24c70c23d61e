"""What the engine asks of an executor: carry out one attempt, wherever that may be."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from interlock.model.outcome import Order, Report
from interlock.model.task import TaskId


class Executor(Protocol):
    """Carries out attempts. `local` is this machine; others may come."""

    async def carry_out(self, order: Order, exited: Callable[[], Awaitable[None]]) -> Report:
        """Workspace, agent, import, in that order.

        `exited` is awaited once, when the agent's process tree has ended: its slot is free. Cancelling ends
        the whole tree; what it wrote is still archived by `recover`. An order whose lease is over is refused
        with `StaleEpoch`: somebody else may be in charge by now.
        """
        ...

    def extend(self, task: TaskId, attempt: int, seconds: float) -> None:
        """The claim was renewed: the attempt may live this much longer. Without it, it ends by itself."""
        ...

    def last_line(self, task: TaskId, attempt: int) -> str:
        """What the agent said last, as one short line that is safe to show; '' if it does not run."""
        ...

    async def recover(self, task: TaskId, attempt: int) -> str:
        """Nothing of a lost attempt may run or ever start; what it left is archived: the ref, or ''.

        What cannot be archived because the agent damaged it is kept as evidence. A full disk is raised.
        """
        ...
