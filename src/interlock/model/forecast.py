"""The forecast for a task before it runs: time, money, success, and the paths it will edit."""

from dataclasses import dataclass

from interlock.model.reason import Reason
from interlock.model.task import TaskId


@dataclass(frozen=True, slots=True)
class Chance:
    """A path, and the probability that it is edited."""

    path: str
    """A file, or a glob as the task's definition has it."""
    probability: float
    source: str
    """The origin: `declared`, `touched` (an earlier attempt), `mentioned` (the goal names it) or `companion`
    (it changes with another). Older logs have `similar` (a task like it) and `history` too."""
    why: Reason | None = None
    """The same with the count behind it."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A task under way beside which another is started although both may edit the same paths."""

    task: TaskId
    paths: float
    """The expected number of paths that both edit."""


@dataclass(frozen=True, slots=True)
class Option:
    """One agent that could have the task, and what to expect of it."""

    agent: str
    seconds: float
    success: float
    cost_usd: float | None = None

    def to_land(self, in_money: bool) -> float:
        """Return the expected cost until a change has landed: money, or time if not all costs are known."""
        spent = self.cost_usd if in_money and self.cost_usd is not None else self.seconds
        return spent / max(self.success, 1e-9)


@dataclass(frozen=True, slots=True)
class Forecast:
    """Time, money and success of one attempt by one agent, and where it will edit."""

    category: str
    category_why: Reason | None
    """`declared`, or what it was inferred from."""
    agent: str
    seconds: float
    """Agent time, the median."""
    seconds_p90: float
    success: float
    """The probability that one attempt lands."""
    cost_usd: float | None = None
    cost_usd_p90: float | None = None
    evidence: float = 0.0
    """The number of attempts of this kind behind it, older ones counting less."""
    footprint: tuple[Chance, ...] = ()
    complexity: str = ""
    """`low`, `medium` or `high`: what its definition says, or what it looks like."""
    is_guess: bool = False
    """No estimate and no attempt says how long it takes. `seconds` is then a number to plan with."""
    options: tuple[Option, ...] = ()
    """Every agent that could have it, the best first; `agent` is the first of them."""
