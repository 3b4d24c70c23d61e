"""Limits of the values of settings: the least of a number, and the keys and values of a table."""

from collections.abc import Mapping, Sequence

from interlock.model.budget import Budgeted
from interlock.model.moment import Moment
from interlock.model.nearest import suggest
from interlock.model.task import ROLES

TABLES: dict[str, tuple[str, Sequence[str], str]] = {
    "hooks": ("moment", tuple(Moment), '[hooks] and below it SessionEnd = ["my-command"]'),
    "slots": ("role", ROLES, "slots = {worker = 8, critic = 2}"),
    "prices": ("model", (), 'prices."my-model" = {input = 0.5, output = 1.5}'),
    "budget_usd": ("budget", tuple(Budgeted), "budget_usd = {attempt = 2.5, day = 40}"),
    "budget_tokens": ("budget", tuple(Budgeted), "budget_tokens = {attempt = 2000000, run = 50000000}"),
    "review_by_category": ("category", (), 'review_by_category = {docs = "none"}'),
}
"""Settings that are tables: what their keys are called, the keys (none: any), and an example."""
LEAST: dict[str, float] = {
    "max_parallel": 1,
    "lane_depth": 1,
    "hook_timeout_seconds": 0.1,
    "model_silence_seconds": 1,
    "stale_after_seconds": 1,
    "controller_lease_seconds": 1,
    "log_limit_bytes": 4096,
    "fetch_every_seconds": 1,
    "pull_request_poll_seconds": 1,
}
MOST_USD = 1e9
PRICE_KEYS = ("input", "output", "cache_read", "cache_write")
"""Keys of a price. It must have the first two."""


def table_problem(name: str, key: str, table: Mapping[str, object]) -> tuple[str, str] | None:
    """What is wrong with a table, and a hint ('': an example says it); nothing if it is right."""
    what, known, _ = TABLES[name]
    for inner, value in table.items():
        if known and inner not in known:
            return f"there is no {what} `{inner}`", suggest(
                inner, known, f"the {what}s are {', '.join(known)}"
            )
        if isinstance(value, float) and not 0 < value < MOST_USD:
            return f"`{key}.{inner}` cannot be {value}: a sum of money above 0 is needed", ""
        if isinstance(value, int) and value < 1:
            return f"`{key}.{inner}` cannot be {value}: at least 1 is needed", ""
        if isinstance(value, dict) and (problem := _price_problem(value)):
            return f"`{key}.{inner}` {problem}", ""
    return None


def _price_problem(price: Mapping[str, float]) -> str:
    if unknown := [key for key in price if key not in PRICE_KEYS]:
        return f"has no key `{unknown[0]}`"
    if lacks := [key for key in PRICE_KEYS[:2] if key not in price]:
        return f"needs the key `{lacks[0]}`"
    wrong = [key for key, usd in price.items() if not 0 <= usd < MOST_USD]
    return f"cannot have the price {price[wrong[0]]} for `{wrong[0]}`" if wrong else ""
