"""Everybody who shares a credential or a model server has one name for it (K7, W11)."""

import pytest

from interlock.agents import ADAPTERS
from interlock.model.kinds import KINDS, Wire
from interlock.model.provider import provider_name, provider_of
from interlock.model.task import Agent


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (Agent("c", "claude-code"), "api.anthropic.com ANTHROPIC_API_KEY"),
        (Agent("c", "claude-code", key_env="MINE"), "api.anthropic.com MINE"),
        (Agent("c", "codex", url="https://eu.api.openai.com/v1"), "eu.api.openai.com OPENAI_API_KEY"),
        (Agent("c", "codex", url="https://models.example.org/v1"), "models.example.org"),
        (Agent("c", "codex", url="http://API.openai.com"), "api.openai.com"),
        (Agent("c", "built-in", url="http://127.0.0.1:11434/v1"), "127.0.0.1:11434"),
        (Agent("c", "built-in", url="http://[::1]:8000", key_env="K"), "[::1]:8000 K"),
        (Agent("c", "command", ("sh",), wire="openai"), "api.openai.com OPENAI_API_KEY"),
        (Agent("c", "command", ("sh",)), ""),
        (Agent("c", "claude-code", login=True), "login:claude-code"),
        (Agent("c", "acp", ("mine",), login=True), ""),
    ],
)
def test_an_agent_has_the_provider_that_its_calls_go_to(agent: Agent, name: str) -> None:
    assert provider_of(agent) == name


@pytest.mark.parametrize(
    "trick", ["https://evil.example\\.api.openai.com", "https://api.openai.com@evil.example"]
)
def test_an_address_that_only_looks_like_the_providers_gets_no_key_of_its_own_accord(trick: str) -> None:
    """D11."""
    assert "OPENAI_API_KEY" not in provider_name(Wire.OPENAI, trick, "")


def test_the_graph_and_the_adapters_agree_on_the_language_of_each_kind() -> None:
    assert {use: kind.wire for use, kind in KINDS.items()} == {
        use: adapter.wire for use, adapter in ADAPTERS.items()
    }
