"""Tokens and money."""

from dataclasses import dataclass, replace

from interlock.model.numbers import amount, whole

SETTINGS, LOCAL, REPORTED = "settings", "local", "reported"
"""Sources of a price: the user's settings, a model on this machine, and the word of the agent program."""
MOST_SOURCES = 8


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one or more calls of a model."""

    input_tokens: int = 0
    """All of them, those from a cache included."""
    output_tokens: int = 0
    cached_tokens: int = 0
    calls: int = 0
    cost_usd: float | None = None
    """The price of the tokens whose price is known; None: of none."""
    unpriced_tokens: int = 0
    """Tokens whose price is not known: `cost_usd` is without them."""
    priced_by: tuple[str, ...] = ()
    """Sources of the price: `settings`, `local`, `genai-prices` with its version, or `reported`."""

    def __post_init__(self) -> None:
        """Programs and servers say these numbers, and are wrong at times: none is negative or without end."""
        for name in ("input_tokens", "output_tokens", "cached_tokens", "calls", "unpriced_tokens"):
            object.__setattr__(self, name, whole(getattr(self, name)))
        object.__setattr__(self, "cost_usd", amount(self.cost_usd))
        if self.cost_usd is None:
            object.__setattr__(self, "unpriced_tokens", self.tokens)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def priced(self, cost_usd: float | None, source: str) -> "Usage":
        """Return it with this price; None: the price is not known."""
        by = (source,) if cost_usd is not None else ()
        return replace(self, cost_usd=cost_usd, unpriced_tokens=0, priced_by=by)

    def since(self, before: "Usage") -> "Usage":
        """Return the part of a running total that came after another one."""
        return Usage(
            self.input_tokens - before.input_tokens,
            self.output_tokens - before.output_tokens,
            self.cached_tokens - before.cached_tokens,
            self.calls - before.calls,
            self.cost_usd,
            priced_by=self.priced_by,
        )

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.calls + other.calls,
            sum(costs) if costs else None,
            self.unpriced_tokens + other.unpriced_tokens,
            _both(self.priced_by, other.priced_by),
        )


def reconciled(claimed: Usage | None, counted: Usage | None) -> Usage | None:
    """One count out of two: the proxy's, which saw the calls. The program's own price counts only where no
    other is known: of a model on this machine it makes one up."""
    if counted is None or counted.calls == 0:
        return claimed
    if claimed is None or claimed.cost_usd is None or counted.cost_usd is not None:
        return counted
    return counted.priced(claimed.cost_usd, REPORTED)


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Return the sources of a sum. Versions come and go, so their number has a limit."""
    if one == other or not other:
        return one
    return tuple(sorted({*one, *other}))[-MOST_SOURCES:]
