"""Which key may go where (D11)."""

import pytest

from interlock.model.errors import UsageError
from interlock.model.task import Agent
from interlock.run.proxied import check_key

FINE = {
    "no key": Agent("a", "codex", url="https://other.example/v1"),
    "the provider's own": Agent("a", "codex", key_env="K"),
    "the provider's own, named": Agent("a", "codex", url="https://api.openai.com/v1", key_env="K"),
    "a server of this machine": Agent("a", "built-in", url="http://127.0.0.1:11434/v1", key_env="K"),
    "the same by its name": Agent("a", "built-in", url="http://localhost:1/v1", key_env="K"),
    "as the user said": Agent("a", "codex", url="https://mine.example:8443/v1", key_env="K"),
}


@pytest.mark.parametrize("name", FINE)
def test_a_key_goes_where_it_belongs(name: str) -> None:
    check_key(FINE[name], ["K@mine.example"])


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example/v1",
        "https://127.0.0.1.other.example/",
        "http://10.0.0.1/",
        "https://sub.mine.example",
        "https://api.openai.com.other.example/v1",
    ],
)
def test_a_key_goes_nowhere_else(url: str) -> None:
    with pytest.raises(UsageError, match="would send the key in K to") as refused:
        check_key(Agent("a", "codex", url=url, key_env="K"), ["K@mine.example", "L@other.example"])
    assert "key_hosts" in refused.value.hint
