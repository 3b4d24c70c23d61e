"""Settings about money: prices, and budgets. `Settings` has all the others."""

from dataclasses import dataclass, field

from interlock.engine.room_settings import RoomSettings


@dataclass(frozen=True, slots=True)
class MoneySettings(RoomSettings):
    """What tokens cost."""

    prices: dict[str, dict[str, float]] = field(default_factory=dict)
    """Prices of models in USD for a million tokens, before all others: a table, by the model's name, with
    `input`, `output`, and if they differ `cache_read` and `cache_write`."""
