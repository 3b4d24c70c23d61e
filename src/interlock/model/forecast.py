"""What is expected of a task before it runs."""

from dataclasses import dataclass

from interlock.model.task import TaskId


@dataclass(frozen=True, slots=True)
class Chance:
    """How likely a path is to be edited."""

    path: str
    """A file, or a glob as the task's definition has it."""
    probability: float
    source: str
    """What says so: `declared`, `touched` (an earlier attempt), `similar` (a task like it), `mentioned` (the
    goal names it), `history` (often edited where the task says) or `companion` (it changes with another)."""
    why: str = ""
    """The same in words, with the count behind it."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A task under way beside which another is started although both may edit the same paths."""

    task: TaskId
    paths: float
    """How many paths both will edit, as expected."""


@dataclass(frozen=True, slots=True)
class Option:
    """One agent that could have the task, and what to expect of it."""

    agent: str
    seconds: float
    success: float
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Forecast:
    """Time, money and success of one attempt by one agent, and where it will edit."""

    category: str
    category_why: str
    """`declared`, or what it was inferred from."""
    agent: str
    seconds: float
    """Of agent time, the median."""
    seconds_p90: float
    success: float
    """The probability that one attempt lands."""
    cost_usd: float | None = None
    cost_usd_p90: float | None = None
    evidence: float = 0.0
    """How many attempts of this kind stand behind it, older ones counting less."""
    footprint: tuple[Chance, ...] = ()
    complexity: str = ""
    """`low`, `medium` or `high`: what its definition says, or what it looks like."""
    is_guess: bool = False
    """Nothing says how long it takes: no estimate, no attempt. `seconds` is then a number to plan with."""
    options: tuple[Option, ...] = ()
    """Every agent that could have it, the best first; `agent` is the first of them."""
