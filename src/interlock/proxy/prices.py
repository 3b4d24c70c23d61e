"""Prices of tokens: those of the settings, 0 on this machine, or those of genai-prices. Uses no network.

1. A price is that of the moment at which its tokens were counted, and is kept with them.
2. A model without a known price has none: it is neither guessed from its name nor taken for free.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from interlock.model.kinds import Wire
from interlock.model.provider import HOMES, is_local
from interlock.model.usage import LOCAL, SETTINGS, Usage

MILLION = 1_000_000
LIBRARY = "genai-prices"
INPUT, OUTPUT, CACHE_READ, CACHE_WRITE = "input", "output", "cache_read", "cache_write"
"""The keys of a price in the settings, in USD for a million tokens."""
_PROVIDERS = {Wire.ANTHROPIC: "anthropic", Wire.OPENAI: "openai", Wire.GEMINI: "google"}
_HOME_HOSTS = {urlsplit(HOMES[wire].upstream).hostname: name for wire, name in _PROVIDERS.items()}

ModelPrice = Mapping[str, float]


class Tokens(NamedTuple):
    """The tokens of one call."""

    input: int
    """All of them, those read from a cache or written to one included."""
    output: int
    cached: int = 0
    written: int = 0


class Price(NamedTuple):
    """The price of some tokens; None: it is not known."""

    usd: float | None
    source: str = ""


class Prices:
    """What tokens cost."""

    def __init__(self, own: Mapping[str, ModelPrice] | None = None) -> None:
        self._own = dict(own or {})
        self._look_up = lru_cache(maxsize=256)(_listed)

    def prepare(self) -> None:
        """Load the list of prices, which takes half a second: to be called in a thread."""
        _library()

    def needs_list(self, wire: Wire, url: str, models: Sequence[str]) -> bool:
        """Tell if a price of these models is looked up in the list."""
        return not is_local(wire, url) and not any(model in self._own for model in models)

    def of(self, wire: Wire, url: str, models: Sequence[str], tokens: Tokens) -> Price:
        """Return the price for the first of these names that has one: the server's, and the one asked for."""
        for model in models:
            if own := self._own.get(model):
                return Price(_own_price(own, tokens), SETTINGS)
        if is_local(wire, url):
            return Price(0.0, LOCAL)
        found = (self._look_up(url or HOMES[wire].upstream, model, tokens) for model in models if model)
        return next((price for price in found if price.usd is not None), Price(None))

    def put_on(self, usage: Usage, wire: Wire, url: str, models: Sequence[str], written: int = 0) -> Usage:
        """Return the usage with its price."""
        if not usage.tokens:
            return usage
        tokens = Tokens(usage.input_tokens, usage.output_tokens, usage.cached_tokens, written)
        return usage.priced(*self.of(wire, url, models, tokens))


def _own_price(own: ModelPrice, tokens: Tokens) -> float:
    """Parts without a price of their own cost what other input costs."""
    fresh = max(0, tokens.input - tokens.cached - tokens.written)
    usual = own[INPUT]
    each = (
        (fresh, usual),
        (tokens.cached, own.get(CACHE_READ, usual)),
        (tokens.written, own.get(CACHE_WRITE, usual)),
        (tokens.output, own[OUTPUT]),
    )
    return sum(count * price for count, price in each) / MILLION


def _listed(url: str, model: str, tokens: Tokens) -> Price:
    library = _library()
    usage = library.Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cached,
        cache_write_tokens=tokens.written,
    )
    home = _HOME_HOSTS.get(urlsplit(url).hostname)
    try:
        if home:
            found = library.calc_price(usage, model, provider_id=home)
        else:
            found = library.calc_price(usage, model, provider_api_url=url)
    except (LookupError, ValueError):  # a model or a provider that is not listed, or counts that contradict
        return Price(None)
    return Price(float(found.total_price), f"{LIBRARY} {library.__version__}")


def _library() -> Any:  # Any: a module, which is imported here alone
    import genai_prices  # noqa: PLC0415 - half a second

    return genai_prices
