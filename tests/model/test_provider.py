"""Which agents share a provider (MISSION K7)."""

from urllib.parse import urlsplit

import pytest

from interlock.model.provider import HOSTS, WIRES, provider_of
from interlock.model.task import Agent
from interlock.run.adapters import ADAPTERS
from interlock.run.proxy.wires import PROVIDERS


def test_the_providers_are_those_that_the_proxy_calls() -> None:
    assert {wire: (urlsplit(p.upstream).netloc, p.key_env) for wire, p in PROVIDERS.items()} == HOSTS


def test_the_wires_are_those_that_the_adapters_speak() -> None:
    assert {use: adapter.wire for use, adapter in ADAPTERS.items() if adapter.wire} == WIRES


@pytest.mark.parametrize(
    ("agent", "provider"),
    [
        (Agent("a", "claude-code"), "api.anthropic.com ANTHROPIC_API_KEY"),
        (Agent("a", "claude-code", key_env="WORK_KEY"), "api.anthropic.com WORK_KEY"),
        (Agent("a", "claude-code", login=True), ""),
        (Agent("a", "built-in", url="http://127.0.0.1:8000/v1", model="m"), "127.0.0.1:8000"),
        (Agent("a", "command", ("x",)), ""),
        (Agent("a", "command", ("x",), wire="openai", url="http://h/v1", key_env="K"), "h K"),
    ],
)
def test_a_provider_is_a_server_and_the_name_of_a_credential(agent: Agent, provider: str) -> None:
    assert provider_of(agent) == provider
