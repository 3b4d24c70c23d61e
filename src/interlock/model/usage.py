"""Tokens and money."""

from dataclasses import dataclass

from interlock.model.numbers import amount, whole


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one or more calls of a model."""

    input_tokens: int = 0
    """All of them, those from a cache included."""
    output_tokens: int = 0
    cached_tokens: int = 0
    calls: int = 0
    cost_usd: float | None = None
    """None: not reported."""

    def __post_init__(self) -> None:
        """Programs and servers say these numbers, and are wrong at times: none is negative or without end."""
        for name in ("input_tokens", "output_tokens", "cached_tokens", "calls"):
            object.__setattr__(self, name, whole(getattr(self, name)))
        object.__setattr__(self, "cost_usd", amount(self.cost_usd))

    def since(self, before: "Usage") -> "Usage":
        """Return the part of a running total that came after another one."""
        return Usage(
            self.input_tokens - before.input_tokens,
            self.output_tokens - before.output_tokens,
            self.cached_tokens - before.cached_tokens,
            self.calls - before.calls,
            self.cost_usd,
        )

    def __add__(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.calls + other.calls,
            sum(costs) if costs else None,
        )
