"""Sums over all runs of a log, which each fact changes in constant time.

Rules:
1. Only what the fold takes in is counted: what comes late, or stands in the log twice, changes nothing.
2. Counts fade: each run after one with anything to count makes them weigh a little less.
"""

from dataclasses import dataclass, field, fields

from interlock.model.numbers import logarithm

DECAY = 0.98
"""A run. What is fifty runs old counts about a third: enough to forget a model that was replaced."""
MOST_AGENTS = 1_000
"""The most agents at once that are counted: a wrong time in a log makes any number."""


@dataclass(slots=True)
class Sums:
    """Sums of pairs of logarithms: the measured value (y), and the task's own estimate (x)."""

    count: float = 0.0
    y: float = 0.0
    yy: float = 0.0
    x: float = 0.0
    xx: float = 0.0
    xy: float = 0.0

    def add(self, measured: float, estimate: float = 1.0) -> None:
        y, x = logarithm(measured), logarithm(estimate)
        self.count += 1
        self.y, self.yy = self.y + y, self.yy + y * y
        self.x, self.xx = self.x + x, self.xx + x * x
        self.xy += x * y


@dataclass(slots=True)
class Tally:
    """Results of attempts at one kind of work by one agent with one model."""

    category: str
    agent: str
    model: str
    landed: float = 0.0
    failed: float = 0.0
    """By the attempt's own fault; not because a model, a machine or a person was in the way."""
    conflicts: float = 0.0
    """Attempts that conflicted with changes of others."""
    green: float = 0.0
    red: float = 0.0
    """Changes that passed their checks on main, and those that did not or conflicted."""
    seconds: Sums = field(default_factory=Sums)
    """Times of agents that left a change or ran out of time. Only `y` counts: `x` may be a default."""
    estimated: Sums = field(default_factory=Sums)
    """Times of tasks that had an estimate, beside it."""
    check_seconds: Sums = field(default_factory=Sums)
    cost_usd: Sums = field(default_factory=Sums)
    tokens: Sums = field(default_factory=Sums)
    paid_usd: float = 0.0
    """Money paid for `paid_tokens`, of attempts that report both."""
    paid_tokens: float = 0.0
    repeats: int = 0
    """The longest row of old tool calls of a session that left a change. It does not fade."""

    @property
    def attempts(self) -> float:
        """That came to an end which says something."""
        return self.landed + self.failed + self.conflicts


@dataclass(slots=True)
class Goodput:
    """Results of one number of agents at once on one kind of work.

    An attempt is counted under the number of agents that were at work on its category while it was, on the
    average; time is counted under the number at the time.
    """

    attempts: float = 0.0
    agent_seconds: float = 0.0
    """Time of these attempts. Landed changes an hour are `landed / agent_seconds * 3600` times the agents."""
    landed: float = 0.0
    failed: float = 0.0
    conflicts: float = 0.0
    first_landed: float = 0.0
    """Landings of tasks that had not failed before: first attempts are compared with first ones."""
    first_ended: float = 0.0
    cost_usd: float = 0.0
    wall_seconds: float = 0.0
    """Time with exactly this number at work."""
    filled_seconds: float = 0.0
    """Part of that time in which another task of the category was free to start: the queue filled them."""


@dataclass(slots=True)
class Gauge:
    """One category at this moment."""

    at_work: int = 0
    queued: int = 0
    """Tasks whose needs are met and that no agent works on."""
    since: float = 0.0
    """The time up to which it is counted."""
    area: float = 0.0
    """Agents times seconds, since the beginning of the log."""


@dataclass(frozen=True, slots=True)
class Shift:
    """The time an agent is at work on a task, or last was."""

    category: str
    since: float
    area: float
    """Area of the category's gauge when it began."""
    agents: int = 0
    """Average number at work on the category meanwhile; 0: it is not over."""


@dataclass(slots=True)
class Tallies:
    """All sums of a log."""

    kinds: dict[str, Tally] = field(default_factory=dict)
    """By category, agent and model (`kind`)."""
    goodput: dict[str, dict[int, Goodput]] = field(default_factory=dict)
    """By category and number of agents at once."""
    gauges: dict[str, Gauge] = field(default_factory=dict)
    has_news: bool = False
    """Something was counted since the last run began."""

    def of(self, category: str, agent: str, model: str) -> Tally:
        key = kind(category, agent, model)
        if key not in self.kinds:
            self.kinds[key] = Tally(category, agent, model)
        return self.kinds[key]

    def at(self, category: str, agents: int) -> Goodput:
        return self.goodput.setdefault(category, {}).setdefault(agents, Goodput())

    def fade(self) -> None:
        """Let the sums fade by a run. A run with nothing to count does not count."""
        if not self.has_news:
            return
        self.has_news = False
        for tally in self.kinds.values():
            _scale(tally)
        for numbers in self.goodput.values():
            for goodput in numbers.values():
                _scale(goodput)


def kind(category: str, agent: str, model: str) -> str:
    """One key for the three, for none of them may hold a line break."""
    return f"{category}\n{agent}\n{model}"


def _scale(sums: Tally | Goodput | Sums) -> None:
    for name in (each.name for each in fields(sums)):
        value = getattr(sums, name)
        if isinstance(value, Sums):
            _scale(value)
        elif isinstance(value, float):
            setattr(sums, name, value * DECAY)
