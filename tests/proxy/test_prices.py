"""Prices of tokens: what is known is exact, what is not known is neither guessed nor free."""

import pytest

from interlock.model.kinds import Wire
from interlock.model.usage import LOCAL, SETTINGS, Usage
from interlock.proxy.prices import LIBRARY, Price, Prices, Tokens

SOME = Tokens(input=1_000_000, output=100_000, cached=400_000, written=100_000)
SONNET, HAIKU = "claude-sonnet-4-5", "claude-haiku-4-5"


def test_the_settings_come_first_also_on_this_machine() -> None:
    prices = Prices({"mine": {"input": 2.0, "output": 10.0, "cache_read": 0.5, "cache_write": 4.0}})
    price = prices.of(Wire.OPENAI, "http://127.0.0.1:1/v1", ("as-served", "mine"), SOME)
    assert price.usd == pytest.approx(0.5 * 2 + 0.4 * 0.5 + 0.1 * 4 + 0.1 * 10)
    assert price.source == SETTINGS


def test_parts_without_a_price_of_their_own_cost_what_input_costs() -> None:
    price = Prices({"mine": {"input": 2.0, "output": 10.0}}).of(Wire.OPENAI, "", ("mine",), SOME)
    assert price.usd == pytest.approx(2 + 1)


@pytest.mark.parametrize("url", ["", "http://localhost:1", "http://127.0.0.1:8000/v1", "http://[::1]:1"])
def test_a_model_on_this_machine_costs_nothing(url: str) -> None:
    assert Prices().of(Wire.OLLAMA, url, ("qwen3-coder:30b",), SOME) == Price(0.0, LOCAL)


@pytest.mark.parametrize(
    "url", ["http://127.evil.example", "http://10.0.0.7:11434", "https://models.example/v1"]
)
def test_a_server_elsewhere_is_not_taken_for_this_machine(url: str) -> None:
    assert Prices().of(Wire.OLLAMA, url, ("qwen3-coder:30b",), SOME) == Price(None)


@pytest.mark.slow
def test_the_list_knows_providers_and_models_and_guesses_none() -> None:
    """Sonnet cost $3 in and $15 out for a million tokens, a cache $0.30 to read and $3.75 to write."""
    prices, tokens = Prices(), Tokens(100_000, 10_000, 40_000, 10_000)
    known = prices.of(Wire.ANTHROPIC, "", (SONNET,), tokens)
    assert known.usd == pytest.approx(0.05 * 3 + 0.04 * 0.3 + 0.01 * 3.75 + 0.01 * 15)
    assert known.source.startswith(f"{LIBRARY} ")
    dated = prices.of(Wire.ANTHROPIC, "", (f"{SONNET}-20250929", "other"), tokens)
    assert dated.usd == pytest.approx(known.usd)
    assert prices.of(Wire.ANTHROPIC, "", ("model-of-tomorrow",), tokens) == Price(None)
    assert prices.of(Wire.ANTHROPIC, "https://resold.example/v1", (SONNET,), tokens) == Price(None)
    assert prices.of(Wire.OPENAI, "", ("gpt-5",), Tokens(1, 1, 5)).usd is None, "more cached than there is"


def test_a_usage_says_what_of_it_has_no_price() -> None:
    known, unknown = Usage(1000, 100, calls=1).priced(0.5, SETTINGS), Usage(30, 4, calls=1)
    both = known + unknown + Usage(10, 0, calls=1).priced(0.0, LOCAL)
    assert (both.cost_usd, both.unpriced_tokens, both.priced_by) == (0.5, 34, (LOCAL, SETTINGS))
    assert Usage(30, 4).unpriced_tokens == 34
    assert Usage(30, 4).priced(None, "").unpriced_tokens == 34
