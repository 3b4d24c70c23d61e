"""Settings about money: prices and budgets. `Settings` has all the others."""

from dataclasses import dataclass, field

from interlock.engine.room_settings import RoomSettings
from interlock.model.budget import Budget, Budgeted


@dataclass(frozen=True, slots=True)
class MoneySettings(RoomSettings):
    """What tokens cost."""

    prices: dict[str, dict[str, float]] = field(default_factory=dict)
    """Prices of models in USD for a million tokens, before all others: a table, by the model's name, with
    `input`, `output`, and if they differ `cache_read` and `cache_write`."""
    budget_usd: dict[str, float] = field(default_factory=dict)
    """The most money for each `attempt`, `task`, `run`, `day` (UTC) and for the `project`: a table."""
    budget_tokens: dict[str, int] = field(default_factory=dict)
    """The most tokens, in and out, for the same."""
    circle_limit: int = 12
    """An agent is stopped when so many tool calls, or messages, in a row bring nothing new. The number grows
    for work whose sessions are known to repeat calls. 0: no agent is stopped for that."""

    @property
    def budgets(self) -> dict[str, Budget]:
        """The budgets that are set, with their two sides."""
        names = (name for name in Budgeted if name in self.budget_usd or name in self.budget_tokens)
        return {name: Budget(self.budget_usd.get(name), self.budget_tokens.get(name)) for name in names}
