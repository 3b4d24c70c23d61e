"""The first account of a provider."""

from interlock.model.provider import HOMES, is_account
from interlock.proxy.brake.account import Account
from interlock.proxy.brake.limit import CallLimit
from interlock.proxy.brake.throttle import Throttle

_KNOWN = tuple(f".{home.upstream.partition('://')[2]}" for home in HOMES.values() if home.key_env)


def account_of(provider: str, limit: float = 0.0) -> Account:
    """The limit that was found last, if it is known; else a small one that doubles."""
    host = provider.partition(" ")[0].partition(":")[0]
    # The known providers turn calls away. Any other server may be one that becomes slower instead.
    is_known = f".{host}".endswith(_KNOWN)
    start = CallLimit(limit, doubling=False) if limit >= 1 else CallLimit()
    # The duration of an attempt says nothing about the account it is made with.
    return Account(Throttle(is_measured=not is_known and not is_account(provider), limit=start))
